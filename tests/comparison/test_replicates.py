"""Reruns and the noise floor, beside a plain analysis of variance, enumeration and simulation that share no code."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy import stats

import rankbounds as rb
from rankbounds.stats.significance import Resampling
from rankbounds.stats.variance_components import Anova, Design, topics_for_reliability


def made(seed=0, topics=8, reruns=(3, 3, 3), documents=6):
    """Judgments and reruns of systems of different quality, as dicts."""
    generator = np.random.default_rng(seed)
    grade = generator.integers(0, 2, (topics, documents))
    grade[:, 0] = 1
    qrels = {
        str(topic): {f"d{doc}": int(value) for doc, value in enumerate(row)} for topic, row in enumerate(grade)
    }  # fmt: skip
    runs = {}
    for system, count in enumerate(reruns):
        for rerun in range(count):
            score = grade * system + generator.normal(size=grade.shape)
            runs[f"s{system}#{rerun}"] = {
                str(topic): {f"d{doc}": float(value) for doc, value in enumerate(row)}
                for topic, row in enumerate(score)
            }
    return qrels, runs


def values(qrels, runs, measure):
    """Topic by run."""
    return rb.evaluate(qrels, runs, measure, bounds="none").value[:, :, 0].T


# ---- analysis of variance ----


def plain_two_way(scores):
    """Sums of squares and degrees of freedom of topic, system, their interaction, and within cells, cell by cell."""
    topics, systems, reruns = scores.shape
    grand = scores.mean()
    sums = dict.fromkeys(("topic", "system", "topic x system", "within"), 0.0)
    for t, s, r in itertools.product(range(topics), range(systems), range(reruns)):
        topic, system, cell = scores[t].mean(), scores[:, s].mean(), scores[t, s].mean()
        sums["topic"] += (topic - grand) ** 2
        sums["system"] += (system - grand) ** 2
        sums["topic x system"] += (cell - topic - system + grand) ** 2
        sums["within"] += (scores[t, s, r] - cell) ** 2
    degrees = {
        "topic": topics - 1, "system": systems - 1, "topic x system": (topics - 1) * (systems - 1),
        "within": topics * systems * (reruns - 1),
    }  # fmt: skip
    return sums, degrees


@pytest.mark.parametrize("seed", range(3))
def test_components_of_a_plain_two_way_analysis(seed):
    qrels, runs = made(seed)
    found = rb.compare_replicates(qrels, runs, "AP")
    scores = values(qrels, runs, "AP").reshape(8, 3, 3)
    sums, degrees = plain_two_way(scores)
    rows = {row["part"]: row for row in found.components}
    for part in ("topic", "system", "topic x system"):
        assert rows[part]["mean_square"] == pytest.approx(sums[part] / degrees[part])
        assert rows[part]["degrees"] == degrees[part]
    within = [rows["rerun"], rows["topic x rerun"]]
    assert sum(row["mean_square"] * row["degrees"] for row in within) == pytest.approx(sums["within"])
    assert sum(row["degrees"] for row in within) == degrees["within"]
    square = {part: row["mean_square"] for part, row in rows.items()}
    expected = {
        "topic x rerun": square["topic x rerun"],
        "rerun": (square["rerun"] - square["topic x rerun"]) / 8,
        "topic x system": (square["topic x system"] - square["topic x rerun"]) / 3,
        "topic": (square["topic"] - square["topic x system"]) / 9,
        "system": (square["system"] - square["topic x system"] - square["rerun"] + square["topic x rerun"]) / 24,
    }
    for part, estimate in expected.items():
        assert rows[part]["estimate"] == pytest.approx(estimate, abs=1e-15)
        assert rows[part]["variance"] == max(rows[part]["estimate"], 0)
    assert sum(row["share"] for row in found.components) == pytest.approx(1)


def test_sums_of_squares_as_statsmodels_has_them():
    formula = pytest.importorskip("statsmodels.formula.api", reason="components are held against statsmodels")
    import pandas
    from statsmodels.stats.anova import anova_lm

    qrels, runs = made(4)
    scores = values(qrels, runs, "AP")
    frame = pandas.DataFrame({
        "score": scores.ravel(),
        "topic": np.repeat(np.arange(8), 9),
        "system": np.tile(np.repeat(np.arange(3), 3), 8),
        "rerun": np.tile(np.arange(9), 8),
    })  # fmt: skip
    table = anova_lm(formula.ols("score ~ C(topic) * C(system)", frame).fit())
    rows = {row["part"]: row for row in rb.compare_replicates(qrels, runs, "AP").components}
    for part, name in (("topic", "C(topic)"), ("system", "C(system)"), ("topic x system", "C(topic):C(system)")):
        assert rows[part]["mean_square"] == pytest.approx(table.loc[name, "mean_sq"])
        assert rows[part]["degrees"] == table.loc[name, "df"]
    within = [rows["rerun"], rows["topic x rerun"]]
    assert sum(row["mean_square"] * row["degrees"] for row in within) == pytest.approx(table.loc["Residual", "sum_sq"])
    of_system = np.stack([scores[:, 3 * s : 3 * s + 3].mean(axis=1) for s in range(3)], axis=1)
    frame["left"] = (scores - np.repeat(of_system, 3, axis=1)).ravel()
    nested = anova_lm(formula.ols("left ~ C(rerun)", frame).fit())
    assert rows["rerun"]["mean_square"] * 6 == pytest.approx(nested.loc["C(rerun)", "sum_sq"])


DEVIATION = {"t": 1.0, "s": 0.8, "ts": 0.5, "sr": 0.4, "tsr": 0.6}


def simulated(generator, system, topics, deviation):
    """Scores that are the sum of effects of these standard deviations."""
    size = {"t": topics, "s": system.max() + 1, "r": system.size}
    total = np.zeros((topics, system.size))
    for effect, spread in deviation.items():
        last = "r" if "r" in effect else "s" if "s" in effect else ""
        drawn = generator.normal(0, spread, [topics if "t" in effect else 1, size[last] if last else 1])
        total += drawn[:, system] if last == "s" else drawn
    return total


def test_estimates_are_unbiased_for_any_numbers_of_reruns():
    generator = np.random.default_rng(1)
    system = np.repeat(np.arange(4), (1, 2, 4, 3))
    found = [Anova(simulated(generator, system, 6, DEVIATION), system) for _ in range(600)]
    estimates = np.stack([anova.estimates for anova in found])
    error = estimates.std(axis=0) / len(found) ** 0.5
    truth = np.array([DEVIATION.get(effect, 0.0) ** 2 for effect in found[0].effects])
    assert set(DEVIATION) <= set(found[0].effects)
    assert (np.abs(estimates.mean(axis=0) - truth) < 4.5 * error).all()


def test_intervals_and_floor_hold_what_they_promise():
    """Under normal effects, 90% intervals of variances hold the truth, and new differences lie below a 90% floor."""
    generator = np.random.default_rng(2)
    system = np.repeat(np.arange(5), 3)
    held = dict.fromkeys(DEVIATION, 0)
    below, repeats = 0, 150
    spread = np.sqrt(2 * (0.4**2 + 0.6**2 / 10))
    for _ in range(repeats):
        anova = Anova(simulated(generator, system, 10, DEVIATION), system)
        drawn = anova.drawn_variances(Resampling(400, int(generator.integers(1 << 30))))
        for effect, truth in DEVIATION.items():
            low, high = np.quantile(drawn[effect], [0.05, 0.95])
            held[effect] += low <= truth**2 <= high
        square = dict(zip(anova.effects, anova.mean_squares, strict=True))["sr"]
        below += abs(generator.normal(0, spread)) <= stats.t.ppf(0.95, 10) * np.sqrt(2 * square / 10)
    assert all(0.86 <= count / repeats <= 0.98 for count in held.values()), held
    assert 0.85 <= below / repeats <= 0.95


def test_the_floor_is_that_of_run_means():
    qrels, runs = made(3, reruns=(2, 3))
    row = rb.compare_replicates(qrels, runs, "AP", confidence=0.9).floors[0]
    means = values(qrels, runs, "AP").mean(axis=0)
    left = np.concatenate([means[:2] - means[:2].mean(), means[2:] - means[2:].mean()])
    sd = np.sqrt(2 * (left**2).sum() / 3)
    apart = [abs(means[0] - means[1]), *(abs(means[a] - means[b]) for a, b in ((2, 3), (2, 4), (3, 4)))]
    assert (row["degrees"], row["observed_pairs"]) == (3, 4)
    assert row["sd"] == pytest.approx(sd)
    assert row["floor"] == pytest.approx(stats.t.ppf(0.95, 3) * sd)
    assert row["observed_largest"] == pytest.approx(max(apart))
    assert row["observed_beyond"] == sum(size > row["floor"] for size in apart)


# ---- reliability ----


def test_topics_needed_are_the_least_that_suffice():
    variances = {"t": 1.0, "s": 0.2, "ts": 0.3, "sr": 0.01, "tsr": 0.2}
    for wanted, reruns in itertools.product((0.5, 0.8, 0.9, 0.95), (1, 2, 5)):
        needed = float(topics_for_reliability(wanted, variances, reruns))
        if np.isinf(needed):
            assert Design(10**9, reruns).reliability(variances) < wanted
            continue
        assert Design(int(needed), reruns).reliability(variances) >= wanted - 1e-12
        assert needed == 1 or Design(int(needed) - 1, reruns).reliability(variances) < wanted
    relative, absolute = (Design(10, 2).reliability(variances, absolute=kind) for kind in (False, True))
    assert relative == pytest.approx(0.2 / (0.2 + 0.03 + 0.005 + 0.01))
    assert absolute == pytest.approx(0.2 / (0.2 + 0.1 + 0.03 + 0.005 + 0.01))
    assert np.isinf(topics_for_reliability(0.99, variances, 1))


def test_reliability_of_what_is_at_hand():
    qrels, runs = made(2)
    found = rb.compare_replicates(qrels, runs, ["AP", "P@3"], reliability=0.7)
    for row in found.reliability:
        parts = {other["part"]: other["variance"] for other in found.components if other["measure"] == row["measure"]}
        error = parts["topic x system"] / 8 + parts["rerun"] / 3 + parts["topic x rerun"] / 24
        assert row["reliability"] == pytest.approx(parts["system"] / (parts["system"] + error))
        assert row["dependability"] == pytest.approx(parts["system"] / (parts["system"] + error + parts["topic"] / 8))
        assert row["reliability_low"] <= row["reliability"] <= row["reliability_high"]
    assert {row["reliability"] for row in found.plan} == {0.7}
    for row in found.plan:
        assert row["topics_low"] is None or row["topics"] is None or row["topics_low"] <= row["topics"]


# ---- names, forms, the command ----


def test_one_system_and_deterministic_reruns():
    qrels, runs = made(1, reruns=(3,))
    found = rb.compare_replicates(qrels, runs, "AP")
    assert [row["part"] for row in found.components] == ["topic", "rerun", "topic x rerun"]
    assert (found.reliability, found.plan) == ([], [])
    same = {"a#1": runs["s0#0"], "a#2": runs["s0#0"], "b": runs["s0#1"]}
    found = rb.compare_replicates(qrels, same, "AP")
    assert (found.floors[0]["floor"], found.floors[0]["observed_largest"]) == (None, 0)
    assert {row["ci_high"] for row in found.components if "rerun" in row["part"]} == {None}
    assert {row["variance"] for row in found.components if "rerun" in row["part"]} == {0}
    floors = dict(found.parts())[next(caption for caption, _ in found.parts() if caption.startswith("The noise floor"))]
    assert floors.rows[0][floors.header.index("floor")] == "-"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("#[^#]*$", ("x#1", "x#2", "y#1", "y#2")),
        (r"-seed\d+", ("x-seed1", "x-seed2", "y-seed1", "y-seed2")),
        (r"^(\w)_.*", ("x_a", "x_b", "y_a", "y_b")),
        (r"^run\d-", ("run1-x", "run2-x", "run1-y", "run2-y")),
    ],
)
def test_names_of_reruns(pattern, names):
    qrels, runs = made(0, reruns=(2, 2))
    named = dict(zip(names, runs.values(), strict=True))
    found = rb.compare_replicates(qrels, named, "AP", pattern=pattern)
    assert found.settings["runs_of_system"] == {"x": 2, "y": 2}
    assert found.components == rb.compare_replicates(qrels, runs, "AP").components


@pytest.fixture
def files(tmp_path):
    qrels, runs = made(5)
    (tmp_path / "qrels").write_text(
        "".join(f"{topic} 0 {doc} {grade}\n" for topic, of in qrels.items() for doc, grade in of.items())
    )
    (tmp_path / "runs").mkdir()
    for name, of_run in runs.items():
        (tmp_path / "runs" / name).write_text(
            "".join(f"{topic} Q0 {doc} 0 {score} {name}\n" for topic, of in of_run.items() for doc, score in of.items())
        )
    return tmp_path


def test_json_of_the_command_is_what_python_returns(command, files):
    qrels, runs = made(5)
    arguments = ("replicates", files / "qrels", files / "runs", "-m", "AP", "-m", "P@3", "--format", "json")
    code, out, err = command(*arguments)
    assert (code, err) == (0, "")
    told = json.loads(out)
    expected = rb.compare_replicates(qrels, runs, ["AP", "P@3"])
    for name in ("components", "floors", "reliability", "plan", "settings"):
        assert told[name] == json.loads(json.dumps(getattr(expected, name))), name
    assert told["words"] == expected.words()


@pytest.mark.parametrize("kind", ["table", "markdown", "latex", "html", "csv"])
def test_every_format(command, files, kind):
    code, out, _ = command("replicates", files / "qrels", files / "runs", "-m", "AP", "--format", kind)
    assert code == 0
    assert "topic x rerun" in out
    assert ("noise floor" in out) == (kind != "csv")


def test_what_cannot_be_is_one_sentence(command, files):
    qrels, runs = files / "qrels", files / "runs"
    for arguments, told in (
        (["--replicates", "nothing"], "No run is a rerun of another"),
        (["--replicates", "("], "not a regular expression"),
        (["--reliability", "1"], "between 0 and 1"),
        (["--confidence", "0"], "between 0 and 1"),
    ):
        code, out, err = command("replicates", qrels, runs, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert told in err
    code, _, err = command("replicates", qrels, runs, "-m", "ESL(n=6)")
    assert (code, "infinite" in err) == (3, True)
    assert command("replicates", qrels, runs, "-o", qrels)[0] == 2


def test_notebooks_show_it_and_frames_hold_it():
    qrels, runs = made(0)
    found = rb.compare_replicates(qrels, runs, "AP")
    assert found._repr_html_().count("<table ") == 4
    assert found.to_polars().height == found.to_pandas().shape[0] == len(found.rows()) == 5
    assert repr(found).startswith("3 systems, 3 runs of each, 8 topics.")


def test_no_floor_is_greater_than_a_difference_can_be():
    qrels = {str(topic): {"a": 1} for topic in range(4)}
    runs = {
        "x#1": {topic: ["a"] for topic in qrels},
        "x#2": {topic: ["against"] if topic == "0" else ["a"] for topic in qrels},
    }
    assert rb.compare_replicates(qrels, runs, "P@1").floors[0]["floor"] == 1.0
