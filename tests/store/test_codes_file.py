"""The file of codes beside a store: derived, and as good as absent when anything is wrong."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import cortext
from cortext.models import Model

BLOCK = 4096
COUNT = BLOCK + 40
QUESTIONS = ("number 17", "four thousand", "message 4100", "nothing like it")


def codes_of(path: Path) -> Path:
    return path.with_name(path.name + "-codes")


def answers(engine: cortext.Engine) -> list[list[tuple[int, float]]]:
    results = [engine.recall(text, stages=("dense",), limit=20) for text in QUESTIONS]
    return [[(hit.id, hit.score) for hit in result] for result in results]


def open_and_wait(path: Path, model: Model, filled: Path) -> list[list[tuple[int, float]]]:
    """Answers right after opening; closed once the file is what it should be."""
    with cortext.open(path, model=model) as engine:
        found = answers(engine)
        whole, deadline = codes_of(filled).read_bytes(), time.monotonic() + 60
        while not codes_of(path).exists() or codes_of(path).read_bytes() != whole:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Path:
    """A closed store with one full block of codes and some more."""
    path = tmp_path_factory.mktemp("codes") / "memory.db"
    with cortext.open(path, model=model, durability="normal") as engine:
        engine.ingest_many([{"text": f"message {n}"} for n in range(COUNT)])
        assert engine.flush()
        assert engine.stats().codes_bytes == codes_of(path).stat().st_size > BLOCK * model.dimension
    return path


@pytest.fixture
def path(tmp_path: Path, filled: Path) -> Path:
    copy = tmp_path / "memory.db"
    shutil.copy(filled, copy)
    shutil.copy(codes_of(filled), codes_of(copy))
    return copy


@pytest.fixture(scope="module")
def wanted(filled: Path, model: Model) -> list[list[tuple[int, float]]]:
    with cortext.open(filled, model=model) as engine:
        return answers(engine)


def test_it_is_private(filled: Path) -> None:
    assert stat.S_IMODE(codes_of(filled).stat().st_mode) == 0o600


def test_it_is_what_opening_reads(path: Path, model: Model, wanted: object) -> None:
    """The store's own codes of the full block are gone, and nobody notices."""
    with sqlite3.connect(path) as db:
        db.execute("UPDATE chunk SET code = zeroblob(length(code)) WHERE id <= ?", [BLOCK])
    db.close()
    with cortext.open(path, model=model) as engine:
        assert answers(engine) == wanted
        engine.stats()  # validates the index


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)


def link(path: Path) -> None:
    kept = path.rename(path.with_name("elsewhere"))
    path.symlink_to(kept)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: list[Callable[[Path], object]] = [
    Path.unlink,
    flip,
    cut,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(os.urandom(path.stat().st_size)),
]


@pytest.mark.parametrize("damage", DAMAGE, ids=["gone", "flipped", "cut", "empty", "noise"])
def test_damage_is_noticed_and_mended(
    path: Path, filled: Path, model: Model, wanted: object, damage: Callable[[Path], object]
) -> None:
    damage(codes_of(path))
    for _ in range(2):
        assert open_and_wait(path, model, filled) == wanted


@pytest.mark.parametrize("put", [link, folder])
def test_what_is_no_plain_file_is_left_alone(
    path: Path, model: Model, wanted: object, put: Callable[[Path], None]
) -> None:
    put(codes_of(path))
    before = codes_of(path).lstat()
    with cortext.open(path, model=model) as engine:
        assert answers(engine) == wanted
        engine.ingest("one more", session="late")
        assert engine.flush()
    assert codes_of(path).lstat().st_mode == before.st_mode


def test_another_stores_file_is_not_believed(
    path: Path, tmp_path: Path, model: Model, filled: Path, wanted: object
) -> None:
    """The same number of chunks, the same model, other messages."""
    other = tmp_path / "other.db"
    with cortext.open(other, model=model, durability="normal") as engine:
        engine.ingest_many([{"text": f"text {n}"} for n in range(BLOCK)])
        assert engine.flush()
    shutil.copy(codes_of(other), codes_of(path))
    assert open_and_wait(path, model, filled) == wanted


def test_an_older_copy_of_the_store_with_a_newer_file(
    path: Path, model: Model, tmp_path: Path, filled: Path
) -> None:
    """As after a restore: what the file knows and the store does not is not there."""
    older = tmp_path / "older.db"
    shutil.copy(filled, older)
    with sqlite3.connect(older) as db:
        db.execute("DELETE FROM block")
        db.execute("DELETE FROM chunk WHERE id > 100")
        db.execute("DELETE FROM token WHERE chunk_id > 100")
        db.execute("DELETE FROM message WHERE id <> (SELECT message_id FROM chunk WHERE id = 1)")
    db.close()
    shutil.copy(codes_of(path), codes_of(older))
    with cortext.open(older, model=model) as engine:
        assert len(engine.recall("message", stages=("dense",), limit=200)) == 1


def test_through_a_link_it_stands_beside_the_store(
    path: Path, tmp_path: Path, model: Model, wanted: object
) -> None:
    (tmp_path / "links").mkdir()
    other = tmp_path / "links" / "name.db"
    other.symlink_to(path)
    codes_of(path).unlink()
    with cortext.open(other, model=model) as engine:
        assert answers(engine) == wanted
        while not codes_of(path).exists():
            time.sleep(0.01)
    assert not codes_of(other).exists()


def test_no_room_for_it(
    path: Path, model: Model, filled: Path, wanted: object, run_python: Callable[..., object]
) -> None:
    """A limit on file size stands for a full disk: all but the file works."""
    codes_of(path).unlink()
    run_python(
        """
import resource, signal, sys, cortext
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with cortext.open(sys.argv[1]) as engine:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    assert len(engine.recall("message 17", stages=("dense",)).hits) > 0
    engine.flush()
""",
        path,
    )
    assert open_and_wait(path, model, filled) == wanted
