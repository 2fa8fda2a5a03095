"""What a quality data set comes down to: turns to remember, questions whose evidence is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from support import bm25

__all__ = ["DataError", "Haystack", "Question", "Reader", "Turn"]


class DataError(Exception):
    """A file is not what the data set's format says."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation; `uid` is what gold labels name."""

    uid: str
    session: str
    role: str
    text: str
    time: int  # milliseconds since 1970 UTC


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one haystack; the gold labels are for scoring only."""

    name: str
    text: str
    category: str
    gold_turns: frozenset[str]
    gold_sessions: frozenset[str]
    answerable: bool = True
    time: int | None = None  # when it is asked, milliseconds since 1970 UTC
    beside: frozenset[str] = frozenset()  # turns as true as the gold ones, which look like them
    superseded: Mapping[str, str] = field(default_factory=dict)  # in the store: old turn -> new


@dataclass(frozen=True, slots=True)
class Haystack:
    """One store's worth: turns in order, and the questions asked of it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    words: bm25.Words = bm25.words  # of the reference BM25


Reader = Callable[[tuple[Path, ...]], Iterator[Haystack]]
