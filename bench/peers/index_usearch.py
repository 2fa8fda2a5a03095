"""usearch: HNSW with its defaults, vectors as float32 or as int8."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from serve import K, Vectors, serve
from usearch.index import Index


class Usearch:
    def __init__(self, variant: str, _folder: Path) -> None:
        self.variant = variant

    def build(self, vectors: Vectors, _texts: Sequence[str]) -> None:
        self.index = Index(ndim=vectors.shape[1], metric="ip", dtype=self.variant)
        self.index.add(np.arange(len(vectors)), vectors, threads=1)

    def search(self, vector: Vectors) -> Sequence[Any]:
        ids: Sequence[Any] = self.index.search(vector, K).keys
        return ids

    def size(self) -> int:
        return int(self.index.serialized_length)


if __name__ == "__main__":
    serve(Usearch)
