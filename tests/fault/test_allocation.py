"""Every allocation of the core fails once: a typed error, nothing stored, nothing broken."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import cortext
from cortext import InternalError, _native
from cortext.models import Model, llama

MOST = 400


@pytest.fixture(autouse=True)
def _disarm() -> Iterator[None]:
    yield
    _native.fail_allocation(0)


def fail_each(call: Callable[[], object]) -> int:
    """Fail allocation 1, 2, ... of the call until it runs without; return how many failed."""
    failed = 0
    for n in range(1, MOST):
        _native.fail_allocation(n)
        try:
            call()
        except InternalError as error:
            assert "out of memory" in str(error)  # noqa: PT017
            failed += 1
        else:
            _native.fail_allocation(0)
            if n > 4:
                return failed
    raise AssertionError("it never ran through")


def test_load(tmp_path: Path) -> None:
    """Every allocation that packing a network makes."""
    count = 0

    def load_once() -> None:
        nonlocal count
        count += 1
        cortext.models.load(cache=tmp_path / f"{count}.cache", threads=2).close()

    assert fail_each(load_once) > 40


def test_open(path: Path, model: Model) -> None:
    cortext.open(path, model=model).close()
    assert fail_each(lambda: cortext.open(path, model=model).close()) > 5


def test_calls(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": f"the garage code is {i}"} for i in range(30)])
        mem.flush()
        before = mem.stats().messages
        counted = [0]

        def ingest() -> None:
            mem.ingest("a new message")
            counted[0] += 1

        fail_each(ingest)
        assert mem.stats().messages == before + counted[0]
        assert fail_each(lambda: mem.recall("garage code", wait_ms=0)) > 5
        fail_each(lambda: mem.messages(session="default"))
        fail_each(lambda: mem.embed(["one text"]))
        fail_each(lambda: mem.model.tokenize("one text"))
        assert fail_each(lambda: mem.model.handle.query("one text " * 300)) > 4
        assert mem.flush(60)
        assert len(mem.recall("garage code", limit=100, collapse=False)) == mem.stats().messages


def test_packing(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        for i in range(50):
            mem.ingest("What was the code of the garage again?", session=str(i))
            mem.ingest(f"It was {i % 9}.", session=str(i), role="assistant")
        mem.ingest("The garage code is in the folder. " * 300)
        mem.flush()

        def recall() -> cortext.Recall:
            return mem.recall("garage code in the folder", limit=20, budget_tokens=1000, wait_ms=0)

        recall()  # the index is up to date: the embedding thread allocates nothing beside
        assert fail_each(recall) > 30
        hits = recall().hits
        assert any(hit.excerpt for hit in hits)
        assert any(hit.duplicates for hit in hits)
        assert any(hit.before for hit in mem.recall("it was 7", limit=1))


def test_loading_a_model(model: Model) -> None:
    assert model.basis is not None
    token_basis = _native.TokenBasis(
        mean=model.basis.mean, rotation=model.basis.rotation, prior=model.basis.prior
    )

    def make() -> None:
        binding = llama.load(model.path, context=256, threads=1, wordpiece=True)
        try:
            _native.EncoderHandle(
                binding,
                fingerprint="f",
                query_prefix="",
                passage_prefix="",
                pooling=_native.PoolingType.MEAN,
                context=256,
                overlap=32,
                wordpiece=True,
                basis=token_basis,
                cache_path=None,
            )
        except InternalError:
            llama.release(binding)
            raise

    assert fail_each(make) > 10


def test_late_scores() -> None:
    vectors = np.ones((2, 192), dtype=np.float32)
    codes = np.ones((5, 3), dtype=np.uint64)
    counts = np.array([5], dtype=np.uintp)
    assert fail_each(lambda: _native.late_scores(vectors, codes, counts)) == 4


def test_embedding_thread_recovers(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        for n in range(1, 60):
            with contextlib.suppress(InternalError):  # the fault may hit this call instead
                mem.ingest(f"message {n}", uid=str(n))
            _native.fail_allocation(n % 16 + 1)
        _native.fail_allocation(0)
        for n in range(1, 60):
            mem.ingest(f"message {n}", uid=str(n))
        assert mem.flush(120)
        assert mem.stats().chunks == mem.stats().messages == 59


def test_gate(mem: cortext.Engine) -> None:
    """The thread's allocations too: a decision fails by itself, and says so or is passed over."""
    text = "The garage door code is 8841."
    mem.ingest(text, session="earlier", uid="garage")
    mem.flush()
    failed = 0
    for n in itertools.count(1):
        session = f"now {n}"  # one of its own, for what a failed decision woke stays awake
        gate = mem.gate(session=session, context=[], every=True)
        _native.fail_allocation(n)
        events, told = [], False
        try:
            gate.feed("I have to remember what the garage door code was.")
            events = gate.flush()
        except InternalError as error:
            assert "out of memory" in str(error)  # noqa: PT017
            told = True
        _native.fail_allocation(0)
        lost = [event for event in events if event.error is not None]
        assert all("out of memory" in (event.error or "") for event in lost)
        assert not any(event.should_interrupt or event.memories for event in lost)
        noticed = told or bool(lost) or gate.skipped > 0
        failed += noticed
        if not noticed and n > 60:
            assert events[0].memories[0].uid == "garage"
            break
        gate.reset()
        mem.take_staged(session)
    assert failed > 30
    with mem.gate(session="later") as gate:
        gate.feed("I have to remember what the garage door code was.")
        assert gate.flush()[0].memories[0].uid == "garage"
    assert fail_each(lambda: mem.gate(session="now").close()) > 5


def test_what_is_not_known_is_told_with_the_next_decision(mem: cortext.Engine) -> None:
    told = []
    for n in range(1, 6):
        with mem.gate(session="now", context=[], every=True) as gate:
            _native.fail_allocation(n)
            with contextlib.suppress(InternalError):
                gate.know("It rains a lot in spring, and the roses like it.")
                gate.wait()
            _native.fail_allocation(0)
            gate.feed("This is a sentence about nothing in particular.")
            told += [event.error for event in gate.flush()]
    assert set(told) == {None, "out of memory"}
