"""Run as a process of its own: how much memory an open store takes, before and after recalls.

Arguments: store, model ("" for the default), questions.  Prints one JSON object of bytes resident;
what is mapped from files, where the system tells it apart, can be taken back at any time.
"""

from __future__ import annotations

import json
import sys

import psutil

import cortext
from cortext import models


def main(path: str, model_name: str, *questions: str) -> None:
    process = psutil.Process()
    model = models.load(model_name or None)
    model.embed(questions[:1])
    found: dict[str, int] = {}

    def note(name: str) -> None:
        memory = process.memory_info()
        found[name] = memory.rss
        found[f"{name}_files"] = getattr(memory, "shared", 0)  # Linux only

    with cortext.open(path, model=model) as engine:
        note("open")
        for question in questions:
            engine.recall(question)
        note("recalls")
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
