"""`cortext gate replay`."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

ABOUT = "I have to remember what the code of the garage door was."
TEXT = f"The loop prints every line of the file. {ABOUT} The table has three columns."


def recording(text: str, **head: object) -> str:
    lines = [json.dumps(head)] if head else []
    lines += [json.dumps({"delta": text[at : at + 5]}) for at in range(0, len(text), 5)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "stream.jsonl"
    path.write_text(recording(TEXT, session="now"), encoding="utf-8")
    return path


def test_a_timeline(run: Callable, store: Path, stream: Path) -> None:
    before = run("messages", store, "--all").stdout
    result = run("gate", "replay", stream, "--store", store)
    assert (result.returncode, result.stderr) == (0, "")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [row[6] for row in rows] == [TEXT[:39], ABOUT, "The table has three columns."]
    assert [row[1] for row in rows] == ["", "I", ""]
    assert [row[4] for row in rows] == ["weak", "", "weak"]
    assert "1" in rows[1][7].split(",")
    assert TEXT[int(rows[1][0]) :].startswith(ABOUT)
    assert run("messages", store, "--all").stdout == before, "nothing is stored"


def test_it_is_the_same_every_time(run: Callable, store: Path, stream: Path) -> None:
    first = run("gate", "replay", stream, "--store", store, "--json").stdout
    assert run("gate", "replay", stream, "--store", store, "--json").stdout == first
    plain = run("gate", "replay", "-", "--store", store, "--session", "now", "--json", stdin=TEXT)
    assert plain.stdout == first, "text is cut elsewhere and says the same"
    events = [json.loads(line) for line in first.splitlines()]
    assert [event["should_interrupt"] for event in events] == [False, True, False]
    assert "garage" in [memory["uid"] for memory in events[1]["memories"]]
    assert events[0]["terms"]["since"] is None
    assert events[2]["terms"]["since"] == 0
    margin = events[1]["verdict"]["margin"]
    terms = [events[1]["terms"]["relevance"], events[1]["verdict"]["bar"]]
    assert margin == pytest.approx(terms[0] - terms[1] + events[1]["verdict"]["ease"])


@pytest.mark.parametrize("content", ["text", "jsonl"])
def test_a_byte_order_mark_is_no_text(
    run: Callable, store: Path, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "marked.txt"
    path.write_text(TEXT if content == "text" else recording(TEXT), encoding="utf-8-sig")
    rows = run("gate", "replay", path, "--store", store).stdout.splitlines()
    assert rows[0].split("\t")[0] == "0"
    assert [row.split("\t")[6] for row in rows] == [
        TEXT[:39],
        ABOUT,
        "The table has three columns.",
    ]


def test_it_says_why_not(run: Callable, store: Path, tmp_path: Path) -> None:
    path = tmp_path / "known.jsonl"
    known = run("messages", store, "--all", "--json").stdout.splitlines()
    path.write_text(recording(ABOUT, context=[json.loads(line)["text"] for line in known]))
    row = run("gate", "replay", path, "--store", store).stdout.splitlines()[0].split("\t")
    assert (row[1], row[4]) == ("", "known")


def test_what_the_first_line_and_options_say(run: Callable, store: Path, tmp_path: Path) -> None:
    path = tmp_path / "known.jsonl"
    context = ["The garage door code is 8841."]
    path.write_text(recording(ABOUT, context=context, knobs={"focus": 0.1}), encoding="utf-8")
    replay = ("gate", "replay", path, "--store", store, "--json")
    (event,) = map(json.loads, run(*replay).stdout.splitlines())
    assert "garage" not in [memory["uid"] for memory in event["memories"]]
    low = event["verdict"]["bar"]
    (event,) = map(json.loads, run(*replay, "--focus", "1").stdout.splitlines())
    assert event["verdict"]["bar"] > low
    known = run("gate", "replay", "-", "--store", store, "--context", context[0], stdin=ABOUT)
    assert "1" not in known.stdout.rstrip("\n").split("\t")[7].split(",")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"delta": "x"}\n{"delta"', ":2: not JSON"),
        ('{"delta": "x"}\n[1]', ":2: a line must be a JSON object"),
        ('{"delta": 3}', ":1: a line needs a delta"),
        ('{"delta": "x", "channel": "speech"}', ":1: channel is 'speech'"),
        ('{"delta": "x", "chanel": "text"}', ":1: unknown field 'chanel'"),
        ('{"session": 3}', ":1: session must be a string"),
        ('{"session": ""}', ":1: session must be a string"),
        ('{"session": "a\\u0000b"}', ":1: session must be a string"),
        ('{"session": "\\ud800"}', ":1: half a surrogate pair"),
        ('{"context": ["good", "\\udc00 bad"]}', ":1: half a surrogate pair"),
        ('{"knobs": {"focus": 3}}', ":1: focus"),
        ('{"knobs": {"focus": "x"}}', ":1: focus"),
        ('{"context": "x"}', ":1: context must be a list"),
        ('{"knobs": {"focsu": 1}}', ":1: unknown field 'focsu'"),
        ('\n{"session": "x"}\n{"context": []}', ":3: unknown field 'context'"),
    ],
)
def test_what_is_wrong_with_a_line(
    text: str, said: str, fails: Callable, store: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    assert said in fails(1, "gate", "replay", path, "--store", store)


def test_other_errors(fails: Callable, store: Path, stream: Path, tmp_path: Path) -> None:
    missing = tmp_path / "none.db"
    assert "no store at" in fails(1, "gate", "replay", stream, "--store", missing)
    assert not missing.exists()
    (tmp_path / "k.jsonl").write_text('{"knobs": {"focus": 7}}', encoding="utf-8")
    said = fails(1, "gate", "replay", tmp_path / "k.jsonl", "--store", store)
    assert "focus is 7; it must be a number from 0 to 1" in said
    said = fails(1, "gate", "replay", stream, "--store", store, "--plot", tmp_path / "x.txt")
    assert "a picture ends with .png" in said


def test_a_picture(run: Callable, fails: Callable, store: Path, stream: Path) -> None:
    target = stream.with_suffix(".png")
    if importlib.util.find_spec("matplotlib") is None:
        said = fails(1, "gate", "replay", stream, "--store", store, "--plot", target)
        assert "pip install 'cortext[plot]'" in said
        assert not target.exists()
    else:
        result = run("gate", "replay", stream, "--store", store, "--plot", target)
        assert result.returncode == 0, result.stderr
        assert target.read_bytes().startswith(b"\x89PNG")


def test_for_a_person(on_terminal: Callable, store: Path, stream: Path) -> None:
    status, text = on_terminal("gate", "replay", stream, "--store", store)
    assert status == 0
    assert "[1] The garage door code is 8841." in text
    assert "3 segments, 1 interruption, " in text


def test_what_is_brought_up_cannot_act(on_terminal: Callable, run: Callable, store: Path) -> None:
    hostile = "hostile red markup smile bidi tab is what I have to look for, where was it?"
    for found in (
        run("gate", "replay", "-", "--store", store, stdin=hostile).stdout,
        run("gate", "replay", "-", "--store", store, "--json", stdin=hostile + "\x1b[2J").stdout,
    ):
        assert "\x1b" not in found
        assert "\u202e" not in found
