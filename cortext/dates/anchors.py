"""The quick look at a text for events; what may hold one goes on to the patterns."""

from __future__ import annotations

import re

from cortext.dates.types import EXAMINED, Anchor
from cortext.errors import InputError

__all__ = ["find_anchors"]

_CONJUNCTION = re.compile(
    r"(?<![\w'’-])(?:before|after|since|during|until|while|when)(?![\w'’-])", re.I
)


def find_anchors(text: str) -> tuple[Anchor, ...]:
    """Return the events by which a text says when something was, in the order of the text.

    Only after before, after, since, during, until, while and when, and only a noun with an article
    or owner or a clause that starts with a pronoun: "after my trip to Rome", "since I moved".
    Calendar times are left to `find_spans`.  Only the first 2,000 characters are looked at.

    InputError for a text that is not str.  May be called from any thread.
    """
    if not isinstance(text, str):
        raise InputError(f"text must be str, not {type(text).__name__}")
    text = text[:EXAMINED]
    # The patterns are compiled by the first text that has such a word, not by the import.
    if _CONJUNCTION.search(text) is None:
        return ()
    from cortext.dates.events import anchors

    return anchors(text, _CONJUNCTION)
