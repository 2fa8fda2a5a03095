"""The measurements of `latency.py` and `scale.py`, each adding its rows to the results."""

from __future__ import annotations

import gc
import glob
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

import cortext
from cortext.models import Model
from support.bare_sqlite import BareSqlite
from support.report import progress
from support.results import Results

__all__ = [
    "acknowledge",
    "bulk",
    "cold_open",
    "consolidate",
    "encode",
    "files_on_disk",
    "fill",
    "ingest",
    "ingest_at_once",
    "new_message",
    "read_files",
    "recall",
    "recall_under_import",
    "resident",
    "size_on_disk",
    "steady",
    "warm_open",
]

BATCH = 1000
SPEAKERS = ("user", "assistant")
SESSION_MESSAGES = 50
FIRST_TIME = 1_700_000_000_000
MEGABYTE = 1e6
THREADS = 4  # that ingest at once
ROUNDS = 10  # in which the engine and bare SQLite take turns at them
IMPORT_BATCH = 100
IMPORT_PAUSE = 0.1  # seconds between batches, so that the import goes on while questions come
THINKING = 0.02  # seconds between questions: whoever asks without a pause takes a core for itself

clock = time.perf_counter


@contextmanager
def steady() -> Iterator[None]:
    """Keep Python's garbage collector out of what is measured."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def new_message(index: int, text: str) -> cortext.NewMessage:
    """The index-th message of the made-up history: two speakers, a minute apart."""
    return cortext.NewMessage(
        text=text,
        role=SPEAKERS[index % 2],
        session=f"session {index // SESSION_MESSAGES}",
        time=FIRST_TIME + index * 60_000,
    )


def fill(
    engine: cortext.Engine, texts: Sequence[str], first: int, results: Results, *, cached: bool
) -> None:
    """Ingest in batches and embed; with a cache the speed of embedding means nothing."""
    started = clock()
    with progress("ingesting") as meter:
        for begin in range(0, len(texts), BATCH):
            part = texts[begin : begin + BATCH]
            engine.ingest_many(new_message(first + begin + i, text) for i, text in enumerate(part))
            meter(begin + len(part), len(texts))
    stored = clock()
    with progress("embedding") as meter:
        if not engine.flush(progress=meter):
            raise RuntimeError(f"not everything was embedded: {engine.stats().last_error}")
    embedded = clock()
    section = f"bulk, {len(texts):,} messages"
    results.figure(section, "ingest_many", len(texts) / (stored - started), "messages/s")
    if not cached:
        results.figure(section, "until embedded", len(texts) / (embedded - started), "messages/s")


def ingest(
    engine: cortext.Engine, texts: Sequence[str], first: int, bare: BareSqlite, results: Results
) -> None:
    """Ingest one by one: half waiting until each is embedded, half back to back."""
    messages = [new_message(first + i, text) for i, text in enumerate(texts)]
    half = len(messages) // 2
    section = "ingest, one at a time"
    ids = acknowledge(engine, messages[:half], bare, results, section)
    found = _found(engine, ids, texts[:half])
    results.figure(section, "found by meaning", found, f"of {half}")

    section = "ingest, back to back while embedding"
    turns = _Turns(engine, bare)
    with steady():
        began = clock()
        for i, message in enumerate(messages[half:]):
            turns.take(message, bare_first=i % 2 == 0)
        engine.flush()
        seconds = clock() - began
    turns.add(results, section)
    results.figure(section, "until embedded", (len(messages) - half) / seconds, "messages/s")


def acknowledge(
    engine: cortext.Engine,
    messages: Sequence[cortext.NewMessage],
    bare: BareSqlite,
    results: Results,
    section: str,
) -> list[int]:
    """Ingest one by one, each after the one before is embedded; give the ids."""
    turns = _Turns(engine, bare)
    with steady(), progress("one at a time") as meter:
        for i, message in enumerate(messages):
            turns.take(message, bare_first=i % 2 == 1, wait=True)
            meter(i + 1, len(messages))
    turns.add(results, section)
    return turns.ids


class _Turns:
    """The engine and bare SQLite taking turns at the same messages."""

    def __init__(self, engine: cortext.Engine, bare: BareSqlite) -> None:
        self.ids: list[int] = []
        self._engine = engine
        self._bare = bare
        self._acks: list[float] = []
        self._commits: list[float] = []
        self._meanings: list[float] = []

    def take(self, message: cortext.NewMessage, *, bare_first: bool, wait: bool = False) -> None:
        if bare_first:
            self._theirs(message)
        began = clock()
        self.ids.append(
            self._engine.ingest(
                message.text, role=message.role, session=message.session, time=message.time
            )
        )
        self._acks.append(clock() - began)
        if wait:
            began = clock()
            self._engine.flush()
            self._meanings.append(clock() - began)
        if not bare_first:
            self._theirs(message)

    def add(self, results: Results, section: str) -> None:
        results.time(section, "acknowledged", self._acks)
        results.time(section, "bare SQLite commit", self._commits)
        if self._meanings:
            results.time(section, "from acknowledged to embedded", self._meanings)
        results.compare(section, "acknowledged", "bare SQLite commit")

    def _theirs(self, message: cortext.NewMessage) -> None:
        began = clock()
        self._bare.ingest(
            message.text, role=message.role, session=message.session, time=_milliseconds(message)
        )
        self._commits.append(clock() - began)


def bulk(
    engine: cortext.Engine,
    batches: Iterable[Sequence[cortext.NewMessage]],
    results: Results,
    section: str,
) -> None:
    """Acknowledge batches back to back; the embedding thread works beside it."""
    seconds: list[float] = []
    count = 0
    with steady():
        for batch in batches:
            began = clock()
            engine.ingest_many(batch)
            seconds.append(clock() - began)
            count += len(batch)
    results.time(section, "ingest_many, one call", seconds)
    results.figure(section, "ingest_many", count / sum(seconds), "messages/s")


def consolidate(
    engine: cortext.Engine,
    batches: Iterable[Sequence[cortext.NewMessage]],
    results: Results,
    section: str,
) -> None:
    """Consolidate what is new, a batch at a time, each embedded before."""
    seconds: list[float] = []
    engine.consolidate()
    for batch in batches:
        engine.ingest_many(batch)
        engine.flush()
        with steady():
            began = clock()
            report = engine.consolidate()
            seconds.append(clock() - began)
        assert report.complete
        assert report.messages == len(batch)
    results.time(section, "new messages", seconds)


def ingest_at_once(
    engine: cortext.Engine, texts: Sequence[str], bare: BareSqlite, results: Results
) -> None:
    """Ingest by several threads at once, and the same texts by bare SQLite, a lock around it."""
    section = f"ingest, {THREADS} threads at once"
    ours, theirs = "acknowledged", "bare SQLite, a lock around each commit"
    calls: dict[str, list[float]] = {ours: [], theirs: []}
    whole = {ours: 0.0, theirs: 0.0}
    lock = threading.Lock()

    def store(message: cortext.NewMessage) -> None:
        engine.ingest(message.text, role=message.role, session=message.session, time=message.time)

    def commit(message: cortext.NewMessage) -> None:
        with lock:
            bare.ingest(
                message.text,
                role=message.role,
                session=message.session,
                time=_milliseconds(message),
            )

    size = max(1, len(texts) // ROUNDS)
    with steady(), progress(section) as meter:
        for begin in range(0, len(texts), size):
            part = [new_message(begin + i, t) for i, t in enumerate(texts[begin : begin + size])]
            ways = [(ours, store), (theirs, commit)]
            for name, way in ways if begin // size % 2 else ways[::-1]:
                seconds, each = _by_threads(way, part)
                whole[name] += seconds
                calls[name] += each
            meter(begin + len(part), len(texts))
    for name, values in calls.items():
        results.time(section, name, values)
    results.compare(section, ours, theirs)
    for name, seconds in whole.items():
        results.figure(section, name, len(texts) / seconds, "messages/s")


def _by_threads(
    way: Callable[[cortext.NewMessage], None], messages: Sequence[cortext.NewMessage]
) -> tuple[float, list[float]]:
    """Seconds for all messages, shared out among threads, and for each of them."""
    each: list[float] = []
    ready = threading.Barrier(THREADS + 1)

    def work(own: Sequence[cortext.NewMessage]) -> None:
        ready.wait()
        for message in own:
            began = clock()
            way(message)
            each.append(clock() - began)

    threads = [threading.Thread(target=work, args=(messages[n::THREADS],)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    ready.wait()
    began = clock()
    for thread in threads:
        thread.join()
    return clock() - began, each


def recall_under_import(
    engine: cortext.Engine,
    texts: Sequence[str],
    first: int,
    queries: Sequence[str],
    results: Results,
) -> None:
    """Ask a third of the questions idle, the others while messages come in and are embedded."""
    section = f"recall under import, {len(texts):,} messages into {first:,}"
    third = len(queries) // 3
    asked = iter(queries)

    def ask(**options: int) -> float:
        time.sleep(THINKING)
        query = next(asked)
        began = clock()
        engine.recall(query, **options)  # type: ignore[arg-type]
        return clock() - began

    def take_in() -> None:
        for begin in range(0, len(texts), IMPORT_BATCH):
            part = texts[begin : begin + IMPORT_BATCH]
            engine.ingest_many(new_message(first + begin + i, text) for i, text in enumerate(part))
            time.sleep(IMPORT_PAUSE)

    engine.recall("warm up")
    default: list[float] = []
    unwaiting: list[float] = []
    embedding: list[float] = []
    with steady(), progress(section) as meter:
        idle = [ask() for _ in range(third)]
        for text in islice(texts, third):
            began = clock()
            engine.embed([text])
            embedding.append(clock() - began)
        importer = threading.Thread(target=take_in)
        importer.start()
        while engine.stats().pending == 0 and importer.is_alive():
            time.sleep(THINKING)
        while len(unwaiting) < third:
            default.append(ask())
            unwaiting.append(ask(wait_ms=0))
            meter(len(unwaiting), third)
        waiting = engine.stats().pending
        importer.join()
    results.time(section, "whole call, idle", idle)
    results.time(section, "whole call, meanwhile", default)
    results.time(section, "whole call, meanwhile, wait_ms=0", unwaiting)
    results.time(section, "encode one message, idle", embedding)
    results.figure(section, "still not embedded behind the last question", waiting, "messages")


def encode(model: Model, messages: Sequence[str], queries: Sequence[str], results: Results) -> None:
    """Embed each text once by the engine, llama.cpp's C API and its Python class, in turns."""
    from support.bare_llama import HighLevel, LowLevel

    with (
        closing(LowLevel(model.path, context=model.spec.context)) as low,
        closing(HighLevel(model.path, context=model.spec.context)) as high,
    ):
        ways: list[tuple[str, Callable[[str], object]]] = [
            ("engine", lambda text: model.embed([text])),
            ("llama-cpp-python, C API", low.embed),
            ("llama-cpp-python, Llama.embed", high.embed),
        ]
        tokens = np.mean([len(model.tokenize(text)) for text in messages])
        parts = (
            (f"encode, messages of {tokens:.0f} tokens", messages),
            (f"encode, queries of {len(model.tokenize(queries[0]))} tokens", queries),
        )
        for section, texts in parts:
            seconds: dict[str, list[float]] = {name: [] for name, _ in ways}
            with steady(), progress(section) as meter:
                for i, text in enumerate(texts):
                    for name, way in ways[i % 3 :] + ways[: i % 3]:
                        began = clock()
                        way(text)
                        seconds[name].append(clock() - began)
                    meter(i + 1, len(texts))
            for name, values in seconds.items():
                results.time(section, name, values)
            for name, _ in ways[1:]:
                results.compare(section, ways[0][0], name)


