/* What one gate knows, and what it makes of a segment.  Of one thread at a time. */
#ifndef CT_GATE_MIND_H
#define CT_GATE_MIND_H

#include "ct.h"
#include "engine/ct_affect.h"

/* Vectors of what is known that new ones are compared with: the newest. */
#define CT_GATE_VECTORS 64

typedef struct ct_gate_mind ct_gate_mind;

/* Copies of what it needs of the options. */
int ct_gate_mind_create(const ct_gate_options *options, int32_t dimension, ct_gate_mind **out, ct_error *error);
void ct_gate_mind_free(ct_gate_mind *mind);

/* The stream and what was staged for it are forgotten; what else is known stays. */
int ct_gate_mind_reset(ct_gate_mind *mind, ct_error *error);

/* A text is known by its words and, the newest CT_GATE_VECTORS, by their meaning, which the model is asked for. */
int ct_gate_mind_know_words(ct_gate_mind *mind, const char *text, size_t bytes, ct_error *error);
int ct_gate_mind_know_meaning(ct_gate_mind *mind, ct_engine *engine, const char *text, size_t bytes, ct_error *error);

/* Messages that are not there are passed over. */
int ct_gate_mind_know_messages(ct_gate_mind *mind, ct_engine *engine, const int64_t *ids, size_t count,
                               ct_error *error);

/* Look for what a segment brings up, and decide.  Fills of the decision what is not the segment itself. */
int ct_gate_mind_decide(ct_gate_mind *mind, ct_engine *engine, const ct_affect *affect, int ends_paragraph, int ends_turn,
                        ct_decision *decision, ct_error *error);

/* Stage what a decision found; any thread may. */
int ct_gate_mind_stage(const ct_gate_mind *mind, ct_engine *engine, const ct_result *staged, ct_error *error);

#endif
