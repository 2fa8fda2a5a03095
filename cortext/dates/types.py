"""What the finders return."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

__all__ = ["EXAMINED", "MOST", "Anchor", "TimeSpan"]

EXAMINED = 2000  # characters of a text that are looked at; a longer query is no question
MOST = 32  # times that are returned


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time that a text names: from `start` up to but not including `end`, both aware, in UTC.

    "before 2020" has no start and "until May" none either: theirs is `datetime.min`.
    """

    start: datetime
    end: datetime
    text: str
    """The words of the text that name it, as they stand there."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that a text names to say when something was."""

    relation: Literal["before", "after", "during"]
    text: str
    """The event as the text has it, without the conjunction: "my trip to Rome"."""
