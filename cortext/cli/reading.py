"""Messages from files: JSON lines, paragraphs of plain text, or one message a line.

A reader yields what it finds, good and bad, with the line it starts at, and goes on after a bad
line: whether one is an error or is counted is up to the command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

from cortext import NewMessage
from cortext.cli.times import parse_time

__all__ = ["FORMATS", "Defaults", "Item", "read"]

FORMATS = ("auto", "jsonl", "text", "lines")

TEXT_LIMIT = 16 << 20
# JSON may write one byte of text as six.
LINE_LIMIT = 6 * TEXT_LIMIT + (1 << 20)

ONE_A_LINE = "write one object a line (jq -c '.[]' FILE does)"

# `id` is ignored, so that what `cortext messages --json` prints can be read again.
FIELDS = frozenset({"id", "metadata", "role", "session", "source", "text", "time", "uid"})


# An object, or an array of objects; "[12:30] hello" is text.
JSON_START = re.compile(r"\s*(\[\s*(\{|$)|\{\s*(\"|\}|$))")


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a message gets where the input does not say."""

    session: str = "default"
    role: str = "user"
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A message or what is wrong with it, the line it starts at, and the bytes read by its end."""

    line: int
    read: int
    message: NewMessage | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, or what is wrong with it."""

    number: int
    read: int
    text: str
    problem: str = ""


def read(stream: BinaryIO, form: str, defaults: Defaults, jsonl: bool = False) -> Iterator[Item]:
    """Yield the messages of a stream.  `jsonl`: what "auto" means when the name tells."""
    lines = decoded(stream)
    if form == "auto":
        head = []
        for line in lines:
            head.append(line)
            if line.text.strip() or line.problem:
                break
        form = "jsonl" if jsonl or (head and JSON_START.match(head[-1].text)) else "text"
        lines = chain(head, lines)
    if form == "text":
        lines = paragraphs(lines)
    for line in lines:
        if line.problem:
            yield Item(line.number, line.read, None, line.problem)
        elif line.text.strip():
            yield item(line, form, defaults)


def item(line: Line, form: str, defaults: Defaults) -> Item:
    """Return the message of one line or paragraph."""
    try:
        fields = parse(line.text) if form == "jsonl" else {"text": line.text.strip()}
        return Item(line.number, line.read, message(fields, defaults))
    except ValueError as error:
        return Item(line.number, line.read, None, str(error))


def decoded(stream: BinaryIO) -> Iterator[Line]:
    """Yield the lines of a stream that should be UTF-8, none longer than the limit."""
    number = consumed = 0
    while raw := stream.readline(LINE_LIMIT):
        number += 1
        consumed += len(raw)
        rest = raw
        while len(rest) == LINE_LIMIT and not rest.endswith(b"\n"):
            rest = stream.readline(LINE_LIMIT)
            consumed += len(rest)
        if rest is not raw:
            yield Line(number, consumed, "", f"longer than {LINE_LIMIT >> 20} MiB")
            continue
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            yield Line(number, consumed, raw.decode().rstrip("\r\n"))
        except UnicodeDecodeError as error:
            yield Line(number, consumed, "", f"not UTF-8 (byte {error.start + 1} of the line)")


def paragraphs(lines: Iterator[Line]) -> Iterator[Line]:
    """Join lines up to the next empty one.  A bad line spoils its own line only."""
    held: list[Line] = []
    for line in lines:
        if not line.problem and line.text.strip():
            held.append(line)
            continue
        if held:
            yield joined(held)
            held = []
        if line.problem:
            yield line
    if held:
        yield joined(held)


def joined(lines: list[Line]) -> Line:
    """Return one paragraph as a line."""
    return Line(lines[0].number, lines[-1].read, "\n".join(line.text for line in lines))


def parse(text: str) -> Mapping[str, Any]:
    """Return the JSON object of a line.  Raises ValueError with a sentence for the user."""
    try:
        value = json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()):
            raise ValueError(f"the JSON goes on; {ONE_A_LINE}") from None
        raise ValueError(f"not JSON: {error.msg} (column {error.colno})") from None
    if isinstance(value, list):
        raise ValueError(f"a JSON array; {ONE_A_LINE}")
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def refuse(name: str) -> None:
    """Refuse the numbers that Python reads and JSON does not have."""
    raise ValueError(f"not JSON: {name}")


def message(fields: Mapping[str, Any], defaults: Defaults) -> NewMessage:
    """Return the message that the fields describe.  Raises ValueError with a sentence."""
    if unknown := sorted(fields.keys() - FIELDS):
        raise ValueError(f"unknown field {unknown[0]!r} (known: {', '.join(sorted(FIELDS))})")
    text = string(fields, "text", None)
    if text is None:
        raise ValueError("no text")
    if not text.strip():
        raise ValueError("the text is empty")
    if len(text.encode()) > TEXT_LIMIT:
        raise ValueError(f"the text is longer than {TEXT_LIMIT >> 20} MiB")
    metadata = fields.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise ValueError("metadata must be an object")
    return NewMessage(
        text=text,
        role=string(fields, "role", defaults.role) or defaults.role,
        session=string(fields, "session", defaults.session) or defaults.session,
        time=time(fields.get("time")),
        source=string(fields, "source", defaults.source),
        metadata=metadata,
        uid=string(fields, "uid", None),
    )


def string(fields: Mapping[str, Any], name: str, default: str | None) -> str | None:
    """Return a field that is a string or null."""
    value = fields.get(name, default)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string")
    if "\0" in value:
        raise ValueError(f"{name} has a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} has half a surrogate pair") from None
    return value


def time(value: Any) -> int | None:
    """Return a time in milliseconds, or None for now."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError("time must be an ISO 8601 string or whole milliseconds since 1970 UTC")
    try:
        return parse_time(value)
    except ValueError as error:
        raise ValueError(f"time {value!r}: {error}") from None
