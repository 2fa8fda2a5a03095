"""A text as tokens, and the small words of times in it: numbers, units, months, years.

Every method takes the index of a token; what is outside of the text is an empty token.
"""

from __future__ import annotations

import re
from datetime import datetime

from cortext.dates.periods import local
from cortext.dates.words import (
    AUXILIARIES,
    BEFORE,
    CLOSING,
    EVERY,
    FOREIGN,
    INFO,
    NAMELIKE,
    NUMBERS,
    UNITS,
    VAGUE,
    Token,
    tokens,
)

__all__ = ["Reading"]

_NOTHING = Token("", 0, 0, "", False)


class Reading:
    """The tokens of one text."""

    def __init__(self, text: str, reference: datetime) -> None:
        self.text = text
        self.reference = reference
        self.now = reference.replace(tzinfo=None, fold=0)
        self.today = local(self.now.year, self.now.month, self.now.day)
        self.tokens = tokens(text)
        self.done = 0  # where the last span ended
        self.depth = 0

    def at(self, index: int) -> Token:
        """Return a token, or an empty one outside of the text."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else _NOTHING

    def low(self, index: int) -> str:
        """Return a token in lower case, or the empty string outside of the text."""
        return self.at(index).low

    def words(self, index: int, *wanted: str) -> bool:
        """Whether just these words follow each other from there on."""
        return all(self.low(index + place) == word for place, word in enumerate(wanted))

    def skip(self, index: int, *optional: str) -> int:
        """Return the index after one of these words, or the same index."""
        return index + 1 if self.low(index) in optional else index

    def glued(self, index: int) -> bool:
        """Whether a token follows the one before it without a space."""
        return index > 0 and self.at(index).start == self.at(index - 1).end

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
            and before not in EVERY | {"it", "is", "a", "called", "named", "like"}
            and not self.at(end - 1).owned
            and not self.at(end).is_word
            and self.at(end).number is None
        )

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
        """Whether a number is money or the like."""
        return self.glued(index) and self.at(index - 1).raw in {"$", "€", "£", "#", "+"}

    def year(self, index: int) -> int | None:
        """Return a year of this age as four digits."""
        token = self.at(index)
        number = token.number if len(token.raw) == 4 else None
        return number if number is not None and 1900 <= number <= 2099 else None

    def trailing_year(self, index: int) -> tuple[int | None, int]:
        """Return the year after a date and the index after it, if there is one."""
        place = self.skip(index, ",", "of", ".")
        turned = self.low(place) in {"last", "this"} and self.words(place + 1, "year")
        if turned and not self.at(place + 1).owned:
            return self.now.year - (self.low(place) == "last"), place + 2
        year = self.year(place)
        if year is None or (self.at(place + 1).raw in {"%", "$", "€"} and self.glued(place + 1)):
            return None, index
        return year, place + 1

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
