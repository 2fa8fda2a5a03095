"""Phrases that name one time: "last Tuesday", "early May 2021", "three weeks ago".

Every method takes the index of a token and returns what starts there, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import partial

from dateutil.parser import isoparse, parse

from cortext.dates import periods
from cortext.dates.periods import DAY, Period, containing, local, step
from cortext.dates.reading import Reading
from cortext.dates.words import (
    BEFORE,
    DECADES,
    EVERY,
    HOLIDAYS,
    INFO,
    NAMELIKE,
    ORDINALS,
    year_sign,
)

__all__ = ["Found", "Phrases"]

_ISO_DAY = re.compile(r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}")
_NUMERIC = re.compile(r"[0-9]{1,2}([-/.])[0-9]{1,2}\1([0-9]{4}|[0-9]{2})")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:")
_LAST = {"last", "previous"}
_NEXT = {"next", "coming", "upcoming"}
_THIRDS = {
    "early": "early", "mid": "mid", "late": "late", "beginning": "start", "start": "start",
    "end": "end", "middle": "mid",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase that was read.

    `again` gives the same name near another time, where the name comes back (a weekday, a month
    without a year).  A weak one is a time only among the right words: "May", "2021".
    """

    period: Period
    next: int
    again: Callable[[datetime, bool], Period] | None = None
    weak: bool = False


