"""Feed streams into gates: waiting after each delta for what is decided, or at a model's pace."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import cortext
from support import gates
from support.gates import Decision
from support.probes import steady
from support.streams import Stream, deltas

__all__ = ["Fed", "Timed", "call_nothing", "feed", "feed_paced"]


@dataclass(frozen=True, slots=True)
class Fed:
    """What a gate did about a stream.

    staged: uids of all it staged, `bytes` of their texts.  limit: messages it brings up for one
    segment.
    """

    name: str
    decisions: tuple[Decision, ...]
    staged: frozenset[str]
    bytes: int
    limit: int


@dataclass(slots=True)
class Timed:
    """Times of streams that came at a pace, in milliseconds but for `feed`."""

    feed_us: list[float] = field(default_factory=list)
    delay: list[float] = field(default_factory=list)  # segment end to decision
    encode: list[float] = field(default_factory=list)
    search: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    skipped: int = 0  # segments that were never decided

    @property
    def beyond_encode(self) -> list[float]:
        """The delay without the segment's own encoding."""
        return [delay - encode for delay, encode in zip(self.delay, self.encode, strict=True)]


def feed(
    engine: cortext.Engine, stream: Stream, context: Sequence[str | cortext.Message] = ()
) -> Fed:
    """Feed a stream, and wait after each delta, so that no decision hangs on the clock."""
    events: list[cortext.GateEvent] = []
    with engine.gate(session=stream.name, context=context, every=True) as gate:
        for delta in deltas(stream):
            event = gate.feed(delta.text, channel=delta.channel)
            events += [event] if event is not None else []
            events += gate.wait()
        events += gate.flush()
        limit = gate.limit
    engine.take_staged(stream.name)
    staged = {hit.id: hit for event in events for hit in event.memories}.values()
    return Fed(
        name=stream.name,
        decisions=tuple(gates.decisions(stream, events)),
        staged=frozenset(hit.uid or "" for hit in staged),
        bytes=sum(len(hit.text.encode()) for hit in staged),
        limit=limit,
    )


def feed_paced(
    engine: cortext.Engine,
    stream: Stream,
    timed: Timed,
    *,
    pace: float | None,
    every: bool,
    context: Sequence[str | cortext.Message] = (),
) -> None:
    """Feed a stream with `pace` deltas a second, or one right after the other, and time it.

    every: have an event for each segment and time those, else time the feeding, which is given
    those that stage something.

    Between two deltas this thread sleeps, as one does that waits for a model.
    """
    events: list[cortext.GateEvent] = []
    parts = list(deltas(stream))
    clock, sleep = time.perf_counter_ns, time.sleep
    with engine.gate(session=stream.name, context=context, every=every) as gate, steady():
        due = time.perf_counter()
        for part in parts:
            if pace is not None:
                due += 1 / pace
                sleep(max(0.0, due - time.perf_counter()))
            begin = clock()
            event = gate.feed(part.text, channel=part.channel)
            if not every:
                timed.feed_us.append((clock() - begin) / 1000)
            if event is not None:
                events.append(event)
        events += gate.wait()
        events += gate.flush()
        timed.skipped += gate.skipped
    engine.take_staged(stream.name)
    for event in events if every else ():
        timed.delay.append(event.delay_ms)
        timed.encode.append(event.encode_ms)
        timed.search.append(event.search_ms)
        timed.waited.append(event.waited_ms)


def call_nothing(calls: int, timed: Timed, *, pace: float) -> None:
    """Time a call that does nothing at the same pace: what waking up costs by itself."""
    clock, sleep = time.perf_counter_ns, time.sleep
    with steady():
        due = time.perf_counter()
        for _ in range(calls):
            due += 1 / pace
            sleep(max(0.0, due - time.perf_counter()))
            begin = clock()
            _nothing("delta", channel="text")
            timed.feed_us.append((clock() - begin) / 1000)


def _nothing(_delta: str, *, channel: str) -> None:
    """As `feed` is called."""
    del channel
