"""Standing directives: messages with and without one, and pairs of which the newer may end one.

`data/directives.jsonl` has a line a message: `{id, split, kind, language, role, text, directives}`,
the last being the sentences that are standing directives, none for look-alikes.
`data/directive_pairs.jsonl` has a line a pair: `{id, split, kind, older, newer}`; kind says whether
the newer replaces or withdraws the older, or both stand.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import cortext
from cortext.models import Model
from support.scoring import Means

__all__ = ["items", "measure", "pairs"]

FOLDER = Path(__file__).parents[1] / "data"
START = 1_735_718_400_000  # 2025-01-01 08:00 UTC, in milliseconds
DAY = 86_400_000

Item = Mapping[str, Any]


def _lines(name: str) -> list[Item]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def items() -> list[Item]:
    """The messages."""
    return _lines("directives.jsonl")


def pairs() -> list[Item]:
    """The pairs."""
    return _lines("directive_pairs.jsonl")


def measure(model: Model) -> tuple[dict[str, Means], list[dict[str, Any]]]:
    """Return figures by half and kind, and what was found in each message."""
    with (
        tempfile.TemporaryDirectory(prefix="cortext-bench-") as folder,
        cortext.open(Path(folder) / "directives.db", model=model) as engine,
    ):
        # Every item is a session of its own, so that none ends another.
        for item in items():
            engine.ingest(item["text"], role=item["role"], session=item["id"], time=START)
        for pair in pairs():
            engine.ingest(pair["older"], session=pair["id"], time=START)
            engine.ingest(pair["newer"], session=pair["id"], time=START + DAY)
        engine.flush()
        each = [{**item, "found": _standing(engine, item["id"], None)} for item in items()] + [
            {
                **pair,
                "before": _standing(engine, pair["id"], START + DAY),
                "after": _standing(engine, pair["id"], None),
            }
            for pair in pairs()
        ]
    groups: dict[str, Means] = {}
    for half in ("dev", "test"):
        mine = [one for one in each if one["split"] == half]
        groups |= _groups(half, mine)
    return groups, each


def _standing(engine: cortext.Engine, session: str, until: int | None) -> list[str]:
    found = engine.recall("what should be done?", session=session, until=until, standing_limit=100)
    return [one.directive for one in found.standing]


def _groups(half: str, mine: list[dict[str, Any]]) -> dict[str, Means]:
    messages = [one for one in mine if "found" in one]
    english = [one for one in messages if one["language"] == "en"]
    other = [one for one in messages if one["language"] != "en"]
    having = [one for one in messages if one["directives"]]
    lacking = [one for one in messages if not one["directives"]]
    asked = [one for one in mine if "before" in one]
    return {
        f"{half}, messages": {
            name: _detection(some) for name, some in (("English", english), ("other", other))
        },
        f"{half}, directives by kind": {
            kind: _recall(some) for kind, some in _by_kind(having).items()
        },
        f"{half}, look-alikes by kind": {
            kind: {
                "n": len(lacking),
                "items": len(some),
                "silent": _mean(not x["found"] for x in some),
            }
            for kind, some in _by_kind(lacking).items()
        },
        f"{half}, pairs": {kind: _settled(kind, some) for kind, some in _by_kind(asked).items()},
    }


def _by_kind(some: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for one in some:
        kind = one["kind"]
        name = f"{kind} {one['language']}" if kind == "language" else kind
        kinds.setdefault(name, []).append(one)
    return kinds


def _detection(some: list[dict[str, Any]]) -> dict[str, float]:
    """Of messages: a message counts as found when one of its directives is."""
    right = sum(bool(set(one["found"]) & set(one["directives"])) for one in some)
    said = sum(bool(one["found"]) for one in some)
    precision = right / said if said else 1.0
    recall = right / sum(bool(one["directives"]) for one in some)
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"n": len(some), "precision": precision, "recall": recall, "F1": f1}


def _recall(some: list[dict[str, Any]]) -> dict[str, float]:
    found = [set(one["directives"]) & set(one["found"]) for one in some]
    return {
        "n": len(some),
        "items": len(some),
        "found": _mean(bool(sentences) for sentences in found),
        "sentences": sum(map(len, found)) / sum(len(one["directives"]) for one in some),
    }


def _settled(kind: str, some: list[dict[str, Any]]) -> dict[str, float]:
    known = [one for one in some if one["older"] in one["before"]]
    stays = [one["older"] in one["after"] for one in known]
    right = [stay == (kind == "both") for stay in stays]
    return {"n": len(some), "items": len(some), "known": len(known), "right": _mean(right)}


def _mean(values: Iterable[bool]) -> float:
    all_values = list(values)
    return sum(all_values) / len(all_values) if all_values else float("nan")
