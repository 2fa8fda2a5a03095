#include "recall/ct_repeat.h"

/* A text of so few words without a number, or of up to so many that begin with "yes", "it", "that" and the
 * like, says too little without what was said before it. */
#define REPLY_WORDS 2
#define REPLY_REFERRING_WORDS 8

#define DAY_MS 86400000

int ct_repeat_is_reply(const ct_folded *said) {
    if (said->words <= REPLY_WORDS) return !said->numbers;
    return said->refers && said->words <= REPLY_REFERRING_WORDS;
}

int64_t ct_repeat_day(const ct_folded *said, int64_t time_ms) {
    return said->dated ? time_ms / DAY_MS - (time_ms % DAY_MS < 0) : 0;
}

int ct_repeat_is_same(const ct_folds *folds, const ct_folded *a, int64_t a_ms, const ct_folded *b, int64_t b_ms) {
    return ct_fold_equal(folds, a, b) && ct_repeat_day(b, a_ms) == ct_repeat_day(b, b_ms);
}
