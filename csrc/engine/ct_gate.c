/* A gate as callers see it: what is fed is cut into segments, which become jobs of the thread. */
#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "base/ct_process.h"
#include "engine/ct_check.h"
#include "engine/ct_engine_parts.h"
#include "engine/ct_gate_queue.h"
#include "store/ct_result.h"

static int check(ct_gate *gate, ct_error *error) {
    ct_error_clear(error);
    if (gate->gates->forks != ct_process_forks())
        return ct_fail(error, CT_FORKED, "this gate's engine was opened before a fork, which SQLite cannot cross: start "
                                         "the process by spawn, or fork first and open the store then");
    if (atomic_load(&gate->closed)) return ct_fail(error, CT_CLOSED, "the gate is closed");
    return atomic_load(&gate->gates->stopping) ? ct_fail(error, CT_CLOSED, "the engine is closed") : CT_OK;
}

static int check_options(const ct_gate_options *options, ct_error *error) {
    int status = ct_check_name(options->session, "session", error);
    if (!status) status = ct_check_name(options->scope, "scope", error);
    if (!status) status = ct_check_filter(&options->filter, error);
    return status;
}

int ct_gate_open(ct_engine *engine, const ct_gate_options *options, ct_gate **out, ct_error *error) {
    ct_error_clear(error);
    int status = check_options(options, error);
    if (!status) status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_gates *gates = engine->gates;
    ct_gate *gate = ct_alloc_zero(sizeof *gate);
    if (!gate) {
        ct_engine_leave(engine);
        return ct_fail_nomem(error);
    }
    gate->gates = gates;
    gate->references = 1;
    gate->every = options->every;
    pthread_mutex_init(&gate->feed_mutex, NULL);
    status = ct_gate_mind_create(options, ct_encoder_dimension(engine->encoder), &gate->mind, error);
    for (int i = 0; !status && i < CT_GATE_CHANNELS; i++) status = ct_segmenter_create(&gate->segmenters[i], error);
    pthread_mutex_lock(&gates->mutex);
    if (!status) status = ct_gates_start(gates, error);
    if (!status) gates->references++;
    pthread_mutex_unlock(&gates->mutex);
    ct_engine_leave(engine);
    if (status) ct_gate_free(gate);
    else *out = gate;
    return status;
}

void ct_gate_close(ct_gate *gate) {
    if (gate->gates->forks != ct_process_forks()) return;
    ct_gate_mind *over = NULL;
    pthread_mutex_lock(&gate->gates->mutex);
    atomic_store(&gate->closed, 1);
    ct_gate_drop_jobs(gate);
    ct_gate_drop_decisions(gate);
    if (!gate->is_worked_on) { /* else the thread frees it */
        over = gate->mind;
        gate->mind = NULL;
    }
    pthread_cond_broadcast(&gate->gates->done);
    pthread_mutex_unlock(&gate->gates->mutex);
    ct_gate_mind_free(over);
}

void ct_gate_drop(ct_gate **holder) {
    ct_gate *gate = *holder;
    if (!gate || gate->gates->forks != ct_process_forks()) return;
    ct_gate_close(gate);
    ct_gate_release(gate);
}

/* Wait for room, and put the job there. */
static int know(ct_gate *gate, ct_job *of, int64_t timeout_ms, ct_error *error) {
    if (!of) return ct_fail_nomem(error);
    ct_gates *gates = gate->gates;
    int64_t deadline = ct_clock_ns() + timeout_ms * 1000000;
    pthread_mutex_lock(&gates->mutex);
    while (!ct_gate_has_room(gate) && !gates->stopping && !gate->closed && ct_clock_ns() < deadline)
        ct_clock_wait(&gates->done, &gates->mutex, deadline);
    int has_room = ct_gate_has_room(gate);
    pthread_mutex_unlock(&gates->mutex);
    if (has_room) ct_gate_put_job(gate, of);
    else ct_gate_free_job(of);
    int status = check(gate, error);
    return status || has_room ? status : ct_fail(error, CT_TIMEOUT, "texts still wait to be known");
}

int ct_gate_know_text(ct_gate *gate, const char *text, size_t bytes, int64_t timeout_ms, ct_error *error) {
    int status = check(gate, error);
    return status ? status : know(gate, ct_gate_make_job(JOB_TEXT, text, bytes), timeout_ms, error);
}

