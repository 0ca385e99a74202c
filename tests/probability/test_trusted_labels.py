"""Labels of several sources in order of trust: the first is truth, the others count by what they turn out to mean."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.probability.probable_differences import differences

SHARE = {0: 0.2, 1: 0.7}
"""How often people call relevant what the model labels so."""


@pytest.fixture
def files(tmp_path):
    """People judged a part of what the model labelled; two runs."""
    rng = np.random.default_rng(3)
    labels = {f"q{topic}": {f"d{doc}": int(rng.random() < 0.5) for doc in range(12)} for topic in range(5)}
    people = {
        topic: {doc: int(rng.random() < SHARE[label]) for doc, label in docs.items() if rng.random() < 0.4}
        for topic, docs in labels.items()
    }
    with (tmp_path / "labels.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["query_id", "doc_id", "relevance", "source"])
        for name, judgments in (("human", people), ("llm", labels)):
            writer.writerows(
                [topic, doc, grade, name] for topic, docs in judgments.items() for doc, grade in docs.items()
            )
    runs = {}
    for name in ("one", "two"):
        runs[name] = {topic: [f"d{doc}" for doc in rng.permutation(12)[:8]] for topic in labels}
        lines = [
            f"{q} Q0 {d} {place} {-place} {name}\n" for q, docs in runs[name].items() for place, d in enumerate(docs)
        ]
        (tmp_path / name).write_text("".join(lines))
    return people, labels, runs, [tmp_path / "labels.csv", tmp_path / "one", tmp_path / "two"]


def plain_scores(people, labels, runs):
    """RBP(p=0.5) of each run by people alone, and with the model's labels as shares drawn to one half by a document."""
    rate = {}
    for label in (0, 1):
        both = [people[q][d] for q, docs in people.items() for d in docs if labels[q][d] == label]
        rate[label] = (sum(both) + 0.5) / (len(both) + 1)
    alone, whole = {}, {}
    for name, lists in runs.items():
        alone[name] = whole[name] = 0.0
        for topic, docs in lists.items():
            for place, doc in enumerate(docs):
                weight = 0.5 * 0.5**place / len(lists)
                sure = weight * people[topic].get(doc, 0)
                alone[name] += sure
                whole[name] += sure if doc in people[topic] else weight * rate[labels[topic][doc]]
    return alone, whole


ASKED = ("-m", "RBP(p=0.5)", "--source", "human,llm", "--calibrate")


@pytest.mark.filterwarnings("ignore:.*no relevant document")
def test_compare_counts_labels_by_their_probability(command, files):
    people, labels, runs, paths = files
    code, out, err = command("compare", *paths, *ASKED, "--resamples", "50", "--format", "json")
    assert code == 0
    assert err.count("\n") <= 1  # one topic has no relevant document, which is told once
    answer = json.loads(out)
    alone, whole = plain_scores(people, labels, runs)
    assert {row["run"]: row["mean"] for row in answer["systems"]} == pytest.approx(whole)
    bounds = rb.evaluate(people, runs, "RBP(p=0.5)").mean().rows()
    assert {row["run"]: (row["low"], row["high"]) for row in answer["systems"]} == {
        row["run"]: pytest.approx((row["low"], row["high"])) for row in bounds
    }
    (sentence,) = answer["model_labels"]
    for name in runs:
        assert f"{whole[name] - alone[name]:.4f} of {name}'s {whole[name]:.4f}" in sentence
    assert f"{alone['one'] - alone['two']:+.4f}" in sentence
    _, text, _ = command("compare", *paths, *ASKED, "--resamples", "50")
    assert sentence in text


def test_uncertainty_takes_them_as_probabilities(command, files):
    people, labels, runs, paths = files
    code, out, _ = command("uncertainty", *paths, *ASKED, "--sources", "both", "--format", "json")
    assert code == 0
    alone, whole = plain_scores(people, labels, runs)
    rows = {row["run"]: row for row in json.loads(out)}
    assert {name: row["base"] for name, row in rows.items()} == pytest.approx(alone)
    assert {name: row["mean"] for name, row in rows.items()} == pytest.approx(whole)
    q = rb.probability.label_probabilities(labels, people).by_pair
    expected = rb.uncertainty(people, runs, "RBP(p=0.5)", q=q, sources="both").rows()
    assert {row["run"]: row["sd"] for row in expected} == pytest.approx({name: row["sd"] for name, row in rows.items()})


