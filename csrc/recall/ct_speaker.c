#include "recall/ct_speaker.h"

#include <string.h>

#include "recall/ct_lexical.h"
#include "recall/ct_role.h"

/* What more roles than this share is no name ("agent 1", "agent 2"). */
#define NAMESAKES_MAX 3

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

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80); }

/* Inside the text and as it is spelt in the name: "Will", "May". */
static int stands_in(const ct_query *query, const char *name, const char *word) {
    size_t bytes = strlen(word);
    for (const char *at = name; (at = strcasestr(at, word)) != NULL; at++) {
        if (*at < 'A' || *at > 'Z') continue;
        for (size_t i = 1; i + bytes <= query->text_bytes; i++)
            if (memcmp(query->text + i, at, bytes) == 0 && !is_letter(query->text[i - 1]) &&
                (i + bytes == query->text_bytes || !is_letter(query->text[i + bytes])))
                return 1;
    }
    return 0;
}

/* Whether a word of a name is one of the query's. */
static int is_meant(const ct_query *query, const ct_words *words, const char *name, const char *word) {
    if (!holds(words, word)) return 0;
    if (!ct_lexical_is_function_word(word) && strcmp(word, "may") != 0) return 1;
    return stands_in(query, name, word);
}

/* How much of a name the query holds. */
typedef enum naming { NAMED_NOT, NAMED_PARTLY, NAMED_WHOLE } naming;

static int find_naming(ct_store *store, const ct_query *query, const ct_words *words, const char *name,
                       naming *out, ct_error *error) {
    ct_words parts = {.count = 0};
    size_t meant = 0;
    int status = ct_role_is_part(name) ? CT_OK : ct_store_split(store, name, strlen(name), &parts, error);
    for (size_t i = 0; !status && i < parts.count; i++) meant += is_meant(query, words, name, parts.list[i]) != 0;
    *out = !meant ? NAMED_NOT : meant < parts.count ? NAMED_PARTLY : NAMED_WHOLE;
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

static int is_by_person(const ct_words *words, const char *role) {
    if (strcmp(role, "user") == 0)
        return holds_any(words, first_person, sizeof first_person / sizeof *first_person);
    return strcmp(role, "assistant") == 0 &&
           holds_any(words, second_person, sizeof second_person / sizeof *second_person);
}

/* names: how much of each role's name the query holds. */
static int choose(const ct_recall_parts *parts, const ct_words *words, const ct_roles *roles, const naming *names,
                  ct_speakers *out, ct_error *error) {
    size_t partly = 0, whole = 0;
    for (size_t i = 0; i < roles->count; i++) {
        partly += names[i] == NAMED_PARTLY;
        whole += names[i] == NAMED_WHOLE;
    }
    naming least = whole || partly > NAMESAKES_MAX ? NAMED_WHOLE : NAMED_PARTLY;
    for (size_t i = 0; i < roles->count && out->count < CT_SPEAKERS_MAX; i++) {
        int by_name = names[i] >= least;
        if (!by_name && !is_by_person(words, roles->list[i].name)) continue;
        out->role_ids[out->count++] = roles->list[i].id;
        out->by_name |= by_name;
        int status = by_name ? keep_name_tokens(parts->encoder, roles->list[i].name, out, error) : CT_OK;
        if (status) return status;
    }
    return CT_OK;
}

int ct_speaker_find(const ct_recall_parts *parts, const ct_query *query, const ct_words *words,
                    const int64_t *role_ids, size_t role_count, ct_speakers *out, ct_error *error) {
    ct_roles roles = {.count = 0};
    ct_speakers found = {.count = 0};
    naming names[CT_ROLES_MAX];
    int status = ct_store_roles(parts->store, role_ids, role_count, &roles, error);
    for (size_t i = 0; !status && i < roles.count; i++)
        status = find_naming(parts->store, query, words, roles.list[i].name, &names[i], error);
    if (!status) status = choose(parts, words, &roles, names, &found, error);
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
