/* Messages that say again what an earlier one said.  Who said it, and when, counts as in the hits of a recall
 * (ct_pack.h); of several it is the first one that a later one is said to repeat. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_hash.h"
#include "consolidate/ct_batch.h"
#include "recall/ct_repeat.h"
#include "recall/ct_role.h"

/* Speakers with the same words that are kept apart; of more the last ones' repetitions are not found. */
#define SPEAKERS 256

static int64_t hash_of(const ct_batch *batch, const ct_folded *said, int64_t time_ms) {
    uint64_t hash = ct_hash(said->tail, said->tail_bytes, (uint64_t)ct_repeat_day(said, time_ms));
    return (int64_t)ct_hash(batch->folds.bytes + said->at, said->bytes, hash);
}

static ct_saying_row *find_put(ct_batch *batch, int64_t hash, int64_t first_id) {
    for (size_t i = 0; i < batch->out.saying_count; i++)
        if (batch->out.sayings[i].first_id == first_id && batch->out.sayings[i].hash == hash)
            return &batch->out.sayings[i];
    return NULL;
}

static int put(ct_batch *batch, ct_saying_row row, ct_error *error) {
    ct_saying_row *known = find_put(batch, row.hash, row.first_id);
    if (known) {
        *known = row;
        return CT_OK;
    }
    ct_saying_row *grown =
        ct_batch_grow(batch->out.sayings, batch->out.saying_count, &batch->saying_capacity, sizeof *grown);
    if (!grown) return ct_fail_nomem(error);
    batch->out.sayings = grown;
    grown[batch->out.saying_count++] = row;
    return CT_OK;
}

/* All with this hash, oldest first: those of the store as the batch leaves them, then the batch's own. */
static int list_sayings(ct_batch *batch, int64_t hash, ct_saying_row *list, size_t *count, ct_error *error) {
    int status = ct_store_sayings(batch->parts->store, hash, list, SPEAKERS, count, error);
    for (size_t i = 0; !status && i < *count; i++) {
        const ct_saying_row *now = find_put(batch, hash, list[i].first_id);
        if (now) list[i] = *now;
    }
    int64_t last = !status && *count ? list[*count - 1].first_id : 0;
    for (size_t i = 0; !status && i < batch->out.saying_count && *count < SPEAKERS; i++)
        if (batch->out.sayings[i].hash == hash && batch->out.sayings[i].first_id > last)
            list[(*count)++] = batch->out.sayings[i];
    return status;
}

/* Hashes can be alike by chance, or by somebody's will: the words decide. */
static int is_said_by(ct_batch *batch, int64_t first_id, size_t place, int *is, ct_error *error) {
    const ct_told *told = &batch->told.list[place];
    *is = 0;
    for (size_t i = 0; i < place; i++) {
        const ct_told *own = &batch->told.list[i];
        if (own->id != first_id) continue;
        *is = ct_repeat_is_same(&batch->folds, &batch->folded[i], own->time_ms, &batch->folded[place], told->time_ms);
        return CT_OK;
    }
    ct_told_list first = {0};
    ct_folded said;
    int status = ct_store_told(batch->parts->store, first_id, &first, error);
    size_t used = batch->folds.used;
    if (!status && first.count) {
        if (ct_fold(&batch->folds, first.list[0].text, first.list[0].text_bytes, &said)) status = ct_fail_nomem(error);
        else
            *is = ct_repeat_is_same(&batch->folds, &said, first.list[0].time_ms, &batch->folded[place], told->time_ms);
    }
    batch->folds.used = used;
    ct_told_list_free(&first);
    return status;
}

int ct_batch_find_duplicate(ct_batch *batch, size_t place, ct_error *error) {
    const ct_told *told = &batch->told.list[place];
    ct_folded *said = &batch->folded[place];
    if (ct_fold(&batch->folds, told->text, told->text_bytes, said)) return ct_fail_nomem(error);
    if (ct_repeat_is_reply(said)) return CT_OK;
    int is_tool = ct_role_is_tool(told->role);
    ct_saying_row list[SPEAKERS];
    size_t count = 0;
    int64_t hash = hash_of(batch, said, told->time_ms);
    int status = list_sayings(batch, hash, list, &count, error);
    for (size_t i = 0; !status && i < count; i++) {
        int is = 0;
        if (list[i].role_id && !is_tool && list[i].role_id != told->role_id) continue;
        status = is_said_by(batch, list[i].first_id, place, &is, error);
        if (status || !is) continue;
        if (!list[i].role_id && !is_tool) {
            list[i].role_id = told->role_id;
            status = put(batch, list[i], error);
        }
        ct_id_pair pair = {.newer = told->id, .older = list[i].first_id};
        return status ? status
                      : ct_batch_add_pair(&batch->out.duplicates, &batch->out.duplicate_count,
                                          &batch->duplicate_capacity, pair, error);
    }
    return status ? status : put(batch, (ct_saying_row){hash, told->id, is_tool ? 0 : told->role_id}, error);
}
