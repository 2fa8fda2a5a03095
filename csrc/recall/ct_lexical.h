/* Which of a query's words are worth looking up. */
#ifndef CT_LEXICAL_H
#define CT_LEXICAL_H

#include "store/ct_store.h"

/* Put the words that are no English function words first, and give how many they are; all, when there
 * are no others.  A question's "what", "did" and "when" are rare in the answers, so BM25 alone would
 * take them for its best clues. */
size_t ct_lexical_select(ct_words *words);

/* Whether an English word, folded, says nothing by itself. */
int ct_lexical_is_function_word(const char *word);

#endif
