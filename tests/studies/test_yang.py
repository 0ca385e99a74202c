"""The experiments on ties, on a small collection made here, against SciPy and plain loops; and their figures."""

from __future__ import annotations

import io
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import rankbounds as rb
from rankbounds.studies import change_by_banding, loss_by_rho, range_by_ties, ties_by_level
from rankbounds.studies.yang import _band_sizes, boxes_of_changes, p_values_before_and_after, worst_loss

MEASURES = ["RR", "AP"]


@pytest.fixture(scope="module")
def collection():
    """Six runs of different quality over twelve topics; the last two have many ties."""
    rng = np.random.default_rng(11)
    docs = [f"d{at:02d}" for at in range(40)]
    worth = {f"t{topic}": rng.random(40) for topic in range(12)}
    qrels = {
        topic: {doc: int(one > 0.75) for doc, one in zip(docs, values, strict=True)} for topic, values in worth.items()
    }
    runs = []
    for number in range(6):
        scores = {topic: values + rng.normal(size=40) * (0.2 + 0.15 * number) for topic, values in worth.items()}
        rows = [(topic, doc, float(np.round(one, 0 if number > 3 else 6)))
                for topic, values in scores.items() for doc, one in zip(docs, values, strict=True)]  # fmt: skip
        runs.append(rb.Run.from_columns(*zip(*rows, strict=True), name=f"run{number}"))
    return qrels, runs


@pytest.fixture(scope="module")
def result(collection):
    treatments = {"rhos": ("1.4", "2.0"), "bits": ("bfloat16", "float16"), "digits": (1,)}
    return change_by_banding(*collection, measures=MEASURES, **treatments)


@pytest.fixture(scope="module")
def changes(result):
    return result.data


def test_changes_are_scores_before_and_after(collection, changes):
    qrels, runs = collection
    assert changes.treatments == ["rho=1.4", "rho=2.0", "bfloat16", "float16", "1 digits"]
    before = rb.evaluate(qrels, runs, MEASURES).value
    after = rb.evaluate(qrels, [run.banded("2.0") for run in runs], MEASURES, ties="expected").value
    assert np.array_equal(changes.before, before)
    assert changes.after[1] == pytest.approx(after)
    assert changes.differences(1, 0) == pytest.approx((before - after)[..., 0].ravel())


@pytest.mark.filterwarnings("ignore:Precision loss")
def test_runs_within_a_limit_by_a_one_sided_paired_test(changes):
    for treatment, measure, limit in itertools.product(range(5), range(2), (0.99, 0.97)):
        counted = 0
        for before, after in zip(changes.before[..., measure], changes.after[treatment, ..., measure], strict=True):
            p = stats.ttest_rel(after, limit * before, alternative="greater").pvalue
            counted += p <= 0.05
        assert changes.runs_within(treatment, measure, limit) == counted


def test_p_values_of_pairs(changes):
    for treatment, measure in itertools.product((None, 0, 4), range(2)):
        scores = changes.before[..., measure] if treatment is None else changes.after[treatment, ..., measure]
        pairs = list(itertools.combinations(scores, 2))
        signs = [2.0 ** (1 - np.count_nonzero(np.abs(one - other) > 1e-12)) for one, other in pairs]
        tests = [stats.ttest_rel(one, other).pvalue for one, other in pairs]
        expected = np.minimum(np.maximum(tests, signs), 1)  # no surer than the signs of the topics that differ
        assert changes.p_values(measure, treatment) == pytest.approx(expected)


def test_identical_runs_do_not_differ(collection):
    qrels, runs = collection
    found = change_by_banding(qrels, [runs[0], runs[0]], measures="RR", rhos=(1.4,)).data
    assert found.p_values(0).tolist() == [1.0]
    assert found.runs == ["run0 (run1)", "run0 (run2)"]


