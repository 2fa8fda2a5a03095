/* One thread of the engine does the jobs of all gates, which take turns. */
#include <signal.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "base/ct_process.h"
#include "engine/ct_engine_parts.h"
#include "engine/ct_gate_queue.h"
#include "store/ct_result.h"

/* Jobs that a gate may have done in its turn, as long as none of them takes long. */
#define TURN_JOBS 64

/* ---- lifetime of gates --------------------------------------------------------------------- */

void ct_gate_free(ct_gate *gate) {
    ct_gate_drop_decisions(gate);
    for (int i = 0; i < CT_GATE_CHANNELS; i++) ct_segmenter_free(gate->segmenters[i]);
    ct_gate_mind_free(gate->mind);
    ct_free(gate->trouble);
    pthread_mutex_destroy(&gate->feed_mutex);
    ct_free(gate);
}

void ct_gate_release(ct_gate *gate) {
    ct_gates *gates = gate->gates;
    pthread_mutex_lock(&gates->mutex);
    int is_last = --gate->references == 0;
    pthread_mutex_unlock(&gates->mutex);
    if (!is_last) return;
    ct_gate_free(gate);
    ct_gates_release(gates);
}

/* ---- the thread ---------------------------------------------------------------------------- */

static int decide(ct_gates *gates, ct_gate_mind *mind, const ct_job *of, ct_gate_decision *to, ct_error *error) {
    int status = CT_OK;
    int64_t began = ct_clock_ns();
    to->public.waited_ns = began - of->ended_ns;
    if (!gates->affect) status = ct_affect_create(gates->engine->encoder, &gates->affect, error);
    if (!status)
        status = ct_gate_mind_decide(mind, gates->engine, gates->affect, of->ends_paragraph, of->ends_turn,
                                     &to->public, error);
    to->public.total_ns = ct_clock_ns() - of->ended_ns;
    return status;
}

static void fail_decision(ct_gate_decision *of, const ct_error *why) {
    of->failure = ct_copy_string(why->message);
    of->public.failure = of->failure ? of->failure : "out of memory";
    of->public.verdict.should_interrupt = of->public.verdict.should_stage = 0;
    ct_result_free((ct_result *)(uintptr_t)of->public.staged);
    of->public.staged = NULL;
}

/* NULL when memory is short. */
static ct_gate_decision *decide_segment(ct_gates *gates, ct_gate_mind *mind, ct_job *of) {
    ct_error error = {0};
    ct_gate_decision *to = ct_alloc_zero(sizeof *to);
    if (!to) return NULL;
    to->text = of->bytes;
    of->bytes = NULL;
    to->public.text = to->text;
    to->public.text_bytes = of->size;
    to->public.start = of->start;
    to->public.end = of->end;
    to->public.channel = of->channel;
    if (decide(gates, mind, of, to, &error)) fail_decision(to, &error);
    return to;
}

/* A segment is decided, of a gate that may have been reset or closed meanwhile.  Under the mutex, so that nothing is
 * staged behind that call. */
static void hand_out(ct_gate *gate, ct_gate_decision *made, uint64_t turn) {
    ct_error error = {0};
    gate->counts.waiting--;
    if (!made) {
        gate->counts.skipped++;
        return;
    }
    int is_over = gate->closed || gate->turn != turn;
    if (!is_over && made->public.staged &&
        ct_gate_mind_stage(gate->mind, gate->gates->engine, made->public.staged, &error))
        fail_decision(made, &error);
    if (!is_over && !made->public.failure && gate->trouble) {
        made->public.failure = made->failure = gate->trouble;
        gate->trouble = NULL;
    }
    if (!is_over && (gate->every || made->public.staged || made->public.failure)) ct_gate_push_decision(gate, made);
    else ct_gate_free_decision(made);
}

/* Do a job, with the mutex held but while it is being done; returns whether that may have taken milliseconds. */
static int do_job(ct_gate *gate, ct_job *of) {
    ct_gates *gates = gate->gates;
    ct_error error = {0};
    ct_gate_decision *made = NULL;
    ct_gate_mind *mind = gate->mind;
    uint64_t turn = gate->turn;
    int status = CT_OK;
    /* Of more texts than that the meaning of the first would be forgotten at once. */
    int means = of->kind == JOB_TEXT && gate->texts < CT_GATE_VECTORS;
    pthread_mutex_unlock(&gates->mutex);
    switch (of->kind) {
    case JOB_SEGMENT: made = decide_segment(gates, mind, of); break;
    case JOB_TEXT:
        status = ct_gate_mind_know_words(mind, of->bytes, of->size, &error);
        if (!status && means) ct_gate_mind_know_meaning(mind, gates->engine, of->bytes, of->size, &error);
        break;
    case JOB_MESSAGES:
        ct_gate_mind_know_messages(mind, gates->engine, (const int64_t *)(const void *)of->bytes,
                                   of->size / sizeof(int64_t), &error);
        break;
    case JOB_RESET: ct_gate_mind_reset(mind, &error); break;
    }
    pthread_mutex_lock(&gates->mutex);
    gate->jobs--;
    if (error.status && !gate->trouble) gate->trouble = ct_copy_string(error.message);
    if (of->kind == JOB_SEGMENT) hand_out(gate, made, turn);
    pthread_cond_broadcast(&gates->done);
    return means || of->kind == JOB_SEGMENT || of->kind == JOB_MESSAGES;
}

