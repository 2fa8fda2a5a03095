/* What gates have staged, as messages. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "engine/ct_check.h"
#include "engine/ct_engine_parts.h"
#include "store/ct_result.h"

/* The byte at which a character begins, or the end of the text. */
static size_t byte_of(const ct_row *row, size_t character) {
    size_t at = 0;
    for (; at < row->text_bytes; at++)
        if (((unsigned char)row->text[at] & 0xc0) != 0x80 && character-- == 0) break;
    return at;
}

static void cut(ct_row *row, const ct_staged *by) {
    if (!by->excerpt_end) return;
    size_t from = byte_of(row, by->excerpt_start), to = byte_of(row, by->excerpt_end);
    row->text += from;
    row->text_bytes = to - from;
    row->excerpt_start = by->excerpt_start;
    row->excerpt_end = by->excerpt_end;
}

static int read_staged(ct_engine *engine, const ct_staged *list, size_t count, ct_result *result, ct_error *error) {
    int64_t *ids = ct_alloc((count + 1) * sizeof *ids);
    if (!ids) return ct_fail_nomem(error);
    for (size_t i = 0; i < count; i++) ids[i] = list[i].message_id;
    int status = ct_store_get_present(engine->store, ids, count, result, error);
    for (size_t i = 0, k = 0; !status && i < result->count; i++) {
        while (list[k].message_id != result->rows[i].id) k++;
        result->rows[i].score = list[k].score;
        cut(&result->rows[i], &list[k]);
    }
    ct_free(ids);
    return status;
}

int ct_engine_take_staged(ct_engine *engine, const char *scope, ct_result **out, ct_error *error) {
    ct_error_clear(error);
    int status = ct_check_name(scope, "scope", error);
    if (!status) status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_staged *list = NULL;
    size_t count = 0;
    ct_result *result = ct_result_new();
    status = result ? ct_stage_bus_drain(engine->staged, scope, &list, &count, error) : ct_fail_nomem(error);
    if (!status) {
        status = read_staged(engine, list, count, result, error);
        ct_error ignored = {0};
        int taken;
        for (size_t i = 0; status && i < count; i++)
            ct_stage_bus_put(engine->staged, scope, &list[i], &taken, &ignored);
    }
    ct_free(list);
    ct_engine_leave(engine);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}
