"""The least that makes a message durable: one row, one commit, nothing else."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal

__all__ = ["BareSqlite"]


class BareSqlite:
    """A store of messages in Python's sqlite3 with the engine's columns, log and durability."""

    def __init__(self, path: Path, durability: Literal["full", "normal"]) -> None:
        # Each insert commits; threads take turns by a lock of the caller's.
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(f"PRAGMA synchronous={durability}")
        self._connection.execute(
            "CREATE TABLE message(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL,"
            " session TEXT NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL, source TEXT,"
            " metadata TEXT, uid TEXT)"
        )

    def ingest(self, text: str, *, role: str, session: str, time: int) -> None:
        """Insert one message; it is on disk when this returns."""
        self._connection.execute(
            "INSERT INTO message(time, session, role, text, source, metadata, uid)"
            " VALUES(?, ?, ?, ?, NULL, NULL, NULL)",
            (time, session, role, text),
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
