/* Whether a newer message states something else of the same thing.
 *
 * Two messages are laid side by side by the content words that they share.  Between these, a change
 * has one substitution, of a value by a value of its kind, and all else of the older is left out or
 * kept; two facts that look alike have a second one, that of what they are about ("Anna's room is
 * 204", "Ben's room is 214").  The other kind of change ends what the older says ("no longer"). */
#ifndef CT_STATEMENT_PAIR_H
#define CT_STATEMENT_PAIR_H

#include "recall/ct_statement.h"

typedef struct ct_statement_pair {
    size_t shared;  /* content words of the older that the newer has */
    size_t missing; /* those that it has not */
    int asked;      /* of the query's words the older has more of its own than the newer */
    int changes;    /* as far as words can tell, the newer replaces or ends what the older says */
} ct_statement_pair;

ct_statement_pair ct_statement_compare(const ct_statement *older, const ct_statement *newer,
                                       const ct_statement *query);

#endif
