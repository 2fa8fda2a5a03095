/* Monotonic time, and condition variables that wait by it. */
#ifndef CT_CLOCK_H
#define CT_CLOCK_H

#include <pthread.h>
#include <stdint.h>

int64_t ct_clock_ns(void);

/* A condition variable for ct_clock_wait.  0 on success. */
int ct_clock_cond_init(pthread_cond_t *cond);

/* Wait until signalled or until the monotonic time deadline_ns. */
void ct_clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ns);

#endif
