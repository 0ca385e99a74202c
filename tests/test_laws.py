"""Laws that every registered measure and its condensed form obey, on random small topics with ties, holes and grades.

The oracle is ``plain.py`` with full enumeration: of all judgments the unjudged documents may get, and of all orders of
tied documents. Bounds must be attained where nothing is said of them, and hold where they are said to be outer.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankbounds as rb
from plain import BY_SUBTOPIC, DEFINITIONS, OF_PREFERENCES, OF_SAMPLES, Topic, greatest, value, value_and_greatest
from rankbounds.columns import native
from rankbounds.measures import REGISTRY, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.facts import Facts
from rankbounds.measures.formulas import IdealRatio

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
LAW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])

PLAIN = [parse_measure(example) for kind in REGISTRY.values() for example in kind.examples]
MEASURES = [*PLAIN, *map(Condensed, PLAIN)]
STOPPING_BY_GAIN = {"IFT_C1", "IFT_C2", "IFT", "BPM"}
NEARLY_ERR = {"NERR8", "NERR9", "NERR10", "NERR11"}
BY_STEPS = {
    "RBP2",
    "INST",
    "TBG",
    *NEARLY_ERR,
    *STOPPING_BY_GAIN,
}  # the next step depends on what was found so far
NO_MEAN_OVER_TIES = {
    *BY_STEPS,
    *OF_SAMPLES,
    *OF_PREFERENCES,
    "GMAP",
    "GMBpref",
    "YAAP",
    "infAP",
    "BinG",
    "G",
    "nDCG_rel",
    "RnDCG",
}
NO_MEAN_OVER_BOTH = NO_MEAN_OVER_TIES | {"RRn", "ESL", "Shaw", "RecallAll", "RankPower"}
# The best order for one subtopic, or judgment group, may be bad for another.
NO_EXTREMES_OVER_TIES = {"infAP", "G", "nDCG_rel", "RnDCG", *BY_SUBTOPIC, *STOPPING_BY_GAIN, *OF_SAMPLES}
NO_EXTREMES_OVER_TIES |= {*OF_PREFERENCES, "AP_JG", "P_JG", "RPrec_JG"}
UNBOUNDED = {  # no bounds are known, and none are given
    *("infAP", "G", "nDCG_rel", "RnDCG"),
    *("alpha_nDCG", "nERR_IA", "nNRBP"),
    *OF_SAMPLES,
    *OF_PREFERENCES,
}
OUTER = {"Q", "Compatibility", "Rpref_N", *STOPPING_BY_GAIN}  # bounds that hold, but may be wider than needed
COUNTED = {
    "P",
    "Recall",
    "RecallAll",
    "F",
    "Shaw",
    "RPrec",
    "Success",
    "Judged",
    "Unjudged",
    "NumRet",
    "NumRel",
    "NumRelRet",
}
COUNTED |= {"NumQ", "NumNonRelRet", "Hits", "SetP", "RelP", "SetAP"}

WHOLE = (0, 0, 1, 1, 2, 3)
FRACTIONS = (0, 0, 0.25, 0.5, 1, 1)
SCALES = (
    (WHOLE, {}),
    (FRACTIONS, {}),
    (WHOLE, {1: 1, 2: 3, 3: 7}),
    (WHOLE, {0: 0.5, 1: 1, 2: 2, 3: 2.5}),
    (WHOLE, {0: 1, 1: 1, 2: 4}),
    (WHOLE, {1: 0.25, 2: 0.5, 3: 0.75}),
)
"""Grades to draw from, and what they gain where that is not the grade."""


def plain(measure):
    return getattr(measure, "measure", measure)


def bounded(measure) -> bool:
    return plain(measure).name not in UNBOUNDED


def averaged(measure, ties: str = "expected") -> bool:
    """Is the mean over orders known, where the treatment of ties asks for it?"""
    return ties != "expected" or plain(measure).name not in NO_MEAN_OVER_TIES


def extreme(measure, ties: str = "best") -> bool:
    """Are the best and the worst order known, where the treatment of ties asks for it?"""
    return ties not in ("best", "worst") or plain(measure).name not in NO_EXTREMES_OVER_TIES


@dataclass(frozen=True)
class Example:
    """Documents in trec order (score down, id down) with equal scores forming groups, and unretrieved judgments."""

    ranking: tuple[float | None, ...]
    scores: tuple[int, ...]
    unretrieved: tuple[float, ...]
    table: dict[float, float] = field(default_factory=dict)

    @property
    def qrels(self):
        judged = {f"d{99 - at:02d}": grade for at, grade in enumerate(self.ranking) if grade is not None}
        return {"t": judged | self.topic_unretrieved}

    @property
    def topic_unretrieved(self):
        return {f"u{at}": grade for at, grade in enumerate(self.unretrieved)}

    @property
    def run(self):
        return {"t": {f"d{99 - at:02d}": score for at, score in enumerate(self.scores)}}

    @property
    def grades(self):
        return [grade for grade in (*self.ranking, *self.unretrieved) if grade is not None]

    def gain(self, grade: float) -> float:
        return self.table.get(grade, grade)

    @property
    def rule(self) -> str:
        return ",".join(f"{grade}={gain}" for grade, gain in self.table.items()) or "linear"

    @property
    def possible(self) -> list[float]:
        """The grades that a document may have, by rising gain."""
        return sorted({0, 1, *self.grades, *self.table}, key=self.gain)

    @property
    def largest(self) -> float:
        return self.gain(self.possible[-1])

    def topic(self, ranking=None) -> Topic:
        """As judged; or with other grades in the ranking, which then belong to the topic's judgments too."""
        chosen = list(self.ranking if ranking is None else ranking)
        judged = [grade for grade in chosen if grade is not None] + list(self.unretrieved)
        return Topic(chosen, judged, self.largest, self.table)

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
def examples(draw, holes=3, group=4, length=6, scales=((WHOLE, {}),)):
    grades, table = draw(st.sampled_from(scales))
    grade = st.sampled_from(grades)
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
    return Example(tuple(ranking), tuple(scores), tuple(unretrieved), table)


