"""One store, open: `Engine`, what goes in and what comes out."""

from cortext.engine.consolidation_types import (
    Digest,
    DigestSentence,
    Episode,
    Related,
    Relation,
    Report,
    State,
)
from cortext.engine.engine import Engine, open_engine
from cortext.engine.gate import Gate
from cortext.engine.gate_event import GateEvent
from cortext.engine.gate_types import (
    Channel,
    GateSegment,
    GateTerms,
    GateVerdict,
    decide,
)
from cortext.engine.knobs import Knobs, KnobValues
from cortext.engine.recall import STAGES, Stage
from cortext.engine.types import (
    Active,
    Hit,
    Message,
    NewMessage,
    Recall,
    StageScores,
    Standing,
    Stats,
    Timings,
)

__all__ = [
    "STAGES",
    "Active",
    "Channel",
    "Digest",
    "DigestSentence",
    "Engine",
    "Episode",
    "Gate",
    "GateEvent",
    "GateSegment",
    "GateTerms",
    "GateVerdict",
    "Hit",
    "KnobValues",
    "Knobs",
    "Message",
    "NewMessage",
    "Recall",
    "Related",
    "Relation",
    "Report",
    "Stage",
    "StageScores",
    "Standing",
    "State",
    "Stats",
    "Timings",
    "decide",
    "open_engine",
]
