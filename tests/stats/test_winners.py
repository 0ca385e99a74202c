"""The best of many: the distribution cut off by scanning leads, coverage and bias in made worlds, rows and words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import optimize, stats

import rankbounds as rb
from array_scores import scores_of
from rankbounds.evaluation.mean_intervals import student_quantile
from rankbounds.stats.winners import OF_ALPHA, OF_POINT, lead_over_baseline, lead_over_second


def scanned(merits, run, against, picked):
    """Between which leads the same runs are picked: means are moved along with the lead, one lead after the other."""
    means, covariance = merits.mean(axis=1), np.cov(merits) / merits.shape[1]
    direction = np.zeros(len(means))
    direction[run], direction[against] = 1.0, -1.0
    lead, variance = direction @ means, direction @ covariance @ direction
    slopes = covariance @ direction / variance
    grid = np.linspace(lead - 12 * variance**0.5, lead + 12 * variance**0.5, 240_001)
    same = [picked(means + slopes * (other - lead)) for other in grid]
    inside = grid[np.array(same)]
    ends = inside.min(), inside.max()
    return lead, variance**0.5, tuple(np.where(np.isclose(ends, grid[[0, -1]]), [-np.inf, np.inf], ends))


def solved(lead, error, ends, share, reach, degrees):
    """The mean of a t distribution, cut off at the ends and at ``reach``, that has such a share below the lead."""

    def excess(mean):
        low, high = max(ends[0], mean - reach * error), min(ends[1], mean + reach * error)
        start, here, end = stats.t.cdf((np.array([low, lead, high]) - mean) / error, degrees)
        return (here - start) / (end - start) - share

    return optimize.brentq(excess, lead - reach * error + 1e-9 * error, lead + reach * error - 1e-9 * error)


def made(seed, runs=5, topics=12):
    generator = np.random.default_rng(seed)
    return generator.normal(size=topics) + generator.normal(0, 0.7, (runs, topics))


@pytest.mark.parametrize("seed", range(4))
def test_against_a_scan_of_all_leads(seed):
    merits, degrees = made(seed), 11
    found = lead_over_baseline(merits, 4)
    *case, ends = scanned(merits, found.run, 4, lambda means: int(np.argmax(means[:4])) == found.run)
    reaches = [stats.t.ppf(1 - level / 8, degrees) for level in (OF_POINT, OF_ALPHA * 0.05)]
    left = (0.05 - OF_ALPHA * 0.05) / (1 - OF_ALPHA * 0.05)
    middle = solved(*case, ends, 0.5, reaches[0], degrees)
    low, high = (solved(*case, ends, share, reaches[1], degrees) for share in (1 - left / 2, left / 2))
    wanted = [min(max(middle, low), high), low, high]
    assert [found.corrected_lead, found.ci_low, found.ci_high] == pytest.approx(wanted, abs=2e-3)
    second = lead_over_second(merits)
    order = (second.run, second.against)
    *case, ends = scanned(merits, *order, lambda means: tuple(np.argsort(-means)[:2]) == order)
    reach = stats.t.ppf(0.975, degrees)
    median = solved(*case, ends, 0.5, reach, degrees)
    assert second.corrected_lead == pytest.approx((second.lead + min(median, second.lead)) / 2, abs=2e-3)
    plain = stats.ttest_rel(merits[order[0]], merits[order[1]]).confidence_interval(0.95)
    assert (second.ci_low, second.ci_high) == (pytest.approx(plain.low), pytest.approx(plain.high))


def test_scores_in_steps_are_picked_up_to_half_a_step():
    """Between two orders of means in steps lies half a step: where a run ties with its rivals, it is still picked."""
    step, topics = 0.1, 12
    merits = np.round(made(3, topics=topics) / step / 4) * step
    found = lead_over_baseline(merits, 4)
    rivals = [run for run in range(4) if run != found.run]
    half = step / topics / 2

    def picked(means):
        return bool((means[found.run] + half >= means[rivals]).all())

    *case, ends = scanned(merits, found.run, 4, picked)
    *_, without = scanned(merits, found.run, 4, lambda means: bool((means[found.run] >= means[rivals]).all()))
    reach = stats.t.ppf(1 - OF_ALPHA * 0.05 / 8, topics - 1)
    left = (0.05 - OF_ALPHA * 0.05) / (1 - OF_ALPHA * 0.05)
    low = solved(*case, ends, 1 - left / 2, reach, topics - 1)
    assert found.ci_low == pytest.approx(low, abs=2e-4)
    assert abs(low - solved(*case, without, 1 - left / 2, reach, topics - 1)) > 1e-3  # so that the half step shows


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_the_corrected_lead_is_right_on_average_and_its_interval_holds(spread):
    generator = np.random.default_rng(3)
    truth = generator.normal(0, spread, 12)
    errors, plain, corrected = [], [], []
    for _ in range(400):
        merits = truth[:, None] + generator.normal(size=30) + generator.normal(size=(12, 30))
        found = lead_over_baseline(merits, 11)
        true = truth[found.run] - truth[11]
        apart = merits[found.run] - merits[11]
        half = student_quantile(0.975, 29) * apart.std(ddof=1) / 30**0.5
        plain.append(abs(found.lead - true) <= half)
        corrected.append(found.ci_low <= true <= found.ci_high)
        errors.append((found.lead - true, found.corrected_lead - true))
        assert found.ci_low <= found.corrected_lead <= found.ci_high
    biased, left = np.mean(errors, axis=0)
    assert biased > 0.1
    assert abs(left) < biased / 3
    assert np.mean(plain) < 0.935
    assert np.mean(corrected) > 0.93


def test_laws():
    """A lead far ahead needs no correction; order, scale and shifts of all runs on a topic do not matter."""
    merits = made(1)
    far = merits + np.array([50.0, 0, 0, 0, 0])[:, None]
    found = lead_over_baseline(far, 4)
    assert found.corrected_lead == pytest.approx(found.lead)
    first = lead_over_baseline(merits, 4)
    turned = lead_over_baseline(merits[::-1], 0)
    assert (4 - turned.run, turned.corrected_lead) == (first.run, pytest.approx(first.corrected_lead))
    moved = lead_over_baseline(3 * merits + np.arange(12), 4)
    assert moved.ci_low == pytest.approx(3 * first.ci_low)
    same = lead_over_second(np.array([[1.0, 2.0], [0.5, 1.5], [0.0, 0.0]]))
    assert (same.lead, np.isnan(same.corrected_lead)) == (0.5, True)


# ---- comparisons ----


def compared(measure="AP", **how):
    values = np.clip(0.5 + made(7) / 6, 0, 1)
    rows = {f"r{run}": {measure: {str(topic): x for topic, x in enumerate(row)}} for run, row in enumerate(values)}
    names = ["run", "query_id", "measure", "value"]
    listed = [(run, topic, measure, x) for run in rows for topic, x in rows[run][measure].items()]
    pandas = pytest.importorskip("pandas")
    return rb.compare(pandas.DataFrame(listed, columns=names), **how), values


def test_rows_and_words():
    found, values = compared(baseline="r4", test="t", correction="holm")
    first, second = found.winner().rows()
    lead = lead_over_baseline(values, 4)
    assert first == {
        "measure": "AP", "run": f"r{lead.run}", "against": "r4", "lead": pytest.approx(lead.lead),
        "corrected_lead": pytest.approx(lead.corrected_lead), "ci_low": pytest.approx(lead.ci_low),
        "ci_high": pytest.approx(lead.ci_high), "differing": 12,
        "p_adjusted": next(row["p_adjusted"] for row in found.pairs.rows() if row["run"] == f"r{lead.run}"),
    }  # fmt: skip
    assert second["p_adjusted"] is None  # two runs that the comparison does not hold against each other
    assert second["against"] == f"r{lead_over_second(values).against}"
    words = found.winner().words().splitlines()
    assert words[0].startswith(f"AP: r{lead.run}, the best of 4, differs by +")
    assert ("corrected for selection (it was picked" in words[0]) == (
        f"{lead.lead:.4f}" != f"{lead.corrected_lead:.4f}"
    )
    assert "the second" in words[1]
    assert words[0] in repr(found)
    assert list(found.winner().to_pandas().columns) == list(first)


def test_a_lead_has_one_interval():
    """Where the correction for selection is too small to be seen, the answer has the interval of the table's row."""
    names = ["run", "query_id", "measure", "value"]
    pandas, rng = pytest.importorskip("pandas"), np.random.default_rng(3)
    base = rng.uniform(0.2, 0.4, 12)
    values = {"old": base, "poor": base - 0.1 + rng.normal(0, 0.02, 12), "good": base + 0.3 + rng.normal(0, 0.02, 12)}
    listed = [(run, str(topic), "AP", x) for run, row in values.items() for topic, x in enumerate(row)]
    for baseline in ("old", None):
        found = rb.compare(pandas.DataFrame(listed, columns=names), baseline=baseline)
        first = found.winner().words().splitlines()[0]
        (row,) = (row for row in found.pairs.rows() if {row["run"], row["against"]} == {"good", "old"})
        assert "corrected for selection" not in first
        assert f"{row['difference']:+.4f} [{row['ci_low']:+.4f}, {row['ci_high']:+.4f}] from" in first


