"""What the core gives back, as Python values."""

from __future__ import annotations

from typing import Any, NamedTuple

from cortext._native._core import ffi, lib


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
    working: list[MessageRow]


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


def take_rows(result: Any) -> list[MessageRow]:
    """The messages of a ct_result, in order."""
    rows = lib.ct_result_rows(result)
    return [_take_row(rows[i]) for i in range(lib.ct_result_count(result))]


def result_holder() -> Any:
    """Where a call puts its ct_result; frees it too, also if an exception comes in between."""
    return ffi.gc(ffi.new("ct_result **"), lib.ct_result_drop)


def take_recall(result: Any) -> RecallRows:
    """All of a recall."""
    spent, standing = lib.ct_result_timings(result), lib.ct_result_standing(result)
    working = lib.ct_result_working(result)
    return RecallRows(
        take_rows(result),
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
        [] if standing == ffi.NULL else take_rows(standing),
        [] if working == ffi.NULL else take_rows(working),
    )


def take_stats(out: Any) -> StatsRow:
    """A filled ct_stats."""
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
