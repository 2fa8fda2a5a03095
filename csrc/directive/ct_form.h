/* The form of sentences: what ct_directive_sentences marks. */
#ifndef CT_FORM_H
#define CT_FORM_H

#include "ct.h"

/* What a sentence shows, each a bit of ct_sentence.marks.  Those up to CT_MARK_FOREIGN are moods that a
 * directive can have; a sentence with none of them is none.  models/make_probe.py weighs them. */
typedef enum ct_mark {
    CT_MARK_ALWAYS,   /* "always run ..." */
    CT_MARK_NEVER,    /* "never push ..." */
    CT_MARK_DONT,     /* "do not ..." */
    CT_MARK_VERB,     /* "use ..." */
    CT_MARK_STOP,     /* "stop ...ing", "avoid ..." */
    CT_MARK_ENSURE,   /* "make sure ..." */
    CT_MARK_PREFER,   /* "prefer ...", "assume ..." */
    CT_MARK_NAME,     /* "call me ..." */
    CT_MARK_WANT,     /* "I want you to ..." */
    CT_MARK_MUST,     /* "you must ..." */
    CT_MARK_NEEDS,    /* "every ... must ..." */
    CT_MARK_ASKS,     /* "could you ..." */
    CT_MARK_FRAGMENT, /* "no ..." */
    CT_MARK_FOREIGN,  /* a set phrase of another language */
    CT_MARK_REMINDER, /* "don't forget" */
    CT_MARK_SCOPE,    /* "from now on", "in this project" */
    CT_MARK_OCCASION, /* "whenever" */
    CT_MARK_EVERY,    /* "every" */
    CT_MARK_CONSTANT, /* "always", "never" */
    CT_MARK_PLEASE,
    CT_MARK_ONCE,     /* "tomorrow" */
    CT_MARK_THIS,     /* "this", "it" */
    CT_MARK_THE,
    CT_MARK_FIRST,    /* "I", "we" */
    CT_MARK_SECOND,   /* "you" */
    CT_MARK_YOUR,
    CT_MARK_A,
    CT_MARK_PLURAL,   /* "emojis" */
    CT_MARK_MANNER,   /* a verb of how to do things: "use", "keep", "write" */
    CT_MARK_OUTPUT,   /* what an assistant makes: "answers", "commits" */
    /* The same right behind the verb, where they say whether it is done once to one thing. */
    CT_MARK_OBJECT_THE,
    CT_MARK_OBJECT_THIS,
    CT_MARK_OBJECT_A,
    CT_MARK_OBJECT_ME,
    CT_MARK_OBJECT_PLURAL,
    CT_MARK_LATER,    /* the mood is not that of the first clause */
    CT_MARK_SHORT,    /* at most three words */
    CT_MARK_LONG,     /* more than twenty */
    CT_MARK_COUNT
} ct_mark;

/* Marks of one sentence, and whether it lifts a directive. */
void ct_form_read(const char *text, size_t bytes, ct_sentence *sentence);

/* Of ct_directive_kind, by its words: whether it changes something, or names the user. */
int32_t ct_form_kind(const char *text, size_t bytes);

/* The byte after the quoted stretch that begins at `text`, 0 when none does. */
size_t ct_form_quote(const char *text, size_t bytes);

#endif
