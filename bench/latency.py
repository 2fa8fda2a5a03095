"""How long things take, and how long the bare parts under them take in the same run.

    python bench/latency.py --json latency.json

Distinct messages go one by one into a warm store (model loaded, the first of `--sizes` messages
embedded); distinct questions are asked at every size; each text is embedded once by the engine and
once by each way of using llama-cpp-python.  See README.md for what each figure means.

    python bench/latency.py --peers --json peers.json

compares searching and storing with other engines instead, each in an environment of its own.

The streaming gate will have its rows ("gate: feed", "gate: decision") between recall and open, as
soon as it exists; until then it has none.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import click
from platformdirs import user_cache_path
from rich.console import Console
from support import environment, options, padding, peers, probes, report, text
from support.bare_sqlite import BareSqlite
from support.comparison import Comparison, Sizes
from support.results import Results

import cortext
from cortext import models

MESSAGE_CHARACTERS = 200
QUERY_TOKENS = 13
WARM_OPENS = 10
RESULTS = Path(__file__).parent / "results"

Durability = Literal["full", "normal"]


@click.command(help=__doc__, context_settings={"show_default": True})
@options.number
@click.option(
    "--sizes", callback=options.parse_sizes, default="1000,10000", help="Store sizes for recall."
)
@click.option(
    "--import",
    "imported",
    type=click.IntRange(1),
    default=5000,
    help="Messages that come in while questions are asked.",
)
@options.seed
@options.model
@options.durability
@click.option(
    "--cache",
    type=click.Path(dir_okay=False),
    help="Embedding cache to grow the store from its first to its later sizes; no timing uses it.",
)
@options.folder
@options.cold_opens
@click.option(
    "--peers", "with_peers", is_flag=True, help="Compare with other engines, instead of all that."
)
@click.option(
    "--peer",
    "wanted",
    type=click.Choice(peers.names()),
    multiple=True,
    default=peers.names(),
    help="Compare with this one; may be repeated.",
)
@click.option(
    "--peer-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where their environments are built and stay.  Default: the user's cache directory.",
)
@click.option(
    "--peer-vectors", type=click.IntRange(1), default=20_000, help="Messages to embed for them."
)
@click.option(
    "--peer-total", type=click.IntRange(20), default=100_000, help="Vectors, the rest with noise."
)
@click.option(
    "--peer-messages", type=click.IntRange(20), default=10_000, help="Messages in their stores."
)
@options.json_path
@click.option("--save", is_flag=True, help="Keep the results as this kind of machine's baseline.")
def main(
    n: int,
    sizes: list[int],
    imported: int,
    seed: int,
    model: str | None,
    durability: Durability,
    cache: str | None,
    folder: Path | None,
    cold_opens: int,
    with_peers: bool,
    wanted: tuple[str, ...],
    peer_dir: Path | None,
    peer_vectors: int,
    peer_total: int,
    peer_messages: int,
    json_path: str | None,
    save: bool,
) -> None:
    console = report.tables(json_path)
    about = environment.describe()
    if with_peers:
        sizes_of_peers = Sizes(n, min(peer_vectors, peer_total), peer_total, peer_messages)
        with tempfile.TemporaryDirectory(dir=folder, prefix="cortext-bench-") as scratch:
            compared = Comparison(
                sizes_of_peers, seed=seed, model=model, cache=cache, scratch=Path(scratch)
            )
            document = compare(console, about, compared, wanted, peer_dir)
        keep(document, json_path, save=save)
        return
    plan = Plan(n, sizes, imported, seed, model, durability, cache, cold_opens)
    with tempfile.TemporaryDirectory(dir=folder, prefix="cortext-bench-") as scratch:
        run = Run(plan, Path(scratch))
        configuration = run.configuration()
        report.header(console, about, configuration)
        run.all(console)
    run.results.show(console)
    document = {
        "bench": "latency",
        **about,
        "configuration": configuration,
        "input": text.DESCRIPTION.format(length=MESSAGE_CHARACTERS)
        + f"; questions of {QUERY_TOKENS} tokens",
        **run.results.document(),
    }
    keep(document, json_path, save=save)


def compare(
    console: Console,
    about: dict[str, Any],
    compared: Comparison,
    wanted: Sequence[str],
    folder: Path | None,
) -> dict[str, Any]:
    sizes = compared.sizes
    configuration = {
        "n": sizes.questions,
        "seed": compared.seed,
        "vectors": sizes.vectors,
        "embedded": sizes.real,
        "noise": f"a vector of length {padding.NOISE} added to one that was embedded, normalised",
        "messages": sizes.messages,
        "cache": "used" if compared.kept_cache else "off",
        "file_system": environment.file_system(compared.scratch),
        "model": compared.model.spec.name,
        "threads": "1; stores as they are by default",
    }
    report.header(console, about, configuration)
    compared.all(console, wanted, folder or user_cache_path("cortext") / "bench-peers")
    compared.show(console)
    return {
        "bench": "peers",
        **about,
        "configuration": configuration,
        "input": text.STREAM_DESCRIPTION,
        **compared.document(),
    }


def keep(document: dict[str, Any], json_path: str | None, *, save: bool) -> None:
    report.write_json(json_path, document)
    if save:
        kind = environment.machine_kind(document["machine"])
        report.write_json(str(RESULTS / f"{document['bench']}-{kind}.json"), document)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the options say."""

    n: int
    sizes: list[int]
    imported: int
    seed: int
    model: str | None
    durability: Durability
    cache: str | None
    cold_opens: int


