"""Recall from 1,000 messages, whole and by stage, and opening their store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from support.timer import Timer

import cortext
from cortext.models import Model

Stage = Literal["dense", "lexical"]


@pytest.mark.parametrize(
    "stages", [("dense", "lexical"), ("dense",), ("lexical",)], ids=["both", "dense", "lexical"]
)
def test_recall_of_1000(
    benchmark: Timer,
    warm: cortext.Engine,
    questions: Iterator[str],
    stages: tuple[Stage, ...],
) -> None:
    def setup() -> tuple[tuple[str], dict[str, Any]]:
        return (next(questions),), {"stages": stages}

    found = benchmark.pedantic(warm.recall, setup=setup, rounds=100, warmup_rounds=2)
    assert found.hits


def test_open_1000(benchmark: Timer, model: Model, warm_path: Path) -> None:
    engines: list[cortext.Engine] = []

    def setup() -> None:
        while engines:
            engines.pop().close()

    benchmark.pedantic(
        lambda: engines.append(cortext.open(warm_path, model=model)), setup=setup, rounds=20
    )
    setup()
