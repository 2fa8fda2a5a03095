"""What consolidation gives back, as Python values."""

from __future__ import annotations

from typing import Any, NamedTuple

from cortext._native._core import ffi, lib

RELATIONS = {
    lib.CT_RELATION_DUPLICATE: "duplicate",
    lib.CT_RELATION_SUPERSEDES: "supersedes",
    lib.CT_RELATION_SUPERSEDED_BY: "superseded_by",
    lib.CT_RELATION_EPISODE: "episode",
    lib.CT_RELATION_SIMILAR: "similar",
}


class ConsolidationRow(NamedTuple):
    """Numbers of ct_consolidation; its nanoseconds in the order in which they stand there."""

    messages: int
    duplicates: int
    replaced: int
    episodes: int
    sentences: int
    merged: int
    spent_ns: tuple[int, int, int, int, int, int]
    complete: bool
    anew: bool


class EpisodeRow(NamedTuple):
    """A ct_episode."""

    first_id: int
    last_id: int
    messages: int
    start_ms: int
    end_ms: int


class SentenceRow(NamedTuple):
    """A ct_digest_sentence; start and size in bytes."""

    message_id: int
    start: int
    size: int
    score: float
    tokens: int


class RelatedRow(NamedTuple):
    """A ct_related."""

    message_id: int
    relation: str
    score: float


def new_report() -> Any:
    """A zeroed ct_consolidation, to be passed to call after call."""
    return ffi.new("ct_consolidation *")


def take_report(report: Any) -> ConsolidationRow:
    """A filled ct_consolidation."""
    return ConsolidationRow(
        report.messages,
        report.duplicates,
        report.replaced,
        report.episodes,
        report.sentences,
        report.merged,
        (
            report.store_ns,
            report.duplicates_ns,
            report.replaced_ns,
            report.episodes_ns,
            report.digests_ns,
            report.words_ns,
        ),
        bool(report.complete),
        bool(report.anew),
    )


def take_episodes(rows: Any, count: int) -> list[EpisodeRow]:
    """The first ones of an array."""
    return [
        EpisodeRow(
            rows[i].first_id, rows[i].last_id, rows[i].messages, rows[i].start_ms, rows[i].end_ms
        )
        for i in range(count)
    ]


def take_sentences(rows: Any, count: int) -> list[SentenceRow]:
    """The first ones of an array."""
    return [
        SentenceRow(rows[i].message_id, rows[i].start, rows[i].bytes, rows[i].score, rows[i].tokens)
        for i in range(count)
    ]


def take_related(rows: Any, count: int) -> list[RelatedRow]:
    """The first ones of an array."""
    return [
        RelatedRow(rows[i].message_id, RELATIONS[rows[i].relation], rows[i].score)
        for i in range(count)
    ]
