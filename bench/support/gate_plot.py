"""A picture of a gate run: evidence staged against interruptions that nobody needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from support.gate_scores import Point
from support.plots import footer_of, save

__all__ = ["draw"]

NAME = "gate-bar.png"
STEP = 0.1  # of the bar, between two points that are marked


def draw(
    folder: Path, curves: Mapping[str, Sequence[Point]], bound: float, about: Mapping[str, Any]
) -> Path:
    """Write the picture into the folder: a curve a source, the bar rising from right to left.

    bound: of false interruptions per 100.
    """
    picture = Figure(figsize=(8, 5.6))
    axes = picture.subplots()
    for index, (source, points) in enumerate(curves.items()):
        color = f"C{index}"
        across = [point.false_per_100 for point in points]
        up = [point.staged for point in points]
        axes.plot(across, up, "-", color=color, label=source)
        axes.plot(across[:1], up[:1], "o", color=color)
        for point in _spaced(points):
            axes.plot([point.false_per_100], [point.staged], "|", color=color)
            axes.annotate(
                f"+{point.shift:.2f}",
                (point.false_per_100, point.staged),
                textcoords="offset points",
                xytext=(3, -10),
                fontsize=7,
                color=color,
            )
    axes.axvline(bound, color="0.5", linestyle=":", label=f"at most {bound:g}")
    axes.set_title("as the bar rises above this run's (dot)")
    axes.set_xlabel("interruptions per 100 unrelated segments")
    axes.set_ylabel("share of evidence staged")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3)
    axes.legend()
    return save(picture, folder / NAME, footer_of(about))


def _spaced(points: Sequence[Point]) -> list[Point]:
    """The first point of each step."""
    found: dict[int, Point] = {}
    for point in points[1:]:
        found.setdefault(int(point.shift / STEP), point)
    return [point for step, point in found.items() if step]
