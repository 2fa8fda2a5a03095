"""The quality data that is part of the project: well-formed, and the same every time."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def corrections(part) -> ModuleType:
    return part("corrections")


@pytest.fixture(scope="module")
def needles(part) -> ModuleType:
    return part("needles")


@pytest.fixture(scope="module")
def languages(part) -> ModuleType:
    return part("languages")


def test_corrections_are_well_formed(corrections: ModuleType) -> None:
    items = corrections.items()
    assert len({item["id"] for item in items}) == len(items) >= 160
    assert len({item["question"] for item in items}) == len(items)
    for item in items:
        messages = item["messages"]
        minutes = [message["minute"] for message in messages]
        assert minutes[0] == 0
        assert minutes == sorted(set(minutes)), item["id"]
        assert {message["role"] for message in messages} <= {"user", "assistant"}
        assert all(message["text"].strip() == message["text"] != "" for message in messages)
        update = item["kind"] in corrections.UPDATES
        assert update or item["kind"] in (corrections.NEAR_MISS, corrections.RESTATEMENT)
        second = item["outdated"] if update else item["other"]
        assert {item["outdated"], item["other"]} == {second, None}, item["id"]
        assert item["current"] != second
        assert {item["current"], second} <= set(range(len(messages)))
        if update:
            assert item["outdated"] < item["current"], "the newer replaces the older"


def test_corrections_are_mixed(corrections: ModuleType) -> None:
    items = corrections.items()
    kinds = Counter(item["kind"] for item in items)
    assert set(kinds) == {*corrections.UPDATES, corrections.RESTATEMENT, corrections.NEAR_MISS}
    stay = kinds[corrections.RESTATEMENT] + kinds[corrections.NEAR_MISS]
    assert stay >= 0.3 * len(items)
    assert Counter(item["split"] for item in items) == {"dev": 85, "test": 84}
    for kind, count in kinds.items():
        dev = sum(item["split"] == "dev" for item in items if item["kind"] == kind)
        assert abs(2 * dev - count) <= 1, "each kind in both halves"
    speakers = Counter(item["messages"][item["current"]]["role"] for item in items)
    assert min(speakers.values()) >= 15
    assert len({item["domain"] for item in items}) == 9


def test_corrections_as_a_haystack(corrections: ModuleType) -> None:
    (haystack,) = corrections.read()
    times = [turn.time for turn in haystack.turns]
    assert times == sorted(times)
    uids = {turn.uid for turn in haystack.turns}
    by_name = {question.name: question for question in haystack.questions}
    assert len(by_name) == len(haystack.questions)
    update, near, twice = (
        next(q for q in haystack.questions if q.category.endswith(kind))
        for kind in ("correction", "near_miss", "restatement")
    )
    assert update.gold_turns == {"c001:2"}
    assert update.superseded["c001:0"] == "c001:2"
    assert (len(near.gold_turns), len(near.beside)) == (1, 1)
    assert (len(twice.gold_turns), len(twice.beside)) == (2, 0)
    for question in haystack.questions:
        assert question.gold_turns | question.beside <= uids
        assert question.superseded is update.superseded, "links of the whole store"
    assert {*update.superseded, *update.superseded.values()} <= uids


def test_needles_are_the_same_every_time(needles: ModuleType) -> None:
    (one,), (two,) = needles.read(), needles.read()
    assert one == two
    said = "\0".join(turn.text for turn in one.turns)
    asked = "\0".join(question.text for question in one.questions)
    digest = hashlib.sha256(f"{said}\0\0{asked}".encode()).hexdigest()
    # Another digest is another bench: its figures must be taken anew.
    assert digest[:16] == "baaf8fc25d63ded1"


def test_needles_are_in_one_message_each(needles: ModuleType) -> None:
    cases = needles.cases()
    asked = [case for case in cases if case.kind]
    assert (len(asked), len(cases)) == (300, 5300)
    assert len({case.needle.question for case in asked}) == 300
    assert max(len(case.text) for case in cases) <= 4000
    assert all(len(case.text) >= needles.SHORTEST for case in cases if case.long)
    assert sum(case.long for case in asked) >= 90
    everything = "\0".join(case.text for case in cases)
    for case in asked:
        key = case.needle.key
        assert key in case.text
        end = "" if case.kind == "git hash by its start" else r"(?!\w)"
        found = re.findall(rf"(?<!\w){re.escape(key)}{end}", everything, re.IGNORECASE)
        assert len(found) == 1, key


def test_needles_come_among_look_alikes(needles: ModuleType) -> None:
    (haystack,) = needles.read()
    assert len({turn.uid for turn in haystack.turns}) == 5300
    tickets = [
        turn for turn in haystack.turns if re.match(r"(OPS|PAY|WEB|DATA|SEC)-\d+ ", turn.text)
    ]
    assert len(tickets) > 200
    places = Counter(question.category.partition(", ")[2] for question in haystack.questions)
    assert set(places) == {"inside a long output", "on its own"}


def test_languages_are_parallel(languages: ModuleType) -> None:
    haystacks = list(languages.read())
    assert len(haystacks) == 8
    facts = [question.name for question in haystacks[0].questions]
    assert len(set(facts)) == len(facts) == 40
    for haystack in haystacks:
        assert [question.name for question in haystack.questions] == facts
        assert [turn.uid for turn in haystack.turns] == [turn.uid for turn in haystacks[0].turns]
        texts = [turn.text for turn in haystack.turns]
        texts += [question.text for question in haystack.questions]
        assert len(set(texts)) == 40 * 5
        assert all(text.strip() == text != "" for text in texts)


@pytest.mark.parametrize(
    ("code", "script"),
    [
        ("zh", "[一-鿿]"),
        ("ja", "[ぁ-ヿ]"),
        ("th", "[ก-๛]"),
        ("ko", "[가-힣]"),
        ("ar", "[ء-ي]"),
        ("ru", "[а-яё]"),
        ("es", "[a-zñáéíóú]"),
        ("de", "[a-zäöüß]"),
    ],
)
def test_every_text_is_in_its_language(languages: ModuleType, code: str, script: str) -> None:
    (haystack,) = (haystack for haystack in languages.read() if haystack.name == code)
    for text in (turn.text for turn in (*haystack.turns, *haystack.questions)):
        letters = [char for char in text.lower() if char.isalpha()]
        share = len(re.findall(script, text.lower())) / len(letters)
        assert share > 0.25, text


def test_directives_are_well_formed(part) -> None:
    directives = part("directives")
    items, pairs = directives.items(), directives.pairs()
    assert len({item["id"] for item in items}) == len(items)
    assert len({item["text"] for item in items}) == len(items)
    having = [item for item in items if item["directives"]]
    assert len(having) >= 250
    assert len(items) - len(having) >= 500
    for item in items:
        assert all(sentence in item["text"] for sentence in item["directives"])
    for split in ("dev", "test"):
        assert abs(2 * sum(item["split"] == split for item in items) - len(items)) < 20
        assert sum(pair["split"] == split for pair in pairs) >= 20
    assert {pair["kind"] for pair in pairs} == {"replaced", "withdrawn", "both"}
