"""The streaming gate: what a model writes brings up what was said before."""

from __future__ import annotations

import asyncio
import math
import time as clock
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from typing import Any, TypeVar, get_args

from cortext import _native
from cortext.engine import convert
from cortext.engine.gate_event import GateEvent
from cortext.engine.gate_types import Channel
from cortext.engine.knobs import Knobs
from cortext.engine.types import Active, Hit, Message
from cortext.errors import InputError

__all__ = ["Gate", "Gating"]

_SLICE_MS = 100  # a wait comes back to Python this often, so that Ctrl-C works
_LONGEST = 16 << 20  # bytes of a text; as of a message
_IDS = 1000  # messages that are looked up at once
_Delta = TypeVar("_Delta", str, tuple[Channel, str])
_CHANNELS: tuple[Channel, ...] = get_args(Channel)


class Gate:
    """Watches one stream.  Made by `Engine.gate`; a context manager that closes itself.

    Deltas are cut into segments, which a thread of the engine looks up and decides, one after
    another in the order in which they came, the gates of the engine in turn.  Of a gate that is
    behind by 256 segments the oldest are passed over (`skipped`); 1,024 events are kept for whoever
    is to take them.  Of a run of over 512 bytes without a break the first 512 are looked up.

    Every method may be called from any thread; streams that two threads feed to one channel mix.
    Each raises ClosedError after `close` or `Engine.close`, and ForkedError in a forked child.  An
    engine is kept open by its gates as long as somebody holds them.
    """

    def __init__(
        self, handle: _native.GateHandle, engine: object, *, session: str, scope: str, knobs: Knobs
    ) -> None:
        """Not for users: call `Engine.gate`."""
        self._handle = handle
        self._engine = engine  # which closes itself when nobody holds it
        self._feed = handle.feed
        self._session = session
        self._scope = scope
        self._knobs = knobs

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<cortext.Gate session={self._session!r} scope={self._scope!r}>"

    @property
    def session(self) -> str:
        """The session of the stream."""
        return self._session

    @property
    def scope(self) -> str:
        """Under which messages are staged."""
        return self._scope

    @property
    def knobs(self) -> Knobs:
        """The settings of this gate."""
        return self._knobs

    @property
    def limit(self) -> int:
        """Most messages that one segment brings up, by `Knobs.focus`."""
        return self._knobs.values.gate_limit

    @property
    def skipped(self) -> int:
        """Segments that were never decided, because the model could not keep up."""
        return self._handle.counts().skipped

    def know(self, context: str | Message | Iterable[str | Message]) -> None:
        """Take in what the reader of the stream has before it: texts, or messages of the store.

        None of it is brought up.  It is known by its words, the newest 350,000 at least, and the
        newest 64 texts by the meaning of their first 2,000 bytes, too.  Messages that are gone are
        passed over.  It waits when more than 1,024 texts, or 4 MiB, are still to be taken in.

        Raises: InputError, also for a text of over 16 MiB, and nothing is known of it then.
        """
        texts, ids = _to_context(context)
        for text in texts:
            while not self._handle.know_text(text, _SLICE_MS):
                pass
        for at in range(0, len(ids) or 1, _IDS):
            while not self._handle.know_messages(ids[at : at + _IDS], _SLICE_MS):
                pass

    def feed(self, delta: str | bytes, channel: Channel = "text") -> GateEvent | None:
        """Take in what came of the stream; the oldest event that waits, if any.

        It takes microseconds: it never waits for the model or the store, so an event is about an
        earlier segment.  A delta may end inside a word and, as bytes, inside a character; what is
        not UTF-8 counts as U+FFFD.  "thinking" is a stream of its own beside "text".

        Raises: InputError for another type or channel.
        """
        if isinstance(delta, str):
            data = delta.encode("utf-8", "surrogatepass")
        elif isinstance(delta, bytes):
            data = delta
        else:
            raise InputError(f"delta must be str or bytes, not {type(delta).__name__}")
        number = _native.CHANNELS.get(channel) if isinstance(channel, str) else None
        if number is None:
            raise InputError(f"channel is {channel!r}; it must be {' or '.join(_CHANNELS)}")
        return self._take() if self._feed(data, number) else None

    def poll(self) -> GateEvent | None:
        """The oldest event that waits, if any."""
        return self._take()

    def wait(self, timeout: float | None = None) -> list[GateEvent]:
        """Wait until every whole segment is decided; all events that wait then, in order.

        timeout: seconds, None for no limit; what is not decided by then comes later.
        """
        deadline = clock.monotonic() + convert.to_duration(timeout, "timeout", unit="seconds")
        while True:
            left = (deadline - clock.monotonic()) * 1000
            if self._handle.wait(math.ceil(max(0, min(_SLICE_MS, left)))) or left <= 0:
                return self._take_all()

    def flush(self, timeout: float | None = None) -> list[GateEvent]:
        """End the stream: what is left of it is a segment, too.  As `wait` otherwise.

        The next delta begins a new stream of the same turn: what was staged stays known.
        """
        self._handle.end()
        return self.wait(timeout)

    def reset(self) -> None:
        """Begin another turn: forget the stream, its events and what was staged for it.

        What `know` and the session brought stays known, and what is staged stays on the bus.
        """
        self._handle.reset()

    def close(self) -> None:
        """Forget everything but what is staged; nothing more is.  Idempotent.

        Who waits in another thread gets ClosedError.
        """
        self._handle.close()

    async def wrap(
        self, stream: AsyncIterable[_Delta], channel: Channel = "text"
    ) -> AsyncIterator[tuple[_Delta, GateEvent | None]]:
        """Watch a stream as it goes by: each delta, with an event when one is there.

        A delta is a str of this channel, or a pair (channel, str) where they take turns.

            async for delta, event in gate.wrap(response):
                show(delta)
                if event and event.should_interrupt:
                    ...

        Behind the last delta, where both channels end, come the events that are left, each with an
        empty delta; they are waited for on another thread.  Breaking off leaves what waits to the
        next call.  Raises: InputError for what is no asynchronous stream of these.
        """
        if not isinstance(stream, AsyncIterable):
            raise InputError(f"stream is {type(stream).__name__}; it must be asynchronous")
        empty: Any = ""
        async for delta in stream:
            if not isinstance(delta, tuple):
                yield delta, self.feed(delta, channel)
                continue
            if len(delta) != 2:
                raise InputError(f"delta is {delta!r}; it must be a str or a pair (channel, str)")
            empty = (channel, "")
            yield delta, self.feed(delta[1], delta[0])
        for event in await asyncio.to_thread(self.flush):
            yield empty, event

    def _take(self) -> GateEvent | None:
        decision = self._handle.take()
        return None if decision is None else GateEvent(decision)

    def _take_all(self) -> list[GateEvent]:
        events = []
        while (event := self._take()) is not None:
            events.append(event)
        return events


