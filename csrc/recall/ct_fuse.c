#include "recall/ct_fuse.h"

#include <math.h>

/* A score is how well the meaning matches, which is absolute, so that a query without an answer scores
 * low; and on top of it, in these shares, what speaks for one match against another of its kind. */
#define LEXICAL_SHARE 0.10 /* BM25, relative to the best in the pool */
#define FOREIGN_SHARE 2.0   /* more of its own words, for what the model does not know */
#define SPEAKER_SHARE 0.05  /* the query names who said it */
#define DATE_SHARE 0.05     /* it is from a time that the query names */
#define QUESTION_SHARE 0.04 /* taken off: it only asks, and a query wants answers */

/* Of the match in context, how much is the message's own: beside an answer stands many a "noted". */
#define OWN_SHARE 0.2

/* Half a confidence. */
#define WORDS_ALONE 0.3

/* Without token codes the cosine of whole vectors stands in for the match of tokens. */
static double meaning_of(const ct_candidate *candidate) {
    if (isnan(candidate->late)) return candidate->dense;
    return (1 - OWN_SHARE) * candidate->late + OWN_SHARE * candidate->own;
}

void ct_fuse_score(ct_pool *pool, double fluency) {
    double foreign_share = (1 - fluency) * FOREIGN_SHARE;
    double best_lexical = 0, best_meaning = 0;
    int any_meaning = 0;
    for (size_t i = 0; i < pool->count; i++) {
        double meaning = meaning_of(&pool->list[i]);
        if (pool->list[i].lexical > best_lexical) best_lexical = pool->list[i].lexical;
        any_meaning |= !isnan(meaning);
        if (meaning > best_meaning) best_meaning = meaning;
    }
    for (size_t i = 0; i < pool->count; i++) {
        ct_candidate *of = &pool->list[i];
        double own = best_lexical > 0 && of->lexical > 0 ? of->lexical / best_lexical : 0;
        double around = best_lexical > 0 ? of->around / best_lexical : 0;
        double meaning = meaning_of(of);
        /* What is not embedded yet is taken to mean as much as its words say; words alone say which is
         * best, not whether it is good. */
        if (isnan(meaning)) meaning = own * (any_meaning ? best_meaning : WORDS_ALONE);
        of->match = meaning + LEXICAL_SHARE * fmax(own, around) - QUESTION_SHARE * of->question;
        double score = of->match + foreign_share * own + SPEAKER_SHARE * of->speaker + DATE_SHARE * of->date;
        of->score = score / (1 + LEXICAL_SHARE + foreign_share + SPEAKER_SHARE + DATE_SHARE);
    }
}
