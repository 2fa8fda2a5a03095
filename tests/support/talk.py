"""A conversation made up by a seed, and what consolidation leaves of it."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

DAY = 86_400_000
START = 1_700_000_000_000

TOPICS = {
    "garden": ["roses", "tulips", "the hedge", "compost", "the lawn", "slugs", "the greenhouse"],
    "server": ["the database", "the proxy", "a deadlock", "the backup", "the cache", "latency"],
    "travel": ["the ferry", "a hotel in Lisbon", "our passports", "the luggage", "the museum"],
}


def talk(seed: int, count: int) -> list[dict[str, Any]]:
    """Messages of several sessions, about topics that change, with repetitions and corrections."""
    chance = random.Random(seed)
    messages: list[dict[str, Any]] = []
    now = START
    for number in range(count):
        now += chance.choice([1000, 60_000, 60_000, DAY])
        topic = TOPICS[list(TOPICS)[number // 9 % len(TOPICS)]]
        text = chance.choice(
            [
                f"We should look after {chance.choice(topic)} on day {number}.",
                f"I think {chance.choice(topic)} and {chance.choice(topic)} need some work.",
                "The code of the garage door is 8841 and not more.",
                f"The code of the garage door is {chance.choice([8841, 5530])} now.",
                f"What do you think of {chance.choice(topic)}?",
            ]
        )
        messages.append(
            {
                "text": text,
                "role": chance.choice(["user", "assistant", "tool"]),
                "session": chance.choice(["a", "b"]),
                "time": now,
            }
        )
    return messages


TABLES = ("saying", "duplicate", "replaced", "episode", "digest")


def consolidated_tables(path: Path | str) -> dict[str, list[Any]]:
    """What consolidation has stored."""
    with closing(sqlite3.connect(path)) as db:
        return {
            name: db.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES
        }
