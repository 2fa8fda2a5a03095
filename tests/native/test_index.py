"""Order of messages within their sessions, whatever the order in which chunks come."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DIMENSION = 8
CORRUPT, NOMEM = 11, 1


class Index:
    """A ct_index and what it should know."""

    def __init__(self, internals: Any) -> None:
        self.internals, self.ffi, self.lib = internals, internals.ffi, internals.lib
        holder = self.ffi.new("ct_index **")
        internals.call("ct_index_create", DIMENSION, holder)
        self.index = self.ffi.gc(holder[0], self.lib.ct_index_destroy)
        self.code = self.ffi.new("unsigned char[]", 4 + DIMENSION)
        self.sessions: dict[int, list[int]] = defaultdict(list)
        self.chunks: dict[int, list[int]] = defaultdict(list)
        self.session_of: dict[int, int] = {}
        self.last = 0

    def add(self, message: int, session: int) -> None:
        entry = self.ffi.new(
            "ct_index_entry *", (self.last + 1, message, session, 7, message * 10, self.code)
        )
        self.internals.call("ct_index_add", self.index, entry)
        self.last += 1
        self.chunks[message].append(self.last)
        self.session_of[message] = session
        if message not in self.sessions[session]:
            self.sessions[session].append(message)
            self.sessions[session].sort()

    def check(self) -> None:
        self.internals.call("ct_index_validate", self.index)
        for message, session in self.session_of.items():
            found = self.ffi.new("ct_index_message *")
            assert self.lib.ct_index_find(self.index, message, found)
            assert (found.session_id, found.role_id, found.time_ms) == (session, 7, message * 10)
            for capacity in (0, 1, 64):
                ids = self.ffi.new("int64_t[]", [-1] * (capacity + 1))
                count = self.lib.ct_index_chunks(self.index, message, ids, capacity)
                assert count == len(self.chunks[message])
                kept = self.chunks[message][:capacity]
                assert list(ids) == kept + [-1] * (capacity + 1 - len(kept))

    def neighbours(self, message: int, before: int, after: int) -> list[int]:
        ids = self.ffi.new("int64_t[]", before + 1 + after)
        return list(ids[0 : self.lib.ct_index_neighbours(self.index, message, before, after, ids)])

    def wanted(self, message: int, before: int, after: int) -> list[int]:
        order = self.sessions[self.session_of[message]]
        at = order.index(message)
        return order[max(0, at - before) : at + after + 1]


@given(
    seed=st.integers(0, 2**32),
    size=st.integers(1, 60),
    sessions=st.integers(1, 4),
    way=st.sampled_from(["up", "down", "runs", "any"]),
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_neighbours(internals: Any, seed: int, size: int, sessions: int, way: str) -> None:
    dice = random.Random(seed)
    messages = dice.sample(range(1, 3 * size + 1), size)
    if way != "any":
        messages.sort(reverse=way == "down")
    if way == "runs":  # ingested in groups, each embedded newest first
        cut = dice.randint(1, 9)
        messages = [m for at in range(0, size, cut) for m in reversed(messages[at : at + cut])]
    index = Index(internals)
    for message in messages:
        session = dice.randint(1, sessions)
        for _ in range(dice.choice([1, 1, 1, 2, 5])):
            index.add(message, session)
    for message in dice.sample(messages, size // 3):  # the rest of long ones comes later
        index.add(message, index.session_of[message])
    index.check()
    for message in messages:
        for before, after in ((0, 0), (1, 1), (2, 3), (size, size), (0, 2), (4, 0)):
            found = index.neighbours(message, before, after)
            assert found == index.wanted(message, before, after)


def test_what_is_not_there(internals: Any) -> None:
    index = Index(internals)
    index.add(5, 1)
    found = index.ffi.new("ct_index_message *")
    for message in (0, -1, 4, 2**60):
        assert not index.lib.ct_index_find(index.index, message, found)
        assert index.lib.ct_index_chunks(index.index, message, index.ffi.NULL, 0) == 0
        assert index.neighbours(message, 3, 3) == []


def test_impossible_ids_are_refused(internals: Any) -> None:
    index = Index(internals)
    for message, session in ((0, 1), (-4, 1), (1, 0), (1, -1)):
        with pytest.raises(internals.error, match="damaged") as caught:
            index.add(message, session)
        assert caught.value.status == CORRUPT
    index.add(1, 1)
    index.check()


def test_memory_runs_out(internals: Any) -> None:
    index, failed = Index(internals), 0
    for message in range(1, 3000):
        internals.lib.ct_fault_allocation(message % 3 + 1)
        session = message // 3 + 1
        while True:
            try:
                index.add(message, session)
                break
            except internals.error as error:
                assert error.status == NOMEM  # noqa: PT017
                failed += 1
    internals.lib.ct_fault_allocation(0)
    index.check()
    assert failed > 5


def test_memory_a_message(internals: Any) -> None:
    """Beside vector, bits, scale, ids and time: at most 24 bytes, with sessions of ten messages."""
    index = Index(internals)
    bare = (
        64 + 8 + 4 + 4 * 8 + 4
    )  # padded code, bits, scale, four numbers, link to the earlier chunk
    count = 8 * 4096
    for message in range(1, count + 1):
        index.add(message, (message - 1) // 10 + 1)
    latest = 65536 * 12  # the map of messages, which was there before
    assert index.lib.ct_index_bytes(index.index) - latest <= count * (bare + 24) + 4096
