"""`cortext ingest`: formats, defaults, bad lines, summaries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from cortext.cli import reading
from cortext.cli.main import cli


def stored(run: Callable, store: Path) -> list[dict[str, Any]]:
    """Return all messages of a store."""
    return [
        json.loads(line)
        for line in run("messages", store, "--all", "--json").stdout.split("\n")[:-1]
    ]


def test_json_lines_arrive_whole(run: Callable, tmp_path: Path) -> None:
    store, file = tmp_path / "m.db", tmp_path / "chat.jsonl"
    file.write_text(
        '\ufeff{"text": "one", "role": "tool", "session": "s", "source": null,'
        ' "time": "2026-01-02T03:04:05.678+02:00",'
        ' "metadata": {"a": [1, null, "ü"]}, "uid": "u-1"}\r\n'
        "\n"
        '{"text": "two\\nlines", "time": 1767315845678, "id": 99}\n'
        '{"text": "three"}'
    )
    result = run("ingest", store, file, "--role", "bot", "--session", "d")
    assert result.returncode == 0
    assert result.stderr == ""
    assert re.fullmatch(r"stored 3 messages in [\d.]+ s; embedded in [\d.]+ s\n", result.stdout)
    one, two, three = stored(run, store)
    assert one == {
        "id": 1,
        "uid": "u-1",
        "session": "s",
        "role": "tool",
        "time": "2026-01-02T01:04:05.678Z",
        "source": None,
        "metadata": {"a": [1, None, "ü"]},
        "text": "one",
    }
    assert (two["text"], two["role"], two["session"]) == ("two\nlines", "bot", "d")
    assert (two["time"], two["id"], two["source"]) == ("2026-01-02T01:04:05.678Z", 2, "chat.jsonl")
    assert (three["text"], three["uid"], three["metadata"]) == ("three", None, None)


def test_the_same_again_is_stored_once(run: Callable, tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    lines = '{"text": "a", "uid": "1"}\n{"text": "b", "uid": "2"}\n'
    run("ingest", store, stdin=lines)
    again = json.loads(run("ingest", store, "--json", stdin=lines + '{"text": "c"}').stdout)
    assert (again["messages"], again["new"], again["bad"], again["pending"]) == (3, 1, 0, 0)
    assert again["store"] == str(store)
    assert again["embed_seconds"] >= 0
    assert "2 of them were there already" in run("ingest", store, stdin=lines).stdout
    assert [message["text"] for message in stored(run, store)] == ["a", "b", "c"]


def test_plain_text_by_paragraph_and_by_line(run: Callable, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("  first\nparagraph \n\n\n \t\nsecond\n")
    store = tmp_path / "m.db"
    for form, session in (("auto", "auto"), ("text", "text"), ("lines", "lines")):
        result = run("ingest", store, file, "--format", form, "--session", session, "--no-wait")
        assert re.search(r"; \d+ not embedded$", result.stdout)
    texts: dict[str, list[str]] = {}
    for message in stored(run, store):
        texts.setdefault(message["session"], []).append(message["text"])
        assert message["source"] == "notes.txt"
    assert texts == {
        "auto": ["first\nparagraph", "second"],
        "text": ["first\nparagraph", "second"],
        "lines": ["first", "paragraph", "second"],
    }


def test_what_messages_prints_can_be_ingested(run: Callable, store: Path, tmp_path: Path) -> None:
    printed = run("messages", store, "--json").stdout
    copy = tmp_path / "copy.db"
    assert run("ingest", copy, "-", "--no-wait", stdin=printed).returncode == 0
    assert run("messages", copy, "--json").stdout == printed


def test_several_files_are_one_ingest(run: Callable, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    store = tmp_path / "m.db"
    result = run("ingest", store, "a.txt", "-", "b.txt", stdin="between", cwd=tmp_path)
    assert result.stdout.startswith("stored 3 messages")
    sources = [(message["text"], message["source"]) for message in stored(run, store)]
    assert sources == [("a.txt", "a.txt"), ("between", None), ("b.txt", "b.txt")]


BAD = {
    "not json": "not JSON: Expecting value (column 1)",
    "[1]": "not a JSON object",
    '{"role": "user"}': "no text",
    '{"text": null}': "no text",
    '{"text": " \\n "}': "the text is empty",
    '{"text": 5}': "text must be a string",
    '{"text": "a\\u0000b"}': "text has a NUL character",
    '{"text": "\\ud800"}': "text has half a surrogate pair",
    '{"text": "a", "txet": "b"}': "unknown field 'txet'",
    '{"text": "a", "role": 1}': "role must be a string",
    '{"text": "a", "metadata": [1]}': "metadata must be an object",
    '{"text": "a", "metadata": {"x": NaN}}': "not JSON: NaN",
    '{"text": "a", "time": "2026-01-01T10:00:00"}': "the time has no zone",
    '{"text": "a", "time": "2026-01-01"}': "the time has no zone",
    '{"text": "a", "time": "yesterday"}': "not an ISO 8601 time",
    '{"text": "a", "time": 1.5}': "time must be an ISO 8601 string or whole milliseconds",
    '{"text": "a", "time": true}': "time must be an ISO 8601 string or whole milliseconds",
    '{"text": "a", "time": 99999999999999999}': "outside of the years 1 to 9999",
    "[" * 100_000: "the JSON is nested too deeply",
}


def test_bad_lines_are_named_or_counted(run: Callable, tmp_path: Path) -> None:
    lines = [line for bad in BAD for line in ('{"text": "good"}', bad)]
    file = tmp_path / "bad.jsonl"
    file.write_bytes("\n".join(lines).encode() + b'\n{"text": "\xff"}\n')
    store = tmp_path / "m.db"
    result = run("ingest", store, file, "--skip-bad", "--json", "--no-wait")
    assert result.returncode == 0
    summary = json.loads(result.stdout)
    assert (summary["messages"], summary["bad"]) == (len(BAD), len(BAD) + 1)
    shown = result.stderr.splitlines()
    assert shown[0] == f"skipped: {file}:2: not JSON: Expecting value (column 1)"
    assert shown[-1] == f"skipped: {len(BAD) + 1 - 5} more"
    assert len(shown) == 6
    text = run("ingest", store, file, "--skip-bad", "--no-wait").stdout
    assert f"skipped {len(BAD) + 1} bad" in text


def test_a_bad_line_in_a_file_changes_nothing(fails: Callable, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"text": "good"}\n\n{"text": "good", "time": "2026-01-01T10:00"}\n')
    line = fails(1, "ingest", tmp_path / "m.db", file)
    assert line.startswith(f"cortext: {file}:3: time '2026-01-01T10:00': the time has no zone")
    assert not (tmp_path / "m.db").exists()


def test_a_bad_line_in_a_stream_says_what_was_stored(
    run: Callable, fails: Callable, tmp_path: Path
) -> None:
    store = tmp_path / "m.db"
    line = fails(1, "ingest", store, "--format", "jsonl", stdin='{"text": "good"}\nbad\n')
    assert line.startswith("cortext: stdin:2: not JSON")
    assert line.endswith("(messages stored before it: 1)")
    assert [message["text"] for message in stored(run, store)] == ["good"]


def test_a_conflict_names_its_line(run: Callable, fails: Callable, tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    run("ingest", store, stdin='{"text": "a", "uid": "1"}')
    lines = '{"text": "b"}\n{"text": "other", "uid": "1"}\n{"text": "c"}\n'
    line = fails(1, "ingest", store, stdin=lines)
    assert line.startswith("cortext: stdin:2: ")
    assert "uid" in line
    result = run("ingest", store, "--skip-bad", "--json", stdin=lines)
    assert json.loads(result.stdout)["bad"] == 1
    assert "stdin:2" in result.stderr
    assert [message["text"] for message in stored(run, store)] == ["a", "b", "b", "c"]


def test_nothing_in_nothing_stored(run: Callable, tmp_path: Path) -> None:
    result = run("ingest", tmp_path / "m.db", stdin="\n \n")
    assert result.returncode == 0
    assert result.stdout.startswith("stored 0 messages")


def test_a_store_that_cannot_be_made(fails: Callable, tmp_path: Path) -> None:
    assert "m.db" in fails(1, "ingest", tmp_path / "no" / "m.db", stdin="x")
    assert str(tmp_path) in fails(1, "ingest", tmp_path, stdin="x")


class Unembeddable:
    """An engine whose model fails."""

    def __enter__(self) -> Unembeddable:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ingest_many(self, messages: list[Any]) -> list[int]:
        return list(range(len(messages)))

    def flush(self, progress: Callable[[int, int], None]) -> bool:
        progress(1, 2)
        return False

    def stats(self) -> SimpleNamespace:
        return SimpleNamespace(messages=2, restoring=0, pending=1, last_error="the model failed")


def test_messages_that_cannot_be_embedded_are_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("cortext.open", lambda _path: Unembeddable())
    arguments = ["ingest", str(tmp_path / "m.db"), "--format", "lines"]
    result = CliRunner().invoke(cli, arguments, input="a\nb\n")
    assert result.exit_code == 1
    assert "1 not embedded" in result.output
    assert "1 message could not be embedded: the model failed" in result.output


def test_a_line_without_an_end_is_not_read_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LINE_LIMIT", 1 << 20)
    stream = BytesIO(b"a\n" + b"x" * (5 << 20) + b"\nb\n" + b"y" * (1 << 20))
    items = list(reading.read(stream, "lines", reading.Defaults()))
    assert [(item.line, item.problem) for item in items] == [
        (1, ""), (2, "longer than 1 MiB"), (3, ""), (4, "longer than 1 MiB"),
    ]  # fmt: skip
    assert items[-1].read == len(stream.getvalue())


def test_progress_only_when_asked_without_a_terminal(run: Callable, tmp_path: Path) -> None:
    lines = "".join(f"line number {n}\n" for n in range(600))
    arguments = ("ingest", tmp_path / "m.db", "--format", "lines")
    assert run(*arguments, "--no-wait", stdin=lines).stderr == ""
    shown = run(*arguments, "--progress", stdin="one more").stderr
    assert re.search(r"^embedding: [\d,]+ messages, [\d,]+/s$", shown, re.MULTILINE)
    assert "\x1b" not in shown


def test_typed_on_a_terminal(run: Callable, on_terminal: Callable, tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    status, text = on_terminal("ingest", store, typed="typed by hand\n\x04")
    assert status == 0
    assert "reading messages from the terminal; end with Ctrl-D\n" in text
    assert "storing" not in text
    assert [message["text"] for message in stored(run, store)] == ["typed by hand"]


@pytest.mark.parametrize("options", [[], ["--no-progress"]], ids=["bar", "none"])
def test_progress_on_a_terminal(
    options: list[str], on_terminal: Callable, folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("".join(f"line number {n} of a file\n" for n in range(100)))
    status, text = on_terminal(
        "ingest", tmp_path / "m.db", file, "--format", "lines", *options, columns=120
    )
    assert status == 0
    assert ("embedding" in text) is (not options)
    assert re.search(r"^.*stored 100 messages in .* s; embedded in .* s$", text, re.MULTILINE)
