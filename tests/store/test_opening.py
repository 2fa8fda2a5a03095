"""Whose file it is, who may read it, and what opening says when something is wrong."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

import cortext
from cortext import (
    InputError,
    ModelMismatchError,
    StoreCorruptError,
    StoreError,
    StoreVersionError,
)
from cortext.models import Model


def test_files_are_private_under_any_umask(path: Path, model: Model) -> None:
    before = os.umask(0)
    try:
        with cortext.open(path, model=model) as mem:
            mem.ingest("secret")
            names = sorted(p.name for p in path.parent.iterdir())
            assert names == ["memory.db", "memory.db-shm", "memory.db-wal"]
            for file in path.parent.iterdir():
                assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    finally:
        os.umask(before)


def test_closing_folds_the_log_away(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest("hello")
    assert [p.name for p in path.parent.iterdir()] == ["memory.db"]


def test_content_survives_reopening(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        id = mem.ingest("The garage door code is 8841.")
        mem.flush()
        first = mem.recall("garage", explain=True).hits
    with cortext.open(path, model=model) as mem:
        assert mem.stats().pending == 0
        assert mem.recall("garage", explain=True).hits == first
        assert first[0].id == id


def test_backlog_is_resumed(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": f"note number {i} about cats"} for i in range(200)])
    with cortext.open(path, model=model) as mem:
        assert mem.stats().pending > 0, "closing must not wait for the whole backlog"
        assert mem.flush()
        stats = mem.stats()
        assert (stats.pending, stats.chunks) == (0, 200)


def test_foreign_files_are_refused_and_left_alone(path: Path, model: Model) -> None:
    path.write_bytes(b"just some text, long enough to be no database header at all" * 20)
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError, match="not a Cortext store"):
        cortext.open(path, model=model)
    assert path.read_bytes() == before


def test_database_of_another_program_is_refused_and_left_alone(path: Path, model: Model) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE message(x)")
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError, match="another program"):
        cortext.open(path, model=model)
    assert path.read_bytes() == before


def test_newer_format_is_refused(path: Path, model: Model) -> None:
    cortext.open(path, model=model).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreVersionError, match="upgrade"):
        cortext.open(path, model=model)


def test_other_model_is_refused(path: Path, model: Model) -> None:
    cortext.open(path, model=model).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = 'other-model:abc:mean' WHERE key = 'model'")
    with pytest.raises(ModelMismatchError, match="other-model"):
        cortext.open(path, model=model)


@pytest.mark.parametrize("cut", [1, 100, 4096, 9000])
def test_truncated_file_is_an_error_never_a_crash(path: Path, model: Model, cut: int) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": f"some message {i} " * 20} for i in range(50)])
    data = path.read_bytes()
    path.write_bytes(data[:cut])

    def read_everything() -> None:
        with cortext.open(path, model=model) as mem:
            mem.recall("message", stages=["lexical"])
            mem.messages(limit=1000)

    with pytest.raises(StoreError):
        read_everything()


def test_places_that_cannot_hold_a_store(tmp_path: Path, model: Model) -> None:
    with pytest.raises(StoreError, match="No such file"):
        cortext.open(tmp_path / "absent" / "m.db", model=model)
    with pytest.raises(StoreError, match="not a regular file"):
        cortext.open(tmp_path, model=model)
    for bad in ("", ":memory:", b"bytes"):
        with pytest.raises(InputError):
            cortext.open(bad, model=model)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="NUL"):
        cortext.open("a\0b", model=model)
    with pytest.raises(InputError, match="durability"):
        cortext.open(tmp_path / "m.db", model=model, durability="none")  # type: ignore[arg-type]


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_durability_is_what_was_asked_for(path: Path, model: Model, durability: str) -> None:
    with cortext.open(path, model=model, durability=durability) as mem:  # type: ignore[arg-type]
        mem.ingest("hello")
        stats = mem.stats()
        assert stats.durability == durability
        assert (stats.messages, stats.sessions, stats.dimension) == (1, 1, 384)
        assert stats.file_bytes + stats.wal_bytes > 0


def test_path_relative_to_the_working_directory_at_open(
    tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with cortext.open("m.db", model=model) as mem:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        mem.ingest("hello")
        assert mem.recall("hello").hits
    assert (tmp_path / "m.db").exists()
    assert not list((tmp_path / "elsewhere").iterdir())


DAMAGE = {
    "an embedding of no unit vector": "UPDATE chunk SET code = x'0000807f' || substr(code, 5)",
    "a time that no calendar has": "UPDATE message SET time = 9000000000000000000",
    "metadata that is no JSON": "UPDATE message SET metadata = '{'",
    "a directive inside a character": "UPDATE directive SET bytes = 2",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_rows_are_a_typed_error(path: Path, model: Model, damage: str) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest("Nie wieder €! From now on, never use the euro sign.", metadata={"a": 1})
        mem.ingest("€: never use that sign.")
        assert mem.flush()
    with sqlite3.connect(path) as db:
        db.execute(DAMAGE[damage])
    db.close()

    def use() -> None:
        with cortext.open(path, model=model) as mem:
            mem.recall("sign")

    with pytest.raises(StoreCorruptError):
        use()
