"""Consolidation: what it finds, that it can be broken off, and that it changes nothing said."""

from __future__ import annotations

import itertools
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cortext
from cortext import InputError, InternalError, NotFoundError, _native
from cortext.models import Model
from tests.support.talk import DAY, START, TABLES, consolidated_tables, talk


def said(path: Path | str) -> list[Any]:
    """Everything that was said."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM message ORDER BY id").fetchall()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Iterator[cortext.Engine]:
    """A store that was consolidated in one go."""
    with cortext.open(tmp_path_factory.mktemp("whole") / "memory.db", model=model) as mem:
        mem.ingest_many(talk(1, 240))
        mem.flush()
        before = said(mem.path)
        mem.consolidate()
        assert said(mem.path) == before, "nothing that was said is changed"
        yield mem


def test_the_report_counts_what_is_stored(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(2, 150))
        mem.ingest("From now on call me Max.")
        mem.flush()
        assert mem.state == "recommended"
        seen: list[tuple[int, int]] = []
        report = mem.consolidate(progress=lambda done, total: seen.append((done, total)))
        assert report.complete
        assert report.messages == 151
        assert report.remaining == 0
        assert report.directives == 1
        assert mem.state == "none"
        assert seen[-1] == (151, 151)
        stored = consolidated_tables(path)
        assert report.duplicates == len(stored["duplicate"]) > 0
        assert report.supersessions == len(stored["replaced"])
        assert report.episodes == len(stored["episode"]) > 3
        assert 0 < len(stored["digest"]) <= report.sentences
        assert report.elapsed_ms > 0
        assert sum(report.spent_ms.values()) <= report.elapsed_ms


def test_again_there_is_nothing_to_do(whole: cortext.Engine) -> None:
    before = consolidated_tables(whole.path)
    report = whole.consolidate()
    assert (report.messages, report.episodes, report.sentences, report.merges) == (0, 0, 0, 0)
    assert report.complete
    assert consolidated_tables(whole.path) == before


@pytest.mark.parametrize("step", [1, 7, 100])
def test_it_does_not_matter_when_it_is_called(
    path: Path, model: Model, whole: cortext.Engine, step: int
) -> None:
    messages = talk(1, 240)
    with cortext.open(path, model=model) as mem:
        for at in range(0, len(messages), step):
            mem.ingest_many(messages[at : at + step])
            if at % (3 * step) == 0:
                mem.flush()
                mem.consolidate(budget_ms=0.01)
        mem.flush()
        while not mem.consolidate(budget_ms=1).complete:
            pass
    assert consolidated_tables(path) == consolidated_tables(whole.path)


def test_what_is_not_embedded_waits(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(3, 40))
        mem.flush()
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO pending(message_id, tries) VALUES(25, 0)")
        db.execute("DELETE FROM chunk WHERE message_id = 25")
        db.commit()
    with cortext.open(path, model=model) as mem:
        mem.consolidate()
        mem.flush()
        report = mem.consolidate()
        assert report.remaining == 0
        assert {episode.id for episode in mem.episodes()}


# ---- what it finds ---------------------------------------------------------------------------


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 70))
def test_every_message_is_in_one_episode(
    tmp_path_factory: pytest.TempPathFactory, model: Model, seed: int, count: int
) -> None:
    path = tmp_path_factory.mktemp("partition") / "memory.db"
    messages = talk(seed, count)
    with cortext.open(path, model=model) as mem:
        ids = mem.ingest_many(messages)
        mem.flush()
        mem.consolidate()
        episodes = mem.episodes(limit=10_000)
        digest = mem.digest(budget_tokens=10**6)
        by_id = {message.id: message for message in mem.messages(limit=10_000)}
    covered = []
    for episode in episodes:
        own = [
            id for id in ids
            if episode.id <= id <= episode.last_id and by_id[id].session == episode.session
        ]  # fmt: skip
        assert own[0] == episode.id
        assert own[-1] == episode.last_id
        assert len(own) == episode.messages
        assert min(by_id[id].time for id in own) == episode.start
        assert max(by_id[id].time for id in own) == episode.end
        gaps = [abs(by_id[b].time - by_id[a].time) for a, b in itertools.pairwise(own)]
        assert all(gap.total_seconds() <= 1800 for gap in gaps)
        covered += own
    assert sorted(covered) == ids
    for sentence in digest:
        assert sentence.text
        assert sentence.message.text[slice(*sentence.span)] == sentence.text
    assert {sentence.episode for sentence in digest} <= {episode.id for episode in episodes}


def test_duplicates_are_those_of_the_same_words(mem: cortext.Engine) -> None:
    texts = [
        "The meeting of the board was moved to room four.",
        "the meeting of the board was moved to room FOUR!",
        "The meeting of the board was moved to room five.",
        "Yes.",
        "Yes.",
        "The meeting of the board was moved to room four.",
    ]
    ids = mem.ingest_many([{"text": text, "session": str(n)} for n, text in enumerate(texts)])
    other = mem.ingest("The meeting of the board was moved to room four.", role="assistant")
    mem.flush()
    assert mem.consolidate().duplicates == 2
    of = {r.message.id for r in mem.related(ids[0], limit=10) if r.relation == "duplicate"}
    assert of == {ids[1], ids[5]}
    assert not [r for r in mem.related(other) if r.relation == "duplicate"], "another speaker"


def test_a_newer_value_replaces_the_older(mem: cortext.Engine) -> None:
    old = mem.ingest("The wifi password at the cabin is tulip-42.", session="a", time=START)
    new = mem.ingest(
        "Changed the wifi password at the cabin, it's heron-77 these days.",
        session="b",
        time=START + DAY,
    )
    mem.flush()
    assert mem.consolidate().supersessions == 1
    relations = {(r.message.id, r.relation) for r in mem.related(new)}
    assert (old, "supersedes") in relations
    assert (new, "superseded_by") in {(r.message.id, r.relation) for r in mem.related(old)}


def test_a_topic_that_shifts_begins_an_episode(mem: cortext.Engine) -> None:
    garden = [
        f"The {plant} in the garden {verb} water and the soil is dry today."
        for plant in ("rose", "tulip", "hedge", "lawn", "lilac", "fern", "moss", "ivy")
        for verb in ("needs", "wants")
    ]
    server = [
        f"The {part} of the database server {verb} slow since the release."
        for part in ("index", "cache", "log", "backup", "query", "replica", "lock", "pool")
        for verb in ("is", "runs")
    ]
    ids = mem.ingest_many(
        [{"text": text, "time": START + 1000 * n} for n, text in enumerate(garden + server)]
    )
    mem.flush()
    mem.consolidate()
    begins = [episode.id for episode in mem.episodes()]
    assert len(begins) == 2
    assert abs(begins[1] - ids[len(garden)]) <= 1


def test_related_keeps_to_its_filters(whole: cortext.Engine) -> None:
    for relation in whole.related(30, limit=20, session="a", roles="user"):
        assert relation.message.session == "a"
        assert relation.message.role == "user"
    everything = whole.related(30, limit=3)
    kinds = [relation.relation for relation in everything]
    assert all(kinds.count(kind) <= 3 for kind in kinds)
    assert all(relation.message.id != 30 for relation in everything)
    similar = [relation.score for relation in everything if relation.relation == "similar"]
    assert similar == sorted(similar, reverse=True)
    assert len(similar) == 3


def test_a_digest_keeps_to_its_budget(whole: cortext.Engine) -> None:
    sizes = []
    for budget in (1, 20, 60, 200, 10**6):
        digest = whole.digest(budget_tokens=budget)
        assert digest.tokens <= budget
        counted = [len(whole.model.tokenize(sentence.text)) - 2 for sentence in digest]
        assert sum(counted) <= digest.tokens, "as the model counts, or a little more"
        assert [s.message.id for s in digest] == sorted(s.message.id for s in digest)
        sizes.append(len(digest))
    assert sizes[0] == 0
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[1]
    only = whole.digest("a", budget_tokens=10**6)
    assert {sentence.message.session for sentence in only} == {"a"}
    assert whole.digest("nobody").sentences == ()


def test_episodes_are_read_on_page_by_page(whole: cortext.Engine) -> None:
    everything = whole.episodes(limit=10_000)
    pages, after = [], 0
    while page := whole.episodes(limit=7, after=after):
        pages += page
        after = page[-1].id
    assert pages == everything
    middle = everything[len(everything) // 2]
    assert middle in whole.episodes(since=middle.start, until=middle.end.replace(year=2100))
    assert middle not in whole.episodes(until=middle.start)
    assert all(episode.session == "b" for episode in whole.episodes(session="b"))


# ---- what it is given, and what goes wrong ---------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda mem: mem.consolidate(budget_ms=0),
        lambda mem: mem.consolidate(budget_ms=-1),
        lambda mem: mem.consolidate(budget_ms="1"),
        lambda mem: mem.consolidate(budget_ms=float("nan")),
        lambda mem: mem.consolidate(budget_ms=-(10**400)),
        lambda mem: mem.consolidate(progress=5),
        lambda mem: mem.flush(progress=5),
        lambda mem: mem.episodes(limit=0),
        lambda mem: mem.episodes(limit=10_001),
        lambda mem: mem.episodes(session=[]),
        lambda mem: mem.digest(budget_tokens=0),
        lambda mem: mem.digest(session=3),
        lambda mem: mem.related("1"),
        lambda mem: mem.related(1, limit=0),
        lambda mem: mem.related(1, limit=1001),
        lambda mem: mem.related(1, roles=[]),
    ],
)
def test_what_it_cannot_take_is_an_input_error(whole: cortext.Engine, call: Any) -> None:
    with pytest.raises(InputError):
        call(whole)


def test_who_is_not_there_has_no_relations(whole: cortext.Engine) -> None:
    for id in (0, -5, 10**9):
        with pytest.raises(NotFoundError):
            whole.related(id)


def test_what_is_not_embedded_is_left_and_told(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(3, 100))
        mem.flush()
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("INSERT INTO pending(message_id) SELECT id FROM message WHERE id > 10")
        assert mem.state == "none", "there is nothing it could do"
        report = mem.consolidate()
        assert (report.messages, report.remaining, report.complete) == (10, 90, False)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM pending")
        assert mem.state == "recommended"
        report = mem.consolidate()
        assert (report.messages, report.remaining, report.complete) == (90, 0, True)
        assert mem.state == "none"


def test_an_empty_store(mem: cortext.Engine) -> None:
    assert mem.state == "none"
    report = mem.consolidate()
    assert report.complete
    assert report.messages == 0
    assert mem.episodes() == []
    assert len(mem.digest()) == 0


def test_progress_may_break_it_off(path: Path, model: Model, whole: cortext.Engine) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise StopError

    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(1, 240))
        mem.flush()
        with pytest.raises(StopError):
            mem.consolidate(progress=stop)
        mem.consolidate()
    assert consolidated_tables(path) == consolidated_tables(whole.path)


def test_failing_allocations(path: Path, model: Model, whole: cortext.Engine) -> None:
    failed, n = 0, 0
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(1, 240))
        mem.flush()
        complete = False
        while not complete:
            n += 1
            _native.fail_allocation(n % 997)
            try:
                complete = mem.consolidate(budget_ms=5).complete
            except InternalError as error:
                assert "out of memory" in str(error)  # noqa: PT017
                failed += 1
            finally:
                _native.fail_allocation(0)
    assert failed > 5
    assert consolidated_tables(path) == consolidated_tables(whole.path)


# ---- beside others, and killed ---------------------------------------------------------------


def test_two_engines_at_once_share_the_work(
    path: Path, model: Model, whole: cortext.Engine
) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(1, 240))
        mem.flush()
        for _ in range(8):
            with closing(sqlite3.connect(path)) as db, db:
                for table in (*TABLES, "progress"):
                    db.execute(f"DELETE FROM {table}")
            with (
                cortext.open(path, model=model) as other,
                ThreadPoolExecutor(4) as pool,
            ):
                reports = list(pool.map(lambda e: e.consolidate(), (mem, other, mem, other)))
            assert not any(report.anew for report in reports)
            assert sum(report.messages for report in reports) == 240
            assert consolidated_tables(path) == consolidated_tables(whole.path)


def test_beside_ingest_recall_and_itself(path: Path, model: Model) -> None:
    messages = talk(4, 300)
    done = threading.Event()
    with (
        cortext.open(path, model=model) as mem,
        cortext.open(path, model=model) as other,
    ):

        def consolidate(engine: cortext.Engine) -> None:
            while not done.is_set():
                engine.consolidate(budget_ms=20)

        threads = [threading.Thread(target=consolidate, args=(e,)) for e in (mem, mem, other)]
        for thread in threads:
            thread.start()
        for at in range(0, len(messages), 10):
            mem.ingest_many(messages[at : at + 10])
            other.recall("the garage door", wait_ms=0)
            other.related(1)
            mem.digest()
        mem.flush()
        done.set()
        for thread in threads:
            thread.join()
        mem.consolidate()
        episodes = mem.episodes(limit=10_000)
        assert sum(episode.messages for episode in episodes) == len(messages)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


WORK = """
import sys, cortext
mem = cortext.open(sys.argv[1])
print("ready", flush=True)
report = mem.consolidate()
print("done", flush=True)
"""


@pytest.mark.slow
def test_killed_it_goes_on(path: Path, model: Model, whole: cortext.Engine) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(1, 240))
        mem.flush()
    before, moments, kills = said(path), random.Random(7), 0
    for _ in range(25):
        with subprocess.Popen(
            [sys.executable, "-c", WORK, str(path)], stdout=subprocess.PIPE, text=True
        ) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
            time.sleep(moments.uniform(0, 0.03))
            worker.send_signal(signal.SIGKILL)
            kills += worker.stdout.read() != "done\n"
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert kills > 0
    with cortext.open(path, model=model) as mem:
        mem.consolidate()
        assert mem.recall("the code of the garage door").hits
    assert consolidated_tables(path) == consolidated_tables(whole.path)
    assert said(path) == before
