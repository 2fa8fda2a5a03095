"""What is true of the whole process: library versions and SIMD level."""

from __future__ import annotations

from collections.abc import Sequence

from cortext._native._core import ffi, lib
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


def fail_allocation(n: int) -> None:
    """Make the n-th allocation of the core from now fail, once; 0 means none.  For tests."""
    lib.ct_fault_allocation(n)
