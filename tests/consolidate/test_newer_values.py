"""Which messages replace which, as consolidation finds it and recall tells it."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

import cortext

MINUTE = 60_000
START = 1_767_225_600_000


def remember(mem: cortext.Engine, *texts: str, session: str = "s", role: str = "user") -> list[int]:
    first = START + mem.stats().messages * MINUTE
    ids = mem.ingest_many(
        {"text": text, "session": session, "role": role, "time": first + i * MINUTE}
        for i, text in enumerate(texts)
    )
    assert mem.flush(60)
    mem.consolidate()
    return ids


def relations(mem: cortext.Engine, id: int) -> set[str]:
    return {one.relation for one in mem.related(id)}


def test_recall_tells_of_one_that_is_no_candidate(mem: cortext.Engine) -> None:
    old, _, new = remember(
        mem, "The garage code is 8841.", "Lovely weather for a walk.", "New garage code: 5530."
    )
    (hit,) = mem.recall("5530", stages=["lexical", "supersession"], attach=False)
    assert (hit.id, hit.supersedes) == (new, (old,))
    (hit,) = mem.recall("8841", stages=["lexical", "supersession"], attach=False)
    assert (hit.id, hit.superseded_by) == (old, (new,))
    left = mem.recall("8841", stages=["lexical", "supersession"], include_superseded=False)
    assert left.hits == ()


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Thanks, Anna! I definitely will.", "Thanks, Ben. I definitely will!"),
        ("Hey Mel! Good to see you! How have you been?", "Hey Mel! Long time no talk."),
        ("I'm going for my dreams!", "I won't quit on my dreams."),
        ("The garage code is 8841.", "The garage code is 8841 as ever."),
    ],
)
def test_nothing_is_replaced(mem: cortext.Engine, older: str, newer: str) -> None:
    remember(mem, older, newer)
    assert "superseded_by" not in relations(mem, 1)


def test_of_another_speaker_nothing_is_replaced(mem: cortext.Engine) -> None:
    remember(mem, "The garage code is 8841.", role="user")
    remember(mem, "New garage code: 5530.", role="assistant")
    assert "superseded_by" not in relations(mem, 1)


def test_what_is_made_after_a_pattern_replaces_nothing(mem: cortext.Engine) -> None:
    ids = remember(mem, *(f"The code of the garage is {n}." for n in (8841, 5530, 1234, 4711)))
    assert "supersedes" in relations(mem, ids[1])
    assert "supersedes" not in relations(mem, ids[3])


def test_what_a_filter_hides_is_not_told(mem: cortext.Engine) -> None:
    (old,) = remember(mem, "The garage code is 8841.", session="a")
    (new,) = remember(mem, "New garage code: 5530.", session="b")
    (hit,) = mem.recall("garage code", session="b")
    assert (hit.id, hit.supersedes) == (new, ())
    (hit,) = mem.recall("garage code", session="a", include_superseded=False)
    assert (hit.id, hit.superseded_by) == (old, ())
    then = datetime.fromtimestamp(START / 1000, timezone.utc)
    (hit,) = mem.recall("garage code", as_of=then, include_superseded=False)
    assert (hit.id, hit.superseded_by) == (old, ())
