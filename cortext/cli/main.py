"""The `cortext` command: its subcommands, and the one place where errors become a line."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import click

import cortext
from cortext.cli import command
from cortext.cli.completion import completion
from cortext.cli.consolidate import consolidate
from cortext.cli.demo.command import demo
from cortext.cli.digest import digest, episodes, related
from cortext.cli.failure import Interrupted, ReaderLeft, report
from cortext.cli.gate.command import gate
from cortext.cli.ingest import ingest
from cortext.cli.messages import messages
from cortext.cli.model import model
from cortext.cli.recall import recall
from cortext.cli.stats import stats
from cortext.cli.terminal import flush

__all__ = ["cli", "main"]


class Root(command.Group):
    """Makes errors of ours from what click would report in its own way."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:
            raise Interrupted(str(stopped) or "interrupted") from stopped
        except BrokenPipeError as error:
            raise ReaderLeft from error


@click.group(
    "cortext",
    cls=Root,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=[
        "cortext demo",
        "cortext ingest memory.db chat.jsonl",
        'cortext recall memory.db "what is the garage code?"',
        "cortext COMMAND --help",
    ],
)
@click.version_option(cortext.__version__, prog_name="cortext", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Recall for AI agents: messages go in, the ones that matter come out.

    A store is one file. No LLM is called and nothing uses the network, except "model get".
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


COMMANDS = (
    demo,
    ingest,
    recall,
    messages,
    consolidate,
    digest,
    episodes,
    related,
    gate,
    stats,
    model,
    completion,
)

for each in COMMANDS:
    cli.add_command(each)


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(run(args))


def run(args: list[str] | None) -> int:
    """Run the command line and return the exit status; nothing else gets out of here."""
    if sys.stdout is None:  # closed by whoever started this
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    # What an old terminal's encoding lacks is shown as an escape.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = cli.main(args, prog_name="cortext", standalone_mode=False)
        # What is still buffered must fail here and not while the interpreter ends.
        flush()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException as error:  # noqa: BLE001  (the last stop before the user)
        discard_output()
        return report(error)
    return status if isinstance(status, int) else 0


def discard_output() -> None:
    """Let the interpreter end without writing to what may be gone."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
