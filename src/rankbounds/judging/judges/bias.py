"""What other labels do to runs: their scores, their order, who wins where the trusted labels find a difference.

Scores are arrays with axes measure, run, topic; bias is the score by the labels minus the trusted one. A judge that is
generous to all runs alike changes no order; so the test is of a run's bias minus the mean bias of all runs, topic by
topic (Holm over runs). A judge who is often wrong squeezes differences: good runs lose and poor ones gain. So the test
is made again beside the line through all runs' scores. Orders are compared by means, and in every resample of topics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.evaluation.score_differences import differences, limits_of_differences, mean_difference, merit
from rankbounds.judging.judges.agreement import SIGNED, TopicBootstrap
from rankbounds.measures import Measure
from rankbounds.results import Row
from rankbounds.stats.corrections import correct_p_values
from rankbounds.stats.rank_correlation import order_signs, tau_ap_of_signs, tau_of_signs
from rankbounds.stats.significance import Resampling, check_finite, mean_interval, p_values, pairs_of
from rankbounds.tables import plain

TOP = 10
"""So many of the best runs by the trusted labels are looked at by themselves."""
COEFFICIENTS = ("tau", "tau_ap", f"tau_top{TOP}")
RUNS_FOR_SCALE = 5
"""With fewer runs, a line through their scores fits all of them."""
FEW_TURNED = 0.05
"""Up to this share of turned pairs, an order is called one that mostly holds."""
MANY_LOST = 0.2
"""Labels that miss a larger share of the clear differences tell runs apart only in part."""
FLAGS = {1.0: "favoured", -1.0: "penalised", 0.0: None}
_SIGNS_AT_ONCE = 1 << 22
Rows: TypeAlias = list[dict[str, Any]]
Value: TypeAlias = tuple[float, float, float]
"""A number with its low and high."""


def rows_of_runs(
    scores: Floats, runs: list[str], names: Sequence[str], measures: list[Measure], settings: Mapping[str, Any]
) -> tuple[Rows, Rows, Rows]:
    """Rows on bias, orders and winners, from scores by the trusted labels and by each set of labels that is named."""
    alpha, confidence, seed = settings["alpha"], settings["confidence"], settings["seed"]
    bootstrap = TopicBootstrap(scores.shape[-1], Resampling(settings["resamples"], seed), confidence)
    for at, measure in enumerate(measures):
        check_finite(scores[:, at], "a comparison of labels", measure)
    several = len(runs) > 1
    p = np.empty((*scores.shape[:2], 0))
    if several:
        merits = np.stack([merit(scores[:, at], measure) for at, measure in enumerate(measures)], axis=1)
        p = pair_p_values(merits.reshape(-1, *merits.shape[2:])).reshape(*p.shape[:2], -1)
    systems: Rows = []
    orderings: Rows = []
    changes: Rows = []
    for at, measure in enumerate(measures):
        trusted, *others = scores[:, at]
        best_first = np.argsort(-merit(trusted.mean(axis=-1), measure), kind="stable").tolist()
        unknown: dict[str, Value] = dict.fromkeys((*COEFFICIENTS, "slope"), (np.nan, np.nan, np.nan))
        correlated = correlate_orders(trusted, others, measure, bootstrap) if several else [unknown] * len(others)
        for name, scores_by_set, p_by_set, of_orders in zip(names, others, p[1:, at], correlated, strict=True):
            of_set = {"labels": name, "measure": str(measure)}
            bias, mean = bias_of_runs(scores_by_set, trusted, measure, alpha=alpha, confidence=confidence)
            systems += [
                {"labels": name, "run": runs[run], "measure": str(measure)}
                | {field: plain(column[run]) for field, column in bias.items()}
                for run in best_first
            ]
            flags, changed = winners(trusted, scores_by_set, p[0, at], p_by_set, runs, measure, alpha)
            changes += [of_set | row for row in changed]
            values = {
                field + ending: plain(ends[end])
                for end, ending in enumerate(("", "_low", "_high"))
                for field, ends in (of_orders | {"mean_bias": mean}).items()
            }
            counts = {flag: bias["flag"].count(flag) for flag in FLAGS.values() if flag}
            counts |= {field: int(np.count_nonzero(of_pairs)) for field, of_pairs in flags.items()}
            orderings.append(of_set | values | counts)
    return systems, orderings, changes


def bias_of_runs(
    by_labels: Floats, trusted: Floats, measure: Measure, *, alpha: float, confidence: float
) -> tuple[dict[str, Any], Value]:
    """Every run's bias by one measure (arrays of runs by topics), as columns of rows; and the mean over all runs."""
    by_topic = differences(by_labels, trusted)
    check_finite(by_topic, "a bias", measure)
    limits = limits_of_differences(measure, np.stack([by_labels, trusted]))
    of_all = by_topic.mean(axis=0, keepdims=True)
    low, high = mean_interval(by_topic, confidence, limits)
    mean_low, mean_high = mean_interval(of_all, confidence, limits)
    excess = differences(by_topic, np.broadcast_to(of_all, by_topic.shape))
    left = beside_line(excess, trusted) if len(excess) >= RUNS_FOR_SCALE else None
    columns = {
        "by_labels": by_labels.mean(axis=-1),
        "trusted": trusted.mean(axis=-1),
        "bias": mean_difference(by_labels, trusted),
        "ci_low": low,
        "ci_high": high,
        **flag_unlike(excess, left, measure, alpha),
    }
    return columns, (float(of_all.mean()), float(mean_low[0]), float(mean_high[0]))


