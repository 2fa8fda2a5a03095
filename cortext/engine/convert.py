"""Python values to the core's and back: times, metadata, filters."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from time import time_ns
from typing import Any

from cortext._native.rows import MessageRow, NewRow
from cortext.engine.types import Active, Hit, Message, NewMessage, StageScores, Standing
from cortext.errors import InputError, StoreCorruptError

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
# What datetime can show; a time that was stored can always be read back.
_EARLIEST = (datetime.min.replace(tzinfo=timezone.utc) - _EPOCH) // _MILLISECOND
_LATEST = (datetime.max.replace(tzinfo=timezone.utc) - _EPOCH) // _MILLISECOND
_DEEPEST = 50
_NAMES = tuple(field.name for field in fields(NewMessage))


def to_milliseconds(time: datetime | int, what: str) -> int:
    """Milliseconds since 1970 UTC.  InputError for a naive datetime or one out of range."""
    if isinstance(time, datetime):
        if time.tzinfo is None or time.utcoffset() is None:
            raise InputError(f"{what} has no time zone; give it one, such as timezone.utc")
        value = (time - _EPOCH) // _MILLISECOND
    elif isinstance(time, int) and not isinstance(time, bool):
        value = time
    else:
        raise InputError(
            f"{what} must be a datetime or int milliseconds, not {type(time).__name__}"
        )
    if not isinstance(time, datetime) and 10**8 <= abs(value) < 10**11:
        raise InputError(f"{what} looks like seconds; it must be milliseconds, or a datetime")
    if not _EARLIEST <= value <= _LATEST:
        raise InputError(f"{what} is outside the years 1 to 9999")
    return value


def to_optional_milliseconds(time: datetime | int | None, what: str) -> int | None:
    """As `to_milliseconds`, and None for None."""
    return None if time is None else to_milliseconds(time, what)


def from_milliseconds(value: int) -> datetime:
    """The aware UTC datetime."""
    return _EPOCH + value * _MILLISECOND


def to_metadata(metadata: Mapping[str, Any] | None) -> str | None:
    """JSON text of an object.  InputError for anything JSON cannot hold."""
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise InputError(f"metadata must be a mapping, not {type(metadata).__name__}")
    _check_json(metadata, 0)
    try:
        return json.dumps(dict(metadata), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"metadata is not JSON: {error}") from None


def _check_json(value: object, depth: int) -> None:
    """Refuse what JSON would change or Python could not read back."""
    if depth > _DEEPEST:
        raise InputError(f"metadata is nested more than {_DEEPEST} deep")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise InputError(f"metadata has the key {key!r}; keys must be str")
            _check_json(inner, depth + 1)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_json(inner, depth + 1)


def to_names(value: str | Sequence[str] | None, what: str) -> list[str]:
    """A filter's names; empty means no restriction.  InputError for an empty sequence."""
    if value is None:
        return []
    if not isinstance(value, (str, Collection)) or isinstance(value, (bytes, Mapping)):
        raise InputError(f"{what} must be a name or a list of names, not {type(value).__name__}")
    names = [value] if isinstance(value, str) else list(value)
    if not names:
        raise InputError(f"{what} is an empty list; leave it out for no restriction")
    return names


def to_new_message(message: NewMessage | Mapping[str, Any]) -> NewMessage:
    """A mapping with NewMessage's field names as a NewMessage."""
    if isinstance(message, NewMessage):
        return message
    if not isinstance(message, Mapping):
        raise InputError(f"a message must be a NewMessage or mapping, not {type(message).__name__}")
    unknown = set(message).difference(_NAMES)
    if unknown:
        hint = "; the text of a message is its 'text'" if "content" in unknown else ""
        raise InputError(
            f"unknown message field {min(map(str, unknown))!r}; known are {', '.join(_NAMES)}{hint}"
        )
    if "text" not in message:
        raise InputError("a message needs a text")
    return NewMessage(**message)


def to_range(value: int, what: str, most: int) -> int:
    """An int from 1 to `most`.  InputError for anything else."""
    bounds = f"from 1 to {most:,}"
    if not 1 <= to_int(value, what, bounds) <= most:
        raise InputError(f"{what} is {value}; it must be {bounds}")
    return value


