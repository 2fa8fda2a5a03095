"""Dependencies point down only, in Python and in C."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "cortext"
CSRC = ROOT / "csrc"

# Bottom to top; members of one row do not know each other.
PYTHON_ORDER = [
    {"_version", "errors"},
    {"_native"},
    {"models", "dates"},
    {"engine"},
    {"context"},
    {"observe"},
    {"serve", "adapters"},
    {"cli"},
    {"__init__", "__main__"},
]
C_ORDER = [
    {"ct.h"},
    {"base"},
    {"simd", "text", "directive"},
    {"store", "encoder", "index"},
    {"recall", "gate"},
    {"consolidate"},
    {"engine"},
]

# What only one part may import, so that the rest can be read without knowing it.
PYTHON_OWNERS = {
    "cffi": "_native",
    "cortext._native._core": "_native",
    "llama_cpp": "models",
    "huggingface_hub": "models",
    "click": "cli",
    "rich": "cli",
    "hnswlib": "engine",
}
C_OWNERS = {"sqlite3.h": {"store"}, "llama.h": {"encoder"}, "Python.h": set()}


def ranks(order: list[set[str]]) -> dict[str, int]:
    return {name: rank for rank, names in enumerate(order) for name in names}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> set[str]:
    """Return the absolute dotted names that a module imports, wherever in it and even for types."""
    package = list(path.relative_to(ROOT).with_suffix("").parts[:-1])
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return names


def within(name: str, root: str) -> bool:
    return name == root or name.startswith(root + ".")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_python_imports_point_down(path: Path) -> None:
    order = ranks(PYTHON_ORDER)
    own = layer(path)
    assert own in order, f"say in PYTHON_ORDER where {own} stands"
    for name in imports(path):
        if not within(name, "cortext"):
            continue
        other = [*name.split("."), "__init__"][1]
        other = other if other in order else "__init__"
        # The command line is a client of the public package, as any other program.
        if own == "cli" and other == "__init__":
            continue
        assert other == own or order[other] < order[own], f"{own} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_each_library_has_one_owner(path: Path) -> None:
    for name in imports(path):
        for library, owner in PYTHON_OWNERS.items():
            assert not within(name, library) or layer(path) == owner, f"{name} belongs to {owner}"


def sources() -> list[Path]:
    return sorted(CSRC.rglob("*.[ch]"))


def folder(path: Path) -> str:
    return path.relative_to(CSRC).parts[0]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(CSRC)))
def test_c_includes_point_down(path: Path) -> None:
    order = ranks(C_ORDER)
    own = folder(path)
    assert own in order, f"say in C_ORDER where {own} stands"
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.MULTILINE):
        found = next((base / name for base in (path.parent, CSRC) if (base / name).is_file()), None)
        assert found is not None, f"{name} is not in csrc: include it with <>"
        other = folder(found.resolve())
        assert other == own or order[other] < order[own], f"{own} includes {name}"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(CSRC)))
def test_foreign_headers_have_one_owner(path: Path) -> None:
    included = re.findall(
        r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]',
        path.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for name in included:
        owners = C_OWNERS.get(Path(name).name)
        assert owners is None or folder(path) in owners, f"{name} in {folder(path)}"
