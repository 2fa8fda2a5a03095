"""The bench of growth at a tiny size: everything runs, and what can be known is right."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from itertools import islice, pairwise
from pathlib import Path

import pytest

import cortext

from .conftest import BENCH, Part, RunBench

QUICK = ("--n", 3, "--cold-opens", 1)
STAGES = {
    "whole call",
    "encode the query",
    "search (all but encode)",
    "of it dense",
    "of it lexical",
    "of it late",
    "of it fetch",
}
SECTIONS = {
    "ingest, one at a time",
    "bulk",
    "consolidate, 100 new",
    "recall, questions",
    "recall, common words",
    "recall, one session",
    "recall, one role",
    "recall, a time range",
    "open",
}


def test_scale(run_bench: RunBench, tmp_path: Path) -> None:
    pictures = tmp_path / "new" / "pictures"
    found = run_bench("scale.py", *QUICK, "--sizes", "6,30", "--dir", tmp_path, "--plot", pictures)
    assert found["bench"] == "scale"
    assert {path.name for path in tmp_path.iterdir()} == {"results.json", "new"}, "stores are gone"
    timings = {(row["section"], row["name"]): row for row in found["timings_ms"]}
    for row in timings.values():
        assert 0 <= row["p50"] <= row["p90"] <= row["p95"] <= row["p99"] <= row["max"]
    for size in (6, 30):
        sections = {section for section, _ in timings if section.endswith(f", {size} messages")}
        assert sections == {f"{name}, {size} messages" for name in SECTIONS}
        for kind in ("questions", "common words"):
            section = f"recall, {kind}, {size} messages"
            assert {name for where, name in timings if where == section} == STAGES
        assert timings[f"ingest, one at a time, {size} messages", "acknowledged"]["n"] == 3
        assert timings[f"open, {size} messages", "model loaded already"]["n"] == 10
    figures = {(row["section"], row["name"]): row["value"] for row in found["figures"]}
    on_disk = figures["store, 30 messages", "on disk"]
    assert on_disk > figures["store, 30 messages", "of it text"] > 50
    assert ("resident, 30 messages", "after 20 recalls") in figures
    assert [entry["messages"] for entry in found["stats"]] == [6, 30]
    assert found["stats"][1]["pending"] == 0
    assert "path" not in found["stats"][0]
    assert (found["configuration"]["cache"], found["configuration"]["kept_store"]) == ("off", "off")
    assert [row["to"] for row in found["ratios"]] == ["bare SQLite commit"] * 2
    check_growth(found["growth"])
    drawn = sorted(path.name for path in pictures.iterdir())
    assert drawn == ["scale-latency.png", "scale-open.png", "scale-space.png"]
    for name in drawn:
        data = (pictures / name).read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        assert width > 800
        assert height > 600


def check_growth(rows: list[dict[str, object]]) -> None:
    for row in rows:
        assert row["stated"] in ("constant", "log", "linear")
        values, exponents = row["values"], row["exponents"]
        assert isinstance(values, list)
        assert isinstance(exponents, list)
        assert (len(values), len(exponents)) == (2, 1)
    medians = [(row["section"], row["name"]) for row in rows if row["of"] == "p50"]
    tails = [(row["section"], row["name"]) for row in rows if row["of"] == "p95"]
    assert len(set(medians)) == len(medians)
    assert set(medians) - set(tails) == {
        ("resident", "after open"),
        ("resident", "after 20 recalls"),
        ("store", "on disk"),
    }


def test_a_kept_store_grows_on(run_bench: RunBench, part: Part, tmp_path: Path) -> None:
    keep, cache = tmp_path / "kept.db", tmp_path / "cache"
    arguments = (*QUICK, "--keep", keep, "--cache", cache)
    first = run_bench("scale.py", *arguments, "--sizes", 12)
    assert first["configuration"]["kept_store"] == "on, 0 messages at the start"
    again = run_bench("scale.py", *arguments, "--sizes", "5,12,20")
    assert again["configuration"]["kept_store"] == "on, 12 messages at the start"
    assert "used" in again["configuration"]["cache"]
    assert [entry["messages"] for entry in again["stats"]] == [5, 12, 20], "5 in another store"
    grown = [row["section"] for row in again["figures"] if row["section"].startswith("growth")]
    assert grown == ["growth, to 5 messages", "growth, to 20 messages"]
    rates = [row["name"] for row in again["figures"] if row["section"].startswith("growth")]
    assert set(rates) == {"ingest_many"}, "with a cache, embedding has no speed"
    with cortext.open(keep) as engine:
        held = engine.messages()
    texts = list(islice(part("text").stream(seed=1), 20))
    assert [message.text for message in held] == texts, "the stream, and nothing that was measured"
    assert [message.role for message in held[:3]] == ["user", "assistant", "user"]
    minutes = {(after.time - before.time).total_seconds() for before, after in pairwise(held)}
    assert minutes == {60.0}

    done = subprocess.run(
        [sys.executable, BENCH / "scale.py", *map(str, arguments), "--seed", "2", "--sizes", "30"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "does not hold the first 20 messages of seed 2" in done.stderr
    assert "Traceback" not in done.stderr


def test_exponents(part: Part) -> None:
    exponents = part("curve").exponents
    assert exponents([10, 100, 1000], [5, 50, 500]) == pytest.approx([1, 1])
    assert exponents([10, 100], [7, 7]) == pytest.approx([0])
    assert exponents([10, 40], [3, 6]) == pytest.approx([0.5])
    assert exponents([10, 100, 1000], [0, 4, -1]) == [None, None]
    assert exponents([10], [1]) == []


def test_every_operation_is_stated_once(part: Part) -> None:
    operations = part("curve").OPERATIONS
    assert len({(row.section, row.name) for row in operations}) == len(operations)


def test_the_stream_goes_by_its_seed(part: Part) -> None:
    stream = part("text").stream
    texts = list(islice(stream(seed=3), 2000))
    assert len(set(texts)) == 2000
    assert texts == list(islice(stream(seed=3), 2000))
    assert texts[:10] != list(islice(stream(seed=4), 10))
    messages = list(part("growth").stream(3, 199, 202))
    assert [message.text for message in messages] == texts[199:202]
    assert [message.session for message in messages] == ["session 0", "session 1", "session 1"]


def test_common_questions_have_common_words_only(part: Part) -> None:
    text = part("text")
    questions = list(islice(text.common_questions(seed=1), 300))
    assert len(set(questions)) == 300
    used = {word for question in questions for word in question.removesuffix("?").split()}
    assert len(used) == text.COMMON_WORDS
    assert used.isdisjoint(text.FUNCTION_WORDS.split())
    messages = list(islice(text.stream(seed=1), 1000))
    for word in used:
        assert sum(word in message.lower() for message in messages) > 40


def test_pictures_without_matplotlib_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ModuleNotFoundError(name='matplotlib')\n")
    script = json.dumps(str(BENCH / "scale.py"))
    code = (
        f"import runpy, sys; sys.path[:0] = [{str(BENCH)!r}, {str(tmp_path)!r}];"
        f"sys.argv = ['scale.py', '--plot', {str(tmp_path / 'p')!r}];"
        f"runpy.run_path({script}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "--plot needs matplotlib" in done.stderr
    assert not (tmp_path / "p").exists()


def test_help_says_what_there_is() -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "scale.py", "--help"], capture_output=True, text=True, check=True
    )
    for option in ("--sizes", "--n", "--seed", "--cache", "--dir", "--keep", "--json", "--plot"):
        assert option in done.stdout
    assert "1000,10000,100000,1000000" in done.stdout
