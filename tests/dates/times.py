"""Short spellings of times for the tables of this folder."""

from __future__ import annotations

from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from cortext.dates import TimeSpan

WEDNESDAY = "2023-06-14T15:30:00+00:00"


def moment(text: str) -> datetime:
    """Read an aware time: with an offset, or a zone's name after a space."""
    time, _, zone = text.partition(" ")
    return datetime.fromisoformat(time).replace(tzinfo=ZoneInfo(zone)) if zone else utc(time)


def utc(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def bounds(text: str, reference: datetime) -> datetime:
    """Read a bound of the tables: "-" is the start of time, "ref" the reference."""
    if text == "-":
        return datetime.min.replace(tzinfo=timezone.utc)
    return reference.astimezone(timezone.utc) if text == "ref" else utc(text)


def expected(pairs: list[tuple[str, str]], reference: datetime) -> list[tuple[datetime, datetime]]:
    return [(bounds(start, reference), bounds(end, reference)) for start, end in pairs]


def intervals(spans: tuple[TimeSpan, ...]) -> list[tuple[datetime, datetime]]:
    return [(span.start, span.end) for span in spans]
