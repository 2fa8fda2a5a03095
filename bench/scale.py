"""How the whole engine grows: every figure at a thousand messages, and at a million.

    python bench/scale.py --cache FILE --json scale.json --plot PICTURES

One store grows from each of `--sizes` to the next along a stream of made-up messages that the seed
alone decides; at each size it is opened, asked, measured, and copied to have more written to the
copy.  A million messages take more than an hour to embed.  `--cache` spares that the next time, and
`--keep` the whole growth.  See README.md for what each figure means.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console
from support import curve, environment, growth, options, probes, report, text
from support.bare_sqlite import BareSqlite
from support.results import Results

import cortext
from cortext import models

WARM_OPENS = 10
RECALLS = 20  # before the memory is looked at
# Batches of messages that are consolidated.
CONSOLIDATIONS, CONSOLIDATED = 5, 100
BULK_CALLS = 5
RESULTS = Path(__file__).parent / "results"

Durability = Literal["full", "normal"]


@click.command(help=__doc__, context_settings={"show_default": True})
@click.option("--sizes", callback=options.parse_sizes, default="1000,10000,100000,1000000")
@options.number
@options.seed
@options.model
@options.durability
@click.option(
    "--cache",
    type=click.Path(dir_okay=False),
    help="Embedding cache to grow the store with; no timing uses it.",
)
@options.folder
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the store in this file, and go on from what an earlier run left there; sizes below "
    "that have a store of their own.",
)
@options.cold_opens
@options.json_path
@click.option(
    "--plot",
    type=click.Path(file_okay=False, path_type=Path),
    help="Draw the curves into this folder, as PNG files; needs matplotlib.",
)
@click.option("--save", is_flag=True, help="Keep the results as this kind of machine's baseline.")
def main(
    sizes: list[int],
    n: int,
    seed: int,
    model: str | None,
    durability: Durability,
    cache: str | None,
    folder: Path | None,
    keep: Path | None,
    cold_opens: int,
    json_path: str | None,
    plot: Path | None,
    save: bool,
) -> None:
    console = report.tables(json_path)
    draw = None if plot is None else drawing(plot)
    about = environment.describe()
    plan = Plan(sizes, n, seed, model, durability, cache, keep, cold_opens)
    with tempfile.TemporaryDirectory(dir=folder, prefix="cortext-bench-") as scratch:
        run = Run(plan, Path(scratch))
        configuration = run.configuration()
        report.header(console, about, configuration)
        try:
            run.all(console)
        except growth.StreamError as error:
            raise click.ClickException(str(error)) from error
    run.results.show(console)
    curve.show(console, run.results, sizes)
    document = {
        "bench": "scale",
        **about,
        "configuration": configuration,
        "input": text.STREAM_DESCRIPTION,
        **run.results.document(),
        "growth": curve.document(run.results, sizes),
        "stats": run.stats,
    }
    report.write_json(json_path, document)
    if draw:
        draw(run.results, sizes, run.files, about)
    if save:
        kind = environment.machine_kind(about["machine"])
        report.write_json(str(RESULTS / f"scale-{kind}.json"), document)


def skip_consolidation(path: Path, through: int) -> None:
    """Have the store take its first messages for consolidated: a million would take hours."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT OR REPLACE INTO progress VALUES('messages', ?)", (through,))


