"""Recall.standing: from ingest to the list, over reopening, crashes and other processes."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cortext
from cortext import Engine, InputError, InternalError, _native
from cortext.models import Model

START = 1_750_000_000_000
RULES = [
    "Never push to main.",
    "Always run the tests before committing.",
    "Do not use emojis.",
    "Call me Max.",
    "Never schedule meetings before ten.",
]


def directives(mem: Engine, query: str = "what now?", **options: object) -> list[str]:
    return [one.directive for one in mem.recall(query, wait_ms=60_000, **options).standing]  # type: ignore[arg-type]


def say(mem: Engine, texts: Sequence[str], *, session: str = "s", start: int = START) -> None:
    for number, text in enumerate(texts):
        mem.ingest(text, session=session, time=start + number)


def test_newest_first_with_span_and_message(mem: Engine) -> None:
    say(mem, RULES)
    long = "Grüße! The draft is fine. Don't use semicolons in anything you write for me. See you."
    id = mem.ingest(long, session="t", time=START + 99, metadata={"a": 1}, uid="u")
    found = mem.recall("zzz", wait_ms=60_000).standing
    assert [one.directive for one in found[1:]] == RULES[::-1]
    first = found[0]
    assert (first.id, first.text, first.session, first.role) == (id, long, "t", "user")
    assert (first.uid, first.metadata) == ("u", {"a": 1})
    assert first.directive == "Don't use semicolons in anything you write for me."
    assert first.text[slice(*first.span)] == first.directive


def test_what_is_about_the_query_comes_first(mem: Engine) -> None:
    say(mem, RULES)
    assert directives(mem, "commit the fix, the tests are green")[0] == RULES[1]
    assert directives(mem, "find a time for a meeting with Jana")[0] == RULES[4]


def test_the_list_takes_no_place_from_the_hits(mem: Engine) -> None:
    say(mem, [*RULES, "The garage code is 8841.", "The cat is called Ada."])
    with_list = mem.recall("what is the garage code?", limit=3, wait_ms=60_000)
    without = mem.recall("what is the garage code?", limit=3, standing_limit=0)
    assert with_list.hits == without.hits
    assert (len(with_list.standing), without.standing) == (5, ())
    ids = {hit.id for hit in with_list.hits}
    assert all(one.is_hit == (one.id in ids) for one in with_list.standing)
    assert len(directives(mem, standing_limit=2)) == 2
    with pytest.raises(InputError, match="standing_limit"):
        mem.recall("x", standing_limit=-1)


def test_only_those_who_may_give_orders(mem: Engine) -> None:
    for role in ("assistant", "tool", "function", "Ann", "users", "system2"):
        mem.ingest("Never push to main.", role=role)
    assert directives(mem) == []
    for number, role in enumerate(("user", "system", "developer", "human", "User")):
        mem.ingest(RULES[number], role=role)
    assert len(directives(mem)) == 5


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(min_size=1).filter(lambda text: "\0" not in text and text.strip(" \t\r\n")))
def test_any_text_is_embedded_and_none_of_a_tool_stands(mem: Engine, text: str) -> None:
    with contextlib.suppress(InputError):
        mem.ingest(f"Never do this. {text}", role="tool")
        mem.ingest(text, role="assistant")
        mem.ingest(text)
    found = mem.recall("what?", wait_ms=60_000, standing_limit=10_000)
    assert found.pending == 0
    for one in found.standing:
        assert one.role == "user"
        assert one.directive == one.text[one.span[0] : one.span[1]] != ""


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("older", "newer", "left"),
    [
        ("From now on answer in German.", "From now on answer in English.", 1),
        ("Call me Max.", "Please call me Maximilian.", 1),
        ("Do not use emojis.", "Do not use emojis!", 1),
        ("Never push to main.", "You can push to main again.", 0),
        ("Do not use emojis.", "You don't have to avoid emojis any more, use emojis again.", 0),
    ],
)
def test_the_newer_takes_the_place_of_the_older(
    mem: Engine, older: str, newer: str, left: int, backwards: bool
) -> None:
    said = [(older, START), (newer, START + 10)]
    for text, when in said[::-1] if backwards else said:
        mem.ingest(text, time=when, session="a")
        mem.flush()  # in this order, whatever the backlog would do
    assert directives(mem) == [newer][:left]
    assert directives(mem, session="a") == [newer][:left]
    assert directives(mem, until=START + 10) == [older], "it stood then"
    assert directives(mem, until=START + 10, session="a") == [older]
    assert directives(mem, until=START) == []


def test_both_stand(mem: Engine) -> None:
    said = [
        "Never push to main.",
        "Call me Max.",
        "Call my wife Anna from now on.",
        "You can use tables again.",
    ]
    say(mem, said)
    assert set(said[:2]) <= set(directives(mem))


def test_filters(mem: Engine) -> None:
    say(mem, RULES[:2], session="a")
    say(mem, RULES[2:3], session="b", start=START + 100)
    assert directives(mem, session="a") == RULES[1::-1]
    assert directives(mem, session=["a", "b"]) == RULES[2::-1]
    assert directives(mem, session="c") == []
    assert directives(mem, roles="assistant") == RULES[2::-1]
    assert directives(mem, since=START + 50) == RULES[2::-1]
    assert directives(mem, until=START + 100) == RULES[1::-1]


def test_another_session_ends_nothing_within_one(mem: Engine) -> None:
    mem.ingest("From now on answer in German.", session="a", time=START)
    mem.ingest("From now on answer in English.", session="b", time=START + 1)
    assert directives(mem) == ["From now on answer in English."]
    assert directives(mem, session="a") == ["From now on answer in German."]


def test_several_in_one_message_and_across_chunks(mem: Engine) -> None:
    filler = "The weather in Oslo was mild and the ferry was on time, said nobody in particular. "
    text = f"{RULES[0]} {filler * 30}{RULES[2]} {filler * 30}{RULES[4]}"
    mem.ingest(text, role="system")
    assert mem.flush(60)
    assert directives(mem) == [RULES[4], RULES[2], RULES[0]]


def test_over_reopening(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        say(mem, RULES)
        before = mem.recall("commit it", wait_ms=60_000).standing
    with cortext.open(path, model=model) as mem:
        assert mem.recall("commit it").standing == before


def test_without_basis_and_probe(path: Path, model: Model) -> None:
    plain = Model(model.path, model.spec, threads=1, encoder="auto", cache=None, token_basis=None)
    with cortext.open(path, model=plain) as mem:
        say(mem, [*RULES, RULES[0]])
        assert directives(mem) == [RULES[0], *RULES[:0:-1]]
        assert all(one.relevance == 0 for one in mem.recall("main").standing)
    plain.close()


def test_words_alone(mem: Engine) -> None:
    say(mem, RULES)
    mem.flush()
    found = mem.recall("meeting", stages=["lexical"]).standing
    assert [one.directive for one in found] == RULES[::-1]


WRITER = """
import sys, cortext
mem = cortext.open(sys.argv[1])
print("ready", flush=True)
filler = "The weather in Oslo was mild and the ferry was on time. " * 60
for i in range(40):
    text = f"Never push to branch {i * 7919}. {filler} Do not use emojis."
    mem.ingest(text, uid=str(i), session=str(i))
    print(i, flush=True)
