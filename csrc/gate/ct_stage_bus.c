#include "gate/ct_stage_bus.h"

#include <pthread.h>
#include <string.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

typedef struct entry {
    char *scope;
    ct_staged message;
} entry;

struct ct_stage_bus {
    pthread_mutex_t mutex;
    ct_stage_bounds bounds;
    entry *list; /* the oldest first; few enough to be looked through */
    size_t count;
    size_t capacity;
    size_t bytes;
};

int ct_stage_bus_create(const ct_stage_bounds *bounds, ct_stage_bus **out, ct_error *error) {
    ct_stage_bus *bus = ct_alloc_zero(sizeof *bus);
    if (!bus) return ct_fail_nomem(error);
    bus->bounds = *bounds;
    pthread_mutex_init(&bus->mutex, NULL);
    *out = bus;
    return CT_OK;
}

void ct_stage_bus_free(ct_stage_bus *bus) {
    if (!bus) return;
    for (size_t i = 0; i < bus->count; i++) ct_free(bus->list[i].scope);
    ct_free(bus->list);
    pthread_mutex_destroy(&bus->mutex);
    ct_free(bus);
}

static void take_out(ct_stage_bus *bus, size_t at) {
    bus->bytes -= bus->list[at].message.bytes;
    ct_free(bus->list[at].scope);
    bus->count--;
    memmove(bus->list + at, bus->list + at + 1, (bus->count - at) * sizeof *bus->list);
}

static int is_of(const entry *of, const char *scope) { return strcmp(of->scope, scope) == 0; }

static size_t find(const ct_stage_bus *bus, const char *scope, int64_t message_id) {
    for (size_t i = 0; i < bus->count; i++)
        if (bus->list[i].message.message_id == message_id && is_of(&bus->list[i], scope)) return i;
    return bus->count;
}

/* The oldest of a scope go until it is within its bounds. */
static void trim_scope(ct_stage_bus *bus, const char *scope) {
    size_t items = 0, bytes = 0;
    for (size_t i = 0; i < bus->count; i++) {
        if (!is_of(&bus->list[i], scope)) continue;
        items++;
        bytes += bus->list[i].message.bytes;
    }
    for (size_t i = 0; items > bus->bounds.scope_items || bytes > bus->bounds.scope_bytes;) {
        if (!is_of(&bus->list[i], scope)) {
            i++;
            continue;
        }
        items--;
        bytes -= bus->list[i].message.bytes;
        take_out(bus, i);
    }
}

static int is_too_large(const ct_stage_bus *bus, const ct_staged *message) {
    const ct_stage_bounds *bounds = &bus->bounds;
    return !bounds->scope_items || !bounds->items || message->bytes > bounds->scope_bytes || message->bytes > bounds->bytes;
}

static int grow(ct_stage_bus *bus) {
    if (bus->count < bus->capacity) return 0;
    size_t capacity = bus->capacity ? 2 * bus->capacity : 16;
    entry *grown = ct_realloc(bus->list, capacity * sizeof *grown);
    if (!grown) return -1;
    bus->list = grown;
    bus->capacity = capacity;
    return 0;
}

int ct_stage_bus_put(ct_stage_bus *bus, const char *scope, const ct_staged *message, int *taken, ct_error *error) {
    int status = CT_OK;
    char *name = ct_copy_string(scope);
    if (!name) return ct_fail_nomem(error);
    pthread_mutex_lock(&bus->mutex);
    *taken = !is_too_large(bus, message);
    if (*taken && grow(bus)) status = ct_fail_nomem(error);
    if (*taken && !status) {
        size_t known = find(bus, scope, message->message_id);
        if (known < bus->count) take_out(bus, known);
        bus->list[bus->count++] = (entry){name, *message};
        bus->bytes += message->bytes;
        name = NULL;
        trim_scope(bus, scope);
        while (bus->count > bus->bounds.items || bus->bytes > bus->bounds.bytes) take_out(bus, 0);
    }
    pthread_mutex_unlock(&bus->mutex);
    ct_free(name);
    return status;
}

int ct_stage_bus_holds(ct_stage_bus *bus, const char *scope, int64_t message_id) {
    pthread_mutex_lock(&bus->mutex);
    int holds = find(bus, scope, message_id) < bus->count;
    pthread_mutex_unlock(&bus->mutex);
    return holds;
}

int ct_stage_bus_drain(ct_stage_bus *bus, const char *scope, ct_staged **out, size_t *count, ct_error *error) {
    int status = CT_OK;
    *out = NULL;
    *count = 0;
    pthread_mutex_lock(&bus->mutex);
    ct_staged *list = ct_alloc((bus->count + 1) * sizeof *list);
    if (!list) status = ct_fail_nomem(error);
    for (size_t i = 0; !status && i < bus->count;) {
        if (is_of(&bus->list[i], scope)) {
            list[(*count)++] = bus->list[i].message;
            take_out(bus, i);
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&bus->mutex);
    *out = list;
    return status;
}

void ct_stage_bus_size(ct_stage_bus *bus, size_t *items, size_t *bytes) {
    pthread_mutex_lock(&bus->mutex);
    *items = bus->count;
    *bytes = bus->bytes;
    pthread_mutex_unlock(&bus->mutex);
}
