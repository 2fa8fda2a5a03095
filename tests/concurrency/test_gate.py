"""Gates beside everything else: closing, forking, exiting, many at once."""

from __future__ import annotations

import contextlib
import gc
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import cortext
from cortext import ClosedError
from cortext.models import Model

CODES = [f"The code of the {name} is {1000 + 37 * i}." for i, name in enumerate(
    ("garage", "cellar", "attic", "bicycle lock", "safe", "mailbox", "garden gate", "boathouse")
)]  # fmt: skip


def fill(mem: cortext.Engine) -> None:
    mem.ingest_many([{"text": text, "session": "earlier"} for text in CODES])
    mem.flush()


def ask(text: str) -> str:
    return "I have to look up what the code" + text[len("The code") :].split(" is ")[0] + " was. "


def test_many_gates_and_all_else_at_once(mem: cortext.Engine) -> None:
    fill(mem)
    done = threading.Event()
    taken: list[tuple[str, int]] = []

    def stream(number: int) -> int:
        interruptions = 0
        for turn in range(6):
            with mem.gate(session=f"{number}/{turn}", scope=f"scope {number}", context=[]) as gate:
                for text in CODES[number : number + 3]:
                    for word in ask(text).split(" "):
                        gate.feed(word + " ", channel="thinking" if number % 2 else "text")
                interruptions += sum(event.should_interrupt for event in gate.flush())
        return interruptions

    def take() -> None:
        while not done.is_set():
            for number in range(5):
                scope = f"scope {number}"
                taken.extend((scope, hit.id) for hit in mem.take_staged(scope))

    def write() -> None:
        for number in range(60):
            mem.ingest(f"Note {number} about roses and their thorns.", session="garden")
            mem.recall("roses", wait_ms=0, for_session="0/0")
            mem.working("0/0")

    with ThreadPoolExecutor(8) as pool:
        others = [pool.submit(write), pool.submit(take), pool.submit(take)]
        counts = list(pool.map(stream, range(5)))
        done.set()
        for other in others:
            other.result(timeout=60)
    take_rest = [(f"scope {n}", hit.id) for n in range(5) for hit in mem.take_staged(f"scope {n}")]
    assert all(counts), counts
    for number in range(5):
        staged = {id for scope, id in taken + take_rest if scope == f"scope {number}"}
        assert staged, "each scope had something to take"


