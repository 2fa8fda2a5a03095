"""Search for weights over questions whose features are known, and folds to judge what it finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from support.fusion import CURRENT, Features, Floats, Weights

__all__ = [
    "DEPTHS",
    "GRID",
    "Asked",
    "Fold",
    "Questions",
    "cross_validate",
    "goal",
    "search",
    "standard_error",
    "sweep",
]

DEPTHS = (5, 10)  # of R@k

# Small, and 0 is in each, so that a weight which earns nothing is seen to.
GRID: dict[str, tuple[float, ...]] = {
    "own": (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1),
    "lexical": (0, 0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.3),
    "around": (0, 0.25, 0.5, 0.75, 1, 1.2, 1.4),
    "speaker": (0, 0.01, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3),
    "date": (0, 0.01, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3),
    "question": (0, 0.02, 0.04, 0.06, 0.08, 0.12, 0.16),
}
ROUNDS = 10  # no search has needed more than half of them

Chosen = npt.NDArray[np.bool_]  # which questions
Goal = Callable[[Weights], float]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a haystack: the features of its messages, and the uids of the evidence."""

    haystack: str
    features: Features
    gold: frozenset[str]


@dataclass(slots=True)
class Questions:
    """Questions of one data set, laid out so that weights are tried on all of them at once."""

    haystacks: npt.NDArray[np.str_]  # of each question
    features: Features  # of all messages, question after question
    filled: Chosen  # [question, place]: whether there is a message
    gold: tuple[npt.NDArray[np.intp], ...]  # question and place of each piece of evidence
    sizes: npt.NDArray[np.int_]  # how much evidence each question has
    known: dict[Weights, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: Sequence[Asked]) -> Questions:
        """Lay out at least one question."""
        sizes = np.array([len(one.features.ids) for one in asked])
        filled = np.arange(sizes.max()) < sizes[:, None]
        gold = np.zeros(filled.shape, dtype=bool)
        gold[filled] = np.concatenate([np.isin(one.features.uids, [*one.gold]) for one in asked])
        return cls(
            np.array([one.haystack for one in asked]),
            Features(
                **{
                    part.name: np.concatenate([getattr(one.features, part.name) for one in asked])
                    for part in fields(Features)
                }
            ),
            filled,
            np.nonzero(gold),
            np.array([len(one.gold) for one in asked]),
        )

    def recall(self, weights: Weights) -> Floats:
        """[question, k of DEPTHS]: R@k.  The engine's order: by score, then the newest first."""
        if weights in self.known:
            return self.known[weights]
        scores = np.full(self.filled.shape, -np.inf)
        scores[self.filled] = self.features.scores(weights)
        ids = np.zeros(self.filled.shape, dtype=np.int64)
        ids[self.filled] = self.features.ids
        rows, places = self.gold
        score, id = scores[rows, places, None], ids[rows, places, None]
        before = (scores[rows] > score) | ((scores[rows] == score) & (ids[rows] > id))
        within = before.sum(axis=1)[:, None] < np.array(DEPTHS)
        hits = [np.bincount(rows, column, minlength=len(self.filled)) for column in within.T]
        found: Floats = np.stack(hits, axis=1) / self.sizes[:, None]
        self.known[weights] = found
        return found

    @property
    def everything(self) -> Chosen:
        """All questions."""
        return np.ones(len(self.filled), dtype=bool)


def goal(questions: Questions, chosen: Chosen) -> Goal:
    """What is maximised: the mean of R over questions and over DEPTHS; of one depth it jumps."""
    return lambda weights: float(questions.recall(weights)[chosen].mean())


def search(aim: Goal) -> Weights:
    """Change one weight after the other while that pays, from none of them and from the middle.

    Never from those of today: a search that starts there on the data they were chosen on would find
    them again.  Of equally good values the smallest is taken.
    """
    none = Weights(**{name: values[0] for name, values in GRID.items()})
    middle = Weights(**{name: values[len(values) // 2] for name, values in GRID.items()})
    return max((_climb(aim, start) for start in (none, middle)), key=aim)


def _climb(aim: Goal, start: Weights) -> Weights:
    best = start
    for _ in range(ROUNDS):
        before = best
        for name in GRID:
            best = max(_along(best, name), key=aim)
        if aim(best) <= aim(before):
            break
    return best


def _along(weights: Weights, name: str) -> list[Weights]:
    return [weights._replace(**{name: value}) for value in GRID[name]]


def sweep(aim: Goal) -> dict[str, dict[float, float]]:
    """Weight -> value -> what comes of it, the others being those of today."""
    return {
        name: {value: aim(CURRENT._replace(**{name: value})) for value in GRID[name]}
        for name in GRID
    }


class Fold(NamedTuple):
    """Haystacks that were left out, and the weights that were found without them."""

    haystacks: tuple[str, ...]
    chosen: Chosen  # their questions
    weights: Weights


def cross_validate(questions: Questions, folds: int | None) -> Iterator[Fold]:
    """Leave out every fold in turn: one haystack, or every `folds`-th of them."""
    names = list(dict.fromkeys(questions.haystacks.tolist()))
    for left_out in [names[i :: folds or len(names)] for i in range(folds or len(names))]:
        chosen = np.isin(questions.haystacks, left_out)
        if chosen.any() and not chosen.all():
            yield Fold(tuple(left_out), chosen, search(goal(questions, ~chosen)))


def standard_error(values: Floats) -> float:
    """Of the mean of independent values."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
