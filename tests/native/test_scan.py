"""The scan at one bit a dimension: each level's kernel gives the scalar twin's result."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortext import _native

GROUP = 32
SUFFIX = {"avx512": "avx512", "avx2": "avx2", "neon": "neon", "scalar": "scalar"}
LEVELS = sorted({SUFFIX[name] for name in _native.simd_levels() if name in SUFFIX})

quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def tables(dice: random.Random, size: int, most: int, *, extreme: bool) -> bytes:
    """Low halves' tables, then high halves', each of 16 sums given twice."""
    table = [
        bytes([most] * 16 if extreme else dice.choices(range(most + 1), k=16))
        for _ in range(2 * size)
    ]
    return b"".join(part * 2 for part in table)


def expected(table: bytes, size: int, groups: bytes) -> list[int]:
    sums = []
    for start in range(0, len(groups), size * GROUP):
        for code in range(GROUP):
            values = [groups[start + row * GROUP + code] for row in range(size)]
            sums.append(
                sum(
                    table[row * GROUP + (value & 15)] + table[(size + row) * GROUP + (value >> 4)]
                    for row, value in enumerate(values)
                )
            )
    return sums


@pytest.mark.parametrize("level", LEVELS)
@given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from([8, 16, 48, 128, 1024]),
    count=st.integers(1, 5),
    extreme=st.booleans(),
)
@quick
def test_sums(internals: Any, level: str, seed: int, size: int, count: int, extreme: bool) -> None:
    dice, ffi = random.Random(seed), internals.ffi
    if size == 1024:
        count = 1
    table = tables(dice, size, internals.lib.ct_scan_most(size), extreme=extreme)
    groups = dice.randbytes(count * size * GROUP)
    sums = ffi.new("uint16_t[]", count * GROUP + 1)
    getattr(internals.lib, f"ct_scan_{level}")(table, size, groups, count, sums)
    assert list(sums) == [*expected(table, size, groups), 0]
    assert max(sums) < 2**16


@pytest.mark.parametrize("level", LEVELS)
@given(
    sums=st.lists(st.integers(0, 65535), min_size=32, max_size=32).flatmap(
        lambda first: st.integers(1, 4).map(lambda times: first * times)
    ),
    least=st.integers(0, 65535),
)
@quick
def test_places(internals: Any, level: str, sums: list[int], least: int) -> None:
    ffi = internals.ffi
    for limit in (least, sums[0], 0, 65535):
        places = ffi.new("uint32_t[]", len(sums))
        over = getattr(internals.lib, f"ct_over_{level}")
        found = over(ffi.new("uint16_t[]", sums), len(sums), limit, places)
        assert list(places)[:found] == [i for i, value in enumerate(sums) if value >= limit]
