#include "recall/ct_role.h"

#include <string.h>
#include <strings.h>

int ct_role_is_tool(const char *role) {
    if (strcmp(role, "function") == 0 || strcmp(role, "toolResult") == 0) return 1;
    if (strncmp(role, "tool", 4) != 0) return 0;
    return role[4] == 0 || strchr(":_-/", role[4]) != NULL;
}

int ct_role_is_part(const char *role) {
    static const char *const parts[] = {"user", "human", "assistant", "ai", "bot", "model", "system", "developer"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcasecmp(role, parts[i]) == 0) return 1;
    return ct_role_is_tool(role);
}
