"""The benches: run as their users run them, and their parts imported."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"

Part = Callable[[str], ModuleType]
RunBench = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def part() -> Iterator[Part]:
    """Import a module of bench/support, whose scripts have that folder on their path."""
    before = set(sys.modules)
    sys.path.insert(0, str(BENCH))
    yield lambda name: importlib.import_module(f"support.{name}")
    sys.path.remove(str(BENCH))
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "support":
            del sys.modules[name]


@pytest.fixture
def run_bench(tmp_path: Path) -> RunBench:
    """Run a bench and give what it wrote as JSON."""

    def run(script: str, *arguments: object) -> dict[str, Any]:
        target = tmp_path / "results.json"
        done = subprocess.run(
            [sys.executable, BENCH / script, "--json", target, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        text = target.read_text(encoding="utf-8")
        assert str(tmp_path) not in text + done.stdout, "results must not name the machine's paths"
        document: dict[str, Any] = json.loads(text)
        return document

    return run
