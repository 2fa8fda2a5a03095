"""Progress on standard error: a bar on a terminal, a line now and then elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from cortext.cli import terminal

__all__ = ["Meter", "meter"]

# update(done, total, count): the part done, and how many messages that is.  Total 0: unknown.
Meter = Callable[[int, int, int], None]

LINE_SECONDS = 2.0


@contextmanager
def meter(label: str, wanted: bool | None) -> Iterator[Meter]:
    """Give a function that shows progress.  `wanted` None: only if standard error is a terminal."""
    interactive = sys.stderr.isatty()
    if wanted is False or (wanted is None and not interactive):
        yield lambda _done, _total, _count: None
    elif interactive:
        with bar(label) as update:
            yield update
    else:
        yield lines(label)


@contextmanager
def bar(label: str) -> Iterator[Meter]:
    """Draw a bar that goes away when the work is done."""
    started = time.monotonic()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[note]}", markup=False, table_column=Column(no_wrap=True)),
    )
    with Progress(*columns, console=terminal.errors(), transient=True) as progress:
        task = progress.add_task(label, total=None, note="")

        def update(done: int, total: int, count: int) -> None:
            progress.update(
                task,
                completed=done,
                total=total or None,
                note=describe(done, total, count, time.monotonic() - started),
            )

        yield update


def lines(label: str) -> Meter:
    """Write a line every few seconds, for logs."""
    started = last = time.monotonic()

    def update(done: int, total: int, count: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_SECONDS or (total and done >= total):
            last = now
            terminal.note(f"{label}: {describe(done, total, count, now - started)}")

    return update


def describe(done: int, total: int, count: int, seconds: float) -> str:
    """Return how far it is, how fast it goes and how long it will take."""
    text = terminal.counted(count, "message")
    if seconds > 0 and count:
        text += f", {count / seconds:,.0f}/s"
    if 0 < done < total:
        text += f", {clock(seconds * (total - done) / done)} left"
    return text


def clock(seconds: float) -> str:
    """Return a duration as minutes and seconds, or hours too."""
    whole = round(seconds)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
