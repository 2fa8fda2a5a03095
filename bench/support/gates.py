"""What these benches keep of a gate's decisions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cortext import GateEvent
from support.streams import Channel, Kind, Piece, Places, Stream

__all__ = ["TERMS", "Decision", "decisions"]

# What the rule is told of a segment, and what comes of it.
TOLD = ("relevance", "novelty", "utility", "overlap", "affect", "drift", "since", "boundary")
CAME = ("bar", "refractory", "ease", "margin", "worth")
TERMS = (*TOLD, *CAME)


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


def decisions(stream: Stream, events: Sequence[GateEvent]) -> list[Decision]:
    """The gate's events of one stream, in their order."""
    places = Places(stream)
    return [_decision(stream, places, event) for event in events]


def _decision(stream: Stream, places: Places, event: GateEvent) -> Decision:
    if event.error is not None:
        raise RuntimeError(f"{stream.name}: a segment was not decided: {event.error}")
    channel = event.segment.channel
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
