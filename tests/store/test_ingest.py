"""What goes in comes out; what may not go in changes nothing."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cortext
from cortext import ConflictError, Engine, InputError, NewMessage, NotFoundError
from cortext.models import Model

STORABLE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
).filter(lambda text: any(c.isalnum() for c in text))


def test_message_comes_back_as_it_was(mem: Engine) -> None:
    time = datetime(2026, 3, 1, 12, 30, 15, 123000, tzinfo=timezone(timedelta(hours=5)))
    id = mem.ingest(
        "The garage door code is 8841.",
        role="Ayşe",
        session="s/1",
        time=time,
        source="chat.txt",
        metadata={"a": [1, None, "ü"], "b": {"c": True}},
        uid="u1",
    )
    message = mem.get(id)
    assert message == cortext.Message(
        id=id,
        text="The garage door code is 8841.",
        role="Ayşe",
        session="s/1",
        time=time,
        source="chat.txt",
        metadata={"a": [1, None, "ü"], "b": {"c": True}},
        uid="u1",
    )
    assert message.time.utcoffset() == timedelta(0)


def test_time_defaults_to_now(mem: Engine) -> None:
    before = datetime.now(timezone.utc) - timedelta(milliseconds=1)
    message = mem.get(mem.ingest("hello there"))
    assert before <= message.time <= datetime.now(timezone.utc)
    assert (message.role, message.session) == ("user", "default")


@given(texts=st.lists(STORABLE, min_size=1, max_size=5), name=STORABLE)
@settings(deadline=None, max_examples=50)
def test_any_text_survives(
    texts: list[str], name: str, model: Model, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "m.db"
    with cortext.open(path, model=model) as mem:
        ids = mem.ingest_many([{"text": t, "role": name, "session": name} for t in texts])
        assert [mem.get(id).text for id in ids] == texts
    with cortext.open(path, model=model) as mem:
        assert [m.text for m in mem.messages(session=name, roles=name)] == texts


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


BAD: list[tuple[str, dict[str, Any]]] = [
    ("empty", {"text": ""}),
    ("blank", {"text": " \n\t\u3000\u200b"}),
    ("NUL", {"text": "a\0b"}),
    ("surrogate", {"text": "a\ud800b"}),
    ("not a str", {"text": b"bytes"}),
    ("None", {"text": None}),
    ("too large", {"text": "x" * (16 * 1024 * 1024 + 1)}),
    ("role None", {"text": "a", "role": None}),
    ("session None", {"text": "a", "session": None}),
    ("seconds", {"text": "a", "time": 1_700_000_000}),
    ("uid not a str", {"text": "a", "uid": 7}),
    ("source not a str", {"text": "a", "source": b"f"}),
    ("empty role", {"text": "a", "role": ""}),
    ("NUL in session", {"text": "a", "session": "s\0t"}),
    ("role not a str", {"text": "a", "role": 3}),
    ("naive time", {"text": "a", "time": datetime(2026, 1, 1)}),  # noqa: DTZ001
    ("time as text", {"text": "a", "time": "2026-01-01"}),
    ("time as bool", {"text": "a", "time": True}),
    ("time out of range", {"text": "a", "time": 10**18}),
    ("metadata not an object", {"text": "a", "metadata": [1]}),
    ("metadata not JSON", {"text": "a", "metadata": {"x": object()}}),
    ("metadata key not a str", {"text": "a", "metadata": {"x": [{1: "a"}]}}),
    ("metadata too deep", {"text": "a", "metadata": {"x": deep(60)}}),
    ("metadata NaN", {"text": "a", "metadata": {"x": float("nan")}}),
    ("empty uid", {"text": "a", "uid": ""}),
    ("surrogate in uid", {"text": "a", "uid": "\udfff"}),
]


@pytest.mark.parametrize(("why", "fields"), BAD, ids=[why for why, _ in BAD])
def test_bad_input_is_one_error_and_changes_nothing(
    mem: Engine, why: str, fields: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        mem.ingest(**fields)
    with pytest.raises(InputError):
        mem.ingest_many([{"text": "good"}, fields])
    assert mem.stats().messages == 0


def test_unknown_field_and_missing_text_are_refused(mem: Engine) -> None:
    for bad in ({"text": "a", "speaker": "x"}, {"role": "user"}, "text", 3):
        with pytest.raises(InputError):
            mem.ingest_many([bad])  # type: ignore[list-item]
    assert mem.stats().messages == 0


def test_largest_text_is_stored_and_found(mem: Engine) -> None:
    text = "needle " + "x" * (16 * 1024 * 1024 - 7)
    id = mem.ingest(text)
    assert mem.get(id).text == text
    assert [h.id for h in mem.recall("needle", stages=["lexical"]).hits] == [id]


def test_uid_is_idempotent(mem: Engine) -> None:
    first = mem.ingest("one", uid="u", session="s")
    assert mem.ingest("one", uid="u", session="s") == first
    assert mem.ingest_many([NewMessage(text="one", uid="u", session="s")] * 3) == [first] * 3
    for other in (
        {"text": "two"},
        {"text": "one", "role": "tool"},
        {"text": "one", "session": "t"},
    ):
        with pytest.raises(ConflictError):
            mem.ingest_many([{"text": "new"}, {"uid": "u", "session": "s", **other}])
    assert mem.stats().messages == 1


def test_ids_are_never_used_again_and_order_is_kept(mem: Engine, path: Path, model: Model) -> None:
    ids = mem.ingest_many([{"text": f"message {i}"} for i in range(50)])
    assert ids == sorted(set(ids))
    assert [m.id for m in mem.messages(limit=20, after=ids[9])] == ids[10:30]


def test_ingest_many_takes_any_iterable_and_nothing(mem: Engine) -> None:
    assert mem.ingest_many([]) == []
    assert len(mem.ingest_many({"text": f"m{i}"} for i in range(3))) == 3


@pytest.mark.parametrize("id", [0, -1, 99, 2**63 - 1])
def test_unknown_id(mem: Engine, id: int) -> None:
    with pytest.raises(NotFoundError, match=str(id)):
        mem.get(id)


@pytest.mark.parametrize("id", ["1", 1.0, True, 2**63])
def test_id_of_a_wrong_kind(mem: Engine, id: Any) -> None:
    with pytest.raises(InputError):
        mem.get(id)


def test_values_of_other_kinds_are_input_errors(mem: Engine) -> None:
    for call in (
        lambda: mem.ingest_many(5),  # type: ignore[arg-type]
        lambda: mem.flush(timeout="x"),  # type: ignore[arg-type]
        lambda: mem.flush(timeout=True),
        lambda: mem.messages(after=2**63),
        lambda: mem.messages(after=1.5),  # type: ignore[arg-type]
        lambda: mem.messages(after="1"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError):
            call()
    assert mem.messages(after=2**40) == []
