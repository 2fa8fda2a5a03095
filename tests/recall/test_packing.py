"""What a recall hands out: each thing once, within the budgets, readable alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext import Engine, Hit, InputError
from cortext.engine import STAGES, Stage
from cortext.models import Model

DAY = 86_400_000
FIRST = 20_000 * DAY
CODE = "The garage door code is 8841."

# Of each pair the second says the same as the first.
SAME = [
    (CODE, CODE),
    (CODE, "the garage door code is 8841"),
    (CODE, "  The GARAGE door,\n\tcode is: 8841!! "),
    (CODE, "Hi, the garage door code is 8841."),
    (CODE, "Hello there! Just a reminder: the garage door code is 8841. Thanks!"),
    (CODE, "As I said, the garage door code is 8841."),
    (CODE, "As I said before: the garage door code is 8841"),
    (CODE, "The garage door code, as I mentioned earlier, is 8841."),
    (CODE, "> The garage door code is 8841."),
    (CODE, "**The garage door code is 8841.**"),
    ("Don't use the garage door.", "don\u2019t use the garage door"),
    ("L'ÉTÉ À ÉVIAN, C'EST LOIN", "l'été à Évian c'est loin"),
    ("ПРИВЕТ ИЗ ГАРАЖА, КОД 8841", "Привет из гаража. Код 8841"),
    ("车库的门禁密码是八千。", "车库的门禁密码是八千"),
    ("Is the garage code 8841?", "is the garage code 8841??"),
    ("word " * 2000 + "the end", "Hello, word" + " word" * 1999 + " the end"),
]
# Of each pair neither may hide the other.
DIFFERENT = [
    (CODE, "The garage door code is 8842."),
    (CODE, "The garage door code is not 8841."),
    (CODE, "The garage door code isn't 8841."),
    (CODE, "The garage door code was 8841."),
    (CODE, "The garage door code is 8841?"),
    (CODE, "The cellar door code is 8841."),
    (CODE, "The garage door code is 88.41."),
    (CODE, "The garage door code is 8841. It changes every month, on the first Monday."),
    ("Anna keeps the garage code", "Bob keeps the garage code"),
    ("Hi Anna, the garage code is 8841", "Hi Bob, the garage code is 8841"),
    ("The garage code changes on 2026-05-01", "The garage code changes on 2026-05-11"),
    ("The garage is at -5 degrees", "The garage is at 5 degrees"),
    ("The garage costs $500 a month", "The garage costs €500 a month"),
    ("The garage robot runs C++ code", "The garage robot runs C code"),
    ("garage code " + "x" * 200 + "1 is a key", "garage code " + "x" * 200 + "2 is a key"),
    ("Run the garage code with --force", "Run the garage code with force"),
    ("Garage " + "word " * 2000 + "the end", "Garage " + "word " * 2000 + "the And"),
    ("Garage " + "word " * 2000 + "the end", "Garage " + "word " * 2001 + "the end"),
]


def tell(mem: Engine, *texts: str, **fields: Any) -> list[int]:
    return mem.ingest_many([{"text": text, **fields} for text in texts])


def by_words(mem: Engine, query: str, **options: Any) -> list[Hit]:
    return list(mem.recall(query, stages=["lexical"], **options).hits)


def ask_for(text: str) -> str:
    return " ".join(text.split()[:60])


@pytest.mark.parametrize(("one", "other"), SAME)
def test_said_twice_is_shown_once(mem: Engine, one: str, other: str) -> None:
    first, second = tell(mem, one, other)
    (hit,) = by_words(mem, ask_for(one))
    assert (hit.id, hit.duplicates) == (second, (first,))
    assert hit.text == other
    assert {h.id for h in by_words(mem, ask_for(one), collapse=False)} == {first, second}


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_is_shown(mem: Engine, one: str, other: str) -> None:
    ids = tell(mem, one, other)
    hits = by_words(mem, f"{ask_for(one)} garage")
    assert sorted(hit.id for hit in hits) == ids
    assert all(hit.duplicates == () for hit in hits)


def test_the_newest_stands_for_all_wherever_it_was_said(mem: Engine) -> None:
    times = [3 * DAY, 9 * DAY, 6 * DAY]
    ids = [
        mem.ingest(CODE, session=str(time), time=time + 10_000 * DAY, uid=str(time))
        for time in times
    ]
    (hit,) = by_words(mem, "garage code")
    assert (hit.id, hit.duplicates) == (ids[1], (ids[0], ids[2]))
    (hit,) = by_words(mem, "garage code", session=["259200000", "518400000"])
    assert (hit.id, hit.duplicates) == (ids[2], (ids[0],)), "only what passes is spoken of"


def test_each_speaker_keeps_their_own_words_and_tools_have_none(mem: Engine) -> None:
    roles = ["user", "assistant", "tool", "function", "tool:search", "toolmaker"]
    ids = {role: mem.ingest("I keep my tea in the garage.", role=role) for role in roles}
    hits = {hit.role: hit for hit in by_words(mem, "tea in the garage")}
    assert set(hits) == {"user", "assistant", "toolmaker"}
    stood_for = sorted(id for hit in hits.values() for id in hit.duplicates)
    assert stood_for == sorted(ids[role] for role in ("tool", "function", "tool:search"))
    (hit,) = by_words(mem, "tea in the garage", roles=["tool", "function"])
    assert (hit.id, hit.duplicates) == (ids["function"], (ids["tool"],))


def test_words_that_count_from_a_day_are_told_apart_by_day(mem: Engine) -> None:
    noon = FIRST + DAY // 2
    text = "The garage will be painted tomorrow."
    ids = [mem.ingest(text, time=noon + shift) for shift in (0, 1000, DAY)]
    hits = {hit.id: hit.duplicates for hit in by_words(mem, "garage painted")}
    assert hits == {ids[1]: (ids[0],), ids[2]: ()}


def test_a_short_reply_answers_another_question_each_time(mem: Engine) -> None:
    ids = tell(mem, "Yes, the garage one.", "Yes, the garage one.", "Garage!", "Garage!")
    assert sorted(hit.id for hit in by_words(mem, "garage")) == ids


def test_a_hundred_copies_leave_room_for_the_rest(mem: Engine) -> None:
    tell(mem, *[CODE] * 400)  # more than the candidates that are looked for at first
    others = tell(mem, *[f"The garage has {n} windows and no door code" for n in range(8)])
    hits = by_words(mem, "garage door code", limit=9)
    assert len(hits) == 9
    assert {hit.id for hit in hits if not hit.duplicates} == set(others)
    assert max(len(hit.duplicates) for hit in hits) == 399


# ---- budgets ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Statements, questions and answers, repetitions and long texts, in three sessions."""
    generator = random.Random(5)
    things = ["garage", "cellar", "attic", "car", "shed"]
    with cortext.open(tmp_path_factory.mktemp("mixed") / "m.db", model=model) as mem:
        for n in range(60):
            thing = generator.choice(things)
            session = f"s{n % 3}"
            text = f"What is the code of the {thing}?"
            mem.ingest(text, session=session, role="user", time=FIRST + n * DAY)
            reply = generator.choice(["It is", "That would be"]) + f" {generator.randint(1, 30)}."
            mem.ingest(reply, session=session, role="assistant", time=FIRST + n * DAY + 1)
            tail = " and it is never written down" * generator.choice([0, 1, 5, 40])
            mem.ingest(
                f"{generator.choice(['', 'Hi, '])}The code of the {thing} matters{tail}.",
                session=session,
                role=generator.choice(["user", "tool"]),
                time=FIRST + n * DAY + 2,
            )
        assert mem.flush()
        yield mem


