"""Both benches from end to end at a tiny size: everything runs, and what can be known is right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import BENCH, RunBench

DATA = Path(__file__).with_name("data")
ROWS = ["engine", "dense only", "BM25 only", "reference BM25"]
TOTAL = "categories 1 to 4, all questions"


def test_latency(run_bench: RunBench, tmp_path: Path) -> None:
    found = run_bench(
        "latency.py",
        "--n",
        4,
        "--sizes",
        "6,20",
        "--cold-opens",
        1,
        "--dir",
        tmp_path,
        "--import",
        30,
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "results.json"], "the stores are removed"
    timings = {(row["section"], row["name"]): row for row in found["timings_ms"]}
    for row in timings.values():
        assert 0 <= row["p50"] <= row["p90"] <= row["p95"] <= row["p99"] <= row["max"]
    assert timings["ingest, one at a time", "acknowledged"]["n"] == 4
    for size in (6, 20):
        whole = timings[f"recall, {size} messages", "whole call"]["p50"]
        assert whole >= timings[f"recall, {size} messages", "encode the query"]["p50"]
    against = {row["to"] for row in found["ratios"]}
    assert "bare SQLite commit" in against
    assert len(against) == 4
    figures = {(row["section"], row["name"]): row["value"] for row in found["figures"]}
    assert figures["ingest, one at a time", "found by meaning"] == 4
    assert figures["store, 20 messages", "on disk"] > 200
    assert timings["ingest, 4 threads at once", "acknowledged"]["n"] == 16
    assert figures["ingest, 4 threads at once", "acknowledged"] > 0
    section = "recall under import, 30 messages into 6"
    for name in ("idle", "meanwhile", "meanwhile, wait_ms=0"):
        assert timings[section, f"whole call, {name}"]["n"] == 4
    memory = [value for (section, _), value in figures.items() if section == "memory, 20 messages"]
    assert memory == sorted(memory)
    assert found["configuration"]["cache"] == "off"
    assert found["machine"]["cores"] >= 1
    assert not any("gate" in section for section, _ in timings), "no row before there is a gate"


def test_latency_never_times_the_cache(run_bench: RunBench, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    arguments = ("--n", 2, "--sizes", "4,12", "--cache", cache, "--cold-opens", 1, "--import", 9)
    first, again = (run_bench("latency.py", *arguments) for _ in range(2))
    assert cache.exists()
    assert "used" in again["configuration"]["cache"]
    encode = [row for row in again["timings_ms"] if row["name"] == "encode the query"]
    assert all(row["p50"] > 0.3 for row in encode), "a look-up takes microseconds"
    assert len(first["timings_ms"]) == len(again["timings_ms"])


def test_crossover(run_bench: RunBench, tmp_path: Path) -> None:
    arguments = ("--n", 3, "--sizes", "1000,1500", "--embedded", 30, "--dir", tmp_path)
    found = run_bench("crossover.py", *arguments)
    assert list(tmp_path.iterdir()) == [tmp_path / "results.json"], "the store is removed"
    assert {(row["section"], row["name"]) for row in found["timings_ms"]} == {
        (f"{size} chunks", name) for size in ("1,000", "1,500") for name in ("exact", "hnsw")
    }
    shares = [row["value"] for row in found["figures"] if "brute force" in row["name"]]
    assert len(shares) == 4
    assert min(shares) > 90


@pytest.fixture
def locomo(run_bench: RunBench) -> dict[str, dict[str, dict[str, float]]]:
    groups: dict[str, dict[str, dict[str, float]]] = run_bench(
        "quality.py", "--format", "locomo", DATA / "locomo.json"
    )["groups"]
    return groups


def test_locomo(locomo: dict[str, dict[str, dict[str, float]]]) -> None:
    assert list(locomo) == [
        TOTAL,
        "1 multi-hop",
        "2 temporal",
        "3 open-domain",
        "4 single-hop",
        "5 adversarial",
        "abstention",
    ]
    assert list(locomo[TOTAL]) == ROWS
    assert locomo[TOTAL]["engine"]["n"] == 4, "neither category 5 nor what has no evidence"
    assert locomo["5 adversarial"]["engine"]["n"] == 1
    for row in ("engine", "dense only"):
        assert locomo[TOTAL][row]["R@20"] == 1, "eight turns, all of them ranked"
        assert locomo[TOTAL][row]["R@1000tok"] == 1
    for row in ROWS:
        assert locomo["4 single-hop"][row]["any@1"] == 1


def test_quality_is_the_same_every_time(
    run_bench: RunBench, tmp_path: Path, locomo: dict[str, dict[str, dict[str, float]]]
) -> None:
    kept = ("--cache", tmp_path / "cache", "--keep", tmp_path / "stores")
    for _ in range(2):
        arguments = ("--format", "locomo", "--each", *kept, DATA / "locomo.json")
        again = run_bench("quality.py", *arguments)
        assert again["groups"] == locomo
    assert len(again["each"]) == len(ROWS) * (4 + 5), "in the total, and by category"
    assert (tmp_path / "stores" / "tiny.db").exists()


def test_locomo_as_it_is_published(run_bench: RunBench) -> None:
    found = run_bench("quality.py", "--format", "locomo", DATA / "locomo-upstream.json")
    assert found["configuration"]["turns"] == 4
    multi_hop = found["groups"]["1 multi-hop"]["engine"]
    assert (multi_hop["n"], multi_hop["R@5"]) == (1, 1), "both ids of an untidy label were read"


def test_longmemeval(run_bench: RunBench) -> None:
    found = run_bench("quality.py", "--format", "longmemeval", DATA / "longmemeval")
    assert found["configuration"]["questions"] == 3
    assert found["configuration"]["turns"] == 4 + 6 + 2, "neither the repeated nor the empty turns"
    groups = found["groups"]
    assert list(groups)[:2] == ["sessions, all questions", "turns, all questions"]
    for row in ("engine", "dense only"):
        assert groups["sessions, all questions"][row]["all@10"] == 1
        assert groups["turns, all questions"][row]["R@10"] == 1
    assert groups["sessions, single-session-user"]["engine"]["any@1"] == 1


def test_limit_and_rows(run_bench: RunBench) -> None:
    arguments = ("--limit", 2, "--rows", "BM25 only", DATA / "locomo.json")
    found = run_bench("quality.py", "--format", "locomo", *arguments)
    assert found["configuration"]["questions"] == 2
    assert list(found["groups"]["2 temporal"]) == ["BM25 only"]


def test_corrections(run_bench: RunBench) -> None:
    found = run_bench("quality.py", "--format", "corrections", "--limit", 4)
    assert found["configuration"]["questions"] == 4
    groups = found["groups"]
    assert list(groups)[:2] == ["dev, all questions", "test, all questions"]
    assert list(groups["dev, updates"]) == ROWS
    assert groups["dev, updates"]["engine"]["n"] == 2


def test_needles(run_bench: RunBench) -> None:
    arguments = ("--limit", 6, "--rows", "BM25 only,reference BM25")
    found = run_bench("quality.py", "--format", "needles", *arguments)
    assert (found["configuration"]["turns"], found["configuration"]["questions"]) == (5300, 6)
    assert list(found["groups"]["all questions"]) == ["BM25 only", "reference BM25"]
    assert found["groups"]["all questions"]["BM25 only"]["n"] == 6


def test_languages(run_bench: RunBench) -> None:
    found = run_bench("quality.py", "--format", "languages", "--limit", 3)
    assert found["configuration"]["haystacks"] == 1, "no store without a question"
    assert list(found["groups"]) == ["all questions", "Chinese"]
    assert found["groups"]["Chinese"]["reference BM25"]["hit@10"] == 1


@pytest.mark.parametrize("arguments", [("languages", DATA / "locomo.json"), ("locomo",)])
def test_a_path_where_none_belongs_or_none_where_one_does(arguments: tuple[object, ...]) -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "quality.py", "--format", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "PATH" in done.stderr


@pytest.mark.parametrize("layout", ["locomo", "longmemeval"])
def test_what_is_not_the_data_set_is_one_line(layout: str, tmp_path: Path) -> None:
    for name in ("sessions.jsonl", "questions.jsonl"):
        (tmp_path / name).write_text("[]\n", encoding="utf-8")
    target = tmp_path if layout == "longmemeval" else tmp_path / "sessions.jsonl"
    done = subprocess.run(
        [sys.executable, BENCH / "quality.py", "--format", layout, target],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
