"""What a call of the core is given, kept alive for as long as the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cortext._native._core import ffi
from cortext._native.status import encode, encode_name

OPEN_SINCE, OPEN_UNTIL = -(2**63), 2**63 - 1


class Inputs:
    """C strings of one call and the buffers they live in."""

    def __init__(self) -> None:
        self._keep: list[Any] = []

    def optional_name(self, text: str | None, what: str) -> Any:
        return ffi.NULL if text is None else self.name(text, what)

    def name(self, text: str, what: str) -> Any:
        buffer = ffi.from_buffer("char[]", encode_name(text, what) + b"\0")
        self._keep.append(buffer)
        return buffer

    def text(self, text: str, what: str) -> tuple[Any, int]:
        data = encode(text, what)
        buffer = ffi.from_buffer("char[]", data)
        self._keep.append(buffer)
        return buffer, len(data)

    def names(self, texts: Sequence[str], what: str) -> Any:
        array = ffi.new("const char *[]", [self.name(text, what) for text in texts])
        self._keep.append(array)
        return array

    def fill_filter(
        self,
        target: Any,
        sessions: Sequence[str],
        roles: Sequence[str],
        since_ms: int | None,
        until_ms: int | None,
    ) -> None:
        target.sessions = self.names(sessions, "session")
        target.session_count = len(sessions)
        target.roles = self.names(roles, "role")
        target.role_count = len(roles)
        target.since_ms = OPEN_SINCE if since_ms is None else since_ms
        target.until_ms = OPEN_UNTIL if until_ms is None else until_ms
