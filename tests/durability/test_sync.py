"""Full durability syncs before each acknowledgement; normal leaves it to the operating system."""

from __future__ import annotations

import os
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

INGEST = """
import ctypes, sys, cortext
count = ctypes.CDLL(None).sync_count
with cortext.open(sys.argv[1], durability=sys.argv[2]) as mem:
    mem.ingest("the first message creates the log")
    mem.flush()
    fewest = 10**9
    start = count()
    for i in range(30):
        before = count()
        mem.ingest(f"message {i}")
        fewest = min(fewest, count() - before)
    print(fewest, count() - start)
"""


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counter")
    source, library = folder / "counter.c", folder / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-std=c11", "-shared", "-fPIC", source, "-o", library], check=True)
    return library


def syncs(counter: Path, path: Path, durability: str) -> tuple[int, int]:
    done = subprocess.run(
        [sys.executable, "-c", INGEST, path, durability],
        env={**os.environ, "LD_PRELOAD": str(counter)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    fewest, total = map(int, done.stdout.split())
    return fewest, total


def test_full_syncs_before_every_acknowledgement(counter: Path, path: Path) -> None:
    fewest, total = syncs(counter, path, "full")
    assert fewest >= 1
    assert total >= 30


def test_normal_does_not(counter: Path, path: Path) -> None:
    fewest, total = syncs(counter, path, "normal")
    assert fewest == 0
    assert total < 10
