"""The phrases that name a time, read by descent over the tokens of a text.

Every method takes the index of a token and returns what starts there with the index after it, or
None.  Time is linear in the text: a phrase has a bounded number of tokens and none is read twice at
more than a few places.
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
from cortext.dates.types import MOST, TimeSpan
from cortext.dates.words import (
    AUXILIARIES,
    BEFORE,
    CLOSING,
    DECADES,
    FOREIGN,
    HOLIDAYS,
    INFO,
    NAMELIKE,
    NUMBERS,
    ORDINALS,
    STARTS,
    UNITS,
    VAGUE,
    Token,
    tokens,
    year_sign,
)

__all__ = ["spans"]

_NOTHING = Token("", 0, 0, "", False)
_ISO_DAY = re.compile(r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}")
_NUMERIC = re.compile(r"[0-9]{1,2}([-/.])[0-9]{1,2}\1([0-9]{4}|[0-9]{2})")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:")
_LAST = {"last", "previous"}
_NEXT = {"next", "coming", "upcoming"}
_TO = {"to", "through", "until", "till", "-", "–", "—"}
_EVERY = {"every", "each", "any", "per", "most", "black", "ruby", "cyber", "casual", "happy"}
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


def spans(text: str, reference: datetime) -> tuple[TimeSpan, ...]:
    """As `cortext.dates.find_spans`, for checked arguments."""
    reader = _Reader(text, reference)
    found: list[TimeSpan] = []
    index = 0
    while index < len(reader.tokens) and len(found) < MOST:
        read = reader.safely(reader.whole, index) if reader.may_start(index) else None
        if read is None:
            index += 1
            continue
        span = reader.span(read.period, index, read.next)
        if span is not None:
            found.append(span)
        reader.done = index = read.next
    return tuple(found)


class _Reader:
    def __init__(self, text: str, reference: datetime) -> None:
        self.text = text
        self.reference = reference
        self.now = reference.replace(tzinfo=None, fold=0)
        self.today = local(self.now.year, self.now.month, self.now.day)
        self.tokens = tokens(text)
        self.done = 0  # where the last span ended
        self.depth = 0

    # -- tokens --

    def at(self, index: int) -> Token:
        """Return a token, or an empty one outside of the text."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else _NOTHING

    def low(self, index: int) -> str:
        return self.at(index).low

    def words(self, index: int, *wanted: str) -> bool:
        return all(self.low(index + place) == word for place, word in enumerate(wanted))

    def skip(self, index: int, *optional: str) -> int:
        return index + 1 if self.low(index) in optional else index

    def glued(self, index: int) -> bool:
        """Whether a token follows the one before it without a space."""
        return index > 0 and self.at(index).start == self.at(index - 1).end

    def safely(self, method: Callable[[int], Found | None], index: int) -> Found | None:
        """Read; a time that no calendar has, or that is out of range, is none."""
        try:
            return method(index)
        except (ValueError, OverflowError):
            return None

    def may_start(self, index: int) -> bool:
        """Whether it is worth trying."""
        word = self.low(index)
        if word == "the":
            word = self.low(index + 1)
            if word in {"other", "very"}:
                return True
        return word in STARTS or word[:1].isdigit()

    # -- results --

    def span(self, period: Period, first: int, end: int) -> TimeSpan | None:
        start_utc = self.utc(period.start, datetime.min.replace(tzinfo=timezone.utc))
        end_utc = self.utc(period.end, self.reference)
        if start_utc is None or end_utc is None or start_utc >= end_utc:
            return None
        words = self.text[self.at(first).start : self.at(end - 1).end]
        return TimeSpan(start_utc, end_utc, words)

    def utc(self, time: datetime | None, default: datetime) -> datetime | None:
        try:
            if time is None:
                time = default
            elif time.tzinfo is None:
                time = time.replace(tzinfo=self.reference.tzinfo)
            return time.astimezone(timezone.utc)
        except (ValueError, OverflowError):
            return None

    # -- phrases --

    def whole(self, index: int) -> Found | None:
        """Read the longest phrase: an operator with its times, or a time alone."""
        if not self.at(index).raw:
            return None
        for method in (self.counted_from, self.between, self.bounded):
            found = self.safely(method, index)
            if found is not None:
                return found
        found = self.period(index)
        if found is None or (found.weak and not self.fits(index, found.next)):
            return None
        return found

    def fits(self, index: int, end: int) -> bool:
        """Whether the words around a bare name make it a time."""
        place = index - 1
        while self.low(place) in {"the", "year", "month", "early", "late", "mid"}:
            place -= 1
        before, name = self.low(place), self.at(index)
        if before in FOREIGN and name.number is not None:
            return True
        listed = self.done == place and self.done > 0 and before in {"and", "or", ",", "&"}
        weekday = INFO.weekday(name.low) is not None and name.low not in NAMELIKE
        if before in BEFORE or listed:
            if name.low in NAMELIKE and before in {"by", "for", "at", "on", "of", "from"}:
                return False
            if before in {"before", "after", "since", "until", "till"} and (
                name.raw.islower() and name.low in NAMELIKE
            ):
                return False
            return self.closed(index, end)
        # "What did I say Tuesday?"
        return (
            weekday
            and self.at(index).raw[:1].isupper()
            and self.at(place).is_word
            and place == index - 1
            and before not in _EVERY | {"it", "is", "a", "called", "named", "like"}
            and not self.at(end - 1).owned
            and not self.at(end).is_word
            and self.at(end).number is None
        )

    def closed(self, index: int, end: int) -> bool:
        """Whether what follows a bare name cannot belong with it."""
        last, after = self.at(end - 1), self.at(end)
        weekday = INFO.weekday(last.low) is not None
        if last.owned:
            return weekday
        if not after.raw:
            return True
        if self.glued(end):
            # "2021." may end a sentence; "2021%" and "2021/7" are something else.
            return after.raw in ".,;:?!)]\"'”’…" or after.raw in {"-", "–", "—"}
        if not after.is_word:
            return not after.raw[0].isdigit() and after.raw not in "%$€£#+*/=°"
        if after.low in AUXILIARIES and last.low in NAMELIKE:
            return self.low(index - 1) in {"in", "during"}
        if after.low in CLOSING:
            return True
        # "In 2021 Anna", but neither "the Spring Festival" nor "June Carter" nor "Sunday Times".
        plain = last.number is not None or last.raw.islower() or bool(self.month(end - 1))
        return after.raw[0].isupper() and plain and not weekday and last.low not in NAMELIKE

    def counted_from(self, index: int) -> Found | None:
        """Read "two days before Christmas", "the week after May 8", "the Friday before 20 May"."""
        place = self.skip(self.skip(index, "the"), "last")
        count = self.count(place)
        if count is not None and count[0] == count[1] and place == index:
            amount, place = count[0], count[2]
        else:
            amount = 0
        unit = self.unit(place, many=amount > 1)
        weekday = INFO.weekday(self.low(place)) if amount == 0 and place > index else None
        relation = self.low(place + 1)
        if relation not in {"before", "after"} or (unit is None and weekday is None):
            return None
        if unit in {"hour", "minute"} or (amount == 0 and place == index):
            return None
        target = self.operand(place + 2)
        if target is None:
            return None
        sign = -1 if relation == "before" else 1
        goal = target.period
        if weekday is not None:
            bound = goal.begin - DAY if sign < 0 else goal.close
            period = periods.on_weekday(weekday, bound, ahead=sign > 0)
        elif amount and unit is not None:
            there = (goal.core or goal.begin) + step(unit, sign * amount)
            period = containing(there, unit)
        elif unit == "weekend":
            period = containing(goal.begin, unit)
            while (period.close > goal.begin) if sign < 0 else (period.begin < goal.close):
                period = containing(period.begin + step("week", sign), unit)
        else:
            assert unit is not None
            edge = (goal.core or goal.begin) if sign < 0 else (goal.core or goal.close - DAY) + DAY
            other = edge + step(unit, sign)
            period = Period(min(edge, other), max(edge, other), unit)
        return Found(period, target.next)

    def between(self, index: int) -> Found | None:
        """Read "between March and May", "from 3 to 9 May", "in 2019-2021", "May 3 to May 9"."""
        word = self.low(index)
        marks = {"and", "&"} if word == "between" else _TO
        start = index + 1 if word in {"between", "from"} else index
        if start == index and self.at(index).number is None and not self.month(index):
            return None
        days = self.run_of_days(start, marks)
        if days is not None:
            return days
        first = self.operand(start)
        if first is None or self.low(first.next) not in marks:
            return None
        second = self.operand(first.next + 1)
        if second is None:
            return None
        early, late = first.period, second.period
        if first.again is not None and second.again is None:
            early = first.again(late.begin, False)
        elif second.again is not None:
            late = second.again(early.begin, True)
        if early.begin >= late.close:
            return None
        if start == index:
            # "May to June" without "from" is too little, unless a preposition is there.
            asked = early.unit == "day" or self.low(index - 1) in {"in", "during", "for"}
            if early.unit != late.unit or not asked:
                return None
        return Found(Period(early.start, late.end, "range"), second.next)

    def run_of_days(self, index: int, marks: set[str]) -> Found | None:
        """Read "3 to 9 May 2023" and "May 3-9"."""
        month = self.month(index)
        place = index + 1 if month else self.skip(index, "the")
        one = self.day_number(place)
        if one is None or self.low(place + 1) not in marks:
            return None
        place = self.skip(place + 2, "the")
        two = self.day_number(place)
        if two is None or two <= one:
            return None
        place += 1
        if not month:
            place = self.skip(place, "of")
            month = self.month(place)
            place += 1
            if not month:
                return None
        number = month
        year, place = self.trailing_year(place)
        if year is not None:
            early = periods.day(year, number, one)
        else:
            early = periods.yearly(lambda y: periods.day(y, number, one), self.now)
        late = periods.day(early.begin.year, number, two)
        return Found(Period(early.start, late.end, "range"), place)

    def bounded(self, index: int) -> Found | None:
        """Read "since January", "before 2020", "until May", "around Christmas"."""
        word, place = self.low(index), index + 1
        if word == "prior" and self.low(place) == "to":
            word, place = "before", place + 1
        elif word == "up" and self.low(place) in {"to", "until"}:
            word, place = "until", place + 1
        if word not in {"since", "before", "after", "until", "till", "around", "about", "circa"}:
            return None
        target = self.operand(place, after=word)
        if target is None:
            return None
        goal = target.period
        if word == "since":
            return Found(Period(goal.begin, None, "range"), target.next)
        if word == "after":
            return Found(Period(goal.close, None, "range"), target.next)
        if word == "before":
            return Found(Period(None, goal.begin, "range"), target.next)
        if word in {"until", "till"}:
            return Found(Period(None, goal.end, "range"), target.next)
        if word == "about" and not self.words(target.next - 1, "ago"):
            return None  # "what did I say about May?" asks for a topic
        return Found(periods.widened(goal), target.next)

    def operand(self, index: int, after: str = "") -> Found | None:
        """Read a time that a word before it asks for, so that a bare name will do."""
        found = self.safely(self.period, index)
        if found is None or not found.weak:
            return found
        name = self.at(self.skip(index, "the"))
        if name.low in NAMELIKE and (name.raw.islower() or after == "around"):
            return None
        if self.low(found.next) in _TO | {"and", "&"} and not after:
            return found
        return found if self.closed(index + 1, found.next) else None

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
        if word == "week" and self.words(place + 1, "of"):
            target = self.inner(place + 2)
            if target is None or target.period.unit not in {"day", "part"}:
                return None
            return Found(containing(target.period.begin, "week"), target.next)
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

    def month(self, index: int) -> int:
        """Return the number of the month that a token names, or 0."""
        token = self.at(index)
        return (INFO.month(token.low) or 0) if token.is_word else 0

    def day_number(self, index: int) -> int | None:
        """Return the day of a month that a token gives: "5", "5th"."""
        token = self.at(index)
        match = re.fullmatch(r"([0-9]{1,2})(st|nd|rd|th)?", token.low)
        number = int(match[1]) if match else 0
        return number if 1 <= number <= 31 and not (self.owned_number(index)) else None

    def owned_number(self, index: int) -> bool:
        return self.glued(index) and self.at(index - 1).raw in {"$", "€", "£", "#", "+"}

    def trailing_year(self, index: int) -> tuple[int | None, int]:
        """Return the year after a date and the index after it, if there is one."""
        place = self.skip(index, ",", "of", ".")
        year = self.year(place)
        if year is None or (self.at(place + 1).raw in {"%", "$", "€"} and self.glued(place + 1)):
            return None, index
        return year, place + 1

    def year(self, index: int) -> int | None:
        """Return a year of this age as four digits."""
        token = self.at(index)
        number = token.number if len(token.raw) == 4 else None
        return number if number is not None and 1900 <= number <= 2099 else None

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

    def unit(self, index: int, *, many: bool = False) -> str | None:
        """Return the unit of time that a token names, in the singular."""
        low = self.low(index).removesuffix("'")
        one = low.removesuffix("s")
        return one if one in UNITS and (many or low == one) else None

    def count(self, index: int) -> tuple[int, int, int] | None:
        """Return from how many to how many, and the index after: "three", "a couple of"."""
        place = self.skip(index, "a") if self.low(index + 1) in VAGUE else index
        vague = VAGUE.get(self.low(place))
        if vague is not None:
            return *vague, self.skip(place + 1, "of")
        number = self.at(index).number
        if number is None:
            number = NUMBERS.get(self.low(index))
        if number is None or number == 0 or self.owned_number(index):
            return None
        return number, number, index + 1

    def ago(self, index: int) -> Found | None:
        """Read "three weeks ago", "a couple of days ago", "two Fridays ago"."""
        count = self.count(index)
        if count is None:
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
            weekday = INFO.weekday(self.low(place + 1)) if self.at(place + 1).is_word else None
            if unit == "week" and weekday is not None and self.low(place + 1) not in NAMELIKE:
                return Found(containing(found.begin + weekday * DAY, "day"), place + 2)
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
        if weekday is None or self.low(index - 1) in _EVERY:
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
        turned = self.skip(after, "of")
        if self.low(turned) in _LAST | {"this"} and self.low(turned + 1) == "year":
            return Found(make(self.now.year - (self.low(turned) != "this")), turned + 2)
        year, after = self.trailing_year(after)
        if year is not None:
            return Found(make(year), after)
        if low == "fall" and (place == index or self.at(after).is_word):
            return None
        return self.recurring(make, after, weak=True)

    def part_of_year(self, index: int, place: int, low: str) -> Found | None:
        after = self.skip(place + 1, "of", ",")
        year = self.year(after)
        if year is not None:
            return self.quarter(year, low, after + 1)
        if self.low(index - 1) not in {"in", "during", "since", "for"}:
            return None
        found = self.recurring(lambda y: self.quarter(y, low, 0).period, place + 1, weak=True)
        return found if self.closed(index, place + 1) else None

    def quarter(self, year: int, low: str, after: int) -> Found:
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
