"""Where the papers' printed numbers or rules fail. Each test is named in ``docs/errata.md``."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.rbp.other_persistence import compare_published, transfer
from rankbounds.rbp.published_score import Published, accumulate, greedy_vectors, significant_ranks


def relevant_at(ranks, length):
    return np.isin(np.arange(1, length + 1), list(ranks)).astype(float)


class TestParameterSensitivity:
    """Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008."""

    def test_table_1_and_its_last_cell(self):
        printed = {
            0.5: (8, 15, 28), 0.7: (15, 28, 54), 0.8: (24, 45, 86), 0.9: (51, 94, 182), 0.95: (104, 194, 373),
            0.99: (528, 986, 1902),  # printed as 1,001
        }  # fmt: skip
        for p, ranks in printed.items():
            assert tuple(significant_ranks(p, precision) for precision in (1e-2, 1e-4, 1e-8)) == ranks
        assert 0.99**1001 > 1e-8 / 2

    def test_worked_example_of_section_3(self):
        assert accumulate([1, 0, 0, 0, 1], 0.8) == pytest.approx(0.28192)  # printed as 0.2812
        assert accumulate(relevant_at([7, 8], 8), 0.8) == pytest.approx(0.09437, abs=5e-6)  # printed as 0.0943

    def test_what_remains_begins_below_the_rank(self):
        """By rem(1) = p rank 1 must be relevant for a score above p; all ranks from 1 on are enough for any score."""
        for p in (0.5, 0.8, 0.95):
            assert accumulate(relevant_at(range(2, 1001), 1000), p) == pytest.approx(p)  # rem(1) = p^1
            assert accumulate(np.ones(1000), p) == pytest.approx(1)  # "from rank 1 onwards"
            assert greedy_vectors((1 + p) / 2, p).least[0] == 1

    def test_greedy_vectors_are_not_the_extremes(self):
        better = relevant_at([1, 2, 3, 4, 5, 7, 8, 71], 94)
        assert f"{accumulate(better, 0.9):.4f}" == "0.5105"
        greedy = transfer("0.5105", 0.9, 0.855, method="greedy")
        assert greedy.high == pytest.approx(0.645577, abs=5e-7)
        assert accumulate(better, 0.855) == pytest.approx(0.648170, abs=5e-7)
        exact = transfer("0.5105", 0.9, 0.855, method="exact")
        assert accumulate(better, 0.855) <= exact.high <= accumulate(better, 0.855) + 1e-5

    def test_tails_as_printed_narrow_the_range(self):
        ones_from_rank_2 = relevant_at(range(2, 2001), 2000)
        assert accumulate(ones_from_rank_2, 0.5) == pytest.approx(0.5)
        greedy = transfer("0.5000", 0.5, 0.95, method="greedy")
        assert greedy.high < 0.6 < accumulate(ones_from_rank_2, 0.95) == pytest.approx(0.95)
        assert transfer("0.5000", 0.5, 0.95).high >= 0.95

    def test_residual_rule_of_the_least_vector(self):
        """Ranks 6 on are relevant and rank 2 is unjudged: R_L wrongly demands a relevant document at rank 4."""
        truth = relevant_at(range(6, 201), 200)
        score, residual = float(accumulate(truth, 0.8)), float(accumulate([0, 1], 0.8))
        known = {"residual": f"{residual:.4f}"}
        assert greedy_vectors(round(score, 4), 0.8, residual=residual).least[:4].tolist() == [0, 0, 0, 1]
        at_half = float(accumulate(truth, 0.5))
        assert at_half < transfer(f"{score:.4f}", 0.8, 0.5, method="greedy", **known).low
        for method in ("relaxed", "exact"):
            assert transfer(f"{score:.4f}", 0.8, 0.5, method=method, **known).low <= at_half

    def test_residual_rule_of_the_greatest_vector_never_applies(self):
        rng = np.random.default_rng(0)
        for p in rng.uniform(0.5, 0.95, 20):
            scores = rng.random(50)
            residuals = rng.random(50) * (1 - scores)
            with_rule, without = (greedy_vectors(scores, p, residual=one).greatest for one in (residuals, 0.0))
            assert (with_rule == without).all()

    def test_first_rank_of_the_unjudged_rule(self):
        """With rem'(1) = 0 as printed, rank 1 would be unjudged for every residual, though it may weigh more."""
        residual = 0.01
        vectors = greedy_vectors(0.15, 0.8, residual=residual)
        assert vectors.greatest[0] == vectors.least[0] == 0
        assert accumulate([1], 0.8) > residual
        assert not vectors.unjudged_greatest[0]
        assert not vectors.unjudged_least[0]

    def test_rule_1_with_residuals_takes_the_wrong_vector(self):
        """A is better than B's R_L at the lower p, and yet B would win if R'_L were what it surely scores."""
        vectors = greedy_vectors(0.4, 0.8, residual=0.15)
        _, least, _, least_with_unjudged = vectors.scores(0.7)
        assert least < least_with_unjudged
        a = Published(f"{(least + least_with_unjudged) / 2:.4f}", 0.7)
        b = Published("0.4000", 0.8, residual="0.1500")
        assert a.printed.value < least_with_unjudged
        assert compare_published(a, b, method="greedy").verdict == "undecided"

    def test_first_document_at_equality(self):
        assert greedy_vectors([0.2, 0.8], 0.8).choices_greatest[:, 0].all()
        assert accumulate([1], 0.8) == pytest.approx(0.2)
        assert accumulate(relevant_at(range(2, 200), 200), 0.8) == pytest.approx(0.8)

    def test_one_half_does_not_always_give_two_vectors(self):
        two, one = (greedy_vectors(score, 0.5) for score in (0.5, 0.3))
        assert (two.greatest != two.least).any()
        assert (one.greatest == one.least).all()

    def test_scores_that_cannot_occur(self):
        with pytest.raises(rb.DataError, match="cannot occur"):
            transfer("0.5000", 0.2, 0.8)
        for edge, vector in (("0.2000", relevant_at(range(2, 50), 50)), ("0.8000", relevant_at([1], 50))):
            assert f"{accumulate(vector, 0.2):.4f}" == edge
            assert transfer(edge, 0.2, 0.8).proven