mem.flush()
"""


def test_killed_while_embedding(path: Path, model: Model) -> None:
    for seconds in (0.05, 0.2, 0.4, 0.8):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(seconds)
            writer.send_signal(signal.SIGKILL)
    with cortext.open(path, model=model) as mem:
        assert mem.flush(240)
        count = mem.stats().messages
    with contextlib.closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT message_id, start FROM directive").fetchall()
        assert len(rows) == len(set(rows))
        alone = db.execute("SELECT count(*) FROM directive WHERE start = 0").fetchone()[0]
        last = db.execute("SELECT count(*) FROM directive WHERE start > 0").fetchone()[0]
        assert alone == last == count, "neither lost nor doubled"
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_every_allocation_fails_once(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        for n in range(1, 60):
            with contextlib.suppress(InternalError):  # the fault may hit this call instead
                mem.ingest(RULES[n % 5], uid=str(n), session=str(n), time=START + n)
            _native.fail_allocation(n % 25 + 1)
        _native.fail_allocation(0)
        for n in range(1, 60):
            mem.ingest(RULES[n % 5], uid=str(n), session=str(n), time=START + n)
        assert mem.flush(120)
        expected = directives(mem)
        assert sorted(expected) == sorted(RULES)
        failed = 0
        for n in range(1, 200):
            _native.fail_allocation(n)
            try:
                found = directives(mem)
            except InternalError:
                failed += 1
            else:
                assert found == expected
        _native.fail_allocation(0)
        assert failed > 20


def test_threads(mem: Engine) -> None:
    def work(number: int) -> None:
        for i in range(6):
            mem.ingest(RULES[i % 5], session=f"{number}")
            mem.recall("commit", session=f"{number}", wait_ms=0)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(directives(mem)) == sorted(RULES)


def test_damage_is_said(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        say(mem, RULES)
        mem.flush()
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE directive SET bytes = 10000")
    with cortext.open(path, model=model) as mem, pytest.raises(cortext.StoreCorruptError):
        mem.recall("commit")


def test_as_of_knows_only_what_was_said_by_then(mem: Engine) -> None:
    """Whatever was said later, and in whatever order the messages were looked at."""
    day = 86_400_000
    names = ["Max", "Tom", "Ben"]
    mem.ingest_many(
        {"text": f"Please call me {name}.", "time": START + i * 10 * day}
        for i, name in enumerate(names)
    )
    for i, name in enumerate(names):
        then = START + (i * 10 + 5) * day
        for session in (None, "default"):
            assert directives(mem, as_of=then, session=session) == [f"Please call me {name}."]
