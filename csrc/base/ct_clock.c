#include "base/ct_clock.h"

#include <time.h>

int64_t ct_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef __APPLE__
int ct_clock_cond_init(pthread_cond_t *cond) { return pthread_cond_init(cond, NULL); }

void ct_clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ns) {
    int64_t left = deadline_ns - ct_clock_ns();
    if (left <= 0) return;
    struct timespec relative = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    pthread_cond_timedwait_relative_np(cond, mutex, &relative);
}
#else
int ct_clock_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes)) return -1;
    int failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) ||
                 pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return failed ? -1 : 0;
}

void ct_clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ns) {
    struct timespec until = {(time_t)(deadline_ns / 1000000000), (long)(deadline_ns % 1000000000)};
    pthread_cond_timedwait(cond, mutex, &until);
}
#endif
