"""What is known already: the share of a text that stands in other texts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

WORD = re.compile("[a-z0-9]+|[一-鿿]")


class Known:
    def __init__(self, internals: Any) -> None:
        self.internals, self.ffi, self.lib = internals, internals.ffi, internals.lib
        out = self.ffi.new("ct_known **")
        internals.call("ct_known_create", out)
        self.handle = self.ffi.gc(out[0], self.lib.ct_known_free)

    def add(self, text: str) -> None:
        data = text.encode(errors="surrogateescape")
        self.internals.call("ct_known_add_text", self.handle, data, len(data))

    def overlap(self, text: str) -> float:
        data = text.encode(errors="surrogateescape")
        return float(self.lib.ct_known_overlap(self.handle, data, len(data)))


@pytest.fixture
def known(internals: Any) -> Known:
    return Known(internals)


def runs(text: str, length: int) -> list[tuple[str, ...]]:
    words = WORD.findall(text.lower())
    return [tuple(words[i : i + length]) for i in range(len(words) - length + 1)]


TEXTS = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "c",
            "d",
            "Be",
            "BE",
            "x1",
            "8841",
            "中",
            "文",
            "中文",
            ",",
            ".",
            "!",
            "-",
            "“",
            "\n",
        ]
    )
).map(" ".join)


@given(texts=st.lists(TEXTS, max_size=5), asked=TEXTS)
@settings(max_examples=300)
def test_it_is_the_share_of_runs(internals: Any, texts: list[str], asked: str) -> None:
    known = Known(internals)
    for text in texts:
        known.add(text)
    length = min(3, len(runs(asked, 1)))
    stands = {run for text in texts for run in runs(text, length)}
    wanted = runs(asked, length) if length else []
    expected = sum(run in stands for run in wanted) / len(wanted) if wanted else 1.0
    assert known.overlap(asked) == pytest.approx(expected)


def test_what_stands_in_a_context_is_known(known: Known) -> None:
    known.add(
        "We spoke of the garage: its code is 8841, as Anna said. Пароль от склада — «Ромашка»."
    )
    assert known.overlap("The garage, its code is 8841!") == 1
    assert known.overlap("8841") == 1
    assert known.overlap("ПАРОЛЬ ОТ СКЛАДА ромашка") == 1
    assert known.overlap("the code of the other garage is 5530") == 0
    assert 0 < known.overlap("its code is 8841, but the door of the shed has another one") < 0.5
    assert known.overlap(" ... ") == 1
    assert known.overlap("") == 1


def test_messages(known: Known) -> None:
    for id in range(1, 5000, 7):
        known.internals.call("ct_known_add_message", known.handle, id)
    held = [id for id in range(5001) if known.lib.ct_known_has_message(known.handle, id)]
    assert held == list(range(1, 5000, 7))


def test_a_large_context(known: Known) -> None:
    words = [f"w{i * 7919 % 100_003}" for i in range(100_000)]
    known.add(" ".join(words))
    assert known.overlap(" ".join(words[500:600])) == 1
    assert known.overlap(" ".join(reversed(words[500:600]))) == 0


@given(text=st.binary(max_size=60).map(lambda raw: raw.decode(errors="surrogateescape")))
def test_any_bytes(internals: Any, text: str) -> None:
    known = Known(internals)
    known.add(text)
    assert known.overlap(text) == 1


def test_of_very_much_the_newest_is_known(known: Known) -> None:
    for block in range(8):
        known.add(" ".join(f"w{block}x{number}" for number in range(100_000)))
    assert known.overlap("w7x10 w7x11 w7x12") == 1
    assert known.overlap("w4x99990 w4x99991 w4x99992") == 1
    assert known.overlap("w0x10 w0x11 w0x12") == 0
