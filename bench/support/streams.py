"""Streams for the gate: pieces with what is known of them, and the deltas a model would send."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Literal, NamedTuple

from support.haystacks import Haystack

__all__ = ["Channel", "Delta", "Kind", "Piece", "Places", "Stream", "chat", "deltas", "joined"]

Channel = Literal["thinking", "text"]
Kind = Literal["unrelated", "known", "about", "foreign", "chat"]
LONGEST_DELTA = 8  # characters; tokens of English have about four


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a stream, usually a sentence, with the white space behind it.

    kind: "unrelated" to all that is stored; "known" from the context already; "about" something
    that may be stored; "foreign", about another store; "chat", of which nobody said what it is.
    gold: uids of the messages it should bring up, where somebody said so.
    """

    text: str
    channel: Channel = "text"
    kind: Kind = "chat"
    gold: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Stream:
    """One turn of a model."""

    name: str
    pieces: tuple[Piece, ...]

    def text(self, channel: Channel) -> str:
        """All that comes through one channel."""
        return "".join(piece.text for piece in self.pieces if piece.channel == channel)


class Delta(NamedTuple):
    """What one call of `feed` gets."""

    text: str
    channel: Channel


def joined(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces with what stands between them.

    A space; nothing before a piece that begins with a line break; a line break where the channel
    changes, as models end a thought, and in the end nothing.
    """
    found = list(pieces)
    for index, (piece, following) in enumerate(pairwise(found)):
        if piece.channel != following.channel:
            joint = "\n"
        else:
            joint = "" if following.text.startswith("\n") else " "
        found[index] = replace(piece, text=piece.text + joint)
    return tuple(found)


def deltas(stream: Stream) -> Iterator[Delta]:
    """Cut a stream as tokens would: anywhere, the same every time, each of one channel."""
    dice = random.Random(f"deltas 1 {stream.name}")
    for channel, pieces in groupby(stream.pieces, key=lambda piece: piece.channel):
        text = "".join(piece.text for piece in pieces)
        begin = 0
        while begin < len(text):
            end = begin + dice.randint(1, LONGEST_DELTA)
            yield Delta(text[begin:end], channel)
            begin = end


def chat(haystack: Haystack) -> Iterator[tuple[str, Stream]]:
    """The sessions behind the first, by name, each a stream: what people say when nobody asks."""
    sessions = groupby(haystack.turns, key=lambda turn: turn.session)
    for index, (session, turns) in enumerate(sessions):
        pieces = tuple(Piece(turn.text.strip() + "\n") for turn in turns)
        if index:
            yield session, Stream(f"{haystack.name}/session {session}", pieces)


class Places:
    """Which piece of a stream a gate's segment belongs to.

    Segments are looked for in the text of their channel from where the last one ended, so it does
    not matter how the gate counts characters.
    """

    def __init__(self, stream: Stream) -> None:
        self._texts: dict[Channel, str] = {}
        self._pieces: dict[Channel, list[int]] = {}
        self._ends: dict[Channel, list[int]] = {}
        self._read: dict[Channel, int] = {}
        for channel in ("thinking", "text"):
            of = [i for i, piece in enumerate(stream.pieces) if piece.channel == channel]
            self._texts[channel] = stream.text(channel)
            self._pieces[channel] = of
            self._ends[channel] = list(accumulate(len(stream.pieces[i].text) for i in of))
            self._read[channel] = 0

    def find(self, channel: Channel, segment: str) -> int:
        """The piece that has most of the segment's characters."""
        begin = self._texts[channel].find(segment, self._read[channel])
        if begin < 0:
            raise ValueError(f"this segment is not in the stream: {segment!r}")
        end = self._read[channel] = begin + len(segment)
        ends = self._ends[channel]
        best, most = 0, 0
        for place in range(bisect_right(ends, begin), len(ends)):
            start = ends[place - 1] if place else 0
            if start >= end:
                break
            shared = min(end, ends[place]) - max(begin, start)
            if shared > most:
                best, most = place, shared
        return self._pieces[channel][best]
