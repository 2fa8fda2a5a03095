/* The queue before the one connection that writes messages.  Who finds it free leads: does its own
 * work, takes along who came meanwhile, and commits for all of them.  It knows no SQLite and allocates
 * nothing: a caller's place is on its stack. */
#ifndef CT_COMMIT_QUEUE_H
#define CT_COMMIT_QUEUE_H

#include <pthread.h>
#include <stddef.h>

/* Most that share a commit, unless one caller alone has more: so that nobody waits in one transaction
 * with an import. */
#define CT_COMMIT_MESSAGES 128
#define CT_COMMIT_BYTES (256u << 10)

typedef enum ct_commit_state { CT_COMMIT_WAITS, CT_COMMIT_LEADS, CT_COMMIT_DONE } ct_commit_state;

/* One caller. */
typedef struct ct_commit_place {
    size_t messages;
    size_t bytes;
    ct_commit_state state;
    pthread_cond_t told;
    struct ct_commit_place *next;
} ct_commit_place;

typedef struct ct_commit_queue {
    pthread_mutex_t mutex;
    int is_led;
    ct_commit_place *first; /* who waits, in the order in which they came */
    ct_commit_place *last;
} ct_commit_queue;

/* Whose work one commit makes durable, in order; the first is the leader. */
typedef struct ct_commit_group {
    size_t messages;
    size_t bytes;
    ct_commit_place *first;
    ct_commit_place *last;
} ct_commit_group;

void ct_commit_queue_init(ct_commit_queue *queue);
void ct_commit_queue_destroy(ct_commit_queue *queue);

/* Waits only while another leads.  1: the caller leads `group`, which is itself so far, until it calls
 * ct_commit_part; 0: another did its work. */
int ct_commit_join(ct_commit_queue *queue, ct_commit_place *place, ct_commit_group *group);

/* Take along the next who waits, when it fits; NULL: nobody. */
ct_commit_place *ct_commit_take(ct_commit_queue *queue, ct_commit_group *group);

/* Let the group go and the next who waits lead.  The others' places are gone afterwards. */
void ct_commit_part(ct_commit_queue *queue, const ct_commit_group *group);

#endif
