"""Which model is meant, and what the message says when there is none."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import gguf
import pytest

from cortext.errors import ModelError
from cortext.models import Model, registry
from cortext.models.registry import ModelSpec, installed, known, record, resolve, spec_of

BUNDLED = "all-MiniLM-L6-v2"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CORTEXT_MODEL_DIR", str(tmp_path / "models"))
    monkeypatch.delenv("CORTEXT_MODEL", raising=False)
    return tmp_path / "models"


def make(path: Path, architecture: str = "bert", **changes: object) -> Path:
    """Write a whole GGUF file that says what a model's would say."""
    values: dict[str, object] = {
        "context_length": 128,
        "embedding_length": 64,
        "pooling_type": 2,
        **changes,
    }
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in values.items():
        if isinstance(value, int):
            writer.add_uint32(f"{architecture}.{key}", value)
        elif isinstance(value, str):
            writer.add_string(f"{architecture}.{key}", value)
    if changes.get("tokenizer", True):
        writer.add_tokenizer_model("bert")
    if changes.get("cased"):
        writer.add_bool("tokenizer.ggml.normalizer.lowercase", False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_default_is_the_bundled_model() -> None:
    path, spec = resolve()
    assert path.is_file()
    assert spec.bundled
    assert spec.wordpiece
    assert (spec.name, spec.dimension, spec.pooling, spec.context) == (BUNDLED, 384, "mean", 256)
    assert spec.size == path.stat().st_size
    assert (spec.query_prefix, spec.passage_prefix, spec.normalize) == ("", "", True)
    assert resolve(BUNDLED) == (path, spec)


def test_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make(tmp_path / "first.gguf"), make(tmp_path / "second.gguf")
    monkeypatch.setenv("CORTEXT_MODEL", str(first))
    assert resolve()[0] == first
    assert resolve(second)[0] == second
    assert resolve(BUNDLED)[1].bundled
    monkeypatch.setenv("CORTEXT_MODEL", "")
    assert resolve()[1].bundled


def test_specs_are_frozen() -> None:
    spec = resolve()[1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.name = "x"  # type: ignore[misc]
    assert not hasattr(spec, "__dict__")


def test_any_file_is_run_as_its_header_says(tmp_path: Path) -> None:
    path, spec = resolve(str(make(tmp_path / "own.gguf")))
    assert path == tmp_path / "own.gguf"
    assert (spec.name, spec.file, spec.architecture) == ("own", "own.gguf", "bert")
    assert (spec.dimension, spec.pooling, spec.context) == (64, "cls", 128)
    assert spec.sha256 is not None
    assert spec.wordpiece
    assert not spec.bundled
    assert not spec_of(make(tmp_path / "cased.gguf", cased=True)).wordpiece
    assert spec_of(make(tmp_path / "long.gguf", context_length=8192)).context == 512
    assert spec_of(make(tmp_path / "nomic.gguf", "nomic-bert")).architecture == "nomic-bert"


def test_a_copy_of_a_known_model_is_that_model(tmp_path: Path, model: Model) -> None:
    copy = tmp_path / "renamed.gguf"
    shutil.copyfile(model.path, copy)
    assert resolve(copy) == (copy, model.spec)


@pytest.mark.parametrize(
    ("architecture", "changes", "message"),
    [
        ("llama", {}, "architecture is 'llama'"),
        ("bert", {"embedding_length": 0}, "embedding_length is 0"),
        ("bert", {"embedding_length": 1 << 20}, "embedding_length"),
        ("bert", {"embedding_length": None}, "embedding_length is None"),
        ("bert", {"embedding_length": "wide"}, "not a whole number"),
        ("bert", {"context_length": 4}, "context_length is 4"),
        ("bert", {"pooling_type": 4}, "pooling type 4"),
        ("bert", {"tokenizer": 0}, "no tokenizer"),
    ],
)
def test_other_models_are_refused(
    tmp_path: Path, architecture: str, changes: dict[str, object], message: str
) -> None:
    path = make(tmp_path / "other.gguf", architecture, **changes)
    with pytest.raises(ModelError, match=message) as caught:
        resolve(path)
    assert str(path) in str(caught.value)


def test_pooling_defaults_to_the_mean(tmp_path: Path) -> None:
    assert spec_of(make(tmp_path / "a.gguf", pooling_type=None)).pooling == "mean"
    assert spec_of(make(tmp_path / "b.gguf", pooling_type=3)).pooling == "last"


def test_messages_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"known are all-MiniLM-L6-v2, bge-small-en-v1\.5"):
        resolve("no-such-model")
    with pytest.raises(ModelError, match=r"`cortext model get bge-small-en-v1\.5`"):
        resolve("bge-small-en-v1.5")
    with pytest.raises(ModelError, match="no model file"):
        resolve(tmp_path / "absent.gguf")
    with pytest.raises(ModelError, match="no model file"):
        resolve("./nowhere")
    with pytest.raises(ModelError, match="is a directory"):
        resolve(tmp_path)
    with pytest.raises(ModelError, match="neither"):
        resolve("")
    (tmp_path / "text.gguf").write_text("not a model")
    with pytest.raises(ModelError, match="not a GGUF file"):
        resolve(tmp_path / "text.gguf")


def test_missing_bundled_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copyfile(registry._bundled_directory() / "manifest.json", tmp_path / "manifest.json")
    monkeypatch.setattr(registry, "_bundled_directory", lambda: tmp_path)
    with pytest.raises(ModelError, match="install Cortext again"):
        resolve()
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(ModelError, match="list of models is missing or damaged"):
        known()


def test_downloaded_models_have_names(directory: Path) -> None:
    (listed,) = [spec for spec in known() if spec.name == "bge-small-en-v1.5"]
    assert listed.sha256 is None
    assert installed(listed) is None
    path = registry.download_path(listed)
    path.parent.mkdir(parents=True)
    make(path)
    record(dataclasses.replace(listed, sha256="1" * 64))
    found, spec = resolve("bge-small-en-v1.5")
    assert found == path
    assert found.is_relative_to(directory)
    assert spec.sha256 == "1" * 64
    assert spec.query_prefix.startswith("Represent this sentence")
    own = dataclasses.replace(listed, name="a/b/c.gguf", repo="a/b", file="c.gguf")
    record(own)
    assert {own.name, listed.name} <= {spec.name for spec in known()}
    with pytest.raises(ModelError, match="cortext model get"):
        resolve("a/b/c.gguf")


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"a": 1}', '{"a": {"name": "a"}}'])
def test_damaged_record_is_as_good_as_none(directory: Path, content: str) -> None:
    directory.mkdir()
    (directory / "models.json").write_text(content)
    assert resolve()[1].bundled


def test_unwritable_directory(directory: Path) -> None:
    directory.write_text("a file where the directory should be")
    with pytest.raises(ModelError, match="cannot write"):
        record(resolve()[1])


def test_manifest_is_consistent() -> None:
    specs = known()
    assert len({spec.name for spec in specs}) == len(specs)
    for spec in specs:
        assert isinstance(spec, ModelSpec)
        assert spec.pooling in {"mean", "cls", "last"}
        assert spec.context <= min(512, spec.position_limit)
        assert spec.licence
        assert (spec.source or "").startswith("https://huggingface.co/")
        assert spec.bundled != bool(spec.repo)
