/* Who a query asks about: the roles that it names, by name or by person. */
#ifndef CT_SPEAKER_H
#define CT_SPEAKER_H

#include "encoder/ct_encoder.h"
#include "store/ct_store.h"

#define CT_SPEAKERS_MAX 8
#define CT_NAME_TOKENS_MAX 64

typedef struct ct_speakers {
    int64_t role_ids[CT_SPEAKERS_MAX];
    size_t count;
    int by_name; /* 1: at least one is named by its name */
    int32_t name_tokens[CT_NAME_TOKENS_MAX]; /* the model's tokens of those names */
    size_t name_token_count;
} ct_speakers;

/* words: all of the query's, before any are dropped.  A word of a role's name names it ("Anna" the role
 * "Anna Smith"); "I" and "my" name the role "user", "you" and "your" the role "assistant" (English
 * only).  Of a store with very many roles the newest are looked at. */
int ct_speaker_find(ct_store *store, ct_encoder *encoder, const ct_words *words, ct_speakers *out,
                    ct_error *error);

int ct_speaker_is_named(const ct_speakers *speakers, int64_t role_id);

/* Whether a token of a query belongs to the name of somebody it names. */
int ct_speaker_is_name_token(const ct_speakers *speakers, int32_t token);

#endif
