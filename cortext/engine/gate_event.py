"""What a gate makes of a segment."""

from __future__ import annotations

from typing import NamedTuple

from cortext import _native
from cortext.engine import convert
from cortext.engine.gate_types import GateSegment, GateTerms, GateVerdict
from cortext.engine.types import Hit

__all__ = ["GateEvent"]


class _Fields(NamedTuple):
    segment: GateSegment
    at_boundary: bool
    memories: tuple[Hit, ...]
    terms: GateTerms
    verdict: GateVerdict
    error: str | None
    waited_ms: float
    encode_ms: float
    search_ms: float
    delay_ms: float


class GateEvent:
    """What was decided about one segment.  It does not change, and any thread may read it.

    All but `should_interrupt` is made when it is first asked for, so that `Gate.feed` takes
    microseconds with an event, too: the first look takes some 30 microseconds for each memory.
    """

    __slots__ = ("_content", "_should_interrupt")

    def __init__(self, decision: _native.Decision) -> None:
        """Not for users: `Gate.feed` and its kin give them."""
        self._content: _native.Decision | _Fields = decision
        self._should_interrupt = decision.should_interrupt

    def __repr__(self) -> str:
        does = "interrupts" if self.should_interrupt else "stages" if self.memories else "passes"
        return f"<cortext.GateEvent {does} {self.segment.text!r} memories={len(self.memories)}>"

    @property
    def should_interrupt(self) -> bool:
        """Whether what it staged is worth an interruption now."""
        return self._should_interrupt

    @property
    def segment(self) -> GateSegment:
        """What it is about."""
        return self._read().segment

    @property
    def at_boundary(self) -> bool:
        """Whether a topic, a paragraph or the turn begins or ends here."""
        return self._read().at_boundary

    @property
    def memories(self) -> tuple[Hit, ...]:
        """What it staged, best first, `score` is the relevance of each; empty for most."""
        return self._read().memories

    @property
    def terms(self) -> GateTerms:
        """What the rule was told."""
        return self._read().terms

    @property
    def verdict(self) -> GateVerdict:
        """What the rule said."""
        return self._read().verdict

    @property
    def error(self) -> str | None:
        """Why it could not be decided, or what could not be taken in as known; normally None."""
        return self._read().error

    @property
    def waited_ms(self) -> float:
        """From the end of the segment until it was looked at."""
        return self._read().waited_ms

    @property
    def encode_ms(self) -> float:
        """Spent on embedding it."""
        return self._read().encode_ms

    @property
    def search_ms(self) -> float:
        """Spent on looking it up and deciding."""
        return self._read().search_ms

    @property
    def delay_ms(self) -> float:
        """From the end of the segment to the decision: all of that."""
        return self._read().delay_ms

    def __getstate__(self) -> tuple[bool, _Fields]:
        return self._should_interrupt, self._read()

    def __setstate__(self, state: tuple[bool, _Fields]) -> None:
        self._should_interrupt, self._content = state

    def _read(self) -> _Fields:
        content = self._content
        if not isinstance(content, _Fields):
            self._content = content = _to_fields(content.read())
        return content


def _to_fields(row: _native.DecisionRow) -> _Fields:
    waited, encode, search, total = row.times_ns
    return _Fields(
        segment=GateSegment(text=row.text, start=row.start, end=row.end, channel=row.channel),
        at_boundary=row.verdict.at_boundary,
        memories=tuple(convert.to_hit(staged, explain=False) for staged in row.staged),
        terms=GateTerms(**row.view._asdict()),
        verdict=GateVerdict(**row.verdict._asdict()),
        error=row.failure,
        waited_ms=waited / 1e6,
        encode_ms=encode / 1e6,
        search_ms=search / 1e6,
        delay_ms=total / 1e6,
    )
