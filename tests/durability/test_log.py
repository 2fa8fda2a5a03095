"""The log stays with the store that is open, whatever else has the file in its hands."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import cortext
from cortext import StoreError
from cortext.models import Model

Run = Callable[..., object]

OTHER = """
import sys, cortext
with cortext.open(sys.argv[1]) as mem:
    print(mem.ingest(sys.argv[2]))
"""


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def texts(path: Path, model: Model) -> list[str]:
    with cortext.open(path, model=model) as mem:
        return [message.text for message in mem.messages(limit=1000)]


@pytest.mark.parametrize("names", [[""], ["", "-wal"]])
def test_reading_ones_own_store_costs_nothing(
    path: Path, model: Model, run_python: Run, names: list[str]
) -> None:
    """Closing a file gives back the process's POSIX locks on it, which SQLite counts on."""
    with cortext.open(path, model=model) as mem:
        expected = ["first"]
        mem.ingest("first")
        for turn in range(3):
            for name in names:
                path.with_name(path.name + name).read_bytes()
            run_python(OTHER, path, f"theirs {turn}")
            ids = [mem.ingest(f"mine {turn} {n}") for n in range(3)]
            expected += [f"theirs {turn}", *(f"mine {turn} {n}" for n in range(3))]
            assert ids == [len(expected) - 2, len(expected) - 1, len(expected)]
            assert mem.flush()
            assert mem.recall(f"theirs {turn}").hits
    assert texts(path, model) == expected


def test_a_log_that_was_removed_is_noticed(path: Path, model: Model, run_python: Run) -> None:
    """By a tool that took the store for closed: it left all, and nothing is added to nowhere."""
    with cortext.open(path, model=model) as mem:
        mem.ingest("before it")
        assert mem.flush()
        path.read_bytes()  # as above; then a tool is the last to close
        script = (
            "import sqlite3, sys\n"
            "db = sqlite3.connect(sys.argv[1])\n"
            "db.execute('SELECT * FROM meta').fetchall()\n"
            "db.close()\n"
        )
        run_python(script, path)
        assert not log_of(path).exists()
        for call in (lambda: mem.ingest("into nowhere"), lambda: mem.recall("before")):
            with pytest.raises(StoreError, match="log"):
                call()
    assert texts(path, model) == ["before it"]


def test_the_last_one_takes_the_log_with_it(path: Path, model: Model, run_python: Run) -> None:
    with cortext.open(path, model=model) as first:
        with cortext.open(path, model=model) as second:
            second.ingest("one")
        assert log_of(path).exists()
        run_python(OTHER, path, "two")
        assert log_of(path).exists()
        first.ingest("three")
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT count(*) FROM message").fetchone() == (3,)
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]
    assert texts(path, model) == ["one", "two", "three"]
