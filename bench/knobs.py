"""What the knobs stand for, drawn: python bench/knobs.py

By the engine's own functions, into bench/pictures/knobs.svg; --json prints the same as numbers.
Needs matplotlib: pip install '.[bench]'.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path

import click

from cortext import GateTerms, GateVerdict, Knobs
from cortext.engine import decide

PICTURE = Path(__file__).parent / "pictures" / "knobs.svg"

Curves = Mapping[str, list[float]]

STEPS = [step / 20 for step in range(21)]
SETTINGS = (0.0, 0.5, 1.0)
SEGMENTS = list(range(21))

TITLES = {
    "focus: limits": ("focus", "messages"),
    "focus: the bar": ("focus", "relevance that is asked for"),
    "sensitivity: the bar at affect": ("affect of the segment", "relevance that is asked for"),
    "stability: the pause": ("segments since the interruption", "added to the bar"),
    "stability: the pause by drift": ("drift, right after it", "added to the bar"),
    "stability: ease at a boundary": ("how certain it is one", "taken off the bar"),
}


def verdict(knobs: Knobs, **terms: float) -> GateVerdict:
    """The rule for one segment, of which only these terms matter."""
    given = {
        "relevance": 0.0, "novelty": 1.0, "utility": 0.0, "overlap": 0.0,
        "affect": 0.0, "drift": 0.0, "since": inf, "boundary": 0.0, **terms,
    }  # fmt: skip
    return decide(GateTerms(**given), knobs)


def by(
    name: str, values: Callable[[Knobs], list[float]], settings: Sequence[float] = SETTINGS
) -> Curves:
    """A curve for each setting of a knob."""
    return {f"{name} {at:g}": values(Knobs(**{name: at})) for at in settings}


def curves() -> dict[str, Curves]:
    """Everything that is drawn."""
    values = [Knobs(focus=at).values for at in STEPS]
    return {
        "focus: limits": {
            "hits of a recall": [float(of.recall_limit) for of in values],
            "messages of a segment": [float(of.gate_limit) for of in values],
        },
        "focus: the bar": {"bar": [of.bar for of in values]},
        "sensitivity: the bar at affect": by(
            "sensitivity", lambda knobs: [verdict(knobs, affect=x).bar for x in STEPS]
        ),
        "stability: the pause": by(
            "stability",
            lambda knobs: [verdict(knobs, since=float(x)).refractory for x in SEGMENTS],
        ),
        "stability: the pause by drift": by(
            "stability",
            lambda knobs: [verdict(knobs, since=0.0, drift=x).refractory for x in STEPS],
        ),
        "stability: ease at a boundary": by(
            "stability", lambda knobs: [verdict(knobs, boundary=x).ease for x in STEPS]
        ),
    }


def draw(found: Mapping[str, Curves], path: Path) -> None:
    """A picture that is the same each time."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "knobs"
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    for axes, (title, lines) in zip(figure.subplots(2, 3).flat, found.items(), strict=True):
        across, up = TITLES[title]
        for name, line in lines.items():
            places: Sequence[float] = SEGMENTS if across.startswith("segments") else STEPS
            axes.plot(places, line, label=name)
        axes.set(title=title, xlabel=across, ylabel=up)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


@click.command(help=__doc__)
@click.option("--into", type=click.Path(path_type=Path), default=PICTURE, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers instead.")
def main(into: Path, as_json: bool) -> None:
    found = curves()
    if as_json:
        click.echo(json.dumps(found))
        return
    draw(found, into)


if __name__ == "__main__":
    main()
