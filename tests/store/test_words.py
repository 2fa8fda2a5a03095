"""What the full-text index holds of a text: prose as it is, and words that have no borders."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext.models import Model

PLAIN = "porter unicode61 remove_diacritics 2"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def read_words(db: sqlite3.Connection, table: str, column: str) -> list[list[str]]:
    """Return the words of each row in order, as the table's index has them."""
    db.execute(f"CREATE VIRTUAL TABLE temp.seen USING fts5vocab(main, {table}, instance)")
    rows = db.execute(
        "SELECT doc, term FROM temp.seen WHERE col = ? ORDER BY doc, offset", (column,)
    ).fetchall()
    db.execute("DROP TABLE temp.seen")
    found: dict[int, list[str]] = {}
    for doc, term in rows:
        found.setdefault(doc, []).append(term)
    return [found.get(doc, []) for doc in range(1, max(found, default=0) + 1)]


def indexed(folder: Path, model: Model, texts: list[str]) -> list[list[str]]:
    path = folder / "m.db"
    path.unlink(missing_ok=True)
    with cortext.open(path, model=model) as mem:
        mem.ingest_many([{"text": text} for text in texts])
    with sqlite3.connect(path) as db:
        words = read_words(db, "words", "text")
    db.close()
    return words + [[]] * (len(texts) - len(words))


def plain(texts: list[str]) -> list[list[str]]:
    """Return what FTS5's own tokenizer makes of the texts."""
    with sqlite3.connect(":memory:") as db:
        db.execute(f"CREATE VIRTUAL TABLE t USING fts5(text, tokenize='{PLAIN}')")
        db.executemany("INSERT INTO t VALUES(?)", [(text,) for text in texts])
        words = read_words(db, "t", "text")
    db.close()
    return words + [[]] * (len(texts) - len(words))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("words")


PROSE = [
    "The quick brown fox - it's 3rd of 20, at 10AM or 7:15pm; 1,000 URLs, TVs and a PhD!",
    "We bought two iPhones and 5km of cable for $3.50 (e.g. a well-known brand, the 1980s).",
    "snake_case/and/paths.py, https://example.com/a?b=c#d, v1.24.3, err-conn-refused",
    "E0382 0x80070057 9f86d081884c7d65 550e8400-e29b-41d4-a716-446655440000 H2O MP3s",
    "Gründe aus Köln: Häuser, Ha\u0308user, naïve café, ŁÓDŹ, Ærø",
    "Мы встретились в библиотеке. Καλημέρα κόσμε! שלום עולם",
    "party 🎉🎉 ❤️ 1️⃣ 👩‍💻 thumbs 👍🏽 ™ ½ x² ① \u0301 a\u0301",
    "I'm, you'll, don't — “quoted” ‘single’ «text»…",
]


def test_prose_is_indexed_as_fts5_does(folder: Path, model: Model) -> None:
    assert indexed(folder, model, PROSE) == plain(PROSE)


prose = st.lists(
    st.one_of(
        st.text(LETTERS, min_size=1, max_size=12),
        st.text(LETTERS, min_size=1, max_size=12).map(str.capitalize),
        st.text("ABCDEF", min_size=1, max_size=5),
        st.text("0123456789.,:", min_size=1, max_size=6),
        st.text("äöüéñçàåøžабвгдежзиклмнопрстαβγδ", min_size=1, max_size=10),
        st.sampled_from(list("-–—'\"()[]!?.,;:/_&%$€…🙂")),
    ),
    min_size=1,
    max_size=30,
).map(lambda parts: "a " + " ".join(parts))


@given(texts=st.lists(prose, min_size=1, max_size=20))
@settings(deadline=None, max_examples=30)
def test_any_prose_is_indexed_as_fts5_does(folder: Path, model: Model, texts: list[str]) -> None:
    assert indexed(folder, model, texts) == plain(texts)