def test_closing_ends_waits_and_decisions(path: Path, model: Model) -> None:
    mem = cortext.open(path, model=model)
    fill(mem)
    begun, ended = threading.Barrier(5), []

    def watch(number: int) -> None:
        gate = mem.gate(session=str(number))
        begun.wait()
        with contextlib.suppress(ClosedError):
            while True:
                gate.feed("".join(map(ask, CODES)))
                gate.wait()
        ended.append(number)

    threads = [threading.Thread(target=watch, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    mem.close()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(ended) == [0, 1, 2, 3]


def test_gates_may_go_while_they_are_looked_at(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        fill(mem)
        for number in range(40):
            gate = mem.gate(session=str(number))
            gate.feed("".join(map(ask, CODES)))
            if number % 2:
                gate.reset()
            del gate
        gc.collect()
        left = mem.gate(session="last")
        left.feed("".join(map(ask, CODES)))
    del mem
    gc.collect()
    with pytest.raises(ClosedError):
        left.wait()


FORK = """
import os, sys
import cortext
mem = cortext.open(sys.argv[1])
mem.ingest("The code of the garage is 8841.", session="earlier")
mem.flush()
gate = mem.gate(session="now")
gate.feed("I have to look up what the code of the garage was. " * 20)
child = os.fork()
if child == 0:
    calls = [lambda: gate.feed("x"), gate.poll, gate.wait, gate.flush, gate.reset,
             lambda: gate.know("x"), lambda: gate.skipped, lambda: mem.gate(session="x"),
             lambda: mem.take_staged("now"), lambda: mem.working("now")]
    for call in calls:
        try:
            call()
        except cortext.ForkedError:
            continue
        os._exit(1)
    del gate, mem
    os._exit(0)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert any(event.memories for event in gate.flush())
"""


def test_a_forked_child_is_told_so(path: Path, run_python: Callable[..., object]) -> None:
    run_python(FORK, path)


EXIT = """
import sys, threading
import cortext
mem = cortext.open(sys.argv[1])
mem.ingest("The code of the garage is 8841.", session="earlier")
gates = [mem.gate(session=str(i)) for i in range(3)]
for gate in gates:
    gate.feed("I have to look up what the code of the garage was. " * 50)
threading.Thread(target=gates[0].wait, daemon=True).start()
"""


def test_the_process_ends_in_the_middle(path: Path, run_python: Callable[..., object]) -> None:
    for _ in range(5):
        run_python(EXIT, path)


def sentences(of: object, count: int) -> list[str]:
    return [
        f"Line {number} of the list of {of} is about nothing at all." for number in range(count)
    ]


def test_gates_take_turns(mem: cortext.Engine) -> None:
    fill(mem)
    with mem.gate(session="long", context=[]) as behind, mem.gate(session="short") as quick:
        behind.know(sentences("context", 60))
        behind.feed("\n\n".join(sentences("stream", 250)))
        quick.feed(ask(CODES[0]))
        (event,) = quick.flush()
        assert event.memories[0].text == CODES[0]
        assert len(behind.flush(timeout=0)) == 0
        assert behind._handle.counts().waiting > 200


def count_embedded(cache: Path) -> int:
    with contextlib.closing(sqlite3.connect(cache)) as db:
        return int(db.execute("SELECT count(*) FROM vector").fetchone()[0])


def test_what_closed_gates_were_given_is_not_embedded(path: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache.db"
    with cortext.open(path, cache=cache) as mem:
        gates = [mem.gate(session=str(number), context=[]) for number in range(50)]
        for number, gate in enumerate(gates):
            gate.know(sentences(number, 60))
            gate.feed("\n\n".join(sentences(f"gate {number}", 60)))
        for gate in gates[::2]:
            gate.close()
        del gates, gate
        with mem.gate(session="last", every=True) as gate:
            gate.feed("A sentence that is about nothing at all.")
            assert len(gate.flush()) == 1
        mem.flush()
    assert count_embedded(cache) < 1000


def test_of_more_texts_than_are_compared_only_the_words_are_taken_in(
    path: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache.db"
    with cortext.open(path, cache=cache) as mem:
        fill(mem)
        with mem.gate(session="now", context=[*CODES, *sentences("context", 3000)]) as gate:
            gate.feed("".join(map(ask, CODES)))
            assert gate.flush() == [], "all of it is known"
    assert count_embedded(cache) < 1000


def test_closing_a_gate_wakes_who_waits_for_it(mem: cortext.Engine) -> None:
    fill(mem)
    told: list[str] = []

    def wait(gate: cortext.Gate) -> None:
        try:
            gate.wait()
        except ClosedError as error:
            told.append(str(error))

    gates = [mem.gate(session=str(number)) for number in range(4)]
    for number, gate in enumerate(gates):
        gate.feed("\n\n".join(sentences(number, 250)))
    threads = [threading.Thread(target=wait, args=(gate,)) for gate in gates]
    for thread in threads:
        thread.start()
    for gate in gates:
        gate.close()
    for thread in threads:
        thread.join(timeout=60)
    assert told == ["the gate is closed"] * 4
    calls: list[Callable[[], object]] = [
        *(gates[0].poll, gates[0].reset, gates[0].flush, lambda: gates[0].skipped),
        *(lambda: gates[0].feed("x"), lambda: gates[0].know([]), lambda: gates[0].know("x")),
    ]
    for call in calls:
        with pytest.raises(ClosedError, match="the gate is closed"):
            call()
    gates[0].close()


def test_nothing_is_staged_behind_close_or_reset(mem: cortext.Engine) -> None:
    fill(mem)
    staged_before = 0
    for number in range(60):
        gate = mem.gate(session="now", context=[])
        gate.feed("".join(map(ask, CODES)))
        while gate._handle.counts().waiting > number % len(CODES):
            time.sleep(0)
        gate.reset() if number % 2 else gate.close()
        staged_before += len(mem.take_staged("now"))
        with mem.gate(session="other") as other:
            other.feed("A sentence that is about nothing at all.")
            other.flush()
        assert mem.take_staged("now") == []
    assert staged_before, "some were quicker"


def test_a_gate_keeps_its_engine_open(path: Path, model: Model) -> None:
    mem = cortext.open(path, model=model)
    fill(mem)
    gate = mem.gate(session="now")
    del mem
    gc.collect()
    gate.feed(ask(CODES[0]))
    (event,) = gate.flush()
    assert event.memories[0].text == CODES[0]


def test_beside_a_graph(path: Path, model: Model) -> None:
    with cortext.open(path, model=model, index="hnsw") as mem:
        fill(mem)
        texts = [f"Entry {i} of the diary: it rained for {i % 9} hours." for i in range(1200)]
        mem.ingest_many([{"text": text} for text in texts])
        with mem.gate(session="now") as gate:
            gate.feed(ask(CODES[0]))
            (event,) = gate.flush()
        assert event.memories[0].text == CODES[0]
