"""What recall finds of the evidence, on data sets whose evidence is known.

    python bench/quality.py --format locomo CONVERSATION.json...
    python bench/quality.py --format longmemeval FOLDER
    python bench/quality.py --format corrections | needles | languages
    python bench/quality.py --format directives

Through the public API only: one store for each haystack, one message for each turn.  See README.md
for the formats and the figures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table
from support import (
    corrections,
    directives,
    environment,
    languages,
    locomo,
    longmemeval,
    needles,
    options,
    rankers,
    report,
)
from support.evaluation import Score, evaluate
from support.haystacks import DataError, Haystack, Reader
from support.scoring import (
    Means,
    score_corrections,
    score_found,
    score_locomo,
    score_longmemeval,
)

from cortext import models


class Layout(NamedTuple):
    read: Reader
    score: Score
    depth: int  # hits asked for; metrics look at the first of them
    own: bool = False  # the data is part of the project: no PATH


LAYOUTS = {
    "locomo": Layout(locomo.read, score_locomo, 100),
    "longmemeval": Layout(longmemeval.read, score_longmemeval, 50),
    "corrections": Layout(lambda _: corrections.read(), score_corrections, 50, own=True),
    "needles": Layout(lambda _: needles.read(), score_found, 10, own=True),
    "languages": Layout(lambda _: languages.read(), score_found, 10, own=True),
}


DIRECTIVES = "directives"  # nothing is ranked: it has figures of its own


def parse_rows(_context: click.Context, _option: click.Parameter, value: str) -> list[str]:
    rows = [part.strip() for part in value.split(",")]
    unknown = set(rows) - {*rankers.ABLATION, *rankers.EXTRA_ROWS}
    if unknown:
        raise click.BadParameter(f"no such row: {', '.join(sorted(unknown))}")
    return rows


@click.command(help=__doc__, context_settings={"show_default": True})
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--format", "layout", type=click.Choice([*LAYOUTS, DIRECTIVES]), required=True)
@click.option("--limit", type=click.IntRange(1), help="Ask only so many questions, the first.")
@click.option("--rows", callback=parse_rows, default=",".join(rankers.ROWS), help="To compare.")
@click.option("--ablate", is_flag=True, help="Compare the engine without each of its stages.")
@options.model
@options.embeddings
@options.stores
@options.json_path
@click.option("--each", is_flag=True, help="Put every question's scores into the JSON.")
def main(
    paths: tuple[Path, ...],
    layout: str,
    limit: int | None,
    rows: list[str],
    ablate: bool,
    model: str | None,
    cache: str | None,
    keep: Path | None,
    json_path: str | None,
    each: bool,
) -> None:
    console = report.tables(json_path)
    rows = list(rankers.ABLATION) if ablate else rows
    if layout == DIRECTIVES:
        if paths:
            raise click.UsageError(f"{layout} has data of its own, no PATH")
        measure_directives(console, model, cache, json_path, each)
        return
    read, score, depth, own = LAYOUTS[layout]
    if own == bool(paths):
        raise click.UsageError(f"{layout} {'has data of its own, no' if own else 'needs a'} PATH")
    try:
        haystacks = list(first_questions(read(paths), limit))
    except DataError as error:
        raise click.ClickException(str(error)) from error
    if not haystacks:
        raise click.ClickException("no questions in these files")
    about = environment.describe()
    loaded = models.load(model, cache=cache)
    configuration = {
        "format": layout,
        "haystacks": len(haystacks),
        "turns": sum(len(haystack.turns) for haystack in haystacks),
        "questions": sum(len(haystack.questions) for haystack in haystacks),
        "limit": limit,
        "recall limit": depth,
        "model": loaded.spec.name,
        "cache": "on" if cache else "off",
        "kept stores": "on" if keep else "off",
    }
    report.header(console, about, configuration)
    began = time.monotonic()
    board = evaluate(haystacks, rows=rows, score=score, depth=depth, model=loaded, keep=keep)
    seconds = time.monotonic() - began
    means = board.means()
    if abstention := board.abstention():
        means["abstention"] = abstention
    for group, by_row in means.items():
        show(console, group, by_row)
    report.write_json(
        json_path,
        {
            "bench": "quality",
            **about,
            "configuration": configuration,
            "seconds": round(seconds, 1),
            "groups": means,
            **({"each": board.each} if each else {}),
        },
    )


def measure_directives(
    console: Console, model: str | None, cache: str | None, json_path: str | None, each: bool
) -> None:
    about = environment.describe()
    loaded = models.load(model, cache=cache)
    configuration = {
        "format": DIRECTIVES,
        "messages": len(directives.items()),
        "pairs": len(directives.pairs()),
        "model": loaded.spec.name,
        "cache": "on" if cache else "off",
    }
    report.header(console, about, configuration)
    groups, found = directives.measure(loaded)
    for group, by_row in groups.items():
        show(console, group, by_row)
    result = {"bench": "quality", **about, "configuration": configuration, "groups": groups}
    report.write_json(json_path, {**result, **({"each": found} if each else {})})


def first_questions(haystacks: Iterator[Haystack], limit: int | None) -> Iterator[Haystack]:
    """The haystacks with no more than `limit` questions in all."""
    left = limit
    for haystack in haystacks:
        if left is None:
            yield haystack
            continue
        if left == 0:
            return
        questions = haystack.questions[:left]
        left -= len(questions)
        yield replace(haystack, questions=questions)


def show(console: Console, group: str, by_row: Means) -> None:
    """Print one group of questions: a line a row, a column a metric."""
    first = next(iter(by_row.values()))
    names = [name for name in first if name != "n"]
    title = f"{group}: {first['n']:.0f}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row, values in by_row.items():
        cells = [report.figure(values[name], digits(name)) for name in names]
        table.add_row(row, *cells)
    console.print(table)


def digits(metric: str) -> int:
    """Decimal places of a metric: shares have three, tokens none."""
    return 0 if metric.startswith("tok") or metric in ("items", "known", "unanswerable") else 3


if __name__ == "__main__":
    main()
