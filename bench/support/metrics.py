"""Scores of a ranked list against gold ids, and summaries of many values.

A ranked list names each id once, best first; `gold` is never empty.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = [
    "Summary",
    "all_at",
    "any_at",
    "auroc",
    "first_seen",
    "mean",
    "percentile",
    "ratio_interval",
    "recall_at",
    "reciprocal_rank",
    "summarise",
    "wilson",
    "within_budget",
]

NORMAL_95 = 1.959964
RESAMPLES = 2000


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the gold ids among the first k."""
    wanted = set(gold)
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def any_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 if at least one gold id is among the first k, else 0."""
    return float(not set(gold).isdisjoint(ranked[:k]))


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 if every gold id is among the first k, else 0."""
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 / the place of the first gold id among the first k; 0 if there is none."""
    places = (place for place, id in enumerate(ranked[:k], 1) if id in gold)
    return 1 / next(places, math.inf)


def within_budget(costs: Iterable[int], budget: int) -> int:
    """How many items fit when taken in order until the first that would exceed the budget."""
    taken = spent = 0
    for cost in costs:
        spent += cost
        if spent > budget:
            break
        taken += 1
    return taken


def first_seen(ids: Iterable[str]) -> list[str]:
    """The ids without repeats, each where it first stood: turns to a ranking of sessions."""
    return list(dict.fromkeys(ids))


def mean(values: Collection[float]) -> float:
    """The mean; NaN of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def auroc(positive: Collection[float], negative: Collection[float]) -> float:
    """How often a positive's score is above a negative's, ties counted half; NaN of nothing."""
    pairs = len(positive) * len(negative)
    wins = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
    return wins / pairs if pairs else math.nan


def percentile(values: Collection[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, slots=True)
class Summary:
    """Percentiles of measured values."""

    n: int
    p50: float
    p90: float
    p95: float
    p99: float
    max: float


def summarise(values: Collection[float]) -> Summary:
    """Summarise at least one value."""
    p50, p90, p95, p99 = (percentile(values, share) for share in (0.5, 0.9, 0.95, 0.99))
    return Summary(len(values), p50, p90, p95, p99, max(values))


def wilson(count: int, n: int) -> tuple[float, float]:
    """95% interval of a share that was counted (Wilson 1927); NaN of nothing."""
    if not n:
        return math.nan, math.nan
    share, square = count / n, NORMAL_95**2
    middle = share + square / (2 * n)
    width = NORMAL_95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    scale = 1 + square / n
    # At an end of the range both terms are equal but for the last bit.
    low = 0.0 if count == 0 else (middle - width) / scale
    high = 1.0 if count == n else (middle + width) / scale
    return low, high


def ratio_interval(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """95% interval of mean over mean, by 2,000 bootstrap draws of pairs; NaN of nothing."""
    if not pairs:
        return math.nan, math.nan
    values = np.asarray(pairs, dtype=float)
    drawn = np.random.default_rng(1).integers(0, len(values), (RESAMPLES, len(values)))
    sums = values[drawn].sum(axis=1)
    ratios = [float(over / under) for over, under in sums if under]
    if not ratios:
        return math.nan, math.nan
    return percentile(ratios, 0.025), percentile(ratios, 0.975)
