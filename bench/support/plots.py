"""Pictures of a scale run: PNG files, drawn with matplotlib, which only they need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from support import environment
from support.curve import at
from support.results import Results

__all__ = ["draw", "footer_of", "save"]

DPI = 130
STAGES = (
    "whole call",
    "encode the query",
    "of it dense",
    "of it lexical",
    "of it late",
    "of it fetch",
)
KINDS = ("questions", "common words")
RESIDENT = ("after open", "after 20 recalls")
MEGABYTE = 1e6
LEGEND = "line: p50, dashes: p95"


def draw(
    folder: Path,
    results: Results,
    sizes: Sequence[int],
    files: Sequence[str],
    about: Mapping[str, Any],
) -> list[Path]:
    """Write the pictures into the folder; `files` are the names of the store's files."""
    footer = footer_of(about)
    return [
        save(_latency(results, sizes), folder / "scale-latency.png", footer),
        save(_space(results, sizes, files), folder / "scale-space.png", footer),
        save(_opening(results, sizes), folder / "scale-open.png", footer),
    ]


def _latency(results: Results, sizes: Sequence[int]) -> Figure:
    picture = Figure(figsize=(13, 6.2))
    panels = picture.subplots(1, len(KINDS), sharey=True)
    for axes, kind in zip(panels, KINDS, strict=True):
        for index, name in enumerate(STAGES):
            summaries = [results.summary(at(f"recall, {kind}", size), name) for size in sizes]
            color = f"C{index}"
            label = name.removeprefix("of it ")
            axes.plot(sizes, [s.p50 for s in summaries], "o-", color=color, label=label)
            axes.plot(sizes, [s.p95 for s in summaries], "x--", color=color, alpha=0.6)
        _logarithmic(axes, sizes, f"recall: {kind}", "milliseconds")
        _logarithmic_times(axes)
    panels[-1].legend(title=LEGEND, fontsize=9, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return picture


def _space(results: Results, sizes: Sequence[int], files: Sequence[str]) -> Figure:
    picture = Figure(figsize=(13, 5.6))
    memory, disk = picture.subplots(1, 2)
    for name in RESIDENT:
        values = [_figure(results, "resident", size, name) * MEGABYTE / size for size in sizes]
        memory.plot(sizes, values, "o-", label=name)
    _logarithmic(memory, sizes, "memory: resident, less an empty store", "bytes a message")
    for name, label in [
        ("on disk", "all files"),
        *((f"of it {file}", f"of it {file}") for file in files),
        ("of it text", "the messages' text"),
    ]:
        values = [_figure(results, "store", size, name) for size in sizes]
        disk.plot(sizes, values, "o-", label=label)
    _logarithmic(disk, sizes, "disk: the closed store", "bytes a message")
    for axes in (memory, disk):
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
        axes.legend()
    return picture


def _figure(results: Results, section: str, size: int, name: str) -> float:
    """Not a number where there is none: no point is drawn."""
    value = results.value(at(section, size), name)
    return math.nan if value is None else value


def _opening(results: Results, sizes: Sequence[int]) -> Figure:
    picture = Figure(figsize=(7.5, 5.6))
    axes = picture.subplots()
    for index, name in enumerate(
        ("model loaded already", "fresh process: open", "fresh process: first recall")
    ):
        summaries = [results.summary(at("open", size), name) for size in sizes]
        axes.plot(sizes, [s.p50 for s in summaries], "o-", color=f"C{index}", label=name)
        axes.plot(sizes, [s.p95 for s in summaries], "x--", color=f"C{index}", alpha=0.6)
    _logarithmic(axes, sizes, "open", "milliseconds")
    _logarithmic_times(axes)
    axes.legend(title=LEGEND, fontsize=9)
    return picture


def _logarithmic(axes: Axes, sizes: Sequence[int], title: str, unit: str) -> None:
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(title)
    axes.set_xlabel("messages in the store")
    axes.set_ylabel(unit)
    axes.grid(which="major", alpha=0.3)


def _logarithmic_times(axes: Axes) -> None:
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(plain)
    axes.yaxis.set_minor_formatter(plain if high < 10 * low else NullFormatter())


def footer_of(about: Mapping[str, Any]) -> str:
    revision = about["commit"]
    state = " with changes" if revision["dirty"] else ""
    commit = f"commit {(revision['id'] or 'none')[:12]}{state}"
    return f"{environment.machine_line(about['machine'])}; {commit}; {about['date'][:10]}"


def save(picture: Figure, path: Path, footer: str) -> Path:
    picture.text(0.01, 0.01, footer, fontsize=8, color="0.35")
    picture.tight_layout(rect=(0, 0.035, 1, 1))
    picture.savefig(path, dpi=DPI)
    return path
