"""Status codes of the core to exceptions: one table."""

from __future__ import annotations

from typing import Any

from cortext import errors
from cortext._native._core import ffi, lib

_EXCEPTIONS: dict[int, type[errors.CortextError]] = {
    lib.CT_NOMEM: errors.InternalError,
    lib.CT_INVALID: errors.InputError,
    lib.CT_CONFLICT: errors.ConflictError,
    lib.CT_NOT_FOUND: errors.NotFoundError,
    lib.CT_CLOSED: errors.ClosedError,
    lib.CT_FORKED: errors.ForkedError,
    lib.CT_IO: errors.StoreError,
    lib.CT_BUSY: errors.StoreBusyError,
    lib.CT_FULL: errors.StoreFullError,
    lib.CT_CORRUPT: errors.StoreCorruptError,
    lib.CT_TOO_NEW: errors.StoreVersionError,
    lib.CT_MODEL: errors.ModelError,
    lib.CT_MODEL_MISMATCH: errors.ModelMismatchError,
}


def new_error() -> Any:
    """A zeroed ct_error to pass to one call."""
    return ffi.new("ct_error *")


def check(status: int, error: Any) -> None:
    """Raise what `status` stands for; CT_OK raises nothing."""
    if status == lib.CT_OK:
        return
    message = ffi.string(error.message).decode("utf-8", "replace")
    raise _EXCEPTIONS.get(status, errors.InternalError)(message or f"status {status}")


def encode(text: object, what: str) -> bytes:
    """UTF-8 of a str.  InputError for anything else, lone surrogates included."""
    if not isinstance(text, str):
        raise errors.InputError(f"{what} must be a str, not {type(text).__name__}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise errors.InputError(
            f"{what} holds a lone surrogate, which UTF-8 cannot store"
        ) from None


def encode_name(text: object, what: str) -> bytes:
    """As `encode`, for what C takes as a NUL-terminated string."""
    data = encode(text, what)
    if b"\0" in data:
        raise errors.InputError(f"{what} holds a NUL character")
    return data