varied = functools.partial(examples, scales=SCALES)


def untied(example: Example) -> Example:
    return replace(example, scores=tuple(range(100, 100 - len(example.ranking), -1)))


def fitting(example: Example, measures):
    """The measures whose scale holds the example's gains."""
    several = map(parse_measure, measures)
    return [m for m in several if (getattr(plain(m), "max_grade", None) or example.largest) >= example.largest]


def in_turns(qrels, run, measures, **options) -> rb.Scores:
    """By the compiled kernel, where it was built, or by NumPy alone: lists of odd and of even length take turns."""
    by_kernel = native.built is not None and sum(map(len, run.values())) % 2
    with native.switched("kernel" if by_kernel else "NumPy"):
        return rb.evaluate(qrels, run, measures, **options)


def evaluated(example: Example, measures=None, **options) -> rb.Scores:
    options = {"gain": example.rule, **options}
    return in_turns(example.qrels, example.run, fitting(example, measures or MEASURES), **options)


def by_measure(scores: rb.Scores):
    numbers = zip(scores.value[0, 0], scores.low[0, 0], scores.high[0, 0], strict=True)
    return dict(zip(scores.measures, numbers, strict=True))


def scored(example: Example, measures=None, **options):
    return by_measure(evaluated(example, measures, **options))


def levels_for(measure, example: Example):
    """The grades to complete with: all of them for graded measures, not relevant and relevant for binary ones."""
    chosen = plain(measure)
    if not chosen.graded:
        return 0, max(*example.grades, 1, chosen.rel)
    if getattr(chosen, "by_topic", False):
        top = max([1, *map(example.gain, example.topic().judged)])
        return [grade for grade in example.possible if example.gain(grade) <= top]
    largest = getattr(chosen, "max_grade", None) or 0
    return [*example.possible, *([largest] if largest > example.largest else [])]


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def extremes_over(topics, measure):
    """The least value and the greatest there can be."""
    values, most = zip(*(value_and_greatest(topic, measure) for topic in topics), strict=True)
    return min(values), max(most)


