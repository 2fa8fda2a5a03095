"""The conversation and the questions that come with the package."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from cortext import NewMessage
from cortext.cli.reading import Defaults, read

__all__ = ["Question", "conversation", "questions"]

FILES = resources.files("cortext.cli.demo")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the messages that answer it; none where the conversation does not say."""

    question: str
    evidence: tuple[str, ...]
    answer: str
    kind: str


def conversation() -> list[NewMessage]:
    """Return the messages, read as `cortext ingest` would."""
    with FILES.joinpath("conversation.jsonl").open("rb") as stream:
        items = read(stream, "jsonl", Defaults(source="demo"))  # type: ignore[arg-type]
        return [item.message for item in items if item.message is not None]


def questions() -> list[Question]:
    """Return the questions."""
    listed = json.loads(FILES.joinpath("questions.json").read_text(encoding="utf-8"))
    return [
        Question(each["question"], tuple(each["evidence"]), each["answer"], each["kind"])
        for each in listed
    ]
