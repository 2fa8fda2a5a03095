"""hnswlib as the index of chunks: what it finds, and that nothing depends on it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import hnswlib  # not to be had: the tests fail, and are not skipped
import numpy as np
import pytest

import cortext
from cortext import InputError
from cortext._native import Asked
from cortext.engine import neighbours
from cortext.models import Model

COUNT = 1400
PEOPLE = (
    *("Ana", "Bo", "Cy", "Dov", "Eli", "Fay", "Gus", "Hal", "Ivy", "Jon"),
    *("Kim", "Lou", "Max", "Ned", "Oda", "Pia", "Rex", "Sue", "Tom", "Uma"),
)
PLACES = ["barn", "cellar", "garden", "office", "kitchen", "harbour", "station", "library"]
THINGS = ["lamp", "ladder", "kettle", "drill", "bicycle", "invoice", "window", "radio", "boiler"]
QUESTIONS = [
    f"where did {who} put the {what}?" for who, what in zip(PEOPLE, THINGS * 3, strict=False)
]


def messages() -> Iterator[dict[str, str]]:
    for number in range(10**6):
        who, place = PEOPLE[number % 20], PLACES[number // 20 % 8]
        text = f"{who} put the {THINGS[number // 160 % 9]} in the {place}, shelf {number}"
        yield {"text": text, "session": f"s{number % 7}", "role": "user"}


def file_of(path: Path) -> Path:
    return path.with_name(path.name + "-hnsw")


def record_of(path: Path) -> Path:
    return path.with_name(path.name + "-hnsw.json")


def wait(done: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "cortext-hnsw"]


def wait_for(engine: cortext.Engine) -> cortext.Stats:
    """Until it has everything and its thread has ended."""
    wait(lambda: engine.stats().index_built == engine.stats().chunks and not threads())
    return engine.stats()


def answer(engine: cortext.Engine, text: str, **options: Any) -> list[tuple[int, float]]:
    found = engine.recall(text, stages=("dense",), limit=20, **options)
    return [(hit.id, hit.score) for hit in found]


def answers(engine: cortext.Engine) -> list[list[tuple[int, float]]]:
    return [answer(engine, text) for text in QUESTIONS]


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    assert hnswlib.Index
    yield
    assert threads() == []


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Path:
    """A closed store with its graph in a file."""
    path = tmp_path_factory.mktemp("hnsw") / "memory.db"
    with cortext.open(path, model=model, durability="normal", index="hnsw") as engine:
        engine.ingest_many(islice(messages(), COUNT))
        assert engine.flush()
        answer(engine, "any")  # it is asked for, so it is built
        wait_for(engine)
    return path


@pytest.fixture
def path(tmp_path: Path, filled: Path) -> Path:
    copy = tmp_path / "memory.db"
    for of in (lambda path: path, file_of, record_of):
        shutil.copy(of(filled), of(copy))
    return copy


@pytest.fixture
def bare(path: Path) -> Path:
    """The same store without the file."""
    file_of(path).unlink()
    return path


@pytest.fixture(scope="module")
def wanted(filled: Path, model: Model) -> list[list[tuple[int, float]]]:
    with cortext.open(filled, model=model, index="exact") as engine:
        assert engine.stats().index == "exact"
        return answers(engine)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each time that the graph was asked, whether it answered."""
    seen: list[bool] = []
    find = neighbours.Neighbours.find

    def spy(self: neighbours.Neighbours, asked: Asked) -> Any:
        found = find(self, asked)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(neighbours.Neighbours, "find", spy)
    return seen


