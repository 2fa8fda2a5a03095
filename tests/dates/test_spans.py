"""What each expression means, and what is none."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from cortext.dates import TimeSpan, find_spans
from cortext.errors import InputError

from .times import WEDNESDAY, expected, intervals, moment

# The reference is Wednesday, 14 June 2023, 15:30 UTC.
EXPRESSIONS: list[tuple[str, str, str]] = [
    # Days
    ("today", "2023-06-14", "2023-06-15"),
    ("yesterday", "2023-06-13", "2023-06-14"),
    ("tomorrow", "2023-06-15", "2023-06-16"),
    ("the day before yesterday", "2023-06-12", "2023-06-13"),
    ("the day after tomorrow", "2023-06-16", "2023-06-17"),
    ("the other day", "2023-06-07", "2023-06-14"),
    ("this morning", "2023-06-14T05:00", "2023-06-14T12:00"),
    ("this evening", "2023-06-14T18:00", "2023-06-15"),
    ("tonight", "2023-06-14T18:00", "2023-06-15T06:00"),
    ("last night", "2023-06-13T18:00", "2023-06-14T06:00"),
    ("yesterday afternoon", "2023-06-13T12:00", "2023-06-13T18:00"),
    ("earlier today", "2023-06-14", "ref"),
    ("May 5 in the morning", "2023-05-05T05:00", "2023-05-05T12:00"),
    # Weekdays
    ("last Tuesday", "2023-06-13", "2023-06-14"),
    ("last Wednesday", "2023-06-07", "2023-06-08"),
    ("this past Saturday", "2023-06-10", "2023-06-11"),
    ("this Thursday", "2023-06-15", "2023-06-16"),
    ("next Wednesday", "2023-06-21", "2023-06-22"),
    ("on Wednesday", "2023-06-14", "2023-06-15"),
    ("on Thursday", "2023-06-08", "2023-06-09"),
    ("on Monday morning", "2023-06-12T05:00", "2023-06-12T12:00"),
    ("on Sunday night", "2023-06-11T18:00", "2023-06-12T06:00"),
    ("two Fridays ago", "2023-06-02", "2023-06-03"),
    ("last Fri", "2023-06-09", "2023-06-10"),
    ("the Friday before last", "2023-06-02", "2023-06-03"),
    ("last week Monday", "2023-06-05", "2023-06-06"),
    ("on Tuesday of last week", "2023-06-06", "2023-06-07"),
    ("last week on Tuesday", "2023-06-06", "2023-06-07"),
    ("the evening of 5 May", "2023-05-05T18:00", "2023-05-06"),
    # Weeks and weekends
    ("the weekend of May 13", "2023-05-13", "2023-05-15"),
    ("last week", "2023-06-05", "2023-06-12"),
    ("this week", "2023-06-12", "2023-06-19"),
    ("next week", "2023-06-19", "2023-06-26"),
    ("the week before last", "2023-05-29", "2023-06-05"),
    ("last weekend", "2023-06-10", "2023-06-12"),
    ("this weekend", "2023-06-17", "2023-06-19"),
    ("over the weekend", "2023-06-10", "2023-06-12"),
    ("three weeks ago", "2023-05-22", "2023-05-29"),
    ("a week ago", "2023-06-05", "2023-06-12"),
    ("a fortnight ago", "2023-05-29", "2023-06-05"),
    ("early last week", "2023-06-05", "2023-06-07"),
    ("the end of last week", "2023-06-09", "2023-06-12"),
    ("the week of 3 May 2021", "2021-05-03", "2021-05-10"),
    # Months
    ("last month", "2023-05-01", "2023-06-01"),
    ("the month before last", "2023-04-01", "2023-05-01"),
    ("in May", "2023-05-01", "2023-06-01"),
    ("in may", "2023-05-01", "2023-06-01"),
    ("in July", "2022-07-01", "2022-08-01"),
    ("last May", "2023-05-01", "2023-06-01"),
    ("last July", "2022-07-01", "2022-08-01"),
    ("next May", "2024-05-01", "2024-06-01"),
    ("in May 2023", "2023-05-01", "2023-06-01"),
    ("May 2021", "2021-05-01", "2021-06-01"),
    ("in Sept. 2021", "2021-09-01", "2021-10-01"),
    ("in February of 2020", "2020-02-01", "2020-03-01"),
    ("in 2023-05", "2023-05-01", "2023-06-01"),
    ("2 months ago", "2023-04-01", "2023-05-01"),
    ("early May", "2023-05-01", "2023-05-11"),
    ("in mid-May", "2023-05-11", "2023-05-21"),
    ("late February", "2023-02-21", "2023-03-01"),
    ("the end of October", "2022-10-21", "2022-11-01"),
    ("the first half of May", "2023-05-01", "2023-05-16"),
    ("the last week of May", "2023-05-25", "2023-06-01"),
    ("the second week of May", "2023-05-08", "2023-05-15"),
    ("the first Monday of May", "2023-05-01", "2023-05-02"),
    ("the last Friday in March", "2023-03-31", "2023-04-01"),
    ("in May of last year", "2022-05-01", "2022-06-01"),
    ("at the end of the month", "2023-06-21", "2023-07-01"),
    # Days of the calendar
    ("July 4th last year", "2022-07-04", "2022-07-05"),
    ("May 5", "2023-05-05", "2023-05-06"),
    ("May 5th", "2023-05-05", "2023-05-06"),
    ("5 May", "2023-05-05", "2023-05-06"),
    ("the 5th of May", "2023-05-05", "2023-05-06"),
    ("May the 5th", "2023-05-05", "2023-05-06"),
    ("July 4", "2022-07-04", "2022-07-05"),
    ("on the 5th", "2023-06-05", "2023-06-06"),
    ("on the 31st", "2023-05-31", "2023-06-01"),
    ("February 29", "2020-02-29", "2020-03-01"),
    ("8 May, 2023", "2023-05-08", "2023-05-09"),
    ("May 8, 2023", "2023-05-08", "2023-05-09"),
    ("8th May 2023", "2023-05-08", "2023-05-09"),
    ("Monday, 8 May 2023", "2023-05-08", "2023-05-09"),
    ("8-May-2023", "2023-05-08", "2023-05-09"),
    ("on 2023-05-08", "2023-05-08", "2023-05-09"),
    ("2023/5/8", "2023-05-08", "2023-05-09"),
    ("5/8/2023", "2023-05-08", "2023-05-09"),
    ("25/8/2022", "2022-08-25", "2022-08-26"),
    ("8.5.2023", "2023-05-08", "2023-05-09"),
    ("on 5/8/23", "2023-05-08", "2023-05-09"),
    ("on 5/8/24", "1924-05-08", "1924-05-09"),
    ("on 5/8/88", "1988-05-08", "1988-05-09"),
    ("on Wednesday the 7th", "2023-06-07", "2023-06-08"),
    ("on Friday the 13th", "2023-01-13", "2023-01-14"),
    ("2023-05-08T14:30:00Z", "2023-05-08T14:30:00", "2023-05-08T14:30:01"),
    ("2023-05-08 14:30", "2023-05-08T14:30", "2023-05-08T14:31"),
    ("2023-05-08T14:30+02:00", "2023-05-08T12:30", "2023-05-08T12:31"),
    # Years and parts of them
    ("in 2021", "2021-01-01", "2022-01-01"),
    ("last year", "2022-01-01", "2023-01-01"),
    ("the year before last", "2021-01-01", "2022-01-01"),
    ("two years ago", "2021-01-01", "2022-01-01"),
    ("early 2022", "2022-01-01", "2022-05-01"),
    ("in mid-2022", "2022-05-01", "2022-09-01"),
    ("late last year", "2022-09-01", "2023-01-01"),
    ("the end of last year", "2022-11-01", "2023-01-01"),
    ("the start of 2022", "2022-01-01", "2022-03-01"),
    ("the second half of 2022", "2022-07-01", "2023-01-01"),
    ("Q3 2022", "2022-07-01", "2022-10-01"),
    ("2022 Q3", "2022-07-01", "2022-10-01"),
    ("the third quarter of 2022", "2022-07-01", "2022-10-01"),
    ("H2 2022", "2022-07-01", "2023-01-01"),
    ("last quarter", "2023-01-01", "2023-04-01"),
    ("the 1980s", "1980-01-01", "1990-01-01"),
    ("in the '90s", "1990-01-01", "2000-01-01"),
    ("in the early nineties", "1990-01-01", "1994-01-01"),
    # Seasons and holidays
    ("last summer", "2022-06-01", "2022-09-01"),
    ("the summer before last", "2021-06-01", "2021-09-01"),
    ("the Monday after Easter", "2023-04-10", "2023-04-11"),
    ("this summer", "2023-06-01", "2023-09-01"),
    ("in the spring", "2023-03-01", "2023-06-01"),
    ("the winter of 2021", "2021-12-01", "2022-03-01"),
    ("last fall", "2022-09-01", "2022-12-01"),
    ("in the summer of last year", "2022-06-01", "2022-09-01"),
    ("on Christmas Eve", "2022-12-24", "2022-12-25"),
    ("last Christmas", "2022-12-24", "2022-12-27"),
    ("Christmas 2020", "2020-12-24", "2020-12-27"),
    ("around Christmas", "2022-12-21", "2022-12-30"),
    ("at Easter", "2023-04-07", "2023-04-11"),
    ("on Valentine's Day", "2023-02-14", "2023-02-15"),
    ("at New Year", "2022-12-31", "2023-01-02"),
    ("the Easter of 2021", "2021-04-02", "2021-04-06"),
    # Stretches up to now
    ("in the last year", "2022-06-14", "ref"),
    ("in the past two months", "2023-04-14", "ref"),
    ("over the last 3 weeks", "2023-05-24", "ref"),
    ("in the last few days", "2023-06-09", "ref"),
    ("the past year", "2022-06-14", "ref"),
    ("in the last 24 hours", "2023-06-13T15:30", "ref"),
    ("since January", "2023-01-01", "ref"),
    ("since 2021", "2021-01-01", "ref"),
    ("since last week", "2023-06-05", "ref"),
    ("since yesterday", "2023-06-13", "ref"),
    ("since Monday", "2023-06-12", "ref"),
    ("since last summer", "2022-06-01", "ref"),
    ("earlier this year", "2023-01-01", "ref"),
    ("after May 5", "2023-05-06", "ref"),
    ("after Christmas", "2022-12-27", "ref"),
    # Open starts
    ("before June 2023", "-", "2023-06-01"),
    ("prior to 2019", "-", "2019-01-01"),
    ("before last summer", "-", "2022-06-01"),
    ("until March", "-", "2023-04-01"),
    # From one to another
    ("between March and May", "2023-03-01", "2023-06-01"),
    ("from November to February", "2022-11-01", "2023-03-01"),
    ("between March and May 2021", "2021-03-01", "2021-06-01"),
    ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
    ("between 3 and 9 May", "2023-05-03", "2023-05-10"),
    ("May 3-9", "2023-05-03", "2023-05-10"),
    ("from May 3 to May 9, 2022", "2022-05-03", "2022-05-10"),
    ("between Monday and today", "2023-06-12", "2023-06-15"),
    ("from 2023-05-01 to 2023-05-07", "2023-05-01", "2023-05-08"),
    # Counted from a time
    ("the day before May 5", "2023-05-04", "2023-05-05"),
    ("two days after Christmas", "2022-12-27", "2022-12-28"),
    ("the week before May 8, 2023", "2023-05-01", "2023-05-08"),
    ("the Sunday after 3 May 2023", "2023-05-07", "2023-05-08"),
    ("last Friday before 20 May 2023", "2023-05-19", "2023-05-20"),
    ("the weekend before 20 May 2023", "2023-05-13", "2023-05-15"),
    # Ago
    ("three days ago", "2023-06-11", "2023-06-12"),
    ("a couple of weeks ago", "2023-05-22", "2023-06-05"),
    ("a few years ago", "2018-01-01", "2022-01-01"),
    ("several months ago", "2022-11-01", "2023-04-01"),
    ("2 hours ago", "2023-06-14T13:00", "2023-06-14T14:00"),
    ("20 minutes ago", "2023-06-14T15:05", "2023-06-14T15:15"),
    ("around three weeks ago", "2023-05-19", "2023-06-01"),
    ("half a year ago", "2022-12-01", "2023-01-01"),
    ("a week ago today", "2023-06-07", "2023-06-08"),
    # Around
    ("around May 5", "2023-05-02", "2023-05-09"),
    ("around 2020", "2019-07-02", "2021-07-03"),
    # Years in other languages
    ("em 2021", "2021-01-01", "2022-01-01"),
    ("im Jahr 2021", "2021-01-01", "2022-01-01"),
    ("в 2021", "2021-01-01", "2022-01-01"),
    ("2021年5月", "2021-05-01", "2021-06-01"),
    ("2021년 5월", "2021-01-01", "2022-01-01"),
]
FRAMES = ["what did I do {}?", "{}", "Who called {}, and why?"]

NEITHER = [
    "may I ask you something?", "you may go", "it may be 5 o'clock", "march on",
    "the march for peace", "what is the march called?", "wait a second", "the second time",
    "is the sun bad for it?", "Sun Microsystems", "she sat down", "mon ami", "who wed whom?",
    "I want it now", "June is my aunt", "call April", "tell May that I am late",
    "did August finish the report?", "April's new address", "what does Jan think?",
    "a dec workstation", "mar the surface", "a fall from the ladder", "spring onions",
    "the summer dress", "winter tyres", "Easter egg", "Christmas tree lights", "happy new year",
    "Black Friday", "Friday Night Lights", "Wednesday Addams", "the Sunday Times",
    "every Monday at 9", "on Mondays", "each May", "Good morning", "a good night",
    "the night shift", "quarter of a pound", "a year older", "ten year old whisky",
    "the best day of my life", "how many days are in a week?", "5 days", "3 weeks of leave",
    "a two week trip", "the last time", "last but not least", "the last one", "the next step",
    "last name", "past tense", "this is it", "the last day of school", "the weekend plans",
    "my birthday", "on my birthday", "recently", "lately", "long ago", "some time ago",
    "in a minute", "in the morning", "at night", "good afternoon", "day one", "I have 3 dogs",
    "version 3.11", "python 3.11.2", "release 2023.4", "room 204", "room 2021", "call 555-0182",
    "+1 202-555-0182", "10 people", "2000 people", "in 2000 steps", "in 1999 pieces",
    "it cost 2020 dollars", "$2021", "before $2021", "#2021", "in $2021", "2021%", "LH 2023",
    "the code is 8841", "order 20230508", "192.168.1.1", "10.12.2.4", "a 9/11 split", "1/2 cup",
    "16/9", "5/8", "12:30", "at 5", "at 5pm", "2023-13-45", "30 February 2023x", "99.99.2023",
    "in 12345", "model S2021", "2021-x", "ISO 8601", "in 3021", "RFC 2024",
    "page 2021 of the book", "1984 by Orwell", "the 5th floor", "on the 5th floor",
    "on the 2nd try", "his 2nd wife", "q1", "quarters", "4th", "what is my garage code?", "",
]  # fmt: skip


@pytest.mark.parametrize(("words", "start", "end"), EXPRESSIONS)
def test_expression(words: str, start: str, end: str) -> None:
    reference = moment(WEDNESDAY)
    for frame in FRAMES:
        found = find_spans(frame.format(words), reference)
        assert intervals(found) == expected([(start, end)], reference), frame.format(words)
        assert found[0].text in words


@pytest.mark.parametrize("text", NEITHER)
def test_no_time(text: str) -> None:
    for frame in ("{}", "what did I say about {}?", "{}, please"):
        assert find_spans(frame.format(text), moment(WEDNESDAY)) == (), frame.format(text)


def test_the_negatives_are_many() -> None:
    assert len(set(NEITHER)) >= 60


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what did I buy last Tuesday?", ["last Tuesday"]),
        ("in May 2023 and on 8 June?", ["May 2023", "8 June"]),
        ("since January or in 2019", ["since January", "2019"]),
        ("What did I say Tuesday?", ["Tuesday"]),
        ("did it rain in May and June 2022", ["May", "June 2022"]),
        (
            "what did Tom do between March and May and last week",
            ["between March and May", "last week"],
        ),
    ],
)
def test_text_of_spans(text: str, names: list[str]) -> None:
    assert [span.text for span in find_spans(text, moment(WEDNESDAY))] == names


@pytest.mark.parametrize(
    ("text", "reference", "pair"),
    [
        ("today", "2023-06-14T23:30:00-05:00", ("2023-06-14T05:00", "2023-06-15T05:00")),
        ("yesterday", "2023-06-15T01:00:00+09:00", ("2023-06-13T15:00", "2023-06-14T15:00")),
        # Clocks go forward on 12 March and back on 5 November.
        ("yesterday", "2023-03-13T09 America/New_York", ("2023-03-12T05:00", "2023-03-13T04:00")),
        ("yesterday", "2023-11-06T09 America/New_York", ("2023-11-05T04:00", "2023-11-06T05:00")),
        ("2 hours ago", "2023-03-26T04:00 Europe/Berlin", ("2023-03-25T23:30", "2023-03-26T00:30")),
        ("last Wednesday", "2023-06-14T00:00:00+00:00", ("2023-06-07", "2023-06-08")),
        ("last weekend", "2023-06-17T10:00:00+00:00", ("2023-06-10", "2023-06-12")),
        ("over the weekend", "2023-06-17T10:00:00+00:00", ("2023-06-17", "2023-06-19")),
        ("last summer", "2023-10-01T10:00:00+00:00", ("2023-06-01", "2023-09-01")),
        ("last May", "2023-05-20T10:00:00+00:00", ("2022-05-01", "2022-06-01")),
        ("in May", "2023-05-01T00:00:00+00:00", ("2023-05-01", "2023-06-01")),
        ("this winter", "2023-01-10T00:00:00+00:00", ("2022-12-01", "2023-03-01")),
        ("last Christmas", "2023-12-25T00:00:00+00:00", ("2022-12-24", "2022-12-27")),
        ("at Christmas", "2023-12-25T00:00:00+00:00", ("2023-12-24", "2023-12-27")),
        ("February 29", "2024-02-28T00:00:00+00:00", ("2020-02-29", "2020-03-01")),
        ("a month ago", "2023-03-31T00:00:00+00:00", ("2023-02-01", "2023-03-01")),
        ("last month", "2023-01-31T00:00:00+00:00", ("2022-12-01", "2023-01-01")),
    ],
)  # fmt: skip
def test_reference(text: str, reference: str, pair: tuple[str, str]) -> None:
    at = moment(reference)
    assert intervals(find_spans(text, at)) == expected([pair], at)


@pytest.mark.parametrize(
    "text",
    ["on 9999-12-31", "in May 9999", "0001-01-01", "9999 years ago", "the 0000-00-00",
     "9999 decades ago", "before 0001-01-01", "on 31 February 2023", "since 2099",
     "9999-12-31T23:59:59Z", "2023-02-30", "2023-05-08T99:99", "0000年", "2023年13月"],
)  # fmt: skip
@pytest.mark.parametrize("reference", [datetime.min, datetime(2023, 6, 14), datetime.max])
@pytest.mark.parametrize("hours", [-14, 0, 14])
def test_the_ends_of_time(text: str, reference: datetime, hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    for words in (
        text,
        "today",
        "last year",
        "next week",
        "tonight",
        "since Monday",
        "an hour ago",
    ):
        for span in find_spans(words, reference.replace(tzinfo=zone)):
            assert span.start < span.end


@pytest.mark.parametrize(
    "seed",
    ["last ", "between May 5 and ", "5/5/2021 ", "first week of ", "early ", "the ", "1 ", "2023-",
     "May ", "since ", "' ", "\0", "\ud800", "٣ ", "0" * 50, "2021年", "²", "week before ",
     "before May 5 and ", "the second half of ", "two days before ", "-", "today"],
)  # fmt: skip
def test_a_megabyte_is_looked_at_from_its_start_only(seed: str) -> None:
    text = (seed * (1_000_000 // len(seed)))[:1_000_000]
    for span in find_spans(text, moment(WEDNESDAY)):
        assert span.text in text
    assert find_spans("x" * 2000 + " yesterday", moment(WEDNESDAY)) == ()
    assert len(find_spans("yesterday" + "!" * 5000, moment(WEDNESDAY))) == 1


class NoOffset(tzinfo):
    def utcoffset(self, _: datetime | None) -> timedelta | None:
        return None


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("today", datetime(2023, 6, 14)),
        ("nothing", datetime(2023, 6, 14)),
        ("today", datetime(2023, 6, 14, tzinfo=NoOffset())),
        ("today", date(2023, 6, 14)),
        ("today", 1_686_700_800_000),
        (b"today", datetime(2023, 6, 14, tzinfo=timezone.utc)),
        (None, datetime(2023, 6, 14, tzinfo=timezone.utc)),
    ],
)
def test_input_errors(text: object, reference: object) -> None:
    with pytest.raises(InputError):
        find_spans(text, reference)  # type: ignore[arg-type]


def test_a_span_is_a_value() -> None:
    (span,) = find_spans("today", moment(WEDNESDAY))
    same = TimeSpan(span.start, span.end, span.text)
    assert span == same
    assert hash(span) == hash(same)
    assert span.start.tzinfo is timezone.utc
    with pytest.raises(AttributeError):
        span.text = "x"  # type: ignore[misc]


def test_dateutil_is_imported_by_a_date_word_only() -> None:
    code = (
        "import sys; from datetime import datetime, timezone; from cortext.dates import find_spans;"
        "now = datetime.now(timezone.utc); loaded = lambda: 'dateutil' in sys.modules;"
        "find_spans('what is the garage code?', now); assert not loaded();"
        "assert find_spans('yesterday', now) and loaded()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_threads() -> None:
    reference = moment(WEDNESDAY)
    wanted = [find_spans(words, reference) for words, _, _ in EXPRESSIONS]
    wrong: list[object] = []

    def run() -> None:
        for (words, _, _), spans in zip(EXPRESSIONS, wanted, strict=True):
            if find_spans(words, reference) != spans:
                wrong.append(words)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_zone_objects_do_not_matter() -> None:
    named = datetime(2023, 6, 14, 12, tzinfo=ZoneInfo("Europe/Paris"))
    fixed = datetime(2023, 6, 14, 12, tzinfo=timezone(timedelta(hours=2)))
    assert find_spans("yesterday", named) == find_spans("yesterday", fixed)
