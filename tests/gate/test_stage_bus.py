"""The bus of staged messages: bounded, the newest win, taken at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

SCOPE_ITEMS, SCOPE_BYTES, ITEMS, BYTES = 4, 100, 9, 180
NOMEM = 1


class Bus:
    def __init__(self, internals: Any, bounds: tuple[int, ...]) -> None:
        self.internals, self.ffi, self.lib = internals, internals.ffi, internals.lib
        out = self.ffi.new("ct_stage_bus **")
        internals.call("ct_stage_bus_create", self.ffi.new("ct_stage_bounds *", bounds), out)
        self.handle = self.ffi.gc(out[0], self.lib.ct_stage_bus_free)

    def put(self, scope: str, id: int, size: int) -> bool:
        message, taken = self.ffi.new("ct_staged *", (id, size, 0.5)), self.ffi.new("int *")
        self.internals.call("ct_stage_bus_put", self.handle, scope.encode(), message, taken)
        return bool(taken[0])

    def drain(self, scope: str) -> list[tuple[int, int]]:
        out, count = self.ffi.new("ct_staged **"), self.ffi.new("size_t *")
        self.internals.call("ct_stage_bus_drain", self.handle, scope.encode(), out, count)
        found = [(out[0][i].message_id, out[0][i].bytes) for i in range(count[0])]
        self.lib.ct_free(out[0])
        return found

    def size(self) -> tuple[int, int]:
        items, size = self.ffi.new("size_t *"), self.ffi.new("size_t *")
        self.lib.ct_stage_bus_size(self.handle, items, size)
        return items[0], size[0]


SCOPES = st.sampled_from(["", "a", "b", "ab"])


def machine(internals: Any) -> type[RuleBasedStateMachine]:
    class Machine(RuleBasedStateMachine):
        """Against a list that is cut by the same words."""

        def __init__(self) -> None:
            super().__init__()
            self.bus = Bus(internals, (SCOPE_ITEMS, SCOPE_BYTES, ITEMS, BYTES))
            self.model: list[tuple[str, int, int]] = []

        @rule(scope=SCOPES, id=st.integers(1, 9), size=st.integers(0, 120))
        def put(self, scope: str, id: int, size: int) -> None:
            assert self.bus.put(scope, id, size) == (size <= SCOPE_BYTES)
            if size > SCOPE_BYTES:
                return
            self.model = [row for row in self.model if row[:2] != (scope, id)]
            self.model.append((scope, id, size))
            while True:
                mine = [row for row in self.model if row[0] == scope]
                if len(mine) <= SCOPE_ITEMS and sum(row[2] for row in mine) <= SCOPE_BYTES:
                    break
                self.model.remove(mine[0])
            while len(self.model) > ITEMS or sum(row[2] for row in self.model) > BYTES:
                del self.model[0]

        @rule(scope=SCOPES)
        def drain(self, scope: str) -> None:
            assert self.bus.drain(scope) == [row[1:] for row in self.model if row[0] == scope]
            self.model = [row for row in self.model if row[0] != scope]

        @invariant()
        def same(self) -> None:
            assert self.bus.size() == (len(self.model), sum(row[2] for row in self.model))
            for scope in ("", "a", "b", "ab"):
                for id in range(1, 10):
                    holds = any(row[:2] == (scope, id) for row in self.model)
                    found = self.bus.lib.ct_stage_bus_holds(self.bus.handle, scope.encode(), id)
                    assert bool(found) == holds

    return Machine


def test_it_is_the_list_that_it_should_be(internals: Any) -> None:
    run_state_machine_as_test(machine(internals), settings=settings(deadline=None, max_examples=60))


def test_each_message_is_taken_once_by_one(internals: Any) -> None:
    """Gates put and contexts take at the same time."""
    bus = Bus(internals, (10_000, 10**9, 10_000, 10**9))
    with ThreadPoolExecutor(8) as pool:
        puts = [
            pool.submit(lambda k=k: [bus.put("s", k * 1000 + i, 1) for i in range(500)])
            for k in range(4)
        ]
        drains = [
            pool.submit(lambda: [row for _ in range(300) for row in bus.drain("s")])
            for _ in range(4)
        ]
        assert all(all(put.result()) for put in puts)
        taken = [row for drain in drains for row in drain.result()] + bus.drain("s")
    assert sorted(id for id, _ in taken) == sorted(
        k * 1000 + i for k in range(4) for i in range(500)
    )
    assert bus.size() == (0, 0)


@pytest.mark.parametrize(
    "bounds", [(0, 10, 10, 10), (10, 10, 0, 10), (10, 0, 10, 10), (9, 9, 9, 0)]
)
def test_bounds_of_nothing_take_nothing(internals: Any, bounds: tuple[int, ...]) -> None:
    bus = Bus(internals, bounds)
    assert not bus.put("s", 1, 1)
    assert bus.size() == (0, 0)
