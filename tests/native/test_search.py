"""The best messages for a vector, against numpy over all codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortext import _native

LEVELS = _native.simd_levels()
LOWEST, HIGHEST = -(2**63), 2**63 - 1
DIMENSION = 64


@dataclass(frozen=True)
class Row:
    message: int
    session: int
    role: int
    time: int


class Searched:
    """An index over vectors, and what it holds in numpy."""

    def __init__(
        self, internals: Any, vectors: npt.NDArray[np.float32], rows: Sequence[Row]
    ) -> None:
        self.internals, self.ffi, self.lib = internals, internals.ffi, internals.lib
        dimension = vectors.shape[1]
        holder = self.ffi.new("ct_index **")
        internals.call("ct_index_create", dimension, holder)
        self.index = self.ffi.gc(holder[0], self.lib.ct_index_destroy)
        self.rows, codes = rows, []
        code = self.ffi.new("unsigned char[]", 4 + dimension)
        for chunk, (row, vector) in enumerate(zip(rows, vectors, strict=True), 1):
            self.lib.ct_code_make(self.ffi.from_buffer("float[]", vector), dimension, code)
            raw = bytes(self.ffi.buffer(code))
            scale = np.frombuffer(raw[:4], np.float32)[0]
            codes.append(np.frombuffer(raw[4:], np.int8).astype(np.float64) * scale)
            entry = (chunk, row.message, row.session, row.role, row.time, code)
            internals.call("ct_index_add", self.index, self.ffi.new("ct_index_entry *", entry))
        self.codes = np.stack(codes)

    def search(
        self,
        vector: npt.NDArray[np.float32],
        limit: int,
        *,
        sessions: Sequence[int] | None = None,
        roles: Sequence[int] | None = None,
        since: int = LOWEST,
        until: int = HIGHEST,
    ) -> list[tuple[int, float]]:
        keep = [self.ffi.new("int64_t[]", sorted(ids or [0])) for ids in (sessions, roles)]
        lists = [
            (kept if ids is not None else self.ffi.NULL, len(ids or ()))
            for kept, ids in zip(keep, (sessions, roles), strict=True)
        ]
        wanted = self.ffi.new("ct_index_filter *", (*lists[0], *lists[1], since, until))
        query, count = self.ffi.new("ct_index_query *"), self.ffi.new("size_t *")
        hits = self.ffi.new("ct_dense_hit[]", limit)
        self.internals.call(
            "ct_index_query_make", self.index, self.ffi.from_buffer("float[]", vector), query
        )
        self.internals.call("ct_index_search", self.index, query, wanted, hits, limit, count)
        self.lib.ct_index_query_free(query)
        return [(hit.message_id, hit.score) for hit in hits[0 : count[0]]]

    def near(
        self, vector: npt.NDArray[np.float32], limit: int, chunks: Sequence[int], known: int
    ) -> list[tuple[int, float]]:
        query, count = self.ffi.new("ct_index_query *"), self.ffi.new("size_t *")
        hits, ids = self.ffi.new("ct_dense_hit[]", limit), self.ffi.new("int64_t[]", list(chunks))
        self.internals.call(
            "ct_index_query_make", self.index, self.ffi.from_buffer("float[]", vector), query
        )
        try:
            self.internals.call(
                *("ct_index_search_near", self.index, query, ids, len(ids), known),
                *(hits, limit, count),
            )
        finally:
            self.lib.ct_index_query_free(query)
        return [(hit.message_id, hit.score) for hit in hits[0 : count[0]]]

    def oracle(
        self, vector: npt.NDArray[np.float32], limit: int, passing: npt.NDArray[np.bool_]
    ) -> list[tuple[int, float]]:
        scores = self.codes @ vector.astype(np.float64)
        best: dict[int, float] = {}
        for row, score in zip(
            np.array([row.message for row in self.rows])[passing], scores[passing], strict=True
        ):
            best[int(row)] = max(best.get(int(row), -9.0), float(score))
        return sorted(best.items(), key=lambda pair: (-pair[1], -pair[0]))[:limit]


def unit(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.ascontiguousarray(vectors / norms, dtype=np.float32)


def clustered(dice: np.random.Generator, count: int, dimension: int) -> npt.NDArray[np.float32]:
    """As embeddings are: around topics, which have much in common."""
    topics = dice.standard_normal((40, dimension)) + 0.3 * dice.standard_normal(dimension)
    noise = dice.standard_normal((count, dimension))
    return unit(topics[dice.integers(0, 40, count)] + noise)


def assert_same(found: list[tuple[int, float]], wanted: list[tuple[int, float]]) -> None:
    """The same scores; messages whose scores are nearly equal may change places."""
    assert len(found) == len(wanted)
    for (_, score), (_, other) in zip(found, wanted, strict=True):
        assert score == pytest.approx(other, abs=2e-3)  # the query is rounded to 12 bits


@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 300),
    dimension=st.sampled_from([1, 7, 64, 100, 384]),
    limit=st.integers(1, 400),
    way=st.sampled_from(["open", "sessions", "roles", "times", "nothing"]),
)
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_few_are_exact(
    internals: Any, seed: int, count: int, dimension: int, limit: int, way: str
) -> None:
    dice = np.random.default_rng(seed)
    vectors = unit(dice.standard_normal((count, dimension)) + 1e-9)
    messages = dice.integers(1, count + 1, count)
    rows = [Row(int(m), int(m) % 5 + 1, int(m) % 3 + 1, int(m) * 7) for m in messages]
    index = Searched(internals, vectors, rows)
    vector = unit(dice.standard_normal(dimension) + 1e-9)
    passing, options = restrict(rows, way)
    assert_same(index.search(vector, limit, **options), index.oracle(vector, limit, passing))


def restrict(rows: Sequence[Row], way: str) -> tuple[npt.NDArray[np.bool_], dict[str, Any]]:
    options: dict[str, dict[str, Any]] = {
        "open": {},
        "sessions": {"sessions": [2, 4, 99]},
        "roles": {"roles": [1, 3]},
        "times": {"since": 70, "until": 700},
        "nothing": {"sessions": []},
    }
    tests = {
        "open": lambda _: True,
        "sessions": lambda row: row.session in {2, 4, 99},
        "roles": lambda row: row.role in {1, 3},
        "times": lambda row: 70 <= row.time < 700,
        "nothing": lambda _: False,
    }
    return np.array([tests[way](row) for row in rows]), options[way]


@pytest.fixture(scope="module")
def large() -> tuple[npt.NDArray[np.float32], list[Row]]:
    """30,000 chunks in sessions of 50; message 1 has 9,000 of them, all about one topic."""
    dice = np.random.default_rng(5)
    vectors = clustered(dice, 30_000, DIMENSION)
    vectors[3_000:12_000] = unit(vectors[0] + 0.02 * dice.standard_normal((9_000, DIMENSION)))
    messages = [1 if 3_000 <= i < 12_000 else i + 2 for i in range(30_000)]
    return vectors, [Row(m, m // 50 + 1, m % 3 + 1, m * 7) for m in messages]


@pytest.mark.parametrize("way", ["open", "sessions", "roles", "times", "nothing"])
def test_many(internals: Any, large: tuple[npt.NDArray[np.float32], list[Row]], way: str) -> None:
    """Beyond some thousand chunks bits choose: hardly one is lost, and no score is a guess."""
    vectors, rows = large
    index, dice = Searched(internals, vectors, rows), np.random.default_rng(6)
    passing, options = restrict(rows, way)
    lost = total = 0
    for _ in range(20):
        noise = unit(dice.standard_normal(DIMENSION))
        vector = unit(vectors[dice.integers(0, 30_000)] + 0.6 * noise)
        found, wanted = index.search(vector, 10, **options), index.oracle(vector, 10, passing)
        exact = dict(index.oracle(vector, 40_000, passing))
        assert len(found) == len(wanted)
        assert all(score == pytest.approx(exact[m], abs=2e-3) for m, score in found)
        worst = wanted[-1][1] - 2e-3 if wanted else 0
        lost += sum(score < worst for _, score in found)
        total += len(wanted)
    assert lost <= total // 50


def test_chunks_of_one_message_do_not_crowd_out_the_rest(
    internals: Any, large: tuple[npt.NDArray[np.float32], list[Row]]
) -> None:
    vectors, rows = large
    index = Searched(internals, vectors, rows)
    found = index.search(vectors[5_000], 200)
    assert found[0][0] == 1
    assert len({message for message, _ in found}) == 200


def test_levels_agree(internals: Any, large: tuple[npt.NDArray[np.float32], list[Row]]) -> None:
    vectors, rows = large
    index = Searched(internals, vectors, rows)
    results = []
    for level in LEVELS:
        assert internals.lib.ct_simd_force(level.encode()) == 0
        results.append([index.search(vectors[at], 25) for at in (0, 4_000, 29_000)])
    internals.lib.ct_simd_force(LEVELS[0].encode())
    assert all(result == results[0] for result in results)


def test_memory_runs_out(internals: Any, large: tuple[npt.NDArray[np.float32], list[Row]]) -> None:
    vectors, rows = large
    index = Searched(internals, vectors, rows)
    wanted = index.search(vectors[0], 5)
    failed = 0
    for n in range(1, 30):
        internals.lib.ct_fault_allocation(n)
        try:
            assert index.search(vectors[0], 5) == wanted
        except internals.error as error:
            assert error.status == 1  # noqa: PT017
            failed += 1
    internals.lib.ct_fault_allocation(0)
    assert failed >= 5


@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 300),
    limit=st.integers(1, 40),
    known=st.integers(-5, 310),
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_near_is_what_was_found_and_all_behind_it(
    internals: Any, seed: int, count: int, limit: int, known: int
) -> None:
    """Chunks given twice, unknown ones and such as are looked at anyway change nothing."""
    dice = np.random.default_rng(seed)
    vectors = unit(dice.standard_normal((count, DIMENSION)))
    messages = dice.integers(1, count + 1, count)
    index = Searched(internals, vectors, [Row(int(m), 1, 1, 0) for m in messages])
    vector = unit(dice.standard_normal(DIMENSION))
    chunks = [int(c) for c in dice.integers(-3, count + 20, dice.integers(0, 2 * count))]
    passing = np.array([c in chunks or c > known for c in range(1, count + 1)])
    found = index.near(vector, limit, chunks, known)
    assert_same(found, index.oracle(vector, limit, passing))


@pytest.mark.parametrize("known", [0, 5, 4_096, 11_111, 29_990, 30_000])
def test_near_in_a_large_index(
    internals: Any, large: tuple[npt.NDArray[np.float32], list[Row]], known: int
) -> None:
    """With the best up to `known` given, it is as good as a search; the rest is scanned by bits."""
    vectors, rows = large
    index, dice = Searched(internals, vectors, rows), np.random.default_rng(8)
    lost = total = 0
    for _ in range(10):
        noise = unit(dice.standard_normal(DIMENSION))
        vector = unit(vectors[dice.integers(0, 30_000)] + 0.6 * noise)
        scores = index.codes[:known] @ vector
        chunks = [int(c) + 1 for c in np.argsort(-scores)[:3000]]
        wanted = index.oracle(vector, 10, np.ones(30_000, bool))
        found = index.near(vector, 10, chunks, known)
        worst = wanted[-1][1] - 2e-3
        lost += 10 - len(found) + sum(score < worst for _, score in found)
        total += 10
    assert lost <= total // 50


def test_vectors_and_mark(internals: Any, large: tuple[npt.NDArray[np.float32], list[Row]]) -> None:
    vectors, rows = large
    index = Searched(internals, vectors, rows)
    ids, count = internals.ffi.new("int64_t[]", 7), internals.ffi.new("size_t *")
    room = np.empty((7, DIMENSION), np.float32)
    hashed, marks = internals.ffi.new("uint64_t *"), []
    for after, some in ((0, 7), (4_093, 7), (29_996, 4), (30_000, 0), (10**9, 0), (-4, 7)):
        buffer = internals.ffi.from_buffer("float[]", room)
        internals.lib.ct_index_vectors(index.index, after, 7, ids, buffer, count)
        assert count[0] == some
        first = max(after, 0)
        assert list(ids[0:some]) == list(range(first + 1, first + some + 1))
        assert np.allclose(room[:some], index.codes[first : first + some], atol=1e-7)
    for through in (0, 1, 4_095, 4_096, 4_097, 29_999, 30_000):
        internals.lib.ct_index_mark(index.index, through, count, hashed)
        assert count[0] == through
        marks.append(hashed[0])
    assert len(set(marks)) == len(marks)
    internals.lib.ct_index_mark(index.index, 10**9, count, hashed)
    assert (count[0], hashed[0]) == (30_000, marks[-1])
    vectors = vectors.copy()
    vectors[4_000] *= -1
    other = Searched(internals, vectors, rows)
    for through, mark in ((4_000, False), (4_001, True), (30_000, True)):
        internals.lib.ct_index_mark(index.index, through, count, hashed)
        ours = hashed[0]
        internals.lib.ct_index_mark(other.index, through, count, hashed)
        assert (ours != hashed[0]) == mark


def test_memory_runs_out_near(
    internals: Any, large: tuple[npt.NDArray[np.float32], list[Row]]
) -> None:
    vectors, rows = large
    index = Searched(internals, vectors, rows)
    wanted = index.near(vectors[0], 5, [1, 2, 3], 20_000)
    failed = 0
    for n in range(1, 10):
        internals.lib.ct_fault_allocation(n)
        try:
            assert index.near(vectors[0], 5, [1, 2, 3], 20_000) == wanted
        except internals.error as error:
            assert error.status == 1  # noqa: PT017
            failed += 1
    internals.lib.ct_fault_allocation(0)
    assert failed >= 4
