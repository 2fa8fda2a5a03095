"""Late scores of ten query tokens against 700 messages of 44 tokens, by each level of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.timer import Timer

from cortext import _native

MESSAGES, TOKENS, QUERY, BITS = 700, 44, 10, 192


@pytest.fixture(autouse=True)
def _restore_level() -> Iterator[None]:
    before = _native.simd_name()
    yield
    _native.force_simd(before)


@pytest.mark.parametrize("level", _native.simd_levels())
def test_late_scores(benchmark: Timer, level: str) -> None:
    random = np.random.default_rng(17)
    vectors = random.standard_normal((QUERY, BITS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = random.integers(0, 2**64, (MESSAGES * TOKENS, BITS // 64), dtype=np.uint64)
    counts = np.full(MESSAGES, TOKENS, dtype=np.uintp)
    _native.force_simd(level)

    def setup() -> tuple[tuple[Any, Any, Any], dict[str, Any]]:
        return (vectors, codes, counts), {}

    benchmark.pedantic(_native.late_scores, setup=setup, rounds=50)
