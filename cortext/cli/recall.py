"""`cortext recall`: ask a store."""

from __future__ import annotations

import re
from datetime import datetime

import click
from rich.text import Text

from cortext import Hit, Recall, Standing
from cortext.cli import command, terminal
from cortext.cli.output import Column, number, print_table, recall_fields
from cortext.cli.stores import open_existing
from cortext.cli.times import iso, short
from cortext.engine import STAGES

__all__ = ["recall"]

DIGITS = {stage: 2 if stage == "lexical" else 3 for stage in STAGES}
SNIPPET = 400

# Words that many questions have; marking them would hide the ones that matter.
COMMON = re.compile("does|from|have|that|their|they|this|were|what|when|where|which|will|with|your")


def query_words(query: str) -> re.Pattern[str] | None:
    """Return a pattern for the words of the query that say something."""
    words = dict.fromkeys(re.findall(r"\w+", query.lower()))
    telling = [word for word in words if tells(word)] or list(words)
    if not telling:
        return None
    # Scripts without spaces have no word boundary to look for.
    parts = [rf"\b{word}\b" if word.isascii() else re.escape(word) for word in telling]
    return re.compile("|".join(parts), re.IGNORECASE)


def tells(word: str) -> bool:
    """Return whether a word is worth marking."""
    if word.isascii() and word.isalpha():
        return len(word) > 3 and not COMMON.fullmatch(word)
    return True


def snippet(text: str, words: re.Pattern[str] | None, limit: int) -> str:
    """Return at most `limit` characters of a text, around the first word that was asked for."""
    line = terminal.one_line(text)
    if len(line) <= limit:
        return line
    more = terminal.glyph("…", "...")
    found = words.search(line) if words else None
    start = max(0, min(found.start() - limit // 3, len(line) - limit)) if found else 0
    part = line[start : start + limit]
    return (more if start else "") + part + (more if start + limit < len(line) else "")


def rows(hits: tuple[Hit, ...], query: str, explain: bool, full: bool) -> list[list[str | Text]]:
    """Return the hits as a table's rows."""
    person = terminal.is_terminal()
    words = query_words(query)
    table: list[list[str | Text]] = []
    for hit in hits:
        row: list[str | Text] = [number(hit.score, 3)]
        if explain:
            row += [number(getattr(hit.scores, name), digits) for name, digits in DIGITS.items()]
        row += [short(hit.time) if person else iso(hit.time), hit.session, hit.role]
        if person:
            text = Text(terminal.one_line(hit.text) if full else snippet(hit.text, words, SNIPPET))
            if words:
                text.highlight_regex(words, style="bold yellow")
            row.append(text)
        else:
            row.append(hit.text)
        table.append(row)
    return table


def standing_rows(standing: tuple[Standing, ...]) -> list[list[str | Text]]:
    """Return the standing directives as a table's rows."""
    return [
        [short(one.time), one.session, one.role, terminal.one_line(one.directive)]
        for one in standing
    ]


def remarks(result: Recall, explain: bool) -> None:
    """Say on standard error what is not part of the answer."""
    if not result.hits:
        terminal.note("no hits")
    if result.pending:
        waiting = terminal.counted(result.pending, "message")
        terminal.note(f"{waiting} not embedded yet, so found by words only")
    if explain or terminal.is_terminal():
        times = result.timings
        terminal.note(
            f"{terminal.counted(len(result.hits), 'hit')} in {times.total:.1f} ms "
            f"(wait {times.wait:.1f}, encode {times.encode:.1f}, dense {times.dense:.1f}, "
            f"lexical {times.lexical:.1f}, late {times.late:.1f}, fetch {times.fetch:.1f})"
        )


@click.command(
    "recall",
    cls=command.Command,
    short_help="Show the messages that matter for a query.",
    examples=[
        'cortext recall memory.db "what is the garage code?"',
        "cortext recall memory.db garage code --limit 3 --session s1",
        "cortext recall memory.db flight --since 2026-05-01 --until 2026-06-01 --explain",
        "cortext recall memory.db garage code --json | jq -r '.hits[].text'",
    ],
)
@command.store_argument
@click.argument("query", nargs=-1, required=True)
@command.limit(10, "Most hits to show.")
@command.filters
@click.option("--explain", is_flag=True, help="Show the score of each stage and the times.")
@click.option(
    "--standing",
    "standing_limit",
    type=click.IntRange(0, 10_000),
    default=8,
    show_default=True,
    help="Most standing directives to show.",
)
@click.option("--full", is_flag=True, help="Show long texts whole.")
@command.as_json("Print one JSON object with hits and times.")
def recall(
    store: str,
    query: tuple[str, ...],
    limit: int,
    sessions: tuple[str, ...],
    roles: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    explain: bool,
    standing_limit: int,
    full: bool,
    as_json: bool,
) -> None:
    """Show the messages in STORE that matter for QUERY, best first.

    Without a terminal: score, time, session, role and text, separated by tabs, texts whole
    (--explain puts the stages' scores after the score). What the user wants from now on, such
    as "never push to main", has a table of its own on a terminal and a field of its own in
    JSON. A query that starts with a dash goes after "--". Exit status 0 also when nothing is found.
    """
    asked = " ".join(query)
    with open_existing(store) as engine:
        result = engine.recall(
            asked,
            limit=limit,
            session=list(sessions) or None,
            roles=list(roles) or None,
            since=since,
            until=until,
            explain=explain,
            standing_limit=standing_limit,
        )
    if as_json:
        terminal.write_line(terminal.json_line(recall_fields(asked, result)))
    elif result.hits:
        stages = [Column(name, right=True) for name in STAGES] if explain else []
        columns = [Column("time"), Column("session"), Column("role"), Column("text", wide=True)]
        print_table(
            [Column("score", right=True), *stages, *columns],
            rows(result.hits, asked, explain, full),
        )
    if result.standing and terminal.is_terminal() and not as_json:
        headings = [Column("time"), Column("session"), Column("role")]
        print_table(
            [*headings, Column("standing directive", wide=True)], standing_rows(result.standing)
        )
    remarks(result, explain)
