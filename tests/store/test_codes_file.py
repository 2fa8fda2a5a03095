"""The file of codes beside a store: derived, and as good as absent when anything is wrong."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import cortext
from cortext.engine import STAGES, Stage
from cortext.models import Model

Run = Callable[..., object]

BLOCK = 4096
COUNT = BLOCK + 40
QUESTIONS = ("number 17", "four thousand", "message 4100", "nothing like it")


def codes_of(path: Path) -> Path:
    return path.with_name(path.name + "-codes")


Answers = list[list[tuple[int, float]]]


def answers(engine: cortext.Engine, stages: Sequence[Stage] = STAGES) -> Answers:
    results = [engine.recall(text, stages=stages, limit=20) for text in QUESTIONS]
    return [[(hit.id, hit.score) for hit in result] for result in results]


def by_vector(engine: cortext.Engine) -> Answers:
    """What needs no codes of tokens."""
    return answers(engine, ("dense",))


def wait_for(condition: Callable[[], bool]) -> None:
    """The file is written by the embedding thread, a moment after what it was told to embed."""
    deadline = time.monotonic() + 1200  # a guard against hanging, no measure
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_until_whole(engine: cortext.Engine, path: Path, filled: Path) -> None:
    """Until the file is again what it was."""
    whole = codes_of(filled).read_bytes()
    wait_for(
        lambda: (
            codes_of(path).exists()
            and codes_of(path).read_bytes() == whole
            and not engine.stats().restoring
        )
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Path:
    """A closed store with one full block of codes and some more."""
    path = tmp_path_factory.mktemp("codes") / "memory.db"
    with cortext.open(path, model=model, durability="normal") as engine:
        engine.ingest_many([{"text": f"message {n}"} for n in range(COUNT)])
        assert engine.flush()
        wait_for(lambda: engine.stats().codes_bytes > BLOCK * model.dimension)
        assert engine.stats().codes_bytes == codes_of(path).stat().st_size
    return path


@pytest.fixture
def path(tmp_path: Path, filled: Path) -> Path:
    copy = tmp_path / "memory.db"
    shutil.copy(filled, copy)
    shutil.copy(codes_of(filled), codes_of(copy))
    return copy


@pytest.fixture(scope="module")
def wanted(filled: Path, model: Model) -> tuple[Answers, Answers]:
    with cortext.open(filled, model=model) as engine:
        return answers(engine), by_vector(engine)


def test_it_is_private(filled: Path) -> None:
    assert stat.S_IMODE(codes_of(filled).stat().st_mode) == 0o600


def test_codes_are_moved_not_copied(filled: Path) -> None:
    with sqlite3.connect(filled) as db:
        (rows,) = db.execute("SELECT count(*) FROM token").fetchone()
    db.close()
    assert rows == COUNT - BLOCK


def test_it_is_what_opening_reads(
    path: Path, model: Model, wanted: tuple[Answers, Answers]
) -> None:
    """The store's own vectors of the full block are gone, and nobody notices."""
    with sqlite3.connect(path) as db:
        db.execute("UPDATE chunk SET code = zeroblob(length(code)) WHERE id <= ?", [BLOCK])
    db.close()
    with cortext.open(path, model=model) as engine:
        assert (answers(engine), by_vector(engine)) == wanted
        engine.stats()  # validates the index


def test_embedding_goes_on_behind_it(path: Path, model: Model, filled: Path) -> None:
    """The next block follows in the file; both are used."""
    with cortext.open(path, model=model, durability="normal") as engine:
        engine.ingest_many([{"text": f"later {n}"} for n in range(BLOCK)])
        assert engine.flush()
        wait_for(lambda: engine.stats().codes_bytes > 1.9 * codes_of(filled).stat().st_size)
        before = answers(engine)
    assert codes_of(path).read_bytes().startswith(codes_of(filled).read_bytes())
    with cortext.open(path, model=model) as engine:
        assert answers(engine) == before


