"""`cortext demo`: runs, is honest, and finds at least what was measured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortext.cli.demo.data import conversation, questions

# Measured with the bundled model and the first ranking, dense and BM25 fused: 14, 21 and 22 of 27.
# One less each, for what another processor's rounding may do; raise them when the ranking improves.
FLOOR = {"found_at_1": 14, "found_at_3": 20, "found_at_10": 24}


@pytest.fixture(scope="module")
def kept(folder: Path) -> Path:
    """Where the demo keeps its store."""
    return folder / "demo.db"


@pytest.fixture(scope="module")
def figures(run: Callable, kept: Path) -> dict[str, Any]:
    """Return the figures of a whole demo."""
    result = run("demo", "--store", kept, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_the_data_fits_together() -> None:
    messages = conversation()
    uids = [message.uid for message in messages]
    assert len(set(uids)) == len(uids) > 300
    for question in questions():
        assert set(question.evidence) <= set(uids)
        assert bool(question.evidence) is (question.kind != "absent")


def test_it_finds_what_was_measured(figures: dict[str, Any]) -> None:
    assert figures["answerable"] == 27
    for name, least in FLOOR.items():
        assert figures[name] >= least, {key: figures[key] for key in FLOOR}


def test_its_figures_are_those_of_its_answers(figures: dict[str, Any]) -> None:
    assert figures["messages"] == 355
    assert figures["ack_ms_p50"] > 0
    assert figures["recall_ms_p50"] > 0
    asked = [each for each in figures["questions"] if each["evidence"]]
    for depth in (1, 3, 10):
        found = [each for each in asked if each["rank"] and each["rank"] <= depth]
        assert figures[f"found_at_{depth}"] == len(found)
    for each in asked:
        uids = [hit["uid"] for hit in each["hits"]]
        ranks = [uids.index(uid) + 1 for uid in each["evidence"] if uid in uids]
        assert each["rank"] == min(ranks, default=None)


def test_the_report(figures: dict[str, Any], run: Callable, kept: Path) -> None:
    """With the store of the first run, which is not stored again."""
    result = run("demo", "--store", kept)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert "no network, no LLM" in lines[1]
    assert max(map(len, lines[2:])) <= 100
    blocks = re.split(r"\n\n", result.stdout)[1:-1]
    assert len(blocks) == len(figures["questions"])
    for block, each in zip(blocks, figures["questions"], strict=True):
        hits = [line for line in block.splitlines() if re.match(r"  [ ✓] \d\.\d{3}  \d{4}-", line)]
        assert len(hits) == 3
        marked = [n for n, line in enumerate(hits, 1) if line.startswith("  ✓")]
        rank = each["rank"]
        assert marked[:1] == ([rank] if rank and rank <= 3 else [])
        verdict = f"found at {rank}" if rank else "missed: not among the first 10"
        assert (verdict if each["evidence"] else "nothing in the conversation answers") in block
        assert re.search(r" [\d.]+ ms: encode [\d.]+, search [\d.]+", block)
    summary = result.stdout.rpartition("\n\n")[2]
    assert "355 messages were there already" in summary
    missed = figures["answerable"] - figures["found_at_10"]
    assert f"at 10: {figures['found_at_10']}/27   missed: {missed}" in summary


def test_a_person_sees_progress_and_asks(on_terminal: Callable, tmp_path: Path) -> None:
    status, text = on_terminal(
        "demo", "--questions", "1", "--ask", typed="which metric units?\n\n", TMPDIR=str(tmp_path)
    )
    assert status == 0
    assert "embedding" in text
    assert "durable in" in text
    assert "messages/s" in text
    asked = text.partition("ask your own")[2]
    assert "which metric units?" in asked
    assert re.search(r"0\.\d{3}  2026-", asked)
    assert list(tmp_path.iterdir()) == []


def test_it_leaves_other_stores_alone(fails: Callable, run: Callable, store: Path) -> None:
    before = run("messages", store, "--json").stdout
    assert "other messages than the demo's" in fails(1, "demo", "--store", store, "--json")
    assert run("messages", store, "--json").stdout == before