def assert_bounds(low, high, least, most, why, *, outer: bool):
    """Bounds hold; and are attained, unless they are said to be outer."""
    assert low <= least + 1e-9, why
    assert high >= most - 1e-9, why
    if not outer:
        assert close(low, least), why
        assert close(high, most), why


def test_every_measure_has_a_plain_definition_and_an_example():
    assert set(DEFINITIONS) == set(REGISTRY)
    assert all(kind.examples for kind in REGISTRY.values())
    assert {kind.name for kind in REGISTRY.values() if kind.exactness == "unknown"} == UNBOUNDED
    assert {kind.name for kind in REGISTRY.values() if kind.exactness == "outer"} == OUTER


FORMULAS = {
    *("value", "weights", "divisor", "over", "growth", "worth", "documents_read", "estimate"),
    *("continuation", "going_on", "unsatisfied", "limit_and_divisor", "scale", "divisor_at"),
    *("of_subtopic", "combined", "inner", "recalls"),
}
"""What base classes ask of a measure: the part of the formula that is its own."""


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=lambda kind: kind.name)
def test_every_class_has_its_formula(kind):
    assert FORMULAS & vars(kind).keys(), f"{kind.name}: nobody who opens {kind.__module__} sees how it is computed"


@LAW
@given(varied())
def test_formulas_written_out_are_what_is_derived(example):
    """nDCG spells out what ``IdealRatio`` computes for any weights; to the last bit, its bounds being derived."""
    measures = fitting(example, rb.nDCG.examples)
    written = evaluated(example, measures, bounds="none").value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rb.nDCG, "value", IdealRatio.value)
        assert np.array_equal(evaluated(example, measures, bounds="none").value, written)


@pytest.mark.parametrize("measure", PLAIN, ids=str)
def test_a_condensed_measure_has_the_facts_of_the_plain_one(measure):
    its_own = {"judged_only", "has_residual", "examples", "trec_names"}
    condensed = Condensed(measure)
    for fact in (Facts.__annotations__.keys() - its_own) | {"rel", "cutoff", "graded", "parameters"}:
        assert getattr(condensed, fact) == getattr(measure, fact), fact


@LAW
@given(varied())
def test_value_is_the_plain_definition(example):
    for measure, (found, _, _) in scored(example).items():
        assert close(found, value(example.topic(), measure)), measure


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=30).filter(any), min_size=1, max_size=4))
def test_the_ideal_ranking_scores_1_to_the_last_bit(topics):
    qrels = {str(topic): {f"d{at}": grade for at, grade in enumerate(grades)} for topic, grades in enumerate(topics)}
    measures = ["nDCG", "nDCG@5", "nDCG(gain=exp)", "nDCG(base=2)@10"]
    assert (rb.evaluate(qrels, qrels, measures, bounds="none").value == 1).all()


@LAW
@given(varied(), st.sampled_from(["double", "single"]), st.sampled_from(["trec", "docid", "key"]), st.randoms())
def test_value_follows_the_order_of_ties_and_the_precision_of_scores(example, precision, ties, random):
    documents = [f"d{at}" for at in range(len(example.ranking))]
    random.shuffle(documents)
    key = {document: random.randrange(3) for document in documents}
    score = {d: one + random.randrange(2) * 1e-9 for d, one in zip(documents, example.scores, strict=True)}
    shown = {d: float(np.float32(one)) if precision == "single" else one for d, one in score.items()}
    grade = dict(zip(documents, example.ranking, strict=True))
    ranked = sorted(documents, reverse=ties != "docid")
    if ties == "key":
        ranked.sort(key=key.__getitem__)
    ranked.sort(key=shown.__getitem__, reverse=True)
    qrels = {"t": {d: one for d, one in grade.items() if one is not None} | example.topic_unretrieved}
    options = {"ties": ties, "score_precision": precision, "gain": example.rule}
    options |= {"ties_key": key} if ties == "key" else {}
    scores = in_turns(qrels, {"t": score}, fitting(example, MEASURES), **options)
    for measure, found in zip(scores.measures, scores.value[0, 0], strict=True):
        assert close(found, value(example.topic([grade[d] for d in ranked]), measure)), measure


