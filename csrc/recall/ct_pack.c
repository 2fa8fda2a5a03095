#include "recall/ct_pack.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "recall/ct_cost.h"
#include "recall/ct_excerpt.h"
#include "recall/ct_question.h"
#include "recall/ct_repeat.h"
#include "recall/ct_role.h"

static void forget(ct_pack *pack) {
    ct_free(pack->sayings);
    ct_free(pack->folded);
    ct_free(pack->next);
    ct_folds_free(&pack->folds);
    ct_id_map_free(&pack->places);
    pack->sayings = NULL;
    pack->folded = NULL;
    pack->next = NULL;
    pack->count = 0;
}

void ct_pack_free(ct_pack *pack) { forget(pack); }

/* ---- what was said more than once ---------------------------------------------------------- */

static int belongs(const ct_pack *pack, const ct_saying *to, size_t row) {
    const ct_row *rows = pack->result->rows;
    if (!ct_repeat_is_same(&pack->folds, &pack->folded[to->best], rows[to->best].time_ms, &pack->folded[row],
                           rows[row].time_ms))
        return 0;
    return to->voice == CT_PACK_NONE || ct_role_is_tool(rows[row].role) ||
           strcmp(rows[to->voice].role, rows[row].role) == 0;
}

/* Whether row a is the better one to show. */
static int is_better(const ct_row *a, const ct_row *b) {
    int tool_a = ct_role_is_tool(a->role), tool_b = ct_role_is_tool(b->role);
    if (tool_a != tool_b) return tool_b;
    if (a->time_ms != b->time_ms) return a->time_ms > b->time_ms;
    return a->id > b->id;
}

static void join(ct_pack *pack, ct_saying *to, size_t row) {
    const ct_row *rows = pack->result->rows;
    pack->next[to->last] = row;
    to->last = row;
    to->count++;
    if (to->voice == CT_PACK_NONE && !ct_role_is_tool(rows[row].role)) to->voice = row;
    if (is_better(&rows[row], &rows[to->shown])) to->shown = row;
}

static int add(ct_pack *pack, size_t row, ct_error *error) {
    const ct_folded *said = &pack->folded[row];
    size_t other = CT_PACK_NONE;
    if (pack->query->collapse && !ct_repeat_is_reply(said)) {
        int64_t key = (int64_t)(said->hash >> 1) | 1;
        uint32_t place = ct_id_map_get(&pack->places, key, UINT32_MAX);
        other = place == UINT32_MAX ? CT_PACK_NONE : place;
        for (size_t s = other; s != CT_PACK_NONE; s = pack->sayings[s].other) {
            if (!belongs(pack, &pack->sayings[s], row)) continue;
            join(pack, &pack->sayings[s], row);
            return CT_OK;
        }
        if (ct_id_map_put(&pack->places, key, (uint32_t)pack->count)) return ct_fail_nomem(error);
    }
    size_t voice = ct_role_is_tool(pack->result->rows[row].role) ? CT_PACK_NONE : row;
    pack->sayings[pack->count++] = (ct_saying){row, row, row, voice, 1, other};
    return CT_OK;
}

int ct_pack_collapse(ct_pack *pack, ct_error *error) {
    size_t count = pack->result->count;
    int status = CT_OK;
    forget(pack);
    pack->sayings = ct_alloc(count * sizeof *pack->sayings);
    pack->folded = ct_alloc(count * sizeof *pack->folded);
    pack->next = ct_alloc(count * sizeof *pack->next);
    if (!pack->sayings || !pack->folded || !pack->next) return ct_fail_nomem(error);
    for (size_t i = 0; !status && i < count; i++) {
        const ct_row *row = &pack->result->rows[i];
        pack->next[i] = CT_PACK_NONE;
        if (!pack->query->include_superseded && row->superseded_by_count) continue;
        if (ct_fold(&pack->folds, row->text, row->text_bytes, &pack->folded[i])) return ct_fail_nomem(error);
        status = add(pack, i, error);
    }
    return status;
}

/* ---- budgets ------------------------------------------------------------------------------- */

/* A place in a text is found by counting parts of it. */
#define PLACE_BYTES 512

/* An excerpt takes so much, or of a larger budget this share: the rest is for other hits. */
#define EXCERPT_TOKENS 256
#define EXCERPT_BYTES 1024
#define EXCERPT_DIVISOR 4

