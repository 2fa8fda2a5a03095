"""The comparison with other engines, with those whose packages the tests have anyway."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import numpy as np
import pytest

from cortext import models

from .conftest import BENCH, Part, RunBench

PEERS = BENCH / "peers"
TINY = ("--n", 25, "--peer-vectors", 60, "--peer-total", 200, "--peer-messages", 40)


def prepare(folder: Path, *requirements: str) -> None:
    """An environment as the bench leaves it, whose packages are those of the tests."""
    home = folder / "-".join(requirements)
    venv.create(home, with_pip=False)
    inside = {"base": str(home), "platbase": str(home)}
    packages = Path(sysconfig.get_path("purelib", scheme="venv", vars=inside))
    (packages / "outside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (home / "installed.json").write_text(json.dumps(requirements))


def test_peers(run_bench: RunBench, tmp_path: Path) -> None:
    folder = tmp_path / "environments"
    prepare(folder, "numpy")
    prepare(folder, "hnswlib", "numpy")
    chosen = ("--peer", "numpy", "--peer", "hnswlib", "--peer", "sqlite-numpy")
    cache = tmp_path / "cache"
    arguments = ("--peers", *chosen, *TINY, "--peer-dir", folder, "--cache", cache)
    found = run_bench("latency.py", *arguments, "--dir", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"results.json", "environments", "cache"}
    assert found["bench"] == "peers"
    assert found["missing"] == []
    assert found["configuration"]["vectors"] == 200
    assert found["configuration"]["embedded"] == 60
    rows = {row["name"]: row for row in found["peers"]}
    assert list(rows) == ["numpy", "hnswlib", "sqlite-numpy"]
    for row in rows.values():
        for part in ("search", "engine_search", "engine_dense"):
            assert 0 < row[part]["p50"] <= row[part]["p95"]
        assert row["version"]
        assert row["bytes"] > 40 * 384 * 4
    for name in ("numpy", "sqlite-numpy"):
        assert rows[name]["recall"] == 1, "it is exact"
    for row in rows.values():
        assert row["engine_recall"] > 0.95, "the vectors in the engine's index are the same"
    assert rows["numpy"]["add"] is None
    assert rows["sqlite-numpy"]["durability"].startswith("synced")
    for part in ("add", "engine_add"):
        assert rows["sqlite-numpy"][part]["p50"] > 0
    assert found["engine"]["bytes of the index"] > 200 * 384
    ratios = [(row["name"], row["to"]) for row in found["ratios"]]
    assert ratios == [
        ("engine: index alone", "numpy"),
        ("engine: index alone", "hnswlib"),
        ("engine: recall, all but encode", "sqlite-numpy"),
        ("engine: acknowledged", "sqlite-numpy: added"),
    ]


def test_what_cannot_be_installed_or_run_is_said(
    run_bench: RunBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "environments"
    venv.create(folder / "faiss-cpu-numpy", with_pip=False)
    (folder / "faiss-cpu-numpy" / "installed.json").write_text('["faiss-cpu", "numpy"]')
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    chosen = ("--peer", "faiss", "--peer", "usearch")
    found = run_bench("latency.py", "--peers", *chosen, *TINY, "--peer-dir", folder)
    assert found["peers"] == []
    reasons = {entry["name"]: entry["reason"] for entry in found["missing"]}
    assert set(reasons) == {"faiss IndexFlatIP", "faiss IndexHNSWFlat", "usearch f32", "usearch i8"}
    assert reasons["usearch i8"].startswith("not installed: No matching distribution")
    assert reasons["faiss IndexFlatIP"].startswith("failed: ModuleNotFoundError")
    assert not (folder / "usearch-numpy" / "installed.json").exists()


def test_every_script_is_some_peer_and_imports_nothing_of_ours(part: Part) -> None:
    peers = part("peers").PEERS
    scripts = {path.name for path in PEERS.glob("*.py")} - {"serve.py"}
    assert scripts == {peer.script for peer in peers}
    assert len({peer.label for peer in peers}) == len(peers)
    for peer in peers:
        assert bool(peer.durability) == (peer.level == "store")
    for script in (*scripts, "serve.py"):
        tree = ast.parse((PEERS / script).read_text(encoding="utf-8"))
        names = {
            name.partition(".")[0]
            for node in ast.walk(tree)
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert names.isdisjoint({"cortext", "support"})


def test_noise_is_near_what_it_was_added_to(part: Part) -> None:
    dice = np.random.default_rng(1)
    vectors = dice.standard_normal((5, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    noisy = part("padding").noisy(vectors, 200, seed=2)
    assert noisy.shape == (200, 384)
    assert np.linalg.norm(noisy, axis=1) == pytest.approx(1, abs=1e-5)
    assert (noisy @ vectors.T).max(axis=1) == pytest.approx(0.894, abs=0.05)


def test_texts_have_the_vectors_that_were_written(part: Part, tmp_path: Path) -> None:
    padding = part("padding")
    texts = ["user: one", "user: two and three", "assistant: a longer text of several words"]
    vectors = padding.noisy(models.load().embed(texts), 3, seed=2)
    cache = tmp_path / "cache"
    model = models.load(cache=cache)
    padding.write(cache, model, texts, vectors)
    assert model.embed(texts) == pytest.approx(vectors, abs=1e-6)


def test_help_names_every_peer(part: Part) -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "latency.py", "--help"], capture_output=True, text=True, check=True
    )
    words = "".join(done.stdout.split())
    for name in part("peers").names():
        assert name in words
