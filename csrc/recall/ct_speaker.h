/* Who a query asks about: the roles that it names, by name or by person. */
#ifndef CT_SPEAKER_H
#define CT_SPEAKER_H

#include "ct.h"
#include "recall/ct_parts.h"

#define CT_SPEAKERS_MAX 8
#define CT_NAME_TOKENS_MAX 64

typedef struct ct_speakers {
    int64_t role_ids[CT_SPEAKERS_MAX];
    size_t count;
    int by_name; /* 1: at least one is named by its name */
    int32_t name_tokens[CT_NAME_TOKENS_MAX]; /* the model's tokens of those names */
    size_t name_token_count;
} ct_speakers;

/* Of these roles, those that the query names.  words: all of the query's.  A role's whole name names it, or
 * one word of it ("Anna" the role "Anna Smith") where no other role is named whole and few share that
 * word.  A word that is no name as a rule ("will", "may") must stand there with the capital of the name.
 * "I" and "my" name the role "user", "you" and "your" the role "assistant" (English only). */
int ct_speaker_find(const ct_recall_parts *parts, const ct_query *query, const ct_words *words,
                    const int64_t *role_ids, size_t role_count, ct_speakers *out, ct_error *error);

int ct_speaker_is_named(const ct_speakers *speakers, int64_t role_id);

/* Whether a token of a query belongs to the name of somebody it names. */
int ct_speaker_is_name_token(const ct_speakers *speakers, int32_t token);

#endif
