"""kill -9 at any moment: what was acknowledged is there, and the store is whole."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cortext
from cortext.models import Model

# Acknowledges on stdout only after ingest returned, in one write, since there may be several threads;
# half of the rounds ingest in groups.
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
