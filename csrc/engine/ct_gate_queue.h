/* What gates wait for: jobs on their way to the thread, and decisions on their way back.  Each gate has a queue of its
 * own, and the gates that have jobs stand in line, so that none waits for all that another was fed. */
#ifndef CT_GATE_QUEUE_H
#define CT_GATE_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "ct.h"
#include "engine/ct_gate_mind.h"
#include "engine/ct_gates.h"
#include "gate/ct_segmenter.h"

#define CT_GATE_CHANNELS 2

typedef enum ct_job_kind { JOB_SEGMENT, JOB_TEXT, JOB_MESSAGES, JOB_RESET } ct_job_kind;

/* What the thread is to do for a gate. */
typedef struct ct_job {
    struct ct_job *next;
    ct_job_kind kind;
    char *bytes; /* a text, or ids; NULL: none */
    size_t size;
    int64_t start;
    int64_t end;
    int32_t channel;
    int ends_paragraph;
    int ends_turn;
    int64_t ended_ns;
} ct_job;

typedef struct ct_gate_decision {
    ct_decision public; /* first: it is what callers hold */
    struct ct_gate_decision *next;
    char *text;
    char *failure;
} ct_gate_decision;

struct ct_gates {
    int forks; /* of the process that has it */
    pthread_mutex_t mutex; /* guards all of this, and of gates what it says there */
    pthread_cond_t work;
    pthread_cond_t done;
    int references;
    _Atomic int stopping; /* set under the mutex */
    int has_thread;
    pthread_t thread;
    ct_engine *engine;     /* NULL once it is closed */
    struct ct_gate *first; /* in line */
    struct ct_gate *last;
    ct_affect *affect; /* of the thread */
};

struct ct_gate {
    ct_gates *gates;
    pthread_mutex_t feed_mutex; /* guards the segmenters and what is being fed */
    ct_segmenter *segmenters[CT_GATE_CHANNELS];
    int every;
    int32_t channel;
    int is_ending;
    int64_t ended_ns;
    /* Guarded by gates->mutex. */
    int references;     /* the caller's, and one while it is in line or the thread is at it */
    _Atomic int closed; /* set under the mutex */
    uint64_t turn;      /* reset so often */
    struct ct_gate *next;
    int is_in_line;
    int is_worked_on;   /* the thread has the mind */
    ct_gate_mind *mind; /* NULL once it is closed */
    ct_job *first_job;
    ct_job *last_job;
    size_t jobs; /* in the queue or being done */
    size_t texts; /* that are to be known, or lists of ids, in the queue */
    size_t text_bytes;
    ct_gate_decision *first;
    ct_gate_decision *last;
    _Atomic size_t ready; /* changed under the mutex */
    ct_gate_counts counts;
    char *trouble; /* why something was not taken in as known, until a decision says so; or NULL */
};

/* A job with a copy of some bytes; NULL when memory is short. */
ct_job *ct_gate_make_job(ct_job_kind kind, const void *bytes, size_t size);
void ct_gate_free_job(ct_job *of);

/* Give a job to the thread, which owns it from here on; of a gate or an engine that is closed meanwhile it comes to
 * nothing. */
void ct_gate_put_job(ct_gate *gate, ct_job *of);

/* The rest is called under the mutex. */

/* Stand in line, at its end. */
void ct_gate_stand_in_line(ct_gate *gate);

/* NULL: nobody stands there. */
ct_gate *ct_gates_next_in_line(ct_gates *gates);

/* The next job, which is the caller's; NULL: there is none. */
ct_job *ct_gate_pop_job(ct_gate *gate);

/* Take segments that wait out of the queue, at most `most`, the first; returns how many. */
size_t ct_gate_drop_segments(ct_gate *gate, size_t most);
void ct_gate_drop_jobs(ct_gate *gate);

/* Whether another text that is to be known may come in. */
int ct_gate_has_room(const ct_gate *gate);

void ct_gate_push_decision(ct_gate *gate, ct_gate_decision *of);

/* NULL: there is none. */
ct_gate_decision *ct_gate_pop_decision(ct_gate *gate);
void ct_gate_drop_decisions(ct_gate *gate);
void ct_gate_free_decision(ct_gate_decision *of);

/* ---- of ct_gates.c ------------------------------------------------------------------------- */

/* The last reference frees the gate.  Not under the mutex. */
void ct_gate_release(ct_gate *gate);
void ct_gate_free(ct_gate *gate);

/* Have the thread run. */
int ct_gates_start(ct_gates *gates, ct_error *error);

#endif
