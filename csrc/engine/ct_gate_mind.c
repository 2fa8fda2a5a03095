/* What one gate knows. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_utf8.h"
#include "engine/ct_engine_parts.h"
#include "engine/ct_gate_mind_parts.h"
#include "recall/ct_question.h"
#include "store/ct_result.h"

/* So much of a text says what it is about. */
#define EMBEDDED_BYTES 2048

/* Messages of the session that a reader is taken to have before it. */
#define FOLLOWED 32

/* ---- lifetime ------------------------------------------------------------------------------ */

static void free_names(const char *const *names, size_t count) {
    for (size_t i = 0; names && i < count; i++) ct_free((char *)(uintptr_t)names[i]);
    ct_free((void *)(uintptr_t)names);
}

static int copy_names(const char *const *names, size_t count, const char *const **out) {
    if (!count) return 0;
    char **copies = ct_alloc_zero(count * sizeof *copies);
    *out = (const char *const *)copies;
    for (size_t i = 0; copies && i < count; i++)
        if (!(copies[i] = ct_copy_string(names[i]))) return -1;
    return copies ? 0 : -1;
}

int ct_gate_mind_create(const ct_gate_options *options, int32_t dimension, ct_gate_mind **out, ct_error *error) {
    ct_gate_mind *mind = ct_alloc_zero(sizeof *mind);
    if (!mind) return ct_fail_nomem(error);
    const ct_filter *filter = &options->filter;
    mind->knobs = options->knobs;
    mind->follows = options->follows;
    mind->dimension = dimension;
    mind->session = ct_copy_string(options->session);
    mind->scope = ct_copy_string(options->scope);
    mind->vectors = ct_alloc(CT_GATE_VECTORS * (size_t)dimension * sizeof *mind->vectors);
    mind->filter = (ct_filter){.session_count = filter->session_count, .role_count = filter->role_count,
                               .since_ms = filter->since_ms, .until_ms = filter->until_ms};
    int status = CT_OK;
    if (!mind->session || !mind->scope || !mind->vectors ||
        copy_names(filter->sessions, filter->session_count, &mind->filter.sessions) ||
        copy_names(filter->roles, filter->role_count, &mind->filter.roles))
        status = ct_fail_nomem(error);
    if (!status) status = ct_topic_open(&mind->topic, dimension, error);
    if (!status) status = ct_known_create(&mind->context, error);
    if (!status) status = ct_known_create(&mind->staged, error);
    if (status) ct_gate_mind_free(mind);
    else *out = mind;
    return status;
}

void ct_gate_mind_free(ct_gate_mind *mind) {
    if (!mind) return;
    free_names(mind->filter.sessions, mind->filter.session_count);
    free_names(mind->filter.roles, mind->filter.role_count);
    ct_free(mind->session);
    ct_free(mind->scope);
    ct_known_free(mind->context);
    ct_known_free(mind->staged);
    ct_topic_free(&mind->topic);
    ct_free(mind->vectors);
    ct_free(mind);
}

int ct_gate_mind_reset(ct_gate_mind *mind, ct_error *error) {
    ct_known *staged;
    int status = ct_known_create(&staged, error);
    if (status) return status;
    ct_known_free(mind->staged);
    mind->staged = staged;
    ct_topic_clear(&mind->topic);
    return CT_OK;
}

/* ---- what is known ------------------------------------------------------------------------- */

static float *add_vector(ct_gate_mind *mind) {
    float *vector = mind->vectors + mind->next_vector * (size_t)mind->dimension;
    mind->next_vector = (mind->next_vector + 1) % CT_GATE_VECTORS;
    if (mind->vector_count < CT_GATE_VECTORS) mind->vector_count++;
    return vector;
}

/* What only asks tells nothing: that the answer means much the same does not make it known. */
static int asks_only(const char *text, size_t bytes) { return ct_question_share(text, bytes) > 0.5; }

size_t ct_gate_beginning(const char *text, size_t bytes, size_t most) {
    if (bytes <= most) return bytes;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80) most--;
    return most;
}

int ct_gate_mind_know_words(ct_gate_mind *mind, const char *text, size_t bytes, ct_error *error) {
    return ct_known_add_text(mind->context, text, bytes, error);
}

int ct_gate_mind_know_meaning(ct_gate_mind *mind, ct_engine *engine, const char *text, size_t bytes, ct_error *error) {
    size_t some = ct_gate_beginning(text, bytes, EMBEDDED_BYTES);
    int status = CT_OK;
    if (ct_utf8_check(text, some) != CT_UTF8_GOOD || asks_only(text, bytes)) return CT_OK;
    float *vector = ct_alloc((size_t)mind->dimension * sizeof *vector);
    if (!vector) return ct_fail_nomem(error);
    status = ct_encoder_embed(engine->encoder, &text, &some, 1, 0, vector, error);
    if (!status) memcpy(add_vector(mind), vector, (size_t)mind->dimension * sizeof *vector);
    ct_free(vector);
    return status;
}

int ct_gate_mind_know_row(ct_gate_mind *mind, ct_known *known, ct_engine *engine, const ct_row *row, ct_error *error) {
    int status = ct_known_add_message(known, row->id, error);
    for (size_t i = 0; !status && i < row->duplicate_count; i++)
        status = ct_known_add_message(known, row->duplicates[i], error);
    if (!status) status = ct_known_add_text(known, row->text, row->text_bytes, error);
    if (status || asks_only(row->text, row->text_bytes)) return status;
    float *vector = ct_alloc((size_t)mind->dimension * sizeof *vector);
    if (!vector) return ct_fail_nomem(error);
    if (ct_index_vector(engine->index, row->id, vector))
        memcpy(add_vector(mind), vector, (size_t)mind->dimension * sizeof *vector);
    ct_free(vector);
    return CT_OK;
}

int ct_gate_mind_know_messages(ct_gate_mind *mind, ct_engine *engine, const int64_t *ids, size_t count,
                               ct_error *error) {
    ct_result *result = ct_result_new();
    int status = result ? ct_store_get_present(engine->store, ids, count, result, error) : ct_fail_nomem(error);
    for (size_t i = 0; !status && i < result->count; i++)
        status = ct_gate_mind_know_row(mind, mind->context, engine, &result->rows[i], error);
    ct_result_free(result);
    return status;
}

int ct_gate_mind_follow(ct_gate_mind *mind, ct_engine *engine, ct_error *error) {
    int64_t ids[FOLLOWED];
    size_t count = 0;
    if (!mind->follows) return CT_OK;
    int status = ct_store_latest(engine->store, mind->session, mind->followed, FOLLOWED, ids, &count, error);
    if (status || !count) return status;
    status = ct_gate_mind_know_messages(mind, engine, ids, count, error);
    if (!status) mind->followed = ids[count - 1];
    return status;
}

/* ---- staging ------------------------------------------------------------------------------- */

int ct_gate_mind_stage(const ct_gate_mind *mind, ct_engine *engine, const ct_result *staged, ct_error *error) {
    int status = CT_OK;
    for (size_t i = 0; !status && i < staged->count; i++) {
        const ct_row *row = &staged->rows[i];
        ct_staged message = {row->id, row->text_bytes, row->score, row->excerpt_start, row->excerpt_end};
        ct_active active = {row->id, row->score};
        int taken = 0;
        status = ct_stage_bus_put(engine->staged, mind->scope, &message, &taken, error);
        if (!status) status = ct_working_rise(engine->working, mind->session, &active, 1, error);
    }
    return status;
}
