"""Stretches of the calendar, in local time without a zone; dateutil does the arithmetic.

What leaves the years 1 to 9999 raises ValueError or OverflowError, which the grammar takes for "no
time".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from dateutil.easter import easter
from dateutil.relativedelta import TH, relativedelta
from dateutil.relativedelta import weekday as weekday_of

DAY = timedelta(days=1)
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}


def local(year: int, month: int, day: int) -> datetime:
    """Return a midnight of the reference's zone, which is attached when all is done."""
    return datetime(year, month, day)  # noqa: DTZ001


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open stretch.  `end` None is the reference, `start` None the beginning of time."""

    start: datetime | None
    end: datetime | None
    unit: str  # what "early", "around" and the like go by
    core: datetime | None = None  # the day that is meant where the stretch is wider

    @property
    def begin(self) -> datetime:
        """Where it starts.  ValueError for an open start."""
        if self.start is None:
            raise ValueError("no start")
        return self.start

    @property
    def close(self) -> datetime:
        """Where it ends.  ValueError where that is the reference."""
        if self.end is None:
            raise ValueError("no end")
        return self.end


def step(unit: str, count: int) -> relativedelta:
    """Return so many units as a difference."""
    if unit == "hour":
        return relativedelta(hours=count)
    if unit == "minute":
        return relativedelta(minutes=count)
    if unit == "day":
        return relativedelta(days=count)
    if unit in {"week", "weekend"}:
        return relativedelta(weeks=count)
    if unit == "fortnight":
        return relativedelta(weeks=2 * count)
    if unit == "month":
        return relativedelta(months=count)
    if unit == "quarter":
        return relativedelta(months=3 * count)
    return relativedelta(years=10 * count if unit == "decade" else count)


def containing(time: datetime, unit: str) -> Period:
    """Return the calendar unit that a time is in; a weekend is that of the time's week."""
    day = local(time.year, time.month, time.day)
    if unit == "day":
        return Period(day, day + DAY, unit)
    if unit in {"week", "fortnight", "weekend"}:
        monday = day - day.weekday() * DAY
        if unit == "weekend":
            return Period(monday + 5 * DAY, monday + 7 * DAY, unit)
        return Period(monday, monday + step(unit, 1), unit)
    month = day.replace(day=1)
    if unit == "quarter":
        month = month.replace(month=(month.month - 1) // 3 * 3 + 1)
    elif unit == "year":
        month = month.replace(month=1)
    elif unit == "decade":
        month = month.replace(month=1, year=max(1, month.year // 10 * 10))
    return Period(month, month + step(unit, 1), unit)


def day(year: int, month: int, number: int) -> Period:
    """Return one day."""
    return containing(local(year, month, number), "day")


def month(year: int, number: int) -> Period:
    """Return one month."""
    return containing(local(year, number, 1), "month")


def season(year: int, name: str) -> Period:
    """Return three whole months; the winter of a year starts in its December."""
    start = local(year, SEASONS[name], 1)
    return Period(start, start + relativedelta(months=3), "season")


def holiday(year: int, name: str) -> Period:
    """Return a feast and the days that go with its name."""
    if name in {"easter", "good friday"}:
        date = easter(year)
        sunday = local(date.year, date.month, date.day)
        if name == "good friday":
            return containing(sunday - 2 * DAY, "day")
        return Period(sunday - 2 * DAY, sunday + 2 * DAY, "day", sunday)
    if name == "thanksgiving":
        return containing(local(year, 11, 1) + relativedelta(weekday=TH(4)), "day")
    if name == "christmas":
        return Period(local(year, 12, 24), local(year, 12, 27), "day", local(year, 12, 25))
    if name == "new year":
        first = local(year, 1, 1)
        return Period(first - DAY, first + DAY, "day", first)
    number = {
        "christmas eve": (12, 24),
        "christmas day": (12, 25),
        "boxing day": (12, 26),
        "new year's eve": (12, 31),
        "new year's day": (1, 1),
        "halloween": (10, 31),
        "valentine's day": (2, 14),
    }[name]
    return day(year, *number)


def yearly(make: Callable[[int], Period], bound: datetime, *, ahead: bool = False) -> Period:
    """Return the latest that starts by `bound`, or the first that starts no earlier.

    29 February is not in every year, so up to eight are tried.
    """
    for distance in range(-1, 9):
        try:
            found = make(bound.year + (distance if ahead else -distance))
        except ValueError:
            continue
        if found.begin >= bound if ahead else found.begin <= bound:
            return found
    raise ValueError("in no year")


def monthly(
    number: int, bound: datetime, *, ahead: bool = False, weekday: int | None = None
) -> Period:
    """Return the latest day of that number that starts by `bound`, or the first no earlier.

    With a weekday only such a day will do, and the day may be two years away.
    """
    for distance in range(4 if weekday is None else 25):
        there = bound.replace(day=1) + relativedelta(months=distance if ahead else -distance)
        try:
            found = day(there.year, there.month, number)
        except ValueError:
            continue
        if weekday is not None and found.begin.weekday() != weekday:
            continue
        if found.begin >= bound if ahead else found.begin <= bound:
            return found
    raise ValueError("in no month")


def on_weekday(number: int, bound: datetime, *, ahead: bool = False) -> Period:
    """Return the latest such weekday up to the day of `bound`, or the first from it on."""
    return containing(bound + relativedelta(weekday=weekday_of(number)(1 if ahead else -1)), "day")


def part_of_day(period: Period, name: str) -> Period:
    """Return the morning, afternoon, evening or night of a day; a night ends at six."""
    first, last = PARTS[name]
    hour = timedelta(hours=1)
    return Period(period.begin + first * hour, period.begin + last * hour, "part")


def third(period: Period, which: str) -> Period:
    """Return the early, middle or late part; "start" and "end" are narrower in a year."""
    start, end = period.begin, period.close
    if period.unit in {"year", "decade", "season", "quarter"}:
        months = (end.year - start.year) * 12 + end.month - start.month
        narrow = months // (6 if period.unit == "year" else 3)
        wide = months // 3
        # A decade's years are not divided: 4 + 3 + 3.
        early, late = (48, 36) if period.unit == "decade" else (wide, wide)
        cuts = {
            "early": (0, early),
            "mid": (early, months - late),
            "late": (months - late, months),
            "start": (0, narrow),
            "end": (months - narrow, months),
        }[which]
        first, last = (start + relativedelta(months=cut) for cut in cuts)
        return Period(first, last, "part")
    if period.unit == "month":
        first, last = start + 10 * DAY, start + 20 * DAY
    elif period.unit == "week":
        first, last = start + 2 * DAY, start + 4 * DAY
    else:
        raise ValueError(f"no thirds of a {period.unit}")
    if which in {"early", "start"}:
        return Period(start, first, "part")
    return Period(first, last, "part") if which == "mid" else Period(last, end, "part")


def half(period: Period, second: bool) -> Period:
    """Return the first or second half of a year, month or week, to the day or month."""
    start, end = period.begin, period.close
    middle = start + (end - start) / 2
    if period.unit == "year":
        middle = start + relativedelta(months=6)
    else:
        middle = middle.replace(hour=0)
    return Period(middle, end, "part") if second else Period(start, middle, "part")


def widened(period: Period) -> Period:
    """Return "around" it: some days more on both sides of a day, else half of its width."""
    width = period.close - period.begin
    pad = 3 * DAY if width <= 4 * DAY else DAY * max(1, width.days // 2)
    return replace(period, start=period.begin - pad, end=period.close + pad, unit="range")
