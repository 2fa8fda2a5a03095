"""What holds for every command: help, version, errors, interrupts, completion."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

import cortext
from cortext.cli import failure
from cortext.cli.main import cli


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and group."""
    yield path
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


@pytest.mark.parametrize(
    "words", list(commands(cli)), ids=lambda words: " ".join(words) or "cortext"
)
def test_help_has_examples_of_the_command(words: tuple[str, ...], run: Callable) -> None:
    result = run(*words, "--help")
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.startswith(f"Usage: {' '.join(('cortext', *words))} ")
    examples = result.stdout.partition("\nExamples:\n")[2]
    assert " ".join(("cortext", *words)) in examples


def test_short_helps_fit_on_their_lines(run: Callable) -> None:
    for words in ((), ("model",)):
        assert "..." not in run(*words, "--help", COLUMNS="80").stdout.partition("Commands:")[2]


def test_h_is_short_for_help(run: Callable) -> None:
    assert run("recall", "-h").stdout == run("recall", "--help").stdout


def test_version(run: Callable) -> None:
    result = run("--version")
    assert result.stdout == f"cortext {cortext.__version__}\n"


def test_alone_it_shows_its_help(run: Callable) -> None:
    for words in ((), ("model",)):
        result = run(*words)
        assert result.returncode == 0
        assert result.stdout == run(*words, "--help").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["remember"], "No such command 'remember'"),
        (["--loud"], "No such option"),
        (["recall"], "Missing argument 'STORE'"),
        (["recall", "memory.db"], "Missing argument 'QUERY"),
        (["recall", "memory.db", "x", "--limit", "0"], "0 is not in the range"),
        (["recall", "memory.db", "x", "--limit", "many"], "not a valid integer"),
        (["recall", "memory.db", "x", "--since", "tomorrow"], "not an ISO 8601 date or time"),
        (["recall", "memory.db", "x", "--until", "2026-01-01T00:00"], "the time has no zone"),
        (["messages", "memory.db", "--since", "2026-13-01"], "not an ISO 8601 date or time"),
        (["ingest", "new.db", "missing.jsonl"], "'missing.jsonl' does not exist"),
        (["ingest", "new.db", "--format", "xml"], "'xml' is not one of"),
        (["stats"], "Missing argument 'STORE'"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
        (["demo", "--questions", "0"], "0 is not in the range"),
        (["demo", "--json", "--ask"], "--ask and --json"),
    ],
)
def test_wrong_usage(words: list[str], says: str, fails: Callable) -> None:
    line = fails(2, *words)
    assert says in line
    assert line.endswith("--help)")


@pytest.mark.parametrize("words", [["recall", "x"], ["messages"], ["stats"]], ids=lambda w: w[0])
def test_reading_never_makes_a_store(words: list[str], fails: Callable, tmp_path: Path) -> None:
    name, *rest = words
    missing = tmp_path / "missing.db"
    assert f"no store at {missing}" in fails(1, name, missing, *rest)
    assert "is not a file" in fails(1, name, tmp_path, *rest)
    empty = tmp_path / "empty.db"
    empty.touch()
    assert "is an empty file, not a store" in fails(1, name, empty, *rest)
    assert list(tmp_path.iterdir()) == [empty]
    assert empty.stat().st_size == 0


def test_something_else_is_not_a_store(fails: Callable, chat: Path) -> None:
    before = chat.read_bytes()
    assert "is not a Cortext store" in fails(1, "recall", chat, "x")
    assert chat.read_bytes() == before


def test_debug_shows_where(run: Callable) -> None:
    result = run("stats", "missing.db", CORTEXT_DEBUG="1")
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("cortext: no store at missing.db")


def test_a_bug_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert failure.report(ZeroDivisionError("of\n\x1b[31mnothing")) == 1
    error = capsys.readouterr().err
    assert error == (
        "cortext: ZeroDivisionError: of \\x1b[31mnothing "
        "(a bug in cortext; CORTEXT_DEBUG=1 shows where)\n"
    )


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (cortext.StoreBusyError("the store is busy"), 1, "the store is busy"),
        (cortext.ClosedError(), 1, "ClosedError"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 1, "not enough memory"),
        (PermissionError(13, "Permission denied", "memory.db"), 1, "memory.db: Permission denied"),
        (EOFError(), 1, "the input ended too early"),
        (click.Abort(), 1, "the input ended too early"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_each_error_has_its_status(
    error: BaseException, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failure.report(error) == status
    assert capsys.readouterr().err == f"cortext: {says}\n"


@pytest.mark.parametrize("json", [[], ["--json"]], ids=["text", "json"])
def test_a_reader_that_leaves(json: list[str], store: Path) -> None:
    """No word, and the status of SIGPIPE; output of any length, also what fits in a buffer."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "cortext", "messages", store, *json],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=store.parent,
        check=False,
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written(store: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cortext", "stats", store],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=store.parent,
            check=False,
        )
    assert done.stderr == b"cortext: cannot write the output: No space left on device\n"
    assert done.returncode == 1


def test_closed_standard_output(store: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -m cortext stats "$1" >&-', sys.executable, store],
        stderr=subprocess.PIPE,
        cwd=store.parent,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_closed_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -m cortext ingest m.db <&-', sys.executable],
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        check=False,
    )
    assert done.stderr == b"cortext: there is no standard input; name a file\n"
    assert done.returncode == 1


def test_interrupt(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cortext", "ingest", folder / "never.db"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    wait_for(folder / "never.db")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    out, error = process.communicate()
    assert (process.returncode, out, error) == (130, b"", b"cortext: interrupted\n")


def test_interrupted_embedding_loses_nothing(run: Callable, folder: Path, tmp_path: Path) -> None:
    """What is stored says so, and the next command goes on with it."""
    lines = tmp_path / "lines.txt"
    count = 5000
    lines.write_text(
        "".join(f"{n}: {'all of this is to be embedded ' * 5}\n" for n in range(count))
    )
    store = tmp_path / "big.db"
    process = subprocess.Popen(
        [sys.executable, "-m", "cortext", "ingest", store, lines, "--format", "lines"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    wait_for(store, lambda: run("messages", store, "--limit", "1").stdout != "")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    out, error = process.communicate()
    assert process.returncode == 130
    assert out == b""
    assert error.startswith(b"cortext: interrupted; all messages are stored")
    assert error.count(b"\n") == 1
    assert len(run("messages", store, "--all").stdout.splitlines()) == count


def wait_for(path: Path, condition: Callable[[], bool] = lambda: True) -> None:
    """Wait until a file exists and a condition holds."""
    deadline = time.monotonic() + 60
    while not (path.exists() and condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


SHELLS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_scripts_are_valid(shell: str, run: Callable, tmp_path: Path) -> None:
    result = run("completion", shell)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"_CORTEXT_COMPLETE={shell}_complete" in result.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here to check the script with")
    script = tmp_path / "script"
    script.write_text(result.stdout)
    subprocess.run([*SHELLS[shell], script], check=True)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("cortext re", {"plain,recall", "plain,related"}),
        ("cortext completion ", {"plain,bash", "plain,zsh", "plain,fish"}),
        ("cortext ingest memory.db --format js", {"plain,jsonl"}),
        ("cortext recall memory.db --ex", {"plain,--explain"}),
    ],
)
def test_completion_completes(typed: str, offered: set[str], run: Callable) -> None:
    result = run(
        _CORTEXT_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(typed.count(" "))
    )
    assert set(result.stdout.split()) == offered