class Run:
    """One run: a store that grows from size to size, and the texts for it."""

    def __init__(self, plan: Plan, scratch: Path) -> None:
        self.plan = plan
        self.path = scratch / "store.db"
        self.bare_path = scratch / "bare.db"
        self.scratch = scratch
        self.model = models.load(plan.model)
        self.results = Results()
        self.stored = 0
        sizes = plan.sizes
        total = max(sizes[-1], sizes[0] + 2 * plan.n) + 5 * plan.n + sizes[0] + plan.imported
        asked = plan.n * (len(sizes) + 4) + len(sizes)
        tokenize = self.model.tokenize
        self._texts = iter(text.messages(total, seed=plan.seed, length=MESSAGE_CHARACTERS))
        self._questions = iter(
            text.questions_of_length(asked, QUERY_TOKENS, tokenize, seed=plan.seed)
        )

    def configuration(self) -> dict[str, Any]:
        with self.open() as engine:
            simd = engine.stats().simd
        return {
            "n": self.plan.n,
            "sizes": self.plan.sizes,
            "import": self.plan.imported,
            "seed": self.plan.seed,
            "durability": self.plan.durability,
            "cache": "used to grow the store" if self.plan.cache else "off",
            "file_system": environment.file_system(self.path.parent),
            "model": self.model.spec.name,
            "encoder_threads": 1,
            "simd": simd,
        }

    def all(self, console: Console) -> None:
        for index, size in enumerate(self.plan.sizes):
            console.print(f"store of {size:,} messages")
            self.grow(size, cached=index > 0 and self.plan.cache is not None)
            with self.open() as engine:
                section = f"recall, {self.stored:,} messages"
                probes.recall(engine.recall, self.questions(self.plan.n), self.results, section)
            probes.size_on_disk(
                self.path, self.stored, self.stored * MESSAGE_CHARACTERS, self.results
            )
            probes.warm_open(self.path, self.model, WARM_OPENS, self.plan.durability, self.results)
            probes.cold_open(
                self.path,
                self.stored,
                self.questions(1)[0],
                self.plan.model,
                self.plan.cold_opens,
                self.results,
            )
            if index == 0:
                self.one_by_one()
        self.at_once()
        self.under_import()
        probes.encode(
            self.model, self.texts(self.plan.n), self.questions(self.plan.n), self.results
        )

    def grow(self, size: int, *, cached: bool) -> None:
        missing = size - self.stored
        if missing <= 0:
            return
        with self.open(self.plan.cache if cached else None) as engine:
            probes.fill(engine, self.texts(missing), self.stored, self.results, cached=cached)
        self.stored = size

    def one_by_one(self) -> None:
        with (
            self.open() as engine,
            closing(BareSqlite(self.bare_path, self.plan.durability)) as bare,
        ):
            engine.recall("warm up")
            probes.ingest(engine, self.texts(2 * self.plan.n), self.stored, bare, self.results)
        self.stored += 2 * self.plan.n

    def at_once(self) -> None:
        """Into a store of its own, as the next."""
        with (
            self.open(path=self.scratch / "threads.db") as engine,
            closing(BareSqlite(self.scratch / "bare-threads.db", self.plan.durability)) as bare,
        ):
            probes.ingest_at_once(engine, self.texts(4 * self.plan.n), bare, self.results)

    def under_import(self) -> None:
        first = self.plan.sizes[0]
        with self.open(path=self.scratch / "import.db") as engine:
            engine.ingest_many(
                probes.new_message(i, text) for i, text in enumerate(self.texts(first))
            )
            engine.flush()
            probes.recall_under_import(
                engine,
                self.texts(self.plan.imported),
                first,
                self.questions(3 * self.plan.n),
                self.results,
            )

    @contextmanager
    def open(
        self, cache: str | None = None, *, path: Path | None = None
    ) -> Iterator[cortext.Engine]:
        model = self.model if cache is None else self.plan.model
        with cortext.open(
            path or self.path, model=model, durability=self.plan.durability, cache=cache
        ) as engine:
            yield engine

    def texts(self, count: int) -> list[str]:
        return list(islice(self._texts, count))

    def questions(self, count: int) -> list[str]:
        return list(islice(self._questions, count))


if __name__ == "__main__":
    main()
