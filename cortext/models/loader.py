"""Loaded models, shared between the stores of a process."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from cortext import _native
from cortext.errors import CortextError, InputError, InternalError
from cortext.models import basis, bert, llama, probe
from cortext.models.gguf_header import read_header
from cortext.models.registry import ModelSpec, basis_file, resolve
from cortext.models.verify import verify

Encoder = Literal["auto", "llama"]

# Tokens that neighbouring chunks of a long text share, so that a sentence across the cut is whole
# in one of them.
_OVERLAP = 32


class Model:
    """A loaded embedding model.  Thread-safe; callers take turns at it, queries first.

    Made by `load`.  Engines keep the model alive, also after `close`.
    """

    def __init__(
        self,
        path: Path,
        spec: ModelSpec,
        *,
        threads: int,
        encoder: Encoder,
        cache: str | None,
        token_basis: basis.Basis | None,
        weights: npt.NDArray[np.float32] | None = None,
    ) -> None:
        self.path = path
        self.spec = spec
        self.basis = token_basis
        header = read_header(path)
        own = encoder == "auto" and bert.is_supported(header)
        packing = (
            _Packing(bert.weights(path, header, threads=threads), spec.context) if own else None
        )
        binding = llama.load(
            path,
            context=spec.context,
            threads=threads,
            wordpiece=spec.wordpiece,
            only_tokenizer=own,
        )
        try:
            network = None if packing is None else packing.result()
            self._handle = _native.EncoderHandle(
                binding,
                fingerprint=self.fingerprint,
                query_prefix=spec.query_prefix,
                passage_prefix=spec.passage_prefix,
                pooling=_native.PoolingType[spec.pooling.upper()],
                context=spec.context,
                overlap=min(_OVERLAP, spec.context // 8),
                wordpiece=spec.wordpiece,
                basis=None
                if token_basis is None
                else _native.TokenBasis(
                    mean=token_basis.mean, rotation=token_basis.rotation, prior=token_basis.prior
                ),
                network=network,
                probe=weights,
                cache_path=cache,
            )
        except CortextError:
            # Refused, so both are still ours.  After anything else (a signal handler's exception)
            # the handle may own them already, and freeing twice is worse than a leak.
            llama.release(binding)
            raise

    @property
    def fingerprint(self) -> str:
        """Names the weights and how text is prepared for them; a store is tied to it."""
        codes = "none" if self.basis is None else self.basis.sha256[:8]
        return f"{self.spec.name}:{(self.spec.sha256 or '')[:16]}:{self.spec.pooling}:{codes}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._handle.dimension

    @property
    def backend(self) -> str:
        """What runs the network: "llama.cpp", or the level of Cortext's own kernels ("avx2")."""
        return self._handle.backend

    @property
    def handle(self) -> _native.EncoderHandle:
        """For the engine only."""
        return self._handle

    def embed(self, texts: Sequence[str], *, query: bool = False) -> npt.NDArray[np.float32]:
        """Embed texts.

        texts: any number of str; one longer than the model's context is the mean of its chunks.
        query: use the model's query prefix instead of its passage prefix.
        Returns: float32 (n, dimension), each row of unit length.
        Raises: InputError, ModelError, ClosedError, ForkedError.
        """
        if isinstance(texts, str):
            raise InputError("texts must be a sequence of str, not one str")
        return self._handle.embed(texts, query=query)

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text with special tokens, never cut.

        Raises: InputError, ModelError, ClosedError, ForkedError.
        """
        return self._handle.tokenize(text)

    def close(self) -> None:
        """Drop this object's hold on the model; stores that use it are not disturbed."""
        self._handle.close()


class _Packing(threading.Thread):
    """Weights being read and packed, while the caller's thread imports and loads llama.cpp."""

    def __init__(self, weights: _native.BertWeights, context: int) -> None:
        super().__init__(name="cortext-pack")
        self._weights, self._context = weights, context
        self._made: _native.Network | BaseException | None = None
        try:
            self.start()
        except RuntimeError:  # no thread can be had: here and now, then
            self.run()

    def run(self) -> None:
        try:
            self._made = _native.Network(self._weights, context=self._context)
        except BaseException as error:  # noqa: BLE001  (raised where the result is asked for)
            self._made = error

    def result(self) -> _native.Network:
        """Wait for it.  Raises: what packing raised."""
        if self.ident is not None:
            self.join()
        made, self._made = self._made, None
        if isinstance(made, _native.Network):
            return made
        raise InternalError("nothing was packed") if made is None else made


# One model in memory serves every store of the process; it goes when its last user goes.
_Key = tuple[str, str | None, str | None, int, Encoder, str | None, int]
_loaded: weakref.WeakValueDictionary[_Key, Model] = weakref.WeakValueDictionary()
_loading = threading.Lock()


def _basis_of(path: Path, spec: ModelSpec) -> basis.Basis | None:
    file = basis_file(path, spec)
    if file is None:
        return None
    found = basis.read(file, model_sha256=spec.sha256, dimension=spec.dimension)
    if spec.basis_sha256 is not None and file.name == spec.basis:
        verify(file, spec.basis_sha256)
    return found


def _probe_of(path: Path, spec: ModelSpec) -> npt.NDArray[np.float32] | None:
    near = basis_file(path, spec)
    file = None if near is None else near.with_suffix(".probe")
    if file is None or not file.is_file():
        return None
    return probe.read(file, model_sha256=spec.sha256, dimension=spec.dimension)


def load(
    model: str | os.PathLike[str] | Model | None = None,
    *,
    threads: int = 1,
    encoder: Encoder = "auto",
    cache: str | os.PathLike[str] | None = None,
) -> Model:
    """Load a model, or share it if this process has it loaded already.

    model: None for $CORTEXT_MODEL or the bundled one; the path of a GGUF file; a name that
        `cortext model list` shows; or a Model, returned as it is.
    threads: per pass; 1 is best on a machine that does other work.
    encoder: "auto" runs networks of BERT's family with Cortext's own kernels and all others with
        llama.cpp, "llama" all with llama.cpp.  Vectors agree to a cosine of .998 or better, and
        stores do not tell the two apart.
    cache: optional file that keeps vectors between runs, keyed by model and token ids.
    Raises: ModelError when it is missing, damaged or not loadable; InputError for bad arguments.
    """
    if isinstance(model, Model):
        return model
    if not 1 <= threads <= 256:
        raise InputError(f"threads is {threads}; it must be from 1 to 256")
    if encoder not in get_args(Encoder):
        raise InputError(
            f"encoder is {encoder!r}; it must be one of {', '.join(get_args(Encoder))}"
        )
    path, spec = resolve(model)
    cache_path = None if cache is None else os.fspath(cache)
    token_basis = _basis_of(path, spec)
    digest = None if token_basis is None else token_basis.sha256
    key = (str(path.resolve()), spec.sha256, digest, threads, encoder, cache_path, os.getpid())
    with _loading:
        found = _loaded.get(key)
        if found is None or found.handle.closed:
            if spec.sha256 is not None:
                verify(path, spec.sha256)
            found = Model(
                path,
                spec,
                threads=threads,
                encoder=encoder,
                cache=cache_path,
                token_basis=token_basis,
                weights=_probe_of(path, spec),
            )
            _loaded[key] = found
        return found


def _fresh_lock_after_fork() -> None:
    global _loading
    _loading = threading.Lock()


os.register_at_fork(after_in_child=_fresh_lock_after_fork)
