"""Embedding distinct texts by the engine's own path."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from support.timer import Timer

from cortext.models import Model

LONG = 5  # messages of 200 characters: a little under the model's 256 tokens
CHUNKED = 50


def test_embed_short(benchmark: Timer, model: Model, questions: Iterator[str]) -> None:
    benchmark.pedantic(model.embed, setup=lambda: one(next(questions)), rounds=100)


@pytest.mark.parametrize("count", [1, LONG, CHUNKED], ids=["message", "long", "chunked"])
def test_embed_messages(benchmark: Timer, model: Model, texts: Iterator[str], count: int) -> None:
    def setup() -> tuple[tuple[list[str]], dict[str, Any]]:
        return one(". ".join(islice(texts, count)))

    benchmark.pedantic(model.embed, setup=setup, rounds=max(3, 60 // count))


def one(text: str) -> tuple[tuple[list[str]], dict[str, Any]]:
    return ([text],), {}
