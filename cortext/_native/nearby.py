"""An index that is kept in Python, as the core asks it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cortext._native._core import ffi


class Asked(NamedTuple):
    """What an index that is kept elsewhere is asked: `wanted` ids near a unit vector.

    chunks, last_chunk: how many the engine has, and the greatest id.
    """

    vector: npt.NDArray[np.float32]
    wanted: int
    chunks: int
    last_chunk: int


# The ids found, and the id up to which every chunk was looked at; None: the engine is to search.
Nearby = Callable[[Asked], "tuple[npt.NDArray[np.int64], int] | None"]
Failed = Callable[[Exception], object]

# By the number that the core was given for them: a call that comes too late finds nothing.
finders: dict[int, Nearby] = {}
numbers = itertools.count(1)
raised = threading.local()  # .value: what was raised below the core, in this thread


def keep_raised(_kind: object, value: BaseException, _trace: object) -> None:
    raised.value = value


def find_nearby(state: Any, near: Any) -> int:
    find = finders.get(int(ffi.cast("intptr_t", state)))
    if find is None:
        return -1
    vector = np.frombuffer(ffi.buffer(near.vector, near.dimension * 4), np.float32)
    answer = find(Asked(vector, near.wanted, near.chunks, near.last_chunk))
    if answer is None:
        return -1
    ids, near.known = answer
    if len(ids) > near.wanted or ids.dtype != np.int64:
        raise ValueError(f"{len(ids)} ids of {ids.dtype} for {near.wanted}")
    near.count = len(ids)
    ffi.memmove(near.chunk_ids, np.ascontiguousarray(ids), ids.nbytes)
    return 0


ffi.def_extern(name="cortext_find_nearby", error=-1, onerror=keep_raised)(find_nearby)
