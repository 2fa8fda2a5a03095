#include "recall/ct_confidence.h"

#include <math.h>

/* Logistic curves, fitted on questions with an answer against the same with their evidence taken out,
 * and against questions that ascribe to one speaker what another said. */
#define MATCH_SLOPE 15.0
#define MATCH_MIDDLE 0.40
#define LEAD_SLOPE 20.0 /* the named speaker's best match less the best of all others' */
#define SHARE_SLOPE 3.5 /* the named speaker's share of the best matches, less a half */
#define SPEAKER_BASE 0.6
#define BEST 5

static double logistic(double x) { return 1 / (1 + exp(-x)); }

typedef struct leader {
    double match;
    int is_named;
} leader;

double ct_confidence_of(const ct_pool *pool, const ct_speakers *speakers) {
    leader best[BEST];
    size_t count = 0;
    double top[2] = {-1, -1}; /* of others, of those named */
    for (size_t i = 0; i < pool->count; i++) {
        leader next = {pool->list[i].match, ct_speaker_is_named(speakers, pool->list[i].role_id)};
        if (next.match > top[next.is_named]) top[next.is_named] = next.match;
        size_t at = count < BEST ? count++ : BEST;
        for (; at > 0 && best[at - 1].match < next.match; at--)
            if (at < BEST) best[at] = best[at - 1];
        if (at < BEST) best[at] = next;
    }
    if (!count) return 0;
    double answer = logistic(MATCH_SLOPE * (best[0].match - MATCH_MIDDLE));
    if (!speakers->by_name || top[0] < 0 || top[1] < 0) return answer;
    double named = 0;
    for (size_t i = 0; i < count; i++) named += best[i].is_named;
    return answer * logistic(LEAD_SLOPE * (top[1] - top[0]) + SHARE_SLOPE * (named / (double)count - 0.5) +
                             SPEAKER_BASE);
}
