"""Fit the weights of score fusion, and judge them on what they were not fitted on.

    python bench/fit.py --locomo FOLDER --longmemeval FOLDER

Weights are searched for on all conversations but one and scored on that one, and on each data set
and scored on the other.  See README.md for what is compared and for the figures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from support import environment, locomo, longmemeval, options, report
from support.evaluation import remember, stores
from support.fitting import (
    DEPTHS,
    GRID,
    Asked,
    Fold,
    Questions,
    cross_validate,
    goal,
    search,
    standard_error,
    sweep,
)
from support.fusion import CURRENT, ROUNDING, Floats, Weights, features, recreation_error
from support.haystacks import DataError, Haystack, Question

import cortext
from cortext import models
from cortext.models import Model

LOCOMO, LONGMEMEVAL = "LoCoMo", "LongMemEval"
FALSE = "false premise"
FOLDS = {LOCOMO: None, LONGMEMEVAL: 5}  # of a haystack with a hundred questions, of many with one

File = click.Path(exists=True, path_type=Path)


@click.command(help=__doc__, context_settings={"show_default": True})
@click.option(
    "--locomo",
    "locomo_paths",
    type=File,
    multiple=True,
    help="A conversation, or a folder of them; can be given more than once.",
)
@click.option("--longmemeval", "longmemeval_path", type=File, help="The folder of LongMemEval.")
@click.option("--limit-haystacks", type=click.IntRange(1), help="Of each set so many, the first.")
@click.option(
    "--only",
    type=File,
    help="Of LongMemEval only the haystacks that this file names: the first word of each line.",
)
@options.model
@options.embeddings
@options.stores
@options.json_path
def main(
    locomo_paths: tuple[Path, ...],
    longmemeval_path: Path | None,
    limit_haystacks: int | None,
    only: Path | None,
    model: str | None,
    cache: str | None,
    keep: Path | None,
    json_path: str | None,
) -> None:
    console = report.tables(json_path)
    try:
        sets = read(locomo_paths, longmemeval_path, only)
    except DataError as error:
        raise click.ClickException(str(error)) from error
    sets = {name: haystacks[:limit_haystacks] for name, haystacks in sets.items()}
    if not any(sets.values()):
        raise click.UsageError("no haystack with labelled evidence; see --locomo, --longmemeval")
    about = environment.describe()
    loaded = models.load(model, cache=cache)
    configuration = {
        **{f"{name} haystacks": len(haystacks) for name, haystacks in sets.items()},
        "goal": f"mean of R@{' and R@'.join(map(str, DEPTHS))} over turns",
        "weights today": line(CURRENT),
        "model": loaded.spec.name,
        "cache": "on" if cache else "off",
        "kept stores": "on" if keep else "off",
    }
    report.header(console, about, configuration)
    began = time.monotonic()
    gathered = gather(sets, loaded, keep)
    result: dict[str, Any] = {"recreated": show_recreated(console, gathered)}
    questions = {name: Questions.of(found.asked) for name, found in gathered.items()}
    fitted = {name: of for name, of in questions.items() if name in FOLDS}
    result["sweep"] = show_sweep(console, questions)
    result["left out"] = {
        name: show_folds(console, name, of, list(cross_validate(of, FOLDS[name])))
        for name, of in fitted.items()
    }
    result["sets"] = show_sets(console, questions, fitted)
    report.write_json(
        json_path,
        {
            "bench": "fit",
            **about,
            "configuration": configuration,
            "seconds": round(time.monotonic() - began, 1),
            **result,
        },
    )


def read(
    locomo_paths: Sequence[Path], longmemeval_path: Path | None, only: Path | None
) -> dict[str, list[Haystack]]:
    """The haystacks of each set that have a question to fit on."""
    files: list[Path] = []
    for path in locomo_paths:
        files += sorted(path.glob("*.json")) if path.is_dir() else [path]
    sets = {}
    if files:
        sets[LOCOMO] = list(locomo.read(tuple(files)))
    if longmemeval_path:
        sets[LONGMEMEVAL] = list(longmemeval.read((longmemeval_path,)))
        if only:
            lines = only.read_text(encoding="utf-8").splitlines()
            names = {line.split()[0] for line in lines if line.strip()}
            sets[LONGMEMEVAL] = [one for one in sets[LONGMEMEVAL] if one.name in names]
    return {
        name: [one for one in haystacks if any(one.answerable for one in labelled(one))]
        for name, haystacks in sets.items()
    }


def labelled(haystack: Haystack) -> Iterator[Question]:
    """The questions whose evidence is known."""
    return (one for one in haystack.questions if one.gold_turns)


@dataclass(slots=True)
class Gathered:
    """Questions of a set, and whether their scores could be re-created."""

    asked: list[Asked] = field(default_factory=list)
    hits: int = 0
    error: float = 0  # of a re-created score, at most
    moved: int = 0  # hits that the re-created order puts in another place

    def add(self, one: Asked) -> None:
        of = one.features
        order = np.lexsort((-of.ids, -of.scores(CURRENT)))
        self.asked.append(one)
        self.hits += len(order)
        self.error = max(self.error, recreation_error(of))
        self.moved += int((order != np.arange(len(order))).sum())


def gather(
    sets: Mapping[str, Sequence[Haystack]], model: Model, keep: Path | None
) -> dict[str, Gathered]:
    """Ask every question; a re-created score that is not the engine's is an error.

    Questions on a false premise become a set of their own, which is watched and never fitted on.
    """
    total = sum(sum(1 for _ in labelled(one)) for many in sets.values() for one in many)
    done = 0
    found: dict[str, Gathered] = {}
    with report.bars() as bar, stores(keep) as folder:
        asking, embedding = bar("questions"), bar("embedding")
        asking(done, total)
        for name, haystacks in sets.items():
            found[name] = Gathered()
            for haystack in haystacks:
                with cortext.open(folder / f"{haystack.name}.db", model=model) as engine:
                    remember(engine, haystack, embedding)
                    for question in labelled(haystack):
                        label = name if question.answerable else f"{name}, {FALSE}"
                        of = features(engine, question)
                        into = found.setdefault(label, Gathered())
                        into.add(Asked(haystack.name, of, question.gold_turns))
                        done += 1
                        asking(done, total)
    for name, gathered in found.items():
        if gathered.error > ROUNDING:
            raise click.ClickException(
                f"the score of {name} is not what the engine's is, by {gathered.error:.6f}: "
                "has its formula changed?"
            )
    return {name: gathered for name, gathered in found.items() if gathered.asked}


def show_recreated(console: Console, gathered: Mapping[str, Gathered]) -> dict[str, Any]:
    table = new_table(
        "The engine's score, re-created", "questions", "hits", "largest error", "moved"
    )
    rows = {}
    for name, of in gathered.items():
        table.add_row(
            name, f"{len(of.asked):,}", f"{of.hits:,}", f"{of.error:.0e}", f"{of.moved:,}"
        )
        rows[name] = {
            "questions": len(of.asked),
            "hits": of.hits,
            "largest error": of.error,
            "moved": of.moved,
        }
    console.print(table)
    return rows


def show_sweep(console: Console, questions: Mapping[str, Questions]) -> dict[str, Any]:
    """One weight at a time."""
    found = {name: sweep(goal(of, of.everything)) for name, of in questions.items()}
    for weight, values in GRID.items():
        now = getattr(CURRENT, weight)
        heads = [f"{value:g}{'*' if value == now else ''}" for value in values]
        table = new_table(f"{weight}, the others as today (* today)", *heads)
        for name, swept in found.items():
            table.add_row(name, *(report.figure(swept[weight][value]) for value in values))
        console.print(table)
    return {
        name: {weight: {f"{v:g}": r for v, r in row.items()} for weight, row in swept.items()}
        for name, swept in found.items()
    }


def show_folds(
    console: Console, name: str, questions: Questions, folds: Sequence[Fold]
) -> list[dict[str, Any]]:
    """What weights do for haystacks that they were not fitted on."""
    depths = [f"R@{k}{which}" for k in DEPTHS for which in ("", " today")]
    title = f"{name}: weights ({line(None)}) fitted on the others"
    table = new_table(title, "weights", "n", *depths, "gain", "± s.e.")
    today = questions.recall(CURRENT)
    held_out = np.full_like(today, np.nan)
    rows = []
    for fold in folds:
        fitted = questions.recall(fold.weights)[fold.chosen]
        held_out[fold.chosen] = fitted
        row = compare(fitted, today[fold.chosen])
        rows.append({"left out": fold.haystacks, "weights": fold.weights._asdict(), **row})
        label = (
            fold.haystacks[0] if len(fold.haystacks) == 1 else f"{len(fold.haystacks)} haystacks"
        )
        table.add_row(label, line(fold.weights), *cells(row))
    if folds:
        row = compare(held_out, today)
        rows.append({"left out": "each in turn", **row})
        table.add_row("all", "", *cells(row))
        console.print(table)
    return rows


def compare(fitted: Floats, today: Floats) -> dict[str, float]:
    """Two ways of ranking the same questions; the gain is that of the goal."""
    gain = (fitted - today).mean(axis=1)
    row: dict[str, float] = {"n": len(gain)}
    for column, k in enumerate(DEPTHS):
        row[f"R@{k}"] = float(fitted[:, column].mean())
        row[f"R@{k} today"] = float(today[:, column].mean())
    return {**row, "gain": float(gain.mean()), "standard error": error_or_none(gain)}


def error_or_none(values: Floats) -> Any:
    return standard_error(values) if len(values) > 1 else None


def cells(row: Mapping[str, float]) -> list[str]:
    return [report.figure(value, 0 if name == "n" else 3) for name, value in row.items()]


def show_sets(
    console: Console, questions: Mapping[str, Questions], fitted: Mapping[str, Questions]
) -> dict[str, Any]:
    """What weights that were fitted on one set do for the other, and those fitted on both."""
    aims = {name: goal(of, of.everything) for name, of in fitted.items()}
    found = {"today": CURRENT, "nothing but context": Weights(0, 0, 0, 0, 0, 0)}
    found |= {f"fitted on {name}": search(aim) for name, aim in aims.items()}
    if len(aims) > 1:
        found["fitted on both"] = search(lambda to: sum(aim(to) for aim in aims.values()))
    title = f"R@{' and R@'.join(map(str, DEPTHS))} on each set"
    table = new_table(title, line(None), *questions)
    rows: dict[str, Any] = {}
    for label, weights in found.items():
        means = {name: of.recall(weights).mean(axis=0) for name, of in questions.items()}
        cell = [" ".join(map(report.figure, mean)) for mean in means.values()]
        table.add_row(label, line(weights), *cell)
        rows[label] = {
            "weights": weights._asdict(),
            **{
                name: {f"R@{k}": float(value) for k, value in zip(DEPTHS, mean, strict=True)}
                for name, mean in means.items()
            },
        }
    console.print(table)
    return rows


def line(weights: Weights | None) -> str:
    """Weights in one cell of a table, or what they are called."""
    return " ".join(Weights._fields if weights is None else (f"{value:g}" for value in weights))


def new_table(title: str, *heads: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


if __name__ == "__main__":
    main()
