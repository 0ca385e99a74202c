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
    """The same numbers, not to be written to through what is returned; the caller's own array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view