def recall(
    ask: Callable[[str], cortext.Recall], queries: Sequence[str], results: Results, section: str
) -> None:
    """Ask each question once; the parts are the engine's own timings."""
    names = ("encode", "dense", "lexical", "late", "fetch")
    parts: dict[str, list[float]] = {name: [] for name in names}
    whole: list[float] = []
    search: list[float] = []
    ask("warm up")
    with steady(), progress("recall") as meter:
        for i, query in enumerate(queries):
            began = clock()
            timings = ask(query).timings
            whole.append(clock() - began)
            search.append((timings.total - timings.wait - timings.encode) / 1e3)
            for name in names:
                parts[name].append(getattr(timings, name) / 1e3)
            meter(i + 1, len(queries))
    results.time(section, "whole call", whole)
    results.time(section, "encode the query", parts.pop("encode"))
    results.time(section, "search (all but encode)", search)
    for name, values in parts.items():
        results.time(section, f"of it {name}", values)


def files_on_disk(path: Path) -> dict[str, Path]:
    """The store's files: "store" is the one that was named, others go by what follows its name."""
    beside = sorted(path.parent.glob(f"{glob.escape(path.name)}-*"))
    return {"store": path, **{file.name.removeprefix(path.name): file for file in beside}}


def read_files(path: Path) -> None:
    """Have the system hold a closed store's files in memory, as it does while they are in use."""
    for file in files_on_disk(path).values():
        with file.open("rb", buffering=0) as stream:
            while stream.read(1 << 20):
                pass


