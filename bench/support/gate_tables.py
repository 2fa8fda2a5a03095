"""What a gate run found, as tables and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from support import gate_scores as scores
from support.gate_feeding import Fed, Timed
from support.gate_scores import Bar, Evidence, Labels, Point, Share
from support.gates import Decision
from support.metrics import percentile, summarise
from support.report import figure
from support.streams import Kind, Stream

__all__ = ["Found", "Source"]

KINDS: dict[Kind, str] = {
    "about": "about something",
    "foreign": "about another store",
    "known": "known already",
    "unrelated": "unrelated",
    "chat": "all",
}
CHANNELS = (None, "thinking", "text")
MOST_FALSE = 3.0  # interruptions per 100 unrelated segments
LEAST_STAGED = 0.75  # of what recall finds
MOST_IN_CHAT = 15.0  # interruptions per 100 segments
MOST_FEED_US = 50.0
MOST_BEYOND_ENCODE_MS = 5.0


@dataclass(slots=True)
class Source:
    """The streams of one kind, and what their gates did."""

    name: str
    fed: list[Fed] = field(default_factory=list)
    gold: dict[str, frozenset[str]] = field(default_factory=dict)
    recalled: dict[str, frozenset[str]] = field(default_factory=dict)
    labelled: list[Stream] = field(default_factory=list)  # those of `fed`, where pieces have labels
    asked: str = ""  # what recall was asked

    def evidence(self) -> Evidence | None:
        """None where no stream has evidence."""
        found = scores.evidence(self.fed, self.gold, self.recalled) if self.gold else None
        return found if found and found.streams else None

    def labels(self) -> Labels | None:
        """None where there are none."""
        if not self.labelled:
            return None
        return scores.labels(zip(self.labelled, self.fed, strict=True))

    def interrupts(self, kind: Kind, channel: str | None = None) -> Share:
        """Of one kind of segments."""
        return scores.interrupts(self._decisions(), kind, channel)

    def total(self, channel: str | None = None) -> Share:
        """Of all segments."""
        return scores.total(self._decisions(), channel)

    def features(self) -> Iterator[dict[str, Any]]:
        """Of each decision: its terms and what is known of it."""
        for stream in self.fed:
            wanted = self.gold.get(stream.name, frozenset())
            for decision in stream.decisions:
                gold = decision.gold or wanted
                yield {
                    "source": self.name,
                    "stream": decision.stream,
                    "piece": decision.place,
                    "channel": decision.channel,
                    "kind": decision.kind,
                    "about": decision.kind == "about",
                    "interrupts": decision.interrupts,
                    "staged": len(decision.staged),
                    "best_is_evidence": decision.staged[0] in gold if decision.staged else None,
                    **decision.terms,
                }

    def curve(self) -> list[Point]:
        """What higher bars would do."""
        return scores.sweep(self.fed, self.gold) if self.gold else []

    def _decisions(self) -> list[Decision]:
        return [decision for stream in self.fed for decision in stream.decisions]


@dataclass(slots=True)
class Found:
    """Everything that was measured."""

    sources: list[Source] = field(default_factory=list)
    timed: dict[str, Timed] = field(default_factory=dict)  # the paced one first

    def bars(self) -> list[Bar]:
        """What was asked for, and what came."""
        bars = []
        for source in self.sources:
            if source.interrupts("chat").n:
                share = 100 * source.total().value
                bars.append(Bar(f"{source.name}: interrupts per 100", share, MOST_IN_CHAT))
                continue
            found = source.evidence()
            if found:
                name = f"{source.name}: staged against recalled"
                bars.append(Bar(name, found.ratio, LEAST_STAGED, at_least=True))
            false = source.interrupts("unrelated")
            if false.n:
                name = f"{source.name}: false per 100 unrelated"
                bars.append(Bar(name, 100 * false.value, MOST_FALSE))
        if self.timed:
            paced = next(iter(self.timed.values()))
            feed = percentile(paced.feed_us, 0.99) if paced.feed_us else math.nan
            bars.append(Bar("feed p99", feed, MOST_FEED_US, unit="us"))
            beyond = percentile(paced.beyond_encode, 0.5) if paced.delay else math.nan
            name = "decision beyond its encode, median"
            bars.append(Bar(name, beyond, MOST_BEYOND_ENCODE_MS, unit="ms"))
        return bars

    def show(self, console: Console) -> None:
        """Print everything."""
        for table in (
            _evidence_table(self.sources),
            _interrupts_table(self.sources),
            _labels_table(self.sources),
            _times_table(self.timed),
            _bars_table(self.bars()),
        ):
            if table.row_count:
                console.print(table)

    def document(self) -> dict[str, Any]:
        """The JSON form; NaN is null."""
        found = {
            "sources": [_source_document(source) for source in self.sources],
            "times": {name: _times_document(timed) for name, timed in self.timed.items()},
            "bars": [{**asdict(bar), "met": bar.met} for bar in self.bars()],
        }
        plain: dict[str, Any] = _plain(found)
        return plain


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left", no_wrap=True)
    return table


def _evidence_table(sources: Sequence[Source]) -> Table:
    table = _table(
        "Evidence staged before a stream ends, against recall at the same k",
        "",
        "k",
        "streams",
        "staged",
        "recalled",
        "ratio",
        "95%",
        "of messages",
        "bytes p50",
        "p95",
        "max",
    )
    for source in sources:
        sizes = [figure(value, 0) for value in scores.bytes_staged(source.fed)]
        limit = str(source.fed[0].limit) if source.fed else ""
        found = source.evidence()
        if found is None:
            table.add_row(source.name, limit, str(len(source.fed)), *[""] * 5, *sizes)
            continue
        table.add_row(
            source.name,
            limit,
            str(found.streams),
            figure(found.staged),
            figure(found.recalled),
            figure(found.ratio),
            _range(found.interval, 3),
            f"{found.messages.count} of {found.messages.n}",
            *sizes,
        )
    return table


def _interrupts_table(sources: Sequence[Source]) -> Table:
    table = _table("Interruptions", "", "segments", "interrupted", "per 100", "95%")
    for source in sources:
        kinds = [kind for kind in KINDS if source.interrupts(kind).n]
        for kind in kinds:
            for channel in CHANNELS:
                share = source.interrupts(kind, channel)
                if channel is None:
                    _share_row(table, f"{source.name}: {KINDS[kind]}", share)
                elif 0 < share.n < source.interrupts(kind).n:
                    _share_row(table, f"  {channel}", share)
        if len(kinds) > 1:
            _share_row(table, f"{source.name}: all", source.total())
    return table


def _share_row(table: Table, name: str, share: Share) -> None:
    low, high = share.interval
    per_100 = figure(100 * share.value, 1)
    interval = _range((100 * low, 100 * high), 1)
    table.add_row(name, str(share.n), str(share.count), per_100, interval)


def _labels_table(sources: Sequence[Source]) -> Table:
    table = _table("Interruptions against the labels", "", "count", "of", "share", "95%")
    for source in sources:
        for name, share in _label_shares(source).items():
            interval = _range(share.interval, 3)
            cells = (str(share.count), str(share.n), figure(share.value), interval)
            table.add_row(f"{source.name}: {name}", *cells)
    return table


def _times_table(timed: Mapping[str, Timed]) -> Table:
    table = _table("Times", "", "n", "p50", "p90", "p95", "p99", "max")
    for name, times in timed.items():
        for row, values in _times(times).items():
            if not values:
                continue
            found = summarise(values)
            digits = 1 if row.endswith(" us") else 2
            cells = (found.p50, found.p90, found.p95, found.p99, found.max)
            table.add_row(f"{name}: {row}", str(found.n), *(figure(v, digits) for v in cells))
        if times.skipped:
            table.add_row(f"{name}: segments never decided", str(times.skipped))
    return table


def _times(times: Timed) -> dict[str, list[float]]:
    return {
        "call, us": times.feed_us,
        "segment end to decision, ms": times.delay,
        "of it before it was looked at, ms": times.waited,
        "of it encode, ms": times.encode,
        "of it search, ms": times.search,
        "all but its encode, ms": times.beyond_encode,
    }


def _bars_table(bars: Sequence[Bar]) -> Table:
    table = _table("Bars", "", "measured", "bar", "")
    for bar in bars:
        met = {True: "met", False: "missed", None: "not measured"}[bar.met]
        bound = f"{'at least' if bar.at_least else 'at most'} {bar.bound:g} {bar.unit}".rstrip()
        table.add_row(bar.name, figure(bar.value, 3 if bar.at_least else 2), bound, met)
    return table


def _source_document(source: Source) -> dict[str, Any]:
    found = source.evidence()
    p50, p95, most = scores.bytes_staged(source.fed)
    document: dict[str, Any] = {
        "name": source.name,
        "streams": len(source.fed),
        "k": source.fed[0].limit if source.fed else None,
        "evidence": found and {**asdict(found), "recall asked": source.asked},
        "bytes": {"p50": p50, "p95": p95, "max": most},
        "interrupts": {
            channel or "both": {
                KINDS[kind]: _share_document(source.interrupts(kind, channel))
                for kind in KINDS
                if source.interrupts(kind, channel).n
            }
            for channel in CHANNELS
            if source.total(channel).n
        },
        "total": _share_document(source.total()),
        "curve": [asdict(point) for point in source.curve()],
    }
    labels = {name: _share_document(share) for name, share in _label_shares(source).items()}
    return document | ({"labels": labels} if labels else {})


def _label_shares(source: Source) -> dict[str, Share]:
    labels = source.labels()
    if labels is None:
        return {}
    return {
        "precision": labels.precision,
        "recall": labels.recall,
        "known already, interrupted": labels.known,
    }


def _share_document(share: Share) -> dict[str, Any]:
    return {"count": share.count, "n": share.n, "value": share.value, "interval": share.interval}


def _times_document(times: Timed) -> dict[str, Any]:
    rows = {name: asdict(summarise(values)) for name, values in _times(times).items() if values}
    return {**rows, "segments never decided": times.skipped}


def _range(interval: tuple[float, float], digits: int) -> str:
    low, high = interval
    return "" if math.isnan(low) else f"{figure(low, digits)} to {figure(high, digits)}"


def _plain(value: Any) -> Any:
    """For JSON: rounded, without NaN."""
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 4)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
