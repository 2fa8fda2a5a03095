"""sqlite-vec: a vec0 table in memory, which reads every vector.

Through apsw, since not every Python lets its own sqlite3 load an extension.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw
import sqlite_vec
from serve import K, Vectors, serve


class SqliteVec:
    def __init__(self, _variant: str, _folder: Path) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(sqlite_vec.loadable_path())

    def build(self, vectors: Vectors, _texts: Sequence[str]) -> None:
        self.db.execute(
            f"CREATE VIRTUAL TABLE item USING vec0("
            f"vector float[{vectors.shape[1]}] distance_metric=cosine)"
        )
        with self.db:
            self.db.executemany(
                "INSERT INTO item(rowid, vector) VALUES(?, ?)",
                ((i, vector.tobytes()) for i, vector in enumerate(vectors)),
            )

    def search(self, vector: Vectors) -> Sequence[int]:
        rows = self.db.execute(
            "SELECT rowid FROM item WHERE vector MATCH ? AND k = ?", (vector.tobytes(), K)
        )
        return [row[0] for row in rows]

    def size(self) -> int:
        pages, bytes_a_page = (
            next(self.db.execute(f"PRAGMA {name}"))[0] for name in ("page_count", "page_size")
        )
        return int(pages * bytes_a_page)


if __name__ == "__main__":
    serve(SqliteVec)
