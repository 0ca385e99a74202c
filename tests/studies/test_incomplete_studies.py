"""Studies of incomplete judgments on a small made-up evaluation, and what their figures draw."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.judging import pools
from rankbounds.studies import (
    agreement_by_judgment_rate,
    agreement_by_measure,
    change_by_leaving_a_group_out,
    score_by_judgment_rate,
    score_by_pool_depth,
)
from shared_task import shared_task

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
QRELS, RUNS, GROUPS = shared_task()
JUDGMENTS = rb.Qrels.from_columns(*zip(*((q, d, g) for q, docs in QRELS.items() for d, g in docs.items()), strict=True))
FEW = {"measures": ["AP", "AP'", "Bpref"], "rates": (70, 30), "seeds": 3}


def mean(measure, qrels=QRELS):
    return rb.evaluate(qrels, RUNS, measure).mean().value[:, 0, 0]


def concordance(one, other):
    """Kendall's tau of values without ties, by counting pairs."""
    pairs = [(a, b) for a in range(len(one)) for b in range(a)]
    return sum(np.sign((one[a] - one[b]) * (other[a] - other[b])) for a, b in pairs) / len(pairs)


def drawn(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def rows_of(result, **wanted):
    return [row for row in result.rows() if all(row[name] == value for name, value in wanted.items())]


def test_score_by_judgment_rate():
    seen = []
    result = score_by_judgment_rate(JUDGMENTS, RUNS, **FEW, progress=lambda done, total: seen.append((done, total)))
    assert [row["rate"] for row in rows_of(result, measure="AP")] == [100, 70, 30]
    assert rows_of(result, measure="AP", rate=100)[0]["value"] == pytest.approx(mean("AP").mean())
    samples = [pools.reduce(JUDGMENTS, [30], seed=seed)[30] for seed in range(3)]
    values = [mean("Bpref", sample).mean() for sample in samples]
    row = rows_of(result, measure="Bpref", rate=30)[0]
    assert row["value"] == pytest.approx(np.mean(values))
    assert min(values) <= row["low_draw"] <= row["high_draw"] <= max(values)
    assert "At 30% of the judgments" in result.answer
    assert result.settings["seeds"] == 3
    assert seen[-1] == (3, 3)
    axes = score_by_judgment_rate.draw(result)
    assert set(drawn(axes)) == {"AP", "AP'", "Bpref"}
    assert drawn(axes)["Bpref"].get_xydata()[-1] == pytest.approx([30, row["value"]])
    assert axes.get_xlabel() == "judgments kept (%)"
    assert axes.xaxis_inverted()


def test_agreement_by_judgment_rate():
    result = agreement_by_judgment_rate(JUDGMENTS, RUNS, **FEW)
    samples = [pools.reduce(JUDGMENTS, [70], seed=seed)[70] for seed in range(3)]
    taus = [concordance(mean("AP"), mean("AP", sample)) for sample in samples]
    assert rows_of(result, measure="AP", rate=70)[0]["tau"] == pytest.approx(np.mean(taus))
    axes = agreement_by_judgment_rate.draw(result)
    assert drawn(axes)["AP"].get_xydata()[0] == pytest.approx([70, np.mean(taus)])
    assert "tau" in axes.get_ylabel()


def test_agreement_by_measure():
    result = agreement_by_measure(JUDGMENTS, RUNS, measures=["AP", "Bpref_N", "RBP(p=0.8)"], depths=(2,))
    assert len(rows_of(result, pool_depth=None)) == 3
    assert len(rows_of(result, pool_depth=2)) == 9
    shallow = pools.restrict(JUDGMENTS, pools.pool(RUNS.values(), depth=2))
    row = rows_of(result, pool_depth=2, measure="RBP(p=0.8)", other="AP")[0]
    assert row["tau"] == pytest.approx(concordance(mean("RBP(p=0.8)", shallow), mean("AP")))
    assert result.rows()[0]["tau"] == pytest.approx(concordance(mean("AP"), mean("Bpref_N")))
    with pytest.raises(rb.UsageError, match="two measures"):
        agreement_by_measure(JUDGMENTS, RUNS, measures=["AP"])


def test_score_by_pool_depth():
    result = score_by_pool_depth(JUDGMENTS, RUNS, measures=["AP", "RBP(p=0.8)"], depths=(2, 5))
    shallow = pools.restrict(JUDGMENTS, pools.pool(RUNS.values(), depth=2))
    anew = rb.evaluate(shallow, RUNS, "RBP(p=0.8)").mean()
    rows = rows_of(result, measure="RBP(p=0.8)", depth=2)
    assert [row["value"] for row in rows] == pytest.approx(anew.value[:, 0, 0])
    assert [row["high"] for row in rows] == pytest.approx(anew.high[:, 0, 0])
    assert [row["full"] for row in rows] == pytest.approx(mean("RBP(p=0.8)"))
    assert all(row["low"] - 1e-12 <= row["full"] <= row["high"] + 1e-12 for row in result.rows())
    axes = score_by_pool_depth.draw(result)
    points = drawn(axes)["RBP(p=0.8), pool depth 2"].get_xydata()
    assert points == pytest.approx(np.array([(row["value"], row["full"]) for row in rows]))


def test_change_by_leaving_a_group_out():
    result = change_by_leaving_a_group_out(
        JUDGMENTS, RUNS, GROUPS, measures=["RBP(p=0.8)", "RBP'(p=0.8)", "Bpref"], depth=10
    )
    left = pools.without_group(JUDGMENTS, list(RUNS.values()), GROUPS, "group3", depth=10)
    anew = rb.evaluate(left, RUNS, "RBP(p=0.8)").mean()
    row = rows_of(result, run="run7", measure="RBP(p=0.8)")[0]
    assert row["without"] == pytest.approx(anew.value[7, 0, 0])
    assert row["residual"] == pytest.approx(anew.high[7, 0, 0] - anew.low[7, 0, 0])
    assert row["unique"] == len(JUDGMENTS) - len(left)
    assert row["rank_without"] == 1 + sum(anew.value[:, 0, 0] > anew.value[7, 0, 0])
    for row in rows_of(result, measure="RBP(p=0.8)"):
        assert row["change"] <= 0
        assert -row["change"] <= row["residual"]
    condensed = [row["change"] for row in rows_of(result, measure="RBP'(p=0.8)")]
    assert np.mean(condensed) > 0  # the bias: leaving the pool raises a condensed score
