"""The C core as Python sees it: the only code that imports the cffi module.

Every function here makes one call into C, during which other Python threads run, and turns its
status into an exception of `cortext.errors`.  Handles keep their memory until Python drops them;
`close` only ends what is behind them, so a call that races with it gets ClosedError, never a
freed pointer.
"""

from cortext._native.consolidation import EpisodeRow, SentenceRow, new_report, take_report
from cortext._native.encoder import (
    BertWeights,
    EncoderHandle,
    LlamaBinding,
    Network,
    PoolingType,
    Tensor,
    TokenBasis,
)
from cortext._native.engine import EngineHandle
from cortext._native.gate import (
    CHANNELS,
    Decision,
    DecisionRow,
    GateHandle,
    ViewRow,
    decide,
    read_knobs,
)
from cortext._native.nearby import Asked
from cortext._native.process import (
    Sentence,
    amx_is_safe,
    directive_sentences,
    fail_allocation,
    force_simd,
    late_scores,
    linear,
    simd_dot,
    simd_levels,
    simd_name,
    sqlite_version,
)
from cortext._native.rows import MessageRow, RecallRows, StatsRow
from cortext._native.status import encode

__all__ = [
    "CHANNELS",
    "Asked",
    "BertWeights",
    "Decision",
    "DecisionRow",
    "EncoderHandle",
    "EngineHandle",
    "EpisodeRow",
    "GateHandle",
    "LlamaBinding",
    "MessageRow",
    "Network",
    "PoolingType",
    "RecallRows",
    "Sentence",
    "SentenceRow",
    "StatsRow",
    "Tensor",
    "TokenBasis",
    "ViewRow",
    "amx_is_safe",
    "decide",
    "directive_sentences",
    "encode",
    "fail_allocation",
    "force_simd",
    "late_scores",
    "linear",
    "new_report",
    "read_knobs",
    "simd_dot",
    "simd_levels",
    "simd_name",
    "sqlite_version",
    "take_report",
]