def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of each graph, how many chunks it was loaded with."""
    seen: list[int] = []
    load = neighbours.Neighbours._load

    def spy(self: neighbours.Neighbours) -> None:
        load(self)
        seen.append(self.built)

    monkeypatch.setattr(neighbours.Neighbours, "_load", spy)
    return seen


# ---- what it finds -----------------------------------------------------------------------------


def assert_near(
    found: list[list[tuple[int, float]]], wanted: list[list[tuple[int, float]]]
) -> None:
    """Nearly the same messages, and exactly the same scores."""
    same = total = 0
    for ours, theirs in zip(found, wanted, strict=True):
        assert len(ours) == len(theirs)
        exact = dict(theirs)
        assert all(exact.get(id, score) == score for id, score in ours)
        same += sum(id in exact for id, _ in ours)
        total += len(theirs)
    assert same >= 0.99 * total


def test_it_finds_what_the_scan_finds(
    filled: Path, model: Model, wanted: list[list[tuple[int, float]]], asked: list[bool]
) -> None:
    with cortext.open(filled, model=model, index="hnsw") as engine:
        stats = wait_for(engine)
        assert (stats.index, stats.index_built, stats.index_error) == ("hnsw", COUNT, None)
        assert_near(answers(engine), wanted)
        assert asked == [True] * len(QUESTIONS)
        all_stages = [hit.id for hit in engine.recall(QUESTIONS[0])]
        assert stats.index_bytes > COUNT * (model.dimension * 5)
    with cortext.open(filled, model=model, index="exact") as engine:
        assert [hit.id for hit in engine.recall(QUESTIONS[0])] == all_stages


def test_filters_are_the_scans(filled: Path, model: Model, asked: list[bool]) -> None:
    filters: list[dict[str, Any]] = [
        {"session": "s3"},
        {"roles": "user"},
        {"until": 2**42},
        {"as_of": 2**42},
    ]
    with cortext.open(filled, model=model, index="exact") as engine:
        wanted = [answer(engine, QUESTIONS[1], **kept) for kept in filters]
    with cortext.open(filled, model=model, index="hnsw") as engine:
        wait_for(engine)
        assert [answer(engine, QUESTIONS[1], **kept) for kept in filters] == wanted
    assert asked == []


def test_new_messages_are_found_at_once(path: Path, model: Model, asked: list[bool]) -> None:
    with cortext.open(path, model=model, index="hnsw") as engine:
        wait_for(engine)
        id = engine.ingest("The submarine sails to Murmansk at dawn.")
        assert engine.flush()
        assert answer(engine, "when does the submarine sail to Murmansk?")[0][0] == id
        assert engine.stats().index_built == COUNT
    assert asked == [True]


def test_many_new_messages_are_added(
    path: Path, model: Model, monkeypatch: pytest.MonkeyPatch, asked: list[bool]
) -> None:
    monkeypatch.setattr(neighbours, "_BEHIND", 50)
    with cortext.open(path, model=model, index="hnsw") as engine:
        wait_for(engine)
        ids = engine.ingest_many({"text": f"ship {n} sails to Murmansk"} for n in range(60))
        assert engine.flush()
        assert {id for id, _ in answer(engine, "which ships sail to Murmansk?")} <= set(ids)
        assert wait_for(engine).index_built == COUNT + 60
        assert {id for id, _ in answer(engine, "which ships sail to Murmansk?")} <= set(ids)
    assert asked[-1]
    assert json.loads(record_of(path).read_bytes())["count"] == COUNT + 60


def test_a_long_message_takes_one_place(path: Path, model: Model) -> None:
    """Its chunks crowd the nearest: there are as many hits all the same."""
    with cortext.open(path, model=model, index="hnsw") as engine:
        wait_for(engine)
        long = engine.ingest("The submarine sails to Murmansk at dawn. " * 3000)
        assert engine.flush(300)
        found = answer(engine, "when does the submarine sail to Murmansk?")
        assert found[0][0] == long
        assert len({id for id, _ in found}) == 20
        wanted = found
    with cortext.open(path, model=model, index="exact") as engine:
        assert answer(engine, "when does the submarine sail to Murmansk?") == wanted


# ---- the file ----------------------------------------------------------------------------------


def test_it_is_private(filled: Path) -> None:
    for file in (file_of(filled), record_of(filled)):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not list(filled.parent.glob("*-new"))


def test_it_is_what_opening_reads(
    path: Path, model: Model, monkeypatch: pytest.MonkeyPatch, wanted: Any
) -> None:
    seen = loads(monkeypatch)
    monkeypatch.setattr(neighbours.Neighbours, "_add", None)  # nothing needs to be added
    with cortext.open(path, model=model, index="hnsw") as engine:
        assert wait_for(engine).index_error is None
        assert_near(answers(engine), wanted)
    assert seen == [COUNT]


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


def noise(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


def empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE: list[Callable[[Path], object]] = [Path.unlink, flip, cut, link, noise, empty]


@pytest.mark.parametrize("of", [file_of, record_of])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_noticed_and_mended(
    path: Path,
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
    wanted: Any,
    damage: Callable[[Path], object],
    of: Callable[[Path], Path],
) -> None:
    seen = loads(monkeypatch)
    damage(of(path))
    linked_record = damage is link and of is record_of  # as good as the record itself
    for _ in range(2):
        with cortext.open(path, model=model, index="hnsw") as engine:
            assert wait_for(engine).index_built == COUNT
            assert_near(answers(engine), wanted)
    assert seen == [COUNT if linked_record else 0, COUNT]


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0},
        {"hnswlib": "0.1"},
        {"dimension": 100},
        {"count": 7},
        {"chunks": "0" * 16},
        {"last_chunk": 5},
        {"last_chunk": -1},
        {"last_chunk": 10**30},
        {"last_chunk": "x"},
    ],
)
def test_a_record_that_does_not_fit_is_not_believed(
    path: Path, model: Model, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    seen = loads(monkeypatch)
    record = json.loads(record_of(path).read_bytes())
    record_of(path).write_text(json.dumps({**record, **change}))
    with cortext.open(path, model=model, index="hnsw") as engine:
        wait_for(engine)
    assert seen == [0]


def test_another_stores_file_is_not_believed(
    path: Path, tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that went its own way: all but the last chunks are the same."""
    other = tmp_path / "other.db"
    shutil.copy(path, other)
    shutil.copy(file_of(path), file_of(other))
    shutil.copy(record_of(path), record_of(other))
    monkeypatch.setattr(neighbours, "_BEHIND", 1)
    monkeypatch.setattr(neighbours, "_BEHIND_PART", 10**9)
    monkeypatch.setattr(neighbours, "_SAVED_PART", 10**9)
    for store, what in ((path, "ours"), (other, "theirs")):
        with cortext.open(store, model=model, index="hnsw") as engine:
            engine.ingest_many({"text": f"{what} is number {n}"} for n in range(40))
            assert engine.flush()
            answer(engine, "number")
            wait_for(engine)
    seen = loads(monkeypatch)
    shutil.copy(file_of(other), file_of(path))
    shutil.copy(record_of(other), record_of(path))
    with cortext.open(path, model=model, index="hnsw") as engine:
        wait_for(engine)
    assert seen == [0]


