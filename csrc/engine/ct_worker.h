/* The embedding thread: takes the newest waiting message, encodes its chunks, stores them.  It holds
 * no lock while the model runs. */
#ifndef CT_WORKER_H
#define CT_WORKER_H

#include "ct.h"
#include "encoder/ct_encoder.h"
#include "engine/ct_keeper.h"
#include "store/ct_store.h"

typedef struct ct_worker ct_worker;

/* The thread lets the keeper save what has become full. */
int ct_worker_start(ct_store *store, ct_encoder *encoder, ct_keeper *keeper, ct_worker **out, ct_error *error);

/* Stops after the chunk at hand; what is unfinished stays in the backlog. */
void ct_worker_stop(ct_worker *worker);

/* Messages may be waiting. */
void ct_worker_wake(ct_worker *worker);

/* Wait until the backlog is empty or the monotonic time has come; CT_TIMEOUT then. */
int ct_worker_wait(ct_worker *worker, int64_t deadline_ns, ct_error *error);

/* The same for who would rather have less than wait in vain: behind a backlog that takes much longer,
 * CT_TIMEOUT as soon as the message that is the newest of all now is embedded, which comes next. */
int ct_worker_catch_up(ct_worker *worker, int64_t deadline_ns, ct_error *error);

/* Every wait, now and later, gives CT_CLOSED. */
void ct_worker_end_waits(ct_worker *worker);

/* The last error of the thread, "" when the last message went well. */
void ct_worker_last_error(ct_worker *worker, char *out, size_t capacity);

#endif
