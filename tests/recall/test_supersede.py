"""What replaces what: newer values of the same thing, and look-alikes that both hold."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import cortext
from cortext import Hit
from cortext.engine import STAGES
from cortext.models import Model

MINUTE = 60_000
START = 1_767_225_600_000

PAIRS = Path(__file__).parents[1] / "data" / "superseding.json"

Pair = tuple[str, str, str]  # older, newer, question


def read(kind: str) -> list[Pair]:
    pairs = json.loads(PAIRS.read_text(encoding="utf-8"))
    return [(x["older"], x["newer"], x["question"]) for x in pairs if x["kind"] == kind]


CHANGES = read("change")  # the newer replaces the older
HOLD = read("hold")  # two things that look alike, two events, or the same value again


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Iterator[cortext.Engine]:
    """Every pair in a session of its own, two weeks apart, and between them something else."""
    with cortext.open(tmp_path_factory.mktemp("pairs") / "memory.db", model=model) as mem:
        for number, (older, newer, _) in enumerate([*CHANGES, *HOLD]):
            for step, text in enumerate([older, "Lovely weather for a walk.", newer]):
                mem.ingest(text, session=str(number), time=START + step * 10_080 * MINUTE)
        assert mem.flush(120)
        yield mem


def asked(mem: cortext.Engine, number: int, question: str, *, superseded: bool = True) -> list[Hit]:
    return list(
        mem.recall(question, session=str(number), wait_ms=5000, include_superseded=superseded)
    )


@pytest.mark.parametrize(("number", "pair"), list(enumerate(CHANGES)))
def test_newer_value(pairs: cortext.Engine, number: int, pair: Pair) -> None:
    older, newer, question = pair
    hits = {hit.text: hit for hit in asked(pairs, number, question)}
    assert hits[older].superseded_by == (hits[newer].id,)
    assert hits[newer].supersedes == (hits[older].id,)
    assert hits[older].supersedes == hits[newer].superseded_by == ()
    assert hits[newer].score > hits[older].score
    current = [h.text for h in asked(pairs, number, question, superseded=False)]
    assert newer in current
    assert older not in current


@pytest.mark.parametrize(("number", "pair"), list(enumerate(HOLD, len(CHANGES))))
def test_both_hold(pairs: cortext.Engine, number: int, pair: Pair) -> None:
    older, newer, question = pair
    hits = asked(pairs, number, question, superseded=False)
    assert {older, newer} <= {hit.text for hit in hits}
    assert all(hit.supersedes == hit.superseded_by == () for hit in hits)


def test_links_are_whole(pairs: cortext.Engine) -> None:
    """Over all pairs in one search: always from the newer to the older, and told by both."""
    for _, _, question in [*CHANGES, *HOLD]:
        hits = {hit.id: hit for hit in pairs.recall(question, limit=200, wait_ms=5000)}
        for hit in hits.values():
            assert list(hit.superseded_by) == sorted(set(hit.superseded_by))
            assert list(hit.supersedes) == sorted(set(hit.supersedes))
            for id in hit.superseded_by:
                assert hit.id in hits[id].supersedes
                assert (hits[id].time, id) > (hit.time, hit.id)
                assert hits[id].score > hit.score
            for id in hit.supersedes:
                assert hit.id in hits[id].superseded_by


VALUES = [
    ("s1", "The badge code of the lab is 1001."),
    ("s2", "The badge code of the lab is 2002."),
    ("s3", "The badge code of the lab is 3003."),
]
ASK = "What is the badge code of the lab?"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_chain_in_any_order(path: Path, model: Model, order: tuple[int, ...]) -> None:
    with cortext.open(path, model=model) as mem:
        ids = {}
        for i in order:
            session, text = VALUES[i]
            ids[i] = mem.ingest(text, session=session, time=START + i * MINUTE)
        assert mem.flush(60)
        hits = list(mem.recall(ASK))
        assert [hit.id for hit in hits] == [ids[2], ids[1], ids[0]]
        assert hits[0].supersedes == tuple(sorted([ids[0], ids[1]]))
        assert hits[1].supersedes == (ids[0],)
        assert hits[1].superseded_by == (ids[2],)
        assert hits[2].superseded_by == tuple(sorted([ids[1], ids[2]]))
        assert [hit.id for hit in mem.recall(ASK, include_superseded=False)] == [ids[2]]
        assert [hit.id for hit in mem.recall(ASK, limit=1)] == [ids[2]]


def test_a_value_that_comes_back(mem: cortext.Engine) -> None:
    first = mem.ingest(VALUES[0][1], time=START)
    second = mem.ingest(VALUES[1][1], time=START + MINUTE)
    third = mem.ingest(VALUES[0][1], time=START + 2 * MINUTE)
    assert mem.flush(60)
    hits = {hit.id: hit for hit in mem.recall(ASK, collapse=False)}
    assert hits[first].superseded_by == (second,)
    assert hits[second].superseded_by == (third,)
    assert hits[third].superseded_by == ()


def test_ties_go_by_id(mem: cortext.Engine) -> None:
    first, second = (mem.ingest(text, time=START) for _, text in VALUES[:2])
    assert mem.flush(60)
    hits = {hit.id: hit for hit in mem.recall(ASK)}
    assert hits[first].superseded_by == (second,)


def test_tools_do_not_correct_people(mem: cortext.Engine) -> None:
    said = mem.ingest(VALUES[0][1], role="Anna", time=START)
    printed = [
        mem.ingest(text, role=role, time=START + (i + 1) * MINUTE)
        for i, ((_, text), role) in enumerate(zip(VALUES[1:], ["tool", "toolResult"], strict=True))
    ]
    assert mem.flush(60)
    hits = {hit.id: hit for hit in mem.recall(ASK)}
    assert hits[said].superseded_by == ()
    assert hits[printed[0]].superseded_by == (printed[1],)
    last = mem.ingest("The badge code of the lab is 4004.", role="user", time=START + 9 * MINUTE)
    assert mem.flush(60)
    hits = {hit.id: hit for hit in mem.recall(ASK)}
    assert hits[last].supersedes == (said, *printed)


def test_hidden_ones_make_room(mem: cortext.Engine) -> None:
    for i in range(12):
        mem.ingest(f"The badge code of the lab is {1001 + 37 * i}.", time=START + i * MINUTE)
        mem.ingest(f"Note {i} about badges, labs and doors.", time=START + i * MINUTE)
    assert mem.flush(60)
    for limit in (1, 2, 5, 10, 13):
        hits = mem.recall(ASK, limit=limit, include_superseded=False).hits
        assert len(hits) == limit
        assert not any(hit.superseded_by for hit in hits)
    assert hits[0].text == "The badge code of the lab is 1408."


def test_stage_can_be_left_out(mem: cortext.Engine) -> None:
    for i, (_, text) in enumerate(VALUES):
        mem.ingest(text, time=START + i * MINUTE)
    assert mem.flush(60)
    for left_out in ("supersession", "late"):
        stages = tuple(stage for stage in STAGES if stage != left_out)
        hits = mem.recall(ASK, stages=stages, include_superseded=False).hits
        assert len(hits) == 3
        assert not any(hit.supersedes or hit.superseded_by for hit in hits)


def test_nothing_after_until_supersedes(mem: cortext.Engine) -> None:
    ids = [mem.ingest(text, time=START + i * MINUTE) for i, (_, text) in enumerate(VALUES)]
    assert mem.flush(60)
    hits = mem.recall(ASK, until=START + 2 * MINUTE, include_superseded=False).hits
    assert [hit.id for hit in hits] == [ids[1]]


def test_any_text_is_compared(mem: cortext.Engine) -> None:
    """Marks, digits and letters of many scripts, and lengths around the longest that is read."""
    random.seed(5)
    letters = [
        "lab",
        "code",
        "no",
        "longer",
        "\u5b89",
        "\u0e44\u0e17",
        "\u00e9",
        "\u03a9",
        "\u0416",
    ]
    digits = ["12", "12:30", "\u0663\u0664", "\uff11", "1,200", "3rd"]
    marks = ["'", "\u2019s", ".", ",", "-", "\u0301", "\U0001f469\u200d", "\n", " ", " ", " "]
    pieces = [*letters, *digits, *marks]
    for i in range(150):
        text = "lab code " + "".join(random.choices(pieces, k=random.choice([3, 12, 40, 90])))
        mem.ingest(text, time=START + i * MINUTE)
    for size in range(196, 205):
        mem.ingest("lab code " + "x" * (size - 9), time=START)
        mem.ingest("lab code 1 " * (size // 11), time=START)
    assert mem.flush(120)
    for query in ("lab code", "12 lab", "lab code " * 40, "安 lab"):
        hits = mem.recall(query, limit=60).hits
        assert len(hits) == 60
        assert all(0 <= hit.score <= 1 for hit in hits)


def test_of_many_values_only_the_last_is_current(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(
            {"text": f"The code is {8000 + i}.", "time": START + i * MINUTE} for i in range(60)
        )
        assert mem.flush()
        found = mem.recall("what is the code?", include_superseded=False)
        assert [hit.id for hit in found] == [60]


@pytest.mark.parametrize("role", ["tool:db", "tool_x", "tool-y", "function"])
def test_no_kind_of_tool_corrects_people(path: Path, model: Model, role: str) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest("The code is 8841.", role="user", session="a", time=START)
        mem.ingest("The code is 5530 now.", role=role, session="b", time=START + MINUTE)
        assert mem.flush()
        assert not any(hit.superseded_by for hit in mem.recall("what is the code?"))


def test_what_is_superseded_comes_in_by_no_door(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        said = [
            {"text": "What is the code?", "role": "assistant", "session": "b"},
            {"text": "The code is 8841", "session": "b"},
            {"text": "new code: 5530", "session": "a"},
        ]
        mem.ingest_many({**one, "time": START + i * MINUTE} for i, one in enumerate(said))
        assert mem.flush()
        for hit in mem.recall("what is the code?", include_superseded=False):
            assert 2 not in (hit.id, *(near.id for near in (*hit.before, *hit.after)))