def flag_unlike(excess: Floats, left: Floats | None, measure: Measure, alpha: float) -> dict[str, Any]:
    """Test each row of excess bias, and what the scale leaves of it (None: too few runs), as columns of rows."""
    columns: dict[str, Any] = {}
    for numbers, size, of_size in ((excess, "excess", ""), (left, "beyond_scale", "_beyond_scale")):
        mean, p, adjusted = np.full((3, len(excess)), np.nan)
        if numbers is not None:
            mean, p = numbers.mean(axis=-1), p_values(numbers, measure=measure)
            adjusted = correct_p_values(p, "holm")
        signs = np.where(adjusted < alpha, np.sign(merit(mean, measure)), 0.0).tolist()
        tested = {"p_beyond_scale": adjusted} if of_size else {"p_value": p, "p_adjusted": adjusted}
        columns |= {size: mean, **tested, f"flag{of_size}": [FLAGS[sign] for sign in signs]}
    return columns


def beside_line(of_runs: Floats, trusted: Floats) -> Floats:
    """Take out each topic's line over the runs' means, so that a test knows how uncertain the slope is."""
    means = trusted.mean(axis=-1)
    slopes = np.nan_to_num(_slope(means, of_runs.T))
    return differences(of_runs, (means - means.mean())[:, None] * slopes)


