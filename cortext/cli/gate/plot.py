"""A picture of what a gate decided."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import click

from cortext import GateEvent

__all__ = ["check", "draw"]

SUFFIXES = (".png", ".svg", ".pdf")


class Kind(Enum):
    """What came of a segment."""

    NOTHING = "nothing"
    STAGED = "staged at a boundary"
    INTERRUPTS = "interrupts"


def kind_of(event: GateEvent) -> Kind:
    """Return what came of a segment."""
    if event.should_interrupt:
        return Kind.INTERRUPTS
    return Kind.STAGED if event.memories else Kind.NOTHING


def check(path: Path) -> None:
    """Refuse before the work what could not be drawn after it."""
    if path.suffix.lower() not in SUFFIXES:
        raise click.ClickException(f"{path}: a picture ends with {', '.join(SUFFIXES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise click.ClickException("--plot needs matplotlib: pip install 'cortext[plot]'")


def draw(path: Path, events: Sequence[GateEvent], title: str) -> None:
    """Draw relevance against the bar, segment by segment."""
    from matplotlib.figure import Figure  # slow to load, and not always there

    places = range(1, len(events) + 1)
    figure = Figure(figsize=(max(7.0, min(24.0, len(events) * 0.3)), 4.2), layout="constrained")
    axes = figure.add_subplot()
    for place, event in zip(places, events, strict=True):
        if event.at_boundary:
            axes.axvspan(place - 0.5, place + 0.5, color="0.93", linewidth=0)
    takes = [e.verdict.bar + e.verdict.refractory - e.verdict.ease for e in events]
    axes.step(places, takes, where="mid", color="tab:red", label="bar + pause - ease")
    drift = [event.terms.drift / 2 for event in events]
    axes.plot(places, drift, color="tab:purple", linewidth=0.8, alpha=0.6, label="half the drift")
    axes.vlines(places, 0, [event.terms.relevance for event in events], color="tab:blue", alpha=0.4)
    for kind, marker, color in (
        (Kind.NOTHING, "o", "0.6"),
        (Kind.STAGED, "s", "tab:orange"),
        (Kind.INTERRUPTS, "^", "tab:green"),
    ):
        of = [(place, e) for place, e in zip(places, events, strict=True) if kind_of(e) is kind]
        axes.scatter(
            [place for place, _ in of],
            [event.terms.relevance for _, event in of],
            marker=marker,
            color=color,
            zorder=3,
            label=f"relevance, {kind.value}",
        )
    axes.set(xlabel="segment", ylabel="0 to 1", ylim=(0, 1.05), title=title)
    axes.set_xlim(0.5, max(1.5, len(events) + 0.5))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)
