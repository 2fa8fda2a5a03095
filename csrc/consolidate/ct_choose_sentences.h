/* What stands for an episode: a few of its own sentences. */
#ifndef CT_CHOOSE_SENTENCES_H
#define CT_CHOOSE_SENTENCES_H

#include "recall/ct_parts.h"
#include "store/ct_consolidated.h"

/* Most sentences of an episode. */
#define CT_DIGEST_SENTENCES 6

/* Sentences out of out[CT_DIGEST_SENTENCES], the one that says most first; no two of one message. */
int ct_choose_sentences(const ct_recall_parts *parts, const ct_episode_row *episode, ct_digest_row *out, size_t *count,
                        ct_error *error);

#endif
