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

int ct_speaker_find(ct_store *store, const ct_words *words, ct_speakers *out, ct_error *error) {
    int first = holds_any(words, first_person, sizeof first_person / sizeof *first_person);
    int second = holds_any(words, second_person, sizeof second_person / sizeof *second_person);
    ct_roles roles = {.count = 0};
    ct_speakers found = {.count = 0};
    int status = ct_store_roles(store, &roles, error);
    for (size_t i = 0; !status && i < roles.count && found.count < CT_SPEAKERS_MAX; i++) {
        const char *name = roles.list[i].name;
        int named = (first && strcmp(name, "user") == 0) || (second && strcmp(name, "assistant") == 0);
        if (!named) status = name_is_in(store, name, words, &named, error);
        if (named) found.role_ids[found.count++] = roles.list[i].id;
    }
    ct_roles_free(&roles);
    if (!status) *out = found;
    return status;
}

int ct_speaker_named(const ct_speakers *speakers, int64_t role_id) {
    for (size_t i = 0; i < speakers->count; i++)
        if (speakers->role_ids[i] == role_id) return 1;
    return 0;
}
