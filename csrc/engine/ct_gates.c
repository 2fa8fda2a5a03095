/* One thread of the engine does the jobs of all gates in the order they came. */
#include <signal.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "base/ct_process.h"
#include "engine/ct_engine_parts.h"
#include "engine/ct_gate_queue.h"
#include "store/ct_result.h"

/* Segments of one gate that wait, and decisions that nobody took; the oldest goes when there is one more. */
#define WAITING_MAX 256
#define DECISIONS_MAX 1024

/* ---- decisions ----------------------------------------------------------------------------- */

void ct_gate_free_decision(ct_gate_decision *of) {
    if (!of) return;
    ct_result_free((ct_result *)(uintptr_t)of->public.staged);
    ct_free(of->text);
    ct_free(of->failure);
    ct_free(of);
}

ct_gate_decision *ct_gate_pop_decision(ct_gate *gate) {
    ct_gate_decision *of = gate->first;
    if (!of) return NULL;
    gate->first = of->next;
    if (!gate->first) gate->last = NULL;
    gate->ready--;
    return of;
}

static void push_decision(ct_gate *gate, ct_gate_decision *of) {
    if (gate->ready == DECISIONS_MAX) {
        ct_gate_free_decision(ct_gate_pop_decision(gate));
        gate->counts.forgotten++;
    }
    of->next = NULL;
    if (gate->last) gate->last->next = of;
    else gate->first = of;
    gate->last = of;
    gate->ready++;
}

/* ---- lifetime of gates --------------------------------------------------------------------- */