def to_int(value: int, what: str, bounds: str, *, bits: int = 32) -> int:
    """An int that the core can be given; it checks the bounds.  InputError for anything else."""
    most = 2 ** (bits - 1)
    if isinstance(value, bool) or not isinstance(value, int) or not -most <= value < most:
        raise InputError(f"{what} is {value!r}; it must be an int {bounds}")
    return value


def to_duration(value: float | None, what: str, *, unit: str) -> float:
    """A time to wait, math.inf for None.  InputError for what is no number from 0 on."""
    if value is None:
        return math.inf
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise InputError(f"{what} is {value!r}; it must be {unit} from 0, or None")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_progress(progress: object) -> None:
    """Refuse what cannot be called."""
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function, not {type(progress).__name__}")


def to_budget(value: int | None, what: str) -> int:
    """A budget as the core takes it, 0 for none.  InputError for what is no number from 1 on."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        raise InputError(f"{what} is {value!r}; it must be an int from 1 to {2**31 - 1:,}, or None")
    return value


def to_rows(messages: Iterable[NewMessage | Mapping[str, Any]]) -> list[NewRow]:
    """What the core stores, for many.  An InputError says which message it is about."""
    if isinstance(messages, (str, Mapping, NewMessage)):
        raise InputError("messages must be a list of messages, not one")
    if not isinstance(messages, Iterable):
        raise InputError(f"messages must be a list of messages, not {type(messages).__name__}")
    return [_numbered_row(number, message) for number, message in enumerate(messages)]


def _numbered_row(number: int, message: NewMessage | Mapping[str, Any]) -> NewRow:
    try:
        return to_row(to_new_message(message))
    except InputError as error:
        raise InputError(f"message {number}: {error}") from None


def to_row(message: NewMessage) -> NewRow:
    """What the core stores.  Text is checked by the core."""
    if message.time is None:
        time = time_ns() // 1_000_000
    else:
        time = to_milliseconds(message.time, "time")
    return NewRow(
        message.text,
        message.role,
        message.session,
        time,
        message.source,
        to_metadata(message.metadata),
        message.uid,
    )


def _common(row: MessageRow) -> dict[str, Any]:
    try:
        return _fields(row)
    except (ValueError, OverflowError, RecursionError) as error:
        raise StoreCorruptError(f"message {row.id} of the store is damaged: {error}") from None


def _fields(row: MessageRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "text": row.text,
        "role": row.role,
        "session": row.session,
        "time": from_milliseconds(row.time_ms),
        "source": row.source,
        "metadata": None if row.metadata is None else json.loads(row.metadata),
        "uid": row.uid,
    }


def to_message(row: MessageRow) -> Message:
    """A stored message."""
    return Message(**_common(row))


def to_active(row: MessageRow) -> Active:
    """A message of working memory."""
    return Active(**_common(row), activation=row.score)


def to_hit(row: MessageRow, *, explain: bool) -> Hit:
    """A recalled message."""
    scores = None
    if explain:
        scores = StageScores(
            dense=_number(row.dense),
            lexical=_number(row.lexical),
            late=_number(row.late),
            context=_number(row.context),
            speaker=row.speaker,
            date=row.date,
            question=row.question,
        )
    return Hit(
        **_common(row),
        score=row.score,
        scores=scores,
        duplicates=row.duplicates,
        before=() if row.before is None else (to_message(row.before),),
        after=() if row.after is None else (to_message(row.after),),
        excerpt=row.excerpt,
        supersedes=row.supersedes,
        superseded_by=row.superseded_by,
    )


def to_standing(row: MessageRow, hits: Collection[int]) -> Standing:
    """A standing directive; hits: ids of the messages that are hits."""
    data, (start, size) = row.text.encode(), row.span
    try:
        before, sentence = data[:start].decode(), data[start : start + size].decode()
    except UnicodeDecodeError:
        raise StoreCorruptError(
            f"a directive of message {row.id} of the store is damaged: it is not whole characters"
        ) from None
    return Standing(
        **_common(row),
        span=(len(before), len(before) + len(sentence)),
        relevance=row.score,
        is_hit=row.id in hits,
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