/* From where the best passage begins to its middle, half of the late stage's grain. */
#define PASSAGE_HALF 16

#define CUT_TRIES 12

typedef struct cost {
    size_t tokens; /* 0 when tokens are not counted */
    size_t bytes;
} cost;

typedef struct chooser {
    ct_pack *pack;
    cost whole; /* SIZE_MAX: no budget */
    cost left;
    ct_id_map known; /* message ids: HIT or ATTACHED */
    struct taken *taken;
    size_t taken_count;
} chooser;

enum { HIT, ATTACHED, UNKNOWN };

/* A hit that is handed out; places in result->attached of what is beside it. */
typedef struct taken {
    ct_row row;
    size_t saying;
    size_t beside[2];
} taken;

/* Exact up to the budget; of what is larger, only that it is. */
static int count_cost(const chooser *to, const char *text, size_t bytes, cost *out, ct_error *error) {
    *out = (cost){0, bytes};
    if (to->whole.tokens == SIZE_MAX) return CT_OK;
    return ct_cost_tokens(to->pack->parts->encoder, text, bytes, to->whole.tokens, &out->tokens, error);
}

static int fits(const cost *what, const cost *into) {
    return what->tokens <= into->tokens && what->bytes <= into->bytes;
}

static void spend(chooser *to, const cost *what) {
    if (to->left.tokens != SIZE_MAX) to->left.tokens -= what->tokens;
    if (to->left.bytes != SIZE_MAX) to->left.bytes -= what->bytes;
}

/* The byte where a token stands, about, and the bytes of a token around there. */
static int find_token(const chooser *to, const ct_row *row, size_t token, size_t *at, double *token_bytes,
                      ct_error *error) {
    size_t seen = 0, some = 0;
    for (size_t start = 0, end; start < row->text_bytes; start = end, seen += some) {
        end = ct_cost_part(row->text, row->text_bytes, start, PLACE_BYTES);
        int status =
            ct_encoder_count(to->pack->parts->encoder, row->text + start, end - start, &some, error);
        if (status) return status;
        if (seen + some <= token && end < row->text_bytes) continue;
        *token_bytes = (double)(end - start) / (double)(some ? some : 1);
        *at = start + (size_t)((double)(token > seen ? token - seen : 0) * *token_bytes);
        if (*at > end) *at = end;
        break;
    }
    return CT_OK;
}

static size_t excerpt_size(size_t whole, size_t usual) {
    size_t share = whole / EXCERPT_DIVISOR > usual ? whole / EXCERPT_DIVISOR : usual;
    return share < whole ? share : whole;
}

