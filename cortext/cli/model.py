"""`cortext model`."""

import click

from cortext.cli import command


@click.group("model", cls=command.Group)
def model() -> None:
    """Models."""
