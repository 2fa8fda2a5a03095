/* The only code that knows llama.cpp: a table of its functions, and the guards around each call.
 * Nothing here links to llama.cpp: Python's binding has it loaded already, and loading a second copy
 * by path would give a second set of global state. */
#ifndef CT_LLAMA_H
#define CT_LLAMA_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

typedef struct ct_llama ct_llama;

/* Check the layout and take ownership of model and context, on success only.  `most_tokens` is the
 * longest pass that will be asked for; it must fit the context's n_ubatch, since llama.cpp aborts
 * the process on more.  Without a context there are tokens, but no passes. */
int ct_llama_open(const ct_llama_api *api, int32_t most_tokens, ct_llama **out, ct_error *error);

/* Frees the context, then the model. */
void ct_llama_close(ct_llama *llama);

/* Frees only what this process allocated itself: for a forked child, whose copy of the model's
 * threads and locks is in an unknown state. */
void ct_llama_abandon(ct_llama *llama);

int32_t ct_llama_dimension(const ct_llama *llama); /* with a context */

/* Token ids of well formed UTF-8.  *ids is the caller's to free with ct_free.  Thread-safe. */
int ct_llama_tokenize(ct_llama *llama, const char *text, size_t bytes, int special, int32_t **ids,
                      size_t *count, ct_error *error);

/* One pass over 1 to most_tokens ids.  *vectors, [count][dimension], belongs to the context and
 * holds until the next pass.  Callers take turns. */
int ct_llama_run(ct_llama *llama, const int32_t *ids, size_t count, const float **vectors,
                 ct_error *error);

#endif
