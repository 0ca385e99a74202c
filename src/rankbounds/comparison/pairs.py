"""Pairs of runs: which are tested and how, their numbers in either direction, and the rows that report them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.clusters import Clusters
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_differences import differences, limits_of_differences, mean_difference, merit
from rankbounds.measures import Measure
from rankbounds.phrases import some
from rankbounds.stats import significance
from rankbounds.stats.equivalence import find_test, p_of_margin
from rankbounds.tables import plain_rows

PAIR_FIELDS = (
    "run", "against", "measure", "difference", "ci_low", "ci_high", "effect", "p_value", "p_adjusted", "certain_low",
    "certain_high", "probability_better_if_judged", "probability_worse_if_judged", "p_equivalent", "won", "lost",
    "certain", "verdict",
)  # fmt: skip
"""The columns of the rows of pairs; every number and the verdict are about ``run``, held against ``against``."""
VERDICTS = (
    "no difference shown", "better", "better as judged", "worse", "worse as judged", "equivalent",
    "equivalent as judged", "equivalence not shown",
)  # fmt: skip
CERTAIN = {1.0: "exact", 0.0: "outer"}
"""What is said of certain bounds: some judgments attain them, or they hold but may be wider than needed."""
_ENDS = {f"{what}_low": f"{what}_high" for what in ("ci", "certain", "ties", "summary")}
NEGATED = {name: name for name in ("difference", "effect", "summary")}
NEGATED |= _ENDS | {high: low for low, high in _ENDS.items()}
"""In a pair that is named the other way round, each of these numbers is minus the other."""
_SIDES = {
    "run": "against",
    "won": "lost",
    "probability": "probability_of_other",
    "probability_better_if_judged": "probability_worse_if_judged",
}
_SIDES |= {f"{what}_a": f"{what}_b" for what in ("missing", "lacks", "unpooled")}
SWAPPED = _SIDES | {other: one for one, other in _SIDES.items()}
"""And each of these numbers and choices is the other one."""
_OPPOSITE = {"better": "worse", "worse": "better"}


def turn(pair: Mapping[str, Any]) -> dict[str, Any]:
    swapped = dict(pair) | {name: pair[other] for name, other in SWAPPED.items() if other in pair}
    swapped |= {name: 0.0 - pair[other] for name, other in NEGATED.items() if pair.get(other) is not None}
    if "verdict" in pair:
        swapped["verdict"] = re.sub("^(better|worse)", lambda said: _OPPOSITE[said[0]], pair["verdict"])
    return swapped


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of runs by their numbers, and facts of each: the first run minus the second."""

    first: Ints
    second: Ints
    numbers: Mapping[str, Any]
    """By name, arrays whose last axis is pairs."""

    def take(self, kept: Any) -> Pairs:
        numbers = {name: column[..., kept] for name, column in self.numbers.items()}
        return Pairs(self.first[kept], self.second[kept], numbers)

    def places(self, first: Any, second: Any) -> Ints:
        sides = (self.first, self.second, first, second)
        runs = 1 + max(int(np.max(side, initial=-1)) for side in sides)
        place = np.full((runs, runs), -1)
        place[self.first, self.second] = place[self.second, self.first] = np.arange(self.first.size)
        return np.asarray(place[first, second])

    def get(self, first: Any, second: Any) -> dict[str, Any]:
        places = self.places(first, second)
        numbers = {name: column[..., places] for name, column in self.numbers.items()}
        around, is_turned = turn(numbers), self.first[places] != first
        return {name: np.where(is_turned, around[name], column) for name, column in numbers.items()}


# ---- which run is held against which ----
#
# A difference is candidate minus baseline: of two runs the second minus the first, with a baseline the other minus it,
# and among many the better minus the worse by the measure in question. Arrays hold pairs one way, the same for all
# measures (``pairs_against``); where they become rows, words or figures, ``turned`` says which to turn around.


def pairs_against(runs: Sequence[str], baseline: str | None) -> tuple[Ints, Ints]:
    if baseline is None:
        earlier, later = significance.pairs_of(len(runs))
        return later, earlier
    against = run_number(runs, baseline)
    first = np.delete(np.arange(len(runs)), against)
    return first, np.full(first.size, against)


def turned(leads: Floats, runs: int, baseline: str | None) -> Flags:
    return (leads < 0) & (baseline is None and runs > 2)