def test_what_is_behind_is_extended_and_what_is_ahead_is_not_believed(
    path: Path, tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "older.db"
    shutil.copy(path, older)
    with cortext.open(path, model=model, index="exact") as engine:
        engine.ingest_many({"text": f"number {n} came later"} for n in range(60))
        assert engine.flush()
    monkeypatch.setattr(neighbours, "_BEHIND", 1)
    seen = loads(monkeypatch)
    with cortext.open(path, model=model, index="hnsw") as engine:
        assert wait_for(engine).index_built == COUNT + 60
    assert seen == [COUNT]
    shutil.copy(file_of(path), file_of(older))
    shutil.copy(record_of(path), record_of(older))
    with cortext.open(older, model=model, index="hnsw") as engine:
        assert wait_for(engine).index_built == COUNT
    assert seen == [COUNT, 0]


def test_through_a_link_it_stands_beside_the_store(
    bare: Path, tmp_path: Path, model: Model
) -> None:
    (tmp_path / "links").mkdir()
    other = tmp_path / "links" / "name.db"
    other.symlink_to(bare)
    with cortext.open(other, model=model, index="hnsw") as engine:
        wait_for(engine)
    assert file_of(bare).exists()
    assert not file_of(other).exists()


def test_no_room_for_it(bare: Path, model: Model, wanted: Any, run_python: Any) -> None:
    """A limit on file size stands for a full disk: hnswlib does not say that it could not write."""
    run_python(
        """
import resource, signal, sys, time, cortext
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with cortext.open(sys.argv[1], index="exact") as engine:
    engine.recall("any")
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
with cortext.open(sys.argv[1], index="hnsw") as engine:
    while not engine.stats().index_error:
        time.sleep(0.01)
    assert "cannot write" in engine.stats().index_error, engine.stats()
    assert engine.stats().index == "hnsw"
    assert engine.recall("lamp", stages=("dense",)).hits
""",
        bare,
    )
    assert not file_of(bare).exists()
    assert not list(bare.parent.glob("*-new"))


def test_two_processes_write_it(bare: Path, model: Model, wanted: Any, run_python: Any) -> None:
    script = """
import sys, time, cortext
with cortext.open(sys.argv[1], index="hnsw") as engine:
    while engine.stats().index_built < engine.stats().chunks:
        time.sleep(0.01)
"""
    workers = [threading.Thread(target=run_python, args=(script, bare)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with cortext.open(bare, model=model, index="hnsw") as engine:
        wait_for(engine)
        assert_near(answers(engine), wanted)


# ---- the thread --------------------------------------------------------------------------------


def slowly(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let the thread add a batch in half a second; set once it does."""
    begun = threading.Event()
    add = neighbours.Neighbours._add

    def slow(self: neighbours.Neighbours, *batch: Any) -> None:
        begun.set()
        time.sleep(0.5)
        add(self, *batch)

    monkeypatch.setattr(neighbours.Neighbours, "_add", slow)
    return begun


def test_close_ends_a_build_at_once(
    bare: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = slowly(monkeypatch)
    engine = cortext.open(bare, model=model, index="hnsw")
    assert begun.wait(60)
    assert answer(engine, QUESTIONS[0])
    started = time.monotonic()
    engine.close()
    assert time.monotonic() - started < 3  # all of it would take 20
    assert threads() == []
    assert not file_of(bare).exists()


EXIT = """
import sys, time, cortext
from cortext.engine import neighbours
add = neighbours.Neighbours._add
def slow(self, *batch):
    time.sleep(0.5)
    add(self, *batch)
neighbours.Neighbours._add = slow
engine = cortext.open(sys.argv[1], index="hnsw")
while not engine.stats().index_built:
    time.sleep(0.01)
if sys.argv[2] == "daemon":
    import threading
    def work():
        while True:
            engine.recall("lamp")
    threading.Thread(target=work, daemon=True).start()
"""


@pytest.mark.parametrize("kind", ["plain", "daemon"])
def test_interpreter_exit_ends_a_build(bare: Path, run_python: Any, kind: str) -> None:
    started = time.monotonic()
    run_python(EXIT, bare, kind)
    assert time.monotonic() - started < 15  # all of it would take 20 after a start of some seconds


def test_recalls_while_it_is_built(
    bare: Path, model: Model, wanted: list[list[tuple[int, float]]], monkeypatch: Any, asked: Any
) -> None:
    """Some are answered by what is built of it, some by the scan."""
    monkeypatch.setattr(neighbours, "_BATCH", 3)
    monkeypatch.setattr(neighbours, "_BEHIND", 1)
    monkeypatch.setattr(neighbours, "_BEHIND_PART", 10**9)
    failures: list[BaseException] = []

    def work(engine: cortext.Engine) -> None:
        try:
            for _ in range(3):
                assert_near(answers(engine), wanted)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    with cortext.open(bare, model=model, index="hnsw") as engine:
        workers = [threading.Thread(target=work, args=(engine,)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert failures == []
        assert wait_for(engine).index_error is None
        assert answer(engine, QUESTIONS[0])
    assert asked[-1]


FORK = """
import os, sys, cortext
engine = cortext.open(sys.argv[1], index="hnsw")
child = os.fork()  # in the middle of a build
if child == 0:
    for call in (lambda: engine.recall("x"), engine.stats, lambda: cortext.open(sys.argv[1])):
        try:
            call()
        except cortext.ForkedError:
            continue
        os._exit(3)
    engine.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
while engine.stats().index_built < engine.stats().chunks:
    pass
assert engine.recall("lamp", stages=("dense",)).hits
engine.close()
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork(bare: Path, run_python: Any) -> None:
    run_python(FORK, bare)


# ---- when it fails -----------------------------------------------------------------------------


class Broken:
    """A graph whose every query ends in the same way."""

    def __init__(self, outcome: Callable[[int], Any]) -> None:
        self.outcome = outcome

    def knn_query(self, vector: Any, k: int, num_threads: int) -> Any:
        return self.outcome(k)


def raises(error: BaseException) -> Callable[[int], Any]:
    def outcome(k: int) -> Any:
        raise error

    return outcome


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (raises(RuntimeError("Probably ef or M is too small")), "too small"),
        (raises(MemoryError("no memory")), "MemoryError"),
        (raises(KeyError("x")), "KeyError"),
        (lambda k: (np.ones((1, k + 1), np.uint64), None), "ids"),
        (lambda k: (np.ones((1, k - 1), np.uint64), None), None),
        (lambda k: (np.full((1, k), 2**63 + 5, np.uint64), None), None),
        (lambda k: (np.full((1, k), 10**9, np.uint64), None), None),
        (lambda k: (np.ones((1, k), np.uint64), None), None),
        (lambda k: ("nonsense", None), "Error"),
    ],
)
def test_a_failure_falls_back_to_the_scan(
    path: Path,
    model: Model,
    wanted: Any,
    capfd: pytest.CaptureFixture[str],
    outcome: Callable[[int], Any],
    reason: str | None,
) -> None:
    with cortext.open(path, model=model, index="hnsw") as engine:
        wait_for(engine)
        assert engine._neighbours is not None
        engine._neighbours._graph = Broken(outcome)
        assert answers(engine) == wanted
        error = engine.stats().index_error
        assert error is None if reason is None else reason in (error or "")
    assert capfd.readouterr().err == ""


def test_a_build_that_fails_is_given_up(
    bare: Path, model: Model, wanted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("Not enough memory")

    monkeypatch.setattr(neighbours.Neighbours, "_add", fail)
    with cortext.open(bare, model=model, index="hnsw") as engine:
        wait(lambda: engine.stats().index_error)
        wait(lambda: not threads())
        assert answers(engine) == wanted
        assert threads() == []  # it is not tried again for every recall
        assert engine.stats().index == "exact"


class InterruptError(BaseException):
    pass


def test_what_a_signal_handler_raises_comes_out_of_the_recall(path: Path, model: Model) -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise InterruptError

    def outcome(k: int) -> Any:
        os.kill(os.getpid(), signal.SIGUSR1)
        return None

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with cortext.open(path, model=model, index="hnsw") as engine:
            wait_for(engine)
            assert engine._neighbours is not None
            engine._neighbours._graph = Broken(outcome)
            with pytest.raises(InterruptError):
                answer(engine, QUESTIONS[0])
            assert engine.stats().index_error is None
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_signal_handler_closes_the_engine_below_a_recall(path: Path, model: Model) -> None:
    """It cannot wait for the recall that it interrupts; that is answered all the same."""
    engine = cortext.open(path, model=model, index="hnsw")
    wait_for(engine)

    def outcome(k: int) -> Any:
        os.kill(os.getpid(), signal.SIGUSR1)
        raise RuntimeError

    before = signal.signal(signal.SIGUSR1, lambda *_: engine.close())
    try:
        assert engine._neighbours is not None
        engine._neighbours._graph = Broken(outcome)
        assert answer(engine, QUESTIONS[0])
    finally:
        signal.signal(signal.SIGUSR1, before)
    with pytest.raises(cortext.ClosedError):
        engine.stats()


# ---- choosing it -------------------------------------------------------------------------------


def test_small_stores_have_none(tmp_path: Path, model: Model) -> None:
    with cortext.open(tmp_path / "small.db", model=model, index="hnsw") as engine:
        engine.ingest("hello")
        assert engine.flush()
        assert answer(engine, "hello")
        assert engine.stats().index == "exact"
    assert [file.name for file in tmp_path.iterdir()] == ["small.db"]


def test_auto_is_the_scan(bare: Path, model: Model, asked: list[bool]) -> None:
    with cortext.open(bare, model=model) as engine:
        assert answer(engine, QUESTIONS[0])
        assert engine.stats().index == "exact"
    assert asked == []
    assert not file_of(bare).exists()


def test_unknown_names_are_refused(path: Path, model: Model) -> None:
    with pytest.raises(InputError, match="index is 'flat'"):
        cortext.open(path, model=model, index="flat")  # type: ignore[arg-type]


def test_without_hnswlib(bare: Path, run_python: Any) -> None:
    run_python(
        """
import sys
sys.modules["hnswlib"] = None
import cortext
for index in ("exact", "auto"):
    with cortext.open(sys.argv[1], index=index) as engine:
        assert engine.recall("lamp").hits and engine.stats().index == "exact"
try:
    cortext.open(sys.argv[2], index="hnsw")
except cortext.InputError as error:
    assert "pip install hnswlib" in str(error), error
else:
    raise SystemExit("no error")
""",
        bare,
        bare.with_name("other.db"),
    )
    assert not bare.with_name("other.db").exists()


def test_it_is_loaded_when_it_is_needed(bare: Path, run_python: Any) -> None:
    run_python(
        """
import sys, cortext
with cortext.open(sys.argv[1]) as engine:
    engine.recall("lamp")
    assert "hnswlib" not in sys.modules
""",
        bare,
    )
