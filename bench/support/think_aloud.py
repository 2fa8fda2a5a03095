"""Streams in which an answerer thinks aloud about a question, amid talk about other things.

Made from the question's own text alone, by templates and a hash of it: nothing here sees evidence,
answers or categories, so that no stream knows what it should find.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from support.streams import Channel, Piece, Stream, joined

__all__ = ["TEMPLATES", "filler", "musing", "stream"]

FILLER = Path(__file__).parents[1] / "data" / "filler.txt"
SEED = "think aloud 1"
FEWEST, MOST = 6, 10  # sentences about other things
AROUND = 2  # of them at least before the musing, and behind it

ASKS = "what when where which who whom whose why how"
HELPS = """
am are can could did do does had has have is might must shall should was were will would
"""
JOINS = """
a about after all also an and any as at be been before being both but by during each for from get
getting got he her hers him his if in into it its itself me more most my no not of off on or other
our out over own she so some such than that the their them then there these they this those through
to too under until up us very we with you your
"""
ASKING = frozenset(ASKS.split())
AUXILIARY = frozenset(HELPS.split())
FUNCTION = frozenset(JOINS.split()) | ASKING | AUXILIARY
MODIFIED = frozenset({"what", "which", "whose", "how"})  # "how many dogs", "which city"
SILENT = frozenset({"did", "do", "does"})  # only there to ask
WORD = re.compile(r"[^\W_]+(?:['’.&+-][^\W_]+)*(?:['’])?")


@cache
def filler() -> tuple[str, ...]:
    """Sentences of an assistant's ordinary work that concern no private life."""
    return tuple(FILLER.read_text(encoding="utf-8").splitlines())


def stream(name: str, question: str) -> Stream:
    """Think aloud about a question: its musing in two or three pieces, six to ten of other talk."""
    dice = random.Random(f"{SEED} {question}")
    about = musing(question, dice.randrange(len(TEMPLATES)))
    talk = dice.sample(filler(), dice.randint(FEWEST, MOST))
    before = dice.randint(AROUND, len(talk) - AROUND)
    sentences = [*talk[:before], *about, *talk[before:]]
    thought = dice.randint(1, len(sentences) - 1)  # so many are thought, the rest is said
    pieces = []
    for index, sentence in enumerate(sentences):
        channel: Channel = "thinking" if index < thought else "text"
        is_about = before <= index < before + len(about)
        pieces.append(Piece(sentence, channel, "about" if is_about else "unrelated"))
    return Stream(name, joined(pieces))


def musing(question: str, template: int) -> list[str]:
    """What one of the templates makes of a question."""
    return list(TEMPLATES[template](_Asked(question)))


class _Asked:
    """A question and what simple word operations make of it."""

    def __init__(self, question: str) -> None:
        self.plain = question.strip().rstrip("?.! ")
        self.words = self.plain.split()

    @property
    def question(self) -> str:
        """As it was asked."""
        return f"{self.plain}?"

    @property
    def content(self) -> str:
        """Its words without the function words: "Ada, ride, mountain"."""
        return ", ".join(self._content())

    @property
    def rest(self) -> str:
        """The content without its names; all of it where nothing is left."""
        name = self.name
        rest = [word for word in self._content() if word not in name.split(" and ")]
        return " ".join(rest or self._content())

    @property
    def name(self) -> str:
        """Whom it names, behind its first word; "they" where it names nobody."""
        names = [
            word.removesuffix("'s").removesuffix("’s")
            for word in WORD.findall(" ".join(self.words[1:]))
            if word[0].isupper()
        ]
        return " and ".join(dict.fromkeys(names[:2])) or "they"

    @property
    def halves(self) -> tuple[str, str]:
        """Cut in the middle, between two words."""
        middle = (len(self.words) + 1) // 2
        return " ".join(self.words[:middle]), " ".join(self.words[middle:]) or self.plain

    @property
    def statement(self) -> str:
        """As a clause: "when did Ada ride" to "when Ada ride", "what is it" to "what it is"."""
        words = self.words
        lower = [word.lower() for word in words]
        asking = 1 if lower and lower[0] in ASKING else 0
        if asking and lower[0] in MODIFIED and not AUXILIARY.intersection(lower[1:2]):
            asking = next((i for i, word in enumerate(lower) if word in AUXILIARY), len(words))
        if asking >= len(words) or lower[asking] not in AUXILIARY:
            return _lowered(self.plain) if asking else f"the matter of {_lowered(self.plain)}"
        lead = [_lowered(" ".join(words[:asking]))] if asking else ["whether"]
        helper, rest = lower[asking], words[asking + 1 :]
        if helper in SILENT:
            return " ".join([*lead, *rest])
        subject = 1 if rest and rest[0][:1].isupper() and not re.search("['’]s?$", rest[0]) else 0
        while subject and subject + 1 < len(rest) and rest[subject].lower() == "and":
            subject += 2
        if not subject and asking > 1:  # "what trees have grown here" is a clause already
            return _lowered(self.plain)
        if not subject:
            end = rest.index("be") if "be" in rest[1:] else len(rest)
            return " ".join([*lead, *rest[:end], helper, *rest[end:]])
        return " ".join([*lead, *rest[:subject], helper, *rest[subject:]])

    def _content(self) -> list[str]:
        words = [word for word in WORD.findall(self.plain) if word.lower() not in FUNCTION]
        return list(dict.fromkeys(words)) or self.words


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _raised(text: str) -> str:
    """Begins like a sentence: what begins in lower case may go on with the one before."""
    return text[:1].upper() + text[1:]


