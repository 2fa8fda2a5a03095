"""From rankings to the metrics of each data set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from support import locomo
from support.haystacks import Question
from support.metrics import (
    all_at,
    any_at,
    auroc,
    first_seen,
    mean,
    recall_at,
    reciprocal_rank,
    within_budget,
)
from support.rankers import Ranked

__all__ = [
    "BUDGET_TOKENS",
    "Board",
    "Count",
    "Means",
    "Scores",
    "score_corrections",
    "score_found",
    "score_locomo",
    "score_longmemeval",
]

BUDGET_TOKENS = 1000
SHOWN = 10  # hits of a default recall
TOTAL = "all questions"

Count = Callable[[str], int]  # tokens of a text
Means = dict[str, dict[str, float]]  # row -> metric -> mean
Scores = Iterator[tuple[str, Mapping[str, float]]]  # (group, metric -> value) of one question


def score_locomo(question: Question, ranked: Sequence[Ranked], count: Count) -> Scores:
    """Turn-level scores; category 5 stays out of the total."""
    gold = question.gold_turns
    if not gold:
        return
    uids = [turn.uid for turn in ranked]
    costs = [count(turn.text) for turn in ranked]
    values = {f"R@{k}": recall_at(uids, gold, k) for k in (5, 10, 20)}
    values |= {f"any@{k}": any_at(uids, gold, k) for k in (1, 5, 10, 20)}
    fitting = within_budget(costs, BUDGET_TOKENS)
    values[f"R@{BUDGET_TOKENS}tok"] = recall_at(uids, gold, fitting)
    values["R@all"] = recall_at(uids, gold, len(uids))
    values[f"tok@{SHOWN}"] = sum(costs[:SHOWN])
    if question.category != locomo.ADVERSARIAL:
        yield f"categories 1 to 4, {TOTAL}", values
    yield question.category, values


def score_longmemeval(question: Question, ranked: Sequence[Ranked], count: Count) -> Scores:
    """Scores over sessions, each where its first turn stands, and over turns."""
    uids = [turn.uid for turn in ranked]
    levels = {
        "sessions": (first_seen(turn.session for turn in ranked), question.gold_sessions),
        "turns": (uids, question.gold_turns),
    }
    for level, (ids, gold) in levels.items():
        if not gold:
            continue
        values = {f"any@{k}": any_at(ids, gold, k) for k in (1, 5, 10)}
        values |= {f"all@{k}": all_at(ids, gold, k) for k in (5, 10)}
        values["R@10"] = recall_at(ids, gold, 10)
        values[f"tok@{SHOWN}"] = sum(count(turn.text) for turn in ranked[:SHOWN])
        yield f"{level}, {TOTAL}", values
        yield f"{level}, {question.category}", values


def score_found(question: Question, ranked: Sequence[Ranked], _count: Count) -> Scores:
    """Where the one message that answers stands; a category may name several groups."""
    uids, gold = [turn.uid for turn in ranked], question.gold_turns
    values = {f"hit@{k}": any_at(uids, gold, k) for k in (1, 5, 10)}
    values["MRR@10"] = reciprocal_rank(uids, gold, 10)
    for group in (TOTAL, *question.category.split(", ")):
        yield group, values


def score_corrections(question: Question, ranked: Sequence[Ranked], _count: Count) -> Scores:
    """Whether what holds now comes first, and what the hits say about having been replaced.

    Links are judged in the hits a default recall shows.  "links said": the share of them that is
    right, of questions whose hits say any.  "links due": whether the outdated message, where it is
    shown, names its successor.
    """
    split = question.category.partition(",")[0]
    uids, gold = [turn.uid for turn in ranked], question.gold_turns
    links = [(turn.uid, newer) for turn in ranked[:SHOWN] for newer in turn.superseded_by]
    due = [(old, new) for old, new in question.superseded.items() if new in gold]
    values = {f"current@{k}": any_at(uids, gold, k) for k in (1, 5)}
    yield f"{split}, {TOTAL}", values
    if due:
        ((outdated, _),) = due
        first = next((uid for uid in uids if uid == outdated or uid in gold), outdated)
        values = {**values, "current above outdated": float(first != outdated)}
        yield f"{split}, updates", values
        if outdated in uids[:SHOWN]:
            yield f"{split}, links due", {"said": float(due[0] in links)}
    else:
        both = gold | question.beside
        said = any(old in both for old, _ in links)
        values = {**values, "both@5": all_at(uids, both, 5), "silent": float(not said)}
    yield question.category, values
    if links:
        right = [float(question.superseded.get(old) == new) for old, new in links]
        yield f"{split}, links said", {"right": mean(right)}


@dataclass(slots=True)
class Board:
    """Scores of every question, by group and row."""

    groups: dict[str, dict[str, list[Mapping[str, float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    each: list[dict[str, str | float]] = field(default_factory=list)
    confidences: dict[str, list[tuple[bool, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, question: str, row: str, scores: Scores) -> None:
        """Add one question's scores."""
        for group, values in scores:
            self.groups[group][row].append(values)
            self.each.append({"question": question, "group": group, "row": row, **values})

    def judge(self, row: str, answerable: bool, confidence: float | None) -> None:
        """Add how sure a row was of one question."""
        if confidence is not None:
            self.confidences[row].append((answerable, confidence))

    def abstention(self) -> Means:
        """Row -> how well confidence tells answerable questions from others."""
        rows = {}
        for row, judged in self.confidences.items():
            positive, negative = ([c for a, c in judged if a is want] for want in (True, False))
            if not positive or not negative:
                continue
            rows[row] = {
                "n": float(len(judged)),
                "unanswerable": float(len(negative)),
                "AUROC": auroc(positive, negative),
                "Brier": mean([(confidence - answer) ** 2 for answer, confidence in judged]),
                "mean if answerable": mean(positive),
                "mean if not": mean(negative),
            }
        return rows

    def means(self) -> dict[str, Means]:
        """Group -> row -> metric -> mean over questions, and "n", the questions."""
        return {
            group: {
                row: {"n": len(scores)}
                | {name: mean([values[name] for values in scores]) for name in scores[0]}
                for row, scores in rows.items()
            }
            for group, rows in sorted(self.groups.items(), key=lambda item: _order(item[0]))
        }


def _order(group: str) -> tuple[bool, str]:
    """Totals first."""
    return not group.endswith(TOTAL), group
