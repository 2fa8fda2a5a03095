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
        setup: Callable[[], Any] | None = None,
        args: tuple[Any, ...] = (),
        rounds: int,
        iterations: int = 1,
        warmup_rounds: int = 0,
    ) -> Any:
        """Run `target` with what `setup` returns, or else `args`; give its last result.

        That is done `rounds` times, and `iterations` times in each where there is no `setup`.
        """