def tokens_of(model: Model, text: str) -> int:
    return len(model.tokenize(text)) - len(model.tokenize(""))


options = st.fixed_dictionaries(
    {},
    optional={
        "budget_tokens": st.one_of(st.integers(1, 60), st.integers(1, 2000)),
        "budget_bytes": st.one_of(st.integers(1, 200), st.integers(1, 9000)),
        "attach": st.booleans(),
        "collapse": st.booleans(),
        "session": st.sampled_from(["s0", "s1", ["s0", "s2"]]),
        "roles": st.sampled_from(["user", "assistant", ["assistant", "tool"]]),
        "since": st.integers(FIRST, FIRST + 60 * DAY),
        "until": st.integers(FIRST, FIRST + 60 * DAY),
        "limit": st.integers(1, 200),
    },
)


@given(
    chosen=options,
    query=st.sampled_from(
        [
            "What is the code of the garage?",
            "the cellar code",
            "attic matters",
            "never written down",
        ]
    ),
)
@settings(deadline=None, max_examples=150)
def test_any_list_keeps_its_promises(mixed: Engine, query: str, chosen: dict[str, Any]) -> None:
    stored = {m.id: m for m in mixed.messages(limit=10_000)}
    filters = {k: v for k, v in chosen.items() if k in ("session", "roles", "since", "until")}
    passing = {m.id for m in mixed.messages(limit=10_000, **filters)}
    whole: list[Stage] = [stage for stage in STAGES if stage != "cut"]
    hits = mixed.recall(query, stages=whole, **chosen).hits
    shown = [message for hit in hits for message in (*hit.before, hit, *hit.after)]
    ids = [message.id for message in shown]
    ids += [id for hit in hits for id in hit.duplicates]
    assert len(ids) == len(set(ids)), "nothing is shown or reported twice"
    assert set(ids) <= passing
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    if "budget_tokens" in chosen:
        counted = sum(tokens_of(mixed.model, message.text) for message in shown)
        assert counted <= chosen["budget_tokens"]
    if "budget_bytes" in chosen:
        assert sum(len(message.text.encode()) for message in shown) <= chosen["budget_bytes"]
    for hit in hits:
        assert len(hit.before) <= 1 >= len(hit.after)
        assert {m.session for m in (*hit.before, *hit.after)} <= {hit.session}
        assert all(m.id < hit.id for m in hit.before)
        assert all(m.id > hit.id for m in hit.after)
        assert all(m == stored[m.id] for m in (*hit.before, *hit.after))
        text = stored[hit.id].text
        start, end = hit.excerpt or (0, len(text))
        assert hit.text == text[start:end]
        assert hit.excerpt is None or len(hit.text) < len(text)
        if not chosen.get("attach", True):
            assert hit.before == hit.after == ()
    if not chosen.get("collapse", True):
        assert all(hit.duplicates == () for hit in hits)
    said = [plain(hit) for hit in hits if is_statement(stored[hit.id].text)]
    if chosen.get("collapse", True):
        assert len(said) == len(set(said)), "no hit is a duplicate of another"
    if not chosen.keys() & {"budget_tokens", "budget_bytes"}:
        apart = passing if not chosen.get("collapse", True) else {key(stored[id]) for id in passing}
        assert len(hits) == min(chosen.get("limit", 10), len(apart)), "filled while there are any"


