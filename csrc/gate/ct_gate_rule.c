#include "gate/ct_gate_rule.h"

#include <math.h>

/* Relevance that is asked for at focus 0 and 1. */
#define BAR_WIDE 0.45
#define BAR_NARROW 0.85

/* Taken off the bar at full sensitivity and affect. */
#define RELAXED 0.15

/* Added right after an interruption, at stability 0 and 1. */
#define PAUSE_LEAST 0.15
#define PAUSE_MOST 0.60

/* Segments after which half of that is left. */
#define HALVED_LEAST 1.0
#define HALVED_MOST 8.0

/* Drift at which nothing is left: another topic. */
#define AWAY 0.8

/* Taken off at a boundary, at stability 0 and 1. */
#define EASE_MOST 0.12
#define EASE_LEAST 0.02

#define WORTH_LEAST 0.25
#define OVERLAP_MOST 0.6

#define BOUNDARY_LEAST 0.5

/* NaN: `otherwise`. */
static double within(double value, double least, double most, double otherwise) {
    if (isnan(value)) return otherwise;
    return value < least ? least : value > most ? most : value;
}

static double between(double at_zero, double at_one, double share) { return at_zero + (at_one - at_zero) * share; }

ct_gate_verdict ct_gate_decide(const ct_gate_view *view, const ct_knobs *knobs) {
    double focus = within(knobs->focus, 0, 1, 1), stability = within(knobs->stability, 0, 1, 1);
    double sensitivity = within(knobs->sensitivity, 0, 1, 0);
    double relevance = within(view->relevance, 0, 1, 0), overlap = within(view->overlap, 0, 1, 1);
    double since = within(view->since, 0, INFINITY, 0), drift = within(view->drift, 0, 2, 0);
    double boundary = within(view->boundary, 0, 1, 0);
    ct_gate_verdict verdict = {
        .bar = between(BAR_WIDE, BAR_NARROW, focus) - RELAXED * sensitivity * within(view->affect, 0, 1, 0),
        .refractory = between(PAUSE_LEAST, PAUSE_MOST, stability) *
                      exp2(-since / between(HALVED_LEAST, HALVED_MOST, stability)) * fmax(0, 1 - drift / AWAY),
        .ease = between(EASE_MOST, EASE_LEAST, stability) * boundary,
        .worth = fmax(within(view->novelty, 0, 1, 0), within(view->utility, 0, 1, 0)),
        .at_boundary = boundary >= BOUNDARY_LEAST,
    };
    verdict.margin = relevance - verdict.bar - verdict.refractory + verdict.ease;
    verdict.should_interrupt = verdict.margin >= 0 && verdict.worth >= WORTH_LEAST && overlap < OVERLAP_MOST;
    return verdict;
}
