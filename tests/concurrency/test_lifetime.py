"""The host process stays up: closing, forking, exiting, threads."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

import cortext
from cortext import ClosedError, ForkedError
from cortext.models import Model, load


def test_every_call_after_close_is_a_typed_error(path: Path, model: Model) -> None:
    mem = cortext.open(path, model=model)
    id = mem.ingest("hello")
    mem.close()
    mem.close()
    calls: list[Callable[[], object]] = [
        lambda: mem.ingest("again"),
        lambda: mem.ingest_many([{"text": "again"}]),
        lambda: mem.recall("hello"),
        lambda: mem.get(id),
        mem.messages,
        mem.flush,
        mem.stats,
        lambda: mem.embed(["x"]),
    ]
    for call in calls:
        with pytest.raises(ClosedError):
            call()
    assert model.embed(["the model is shared and stays"]).shape == (1, 384)


def test_whoever_closes_second_waits_too(path: Path, model: Model) -> None:
    mem = cortext.open(path, model=model)
    mem.ingest_many([{"text": f"note number {i} on gardening"} for i in range(2000)])

    def recall() -> None:
        with contextlib.suppress(ClosedError):
            mem.recall("notes", wait_ms=60_000)

    threads = [threading.Thread(target=recall)]
    threads += [threading.Thread(target=mem.close) for _ in range(3)]
    for thread in threads:
        thread.start()
    threads[-1].join()
    open_files = {file.path for file in psutil.Process().open_files()}
    assert str(path) not in open_files
    for thread in threads:
        thread.join()


def test_a_closed_model_does_not_disturb_its_stores(path: Path) -> None:
    own = load(threads=2)  # not the one other tests share
    with cortext.open(path, model=own) as mem:
        own.close()
        with pytest.raises(ClosedError):
            own.embed(["x"])
        assert load(threads=2).embed(["loaded afresh"]).shape == (1, 384)
        mem.ingest("still embedding")
        assert mem.flush()
        assert mem.recall("embedding").hits


def test_close_waits_for_calls_in_flight(path: Path, model: Model) -> None:
    for _ in range(20):
        mem = cortext.open(path, model=model)
        outcomes: list[str] = []
        started = threading.Barrier(5)

        def work(mem: cortext.Engine = mem, outcomes: list[str] = outcomes) -> None:
            started.wait()  # noqa: B023
            try:
                while True:
                    mem.ingest("busy")
                    mem.recall("busy", wait_ms=0)
            except ClosedError:
                outcomes.append("closed")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        started.wait()
        mem.close()
        for thread in threads:
            thread.join(30)
        assert outcomes == ["closed"] * 4
        path.unlink()


def test_close_during_queued_ingests(path: Path, model: Model) -> None:
    for _ in range(5):
        mem = cortext.open(path, model=model)
        acknowledged: list[int] = []
        outcomes: list[str] = []

        def work(mem: cortext.Engine = mem, ids: list[int] = acknowledged, number: int = 0) -> None:
            try:
                while True:
                    ids.append(mem.ingest(f"queued by {number}"))
            except ClosedError:
                outcomes.append("closed")  # noqa: B023

        threads = [threading.Thread(target=work, kwargs={"number": n}) for n in range(6)]
        threads.append(threading.Thread(target=mem.close))
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # so that all but one of them wait in the queue
            for thread in threads:
                thread.start()
                time.sleep(0.02)
            other.execute("ROLLBACK")
        for thread in threads:
            thread.join(60)
        assert outcomes == ["closed"] * 6
        with cortext.open(path, model=model) as again:
            assert len(acknowledged) >= 6, "who was in the queue was served"
            assert {again.get(id).id for id in acknowledged} == set(acknowledged)
            assert again.stats().messages == len(acknowledged)
        path.unlink()


def test_threads_share_an_engine(mem: cortext.Engine) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(15):
                uid = f"{number}-{i}"
                id = mem.ingest(f"thread {number} note {i}", uid=uid, session=str(number))
                assert mem.get(id).uid == uid
                assert uid in {
                    h.uid for h in mem.recall(f"note {i}", session=str(number), limit=99).hits
                }
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert mem.flush()
    assert mem.stats().messages == mem.stats().chunks == 120


FORK = """
import os, sys, cortext
path, other = sys.argv[1], sys.argv[2]
mem = cortext.open(path)
mem.ingest_many([{"text": f"before the fork {i}"} for i in range(100)])
child = os.fork()
if child == 0:
    for call in (lambda: mem.ingest("x"), lambda: mem.recall("x"), mem.stats, mem.flush,
                 lambda: mem.embed(["x"]), lambda: cortext.open(path), lambda: cortext.open(other),
                 lambda: cortext.open(other, model=mem.model)):
        try:
            call()
        except cortext.ForkedError:
            continue
        os._exit(3)
    mem.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert mem.flush() and mem.stats().messages == 100
model = mem.model
mem.close()
child = os.fork()  # nothing is open now
if child == 0:
    with cortext.open(path) as own:
        assert own.model is not model
        own.ingest("from the child", uid="child")
        assert own.recall("child").hits
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
with cortext.open(path) as mem:
    assert mem.recall("from the child").hits[0].uid == "child"
    assert mem.stats().messages == 101
"""


def test_fork(path: Path, run_python: Callable[..., object]) -> None:
    run_python(FORK, path, path.with_name("other.db"))


EXIT = """
import sys, threading, cortext
mem = cortext.open(sys.argv[1])
mem.ingest_many([{"text": f"words to embed {i} " * 50} for i in range(500)])
kind = sys.argv[2]
if kind == "daemon":
    def work():
        while True:
            mem.recall("words")
    threading.Thread(target=work, daemon=True).start()
