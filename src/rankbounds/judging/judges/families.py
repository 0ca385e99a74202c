"""Does a judge favour a family of runs, such as those of one team, or rerankers built on the model that judges?

Runs of a family are mistaken together, by less than a single run shows: the test is of the mean bias of the family
minus that of all other runs, topic by topic (Holm over families), and again beside the line through runs' scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.collection.run_names import GroupsLike, named_groups
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import differences, limits_of_differences, mean_difference
from rankbounds.judging.judges.bias import RUNS_FOR_SCALE, Rows, beside_line, flag_unlike
from rankbounds.measures import Measure
from rankbounds.stats.significance import check_finite, mean_interval
from rankbounds.tables import plain

LEAST_RUNS = 2
"""One run is no family: it is tested among the runs."""


def find_families(runs: list[str], given: GroupsLike) -> dict[str, Flags]:
    """By name, which of the runs belong to each family of two runs or more."""
    of_run = np.array([named_groups(runs, given).get(run, "") for run in runs])
    families = {name: of_run == name for name in dict.fromkeys(of_run.tolist()) if name}
    families = {name: within for name, within in families.items() if np.count_nonzero(within) >= LEAST_RUNS}
    if not families:
        raise UsageError(
            'No family has two runs or more: give a file with lines of "run family", or a mark within the names.'
        )
    for name, within in families.items():
        if within.all():
            raise UsageError(f'All runs are of the family "{name}": give other runs too, to compare it with.')
    return families


def rows_of_families(
    scores: Floats,
    families: Mapping[str, Flags],
    names: Sequence[str],
    measures: Sequence[Measure],
    settings: Mapping[str, Any],
) -> Rows:
    """A row for each set of labels, measure and family; scores as ``rows_of_runs`` takes them."""
    rows: Rows = []
    sizes = [int(np.count_nonzero(within)) for within in families.values()]
    for name, by_labels in zip(names, scores[1:], strict=True):
        for measure, trusted, other in zip(measures, scores[0], by_labels, strict=True):
            columns = bias_of_families(other, trusted, list(families.values()), measure, settings)
            rows += [
                {"labels": name, "family": family, "measure": str(measure), "runs": sizes[at]}
                | {field: plain(column[at]) for field, column in columns.items()}
                for at, family in enumerate(families)
            ]
    return rows


def contrasts(of_runs: Floats, families: Sequence[Flags]) -> Floats:
    """By topic, the mean over each family minus that over all other runs."""
    inside, outside = (
        np.stack([of_runs[within == side].mean(axis=0) for within in families]) for side in (True, False)
    )
    return differences(inside, outside)


def bias_of_families(
    by_labels: Floats, trusted: Floats, families: Sequence[Flags], measure: Measure, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """What the test says of every family by one measure (arrays of runs by topics), as columns of rows."""
    by_topic = differences(by_labels, trusted)
    check_finite(by_topic, "a bias", measure)
    least, most = limits_of_differences(measure, np.stack([by_labels, trusted]))
    excess = contrasts(by_topic, families)
    low, high = mean_interval(excess, settings["confidence"], (2 * least, 2 * most))
    left = contrasts(beside_line(by_topic, trusted), families) if len(by_topic) >= RUNS_FOR_SCALE else None
    means = mean_difference(by_labels, trusted)
    return {
        "bias": np.array([means[within].mean() for within in families]),
        "ci_low": low,
        "ci_high": high,
        **flag_unlike(excess, left, measure, settings["alpha"]),
    }