class Phrases(Reading):
    """Reads single times; a name that comes back is the latest that has begun."""

    def safely(self, method: Callable[[int], Found | None], index: int) -> Found | None:
        """Read; a time that no calendar has, or that is out of range, is none."""
        try:
            return method(index)
        except (ValueError, OverflowError):
            return None

    def period(self, index: int) -> Found | None:
        """Read a time without an operator."""
        for method in (
            self.part_of, self.nth, self.numeric, self.dated, self.rolling, self.relative,
            self.ago, self.weekday, self.named, self.decade, self.bare_year,
        ):  # fmt: skip
            found = self.safely(method, index)
            if found is not None:
                return self.with_part_of_day(found)
        return None

    def with_part_of_day(self, found: Found) -> Found:
        """Read on: "yesterday morning", "on May 5 in the evening"."""
        place = found.next
        if self.words(place, "in", "the") or self.words(place, "during", "the"):
            place += 2
        elif self.low(place) == "at" and self.low(place + 1) == "night":
            place += 1
        part = self.low(place)
        if found.period.unit != "day" or part not in periods.PARTS or found.period.core:
            return found
        if self.at(place).raw.istitle() and found.weak:  # "Friday Night Lights"
            return found
        again = found.again
        parted = replace(
            found, period=periods.part_of_day(found.period, part), next=place + 1, weak=False
        )
        if again is None:
            return parted
        return replace(parted, again=lambda t, ahead: periods.part_of_day(again(t, ahead), part))

    def part_of(self, index: int) -> Found | None:
        """Read "early 2022", "the end of last year", "first half of May", "the week of May 8"."""
        place = self.skip(index, "the", "very")
        word = self.low(place)
        if word in periods.PARTS and place > index and self.words(place + 1, "of"):
            target = self.inner(place + 2)
            if target is None or target.period.unit != "day" or target.period.core:
                return None
            return Found(periods.part_of_day(target.period, word), target.next)
        if word in {"week", "weekend"} and self.words(place + 1, "of"):
            target = self.inner(place + 2)
            if target is None or target.period.unit not in {"day", "part"}:
                return None
            return Found(containing(target.period.begin, word), target.next)
        if word in {"first", "second"} and self.words(place + 1, "half", "of"):
            target = self.inner(place + 3)
            if target is None or target.period.unit not in {"year", "month", "week"}:
                return None
            return Found(periods.half(target.period, word == "second"), target.next)
        which = _THIRDS.get(word)
        if which is None:
            return None
        place += 1
        if word in {"beginning", "start", "end", "middle"}:
            if self.low(place) != "of":
                return None
            place += 1
        elif self.low(place) in {"in", "-"}:
            place += 1
        target = self.inner(place)
        unit = self.unit(place + 1)
        the_unit = unit in {"week", "month", "year"} and self.low(place) == "the"
        if target is None and unit is not None and the_unit and self.closed(place, place + 2):
            target = Found(containing(self.today, unit), place + 2)
        if target is None:
            return None
        if target.again is None:
            return Found(periods.third(target.period, which), target.next)
        again = target.again
        # "Late May" in the middle of May is last year's.
        period = periods.third(target.period, which)
        if period.begin > self.now:
            period = periods.third(again(target.period.begin - DAY, False), which)
        return Found(period, target.next, lambda t, ahead: periods.third(again(t, ahead), which))

    def inner(self, index: int) -> Found | None:
        """Read the time that a part is taken of: at most one part of a part."""
        if self.depth == 2:
            return None
        self.depth += 1
        try:
            found = self.period(self.skip(index, "the"))
        finally:
            self.depth -= 1
        if found is None or (found.weak and not self.closed(index, found.next)):
            return None
        return found

    def numeric(self, index: int) -> Found | None:
        """Read "2023-05-08", "5/8/2023", "8.5.2023", "2023-05-08T14:30", "2023年5月"."""
        token = self.at(index)
        raw = token.raw
        if not raw[:1].isdigit() or (self.glued(index) and self.low(index - 1) not in "([\"'“‘"):
            return None
        sign = year_sign(raw)
        if sign is not None:
            year, month, day = sign
            if month is None:
                return Found(containing(local(year, 1, 1), "year"), index + 1)
            return Found(
                periods.month(year, month) if day is None else periods.day(year, month, day),
                index + 1,
            )
        if _TIMESTAMP.match(raw):
            moment = isoparse(raw.replace(" ", "T"))
            if moment.tzinfo is not None:
                moment = moment.astimezone(self.reference.tzinfo).replace(tzinfo=None)
            width = timedelta(seconds=1) if raw.count(":") > 1 and raw[16:17] == ":" else None
            start = moment.replace(microsecond=0)
            return Found(Period(start, start + (width or timedelta(minutes=1)), "part"), index + 1)
        if _ISO_DAY.fullmatch(raw):
            year, month, day = map(int, re.split(r"[-/.]", raw))
            return Found(periods.day(year, month, day), index + 1)
        if re.fullmatch(r"[0-9]{4}", raw) and self.at(index + 1).raw == "-":
            month_number = self.at(index + 2).number
            if (
                len(self.at(index + 2).raw) == 2
                and month_number is not None
                and 1 <= month_number <= 12
                and self.low(index - 1) in BEFORE
                and self.glued(index + 2)
            ):
                return Found(periods.month(int(raw), month_number), index + 3)
        match = _NUMERIC.fullmatch(raw)
        if match is None:
            return None
        prepared = {"on", "since", "before", "after", "from", "to", "and", "between", "until"}
        if len(match[2]) == 2 and (match[1] != "/" or self.low(index - 1) not in prepared):
            return None
        time = parse(raw, dayfirst=match[1] == ".", default=local(self.now.year, 1, 1))
        if len(match[2]) == 2:
            # The library goes by today's clock; a memory is no later than its reference.
            while time.year > self.now.year:
                time = time.replace(year=time.year - 100)
        return Found(containing(time, "day"), index + 1)

    def dated(self, index: int) -> Found | None:
        """Read a month with what stands around it, or a day "on the 5th"."""
        place = index
        weekday = INFO.weekday(self.low(index)) if self.at(index).is_word else None
        if weekday is not None:
            place = self.skip(self.skip(index + 1, ","), "the")
        place = self.skip(place, "the")
        day = self.day_number(place)
        month = 0
        if day is not None:
            after = self.skip(place + 1, "of", "-")
            month = self.month(after)
            if not month:
                return self.day_of_month(index, place, day, weekday)
            after += 1
            if self.low(place + 1) == "-" and self.year(after + 1) is not None:
                after += 1  # "8-May-2023"
        else:
            month = self.month(place)
            if not month:
                return None
            after = place + 1
            if self.low(after) == "." and self.at(after + 1).number is not None:
                after += 1  # "Sept. 5"
            day_place = self.skip(after, "the")
            day = self.day_number(day_place)
            if day is not None:
                after = day_place + 1
        last = self.at(after - 1)
        year, after = self.trailing_year(after) if not last.owned else (None, after)
        if day is not None:
            number: int = day
            if last.owned and self.month(after - 1):
                return None
            if self.unlikely_day(place, after):
                return None
            if year is not None:
                return Found(periods.day(year, month, number), after)
            return self.recurring(lambda y: periods.day(y, month, number), after, weak=False)
        if weekday is not None:
            return None
        if year is not None:
            if self.at(place).raw == "march" and self.low(place - 1) in {"the", "a", "to", "we"}:
                return None
            return Found(periods.month(year, month), after)
        shared = self.shared_year(after)
        if shared is not None and self.low(index - 1) in BEFORE:
            return Found(periods.month(shared, month), after)
        return self.recurring(lambda y: periods.month(y, month), after, weak=True)

    def unlikely_day(self, index: int, end: int) -> bool:
        """Whether "may 5" or "march 3" are rather a verb with a number."""
        token = self.at(index)
        if not token.raw.islower() or token.low not in {"may", "march", "mar", "sun", "sat"}:
            return False
        return self.low(index - 1) not in BEFORE | {"the"} and self.at(end).raw != ""

    def shared_year(self, index: int) -> int | None:
        """Return the year of "May and June 2022" for May."""
        if self.low(index) in {"and", "or", ",", "&"} and self.month(index + 1):
            return self.trailing_year(index + 2)[0]
        return None

    def day_of_month(self, index: int, place: int, day: int, weekday: int | None) -> Found | None:
        """Read "on the 5th", with nothing after it that could be counted, and "Friday the 5th"."""
        if place == index or self.at(place).raw.isdigit():
            return None
        if weekday is not None:
            return Found(periods.monthly(day, self.now, weekday=weekday), place + 1)
        after = self.at(place + 1)
        if self.low(index - 1) not in {"on", "since", "until"}:
            return None
        if after.raw and (after.is_word or after.raw[0].isdigit() or after.raw == "-"):
            return None
        return Found(
            periods.monthly(day, self.now),
            place + 1,
            lambda t, ahead: periods.monthly(day, t, ahead=ahead),
        )

    def recurring(self, make: Callable[[int], Period], after: int, *, weak: bool) -> Found:
        """Return what comes back every year."""
        return Found(
            periods.yearly(make, self.now),
            after,
            lambda t, ahead: periods.yearly(make, t, ahead=ahead),
            weak,
        )

    def ago(self, index: int) -> Found | None:
        """Read "three weeks ago", "a couple of days ago", "two Fridays ago"."""
        if self.words(index, "half", "a", "year", "ago"):
            return Found(containing(self.today + step("month", -6), "month"), index + 4)
        count = self.count(index)
        if count is None or self.low(index - 1) == "half":
            return None
        few, many, place = count
        place = self.skip(place, "-")
        weekday = (
            INFO.weekday(self.low(place).removesuffix("s")) if self.at(place).is_word else None
        )
        unit = self.unit(place, many=True)
        if not self.words(place + 1, "ago"):
            return None
        if weekday is not None:
            if few != many:
                return None
            latest = periods.on_weekday(weekday, self.today - DAY)
            return Found(containing(latest.begin - (few - 1) * step("week", 1), "day"), place + 2)
        if unit is None:
            return None
        if unit in {"hour", "minute"}:
            # In absolute time, since the clock may have been changed in between.
            slack = timedelta(minutes=30 if unit == "hour" else 5)
            length = timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)
            start = self.reference.astimezone(timezone.utc) - many * length - slack
            end = self.reference.astimezone(timezone.utc) - few * length + slack
            return Found(Period(start, min(end, self.reference), "hour"), place + 2)
        if few == many and self.low(place + 2) == "today" and unit != "decade":
            return Found(containing(self.today + step(unit, -few), "day"), place + 3)
        if unit == "fortnight":
            few, many, unit = 2 * few, 2 * many, "week"
        first = containing(self.today + step(unit, -many), unit)
        last = containing(self.today + step(unit, -few), unit)
        return Found(Period(first.start, last.end, unit), place + 2)

    def rolling(self, index: int) -> Found | None:
        """Read "in the past two months", "the last few days", "last 3 weeks", "the past year"."""
        place = self.skip(index, "the", "these")
        determined = place > index
        if self.low(place) == "recent" and self.unit(place + 1, many=True):
            few, many, place = 2, 5, place + 1
        elif self.low(place) in {"last", "past", "previous"}:
            past = self.low(place) == "past"
            count = self.count(place + 1)
            if count is not None and self.low(place + 1) not in {"a", "an"}:
                few, many, place = count
            elif determined and (past or self.low(index - 1) in {"in", "over", "during", "within"}):
                few, many, place = 1, 1, place + 1
            else:
                return None
            if few != many and not determined and not past:
                return None
        else:
            return None
        unit = self.unit(place, many=True)
        if unit is None or unit == "weekend" or self.low(place + 1) == "of":
            return None
        if unit in {"hour", "minute"}:
            now = self.reference.astimezone(timezone.utc)
            length = timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)
            return Found(Period(now - many * length, None, "range"), place + 1)
        return Found(Period(self.today + step(unit, -many), None, "range"), place + 1)

    def relative(self, index: int) -> Found | None:
        """Read "yesterday", "last weekend", "this morning", "next year", "the week before last"."""
        low = self.low(index)
        if low == "yesterday":
            return Found(containing(self.today - DAY, "day"), index + 1)
        if low == "today":
            return Found(containing(self.today, "day"), index + 1)
        if low == "tomorrow":
            return Found(containing(self.today + DAY, "day"), index + 1)
        if low == "tonight":
            return Found(periods.part_of_day(containing(self.today, "day"), "night"), index + 1)
        if low == "earlier" and self.low(index + 1) == "today":
            return Found(Period(self.today, None, "range"), index + 2)
        if low in {"earlier", "later"} and self.low(index + 1) == "this":
            unit = self.unit(index + 2)
            if unit in {"week", "month", "year"}:
                whole = containing(self.today, unit)
                if low == "earlier":
                    return Found(Period(whole.start, None, "range"), index + 3)
                return Found(Period(self.now, whole.end, "range"), index + 3)
        place = self.skip(index, "the")
        if place > index and self.words(place, "other", "day"):
            if self.low(place + 2) == "of" or self.at(place + 1).owned:
                return None
            return Found(Period(self.today - 7 * DAY, self.today, "range"), place + 2)
        if self.words(place, "day", "before", "yesterday"):
            return Found(containing(self.today - 2 * DAY, "day"), place + 3)
        if self.words(place, "day", "after", "tomorrow"):
            return Found(containing(self.today + 2 * DAY, "day"), place + 3)
        unit = self.unit(place)
        weekday = INFO.weekday(self.low(place)) if self.at(place).is_word else None
        if (unit or weekday is not None) and self.words(place + 1, "before", "last"):
            if not self.closed(index, place + 3):
                return None
            if weekday is not None:
                latest = periods.on_weekday(weekday, self.today - DAY)
                return Found(containing(latest.begin - 7 * DAY, "day"), place + 3)
            if unit == "weekend":
                return Found(containing(self.last_weekend() - 7 * DAY, unit), place + 3)
            if unit in {"week", "month", "quarter", "year"}:
                return Found(containing(self.today + step(unit, -2), unit), place + 3)
        name = self.name_of_year(place) if self.words(place + 1, "before", "last") else None
        if name is not None and self.closed(index, place + 3):
            last = self.turned_name(place, -1)
            if last is None:
                return None
            return Found(periods.yearly(name[0], last.period.begin - DAY), place + 3)
        if unit == "weekend":
            return self.bare_weekend(index, place)
        return self.turned(place)

    def last_weekend(self) -> datetime:
        """Return the Saturday of the latest weekend that is over."""
        this = containing(self.today, "weekend")
        return this.begin - 7 * DAY

    def bare_weekend(self, index: int, place: int) -> Found | None:
        """Read "over the weekend"."""
        if place == index or self.low(index - 1) not in {"on", "over", "at", "during", "since"}:
            return None
        if not self.closed(index, place + 1):
            return None
        this = containing(self.today, "weekend")
        start = this.begin if this.begin <= self.now else this.begin - 7 * DAY
        return Found(containing(start, "weekend"), place + 1)

    def turned(self, index: int) -> Found | None:
        """Read "last", "this" or "next" with what they turn to."""
        word, place = self.low(index), index + 1
        if word == "this" and self.low(place) in {"past", "last", "coming"}:
            word, place = ("next" if self.low(place) == "coming" else "last"), place + 1
        elif word == "past" and INFO.weekday(self.low(place)) is not None:
            word = "last"
        if word not in _LAST | _NEXT | {"this"}:
            return None
        sign = -1 if word in _LAST else 1 if word in _NEXT else 0
        low = self.low(place)
        if not self.at(place).is_word:
            return None
        if low in periods.PARTS:
            if sign > 0 or (sign < 0 and low not in {"night", "evening"}):
                return None
            return Found(
                periods.part_of_day(containing(self.today + sign * DAY, "day"), low), place + 1
            )
        unit = self.unit(place)
        if unit == "weekend":
            this = containing(self.today, "weekend").begin
            return Found(containing(this + sign * 7 * DAY, unit), place + 1)
        if unit in {"week", "month", "quarter", "year", "decade"}:
            if unit == "year" and self.low(place + 1) == "of":
                return None
            found = containing(self.today + step(unit, sign), unit)
            # "last week Monday"
            after = self.skip(place + 1, "on")
            weekday = INFO.weekday(self.low(after)) if self.at(after).is_word else None
            if unit == "week" and weekday is not None and self.low(after) not in NAMELIKE:
                return Found(containing(found.begin + weekday * DAY, "day"), after + 1)
            return Found(found, place + 1)
        weekday = INFO.weekday(low)
        if weekday is not None and not (low in {"sun", "sat", "wed"} and self.at(place).raw == low):
            if sign < 0:
                period = periods.on_weekday(weekday, self.today - DAY)
            elif sign > 0:
                period = periods.on_weekday(weekday, self.today + DAY, ahead=True)
            else:
                period = containing(containing(self.today, "week").begin + weekday * DAY, "day")
            return Found(period, place + 1)
        return self.turned_name(place, sign)

    def turned_name(self, index: int, sign: int) -> Found | None:
        """Read the month, season, holiday or quarter after "last", "this" or "next"."""
        name = self.name_of_year(index)
        if name is None:
            return None
        make, after = name
        if sign > 0:
            return Found(periods.yearly(make, self.today + DAY, ahead=True), after)
        period = periods.yearly(make, self.now)
        if sign < 0:
            if period.close > self.today:
                period = periods.yearly(make, period.begin - DAY)
        elif period.close <= self.today:
            period = make(self.now.year)
        return Found(period, after)

    def name_of_year(self, index: int) -> tuple[Callable[[int], Period], int] | None:
        """Return a name that comes back every year: a month, a season, a holiday."""
        month = self.month(index)
        if month:
            return partial(periods.month, number=month), index + 1
        low = self.low(index)
        if low in periods.SEASONS:
            return partial(periods.season, name=low), index + 1
        for words, name in HOLIDAYS.get(low, ()):
            if all(self.spelt(index + place, word) for place, word in enumerate(words)):
                return partial(periods.holiday, name=name), index + len(words)
        return None

    def spelt(self, index: int, word: str) -> bool:
        """Whether a token is a word, and in the possessive if the word is."""
        token = self.at(index)
        return token.low == word.removesuffix("'s") and (token.owned or not word.endswith("'s"))

    def nth(self, index: int) -> Found | None:
        """Read "the first week of May", "last Monday of May 2021", "second quarter of 2022"."""
        place = self.skip(index, "the")
        word = self.low(place)
        count = -1 if word == "last" else ORDINALS.get(word, 0)
        if count == 0 or self.low(place + 2) not in {"of", "in"}:
            return None
        weekday = INFO.weekday(self.low(place + 1)) if self.at(place + 1).is_word else None
        unit = self.unit(place + 1)
        target = self.inner(place + 3)
        if target is None:
            return None

        def inside(whole: Period) -> Period:
            first, end = whole.begin, whole.close
            if weekday is not None and whole.unit == "month":
                if count < 0:
                    return periods.on_weekday(weekday, end - DAY)
                found = periods.on_weekday(weekday, first, ahead=True)
                return containing(found.begin + (count - 1) * 7 * DAY, "day")
            if unit == "week" and whole.unit == "month":
                start = end - 7 * DAY if count < 0 else first + (count - 1) * 7 * DAY
                return Period(start, min(start + 7 * DAY, end), unit)
            if unit == "weekend" and whole.unit == "month":
                saturday = periods.on_weekday(5, first, ahead=True).begin
                if count < 0:
                    saturday = periods.on_weekday(5, end - DAY).begin
                return containing(saturday + max(0, count - 1) * 7 * DAY, unit)
            if unit in {"day", "month", "quarter"} and whole.unit in {"year", "month"}:
                start = end + step(unit, -1) if count < 0 else first + step(unit, count - 1)
                if first <= start < end and unit != whole.unit:
                    return containing(start, unit)
            raise ValueError("no such part")

        again = target.again
        period = inside(target.period)
        if again is not None and period.begin > self.now:
            period = inside(again(target.period.begin - DAY, False))
        return Found(period, target.next)

    def weekday(self, index: int) -> Found | None:
        """Read a weekday: "Friday", "Monday last week", "Tuesday morning"."""
        token = self.at(index)
        weekday = INFO.weekday(token.low) if token.is_word else None
        if weekday is None or self.low(index - 1) in EVERY:
            return None
        if len(token.raw) <= 5 and (token.raw.islower() or token.low == "sun"):
            return None
        place = self.skip(index + 1, "of", "in")
        if self.words(place, "last", "week"):
            week = containing(self.today - 7 * DAY, "week")
            return Found(containing(week.begin + weekday * DAY, "day"), place + 2)
        return Found(
            periods.on_weekday(weekday, self.today),
            index + 1,
            lambda t, ahead: periods.on_weekday(weekday, t, ahead=ahead),
            weak=True,
        )

    def named(self, index: int) -> Found | None:
        """Read a season, a holiday or a quarter: "summer of 2019", "Christmas", "Q1 2023"."""
        place = self.skip(index, "the")
        low = self.low(place)
        if re.fullmatch(r"[qh][1-4]", low) and low not in {"h3", "h4"}:
            return self.part_of_year(index, place, low)
        leading = self.year(place)
        if leading is not None and re.fullmatch(r"q[1-4]", self.low(place + 1)):
            return self.quarter(leading, self.low(place + 1), place + 2)
        name = self.name_of_year(place)
        if name is None or self.month(place):
            return None
        make, after = name
        year, after = self.trailing_year(after)
        if year is not None:
            return Found(make(year), after)
        if low == "fall" and (place == index or self.at(after).is_word):
            return None
        return self.recurring(make, after, weak=True)

    def part_of_year(self, index: int, place: int, low: str) -> Found | None:
        """Read on after "Q1" or "H2"."""
        after = self.skip(place + 1, "of", ",")
        year = self.year(after)
        if year is not None:
            return self.quarter(year, low, after + 1)
        if self.low(index - 1) not in {"in", "during", "since", "for"}:
            return None
        found = self.recurring(lambda y: self.quarter(y, low, 0).period, place + 1, weak=True)
        return found if self.closed(index, place + 1) else None

    def quarter(self, year: int, low: str, after: int) -> Found:
        """Return the quarter or half of a year by its short name."""
        months = 3 if low[0] == "q" else 6
        start = local(year, (int(low[1]) - 1) * months + 1, 1)
        return Found(Period(start, start + step("month", months), "quarter"), after)

    def decade(self, index: int) -> Found | None:
        """Read "the 1990s", "the '90s", "the nineties"."""
        place = self.skip(index, "the")
        token = self.at(place)
        if token.raw in {"'", "’", "‘"} and self.glued(place + 1):
            place, token = place + 1, self.at(place + 1)
        match = re.fullmatch(r"((?:19|20)?)([0-9]0)'?s", token.low + ("'s" if token.owned else ""))
        if match is not None and match[1]:
            first = int(match[1] + match[2])
        else:
            tens = int(match[2]) if match is not None else DECADES.get(token.low, -1)
            before = self.low(index - 1)
            determined = place > index or before in _THIRDS or before in {"the", "-"}
            if tens < 0 or not determined or (tens < 20 and match is not None):
                return None
            if not self.closed(index, place + 1):
                return None
            first = 1900 + tens if tens > 20 else 2000 + tens
        return Found(containing(local(first, 1, 1), "decade"), place + 1)

    def bare_year(self, index: int) -> Found | None:
        """Read "2021", "the year 2021"."""
        place = self.skip(index, "the")
        place = self.skip(place, "year")
        year = self.year(place)
        if year is None or (self.glued(place) and self.low(place - 1) not in {"-", "(", "–"}):
            return None
        return Found(containing(local(year, 1, 1), "year"), place + 1, weak=True)
