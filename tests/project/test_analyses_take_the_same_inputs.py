"""The functions that analyse take judgments and runs in the forms that ``evaluate`` takes, judgments first."""

from __future__ import annotations

import inspect
import operator

import pytest

import rankbounds as rb

MADE = rb.studies.simulate(
    runs=3, topics=3, documents=40, depth=12, pool_depth=6, grades=2, ties=0.2, relevant=0.3, seed=3
)
QRELS, RUNS = MADE.pooled.to_dict(), {run.name: run.to_dict() for run in MADE.runs}
PAIR = dict(list(RUNS.items())[:2])
ONE = dict(list(RUNS.items())[:1])
TOPIC = next(iter(QRELS))
PRINTED = {("map", "all"): "0.5000", ("P_5", TOPIC): "0.2000"}

CALLS = {
    "rbp.bounds_by_depth": (RUNS, lambda qrels, runs: list(rb.rbp.bounds_by_depth(qrels, runs, 4).rows())),
    "rbp.bounds_by_persistence": (
        RUNS,
        lambda qrels, runs: list(rb.rbp.bounds_by_persistence(qrels, runs, (0.3, 0.8)).rows()),
    ),
    "rbp.list_contributions": (ONE, lambda qrels, runs: rb.rbp.list_contributions(qrels, runs, TOPIC)),
    "rbp.find_crossings": (PAIR, lambda qrels, runs: rb.rbp.find_crossings(qrels, runs, per_topic=True).rows()),
    "explain": (ONE, lambda qrels, runs: rb.explain(qrels, runs, PRINTED).rows()),
    "judge_next": (RUNS, lambda qrels, runs: rb.judge_next(qrels, runs, budget=5).rows()),
    "rbp.persistence_agreement": (RUNS, lambda qrels, runs: rb.rbp.persistence_agreement(qrels, runs, p=(0.5, 0.9))),
    "compare_replicates": (RUNS, lambda qrels, runs: rb.compare_replicates(qrels, runs, "AP", pattern=r"\d+$").rows()),
    "uncertainty": (
        RUNS,
        lambda qrels, runs: list(rb.uncertainty(qrels, runs, "P@5", q=0.3, sources="both").rows()),
    ),
}


def as_qrels_and_runs(runs):
    """Our own objects."""
    return MADE.pooled, [run for run in MADE.runs if run.name in runs]


@pytest.mark.parametrize("name", CALLS)
def test_every_form_gives_the_same(name, tmp_path):
    runs, call = CALLS[name]
    expected = call(QRELS, runs)
    assert expected
    assert call(*as_qrels_and_runs(runs)) == expected
    (tmp_path / "runs").mkdir()
    MADE.pooled.write(tmp_path / "qrels.txt")
    for run in MADE.runs:
        if run.name in runs:
            run.write(tmp_path / "runs" / f"{run.name}.txt")
    assert call(tmp_path / "qrels.txt", tmp_path / "runs") == expected
    assert call(str(tmp_path / "qrels.txt"), str(tmp_path / "runs" / "*")) == expected


@pytest.mark.parametrize("name", CALLS)
def test_judgments_come_first(name):
    first, second, *_ = inspect.signature(operator.attrgetter(name)(rb)).parameters
    assert (first, second.rstrip("s")) == ("qrels", "run")


@pytest.mark.parametrize("name", ["rbp.list_contributions", "rbp.find_crossings", "explain"])
def test_too_many_runs_are_an_error_that_says_how_many(name):
    with pytest.raises(rb.UsageError, match="3 were given"):
        CALLS[name][1](QRELS, RUNS)
