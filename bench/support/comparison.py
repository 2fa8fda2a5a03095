"""The engine and its peers on the same vectors, in turns; each peer in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

import cortext
from cortext import models
from support import growth, text
from support.filling import Filling, embed, nearest
from support.metrics import summarise
from support.peers import PEERS, Peer, PeerError, Process, interpreter
from support.probes import BATCH, MEGABYTE, files_on_disk, steady
from support.report import figure, progress
from support.results import Results

__all__ = ["Comparison", "Sizes"]

K = 10
TURN = 20  # questions in a row, so that neither side finds the processor's caches cold each time
INDEX_ALONE = "engine: index alone"
DENSE_RECALL = "engine: dense recall, all but encode"
WHOLE_RECALL = "engine: recall, all but encode"
ACKNOWLEDGED = "engine: acknowledged"

Vectors = npt.NDArray[np.float32]
clock = time.perf_counter


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is compared."""

    questions: int
    real: int  # vectors that a text has
    vectors: int  # with noise
    messages: int  # of the stores


@dataclass(slots=True)
class Row:
    """What was found of one peer; milliseconds.  Those of the engine are of the same turns."""

    name: str
    level: str
    version: str
    durability: str
    build_seconds: float
    bytes: int
    recall: float  # share of the exact nearest 10
    engine_recall: float
    search: dict[str, float]
    engine_search: dict[str, float]  # the index alone; of a store the whole recall but for encoding
    engine_dense: dict[str, float]  # a recall by vectors alone, but for encoding
    add: dict[str, float] | None = None
    engine_add: dict[str, float] | None = None


