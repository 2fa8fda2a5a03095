"""What a stream is about: shift and drift as cosines of what went by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

SIZE = 8
Vector = npt.NDArray[np.float32]


class Topic:
    def __init__(self, internals: Any) -> None:
        self.ffi, self.lib = internals.ffi, internals.lib
        self.handle = self.ffi.gc(self.ffi.new("ct_topic *"), self.lib.ct_topic_free)
        internals.call("ct_topic_open", self.handle, SIZE)

    def _of(self, vector: Vector) -> Any:
        return self.ffi.from_buffer("float[]", vector)

    def shift(self, vector: Vector) -> float:
        return float(self.lib.ct_topic_shift(self.handle, self._of(vector)))

    def drift(self, vector: Vector) -> float:
        return float(self.lib.ct_topic_drift(self.handle, self._of(vector)))

    def add(self, vector: Vector, interrupts: bool = False) -> None:
        self.lib.ct_topic_add(self.handle, self._of(vector), interrupts)

    @property
    def since(self) -> float:
        return float(self.handle.since)


def unit(values: list[float]) -> Vector:
    vector = np.array([*values, 1e-3], np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


VECTORS = st.lists(st.floats(-1, 1, width=32), min_size=SIZE - 1, max_size=SIZE - 1).map(unit)


@given(before=st.lists(st.tuples(VECTORS, st.booleans()), max_size=6), now=VECTORS)
def test_against_numpy(internals: Any, before: list[tuple[Vector, bool]], now: Vector) -> None:
    topic = Topic(internals)
    mean, last, since = None, None, math.inf
    for vector, interrupts in before:
        topic.add(vector, interrupts)
        mean = vector.astype(float) if mean is None else mean + 0.4 * (vector - mean)
        mean /= max(float(np.linalg.norm(mean)), 1e-30)
        last, since = (vector, 0) if interrupts else (last, since + 1)
    assert topic.since == since
    away = 0.0 if mean is None else 1 - float(mean @ now)
    assert topic.shift(now) == pytest.approx(min(max((away - 0.75) / 0.25, 0), 1), abs=1e-4)
    expected = 0.0 if last is None else 1 - float(last.astype(float) @ now)
    assert topic.drift(now) == pytest.approx(expected, abs=1e-6)


def test_it_begins_anew(internals: Any) -> None:
    topic, one, other = Topic(internals), unit([1.0] + [0.0] * 6), unit([0.0, 1.0] + [0.0] * 5)
    topic.add(one, interrupts=True)
    assert topic.shift(other) == pytest.approx(1, abs=1e-3)
    topic_before = topic.drift(other)
    topic.lib.ct_topic_clear(topic.handle)
    assert topic_before == pytest.approx(1, abs=1e-3)
    assert (topic.shift(other), topic.drift(other), topic.since) == (0, 0, math.inf)