class Gating:
    """An engine as who watches a stream sees it."""

    _handle: _native.EngineHandle
    _knobs: Knobs

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
            open, so that nothing of a short session comes up in itself; an empty list for nothing.
        scope: under which messages are staged for `take_staged`, which hands out what
            `GateEvent.memories` has: use one or the other.  Default: the session.
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


def _to_context(context: str | Message | Iterable[str | Message]) -> tuple[list[bytes], list[int]]:
    if not isinstance(context, (str, Message, Iterable)):
        raise InputError(
            f"context is {type(context).__name__}; it must be texts and Messages, or one of them"
        )
    texts, ids = [], []
    for number, item in enumerate([context] if isinstance(context, (str, Message)) else context):
        if isinstance(item, str):
            texts.append(_native.encode(item, f"context {number}"))
            if len(texts[-1]) > _LONGEST:
                raise InputError(f"context {number} has {len(texts[-1]):,} bytes; most is 16 MiB")
        elif not isinstance(item, Message):
            raise InputError(
                f"context {number} is {type(item).__name__}; it must be a text or a Message"
            )
        elif not isinstance(item.id, int) or not -(2**63) <= item.id < 2**63:
            raise InputError(f"context {number} has the id {item.id!r}; no message has")
        else:
            ids.append(item.id)
    return texts, ids
