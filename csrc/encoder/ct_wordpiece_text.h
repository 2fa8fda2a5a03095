/* Text as BERT's tokenizer sees it before it looks for word pieces. */
#ifndef CT_WORDPIECE_TEXT_H
#define CT_WORDPIECE_TEXT_H

#include <stddef.h>

/* Clean, strip accents, lower-case and split a text, as BertNormalizer and BertPreTokenizer of the
 * `tokenizers` library do for uncased models.
 *
 * utf8: n bytes.  Bytes that are not UTF-8 are skipped, as are NUL characters.
 * out: words with one space between them, out_n bytes without a NUL at the end; empty when no word
 * is left.  The caller's, to free with ct_free.
 *
 * The model must be loaded with tokenizer.ggml.normalizer.lowercase and .strip_accents off: then
 * llama_tokenize gives the ids of the `tokenizers` library for the original text, except that
 * special tokens spelled out in a text ("[SEP]") stay text.
 *
 * Returns 0, or CT_NOMEM with the out-params untouched. */
int ct_wordpiece_text(const char *utf8, size_t n, char **out, size_t *out_n);

#endif
