"""Rows on what labels do to the scores of runs: bias, orders, winners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.evaluation.score_differences import merit
from rankbounds.judging.judges.agreement import TopicBootstrap
from rankbounds.judging.judges.bias import (
    COEFFICIENTS,
    Bias,
    Winners,
    bias_of_runs,
    pair_p_values,
    resampled_correlations,
    winners,
)
from rankbounds.judging.judges.label_sets import LabelSet
from rankbounds.measures import Measure
from rankbounds.stats.significance import RESAMPLES, Resampling, check_finite, pairs_of
from rankbounds.tables import plain

MOST_LIKING_RESAMPLES = 1_000_000
FLAGS = {1.0: "favoured", -1.0: "punished", 0.0: None}


def rows_of_runs(
    scores: Floats, runs: list[str], judged: Sequence[LabelSet], measures: list[Measure], settings: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows on bias, orders and winners."""
    alpha, confidence = settings["alpha"], settings["confidence"]
    testing = Resampling(RESAMPLES, settings["seed"])
    # Of so many runs even the least p-value must be able to stay below the level once it is corrected.
    liking = Resampling(min(max(RESAMPLES, int(2 * len(runs) / alpha)), MOST_LIKING_RESAMPLES), settings["seed"])
    bootstrap = TopicBootstrap(scores.shape[-1], Resampling(settings["resamples"], settings["seed"]), confidence)
    merits = np.stack([merit(scores[:, at], measure) for at, measure in enumerate(measures)], axis=1)
    for at, measure in enumerate(measures):
        check_finite(scores[:, at], "a comparison of labels", measure)
    several = len(runs) > 1
    p: Floats = np.empty((len(scores), len(measures), 0))
    if several:
        p = pair_p_values(merits.reshape(-1, *merits.shape[2:]), testing).reshape(len(scores), len(measures), -1)
    systems: list[dict[str, Any]] = []
    orderings: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    for at, measure in enumerate(measures):
        trusted = scores[0, at]
        best_first = np.argsort(-merit(trusted.mean(axis=-1), measure), kind="stable").tolist()
        correlated = resampled_correlations(trusted, list(scores[1:, at]), measure, bootstrap) if several else None
        for place, judge in enumerate(judged):
            others = scores[1 + place, at]
            bias = bias_of_runs(others, trusted, measure, alpha=alpha, confidence=confidence, resampling=liking)
            outcome = winners(trusted, others, p[0, at], p[1 + place, at], measure, alpha)
            label = {"labels": judge.name, "measure": str(measure)}
            systems += _system_rows(label, runs, best_first, others, trusted, bias)
            orderings.append(_ordering_row(label, correlated[place] if correlated else None, bias, outcome))
            changes += _change_rows(label, runs, outcome, p[0, at], p[1 + place, at], measure)
    return systems, orderings, changes


def _system_rows(
    label: Mapping[str, str], runs: list[str], order: list[int], others: Floats, trusted: Floats, bias: Bias
) -> list[dict[str, Any]]:
    columns = {
        "by_labels": others.mean(axis=-1),
        "trusted": trusted.mean(axis=-1),
        "bias": bias.bias,
        "ci_low": bias.low,
        "ci_high": bias.high,
        "excess": bias.excess,
        "p_value": bias.p_value,
        "p_adjusted": bias.p_adjusted,
    }
    return [
        {"labels": label["labels"], "run": runs[run], "measure": label["measure"]}
        | {name: plain(column[run]) for name, column in columns.items()}
        | {"flag": FLAGS[float(bias.liking[run])]}
        | {"beyond_scale": plain(bias.beyond_scale[run]), "p_beyond_scale": plain(bias.p_beyond_scale[run])}
        | {"flag_beyond_scale": FLAGS[float(bias.liking_beyond_scale[run])]}
        for run in order
    ]


def _ordering_row(
    label: Mapping[str, str], correlated: Mapping[str, tuple[float, float, float]] | None, bias: Bias, outcome: Winners
) -> dict[str, Any]:
    row: dict[str, Any] = dict(label)
    for place, ending in enumerate(("", "_low", "_high")):
        for name in (*COEFFICIENTS, "slope"):
            row[name + ending] = None if correlated is None else plain(correlated[name][place])
    row |= {"mean_bias": bias.mean, "mean_bias_low": plain(bias.mean_low), "mean_bias_high": plain(bias.mean_high)}
    row |= {name: int(np.count_nonzero(bias.liking == sign)) for sign, name in FLAGS.items() if name}
    lost = outcome.separated & ~outcome.kept & ~outcome.reversed
    counted = {
        "pairs": np.ones(outcome.separated.shape, dtype=bool),
        "separated": outcome.separated,
        "kept": outcome.kept,
        "lost": lost,
        "reversed": outcome.reversed,
        "reversed_significantly": outcome.reversed_significantly,
        "only_by_labels": outcome.only_by_labels,
    }
    return row | {name: int(np.count_nonzero(flags)) for name, flags in counted.items()}


def _change_rows(
    label: Mapping[str, str], runs: list[str], outcome: Winners, p: Floats, p_by_labels: Floats, measure: Measure
) -> list[dict[str, Any]]:
    """Pairs whose winner changes, those farthest apart by the trusted labels first; differences better less worse."""
    first, second = pairs_of(len(runs))
    places = np.flatnonzero(outcome.reversed)
    rows = []
    for place in places[np.argsort(-np.abs(outcome.trusted_difference[places]), kind="stable")].tolist():
        ahead = float(merit(outcome.trusted_difference[place], measure)) > 0
        better, worse = (first, second) if ahead else (second, first)
        sign = 1 if ahead else -1
        rows.append(
            dict(label)
            | {
                "better": runs[int(better[place])],
                "worse": runs[int(worse[place])],
                "trusted": sign * float(outcome.trusted_difference[place]),
                "by_labels": sign * float(outcome.difference[place]),
                "p_trusted": float(p[place]),
                "p_by_labels": float(p_by_labels[place]),
                "significant": bool(outcome.reversed_significantly[place]),
            }
        )
    return rows
