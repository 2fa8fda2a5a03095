"""Finding the nearest 10 of 10,000 vectors: numpy exactly, hnswlib, and the engine's index.

The engine's index cannot be asked with a vector, so its time is the dense part of recalls, in the
figures at the end of the run; the times in pytest-benchmark's table are of the other two.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from support import text
from support.timer import Timer

import cortext
from cortext.models import Model, load

Vectors = npt.NDArray[np.float32]
COUNT = 10_000
QUERIES = 200
K = 10


class Data(NamedTuple):
    engine: cortext.Engine
    questions: list[str]
    vectors: Vectors
    queries: Vectors
    exact: list[set[int]]  # positions of the nearest K of each query


@pytest.fixture(scope="module")
def data(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Data]:
    """Short distinct messages: embedding 10,000 takes a minute, and length is no matter here."""
    folder: Path = tmp_path_factory.mktemp("search")
    short = list(islice(text.questions(seed=21), COUNT + QUERIES))
    messages, questions = short[:COUNT], short[COUNT:]
    with cortext.open(folder / "store.db", model=load(cache=folder / "cache")) as engine:
        vectors = engine.embed([f"user: {message}" for message in messages])  # as it stores them
        engine.ingest_many({"text": message} for message in messages)
        assert engine.flush()
        queries = model.embed(questions, query=True)
        exact = [set(exact_search(vectors, query).tolist()) for query in queries]
        yield Data(engine, questions, vectors, queries, exact)


def exact_search(vectors: Vectors, query: Vectors) -> npt.NDArray[np.int64]:
    scores = vectors @ query
    best = np.argpartition(scores, -K)[-K:]
    return np.asarray(best[np.argsort(-scores[best])], dtype=np.int64)


def agreement(found: list[set[int]], data: Data) -> float:
    pairs = zip(found, data.exact, strict=True)
    return sum(len(ours & theirs) for ours, theirs in pairs) / (K * len(found))


def test_numpy_exact(benchmark: Timer, data: Data) -> None:
    turns = cycle(data.queries)
    benchmark.pedantic(
        exact_search,
        setup=lambda: ((data.vectors, next(turns)), {}),
        rounds=QUERIES,
        warmup_rounds=2,
    )


def test_hnswlib(benchmark: Timer, data: Data, notes: list[str]) -> None:
    hnswlib = pytest.importorskip("hnswlib")
    index = hnswlib.Index(space="ip", dim=data.vectors.shape[1])
    index.init_index(max_elements=COUNT, M=16, ef_construction=200, random_seed=1)
    index.set_num_threads(1)
    index.add_items(data.vectors)
    index.set_ef(100)
    found = [set(index.knn_query(query, k=K)[0][0].tolist()) for query in data.queries]
    turns = cycle(data.queries)

    def setup() -> tuple[tuple[Vectors], dict[str, Any]]:
        return (next(turns),), {"k": K}

    benchmark.pedantic(index.knn_query, setup=setup, rounds=QUERIES, warmup_rounds=2)
    notes.append(f"hnswlib (M 16, ef 100): {agreement(found, data):.3f} of the exact top {K}")


def test_engine_index(data: Data, notes: list[str]) -> None:
    times: list[float] = []
    found: list[set[int]] = []
    for question in data.questions:
        answer = data.engine.recall(question, limit=K, stages=("dense",))
        times.append(answer.timings.dense)
        found.append({hit.id - 1 for hit in answer.hits})
    share = agreement(found, data)
    notes.append(
        f"engine index ({data.engine.stats().simd}): median {median(times) * 1000:.0f} us, "
        f"{share:.3f} of the exact top {K}"
    )
    assert share > 0.9
