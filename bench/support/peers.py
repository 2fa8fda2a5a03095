"""Other people's engines: an environment for each, and a process in it that does as it is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["PEERS", "Peer", "PeerError", "Process", "interpreter", "names"]

SCRIPTS = Path(__file__).resolve().parents[1] / "peers"
INSTALLED = "installed.json"
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "RAYON_NUM_THREADS",
        "TOKIO_WORKER_THREADS",
        "LANCE_CPU_THREADS",
    ),
    "1",
)
KERNEL_CHOICE = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # OpenBLAS finds the fastest by itself

Level = Literal["index", "store"]


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to search; `requirements` begin with the package whose version is told."""

    name: str
    script: str
    requirements: tuple[str, ...]
    variant: str = ""
    durability: str = ""  # of a store: what an acknowledged message survives

    @property
    def label(self) -> str:
        return f"{self.name} {self.variant}".strip()

    @property
    def level(self) -> Level:
        return "store" if self.script.startswith("store") else "index"


PEERS = (
    Peer("numpy", "index_numpy.py", ("numpy",)),
    Peer("hnswlib", "index_hnswlib.py", ("hnswlib", "numpy")),
    Peer("faiss", "index_faiss.py", ("faiss-cpu", "numpy"), "IndexFlatIP"),
    Peer("faiss", "index_faiss.py", ("faiss-cpu", "numpy"), "IndexHNSWFlat"),
    Peer("usearch", "index_usearch.py", ("usearch", "numpy"), "f32"),
    Peer("usearch", "index_usearch.py", ("usearch", "numpy"), "i8"),
    Peer("sqlite-vec", "index_sqlite_vec.py", ("sqlite-vec", "apsw", "numpy")),
    # How often they sync was counted from outside, with strace.
    Peer(
        "sqlite-numpy",
        "store_sqlite_numpy.py",
        ("numpy",),
        durability="synced, one sync an add",
    ),
    Peer(
        "chroma",
        "store_chromadb.py",
        ("chromadb", "numpy"),
        durability="synced, eight syncs an add",
    ),
    Peer(
        "lancedb",
        "store_lancedb.py",
        ("lancedb", "pyarrow", "numpy"),
        durability="not synced",
    ),
    Peer(
        "qdrant-local",
        "store_qdrant.py",
        ("qdrant-client", "numpy"),
        durability="synced, four syncs a message",
    ),
)


def names() -> list[str]:
    """Of all peers, each once."""
    return list(dict.fromkeys(peer.name for peer in PEERS))


class PeerError(Exception):
    """A peer that cannot be installed or does not run; the message is the reason."""


def interpreter(peer: Peer, folder: Path) -> Path:
    """The Python of the peer's environment in this folder, which is built if it is not there."""
    home = folder / "-".join(peer.requirements)
    python = home / "bin" / "python"
    done = home / INSTALLED  # what is half built has none
    if done.is_file() and json.loads(done.read_text(encoding="utf-8")) == [*peer.requirements]:
        return python
    shutil.rmtree(home, ignore_errors=True)
    try:
        venv.create(home, with_pip=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", *peer.requirements],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        said = error.stderr if isinstance(error, subprocess.CalledProcessError) else None
        raise PeerError(_reason(said or str(error), folder)) from error
    done.write_text(json.dumps(peer.requirements), encoding="utf-8")
    return python


class Process:
    """A peer that has built its index; `built` is what it said of that."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process = process
        self._errors = errors
        self.built = self._answer()

    @classmethod
    @contextmanager
    def run(cls, peer: Peer, python: Path, data: Path, scratch: Path) -> Iterator[Process]:
        """Start it, wait until it has built, and end it."""
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            errors = scratch / "errors.txt"
            with errors.open("w") as stream:
                process = subprocess.Popen(
                    [
                        str(python),
                        str(SCRIPTS / peer.script),
                        peer.requirements[0],
                        peer.variant,
                        str(data),
                        folder,
                    ],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stream,
                    text=True,
                    env=_environment(peer),
                )
            try:
                yield cls(process, errors)
            finally:
                process.kill()
                process.communicate()

    def search(self, first: int, end: int) -> tuple[list[float], list[list[int]]]:
        """Seconds and ids for some of the queries."""
        found = self._ask("search", first, end)
        return found["seconds"], found["ids"]

    def add(self, first: int, end: int) -> list[float]:
        """Seconds for each of some messages, one at a time."""
        seconds: list[float] = self._ask("add", first, end)["seconds"]
        return seconds

    def _ask(self, *order: object) -> dict[str, Any]:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerError(self._last_words()) from error
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise PeerError(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        said = self._errors.read_text(encoding="utf-8", errors="replace")
        return _reason(said or f"ended with {self._process.returncode}", self._errors.parent)


def _environment(peer: Peer) -> dict[str, str]:
    """Ours, but for what would hold a peer back or let it use more threads than one."""
    kept = {name: value for name, value in os.environ.items() if name not in KERNEL_CHOICE}
    return {**kept, **(ONE_THREAD if peer.level == "index" else {})}


def _reason(said: str, folder: Path) -> str:
    """One line, and no path of this machine."""
    lines: Sequence[str] = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    line = (errors or lines or ["no reason given"])[-1]
    return line.replace(str(folder), "").removeprefix("ERROR: ")
