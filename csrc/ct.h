/* Cortext: the public interface of the C core, and all that Python binds.
 *
 * Conventions
 *   - A function that can fail returns a ct_status.  On failure its results are untouched and, where
 *     it takes a ct_error, that holds the same status and one sentence for the user.
 *   - Handles are opaque.  The comment at each function says who owns what.
 *   - Strings are UTF-8.  Those that go in need not end with NUL when a byte count is given.
 *   - Times are milliseconds since 1970-01-01 UTC.
 *   - Unless said otherwise a function may be called from any thread, at the same time as any other.
 */
#ifndef CT_H
#define CT_H

#include <stddef.h>
#include <stdint.h>

/* cffi:begin */
typedef enum ct_status {
    CT_OK = 0,
    CT_NOMEM,          /* out of memory */
    CT_INVALID,        /* an argument is not acceptable; nothing changed */
    CT_CONFLICT,       /* this uid exists with other content; nothing changed */
    CT_NOT_FOUND,      /* no such message */
    CT_CLOSED,         /* the handle was closed */
    CT_FORKED,         /* the handle belongs to the parent process */
    CT_TIMEOUT,        /* the time given ran out; work goes on */
    CT_IO,             /* reading or writing the store failed */
    CT_BUSY,           /* another process held the store too long */
    CT_FULL,           /* the disk is full; nothing changed */
    CT_CORRUPT,        /* the file is damaged or is not a Cortext store */
    CT_TOO_NEW,        /* the store was written by a newer version */
    CT_MODEL,          /* the model could not be bound or run */
    CT_MODEL_MISMATCH, /* the store was written with another model */
    CT_INTERNAL        /* a bug */
} ct_status;

typedef struct ct_error {
    int32_t status;
    char message[508];
} ct_error;

typedef struct ct_bert ct_bert;
typedef struct ct_encoder ct_encoder;
typedef struct ct_engine ct_engine;
typedef struct ct_result ct_result;

/* ---- encoder ------------------------------------------------------------------------------- */

/* Addresses of llama.cpp's functions, its two handles (no context when it only tokenizes), and the layout of struct llama_batch as the
 * caller's binding sees it.  The caller keeps the library loaded for as long as any encoder lives. */
typedef struct ct_llama_api {
    void *model;
    void *context;
    void *log_set;
    void *model_get_vocab;
    void *model_n_embd;
    void *model_free;
    void *free_context;
    void *tokenize;
    void *encode;
    void *get_embeddings;
    void *n_ubatch;
    uint32_t batch_size;
    uint32_t batch_offsets[7]; /* n_tokens, token, embd, pos, n_seq_id, seq_id, logits */
} ct_llama_api;

typedef enum ct_pooling { CT_POOL_MEAN = 1, CT_POOL_CLS = 2, CT_POOL_LAST = 3 } ct_pooling;

/* What turns a token's vector into a binary code: less the mean, along each row of the rotation, the
 * sign.  Learned once for a model. */
#define CT_CODE_BITS_MAX 1024
typedef struct ct_token_basis {
    int32_t dimension;     /* of the model */
    int32_t bits;          /* of a code: a multiple of 64, at most CT_CODE_BITS_MAX */
    int32_t vocabulary;
    const float *mean;     /* [dimension] */
    const float *rotation; /* [bits][dimension] */
    const float *prior;    /* [vocabulary]: how likely a chunk of any text holds the token */
} ct_token_basis;

/* A tensor of a GGUF file: `rows` rows of `columns` values of ggml's `type`, one behind another, in memory or,
 * where `data` is NULL, at `offset` of the file. */
typedef struct ct_tensor {
    const char *name;
    int32_t type;
    int64_t rows;
    int64_t columns;
    size_t bytes;
    const void *data;
    int64_t offset;
} ct_tensor;

/* The weights of an encoder of BERT's family, by llama.cpp's names. */
typedef struct ct_bert_weights {
    const char *path; /* of the file that has the tensors */
    const ct_tensor *tensors;
    size_t count;
    int32_t layers;
    int32_t heads;
    int32_t dimension;
    int32_t inner;   /* width between the two layers of a block's network */
    float epsilon;   /* of the layer norms */
    int32_t threads; /* of one pass */
} ct_bert_weights;

