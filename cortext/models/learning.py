"""Learning the token basis of a model from a text that comes with Cortext."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cortext import _native
from cortext.errors import ModelError
from cortext.models import basis, llama
from cortext.models.registry import ModelSpec
from cortext.models.verify import file_sha256

__all__ = ["BITS", "TokenReader", "corpus", "learn", "prior_of_bert"]

BITS = 192  # 128 finds less; 256 finds no more

Floats = npt.NDArray[np.float32]

# BERT's English vocabulary: special tokens, then characters, then pieces by falling frequency.
_BERT_TOKENS = 30522
_BERT_CHARACTERS, _BERT_ASCII_END, _BERT_PIECES = 999, 1063, 1996
_FIRST_PIECES = {"the": 1996, "of": 1997, "and": 1998}


class TokenReader:
    """A model run by llama.cpp's own functions, for the vectors of single tokens."""

    def __init__(self, path: Path, spec: ModelSpec) -> None:
        """Load the model.  Raises: ModelError."""
        import llama_cpp

        self._llama: Any = llama_cpp
        self._spec = spec
        self._binding = llama.load(path, context=spec.context, threads=1, wordpiece=spec.wordpiece)
        self._handle = _native.EncoderHandle(
            self._binding,
            fingerprint="",
            query_prefix=spec.query_prefix,
            passage_prefix=spec.passage_prefix,
            pooling=_native.PoolingType[spec.pooling.upper()],
            context=spec.context,
            overlap=0,
            wordpiece=spec.wordpiece,
            basis=None,
            cache_path=None,
        )
        vocabulary = llama_cpp.llama_model_get_vocab(self._binding.model)
        self.vocabulary = int(llama_cpp.llama_vocab_n_tokens(vocabulary))
        empty, word = self._handle.tokenize(""), self._handle.tokenize("a")
        self._head = sum(1 for a, b in zip(empty, word, strict=False) if a == b)
        self._tail = len(empty) - self._head
        self._batch = llama_cpp.llama_batch_init(spec.context, 0, 1)
        for i in range(spec.context):
            self._batch.pos[i] = i
            self._batch.n_seq_id[i] = 1
            self._batch.seq_id[i][0] = 0
            self._batch.logits[i] = 1

    def tokenize(self, text: str) -> list[int]:
        """Token ids with special tokens."""
        return self._handle.tokenize(text)

    def read(self, text: str) -> tuple[list[int], Floats]:
        """Ids and vectors of a text's tokens without special tokens, as many as fit one pass."""
        ids = self._handle.tokenize(text)
        body = ids[self._head : len(ids) - self._tail]
        body = body[: self._spec.context - self._head - self._tail]
        one_pass = [*ids[: self._head], *body, *ids[len(ids) - self._tail :]]
        for i, token in enumerate(one_pass):
            self._batch.token[i] = token
        self._batch.n_tokens = len(one_pass)
        if self._llama.llama_encode(self._binding.context, self._batch):
            raise ModelError("llama.cpp could not encode")
        pointer = self._llama.llama_get_embeddings(self._binding.context)
        all_vectors = np.ctypeslib.as_array(pointer, (len(one_pass), self._spec.dimension))
        return body, all_vectors[self._head : self._head + len(body)].astype(np.float32)

    def close(self) -> None:
        """Free the model."""
        self._llama.llama_batch_free(self._batch)
        self._handle.close()


def corpus() -> Iterator[tuple[str, str]]:
    """Yield role and text of what a basis is learned from."""
    demo = files("cortext.cli.demo").joinpath("conversation.jsonl").read_text(encoding="utf-8")
    for line in demo.splitlines():
        message = json.loads(line)
        yield message["role"], message["text"]
    for message in json.loads(files("cortext.models.bundled").joinpath("corpus.json").read_bytes()):
        yield message["role"], message["text"]


def prior_of_bert() -> Floats:
    """Return the probabilities for BERT's English vocabulary, by Zipf's law over the ids."""
    ids = np.arange(_BERT_TOKENS)
    prior = np.where(ids < _BERT_CHARACTERS, 1.0, 0.01)  # special; then characters of other scripts
    prior[_BERT_CHARACTERS:_BERT_ASCII_END] = 0.1  # digits and letters
    for first, last in ((999, 1013), (1024, 1030), (1031, 1036), (1060, 1063)):
        prior[first:last] = 1.0  # ASCII punctuation
    pieces = ids >= _BERT_PIECES
    prior[pieces] = np.minimum(1, 1.2 / (ids[pieces] - _BERT_PIECES + 2) ** 0.8)
    return prior.astype(np.float32)


def _counted_prior(chunks: Sequence[Sequence[int]], vocabulary: int) -> Floats:
    seen = np.zeros(vocabulary)
    for ids in chunks:
        seen[list(set(ids))] += 1
    return ((seen + 0.5) / (len(chunks) + 1)).astype(np.float32)


def learn(path: Path, spec: ModelSpec, *, bits: int = BITS) -> bytes:
    """Return the basis file of a model: mean and principal axes of its token vectors.

    Raises: ModelError when the model cannot be run or has fewer dimensions than a code has bits.
    """
    if spec.dimension < bits:
        raise ModelError(f"{path} has {spec.dimension} dimensions, a token basis needs {bits}")
    reader = TokenReader(path, spec)
    try:
        read = [reader.read(f"{spec.passage_prefix}{role}: {text}") for role, text in corpus()]
        known = all(reader.tokenize(word)[1:2] == [id] for word, id in _FIRST_PIECES.items())
    finally:
        reader.close()
    if spec.tokenizer == "bert" and reader.vocabulary == _BERT_TOKENS and known:
        prior = prior_of_bert()
    else:
        prior = _counted_prior([ids for ids, _ in read], reader.vocabulary)
    vectors = np.concatenate([vectors for _, vectors in read]).astype(np.float64)
    mean = vectors.mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(vectors, rowvar=False))
    rotation = axes.T[::-1][:bits]
    largest = np.abs(rotation).argmax(axis=1)
    rotation = rotation * np.sign(rotation[np.arange(bits), largest])[:, None]
    return basis.pack(
        file_sha256(path),
        mean.astype(np.float32),
        rotation.astype(np.float32),
        prior,
    )