def correlations_of_orders(trusted: Floats, others: Sequence[Floats]) -> list[dict[str, Floats]]:
    """How alike each of the others orders runs: ``COEFFICIENTS`` for each row of merits (resamples by runs)."""
    rows, runs = trusted.shape
    step = max(1, _SIGNS_AT_ONCE // runs**2)
    by_other: list[dict[str, Floats]] = [{name: np.empty(rows) for name in COEFFICIENTS} for _ in others]
    for first in range(0, rows, step):
        part = slice(first, first + step)
        signs = order_signs(trusted[part])
        best = np.argsort(-trusted[part], axis=-1, kind="stable")[:, :TOP]
        signs_of_best = order_signs(np.take_along_axis(trusted[part], best, axis=-1))
        for numbers, other in zip(by_other, others, strict=True):
            turned = order_signs(other[part])
            numbers["tau"][part] = tau_of_signs(signs, turned)
            numbers["tau_ap"][part] = (tau_ap_of_signs(signs, turned) + tau_ap_of_signs(turned, signs)) / 2
            among_best = order_signs(np.take_along_axis(other[part], best, axis=-1))
            numbers[COEFFICIENTS[2]][part] = tau_of_signs(signs_of_best, among_best)
    return by_other


def correlate_orders(
    trusted: Floats, others: Sequence[Floats], measure: Measure, bootstrap: TopicBootstrap
) -> list[dict[str, Value]]:
    """For each of the others, every coefficient with the low and high of its interval, from runs by topics."""
    merits = [merit(scores, measure).T for scores in (trusted, *others)]
    means = [scores.mean(axis=0) for scores in merits]
    drawn = [bootstrap.resampled(scores) / len(scores) for scores in merits]
    by_means = correlations_of_orders(means[0][None], [of_labels[None] for of_labels in means[1:]])
    by_draws = correlations_of_orders(drawn[0], drawn[1:])
    coefficients: list[dict[str, Value]] = []
    for place, (of_all, of_draws) in enumerate(zip(by_means, by_draws, strict=True), 1):
        ordered = 0 * of_all["tau"][0]  # NaN where one side is all ties
        numbers = {
            name: (
                value := float(of_all[name][0] + ordered),
                *bootstrap.interval(value, np.nan_to_num(of_draws[name]), *SIGNED),
            )
            for name in COEFFICIENTS
        }
        slope = float(_slope(means[0], means[place]))
        numbers["slope"] = (slope, *bootstrap.interval(slope, _slope(drawn[0], drawn[place])))
        coefficients.append(numbers)
    return coefficients


def _slope(trusted: Floats, others: Floats) -> Floats:
    centred = trusted - trusted.mean(axis=-1, keepdims=True)
    square = (centred**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(square > 1e-20, (centred * others).sum(axis=-1) / square, np.nan)


def pair_p_values(scores: Floats) -> Floats:
    """By measure (the first axis, where more is better), the corrected p-value of every pair, as ``compare`` has it."""
    first, second = pairs_of(scores.shape[1])
    of_pairs = np.concatenate([differences(matrix[first], matrix[second]) for matrix in scores])
    return correct_p_values(p_values(of_pairs).reshape(len(scores), -1), "holm")


def winners(
    trusted: Floats,
    others: Floats,
    p_trusted: Floats,
    p_others: Floats,
    runs: list[str],
    measure: Measure,
    alpha: float,
) -> tuple[dict[str, Flags], Rows]:
    """What becomes of the pairs of runs (arrays of runs by topics): flags, and rows where the winner changes."""
    first, second = pairs_of(len(trusted))
    before, after = (mean_difference(scores[first], scores[second]) for scores in (trusted, others))
    lead, other_lead = np.sign(merit(before, measure)), np.sign(merit(after, measure))
    separated, by_others = (p_trusted < alpha) & (lead != 0), (p_others < alpha) & (other_lead != 0)
    kept, turned = separated & by_others & (lead == other_lead), separated & (lead * other_lead < 0)
    flags = {
        "pairs": np.ones(separated.shape, dtype=bool),
        "separated": separated,
        "kept": kept,
        "lost": separated & ~kept & ~turned,
        "reversed": turned,
        "only_by_labels": by_others & ~separated,
    }
    places = np.flatnonzero(turned)
    rows = []
    for place in places[np.argsort(-np.abs(before[places]), kind="stable")].tolist():
        better, worse, sign = (first, second, 1) if lead[place] > 0 else (second, first, -1)
        rows.append(
            {
                "better": runs[int(better[place])],
                "worse": runs[int(worse[place])],
                "trusted": sign * float(before[place]),
                "by_labels": sign * float(after[place]),
                "p_trusted": float(p_trusted[place]),
                "p_by_labels": float(p_others[place]),
                "significant": bool(by_others[place]),
            }
        )
    return flags, rows


# ---- what that says of the labels ----


def worst_share(orderings: Sequence[Row], count: str) -> tuple[float, Row]:
    shares = ((row[count] / max(row["separated"], 1), row) for row in orderings)
    return max(shares, key=lambda share: share[0], default=(0.0, {}))


def trust_in_order(orderings: Sequence[Row]) -> tuple[str, str, str]:
    """Whether labels tell which of two runs is better; what they turn or miss, and by which measure."""
    if not any(row["separated"] for row in orderings):
        return "unknown", "", ""
    (turned, row), (lost, blind) = worst_share(orderings, "reversed"), worst_share(orderings, "lost")
    if turned:
        answer = "mostly" if turned <= FEW_TURNED else "no"
        return answer, f"{row['reversed']:,} of {row['separated']:,} turned", row["measure"]
    missed = f"{blind['lost']:,} of {blind['separated']:,} missed" if lost else ""
    return "in part" if lost > MANY_LOST else "yes", missed, blind["measure"] if lost else ""


def trust_in_scores(agreed: Row, orderings: Sequence[Row]) -> tuple[str, str]:
    """The first way found in which scores are wrong: the mean over runs, labels, orders, single runs."""

    def is_biased(row: Row) -> bool:  # by more than chance, or the same way on all topics
        low, high = row["mean_bias_low"], row["mean_bias_high"]
        return bool(row["mean_bias"]) if low is None or high is None else low > 0 or high < 0

    kappa = agreed["kappa"] if agreed["kappa_low"] is None else agreed["kappa_low"]
    problems: list[tuple[str, str, Callable[[Row], bool]]] = [
        ("no: biased", "no, by {} they are biased on average", is_biased),
        (
            "no: chance",
            "no, its labels are not shown to agree with {{trusted}} more than by chance",
            lambda _: kappa is None or kappa <= 0,
        ),
        (
            "no: turned",
            "no, by {} they reverse clear differences",
            lambda row: row["reversed"] > FEW_TURNED * row["separated"],
        ),
        (
            "not of all runs",
            "not for the runs that it favours or penalises by {}",
            lambda row: row["favoured"] or row["penalised"],
        ),
    ]
    for problem, why, holds in problems:
        if named := [row["measure"] for row in orderings if holds(row)]:
            return problem, why.format(", ".join(named))
    return "no problem found", ""
