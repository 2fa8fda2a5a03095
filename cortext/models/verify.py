"""Whether a file is the one that was meant: SHA-256, remembered until the file changes.

Hashing 25 MB takes about 20 ms and larger models much more, so results are kept in a small file of
the user's cache directory.  An entry holds only while size, modification and change time are as
they were.  A cache that cannot be read or written costs time, never an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from cortext.errors import ModelError

__all__ = ["file_sha256", "replace_file", "verify", "write_json"]

_ENTRIES = 64
_BLOCK = 1 << 20


def _cache_file() -> Path:
    folder = os.environ.get("CORTEXT_CACHE_DIR")
    return (Path(folder) if folder else user_cache_path("cortext")) / "verified.json"


def _load() -> dict[str, Any]:
    try:
        cache = json.loads(_cache_file().read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cache if isinstance(cache, dict) else {}


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that readers see the old one or the new one.

    Raises: OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_json(path: Path, value: object) -> None:
    """Replace a JSON file in one step.

    Raises: OSError.
    """
    replace_file(path, json.dumps(value, indent=1, sort_keys=True).encode())


def _state(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _remember(key: str, state: list[int], found: str) -> None:
    cache = _load()
    cache.pop(key, None)
    kept = list(cache.items())[-(_ENTRIES - 1) :]
    with contextlib.suppress(OSError, ValueError, RecursionError):
        write_json(_cache_file(), {**dict(kept), key: [*state, found]})


def _remembered(key: str, state: list[int]) -> str | None:
    entry = _load().get(key)
    if isinstance(entry, list) and len(entry) == 4 and entry[:3] == state:
        found = entry[3]
        return found if isinstance(found, str) else None
    return None


def file_sha256(path: Path, *, fresh: bool = False) -> str:
    """Return a file's SHA-256 in lower-case hex.

    fresh: read the file, whatever is remembered.

    Raises: ModelError when it cannot be read.
    """
    try:
        key = str(path.resolve())
        state = _state(path)
        found = None if fresh else _remembered(key, state)
        if found is None:
            found = _hash(path)
            if _state(path) == state:  # otherwise it is being written to right now
                _remember(key, state, found)
    except OSError as error:
        raise ModelError(f"cannot read the model file {path}: {error.strerror or error}") from error
    return found


def verify(path: Path, sha256: str) -> None:
    """Check that a model file is the expected one.

    Raises: ModelError, naming the file, what was expected and what was found, when the content is
    another (also when the file is cut) or cannot be read.
    """
    expected = sha256.lower()
    if file_sha256(path) == expected:
        return
    found = file_sha256(path, fresh=True)
    if found != expected:
        raise ModelError(
            f"the model file {path} is damaged or another one: its sha256 is {found}, expected "
            f"{expected}; install Cortext again if the model came with it, otherwise delete the "
            "file and fetch it again with `cortext model get`"
        )
