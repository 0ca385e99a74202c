"""The numbers of a comparison in arrays: differences, bounds, leads and verdicts of every pair, and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison.evidence import CHANCES, Evidence
from rankbounds.comparison.pairs import (
    CERTAIN,
    PAIR_FIELDS,
    VERDICTS,
    Pairs,
    build_rows,
    leads,
    pairs_against,
    run_number,
    separated,
    turn,
    turned,
    verdicts,
)
from rankbounds.comparison.tables import measure_place
from rankbounds.comparison.wording import ASSUMED
from rankbounds.errors import UsageError
from rankbounds.evaluation.clusters import Clusters
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_differences import equal, mean_difference, merit, merit_of_range
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.probability.probable_differences import limit_certainty
from rankbounds.rankings.join import empty_rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.stats.corrections import group_letters
from rankbounds.stats.equivalence import find_test

COVERED = 10
"""How deep ``Scores.judged`` looks."""


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """The numbers of a comparison, in arrays; what takes time is computed on first use."""

    scores: Scores
    system_rows: list[dict[str, Any]]
    tested: Pairs
    """Numbers of pairs, with an axis of measures and one of pairs, as ``pairs_against`` names them."""
    question: Question
    """What was asked, with the correction and the clusters that it came to."""
    settings: dict[str, Any]
    evidence: Evidence | None = None
    p_adjusted: Floats | None = None
    """By measure and pair of *all* runs, also where the pairs above are those among some of them."""
    separated: Flags | None = None
    """Of these pairs, those that are shown to differ."""

    @property
    def clusters(self) -> Clusters | None:
        return cast("Clusters | None", self.question.clusters)

    @property
    def measures(self) -> list[Measure]:
        return self.scores.measures

    @property
    def runs(self) -> list[str]:
        return self.scores.runs

    def pair_rows(self, *, probabilities: bool = True) -> list[dict[str, Any]]:
        first, second = self.tested.first, self.tested.second
        known = {**self.tested.numbers, **self.certain}
        if probabilities:
            known |= dict(zip(CHANCES, self.chances, strict=True))
        topics = self.settings["topics"]
        lacks = [
            f"; {run} lacks {count} of {topics} topics" if count else ""
            for run, count in zip(self.runs, self.missing.tolist(), strict=True)
        ]
        sides = first.tolist(), second.tolist()
        rows: list[dict[str, Any]] = []
        for at, measure in enumerate(self.measures):
            columns = {name: column[at] for name, column in known.items()} | {
                "run": [self.runs[run] for run in sides[0]],
                "against": [self.runs[run] for run in sides[1]],
                "measure": str(measure),
                **{name: known[name][at].astype(int).tolist() for name in ("won", "lost")},
                "certain": [CERTAIN.get(code) for code in known["certain"][at].tolist()],
                "verdict": [
                    VERDICTS[code] + lacks[run] + lacks[against]
                    for code, run, against in zip(self.verdicts[at].tolist(), *sides, strict=True)
                ],
            }
            alike = build_rows(**{name: columns[name] for name in PAIR_FIELDS if name in columns})
            rows += [turn(row) if around else row for row, around in zip(alike, self.turned[at].tolist(), strict=True)]
        return rows

    @cached_property
    def certain(self) -> dict[str, Floats]:
        """Return the bounds of every difference over all judgments, by measure and pair, as ``Evidence.bounds`` does.

        Without the lists they are one run's low minus the other's high, and the reverse; NaN where judgments of one run
        change the other's score.
        """
        scores, first, second = self.scores, self.tested.first, self.tested.second
        if self.evidence is not None and not self.asks_no_bounds:
            return self.evidence.bounds(self.measures, np.union1d(first, second).tolist()).get(first, second)
        low, high = np.full((2, len(self.measures), first.size), np.nan)
        for at, measure in enumerate(self.measures):
            if measure.list_only and scores.bounds in ("unjudged", "both"):
                least, most = scores.low[:, :, at], scores.high[:, :, at]
                low[at] = mean_difference(least[first], most[second])
                high[at] = mean_difference(most[first], least[second])
        attained = np.where(np.isnan(low) | np.isnan(high), np.nan, equal(low, high))
        return {"certain_low": low, "certain_high": high, "certain": attained}

    def certain_merits(self) -> Floats:
        ends = zip(self.certain["certain_low"], self.certain["certain_high"], self.measures, strict=True)
        return np.stack([merit_of_range(*of_measure) for of_measure in ends], axis=1)

    @cached_property
    def leads(self) -> Floats:
        """Return the advantage of the first run by measure and pair; by wins if there is no mean difference."""
        known = self.tested.numbers
        columns = [{name: column[at] for name, column in known.items()} for at in range(len(self.measures))]
        return np.stack(list(map(leads, columns, self.measures)))

    @cached_property
    def turned(self) -> Flags:
        return turned(self.leads, len(self.runs), self.settings["baseline"])

    @property
    def of_equivalence(self) -> bool:
        return not find_test(self.settings["test"]).of_difference

    @property
    def sides(self) -> Ints:
        first, second = self.tested.first, self.tested.second
        return np.stack([np.where(self.turned, second, first), np.where(self.turned, first, second)])

    @property
    def shown(self) -> Flags:
        numbers, alpha = self.tested.numbers, self.settings["alpha"]
        return numbers["p_adjusted"] < alpha if self.of_equivalence else separated(numbers, self.leads, alpha)

    @cached_property
    def verdicts(self) -> Ints:
        if self.of_equivalence:
            names = ("equivalent", "equivalent as judged", "equivalence not shown")
            sure, as_judged, not_shown = map(VERDICTS.index, names)
            return np.where(self.shown, np.where(self.equivalent_whatever_judged, sure, as_judged), not_shown)
        low, high = self.certain_merits()
        return verdicts(self.leads, self.shown, low, high)

    @property
    def equivalent_whatever_judged(self) -> Flags:
        margin = np.nan if self.settings["margin"] is None else self.settings["margin"]
        return (self.certain["certain_low"] > -margin) & (self.certain["certain_high"] < margin)

    @cached_property
    def parts(self) -> list[Compared]:
        return [self] if len(self.measures) == 1 else list(map(self._part, range(len(self.measures))))

    def _part(self, at: int) -> Compared:
        numbers = {name: column[at : at + 1] for name, column in self.tested.numbers.items()}
        return replace(
            self,
            scores=self.scores[self.measures[at]],
            question=replace(self.question, measures=(self.measures[at],)),
            system_rows=[row for row in self.system_rows if row["measure"] == str(self.measures[at])],
            tested=replace(self.tested, numbers=numbers),
            p_adjusted=None if self.p_adjusted is None else self.p_adjusted[at : at + 1],
            separated=None if self.separated is None else self.separated[at : at + 1],
        )

    def filter(self, run: str) -> Compared:
        return replace(self, tested=self.tested.take(self.holds(run)))

    def holds(self, run: str) -> Flags:
        number = run_number(self.runs, run)
        return (self.tested.first == number) | (self.tested.second == number)

    def measure(self, label: str | Measure) -> Measure:
        return self.measures[measure_place(self.measures, label)]

    @cached_property
    def chances(self) -> Floats:
        """Return how likely the first and the second run are the better one, by measure and pair; NaN where unknown.

        Too few judgments give no estimate, and an estimate lies between 0.01 and 0.99, as sentences say it. Only where
        the bounds decide it is 0 or 1. Both runs may score the same.
        """
        first, second = self.tested.first, self.tested.second
        likely = np.full((2, *self.leads.shape), np.nan)
        for at, measure in enumerate(self.measures):
            chances = self.evidence.chances(measure) if self.evidence is not None else None
            if chances is not None:
                of_pairs = chances.get(first, second)
                both = np.stack([of_pairs[name] for name in CHANCES])
                low, high = self.certain_merits()[:, at]
                certain = (low > 0) | (high < 0) | ((low == 0) & (high == 0))
                limited = limit_certainty(both, np.stack([high, -low]))
                unpooled = self.unpooled[at, first] | self.unpooled[at, second]
                decided = np.where(np.isnan(both), np.nan, np.stack([low > 0, high < 0]))
                likely[:, at] = np.where(certain, decided, np.where(unpooled, np.nan, limited))
        return likely

    @cached_property
    def unpooled(self) -> Flags:
        few_judged = np.zeros((len(self.measures), len(self.runs)), dtype=bool)
        for at, measure in enumerate(self.measures):
            if self.evidence is not None and self.evidence.chances(measure) is not None:
                few_judged[at] = [run in self.evidence.unpooled for run in self.runs]
        return few_judged

    @cached_property
    def missing(self) -> Ints:
        counted = self.scores.run_notes if self.scores.topics == "judged" else []
        return np.array([len(noted.missing) for noted in counted] or [0] * len(self.runs))

    @property
    def strange(self) -> Flags:
        noted = self.scores.run_notes
        return np.array([bool(one.strange_documents) for one in noted] or [False] * len(self.runs))

    def row(self, measure: str | Measure, pair: tuple[str, str]) -> dict[str, float]:
        part, runs = self.parts[measure_place(self.measures, measure)], self.pair(*pair)
        known = replace(part.tested, numbers={**part.tested.numbers, **part.certain}).get(*runs)
        return {name: float(column[0]) for name, column in known.items()}

    def pair(self, a: str, b: str) -> tuple[int, int]:
        one, other = (run_number(self.runs, name) for name in (a, b))
        if one == other:
            raise UsageError(f'A run cannot be compared with itself ("{a}").')
        if self.tested.places(one, other) < 0:
            raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')
        return one, other

    def means(self) -> Floats:
        return np.array([row["mean"] for row in self.system_rows], dtype=np.float64).reshape(len(self.measures), -1)

    def letters(self, at: int, runs: Sequence[str]) -> Sequence[str | None]:
        numbers = [self.runs.index(run) for run in runs]
        first, second = pairs_against(self.runs, None)
        kept = np.isin(first, numbers) & np.isin(second, numbers)
        place = np.zeros(len(self.runs), dtype=np.intp)
        place[numbers] = np.arange(len(numbers))
        means = merit(self.means()[at, numbers], self.measures[at])
        assert self.separated is not None
        return group_letters(means, place[first[kept]], place[second[kept]], self.separated[at, kept])

    @property
    def has_bounds(self) -> bool:
        return not self.asks_no_bounds and (self.scores.has_judged or self.scores.bounds != "none")

    @property
    def asks_no_bounds(self) -> bool:
        return self.evidence is not None and self.evidence.assumptions.bounds == "none"

    @property
    def assumed(self) -> str:
        return ASSUMED[self.question.assumptions.unjudged.name]

    @property
    def complete(self) -> bool:
        return self.evidence is not None and self.evidence.facts.complete


# ---- what may still change a difference ----


def can_differ(scores: Scores, place: int, first: Ints, second: Ints, evidence: Evidence | None) -> Ints:
    measure, topics = scores.measures[place], scores.value.shape[1]
    if evidence is not None:
        return evidence.topics_that_can_differ(measure, first, second)
    if scores.bounds not in ("unjudged", "both") or not measure.list_only:
        return np.full(first.size, topics)
    value, low, high = (part[:, :, place] for part in (scores.value, scores.low, scores.high))
    settled = np.asarray(equal(low, high))
    alike = equal(value[first], value[second]) & settled[first] & settled[second]
    return topics - np.count_nonzero(alike, axis=-1)


def only_unretrieved_left(evidence: Evidence | None, scores: Scores, measure: Measure, runs: Ints) -> Flags:
    judged = np.zeros(len(scores.runs), dtype=bool)
    if evidence is None or not _evidence_applies(evidence, scores):
        return judged
    topics = empty_rankings(np.arange(len(scores.query_ids)), evidence.facts).open_to(np.inf)
    if measure.shrinkage(topics) is None:
        return judged
    judged[runs] = (scores.judged[runs] == 1).all(axis=-1)
    if not judged.any() or (measure.cutoff is not None and measure.cutoff <= COVERED):
        return judged
    for rankings in evidence.shared_lists(runs.tolist()).by_topic:
        judged[runs] &= ~rankings.holes[:, : measure.depth(rankings)].any(axis=-1)
    return judged


def _evidence_applies(evidence: Evidence, scores: Scores) -> bool:
    assumptions = evidence.assumptions
    return (
        assumptions.ties in ORDERS
        and assumptions.bounds == "unjudged"
        and assumptions.open == "retrieved"
        and assumptions.unjudged.name == "nonrelevant"
        and scores.runs == evidence.names
        and scores.query_ids == list(evidence.facts.query_ids)
    )
