"""Damage to what consolidation left: it is told or derived anew, and no call stumbles over it."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import cortext
from cortext import StoreCorruptError
from cortext.models import Model
from tests.support.talk import START, consolidated_tables, talk

LEAST, MOST = -(2**63), 2**63 - 1


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Path:
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(5, 60))
        mem.flush()
        mem.consolidate()
    return path


@pytest.fixture
def damaged(sound: Path, path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of a store after the test's statements."""
    path.write_bytes(sound.read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(request.param)
    return path


def calls(mem: cortext.Engine) -> dict[str, Any]:
    return {
        "state": lambda: mem.state,
        "digest": lambda: mem.digest(budget_tokens=500),
        "episodes": mem.episodes,
        "related": lambda: [mem.related(id) for id in (1, 2, 40)],
        "recall": lambda: mem.recall("the garage door"),
        "consolidate": mem.consolidate,
    }


@pytest.mark.parametrize(
    "damaged",
    [
        "UPDATE progress SET last = 0",
        "UPDATE progress SET last = 17 WHERE step = 'messages'",
        "UPDATE progress SET last = -5",
        f"UPDATE progress SET last = {LEAST}",
        f"UPDATE progress SET last = {MOST}",
        "UPDATE progress SET last = 1000000",
        "UPDATE progress SET last = 'soon'",
        "DELETE FROM progress",
        f"UPDATE episode SET last_id = {MOST}",
    ],
    indirect=True,
)
def test_what_does_not_fit_together_is_derived_anew(
    damaged: Path, model: Model, sound: Path
) -> None:
    with cortext.open(damaged, model=model) as mem:
        added = {"text": "And something new about the hedge.", "session": "a"}
        mem.ingest(**added)  # type: ignore[arg-type]
        mem.flush()
        report = mem.consolidate()
        assert report.anew
        assert report.messages == 61
        assert report.complete
        assert mem.state == "none"
        assert not mem.consolidate().anew
        assert sum(episode.messages for episode in mem.episodes()) == 61
    fresh = damaged.with_name("fresh.db")
    fresh.write_bytes(damaged.read_bytes())
    with closing(sqlite3.connect(fresh)) as db, db:
        for table in ("progress", "saying", "duplicate", "replaced", "episode", "digest"):
            db.execute(f"DELETE FROM {table}")
    with cortext.open(fresh, model=model) as mem:
        assert not mem.consolidate().anew
    assert consolidated_tables(fresh) == consolidated_tables(damaged)


@pytest.mark.parametrize(
    "damaged",
    [
        "INSERT INTO episode VALUES(0, 1, 5, 3, 0, 0, 1)",
        "UPDATE episode SET last_id = last_id + 0.5, stale = 1",
        "UPDATE episode SET last_id = 'abc', stale = 1",
        """INSERT INTO progress VALUES('dropped', 9223372036854775807);
        UPDATE progress SET last = 1000000 WHERE step = 'messages'""",
    ],
    indirect=True,
)
def test_an_episode_that_cannot_be_stored_does_not_stop_it(damaged: Path, model: Model) -> None:
    with cortext.open(damaged, model=model) as mem:
        report = mem.consolidate()
        assert report.anew
        assert report.complete
        assert not mem.consolidate().anew
        assert sum(episode.messages for episode in mem.episodes()) == 60


@pytest.mark.parametrize("count", [20, 137, 200])
@pytest.mark.parametrize("kept", ["id = 1", "id <= 3", "id % 7 = 1", "id > 12", "id < 0"])
def test_messages_of_an_open_episode_are_gone(
    path: Path, model: Model, count: int, kept: str
) -> None:
    texts = [f"Message {n} about roses, tulips and the hedge." for n in range(count)]
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": t, "time": START + 1000 * n} for n, t in enumerate(texts)])
        mem.flush()
        mem.consolidate()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"DELETE FROM message WHERE NOT ({kept})")
    with cortext.open(path, model=model) as mem:
        for n in range(30):
            mem.ingest(f"And {n} more about roses.", time=START + 1000 * (count + n))
            mem.flush()
            assert not mem.consolidate().anew
        found = mem.episodes(limit=1000)
        assert all(episode.last_id <= count + 30 for episode in found)
        assert all(1 <= episode.messages <= count + 30 for episode in found)