def test_result_of_banding(collection, result, changes):
    assert len(result.rows()) == 10
    for row in result.rows():
        quadrants = [row[f"significant_{which}"] for which in ("both", "before_only", "after_only", "neither")]
        assert sum(quadrants) == pytest.approx(1)
        assert row["lower_quartile"] <= row["median"] <= row["upper_quartile"]
    row = next(row for row in result.rows() if row["treatment"] == "rho=2.0" and row["measure"] == "AP")
    assert row["median"] == pytest.approx(np.median(changes.differences(1, 1)))
    assert "RR: " in result.answer
    assert "AP: " in result.answer
    best = change_by_banding(*collection, measures=MEASURES, rhos=(2,), best=3)
    assert best.rows()[0]["runs"] == 3
    assert best.rows()[0]["mean_before"] == pytest.approx(np.sort(changes.before[..., 0].mean(axis=1))[-3:].mean())


def test_no_loss_exceeds_the_worst_difference(changes):
    for treatment, rho in enumerate(("1.4", "2.0")):
        assert changes.differences(treatment, 0).max() <= worst_loss(rb.RR(), rho) + 1e-12


TABLE_2 = {
    "1.1": (0.0038, 0.0002, 0.0087, 10),
    "1.2": (0.0119, 0.0052, 0.0231, 5),
    "1.4": (0.0417, 0.0429, 0.0482, 2),
    "1.7": (0.0833, 0.0945, 0.0777, 1),
    "2.0": (0.0833, 0.1016, 0.0971, 1),
    "1": (0.0, 0.0, 0.0, None),
}


@pytest.mark.parametrize("rho", TABLE_2)
def test_worst_losses_of_table_2(rho):
    rows = loss_by_rho(measures=("RR", "RBP(p=0.5)", "RBP(p=0.85)"), rhos=[rho]).rows()
    assert [round(row["loss"], 4) for row in rows] == list(TABLE_2[rho][:3])
    assert {row["rank_safe_depth"] for row in rows} == {TABLE_2[rho][3]}


@pytest.mark.parametrize("rho", ["1.01", "1.1", "1.2", "1.4", "1.5", "1.7", "2.0", "2.5", "7"])
def test_rank_safe_depth_is_the_last_rank_before_a_band_of_several(rho):
    (row,) = loss_by_rho(measures="RR", rhos=[rho]).rows()
    assert row["rank_safe_depth"] == math.floor(1 / (Fraction(rho) - 1))


def test_at_most_half_of_a_band_is_relevant_in_the_worst_case():
    for rho in ("1.4", "2", "3"):
        ends = np.cumsum(_band_sizes(rho))[:12].tolist()
        for start, end in itertools.pairwise([0, *ends]):
            weights = 0.85 ** np.arange(start, end)
            lost = np.cumsum(weights) - np.arange(1, weights.size + 1) * weights.mean()
            assert np.argmax(lost) + 1 <= (weights.size + 1) / 2


@pytest.mark.parametrize("measure", ["RR@8", "RR", "P@3", "P@5", "P@7", "DCG@6", "RBP(p=0.6)@7"])
@pytest.mark.parametrize("rho", ["1.4", "2", "3"])
def test_the_worst_loss_is_the_largest_over_all_runs(measure, rho):
    """All lists with relevant documents among the first eight, long enough to hold the bands whole."""
    exact = rb.Run.from_columns(["q"] * 16, [f"d{at:02d}" for at in range(16)], range(16, 0, -1))
    gains = list(itertools.product((0, 1), repeat=8))[1:]
    qrels = {f"{number}": {f"d{at:02d}": gain for at, gain in enumerate(one)} for number, one in enumerate(gains)}
    before, after = (
        rb.evaluate(qrels, dict.fromkeys(qrels, run.to_dict()["q"]), measure, ties="expected", bounds="none").value
        for run in (exact, rb.Run(exact).banded(rho))
    )
    assert worst_loss(rb.measures.parse_measure(measure), rho) == pytest.approx(float((before - after).max()), abs=1e-9)


