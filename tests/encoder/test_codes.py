"""Token codes and query tokens are what numpy makes of the model's own vectors."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cortext
from cortext import ClosedError, InputError, ModelError, _native
from cortext.models import Model, llama, load
from cortext.models.learning import TokenReader

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    entry["text"]
    for entry in json.loads((ROOT / "tests/data/multilingual.json").read_text(encoding="utf-8"))
][::9]


@pytest.fixture(scope="module")
def model() -> Model:
    """Run by llama.cpp: what this file is about."""
    return load(encoder="llama")


@pytest.fixture(scope="module")
def reader(model: Model) -> Iterator[TokenReader]:
    """llama.cpp called by its own binding, not by the core."""
    found = TokenReader(model.path, model.spec)
    yield found
    found.close()


def projected(model: Model, vectors: Any) -> Any:
    assert model.basis is not None
    return (vectors - model.basis.mean).astype(np.float64) @ model.basis.rotation.T


def stored_codes(path: Path) -> list[Any]:
    db = sqlite3.connect(path)
    found = db.execute(
        "SELECT codes FROM token JOIN chunk ON id = chunk_id ORDER BY message_id, seq"
    )
    codes = [np.frombuffer(blob, dtype=np.uint8).reshape(-1, 24) for (blob,) in found]
    db.close()
    return codes


def same_signs(codes: Any, wanted: Any) -> None:
    """Equal but where a sum is so close to zero that its sign is rounding."""
    found = np.unpackbits(codes, axis=1, bitorder="little").astype(bool)
    assert found.shape == wanted.shape
    differ = found != (wanted > 0)
    assert (np.abs(wanted[differ]) < 1e-4).all()
    assert differ.mean() < 1e-4


def test_codes_of_messages(path: Path, model: Model, reader: TokenReader) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": text, "role": "tool"} for text in TEXTS])
        assert mem.flush(300)
        assert mem.stats().chunks >= len(TEXTS)
    db = sqlite3.connect(path)
    first = [row[0] for row in db.execute("SELECT seq FROM chunk ORDER BY message_id, seq")]
    db.close()
    whole = [codes for codes, seq in zip(stored_codes(path), first, strict=True) if seq == 0]
    for text, codes in zip(TEXTS, whole, strict=True):
        _, vectors = reader.read(f"tool: {text}")
        same_signs(codes, projected(model, vectors))


def test_tokens_of_queries(model: Model, reader: TokenReader) -> None:
    for text in TEXTS:
        if len(model.tokenize(text)) > model.spec.context:
            continue
        found = model.handle.query(text)
        ids, vectors = reader.read(text)
        wanted = projected(model, vectors)
        wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
        assert found.ids == ids
        assert np.allclose(found.vectors, wanted, atol=1e-4)
        assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
        assert np.array_equal(found.vector, model.embed([text], query=True)[0])


def test_long_queries_give_each_token_once(model: Model) -> None:
    window, step = model.spec.context - 2, model.spec.context - 34
    for words in (window, window + 1, 3 * step, 8 * step + 32, 5000):
        text = " ".join(("one", "two", "three", "four", "five")[n % 5] for n in range(words))
        found = model.handle.query(text)
        assert found.ids == model.tokenize(text)[1:-1][: 7 * step + window]
        assert found.vectors.shape == (len(found.ids), 192)
        assert np.allclose(found.vector, model.embed([text], query=True)[0], atol=1e-6)


def handle_of(model: Model, **changed: Any) -> _native.EncoderHandle:
    assert model.basis is not None
    binding = llama.load(model.path, context=model.spec.context, threads=1, wordpiece=True)
    options: dict[str, Any] = {
        "fingerprint": "f",
        "query_prefix": "",
        "passage_prefix": "",
        "pooling": _native.PoolingType.MEAN,
        "context": model.spec.context,
        "overlap": 32,
        "wordpiece": True,
        "basis": _native.TokenBasis(
            mean=model.basis.mean, rotation=model.basis.rotation, prior=model.basis.prior
        ),
        "cache_path": None,
    }
    try:
        return _native.EncoderHandle(binding, **{**options, **changed})
    except ModelError:
        llama.release(binding)
        raise


def test_the_prefix_of_queries_is_none_of_their_tokens(model: Model) -> None:
    handle = handle_of(model, query_prefix="Find the passages for: ")
    for text in ("where is the cat", "", "find the passages for: this", "word " * 700):
        found = handle.query(text)
        assert found.ids == model.tokenize(text)[1:-1]
        assert np.array_equal(found.vector, handle.embed([text], query=True)[0])
    assert not np.allclose(handle.query("a cat").vectors, model.handle.query("a cat").vectors)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\ufffd"])
def test_query_without_a_word(model: Model, text: str) -> None:
    found = model.handle.query(text)
    assert found.ids == model.tokenize(text)[1:-1]
    assert np.linalg.norm(found.vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", None])
def test_bad_query_is_an_error(model: Model, text: Any) -> None:
    with pytest.raises(InputError):
        model.handle.query(text)


def test_priors_are_those_of_the_basis(model: Model) -> None:
    assert model.basis is not None
    prior = model.basis.prior
    for id in (0, 101, 1012, 1996, 10165, len(prior) - 1):
        assert model.handle.token_prior(id) == prior[id]
    for id in (-1, len(prior), 2**31 - 1, -(2**31)):
        assert model.handle.token_prior(id) == 0
    assert prior[101] == prior[1012] == 1
    assert 0.5 < prior[1996] < 1
    assert 0 < prior[-1] < prior[5000] < prior[2500] < prior[1996]


# ---- without a basis ------------------------------------------------------------------------


@pytest.fixture
def bare(model: Model, tmp_path: Path) -> Model:
    """The same weights where no basis lies."""
    folder = tmp_path / "bare"
    folder.mkdir()
    # A name and content of its own, since a copy of the bundled file is the bundled model.
    data = bytearray(model.path.read_bytes())
    at = data.index(b"Sentence embeddings; mean")
    data[at] ^= 0x20
    path = folder / "bare.gguf"
    path.write_bytes(data)
    return load(path, encoder="llama")


def test_without_a_basis_all_but_token_codes_works(bare: Model, path: Path, model: Model) -> None:
    assert bare.fingerprint.endswith(":mean:none")
    assert bare.handle.code_bits == 0
    assert bare.handle.token_prior(1996) == 0
    found = bare.handle.query("where is the cat")
    assert (found.ids, found.vectors.shape) == ([], (0, 0))
    assert np.array_equal(found.vector, model.embed(["where is the cat"], query=True)[0])
    with cortext.open(path, model=bare) as mem:
        mem.ingest("the cat is in the garden")
        assert mem.flush()
        assert mem.recall("where is the cat").hits[0].text == "the cat is in the garden"
    assert stored_codes(path) == []


# ---- the embedding cache --------------------------------------------------------------------


def test_cache_keeps_codes(tmp_path: Path, model: Model) -> None:
    file = tmp_path / "cache.db"
    text = "the garage code is 8841 " * 80
    stores = []
    for n, damage in enumerate(
        [
            None,
            None,  # all from the cache
            "UPDATE vector SET value = zeroblob(length(value))",
            "UPDATE vector SET value = substr(value, 1, 1536)",
            "UPDATE vector SET value = value || x'00'",
            "UPDATE vector SET value = CAST(substr(value, 2) || x'01' AS BLOB)",
            "UPDATE vector SET value = x''",
            "DROP TABLE vector",
        ]
    ):
        if damage is not None:
            db = sqlite3.connect(file)
            with db:
                db.execute(damage)
            db.close()
        store = tmp_path / f"store{n}.db"
        with cortext.open(store, cache=file) as mem:
            mem.ingest(text)
            assert mem.flush()
        stores.append(stored_codes(store))
    for codes in stores[1:]:
        assert [part.tobytes() for part in codes] == [part.tobytes() for part in stores[0]]
    assert len(stores[0]) > 1


def test_queries_and_passages_share_no_wrong_codes(tmp_path: Path, model: Model) -> None:
    """A vector that `embed` put into the cache comes with its codes."""
    file, store = tmp_path / "cache.db", tmp_path / "store.db"
    loaded = load(cache=file, encoder="llama")
    loaded.embed(["user: the dog is in the kitchen"])
    with cortext.open(store, model=loaded) as mem:
        mem.ingest("the dog is in the kitchen")
        assert mem.flush()
    with cortext.open(tmp_path / "other.db", model=model) as mem:
        mem.ingest("the dog is in the kitchen")
        assert mem.flush()
    assert stored_codes(store)[0].tobytes() == stored_codes(tmp_path / "other.db")[0].tobytes()


# ---- what the core refuses ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "dimension", "vocabulary"),
    [
        (192, 383, 100),
        (192, 385, 100),
        (100, 384, 100),
        (0, 384, 100),
        (1088, 384, 9),
        (64, 384, 0),
    ],
)
def test_basis_of_another_size(model: Model, bits: int, dimension: int, vocabulary: int) -> None:
    token_basis = _native.TokenBasis(
        mean=np.zeros(dimension, dtype=np.float32),
        rotation=np.zeros((bits, dimension), dtype=np.float32),
        prior=np.zeros(vocabulary, dtype=np.float32),
    )
    with pytest.raises(ModelError, match="token basis"):
        handle_of(model, basis=token_basis)


def test_closed_model(model: Model) -> None:
    other = load(threads=5)
    other.close()
    with pytest.raises(ClosedError):
        other.handle.query("x")
