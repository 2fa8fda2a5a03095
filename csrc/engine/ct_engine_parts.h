/* What the files of this folder share: the engine itself, and what every call of it begins and ends with. */
#ifndef CT_ENGINE_PARTS_H
#define CT_ENGINE_PARTS_H

#include <pthread.h>
#include <sys/types.h>

#include "base/ct_team.h"
#include "ct.h"
#include "encoder/ct_encoder.h"
#include "engine/ct_keeper.h"
#include "engine/ct_gates.h"
#include "engine/ct_worker.h"
#include "gate/ct_stage_bus.h"
#include "gate/ct_working.h"
#include "recall/ct_parts.h"
#include "store/ct_store.h"

struct ct_engine {
    pid_t owner;
    pthread_mutex_t mutex;
    pthread_cond_t idle;
    int calls; /* in flight, guarded by mutex */
    int closed;
    int counted; /* in ct_process */
    ct_encoder *encoder;
    ct_store *store;
    ct_index *index;
    ct_keeper *keeper;
    ct_worker *worker;
    ct_recall_nearby nearby; /* guarded by mutex */
    pthread_mutex_t helper_mutex; /* held by the recall that has the helper */
    ct_team *helper; /* of two; made when it is first of use */
    int has_cores;   /* more than one */
    pthread_mutex_t consolidating; /* held by the call that consolidates */
    ct_stage_bus *staged;
    ct_working *working;
    ct_gates *gates;
};

/* Begin a call; CT_FORKED, CT_CLOSED.  Everything after a CT_OK is undone by ct_engine_leave. */
int ct_engine_enter(ct_engine *engine, ct_error *error);
void ct_engine_leave(ct_engine *engine);

/* A recall, inside a call or on a thread of the engine's own.  vector, unless it is NULL, gets that of the query, of a
 * recall that looks for meaning.  is_beside: the host is not to notice it, so no index that is kept elsewhere is
 * asked, and the helper is left to others.  Free the result. */
int ct_engine_search(ct_engine *engine, const ct_query *query, int is_beside, float *vector, ct_result **out,
                     ct_error *error);

#endif