int ct_gate_know_messages(ct_gate *gate, const int64_t *ids, size_t count, int64_t timeout_ms, ct_error *error) {
    int status = check(gate, error);
    if (status || !count) return status;
    return know(gate, ct_gate_make_job(JOB_MESSAGES, ids, count * sizeof *ids), timeout_ms, error);
}

static int take_segment(void *state, const ct_segment *segment) {
    ct_gate *gate = state;
    ct_job *of = ct_gate_make_job(JOB_SEGMENT, segment->text, segment->bytes);
    if (!of) return CT_NOMEM;
    of->start = segment->start;
    of->end = segment->end;
    of->ends_paragraph = segment->ends_paragraph;
    of->ends_turn = gate->is_ending;
    of->channel = gate->channel;
    of->ended_ns = gate->ended_ns;
    ct_gate_put_job(gate, of);
    return CT_OK;
}

int ct_gate_feed(ct_gate *gate, int32_t channel, const char *delta, size_t bytes, size_t *ready, ct_error *error) {
    int status = check(gate, error);
    if (!status && (channel < 0 || channel >= CT_GATE_CHANNELS)) status = ct_fail(error, CT_INVALID, "channel is %d", channel);
    if (status) return status;
    pthread_mutex_lock(&gate->feed_mutex);
    gate->channel = channel;
    gate->ended_ns = ct_clock_ns();
    if (ct_segmenter_feed(gate->segmenters[channel], delta, bytes, take_segment, gate)) status = ct_fail_nomem(error);
    pthread_mutex_unlock(&gate->feed_mutex);
    *ready = atomic_load(&gate->ready);
    return status;
}

int ct_gate_end(ct_gate *gate, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    pthread_mutex_lock(&gate->feed_mutex);
    gate->ended_ns = ct_clock_ns();
    gate->is_ending = 1;
    for (int32_t i = CT_GATE_CHANNELS; i > 0; i--) { /* thinking comes before the text */
        gate->channel = i - 1;
        if (ct_segmenter_flush(gate->segmenters[i - 1], take_segment, gate)) status = ct_fail_nomem(error);
    }
    gate->is_ending = 0;
    pthread_mutex_unlock(&gate->feed_mutex);
    return status;
}

int ct_gate_reset(ct_gate *gate, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    ct_job *of = ct_gate_make_job(JOB_RESET, NULL, 0);
    if (!of) return ct_fail_nomem(error);
    pthread_mutex_lock(&gate->feed_mutex);
    for (int i = 0; i < CT_GATE_CHANNELS; i++) ct_segmenter_reset(gate->segmenters[i]);
    pthread_mutex_lock(&gate->gates->mutex);
    ct_gate_drop_segments(gate, SIZE_MAX);
    ct_gate_drop_decisions(gate);
    gate->turn++;
    pthread_mutex_unlock(&gate->gates->mutex);
    ct_gate_put_job(gate, of);
    pthread_mutex_unlock(&gate->feed_mutex);
    return CT_OK;
}

int ct_gate_wait(ct_gate *gate, int64_t timeout_ms, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    ct_gates *gates = gate->gates;
    int64_t deadline = ct_clock_ns() + timeout_ms * 1000000;
    pthread_mutex_lock(&gates->mutex);
    while (gate->jobs && !gates->stopping && !gate->closed && ct_clock_ns() < deadline)
        ct_clock_wait(&gates->done, &gates->mutex, deadline);
    int is_done = !gate->jobs;
    pthread_mutex_unlock(&gates->mutex);
    status = check(gate, error);
    return status || is_done ? status : ct_fail(error, CT_TIMEOUT, "segments still wait for a decision");
}

void ct_decision_drop(ct_decision **holder) { ct_gate_free_decision((ct_gate_decision *)*holder); }

int ct_gate_take(ct_gate *gate, ct_decision **out, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    pthread_mutex_lock(&gate->gates->mutex);
    ct_gate_decision *next = ct_gate_pop_decision(gate);
    pthread_mutex_unlock(&gate->gates->mutex);
    *out = next ? &next->public : NULL;
    return CT_OK;
}

int ct_gate_count(ct_gate *gate, ct_gate_counts *out, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    pthread_mutex_lock(&gate->gates->mutex);
    *out = gate->counts;
    pthread_mutex_unlock(&gate->gates->mutex);
    return CT_OK;
}