/* A network that the core runs itself.  Read and pack its weights; nothing of `weights` is needed
 * afterwards.  most_tokens: the longest pass.  CT_MODEL: the file cannot be read, or a tensor is missing or
 * has another shape. */
int ct_bert_open(const ct_bert_weights *weights, int32_t most_tokens, ct_bert **out, ct_error *error);

/* Close *holder, which may be NULL. */
void ct_bert_drop(ct_bert **holder);

typedef struct ct_encoder_options {
    const char *fingerprint;    /* names weights and processing; pinned in every store */
    const char *query_prefix;   /* put before a query, may be "" */
    const char *passage_prefix; /* put before a message, may be "" */
    const char *cache_path;     /* optional embedding cache file, or NULL */
    int32_t pooling;            /* ct_pooling */
    int32_t context;            /* most tokens in one pass, special tokens included */
    int32_t overlap;            /* tokens that neighbouring chunks share */
    int32_t wordpiece;          /* 1: normalise text as BERT's basic tokenizer does, first */
    const ct_token_basis *basis; /* copied; NULL: no token codes */
    ct_bert **bert; /* what runs the network, taken on success, which leaves NULL; or NULL: llama.cpp does */
    const float *probe; /* [dimension] and a bias, copied: what vectors say for a directive; or NULL */
} ct_encoder_options;

/* Bind llama.cpp and take ownership of api->model and api->context, on success only.  The library's
 * log callback is replaced by one in C.  CT_MODEL: the layout or the limits do not fit. */
int ct_encoder_open(const ct_llama_api *api, const ct_encoder_options *options, ct_encoder **out,
                    ct_error *error);

/* The last reference frees the context, then the model.  In a forked child nothing is freed. */
void ct_encoder_release(ct_encoder *encoder);

int32_t ct_encoder_dimension(const ct_encoder *encoder);

/* What runs the network: "llama.cpp", or the level of the core's own kernels. */
const char *ct_encoder_backend(const ct_encoder *encoder);

/* Token ids of a text with the special tokens at both ends, never cut.  Writes at most `capacity`
 * ids and always sets *count to the number there are. */
int ct_encoder_tokenize(ct_encoder *encoder, const char *text, size_t bytes, int32_t *ids,
                        size_t capacity, size_t *count, ct_error *error);

/* Embed `count` texts as passages (query = 0) or queries (1) into out[count * dimension], unit
 * length.  A text longer than the context is the mean of its chunks, a query of its first 8. */
int ct_encoder_embed(ct_encoder *encoder, const char *const *texts, const size_t *bytes,
                     size_t count, int query, float *out, ct_error *error);

/* Bits of a token's code; 0: the encoder has no basis. */
int32_t ct_encoder_code_bits(const ct_encoder *encoder);

/* How likely a chunk of any text holds this token, from the basis; 0 when nothing is known. */
float ct_encoder_token_prior(const ct_encoder *encoder, int32_t id);

/* The tokens of a query, without special tokens and the model's query prefix.  Free with
 * ct_query_tokens_free. */
typedef struct ct_query_tokens {
    size_t count;   /* 0 without a basis */
    int32_t *ids;   /* [count] */
    float *vectors; /* [count][bits], projected, each of unit length */
} ct_query_tokens;

/* A query's unit vector, out of dimension floats, and its tokens, by one pass a chunk.  Of a long
 * query the first 8 chunks count; a token that two of them share is given once. */
int ct_encoder_query(ct_encoder *encoder, const char *text, size_t bytes, float *vector,
                     ct_query_tokens *tokens, ct_error *error);
void ct_query_tokens_free(ct_query_tokens *tokens);

/* ---- engine -------------------------------------------------------------------------------- */

typedef enum ct_durability { CT_DURABILITY_FULL = 0, CT_DURABILITY_NORMAL = 1 } ct_durability;

typedef struct ct_engine_options {
    const char *path;
    int32_t durability; /* ct_durability */
    int32_t busy_ms;    /* longest wait for another process's write lock */
} ct_engine_options;

typedef struct ct_message_input {
    const char *text; /* not NULL */
    size_t text_bytes;
    const char *role;     /* NUL-terminated, not NULL, not empty */
    const char *session;  /* the same */
    const char *source;   /* or NULL */
    const char *metadata; /* JSON text, or NULL */
    const char *uid;      /* or NULL */
    int64_t time_ms;
} ct_message_input;

