"""What the streaming gate brings up while a model thinks aloud, and what it disturbs.

    python bench/gate.py --format own --split dev
    python bench/gate.py --format locomo CONVERSATION.json...
    python bench/gate.py --format all CONVERSATION.json... --json gate.json --plot PICTURES

Streams of our own, whose every sentence is labelled; streams made from the questions of LoCoMo by a
recipe that sees no labels; and LoCoMo's sessions as ordinary chat.  Each is fed in pieces like
tokens.  See README.md for what each figure means.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from support import annotated, environment, locomo, options, report
from support.evaluation import stores
from support.gate_run import Plan, Run
from support.gate_tables import MOST_FALSE, Source
from support.haystacks import DataError, Haystack

import cortext
from cortext import models

RESULTS = Path(__file__).parent / "results"
LOCOMO, OWN, ALL = "locomo", "own", "all"
QUESTION, NOTHING = "question", "nothing"

share = click.FloatRange(0, 1)


@click.command(help=__doc__, context_settings={"show_default": True})
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--format", "layout", type=click.Choice([LOCOMO, OWN, ALL]), required=True)
@click.option("--split", type=click.Choice(annotated.SPLITS), help="Of our own; default: both.")
@click.option("--limit", type=click.IntRange(1), help="Questions a conversation, the first.")
@click.option("--chat", "chats", type=click.IntRange(0), help="Its sessions as chat, the first.")
@click.option(
    "--context",
    "before",
    type=click.Choice([QUESTION, NOTHING]),
    default=QUESTION,
    help="What a model that thinks aloud has before it.",
)
@click.option("--focus", type=share, default=0.45, help="Of the gate, as the next two.")
@click.option("--sensitivity", type=share, default=0.5)
@click.option("--stability", type=share, default=0.5)
@click.option(
    "--timed",
    type=click.IntRange(0),
    default=24,
    help="Streams to time, of our own and of those made from questions.",
)
@click.option("--pace", type=click.FloatRange(1), default=200, help="Of these, deltas a second.")
@click.option(
    "--features",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the terms of each decision and what is known of it, a JSON object a line.",
)
@click.option(
    "--plot",
    type=click.Path(file_okay=False, path_type=Path),
    help="Draw evidence against false interruptions into this folder.",
)
@options.model
@options.embeddings
@options.stores
@options.json_path
@click.option("--save", is_flag=True, help="Keep the results as this kind of machine's baseline.")
def main(
    paths: tuple[Path, ...],
    layout: str,
    split: str | None,
    limit: int | None,
    chats: int | None,
    before: str,
    focus: float,
    sensitivity: float,
    stability: float,
    timed: int,
    pace: float,
    features: Path | None,
    plot: Path | None,
    model: str | None,
    cache: str | None,
    keep: Path | None,
    json_path: str | None,
    save: bool,
) -> None:
    if (layout == OWN) == bool(paths):
        raise click.UsageError(f"{layout} {'has data of its own, no' if paths else 'needs a'} PATH")
    if layout == LOCOMO and split:
        raise click.UsageError("--split is of our own streams")
    try:
        haystacks = list(locomo.read(paths))
    except DataError as error:
        raise click.ClickException(str(error)) from error
    items = [] if layout == LOCOMO else list(annotated.read(split))
    console = report.tables(json_path)
    about = environment.describe()
    knobs = cortext.Knobs(focus=focus, sensitivity=sensitivity, stability=stability)
    plan = Plan(knobs, before == QUESTION, limit, chats, timed, pace, model, cache)
    configuration = {
        "format": layout,
        "split": split or "both",
        **sizes(plan, haystacks, len(items)),
        **asdict(knobs),
        "context": before,
        "deltas": "1 to 8 characters",
        "timed": timed,
        "pace": pace,
        "model": models.load(model).spec.name,
        "cache": "on, but for the times" if cache else "off",
        "kept stores": "on" if keep else "off",
    }
    report.header(console, about, configuration)
    began = time.monotonic()
    with stores(keep) as folder, tempfile.TemporaryDirectory(prefix="cortext-bench-") as scratch:
        run = Run(plan, folder, Path(scratch))
        run.all(haystacks, items)
    seconds = time.monotonic() - began
    run.found.show(console)
    if features:
        write_features(features, run.found.sources)
    if plot:
        draw(plot, run.found.sources, about)
    document = {
        "bench": "gate",
        **about,
        "configuration": configuration,
        "seconds": round(seconds, 1),
        **run.found.document(),
    }
    report.write_json(json_path, document)
    if save:
        kind = environment.machine_kind(about["machine"])
        report.write_json(str(RESULTS / f"gate-{kind}.json"), document)


def sizes(plan: Plan, haystacks: Sequence[Haystack], own: int) -> dict[str, Any]:
    return {
        "own streams": own,
        "conversations": len(haystacks),
        "turns": sum(len(haystack.turns) for haystack in haystacks),
        "questions": sum(len(plan.questions(haystack)) for haystack in haystacks),
        "limit": plan.limit,
        "chat": plan.chats,
    }


def write_features(path: Path, sources: Sequence[Source]) -> None:
    """A line a decision; no text is in it, so it may be kept where the data may not."""
    with path.open("w", encoding="utf-8") as file:
        for source in sources:
            for features in source.features():
                file.write(json.dumps(features, allow_nan=False) + "\n")


def draw(folder: Path, sources: Sequence[Source], about: Mapping[str, Any]) -> None:
    from support import gate_plot  # needs matplotlib, which nothing else does

    folder.mkdir(parents=True, exist_ok=True)
    curves = {source.name: points for source in sources if (points := source.curve())}
    if curves:
        gate_plot.draw(folder, curves, MOST_FALSE, about)


if __name__ == "__main__":
    main()
