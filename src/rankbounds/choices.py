"""Checks of values with a list of choices or a range; anything else raises one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

from rankbounds.errors import UsageError, did_you_mean


def check_choice(what: str, value: str, known: Sequence[str], meant: Mapping[str, str] | None = None) -> None:
    """Reject an unknown word; ``meant`` maps other words to known ones."""
    if value not in known:
        hint = did_you_mean(str(value), list(known), meant)
        raise UsageError(f'"{value}" is not a choice for {what}.{hint} Choose from: {", ".join(known)}.')


def check_persistence(p: float) -> float:
    """RBP's persistence as a number, if it is one."""
    if not (isinstance(p, Real) and 0 <= p < 1):
        raise UsageError(f"The persistence p must be at least 0 and below 1, not {_shown(p)}.")
    return float(p)


def whole_number(text: str, most: int) -> int | None:
    """Return the number in digits, if it is no larger than ``most``; leading zeros do not count."""
    digits = text.lstrip("0")[: len(str(most)) + 1] or "0"
    return int(digits) if text.isdecimal() and int(digits) <= most else None


def check_share(what: str, value: float) -> float:
    """A number that must lie strictly between 0 and 1."""
    if not (isinstance(value, Real) and 0 < value < 1):
        percents = isinstance(value, Real) and 1 < value < 100
        meant = f" Did you mean {float(value) / 100:g}?" if percents else ""
        raise UsageError(f"{what} must lie between 0 and 1, not {_shown(value)}.{meant}")
    return float(value)


def check_count(what: str, value: int, least: int = 1, most: float = math.inf) -> int:
    """A whole number from ``least`` to ``most``."""
    if not (isinstance(value, Integral) and not isinstance(value, bool) and least <= value <= most):
        limits = f"from {least} on" if most == math.inf else f"from {least} to {most:,}"
        raise UsageError(f"{what} must be a whole number {limits}, not {_shown(value)}.")
    return int(value)


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
