"""LongMemEval: one user's chats with an assistant, a haystack of sessions for each question.

`sessions.jsonl` has lines `{id, turns [{role, text}]}`, `questions.jsonl` has lines `{id, type,
question, date, haystack [[session id, date]], gold_sessions, gold_turns [[session id,
turn index]]}`; both may be compressed (`.gz`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from support.haystacks import DataError, Haystack, Question, Turn

__all__ = ["read"]

ABSTENTION = "_abs"  # nothing in the haystack answers these: there is nothing to find


def read(paths: tuple[Path, ...]) -> Iterator[Haystack]:
    """Read the haystacks from both files, or from the folder that holds them."""
    files = [file for path in paths for file in (path.iterdir() if path.is_dir() else [path])]
    try:
        sessions = {entry["id"]: entry["turns"] for entry in _lines(_named(files, "sessions"))}
        for entry in _lines(_named(files, "questions")):
            yield _haystack(entry, sessions)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise DataError(f"not LongMemEval files ({error!r})") from error


def _named(files: list[Path], start: str) -> Path:
    found = [file for file in files if file.name.startswith(start)]
    if len(found) != 1:
        raise DataError(f"LongMemEval needs one file named {start}*.jsonl, there are {len(found)}")
    return found[0]


def _lines(path: Path) -> Iterator[Any]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _haystack(entry: Mapping[str, Any], sessions: Mapping[str, Any]) -> Haystack:
    turns: dict[str, Turn] = {}
    for session, date in entry["haystack"]:
        start = _milliseconds(date)
        for index, turn in enumerate(sessions[session]):
            uid = f"{session}:{index}"
            # A session may be listed twice, and a turn may be empty; neither can be stored.
            if uid not in turns and _says_something(turn["text"]):
                turns[uid] = Turn(uid, session, turn["role"], turn["text"], start + 1000 * index)
    answerable = not entry["id"].endswith(ABSTENTION)
    question = Question(
        entry["id"],
        entry["question"],
        entry["type"],
        frozenset(f"{session}:{i}" for session, i in entry["gold_turns"] if answerable),
        frozenset(entry["gold_sessions"] if answerable else ()),
        answerable=answerable,
        time=_milliseconds(entry["date"]) if "date" in entry else None,
    )
    return Haystack(entry["id"], tuple(turns.values()), (question,))


def _milliseconds(date: str) -> int:
    time = datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=timezone.utc)
    return round(time.timestamp() * 1000)


def _says_something(text: str) -> bool:
    """Whether there is anything to see; a turn may consist of a zero-width space."""
    return any(char.isprintable() and not char.isspace() for char in text)
