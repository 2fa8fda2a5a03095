"""What consolidation reports, and what can be asked for then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cortext.engine.types import Message

__all__ = ["Digest", "DigestSentence", "Episode", "Related", "Relation", "Report", "State"]

Relation = Literal["duplicate", "supersedes", "superseded_by", "episode", "similar"]
State = Literal["none", "recommended", "required"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one call of `Engine.consolidate` has done.

    messages: looked at, each once in the life of a store.
    duplicates: of them, those that say word for word what an earlier one said.
    supersessions: pairs of a value and the newer one that replaces it.
    episodes: runs of a session's messages that began.
    sentences: chosen for digests, again for an episode that goes on.
    merges: steps of merging the full-text index.
    directives: standing ones in force in the whole store; embedding finds them.
    remaining: messages that are left, those that are not embedded yet among them.
    complete: nothing is left.
    anew: what was there did not fit together, by damage to the file or by other hands, and was
        dropped: the numbers are of all messages.
    elapsed_ms: of the call.  spent_ms: by part, "reading and writing", "duplicates",
        "supersession", "episodes", "digests" and "full-text index".
    """

    messages: int
    duplicates: int
    supersessions: int
    episodes: int
    sentences: int
    merges: int
    directives: int
    remaining: int
    complete: bool
    anew: bool
    elapsed_ms: float
    spent_ms: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A run of messages of one session that belong together.

    id: of its first message, and its own.  last_id: of its last one; those of other sessions
        between them are not of it.  start, end: the earliest and the latest time in it.
    headline: the sentence of it that says most; None until its digest is made.
    """

    id: int
    session: str
    last_id: int
    messages: int
    start: datetime
    end: datetime
    headline: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestSentence:
    """A sentence of a stored message that stands for its episode.

    text: the sentence.  message: which says it.  span: where in the text of that, in characters,
        the end excluded.  episode: the id of its episode.
    """

    text: str
    message: Message
    span: tuple[int, int]
    episode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """Sentences in the order of their messages.  Iterates over them.

    tokens: what they cost together, as the store's model counts.
    episodes: those that have a sentence here, of `episodes_total` that were considered.
    """

    sentences: tuple[DigestSentence, ...]
    tokens: int
    episodes: int
    episodes_total: int

    def __iter__(self) -> Iterator[DigestSentence]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A message that has to do with another one.

    relation: what it is to that: "duplicate" says the same; "supersedes": the other replaces this
        one's value; "superseded_by": this one's value replaces the other's; "episode": of the same
        one, the nearest; "similar": means much the same.
    score: of "similar" the cosine of the stored vectors, else 1.
    """

    message: Message
    relation: Relation
    score: float
