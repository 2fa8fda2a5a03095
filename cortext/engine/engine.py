"""The engine: one store, open."""

from __future__ import annotations

import functools
import os
import threading
import time as clock
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from cortext import _native
from cortext.engine import consolidate as consolidation
from cortext.engine import convert
from cortext.engine.consolidation_types import Digest, Episode, Related, Report, State
from cortext.engine.gate import Gate
from cortext.engine.knobs import Knobs
from cortext.engine.named_times import named_times
from cortext.engine.neighbours import Index, Neighbours, is_wanted
from cortext.engine.types import Active, Hit, Message, NewMessage, Recall, Stats, Timings
from cortext.errors import ClosedError, InputError
from cortext.models import Encoder, Model, load

__all__ = ["STAGES", "Engine", "Stage", "open_engine"]

Stage = Literal[
    "dense",
    "lexical",
    "late",
    "context",
    "speaker",
    "date",
    "question",
    "supersession",
    "cut",
]
STAGES: tuple[Stage, ...] = get_args(Stage)

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


class Engine:
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
            after=_checked_int(after, "after", "of an id", bits=64),
            limit=_checked_int(limit, "limit", "from 1 to 10,000"),
        )
        return [convert.to_message(row) for row in rows]

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        session: str | Sequence[str] | None = None,
        roles: str | Sequence[str] | None = None,
        since: datetime | int | None = None,
        until: datetime | int | None = None,
        reference_time: datetime | int | None = None,
        as_of: datetime | int | None = None,
        budget_tokens: int | None = None,
        budget_bytes: int | None = None,
        attach: bool = True,
        collapse: bool = True,
        wait_ms: int = 200,
        include_superseded: bool = True,
        explain: bool = False,
        stages: Sequence[Stage] = STAGES,
        standing_limit: int = 8,
        for_session: str | None = None,
    ) -> Recall:
        """The messages that matter for a query, best first.

        query: a question or any text; its punctuation means nothing.  Of a very long one the
            64 rarest of its first 256 different words count, and for the meaning its first 8
            chunks (with the bundled model, some 1,800 tokens).
        limit: at most so many hits, 1 to 10,000, by default what `Knobs.focus` stands for, 10 at
            .45; the list ends where the evidence ends, so there may be fewer.  A score ranks
            within this recall; whether anything answers the query is what `Recall.confidence` says.
        session, roles, since, until: as in `messages`; they restrict the search itself, not its
            result, and what is attached to a hit passes them too.  What stands around a message
            of its session, before `until`, may still be why it is found: with roles="user" the
            assistant's question leads to the answer.
        reference_time: what "yesterday" in the query counts from; default: `as_of`, else now.
            Messages near a time that the query names are preferred, others are not cut off;
            see `cortext.dates` for what is understood.  A time in "after my trip" is that of the
            message which best matches "my trip", at the cost of a second search.
        as_of: answer as if it were then: messages that are later are hidden.
        budget_tokens: most tokens of all texts handed out, attached messages included, as the
            model of the store counts them, at least one for 8 bytes, without special tokens,
            roles or times.  It is no LLM's tokenizer: against the bundled model, OpenAI's o200k
            counts about as many for English, a fifth fewer for code, from 0.4 to 0.9 of them for
            most other languages, but 1.2 times as many for Thai.  Hits are taken in order; one
            that does not fit what is left is passed over for shorter ones behind it, and one that
            is larger than the whole budget is cut to its best passage (`Hit.excerpt`).
        budget_bytes: the same in bytes of UTF-8; of two budgets both hold.  `Recall.standing` is
            a list of its own, which no budget counts.
        attach: give a hit the message beside it that is needed to read it; see `Hit`.
        collapse: of messages that say the same word for word, but for case, punctuation or a
            greeting, show the newest only; see `Hit.duplicates`.  Speakers keep their own words,
            but a tool's copy of them collapses.
        wait_ms: longest wait for messages that are not embedded yet.  Of a backlog that would
            take more than twice as long, only the newest message is waited for; it is embedded
            next.  Those still waiting are found by their words only, and counted in
            Recall.pending.
        include_superseded: False leaves out messages that a newer one replaces, such as the old
            value of a setting; other hits take their places.  See Hit.
        explain: give each hit the scores of the stages.
        stages: leave some out to compare; "dense" or "lexical" must be among them.
        standing_limit: most of Recall.standing, 0 for none; of each session that `session` names
            the 96 newest at most.  `session` and `until` restrict it as they do the hits, `roles`
            and `since` do not: what the user once said holds until it is taken back.
        for_session: the session whose turn it is.  Its working memory takes the hits in and is
            given as `Recall.working`; default: `session` where that is one name.  It restricts
            nothing.

        Raises: InputError, StoreError and its kinds, ModelError.
        """
        if (
            not isinstance(stages, Collection)
            or isinstance(stages, str)
            or not all(stage in STAGES for stage in stages)
        ):
            raise InputError(f"stages is {stages!r}; it must be some of {', '.join(STAGES)}")
        until_ms = convert.to_optional_milliseconds(until, "until")
        as_of_ms = convert.to_optional_milliseconds(as_of, "as_of")
        reference_ms = convert.to_optional_milliseconds(reference_time, "reference_time")
        if as_of_ms is not None:
            until_ms = as_of_ms + 1 if until_ms is None else min(until_ms, as_of_ms + 1)
            reference_ms = as_of_ms if reference_ms is None else reference_ms
        sessions = convert.to_names(session, "session")
        if for_session is None and len(sessions) == 1:
            for_session = sessions[0]
        if limit is None:
            limit = self._knobs.values.recall_limit
        search = functools.partial(
            self._handle.recall,
            sessions=sessions,
            roles=convert.to_names(roles, "roles"),
            since_ms=convert.to_optional_milliseconds(since, "since"),
            until_ms=until_ms,
            collapse=False,
            attach=False,
            budget_tokens=convert.to_budget(None, "budget_tokens"),
            budget_bytes=convert.to_budget(None, "budget_bytes"),
            standing=0,
        )
        used = set(stages)
        found = search(
            query,
            limit=_checked_int(limit, "limit", "from 1 to 10,000"),
            wait_ms=_checked_int(wait_ms, "wait_ms", "of milliseconds from 0"),
            stages=used,
            dates=named_times(query, reference_ms, search) if "date" in used else (),
            collapse=bool(collapse),
            attach=bool(attach),
            budget_tokens=convert.to_budget(budget_tokens, "budget_tokens"),
            budget_bytes=convert.to_budget(budget_bytes, "budget_bytes"),
            standing=_checked_int(standing_limit, "standing_limit", "from 0 to 10,000"),
            include_superseded=bool(include_superseded),
            asking=for_session,
        )
        hits: list[Hit] = [convert.to_hit(row, explain=explain) for row in found.rows]
        ids = {hit.id for hit in hits}
        wait, encode, dense, lexical, late, fetch, total = (ns / 1e6 for ns in found.timings_ns)
        return Recall(
            hits=tuple(hits),
            confidence=found.confidence,
            pending=found.pending,
            timings=Timings(
                wait=wait,
                encode=encode,
                dense=dense,
                lexical=lexical,
                late=late,
                fetch=fetch,
                total=total,
            ),
            standing=tuple(convert.to_standing(row, ids) for row in found.standing),
            working=tuple(convert.to_active(row) for row in found.working),
        )

    def working(self, session: str = "default") -> list[Active]:
        """What is active in a session, most active first: its working memory, at most 8 messages.

        A message rises when a recall for the session, or a gate of it, brings it up, and fades with
        each of its recalls: what was brought up once is gone after some seven.  It is kept in
        memory, of the 64 sessions that were used last, and ends with the engine.

        Raises: InputError, StoreError and its kinds.
        """
        return [convert.to_active(row) for row in self._handle.working(session)]

    def gate(
        self,
        *,
        session: str = "default",
        context: Iterable[str | Message] | None = None,
        scope: str | None = None,
        within: str | Sequence[str] | None = None,
        roles: str | Sequence[str] | None = None,
        knobs: Knobs | None = None,
        every: bool = False,
    ) -> Gate:
        """Watch what a model streams and stage what it brings up.

        session: the conversation of the stream.
        context: what the model has before it, texts or messages: none of it is brought up.  None
            for the last 32 messages of the session, and those that come while the gate is
            open; an empty list for nothing.
        scope: under which messages are staged for `take_staged`; default: the session.
        within, roles: names of sessions and roles; only messages of those are brought up.
        knobs: for this gate; default: those of the engine.
        every: give an event for every segment, not only for those that stage something.

        A gate searches on a thread of the engine, which all its gates share.
        Raises: InputError, StoreError and its kinds.
        """
        if knobs is not None and not isinstance(knobs, Knobs):
            raise InputError(f"knobs must be a Knobs, not {type(knobs).__name__}")
        used = knobs or self._knobs
        handle = self._handle.gate(
            session=session,
            scope=session if scope is None else scope,
            knobs=(used.focus, used.sensitivity, used.stability),
            sessions=convert.to_names(within, "within"),
            roles=convert.to_names(roles, "roles"),
            follows=context is None,
            every=bool(every),
        )
        gate = Gate(handle, self, session=session, scope=scope or session, knobs=used)
        if context is not None:
            gate.know(context)
        return gate

    def take_staged(self, scope: str = "default") -> list[Hit]:
        """Take what gates have staged under a scope, the oldest first, for the next context.

        Each message is handed out once; a `score` is the relevance it had.  Of what nobody takes
        the newest is kept: 16 messages and 16 KiB of text for a scope, 256 and 256 KiB in all.
        Messages that are gone meanwhile are left out.

        Raises: InputError, StoreError and its kinds; what is staged stays then.
        """
        return [convert.to_hit(row, explain=False) for row in self._handle.take_staged(scope)]

    def consolidate(
        self,
        budget_ms: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Link and sum up what is new since the last time; nothing that was said is changed.

        Of messages that are embedded, in the order in which they came: those that say the same, the
        values that newer ones replace, which recalls then know of, too, episodes, where a topic
        shifts (TextTiling; Hearst, Computational Linguistics 23(1), 1997) or after half an hour
        of silence, the sentences that stand for each (maximal marginal relevance to the centroid;
        Carbonell and Goldstein, SIGIR 1998), and the segments of the full-text index are merged.
        No model runs.  What a call does not come to, the next one does; where it is broken off, by
        an exception or a crash, nothing is lost or done twice.  Others may ingest and recall.

        budget_ms: stop after about so long, some milliseconds more at most; None: when all is done.
        progress: called about twenty times a second with (done, total) messages.

        Raises: InputError, StoreError and its kinds.
        """
        return consolidation.consolidate(self._handle, budget_ms, progress)

    @property
    def state(self) -> State:
        """Whether `consolidate` is worth calling, by how many messages it has not seen.

        "recommended" from 64 on, "required" from 10,000 on, where it takes seconds and recalls
        get slower without it.
        """
        return consolidation.state(self._handle)

    def episodes(
        self,
        *,
        session: str | Sequence[str] | None = None,
        since: datetime | int | None = None,
        until: datetime | int | None = None,
        limit: int = 100,
        after: int = 0,
    ) -> list[Episode]:
        """Episodes in the order in which they began, as far as the store is consolidated.

        session, since, until: those of these sessions with a time in this span.  limit: 1 to
        10,000.  after: only ids greater than this, to read on page by page.
        """
        return consolidation.episodes(
            self._handle,
            session=session,
            since=since,
            until=until,
            limit=_checked_range(limit, "limit", 10_000),
            after=_checked_int(after, "after", "of an id", bits=64),
        )

    def digest(
        self, session: str | Sequence[str] | None = None, *, budget_tokens: int = 500
    ) -> Digest:
        """What was talked about, in sentences of the messages themselves.

        Of the newest 1,000 episodes of these sessions, of all by default: first the sentence that
        stands for each, the newest episodes first, then the second ones, as far as the budget
        goes.  They are as old as the last `consolidate`.

        budget_tokens: most tokens of all sentences, as the store's model counts; see `recall`.
        """
        budget = convert.to_budget(budget_tokens, "budget_tokens")
        return consolidation.digest(self._handle, session, budget or 2**31 - 1)

    def related(
        self,
        id: int,
        *,
        limit: int = 5,
        session: str | Sequence[str] | None = None,
        roles: str | Sequence[str] | None = None,
    ) -> list[Related]:
        """What a message has to do with others, by relation, at most `limit` (1 to 1,000) of each.

        All but "similar" is as old as the last `consolidate`.  session, roles: only messages of
        these.  Raises: NotFoundError, InputError, StoreError and its kinds.
        """
        return consolidation.related(
            self._handle,
            _checked_int(id, "id", "of 64 bits", bits=64),
            limit=_checked_range(limit, "limit", 1000),
            session=session,
            roles=roles,
        )

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


def _checked_range(value: int, what: str, most: int) -> int:
    bounds = f"from 1 to {most:,}"
    if not 1 <= _checked_int(value, what, bounds) <= most:
        raise InputError(f"{what} is {value}; it must be {bounds}")
    return value


def _checked_int(value: int, what: str, bounds: str, *, bits: int = 32) -> int:
    """An int that the core can be given; it checks the bounds."""
    most = 2 ** (bits - 1)
    if isinstance(value, bool) or not isinstance(value, int) or not -most <= value < most:
        raise InputError(f"{what} is {value!r}; it must be an int {bounds}")
    return value
