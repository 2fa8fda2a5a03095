"""The lexical stage: scores as FTS5's, identifiers and quotations, any language, any size."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext import Engine
from cortext.models import Model


def found(mem: Engine, query: str, **options: Any) -> list[tuple[int, float]]:
    """Return id and BM25 of each hit by words, best first."""
    recall = mem.recall(
        query, stages=["lexical"], wait_ms=0, explain=True, collapse=False, **options
    )
    hits = []
    for hit in recall.hits:
        assert hit.scores is not None
        assert hit.scores.lexical is not None
        hits.append((hit.id, hit.scores.lexical))
    return hits


def ids(mem: Engine, query: str, **options: Any) -> list[int]:
    return [id for id, _ in found(mem, query, **options)]


VOCABULARY = [
    "garage",
    "door",
    "code",
    "lease",
    "dentist",
    "tuesday",
    "cable",
    "radio",
    "radios",
    "running",
    "ran",
]


DELTA = 1.0  # of BM25+


def plus(db: sqlite3.Connection, words: list[str], id: int) -> float:
    """Return what BM25+ adds to a message's BM25: a part of each matching word's weight."""
    (total,) = db.execute("SELECT count(*) FROM message").fetchone()
    added = 0.0
    for word in words:
        ids = {row[0] for row in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (word,))}
        if id in ids:
            weight = math.log((total - len(ids) + 0.5) / (len(ids) + 0.5))
            added += DELTA * max(weight, 1e-6)
    return added


@given(
    texts=st.lists(
        st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=12).map(" ".join),
        min_size=3,
        max_size=40,
    ),
    query=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5, unique=True),
    limit=st.integers(1, 60),
)
@settings(deadline=None, max_examples=60)
def test_scores_are_those_of_fts5_and_a_floor(
    texts: list[str],
    query: list[str],
    limit: int,
    model: Model,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("oracle") / "m.db"
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": text} for text in texts])
        first = found(mem, " ".join(query), limit=limit)
        assert found(mem, " ".join(query), limit=limit) == first, "also with lengths in memory"
    with sqlite3.connect(path) as db:
        match = " OR ".join(f'"{word}"' for word in query)
        rows = db.execute("SELECT rowid, -rank FROM words WHERE words MATCH ?", (match,)).fetchall()
        expected = {id: score + plus(db, query, id) for id, score in rows}
    db.close()
    assert len(first) == min(limit, len(expected))
    for id, score in first:
        assert score == pytest.approx(expected[id], rel=1e-9, abs=1e-9)
    assert [s for _, s in first] == pytest.approx(
        sorted(expected.values(), reverse=True)[:limit], rel=1e-9, abs=1e-9
    )


LANGUAGES = {
    "Chinese": ("他在北京大学学习历史。", "她在上海的医院工作。", "北京大学"),
    "Japanese": ("東京タワーの近くに住んでいます。", "京都で寿司を食べました。", "東京タワー"),
    "Thai": ("ฉันชอบกินข้าวผัดที่ตลาด", "เขาทำงานในโรงพยาบาล", "ข้าวผัด"),
    "Lao": ("ຂ້ອຍມັກກິນເຂົ້າ", "ລາວເຮັດວຽກຢູ່ໂຮງໝໍ", "ກິນເຂົ້າ"),
    "Khmer": ("ខ្ញុំចូលចិត្តញ៉ាំបាយ", "គាត់ធ្វើការនៅមន្ទីរពេទ្យ", "ញ៉ាំបាយ"),
    "Myanmar": ("ကျွန်တော်ထမင်းစားသည်", "သူဆေးရုံမှာအလုပ်လုပ်သည်", "ထမင်း"),
    "Korean": ("우리는 학교에서 만났습니다.", "그는 병원에 갔다.", "학교"),
    "Arabic": ("التقينا في المكتبة أمس", "يعمل في المستشفى", "المكتبه امس"),
    "Russian": ("Мы встретились в библиотеке.", "Он работает в больнице.", "библиотеке"),
    "Hindi": ("हम पुस्तकालय में मिले थे", "वह अस्पताल में काम करता है", "पुस्तकालय"),
    "German": (
        "Das Häuserverzeichnis der Straße",
        "Er arbeitet im Krankenhaus",
        "HAUSERVERZEICHNIS",
    ),
    "Greek": ("Συναντηθήκαμε στη βιβλιοθήκη", "Δουλεύει στο νοσοκομείο", "ΒΙΒΛΙΟΘΉΚΗ"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_found_by_its_words(mem: Engine, language: str) -> None:
    right, wrong, query = LANGUAGES[language]
    mem.ingest("something else entirely")
    mem.ingest(wrong)
    id = mem.ingest(right)
    mem.ingest(wrong)
    assert ids(mem, query, limit=1) == [id]


WHOLES = {
    "err_conn_refused": "conn was refused with err",
    "parseHttpResponse": "parse the response of http",
    "getUserName": "get the name of a user",
    "1.24.3": "3 of 24 in 1",
    "/srv/app/main.py": "main app on srv in py",
    "src/store/ct_sql.c": "sql of ct in c and the store in src",
    "https://example.org/a/b": "org example with https and a b",
    "550e8400-e29b-41d4-a716-446655440000": "446655440000 a716 41d4 e29b 550e8400",
    "my-api-server": "server for my api",
    "asyncio.run": "run the asyncio",
}


@pytest.mark.parametrize("name", WHOLES)
def test_an_identifier_counts_above_its_parts_scattered(mem: Engine, name: str) -> None:
    scattered = WHOLES[name]
    mem.ingest_many([{"text": scattered}, {"text": f"{scattered} again {scattered}"}])
    id = mem.ingest(f"and then there was {name} in a longer message about something")
    mem.ingest_many([{"text": scattered}, {"text": f"{scattered} again {scattered}"}])
    assert ids(mem, f"what about {name}?", limit=1) == [id]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("calls parseHttpResponse twice", "http"),
        ("calls parseHttpResponse twice", "parse_http_response"),
        ("calls parse_http_response twice", "parseHttpResponse"),
        ("class HTTPServer2", "server"),
        ("see /srv/app/settings.py", "settings"),
        ("error[E0382]: borrow of moved value", "E0382"),
        ("failed with 0x80070057", "0x80070057"),
        ("at commit 9f86d081884c7d65", "9f86d081884c7d65"),
    ],
)
def test_an_identifier_is_found_by_its_parts(mem: Engine, text: str, query: str) -> None:
    mem.ingest("a message about something else")
    id = mem.ingest(text)
    mem.ingest("and one more")
    assert ids(mem, query) == [id]


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "«»", "「」"])
def test_a_quotation_favours_its_words_in_their_order(mem: Engine, marks: str) -> None:
    mem.ingest_many([{"text": "blue the sky is not"}, {"text": "not the blue sky"}])
    id = mem.ingest("they said the sky is not blue today, and more of it later")
    mem.ingest_many([{"text": "blue is not sky"}, {"text": "sky blue"}])
    assert ids(mem, f"who said {marks[0]}sky is not blue{marks[1]}?", limit=1) == [id]


def test_a_long_query_is_carried_by_its_rarest_words(mem: Engine) -> None:
    common = [f"common{i}x" for i in range(100)]
    mem.ingest_many([{"text": " ".join(common)} for _ in range(30)])
    id = mem.ingest("the needle lies here")
    assert ids(mem, " ".join([*common, "needle"]), limit=1) == [id]


@pytest.fixture(scope="module")
def large(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """More messages with the common words than one search scores."""
    with cortext.open(tmp_path_factory.mktemp("large") / "m.db", model=model) as mem:
        mem.ingest_many(
            {
                "text": f"alpha beta{' gamma' if i % 3 == 0 else ''}"
                f"{' needle' if i in (10, 4000) else ''}{' filler' * (i % 7)}",
                "session": f"s{i // 100}",
                "role": "tool" if i < 50 else "user",
                "time": i * 1000,
            }
            for i in range(9000)
        )
        yield mem


def test_rare_words_choose_and_common_ones_count(large: Engine) -> None:
    hits = found(large, "alpha needle gamma", limit=20)
    assert len(hits) == 20
    assert {id for id, _ in hits[:2]} == {11, 4001}
    alone = dict(found(large, "needle", limit=20))
    assert all(score > alone[id] for id, score in hits[:2])
    assert len({id for id, _ in hits}) == 20, "no message twice"


def test_counts_of_common_words_are_kept_while_the_store_grows_little(
    tmp_path: Path, model: Model
) -> None:
    path = tmp_path / "m.db"

    def off() -> float:
        """Return how far the best score is from FTS5's."""
        (id, score), *_ = found(mem, "alpha 6", limit=1)
        with sqlite3.connect(path) as db:
            sql = "SELECT -rank FROM words WHERE words MATCH 'alpha OR 6' AND rowid = ?"
            ((exact,),) = db.execute(sql, (id,)).fetchall()
            exact += plus(db, ["alpha", "6"], id)
        db.close()
        return abs(score / exact - 1)

    with cortext.open(path, model=model) as mem:
        mem.ingest_many({"text": f"{'beta' if i % 3 else 'alpha'} {i}"} for i in range(15_000))
        assert off() < 1e-9
        mem.ingest_many({"text": f"gamma {i}"} for i in range(800))
        assert 1e-9 < off() < 0.01
        mem.ingest_many({"text": f"gamma {i}"} for i in range(800))
        assert off() < 1e-9, "counted anew"


