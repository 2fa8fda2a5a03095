"""The bundled model is what it says: same bytes when rebuilt, same tokens and vectors as the
original weights and tokenizer give."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cortext.models import Model, load

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "models" / "all-MiniLM-L6-v2-Q8_0.gguf"
TEXTS = json.loads((ROOT / "tests" / "data" / "multilingual.json").read_text(encoding="utf-8"))


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference_code = imported(ROOT / "tests" / "support" / "bert_reference.py")


@pytest.fixture(scope="module")
def reference() -> Any:
    return reference_code.Reference()


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return reference_code.tokenizer()


def test_manifest(model: Model) -> None:
    (entry,) = json.loads((ROOT / "models" / "manifest.json").read_text(encoding="utf-8"))["models"]
    content = FILE.read_bytes()
    assert entry["file"] == FILE.name
    assert entry["size"] == len(content)
    assert entry["sha256"] == hashlib.sha256(content).hexdigest() == model.spec.sha256
    assert (
        entry["weights_sha256"]
        == hashlib.sha256((reference_code.folder() / "model.safetensors").read_bytes()).hexdigest()
    )


def test_rebuilding_gives_the_same_bytes(tmp_path: Path) -> None:
    script = ROOT / "models" / "make_minilm.py"
    made = tmp_path / "made.gguf"
    for arguments in (["--check"], ["--output", str(made)]):
        subprocess.run([sys.executable, script, "--quiet", *arguments], check=True)
    assert made.read_bytes() == FILE.read_bytes()


def test_a_changed_model_is_noticed(tmp_path: Path) -> None:
    changed = tmp_path / FILE.name
    data = bytearray(FILE.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    script = ROOT / "models" / "make_minilm.py"
    done = subprocess.run(
        [sys.executable, script, "--quiet", "--check", "--output", changed],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "differs" in done.stderr


def test_unicode_tables_are_what_the_script_makes() -> None:
    if unicodedata.unidata_version != "14.0.0":
        return  # the script refuses other versions; CI runs on Python 3.11
    script = ROOT / "csrc" / "encoder" / "make_unicode_tables.py"
    subprocess.run([sys.executable, script, "--check"], check=True)


def test_the_texts() -> None:
    assert len(TEXTS) == len({entry["text"] for entry in TEXTS}) == 200
    assert len({entry["script"] for entry in TEXTS}) >= 8
    lengths = [len(entry["text"].split()) for entry in TEXTS]
    assert min(lengths) == 1
    assert max(lengths) >= 100


@pytest.mark.parametrize("script", sorted({entry["script"] for entry in TEXTS}))
def test_tokens(model: Model, tokenizer: Any, script: str) -> None:
    for entry in TEXTS:
        if entry["script"] == script:
            assert model.tokenize(entry["text"]) == tokenizer.encode(entry["text"]).ids, entry


def test_vectors(model: Model, reference: Any) -> None:
    """Every text that fits in one pass; a longer one is the mean of its chunks in Cortext."""
    texts = [entry["text"] for entry in TEXTS]
    fit = [text for text in texts if len(reference.tokenizer.encode(text).ids) <= 256]
    assert len(fit) >= 190
    wanted = reference.embed(fit)
    assert (model.embed(fit) * wanted).sum(axis=1).min() >= 0.998
    made = load(encoder="llama").embed(fit)  # the weights themselves, with little rounding added
    assert made.dtype == np.float32
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    cosines = (made * wanted).sum(axis=1)
    worst = int(cosines.argmin())
    assert cosines[worst] >= 0.999, (cosines[worst], fit[worst])
    assert cosines.mean() >= 0.9995


def test_vectors_of_long_texts(model: Model, reference: Any) -> None:
    """What Cortext sees of the first 256 tokens is what the original sees."""
    texts = [entry["text"] for entry in TEXTS]
    longer = [text for text in texts if len(reference.tokenizer.encode(text).ids) > 256]
    assert longer
    for text in longer:
        encoding = reference.tokenizer.encode(text)
        head = text[: encoding.offsets[200][1]]  # whole words and then some; well within one pass
        (made,) = model.embed([head])
        assert made @ reference.embed([head])[0] >= 0.998


LETTERS = [
    st.characters(codec="utf-8", exclude_characters="\0"),  # anything
    st.characters(min_codepoint=0x20, max_codepoint=0x7E),
    st.characters(min_codepoint=0xA0, max_codepoint=0x24F),  # accents, composed
    st.sampled_from("aeiouncsAEIOUNCS"),
    st.characters(min_codepoint=0x300, max_codepoint=0x36F),  # accents, combining
    st.characters(min_codepoint=0x370, max_codepoint=0x52F),
    st.characters(min_codepoint=0x590, max_codepoint=0x6FF),
    st.characters(min_codepoint=0x900, max_codepoint=0xDFF),  # Indic: spacing vowel signs
    st.characters(min_codepoint=0xE00, max_codepoint=0xEFF),
    st.characters(min_codepoint=0x1100, max_codepoint=0x11FF),  # Hangul letters
    st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3),  # Hangul syllables
    st.characters(min_codepoint=0x1E00, max_codepoint=0x1FFF),
    st.characters(min_codepoint=0x2000, max_codepoint=0x206F),  # spaces, zero width, directions
    st.characters(min_codepoint=0x2500, max_codepoint=0x25FF),  # U+2581 among them
    st.characters(min_codepoint=0x3000, max_codepoint=0x30FF),
    st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF),
    st.characters(min_codepoint=0xF900, max_codepoint=0xFAFF),
    st.characters(min_codepoint=0xE000, max_codepoint=0xE0FF),  # private use
    st.characters(min_codepoint=0x1F300, max_codepoint=0x1FAFF),
    st.characters(min_codepoint=0x20000, max_codepoint=0x2FFFF),
    st.sampled_from(
        "\t\n\x0b\x0c\r\x1b\x1c\x7f\x85\xa0\xad\u200b\u200d\u2028\u3000\ufe0f\ufeff\ufffd"
    ),
    st.sampled_from(["👨‍👩‍👧", "🏳️‍🌈", "👩🏽‍💻", "🇯🇵", "1️⃣", "İ", "ẞ", "ſ", "ŉ", "Å", "Σ", "ς"]),
]
WORD = st.one_of(LETTERS).flatmap(
    lambda first: st.lists(st.one_of(LETTERS), max_size=7).map(lambda rest: first + "".join(rest))
)
SAME_SCRIPT = st.sampled_from(LETTERS).flatmap(
    lambda letters: st.lists(letters, min_size=1, max_size=30).map("".join)
)
TEXT = st.lists(st.one_of(WORD, SAME_SCRIPT), min_size=1, max_size=6).flatmap(
    lambda words: st.sampled_from(["", " ", "\n"]).map(lambda space: space.join(words))
)
SPECIAL = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")


@given(text=TEXT, form=st.sampled_from([None, "NFC", "NFD", "NFKC", "upper", "title"]))
@settings(
    max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_tokens_of_any_text(model: Model, tokenizer: Any, text: str, form: str | None) -> None:
    if form in ("upper", "title"):
        text = getattr(text, form)()
    elif form is not None:
        text = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    assume(not any(token in text for token in SPECIAL))
    assert model.tokenize(text) == tokenizer.encode(text).ids


def test_tokens_of_every_character(model: Model, tokenizer: Any) -> None:
    """Each character of the first planes between letters, at the end of a word, and alone."""
    for start in range(1, 0x20000, 64):
        points = [c for c in range(start, start + 64) if not 0xD800 <= c < 0xE000]
        text = " ".join(f"a{chr(c)}b the{chr(c)} {chr(c)}" for c in points)
        if text and model.tokenize(text) != tokenizer.encode(text).ids:
            for point in points:
                one = f"a{chr(point)}b the{chr(point)} {chr(point)}"
                assert model.tokenize(one) == tokenizer.encode(one).ids, hex(point)


@pytest.mark.parametrize("length", [99, 100, 101, 500])
def test_tokens_of_long_words(model: Model, tokenizer: Any, length: int) -> None:
    for text in ("x" * length, f"see {'ab' * length} there", "é" * length, "한" * length):
        assert model.tokenize(text) == tokenizer.encode(text).ids
