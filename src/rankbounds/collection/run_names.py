"""Names of runs, which tell them apart in every table, and groups of runs: from a file, a mapping, or a prefix."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from rankbounds.calls import ends_in_a_sentence
from rankbounds.errors import DataError, UsageError
from rankbounds.files.opening import plain_name, read_text
from rankbounds.files.queries import is_mark
from rankbounds.files.records import field_lines


def unique_names(names: list[str], files: list[str], given: Sequence[bool] | None = None) -> list[str]:
    """Return distinct names: repeated ones, except what the user gave, get their files' names, then numbers."""

    def repeated(labels: list[str]) -> set[str]:
        return {label for label, count in Counter(labels).items() if count > 1}

    by_user = given or [False] * len(names)
    again = repeated(names)
    chosen = Counter(name for name, is_given in zip(names, by_user, strict=True) if is_given)

    def renamed(name: str, file: str, is_given: bool) -> str:
        if name not in again or (is_given and chosen[name] == 1):
            return name
        return name if plain_name(file) == name and chosen[name] != 1 else f"{name} ({plain_name(file)})"

    unique = list(map(renamed, names, files, by_user))
    again = repeated(unique)
    seen: dict[str, int] = {}
    for number, name in enumerate(unique):
        if name in again:
            seen[name] = seen.get(name, 0) + 1
            unique[number] = f"{name} #{seen[name]}"
    return unique


GroupsLike: TypeAlias = Mapping[str, str] | str | os.PathLike[str]
"""The group of each run: a mapping, or a file with lines of "run group"."""


@ends_in_a_sentence
def read_groups(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read the group of each run from a file.

    Parameters
    ----------
    path
        A file with lines of two fields, ``run group``; ``#`` begins a comment line.

    Returns
    -------
    dict
        The group of each run.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rankbounds as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "groups.txt"
    ...     _ = path.write_text("bm25 here\ndense there\n")
    ...     print(rb.judging.pools.read_groups(path))
    {'bm25': 'here', 'dense': 'there'}
    """
    groups: dict[str, str] = {}
    for place, fields in field_lines(read_text(os.fspath(path))):
        if len(fields) != 2:
            raise DataError(place, f"expected two fields (run, group), but found {len(fields)}.")
        run, group = (field.decode("utf-8", "surrogateescape") for field in fields)
        if groups.setdefault(run, group) != group:
            raise DataError(place, f'the run "{run}" is in two groups.')
    return groups


def groups_of(names: Iterable[str], groups: Mapping[str, str]) -> list[str]:
    try:
        return [groups[name] for name in names]
    except KeyError as error:
        raise DataError(f'The groups do not list the run "{error.args[0]}".') from None


def named_groups(names: list[str], given: GroupsLike | None) -> Mapping[str, str]:
    if isinstance(given, str) and (given.isdigit() or is_mark(given)):
        groups: Mapping[str, str] = groups_by_prefix(names, given)
    else:
        groups = read_groups(given) if isinstance(given, str | os.PathLike) else given or {}
    if groups and not any(name in groups for name in names):
        raise UsageError(
            f'None of the runs belongs to a group: the groups name runs such as "{next(iter(groups))}", the runs are '
            f'called "{names[0]}" and so on.'
        )
    return groups


def number_groups(names: list[str], given: GroupsLike | None) -> list[int]:
    groups = named_groups(names, given)
    keys: list[tuple[str, ...]] = [("group", groups[name]) if name in groups else ("run", name) for name in names]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [numbers[key] for key in keys]


def groups_by_prefix(names: Iterable[str], prefix: str) -> dict[str, str]:
    """Group runs by the beginnings of their names: up to the first of these characters, or the first N characters."""
    if prefix.isdigit():
        if int(prefix) < 1:
            raise UsageError("A prefix has at least one character.")
        return {name: name[: int(prefix)] for name in names}
    ends = {name: [name.find(mark) for mark in prefix if mark in name] for name in names}
    return {name: name[: min(found)] if found else name for name, found in ends.items()}
