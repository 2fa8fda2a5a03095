"""The times of a text: phrases, and what joins or bounds them: "between", "since", "the day after".

Read by descent.  Time is linear in the text: a phrase has a bounded number of tokens, and a token
is tried for a bounded number of phrases.
"""

from __future__ import annotations

from datetime import datetime, timezone

from cortext.dates import periods
from cortext.dates.periods import DAY, Period, containing, step
from cortext.dates.phrases import Found, Phrases
from cortext.dates.types import MOST, TimeSpan
from cortext.dates.words import INFO, NAMELIKE, STARTS

__all__ = ["spans"]

_TO = {"to", "through", "until", "till", "-", "–", "—"}


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


class _Reader(Phrases):
    """Reads the longest phrase that starts at a token."""

    def may_start(self, index: int) -> bool:
        """Whether it is worth trying."""
        word = self.low(index)
        if word == "the":
            word = self.low(index + 1)
            if word in {"other", "very"}:
                return True
        return word in STARTS or word[:1].isdigit()

    def span(self, period: Period, first: int, end: int) -> TimeSpan | None:
        """Return the span of the tokens from `first` to before `end`; none if it is empty."""
        start_utc = self.utc(period.start, datetime.min.replace(tzinfo=timezone.utc))
        end_utc = self.utc(period.end, self.reference)
        if start_utc is None or end_utc is None or start_utc >= end_utc:
            return None
        words = self.text[self.at(first).start : self.at(end - 1).end]
        return TimeSpan(start_utc, end_utc, words)

    def utc(self, time: datetime | None, default: datetime) -> datetime | None:
        """Return a time of the reference's zone in UTC; none if it leaves the years 1 to 9999."""
        try:
            if time is None:
                time = default
            elif time.tzinfo is None:
                time = time.replace(tzinfo=self.reference.tzinfo)
            return time.astimezone(timezone.utc)
        except (ValueError, OverflowError):
            return None

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
            bound = (goal.core or goal.begin) - DAY if sign < 0 else goal.close
            if sign > 0 and goal.core:
                bound = goal.core + DAY
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
