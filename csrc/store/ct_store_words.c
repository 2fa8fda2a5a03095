/* A query's words and phrases.  They are found with the preparation and the tokenizer of the full-text
 * index, so that a word splits in a query as it does in a message, and no punctuation of a user can be
 * query syntax. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_utf8.h"
#include "store/ct_connection.h"
#include "store/ct_fts.h"
#include "store/ct_sql.h"
#include "text/ct_word_text.h"

/* Of a longer query (a pasted log) the beginning stands for the rest. */
#define QUERY_BYTES 32768

typedef struct splitting {
    ct_words *words;
    char *phrase; /* where to write the words as a phrase, or NULL */
    size_t phrase_bytes;
    size_t phrase_words;
    int pass; /* words of the phrase to leave out at its start */
    int nomem;
} splitting;

static int keep_word(void *state, int flags, const char *token, int bytes, int start, int end) {
    splitting *to = state;
    ct_words *words = to->words;
    (void)flags;
    (void)start;
    (void)end;
    for (size_t i = 0; i < words->count; i++)
        if (strncmp(words->list[i], token, (size_t)bytes) == 0 && words->list[i][bytes] == 0)
            return SQLITE_OK;
    if (words->count == CT_WORDS_MAX) return SQLITE_DONE;
    words->list[words->count] = ct_copy(token, (size_t)bytes);
    to->nomem = !words->list[words->count];
    if (to->nomem) return SQLITE_NOMEM;
    words->count++;
    return SQLITE_OK;
}

static int keep_phrase_word(void *state, int flags, const char *token, int bytes, int start, int end) {
    splitting *to = state;
    (void)flags;
    (void)start;
    (void)end;
    if (to->pass-- > 0) return SQLITE_OK;
    if (to->phrase_bytes + (size_t)bytes + 1 > CT_PHRASE_BYTES) return SQLITE_DONE;
    if (to->phrase_bytes) to->phrase[to->phrase_bytes++] = ' ';
    memcpy(to->phrase + to->phrase_bytes, token, (size_t)bytes);
    to->phrase_bytes += (size_t)bytes;
    to->phrase_words++;
    return SQLITE_OK;
}

void ct_words_free(ct_words *words) {
    for (size_t i = 0; i < words->count; i++) ct_free(words->list[i]);
    for (size_t i = 0; i < words->phrase_count; i++) ct_free(words->phrases[i]);
    words->count = words->phrase_count = 0;
}

typedef int keeper(void *, int, const char *, int, int, int);

static int tokenize(const ct_tokenizer *tokenizer, const char *text, size_t bytes, splitting *to,
                    keeper *keep) {
    char *prepared;
    size_t prepared_bytes;
    if (ct_word_text(text, bytes, &prepared, &prepared_bytes)) return SQLITE_NOMEM;
    int code = tokenizer->methods.xTokenize(tokenizer->instance, to, FTS5_TOKENIZE_QUERY, prepared,
                                            (int)prepared_bytes, keep);
    ct_free(prepared);
    return to->nomem ? SQLITE_NOMEM : code == SQLITE_DONE ? SQLITE_OK : code;
}

static int split_phrases(const ct_tokenizer *tokenizer, const char *text, size_t bytes, ct_words *words) {
    ct_span spans[CT_PHRASES_MAX];
    char phrase[CT_PHRASE_BYTES];
    size_t count = ct_word_spans(text, bytes, spans, CT_PHRASES_MAX);
    for (size_t i = 0; i < count; i++) {
        splitting to = {.words = words, .phrase = phrase, .pass = spans[i].lone};
        int code = tokenize(tokenizer, text + spans[i].start, spans[i].bytes, &to, keep_phrase_word);
        if (code != SQLITE_OK) return code;
        if (to.phrase_words < 2) continue;
        words->phrases[words->phrase_count] = ct_copy(phrase, to.phrase_bytes);
        if (!words->phrases[words->phrase_count]) return SQLITE_NOMEM;
        words->phrase_count++;
    }
    return SQLITE_OK;
}

static int split(ct_connection *reader, const char *text, size_t bytes, ct_words *words,
                 ct_error *error) {
    ct_tokenizer tokenizer;
    splitting to = {.words = words};
    int status = ct_tokenizer_open(reader, 0, &tokenizer, error);
    if (status) return status;
    int code = tokenize(&tokenizer, text, bytes, &to, keep_word);
    if (code == SQLITE_OK) code = split_phrases(&tokenizer, text, bytes, words);
    ct_tokenizer_close(&tokenizer);
    if (code == SQLITE_NOMEM) return ct_fail_nomem(error);
    return code == SQLITE_OK ? CT_OK : ct_sql_fail(reader, code, "splitting the query", error);
}

int ct_store_split(ct_store *store, const char *text, size_t bytes, ct_words *out, ct_error *error) {
    ct_connection *reader;
    ct_words words = {.count = 0};
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    status = split(reader, text, ct_utf8_floor(text, bytes, QUERY_BYTES), &words, error);
    ct_reader_give(store, reader);
    if (status) ct_words_free(&words);
    else *out = words;
    return status;
}
