"""Groups that took part in making a pool, and the judgments as if one of them had not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.collection.inputs import all_runs, judgments_from
from rankbounds.collection.qrels import Qrels
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.files.records import rows_of_fields
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.judging.subsets import subset


def unique_to_group(rank: Ints, groups: Sequence[str], group: str, depth: int) -> Flags:
    """Which judged documents only this group's runs brought into a pool of that depth.

    ``rank`` as from ``ranks_of_judgments``; ``groups`` names the group of each of its rows.
    """
    mine = np.array([name == group for name in groups])
    if not mine.any():
        raise UsageError(f'No run belongs to the group "{group}".')
    pooled = rank <= depth
    unique: Flags = pooled[mine].any(axis=0) & ~pooled[~mine].any(axis=0)
    return unique


def without_group(
    qrels: Any,
    runs: Any,
    groups: Mapping[str, str],
    group: str,
    *,
    depth: int = 100,
    ties: str = "trec",
    score_precision: str = "double",
) -> Qrels:
    """The judgments as if a group had not taken part: documents that it alone brought into the pool are removed.

    Parameters
    ----------
    qrels, runs
        In any form that ``evaluate`` takes.
    groups
        The group of each run, by the run's name; ``read_groups`` reads them from a file.
    group
        The one that is left out.
    depth
        Of the pool.
    ties, score_precision
        As in ``evaluate``; ties in one fixed order.

    Returns
    -------
    Qrels
        Those that are left.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"one": {"q": {"a": 1.0}}, "two": {"q": {"b": 2.0, "a": 1.0}}}
    >>> rb.pools.without_group(qrels, runs, {"one": "here", "two": "there"}, "there").to_dict()
    {'q': {'a': 1.0}}

    """
    judgments, systems = judgments_from(qrels), all_runs(runs)
    assumptions = Assumptions(ties, score_precision=score_precision)
    rank = ranks_of_judgments(judgments, systems, assumptions.order, assumptions.score_precision)
    group_of_run = groups_of([run.name for run in systems], groups)
    return subset(judgments, ~unique_to_group(rank, group_of_run, group, depth))


def read_groups(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Which group each run belongs to, from a file.

    Parameters
    ----------
    path
        A file with lines of two fields, ``run group``; those that begin with ``#`` are comments.

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
    ...     print(rb.pools.read_groups(path))
    {'bm25': 'here', 'dense': 'there'}

    """
    groups: dict[str, str] = {}
    for place, (run, group) in rows_of_fields(path, "run", "group"):
        if groups.setdefault(run, group) != group:
            raise DataError(place, f'the run "{run}" stands in two groups.')
    return groups


def groups_of(names: Iterable[str], groups: Mapping[str, str]) -> list[str]:
    """The group of each run, or an error for a run that has none."""
    named = list(names)
    missing = [name for name in named if name not in groups]
    if missing:
        raise DataError(f'The groups do not say which one the run "{missing[0]}" belongs to.')
    return [groups[name] for name in named]