def is_statement(text: str) -> bool:
    return "matters" in text


def plain(hit: Hit) -> tuple[int, str]:
    """What two hits may not have in common; an excerpt is of a text that the others are not."""
    return (hit.id if hit.excerpt else 0, hit.text.removeprefix("Hi, ").lower())


def key(message: cortext.Message) -> object:
    """What messages that say the same have in common: short answers nothing, tools no voice."""
    text = message.text.removeprefix("Hi, ").lower()
    return message.id if text.startswith(("it ", "that ")) else text


def test_a_long_hit_does_not_keep_out_shorter_ones(mem: Engine) -> None:
    long, short = tell(mem, "garage code " * 30, "The garage code is in the blue folder.")
    hits = by_words(mem, "garage code", budget_tokens=100)
    assert [hit.id for hit in hits] == [long, short]
    hits = by_words(mem, "garage code", budget_tokens=65)
    assert [hit.id for hit in hits] == [long]
    other = mem.ingest("garage code " * 29 + "again and again")
    hits = by_words(mem, "garage code", budget_tokens=80)
    assert [hit.id for hit in hits] == [long, short], "the one between is passed over"
    assert other not in {hit.id for hit in hits}


def test_what_no_budget_could_hold_is_cut_to_what_matters(mem: Engine) -> None:
    generator = random.Random(1)
    words = ["meeting", "parking", "lunch", "printer", "report", "table", "coffee", "paper", "été"]
    filler = " ".join(generator.choices(words, k=3000))
    text = f"{filler} The zebra lives behind the old mill. {filler}"
    id = mem.ingest(text)
    mem.flush()
    for budget in ({"budget_tokens": 60}, {"budget_bytes": 300}, {"budget_tokens": 2000}):
        (hit,) = mem.recall("Where does the zebra live?", **budget).hits  # type: ignore[arg-type]
        assert hit.id == id
        assert hit.excerpt is not None
        assert "zebra lives behind the old mill" in hit.text
        assert hit.text == text[slice(*hit.excerpt)]
        assert 0 < hit.excerpt[0] < hit.excerpt[1] < len(text)
        assert text[hit.excerpt[0] - 1] == text[hit.excerpt[1]] == " ", "whole words"
    assert tokens_of(mem.model, hit.text) <= 500, "of a large budget a quarter"
    (hit,) = mem.recall("Where does the zebra live?").hits
    assert hit.excerpt is None


