#include "engine/ct_block_reader.h"

#include <unistd.h>

void ct_block_reader_begin(ct_block_reader *reader, ct_code_file *file, size_t padded, const ct_block_rows *rows) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = cores > CT_BLOCK_READER_THREADS ? CT_BLOCK_READER_THREADS : cores > 1 ? (size_t)cores : 1;
    ct_error why = {0};
    *reader = (ct_block_reader){.file = file, .padded = padded, .rows = rows};
    if (threads > rows->count) threads = rows->count;
    if (threads > 1 && ct_team_create(threads, &reader->team, &why)) reader->team = NULL; /* slower, no worse */
}

static void read_some(void *state, size_t member) {
    ct_block_reader *reader = state;
    (void)member;
    for (;;) {
        size_t row = atomic_fetch_add(&reader->next, 1), at = row - reader->begin;
        if (row >= reader->end) return;
        ct_error why = {0};
        reader->status[at] = ct_code_file_read(reader->file, reader->rows->list[row].start, reader->padded,
                                               reader->rows->list[row].hash, &reader->blocks[at], &why);
    }
}

static void drop(ct_block_reader *reader) {
    for (size_t i = 0; i < CT_BLOCK_READER_AHEAD; i++) {
        ct_block_free(reader->blocks[i]);
        reader->blocks[i] = NULL;
    }
}

int ct_block_reader_take(ct_block_reader *reader, size_t row, ct_block **out) {
    if (row >= reader->end) {
        size_t left = reader->rows->count - row;
        drop(reader);
        reader->begin = row;
        reader->end = row + (left < CT_BLOCK_READER_AHEAD ? left : CT_BLOCK_READER_AHEAD);
        atomic_store(&reader->next, row);
        if (reader->team) ct_team_run(reader->team, read_some, reader);
        else read_some(reader, 0);
    }
    *out = reader->blocks[row - reader->begin];
    reader->blocks[row - reader->begin] = NULL;
    return reader->status[row - reader->begin];
}

void ct_block_reader_end(ct_block_reader *reader) {
    drop(reader);
    ct_team_destroy(reader->team);
}
