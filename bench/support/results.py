"""What a run found: timings, ratios between them, single figures; as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from support.metrics import Summary, summarise
from support.report import figure

__all__ = ["Results"]

MILLISECONDS = 1000.0
MICROSECONDS_BELOW = 0.1  # such medians are shown with one digit more


@dataclass(frozen=True, slots=True)
class Timing:
    section: str
    name: str
    summary: Summary  # milliseconds


@dataclass(frozen=True, slots=True)
class Ratio:
    section: str
    name: str
    to: str
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Figure:
    section: str
    name: str
    value: float
    unit: str


@dataclass(slots=True)
class Results:
    """Collects; the order of calls is the order of the tables."""

    timings: list[Timing] = field(default_factory=list)
    ratios: list[Ratio] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def time(self, section: str, name: str, seconds: Sequence[float]) -> None:
        """Add a timing measured in seconds."""
        scaled = [value * MILLISECONDS for value in seconds]
        self.timings.append(Timing(section, name, summarise(scaled)))

    def compare(self, section: str, name: str, to: str) -> None:
        """Add the ratio of two timings of a section, which were measured interleaved."""
        ours, theirs = self.summary(section, name), self.summary(section, to)
        self.ratios.append(
            Ratio(section, name, to, ours.p50 / theirs.p50, ours.p95 / theirs.p95),
        )

    def figure(self, section: str, name: str, value: float, unit: str) -> None:
        """Add a single figure."""
        self.figures.append(Figure(section, name, value, unit))

    def summary(self, section: str, name: str) -> Summary:
        """A timing that was added, in milliseconds."""
        found = (row.summary for row in self.timings if (row.section, row.name) == (section, name))
        return next(found)

    def value(self, section: str, name: str) -> float | None:
        """A figure, if it was added."""
        found = (row.value for row in self.figures if (row.section, row.name) == (section, name))
        return next(found, None)

    def document(self) -> dict[str, Any]:
        """The JSON form; times are milliseconds."""
        return {
            "timings_ms": [
                {"section": row.section, "name": row.name, **_rounded(row.summary)}
                for row in self.timings
            ],
            "ratios": [
                {**asdict(row), "p50": round(row.p50, 3), "p95": round(row.p95, 3)}
                for row in self.ratios
            ],
            "figures": [{**asdict(row), "value": round(row.value, 3)} for row in self.figures],
        }

    def show(self, console: Console) -> None:
        """Print everything."""
        console.print(
            _table(
                "Milliseconds",
                ("", "n", "p50", "p90", "p95", "p99", "max"),
                ((row.section, (row.name, *_cells(row.summary))) for row in self.timings),
            )
        )
        console.print(
            _table(
                "Ratios, interleaved in this run",
                ("", "against", "p50", "p95"),
                (
                    (row.section, (row.name, row.to, figure(row.p50, 2), figure(row.p95, 2)))
                    for row in self.ratios
                ),
            )
        )
        console.print(
            _table(
                "Figures",
                ("", "value", "unit"),
                ((row.section, (row.name, figure(row.value, 1), row.unit)) for row in self.figures),
            )
        )


def _table(title: str, headings: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for index, heading in enumerate(headings):
        words = index == 0 or heading in ("against", "unit")
        table.add_column(heading, justify="left" if words else "right", no_wrap=True)
    last = None
    for section, cells in rows:
        if section != last:
            table.add_row(f"[bold]{section}[/bold]")
            last = section
        table.add_row(f"  {cells[0]}", *cells[1:])
    return table


def _cells(summary: Summary) -> list[str]:
    digits = 3 if summary.p50 < MICROSECONDS_BELOW else 2
    values = (summary.p50, summary.p90, summary.p95, summary.p99, summary.max)
    return [str(summary.n), *(figure(value, digits) for value in values)]


def _rounded(summary: Summary) -> dict[str, float]:
    return {name: round(value, 4) for name, value in asdict(summary).items()}
