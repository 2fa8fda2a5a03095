"""Makes what tells standing directives: all-MiniLM-L6-v2-Q8_0.probe and csrc/directive/ct_form_weights.h.

A sentence's marks come from its form (csrc/directive/ct_form.c), its meaning from the mean of its
tokens' codes.  The probe is a logistic regression on the meaning; the weights are one on the marks
and what the probe says of sentences that it was not trained with, so that neither is trusted more
than it deserves.  Learned from the half `dev` of bench/data/directives.jsonl alone.

    python models/make_probe.py            # writes both; build the core before and after
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import numpy.typing as npt

from cortext import _native
from cortext.models import basis, learning, probe, registry

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MODEL = HERE / "all-MiniLM-L6-v2-Q8_0.gguf"
DATA = ROOT / "bench" / "data" / "directives.jsonl"
FORM = ROOT / "csrc" / "directive" / "ct_form.h"
WEIGHTS = ROOT / "csrc" / "directive" / "ct_form_weights.h"

FOLDS = 10
PROBE_DECAY = 32.0
MARK_DECAY = 0.5
PRECISION = 0.97  # the least on dev, of sentences that the weights were not trained with

Floats = npt.NDArray[np.float64]


class Example(NamedTuple):
    marks: Floats
    meaning: Floats
    holds: bool
    group: int  # the item it is from


def mark_names() -> list[str]:
    body = FORM.read_text(encoding="utf-8").partition("typedef enum ct_mark {")[2].partition("}")[0]
    return re.findall(r"CT_MARK_(\w+),", body)


def mean_of_codes(codes: npt.NDArray[np.bool_]) -> Floats:
    """Return the mean as ct_directive_mean has it, from -1 to 1."""
    return np.rint(127 * (2 * codes.mean(axis=0) - 1)) / 127


def examples(items: list[dict[str, Any]], names: list[str]) -> Iterator[Example]:
    spec = registry.spec_of(MODEL)
    codes_of = basis.read(
        MODEL.with_suffix(".basis"), model_sha256=spec.sha256, dimension=spec.dimension
    )
    reader = learning.TokenReader(MODEL, spec)
    for group, item in enumerate(items):
        data = item["text"].encode()
        before = f"{spec.passage_prefix}{item['role']}: ".encode()
        _, vectors = reader.read((before + data).decode())
        codes = (vectors - codes_of.mean) @ codes_of.rotation.T > 0
        special = len(reader.tokenize(""))
        for sentence in _native.directive_sentences(item["text"]):
            if not sentence.marks or sentence.withdraws:
                continue
            end = sentence.start + sentence.bytes
            first = len(reader.tokenize((before + data[: sentence.start]).decode())) - special
            last = len(reader.tokenize((before + data[:end]).decode())) - special
            marks = [float(sentence.marks >> bit & 1) for bit in range(len(names))]
            text = data[sentence.start : end].decode()
            yield Example(
                np.array(marks), mean_of_codes(codes[first:last]), text in item["directives"], group
            )
    reader.close()


def regress(x: Floats, y: Floats, decay: float) -> tuple[Floats, float]:
    """Return weights and bias of a logistic regression with an L2 penalty, by Newton's method."""
    design = np.hstack([x, np.ones((len(x), 1))])
    penalty = np.full(design.shape[1], decay)
    penalty[-1] = 1e-6
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (chance - y) + penalty * weights
        bend = (design.T * (chance * (1 - chance))) @ design + np.diag(penalty)
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    return weights[:-1], float(weights[-1])


def held_out(x: Floats, y: Floats, folds: npt.NDArray[np.int_], decay: float) -> Floats:
    """Return what a regression says of each example when it was not trained with its fold."""
    said = np.empty(len(y))
    for fold in range(FOLDS):
        inside = folds != fold
        weights, bias = regress(x[inside], y[inside], decay)
        said[~inside] = x[~inside] @ weights + bias
    return said


def threshold(said: Floats, y: Floats) -> float:
    """Return the lowest score from which on at least PRECISION of the examples hold."""
    order = np.argsort(-said)
    share = np.cumsum(y[order]) / np.arange(1, len(y) + 1)
    last = int(np.flatnonzero(share >= PRECISION).max())
    after = said[order[last + 1]] if last + 1 < len(y) else said[order[last]] - 1
    return float((said[order[last]] + after) / 2)


def report(name: str, said: Floats, y: Floats, at: float) -> None:
    found = said > at
    right = float((found & (y > 0)).sum())
    loss = float(np.log1p(np.exp(-np.where(y > 0, said, -said))).mean())
    click.echo(
        f"{name}: log loss {loss:.3f}, precision {right / max(1, found.sum()):.3f}, "
        f"recall {right / y.sum():.3f} of the candidates, held out"
    )


def header(names: list[str], both: Floats, alone: Floats, numbers: dict[str, float]) -> str:
    lines = [
        "/* Made by models/make_probe.py: what each mark of ct_form.h says for a directive. */",
        "#ifndef CT_FORM_WEIGHTS_H",
        "#define CT_FORM_WEIGHTS_H",
        "",
        "static const struct {",
        "    float with_meaning; /* beside the probe */",
        "    float alone;",
        "} form_weights[] = {",
        *(
            f"    {{{a:.3f}f, {b:.3f}f}}, /* {name} */"
            for name, a, b in zip(names, both, alone, strict=True)
        ),
        "};",
        "static const float "
        + ", ".join(f"{name} = {value:.3f}f" for name, value in numbers.items())
        + ";",
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


@click.command(help="Make the probe and the weights of directives.")
@click.option("--dry", is_flag=True, help="Write nothing, only say how good they are.")
def main(dry: bool) -> None:
    items = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    names = mark_names()
    found = list(examples([item for item in items if item["split"] == "dev"], names))
    marks = np.array([example.marks for example in found])
    meaning = np.array([example.meaning for example in found])
    y = np.array([example.holds for example in found], dtype=float)
    folds = np.array([example.group * 7919 % 104729 % FOLDS for example in found])

    said = held_out(meaning, y, folds, PROBE_DECAY)
    report("probe", said, y, 0)
    both = np.hstack([marks, said[:, None]])
    said_both = held_out(both, y, folds, MARK_DECAY)
    said_alone = held_out(marks, y, folds, MARK_DECAY)
    at_both, at_alone = threshold(said_both, y), threshold(said_alone, y)
    report("form and meaning", said_both, y, at_both)
    report("form", said_alone, y, at_alone)
    if dry:
        return
    weights, bias = regress(meaning, y, PROBE_DECAY)
    with_meaning, bias_both = regress(both, y, MARK_DECAY)
    alone, bias_alone = regress(marks, y, MARK_DECAY)
    basis_sha256 = basis.unpack(MODEL.with_suffix(".basis").read_bytes()).sha256
    data = probe.pack(basis_sha256, np.append(weights, bias).astype(np.float32))
    MODEL.with_suffix(".probe").write_bytes(data)
    numbers = {
        "meaning_weight": float(with_meaning[-1]),
        "meaning_bias": bias_both - at_both,
        "form_bias": bias_alone - at_alone,
    }
    WEIGHTS.write_text(header(names, with_meaning[:-1], alone, numbers), encoding="utf-8")


if __name__ == "__main__":
    main()
