"""Where arrays lie, told to the kernel after a look at what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Bytes
from rankbounds.columns import native

_KINDS: dict[type, int] = {
    kind: ord(np.dtype(kind).kind) << 8 | np.dtype(kind).itemsize
    for kind in (np.bool_, np.uint8, np.int32, np.int64, np.uint64, np.float64)
}


def address_of(array: NDArray[Any], kind: type, size: int) -> int:
    """Where an array lies; an error unless it is as large, and of the kind, that the kernel takes it for."""
    place: int = native.built.address(array, _KINDS[kind], size)
    return place


def text_address(text: Bytes, end: int, across: int = 8) -> int:
    """The same for a text of which words are read up to ``end``, and so many bytes across it."""
    return address_of(text, np.uint8, end + across)
