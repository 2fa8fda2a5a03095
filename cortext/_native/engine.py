"""Handle of the C engine, and its rows as Python values."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cortext._native._core import ffi, lib
from cortext._native.encoder import EncoderHandle
from cortext._native.status import check, encode, encode_name, new_error

_DURABILITY = {"full": lib.CT_DURABILITY_FULL, "normal": lib.CT_DURABILITY_NORMAL}
_STAGE = {
    "dense": lib.CT_STAGE_DENSE,
    "lexical": lib.CT_STAGE_LEXICAL,
    "late": lib.CT_STAGE_LATE,
    "context": lib.CT_STAGE_CONTEXT,
    "speaker": lib.CT_STAGE_SPEAKER,
    "date": lib.CT_STAGE_DATE,
    "question": lib.CT_STAGE_QUESTION,
    "cut": lib.CT_STAGE_CUT,
    "supersession": lib.CT_STAGE_SUPERSESSION,
}
_OPEN_SINCE, _OPEN_UNTIL = -(2**63), 2**63 - 1


class NewRow(NamedTuple):
    """A message to store; time in milliseconds, metadata as JSON text."""

    text: str
    role: str
    session: str
    time_ms: int
    source: str | None
    metadata: str | None
    uid: str | None


class MessageRow(NamedTuple):
    """A stored message.  Scores are NaN where a stage has none."""

    id: int
    time_ms: int
    text: str
    role: str
    session: str
    source: str | None
    metadata: str | None
    uid: str | None
    score: float
    dense: float
    lexical: float
    late: float
    context: float
    speaker: float
    date: float
    question: float
    span: tuple[int, int]  # start and length in bytes of a standing directive's sentence
    duplicates: tuple[int, ...] = ()
    excerpt: tuple[int, int] | None = None
    before: MessageRow | None = None
    after: MessageRow | None = None
    supersedes: tuple[int, ...] = ()
    superseded_by: tuple[int, ...] = ()


class RecallRows(NamedTuple):
    """Rows best first; nanoseconds for wait, encode, dense, lexical, late, fetch, total."""

    rows: list[MessageRow]
    pending: int
    timings_ns: tuple[int, int, int, int, int, int, int]
    confidence: float
    standing: list[MessageRow]


class StatsRow(NamedTuple):
    """Numbers of ct_stats."""

    messages: int
    sessions: int
    chunks: int
    pending: int
    restoring: int
    file_bytes: int
    wal_bytes: int
    codes_bytes: int
    index_bytes: int
    schema_version: int
    dimension: int
    last_error: str


class Asked(NamedTuple):
    """What an index that is kept elsewhere is asked: `wanted` ids near a unit vector.

    chunks, last_chunk: how many the engine has, and the greatest id.
    """

    vector: npt.NDArray[np.float32]
    wanted: int
    chunks: int
    last_chunk: int


# The ids found, and the id up to which every chunk was looked at; None: the engine is to search.
Nearby = Callable[[Asked], "tuple[npt.NDArray[np.int64], int] | None"]
Failed = Callable[[Exception], object]

# By the number that the core was given for them: a call that comes too late finds nothing.
_nearby: dict[int, Nearby] = {}
_numbers = itertools.count(1)
_raised = threading.local()  # .value: what was raised below the core, in this thread


def _keep_raised(_kind: object, value: BaseException, _trace: object) -> None:
    _raised.value = value


def _find_nearby(state: Any, near: Any) -> int:
    find = _nearby.get(int(ffi.cast("intptr_t", state)))
    if find is None:
        return -1
    vector = np.frombuffer(ffi.buffer(near.vector, near.dimension * 4), np.float32)
    answer = find(Asked(vector, near.wanted, near.chunks, near.last_chunk))
    if answer is None:
        return -1
    ids, near.known = answer
    if len(ids) > near.wanted or ids.dtype != np.int64:
        raise ValueError(f"{len(ids)} ids of {ids.dtype} for {near.wanted}")
    near.count = len(ids)
    ffi.memmove(near.chunk_ids, np.ascontiguousarray(ids), ids.nbytes)
    return 0


ffi.def_extern(name="cortext_find_nearby", error=-1, onerror=_keep_raised)(_find_nearby)


class _Inputs:
    """C strings of one call and the buffers they live in."""

    def __init__(self) -> None:
        self._keep: list[Any] = []

    def optional_name(self, text: str | None, what: str) -> Any:
        return ffi.NULL if text is None else self.name(text, what)

    def name(self, text: str, what: str) -> Any:
        buffer = ffi.from_buffer("char[]", encode_name(text, what) + b"\0")
        self._keep.append(buffer)
        return buffer

    def text(self, text: str, what: str) -> tuple[Any, int]:
        data = encode(text, what)
        buffer = ffi.from_buffer("char[]", data)
        self._keep.append(buffer)
        return buffer, len(data)

    def names(self, texts: Sequence[str], what: str) -> Any:
        array = ffi.new("const char *[]", [self.name(text, what) for text in texts])
        self._keep.append(array)
        return array

    def fill_filter(
        self,
        target: Any,
        sessions: Sequence[str],
        roles: Sequence[str],
        since_ms: int | None,
        until_ms: int | None,
    ) -> None:
        target.sessions = self.names(sessions, "session")
        target.session_count = len(sessions)
        target.roles = self.names(roles, "role")
        target.role_count = len(roles)
        target.since_ms = _OPEN_SINCE if since_ms is None else since_ms
        target.until_ms = _OPEN_UNTIL if until_ms is None else until_ms


def _string(pointer: Any) -> str | None:
    return None if pointer == ffi.NULL else str(ffi.string(pointer).decode("utf-8", "replace"))


def _must(pointer: Any) -> str:
    return str(ffi.string(pointer).decode("utf-8", "replace"))


def _take_row(row: Any) -> MessageRow:
    return MessageRow(
        row.id,
        row.time_ms,
        ffi.unpack(row.text, row.text_bytes).decode("utf-8", "replace"),
        _must(row.role),
        _must(row.session),
        _string(row.source),
        _string(row.metadata),
        _string(row.uid),
        row.score,
        row.dense,
        row.lexical,
        row.late,
        row.context,
        row.speaker,
        row.date,
        row.question,
        (row.span_start, row.span_bytes),
        tuple(row.duplicates[0 : row.duplicate_count]) if row.duplicate_count else (),
        (row.excerpt_start, row.excerpt_end) if row.excerpt_end else None,
        None if row.before == ffi.NULL else _take_row(row.before),
        None if row.after == ffi.NULL else _take_row(row.after),
        tuple(row.supersedes[0 : row.supersedes_count]) if row.supersedes_count else (),
        tuple(row.superseded_by[0 : row.superseded_by_count]) if row.superseded_by_count else (),
    )


def _take_rows(result: Any) -> list[MessageRow]:
    rows = lib.ct_result_rows(result)
    return [_take_row(rows[i]) for i in range(lib.ct_result_count(result))]


def _result_holder() -> Any:
    """Where a call puts its ct_result; frees it too, also if an exception comes in between."""
    return ffi.gc(ffi.new("ct_result **"), lib.ct_result_drop)


class EngineHandle:
    """Owns a ct_engine.  Methods raise as `cortext._native.status` maps; all are thread-safe."""

    def __init__(self, path: str, encoder: EncoderHandle, *, durability: str, busy_ms: int) -> None:
        inputs = _Inputs()
        options = ffi.new(
            "ct_engine_options *",
            {
                "path": inputs.name(path, "path"),
                "durability": _DURABILITY[durability],
                "busy_ms": busy_ms,
            },
        )
        # Freed with its holder, so that an exception out of a signal handler leaks nothing.
        self._holder = ffi.gc(ffi.new("ct_engine **"), lib.ct_engine_drop)
        error = new_error()
        check(lib.ct_engine_open(options, encoder.pointer, self._holder, error), error)
        self._pointer = self._holder[0]
        self._number = next(_numbers)
        self._failed: Failed | None = None
        self._close_later = False

    def close(self) -> None:
        """Wait for calls in flight and close.

        By a signal handler that runs below a recall of its own thread it closes when that has
        ended: it cannot be waited for.
        """
        if self._is_recalling():
            self._close_later = True
            return
        self._close_later = False
        lib.ct_engine_close(self._pointer)
        _nearby.pop(self._number, None)

    def _is_recalling(self) -> bool:
        """Whether this runs below a recall of this thread, in what the core called back."""
        frame = sys._getframe()
        while above := frame.f_back:
            frame = above
            if frame.f_code is _keep_raised.__code__:
                return True
            if frame.f_code is _find_nearby.__code__:  # noqa: SIM102
                if int(ffi.cast("intptr_t", frame.f_locals["state"])) == self._number:
                    return True
        return False

    def set_nearby(self, find: Nearby, failed: Failed) -> None:
        """Have recalls without a filter ask `find`, on their own threads.

        What it raises makes the engine search by itself: an Exception goes to `failed`, any other
        (KeyboardInterrupt) comes out of the recall.
        """
        self._failed = failed
        _nearby[self._number] = find
        state = ffi.cast("void *", self._number)
        lib.ct_engine_set_nearby(self._pointer, lib.cortext_find_nearby, state)

    def vectors(
        self, after: int, most: int, dimension: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Ids > after of at most so many chunks, in order, and what their codes stand for."""
        ids, vectors = np.empty(most, np.int64), np.empty((most, dimension), np.float32)
        count, error = ffi.new("size_t *"), new_error()
        status = lib.ct_engine_vectors(
            self._pointer,
            after,
            most,
            ffi.from_buffer("int64_t[]", ids),
            ffi.from_buffer("float[]", vectors),
            count,
            error,
        )
        check(status, error)
        return ids[: count[0]], vectors[: count[0]]

    def count(self) -> int:
        """How many chunks there are."""
        count, error = ffi.new("size_t *"), new_error()
        check(lib.ct_engine_mark(self._pointer, _OPEN_UNTIL, count, ffi.NULL, error), error)
        return int(count[0])

    def mark(self, through: int) -> tuple[int, int]:
        """How many chunks there are up to this id, and a hash of their ids and codes."""
        count, hashed, error = ffi.new("size_t *"), ffi.new("uint64_t *"), new_error()
        check(lib.ct_engine_mark(self._pointer, through, count, hashed, error), error)
        return int(count[0]), int(hashed[0])

    def ingest(self, messages: Iterable[NewRow]) -> list[int]:
        inputs = _Inputs()
        rows = []
        for message in messages:
            text, size = inputs.text(message.text, "text")
            rows.append(
                (
                    text,
                    size,
                    inputs.name(message.role, "role"),
                    inputs.name(message.session, "session"),
                    inputs.optional_name(message.source, "source"),
                    inputs.optional_name(message.metadata, "metadata"),
                    inputs.optional_name(message.uid, "uid"),
                    message.time_ms,
                )
            )
        if not rows:
            return []
        array = ffi.new("ct_message_input[]", rows)
        ids, error = ffi.new("int64_t[]", len(rows)), new_error()
        check(lib.ct_engine_ingest(self._pointer, array, len(rows), ids, error), error)
        return list(ids)

    def flush(self, timeout_ms: int) -> tuple[bool, int]:
        """Whether the backlog is done, and how many messages still wait."""
        pending, error = ffi.new("int64_t *"), new_error()
        status = lib.ct_engine_flush(self._pointer, timeout_ms, pending, error)
        if status != lib.CT_TIMEOUT:
            check(status, error)
        return status == lib.CT_OK, int(pending[0])

    def get(self, ids: Sequence[int]) -> list[MessageRow]:
        out, error = _result_holder(), new_error()
        check(
            lib.ct_engine_get(self._pointer, ffi.new("int64_t[]", list(ids)), len(ids), out, error),
            error,
        )
        return self._take(out[0]).rows

    def messages(
        self,
        *,
        sessions: Sequence[str],
        roles: Sequence[str],
        since_ms: int | None,
        until_ms: int | None,
        after: int,
        limit: int,
    ) -> list[MessageRow]:
        inputs, chosen = _Inputs(), ffi.new("ct_filter *")
        inputs.fill_filter(chosen, sessions, roles, since_ms, until_ms)
        out, error = _result_holder(), new_error()
        check(lib.ct_engine_messages(self._pointer, chosen, after, limit, out, error), error)
        return self._take(out[0]).rows

    def recall(
        self,
        text: str,
        *,
        sessions: Sequence[str],
        roles: Sequence[str],
        since_ms: int | None,
        until_ms: int | None,
        limit: int,
        wait_ms: int,
        stages: Collection[str],
        dates: Sequence[tuple[int, int, int, int]],
        collapse: bool,
        attach: bool,
        budget_tokens: int,
        budget_bytes: int,
        standing: int,
        include_superseded: bool = True,
    ) -> RecallRows:
        inputs, query = _Inputs(), ffi.new("ct_query *")
        query.text, query.text_bytes = inputs.text(text, "query")
        inputs.fill_filter(query.filter, sessions, roles, since_ms, until_ms)
        query.limit, query.wait_ms = limit, wait_ms
        query.stages = sum(_STAGE[stage] for stage in stages)
        spans = ffi.new("ct_period[]", list(dates))
        query.dates, query.date_count = spans, len(spans)
        query.collapse, query.attach = collapse, attach
        query.budget_tokens, query.budget_bytes = budget_tokens, budget_bytes
        query.standing = standing
        query.include_superseded = include_superseded
        out, error = _result_holder(), new_error()
        _raised.value = None
        try:
            status = lib.ct_engine_recall(self._pointer, query, out, error)
        finally:
            if self._close_later:
                self.close()
        raised: BaseException | None = _raised.value
        if isinstance(raised, Exception) and self._failed is not None:
            self._failed(raised)
        elif raised is not None:
            raise raised
        check(status, error)
        return self._take(out[0])

    def stats(self) -> StatsRow:
        out, error = ffi.new("ct_stats *"), new_error()
        check(lib.ct_engine_stats(self._pointer, out, error), error)
        return StatsRow(
            out.messages,
            out.sessions,
            out.chunks,
            out.pending,
            out.restoring,
            out.file_bytes,
            out.wal_bytes,
            out.codes_bytes,
            out.index_bytes,
            out.schema_version,
            out.dimension,
            _must(out.last_error),
        )

    @staticmethod
    def _take(result: Any) -> RecallRows:
        spent, standing = lib.ct_result_timings(result), lib.ct_result_standing(result)
        return RecallRows(
            _take_rows(result),
            int(lib.ct_result_pending(result)),
            (
                spent.wait_ns,
                spent.encode_ns,
                spent.dense_ns,
                spent.lexical_ns,
                spent.late_ns,
                spent.fetch_ns,
                spent.total_ns,
            ),
            float(lib.ct_result_confidence(result)),
            [] if standing == ffi.NULL else _take_rows(standing),
        )
