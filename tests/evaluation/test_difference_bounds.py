"""Bounds of differences against every way to judge the unjudged documents of two lists, scored by plain definitions."""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
from collections.abc import Iterator

import numpy as np
import pytest

import plain
import rankbounds as rb
from rankbounds.cli import main
from rankbounds.comparison import Evidence, wording
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import (
    SharedLists,
    any_measure,
    averages,
    difference_bounds,
)
from rankbounds.evaluation.differences import bounds as bounds_module
from rankbounds.evaluation.differences.any_measure import ends_are_attained
from rankbounds.evaluation.differences.bounds import TopicBounds, topic_bounds
from rankbounds.measures import REGISTRY, parse_measure

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
DOCS = [f"d{number}" for number in range(9)]
GRADES = (0, 1, 2)
EXACT = (
    "nDCG", "nDCG@2", "nDCG@4", "nDCG(gain=exp)@3", "nDCG(base=2)", "Recall", "Recall@2", "F", "F@3", "F(beta=2)",
    "P@3", "RPrec(times=2)", "SetP", "RelP", "RelP@2", "Utility(hit=1,noise=2,miss=-1)",
    "RR", "RR@2", "Success@2", "DCG", "DCG@3", "SDCG@3", "RBP(p=0.8)", "RBP(p=0.5)@3", "RPrec", "NumRelRet",
    "NumRel", "NumRet", "RBP(p=0.9,graded=true)",
)  # fmt: skip
"""Exact whatever the number of unjudged documents."""
UNKNOWN = {name for name, kind in REGISTRY.items() if kind.reads_judgments or kind.estimates}
"""Guesses of what judging would say, and measures that tell subtopics apart."""
AS_RETRIEVED = {name for name, kind in REGISTRY.items() if kind.as_retrieved}
ALL = tuple(
    dict.fromkeys(
        label
        for kind in REGISTRY.values()
        if kind.name not in AS_RETRIEVED | UNKNOWN and not kind.reads_judgments
        for label in (*kind.examples, *EXACT)
        if getattr(parse_measure(label), "rel", 1) <= 2 and "by_topic" not in label and "'" not in label
    )
)


class Case:
    """Two lists of one topic, and the grades of its judged documents."""

    def __init__(self, rng: np.random.Generator, grades: tuple[int, ...], holes: int, width: int = 6) -> None:
        self.lists = [list(map(str, rng.permutation(DOCS)[: rng.integers(0, width + 1)])) for _ in range(2)]
        retrieved = sorted({*self.lists[0], *self.lists[1]})
        self.holes = list(map(str, rng.permutation(retrieved)[: rng.integers(0, holes + 1)]))
        known = [doc for doc in DOCS if doc not in self.holes and (doc in retrieved or rng.random() < 0.5)]
        self.judged = {doc: int(rng.choice(grades)) for doc in known} or {"other": 0}
        self.grades = grades

    def completions(self) -> Iterator[dict[str, int]]:
        for way in itertools.product(self.grades, repeat=len(self.holes)):
            yield self.judged | dict(zip(self.holes, way, strict=True))

    def scores(self, measure, judged, side, table=None) -> tuple[float, float]:
        """The value, and the greatest one when what lies beyond the list turns out well."""
        topic = plain.Topic(
            [judged[doc] for doc in self.lists[side]], list(judged.values()), largest(self.grades, table), table or {}
        )
        return plain.value_and_greatest(topic, measure)

    def extremes(self, measure, table=None) -> tuple[float, float]:
        low, high = math.inf, -math.inf
        for judged in self.completions():
            (a_low, a_high), (b_low, b_high) = (self.scores(measure, judged, side, table) for side in range(2))
            low, high = min(low, less(a_low, b_high)), max(high, less(a_high, b_low))
        return low, high


def largest(grades, table=None):
    return float(max((table or {}).get(grade, grade) for grade in (1, *(table or {}), *grades)))


def less(one, other):
    return 0.0 if one == other else one - other


def cases(seed, number, grades=GRADES, holes=4):
    rng = np.random.default_rng(seed)
    return [Case(rng, grades, holes) for _ in range(number)]


