"""One line and one exit status for everything that can go wrong."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback

import click

from cortext.cli.terminal import one_line
from cortext.errors import CortextError

__all__ = ["BadInput", "Interrupted", "ReaderLeft", "Stopped", "report"]

FAILED, USAGE, INTERRUPTED, READER_LEFT = 1, 2, 130, 141


class BadInput(click.ClickException):
    """A line of the input is not a message."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(f"{file}:{line}: {reason}")


class Stopped(KeyboardInterrupt):
    """The person stopped the work; the text says what is safe."""


class ReaderLeft(click.ClickException):
    """Whoever read the output has seen enough, as `head` does: nothing is wrong."""

    exit_code = READER_LEFT

    def __init__(self) -> None:
        super().__init__("the reader of the output went away")


class Interrupted(click.ClickException):
    """The person stopped the command."""

    exit_code = INTERRUPTED


def report(error: BaseException) -> int:
    """Say on standard error what went wrong and return the exit status."""
    text, status = describe(error)
    with contextlib.suppress(OSError, ValueError):
        if os.environ.get("CORTEXT_DEBUG") == "1":
            traceback.print_exception(error)
        if status == READER_LEFT:
            return status
        if status == INTERRUPTED and sys.stderr.isatty():
            print(file=sys.stderr)  # the terminal wrote ^C
        print(f"cortext: {one_line(text)}", file=sys.stderr, flush=True)
    return status


def describe(error: BaseException) -> tuple[str, int]:
    """Return the sentence and the exit status for an error."""
    if isinstance(error, click.Abort):
        error = error.__cause__ or error
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    if isinstance(error, click.UsageError):
        return usage(error), USAGE
    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    if isinstance(error, CortextError):
        return str(error) or type(error).__name__, FAILED
    if isinstance(error, BrokenPipeError):
        return "the reader of the output went away", READER_LEFT
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return where + error.strerror, FAILED
    if isinstance(error, MemoryError):
        return "not enough memory", FAILED
    if isinstance(error, (click.Abort, EOFError)):
        return "the input ended too early", FAILED
    bug = f"{type(error).__name__}: {error}"
    return f"{bug} (a bug in cortext; CORTEXT_DEBUG=1 shows where)", FAILED


def usage(error: click.UsageError) -> str:
    """Return a usage error in one line that says where to read on."""
    text = error.format_message().rstrip(".")
    return f"{text} (see: {error.ctx.command_path} --help)" if error.ctx else text