def drawing(folder: Path) -> Callable[..., object]:
    """What will draw into the folder; if it cannot, that is known before hours have gone by."""
    try:
        from support import plots
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"--plot needs {error.name}, which is of the bench extra: pip install '.[bench]'"
        ) from error
    folder.mkdir(parents=True, exist_ok=True)
    return partial(plots.draw, folder)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the options say."""

    sizes: list[int]
    n: int
    seed: int
    model: str | None
    durability: Durability
    cache: str | None
    keep: Path | None
    cold_opens: int


class Run:
    """One run; the questions are the same at every size, so that only the size differs."""

    def __init__(self, plan: Plan, scratch: Path) -> None:
        self.plan = plan
        self.scratch = scratch
        self.model = models.load(plan.model)
        self.results = Results()
        self.stats: list[dict[str, Any]] = []
        self.files: list[str] = []  # names of the store's files, in the order they were met
        self.kept = self.held(plan.keep) if plan.keep else 0
        questions = text.questions(seed=plan.seed)
        self.questions = [list(islice(questions, plan.n)) for _ in range(4)]
        self.common = list(islice(text.common_questions(seed=plan.seed), plan.n))
        self.first_questions = list(islice(questions, RECALLS))

    def configuration(self) -> dict[str, Any]:
        with self.open(self.scratch / "empty.db") as engine:
            simd = engine.stats().simd
        kept = f"on, {self.kept:,} messages at the start" if self.plan.keep else "off"
        return {
            "n": self.plan.n,
            "sizes": self.plan.sizes,
            "seed": self.plan.seed,
            "durability": self.plan.durability,
            "cache": "used to grow the store" if self.plan.cache else "off",
            "kept_store": kept,
            "file_system": environment.file_system((self.plan.keep or self.scratch).parent),
            "model": self.model.spec.name,
            "encoder_threads": 1,
            "simd": simd,
        }

    def all(self, console: Console) -> None:
        for size in self.plan.sizes:
            console.print(f"store of {size:,} messages")
            keep = self.plan.keep
            path = keep if keep and self.kept <= size else self.scratch / "store.db"
            self.grow(path, size)
            self.ask(path, size)
            self.space(path, size)
            self.opening(path, size)
            self.write(path, size)

    def held(self, path: Path) -> int:
        """How many messages are in a store that may not be there."""
        if not path.exists():
            return 0
        with self.open(path) as engine:
            return engine.stats().messages

    def grow(self, path: Path, size: int) -> None:
        cache = self.plan.cache
        with self.open(path, cache) as engine:
            growth.grow(engine, self.plan.seed, size, self.results, cached=cache is not None)

    def ask(self, path: Path, size: int) -> None:
        plain, in_session, of_role, in_time = self.questions
        middle = size // 2
        first, end = (growth.FIRST_TIME + growth.MINUTE * (size * x // 20) for x in (9, 11))
        probes.read_files(path)
        with self.open(path) as engine:
            ask = engine.recall
            session = f"session {middle // growth.SESSION_MESSAGES}"
            for kind, how, questions in (
                ("questions", ask, plain),
                ("common words", ask, self.common),
                ("one session", partial(ask, session=session), in_session),
                ("one role", partial(ask, roles="user"), of_role),
                ("a time range", partial(ask, since=first, until=end), in_time),
            ):
                section = curve.at(f"recall, {kind}", size)
                probes.recall(how, questions, self.results, section)
            stats = asdict(engine.stats())
            del stats["path"]
            self.stats.append(stats)

    def space(self, path: Path, size: int) -> None:
        messages = growth.stream(self.plan.seed, 0, size)
        probes.size_on_disk(
            path, size, sum(len(message.text.encode()) for message in messages), self.results
        )
        self.files += [name for name in probes.files_on_disk(path) if name not in self.files]
        probes.resident(
            path,
            self.scratch / "empty.db",
            self.first_questions,
            self.plan.model,
            self.plan.cold_opens,
            self.results,
            curve.at("resident", size),
        )

    def opening(self, path: Path, size: int) -> None:
        plan = self.plan
        probes.warm_open(path, self.model, WARM_OPENS, plan.durability, self.results)
        question = self.first_questions[0]
        probes.cold_open(path, size, question, plan.model, plan.cold_opens, self.results)

    def write(self, path: Path, size: int) -> None:
        """Into a copy: the store holds the stream up to its size, whatever was measured."""
        copy = self.scratch / "copy.db"
        for file in probes.files_on_disk(path).values():
            shutil.copyfile(file, copy.with_name(copy.name + file.name.removeprefix(path.name)))
        count = self.plan.n + CONSOLIDATIONS * CONSOLIDATED + BULK_CALLS * probes.BATCH
        messages = growth.stream(self.plan.seed, size, size + count)
        bare_path = self.scratch / "bare.db"
        with (
            self.open(copy) as engine,
            closing(BareSqlite(bare_path, self.plan.durability)) as bare,
        ):
            engine.recall("warm up")
            probes.acknowledge(
                engine,
                list(islice(messages, self.plan.n)),
                bare,
                self.results,
                curve.at("ingest, one at a time", size),
            )
            skip_consolidation(copy, size)
            new = [list(islice(messages, CONSOLIDATED)) for _ in range(CONSOLIDATIONS)]
            probes.consolidate(engine, new, self.results, curve.at("consolidate, 100 new", size))
            batches = [list(islice(messages, probes.BATCH)) for _ in range(BULK_CALLS)]
            probes.bulk(engine, batches, self.results, curve.at("bulk", size))
        for store in (copy, bare_path):
            for file in probes.files_on_disk(store).values():
                file.unlink()

    @contextmanager
    def open(self, path: Path, cache: str | None = None) -> Iterator[cortext.Engine]:
        model = self.model if cache is None else self.plan.model
        with cortext.open(
            path, model=model, durability=self.plan.durability, cache=cache
        ) as engine:
            yield engine


if __name__ == "__main__":
    main()
