"""Token codes and counts in the store: what is written is read; damage is an error, never more."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cortext
from cortext.models import Model

WORDS = 3
CORRUPT, NOMEM = 11, 1
TEXTS = [
    "the garage code is 8841",
    "the code of the other garage is on the fridge",
    "a much longer story about a dog and a garage " * 60,
]


class Store:
    """The store of an engine, opened once more beneath it."""

    def __init__(self, internals: Any, path: Path, model: Model) -> None:
        self.internals, self.ffi, self.lib = internals, internals.ffi, internals.lib
        self.store = internals.open_store(path, model.fingerprint, model.dimension)

    def close(self) -> None:
        self.lib.ct_store_close(self.store)

    def read(self, chunk_ids: list[int], words: int = WORDS) -> dict[int, Any]:
        found: dict[int, Any] = {}

        @self.ffi.callback("int(void *, size_t, const uint64_t *, size_t)")
        def visit(state: Any, place: int, codes: Any, count: int) -> int:
            data = bytes(self.ffi.buffer(codes, count * words * 8)) if count else b""
            found[chunk_ids[place]] = np.frombuffer(data, dtype=np.uint64).reshape(-1, words)
            return 0

        ids = self.ffi.new("int64_t[]", chunk_ids)
        self.internals.call(
            "ct_store_read_codes", self.store, ids, len(chunk_ids), words, visit, self.ffi.NULL
        )
        return found

    def terms(self, ids: list[int]) -> tuple[list[int], int]:
        counts, total = self.ffi.new("int64_t[]", len(ids)), self.ffi.new("int64_t *")
        array = self.ffi.new("int32_t[]", ids)
        self.internals.call("ct_store_term_counts", self.store, array, len(ids), counts, total)
        return list(counts), int(total[0])

    def put(self, message: int, chunk: int, ids: list[int]) -> None:
        code = self.ffi.new("unsigned char[]", 4 + 384)
        tokens = self.ffi.new("uint64_t[]", WORDS * len(ids))
        array = self.ffi.new("int32_t[]", ids)
        new = self.ffi.new(
            "ct_new_chunk *", (code, 4 + 384, tokens, WORDS * len(ids), array, len(ids))
        )
        derived = self.ffi.new("ct_derived *")
        derived.message_id, derived.first_chunk, derived.done = message, chunk, 1
        derived.chunks, derived.chunk_count = new, 1
        self.internals.call("ct_store_put_derived", self.store, derived)


@pytest.fixture
def filled(path: Path, model: Model) -> Path:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": text} for text in TEXTS])
        assert mem.flush()
        assert mem.stats().chunks == 5
    return path


def rows(path: Path, query: str) -> list[Any]:
    db = sqlite3.connect(path)
    with db:
        found = db.execute(query).fetchall()
    db.close()
    return found


def chunks_of(model: Model, text: str) -> list[list[int]]:
    """Token ids of a message's chunks as the core cuts them."""
    ids = model.tokenize(f"user: {text}")[1:-1]
    window = model.spec.context - 2
    step, last = window - 32, max(0, len(ids) - window)
    count = 1 + -(-last // step)
    return [ids[at * step : at * step + window] for at in range(count)]


def test_each_chunk_has_a_code_for_each_token(internals: Any, filled: Path, model: Model) -> None:
    wanted = [chunk for text in TEXTS for chunk in chunks_of(model, text)]
    assert len(wanted) == 5
    ids = [id for (id,) in rows(filled, "SELECT id FROM chunk ORDER BY message_id, seq")]
    store = Store(internals, filled, model)
    found = store.read(ids[::-1])
    store.close()
    assert [len(found[id]) for id in ids] == [len(chunk) for chunk in wanted]


def test_counts_are_of_chunks_that_hold_a_token(internals: Any, filled: Path, model: Model) -> None:
    chunks = [chunk for text in TEXTS for chunk in chunks_of(model, text)]
    counted = Counter(id for chunk in chunks for id in set(chunk))
    store = Store(internals, filled, model)
    counts, total = store.terms([*counted, 29_000, 0, -5])
    store.close()
    assert counts == [*counted.values(), 0, 0, 0]
    assert total == len(chunks)


def test_a_chunk_that_is_there_is_not_counted_again(
    internals: Any, filled: Path, model: Model
) -> None:
    before = rows(filled, "SELECT * FROM term ORDER BY id")
    store = Store(internals, filled, model)
    store.put(1, 0, [1996, 1997])
    store.put(3, 2, [1996])
    assert rows(filled, "SELECT * FROM term ORDER BY id") == before
    assert rows(filled, "SELECT count(*) FROM token") == [(5,)]
    store.put(3, 3, [1996, 28_999, 1996])
    store.close()
    added = dict(before)
    for id in (-1, 1996, 28_999):
        added[id] = added.get(id, 0) + 1
    assert dict(rows(filled, "SELECT * FROM term")) == added


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE token SET codes = substr(codes, 2) WHERE chunk_id = 2",
        "UPDATE token SET codes = codes || x'00' WHERE chunk_id = 2",
        "UPDATE token SET codes = zeroblob(8) WHERE chunk_id = 2",
        "UPDATE token SET codes = 7 WHERE chunk_id = 2",
        "UPDATE token SET codes = 'text' WHERE chunk_id = 2",
    ],
)
def test_damaged_codes(internals: Any, filled: Path, model: Model, damage: str) -> None:
    rows(filled, damage)
    store = Store(internals, filled, model)
    with pytest.raises(internals.error, match="memory.db is damaged: the token codes of") as caught:
        store.read([1, 2, 3])
    assert caught.value.status == CORRUPT
    assert set(store.read([3, 1])) == {1, 3}, "the reader is whole"
    store.close()


