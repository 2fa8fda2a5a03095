#include "text/ct_script.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    CJK = CT_SCRIPT_CJK,
    HANGUL = CT_SCRIPT_HANGUL,
    THAI = CT_SCRIPT_THAI,
    LAO = CT_SCRIPT_LAO,
    KHMER = CT_SCRIPT_KHMER,
    MYANMAR = CT_SCRIPT_MYANMAR,
    MARK = CT_SCRIPT_MARK,
    JOINS = CT_SCRIPT_JOINS,
};

typedef struct range {
    uint32_t first;
    uint32_t last : 24;
    uint32_t script : 8;
} range;

/* Sorted.  Scripts by Unicode's Script property, marks by Grapheme_Cluster_Break (Unicode 15); their
 * digits and punctuation are left to the tokenizer. */
static const range ranges[] = {
    {0x0e01, 0x0e30, THAI},      {0x0e31, 0x0e31, MARK},      {0x0e32, 0x0e32, THAI},
    {0x0e33, 0x0e3a, MARK},      {0x0e40, 0x0e46, THAI},      {0x0e47, 0x0e4e, MARK},
    {0x0e81, 0x0eb0, LAO},       {0x0eb1, 0x0eb1, MARK},      {0x0eb2, 0x0eb2, LAO},
    {0x0eb3, 0x0ebc, MARK},      {0x0ebd, 0x0ec6, LAO},       {0x0ec8, 0x0ece, MARK},
    {0x0edc, 0x0edf, LAO},       {0x1000, 0x102a, MYANMAR},   {0x102b, 0x1038, MARK},
    {0x1039, 0x1039, JOINS},     {0x103a, 0x103e, MARK},      {0x103f, 0x103f, MYANMAR},
    {0x1050, 0x1055, MYANMAR},   {0x1056, 0x1059, MARK},      {0x105a, 0x105d, MYANMAR},
    {0x105e, 0x1060, MARK},      {0x1061, 0x1061, MYANMAR},   {0x1062, 0x1064, MARK},
    {0x1065, 0x1066, MYANMAR},   {0x1067, 0x106d, MARK},      {0x106e, 0x1070, MYANMAR},
    {0x1071, 0x1074, MARK},      {0x1075, 0x1081, MYANMAR},   {0x1082, 0x108d, MARK},
    {0x108e, 0x108e, MYANMAR},   {0x108f, 0x108f, MARK},      {0x109a, 0x109d, MARK},
    {0x1100, 0x115f, HANGUL},    {0x1160, 0x11ff, MARK},      {0x1780, 0x17b3, KHMER},
    {0x17b4, 0x17d1, MARK},      {0x17d2, 0x17d2, JOINS},     {0x17d3, 0x17d3, MARK},
    {0x17d7, 0x17d7, KHMER},     {0x17dc, 0x17dc, KHMER},     {0x17dd, 0x17dd, MARK},
    {0x2e80, 0x2fd5, CJK},       {0x3005, 0x3007, CJK},       {0x3021, 0x3029, CJK},
    {0x3031, 0x3035, CJK},       {0x3038, 0x303b, CJK},       {0x3041, 0x3096, CJK},
    {0x3099, 0x309a, MARK},      {0x309d, 0x309f, CJK},       {0x30a1, 0x30fa, CJK},
    {0x30fc, 0x30ff, CJK},       {0x3105, 0x312f, CJK},       {0x3131, 0x318e, HANGUL},
    {0x31a0, 0x31bf, CJK},       {0x31f0, 0x31ff, CJK},       {0x3400, 0x4dbf, CJK},
    {0x4e00, 0x9fff, CJK},       {0xa960, 0xa97c, HANGUL},    {0xa9e0, 0xa9e4, MYANMAR},
    {0xa9e5, 0xa9e5, MARK},      {0xa9e6, 0xa9ef, MYANMAR},   {0xa9fa, 0xa9fe, MYANMAR},
    {0xaa60, 0xaa76, MYANMAR},   {0xaa7a, 0xaa7a, MYANMAR},   {0xaa7b, 0xaa7d, MARK},
    {0xaa7e, 0xaa7f, MYANMAR},   {0xac00, 0xd7a3, HANGUL},    {0xd7b0, 0xd7fb, MARK},
    {0xf900, 0xfad9, CJK},       {0xff66, 0xff9d, CJK},       {0xff9e, 0xff9f, MARK},
    {0x1aff0, 0x1b16f, CJK},     {0x20000, 0x323af, CJK},
};

ct_script ct_script_of(uint32_t c) {
    if (c < ranges[0].first) return CT_SCRIPT_OTHER;
    size_t low = 0, high = COUNT(ranges);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c > ranges[middle].last) low = middle + 1;
        else if (c < ranges[middle].first) high = middle;
        else return (ct_script)ranges[middle].script;
    }
    return CT_SCRIPT_OTHER;
}
