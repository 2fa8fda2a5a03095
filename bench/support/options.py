"""Command-line options that several benches have."""

from __future__ import annotations

import click

__all__ = ["parse_sizes"]


def parse_sizes(_context: click.Context, _option: click.Parameter, value: str) -> list[int]:
    """The numbers of a list with commas, in order, each once."""
    try:
        sizes = sorted({int(part) for part in value.split(",")})
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of numbers") from None
    if sizes[0] < 1:
        raise click.BadParameter("a size is at least 1")
    return sizes
