"""kill -9 at any moment: what was acknowledged is there, and the store is whole."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import cortext
from cortext.models import Model

# Acknowledges on stdout only after ingest returned, in one write since there may be several
# threads; half of the rounds ingest in groups.
WRITER = """
import os, sys, threading, cortext
path, round_, grouped = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
mem = cortext.open(path, durability=sys.argv[4])
print("ready", flush=True)
def write(thread):
    n = 0
    while True:
        uids = [f"{round_}-{thread}-{n + i}" for i in range(7 if grouped else 1)]
        mem.ingest_many([{"text": f"message {u} about the weather", "uid": u} for u in uids])
        n += len(uids)
        os.write(1, (" ".join(uids) + "\\n").encode())
for thread in range(1, int(sys.argv[5])):
    threading.Thread(target=write, args=(thread,), daemon=True).start()
write(0)
"""


def run_until_killed(
    path: Path, number: int, seconds: float, durability: str, threads: int
) -> list[str]:
    """Start a writer, kill it after some time, and return the uids it acknowledged."""
    with subprocess.Popen(
        [
            *(sys.executable, "-c", WRITER, str(path), str(number), str(number % 2), durability),
            str(threads),
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        lines = writer.stdout.read().splitlines(keepends=True)
    assert writer.returncode == -signal.SIGKILL
    return [uid for line in lines if line.endswith("\n") for uid in line.split()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("durability", "kills", "threads"), [("full", 50, 1), ("full", 25, 6), ("normal", 10, 1)]
)
def test_nothing_acknowledged_is_lost(
    path: Path, model: Model, durability: str, kills: int, threads: int
) -> None:
    moments = random.Random(8841)
    acknowledged: set[str] = set()
    for number in range(kills):
        seconds = moments.uniform(0, 0.25)
        acknowledged |= set(run_until_killed(path, number, seconds, durability, threads))
        with sqlite3.connect(path) as db:
            stored = {uid for (uid,) in db.execute("SELECT uid FROM message")}
            assert db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        db.close()
        missing = acknowledged - stored
        assert not missing, f"kill {number}: {len(missing)} acknowledged messages are gone"
    assert len(acknowledged) > kills
    with cortext.open(path, model=model) as mem:
        some = sorted(acknowledged)[:: max(1, len(acknowledged) // 20)]
        for uid in some:
            hits = mem.recall(f"message {uid}", limit=50, stages=["lexical"]).hits
            assert uid in {hit.uid for hit in hits}
        stats = mem.stats()
        assert stats.messages >= len(acknowledged)
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            half = db.execute(
                "SELECT count(*) FROM message WHERE id NOT IN (SELECT message_id FROM pending)"
                " AND id NOT IN (SELECT message_id FROM chunk)"
            ).fetchone()
            assert half == (0,), "neither embedded nor waiting"
        db.close()


WAITING = 400

# Long texts are several chunks, which are stored in groups.
BACKLOG = """
import sys, cortext
mem = cortext.open(sys.argv[1])
if not mem.stats().messages:
    mem.ingest_many(
        [
            {"text": f"From now on call me {i}. It rained. " * (60 if i % 20 == 0 else 1)}
            for i in range(int(sys.argv[2]))
        ]
    )
print(mem.stats().pending, flush=True)
mem.flush(progress=lambda done, total: print(done, total, flush=True))
mem.close()
"""


def embed_until_killed(path: Path, seconds: float) -> tuple[int, list[list[int]]]:
    """Let a process embed for some time; return what waited when it began, and its progress."""
    with subprocess.Popen(
        [sys.executable, "-c", BACKLOG, str(path), str(WAITING)], stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        waiting = int(worker.stdout.readline())
        time.sleep(seconds)
        worker.send_signal(signal.SIGKILL)
        lines = worker.stdout.read().splitlines(keepends=True)
    shown = [line.split() for line in lines if line.endswith("\n")]
    return waiting, [[int(number) for number in words] for words in shown]


def derived(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that embedding leaves behind, in an order of its own."""
    queries = {
        "chunks": "SELECT message_id, seq, code, codes FROM chunk LEFT JOIN token ON chunk_id = id",
        "terms": "SELECT id, chunks FROM term",
        "directives": "SELECT message_id, start, bytes, kind FROM directive",
        "pending": "SELECT message_id FROM pending",
    }
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {name: sorted(db.execute(query).fetchall()) for name, query in queries.items()}


@pytest.mark.slow
def test_a_backlog_goes_on_after_a_kill_and_is_embedded_exactly_once(
    path: Path, run_python: Callable[..., object]
) -> None:
    whole = path.with_name("whole.db")
    run_python(BACKLOG, whole, WAITING)
    reference = derived(whole)
    assert len({message for message, *_ in reference["chunks"]}) == WAITING
    assert reference["directives"]
    moments = random.Random(5530)
    left = [WAITING]
    while left[-1] > WAITING / 2 and len(left) < 30:
        waiting, shown = embed_until_killed(path, moments.uniform(0.02, 0.15))
        left.append(waiting)
        assert waiting <= left[-2], "what was embedded stays so"
        assert all(0 <= done <= total <= waiting for done, total in shown)
        assert shown == sorted(shown), "progress goes forward"
    assert len(set(left)) > 3, "killed on the way, not before or behind it"
    rest = subprocess.run(
        [sys.executable, "-m", "cortext", "ingest", path, os.devnull, "--progress", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"^embedding: [\d,]+ messages, [\d,]+/s$", rest.stderr, re.MULTILINE)
    assert json.loads(rest.stdout)["pending"] == 0
    assert derived(path) == reference
