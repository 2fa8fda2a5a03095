#include "encoder/ct_bert.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_team.h"
#include "encoder/ct_linear.h"
#include "encoder/ct_tensor.h"
#include "simd/ct_simd.h"

/* Rows whose attention is worked out together. */
#define ROWS_TOGETHER 30

#define LAYERS_MAX 64

typedef struct norm {
    float *gain;
    float *bias;
} norm;

typedef struct layer {
    ct_linear input; /* queries, keys and values behind one another */
    ct_linear output;
    ct_linear up;
    ct_linear down;
    norm after_attention;
    norm after_network;
} layer;

/* What one thread works with. */
typedef struct desk {
    float *mixed;  /* [rows][dimension] */
    float *inner;  /* [rows][inner] */
    float *added;  /* [rows][dimension] */
    float *scores; /* [ROWS_TOGETHER][padded tokens] */
    float *keys;   /* of one head, turned: [head size][padded tokens] */
    ct_dense_rows eight_bits;
} desk;

struct ct_bert {
    pid_t owner;
    const ct_dense_kernels *kernels;
    ct_team *team;
    size_t dimension;
    size_t inner;
    size_t heads;
    size_t most_tokens;
    float epsilon;

    char *memory; /* of all matrices, in the order that a pass takes them */
    ct_tensor words;
    float *positions; /* [most_tokens][dimension], the first token type's vector added */
    norm first;
    layer *layers;
    size_t layer_count;

    desk *desks;     /* one a member of the team */
    float *x;        /* [most_tokens][dimension] */
    float *inputs[2]; /* [most_tokens][3 * dimension], of even and odd layers: one may still be read by others */
    /* The pass that runs. */
    const int32_t *ids;
    size_t count;
};

/* ---- memory -------------------------------------------------------------------------------- */

static size_t padded(size_t count) { return (count + CT_DENSE_PANEL - 1) / CT_DENSE_PANEL * CT_DENSE_PANEL; }

static void norm_free(norm *of) {
    ct_free(of->gain);
    ct_free(of->bias);
}

static void free_memory(ct_bert *bert, size_t members) {
    for (size_t i = 0; bert->layers && i < bert->layer_count; i++) {
        norm_free(&bert->layers[i].after_attention);
        norm_free(&bert->layers[i].after_network);
    }
    for (size_t i = 0; bert->desks && i < members; i++) {
        desk *of = &bert->desks[i];
        ct_free(of->mixed);
        ct_free(of->inner);
        ct_free(of->added);
        ct_free(of->scores);
        ct_free(of->keys);
        ct_dense_rows_free(&of->eight_bits);
    }
    ct_free(bert->layers);
    ct_free(bert->desks);
    ct_free(bert->memory);
    ct_free(bert->positions);
    norm_free(&bert->first);
    ct_free(bert->x);
    ct_free(bert->inputs[0]);
    ct_free(bert->inputs[1]);
    ct_free(bert);
}

void ct_bert_close(ct_bert *bert) {
    if (!bert || bert->owner != getpid()) return;
    size_t members = bert->team ? ct_team_size(bert->team) : 0;
    ct_team_destroy(bert->team);
    free_memory(bert, members);
}

/* ---- reading the weights ------------------------------------------------------------------- */

typedef struct source {
    const ct_bert_weights *weights;
    int file;   /* open */
    char *next; /* of bert->memory, what is still free */
} source;

static const ct_tensor *find(const source *from, const char *name) {
    for (size_t i = 0; i < from->weights->count; i++)
        if (strcmp(from->weights->tensors[i].name, name) == 0) return &from->weights->tensors[i];
    return NULL;
}

/* A tensor of this shape; 0 rows: any number.  NULL with error set when it is not there. */
static const ct_tensor *need(const source *from, const char *name, size_t rows, size_t columns, ct_error *error) {
    const ct_tensor *found = find(from, name);
    if (!found) {
        ct_fail(error, CT_MODEL, "the model has no tensor %s", name);
        return NULL;
    }
    if (!ct_tensor_is_readable(found) || (size_t)found->columns != columns ||
        (rows && (size_t)found->rows != rows)) {
        ct_fail(error, CT_MODEL, "the model's tensor %s has another type or shape than it should", name);
        return NULL;
    }
    return found;
}

