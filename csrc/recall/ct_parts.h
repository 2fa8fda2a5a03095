/* What recall works on. */
#ifndef CT_PARTS_H
#define CT_PARTS_H

#include "encoder/ct_encoder.h"
#include "index/ct_index.h"
#include "store/ct_store.h"

typedef struct ct_recall_parts {
    ct_store *store;
    ct_encoder *encoder;
    ct_index *index;
    ct_code_file *file;
} ct_recall_parts;

#endif
