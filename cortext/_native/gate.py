"""Handle of a gate, the rule by itself, and what the knobs stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from cortext._native._core import ffi, lib
from cortext._native.rows import MessageRow, take_rows
from cortext._native.status import check, new_error

ChannelName = Literal["text", "thinking"]
CHANNELS = {"text": lib.CT_CHANNEL_TEXT, "thinking": lib.CT_CHANNEL_THINKING}
_CHANNEL_NAMES: dict[int, ChannelName] = {
    lib.CT_CHANNEL_TEXT: "text",
    lib.CT_CHANNEL_THINKING: "thinking",
}

KnobsRow = tuple[float, float, float]


class ViewRow(NamedTuple):
    """What the rule is told; the fields of ct_gate_view in their order."""

    relevance: float
    novelty: float
    utility: float
    overlap: float
    affect: float
    drift: float
    since: float
    boundary: float


class VerdictRow(NamedTuple):
    """What the rule says."""

    bar: float
    refractory: float
    ease: float
    margin: float
    worth: float
    should_interrupt: bool
    at_boundary: bool
    should_stage: bool


class DecisionRow(NamedTuple):
    """A segment and what was decided; nanoseconds for waited, encode, search, total."""

    text: str
    start: int
    end: int
    channel: ChannelName
    view: ViewRow
    verdict: VerdictRow
    staged: list[MessageRow]
    failure: str | None
    times_ns: tuple[int, int, int, int]


class KnobValues(NamedTuple):
    """What the knobs stand for."""

    recall_limit: int
    gate_limit: int
    bar: float
    relaxed: float
    pause: float
    halved: float
    ease: float


class GateCounts(NamedTuple):
    """Segments that wait, that were never decided, and decisions that nobody took."""

    waiting: int
    skipped: int
    forgotten: int


def _take_verdict(verdict: Any) -> VerdictRow:
    return VerdictRow(
        verdict.bar,
        verdict.refractory,
        verdict.ease,
        verdict.margin,
        verdict.worth,
        bool(verdict.should_interrupt),
        bool(verdict.at_boundary),
        bool(verdict.should_stage),
    )


def decide(view: ViewRow, knobs: KnobsRow) -> VerdictRow:
    """The rule of the gate."""
    return _take_verdict(
        lib.ct_gate_decide(ffi.new("ct_gate_view *", list(view)), ffi.new("ct_knobs *", knobs))
    )


def read_knobs(knobs: KnobsRow) -> KnobValues:
    """What the knobs stand for."""
    values = lib.ct_knobs_read(ffi.new("ct_knobs *", knobs))
    return KnobValues(*(getattr(values, name) for name in KnobValues._fields))


class Decision:
    """Owns a ct_decision, and outlives its gate."""

    __slots__ = ("_holder", "should_interrupt")

    def __init__(self, holder: Any) -> None:
        self._holder = holder
        self.should_interrupt = bool(holder[0].verdict.should_interrupt)

    def read(self) -> DecisionRow:
        """All of it."""
        of = self._holder[0]
        failed = None if of.failure == ffi.NULL else ffi.string(of.failure)
        return DecisionRow(
            ffi.unpack(of.text, of.text_bytes).decode("utf-8", "replace"),
            of.start,
            of.end,
            _CHANNEL_NAMES[of.channel],
            ViewRow(*ffi.unpack(ffi.addressof(of.view, "relevance"), len(ViewRow._fields))),
            _take_verdict(of.verdict),
            [] if of.staged == ffi.NULL else take_rows(of.staged),
            None if failed is None else failed.decode("utf-8", "replace"),
            (of.waited_ns, of.encode_ns, of.search_ns, of.total_ns),
        )


class GateHandle:
    """Owns a ct_gate.  Methods raise as `cortext._native.status` maps; all are thread-safe."""

    def __init__(self, engine: Any, options: Any, keep: object) -> None:
        self._keep = keep  # the engine's memory must outlive a call that opens a gate
        self._holder = ffi.gc(ffi.new("ct_gate **"), lib.ct_gate_drop)
        error = new_error()
        check(lib.ct_gate_open(engine, options, self._holder, error), error)
        self._pointer = self._holder[0]
        self._slots: list[tuple[Any, Any]] = []  # of calls that are over; spares two allocations

    def feed(self, delta: bytes, channel: int) -> bool:
        """Whether there are decisions to take."""
        try:
            slot = self._slots.pop()
        except IndexError:
            slot = ffi.new("size_t *"), new_error()
        ready, error = slot
        status = lib.ct_gate_feed(self._pointer, channel, delta, len(delta), ready, error)
        if status:
            check(status, error)
        some = bool(ready[0])
        self._slots.append(slot)
        return some

    def end(self) -> None:
        error = new_error()
        check(lib.ct_gate_end(self._pointer, error), error)

    def reset(self) -> None:
        error = new_error()
        check(lib.ct_gate_reset(self._pointer, error), error)

    def wait(self, timeout_ms: int) -> bool:
        """Whether every segment is decided."""
        error = new_error()
        status = lib.ct_gate_wait(self._pointer, timeout_ms, error)
        if status != lib.CT_TIMEOUT:
            check(status, error)
        return bool(status == lib.CT_OK)

    def close(self) -> None:
        lib.ct_gate_close(self._pointer)

    def know_text(self, text: bytes, timeout_ms: int) -> bool:
        """Whether there was room for it."""
        error = new_error()
        status = lib.ct_gate_know_text(
            self._pointer, ffi.from_buffer(text), len(text), timeout_ms, error
        )
        if status != lib.CT_TIMEOUT:
            check(status, error)
        return bool(status == lib.CT_OK)

    def know_messages(self, ids: Sequence[int], timeout_ms: int) -> bool:
        """Whether there was room for them."""
        array, error = ffi.new("int64_t[]", list(ids)), new_error()
        status = lib.ct_gate_know_messages(self._pointer, array, len(array), timeout_ms, error)
        if status != lib.CT_TIMEOUT:
            check(status, error)
        return bool(status == lib.CT_OK)

    def take(self) -> Decision | None:
        """The next decision."""
        holder, error = ffi.gc(ffi.new("ct_decision **"), lib.ct_decision_drop), new_error()
        check(lib.ct_gate_take(self._pointer, holder, error), error)
        return None if holder[0] == ffi.NULL else Decision(holder)

    def counts(self) -> GateCounts:
        out, error = ffi.new("ct_gate_counts *"), new_error()
        check(lib.ct_gate_count(self._pointer, out, error), error)
        return GateCounts(out.waiting, out.skipped, out.forgotten)
