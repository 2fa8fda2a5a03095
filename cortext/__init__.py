"""Cortext: a recall engine for AI agents.

import cortext

with cortext.open("memory.db") as mem:
    mem.ingest("The garage door code is 8841.", role="user", session="s1")
    for hit in mem.recall("what is the garage code?").hits:
        print(hit.score, hit.text)
"""

from cortext._version import __version__
from cortext.engine import (
    Active,
    Digest,
    DigestSentence,
    Engine,
    Episode,
    Gate,
    GateEvent,
    GateSegment,
    GateTerms,
    GateVerdict,
    Hit,
    Knobs,
    KnobValues,
    Message,
    NewMessage,
    Recall,
    Related,
    Report,
    StageScores,
    Standing,
    Stats,
    Timings,
)
from cortext.engine import open_engine as open  # noqa: A004  (cortext.open, as gzip.open)
from cortext.errors import (
    ClosedError,
    ConflictError,
    CortextError,
    ForkedError,
    InputError,
    InternalError,
    ModelError,
    ModelMismatchError,
    NotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreVersionError,
)

__all__ = [
    "Active",
    "ClosedError",
    "ConflictError",
    "CortextError",
    "Digest",
    "DigestSentence",
    "Engine",
    "Episode",
    "ForkedError",
    "Gate",
    "GateEvent",
    "GateSegment",
    "GateTerms",
    "GateVerdict",
    "Hit",
    "InputError",
    "InternalError",
    "KnobValues",
    "Knobs",
    "Message",
    "ModelError",
    "ModelMismatchError",
    "NewMessage",
    "NotFoundError",
    "Recall",
    "Related",
    "Report",
    "StageScores",
    "Standing",
    "Stats",
    "StoreBusyError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreVersionError",
    "Timings",
    "__version__",
    "open",
]