@pytest.mark.parametrize("measure", ["AP", "nDCG@5"])
def test_measures_without_a_known_limit(measure):
    with pytest.raises(rb.UsageError, match=f"No limit is known for {measure}"):
        loss_by_rho(measures=measure, rhos=["1.4"])


@pytest.mark.parametrize("rho", ["0.5", "nan", "1/0", "1e-999999999", "99999999999999999999"])
def test_growth_that_cannot_be(rho):
    with pytest.raises(rb.UsageError, match="rho must be"):
        loss_by_rho(rhos=[rho])


def test_a_study_needs_something_to_do(collection):
    with pytest.raises(rb.UsageError, match="at least one"):
        change_by_banding(*collection, rhos=())
    with pytest.raises(rb.UsageError, match="two topics"):
        change_by_banding({"q": {"a": 1}}, [rb.Run.from_columns(["q"], ["a"], [1.0])], measures="RR")


def test_range_by_ties(collection):
    qrels, runs = collection
    result = range_by_ties(qrels, runs, measure="AP")
    low, high = (rb.evaluate(qrels, runs, "AP", ties=ties).mean().value[:, 0, 0] for ties in ("worst", "best"))
    for row in result.rows():
        at = int(row["run"][-1])
        assert (row["low"], row["high"]) == (pytest.approx(low[at]), pytest.approx(high[at]))
        assert row["low"] <= row["value"] <= row["high"]
        assert row["low"] - 1e-12 <= row["expected"] <= row["high"] + 1e-12
        assert row["highest_place"] <= row["place"] <= row["lowest_place"]
        assert (row["range"] > 0.01) == (at > 3)
    assert [row["place"] for row in result.rows()] == sorted(row["place"] for row in result.rows())
    assert len(range_by_ties(qrels, runs, best=2).rows()) == 2


def rendered(axes):
    axes.get_figure().savefig(out := io.BytesIO(), format="png")
    assert out.getvalue().startswith(b"\x89PNG")
    return axes


def test_figure_of_ranges(collection):
    found = range_by_ties(*collection)
    rows = found.rows()
    axes = rendered(range_by_ties.draw(found))
    lines, circles, triangles = axes.collections[:3]
    assert [segment[:, 0].tolist() for segment in lines.get_segments()] == [[row["low"], row["high"]] for row in rows]
    assert circles.get_offsets()[:, 0].tolist() == [row["value"] for row in rows]
    assert triangles.get_offsets()[:, 0].tolist() == [row["expected"] for row in rows]
    assert circles.get_offsets()[:, 1].min() >= 1e-6
    assert axes.get_xlabel() == "mean AP"


def test_figure_of_changes(result, changes):
    panels = boxes_of_changes(result)
    axes = rendered(panels.flat[1])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1.4", "2.0", *changes.treatments[2:]]
    medians = [line.get_ydata()[0] for line in axes.lines if line.get_color() == "#D55E00"]
    assert medians == pytest.approx([np.median(changes.differences(at, 1)) for at in range(5)])
    assert axes.get_title() == "AP"


def test_figure_of_p_values(result, changes):
    axes = rendered(p_values_before_and_after(result, treatment=1).flat[1])
    points = np.asarray(axes.collections[0].get_offsets())
    assert points[:, 0] == pytest.approx(np.maximum(changes.p_values(1), 1e-10))
    assert points[:, 1] == pytest.approx(np.maximum(changes.p_values(1, 1), 1e-10))
    row = next(row for row in result.rows() if (row["treatment"], row["measure"]) == ("rho=2.0", "AP"))
    assert {text.get_text() for text in axes.texts} == {
        f"{row[f'significant_{which}']:.1%}" for which in ("both", "before_only", "after_only", "neither")
    }


