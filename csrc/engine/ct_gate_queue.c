#include "engine/ct_gate_queue.h"

#include "base/ct_alloc.h"
#include "store/ct_result.h"

/* Of one gate: segments that wait, and decisions that nobody took; the oldest goes when there is one more. */
#define SEGMENTS_MAX 256
#define DECISIONS_MAX 1024

/* Texts that wait to be known; a caller waits with one more. */
#define TEXTS_MAX 1024
#define TEXT_BYTES_MAX (4u << 20)

/* ---- jobs ---------------------------------------------------------------------------------- */

ct_job *ct_gate_make_job(ct_job_kind kind, const void *bytes, size_t size) {
    ct_job *of = ct_alloc_zero(sizeof *of);
    if (!of) return NULL;
    of->kind = kind;
    of->size = size;
    of->bytes = bytes ? ct_copy(bytes, size) : NULL;
    if (bytes && !of->bytes) {
        ct_free(of);
        return NULL;
    }
    return of;
}

void ct_gate_free_job(ct_job *of) {
    if (!of) return;
    ct_free(of->bytes);
    ct_free(of);
}

/* A job has left the queue. */
static void count_out(ct_gate *gate, const ct_job *of) {
    if (of->kind != JOB_TEXT && of->kind != JOB_MESSAGES) return;
    gate->texts--;
    gate->text_bytes -= of->size;
}

ct_job *ct_gate_pop_job(ct_gate *gate) {
    ct_job *of = gate->first_job;
    if (!of) return NULL;
    gate->first_job = of->next;
    if (!gate->first_job) gate->last_job = NULL;
    count_out(gate, of);
    return of;
}

size_t ct_gate_drop_segments(ct_gate *gate, size_t most) {
    size_t dropped = 0;
    ct_job **at = &gate->first_job, *before = NULL;
    while (*at && dropped < most) {
        ct_job *of = *at;
        if (of->kind != JOB_SEGMENT) {
            before = of;
            at = &of->next;
            continue;
        }
        *at = of->next;
        if (gate->last_job == of) gate->last_job = before;
        gate->jobs--;
        gate->counts.waiting--;
        dropped++;
        ct_gate_free_job(of);
    }
    return dropped;
}

void ct_gate_drop_jobs(ct_gate *gate) {
    ct_job *of;
    while ((of = ct_gate_pop_job(gate))) {
        gate->jobs--;
        if (of->kind == JOB_SEGMENT) gate->counts.waiting--;
        ct_gate_free_job(of);
    }
}

int ct_gate_has_room(const ct_gate *gate) { return gate->texts < TEXTS_MAX && gate->text_bytes < TEXT_BYTES_MAX; }

void ct_gate_put_job(ct_gate *gate, ct_job *of) {
    ct_gates *gates = gate->gates;
    pthread_mutex_lock(&gates->mutex);
    int is_said = of->kind == JOB_RESET && gate->last_job && gate->last_job->kind == JOB_RESET;
    if (gates->stopping || gate->closed || is_said) {
        pthread_mutex_unlock(&gates->mutex);
        ct_gate_free_job(of);
        return;
    }
    if (of->kind == JOB_SEGMENT) {
        if (gate->counts.waiting == SEGMENTS_MAX) gate->counts.skipped += (int64_t)ct_gate_drop_segments(gate, 1);
        gate->counts.waiting++;
    } else if (of->kind != JOB_RESET) {
        gate->texts++;
        gate->text_bytes += of->size;
    }
    of->next = NULL;
    if (gate->last_job) gate->last_job->next = of;
    else gate->first_job = of;
    gate->last_job = of;
    gate->jobs++;
    if (!gate->is_in_line && !gate->is_worked_on) {
        gate->references++;
        ct_gate_stand_in_line(gate);
    }
    pthread_mutex_unlock(&gates->mutex);
}

/* ---- the line ------------------------------------------------------------------------------ */

void ct_gate_stand_in_line(ct_gate *gate) {
    ct_gates *gates = gate->gates;
    gate->next = NULL;
    gate->is_in_line = 1;
    if (gates->last) gates->last->next = gate;
    else gates->first = gate;
    gates->last = gate;
    pthread_cond_signal(&gates->work);
}

ct_gate *ct_gates_next_in_line(ct_gates *gates) {
    ct_gate *gate = gates->first;
    if (!gate) return NULL;
    gates->first = gate->next;
    if (!gates->first) gates->last = NULL;
    gate->is_in_line = 0;
    return gate;
}

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

void ct_gate_drop_decisions(ct_gate *gate) {
    while (gate->first) ct_gate_free_decision(ct_gate_pop_decision(gate));
}

void ct_gate_push_decision(ct_gate *gate, ct_gate_decision *of) {
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