/* A gate's turn; with the mutex held. */
static void take_turn(ct_gate *gate) {
    ct_gates *gates = gate->gates;
    int left = TURN_JOBS;
    ct_job *of;
    gate->is_worked_on = 1;
    while (left > 0 && !gates->stopping && !gate->closed && (of = ct_gate_pop_job(gate))) {
        left = do_job(gate, of) ? 0 : left - 1;
        ct_gate_free_job(of);
    }
    gate->is_worked_on = 0;
    if (gate->first_job) ct_gate_stand_in_line(gate);
}

static void *run(void *argument) {
    ct_gates *gates = argument;
    ct_error later = {0}; /* tried again with the first segment */
    if (ct_affect_create(gates->engine->encoder, &gates->affect, &later)) gates->affect = NULL;
    pthread_mutex_lock(&gates->mutex);
    while (!gates->stopping) {
        ct_gate *gate = ct_gates_next_in_line(gates);
        if (!gate) {
            pthread_cond_wait(&gates->work, &gates->mutex);
            continue;
        }
        take_turn(gate);
        if (gate->is_in_line) continue;
        ct_gate_mind *over = gate->closed ? gate->mind : NULL;
        if (over) gate->mind = NULL;
        pthread_mutex_unlock(&gates->mutex);
        ct_gate_mind_free(over);
        ct_gate_release(gate);
        pthread_mutex_lock(&gates->mutex);
    }
    pthread_mutex_unlock(&gates->mutex);
    return NULL;
}

int ct_gates_start(ct_gates *gates, ct_error *error) {
    if (gates->has_thread) return CT_OK;
    /* The host's signals are the host's: none is delivered to this thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    gates->has_thread = !pthread_create(&gates->thread, NULL, run, gates);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return gates->has_thread ? CT_OK : ct_fail(error, CT_NOMEM, "cannot start the gate's thread");
}

/* ---- lifetime of all ----------------------------------------------------------------------- */

int ct_gates_create(ct_engine *engine, ct_gates **out, ct_error *error) {
    ct_gates *gates = ct_alloc_zero(sizeof *gates);
    if (!gates) return ct_fail_nomem(error);
    gates->forks = ct_process_forks();
    gates->engine = engine;
    gates->references = 1;
    pthread_mutex_init(&gates->mutex, NULL);
    pthread_cond_init(&gates->work, NULL);
    ct_clock_cond_init(&gates->done);
    *out = gates;
    return CT_OK;
}

void ct_gates_end_waits(ct_gates *gates) {
    pthread_mutex_lock(&gates->mutex);
    gates->stopping = 1;
    pthread_cond_broadcast(&gates->work);
    pthread_cond_broadcast(&gates->done);
    pthread_mutex_unlock(&gates->mutex);
}

void ct_gates_stop(ct_gates *gates) {
    ct_gates_end_waits(gates);
    if (gates->has_thread) pthread_join(gates->thread, NULL);
    ct_gate *gate;
    do {
        pthread_mutex_lock(&gates->mutex);
        gates->has_thread = 0;
        gates->engine = NULL;
        gate = ct_gates_next_in_line(gates);
        if (gate) ct_gate_drop_jobs(gate);
        pthread_mutex_unlock(&gates->mutex);
        if (gate) ct_gate_release(gate);
    } while (gate);
    ct_affect_free(gates->affect);
    gates->affect = NULL;
}

void ct_gates_release(ct_gates *gates) {
    if (!gates) return;
    pthread_mutex_lock(&gates->mutex);
    int is_last = --gates->references == 0;
    pthread_mutex_unlock(&gates->mutex);
    if (!is_last) return;
    pthread_cond_destroy(&gates->work);
    pthread_cond_destroy(&gates->done);
    pthread_mutex_destroy(&gates->mutex);
    ct_free(gates);
}
