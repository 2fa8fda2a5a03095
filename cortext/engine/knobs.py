"""Three knobs: how much comes up, what lowers the bar, how calm it stays."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cortext import _native
from cortext.errors import InputError

__all__ = ["KnobValues", "Knobs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobValues:
    """What knobs stand for; all but the limits are shares of 1.

    recall_limit: hits of a recall that names no limit.
    gate_limit: most messages that one segment of a stream brings up.
    bar: relevance that the gate asks for.
    relaxed: taken off the bar where the segment is full of affect.
    pause: added to the bar right after an interruption.
    halved: segments after which half of that is left.
    ease: taken off the bar at a boundary.
    """

    recall_limit: int
    gate_limit: int
    bar: float
    relaxed: float
    pause: float
    halved: float
    ease: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """Settings of recall and of the gate, 0 to 1 each.  InputError for any other value.

    focus: few and certain.  It narrows how much a recall and a segment bring up (16 hits down to 3,
        6 messages down to 2) and raises the relevance that the gate asks for.
    sensitivity: how much affect lowers the gate's bar: a segment that is full of feeling brings up
        what a plain one does not.
    stability: how long the gate pauses after an interruption, and how little a boundary, where a
        topic or a turn ends, shortens that.
    """

    focus: float = 0.45
    sensitivity: float = 0.5
    stability: float = 0.5

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not 0 <= value <= 1:
                raise InputError(f"{field.name} is {value!r}; it must be a number from 0 to 1")

    @property
    def values(self) -> KnobValues:
        """What they stand for, each a linear function of one knob."""
        read = _native.read_knobs((self.focus, self.sensitivity, self.stability))
        return KnobValues(**read._asdict())
