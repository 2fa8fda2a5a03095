"""Callers at the same time share a commit, and nothing else: ids and failures are their own."""

from __future__ import annotations

import resource
import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CALLERS = 8
# A status of the core.
OK, NOMEM, CONFLICT, IO, BUSY, FULL = 0, 1, 3, 8, 9, 10


@dataclass(frozen=True)
class Outcome:
    status: int
    ids: list[int]
    inserted: int
    message: str


class Store:
    """A store of the core without an embedding thread, so that each commit is a caller's."""

    def __init__(self, internals: Any, path: Path, busy_ms: int = 30_000) -> None:
        self.ffi, self.lib, self.path = internals.ffi, internals.lib, path
        self.handle = internals.open_store(path, "model", 8, busy_ms)

    def close(self) -> None:
        self.lib.ct_store_close(self.handle)

    def insert(self, messages: Sequence[tuple[str, str | None]]) -> Outcome:
        """Store texts with their uids as one caller."""
        rows = self.ffi.new("ct_message_input[]", len(messages))
        keep = []
        for row, (text, uid) in zip(rows, messages, strict=True):
            data = text.encode()
            keep += [self.ffi.new("char[]", value) for value in (data, b"user", b"s")]
            row.text, row.role, row.session = keep[-3:]
            row.text_bytes = len(data)
            if uid is not None:
                keep.append(self.ffi.new("char[]", uid.encode()))
                row.uid = keep[-1]
        ids = self.ffi.new("int64_t[]", len(messages))
        inserted, error = self.ffi.new("size_t *"), self.ffi.new("ct_error *")
        status = self.lib.ct_store_insert(self.handle, rows, len(messages), ids, inserted, error)
        assert error.status == status
        return Outcome(status, list(ids), inserted[0], self.ffi.string(error.message).decode())

    def rows(self) -> dict[int, tuple[str, str | None]]:
        with closing(sqlite3.connect(self.path)) as db:
            found = {
                i: (text, uid) for i, text, uid in db.execute("SELECT id, text, uid FROM message")
            }
            assert [i for (i,) in db.execute("SELECT message_id FROM pending")] == sorted(found)
            assert db.execute("SELECT count(*) FROM words").fetchone() == (len(found),)
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return found

    def commits(self) -> int:
        """How many the log holds: frames that say how large the file is."""
        log = self.path.with_name(self.path.name + "-wal").read_bytes()
        (page,) = struct.unpack(">I", log[8:12])
        salt, starts = log[16:24], range(32, len(log) - page, 24 + page)
        return sum(
            log[at + 8 : at + 16] == salt and log[at + 4 : at + 8] != b"\0" * 4 for at in starts
        )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody can write meanwhile."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            yield
            db.execute("ROLLBACK")

    def together(
        self, wanted: Sequence[Sequence[tuple[str, str | None]]], then: Callable[[], object] = int
    ) -> list[Outcome]:
        """Let each caller have come, in order, before the first can write; `then` is done last."""
        outcomes: list[Outcome | None] = [None] * len(wanted)

        def call(place: int) -> None:
            outcomes[place] = self.insert(wanted[place])

        threads = [threading.Thread(target=call, args=(i,)) for i in range(len(wanted))]
        with self.held():
            for thread in threads:
                thread.start()
                time.sleep(0.03)
            then()
        for thread in threads:
            thread.join(60)
        assert None not in outcomes
        return [outcome for outcome in outcomes if outcome]


@pytest.fixture
def store(internals: Any, path: Path) -> Iterator[Store]:
    with closing(Store(internals, path)) as opened:
        assert opened.insert([("the first", None)]).status == OK
        yield opened


def texts(caller: int, count: int) -> list[tuple[str, str | None]]:
    return [(f"caller {caller} message {i}", f"{caller}-{i}") for i in range(count)]


def test_who_waits_shares_a_commit_and_gets_its_own_ids(store: Store) -> None:
    before = store.commits()
    wanted = [texts(caller, caller % 3 + 1) for caller in range(CALLERS)]
    outcomes = store.together(wanted)
    assert store.commits() - before <= CALLERS // 2, "one, unless threads were slow to start"
    rows = store.rows()
    for messages, outcome in zip(wanted, outcomes, strict=True):
        assert outcome.status == OK
        assert outcome.inserted == len(messages)
        assert [rows[id] for id in outcome.ids] == messages
    assert len(rows) == 1 + sum(map(len, wanted))


def test_alone_each_has_its_own_commit(store: Store) -> None:
    for caller in range(5):
        before = store.commits()
        assert store.insert(texts(caller, 2)).status == OK
        assert store.commits() == before + 1


def test_an_import_shares_with_nobody(store: Store) -> None:
    before = store.commits()
    outcomes = store.together(
        [texts(0, 1), texts(1, 200), texts(2, 1), [("x" * (300 << 10), None)]]
    )
    assert [outcome.status for outcome in outcomes] == [OK] * 4
    assert store.commits() - before >= 3


