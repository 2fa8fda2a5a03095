/* Any bytes as a store file: opening and reading give a status, never a fault.  The first byte says
 * whether the rest replaces the file or is written over a good one, at a place it names. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "store/ct_result.h"
#include "store/ct_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ct_store_options options = {
    .path = NULL, .durability = CT_DURABILITY_NORMAL, .busy_ms = 0, .fingerprint = "m", .dimension = 4};

static int ignore(void *state, const ct_chunk_row *row) {
    *(int64_t *)state += row->code[0];
    return 0;
}

static int ignore_codes(void *state, size_t place, const uint64_t *codes, size_t count) {
    for (size_t i = 0; i < count; i++) *(uint64_t *)state += codes[i] + place;
    return 0;
}

static void make_good(const char *path) {
    ct_store_options with = options;
    ct_error error = {0};
    ct_store *store;
    unsigned char code[8] = {0, 0, 0, 0, 1, 2, 3, 4};
    with.path = path;
    if (ct_store_open(&with, &store, &error)) abort();
    for (int i = 0; i < 20; i++) {
        ct_message_input message = {.text = "the garage code is 8841",
                                    .text_bytes = 23,
                                    .role = "user",
                                    .session = i % 2 ? "a" : "b",
                                    .uid = NULL,
                                    .time_ms = i};
        int64_t id;
        size_t inserted;
        if (ct_store_insert(store, &message, 1, &id, &inserted, &error)) abort();
        uint64_t tokens[3] = {1, 2, 3};
        int32_t ids[3] = {7, i, 7};
        ct_new_chunk chunk = {code, sizeof code, tokens, 3, ids, 3};
        ct_derived derived = {.message_id = id, .chunks = &chunk, .chunk_count = 1, .done = 1};
        if (i % 3 && ct_store_put_derived(store, &derived, &error)) abort();
    }
    ct_store_close(store);
}

static void read_all(const char *path) {
    ct_store_options with = options;
    ct_error error = {0};
    ct_store *store;
    with.path = path;
    if (ct_store_open(&with, &store, &error)) return;
    const char *session = "a";
    ct_filter filter = {.sessions = &session, .session_count = 1, .since_ms = 0, .until_ms = 1000};
    ct_bound_filter bound = {0};
    ct_words words = {.count = 0};
    ct_lexical_hit hits[8];
    size_t count = 0;
    int64_t sum = 0;
    ct_pending pending = {0};
    ct_stats stats;
    ct_result *result = ct_result_new();
    ct_store_scan_chunks(store, 0, 8, ignore, &sum, &error);
    if (!ct_store_bind_filter(store, &filter, &bound, &error)) {
        ct_store_list(store, &bound, 0, 100, result, &error);
        if (!ct_store_split(store, "garage code", 11, &words, &error))
            ct_store_search(store, &words, &bound, hits, 8, &count, &error);
    }
    const int64_t chunks[3] = {1, 5, 2};
    const int32_t ids[2] = {7, 1};
    int64_t counts[2], total;
    uint64_t mixed = 0;
    ct_block_rows rows;
    uint32_t sizes[2];
    uint64_t *codes = NULL;
    if (!ct_store_get_blocks(store, 0, &rows, &error)) ct_block_rows_free(&rows);
    if (!ct_store_read_block(store, chunks, 2, 1, &codes, sizes, &error)) ct_free(codes);
    ct_store_read_codes(store, chunks, 3, 1, ignore_codes, &mixed, &error);
    ct_store_term_counts(store, ids, 2, counts, &total, &error);
    if (!ct_store_next_pending(store, INT64_MAX, &pending, &error)) ct_pending_free(&pending);
    ct_store_stats(store, &stats, &error);
    ct_words_free(&words);
    ct_bound_filter_free(&bound);
    ct_result_free(result);
    ct_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[64], good[128 * 1024];
    static size_t good_bytes;
    if (size < 4) return 0;
    if (!good_bytes) {
        snprintf(path, sizeof path, "/tmp/cortext-fuzz-%d.db", (int)getpid());
        make_good(path);
        FILE *file = fopen(path, "rb");
        if (!file) abort();
        good_bytes = fread(good, 1, sizeof good, file);
        fclose(file);
    }
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    if (data[0] & 1) {
        fwrite(data + 1, 1, size - 1, file);
    } else {
        size_t place = ((size_t)data[1] << 8 | data[2]) % good_bytes;
        fwrite(good, 1, good_bytes, file);
        fseek(file, (long)place, SEEK_SET);
        fwrite(data + 3, 1, size - 3, file);
    }
    fclose(file);
    read_all(path);
    char log[80];
    snprintf(log, sizeof log, "%s-wal", path);
    unlink(log);
    snprintf(log, sizeof log, "%s-shm", path);
    unlink(log);
    unlink(path);
    return 0;
}
