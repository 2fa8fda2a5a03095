"""The README's Python runs as it stands, and its commands are those of the command line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("snippet", blocks("python"))
def test_python_snippets_run(snippet: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "The garage door code is 8841." in done.stdout


def test_commands_run(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(
        '{"text": "The garage door code is 8841.", "session": "s1"}\n'
    )
    (tmp_path / "notes.txt").write_text("A note.\n\nAnother note.\n")
    (tmp_path / "answer.txt").write_text("I need the garage code. One moment.\n")
    script = next(block for block in blocks("sh") if block.startswith("cortext ingest"))
    program = Path(sys.executable).parent / "cortext"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "8841" in done.stdout


def test_facts_in_the_text() -> None:
    demo = Path(__file__).resolve().parents[2] / "cortext" / "cli" / "demo"
    messages = (demo / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    assert f"{len(messages)} messages" in README
    assert len(README.splitlines()) < 200
