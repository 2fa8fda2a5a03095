"""A plain BM25 in Python, the yardstick for the engine's lexical stage.

Nothing is selected, stemmed or stopped, and every query word counts, so a lexical stage that
does worse than this loses something on the way.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

__all__ = ["Bm25", "Words", "folded_words", "pieces", "words"]

WORD = re.compile(r"\w+")
LATIN = re.compile(r"[a-z0-9]+")
Words = Callable[[str], list[str]]


def words(text: str) -> list[str]:
    """Lower-case runs of letters, digits and underscores."""
    return WORD.findall(text.lower())


def folded_words(text: str) -> list[str]:
    """Runs of letters, digits and the marks on them, in compatibility form and without case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    inside = (char if unicodedata.category(char)[0] in "LMN" else " " for char in folded)
    return "".join(inside).split()


def pieces(*sizes: int) -> Words:
    """For scripts without spaces: every run of so many characters; Latin words stay whole."""

    def cut(text: str) -> Iterator[str]:
        for word in folded_words(text):
            at = 0
            for latin in LATIN.finditer(word):
                yield from grams(word[at : latin.start()])
                yield latin[0]
                at = latin.end()
            yield from grams(word[at:])

    def grams(run: str) -> Iterator[str]:
        for size in sizes:
            yield from (run[i : i + size] for i in range(len(run) - size + 1))

    return lambda text: list(cut(text))


class Bm25:
    """BM25 over texts, with idf = log(1 + (N - n + .5) / (n + .5)) as Lucene has it."""

    def __init__(
        self, texts: Sequence[str], *, words: Words = words, k1: float = 1.2, b: float = 0.75
    ) -> None:
        counts = [Counter(words(text)) for text in texts]
        lengths = [count.total() for count in counts]
        average = sum(lengths) / len(lengths) if lengths else 1.0
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for index, count in enumerate(counts):
            norm = k1 * (1 - b + b * lengths[index] / average)
            for word, times in count.items():
                postings[word].append((index, times * (k1 + 1) / (times + norm)))
        self._words = words
        self._postings = postings
        self._size = len(texts)

    def rank(self, query: str, limit: int) -> list[int]:
        """Indexes of the best texts that share a word with the query; ties in order of index."""
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(self._words(query)):
            found = self._postings.get(word, ())
            idf = math.log1p((self._size - len(found) + 0.5) / (len(found) + 0.5))
            for index, weight in found:
                scores[index] += idf * weight
        return sorted(scores, key=lambda index: (-scores[index], index))[:limit]
