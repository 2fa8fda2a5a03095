"""From which size on hnswlib is worth having: both indexes on the same store, question by question.

    python bench/crossover.py --sizes 10000,100000 --json crossover.json

The first `--embedded` messages are embedded; those behind them have one of their vectors each, with
noise added (support/filling.py).  Timings are the dense part of recalls by vectors alone, 10 hits
each, for which the engine hands over 150 candidates.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

# One thread each: BLAS would take every core.  It reads this when numpy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import click
import psutil
from rich.console import Console
from support import environment, options, padding, report, text
from support.filling import Filling, nearest
from support.results import Results

import cortext
from cortext import models

K = 10
LEAST = 1000
POLL_SECONDS = 0.05
MEGABYTE = 1e6


@click.command(help=__doc__, context_settings={"show_default": True})
@click.option("--n", type=click.IntRange(2), default=200, help="Questions a size.")
@click.option(
    "--sizes", callback=options.parse_sizes, default="10000,100000", help="Chunks in the store."
)
@click.option(
    "--embedded", type=click.IntRange(1), default=10_000, help="Of them embedded by the model."
)
@click.option("--seed", default=1, help="Of the made-up text and the noise.")
@click.option(
    "--cache", type=click.Path(dir_okay=False), help="Embedding cache for the first messages."
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Where the store is made and removed.  Default: the temporary one.",
)
@options.json_path
def main(
    n: int,
    sizes: list[int],
    embedded: int,
    seed: int,
    cache: str | None,
    folder: Path | None,
    json_path: str | None,
) -> None:
    if sizes[0] < LEAST:
        raise click.BadParameter(f"a graph is made from {LEAST:,} chunks on", param_hint="--sizes")
    console = report.tables(json_path)
    about = environment.describe()
    model = models.load()
    configuration = {
        "n": n,
        "sizes": sizes,
        "embedded": embedded,
        "noise": f"a vector of length {padding.NOISE} added to an embedded one, normalised",
        "seed": seed,
        "model": model.spec.name,
    }
    report.header(console, about, configuration)
    results = Results()
    questions = list(islice(text.questions(seed=seed), n))
    with tempfile.TemporaryDirectory(dir=folder, prefix="cortext-bench-") as scratch:
        filling = Filling(
            Path(scratch) / "store.db", sizes[-1], real=embedded, seed=seed, model=None, cache=cache
        )
        for size in sizes:
            console.print(f"store of {size:,} chunks")
            filling.grow(size)
            measure(filling, model, questions, results, console)
    results.show(console)
    document = {
        "bench": "crossover",
        **about,
        "configuration": configuration,
        "input": text.STREAM_DESCRIPTION,
        **results.document(),
    }
    report.write_json(json_path, document)


def measure(
    filling: Filling,
    model: models.Model,
    questions: list[str],
    results: Results,
    console: Console,
) -> None:
    path, size = filling.path, filling.count
    section = f"{size:,} chunks"
    best = nearest(filling.vectors, model.embed(questions, query=True), K)
    with ExitStack() as stack:
        exact = stack.enter_context(cortext.open(path, model=model, index="exact"))
        dense(exact, questions[0])
        resident = psutil.Process().memory_info().rss
        started, processor = time.perf_counter(), time.process_time()
        graph = stack.enter_context(cortext.open(path, model=model, index="hnsw"))
        while graph.stats().index_built < size:
            if graph.stats().index_error:
                raise click.ClickException(f"no graph: {graph.stats().index_error}")
            time.sleep(max(POLL_SECONDS, size / 2e5))  # each look validates the whole index
        results.figure(section, "graph: built after", time.perf_counter() - started, "s")
        results.figure(section, "graph: built by", time.process_time() - processor, "s of a core")
        wait_for_file(path, size)
        console.print(f"  graph of {graph.stats().index_built:,} chunks")
        grown = psutil.Process().memory_info().rss - resident
        results.figure(section, "second engine and graph", grown / MEGABYTE, "MB resident")
        on_disk = path.with_name(path.name + "-hnsw").stat().st_size
        results.figure(section, "graph: on disk", on_disk / MEGABYTE, "MB")
        compare(section, {"exact": exact, "hnsw": graph}, questions, best, results)


def wait_for_file(path: Path, size: int) -> None:
    """It is written right after the last chunk is added, and its record after it."""
    record = path.with_name(path.name + "-hnsw.json")
    while not record.exists() or json.loads(record.read_bytes())["count"] < size:
        time.sleep(POLL_SECONDS)


def compare(
    section: str,
    engines: dict[str, cortext.Engine],
    questions: list[str],
    nearest_ones: list[set[int]],
    results: Results,
) -> None:
    """In turns, changing places every time."""
    times: dict[str, list[float]] = {name: [] for name in engines}
    found = dict.fromkeys(engines, 0)
    names = list(engines)
    for question, best in zip(questions, nearest_ones, strict=True):
        names.reverse()
        for name in names:
            answer = dense(engines[name], question)
            times[name].append(answer.timings.dense / 1000)
            found[name] += len(best & {hit.id - 1 for hit in answer})
    for name in engines:
        results.time(section, name, times[name])
    results.compare(section, "hnsw", "exact")
    for name in engines:
        share = 100 * found[name] / (K * len(questions))
        results.figure(section, f"{name}: of the best {K} by brute force", share, "%")
    for name, engine in engines.items():
        if error := engine.stats().index_error:
            raise click.ClickException(f"{name}: {error}")


def dense(engine: cortext.Engine, question: str) -> cortext.Recall:
    return engine.recall(
        question, limit=K, stages=("dense",), collapse=False, attach=False, standing_limit=0
    )


if __name__ == "__main__":
    main()
