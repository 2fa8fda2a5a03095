"""NOTICE names exactly what Cortext bundles and depends on."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
FIELDS = {"Version", "Licence", "Source", "Changes"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def notice() -> dict[str, dict[str, dict[str, str]]]:
    """Return part -> item -> field -> value."""
    parts: dict[str, dict[str, dict[str, str]]] = {}
    items: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    last = ""
    for line in (ROOT / "NOTICE").read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"== (.+?)(?: \(.*\))? ==", line):
            items = parts.setdefault(heading[1], {})
        elif not parts or not line:
            continue
        elif not line.startswith(" "):
            fields = items.setdefault(line, {})
        elif field := re.fullmatch(r"    ([A-Z][\w-]*): +(.+)", line):
            last = field[1]
            fields[last] = field[2]
        else:
            fields[last] += " " + line.strip()
    return parts


# Extras for users; the others are for working on the project.
EXTRAS = ("hnsw",)


def ranges(requirements: list[str]) -> dict[str, str]:
    """Return name -> version range."""
    pairs = (re.fullmatch(r"([\w.-]+)([^;]*)(;.*)?", text) for text in requirements)
    return {normal(pair[1]): pair[2].strip() for pair in pairs if pair}


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(table["project"])


def declared() -> dict[str, str]:
    """Return name -> version range of the runtime dependencies in pyproject.toml."""
    return ranges(project()["dependencies"])


def test_every_item_says_all_there_is_to_say() -> None:
    parts = notice()
    assert set(parts) == {
        "Bundled",
        "Runtime dependencies",
        "Optional dependencies",
        "Linked system libraries",
    }
    for items in parts.values():
        for name, fields in items.items():
            assert fields.keys() >= FIELDS, name
            assert all(fields.values()), name


def test_dependencies_are_those_of_pyproject() -> None:
    listed = notice()["Runtime dependencies"]
    assert {normal(name): fields["Version"] for name, fields in listed.items()} == declared()


def test_optional_dependencies_are_those_of_pyproject() -> None:
    listed = notice()["Optional dependencies"]
    wanted = [text for extra in EXTRAS for text in project()["optional-dependencies"][extra]]
    assert {normal(name): fields["Version"] for name, fields in listed.items()} == ranges(wanted)


def test_dependencies_are_those_of_the_installed_package() -> None:
    required = metadata.requires("cortext") or []
    names = {normal(re.split(r"[^\w.-]", text)[0]) for text in required if "extra ==" not in text}
    assert names == {normal(name) for name in notice()["Runtime dependencies"]}


@pytest.mark.parametrize("name", sorted(declared()))
def test_licences_are_those_of_the_installed_dependencies(name: str) -> None:
    installed = metadata.metadata(name)
    given = installed.get("License-Expression") or installed.get("License") or ""
    words = set(re.findall(r"[\w.-]+", given.partition("\n")[0])) - {"AND", "OR", "WITH"}
    listed = {normal(key): fields for key, fields in notice()["Runtime dependencies"].items()}
    assert words
    assert words <= set(re.findall(r"[\w.-]+", listed[name]["Licence"]))


def test_the_bundled_models_are_those_of_the_manifest() -> None:
    bundled = notice()["Bundled"]
    listed = {
        Path(fields["File"]).name: (name, fields["SHA-256"])
        for name, fields in bundled.items()
        if "File" in fields
    }
    manifest = json.loads((ROOT / "models" / "manifest.json").read_text(encoding="utf-8"))
    files = {spec["file"]: (spec["name"], spec["sha256"]) for spec in manifest["models"]}
    assert listed == files
    assert {path.name for path in (ROOT / "models").glob("*.gguf")} == set(files)
    for file, (_, sha256) in files.items():
        assert hashlib.sha256((ROOT / "models" / file).read_bytes()).hexdigest() == sha256


def test_unicode_tables_are_listed_with_their_version() -> None:
    versions = {
        match[1]
        for path in (ROOT / "csrc").rglob("*.[ch]")
        for match in re.finditer(
            r"Unicode Character Database (\d[\d.]*\d)", path.read_text(encoding="utf-8")
        )
    }
    item = notice()["Bundled"].get("Unicode Character Database")
    assert versions == ({item["Version"]} if item else set())
