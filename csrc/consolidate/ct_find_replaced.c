/* Values that a message replaces, or that replace its own: of the nearest earlier messages of its speaker those that
 * recall would link with it (ct_supersede.h), as far as that needs no query.
 *
 * Where a query says what it is about, thanks to one friend and to another are not among its answers; here they are
 * compared, and a name is exchanged.  So here only a number, a day or a month can be, or something ends.  Of 507
 * messages with 113 changes among them 19 links were right and 3 wrong; of 2,761 of friends who chat it gave one, a
 * wrong one.  With names as well it gave 27 there, all wrong. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "consolidate/ct_batch.h"
#include "recall/ct_change.h"
#include "recall/ct_likeness.h"
#include "recall/ct_token_read.h"

/* Earlier messages that are looked at, by their vectors. */
#define NEAREST 16

/* What would replace more than so many is made after a pattern that others are made after too: it replaces none. */
#define REPLACED_MOST 2

/* Less alike than this, by the cosine, nothing was ever linked. */
#define LEAST_COSINE 0.35

/* The pairs whose words show a change. */
typedef struct pairs {
    const ct_batch *batch;
    ct_told_list others;
    ct_chunk_place places[1 + NEAREST]; /* of the message itself, then of others */
    size_t prefix[1 + NEAREST];
    ct_likeness tokens[1 + NEAREST];
    ct_id_pair links[NEAREST];
    size_t count;
} pairs;

static int is_value(const ct_stated_word *word) {
    return word->kind == CT_WORD_NUMBER || word->kind == CT_WORD_DAY || word->kind == CT_WORD_MONTH;
}

/* Whether a message says that something is over. */
static int says_end(const ct_statement *said) {
    int ends = 0, denies = 0;
    for (size_t i = 0; i < said->count; i++) {
        unsigned is = said->words[i].is;
        if (is & CT_IS_LASTING) return 1;
        if (is & CT_IS_ENDING) ends = 1;
        if (is & CT_IS_NEGATION) denies = 1; /* "I won't quit" */
    }
    return ends && !denies;
}

/* Whether a message says a value, or that something is over: without, it replaces nothing. */
static int says_change(const ct_statement *said) {
    for (size_t i = 0; i < said->count; i++)
        if (is_value(&said->words[i])) return 1;
    return says_end(said);
}

static int has(const ct_statement *said, const ct_stated_word *word) {
    for (size_t i = 0; i < said->count; i++)
        if (!strcmp(said->words[i].folded, word->folded)) return 1;
    return 0;
}

/* Whether both have a value of some kind that the other has not. */
static int exchanges_value(const ct_statement *a, const ct_statement *b) {
    for (size_t i = 0; i < a->count; i++) {
        if (!is_value(&a->words[i]) || has(b, &a->words[i])) continue;
        for (size_t j = 0; j < b->count; j++)
            if (b->words[j].kind == a->words[i].kind && !has(a, &b->words[j])) return 1;
    }
    return 0;
}

static int find_near(ct_batch *batch, const ct_told *told, ct_dense_hit *hits, size_t *count, ct_error *error) {
    ct_index *index = batch->parts->index;
    ct_index_query query = {0};
    ct_index_filter earlier = {.since_ms = INT64_MIN, .until_ms = INT64_MAX, .before_id = told->id};
    *count = 0;
    if (!ct_index_vector(index, told->id, batch->vector)) return CT_OK;
    int status = ct_index_query_make(index, batch->vector, &query, error);
    if (!status) status = ct_index_search(index, &query, &earlier, hits, NEAREST, count, error);
    ct_index_query_free(&query);
    return status;
}

/* One chunk long, and so short enough to be compared token by token. */
static int find_place(const ct_batch *batch, int64_t message_id, ct_chunk_place *out) {
    ct_chunk_place places[2];
    if (ct_index_chunks(batch->parts->index, message_id, places, 2) != 1) return 0;
    *out = places[0];
    return 1;
}

static int judge_words(pairs *to, const ct_told *told, const ct_statement *said, const ct_told *other) {
    static const ct_statement nothing_asked;
    ct_statement stated;
    int is_newer = ct_change_is_newer(told->time_ms, told->id, other->time_ms, other->id);
    if (other->role_id != told->role_id) return 0;
    if (!ct_change_read(other->text, other->text_bytes, &stated)) return 0;
    if (!exchanges_value(said, &stated) && !says_end(is_newer ? said : &stated)) return 0;
    if (!ct_statement_compare(is_newer ? &stated : said, is_newer ? said : &stated, &nothing_asked).changes) return 0;
    to->links[to->count] = is_newer ? (ct_id_pair){told->id, other->id} : (ct_id_pair){other->id, told->id};
    return 1;
}

static int keep_tokens(void *state, size_t place, const uint64_t *codes, size_t count) {
    pairs *to = state;
    size_t words = (size_t)ct_encoder_code_bits(to->batch->parts->encoder) / 64;
    return ct_likeness_make(codes, count, to->prefix[place], words, &to->tokens[place]);
}

static int link_near(ct_batch *batch, pairs *of, ct_error *error) {
    size_t words = (size_t)ct_encoder_code_bits(batch->parts->encoder) / 64, count = 0;
    int status = ct_token_read(batch->parts, of->places, 1 + of->count, keep_tokens, of, error);
    if (status == CT_NOMEM) ct_fail_nomem(error);
    for (size_t i = 0; !status && i < of->count; i++)
        if (ct_likeness_of(&of->tokens[0], &of->tokens[1 + i], words) >= CT_LIKENESS_LINK)
            of->links[count++] = of->links[i];
    for (size_t i = 0; !status && i < count && count <= REPLACED_MOST; i++)
        status = ct_batch_add_pair(&batch->out.replaced, &batch->out.replaced_count, &batch->replaced_capacity,
                                   of->links[i], error);
    for (size_t i = 0; i <= of->count; i++) ct_likeness_free(&of->tokens[i]);
    return status;
}

static int judge_near(ct_batch *batch, const ct_told *told, const ct_statement *said, pairs *of, ct_error *error) {
    ct_dense_hit hits[NEAREST];
    size_t count = 0;
    int status = find_near(batch, told, hits, &count, error);
    for (size_t i = 0; !status && i < count && hits[i].score >= LEAST_COSINE; i++) {
        if (!find_place(batch, hits[i].message_id, &of->places[1 + of->count])) continue;
        size_t before = of->others.count;
        status = ct_store_told(batch->parts->store, hits[i].message_id, &of->others, error);
        if (status || of->others.count == before) continue;
        const ct_told *other = &of->others.list[before];
        if (!judge_words(of, told, said, other)) continue;
        status = ct_likeness_prefix(batch->parts->encoder, other->role, &of->prefix[1 + of->count++], error);
    }
    if (!status && of->count) status = ct_likeness_prefix(batch->parts->encoder, told->role, &of->prefix[0], error);
    if (!status && of->count) status = link_near(batch, of, error);
    return status;
}

int ct_batch_find_replaced(ct_batch *batch, size_t place, ct_error *error) {
    const ct_told *told = &batch->told.list[place];
    ct_statement said;
    pairs of = {.batch = batch};
    if (!ct_encoder_code_bits(batch->parts->encoder)) return CT_OK;
    if (!ct_change_read(told->text, told->text_bytes, &said) || !says_change(&said)) return CT_OK;
    if (!find_place(batch, told->id, &of.places[0])) return CT_OK;
    int status = judge_near(batch, told, &said, &of, error);
    ct_told_list_free(&of.others);
    return status;
}
