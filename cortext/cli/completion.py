"""`cortext completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from cortext.cli import command, terminal

__all__ = ["completion"]


@click.command(
    "completion",
    cls=command.Command,
    short_help="Print a shell completion script.",
    examples=[
        'eval "$(cortext completion bash)"                    # in ~/.bashrc',
        'eval "$(cortext completion zsh)"                     # in ~/.zshrc, after compinit',
        "cortext completion fish > ~/.config/fish/completions/cortext.fish",
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL."""
    kind = get_completion_class(shell)
    assert kind is not None
    terminal.write_line(kind(ctx.find_root().command, {}, "cortext", "_CORTEXT_COMPLETE").source())
