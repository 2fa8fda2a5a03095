"""Late scores: every level gives the scalar twin's floats, close to the real cosines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortext import InputError, _native

LEVELS = _native.simd_levels()


@pytest.fixture(autouse=True)
def _restore_level() -> Iterator[None]:
    before = _native.simd_name()
    yield
    _native.force_simd(before)


def made_up(seed: int, bits: int, tokens: int, counts: list[int]) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((tokens, bits)) ** 3
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = random.integers(0, 2**64, (sum(counts), bits // 64), dtype=np.uint64)
    codes[random.random(codes.shape) < 0.05] = random.choice(
        np.array([0, 2**64 - 1], dtype=np.uint64)
    )
    return vectors.astype(np.float32), codes, np.array(counts, dtype=np.uintp)


def quantized(vectors: Any) -> Any:
    """The oracle: values of -15, -13, ... 15, with the factor that brings them nearest."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    values = 2 * np.clip(np.floor(vectors / largest * np.float32(8)) + 8, 0, 15) - 15
    exact = values.astype(np.float64)
    factor = (vectors * exact).sum(axis=1) / (exact**2).sum(axis=1) / np.sqrt(vectors.shape[1])
    return values.astype(np.int64), factor


def signs(codes: Any) -> Any:
    flat = np.unpackbits(codes.view(np.uint8), axis=1, bitorder="little")
    return flat.astype(np.int64) * 2 - 1


@given(
    seed=st.integers(0, 2**32),
    bits=st.sampled_from([64, 128, 192, 192, 192, 256, 320, 512, 1024]),
    tokens=st.integers(1, 12),
    counts=st.lists(st.integers(0, 140), min_size=1, max_size=4),
)
@settings(deadline=None, max_examples=80)
def test_all_levels_give_the_oracles_scores(
    seed: int, bits: int, tokens: int, counts: list[int]
) -> None:
    vectors, codes, lengths = made_up(seed, bits, tokens, counts)
    found = {}
    for level in LEVELS:
        _native.force_simd(level)
        found[level] = _native.late_scores(vectors, codes, lengths)
    for level in LEVELS:
        assert np.array_equal(found[level], found["scalar"]), level
    values, factor = quantized(vectors)
    products = values @ signs(codes).T
    start = 0
    for message, count in enumerate(counts):
        part = products[:, start : start + count]
        want = np.full(tokens, -1.0) if count == 0 else part.max(axis=1) * factor
        np.testing.assert_allclose(found["scalar"][message], np.maximum(want, -1), atol=1e-5)
        start += count


@pytest.mark.parametrize("level", LEVELS)
def test_four_bits_are_close_to_the_cosine(level: str) -> None:
    _native.force_simd(level)
    random = np.random.default_rng(3)
    vectors = random.standard_normal((20, 192)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = random.integers(0, 2**64, (500, 3), dtype=np.uint64)
    scores = _native.late_scores(vectors, codes, np.ones(500, dtype=np.uintp))
    cosines = signs(codes) @ vectors.T / np.sqrt(192)
    assert np.abs(scores - cosines).mean() < 0.01


@pytest.mark.parametrize("level", LEVELS)
def test_extremes(level: str) -> None:
    """A code that is the token's own signs, its opposite, and a token without a direction."""
    _native.force_simd(level)
    for bits in (64, 192, 1024):
        ones = np.full(bits, 1 / np.sqrt(bits), dtype=np.float32)
        vectors = np.stack([ones, -ones, 0 * ones])
        codes = np.full((3, bits // 64), 2**64 - 1, dtype=np.uint64)
        scores = _native.late_scores(vectors, codes, np.array([3], dtype=np.uintp))
        assert scores[0] == pytest.approx([1, -1, 0], abs=1e-5)


def test_no_tokens_and_no_messages() -> None:
    none = np.empty((0, 192), dtype=np.float32)
    codes = np.zeros((2, 3), dtype=np.uint64)
    assert _native.late_scores(none, codes, np.array([2], dtype=np.uintp)).shape == (1, 0)
    assert _native.late_scores(none, codes[:0], np.array([], dtype=np.uintp)).shape == (0, 0)


@pytest.mark.parametrize("bits", [0, 32, 100, 1088])
def test_other_lengths_are_refused(bits: int) -> None:
    vectors = np.zeros((1, bits), dtype=np.float32)
    codes = np.zeros((1, bits // 64), dtype=np.uint64)
    with pytest.raises(InputError):
        _native.late_scores(vectors, codes, np.array([1], dtype=np.uintp))
