#include "engine/ct_affect.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* A text nearer to the nearest plain sentence by this much is plain; nearer to the nearest moved one by this, moved. */
#define PLAIN (-0.05)
#define MOVED 0.25

static const char *const moved[] = {
    "I am so angry about this!",
    "This is terrible and I am really upset.",
    "I am scared and I do not know what to do.",
    "I feel awful, I have been crying all day.",
    "I hate this, it makes me furious.",
    "I am so happy, this is the best day of my life!",
    "I love this so much, thank you!",
    "I am heartbroken, she died last night.",
    "Wow, that is amazing news, I am thrilled!",
    "I am very worried and can hardly sleep.",
    "This is urgent, please help me right now!",
    "I am so disappointed and frustrated.",
};

static const char *const plain[] = {
    "The file is in the second folder.",
    "The meeting takes place in room four.",
    "It has three parts and two sections.",
    "The function returns a list of numbers.",
    "The report covers the first quarter.",
    "Take the train and get off at the third stop.",
    "The table has four columns.",
    "Here is a short summary of the text.",
    "The package weighs two kilograms.",
    "Set the value and restart the service.",
    "They usually open at nine.",
    "I will look at the next item on the list.",
};

enum { MOVED_COUNT = sizeof moved / sizeof *moved, PLAIN_COUNT = sizeof plain / sizeof *plain };

struct ct_affect {
    int32_t dimension;
    float vectors[]; /* of the moved ones, then of the plain ones */
};

static int embed(ct_encoder *encoder, const char *const *texts, size_t count, float *out, ct_error *error) {
    size_t bytes[MOVED_COUNT + PLAIN_COUNT];
    for (size_t i = 0; i < count; i++) bytes[i] = strlen(texts[i]);
    return ct_encoder_embed(encoder, texts, bytes, count, 1, out, error);
}

int ct_affect_create(ct_encoder *encoder, ct_affect **out, ct_error *error) {
    int32_t dimension = ct_encoder_dimension(encoder);
    size_t values = (size_t)dimension * (MOVED_COUNT + PLAIN_COUNT);
    ct_affect *affect = ct_alloc(sizeof *affect + values * sizeof *affect->vectors);
    if (!affect) return ct_fail_nomem(error);
    affect->dimension = dimension;
    int status = embed(encoder, moved, MOVED_COUNT, affect->vectors, error);
    if (!status)
        status = embed(encoder, plain, PLAIN_COUNT, affect->vectors + (size_t)dimension * MOVED_COUNT, error);
    if (status) ct_free(affect);
    else *out = affect;
    return status;
}

void ct_affect_free(ct_affect *affect) { ct_free(affect); }

double ct_affect_of(const ct_affect *affect, const float *vector) {
    double best[2] = {-1, -1}; /* of the moved, of the plain */
    for (size_t a = 0; a < MOVED_COUNT + PLAIN_COUNT; a++) {
        const float *anchor = affect->vectors + a * (size_t)affect->dimension;
        double cosine = 0;
        for (int32_t i = 0; i < affect->dimension; i++) cosine += (double)anchor[i] * vector[i];
        int which = a >= MOVED_COUNT;
        if (cosine > best[which]) best[which] = cosine;
    }
    return fmin(fmax((best[0] - best[1] - PLAIN) / (MOVED - PLAIN), 0), 1);
}
