"""How each figure of a scale run grows from size to size, beside how it is meant to grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from support.report import figure
from support.results import Results

__all__ = ["OPERATIONS", "Operation", "at", "document", "exponents", "show"]

Class = Literal["constant", "log", "linear"]
Share = Literal["p50", "p95"]


@dataclass(frozen=True, slots=True)
class Operation:
    """A row: where its figures are, and how they are meant to grow."""

    section: str
    name: str
    stated: Class
    unit: str = "ms"  # of a timing; anything else is a figure's


def _recalls() -> list[Operation]:
    return [
        Operation(f"recall, {kind}", name, stated)
        for kind in ("questions", "common words")
        for name, stated in _RECALL
    ]


_RECALL: tuple[tuple[str, Class], ...] = (
    ("whole call", "linear"),
    ("encode the query", "constant"),
    ("search (all but encode)", "linear"),
    ("of it dense", "linear"),
    ("of it lexical", "linear"),
    ("of it late", "log"),
    ("of it fetch", "log"),
)
MEMORY = "MB more than with an empty store"
OPERATIONS: tuple[Operation, ...] = (
    Operation("ingest, one at a time", "acknowledged", "log"),
    Operation("ingest, one at a time", "bare SQLite commit", "constant"),
    Operation("ingest, one at a time", "from acknowledged to embedded", "constant"),
    Operation("bulk", "ingest_many, one call", "log"),
    Operation("consolidate, 100 new", "new messages", "linear"),
    *_recalls(),
    *(
        Operation(f"recall, {kind}", "search (all but encode)", "linear")
        for kind in ("one session", "one role", "a time range")
    ),
    Operation("open", "model loaded already", "linear"),
    Operation("open", "fresh process: open", "linear"),
    Operation("open", "fresh process: first recall", "linear"),
    Operation("resident", "after open", "linear", MEMORY),
    Operation("resident", "after 20 recalls", "linear", MEMORY),
    Operation("store", "on disk", "constant", "bytes a message"),
)


def at(section: str, size: int) -> str:
    """The name of a section of the results, at one size."""
    return f"{section}, {size:,} messages"


def exponents(sizes: Sequence[int], values: Sequence[float]) -> list[float | None]:
    """Slopes between neighbours on logarithmic scales: 0 is constant, 1 is linear."""
    points = list(zip(sizes, values, strict=True))
    return [
        math.log(y1 / y0) / math.log(x1 / x0) if y0 > 0 and y1 > 0 else None
        for (x0, y0), (x1, y1) in pairwise(points)
    ]


def document(results: Results, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """The JSON form of both tables."""
    return [
        {
            "section": row.section,
            "name": row.name,
            "unit": row.unit,
            "of": share,
            "stated": row.stated,
            "values": [round(value, 4) for value in values],
            "exponents": [
                None if slope is None else round(slope, 3) for slope in exponents(sizes, values)
            ],
        }
        for share, row, values in _rows(results, sizes)
    ]


def show(console: Console, results: Results, sizes: Sequence[int]) -> None:
    """Print medians and tails, a table each; what has one value only is in the first."""
    for share, title in (("p50", "Growth: medians and figures"), ("p95", "Growth: p95")):
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for heading in ("operation", "unit"):
            table.add_column(heading, no_wrap=True)
        for size in sizes:
            table.add_column(f"{size:,}", justify="right", no_wrap=True)
        table.add_column("exponents", no_wrap=True)
        table.add_column("stated", no_wrap=True)
        last = None
        for of, row, values in _rows(results, sizes):
            if of != share:
                continue
            if row.section != last:
                table.add_row(f"[bold]{row.section}[/bold]")
                last = row.section
            slopes = exponents(sizes, values)
            table.add_row(
                f"  {row.name}",
                row.unit.split(" more than")[0],
                *(figure(value, 2) for value in values),
                " ".join("-" if slope is None else f"{slope:.2f}" for slope in slopes),
                row.stated,
            )
        console.print(table)


def _rows(results: Results, sizes: Sequence[int]) -> list[tuple[Share, Operation, list[float]]]:
    shares: tuple[Share, ...] = ("p50", "p95")
    return [
        (share, row, [_value(results, row, size, share) for size in sizes])
        for share in shares
        for row in OPERATIONS
        if share == "p50" or row.unit == "ms"
    ]


def _value(results: Results, row: Operation, size: int, share: Share) -> float:
    section = at(row.section, size)
    if row.unit != "ms":
        value = results.value(section, row.name)
        assert value is not None, row
        return value
    summary = results.summary(section, row.name)
    return summary.p50 if share == "p50" else summary.p95
