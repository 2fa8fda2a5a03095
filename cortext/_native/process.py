"""What is true of the whole process: library versions and SIMD level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cortext._native._core import ffi, lib
from cortext._native.status import check, encode, new_error
from cortext.errors import InputError


def sqlite_version() -> str:
    """Version of the SQLite library the core runs with."""
    return str(ffi.string(lib.ct_sqlite_version()).decode())


def amx_is_safe() -> bool:
    """Whether code with AMX instructions can run here; False would mean SIGILL."""
    return bool(lib.ct_amx_is_safe())


def simd_levels() -> tuple[str, ...]:
    """The kernel levels this CPU can run, best first."""
    names = ffi.new("const char *[8]")
    return tuple(ffi.string(names[i]).decode() for i in range(lib.ct_simd_levels(names, 8)))


def simd_name() -> str:
    """The kernel level in use."""
    return str(ffi.string(lib.ct_simd_name()).decode())


def force_simd(name: str) -> None:
    """Use one level from now on.  Not while another thread is in the core."""
    if lib.ct_simd_force(name.encode()):
        raise InputError(f"this CPU cannot run the {name} kernels")


def simd_dot(query: Sequence[int], code: Sequence[int]) -> int:
    """Dot product by the level in use, for tests; lengths are equal multiples of 64."""
    q, c = ffi.new("int16_t[]", list(query)), ffi.new("int8_t[]", list(code))
    return int(lib.ct_simd_dot(q, c, len(query)))


def linear(
    weights: npt.NDArray[np.float32],
    bias: npt.NDArray[np.float32],
    x: npt.NDArray[np.float32],
    *,
    twin: bool = False,
) -> npt.NDArray[np.float32]:
    """One linear layer by the level in use, for tests; float32, C order.

    weights (outputs, inputs), bias (outputs,), x (rows, inputs); twin: by the scalar twin of the
    eight-bit kernel.  Returns: (rows, outputs).
    """
    outputs, inputs = weights.shape
    out, error = np.empty((len(x), outputs), dtype=np.float32), new_error()
    arrays = [ffi.from_buffer("float[]", array) for array in (weights, bias, x, out)]
    status = lib.ct_linear_apply(
        arrays[0], arrays[1], inputs, outputs, arrays[2], len(x), int(twin), arrays[3], error
    )
    check(status, error)
    return out


def late_scores(
    vectors: npt.NDArray[np.float32],
    codes: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.uintp],
) -> npt.NDArray[np.float32]:
    """Best cosine estimates by the level in use, for tests and benches.

    vectors (tokens, bits) float32; codes (all, bits / 64) uint64; counts: codes of each message.
    Returns: (messages, tokens).
    """
    tokens, bits = vectors.shape
    if vectors.dtype != np.float32 or codes.dtype != np.uint64 or counts.dtype != np.uintp:
        raise InputError("arrays of another type")
    if codes.shape != (int(counts.sum()), bits // 64):
        raise InputError(f"codes are {codes.shape}")
    best, error = np.empty((len(counts), tokens), dtype=np.float32), new_error()
    status = lib.ct_late_scores(
        ffi.from_buffer("float[]", np.ascontiguousarray(vectors)),
        tokens,
        bits,
        ffi.from_buffer("uint64_t[]", np.ascontiguousarray(codes)),
        ffi.from_buffer("size_t[]", np.ascontiguousarray(counts)),
        len(counts),
        ffi.from_buffer("float[]", best),
        error,
    )
    check(status, error)
    return best


class Sentence(NamedTuple):
    """A sentence that may be a directive (marks, of ct_mark) or lift one; bytes of the text."""

    start: int
    bytes: int
    marks: int
    withdraws: bool


def directive_sentences(text: str, most: int = 64) -> list[Sentence]:
    """Return such sentences of a text, for tests and for learning what the marks weigh."""
    data, out = encode(text, "text"), ffi.new("ct_sentence[]", most)
    count = lib.ct_directive_sentences(ffi.from_buffer("char[]", data), len(data), out, most)
    return [
        Sentence(s.start, s.bytes, s.marks, bool(s.withdraws))
        for s in (out[i] for i in range(count))
    ]


def fail_allocation(n: int) -> None:
    """Make the n-th allocation of the core from now fail, once; 0 means none.  For tests."""
    lib.ct_fault_allocation(n)
