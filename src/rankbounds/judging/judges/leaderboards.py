"""Do the leaderboards of judges order the runs as a trusted one does? Kendall's tau, with intervals over topics.

Shared tasks on automatic judging have no labels to compare, but the scores that each judge gave every run on every
topic. Two judges may differ in every score and still order the runs alike: what counts is the order by the means, and
how much of the agreement is due to which topics there were.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.calls import ends_in_a_sentence
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.score_files import read_scores
from rankbounds.evaluation.scores import Scores
from rankbounds.files.opening import plain_name
from rankbounds.judging.judges.agreement import TopicBootstrap
from rankbounds.judging.judges.bias import correlate_orders
from rankbounds.judging.judges.comparison import INTERVAL_RESAMPLES, with_interval_column
from rankbounds.measures import Measure
from rankbounds.phrases import some
from rankbounds.results import Column, Result, count
from rankbounds.stats.significance import Resampling
from rankbounds.tables import plain

Leaderboard: TypeAlias = Scores | str | os.PathLike[str]
"""Scores by run and topic, or a file that ``read_scores`` reads."""


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboards(Result):
    """How alike a trusted leaderboard and those of judges order the runs."""

    found: list[dict[str, Any]]

    columns = (
        Column("judge"),
        Column("measure"),
        count("runs"),
        count("topics"),
        with_interval_column("tau", "tau"),
        *(Column(name, None) for name in ("tau_low", "tau_high")),
        with_interval_column("tau_ap", "tau_AP"),
        *(Column(name, None) for name in ("tau_ap_low", "tau_ap_high")),
    )
    title = "How alike trusted scores and those of judges order the runs: tau, with intervals over topics."

    def rows(self) -> list[dict[str, Any]]:
        """A row per judge and measure, with low and high of each coefficient; None for what is not known."""
        return self.found

    def notes(self) -> list[str]:
        """What a reader of the numbers must know."""
        unsure = [row for row in self.found if row["tau_low"] is not None and row["tau_low"] <= 0]
        return [f"{row['judge']}: it is not shown that the orders by {row['measure']} are related." for row in unsure]


@ends_in_a_sentence
def compare_leaderboards(
    trusted: Leaderboard,
    judges: Leaderboard | Sequence[Leaderboard] | Mapping[str, Leaderboard],
    *,
    confidence: float = 0.95,
    resamples: int = INTERVAL_RESAMPLES,
    seed: int = 0,
) -> Leaderboards:
    """Compare leaderboards of judges, scores by run and topic, with a trusted one: do they order the runs alike?

    Parameters
    ----------
    trusted : Scores or path
        Scores of every run on every topic that are trusted; a file in any form that ``read_scores`` takes.
    judges : Scores, path, sequence or mapping of them
        Such scores of one judge or several; a mapping names them.
    confidence : float, default 0.95
        The level of the intervals.
    resamples, seed : int
        The number of resamples of topics, and their seed.

    Returns
    -------
    Leaderboards
        A row per judge and measure: ``tau`` (Kendall's tau-b of the means), ``tau_ap``, each with ``_low`` and
        ``_high``, over the runs and topics that both have.

    Notes
    -----
    Measures of the same name are compared; where no name is shared and each side has one measure, these two. Runs or
    topics that one side lacks are left out, with a warning.

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"a": {"1": ["x"], "2": ["x"]}, "b": {"1": ["y"], "2": ["x"]}, "c": {"1": ["y"], "2": ["y"]}}
    >>> people, model = ({"1": {"x": 1}, "2": {"x": 1}}, {"1": {"x": 1}, "2": {"y": 1}})
    >>> scores = [rb.evaluate(qrels, runs, "RR") for qrels in (people, model)]
    >>> rb.judging.compare_leaderboards(scores[0], {"model": scores[1]}).rows()[0]["tau"]
    0.0
    """
    given = judges if isinstance(judges, Mapping) else _named(judges)
    if not given:
        raise UsageError("No leaderboard of a judge was given.")
    truth = trusted if isinstance(trusted, Scores) else read_scores(trusted)
    rows: list[dict[str, Any]] = []
    for name, one in given.items():
        other = one if isinstance(one, Scores) else read_scores(one)
        runs = _shared(truth.runs, other.runs, "runs", name)
        for mine, theirs in _pairs_of_measures(truth, other, name):
            sides = [_by_topic(scores, runs, measure) for scores, measure in ((truth, mine), (other, theirs))]
            topics = [
                topic
                for topic in _shared(truth.query_ids, other.query_ids, "topics", name)
                if all(topic in side for side in sides)
            ]
            if len(topics) < 2:
                raise DataError(name, f"{mine} has scores of all runs on {len(topics)} shared topics: two are needed.")
            by_run = [np.stack([side[topic] for topic in topics], axis=1) for side in sides]
            bootstrap = TopicBootstrap(len(topics), Resampling(resamples, seed), confidence)
            (found,) = correlate_orders(by_run[0], by_run[1:], mine, bootstrap)
            of_pair = str(mine) if str(mine) == str(theirs) else f"{mine} and {theirs}"
            row: dict[str, Any] = {"judge": name, "measure": of_pair, "runs": len(runs), "topics": len(topics)}
            for coefficient in ("tau", "tau_ap"):
                for ending, end in zip(("", "_low", "_high"), found[coefficient], strict=True):
                    row[coefficient + ending] = plain(end)
            rows.append(row)
    named = "the trusted leaderboard" if isinstance(trusted, Scores) else plain_name(os.fspath(trusted))
    settings = {"trusted": named, "confidence": confidence, "resamples": resamples, "seed": seed}
    return Leaderboards(rows, settings=settings)


def _named(judges: Leaderboard | Sequence[Leaderboard]) -> dict[str, Leaderboard]:
    several = [judges] if isinstance(judges, Scores | str | os.PathLike) else list(judges)
    return {
        f"judge{number}" if isinstance(one, Scores) else plain_name(os.fspath(one)): one
        for number, one in enumerate(several, 1)
    }


def _shared(ours: Sequence[str], theirs: Sequence[str], what: str, name: str) -> list[str]:
    """What both sides have, in our order."""
    both = [one for one in ours if one in set(theirs)]
    if len(both) < 2:
        raise DataError(
            name,
            f"it shares {len(both)} of its {what} with the trusted leaderboard, and two are needed. "
            f"Its {what} are {some(list(theirs))}, those of the trusted one {some(list(ours))}.",
        )
    if len(both) < max(len(ours), len(theirs)):
        warn(
            f"{name}: {len(both)} {what} are compared, of {len(theirs)} in this file and {len(ours)} in the trusted "
            "one."
        )
    return both


def _pairs_of_measures(truth: Scores, other: Scores, name: str) -> list[tuple[Measure, Measure]]:
    """The measures to compare: those of the same name, or the only ones."""
    theirs = {str(measure): measure for measure in other.measures}
    pairs = [(measure, theirs[str(measure)]) for measure in truth.measures if str(measure) in theirs]
    if not pairs and len(truth.measures) == len(other.measures) == 1:
        pairs = [(truth.measures[0], other.measures[0])]
    if not pairs:
        here, there = (some([str(measure) for measure in scores.measures]) for scores in (truth, other))
        raise DataError(
            name, f"no measure has the same name in both files: {there} in this file, {here} in the trusted one."
        )
    return pairs


def _by_topic(scores: Scores, runs: Sequence[str], measure: Measure) -> dict[str, Floats]:
    """The scores of these runs by topic, where all of them have one."""
    chosen = scores.filter(run=runs, measure=measure).value[:, :, 0]
    known = np.flatnonzero(~np.isnan(chosen).any(axis=0)).tolist()
    return {scores.query_ids[at]: chosen[:, at] for at in known}
