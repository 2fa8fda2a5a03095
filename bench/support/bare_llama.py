"""Embedding with llama-cpp-python alone, as well set up as it can be for one text at a time.

The weights, context size, thread count and attention are the engine's.  `use_extra_bufts` is off
because a virtual CPU may report AMX and die of it; the high-level class has no argument for that,
so its default is changed while it is made.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

__all__ = ["HighLevel", "LowLevel"]

Vector = npt.NDArray[np.float32]
MEAN = 1  # enum llama_pooling_type
NO_FLASH_ATTENTION = 0  # enum llama_flash_attn_type


class LowLevel:
    """The C API through ctypes: tokenize, encode, read the pooled vector, normalise."""

    def __init__(self, path: Path, *, context: int, threads: int = 1) -> None:
        self._model = llama_cpp.llama_model_load_from_file(str(path).encode(), _model_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = context
        params.n_seq_max = 1
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        params.pooling_type = MEAN
        params.flash_attn_type = NO_FLASH_ATTENTION
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        if not self._context:
            raise RuntimeError("llama.cpp cannot make a context")
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self._dimension = int(llama_cpp.llama_model_n_embd(self._model))
        self._tokens = (llama_cpp.llama_token * context)()
        self._batch = llama_cpp.llama_batch_init(context, 0, 1)
        for i in range(context):
            self._batch.pos[i] = i
            self._batch.n_seq_id[i] = 1
            self._batch.seq_id[i][0] = 0
            self._batch.logits[i] = 1

    def embed(self, text: str) -> Vector:
        """The unit vector of one text that fits the context."""
        data = text.encode()
        count = llama_cpp.llama_tokenize(
            self._vocabulary, data, len(data), self._tokens, len(self._tokens), True, False
        )
        if count < 0:
            raise ValueError("the text is longer than the context")
        ctypes.memmove(self._batch.token, self._tokens, count * ctypes.sizeof(ctypes.c_int32))
        self._batch.n_tokens = count
        if llama_cpp.llama_encode(self._context, self._batch):
            raise RuntimeError("llama_encode failed")
        pooled = llama_cpp.llama_get_embeddings_seq(self._context, 0)
        vector: Vector = np.ctypeslib.as_array(pooled, (self._dimension,)).astype(np.float32)
        vector /= np.linalg.norm(vector)
        return vector

    def close(self) -> None:
        """Free the context, then the model."""
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)


class HighLevel:
    """`llama_cpp.Llama(embedding=True).embed`, the way its documentation shows."""

    def __init__(self, path: Path, *, context: int, threads: int = 1) -> None:
        module: Any = llama_cpp.llama_cpp
        original: Callable[[], Any] = module.llama_model_default_params
        module.llama_model_default_params = _model_params
        try:
            self._llama = llama_cpp.Llama(
                str(path),
                embedding=True,
                n_ctx=context,
                n_batch=context,
                n_ubatch=context,
                n_threads=threads,
                n_threads_batch=threads,
                pooling_type=MEAN,
                flash_attn=False,
                verbose=False,
            )
        finally:
            module.llama_model_default_params = original

    def embed(self, text: str) -> Vector:
        """The unit vector of one text."""
        return np.asarray(self._llama.embed(text, normalize=True), dtype=np.float32)

    def close(self) -> None:
        """Free the model."""
        self._llama.close()


_default_params = llama_cpp.llama_model_default_params


def _model_params() -> Any:
    params = _default_params()
    params.use_extra_bufts = False
    params.n_gpu_layers = 0
    return params
