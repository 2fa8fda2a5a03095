"""The weights of score fusion: the score that is re-created is the engine's, the search finds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cortext

from .conftest import Part, RunBench

DATA = Path(__file__).with_name("data")
ASKED = datetime(2024, 6, 1, tzinfo=timezone.utc)

SAID = [
    ("Ada", "Did you ever find out what Ruth wanted for the new flat? Was it the lamp?"),
    ("Ben", "The teapot, in the end."),
    ("Ada", "I planted the fig tree behind the garage, next to the old pear."),
    ("Ben", "How is the fig tree doing? Mine died in the frost."),
    ("user", "Set the timeout of the worker to 30 seconds, please."),
    ("assistant", "Done: WORKER_TIMEOUT is 30 now."),
    ("Ada", "Мы посадили дерево за гаражом."),
    ("Ben", "The pottery course begins on Tuesday. Ruth is coming too!"),
]
QUESTIONS = [
    "What did Ada plant behind the garage?",  # a speaker
    "What happened in April 2024?",  # a time
    "What did Ben say about Ruth yesterday?",
    "what did I ask you about WORKER_TIMEOUT",  # persons, a setting to the letter
    "Что посадили за гаражом?",  # nothing that the model can read
    "qqzzx teapot",
    "???",
    "the",
    "fig tree frost pear teapot pottery lamp",
]


@pytest.fixture(scope="module")
def fusion(part: Part) -> ModuleType:
    return part("fusion")


@pytest.fixture(scope="module")
def fitting(part: Part) -> ModuleType:
    return part("fitting")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[cortext.Engine]:
    with cortext.open(tmp_path / "store.db") as engine:
        for month in (3, 4, 5):
            engine.ingest_many(
                cortext.NewMessage(
                    text=text,
                    role=role,
                    session=f"s{month}-{number // 5}",
                    time=datetime(2024, month, 31 if month != 4 else 30, tzinfo=timezone.utc),
                    uid=f"{month}:{number}",
                )
                for number, (role, text) in enumerate(SAID)
            )
        engine.flush()
        yield engine


@pytest.mark.parametrize("text", QUESTIONS)
def test_the_score_is_the_engines(
    part: Part, fusion: ModuleType, engine: cortext.Engine, text: str
) -> None:
    time = round(ASKED.timestamp() * 1000)
    question = part("haystacks").Question("q", text, "", frozenset(), frozenset(), time=time)
    of = fusion.features(engine, question)
    assert len(of.ids) == engine.stats().messages, "whatever is weighed otherwise was returned"
    assert fusion.recreation_error(of) < 1e-12
    again = of.scores(fusion.CURRENT)
    assert np.sort(again)[::-1] == pytest.approx(again, abs=1e-12), (
        "in the same order, but for ties"
    )


def test_all_parts_of_the_score_were_there(
    part: Part, fusion: ModuleType, engine: cortext.Engine
) -> None:
    """Otherwise the test above says little."""
    time = round(ASKED.timestamp() * 1000)
    seen: dict[str, float] = {}
    for text in QUESTIONS:
        question = part("haystacks").Question("q", text, "", frozenset(), frozenset(), time=time)
        of = fusion.features(engine, question)
        for name in ("lexical", "around", "speaker", "date", "question", "foreign"):
            seen[name] = max(seen.get(name, 0), getattr(of, name).max(initial=0))
        seen["context"] = max(seen.get("context", 0), (of.together - of.alone).max(initial=0))
        seen["lent"] = max(seen.get("lent", 0), (of.around - of.lexical).max(initial=0))
    assert all(value > 0 for value in seen.values()), seen
    assert seen["lexical"] == 1


def test_other_weights_are_noticed(fusion: ModuleType, monkeypatch, engine, part: Part) -> None:
    question = part("haystacks").Question("q", QUESTIONS[0], "", frozenset(), frozenset())
    of = fusion.features(engine, question)
    for name in ("own", "lexical", "speaker", "question"):
        other = fusion.CURRENT._replace(**{name: 0.3})
        monkeypatch.setattr(fusion, "CURRENT", other)
        assert fusion.recreation_error(of) > 0.001, name


def test_lent(fusion: ModuleType) -> None:
    places = [("a", 5), ("b", 3), ("a", 1), ("a", 2), ("b", 4), ("a", 9)]  # a: 1 2 5 9; b: 3 4
    words = {1: 10.0, 2: 0.0, 5: 0.0, 9: 6.0, 3: 1.0, 4: 0.0}
    lent = fusion.lent(places, words)
    assert lent == pytest.approx([6.0, 0.0, 0.0, 8.4, 0.84, 0.0])
    assert len(fusion.lent([], {})) == 0


def made(fitting: ModuleType, fusion: ModuleType, seed: int, haystack: str):
    """A question whose evidence is what the date and a little of the words speak for."""
    random = np.random.default_rng(seed)
    size = 40 + seed % 3
    parts = {
        name: random.random(size) for name in ("together", "alone", "lexical", "speaker", "date")
    }
    best = np.argsort(-(parts["together"] + 0.1 * parts["date"] + 0.025 * parts["lexical"]))[:4]
    zeros = np.zeros(size)
    features = fusion.Features(
        ids=np.arange(size) + 1,
        uids=np.array([str(i) for i in range(size)]),
        around=zeros,
        question=zeros,
        foreign=zeros,
        score=zeros,
        **parts,
    )
    return fitting.Asked(haystack, features, frozenset(str(i) for i in best))


@pytest.fixture(scope="module")
def questions(fitting: ModuleType, fusion: ModuleType):
    asked = [made(fitting, fusion, seed, f"h{seed % 3}") for seed in range(60)]
    return fitting.Questions.of(asked)


def test_recall_is_that_of_the_metrics(part: Part, fusion, fitting) -> None:
    recall_at = part("metrics").recall_at
    asked = [made(fitting, fusion, seed, "h") for seed in range(8)]
    missing = fitting.Asked("h", asked[0].features, frozenset({"0", "not stored"}))
    asked.append(missing)
    for weights in (fusion.CURRENT, fusion.Weights(1, 0.3, 0, 0.1, 0, 0)):
        found = fitting.Questions.of(asked).recall(weights)
        for one, row in zip(asked, found, strict=True):
            scores = one.features.scores(weights)
            ranked = one.features.uids[np.lexsort((-one.features.ids, -scores))].tolist()
            assert row == pytest.approx([recall_at(ranked, one.gold, k) for k in fitting.DEPTHS])


def test_ties_go_to_the_newer(fitting: ModuleType, fusion: ModuleType) -> None:
    zeros = np.zeros(7)
    flat = fusion.Features(
        np.arange(7), np.array([*"abcdefg"]), zeros, zeros, zeros, zeros, zeros, zeros, zeros,
        zeros, zeros,
    )  # fmt: skip
    for gold, within in (("c", 1), ("b", 0)):  # g, f, e, d, c are the first five
        asked = fitting.Questions.of([fitting.Asked("h", flat, frozenset(gold))])
        assert asked.recall(fusion.CURRENT).tolist() == [[within, 1]]


def test_the_search_finds(fitting: ModuleType, questions) -> None:
    aim = fitting.goal(questions, questions.everything)
    found = fitting.search(aim)
    assert aim(found) > 0.99
    assert found.date in (0.07, 0.1, 0.15)
    assert (found.own, found.speaker, found.question) == (0, 0, 0)
    swept = fitting.sweep(aim)
    assert swept["question"][0] == swept["question"][0.04], "what never is there weighs nothing"


def test_folds(fitting: ModuleType, questions, monkeypatch) -> None:
    asked_for = []
    goal = fitting.goal

    def spy(of, chosen):
        asked_for.append(chosen)
        return goal(of, chosen)

    monkeypatch.setattr(fitting, "goal", spy)
    folds = list(fitting.cross_validate(questions, None))
    assert [fold.haystacks for fold in folds] == [("h0",), ("h1",), ("h2",)]
    for fold, fitted_on in zip(folds, asked_for, strict=True):
        assert not (fold.chosen & fitted_on).any(), "never fitted on what it is judged on"
        assert (fold.chosen | fitted_on).all()
    two = list(fitting.cross_validate(questions, 2))
    assert [fold.haystacks for fold in two] == [("h0", "h2"), ("h1",)]
    assert [fold.haystacks for fold in fitting.cross_validate(questions, 9)] == [
        ("h0",),
        ("h1",),
        ("h2",),
    ]


def test_standard_error(fitting: ModuleType) -> None:
    assert fitting.standard_error(np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(0.6454972)
    assert np.isnan(fitting.standard_error(np.array([1.0])))


def test_from_end_to_end(run_bench: RunBench, tmp_path: Path) -> None:
    only = tmp_path / "only"
    only.write_text("q1 and a comment\n\nunknown\n", encoding="utf-8")
    files = ("--locomo", DATA / "locomo.json", "--locomo", DATA / "locomo-upstream.json")
    found = run_bench("fit.py", *files, "--longmemeval", DATA / "longmemeval", "--only", only)
    assert found["recreated"]["LoCoMo"]["questions"] == 4 + 2, (
        "neither category 5 nor what has no evidence"
    )
    for row in found["recreated"].values():
        assert row["largest error"] < 1e-9
        assert row["moved"] == 0
    assert found["recreated"]["LoCoMo, false premise"]["questions"] == 2
    assert found["left out"].keys() == {"LoCoMo", "LongMemEval"}, "never fitted on false premises"
    assert found["sets"]["today"]["LoCoMo, false premise"]["R@10"] == 1
    assert found["sweep"]["LoCoMo"]["date"].keys() >= {"0", "0.05"}
    folds = found["left out"]["LoCoMo"]
    assert [fold["left out"] for fold in folds] == [["tiny"], ["conv-0"], "each in turn"]
    assert folds[-1]["n"] == 6
    assert found["sets"]["today"]["weights"]["own"] == 0.2


def test_without_data(run_bench: RunBench) -> None:
    with pytest.raises(AssertionError, match="no haystack"):
        run_bench("fit.py")
