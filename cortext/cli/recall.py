"""`cortext recall`: ask a store."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import datetime

import click
from rich.text import Text

from cortext import Hit, Message, Recall, StageScores, Standing
from cortext.cli import command, terminal
from cortext.cli.output import Column, number, print_table, recall_fields
from cortext.cli.stores import open_existing
from cortext.cli.times import iso, short

__all__ = ["recall"]

DIGITS = {field.name: 2 if field.name == "lexical" else 3 for field in fields(StageScores)}
SNIPPET = 400
BUDGET = click.IntRange(1, 2**31 - 1)

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


def marked(hit: Hit) -> str:
    """Return the text of a hit, saying where it is cut and which newer messages replace it."""
    newer = ", ".join(map(str, hit.superseded_by))
    mark = f"[superseded by {newer}] " if newer else ""
    if hit.excerpt is None:
        return mark + hit.text
    return f"{mark}{'[...] ' if hit.excerpt[0] else ''}{hit.text} [...]"


def rows(hits: tuple[Hit, ...], query: str, explain: bool, full: bool) -> list[list[str | Text]]:
    """Return the hits as a table's rows, each with what is attached to it above and below."""
    words = query_words(query)
    table: list[list[str | Text]] = []
    for hit in hits:
        scores: list[str | Text] = [number(hit.score, 3)]
        if explain:
            scores += [number(getattr(hit.scores, name), digits) for name, digits in DIGITS.items()]
        blank = [""] * (len(scores) - 1)
        table += (
            row(["before", *blank], near, near.text, words, explain, full) for near in hit.before
        )
        table.append(row(scores, hit, marked(hit), words, explain, full))
        if hit.duplicates and isinstance(table[-1][-1], Text):
            table[-1][-1].append(
                f" [and {terminal.counted(len(hit.duplicates), 'time')} more]", "dim"
            )
        table += (
            row(["after", *blank], near, near.text, words, explain, full) for near in hit.after
        )
    return table


def row(
    scores: list[str | Text],
    message: Message,
    text: str,
    words: re.Pattern[str] | None,
    explain: bool,
    full: bool,
) -> list[str | Text]:
    """Return one message as a row behind its scores; beside all of them a screen has no room."""
    if not terminal.is_terminal():
        return [*scores, str(message.id), iso(message.time), message.session, message.role, text]
    shown = Text(terminal.one_line(text) if full else snippet(text, words, SNIPPET))
    if words:
        shown.highlight_regex(words, style="bold yellow")
    about = [] if explain else [short(message.time), message.session]
    return [*scores, str(message.id), *about, message.role, shown]


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
            f"{terminal.counted(len(result.hits), 'hit')}, confidence {result.confidence:.2f}, "
            f"in {times.total:.1f} ms "
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
        "cortext recall memory.db garage code --limit 50 --budget-tokens 1000",
        "cortext recall memory.db garage code --current-only",
        "cortext recall memory.db garage code --json | jq -r '.hits[].text'",
    ],
)
@command.store_argument
@click.argument("query", nargs=-1, required=True)
@command.limit(10, "Most hits to show.")
@command.filters
@click.option(
    "--as-of",
    type=command.Moment(),
    metavar="TIME",
    help="Answer as if it were then, at midnight UTC of a date.",
)
@click.option("--budget-tokens", type=BUDGET, help="Most tokens, by the store's model.")
@click.option("--budget-bytes", type=BUDGET, help="Most bytes of all texts.")
@click.option("--no-attach", is_flag=True, help="Leave out questions and answers beside hits.")
@click.option("--current-only", is_flag=True, help="Leave out what newer messages supersede.")
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
    as_of: datetime | None,
    budget_tokens: int | None,
    budget_bytes: int | None,
    no_attach: bool,
    current_only: bool,
    explain: bool,
    standing_limit: int,
    full: bool,
    as_json: bool,
) -> None:
    """Show the messages in STORE that matter for QUERY, best first.

    Without a terminal: score, id, time, session, role and text, separated by tabs, texts whole
    (--explain puts the stages' scores after the score: dense, lexical, late, context, speaker,
    date, question). A message that is shown only because the hit below it answers it has
    "before" for its score, one that answers the hit above it "after". A text cut
    to fit a budget stands between "[...]"; before the text of a message that newer ones replace
    stands "[superseded by ID] ". What the user wants from now on, such as "never push
    to main", has a table of its own on a terminal and a field of its own in JSON. A query that
    starts with a dash goes after "--". Exit status 0 also when nothing is found.
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
            as_of=as_of,
            budget_tokens=budget_tokens,
            budget_bytes=budget_bytes,
            attach=not no_attach,
            include_superseded=not current_only,
            explain=explain,
            standing_limit=standing_limit,
        )
    if as_json:
        terminal.write_line(terminal.json_line(recall_fields(asked, result)))
    elif result.hits:
        stages = [Column(name, right=True) for name in DIGITS] if explain else []
        columns = [Column("time"), Column("session"), Column("role"), Column("text", wide=True)]
        if explain and terminal.is_terminal():
            del columns[:2]
        columns.insert(0, Column("id", right=True))
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
