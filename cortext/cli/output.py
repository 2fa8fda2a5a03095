"""What several commands print: messages and hits as JSON, and tables.

On a terminal a table is drawn to its width.  Anywhere else it is one line a row, columns separated
by tabs, without a heading and never cut, so that cut, sort and wc can work with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cortext import Hit, Message, Recall, Standing
from cortext.cli import terminal
from cortext.cli.times import iso

__all__ = ["Column", "message_fields", "number", "print_table", "recall_fields", "size"]


# What a table's text needs beside its other columns, and what each of those takes.
TEXT_WIDTH = 32
COLUMN_WIDTH = 8


def message_fields(message: Message) -> dict[str, Any]:
    """Return a message as JSON output has it; `cortext ingest` reads the same."""
    fields: dict[str, Any] = {
        "id": message.id,
        "uid": message.uid,
        "session": message.session,
        "role": message.role,
        "time": iso(message.time),
        "source": message.source,
        "metadata": None if message.metadata is None else dict(message.metadata),
        "text": message.text,
    }
    return fields


def hit_fields(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON output has it; the scores by stage only when they were asked for."""
    fields = {
        "score": hit.score,
        **message_fields(hit),
        "excerpt": hit.excerpt,
        "duplicates": hit.duplicates,
        "before": [message_fields(message) for message in hit.before],
        "after": [message_fields(message) for message in hit.after],
        "supersedes": list(hit.supersedes),
        "superseded_by": list(hit.superseded_by),
    }
    if hit.scores is not None:
        fields["scores"] = asdict(hit.scores)
    return fields


def standing_fields(standing: Standing) -> dict[str, Any]:
    """Return a standing directive as JSON output has it."""
    return {
        "directive": standing.directive,
        "span": list(standing.span),
        "relevance": standing.relevance,
        "is_hit": standing.is_hit,
        **message_fields(standing),
    }


def recall_fields(query: str, recall: Recall) -> dict[str, Any]:
    """Return an answer as JSON output has it."""
    return {
        "query": query,
        "hits": [hit_fields(hit) for hit in recall.hits],
        "confidence": recall.confidence,
        "standing": [standing_fields(standing) for standing in recall.standing],
        "pending": recall.pending,
        "timings": asdict(recall.timings),
    }


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and how it behaves on a terminal."""

    name: str
    right: bool = False
    wide: bool = False
    whole: bool = False


def print_table(columns: list[Column], rows: Iterable[Sequence[str | Text]]) -> None:
    """Print rows for whoever reads standard output."""
    if not terminal.is_terminal():
        for row in rows:
            terminal.write_line("\t".join(terminal.one_line(str(cell)) for cell in row))
        return
    console = terminal.output()
    others = len(columns) - 1
    if others > 1 and console.width < TEXT_WIDTH + COLUMN_WIDTH * others:
        print_stacked(console, rows)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            overflow="fold" if column.wide else "ellipsis",
            no_wrap=not column.wide,
            max_width=None if column.wide or column.whole else 20,
            ratio=1 if column.wide else None,
        )
    for row in rows:
        table.add_row(*map(as_text, row))
    console.print(table)


def print_stacked(console: Console, rows: Iterable[Sequence[str | Text]]) -> None:
    """Print rows for a narrow terminal: the last column below the others."""
    for row in rows:
        *cells, last = map(as_text, row)
        console.print(Text("  ").join(cells), style="dim")
        console.print(Padding(last, (0, 0, 0, 2)))


def as_text(cell: str | Text) -> Text:
    """Return a cell as it may be printed."""
    return cell if isinstance(cell, Text) else Text(terminal.one_line(cell))


def number(value: float | None, digits: int) -> str:
    """Return a score, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{count} B" if unit == "B" else f"{value:,.1f} {unit}"
