"""Each way in which llama.cpp is known to take the process down or to be slow, held shut."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest

import cortext
from cortext import InputError, ModelError, StoreError, _native
from cortext.models import Model, llama, load


@pytest.fixture(scope="module")
def model() -> Model:
    """Run by llama.cpp: what this file is about."""
    return load(encoder="llama")


@pytest.fixture
def loading(model: Model, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load once more, keeping the parameters that llama.cpp was given."""
    kept: dict[str, Any] = {}
    real_model = llama_cpp.llama_model_load_from_file
    real_context = llama_cpp.llama_init_from_model

    def keep_model(path: bytes, params: Any) -> Any:
        kept["model"] = params
        return real_model(path, params)

    def keep_context(handle: Any, params: Any) -> Any:
        kept["context"] = params
        return real_context(handle, params)

    monkeypatch.setattr(llama_cpp, "llama_model_load_from_file", keep_model)
    monkeypatch.setattr(llama_cpp, "llama_init_from_model", keep_context)
    kept["binding"] = llama.load(model.path, context=model.spec.context, threads=1, wordpiece=True)
    yield kept
    llama.release(kept["binding"])


def test_parameters(loading: Any, model: Model) -> None:
    context, params = loading["context"], loading["model"]
    assert context.flash_attn_type == 0, "flash attention doubles the time on a CPU"
    assert context.n_ctx == context.n_batch == context.n_ubatch == model.spec.context
    assert context.n_threads == context.n_threads_batch == 1
    assert context.pooling_type == 0
    assert context.embeddings
    assert params.use_extra_bufts == _native.amx_is_safe()


def test_quantised_model_encodes_in_a_fresh_process(run_python: Callable[..., Any]) -> None:
    # Where the CPU reports AMX without its tile state, this dies of SIGILL at the first encode
    # unless repacked weights are off.
    done = run_python(
        "from cortext.models import load\n"
        "print(load(encoder='llama').embed(['hello', 'world']).shape)"
    )
    assert done.stdout == "(2, 384)\n"
    assert done.stderr == "", "llama.cpp must not write to the host's stderr"


def test_log_callback_is_not_python(run_python: Callable[..., Any]) -> None:
    # A context of the host's own, made after ours, logs from C; with Python's callback still set
    # that would print.
    done = run_python(
        "import llama_cpp\n"
        "from cortext.models import load\n"
        "m = load()\n"
        "p = llama_cpp.llama_model_default_params()\n"
        "h = llama_cpp.llama_model_load_from_file(str(m.path).encode(), p)\n"
        "assert h\n"
        "llama_cpp.llama_model_free(h)\n"
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("words", [253, 254, 255, 256, 512, 5000])
def test_text_longer_than_a_pass_is_chunked(model: Model, words: int) -> None:
    text = "word " * words
    assert len(model.tokenize(text)) == words + 2
    vector = model.embed([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_no_token_of_a_long_text_is_left_out(model: Model) -> None:
    filler = "the weather was fine and nothing happened " * 100
    for position in (0, 1500, 3000, len(filler)):
        text = filler[:position] + " zebra stripes zebra stripes zebra stripes " + filler[position:]
        changed = float(model.embed([text])[0] @ model.embed([filler])[0])
        assert changed < 0.9999, position


def test_one_very_long_word(model: Model) -> None:
    vector = model.embed(["x" * 200_000])[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\x01\x02", "\ufffd"])
def test_text_without_a_word_has_a_vector(model: Model, text: str) -> None:
    assert np.linalg.norm(model.embed([text])[0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", None, b"x", 3])
def test_bad_text_is_an_error(model: Model, text: Any) -> None:
    with pytest.raises(InputError):
        model.embed([text])
    with pytest.raises(InputError):
        model.tokenize(text)
    with pytest.raises(InputError):
        model.embed("one str is not a list of texts")


def test_embedding_is_deterministic_and_independent_of_its_neighbours(model: Model) -> None:
    texts = ["short", "a much longer text " * 30, "third", "short"]
    together = model.embed(texts)
    alone = np.stack([model.embed([text])[0] for text in texts])
    assert np.array_equal(together, alone)
    assert np.array_equal(together[0], together[3])
    assert model.embed([]).shape == (0, 384)


def handle_of(binding: _native.LlamaBinding, model: Model, **changed: Any) -> _native.EncoderHandle:
    options: dict[str, Any] = {
        "fingerprint": "f",
        "query_prefix": "",
        "passage_prefix": "",
        "pooling": _native.PoolingType.MEAN,
        "context": model.spec.context,
        "overlap": 32,
        "wordpiece": True,
        "basis": None,
        "cache_path": None,
    }
    return _native.EncoderHandle(binding, **{**options, **changed})


def test_unknown_layout_of_the_batch_is_refused(loading: Any, model: Model) -> None:
    binding: _native.LlamaBinding = loading["binding"]
    for wrong in (
        dataclasses.replace(binding, batch_size=binding.batch_size + 8),
        dataclasses.replace(binding, batch_offsets=[0, 8, 16, 24, 32, 48, 40]),
    ):
        with pytest.raises(ModelError, match="llama_batch"):
            handle_of(wrong, model)


def test_a_pass_that_the_context_cannot_hold_is_refused(loading: Any, model: Model) -> None:
    # llama.cpp itself would abort the process at the first long text.
    with pytest.raises(ModelError, match="256 tokens"):
        handle_of(loading["binding"], model, context=257)


def test_options_out_of_range(loading: Any, model: Model) -> None:
    with pytest.raises(InputError):
        handle_of(loading["binding"], model, overlap=200)
    with pytest.raises(InputError):
        load(threads=0)


def test_models_are_shared_and_freed(model: Model) -> None:
    assert load(encoder="llama") is model
    other = load(threads=3, encoder="llama")
    assert other is not model
    assert load(threads=3, encoder="llama") is other
    assert np.allclose(other.embed(["same weights"]), model.embed(["same weights"]), atol=1e-4)


def test_cache_keeps_vectors_between_loads(tmp_path: Path, model: Model) -> None:
    file = tmp_path / "cache.db"
    texts = ["a cached text", "and another one"]
    first = load(cache=file).embed(texts)
    assert np.array_equal(first, load().embed(texts))
    again = load(cache=file)
    assert np.array_equal(again.embed(texts), first)
    assert file.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(file) as db:
        db.execute("UPDATE vector SET value = zeroblob(length(value))")
    db.close()
    mended = load(cache=file, threads=2).embed(texts)
    assert np.allclose(mended, first, atol=1e-4), "a damaged vector is made anew"


def test_cache_takes_no_file_of_somebody_else(tmp_path: Path, model: Model) -> None:
    store = tmp_path / "memory.db"
    cortext.open(store, model=model).close()
    junk = tmp_path / "junk"
    junk.write_bytes(b"not a database " * 100)
    for file in (store, junk, tmp_path):
        before = file.read_bytes() if file.is_file() else b""
        with pytest.raises(StoreError, match="cache"):
            load(cache=file)
        assert not file.is_file() or file.read_bytes() == before


def test_tokenizing_a_large_text_needs_little_memory(run_python: Callable[..., Any]) -> None:
    run_python(
        "import resource, cortext.models\n"
        "m = cortext.models.load()\n"
        "n = len(m.tokenize('. ' * 100_000))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert len(m.tokenize('. ' * 2_000_000)) == 20 * (n - 2) + 2\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "assert grown < 250_000, grown\n"
    )
