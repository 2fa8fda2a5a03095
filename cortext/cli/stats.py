"""`cortext stats`: how large a store is and how it is set up."""

from __future__ import annotations

from dataclasses import asdict

import click

from cortext.cli import command, terminal
from cortext.cli.output import Column, print_table, size
from cortext.cli.stores import open_existing

__all__ = ["stats"]


@click.command(
    "stats",
    cls=command.Command,
    short_help="Show size, model and settings of a store.",
    examples=["cortext stats memory.db", "cortext stats memory.db --json | jq .messages"],
)
@command.store_argument
@command.as_json("Print one JSON object.")
def stats(store: str, as_json: bool) -> None:
    """Show how many messages STORE holds, its size, its model and its settings."""
    with open_existing(store) as engine:
        fields = {**asdict(engine.stats()), "consolidation": engine.state}
    if as_json:
        terminal.write_line(terminal.json_line(fields))
        return
    person = terminal.is_terminal()
    print_table(
        [Column("what"), Column("value", wide=True)],
        (
            [
                name.replace("_", " ") if person else name,
                size(value) if person and name.endswith("_bytes") else shown(value, person),
            ]
            for name, value in fields.items()
            if value is not None
        ),
    )


def shown(value: object, person: bool) -> str:
    """Return a value as text."""
    return f"{value:,}" if person and isinstance(value, int) else str(value)
