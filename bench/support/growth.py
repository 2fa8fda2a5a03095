"""A store that grows along one stream of messages: seed and size say what is in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import islice

import cortext
from support import text
from support.probes import BATCH
from support.report import Meter, progress
from support.results import Results

__all__ = ["FIRST_TIME", "MINUTE", "SESSION_MESSAGES", "StreamError", "grow", "stream"]

FIRST_TIME = 1_700_000_000_000
MINUTE = 60_000
SESSION_MESSAGES = 200
SPEAKERS = ("user", "assistant")
STEP = 10 * BATCH  # messages between two waits for the embedding: a stopped run loses little

clock = time.perf_counter


class StreamError(Exception):
    """The store holds something other than the beginning of the stream."""


def stream(seed: int, first: int, end: int) -> Iterator[cortext.NewMessage]:
    """Messages `first` to `end` of the stream: speakers in turns, a minute apart."""
    for index, content in enumerate(islice(text.stream(seed=seed), first, end), first):
        yield cortext.NewMessage(
            text=content,
            role=SPEAKERS[index % 2],
            session=f"session {index // SESSION_MESSAGES}",
            time=FIRST_TIME + index * MINUTE,
        )


def grow(engine: cortext.Engine, seed: int, size: int, results: Results, *, cached: bool) -> None:
    """Ingest what is missing of the first `size` messages, and embed it."""
    held = done = engine.stats().messages
    _check(engine, seed, held)
    acknowledging = 0.0
    began = clock()
    with progress(f"growing to {size:,}") as meter:
        _embed(engine, lambda *_: None)  # what an earlier run left
        messages = stream(seed, held, size)
        while batch := list(islice(messages, BATCH)):
            started = clock()
            engine.ingest_many(batch)
            acknowledging += clock() - started
            done += len(batch)
            if done == size or (done - held) % STEP == 0:
                _embed(engine, partial(_advance, meter, done, size))
            meter(done, size)
    if done == held:
        return
    section = f"growth, to {size:,} messages"
    results.figure(section, "ingest_many", (done - held) / acknowledging, "messages/s")
    if not cached:  # of a cache it would say the speed
        results.figure(section, "until embedded", (done - held) / (clock() - began), "messages/s")


def _check(engine: cortext.Engine, seed: int, held: int) -> None:
    """The first message and the last tell another seed and another use of the file."""
    for index in {0, held - 1} if held else ():
        (expected,) = stream(seed, index, index + 1)
        try:
            found = engine.get(index + 1)
        except cortext.NotFoundError:
            found = None
        if found is None or (found.text, found.session) != (expected.text, expected.session):
            raise StreamError(
                f"the kept store does not hold the first {held:,} messages of seed {seed}"
            )


def _advance(meter: Meter, stored: int, size: int, embedded: int, waiting: int) -> None:
    """Of the stored ones, `waiting` were not embedded, and `embedded` of these now are."""
    meter(stored - waiting + embedded, size)


def _embed(engine: cortext.Engine, meter: Meter) -> None:
    if not engine.flush(progress=meter):
        raise RuntimeError(f"not everything was embedded: {engine.stats().last_error}")
