/* What a role's name says: most are no names of persons. */
#ifndef CT_ROLE_H
#define CT_ROLE_H

/* What a program prints: "tool", "function", "tool:NAME", "toolResult". */
int ct_role_is_tool(const char *role);

/* A part in a chat, such as "user" or "system", which a query that holds the word does not mean. */
int ct_role_is_part(const char *role);

#endif
