"""Every kernel level this CPU can run gives the scalar twin's result, bit for bit."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortext import InputError, _native

LEVELS = _native.simd_levels()


def test_best_level_is_in_use_and_scalar_always_exists() -> None:
    assert _native.simd_name() == LEVELS[0]
    assert LEVELS[-1] == "scalar"


@pytest.mark.parametrize("level", LEVELS)
@given(seed=st.integers(0, 2**32), blocks=st.integers(1, 16), extreme=st.booleans())
@settings(deadline=None, max_examples=60)
def test_dot_equals_python(level: str, seed: int, blocks: int, *, extreme: bool) -> None:
    generator = random.Random(seed)
    query_values = [-2047, 2047] if extreme else range(-2047, 2048)
    code_values = [-127, 127] if extreme else range(-127, 128)
    query = generator.choices(query_values, k=64 * blocks)
    code = generator.choices(code_values, k=64 * blocks)
    _native.force_simd(level)
    assert _native.simd_dot(query, code) == sum(q * c for q, c in zip(query, code, strict=True))


@pytest.mark.parametrize("level", LEVELS)
def test_largest_sum_does_not_overflow(level: str) -> None:
    _native.force_simd(level)
    assert _native.simd_dot([2047] * 8192, [127] * 8192) == 2047 * 127 * 8192


def test_unknown_level_is_refused() -> None:
    with pytest.raises(InputError):
        _native.force_simd("avx9000")
