"""Confidence intervals of means: the definition solved by bisection, exact binomial tails, coverage, laws."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import rankbounds as rb
from rankbounds.evaluation.mean_intervals import intervals_of_means, student_quantile

SCORES = st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1, width=32)), min_size=2, max_size=30)
LEVELS = st.sampled_from([0.5, 0.8, 0.95, 0.99])


def plain_interval(scores, confidence):
    """All means m between 0 and 1 within t standard errors, which are scaled from m (1 - m), and what was not seen."""
    n, mean = len(scores), math.fsum(scores) / len(scores)
    if max(scores) - min(scores) <= 1e-13:
        low_end = high_end = mean
        top = bottom = 1.0
    else:
        variance = math.fsum((score - mean) ** 2 for score in scores) / (n - 1)
        t = stats.t.ppf((1 + confidence) / 2, n - 1)

        def outside(m):
            return (mean - m) ** 2 - t**2 / n * variance * m * (1 - m) / (mean * (1 - mean))

        low_end = optimize.brentq(outside, 0.0, mean, xtol=1e-14)
        high_end = optimize.brentq(outside, mean, 1.0, xtol=1e-14)
        # A score that rounding alone keeps from the end is at the end.
        top, bottom = (sum(abs(score - end) <= 1024 * 2.0**-52 for score in scores) / n for end in (1.0, 0.0))
    unseen = 1 - ((1 - confidence) / 2) ** (1 / n)
    return min(low_end, mean * (1 - top * unseen)), max(high_end, mean + (1 - mean) * bottom * unseen)


@given(SCORES, LEVELS)
def test_the_definition_solved_by_bisection(scores, confidence):
    low, high = intervals_of_means(np.array(scores), 0.0, 1.0, confidence)
    assert (float(low), float(high)) == pytest.approx(plain_interval(scores, confidence), abs=1e-7)


@given(SCORES, LEVELS, st.floats(-5, 5), st.floats(0.1, 10))
def test_laws(scores, confidence, start, span):
    """Within the range, around the mean, never without width; mirrored and moved scores have such intervals too."""
    values = np.array(scores)
    low, high = intervals_of_means(values, 0.0, 1.0, confidence)
    assert -1e-12 <= low <= values.mean() + 1e-12
    assert values.mean() - 1e-12 <= high <= 1 + 1e-12
    assert high > low
    mirrored = intervals_of_means(1 - values, 0.0, 1.0, confidence)
    assert (1 - mirrored[1], 1 - mirrored[0]) == (pytest.approx(low, abs=1e-7), pytest.approx(high, abs=1e-7))
    moved = intervals_of_means(start + span * values, start, start + span, confidence)
    assert moved == (pytest.approx(start + span * low, abs=1e-6), pytest.approx(start + span * high, abs=1e-6))
    wider = intervals_of_means(values, 0.0, 1.0, (1 + confidence) / 2)
    assert wider[0] <= low + 1e-12
    assert wider[1] >= high - 1e-12


@pytest.mark.parametrize("topics", [2, 5, 20])
def test_all_right_or_all_wrong_is_clopper_and_pearson(topics):
    exact = stats.binomtest(topics, topics).proportion_ci(0.95, "exact")
    assert intervals_of_means(np.ones(topics), 0.0, 1.0) == (pytest.approx(exact.low), 1.0)
    assert intervals_of_means(np.zeros(topics), 0.0, 1.0) == (0.0, pytest.approx(1 - exact.low))


@pytest.mark.parametrize("topics", [5, 10, 25])
@pytest.mark.parametrize("share", [0.03, 0.1, 0.3, 0.5, 0.8, 0.95])
def test_coverage_of_proportions_by_enumeration(topics, share):
    """Of yes and no every sample can be counted; near the ends coverage of single shares dips, as Wilson's does."""
    held = []
    for p in np.linspace(share - 0.02, share + 0.02, 21):
        right = np.arange(topics + 1)
        values = (np.arange(topics) < right[:, None]).astype(float)
        low, high = intervals_of_means(values, 0.0, 1.0)
        held.append(stats.binom.pmf(right, topics, p)[(low <= p) & (p <= high)].sum())
    assert np.mean(held) > 0.93
    assert min(held) > 0.88