@pytest.mark.parametrize("budget", [40, 60, 80, 100, 150, 300])
def test_a_cut_holds_the_words_that_were_asked_for(mem: Engine, budget: int) -> None:
    paragraphs = [f"Paragraph {i}: the station number {i} recorded nothing." for i in range(600)]
    paragraphs[333] = "Paragraph 333: the station number 333 recorded a purple tornado."
    mem.ingest("\n".join(paragraphs))
    mem.flush()
    (hit,) = mem.recall("purple tornado", budget_bytes=budget)
    assert "purple tornado" in hit.text
    assert len(hit.text.encode()) <= budget
    (hit,) = mem.recall("were there any tornadoes?", budget_bytes=budget)
    assert "tornado" in hit.text


@pytest.mark.parametrize("text", ["🦓" * 4000, "斑马住在磨坊后面" * 500, "zebra" * 3000])
@pytest.mark.parametrize("budget", [1, 3, 7, 50])
def test_text_without_spaces_is_cut_between_characters(mem: Engine, text: str, budget: int) -> None:
    mem.ingest(text)
    mem.flush()
    for hit in mem.recall("斑马 zebra", budget_bytes=budget).hits:
        assert 0 < len(hit.text.encode()) <= budget
        assert hit.text in text
    for hit in mem.recall("斑马 zebra", budget_tokens=budget).hits:
        assert tokens_of(mem.model, hit.text) <= budget