IDENTIFIERS = {
    "parseHttpResponse": "parsehttprespons pars http respons",
    "HTTPServer2": "httpserver2 http server 2",
    "getURLParams(x)": "geturlparam get url param x",
    "utf8": "utf8 utf 8",
    "utf8String": "utf8str utf 8 string",
    "S3Bucket": "s3bucket s3 bucket",
    "my_fooBar.py": "my foobar foo bar py",
    "ab1Cd2Ef": "ab1cd2ef ab 1 cd 2 ef",
    "YouTube": "youtub you tube",
    "iPhone": "iphon",
    "PhD": "phd",
    "DVDs": "dvd",
    "3rd 10AM 5K 2x 4Kids": "3rd 10am 5k 2x 4kid",
    "H2O E0382 0x8007 a3f9c2": "h2o e0382 0x8007 a3f9c2",
    "aGVsbG8" + "AbCd" * 20: ("aGVsbG8" + "AbCd" * 20).lower(),
    "fooBaré éfooBar fooBarß": "foobar efoobar foobarss",
    "fooBar…": "foobar foo bar",
}


@pytest.mark.parametrize("text", IDENTIFIERS, ids=lambda text: text[:20])
def test_identifiers_are_indexed_with_their_parts(folder: Path, model: Model, text: str) -> None:
    assert indexed(folder, model, [text]) == [IDENTIFIERS[text].split()]


UNSPACED = {
    "北京大学": "北 北京 京 京大 大 大学 学",
    "我住在北京。": "我 我住 住 住在 在 在北 北 北京 京",
    "猫": "猫",
    "東京タワーに行く": "東 東京 京 京タ タ タワ ワ ワー ー に 行 く",
    "が か\u3099き": "が か\u3099 き",  # a kana with a separate voicing mark is one character
    "ภาษาไทย": "ภ ภา า าษ ษ ษา า าไ ไ ไท ท ทย ย",
    "ที่นี่": "ที่ ที่นี่ นี่",
    "ກິນເຂົ້າ": "ກິ ກິນ ນ ນເ ເ ເຂົ້ ຂົ້ ຂົ້າ າ",
    "학교에서 배웠다": "학 학교 교 교에 에 에서 서 배 배웠 웠 웠다 다",
    "用Python3写code": "用 python3 python 3 写 code",
    "中文abc中": "中 中文 文 abc 中",
    "漢字ไทย": "漢 漢字 字 ไ ไท ท ทย ย",
    "𠮷野家": "𠮷 𠮷野 野 野家 家",
    "ＡＢＣ１２３": "abc123",
}


@pytest.mark.parametrize("text", UNSPACED)
def test_unspaced_scripts_are_indexed_by_pairs_too(folder: Path, model: Model, text: str) -> None:
    assert indexed(folder, model, [text]) == [UNSPACED[text].split()]


FOLDED = {
    "हिन्दी भाषा": "हिन्दी भाषा",  # with its vowel signs, which FTS5 splits at
    "தமிழ் மொழி": "தமிழ் மொழி",
    "Straße STRAẞE": "strass strass",
    "كِتَابٌ أحمد إلى مدرسة": "كتاب احمد الي مدرسه",
    "שָׁלוֹם": "שלום",
}


@pytest.mark.parametrize("text", FOLDED)
def test_marks_and_letters_written_alike(folder: Path, model: Model, text: str) -> None:
    assert indexed(folder, model, [text]) == [FOLDED[text].split()]


@given(runs=st.lists(st.text("天地玄黄宇宙あいうカキー", min_size=1, max_size=9), min_size=1))
@settings(deadline=None, max_examples=30)
def test_pairs_of_any_run(folder: Path, model: Model, runs: list[str]) -> None:
    expected = []
    for run in runs:
        for i, char in enumerate(run):
            pair = run[i : i + 2]
            expected += [char] if len(pair) < 2 or set(pair) & set("あいう") else [char, pair]
    assert indexed(folder, model, ["。".join(runs)]) == [expected]


def test_a_large_text_of_any_script_takes_linear_time(folder: Path, model: Model) -> None:
    for piece in ("漢", "ที่", "\u0e31", "fooBar", "fooBar ", '"', "“", "a-", "ក្", "\u1039"):
        text = "a " + piece * (600_000 // len(piece.encode()))
        with cortext.open(folder / "large.db", model=model) as mem:
            mem.ingest(text)
            mem.recall(text, stages=["lexical"], wait_ms=0)
