"""Metrics and the reference BM25 against cases worked out by hand."""

from __future__ import annotations

import math
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def metrics(part) -> ModuleType:
    return part("metrics")


@pytest.mark.parametrize(
    ("k", "recall", "any_", "all_"),
    [(0, 0, 0, 0), (1, 0, 0, 0), (2, 1 / 3, 1, 0), (4, 2 / 3, 1, 0), (5, 1, 1, 1), (99, 1, 1, 1)],
)
def test_at_k(metrics: ModuleType, k: int, recall: float, any_: float, all_: float) -> None:
    ranked, gold = ["x", "a", "y", "b", "c"], {"a", "b", "c"}
    assert metrics.recall_at(ranked, gold, k) == pytest.approx(recall)
    assert metrics.any_at(ranked, gold, k) == any_
    assert metrics.all_at(ranked, gold, k) == all_


def test_gold_that_is_not_in_the_list_counts(metrics: ModuleType) -> None:
    assert metrics.recall_at(["a"], {"a", "missing"}, 10) == 0.5
    assert metrics.all_at(["a"], {"a", "missing"}, 10) == 0
    assert metrics.recall_at([], {"a"}, 10) == 0


def test_gold_named_twice_counts_once(metrics: ModuleType) -> None:
    assert metrics.recall_at(["a"], ["a", "a"], 1) == 1


@pytest.mark.parametrize(
    ("costs", "budget", "fitting"),
    [
        ([], 10, 0),
        ([11], 10, 0),
        ([10], 10, 1),
        ([4, 4, 4], 10, 2),
        ([4, 9, 1], 10, 1),  # the first that does not fit ends the list
    ],
)
def test_within_budget(metrics: ModuleType, costs: list[int], budget: int, fitting: int) -> None:
    assert metrics.within_budget(costs, budget) == fitting


def test_reciprocal_rank(metrics: ModuleType) -> None:
    assert metrics.reciprocal_rank(["x", "a", "b"], {"a", "b"}, 10) == 0.5
    assert metrics.reciprocal_rank(["x", "a"], {"a"}, 1) == 0
    assert metrics.reciprocal_rank([], {"a"}, 10) == 0


def test_sessions_stand_where_their_first_turn_stood(metrics: ModuleType) -> None:
    assert metrics.first_seen(["s2", "s1", "s2", "s3", "s1"]) == ["s2", "s1", "s3"]


def test_percentiles_are_nearest_ranks(metrics: ModuleType) -> None:
    summary = metrics.summarise([float(value) for value in range(200, 0, -1)])
    assert (summary.n, summary.p50, summary.p90, summary.p95, summary.p99, summary.max) == (
        200, 100, 180, 190, 198, 200,
    )  # fmt: skip
    assert metrics.percentile([7.0], 0.99) == 7
    assert metrics.percentile([1.0, 2.0, 3.0], 0.5) == 2


def test_mean(metrics: ModuleType) -> None:
    assert metrics.mean([1.0, 0.0]) == 0.5
    assert math.isnan(metrics.mean([]))


def test_bm25_by_hand(part) -> None:
    bm25 = part("bm25")
    index = bm25.Bm25(["red fox", "red red rose", "blue sky over the hill"])
    # Lengths 2, 3, 5, mean 10/3; "fox" is in one of three texts: idf = log(1 + 2.5 / 1.5).
    norm = 1.2 * (1 - 0.75 + 0.75 * 2 / (10 / 3))
    ((found, weight),) = index._postings["fox"]
    assert (found, weight) == (0, pytest.approx(2.2 / (1 + norm)))
    assert index.rank("Fox?", 10) == [0]
    assert index.rank("red", 10) == [1, 0], "the same word twice beats a shorter text here"
    assert index.rank("red fox", 10) == [0, 1]
    assert index.rank("red", 1) == [1]
    assert index.rank("nothing here", 10) == []
    assert bm25.Bm25([]).rank("red", 10) == []


def test_words_of_other_scripts(part) -> None:
    bm25 = part("bm25")
    assert bm25.folded_words("Straße ＡＢＣ-12, é!") == ["strasse", "abc", "12", "é"]
    assert bm25.folded_words("ที่นี่") == ["ที่นี่"], "marks belong to their letters"
    assert bm25.pieces(1, 2)("牙医Wi-Fi 5G预约") == [
        "牙", "医", "牙医", "wi", "fi", "5g", "预", "约", "预约",
    ]  # fmt: skip
    assert bm25.pieces(2)("猫") == []
    index = bm25.Bm25(["我的猫", "你的狗"], words=bm25.pieces(1))
    assert index.rank("狗", 10) == [1]


def test_made_up_text_is_distinct_repeatable_and_of_its_length(part) -> None:
    text = part("text")
    found = text.messages(500, seed=3)
    assert len(set(found)) == 500
    assert {len(message) for message in found} == {200}
    assert found == text.messages(500, seed=3)
    assert set(found).isdisjoint(text.messages(500, seed=4))
    asked = text.questions_of_length(50, 9, lambda question: question.split(), seed=3)
    assert len(set(asked)) == 50
    assert all(len(question.split()) == 9 for question in asked)
