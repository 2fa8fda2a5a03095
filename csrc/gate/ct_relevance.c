/* A logistic of what the stages of recall say.  Fitted, message by message, to the development streams of bench/gate.py,
 * to think-aloud streams about LoCoMo, and to the same in stores that cannot answer them: of another conversation, or of
 * a handful of messages.  Those teach it that to ask is not to be answered. */
#include "gate/ct_relevance.h"

#include <math.h>

#define BY_DENSE 3.5
#define BY_SCORE 6.3
#define BY_LATE 7.6
#define BY_CONTEXT 11.6
#define BY_QUESTION (-3.3) /* what asks answers nothing */
#define BY_ASKING 1.1
#define BY_WORDS 1.8 /* the logarithm: few words are near to much by chance */
#define BY_CONFIDENCE (-2.9) /* the rows of a recall tell more than it */
#define LIKELY (-12.5)

static double said(double value) { return isnan(value) ? 0 : value; }

double ct_relevance_of(const ct_relevance_asking *by, const ct_row *row) {
    double sum = LIKELY + BY_DENSE * said(row->dense) + BY_SCORE * row->score + BY_LATE * said(row->late) +
                 BY_CONTEXT * said(row->context) + BY_QUESTION * said(row->question) + BY_ASKING * by->asks +
                 BY_WORDS * log(fmax(by->words, 1)) + BY_CONFIDENCE * by->confidence;
    return 1 / (1 + exp(-sum));
}
