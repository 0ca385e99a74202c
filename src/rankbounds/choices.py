"""What a caller may choose: a word out of a list, a number in a range. Everything else is a sentence that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankbounds.errors import UsageError, did_you_mean


def check_choice(what: str, value: str, known: Sequence[str], meant: Mapping[str, str] | None = None) -> None:
    """Reject a word that is not among those known; ``meant`` holds what other words are called here."""
    if value not in known:
        hint = did_you_mean(str(value), list(known), meant)
        raise UsageError(f'There is no choice "{value}" for {what}.{hint} Known: {", ".join(known)}.')


def check_persistence(p: float) -> float:
    """RBP's persistence as a number, if it is one."""
    if not 0 <= p < 1:
        raise UsageError(f"The persistence p must be at least 0 and below 1, not {p}.")
    return float(p)


def whole_number(text: str, most: int) -> int | None:
    """The number that digits stand for, if it is no larger than ``most``; zeros before it do not count."""
    digits = text.lstrip("0")[: len(str(most)) + 1] or "0"
    return int(digits) if text.isdecimal() and int(digits) <= most else None


def check_share(what: str, value: float) -> float:
    """A number that must lie strictly between 0 and 1."""
    if not 0 < value < 1:
        raise UsageError(f"{what} must lie between 0 and 1, not {value:g}.")
    return float(value)