/* Which messages take part.  A count of 0 means no restriction. */
typedef struct ct_filter {
    const char *const *sessions;
    size_t session_count;
    const char *const *roles;
    size_t role_count;
    int64_t since_ms; /* inclusive; INT64_MIN: open */
    int64_t until_ms; /* exclusive; INT64_MAX: open */
} ct_filter;

/* Parts of a recall. */
typedef enum ct_stage {
    CT_STAGE_DENSE = 1,     /* candidates by the vectors of whole chunks */
    CT_STAGE_LEXICAL = 2,   /* candidates by their words, and BM25 */
    CT_STAGE_LATE = 4,      /* matches of single tokens */
    CT_STAGE_CONTEXT = 8,   /* what stands around a message counts for it */
    CT_STAGE_SPEAKER = 16,  /* who said it, when the query names somebody */
    CT_STAGE_DATE = 32,     /* when it was said, when the query names a time */
    CT_STAGE_QUESTION = 64, /* less for messages that only ask */
    CT_STAGE_CUT = 128,          /* end the list where the evidence ends */
    CT_STAGE_SUPERSESSION = 256, /* newer values of the same thing before what they replace */
    CT_STAGE_ALL = 511
} ct_stage;

/* A span of time, the start included, the end not, and the words of the query that name it. */
typedef struct ct_period {
    int64_t start_ms;
    int64_t end_ms;
    size_t text_start; /* byte */
    size_t text_bytes; /* 0: it comes from the event that the words name */
} ct_period;

typedef struct ct_query {
    const char *text;
    size_t text_bytes;
    ct_filter filter;
    int32_t limit;   /* 1 to 10000 */
    int32_t wait_ms; /* longest wait for the backlog, 0: none; when it takes far longer, for the newest only */
    int32_t stages;  /* of ct_stage, with CT_STAGE_DENSE or CT_STAGE_LEXICAL among them */
    const ct_period *dates; /* times that the query names, or NULL */
    size_t date_count;
    int32_t collapse;      /* 1: of messages that say the same, one stands for all */
    int32_t attach;        /* 1: give a hit the message beside it that it needs to be read */
    int32_t budget_tokens; /* most tokens of all texts together, as the encoder counts, but one
                              for 8 bytes at least; 0: any number */
    int32_t budget_bytes;  /* most bytes of all texts together; 0: any number */
    int32_t standing; /* most standing directives to give along, 0: none */
    int32_t include_superseded; /* 0: leave out what a newer message replaces */
    const char *asking; /* session whose turn it is: its working memory takes the hits in; or NULL */
} ct_query;

/* One message of a result.  Strings belong to the result. */
typedef struct ct_row {
    int64_t id;
    int64_t time_ms;
    const char *text;
    size_t text_bytes;
    const char *role;
    const char *session;
    const char *source;   /* or NULL */
    const char *metadata; /* or NULL */
    const char *uid;      /* or NULL */
    double score;
    /* What each stage says of it; NaN: nothing. */
    double dense;    /* cosine of the best chunk */
    double lexical;  /* BM25 */
    double late;     /* match of the tokens of its best passage */
    double context;  /* the same with what stands around it */
    double speaker;  /* 1: the query names who said it */
    double date;     /* 0 to 1: how near to a time that the query names */
    double question; /* 0 to 1: how much of it asks */
    int64_t passage; /* tokens before what matches best in it; -1: unknown */
    /* Set in the result of a recall only. */
    const int64_t *duplicates; /* [duplicate_count]: what it stands for, oldest id first */
    size_t duplicate_count;
    const struct ct_row *before; /* the message right before it, or NULL */
    const struct ct_row *after;  /* the message right behind it, or NULL */
    size_t excerpt_start; /* text is so many characters of the message: from here on, */
    size_t excerpt_end;   /* up to here; 0: it is the whole */
    size_t span_start; /* of a standing directive: the sentence in the text, in bytes */
    size_t span_bytes;
    /* Ids of messages that it replaces, and of such as replace it, found among the leading candidates
     * of this recall, or by consolidation. */
    const int64_t *supersedes;
    const int64_t *superseded_by;
    size_t supersedes_count;
    size_t superseded_by_count;
} ct_row;

typedef struct ct_timings {
    int64_t wait_ns;
    int64_t encode_ns;
    int64_t dense_ns;
    int64_t lexical_ns;
    int64_t late_ns;
    int64_t fetch_ns;
    int64_t total_ns;
} ct_timings;

