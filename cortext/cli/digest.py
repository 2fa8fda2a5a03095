"""`cortext digest`, `episodes` and `related`: what consolidation has made of a store."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import asdict
from datetime import datetime
from typing import Any

import click

import cortext
from cortext.cli import command, terminal
from cortext.cli.output import Column, message_fields, number, print_table
from cortext.cli.stores import open_existing
from cortext.cli.times import iso, short

__all__ = ["digest", "episodes", "related"]

SHOWN = 400
HEADLINE = 120

sessions_option = click.option(
    "--session", "sessions", multiple=True, help="Only this session; may be repeated."
)


def hint(engine: cortext.Engine, store: str, found: Sized) -> None:
    """Say it when there is more to come, or why there is nothing."""
    if engine.state == "none":
        if not len(found):
            terminal.note("nothing is there: no message of these is consolidated")
    else:
        terminal.note(f"not all is consolidated (cortext consolidate {store})")


def moment(time: datetime) -> str:
    """Return a time for whoever reads it."""
    return short(time) if terminal.is_terminal() else iso(time)


def text(value: str, shown: int = SHOWN) -> str:
    """Return a text for whoever reads it."""
    return terminal.shorten(value, shown) if terminal.is_terminal() else value


@click.command(
    "digest",
    cls=command.Command,
    short_help="Show what was talked about, in its own sentences.",
    examples=[
        "cortext digest memory.db",
        "cortext digest memory.db --session s1 --budget-tokens 200",
    ],
)
@command.store_argument
@sessions_option
@click.option(
    "--budget-tokens",
    type=click.IntRange(1),
    default=500,
    show_default=True,
    help="Most tokens of all sentences.",
)
@command.as_json("Print one JSON object.")
def digest(store: str, sessions: tuple[str, ...], budget_tokens: int, as_json: bool) -> None:
    """Show the sentences that stand for the episodes of STORE, in the order of their messages."""
    with open_existing(store) as engine:
        found = engine.digest(list(sessions) or None, budget_tokens=budget_tokens)
        hint(engine, store, found)
    if as_json:
        fields: dict[str, Any] = {
            "tokens": found.tokens,
            "episodes": found.episodes,
            "episodes_total": found.episodes_total,
            "sentences": [
                {
                    "text": sentence.text,
                    "message": sentence.message.id,
                    "span": list(sentence.span),
                    "episode": sentence.episode,
                    "session": sentence.message.session,
                    "role": sentence.message.role,
                    "time": iso(sentence.message.time),
                }
                for sentence in found
            ],
        }
        terminal.write_line(terminal.json_line(fields))
        return
    print_table(
        [
            Column("message", right=True),
            Column("time"),
            Column("session"),
            Column("role"),
            Column("sentence", wide=True),
        ],
        (
            [
                str(sentence.message.id),
                moment(sentence.message.time),
                sentence.message.session,
                sentence.message.role,
                text(sentence.text),
            ]
            for sentence in found
        ),
    )


@click.command(
    "episodes",
    cls=command.Command,
    short_help="List runs of messages that belong together.",
    examples=["cortext episodes memory.db", "cortext episodes memory.db --since 2026-05-01 --json"],
)
@command.store_argument
@command.limit(100, "Most episodes to show.")
@click.option("--after", type=click.IntRange(0), default=0, help="Only ids above this one.")
@sessions_option
@click.option("--since", type=command.Moment(), help="Only what goes on at this time or later.")
@click.option("--until", type=command.Moment(), help="Only what began before this time.")
@command.as_json("Print one JSON object a line.")
def episodes(
    store: str,
    limit: int,
    after: int,
    sessions: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
) -> None:
    """List the episodes of STORE in the order in which they began."""
    with open_existing(store) as engine:
        found = engine.episodes(
            session=list(sessions) or None, since=since, until=until, limit=limit, after=after
        )
        hint(engine, store, found)
    if as_json:
        for episode in found:
            fields = {**asdict(episode), "start": iso(episode.start), "end": iso(episode.end)}
            terminal.write_line(terminal.json_line(fields))
        return
    print_table(
        [
            Column("id", right=True),
            Column("start"),
            Column("end"),
            Column("session"),
            Column("messages", right=True),
            Column("headline", wide=True),
        ],
        (
            [
                str(episode.id),
                moment(episode.start),
                moment(episode.end),
                episode.session,
                str(episode.messages),
                text(episode.headline or "", HEADLINE),
            ]
            for episode in found
        ),
    )


@click.command(
    "related",
    cls=command.Command,
    short_help="Show what a message has to do with others.",
    examples=["cortext related memory.db 17", "cortext related memory.db 17 --limit 3 --json"],
)
@command.store_argument
@click.argument("id", type=click.IntRange(1))
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=5, show_default=True, help="Of each relation."
)
@sessions_option
@click.option("--role", "roles", multiple=True, help="Only this role; may be repeated.")
@command.as_json("Print one JSON object a line.")
def related(
    store: str,
    id: int,
    limit: int,
    sessions: tuple[str, ...],
    roles: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show the messages of STORE that have to do with the one named by ID.

    Duplicates say the same; others are superseded by it, supersede it, are of its episode, or are
    similar by their meaning.
    """
    with open_existing(store) as engine:
        found = engine.related(
            id, limit=limit, session=list(sessions) or None, roles=list(roles) or None
        )
        hint(engine, store, found)
    if as_json:
        for other in found:
            fields = {
                "relation": other.relation,
                "score": other.score,
                **message_fields(other.message),
            }
            terminal.write_line(terminal.json_line(fields))
        return
    print_table(
        [
            Column("relation", whole=True),
            Column("score", right=True),
            Column("id", right=True),
            Column("time"),
            Column("role"),
            Column("text", wide=True),
        ],
        (
            [
                other.relation.replace("_", " "),
                number(other.score, 2),
                str(other.message.id),
                moment(other.message.time),
                other.message.role,
                text(other.message.text),
            ]
            for other in found
        ),
    )