/* Row 0 of a tensor as floats; NULL with error set. */
static float *read_vector(ct_bert *bert, const source *from, const char *name, ct_error *error) {
    const ct_tensor *tensor = need(from, name, 1, bert->dimension, error);
    float *out = tensor ? ct_alloc(bert->dimension * sizeof *out) : NULL;
    if (tensor && !out) ct_fail_nomem(error);
    if (out && !ct_tensor_floats(tensor, from->file, 0, 1, out, error)) return out;
    ct_free(out);
    return NULL;
}

static int read_norm(ct_bert *bert, const source *from, const char *name, norm *out, ct_error *error) {
    char full[96];
    snprintf(full, sizeof full, "%s.weight", name);
    out->gain = read_vector(bert, from, full, error);
    if (!out->gain) return error->status;
    snprintf(full, sizeof full, "%s.bias", name);
    out->bias = read_vector(bert, from, full, error);
    return out->bias ? CT_OK : (int)error->status;
}

/* names: up to three, their outputs behind one another. */
static int read_linear(const ct_bert *bert, source *from, size_t number, const char *const *names, size_t parts,
                       size_t outputs, size_t inputs, ct_linear *out, ct_error *error) {
    const ct_tensor *values[3], *biases[3];
    char name[96];
    for (size_t p = 0; p < parts; p++) {
        snprintf(name, sizeof name, "blk.%zu.%s.weight", number, names[p]);
        values[p] = need(from, name, outputs, inputs, error);
        if (!values[p]) return error->status;
        snprintf(name, sizeof name, "blk.%zu.%s.bias", number, names[p]);
        biases[p] = find(from, name) ? need(from, name, 1, outputs, error) : NULL;
        if (find(from, name) && !biases[p]) return error->status;
    }
    void *memory = from->next;
    from->next += ct_linear_bytes(bert->kernels, inputs, parts * outputs);
    return ct_linear_pack(bert->kernels, values, biases, parts, from->file, memory, out, error);
}

static int read_layer(ct_bert *bert, source *from, size_t number, layer *out, ct_error *error) {
    static const char *const input[] = {"attn_q", "attn_k", "attn_v"};
    static const char *const output[] = {"attn_output"}, *const up[] = {"ffn_up"}, *const down[] = {"ffn_down"};
    size_t wide = bert->dimension, inner = bert->inner;
    char name[64];
    int status = read_linear(bert, from, number, input, 3, wide, wide, &out->input, error);
    if (!status) status = read_linear(bert, from, number, output, 1, wide, wide, &out->output, error);
    if (!status) status = read_linear(bert, from, number, up, 1, inner, wide, &out->up, error);
    if (!status) status = read_linear(bert, from, number, down, 1, wide, inner, &out->down, error);
    snprintf(name, sizeof name, "blk.%zu.attn_output_norm", number);
    if (!status) status = read_norm(bert, from, name, &out->after_attention, error);
    snprintf(name, sizeof name, "blk.%zu.layer_output_norm", number);
    if (!status) status = read_norm(bert, from, name, &out->after_network, error);
    return status;
}

static int read_words(ct_bert *bert, const source *from, const ct_tensor *words, ct_error *error) {
    bert->words = *words;
    bert->words.data = ct_tensor_rows(words, from->file, 0, (size_t)words->rows, from->next, error);
    bert->words.name = NULL;
    return bert->words.data ? CT_OK : (int)error->status;
}

