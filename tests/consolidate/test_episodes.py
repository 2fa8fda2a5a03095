"""Where episodes begin and end, and that every message is in exactly one."""

from __future__ import annotations

import itertools
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext.models import Model

MINUTE = 60_000
GAP = 30 * MINUTE
START = 1_767_225_600_000

GARDEN = [
    "The tomatoes need water every evening.",
    "Slugs ate most of the young lettuce.",
    "I sowed carrots beside the onions.",
    "The compost heap smells of earth now.",
    "Prune the apple tree before spring.",
    "The greenhouse was too hot for cucumbers.",
    "Weeds grow between the potato rows.",
    "The bean plants climb up the poles.",
    "We harvested two baskets of courgettes.",
    "Rain filled the barrel behind the shed.",
]
CODE = [
    "The compiler crashes while parsing templates.",
    "Continuous integration fails on the linker step.",
    "I rebased the branch and pushed the commit.",
    "The unit test leaks a file descriptor.",
    "Refactor the parser into two modules.",
    "The debugger shows a null pointer there.",
    "Static analysis complains about the loop.",
    "The build cache saves four minutes.",
    "Rename the function before the release.",
    "The stack trace ends in the allocator.",
]


def consolidated(mem: cortext.Engine, messages: list[dict]) -> list[cortext.Episode]:
    mem.ingest_many(messages)
    assert mem.flush(60)
    assert mem.consolidate().complete
    return mem.episodes(limit=10_000)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(-2 * GAP, 2 * GAP), st.integers(0, 9)),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 15),
)
def test_partition(model: Model, steps: list[tuple[str, int, int]], each: int) -> None:
    """In order of id a session's episodes follow on each other, and none goes over a gap."""
    time, messages = START, []
    for session, step, said in steps:
        time += step
        messages.append({"text": GARDEN[said], "session": session, "time": time})
    with (
        tempfile.TemporaryDirectory() as folder,
        cortext.open(Path(folder, "memory.db"), model=model) as mem,
    ):
        for first in range(0, len(messages), each):
            found = consolidated(mem, messages[first : first + each])
    for session in {session for session, _, _ in steps}:
        own = [(id, m["time"]) for id, m in enumerate(messages, 1) if m["session"] == session]
        for episode in (e for e in found if e.session == session):
            taken, own = own[: episode.messages], own[episode.messages :]
            times = [at for _, at in taken]
            assert (episode.id, episode.last_id) == (taken[0][0], taken[-1][0])
            assert episode.start.timestamp() * 1000 == pytest.approx(min(times))
            assert episode.end.timestamp() * 1000 == pytest.approx(max(times))
            assert all(abs(b - a) <= GAP for a, b in itertools.pairwise(times))
            if own and len(taken) < 6:
                assert abs(own[0][1] - times[-1]) > GAP
        assert not own


@pytest.mark.parametrize(("minutes", "count"), [(30, 1), (31, 2)])
def test_gap(mem: cortext.Engine, minutes: int, count: int) -> None:
    times = (START, START + minutes * MINUTE)
    assert len(consolidated(mem, [{"text": "It rains.", "time": time} for time in times])) == count


def test_topics_at_one_moment(mem: cortext.Engine) -> None:
    found = consolidated(mem, [{"text": text, "time": START} for text in [*GARDEN, *CODE, *GARDEN]])
    assert [(e.id, e.messages) for e in found] == [(1, 10), (11, 10), (21, 10)]
    assert all(e.start == e.end for e in found)


def test_the_last_one_grows_and_is_divided(mem: cortext.Engine) -> None:
    assert [
        e.messages for e in consolidated(mem, [{"text": t, "time": START} for t in GARDEN])
    ] == [10]
    more = [{"text": t, "time": START} for t in CODE]
    assert [e.messages for e in consolidated(mem, more[:8])] == [18]
    assert [e.messages for e in consolidated(mem, more[8:])] == [10, 10]


def test_no_episode_is_endless(mem: cortext.Engine) -> None:
    found = consolidated(mem, [{"text": "ping", "time": START}] * 300)
    assert [e.messages for e in found] == [128, 128, 44]


def test_times_at_both_ends(mem: cortext.Engine) -> None:
    times = [
        datetime(1, 1, 1, tzinfo=timezone.utc),
        datetime(9999, 12, 31, tzinfo=timezone.utc) + timedelta(hours=23),
    ]
    found = consolidated(mem, [{"text": "It rains.", "time": time} for time in times])
    assert [e.start for e in found] == times
