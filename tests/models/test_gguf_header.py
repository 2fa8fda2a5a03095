"""A damaged model file gives ModelError with a sentence, whatever the damage."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortext.errors import ModelError
from cortext.models import Model
from cortext.models.gguf_header import parse_header, read_header

U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def entry(key: str | bytes, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def tensor(name: str, sizes: list[int], kind: int, offset: int) -> bytes:
    shape = struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes)
    return text(name) + shape + struct.pack("<IQ", kind, offset)


ENTRIES = [
    entry("general.architecture", STRING, text("bert")),
    entry("bert.embedding_length", U32, struct.pack("<I", 64)),
    entry("bert.context_length", U32, struct.pack("<I", 128)),
    entry("bert.attention.causal", BOOL, b"\0"),
    entry("bert.epsilon", F32, struct.pack("<f", 0.5)),
    entry("tokens", ARRAY, struct.pack("<IQ", STRING, 3) + text("a") + text("") + text("ü")),
    entry("types", ARRAY, struct.pack("<IQ", U32, 2) + struct.pack("<II", 1, 3)),
]
TENSORS = [tensor("a.weight", [64, 2], 8, 0), tensor("a.bias", [64], 0, 160)]


def build(
    entries: list[bytes] = ENTRIES,
    tensors: list[bytes] = TENSORS,
    version: int = 3,
    payload: int = 160 + 256,
) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries))
    head += b"".join(entries) + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32) + b"\0" * payload


GOOD = build()


def test_good_header() -> None:
    header = parse_header(GOOD)
    assert header.version == 3
    assert [(info.name, info.type, info.shape, info.bytes) for info in header.tensors] == [
        ("a.weight", 8, (64, 2), 136),
        ("a.bias", 0, (64,), 256),
    ]
    assert len(GOOD) == header.data_start + 160 + 256
    assert header.text("general.architecture") == "bert"
    assert header.whole("bert.embedding_length") == 64
    assert header.flag("bert.attention.causal") is False
    assert header.metadata["bert.epsilon"] == 0.5
    assert header.text("absent") is header.whole("absent") is header.flag("absent") is None
    assert "tokens" not in header.metadata
    for wrong in (header.text, header.flag):
        with pytest.raises(ModelError, match="embedding_length is not"):
            wrong("bert.embedding_length")
    with pytest.raises(ModelError, match="causal is not a whole number"):
        header.whole("bert.attention.causal")


def test_the_bundled_model(model: Model) -> None:
    header = read_header(model.path)
    assert header.text("general.architecture") == "bert"
    assert header.text("general.license") == "apache-2.0"
    assert header.whole("bert.pooling_type") == 1
    assert len(header.tensors) == 5 + 6 * 16


HUGE = 2**64 - 1
DAMAGED = {
    "empty": (b"", "not a GGUF file"),
    "another format": (b"PK\3\4" + GOOD[4:], "not a GGUF file"),
    "version 1": (build(version=1), "GGUF version 1"),
    "version 99": (build(version=99), "GGUF version 99"),
    "big-endian": (build(version=3 << 24), "big-endian"),
    "no payload": (build(payload=0), "cut short"),
    "a byte too short": (GOOD[:-1], "cut short"),
    "in the header": (GOOD[:90], "ends too early"),
    "endless metadata": (GOOD[:16] + struct.pack("<Q", HUGE) + GOOD[24:], "it"),
    "endless tensors": (GOOD[:8] + struct.pack("<Q", HUGE) + GOOD[16:], "it"),
    "endless key": (GOOD[:24] + struct.pack("<Q", HUGE) + GOOD[32:], "ends too early"),
    "endless array": (
        build([entry("a", ARRAY, struct.pack("<IQ", STRING, 2**60))]),
        "ends too early",
    ),
    "endless numbers": (
        build([entry("a", ARRAY, struct.pack("<IQ", U32, 2**62))]),
        "ends too early",
    ),
    "array of arrays": (build([entry("a", ARRAY, struct.pack("<IQ", ARRAY, 1))]), "unknown type"),
    "unknown type": (build([entry("a", 13, b"")]), "unknown type 13"),
    "twice": (build([*ENTRIES, ENTRIES[0]]), "twice"),
    "no key": (build([entry("", U32, b"\0\0\0\0")]), "without a usable name"),
    "not UTF-8": (build([entry("a", STRING, text(b"\xff\xfe"))]), "not UTF-8"),
    "alignment 0": (build([entry("general.alignment", U32, b"\0\0\0\0")]), "power of two"),
    "alignment 48": (build([entry("general.alignment", U32, b"\x30\0\0\0")]), "power of two"),
    "no dimensions": (build(tensors=[tensor("t", [], 0, 0)]), "0 dimensions"),
    "five dimensions": (build(tensors=[tensor("t", [1] * 5, 0, 0)]), "5 dimensions"),
    "half a block": (build(tensors=[tensor("t", [33], 8, 0)]), "impossible shape"),
    "no values": (build(tensors=[tensor("t", [0], 0, 0)]), "impossible shape"),
    "huge tensor": (build(tensors=[tensor("t", [2**63, 2**63], 0, 0)]), "cut short"),
    "far away": (build(tensors=[tensor("t", [1], 0, 2**63)]), "cut short"),
    "unaligned": (build(tensors=[tensor("t", [1], 0, 5)]), "not aligned"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_named(name: str, tmp_path: Path) -> None:
    data, message = DAMAGED[name]
    with pytest.raises(ModelError, match=message):
        parse_header(data)
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=r"model\.gguf"):
        read_header(path)


def test_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.gguf"):
        with pytest.raises(ModelError, match="cannot read"):
            read_header(path)


def must_only_be_refused(data: bytes) -> None:
    try:
        parse_header(data)
    except ModelError as error:
        sentence = str(error)
    else:
        return
    assert sentence.startswith(("it ", "its "))


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_any_bytes(data: bytes) -> None:
    must_only_be_refused(data)
    must_only_be_refused(b"GGUF\3\0\0\0" + data)


@given(st.integers(0, len(GOOD)))
@settings(max_examples=300, deadline=None)
def test_any_cut(at: int) -> None:
    if at < len(GOOD):
        with pytest.raises(ModelError):
            parse_header(GOOD[:at])


HEAD = len(GOOD) - 160 - 256


@given(
    st.lists(st.tuples(st.integers(0, HEAD - 1), st.integers(0, 255)), min_size=1, max_size=6),
    st.binary(max_size=12),
    st.integers(0, HEAD),
    st.integers(0, 12),
)
@settings(max_examples=1500, deadline=None)
def test_any_mutation(
    changes: list[tuple[int, int]], inserted: bytes, at: int, removed: int
) -> None:
    data = bytearray(GOOD)
    for where, value in changes:
        data[where] = value
    data[at : at + removed] = inserted
    must_only_be_refused(bytes(data))


@given(
    st.integers(0, HEAD - 8),
    st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, HUGE]),
)
@settings(max_examples=600, deadline=None)
def test_absurd_lengths_cost_no_memory(at: int, length: int) -> None:
    data = bytearray(GOOD)
    data[at : at + 8] = struct.pack("<Q", length)
    raw = bytes(data)
    tracemalloc.start()
    try:
        must_only_be_refused(raw)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
