/* Whether what was found for a segment of a stream is worth an interruption: ct_gate_decide, a pure function of what is
 * known.
 *
 *   bar        = BAR_WIDE + (BAR_NARROW - BAR_WIDE) focus - RELAXED sensitivity affect
 *   refractory = (PAUSE_LEAST + (PAUSE_MOST - PAUSE_LEAST) stability)
 *                2^(-since / (HALVED_LEAST + (HALVED_MOST - HALVED_LEAST) stability)) max(0, 1 - drift / AWAY)
 *   ease       = (EASE_MOST - (EASE_MOST - EASE_LEAST) stability) boundary
 *   margin     = relevance - bar - refractory + ease
 *   worth      = max(novelty, utility)
 *
 * It interrupts when margin >= 0, worth >= WORTH_LEAST and overlap < OVERLAP_MOST.  So it needs relevance, and something new
 * or of use, that is not known already; soon after an interruption, and as long as the talk is about the same, it needs more of
 * the first, where a topic ends it needs less.  Each term pulls one way whatever the others are.
 *
 * At a boundary, boundary >= 1/2, it stages without interrupting where margin + refractory >= 0: who comes next there
 * is not disturbed. */
#include <math.h>

#include "ct.h"

/* Relevance that is asked for at focus 0 and 1. */
#define BAR_WIDE 0.45
#define BAR_NARROW 0.85

/* Hits of a recall, and of one segment, at focus 0 and 1. */
#define RECALL_WIDE 16.0
#define RECALL_NARROW 3.0
#define GATE_WIDE 6.0
#define GATE_NARROW 2.0

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

#define WORTH_LEAST 0.59
#define OVERLAP_MOST 0.6

#define BOUNDARY_LEAST 0.5

/* NaN: `otherwise`. */
static double within(double value, double least, double most, double otherwise) {
    if (isnan(value)) return otherwise;
    return value < least ? least : value > most ? most : value;
}

static double between(double at_zero, double at_one, double share) { return at_zero + (at_one - at_zero) * share; }

ct_knob_values ct_knobs_read(const ct_knobs *knobs) {
    double focus = within(knobs->focus, 0, 1, 1), stability = within(knobs->stability, 0, 1, 1);
    return (ct_knob_values){
        .recall_limit = (int32_t)lrint(between(RECALL_WIDE, RECALL_NARROW, focus)),
        .gate_limit = (int32_t)lrint(between(GATE_WIDE, GATE_NARROW, focus)),
        .bar = between(BAR_WIDE, BAR_NARROW, focus),
        .relaxed = RELAXED * within(knobs->sensitivity, 0, 1, 0),
        .pause = between(PAUSE_LEAST, PAUSE_MOST, stability),
        .halved = between(HALVED_LEAST, HALVED_MOST, stability),
        .ease = between(EASE_MOST, EASE_LEAST, stability),
    };
}

ct_gate_verdict ct_gate_decide(const ct_gate_view *view, const ct_knobs *knobs) {
    ct_knob_values values = ct_knobs_read(knobs);
    double relevance = within(view->relevance, 0, 1, 0), overlap = within(view->overlap, 0, 1, 1);
    double since = within(view->since, 0, INFINITY, 0), drift = within(view->drift, 0, 2, 0);
    double boundary = within(view->boundary, 0, 1, 0);
    ct_gate_verdict verdict = {
        .bar = values.bar - values.relaxed * within(view->affect, 0, 1, 0),
        .refractory = values.pause * exp2(-since / values.halved) * fmax(0, 1 - drift / AWAY),
        .ease = values.ease * boundary,
        .worth = fmax(within(view->novelty, 0, 1, 0), within(view->utility, 0, 1, 0)),
        .at_boundary = boundary >= BOUNDARY_LEAST,
    };
    int is_wanted = verdict.worth >= WORTH_LEAST && overlap < OVERLAP_MOST;
    verdict.margin = relevance - verdict.bar - verdict.refractory + verdict.ease;
    verdict.should_interrupt = is_wanted && verdict.margin >= 0;
    verdict.should_stage = verdict.should_interrupt ||
                           (is_wanted && verdict.at_boundary && verdict.margin + verdict.refractory >= 0);
    return verdict;
}
