"""From a gate's decisions to figures: evidence staged, interruptions that nobody needed, bars."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from support.gate_feeding import Fed
from support.gates import Decision
from support.metrics import mean, percentile, ratio_interval, wilson
from support.streams import Kind, Stream

__all__ = ["Bar", "Evidence", "Labels", "Point", "Share", "bytes_staged", "evidence", "interrupts"]
__all__ += ["labels", "sweep", "total"]

Gold = Mapping[str, Collection[str]]  # stream -> uids


@dataclass(frozen=True, slots=True)
class Share:
    """Some of many."""

    count: int
    n: int

    @property
    def value(self) -> float:
        """NaN of nothing."""
        return self.count / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share, at 95%, as if all were independent."""
        return wilson(self.count, self.n)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What streams staged of their evidence, and what recall found of it; means over streams."""

    streams: int
    staged: float
    recalled: float
    ratio: float
    interval: tuple[float, float]
    messages: Share  # staged, of all evidence


@dataclass(frozen=True, slots=True)
class Labels:
    """Interruptions against the labels of streams, by piece.

    right: interrupted with a message that the piece names.  wrong: with others, or where the piece
    names none.  missed: names messages, and none of them was staged there or before.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0
    known: Share = Share(0, 0)  # interrupted though the context has it, of all such pieces

    @property
    def precision(self) -> Share:
        """Right ones, of all interruptions."""
        return Share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> Share:
        """Right ones, of all that were wanted."""
        return Share(self.right, self.right + self.missed)


@dataclass(frozen=True, slots=True)
class Point:
    """What would be with a bar that is higher by `shift`."""

    shift: float
    staged: float
    false_per_100: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure and what it has to keep to."""

    name: str
    value: float
    bound: float
    at_least: bool = False
    unit: str = ""

    @property
    def met(self) -> bool | None:
        """None where there is no figure."""
        if math.isnan(self.value):
            return None
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def interrupts(decisions: Iterable[Decision], kind: Kind, channel: str | None = None) -> Share:
    """Segments of a kind that interrupted, of all of that kind."""
    of = [d for d in decisions if d.kind == kind and channel in (None, d.channel)]
    return Share(sum(decision.interrupts for decision in of), len(of))


def total(decisions: Iterable[Decision], channel: str | None = None) -> Share:
    """Segments that interrupted, of all."""
    of = [decision for decision in decisions if channel in (None, decision.channel)]
    return Share(sum(decision.interrupts for decision in of), len(of))


def evidence(fed: Sequence[Fed], gold: Gold, recalled: Gold) -> Evidence:
    """Compare what was staged with what recall found; streams without evidence do not count."""
    pairs, staged_messages, messages = [], 0, 0
    for stream in fed:
        wanted = set(gold[stream.name])
        if not wanted:
            continue
        here = len(wanted & stream.staged)
        found = len(wanted.intersection(recalled[stream.name]))
        pairs.append((here / len(wanted), found / len(wanted)))
        staged_messages += here
        messages += len(wanted)
    ours, theirs = mean([pair[0] for pair in pairs]), mean([pair[1] for pair in pairs])
    return Evidence(
        streams=len(pairs),
        staged=ours,
        recalled=theirs,
        ratio=ours / theirs if theirs else math.nan,
        interval=ratio_interval(pairs),
        messages=Share(staged_messages, messages),
    )


def bytes_staged(fed: Sequence[Fed]) -> tuple[float, float, float]:
    """Of a stream: p50, p95 and the most; NaN of nothing."""
    if not fed:
        return math.nan, math.nan, math.nan
    sizes = [float(stream.bytes) for stream in fed]
    return percentile(sizes, 0.5), percentile(sizes, 0.95), max(sizes)


def labels(streams: Iterable[tuple[Stream, Fed]]) -> Labels:
    """Hold interruptions against what the pieces say."""
    right = wrong = missed = violated = known = 0
    for stream, fed in streams:
        by_place: dict[int, list[Decision]] = {}
        for decision in fed.decisions:
            by_place.setdefault(decision.place, []).append(decision)
        staged: set[str] = set()
        for place, piece in enumerate(stream.pieces):
            came = [decision for decision in by_place.get(place, []) if decision.interrupts]
            brought = {uid for decision in came for uid in decision.staged}
            hit = bool(brought & piece.gold)
            had = bool(staged & piece.gold)
            right += hit
            wrong += bool(came) and not hit
            missed += bool(piece.gold) and not hit and not had
            known += piece.kind == "known"
            violated += piece.kind == "known" and bool(came)
            for decision in by_place.get(place, []):
                staged.update(decision.staged)
    return Labels(right, wrong, missed, Share(violated, known))


def sweep(fed: Sequence[Fed], gold: Gold) -> list[Point]:
    """What a higher bar would stage, by what each decision had above its own.

    Only what was staged or interrupted is in it: below its bar a run stages nothing.  What a
    decision would withhold could still have come with a later one, which was not asked for it,
    so a higher bar stages rather more than this says.
    """
    unrelated = sum(d.kind == "unrelated" for stream in fed for d in stream.decisions)
    came = [d for stream in fed for d in stream.decisions if d.interrupts or d.staged]
    wanted = {stream.name: set(gold[stream.name]) for stream in fed if gold[stream.name]}
    if not wanted or not unrelated:
        return []
    points = []
    for shift in sorted({0.0, *(round(max(0.0, d.above), 3) for d in came)}):
        staged: dict[str, set[str]] = {name: set() for name in wanted}
        false = 0
        for decision in came:
            if decision.above < shift - 1e-3 / 2:  # of margins that were rounded
                continue
            false += decision.interrupts and decision.kind == "unrelated"
            if decision.stream in wanted:
                staged[decision.stream].update(wanted[decision.stream] & set(decision.staged))
        shares = [len(staged[name]) / len(uids) for name, uids in wanted.items()]
        points.append(Point(shift, mean(shares), 100 * false / unrelated))
    return points
