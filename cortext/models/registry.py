"""Which models there are, where their files are, and how to run each.

A model is named by the manifest (bundled, or to be downloaded), by what was downloaded before, or
by the path of any GGUF file; for the last, the file's own header says how to run it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from cortext.errors import ModelError
from cortext.models.gguf_header import GgufHeader, read_header
from cortext.models.verify import file_sha256, write_json

__all__ = [
    "ModelSpec",
    "basis_file",
    "installed",
    "known",
    "model_directory",
    "record",
    "resolve",
    "spec_of",
]

# Encoders that llama.cpp runs in one pass; anything else needs another way of running.
_ARCHITECTURES = {
    "bert",
    "eurobert",
    "gemma-embedding",
    "jina-bert-v2",
    "jina-bert-v3",
    "modern-bert",
    "neo-bert",
    "nomic-bert",
    "nomic-bert-moe",
}
_POOLING = {0: "mean", 1: "mean", 2: "cls", 3: "last"}
_LONGEST_PASS = 512
_WIDEST = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model and how to run it.

    name: what `resolve` and stores call it.
    file: name of the GGUF file.  sha256, size: of that file, None where not known.
    licence, source, base_model: where it comes from.
    package, weights_sha256: what the bundled file was made from.
    repo: where the file is on Hugging Face, for what can be downloaded.
    architecture, tokenizer, lowercase: llama.cpp's names for the network and its tokenizer, and
        whether that ignores case.
    dimension: length of a vector.  pooling: "mean", "cls" or "last".
    context: most tokens in one pass.  position_limit: most the network was made for.
    query_prefix, passage_prefix: what the model wants before a query or a passage.
    normalize: vectors get unit length.
    basis, basis_sha256: name and SHA-256 of the token basis that comes with it.
    """

    name: str
    file: str
    sha256: str | None = None
    size: int | None = None
    licence: str | None = None
    source: str | None = None
    package: str | None = None
    weights_sha256: str | None = None
    base_model: str | None = None
    repo: str | None = None
    architecture: str
    tokenizer: str
    lowercase: bool = True
    dimension: int
    pooling: str
    context: int
    position_limit: int
    query_prefix: str = ""
    passage_prefix: str = ""
    normalize: bool = True
    basis: str | None = None
    basis_sha256: str | None = None

    @property
    def bundled(self) -> bool:
        """Whether it came with Cortext."""
        return self.package is not None

    @property
    def wordpiece(self) -> bool:
        """Whether text goes through the C core's ct_wordpiece_text before llama.cpp's tokenizer."""
        return self.tokenizer == "bert" and self.lowercase


def model_directory() -> Path:
    """Return where downloaded models are: $CORTEXT_MODEL_DIR, or the user's data directory."""
    folder = os.environ.get("CORTEXT_MODEL_DIR")
    return Path(folder) if folder else user_data_path("cortext") / "models"


def _bundled_directory() -> Path:
    return Path(str(files("cortext.models.bundled")))


def _manifest(part: str) -> list[ModelSpec]:
    try:
        entries = json.loads((_bundled_directory() / "manifest.json").read_bytes())[part]
        return [ModelSpec(**entry) for entry in entries]
    except (OSError, ModuleNotFoundError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"Cortext's list of models is missing or damaged ({error}); install Cortext again"
        ) from error