def test_codes_that_are_elsewhere_are_none(internals: Any, filled: Path, model: Model) -> None:
    """Until they are made again; the chunk keeps its id and is not counted twice."""
    [(message, chunk)] = rows(filled, "SELECT message_id, seq FROM chunk WHERE id = 2")
    before = rows(filled, "SELECT * FROM term ORDER BY id")
    rows(filled, "DELETE FROM token WHERE chunk_id = 2")
    store = Store(internals, filled, model)
    assert [bool(len(codes)) for codes in store.read([1, 2, 3]).values()] == [True, False, True]
    store.put(message, chunk, [1996, 1997])
    assert len(store.read([2])[2]) == 2
    store.close()
    assert rows(filled, "SELECT * FROM term ORDER BY id") == before


def test_codes_that_are_noise_or_none(internals: Any, filled: Path, model: Model) -> None:
    rows(filled, "UPDATE token SET codes = randomblob(24 * 5000) WHERE chunk_id = 1")
    rows(filled, "UPDATE token SET codes = x'' WHERE chunk_id = 2")
    store = Store(internals, filled, model)
    found = store.read([1, 2, 3])
    store.close()
    assert len(found[1]) == 5000
    assert len(found[2]) == 0


def test_damaged_counts(internals: Any, filled: Path, model: Model) -> None:
    rows(filled, "UPDATE term SET chunks = -3 WHERE id = 1996")
    rows(filled, "UPDATE term SET chunks = 'many' WHERE id = 1010")
    store = Store(internals, filled, model)
    assert store.terms([1010])[0] == [0]
    with pytest.raises(internals.error, match="damaged") as caught:
        store.terms([1996])
    assert caught.value.status == CORRUPT
    store.close()


def test_memory_runs_out(internals: Any, filled: Path, model: Model) -> None:
    store, failed = Store(internals, filled, model), 0
    before = rows(filled, "SELECT * FROM term ORDER BY id")
    for call in (
        lambda: store.read([1, 2, 3]),
        lambda: store.put(1, 9, [1996]),
    ):
        for n in (1, 2, 3):
            internals.lib.ct_fault_allocation(n)
            try:
                call()
            except internals.error as error:
                assert error.status == NOMEM  # noqa: PT017
                assert rows(filled, "SELECT * FROM term ORDER BY id") == before
                failed += 1
    internals.lib.ct_fault_allocation(0)
    assert failed >= 2
    assert rows(filled, "SELECT count(*) FROM token") == rows(filled, "SELECT count(*) FROM chunk")
    store.close()


def test_a_message_of_200_characters_fits_in_two_and_a_half_kilobytes(
    path: Path, model: Model
) -> None:
    """Everything included: text, words, embedding, token codes, counts."""
    words = ("garden", "kettle", "invoice", "harbour", "violin", "lantern", "meeting", "pepper")
    texts = []
    for n in range(300):
        text = " ".join(
            words[(n * 7 + k * k) % len(words)] + ("s" if k % 3 else "") for k in range(40)
        )
        texts.append(f"{n} {text}"[:200])
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": text} for text in texts])
        assert mem.flush(300)
    per_message = path.stat().st_size / len(texts)
    assert per_message <= 2560, per_message
