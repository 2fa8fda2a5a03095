"""The extension module exports its init function and nothing that could clash with another."""

from __future__ import annotations

import importlib.util
import subprocess
import sys


def test_only_the_init_function_is_exported() -> None:
    spec = importlib.util.find_spec("cortext._native._core")
    assert spec is not None
    assert spec.origin is not None
    mac = sys.platform == "darwin"
    command = ["nm", "-gU"] if mac else ["nm", "-D", "--defined-only"]
    listing = subprocess.run(
        [*command, spec.origin], check=True, capture_output=True, text=True
    ).stdout
    names = {line.split()[-1].removeprefix("_" if mac else "") for line in listing.splitlines()}
    assert names == {"PyInit__core"}


def test_the_module_is_built_for_the_stable_abi() -> None:
    spec = importlib.util.find_spec("cortext._native._core")
    assert spec is not None
    assert spec.origin is not None
    assert spec.origin.endswith("_core.abi3.so")
