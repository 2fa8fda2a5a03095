/* Whether what was found for a segment of a stream is worth an interruption: a pure function of what is known.
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
 * the first, where a topic ends it needs less.  Each term pulls one way whatever the others are. */
#ifndef CT_GATE_RULE_H
#define CT_GATE_RULE_H

/* 0 to 1 each.  focus: few and certain.  sensitivity: affect lowers the bar.  stability: long pauses, and boundaries
 * that change little. */
typedef struct ct_knobs {
    double focus;
    double sensitivity;
    double stability;
} ct_knobs;

/* What is known at the end of a segment; 0 to 1 where nothing else is said. */
typedef struct ct_gate_view {
    double relevance; /* how likely the best that was found answers the segment */
    double novelty;   /* how far it is from all that is active, in the context or staged */
    double utility;   /* how much it says beyond the segment, or that it corrects what is known */
    double overlap;   /* how much of it is in the context or staged */
    double affect;    /* of the segment */
    double drift;     /* from the segment at which it last interrupted: 1 - cosine, 0 to 2 */
    double since;     /* segments since then, from 0 on; INFINITY: never */
    double boundary;  /* how certain a topic or a turn ends here */
} ct_gate_view;

/* Every term of the rule. */
typedef struct ct_gate_verdict {
    double bar;
    double refractory;
    double ease;
    double margin;
    double worth;
    int should_interrupt;
    int at_boundary; /* boundary is at least one half */
} ct_gate_verdict;

/* What is out of range, or no number, counts as the end of the range that speaks against an interruption. */
ct_gate_verdict ct_gate_decide(const ct_gate_view *view, const ct_knobs *knobs);

#endif
