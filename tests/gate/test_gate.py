"""The gate on a real store with the real model: what it brings up, and what it leaves alone."""

from __future__ import annotations

import asyncio
import itertools
import math
import pickle
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import cast

import pytest

import cortext
from cortext import ClosedError, GateEvent, InputError, Knobs
from cortext.engine import Channel, GateSegment, decide
from cortext.models import Model

STORED = {
    "garage": "The garage door code is 8841, and the lamp is left of it.",
    "deploy": "We deploy on Tuesdays only, since nobody is here on Fridays.",
    "database": "The staging database is called orchid-2 and runs in Frankfurt.",
    "sister": "My sister Lena works as a nurse in Leeds.",
    "peanuts": "I am allergic to peanuts and to cashews.",
}
FILLER = [
    "The loop prints every line of the file and then stops.",
    "A table with three columns would be easy to read here.",
    "To convert miles to kilometres you multiply by one point six.",
    "The second paragraph can be shorter than the first one.",
]
ABOUT = "I have to remember what the code of the garage door was."

STRANGER = cortext.Message(
    id=1,
    text="What nobody has stored.",
    session="elsewhere",
    role="user",
    time=datetime(2026, 1, 1, tzinfo=timezone.utc),
    uid=None,
    metadata=None,
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Iterator[cortext.Engine]:
    with cortext.open(tmp_path_factory.mktemp("gate") / "memory.db", model=model) as engine:
        for uid, text in STORED.items():
            engine.ingest(text, session="earlier", uid=uid)
        engine.flush()
        yield engine


sessions = (f"session {number}" for number in itertools.count())


@pytest.fixture
def session() -> str:
    """A name of its own, so that tests share the store and neither stage nor working memory."""
    return next(sessions)


def run(gate: cortext.Gate, text: str | Sequence[str], size: int = 7) -> list[GateEvent]:
    """Feed a text in deltas of so many characters and end it."""
    whole = text if isinstance(text, str) else " ".join(text)
    events = []
    for at in range(0, len(whole), size):
        event = gate.feed(whole[at : at + size])
        events += [event] if event is not None else []
        events += gate.wait()
    return events + gate.flush()


def brought(events: Sequence[GateEvent]) -> set[str | None]:
    return {hit.uid for event in events for hit in event.memories}


def test_what_matters_is_staged_and_the_rest_is_not(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        events = run(gate, [*FILLER[:2], ABOUT, *FILLER[2:]])
    assert [event.segment.text for event in events] == [*FILLER[:2], ABOUT, *FILLER[2:]]
    (found,) = [event for event in events if event.memories]
    assert found.segment.text == ABOUT
    assert found.should_interrupt
    assert found.memories[0].uid == "garage"
    assert found.error is None
    assert not any(event.should_interrupt for event in events if event is not found)
    assert [hit.uid for hit in filled.take_staged(session)] == [hit.uid for hit in found.memories]
    assert filled.take_staged(session) == []


def test_only_what_stages_is_told_by_default(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session) as gate:
        events = run(gate, [*FILLER, ABOUT])
        assert [event.segment.text for event in events] == [ABOUT]
        assert gate.skipped == 0


def test_segments_stand_where_they_say(filled: cortext.Engine, session: str) -> None:
    text = "  " + "  \n\n".join([*FILLER, ABOUT, "Ça va très bien, 你好。"])
    with filled.gate(session=session, every=True) as gate:
        events = run(gate, text)
    for event in events:
        assert text[event.segment.start : event.segment.end] == event.segment.text
        assert event.segment.channel == "text"


def told(events: Sequence[GateEvent]) -> list[object]:
    return [(e.segment, e.terms, e.verdict, [(m.uid, m.score) for m in e.memories]) for e in events]


@pytest.mark.parametrize("size", [1, 13, 10_000])
def test_deltas_do_not_matter(filled: cortext.Engine, size: int) -> None:
    found = []
    for of in (7, size):
        with filled.gate(session=next(sessions), every=True) as gate:
            found.append(told(run(gate, [*FILLER, ABOUT, "When do we deploy?"], of)))
    assert found[0] == found[1]


def test_the_verdict_is_the_rule_of_the_terms(filled: cortext.Engine, session: str) -> None:
    knobs = Knobs(focus=0.2, sensitivity=0.9, stability=0.1)
    with filled.gate(session=session, knobs=knobs, every=True) as gate:
        events = run(gate, [ABOUT, *FILLER, "Does my sister work as a nurse in Leeds?"])
    assert sum(event.should_interrupt for event in events) >= 2
    for event in events:
        assert decide(event.terms, knobs) == event.verdict
        assert event.should_interrupt == event.verdict.should_interrupt
        assert event.at_boundary == event.verdict.at_boundary
        assert bool(event.memories) <= event.verdict.should_stage
        assert event.delay_ms >= event.encode_ms + event.search_ms > 0
        assert event.waited_ms >= 0


# ---- what is known already -------------------------------------------------------------------


@pytest.mark.parametrize(
    "context",
    [
        STORED["garage"],
        "Earlier the user said: the garage door code is 8841, and the lamp is left of it!",
        "The code for the door of the garage is 8841; the lamp is to the left of it.",
    ],
    ids=["verbatim", "inside", "in other words"],
)
def test_what_the_context_says_stays_out(
    filled: cortext.Engine, session: str, context: str
) -> None:
    with filled.gate(session=session, context=[context], every=True) as gate:
        events = run(gate, ABOUT)
    assert "garage" not in brought(events)
    assert not events[0].should_interrupt


def test_messages_of_the_context_stay_out(filled: cortext.Engine, session: str) -> None:
    known = next(m for m in filled.messages() if m.uid == "garage")
    with filled.gate(session=session, context=[known, "something else"], every=True) as gate:
        assert "garage" not in brought(run(gate, ABOUT))


def test_what_is_learned_on_the_way_stays_out(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, context=[]) as gate:
        gate.know(STORED["garage"])
        assert "garage" not in brought(run(gate, ABOUT))


def test_a_question_in_the_context_does_not_answer_itself(
    filled: cortext.Engine, session: str
) -> None:
    with filled.gate(session=session, context=["What is the code of the garage door?"]) as gate:
        assert "garage" in brought(run(gate, ABOUT))


def test_nothing_is_staged_twice_in_a_turn(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        events = run(gate, [ABOUT, *FILLER, "The code of the garage door is needed once more."])
        staged = [hit.id for event in events for hit in event.memories]
        assert "garage" in brought(events[:1])
        assert len(staged) == len(set(staged))
        assert len(filled.take_staged(session)) == len(staged)
        gate.reset()
        assert gate.poll() is None
        assert not brought(run(gate, ABOUT)), "it is still active"
        gate.reset()
        assert "garage" in brought(run(gate, "What was the code of the garage door?"))


def test_the_last_messages_of_the_session_are_known(mem: cortext.Engine) -> None:
    mem.ingest(STORED["garage"], session="now", uid="garage")
    mem.ingest("The bicycle lock opens with 3310.", session="earlier", uid="bicycle")
    mem.flush()
    with mem.gate(session="now") as gate:
        assert "garage" not in brought(run(gate, ABOUT))
        asked = "I have to remember which number opens the bicycle lock."
        mem.ingest("The bicycle lock opens with 3310.", session="now")
        mem.flush()
        assert not brought(run(gate, asked)), "it was just said again"
    with mem.gate(session="other") as gate:
        assert brought(run(gate, ABOUT)) >= {"garage"}


def test_a_correction_of_what_is_known_comes_through(mem: cortext.Engine) -> None:
    texts = {
        "old": "The wifi password at the cabin is tulip-42.",
        "new": "Changed the wifi password at the cabin, it's heron-77 these days.",
    }
    for number, (uid, text) in enumerate(texts.items()):
        mem.ingest(text, session=uid, uid=uid, time=1_700_000_000_000 + number * 86_400_000)
    mem.flush()
    old = next(m for m in mem.messages() if m.uid == "old")
    with mem.gate(session="now", context=[old], every=True) as gate:
        (event,) = run(gate, "What is the wifi password at the cabin?")
    assert brought([event]) == {"new"}
    assert event.terms.utility == 1


@pytest.mark.parametrize("known", ["nothing", "old", "new", "old as text", "new as text"])
def test_a_value_that_was_replaced_is_corrected(mem: cortext.Engine, known: str) -> None:
    old = mem.ingest("The garage code is 8841.", session="then", uid="old")
    mem.ingest_many([{"text": text, "session": "then"} for text in list(STORED.values())[1:]])
    new = mem.ingest("New garage code: 5530.", session="then", uid="new")
    mem.flush()
    assert mem.consolidate().supersessions == 1
    context = {
        "nothing": [],
        "old": [mem.get(old)],
        "new": [mem.get(new)],
        "old as text": [mem.get(old).text],
        "new as text": [mem.get(old), mem.get(new).text],
    }[known]
    with mem.gate(session="now", context=context, every=True) as gate:
        (event,) = run(gate, "The garage code is 8841.")
    assert brought([event]) == (set() if known.startswith("new") else {"new"})
    assert event.should_interrupt == bool(event.memories)


@pytest.mark.parametrize("text", ["What is the garage code?", "Is the garage code 8841?"])
def test_what_was_replaced_by_what_is_known_interrupts_nobody(
    mem: cortext.Engine, text: str
) -> None:
    mem.ingest("The garage code is 8841.", session="then")
    mem.ingest_many([{"text": text, "session": "then"} for text in list(STORED.values())[1:]])
    new = mem.ingest("New garage code: 5530.", session="then")
    mem.flush()
    assert mem.consolidate().supersessions == 1
    with mem.gate(session="now", context=[mem.get(new)], every=True) as gate:
        (event,) = run(gate, text)
    assert event.memories == ()
    assert not event.should_interrupt


def test_where_the_answer_is_known_nothing_else_is_brought_up(
    filled: cortext.Engine, session: str
) -> None:
    for uid, question in {
        "garage": "What was the code of the garage door?",
        "sister": "In which city does my sister Lena work as a nurse?",
        "database": "What is the staging database called, and where does it run?",
    }.items():
        with filled.gate(session=session, context=[STORED[uid]], every=True) as gate:
            assert not brought(run(gate, question))


@pytest.mark.parametrize(
    "question",
    [
        "How do I reverse a list in Python?",
        "What is the capital of Australia?",
        "Which of the two layouts loads faster on a phone?",
    ],
)
def test_a_question_that_nothing_answers_brings_up_nothing(
    filled: cortext.Engine, session: str, question: str
) -> None:
    with filled.gate(session=session, every=True) as gate:
        assert not brought(run(gate, question))


def test_the_most_relevant_comes_first(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session) as gate:
        for event in run(gate, [ABOUT, "And what do I know of my sister and of the database?"]):
            scores = [hit.score for hit in event.memories]
            assert scores == sorted(scores, reverse=True)


def test_only_what_passes_the_filter_is_brought_up(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, within="elsewhere", every=True) as gate:
        assert not brought(run(gate, ABOUT))
    with filled.gate(session=session, roles=["assistant"], every=True) as gate:
        assert not brought(run(gate, ABOUT))
    with filled.gate(session=session, within=["earlier", "x"], roles="user") as gate:
        assert "garage" in brought(run(gate, ABOUT))


# ---- staging and working memory --------------------------------------------------------------


def test_scopes_do_not_see_each_other(filled: cortext.Engine) -> None:
    with (
        filled.gate(session="s", scope="one") as first,
        filled.gate(session="s", scope="two") as second,
    ):
        assert first.scope == "one"
        run(first, ABOUT)
        run(second, "When do we deploy again, on which day?")
    assert filled.take_staged("s") == []
    assert filled.take_staged("one")[0].uid == "garage"
    assert filled.take_staged("two")[0].uid == "deploy"


def test_a_long_message_is_staged_by_its_passage(mem: cortext.Engine) -> None:
    needle = "The wifi password of the cabin is marmot-lake-77."
    filler = " ".join(f"Line {i} of the log says that all is well." for i in range(900))
    mem.ingest(f"{filler} {needle} {filler}", session="earlier", role="tool")
    mem.flush()
    with mem.gate(session="now", every=True) as gate:
        events = run(gate, "What was the wifi password of the cabin again?")
    (staged,) = mem.take_staged("now")
    assert staged.excerpt is not None
    assert len(staged.text.encode()) <= 8192
    assert needle in staged.text
    whole = mem.get(staged.id).text
    assert whole[slice(*staged.excerpt)] == staged.text == events[0].memories[0].text


def test_working_memory_rises_and_fades(mem: cortext.Engine) -> None:
    ids = {uid: mem.ingest(text, session="earlier") for uid, text in STORED.items()}
    mem.flush()
    assert mem.working("now") == []
    found = mem.recall("What is the code of the garage door?", limit=1, for_session="now")
    (active,) = found.working
    assert active.id == ids["garage"]
    assert 0.5 < active.activation <= 1
    assert mem.working("now") == [active]
    again = mem.recall("What is the code of the garage door?", limit=1, for_session="now")
    assert again.working[0].activation > active.activation, "it rises the more often it comes"
    before = again.working[0].activation
    for _ in range(9):
        found = mem.recall("When do we deploy?", limit=1, for_session="now")
        fading = {item.id: item.activation for item in found.working}
        if not before:
            break
        assert fading.get(ids["garage"], 0) < before, "and fades with each turn"
        before = fading.get(ids["garage"], 0)
    assert before == 0
    assert mem.working("earlier") == []
    assert mem.recall("garage").working == (), "nobody's turn"
    assert mem.recall("garage", session="earlier", limit=1).working[0].id == ids["garage"]


def test_what_is_active_is_not_new(filled: cortext.Engine) -> None:
    fresh, active = next(sessions), next(sessions)
    for _ in range(3):
        filled.recall("garage door code", limit=1, for_session=active)
    found = []
    for name in (fresh, active):
        with filled.gate(session=name) as gate:
            found.append("garage" in brought(run(gate, ABOUT)))
    assert found == [True, False]


def test_what_the_gate_stages_is_active(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session) as gate:
        (event,) = run(gate, ABOUT)
    assert filled.working(session)[0].id == event.memories[0].id


# ---- knobs -----------------------------------------------------------------------------------


def test_focus_narrows_and_raises_the_bar(path: Path, model: Model, filled: cortext.Engine) -> None:
    counts, bars = [], []
    for focus in (0.0, 0.45, 1.0):
        knobs = Knobs(focus=focus)
        with cortext.open(filled.path, model=model, knobs=knobs) as engine:
            counts.append(engine.gate().limit)
            with engine.gate(session=next(sessions), every=True) as gate:
                bars.append(run(gate, FILLER[0])[0].verdict.bar)
            assert engine.knobs == knobs
    assert counts == [6, 4, 2]
    assert bars == sorted(bars)
    assert len(set(bars)) == 3


def test_focus_is_the_default_limit_of_recall(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as engine:
        texts = [f"In garden {i} the roses of row {i * 7} are in bloom." for i in range(30)]
        engine.ingest_many([{"text": text} for text in texts])
        engine.flush()
        query = "In which garden are the roses in bloom?"
        assert len(engine.recall(query)) == 10
    for focus, most in ((0.0, 16), (1.0, 3)):
        with cortext.open(path, model=model, knobs=Knobs(focus=focus)) as engine:
            assert len(engine.recall(query)) == most
            assert len(engine.recall(query, limit=5)) == 5


def test_sensitivity_lowers_the_bar_where_affect_is_high(filled: cortext.Engine) -> None:
    moved = "I can't believe it, I am shaking and crying, this is the worst day of my life!"
    plain = "The report has four pages and the table is on the second of them."
    bars = {}
    for sensitivity in (0.0, 1.0):
        with filled.gate(
            session=next(sessions), knobs=Knobs(sensitivity=sensitivity), every=True
        ) as gate:
            for event in run(gate, [moved, plain]):
                bars[event.segment.text, sensitivity] = event
    assert bars[moved, 1.0].terms.affect > 0.7
    assert bars[plain, 1.0].terms.affect < 0.2
    assert bars[moved, 1.0].verdict.bar < bars[moved, 0.0].verdict.bar - 0.1
    assert bars[plain, 1.0].verdict.bar > bars[moved, 1.0].verdict.bar


def test_stability_makes_the_pause_longer(filled: cortext.Engine) -> None:
    pauses = []
    for stability in (0.0, 1.0):
        with filled.gate(
            session=next(sessions), knobs=Knobs(stability=stability), every=True
        ) as gate:
            events = run(gate, [ABOUT, "The garage door needs this code.", "And so it is today."])
        assert events[0].should_interrupt
        pauses.append(events[1].verdict.refractory)
    assert pauses[0] < pauses[1]


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "much", True, None])
@pytest.mark.parametrize("name", ["focus", "sensitivity", "stability"])
def test_knobs_are_from_0_to_1(name: str, value: object) -> None:
    with pytest.raises(InputError, match=name):
        Knobs(**{name: value})  # type: ignore[arg-type]


# ---- what it is given ------------------------------------------------------------------------


def test_a_delta_may_end_inside_a_character(filled: cortext.Engine, session: str) -> None:
    text = "Ça coûte 30 € et 你好 🙂 c'est très bien comme ça."
    with filled.gate(session=session, every=True) as gate:
        for byte in text.encode():
            gate.feed(bytes([byte]))
        (event,) = gate.flush()
    assert event.segment.text == text


def test_a_lone_surrogate_is_no_reason_to_stop(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        gate.feed("one \ud83d")
        gate.feed("\0 two \udc00 and three more words.")
        (event,) = gate.flush()
    assert event.segment.text.startswith("one �")
    assert event.error is None


def test_an_event_is_a_value_of_its_own(path: Path, model: Model) -> None:
    with cortext.open(path, model=model) as mem:
        mem.ingest(STORED["garage"], session="earlier", uid="garage")
        mem.flush()
        with mem.gate(session="now", every=True) as gate:
            (event,) = run(gate, ABOUT)
            (other,) = run(gate, FILLER[0])
    del mem, gate
    assert other.memories == ()
    assert "passes" in repr(other)
    copied = pickle.loads(pickle.dumps(event))
    assert event.memories[0].uid == "garage"
    assert "interrupts" in repr(event)
    for name in ("segment", "should_interrupt", "memories", "terms", "verdict", "delay_ms"):
        assert getattr(copied, name) == getattr(event, name)
    with pytest.raises(AttributeError):
        event.should_interrupt = False  # type: ignore[misc]


def test_any_thread_may_read_an_event(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        (event,) = run(gate, ABOUT)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: event.memories, range(64)))
    assert all(memories == found[0] for memories in found)


def test_channels_are_streams_of_their_own(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        for word, other in zip(ABOUT.split(" "), FILLER[0].split(" "), strict=False):
            gate.feed(word + " ", channel="thinking")
            gate.feed(other + " ", channel="text")
        events = gate.flush()
    assert {event.segment.channel for event in events} == {"text", "thinking"}
    thought = next(event for event in events if event.segment.channel == "thinking")
    assert thought.segment.text.startswith("I have to remember")
    assert thought.memories[0].uid == "garage"


@pytest.mark.parametrize(
    "call",
    [
        lambda mem: mem.gate(session=""),
        lambda mem: mem.gate(session=3),
        lambda mem: mem.gate(scope=""),
        lambda mem: mem.gate(session="a\0b"),
        lambda mem: mem.gate(within=[]),
        lambda mem: mem.gate(roles=3),
        lambda mem: mem.gate(knobs={"focus": 1}),
        lambda mem: mem.gate(context=[3]),
        lambda mem: mem.gate(context=["\ud800"]),
        lambda mem: mem.gate(context=5),
        lambda mem: mem.gate(context=["x" * ((16 << 20) + 1)]),
        lambda mem: mem.gate().feed("x", channel=[]),
        lambda mem: mem.gate(context=[replace(STRANGER, id=1 << 70)]),
        lambda mem: mem.gate(context=[replace(STRANGER, id="7")]),
        lambda mem: mem.gate().feed(3),
        lambda mem: mem.gate().feed(None),
        lambda mem: mem.gate().feed("x", channel="speech"),
        lambda mem: mem.gate().wait(-1),
        lambda mem: mem.gate().wait("soon"),
        lambda mem: mem.gate().wait(-(10**400)),
        lambda mem: mem.gate().know(b"bytes"),
        lambda mem: mem.take_staged(""),
        lambda mem: mem.working(7),
        lambda mem: mem.recall("x", for_session=""),
        lambda mem: cortext.open(mem.path, model=mem.model, knobs=0.5),
    ],
)
def test_what_it_cannot_take_is_an_input_error(mem: cortext.Engine, call: object) -> None:
    with pytest.raises(InputError):
        call(mem)  # type: ignore[operator]


def test_messages_that_are_gone_are_passed_over(filled: cortext.Engine, session: str) -> None:
    gone = [replace(STRANGER, id=id) for id in (10**9, -1, 0)]
    with filled.gate(session=session, context=gone) as gate:
        assert "garage" in brought(run(gate, ABOUT))


def test_a_wait_may_be_as_long_as_it_likes(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        gate.feed(ABOUT)
        assert len(gate.flush(10**400)) == 1
        assert gate.wait(math.inf) == []
    assert filled.flush(10**400)


@pytest.mark.parametrize("text", [".", "€", "=-", "x", "/"])
def test_of_a_run_without_a_break_the_beginning_is_looked_up(
    filled: cortext.Engine, session: str, text: str
) -> None:
    with filled.gate(session=session, every=True) as gate:
        events = run(gate, text * 9000, size=4096)
        assert all(event.error is None for event in events)
        assert "".join(event.segment.text for event in events) == text * 9000


@pytest.mark.parametrize("text", ["", " \n ", "…", "\0\0", "🙂🙂🙂🙂", "a" * 100_000])
def test_odd_streams(filled: cortext.Engine, session: str, text: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        events = run(gate, text, size=4096)
    assert all(event.error is None for event in events)
    assert not any(event.should_interrupt for event in events)


def test_an_empty_store(mem: cortext.Engine) -> None:
    with mem.gate(every=True) as gate:
        (event,) = run(gate, ABOUT)
    assert event.memories == ()
    assert event.terms.relevance == 0


def test_wait_gives_up(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        fed = [
            gate.feed(f"Sentence number {number} is about nothing in particular at all. ")
            for number in range(40)
        ]
        early = [event for event in fed if event is not None] + gate.wait(timeout=0)
        assert len(early) + len(gate.flush()) == 40


def test_who_is_far_behind_passes_over_the_oldest(filled: cortext.Engine, session: str) -> None:
    with filled.gate(session=session, every=True) as gate:
        early = gate.feed("".join(f"Line number {i} of a long listing.\n\n" for i in range(600)))
        events = gate.flush()
        assert gate.skipped + len(events) + (early is not None) == 600
        assert gate.skipped > 200
        assert "number 599" in events[-1].segment.text


def test_wrap_takes_channels_in_turns(filled: cortext.Engine, session: str) -> None:
    thought = [("thinking", ABOUT[:20]), ("text", FILLER[0]), ("thinking", ABOUT[20:])]

    async def stream() -> AsyncIterator[tuple[Channel, str]]:
        for channel, part in thought:
            yield cast(Channel, channel), part

    async def watch() -> list[tuple[tuple[Channel, str], GateEvent | None]]:
        with filled.gate(session=session) as gate:
            return [pair async for pair in gate.wrap(stream())]

    pairs = asyncio.run(watch())
    assert [delta for delta, _ in pairs[:3]] == thought
    (event,) = [event for _, event in pairs if event is not None]
    assert event.segment == GateSegment(text=ABOUT, start=0, end=len(ABOUT), channel="thinking")


@pytest.mark.parametrize("stream", [["a"], "a", None, [("text",)], [3], [("speech", "a")]])
def test_wrap_takes_no_other_streams(filled: cortext.Engine, session: str, stream: object) -> None:
    async def asynchronous() -> AsyncIterator[object]:
        for delta in cast(list[object], stream):
            yield delta

    async def watch() -> None:
        given = asynchronous() if isinstance(stream, list) and stream != ["a"] else stream
        with filled.gate(session=session) as gate:
            async for _ in gate.wrap(given):  # type: ignore[type-var]
                pass

    with pytest.raises(InputError):
        asyncio.run(watch())


def test_wrap(filled: cortext.Engine, session: str) -> None:
    async def stream() -> AsyncIterator[str]:
        for part in (ABOUT[:20], ABOUT[20:], " And that is all for now."):
            yield part

    async def watch() -> list[tuple[str, GateEvent | None]]:
        with filled.gate(session=session) as gate:
            return [pair async for pair in gate.wrap(stream())]

    pairs = asyncio.run(watch())
    assert "".join(delta for delta, _ in pairs) == ABOUT + " And that is all for now."
    events = [event for _, event in pairs if event is not None]
    assert [event.memories[0].uid for event in events] == ["garage"]


# ---- lifetime --------------------------------------------------------------------------------


def test_after_close(path: Path, model: Model) -> None:
    mem = cortext.open(path, model=model)
    gate, left = mem.gate(), mem.gate()
    gate.close()
    gate.close()
    calls = [
        lambda of: of.feed("x"),
        lambda of: of.poll(),
        lambda of: of.wait(),
        lambda of: of.flush(),
        lambda of: of.reset(),
        lambda of: of.know("x"),
        lambda of: of.skipped,
    ]
    for call in calls:
        with pytest.raises(ClosedError, match="gate"):
            call(gate)
    left.feed("A whole sentence that nobody has looked at yet. And another one of the kind. ")
    mem.close()
    for call in calls:
        with pytest.raises(ClosedError, match="engine"):
            call(left)
    left.close()
    for closed in (mem.gate, mem.take_staged, mem.working):
        with pytest.raises(ClosedError):
            closed()
