"""Forty streams of our own in which every sentence says what it should bring up.

`data/gate.jsonl` has a line a stream: `{id, split, domain, language, feature, messages [{session,
minute, role, text}], context, segments [{channel, text, label}]}`.  `context` is what the model has
already: texts, or indexes of messages.  A label is "unrelated", "known" (only what the context has
already would fit), or the indexes of the messages that should come up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.haystacks import Haystack, Turn
from support.streams import Kind, Piece, Stream, joined

__all__ = ["SPLITS", "Annotated", "items", "read"]

DATA = Path(__file__).parents[1] / "data" / "gate.jsonl"
SPLITS = ("dev", "test")
START = 1_767_225_600_000  # 2026-01-01 UTC, in milliseconds
MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Annotated:
    """A stream with a store of its own."""

    split: str
    haystack: Haystack
    context: tuple[int | str, ...]  # indexes of turns, or texts
    stream: Stream


def items() -> list[Mapping[str, Any]]:
    """The streams as they are in the file."""
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def read(split: str | None = None) -> Iterator[Annotated]:
    """The streams of one split, or of both."""
    for item in items():
        if split in (None, item["split"]):
            yield _annotated(item)


def _annotated(item: Mapping[str, Any]) -> Annotated:
    name = item["id"]
    turns = tuple(
        Turn(f"{name}:{i}", said["session"], said["role"], said["text"], _time(said["minute"]))
        for i, said in enumerate(item["messages"])
    )
    pieces = (_piece(segment, turns) for segment in item["segments"])
    stream = Stream(name, joined(pieces))
    return Annotated(item["split"], Haystack(name, turns, ()), tuple(item["context"]), stream)


def _piece(segment: Mapping[str, Any], turns: tuple[Turn, ...]) -> Piece:
    label = segment["label"]
    if label == "unrelated" or label == "known":
        kind: Kind = "known" if label == "known" else "unrelated"
        return Piece(segment["text"], segment["channel"], kind)
    gold = frozenset(turns[index].uid for index in label)
    return Piece(segment["text"], segment["channel"], "about", gold)


def _time(minute: int) -> int:
    return START + minute * MINUTE