static int read_positions(ct_bert *bert, const source *from, const ct_tensor *positions, const ct_tensor *types,
                          ct_error *error) {
    bert->positions = ct_alloc(bert->most_tokens * bert->dimension * sizeof *bert->positions);
    float *type = ct_alloc_zero(bert->dimension * sizeof *type);
    int status = bert->positions && type ? CT_OK : ct_fail_nomem(error);
    if (!status && types) status = ct_tensor_floats(types, from->file, 0, 1, type, error);
    if (!status) status = ct_tensor_floats(positions, from->file, 0, bert->most_tokens, bert->positions, error);
    for (size_t t = 0; !status && t < bert->most_tokens; t++)
        for (size_t i = 0; i < bert->dimension; i++) bert->positions[t * bert->dimension + i] += type[i];
    ct_free(type);
    return status;
}

/* Memory for all matrices and `words` behind them, when the file has as many as it says. */
static int make_memory(ct_bert *bert, source *from, const ct_tensor *words, ct_error *error) {
    size_t wide = bert->dimension, inner = bert->inner;
    for (size_t i = 0; i < bert->layer_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%zu.ffn_up.weight", i);
        if (!need(from, name, inner, wide, error)) return error->status;
    }
    size_t layer_bytes =
        ct_linear_bytes(bert->kernels, wide, 3 * wide) + ct_linear_bytes(bert->kernels, wide, wide) +
        ct_linear_bytes(bert->kernels, wide, inner) + ct_linear_bytes(bert->kernels, inner, wide);
    from->next = bert->memory = ct_alloc_large(bert->layer_count * layer_bytes + words->bytes);
    return bert->memory ? CT_OK : ct_fail_nomem(error);
}

static int read_all(ct_bert *bert, source *from, ct_error *error) {
    const ct_tensor *words = need(from, "token_embd.weight", 0, bert->dimension, error);
    const ct_tensor *positions = words ? need(from, "position_embd.weight", 0, bert->dimension, error) : NULL;
    const ct_tensor *types = find(from, "token_types.weight");
    if (types) types = positions ? need(from, "token_types.weight", 0, bert->dimension, error) : NULL;
    if (!positions || (find(from, "token_types.weight") && !types)) return error->status;
    if ((size_t)positions->rows < bert->most_tokens)
        return ct_fail(error, CT_MODEL, "the model has %lld positions, %zu are needed", (long long)positions->rows,
                       bert->most_tokens);
    int status = make_memory(bert, from, words, error);
    for (size_t i = 0; !status && i < bert->layer_count; i++)
        status = read_layer(bert, from, i, &bert->layers[i], error);
    if (!status) status = read_words(bert, from, words, error);
    if (!status) status = read_positions(bert, from, positions, types, error);
    if (!status) status = read_norm(bert, from, "token_embd_norm", &bert->first, error);
    return status;
}

static int make_desk(ct_bert *bert, desk *out) {
    size_t rows = (bert->most_tokens + ct_team_size(bert->team) - 1) / ct_team_size(bert->team);
    size_t wide = bert->dimension > bert->inner ? bert->dimension : bert->inner;
    size_t tokens = padded(bert->most_tokens);
    out->mixed = ct_alloc(rows * bert->dimension * sizeof(float));
    out->inner = ct_alloc(rows * bert->inner * sizeof(float));
    out->added = ct_alloc(rows * bert->dimension * sizeof(float));
    out->scores = ct_alloc(ROWS_TOGETHER * tokens * sizeof(float));
    out->keys = ct_alloc(bert->dimension / bert->heads * tokens * sizeof(float));
    if (ct_dense_rows_make(rows, wide, &out->eight_bits)) return CT_NOMEM;
    return out->mixed && out->inner && out->added && out->scores && out->keys ? CT_OK : CT_NOMEM;
}

static int make_room(ct_bert *bert, ct_error *error) {
    size_t vectors = bert->most_tokens * bert->dimension * sizeof(float);
    bert->x = ct_alloc(vectors);
    bert->inputs[0] = ct_alloc(3 * vectors);
    bert->inputs[1] = ct_alloc(3 * vectors);
    bert->desks = ct_alloc_zero(ct_team_size(bert->team) * sizeof *bert->desks);
    if (!bert->x || !bert->inputs[0] || !bert->inputs[1] || !bert->desks) return ct_fail_nomem(error);
    for (size_t i = 0; i < ct_team_size(bert->team); i++)
        if (make_desk(bert, &bert->desks[i])) return ct_fail_nomem(error);
    return CT_OK;
}

