"""Finding the times that a query names: what it costs those that name none, and those that do."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone

import pytest
from support.timer import Timer

from cortext.dates import find_anchors, find_spans

REFERENCE = datetime(2023, 6, 14, 15, 30, tzinfo=timezone.utc)
QUERIES = {
    "no date": "what is my garage code and where do I keep the spare key?",
    "no date, 2,000 characters": "what is my garage code and where do I keep it? " * 43,
    "one": "what did I buy last Tuesday?",
    "two": "did we travel between March and May 2021, or at the end of last year?",
    "2,000 characters of them": "and what did we do last Tuesday or in May 2021? " * 42,
}
# Of a process that has cortext: the import, the first text with a date, the next one.
COLD = """
import time
import cortext
from datetime import datetime, timezone
now = datetime.now(timezone.utc)
times = [time.perf_counter()]
from cortext.dates import find_spans
times.append(time.perf_counter())
for _ in range(2):
    find_spans("what did I buy last Tuesday?", now)
    times.append(time.perf_counter())
print(*(1000 * (b - a) for a, b in zip(times, times[1:])))
"""


@pytest.mark.parametrize("name", QUERIES)
def test_find_spans(benchmark: Timer, name: str) -> None:
    benchmark.pedantic(
        find_spans, args=(QUERIES[name], REFERENCE), rounds=500, iterations=10, warmup_rounds=5
    )


@pytest.mark.parametrize("text", [QUERIES["no date"], "what did I buy after my trip to Rome?"])
def test_find_anchors(benchmark: Timer, text: str) -> None:
    benchmark.pedantic(find_anchors, args=(text,), rounds=500, iterations=10, warmup_rounds=5)


def test_first_use(notes: list[str]) -> None:
    runs = [
        subprocess.run([sys.executable, "-c", COLD], check=True, capture_output=True, text=True)
        for _ in range(5)
    ]
    columns = zip(*(map(float, run.stdout.split()) for run in runs), strict=True)
    imported, first, next_one = (sorted(column)[2] for column in columns)
    notes.append(
        f"cortext.dates, median of 5 processes: import {imported:.1f} ms, first text with a date"
        f" {first:.1f} ms, the next one {next_one:.2f} ms"
    )
