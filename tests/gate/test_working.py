"""Working memory against the same in Python: what rises, fades and is forgotten."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

ITEMS, SESSIONS = 8, 64
KEPT, RISE, LEAST = 0.7, 0.6, 0.05


class Working:
    def __init__(self, internals: Any) -> None:
        self.internals, self.ffi, self.lib = internals, internals.ffi, internals.lib
        out = self.ffi.new("ct_working **")
        internals.call("ct_working_create", out)
        self.handle = self.ffi.gc(out[0], self.lib.ct_working_free)

    def turn(self, session: str) -> None:
        self.lib.ct_working_turn(self.handle, session.encode())

    def rise(self, session: str, messages: list[tuple[int, float]]) -> None:
        array = self.ffi.new("ct_active[]", messages)
        self.internals.call("ct_working_rise", self.handle, session.encode(), array, len(messages))

    def read(self, session: str) -> list[tuple[int, float]]:
        out = self.ffi.new("ct_active[]", ITEMS)
        count = self.lib.ct_working_read(self.handle, session.encode(), out)
        return [(out[i].message_id, out[i].activation) for i in range(count)]


class Oracle:
    def __init__(self) -> None:
        self.sessions: dict[str, dict[int, float]] = {}  # the one used last at the end

    def turn(self, session: str) -> None:
        faded = {id: a * KEPT for id, a in self.sessions.get(session, {}).items()}
        if session in self.sessions:
            self.sessions[session].clear()
            self.sessions[session].update({id: a for id, a in faded.items() if a >= LEAST})

    def rise(self, session: str, messages: list[tuple[int, float]]) -> None:
        if session not in self.sessions and not messages:
            return
        items = self.sessions.pop(session, {})
        if len(self.sessions) == SESSIONS:
            del self.sessions[next(iter(self.sessions))]
        self.sessions[session] = items
        for id, strength in reversed(messages):
            before = items.pop(id, 0.0)
            after = before + (1 - before) * RISE * strength
            if after >= LEAST:
                newest_first = {id: after, **items}
                kept = sorted(newest_first.items(), key=lambda item: -item[1])[:ITEMS]
                items.clear()
                items.update(kept)

    def read(self, session: str) -> list[tuple[int, float]]:
        return list(self.sessions.get(session, {}).items())


NAMES = st.sampled_from(["", "a", "b"])
MESSAGES = st.lists(
    st.tuples(st.integers(1, 14), st.sampled_from([0.0, 0.05, 0.3, 0.8, 1.0])), max_size=6
)


def machine(internals: Any) -> type[RuleBasedStateMachine]:
    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.working, self.oracle = Working(internals), Oracle()

        @rule(session=NAMES)
        def turn(self, session: str) -> None:
            self.working.turn(session)
            self.oracle.turn(session)

        @rule(session=NAMES, messages=MESSAGES)
        def rise(self, session: str, messages: list[tuple[int, float]]) -> None:
            self.working.rise(session, messages)
            self.oracle.rise(session, messages)

        @rule(session=NAMES)
        def read(self, session: str) -> None:
            found, expected = self.working.read(session), self.oracle.read(session)
            assert [id for id, _ in found] == [id for id, _ in expected]
            assert [a for _, a in found] == pytest.approx([a for _, a in expected])
            assert all(0 < a <= 1 for _, a in found)

    return Machine


def test_it_is_what_python_says(internals: Any) -> None:
    run_state_machine_as_test(machine(internals), settings=settings(deadline=None))


def test_the_session_that_was_quiet_the_longest_goes(internals: Any) -> None:
    working = Working(internals)
    for number in range(SESSIONS):
        working.rise(f"session {number}", [(number + 1, 1.0)])
    working.rise("session 0", [(99, 1.0)])
    working.rise("one more", [(100, 1.0)])
    assert working.read("session 1") == []
    assert [id for id, _ in working.read("session 0")] == [99, 1]
    assert [id for id, _ in working.read("one more")] == [100]


@pytest.mark.parametrize("strength", [-1.0, 7.0, float("inf"), float("nan")])
def test_no_strength_leaves_the_range(internals: Any, strength: float) -> None:
    working = Working(internals)
    working.rise("s", [(1, strength)])
    assert all(0 < a <= 1 for _, a in working.read("s"))


def test_one_strong_reminder_lasts_seven_turns(internals: Any) -> None:
    working, turns = Working(internals), 0
    working.rise("s", [(1, 1.0)])
    while working.read("s"):
        working.turn("s")
        turns += 1
    assert turns == 7