def test_common_words_alone_find_the_newest(large: Engine) -> None:
    assert len(ids(large, "alpha", limit=30)) == 30
    assert min(ids(large, "alpha beta", limit=30)) > 1000
    assert len(set(ids(large, "alpha beta", limit=10_000))) == 9000


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"session": "s3"}, range(301, 401)),
        ({"session": ["s3", "s80"]}, [*range(301, 401), *range(8001, 8101)]),
        ({"roles": ["tool"]}, range(1, 51)),
        ({"until": 30_000}, range(1, 31)),
        ({"since": 100_000, "until": 130_000, "roles": ["user"]}, range(101, 131)),
        ({"session": "nobody"}, []),
    ],
)
def test_filters_find_all_there_is_in_a_large_store(
    large: Engine, filters: dict[str, Any], expected: list[int]
) -> None:
    for query in ("alpha", "alpha needle", "gamma alpha beta"):
        assert sorted(ids(large, query, limit=500, **filters)) == list(expected)


def test_every_hit_of_a_query_exists_up_to_the_limit(tmp_path: Path, model: Model) -> None:
    with cortext.open(tmp_path / "m.db", model=model) as mem:
        mem.ingest_many([{"text": f"alpha {i}"} for i in range(300)])
        assert ids(mem, "alpha", limit=300) == list(range(300, 0, -1)), "newest first when equal"


