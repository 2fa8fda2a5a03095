"""Commands whose help ends with examples, and the options that several of them share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cortext.cli.times import parse_moment

__all__ = ["Command", "Group", "Moment", "as_json", "filters", "limit", "store_argument"]

# click made the class generic in 8.4; before, it cannot be subscripted.
if TYPE_CHECKING:
    MomentBase = click.ParamType[datetime]
else:
    MomentBase = click.ParamType

F = TypeVar("F", bound=Callable[..., Any])


class Examples(click.Command):
    """Writes the examples at the end of the help, as they are typed."""

    def __init__(self, *args: Any, examples: list[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples or []

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write them without wrapping: they are there to be copied."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Command(Examples):
    """A command with examples."""


class Group(Examples, click.Group):
    """A group with examples, its commands in the order in which they are used."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names as they were added."""
        return list(self.commands)


class Moment(MomentBase):
    """An ISO 8601 date or time; a date alone is its midnight in UTC."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the aware datetime."""
        if isinstance(value, datetime):
            return value
        try:
            return parse_moment(value)
        except ValueError as error:
            self.fail(f"{value!r}: {error}", param, ctx)


def store_argument(function: F) -> F:
    """Add the argument STORE."""
    return click.argument("store", type=click.Path())(function)


def as_json(text: str) -> Callable[[F], F]:
    """Add --json, with what it prints."""
    return click.option("--json", "as_json", is_flag=True, help=text)


def limit(default: int, text: str) -> Callable[[F], F]:
    """Add --limit."""
    return click.option(
        "--limit", type=click.IntRange(1, 10_000), default=default, show_default=True, help=text
    )


def filters(function: F) -> F:
    """Add the options that say which messages take part."""
    for option in (
        click.option(
            "--until",
            type=Moment(),
            help="Only messages before this time (2026-05-01, which is its midnight UTC, or "
            "2026-05-01T09:30:00Z).",
        ),
        click.option("--since", type=Moment(), help="Only messages from this time on."),
        click.option("--role", "roles", multiple=True, help="Only this role; may be repeated."),
        click.option(
            "--session", "sessions", multiple=True, help="Only this session; may be repeated."
        ),
    ):
        function = option(function)
    return function
