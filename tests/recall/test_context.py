"""Late interaction in context, against the same sums in numpy over the codes that are stored."""

from __future__ import annotations

import math
import random
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext import Engine
from cortext.models import Model

START = datetime(2026, 3, 1, tzinfo=timezone.utc)
GRAIN, PASSAGE, REACH = 32, 4, 4
BEFORE, BEHIND, DECAY, LEAST = 0.9, 0.8, 200.0, 0.3
PRIOR, WEIGHT_LEAST = 300, 0.05

THINGS = ["kiln", "piano", "lease", "canoe", "printer", "visa", "aquarium", "bakery"]
SAID = [
    "Did you hear about the {}?",
    "Yes, it was moved to Tuesday.",
    "The {} is broken again, we should call somebody.",
    "I like tea.",
    "My sister sold her {} last week and she is happy about it. " * 9,
    "No idea.",
]

Floats = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def path(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("context") / "m.db"
    chance = random.Random(5)
    with cortext.open(file, model=model) as mem:
        for i in range(90):
            text = chance.choice(SAID).replace("{}", chance.choice(THINGS))
            session = chance.choice("abc")
            mem.ingest(text, role="user", session=session, time=START + timedelta(hours=i))
        assert mem.flush()
    return file


@pytest.fixture(scope="module")
def mem(path: Path, model: Model) -> Iterator[Engine]:
    with cortext.open(path, model=model) as engine:
        yield engine


class Oracle:
    """The stored codes, and the scores that the definition gives."""

    def __init__(self, path: Path, model: Model) -> None:
        self.model = model
        self.passages: dict[int, list[list[tuple[int, Floats]]]] = {}  # message -> chunk -> grains
        self.sessions: dict[str, list[tuple[int, int]]] = {}
        with sqlite3.connect(path) as db:
            for id, code in db.execute(
                "SELECT message_id, codes FROM chunk JOIN token ON chunk_id = chunk.id"
                " ORDER BY message_id, seq"
            ):
                bits = np.unpackbits(np.frombuffer(code, np.uint8), bitorder="little")
                signs = bits.reshape(-1, model.handle.code_bits).astype(np.float32) * 2 - 1
                grains = [signs[i : i + GRAIN] for i in range(0, len(signs), GRAIN)]
                self.passages.setdefault(id, []).append([(len(grain), grain) for grain in grains])
            for id, session, time in db.execute(
                "SELECT message.id, name, time FROM message JOIN session ON session.id = session_id"
                " ORDER BY message.id"
            ):
                self.sessions.setdefault(session, []).append((id, time))
            self.counts = dict(db.execute("SELECT id, chunks FROM term"))
        db.close()

    def weights(self, ids: list[int]) -> Floats:
        total = self.counts[-1] + PRIOR
        weights = []
        for id in ids:
            held = self.counts.get(id, 0) + PRIOR * self.model.handle.token_prior(id)
            weights.append(max(math.log(1 + (total - held + 0.5) / (held + 0.5)), WEIGHT_LEAST))
        return np.array(weights, np.float32) / sum(weights)

    def scores(self, query: str, session: str, id: int, until: int) -> tuple[float, float]:
        """The match of a message's best passage alone, and with what stands around it."""
        asked = self.model.handle.query(query)
        weights = self.weights(asked.ids)
        order = [message for message, _ in self.sessions[session]]
        at = order.index(id)
        near = [
            message
            for message, time in self.sessions[session][max(0, at - REACH) : at + REACH + 1]
            if message == id or time < until
        ]
        row: list[tuple[int, int, int, Floats]] = []  # message, chunk, tokens, best of each token
        for message in near:
            chunks = self.passages[message]
            for place, grains in enumerate(chunks):
                if message != id and 0 < place < len(chunks) - 1:
                    continue
                for tokens, grain in grains:
                    match = asked.vectors @ grain.T / math.sqrt(grain.shape[1])
                    row.append((message, place, tokens, match.max(axis=1)))
        own = [i for i, grain in enumerate(row) if grain[0] == id]
        alone, together = -1.0, -1.0
        start = own[0]
        while start <= own[-1]:
            stop = start
            while stop <= own[-1] and stop - start < PASSAGE and row[stop][1] == row[start][1]:
                stop += 1
            best = np.max([row[i][3] for i in range(start, stop)], axis=0)
            alone = max(alone, float(weights @ best))
            for side, share in (
                (range(start - 1, -1, -1), BEFORE),
                (range(stop, len(row)), BEHIND),
            ):
                distance = 0
                for i in side:
                    lent = share * math.exp(-distance / DECAY)
                    if lent < LEAST:
                        break
                    best = np.maximum(best, lent * row[i][3])
                    distance += row[i][2]
            together = max(together, float(weights @ best))
            start = stop
        return alone, together


@pytest.fixture(scope="module")
def oracle(path: Path, model: Model) -> Oracle:
    return Oracle(path, model)


@given(
    query=st.builds(
        str.format,
        st.sampled_from(["where is the {}?", "who sold a {}", "{} tuesday tea"]),
        st.sampled_from(THINGS),
    ),
    hours=st.one_of(st.none(), st.integers(5, 90)),
    limit=st.sampled_from([3, 100]),
)
@settings(deadline=None, max_examples=40)
def test_scores_are_those_of_the_definition(
    mem: Engine, oracle: Oracle, query: str, hours: int | None, limit: int
) -> None:
    # Only the best by themselves are looked at in context; what is handed out is among them.
    until = None if hours is None else START + timedelta(hours=hours)
    whole: list[cortext.engine.Stage] = [s for s in cortext.engine.STAGES if s != "cut"]
    found = mem.recall(query, limit=limit, explain=True, until=until, stages=whole, collapse=False)
    assert len(found) == min(hours or 90, limit)
    end = 2**63 - 1 if until is None else round(until.timestamp() * 1000)
    for hit in found:
        assert hit.scores is not None
        alone, together = oracle.scores(query, hit.session, hit.id, end)
        # The engine keeps four bits of a query's dimension.
        assert hit.scores.late == pytest.approx(alone, abs=0.03)
        assert hit.scores.context == pytest.approx(together, abs=0.03)


def test_without_context_nothing_is_lent(mem: Engine) -> None:
    stages: list[cortext.engine.Stage] = ["dense", "lexical", "late"]
    for hit in mem.recall("where is the kiln?", limit=90, explain=True, stages=stages):
        assert hit.scores is not None
        assert hit.scores.late == hit.scores.context


def said(folder: Path, model: Model, *messages: dict[str, Any]) -> Engine:
    engine = cortext.open(folder / "said.db", model=model)
    engine.ingest_many(messages)
    assert engine.flush()
    return engine


def test_the_answer_is_found_by_its_question(tmp_path: Path, model: Model) -> None:
    with said(
        tmp_path,
        model,
        {"text": "When does the ferry to Skye leave?", "role": "Ann", "session": "1"},
        {"text": "Half past nine, if the wind allows.", "role": "Ben", "session": "1"},
        {"text": "Half past nine is when I get up.", "role": "Ann", "session": "2"},
        {"text": "My cousin lives on an island too.", "role": "Ben", "session": "2"},
    ) as mem:
        found = mem.recall("what time is the ferry to Skye?", limit=4, attach=False)
        assert {hit.id for hit in found.hits[:2]} == {1, 2}, "the answer, by the question before it"


def test_another_session_lends_nothing(tmp_path: Path, model: Model) -> None:
    with said(
        tmp_path,
        model,
        {"text": "The ferry to Skye leaves from Mallaig.", "session": "1"},
        {"text": "Fine with me.", "session": "2"},
    ) as mem:
        hits = mem.recall("ferry to Skye", limit=2, explain=True).hits
        other = next((hit for hit in hits if hit.session == "2"), None)
        assert other is None or (other.scores and other.scores.late == other.scores.context)


def test_the_future_lends_nothing_as_of_then(tmp_path: Path, model: Model) -> None:
    with said(
        tmp_path,
        model,
        {"text": "Fine with me.", "session": "1", "time": START},
        {
            "text": "The ferry to Skye leaves from Mallaig.",
            "session": "1",
            "time": START + timedelta(days=1),
        },
    ) as mem:
        now = mem.recall("ferry to Skye", explain=True)
        assert {hit.id for hit in now} >= {2}
        then = mem.recall("ferry to Skye", as_of=START, explain=True)
        assert [hit.id for hit in then] == [1]
        scores = then.hits[0].scores
        assert scores is not None
        assert scores.late == scores.context
        assert then.confidence < now.confidence
