"""What one writes in an hour: texts and vectors in SQLite, the vectors in numpy too.

It syncs each commit to disk, as the engine does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from serve import K, Vectors, folder_bytes, serve


class SqliteNumpy:
    def __init__(self, _variant: str, folder: Path) -> None:
        self.folder = folder
        self.db = sqlite3.connect(folder / "store.db", isolation_level=None)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute(
            "CREATE TABLE message(id INTEGER PRIMARY KEY, text TEXT NOT NULL, vector BLOB NOT NULL)"
        )
        self.vectors = np.empty((0, 0), dtype=np.float32)
        self.count = 0

    def build(self, vectors: Vectors, texts: Sequence[str]) -> None:
        self.vectors = np.empty((2 * len(vectors), vectors.shape[1]), dtype=np.float32)
        for first in range(0, len(vectors), 1000):
            part = range(first, min(first + 1000, len(vectors)))
            self.db.execute("BEGIN")
            self.db.executemany(
                "INSERT INTO message VALUES(?, ?, ?)",
                ((i, texts[i], vectors[i].tobytes()) for i in part),
            )
            self.db.execute("COMMIT")
        self.vectors[: len(vectors)] = vectors
        self.count = len(vectors)

    def add(self, id: int, vector: Vectors, text: str) -> None:
        self.db.execute("INSERT INTO message VALUES(?, ?, ?)", (id, text, vector.tobytes()))
        if self.count == len(self.vectors):
            self.vectors = np.concatenate([self.vectors, np.empty_like(self.vectors)])
        self.vectors[self.count] = vector
        self.count += 1

    def search(self, vector: Vectors) -> Sequence[int]:
        scores = self.vectors[: self.count] @ vector
        best = np.argpartition(scores, -K)[-K:]
        ids: list[int] = best[np.argsort(-scores[best])].tolist()
        marks = ", ".join("?" * len(ids))
        rows = self.db.execute(f"SELECT id, text FROM message WHERE id IN ({marks})", ids)
        assert len(dict(rows)) == len(ids)
        return ids

    def size(self) -> int:
        return folder_bytes(self.folder)


if __name__ == "__main__":
    serve(SqliteNumpy)
