"""The core's own forward pass, against numpy over the same weights and against llama.cpp."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext import InputError, ModelError, _native
from cortext.models import Model, bert, load
from cortext.models.gguf_header import GgufHeader, TensorInfo, read_header

Floats = npt.NDArray[np.float32]

TEXTS = [
    entry["text"]
    for entry in json.loads(
        (Path(__file__).parents[1] / "data" / "multilingual.json").read_text(encoding="utf-8")
    )
]
LEVELS = _native.simd_levels()
EIGHT_BITS = [level for level in LEVELS if level not in ("neon", "scalar")]
GROUP = 32


@pytest.fixture
def at_level() -> Iterator[Callable[[str], None]]:
    before = _native.simd_name()
    yield _native.force_simd
    _native.force_simd(before)


def dequantize(tensor: _native.Tensor, file: npt.NDArray[np.uint8]) -> Floats:
    """The values of a tensor, by numpy alone."""
    shape = (tensor.rows, tensor.columns)
    data = file[tensor.offset : tensor.offset + tensor.bytes].copy()
    if tensor.type == 0:
        return data.view(np.float32).reshape(shape)
    if tensor.type == 1:
        return data.view(np.float16).astype(np.float32).reshape(shape)
    assert tensor.type == 8
    blocks = data.reshape(-1, 34)
    scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    return (blocks[:, 2:].view(np.int8) * scales).astype(np.float32).reshape(shape)


class Network:
    """BERT in float64 over the weights of a GGUF file."""

    def __init__(self, path: Path) -> None:
        weights = bert.weights(path, read_header(path), threads=1)
        file = np.fromfile(path, dtype=np.uint8)
        self.about = weights
        self.tensors = {
            one.name: dequantize(one, file).astype(np.float64) for one in weights.tensors
        }

    def linear(self, x: Any, name: str) -> Any:
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def norm(self, x: Any, name: str) -> Any:
        apart = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((apart**2).mean(axis=-1, keepdims=True) + self.about.epsilon)
        return apart / scale * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def run(self, ids: list[int]) -> Floats:
        from math import erf

        gelu = np.vectorize(lambda v: v * 0.5 * (1 + erf(v / 2**0.5)))
        x = self.tensors["token_embd.weight"][ids] + self.tensors["token_types.weight"][0]
        x = self.norm(x + self.tensors["position_embd.weight"][: len(ids)], "token_embd_norm")
        for i in range(self.about.layers):
            heads = [
                self.linear(x, f"blk.{i}.attn_{part}")
                .reshape(len(ids), self.about.heads, -1)
                .swapaxes(0, 1)
                for part in "qkv"
            ]
            scores = heads[0] @ heads[1].swapaxes(1, 2) / heads[0].shape[-1] ** 0.5
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            mixed = scores / scores.sum(axis=-1, keepdims=True) @ heads[2]
            mixed = self.linear(mixed.swapaxes(0, 1).reshape(len(ids), -1), f"blk.{i}.attn_output")
            x = self.norm(x + mixed, f"blk.{i}.attn_output_norm")
            inner = self.linear(gelu(self.linear(x, f"blk.{i}.ffn_up")), f"blk.{i}.ffn_down")
            x = self.norm(x + inner, f"blk.{i}.layer_output_norm")
        pooled = x.mean(axis=0)
        return np.asarray(pooled / np.linalg.norm(pooled), dtype=np.float32)


@pytest.fixture(scope="module")
def network(model: Model) -> Network:
    return Network(model.path)


@pytest.fixture(scope="module")
def expected(network: Network, model: Model) -> tuple[list[str], Floats]:
    texts = [text for text in TEXTS if len(model.tokenize(text)) <= 120][::4]
    assert len(texts) >= 40
    return texts, np.stack([network.run(model.tokenize(text)) for text in texts])


@pytest.mark.parametrize("level", LEVELS)
def test_vectors_are_those_of_the_network(
    level: str,
    at_level: Callable[[str], None],
    expected: tuple[list[str], Floats],
    tmp_path: Path,
) -> None:
    at_level(level)
    own = load(cache=tmp_path / "cache")  # shared with no other test
    assert own.backend == level
    texts, vectors = expected
    if level == "scalar":  # minutes where the compiler may not optimise
        texts, vectors = texts[::8], vectors[::8]
    cosines = (own.embed(texts) * vectors).sum(axis=1)
    least = 0.998 if level in EIGHT_BITS else 0.999999
    assert cosines.min() >= least, (cosines.min(), texts[int(cosines.argmin())])


def test_llama_cpp_gives_the_same(model: Model) -> None:
    """The other way round: what it is measured against has rounding of its own."""
    other = load(encoder="llama")
    assert other.backend == "llama.cpp"
    assert other.fingerprint == model.fingerprint
    cosines = (other.embed(TEXTS) * model.embed(TEXTS)).sum(axis=1)
    assert cosines.min() >= 0.997
    assert cosines.mean() >= 0.999


def test_threads_change_nothing(model: Model) -> None:
    long = " ".join(TEXTS[:10])
    for threads in (2, 7):
        several = load(threads=threads)
        for text in ("a", TEXTS[3], long):
            assert np.array_equal(several.embed([text]), model.embed([text]))


def test_a_store_does_not_tell_the_two_apart(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with cortext.open(path, model=load(encoder="llama")) as mem:
        mem.ingest("The garage door code is 8841.")
        mem.ingest("Dinner moved to Friday.")
        assert mem.flush()
    with cortext.open(path, model=load()) as mem:
        assert mem.recall("how do I open the garage?").hits[0].id == 1


def test_encoder_is_one_of_two() -> None:
    with pytest.raises(InputError, match="auto, llama"):
        load(encoder="bert")  # type: ignore[arg-type]


# ---- kernels -------------------------------------------------------------------------------------


def layer(seed: int, rows: int, groups: int, panels: int) -> tuple[Floats, Floats, Floats]:
    chance = np.random.default_rng(seed)
    inputs, outputs = groups * GROUP, panels * 32
    x = chance.standard_normal((rows, inputs)).astype(np.float32)
    x[chance.random(x.shape) < 0.01] *= 40  # outliers, as networks have them
    x[chance.random(rows) < 0.1] = 0
    weights = chance.standard_normal((outputs, inputs)).astype(np.float32)
    return weights, chance.standard_normal(outputs).astype(np.float32), x


SHAPES = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 6), st.integers(1, 4)
)


@given(shape=SHAPES)
@settings(deadline=None, max_examples=60)
@pytest.mark.parametrize("level", LEVELS)
def test_layers(level: str, shape: tuple[int, int, int, int]) -> None:
    weights, bias, x = layer(*shape)
    exact = x.astype(np.float64) @ weights.T.astype(np.float64) + bias
    size = np.abs(x).astype(np.float64) @ np.abs(weights).T + np.abs(bias)
    before = _native.simd_name()
    _native.force_simd(level)
    try:
        made = _native.linear(weights, bias, x)
        if level in EIGHT_BITS:
            # Bit by bit: its sums are whole numbers, scaled in one order.
            assert np.array_equal(made, _native.linear(weights, bias, x, twin=True))
    finally:
        _native.force_simd(before)
    if level not in EIGHT_BITS:
        assert (np.abs(made - exact) <= 1e-5 * size + 1e-6).all()
        return

    def rounded(values: Floats) -> npt.NDArray[np.float64]:
        groups = values.astype(np.float64).reshape(len(values), -1, GROUP)
        scale = np.abs(groups).max(axis=-1, keepdims=True) / 127
        return groups, scale  # type: ignore[return-value]

    # Each factor is off by half a step of its group at most.
    (a, a_step), (w, w_step) = rounded(x), rounded(weights)
    off = np.einsum("rgk,ogk->ro", np.abs(a) + a_step, np.broadcast_to(w_step, w.shape) / 2)
    off += np.einsum("rgk,ogk->ro", np.broadcast_to(a_step, a.shape) / 2, np.abs(w) + w_step)
    assert (np.abs(made - exact) <= 1.001 * off + 1e-4).all()


def test_a_layer_that_no_kernel_takes() -> None:
    with pytest.raises(InputError):
        _native.linear(
            np.ones((32, 16), np.float32), np.ones(32, np.float32), np.ones((1, 16), np.float32)
        )
    with pytest.raises(InputError):
        _native.linear(
            np.ones((16, 32), np.float32), np.ones(16, np.float32), np.ones((1, 32), np.float32)
        )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(value: float) -> None:
    weights = np.ones((32, 32), np.float32)
    weights[3, 4] = value
    with pytest.raises(ModelError, match="not finite"):
        _native.linear(weights, np.ones(32, np.float32), np.ones((1, 32), np.float32))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e38])
def test_inputs_that_are_no_numbers_break_nothing(
    level: str, value: float, at_level: Callable[[str], None]
) -> None:
    at_level(level)
    x = np.ones((7, 64), np.float32)
    x[2, 5] = value
    made = _native.linear(np.ones((32, 64), np.float32), np.zeros(32, np.float32), x)
    assert np.isfinite(made[[0, 1, 3, 4, 5, 6]]).all()


# ---- which models --------------------------------------------------------------------------------


def changed(header: GgufHeader, **metadata: Any) -> GgufHeader:
    return GgufHeader(
        header.version, header.tensors, {**header.metadata, **metadata}, header.data_start
    )


def test_only_plain_bert_is_run_here(model: Model) -> None:
    header = read_header(model.path)
    assert bert.is_supported(header)
    for key, value in [
        ("general.architecture", "nomic-bert"),
        ("bert.attention.causal", True),
        ("bert.attention.head_count", 11),
        ("bert.attention.layer_norm_epsilon", 0.0),
        ("bert.feed_forward_length", 1500),
    ]:
        assert not bert.is_supported(changed(header, **{key: value})), key
    for more in [
        TensorInfo("blk.0.attn_q_norm.weight", 0, (384,), 0, 1536),
        TensorInfo("blk.0.ffn_gate.weight", 0, (384, 1536), 0, 384 * 1536 * 4),
        TensorInfo("blk.0.ffn_up.weight", 12, (384, 1536), 0, 100),
    ]:
        tensors = (*header.tensors, more)
        assert not bert.is_supported(
            GgufHeader(header.version, tensors, header.metadata, header.data_start)
        ), more


def rename(path: Path, tmp_path: Path, old: bytes, new: bytes) -> Path:
    assert len(old) == len(new)
    data = path.read_bytes()
    assert data.count(old) == 1
    made = tmp_path / "changed.gguf"
    shutil.copy(path, made)
    made.write_bytes(data.replace(old, new))
    return made


def test_a_network_with_a_tensor_more_goes_to_llama_cpp(model: Model, tmp_path: Path) -> None:
    """And what llama.cpp does not know either is a typed error."""
    made = rename(model.path, tmp_path, b"blk.3.ffn_up.weight", b"blk.3.ffn_xx.weight")
    with pytest.raises(ModelError, match=r"llama\.cpp cannot load"):
        load(made)


def test_a_missing_tensor_is_named(model: Model) -> None:
    header = read_header(model.path)
    weights = bert.weights(model.path, header, threads=1)
    for missing in ("token_embd.weight", "blk.5.ffn_down.weight", "blk.0.attn_output_norm.bias"):
        left = [tensor for tensor in weights.tensors if tensor.name != missing]
        with pytest.raises(ModelError, match=missing):
            _native.Network(dataclasses.replace(weights, tensors=left), context=256)
    wrong: list[dict[str, Any]] = [
        {"heads": 5}, {"layers": 7}, {"inner": 1504}, {"dimension": 416}, {"threads": 0},
    ]  # fmt: skip
    for other in wrong:
        with pytest.raises(ModelError):
            _native.Network(dataclasses.replace(weights, **other), context=256)


# ---- types of weights ----------------------------------------------------------------------------

WIDE, VOCABULARY = 64, 30522


def small_network() -> dict[str, Floats]:
    """A network whose numbers every type holds exactly: whole multiples of a power of two."""
    chance = np.random.default_rng(5)

    def matrix(rows: int) -> Floats:
        whole = chance.integers(-127, 128, (rows, WIDE))
        whole[:, ::GROUP] = 127  # so that eight bits round nothing
        whole[:, 1::GROUP] = -127
        powers = 2.0 ** chance.integers(-10, -7, (rows, WIDE // GROUP))
        return (whole * np.repeat(powers, GROUP, axis=1)).astype(np.float32)

    found = {"token_embd.weight": matrix(VOCABULARY), "position_embd.weight": matrix(64)}
    names = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"]
    for name in names:
        found[f"blk.0.{name}.weight"] = matrix(WIDE)
        found[f"blk.0.{name}.bias"] = chance.integers(-9, 10, WIDE).astype(np.float32) / 2**24
    for norm in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        found[f"{norm}.weight"] = np.ones(WIDE, dtype=np.float32)
        found[f"{norm}.bias"] = np.zeros(WIDE, dtype=np.float32)
    return found


def in_type(kind: int, values: Floats) -> bytes:
    if kind == 0:
        return values.tobytes()
    if kind == 1:
        return values.astype(np.float16).tobytes()
    if kind == 30:
        return (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    groups = values.reshape(-1, GROUP)
    scales = np.abs(groups).max(axis=1, keepdims=True) / 127
    whole = (groups / scales).astype(np.int8)
    return np.concatenate(
        [scales.astype(np.float16).view(np.uint8), whole.view(np.uint8)], 1
    ).tobytes()


def write(path: Path, kind: int, tensors: dict[str, Floats]) -> _native.BertWeights:
    """A file of these tensors, matrices in the type asked for and vectors in one like it."""
    infos, content = [], b"junk"
    for name, values in tensors.items():
        this = kind if values.ndim == 2 else 1 if kind == 1 else 0
        data = in_type(this, values)
        rows = len(values) if values.ndim == 2 else 1
        infos.append(
            _native.Tensor(
                name=name, type=this, rows=rows, columns=WIDE, offset=len(content), bytes=len(data)
            )
        )
        content += data
    path.write_bytes(content)
    return _native.BertWeights(
        path=str(path), tensors=infos, layers=1, heads=2, dimension=WIDE, inner=WIDE,
        epsilon=1e-6, threads=1,
    )  # fmt: skip


def handle(model: Model, network: _native.Network, context: int) -> _native.EncoderHandle:
    from cortext.models import llama

    binding = llama.load(
        model.path, context=context, threads=1, wordpiece=True, only_tokenizer=True
    )
    try:
        return _native.EncoderHandle(
            binding,
            fingerprint="x",
            query_prefix="",
            passage_prefix="",
            pooling=_native.PoolingType.MEAN,
            context=context,
            overlap=8,
            wordpiece=True,
            basis=None,
            network=network,
            cache_path=None,
        )
    except InputError:
        llama.release(binding)
        raise


@pytest.mark.parametrize("level", LEVELS)
def test_weights_are_the_same_in_every_type(
    level: str, model: Model, at_level: Callable[[str], None], tmp_path: Path
) -> None:
    at_level(level)
    tensors = small_network()
    made = []
    for kind in (0, 1, 8, 30):
        network = _native.Network(write(tmp_path / "made.bin", kind, tensors), context=64)
        made.append(handle(model, network, 64).embed(TEXTS[:5], query=False))
    assert all(np.array_equal(made[0], one) for one in made[1:])
    assert np.ptp(made[0], axis=0).max() > 0.01


@pytest.mark.parametrize("kind", [0, 1, 8])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_numbers_that_are_none_are_refused_in_every_type(
    kind: int, value: float, tmp_path: Path
) -> None:
    tensors = small_network()
    weights = write(tmp_path / "made.bin", kind, tensors)
    at = next(one for one in weights.tensors if one.name == "blk.0.ffn_down.weight")
    with (tmp_path / "made.bin").open("r+b") as file:
        file.seek(at.offset)
        file.write(np.array(value, dtype=np.float32 if kind == 0 else np.float16).tobytes())
    with pytest.raises(ModelError, match=r"blk\.0\.ffn_down\.weight .*not finite"):
        _native.Network(weights, context=64)


def test_a_file_that_shrinks_while_it_is_loaded(model: Model, tmp_path: Path) -> None:
    """Its header was whole; the core finds the end too early wherever it is."""
    made = tmp_path / "model.gguf"
    header = read_header(model.path)
    data = model.path.read_bytes()
    weights = dataclasses.replace(bert.weights(model.path, header, threads=1), path=str(made))
    ends = sorted(one.offset for one in weights.tensors)
    for size in (0, 100, ends[0], ends[3] + 5, ends[-1] - 1, len(data) - 40):
        made.write_bytes(data[:size])
        with pytest.raises(ModelError, match="has become shorter"):
            _native.Network(weights, context=256)
    made.unlink()
    with pytest.raises(ModelError, match="cannot read the model file"):
        _native.Network(weights, context=256)
    made.mkdir()
    with pytest.raises(ModelError, match="cannot read the model"):
        _native.Network(weights, context=256)


def test_a_network_is_taken_once(model: Model) -> None:
    weights = bert.weights(model.path, read_header(model.path), threads=1)
    network = _native.Network(weights, context=64)
    with pytest.raises(InputError, match="shorter passes"):
        handle(model, network, 128)
    assert handle(model, network, 64).backend == _native.simd_name()
    with pytest.raises(InputError, match="no network"):
        handle(model, network, 64)


def test_weights_without_an_opposite_are_the_same_at_every_level(
    tmp_path: Path, at_level: Callable[[str], None]
) -> None:
    """-128 is in no file that a good quantiser wrote; a product by signs would get it wrong."""
    path = tmp_path / "odd.gguf"
    shutil.copy(load().path, path)
    raw = bytearray(path.read_bytes())
    header = read_header(path)
    eight_bits = [one for one in header.tensors if one.type == 8 and one.name.startswith("blk.")]
    tensor = max(eight_bits, key=lambda one: one.bytes)
    first = header.data_start + tensor.offset
    for block in range(first, first + tensor.bytes, 34 * 3):
        raw[block + 2 : block + 34 : 5] = b"\x80" * len(raw[block + 2 : block + 34 : 5])
    path.write_bytes(raw)
    vectors = []
    for level in EIGHT_BITS:
        at_level(level)
        with contextlib.closing(load(path)) as model:
            assert model.backend == level
            vectors.append(model.embed(["where is the key of the garage?"]))
    assert all(np.abs(vector - vectors[0]).max() < 2e-3 for vector in vectors)
