"""One store, open: `Engine`, what goes in and what comes out."""

from cortext.engine.engine import STAGES, Engine, Stage, open_engine
from cortext.engine.types import (
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
    "Engine",
    "Hit",
    "Message",
    "NewMessage",
    "Recall",
    "Stage",
    "StageScores",
    "Standing",
    "Stats",
    "Timings",
    "open_engine",
]
