#include "consolidate/ct_batch.h"

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* What is stored at once: writers of messages wait for no more than a few milliseconds. */
#define MESSAGES 128
#define BYTES (1 << 20)

void *ct_batch_grow(void *list, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return list;
    size_t more = *capacity ? 2 * *capacity : 16;
    void *grown = ct_realloc(list, more * size);
    if (grown) *capacity = more;
    return grown;
}

int ct_batch_add_pair(ct_id_pair **list, size_t *count, size_t *capacity, ct_id_pair pair, ct_error *error) {
    ct_id_pair *grown = ct_batch_grow(*list, *count, capacity, sizeof *grown);
    if (!grown) return ct_fail_nomem(error);
    *list = grown;
    grown[(*count)++] = pair;
    return CT_OK;
}

int ct_batch_begin(ct_batch *batch, const ct_recall_parts *parts, const ct_progress *progress, ct_error *error) {
    *batch = (ct_batch){.parts = parts, .out = {.from = progress->done, .last = progress->done, .dropped = progress->dropped}};
    int status = ct_store_told_next(parts->store, progress->done, progress->through, MESSAGES, BYTES, &batch->told, error);
    if (status) return status;
    batch->folded = ct_alloc_zero(batch->told.count * sizeof *batch->folded);
    batch->vector = ct_alloc((size_t)ct_encoder_dimension(parts->encoder) * sizeof *batch->vector);
    return batch->folded && batch->vector ? CT_OK : ct_fail_nomem(error);
}

void ct_batch_free(ct_batch *batch) {
    for (size_t i = 0; i < batch->track_count; i++) ct_free(batch->tracks[i].vectors);
    ct_free(batch->tracks);
    ct_free(batch->folded);
    ct_free(batch->vector);
    ct_folds_free(&batch->folds);
    ct_told_list_free(&batch->told);
    ct_free(batch->out.sayings);
    ct_free(batch->out.duplicates);
    ct_free(batch->out.replaced);
    ct_free(batch->out.episodes);
}