@pytest.mark.parametrize("measure", ["nDCG@5", "AP"])
@pytest.mark.parametrize("difference", [(), ("--difference",)])
def test_measures_that_are_no_sums_are_drawn(command, files, measure, difference):
    """As with the same probabilities given by document."""
    people, labels, runs, paths = files
    asked = ("-m", measure, "--source", "human,llm", "--calibrate", "--samples", "50", "--format", "json")
    code, out, _ = command("uncertainty", *paths, *asked, *(difference or ("--sources", "both")))
    assert code == 0
    q = rb.probability.label_probabilities(labels, people).by_pair
    if difference:
        expected = list(differences(people, runs, measure, q=q, samples=50).rows())
    else:
        expected = list(rb.uncertainty(people, runs, measure, q=q, samples=50, sources="both").rows())
    name = "difference" if difference else "mean"
    assert [row[name] for row in json.loads(out)] == pytest.approx([row[name] for row in expected])


def test_judge_next_does_not_take_model_labels_for_judgments(command, files):
    people, labels, runs, paths = files
    asked = ("judge-next", *paths, "-m", "RBP(p=0.5)", "--budget", "100", "--compare", "one", "two", "--format", "json")
    code, out, err = command(*asked, "--source", "human,llm", "--calibrate")
    assert code == 0
    assert "did not judge count by labels of llm" in err
    q = rb.probability.label_probabilities(labels, people).by_pair
    expected = rb.judge_next(people, runs, budget=100, measure="RBP(p=0.5)", compare=("one", "two"), q=q).rows()
    found = json.loads(out)
    assert {(row["query_id"], row["doc_id"]): row["value"] for row in found} == pytest.approx(
        {(row["query_id"], row["doc_id"]): row["value"] for row in expected}
    )
    assert all(row["doc_id"] not in people[row["query_id"]] for row in found)


@pytest.mark.filterwarnings("ignore:.*no relevant document")
def test_the_report_shows_the_same_scores_and_says_what_they_rest_on(files):
    from rankbounds.report import Choices, gather

    people, labels, runs, (table, *lists) = files
    choices = Choices.of(measures=["RBP(p=0.5)"], source="human,llm", calibrate=True, resamples=50)
    content = gather(str(table), [str(run) for run in lists], choices)
    alone, whole = plain_scores(people, labels, runs)
    assert any(f"{whole['one'] - alone['one']:.4f} of one's {whole['one']:.4f}" in told for told in content["summary"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("compare", "-m", "RBP(p=0.5)", "--source", "human", "--calibrate"), "two sources"),
        (("compare", "-m", "RBP(p=0.5)", "--calibrate"), "two sources"),
        (("compare", "-m", "nDCG@10", "--source", "human,llm", "--calibrate"), "uncertainty"),
        (("compare", "-m", "AP", "--source", "human,llm", "--calibrate"), "uncertainty"),
        (("report", "-m", "AP", "--source", "human,llm", "--calibrate", "-o", "x.html"), "uncertainty"),
        (("uncertainty", "-m", "DCG@10", "--source", "human,llm", "--calibrate"), "counts grades"),
        (
            ("compare", "-m", "P@5", "-m", "P(rel=2)@5", "--source", "human,llm", "--calibrate"),
            "one lowest relevant grade",
        ),
        (("compare", *ASKED, "--unjudged", "condensed"), "--unjudged"),
        (("uncertainty", *ASKED, "--q", "0.5"), "not from both"),
    ],
)
def test_what_does_not_go_together_is_told(command, files, asked, message):
    name, *options = asked
    code, _, err = command(name, *files[-1], *options)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
