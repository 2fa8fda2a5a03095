#include "recall/ct_speaker.h"

#include <string.h>

static const char *const first_person[] = {"i", "me", "my", "mine", "myself"};
static const char *const second_person[] = {"you", "your", "yours", "yourself"};

static int holds(const ct_words *words, const char *word) {
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->list[i], word) == 0) return 1;
    return 0;
}

static int holds_any(const ct_words *words, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (holds(words, list[i])) return 1;
    return 0;
}

static int name_is_in(ct_store *store, const char *name, const ct_words *words, int *named, ct_error *error) {
    ct_words parts = {.count = 0};
    int status = ct_store_split(store, name, strlen(name), &parts, error);
    for (size_t i = 0; !status && i < parts.count && !*named; i++) *named = holds(words, parts.list[i]);
    ct_words_free(&parts);
    return status;
}

/* A name is known by the role now, so its tokens say nothing more about the message. */
static int keep_name_tokens(ct_encoder *encoder, const char *name, ct_speakers *to, ct_error *error) {
    ct_chunks chunks;
    int status = ct_encoder_chunk(encoder, NULL, name, strlen(name), 0, &chunks, error);
    if (status) return status;
    for (size_t i = 0; i < chunks.id_count && to->name_token_count < CT_NAME_TOKENS_MAX; i++)
        to->name_tokens[to->name_token_count++] = chunks.ids[i];
    ct_chunks_free(&chunks);
    return CT_OK;
}

int ct_speaker_find(ct_store *store, ct_encoder *encoder, const ct_words *words, ct_speakers *out,
                    ct_error *error) {
    int first = holds_any(words, first_person, sizeof first_person / sizeof *first_person);
    int second = holds_any(words, second_person, sizeof second_person / sizeof *second_person);
    ct_roles roles = {.count = 0};
    ct_speakers found = {.count = 0};
    int status = ct_store_roles(store, &roles, error);
    for (size_t i = 0; !status && i < roles.count && found.count < CT_SPEAKERS_MAX; i++) {
        const char *name = roles.list[i].name;
        int by_person = (first && strcmp(name, "user") == 0) || (second && strcmp(name, "assistant") == 0);
        int by_name = 0;
        if (!by_person) status = name_is_in(store, name, words, &by_name, error);
        if (!status && by_name) status = keep_name_tokens(encoder, name, &found, error);
        if (by_name || by_person) found.role_ids[found.count++] = roles.list[i].id;
        found.by_name |= by_name;
    }
    ct_roles_free(&roles);
    if (!status) *out = found;
    return status;
}

int ct_speaker_is_named(const ct_speakers *speakers, int64_t role_id) {
    for (size_t i = 0; i < speakers->count; i++)
        if (speakers->role_ids[i] == role_id) return 1;
    return 0;
}

int ct_speaker_is_name_token(const ct_speakers *speakers, int32_t token) {
    for (size_t i = 0; i < speakers->name_token_count; i++)
        if (speakers->name_tokens[i] == token) return 1;
    return 0;
}
