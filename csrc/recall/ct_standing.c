#include "recall/ct_standing.h"

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_result.h"

/* From so like the query on a directive is about it; of the others the newest come first. */
#define RELEVANT 0.14

typedef struct ranked {
    const ct_directive_row *row;
    double relevance; /* 0: it is not about the query */
} ranked;

static int by_relevance(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->relevance != y->relevance) return x->relevance < y->relevance ? 1 : -1;
    return x->row < y->row ? -1 : x->row > y->row; /* rows are newest first */
}

/* Whether a newer one took its place.  The store knows of the last one that did, whatever was asked for;
 * what had taken its place by the time that is asked about is for here. */
static int is_replaced(const ct_directives *all, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (ct_directive_replaces(&all->list[i].view, &all->list[index].view)) return 1;
    return 0;
}

/* The mean of the query's codes, as that of a sentence. */
static void mean_of_query(const ct_query_tokens *tokens, size_t bits, int8_t *mean) {
    for (size_t b = 0; b < bits; b++) {
        size_t ones = 0;
        for (size_t t = 0; t < tokens->count; t++) ones += tokens->vectors[t * bits + b] > 0;
        mean[b] = (int8_t)(127 * (2 * (double)ones / (double)tokens->count - 1));
    }
}

/* The first `most` of those in force, in list. */
static size_t rank(const ct_directives *all, const int8_t *asked, size_t bits, ranked *list, size_t most) {
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const ct_directive_view *view = &all->list[i].view;
        if (view->kind & CT_DIRECTIVE_LIFTS) continue;
        double alike = asked && view->mean && view->bits == bits ? ct_directive_cosine(asked, view->mean, bits) : 0;
        list[count++] = (ranked){&all->list[i], alike >= RELEVANT ? alike : 0};
    }
    if (count) qsort(list, count, sizeof *list, by_relevance);
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < most; i++)
        if (!is_replaced(all, (size_t)(list[i].row - all->list))) list[kept++] = list[i];
    return kept;
}

static int fetch(ct_store *store, const ranked *list, size_t count, ct_result *result, ct_error *error) {
    int64_t *ids = ct_alloc(count * sizeof *ids);
    ct_result *standing = ct_result_new();
    int status = ids && standing ? CT_OK : ct_fail_nomem(error);
    for (size_t i = 0; !status && i < count; i++) ids[i] = list[i].row->message_id;
    if (!status) status = ct_store_get(store, ids, count, standing, error);
    for (size_t i = 0; !status && i < count; i++) {
        ct_row *row = &standing->rows[i];
        row->score = list[i].relevance;
        row->span_start = list[i].row->start;
        row->span_bytes = list[i].row->bytes;
        if (row->span_start > row->text_bytes || row->span_bytes > row->text_bytes - row->span_start)
            status = ct_fail(error, CT_CORRUPT, "a directive of message %lld is not in its text", (long long)row->id);
    }
    ct_free(ids);
    if (status) ct_result_free(standing);
    else result->standing = standing;
    return status;
}

int ct_standing_find(const ct_recall_parts *parts, const ct_query *query, const ct_bound_filter *filter,
                     const ct_query_tokens *tokens, ct_result *result, ct_error *error) {
    int8_t asked[CT_CODE_BITS_MAX];
    size_t bits = (size_t)ct_encoder_code_bits(parts->encoder);
    ct_directives all;
    int status = ct_store_directives(parts->store, filter, &all, error);
    if (status) return status;
    ranked *list = ct_alloc(all.count * sizeof *list);
    if (list) {
        if (tokens->count) mean_of_query(tokens, bits, asked);
        size_t count = rank(&all, tokens->count ? asked : NULL, bits, list, (size_t)query->standing);
        status = fetch(parts->store, list, count, result, error);
    } else {
        status = ct_fail_nomem(error);
    }
    ct_free(list);
    ct_directives_free(&all);
    return status;
}