class TestRankBiasedPrecision:
    """Moffat and Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, 2008."""

    def test_average_precision_of_the_example(self):
        found = rb.studies.contribution_by_document(measures=["AP"])
        assert sum(row["contribution"] for row in found.rows()) == pytest.approx(0.63155, abs=5e-6)

    def test_the_chance_of_reaching_the_third_page(self):
        second, third = (rb.rbp.plan(0.95, depth=20, rank=rank)["reaches"] for rank in (11, 21))
        assert (f"{second:.0%}", f"{third:.0%}", f"{third:.1%}") == ("60%", "36%", "35.8%")  # printed as 35%

    def test_depth_for_four_digits(self):
        exact = [rb.rbp.plan(p, 4)["depth"] for p in (0.5, 0.8, 0.95)]
        assert exact == [math.floor(math.log(1e-4) / math.log(p)) + 1 for p in (0.5, 0.8, 0.95)] == [14, 42, 180]
        assert [math.floor(9.21 / (1 - p)) + 1 for p in (0.5, 0.8, 0.95)] == [19, 47, 185]

    def test_digits_of_a_residual(self):
        found = rb.rbp.plan(0.8, depth=20)
        assert f"{found['residual']:.3f}" == "0.012"
        assert (found["digits"], found["print_at_most"]) == (1, 2)

    def test_scaled_dcg_falls_by_more_than_a_factor_of_5(self):
        """The same relevant documents, read to depth 100 and to depth 1000."""
        at_100, at_1000 = (rb.parse_measure(f"DCG(base=2)@{depth}").weights(depth).sum() for depth in (100, 1000))
        assert [f"{total:.2f}" for total in (at_100, at_1000)] == ["21.79", "123.99"]
        run = {"q": [f"d{rank}" for rank in range(1000)]}
        scores = rb.evaluate({"q": {"d3": 1, "d70": 1}}, run, ["SDCG(base=2)@100", "SDCG(base=2)@1000"], bounds="none")
        assert scores.value[0, 0, 0] / scores.value[0, 0, 1] == pytest.approx(at_1000 / at_100)
        assert f"{at_1000 / at_100:.2f}" == "5.69"


TABLE_3 = """
    242 55.6, 240 55.2, 238 54.7, 236 54.3, 236 54.3, 235 54.0, 234 53.8, 232 51.5, 203 46.7, 198 45.6,
    174 40.0, 167 38.4, 163 37.5, 163 37.5, 159 36.6, 158 36.3, 156 35.9, 132 30.3, 109 25.1, 105 24.1,
    317 72.9, 316 72.6, 308 70.8, 305 70.1, 298 68.5, 298 68.5, 296 68.0, 283 65.1, 272 62.5, 272 62.5,
    136 31.3, 131 30.1, 120 27.6, 119 27.4, 115 26.4, 113 26.0, 113 26.0, 100 23.0, 68 15.6, 56 12.9
"""
"""Pairs separated of 435, and the percentage printed beside them."""


