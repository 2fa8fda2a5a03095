"""Describes the cffi module `cortext._native._core`; setup.py compiles it together with csrc.

Its declarations are the part of csrc/ct.h between two marker comments, so that the header and
what Python sees cannot drift apart. The core itself never includes Python.h: only the wrapper
that cffi generates does.
"""

from __future__ import annotations

from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parents[2]
BEGIN = "/* cffi:begin */"
END = "/* cffi:end */"

# What C calls back into Python: cffi makes these functions, static ones.
CALLBACKS = """
extern "Python" int32_t cortext_find_nearby(void *state, ct_nearby *near);
"""

# cffi's generated wrapper is not written for -Wextra; our own sources are.
PREAMBLE = """
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wcast-function-type"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#include "ct.h"
"""


def declarations(header: str) -> str:
    """Return the declarations between the markers; there may be several marked parts."""
    parts = header.split(BEGIN)[1:]
    if not parts or any(END not in part for part in parts):
        raise ValueError(f"ct.h must mark its declarations with {BEGIN} and {END}")
    return "\n".join(part.split(END)[0] for part in parts)


def make() -> FFI:
    """Return the module's description; setup.py adds the sources of the core to it."""
    ffi = FFI()
    ffi.cdef(declarations((ROOT / "csrc" / "ct.h").read_text(encoding="utf-8")))
    ffi.cdef(CALLBACKS)
    ffi.set_source("cortext._native._core", PREAMBLE)
    return ffi