Template = Callable[[_Asked], Iterator[str]]


def _verbatim(asked: _Asked) -> Iterator[str]:
    yield "Let me read the question once more before I answer."
    yield _raised(asked.question)


def _verbatim_then_content(asked: _Asked) -> Iterator[str]:
    yield f"They ask: {asked.question}"
    yield f"I should look for what was said about {asked.content}."


def _halves(asked: _Asked) -> Iterator[str]:
    first, second = asked.halves
    yield f"The first half of it is: {_lowered(first)}."
    yield f"The other half is: {second}."


def _words_only(asked: _Asked) -> Iterator[str]:
    yield f"The key words here are {asked.content}."
    yield "There must have been a message with these."


def _recalling(asked: _Asked) -> Iterator[str]:
    yield f"I should recall {asked.statement}."
    yield "That would settle the main point."


def _do_i_know(asked: _Asked) -> Iterator[str]:
    yield f"Do I know {asked.statement}?"
    yield "I'm not certain, so I had better check it."


def _who_said(asked: _Asked) -> Iterator[str]:
    yield f"I should recall what {asked.name} said about {asked.rest}."
    yield f"The question was {asked.statement}."


def _comes_down_to(asked: _Asked) -> Iterator[str]:
    yield f"It comes down to this, {asked.statement}."
    yield "Without that I would only be guessing."


def _notes(asked: _Asked) -> Iterator[str]:
    yield f"The user wants to know {asked.statement}."
    yield f"Earlier notes on {asked.content} would help with that."


def _was_there(asked: _Asked) -> Iterator[str]:
    yield _raised(asked.question)
    yield f"Something on {asked.content}, was there such a message?"


def _three_parts(asked: _Asked) -> Iterator[str]:
    first, second = asked.halves
    yield "First I take the question apart, it has two pieces."
    yield f"{_raised(first)}, that is the one piece."
    yield f"{_raised(second)}, that is the other piece."


def _mentioned(asked: _Asked) -> Iterator[str]:
    yield f"It was mentioned at some point, {asked.statement}."
    yield f"It may have been when {asked.name} talked about {asked.rest}."


def _before_writing(asked: _Asked) -> Iterator[str]:
    yield "Now to what was really asked."
    yield f"Before I write anything, {asked.statement} has to be clear."
    yield f"So I look for {asked.content}."


def _split_words(asked: _Asked) -> Iterator[str]:
    words = asked.content.split(", ")
    middle = (len(words) + 1) // 2
    yield f"I remember something about {' and '.join(words[:middle])}."
    yield f"It had to do with {' and '.join(words[middle:] or words)} as well."


TEMPLATES: tuple[Template, ...] = (
    _verbatim,
    _verbatim_then_content,
    _halves,
    _words_only,
    _recalling,
    _do_i_know,
    _who_said,
    _comes_down_to,
    _notes,
    _was_there,
    _three_parts,
    _mentioned,
    _before_writing,
    _split_words,
)
