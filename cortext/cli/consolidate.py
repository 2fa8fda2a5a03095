"""`cortext consolidate`: link and sum up what is new."""

from __future__ import annotations

from dataclasses import asdict

import click

import cortext
from cortext.cli import command, terminal
from cortext.cli.failure import Stopped
from cortext.cli.ingest import embed
from cortext.cli.output import Column, print_table
from cortext.cli.progress import meter
from cortext.cli.stores import open_existing

__all__ = ["consolidate"]


def work(engine: cortext.Engine, budget_ms: float | None, wanted: bool | None) -> cortext.Report:
    """Consolidate with a bar."""
    try:
        with meter("consolidating", wanted) as update:
            return engine.consolidate(
                budget_ms, progress=lambda done, total: update(done, total, done)
            )
    except KeyboardInterrupt:
        raise Stopped("interrupted; what was done stays, and the next call goes on") from None


@click.command(
    "consolidate",
    cls=command.Command,
    short_help="Link what belongs together; find episodes and their sentences.",
    examples=[
        "cortext consolidate memory.db",
        "cortext consolidate memory.db --budget-ms 500 --json",
    ],
)
@command.store_argument
@click.option(
    "--budget-ms", type=click.FloatRange(0, min_open=True), help="Stop after about so long."
)
@click.option("--wait/--no-wait", default=True, help="Embed what still waits first (default).")
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Show progress on stderr; default: if it is a terminal.",
)
@command.as_json("Print the report as one JSON object.")
def consolidate(
    store: str, budget_ms: float | None, wait: bool, progress: bool | None, as_json: bool
) -> None:
    """Link and sum up what STORE has got since the last time; no message is changed.

    It finds messages that say the same, values that newer ones replace, episodes, and the sentences
    that stand for each, and merges the full-text index. No model runs. What is left, when the time
    is over or it is interrupted, comes next time.
    """
    with open_existing(store) as engine:
        if wait:
            embed(engine, progress)
        report = work(engine, budget_ms, progress)
        state = engine.state
    fields = {**asdict(report), "state": state}
    if as_json:
        terminal.write_line(terminal.json_line(fields))
        return
    spent = fields.pop("spent_ms")
    rows = [[name.replace("_", " "), shown(value)] for name, value in fields.items()]
    rows += [[f"ms for {name}", f"{ms:,.1f}"] for name, ms in spent.items()]
    print_table([Column("what", whole=True), Column("value", wide=True)], rows)


def shown(value: object) -> str:
    """Return a value as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
