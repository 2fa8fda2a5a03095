"""`cortext recall`: for people, for pipes and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from cortext import StageScores

ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
QUESTION = ("what", "is", "the", "garage", "code?")


def test_piped_is_plain_and_tabular(run: Callable, store: Path) -> None:
    result = run("recall", store, *QUESTION)
    assert (result.returncode, result.stderr) == (0, "")
    first = result.stdout.splitlines()[0].split("\t")
    assert re.fullmatch(r"[01]\.\d{3}", first[0])
    assert first[1:] == [
        "1",
        "2026-01-02T01:04:05.000Z",
        "home",
        "user",
        "The garage door code is 8841.",
    ]
    assert {line.count("\t") for line in result.stdout.splitlines()} == {5}
    assert "\x1b" not in result.stdout
    forced = run("recall", store, *QUESTION, COLUMNS="20", FORCE_COLOR="1")
    assert forced.stdout == result.stdout


def test_json_has_all_there_is(run: Callable, store: Path) -> None:
    result = run("recall", store, " ".join(QUESTION), "--json", "--limit", "2")
    assert result.stdout.count("\n") == 1
    answer = json.loads(result.stdout)
    assert answer["query"] == "what is the garage code?"
    assert answer["pending"] == 0
    assert 0 <= answer["confidence"] <= 1
    assert set(answer["timings"]) == {
        *("wait", "encode", "dense", "lexical", "late", "fetch", "total")
    }
    assert len(answer["hits"]) == 2
    hit = answer["hits"][0]
    assert set(hit) == {
        "score", "id", "uid", "session", "role", "time", "source", "metadata", "text",
        "excerpt", "duplicates", "before", "after",
        "supersedes", "superseded_by",
    }  # fmt: skip
    assert (hit["uid"], hit["metadata"]) == ("garage", {"tags": ["door", None, 1.5]})
    assert 0 <= hit["score"] <= 1
    assert re.fullmatch(ISO, hit["time"])


def test_what_is_beside_a_hit_and_what_was_cut_is_marked(run: Callable, tmp_path: Path) -> None:
    db, chat = tmp_path / "m.db", tmp_path / "chat.jsonl"
    turns = [
        ("user", "Which colour shall the fence have?"),
        ("assistant", "Dark green would suit the zebra."),
        (
            "user",
            "The train was late, we missed the concert. " * 40 + "A zebra crossed the road. " * 3,
        ),
        ("user", "Zebras like dark green leaves."),
        ("user", "zebras like DARK green leaves"),
    ]
    chat.write_text("".join(json.dumps({"role": r, "text": t}) + "\n" for r, t in turns))
    assert run("ingest", db, chat).returncode == 0
    query = ("dark", "green", "would", "suit")
    lines = run("recall", db, *query, "--limit", "1").stdout.splitlines()
    assert lines[0].startswith("before\t")
    assert [line.split("\t")[5] for line in lines] == [turns[0][1], turns[1][1]]
    alone = run("recall", db, *query, "--limit", "1", "--no-attach").stdout.splitlines()
    assert alone == lines[1:]
    explained = run("recall", db, *query, "--limit", "1", "--explain").stdout.splitlines()
    assert len({line.count("\t") for line in explained}) == 1
    (hit,) = json.loads(run("recall", db, *query, "--limit", "1", "--json").stdout)["hits"]
    assert [message["text"] for message in hit["before"]] == [turns[0][1]]
    assert (hit["after"], hit["excerpt"], hit["duplicates"]) == ([], None, [])

    hits = json.loads(run("recall", db, "zebras like leaves", "--json").stdout)["hits"]
    assert (hits[0]["id"], hits[0]["duplicates"]) == (5, [4])
    cut = run("recall", db, "train concert late", "--budget-tokens", "40", "--limit", "1").stdout
    assert re.search(r"\t\[\.\.\.\] .*concert.* \[\.\.\.\]\n$", cut)
    answer = run("recall", db, "train concert late", "--budget-bytes", "200", "--json").stdout
    hit = json.loads(answer)["hits"][0]
    assert hit["text"] == turns[2][1][slice(*hit["excerpt"])]
    assert len(hit["text"]) <= 200


def test_a_person_sees_what_a_hit_stands_for(
    run: Callable, on_terminal: Callable, tmp_path: Path
) -> None:
    text = "The garage code is 8841.\n\n"
    assert run("ingest", tmp_path / "m.db", "-", "--format", "text", stdin=text * 2).returncode == 0
    _, shown = on_terminal("recall", tmp_path / "m.db", "8841")
    assert re.search(r"8841.*\[and 1 time more\]", shown)


def test_budgets_are_checked(fails: Callable, store: Path) -> None:
    for option in ("--budget-tokens", "--budget-bytes"):
        assert option in fails(2, "recall", store, "code", option, "0")


def test_explain(run: Callable, store: Path) -> None:
    result = run("recall", store, *QUESTION, "--explain")
    dense, lexical = result.stdout.splitlines()[0].split("\t")[1:3]
    assert -1 <= float(dense) <= 1
    assert float(lexical) > 0
    assert re.match(
        r"\d+ hits, confidence [01]\.\d\d, in [\d.]+ ms \(wait [\d.]+, encode [\d.]+, ",
        result.stderr,
    )
    hits = json.loads(run("recall", store, *QUESTION, "--explain", "--json").stdout)["hits"]
    assert set(hits[0]["scores"]) == {field.name for field in fields(StageScores)}
    assert all(hit["scores"]["dense"] is not None for hit in hits)


def test_filters(run: Callable, store: Path) -> None:
    def uids(*options: str) -> list[tuple[str, str]]:
        hits = json.loads(run("recall", store, "code", "--json", *options).stdout)["hits"]
        return sorted((hit["session"], hit["role"]) for hit in hits)

    assert uids("--session", "home", "--role", "assistant") == [("home", "assistant")]
    both = uids("--session", "home", "--session", "travel", "--role", "user")
    assert ("home", "user") in both
    assert set(both) <= {("home", "user"), ("travel", "user")}
    # A date is its midnight in UTC; since is included, until is not.
    assert uids("--since", "2026-02-01", "--until", "2026-02-02") == [("travel", "user")]
    assert uids("--since", "2026-02-01T08:00:00Z", "--until", "2026-02-02T08:00:00Z") == [
        ("travel", "user")
    ]
    assert uids("--since", "2026-02-01T10:00:00+01:00", "--until", "2026-02-03") == [
        ("home", "user")
    ]


def test_nothing_found_is_no_failure(run: Callable, store: Path) -> None:
    result = run("recall", store, "code", "--session", "nowhere")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "no hits\n")
    result = run("recall", store, "code", "--session", "nowhere", "--json")
    assert (result.returncode, result.stderr) == (0, "no hits\n")
    assert json.loads(result.stdout)["hits"] == []


def test_queries_of_any_shape(run: Callable, fails: Callable, store: Path) -> None:
    for query in ('"*(){}^:AND NOT', "--", "[bold]", "车库密码", "a" * 10_000):
        assert run("recall", store, "--", query).returncode == 0
    assert "query" in fails(1, "recall", store, " ")


def test_a_person_sees_a_table_with_the_words_marked(on_terminal: Callable, store: Path) -> None:
    status, text = on_terminal("recall", store, *QUESTION)
    assert status == 0
    heading = re.sub(r"\x1b\[[\d;]*m", "", text.splitlines()[0]).split()
    assert heading == ["score", "id", "time", "session", "role", "text"]
    assert re.search(r"The \x1b\[[\d;]+mgarage\x1b\[0m door \x1b\[[\d;]+mcode\x1b\[0m is", text)
    assert "2026-01-02 01:04" in text
    assert re.search(r"^\d hits, confidence [01]\.\d\d, in [\d.]+ ms", text, re.MULTILINE)
    # A long text is cut around the word that was asked for, unless all of it is wanted.
    status, text = on_terminal("recall", store, "pomegranate", "--limit", "1")
    assert re.search(r"…\w* ?(filler\s+)+\x1b\[[\d;]+mpomegranate\x1b\[0m", text)
    assert text.count("filler") < 100
    status, text = on_terminal("recall", store, "pomegranate", "--limit", "1", "--full")
    assert text.count("filler") == 400


def test_no_color_and_width(on_terminal: Callable, store: Path) -> None:
    _, text = on_terminal("recall", store, *QUESTION, NO_COLOR="1")
    assert not re.search(r"\x1b\[[\d;]*(3|4|9)\d", text)
    for columns in (40, 80, 200):
        _, text = on_terminal("recall", store, *QUESTION, "--limit", "1", columns=columns)
        lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
        assert max(map(len, lines[:-1])) <= columns
        assert "The garage" in text.replace("\x1b[1;33m", "")


def test_standing_directives(run: Callable, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text(
        '{"text": "Thanks. Never push to main. Bye!"}\n'
        '{"text": "Never push to main.", "role": "tool"}\n'
        '{"text": "The garage code is 8841."}\n'
    )
    store = tmp_path / "standing.db"
    run("ingest", store, chat)
    answer = json.loads(run("recall", store, "garage", "--json").stdout)
    (one,) = answer["standing"]
    assert one["directive"] == "Never push to main."
    assert one["text"][slice(*one["span"])] == one["directive"]
    assert (one["role"], one["is_hit"]) == ("user", True)
    piped = run("recall", store, "garage")
    assert {line.count("\t") for line in piped.stdout.splitlines()} == {5}, "hits alone"
    none = run("recall", store, "garage", "--json", "--standing", "0")
    assert json.loads(none.stdout)["standing"] == []


def test_superseded_is_marked_or_left_out(run: Callable, tmp_path: Path) -> None:
    store = tmp_path / "badge.db"
    lines = [
        json.dumps({"text": f"The badge code is {code}.", "uid": uid, "time": time})
        for uid, code, time in (("old", 1001, 1767315850000), ("new", 2002, 1767325850000))
    ]
    run("ingest", store, "-", stdin="\n".join(lines))
    old, new = (
        json.loads(line)["id"] for line in run("messages", store, "--json").stdout.splitlines()
    )
    printed = [
        line.split("\t")[-1] for line in run("recall", store, "badge code").stdout.splitlines()
    ]
    assert printed == [
        "The badge code is 2002.",
        f"[superseded by {new}] The badge code is 1001.",
    ]
    hits = json.loads(run("recall", store, "badge code", "--json").stdout)["hits"]
    assert [(hit["supersedes"], hit["superseded_by"]) for hit in hits] == [([old], []), ([], [new])]
    current = run("recall", store, "badge code", "--current-only").stdout.splitlines()
    assert [line.split("\t")[-1] for line in current] == printed[:1]