def test_a_range_that_is_not_known_has_the_t_interval():
    values = np.array([[1.0, 4.0, 2.0, 7.0], [3.0, 3.0, 3.0, 3.0], [1.0, np.inf, 2.0, 3.0], [np.nan, 1.0, 2.0, np.nan]])
    low, high = intervals_of_means(values, -np.inf, np.inf, 0.9)
    for row, scores in ((0, values[0]), (3, np.array([1.0, 2.0]))):
        expected = stats.t.interval(0.9, scores.size - 1, scores.mean(), stats.sem(scores))
        assert (low[row], high[row]) == pytest.approx(expected)
    assert np.isnan(low[1:3]).all()
    assert np.isnan(high[1:3]).all()
    assert intervals_of_means(values[3], 0.0, np.inf)[0] == 0.0  # cut at what a mean can be


def test_one_topic_has_none_and_topics_left_out_do_not_count():
    values = np.array([[0.2, np.nan, np.nan], [0.2, 0.7, np.nan], [np.nan] * 3])
    low, high = intervals_of_means(values, 0.0, 1.0)
    assert np.isnan(low[[0, 2]]).all()
    assert np.isnan(high[[0, 2]]).all()
    assert (low[1], high[1]) == tuple(map(float, intervals_of_means(np.array([0.2, 0.7]), 0.0, 1.0)))


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 24, 49, 199, 5000, 10_000, 10_001, 1_000_000])
def test_quantiles_of_t(degrees):
    for probability in (0.6, 0.9, 0.975, 0.995, 0.99995):
        assert student_quantile(probability, degrees) == pytest.approx(stats.t.ppf(probability, degrees), rel=1e-9)


# ---- scores ----

QRELS = {str(topic): {"r": 1, "n": 0} for topic in range(6)}
RUN = {query: ["r", "n"] if int(query) % 3 else ["n", "r"] for query in QRELS}


def test_means_of_scores_have_intervals_in_every_format(tmp_path):
    scores = rb.evaluate(QRELS, {"mine": RUN}, ["RR", "P@1", "NumRelRet", "GMAP"])
    mean = scores.mean()
    low, high = intervals_of_means(scores.value[0, :, 0], 0.0, 1.0)
    assert (mean.ci_low[0, 0, 0], mean.ci_high[0, 0, 0]) == (low, high)
    assert mean.ci_low[0, 0, 0] < 5 / 6 < mean.ci_high[0, 0, 0]
    assert np.isnan(mean.ci_low[0, 0, 2])  # a count that is the same everywhere
    logs = intervals_of_means(scores.value[0, :, 3], -np.inf, np.inf)
    assert (mean.ci_low[0, 0, 3], mean.ci_high[0, 0, 3]) == (
        pytest.approx(np.exp(logs[0])),
        pytest.approx(np.exp(logs[1])),
    )
    assert np.isnan(scores.ci_low).all()
    rows = json.loads(scores.render("json", per_topic=True))
    assert [("ci_low" in row) for row in rows] == [row["query_id"] == "all" for row in rows]
    lines = [line.split(",") for line in scores["RR"].render("csv", per_topic=True).splitlines()]
    assert lines[0][6:] == ["ci_low", "ci_high", "judged_at_10"]
    assert lines[1][6:8] == ["", ""]
    assert [float(cell) for cell in lines[-1][6:]] == [low, high, scores.mean().judged.item()]
    path = tmp_path / "scores.parquet"
    scores["RR"].write_parquet(str(path), per_topic=True)
    polars = pytest.importorskip("polars")
    assert polars.read_parquet(path)["ci_high"].to_list() == [None] * 6 + [high]
    mean.save(tmp_path / "mean.json")
    assert rb.Scores.load(tmp_path / "mean.json") == mean
    narrow = scores.mean(confidence=0.5)
    assert (narrow.ci_low[0, 0, 0] > low, narrow.ci_high[0, 0, 0] < high) == (True, True)
    assert rb.read_scores(mean.to_pandas().assign(query_id="1")).measures == scores.measures
    assert "ci_low" in scores.mean().to_pandas()


