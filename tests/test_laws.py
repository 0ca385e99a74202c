"""Laws that every registered measure obeys, on random small topics with ties, holes and grades.

The oracle is ``plain.py`` with full enumeration: of all judgments the unjudged documents may get, and of all orders of
tied documents.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankbounds as rb
from plain import DEFINITIONS, Topic, greatest, value
from rankbounds.measures import REGISTRY, parse_measure
from rankbounds.measures.condensed import Condensed

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
LAW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

PLAIN = [parse_measure(example) for kind in REGISTRY.values() for example in kind.examples]
MEASURES = [*PLAIN, *(parse_measure(example) for example in Condensed.examples)]
NO_MEAN_OVER_TIES = {"RBP2", "INST"}  # a user whose next step depends on what was found so far
NO_MEAN_OVER_BOTH = NO_MEAN_OVER_TIES | {"RRn", "ESL", "Shaw", "RankPower"}
GRADED = {"DCG", "nDCG", "ERR"}
UNBOUNDED = {"Rpref_N", "Rpref_relative", "Rpref_relative2", "infAP"}  # no bounds are known, and none are given
OUTER = {"Q"}  # bounds that hold, but may be wider than needed


def bounded(measure) -> bool:
    return getattr(measure, "measure", measure).name not in UNBOUNDED


@dataclass(frozen=True)
class Example:
    """Documents in trec order (score down, id down) with equal scores forming groups, and unretrieved judgments."""

    ranking: tuple[float | None, ...]
    scores: tuple[int, ...]
    unretrieved: tuple[float, ...]

    @property
    def qrels(self):
        judged = {f"d{99 - at:02d}": grade for at, grade in enumerate(self.ranking) if grade is not None}
        return {"t": judged | {f"u{at}": grade for at, grade in enumerate(self.unretrieved)}}

    @property
    def run(self):
        return {"t": {f"d{99 - at:02d}": score for at, score in enumerate(self.scores)}}

    @property
    def largest(self) -> float:
        return max([*self.grades, 1])

    @property
    def grades(self):
        return [grade for grade in (*self.ranking, *self.unretrieved) if grade is not None]

    def topic(self, ranking=None) -> Topic:
        """As judged; or with other grades in the ranking, which then belong to the topic's judgments too."""
        chosen = list(self.ranking if ranking is None else ranking)
        return Topic(chosen, [grade for grade in chosen if grade is not None] + list(self.unretrieved), self.largest)

    def completions(self, levels):
        """All rankings in which every unjudged document has one of the levels."""
        holes = [at for at, grade in enumerate(self.ranking) if grade is None]
        for grades in itertools.product(levels, repeat=len(holes)):
            full = list(self.ranking)
            for at, grade in zip(holes, grades, strict=True):
                full[at] = grade
            yield full

    def orders(self, ranking):
        """All orders of documents that only permute tied ones; orders that look alike once (all equally often)."""
        groups = [
            [ranking[at] for at in group]
            for _, group in itertools.groupby(range(len(ranking)), key=lambda at: self.scores[at])
        ]
        for permuted in itertools.product(*(set(itertools.permutations(group)) for group in groups)):
            yield [grade for group in permuted for grade in group]


@st.composite
def examples(draw, holes=3, group=4, length=6):
    grade = st.sampled_from([0, 0, 1, 1, 2, 3])
    ranking = draw(st.lists(st.one_of(st.none(), grade, grade), min_size=1, max_size=length))
    while ranking.count(None) > holes:
        ranking[ranking.index(None)] = 0
    steps = draw(st.lists(st.sampled_from([0, 0, 1]), min_size=len(ranking), max_size=len(ranking)))
    scores, same = [100], 1
    for step in steps[1:]:
        same = 1 if step or same >= group else same + 1
        scores.append(scores[-1] - (1 if same == 1 else 0))
    unretrieved = draw(st.lists(grade, max_size=3))
    if all(one is None for one in ranking) and not unretrieved:
        unretrieved = [0]
    return Example(tuple(ranking), tuple(scores), tuple(unretrieved))


def averaged(measure, ties: str = "expected") -> bool:
    """Is the mean over orders known, where the treatment of ties asks for it?"""
    return ties != "expected" or getattr(measure, "measure", measure).name not in NO_MEAN_OVER_TIES


def untied(example: Example) -> Example:
    return replace(example, scores=tuple(range(100, 100 - len(example.ranking), -1)))


def scored(example: Example, measures=MEASURES, **options):
    scores = rb.evaluate(example.qrels, example.run, measures, **options)
    return dict(
        zip(scores.measures, zip(scores.value[0, 0], scores.low[0, 0], scores.high[0, 0], strict=True), strict=True)
    )


