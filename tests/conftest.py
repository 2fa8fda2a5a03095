"""Fixtures: real stores on a real file system, with the real bundled model."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cortext
from cortext import _native
from cortext.models import Model, load

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True, scope="session")
def _private_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's caches, models and settings out of the tests."""
    root = tmp_path_factory.mktemp("user")
    changed = {
        "CORTEXT_CACHE_DIR": str(root / "cache"),
        "CORTEXT_MODEL_DIR": str(root / "models"),
    }
    before = {name: os.environ.get(name) for name in [*changed, "CORTEXT_MODEL"]}
    os.environ.update(changed)
    os.environ.pop("CORTEXT_MODEL", None)
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(autouse=True)
def _restore_level() -> Iterator[None]:
    """Kernels are the process's: a test that forces a level leaves none behind."""
    before = _native.simd_name()
    yield
    _native.force_simd(before)


@pytest.fixture(scope="session")
def model() -> Model:
    return load()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def mem(path: Path, model: Model) -> Iterator[cortext.Engine]:
    with cortext.open(path, model=model) as engine:
        yield engine


@pytest.fixture(scope="session")
def run_python() -> Run:
    """Run a script in a fresh interpreter; fails the test unless it exits with 0."""

    def run(script: str, *args: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-c", script, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done

    return run


@pytest.fixture(scope="session")
def internals(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The parts of the core that Python does not bind: tests/support/internals.py."""
    file = Path(__file__).parent / "support" / "internals.py"
    spec = importlib.util.spec_from_file_location("internals", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Internals(tmp_path_factory.mktemp("internals"))
