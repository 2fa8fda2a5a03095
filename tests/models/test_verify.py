"""Verification finds every changed byte, and its cache never hides one."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from cortext.errors import ModelError
from cortext.models import verify as module
from cortext.models.verify import file_sha256, verify


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CORTEXT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "verified.json"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(100_000))
    return path


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read in full."""
    seen: list[Path] = []
    real = module._hash

    def spy(path: Path) -> str:
        seen.append(path)
        return real(path)

    monkeypatch.setattr(module, "_hash", spy)
    return seen


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_right_file_is_read_once(cache: Path, file: Path, hashed: list[Path]) -> None:
    for _ in range(3):
        verify(file, sha(file).upper())
    assert file_sha256(file) == sha(file)
    assert hashed == [file]
    assert list(json.loads(cache.read_text())) == [str(file.resolve())]
    assert [path.name for path in cache.parent.iterdir()] == ["verified.json"]


def test_wrong_file_is_named(cache: Path, file: Path) -> None:
    expected = "0" * 64
    with pytest.raises(ModelError) as caught:
        verify(file, expected)
    message = str(caught.value)
    for part in (str(file), expected, sha(file), "cortext model get"):
        assert part in message


@pytest.mark.parametrize("damage", ["cut", "longer", "flipped", "same size and time"])
def test_a_later_change_is_found(cache: Path, file: Path, damage: str) -> None:
    expected = sha(file)
    verify(file, expected)
    before = file.stat()
    data = bytearray(file.read_bytes())
    if damage == "cut":
        data = data[:-1]
    elif damage == "longer":
        data += b"\0"
    else:
        data[50_000] ^= 1
    file.write_bytes(data)
    if damage == "same size and time":
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ModelError):
        verify(file, expected)


def test_wrong_memory_does_not_condemn_a_right_file(cache: Path, file: Path) -> None:
    verify(file, sha(file))
    entries = json.loads(cache.read_text())
    for entry in entries.values():
        entry[3] = "0" * 64
    cache.write_text(json.dumps(entries))
    verify(file, sha(file))


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"%s": 3}', '{"%s": [1,2,3,4]}', "[" * 9999]
)
def test_damaged_cache_is_ignored(cache: Path, file: Path, content: str) -> None:
    cache.parent.mkdir()
    cache.write_text(content.replace("%s", str(file.resolve())))
    verify(file, sha(file))
    verify(file, sha(file))


def test_unwritable_cache_is_fine(
    tmp_path: Path, file: Path, hashed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the directory should be")
    monkeypatch.setenv("CORTEXT_CACHE_DIR", str(blocked))
    for _ in range(2):
        verify(file, sha(file))
    assert len(hashed) == 2


def test_cache_does_not_grow_without_end(cache: Path, tmp_path: Path) -> None:
    for number in range(80):
        path = tmp_path / f"{number}.gguf"
        path.write_bytes(bytes([number]))
        file_sha256(path)
    entries = json.loads(cache.read_text())
    assert len(entries) == 64
    assert str((tmp_path / "79.gguf").resolve()) in entries


def test_unreadable(cache: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "absent.gguf", tmp_path):
        with pytest.raises(ModelError, match="cannot read"):
            verify(path, "0" * 64)
