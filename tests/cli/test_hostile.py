"""Nothing that a message holds acts on the terminal, or on what reads the output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortext.cli import terminal

DANGEROUS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0020-\U000e007f]"
)
STYLE = re.compile(r"\x1b\[(?:[\d;]*m|\?25[lh]|2K|1A)|\r")

COMMANDS = [
    ["recall", "hostile markup"],
    ["recall", "hostile markup", "--explain", "--full"],
    ["recall", "hostile markup", "--json"],
    ["messages"],
    ["messages", "--json"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_piped(words: list[str], run: Callable, store: Path) -> None:
    name, *rest = words
    result = run(name, store, *rest)
    assert result.returncode == 0
    assert not DANGEROUS.search(result.stdout + result.stderr)
    assert "[bold]markup[/bold] [/] :smile:" in result.stdout


@pytest.mark.parametrize("columns", [50, 100])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_on_a_terminal(words: list[str], columns: int, on_terminal: Callable, store: Path) -> None:
    name, *rest = words
    status, text = on_terminal(name, store, *rest, columns=columns)
    assert status == 0
    shown = STYLE.sub("", text)
    assert not DANGEROUS.search(shown)
    # Nothing of it was taken for markup or an emoji.
    assert "[bold]" in shown
    assert "[/]" in shown
    assert ":smile:" in shown
    assert "\\x1b[31m" in shown or "\\u001b[31m" in shown


def test_json_is_what_was_stored(run: Callable, store: Path, chat: Path) -> None:
    given = [json.loads(line) for line in chat.read_text(encoding="utf-8").splitlines()]
    listed = [json.loads(line) for line in run("messages", store, "--json").stdout.splitlines()]
    for before, after in zip(given, listed, strict=True):
        for name in ("text", "metadata", "role", "session"):
            if name in before:
                assert after[name] == before[name]


def test_errors(fails: Callable, tmp_path: Path) -> None:
    name = "a\x1b[31m\nb\u202e.jsonl"
    line = fails(2, "ingest", "m.db", name)
    assert not DANGEROUS.search(line)
    file = tmp_path / "x.jsonl"
    file.write_text('{"text": "a", "\\u001b[2J\\u202e": 1}')
    line = fails(1, "ingest", tmp_path / "m.db", file)
    assert "unknown field" in line
    assert not DANGEROUS.search(line)


def test_an_encoding_that_lacks_most_characters(run: Callable, store: Path) -> None:
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = run("messages", store, **env)
    assert result.returncode == 0
    assert "\\u8f66" in result.stdout
    listed = [
        json.loads(line) for line in run("messages", store, "--json", **env).stdout.splitlines()
    ]
    assert listed[3]["text"] == "车库的门禁密码是八千"


@given(st.text())
def test_one_line_is_one_safe_line(text: str) -> None:
    line = terminal.one_line(text)
    assert not DANGEROUS.search(line)
    assert "\n" not in line
    assert terminal.one_line(line) == line


@given(st.text(), st.integers(3, 60))
def test_shortened_fits(text: str, width: int) -> None:
    short = terminal.shorten(text, width)
    assert terminal.cell_len(short) <= width


@given(st.dictionaries(st.text(), st.text(st.characters(exclude_categories=[]))))
def test_json_line_is_json_and_safe(value: dict[str, str]) -> None:
    line = terminal.json_line(value)
    assert json.loads(line) == value
    assert not DANGEROUS.search(line)
    assert "\n" not in line
