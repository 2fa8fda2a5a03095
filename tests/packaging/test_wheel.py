"""sdist and wheel: what they carry, that they build, and what a build says when it cannot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", ".hypothesis", "*.egg-info", "*.so", "__pycache__", "build",
    "dist", "node_modules",
)  # fmt: skip
NAME = "cortext-0.1.0.dev0"
SENTENCES = {
    "compiler": "Cortext needs a C compiler to build: apt-get install g++",
    "Python.h": "Cortext needs the Python headers to build: apt-get install python3-dev",
    "sqlite3.h": "Cortext needs the SQLite headers to build: apt-get install libsqlite3-dev",
}
SMOKE = """
import importlib.metadata, json, pathlib, sys
from importlib.resources import files
import cortext._native._core as core
folder = pathlib.Path(sys.argv[1]).resolve()
bundled = files("cortext.models.bundled")
manifest = json.loads((bundled / "manifest.json").read_text(encoding="utf-8"))
print(json.dumps({
    "core": folder in pathlib.Path(core.__file__).resolve().parents,
    "models": [(bundled / spec["file"]).is_file() for spec in manifest["models"]],
    "version": importlib.metadata.version("cortext"),
}))
"""

pytestmark = pytest.mark.slow


def copy(folder: Path) -> Path:
    return Path(shutil.copytree(ROOT, folder / "source", ignore=LEFT_OUT))


def run(
    *command: str, folder: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command with the build switches of this process's environment switched off."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CORTEXT_")}
    for name in ("CC", "CFLAGS", "CPATH", "C_INCLUDE_PATH", "LD_PRELOAD", "PYTHONPATH"):
        clean.pop(name, None)
    return subprocess.run(
        command,
        cwd=folder,
        env=clean | (env or {}),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build an sdist from a copy of the tree and a wheel from that sdist; return their folder."""
    folder = tmp_path_factory.mktemp("dist")
    source = copy(tmp_path_factory.mktemp("tree"))
    done = run(sys.executable, "-m", "build", "--no-isolation", "-o", str(folder), folder=source)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (path,) = built.glob("*.whl")
    return zipfile.ZipFile(path)


def test_tag(built: Path) -> None:
    (path,) = built.glob("*.whl")
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert path.name == f"{NAME}-cp310-abi3-{platform}.whl"


def test_wheel_carries_every_module_and_all_data(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "cortext").rglob("*")
        if path.suffix in {".py", ".json", ".jsonl"} or path.name == "py.typed"
    }
    wanted |= {
        f"cortext/models/bundled/{path.name}"
        for path in (ROOT / "models").iterdir()
        if path.suffix in {".basis", ".gguf", ".json", ".probe"}
    }
    wanted |= {f"{NAME}.dist-info/licenses/{name}" for name in ("LICENSE", "NOTICE")}
    wanted |= {"cortext/_native/_core.abi3.so", "cortext/models/bundled/__init__.py"}
    assert wanted <= names
    assert any(name.endswith(".gguf") for name in names)


def test_wheel_carries_nothing_else(wheel: zipfile.ZipFile) -> None:
    for name in wheel.namelist():
        assert name.split("/")[0] in {"cortext", f"{NAME}.dist-info"}, name
        assert Path(name).suffix not in {".c", ".h", ".pyc"}, name
        assert not Path(name).name.startswith("make_"), name


def test_bundled_files_are_unchanged(wheel: zipfile.ZipFile) -> None:
    for path in (ROOT / "models").iterdir():
        if path.suffix in {".basis", ".gguf", ".json", ".probe"}:
            assert wheel.read(f"cortext/models/bundled/{path.name}") == path.read_bytes()


def test_metadata(wheel: zipfile.ZipFile) -> None:
    text = wheel.read(f"{NAME}.dist-info/METADATA").decode()
    for line in (
        "Name: cortext",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "License-File: NOTICE",
        "Requires-Python: >=3.10",
    ):
        assert line in text.splitlines()
    assert wheel.read(f"{NAME}.dist-info/entry_points.txt").decode().split() == [
        "[console_scripts]", "cortext", "=", "cortext.cli.main:main",
    ]  # fmt: skip


def test_sdist_carries_what_building_and_testing_need(built: Path) -> None:
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        path.relative_to(ROOT).as_posix()
        for top in ("bench", "csrc", "models", "requirements", "tests")
        for path in (ROOT / top).rglob("*")
        if path.is_file()
        and path.suffix in {".c", ".h", ".py", ".json", ".gguf", ".basis", ".probe", ".lock", ".db"}
    }
    wanted |= {"CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "pyproject.toml", "setup.py"}
    assert wanted <= names


def test_wheel_works_when_unpacked(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    done = run(
        sys.executable, "-c", SMOKE, str(tmp_path),
        folder=tmp_path, env={"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["core"]
    assert seen["version"] == NAME.partition("-")[2]
    assert seen["models"]
    assert all(seen["models"])


def test_editable_install(tmp_path: Path) -> None:
    source = copy(tmp_path)
    venv = tmp_path / "venv"
    made = run(sys.executable, "-m", "venv", "--without-pip", str(venv), folder=tmp_path)
    assert made.returncode == 0, made.stderr
    python = venv / "bin" / "python"
    # Lend it this environment's packages, but not the cortext that is among them.
    (site,) = (venv / "lib").glob("python*/site-packages")
    for distribution in metadata.distributions():
        if distribution.name != "cortext":
            for top in {file.parts[0] for file in distribution.files or []} - {".."}:
                if not (site / top).exists():
                    (site / top).symlink_to(str(distribution.locate_file(top)))
    done = run(
        sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps",
        "--no-build-isolation", "--editable", str(source), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    seen = run(str(python), "-c", SMOKE, str(source), folder=tmp_path)
    assert seen.returncode == 0, seen.stderr
    assert json.loads(seen.stdout)["core"]
    assert all(json.loads(seen.stdout)["models"])


@pytest.mark.parametrize("missing", SENTENCES)
def test_a_build_says_in_one_sentence_what_it_lacks(missing: str, tmp_path: Path) -> None:
    source = copy(tmp_path)
    if missing == "compiler":
        (tmp_path / "bin").mkdir()
        env = {"PATH": str(tmp_path / "bin")}
    else:
        # A header that cannot be read stands for one that is not there.
        (tmp_path / "include").mkdir()
        (tmp_path / "include" / missing).write_text('#error "hidden"\n', encoding="ascii")
        env = {"CFLAGS": f"-I{tmp_path / 'include'}"}
    done = run(sys.executable, "-m", "build", "--no-isolation", "--wheel", folder=source, env=env)
    output = done.stdout + done.stderr
    assert done.returncode != 0
    assert output.count("Cortext needs") == 1
    assert SENTENCES[missing] in output
    assert "Traceback" not in output
    assert "#error" not in output
