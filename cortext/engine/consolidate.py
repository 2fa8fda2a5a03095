"""Consolidation: what the engine's methods of that name do."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import cast

from cortext import _native
from cortext.engine import convert
from cortext.engine.consolidation_types import (
    Digest,
    DigestSentence,
    Episode,
    Related,
    Relation,
    Report,
    State,
)
from cortext.engine.types import Message
from cortext.errors import InputError, StoreCorruptError

__all__ = ["consolidate", "digest", "episodes", "related", "state"]

# A call comes back to Python this often, so that Ctrl-C and progress work.
_SLICE_MS = 50

# From so many messages on a call is worth it: a digest stands for about a dozen.
_RECOMMENDED = 64
# Of so many a call takes seconds, and segments of the full-text index slow recalls down.
_REQUIRED = 10_000

_PARTS = (
    "reading and writing",
    "duplicates",
    "supersession",
    "episodes",
    "digests",
    "full-text index",
)

# Episodes that a digest considers, the newest, and sentences of each.
_DIGEST_EPISODES = 1000
_DIGEST_SENTENCES = 6

# Ids that are looked up at once.
_GET = 1000


def consolidate(
    handle: _native.EngineHandle,
    budget_ms: float | None,
    progress: Callable[[int, int], None] | None,
) -> Report:
    """As `Engine.consolidate`."""
    budget = convert.to_duration(budget_ms, "budget_ms", unit="milliseconds")
    if not budget:
        raise InputError("budget_ms is 0; it must be milliseconds above 0, or None")
    begun = clock.perf_counter()
    total = handle.consolidation()[0]
    report = _native.new_report()
    while True:
        left = budget - (clock.perf_counter() - begun) * 1000
        handle.consolidate(int(max(0, min(_SLICE_MS, left))), report)
        waiting, directives = handle.consolidation()
        if progress is not None and total:
            progress(max(total - waiting, 0), total)
        if report.complete or left <= _SLICE_MS:
            break
    row = _native.take_report(report)
    return Report(
        messages=row.messages,
        duplicates=row.duplicates,
        supersessions=row.replaced,
        episodes=row.episodes,
        sentences=row.sentences,
        merges=row.merged,
        directives=directives,
        remaining=waiting,
        complete=row.complete,
        anew=row.anew,
        elapsed_ms=(clock.perf_counter() - begun) * 1000,
        spent_ms=dict(zip(_PARTS, (ns / 1e6 for ns in row.spent_ns), strict=True)),
    )


def state(handle: _native.EngineHandle) -> State:
    """As `Engine.state`."""
    waiting, _ = handle.consolidation()
    if waiting < _RECOMMENDED:
        return "none"
    return "recommended" if waiting < _REQUIRED else "required"


def episodes(
    handle: _native.EngineHandle,
    *,
    session: str | Sequence[str] | None,
    since: datetime | int | None,
    until: datetime | int | None,
    limit: int,
    after: int,
) -> list[Episode]:
    """As `Engine.episodes`."""
    rows = handle.episodes(
        sessions=convert.to_names(session, "session"),
        since_ms=convert.to_optional_milliseconds(since, "since"),
        until_ms=convert.to_optional_milliseconds(until, "until"),
        after=after,
        newest=False,
        limit=limit,
    )
    firsts = _messages(handle, [row.first_id for row in rows])
    sentences = {id: handle.digest(id, 1) for id in firsts}
    tellers = _messages(handle, [s.message_id for found in sentences.values() for s in found])
    headlines = {
        id: _cut(tellers[s.message_id], s)[0]
        for id, found in sentences.items()
        for s in found
        if s.message_id in tellers
    }
    return [
        _to_episode(row, firsts[row.first_id], headlines.get(row.first_id))
        for row in rows
        if row.first_id in firsts
    ]


def _to_episode(row: _native.EpisodeRow, first: Message, headline: str | None) -> Episode:
    try:
        start, end = map(convert.from_milliseconds, (row.start_ms, row.end_ms))
    except OverflowError as error:
        raise StoreCorruptError(f"the store is damaged: episode {row.first_id}: {error}") from None
    return Episode(
        id=row.first_id,
        session=first.session,
        last_id=row.last_id,
        messages=row.messages,
        start=start,
        end=end,
        headline=headline,
    )


def digest(
    handle: _native.EngineHandle, session: str | Sequence[str] | None, budget_tokens: int
) -> Digest:
    """As `Engine.digest`."""
    rows = handle.episodes(
        sessions=convert.to_names(session, "session"),
        since_ms=None,
        until_ms=None,
        after=0,
        newest=True,
        limit=_DIGEST_EPISODES,
    )
    found = {row.first_id: handle.digest(row.first_id, _DIGEST_SENTENCES) for row in rows}
    chosen: list[tuple[int, _native.SentenceRow]] = []
    left = budget_tokens
    # The first sentence of every episode, the newest first, then the second ones.
    for rank in range(_DIGEST_SENTENCES):
        for row in rows:
            for sentence in found[row.first_id][rank : rank + 1]:
                if sentence.tokens <= left:
                    left -= sentence.tokens
                    chosen.append((row.first_id, sentence))
    messages = _messages(handle, [sentence.message_id for _, sentence in chosen])
    sentences = []
    for episode, sentence in sorted(chosen, key=lambda pair: (pair[1].message_id, pair[1].start)):
        if sentence.message_id in messages:
            text, span = _cut(messages[sentence.message_id], sentence)
            sentences.append(
                DigestSentence(
                    text=text, message=messages[sentence.message_id], span=span, episode=episode
                )
            )
    return Digest(
        sentences=tuple(sentences),
        tokens=budget_tokens - left,
        episodes=len({episode for episode, _ in chosen}),
        episodes_total=len(rows),
    )


def related(
    handle: _native.EngineHandle,
    id: int,
    *,
    limit: int,
    session: str | Sequence[str] | None,
    roles: str | Sequence[str] | None,
) -> list[Related]:
    """As `Engine.related`."""
    rows = handle.related(
        id,
        sessions=convert.to_names(session, "session"),
        roles=convert.to_names(roles, "roles"),
        limit=limit,
    )
    messages = _messages(handle, [row.message_id for row in rows])
    return [
        Related(
            message=messages[row.message_id],
            relation=cast(Relation, row.relation),
            score=row.score,
        )
        for row in rows
        if row.message_id in messages
    ]


def _messages(handle: _native.EngineHandle, ids: Sequence[int]) -> dict[int, Message]:
    unique = list(dict.fromkeys(ids))
    found: dict[int, Message] = {}
    for at in range(0, len(unique), _GET):
        rows = handle.get_present(unique[at : at + _GET])
        found |= {row.id: convert.to_message(row) for row in rows}
    return found


def _cut(message: Message, sentence: _native.SentenceRow) -> tuple[str, tuple[int, int]]:
    data = message.text.encode()
    before = data[: sentence.start].decode(errors="replace")
    text = data[sentence.start : sentence.start + sentence.size].decode(errors="replace")
    return text, (len(before), len(before) + len(text))
