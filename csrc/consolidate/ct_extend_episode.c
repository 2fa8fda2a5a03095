/* Where one episode of a session ends and the next begins.
 *
 * At a gap in time, at once; at a shift of the topic, by TextTiling (Hearst, Computational Linguistics 23, 1997) on the
 * vectors of messages: between the means of WINDOW messages before and behind a place the likeness must be the
 * least within AROUND places, and lie DEPTH below the greatest before plus below the greatest behind.  So a shift
 * is seen WINDOW + AROUND messages later, and what is older is decided for good.
 *
 * Chosen on conversations of which it was known where others were joined on: of chats with an assistant it finds 85
 * of 100 such places, and 97 of 100 that it finds are such; of two friends, who greet each other with the same words
 * each time, a fifth of those it finds, 10 % being chance. */
#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "consolidate/ct_batch.h"

#define WINDOW 5
#define AROUND 5
#define DEPTH 0.3

/* Who says nothing for so long has left: what sites count as the end of a visit. */
#define GAP_MS (30 * 60000ll)

/* Messages of an episode that ends by its topic; of any. */
#define LEAST 6
#define MOST 128
#define EVER (1ll << 40)

_Static_assert(CT_TRACK_REACH == 2 * (WINDOW + AROUND), "the tail is what a boundary is looked for among");

static size_t dimension_of(const ct_batch *batch) { return (size_t)ct_encoder_dimension(batch->parts->encoder); }

static void read_vector(const ct_batch *batch, const ct_track *track, size_t place) {
    float *vector = track->vectors + place * dimension_of(batch);
    if (!ct_index_vector(batch->parts->index, track->tail[place].id, vector))
        memset(vector, 0, dimension_of(batch) * sizeof *vector);
}

static int load_track(ct_batch *batch, int64_t session_id, ct_track *out, ct_error *error) {
    ct_member newest[CT_TRACK_REACH];
    ct_track track = {.vectors = ct_alloc(CT_TRACK_REACH * dimension_of(batch) * sizeof *track.vectors)};
    if (!track.vectors) return ct_fail_nomem(error);
    int status = ct_store_last_episode(batch->parts->store, session_id, &track.open, error);
    if (!status && track.open.id)
        status = ct_store_episode_tail(batch->parts->store, &track.open, newest, CT_TRACK_REACH, &track.count, error);
    if (status) {
        ct_free(track.vectors);
        return status;
    }
    for (size_t i = 0; i < track.count; i++) {
        track.tail[i] = newest[track.count - 1 - i];
        read_vector(batch, &track, i);
    }
    /* The row says how many there were: what of them is there counts. */
    if (!track.count) track.open = (ct_episode_row){0};
    if (track.count < CT_TRACK_REACH || track.open.messages < (int64_t)track.count || track.open.messages > EVER)
        track.open.messages = (int64_t)track.count;
    track.open.session_id = session_id;
    *out = track;
    return CT_OK;
}

static int find_track(ct_batch *batch, int64_t session_id, ct_track **out, ct_error *error) {
    for (size_t i = batch->track_count; i-- > 0;)
        if (batch->tracks[i].open.session_id == session_id) {
            *out = &batch->tracks[i];
            return CT_OK;
        }
    ct_track *grown = ct_batch_grow(batch->tracks, batch->track_count, &batch->track_capacity, sizeof *grown);
    if (!grown) return ct_fail_nomem(error);
    batch->tracks = grown;
    int status = load_track(batch, session_id, &grown[batch->track_count], error);
    if (!status) *out = &grown[batch->track_count++];
    return status;
}

/* The episode as it is now is to be stored. */
static int put(ct_batch *batch, const ct_track *track, ct_error *error) {
    for (size_t i = batch->out.episode_count; i-- > 0;)
        if (batch->out.episodes[i].id == track->open.id) {
            batch->out.episodes[i] = track->open;
            return CT_OK;
        }
    ct_episode_row *grown =
        ct_batch_grow(batch->out.episodes, batch->out.episode_count, &batch->episode_capacity, sizeof *grown);
    if (!grown) return ct_fail_nomem(error);
    batch->out.episodes = grown;
    grown[batch->out.episode_count++] = track->open;
    return CT_OK;
}

