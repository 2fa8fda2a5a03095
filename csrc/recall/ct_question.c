#include "recall/ct_question.h"

#include <string.h>

/* Of a long text the beginning is looked at. */
#define BYTES_MAX 4096

/* Of any text the end is looked at for its last mark. */
#define TAIL_BYTES 64

typedef struct mark {
    const char *bytes;
    int asks;
} mark;

static const mark marks[] = {
    {"?", 1},            {".", 0},            {"!", 0},            {"\n", 0},
    {"\xEF\xBC\x9F", 1}, {"\xD8\x9F", 1},     {"\xE3\x80\x82", 0}, {"\xEF\xBC\x81", 0},
    {"\xE0\xA5\xA4", 0}, {"\xCD\xBE", 1},
};

static const mark *mark_at(const char *text, size_t bytes) {
    unsigned char first = (unsigned char)*text;
    if (first > '?' && first < 0x80) return NULL; /* most letters: each byte of many messages comes here */
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (*marks[i].bytes != *text) continue;
        size_t length = strlen(marks[i].bytes);
        if (length <= bytes && memcmp(text, marks[i].bytes, length) == 0) return &marks[i];
    }
    return NULL;
}

double ct_question_share(const char *text, size_t bytes) {
    size_t sentence = 0, asked = 0, total = 0;
    if (bytes > BYTES_MAX) bytes = BYTES_MAX;
    for (size_t i = 0; i < bytes; i++) {
        const mark *found = mark_at(text + i, bytes - i);
        if (found) {
            if (found->asks) asked += sentence;
            total += sentence;
            sentence = 0;
            i += strlen(found->bytes) - 1;
        } else if (text[i] != ' ') {
            sentence++;
        }
    }
    total += sentence;
    return total ? (double)asked / (double)total : 0;
}

int ct_question_ends(const char *text, size_t bytes) {
    size_t start = bytes > TAIL_BYTES ? bytes - TAIL_BYTES : 0;
    int asked = 0;
    for (size_t i = start; i < bytes; i++) {
        const mark *found = mark_at(text + i, bytes - i);
        if (found) {
            if (*found->bytes != '\n') asked = found->asks;
            i += strlen(found->bytes) - 1;
        } else if (text[i] != ' ') {
            asked = 0;
        }
    }
    return asked;
}
