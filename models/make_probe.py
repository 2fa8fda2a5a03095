"""Makes what tells directives: all-MiniLM-L6-v2-Q8_0.probe and csrc/directive/ct_form_weights.h.

A sentence's marks come from its form (csrc/directive/ct_form.c), its meaning from the vector of its
chunk.  The probe is a logistic regression on the meaning; the weights are one on the marks and what
the probe says of sentences that it was not trained with, so that neither is trusted more than it
deserves.  Learned from the half `dev` of bench/data/directives.jsonl, from directives.jsonl beside
this script, and from what users and tools say in the text that the token basis is learned from,
which holds no directives but for STANDING.

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
from cortext.models import learning, load, probe, registry

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MODEL = HERE / "all-MiniLM-L6-v2-Q8_0.gguf"
MORE = HERE / "directives.jsonl"
DATA = ROOT / "bench" / "data" / "directives.jsonl"
FORM = ROOT / "csrc" / "directive" / "ct_form.h"
WEIGHTS = ROOT / "csrc" / "directive" / "ct_form_weights.h"

STANDING = ("metric units", "recipes as a list", "so stop asking me", "leaves before nine")

FOLDS = 10
LEAST_SHARE = 0.2  # as ct_directive.c has it
SCALE = 10.0  # of unit vectors, for the penalty
PROBE_DECAY = 64.0
MARK_DECAY = 0.5
PRECISION = 0.96  # the least on dev, of sentences that the weights were not trained with

Floats = npt.NDArray[np.float64]


class Example(NamedTuple):
    marks: Floats
    meaning: Floats
    large: bool  # the sentence is enough of its chunk for the vector to be about it
    holds: bool
    group: int  # the item it is from


def mark_names() -> list[str]:
    body = FORM.read_text(encoding="utf-8").partition("typedef enum ct_mark {")[2].partition("}")[0]
    return re.findall(r"CT_MARK_(\w+),", body)


def corpus() -> Iterator[dict[str, Any]]:
    for role, text in learning.corpus():
        if role in ("user", "tool") and not any(part in text for part in STANDING):
            yield {"role": role, "text": text, "directives": []}


def examples(items: list[dict[str, Any]], names: list[str]) -> Iterator[Example]:
    model = load(MODEL)
    for group, item in enumerate(items):
        text = item["text"]
        sentences = [s for s in _native.directive_sentences(text) if s.marks and not s.withdraws]
        if not sentences:
            continue
        vector = model.embed([f"{item['role']}: {text}"])[0].astype(float)
        for sentence in sentences:
            marks = [float(sentence.marks >> bit & 1) for bit in range(len(names))]
            said = text.encode()[sentence.start : sentence.start + sentence.bytes].decode()
            large = sentence.bytes >= LEAST_SHARE * len(text.encode())
            holds = said in item["directives"]
            yield Example(np.array(marks), vector * SCALE, large, holds, group)


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


def held_out(
    x: Floats, y: Floats, folds: npt.NDArray[np.int_], decay: float, use: npt.NDArray[np.bool_]
) -> Floats:
    """Return what a regression says of each example when it was not trained with its fold.

    use: the examples it is trained with and says something of; 0 of the others.
    """
    said = np.zeros(len(y))
    for fold in range(FOLDS):
        inside, outside = use & (folds != fold), use & (folds == fold)
        weights, bias = regress(x[inside], y[inside], decay)
        said[outside] = x[outside] @ weights + bias
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
    items, more = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (DATA, MORE)
    )
    names = mark_names()
    dev = [item for item in items if item["split"] == "dev"]
    found_items = [*dev, *corpus(), *more]
    found = list(examples(found_items, names))
    # `more` is as hard as could be thought of; how sure to be is decided by the rest.
    common = np.array([example.group < len(found_items) - len(more) for example in found])
    marks = np.array([example.marks for example in found])
    meaning = np.array([example.meaning for example in found])
    y = np.array([example.holds for example in found], dtype=float)
    folds = np.array([example.group * 7919 % 104729 % FOLDS for example in found])

    large = np.array([example.large for example in found])
    every = np.full(len(y), True)
    said = held_out(meaning, y, folds, PROBE_DECAY, large)
    report("probe", said[large], y[large], 0)
    both = np.hstack([marks, said[:, None]])
    said_both = held_out(both, y, folds, MARK_DECAY, every)
    said_alone = held_out(marks, y, folds, MARK_DECAY, every)
    at_both, at_alone = (
        threshold(said_both[common], y[common]),
        threshold(said_alone[common], y[common]),
    )
    report("form and meaning", said_both[common], y[common], at_both)
    report("form", said_alone[common], y[common], at_alone)
    if dry:
        return
    weights, bias = regress(meaning[large], y[large], PROBE_DECAY)
    with_meaning, bias_both = regress(both, y, MARK_DECAY)
    alone, bias_alone = regress(marks, y, MARK_DECAY)
    spec = registry.spec_of(MODEL)
    data = probe.pack(spec.sha256 or "", np.append(weights * SCALE, bias).astype(np.float32))
    MODEL.with_suffix(".probe").write_bytes(data)
    numbers = {
        "meaning_weight": float(with_meaning[-1]),
        "meaning_bias": bias_both - at_both,
        "form_bias": bias_alone - at_alone,
    }
    WEIGHTS.write_text(header(names, with_meaning[:-1], alone, numbers), encoding="utf-8")


if __name__ == "__main__":
    main()