def test_a_conflict_fails_its_caller_alone(store: Store) -> None:
    wanted = [
        [("a", "1")],
        [("new", "2"), ("other than a", "1")],
        [("b", "3")],
        [("a", "1"), ("c", "4")],
        [("other than c", "4")],
    ]
    outcomes = store.together(wanted)
    assert [outcome.status for outcome in outcomes] == [OK, CONFLICT, OK, OK, CONFLICT]
    assert 'uid "1"' in outcomes[1].message
    assert 'uid "4"' in outcomes[4].message
    assert outcomes[3].ids[0] == outcomes[0].ids[0], "as if they had come one after the other"
    assert outcomes[3].inserted == 1
    rows = store.rows()
    assert sorted(rows.values())[:3] == [("a", "1"), ("b", "3"), ("c", "4")]
    assert len(rows) == 4


def test_a_leader_that_fails_holds_up_nobody(store: Store) -> None:
    outcomes = store.together([[("a", "1"), ("b", "1")], [("c", "1")], [("c", "1")]])
    assert [outcome.status for outcome in outcomes] == [CONFLICT, OK, OK]
    assert outcomes[1].ids == outcomes[2].ids
    assert len(store.rows()) == 2


def test_memory_that_runs_out_fails_one_caller(internals: Any, store: Store) -> None:
    failed = []
    for n in range(1, 13):
        wanted = [[(f"round {n} caller {caller}", f"{n}-{caller}")] for caller in range(4)]
        outcomes = store.together(wanted, lambda n=n: internals.lib.ct_fault_allocation(n))
        internals.lib.ct_fault_allocation(0)
        bad = [place for place, outcome in enumerate(outcomes) if outcome.status]
        assert [outcomes[place].status for place in bad] in ([], [NOMEM])
        failed += bad
        rows = store.rows()
        for place, outcome in enumerate(outcomes):
            if place in bad:
                assert wanted[place][0] not in rows.values()
            else:
                assert rows[outcome.ids[0]] == wanted[place][0]
    assert {0, 1, 2, 3} == set(failed), "leader and followers"


def test_a_transaction_that_sqlite_takes_back_is_done_again_for_the_others(
    internals: Any, store: Store
) -> None:
    """Out of memory in SQLite ends the whole transaction."""
    internals.ffi.cdef(
        "int64_t sqlite3_hard_heap_limit64(int64_t); int64_t sqlite3_memory_used(void);",
        override=True,
    )
    lib = internals.lib
    for place in range(4):
        wanted = [
            [(f"{place} {caller} " + "x " * 40_000 * (caller == place), None)]
            for caller in range(4)
        ]
        limit = lib.sqlite3_memory_used  # of now plus less than the long text needs
        try:
            outcomes = store.together(
                wanted, lambda limit=limit: lib.sqlite3_hard_heap_limit64(limit() + (60 << 10))
            )
        finally:
            lib.sqlite3_hard_heap_limit64(0)
        rows = store.rows()
        for caller, outcome in enumerate(outcomes):
            assert outcome.status == (NOMEM if caller == place else OK)
            if caller != place:
                assert rows[outcome.ids[0]] == wanted[caller][0]
        assert len(rows) == 1 + 3 * (place + 1)


def test_a_commit_that_fails_fails_all(store: Store) -> None:
    log = store.path.with_name(store.path.name + "-wal")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = store.rows()
    wanted = [texts(caller, 1) for caller in range(CALLERS)]
    try:
        outcomes = store.together(
            wanted,
            lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, limits[1])),
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {outcome.status for outcome in outcomes} <= {IO, FULL}
    assert all(outcome.message for outcome in outcomes)
    assert store.rows() == before
    assert [outcome.status for outcome in store.together(wanted)] == [OK] * CALLERS
    assert len(store.rows()) == len(before) + CALLERS


def test_a_lock_held_too_long_is_an_error_for_each(internals: Any, path: Path) -> None:
    with closing(Store(internals, path, busy_ms=50)) as store:
        store.insert([("the first", None)])
        outcomes = store.together(
            [texts(caller, 1) for caller in range(3)], lambda: time.sleep(0.5)
        )
        assert [outcome.status for outcome in outcomes] == [BUSY] * 3
        assert store.insert(texts(9, 1)).status == OK


def test_many_threads_over_and_over(store: Store) -> None:
    found: dict[int, tuple[str, str | None]] = {}
    lock = threading.Lock()

    def work(caller: int) -> None:
        for i in range(40):
            wanted = [(f"{caller} {i} {j}", f"{caller}-{i}-{j}") for j in range(i % 3 + 1)]
            conflicting = [*wanted, ("something else", "shared")]
            outcome = store.insert(wanted)
            assert (outcome.status, outcome.inserted) == (OK, len(wanted))
            assert store.insert(conflicting).status == CONFLICT
            assert store.insert(wanted).ids == outcome.ids
            with lock:
                found.update(zip(outcome.ids, wanted, strict=True))

    assert store.insert([("as it was", "shared")]).status == OK
    failures: list[object] = []

    def guarded(caller: int) -> None:
        try:
            work(caller)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(caller,)) for caller in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    rows = store.rows()
    assert len(rows) == len(found) + 2
    assert found.items() <= rows.items()
