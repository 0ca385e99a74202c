"""The first thing a reader sees: what the report says, in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.significance import pairs_of
from rankbounds.evaluation.score_differences import better, equal, levelled, merit
from rankbounds.evaluation.scores import Scores

LITTLE_JUDGED = 0.8
"""Below this share of judged documents in the first ten, a score rests on documents that nobody looked at."""
NAMED = 12
"""Of so many runs all names are told."""


def sentences(content: dict[str, Any], scores: Scores, shown: Sequence[int], p_adjusted: Floats | None) -> list[str]:
    """Who leads, who cannot be told from the leader, which scores rest on unjudged documents, what ties do."""
    mean = scores.mean()
    runs = content["runs"]
    values = mean.value[list(shown), 0, 0]
    label = content["measures"][0]["label"]
    measure = scores.measures[0]
    merits = merit(levelled(values), measure)
    leader = int(np.argmax(merits))
    level = np.flatnonzero(merits == merits[leader]).tolist()
    ahead = f"{'lowest, which is best' if measure.lower_is_better else 'highest'}: {label} {values[leader]:.4f}"
    told = [
        f"{_counted(level, runs)} score{'s' * (len(level) == 1)} {ahead} over {content['number_of_topics']} topics."
    ]
    if p_adjusted is not None:
        told += _separable(content, leader, p_adjusted, "runs" if len(shown) == len(scores.runs) else "the runs shown")
    low, high = (bound[list(shown), 0, 0] for bound in (mean.low, mean.high))
    least, most = (high, low) if measure.lower_is_better else (low, high)
    could_lead = np.flatnonzero(better(most, least[leader], measure) & (np.arange(len(runs)) != leader)).tolist()
    # Bounds of AP, nDCG and the like do not cover what other runs' documents would do, if they were judged.
    if scores.bounds in ("unjudged", "both") and measure.list_only and len(runs) > 1:
        told.append(
            f"Whatever the unjudged documents are, {runs[leader]} stays first on these topics by {label}."
            if not could_lead
            else f"If the unjudged documents favour them, {_counted(could_lead, runs)} could score "
            f"{'lower' if measure.lower_is_better else 'higher'} than {runs[leader]} surely does "
            f"({least[leader]:.4f})."
        )
    judged = mean.judged[list(shown), 0]
    weak = [at for at in np.argsort(judged, kind="stable").tolist() if judged[at] < LITTLE_JUDGED]
    if weak:
        told.append(
            f"Resting on unjudged documents: {_counted(weak, runs)}; less than {LITTLE_JUDGED:.0%} of their first ten "
            f"are judged (least: {judged[weak[0]]:.0%})."
        )
    else:
        told.append(
            f"No score rests on unjudged documents: of every run's first ten, {judged.min():.0%} or more are judged."
        )
    moved = [
        (0.0 if equal(*one["tie_range"][0]) else one["tie_range"][0][1] - one["tie_range"][0][0], run)
        for one, run in zip(content["lists"], runs, strict=True)
        if one["tie_range"][0]
    ]
    widest, name = max(moved, default=(0.0, ""))
    told.append(
        f"The order of tied documents alone can move {name} by {widest:.4f}, the most of all runs."
        if widest >= 0.00005
        else "Tied scores move no run."
    )
    return told


def _separable(content: dict[str, Any], leader: int, p_adjusted: Floats, what: str) -> list[str]:
    runs, settings = content["runs"], content["comparison"]
    first, second = pairs_of(len(runs))
    separated = p_adjusted < settings["alpha"]
    with_leader = (first == leader) | (second == leader)
    not_separated = with_leader & ~separated
    alike = (first[not_separated] + second[not_separated] - leader).tolist()
    told = (
        f"Not separable from it: {_counted(alike, runs)} (shaded below); differences such as theirs can come by chance."
        if alike
        else "Every other run is significantly worse."
    )
    open_pairs = int(separated.size - separated.sum())
    return [
        told,
        f"Of all {separated.size:,} pairs of {what}, the topics separate {separated.size - open_pairs:,} and leave "
        f"{open_pairs:,} open ({settings['tested_by']}, level {settings['alpha']:g}).",
    ]


def _counted(chosen: Sequence[int], runs: Sequence[str]) -> str:
    """Names of a few, the number of many."""
    if len(chosen) <= NAMED:
        names = [runs[at] for at in chosen]
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{len(chosen)} of {len(runs)} runs"
