"""Filters: names looked up once, each counted once."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import cortext
from cortext.models import Model


class Store:
    def __init__(self, internals: Any, path: Path, model: Model) -> None:
        self.internals, self.ffi, self.lib = internals, internals.ffi, internals.lib
        self.store = internals.open_store(path, model.fingerprint, model.dimension)

    def close(self) -> None:
        self.lib.ct_store_close(self.store)

    def sessions(self, names: list[str]) -> list[int]:
        keep = [self.ffi.new("char[]", name.encode()) for name in names]
        array = self.ffi.new("const char *[]", keep)
        filter_, bound = self.ffi.new("ct_filter *"), self.ffi.new("ct_bound_filter *")
        filter_.sessions, filter_.session_count = array, len(names)
        self.internals.call("ct_store_bind_filter", self.store, filter_, bound)
        found = [bound.sessions[i] for i in range(bound.session_count)]
        self.lib.ct_bound_filter_free(bound)
        return found


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a"], [1]),
        (["a", "a", "a"], [1]),
        (["c", "a", "c", "b", "a"], [1, 2, 3]),
        (["nobody", "b", "nobody", "b"], [2]),
        (["nobody"], []),
    ],
)
def test_a_name_that_is_given_twice_counts_once(
    path: Path, model: Model, internals: Any, names: list[str], expected: list[int]
) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many({"text": f"in {name}", "session": name} for name in "abc")
    with closing(Store(internals, path, model)) as store:
        assert store.sessions(names) == expected
