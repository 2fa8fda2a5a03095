"""`cortext model`: which embedding models there are, getting one, checking one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from cortext.cli import command, terminal
from cortext.cli.output import Column, print_table, size
from cortext.errors import ModelError
from cortext.models import learning, registry
from cortext.models.download import download
from cortext.models.registry import ModelSpec
from cortext.models.verify import file_sha256, replace_file, verify

__all__ = ["model"]

# Left out of what a person sees: it is the same for all and takes the room.
HUB = "https://huggingface.co/"


@click.group(
    "model",
    cls=command.Group,
    short_help="List, get and verify embedding models.",
    invoke_without_command=True,
    examples=[
        "cortext model list",
        "cortext model get bge-small-en-v1.5",
        "CORTEXT_MODEL=bge-small-en-v1.5 cortext ingest new.db chat.jsonl",
    ],
)
@click.pass_context
def model(ctx: click.Context) -> None:
    """List, get and verify embedding models.

    $CORTEXT_MODEL, a name or the path of a .gguf file, says which model every command uses; without
    it, the one that comes with Cortext. A store keeps to the model it was made with.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def in_use() -> Path | None:
    """Return the file of the model in use."""
    try:
        return registry.resolve()[0]
    except ModelError as error:
        terminal.note(str(error))
        return None


def described(spec: ModelSpec, used: Path | None) -> dict[str, Any]:
    """Return what the list says about a model."""
    path = registry.installed(spec)
    return {
        "name": spec.name,
        "path": None if path is None else str(path),
        "used": path is not None and path == used,
        "bundled": spec.bundled,
        "dimension": spec.dimension,
        "context": spec.context,
        "size": spec.size,
        "sha256": spec.sha256,
        "licence": spec.licence,
        "source": spec.source,
    }


def row(fields: dict[str, Any]) -> list[str]:
    """Return a model as a row of the table."""
    if fields["path"] is None:
        state = "not here"
    else:
        state = "bundled" if fields["bundled"] else "downloaded"
    source = fields["source"] or "-"
    return [
        fields["name"],
        state + (", used" if fields["used"] else ""),
        str(fields["dimension"]),
        str(fields["context"]),
        "-" if fields["size"] is None else size(fields["size"]),
        fields["licence"] or "-",
        source.removeprefix(HUB) if terminal.is_terminal() else source,
    ]


@model.command(
    "list",
    cls=command.Command,
    short_help="List the models that have a name.",
    examples=["cortext model list", "cortext model list --json | jq -r '.models[].name'"],
)
@command.as_json("Print one JSON object.")
def list_models(as_json: bool) -> None:
    """List the models that have a name: bundled, downloaded, and known but not here yet.

    Without a terminal: name, state, dimension, context in tokens, size, licence and source,
    separated by tabs.
    """
    used = in_use()
    models = [described(spec, used) for spec in registry.known()]
    if as_json:
        folder = str(registry.model_directory())
        terminal.write_line(terminal.json_line({"directory": folder, "models": models}))
        return
    columns = [
        Column("name", whole=True),
        Column("state"),
        Column("dimension", right=True),
        Column("context", right=True),
        Column("size", right=True),
        Column("licence"),
        Column("source", wide=True),
    ]
    print_table(columns, map(row, models))


@model.command(
    "get",
    cls=command.Command,
    short_help="Download a model from Hugging Face.",
    examples=[
        "cortext model get bge-small-en-v1.5",
        "cortext model get OWNER/REPOSITORY --filename model-q8_0.gguf",
    ],
)
@click.argument("name")
@click.option("--filename", help="The .gguf file, if NAME is a repository (owner/name).")
def get_model(name: str, filename: str | None) -> None:
    """Download the model NAME, or a file of a Hugging Face repository, and print its path.

    This is the only command that uses the network.
    """
    path = download(name, filename=filename, progress=sys.stderr.isatty())
    terminal.write_line(str(path))


@model.command(
    "verify",
    cls=command.Command,
    short_help="Check a model file against its sha256.",
    examples=[
        "cortext model verify",
        "cortext model verify bge-small-en-v1.5",
        "cortext model verify ./model.gguf --sha256 HEX",
    ],
)
@click.argument("name_or_path", required=False)
@click.option("--sha256", help="The expected sha256, for a file that has no name.")
def verify_model(name_or_path: str | None, sha256: str | None) -> None:
    """Read a model's file whole and check its sha256; by default of the model in use."""
    path, spec = registry.resolve(name_or_path)
    found = file_sha256(path, fresh=True)
    expected = sha256 or next((s.sha256 for s in registry.known() if s.name == spec.name), None)
    if expected is None:
        raise click.ClickException(
            f"nothing to check {path} against: give --sha256 (the file has {found})"
        )
    verify(path, expected)
    terminal.write_line(f"{path}: {spec.name}, sha256 {found}, as expected")


@model.command(
    "basis",
    cls=command.Command,
    short_help="Make the token basis of a model.",
    examples=["cortext model basis bge-small-en-v1.5", "cortext model basis ./model.gguf --force"],
)
@click.argument("name_or_path")
@click.option("--force", is_flag=True, help="Replace a basis that is there.")
def make_basis(name_or_path: str, force: bool) -> None:
    """Make the token basis of a model, beside its file, and print its path.

    With it a store keeps a binary code of every token. It is learned from a text that comes with
    Cortext, in a minute or so. A store keeps to the basis that it was made with, or to none.
    """
    path, spec = registry.resolve(name_or_path)
    if spec.basis is not None:
        raise click.ClickException(f"{spec.name} comes with its token basis")
    target = path.with_suffix(".basis")
    if target.exists() and not force:
        raise click.ClickException(f"{target} is there already: --force replaces it")
    data = learning.learn(path, spec)
    try:
        replace_file(target, data)
    except OSError as error:
        raise click.ClickException(f"cannot write {target}: {error.strerror or error}") from error
    terminal.write_line(str(target))
