"""SQLite itself runs out of memory: all or none, and the store works again afterwards."""

from __future__ import annotations

import ctypes
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

SCRIPT = """
import ctypes, sys
import cortext
library = ctypes.CDLL(sys.argv[2])
limit = library.sqlite3_hard_heap_limit64
limit.argtypes, limit.restype = [ctypes.c_int64], ctypes.c_int64
library.sqlite3_memory_used.restype = ctypes.c_int64
failed = kept = 0
with cortext.open(sys.argv[1], durability="normal") as mem:
    mem.ingest("the first")
    mem.flush()
    for room in range(0, 120_000, 1500):
        limit(library.sqlite3_memory_used() + room or 1)
        try:
            mem.ingest_many({"text": f"room {room} of {n} " + "long " * 400} for n in range(8))
            kept += 1
        except cortext.CortextError:
            failed += 1
        finally:
            limit(0)
        mem.ingest(f"after {room}")  # it works
        assert mem.recall(f"after {room}", wait_ms=0, stages=["lexical"]).hits
    assert mem.flush()
print(failed, kept)
"""


def library_of_sqlite() -> str:
    """The one that the core is linked with, which is Python's too."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if "libsqlite3" in line:
            return line.split()[-1]
    raise AssertionError("no SQLite is loaded")


def test_each_call_is_all_or_none(tmp_path: Path) -> None:
    assert ctypes.CDLL(library_of_sqlite())
    path = tmp_path / "m.db"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(path), library_of_sqlite()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    failed, kept = map(int, done.stdout.split())
    assert failed > 3
    assert kept > 3
    with closing(sqlite3.connect(path)) as db:
        counts = dict(
            db.execute(
                "SELECT substr(text, 1, instr(text, ' of ')), count(*) FROM message"
                " WHERE text LIKE 'room%' GROUP BY 1"
            )
        )
        assert set(counts.values()) == {8}
        assert len(counts) == kept
        assert db.execute("SELECT count(*) FROM pending").fetchone() == (0,)
        assert db.execute(
            "SELECT count(*) FROM message WHERE id NOT IN (SELECT message_id FROM chunk)"
        ).fetchone() == (0,)