def size_on_disk(path: Path, messages: int, text_bytes: int, results: Results) -> None:
    """The closed store's files."""
    sizes = {name: file.stat().st_size for name, file in files_on_disk(path).items()}
    section = f"store, {messages:,} messages"
    results.figure(section, "on disk", sum(sizes.values()) / messages, "bytes a message")
    for name, size in sizes.items():
        results.figure(section, f"of it {name}", size / messages, "bytes a message")
    results.figure(section, "of it text", text_bytes / messages, "bytes a message")


def warm_open(
    path: Path, model: Model, times: int, durability: Literal["full", "normal"], results: Results
) -> None:
    """Open the store again and again in this process, whose model is loaded."""
    seconds: list[float] = []
    messages = 0
    for _ in range(times):
        began = clock()
        engine = cortext.open(path, model=model, durability=durability)
        seconds.append(clock() - began)
        messages = engine.stats().messages
        engine.close()
    results.time(f"open, {messages:,} messages", "model loaded already", seconds)


def cold_open(
    path: Path, messages: int, question: str, model: str | None, times: int, results: Results
) -> None:
    """Open the store in fresh processes; the file is in the page cache."""
    script = Path(__file__).with_name("cold_open.py")
    found: list[dict[str, float]] = []
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, str(script), str(path), question, model or ""],
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(done.stdout))
    section = f"open, {messages:,} messages"
    for key, name in (
        ("import", "fresh process: import"),
        ("load", "fresh process: load the model"),
        ("open", "fresh process: open"),
        ("recall", "fresh process: first recall"),
    ):
        results.time(section, name, [run[key] for run in found])
    section = f"memory, {messages:,} messages"
    for key, name in (
        ("rss_start", "Python and psutil"),
        ("rss_import", "with cortext imported"),
        ("rss_model", "with the model"),
        ("rss_store", "with the store, after a recall"),
    ):
        results.figure(section, name, min(run[key] for run in found) / MEGABYTE, "MB resident")


