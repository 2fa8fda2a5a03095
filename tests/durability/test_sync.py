"""Full durability syncs before each acknowledgement, once for all that wait; normal never does."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

# Counts what the process asks the kernel to sync, between the C library and SQLite.
COUNTER = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
static _Atomic int syncs;
int sync_count(void) { return syncs; }
int fsync(int file) { syncs++; return (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { syncs++; return (int)syscall(SYS_fdatasync, file); }
"""

TOGETHER = """
import ctypes, sys, threading, cortext
count = ctypes.CDLL(None).sync_count
threads, each = int(sys.argv[2]), int(sys.argv[3])
with cortext.open(sys.argv[1]) as mem:
    mem.ingest("the first message creates the log")
    mem.flush()
    barrier = threading.Barrier(threads + 1)
    def work(number):
        barrier.wait()
        for i in range(each):
            mem.ingest(f"thread {number} message {i}")
    workers = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    for worker in workers:
        worker.start()
    start = count()
    barrier.wait()
    for worker in workers:
        worker.join()
    print(count() - start, mem.stats().messages - 1)
"""

INGEST = """
import ctypes, sys, cortext
count = ctypes.CDLL(None).sync_count
with cortext.open(sys.argv[1], durability=sys.argv[2]) as mem:
    mem.ingest("the first message creates the log")
    mem.flush()
    each = []
    for i in range(30):
        before = count()
        mem.ingest(f"message {i}")
        each.append(count() - before)
    print(*each)
"""


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counter")
    source, library = folder / "counter.c", folder / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-std=c11", "-shared", "-fPIC", source, "-o", library], check=True)
    return library


def run(counter: Path, script: str, *arguments: object) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "LD_PRELOAD": str(counter)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


def test_full_syncs_before_every_acknowledgement(counter: Path, path: Path) -> None:
    each = run(counter, INGEST, path, "full")
    assert min(each) >= 1
    assert statistics.median(each) == 1, "a caller that is alone pays for one"


def test_normal_does_not(counter: Path, path: Path) -> None:
    each = run(counter, INGEST, path, "normal")
    assert min(each) == 0
    assert sum(each) < 10


def test_callers_at_the_same_time_share_syncs(counter: Path, path: Path) -> None:
    synced, stored = run(counter, TOGETHER, path, 8, 50)
    assert stored == 400
    assert 400 / 8 <= synced <= 400 / 2