def test_a_filter_that_few_pass_finds_them_behind_all_others(tmp_path: Path, model: Model) -> None:
    """Though of such common words only the newest part is read without it."""
    with cortext.open(tmp_path / "m.db", model=model, durability="normal") as mem:
        few = [{"text": f"alpha beta {i}", "role": "user", "session": "few"} for i in range(5)]
        many = ({"text": f"alpha beta {i}", "role": "tool"} for i in range(60_000))
        mem.ingest_many(few)
        mem.ingest_many(many)
        mem.ingest("gamma", role="user", session="few")
        for query in ("alpha", "alpha beta", "beta gamma"):
            found = set(ids(mem, query, roles=["user"], limit=20))
            assert found >= {1, 2, 3, 4, 5}
            assert set(ids(mem, query, session="few", limit=20)) == found


@pytest.mark.parametrize("waiting", [0, 40, 400])
def test_a_span_of_time_holds_messages_embedded_and_waiting(
    tmp_path: Path, model: Model, waiting: int
) -> None:
    """Ids follow the order of ingest, not time; and of what waits no index knows the time."""
    times = [(7919 * i) % 1000 * 1000 for i in range(400)]
    with (
        cortext.open(tmp_path / "m.db", model=model) as mem,
        cortext.open(tmp_path / "m.db", model=model) as other,
    ):
        rows = [{"text": f"alpha {i}", "time": time} for i, time in enumerate(times)]
        mem.ingest_many(rows[waiting:])
        mem.flush()
        mem.ingest_many(rows[:waiting])
        order = times[waiting:] + times[:waiting]
        for since, until in [(0, 5000), (400_000, 430_000), (0, 900_000), (2_000_000, 3_000_000)]:
            expected = {i + 1 for i, time in enumerate(order) if since <= time < until}
            for engine in (mem, other):
                got = ids(engine, "alpha", since=since, until=until, limit=400)
                assert set(got) == expected
