/* Connections to a store's file: one that writes messages, one that writes what is derived, and a pool
 * of readers. */
#ifndef CT_CONNECTION_H
#define CT_CONNECTION_H

#include "store/ct_sql.h"

int ct_connection_open(ct_store *store, ct_connection *connection, int read_only, int full_sync,
                       ct_error *error);
void ct_connection_close(ct_connection *connection);

/* Borrow a reader; waits while all are out. */
int ct_reader_take(ct_store *store, ct_connection **out, ct_error *error);
void ct_reader_give(ct_store *store, ct_connection *reader);

#endif
