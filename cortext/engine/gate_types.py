"""What a gate is told and says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from cortext import _native
from cortext.engine.knobs import Knobs

__all__ = ["Channel", "GateSegment", "GateTerms", "GateVerdict", "decide"]

Channel = Literal["text", "thinking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSegment:
    """A piece of a stream: a sentence, or some 120 characters of a long one.

    start, end: where it stands in what was fed to its channel, in characters, the end excluded.
    """

    text: str
    start: int
    end: int
    channel: Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTerms:
    """What the rule is told about a segment; 0 to 1 unless said otherwise.

    relevance: how likely the best that was found answers the segment.
    novelty: how far that is from all that is active: 1 - the greatest cosine to what is in the
        context, staged for this stream or, by its activation, in working memory.
    utility: the share of the segment that asks, or 1 when the message corrects one that is known.
    overlap: how much of the message is in the context or was staged: 1 for the message itself, else
        the share of its runs of three words, or how nearly it says the same.
    affect: how moved the segment sounds, by the model, beside example sentences in English.
    drift: 1 - cosine to the segment at which the gate last interrupted, 0 to 2.
    since: segments since that one, from 0 on; infinite before the first.
    boundary: how certain it is that a topic, a paragraph or the turn begins or ends here.
    """

    relevance: float
    novelty: float
    utility: float
    overlap: float
    affect: float
    drift: float
    since: float
    boundary: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """Every term of the rule, and what comes of it.

    bar: relevance that is asked for.  refractory: added soon after an interruption.  ease: taken
        off at a boundary.  margin: relevance - bar - refractory + ease.  worth: the greater of
        novelty and utility.
    should_interrupt: margin >= 0, worth >= 0.59 and overlap < 0.6.
    at_boundary: boundary >= 0.5.
    should_stage: it interrupts, or would but for the pause and is at a boundary.
    """

    bar: float
    refractory: float
    ease: float
    margin: float
    worth: float
    should_interrupt: bool
    at_boundary: bool
    should_stage: bool


def decide(terms: GateTerms, knobs: Knobs | None = None) -> GateVerdict:
    """The gate's rule: a pure function of its terms and the knobs.

    Each term pulls one way whatever the others are: more relevance, novelty, utility, affect,
    drift, segments since the last interruption and boundary never speak against an interruption,
    more overlap never for it.  What is out of range, or no number, counts as the end of the range
    that speaks against one.
    """
    used = knobs or Knobs()
    view = _native.ViewRow(**asdict(terms))
    found = _native.decide(view, (used.focus, used.sensitivity, used.stability))
    return GateVerdict(**found._asdict())
