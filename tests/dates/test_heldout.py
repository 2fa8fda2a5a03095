"""The score on queries that were written before the finder; never a table to tune it by."""

from __future__ import annotations
