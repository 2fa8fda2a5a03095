/* What the files of this folder share: the engine itself, and what every call of it begins and ends with. */
#ifndef CT_ENGINE_PARTS_H
#define CT_ENGINE_PARTS_H

#include <pthread.h>
#include <sys/types.h>

#include "base/ct_team.h"
#include "ct.h"
#include "encoder/ct_encoder.h"
#include "engine/ct_keeper.h"
#include "engine/ct_worker.h"
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
};

/* Begin a call; CT_FORKED, CT_CLOSED.  Everything after a CT_OK is undone by ct_engine_leave. */
int ct_engine_enter(ct_engine *engine, ct_error *error);
void ct_engine_leave(ct_engine *engine);

#endif