static int check_shape(const ct_bert_weights *weights, int32_t most_tokens, ct_error *error) {
    int32_t wide = weights->dimension, heads = weights->heads;
    if (wide < CT_DENSE_PANEL || wide > 8192 || heads < 1 || wide % heads || wide / heads % CT_DENSE_PANEL ||
        weights->inner < CT_DENSE_PANEL || weights->inner > 65536 || weights->inner % CT_DENSE_PANEL ||
        weights->layers < 1 || weights->layers > LAYERS_MAX || most_tokens < 4 || most_tokens > 65536 ||
        weights->threads < 1 || !(weights->epsilon > 0))
        return ct_fail(error, CT_MODEL, "the model has a shape that this forward pass does not run");
    return CT_OK;
}

int ct_bert_open(const ct_bert_weights *weights, int32_t most_tokens, ct_bert **out, ct_error *error) {
    ct_error_clear(error);
    int status = check_shape(weights, most_tokens, error);
    if (status) return status;
    ct_bert *bert = ct_alloc_zero(sizeof *bert);
    if (!bert) return ct_fail_nomem(error);
    bert->owner = getpid();
    bert->kernels = ct_simd()->dense;
    bert->dimension = (size_t)weights->dimension;
    bert->inner = (size_t)weights->inner;
    bert->heads = (size_t)weights->heads;
    bert->most_tokens = (size_t)most_tokens;
    bert->epsilon = weights->epsilon;
    bert->layer_count = (size_t)weights->layers;
    bert->layers = ct_alloc_zero(bert->layer_count * sizeof *bert->layers);
    if (!bert->layers) status = ct_fail_nomem(error);
    source from = {.weights = weights, .file = -1};
    if (!status) from.file = open(weights->path, O_RDONLY | O_CLOEXEC);
    if (!status && from.file < 0)
        status = ct_fail(error, CT_MODEL, "cannot read the model file %s: %s", weights->path, strerror(errno));
    if (!status) status = read_all(bert, &from, error);
    if (from.file >= 0) close(from.file);
    if (!status) status = ct_team_create((size_t)weights->threads, &bert->team, error);
    if (!status) status = make_room(bert, error);
    if (status) ct_bert_close(bert);
    else *out = bert;
    return status;
}

void ct_bert_drop(ct_bert **holder) { ct_bert_close(*holder); }

int32_t ct_bert_dimension(const ct_bert *bert) { return (int32_t)bert->dimension; }

int32_t ct_bert_most_tokens(const ct_bert *bert) { return (int32_t)bert->most_tokens; }

/* ---- the pass ------------------------------------------------------------------------------ */

/* Rows [first, first + count) of the pass are one member's. */
typedef struct share {
    size_t first;
    size_t count;
} share;

static void embed(ct_bert *bert, share of) {
    for (size_t t = of.first; t < of.first + of.count; t++) {
        float *x = bert->x + t * bert->dimension;
        const void *row = ct_tensor_rows(&bert->words, -1, (size_t)bert->ids[t], 1, NULL, NULL);
        ct_tensor_decode(&bert->words, row, 1, x);
        bert->kernels->normalize(x, bert->positions + t * bert->dimension, bert->first.gain, bert->first.bias,
                                 bert->dimension, bert->epsilon);
    }
}

/* The keys of one head, divided by the root of their length, as columns. */
static void turn_keys(const ct_bert *bert, const float *keys, desk *at) {
    size_t size = bert->dimension / bert->heads, tokens = padded(bert->count), stride = 3 * bert->dimension;
    float scale = 1 / sqrtf((float)size);
    for (size_t t = 0; t < bert->count; t++)
        for (size_t i = 0; i < size; i++) at->keys[i * tokens + t] = keys[t * stride + i] * scale;
    for (size_t i = 0; i < size; i++)
        memset(at->keys + i * tokens + bert->count, 0, (tokens - bert->count) * sizeof *at->keys);
}

