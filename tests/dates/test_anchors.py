"""Events as anchors: which are seen, and what only looks like one."""

from __future__ import annotations

import pytest

from cortext.dates import Anchor, find_anchors
from cortext.errors import InputError

EVENTS = [
    ("what did I buy after my trip to Rome?", "after", "my trip to Rome"),
    ("What happened before the wedding?", "before", "the wedding"),
    ("what have I read since I moved to Oslo?", "after", "I moved to Oslo"),
    ("Since we met, how often did I cook?", "after", "we met"),
    ("who phoned during the meeting", "during", "the meeting"),
    ("what did she say while she was in hospital?", "during", "she was in hospital"),
    ("where did I live when I was a child", "during", "I was a child"),
    ("After the move what broke?", "after", "the move"),
    ("how was Anna's mood after Anna's exam?", "after", "Anna's exam"),
    ("what did he own until he got married?", "before", "he got married"),
    ("which doctor did I see before I'd broken my leg?", "before", "I'd broken my leg"),
    ("list what I bought before our flight, please", "before", "our flight"),
    ("what did I say right after the call - and to whom?", "after", "the call"),
    ("what did we do after Tom’s party?", "after", "Tom’s party"),
]
NONE = [
    "what did I do after work?", "after all, it was fine", "before long", "ever since",
    "since then", "after that", "what comes after this?", "since I like tea, what should I buy?",
    "since you know me", "who looks after the cat?", "he is named after his uncle",
    "when did I move?", "When is the wedding?", "when will she come?", "before the weekend",
    "after the summer", "since last May", "before 2020", "after the first week",
    "during the night", "during the day", "during 2021", "while away", "after Monday",
    "before New Year's Eve", "the aftermath of the war", "before-tax income", "while (x) do",
    "after", "since", "",
]  # fmt: skip


@pytest.mark.parametrize(("text", "relation", "event"), EVENTS)
def test_event(text: str, relation: str, event: str) -> None:
    assert [(anchor.relation, anchor.text) for anchor in find_anchors(text)] == [(relation, event)]


@pytest.mark.parametrize("text", NONE)
def test_no_event(text: str) -> None:
    assert find_anchors(text) == ()


def test_two_events() -> None:
    found = find_anchors("what did I buy after my trip to Rome, but before the wedding?")
    assert found == (Anchor("after", "my trip to Rome"), Anchor("before", "the wedding"))


def test_long_text() -> None:
    assert find_anchors("after my " + "long " * 100 + "trip") == ()
    assert find_anchors("x " * 1000 + "after my trip") == ()
    find_anchors("after the " * 100_000)
    find_anchors("since I " * 100_000)


@pytest.mark.parametrize("text", [b"after my trip", None, 5])
def test_input_error(text: object) -> None:
    with pytest.raises(InputError):
        find_anchors(text)  # type: ignore[arg-type]
