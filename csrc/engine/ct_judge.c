#include "engine/ct_judge.h"

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* How many tokens the message has up to a byte of its text. */
static int count_tokens(ct_encoder *encoder, const ct_pending *message, size_t bytes, size_t *count,
                        ct_error *error) {
    ct_chunks before;
    int status = ct_encoder_chunk(encoder, message->role, message->text, bytes, 0, &before, error);
    if (status) return status;
    *count = before.id_count;
    ct_chunks_free(&before);
    return CT_OK;
}

int ct_judge_open(ct_encoder *encoder, const ct_pending *message, const ct_chunks *chunks, ct_judge *out,
                  ct_error *error) {
    ct_judge judge = {.bits = (size_t)ct_encoder_code_bits(encoder)};
    int status = CT_OK;
    if (ct_directive_trusts(message->role))
        judge.count = ct_directive_sentences(message->text, message->text_bytes, judge.sentences, CT_SENTENCES_MAX);
    if (judge.count && judge.bits) {
        judge.means = ct_alloc(CT_SENTENCES_MAX * judge.bits);
        if (!judge.means) status = ct_fail_nomem(error);
    }
    for (size_t i = 0; !status && i < judge.count; i++) {
        const ct_sentence *sentence = &judge.sentences[i];
        size_t end = sentence->start + sentence->bytes;
        status = count_tokens(encoder, message, sentence->start, &judge.first[i], error);
        if (!status) status = count_tokens(encoder, message, end, &judge.end[i], error);
        /* A tokenizer may count a text's beginning otherwise than the whole. */
        if (judge.end[i] > chunks->id_count) judge.end[i] = chunks->id_count;
        if (judge.first[i] > judge.end[i]) judge.first[i] = judge.end[i];
    }
    if (status) ct_judge_free(&judge);
    else *out = judge;
    return status;
}

void ct_judge_free(ct_judge *judge) {
    ct_free(judge->means);
    judge->means = NULL;
}

void ct_judge_clear(ct_judge *judge) { judge->found_count = 0; }

/* The chunk that a token belongs to: the last that it stands in. */
static size_t chunk_of(const ct_chunks *chunks, size_t token) {
    size_t index = token / chunks->step;
    return index < chunks->count ? index : chunks->count - 1;
}

void ct_judge_chunk(ct_judge *judge, const ct_encoder *encoder, const ct_pending *message, const ct_chunks *chunks,
                    size_t index, const float *vector, const uint64_t *codes) {
    size_t held, start = index * chunks->step, words = judge->bits / 64;
    ct_chunks_ids(chunks, index, &held);
    for (size_t i = 0; i < judge->count; i++) {
        const ct_sentence *sentence = &judge->sentences[i];
        if (chunk_of(chunks, judge->first[i]) != index) continue;
        size_t first = judge->first[i] - start, end = judge->end[i] - start;
        if (end > held) end = held;
        double share = end > first ? (double)(end - first) / (double)held : 0;
        if (!sentence->withdraws && !ct_directive_holds(sentence, ct_encoder_probe(encoder), vector,
                                                        (size_t)ct_encoder_dimension(encoder), share))
            continue;
        ct_new_directive *found = &judge->found[judge->found_count];
        *found = (ct_new_directive){.start = sentence->start, .bytes = sentence->bytes};
        ct_directive_describe(message->text, sentence, &found->view);
        if (judge->means && end > first) {
            int8_t *mean = judge->means + judge->found_count * judge->bits;
            ct_directive_mean(codes + first * words, end - first, judge->bits, mean);
            found->view.mean = mean;
            found->view.bits = judge->bits;
        }
        judge->found_count++;
    }
}