/* What the member's rows take from all rows. */
static void attend(const ct_bert *bert, const float *inputs, share of, desk *at) {
    size_t size = bert->dimension / bert->heads, tokens = padded(bert->count), stride = 3 * bert->dimension;
    for (size_t h = 0; h < bert->heads; h++) {
        const float *queries = inputs + of.first * stride + h * size;
        const float *values = inputs + 2 * bert->dimension + h * size;
        turn_keys(bert, inputs + bert->dimension + h * size, at);
        for (size_t row = 0; row < of.count; row += ROWS_TOGETHER) {
            size_t rows = of.count - row < ROWS_TOGETHER ? of.count - row : ROWS_TOGETHER;
            for (size_t n = 0; n < tokens; n += CT_DENSE_PANEL)
                bert->kernels->multiply(queries + row * stride, stride, at->keys + n, tokens, NULL, at->scores + n,
                                        tokens, rows, size);
            for (size_t r = 0; r < rows; r++) bert->kernels->softmax(at->scores + r * tokens, bert->count);
            for (size_t n = 0; n < size; n += CT_DENSE_PANEL)
                bert->kernels->multiply(at->scores, tokens, values + n, stride, NULL,
                                        at->mixed + row * bert->dimension + h * size + n, bert->dimension, rows,
                                        bert->count);
        }
    }
}

static void add_and_normalize(const ct_bert *bert, share of, const float *added, const norm *by) {
    for (size_t r = 0; r < of.count; r++)
        bert->kernels->normalize(bert->x + (of.first + r) * bert->dimension, added + r * bert->dimension, by->gain,
                                 by->bias, bert->dimension, bert->epsilon);
}

static void run_member(void *state, size_t member) {
    ct_bert *bert = state;
    size_t members = ct_team_size(bert->team), stride = 3 * bert->dimension;
    share of = {bert->count * member / members, 0};
    of.count = bert->count * (member + 1) / members - of.first;
    desk *at = &bert->desks[member];
    embed(bert, of);
    for (size_t i = 0; i < bert->layer_count; i++) {
        const layer *to = &bert->layers[i];
        float *x = bert->x + of.first * bert->dimension, *inputs = bert->inputs[i % 2];
        ct_linear_run(&to->input, x, of.count, &at->eight_bits, inputs + of.first * stride, stride);
        ct_team_meet(bert->team);
        attend(bert, inputs, of, at);
        ct_linear_run(&to->output, at->mixed, of.count, &at->eight_bits, at->added, bert->dimension);
        add_and_normalize(bert, of, at->added, &to->after_attention);
        ct_linear_run(&to->up, x, of.count, &at->eight_bits, at->inner, bert->inner);
        bert->kernels->gelu(at->inner, of.count * bert->inner);
        ct_linear_run(&to->down, at->inner, of.count, &at->eight_bits, at->added, bert->dimension);
        add_and_normalize(bert, of, at->added, &to->after_network);
    }
}

int ct_bert_run(ct_bert *bert, const int32_t *ids, size_t count, const float **vectors, ct_error *error) {
    if (count == 0 || count > bert->most_tokens)
        return ct_fail(error, CT_INTERNAL, "%zu tokens in one pass, at most %zu fit", count, bert->most_tokens);
    for (size_t t = 0; t < count; t++)
        if (ids[t] < 0 || ids[t] >= bert->words.rows)
            return ct_fail(error, CT_MODEL, "the tokenizer gave token %d, the model has %lld", ids[t],
                           (long long)bert->words.rows);
    bert->ids = ids;
    bert->count = count;
    ct_team_run(bert->team, run_member, bert);
    *vectors = bert->x;
    return CT_OK;
}
