"""Measures by how users go on: against cwl_eval where it is installed, and the bounds of users who stop by gain."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import rankbounds as rb
from plain import READING_ON, Topic, greatest, value
from rankbounds.errors import UsageError
from rankbounds.measures import REGISTRY, parse_measure

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")

CWL = {
    "INSQ(T=1)": ("insq", "INSQCWLMetric", (1.0,)),
    "INSQ(T=2.5)": ("insq", "INSQCWLMetric", (2.5,)),
    "INST(T=2)": ("inst", "INSTCWLMetric", (2.0,)),
    "TBG(halflife=20,seconds=1,seconds_relevant=1)": ("tbg", "TBGCWLMetric", (20,)),
    "UMeasure(L=50)": ("umeasure", "UMeasureCWLMetric", (50,)),
    "IFT_C1(T=2)": ("ift", "IFTGoalCWLMetric", (2, 0.9, 1)),
    "IFT_C2(A=0.2,b2=0.9,R2=10)": ("ift", "IFTRateCWLMetric", (0.2, 0.9, 10)),
    "IFT(T=2,b1=0.9,R1=2,A=0.3,b2=0.8,R2=3)": ("ift", "IFTGoalRateCWLMetric", (2, 0.9, 2, 0.3, 0.8, 3)),
    "BPM(T=2,K=5)": ("bpm", "BPMCWLMetric", (2, 5)),
    "BPM(T=2,K=5,hb=0.7)": ("bpm", "BPMDCWLMetric", (2, 5, 0.7, 1.0, 0.5)),
}
FOLLOWED = 10_000
"""How many ranks cwl_eval follows; what 1/i^2 leaves behind them is the difference of INSQ and INST."""


def scored(relevance, label, **options):
    documents = [f"d{number:03}" for number in range(len(relevance))]
    judged = {document: grade for document, grade in zip(documents, relevance, strict=True) if grade is not None}
    scores = rb.evaluate({"t": judged | {"x": 0}}, {"t": documents}, label, **options)
    return scores.value.item(), scores.low.item(), scores.high.item()


@pytest.mark.parametrize("label", CWL)
def test_cwl_eval_has_the_same_expected_utility(label):
    ranking = pytest.importorskip("cwl.ruler.ranking", reason="cwl-eval is not installed")
    module, name, parameters = CWL[label]
    measures = pytest.importorskip(f"cwl.ruler.measures.cwl_{module}")
    metric = getattr(measures, name)(*parameters)
    chance = random.Random(label)
    close = 5e-4 if label.startswith("INS") else 1e-12
    for _ in range(10):
        gains = [chance.choice([0, 0, 1]) for _ in range(chance.randint(1, 12))]
        utility = metric.measure(ranking.Ranking("t", np.array(gains, float), np.ones(len(gains)), max_n=FOLLOWED))
        assert scored(gains, label, bounds="none")[0] == pytest.approx(utility, abs=close)


LABELS = ["IFT_C2(A=0.45,R2=10)", "IFT(T=3,A=0.4,R2=9)", "IFT_C1(T=2,R1=4)", "BPM(T=3,K=6,hb=0.5,hc=1)", "BPM(T=1,K=4)"]


@pytest.mark.parametrize("label", LABELS)
def test_bounds_contain_every_completion_and_are_attained_but_for_what_lies_behind(label):
    measure = parse_measure(label)
    chance = random.Random(label)
    for _ in range(10):
        relevance = [chance.choice([0, 1, None, None]) for _ in range(chance.randint(1, 9))]
        holes = [place for place, grade in enumerate(relevance) if grade is None][:5]
        relevance = [grade if grade is not None or place in holes else 0 for place, grade in enumerate(relevance)]
        _, low, high = scored(relevance, measure)
        rates, most = [], []
        for grades in itertools.product((0, 1), repeat=len(holes)):
            full = list(relevance)
            for place, grade in zip(holes, grades, strict=True):
                full[place] = grade
            rates.append(value(Topic(full, full, 1), measure))
            most.append(greatest(Topic(full, full, 1), measure))
        assert low <= min(rates) + 1e-12
        assert high >= max(*rates, *most) - 1e-12
        behind = [0] * 200  # judged not relevant: almost nobody is left for what comes after
        if label.startswith("BPM"):
            _, low, high = scored(relevance + behind, measure)
            full_rates = []
            for grades in itertools.product((0, 1), repeat=len(holes)):
                full = relevance + behind
                for place, grade in zip(holes, grades, strict=True):
                    full[place] = grade
                full_rates.append(value(Topic(full, full, 1), measure))
            assert (low, high) == (pytest.approx(min(full_rates)), pytest.approx(max(full_rates)))


@pytest.mark.parametrize("label", LABELS)
def test_what_is_open_is_told_in_parts(label):
    for relevance in ([1, None, 0, None], [0, 1], [None] * 5):
        documents = [f"d{number}" for number in range(len(relevance))]
        judged = {document: grade for document, grade in zip(documents, relevance, strict=True) if grade is not None}
        scores = rb.evaluate({"t": judged | {"x": 0}}, {"t": documents}, label)
        unjudged, behind, ties = scores.parts[:, 0, 0, 0]
        assert min(unjudged, behind) >= 0
        assert ties == 0
        assert unjudged + behind == pytest.approx(scores.high.item() - scores.low.item(), abs=1e-12)


def test_more_relevance_may_lower_the_rate_of_a_user_who_stops_by_rate():
    label = "IFT_C2(A=0.45,R2=400)"
    without, _, _ = scored([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], label)
    more, _, _ = scored([1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], label)
    _, low, _ = scored([1, 1, 1, 1, 0, 0, 0, 0, None, 0, 0, 0, 0, 0], label)
    assert more < without
    assert low == pytest.approx(more, abs=1e-9)


def test_bounds_of_long_lists_stay_close_to_what_is_judged():
    relevance = ([1, 0, 0, 1, None, 0] * 200)[:1000]
    found, low, high = scored(relevance, "IFT(T=3,A=0.2,R2=5)")
    assert low <= found <= high
    _, low, high = scored([grade or 0 for grade in relevance], "IFT(T=3,A=0.2,R2=5)")
    assert high - low < 1e-8


def test_one_user_is_another_where_parameters_say_so():
    relevance = [1, 0, None, 1, 0, 1]
    assert scored(relevance, "IFT_C1(R1=0,b1=4)")[0] == pytest.approx(scored(relevance, "RBP(p=0.8)")[0])
    assert scored(relevance, "IFT_C2(R2=0,b2=0.25)")[0] == pytest.approx(scored(relevance, "RBP(p=0.8)")[0])
    same_time = "TBG(halflife=10,seconds=10,seconds_relevant=10)"
    assert scored(relevance, same_time) == pytest.approx(scored(relevance, "RBP(p=0.5)"))
    assert scored([0, 0, 1, 1], "BPM(T=1,K=10)")[0] == pytest.approx(scored([0, 0, 1, 1], "RR")[0])
    assert scored([0, 0, 1, 1], "BPM(T=9,K=3)")[0] == pytest.approx(scored([0, 0, 1, 1], "P@3")[0])


@pytest.mark.parametrize(
    "label",
    ["INSQ(T=0)", "UMeasure(L=0)", "TBG(halflife=0)", "IFT_C1(b1=0)", "IFT_C2(R2=-1)", "BPM(T=0)", "BPM(median=2)"],
)  # fmt: skip
def test_parameters_that_make_no_sense_are_refused(label):
    with pytest.raises(UsageError):
        parse_measure(label)


def test_every_member_is_told_what_lies_behind_the_list():
    for name in READING_ON:
        _, low, high = scored([0, 0], parse_measure(f"{name}@5" if REGISTRY[name].needs_cutoff else name))
        assert low < high, name