def _records() -> dict[str, ModelSpec]:
    """Return what was downloaded, by name.  An unreadable record is as good as none."""
    try:
        entries = json.loads((model_directory() / "models.json").read_bytes())
        return {name: ModelSpec(**entry) for name, entry in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def record(spec: ModelSpec) -> None:
    """Remember a downloaded model, with the SHA-256 that its file has from now on.

    Raises: ModelError when the model directory cannot be written.
    """
    fields = {name: dataclasses.asdict(kept) for name, kept in _records().items()}
    fields[spec.name] = dataclasses.asdict(spec)
    try:
        write_json(model_directory() / "models.json", fields)
    except OSError as error:
        raise ModelError(
            f"cannot write to the model directory {model_directory()}: {error.strerror or error}"
        ) from error


def known() -> list[ModelSpec]:
    """Return every model that can be named: bundled, downloaded, and known to the manifest.

    Raises: ModelError when the manifest is missing or damaged.
    """
    found = {spec.name: spec for spec in (*_manifest("models"), *_manifest("downloads"))}
    for name, spec in _records().items():
        if name not in found or found[name].sha256 is None:
            found[name] = spec
    return list(found.values())


def download_path(spec: ModelSpec) -> Path:
    """Return where a downloaded model's file is kept."""
    return model_directory() / (spec.repo or "").replace("/", "--") / spec.file


def installed(spec: ModelSpec) -> Path | None:
    """Return the file of a named model, None if it is not on this machine."""
    path = _bundled_directory() / spec.file if spec.bundled else download_path(spec)
    return path if path.is_file() else None


def basis_file(path: Path, spec: ModelSpec) -> Path | None:
    """Return the token basis of a model: beside its file, or the one that came with Cortext.

    Raises: ModelError when the one that came with Cortext is missing.
    """
    beside = path.with_suffix(".basis")
    if beside.is_file():
        return beside
    if spec.basis is None:
        return None
    bundled = _bundled_directory() / spec.basis
    if not bundled.is_file():
        raise ModelError(f"the bundled token basis {spec.basis} is missing; install Cortext again")
    return bundled


def spec_of(path: Path, name: str | None = None) -> ModelSpec:
    """Return how to run any GGUF file, from its header.

    Raises: ModelError when it is not a whole GGUF file or not an embedding model that is supported.
    """
    header = read_header(path)
    try:
        return _from_header(header, path, name or path.stem)
    except ModelError as error:
        raise ModelError(f"{path} cannot be used as an embedding model: {error}") from None


def _from_header(header: GgufHeader, path: Path, name: str) -> ModelSpec:
    architecture = header.text("general.architecture")
    if architecture not in _ARCHITECTURES:
        raise ModelError(
            f"its architecture is {architecture!r}; supported are "
            f"{', '.join(sorted(_ARCHITECTURES))}"
        )
    dimension = header.whole(f"{architecture}.embedding_length")
    positions = header.whole(f"{architecture}.context_length")
    pooling = header.whole(f"{architecture}.pooling_type")
    tokenizer = header.text("tokenizer.ggml.model")
    if dimension is None or not 1 <= dimension <= _WIDEST:
        raise ModelError(f"its embedding_length is {dimension}; it must be from 1 to {_WIDEST}")
    if positions is None or positions < 16:
        raise ModelError(f"its context_length is {positions}; it must be 16 or more")
    if (pooling or 0) not in _POOLING:
        raise ModelError(f"its pooling type {pooling} is not mean, cls or last (a reranker?)")
    if tokenizer is None:
        raise ModelError("it has no tokenizer")
    return ModelSpec(
        name=name,
        file=path.name,
        sha256=file_sha256(path),
        size=path.stat().st_size,
        licence=header.text("general.license"),
        source=header.text("general.url"),
        architecture=architecture,
        tokenizer=tokenizer,
        lowercase=header.flag("tokenizer.ggml.normalizer.lowercase") is not False,
        dimension=dimension,
        pooling=_POOLING[pooling or 0],
        context=min(positions, _LONGEST_PASS),
        position_limit=positions,
    )


def _named(name: str) -> tuple[Path, ModelSpec] | None:
    for spec in known():
        if spec.name != name:
            continue
        path = installed(spec)
        if path is not None:
            return path, spec
        if spec.bundled:
            raise ModelError(f"the bundled model {spec.file} is missing; install Cortext again")
        raise ModelError(
            f"the model {name} is not on this machine; get it with `cortext model get {name}`"
        )
    return None


def _at(path: Path) -> tuple[Path, ModelSpec]:
    spec = spec_of(path)
    # A file of a known model keeps its name, limits and prefixes, wherever it lies.
    for other in known():
        if other.sha256 is not None and other.sha256 == spec.sha256:
            return path, other
    return path, spec


def resolve(model: str | os.PathLike[str] | None = None) -> tuple[Path, ModelSpec]:
    """Return a model's file and how to run it.

    model: a name or the path of a GGUF file; None for $CORTEXT_MODEL or, without that, the bundled
        model.  A name goes before a file of the same name: write ./NAME for the file.

    Raises: ModelError when there is no such name or file, or the file is not a usable model; the
    message says what to do.
    """
    chosen: Any = os.environ.get("CORTEXT_MODEL") or None if model is None else os.fspath(model)
    if chosen is None:
        chosen = _manifest("models")[0].name
    if not isinstance(chosen, str) or not chosen or "\0" in chosen:
        raise ModelError(f"{chosen!r} is neither a model's name nor a path")
    named = _named(chosen) if isinstance(model, (str, type(None))) else None
    if named is not None:
        return named
    path = Path(chosen).expanduser()
    if path.is_file():
        return _at(path)
    if path.is_dir():
        raise ModelError(f"{path} is a directory; name the .gguf file in it")
    if path.suffix.lower() == ".gguf" or os.sep in chosen:
        raise ModelError(f"there is no model file {path}")
    names = ", ".join(spec.name for spec in known())
    raise ModelError(
        f"there is no model named {chosen}; known are {names}, or give the path of a .gguf file"
    )
