"""The quick look at a text, and the checks; what may hold a time goes on to the grammar."""

from __future__ import annotations

import re
from datetime import datetime

from cortext.dates.types import EXAMINED, TimeSpan
from cortext.errors import InputError

__all__ = ["find_spans"]

# Most queries name no time and must not pay for those that do: without one of these there is none.
_TRIGGER = re.compile(
    r"(?<![^\W_])(?:"
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    r"|mon|tue|wed|thu|fri|sat|sun"
    r"|day|week|fortnight|quarter|year|decade|hour|minute|ago\b"
    r"|yesterday|today|tonight|tomorrow|morning|afternoon|evening|night"
    r"|spring|summer|autumn|winter|fall\b|christmas|xmas|new year|halloween|easter|thanksgiving"
    r"|valentine|boxing|good fri|weekend|nineties|eighties|seventies|sixties|fifties"
    r"|q[1-4]|h[12]\b|[0-9]{4}|[0-9]{1,2}[/.-][0-9]|[0-9]{1,2}(?:st|nd|rd|th)\b|[0-9]0'?s\b)",
    re.IGNORECASE,
)


def find_spans(text: str, reference: datetime) -> tuple[TimeSpan, ...]:
    """Return the times that a text names, in the order of the text; they do not overlap there.

    Days, weeks and months are those of the reference's time zone.  A span is as wide as the words
    are vague: "three weeks ago" is that week, "in May" the month, "since May" ends at `reference`.
    Words that may mean something else ("may", "second", "room 2021") name no time, and neither does
    what falls outside of the years 1 to 9999.  Only the first 2,000 characters are looked at, and
    at most 32 times are returned.

    InputError for a text that is not str, and for a reference that is not an aware datetime.  May
    be called from any thread.  The first text with a date word imports the grammar and dateutil.
    """
    if not isinstance(text, str):
        raise InputError(f"text must be str, not {type(text).__name__}")
    if not isinstance(reference, datetime):
        raise InputError(f"reference must be a datetime, not {type(reference).__name__}")
    if reference.tzinfo is None or reference.utcoffset() is None:
        raise InputError("reference has no time zone; give it one, such as timezone.utc")
    text = text[:EXAMINED]
    if _TRIGGER.search(text) is None:
        return ()
    from cortext.dates.grammar import spans

    return spans(text, reference)