def pair_numbers(
    values: Floats, first: Ints, second: Ints, measure: Measure, question: Question, clusters: Clusters | None = None
) -> dict[str, Floats]:
    parts = [
        _some_numbers(values, first[some], second[some], measure, question, clusters)
        for some in significance.chunks(first.size, values.shape[-1])
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _some_numbers(
    values: Floats, first: Ints, second: Ints, measure: Measure, question: Question, clusters: Clusters | None
) -> dict[str, Floats]:
    by_topic = significance.check_differences(differences(values[first], values[second]))
    apart = by_topic if clusters is None else clusters.sum_differences(by_topic)
    gains = merit(apart, measure)
    p_equivalent: Floats = np.full(first.size, np.nan)
    test = find_test(question.test)
    if not test.of_difference:
        significance.check_finite(apart, f"the {test.name} test", measure)
    weights = None if clusters is None else clusters.weights
    if question.margin is not None and not np.isinf(apart).any():
        p_equivalent = p_of_margin(apart, question.margin, "t", measure=measure, weights=weights)
    resampling = significance.Resampling(question.resamples, question.seed)
    with np.errstate(invalid="ignore"):
        mean, deviation = apart.mean(axis=-1), significance.deviation_of(apart)
    limits = limits_of_differences(measure, values)
    ci_low, ci_high = significance.mean_interval(apart, question.confidence, limits, weights)
    p_value = p_equivalent
    if test.of_difference:
        p_value = significance.p_values(gains, question.test, question.alternative, resampling, measure)
    numbers = {
        "difference": mean_difference(values[first], values[second]),
        "ci_low": ci_low,
        "ci_high": ci_high,
        "effect": np.where(np.isfinite(mean), significance.over_error(mean, deviation), np.nan),
        "deviation": deviation,
        "p_value": p_value,
        "p_equivalent": p_equivalent,
        "carrying": carrying(apart).astype(np.float64),
        "differing": np.count_nonzero(apart, axis=-1).astype(np.float64),
        "won": np.count_nonzero(merit(by_topic, measure) > 0, axis=-1).astype(np.float64),
        "lost": np.count_nonzero(merit(by_topic, measure) < 0, axis=-1).astype(np.float64),
    }
    return numbers | {"opposed": _favours_worse_mean(gains, leads(numbers, measure), numbers["p_value"], question)}


def _favours_worse_mean(gains: Floats, lead: Floats, p_value: Floats, question: Question) -> Floats:
    favoured = np.zeros(lead.size)
    if not find_test(question.test).of_mean:
        asked = np.flatnonzero((p_value < question.alpha) & (lead != 0))
        if asked.size:
            resampling = significance.Resampling(question.resamples, question.seed)
            favours_first = significance.p_values(gains[asked], question.test, "greater", resampling) < 0.5
            favoured[asked] = favours_first != (lead[asked] > 0)
    return favoured


def carrying(differences: Floats) -> Ints:
    size = np.sort(np.abs(np.where(np.isfinite(differences), differences, 0.0)), axis=-1)[..., ::-1]
    covered = np.cumsum(size, axis=-1)
    return np.count_nonzero(covered < covered[..., -1:] / 2, axis=-1) + 1


def leads(numbers: Mapping[str, Floats], measure: Measure) -> Floats:
    """Compute by how much the first run of each pair is better; where differences have no mean, by topics won."""
    lead = merit(numbers["difference"], measure)
    return np.where(np.isnan(lead), numbers["won"] - numbers["lost"], lead)


def check_means(measures: Sequence[Measure]) -> None:
    for measure in measures:
        if measure.total == "geometric":
            raise UsageError(
                f"{measure} has a geometric mean over topics, and runs are compared by differences of plain means. "
                "Compare AP or Bpref, and leave it to evaluate."
            )


def run_number(runs: Sequence[str], name: str) -> int:
    if name not in runs:
        raise UsageError(f'There is no run "{name}".{did_you_mean(str(name), list(runs))} There are: {some(runs, 12)}.')
    return list(runs).index(name)


def separated(numbers: Mapping[str, Floats], lead: Floats, alpha: float) -> Flags:
    return (numbers["p_adjusted"] < alpha) & (lead != 0) & (numbers["opposed"] == 0)


def verdicts(lead: Floats, shown: Flags, low: Floats, high: Floats) -> Ints:
    settled = np.where(lead > 0, low > 0, high < 0)
    return np.where(shown, np.where(lead > 0, 1, 3) + ~settled, 0)


def build_rows(**columns: Any) -> list[dict[str, Any]]:
    size = next(len(column) for column in columns.values() if isinstance(column, list | np.ndarray))
    spread = [column if isinstance(column, list | np.ndarray) else [column] * size for column in columns.values()]
    return plain_rows(list(columns), *spread)
