"""Where arrays lie, told to the kernel after a look at what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Bytes


def address_of(array: NDArray[Any], kind: type, size: int) -> int:
    """Where an array lies; an error unless it is as large, and of the kind, that the kernel takes it for."""
    if array.dtype != kind or array.size < size or not array.flags.c_contiguous:
        raise TypeError(f"{size} contiguous {kind.__name__} expected, not {array.size} {array.dtype}")
    place: int = array.__array_interface__["data"][0]
    return place


def text_address(text: Bytes, end: int) -> int:
    """The same for a text of which words are read up to ``end``, across it."""
    return address_of(text, np.uint8, end + 8)
