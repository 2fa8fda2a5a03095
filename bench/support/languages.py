"""Languages: the same 40 facts in eight languages, each among three messages on the same topic.

`data/languages/CODE.jsonl` has a line a fact: `{id, message, question, near}`.  The last of `near`
says the same of something else, in the words of the question.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from support import bm25
from support.haystacks import Haystack, Question, Turn

__all__ = ["DATA", "LANGUAGES", "Language", "read"]

DATA = Path(__file__).parents[1] / "data" / "languages"
START = 1_767_225_600_000  # 2026-01-01 UTC, in milliseconds
HOUR = 3_600_000
SESSION = 10  # messages


class Language(NamedTuple):
    """A language's name and the words of the reference BM25."""

    name: str
    words: bm25.Words


# Of what was measured, the strongest that is usual for the script; see README.md.
LANGUAGES = {
    "zh": Language("Chinese", bm25.pieces(1, 2)),
    "ja": Language("Japanese", bm25.pieces(1)),
    "th": Language("Thai", bm25.pieces(1, 2)),
    "ko": Language("Korean", bm25.pieces(1, 2)),
    "ar": Language("Arabic", bm25.folded_words),
    "ru": Language("Russian", bm25.folded_words),
    "es": Language("Spanish", bm25.folded_words),
    "de": Language("German", bm25.folded_words),
}


def read() -> Iterator[Haystack]:
    """One haystack a language."""
    for code, language in LANGUAGES.items():
        lines = (DATA / f"{code}.jsonl").read_text(encoding="utf-8").splitlines()
        messages: list[tuple[str, str]] = []
        questions = []
        for line in lines:
            entry = json.loads(line)
            uid = entry["id"]
            messages.append((uid, entry["message"]))
            messages += [(f"{uid}:{i}", text) for i, text in enumerate(entry["near"])]
            gold = frozenset([uid])
            questions.append(Question(uid, entry["question"], language.name, gold, frozenset()))
        # The same order in every language, and none in which the answer stands out.
        random.Random("languages").shuffle(messages)
        turns = tuple(
            Turn(uid, f"s{index // SESSION}", "user", text, START + index * HOUR)
            for index, (uid, text) in enumerate(messages)
        )
        yield Haystack(code, turns, tuple(questions), language.words)
