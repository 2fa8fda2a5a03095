#include "index/ct_code_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_hash.h"

/* How a block is laid out; part of its hash. */
#define BLOCK_FORMAT 1

struct ct_code_file {
    char *path;
    pthread_mutex_t mutex;
    int descriptor; /* -1: not open yet; guarded by mutex */
    _Atomic int64_t damaged;
    _Atomic int missed;
};

int ct_code_file_open(const char *path, ct_code_file **out, ct_error *error) {
    ct_code_file *file = ct_alloc_zero(sizeof *file);
    if (!file) return ct_fail_nomem(error);
    file->descriptor = -1;
    atomic_init(&file->damaged, -1);
    file->path = ct_copy_string(path);
    if (!file->path) {
        ct_free(file);
        return ct_fail_nomem(error);
    }
    pthread_mutex_init(&file->mutex, NULL);
    *out = file;
    return CT_OK;
}

void ct_code_file_close(ct_code_file *file) {
    if (!file) return;
    if (file->descriptor >= 0) close(file->descriptor);
    pthread_mutex_destroy(&file->mutex);
    ct_free(file->path);
    ct_free(file);
}

/* Not through a link: the file is made where the store is.  One that may only be read is read. */
static int open_path(const char *path, int create, int *reason) {
    struct stat info;
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT : 0);
    int descriptor = open(path, O_RDWR | flags, 0600);
    if (descriptor < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *reason = errno;
    if (descriptor < 0 || (!fstat(descriptor, &info) && S_ISREG(info.st_mode))) return descriptor;
    close(descriptor);
    *reason = EINVAL;
    return -1;
}

static int open_it(ct_code_file *file, int create, int *out, ct_error *error) {
    int reason = 0;
    pthread_mutex_lock(&file->mutex);
    if (file->descriptor < 0) {
        file->descriptor = open_path(file->path, create, &reason);
    }
    *out = file->descriptor;
    pthread_mutex_unlock(&file->mutex);
    if (*out >= 0) return CT_OK;
    if (reason == ENOENT && !create) return CT_NOT_FOUND;
    return ct_fail(error, reason == ENOSPC || reason == EDQUOT ? CT_FULL : CT_IO, "cannot open %s: %s", file->path,
                   strerror(reason));
}

