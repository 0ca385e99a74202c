"""What every argument answers: for pairs of a topic's lists, how large A - B can be, and whether that is attained."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rankbounds.arrays import Flags, Floats, Ints

Found: TypeAlias = tuple[Floats, Flags]
"""By pair the greatest difference (NaN: not known), and whether some judgments attain it."""
Greatest: TypeAlias = Callable[[Ints, Ints], Found]
"""Asked with the lines of A and of B, pair by pair."""
CELLS = 1 << 21
"""How many numbers an array over pairs may have; more pairs are taken in parts."""
