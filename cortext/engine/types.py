"""What goes into the engine and what comes out: plain, frozen data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = [
    "Active",
    "Hit",
    "Message",
    "NewMessage",
    "Recall",
    "StageScores",
    "Standing",
    "Stats",
    "Timings",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message to ingest.

    text: what was said; UTF-8 encodable, with at least one character that is neither white
        space nor zero-width space, no NUL, at most 16 MiB as UTF-8.
    role: who said it, such as "user", "assistant", "tool", or a person's name.
    session: the conversation it belongs to.
    time: when it was said, an aware datetime or milliseconds since 1970 UTC; default: now.
    source: where it came from, such as a file or a channel.
    metadata: any JSON object, at most 50 deep; returned as it was given, tuples as lists.
    uid: the caller's own id; ingesting the same uid again is idempotent.
    """

    text: str
    role: str = "user"
    session: str = "default"
    time: datetime | int | None = None
    source: str | None = None
    metadata: Mapping[str, Any] | None = None
    uid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A stored message.  `time` is UTC with millisecond resolution."""

    id: int
    text: str
    role: str
    session: str
    time: datetime
    source: str | None = None
    metadata: Mapping[str, Any] | None = None
    uid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageScores:
    """What each stage says of a hit; None where it says nothing.

    dense: cosine of query and best chunk, -1 to 1.
    lexical: BM25 of the message for the query's words, higher is better.
    late: how well the query's tokens are matched in the best passage of the message, weighted by
        their rarity, about 0 to 1 (late interaction; Khattab and Zaharia, SIGIR 2020).
    context: the same, but what stands around the passage may match too, discounted by distance.
    speaker: 1 when the query names who said it, else 0.
    date: 1 when it is from a time that the query names, less with distance.
    question: the share of the text that only asks, 0 to 1; it counts against a hit.
    """

    dense: float | None
    lexical: float | None
    late: float | None
    context: float | None
    speaker: float
    date: float
    question: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Message):
    """A recalled message.

    score: orders hits within one recall, highest first, 0 to 1; the best of all that it stands for.
    scores: of the stages, when they were asked for.
    duplicates: ids of the messages that say the same and are left out for this one, the newest.
    before, after: the message right before or behind it in its session, where it is needed to read
        the hit: the question that it answers, or the answer to it.  At most one; usually none.
    excerpt: None, or where `text`, which is cut then, stands in the text of the message: from the
        first character, counted from 0, up to but not including the second.
    supersedes, superseded_by: ids of messages whose value it replaces, and of newer ones that
        replace its own, as found among the leading candidates of this recall or, of all that the
        filters pass, by `Engine.consolidate`; they need not be among its hits.
    """

    score: float
    scores: StageScores | None = None
    duplicates: tuple[int, ...] = ()
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()
    excerpt: tuple[int, int] | None = None
    supersedes: tuple[int, ...] = ()
    superseded_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Message):
    """A message with a directive that stands: something that the user wants from now on.

    span: where in `text` the sentence that says it begins and ends.
    relevance: cosine of query and sentence where it is about the query, else 0.
    is_hit: whether the message is among the hits too.
    """

    span: tuple[int, int]
    relevance: float
    is_hit: bool

    @property
    def directive(self) -> str:
        """The sentence."""
        return self.text[self.span[0] : self.span[1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Active(Message):
    """A message that is active in a session.

    activation: 0 to 1; it rises each time a recall or a gate of the session brings the message up
        and fades by three tenths with each recall.
    """

    activation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Milliseconds spent in each part of one recall.

    wait: for the embedding backlog.  encode: the query.  dense: vector scan.
    lexical: full-text search; in a large store it runs beside encode, and this is what it took
        longer.  late: late interaction and all else that describes a candidate.
    fetch: reading the messages, and the standing directives.  total: all of it.
    """

    wait: float
    encode: float
    dense: float
    lexical: float
    late: float
    fetch: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The answer to one recall.  Iterates over its hits.

    hits: best first; they end where the evidence ends, so there may be fewer than `limit`.
    confidence: 0 to 1, how likely it is that something in the store answers the query.
    pending: messages not embedded yet, so findable by their words only; 0 normally.
    timings: where the time went.
    standing: directives in force, those that are about the query first, then the newest.  A list of
        its own: it takes no place from the hits.
    working: what is active in the session that asked, most active first, the hits of this recall
        included; at most 8.  Empty when no session was named.
    """

    hits: tuple[Hit, ...]
    confidence: float
    pending: int
    timings: Timings
    standing: tuple[Standing, ...] = ()
    working: tuple[Active, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A snapshot of the store.

    Bytes are as on disk now, `codes_bytes` those of the file of codes beside the store, which is
    derived; `index_bytes` is memory.  `restoring` counts messages whose codes were lost with that
    file and are being made again.

    index: what recalls without a filter are answered by, "exact" or "hnsw".
    index_built: chunks that hnswlib's graph holds; those behind it are looked at one by one.
    index_error: why it last failed to answer, to be built or to be written; the engine did without.
    """

    path: str
    messages: int
    sessions: int
    chunks: int
    pending: int
    restoring: int
    file_bytes: int
    wal_bytes: int
    codes_bytes: int
    index_bytes: int
    model: str
    dimension: int
    durability: str
    schema_version: int
    sqlite_version: str
    simd: str
    encoder: str
    last_error: str | None = field(default=None)
    index: str = "exact"
    index_built: int = 0
    index_error: str | None = None
