"""Bounds that cover relevant documents nobody retrieved, against worlds written out one by one.

A world gives every retrieved unjudged document a grade, and adds documents that the list lacks and nobody judged: of
any grade, relevant ones as long as there are no more than ``most_relevant`` relevant documents in all, others in any
number. The oracle is ``plain.py``, which shares no code with the package.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest

import rankbounds as rb
from plain import DEFINITIONS, Topic, greatest, value
from rankbounds.cli import main
from rankbounds.comparison import Evidence
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import difference_bounds
from rankbounds.measures import REGISTRY, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.precision.average_precision import AP

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")

MEASURES = [
    measure
    for kind in REGISTRY.values()
    for example in kind.examples
    for measure in [parse_measure(example)]
    if (measure.list_only or measure.as_retrieved or measure.collection_exactness != "unknown")
    and measure.exactness != "unknown"
    and measure.name in DEFINITIONS
    and not measure.reads_judgments
    and not getattr(measure, "by_topic", False)
    and getattr(measure, "max_grade", None) is None
]
SCALES = (
    ((0, 0, 1), {}),
    ((0, 1, 2), {}),
    ((0, 0.5, 1), {}),
    ((0, 1, 2), {1: 1, 2: 3}),
    ((0, 1, 2), {0: 0.5, 1: 1, 2: 2}),
    ((0, 1, 2), {1: 0.25, 2: 0.5}),
)
NO_MEAN_OVER_TIES = {"GMAP", "GMBpref", "YAAP"}
PENALISED = ("Bpref", "Rpref_N")
"""Further documents that are not relevant loosen the penalty."""
ENDLESS = 3000
"""So many more relevant documents stand for any number of them."""


@dataclass(frozen=True)
class Case:
    ranking: tuple[float | None, ...]
    unretrieved: tuple[float, ...]
    grades: tuple[float, ...]
    table: dict[float, float] = field(default_factory=dict)

    @classmethod
    def drawn(cls, rng: random.Random) -> Case:
        grades, table = rng.choice(SCALES)
        ranking = [rng.choice(grades) for _ in range(rng.randint(1, 6))]
        for at in rng.sample(range(len(ranking)), min(len(ranking), rng.randint(0, 3))):
            ranking[at] = None
        return cls(tuple(ranking), (*(rng.choice(grades) for _ in range(rng.randint(0, 3))), 0), grades, table)

    @property
    def qrels(self):
        judged = {f"d{at}": grade for at, grade in enumerate(self.ranking) if grade is not None}
        # A second topic holds the scale's largest grade, so that gains are the same whatever the first one holds.
        return {
            "t": judged | {f"u{at}": grade for at, grade in enumerate(self.unretrieved)},
            "scale": {"s": max(self.grades)},
        }

    @property
    def run(self):
        return {"t": [f"d{at}" for at in range(len(self.ranking))], "scale": ["s"]}

    @property
    def rule(self) -> str:
        return ",".join(f"{grade}={gain}" for grade, gain in self.table.items()) or "linear"

    def gain(self, grade: float) -> float:
        return self.table.get(grade, grade)

    def counts_as_relevant(self, measure, grade: float) -> bool:
        plain = getattr(measure, "measure", measure)
        return self.gain(grade) > self.gain(0) if plain.graded else grade >= plain.rel

    def worlds(self, measure, most_relevant: int, others: int = 2):
        """All worlds, each document that the list lacks of any grade; ``others``: up to so many that do not count."""
        plain = getattr(measure, "measure", measure)
        levels = sorted({*self.grades, 1} if plain.graded else {*self.grades, 1, plain.rel})
        largest = max(map(self.gain, (1, *self.grades, *self.table)))
        holes = [at for at, grade in enumerate(self.ranking) if grade is None]
        relevant_levels = [grade for grade in levels if self.counts_as_relevant(measure, grade)]
        other_levels = [grade for grade in levels if not self.counts_as_relevant(measure, grade)]
        for grades in itertools.product(levels, repeat=len(holes)):
            full = list(self.ranking)
            for at, grade in zip(holes, grades, strict=True):
                full[at] = grade
            judged = [*full, *self.unretrieved]
            room = max(0, most_relevant - sum(self.counts_as_relevant(measure, grade) for grade in judged))
            for number in range(room + 1):
                for more in itertools.combinations_with_replacement(relevant_levels, number):
                    for rest in range(others + 1):
                        for beside in itertools.combinations_with_replacement(other_levels, rest):
                            yield Topic(full, [*judged, *more, *beside], largest, self.table)

    def scores(self, measures, **options):
        scores = rb.evaluate(self.qrels, self.run, measures, gain=self.rule, **options).topic("t")
        numbers = zip(scores.value[0, 0], scores.low[0, 0], scores.high[0, 0], strict=True)
        return dict(zip(measures, numbers, strict=True)), scores.outer


def unlimited_others(case: Case, measure) -> bool:
    """Do documents that are not relevant gain something, so that nDCG, Q and rpref depend on how many there are?"""
    return case.gain(0) > 0 and measure.name.startswith(("nDCG", "Q", "Rpref"))


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_those_of_all_worlds(seed):
    rng = random.Random(seed)
    case = Case.drawn(rng)
    most_relevant = rng.randint(1, 6)
    found, outer = case.scores(MEASURES, open="collection", most_relevant=most_relevant)
    for measure, (as_judged, low, high) in found.items():
        if measure.as_retrieved:
            continue
        topics = list(case.worlds(measure, most_relevant, others=2 if measure.name.startswith(PENALISED) else 0))
        least, most = min(value(topic, measure) for topic in topics), max(greatest(topic, measure) for topic in topics)
        if measure.judged_only:  # the list that is scored lacks documents, and no judged one may score the same
            least, most = min(least, as_judged), max(most, as_judged)
        why = (case, most_relevant, str(measure))
        assert low <= least + 1e-9, why
        assert high >= most - 1e-9, why
        if measure not in outer and not unlimited_others(case, measure) and not case.counts_as_relevant(measure, 0):
            assert math.isclose(low, least, abs_tol=1e-9), why
            assert math.isclose(high, most, abs_tol=1e-9), why


@pytest.mark.parametrize("seed", range(30, 38))
def test_without_a_limit_bounds_hold_whatever_exists_and_are_approached(seed):
    case = Case.drawn(random.Random(seed))
    found, outer = case.scores(MEASURES, open="collection")
    top = max(case.grades, key=case.gain)
    for measure, (_, low, high) in found.items():
        if measure.as_retrieved or getattr(measure, "collection", None) is not None:
            continue
        few = list(case.worlds(measure, 0, others=0))
        topics = [
            Topic(topic.ranking, [*topic.judged, *([max(top, measure.rel)] * number)], topic.largest, topic.table)
            for topic in few
            for number in (0, 1, 2, 12, ENDLESS)
        ]
        values = [value(topic, measure) for topic in topics]
        why = (case, str(measure))
        assert low <= min(values) + 1e-9, why
        if measure.name == "NumRel":
            assert high == math.inf, why
            continue
        assert high >= max(greatest(topic, measure) for topic in topics) - 1e-9, why
        if measure.vanishes:
            assert low == 0.0, why
            if measure.name != "nDCG":  # whose weights fall so slowly that more documents would be needed
                assert min(values) < 0.01, why
        elif measure.name in ("GMAP", "YAAP"):  # logarithms, which have far to go
            assert low <= math.log(1e-5) + 1e-9, why
        elif measure not in outer and not unlimited_others(case, measure):
            assert math.isclose(low, min(values), abs_tol=1e-9), why


@pytest.mark.parametrize("limit", [{}, {"most_relevant": 3}], ids=str)
def test_a_list_without_documents_has_bounds(limit):
    """Nothing is found in it, however many documents exist."""
    qrels, run = {"found": {"a": 1}, "lacking": {"b": 1, "c": 0}}, {"found": ["a"]}
    scores = rb.evaluate(qrels, run, MEASURES, open="collection", **limit).topic("lacking")
    assert not np.isnan(scores.low).any()
    at = scores.measures.index(parse_measure("SetAP"))
    assert scores.value[0, 0, at] == scores.low[0, 0, at] == scores.high[0, 0, at] == 0


@pytest.mark.parametrize("ties", ["best", "worst", "expected"])
@pytest.mark.parametrize("bounds", ["unjudged", "both"])
def test_bounds_over_treated_ties_allow_for_documents_elsewhere(ties, bounds):
    """All is judged, and any order of b and c gives the same value: what exists elsewhere is all that is open."""
    qrels, run = {"t": {"a": 1, "b": 0, "c": 0}}, {"t": {"a": 2, "b": 1, "c": 1}}
    measures = ["AP", "Recall@2", "IPrec(recall=1)", "nDCG"]
    options = {"ties": ties, "bounds": bounds, "open": "collection"}
    scores = rb.evaluate(qrels, run, measures, **options)
    assert (scores.value == 1).all()
    assert (scores.low == 0).all()
    limited = rb.evaluate(qrels, run, measures[:2], **options, most_relevant=5)
    assert limited.low.ravel() == pytest.approx([0.2, 0.2])


def rank_weight(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def test_ndcg_to_a_depth_is_at_least_what_it_is_against_a_full_ideal():
    qrels, run = {"t": {"a": 2, "b": 0, "c": 1}}, {"t": ["c", "b", "a"]}
    scores = rb.evaluate(qrels, run, ["nDCG@3", "nDCG@10"], open="collection")
    gained = rank_weight(1) * 1 + rank_weight(3) * 2
    for at, depth in enumerate((3, 10)):
        assert scores.low[0, 0, at] == pytest.approx(gained / (2 * sum(map(rank_weight, range(1, depth + 1)))))
    assert np.array_equal(scores.high, rb.evaluate(qrels, run, ["nDCG@3", "nDCG@10"]).high)


@pytest.mark.parametrize("ties", ["trec", "best", "expected"])
@pytest.mark.parametrize("bounds", ["unjudged", "both"])
def test_more_that_may_exist_never_narrows_bounds(ties, bounds):
    rng = random.Random(f"{ties} {bounds}")
    measures = [
        measure
        for measure in [*MEASURES, *(Condensed(parse_measure(name)) for name in ("AP", "nDCG@3", "RR"))]
        if (ties == "trec" or not measure.list_only)  # of the others not all know a best or a mean order
        and (ties != "expected" or measure.name not in NO_MEAN_OVER_TIES)
    ]
    for _ in range(3):
        case = Case.drawn(rng)
        score = {f"d{at}": rng.randint(1, 3) for at in range(len(case.ranking))}
        before = None
        for options in (
            {},
            *({"open": "collection", "most_relevant": most} for most in (1, 2, 3, 5, 9, 50)),
            {"open": "collection"},
        ):
            scores = rb.evaluate(
                case.qrels, {"t": score}, measures, gain=case.rule, ties=ties, bounds=bounds, topics="shared", **options
            )
            if before is not None:
                changed = np.isnan(before.low) != np.isnan(scores.low)
                assert (before.low == before.high)[changed].all()  # settled among the retrieved, whatever ties do
                assert not (scores.low > before.low + 1e-12).any(), (case, options)
                assert not (scores.high < before.high - 1e-12).any(), (case, options)
            assert np.array_equal(scores.value, (before or scores).value, equal_nan=True)
            before = scores


def test_joint_bounds_hold_over_orders_and_worlds():
    rng = random.Random(5)
    names = ["nDCG@3", "nDCG", "AP", "Recall@2", "RPrec", "IPrec(recall=0.5)", "F@2"]
    measures = list(map(parse_measure, names))
    for _ in range(12):
        case = Case.drawn(rng)
        if case.table:
            continue
        tied = [rng.random() < 0.5 for _ in case.ranking]
        score, scores_by_rank = 100, []
        for same in tied:
            score -= 0 if same else 1
            scores_by_rank.append(score)
        run = {"t": {f"d{at}": score for at, score in enumerate(scores_by_rank)}}
        most_relevant = rng.randint(1, 5)
        scores = rb.evaluate(
            case.qrels, run, measures, bounds="both", open="collection", most_relevant=most_relevant, topics="shared"
        ).topic("t")
        groups = [list(g) for _, g in itertools.groupby(range(len(tied)), key=lambda at: scores_by_rank[at])]
        for at, measure in enumerate(measures):
            values = [
                value(Topic([world.ranking[d] for d in order], world.judged, world.largest), measure)
                for world in case.worlds(measure, most_relevant, others=0)
                for parts in itertools.product(*map(itertools.permutations, groups))
                for order in [[d for part in parts for d in part]]
            ]
            low, high = scores.low[0, 0, at], scores.high[0, 0, at]
            assert low <= min(values) + 1e-9
            assert high >= max(values) - 1e-9
            if measure not in scores.outer:
                assert low == pytest.approx(min(values))
                assert high == pytest.approx(max(values))


def test_measures_of_the_list_alone_are_as_they_were():
    rng = random.Random(11)
    for _ in range(10):
        case = Case.drawn(rng)
        measures = [measure for measure in MEASURES if measure.list_only]
        assert {"RBP", "P", "RR", "ERR", "DCG", "Success", "SDCG", "RRn", "INST"} & {m.name for m in measures}
        assert case.scores(measures, open="collection")[0] == case.scores(measures)[0]


# ---- differences ----


@dataclass(frozen=True)
class PairCase(Case):
    """Two lists that share documents; ``ranking`` is not used."""

    judged: dict[str, float] = field(default_factory=dict)
    lists: tuple[list[str], list[str]] = ((), ())

    @classmethod
    def drawn(cls, rng: random.Random) -> PairCase:
        grades, table = rng.choice(SCALES)
        documents = [f"d{at}" for at in range(rng.randint(2, 7))]
        judged = {document: rng.choice(grades) for document in documents}
        for document in rng.sample(documents, min(len(documents), rng.randint(0, 3))):
            del judged[document]
        judged |= {f"u{at}": rng.choice(grades) for at in range(rng.randint(0, 2))} | {"z": 0}
        lists = tuple(rng.sample(documents, rng.randint(1, len(documents))) for _ in range(2))
        return cls((), (), grades, table, judged, lists)

    @classmethod
    def drawn_behind(cls, rng: random.Random) -> PairCase:
        """A holds the unjudged documents, and B the relevant ones: A cannot get ahead, whatever exists elsewhere."""
        grades, table = rng.choice(SCALES)
        judged = {"r1": grades[-1], "r2": grades[-1], "r3": grades[-1], "n1": 0, "n2": 0}
        lists = rng.sample(["n1", "n2", "u1", "u2"], rng.randint(2, 4)), rng.sample([*judged], rng.randint(2, 5))
        return cls((), (), grades, table, judged, lists)

    def limit_binds(self, most_relevant: int) -> bool:
        """May the lists hold more relevant documents than there are in all?"""
        unjudged = {document for ranked in self.lists for document in ranked} - self.judged.keys()
        return bool(unjudged) and len(unjudged) + sum(grade > 0 for grade in self.judged.values()) > most_relevant

    def evidence(self, assumptions: Assumptions) -> Evidence:
        qrels = {"t": self.judged, "scale": {"s": max(self.grades)}}
        runs = {name: {"t": ranked, "scale": ["s"]} for name, ranked in zip("AB", self.lists, strict=True)}
        return Evidence.read(qrels, runs, assumptions)

    def pairs_of_topics(self, measure, most_relevant: int, others: int):
        """For every world the two lists as judged in it."""
        open_documents = sorted({document for ranked in self.lists for document in ranked} - self.judged.keys())
        both = Case((*self.judged.values(), *([None] * len(open_documents))), (), self.grades, self.table)
        names = [*self.judged, *open_documents]
        for world in both.worlds(measure, most_relevant, others):
            grade = dict(zip(names, world.ranking, strict=True))
            yield [
                Topic([grade[document] for document in ranked], world.judged, world.largest, world.table)
                for ranked in self.lists
            ]


def subtracted(one: float, other: float) -> float:
    return 0.0 if one == other else one - other


@pytest.mark.parametrize("seed", range(10))
def test_bounds_of_differences_are_those_of_all_worlds(seed):
    rng = random.Random(seed)
    case, most_relevant = PairCase.drawn(rng), rng.randint(1, 9)
    assumptions = Assumptions(gain=case.rule, open="collection", most_relevant=most_relevant)
    lists = case.evidence(assumptions).shared_lists()
    for measure in MEASURES:
        if measure.as_retrieved or measure.has_residual:  # not concerned; what lies beyond a list has its own law
            continue
        found = difference_bounds(lists, measure, assumptions)
        low, high = found.low[0] * 2, found.high[0] * 2  # of two topics, one of them without a difference
        apart = [
            subtracted(value(a, measure), value(b, measure))
            for a, b in case.pairs_of_topics(measure, most_relevant, 2 if measure.name.startswith(PENALISED) else 0)
        ]
        why = (case, most_relevant, str(measure))
        assert low <= min(apart) + 1e-9, why
        assert high >= max(apart) - 1e-9, why
        if found.exact[0] and not unlimited_others(case, measure):
            assert low == pytest.approx(min(apart), abs=1e-9), why
            assert high == pytest.approx(max(apart), abs=1e-9), why
        if measure.name in ("nDCG", "Recall", "RPrec") and not unlimited_others(case, measure):
            assert found.exact[0] or case.limit_binds(most_relevant), why


def test_a_lead_that_documents_elsewhere_shrink_keeps_what_the_unjudged_ones_can_gain():
    """More relevant documents than there are places, so that the divisor and the unjudged documents both count."""
    decided = 0
    for seed in range(40):
        rng = random.Random(seed)
        case, most_relevant = PairCase.drawn_behind(rng), rng.randint(5, 9)
        covering = (
            Assumptions(gain=case.rule),
            Assumptions(gain=case.rule, open="collection", most_relevant=most_relevant),
        )
        lists = case.evidence(covering[0]).shared_lists()
        for name in ("nDCG@4", "Recall@4", "nDCG", "Recall@2"):
            measure = parse_measure(name)
            retrieved, found = (difference_bounds(lists, measure, assumptions) for assumptions in covering)
            others = case.pairs_of_topics(measure, most_relevant, others=0)
            apart = [subtracted(value(a, measure), value(b, measure)) for a, b in others]
            why = (case, most_relevant, name)
            assert found.low[0] * 2 <= min(apart) + 1e-9, why
            assert found.high[0] * 2 >= max(apart) - 1e-9, why
            if found.exact[0] and not unlimited_others(case, measure):
                assert [found.low[0] * 2, found.high[0] * 2] == pytest.approx([min(apart), max(apart)], abs=1e-9), why
            decided += retrieved.high[0] < found.high[0] < 0
    assert decided > 40


@pytest.mark.parametrize(("most_relevant", "exact"), [(2, False), (3, True), (9, True)])
def test_bounds_that_count_more_relevant_documents_than_there_may_be_are_not_called_exact(most_relevant, exact):
    """One document is known and two are unjudged: with a limit of two, not both of these can be relevant."""
    qrels, lists = {"t": {"a": 1, "b": 0}}, {"one": {"t": ["x", "y", "a"]}, "two": {"t": ["x", "b", "a"]}}
    assumptions = Assumptions(open="collection", most_relevant=most_relevant)
    names = ["P@2", "RBP", "nDCG@3", "nDCG", "Recall@2", "RPrec"]
    measures = list(map(parse_measure, names))
    scores = rb.evaluate(qrels, lists["one"], measures, open="collection", most_relevant=most_relevant)
    assert scores.outer == ([] if exact else measures)
    shared = Evidence.read(qrels, lists, assumptions).shared_lists()
    assert [difference_bounds(shared, measure, assumptions).exact[0] for measure in measures] == [exact] * len(names)
    # A list that shows one unjudged document to the measure's depth, or none, is bounded exactly.
    for name, limit, ranked in (("P@1", 2, ["x", "y"]), ("nDCG@1", 2, ["x", "y"]), ("AP", 1, ["a", "b"])):
        assert not rb.evaluate(qrels, {"t": ranked}, name, open="collection", most_relevant=limit).outer


@pytest.mark.parametrize("seed", range(25, 29))
def test_bounds_of_differences_widen_with_what_may_exist(seed):
    case = PairCase.drawn(random.Random(seed))
    choices = [
        Assumptions(gain=case.rule),
        *(Assumptions(gain=case.rule, open="collection", most_relevant=most) for most in (1, 2, 4, 30)),
        Assumptions(gain=case.rule, open="collection"),
    ]
    lists = case.evidence(choices[0]).shared_lists()
    for measure in MEASURES:
        bounds = [difference_bounds(lists, measure, assumptions) for assumptions in choices]
        for narrow, wide in itertools.pairwise(bounds):
            if narrow.exact[0] and wide.exact[0]:
                assert wide.low[0] <= narrow.low[0] + 1e-12, (case, str(measure))
                assert wide.high[0] >= narrow.high[0] - 1e-12, (case, str(measure))
        if measure.vanishes and not np.isnan(bounds[-1].low[0]):
            assert bounds[-1].low[0] <= 0 <= bounds[-1].high[0], (case, str(measure))


def test_a_measure_that_does_not_say_how_it_covers_the_collection_has_no_bounds_there():
    class Halved(AP):
        """A measure of somebody who never heard of documents that nobody retrieved."""

        collection_exactness = "unknown"

    qrels, run = {"t": {"a": 1, "b": 0}}, {"t": ["b", "a", "x"]}
    assert np.isnan(rb.evaluate(qrels, run, Halved(), open="collection", most_relevant=9).low).all()
    assert not np.isnan(rb.evaluate(qrels, run, Halved()).low).any()


# ---- how it is said ----


@pytest.mark.parametrize(
    "words",
    [
        {"open": "corpus"},
        {"open": "retrieved", "most_relevant": 5},
        {"open": "collection", "most_relevant": 0},
        {"open": "collection", "most_relevant": 2.5},
        {"open": "collection", "most_relevant": 10**9},
        {"open": "collection", "bounds": "none"},
        {"open": "collection", "bounds": "ties"},
    ],
)
def test_words_that_make_no_sense_are_refused(words):
    with pytest.raises(rb.UsageError):
        Assumptions(**words)


def messages(*names, **options) -> list[str]:
    qrels = {"1": {"a": 1, "b": 1, "c": 0}, "2": {"a": 1}}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rb.evaluate(qrels, {"1": ["c", "a"], "2": ["a"]}, names, **options)
    return [str(message.message) for message in caught]


def test_why_low_is_nothing_is_said_of_the_measures_concerned():
    (sentence,) = messages("AP", "nDCG@10", "nDCG", "RBP(p=0.8)", open="collection")
    assert sentence.startswith("low is 0 for AP, nDCG: ")
    assert "--most-relevant" in sentence
    assert messages("nDCG@10", "RBP(p=0.8)", open="collection") == []
    assert messages("AP", "nDCG@10", open="collection", most_relevant=5) == []


def test_topics_that_know_more_are_named():
    (sentence,) = messages("AP", open="collection", most_relevant=1)
    assert sentence.startswith("1 topic knows more than 1 relevant documents already (1)")


def test_a_stream_says_the_same(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n1 0 c 0\n2 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 r\n2 Q0 a 1 2 r\n2 Q0 x 2 1 r\n")
    arguments = str(tmp_path / "qrels"), str(tmp_path / "run"), "AP"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        streamed = rb.evaluate(*arguments, engine="stream", open="collection", most_relevant=1)
    assert [str(warning.message) for warning in caught] == messages("AP", open="collection", most_relevant=1)
    assert streamed == rb.evaluate(*arguments, open="collection", most_relevant=1)


def test_scores_keep_what_their_bounds_cover(tmp_path):
    qrels, run = {"t": {"a": 1}}, {"t": ["a", "x"]}
    scores = rb.evaluate(qrels, run, "AP", open="collection", most_relevant=4)
    assert (scores.open, scores.most_relevant) == ("collection", 4)
    scores.save(tmp_path / "scores.json")
    assert rb.Scores.load(tmp_path / "scores.json") == scores
    from rankbounds.evaluation.score_files import join_baseline

    with pytest.raises(rb.DataError, match="--most-relevant was 4 and is not given"):
        join_baseline(scores, rb.evaluate(qrels, run, "AP"))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 1\n2 0 z 1\n")
    (tmp_path / "run").write_text("1 Q0 c 1 3 r\n1 Q0 a 2 2 r\n1 Q0 x 3 1 r\n2 Q0 a 1 2 r\n2 Q0 y 2 1 r\n")
    return str(tmp_path / "qrels"), str(tmp_path / "run")


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_the_command_line_takes_the_words(files, engine, capsys):
    qrels, run = files
    command = ["evaluate", qrels, run, "-m", "nDCG@10", "-m", "AP", "-q", "--format", "json", "--engine", engine]
    assert main([*command, "--open", "collection", "--most-relevant", "6"]) == 0
    printed = json.loads(capsys.readouterr().out)
    expected = rb.evaluate(qrels, run, ["nDCG@10", "AP"], open="collection", most_relevant=6)
    rows = {(row["query_id"], row["measure"]): row for row in printed}
    for row in expected.rows():
        assert rows[row["query_id"], row["measure"]]["low"] == pytest.approx(row["low"])
        assert rows[row["query_id"], row["measure"]]["high"] == pytest.approx(row["high"])
    assert main([*command, "--most-relevant", "6"]) == 2


def test_a_report_says_what_its_bounds_cover(files):
    from rankbounds.report import Choices, gather

    qrels, run = files
    content = gather(qrels, [run], Choices.of(measures=["AP"], open="collection", most_relevant=6))
    options = content["identity"]["options"]
    assert (options["open"], options["most relevant"]) == ("collection", "6")


# ---- what the verdict says is left ----


def judged_pair(rng: random.Random, topics: int = 3):
    """Two runs on topics whose documents are all judged."""
    qrels, runs = {}, {"A": {}, "B": {}}
    for topic in map(str, range(topics)):
        documents = [f"d{at}" for at in range(5)]
        qrels[topic] = {document: rng.choice((0, 0, 1, 2)) for document in documents}
        qrels[topic]["d0"] = 2
        for ranked in runs.values():
            ranked[topic] = rng.sample(documents, rng.randint(2, 5))
    return qrels, runs


def least_and_most(qrels, runs, measure, most_relevant: int):
    """The mean difference when every topic has as many more documents of the best grade as suits one side."""
    ends = []
    for choose in (min, max):
        total = 0.0
        for topic, judged in qrels.items():
            room = max(0, most_relevant - sum(grade > 0 for grade in judged.values()))
            apart = []
            for number in range(room + 1):
                a, b = (
                    Topic([judged[d] for d in ranked[topic]], [*judged.values(), *([2] * number)], 2)
                    for ranked in runs.values()
                )
                apart.append(value(b, measure) - value(a, measure))
            total += choose(apart)
        ends.append(total / len(qrels))
    return ends


@pytest.mark.parametrize("most_relevant", [6, 20])
def test_what_is_left_of_a_judged_pair_with_a_limit(most_relevant):
    qrels, runs = judged_pair(random.Random(3), topics=4)
    for name in ("AP", "Recall@3", "nDCG"):
        measure = parse_measure(name)
        assumptions = Assumptions(open="collection", most_relevant=most_relevant)
        compared = Evidence.read(qrels, runs, assumptions).compare([measure])
        ends = least_and_most(qrels, runs, measure, most_relevant)
        pair = compared.pairs.rows()[0]
        assert [pair["certain_low"], pair["certain_high"]] == pytest.approx(ends, abs=1e-12), name
        assert pair["certain"] == "exact"


def test_the_verdict_says_that_what_nobody_retrieved_is_not_covered():
    judged = {"a": 2, "b": 0, "c": 1}
    qrels = {str(topic): judged for topic in range(8)}
    runs = {"B": {topic: ["b", "c", "a"] for topic in qrels}, "A": {topic: ["a", "c", "b"] for topic in qrels}}
    for measure in ("nDCG@10", "AP"):
        (sentence,) = [told for told in Evidence.read(qrels, runs).compare([measure]).sentences() if "no run" in told]
        assert sentence == (
            "Relevant documents that no run retrieved could change it, too: --open collection bounds that."
        )  # fmt: skip
        covered = Evidence.read(qrels, runs, Assumptions(open="collection")).compare([measure]).sentences()
        assert not any("no run retrieved could" in told for told in covered)


def test_nothing_is_said_where_documents_are_unjudged_or_no_list_is_at_hand():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}
    runs = {"A": {"1": ["a", "x"], "2": ["a", "b"]}, "B": {"1": ["b", "a"], "2": ["b", "a"]}}
    assert not Evidence.read(qrels, runs).compare(["nDCG@10"]).pair_words.choices["elsewhere"].any()
    runs["A"]["1"] = ["a", "b"]
    assert Evidence.read(qrels, runs).compare(["nDCG@10"]).pair_words.choices["elsewhere"].all()
    assert not rb.compare(rb.evaluate(qrels, runs, "nDCG@10")).pair_words.choices["elsewhere"].any()
    assert not Evidence.read(qrels, runs).compare(["RBP(p=0.8)"]).pair_words.choices["elsewhere"].any()


def test_what_only_another_run_retrieved_counts_as_the_collection():
    qrels, runs = {"1": {"x": 1, "n": 0}}, {"a": {"1": ["x", "n"]}, "b": {"1": ["n", "x"]}, "c": {"1": ["u", "x"]}}
    judged = rb.evaluate({"1": qrels["1"] | {"u": 1}}, runs, "AP").value[:, 0, 0].tolist()
    assert judged == [0.5, 0.25, 1.0]
    assert rb.evaluate(qrels, runs, "AP").low[:2, 0, 0].tolist() == [1.0, 0.5]
    assert rb.evaluate(qrels, runs, "AP", open="collection", most_relevant=2).low[:2, 0, 0].tolist() == [0.5, 0.25]