def test_means_by_cluster_are_those_of_the_leaderboard(command, tmp_path):
    ids = [f"{need}_{turn}" for need in range(5) for turn in range(1 + need % 3)]
    (tmp_path / "qrels").write_text("".join(f"{query} 0 r 1\n" for query in ids))
    for name, good in (("one", "02"), ("two", "134")):
        orders = {query: "rn" if query[0] in good else "nr" for query in ids}
        lines = [f"{query} Q0 {doc} 0 {2 - at} {name}\n" for query in ids for at, doc in enumerate(orders[query])]
        (tmp_path / name).write_text("".join(lines))
    files = [tmp_path / name for name in ("qrels", "one", "two")]
    clusters = {query: query[0] for query in ids}
    systems = rb.compare(*files[:1], files[1:], "RR", clusters=clusters).systems.rows()
    mean = rb.evaluate(*files[:1], files[1:], "RR").mean(clusters=clusters)
    _, out, err = command("evaluate", *files, "-m", "RR", "--clusters", "_", "--format", "json", "--sort", "given")
    assert "9 topics in 5 clusters" in err
    for row, at, told in zip(systems, range(2), json.loads(out), strict=True):
        assert (row["ci_low"], row["ci_high"]) == (mean.ci_low[at].item(), mean.ci_high[at].item())
        assert (told["ci_low"], told["ci_high"]) == (row["ci_low"], row["ci_high"])
    narrower = rb.evaluate(*files[:1], files[1:], "RR").mean()
    assert (narrower.ci_low != mean.ci_low).all()


def test_counts_have_the_interval_of_their_sum():
    run = {query: ["r"] if int(query) % 2 else ["n"] for query in QRELS}
    mean = rb.evaluate(QRELS, {"mine": run}, "NumRelRet").mean()
    low, high = intervals_of_means(np.array([0.0, 1.0] * 3), 0.0, np.inf)
    assert (mean.ci_low.item(), mean.ci_high.item()) == (pytest.approx(6 * low), pytest.approx(6 * high))


def test_one_run_and_the_leaderboard_agree():
    other = {query: ["n", "r"] for query in QRELS}
    mean = rb.evaluate(QRELS, {"mine": RUN, "other": other}, "RR").mean(0.9)
    systems = rb.compare(QRELS, {"mine": RUN, "other": other}, "RR", confidence=0.9).systems.rows()
    ends = {row["run"]: (row["ci_low"], row["ci_high"]) for row in systems}
    assert ends == {run: (mean.ci_low[at].item(), mean.ci_high[at].item()) for at, run in enumerate(mean.runs)}


def test_tables_show_it_where_it_is_asked_for():
    scores = rb.evaluate(QRELS, {"mine": RUN, "same": RUN}, ["RR", "P@1"])
    assert "(topics)" not in scores.render("table")
    assert scores.render("table", interval=True).splitlines()[0].count("95% (topics)") == 2
    table = scores.mean().table(interval=True)
    assert {column for _, column in table.strong} == {1, 3}
    assert table.rows[0][2].startswith("[0.")
    by_topic = scores.render("table", interval=True, per_topic=True).splitlines()
    assert len(by_topic) == 1 + 12 + 2
    assert scores.topic("1").mean().table(interval=True).rows[0][2] == "-"


def test_ties_that_hardly_matter_are_not_noted():
    """Two tied documents, of which one is relevant, move one topic of many by half."""
    for topics, noted in ((50, True), (200, False)):
        qrels = {str(topic): {"r": 1} for topic in range(topics)}
        runs = {"mine": {topic: {"r": 1.0} for topic in qrels} | {"0": {"r": 1.0, "n": 1.0}}}
        assert ("ties move RR by 0.0100" in rb.evaluate(qrels, runs, "RR").render("table")) == noted
        assert ("ties" in rb.evaluate(qrels, runs, "RR").render("table")) == noted


def test_the_mean_of_one_run_is_a_number_with_its_interval():
    scores = rb.evaluate(QRELS, {"mine": RUN, "other": {query: ["n", "r"] for query in QRELS}}, ["RR", "P@1"])
    means = scores.mean()
    by_run = means["RR"]
    assert list(by_run) == ["mine", "other"]
    for run, place in (("mine", 0), ("other", 1)):
        number = means.run(run)["RR"]
        assert isinstance(number, float)
        assert number == by_run[run] == means.value[place, 0, 0]
        for name in ("low", "high", "ci_low", "ci_high"):
            assert getattr(number, name) == getattr(by_run[run], name) == getattr(means, name)[place, 0, 0]
        copied = pickle.loads(pickle.dumps(number))
        assert (copied, copied.ci_low) == (number, number.ci_low)
    assert json.dumps(number) == repr(float(number))
    assert scores["RR"].measures == means[["RR"]].measures == means[rb.RR].measures
    assert "RR" in means
    assert means.sort("P@1").runs == scores.sort("P@1").runs
    assert repr(means).count("95% (topics)") == 2
    assert "95% (topics)" not in repr(scores)
    assert means._repr_html_().count("95% (topics)") == 2
