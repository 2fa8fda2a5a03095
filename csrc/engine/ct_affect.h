/* How moved a text sounds: by its meaning, beside that of sentences that are moved and such as are not.  They are
 * English; how well other languages fare is the model's. */
#ifndef CT_AFFECT_H
#define CT_AFFECT_H

#include "ct.h"

typedef struct ct_affect ct_affect;

/* Takes as many turns at the model as there are sentences, two dozen. */
int ct_affect_create(ct_encoder *encoder, ct_affect **out, ct_error *error);
void ct_affect_free(ct_affect *affect);

/* Of a vector of unit length, 0 to 1. */
double ct_affect_of(const ct_affect *affect, const float *vector);

#endif
