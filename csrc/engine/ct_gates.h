/* The gates of an engine and the thread that decides what they are fed. */
#ifndef CT_GATES_H
#define CT_GATES_H

#include "ct.h"

typedef struct ct_gates ct_gates;

int ct_gates_create(ct_engine *engine, ct_gates **out, ct_error *error);

/* Every wait, now and later, and every other call of a gate gives CT_CLOSED. */
void ct_gates_end_waits(ct_gates *gates);

/* Stop the thread behind the segment at hand.  Gates that are left have no engine from here on. */
void ct_gates_stop(ct_gates *gates);

/* The last of the engine and its gates frees them. */
void ct_gates_release(ct_gates *gates);

#endif
