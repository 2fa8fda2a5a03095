"""The score on queries that were written before the finder; never a table to tune it by."""

from __future__ import annotations

from cortext.dates import find_anchors, find_spans

from .heldout import ANCHORS, NO_SPANS, SPANS, WEDNESDAY
from .times import expected, intervals, moment

# What the first run scored.  The one miss reads "worried about a month ago" as "about a month".
SPANS_FOUND, NO_SPANS_LEFT_ALONE, ANCHORS_FOUND = 81, 34, 16


def test_times() -> None:
    found = 0
    for query, reference, pairs in SPANS:
        at = moment(reference)
        found += intervals(find_spans(query, at)) == expected(pairs, at)
    assert len(SPANS) == 82
    assert found >= SPANS_FOUND


def test_no_times() -> None:
    reference = moment(WEDNESDAY)
    assert len(NO_SPANS) == 34
    assert sum(not find_spans(query, reference) for query in NO_SPANS) >= NO_SPANS_LEFT_ALONE


def test_events() -> None:
    found = 0
    for query, events in ANCHORS:
        found += [(anchor.relation, anchor.text) for anchor in find_anchors(query)] == events
    assert len(ANCHORS) == 16
    assert found >= ANCHORS_FOUND
