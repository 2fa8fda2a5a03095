"""The engine's score in numpy, from what its stages say, so that other weights can be tried.

csrc/recall/ct_fuse.c is the original.  What stands here holds for messages that are embedded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import cortext
from cortext.engine import STAGES, Stage
from support.haystacks import Question

__all__ = ["CURRENT", "Features", "Floats", "Weights", "features", "lent", "recreation_error"]

Floats = npt.NDArray[np.float64]


class Weights(NamedTuple):
    """Of the match in context, `own` is the message's own part; what others add is taken off or on.

    around: times the words that neighbours lend.  The engine has no such factor: there it is 1.
    """

    own: float
    lexical: float
    around: float
    speaker: float
    date: float
    question: float


CURRENT = Weights(own=0.2, lexical=0.10, around=1, speaker=0.05, date=0.05, question=0.04)
REACHABLE = 1 + CURRENT.lexical + CURRENT.speaker + CURRENT.date
ROUNDING = 1e-9
LENT = (0.84, 0.6)  # by a message 1, 2 places away; csrc/recall/ct_gather.c

# Neither changes a score's parts: one ends the list, the other moves what was replaced.
USED: tuple[Stage, ...] = tuple(stage for stage in STAGES if stage not in ("cut", "supersession"))


@dataclass(frozen=True, slots=True)
class Features:
    """What the stages say of every message of a store for one question, in the engine's order.

    together, alone: the match of the message in its context, and by itself.
    lexical, around: BM25 of the message, and what its neighbours lend, relative to the best.
    foreign: how much more the message's own words count because the model cannot read all of the
        query; 0 if it can.
    """

    ids: npt.NDArray[np.int64]
    uids: npt.NDArray[np.str_]
    together: Floats
    alone: Floats
    lexical: Floats
    around: Floats
    speaker: Floats
    date: Floats
    question: Floats
    foreign: Floats
    score: Floats  # the engine's

    def scores(self, weights: Weights) -> Floats:
        """What orders the messages, but for a divisor that is the same for all."""
        words = np.maximum(self.lexical, weights.around * self.around)
        meaning = (1 - weights.own) * self.together + weights.own * self.alone
        found: Floats = (
            meaning
            + weights.lexical * words
            + weights.speaker * self.speaker
            + weights.date * self.date
            - weights.question * self.question
            + self.foreign * self.lexical
        )
        return found


def features(engine: cortext.Engine, question: Question) -> Features:
    """Recall the whole store.

    The whole, so that every message is read and looked at in its context: what is returned does not
    depend on the weights of today, and the words of all neighbours are known.
    """
    hits = engine.recall(
        question.text,
        limit=engine.stats().messages,
        stages=USED,
        reference_time=question.time,
        collapse=False,
        attach=False,
        explain=True,
        standing_limit=0,
    ).hits
    scores = [hit.scores for hit in hits if hit.scores is not None]
    dense = _numbers([of.dense for of in scores])
    own = _numbers([of.late for of in scores])
    context = _numbers([of.context for of in scores])
    lexical = np.nan_to_num(_numbers([of.lexical for of in scores]))
    borrowed = lent(
        [(hit.session, hit.id) for hit in hits],
        {hit.id: words for hit, words in zip(hits, lexical.tolist(), strict=True)},
    )
    best = max(lexical.max(initial=0), np.finfo(float).tiny)
    read = Features(
        ids=np.array([hit.id for hit in hits], dtype=np.int64),
        uids=np.array([hit.uid or "" for hit in hits], dtype=np.str_),
        together=np.where(np.isnan(context), dense, context),
        alone=np.where(np.isnan(own), dense, own),
        lexical=lexical / best,
        around=borrowed / best,
        speaker=_numbers([of.speaker for of in scores]),
        date=_numbers([of.date for of in scores]),
        question=_numbers([of.question for of in scores]),
        foreign=np.zeros(len(hits)),
        score=_numbers([hit.score for hit in hits]),
    )
    return replace(read, foreign=np.full(len(hits), _foreign(read)))


def lent(places: Sequence[tuple[str, int]], words: Mapping[int, float]) -> Floats:
    """What the neighbours of messages lend them, the best of each.

    places: (session, id) of messages, among them all of these sessions.  words: id -> BM25.
    """
    sessions: dict[str, list[int]] = defaultdict(list)
    for session, id in sorted(places, key=lambda place: place[1]):
        sessions[session].append(id)
    best = dict.fromkeys(words, 0.0)
    for ids in sessions.values():
        for away, share in enumerate(LENT, 1):
            for one, other in zip(ids, ids[away:], strict=False):
                best[one] = max(best[one], share * words[other])
                best[other] = max(best[other], share * words[one])
    return _numbers([best[id] for _, id in places])


def recreation_error(of: Features) -> float:
    """How far the score that is re-created with the weights of today is from the engine's, at most.

    The engine's is divided by what can be reached, and no less than 0.
    """
    score = np.maximum(of.scores(CURRENT) / (REACHABLE + of.foreign), 0)
    return float(np.abs(score - of.score).max(initial=0))


def _foreign(of: Features) -> float:
    """The share of foreign words, which no stage says, from the engine's scores.

    One unknown for all messages: if the score is re-created otherwise, no value of it fits them.
    """
    kept = of.score > 0
    factor = (of.score - of.lexical)[kept]
    square = float(factor @ factor)
    if square == 0:
        return 0
    share = float(factor @ (of.scores(CURRENT) - REACHABLE * of.score)[kept]) / square
    return share if share > ROUNDING else 0


def _numbers(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
