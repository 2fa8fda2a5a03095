"""Ways to rank a haystack's turns for a question: the engine, its stages alone, a plain BM25."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cortext
from cortext.engine import STAGES, Stage
from support.bm25 import Bm25
from support.haystacks import Haystack, Question

__all__ = [
    "ABLATION",
    "CONSOLIDATED",
    "EXTRA_ROWS",
    "ROWS",
    "Ranked",
    "Ranker",
    "Ranking",
    "make",
    "needs_vectors",
]

USED: dict[str, Sequence[Stage]] = {
    "engine": STAGES,  # as users call it
    "dense only": ("dense",),
    "BM25 only": ("lexical",),
}
BUDGET = "engine in 1000 tokens"
BUDGET_TOKENS = 1000
REFERENCE = "reference BM25"
ROWS = (*USED, REFERENCE)
CONSOLIDATED = "engine consolidated"
EXTRA_ROWS = (BUDGET, CONSOLIDATED)  # only when asked for

# Each stage left out of the whole, and each added to those before it.
USED |= {f"without {stage}": [other for other in STAGES if other != stage] for stage in STAGES}
USED |= {f"... + {stage}": STAGES[: place + 1] for place, stage in enumerate(STAGES) if place}
ABLATION = (*USED, REFERENCE)
USED[CONSOLIDATED] = STAGES  # in a store that is consolidated by then


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranked turn."""

    uid: str
    session: str
    text: str
    superseded_by: tuple[str, ...] = ()  # turns it says have replaced it


@dataclass(frozen=True, slots=True)
class Ranking:
    """Turns, best first, and how sure the ranker is that they answer; None: it does not say."""

    turns: list[Ranked]
    confidence: float | None = None


Ranker = Callable[[Question], Ranking]


def needs_vectors(row: str) -> bool:
    """Whether a row's ranking waits for embeddings."""
    return row not in ("BM25 only", REFERENCE)


def make(row: str, haystack: Haystack, engine: cortext.Engine, limit: int) -> Ranker:
    """The ranker of a row over a store that holds the haystack."""
    if row == REFERENCE:
        return _reference(haystack, limit)
    if row == BUDGET:
        return _budget(engine, limit)
    return _recall(engine, USED[row], limit, wait_ms=200 if needs_vectors(row) else 0)


def _recall(engine: cortext.Engine, stages: Sequence[Stage], limit: int, *, wait_ms: int) -> Ranker:
    def rank(question: Question) -> Ranking:
        found = engine.recall(
            question.text,
            limit=limit,
            stages=stages,
            wait_ms=wait_ms,
            reference_time=question.time,
        )
        turns = [
            Ranked(hit.uid or "", hit.session, hit.text, _superseded_by(engine, hit))
            for hit in found.hits
        ]
        return Ranking(turns, found.confidence)

    return rank


def _budget(engine: cortext.Engine, limit: int) -> Ranker:
    """What fits the budget, and what is attached to a hit right around it."""

    def rank(question: Question) -> Ranking:
        found = engine.recall(
            question.text, limit=limit, budget_tokens=BUDGET_TOKENS, reference_time=question.time
        )
        shown = (turn for hit in found for turn in (*hit.before, hit, *hit.after))
        turns = [Ranked(turn.uid or "", turn.session, turn.text) for turn in shown]
        return Ranking(turns, found.confidence)

    return rank


def _superseded_by(engine: cortext.Engine, hit: cortext.Hit) -> tuple[str, ...]:
    """The uids of what a hit names as newer; hits of an engine without links name nothing."""
    return tuple(engine.get(id).uid or "" for id in getattr(hit, "superseded_by", ()))


def _reference(haystack: Haystack, limit: int) -> Ranker:
    turns = haystack.turns
    index = Bm25([f"{turn.role} {turn.text}" for turn in turns], words=haystack.words)

    def rank(question: Question) -> Ranking:
        found = (turns[i] for i in index.rank(question.text, limit))
        return Ranking([Ranked(turn.uid, turn.session, turn.text) for turn in found])

    return rank
