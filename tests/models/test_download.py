"""Downloads: huggingface_hub itself, against a server on this machine that serves real files."""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import pty
import socket
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gguf
import pytest

from cortext.errors import ModelError
from cortext.models import download as module
from cortext.models import registry
from cortext.models.download import download
from cortext.models.registry import known, resolve
from cortext.models.verify import verify

REPO, FILE = "owner/tiny-gguf", "tiny-q8_0.gguf"


class Hub(ThreadingHTTPServer):
    """As much of a model hub as a download asks for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.served: dict[str, bytes] = {}
        self.downloads = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def serve(self, repo: str, file: str, content: bytes) -> None:
        self.served[f"/{repo}/resolve/main/{file}"] = content


class Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        content = self.server.served.get(self.path)
        self.send_response(404 if content is None else 200)
        if content is None:
            self.send_header("X-Error-Code", "EntryNotFound")
        else:
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", "c" * 40)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        if content := self.server.served.get(self.path):
            self.server.downloads += 1
            self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CORTEXT_MODEL_DIR", str(tmp_path / "models"))
    return tmp_path / "models"


def tiny(folder: Path, *, name: str = "tiny", dimension: int = 384) -> bytes:
    """A small but whole model file."""
    path = folder / f"{name}.gguf"
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name(name)
    writer.add_context_length(512)
    writer.add_embedding_length(dimension)
    writer.add_pooling_type(gguf.PoolingType.CLS)
    writer.add_tokenizer_model("bert")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


def test_known_name_is_fetched_pinned_and_found(hub: Hub, directory: Path, tmp_path: Path) -> None:
    (spec,) = [spec for spec in known() if spec.name == "bge-small-en-v1.5"]
    content = tiny(tmp_path)
    hub.serve(spec.repo or "", spec.file, content)
    path = download(spec.name, progress=False)
    assert path.read_bytes() == content
    assert path.is_relative_to(directory)
    pinned = json.loads((directory / "models.json").read_text())[spec.name]
    assert pinned["sha256"] == hashlib.sha256(content).hexdigest()
    assert pinned["size"] == len(content)
    found, resolved = resolve(spec.name)
    assert found == path
    assert resolved.query_prefix == spec.query_prefix
    assert resolved.sha256 == pinned["sha256"]
    # Once there, it is not fetched again, by either of its names.
    assert download(spec.name, progress=False) == path
    assert download(spec.repo or "", filename=spec.file, progress=False) == path
    assert hub.downloads == 1


def test_pinned_file_that_changes_is_refused(hub: Hub, tmp_path: Path) -> None:
    (spec,) = [spec for spec in known() if spec.name == "bge-small-en-v1.5"]
    hub.serve(spec.repo or "", spec.file, tiny(tmp_path))
    path = download(spec.name, progress=False)
    path.unlink()
    hub.serve(spec.repo or "", spec.file, tiny(tmp_path, name="another"))
    with pytest.raises(ModelError, match="damaged or another one"):
        download(spec.name, progress=False)
    (pinned,) = [spec for spec in known() if spec.name == "bge-small-en-v1.5"]
    with pytest.raises(ModelError, match="expected"):
        verify(path, pinned.sha256 or "")


def test_any_repository(hub: Hub, tmp_path: Path) -> None:
    hub.serve(REPO, FILE, tiny(tmp_path, dimension=128))
    path = download(REPO, filename=FILE, progress=False)
    found, spec = resolve(f"{REPO}/{FILE}")
    assert found == path
    assert (spec.dimension, spec.pooling, spec.repo) == (128, "cls", REPO)
    assert download(f"{REPO}/{FILE}", progress=False) == path
    assert hub.downloads == 1


def test_manifest_sha256_is_checked(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (spec,) = [spec for spec in known() if spec.name == "bge-small-en-v1.5"]
    strict = dataclasses.replace(spec, sha256="0" * 64)
    monkeypatch.setattr(module, "known", lambda: [strict])
    hub.serve(spec.repo or "", spec.file, tiny(tmp_path))
    with pytest.raises(ModelError, match="0{64}"):
        download(spec.name, progress=False)
    assert not (registry.model_directory() / "models.json").exists()


@pytest.mark.parametrize("damage", ["html", "cut", "wrong shape"])
def test_what_is_served_must_be_the_model(hub: Hub, tmp_path: Path, damage: str) -> None:
    (spec,) = [spec for spec in known() if spec.name == "bge-small-en-v1.5"]
    content = {
        "html": b"<html>Sign in to the hotel wifi</html>",
        "cut": tiny(tmp_path)[:-40],
        "wrong shape": tiny(tmp_path, dimension=64),
    }[damage]
    hub.serve(spec.repo or "", spec.file, content)
    with pytest.raises(ModelError):
        download(spec.name, progress=False)
    assert not (registry.model_directory() / "models.json").exists()


def test_bundled_model_is_here_already(hub: Hub) -> None:
    assert download("all-MiniLM-L6-v2") == resolve("all-MiniLM-L6-v2")[0]
    assert hub.downloads == 0


@pytest.mark.parametrize("shown", [False, True])
def test_progress_bar(hub: Hub, tmp_path: Path, shown: bool) -> None:
    """On a terminal, which huggingface_hub asks for."""
    hub.serve(REPO, FILE, tiny(tmp_path))
    script = (
        "import sys; from cortext.models.download import download; "
        "download(sys.argv[1], filename=sys.argv[2], progress=sys.argv[3] == 'True')"
    )
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
    with open(ours, "rb", buffering=0) as terminal:  # noqa: PTH123  (a descriptor, not a path)
        with open(theirs, "wb", buffering=0) as stderr:  # noqa: PTH123
            subprocess.run(
                [sys.executable, "-c", script, REPO, FILE, str(shown)], stderr=stderr, check=True
            )
            stderr.write(b"end")
        seen = b""
        while not seen.endswith(b"end"):
            seen += terminal.read(4096)
    assert (FILE.encode() in seen) == shown, seen


def test_absent_file(hub: Hub) -> None:
    with pytest.raises(ModelError, match=f"cannot download absent.gguf from {REPO}") as caught:
        download(REPO, filename="absent.gguf", progress=False)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as held:  # bound but not listening: nobody else can take the port
        held.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{held.getsockname()[1]}")
        with pytest.raises(ModelError, match="cannot download") as caught:
            download("bge-small-en-v1.5", progress=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "filename", "message"),
    [
        ("no-such-model", None, "known are all-MiniLM-L6-v2"),
        ("../../etc", None, "no model named"),
        (REPO, None, "name the .gguf file"),
        (REPO, "model.safetensors", "not the name of a .gguf file"),
        (REPO, "../../../escape.gguf", "not the name of a .gguf file"),
        (REPO, "/absolute.gguf", "not the name of a .gguf file"),
        ("../..", "x.gguf", "no model named"),
    ],
)
def test_names_are_checked(hub: Hub, name: str, filename: str | None, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        download(name, filename=filename, progress=False)
    assert hub.downloads == 0
