"""What holds of every text and every reference."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from cortext.dates import find_anchors, find_spans

WORDS = [
    "last",
    "next",
    "this",
    "past",
    "the",
    "first",
    "second",
    "week",
    "month",
    "year",
    "day",
    "days",
    "weekend",
    "of",
    "in",
    "on",
    "at",
    "from",
    "to",
    "between",
    "and",
    "before",
    "after",
    "since",
    "until",
    "around",
    "early",
    "late",
    "mid",
    "end",
    "beginning",
    "May",
    "March",
    "june",
    "Friday",
    "fridays",
    "Sunday",
    "ago",
    "two",
    "3",
    "5th",
    "12",
    "2021",
    "2023",
    "1999",
    "90s",
    "Q1",
    "summer",
    "fall",
    "Christmas",
    "New",
    "Year's",
    "Eve",
    "yesterday",
    "today",
    "tomorrow",
    "morning",
    "night",
    "few",
    "couple",
    "a",
    "several",
    "hours",
    "2023-05-08",
    "5/8/2023",
    "8.5.2023",
    "2021年",
    "-",
    ",",
    ".",
    "?",
    "!",
    "'",
    "$",
    "%",
    ":",
    "/",
    "I",
    "my",
    "trip",
    "wedding",
]
ZONES = st.one_of(
    st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
    st.sampled_from(["America/New_York", "Europe/Berlin", "Pacific/Apia", "Asia/Kathmandu"]).map(
        ZoneInfo
    ),
)
REFERENCES = st.one_of(
    st.datetimes(timezones=ZONES),
    st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1), timezones=ZONES),
)
PHRASES = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
TEXTS = st.one_of(
    PHRASES,
    st.text(),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=5))).map("".join),
)


@given(TEXTS, REFERENCES)
@example("today", datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))))
@example("today", datetime.min.replace(tzinfo=timezone(timedelta(hours=14))))
def test_any_text(text: str, reference: datetime) -> None:
    place = 0
    for span in find_spans(text, reference):
        assert span.start < span.end
        assert span.start.tzinfo is span.end.tzinfo is timezone.utc
        place = text.index(span.text, place) + len(span.text)
        assert span.text
    place = 0
    for anchor in find_anchors(text):
        assert anchor.relation in {"before", "after", "during"}
        place = text.index(anchor.text, place) + len(anchor.text)
        assert anchor.text


WEEKLY = st.sampled_from(
    ["last Tuesday", "on Friday", "next Sunday", "this Monday", "two Fridays ago", "yesterday",
     "three weeks ago", "last weekend", "the week before last", "over the weekend", "since Monday",
     "Tuesday evening", "early last week", "last week Monday", "the weekend before last",
     "this week", "the last 10 days", "the other day", "last night", "a couple of days ago",
     "10 minutes ago"]
)  # fmt: skip


@given(
    WEEKLY,
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(timezone.utc)),
    st.integers(-500, 500),
)
def test_weeks_shift_alike(words: str, reference: datetime, weeks: int) -> None:
    shift = timedelta(weeks=weeks)
    text = f"what happened {words}?"
    (here,), (there,) = find_spans(text, reference), find_spans(text, reference + shift)
    assert (there.start, there.end) == (here.start + shift, here.end + shift)


@given(
    st.sampled_from(["in {}", "{} 5", "since {}", "until {}", "last {}", "early {}"]),
    st.sampled_from(
        [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ]
    ),
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=ZONES),
)
def test_a_month_without_a_year_has_begun(pattern: str, month: str, reference: datetime) -> None:
    text = "What happened " + pattern.format(month)
    spans = find_spans(text, reference)
    # On the first of its month "since" has nothing yet.
    assert len(spans) == 1 or pattern == "since {}"
    for span in spans:
        assert span.start <= reference
        if pattern != "until {}":
            assert reference - span.start < timedelta(days=2 * 366)


@given(st.lists(st.dates().map(lambda day: day.isoformat()), max_size=5), REFERENCES)
def test_iso_dates_are_themselves(days: list[str], reference: datetime) -> None:
    reference = reference.replace(tzinfo=timezone.utc)
    spans = find_spans(" or ".join(days), reference)
    wanted = [day for day in days if day != "9999-12-31"]
    assert [span.start.date().isoformat() for span in spans] == wanted
    assert all(span.end - span.start == timedelta(days=1) for span in spans)
