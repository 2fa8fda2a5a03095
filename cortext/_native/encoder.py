"""Handle of the C encoder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

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

    functions: by the names of ct_llama_api.  model, context: the two handles; without a context it
        only tokenizes.
    batch_size, batch_offsets: llama_batch as the Python binding declares it.
    """

    functions: Mapping[str, int]
    model: int
    context: int | None
    batch_size: int
    batch_offsets: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tensor:
    """A tensor in a GGUF file, as ct_tensor has it."""

    name: str
    type: int
    rows: int
    columns: int
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BertWeights:
    """An encoder of BERT's family, as ct_bert_weights has it; `path` names the file."""

    path: str
    tensors: Sequence[Tensor]
    layers: int
    heads: int
    dimension: int
    inner: int
    epsilon: float
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TokenBasis:
    """What turns token vectors into codes; float32, C order, as ct_token_basis has it."""

    mean: npt.NDArray[np.float32]  # (dimension,)
    rotation: npt.NDArray[np.float32]  # (bits, dimension)
    prior: npt.NDArray[np.float32]  # (vocabulary,)


class QueryTokens(NamedTuple):
    """A query as ct_encoder_query gives it."""

    vector: npt.NDArray[np.float32]
    ids: list[int]
    vectors: npt.NDArray[np.float32]  # (ids, bits), unit length


def _bert_weights(bert: BertWeights) -> tuple[Any, list[Any]]:
    path = ffi.new("char[]", os.fsencode(bert.path))
    names = [ffi.new("char[]", tensor.name.encode()) for tensor in bert.tensors]
    tensors = ffi.new(
        "ct_tensor[]",
        [
            (name, one.type, one.rows, one.columns, one.bytes, ffi.NULL, one.offset)
            for name, one in zip(names, bert.tensors, strict=True)
        ],
    )
    network = ffi.new(
        "ct_bert_weights *",
        {
            "path": path,
            "tensors": tensors,
            "count": len(bert.tensors),
            "layers": bert.layers,
            "heads": bert.heads,
            "dimension": bert.dimension,
            "inner": bert.inner,
            "epsilon": bert.epsilon,
            "threads": bert.threads,
        },
    )
    return network, [path, names, tensors]


class Network:
    """Owns a ct_bert until an EncoderHandle takes it."""

    def __init__(self, weights: BertWeights, *, context: int) -> None:
        """Read and pack the weights.

        context: most tokens in one pass.

        Raises: ModelError, InternalError.
        """
        network, _held = _bert_weights(weights)  # what it points to stays until the end
        holder, error = ffi.gc(ffi.new("ct_bert **"), lib.ct_bert_drop), new_error()
        check(lib.ct_bert_open(network, context, holder, error), error)
        self.holder: Any = holder


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
        basis: TokenBasis | None,
        network: Network | None = None,
        probe: npt.NDArray[np.float32] | None = None,
        cache_path: str | None,
    ) -> None:
        """Take ownership of model, context and network.

        network: what the core runs itself; None for llama.cpp.

        Raises: ModelError, InputError, StoreError (cache); then they stay the caller's.
        """
        api = ffi.new("ct_llama_api *")
        api.model = ffi.cast("void *", binding.model)
        api.context = ffi.NULL if binding.context is None else ffi.cast("void *", binding.context)
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
        if basis is not None:
            bits, dimension = basis.rotation.shape
            parts = [
                ffi.from_buffer("float[]", np.ascontiguousarray(part, dtype=np.float32))
                for part in (basis.mean, basis.rotation, basis.prior)
            ]
            token_basis = ffi.new("ct_token_basis *", (dimension, bits, len(basis.prior), *parts))
            options.basis = token_basis
        if network is not None:
            options.bert = network.holder
        weights = ffi.NULL if probe is None else ffi.from_buffer("float[]", probe)
        options.probe = weights
        holder, error = ffi.gc(ffi.new("ct_encoder **"), lib.ct_encoder_drop), new_error()
        check(lib.ct_encoder_open(api, options, holder, error), error)
        self._holder: Any = holder
        self.dimension = int(lib.ct_encoder_dimension(holder[0]))
        self.backend = str(ffi.string(lib.ct_encoder_backend(holder[0])).decode())
        self.code_bits = int(lib.ct_encoder_code_bits(holder[0]))

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

    def query(self, text: str) -> QueryTokens:
        """A query's vector and its tokens, for tests."""
        pointer, data = self.pointer, encode(text, "text")
        vector = np.empty(self.dimension, dtype=np.float32)
        tokens, error = ffi.gc(ffi.new("ct_query_tokens *"), lib.ct_query_tokens_free), new_error()
        target = ffi.cast("float *", ffi.from_buffer(vector))
        check(lib.ct_encoder_query(pointer, data, len(data), target, tokens, error), error)
        count = int(tokens.count)
        vectors = np.zeros((count, self.code_bits), dtype=np.float32)
        if count:
            ffi.memmove(ffi.from_buffer(vectors), tokens.vectors, vectors.nbytes)
        return QueryTokens(vector, list(tokens.ids[0:count]) if count else [], vectors)

    def token_prior(self, id: int) -> float:
        """How likely a chunk of any text holds a token; 0 when nothing is known."""
        return float(lib.ct_encoder_token_prior(self.pointer, id))