def levels_for(measure, example: Example):
    """The grades to complete with: all of them for graded measures, not relevant and relevant for binary ones."""
    plain = getattr(measure, "measure", measure)
    graded = plain.name in GRADED or getattr(plain, "graded", False)
    largest = getattr(plain, "max_grade", None) or example.largest
    return range(int(largest) + 1) if graded else (0, max(example.largest, getattr(plain, "rel", 1)))


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def test_every_measure_has_a_plain_definition_and_an_example():
    assert set(DEFINITIONS) == set(REGISTRY)
    assert all(kind.examples for kind in REGISTRY.values())
    assert {kind.name for kind in REGISTRY.values() if kind.exactness == "unknown"} == UNBOUNDED
    assert {kind.name for kind in REGISTRY.values() if kind.exactness == "outer"} == OUTER


@LAW
@given(examples())
def test_value_is_the_plain_definition(example):
    for measure, (found, _, _) in scored(example).items():
        assert close(found, value(example.topic(), measure)), measure


@LAW
@given(examples())
def test_bounds_are_the_extremes_over_all_judgments(example):
    for measure, (found, low, high) in scored(untied(example)).items():
        plain = getattr(measure, "measure", measure)
        if plain.as_retrieved:
            assert low == high == found, measure
            continue
        if not bounded(plain):
            assert math.isnan(low), measure
            assert math.isnan(high), measure
            continue
        topics = [example.topic(full) for full in example.completions(levels_for(plain, example))]
        values, most = [value(one, plain) for one in topics], max(greatest(one, plain) for one in topics)
        if measure.judged_only:  # what full judgments could give, and the value itself
            values, most = [*values, found], max(most, found)
        if plain.name in OUTER:
            assert low <= min(values) + 1e-9, measure
            assert high >= most - 1e-9, measure
            continue
        assert close(low, min(values)), measure
        assert close(high, most), measure


@LAW
@given(examples())
def test_value_lies_within_its_bounds(example):
    for unjudged in ("nonrelevant", "relevant", "condensed"):
        for measure, (found, low, high) in scored(example, filter(bounded, MEASURES), unjudged=unjudged).items():
            assert low - 1e-9 <= found <= high + 1e-9, (measure, unjudged)


@LAW
@given(examples())
def test_counting_unjudged_as_relevant_is_judging_them_so(example):
    for measure, (found, _, _) in scored(example, PLAIN, unjudged="relevant").items():
        most = levels_for(measure, example)[-1]
        full = [most if grade is None else grade for grade in example.ranking]
        if not measure.as_retrieved and not measure.judged_only:
            assert close(found, value(example.topic(full), measure)), measure


