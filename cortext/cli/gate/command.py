"""`cortext gate replay`: what the gate makes of a recorded stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from math import inf, isinf
from pathlib import Path
from typing import Any

import click
from rich.text import Text

import cortext
from cortext import GateEvent, Knobs
from cortext.cli import command, terminal
from cortext.cli.gate import plot
from cortext.cli.gate.recording import Recording, read
from cortext.cli.ingest import embed
from cortext.cli.output import Column, message_fields, print_table
from cortext.cli.stores import open_existing
from cortext.engine import decide as decide_by_rule

__all__ = ["gate"]

SHOWN = 200
share = click.FloatRange(0, 1)


@click.group(
    "gate",
    cls=command.Group,
    short_help="Try the streaming gate on a recorded stream.",
    examples=["cortext gate replay stream.jsonl --store memory.db"],
)
def gate() -> None:
    """See what the gate makes of what a model writes."""


@gate.command(
    "replay",
    cls=command.Command,
    short_help="Print what the gate decides, segment by segment.",
    examples=[
        "cortext gate replay stream.jsonl --store memory.db",
        "cortext gate replay answer.txt --store memory.db --focus 0.8 --plot gate.png",
        "cortext gate replay - --store memory.db --json < stream.jsonl | jq .terms.relevance",
    ],
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--store", required=True, type=click.Path(), help="What is brought up comes from it.")
@click.option("--session", help='Session of the stream; default: that of the file, else "default".')
@click.option("--context", multiple=True, help="A text the model has before it; may be repeated.")
@click.option("--focus", type=share, help="Few and certain; default: 0.45.")
@click.option("--sensitivity", type=share, help="How much affect lowers the bar; default: 0.5.")
@click.option("--stability", type=share, help="How long it pauses; default: 0.5.")
@click.option(
    "--plot",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw it into this PNG; needs the extra plot.",
)
@command.as_json("Print one JSON object a segment.")
def replay(
    file: str,
    store: str,
    session: str | None,
    context: tuple[str, ...],
    focus: float | None,
    sensitivity: float | None,
    stability: float | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Feed FILE to a gate on the store and print its decisions; nothing is stored.

    A line of FILE is a JSON object with "delta", what came at once, and maybe "channel", "text" or
    "thinking". The first line may say what it is about instead: "session", "context", a list of
    texts that the model has before it, and "knobs", an object. Any other file is taken as the text
    itself. The same file on the same store gives the same output. Without a terminal: position,
    mark (I interrupts, s staged at a boundary), relevance, what it takes, why not (known, weak,
    pause, not new), channel, segment and the ids of what it stages, separated by tabs.
    """
    if picture is not None:
        plot.check(picture)
    with click.open_file(file, encoding="utf-8-sig", errors="replace") as stream:
        recording = read("stdin" if file == "-" else file, stream.read())
    options = {"focus": focus, "sensitivity": sensitivity, "stability": stability}
    chosen = {name: value for name, value in options.items() if value is not None}
    knobs = Knobs(**{**(recording.knobs or {}), **chosen})
    with open_existing(store) as engine:
        embed(engine, wanted=None)
        events = decide(engine, recording, session, context, knobs)
    show(events, as_json)
    if picture is not None:
        plot.draw(picture, events, f"{Path(file).name} on {Path(store).name}")


def decide(
    engine: cortext.Engine,
    recording: Recording,
    session: str | None,
    context: Sequence[str],
    knobs: Knobs,
) -> list[GateEvent]:
    """Feed a recording, waiting after each delta, so that no decision hangs on the clock."""
    events: list[GateEvent] = []
    with engine.gate(
        session=session or recording.session or "default",
        context=context or recording.context,
        knobs=knobs,
        every=True,
    ) as watched:
        for delta in recording.deltas:
            event = watched.feed(delta.text, delta.channel)
            events += [event] if event is not None else []
            events += watched.wait()
        return events + watched.flush()


def show(events: Sequence[GateEvent], as_json: bool) -> None:
    """Print the decisions for whoever reads standard output."""
    if as_json:
        for event in events:
            terminal.write_line(terminal.json_line(fields(event)))
        return
    person = terminal.is_terminal()
    print_table(
        [
            Column("at", right=True),
            Column(""),
            Column("relevance", right=True, whole=True),
            Column("takes", right=True),
            Column("why"),
            Column("channel"),
            Column("segment", wide=True),
        ]
        + ([] if person else [Column("staged")]),
        (row(event, person) for event in events),
    )
    staged = sum(len(event.memories) for event in events)
    if person:
        interruptions = sum(event.should_interrupt for event in events)
        terminal.write_line(
            f"{terminal.counted(len(events), 'segment')}, "
            f"{terminal.counted(interruptions, 'interruption')}, "
            f"{terminal.counted(staged, 'message')} staged"
        )


def row(event: GateEvent, person: bool) -> list[str | Text]:
    """Return a line of the timeline; what is staged stands below its segment."""
    takes = event.verdict.bar + event.verdict.refractory - event.verdict.ease
    segment = event.segment
    mark = "I" if event.should_interrupt else "s" if event.memories else ""
    cells: list[str | Text] = [
        str(segment.start),
        mark,
        f"{event.terms.relevance:.2f}",
        f"{takes:.2f}",
        why(event),
        segment.channel,
    ]
    if not person:
        ids = ",".join(str(hit.id) for hit in event.memories)
        return [*cells, segment.text, ids]
    shown = Text(terminal.shorten(segment.text, SHOWN), style="" if mark else "dim")
    for hit in event.memories:
        shown.append(f"\n  [{hit.id}] {terminal.shorten(hit.text, SHOWN)}", style="cyan")
    if event.error:
        shown.append(f"\n  {terminal.one_line(event.error)}", style="red")
    return [*cells, shown]


def why(event: GateEvent) -> str:
    """Return in a word or two what speaks against an interruption."""
    terms, verdict = event.terms, event.verdict
    if event.error or event.should_interrupt:
        return ""
    if verdict.margin < 0:
        return "pause" if verdict.margin + verdict.refractory >= 0 else "weak"
    new = replace(terms, relevance=1.0, novelty=1.0, since=inf)
    return "not new" if decide_by_rule(new).should_interrupt else "known"


def fields(event: GateEvent) -> dict[str, Any]:
    """Return a decision as JSON output has it; times are left out, since they differ each time."""
    terms = asdict(event.terms)
    if isinf(terms["since"]):
        terms["since"] = None
    return {
        "segment": asdict(event.segment),
        "should_interrupt": event.should_interrupt,
        "at_boundary": event.at_boundary,
        "terms": terms,
        "verdict": asdict(event.verdict),
        "memories": [{"score": hit.score, **message_fields(hit)} for hit in event.memories],
        "error": event.error,
    }
