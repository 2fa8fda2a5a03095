"""Reads the header of a GGUF file: what kind of model it is, and whether the file is whole.

llama.cpp is given a file only after this: it aborts the process on some damaged files, and its
message for the others goes to a log.  The `gguf` package is not used because it trusts the file.
Every length is compared with the bytes that are left before anything is read or made from it.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cortext.errors import ModelError

__all__ = ["GgufHeader", "TensorInfo", "parse_header", "read_header"]

Scalar = int | float | bool | str
Buffer = bytes | mmap.mmap

_VERSIONS = (2, 3)
_DEFAULT_ALIGNMENT = 32
_MOST_DIMENSIONS = 4
_LONGEST_KEY = 65535
_LONGEST_KEPT = 1 << 16

_STRING, _ARRAY, _BOOL = 8, 9, 7
_FORMATS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<B",
    10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip

# Tensor type -> (values in a block, bytes of a block).
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18),
    21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8),
    28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor.

    type: ggml's number.  shape: values along each dimension, the one that lies together first.
    offset: from the start of all data.  bytes: 0 for a type that is newer than this table.
    """

    name: str
    type: int
    shape: tuple[int, ...]
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a header says.

    metadata: without arrays and very long strings.  data_start: where in the file the data begins.
    """

    version: int
    tensors: tuple[TensorInfo, ...]
    metadata: Mapping[str, Scalar]
    data_start: int

    def text(self, key: str) -> str | None:
        """Return a string, None if absent.  Raises: ModelError if it is no string."""
        value = self.metadata.get(key)
        if value is None or isinstance(value, str):
            return value
        raise ModelError(f"its {key} is not a string")

    def whole(self, key: str) -> int | None:
        """Return a whole number, None if absent.  Raises: ModelError if it is something else."""
        value = self.metadata.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise ModelError(f"its {key} is not a whole number")

    def flag(self, key: str) -> bool | None:
        """Return a truth value, None if absent.  Raises: ModelError if it is something else."""
        value = self.metadata.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise ModelError(f"its {key} is not true or false")


class _Reader:
    def __init__(self, data: Buffer) -> None:
        self.data = data
        self.size = len(data)
        self.at = 0

    def take(self, count: int) -> int:
        """Step over `count` bytes and return where they begin."""
        if count > self.size - self.at:
            raise ModelError(f"it ends too early, in its header ({self.size} bytes)")
        begin = self.at
        self.at += count
        return begin

    def number(self, form: str) -> int | float:
        begin = self.take(struct.calcsize(form))
        value: int | float = struct.unpack_from(form, self.data, begin)[0]
        return value

    def count(self, form: str = "<Q") -> int:
        return int(self.number(form))

    def string(self, longest: int) -> str | None:
        """Return a string, or None if it is longer than anything of use."""
        length = self.count()
        begin = self.take(length)
        if length > longest:
            return None
        try:
            return bytes(self.data[begin : begin + length]).decode("utf-8")
        except UnicodeDecodeError:
            raise ModelError("it holds text that is not UTF-8") from None

    def key(self, what: str) -> str:
        name = self.string(_LONGEST_KEY)
        if not name:
            raise ModelError(f"it has a {what} without a usable name")
        return name

    def value(self, kind: int) -> Scalar | None:
        """Return a value, None for what is stepped over."""
        if kind == _STRING:
            return self.string(_LONGEST_KEPT)
        if kind == _ARRAY:
            self.skip_array()
            return None
        if kind not in _FORMATS:
            raise ModelError(f"it has metadata of unknown type {kind}")
        number = self.number(_FORMATS[kind])
        return bool(number) if kind == _BOOL else number

    def skip_array(self) -> None:
        kind = self.count("<I")
        length = self.count()
        if kind in _FORMATS:
            self.take(length * struct.calcsize(_FORMATS[kind]))
            return
        if kind != _STRING:
            raise ModelError(f"it has an array of unknown type {kind}")
        if length > (self.size - self.at) // 8:
            raise ModelError(f"it ends too early, in its header ({self.size} bytes)")
        data, size, at = self.data, self.size, self.at
        unpack = struct.Struct("<Q").unpack_from
        for _ in range(length):  # vocabularies: worth a loop without calls
            if at > size - 8:
                break
            at += 8 + unpack(data, at)[0]
        self.take(at - self.at)

    def metadata(self, count: int) -> dict[str, Scalar]:
        found: dict[str, Scalar] = {}
        seen: set[str] = set()
        for _ in range(count):
            key = self.key("metadata entry")
            if key in seen:
                raise ModelError(f"it has {key} twice")
            seen.add(key)
            value = self.value(self.count("<I"))
            if value is not None:
                found[key] = value
        return found

    def tensor(self, alignment: int) -> TensorInfo:
        name = self.key("tensor")
        dimensions = self.count("<I")
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise ModelError(f"its tensor {name} has {dimensions} dimensions")
        sizes = [self.count() for _ in range(dimensions)]
        kind = self.count("<I")
        offset = self.count()
        if offset % alignment:
            raise ModelError(f"its tensor {name} is not aligned")
        if kind not in _BLOCKS:  # newer than this table: llama.cpp decides
            return TensorInfo(name, kind, tuple(sizes), offset, 0)
        values, size = _BLOCKS[kind]
        total = 1
        for count in sizes:
            total *= count
        if total == 0 or sizes[0] % values:
            raise ModelError(f"its tensor {name} has an impossible shape")
        return TensorInfo(name, kind, tuple(sizes), offset, total // values * size)


def _alignment(metadata: Mapping[str, Scalar]) -> int:
    value = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    if isinstance(value, bool) or not isinstance(value, int) or value < 8 or value & (value - 1):
        raise ModelError("its general.alignment is not a power of two")
    return value


def parse_header(data: Buffer) -> GgufHeader:
    """Read the header of a whole GGUF file.

    Raises: ModelError, a sentence that begins with "it" or "its", when the data is not GGUF, is of
    a version that llama.cpp does not read, is damaged, or is shorter than its tensors.
    """
    reader = _Reader(data)
    if bytes(data[:4]) != b"GGUF":
        raise ModelError("it is not a GGUF file")
    reader.take(4)
    version = reader.count("<I")
    if version not in _VERSIONS:
        if version and version & 0xFFFF == 0:
            raise ModelError("it is big-endian")
        raise ModelError(f"it has GGUF version {version}; versions 2 and 3 are supported")
    count = reader.count()
    entries = reader.count()
    metadata = reader.metadata(entries)
    alignment = _alignment(metadata)
    tensors = tuple(reader.tensor(alignment) for _ in range(count))
    start = (reader.at + alignment - 1) // alignment * alignment
    needed = start + max((info.offset + info.bytes for info in tensors), default=0)
    if reader.size < needed:
        raise ModelError(f"it is cut short: {reader.size} bytes, where its tensors need {needed}")
    return GgufHeader(version, tensors, metadata, start)


def read_header(path: Path) -> GgufHeader:
    """Read the header of a GGUF file.

    Raises: ModelError when the file cannot be read or is not a whole GGUF file.
    """
    try:
        with path.open("rb") as file:
            if file.seek(0, 2) == 0:
                raise ModelError("it is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return parse_header(data)
    except OSError as error:
        raise ModelError(f"cannot read the model file {path}: {error.strerror or error}") from error
    except ModelError as error:
        raise ModelError(f"{path} is not a usable model file: {error}") from None
