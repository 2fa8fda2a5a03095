"""Remember each haystack, ask its questions in every way, score the answers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import cortext
from cortext.models import Model
from support import rankers
from support.haystacks import Haystack, Question
from support.report import Meter, bars
from support.scoring import Board, Count, Scores

__all__ = ["evaluate", "remember", "stores"]

Score = Callable[[Question, Sequence[rankers.Ranked], Count], Scores]


def evaluate(
    haystacks: Sequence[Haystack],
    *,
    rows: Sequence[str],
    score: Score,
    depth: int,
    model: Model,
    keep: Path | None,
) -> Board:
    """Give the scores of every question in every row.

    score: of one ranking.  depth: how many hits a ranking has.  keep: a folder for the stores.
    """
    board = Board()
    rounds = [group for group in _rounds(rows) if group]
    total = sum(len(haystack.questions) for haystack in haystacks) * len(rounds)
    done = 0
    vectors = any(map(rankers.needs_vectors, rows))

    @cache
    def count(text: str) -> int:
        return len(model.tokenize(text))

    with bars() as bar, stores(keep) as folder:
        asking, embedding = bar("questions"), bar("embedding")
        asking(done, total)
        for haystack in haystacks:
            with cortext.open(folder / f"{haystack.name}.db", model=model) as engine:
                remember(engine, haystack, embedding if vectors else None)
                for group in rounds:
                    if rankers.CONSOLIDATED in group:
                        engine.consolidate()
                    ways = {row: rankers.make(row, haystack, engine, depth) for row in group}
                    for question in haystack.questions:
                        for row, rank in ways.items():
                            ranking = rank(question)
                            board.add(
                                f"{haystack.name}/{question.name}",
                                row,
                                score(question, ranking.turns, count),
                            )
                            board.judge(row, question.answerable, ranking.confidence)
                        done += 1
                        asking(done, total)
    return board


def _rounds(rows: Sequence[str]) -> tuple[list[str], list[str]]:
    """Rows by whether the store is to be consolidated first."""
    last = [row for row in rows if row == rankers.CONSOLIDATED]
    return [row for row in rows if row not in last], last


def remember(engine: cortext.Engine, haystack: Haystack, meter: Meter | None) -> None:
    """Store a haystack's turns, and wait for their vectors if there is a meter to show it."""
    engine.ingest_many(
        cortext.NewMessage(
            text=turn.text, role=turn.role, session=turn.session, time=turn.time, uid=turn.uid
        )
        for turn in haystack.turns
    )
    if meter is not None and not engine.flush(progress=meter):
        raise RuntimeError(f"not everything was embedded: {engine.stats().last_error}")


@contextmanager
def stores(keep: Path | None) -> Iterator[Path]:
    """The folder for the stores: this one, or one that is removed in the end."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="cortext-bench-") as folder:
        yield Path(folder)
