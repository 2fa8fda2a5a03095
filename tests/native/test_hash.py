"""XXH64, by which damage to the file of codes is noticed: values of its authors' library."""

from __future__ import annotations

from typing import Any

import pytest

KNOWN = [
    (b"", 0, 0xEF46DB3751D8E999),
    (b"a", 0, 0xD24EC4F1A98C6E5B),
    (b"abc", 0, 0x44BC2CF5AD770999),
    (b"xxhash", 20141025, 0xB559B98D844E0635),
    (b"Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1),
]


@pytest.mark.parametrize(("data", "seed", "wanted"), KNOWN)
def test_known(internals: Any, data: bytes, seed: int, wanted: int) -> None:
    assert internals.lib.ct_hash(data, len(data), seed) == wanted


def test_each_bit_counts(internals: Any) -> None:
    data = bytes(range(101))
    found = {internals.lib.ct_hash(data, n, 7) for n in range(len(data) + 1)}
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        found.add(internals.lib.ct_hash(bytes(changed), len(changed), 7))
    assert len(found) == len(data) + 1 + 8 * len(data)
