/* Gates: what is fed is cut into segments, which one thread of the engine decides in the order they came. */
#include "engine/ct_gates.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "base/ct_process.h"
#include "engine/ct_check.h"
#include "engine/ct_engine_parts.h"
#include "engine/ct_gate_mind.h"
#include "gate/ct_segmenter.h"
#include "store/ct_result.h"

/* Segments of one gate that wait, and decisions that nobody took; the oldest goes when there is one more. */
#define WAITING_MAX 256
#define DECISIONS_MAX 1024

#define CHANNELS 2

typedef enum job_kind { JOB_SEGMENT, JOB_TEXT, JOB_MESSAGES, JOB_RESET } job_kind;

/* What the thread is to do for a gate. */
typedef struct job {
    struct job *next;
    struct ct_gate *gate;
    job_kind kind;
    char *bytes; /* a text, or ids; NULL: none */
    size_t count;
    int64_t start;
    int64_t end;
    int32_t channel;
    int ends_paragraph;
    int ends_turn;
    int64_t ended_ns;
} job;

typedef struct decision {
    ct_decision public; /* first: it is what callers hold */
    struct decision *next;
    char *text;
    char *failure;
} decision;

struct ct_gates {
    int forks; /* of the process that has it */
    pthread_mutex_t mutex; /* guards all of this, and of gates what it says there */
    pthread_cond_t work;
    pthread_cond_t done;
    int references;
    _Atomic int stopping; /* set under the mutex */
    int has_thread;
    pthread_t thread;
    ct_engine *engine; /* NULL once it is closed */
    job *first;
    job *last;
    ct_affect *affect;    /* of the thread */
};

struct ct_gate {
    ct_gates *gates;
    ct_gate_mind *mind; /* of the thread */
    pthread_mutex_t feed_mutex; /* guards the segmenters and what is being fed */
    ct_segmenter *segmenters[CHANNELS];
    int every;
    int32_t channel;
    int is_ending;
    int64_t ended_ns;
    /* Guarded by gates->mutex. */
    int references; /* the caller's, and one for each job */
    uint64_t turn;  /* reset so often */
    decision *first;
    decision *last;
    _Atomic size_t ready; /* changed under the mutex */
    size_t jobs; /* in the queue or being done */
    ct_gate_counts counts;
    char *trouble; /* why something was not taken in as known, until a decision says so; or NULL */
};

/* ---- decisions ----------------------------------------------------------------------------- */

static void free_decision(decision *of) {
    if (!of) return;
    ct_result_free((ct_result *)(uintptr_t)of->public.staged);
    ct_free(of->text);
    ct_free(of->failure);
    ct_free(of);
}

void ct_decision_drop(ct_decision **holder) { free_decision((decision *)*holder); }

static decision *pop_decision(ct_gate *gate) {
    decision *of = gate->first;
    if (!of) return NULL;
    gate->first = of->next;
    if (!gate->first) gate->last = NULL;
    gate->ready--;
    return of;
}

static void push_decision(ct_gate *gate, decision *of) {
    if (gate->ready == DECISIONS_MAX) {
        free_decision(pop_decision(gate));
        gate->counts.forgotten++;
    }
    of->next = NULL;
    if (gate->last) gate->last->next = of;
    else gate->first = of;
    gate->last = of;
    gate->ready++;
}

/* ---- lifetime of gates --------------------------------------------------------------------- */

static void free_gate(ct_gate *gate) {
    while (gate->first) free_decision(pop_decision(gate));
    for (int i = 0; i < CHANNELS; i++) ct_segmenter_free(gate->segmenters[i]);
    ct_gate_mind_free(gate->mind);
    ct_free(gate->trouble);
    pthread_mutex_destroy(&gate->feed_mutex);
    ct_free(gate);
}

static void release_gate(ct_gate *gate) {
    ct_gates *gates = gate->gates;
    pthread_mutex_lock(&gates->mutex);
    int is_last = --gate->references == 0;
    pthread_mutex_unlock(&gates->mutex);
    if (!is_last) return;
    free_gate(gate);
    ct_gates_release(gates);
}

static void free_job(job *of) {
    ct_free(of->bytes);
    ct_free(of);
}

/* Take a gate's jobs of one kind, or of any but knowledge, out of the queue: at most `most`, the first.  Under the
 * mutex; the gate keeps a reference elsewhere. */
