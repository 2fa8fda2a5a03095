"""The engine: one store, open."""

from __future__ import annotations

import os
import threading
import time as clock
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cortext import _native
from cortext.engine import convert
from cortext.engine.consolidate import Consolidating
from cortext.engine.gate import Gating
from cortext.engine.knobs import Knobs
from cortext.engine.neighbours import Index, Neighbours, is_wanted
from cortext.engine.recall import Recalling
from cortext.engine.types import Message, NewMessage, Stats
from cortext.errors import ClosedError, InputError
from cortext.models import Encoder, Model, load

__all__ = ["Engine", "open_engine"]

_BUSY_MS = 10_000
_SLICE_MS = 100  # a flush comes back to Python this often, so that Ctrl-C works


def open_engine(
    path: str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | Model | None = None,
    durability: Literal["full", "normal"] = "full",
    encoder: Encoder = "auto",
    encoder_threads: int = 1,
    cache: str | os.PathLike[str] | None = None,
    index: Index = "auto",
    knobs: Knobs | None = None,
) -> Engine:
    """Open a store, creating it if there is none.

    path: the SQLite file; its folder must exist.  A new file is readable by its owner only.
    model: see `cortext.models.load`; a store keeps to the model it was created with.
    durability: "full" syncs to disk before ingest returns.  "normal" leaves syncing to the
        operating system: a crash of the process loses nothing, one of the machine may lose the
        last seconds, and never damages the store.
    encoder, encoder_threads: see `cortext.models.load`.
    cache: optional file of embeddings, shared by stores; off by default.
    index: how recalls find candidates by meaning.  "exact" looks at every chunk, a bit a dimension.
        "hnsw" asks a graph by hnswlib (`pip install hnswlib`) where it is built, which a
        thread does beside everything else from 1,000 chunks on; recalls with a filter, and what the
        graph does not have yet, are looked at as by "exact".  It takes some 2 KB of memory a chunk
        (384 dimensions) and nearly as much in `<path>-hnsw`, which may be deleted.  "auto" is
        "exact", which was found good enough for a million chunks: 4 ms, by the graph 1; and it does
        not depend on the data, as the graph does, which misses much among hundreds of near copies.
    knobs: how much recalls and gates bring up, and when; default: `Knobs()`.

    Raises: ModelError, ModelMismatchError, StoreError and its kinds, InputError.
    """
    if durability not in ("full", "normal"):
        raise InputError(f'durability is {durability!r}; it must be "full" or "normal"')
    if knobs is not None and not isinstance(knobs, Knobs):
        raise InputError(f"knobs must be a Knobs, not {type(knobs).__name__}")
    wanted = is_wanted(index)
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    if not isinstance(name, str) or not name or name == ":memory:":
        raise InputError("path must name a file")
    loaded = load(model, threads=encoder_threads, encoder=encoder, cache=cache)
    handle = _native.EngineHandle(
        os.path.abspath(name),  # noqa: PTH100  (no symlink may be resolved, unlike Path.resolve)
        loaded.handle,
        durability=durability,
        busy_ms=_BUSY_MS,
    )
    neighbours = Neighbours(handle, name, loaded.dimension) if wanted else None
    return Engine(
        handle,
        loaded,
        path=name,
        durability=durability,
        neighbours=neighbours,
        knobs=knobs or Knobs(),
    )


