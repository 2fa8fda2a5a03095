"""How the demo looks: a table for each question, and a summary that hides no miss."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from cortext import Hit
from cortext.cli import terminal
from cortext.cli.demo.run import DEPTH, Answer

__all__ = ["Report"]

SHOWN = 3
# Without a terminal the report always has the same width.
PLAIN_WIDTH = 100
FIXED = len("  * 0.000  2026-01-01  assistant  ")


class Report:
    """Writes to standard output.  `texts`: the messages by uid, to show what was missed."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.out: Console = terminal.output(None if terminal.is_terminal() else PLAIN_WIDTH)
        self.mark = terminal.glyph("✓", "*")

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Write one line of styled parts."""
        self.out.print(Text.assemble(*parts), soft_wrap=True)

    def intro(self, messages: int, questions: int, store: str) -> None:
        """Say what is going to happen."""
        self.line(
            f"Storing {messages} messages of a made-up conversation in {store}, then asking "
            f"{questions} questions."
        )
        self.line(
            f"All on this machine: no network, no LLM. {self.mark} marks the message that answers."
        )

    def answer(self, answer: Answer, label: str = "") -> None:
        """Show one question, its first hits and how long they took."""
        self.line("")
        self.line((label, "dim"), (terminal.one_line(answer.question.question), "bold"))
        for hit in answer.recall.hits[:SHOWN]:
            self.hit(hit, hit.uid in answer.question.evidence)
        if not answer.recall.hits:
            self.line("    no hits")
        self.line(*self.verdict(answer), (self.times(answer), "dim"))
        if answer.question.answer:
            self.labelled("answer", answer.question.answer)
        if answer.question.evidence and (answer.rank is None or answer.rank > SHOWN):
            self.labelled("is in", self.texts.get(answer.question.evidence[0], ""))

    def labelled(self, label: str, text: str) -> None:
        """Show a text that is not a hit."""
        start = f"    {label}: "
        self.line((start, "dim"), (terminal.shorten(text, self.out.width - len(start)), "dim"))

    def hit(self, hit: Hit, evidence: bool) -> None:
        """Show one hit in a line."""
        mark = self.mark if evidence else " "
        start = f"  {mark} {hit.score:.3f}  {hit.time:%Y-%m-%d}  "
        role = f"{terminal.shorten(hit.role, 9):<9}  "
        text = terminal.shorten(hit.text, max(10, self.out.width - FIXED))
        style = "green" if evidence else ""
        self.line((start, style), (role, "dim"), (text, style))

    def verdict(self, answer: Answer) -> list[str | tuple[str, str]]:
        """Return whether the evidence was found."""
        if not answer.question.evidence:
            absent = answer.question.kind == "absent"
            return [("    nothing in the conversation answers this", "yellow") if absent else "   "]
        if answer.rank is None:
            return [(f"    missed: not among the first {DEPTH}", "red")]
        return [(f"    found at {answer.rank}", "green" if answer.rank <= SHOWN else "yellow")]

    def times(self, answer: Answer) -> str:
        """Return the milliseconds."""
        encode = answer.recall.timings.encode
        return f"  {answer.milliseconds:.1f} ms: encode {encode:.1f}, search {answer.search:.1f}"

    def summary(self, figures: dict[str, Any]) -> None:
        """Show the figures of the whole run."""
        self.line("")
        for name, text in rows(figures):
            self.line((f"{name:<9}", "bold"), text)


def rows(figures: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of the summary."""
    lines = []
    count = figures["messages"]
    if figures["ack_ms_p50"] is None:
        lines.append(("stored", f"{count} messages were there already"))
    else:
        ack, rate = figures["ack_ms_p50"], figures["messages_per_second"]
        seconds = figures["store_seconds"] + figures["embed_seconds"]
        lines.append(("stored", f"{count} messages, each durable in {ack:.2f} ms (median)"))
        lines.append(("embedded", f"after {seconds:.1f} s: {rate:.0f} messages/s"))
    if asked := figures["answerable"]:
        found = "   ".join(f"at {n}: {figures[f'found_at_{n}']}/{asked}" for n in (1, 3, 10))
        lines.append(("found", f"{found}   missed: {asked - figures['found_at_10']}"))
    if figures["absent"]:
        lines.append(("absent", absent(figures)))
    recall, encode, search = (figures[f"{part}_ms_p50"] for part in ("recall", "encode", "search"))
    median = f"{recall:.1f} ms (median): encode {encode:.1f}, search {search:.1f}"
    lines.append(("recall", median))
    return lines


def absent(figures: dict[str, Any]) -> str:
    """Say how questions without an answer compare with the others."""
    text = f"{figures['absent']} questions have no answer in it"
    scores = figures["absent_best_score"], figures["answerable_best_score"]
    if None in scores:
        return text
    return f"{text}; best hit {scores[0]:.3f} (median), {scores[1]:.3f} for the others"
