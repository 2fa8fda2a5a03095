"""A gate run: fill the stores, feed every stream, then time some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

import cortext
from cortext import models
from cortext.models import Model
from support import think_aloud
from support.annotated import Annotated
from support.evaluation import remember
from support.gate_feeding import Timed, call_nothing, feed, feed_paced
from support.gate_tables import Found, Source
from support.haystacks import Haystack, Question
from support.report import Meter, bars
from support.streams import Stream, chat

__all__ = ["Plan", "Run"]

CALLS_OF_NOTHING = 1000

Context = tuple[str | int, ...]  # texts, or indexes of the haystack's turns


@dataclass(frozen=True, slots=True)
class Plan:
    """What the options say; `limit` and `chats` are of a conversation, None for all."""

    knobs: cortext.Knobs
    with_question: bool
    limit: int | None
    chats: int | None
    timed: int
    pace: float
    model: str | None
    cache: str | None

    def questions(self, haystack: Haystack) -> list[Question]:
        """Those that can be scored: this choice is all that is read of their labels here."""
        asked = [q for q in haystack.questions if q.answerable and q.gold_turns]
        return asked[: self.limit]

    def stream(self, haystack: Haystack, question: Question) -> Stream:
        """Somebody thinks aloud about a question."""
        return think_aloud.stream(f"{haystack.name}/{question.name}", question.text)

    def context(self, question: Question) -> Context:
        """What they have before them."""
        return (question.text,) if self.with_question else ()


@dataclass(slots=True)
class Run:
    """Quality first, in stores that are kept until the times are taken as well."""

    plan: Plan
    folder: Path  # of the stores
    scratch: Path  # of those that are never kept
    found: Found = field(default_factory=Found)

    def all(self, haystacks: Sequence[Haystack], items: Sequence[Annotated]) -> None:
        """Of the annotated streams, and of the conversations."""
        model = models.load(self.plan.model, cache=self.plan.cache)
        with bars() as bar:
            for split in dict.fromkeys(item.split for item in items):
                of = [item for item in items if item.split == split]
                self._add(self._own(f"own, {split}", of, model, bar(f"own, {split}")))
            if haystacks:
                self._add(self._think_aloud(haystacks, model, bar("think-aloud")))
                if len(haystacks) > 1:
                    self._add(self._foreign(haystacks, model, bar("foreign questions")))
                self._add(self._chat(haystacks, model, bar("ordinary chat")))
            if self.plan.timed:
                self._time(haystacks, items, bar("times"))

    def _add(self, source: Source) -> None:
        if source.fed:
            self.found.sources.append(source)

    def _own(self, name: str, items: Sequence[Annotated], model: Model, meter: Meter) -> Source:
        source = Source(name, asked="each sentence that is about something")
        for done, item in enumerate(items, 1):
            stream, haystack = item.stream, item.haystack
            with cortext.open(self._own_path(item), model=model, knobs=self.plan.knobs) as engine:
                remember(engine, haystack, _silent)
                fed = feed(engine, stream, _context(engine, haystack, item.context))
                about = [piece for piece in stream.pieces if piece.gold]
                found = [piece.gold & _recall(engine, piece.text, fed.limit) for piece in about]
            source.fed.append(fed)
            source.labelled.append(stream)
            source.gold[stream.name] = _union(piece.gold for piece in about)
            source.recalled[stream.name] = _union(found)
            meter(done, len(items))
        return source

    def _think_aloud(self, haystacks: Sequence[Haystack], model: Model, meter: Meter) -> Source:
        plan, source = self.plan, Source("think-aloud", asked="the question")
        total = sum(len(plan.questions(haystack)) for haystack in haystacks)
        for haystack in haystacks:
            with cortext.open(self._path(haystack), model=model, knobs=plan.knobs) as engine:
                remember(engine, haystack, _silent)
                for question in plan.questions(haystack):
                    stream = plan.stream(haystack, question)
                    fed = feed(engine, stream, _context(engine, haystack, plan.context(question)))
                    source.fed.append(fed)
                    source.gold[stream.name] = question.gold_turns
                    source.recalled[stream.name] = _recall(
                        engine, question.text, fed.limit, time=question.time
                    )
                    meter(len(source.fed), total)
        return source

    def _foreign(self, haystacks: Sequence[Haystack], model: Model, meter: Meter) -> Source:
        """Questions of another conversation, which this one cannot answer."""
        plan, source = self.plan, Source("foreign questions")
        pairs = list(zip(haystacks, [*haystacks[1:], haystacks[0]], strict=True))
        total = sum(len(plan.questions(other)) for _, other in pairs)
        for haystack, other in pairs:
            with cortext.open(self._path(haystack), model=model, knobs=plan.knobs) as engine:
                for question in plan.questions(other):
                    stream = plan.stream(other, question)
                    pieces = tuple(
                        replace(piece, kind="foreign")
                        for piece in stream.pieces
                        if piece.kind == "about"
                    )
                    asked = Stream(f"foreign {stream.name}", pieces)
                    before = _context(engine, haystack, plan.context(question))
                    source.fed.append(feed(engine, asked, before))
                    meter(len(source.fed), total)
        return source

    def _chat(self, haystacks: Sequence[Haystack], model: Model, meter: Meter) -> Source:
        """Each session while the store has those before it, and no more."""
        source = Source("ordinary chat")
        streams = [list(chat(haystack))[: self.plan.chats] for haystack in haystacks]
        total = sum(map(len, streams))
        for haystack, of in zip(haystacks, streams, strict=True):
            left = dict(of)
            path = self.scratch / f"chat-{haystack.name}.db"
            with cortext.open(path, model=model, knobs=self.plan.knobs) as engine:
                for session, turns in groupby(haystack.turns, key=lambda turn: turn.session):
                    if session in left:
                        source.fed.append(feed(engine, left.pop(session)))
                        meter(len(source.fed), total)
                    if not left:
                        break
                    remember(engine, Haystack(session, tuple(turns), ()), _silent)
        return source

    def _time(
        self, haystacks: Sequence[Haystack], items: Sequence[Annotated], meter: Meter
    ) -> None:
        """At the plan's pace, and as fast as it can be fed; no cache spares the encoding."""
        model = models.load(self.plan.model)
        sorts = {f"{self.plan.pace:g} deltas a second": self.plan.pace, "back to back": None}
        self.found.timed = {name: Timed() for name in sorts}
        chosen = list(self._to_time(haystacks, items))
        done, total = 0, len(chosen) * len(sorts)
        for path, haystack, context, stream in chosen:
            with cortext.open(path, model=model, knobs=self.plan.knobs) as engine:
                engine.recall("warm up")
                for name, pace in sorts.items():
                    timed = self.found.timed[name]
                    before = _context(engine, haystack, context)
                    for every in (False, True):
                        feed_paced(engine, stream, timed, pace=pace, every=every, context=before)
                    done += 1
                    meter(done, total)
        nothing = self.found.timed["a call that does nothing"] = Timed()
        call_nothing(CALLS_OF_NOTHING, nothing, pace=self.plan.pace)

    def _to_time(
        self, haystacks: Sequence[Haystack], items: Sequence[Annotated]
    ) -> Iterator[tuple[Path, Haystack, Context, Stream]]:
        """The first of our own streams, and the first of each conversation."""
        for item in items[: self.plan.timed]:
            yield self._own_path(item), item.haystack, item.context, item.stream
        each = -(-self.plan.timed // max(1, len(haystacks)))
        for haystack in haystacks:
            for question in self.plan.questions(haystack)[:each]:
                stream = self.plan.stream(haystack, question)
                yield self._path(haystack), haystack, self.plan.context(question), stream

    def _path(self, haystack: Haystack) -> Path:
        return self.folder / f"{haystack.name}.db"

    def _own_path(self, item: Annotated) -> Path:
        return self.folder / f"gate-{item.haystack.name}.db"


def _context(
    engine: cortext.Engine, haystack: Haystack, context: Context
) -> list[str | cortext.Message]:
    """The messages for their indexes."""
    if not any(isinstance(known, int) for known in context):
        return [known for known in context if isinstance(known, str)]
    stored = {message.uid: message for message in engine.messages(limit=1000)}
    return [
        stored[haystack.turns[known].uid] if isinstance(known, int) else known for known in context
    ]


def _recall(
    engine: cortext.Engine, query: str, limit: int, *, time: int | None = None
) -> frozenset[str]:
    found = engine.recall(query, limit=limit, reference_time=time)
    return frozenset(hit.uid or "" for hit in found.hits)


def _union(sets: Iterator[frozenset[str]] | Sequence[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _silent(_done: int, _total: int) -> None:
    """Embedding has no bar of its own."""