static size_t characters(const char *text, size_t bytes) {
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* Cut a row that no budget of this size could hold to an excerpt, if one fits what is left; *done says
 * whether.  Of the window's first and last words the counts can only be known by counting. */
static int cut(const chooser *to, ct_row *row, cost *of, int *done, ct_error *error) {
    cost most = {to->whole.tokens == SIZE_MAX ? SIZE_MAX : excerpt_size(to->whole.tokens, EXCERPT_TOKENS),
                 to->whole.bytes == SIZE_MAX ? SIZE_MAX : excerpt_size(to->whole.bytes, EXCERPT_BYTES)};
    size_t centre = 0, start, end;
    double token_bytes = 1;
    *done = 0;
    if (fits(of, &to->whole) || !fits(&most, &to->left)) {
        /* Without a budget of its kind `most` and what is left are both SIZE_MAX. */
        return CT_OK;
    }
    size_t middle = row->passage < 0 ? 0 : (size_t)row->passage + PASSAGE_HALF;
    int status = find_token(to, row, middle, &centre, &token_bytes, error);
    if (status) return status;
    double size = (double)row->text_bytes;
    if (most.bytes != SIZE_MAX) size = fmin(size, (double)most.bytes);
    if (most.tokens != SIZE_MAX) size = fmin(size, (double)most.tokens * fmin(token_bytes, CT_COST_TOKEN_BYTES));
    for (int i = 0; i < CUT_TRIES && size >= 1; i++) {
        size_t around = ct_excerpt_centre(row->text, row->text_bytes, to->pack->words, centre, (size_t)size);
        ct_excerpt_lay(row->text, row->text_bytes, around, (size_t)size, &start, &end);
        if (start >= end) return CT_OK;
        status = count_cost(to, row->text + start, end - start, of, error);
        if (status) return status;
        if (fits(of, &most)) {
            row->excerpt_start = characters(row->text, start);
            row->excerpt_end = row->excerpt_start + characters(row->text + start, end - start);
            row->text += start;
            row->text_bytes = end - start;
            *done = 1;
            return CT_OK;
        }
        size *= fmin(0.9, (double)most.tokens / (double)of->tokens);
    }
    return CT_OK;
}

/* ---- what stands beside a hit -------------------------------------------------------------- */

/* A hit of up to so many words may be an answer that the question before it is part of. */
#define ANSWER_WORDS 12

/* From this share on a message asks rather than tells. */
#define ASKS_SHARE 0.5

/* So much more does a hit match with what stands around it than alone, for that to be why it is one. */
#define CONTEXT_GAP 0.2

enum { BEFORE, BEHIND };

static int asks(const ct_row *row) { return ct_question_share(row->text, row->text_bytes) >= ASKS_SHARE; }

/* Whether a hit is found for what stands on one side of it, and that matches better than it does. */
static int is_found_by(const chooser *to, const ct_row *hit, int64_t beside, int64_t opposite) {
    const ct_candidate *one = ct_pool_find(to->pack->pool, beside);
    const ct_candidate *two = opposite ? ct_pool_find(to->pack->pool, opposite) : NULL;
    if (!(hit->context - hit->late >= CONTEXT_GAP) || !one || !(one->own > hit->late)) return 0;
    return !two || !(two->own > one->own);
}

static int is_needed(const chooser *to, const taken *hit, const ct_row *beside, int side,
                     int64_t opposite) {
    const ct_folded *said = &to->pack->folded[to->pack->sayings[hit->saying].shown];
    int answers = strcmp(hit->row.role, beside->role) != 0;
    if (side == BEFORE && answers && (said->refers || said->words <= ANSWER_WORDS) &&
        (asks(beside) || ct_question_ends(beside->text, beside->text_bytes)))
        return 1;
    if (side == BEHIND && answers && asks(&hit->row)) return 1;
    return is_found_by(to, &hit->row, beside->id, opposite);
}

/* An outdated value may not come in by the side door. */
static int is_superseded(const ct_result *result, int64_t id) {
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].id == id) return result->rows[i].superseded_by_count > 0;
    return 0;
}

static int attach_side(chooser *to, taken *hit, int64_t id, int side, int64_t opposite, ct_error *error) {
    const ct_recall_parts *parts = to->pack->parts;
    ct_result **attached = &to->pack->result->attached;
    ct_index_message about;
    cost of;
    if (ct_id_map_get(&to->known, id, UNKNOWN) != UNKNOWN || is_superseded(to->pack->result, id)) return CT_OK;
    if (!ct_index_find(parts->index, id, &about) ||
        !ct_bound_filter_passes(to->pack->filter, about.session_id, about.role_id, about.time_ms))
        return CT_OK;
    if (!*attached && !(*attached = ct_result_new())) return ct_fail_nomem(error);
    int status = ct_store_get(parts->store, &id, 1, *attached, error);
    if (status) return status;
    size_t place = (*attached)->count - 1;
    const ct_row *row = &(*attached)->rows[place];
    int take = is_needed(to, hit, row, side, opposite);
    if (take) {
        status = count_cost(to, row->text, row->text_bytes, &of, error);
        take = !status && fits(&of, &to->left);
    }
    if (!take) {
        (*attached)->count--;
        return status;
    }
    spend(to, &of);
    hit->beside[side] = place;
    return ct_id_map_put(&to->known, id, ATTACHED) ? ct_fail_nomem(error) : CT_OK;
}

static int attach(chooser *to, taken *hit, ct_error *error) {
    int64_t ids[3], before = 0, behind = 0;
    size_t own = 0, count = ct_index_neighbours(to->pack->parts->index, hit->row.id, 1, 1, ids);
    while (own < count && ids[own] != hit->row.id) own++;
    if (own > 0 && own < count) before = ids[own - 1];
    if (own + 1 < count) behind = ids[own + 1];
    int status = before ? attach_side(to, hit, before, BEFORE, behind, error) : CT_OK;
    if (!status && behind) status = attach_side(to, hit, behind, BEHIND, before, error);
    return status;
}

/* ---- the list ------------------------------------------------------------------------------ */