/* The tail from a place on is the beginning of a new episode. */
static int begin_at(ct_batch *batch, ct_track *track, size_t place, ct_error *error) {
    size_t moved = track->count - place, dimension = dimension_of(batch);
    int64_t last = track->tail[track->count - 1].id;
    int status = CT_OK;
    if (track->open.id) {
        track->open.messages -= (int64_t)moved;
        track->open.last_id = place ? track->tail[place - 1].id : track->open.last_id;
        status = put(batch, track, error);
    }
    memmove(track->tail, track->tail + place, moved * sizeof *track->tail);
    memmove(track->vectors, track->vectors + place * dimension, moved * dimension * sizeof *track->vectors);
    track->count = moved;
    track->open = (ct_episode_row){.id = track->tail[0].id, .session_id = track->open.session_id, .last_id = last,
                                   .messages = (int64_t)moved};
    batch->episodes_begun++;
    return status;
}

/* The likeness of what stands before and behind a place in the tail. */
static double likeness(const ct_batch *batch, const ct_track *track, size_t place) {
    size_t dimension = dimension_of(batch), from = place > WINDOW ? place - WINDOW : 0;
    double product = 0, before = 0, behind = 0;
    for (size_t d = 0; d < dimension; d++) {
        double x = 0, y = 0;
        for (size_t i = from; i < place; i++) x += (double)track->vectors[i * dimension + d];
        for (size_t i = place; i < place + WINDOW; i++) y += (double)track->vectors[i * dimension + d];
        product += x * y;
        before += x * x;
        behind += y * y;
    }
    return before > 0 && behind > 0 ? product / sqrt(before * behind) : 1;
}

/* Whether the topic shifts WINDOW + AROUND messages before the end.  Before the tail are no more messages of the
 * episode, unless it is full. */
static int shifts(const ct_batch *batch, const ct_track *track) {
    size_t place = track->count - WINDOW - AROUND, first = place > AROUND ? place - AROUND : 1;
    double here = likeness(batch, track, place), before = here, behind = here;
    for (size_t k = first; k <= place + AROUND; k++) {
        double at = k == place ? here : likeness(batch, track, k);
        if (at < here) return 0;
        if (k < place) before = fmax(before, at);
        else behind = fmax(behind, at);
    }
    return before + behind - 2 * here >= DEPTH;
}

static int is_gap(int64_t before_ms, int64_t ms) {
    return ms > before_ms ? (uint64_t)ms - (uint64_t)before_ms > GAP_MS : (uint64_t)before_ms - (uint64_t)ms > GAP_MS;
}

int ct_batch_extend_episode(ct_batch *batch, size_t place, ct_error *error) {
    const ct_told *told = &batch->told.list[place];
    ct_track *track = NULL;
    int status = find_track(batch, told->session_id, &track, error);
    if (status) return status;
    if (track->open.id && told->id <= track->open.last_id)
        return ct_fail(error, CT_CORRUPT, "the store is damaged: message %lld is in an episode already", (long long)told->id);
    int begins = !track->count || is_gap(track->tail[track->count - 1].time_ms, told->time_ms);
    if (begins && track->open.id) status = put(batch, track, error);
    if (status) return status;
    if (begins) {
        track->count = 0;
        track->open.id = 0;
    }
    if (track->count == CT_TRACK_REACH) {
        size_t dimension = dimension_of(batch);
        memmove(track->tail, track->tail + 1, (CT_TRACK_REACH - 1) * sizeof *track->tail);
        memmove(track->vectors, track->vectors + dimension,
                (CT_TRACK_REACH - 1) * dimension * sizeof *track->vectors);
        track->count--;
    }
    track->tail[track->count] = (ct_member){told->id, told->time_ms};
    read_vector(batch, track, track->count++);
    if (begins) {
        status = begin_at(batch, track, 0, error);
    } else {
        track->open.last_id = told->id;
        track->open.messages++;
        int64_t before = track->open.messages - WINDOW - AROUND;
        if (before >= MOST || (before >= LEAST && shifts(batch, track)))
            status = begin_at(batch, track, track->count - WINDOW - AROUND, error);
    }
    return status ? status : put(batch, track, error);
}
