"""Measures that somebody adds get all that ours have: laws, bounds of differences, names, comparisons in words.

They are defined and registered here, each with a plain definition, and taken out again: nothing in the package knows
them, so that whatever holds for them follows from their classes and facts.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import test_difference_bounds as differences

import plain
import rankbounds as rb
import test_laws
from rankbounds.comparison import Evidence
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import any_measure, averages
from rankbounds.measures import REGISTRY, Measure, Normalised, RankWeighted, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.formulas import BestRelevant, IdealRatio, ShareOfRelevant

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
LAWS = [law for name, law in vars(test_laws).items() if name.startswith("test_") and hasattr(law, "hypothesis")]
LABELS = (
    "nHLU", "nHLU(half=3)@3", "nHLU(rel=2)", "nHLUGain", "nHLUGain(half=2)@3", "nHLUByHand(half=3)", "HLU(half=2)@4",
    "Podium", "Podium(rel=2)", "Yield", "Yield@3", "Crowd", "Balance", "Guess",
)  # fmt: skip
EXACT = {"nHLU", "nHLUGain", "HLU", "Podium", "Yield"}
"""Classes from which exact bounds of differences follow, however many documents are unjudged."""


def halving(half: float, n: int) -> np.ndarray:
    return 2.0 ** (-np.arange(n) / (half - 1))


def define() -> None:
    """One measure for each class to derive from, and plain ones with more and with fewer facts."""

    class HLU(RankWeighted):
        """Half-life utility."""

        half: float = 5.0
        cutoff: int | None = None
        name = "HLU"
        examples = ("HLU(half=2)@4",)

        def weights(self, n):
            return halving(self.half, n)

    class nHLU(IdealRatio):  # noqa: N801
        """Half-life utility over that of the ideal ranking.

        Parameters
        ----------
        half : float, default 5
            The rank that half of the users get to.
        """

        half: float = 5.0
        rel: float = 1.0
        cutoff: int | None = None
        name = "nHLU"
        aliases = ("HalfLifeShare",)
        examples = ("nHLU", "nHLU(half=3)@3", "nHLU(rel=2)")

        def weights(self, n):
            return halving(self.half, n)

    class nHLUGain(nHLU):  # noqa: N801
        """The same for gains."""

        name = "nHLUGain"
        aliases = ()
        examples = ("nHLUGain", "nHLUGain(half=2)@3")
        graded = True

        def worth(self, rankings):
            return rankings.gain()

    class nHLUByHand(Normalised):  # noqa: N801
        """The same as nHLU by somebody who writes the divisor, and states what holds."""

        half: float = 5.0
        name = "nHLUByHand"
        examples = ("nHLUByHand(half=3)",)
        value_range = (0.0, 1.0)
        outside = "lowers"

        def weights(self, n):
            return halving(self.half, n)

        def divisor(self, rankings):
            number = rankings.num_relevant(self.rel).astype(np.int64)
            return np.append(0.0, np.cumsum(self.weights(int(number.max(initial=0)))))[number]

    class Podium(BestRelevant):
        """Gold, silver or bronze of the best relevant document."""

        rel: float = 1.0
        name = "Podium"
        examples = ("Podium", "Podium(rel=2)")
        value_range = (0.0, 1.0)

        def weights(self, n):
            return np.array([1.0, 0.6, 0.3, *[0.0] * n])[:n]

    class Yield(ShareOfRelevant):
        """Relevant documents found over those that exist and two more."""

        rel: float = 1.0
        cutoff: int | None = None
        name = "Yield"
        examples = ("Yield", "Yield@3")
        value_range = (0.0, 1.0)

        def growth(self, rankings):
            lists = rankings.length.size
            return 1.0, np.full(lists, 2.0), np.full(lists, np.inf)

    class Crowd(Measure):
        """The square of the relevant documents among the first three, by their ranks."""

        rel: float = 1.0
        name = "Crowd"
        examples = ("Crowd",)
        monotone = True
        list_only = True

        def value(self, rankings):
            relevant = rankings.relevant(self.rel)[..., :3]
            return (relevant / np.arange(1, relevant.shape[-1] + 1)).sum(axis=-1) ** 2

    class Balance(Measure):
        """Relevant documents at the first two ranks, minus a tenth for each that exists; its range is not stated."""

        rel: float = 1.0
        name = "Balance"
        examples = ("Balance",)

        def value(self, rankings):
            found = rankings.relevant(self.rel)[..., :2].sum(axis=-1)
            return found - 0.1 * rankings.num_relevant(self.rel)

    class Guess(Measure):
        """Not a measure of judgments: nothing bounds it."""

        rel: float = 1.0
        name = "Guess"
        examples = ("Guess",)
        promotable = False
        estimates = True
        exactness = "unknown"

        def value(self, rankings):
            return 0.5 * rankings.relevant(self.rel).sum(axis=-1)

        def bounds(self, rankings):
            return None


def discounted(worth, m) -> float:
    return sum(each / 2 ** (at / (m.half - 1)) for at, each in enumerate(worth[: m.cutoff]))


def over_ideal(worth, known, m) -> float:
    ideal = discounted(sorted(known, reverse=True), m)
    return discounted(worth, m) / ideal if ideal else 0.0


def podium(topic, m) -> float:
    return max((medal for medal, hit in zip((1.0, 0.6, 0.3), topic.relevance(m.rel), strict=False) if hit), default=0.0)


DEFINITIONS = {
    "HLU": lambda topic, m: discounted(topic.relevance(1), m),
    "nHLU": lambda topic, m: over_ideal(topic.relevance(m.rel), [1] * topic.number_relevant(m.rel), m),
    "nHLUByHand": lambda topic, m: over_ideal(topic.relevance(1), [1] * topic.number_relevant(1), m),
    "nHLUGain": lambda topic, m: over_ideal(topic.gains(), topic.known_gains(), m),
    "Podium": podium,
    "Yield": lambda topic, m: sum(topic.relevance(m.rel)[: m.cutoff]) / (topic.number_relevant(m.rel) + 2),
    "Crowd": lambda topic, m: sum(hit / rank for rank, hit in enumerate(topic.relevance(m.rel)[:3], 1)) ** 2,
    "Balance": lambda topic, m: sum(topic.relevance(m.rel)[:2]) - 0.1 * topic.number_relevant(m.rel),
    "Guess": lambda topic, m: 0.5 * sum(topic.relevance(m.rel)),
}


@pytest.fixture
def added(monkeypatch):
    """The measures by their labels, registered while the test runs."""
    before = dict(REGISTRY)
    monkeypatch.setattr(plain, "DEFINITIONS", plain.DEFINITIONS | DEFINITIONS)
    define()
    yield {label: parse_measure(label) for label in LABELS}
    REGISTRY.clear()
    REGISTRY.update(before)


def test_they_are_gone_after_the_test():
    assert not {"nHLU", "Balance"} & set(REGISTRY)
    with pytest.raises(rb.UsageError):
        parse_measure("nHLU")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_they_obey_the_laws(added, monkeypatch, law):
    bounded = [measure for label, measure in added.items() if label != "Guess"]
    monkeypatch.setattr(test_laws, "PLAIN", bounded)
    monkeypatch.setattr(test_laws, "MEASURES", [*bounded, *map(Condensed, bounded)])
    monkeypatch.setattr(test_laws, "DEFINITIONS", plain.DEFINITIONS)
    for name in ("NO_MEAN_OVER_TIES", "NO_MEAN_OVER_BOTH"):
        monkeypatch.setattr(test_laws, name, getattr(test_laws, name) | {"Crowd", "Balance"})
    law()


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("many", [False, True])
def test_no_judgments_leave_the_bounds_of_differences(added, label, many, monkeypatch):
    """Held against every judgment of every unjudged document, also as if these were too many to try."""
    measure = added[label]
    several = differences.cases(len(label), 25, differences.grades_for(measure), holes=3 if measure.graded else 5)
    ends = [case.extremes(measure) for case in several]
    if many:
        monkeypatch.setattr(any_measure, "WORK", 0)
        monkeypatch.setattr(any_measure, "WORK_OF_SHARED", 0)
        monkeypatch.setattr(averages, "MANY", -1)
    found = differences.found_by_topic(several, measure)
    for case, (low, high), bounds in zip(several, ends, found, strict=True):
        if measure.name == "Guess" or (many and case.holes and measure.name == "Balance"):
            assert not bounds.known[0]
            continue
        assert differences.holds(bounds, low, high)
        if bounds.exact[0]:
            assert differences.attained(bounds, low, high)
        assert bounds.exact[0] or (many and measure.name not in EXACT)


@pytest.mark.parametrize("label", [label for label in LABELS if label.startswith(("nHLU", "Yield"))])
def test_relevant_documents_that_nobody_retrieved(added, label):
    """No difference with up to two of them lies outside the bounds over a collection that has so many at most."""
    measure = added[label]
    for case in differences.cases(3, 12, differences.grades_for(measure), holes=2):
        known = sum(grade >= measure.rel for grade in case.judged.values())
        assumptions = Assumptions(open="collection", most_relevant=known + 2)
        (bounds,) = differences.found_by_topic([case], measure, assumptions)
        if not bounds.known[0]:
            assert measure.collection_exactness == "unknown"
            continue
        for way in itertools.product(case.grades, repeat=2):
            elsewhere = {f"e{at}": grade for at, grade in enumerate(way)}
            for judged in case.completions():
                turned = sum(judged[hole] >= measure.rel for hole in case.holes)
                if turned + sum(grade >= measure.rel for grade in way) <= 2:
                    a, b = (case.scores(measure, judged | elsewhere, side)[0] for side in range(2))
                    assert differences.holds(bounds, a - b, a - b)


def test_names_and_docstrings(added):
    assert str(rb.measures.nHLU(half=3) @ 10) == "nHLU(half=3)@10"
    assert parse_measure("halflifeshare@5") == rb.measures.nHLU(cutoff=5)
    assert parse_measure("nHLU'(half=3)").plain == rb.measures.nHLU(half=3)
    with pytest.raises(rb.UsageError, match='Did you mean "nHLU"'):
        parse_measure("nHUL")
    text = rb.measures.nHLU.__doc__
    parameters = ["half : float, default 5", "rel : float, default 1", "cutoff : int | None, default None"]
    assert [line for line in text.splitlines() if " : " in line] == parameters
    assert "The lowest grade that counts as relevant." in text


def sentences(measure, documents: int) -> str:
    """What a comparison of two runs says, of which so many documents are unjudged in one."""
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "c": 1}}
    first = {topic: ["a", "c", "b", *(f"x{at}" for at in range(documents))] for topic in qrels}
    second = {topic: ["b", *(f"y{at}" for at in range(documents)), "a"] for topic in qrels}
    comparison = Evidence.read(qrels, {"first": first, "second": second}).compare([measure])
    return comparison.words()


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("documents", [2, 40])
def test_comparisons_give_bounds_or_a_true_reason(added, label, documents):
    said = sentences(added[label], documents)
    reasons = {
        "the measure is itself an estimate": label == "Guess",
        "the measure uses more than the grades": False,
        "its values have no known limits": label == "Balance" and documents == 40,
    }
    assert {reason: reason in said for reason in reasons} == reasons
    assert ("no known bounds of differences" in said) == any(reasons.values())