def collection(several, tied=None):
    """All cases as the topics of one collection; a last topic has a document of each grade."""
    qrels = {str(at): case.judged for at, case in enumerate(several)}
    qrels["scale"] = {f"s{grade}": grade for grade in several[0].grades}
    runs = {
        name: {
            str(at): {doc: -(rank // 2 if tied else rank) for rank, doc in enumerate(case.lists[side])}
            for at, case in enumerate(several)
        }
        for side, name in enumerate("AB")
    }
    return qrels, runs


def found_by_topic(several, measure, assumptions=None, *, tied=None) -> list[TopicBounds]:
    assumptions = assumptions or Assumptions()
    lists: SharedLists = Evidence.read(*collection(several, tied), assumptions).shared_lists()
    pair = (np.array([0]), np.array([1]))
    return list(topic_bounds(lists, measure, assumptions, pair))[: len(several)]


def holds(bounds, low, high):
    slack = 1e-9
    return bounds.low[0] <= low + slack and bounds.high[0] >= high - slack


def attained(bounds, low, high):
    return bool(np.isclose(bounds.low[0], low, atol=1e-9)) and bool(np.isclose(bounds.high[0], high, atol=1e-9))


def grades_for(measure):
    """The grades that unjudged documents may get: one that the measure names exists, though no judgment has it."""
    if not measure.graded:
        return (0, int(max(1, measure.rel)))
    return (*GRADES, *(() if getattr(measure, "max_grade", None) is None else (int(measure.max_grade),)))


@pytest.fixture
def as_if_many(monkeypatch):
    """From the call on as if there were too many documents to try all judgments."""

    def switch(many_documents=averages.MANY):
        monkeypatch.setattr(any_measure, "WORK", 0)
        monkeypatch.setattr(any_measure, "WORK_OF_SHARED", 0)
        monkeypatch.setattr(averages, "FEW", -1)
        monkeypatch.setattr(averages, "MANY", many_documents)

    return switch


@pytest.mark.parametrize("label", ALL)
def test_no_judgments_leave_the_bounds_and_some_attain_those_called_exact(label, as_if_many):
    """Where all judgments can be tried, and where there are too many documents for that."""
    measure = parse_measure(label)
    several = cases(len(label), 25, grades_for(measure), holes=3 if measure.graded else 5)
    ends = [case.extremes(measure) for case in several]
    exact = 0
    for case, (low, high), bounds in zip(several, ends, found_by_topic(several, measure), strict=True):
        assert holds(bounds, low, high), (case.__dict__, low, high, bounds)
        if bounds.exact[0]:
            exact += 1
            assert attained(bounds, low, high), (case.__dict__, low, high, bounds)
    if not ends_are_attained(measure):
        assert exact == 0
    elif measure.judged_only:  # a value that leaves documents out may lie outside
        assert exact > len(several) / 2
    else:
        assert exact == len(several)
    for many_documents in (-1, averages.MANY):
        as_if_many(many_documents)
        found = found_by_topic(several, measure)
        for case, (low, high), bounds in zip(several, ends, found, strict=True):
            assert holds(bounds, low, high), (case.__dict__, low, high, bounds)
            assert not bounds.exact[0] or attained(bounds, low, high)
            assert label not in EXACT or bounds.exact[0]


@pytest.mark.parametrize("label", ["AP", "AP@3", "SP", "Q(beta=0)", "Bpref_relative2"])
def test_bounds_of_many_documents_are_closer_than_those_of_two_runs_apart(label, as_if_many):
    as_if_many()
    measure = parse_measure(label)
    several = cases(5, 60, grades_for(measure), holes=4)
    close = apart = 0.0
    for case, bounds in zip(several, found_by_topic(several, measure), strict=True):
        sides = [[case.scores(measure, judged, side) for judged in case.completions()] for side in range(2)]
        lows, highs = ([pick(values) for values in sides] for pick in (lambda v: min(v)[0], lambda v: max(v)[1]))
        close += bounds.high[0] - bounds.low[0]
        apart += (highs[0] - lows[1]) - (lows[0] - highs[1])
    true = sum(high - low for low, high in (case.extremes(measure) for case in several))
    assert true - 1e-9 <= close < true + (apart - true) / (3 if measure.graded else 20)


@pytest.mark.parametrize(
    "label", ["nDCG@3", "nDCG", "DCG@3", "ERR", "Q", "RBP(p=0.8,graded=true)", "NERR9@4", "NERR10(p=0.8)"]
)
@pytest.mark.parametrize("table", [{1: 3, 2: 4}, {0: 0.5, 1: 1, 2: 5}, {1: 0.25, 2: 0.5}])
def test_gain_tables(label, table):
    measure = parse_measure(label)
    several = cases(4, 15, holes=3)
    for case, bounds in zip(several, found_by_topic(several, measure, Assumptions(gain=table)), strict=True):
        low, high = case.extremes(measure, table=table)
        assert holds(bounds, low, high), (case.__dict__, low, high, bounds)
        if bounds.exact[0]:
            assert attained(bounds, low, high)


def tied_orders(ranking):
    """All orders of a list whose documents are tied two by two."""
    groups = [ranking[at : at + 2] for at in range(0, len(ranking), 2)]
    for order in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [doc for group in order for doc in group]


@pytest.mark.parametrize("work", [0, 1 << 17])
@pytest.mark.parametrize(
    "label",
    ["nDCG@3", "nDCG", "DCG@3", "Recall@3", "P@3", "F@3", "AP", "RR", "Success@3", "RPrec", "ERR", "SP", "RRn(n=2)"],
)
def test_orders_of_tied_documents(label, work, monkeypatch):
    """Over all orders too (``bounds="both"``), for the mean over orders, and for the best and the worst order."""
    monkeypatch.setattr(any_measure, "WORK", work)
    monkeypatch.setattr(any_measure, "WORK_OF_SHARED", work)
    measure = parse_measure(label)
    several = cases(3, 12, grades_for(measure), holes=2)
    ways = {
        "both": Assumptions(bounds="both"),
        "expected": Assumptions(ties="expected"),
        "best": Assumptions(ties="best"),
        "worst": Assumptions(ties="worst"),
    }
    found = {name: found_by_topic(several, measure, assumed, tied=True) for name, assumed in ways.items()}
    for at, case in enumerate(several):
        ends = dict.fromkeys(ways, (math.inf, -math.inf))
        for judged in case.completions():
            values = []
            for side in range(2):
                grades = [[judged[doc] for doc in order] for order in tied_orders(case.lists[side])]
                scored = [
                    plain.value(plain.Topic(order, list(judged.values()), largest(case.grades)), measure)
                    for order in grades
                ]
                values.append((min(scored), sum(scored) / len(scored), max(scored)))
            a, b = values
            spans = {"both": (a[0] - b[2], a[2] - b[0])}
            spans |= {name: (a[at] - b[at],) * 2 for at, name in enumerate(("worst", "expected", "best"))}
            for name, (least, most) in spans.items():
                ends[name] = min(ends[name][0], least), max(ends[name][1], most)
        for name, (low, high) in ends.items():
            bounds = found[name][at]
            if not np.isnan(bounds.low[0]):
                assert holds(bounds, low, high), (name, case.__dict__, low, high, bounds)
                assert not bounds.exact[0] or attained(bounds, low, high), (name, case.__dict__, low, high, bounds)


@pytest.mark.parametrize(("rule", "end"), [("worst", min), ("best", max)])
def test_a_grade_between_decides_where_tied_documents_stand(rule, end, monkeypatch):
    """Whether a document is below or above one that it ties with depends on its grade: the extremes are in between."""
    monkeypatch.setattr(any_measure, "WORK", 0)
    several, measure, between = cases(1, 300, (0, 1, 2, 3), holes=2), rb.ERR(), 0
    found = found_by_topic(several, measure, Assumptions(ties=rule), tied=True)
    for case, bounds in zip(several, found, strict=True):
        differences = {}
        for judged in case.completions():
            lists = [[[judged[doc] for doc in order] for order in tied_orders(ranking)] for ranking in case.lists]
            a, b = (
                end(plain.value(plain.Topic(grades, [*judged.values()], 3.0), measure) for grades in orders)
                for orders in lists
            )
            differences[tuple(judged[doc] for doc in case.holes)] = a - b
        low, high = min(differences.values()), max(differences.values())
        assert holds(bounds, low, high), (case.__dict__, low, high, bounds)
        assert not bounds.exact[0] or attained(bounds, low, high), (case.__dict__, low, high, bounds)
        at_ends = [value for grades, value in differences.items() if {*grades} <= {0, 3}]
        between += not (math.isclose(min(at_ends), low) and math.isclose(max(at_ends), high))
    assert between


@pytest.mark.parametrize(
    ("label", "rule"),
    [
        *itertools.product(["nDCG@3", "AP", "RBP(p=0.8)", "RR"], ["nonrelevant", "relevant", "condensed"]),
        *itertools.product(["Bpref", "AP'"], ["nonrelevant", "condensed"]),
    ],
)
def test_what_is_printed_lies_within(label, rule):
    measure = parse_measure(label)
    several = cases(8, 30, holes=4)
    assumptions = Assumptions(unjudged=rule)
    values = rb.evaluate(*collection(several), measure, unjudged=rule).value[:, : len(several), 0]
    plain_measure = parse_measure(label.replace("'", ""))
    for at, (case, bounds) in enumerate(zip(several, found_by_topic(several, measure, assumptions), strict=True)):
        observed = values[0, at] - values[1, at]
        assert bounds.low[0] - 1e-12 <= observed <= bounds.high[0] + 1e-12
        if plain_measure.graded:
            assert holds(bounds, *case.extremes(plain_measure))


@functools.cache
def mirrored(grades):
    """Lists of two runs there, back, of one run beside itself, and with all documents judged; and that collection."""
    qrels, runs = collection(cases(6, 12, grades))
    full = {
        topic: judged | {doc: 0 for lists in runs.values() for doc in lists.get(topic, {}) if doc not in judged}
        for topic, judged in qrels.items()
    }
    read = Evidence.read(qrels, runs)
    back = Evidence.read(qrels, {"B": runs["B"], "A": runs["A"]})
    itself = Evidence(read.qrels, [read.runs[0]] * 2, Assumptions())
    lists = [evidence.shared_lists() for evidence in (read, back, itself, Evidence.read(full, runs))]
    return lists, full, runs


@pytest.mark.parametrize("label", ALL)
def test_mirrors_and_what_nothing_can_change(label):
    measure = parse_measure(label)
    lists, full, runs = mirrored(grades_for(measure))
    there, back, itself, judged = (difference_bounds(each, measure, Assumptions()) for each in lists)
    np.testing.assert_array_equal(there.low, -back.high)
    np.testing.assert_array_equal(there.high, -back.low)
    assert (itself.low.tolist(), itself.high.tolist(), itself.words) == ([0], [0], ["exact"])
    if not measure.has_residual:
        values = rb.evaluate(full, runs, measure, bounds="none").value[..., 0]
        with np.errstate(invalid="ignore"):
            expected = float(np.where(values[0] == values[1], 0.0, values[0] - values[1]).mean())
        np.testing.assert_allclose([judged.low[0], judged.high[0]], expected, atol=1e-12)
        assert judged.words == [None if np.isnan(expected) else "exact"]


def test_topics_on_which_nothing_is_open_are_not_gone_through(monkeypatch):
    """Values of whole batches are enough; one topic with an unjudged document is the only one that is looked at."""
    rng = random.Random(0)
    qrels = {f"q{topic}": {f"d{at}": rng.choice(GRADES) for at in range(6)} for topic in range(30)}
    runs = {name: {query: rng.sample([*judged], 5) for query, judged in qrels.items()} for name in "abc"}
    measures = list(map(parse_measure, ("nDCG@3", "AP", "RPrec", "Bpref", "RR", "P@4", "RBP(p=0.8)")))
    lists = Evidence.read(qrels, runs).shared_lists()
    bounds = [difference_bounds(lists, measure, Assumptions()) for measure in measures]
    scores = rb.evaluate(qrels, runs, measures).mean()
    for at, found in enumerate(bounds):
        low, high = scores.low[:, 0, at], scores.high[:, 0, at]
        for pair, (a, b) in enumerate(itertools.combinations(range(3), 2)):
            assert [found.low[pair], found.high[pair]] == pytest.approx([low[a] - high[b], high[a] - low[b]])
        assert found.words == ["exact"] * 3
    assert "by_topic" not in vars(lists)
    del qrels["q7"][runs["a"]["q7"][0]]
    lists, places = Evidence.read(qrels, runs).shared_lists(), []
    as_one = bounds_module.in_threads
    monkeypatch.setattr(
        bounds_module, "in_threads", lambda of, some, threads: as_one(of, places.append(some) or some, 1)
    )
    difference_bounds(lists, measures[0], Assumptions())
    assert places == [[lists.topics.tolist().index(lists.facts.query_ids.index("q7"))]]


def test_estimates_have_no_bounds():
    found = difference_bounds(
        Evidence.read(*collection(cases(1, 3))).shared_lists(), parse_measure("infAP"), Assumptions()
    )
    assert (found.words, np.isnan(found.low).all()) == ([None], True)


def test_many_pairs_have_the_bounds_that_they_have_alone():
    simulated = rb.studies.simulate(runs=5, topics=6, pooled_runs=2, seed=2)
    evidence = Evidence.read(simulated.pooled, simulated.runs)
    for label in ("nDCG@10", "nDCG", "AP", "Recall@20", "RR", "RPrec", "ERR@10", "P@10", "Q"):
        measure = parse_measure(label)
        together = difference_bounds(evidence.shared_lists(), measure, Assumptions())
        for pair, (a, b) in enumerate(itertools.combinations(range(5), 2)):
            lists = Evidence.read(simulated.pooled, [simulated.runs[a], simulated.runs[b]]).shared_lists()
            alone = difference_bounds(lists, measure, Assumptions())
            if label != "Q":  # whose ideal ranking is bounded for all runs of a topic at once
                assert alone.low[0] == pytest.approx(together.low[pair], abs=1e-12)
                assert alone.high[0] == pytest.approx(together.high[pair], abs=1e-12)
            assert alone.words[0] == together.words[pair]
            truth = rb.evaluate(simulated.complete, [simulated.runs[a], simulated.runs[b]], label).mean().value[:, 0, 0]
            assert together.low[pair] - 1e-9 <= truth[0] - truth[1] <= together.high[pair] + 1e-9


def pair_files(tmp_path, judged, a, b):
    topics = (1, 2, 3)
    (tmp_path / "qrels").write_text("".join(f"{t} 0 {doc} {grade}\n" for t in topics for doc, grade in judged.items()))
    for name, ranking in (("a", a), ("b", b)):
        lines = [f"{t} Q0 {doc} {rank} {-rank} {name}\n" for t in topics for rank, doc in enumerate(ranking, 1)]
        (tmp_path / name).write_text("".join(lines))
    return [str(tmp_path / name) for name in ("qrels", "a", "b")]


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR", "Recall@10", "Bpref", "Q"])
def test_compare_says_whether_bounds_are_exact(measure, tmp_path, capsys):
    files = pair_files(tmp_path, {"r": 1, "n": 0}, ["r", "x", "n"], ["n", "x", "r"])
    assert main(["compare", *files, "-m", measure, "--test", "t", "--format", "json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert pair["certain"] == "exact"
    assert pair["certain_low"] <= pair["difference"] <= pair["certain_high"]
    assert main(["compare", *files, "-m", "infAP", "--test", "t", "--format", "json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert (pair["certain"], pair["certain_low"]) == (None, None)


@pytest.mark.parametrize(
    ("a", "b", "measure", "choice"),
    [
        (["r", "n"], ["n", "r"], "nDCG@10", "none_retrieved"),  # nothing that was retrieved is unjudged
        (["r", "n", "x"], ["n", "r"], "nDCG@10", "no"),  # no judgment turns it
        (["r", "n"], ["x", "n"], "nDCG@1", "levels"),  # one makes the scores equal, none turns them
        (["r", *(f"x{n}" for n in range(30))], [*(f"y{n}" for n in range(30)), "r"], "AP", "yes"),  # many do
        (["r", *(f"x{n}" for n in range(30))], [*(f"y{n}" for n in range(30)), "r"], "Q", "perhaps"),  # perhaps
        (["r", "n"], ["n", "r"], "infAP", "unknown_for_measure"),  # a guess has no bounds
    ],
)
def test_the_sentence_on_unjudged_documents_claims_no_more_than_is_known(a, b, measure, choice):
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(3)}
    runs = {name: dict.fromkeys(qrels, lists) for name, lists in (("a", a), ("b", b))}
    compared = Evidence.read(qrels, runs).compare(measure)
    assert wording.name_templates({"holes": compared.pair_words.choices["holes"][0, 0]}) == {"holes": choice}
    assert any(sentence.startswith("Could unjudged documents overturn it?") for sentence in compared.sentences())


@pytest.mark.parametrize("measure", ["Q", "Q(beta=10)", "RnDCG", "nDCG_rel", "Rpref_N", "G", "nDCG@3"])
@pytest.mark.parametrize("gain", [None, "1=3,2=9"])
def test_a_grade_that_nobody_has_given_yet_may_still_come(measure, gain):
    """Grades 0 and 2 so far: a judge may say 1, and the difference stays within its bounds."""
    rng = np.random.default_rng(13)
    between = 0
    for _ in range(12):
        qrels = {"q": {doc: int(rng.choice([0, 2])) for doc in "abc"} | {"top": 2}}
        runs = {name: {"q": list(rng.permutation([*"abcde"]))[: rng.integers(2, 6)]} for name in ("one", "other")}
        lists = Evidence.read(qrels, runs, Assumptions(gain=gain)).shared_lists()
        found = difference_bounds(lists, parse_measure(measure), Assumptions(gain=gain))
        for grades in itertools.product([0, 1, 2], repeat=2):
            judged = {"q": qrels["q"] | dict(zip("de", grades, strict=True))}
            scores = rb.evaluate(judged, runs, measure, gain=gain, bounds="none").value[:, 0, 0]
            assert found.low[0] - 1e-9 <= scores[0] - scores[1] <= found.high[0] + 1e-9
            between += 1 in grades
    assert between
