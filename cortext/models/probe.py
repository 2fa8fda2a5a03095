r"""The probe of a model: what its vectors say for a standing directive.

It lies beside the model's token basis as `<stem>.probe` and is optional: without it directives are
told by their form alone.  The file, little endian, without gaps:

    8 bytes    "CTPROBE\n"
    uint32     version, 1
    uint32     dimension of the model
    32 bytes   SHA-256 of the GGUF file that it belongs to
    float32    weights[dimension + 1], the bias last
    32 bytes   SHA-256 of all before
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cortext.errors import ModelError

__all__ = ["pack", "read", "unpack"]

_MAGIC = b"CTPROBE\n"
_VERSION = 1
_HEADER = struct.Struct("<8s2I32s")
_DIGEST = 32

Floats = npt.NDArray[np.float32]


def pack(model_sha256: str, weights: Floats) -> bytes:
    """Return the bytes of a probe file."""
    head = _HEADER.pack(_MAGIC, _VERSION, len(weights) - 1, bytes.fromhex(model_sha256))
    body = head + weights.astype("<f4").tobytes()
    return body + hashlib.sha256(body).digest()


def unpack(data: bytes) -> tuple[str, Floats]:
    """Return the SHA-256 of the model that a probe belongs to, and its weights.

    Raises: ModelError when the bytes are not a whole, undamaged probe of a version that is known.
    """
    if len(data) < _HEADER.size + _DIGEST or not data.startswith(_MAGIC):
        raise ModelError("it is not a probe")
    _, version, dimension, model = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise ModelError(f"it has version {version}, this Cortext reads version {_VERSION}")
    expected = _HEADER.size + 4 * (dimension + 1) + _DIGEST
    if len(data) != expected:
        raise ModelError(f"it has {len(data)} bytes, its header says {expected}")
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise ModelError("its checksum does not fit its content")
    weights = np.frombuffer(data, dtype="<f4", count=dimension + 1, offset=_HEADER.size)
    if not np.isfinite(weights).all():
        raise ModelError("it holds numbers that are not finite")
    return model.hex(), weights.astype(np.float32)


def read(path: Path, *, model_sha256: str | None, dimension: int) -> Floats:
    """Read the probe of a model.

    Raises: ModelError, saying what to do, when it cannot be read, is damaged, or is another's.
    """
    try:
        model, weights = unpack(path.read_bytes())
    except OSError as error:
        raise ModelError(f"cannot read the probe {path}: {error.strerror or error}") from error
    except ModelError as error:
        raise ModelError(f"the probe {path} cannot be used: {error}; {_REMEDY}") from None
    if model != (model_sha256 or "").lower() or len(weights) != dimension + 1:
        raise ModelError(f"the probe {path} belongs to another model file; {_REMEDY}")
    return weights


_REMEDY = (
    "install Cortext again if the model came with it, otherwise delete the file (directives are "
    "then told by their form alone)"
)
