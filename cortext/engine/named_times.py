"""The spans of time that a query names, for the core."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

from cortext._native.rows import RecallRows
from cortext.dates import Anchor, find_anchors, find_spans
from cortext.engine.convert import from_milliseconds, to_milliseconds
from cortext.errors import InputError

__all__ = ["named_times"]

# Start and end in milliseconds; where in the query, in bytes, its words are, and how many.
Span = tuple[int, int, int, int]

# An event is taken to be the message that matches it best, if that matches at all.
_EVENT_LEAST = 0.4
_EVENT = timedelta(days=1) // timedelta(milliseconds=1)
# How far "after my trip" reaches: what comes soon after is meant more than what comes much later.
_REACH = 30 * _EVENT


def named_times(
    query: str, reference_ms: int | None, search: Callable[..., RecallRows]
) -> list[Span]:
    """Half-open spans.

    reference_ms: what relative times count from; None for now.
    search: recalls messages under the caller's filter, to find the events that a query names.
    """
    if not isinstance(query, str):
        raise InputError(f"query must be a str, not {type(query).__name__}")
    now = time.time_ns() // 1_000_000 if reference_ms is None else reference_ms
    spans: list[Span] = []
    at = 0
    for span in find_spans(query, from_milliseconds(now)):
        at = query.index(span.text, at)
        place = len(query[:at].encode("utf-8", "replace"))
        at += len(span.text)
        start, end = to_milliseconds(span.start, "start"), to_milliseconds(span.end, "end")
        spans.append((start, end, place, len(span.text.encode("utf-8", "replace"))))
    if spans:
        return spans
    for anchor in find_anchors(query):
        spans += _event(anchor, search)
    return spans


def _event(anchor: Anchor, search: Callable[..., RecallRows]) -> list[Span]:
    stages = {"dense", "lexical", "late", "context"}
    found = search(anchor.text, limit=1, wait_ms=0, stages=stages, dates=())
    if not found.rows or found.rows[0].score < _EVENT_LEAST:
        return []
    at = found.rows[0].time_ms
    if anchor.relation == "after":
        return [(at, at + _REACH, 0, 0)]
    if anchor.relation == "before":
        return [(at - _REACH, at + 1, 0, 0)]
    return [(at - _EVENT, at + _EVENT, 0, 0)]
