#include "index/ct_block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/ct_error.h"
#include "base/ct_hash.h"

uint64_t ct_block_hash(const ct_block *block, size_t padded) {
    return ct_hash(ct_block_data(block), ct_block_data_bytes(padded), CT_BLOCK_FORMAT);
}

int ct_block_file_write(const char *path, size_t place, const ct_block *block, size_t padded, ct_error *error) {
    const char *from = ct_block_data(block);
    size_t bytes = ct_block_data_bytes(padded), done = 0;
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), reason = errno;
    while (file >= 0 && done < bytes) {
        ssize_t written = pwrite(file, from + done, bytes - done, (off_t)(place * bytes + done));
        reason = errno;
        if (written > 0) done += (size_t)written;
        else if (written == 0 || reason != EINTR) break;
    }
    if (file >= 0 && close(file)) {
        reason = errno;
        done = 0;
    }
    if (done == bytes) return CT_OK;
    return ct_fail(error, reason == ENOSPC || reason == EDQUOT ? CT_FULL : CT_IO, "cannot write %s: %s", path,
                   strerror(reason));
}

int ct_block_file_read(const char *path, size_t place, size_t padded, uint64_t hash, ct_block **out,
                       ct_error *error) {
    size_t bytes = ct_block_data_bytes(padded), done = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return CT_NOT_FOUND;
    ct_block *block = ct_block_new(padded);
    while (block && done < bytes) {
        ssize_t some = pread(file, (char *)ct_block_data(block) + done, bytes - done, (off_t)(place * bytes + done));
        if (some > 0) done += (size_t)some;
        else if (some == 0 || errno != EINTR) break;
    }
    close(file);
    if (!block) return ct_fail_nomem(error);
    if (done < bytes || ct_block_hash(block, padded) != hash) {
        ct_block_free(block);
        return CT_NOT_FOUND;
    }
    *out = block;
    return CT_OK;
}