def flip(path: Path, at: float) -> None:
    raw = bytearray(path.read_bytes())
    raw[int(at * len(raw))] ^= 1
    path.write_bytes(raw)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "flipped": lambda path: flip(path, 0.1),
    "cut": lambda path: os.truncate(path, 1_000_000),
    "noise": lambda path: path.write_bytes(os.urandom(path.stat().st_size)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_noticed_and_mended(
    path: Path, filled: Path, model: Model, wanted: tuple[Answers, Answers], damage: str
) -> None:
    """What the store has serves at once; what it has not is made again from the messages."""
    DAMAGE[damage](codes_of(path))
    with cortext.open(path, model=model) as engine:
        assert by_vector(engine) == wanted[1]
        assert engine.stats().pending == 0, "no recall waits for what is made again"
        wait_until_whole(engine, path, filled)
        assert answers(engine) == wanted[0]
    with cortext.open(path, model=model) as engine:
        assert (answers(engine), by_vector(engine)) == wanted


@pytest.mark.parametrize("column", ["place", "start", "bytes"])
@pytest.mark.parametrize("value", [-1, 2**52, 2**60, 2**63 - 1])
def test_a_block_that_is_nowhere(path: Path, model: Model, column: str, value: int) -> None:
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE block SET {column} = ?", [value])
    db.close()
    with pytest.raises(cortext.StoreCorruptError, match="block"):
        cortext.open(path, model=model)


def test_a_place_far_behind_the_others(
    path: Path, model: Model, wanted: tuple[Answers, Answers]
) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE block SET place = ?", [2**49])
    db.close()
    with cortext.open(path, model=model) as engine:
        assert by_vector(engine) == wanted[1]


def test_damaged_codes_of_tokens_are_noticed_when_read(
    path: Path, filled: Path, model: Model, wanted: tuple[Answers, Answers]
) -> None:
    size = codes_of(path).stat().st_size
    raw = bytearray(codes_of(path).read_bytes())
    tokens = size - 100_000  # the last part of the block
    raw[tokens:] = bytes(byte ^ 255 for byte in raw[tokens:])
    codes_of(path).write_bytes(raw)
    with cortext.open(path, model=model) as engine:
        assert by_vector(engine) == wanted[1]
        engine.recall("message 4090", limit=50)  # reads them
        wait_for(lambda: engine.stats().restoring > 0)
        wait_for(lambda: not engine.stats().restoring)
        assert engine.recall("message 4090", explain=True).hits[0].scores is not None


def test_a_restored_store_goes_on_after_a_crash(
    path: Path, filled: Path, model: Model, wanted: tuple[Answers, Answers], run_python: Run
) -> None:
    """Killed while lost codes are made again: the rest is made by the next process."""
    codes_of(path).unlink()
    run_python(
        """
import os, signal, sys, time, cortext
engine = cortext.open(sys.argv[1])
while not 0 < engine.stats().restoring < 3500:
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
""",
        path,
        status=-9,
    )
    with cortext.open(path, model=model) as engine:
        assert 0 < engine.stats().restoring < 3600
        wait_for(lambda: not engine.stats().restoring)
        wait_until_whole(engine, path, filled)
        assert answers(engine) == wanted[0]


@pytest.mark.parametrize("way", ["link", "folder"])
def test_what_is_no_plain_file_is_left_alone(
    path: Path, model: Model, wanted: tuple[Answers, Answers], way: str
) -> None:
    """It may come back: nothing is made again, and nothing is written."""
    kept = codes_of(path).rename(path.with_name("elsewhere"))
    if way == "link":
        codes_of(path).symlink_to(kept)
    else:
        codes_of(path).mkdir()
    with cortext.open(path, model=model) as engine:
        assert by_vector(engine) == wanted[1]
        assert len(engine.recall("message 17").hits) > 0
        engine.ingest("one more", session="late")
        assert engine.flush()
        assert not engine.stats().restoring
    assert codes_of(path).is_symlink() == (way == "link")
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM block").fetchone() == (1,)
    db.close()


def test_another_stores_file_is_not_believed(
    path: Path, tmp_path: Path, model: Model, wanted: tuple[Answers, Answers]
) -> None:
    """The same number of chunks, the same model, other messages."""
    other = tmp_path / "other.db"
    with cortext.open(other, model=model, durability="normal") as engine:
        engine.ingest_many([{"text": f"text {n}"} for n in range(BLOCK)])
        assert engine.flush()
    shutil.copy(codes_of(other), codes_of(path))
    with cortext.open(path, model=model) as engine:
        assert by_vector(engine) == wanted[1]


def test_an_older_copy_of_the_store_with_a_newer_file(
    path: Path, tmp_path: Path, model: Model, filled: Path
) -> None:
    """As after a restore: what the file knows and the store does not is not there."""
    older = tmp_path / "older.db"
    shutil.copy(filled, older)
    with sqlite3.connect(older) as db:
        db.execute("DELETE FROM block")
        db.execute("DELETE FROM chunk WHERE id > 100")
        db.execute("DELETE FROM message WHERE id <> (SELECT message_id FROM chunk WHERE id = 1)")
    db.close()
    shutil.copy(codes_of(path), codes_of(older))
    with cortext.open(older, model=model) as engine:
        assert len(engine.recall("message", stages=("dense",), limit=200)) == 1


def test_through_a_link_it_stands_beside_the_store(
    path: Path, tmp_path: Path, model: Model, wanted: tuple[Answers, Answers]
) -> None:
    (tmp_path / "links").mkdir()
    other = tmp_path / "links" / "name.db"
    other.symlink_to(path)
    with cortext.open(other, model=model) as engine:
        assert answers(engine) == wanted[0]
    assert not codes_of(other).exists()


def test_when_it_cannot_be_written_codes_stay_in_the_store(path: Path, model: Model) -> None:
    """A folder in its place stands for all that can go wrong."""
    path.unlink()
    codes_of(path).unlink()
    codes_of(path).mkdir()
    with cortext.open(path, model=model, durability="normal") as engine:
        engine.ingest_many([{"text": f"message {n}"} for n in range(COUNT)])
        assert engine.flush()
        before = answers(engine)
        wait_for(lambda: "directory" in (engine.stats().last_error or ""))
    codes_of(path).rmdir()
    with cortext.open(path, model=model) as engine:
        wait_for(lambda: engine.stats().codes_bytes > BLOCK * model.dimension)
        assert answers(engine) == before
        assert not engine.stats().restoring


def test_what_was_removed_while_open_is_not_written_to(path: Path, model: Model) -> None:
    """Codes of what comes then stay in the store, so that they are not lost with the file."""
    with cortext.open(path, model=model, durability="normal") as engine:
        assert engine.recall("message 4090").hits
        codes_of(path).unlink()
        engine.ingest_many([{"text": f"later {n}"} for n in range(BLOCK)])
        assert engine.flush()
        engine.ingest("one more")
        assert engine.flush()
    with sqlite3.connect(path) as db:
        (rows,) = db.execute("SELECT count(*) FROM token WHERE chunk_id > ?", [BLOCK]).fetchone()
    db.close()
    assert rows == COUNT + 1
    assert not codes_of(path).exists()


def test_what_another_engine_has_mended_stays(path: Path, model: Model) -> None:
    """Of two engines that have a damaged block the second finds the mended one elsewhere."""
    size = codes_of(path).stat().st_size

    def row() -> tuple[int, int]:
        with sqlite3.connect(path) as db:
            found = db.execute(
                "SELECT start, (SELECT count(*) FROM again) FROM block WHERE place = 0"
            ).fetchone()
        db.close()
        return found or (0, BLOCK)  # being made again

    with (
        cortext.open(path, model=model, durability="normal") as first,
        cortext.open(path, model=model, durability="normal") as second,
    ):
        first.ingest_many([{"text": f"later {n}"} for n in range(BLOCK)])
        assert first.flush()
        wait_for(lambda: first.stats().codes_bytes > 1.9 * size)
        assert second.recall("later 17").hits
        with codes_of(path).open("r+b") as file:  # where the first block's codes of tokens are
            file.seek(size - 100_000)
            file.write(os.urandom(100_000))
        first.recall("message 4090", limit=50)
        wait_for(lambda: row()[0] >= size)
        wait_for(lambda: row() == (row()[0], 0))
        mended = row()
        second.recall("message 4090", limit=50)
        second.ingest("and goes on")
        assert second.flush()
        assert row() == mended
        (hit, *_) = second.recall("message 4090", explain=True).hits
        assert hit.text == "message 4090"
        assert hit.scores is not None
        assert hit.scores.late is not None


def test_two_processes(path: Path, filled: Path, model: Model, run_python: Run) -> None:
    """What one has moved into the file the other finds there."""
    with cortext.open(path, model=model, durability="normal") as engine:
        run_python(
            """
import sys, time, cortext
with cortext.open(sys.argv[1], durability="normal") as engine:
    engine.ingest_many([{"text": f"theirs {n}"} for n in range(4096)])
    engine.flush()
    while engine.stats().codes_bytes < int(sys.argv[2]) * 1.5:
        time.sleep(0.02)
""",
            path,
            codes_of(filled).stat().st_size,
        )
        found = engine.recall("theirs 4011", explain=True)
        assert found.hits[0].text == "theirs 4011"
        mine = answers(engine)
    with cortext.open(path, model=model) as engine:
        assert answers(engine) == mine
