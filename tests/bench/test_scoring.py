"""The scores of our own quality data against rankings worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

Scored = Callable[..., dict[str, Mapping[str, float]]]

LINKS = {"a0": "a2", "b0": "b1"}


@pytest.fixture(scope="module")
def scored(part) -> Scored:
    haystacks, rankers, scoring = part("haystacks"), part("rankers"), part("scoring")

    def score(
        function: str,
        category: str,
        gold: set[str],
        ranked: list[str | tuple[str, str]],
        **labels: Any,
    ) -> dict[str, Mapping[str, float]]:
        """ranked: uids; a pair is a hit and what it says has replaced it."""
        question = haystacks.Question(
            "q", "?", category, frozenset(gold), frozenset(), superseded=LINKS, **labels
        )
        hits = []
        for entry in ranked:
            uid, *newer = [entry] if isinstance(entry, str) else entry
            hits.append(rankers.Ranked(uid, "s", "text", tuple(newer)))
        return dict(getattr(scoring, function)(question, hits, len))

    return score


def test_found(scored: Scored) -> None:
    groups = scored("score_found", "job, on its own", {"x"}, ["y", "z", "x"])
    assert list(groups) == ["all questions", "job", "on its own"]
    assert groups["job"] == {"hit@1": 0, "hit@5": 1, "hit@10": 1, "MRR@10": pytest.approx(1 / 3)}
    late = scored("score_found", "job", {"x"}, [*map(str, range(10)), "x"])
    assert late["job"] == {"hit@1": 0, "hit@5": 0, "hit@10": 0, "MRR@10": 0}


@pytest.mark.parametrize(
    ("ranked", "first", "above"),
    [
        (["a2", "a0"], 1, 1),
        (["x", "a2", "a0"], 0, 1),
        (["a0", "a2"], 0, 0),
        (["a2", "x"], 1, 1),  # the outdated one is not there at all
        (["a0", "x"], 0, 0),
        (["x", "y"], 0, 0),  # neither is: nothing was found
    ],
)
def test_updates(scored: Scored, ranked: list[str], first: int, above: int) -> None:
    groups = scored("score_corrections", "dev, number", {"a2"}, ranked)
    assert groups["dev, all questions"]["current@1"] == first
    for group in ("dev, updates", "dev, number"):
        assert groups[group]["current above outdated"] == above
    assert ("dev, links due" in groups) == ("a0" in ranked), "only what is shown can say it"
    assert "dev, links said" not in groups, "nothing is said"


def test_links(scored: Scored) -> None:
    right = scored("score_corrections", "test, change", {"a2"}, ["a2", ("a0", "a2")])
    assert right["test, links due"] == {"said": 1}
    assert right["test, links said"] == {"right": 1}
    wrong = scored("score_corrections", "test, change", {"a2"}, ["a2", ("a0", "b1"), ("b0", "b1")])
    assert wrong["test, links due"] == {"said": 0}
    assert wrong["test, links said"] == {"right": 0.5}, "a link of another item is right as well"
    backwards = scored("score_corrections", "test, change", {"a2"}, [("a2", "a0"), "a0"])
    assert backwards["test, links said"] == {"right": 0}
    beyond = [*map(str, range(10)), ("a0", "a2")]
    assert "test, links said" not in scored("score_corrections", "test, change", {"a2"}, beyond)


def test_near_misses(scored: Scored) -> None:
    def near(*ranked: str | tuple[str, str]) -> Mapping[str, float]:
        labels = {"beside": frozenset({"n1"})}
        groups = scored("score_corrections", "dev, near_miss", {"n0"}, list(ranked), **labels)
        assert "dev, updates" not in groups
        return groups["dev, near_miss"]

    assert near("n0", "n1") == {"current@1": 1, "current@5": 1, "both@5": 1, "silent": 1}
    assert near("n1", "n0")["current@1"] == 0
    assert near("n0", "w", "x", "y", "z", "n1")["both@5"] == 0
    assert near("n0", ("n1", "n0"))["silent"] == 0
    assert near("n0", "n1", ("a0", "a2"))["silent"] == 1, "what others say is no matter here"


def test_restatements(scored: Scored) -> None:
    ranked: list[str | tuple[str, str]] = ["r1", "x", ("r0", "r1")]
    groups = scored("score_corrections", "dev, restatement", {"r0", "r1"}, ranked)
    values = groups["dev, restatement"]
    assert values == {"current@1": 1, "current@5": 1, "both@5": 1, "silent": 0}
    assert groups["dev, links said"] == {"right": 0}
