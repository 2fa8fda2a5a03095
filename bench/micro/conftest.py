"""Fixtures of the micro benches: the bundled model, stores of made-up messages."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# One thread each: the engine's index and hnswlib use one, and BLAS would take every core.  It reads
# this when numpy is loaded, so numpy must not be loaded yet.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
assert "numpy" not in sys.modules, "numpy has chosen its threads already"

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import text  # noqa: E402

import cortext  # noqa: E402
from cortext.models import Model, load  # noqa: E402

SEED = 11
SIZE = 1000
NOTES: list[str] = []  # figures that are not a benchmark's time


@pytest.fixture(scope="session")
def model() -> Model:
    return load()


@pytest.fixture(scope="session")
def texts() -> Iterator[str]:
    """Distinct messages that no store holds; each is taken once."""
    return iter(text.messages(20_000, seed=SEED + 1))


@pytest.fixture(scope="session")
def questions() -> Iterator[str]:
    """Distinct questions, without end."""
    return text.questions(seed=SEED)


@pytest.fixture(scope="session")
def warm_path(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store of SIZE embedded messages."""
    path = tmp_path_factory.mktemp("stores") / "warm.db"
    with cortext.open(path, model=model) as engine:
        engine.ingest_many({"text": message} for message in text.messages(SIZE, seed=SEED))
        assert engine.flush()
    return path


@pytest.fixture(scope="session")
def warm(model: Model, warm_path: Path) -> Iterator[cortext.Engine]:
    """The store of SIZE messages, open."""
    with cortext.open(warm_path, model=model) as engine:
        yield engine


@pytest.fixture
def empty(model: Model, tmp_path: Path) -> Iterator[cortext.Engine]:
    """An empty store."""
    with cortext.open(tmp_path / "store.db", model=model) as engine:
        yield engine


@pytest.fixture(scope="session")
def notes() -> list[str]:
    """Lines for the end of the run."""
    return NOTES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if NOTES:
        terminalreporter.section("figures beside the times")
        for note in NOTES:
            terminalreporter.write_line(note)
