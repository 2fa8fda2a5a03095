"""A large store without the hours of embedding: first embedded messages, then noisy vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

import cortext
from cortext import models
from support import growth, padding
from support.probes import BATCH
from support.report import progress

__all__ = ["Filling", "as_stored", "embed", "nearest"]

PART = 20_000

Vectors = npt.NDArray[np.float32]


class Filling:
    """One store that grows along the stream; a message is one chunk, and ids begin at 1."""

    def __init__(
        self, path: Path, size: int, *, real: int, seed: int, model: str | None, cache: str | None
    ) -> None:
        """`real` of at most `size` messages are embedded, by way of a cache if there is one."""
        self.path = path
        self.real = real
        self.seed = seed
        self.model_name = model
        self.model = models.load(model, cache=cache)
        self.count = 0
        shape = (size, self.model.dimension)
        file = path.with_name(path.name + ".vectors.npy")
        self._vectors = np.lib.format.open_memmap(file, "w+", np.float32, shape)
        self._stream = growth.stream(seed, 0, size)

    @property
    def vectors(self) -> Vectors:
        """Those of all messages that are stored, in the order of their ids."""
        return self._vectors[: self.count]

    def grow(self, size: int) -> None:
        with progress(f"growing to {size:,}") as meter:
            while self.count < size:
                is_real = self.count < self.real
                end = min(size, self.count + PART, self.real if is_real else size)
                messages = list(islice(self._stream, end - self.count))
                if is_real:
                    self._vectors[self.count : end] = embed(self.model, messages)
                    self._ingest(self.model, messages)
                else:
                    self._add_noisy(messages)
                self.count = end
                meter(end, size)

    def _add_noisy(self, messages: Sequence[cortext.NewMessage]) -> None:
        noise = padding.noisy(
            self._vectors[: self.real], len(messages), seed=self.seed + self.count
        )
        file = self.path.with_name(self.path.name + ".noise")
        with closing(models.load(self.model_name, cache=file)) as model:
            padding.write(file, model, [as_stored(message) for message in messages], noise)
            self._ingest(model, messages)
        file.unlink()
        self._vectors[self.count : self.count + len(messages)] = noise

    def _ingest(self, model: models.Model, messages: Sequence[cortext.NewMessage]) -> None:
        with cortext.open(self.path, model=model, durability="normal", index="exact") as engine:
            engine.ingest_many(messages)
            if not engine.flush():
                raise RuntimeError(f"not everything was embedded: {engine.stats().last_error}")


def as_stored(message: cortext.NewMessage) -> str:
    """What of a message is embedded."""
    return f"{message.role}: {message.text}"


def embed(model: models.Model, messages: Sequence[cortext.NewMessage]) -> Vectors:
    parts: list[Vectors] = []
    with progress("embedding") as meter:
        for first in range(0, len(messages), BATCH):
            texts = [as_stored(message) for message in messages[first : first + BATCH]]
            parts.append(model.embed(texts))
            meter(min(first + BATCH, len(messages)), len(messages))
    return np.concatenate(parts)


def nearest(vectors: Vectors, queries: Vectors, k: int) -> list[set[int]]:
    """The places of the k vectors nearest to each query, by their products in float32."""
    scores = np.empty((len(queries), 0), np.float32)
    places = np.empty((len(queries), 0), np.int64)
    for first in range(0, len(vectors), PART):
        part = queries @ vectors[first : first + PART].T
        scores = np.hstack([scores, part])
        names = np.arange(first, first + part.shape[1])
        places = np.hstack([places, np.broadcast_to(names, part.shape)])
        best = np.argpartition(-scores, min(k, scores.shape[1]) - 1, axis=1)[:, :k]
        scores = np.take_along_axis(scores, best, 1)
        places = np.take_along_axis(places, best, 1)
    return [set(row.tolist()) for row in places]