class Engine(Recalling, Gating, Consolidating):
    """An open store.  Made by `cortext.open`; a context manager that closes itself.

    Every method may be called from any thread.  After `close` each raises ClosedError; in a forked
    child each raises ForkedError.
    """

    def __init__(
        self,
        handle: _native.EngineHandle,
        model: Model,
        *,
        path: str,
        durability: str,
        neighbours: Neighbours | None = None,
        knobs: Knobs,
    ) -> None:
        """Not for users: call `cortext.open`."""
        self._handle = handle
        self._model = model
        self._path = path
        self._durability = durability
        self._knobs = knobs
        # At interpreter exit too: the thread ends and the log is folded before Python goes.
        self._finalizer = weakref.finalize(self, _close, handle, neighbours)
        # A signal's handler may close it while its own thread is closing it.
        self._closing = threading.RLock()
        self._neighbours = neighbours
        if neighbours is not None:
            neighbours.start()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<cortext.Engine {self._path!r} model={self._model.spec.name!r}>"

    @property
    def path(self) -> str:
        """The path it was opened with."""
        return self._path

    @property
    def model(self) -> Model:
        """The embedding model."""
        return self._model

    @property
    def knobs(self) -> Knobs:
        """How much recalls and gates bring up, and when."""
        return self._knobs

    def close(self) -> None:
        """Wait for calls in flight, stop the threads, close the file.

        What is not embedded yet stays in the backlog for the next open.  Idempotent.
        """
        with self._closing:  # whoever comes second waits too
            self._finalizer()

    def ingest(
        self,
        text: str,
        *,
        role: str = "user",
        session: str = "default",
        time: datetime | int | None = None,
        source: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        uid: str | None = None,
    ) -> int:
        """Store one message and return its id; the fields are those of NewMessage.

        When this returns the message is on disk and can be found by its words; by its meaning a
        moment later, when the embedding thread has come to it.  With a `uid` that is stored
        already the id of that message is returned and nothing is changed.  Threads that ingest
        at the same time share a sync to disk; a failure is that of its own caller only.

        Raises: InputError, ConflictError (same uid, other text, role or session), StoreError and
            its kinds; nothing is changed then.
        """
        message = NewMessage(
            text=text,
            role=role,
            session=session,
            time=time,
            source=source,
            metadata=metadata,
            uid=uid,
        )
        return self._handle.ingest([convert.to_row(message)])[0]

    def ingest_many(self, messages: Iterable[NewMessage | Mapping[str, Any]]) -> list[int]:
        """Store messages in one transaction, all or none, and return their ids in order.

        Raises: as `ingest`, saying which message (counted from 0); nothing is changed then.
        """
        return self._handle.ingest(convert.to_rows(messages))

    def flush(
        self,
        timeout: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Wait until every message is embedded.

        timeout: seconds, None for no limit.
        progress: called about ten times a second with (done, total) of what waited at the start.
        Returns: False when the time ran out or messages failed to embed (see `stats`).
        """
        deadline = clock.monotonic() + convert.to_duration(timeout, "timeout", unit="seconds")
        convert.check_progress(progress)
        total = 0
        while True:
            wait = int(max(0, min(_SLICE_MS, (deadline - clock.monotonic()) * 1000)))
            done, pending = self._handle.flush(wait)
            total = max(total, pending)
            if progress is not None and total:
                progress(total - pending, total)
            if done:
                return pending == 0
            if clock.monotonic() >= deadline:
                return False

    def get(self, id: int) -> Message:
        """The message with this id.  Raises NotFoundError."""
        if isinstance(id, bool) or not isinstance(id, int) or not -(2**63) <= id < 2**63:
            raise InputError("id must be an int of 64 bits")
        return convert.to_message(self._handle.get([id])[0])

    def messages(
        self,
        *,
        session: str | Sequence[str] | None = None,
        roles: str | Sequence[str] | None = None,
        since: datetime | int | None = None,
        until: datetime | int | None = None,
        limit: int = 100,
        after: int = 0,
    ) -> list[Message]:
        """Stored messages in order of id, which is the order of ingestion.

        session, roles: one or several names.  since, until: times, the first included, the last
        not.  limit: 1 to 10,000.  after: only ids greater than this, to read on page by page.
        """
        rows = self._handle.messages(
            sessions=convert.to_names(session, "session"),
            roles=convert.to_names(roles, "roles"),
            since_ms=convert.to_optional_milliseconds(since, "since"),
            until_ms=convert.to_optional_milliseconds(until, "until"),
            after=convert.to_int(after, "after", "of an id", bits=64),
            limit=convert.to_int(limit, "limit", "from 1 to 10,000"),
        )
        return [convert.to_message(row) for row in rows]

    def embed(self, texts: Sequence[str], *, query: bool = False) -> npt.NDArray[np.float32]:
        """Embed texts with this store's model; see `cortext.models.Model.embed`."""
        if not self._finalizer.alive:
            raise ClosedError("the engine is closed")
        return self._model.embed(texts, query=query)

    def stats(self) -> Stats:
        """Counts, sizes and health of the store, read now."""
        row, near = self._handle.stats(), self._neighbours
        return Stats(
            path=self._path,
            messages=row.messages,
            sessions=row.sessions,
            chunks=row.chunks,
            pending=row.pending,
            restoring=row.restoring,
            file_bytes=row.file_bytes,
            wal_bytes=row.wal_bytes,
            codes_bytes=row.codes_bytes,
            index_bytes=row.index_bytes + (near.bytes if near else 0),
            index="hnsw" if near and near.serves(row.chunks) else "exact",
            index_built=near.built if near else 0,
            index_error=near.error if near else None,
            model=self._model.spec.name,
            dimension=row.dimension,
            durability=self._durability,
            schema_version=row.schema_version,
            sqlite_version=_native.sqlite_version(),
            simd=_native.simd_name(),
            encoder=self._model.backend,
            last_error=row.last_error or None,
        )


def _close(handle: _native.EngineHandle, neighbours: Neighbours | None) -> None:
    try:
        if neighbours is not None:
            neighbours.stop()
    finally:
        handle.close()
