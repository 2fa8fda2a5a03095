"""Recorded streams: JSON lines of deltas, or plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from cortext import InputError, Knobs
from cortext.cli.failure import BadInput
from cortext.engine import Channel

__all__ = ["Delta", "Recording", "read"]

# Plain text is fed in pieces of so many characters, about a token each.
PIECE = 4

HEAD_FIELDS = {"session", "context", "knobs"}
DELTA_FIELDS = {"delta", "channel"}


@dataclass(frozen=True, slots=True)
class Delta:
    """What came of a stream at once."""

    text: str
    channel: Channel = "text"


@dataclass(frozen=True, slots=True)
class Recording:
    """A stream, and what its first line says of it."""

    deltas: tuple[Delta, ...]
    session: str | None = None
    context: tuple[str, ...] | None = None
    knobs: Mapping[str, float] | None = None


def read(name: str, text: str) -> Recording:
    """Read a recording.  BadInput says which line is wrong."""
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines, 1) if line.strip()), 0)
    if not first or not lines[first - 1].lstrip().startswith("{"):
        return Recording(tuple(Delta(text[at : at + PIECE]) for at in range(0, len(text), PIECE)))
    parsed = list(objects(name, lines))
    head: Mapping[str, Any] = {}
    if parsed and "delta" not in parsed[0][1]:
        head = check_head(name, *parsed.pop(0))
    deltas = tuple(check_delta(name, number, fields) for number, fields in parsed)
    context = head.get("context")
    return Recording(
        deltas, head.get("session"), None if context is None else tuple(context), head.get("knobs")
    )


def objects(name: str, lines: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of JSON lines with the numbers of those."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(name, number, f"not JSON: {error}") from None
        if not isinstance(fields, dict):
            raise BadInput(name, number, "a line must be a JSON object")
        yield number, fields


def check_names(name: str, number: int, fields: dict[str, Any], known: set[str]) -> None:
    """Refuse fields that mean nothing."""
    for field in fields:
        if field not in known:
            raise BadInput(
                name, number, f"unknown field {field!r}; known are {', '.join(sorted(known))}"
            )


def check_head(name: str, number: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the first line, when it is about the stream."""
    check_names(name, number, fields, HEAD_FIELDS)
    context, knobs = fields.get("context"), fields.get("knobs")
    session = fields.get("session", "default")
    if not isinstance(session, str) or not session or "\0" in session:
        raise BadInput(name, number, "session must be a string of one character or more, none NUL")
    if context is not None and not (
        isinstance(context, list) and all(isinstance(item, str) for item in context)
    ):
        raise BadInput(name, number, "context must be a list of strings")
    if knobs is not None and not isinstance(knobs, dict):
        raise BadInput(name, number, "knobs must be an object")
    check_names(name, number, knobs or {}, {"focus", "sensitivity", "stability"})
    for text in (session, *(context or ())):
        check_text(name, number, text)
    try:
        Knobs(**(knobs or {}))
    except InputError as error:
        raise BadInput(name, number, str(error)) from None
    return fields


def check_text(name: str, number: int, text: str) -> None:
    """Refuse half a surrogate pair, which JSON can hold and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(name, number, "half a surrogate pair, which is no character") from None


def check_delta(name: str, number: int, fields: dict[str, Any]) -> Delta:
    """Return a line with a delta."""
    check_names(name, number, fields, DELTA_FIELDS)
    text, channel = fields.get("delta"), fields.get("channel", "text")
    if not isinstance(text, str):
        raise BadInput(name, number, "a line needs a delta, a string")
    if channel not in ("text", "thinking"):
        raise BadInput(name, number, f"channel is {channel!r}; it must be text or thinking")
    return Delta(text, cast(Channel, channel))
