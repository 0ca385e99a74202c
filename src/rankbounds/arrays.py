"""Names for the kinds of arrays, and arrays that nobody may write to."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]
Flags: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]
Bytes: TypeAlias = NDArray[np.uint8]


def read_only(array: Floats) -> Floats:
    """Return a read-only view of the numbers; the caller's own array stays writable."""
    view = array.view()
    view.flags.writeable = False
    return view
