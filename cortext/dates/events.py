"""Which words after "before", "after" and the like are an event."""

from __future__ import annotations

import re
from typing import Literal

from cortext.dates.types import Anchor

__all__ = ["anchors"]

_RELATION: dict[str, Literal["before", "after", "during"]] = {
    "before": "before", "until": "before", "after": "after", "since": "after",
    "during": "during", "while": "during", "when": "during",
}  # fmt: skip
_NOUN = re.compile(
    r"(?:the|my|your|his|her|its|our|their|that|this)\s+[^\W\d_][\w'’-]*"
    r"|[^\W\d_][\w-]*['’]s\s+[^\W\d_][\w'’-]*",
    re.IGNORECASE,
)
_PRONOUN = r"(?:i|you|he|she|it|we|they)"
_CLAUSE = re.compile(_PRONOUN + r"(?:['’]|\s)", re.IGNORECASE)
# Only what is told as past is an event: "when I fly" is a habit, "since I like tea" a reason.
_EVENT = re.compile(
    _PRONOUN
    + r"(?:['’]d|\s+(?:(?:first|last|both|all|finally|just|even)\s+)?(?:[a-z]{2,}ed|was|were|had"
    r"|ate|became|began|bought|broke|brought|built|came|caught|chose|cut|did|drove|fell|felt|flew|found"
    r"|gave|got|grew|had|heard|held|hit|hurt|kept|knew|learnt|led|left|lost|made|met|paid|put|quit|ran"
    r"|read|rode|said|sat|saw|sent|set|slept|sold|spent|spoke|stood|swam|taught|told|took|went|woke|won"
    r"|wore|wrote))\b",
    re.IGNORECASE,
)
# The clause ends at a mark, or where the question proper begins.
_END = re.compile(
    r"[,;:?!()\"“”\n]|\.(?!\w)|\s[-–—]\s"
    r"|\s(?=(?:what|which|who|whom|where|why|how|did|do|does|and\s+(?:what|which|who|where|how))\b)",
    re.IGNORECASE,
)
# Times of the calendar, and what stands for no event, are for `find_spans` or for nobody.
_NO_EVENT = re.compile(
    r"(?:the|that|this|my|your|his|her|its|our|their)\s+(?:last|next|past|previous|coming|first|second|third|fourth|end|"
    r"beginning|start|early|mid|late|same|other|rest|fact|time|times|moment|now|point|"
    r"(?:minute|hour|day|week|weekend|fortnight|month|quarter|year|decade|century|morning|afternoon|"
    r"evening|night|noon|midnight|summer|spring|autumn|winter|fall|holidays|nineties|eighties|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?)\b(?!['’])"
    r"|\w+day['’]s\b|(?:new\s+)?year['’]s\b|valentine['’]s\b",
    re.IGNORECASE,
)
# "Look after my dog", "named after his uncle": no time at all.
_PARTICLE = re.compile(
    r"\b(?:look(?:s|ed|ing)?|tak(?:e|es|en|ing)|took|nam(?:e|es|ed|ing)|call(?:s|ed)|ask(?:s|ed|ing)?|"
    r"chas(?:e|es|ed|ing)|run(?:s|ning)?|ran|clean(?:s|ed|ing)?|go(?:es|ing)?|went|seek(?:s|ing)?)"
    r"\s+$",
    re.IGNORECASE,
)
_LONGEST = 80  # characters of an event; more is a story


def anchors(text: str, conjunction: re.Pattern[str]) -> tuple[Anchor, ...]:
    """As `cortext.dates.find_anchors`, for a text of bounded length."""
    found: list[Anchor] = []
    done = 0
    for match in conjunction.finditer(text):
        if match.start() < done:
            continue
        word = match[0].lower()
        start = match.end()
        while text[start : start + 1].isspace():
            start += 1
        if start == match.end() or not _names_event(text, word, start):
            continue
        if word == "after" and _PARTICLE.search(text, max(0, match.start() - 12), match.start()):
            continue
        end = _END.search(text, start)
        event = text[start : end.start() if end else len(text)].rstrip(" .")
        if len(event) > _LONGEST or " " not in event:
            continue
        done = start + len(event)
        found.append(Anchor(_RELATION[word], event))
    return tuple(found)


def _names_event(text: str, word: str, start: int) -> bool:
    if _NO_EVENT.match(text, start):
        return False
    if word != "during" and _CLAUSE.match(text, start):
        return _EVENT.match(text, start) is not None
    return word not in {"while", "when"} and _NOUN.match(text, start) is not None