def resident(
    path: Path,
    empty: Path,
    questions: Sequence[str],
    model: str | None,
    times: int,
    results: Results,
    section: str,
) -> None:
    """What a store takes in memory: fresh processes with it, less those with an empty store."""
    script = str(Path(__file__).with_name("resident.py"))
    best: dict[Path, dict[str, int]] = {}
    for _ in range(times):
        for store in (path, empty):
            done = subprocess.run(
                [sys.executable, script, str(store), model or "", *questions],
                capture_output=True,
                text=True,
                check=True,
            )
            found: dict[str, int] = json.loads(done.stdout)
            before = best.setdefault(store, found)
            best[store] = {key: min(before[key], value) for key, value in found.items()}
    for key, name in (
        ("open", "after open"),
        ("open_files", "of it mapped files, after open"),
        ("recalls", f"after {len(questions)} recalls"),
        ("recalls_files", f"of it mapped files, after {len(questions)} recalls"),
    ):
        more = best[path][key] - best[empty][key]
        results.figure(section, name, more / MEGABYTE, "MB more than with an empty store")


def _milliseconds(message: cortext.NewMessage) -> int:
    assert isinstance(message.time, int)
    return message.time


def _found(engine: cortext.Engine, ids: Sequence[int], texts: Sequence[str]) -> int:
    """How many messages a dense recall of their own text puts first."""
    count = 0
    with progress("looking for them") as meter:
        for i, (wanted, text) in enumerate(zip(ids, texts, strict=True)):
            hits = engine.recall(text, limit=1, stages=("dense",)).hits
            count += bool(hits) and hits[0].id == wanted
            meter(i + 1, len(texts))
    return count
