"""What speaks for a hit beside its match: who said it, when; and where a list ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from cortext import Engine, InputError
from cortext.engine import STAGES, Stage

DAY = timedelta(days=1)
NOW = datetime(2026, 6, 10, 12, tzinfo=timezone.utc)


def fill(mem: Engine, *messages: dict[str, Any]) -> None:
    mem.ingest_many(messages)
    assert mem.flush()


def order(mem: Engine, query: str, **options: Any) -> list[int]:
    return [hit.id for hit in mem.recall(query, **options)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("which bread does Tomás bake?", "Tomás Vega"),
        ("which bread does tomas bake?", "Tomás Vega"),
        ("which bread does Ingrid bake?", "Ingrid"),
        ("which bread do I bake?", "user"),
        ("which bread do you bake?", "assistant"),
    ],
)
def test_who_said_it(mem: Engine, query: str, first: str) -> None:
    roles = ["Ingrid", "Tomás Vega", "user", "assistant"]
    fill(mem, *({"text": "Sourdough bread.", "role": role, "session": role} for role in roles))
    hits = mem.recall(query, explain=True).hits
    assert hits[0].role == first
    assert [hit.scores.speaker for hit in hits if hit.scores and hit.role == first] == [1]
    without = mem.recall(query, explain=True, stages=["dense", "lexical", "late"])
    assert all(hit.scores and hit.scores.speaker == 0 for hit in without)


def test_a_time_that_is_named_is_preferred_and_nothing_is_cut_off(mem: Engine) -> None:
    times = [NOW - 40 * DAY, NOW - 8 * DAY, NOW - DAY, NOW + DAY]
    fill(
        mem,
        *(
            {"text": "Went swimming again.", "session": str(i), "time": time}
            for i, time in enumerate(times)
        ),
    )
    options = {"reference_time": NOW, "collapse": False}
    assert order(mem, "swimming last week", **options)[0] == 2
    assert order(mem, "swimming yesterday", **options)[0] == 3
    assert order(mem, "swimming in May 2026", **options)[0] == 1
    assert order(mem, "swimming on 2026-06-11", **options)[0] == 4
    assert set(order(mem, "swimming last week", **options)) == {1, 2, 3, 4}
    dates = [
        hit.scores.date
        for hit in mem.recall("swimming last week", explain=True, **options)
        if hit.scores
    ]
    assert max(dates) == 1
    assert all(0 <= date <= 1 for date in dates)
    plain = mem.recall("swimming last week", explain=True, stages=["dense", "late"], **options)
    assert all(hit.scores and hit.scores.date == 0 for hit in plain)


def test_a_message_from_the_time_needs_not_name_it(mem: Engine) -> None:
    """A query that is all date finds what is from then."""
    then = datetime(2026, 2, 14, 9, tzinfo=timezone.utc)
    fill(
        mem,
        {"text": "Tomas proposed and I said yes.", "session": "1", "time": then},
        {"text": "Biscuit ate a sock.", "session": "2", "time": then},
        *(
            {"text": f"Invoice {i} of 2026 was paid.", "session": "3", "time": NOW + i * DAY}
            for i in range(300)
        ),
    )
    options = {"reference_time": NOW, "limit": 5}
    assert {1, 2} <= set(order(mem, "What happened on February 14, 2026?", **options)[:4])
    asked = mem.recall("What happened on February 14, 2026?", explain=True, **options)
    plain = mem.recall("What happened?", explain=True, stages=["dense", "late"], limit=302)
    late = {hit.id: hit.scores.late for hit in plain if hit.scores}
    for hit in (hit for hit in asked if hit.id in (1, 2)):
        assert hit.scores is not None
        assert hit.scores.date == 1
        assert hit.scores.late > late.get(hit.id, 0)
    # The words of an event are about the event, and nothing in a time matches them.
    assert order(mem, "What did I say yes to last February?", **options)[0] == 1


def test_an_event_names_a_time(mem: Engine) -> None:
    fill(
        mem,
        {"text": "We are back from our trip to Lisbon.", "session": "1", "time": NOW - 90 * DAY},
        {"text": "Bought a lamp.", "session": "2", "time": NOW - 200 * DAY},
        {"text": "Bought a lamp.", "session": "3", "time": NOW - 80 * DAY},
    )
    options = {"reference_time": NOW, "collapse": False}
    assert order(mem, "lamp bought after my trip to Lisbon", **options)[0] in (1, 3)
    asked = mem.recall("lamp bought after my trip to Lisbon", explain=True, **options)
    dates = {hit.id: hit.scores.date for hit in asked if hit.scores}
    assert dates[3] > dates[2]


def test_as_of_hides_what_came_later(mem: Engine) -> None:
    fill(
        mem,
        {"text": "The code is 8841.", "session": "1", "time": NOW},
        {"text": "The code is 5530.", "session": "2", "time": NOW + DAY},
    )
    assert set(order(mem, "what is the code?")) == {1, 2}
    assert order(mem, "what is the code?", as_of=NOW) == [1]
    assert order(mem, "what is the code?", as_of=NOW - DAY) == []
    assert order(mem, "what is the code?", as_of=NOW + 9 * DAY, until=NOW + DAY) == [1]
    for bad in ("yesterday", datetime(2026, 1, 1), 3.5):  # noqa: DTZ001
        with pytest.raises(InputError):
            mem.recall("code", as_of=bad)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            mem.recall("code", reference_time=bad)  # type: ignore[arg-type]


def test_a_message_that_tells_goes_before_one_that_asks(mem: Engine) -> None:
    fill(
        mem,
        {"text": "Is the spare key under the blue pot?", "session": "1"},
        {"text": "The spare key is under the blue pot.", "session": "2"},
    )
    hits = mem.recall("where is the spare key?", explain=True).hits
    assert [hit.id for hit in hits] == [2, 1]
    assert [hit.scores.question for hit in hits if hit.scores] == [0, 1]


TOPICS = ["the harbour", "a recipe", "my old bicycle", "the tax form", "their wedding", "a novel"]


def talk(count: int) -> Sequence[dict[str, Any]]:
    return [
        {"text": f"Something about {TOPICS[i % 6]}, part {i}.", "session": str(i)}
        for i in range(count)
    ]


def test_the_list_ends_where_the_evidence_ends(mem: Engine) -> None:
    fill(mem, *talk(40), {"text": "Olga's parrot is called Biscuit.", "session": "x"})
    found = mem.recall("what is the name of Olga's parrot?", limit=30)
    assert found.hits[0].id == 41
    assert len(found) < 10
    everything = mem.recall(
        "what is the name of Olga's parrot?",
        limit=30,
        stages=["dense", "lexical", "late", "context"],
    )
    assert len(everything) == 30


def test_confidence_tells_an_answer_from_none(mem: Engine) -> None:
    fill(
        mem,
        *talk(40),
        {"text": "Olga's parrot is called Biscuit.", "session": "x", "role": "Olga"},
        {"text": "I sold my car to a neighbour.", "session": "y", "role": "Piet"},
    )
    known = mem.recall("what is the parrot called?").confidence
    unknown = mem.recall("which vaccine did the dentist recommend?").confidence
    assert 0 <= unknown < 0.3 < 0.6 < known <= 1
    right = mem.recall("whom did Piet sell his car to?").confidence
    wrong = mem.recall("whom did Olga sell her car to?").confidence
    assert wrong < right / 2, "it was not Olga"


def test_what_is_meant_to_the_letter_is_found_to_the_letter(mem: Engine) -> None:
    names = [
        "merge_retry_header",
        "merge_header_retry",
        "retry_merge_headers",
        "merge_retry_footer",
    ]
    fill(mem, *({"text": f"The value of {n} is too small.", "session": n} for n in names))
    for place, name in enumerate(names, 1):
        assert order(mem, f"where do we set {name}?")[0] == place
    fill(mem, {"text": "commit 9f31c2a7be0d4478aa10 by Lena", "session": "git"})
    assert order(mem, "who wrote 9f31c2a7?")[0] == 5


def test_an_identifier_that_nobody_wrote_is_no_answer(mem: Engine) -> None:
    fill(mem, *talk(40), {"text": "commit 9f31c2a7be0d4478aa10 by Lena", "session": "git"})
    known = mem.recall("who wrote commit 9f31c2a7be0d4478aa10?").confidence
    unknown = mem.recall("who fixed 0x80070057-beef something?").confidence
    assert unknown < 0.5 < known, "its common words match, and lead for want of others"


def test_a_long_query_without_spaces_is_judged_by_its_letters(mem: Engine) -> None:
    fill(mem, *talk(5), {"text": "\u9375\u306f\u9752\u3044\u7bb1\u306e\u4e2d", "session": "ja"})
    long = "\u9375\u306f\u9752\u3044\u7bb1\u306e\u4e2d" * 150
    assert mem.recall(long).hits[0].session == "ja"


NAMES = [
    # (role, query, whether the query names it)
    ("Ann", "what did Ann say about it?", True),
    ("ann", "what did ann say about it?", True),
    ("Anna Smith", "what did Anna say about it?", True),
    ("A. Smith", "what is a good idea?", False),
    ("Will", "when will the bakery open?", False),
    ("Will", "when did Will open it?", True),
    ("May", "may I know when it opens?", False),
    ("May", "did May know when it opens?", True),
    ("tool", "which tool did we pick?", False),
    ("tool:shell", "which shell tool did we pick?", False),
    ("system", "what is the operating system?", False),
    ("user", "what did the user say?", False),
]


@pytest.mark.parametrize(("role", "query", "named"), NAMES)
def test_who_is_named(mem: Engine, role: str, query: str, named: bool) -> None:
    fill(
        mem,
        {"text": "It was said to be a good idea.", "role": role, "session": "1"},
        {"text": "The idea was said to be good.", "role": "Zoe", "session": "2"},
    )
    whole: list[Stage] = [stage for stage in STAGES if stage != "cut"]
    asked = mem.recall(query, explain=True, stages=whole)
    speakers = {hit.role: hit.scores.speaker for hit in asked if hit.scores}
    assert speakers[role] == named
    assert speakers["Zoe"] == 0


def test_the_whole_name_names_one_of_many(mem: Engine) -> None:
    fill(
        mem,
        *(
            {"text": f"It took {i + 3} minutes here.", "role": f"agent {i}", "session": str(i)}
            for i in range(1, 21)
        ),
    )
    asked = mem.recall("how long did agent 3 take?", explain=True, limit=20)
    assert {hit.role for hit in asked if hit.scores and hit.scores.speaker} == {"agent 3"}
    asked = mem.recall("which agent took ten minutes?", explain=True, limit=20)
    assert not any(hit.scores and hit.scores.speaker for hit in asked)


def test_a_role_that_is_a_common_word_leaves_confidence_alone(mem: Engine) -> None:
    fill(
        mem,
        {"text": "The tool we picked for linting is ruff.", "session": "1"},
        {"text": "exit status 0", "role": "tool", "session": "2"},
        {"text": "Be helpful.", "role": "system", "session": "2"},
    )
    assert mem.recall("which tool did we pick for linting?").confidence > 0.8


def test_roles_that_the_filter_hides_change_nothing(mem: Engine) -> None:
    texts = ["The garage opens with 8841.", "The code of conduct applies to all.", "My code is 7."]
    fill(mem, *({"text": text, "session": "1", "time": NOW} for text in texts))

    def seen(**filters: Any) -> list[tuple[int, float]]:
        found = mem.recall("garage code", **filters)
        return [(hit.id, round(hit.score, 3)) for hit in found]

    session, then = seen(session="1"), seen(as_of=NOW + DAY)
    fill(mem, {"text": "hi", "role": "garage", "session": "other", "time": NOW + 9 * DAY})
    assert [id for id, _ in seen(session="1")] == [id for id, _ in session]
    assert [id for id, _ in seen(as_of=NOW + DAY)] == [id for id, _ in then]


def test_words_alone_make_nothing_sure(mem: Engine) -> None:
    fill(mem, {"text": "what a lovely sonata in the hall"})
    asked = mem.recall("who stole the bicycle from the sonata hall?", stages=["lexical"])
    assert asked.hits
    assert asked.confidence < 0.6
