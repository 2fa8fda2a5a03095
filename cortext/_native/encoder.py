"""Handle of the C encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from cortext._native._core import ffi, lib
from cortext._native.status import check, encode, encode_name, new_error
from cortext.errors import ClosedError


class PoolingType(IntEnum):
    """How token vectors become one vector; the numbers are llama.cpp's."""

    MEAN = 1
    CLS = 2
    LAST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaBinding:
    """What the core needs of llama.cpp: addresses and a layout.

    functions: by the names of ct_llama_api.  model, context: the two handles.
    batch_size, batch_offsets: llama_batch as the Python binding declares it.
    """

    functions: Mapping[str, int]
    model: int
    context: int
    batch_size: int
    batch_offsets: Sequence[int]


class EncoderHandle:
    """Owns a ct_encoder.  `close` drops this reference; engines keep theirs."""

    def __init__(
        self,
        binding: LlamaBinding,
        *,
        fingerprint: str,
        query_prefix: str,
        passage_prefix: str,
        pooling: PoolingType,
        context: int,
        overlap: int,
        wordpiece: bool,
        cache_path: str | None,
    ) -> None:
        """Take ownership of model and context.

        Raises: ModelError, InputError, StoreError (cache); then they stay the caller's.
        """
        api = ffi.new("ct_llama_api *")
        api.model = ffi.cast("void *", binding.model)
        api.context = ffi.cast("void *", binding.context)
        for name, address in binding.functions.items():
            setattr(api, name, ffi.cast("void *", address))
        api.batch_size = binding.batch_size
        api.batch_offsets = list(binding.batch_offsets)
        keep = [encode(s, "option") for s in (fingerprint, query_prefix, passage_prefix)]
        buffers = [ffi.from_buffer("char[]", data + b"\0") for data in keep]
        cache = None if cache_path is None else ffi.new("char[]", encode_name(cache_path, "cache"))
        options = ffi.new(
            "ct_encoder_options *",
            {
                "fingerprint": buffers[0],
                "query_prefix": buffers[1],
                "passage_prefix": buffers[2],
                "cache_path": ffi.NULL if cache is None else cache,
                "pooling": int(pooling),
                "context": context,
                "overlap": overlap,
                "wordpiece": int(wordpiece),
            },
        )
        holder, error = ffi.gc(ffi.new("ct_encoder **"), lib.ct_encoder_drop), new_error()
        check(lib.ct_encoder_open(api, options, holder, error), error)
        self._holder: Any = holder
        self.dimension = int(lib.ct_encoder_dimension(holder[0]))

    @property
    def closed(self) -> bool:
        """Whether this reference was dropped."""
        return self._holder is None

    @property
    def pointer(self) -> Any:
        """The ct_encoder.  ClosedError after close."""
        if self._holder is None:
            raise ClosedError("the model is closed")
        return self._holder[0]

    def close(self) -> None:
        """Drop this reference; what still runs or is used by an engine stays alive."""
        self._holder = None

    def tokenize(self, text: str) -> list[int]:
        """Token ids with special tokens, never cut."""
        pointer, data = self.pointer, encode(text, "text")
        count, error = ffi.new("size_t *"), new_error()
        capacity = len(data) + 16
        while True:
            ids = ffi.new("int32_t[]", capacity)
            check(
                lib.ct_encoder_tokenize(pointer, data, len(data), ids, capacity, count, error),
                error,
            )
            if count[0] <= capacity:
                return list(ids[0 : count[0]])
            capacity = count[0]

    def embed(self, texts: Sequence[str], *, query: bool) -> npt.NDArray[np.float32]:
        """Unit vectors, float32 (n, dimension)."""
        pointer = self.pointer
        data = [encode(text, "text") for text in texts]
        vectors = np.empty((len(data), self.dimension), dtype=np.float32)
        buffers = [ffi.from_buffer("char[]", d) for d in data]
        error = new_error()
        status = lib.ct_encoder_embed(
            pointer,
            ffi.new("const char *[]", buffers),
            ffi.new("size_t[]", [len(d) for d in data]),
            len(data),
            int(query),
            ffi.cast("float *", ffi.from_buffer(vectors)),
            error,
        )
        check(status, error)
        return vectors
