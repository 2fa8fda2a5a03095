#include "recall/ct_lexical.h"

#include <stdlib.h>
#include <string.h>

/* Sorted for bsearch. */
static const char *const function_words[] = {
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before",
    "being", "but", "by", "can", "could", "did", "do", "does", "doing", "during", "for", "from",
    "had", "has", "have", "having", "he", "her", "hers", "herself", "him", "himself", "his", "how",
    "i", "if", "in", "into", "is", "it", "its", "itself", "just", "me", "my", "myself", "of", "on",
    "or", "our", "ours", "ourselves", "over", "she", "should", "so", "some", "such", "than", "that",
    "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they", "this",
    "those", "through", "to", "too", "under", "until", "up", "very", "was", "we", "were", "what",
    "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would",
    "you", "your", "yours", "yourself", "yourselves",
};

static int compare(const void *key, const void *entry) {
    return strcmp(key, *(const char *const *)entry);
}

int ct_lexical_is_function_word(const char *word) {
    return bsearch(word, function_words, sizeof function_words / sizeof *function_words,
                   sizeof *function_words, compare) != NULL;
}

size_t ct_lexical_select(ct_words *words) {
    size_t content = 0;
    for (size_t i = 0; i < words->count; i++) {
        if (ct_lexical_is_function_word(words->list[i])) continue;
        char *word = words->list[i];
        words->list[i] = words->list[content];
        words->list[content++] = word;
    }
    return content ? content : words->count;
}
