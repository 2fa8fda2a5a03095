"""The command as its users run it: a process of its own, with and without a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "cortext"]

HOSTILE = (
    "hostile \x1b[31mred\x1b[0m [bold]markup[/bold] [/] :smile: "
    "\u202ebidi\u2066 \x9b2J \x07 \x7f\ttab"
)
MESSAGES = [
    {
        "text": "The garage door code is 8841.",
        "role": "user",
        "session": "home",
        "time": "2026-01-02T03:04:05+02:00",
        "uid": "garage",
        "metadata": {"tags": ["door", None, 1.5]},
    },
    {
        "text": "Noted, I will remember the code of the garage.",
        "role": "assistant",
        "session": "home",
        "time": 1767315850000,
    },
    {
        "text": "Our flight to Lisbon leaves on Friday at nine.",
        "role": "user",
        "session": "travel",
        "time": "2026-02-01T08:00:00Z",
        "source": "mail",
    },
    {"text": "车库的门禁密码是八千", "session": "home", "time": "2026-02-02T08:00:00Z"},
    {
        "text": HOSTILE,
        "role": "us\x1b[2Jer",
        "session": "[red]x\u202e",
        "time": "2026-03-01T00:00:00Z",
        "uid": "hostile",
        "metadata": {"k\x1b": "\x9b\u202e"},
    },
    {"text": "filler " * 200 + "pomegranate " + "filler " * 200, "time": "2026-03-02T00:00:00Z"},
]

DROPPED = {
    "COLUMNS", "CORTEXT_DEBUG", "CORTEXT_MODEL", "FORCE_COLOR", "HF_ENDPOINT", "NO_COLOR",
    "PYTHONIOENCODING", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "_CORTEXT_COMPLETE",
}  # fmt: skip

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(extra: dict[str, str]) -> dict[str, str]:
    """Return the environment without what would change the answers."""
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    return {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **extra}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is no checkout: what is installed is what runs."""
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="session")
def run(folder: Path) -> Run:
    """Run `cortext` with pipes.  Never is there a traceback."""

    def call(
        *args: object, stdin: str | bytes = b"", cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*COMMAND, *map(str, args)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd or folder,
            env=environment(env),
            timeout=300,
            check=False,
        )
        result = subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )
        assert "Traceback" not in result.stderr or env.get("CORTEXT_DEBUG")
        return result

    return call


@pytest.fixture(scope="session")
def fails(run: Run) -> Callable[..., str]:
    """Run `cortext`, which must fail with one line, and return it."""

    def call(status: int, *args: object, **kwargs: object) -> str:
        result = run(*args, **kwargs)
        assert result.returncode == status, result.stderr
        assert result.stdout == ""
        assert result.stderr.endswith("\n")
        assert result.stderr.count("\n") == 1, result.stderr
        assert result.stderr.startswith("cortext: ")
        return result.stderr.rstrip()

    return call


@pytest.fixture(scope="session")
def on_terminal(folder: Path) -> Callable[..., tuple[int, str]]:
    """Run `cortext` on a terminal and return its status and all that it wrote."""

    def call(*args: object, columns: int = 100, typed: str = "", **env: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen(
            [*COMMAND, *map(str, args)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=environment(env),
        )
        os.close(theirs)
        os.write(ours, typed.encode())
        written = bytearray()
        try:
            while part := os.read(ours, 65536):
                written += part
        except OSError:  # Linux reports the end so
            pass
        os.close(ours)
        return process.wait(timeout=300), written.decode().replace("\r\n", "\n")

    return call


@pytest.fixture(scope="session")
def chat(folder: Path) -> Path:
    """The messages as a file of JSON lines."""
    path = folder / "chat.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in MESSAGES), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def store(run: Run, folder: Path, chat: Path) -> Path:
    """A store with the messages; tests only read it."""
    path = folder / "memory.db"
    result = run("ingest", path, chat)
    assert result.returncode == 0, result.stderr
    return path