/* Whether the file that is open is still the one with the name. */
static int is_current(const ct_code_file *file, int descriptor) {
    struct stat open_one, named;
    return !fstat(descriptor, &open_one) && !lstat(file->path, &named) && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

int ct_code_file_lock(ct_code_file *file, ct_error *error) {
    int descriptor;
    int status = open_it(file, 1, &descriptor, error);
    if (!status && flock(descriptor, LOCK_EX | LOCK_NB))
        status = ct_fail(error, CT_BUSY, "cannot lock %s: %s", file->path, strerror(errno));
    if (!status && !is_current(file, descriptor)) {
        ct_code_file_unlock(file);
        status = ct_fail(error, CT_IO, "%s was removed or replaced while it was open", file->path);
    }
    return status;
}

void ct_code_file_unlock(ct_code_file *file) { flock(file->descriptor, LOCK_UN); }

int ct_code_file_is_damaged(ct_code_file *file) { return atomic_load(&file->damaged) >= 0; }

int64_t ct_code_file_take_damaged(ct_code_file *file) { return atomic_exchange(&file->damaged, -1); }

int ct_code_file_take_missed(ct_code_file *file) { return atomic_exchange(&file->missed, 0); }

void ct_code_file_note_missed(ct_code_file *file) { atomic_store(&file->missed, 1); }

static int write_all(const ct_code_file *file, int descriptor, const void *data, size_t bytes, int64_t at,
                     ct_error *error) {
    for (size_t done = 0; done < bytes;) {
        ssize_t some = pwrite(descriptor, (const char *)data + done, bytes - done, at + (int64_t)done);
        if (some > 0) done += (size_t)some;
        else if (some == 0 || errno != EINTR)
            return ct_fail(error, errno == ENOSPC || errno == EDQUOT ? CT_FULL : CT_IO, "cannot write %s: %s",
                           file->path, strerror(errno));
    }
    return CT_OK;
}

/* CT_NOT_FOUND when the file ends before. */
static int read_all(const ct_code_file *file, int descriptor, void *data, size_t bytes, int64_t at,
                    ct_error *error) {
    for (size_t done = 0; done < bytes;) {
        ssize_t some = pread(descriptor, (char *)data + done, bytes - done, at + (int64_t)done);
        if (some > 0) done += (size_t)some;
        else if (some == 0) return CT_NOT_FOUND;
        else if (errno != EINTR) return ct_fail(error, CT_IO, "cannot read %s: %s", file->path, strerror(errno));
    }
    return CT_OK;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static uint64_t hash_block(const ct_block *block, size_t padded) {
    return ct_hash(ct_block_data(block), ct_block_data_bytes(padded), BLOCK_FORMAT);
}

/* More tokens no chunk has. */
#define TOKENS_MAX 65536

static int has_order(const ct_block *block) {
    uint32_t before = 0;
    for (size_t i = 0; i < CT_BLOCK_ENTRIES; before = block->token_end[i++])
        if (block->token_end[i] < before || block->token_end[i] - before > TOKENS_MAX) return 0;
    return 1;
}

/* With its id, so that no chunk's codes pass for another's. */
static uint32_t hash_tokens(const uint64_t *codes, size_t words, int64_t chunk_id) {
    return (uint32_t)ct_hash(codes, words * sizeof *codes, (uint64_t)chunk_id);
}

void ct_block_set_tokens(ct_block *block, const ct_token_codes *tokens, const uint32_t *counts) {
    uint32_t end = 0;
    for (size_t i = 0; i < CT_BLOCK_ENTRIES; i++) {
        const uint64_t *codes = tokens->codes + end * tokens->words;
        block->token_hash[i] = hash_tokens(codes, counts[i] * tokens->words, block->chunk_id[i]);
        block->token_end[i] = end += counts[i];
    }
}

int64_t ct_code_file_bytes(const ct_block *block, size_t padded, size_t words) {
    return (int64_t)(ct_block_data_bytes(padded) + block->token_end[CT_BLOCK_ENTRIES - 1] * words * sizeof(uint64_t));
}

/* A new file's name is on disk when its folder is. */
static int sync_folder(const ct_code_file *file, ct_error *error) {
    const char *slash = strrchr(file->path, '/');
    char *folder = slash ? ct_copy(file->path, (size_t)(slash - file->path) + 1) : ct_copy(".", 1);
    if (!folder) return ct_fail_nomem(error);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = CT_OK;
    if (descriptor < 0 || fsync(descriptor))
        status = ct_fail(error, CT_IO, "cannot sync %s: %s", folder, strerror(errno));
    if (descriptor >= 0) close(descriptor);
    ct_free(folder);
    return status;
}

int ct_code_file_write(ct_code_file *file, int64_t start, const ct_block *block, size_t padded,
                       const ct_token_codes *tokens, uint64_t *hash, ct_error *error) {
    int descriptor;
    size_t bytes = ct_block_data_bytes(padded);
    size_t token_bytes = block->token_end[CT_BLOCK_ENTRIES - 1] * tokens->words * sizeof *tokens->codes;
    int status = open_it(file, 1, &descriptor, error);
    if (!status) status = write_all(file, descriptor, ct_block_data(block), bytes, start, error);
    if (!status) status = write_all(file, descriptor, tokens->codes, token_bytes, start + (int64_t)bytes, error);
    if (!status && fdatasync(descriptor))
        status = ct_fail(error, CT_IO, "cannot write %s: %s", file->path, strerror(errno));
    if (!status && start == 0) status = sync_folder(file, error);
    if (!status) *hash = hash_block(block, padded);
    return status;
}

int ct_code_file_read(ct_code_file *file, int64_t start, size_t padded, uint64_t hash, ct_block **out,
                      ct_error *error) {
    int descriptor;
    int status = open_it(file, 0, &descriptor, error);
    if (status) return status;
    ct_block *block = ct_block_new(padded, 1);
    if (!block) return ct_fail_nomem(error);
    status = read_all(file, descriptor, ct_block_data(block), ct_block_data_bytes(padded), start, error);
    if (!status && (hash_block(block, padded) != hash || !has_order(block))) status = CT_NOT_FOUND;
    if (status) {
        ct_block_free(block);
        return status;
    }
    for (size_t i = 0; i < CT_BLOCK_ENTRIES; i++) ct_block_set_signs(block, i, padded);
    block->tokens_at = start + (int64_t)ct_block_data_bytes(padded);
    *out = block;
    return CT_OK;
}

int ct_code_file_tokens(ct_code_file *file, const ct_chunk_place *first, const ct_chunk_place *last, size_t words,
                        uint64_t *codes, ct_error *error) {
    int descriptor;
    int status = open_it(file, 0, &descriptor, error);
    if (!status)
        status = read_all(file, descriptor, codes, (last->end - first->begin) * words * sizeof *codes,
                          first->at + (int64_t)(first->begin * words * sizeof *codes), error);
    if (status == CT_NOT_FOUND) atomic_store(&file->damaged, first->block);
    return status;
}

int ct_code_file_knows(ct_code_file *file, const ct_chunk_place *place, size_t words, const uint64_t *codes) {
    if (hash_tokens(codes, (place->end - place->begin) * words, place->chunk_id) == place->hash) return 1;
    atomic_store(&file->damaged, place->block);
    return 0;
}