typedef struct ct_stats {
    int64_t messages;
    int64_t sessions;
    int64_t chunks;
    int64_t pending;
    int64_t restoring; /* messages whose lost codes are made again */
    int64_t file_bytes;
    int64_t wal_bytes;
    int64_t codes_bytes; /* of the file of codes beside the store, which is derived */
    int64_t index_bytes;
    int32_t schema_version;
    int32_t dimension;
    char last_error[256]; /* of the embedding thread; "" when it is well */
} ct_stats;

/* Open or create a store.  Takes a reference of its own on the encoder.  Starts the embedding thread,
 * which resumes any backlog.  CT_FORKED (a store or cache was open when this process was forked),
 * CT_CORRUPT, CT_TOO_NEW, CT_MODEL_MISMATCH, CT_IO, CT_BUSY. */
int ct_engine_open(const ct_engine_options *options, ct_encoder *encoder, ct_engine **out,
                   ct_error *error);

/* Wait for calls in flight, stop the thread, close the store.  Every later call gives CT_CLOSED.
 * Calling it again, or in a forked child, does nothing. */
void ct_engine_close(ct_engine *engine);

/* Close, then free the handle itself.  No call may be running or follow. */
void ct_engine_free(ct_engine *engine);

/* Store all or none in one transaction and set ids[count].  When it returns CT_OK the messages are
 * on disk (as far as the durability says) and findable by their words.  Calls at the same time share a
 * transaction, and fail each for itself unless the disk does. */
int ct_engine_ingest(ct_engine *engine, const ct_message_input *messages, size_t count, int64_t *ids,
                     ct_error *error);

/* Wait until no message waits for its embedding.  CT_TIMEOUT after timeout_ms; *pending is set
 * in both cases. */
int ct_engine_flush(ct_engine *engine, int64_t timeout_ms, int64_t *pending, ct_error *error);

/* The messages of these ids in that order; CT_NOT_FOUND if one is missing.  Free the result. */
int ct_engine_get(ct_engine *engine, const int64_t *ids, size_t count, ct_result **out,
                  ct_error *error);

/* The same, but those that are missing are passed over. */
int ct_engine_get_present(ct_engine *engine, const int64_t *ids, size_t count, ct_result **out, ct_error *error);

/* Messages with id > after that pass the filter, lowest id first.  Free the result. */
int ct_engine_messages(ct_engine *engine, const ct_filter *filter, int64_t after, int32_t limit,
                       ct_result **out, ct_error *error);

/* The messages that matter for a query, best first.  A row's texts, those of the rows attached to it
 * too, count towards the budgets.  Free the result. */
int ct_engine_recall(ct_engine *engine, const ct_query *query, ct_result **out, ct_error *error);

int ct_engine_stats(ct_engine *engine, ct_stats *out, ct_error *error);

/* ---- gate ---------------------------------------------------------------------------------- */

/* 0 to 1 each.  focus: few and certain.  sensitivity: affect lowers the bar.  stability: long pauses, and boundaries
 * that change little. */
typedef struct ct_knobs {
    double focus;
    double sensitivity;
    double stability;
} ct_knobs;

/* What the knobs stand for; csrc/gate/ct_gate_rule.c has the rule. */
typedef struct ct_knob_values {
    int32_t recall_limit; /* hits of a recall that names no limit */
    int32_t gate_limit;   /* most messages that one segment brings up */
    double bar;           /* relevance that is asked for */
    double relaxed;       /* taken off it at full affect */
    double pause;         /* added right after an interruption */
    double halved;        /* segments after which half of that is left */
    double ease;          /* taken off at a boundary */
} ct_knob_values;

/* What is out of range counts as the end of the range that speaks against an interruption. */
ct_knob_values ct_knobs_read(const ct_knobs *knobs);

/* What is known at the end of a segment; 0 to 1 where nothing else is said. */
typedef struct ct_gate_view {
    double relevance; /* how likely the best that was found answers the segment */
    double novelty;   /* how far it is from all that is active, in the context or staged */
    double utility;   /* that the segment asks for it, or that it corrects what is known */
    double overlap;   /* how much of it is in the context or staged */
    double affect;    /* of the segment */
    double drift;     /* from the segment at which it last interrupted: 1 - cosine, 0 to 2 */
    double since;     /* segments since then, from 0 on; INFINITY: never */
    double boundary;  /* how certain a topic or a turn begins or ends here */
} ct_gate_view;