@LAW
@given(varied())
def test_bounds_are_the_extremes_over_all_judgments(example):
    scores = evaluated(untied(example))

    @functools.cache
    def extremes(chosen):
        if chosen.as_retrieved:
            return (value(example.topic(), chosen),) * 2
        topics = [example.topic(full) for full in example.completions(levels_for(chosen, example))]
        return extremes_over(topics, chosen)

    for measure, (found, low, high) in by_measure(scores).items():
        chosen = plain(measure)
        if not bounded(measure):
            assert math.isnan(low), measure
            assert math.isnan(high), measure
            continue
        least, most = extremes(chosen)
        if measure.judged_only:  # what full judgments could give, and the value itself
            least, most = min(least, found), max(most, found)
        assert_bounds(low, high, least, most, measure, outer=measure in scores.outer)
    assert set(scores.outer) == {measure for measure in scores.measures if plain(measure).name in OUTER}


def assert_values_within_bounds(scores: rb.Scores):
    """To the last bit, of topics and of their means."""
    for one in (scores, scores.mean()):
        outside = (one.low > one.value) | (one.high < one.value)
        assert not outside.any(), [str(scores.measures[at]) for at in np.unique(np.nonzero(outside)[2])]
        assert (np.isnan(one.low) == np.isnan(one.high)).all()


@pytest.mark.parametrize("unjudged", ["nonrelevant", "relevant", "condensed"])
@pytest.mark.parametrize("bounds", ["unjudged", "ties", "both"])
@pytest.mark.parametrize("way", ["kernel", "NumPy"])
def test_value_lies_within_its_bounds(unjudged, bounds, way):
    """Lists so long that sums in another order round otherwise."""
    if way == "kernel" and native.built is None:
        pytest.skip("the kernel was not built")
    rng = np.random.default_rng(7)
    documents = [f"d{at:02d}" for at in range(35)]
    qrels = {t: dict(zip(documents, rng.integers(-1, 4, 35).tolist(), strict=True)) for t in "abcdefghijkl"}
    run = {t: {d: int(rng.integers(20)) for d in rng.permutation(documents)[:25].tolist()} for t in qrels}
    for ties in ("trec", "best", "expected"):
        measures = [m for m in MEASURES if averaged(m, ties) and extreme(m, ties)]
        measures = [m for m in measures if not m.judged_only or unjudged != "relevant"]
        with native.switched(way):
            assert_values_within_bounds(rb.evaluate(qrels, run, measures, ties=ties, unjudged=unjudged, bounds=bounds))


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("unjudged", ["relevant", "expected"])
def test_a_rule_that_would_change_nothing_is_refused(measure, unjudged):
    """A measure that drops unjudged documents takes no rule that lets them count."""
    options = {"unjudged": unjudged} | ({"q": 0.5} if unjudged == "expected" else {})
    problem = None
    if measure.judged_only:
        problem = f'ignores unjudged documents by definition, so unjudged="{unjudged}" would change nothing'
    elif unjudged == "expected" and not (measure.multilinear or measure.as_retrieved):
        problem = "no exact expected value"
    assert measure.judged_only == (isinstance(measure, Condensed) or "pref" in measure.name.lower())
    with pytest.raises(rb.UsageError, match=problem) if problem else nullcontext():
        evaluated(Example((1, None, 0), (3, 2, 1), (1,)), [measure], **options)


@LAW
@given(varied())
def test_counting_unjudged_as_relevant_is_judging_them_so(example):
    measures = [m for m in PLAIN if not m.judged_only]
    for measure, (found, _, _) in scored(example, measures, unjudged="relevant").items():
        most = levels_for(measure, example)[-1]
        full = [most if grade is None else grade for grade in example.ranking]
        if not measure.as_retrieved:
            assert close(found, value(example.topic(full), measure)), measure