class Comparison:
    """One run.  The stores and the data are made in `scratch`."""

    def __init__(
        self, sizes: Sizes, *, seed: int, model: str | None, cache: str | None, scratch: Path
    ) -> None:
        self.sizes = sizes
        self.seed = seed
        self.model_name = model
        self.scratch = scratch
        self.kept_cache = cache is not None
        self.cache = cache or str(scratch / "real.cache")
        self.results = Results()
        self.rows: list[Row] = []
        self.missing: dict[str, str] = {}
        self.own: dict[str, float] = {}  # figures of the engine that have no peer beside them
        self.questions = list(islice(text.questions(seed=seed), sizes.questions))
        self.model = models.load(model)
        self.queries = self.model.embed(self.questions, query=True)
        self._added = 0

    def all(self, console: Console, wanted: Sequence[str], folder: Path) -> None:
        """Compare with the wanted peers, whose environments are in the folder."""
        ready: list[tuple[Peer, Path]] = []
        refused: dict[tuple[str, ...], str] = {}
        for peer in (peer for peer in PEERS if peer.name in wanted):
            if peer.requirements not in refused:
                console.print(f"environment of {peer.label}")
                try:
                    ready.append((peer, interpreter(peer, folder)))
                    continue
                except PeerError as error:
                    refused[peer.requirements] = f"not installed: {error}"
            self.missing[peer.label] = refused[peer.requirements]
        for level, measure in (("index", self._indexes), ("store", self._stores)):
            if found := [pair for pair in ready if pair[0].level == level]:
                measure(console, found)

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "peers": [asdict(row) for row in self.rows],
            "engine": {name: round(value, 3) for name, value in self.own.items()},
            "missing": [{"name": name, "reason": why} for name, why in self.missing.items()],
            **self.results.document(),
        }

    def show(self, console: Console) -> None:
        """Print a table a level, and what is missing."""
        for level, title in (
            ("index", f"Nearest {K} of {self.sizes.vectors:,} vectors, one thread"),
            ("store", f"Stores of {self.sizes.messages:,} messages with their vectors"),
        ):
            rows = [row for row in self.rows if row.level == level]
            if rows:
                console.print(_searching(title, rows))
            if any(row.add for row in rows):
                console.print(_adding(rows))
        for name, value in self.own.items():
            console.print(f"engine: {name}: {value:,.1f}")
        for name, reason in self.missing.items():
            console.print(f"{name}: {reason}", markup=False, soft_wrap=True)

    def _indexes(self, console: Console, peers: Sequence[tuple[Peer, Path]]) -> None:
        sizes = self.sizes
        console.print(
            f"{sizes.real:,} messages to embed, {max(0, sizes.vectors - sizes.real):,} with noise"
        )
        path = self.scratch / "index.db"
        filling = Filling(
            path,
            sizes.vectors,
            real=sizes.real,
            seed=self.seed,
            model=self.model_name,
            cache=self.cache,
        )
        filling.grow(sizes.vectors)
        vectors = filling.vectors
        data = self._write_data(vectors, [], len(vectors))
        with cortext.open(path, model=self.model) as engine:
            self.own["bytes of the index"] = engine.stats().index_bytes
            for peer, python in peers:
                console.print(peer.label)
                section = f"nearest {K} of {len(vectors):,}, beside {peer.label}"
                self._beside(peer, python, data, engine, vectors, section)

    def _stores(self, console: Console, peers: Sequence[tuple[Peer, Path]]) -> None:
        sizes = self.sizes
        path = self.scratch / "store.db"
        count = sizes.messages + sizes.questions * len(peers)
        messages = list(growth.stream(self.seed, 0, count))
        cached = models.load(self.model_name, cache=self.cache)
        console.print(f"{count:,} messages to embed")
        vectors = embed(cached, messages)
        with cortext.open(path, model=cached) as engine:
            began = clock()
            for first in range(0, sizes.messages, BATCH):
                engine.ingest_many(messages[first : min(first + BATCH, sizes.messages)])
            self.own["store: seconds until acknowledged"] = clock() - began
            engine.flush()
            self.own["store: seconds until found by meaning, embeddings given"] = clock() - began
        bytes_ = sum(file.stat().st_size for file in files_on_disk(path).values())
        self.own["store: bytes"] = bytes_
        texts = [message.text for message in messages]
        data = self._write_data(vectors, texts, sizes.messages)
        with cortext.open(path, model=cached) as engine:
            for peer, python in peers:
                console.print(peer.label)
                section = f"store of {sizes.messages:,}, beside {peer.label}"
                self._beside(peer, python, data, engine, vectors, section, messages)

    def _write_data(self, vectors: Vectors, texts: Sequence[str], stored: int) -> Path:
        path = self.scratch / "data.npz"
        np.savez(
            path,
            vectors=vectors,
            texts=np.asarray(texts, dtype=np.str_),
            queries=self.queries,
            stored=stored,
        )
        return path

    def _beside(
        self,
        peer: Peer,
        python: Path,
        data: Path,
        engine: cortext.Engine,
        vectors: Vectors,
        section: str,
        messages: Sequence[cortext.NewMessage] = (),
    ) -> None:
        """Measure one peer and the engine in turns; a peer that fails is one that is missing."""
        try:
            with Process.run(peer, python, data, self.scratch) as process:
                self._measure(peer, process, engine, vectors, section, messages)
        except PeerError as error:
            self.missing[peer.label] = f"failed: {error}"

    def _measure(
        self,
        peer: Peer,
        process: Process,
        engine: cortext.Engine,
        vectors: Vectors,
        section: str,
        messages: Sequence[cortext.NewMessage],
    ) -> None:
        sizes, results, label = self.sizes, self.results, peer.label
        stored = sizes.messages if messages else len(vectors)
        held = stored + self._added if messages else stored  # what earlier peers had added
        asking = _Asking(engine, self.questions)
        theirs: list[float] = []
        found: list[list[int]] = []
        process.search(0, min(TURN, sizes.questions))
        asking.take(0, min(TURN, sizes.questions), whole=bool(messages))
        asking.clear()
        with steady(), progress(label) as meter:
            for turn, first in enumerate(range(0, sizes.questions, TURN)):
                end = min(first + TURN, sizes.questions)
                if turn % 2:
                    asking.take(first, end, whole=bool(messages))
                seconds, ids = process.search(first, end)
                theirs += seconds
                found += ids
                if not turn % 2:
                    asking.take(first, end, whole=bool(messages))
                meter(end, sizes.questions)
        ours = WHOLE_RECALL if messages else INDEX_ALONE
        results.time(section, label, theirs)
        for name, values in asking.seconds.items():
            if values:
                results.time(section, name, values)
        results.compare(section, ours, label)
        row = Row(
            name=label,
            level=peer.level,
            version=process.built["version"],
            durability=peer.durability,
            build_seconds=round(process.built["seconds"], 3),
            bytes=process.built["bytes"],
            recall=_agreement(found, nearest(vectors[:stored], self.queries, K)),
            engine_recall=_agreement(asking.found, nearest(vectors[:held], self.queries, K)),
            search=_both(theirs),
            engine_search=_both(asking.seconds[ours]),
            engine_dense=_both(asking.seconds[DENSE_RECALL]),
        )
        if messages:
            self._add(process, engine, messages, row, section)
        self.rows.append(row)

    def _add(
        self,
        process: Process,
        engine: cortext.Engine,
        messages: Sequence[cortext.NewMessage],
        row: Row,
        section: str,
    ) -> None:
        """Add messages one at a time, in turns; each peer finds new ones, and the engine too."""
        first = self.sizes.messages + self._added
        self._added += self.sizes.questions
        ours: list[float] = []
        theirs: list[float] = []
        with steady():
            for i in range(first, first + self.sizes.questions):
                if i % 2:
                    theirs += process.add(i, i + 1)
                message = messages[i]
                began = clock()
                engine.ingest(
                    message.text, role=message.role, session=message.session, time=message.time
                )
                ours.append(clock() - began)
                engine.flush()
                if not i % 2:
                    theirs += process.add(i, i + 1)
        self.results.time(section, f"{row.name}: added", theirs)
        self.results.time(section, ACKNOWLEDGED, ours)
        self.results.compare(section, ACKNOWLEDGED, f"{row.name}: added")
        row.add, row.engine_add = _both(theirs), _both(ours)