def test_two_runs_are_not_picked():
    qrels = {"1": {"r": 1}, "2": {"r": 1}}
    pair = rb.compare(qrels, {"a": {"1": ["r"], "2": ["r"]}, "b": {"1": ["n", "r"], "2": ["r"]}}, "RR")
    with pytest.raises(rb.UsageError, match="no winner was selected"):
        pair.winner()


def test_lower_is_better():
    """The run minus the other, as everywhere: the best has fewer documents to read."""
    qrels = {str(topic): {"r": 1} for topic in range(6)}
    depth = {"near": [0, 0, 0, 0, 1, 0], "far": [3, 2, 3, 1, 3, 2], "middle": [1, 2, 1, 1, 2, 1]}
    runs = {
        run: {topic: [*(f"n{at}" for at in range(many[int(topic)])), "r"] for topic in qrels}
        for run, many in depth.items()
    }
    (row,) = rb.compare(qrels, runs, "ESL", test="t", correction="holm").winner().rows()
    assert (row["run"], row["against"], row["lead"]) == ("near", "middle", pytest.approx(-7 / 6))
    assert row["ci_low"] <= row["corrected_lead"] <= row["ci_high"]


@pytest.mark.parametrize("baseline", [None, "c"])
def test_few_topics_that_differ_have_no_interval(baseline):
    """As the difference itself: the sign of five topics shows nothing at the level .05."""
    values = np.linspace(0.2, 0.7, 24).reshape(3, 8)[::-1].copy()
    values[1, 5:] = values[2, 5:] = values[0, 5:]
    scores = scores_of(values[..., None], measures=("AP",))
    baseline = baseline and scores.runs[2]
    for confidence, known in ((0.95, False), (0.9, True)):
        found = rb.compare(scores, baseline=baseline, confidence=confidence).winner()
        assert [row["ci_low"] is not None for row in found.rows()] == [known] * len(found.rows())
        assert ("on 5 of 8 topics: how much is chance is not known" in found.words()) != known


def test_the_command_says_it(tmp_path, capsys):
    from rankbounds.cli import main

    found, _ = compared()
    path = tmp_path / "scores.csv"
    path.write_text(found.scores.render("csv", per_topic=True))
    assert main(["compare", "--scores", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["winner"][0]["run"] == found.winner().rows()[0]["run"]
