"""The rule of the gate: a pure function, each term of which pulls one way."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

SHARE = st.floats(0, 1)


@dataclass(frozen=True)
class View:
    relevance: float = 0.9
    novelty: float = 0.9
    utility: float = 0.9
    overlap: float = 0.0
    affect: float = 0.0
    drift: float = 0.0
    since: float = math.inf
    boundary: float = 0.0


@dataclass(frozen=True)
class Knobs:
    focus: float = 0.45
    sensitivity: float = 0.5
    stability: float = 0.5


@dataclass(frozen=True)
class Verdict:
    bar: float
    refractory: float
    ease: float
    margin: float
    worth: float
    should_interrupt: int
    at_boundary: int
    should_stage: int


VIEWS = st.builds(
    View,
    **dict.fromkeys(("relevance", "novelty", "utility", "overlap", "affect", "boundary"), SHARE),
    drift=st.floats(0, 2),
    since=st.integers(0, 200).map(float) | st.just(math.inf),
)
KNOBS = st.builds(Knobs, SHARE, SHARE, SHARE)


@pytest.fixture(scope="module")
def decide(internals: Any) -> Any:
    def call(view: View, knobs: Knobs = Knobs()) -> Verdict:
        ffi = internals.ffi
        found = internals.lib.ct_gate_decide(
            ffi.new("ct_gate_view *", asdict(view)), ffi.new("ct_knobs *", asdict(knobs))
        )
        return Verdict(**{name: getattr(found, name) for name in Verdict.__dataclass_fields__})

    return call


@given(view=VIEWS, knobs=KNOBS)
def test_it_is_the_formula(decide: Any, view: View, knobs: Knobs) -> None:
    found = decide(view, knobs)
    bar = 0.45 + 0.4 * knobs.focus - 0.15 * knobs.sensitivity * view.affect
    pause = 0.15 + 0.45 * knobs.stability
    half = 1 + 7 * knobs.stability
    refractory = pause * 2 ** (-view.since / half) * max(0, 1 - view.drift / 0.8)
    ease = (0.12 - 0.1 * knobs.stability) * view.boundary
    expected = (bar, refractory, ease, view.relevance - bar - refractory + ease)
    assert (found.bar, found.refractory, found.ease, found.margin) == pytest.approx(expected)
    assert found.worth == max(view.novelty, view.utility)
    wanted = found.worth >= 0.59 and view.overlap < 0.6
    assert found.should_interrupt == (found.margin >= 0 and wanted)
    eased = bool(found.at_boundary) and found.margin + found.refractory >= 0 and wanted
    assert found.should_stage == (found.should_interrupt or eased)
    assert found.at_boundary == (view.boundary >= 0.5)
    assert decide(view, knobs) == found, "the same every time"


@pytest.mark.parametrize(
    ("term", "most", "way"),
    [
        ("relevance", 1, 1),
        ("novelty", 1, 1),
        ("utility", 1, 1),
        ("affect", 1, 1),
        ("drift", 2, 1),
        ("since", 200, 1),
        ("boundary", 1, 1),
        ("overlap", 1, -1),
    ],
)
@given(view=VIEWS, knobs=KNOBS, values=st.tuples(SHARE, SHARE))
def test_each_term_pulls_one_way(
    decide: Any,
    term: str,
    most: float,
    way: int,
    view: View,
    knobs: Knobs,
    values: tuple[float, float],
) -> None:
    low, high = sorted(value * most for value in values)
    less = decide(replace(view, **{term: low}), knobs)
    more = decide(replace(view, **{term: high}), knobs)
    assert way * (more.should_interrupt - less.should_interrupt) >= 0
    if term != "overlap":
        assert more.margin >= less.margin


@given(view=VIEWS, knobs=KNOBS, values=st.tuples(SHARE, SHARE))
def test_each_knob_pulls_one_way(
    decide: Any, view: View, knobs: Knobs, values: tuple[float, float]
) -> None:
    low, high = sorted(values)
    assert (
        decide(view, replace(knobs, focus=high)).bar >= decide(view, replace(knobs, focus=low)).bar
    )
    assert (
        decide(view, replace(knobs, sensitivity=high)).bar
        <= decide(view, replace(knobs, sensitivity=low)).bar
    )
    firm = decide(view, replace(knobs, stability=high))
    loose = decide(view, replace(knobs, stability=low))
    assert firm.refractory >= loose.refractory
    assert firm.ease <= loose.ease
    assert firm.margin <= loose.margin


def test_affect_matters_to_the_sensitive_only(decide: Any) -> None:
    moved = View(affect=1)
    assert decide(moved, Knobs(sensitivity=0)).bar == decide(View(), Knobs(sensitivity=0)).bar
    assert decide(moved, Knobs(sensitivity=1)).bar < decide(View(), Knobs(sensitivity=1)).bar


@given(knobs=KNOBS, drift=st.floats(0, 0.7), since=st.integers(0, 20))
def test_the_pause_decays_with_segments_and_with_drift(
    decide: Any, knobs: Knobs, drift: float, since: int
) -> None:
    now = decide(View(drift=drift, since=since), knobs).refractory
    assert decide(View(drift=drift, since=since + 1), knobs).refractory < now
    assert decide(View(drift=drift + 0.05, since=since), knobs).refractory < now
    assert decide(View(drift=0.8, since=0), knobs).refractory == 0
    assert decide(View(), knobs).refractory == 0


@pytest.mark.parametrize("name", View.__dataclass_fields__)
@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf, -5.0, 7.0])
@given(knobs=KNOBS)
def test_no_number_speaks_for_an_interruption_by_itself(
    decide: Any, name: str, value: float, knobs: Knobs
) -> None:
    found = decide(replace(View(), **{name: value}), knobs)
    assert not math.isnan(found.margin)
    if math.isnan(value):
        against = {"overlap": 1.0}.get(name, 0.0)
        assert found == decide(replace(View(), **{name: against}), knobs)
