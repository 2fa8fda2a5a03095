"""Who repeats whom: against a definition in Python, on made-up conversations."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext.models import Model

DAY = 86_400_000
START = 1_767_225_600_000

WORDS = ("the", "garage", "code", "changed", "again", "yesterday", "8841")
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
dressed = st.tuples(
    sentences,
    st.sampled_from(["", "Hello, "]),
    st.sampled_from([str.lower, str.upper, str.title]),
    st.sampled_from(["", ".", "!"]),
    st.sampled_from(["user", "assistant", "tool"]),
    st.integers(0, 1),
)


def oracle(said: list[tuple[tuple[str, ...], str, int]]) -> dict[int, int]:
    """Ids that repeat, and which they repeat, by the definition, in order of id."""
    sayings: list[tuple[tuple[str, ...], int, str | None, int]] = []
    found = {}
    for id, (words, role, day) in enumerate(said, 1):
        if len(words) <= 2 and "8841" not in words:
            continue  # a short reply
        key = (*words, str(day)) if "yesterday" in words else words
        for place, (other, first, voice, _) in enumerate(sayings):
            if other == key and (voice is None or role == "tool" or voice == role):
                found[id] = first
                if voice is None and role != "tool":
                    sayings[place] = (other, first, role, day)
                break
        else:
            sayings.append((key, id, None if role == "tool" else role, day))
    return found


def stored(path: Path) -> dict[int, int]:
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT message_id, first_id FROM duplicate"))


@settings(max_examples=40, deadline=None)
@given(st.lists(dressed, min_size=1, max_size=25))
def test_as_defined(model: Model, talk: list) -> None:
    # Words that open or close a sentence can be greetings: "again" and the like are not put there.
    said = [
        (("new", *words, "now"), hello, change, end, role, day)
        for words, hello, change, end, role, day in talk
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "memory.db")
        with cortext.open(path, model=model) as mem:
            mem.ingest_many(
                {
                    "text": hello + change(" ".join(words)) + end,
                    "role": role,
                    "time": START + day * DAY,
                }
                for words, hello, change, end, role, day in said
            )
            assert mem.flush(60)
            report = mem.consolidate()
        expected = oracle([(words, role, day) for words, _, _, _, role, day in said])
        assert stored(path) == expected
        assert report.duplicates == len(expected)


@pytest.mark.parametrize("text", ["Ok.", "Yes, that one.", "thanks"])
def test_short_replies_repeat_nothing(path: Path, mem: cortext.Engine, text: str) -> None:
    mem.ingest_many([{"text": text}] * 3)
    assert mem.flush(60)
    assert mem.consolidate().duplicates == 0
    assert stored(path) == {}


def test_texts_that_differ_far_behind(path: Path, mem: cortext.Engine) -> None:
    """What is not folded counts to the byte."""
    long = "word and another word " * 400
    mem.ingest_many([{"text": long + "a"}, {"text": long + "b"}, {"text": "Hello! " + long + "a"}])
    assert mem.flush(60)
    mem.consolidate()
    assert stored(path) == {3: 1}
