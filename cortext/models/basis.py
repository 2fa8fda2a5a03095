"""The token basis of a model: what turns its token vectors into binary codes.

It lies beside the model's GGUF file as `<stem>.basis`, made once from a fixed text.  The file,
little endian, without gaps:

    8 bytes    "CTBASIS" and a line feed
    uint32     version, 1
    uint32     dimension of the model
    uint32     bits of a code, a multiple of 64
    uint32     vocabulary
    32 bytes   SHA-256 of the GGUF file that it belongs to
    float32    mean[dimension]
    float16    rotation[bits][dimension]
    float16    prior[vocabulary]: how likely a chunk of any text, of some 40 tokens, holds the token
    32 bytes   SHA-256 of all before
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cortext.errors import ModelError

__all__ = ["Basis", "pack", "read", "unpack"]

_MAGIC = b"CTBASIS\n"
_VERSION = 1
_HEADER = struct.Struct("<8s4I32s")
_DIGEST = 32
_MOST_BITS = 1024
_MOST_DIMENSIONS = 8192
_MOST_TOKENS = 1 << 22

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """A basis as read.

    sha256: of the file itself.  model_sha256: of the GGUF file that it belongs to.
    mean (dimension,), rotation (bits, dimension), prior (vocabulary,): as the file has them.
    """

    sha256: str
    model_sha256: str
    mean: Floats
    rotation: Floats
    prior: Floats

    @property
    def bits(self) -> int:
        """Length of a code."""
        return int(self.rotation.shape[0])

    @property
    def dimension(self) -> int:
        """Length of a token's vector."""
        return int(self.rotation.shape[1])


def pack(model_sha256: str, mean: Floats, rotation: Floats, prior: Floats) -> bytes:
    """Return the bytes of a basis file."""
    bits, dimension = rotation.shape
    body = b"".join(
        [
            _HEADER.pack(
                _MAGIC, _VERSION, dimension, bits, len(prior), bytes.fromhex(model_sha256)
            ),
            mean.astype("<f4").tobytes(),
            rotation.astype("<f2").tobytes(),
            prior.astype("<f2").tobytes(),
        ]
    )
    return body + hashlib.sha256(body).digest()


def _take(data: bytes, at: int, kind: str, *shape: int) -> tuple[Floats, int]:
    count = int(np.prod(shape))
    array = np.frombuffer(data, dtype=kind, count=count, offset=at)
    return array.reshape(shape).astype(np.float32), at + array.nbytes


def unpack(data: bytes) -> Basis:
    """Return the basis in the bytes of a file.

    Raises: ModelError when they are not a whole, undamaged basis of a version that is known.
    """
    if len(data) < _HEADER.size + _DIGEST or not data.startswith(_MAGIC):
        raise ModelError("it is not a token basis")
    _, version, dimension, bits, vocabulary, model = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise ModelError(f"it has version {version}, this Cortext reads version {_VERSION}")
    if (
        not 1 <= dimension <= _MOST_DIMENSIONS
        or not 64 <= bits <= _MOST_BITS
        or bits % 64
        or not 1 <= vocabulary <= _MOST_TOKENS
    ):
        raise ModelError(
            f"its sizes ({dimension} dimensions, {bits} bits, {vocabulary} tokens) are not possible"
        )
    expected = _HEADER.size + 4 * dimension + 2 * bits * dimension + 2 * vocabulary + _DIGEST
    if len(data) != expected:
        raise ModelError(f"it has {len(data)} bytes, its header says {expected}")
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise ModelError("its checksum does not fit its content")
    mean, at = _take(data, _HEADER.size, "<f4", dimension)
    rotation, at = _take(data, at, "<f2", bits, dimension)
    prior, _ = _take(data, at, "<f2", vocabulary)
    if not all(np.isfinite(part).all() for part in (mean, rotation, prior)):
        raise ModelError("it holds numbers that are not finite")
    if prior.min() < 0 or prior.max() > 1:
        raise ModelError("it holds probabilities below 0 or above 1")
    return Basis(
        sha256=hashlib.sha256(data).hexdigest(),
        model_sha256=model.hex(),
        mean=mean,
        rotation=rotation,
        prior=prior,
    )


def read(path: Path, *, model_sha256: str | None, dimension: int) -> Basis:
    """Read the basis of a model.

    path: of the basis file.  model_sha256, dimension: of the model that it is for.

    Raises: ModelError, saying what to do, when it cannot be read, is damaged, or is another's.
    """
    try:
        basis = unpack(path.read_bytes())
    except OSError as error:
        raise ModelError(
            f"cannot read the token basis {path}: {error.strerror or error}"
        ) from error
    except ModelError as error:
        raise ModelError(f"the token basis {path} cannot be used: {error}; {_REMEDY}") from None
    if basis.model_sha256 != (model_sha256 or "").lower() or basis.dimension != dimension:
        raise ModelError(
            f"the token basis {path} belongs to another model file (sha256 {basis.model_sha256}, "
            f"{basis.dimension} dimensions); {_REMEDY}"
        )
    return basis


_REMEDY = (
    "install Cortext again if the model came with it, otherwise delete the file (recall then does "
    "without it) or make it anew with `cortext model basis`"
)