static size_t drop_segments(ct_gates *gates, ct_gate *gate, size_t most) {
    size_t dropped = 0;
    job **at = &gates->first, *before = NULL;
    while (*at && dropped < most) {
        job *of = *at;
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

static int decide(ct_gates *gates, const job *of, decision *to, ct_error *error) {
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
static decision *decide_segment(ct_gates *gates, job *of) {
    ct_error error = {0};
    decision *to = ct_alloc_zero(sizeof *to);
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

static void do_job(ct_gates *gates, job *of, uint64_t turn) {
    ct_error error = {0};
    ct_gate *gate = of->gate;
    decision *made = NULL;
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
        else free_decision(made);
    }
    pthread_mutex_unlock(&gates->mutex);
}

static void *run(void *argument) {
    ct_gates *gates = argument;
    pthread_mutex_lock(&gates->mutex);
    while (!gates->stopping) {
        job *of = gates->first;
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
        release_gate(gate);
        pthread_mutex_lock(&gates->mutex);
    }
    pthread_mutex_unlock(&gates->mutex);
    return NULL;
}

/* Under the mutex. */
static int start(ct_gates *gates, ct_error *error) {
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
    job *left = gates->first;
    gates->first = gates->last = NULL;
    pthread_mutex_unlock(&gates->mutex);
    ct_affect_free(gates->affect);
    gates->affect = NULL;
    while (left) {
        job *next = left->next;
        ct_gate *gate = left->gate;
        free_job(left);
        release_gate(gate);
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

/* ---- calls --------------------------------------------------------------------------------- */

static int check(ct_gate *gate, ct_error *error) {
    ct_error_clear(error);
    if (gate->gates->forks != ct_process_forks())
        return ct_fail(error, CT_FORKED, "this gate's engine was opened before a fork, which SQLite cannot cross: start "
                                         "the process by spawn, or fork first and open the store then");
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
    for (int i = 0; !status && i < CHANNELS; i++) status = ct_segmenter_create(&gate->segmenters[i], error);
    pthread_mutex_lock(&gates->mutex);
    if (!status) status = start(gates, error);
    if (!status) gates->references++;
    pthread_mutex_unlock(&gates->mutex);
    ct_engine_leave(engine);
    if (status) free_gate(gate);
    else *out = gate;
    return status;
}

void ct_gate_drop(ct_gate **holder) {
    ct_gate *gate = *holder;
    if (!gate || gate->gates->forks != ct_process_forks()) return;
    pthread_mutex_lock(&gate->gates->mutex);
    drop_segments(gate->gates, gate, SIZE_MAX);
    gate->turn++;
    pthread_mutex_unlock(&gate->gates->mutex);
    release_gate(gate);
}

/* Give a job to the thread, which owns it from here on; of an engine that is closed meanwhile it comes to nothing. */
static void put(job *of) {
    ct_gates *gates = of->gate->gates;
    pthread_mutex_lock(&gates->mutex);
    if (gates->stopping) {
        pthread_mutex_unlock(&gates->mutex);
        free_job(of);
        return;
    }
    if (of->kind == JOB_SEGMENT) {
        if (of->gate->counts.waiting == WAITING_MAX) of->gate->counts.skipped += (int64_t)drop_segments(gates, of->gate, 1);
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

/* With a copy of some bytes; NULL when memory is short. */
static job *make_job(ct_gate *gate, job_kind kind, const void *bytes, size_t count) {
    job *of = ct_alloc_zero(sizeof *of);
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

int ct_gate_know_text(ct_gate *gate, const char *text, size_t bytes, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    job *of = make_job(gate, JOB_TEXT, text, bytes);
    if (!of) return ct_fail_nomem(error);
    put(of);
    return CT_OK;
}

int ct_gate_know_messages(ct_gate *gate, const int64_t *ids, size_t count, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    job *of = make_job(gate, JOB_MESSAGES, ids, count * sizeof *ids);
    if (!of) return ct_fail_nomem(error);
    of->count = count;
    put(of);
    return CT_OK;
}

static int take_segment(void *state, const ct_segment *segment) {
    ct_gate *gate = state;
    job *of = make_job(gate, JOB_SEGMENT, segment->text, segment->bytes);
    if (!of) return CT_NOMEM;
    of->start = segment->start;
    of->end = segment->end;
    of->ends_paragraph = segment->ends_paragraph;
    of->ends_turn = gate->is_ending;
    of->channel = gate->channel;
    of->ended_ns = gate->ended_ns;
    put(of);
    return CT_OK;
}

int ct_gate_feed(ct_gate *gate, int32_t channel, const char *delta, size_t bytes, size_t *ready, ct_error *error) {
    int status = check(gate, error);
    if (!status && (channel < 0 || channel >= CHANNELS)) status = ct_fail(error, CT_INVALID, "channel is %d", channel);
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
    for (int32_t i = CHANNELS; i > 0; i--) { /* thinking comes before the text */
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
    job *of = make_job(gate, JOB_RESET, NULL, 0);
    if (!of) return ct_fail_nomem(error);
    pthread_mutex_lock(&gate->feed_mutex);
    for (int i = 0; i < CHANNELS; i++) ct_segmenter_reset(gate->segmenters[i]);
    pthread_mutex_lock(&gate->gates->mutex);
    drop_segments(gate->gates, gate, SIZE_MAX);
    while (gate->first) free_decision(pop_decision(gate));
    gate->turn++;
    pthread_mutex_unlock(&gate->gates->mutex);
    put(of);
    pthread_mutex_unlock(&gate->feed_mutex);
    return CT_OK;
}

int ct_gate_wait(ct_gate *gate, int64_t timeout_ms, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    ct_gates *gates = gate->gates;
    int64_t deadline = ct_clock_ns() + timeout_ms * 1000000;
    pthread_mutex_lock(&gates->mutex);
    while (gate->jobs && !gates->stopping && ct_clock_ns() < deadline)
        ct_clock_wait(&gates->done, &gates->mutex, deadline);
    int is_done = !gate->jobs, is_closed = gates->stopping;
    pthread_mutex_unlock(&gates->mutex);
    if (is_done) return CT_OK;
    if (is_closed) return ct_fail(error, CT_CLOSED, "the engine was closed meanwhile");
    return ct_fail(error, CT_TIMEOUT, "segments still wait for a decision");
}

int ct_gate_take(ct_gate *gate, ct_decision **out, ct_error *error) {
    int status = check(gate, error);
    if (status) return status;
    pthread_mutex_lock(&gate->gates->mutex);
    decision *next = pop_decision(gate);
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
