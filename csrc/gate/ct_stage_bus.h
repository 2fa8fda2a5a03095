/* Messages that gates have staged, until the next context takes them: by scope, the newest kept when there are too
 * many.  Any number of gates put, any number of contexts take; each call is one step. */
#ifndef CT_STAGE_BUS_H
#define CT_STAGE_BUS_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

typedef struct ct_stage_bus ct_stage_bus;

/* Bounds of one scope and of all together; a message that is larger than its scope may be is not taken. */
typedef struct ct_stage_bounds {
    size_t scope_items;
    size_t scope_bytes;
    size_t items;
    size_t bytes;
} ct_stage_bounds;

typedef struct ct_staged {
    int64_t message_id;
    size_t bytes; /* of its text, or of the excerpt */
    double score;
    size_t excerpt_start; /* the text is so many characters of the message: from here on, */
    size_t excerpt_end;   /* up to here; 0: it is the whole */
} ct_staged;

int ct_stage_bus_create(const ct_stage_bounds *bounds, ct_stage_bus **out, ct_error *error);
void ct_stage_bus_free(ct_stage_bus *bus);

/* Stage a message; one that is staged already becomes the newest.  *taken: 0 when it is too large.  CT_NOMEM: nothing
 * is changed. */
int ct_stage_bus_put(ct_stage_bus *bus, const char *scope, const ct_staged *message, int *taken, ct_error *error);

int ct_stage_bus_holds(ct_stage_bus *bus, const char *scope, int64_t message_id);

/* Take all that is staged for a scope, the oldest first; free *out with ct_free.  CT_NOMEM: all stay. */
int ct_stage_bus_drain(ct_stage_bus *bus, const char *scope, ct_staged **out, size_t *count, ct_error *error);

/* What is staged in all. */
void ct_stage_bus_size(ct_stage_bus *bus, size_t *items, size_t *bytes);

#endif
