"""The arithmetic of the gate bench, on decisions made by hand."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .conftest import BENCH

DATA = Path(__file__).with_name("data")


@pytest.fixture(scope="module")
def scores(part) -> ModuleType:
    return part("gate_scores")


@pytest.fixture(scope="module")
def decide(part):
    def make(place: int = 0, kind: str = "about", *staged: str, **also: Any) -> Any:
        also.setdefault("interrupts", bool(staged))
        margin = also.pop("margin", 0.1 if also["interrupts"] else -0.5)
        terms = {"margin": margin, "refractory": also.pop("refractory", 0.0)}
        rest = {"stream": "s", "channel": "text", "gold": frozenset(), **also}
        return part("gates").Decision(
            place=place, kind=kind, staged=tuple(staged), terms=terms, **rest
        )

    return make


@pytest.fixture(scope="module")
def fed(part):
    def make(name: str, *decisions: Any, size: int = 0) -> Any:
        staged = frozenset(uid for decision in decisions for uid in decision.staged)
        return part("gate_feeding").Fed(name, decisions, staged, size, 4)

    return make


def test_intervals(part) -> None:
    metrics = part("metrics")
    low, high = metrics.wilson(3, 100)
    assert (low, high) == (pytest.approx(0.0103, abs=1e-4), pytest.approx(0.0845, abs=1e-4))
    assert metrics.wilson(0, 10)[0] == 0
    assert metrics.wilson(10, 10)[1] == 1
    assert all(map(math.isnan, metrics.wilson(0, 0)))
    pairs = [(1.0, 1.0), (0.0, 1.0)] * 20
    low, high = metrics.ratio_interval(pairs)
    assert 0.3 < low < 0.5 < high < 0.7
    assert metrics.ratio_interval(pairs) == (low, high)
    assert metrics.ratio_interval([(0.5, 1.0)] * 9) == (0.5, 0.5)
    assert all(map(math.isnan, metrics.ratio_interval([])))
    assert all(map(math.isnan, metrics.ratio_interval([(1.0, 0.0)])))


def test_interruptions_by_kind_and_channel(scores: ModuleType, decide) -> None:
    found = [
        decide(0, "unrelated", "m1"),
        decide(1, "unrelated"),
        decide(2, "unrelated", channel="thinking"),
        decide(3, "about", "m2"),
        decide(4, "about", "m3", interrupts=False),
    ]
    share = scores.interrupts(found, "unrelated")
    assert (share.count, share.n, share.value) == (1, 3, pytest.approx(1 / 3))
    assert scores.interrupts(found, "unrelated", "thinking") == scores.Share(0, 1)
    assert scores.interrupts(found, "about") == scores.Share(1, 2), "staging alone is none"
    assert scores.total(found) == scores.Share(2, 5)
    assert math.isnan(scores.interrupts(found, "known").value)


def test_evidence_against_recall(scores: ModuleType, decide, fed) -> None:
    streams = [
        fed("a", decide(0, "about", "m1", "x")),
        fed("b", decide(0, "about", "m1"), decide(1, "about", "m2")),
        fed("c"),
        fed("none", decide(0, "about", "y")),
    ]
    gold = {"a": {"m1", "m2"}, "b": {"m1", "m2"}, "c": {"m3"}, "none": set()}
    recalled = {"a": {"m1", "m2"}, "b": {"m2", "z"}, "c": {"m3"}, "none": {"y"}}
    found = scores.evidence(streams, gold, recalled)
    assert found.streams == 3
    assert found.staged == pytest.approx((0.5 + 1 + 0) / 3)
    assert found.recalled == pytest.approx((1 + 0.5 + 1) / 3)
    assert found.ratio == pytest.approx(1.5 / 2.5)
    assert found.messages == scores.Share(3, 5)
    assert math.isnan(scores.evidence([], {}, {}).ratio)


def test_bytes_staged(scores: ModuleType, fed) -> None:
    streams = [fed(str(size), size=size) for size in range(1, 101)]
    assert scores.bytes_staged(streams) == (50, 95, 100)
    assert all(map(math.isnan, scores.bytes_staged([])))


def test_labels(part, scores: ModuleType, decide, fed) -> None:
    streams = part("streams")
    kinds = [
        ("about", {"m1"}),
        ("unrelated", ()),
        ("known", ()),
        ("about", {"m2", "m3"}),
        ("about", {"m1"}),
        ("about", {"m4"}),
        ("about", {"m5"}),
    ]
    pieces = tuple(streams.Piece("x", "text", kind, frozenset(gold)) for kind, gold in kinds)
    stream = streams.Stream("s", pieces)
    found = scores.labels(
        [
            (
                stream,
                fed(
                    "s",
                    decide(0, "about", "m1"),
                    decide(1, "unrelated", "m9"),
                    decide(2, "known", "m8"),
                    decide(3, "about"),  # two segments of one piece: one of them will do
                    decide(3, "about", "m3"),
                    decide(4, "about"),  # m1 was staged before
                    decide(5, "about", "m9"),  # interrupts with another message
                ),  # the last piece was never decided
            )
        ]
    )
    assert (found.right, found.wrong, found.missed) == (2, 3, 2)
    assert found.precision == scores.Share(2, 5)
    assert found.recall == scores.Share(2, 4)
    assert found.known == scores.Share(1, 1)


def test_a_higher_bar(scores: ModuleType, decide, fed) -> None:
    streams = [
        fed(
            "s",
            decide(0, "about", "m1", margin=0.30),
            decide(1, "unrelated", "m7", margin=0.20),
            decide(2, "unrelated"),
            decide(3, "about", "m2", margin=0.05),
            # Staged at a boundary, held back by the pause alone.
            decide(4, "unrelated", "m3", interrupts=False, margin=-0.1, refractory=0.35),
        )
    ]
    points = scores.sweep(streams, {"s": {"m1", "m2", "m3", "m4"}})
    assert [point.shift for point in points] == [0, 0.05, 0.2, 0.25, 0.3]
    assert [point.staged for point in points] == [0.75, 0.75, 0.5, 0.5, 0.25]
    shares = [point.false_per_100 for point in points]
    assert shares == pytest.approx([100 / 3, 100 / 3, 100 / 3, 0, 0])
    assert scores.sweep([], {}) == []


def test_bars(scores: ModuleType) -> None:
    assert scores.Bar("x", 3.0, 3.0).met is True
    assert scores.Bar("x", 3.1, 3.0).met is False
    assert scores.Bar("x", 0.7, 0.75, at_least=True).met is False
    assert scores.Bar("x", math.nan, 3.0).met is None


def test_tables_and_document(part, decide, fed) -> None:
    tables, feeding = part("gate_tables"), part("gate_feeding")
    own = tables.Source("think-aloud", asked="the question")
    own.fed = [fed("s", decide(0, "about", "m1"), decide(1, "unrelated"), size=40)]
    own.gold, own.recalled = {"s": frozenset({"m1"})}, {"s": frozenset({"m1"})}
    talk = tables.Source("ordinary chat")
    talk.fed = [fed("t", *(decide(i, "chat", *["m"] * (i < 2)) for i in range(10)))]
    timed = feeding.Timed(feed_us=[1.0] * 99 + [60.0], delay=[4.0, 9.0], encode=[1.0, 2.0])
    timed.search, timed.waited = [0.5, 0.5], [0.1, 0.1]
    found = tables.Found([own, talk], {"paced": timed, "other": feeding.Timed()})
    bars = {bar.name: (round(bar.value, 3), bar.met) for bar in found.bars()}
    assert bars == {
        "think-aloud: staged against recalled": (1, True),
        "think-aloud: false per 100 unrelated": (0, True),
        "ordinary chat: interrupts per 100": (20, False),
        "feed p99": (1, True),
        "decision beyond its encode, median": (3, True),
    }
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert document["sources"][0]["evidence"]["ratio"] == 1
    assert document["sources"][1]["evidence"] is None
    assert document["sources"][1]["total"]["count"] == 2
    assert document["times"]["paced"]["call, us"]["max"] == 60
    features = list(own.features())
    assert [line["about"] for line in features] == [True, False]
    assert [line["best_is_evidence"] for line in features] == [True, None]


def test_the_picture(part, scores: ModuleType, tmp_path: Path) -> None:
    about = part("environment").describe()
    points = [scores.Point(shift / 20, 0.9 - shift / 20, 10 - shift) for shift in range(6)]
    path = part("gate_plot").draw(tmp_path, {"think-aloud": points}, 3.0, about)
    assert path.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    "arguments",
    [
        ("own", DATA / "locomo.json"),
        ("locomo",),
        ("all",),
        ("locomo", DATA / "locomo.json", "--split", "dev"),
    ],
)
def test_options_that_do_not_go_together(arguments: tuple[object, ...]) -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "gate.py", "--format", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "PATH" in done.stderr or "--split" in done.stderr
