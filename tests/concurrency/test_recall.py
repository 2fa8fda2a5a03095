"""Recalls at the same time, with and without the thread that looks words up meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cortext
from cortext.models import Model

COUNT = 4200  # with fewer chunks no thread helps
QUESTIONS = [f"where is thing {n} of colour {n % 7}?" for n in range(0, 600, 25)]
EVER = {"since": 0}  # of a span of time words are looked up afterwards


@pytest.fixture(scope="module")
def engine(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[cortext.Engine]:
    path = tmp_path_factory.mktemp("recall") / "m.db"
    with cortext.open(path, model=model, durability="normal") as engine:
        engine.ingest_many(
            {"text": f"thing {n % 600} of colour {n % 7} is in box {n}", "time": n * 1000}
            for n in range(COUNT)
        )
        assert engine.flush()
        yield engine


def answer(engine: cortext.Engine, question: str, **options: Any) -> list[tuple[int, float]]:
    return [(hit.id, hit.score) for hit in engine.recall(question, limit=20, **options)]


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600  # a guard against hanging, no measure
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("stages", [cortext.engine.STAGES, ("dense", "lexical"), ("lexical",)])
def test_the_helper_changes_nothing(engine: cortext.Engine, stages: Any) -> None:
    for question in QUESTIONS:
        assert answer(engine, question, stages=stages) == answer(
            engine, question, stages=stages, **EVER
        )


def test_recalls_at_the_same_time_are_as_alone(engine: cortext.Engine) -> None:
    alone = [answer(engine, question) for question in QUESTIONS]
    started = threads()
    with ThreadPoolExecutor(6) as pool:
        for _ in range(5):
            assert list(pool.map(lambda question: answer(engine, question), QUESTIONS)) == alone
    wait_for(lambda: threads() <= started)  # the helper was there before: one serves an engine


def test_closing_while_recalls_run(model: Model, tmp_path: Path, engine: cortext.Engine) -> None:
    """Each recall ends with an answer or as closed; the helper's thread goes too."""
    assert engine.recall("warm").timings.total > 0
    before = threads()
    for _ in range(3):
        other = cortext.open(engine.stats().path, model=model)
        outcomes: list[str] = []

        def ask(of: cortext.Engine = other, into: list[str] = outcomes) -> None:
            try:
                for question in QUESTIONS * 20:
                    of.recall(question)
            except cortext.ClosedError:
                into.append("closed")
            else:
                into.append("done")

        asking = [threading.Thread(target=ask) for _ in range(4)]
        for thread in asking:
            thread.start()
        other.recall("something")
        other.close()
        for thread in asking:
            thread.join()
        assert len(outcomes) == 4
        wait_for(lambda: threads() <= before)  # one that was joined may take a moment to go
