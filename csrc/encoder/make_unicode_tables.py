"""Writes ct_unicode_tables.h, what ct_wordpiece_text.c knows about characters.

The tables must be those of the tokenizer that models were trained with, which mixes Unicode
versions: its categories stop at Unicode 8, its decompositions at Unicode 9, and its lower case is
recent.  So nothing is taken from a Unicode version directly: every code point is put through the
`tokenizers` library, and the answers are written down.  Python's unicodedata only says which code
points llama.cpp may see differently.

    pip install tokenizers==0.23.3
    python csrc/encoder/make_unicode_tables.py            # Python 3.11: Unicode 14.0.0
    python csrc/encoder/make_unicode_tables.py --check
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import tokenizers
from tokenizers import normalizers, pre_tokenizers

OUTPUT = Path(__file__).resolve().parent / "ct_unicode_tables.h"
TOKENIZERS = "0.23.3"
UNICODE = "14.0.0"

DROP, SPACE, ALONE, FOREIGN, PLAIN = "CT_DROP", "CT_SPACE", "CT_ALONE", "CT_FOREIGN", ""
HANGUL = range(0xAC00, 0xD7A4)
WORD_START = 0x2581  # marks the start of a word in llama.cpp's spelling of the vocabulary

HEAD = f"""\
/* Made by make_unicode_tables.py with tokenizers {TOKENIZERS} and, for what llama.cpp sees
 * differently, the Unicode Character Database {UNICODE}.  Do not edit.
 *
 * What becomes of a character in BERT's tokenizer (BertNormalizer with lower case, then
 * BertPreTokenizer).  ASCII and Hangul syllables are left out: code knows them. */
#ifndef CT_UNICODE_TABLES_H
#define CT_UNICODE_TABLES_H

#include <stdint.h>

enum {{
    CT_PLAIN = 0, /* part of a word */
    CT_DROP,      /* removed: control characters, private use, accents */
    CT_SPACE,     /* ends a word */
    CT_ALONE,     /* a word of its own: punctuation, ideographs */
    CT_FOREIGN,   /* part of a word to BERT, but llama.cpp would remove it or split there; no
                     vocabulary holds it, so the word is unknown as a whole */
}};

typedef struct ct_unicode_kind {{
    uint32_t first;
    uint32_t last : 24;
    uint32_t kind : 8;
}} ct_unicode_kind;

/* first, first + step, ... last become themselves + delta. */
typedef struct ct_unicode_shift {{
    uint32_t first;
    uint32_t last : 24;
    uint32_t step : 8;
    int32_t delta;
}} ct_unicode_shift;

