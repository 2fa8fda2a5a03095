"""The token basis: made from what the repository holds, refused unless whole and the model's."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext import ModelError
from cortext.errors import ModelMismatchError
from cortext.models import Model, basis, load, registry

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "models" / "all-MiniLM-L6-v2-Q8_0.basis"
DATA = FILE.read_bytes()
HEADER = 8 + 4 * 4 + 32
SHA256 = "06e5e10d05628467c92a112d2d12eaf95beed9491a88c0f2d656db48b9f7a7ff"


def sealed(body: bytes) -> bytes:
    """Return a file whose checksum fits."""
    return body + hashlib.sha256(body).digest()


def with_number(at: int, kind: str, value: float) -> bytes:
    body = bytearray(DATA[:-32])
    struct.pack_into(kind, body, at, value)
    return sealed(bytes(body))


def test_the_bundled_one(model: Model) -> None:
    (entry,) = json.loads((ROOT / "models" / "manifest.json").read_text(encoding="utf-8"))["models"]
    assert entry["basis"] == FILE.name
    assert entry["basis_sha256"] == hashlib.sha256(DATA).hexdigest()
    found = basis.read(FILE, model_sha256=entry["sha256"], dimension=384)
    assert (found.bits, found.dimension, len(found.prior)) == (192, 384, 30522)
    assert np.allclose(found.rotation @ found.rotation.T, np.eye(192), atol=5e-3)
    assert model.basis is not None
    assert model.basis.sha256 == entry["basis_sha256"]
    assert model.fingerprint == f"all-MiniLM-L6-v2:{SHA256[:16]}:mean:{entry['basis_sha256'][:8]}"


@pytest.mark.slow
def test_a_rebuild_is_the_same() -> None:
    script = ROOT / "models" / "make_basis.py"
    subprocess.run([sys.executable, script, "--check"], check=True)


def test_pack_and_unpack() -> None:
    found = basis.unpack(DATA)
    assert basis.pack(found.model_sha256, found.mean, found.rotation, found.prior) == DATA


DAMAGE: dict[str, Callable[[], bytes]] = {
    "is not a token basis": lambda: b"",
    "is not a token basis ": lambda: b"x" * 5000,
    "has version 2": lambda: with_number(8, "<I", 2),
    "are not possible": lambda: with_number(12, "<I", 0),
    "are not possible ": lambda: with_number(16, "<I", 190),
    "are not possible  ": lambda: with_number(16, "<I", 2**31),
    "are not possible   ": lambda: with_number(20, "<I", 2**32 - 1),
    "its header says": lambda: DATA[:-1],
    "its header says ": lambda: DATA[:1000],
    "its header says  ": lambda: DATA + b"\0",
    "its header says   ": lambda: with_number(12, "<I", 385),
    "checksum": lambda: DATA[:-1] + bytes([DATA[-1] ^ 1]),
    "checksum ": lambda: DATA[:5000] + bytes([DATA[5000] ^ 1]) + DATA[5001:],
    "not finite": lambda: with_number(HEADER, "<f", float("nan")),
    "not finite ": lambda: with_number(HEADER + 4 * 384, "<e", float("inf")),
    "below 0 or above 1": lambda: with_number(len(DATA) - 34, "<e", 1.5),
    "below 0 or above 1 ": lambda: with_number(len(DATA) - 34, "<e", -0.5),
    "belongs to another": lambda: with_number(24, "<B", DATA[24] ^ 1),
}


@pytest.mark.parametrize("why", DAMAGE)
def test_refused(tmp_path: Path, why: str) -> None:
    path = tmp_path / "model.basis"
    path.write_bytes(DAMAGE[why]())
    with pytest.raises(ModelError, match=why.strip()) as caught:
        basis.read(path, model_sha256=SHA256, dimension=384)
    assert str(path) in str(caught.value)
    assert "cortext model basis" in str(caught.value)


def test_refused_for_another_dimension_or_model() -> None:
    for sha256, dimension in ((SHA256, 383), ("00" * 32, 384), (None, 384)):
        with pytest.raises(ModelError, match="another model"):
            basis.read(FILE, model_sha256=sha256, dimension=dimension)


def test_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.basis"):
        with pytest.raises(ModelError, match="cannot read"):
            basis.read(path, model_sha256=SHA256, dimension=384)


@given(junk=st.binary(max_size=200), at=st.integers(0, len(DATA) - 1), seal=st.booleans())
@settings(deadline=None, max_examples=200)
def test_any_bytes(junk: bytes, at: int, *, seal: bool) -> None:
    data = DATA[:at] + junk + DATA[at + len(junk) :]
    if seal:
        data = sealed(data[:-32])
    try:
        found = basis.unpack(data)
    except ModelError:
        return
    assert np.isfinite(found.rotation).all()
    assert found.mean.shape == (found.dimension,)


# ---- which one a model gets -----------------------------------------------------------------


def beside(tmp_path: Path, model: Model, content: bytes | None) -> Path:
    """A copy of the bundled model in another folder, with a basis file of this content."""
    path = tmp_path / "copy.gguf"
    shutil.copyfile(model.path, path)
    if content is not None:
        path.with_suffix(".basis").write_bytes(content)
    return path


def test_a_copy_of_the_bundled_model_has_its_basis(tmp_path: Path, model: Model) -> None:
    copy = load(beside(tmp_path, model, None))
    assert copy.fingerprint == model.fingerprint


def test_the_file_beside_a_model_goes_first(tmp_path: Path, path: Path, model: Model) -> None:
    found = basis.unpack(DATA)
    other = basis.pack(SHA256, found.mean, found.rotation[:128], found.prior)
    copy = load(beside(tmp_path, model, other))
    assert copy.handle.code_bits == 128
    assert copy.fingerprint != model.fingerprint
    cortext.open(path, model=model).close()
    with pytest.raises(ModelMismatchError):
        cortext.open(path, model=copy)


def test_a_changed_file_is_loaded_anew(tmp_path: Path, model: Model) -> None:
    file = beside(tmp_path, model, DATA)
    first = load(file)
    assert load(file) is first
    found = basis.unpack(DATA)
    other = basis.pack(SHA256, found.mean, found.rotation[:64], found.prior)
    file.with_suffix(".basis").write_bytes(other)
    assert load(file) is not first
    assert load(file).handle.code_bits == 64


def test_a_damaged_file_is_not_passed_over(tmp_path: Path, model: Model) -> None:
    with pytest.raises(ModelError, match="checksum"):
        load(beside(tmp_path, model, DAMAGE["checksum"]()))


def test_the_bundled_one_is_missing_or_another(
    tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bundled"
    folder.mkdir()
    for name in ("manifest.json", model.path.name):
        shutil.copyfile(model.path.parent / name, folder / name)
    monkeypatch.setattr(registry, "_bundled_directory", lambda: folder)
    with pytest.raises(ModelError, match="missing; install Cortext again"):
        load()
    found = basis.unpack(DATA)
    (folder / FILE.name).write_bytes(
        basis.pack(SHA256, found.mean, found.rotation[:128], found.prior)
    )
    with pytest.raises(ModelError, match="sha256"):
        load()
