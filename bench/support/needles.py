"""Needles: 300 one-off texts among 5,000 look-alikes, all made up by code, the same every time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from support.haystacks import Haystack, Question, Turn
from support.needle_kinds import BLOCKS, KINDS, LINES, Maker, Needle

__all__ = ["DISTRACTORS", "Case", "cases", "read"]

SEED = "needles 1"
DISTRACTORS = 5000
LONG_NEEDLES = 3  # every third stands somewhere inside a long output
LONG_DISTRACTORS = 40  # and every fortieth look-alike
SHORTEST, LONGEST = 400, 3750  # characters of a long output, before its last part
START = 1_767_225_600_000  # 2026-01-01 UTC, in milliseconds
MINUTE = 60_000
SESSION = 50  # messages
ROLES = ("tool", "tool", "assistant", "user")


@dataclass(frozen=True, slots=True)
class Case:
    """A message; `kind` is empty where nobody asks for it."""

    text: str
    needle: Needle
    long: bool
    kind: str = ""

    @property
    def category(self) -> str:
        """The groups it is scored in."""
        return f"{self.kind}, {'inside a long output' if self.long else 'on its own'}"


def read() -> Iterator[Haystack]:
    """The one haystack, needles and look-alikes shuffled."""
    dice = random.Random(f"{SEED} order")
    found = cases()
    dice.shuffle(found)
    turns, questions = [], []
    for index, case in enumerate(found):
        uid, session = f"m{index}", f"s{index // SESSION}"
        turns.append(Turn(uid, session, dice.choice(ROLES), case.text, START + index * MINUTE))
        if case.kind:
            gold = frozenset([uid])
            question = case.needle.question
            questions.append(Question(uid, question, case.category, gold, frozenset()))
    yield Haystack("needles", tuple(turns), tuple(questions))


def cases() -> list[Case]:
    """All messages: the needles by kind, then the look-alikes."""
    draw = _Draw(random.Random(SEED))
    asked = [(kind, index) for kind, (_, count) in KINDS.items() for index in range(count)]
    found = [draw.case(kind, long=index % LONG_NEEDLES == 0, asked=True) for kind, index in asked]
    kinds = list(KINDS)
    for index in range(DISTRACTORS):
        kind = kinds[index % len(kinds)]
        found.append(draw.case(kind, long=index % LONG_DISTRACTORS == 0, asked=False))
    return found


class _Draw:
    """Draws from the makers; no key comes twice, in the long outputs neither."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._keys: set[str] = set()

    def case(self, kind: str, *, long: bool, asked: bool) -> Case:
        needle = self._unique(KINDS[kind][0])
        text = self._inside_output(needle.text) if long else needle.text
        return Case(text, needle, long, kind if asked else "")

    def _inside_output(self, text: str) -> str:
        """The text somewhere among others of its sort."""
        blocks = "\n" in text
        filler = self._dice.choice(BLOCKS if blocks else LINES)
        # Squared, so that most are hundreds of characters and a few are thousands.
        room = SHORTEST + (LONGEST - SHORTEST) * self._dice.random() ** 2 - len(text)
        parts: list[str] = []
        while room > 0:
            parts.append(self._unique(filler).text)
            room -= len(parts[-1])
        parts.insert(self._dice.randrange(len(parts) + 1), text)
        return ("\n\n" if blocks else "\n").join(parts)

    def _unique(self, maker: Maker) -> Needle:
        while True:
            needle = maker(self._dice)
            # A name is one name however it is written.
            key = needle.key.lower().replace("_", "").replace("-", "")
            if key not in self._keys:
                self._keys.add(key)
                return needle
