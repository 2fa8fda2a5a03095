#include "consolidate/ct_consolidate.h"

#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "consolidate/ct_batch.h"
#include "consolidate/ct_choose_sentences.h"
#include "store/ct_consolidated.h"

/* Pages of the full-text index that are written in one step. */
#define MERGE_PAGES 64

/* Messages that are new to it before its segments are merged. */
#define MERGE_MESSAGES 1000

typedef int batch_step(ct_batch *batch, size_t place, ct_error *error);

static int run_step(ct_batch *batch, batch_step *step, int64_t *spent_ns, ct_error *error) {
    int64_t began = ct_clock_ns();
    int status = CT_OK;
    for (size_t i = 0; !status && i < batch->told.count; i++) status = step(batch, i, error);
    *spent_ns += ct_clock_ns() - began;
    return status;
}

static int take_batch(const ct_recall_parts *parts, const ct_progress *progress, ct_consolidation *report,
                      ct_error *error) {
    ct_batch batch;
    int64_t began = ct_clock_ns();
    int status = ct_batch_begin(&batch, parts, progress, error);
    report->store_ns += ct_clock_ns() - began;
    if (!status) status = run_step(&batch, ct_batch_find_duplicate, &report->duplicates_ns, error);
    if (!status) status = run_step(&batch, ct_batch_find_replaced, &report->replaced_ns, error);
    if (!status) status = run_step(&batch, ct_batch_extend_episode, &report->episodes_ns, error);
    if (!status) {
        began = ct_clock_ns();
        /* Ids that are not there any more are passed, too. */
        batch.out.last = batch.told.count ? batch.told.list[batch.told.count - 1].id : progress->through;
        status = ct_store_put_consolidated(parts->store, &batch.out, error);
        report->store_ns += ct_clock_ns() - began;
    }
    if (!status) {
        report->messages += (int64_t)batch.told.count;
        report->duplicates += (int64_t)batch.out.duplicate_count;
        report->replaced += (int64_t)batch.out.replaced_count;
        report->episodes += batch.episodes_begun;
    }
    ct_batch_free(&batch);
    return status;
}

/* An episode has changed meanwhile, or is none that could be stored. */
static int explain(const ct_recall_parts *parts, const ct_episode_row *episode, ct_error *error) {
    ct_episode_row now;
    int found = 0;
    ct_error_clear(error);
    int status = ct_store_stale_episode(parts->store, &now, &found, error);
    if (status) return status;
    if (!found || now.id != episode->id || now.last_id != episode->last_id) return CT_CONFLICT;
    return ct_fail(error, CT_CORRUPT, "the store is damaged: episode %lld is none", (long long)now.id);
}

static int take_episode(const ct_recall_parts *parts, ct_consolidation *report, ct_error *error) {
    ct_episode_row episode;
    ct_digest_row rows[CT_DIGEST_SENTENCES];
    size_t count = 0;
    int64_t began = ct_clock_ns();
    int found = 0, status = ct_store_stale_episode(parts->store, &episode, &found, error);
    if (status || !found) return status;
    if (episode.id < 1) status = ct_fail(error, CT_CORRUPT, "the store is damaged: an episode without an id");
    if (!status) status = ct_choose_sentences(parts, &episode, rows, &count, error);
    if (!status) status = ct_store_put_digest(parts->store, &episode, rows, count, error);
    if (status == CT_CONFLICT) status = explain(parts, &episode, error);
    if (!status) report->sentences += (int64_t)count;
    report->digests_ns += ct_clock_ns() - began;
    return status;
}

static int merge(const ct_recall_parts *parts, int64_t through, ct_consolidation *report, int *done, ct_error *error) {
    int64_t began = ct_clock_ns();
    int status = ct_store_merge_words(parts->store, MERGE_PAGES, through, done, error);
    report->words_ns += ct_clock_ns() - began;
    if (!status && !*done) report->merged++;
    return status;
}

/* What was left before does not fit together: it is all derived, and once is enough.  Unless somebody else was at it
 * between two reads. */
static int begin_anew(const ct_recall_parts *parts, const ct_progress *as_of, ct_consolidation *report, ct_error *error) {
    ct_progress now;
    ct_error other = {0};
    int status = ct_store_progress(parts->store, &now, &other);
    if (!status && (now.done != as_of->done || now.dropped != as_of->dropped)) return CT_CONFLICT;
    if (!status && report->anew) return CT_CORRUPT;
    if (!status) status = ct_store_drop_consolidated(parts->store, as_of, &other);
    if (!status) report->anew = 1;
    return status ? ct_fail(error, status, "%s", other.message) : CT_OK;
}

int ct_consolidate_step(const ct_recall_parts *parts, ct_consolidation *report, int *left, ct_error *error) {
    ct_progress progress = {0};
    ct_error why = {0};
    int done = 0;
    *left = 1;
    int status = ct_store_progress(parts->store, &progress, &why);
    if (!status && !progress.fits) status = ct_fail(&why, CT_CORRUPT, "the store is damaged: its progress is wrong");
    else if (!status && progress.done < progress.through) status = take_batch(parts, &progress, report, &why);
    else if (!status && progress.any_stale) status = take_episode(parts, report, &why);
    else if (!status && progress.done - progress.merged >= MERGE_MESSAGES)
        status = merge(parts, progress.done, report, &done, &why);
    else *left = 0;
    if (status == CT_CORRUPT) status = begin_anew(parts, &progress, report, &why);
    /* Somebody else has done it. */
    if (status == CT_CONFLICT) return CT_OK;
    return status ? ct_fail(error, status, "%s", why.message) : CT_OK;
}
