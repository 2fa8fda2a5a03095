"""`cortext messages` and `cortext stats`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest


def test_messages_as_json_lines(run: Callable, store: Path) -> None:
    result = run("messages", store, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    listed = [json.loads(line) for line in result.stdout.splitlines()]
    assert [message["id"] for message in listed] == [1, 2, 3, 4, 5, 6]
    assert list(listed[0]) == ["id", "uid", "session", "role", "time", "source", "metadata", "text"]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--limit", "2"], [1, 2]),
        (["--limit", "2", "--after", "2"], [3, 4]),
        (["--limit", "2", "--all"], [1, 2, 3, 4, 5, 6]),
        (["--session", "home", "--role", "user"], [1, 4]),
        (["--since", "2026-02-01", "--until", "2026-03-01"], [3, 4]),
        (["--session", "nowhere"], []),
    ],
)
def test_messages_chosen(options: list[str], ids: list[int], run: Callable, store: Path) -> None:
    result = run("messages", store, *options)
    assert (result.returncode, result.stderr) == (0, "")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [int(row[0]) for row in rows] == ids
    assert all(len(row) == 5 for row in rows)


def test_messages_page_by_page(run: Callable, tmp_path: Path) -> None:
    store, count = tmp_path / "m.db", 2300
    lines = "".join(f"{n}\n" for n in range(count))
    run("ingest", store, "--format", "lines", "--no-wait", stdin=lines)
    shown = run("messages", store, "--all").stdout.splitlines()
    assert [line.split("\t")[4] for line in shown] == [str(n) for n in range(count)]
    assert len(run("messages", store, "--limit", "1500").stdout.splitlines()) == 1500


def test_messages_for_a_person(on_terminal: Callable, store: Path) -> None:
    status, text = on_terminal("messages", store)
    assert status == 0
    assert "车库的门禁密码是八千" in text
    assert re.search(r"^ *3 +2026-02-01 08:00 +travel +user +Our flight", text, re.MULTILINE)


def test_stats(run: Callable, on_terminal: Callable, store: Path) -> None:
    fields = json.loads(run("stats", store, "--json").stdout)
    assert (fields["messages"], fields["sessions"], fields["pending"]) == (6, 4, 0)
    assert fields["path"] == str(store)
    assert fields["last_error"] is None
    rows = dict(line.split("\t") for line in run("stats", store).stdout.splitlines())
    assert (rows["messages"], rows["model"]) == ("6", fields["model"])
    assert (rows["index"], rows["index_built"]) == ("exact", "0")
    assert rows.keys() == fields.keys() - {"last_error", "index_error"}
    _, text = on_terminal("stats", store)
    assert re.search(r"^file bytes +[\d.]+ KiB", text, re.MULTILINE)
