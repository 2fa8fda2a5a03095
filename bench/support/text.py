"""Made-up messages and questions: natural-looking English, all distinct, the same for one seed.

Distinct inputs matter: an engine that is timed on one text again and again shows its caches.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator

from support import grammar

__all__ = ["DESCRIPTION", "messages", "questions", "questions_of_length", "stream"]

DESCRIPTION = (
    "English from a seeded grammar of 20 topics; messages of exactly {length} characters, cut at a "
    "word; no text occurs twice"
)


def messages(count: int, *, seed: int, length: int = 200) -> list[str]:
    """`count` distinct texts of `length` characters each, ending with a whole word."""
    dice = random.Random(f"messages {seed} {length}")
    found: dict[str, None] = {}
    while len(found) < count:
        text = _sentence(dice)
        while len(text) <= length:
            text += " " + _sentence(dice)
        if text[length - 1].isalnum() and not text[length].isalnum():
            found[text[:length]] = None
    return list(found)


def stream(*, seed: int) -> Iterator[str]:
    """Distinct messages of one to three sentences, without end."""
    dice = random.Random(f"stream {seed}")
    seen: set[bytes] = set()
    while True:
        text = " ".join(_sentence(dice) for _ in range(dice.randint(1, 3)))
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        if digest not in seen:
            seen.add(digest)
            yield text


def questions(*, seed: int) -> Iterator[str]:
    """Distinct questions about what messages are about, without end."""
    dice = random.Random(f"questions {seed}")
    seen: set[str] = set()
    while True:
        text = _fill(dice.choice(grammar.QUESTIONS), dice.choice(grammar.TOPICS), dice)
        text = text[0].upper() + text[1:]
        if text not in seen:
            seen.add(text)
            yield text


def questions_of_length(
    count: int, tokens: int, tokenize: Callable[[str], list[int]], *, seed: int
) -> list[str]:
    """`count` distinct questions of that many tokens, special tokens included."""
    found: list[str] = []
    for text in questions(seed=seed):
        if len(found) == count:
            break
        if len(tokenize(text)) == tokens:
            found.append(text)
    return found


def _sentence(dice: random.Random) -> str:
    topic = dice.choice(grammar.TOPICS)
    kind = dice.random()
    if kind < 0.2:
        return dice.choice(topic.remarks) + "."
    if kind < 0.45:
        return _fill(dice.choice(grammar.ASIDES), topic, dice) + "."
    pattern = dice.choice(grammar.OPENINGS) + " {doing} the {thing} {place}"
    if kind < 0.8:
        pattern += " " + dice.choice(grammar.CLOSINGS)
    return _fill(pattern, topic, dice) + "."


def _fill(pattern: str, topic: grammar.Topic, dice: random.Random) -> str:
    who, other = dice.sample(grammar.PEOPLE, 2)
    return pattern.format(
        who=who,
        other=other,
        doing=dice.choice(topic.doings),
        thing=dice.choice(topic.things),
        place=dice.choice(topic.places),
        month=dice.choice(grammar.MONTHS),
        day=dice.choice(grammar.DAYS),
        nth=dice.choice(("second", "third", "fifth", "ninth", "eleventh", "twentieth")),
        number=dice.randrange(3, 9000),
        hour=f"{dice.randrange(7, 22)}:{dice.choice(('00', '15', '30', '45'))}",
    )
