"""LoCoMo: conversations of two friends over months, with questions about single turns.

Two layouts are read.  Normalised, a conversation a file: `turns [{id, session, time, speaker, text,
caption?}]`, `questions [{question, category, evidence [turn id]}]`.  Upstream, a list of samples:
`conversation {session_1 [{dia_id, speaker, text, blip_caption?}], session_1_date_time}`, `qa`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from support.haystacks import DataError, Haystack, Question, Turn

__all__ = ["ADVERSARIAL", "CATEGORIES", "read"]

CATEGORIES = {
    "1": "1 multi-hop",
    "2": "2 temporal",
    "3": "3 open-domain",
    "4": "4 single-hop",
    "5": "5 adversarial",
}
ADVERSARIAL = CATEGORIES["5"]  # the premise is false: apart from the others
SESSION = re.compile(r"session_(\d+)")
EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")  # upstream has "D8:6; D9:17", "D:11:26", "D30:05"


def read(paths: tuple[Path, ...]) -> Iterator[Haystack]:
    """Read the conversations of JSON files in order."""
    for path in paths:
        yield from _read_file(path)


def _read_file(path: Path) -> list[Haystack]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        samples = document if isinstance(document, list) else [document]
        return [_haystack(sample, path.stem) for sample in samples]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not a LoCoMo file ({error!r})") from error


def _haystack(sample: Mapping[str, Any], stem: str) -> Haystack:
    upstream = "conversation" in sample
    turns = tuple(_upstream_turns(sample["conversation"]) if upstream else _turns(sample))
    sessions = {turn.uid: turn.session for turn in turns}
    questions = []
    for index, entry in enumerate(sample["qa" if upstream else "questions"]):
        named = ["D{}:{}".format(*pair) for pair in EVIDENCE.findall(" ".join(entry["evidence"]))]
        gold = frozenset(named if upstream else entry["evidence"]) & sessions.keys()
        questions.append(
            Question(
                str(index),
                entry["question"],
                CATEGORIES[str(entry["category"])],
                gold,
                frozenset(sessions[uid] for uid in gold),
                answerable=str(entry["category"]) != "5",
                time=max((turn.time for turn in turns), default=None),
            )
        )
    name = str(sample.get("sample_id" if upstream else "id", stem))
    return Haystack(name, turns, tuple(questions))


def _turns(sample: Mapping[str, Any]) -> Iterator[Turn]:
    for turn in sample["turns"]:
        time = datetime.fromisoformat(turn["time"].replace("Z", "+00:00"))
        text = _with_caption(turn["text"], turn.get("caption"))
        yield Turn(turn["id"], str(turn["session"]), turn["speaker"], text, _milliseconds(time))


def _upstream_turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(found[1]) for found in map(SESSION.fullmatch, conversation) if found)
    for number in numbers:
        said = conversation[f"session_{number}_date_time"]  # "1:56 pm on 8 May, 2023"
        time = datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)
        for turn in conversation[f"session_{number}"]:
            text = _with_caption(turn["text"], turn.get("blip_caption"))
            yield Turn(turn["dia_id"], str(number), turn["speaker"], text, _milliseconds(time))


def _with_caption(text: str, caption: str | None) -> str:
    """What was said, and what the picture that was shared with it shows."""
    return f"{text} ({caption})".strip() if caption else text


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)
