/* What passes a filter whose names were looked up. */
#include "base/ct_alloc.h"
#include "store/ct_store.h"

void ct_bound_filter_free(ct_bound_filter *filter) {
    ct_free(filter->sessions);
    ct_free(filter->roles);
    filter->sessions = filter->roles = NULL;
}

static int is_among(int64_t id, const int64_t *ids, size_t count) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ids[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low < count && ids[low] == id;
}

int ct_bound_filter_passes(const ct_bound_filter *filter, int64_t session_id, int64_t role_id, int64_t time_ms) {
    return time_ms >= filter->since_ms && time_ms < filter->until_ms &&
           (!filter->restrict_sessions || is_among(session_id, filter->sessions, filter->session_count)) &&
           (!filter->restrict_roles || is_among(role_id, filter->roles, filter->role_count));
}

int ct_bound_filter_is_open(const ct_bound_filter *filter) {
    return !filter->restrict_sessions && !filter->restrict_roles && filter->since_ms == INT64_MIN &&
           filter->until_ms == INT64_MAX;
}