/* Every term of the rule. */
typedef struct ct_gate_verdict {
    double bar;
    double refractory;
    double ease;
    double margin;
    double worth;
    int32_t should_interrupt;
    int32_t at_boundary; /* boundary is at least one half */
    int32_t should_stage; /* it interrupts, or would at this boundary but for the pause */
} ct_gate_verdict;

/* What is out of range, or no number, counts as the end of the range that speaks against an interruption. */
ct_gate_verdict ct_gate_decide(const ct_gate_view *view, const ct_knobs *knobs);

typedef struct ct_gate ct_gate;

typedef struct ct_gate_options {
    const char *session; /* of the stream */
    const char *scope;   /* under which messages are staged */
    ct_knobs knobs;
    ct_filter filter;    /* which messages may be brought up */
    int32_t follows;     /* 1: the last messages of the session are known, also those that come in meanwhile */
    int32_t every;       /* 1: give every decision; 0: those that stage something, or failed */
} ct_gate_options;

/* How a stream is watched: what is fed is cut into segments, which the engine's gate thread decides one after another,
 * the gates in turn; nothing but ct_gate_wait and, when there is too much of it, ct_gate_know_text waits for it.  A gate
 * may be used from any thread.  CT_INVALID, CT_NOMEM, CT_CLOSED, CT_FORKED; it may outlive the engine. */
int ct_gate_open(ct_engine *engine, const ct_gate_options *options, ct_gate **out, ct_error *error);

/* Nothing is decided or staged any more, and who waits gets CT_CLOSED.  Idempotent. */
void ct_gate_close(ct_gate *gate);
void ct_gate_drop(ct_gate **holder);

/* A text, of any UTF-8, that the reader of the stream has before it.  CT_TIMEOUT: too many wait to be known. */
int ct_gate_know_text(ct_gate *gate, const char *text, size_t bytes, int64_t timeout_ms, ct_error *error);

/* Messages that it has before it; those that are not there are passed over. */
int ct_gate_know_messages(ct_gate *gate, const int64_t *ids, size_t count, int64_t timeout_ms, ct_error *error);

/* Streams of one gate that are cut into segments each by itself. */
typedef enum ct_channel { CT_CHANNEL_TEXT = 0, CT_CHANNEL_THINKING = 1 } ct_channel;

/* What came in, which may end inside a character.  *ready: decisions that can be taken. */
int ct_gate_feed(ct_gate *gate, int32_t channel, const char *delta, size_t bytes, size_t *ready, ct_error *error);

/* The stream has ended: what is left is a segment. */
int ct_gate_end(ct_gate *gate, ct_error *error);

/* Forget the stream, what waits and what was staged for it; what is known stays. */
int ct_gate_reset(ct_gate *gate, ct_error *error);

/* Wait until every segment is decided and what is known is taken in; CT_TIMEOUT. */
int ct_gate_wait(ct_gate *gate, int64_t timeout_ms, ct_error *error);

typedef struct ct_decision {
    const char *text; /* of the segment */
    size_t text_bytes;
    int64_t start; /* of it, in characters of its channel */
    int64_t end;
    int32_t channel;
    ct_gate_view view;
    ct_gate_verdict verdict;
    const ct_result *staged; /* or NULL: nothing */
    const char *failure;     /* why it could not be decided, or NULL */
    int64_t waited_ns;       /* from the end of the segment until it was looked at */
    int64_t encode_ns;
    int64_t search_ns;
    int64_t total_ns; /* from the end of the segment until it was decided */
} ct_decision;

/* The next decision, to be dropped; *out is NULL when there is none. */
int ct_gate_take(ct_gate *gate, ct_decision **out, ct_error *error);
void ct_decision_drop(ct_decision **holder);

typedef struct ct_gate_counts {
    int64_t waiting;   /* segments that are not decided yet */
    int64_t skipped;   /* never decided: the model could not keep up */
    int64_t forgotten; /* decisions that nobody took in time */
} ct_gate_counts;

int ct_gate_count(ct_gate *gate, ct_gate_counts *out, ct_error *error);

/* Take what is staged for a scope, the oldest first; the rows' score is their relevance.  Free the result. */
int ct_engine_take_staged(ct_engine *engine, const char *scope, ct_result **out, ct_error *error);