elif kind == "cycle":
    mem.cycle = [mem] if hasattr(mem, "__dict__") else None
elif kind == "error":
    raise SystemExit(7)
elif kind == "global":
    import builtins
    builtins.kept = mem
"""


@pytest.mark.parametrize(
    ("kind", "status"), [("plain", 0), ("daemon", 0), ("cycle", 0), ("error", 7), ("global", 0)]
)
def test_interpreter_exit_without_close(
    path: Path, run_python: Callable[..., object], model: Model, kind: str, status: int
) -> None:
    run_python(EXIT, path, kind, status=status)
    with cortext.open(path, model=model) as mem:
        assert mem.stats().messages == 500
    assert [p.name for p in path.parent.iterdir()] == ["memory.db"]


def test_open_and_close_leak_nothing(path: Path, model: Model) -> None:
    process = psutil.Process()

    def cycle(times: int) -> None:
        for _ in range(times):
            with cortext.open(path, model=model) as mem:
                mem.ingest("one more")
                mem.recall("more", wait_ms=0)
        gc.collect()

    cycle(30)
    memory, files, threads = process.memory_info().rss, process.num_fds(), process.num_threads()
    cycle(150)
    assert process.num_fds() == files
    assert process.num_threads() == threads
    assert process.memory_info().rss - memory < 8 << 20


CREATORS = """
import multiprocessing, sys, cortext

def work(path, barrier):
    cortext.models.load()
    for number in range(10):
        barrier.wait()
        with cortext.open(f"{path}-{number}") as mem:
            mem.ingest("hello")

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    workers = [context.Process(target=work, args=(sys.argv[1], barrier)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
"""


def test_processes_create_a_store_at_once(
    path: Path, model: Model, run_python: Callable[..., object]
) -> None:
    run_python(CREATORS, path)
    for number in range(10):
        with cortext.open(f"{path}-{number}", model=model) as mem:
            assert mem.stats().messages == 4


def test_close_ends_a_wait(path: Path, model: Model) -> None:
    mem = cortext.open(path, model=model)
    mem.ingest_many([{"text": f"many words to embed {i} " * 60} for i in range(200)])
    outcomes: list[str] = []

    def wait() -> None:
        try:
            mem.recall("words", wait_ms=600_000)
        except ClosedError:
            outcomes.append("closed")

    thread = threading.Thread(target=wait)
    thread.start()
    while thread.is_alive() and mem.stats().pending == 200:
        pass
    mem.close()
    thread.join(60)
    assert outcomes == ["closed"]


def test_exceptions_out_of_signal_handlers_leak_nothing(path: Path, model: Model) -> None:
    process = psutil.Process()

    class InterruptError(Exception):
        pass

    def interrupt(number: int, frame: object) -> None:
        raise InterruptError

    def cycle(times: int) -> None:
        for i in range(times):
            signal.setitimer(signal.ITIMER_REAL, 0.0002 + i % 50 * 0.0002)
            try:
                with cortext.open(path, model=model) as mem:
                    for _ in range(20):
                        mem.messages(limit=100)
            except InterruptError:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        gc.collect()

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with contextlib.suppress(InterruptError):
            cycle(20)
        gc.collect()
        files, threads = process.num_fds(), process.num_threads()
        with contextlib.suppress(InterruptError):
            cycle(150)
        gc.collect()
        assert process.num_fds() <= files
        assert process.num_threads() <= threads
    finally:
        signal.signal(signal.SIGALRM, before)


def test_dropped_engine_closes_itself(path: Path, model: Model) -> None:
    mem = cortext.open(path, model=model)
    mem.ingest("hello")
    del mem
    gc.collect()
    assert [p.name for p in path.parent.iterdir()] == ["memory.db"]


OTHER = """
import sys, cortext
with cortext.open(sys.argv[1]) as mem:
    for i in range(40):
        mem.ingest(f"process {sys.argv[2]} item {i}", uid=f"{sys.argv[2]}-{i}")
"""


def test_processes_share_a_store(
    path: Path, model: Model, run_python: Callable[..., object]
) -> None:
    with cortext.open(path, model=model) as mem:
        workers = [threading.Thread(target=run_python, args=(OTHER, path, n)) for n in range(2)]
        for worker in workers:
            worker.start()
        for i in range(40):
            mem.ingest(f"own item {i}")
        for worker in workers:
            worker.join()
        hits = mem.recall("process item", limit=200, wait_ms=60_000, explain=True).hits
        others = [h for h in hits if h.uid]
        assert len(others) == 80
        assert all(h.scores is not None and h.scores.dense is not None for h in others)
        assert mem.stats().messages == 120
        assert mem.stats().chunks == 120


def test_fork_error_is_not_raised_in_the_parent(mem: cortext.Engine) -> None:
    child = os.fork()
    if child == 0:
        try:
            mem.ingest("x")
        except ForkedError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert mem.ingest("parent goes on") == 1


@pytest.mark.parametrize("moment", [0.0, 0.01, 0.03])
def test_a_signal_may_close_what_is_being_closed(
    run_python: Callable[..., object], path: Path, moment: float
) -> None:
    """As of a process that is told to end while it ends."""
    script = """
import signal, sys, threading, time, os, cortext
mem = cortext.open(sys.argv[1])
def end(number, frame):
    mem.close()
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
mem.ingest_many([{"text": f"a message {n} " * 200} for n in range(50)])
def tell():
    time.sleep(float(sys.argv[2]))
    for _ in range(20):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.002)
threading.Thread(target=tell, daemon=True).start()
try:
    mem.close()
    time.sleep(5)
finally:
    mem.close()
"""
    run_python(script, path, moment)
