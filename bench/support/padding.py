"""Vectors that no text has, in a store: an embedding cache that says some texts have them.

The engine takes texts only, and embedding as many as a search is to be measured with takes minutes.
So noise is written into a cache of its own, which nothing else ever uses, in the cache's format; a
cache in another format would be a miss, which `write` finds out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cortext.models import Model

__all__ = ["NOISE", "noisy", "write"]

NOISE = 0.5  # its length, where a vector's is 1: the two have a cosine of about .89

Vectors = npt.NDArray[np.float32]


def noisy(vectors: Vectors, count: int, *, seed: int) -> Vectors:
    """`count` vectors, each one of the given ones plus Gaussian noise, of length 1."""
    dice = np.random.default_rng(seed)
    dimension = vectors.shape[1]
    noise = dice.standard_normal((count, dimension), dtype=np.float32)
    found = vectors[dice.integers(len(vectors), size=count)] + noise * (
        NOISE / np.float32(dimension) ** 0.5
    )
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found, dtype=np.float32)


def write(path: Path, model: Model, texts: Sequence[str], vectors: Vectors) -> None:
    """Make the cache file, which `model` uses already, hold these vectors for the texts."""
    with closing(sqlite3.connect(path)) as db:
        (model_id,) = db.execute("SELECT id FROM model").fetchone()
        keys = [np.asarray(model.tokenize(text), dtype=np.int32) for text in texts]
        model.embed(texts[:1])
        sample = db.execute("SELECT length(value) FROM vector").fetchone()[0]
        code_bytes = (sample - vectors[0].nbytes - 8) // (len(keys[0]) - 2)  # of a token
        by_length: dict[int, list[int]] = {}
        for i, key in enumerate(keys):
            by_length.setdefault(len(key) - 2, []).append(i)
        for tokens, places in by_length.items():
            codes = np.zeros((len(places), tokens * code_bytes), dtype=np.uint8)
            bytes_ = np.hstack([vectors[places].view(np.uint8), codes])
            values = np.hstack([bytes_, _hashes(bytes_)[:, None].view(np.uint8)])
            db.executemany(
                "INSERT OR REPLACE INTO vector VALUES(?, ?, ?)",
                (
                    (model_id, keys[i].tobytes(), value.tobytes())
                    for i, value in zip(places, values, strict=True)
                ),
            )
        db.commit()
    for i in (0, len(texts) - 1):
        if not np.allclose(model.embed([texts[i]])[0], vectors[i], atol=1e-5):
            raise RuntimeError("the embedding cache has another format than this bench writes")


def _hashes(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """FNV-1a of each row, by which the cache knows that a value is whole."""
    state = np.full(len(rows), 0xCBF29CE484222325, dtype=np.uint64)
    for column in rows.T:
        state = (state ^ column) * np.uint64(0x100000001B3)
    return state