typedef struct ct_unicode_split {{
    uint32_t point;
    uint32_t into[3]; /* 0: no more */
}} ct_unicode_split;
"""


class Reference:
    """What the `tokenizers` library does to one character."""

    def __init__(self) -> None:
        def bert(**on: bool) -> Callable[[str], str]:
            off = dict.fromkeys(
                ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), False
            )
            return normalizers.BertNormalizer(**(off | on)).normalize_str

        self.clean = bert(clean_text=True)
        self.chinese = bert(handle_chinese_chars=True)
        self.fold = bert(strip_accents=True, lowercase=True)
        self.split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str

    def kind(self, c: str) -> str:
        """Return the kind of a character that is left after folding."""
        cleaned = self.clean(f"a{c}b")
        if cleaned != f"a{c}b":
            return {"ab": DROP, "a b": SPACE}[cleaned]
        if self.fold(c) == "":
            return DROP
        if self.chinese(c) != c or len(self.split(f"a{c}b")) > 1:
            return ALONE
        category = unicodedata.category(c)
        ideograph = unicodedata.name(c, "").startswith("CJK UNIFIED IDEOGRAPH")
        if category[0] in "CPZ" or ideograph or ord(c) == WORD_START:
            return FOREIGN
        return PLAIN


def points() -> Iterator[int]:
    """Yield the code points that the tables speak of."""
    for point in range(0x80, 0x110000):
        if point not in HANGUL and not 0xD800 <= point < 0xE000:
            yield point


def kinds(reference: Reference) -> list[tuple[int, int, str]]:
    """Return (first, last, kind) of all that are not plain."""
    ranges: list[tuple[int, int, str]] = []
    for point in points():
        kind = reference.kind(chr(point))
        if ranges and ranges[-1][1:] == (point - 1, kind):
            ranges[-1] = (ranges[-1][0], point, kind)
        else:
            ranges.append((point, point, kind))
    return [entry for entry in ranges if entry[2] != PLAIN]


def folds(reference: Reference) -> dict[int, str]:
    """Return what code points become when decomposed, stripped of accents and lower-cased.

    Canonical reordering is left out: it moves accents, which go, and otherwise only characters that
    no vocabulary holds.
    """
    found: dict[int, str] = {}
    for point in points():
        c = chr(point)
        if reference.kind(c) in (DROP, SPACE):
            continue  # what it would fold to does not matter
        folded = reference.fold(c)
        if folded == c:
            continue
        # The code asks for the kind after folding; the library asks "ideograph?" before.
        if (reference.chinese(c) != c) != any(reference.chinese(r) != r for r in folded):
            raise SystemExit(f"U+{point:04X} changes its kind by folding")
        if not 1 <= len(folded) <= 3 or any(reference.fold(r) != r for r in folded):
            raise SystemExit(f"U+{point:04X} folds in a way the tables cannot say")
        if any(reference.kind(r) in (DROP, SPACE) for r in folded if ord(r) >= 0x80):
            raise SystemExit(f"U+{point:04X} folds to something that is dropped")
        found[point] = folded
    return found


def shifts(single: dict[int, int]) -> list[tuple[int, int, int, int]]:
    """Return (first, last, step, delta), greedily as long as they get; ranges do not overlap."""
    runs: list[tuple[int, int, int, int]] = []
    for point, target in sorted(single.items()):
        delta = target - point
        if runs:
            first, last, step, previous = runs[-1]
            gap = point - last
            if previous == delta and gap in (1, 2) and (first == last or gap == step):
                runs[-1] = (first, point, gap, delta)
                continue
        runs.append((point, point, 1, delta))
    return runs


def rows(entries: list[str], width: int = 100) -> Iterator[str]:
    """Yield the entries as lines of C."""
    line = "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > width:
            yield line
            line = "   "
        line += f" {entry},"
    yield line


def text() -> str:
    """Return the whole header."""
    reference = Reference()
    by_kind = kinds(reference)
    folded = folds(reference)
    single = shifts({point: ord(to) for point, to in folded.items() if len(to) == 1})
    several = [(point, [*map(ord, to)]) for point, to in sorted(folded.items()) if len(to) > 1]
    out = [HEAD]
    for name, kind, entries in (
        ("kinds", "kind", [f"{{0x{a:X}, 0x{b:X}, {k}}}" for a, b, k in by_kind]),
        ("shifts", "shift", [f"{{0x{a:X}, 0x{b:X}, {s}, {d}}}" for a, b, s, d in single]),
        ("splits", "split", [f"{{0x{p:X}, {{{', '.join(map(hex, to))}}}}}" for p, to in several]),
    ):
        out += [
            f"static const ct_unicode_{kind} ct_unicode_{name}[] = {{",
            *rows(entries),
            "};",
            "",
        ]
    out += ["#endif", ""]
    return "\n".join(out)


def main() -> None:
    """Write or check the header."""
    parser = argparse.ArgumentParser(description="Write ct_unicode_tables.h.")
    parser.add_argument("--check", action="store_true", help="compare with the file, write nothing")
    check = parser.parse_args().check
    if (tokenizers.__version__, unicodedata.unidata_version) != (TOKENIZERS, UNICODE):
        raise SystemExit(
            f"this needs tokenizers {TOKENIZERS} and a Python with Unicode {UNICODE} (3.11); found "
            f"{tokenizers.__version__} and {unicodedata.unidata_version}"
        )
    made = text()
    if not check:
        OUTPUT.write_text(made, encoding="ascii", newline="\n")
    elif OUTPUT.read_text(encoding="ascii") != made:
        sys.exit(f"{OUTPUT.name} differs from what this script makes")


if __name__ == "__main__":
    main()