class _Asking:
    """The engine's answers, and how long each way of asking takes without encoding the question."""

    def __init__(self, engine: cortext.Engine, questions: Sequence[str]) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.found: list[list[int]] = []
        self._engine = engine
        self._questions = questions
        self.clear()

    def clear(self) -> None:
        self.seconds = {INDEX_ALONE: [], DENSE_RECALL: [], WHOLE_RECALL: []}
        self.found = []

    def take(self, first: int, end: int, *, whole: bool) -> None:
        for question in self._questions[first:end]:
            answer = self._engine.recall(
                question, limit=K, stages=("dense",), attach=False, standing_limit=0
            )
            times = answer.timings
            self.seconds[INDEX_ALONE].append(times.dense / 1e3)
            self.seconds[DENSE_RECALL].append((times.total - times.wait - times.encode) / 1e3)
            self.found.append([hit.id - 1 for hit in answer.hits])
        if whole:
            for question in self._questions[first:end]:
                times = self._engine.recall(question, limit=K).timings
                self.seconds[WHOLE_RECALL].append((times.total - times.wait - times.encode) / 1e3)


def _agreement(found: Sequence[Sequence[int]], exact: Sequence[set[int]]) -> float:
    shared = sum(len(best.intersection(ids)) for ids, best in zip(found, exact, strict=True))
    return round(shared / (K * len(exact)), 4)


def _both(seconds: Sequence[float]) -> dict[str, float]:
    summary = summarise([value * 1e3 for value in seconds])
    return {"p50": round(summary.p50, 4), "p95": round(summary.p95, 4)}


def _searching(title: str, rows: Sequence[Row]) -> Table:
    table = _table(
        title,
        "peer|version|p50|p95|ours p50|p95|ratio p50|p95|dense|R@10|ours|build s|MB",
    )
    for row in rows:
        table.add_row(
            row.name,
            row.version,
            *_cells(row.search, row.engine_search),
            figure(row.engine_dense["p50"]),
            figure(row.recall),
            figure(row.engine_recall),
            figure(row.build_seconds, 1),
            figure(row.bytes / MEGABYTE, 1),
        )
    return table


def _adding(rows: Sequence[Row]) -> Table:
    table = _table(
        "Adding messages one at a time",
        "peer|p50|p95|ours p50|p95|ratio p50|p95|durability of the peer",
    )
    for row in rows:
        if row.add and row.engine_add:
            table.add_row(row.name, *_cells(row.add, row.engine_add), row.durability)
    return table


def _table(title: str, headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in headings.split("|"):
        words = heading in ("peer", "version", "durability of the peer")
        table.add_column(heading, justify="left" if words else "right", no_wrap=True)
    return table


def _cells(theirs: dict[str, float], ours: dict[str, float]) -> list[str]:
    pairs = [(theirs[share], ours[share]) for share in ("p50", "p95")]
    return [
        *(figure(their) for their, _ in pairs),
        *(figure(our) for _, our in pairs),
        *(figure(our / their, 2) for their, our in pairs),
    ]
