"""The weights of BERT-family encoders, for the core's own forward pass."""

from __future__ import annotations

import re
from pathlib import Path

from cortext import _native
from cortext.errors import ModelError
from cortext.models.gguf_header import GgufHeader, TensorInfo

__all__ = ["is_supported", "weights"]

_TYPES = {0, 1, 8, 30}  # F32, F16, Q8_0, BF16
_PANEL = 32
_TENSORS = re.compile(
    r"(token_embd|position_embd|token_types|token_embd_norm"
    r"|blk\.[0-9]+\.(attn_[qkv]|attn_output|attn_output_norm|ffn_up|ffn_down|layer_output_norm)"
    r")\.(weight|bias)"
)
_KEYS = {
    "layers": "bert.block_count",
    "heads": "bert.attention.head_count",
    "dimension": "bert.embedding_length",
    "inner": "bert.feed_forward_length",
}


def is_supported(header: GgufHeader) -> bool:
    """Whether the core runs this network itself: plain BERT, in a type of weights it reads.

    Anything else, also a tensor that it would not use, is left to llama.cpp.
    """
    if header.metadata.get("general.architecture") != "bert":
        return False
    if header.metadata.get("bert.attention.causal") or not _shape(header):
        return False
    return all(
        info.type in _TYPES and _TENSORS.fullmatch(info.name) and len(info.shape) <= 2
        for info in header.tensors
    )


def _shape(header: GgufHeader) -> dict[str, int] | None:
    found = {name: header.whole(key) for name, key in _KEYS.items()}
    shape = {name: value for name, value in found.items() if value is not None}
    epsilon = header.metadata.get("bert.attention.layer_norm_epsilon")
    if len(shape) < len(_KEYS) or not isinstance(epsilon, float) or not epsilon > 0:
        return None
    if shape["heads"] < 1 or shape["dimension"] % (shape["heads"] * _PANEL):
        return None
    return None if shape["inner"] % _PANEL else shape


def weights(path: Path, header: GgufHeader, *, threads: int) -> _native.BertWeights:
    """Say where the weights are; the core reads them while it packs them.

    threads: of one pass.
    Raises: ModelError when the network is not one of those that the core runs.
    """
    shape = _shape(header)
    if shape is None:
        raise ModelError(f"{path}: not a network that Cortext runs itself")
    tensors = [_tensor(header, info) for info in header.tensors]
    epsilon = header.metadata["bert.attention.layer_norm_epsilon"]
    return _native.BertWeights(
        path=str(path), tensors=tensors, epsilon=float(epsilon), threads=threads, **shape
    )


def _tensor(header: GgufHeader, info: TensorInfo) -> _native.Tensor:
    return _native.Tensor(
        name=info.name,
        type=info.type,
        rows=info.shape[1] if len(info.shape) == 2 else 1,
        columns=info.shape[0],
        offset=header.data_start + info.offset,
        bytes=info.bytes,
    )