def test_scripts_that_the_model_does_not_know_count_by_their_bytes(mem: Engine) -> None:
    text = "ประตูโรงรถมีรหัสใหม่ที่ไม่มีใครจำได้เลยสักคน" * 3
    assert tokens_of(mem.model, text) < len(text.encode()) // 20
    mem.ingest(text)
    (hit,) = mem.recall(text, budget_tokens=len(text.encode()) // 8, stages=["lexical"]).hits
    assert hit.text == text
    (hit,) = mem.recall(text, budget_tokens=len(text.encode()) // 8 - 1, stages=["lexical"]).hits
    assert hit.excerpt is not None


def test_budgets_out_of_range(mem: Engine) -> None:
    mem.ingest("hello")
    for name in ("budget_tokens", "budget_bytes"):
        for value in (0, -1, 2**31, 1.5, "10", True):
            with pytest.raises(InputError, match=name):
                mem.recall("hello", **{name: value})  # type: ignore[arg-type]
        assert len(mem.recall("hello", **{name: 2**31 - 1})) == 1  # type: ignore[arg-type]


# ---- what is attached ---------------------------------------------------------------------------


def talk(mem: Engine, *turns: tuple[str, str], session: str = "talk") -> list[int]:
    """Store turns, and enough about something else that they are no hits by themselves."""
    ids = mem.ingest_many(
        [
            {"text": t, "role": r, "session": session, "time": FIRST + i}
            for i, (r, t) in enumerate(turns)
        ]
    )
    mem.flush()
    return ids


def test_an_answer_brings_its_question(mem: Engine) -> None:
    question, answer, _ = talk(
        mem,
        ("user", "Which colour shall the fence have?"),
        ("assistant", "Dark green would suit the zebra."),
        ("user", "The train was late and we missed half of the concert that Ingrid played."),
    )
    (hit,) = mem.recall("dark green zebra", limit=1).hits
    assert hit.id == answer
    assert [m.id for m in hit.before] == [question]
    assert hit.before[0] == mem.get(question)
    assert type(hit.before[0]) is cortext.Message
    assert hit.after == ()
    assert mem.recall("dark green zebra", limit=1, attach=False).hits[0].before == ()
    hits = mem.recall("dark green zebra", limit=2).hits
    assert all(m.id not in {h.id for h in hits} for h in hits for m in h.before)


def test_a_question_brings_its_answer(mem: Engine) -> None:
    question, answer = talk(
        mem,
        ("user", "Which colour did we choose for the zebra enclosure at the northern gate?"),
        ("assistant", "Dark green."),
    )
    (hit,) = mem.recall("colour of the zebra enclosure northern gate", limit=1).hits
    assert hit.id == question
    assert [m.id for m in hit.after] == [answer]


def test_what_reads_alone_brings_nothing(mem: Engine) -> None:
    talk(
        mem,
        ("user", "Shall we talk about the garden now?"),
        (
            "assistant",
            "The zebra enclosure at the northern gate has been painted dark green this spring.",
        ),
        ("user", "The train was late and we missed half of the concert that Ingrid played."),
    )
    (hit,) = mem.recall("zebra enclosure painted dark green", limit=1).hits
    assert hit.before == hit.after == ()


def test_what_is_attached_passes_the_filters(mem: Engine) -> None:
    _, answer = talk(
        mem,
        ("user", "Which colour shall the fence have?"),
        ("assistant", "Dark green would suit the zebra."),
    )
    query = "dark green zebra"
    for filters in ({"roles": "assistant"}, {"since": FIRST + 1}):
        (hit,) = mem.recall(query, limit=1, **filters).hits  # type: ignore[arg-type]
        assert hit.id == answer
        assert hit.before == ()


def test_budgets_leave_out_the_attached_first(mem: Engine) -> None:
    talk(
        mem,
        ("user", "Which colour shall the fence have?"),
        ("assistant", "Dark green would suit the zebra."),
    )
    text = "Dark green would suit the zebra."
    budget = tokens_of(mem.model, text)
    (hit,) = mem.recall("dark green zebra", limit=1, budget_tokens=budget).hits
    assert (hit.text, hit.before, hit.excerpt) == (text, (), None)


def test_what_is_superseded_is_not_attached(mem: Engine) -> None:
    mem.ingest_many(
        [
            {"text": "The wifi password is tulip-77.", "session": "1", "time": FIRST},
            {"text": "Biscuit weighs 4.2 kilos.", "session": "1", "time": FIRST + 1},
            {"text": "The wifi password is Gracht-26 now.", "session": "2", "time": FIRST + DAY},
        ]
    )
    mem.flush()
    for include in (True, False):
        found = mem.recall("wifi password", include_superseded=include, limit=3)
        assert next(hit for hit in found if hit.id == 3).supersedes == (1,)
        beside = [message.id for hit in found for message in (*hit.before, *hit.after)]
        assert 1 not in beside
