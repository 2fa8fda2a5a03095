/* How likely a message is what a segment of a stream calls for. */
#ifndef CT_RELEVANCE_H
#define CT_RELEVANCE_H

#include "ct.h"

/* The segment: what is the same for all that it brings up. */
typedef struct ct_relevance_asking {
    double asks;       /* the share of it that asks, 0 to 1 */
    double words;      /* how many */
    double confidence; /* of the recall */
} ct_relevance_asking;

/* 0 to 1; NaNs of a row, of stages that say nothing of it, count as 0. */
double ct_relevance_of(const ct_relevance_asking *by, const ct_row *row);

#endif
