"""hnswlib: M 16, ef_construction 200, ef 100."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hnswlib
from serve import K, Vectors, serve


class Hnswlib:
    def __init__(self, _variant: str, folder: Path) -> None:
        self.file = folder / "index"

    def build(self, vectors: Vectors, _texts: Sequence[str]) -> None:
        count, dimension = vectors.shape
        self.index = hnswlib.Index(space="ip", dim=dimension)
        self.index.init_index(max_elements=count, M=16, ef_construction=200, random_seed=1)
        self.index.set_num_threads(1)
        self.index.add_items(vectors)
        self.index.set_ef(max(100, K))

    def search(self, vector: Vectors) -> Sequence[Any]:
        ids: Sequence[Any] = self.index.knn_query(vector, k=K)[0][0]
        return ids

    def size(self) -> int:
        self.index.save_index(str(self.file))
        return self.file.stat().st_size


if __name__ == "__main__":
    serve(Hnswlib)
