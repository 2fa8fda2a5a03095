"""Segments of a stream: where they end, and that it does not matter how the stream was divided."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CHARACTERS, LEAST, BYTES = 120, 16, 4096


@dataclass(frozen=True)
class Segment:
    text: str
    start: int
    end: int
    ends_paragraph: bool


class Segmenter:
    def __init__(self, internals: Any) -> None:
        self.ffi, self.lib = internals.ffi, internals.lib
        out = self.ffi.new("ct_segmenter **")
        internals.call("ct_segmenter_create", out)
        self.handle = self.ffi.gc(out[0], self.lib.ct_segmenter_free)
        self.found: list[Segment] = []

        @self.ffi.callback("ct_segment_visit")
        def visit(state: Any, segment: Any) -> int:
            text = bytes(self.ffi.buffer(segment.text, segment.bytes)).decode()
            self.found.append(
                Segment(text, segment.start, segment.end, bool(segment.ends_paragraph))
            )
            return 0

        self.visit = visit

    def feed(self, delta: bytes) -> list[Segment]:
        """Return the segments that are known now."""
        self.lib.ct_segmenter_feed(self.handle, delta, len(delta), self.visit, self.ffi.NULL)
        return self.take()

    def flush(self) -> list[Segment]:
        self.lib.ct_segmenter_flush(self.handle, self.visit, self.ffi.NULL)
        return self.take()

    def take(self) -> list[Segment]:
        found, self.found = self.found, []
        return found

    def all(self, text: str | bytes) -> list[Segment]:
        data = text.encode() if isinstance(text, str) else text
        return self.feed(data) + self.flush()


@pytest.fixture(scope="module")
def segmenter(internals: Any) -> Segmenter:
    return Segmenter(internals)


def texts(segmenter: Segmenter, text: str) -> list[str]:
    return [segment.text for segment in segmenter.all(text)]


SENTENCES = {
    "English": ["The lease ends in March.", "Who has the spare key?", "Nobody told me about it!"],
    "quotations": [
        "She said “the code is 8841.”",
        "(It was the other garage.)",
        "So we went home.",
    ],
    "abbreviations": [
        "Dr. Weber sees Mrs. J. K. Adams at 9 a.m. on Monday.",
        "Bring fruit, e.g. apples, and approx. 3 lemons.",
        "It is in Vol. 3, p. 14, see Fig. 2 there.",
    ],
    "numbers": ["It costs 1,299.50 euros at v2.0.1 of the shop.", "That is 3.5 times as much."],
    "addresses": [
        "Open https://example.org/a.b?c=d.e!f now please.",
        "Write to ann.lee@mail.example.com today.",
        "Then see www.example.com.",
    ],
    "code": ["Run `make. Then stop!` in the folder.", "It prints ``a ` b. C`` and goes on."],
    "marks in a row": [
        "You did what just now?!",
        "I was not sure... But it worked.",
        "Fine then, let us go.",
    ],
    "German": ["Das ist z. B. die Küche von Nr. 5.", "Übermorgen kommt Prof. Lang."],
    "Russian": ["Мы встретились в библиотеке вчера.", "Он работает в больнице уже год."],
    "Greek": ["Πού είναι το κλειδί του γκαράζ;", "Δεν ξέρω πού είναι το κλειδί."],
    "Chinese": [
        "他在北京大学学习历史已经有三年多的时间了。",
        "她说：“我明天上午九点在上海的医院上班。”",
        "好的，那我们就后天下午再见面吧！",
    ],
    "Japanese": [
        "東京タワーの近くに住んでいますか、それとも京都ですか？",
        "「京都で寿司を食べました。」と彼は言いました。",
    ],
    "Hindi": ["हम कल पुस्तकालय में मिले थे।", "वह अस्पताल में काम करता है।"],
    "Arabic": ["أين مفتاح المرآب الاحتياطي؟", "لا أعرف أين هو المفتاح الآن."],
    "Armenian": ["Մենք հանդիպեցինք գրադարանում։", "Նա աշխատում է հիվանդանոցում։"],
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_sentences(segmenter: Segmenter, kind: str) -> None:
    expected = SENTENCES[kind]
    if kind == "Greek":
        expected = [expected[0].replace(";", "\u037e"), expected[1]]  # which looks the same
    if kind == "marks in a row":  # after dots a sentence may go on
        assert texts(segmenter, " ".join(expected)) == [
            "You did what just now?!",
            "I was not sure...",
            "But it worked. Fine then, let us go.",
        ]
        return
    joiner = "" if kind in ("Chinese", "Japanese") else " "
    assert texts(segmenter, joiner.join(expected)) == expected


def test_lines_end_segments(segmenter: Segmenter) -> None:
    text = (
        "# What was decided today\n\n"
        "- paint the kitchen first\n- then the hall\n1. Wash the old brushes\n"
    )
    found = segmenter.all(text)
    assert [segment.text for segment in found] == [
        "# What was decided today",
        "- paint the kitchen first",
        "- then the hall\n1. Wash the old brushes",
    ]
    assert all(segment.ends_paragraph for segment in found)


def test_a_short_sentence_takes_the_next_along(segmenter: Segmenter) -> None:
    assert texts(segmenter, "Yes. I can. The code of the garage is 8841. Fine.") == [
        "Yes. I can. The code of the garage is 8841.",
        "Fine.",
    ]


def test_blocks_of_code_end_at_lines(segmenter: Segmenter) -> None:
    lines = [f"value_{i} = compute(value_{i - 1}, '.!? ')" for i in range(1, 40)]
    block = "\n".join(["```python", *lines, "```"])
    found = texts(segmenter, f"Here is how I would write it:\n{block}\nThat is all of it.")
    assert found[0] == "Here is how I would write it:"
    assert found[-1].endswith("That is all of it.")
    ends = {*lines, "```", "That is all of it.", found[0]}
    assert {text.splitlines()[-1] for text in found} <= ends, "whole lines"
    assert max(map(len, found)) < CHARACTERS + max(map(len, lines))


def test_long_sentences_end_before_a_word(segmenter: Segmenter) -> None:
    words = [f"word{i}" for i in range(300)]
    found = texts(segmenter, " ".join(words))
    assert " ".join(found) == " ".join(words)
    assert all(CHARACTERS - 10 < len(text) <= CHARACTERS for text in found[:-1])


@pytest.mark.parametrize(
    "whole",
    [
        "https://example.org/" + "path/" * 60 + "end.html?a=1,2;b=3",
        "`" + "a very long span of code, " * 12 + "end`",
        "1" + ",000" * 80,
        "W" * 700,
        "1" + " 000" * 60,
    ],
)
def test_nothing_is_cut_inside(segmenter: Segmenter, whole: str) -> None:
    found = texts(
        segmenter, f"Some words that come before it {whole} and some that follow it, at last."
    )
    assert sum(whole in text for text in found) == 1


@pytest.mark.parametrize(
    "text",
    [
        "中文没有空格所以任何地方都可以分开" * 20,
        "日本語の文章には空白がありません" * 20,
        "ฉันชอบกินข้าวผัดที่ตลาดทุกวันเสาร์" * 20,
        "ကျွန်တော်ထမင်းစားသည်" * 20,
        "ខ្ញុំចូលចិត្តញ៉ាំបាយ" * 20,
    ],
)
def test_scripts_without_spaces_are_cut_between_characters(segmenter: Segmenter, text: str) -> None:
    found = texts(segmenter, text)
    assert "".join(found) == text
    assert len(found) > len(text) // CHARACTERS - 1
    assert max(map(len, found)) <= CHARACTERS + 8
    marks = re.compile("[\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u102b-\u103e\u17b4-\u17d3\u3099\u309a]")
    assert not any(marks.match(part) for part in found), "no mark loses its letter"


def test_numbers_of_ideographs_stay_whole(segmenter: Segmenter) -> None:
    number = "三百二十一万四千五百六十七"
    for shift in range(20):
        text = "我" * (100 + shift) + number + "他" * 60
        assert sum(number in part for part in texts(segmenter, text)) == 1


def test_what_has_no_end_is_cut(segmenter: Segmenter) -> None:
    for text in (
        "x" * 20_000,
        "`" + "y z " * 5000,
        "```\n" + "é" * 20_000,
        "https://a/" + "界" * 9000,
    ):
        found = texts(segmenter, text)
        assert max(len(part.encode()) for part in found) <= BYTES + 4
        assert re.sub(r"\s", "", "".join(found)) == re.sub(r"\s", "", text)


def test_bytes_that_are_no_text(segmenter: Segmenter) -> None:
    for data in (
        b"\xff\xfe",
        b"\x00",
        b"\xc3",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"a\x80b",
        b"\xf0\x9f\x98 x",
    ):
        found = segmenter.all(b"before it there is " + data)
        text = "".join(segment.text for segment in found)
        expected = (b"before it there is " + data).decode(errors="replace").replace("\0", "\ufffd")
        assert text == expected.strip()


def test_an_end_is_known_as_soon_as_it_can_be(segmenter: Segmenter) -> None:
    assert not segmenter.feed(b"Where is the key of the garage?")
    assert [s.text for s in segmenter.feed(b" ")] == ["Where is the key of the garage?"]
    assert not segmenter.feed(b"It is on the fridge, I think. ")
    assert [s.text for s in segmenter.feed(b"B")] == ["It is on the fridge, I think."]
    assert [s.text for s in segmenter.flush()] == ["B"]
    assert segmenter.flush() == []


def test_reset_forgets(segmenter: Segmenter) -> None:
    segmenter.feed("half of a sentence with a `span and half a charact\u00e9".encode()[:-1])
    segmenter.lib.ct_segmenter_reset(segmenter.handle)
    assert segmenter.all("A new one. ") == [Segment("A new one.", 0, 10, True)]


PIECES = st.sampled_from(
    [
        "The key is here. ",
        "e.g. ",
        "3.14 ",
        "1 000 ",
        "Dr. ",
        "https://a.b/c.d ",
        "`x. Y` ",
        "```\n",
        "\n",
        "\n\n",
        "。",
        "中文",
        "ไทยๆ",
        "é",
        "\u200d",
        "\u00a0",
        "😀",
        "!",
        "?",
        ".",
        "...",
        "“",
        "”",
        ")",
        "word ",
        "Word",
        "`",
        "``",
        " ",
        "\t",
        "i",
        "I. ",
        "1. ",
        "漢" * 50,
        "long " * 30,
        "\0",
        "三",
        "\u0301",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join)


@given(text=TEXTS, data=st.data())
@settings(deadline=None, max_examples=400)
def test_deltas_do_not_matter(segmenter: Segmenter, text: str, data: st.DataObject) -> None:
    """Whole, byte by byte and in any parts: the same segments, which leave nothing out."""
    raw = text.encode(errors="replace")
    expected = segmenter.all(raw)
    single = [s for i in range(len(raw)) for s in segmenter.feed(raw[i : i + 1])]
    assert single + segmenter.flush() == expected
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    parts = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert [s for part in parts for s in segmenter.feed(part)] + segmenter.flush() == expected
    shown = raw.decode().replace("\0", "\ufffd")
    last = 0
    for segment in expected:
        assert shown[segment.start : segment.end] == segment.text
        assert not shown[last : segment.start].replace("\u200b", "").strip()
        assert segment.text
        last = segment.end
    assert not shown[last:].replace("\u200b", "").strip()
