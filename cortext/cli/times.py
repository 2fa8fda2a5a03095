"""Times as people and files write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from dateutil.parser import isoparse, isoparser

__all__ = ["iso", "parse_moment", "parse_time", "short"]

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MILLISECOND = timedelta(milliseconds=1)
EARLIEST = (datetime(1, 1, 1, tzinfo=timezone.utc) - EPOCH) // MILLISECOND
LATEST = (datetime.max.replace(tzinfo=timezone.utc) - EPOCH) // MILLISECOND


def parse_time(value: str | int) -> int:
    """Return milliseconds since 1970 UTC.  Raises ValueError with a sentence for the user."""
    if isinstance(value, str):
        value = (aware(value) - EPOCH) // MILLISECOND
    if not EARLIEST <= value <= LATEST:
        raise ValueError("the time is outside of the years 1 to 9999")
    return value


def parse_moment(text: str) -> datetime:
    """Return a time, or the midnight in UTC of a date.  Raises ValueError with a sentence."""
    try:
        return datetime.combine(isoparser().parse_isodate(text), datetime.min.time(), timezone.utc)
    except ValueError:
        return EPOCH + parse_time(text) * MILLISECOND


def aware(text: str) -> datetime:
    """Return an ISO 8601 time that says its zone."""
    try:
        time = isoparse(text)
    except (ValueError, OverflowError):
        raise ValueError(
            "not an ISO 8601 date or time, such as 2026-05-01 or 2026-05-01T09:30:00Z"
        ) from None
    if time.utcoffset() is None:
        raise ValueError("the time has no zone: end it with Z or an offset such as +02:00")
    return time


def iso(time: datetime) -> str:
    """Return the time in UTC with milliseconds, as the JSON output has it."""
    text = time.astimezone(timezone.utc).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def short(time: datetime) -> str:
    """Return the time in UTC to the minute, for people."""
    return time.astimezone(timezone.utc).isoformat(" ", "minutes").removesuffix("+00:00")
