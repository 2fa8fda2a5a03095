"""Lengths of messages that are read ahead are those that FTS5 gives one by one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import cortext
from cortext.models import Model

COUNTS = [1, 2, 50, 126, 127, 128, 300, 20_000]  # a varint has more bytes from 128 on


@pytest.fixture
def path(tmp_path: Path, model: Model) -> Path:
    path = tmp_path / "m.db"
    with cortext.open(path, model=model) as mem:
        for count in COUNTS:
            mem.ingest("alpha" + " beta" * (count - 1), role="the user")
    return path


class Store:
    def __init__(self, internals: Any, path: Path, model: Model) -> None:
        self.internals, self.ffi, self.lib = internals, internals.ffi, internals.lib
        self.store = internals.open_store(path, model.fingerprint, model.dimension)

    def close(self) -> None:
        self.lib.ct_store_close(self.store)

    def read(self, after: int, most: int) -> tuple[int, int]:
        """Return the last id that was read, and how many were."""
        to, count = self.ffi.new("int64_t *", after), self.ffi.new("int32_t *")
        self.internals.call("ct_store_read_lengths", self.store, to, most, count)
        return to[0], count[0]

    def search(self, text: str) -> dict[int, float]:
        ffi = self.ffi
        words, count = ffi.new("ct_words *"), ffi.new("size_t *")
        filter_ = ffi.new("ct_filter *")
        filter_.since_ms, filter_.until_ms = -(2**63), 2**63 - 1
        bound, hits = ffi.new("ct_bound_filter *"), ffi.new("ct_lexical_hit[]", 20)
        self.internals.call("ct_store_split", self.store, text.encode(), len(text), words)
        self.internals.call("ct_store_bind_filter", self.store, filter_, bound)
        self.internals.call("ct_store_search", self.store, words, bound, hits, 20, count)
        self.lib.ct_words_free(words)
        return {hits[i].message_id: hits[i].score for i in range(count[0])}


@pytest.mark.parametrize("step", [1, 3, 100])
def test_scores_are_the_same(path: Path, model: Model, internals: Any, step: int) -> None:
    with closing(Store(internals, path, model)) as asked:
        expected = asked.search("alpha beta")
    assert len(set(expected.values())) == len(COUNTS), "the length tells them apart"
    with closing(Store(internals, path, model)) as store:
        after, count = 0, step
        while count == step:
            after, count = store.read(after, step)
        assert after == len(COUNTS)
        with closing(sqlite3.connect(path)) as db:  # so that it cannot be asked
            db.execute("UPDATE words_docsize SET sz = x'0101'")
            db.commit()
        assert store.search("alpha beta") == expected


@pytest.mark.parametrize(
    "sizes", [b"", b"\x01", b"\x01\x81", b"\xff" * 9 + b"\x01\x01", b"\x01" * 3]
)
def test_damaged_sizes_are_not_believed(
    path: Path, model: Model, internals: Any, sizes: bytes
) -> None:
    with closing(sqlite3.connect(path)) as db:
        good = db.execute("SELECT id, sz FROM words_docsize").fetchall()
        db.execute("UPDATE words_docsize SET sz = ?", (sizes,))
        db.commit()
    with closing(Store(internals, path, model)) as store:
        assert store.read(0, 100) == (len(COUNTS), len(COUNTS))
        with closing(sqlite3.connect(path)) as db:
            db.executemany("UPDATE words_docsize SET sz = ?2 WHERE id = ?1", good)
            db.commit()
        with closing(Store(internals, path, model)) as other:
            assert store.search("alpha beta") == other.search("alpha beta")
