"""The gate as these benches use it, and what they keep of its decisions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import cortext
from cortext.models import Model
from support.streams import Channel, Kind, Piece, Places, Stream

__all__ = [
    "TERMS",
    "Decision",
    "Event",
    "Gate",
    "Knobs",
    "Segment",
    "decisions",
    "open_gate",
    "open_store",
    "take_staged",
]

# What the rule is told of a segment, and what comes of it.
TOLD = ("relevance", "novelty", "utility", "overlap", "affect", "drift", "since", "boundary")
CAME = ("bar", "refractory", "ease", "margin", "worth")
TERMS = (*TOLD, *CAME)


class Segment(Protocol):
    """A part of a stream, as the gate cut it."""

    @property
    def text(self) -> str: ...
    @property
    def channel(self) -> str: ...


class Event(Protocol):
    """What the gate decided about a segment."""

    @property
    def segment(self) -> Segment: ...
    @property
    def should_interrupt(self) -> bool: ...
    @property
    def memories(self) -> Sequence[cortext.Hit]: ...
    @property
    def terms(self) -> object: ...
    @property
    def verdict(self) -> object: ...
    @property
    def error(self) -> str | None: ...
    @property
    def waited_ms(self) -> float: ...
    @property
    def encode_ms(self) -> float: ...
    @property
    def search_ms(self) -> float: ...
    @property
    def delay_ms(self) -> float: ...


class Gate(Protocol):
    """What a stream is fed into."""

    @property
    def limit(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    def feed(self, delta: str, channel: Channel = "text") -> Event | None: ...
    def wait(self, timeout: float | None = None) -> Sequence[Event]: ...
    def flush(self) -> Sequence[Event]: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Knobs:
    """Of the engine; see there."""

    focus: float
    sensitivity: float
    stability: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a segment, and what is known of it.

    place: of its piece in the stream.  staged: uids, the best first.  terms: None where one is no
    finite number.
    """

    stream: str
    place: int
    channel: Channel
    kind: Kind
    gold: frozenset[str]
    interrupts: bool
    staged: tuple[str, ...]
    terms: Mapping[str, float | None]

    @property
    def above(self) -> float:
        """How far the bar could rise before it stages nothing; the pause after an interruption
        holds back the interruption alone."""
        margin = self.terms["margin"]
        if margin is None:
            return -math.inf
        return margin if self.interrupts else margin + (self.terms["refractory"] or 0.0)


def open_store(
    path: Path, model: Model, knobs: Knobs | None = None
) -> AbstractContextManager[cortext.Engine]:
    """Open a store, with knobs for its gates."""
    module = cast(Any, cortext)
    values = {} if knobs is None else {"knobs": module.Knobs(**asdict(knobs))}
    return cast(AbstractContextManager[cortext.Engine], module.open(path, model=model, **values))


def open_gate(
    engine: cortext.Engine, session: str, context: Sequence[str | cortext.Message]
) -> Gate:
    """A gate for one stream."""
    return cast(Gate, cast(Any, engine).gate(session=session, context=context))


def take_staged(engine: cortext.Engine, session: str) -> None:
    """Take what the gates of a session have staged."""
    cast(Any, engine).take_staged(session)


def decisions(stream: Stream, events: Sequence[Event]) -> list[Decision]:
    """The gate's events of one stream, in their order."""
    places = Places(stream)
    return [_decision(stream, places, event) for event in events]


def _decision(stream: Stream, places: Places, event: Event) -> Decision:
    if event.error is not None:
        raise RuntimeError(f"{stream.name}: a segment was not decided: {event.error}")
    channel = cast(Channel, event.segment.channel)
    place = places.find(channel, event.segment.text)
    piece: Piece = stream.pieces[place]
    told = {name: _finite(getattr(event.terms, name)) for name in TOLD}
    came = {name: _finite(getattr(event.verdict, name)) for name in CAME}
    return Decision(
        stream=stream.name,
        place=place,
        channel=channel,
        kind=piece.kind,
        gold=piece.gold,
        interrupts=event.should_interrupt,
        staged=tuple(hit.uid or "" for hit in event.memories),
        terms=told | came,
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
