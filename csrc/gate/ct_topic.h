/* What a stream is about while it goes on: whether another topic has begun, and how far it has gone since it last
 * interrupted. */
#ifndef CT_TOPIC_H
#define CT_TOPIC_H

#include <stdint.h>

#include "ct.h"

typedef struct ct_topic {
    int32_t dimension;
    float *mean;        /* of the vectors so far, the last ones weigh most; of unit length */
    float *interrupted; /* of the segment at which it last interrupted */
    int has_mean;
    double since; /* segments since that one; INFINITY: there is none */
} ct_topic;

int ct_topic_open(ct_topic *topic, int32_t dimension, ct_error *error);
void ct_topic_free(ct_topic *topic);

/* A new stream. */
void ct_topic_clear(ct_topic *topic);

/* How certain it is, 0 to 1, that a segment of this vector, of unit length, begins another topic.  The first one
 * does not. */
double ct_topic_shift(const ct_topic *topic, const float *vector);

/* 1 - cosine to the segment at which it last interrupted, 0 when there is none. */
double ct_topic_drift(const ct_topic *topic, const float *vector);

void ct_topic_add(ct_topic *topic, const float *vector, int interrupts);

#endif
