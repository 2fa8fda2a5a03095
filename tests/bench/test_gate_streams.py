"""The streams of the gate bench: the annotated ones, the recipe, and how they are cut."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

DATA = Path(__file__).with_name("data")
QUESTIONS = (
    "When did Ada ride up the mountain?",
    "What is Bo's favourite colour?",
    "What kind of boats has Ada built with Bo?",
    "Would Ada and Bo like a cold lake?",
    "How many dogs does Bo have?",
    "Why?",
    "name the boat",
)


@pytest.fixture(scope="module")
def streams(part) -> ModuleType:
    return part("streams")


@pytest.fixture(scope="module")
def annotated(part) -> ModuleType:
    return part("annotated")


@pytest.fixture(scope="module")
def think_aloud(part) -> ModuleType:
    return part("think_aloud")


def test_annotated_streams_are_well_formed(annotated: ModuleType) -> None:
    items = annotated.items()
    assert len({item["id"] for item in items}) == len(items) >= 40
    for item in items:
        messages, segments = item["messages"], item["segments"]
        assert 15 <= len(messages) <= 30, item["id"]
        assert 8 <= len(segments) <= 25, item["id"]
        assert len({message["session"] for message in messages}) >= 2
        assert len({message["role"] for message in messages}) >= 2
        minutes = [message["minute"] for message in messages]
        assert minutes == sorted(set(minutes)), item["id"]
        indexes = set(range(len(messages)))
        known = {entry for entry in item["context"] if isinstance(entry, int)}
        assert known <= indexes
        assert len(item["context"]) <= 3
        labels = [segment["label"] for segment in segments]
        wanted = {index for label in labels if isinstance(label, list) for index in label}
        assert wanted <= indexes - known, f"{item['id']}: what is known should not come up"
        assert [] not in labels
        assert {label for label in labels if isinstance(label, str)} <= {"known", "unrelated"}
        assert item["context"] or "known" not in labels
        assert {segment["channel"] for segment in segments} == {"thinking", "text"}
        texts = [part["text"] for part in (*messages, *segments)]
        assert all(text.strip("\n ") == text.removeprefix("\n") != "" for text in texts)


def test_annotated_streams_are_mixed(annotated: ModuleType) -> None:
    items = annotated.items()
    assert Counter(item["split"] for item in items) == {"dev": 20, "test": 20}
    for split in annotated.SPLITS:
        labels = Counter(
            label if isinstance(label := segment["label"], str) else "about"
            for item in items
            if item["split"] == split
            for segment in item["segments"]
        )
        assert 0.4 < labels["unrelated"] / labels.total() < 0.7
        assert labels["about"] >= 80
        assert labels["known"] >= 15
    assert Counter(item["language"] for item in items) == {"en": 37, "de": 2, "es": 1}
    assert Counter(item["feature"] for item in items if item["feature"]) == dict.fromkeys(
        ("emotional", "code", "url", "numbers", "long"), 1
    )
    assert len({item["domain"] for item in items}) >= 25
    said = [segment["text"] for item in items for segment in item["segments"]]
    assert len(set(said)) >= 0.97 * len(said), "no templates"


def test_annotated_streams_as_streams(annotated: ModuleType) -> None:
    everything = list(annotated.read())
    assert len(list(annotated.read("dev"))) == len(list(annotated.read("test"))) == 20
    for item in everything:
        uids = {turn.uid for turn in item.haystack.turns}
        for piece in item.stream.pieces:
            assert piece.gold <= uids
            assert (piece.kind == "about") == bool(piece.gold)


def test_deltas_join_to_the_text(annotated: ModuleType, streams: ModuleType) -> None:
    for item in annotated.read():
        parts = list(streams.deltas(item.stream))
        assert parts == list(streams.deltas(item.stream))
        assert {1 <= len(part.text) <= 8 for part in parts} == {True}
        for channel in ("thinking", "text"):
            joined = "".join(part.text for part in parts if part.channel == channel)
            assert joined == item.stream.text(channel)
    inside = sum(one.text[-1:].isalnum() and two.text[:1].isalnum() for one, two in pairwise(parts))
    assert inside > len(parts) / 4, "many end inside a word"


def test_what_stands_between_pieces(streams: ModuleType) -> None:
    texts = [("One.", "text"), ("\n```", "text"), ("Two.", "thinking"), ("Three.", "thinking")]
    pieces = streams.joined(streams.Piece(text, channel) for text, channel in texts)
    assert [piece.text for piece in pieces] == ["One.", "\n```\n", "Two. ", "Three."]
    assert streams.joined([]) == ()


def test_a_segment_belongs_to_the_piece_with_most_of_it(streams: ModuleType) -> None:
    said = [
        ("Yes. ", "text"),
        ("The lake is cold. ", "text"),
        ("Hm, a boat.\n", "thinking"),
        ("The lake is cold.", "text"),
    ]
    stream = streams.Stream("s", tuple(streams.Piece(*piece) for piece in said))
    places = streams.Places(stream)
    assert places.find("text", "Yes. The lake is cold.") == 1
    assert places.find("thinking", "Hm, a boat.") == 2
    assert places.find("text", "The lake") == 3, "not the one that was read before"
    assert places.find("text", "is cold.") == 3
    with pytest.raises(ValueError, match="not in the stream"):
        places.find("text", "The lake")


def test_filler(think_aloud: ModuleType) -> None:
    filler = think_aloud.filler()
    assert len(set(filler)) == len(filler) >= 120
    for sentence in filler:
        # Sentences that begin in lower case, or are very short or long, are cut elsewhere.
        assert 16 <= len(sentence) <= 120
        assert sentence[0].isupper()
        assert sentence[-1] in ".?!"


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_template_takes_every_question(think_aloud: ModuleType, question: str) -> None:
    assert len(think_aloud.TEMPLATES) >= 12
    found = [think_aloud.musing(question, i) for i in range(len(think_aloud.TEMPLATES))]
    assert len({tuple(pieces) for pieces in found}) == len(found)
    for pieces in found:
        assert 2 <= len(pieces) <= 3
        for piece in pieces:
            assert piece[0].isupper()
            assert piece[-1] in ".?!"
            assert len(piece) >= 4


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        (QUESTIONS[0], "when Ada ride up the mountain"),
        (QUESTIONS[1], "what Bo's favourite colour is"),
        (QUESTIONS[2], "what kind of boats Ada has built with Bo"),
        (QUESTIONS[3], "whether Ada and Bo would like a cold lake"),
        (QUESTIONS[4], "how many dogs Bo have"),
        ("Who rowed the boat?", "who rowed the boat"),
        ("What trees have grown there?", "what trees have grown there"),
        ("What might Bo's plan be?", "what Bo's plan might be"),
        (QUESTIONS[6], "the matter of name the boat"),
    ],
)
def test_statements(think_aloud: ModuleType, question: str, statement: str) -> None:
    index = [template.__name__ for template in think_aloud.TEMPLATES].index("_recalling")
    assert think_aloud.musing(question, index)[0] == f"I should recall {statement}."


def test_thinking_aloud_is_amid_other_talk(think_aloud: ModuleType) -> None:
    other, templates = set(think_aloud.filler()), Counter()
    for number in range(200):
        stream = think_aloud.stream("s", f"When did Ada ride up mountain {number}?")
        kinds = [piece.kind for piece in stream.pieces]
        about = [i for i, kind in enumerate(kinds) if kind == "about"]
        assert about == list(range(about[0], about[-1] + 1))
        assert 2 <= len(about) <= 3
        assert about[0] >= 2
        assert about[-1] <= len(kinds) - 3
        assert 6 <= kinds.count("unrelated") <= 10
        talk = {piece.text.strip() for piece in stream.pieces if piece.kind == "unrelated"}
        assert talk <= other
        assert {piece.channel for piece in stream.pieces} == {"thinking", "text"}
        templates[stream.pieces[about[0]].text.split()[0]] += 1
    assert len(templates) >= 8, "the hash spreads the templates"


def recipe(part, path: Path) -> bytes:
    """All that is fed for a file."""
    locomo, streams = part("locomo"), part("streams")
    found = []
    for haystack in locomo.read((path,)):
        for question in haystack.questions:
            name = f"{haystack.name}/{question.name}"
            stream = part("think_aloud").stream(name, question.text)
            found.append([name, list(streams.deltas(stream))])
        for session, stream in streams.chat(haystack):
            found.append([session, list(streams.deltas(stream))])
    return json.dumps(found).encode()


def test_the_recipe_sees_no_labels(part, tmp_path: Path) -> None:
    original = DATA / "locomo.json"
    document = json.loads(original.read_text(encoding="utf-8"))
    first = recipe(part, original)
    assert first == recipe(part, original)
    turns = [turn["id"] for turn in document["turns"]]
    for index, question in enumerate(document["questions"]):
        question["evidence"] = [turns[index % len(turns)]]
        question["answer"] = f"changed {index}"
        question["category"] = 1 + (int(question["category"]) + index) % 5
    changed = tmp_path / original.name
    changed.write_text(json.dumps(document), encoding="utf-8")
    assert recipe(part, changed) == first
    document["questions"][0]["question"] += " or not?"
    changed.write_text(json.dumps(document), encoding="utf-8")
    assert recipe(part, changed) != first


def test_chat_is_the_sessions_behind_the_first(part, streams: ModuleType) -> None:
    (haystack,) = part("locomo").read((DATA / "locomo.json",))
    sessions = list(dict.fromkeys(turn.session for turn in haystack.turns))
    found = dict(streams.chat(haystack))
    assert list(found) == sessions[1:]
    for session, stream in found.items():
        said = [turn.text.strip() for turn in haystack.turns if turn.session == session]
        assert [piece.text for piece in stream.pieces] == [f"{text}\n" for text in said]
