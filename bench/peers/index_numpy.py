"""numpy: every vector, float32."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from serve import K, Vectors, serve


class Numpy:
    def __init__(self, _variant: str, _folder: Path) -> None:
        self.vectors = np.empty((0, 0), dtype=np.float32)

    def build(self, vectors: Vectors, _texts: Sequence[str]) -> None:
        self.vectors = np.ascontiguousarray(vectors)

    def search(self, vector: Vectors) -> Sequence[int]:
        scores = self.vectors @ vector
        best = np.argpartition(scores, -K)[-K:]
        ids: list[int] = best[np.argsort(-scores[best])].tolist()
        return ids

    def size(self) -> int:
        return self.vectors.nbytes


if __name__ == "__main__":
    serve(Numpy)
