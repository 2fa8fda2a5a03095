"""Parts of the core that Python does not bind, built as a library of their own for tests.

What is declared to cffi is the headers themselves, so that a test cannot call by an old one.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from cffi import FFI

ROOT = Path(__file__).resolve().parents[2]
CSRC = ROOT / "csrc"
FOLDERS = ("base", "simd", "text", "directive", "store", "index", "gate")
HEADERS = (
    "base/ct_alloc.h",
    "base/ct_hash.h",
    "ct.h",
    "directive/ct_directive.h",
    "gate/ct_known.h",
    "gate/ct_segmenter.h",
    "gate/ct_stage_bus.h",
    "gate/ct_topic.h",
    "gate/ct_working.h",
    "index/ct_block.h",
    "index/ct_code_file.h",
    "index/ct_index.h",
    "index/ct_late.h",
    "simd/ct_simd_scan.h",
    "store/ct_store.h",
    "store/ct_vector_store.h",
)


def declarations() -> str:
    """Return the headers without what is the preprocessor's, but for constants."""
    lines = "\n".join((CSRC / name).read_text(encoding="utf-8") for name in HEADERS).split("\n")
    constant = re.compile(r"#define \w+ \d+$")
    return "\n".join(line for line in lines if not line.startswith("#") or constant.match(line))


class CoreError(Exception):
    """A status of the core."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Internals:
    """The library; calls that fail raise `error`."""

    error = CoreError

    def __init__(self, folder: Path) -> None:
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
        target = folder / "internals.so"
        sources = [str(path) for name in FOLDERS for path in sorted((CSRC / name).glob("*.c"))]
        subprocess.run(
            [
                *(*compiler, "-shared", "-fPIC", "-O1", "-std=c11", "-D_GNU_SOURCE"),
                *(f"-I{CSRC}", "-o", str(target), *sources, "-lsqlite3", "-lpthread", "-lm"),
            ],
            check=True,
        )
        self.ffi: Any = FFI()
        self.ffi.cdef(declarations())
        self.lib: Any = self.ffi.dlopen(str(target))

    def open_store(self, path: Path, fingerprint: str, dimension: int, busy_ms: int = 1000) -> Any:
        """Open a store without an engine; to be closed by ct_store_close."""
        keep = [self.ffi.new("char[]", text.encode()) for text in (str(path), fingerprint)]
        options = self.ffi.new("ct_store_options *")
        options.path, options.fingerprint = keep
        options.busy_ms, options.dimension = busy_ms, dimension
        out = self.ffi.new("ct_store **")
        self.call("ct_store_open", options, out)
        return out[0]

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function whose last parameter is a ct_error."""
        error = self.ffi.new("ct_error *")
        status = getattr(self.lib, name)(*arguments, error)
        if status:
            assert error.status == status
            raise CoreError(status, self.ffi.string(error.message).decode())
