"""From files into a store, a batch at a time, knowing which line is to blame."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import click

import cortext
from cortext.cli import terminal
from cortext.cli.failure import BadInput
from cortext.cli.progress import Meter
from cortext.cli.reading import Defaults, Item, read
from cortext.errors import ConflictError, InputError

__all__ = ["File", "Work", "check", "store_files"]

BATCH_MESSAGES = 500
BATCH_CHARACTERS = 16 << 20
SHOWN_BAD_LINES = 5


@dataclass(frozen=True, slots=True)
class File:
    """A file to read, or standard input ("-")."""

    path: str
    form: str
    defaults: Defaults

    @property
    def name(self) -> str:
        """What error messages call it."""
        return "stdin" if self.path == "-" else self.path

    @property
    def regular(self) -> bool:
        """Whether it can be read twice."""
        return self.path != "-" and Path(self.path).is_file()

    @property
    def typed(self) -> bool:
        """Whether a person is typing it."""
        return self.path == "-" and sys.stdin is not None and sys.stdin.isatty()

    @property
    def size(self) -> int:
        """Its size in bytes, 0 for what can be read only once."""
        return Path(self.path).stat().st_size if self.regular else 0

    def items(self) -> Iterator[Item]:
        """Yield what is in it."""
        jsonl = Path(self.path).suffix in {".jsonl", ".ndjson"}
        with self.open() as stream:
            yield from read(stream, self.form, self.defaults, jsonl)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open it; standard input stays open."""
        if self.path != "-":
            with Path(self.path).open("rb") as stream:
                yield stream
            return
        if sys.stdin is None:  # closed by whoever started this
            raise click.ClickException("there is no standard input; name a file")
        if self.typed:
            terminal.note("reading messages from the terminal; end with Ctrl-D")
        yield sys.stdin.buffer


@dataclass(slots=True)
class Work:
    """What was done so far, and whether a bad line stops it."""

    skip_bad: bool
    stored: int = 0
    bad: int = 0
    first_bad: list[str] = field(default_factory=list)

    def reject(self, file: File, line: int, reason: str) -> None:
        """Count a bad line, or stop at it."""
        if not self.skip_bad:
            if self.stored:
                reason += f" (messages stored before it: {self.stored:,})"
            raise BadInput(file.name, line, reason)
        self.bad += 1
        if len(self.first_bad) < SHOWN_BAD_LINES:
            self.first_bad.append(BadInput(file.name, line, reason).message)


def check(files: Iterable[File]) -> None:
    """Read the files that can be read twice, so that a bad line there changes nothing."""
    for file in files:
        if file.regular:
            for item in file.items():
                if item.message is None:
                    raise BadInput(file.name, item.line, item.problem)


def store_files(engine: cortext.Engine, files: list[File], work: Work, update: Meter) -> None:
    """Store everything in the files."""
    total = sum(file.size for file in files) if all(file.regular for file in files) else 0
    before = 0
    for file in files:
        for batch in batches(file.items()):
            store_batch(engine, file, batch, work)
            update(before + batch[-1].read, total, work.stored)
        before += file.size


def batches(items: Iterator[Item]) -> Iterator[list[Item]]:
    """Yield groups of items that become one transaction each."""
    batch: list[Item] = []
    characters = 0
    for item in items:
        batch.append(item)
        characters += len(item.message.text) if item.message else 0
        if len(batch) == BATCH_MESSAGES or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def store_batch(engine: cortext.Engine, file: File, batch: list[Item], work: Work) -> None:
    """Store a batch; when the engine refuses it, find the message that is to blame."""
    messages = [item.message for item in batch if item.message is not None]
    if len(messages) == len(batch):
        try:
            work.stored += len(engine.ingest_many(messages))
        except (InputError, ConflictError):
            pass  # nothing was written
        else:
            return
    for item in batch:
        if item.message is None:
            work.reject(file, item.line, item.problem)
            continue
        try:
            work.stored += len(engine.ingest_many([item.message]))
        except (InputError, ConflictError) as error:
            work.reject(file, item.line, str(error))
