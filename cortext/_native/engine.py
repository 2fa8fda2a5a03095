"""Handle of the C engine, and its rows as Python values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

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
    file_bytes: int
    wal_bytes: int
    codes_bytes: int
    index_bytes: int
    schema_version: int
    dimension: int
    last_error: str


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

    def close(self) -> None:
        lib.ct_engine_close(self._pointer)

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
        check(lib.ct_engine_recall(self._pointer, query, out, error), error)
        return self._take(out[0])

    def stats(self) -> StatsRow:
        out, error = ffi.new("ct_stats *"), new_error()
        check(lib.ct_engine_stats(self._pointer, out, error), error)
        return StatsRow(
            out.messages,
            out.sessions,
            out.chunks,
            out.pending,
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
