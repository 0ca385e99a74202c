"""Names of runs that differ, so that every table can tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankbounds.files.opening import plain_name

if TYPE_CHECKING:
    from rankbounds.collection.run import Run


def with_unique_names(runs: list[Run], places: list[str], given: Sequence[bool] | None = None) -> list[Run]:
    """The runs under names that differ."""
    names = unique_names([run.name for run in runs], places, given)
    return [run if run.name == name else run.renamed(name) for run, name in zip(runs, names, strict=True)]


def unique_names(names: list[str], files: list[str], given: Sequence[bool] | None = None) -> list[str]:
    """Return distinct names: repeated ones get their files' names, then numbers.

    A name that the user gave to one run stays that run's; others with that tag change.
    """

    def repeated(labels: list[str]) -> set[str]:
        return {label for label, count in Counter(labels).items() if count > 1}

    by_user = given or [False] * len(names)
    again = repeated(names)
    given_twice = repeated([name for name, is_given in zip(names, by_user, strict=True) if is_given])
    unique = [
        name if name not in again or (is_given and name not in given_twice) else f"{name} ({plain_name(file)})"
        for name, file, is_given in zip(names, files, by_user, strict=True)
    ]
    again = repeated(unique)
    seen: dict[str, int] = {}
    for number, name in enumerate(unique):
        if name in again:
            seen[name] = seen.get(name, 0) + 1
            unique[number] = f"{name} #{seen[name]}"
    return unique
