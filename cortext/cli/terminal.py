r"""Text for the terminal: what came from messages never reaches it raw.

A stored message may carry ANSI escapes, bidi overrides or invisible tags, by accident or to deceive
whoever reads it.  Such characters are shown as escapes (`\x1b`, `\u202e`) instead of dropped, so
that they can be seen.  Rich's markup is never interpreted: only `Text` objects and plain writes
are used.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.cells import cell_len, set_cell_size
from rich.console import Console

__all__ = [
    "counted",
    "errors",
    "flush",
    "glyph",
    "is_terminal",
    "json_line",
    "note",
    "one_line",
    "output",
    "shorten",
    "write_line",
]

# Controls, bidi marks and overrides, line separators, other invisible format characters, tags.
# The zero-width joiners stay: emoji and several scripts need them.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def escape(match: re.Match[str]) -> str:
    """Return the character as Python would write it in a string."""
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """Return the text on one line, safe to print."""
    return UNSAFE.sub(escape, " ".join(text.split()))


def shorten(text: str, width: int) -> str:
    """Return one safe line of at most `width` terminal cells."""
    line = one_line(text)
    if cell_len(line) <= width:
        return line
    end = glyph("…", "...")
    return set_cell_size(line, max(0, width - cell_len(end))).rstrip() + end


def json_line(value: Any) -> str:
    """Return JSON on one line: every script readable, nothing that a terminal would act on."""
    text = json.dumps(value, ensure_ascii=not speaks_unicode(), allow_nan=False)
    return UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def speaks_unicode() -> bool:
    """Return whether standard output can carry any character."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def glyph(fancy: str, plain: str) -> str:
    """Return the fancy sign where standard output can carry it."""
    return fancy if speaks_unicode() else plain


def is_terminal() -> bool:
    """Return whether a person reads standard output."""
    return sys.stdout.isatty()


class PlainConsole(Console):
    """A console that leaves broken pipes to `cortext.cli.main`, and interprets nothing."""

    def __init__(self, *, stderr: bool, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Raise what rich would turn into a silent exit."""
        raise BrokenPipeError


def output(width: int | None = None) -> Console:
    """Return a console for standard output."""
    return PlainConsole(stderr=False, width=width)


def errors() -> Console:
    """Return a console for standard error."""
    return PlainConsole(stderr=True)


@contextmanager
def writing() -> Iterator[None]:
    """Say that it was the output, when writing it fails."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"cannot write the output: {error.strerror}") from error


def write_line(line: str) -> None:
    """Write one line to standard output."""
    with writing():
        sys.stdout.write(line + "\n")


def flush() -> None:
    """Write what is still buffered for standard output."""
    with writing():
        sys.stdout.flush()


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def note(text: str) -> None:
    """Tell the person something that is not part of the answer."""
    flush()
    print(one_line(text), file=sys.stderr, flush=True)
