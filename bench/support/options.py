"""Command-line options that several benches have."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = [
    "cold_opens",
    "durability",
    "embeddings",
    "folder",
    "json_path",
    "model",
    "number",
    "parse_sizes",
    "seed",
    "stores",
]

number = click.option(
    "--n", type=click.IntRange(2), default=200, help="Messages and questions a figure."
)
seed = click.option("--seed", default=1, help="Of the made-up text.")
model = click.option("--model", help="A GGUF file or a model's name; default: the bundled one.")
durability = click.option("--durability", type=click.Choice(["full", "normal"]), default="full")
folder = click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Where stores are made and removed; a disk, not memory.  Default: the temporary one.",
)
cold_opens = click.option(
    "--cold-opens", type=click.IntRange(1), default=5, help="Fresh processes a store size."
)
embeddings = click.option(
    "--cache", type=click.Path(dir_okay=False), help="Keep embeddings between runs."
)
stores = click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the stores in this folder and go on with those that are there.",
)
json_path = click.option("--json", "json_path", metavar="PATH|-", help="Write the results as JSON.")


def parse_sizes(_context: click.Context, _option: click.Parameter, value: str) -> list[int]:
    """The numbers of a list with commas, in order, each once."""
    try:
        sizes = sorted({int(part) for part in value.split(",")})
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of numbers") from None
    if sizes[0] < 1:
        raise click.BadParameter("a size is at least 1")
    return sizes