void ct_gate_free(ct_gate *gate) {
    while (gate->first) ct_gate_free_decision(ct_gate_pop_decision(gate));
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

static void free_job(ct_job *of) {
    ct_free(of->bytes);
    ct_free(of);
}

size_t ct_gate_drop_segments(ct_gates *gates, ct_gate *gate, size_t most) {
    size_t dropped = 0;
    ct_job **at = &gates->first, *before = NULL;
    while (*at && dropped < most) {
        ct_job *of = *at;
        if (of->gate != gate || of->kind != JOB_SEGMENT) {
            before = of;
            at = &of->next;
            continue;
        }
        *at = of->next;
        if (gates->last == of) gates->last = before;
        gate->references--;
        gate->jobs--;
        gate->counts.waiting--;
        dropped++;
        free_job(of);
    }
    return dropped;
}

/* ---- the thread ---------------------------------------------------------------------------- */

static int decide(ct_gates *gates, const ct_job *of, ct_gate_decision *to, ct_error *error) {
    int status = CT_OK;
    int64_t began = ct_clock_ns();
    to->public.waited_ns = began - of->ended_ns;
    if (!gates->affect) status = ct_affect_create(gates->engine->encoder, &gates->affect, error);
    if (!status)
        status = ct_gate_mind_decide(of->gate->mind, gates->engine, gates->affect, of->ends_paragraph, of->ends_turn,
                                     &to->public, error);
    to->public.total_ns = ct_clock_ns() - of->ended_ns;
    return status;
}

/* NULL when memory is short. */
static ct_gate_decision *decide_segment(ct_gates *gates, ct_job *of) {
    ct_error error = {0};
    ct_gate_decision *to = ct_alloc_zero(sizeof *to);
    if (!to) return NULL;
    to->text = of->bytes;
    of->bytes = NULL;
    to->public.text = to->text;
    to->public.text_bytes = of->count;
    to->public.start = of->start;
    to->public.end = of->end;
    to->public.channel = of->channel;
    if (decide(gates, of, to, &error)) {
        to->failure = ct_copy_string(error.message);
        to->public.failure = to->failure ? to->failure : "out of memory";
        to->public.verdict.should_interrupt = to->public.verdict.should_stage = 0;
    }
    return to;
}

static void do_job(ct_gates *gates, ct_job *of, uint64_t turn) {
    ct_error error = {0};
    ct_gate *gate = of->gate;
    ct_gate_decision *made = NULL;
    switch (of->kind) {
    case JOB_SEGMENT: made = decide_segment(gates, of); break;
    case JOB_TEXT: ct_gate_mind_know_text(gate->mind, gates->engine, of->bytes, of->count, &error); break;
    case JOB_MESSAGES:
        ct_gate_mind_know_messages(gate->mind, gates->engine, (const int64_t *)(const void *)of->bytes, of->count,
                                   &error);
        break;
    case JOB_RESET: ct_gate_mind_reset(gate->mind, &error); break;
    }
    pthread_mutex_lock(&gates->mutex);
    gate->jobs--;
    if (error.status && !gate->trouble) gate->trouble = ct_copy_string(error.message);
    if (made && !made->public.failure) {
        made->public.failure = made->failure = gate->trouble;
        gate->trouble = NULL;
    }
    if (of->kind == JOB_SEGMENT) {
        gate->counts.waiting--;
        if (!made) gate->counts.skipped++;
        else if (gate->turn == turn && (gate->every || made->public.staged || made->public.failure))
            push_decision(gate, made);
        else ct_gate_free_decision(made);
    }
    pthread_mutex_unlock(&gates->mutex);
}

static void *run(void *argument) {
    ct_gates *gates = argument;
    ct_error later = {0}; /* tried again with the first segment */
    if (ct_affect_create(gates->engine->encoder, &gates->affect, &later)) gates->affect = NULL;
    pthread_mutex_lock(&gates->mutex);
    while (!gates->stopping) {
        ct_job *of = gates->first;
        if (!of) {
            pthread_cond_wait(&gates->work, &gates->mutex);
            continue;
        }
        gates->first = of->next;
        if (!gates->first) gates->last = NULL;
        uint64_t turn = of->gate->turn;
        pthread_mutex_unlock(&gates->mutex);
        do_job(gates, of, turn);
        ct_gate *gate = of->gate;
        free_job(of);
        pthread_mutex_lock(&gates->mutex);
        pthread_cond_broadcast(&gates->done);
        pthread_mutex_unlock(&gates->mutex);
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
    pthread_mutex_lock(&gates->mutex);
    gates->has_thread = 0;
    gates->engine = NULL;
    ct_job *left = gates->first;
    gates->first = gates->last = NULL;
    pthread_mutex_unlock(&gates->mutex);
    ct_affect_free(gates->affect);
    gates->affect = NULL;
    while (left) {
        ct_job *next = left->next;
        ct_gate *gate = left->gate;
        free_job(left);
        ct_gate_release(gate);
        left = next;
    }
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

/* ---- jobs ---------------------------------------------------------------------------------- */

void ct_gate_put_job(ct_job *of) {
    ct_gates *gates = of->gate->gates;
    pthread_mutex_lock(&gates->mutex);
    if (gates->stopping) {
        pthread_mutex_unlock(&gates->mutex);
        free_job(of);
        return;
    }
    if (of->kind == JOB_SEGMENT) {
        if (of->gate->counts.waiting == WAITING_MAX) of->gate->counts.skipped += (int64_t)ct_gate_drop_segments(gates, of->gate, 1);
        of->gate->counts.waiting++;
    }
    of->gate->references++;
    of->gate->jobs++;
    of->next = NULL;
    if (gates->last) gates->last->next = of;
    else gates->first = of;
    gates->last = of;
    pthread_cond_signal(&gates->work);
    pthread_mutex_unlock(&gates->mutex);
}

ct_job *ct_gate_make_job(ct_gate *gate, ct_job_kind kind, const void *bytes, size_t count) {
    ct_job *of = ct_alloc_zero(sizeof *of);
    if (!of) return NULL;
    of->gate = gate;
    of->kind = kind;
    of->count = count;
    of->bytes = bytes ? ct_copy(bytes, count) : NULL;
    if (bytes && !of->bytes) {
        ct_free(of);
        return NULL;
    }
    return of;
}
