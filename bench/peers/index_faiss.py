"""faiss: IndexFlatIP, which reads every vector, and IndexHNSWFlat with M 16, 200 and 100."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faiss
from serve import K, Vectors, serve


class Faiss:
    def __init__(self, variant: str, _folder: Path) -> None:
        self.variant = variant

    def build(self, vectors: Vectors, _texts: Sequence[str]) -> None:
        faiss.omp_set_num_threads(1)
        dimension = vectors.shape[1]
        if self.variant == "IndexFlatIP":
            self.index = faiss.IndexFlatIP(dimension)
        else:
            self.index = faiss.IndexHNSWFlat(dimension, 16, faiss.METRIC_INNER_PRODUCT)
            self.index.hnsw.efConstruction = 200
            self.index.hnsw.efSearch = 100
        self.index.add(vectors)

    def search(self, vector: Vectors) -> Sequence[Any]:
        ids: Sequence[Any] = self.index.search(vector[None], K)[1][0]
        return ids

    def size(self) -> int:
        return int(faiss.serialize_index(self.index).nbytes)


if __name__ == "__main__":
    serve(Faiss)
