"""Every error Cortext raises, under one base class.

Each class documents when it is raised.  `cortext._native` maps the C core's status codes onto
these classes; nothing else translates errors.
"""

from __future__ import annotations

__all__ = [
    "ClosedError",
    "ConflictError",
    "CortextError",
    "ForkedError",
    "InputError",
    "InternalError",
    "ModelError",
    "ModelMismatchError",
    "NotFoundError",
    "StoreBusyError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreVersionError",
]


class CortextError(Exception):
    """Base class of every error that Cortext raises on purpose."""


class InputError(CortextError, ValueError):
    """An argument is not acceptable; nothing was changed.

    Raised for empty text, text with NUL characters or lone surrogates, text over the size limit,
    naive datetimes, unknown field names, values out of range.
    """


class ConflictError(CortextError):
    """A message with this `uid` exists and says something else; nothing was changed."""


class NotFoundError(CortextError, KeyError):
    """No message has this id."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ClosedError(CortextError):
    """The engine or model was closed before this call."""


class ForkedError(CortextError):
    """The engine was opened in the parent of this process; open it again after the fork."""


class ModelError(CortextError):
    """The embedding model is missing, damaged, unsupported, or failed to run."""


class ModelMismatchError(ModelError):
    """The store was written with another embedding model than the one it is opened with."""


class StoreError(CortextError):
    """The store could not be read or written (permissions, I/O)."""


class StoreBusyError(StoreError):
    """Another process held the store's write lock for longer than the documented wait."""


class StoreFullError(StoreError):
    """The disk is full; the call changed nothing and works again when there is space."""


class StoreCorruptError(StoreError):
    """The file is damaged, or is not a Cortext store."""


class StoreVersionError(StoreError):
    """The store was written by a newer Cortext; upgrade the package to open it."""


class InternalError(CortextError, RuntimeError):
    """A bug in Cortext or not enough memory; the message says which."""
