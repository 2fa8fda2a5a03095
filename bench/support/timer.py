"""The part of pytest-benchmark's fixture that the micro benches use, with types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Timer"]


class Timer(Protocol):
    """Times a function for a number of rounds, each with arguments of its own."""

    def pedantic(
        self,
        target: Callable[..., Any],
        *,
        setup: Callable[[], Any],
        rounds: int,
        warmup_rounds: int = 0,
    ) -> Any:
        """Run `target` with what `setup` returns, `rounds` times; give its last result."""
