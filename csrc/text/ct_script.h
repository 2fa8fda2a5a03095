/* Scripts whose words no spaces divide, and Hangul. */
#ifndef CT_SCRIPT_H
#define CT_SCRIPT_H

#include <stdint.h>

typedef enum ct_script {
    CT_SCRIPT_OTHER = 0, /* also the digits and punctuation of the others */
    CT_SCRIPT_CJK, /* Han and kana, which mix inside a word */
    CT_SCRIPT_HANGUL,
    CT_SCRIPT_THAI,
    CT_SCRIPT_LAO,
    CT_SCRIPT_KHMER,
    CT_SCRIPT_MYANMAR,
    CT_SCRIPT_MARK,  /* belongs to the character before it */
    CT_SCRIPT_JOINS, /* so does the one after it: a stacked consonant */
} ct_script;

ct_script ct_script_of(uint32_t point);

#endif