/* What is active in a session, most first; the rows' score is their activation.  Free the result. */
int ct_engine_working(ct_engine *engine, const char *session, ct_result **out, ct_error *error);

/* ---- consolidation -------------------------------------------------------------------------- */

/* What was done, added up over calls. */
typedef struct ct_consolidation {
    int64_t messages;   /* that were looked at */
    int64_t duplicates; /* of them, that say again what an earlier one said */
    int64_t replaced;   /* pairs of a value and a newer one */
    int64_t episodes;   /* that began */
    int64_t sentences;  /* chosen for digests */
    int64_t merged;     /* steps of merging the full-text index */
    int64_t store_ns;   /* spent on each */
    int64_t duplicates_ns;
    int64_t replaced_ns;
    int64_t episodes_ns;
    int64_t digests_ns;
    int64_t words_ns;
    int32_t complete; /* nothing is left of what is embedded; set by each call */
    int32_t anew;     /* what was left before did not fit together: all was dropped and is done again */
} ct_consolidation;

/* Link what says the same, what replaces what and what belongs together, choose sentences for digests, and merge the
 * full-text index: of what is new and embedded, in steps of some milliseconds, until nothing is left or the time is
 * over, one step at least.  Each step is stored at once, so that it can be broken off anywhere.  Calls take turns. */
int ct_engine_consolidate(ct_engine *engine, int64_t budget_ms, ct_consolidation *report, ct_error *error);

typedef struct ct_consolidation_state {
    int64_t waiting;    /* messages that can be consolidated, by their ids */
    int64_t pending;    /* that cannot yet: they, or some before them, are not embedded */
    int64_t directives; /* in force */
} ct_consolidation_state;

int ct_engine_consolidation(ct_engine *engine, ct_consolidation_state *out, ct_error *error);

/* A run of a session's messages: `messages` of those from first_id to last_id. */
typedef struct ct_episode {
    int64_t first_id; /* its name, too */
    int64_t last_id;
    int64_t messages;
    int64_t start_ms;
    int64_t end_ms;
} ct_episode;

/* Episodes with a time in the filter's span and first_id > after, in that order, at most `capacity`; newest: from the
 * last one back. */
int ct_engine_episodes(ct_engine *engine, const ct_filter *filter, int64_t after, int32_t newest, size_t capacity,
                       ct_episode *out, size_t *count, ct_error *error);

/* A sentence that stands for an episode, in bytes of its message's text, and what it costs as a budget counts. */
typedef struct ct_digest_sentence {
    int64_t message_id;
    size_t start;
    size_t bytes;
    double score;
    int64_t tokens;
} ct_digest_sentence;

/* The sentences of an episode, the one that says most first, at most `capacity`. */
int ct_engine_digest(ct_engine *engine, int64_t episode, size_t capacity, ct_digest_sentence *out, size_t *count,
                     ct_error *error);

typedef enum ct_relation {
    CT_RELATION_DUPLICATE,     /* says the same */
    CT_RELATION_SUPERSEDES,    /* its value was replaced by the message's */
    CT_RELATION_SUPERSEDED_BY, /* its value replaces the message's */
    CT_RELATION_EPISODE,       /* of the same episode, the nearest */
    CT_RELATION_SIMILAR        /* means much the same, by the stored vectors */
} ct_relation;

typedef struct ct_related {
    int64_t message_id;
    int32_t relation;
    double score; /* of CT_RELATION_SIMILAR: the cosine; else 1 */
} ct_related;

/* What a message has to do with others that pass the filter, by relation, at most `limit` of each, out[5 * limit].
 * CT_NOT_FOUND: there is no such message. */
int ct_engine_related(ct_engine *engine, int64_t id, const ct_filter *filter, int32_t limit, ct_related *out,
                      size_t *count, ct_error *error);

/* ---- an index that is kept elsewhere ------------------------------------------------------- */

/* What is asked of it for one query, and what it answers. */
typedef struct ct_nearby {
    const float *vector; /* [dimension], of unit length */
    size_t dimension;
    size_t wanted;       /* most chunks to give */
    size_t chunks;       /* how many the engine has */
    int64_t last_chunk;  /* the greatest id of one */
    int64_t *chunk_ids;  /* [wanted], to be filled in any order */
    size_t count;        /* of them, to be set */
    int64_t known;       /* every chunk up to this id was looked at, to be set; the engine looks at the rest */
} ct_nearby;

