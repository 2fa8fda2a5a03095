"""Which sentences have the form of a directive, and which lift one."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cortext import _native


def candidates(text: str) -> list[str]:
    data = text.encode()
    found = _native.directive_sentences(text)
    return [data[s.start : s.start + s.bytes].decode() for s in found if s.marks]


@pytest.mark.parametrize(
    "text",
    [
        "Always water the ferns with rain water.",
        "Never lend my bike to anyone.",
        "Don't ever email the board directly.",
        "please keep the logs for thirty days",
        "From now on, write in haiku.",
        "Whenever you open a ticket, link the incident.",
        "Whenever I send a photo keep the original.",
        "If a job hangs, kill it and tell me.",
        "I want you to check twice.",
        "You must not store card numbers.",
        "Every page needs a title.",
        "No gifs, please.",
        "Call me Kit.",
        "Could you always add the weather?",
        "- Use snake case.",
        "1. Use snake case.",
        "Rede mich ab jetzt bitte mit Du an.",
        "以后请写得短一点。",
    ],
)
def test_has_the_form(text: str) -> None:
    assert len(candidates(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "I always water the ferns on Sundays.",
        "She never lends her bike.",
        "Do you always write in haiku?",
        "Why should I never use gifs?",
        "Could you add the weather?",
        'The wiki says "always link the incident".',
        '"Never lend my bike", he said.',
        "Never lend your bike, my father said.",
        "> Always link the incident.",
        "```\n# never store card numbers\n```",
        "~~~\nnever store card numbers",
        "`never store card numbers`",
        "Never again!",
        "Call rates are going up.",
        "Stop, that hurts.",
        "If I were you I would never lend it.",
        "It always rains.",
        "",
        " \n\n",
    ],
)
def test_has_not(text: str) -> None:
    assert candidates(text) == []


def test_the_sentence_alone_is_the_span() -> None:
    said = "It rained. Always take the umbrella, Dr. Hall says so himself, or the coat. Bye!"
    assert candidates("It rained. Never take v1.2 to the fair! Bye!") == [
        "Never take v1.2 to the fair!"
    ]
    assert candidates(said.replace(" says so himself", "")) == [
        "Always take the umbrella, Dr. Hall, or the coat."
    ]
    wrapped = "Never send anything to the printer on the second floor, as it\nis broken. It smells."
    assert candidates(wrapped) == [wrapped.partition(" It")[0]]
    assert candidates("ok\nnever use gifs\nthx") == ["never use gifs"]
    assert candidates("Grüße! Never use gïfs. Ünd.") == ["Never use gïfs."]


@pytest.mark.parametrize(
    "text",
    [
        "You don't have to add the weather any more.",
        "You can use gifs again.",
        "Forget what I said about the ferns.",
        "No need to write in haiku any longer.",
    ],
)
def test_lifts(text: str) -> None:
    assert [s.withdraws for s in _native.directive_sentences(text)] == [True]


def test_a_page_is_looked_at_from_its_beginning() -> None:
    rule = "Never use gifs. "
    assert len(_native.directive_sentences(rule * 5000, most=10_000)) == (16 << 10) // len(rule)
    assert len(_native.directive_sentences(rule * 50, most=7)) == 7


@given(st.text())
@example('"')
@example("```")
@example("```\n")
@example(">")
@example("-")
@example("1.")
@example("Never use " + "x " * 5000)
@example("Never" + "," * 2000)
@example("«" * 999)
@example("Don't")
@example("Always always always")
@example("From now on")
@example("when")
def test_any_text(text: str) -> None:
    data = text.encode()
    end = 0
    for sentence in _native.directive_sentences(text):
        assert end <= sentence.start < sentence.start + sentence.bytes <= len(data)
        end = sentence.start + sentence.bytes
        data[sentence.start : end].decode()
        assert sentence.marks or sentence.withdraws


WORDS = [
    "always",
    "never",
    "don't",
    "use",
    "call",
    "me",
    "from now on",
    "when",
    "you",
    ",",
    "?",
    '"',
    "\n",
    ">",
    "。",
]


@given(st.lists(st.sampled_from(WORDS), max_size=80).map(" ".join))
def test_any_words(text: str) -> None:
    for sentence in _native.directive_sentences(text):
        text.encode()[sentence.start : sentence.start + sentence.bytes].decode()
