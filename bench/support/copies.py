"""Large stores without the hours of embedding: noisy copies of the chunks that a store has.

A copy is written as the engine writes a message of one chunk, but straight into the closed store's
file, since no call of the engine takes a vector.  It has no words in the full-text index and no
token codes: such a store is good for dense recalls only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["NOISE", "add_copies", "best_chunks"]

Vectors = npt.NDArray[np.float32]

NOISE = 0.02  # standard deviation a dimension, of vectors of unit length
_PART = 10_000
_LARGEST = 127


def add_copies(path: Path, count: int, seed: int) -> None:
    """Add `count` copies of the first chunks, in turns; messages and chunks have the same ids."""
    dice = np.random.default_rng(seed)
    with closing(sqlite3.connect(path)) as db:
        sources = _vectors(db.execute("SELECT code FROM chunk ORDER BY id LIMIT ?", [_PART]))
        (last,) = db.execute(
            "SELECT max((SELECT max(id) FROM message), (SELECT max(id) FROM chunk))"
        ).fetchone()
        for done in range(0, count, _PART):
            ids = np.arange(last + done, last + min(done + _PART, count)) + 1
            codes = _codes(sources[ids % len(sources)], dice)
            with db:
                db.executemany(
                    "INSERT INTO message(id, time, session_id, role_id, text)"
                    " SELECT ?1, time, session_id, role_id, 'copy ' || ?1 FROM message LIMIT 1",
                    ((int(id),) for id in ids),
                )
                db.executemany(
                    "INSERT INTO chunk(id, message_id, seq, code) VALUES(?1, ?1, 0, ?2)",
                    zip(map(int, ids), codes, strict=True),
                )


def best_chunks(path: Path, queries: Vectors, k: int) -> list[set[int]]:
    """The messages of each query's best k chunks, by all codes; one chunk a message is assumed."""
    scores, ids = np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT message_id, code FROM chunk ORDER BY id")
        while part := rows.fetchmany(_PART):
            found = queries @ _vectors((code,) for _, code in part).T
            names = np.broadcast_to(np.array([id for id, _ in part]), found.shape)
            scores, ids = np.hstack([scores, found]), np.hstack([ids, names])
            best = np.argsort(-scores, axis=1)[:, :k]
            scores = np.take_along_axis(scores, best, 1)
            ids = np.take_along_axis(ids, best, 1)
    return [set(row.tolist()) for row in ids]


def _vectors(rows: Iterable[tuple[bytes]]) -> Vectors:
    codes = [code for (code,) in rows]
    parts = np.frombuffer(b"".join(codes), np.uint8).reshape(len(codes), -1)
    scales = np.ascontiguousarray(parts[:, :4]).view(np.float32)
    return np.asarray(parts[:, 4:].view(np.int8) * scales, dtype=np.float32)


def _codes(vectors: Vectors, dice: np.random.Generator) -> list[bytes]:
    noisy = vectors + NOISE * dice.standard_normal(vectors.shape, dtype=np.float32)
    noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
    scales = np.abs(noisy).max(axis=1, keepdims=True) / _LARGEST
    values = np.rint(noisy / scales).astype(np.int8)
    return [
        scale.tobytes() + value.tobytes()
        for scale, value in zip(scales.astype(np.float32), values, strict=True)
    ]
