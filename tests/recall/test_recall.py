"""Recall against a brute-force oracle, under every filter, with any query text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext import Engine, InputError, Message, _native
from cortext.engine import STAGES, Stage
from cortext.models import Model

SUBJECTS = [
    "The garage door code",
    "My dentist",
    "The build server",
    "Our cat",
    "The lease",
    "Dinner",
]
FACTS = ["is 8841", "moved to Tuesday", "fails with E1047", "hates the vacuum", "ends in May"]
SESSIONS = ["a", "b", "c"]
ROLES = ["user", "assistant", "tool"]


@pytest.fixture(scope="module")
def filled(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with cortext.open(tmp_path_factory.mktemp("filled") / "m.db", model=model) as mem:
        n = 0
        for subject in SUBJECTS:
            for fact in FACTS:
                for extra in ("", " as I said", " " + "and so on it goes " * 90):
                    mem.ingest(
                        f"{subject} {fact}{extra}",
                        session=SESSIONS[n % 3],
                        role=ROLES[n // 3 % 3],
                        time=1_700_000_000_000 + n * 1000,
                    )
                    n += 1
        assert mem.flush()
        assert mem.stats().chunks > n, "long messages have several chunks"
        yield mem


class Oracle:
    """Messages, and the float32 vector of each that fits one chunk, as the engine embeds it."""

    def __init__(self, engine: Engine) -> None:
        self.messages = engine.messages(limit=10_000)
        context = engine.model.spec.context
        texts = {m.id: f"{m.role}: {m.text}" for m in self.messages}
        short = {i: t for i, t in texts.items() if len(engine.model.tokenize(t)) <= context}
        assert 0 < len(short) < len(texts)
        self.vectors = dict(zip(short, engine.embed(list(short.values())), strict=True))


@pytest.fixture(scope="module")
def oracle(filled: Engine) -> Oracle:
    return Oracle(filled)


filters = st.fixed_dictionaries(
    {},
    optional={
        "session": st.one_of(
            st.sampled_from([*SESSIONS, "nobody"]),
            st.lists(st.sampled_from([*SESSIONS, "nobody"]), min_size=1, max_size=3),
        ),
        "roles": st.lists(st.sampled_from([*ROLES, "nobody"]), min_size=1, max_size=3),
        "since": st.integers(1_699_999_999_000, 1_700_000_095_000),
        "until": st.integers(1_699_999_999_000, 1_700_000_095_000),
    },
)


def passes(message: Message, chosen: dict[str, Any]) -> bool:
    sessions = chosen.get("session", message.session)
    sessions = [sessions] if isinstance(sessions, str) else sessions
    ms = round(message.time.timestamp() * 1000)
    return (
        message.session in sessions
        and message.role in chosen.get("roles", [message.role])
        and ms >= chosen.get("since", ms)
        and ms < chosen.get("until", ms + 1)
    )


@given(
    chosen=filters,
    limit=st.integers(1, 120),
    query=st.sampled_from([f"{s} {f}" for s in SUBJECTS for f in FACTS]),
    level=st.sampled_from(_native.simd_levels()),
)
@settings(deadline=None, max_examples=150)
def test_dense_search_is_exact_under_any_filter(
    filled: Engine,
    oracle: Oracle,
    chosen: dict[str, Any],
    limit: int,
    query: str,
    level: str,
) -> None:
    vectors = oracle.vectors
    _native.force_simd(level)
    hits = filled.recall(
        query, limit=limit, stages=["dense"], explain=True, collapse=False, **chosen
    ).hits
    passing = {m.id for m in oracle.messages if passes(m, chosen)}
    assert len(hits) == min(limit, len(passing)), "k results whenever k exist"
    assert len({h.id for h in hits}) == len(hits)
    assert {h.id for h in hits} <= passing
    vector = filled.embed([query], query=True)[0]
    scores = []
    for hit in hits:
        assert hit.scores is not None
        assert hit.scores.dense is not None
        scores.append(hit.scores.dense)
        if hit.id in vectors:
            assert hit.scores.dense == pytest.approx(float(vectors[hit.id] @ vector), abs=0.01)
    assert scores == sorted(scores, reverse=True)
    if len(hits) < len(passing):
        left_out = [
            float(vectors[i] @ vector) for i in passing - {h.id for h in hits} if i in vectors
        ]
        assert all(value <= scores[-1] + 0.01 for value in left_out)


@given(chosen=filters, limit=st.integers(1, 120))
@settings(deadline=None, max_examples=100)
def test_words_and_listing_respect_any_filter(
    filled: Engine, oracle: Oracle, chosen: dict[str, Any], limit: int
) -> None:
    passing = [m for m in oracle.messages if passes(m, chosen)]
    assert filled.messages(limit=10_000, **chosen) == passing
    chosen["collapse"] = False
    hits = filled.recall("dentist lease", limit=limit, stages=["lexical"], **chosen).hits
    holding = {m.id for m in passing if "dentist" in m.text or "lease" in m.text}
    assert len(hits) == min(limit, len(holding))
    assert {h.id for h in hits} <= holding
    whole: list[Stage] = [stage for stage in STAGES if stage != "cut"]
    both = filled.recall("dentist lease", limit=limit, stages=whole, **chosen).hits
    assert len(both) == min(limit, len(passing))
    ended = filled.recall("dentist lease", limit=limit, **chosen).hits
    assert [h.id for h in ended] == [h.id for h in both[: len(ended)]]
    assert [h.score for h in both] == sorted((h.score for h in both), reverse=True)
    assert all(0 <= h.score <= 1 for h in both)


def may_be_refused(query: str) -> bool:
    """Blank, not UTF-8, or with a NUL."""
    blank = not query.replace("\u200b", " ").replace("\ufeff", " ").strip()
    return blank or "\0" in query or any("\ud800" <= c <= "\udfff" for c in query)


@given(query=st.text(max_size=60))
@settings(deadline=None, max_examples=200)
def test_any_query_text_is_safe(filled: Engine, query: str) -> None:
    if may_be_refused(query):
        with pytest.raises(InputError):
            filled.recall(query, limit=3, stages=["lexical"])
    else:
        filled.recall(query, limit=3, stages=["lexical"])


SYNTAX = [
    '"',
    "'",
    "a AND",
    "NEAR(",
    "text:",
    "^a",
    "a*",
    "-a",
    "(",
    ")",
    "a OR OR b",
    "{a b}: c",
    "%_",
    "; DROP TABLE message",
    "\\",
    "?1",
    "NOT",
    "🙂",
    "+",
    "a:b:c",
    '""',
    "“quoted”",
]


@pytest.mark.parametrize("query", SYNTAX)
def test_query_syntax_means_nothing(filled: Engine, query: str) -> None:
    filled.recall(query, limit=3)
    hits = filled.recall(f"{query} dentist", limit=3, stages=["lexical"]).hits
    assert hits
    assert all("dentist" in h.text for h in hits)


def test_arguments_out_of_range(mem: Engine) -> None:
    mem.ingest("hello")
    bad: list[dict[str, Any]] = [
        {"limit": 0},
        {"limit": -1},
        {"limit": 10_001},
        {"limit": 2**31},
        {"limit": 1.5},
        {"wait_ms": -1},
        {"stages": []},
        {"stages": ["late"]},
        {"session": []},
        {"roles": []},
        {"session": "a\0b"},
        {"session": [None]},
        {"session": [""]},
        {"roles": [None]},
        {"stages": "dense"},
        {"since": datetime(2026, 1, 1)},  # noqa: DTZ001
        {"until": "tomorrow"},
    ]
    for arguments in bad:
        with pytest.raises(InputError):
            mem.recall("hello", **arguments)
    for query in ("", "  ", "\0", "\ud800", None, 3):
        with pytest.raises(InputError):
            mem.recall(query)  # type: ignore[arg-type]


def test_empty_store_recalls_nothing(mem: Engine) -> None:
    result = mem.recall("anything at all")
    assert result.hits == ()
    assert result.pending == 0


def test_reads_its_own_writes(mem: Engine) -> None:
    for i in range(20):
        id = mem.ingest(f"My badge number is now {i}.")
        hits = mem.recall("badge number", limit=50, wait_ms=60_000, explain=True).hits
        assert id in {h.id for h in hits}
        assert all(h.scores is not None and h.scores.dense is not None for h in hits)


def test_found_by_words_before_it_is_embedded(mem: Engine) -> None:
    mem.ingest_many([{"text": f"filler {i} " * 100} for i in range(100)])
    id = mem.ingest("The wifi password is Quokka-77.")
    result = mem.recall("quokka", wait_ms=0)
    assert result.pending > 0
    assert result.hits[0].id == id


def test_what_is_not_embedded_yet_ranks_by_its_words(mem: Engine) -> None:
    mem.ingest_many([{"text": t} for t in ("We painted the garage.", "I like tea.")])
    mem.flush()
    mem.ingest_many([{"text": f"filler {i} " * 100} for i in range(100)])
    id = mem.ingest("The garage code changed to 8841.")
    result = mem.recall("what is the garage code?", wait_ms=0, limit=3, explain=True)
    assert result.pending > 0
    assert next(iter(result)).id == id
    assert len(result) == len(result.hits) == 3


def test_newest_is_embedded_before_the_rest_of_a_long_text(mem: Engine) -> None:
    mem.ingest("The meeting went on about budgets and parking spaces. " * 30_000)
    mem.recall("wait for the start", wait_ms=500)
    id = mem.ingest("We adopted a kitten called Muffin.")
    result = mem.recall("new pet at home", limit=1, wait_ms=8000, stages=["dense"])
    assert result.pending > 0
    assert result.hits[0].id == id


def test_newest_is_embedded_first(mem: Engine) -> None:
    mem.ingest_many([{"text": f"filler {i} " * 100} for i in range(300)])
    id = mem.ingest("We adopted a kitten called Muffin.")
    result = mem.recall("new pet at home", limit=1, wait_ms=3000, stages=["dense"])
    assert result.pending > 0
    assert result.hits[0].id == id


def test_a_backlog_that_takes_much_longer_is_not_waited_for(mem: Engine) -> None:
    mem.ingest_many([{"text": f"filler {i} " * 100} for i in range(2000)])
    while mem.stats().chunks < 3:  # until it is known how long one takes
        time.sleep(0.01)
    first = mem.recall("filler", wait_ms=3000)
    id = mem.ingest("We adopted a kitten called Muffin.")
    result = mem.recall("new pet at home", limit=1, wait_ms=3000, stages=["dense"])
    assert first.pending > 0
    assert result.pending > 0
    assert result.hits[0].id == id, "the newest is waited for"
    assert result.timings.wait < 2700
    assert mem.recall("filler", wait_ms=3000).timings.wait < 2700


def test_flush_waits_for_all_of_it(mem: Engine) -> None:
    mem.ingest_many([{"text": f"filler {i} " * 20} for i in range(150)])
    shown: list[tuple[int, int]] = []
    assert not mem.flush(0.1, progress=lambda done, total: shown.append((done, total)))
    assert mem.flush(progress=lambda done, total: shown.append((done, total)))
    assert shown[-1][0] == shown[-1][1] > 0
    assert mem.stats().pending == 0


def test_finds_by_meaning_across_long_text(mem: Engine) -> None:
    filler = "The meeting went on about budgets and parking spaces. " * 120
    id = mem.ingest(filler + "My sister Ingrid is allergic to walnuts. " + filler)
    mem.ingest_many([{"text": f"We talked about budget item {i} and parking."} for i in range(30)])
    mem.flush()
    hits = mem.recall("Which nuts can Ingrid not eat?", limit=1, stages=["dense"]).hits
    assert [h.id for h in hits] == [id]


def test_accents_case_and_stems_do_not_hide_words(mem: Engine) -> None:
    id = mem.ingest("Wir treffen uns im CAFÉ Grünwald, running late.")
    mem.ingest("something else entirely")
    for query in ("cafe", "GRUNWALD", "café runs"):
        hits = mem.recall(query, stages=["lexical"]).hits
        assert [h.id for h in hits] == [id], query


def test_question_words_alone_still_search(mem: Engine) -> None:
    id = mem.ingest("To be or not to be")
    assert [h.id for h in mem.recall("to be", stages=["lexical"]).hits] == [id]


def test_times_are_utc_and_hits_carry_everything(mem: Engine) -> None:
    mem.ingest("alpha", source="f", metadata={"k": 1}, uid="u", time=0, role="tool", session="s")
    hit = mem.recall("alpha").hits[0]
    assert hit.time == datetime(1970, 1, 1, tzinfo=timezone.utc)
    assert (hit.source, hit.metadata, hit.uid, hit.role, hit.session) == (
        "f",
        {"k": 1},
        "u",
        "tool",
        "s",
    )
    assert hit.scores is None
