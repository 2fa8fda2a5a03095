/* Whether one message says again what another said, word for word: ct_fold, and who said it when. */
#ifndef CT_REPEAT_H
#define CT_REPEAT_H

#include "recall/ct_fold.h"

/* A short reply ("Yes, that one.") answers another question each time: it repeats nothing. */
int ct_repeat_is_reply(const ct_folded *said);

/* The same words, and of the same day, UTC, when they count from the day they were said on ("tomorrow"). */
int ct_repeat_is_same(const ct_folds *folds, const ct_folded *a, int64_t a_ms, const ct_folded *b, int64_t b_ms);

/* The day that words count from, for a hash; 0 when they do not. */
int64_t ct_repeat_day(const ct_folded *said, int64_t time_ms);

#endif
