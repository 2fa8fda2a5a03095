#include "engine/ct_engine_parts.h"

#include <unistd.h>

#include "base/ct_error.h"

int ct_engine_enter(ct_engine *engine, ct_error *error) {
    if (engine->owner != getpid())
        return ct_fail(error, CT_FORKED,
                       "this engine was opened before a fork, which SQLite cannot cross: start the process by "
                       "spawn, or fork first and open the store then");
    int status = CT_OK;
    pthread_mutex_lock(&engine->mutex);
    if (engine->closed) status = ct_fail(error, CT_CLOSED, "the engine is closed");
    else engine->calls++;
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

void ct_engine_leave(ct_engine *engine) {
    pthread_mutex_lock(&engine->mutex);
    if (--engine->calls == 0) pthread_cond_broadcast(&engine->idle);
    pthread_mutex_unlock(&engine->mutex);
}
