"""Phrases that sentences share: numbers of things, and the first names of many."""

from collections.abc import Sequence


def counted(number: int, what: str) -> str:
    """Write ``1 topic``, ``1,000 topics``."""
    return f"{number:,} {what}{'s'[: number != 1]}"


def some(names: Sequence[str], at_most: int = 5) -> str:
    """Write the first names, and how many more there are."""
    return ", ".join(names[:at_most]) + (f" and {len(names) - at_most} more" if len(names) > at_most else "")
