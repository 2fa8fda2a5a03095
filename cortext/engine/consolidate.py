"""Consolidation, and what can be asked for then."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
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

__all__ = ["Consolidating"]

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
_NO_BUDGET = 2**31 - 1

# Ids that are looked up at once.
_GET = 1000


class Consolidating:
    """An engine as who sums up sees it."""

    _handle: _native.EngineHandle

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
        No model runs, and none is waited for: call `flush` before to have all of a backlog.  What a
        call does not come to, the next one does; where it is broken off, by an exception or a
        crash, nothing is lost or done twice.  Others may ingest and recall; who consolidates at the
        same time shares the work.

        budget_ms: stop after about so long, some milliseconds more at most, or 50 beside another
            call of this engine; None: when all is done that is embedded.
        progress: called about twenty times a second with (done, total) messages.

        Raises: InputError, StoreError and its kinds.
        """
        budget = convert.to_duration(budget_ms, "budget_ms", unit="milliseconds")
        if not budget:
            raise InputError("budget_ms is 0; it must be milliseconds above 0, or None")
        convert.check_progress(progress)
        begun = clock.perf_counter()
        total = self._handle.consolidation()[0]
        report = _native.new_report()
        while True:
            left = budget - (clock.perf_counter() - begun) * 1000
            self._handle.consolidate(int(max(0, min(_SLICE_MS, left))), report)
            waiting, pending, directives = self._handle.consolidation()
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
            remaining=waiting + pending,
            complete=row.complete and not pending,
            anew=row.anew,
            elapsed_ms=(clock.perf_counter() - begun) * 1000,
            spent_ms=dict(zip(_PARTS, (ns / 1e6 for ns in row.spent_ns), strict=True)),
        )

    @property
    def state(self) -> State:
        """Whether `consolidate` is worth calling, by how many embedded messages it has not seen.

        "recommended" from 64 on, "required" from 10,000 on, where it takes seconds and recalls
        get slower without it.
        """
        waiting, _, _ = self._handle.consolidation()
        if waiting < _RECOMMENDED:
            return "none"
        return "recommended" if waiting < _REQUIRED else "required"

    def episodes(
        self,
        session: str | Sequence[str] | None = None,
        *,
        since: datetime | int | None = None,
        until: datetime | int | None = None,
        limit: int = 100,
        after: int = 0,
    ) -> list[Episode]:
        """Episodes in the order in which they began, as far as the store is consolidated.

        session, since, until: those of these sessions with a time in this span.  limit: 1 to
        10,000.  after: only ids greater than this, to read on page by page.
        """
        rows = self._handle.episodes(
            sessions=convert.to_names(session, "session"),
            since_ms=convert.to_optional_milliseconds(since, "since"),
            until_ms=convert.to_optional_milliseconds(until, "until"),
            after=convert.to_int(after, "after", "of an id", bits=64),
            newest=False,
            limit=convert.to_range(limit, "limit", 10_000),
        )
        firsts = self._messages([row.first_id for row in rows])
        sentences = {id: self._handle.digest(id, 1) for id in firsts}
        tellers = self._messages([s.message_id for found in sentences.values() for s in found])
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

    def digest(
        self, session: str | Sequence[str] | None = None, *, budget_tokens: int = 500
    ) -> Digest:
        """What was talked about, in sentences of the messages themselves.

        Of the newest 1,000 episodes of these sessions, of all by default: first the sentence that
        stands for each, the newest episodes first, then the second ones, as far as the budget
        goes.  They are as old as the last `consolidate`.

        budget_tokens: most tokens of all sentences, as the store's model counts; see `recall`.
        """
        budget = convert.to_budget(budget_tokens, "budget_tokens") or _NO_BUDGET
        rows = self._handle.episodes(
            sessions=convert.to_names(session, "session"),
            since_ms=None,
            until_ms=None,
            after=0,
            newest=True,
            limit=_DIGEST_EPISODES,
        )
        found = {row.first_id: self._handle.digest(row.first_id, _DIGEST_SENTENCES) for row in rows}
        chosen = _choose(found, budget)
        messages = self._messages([sentence.message_id for _, sentence in chosen])
        sentences = [
            _to_sentence(messages[sentence.message_id], sentence, episode)
            for episode, sentence in chosen
            if sentence.message_id in messages
        ]
        return Digest(
            sentences=tuple(sentences),
            tokens=sum(sentence.tokens for _, sentence in chosen),
            episodes=len({episode for episode, _ in chosen}),
            episodes_total=len(rows),
        )

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
        rows = self._handle.related(
            convert.to_int(id, "id", "of 64 bits", bits=64),
            sessions=convert.to_names(session, "session"),
            roles=convert.to_names(roles, "roles"),
            limit=convert.to_range(limit, "limit", 1000),
        )
        messages = self._messages([row.message_id for row in rows])
        return [
            Related(
                message=messages[row.message_id],
                relation=cast(Relation, row.relation),
                score=row.score,
            )
            for row in rows
            if row.message_id in messages
        ]

    def _messages(self, ids: Sequence[int]) -> dict[int, Message]:
        unique = list(dict.fromkeys(ids))
        found: dict[int, Message] = {}
        for at in range(0, len(unique), _GET):
            rows = self._handle.get_present(unique[at : at + _GET])
            found |= {row.id: convert.to_message(row) for row in rows}
        return found


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


def _choose(
    found: Mapping[int, Sequence[_native.SentenceRow]], budget: int
) -> list[tuple[int, _native.SentenceRow]]:
    """Sentences with their episodes: the first of every episode, then the second ones.

    found: of episodes, those that go first in front.  What does not fit is passed over.
    Returns: in the order in which they were said.
    """
    chosen: list[tuple[int, _native.SentenceRow]] = []
    for rank in range(_DIGEST_SENTENCES):
        for episode, sentences in found.items():
            for sentence in sentences[rank : rank + 1]:
                if sentence.tokens <= budget:
                    budget -= sentence.tokens
                    chosen.append((episode, sentence))
    return sorted(chosen, key=lambda pair: (pair[1].message_id, pair[1].start))


def _to_sentence(message: Message, sentence: _native.SentenceRow, episode: int) -> DigestSentence:
    text, span = _cut(message, sentence)
    return DigestSentence(text=text, message=message, span=span, episode=episode)


def _cut(message: Message, sentence: _native.SentenceRow) -> tuple[str, tuple[int, int]]:
    data = message.text.encode()
    before = data[: sentence.start].decode(errors="replace")
    text = data[sentence.start : sentence.start + sentence.size].decode(errors="replace")
    return text, (len(before), len(before) + len(text))
