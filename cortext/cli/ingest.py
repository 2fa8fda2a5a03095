"""`cortext ingest`: messages from files or standard input into a store."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

import click

import cortext
from cortext.cli import command, terminal
from cortext.cli.failure import Stopped
from cortext.cli.progress import meter
from cortext.cli.reading import FORMATS, Defaults
from cortext.cli.storing import File, Work, check, store_files

__all__ = ["ingest"]


POLL_SECONDS = 0.1
STALLED_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Summary:
    """What an ingest did.  `new`: messages that were not there before.  `pending`: not embedded."""

    store: str
    messages: int
    new: int
    bad: int
    pending: int
    store_seconds: float
    embed_seconds: float | None

    def sentence(self) -> str:
        """Return it for people."""
        text = f"stored {terminal.counted(self.messages, 'message')} in {self.store_seconds:.2f} s"
        if self.new < self.messages:
            text += f", {self.messages - self.new:,} of them were there already"
        if self.bad:
            text += f", skipped {self.bad:,} bad"
        if self.pending or self.embed_seconds is None:
            return f"{text}; {self.pending:,} not embedded"
        return f"{text}; embedded in {self.embed_seconds:.2f} s"


def restore(engine: cortext.Engine, wanted: bool | None) -> None:
    """Wait until what was lost with the file of codes is made again, or nothing comes of it."""
    left = total = engine.stats().restoring
    if not total:
        return
    moved = time.monotonic()
    with meter("restoring", wanted) as update:
        while left and time.monotonic() - moved < STALLED_SECONDS:
            time.sleep(POLL_SECONDS)
            now = engine.stats().restoring
            if now != left:
                left, moved = now, time.monotonic()
            total = max(total, left)
            update(total - left, total, total - left)


def embed(engine: cortext.Engine, wanted: bool | None) -> bool:
    """Wait until every message is embedded, and return whether all could be."""
    try:
        with meter("embedding", wanted) as update:
            complete = engine.flush(progress=lambda done, total: update(done, total, done))
        restore(engine, wanted)
        return complete
    except KeyboardInterrupt:
        raise Stopped(
            "interrupted; all messages are stored, and embedding goes on when the store is opened"
        ) from None


@click.command(
    "ingest",
    cls=command.Command,
    short_help="Store messages from files or standard input.",
    examples=[
        "cortext ingest memory.db chat.jsonl",
        "cortext ingest memory.db notes.txt --session notes",
        "tail -n 100 log.txt | cortext ingest memory.db - --format lines --no-wait",
        "cortext ingest memory.db /dev/null      # only embed what is still waiting",
        """echo '{"text": "The code is 8841.", "role": "user"}' | cortext ingest memory.db""",
    ],
)
@command.store_argument
@click.argument(
    "files",
    metavar="[FILE]...",
    nargs=-1,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="jsonl: one JSON object a line; text: one message a paragraph; lines: one a line.",
)
@click.option("--session", default="default", help="Session of messages that do not name one.")
@click.option("--role", default="user", help="Role of messages that do not name one.")
@click.option("--source", help="Source of messages that do not name one; default: file name.")
@click.option("--skip-bad", is_flag=True, help="Count bad lines instead of stopping at the first.")
@click.option("--wait/--no-wait", default=True, help="Wait until everything is embedded (default).")
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Show progress on stderr; default: if it is a terminal.",
)
@command.as_json("Print the summary as one JSON object.")
def ingest(
    store: str,
    files: tuple[str, ...],
    form: str,
    session: str,
    role: str,
    source: str | None,
    skip_bad: bool,
    wait: bool,
    progress: bool | None,
    as_json: bool,
) -> None:
    """Put the messages of each FILE into STORE, which is made if it is not there.

    Without FILE, or with "-", messages come from standard input. A JSON line has "text" and may
    have "role", "session", "time", "source", "metadata" and "uid"; "time" is ISO 8601 with a zone,
    or milliseconds since 1970 UTC. A message whose "uid" is stored already is not stored twice.
    Files are checked first, so that a bad line changes nothing; a "uid" that is there with another
    text is found only while storing, and what came before it stays.
    """
    chosen = []
    for path in files or ("-",):
        name = None if path == "-" else Path(path).name
        chosen.append(File(path, form, Defaults(session, role, source or name)))
    if not skip_bad:
        check(chosen)
    work = Work(skip_bad)
    with cortext.open(store) as engine:
        before = engine.stats().messages
        started = time.monotonic()
        # A bar would run over what is being typed.
        wanted = False if any(file.typed for file in chosen) else progress
        with meter("storing", wanted) as update:
            store_files(engine, chosen, work, update)
        stored = time.monotonic()
        complete = embed(engine, progress) if wait else True
        ended = time.monotonic()
        stats = engine.stats()
    for line in work.first_bad:
        terminal.note(f"skipped: {line}")
    if work.bad > len(work.first_bad):
        terminal.note(f"skipped: {work.bad - len(work.first_bad):,} more")
    summary = Summary(
        store=store,
        messages=work.stored,
        new=max(0, min(work.stored, stats.messages - before)),
        bad=work.bad,
        pending=stats.pending,
        store_seconds=round(stored - started, 3),
        embed_seconds=round(ended - stored, 3) if wait else None,
    )
    terminal.write_line(terminal.json_line(asdict(summary)) if as_json else summary.sentence())
    if not complete:
        waiting = terminal.counted(stats.pending, "message")
        raise click.ClickException(f"{waiting} could not be embedded: {stats.last_error}")
