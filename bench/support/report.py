"""Where results go: tables and progress on the terminal, JSON to a file or standard output."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from support import environment

__all__ = ["Meter", "bars", "figure", "header", "progress", "tables", "write_json"]

LOG_WIDTH = 120  # of output that is no terminal
Meter = Callable[[int, int], None]  # (done, total)


def tables(json_path: str | None) -> Console:
    """The console for people; standard error when JSON takes standard output."""
    stream = sys.stderr if json_path == "-" else sys.stdout
    width = None if stream.isatty() else LOG_WIDTH
    return Console(file=stream, width=width, highlight=False)


def header(console: Console, about: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    """Say what was run, where, and from which commit."""
    revision = about["commit"]
    state = " with changes" if revision["dirty"] else ""
    if not revision["package_matches"]:
        state += "; the installed package differs from this checkout"
    lines = {
        "machine": environment.machine_line(about["machine"]),
        "versions": ", ".join(f"{name} {version}" for name, version in about["versions"].items()),
        "commit": f"{(revision['id'] or 'none')[:12]}{state}",
        "configuration": ", ".join(f"{name} {value}" for name, value in configuration.items()),
        "load at start": " ".join(map(str, about["load_at_start"])),
    }
    for name, line in lines.items():
        console.print(f"{name}: {line}", markup=False, soft_wrap=True)


def figure(value: float | None, digits: int = 3) -> str:
    """A number for a table; empty for none."""
    return "" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


@contextmanager
def bars() -> Iterator[Callable[[str], Meter]]:
    """Progress bars on standard error, if that is a terminal; each call of the result adds one."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=console, transient=True, disable=hidden) as display:

        def add(label: str) -> Meter:
            task = display.add_task(label, total=None)
            return lambda done, total: display.update(task, completed=done, total=total)

        yield add


@contextmanager
def progress(label: str) -> Iterator[Meter]:
    """A single bar."""
    with bars() as add:
        yield add(label)


def write_json(path: str | None, document: Mapping[str, Any]) -> None:
    """Write the document; "-" is standard output, None is nowhere."""
    if path is None:
        return
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")