@pytest.mark.parametrize("step", ["messages", "words"])
def test_a_mark_beyond_the_last_message_counts_as_a_backlog(
    sound: Path, path: Path, model: Model, step: str
) -> None:
    path.write_bytes(sound.read_bytes())
    with cortext.open(path, model=model) as mem:
        mem.ingest_many(talk(6, 60))
        mem.flush()
        mem.consolidate()
        assert mem.state == "none"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT OR REPLACE INTO progress VALUES(?, 10000)", (step,))
    with cortext.open(path, model=model) as mem:
        assert mem.state == "recommended"
        assert mem.consolidate().anew
        assert mem.state == "none"


@pytest.mark.parametrize(
    "damaged",
    [
        "UPDATE digest SET message_id = 999999",
        "UPDATE episode SET id = id + 100000, last_id = last_id + 100000, stale = 1",
        "INSERT INTO episode VALUES(500000, 1, 500010, 3, 0, 0, 1)",
        "INSERT OR IGNORE INTO replaced VALUES(1, 99999), (99999, 2), (-1, 3), (3, -1), (1, 0)",
        "UPDATE duplicate SET first_id = 999999",
        "UPDATE duplicate SET first_id = -1",
        "INSERT OR IGNORE INTO replaced SELECT id, id FROM message",
        "UPDATE duplicate SET first_id = message_id",
    ],
    indirect=True,
)
def test_rows_of_messages_that_are_not_there_are_passed_over(damaged: Path, model: Model) -> None:
    with cortext.open(damaged, model=model) as mem:
        for call in calls(mem).values():
            call()


@pytest.mark.parametrize(
    "damaged",
    [
        "UPDATE episode SET messages = -5",
        "UPDATE episode SET last_id = -1",
        f"UPDATE episode SET begins = {MOST - 1}, ends = {MOST}",
        f"UPDATE episode SET begins = {LEAST}",
        "UPDATE episode SET begins = 5, ends = 4",
    ],
    indirect=True,
)
def test_an_episode_that_is_none_is_told(damaged: Path, model: Model) -> None:
    with (
        cortext.open(damaged, model=model) as mem,
        pytest.raises(StoreCorruptError, match="damaged"),
    ):
        mem.episodes()


@pytest.mark.parametrize(
    ("start", "size"),
    [(5, -3), (20, -10), (-5, 10), (-4096, 4100), (-(10**8), 10**8 + 10), (10**9, 1), (0, 10**8)],
)
def test_a_damaged_digest_is_told(
    sound: Path, path: Path, model: Model, start: int, size: int
) -> None:
    path.write_bytes(sound.read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE digest SET start = ?, bytes = ?", (start, size))
    with cortext.open(path, model=model) as mem:
        for read in (mem.digest, mem.episodes):
            with pytest.raises(StoreCorruptError, match="damaged"):
                read()
        assert mem.recall("the garage door").hits


def all_tables() -> list[str]:
    return [
        *("meta", "session", "role", "message", "words", "vocabulary", "pending", "again"),
        *("chunk", "token", "block", "term", "directive", "progress", "saying", "duplicate"),
        *("replaced", "episode", "digest"),
    ]


def test_these_are_all_tables(sound: Path) -> None:
    with closing(sqlite3.connect(sound)) as db:
        names = {
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")
        }
    own = {name for name in names if not name.startswith(("sqlite_", "words_"))}
    assert own == set(all_tables())


@pytest.mark.parametrize("table", all_tables())
def test_a_table_that_is_not_there_is_damage(
    sound: Path, path: Path, model: Model, table: str
) -> None:
    path.write_bytes(sound.read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"DROP TABLE {table}")
    with suppress(StoreCorruptError), cortext.open(path, model=model) as mem:
        reads = {
            **calls(mem),
            "ingest": lambda: mem.ingest("One more.", uid="new"),
            "flush": lambda: mem.flush(timeout=5),
            "stats": mem.stats,
            "messages": mem.messages,
        }
        for call in reads.values():
            with suppress(StoreCorruptError):
                call()
