"""`cortext messages`: list what a store holds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import click

import cortext
from cortext.cli import command, terminal
from cortext.cli.output import Column, message_fields, print_table
from cortext.cli.stores import open_existing
from cortext.cli.times import iso, short

__all__ = ["messages"]

PAGE = 1000
SHOWN = 400


def listed(
    engine: cortext.Engine,
    sessions: tuple[str, ...],
    roles: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    after: int,
    limit: int | None,
) -> Iterator[cortext.Message]:
    """Yield messages, oldest id first, a page at a time."""
    left = limit
    while left is None or left > 0:
        count = PAGE if left is None else min(PAGE, left)
        page = engine.messages(
            session=list(sessions) or None,
            roles=list(roles) or None,
            since=since,
            until=until,
            limit=count,
            after=after,
        )
        yield from page
        if len(page) < count:
            return
        after = page[-1].id
        left = None if left is None else left - count


@click.command(
    "messages",
    cls=command.Command,
    short_help="List stored messages.",
    examples=[
        "cortext messages memory.db --session s1 --limit 20",
        "cortext messages memory.db --role user --since 2026-05-01",
        "cortext messages memory.db --all --json > backup.jsonl",
        "cortext messages memory.db --all --json | cortext ingest copy.db",
    ],
)
@command.store_argument
@command.limit(100, "Most messages to show.")
@click.option("--all", "everything", is_flag=True, help="Show all, whatever --limit says.")
@click.option("--after", type=click.IntRange(0), default=0, help="Only ids above this one.")
@command.filters
@command.as_json("Print one JSON object a line.")
def messages(
    store: str,
    limit: int,
    everything: bool,
    after: int,
    sessions: tuple[str, ...],
    roles: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
) -> None:
    """List the messages in STORE, oldest id first.

    Without a terminal: id, time, session, role and text, separated by tabs, texts whole.
    """
    with open_existing(store) as engine:
        found = listed(engine, sessions, roles, since, until, after, None if everything else limit)
        if as_json:
            for message in found:
                terminal.write_line(terminal.json_line(message_fields(message)))
            return
        person = terminal.is_terminal()
        print_table(
            [
                Column("id", right=True),
                Column("time"),
                Column("session"),
                Column("role"),
                Column("text", wide=True),
            ],
            (
                [
                    str(message.id),
                    short(message.time) if person else iso(message.time),
                    message.session,
                    message.role,
                    terminal.shorten(message.text, SHOWN) if person else message.text,
                ]
                for message in found
            ),
        )
