"""`cortext demo`: a real conversation stored, and real questions answered from it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

import cortext
from cortext.cli import command, terminal
from cortext.cli.demo.data import Question, conversation, questions
from cortext.cli.demo.report import Report
from cortext.cli.demo.run import ask, results, store
from cortext.errors import InputError

__all__ = ["demo"]


@click.command(
    "demo",
    cls=command.Command,
    short_help="Store a sample conversation and ask about it.",
    examples=[
        "cortext demo",
        "cortext demo --questions 5 --ask",
        "cortext demo --store demo.db && cortext recall demo.db dentist",
        "cortext demo --json | jq .found_at_1",
    ],
)
@click.option("--store", "path", type=click.Path(dir_okay=False), help="Keep the store here.")
@click.option("--questions", "count", type=click.IntRange(1), help="Ask only the first N.")
@click.option("--ask", "interactive", is_flag=True, help="Then ask your own questions.")
@command.as_json("Print all figures and answers as one JSON object.")
def demo(path: str | None, count: int | None, interactive: bool, as_json: bool) -> None:
    """Store a made-up conversation, then show what its questions recall, how well and how fast.

    Everything happens on this machine: no network, no LLM.
    """
    if interactive and as_json:
        raise click.UsageError("--ask and --json do not go together")
    with tempfile.TemporaryDirectory(prefix="cortext-demo-") as folder:
        run(path, str(Path(folder) / "demo.db"), questions()[:count], interactive, as_json)


def run(
    kept: str | None, temporary: str, asked: list[Question], interactive: bool, as_json: bool
) -> None:
    """Run the demo on the store to keep, or on a temporary one."""
    messages = conversation()
    report = Report({message.uid or "": message.text for message in messages})
    if not as_json:
        report.intro(len(messages), len(asked), kept or "a temporary store")
    with cortext.open(kept or temporary) as engine:
        stored = store(engine, messages)
        answers = []
        for number, question in enumerate(asked, 1):
            answers.append(ask(engine, question))
            if not as_json:
                report.answer(answers[-1], f"{number}/{len(asked)} ")
        figures = results(stored, answers)
        if as_json:
            terminal.write_line(terminal.json_line(figures))
        else:
            report.summary(figures)
        if interactive:
            converse(engine, report)


def converse(engine: cortext.Engine, report: Report) -> None:
    """Answer the person's own questions until they have no more."""
    terminal.note("ask your own; an empty line or Ctrl-D ends")
    while True:
        try:
            query = click.prompt(
                "ask", default="", show_default=False, prompt_suffix="> ", err=True
            )
        except click.Abort:
            return
        if not query.strip():
            return
        try:
            report.answer(ask(engine, Question(query, (), "", "own")))
        except InputError as error:
            terminal.note(str(error))
