"""Rows that only a damaged or hostile store has: a typed error or nothing, never a crash."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import cortext
from cortext.models import Model


@pytest.fixture
def path(tmp_path: Path, model: Model) -> Path:
    path = tmp_path / "m.db"
    with cortext.open(path, model=model) as mem:
        mem.ingest_many({"text": f"the code of garage {n} is 88{n}"} for n in range(20))
        assert mem.flush()
    return path


def damage(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def test_a_message_that_is_gone(path: Path, model: Model) -> None:
    damage(path, "DELETE FROM message WHERE id = 7")
    with (
        cortext.open(path, model=model) as mem,
        pytest.raises(cortext.StoreCorruptError, match="message 7"),
    ):
        mem.recall("the code of garage 6", limit=20)


def test_a_message_with_no_id_of_ours(path: Path, model: Model) -> None:
    damage(
        path,
        "INSERT INTO message(id, time, session_id, role_id, text) VALUES(0, 5, 1, 1, 'garage 0')",
        "INSERT INTO words(rowid, role, text) VALUES(0, 'user', 'garage zero')",
        "INSERT INTO pending(message_id) VALUES(-1)",
    )
    with cortext.open(path, model=model) as mem:
        for filters in ({}, {"session": "default"}, {"session": "default", "until": 2**42}):
            hits = mem.recall("garage zero", wait_ms=0, limit=30, **filters).hits
            assert all(hit.id > 0 for hit in hits)


def test_many_blocks_that_are_nowhere(path: Path, model: Model) -> None:
    rows = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 200000) "
    damage(path, rows + "INSERT INTO block(place, start, bytes, hash) SELECT i, i, 1, 1 FROM n")
    with cortext.open(path, model=model) as mem:
        assert mem.recall("the code of garage 6").hits[0].id == 7
