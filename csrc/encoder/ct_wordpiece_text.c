#include "encoder/ct_wordpiece_text.h"
#include "base/ct_alloc.h"
int ct_wordpiece_text(const char *utf8, size_t n, char **out, size_t *out_n) {
    *out = ct_copy(utf8, n);
    *out_n = n;
    return *out ? 0 : 1;
}
