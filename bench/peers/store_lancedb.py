"""LanceDB: a table in a folder, no index built, so that it reads every vector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from serve import K, Vectors, folder_bytes, serve


class Lance:
    def __init__(self, _variant: str, folder: Path) -> None:
        self.folder = folder
        self.db = lancedb.connect(str(folder))
        self.table: Any = None

    def build(self, vectors: Vectors, texts: Sequence[str]) -> None:
        for first in range(0, len(vectors), 1000):
            end = min(first + 1000, len(vectors))
            rows = self._rows(range(first, end), vectors[first:end], texts[first:end])
            if self.table is None:
                self.table = self.db.create_table("messages", rows)
            else:
                self.table.add(rows)

    def add(self, id: int, vector: Vectors, text: str) -> None:
        self.table.add(self._rows([id], vector[None], [text]))

    def search(self, vector: Vectors) -> Sequence[int]:
        found = self.table.search(vector).distance_type("dot").limit(K).to_list()
        return [row["id"] for row in found]

    def size(self) -> int:
        return folder_bytes(self.folder)

    @staticmethod
    def _rows(ids: Sequence[int], vectors: Vectors, texts: Sequence[str]) -> Any:
        flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
        return pa.table(
            {
                "id": list(ids),
                "text": list(texts),
                "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            }
        )


if __name__ == "__main__":
    serve(Lance)
