"""The words of times, and a text cut into tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dateutil.parser import parserinfo

INFO = parserinfo()


def _words(text: str) -> list[str]:
    return text.split()


def _set(text: str) -> frozenset[str]:
    return frozenset(_words(text))


_COUNTED = _words(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
NUMBERS = {word: number for number, word in enumerate(_COUNTED, 1)}
NUMBERS |= {"a": 1, "an": 1, "thirty": 30, "forty": 40, "fifty": 50}
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
# From so many to so many: what people mean by them is not one number.
VAGUE = {"couple": (2, 3), "few": (2, 5), "several": (3, 7)}
UNITS = _set("minute hour day week fortnight weekend month quarter year decade")
DECADES = {"fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80, "nineties": 90}
# First word -> spellings and the name that `periods.holiday` knows, the longest first.
HOLIDAYS: dict[str, list[tuple[tuple[str, ...], str]]] = {
    "new": [
        (("new", "year's", "eve"), "new year's eve"),
        (("new", "years", "eve"), "new year's eve"),
        (("new", "year's", "day"), "new year's day"),
        (("new", "years", "day"), "new year's day"),
        (("new", "year's"), "new year"),
        (("new", "year"), "new year"),
    ],
    "christmas": [
        (("christmas", "eve"), "christmas eve"),
        (("christmas", "day"), "christmas day"),
        (("christmas",), "christmas"),
    ],
    "xmas": [(("xmas",), "christmas")],
    "boxing": [(("boxing", "day"), "boxing day")],
    "good": [(("good", "friday"), "good friday")],
    "easter": [(("easter",), "easter")],
    "halloween": [(("halloween",), "halloween")],
    "thanksgiving": [
        (("thanksgiving", "day"), "thanksgiving"),
        (("thanksgiving",), "thanksgiving"),
    ],
    "valentine": [
        (("valentine's", "day"), "valentine's day"),
        (("valentine's",), "valentine's day"),
    ],
    "valentines": [(("valentines", "day"), "valentine's day")],
}
# Months that are also people or other words: they need more to be a month.
NAMELIKE = {"march", "mar", "april", "may", "june", "august", "jan", "sun", "sat", "wed", "mon"}
# A word before which a bare month, year or season is a time.
BEFORE = _set("in during since of over at on by for until till from before after around")
FOREIGN = _set("en em im anno año année ano jahr jaar år roku w v в год году annee dans nel el")
# A word after a bare month or year that shows it is no part of something else, such as "in 2000
# steps" or "in May's garden".
CLOSING = _set(
    "i you he she it we they who whom whose what which when where why how and or but nor that "
    "than then as if because while so to in on at of for with from by about before after since "
    "until till during between over under near around into onto through via against without did "
    "do does done was were is are am be been had has have having will would shall should can "
    "could may might must not never ever also just only already again still there here my your "
    "his her our their its the a an this these those any some all vs versus went go going "
    "happened happen said say made make bought got took came left started began compared both "
    "please ago yesterday today tomorrow last next"
)
AUXILIARIES = _set("did do does was were is are had has have will would can could said say went")

# A word after which a weekday is a habit or a name.
EVERY = _set("every each any per most black ruby cyber casual happy")
# What a phrase may start with; nothing needs to be tried at any other word.
STARTS = _set(
    "a an these this last past previous next coming upcoming early mid late beginning start end "
    "middle yesterday today tomorrow tonight earlier later recent since before after until till "
    "around about circa prior up between from very year q1 q2 q3 q4 h1 h2 spring summer autumn "
    "fall winter half morning afternoon evening night ' ’ ‘"
).union(NUMBERS, ORDINALS, VAGUE, UNITS, DECADES, HOLIDAYS, *INFO.MONTHS, *INFO.WEEKDAYS)
STARTS = frozenset(word.lower() for word in STARTS)

_TOKEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?(?!\w)"
    # Numbers and letters held together by marks are one token until they are taken apart below.
    r"|\w+(?:[-./:'’]\w+)*"
    r"|[^\w\s]"
)
_YEAR_SIGN = re.compile(r"([0-9]{4})[年년](?:([0-9]{1,2})[月월](?:([0-9]{1,2})[日일])?)?")
_DASHED = re.compile(r"[0-9]{1,4}-[0-9]{1,4}|[0-9]{1,2}-[^\W\d_]{3,9}-[0-9]{4}")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text with its place."""

    raw: str
    start: int
    end: int
    low: str  # lower case, with the plain apostrophe, without a possessive 's
    owned: bool  # had a possessive 's

    @property
    def is_word(self) -> bool:
        """Whether it is letters rather than a mark or number."""
        return self.raw[:1].isalpha()

    @property
    def number(self) -> int | None:
        """Its value if it is up to four ASCII digits."""
        if len(self.raw) <= 4 and self.raw.isascii() and self.raw.isdigit():
            return int(self.raw)
        return None


def _token(raw: str, start: int) -> Token:
    low = raw.lower().replace("’", "'")
    owned = low.endswith("'s") and low[0].isalpha()
    return Token(raw, start, start + len(raw), low.removesuffix("'s") if owned else low, owned)


def tokens(text: str) -> list[Token]:
    """Cut a text into tokens; what is no word, number or numeric date stays opaque."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        raw, start = match[0], match.start()
        if "-" in raw and (not raw[0].isdigit() or _DASHED.fullmatch(raw)):
            # "mid-2019", "May-June", "3-9": words and a dash between them.
            pieces = re.finditer(r"[^-]+|-", raw)
            found.extend(_token(piece[0], start + piece.start()) for piece in pieces)
        elif (sign := _YEAR_SIGN.match(raw)) is not None:
            found.append(_token(sign[0], start))
        else:
            found.append(_token(raw, start))
    return found


def year_sign(raw: str) -> tuple[int, int | None, int | None] | None:
    """Return year, month and day of a Chinese, Japanese or Korean date."""
    match = _YEAR_SIGN.fullmatch(raw)
    if match is None:
        return None
    year, month, day = match.groups()
    return int(year), int(month) if month else None, int(day) if day else None
