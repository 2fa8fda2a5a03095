"""Corrections: facts that were replaced, facts said twice, and facts that only look alike.

`data/corrections.jsonl` has a line an item: `{id, split, kind, domain, messages [{minute, role,
text}], question, current, outdated, other}`.  `current` is the message that answers, `outdated` the
one it replaces; `other` is the second statement of the same value, or the fact that looks alike and
is as true.  All are indexes or null.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from support.haystacks import Haystack, Question, Turn

__all__ = ["NEAR_MISS", "RESTATEMENT", "UPDATES", "items", "read"]

DATA = Path(__file__).parents[1] / "data" / "corrections.jsonl"
UPDATES = ("correction", "change", "moved_date", "number", "negation")
RESTATEMENT = "restatement"
NEAR_MISS = "near_miss"
START = 1_735_718_400_000  # 2025-01-01 08:00 UTC, in milliseconds
MINUTE = 60_000
DAY = 24 * 60 * MINUTE


def items() -> list[Mapping[str, Any]]:
    """The items as they are in the file."""
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def read() -> Iterator[Haystack]:
    """One haystack with every item, so that each is among the look-alikes of all others."""
    turns, questions = [], []
    superseded: dict[str, str] = {}
    for index, item in enumerate(items()):
        uids = [f"{item['id']}:{i}" for i in range(len(item["messages"]))]
        start = START + index * DAY  # the items overlap, as conversations do
        for uid, said in zip(uids, item["messages"], strict=True):
            time = start + said["minute"] * MINUTE
            turns.append(Turn(uid, item["id"], said["role"], said["text"], time))
        current = uids[item["current"]]
        if item["outdated"] is not None:
            superseded[uids[item["outdated"]]] = current
        other = {uids[item["other"]]} if item["other"] is not None else set()
        restated = item["kind"] == RESTATEMENT
        questions.append(
            Question(
                item["id"],
                item["question"],
                f"{item['split']}, {item['kind']}",
                frozenset({current} | (other if restated else set())),
                frozenset([item["id"]]),
                beside=frozenset(set() if restated else other),
                superseded=superseded,
            )
        )
    turns.sort(key=lambda turn: turn.time)
    yield Haystack("corrections", tuple(turns), tuple(questions))
