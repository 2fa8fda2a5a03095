/* Who a query asks about: the roles that it names, by name or by person. */
#ifndef CT_SPEAKER_H
#define CT_SPEAKER_H

#include "store/ct_store.h"

#define CT_SPEAKERS_MAX 8

typedef struct ct_speakers {
    int64_t role_ids[CT_SPEAKERS_MAX];
    size_t count;
} ct_speakers;

/* words: all of the query's, before any are dropped.  A word of a role's name names it ("Anna" the role
 * "Anna Smith"); "I" and "my" name the role "user", "you" and "your" the role "assistant" (English
 * only).  Of a store with very many roles the newest are looked at. */
int ct_speaker_find(ct_store *store, const ct_words *words, ct_speakers *out, ct_error *error);

int ct_speaker_named(const ct_speakers *speakers, int64_t role_id);

#endif
