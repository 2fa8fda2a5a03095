"""What every peer's process does: build from a file of vectors, then search and add as it is told.

It runs in the peer's own environment, which has numpy and the peer, nothing of ours.  Arguments:
package, variant, data file, folder.  The data are `vectors`, `texts` (or none), `queries`, and
`stored`, how many of the vectors are built from at first.  Lines on standard output are JSON: one
when all is built, then one for each line that was read, `["search", first, end]` of the queries or
`["add", first, end]` of the vectors.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["K", "Peer", "Vectors", "folder_bytes", "serve"]

K = 10
Vectors = npt.NDArray[np.float32]


class Peer(Protocol):
    """A search index; one that stores messages has `add` too."""

    def build(self, vectors: Vectors, texts: Sequence[str]) -> None:
        """Take the first vectors, whose ids are their positions."""

    def search(self, vector: Vectors) -> Sequence[Any]:
        """The ids of the nearest K; a store has read their texts too."""

    def size(self) -> int:
        """Bytes in memory, as it tells them or serialised; of a store, on disk."""


def serve(make: Callable[[str, Path], Peer]) -> None:
    """Run the peer that `make` returns for a variant and a folder."""
    package, variant, data, folder = sys.argv[1:5]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer

    def answer(found: object) -> None:
        answers.write(json.dumps(found) + "\n")
        answers.flush()

    with np.load(data) as arrays:
        vectors, queries, stored = arrays["vectors"], arrays["queries"], int(arrays["stored"])
        texts: list[str] = arrays["texts"].tolist()
    peer = make(variant, Path(folder))
    began = time.perf_counter()
    peer.build(vectors[:stored], texts[:stored])
    seconds = time.perf_counter() - began
    answer({"version": metadata.version(package), "seconds": seconds, "bytes": peer.size()})
    gc.disable()
    for line in sys.stdin:
        action, first, end = json.loads(line)
        taken: list[float] = []
        ids: list[list[int]] = []
        for i in range(first, end):
            began = time.perf_counter()
            if action == "search":
                found = peer.search(queries[i])
            else:
                peer.add(i, vectors[i], texts[i])  # type: ignore[attr-defined]
                found = ()
            taken.append(time.perf_counter() - began)
            ids.append([int(id) for id in found])
        answer({"seconds": taken, "ids": ids})


def folder_bytes(folder: Path) -> int:
    """Of all files in it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
