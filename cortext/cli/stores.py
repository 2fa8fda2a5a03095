"""Opening stores.  A command that reads never makes one."""

from __future__ import annotations

from pathlib import Path

import click

import cortext

__all__ = ["open_existing"]


def open_existing(path: str) -> cortext.Engine:
    """Open a store that must be there already."""
    file = Path(path)
    if not file.exists():
        raise click.ClickException(f"no store at {path} (make one: cortext ingest {path} FILE)")
    if not file.is_file():
        raise click.ClickException(f"{path} is not a file, so not a store")
    # SQLite takes an empty file for a new database and would fill it.
    if file.stat().st_size == 0:
        raise click.ClickException(f"{path} is an empty file, not a store")
    return cortext.open(path)