@LAW
@given(varied(), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_expected_is_the_mean_over_independent_judgments(example, q):
    measures = [m for m in PLAIN if m.multilinear]
    holes = example.ranking.count(None)
    for measure, (found, _, _) in scored(example, measures, unjudged="expected", q=q).items():
        mean, most = 0.0, levels_for(measure, example)[-1]
        for turned in itertools.product((0, 1), repeat=holes):
            chances = iter(turned)
            full = [most * next(chances) if grade is None else grade for grade in example.ranking]
            mean += q ** sum(turned) * (1 - q) ** (holes - sum(turned)) * value(example.topic(full), measure)
        assert close(found, mean), measure


@LAW
@given(varied())
def test_condensed_is_deleting_unjudged_documents(example):
    kept = [(grade, score) for grade, score in zip(example.ranking, example.scores, strict=True) if grade is not None]
    if not kept:
        return
    grades, scores = zip(*kept, strict=True)
    deleted = Example(grades, scores, example.unretrieved, example.table)
    for ties in ("trec", "best", "worst", "expected"):
        measures = [m for m in PLAIN if not m.as_retrieved and averaged(m, ties) and extreme(m, ties)]
        condensed = scored(example, measures, unjudged="condensed", ties=ties)
        for measure, (found, _, _) in scored(deleted, measures, ties=ties).items():
            assert close(condensed[measure][0], found), (measure, ties)


@LAW
@given(varied())
def test_best_and_worst_ties_are_the_extremes_over_all_orders(example):
    measures = list(filter(extreme, MEASURES))
    best, worst = (scored(example, measures, ties=ties, bounds="ties") for ties in ("best", "worst"))
    for measure in best:
        values = [value(example.topic(order), measure) for order in example.orders(example.ranking)]
        pick_best, pick_worst = (min, max) if plain(measure).lower_is_better else (max, min)
        assert close(best[measure][0], pick_best(values)), measure
        assert close(worst[measure][0], pick_worst(values)), measure
        assert close(best[measure][1], min(values)), measure
        assert close(best[measure][2], max(values)), measure


@LAW
@given(varied(group=6, length=7))
def test_expected_ties_is_the_mean_over_all_orders(example):
    orders = list(example.orders(example.ranking))
    for measure, (found, _, _) in scored(example, filter(averaged, MEASURES), ties="expected").items():
        values = [value(example.topic(order), measure) for order in orders]
        assert close(found, sum(values) / len(values)), measure


@LAW
@given(varied(), st.sampled_from([0.0, 0.3, 1.0]))
def test_expected_ties_and_expected_judgments_are_the_mean_over_both(example, q):
    measures = [m for m in PLAIN if m.multilinear and not m.as_retrieved and m.name not in NO_MEAN_OVER_BOTH]
    holes = example.ranking.count(None)
    for measure, (found, _, _) in scored(example, measures, ties="expected", unjudged="expected", q=q).items():
        mean, most = 0.0, levels_for(measure, example)[-1]
        for turned in itertools.product((0, 1), repeat=holes):
            chances = iter(turned)
            full = [most * next(chances) if grade is None else grade for grade in example.ranking]
            values = [value(example.topic(order), measure) for order in example.orders(full)]
            mean += q ** sum(turned) * (1 - q) ** (holes - sum(turned)) * sum(values) / len(values)
        assert close(found, mean), measure


@settings(LAW, max_examples=30)
@given(varied(holes=2, group=3, length=5))
def test_joint_bounds_are_the_extremes_over_orders_and_judgments(example):
    scores = evaluated(example, filter(bounded, MEASURES), bounds="both")

    @functools.cache
    def extremes(chosen):
        levels = [None] if chosen.as_retrieved else levels_for(chosen, example)
        orders = [example.topic(order) for full in example.completions(levels) for order in example.orders(full)]
        return extremes_over(orders, chosen)

    for measure, (found, low, high) in by_measure(scores).items():
        chosen = plain(measure)
        if math.isnan(low):  # nothing is known, and nothing is said
            assert math.isnan(high), measure
            assert chosen.name == "Q" or not chosen.promotable, measure
            continue
        least, most = extremes(chosen)
        if measure.judged_only:
            least, most = min(least, found), max(most, found)
        assert_bounds(low, high, least, most, measure, outer=measure in scores.outer)


@settings(LAW, max_examples=30)
@given(varied(holes=2, group=3, length=5))
def test_bounds_under_treated_ties_contain_every_completion(example):
    @functools.cache
    def scored_orders(chosen):
        """For each completion the value, and the greatest there can be, of every order."""
        levels = [None] if chosen.as_retrieved else levels_for(chosen, example)
        several = (map(example.topic, example.orders(full)) for full in example.completions(levels))
        return [tuple(zip(*(value_and_greatest(topic, chosen) for topic in topics), strict=True)) for topics in several]

    for ties, pick in (("best", max), ("worst", min), ("expected", statistics.fmean)):
        measures = [m for m in MEASURES if bounded(m) and averaged(m, ties) and extreme(m, ties)]
        scores = evaluated(example, measures, ties=ties)
        for measure, (found, low, high) in by_measure(scores).items():
            chosen = plain(measure)
            if math.isnan(low):
                assert chosen.name == "Q" or not chosen.promotable, measure
                continue
            choose = {max: min, min: max}.get(pick, pick) if chosen.lower_is_better else pick
            least, most = ([found], [found]) if measure.judged_only else ([], [])
            for values, greatest_values in scored_orders(chosen):
                least.append(choose(values))
                most.append(choose(greatest_values))
            assert_bounds(low, high, min(least), max(most), (measure, ties), outer=measure in scores.outer)


@LAW
@given(varied(), st.data())
def test_a_further_judgment_never_widens_the_bounds(example, data):
    holes = [at for at, grade in enumerate(example.ranking) if grade is None]
    if not holes:
        return
    ranking = list(example.ranking)  # (grades that the collection has already: others would move its scale)
    seen = sorted({0, *example.grades})
    ranking[data.draw(st.sampled_from(holes))] = data.draw(st.sampled_from(seen))
    judged = replace(example, ranking=tuple(ranking))
    measures = [m for m in PLAIN if not m.as_retrieved and not m.judged_only and bounded(m)]
    before, after = scored(example, measures), scored(judged, measures)
    for measure in before:
        assert after[measure][1] >= before[measure][1] - 1e-9, measure
        assert after[measure][2] <= before[measure][2] + 1e-9, measure


@LAW
@given(varied(), st.sampled_from([1, 2, 3]))
def test_measures_of_the_list_alone_do_not_read_what_else_is_relevant(example, grade):
    measures = [m for m in PLAIN if m.list_only and not getattr(m, "by_topic", False)]
    scaled = replace(example, unretrieved=(*example.unretrieved, 1, 2, 3))  # the scale stays the same
    more = replace(scaled, unretrieved=(*scaled.unretrieved, grade))
    before, after = scored(scaled, measures), scored(more, measures)
    for measure in before:
        assert all(map(close, before[measure], after[measure])), measure


@LAW
@given(varied(), st.sampled_from([1, 2, 3]))
def test_relevant_documents_outside_the_list_do_what_a_measure_states(example, grade):
    more = replace(example, unretrieved=(*example.unretrieved, grade))
    for measure in PLAIN:
        if measure.outside != "either" and more.largest == example.largest:
            before, after = (value(one.topic(), measure) for one in (example, more))
            sign = (1 if measure.outside == "raises" else -1) * (-1 if measure.lower_is_better else 1)
            assert sign * after >= sign * before - 1e-12 or before == after, measure
        if measure.topic_only:
            judged = replace(example, ranking=tuple(grade or 0 for grade in example.ranking))
            empty = replace(example, ranking=(), scores=(), unretrieved=tuple(judged.grades))
            assert math.isclose(value(empty.topic(), measure), value(judged.topic(), measure)), measure


@settings(LAW, max_examples=10)
@given(
    st.sampled_from(SCALES).flatmap(lambda scale: st.lists(examples(scales=(scale,)), min_size=1, max_size=3)),
    st.sampled_from(["trec", "best", "worst", "expected"]),
)
def test_lists_are_scored_alone_as_in_a_batch(several, ties):
    rule = several[0].rule
    scale = {f"x{grade}": grade for grade in (1, 2, 3)}
    qrels = {f"t{at}": one.qrels["t"] | scale for at, one in enumerate(several)}
    run = {f"t{at}": one.run["t"] for at, one in enumerate(several)}
    measures = [m for m in MEASURES if averaged(m, ties) and extreme(m, ties)]
    measures = [m for m in measures if getattr(plain(m), "max_grade", None) is None]
    together = rb.evaluate(qrels, run, measures, ties=ties, gain=rule)
    with native.switched("NumPy"):
        by_numpy = rb.evaluate(qrels, run, measures, ties=ties, gain=rule)
    for name in ("value", "low", "high", "judged"):
        assert getattr(together, name).tobytes() == getattr(by_numpy, name).tobytes(), name
    for at in range(len(several)):
        one = rb.evaluate({"t": qrels[f"t{at}"]}, {"t": run[f"t{at}"]}, measures, ties=ties, gain=rule)
        for found, expected in (
            (together.value[0, at], one.value[0, 0]),
            (together.low[0, at], one.low[0, 0]),
            (together.high[0, at], one.high[0, 0]),
        ):
            for measure, a, b in zip(measures, found, expected, strict=True):
                same = a == b if plain(measure).name in COUNTED else close(a, b)
                assert same or (a != a and b != b), (measure, ties)


@LAW
@given(varied(), st.lists(st.sampled_from(WHOLE), min_size=1, max_size=3))
def test_a_topic_that_the_run_lacks_scores_as_an_empty_list(example, judged):
    qrels = {**example.qrels, "lacking": {f"x{at}": grade for at, grade in enumerate(judged)}}
    graded = replace(example, unretrieved=(*example.unretrieved, *judged))
    measures = fitting(graded, MEASURES)
    scores = in_turns(qrels, example.run, measures, gain=example.rule)
    topic = Topic([], list(judged), graded.largest, example.table)
    at = scores.query_ids.index("lacking")
    for number, measure in enumerate(measures):
        assert close(scores.value[0, at, number], value(topic, measure)), measure
        if bounded(measure):
            assert close(scores.low[0, at, number], value(topic, measure)), measure
            assert close(scores.high[0, at, number], greatest(topic, measure)), measure


@LAW
@given(st.lists(st.sampled_from([0, 0, 1]), min_size=2, max_size=12), st.randoms())
def test_equal_counts_are_equal_to_the_last_bit_wherever_documents_stand(grades, random):
    """Orders of the same documents have the same precision and recall at their number, and so on."""
    measures = [f"P@{len(grades)}", f"Recall@{len(grades)}", f"F(beta=0.3)@{len(grades)}", f"Shaw@{len(grades)}", "F"]
    shuffled = random.sample(grades, len(grades))
    runs = [untied(Example(tuple(one), tuple(one), (1, 1))) for one in (grades, shuffled)]
    for ties in ("trec", "expected"):
        first, second = (scored(run, map(parse_measure, measures), ties=ties) for run in runs)
        assert [one[0] for one in first.values()] == [one[0] for one in second.values()]


@LAW
@given(varied())
def test_values_and_bounds_lie_within_the_range_that_a_measure_states(example):
    for measure, numbers in scored(example).items():
        least, most = measure.value_range
        known = [number for number in numbers if not math.isnan(number)]
        assert all(least - 1e-9 <= number <= most + 1e-9 for number in known), (measure, known)
