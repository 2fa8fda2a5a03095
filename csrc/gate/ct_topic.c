#include "gate/ct_topic.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* Share of the last segment in the mean. */
#define NEWEST 0.4

/* Sentences of one text have cosines of .2 to .5 to the mean of those before, those of another about 0: from here on
 * it may be another topic, up to here it is one. */
#define SHIFT_FROM 0.75
#define SHIFT_TO 1.0

int ct_topic_open(ct_topic *topic, int32_t dimension, ct_error *error) {
    size_t bytes = (size_t)dimension * sizeof(float);
    *topic = (ct_topic){.dimension = dimension, .mean = ct_alloc(bytes), .interrupted = ct_alloc(bytes)};
    if (!topic->mean || !topic->interrupted) return ct_fail_nomem(error);
    ct_topic_clear(topic);
    return CT_OK;
}

void ct_topic_free(ct_topic *topic) {
    ct_free(topic->mean);
    ct_free(topic->interrupted);
}

void ct_topic_clear(ct_topic *topic) {
    topic->has_mean = 0;
    topic->since = INFINITY;
}

static double cosine(const ct_topic *topic, const float *a, const float *b) {
    double sum = 0;
    for (int32_t i = 0; i < topic->dimension; i++) sum += (double)a[i] * b[i];
    return sum;
}

double ct_topic_shift(const ct_topic *topic, const float *vector) {
    if (!topic->has_mean) return 0;
    double away = 1 - cosine(topic, topic->mean, vector);
    return fmin(fmax((away - SHIFT_FROM) / (SHIFT_TO - SHIFT_FROM), 0), 1);
}

double ct_topic_drift(const ct_topic *topic, const float *vector) {
    return isinf(topic->since) ? 0 : 1 - cosine(topic, topic->interrupted, vector);
}

void ct_topic_add(ct_topic *topic, const float *vector, int interrupts) {
    double square = 0;
    for (int32_t i = 0; i < topic->dimension; i++) {
        double before = topic->has_mean ? topic->mean[i] : vector[i];
        topic->mean[i] = (float)(before + NEWEST * (vector[i] - before));
        square += (double)topic->mean[i] * topic->mean[i];
    }
    for (int32_t i = 0; square > 0 && i < topic->dimension; i++) topic->mean[i] = (float)(topic->mean[i] / sqrt(square));
    topic->has_mean = 1;
    if (interrupts) memcpy(topic->interrupted, vector, (size_t)topic->dimension * sizeof *vector);
    topic->since = interrupts ? 0 : topic->since + 1;
}