/* 0: answered.  Anything else, or too few chunks: the engine searches by itself. */
typedef int32_t (*ct_find_nearby)(void *state, ct_nearby *near);

/* Have recalls without a filter ask `find`, on their own thread and without a lock held; NULL: no more.  Those in
 * flight may still call it: they have ended when ct_engine_close returns. */
void ct_engine_set_nearby(ct_engine *engine, ct_find_nearby find, void *state);

/* The vectors that the codes of chunks stand for, vectors[count][dimension], of those with id > after in
 * order of id, at most `capacity`.  *count is 0 when there are no more. */
int ct_engine_vectors(ct_engine *engine, int64_t after, size_t capacity, int64_t *chunk_ids, float *vectors,
                      size_t *count, ct_error *error);

/* How many chunks there are up to this id, and, unless it is NULL, a hash of their ids and codes: what was made
 * of them is still of this store when both are the same. */
int ct_engine_mark(ct_engine *engine, int64_t through, size_t *count, uint64_t *hash, ct_error *error);

/* ---- results ------------------------------------------------------------------------------- */

size_t ct_result_count(const ct_result *result);
const ct_row *ct_result_rows(const ct_result *result);
const ct_timings *ct_result_timings(const ct_result *result);
int64_t ct_result_pending(const ct_result *result);
double ct_result_confidence(const ct_result *result); /* 0 to 1: that the store answers the query */

/* The standing directives of a recall; NULL: it has none.  Belongs to the result. */
const ct_result *ct_result_standing(const ct_result *result);

/* What is active in the session whose turn it is, as ct_engine_working; NULL: none was named.  Belongs to the result. */
const ct_result *ct_result_working(const ct_result *result);
void ct_result_free(ct_result *result);

/* ---- holders ------------------------------------------------------------------------------- */

/* Free what *holder points at, NULL or not: destructors for the out-parameters above, so that a
 * caller can be interrupted between the call and taking its result. */
void ct_result_drop(ct_result **holder);
void ct_engine_drop(ct_engine **holder);
void ct_encoder_drop(ct_encoder **holder);

/* ---- process-wide -------------------------------------------------------------------------- */

const char *ct_sqlite_version(void);

/* 1 when the CPU and the kernel let this process use AMX tiles, or the CPU has none. */
int ct_amx_is_safe(void);

/* The SIMD levels this CPU can run, best first, and the one in use.  Names are static. */
size_t ct_simd_levels(const char **names, size_t capacity);
const char *ct_simd_name(void);

/* Use the named level from now on, for tests and benches.  CT_INVALID: this CPU cannot.
 * Not to be called while another thread is in the core. */
int ct_simd_force(const char *name);

/* Dot product of an int16 query and an int8 code by the level in use, for tests. */
int64_t ct_simd_dot(const int16_t *query, const int8_t *code, size_t dimension);

/* out[rows][outputs] = x weights' + bias by the level in use; twin: by the scalar twin of its kernel in
 * eight bits.  For tests. */
int ct_linear_apply(const float *weights, const float *bias, size_t inputs, size_t outputs, const float *x,
                    size_t rows, int twin, float *out, ct_error *error);

/* For each message m, a run of counts[m] codes, and each query token t of unit length:
 * best[m][t] = the best cosine estimate of t and any of the run's codes, -1 for an empty run.  By the
 * level in use, for tests and benches. */
int ct_late_scores(const float *vectors, size_t tokens, int32_t bits, const uint64_t *codes,
                   const size_t *counts, size_t messages, float *best, ct_error *error);

/* A sentence of a message that may be a standing directive, by its form, or that lifts one. */
typedef struct ct_sentence {
    size_t start;
    size_t bytes;
    uint64_t marks;    /* what its form shows, of ct_mark; 0: it is no directive */
    int32_t withdraws; /* 1: it may lift one */
} ct_sentence;

/* At most `capacity` such sentences of a text, the first; for tests and for learning their weights. */
size_t ct_directive_sentences(const char *text, size_t bytes, ct_sentence *out, size_t capacity);

/* Make the n-th allocation of the core from now fail, once; 0: none.  For tests. */
void ct_fault_allocation(int64_t n);
/* cffi:end */

#endif
