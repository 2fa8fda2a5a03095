"""`cortext consolidate`, `digest`, `episodes` and `related`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def copy(store: Path, tmp_path: Path) -> Path:
    """A store to change."""
    path = tmp_path / "copy.db"
    shutil.copy(store, path)
    return path


def test_consolidate(run: Callable, copy: Path) -> None:
    fields = json.loads(run("consolidate", copy, "--json").stdout)
    assert (fields["messages"], fields["complete"], fields["remaining"]) == (6, True, 0)
    assert fields["episodes"] == 5
    assert fields["state"] == "none"
    rows = dict(line.split("\t") for line in run("consolidate", copy).stdout.splitlines())
    assert (rows["messages"], rows["complete"]) == ("0", "yes")
    said = run("consolidate", copy, "--progress", "--budget-ms", "5")
    assert said.returncode == 0


def test_digest_and_episodes(run: Callable, on_terminal: Callable, copy: Path) -> None:
    assert run("digest", copy).stdout == ""
    run("consolidate", copy)
    digest = json.loads(run("digest", copy, "--session", "home", "--json").stdout)
    assert {s["message"] for s in digest["sentences"]} == {1, 4}
    assert {s["session"] for s in digest["sentences"]} == {"home"}
    assert digest["tokens"] <= 500
    rows = [
        line.split("\t")
        for line in run("digest", copy, "--budget-tokens", "12").stdout.splitlines()
    ]
    assert all(len(row) == 5 for row in rows)
    listed = [json.loads(line) for line in run("episodes", copy, "--json").stdout.splitlines()]
    assert [episode["id"] for episode in listed] == [1, 3, 4, 5, 6]
    assert listed[0]["messages"] == 2
    chosen = run("episodes", copy, "--session", "travel", "--since", "2026-01-01").stdout
    assert chosen.split("\t")[0] == "3"
    status, text = on_terminal("episodes", copy)
    assert status == 0
    assert "2026-02-01 08:00" in text
    assert "\x9b" not in text


def test_related(run: Callable, fails: Callable, copy: Path) -> None:
    run("consolidate", copy)
    found = [json.loads(line) for line in run("related", copy, 1, "--json").stdout.splitlines()]
    assert ("episode", 2) in [(other["relation"], other["id"]) for other in found]
    rows = [line.split("\t") for line in run("related", copy, 1, "--limit", 1).stdout.splitlines()]
    assert [row[0] for row in rows] == ["episode", "similar"]
    assert "there is no message 99" in fails(1, "related", copy, 99)


@pytest.mark.parametrize("words", [["consolidate"], ["digest"], ["episodes"], ["related", "1"]])
def test_none_makes_a_store(words: list[str], fails: Callable, tmp_path: Path) -> None:
    name, *rest = words
    assert "no store at" in fails(1, name, tmp_path / "none.db", *rest)
    assert not (tmp_path / "none.db").exists()
