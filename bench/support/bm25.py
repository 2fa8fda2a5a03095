"""A plain BM25 in Python, the yardstick for the engine's lexical stage.

Nothing is selected, stemmed or stopped, and every query word counts, so a lexical stage that
does worse than this loses something on the way.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

__all__ = ["Bm25"]

WORD = re.compile(r"\w+")


class Bm25:
    """BM25 over texts, with idf = log(1 + (N - n + .5) / (n + .5)) as Lucene has it."""

    def __init__(self, texts: Sequence[str], *, k1: float = 1.2, b: float = 0.75) -> None:
        counts = [Counter(words(text)) for text in texts]
        lengths = [count.total() for count in counts]
        average = sum(lengths) / len(lengths) if lengths else 1.0
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for index, count in enumerate(counts):
            norm = k1 * (1 - b + b * lengths[index] / average)
            for word, times in count.items():
                postings[word].append((index, times * (k1 + 1) / (times + norm)))
        self._postings = postings
        self._size = len(texts)

    def rank(self, query: str, limit: int) -> list[int]:
        """Indexes of the best texts that share a word with the query; ties in order of index."""
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(words(query)):
            found = self._postings.get(word, ())
            idf = math.log1p((self._size - len(found) + 0.5) / (len(found) + 0.5))
            for index, weight in found:
                scores[index] += idf * weight
        return sorted(scores, key=lambda index: (-scores[index], index))[:limit]


def words(text: str) -> list[str]:
    """Lower-case runs of letters, digits and underscores."""
    return WORD.findall(text.lower())
