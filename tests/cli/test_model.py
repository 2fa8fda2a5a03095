"""`cortext model`: list, get, verify, basis; the network is a server in this process."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cortext.models import basis, load, registry

BUNDLED = registry.known()[0]
REPOSITORY, FILE = "someone/small-model", "small-q8_0.gguf"


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    """A hub with one repository, whose file is the bundled model; yields its address."""
    path = registry.installed(BUNDLED)
    assert path is not None
    content = path.read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            found = self.path == f"/{REPOSITORY}/resolve/main/{FILE}"
            self.send_response(200 if found else 404)
            if found:
                self.send_header("ETag", '"' + hashlib.sha1(content).hexdigest() + '"')
                self.send_header("X-Repo-Commit", "0" * 40)
            else:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", str(len(content) if found else 0))
            self.end_headers()

        def do_GET(self) -> None:
            self.do_HEAD()
            if self.path.endswith(FILE):
                self.wfile.write(content)

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_list(run: Callable, tmp_path: Path) -> None:
    result = run("model", "list", CORTEXT_MODEL_DIR=str(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert {len(row) for row in rows} == {7}
    assert rows[0][:4] == [BUNDLED.name, "bundled, used", "384", "256"]
    assert {row[1] for row in rows[1:]} == {"not here"}
    answer = json.loads(run("model", "list", "--json", CORTEXT_MODEL_DIR=str(tmp_path)).stdout)
    assert answer["directory"] == str(tmp_path)
    assert [each["name"] for each in answer["models"]] == [row[0] for row in rows]
    assert answer["models"][0]["sha256"] == BUNDLED.sha256
    assert answer["models"][0]["used"] is True


def test_list_for_a_person(on_terminal: Callable) -> None:
    status, text = on_terminal("model", "list")
    assert status == 0
    assert re.search(rf"^{BUNDLED.name} +bundled, used +384 +256 +28\.\d MiB", text, re.MULTILINE)


def test_list_says_when_the_chosen_model_is_missing(run: Callable) -> None:
    result = run("model", "list", CORTEXT_MODEL="no-such-model")
    assert result.returncode == 0
    assert "no-such-model" in result.stderr
    assert "used" not in result.stdout


def test_get_then_use(run: Callable, hub: str, tmp_path: Path) -> None:
    env = {"CORTEXT_MODEL_DIR": str(tmp_path / "models"), "HF_ENDPOINT": hub}
    result = run("model", "get", REPOSITORY, "--filename", FILE, **env)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    path = Path(result.stdout.rstrip("\n"))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == BUNDLED.sha256
    name = f"{REPOSITORY}/{FILE}"
    offline = {**env, "HF_ENDPOINT": "http://127.0.0.1:1", "CORTEXT_MODEL": name}
    rows = [line.split("\t") for line in run("model", "list", **offline).stdout.splitlines()]
    assert [row[1] for row in rows if row[0] == name] == ["downloaded, used"]
    assert run("model", "verify", **offline).stdout.startswith(f"{path}: {name}, sha256 ")
    store = tmp_path / "m.db"
    assert run("ingest", store, stdin="The code is 8841.", **offline).returncode == 0
    assert json.loads(run("stats", store, "--json", **offline).stdout)["model"] == name


def test_get_what_is_not_there(fails: Callable, run: Callable, hub: str, tmp_path: Path) -> None:
    env = {"CORTEXT_MODEL_DIR": str(tmp_path), "HF_ENDPOINT": hub}
    assert "no model named nope" in fails(1, "model", "get", "nope", **env)
    assert "name the .gguf file" in fails(1, "model", "get", REPOSITORY, **env)
    assert "not the name of a .gguf" in fails(
        1, "model", "get", REPOSITORY, "--filename", "x", **env
    )
    result = run("model", "get", REPOSITORY, "--filename", "other.gguf", **env)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("cortext: cannot download other.gguf")
    assert "Missing argument 'NAME'" in fails(2, "model", "get")


def test_the_bundled_model_needs_no_network(run: Callable, tmp_path: Path) -> None:
    result = run(
        "model",
        "get",
        BUNDLED.name,
        CORTEXT_MODEL_DIR=str(tmp_path),
        HF_ENDPOINT="http://127.0.0.1:1",
    )
    assert result.returncode == 0
    assert result.stdout == f"{registry.installed(BUNDLED)}\n"


def test_verify(run: Callable, fails: Callable, tmp_path: Path) -> None:
    bundled = registry.installed(BUNDLED)
    assert bundled is not None
    for words in ([], [BUNDLED.name], [bundled]):
        result = run("model", "verify", *words)
        assert result.stdout == f"{bundled}: {BUNDLED.name}, sha256 {BUNDLED.sha256}, as expected\n"
    damaged = tmp_path / "damaged.gguf"
    shutil.copy(bundled, damaged)
    with damaged.open("r+b") as file:
        file.seek(-100, 2)
        file.write(b"\0\1\2\3" * 5)
    line = fails(1, "model", "verify", damaged)
    assert f"nothing to check {damaged} against: give --sha256 (the file has " in line
    assert "is damaged or another one" in fails(
        1, "model", "verify", damaged, "--sha256", BUNDLED.sha256
    )
    found = hashlib.sha256(damaged.read_bytes()).hexdigest()
    assert run("model", "verify", damaged, "--sha256", found.upper()).returncode == 0
    with damaged.open("r+b") as file:
        file.truncate(10_000_000)
    assert "damaged.gguf" in fails(1, "model", "verify", damaged)
    assert "no model named nope" in fails(1, "model", "verify", "nope")


def test_commands_say_what_is_wrong_with_the_model(
    fails: Callable, store: Path, tmp_path: Path
) -> None:
    assert "there is no model" in fails(1, "recall", store, "x", CORTEXT_MODEL="no-such-model")
    not_a_model = tmp_path / "x.gguf"
    not_a_model.write_bytes(b"GGUF" * 100)
    assert "x.gguf" in fails(1, "recall", store, "x", CORTEXT_MODEL=str(not_a_model))


@pytest.mark.slow
def test_basis(run: Callable, tmp_path: Path) -> None:
    """Another model's own; the weights are the bundled ones, so the axes are too."""
    bundled = registry.installed(BUNDLED)
    assert bundled is not None
    data = bytearray(bundled.read_bytes())
    data[data.index(b"Sentence embeddings; mean")] ^= 0x20
    path = tmp_path / "other.gguf"
    path.write_bytes(data)
    target = path.with_suffix(".basis")
    target.write_bytes(b"something")
    result = run("model", "basis", str(path))
    assert result.returncode == 1
    assert "--force" in result.stderr
    assert target.read_bytes() == b"something"
    result = run("model", "basis", str(path), "--force")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{target}\n", "")
    made = basis.read(
        target, model_sha256=hashlib.sha256(data).hexdigest(), dimension=BUNDLED.dimension
    )
    kept = basis.unpack(bundled.with_suffix(".basis").read_bytes())
    assert ((made.rotation @ kept.rotation.T) ** 2).sum() / made.bits > 0.998
    assert (made.prior == kept.prior).all()
    assert load(path).fingerprint.endswith(":" + made.sha256[:8])


def test_basis_of_the_bundled_model(run: Callable) -> None:
    result = run("model", "basis", BUNDLED.name, "--force")
    assert result.returncode == 1
    assert "comes with its token basis" in result.stderr