class TestAlternativesToBpref:
    """Sakai, Alternatives to Bpref, SIGIR 2007."""

    def test_percentages_of_table_3(self):
        cells = [cell.split() for cell in TABLE_3.split(",")]
        assert len(cells) == 40
        off = {count: f"{int(count) / 435:.1%}" for count, share in cells if f"{int(count) / 435:.1%}" != f"{share}%"}
        assert off == {"232": "53.3%", "198": "45.5%"}

    def test_tau_that_is_significant(self):
        """Printed as 0.34: neither the exact test nor the normal one gives that."""
        assert f"{rb.stats.critical_tau(30, 0.01):.3f}" == "0.333"
        by_variance = 2.5758 * math.sqrt(2 * (2 * 30 + 5) / (9 * 30 * 29))
        assert f"{by_variance:.3f}" == "0.332"

    @pytest.mark.parametrize(("ranked", "printed", "computed"), [("c", 0.625, 0.0), ("ac", 0.90625, 0.75)])
    def test_equation_2_credits_documents_that_were_not_retrieved(self, ranked, printed, computed):
        grades = {"a": 3, "b": 1, "c": 0, "d": 0}
        phi = {document: grade / 3 for document, grade in grades.items()}
        rank = {document: ranked.index(document) if document in ranked else math.inf for document in phi}
        total, others = sum(phi.values()), sum(1 - one for one in phi.values())

        def penalty(k):
            return sum((phi[k] - phi[d]) / phi[k] for d in phi if rank[d] < rank[k] and phi[d] < phi[k])

        by_equation_2 = sum(phi[k] * (1 - penalty(k) / others) for k in phi if phi[k] > 0) / total
        assert by_equation_2 == pytest.approx(printed)
        scores = rb.evaluate({"q": grades}, {"q": list(ranked)}, "Rpref_N", bounds="none")
        assert scores.value.item() == pytest.approx(computed)

    def test_the_condition_of_equation_7_does_not_keep_n_k_from_0(self):
        """The relevant document is at rank 2, below an unjudged one: no judged document is above it."""
        judged, ranked = {"a": 1, "b": 0}, ["x", "a", "b"]
        assert ranked.index("a") + 1 != 1  # which is the condition,
        assert [document for document in ranked[: ranked.index("a")] if document in judged] == []  # and this is N_k
        scores = rb.evaluate({"q": judged}, {"q": ranked}, "Rpref_relative", bounds="none")
        assert scores.value.item() == 0.0  # rank 1 of the condensed list, which equation 17 leaves out


class TestHowPrecise:
    """Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, 2016."""

    def test_shares_of_103_systems(self):
        shares = {f"{count / 103:.1%}" for count in range(104)}
        assert "95.2%" not in shares
        assert {"95.1%", "96.1%"} <= shares

    def test_figure_3_depends_on_rho(self):
        """Of one run, with the first relevant document at rank 2 or 3, RR loses another amount by each rho."""
        qrels = {"q": {"d2": 1}, "r": {"d3": 1}}
        lists = {topic: [f"d{rank}" for rank in range(1, 21)] for topic in "qr"}
        runs = {"a": lists, "b": lists}
        found = rb.studies.change_by_banding(qrels, runs, rhos=("1.4", "2.0", "5.0"), measures=["RR"])
        changes = [row["mean_change"] for row in found.rows()]
        assert len(changes) == len(set(changes)) == 3

    def test_entries_of_table_3(self):
        parameters = rb.studies.change_by_banding.settings
        assert len(parameters["rhos"]) * len(parameters["measures"]) == 20


def test_section_2_1_contradicts_section_3_2():
    """Park, Uncertainty in Rank-Biased Precision, 2016: the better the system (the smaller w), the more is open."""
    open_part = [
        rb.probability.urn_moments(100, q=0.3, relevance_ratio=w, p=0.8, judged_depth=10).mean for w in (1, 0.5)
    ]
    assert open_part[1] > open_part[0]


def test_every_erratum_names_a_test_that_exists():
    pages = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", pages)
    assert named
    assert [name for name in named if f"def {name}(" not in tests] == []
