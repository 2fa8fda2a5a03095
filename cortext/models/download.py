"""Fetches models from Hugging Face.  Nothing else in Cortext touches the network."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cortext.errors import ModelError
from cortext.models.registry import (
    ModelSpec,
    download_path,
    installed,
    known,
    model_directory,
    record,
    spec_of,
)
from cortext.models.verify import file_sha256, verify

__all__ = ["download"]


@contextmanager
def _progress(shown: bool) -> Iterator[None]:
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    if shown or are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()


def _fetch(repo: str, file: str, folder: Path, *, progress: bool) -> Path:
    try:
        from huggingface_hub import hf_hub_download

        with _progress(progress):
            found = hf_hub_download(
                repo, file, local_dir=folder, endpoint=os.environ.get("HF_ENDPOINT") or None
            )
        return Path(found)
    except Exception as error:  # what a failed request raises varies by version
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"cannot download {file} from {repo}: {reason}") from error


def _chosen(name_or_repo: str, filename: str | None) -> ModelSpec | None:
    """Return the known model that is meant, None for any other repository."""
    for spec in known():
        if filename is None and spec.name == name_or_repo:
            return spec
        if filename is not None and (spec.repo, spec.file) == (name_or_repo, filename):
            return spec
    return None


def _check_place(name_or_repo: str, filename: str | None) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", name_or_repo):
        names = ", ".join(spec.name for spec in known())
        raise ModelError(
            f"there is no model named {name_or_repo}; known are {names}, or give a Hugging Face "
            "repository (owner/name) and the .gguf file in it"
        )
    if filename is None:
        raise ModelError(f"name the .gguf file to download from {name_or_repo}")
    inside = not Path(filename).is_absolute() and ".." not in Path(filename).parts
    if not inside or not filename.lower().endswith(".gguf"):
        raise ModelError(f"{filename} is not the name of a .gguf file")
    return filename


def download(name_or_repo: str, *, filename: str | None = None, progress: bool = True) -> Path:
    """Fetch a model into the model directory, or find it there, and return its file.

    name_or_repo: a name of `registry.known()`, or a Hugging Face repository "owner/name".
    filename: the .gguf file in that repository; not needed with a known name.
    progress: show huggingface_hub's progress bar.

    The SHA-256 is checked against the manifest.  Where that has none, the first download pins it.
    Afterwards `resolve` knows the model by its name or, for another repository, by
    "owner/name/file".

    Raises: ModelError when the name is unknown, the network or the repository fails, or the file is
    not the expected one or not a usable embedding model.
    """
    spec = _chosen(name_or_repo, filename)
    if spec is not None and spec.sha256 is not None and (path := installed(spec)) is not None:
        verify(path, spec.sha256)
        return path
    if spec is None or spec.repo is None:
        file = _check_place(name_or_repo, filename)
        repo, name = name_or_repo, f"{name_or_repo}/{file}"
        folder = model_directory() / repo.replace("/", "--")
    else:
        repo, name, file = spec.repo, spec.name, spec.file
        folder = download_path(spec).parent
    path = _fetch(repo, file, folder, progress=progress)
    if spec is not None and spec.sha256 is not None:
        verify(path, spec.sha256)
    # Whatever the manifest says of it, the file itself must be a whole model of the right shape.
    own = spec_of(path, name)
    if spec is None:
        spec = dataclasses.replace(own, repo=repo, file=file)
    elif (own.architecture, own.dimension) != (spec.architecture, spec.dimension):
        raise ModelError(
            f"{path} is not {name}: it is {own.architecture} with {own.dimension} dimensions, "
            f"expected {spec.architecture} with {spec.dimension}"
        )
    record(dataclasses.replace(spec, sha256=file_sha256(path), size=path.stat().st_size))
    return path