@LAW
@given(examples(), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_expected_is_the_mean_over_independent_judgments(example, q):
    measures = [m for m in PLAIN if m.multilinear]
    holes = example.ranking.count(None)
    for measure, (found, _, _) in scored(example, measures, unjudged="expected", q=q).items():
        mean = 0.0
        for full in example.completions((0, levels_for(measure, example)[-1])):
            turned = sum(grade is None and new > 0 for grade, new in zip(example.ranking, full, strict=True))
            mean += q**turned * (1 - q) ** (holes - turned) * value(example.topic(full), measure)
        assert close(found, mean), measure


@LAW
@given(examples())
def test_condensed_is_deleting_unjudged_documents(example):
    kept = [(grade, score) for grade, score in zip(example.ranking, example.scores, strict=True) if grade is not None]
    if not kept:
        return
    grades, scores = zip(*kept, strict=True)
    deleted = Example(grades, scores, example.unretrieved)
    for ties in ("trec", "best", "worst", "expected"):
        measures = [m for m in PLAIN if m.promotable and not m.as_retrieved and averaged(m, ties)]
        condensed = scored(example, measures, unjudged="condensed", ties=ties)
        for measure, (found, _, _) in scored(deleted, measures, ties=ties).items():
            assert close(condensed[measure][0], found), (measure, ties)


@LAW
@given(examples())
def test_best_and_worst_ties_are_the_extremes_over_all_orders(example):
    measures = [m for m in PLAIN if m.promotable or type(m).tie_bounds is not rb.Measure.tie_bounds]
    best, worst = (scored(example, measures, ties=ties, bounds="ties") for ties in ("best", "worst"))
    for measure in measures:
        values = [value(example.topic(order), measure) for order in example.orders(example.ranking)]
        pick_best, pick_worst = (min, max) if measure.lower_is_better else (max, min)
        assert close(best[measure][0], pick_best(values)), measure
        assert close(worst[measure][0], pick_worst(values)), measure
        assert close(best[measure][1], min(values)), measure
        assert close(best[measure][2], max(values)), measure


@LAW
@given(examples(group=6, length=8))
def test_expected_ties_is_the_mean_over_all_orders(example):
    orders = list(example.orders(example.ranking))
    for measure, (found, _, _) in scored(example, [m for m in MEASURES if averaged(m)], ties="expected").items():
        values = [value(example.topic(order), measure) for order in orders]
        assert close(found, sum(values) / len(values)), measure


@LAW
@given(examples(), st.sampled_from([0.0, 0.3, 1.0]))
def test_expected_ties_and_expected_judgments_are_the_mean_over_both(example, q):
    measures = [m for m in PLAIN if m.multilinear and not m.as_retrieved and m.name not in NO_MEAN_OVER_BOTH]
    for measure, (found, _, _) in scored(example, measures, ties="expected", unjudged="expected", q=q).items():
        mean = 0.0
        for full in example.completions((0, levels_for(measure, example)[-1])):
            turned = sum(grade is None and new > 0 for grade, new in zip(example.ranking, full, strict=True))
            values = [value(example.topic(order), measure) for order in example.orders(full)]
            mean += q**turned * (1 - q) ** (example.ranking.count(None) - turned) * sum(values) / len(values)
        assert close(found, mean), measure


@settings(LAW, max_examples=40)
@given(examples(holes=2, group=3, length=5))
def test_joint_bounds_are_the_extremes_over_orders_and_judgments(example):
    measures = [m for m in PLAIN if m.promotable and not m.as_retrieved and bounded(m)]
    for measure, (found, low, high) in scored(example, measures, bounds="both").items():
        topics = [
            example.topic(order)
            for full in example.completions(levels_for(measure, example))
            for order in example.orders(full)
        ]
        values = ([found] if measure.judged_only else []) + [value(one, measure) for one in topics]
        most = max([*values, *(greatest(one, measure) for one in topics)])
        if measure.name in OUTER:
            assert math.isnan(low) or low - 1e-9 <= min(values) <= max(values) <= high + 1e-9, measure
            several = len({*filter(None, example.grades), example.largest}) > 1
            assert math.isnan(low) == (several and len(set(example.scores)) < len(example.scores)), measure
            continue
        assert close(low, min(values)), measure
        if measure.name == "nDCG":  # an outer bound when gains are graded
            assert high >= most - 1e-9, measure
        else:
            assert close(high, most), measure


@LAW
@given(examples())
def test_bounds_under_treated_ties_contain_every_completion(example):
    for ties, pick in (("best", max), ("worst", min), ("expected", statistics.mean)):
        measures = [m for m in PLAIN if m.promotable and not m.as_retrieved and bounded(m) and averaged(m, ties)]
        for measure, (_, low, high) in scored(example, measures, ties=ties).items():
            if measure.name in OUTER and math.isnan(low):
                continue
            choose = {max: min, min: max}.get(pick, pick) if measure.lower_is_better else pick
            for full in example.completions(levels_for(measure, example)):
                found = choose(value(example.topic(order), measure) for order in example.orders(full))
                assert low - 1e-9 <= found <= high + 1e-9, (measure, ties)


@LAW
@given(examples(), st.data())
def test_a_further_judgment_never_widens_the_bounds(example, data):
    holes = [at for at, grade in enumerate(example.ranking) if grade is None]
    if not holes:
        return
    ranking = list(example.ranking)  # (grades that the collection has already: others would move its scale)
    ranking[data.draw(st.sampled_from(holes))] = data.draw(st.sampled_from(range(int(example.largest) + 1)))
    judged = replace(example, ranking=tuple(ranking))
    measures = [m for m in PLAIN if not m.as_retrieved and not m.judged_only and bounded(m)]
    before, after = scored(example, measures), scored(judged, measures)
    for measure in measures:
        assert after[measure][1] >= before[measure][1] - 1e-9, measure
        assert after[measure][2] <= before[measure][2] + 1e-9, measure


@LAW
@given(examples(), st.sampled_from([1, 2, 3]))
def test_measures_of_the_list_alone_do_not_read_what_else_is_relevant(example, grade):
    measures = [m for m in PLAIN if m.list_only]
    scaled = replace(example, unretrieved=(*example.unretrieved, 3))  # the largest grade stays the same
    more = replace(scaled, unretrieved=(*scaled.unretrieved, grade))
    before, after = scored(scaled, measures), scored(more, measures)
    for measure in measures:
        assert all(map(close, before[measure], after[measure])), measure


@settings(LAW, max_examples=25)
@given(st.lists(examples(), min_size=1, max_size=4))
def test_lists_are_scored_alone_as_in_a_batch(several):
    scale = {f"x{grade}": grade for grade in range(1, max(example.largest for example in several) + 1)}
    qrels = {f"t{at}": one.qrels["t"] | scale for at, one in enumerate(several)}
    run = {f"t{at}": one.run["t"] for at, one in enumerate(several)}
    for ties in ("trec", "best", "worst", "expected"):
        measures = [m for m in MEASURES if (m.promotable or ties in ("trec", "expected")) and averaged(m, ties)]
        together = rb.evaluate(qrels, run, measures, ties=ties)
        for at in range(len(several)):
            one = rb.evaluate({"t": qrels[f"t{at}"]}, {"t": run[f"t{at}"]}, measures, ties=ties)
            for found, expected in (
                (together.value[0, at], one.value[0, 0]),
                (together.low[0, at], one.low[0, 0]),
                (together.high[0, at], one.high[0, 0]),
            ):
                assert all(close(a, b) or (a != a and b != b) for a, b in zip(found, expected, strict=True)), ties
