/* How many words each message has, kept in memory: FTS5 answers with a statement of its own.  A message never
 * changes, so what was read once stays true. */
#ifndef CT_LENGTHS_H
#define CT_LENGTHS_H

#include "store/ct_sql.h"

/* Where a message's words are counted, 0: not read yet.  NULL where nothing is kept. */
_Atomic uint32_t *ct_length_of(ct_store *store, int64_t id);

#endif
