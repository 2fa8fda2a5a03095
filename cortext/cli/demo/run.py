"""What the demo measures: storing the conversation, and asking about it."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import click

import cortext
from cortext import NewMessage, Recall
from cortext.cli.demo.data import Question
from cortext.cli.output import hit_fields
from cortext.cli.progress import meter

__all__ = ["DEPTH", "Answer", "Stored", "ask", "results", "store"]

# A question counts as found when its evidence is among this many hits.
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Stored:
    """How storing went.

    acks: milliseconds until each message was durable; empty if an earlier demo's store was there.
    """

    messages: int
    acks: tuple[float, ...]
    store_seconds: float
    embed_seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a question.  `milliseconds`: as the caller waited for it."""

    question: Question
    recall: Recall
    milliseconds: float

    @property
    def rank(self) -> int | None:
        """The place of the first hit that is evidence, from 1, or None."""
        uids = [hit.uid for hit in self.recall.hits]
        return next((n for n, uid in enumerate(uids, 1) if uid in self.question.evidence), None)

    @property
    def search(self) -> float:
        """Milliseconds from the query's embedding to the messages."""
        times = self.recall.timings
        return times.dense + times.lexical + times.late + times.fetch


def store(engine: cortext.Engine, messages: list[NewMessage]) -> Stored:
    """Store the conversation one message at a time, as it would have happened."""
    there = {message.uid for message in engine.messages(limit=len(messages) + 1)}
    if not there <= {message.uid for message in messages}:
        raise click.ClickException(f"{engine.path} holds other messages than the demo's")
    acks = []
    started = time.perf_counter()
    if len(there) < len(messages):
        with meter("storing", None) as update:
            for count, message in enumerate(messages, 1):
                before = time.perf_counter()
                engine.ingest_many([message])
                acks.append((time.perf_counter() - before) * 1000)
                update(count, len(messages), count)
    stored = time.perf_counter()
    with meter("embedding", None) as update:
        engine.flush(progress=lambda done, total: update(done, total, done))
    ended = time.perf_counter()
    return Stored(len(messages), tuple(acks), stored - started, ended - stored)


def ask(engine: cortext.Engine, question: Question) -> Answer:
    """Ask one question."""
    before = time.perf_counter()
    recall = engine.recall(question.question, limit=DEPTH)
    return Answer(question, recall, (time.perf_counter() - before) * 1000)


def found_at(answers: list[Answer], depth: int) -> int:
    """Return how many questions have evidence among the first `depth` hits."""
    return sum(1 for answer in answers if answer.rank is not None and answer.rank <= depth)


def results(stored: Stored, answers: list[Answer]) -> dict[str, Any]:
    """Return all figures, and for --json the answers behind them."""
    answerable = [answer for answer in answers if answer.question.evidence]
    absent = [answer for answer in answers if not answer.question.evidence]
    seconds = stored.store_seconds + stored.embed_seconds
    return {
        "messages": stored.messages,
        "ack_ms_p50": median(stored.acks) if stored.acks else None,
        "store_seconds": stored.store_seconds,
        "embed_seconds": stored.embed_seconds,
        "messages_per_second": stored.messages / seconds if stored.acks else None,
        "answerable": len(answerable),
        "found_at_1": found_at(answerable, 1),
        "found_at_3": found_at(answerable, 3),
        "found_at_10": found_at(answerable, DEPTH),
        "absent": len(absent),
        "absent_best_score": median_score(absent),
        "answerable_best_score": median_score(answerable),
        "recall_ms_p50": median(answer.milliseconds for answer in answers),
        "encode_ms_p50": median(answer.recall.timings.encode for answer in answers),
        "search_ms_p50": median(answer.search for answer in answers),
        "questions": [
            {
                **asdict(answer.question),
                "rank": answer.rank,
                "milliseconds": answer.milliseconds,
                "timings": asdict(answer.recall.timings),
                "hits": [hit_fields(hit) for hit in answer.recall.hits],
            }
            for answer in answers
        ],
    }


def median_score(answers: list[Answer]) -> float | None:
    """Return the median score of the best hits."""
    scores = [answer.recall.hits[0].score for answer in answers if answer.recall.hits]
    return median(scores) if scores else None
