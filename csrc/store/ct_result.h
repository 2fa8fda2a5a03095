/* A growing list of messages whose strings live in one block. */
#ifndef CT_RESULT_H
#define CT_RESULT_H

#include "ct.h"

typedef struct ct_arena_block ct_arena_block;

struct ct_result {
    ct_row *rows;
    size_t count;
    size_t capacity;
    ct_arena_block *strings;
    int64_t *ids;        /* that rows name as duplicates, or NULL */
    ct_result *attached; /* the rows that others name as before or after, or NULL */
    ct_timings timings;
    int64_t pending;
    double confidence;
    ct_result *standing; /* or NULL */
    ct_result *working;  /* or NULL */
    int64_t *links; /* ids that rows point at, or NULL */
};

/* NULL when memory is short. */
ct_result *ct_result_new(void);

/* A zeroed row at the end, or NULL. */
ct_row *ct_result_add(ct_result *result);

/* Keep a copy of text (NULL stays NULL) in *out.  0, or -1 when memory is short. */
int ct_result_keep(ct_result *result, const char *text, size_t bytes, const char **out);

#endif
