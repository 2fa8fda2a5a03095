/* What recall works on. */
#ifndef CT_PARTS_H
#define CT_PARTS_H

#include "base/ct_team.h"
#include "ct.h"
#include "encoder/ct_encoder.h"
#include "index/ct_index.h"
#include "store/ct_store.h"

/* An index of chunks that is kept elsewhere; find is NULL when there is none. */
typedef struct ct_recall_nearby {
    ct_find_nearby find;
    void *state;
} ct_recall_nearby;

typedef struct ct_recall_parts {
    ct_store *store;
    ct_encoder *encoder;
    ct_index *index;
    ct_code_file *file;
    ct_recall_nearby nearby;
    ct_team *helper; /* of two, this recall's alone while it begins; NULL: there is none */
} ct_recall_parts;

#endif