/* How many sayings may be handed out. */
static size_t worthwhile(const ct_pack *pack) {
    size_t count = pack->count;
    while (count && pack->result->rows[pack->sayings[count - 1].best].score < pack->least) count--;
    return count;
}

/* What will be a hit, or would be without budgets, is not attached to another one. */
static int mark_hits(chooser *to, ct_error *error) {
    const ct_pack *pack = to->pack;
    size_t count = worthwhile(pack), limit = (size_t)pack->query->limit;
    for (size_t s = 0; s < count && s < limit; s++)
        for (size_t row = pack->sayings[s].best; row != CT_PACK_NONE; row = pack->next[row])
            if (ct_id_map_put(&to->known, pack->result->rows[row].id, HIT)) return ct_fail_nomem(error);
    return CT_OK;
}

static int is_attached(const chooser *to, const ct_saying *saying) {
    const ct_pack *pack = to->pack;
    for (size_t row = saying->best; row != CT_PACK_NONE; row = pack->next[row])
        if (ct_id_map_get(&to->known, pack->result->rows[row].id, UNKNOWN) == ATTACHED) return 1;
    return 0;
}

static int take(chooser *to, size_t place, ct_error *error) {
    const ct_pack *pack = to->pack;
    const ct_saying *saying = &pack->sayings[place];
    taken hit = {pack->result->rows[saying->shown], place, {CT_PACK_NONE, CT_PACK_NONE}};
    cost of;
    hit.row.score = pack->result->rows[saying->best].score;
    int status = count_cost(to, hit.row.text, hit.row.text_bytes, &of, error), ready = 1;
    if (!status && !fits(&of, &to->left)) status = cut(to, &hit.row, &of, &ready, error);
    if (status || !ready) return status;
    spend(to, &of);
    if (pack->query->attach && !hit.row.excerpt_end) status = attach(to, &hit, error);
    to->taken[to->taken_count++] = hit;
    return status;
}

static int by_id(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The ids of a saying but for the one that is shown. */
static void name_duplicates(const ct_pack *pack, taken *hit, int64_t **free_ids) {
    const ct_saying *saying = &pack->sayings[hit->saying];
    int64_t *ids = *free_ids;
    for (size_t row = saying->best; row != CT_PACK_NONE; row = pack->next[row])
        if (row != saying->shown) *(*free_ids)++ = pack->result->rows[row].id;
    hit->row.duplicates = ids;
    hit->row.duplicate_count = saying->count - 1;
    qsort(ids, saying->count - 1, sizeof *ids, by_id);
}

static int hand_out(chooser *to, ct_error *error) {
    ct_result *result = to->pack->result;
    result->ids = ct_alloc(result->count * sizeof *result->ids);
    if (!result->ids) return ct_fail_nomem(error);
    int64_t *free_ids = result->ids;
    for (size_t i = 0; i < to->taken_count; i++) {
        taken *hit = &to->taken[i];
        name_duplicates(to->pack, hit, &free_ids);
        if (hit->beside[BEFORE] != CT_PACK_NONE)
            hit->row.before = &result->attached->rows[hit->beside[BEFORE]];
        if (hit->beside[BEHIND] != CT_PACK_NONE)
            hit->row.after = &result->attached->rows[hit->beside[BEHIND]];
    }
    /* Only now: until here rows were read. */
    for (size_t i = 0; i < to->taken_count; i++) result->rows[i] = to->taken[i].row;
    result->count = to->taken_count;
    return CT_OK;
}

int ct_pack_choose(ct_pack *pack, ct_error *error) {
    const ct_query *query = pack->query;
    cost whole = {query->budget_tokens ? (size_t)query->budget_tokens : SIZE_MAX,
                  query->budget_bytes ? (size_t)query->budget_bytes : SIZE_MAX};
    size_t count = worthwhile(pack);
    size_t most = count < (size_t)query->limit ? count : (size_t)query->limit;
    chooser to = {.pack = pack, .whole = whole, .left = whole};
    to.taken = ct_alloc(most * sizeof *to.taken);
    int status = to.taken ? mark_hits(&to, error) : ct_fail_nomem(error);
    for (size_t s = 0; !status && s < count && to.taken_count < most; s++)
        if (!is_attached(&to, &pack->sayings[s])) status = take(&to, s, error);
    if (!status) status = hand_out(&to, error);
    ct_free(to.taken);
    ct_id_map_free(&to.known);
    return status;
}
