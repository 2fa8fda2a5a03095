/* Any bytes as a stream: cut in two anywhere, and byte by byte, it gives the same segments; they are UTF-8, not empty,
 * in order, none longer than the bound. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ct_utf8.h"
#include "gate/ct_segmenter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of all segments, whole. */
typedef struct seen {
    uint64_t hash;
    int64_t end;
} seen;

static int visit(void *state, const ct_segment *segment) {
    seen *to = state;
    if (!segment->bytes || segment->bytes > CT_SEGMENT_BYTES + 4) abort();
    if (ct_utf8_check(segment->text, segment->bytes) != CT_UTF8_GOOD) abort();
    if (segment->start < to->end || segment->end <= segment->start) abort();
    to->end = segment->end;
    for (size_t i = 0; i < segment->bytes; i++)
        to->hash = (to->hash ^ (unsigned char)segment->text[i]) * 0x100000001b3u;
    to->hash = (to->hash ^ (uint64_t)(segment->start * 2 + segment->ends_paragraph)) * 0x100000001b3u;
    return 0;
}

static uint64_t run(ct_segmenter *segmenter, const char *text, size_t size, size_t step, size_t first) {
    seen to = {0};
    if (ct_segmenter_feed(segmenter, text, first, visit, &to)) abort();
    for (size_t at = first; at < size; at += step)
        if (ct_segmenter_feed(segmenter, text + at, size - at < step ? size - at : step, visit, &to)) abort();
    if (ct_segmenter_flush(segmenter, visit, &to)) abort();
    return to.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    ct_segmenter *segmenter;
    ct_error error;
    if (ct_segmenter_create(&segmenter, &error)) abort();
    uint64_t whole = run(segmenter, text, size, size + 1, 0);
    if (run(segmenter, text, size, 1, 0) != whole) abort();
    if (run(segmenter, text, size, size + 1, size ? data[0] * size / 256 : 0) != whole) abort();
    ct_segmenter_free(segmenter);
    return 0;
}
