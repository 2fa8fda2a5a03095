"""Makes all-MiniLM-L6-v2-Q8_0.basis: the token basis of the bundled model.

What it is learned from is the conversation of `cortext demo` and corpus.json: chat, notes, code,
logs and tool output in several languages, a third of it from the seeded grammar of the benches.
The text decides which axes are kept, not what can be found.

llama.cpp rounds differently on other CPUs, so a rebuild need not have the same bytes: --check
compares means and the space that the axes span.

    python models/make_basis.py --check
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from cortext.models import basis, learning, registry

HERE = Path(__file__).resolve().parent
MODEL = HERE / "all-MiniLM-L6-v2-Q8_0.gguf"
LEAST_SHARED = 0.998  # of the space; the last axes differ little in variance and may turn


def compare(made: basis.Basis, kept: basis.Basis) -> str:
    """Return what differs, "" if nothing does."""
    if made.rotation.shape != kept.rotation.shape or made.model_sha256 != kept.model_sha256:
        return "it is for another model or has another size"
    if not np.array_equal(made.prior, kept.prior):
        return "the probabilities differ"
    if not np.allclose(made.mean, kept.mean, atol=1e-2):
        return f"the means differ by {np.abs(made.mean - kept.mean).max():.4f}"
    shared = float(((made.rotation @ kept.rotation.T) ** 2).sum() / made.bits)
    return "" if shared >= LEAST_SHARED else f"only {shared:.4f} of the space is the same"


@click.command(help="Make the token basis of the bundled model.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=MODEL.with_suffix(".basis"),
    show_default="beside the model",
    help="The file to write, or with --check the file to compare with.",
)
@click.option("--check", is_flag=True, help="Write nothing: rebuild and compare with the file.")
def main(output: Path, check: bool) -> None:
    data = learning.learn(MODEL, registry.spec_of(MODEL))
    if not check:
        output.write_bytes(data)
    elif not output.is_file():
        raise click.ClickException(f"{output} does not exist: make it without --check")
    else:
        kept = basis.unpack(output.read_bytes())
        if difference := compare(basis.unpack(data), kept):
            raise click.ClickException(f"{output} differs: {difference}")
    same = " (same bytes)" if check and data == output.read_bytes() else ""
    click.echo(f"{basis.unpack(output.read_bytes()).sha256}  {output.name}{same}")


if __name__ == "__main__":
    main()
