"""Rows on the noise in scores: parts of the variance, the A/A floor, flipping verdicts, reliability and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.comparison.pairs import build_rows
from rankbounds.evaluation.score_differences import (
    TOLERANCE,
    differences,
    limits_of_differences,
    mean_difference,
    merit,
)
from rankbounds.measures import Measure
from rankbounds.stats.significance import Resampling, p_values
from rankbounds.stats.variance_components import NAMES, Anova, Design, topics_for_reliability
from rankbounds.tables import plain

RERUNS = (1, 2, 3, 5, 10)
"""The numbers of runs per system that plans are made for."""
MOST_TESTS = 20_000
"""For more pairs of reruns, verdicts of systems drawn at random are looked at."""
Rows: TypeAlias = list[dict[str, Any]]


def _ends(drawn: Floats, confidence: float) -> list[Any]:
    """Return the interval of draws; None if infinite, unknown, or all 0: then nothing was seen to vary."""
    known = drawn[~np.isnan(drawn)]
    if not known.any():
        return [None, None]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    ends = np.quantile(known, tails, method="inverted_cdf")  # (between a number and infinity there is nothing)
    return [None if np.isinf(end) else float(end) for end in ends]


def component_rows(anova: Anova, drawn: Mapping[str, Floats], confidence: float) -> Rows:
    total = sum(anova.variances.values())
    ends = [_ends(drawn[effect], confidence) for effect in anova.effects]
    return build_rows(
        part=[NAMES[effect] for effect in anova.effects],
        variance=list(anova.variances.values()),
        ci_low=[low for low, _ in ends],
        ci_high=[high for _, high in ends],
        share=[variance / total if total else None for variance in anova.variances.values()],
        estimate=anova.estimates,
        mean_square=anova.mean_squares,
        degrees=anova.degrees.tolist(),
    )


def floor_row(scores: Floats, system: Ints, measure: Measure, confidence: float) -> dict[str, Any]:
    """Compute how far apart means lie that differ by a rerun."""
    from scipy import stats

    means = scores.mean(axis=0)
    first, second = np.triu_indices(means.size, 1)
    same = system[first] == system[second]
    runs_of_system = np.bincount(system)
    of_system = np.bincount(system, means) / runs_of_system
    degrees = int((runs_of_system - 1).sum())
    deviation = float(np.sqrt(2 * ((means - of_system[system]) ** 2).sum() / degrees))
    sizes = np.abs(means[first[same]] - means[second[same]])
    reach = float(stats.t.ppf((1 + confidence) / 2, degrees)) * deviation
    known = sizes.max() > TOLERANCE  # (where nothing differed, nothing is known)
    floor = min(reach, limits_of_differences(measure, scores)[1]) if known else None
    return {
        "floor": floor,
        "sd": deviation,
        "degrees": degrees,
        "observed_pairs": int(sizes.size),
        "observed_largest": float(sizes.max()),
        "observed_beyond": None if floor is None else int(np.count_nonzero(sizes > floor)),
    }


def flip_rows(
    scores: Floats, systems: Sequence[str], system: Ints, measure: Measure, alpha: float, resampling: Resampling
) -> tuple[dict[str, Any], Rows]:
    """Count how often repeated experiments disagree, over all pairs and for each."""
    by_run = scores.T
    members = [np.flatnonzero(system == number) for number in range(len(systems))]
    tested = _pairs_to_test(members, resampling)
    reruns = [(runs[[one]], runs[[other]]) for runs in members for one, other in combinations(range(runs.size), 2)]
    of_systems, of_reruns = (
        _outcomes(by_run, sides, measure, alpha, resampling)
        for sides in ([(members[a], members[b]) for a, b in tested], reruns[:MOST_TESTS])
    )
    pairs: Rows = []
    totals = np.zeros(4)
    for (a, b), (lead, verdict) in zip(tested, of_systems, strict=True):
        cases = sum_over_repeats(np.ones(lead.shape))
        if not cases:
            continue
        better, worse, none = ((verdict == value).astype(np.float64) for value in (1, -1, 0))
        agreeing = sum(map(sum_over_repeats, (better, worse, none)))
        leading = sum(sum_over_repeats((lead == value).astype(np.float64)) for value in (-1, 0, 1))
        totals += (cases, cases - agreeing, cases - leading, 2 * sum_over_repeats(better, worse))
        if len(systems) == 2 or lead.sum() <= 0:  # (candidate against baseline, as in pairs of runs)
            a, b, better, worse = b, a, worse, better
        row = {"run": systems[a], "against": systems[b], "outcomes": lead.size}
        row |= {"better": float(better.mean()), "worse": float(worse.mean()), "no_difference": float(none.mean())}
        pairs.append(row | {"verdict_flips": 1 - agreeing / cases, "winner_flips": 1 - leading / cases})
    shares = totals[1:] / totals[0] if totals[0] else np.full(3, np.nan)
    row = {
        "pairs_of_systems": len(pairs),
        "outcomes": sum(pair["outcomes"] for pair in pairs),
        **dict(zip(("verdict_flips", "winner_flips", "reversals"), map(plain, shares), strict=True)),
        "rerun_pairs": sum(verdict.size for _, verdict in of_reruns),
        "rerun_alarms": sum(int(np.count_nonzero(verdict)) for _, verdict in of_reruns),
    }
    return row, pairs


def _pairs_to_test(members: Sequence[Ints], resampling: Resampling) -> list[tuple[int, int]]:
    """Return all pairs of systems, or a random sample if they are many."""
    every = list(combinations(range(len(members)), 2))
    tests = np.array([len(members[a]) * len(members[b]) for a, b in every], dtype=np.int64)
    if tests.sum() <= MOST_TESTS:
        return every
    order = resampling.generator().permutation(len(every))
    kept = order[: max(1, int(np.searchsorted(np.cumsum(tests[order]), MOST_TESTS, side="right")))]
    return [every[place] for place in np.sort(kept).tolist()]


def sum_over_repeats(one: Floats, other: Floats | None = None) -> float:
    """Sum products over all two outcomes that differ in every rerun."""
    rest = one if other is None else other
    for axis, size in enumerate(one.shape):
        if size > 1:
            rest = rest.sum(axis=axis, keepdims=True) - rest
    return float((one * rest).sum()) if max(one.shape) > 1 else 0.0


def _outcomes(
    by_run: Floats, sides: Sequence[tuple[Ints, Ints]], measure: Measure, alpha: float, resampling: Resampling
) -> list[tuple[Floats, Floats]]:
    """Return who leads, and who does so significantly (or 0), by run and other run."""
    if not sides:
        return []
    topics = by_run.shape[1]
    one = np.concatenate([by_run[np.repeat(a, b.size)].reshape(-1, topics) for a, b in sides])
    other = np.concatenate([by_run[np.tile(b, a.size)].reshape(-1, topics) for a, b in sides])
    lead = np.sign(merit(mean_difference(one, other), measure))
    verdict = np.where(p_values(differences(one, other), resampling=resampling, measure=measure) < alpha, lead, 0.0)
    shapes = [(2, a.size, b.size) for a, b in sides]
    ends = np.cumsum([np.prod(shape[1:]) for shape in shapes])[:-1]
    parts = np.split(np.stack([lead, verdict]), ends, axis=1)
    return [tuple(part.reshape(shape)) for part, shape in zip(parts, shapes, strict=True)]  # type: ignore[misc]


def reliability_row(anova: Anova, drawn: Mapping[str, Floats], design: Design, confidence: float) -> dict[str, Any]:
    """Compute how reliable the order of systems and their scores are in a design."""
    row: dict[str, Any] = {"topics": design.topics, "reruns": design.reruns}
    for name, absolute in (("reliability", False), ("dependability", True)):
        row[name] = plain(design.reliability(anova.variances, absolute=absolute))
        row[f"{name}_low"], row[f"{name}_high"] = _ends(design.reliability(drawn, absolute=absolute), confidence)
    return row


def plan_rows(anova: Anova, drawn: Mapping[str, Floats], wanted: Sequence[float], confidence: float) -> Rows:
    rows = []
    for level, reruns in product(wanted, RERUNS):
        topics = float(topics_for_reliability(level, anova.variances, reruns))
        counts = [topics, *_ends(topics_for_reliability(level, drawn, reruns), confidence)]
        needed = [None if count is None or np.isinf(count) else int(count) for count in counts]
        row = {"reliability": level, "reruns": reruns}
        rows.append(row | dict(zip(("topics", "topics_low", "topics_high"), needed, strict=True)))
    return rows