def test_ties_by_level_are_those_of_a_plain_count(collection):
    """Shares of systems, lists and documents, counted list by list from the scores themselves."""
    qrels, runs = collection
    found = {row["what"]: row for row in ties_by_level(qrels, runs).rows()}["tied scores"]
    tied = [
        [len(run[query]) - len({score for _, score in run[query]}) for query in run.query_ids] for run in runs
    ]  # fmt: skip
    assert found["systems"] == pytest.approx(sum(map(any, tied)) / 6)
    assert found["lists"] == pytest.approx(sum(count > 0 for counts in tied for count in counts) / 72)
    assert found["documents"] == pytest.approx(sum(map(sum, tied)) / sum(map(len, runs)))


def test_contradictions_by_level(tmp_path):
    (tmp_path / "a").write_text("1 Q0 x 1 3 a\n1 Q0 y 3 2 a\n1 Q0 z 2 1 a\n2 Q0 x 1 1 a\n2 Q0 y 2 2 a\n")
    (tmp_path / "b").write_text("1 Q0 x 1 3 b\n2 Q0 y 1 2 b\n")
    rows = {row["what"]: row for row in ties_by_level({"1": {"x": 1}}, str(tmp_path)).rows()}
    levels = ("systems", "lists", "documents")
    # Sorted by score, topic 1 has ranks 1, 3, 2 and topic 2 ranks 2, 1; by line, scores rise once in topic 2.
    assert [rows["rank against score"][level] for level in levels] == pytest.approx([1 / 2, 2 / 4, 2 / 7])
    assert [rows["line order against score"][level] for level in levels] == pytest.approx([1 / 2, 1 / 4, 1 / 7])
    assert [rows["line order against rank"][level] for level in levels] == pytest.approx([1 / 2, 1 / 4, 1 / 7])


def test_the_study_states_what_bands_can_cost_at_most():
    qrels = {str(query): {f"d{doc}": int((doc * 7 + query) % 5 == 0) for doc in range(40)} for query in range(4)}
    runs = [{query: {f"d{doc}": 40.0 - doc for doc in range(40)} for query in qrels}]
    rows = change_by_banding(qrels, runs, measures=["RR", "AP"], rhos=["2.0"], digits=[1]).rows()
    most = {(row["treatment"], row["measure"]): row["most_possible_loss"] for row in rows}
    assert most == {
        ("rho=2.0", "RR"): worst_loss(rb.RR(), "2.0"),
        ("rho=2.0", "AP"): None,
        ("1 digits", "RR"): None,
        ("1 digits", "AP"): None,
    }
    assert rows[0]["largest"] <= rows[0]["most_possible_loss"]


def test_the_order_of_the_file_may_be_the_reference(tmp_path):
    """Lines in another order than the scores: bands are then made of lines, and the unchanged run is that of lines."""
    (tmp_path / "a.txt").write_text("".join(f"q{q} Q0 d{n} 1 {n} a\n" for q in (1, 2) for n in range(1, 9)))
    qrels = {"q1": {"d1": 1, "d5": 1}, "q2": {"d3": 1}}
    settings = {"rhos": ("2",), "measures": ["RR"], "best": 0}
    by_line, by_score = (
        change_by_banding(qrels, str(tmp_path / "a.txt"), ties=ties, **settings).rows()[0] for ties in ("run", "trec")
    )
    assert by_line["mean_before"] == pytest.approx((1 + 1 / 3) / 2)
    assert by_score["mean_before"] == pytest.approx((1 / 4 + 1 / 6) / 2)
    # Bands of rho = 2: rank 1, ranks 2 and 3, ranks 4 to 7, rank 8; one relevant document has each place as often.
    bands = (1 - 1, 1 / 3 - (1 / 2 + 1 / 3) / 2)
    assert by_line["mean_change"] == pytest.approx(sum(bands) / 2)
    with pytest.raises(rb.UsageError, match="ties"):
        change_by_banding(qrels, str(tmp_path / "a.txt"), ties="nonsense", **settings)
