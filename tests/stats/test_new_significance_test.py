"""A test of significance is one object: whatever is registered works everywhere and agrees with itself."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import test_comparison_laws as laws
import test_equivalence
import test_gate
from scipy.special import ndtr

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.comparison import Evidence
from rankbounds.report import Choices, gather
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.power import topics_that_must_differ
from rankbounds.stats.significance import TESTS, PairedTest, p_values, register, t_statistic
from rankbounds.tables import as_json

NAME = "z"
CANNOT = ("Can the test succeed? No", "Can the test succeed? Not as judged")


def z_test(differences, alternative, _):
    """As the t test, but the statistic is taken to be normal."""
    z = t_statistic(differences)
    distance = {"two-sided": np.abs(z), "greater": z, "less": -z}[alternative]
    return np.minimum(1.0, (2 if alternative == "two-sided" else 1) * ndtr(-distance))


def least_of_z(differing, topics):
    """Equal differences are the most extreme ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(differing > 0, np.sqrt(differing * (topics - 1) / np.maximum(topics - differing, 0)), 0.0)
    return ndtr(-z)


@pytest.fixture(params=[least_of_z, None], ids=["its smallest p is known", "its smallest p is not known"])
def z(request):
    """The test, registered by this one object; it goes after each test."""
    yield register(PairedTest(NAME, z_test, request.param)).name
    del TESTS[NAME]


def scores_that_differ(on, topics):
    """Two runs, the first of which is better on some of the topics."""
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(topics)}
    first, second = {"r": 2, "n": 1}, {"n": 2, "r": 1}
    runs = {"good": dict.fromkeys(qrels, first)}
    runs["bad"] = {topic: second if int(topic) < on else first for topic in qrels}
    return rb.evaluate(qrels, runs, "RR")


@pytest.mark.parametrize(
    "law",
    [
        laws.test_equal_scores_compare_equal,
        laws.test_swapped_runs_mirror_the_verdict,
        laws.test_a_topic_that_both_answer_alike_changes_no_winner,
    ],
    ids=lambda law: law.__name__,
)
def test_it_obeys_the_laws_of_comparisons(z, law):
    law(z)


def test_it_obeys_the_laws_of_margins_and_gates(z):
    of_margins = test_equivalence.TestTwoOneSidedTests()
    of_margins.test_swapped_runs_are_as_equivalent(z)
    of_margins.test_a_wider_margin_is_never_harder_to_show(z)
    test_gate.TestAnswers().test_p_values_are_those_of_compare(z)


def test_it_needs_finite_differences_unless_it_is_one_of_order(z):
    laws.TestTests().test_infinite_differences_need_a_test_of_order(z)
    register(replace(TESTS[z], of_mean=False, p_values=TESTS["sign"].p_values))
    found = rb.compare(laws.scores_of([[1, 2, np.inf], [2, 1, 3]], "ESL(n=1)"), test=z)
    assert found.pairs.rows()[0]["p_value"] == 1
    with pytest.raises(rb.UsageError, match="about the mean, but the z test compares"):
        rb.compare(scores_that_differ(3, 8), test=z).gate("RR worse", margin=0.1)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("name", [*TESTS, NAME])
def test_no_answer_contradicts_another(name, alternative):
    """Where a difference is shown, the test could succeed; where the words say that it cannot, none is shown."""
    known = TESTS.get(name) or register(PairedTest(NAME, z_test, least_of_z))
    answers = set()
    try:
        for differing, topics in itertools.chain(*(((on, of) for on in range(of + 1)) for of in (5, 12, 18))):
            scores = scores_that_differ(differing, topics)
            compared = rb.compare(scores, test=known.name, alternative=alternative, alpha=0.01, resamples=150)
            words = compared.words()
            shown = compared.pairs.rows()[0]["p_adjusted"] < 0.01
            can = not any(sentence in words for sentence in CANNOT)
            assert ("Is it noise? Probably not" in words) == shown
            assert can or not shown, (differing, topics, words)
            undecided = compared.gate("RR different").outcomes[0]
            assert undecided.answer == "undecided" or "cannot decide" not in undecided.words()
            answers.add((shown, can))
    finally:
        TESTS.pop(NAME, None)
    assert (True, True) in answers or alternative == "greater"
    assert (False, False) in answers or name == "bootstrap"  # of which no more is known than its resamples


def test_what_it_cannot_reach_is_known_where_it_says_so(z):
    known = TESTS[z].one_sided_least is not None
    smallest = rb.stats.smallest_p_value([1, 3, 8], 20, z)
    must = topics_that_must_differ(20, z, 0.05)
    assert (must is not None) == known
    assert np.isnan(smallest).all() != known
    if known:
        outcomes = np.zeros((3, 20))
        for row, differing in enumerate((1, 3, 8)):
            outcomes[row, :differing] = 0.25
        assert p_values(outcomes, z) == pytest.approx(smallest)
        assert rb.stats.smallest_p_value(must, 20, z) < 0.05 <= rb.stats.smallest_p_value(must - 1, 20, z)


def test_everybody_knows_it(z, tmp_path, capsys):
    scores = scores_that_differ(6, 12)
    for fitting in ("holm", "bh"):
        register(replace(TESTS[z], correction=fitting, source="sakai2006evaluating"))
        three = replace(
            scores,
            runs=[*scores.runs, "third"],
            run_notes=[*scores.run_notes, scores.run_notes[0]],
            **{part: getattr(scores, part)[[0, 1, 1]] for part in ("value", "low", "high", "judged")},
        )
        compared = rb.compare(three, test=z)
        assert compared.settings["correction"] == fitting
        used = CORRECTIONS[fitting].words.format(alone="z test", pairs="all 3 pairs")
        assert f"z test of each pair alone; p corrected: {used} (12 topics)" in compared.method()
        assert "sakai2006evaluating" in compared.to_bibtex()
        assert CORRECTIONS[fitting].source in compared.to_bibtex()
    labels = {"half": {str(topic): "first" if topic < 6 else "second" for topic in range(12)}}
    assert rb.compare(scores, test=z).slices(labels).method().startswith("Slices: z test, corrected")
    assert "(z test, p = " in rb.compare(scores, test=z).gate("RR worse").words()
    with pytest.raises(rb.UsageError, match=r"Choose from: .*, z\b"):
        rb.compare(scores, test="zz")
    qrels, runs = tmp_path / "qrels", [tmp_path / "one", tmp_path / "two"]
    qrels.write_text("".join(f"{topic} 0 r 1\n{topic} 0 n 0\n" for topic in range(9)))
    for run, order in zip(runs, ("rn", "nr"), strict=True):
        lines = [f"{topic} Q0 {doc} 0 {-place} {run.name}\n" for topic in range(9) for place, doc in enumerate(order)]
        run.write_text("".join(lines))
    assert main(["compare", str(qrels), *map(str, runs), "-m", "RR", "--test", z, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["tested_by"] == "z test"
    assert as_json(Evidence.read(qrels, runs).compare("RR", test=z).pairs.rows()) == told["pairs"]
    (power,) = rb.stats.discriminative_power(rb.evaluate(qrels, runs, "RR"), 0.05, z).rows()
    assert power["test"] == z
    page = gather(qrels, runs, Choices.of(measures=["RR"], test=z))
    assert page["comparison"] == told["settings"]
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert "bootstrap, z" in " ".join(capsys.readouterr().out.split())
