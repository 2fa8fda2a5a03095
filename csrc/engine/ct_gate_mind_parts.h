/* What the files about one gate share. */
#ifndef CT_GATE_MIND_PARTS_H
#define CT_GATE_MIND_PARTS_H

#include "engine/ct_gate_mind.h"
#include "gate/ct_known.h"
#include "gate/ct_topic.h"

struct ct_gate_mind {
    char *session;
    char *scope;
    ct_knobs knobs;
    ct_filter filter;
    int follows;
    int64_t followed; /* the last message of the session that is known */
    int32_t dimension;
    ct_known *context;
    ct_known *staged; /* for this stream */
    ct_topic topic;
    float *vectors; /* [CT_GATE_VECTORS][dimension], a ring */
    size_t vector_count;
    size_t next_vector;
};

/* Messages of the session that came since the last time are known. */
int ct_gate_mind_follow(ct_gate_mind *mind, ct_engine *engine, ct_error *error);

/* Know a message whose text is at hand. */
int ct_gate_mind_know_row(ct_gate_mind *mind, ct_known *known, ct_engine *engine, const ct_row *row, ct_error *error);

/* The bytes of a text's beginning, of `most` at most, that end with a whole character. */
size_t ct_gate_beginning(const char *text, size_t bytes, size_t most);

#endif
