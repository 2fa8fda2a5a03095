"""hnswlib as an index of chunks, for very large stores: optional, and derived.

A graph of the vectors that the store's codes stand for is built by a thread of its own, kept in
memory and in a file beside the store (`<store>-hnsw`, and `<store>-hnsw.json` that says what it
is).  It only proposes chunks: the engine scores them by their codes, looks at all that is newer
than the graph by itself, and searches by itself whenever there is no answer from here, for
whatever reason.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import json
import os
import platform
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from cortext._native import Asked, EngineHandle
from cortext.errors import ClosedError, ForkedError, InputError

__all__ = ["Index", "Neighbours", "is_wanted"]

Index = Literal["exact", "hnsw", "auto"]

# Chunks from which on it is built.  Below, the engine scores most of a store by its codes anyway.
_LEAST = 1000

M = 16
EF_CONSTRUCTION = 200
# A recall of up to 37 hits asks for 225 chunks at first; hnswlib takes what is asked for where that
# is more.
EF = 300

_FORMAT = 1
_BATCH = 32  # chunks between two looks whether to stop; some 50 ms
_HASHED = 1 << 20  # bytes between two such looks
_BEHIND = 1000  # chunks that are not in it yet before it is extended, and at least one in
_BEHIND_PART = 100  # of those that are
_SERVED_PART = 4  # with more than one in so many missing it is not asked
_SAVED = 20_000  # new chunks before it is written while it grows, and at least one in _SERVED_PART
_SAVED_PART = 50  # at the end, and one in so many
_POLL = 0.05


class _StoppedError(Exception):
    pass


def is_wanted(index: str) -> bool:
    """Whether a store is opened with a graph.

    "auto" is the scan, for a store of any size that was measured.  At a million chunks it takes
    2.5 ms; to save half of that the graph takes 2 GB of memory and ten minutes of a core, and it
    loses a third of the best where every message has a hundred near copies (bench/README.md).

    Raises: InputError for an unknown name, and for "hnsw" without hnswlib.
    """
    if index not in get_args(Index):
        raise InputError(f'index is {index!r}; it must be "exact", "hnsw" or "auto"')
    if index != "hnsw":
        return False
    try:
        importlib.import_module("hnswlib")
    except ImportError as error:
        raise InputError(
            f'index="hnsw" needs hnswlib, which cannot be imported ({error}): pip install hnswlib'
        ) from None
    return True


class Neighbours:
    """The graph of one open store, and the thread that builds it.

    Queries and additions exclude each other in hnswlib: while the thread adds, `find` has no answer
    rather than wait.
    """

    def __init__(self, handle: EngineHandle, store: str, dimension: int) -> None:
        self._handle = handle
        self._dimension = dimension
        path = os.path.realpath(store)
        self._file, self._record_file = Path(path + "-hnsw"), Path(path + "-hnsw.json")
        self._owner = os.getpid()
        # An RLock inside: a signal handler may recall while this thread holds it.
        self._changed = threading.Condition()
        self._readers: set[object] = set()
        self._writing = False
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._graph: Any = None
        self._known = 0  # every chunk up to this id is in it
        self._count = 0
        self._room = 0
        self._saved = 0
        self._retry = 0  # chunks from which on what failed is tried again
        self.error: str | None = None

    def start(self) -> None:
        """Answer the engine from now on; load or build if the store is large enough."""
        self._handle.set_nearby(self.find, self.failed)
        self._consider(self._handle.count())

    def stop(self) -> None:
        """End the thread: at once, but for a file that is being written or loaded."""
        if os.getpid() != self._owner:
            return
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    @property
    def built(self) -> int:
        """How many chunks are in it."""
        return self._count

    @property
    def bytes(self) -> int:
        """What it takes of memory, about."""
        links = 4 * (2 * M + 1) + 8
        return self._room * (4 * self._dimension + links + 52) + 70 * self._count

    def serves(self, chunks: int) -> bool:
        """Whether it has most of so many chunks."""
        return self._count > 0 and chunks - self._count <= self._count // _SERVED_PART

    def failed(self, error: Exception) -> None:
        """Keep why there was no answer; the engine has searched by itself."""
        self.error = f"{type(error).__name__}: {error}"

    # ---- asking ----------------------------------------------------------------------------

    def find(self, asked: Asked) -> tuple[npt.NDArray[np.int64], int] | None:
        """What is near, and the chunk up to which it was looked for."""
        self._consider(asked.chunks)
        reader = object()
        try:
            with self._changed:
                graph, known = self._graph, self._known
                if (
                    graph is None
                    or self._writing
                    or self._stopping
                    or asked.wanted > self._count
                    or not self.serves(asked.chunks)
                ):
                    return None
                self._readers.add(reader)
            ids, _ = graph.knn_query(asked.vector, k=asked.wanted, num_threads=1)
            return ids[0].astype(np.int64), known
        finally:
            with self._changed:
                self._readers.discard(reader)
                self._changed.notify_all()

    def _consider(self, chunks: int) -> None:
        """Start the thread when there is enough to do."""
        behind = chunks - self._count
        if chunks < max(_LEAST, self._retry) or behind < max(
            1 if self._graph is None else _BEHIND, self._count // _BEHIND_PART
        ):
            return
        with self._changed:
            if self._stopping or (self._thread is not None and self._thread.is_alive()):
                return
            thread = threading.Thread(target=self._work, args=(chunks,), name="cortext-hnsw")
            try:
                thread.start()
            except RuntimeError as error:  # no more threads, or the interpreter is ending
                self.failed(error)
            else:
                self._thread = thread

    # ---- the thread ------------------------------------------------------------------------

    def _work(self, chunks: int) -> None:
        try:
            if self._graph is None:
                self._load()
            self._extend()
            self._retry = 0
        except (_StoppedError, ClosedError, ForkedError):
            return
        except Exception as error:  # noqa: BLE001  (whatever it is, the engine does without)
            self.failed(error)
            self._retry = chunks + max(_BEHIND, chunks // 10)

    def _check(self) -> None:
        # The interpreter waits for this thread when the main one has ended, before stop is called.
        if self._stopping or not threading.main_thread().is_alive():
            raise _StoppedError

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._changed:
            self._writing = True
            while self._readers:
                self._changed.wait(_POLL)
                if self._stopping:
                    break
            stopped = bool(self._readers)
        try:
            if stopped:
                raise _StoppedError
            yield
        finally:
            self._writing = False

    def _new_graph(self) -> Any:
        hnswlib = importlib.import_module("hnswlib")
        return hnswlib.Index(space="ip", dim=self._dimension)

    def _extend(self) -> None:
        """Add what is not in it yet, in small parts."""
        while True:
            self._check()
            ids, vectors = self._handle.vectors(self._known, _BATCH, self._dimension)
            if not len(ids):
                break
            with self._alone():
                try:
                    self._add(ids, vectors)
                except BaseException:  # it may be half done
                    self._graph, self._known, self._count, self._room, self._saved = (
                        None,
                        0,
                        0,
                        0,
                        0,
                    )
                    raise
            if self._count - self._saved >= max(_SAVED, self._count // _SERVED_PART):
                self._save()
        if self._count - self._saved > self._saved // _SAVED_PART:
            self._save()

    def _add(self, ids: npt.NDArray[np.int64], vectors: npt.NDArray[np.float32]) -> None:
        wanted = self._count + len(ids)
        if wanted > self._room:
            ahead = max(wanted, self._handle.count())
            room = ahead + ahead // 8 + 1024
            if self._graph is None:
                graph = self._new_graph()
                graph.init_index(
                    max_elements=room, M=M, ef_construction=EF_CONSTRUCTION, random_seed=1
                )
                graph.set_ef(EF)
                self._graph = graph
            else:
                self._graph.resize_index(room)
            self._room = room
        self._graph.add_items(vectors, ids, num_threads=1)
        self._known, self._count = int(ids[-1]), wanted

    # ---- the file --------------------------------------------------------------------------

    def _record(self, count: int, hashed: int, known: int, payload: str) -> dict[str, Any]:
        """What must be true of a file that is loaded."""
        return {
            "format": _FORMAT,
            "hnswlib": metadata.version("hnswlib"),
            "machine": platform.machine(),
            "dimension": self._dimension,
            "m": M,
            "ef_construction": EF_CONSTRUCTION,
            "last_chunk": known,
            "count": count,
            "chunks": f"{hashed:016x}",  # of the store's own, so that no other store's is taken
            "blake2b": payload,
        }

    def _load(self) -> None:
        """Take the file if it is whole, of this store and not ahead of it; else there is none."""
        try:
            record = json.loads(self._record_file.read_bytes())
            known = record["last_chunk"]
            if not isinstance(known, int) or not 0 < known < 2**63:
                return
            count, hashed = self._handle.mark(known)
            # hnswlib believes what it reads: not a byte of it before the hash is right.
            before, payload = self._hash(self._file)
            if count == 0 or record != self._record(count, hashed, known, payload):
                return
        except (OSError, ValueError, KeyError, TypeError):
            return
        self._check()
        room = count + count // 8 + 1024
        graph = self._new_graph()
        try:
            graph.load_index(str(self._file), max_elements=room)
        except RuntimeError as error:
            self.failed(error)
            return
        after = self._file.lstat()
        if _identity(before) != _identity(after) or graph.get_current_count() != count:
            return  # another process wrote its own in between
        graph.set_ef(EF)
        with self._changed:
            self._graph, self._known, self._count = graph, known, count
            self._room, self._saved = room, count

    def _hash(self, path: Path) -> tuple[os.stat_result, str]:
        digest = hashlib.blake2b(digest_size=16)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise OSError(f"{path} is not a regular file")
            while part := file.read(_HASHED):
                self._check()
                digest.update(part)
        return info, digest.hexdigest()

    def _save(self) -> None:
        """Write it, unless another process is at it.  Everything works without the file."""
        self._saved = self._count  # what fails is tried again when it has grown
        try:
            with _locked(self._file.with_name(self._file.name + "-new")) as temporary:
                if temporary is None:
                    return
                self._graph.save_index(str(temporary))
                size = self._graph.index_file_size()
                if temporary.stat().st_size != size:  # hnswlib does not look
                    raise OSError(f"cannot write {size:,} bytes to {temporary}")
                _, payload = self._hash(temporary)
                count, hashed = self._handle.mark(self._known)
                if count != self._count:
                    raise RuntimeError(f"the graph has {self._count} chunks, the store {count}")
                record = self._record(count, hashed, self._known, payload)
                temporary.replace(self._file)
                _write_private(self._record_file, json.dumps(record, indent=1).encode())
        except OSError as error:
            self.failed(error)


def _identity(info: os.stat_result) -> tuple[int, ...]:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns


@contextmanager
def _locked(path: Path) -> Iterator[Path | None]:
    """A private file of this process to write, or None when another process has it.

    It is taken away at the end, unless it was given another name.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        os.fchmod(descriptor, 0o600)
        own = os.fstat(descriptor)
        try:
            current = path.lstat().st_ino == own.st_ino
        except FileNotFoundError:
            current = False
        if not current or not stat.S_ISREG(own.st_mode):  # it has got its name already
            yield None
            return
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _write_private(path: Path, data: bytes) -> None:
    """Replace a small file as a whole."""
    temporary = path.with_name(path.name + "-new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
        file.write(data)
    temporary.replace(path)
