"""Acknowledging messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from support.timer import Timer

import cortext


def test_ingest_acknowledgement(
    benchmark: Timer, empty: cortext.Engine, texts: Iterator[str]
) -> None:
    def setup() -> tuple[tuple[str], dict[str, Any]]:
        empty.flush()  # the embedding of the message before is not part of this one
        return (next(texts),), {}

    benchmark.pedantic(empty.ingest, setup=setup, rounds=100)


def test_ingest_many_1000(benchmark: Timer, empty: cortext.Engine, texts: Iterator[str]) -> None:
    def setup() -> tuple[tuple[list[cortext.NewMessage]], dict[str, Any]]:
        return ([cortext.NewMessage(text=message) for message in islice(texts, 1000)],), {}

    benchmark.pedantic(empty.ingest_many, setup=setup, rounds=5)
