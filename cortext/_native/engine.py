"""Handle of the C engine."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cortext._native import nearby
from cortext._native._core import ffi, lib
from cortext._native.consolidation import (
    EpisodeRow,
    RelatedRow,
    SentenceRow,
    take_episodes,
    take_related,
    take_sentences,
)
from cortext._native.encoder import EncoderHandle
from cortext._native.gate import GateHandle
from cortext._native.inputs import OPEN_UNTIL, Inputs
from cortext._native.nearby import Failed, Nearby
from cortext._native.rows import (
    MessageRow,
    NewRow,
    RecallRows,
    StatsRow,
    result_holder,
    take_recall,
    take_rows,
    take_stats,
)
from cortext._native.status import check, new_error

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


class EngineHandle:
    """Owns a ct_engine.  Methods raise as `cortext._native.status` maps; all are thread-safe."""

    def __init__(self, path: str, encoder: EncoderHandle, *, durability: str, busy_ms: int) -> None:
        inputs = Inputs()
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
        self._number = next(nearby.numbers)
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
        nearby.finders.pop(self._number, None)

    def _is_recalling(self) -> bool:
        """Whether this runs below a recall of this thread, in what the core called back."""
        frame = sys._getframe()
        while above := frame.f_back:
            frame = above
            if frame.f_code is nearby.keep_raised.__code__:
                return True
            if frame.f_code is nearby.find_nearby.__code__:  # noqa: SIM102
                if int(ffi.cast("intptr_t", frame.f_locals["state"])) == self._number:
                    return True
        return False

    def set_nearby(self, find: Nearby, failed: Failed) -> None:
        """Have recalls without a filter ask `find`, on their own threads.

        What it raises makes the engine search by itself: an Exception goes to `failed`, any other
        (KeyboardInterrupt) comes out of the recall.
        """
        self._failed = failed
        nearby.finders[self._number] = find
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
        check(lib.ct_engine_mark(self._pointer, OPEN_UNTIL, count, ffi.NULL, error), error)
        return int(count[0])

    def mark(self, through: int) -> tuple[int, int]:
        """How many chunks there are up to this id, and a hash of their ids and codes."""
        count, hashed, error = ffi.new("size_t *"), ffi.new("uint64_t *"), new_error()
        check(lib.ct_engine_mark(self._pointer, through, count, hashed, error), error)
        return int(count[0]), int(hashed[0])

    def ingest(self, messages: Iterable[NewRow]) -> list[int]:
        inputs = Inputs()
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
        out, error = result_holder(), new_error()
        check(
            lib.ct_engine_get(self._pointer, ffi.new("int64_t[]", list(ids)), len(ids), out, error),
            error,
        )
        return take_recall(out[0]).rows

    def get_present(self, ids: Sequence[int]) -> list[MessageRow]:
        """As `get`; those that are missing are passed over."""
        out, array, error = result_holder(), ffi.new("int64_t[]", list(ids)), new_error()
        check(lib.ct_engine_get_present(self._pointer, array, len(array), out, error), error)
        return take_recall(out[0]).rows

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
        inputs, chosen = Inputs(), ffi.new("ct_filter *")
        inputs.fill_filter(chosen, sessions, roles, since_ms, until_ms)
        out, error = result_holder(), new_error()
        check(lib.ct_engine_messages(self._pointer, chosen, after, limit, out, error), error)
        return take_recall(out[0]).rows

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
        asking: str | None = None,
    ) -> RecallRows:
        inputs, query = Inputs(), ffi.new("ct_query *")
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
        query.asking = inputs.optional_name(asking, "session")
        out, error = result_holder(), new_error()
        nearby.raised.value = None
        try:
            status = lib.ct_engine_recall(self._pointer, query, out, error)
        finally:
            if self._close_later:
                self.close()
        raised: BaseException | None = nearby.raised.value
        if isinstance(raised, Exception) and self._failed is not None:
            self._failed(raised)
        elif raised is not None:
            raise raised
        check(status, error)
        return take_recall(out[0])

    def working(self, session: str) -> list[MessageRow]:
        """What is active in a session; the score is the activation."""
        out, error, inputs = result_holder(), new_error(), Inputs()
        name = inputs.name(session, "session")
        check(lib.ct_engine_working(self._pointer, name, out, error), error)
        return take_rows(out[0])

    def take_staged(self, scope: str) -> list[MessageRow]:
        """Drain what gates have staged for a scope; the score is the relevance."""
        out, error, inputs = result_holder(), new_error(), Inputs()
        name = inputs.name(scope, "scope")
        check(lib.ct_engine_take_staged(self._pointer, name, out, error), error)
        return take_rows(out[0])

    def gate(
        self,
        *,
        session: str,
        scope: str,
        knobs: tuple[float, float, float],
        sessions: Sequence[str],
        roles: Sequence[str],
        follows: bool,
        every: bool,
    ) -> GateHandle:
        """Watch a stream."""
        inputs, options = Inputs(), ffi.new("ct_gate_options *")
        options.session = inputs.name(session, "session")
        options.scope = inputs.name(scope, "scope")
        options.knobs = knobs
        inputs.fill_filter(options.filter, sessions, roles, None, None)
        options.follows, options.every = follows, every
        return GateHandle(self._pointer, options, self)

    def consolidate(self, budget_ms: int, report: Any) -> None:
        """Work until the time is over; what was done is added to the report."""
        error = new_error()
        check(lib.ct_engine_consolidate(self._pointer, budget_ms, report, error), error)

    def consolidation(self) -> tuple[int, int, int]:
        """Messages that can be consolidated, that cannot yet, and directives in force."""
        out, error = ffi.new("ct_consolidation_state *"), new_error()
        check(lib.ct_engine_consolidation(self._pointer, out, error), error)
        return int(out.waiting), int(out.pending), int(out.directives)

    def episodes(
        self,
        *,
        sessions: Sequence[str],
        since_ms: int | None,
        until_ms: int | None,
        after: int,
        newest: bool,
        limit: int,
    ) -> list[EpisodeRow]:
        inputs, chosen = Inputs(), ffi.new("ct_filter *")
        inputs.fill_filter(chosen, sessions, (), since_ms, until_ms)
        out, count, error = ffi.new("ct_episode[]", limit), ffi.new("size_t *"), new_error()
        status = lib.ct_engine_episodes(
            self._pointer, chosen, after, newest, limit, out, count, error
        )
        check(status, error)
        return take_episodes(out, count[0])

    def digest(self, episode: int, most: int) -> list[SentenceRow]:
        """Sentences of an episode, the one that says most first."""
        out, count, error = ffi.new("ct_digest_sentence[]", most), ffi.new("size_t *"), new_error()
        check(lib.ct_engine_digest(self._pointer, episode, most, out, count, error), error)
        return take_sentences(out, count[0])

    def related(
        self, id: int, *, sessions: Sequence[str], roles: Sequence[str], limit: int
    ) -> list[RelatedRow]:
        inputs, chosen = Inputs(), ffi.new("ct_filter *")
        inputs.fill_filter(chosen, sessions, roles, None, None)
        out, count, error = ffi.new("ct_related[]", 5 * limit), ffi.new("size_t *"), new_error()
        check(lib.ct_engine_related(self._pointer, id, chosen, limit, out, count, error), error)
        return take_related(out, count[0])

    def stats(self) -> StatsRow:
        out, error = ffi.new("ct_stats *"), new_error()
        check(lib.ct_engine_stats(self._pointer, out, error), error)
        return take_stats(out)
