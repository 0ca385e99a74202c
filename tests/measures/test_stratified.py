"""Judgments that are a sample with strata: reading them, estimates against TREC's script, and their standard errors."""

from __future__ import annotations

import itertools
import json
import math
import random
import statistics

import numpy as np
import pytest

import rankbounds as rb
from plain import OF_SAMPLES, Sample
from rankbounds.errors import DataError, UsageError
from rankbounds.measures import parse_measure

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
LABELS = ["xinfAP", "xinfAP(rel=2)", "infNDCG", "infNDCG@3", "infP@3", "infNumRelRet", "infNumRel"]
NAMES = {"infAP": "xinfAP", "infNDCG": "infNDCG", "inum_rel_ret": "infNumRelRet", "inum_rel": "infNumRel"}
NAMES |= {f"iP{depth}": f"infP@{depth}" for depth in (5, 10, 15, 20, 30, 100, 200, 500, 1000)}
LINES = "1 0 a 1 1\n1 0 b 1 0\n1 0 c 2 -1\n1 0 d 2 2\n1 0 e 2 0\n1 0 f 2 -1\n"


def table(pool):
    """Judgments of one topic from documents, strata and grades (None: not drawn)."""
    documents, strata, grades = zip(*pool, strict=True)
    relevance = [-1 if grade is None else grade for grade in grades]
    return {"query_id": ["t"] * len(pool), "doc_id": documents, "stratum": strata, "relevance": relevance}


def drawn_pool(seed: int):
    """A pool of two strata of which every one has a drawn document, and a list that holds documents of neither too."""
    chance = random.Random(seed)
    pool = []
    for stratum in ("first", "second"):
        grades = [chance.choice([None, 0, 0, 1, 2]) for _ in range(chance.randint(1, 6))]
        grades[0] = chance.choice([0, 1])
        pool += [(f"{stratum}{number}", stratum, grade) for number, grade in enumerate(grades)]
    retrieved = [document for document, _, _ in pool if chance.random() < 0.7] + ["outside"]
    chance.shuffle(retrieved)
    return pool, retrieved


@pytest.mark.parametrize("seed", range(60))
def test_estimates_are_the_plain_definitions(seed):
    pool, retrieved = drawn_pool(seed)
    known = {document: (stratum, grade) for document, stratum, grade in pool}
    sample = Sample([known.get(document, (None, None)) for document in retrieved], [entry[1:] for entry in pool])
    scores = rb.evaluate(table(pool), {"t": retrieved}, LABELS)
    for label, found in zip(LABELS, scores.value.ravel(), strict=True):
        measure = parse_measure(label)
        assert found == pytest.approx(OF_SAMPLES[measure.name](sample, measure), abs=1e-12), label
    assert np.isnan(scores.low).all()


@pytest.mark.parametrize("run", ["run0", "run1", "run2"])
def test_the_script_of_trec_prints_the_same_digits(unpacked, run):
    folder = unpacked("references.tar.xz") / "references"
    labels = list(NAMES.values())
    scores = rb.evaluate(folder / "stratified.qrels", folder / f"{run}.txt", labels, topics="shared")
    lines = [line.split() for line in (folder / f"{run}.sample_eval.txt").read_text().splitlines()]
    printed = [(NAMES[name], topic, text) for name, topic, text in lines if name in NAMES]
    assert len(printed) > 250
    for label, topic, text in printed:
        values = scores.value[0, :, labels.index(label)]
        if topic != "all":
            value = values[scores.query_ids.index(topic)]
        elif label == "infNumRel":  # the script sums it over topics that the run lacks, too
            value = rb.evaluate(folder / "stratified.qrels", folder / f"{run}.txt", label).value.sum()
        else:
            value = np.nansum(values) if label == "infNumRelRet" else np.nanmean(values)
        assert f"{value:.4f}" == text, (label, topic)


def test_five_fields_are_read_and_written(tmp_path):
    path = tmp_path / "sample.qrels"
    path.write_text(LINES)
    qrels = rb.read_qrels(path)
    assert qrels["1"] == {"a": 1, "b": 0, "c": -1, "d": 2, "e": 0, "f": -1}
    assert qrels.strata.labels == ["1", "1", "2", "2", "2", "2"]
    assert qrels.text() == LINES
    for name in ("again.txt", "again.csv", "again.jsonl"):
        qrels.write(tmp_path / name)
        assert rb.read_qrels(tmp_path / name) == qrels
    assert qrels != rb.Qrels._of_pairs(qrels.pairs, qrels.grade)
    path.write_text(LINES + "1 0 a 1 1\n")
    with pytest.raises(DataError, match="listed twice"):
        rb.read_qrels(path)
    path.write_text(LINES + "1 0 g 2 high\n")
    with pytest.raises(DataError, match='grade "high"'):
        rb.read_qrels(path)


@pytest.mark.parametrize("line", ["1 Q0 d 1 25", "1 d 1 2.5 tag", "1 0 d 1 2.5"])
def test_a_run_of_five_fields_is_no_sample(tmp_path, line):
    path = tmp_path / "run"
    path.write_text(f"{line}\n")
    with pytest.raises(DataError, match="looks like a run"):
        rb.read_qrels(path)


def jackknife(pool, retrieved, label) -> float:
    """The definition, word for word: leave each drawn document out in turn."""
    variance = 0.0
    for stratum in {entry[1] for entry in pool}:
        members = [entry for entry in pool if entry[1] == stratum]
        drawn = [entry for entry in members if entry[2] is not None]
        if len(drawn) == len(members):
            continue
        if len(drawn) < 2:
            return math.nan
        left_out = [[(*entry[:2], None) if entry is out else entry for entry in pool] for out in drawn]
        values = [rb.evaluate(table(part), {"t": retrieved}, label).value.item() for part in left_out]
        mean, n = statistics.mean(values), len(drawn)
        variance += (1 - n / len(members)) * (n - 1) / n * sum((value - mean) ** 2 for value in values)
    return math.sqrt(variance)


@pytest.mark.parametrize("seed", range(12))
def test_standard_errors_are_the_jackknife(seed):
    pool, retrieved = drawn_pool(seed)
    found = rb.probability.estimate_sampling_errors(table(pool), {"t": retrieved}, LABELS)
    for row in found.rows():
        error = jackknife(pool, retrieved, row["measure"])
        if error == 0 and any(grade is None for _, _, grade in pool):
            error = math.nan  # without spread, the drawn documents say nothing of the others
        assert row["standard_error"] == pytest.approx(error, abs=1e-12, nan_ok=True), row["measure"]
        if not math.isnan(error):
            assert row["ci_high"] == pytest.approx(row["value"] + 1.959964 * error, abs=1e-6)
            assert row["ci_low"] == pytest.approx(max(0, row["value"] - 1.959964 * error), abs=1e-6)


def test_the_standard_error_is_that_of_repeated_draws():
    """Of a pool that is known, samples are drawn again and again: the spread of estimates is what the error says."""
    chance = random.Random(7)
    truth = [(f"a{number}", "top", int(chance.random() < 0.6)) for number in range(20)]
    truth += [(f"b{number}", "rest", int(chance.random() < 0.25)) for number in range(120)]
    retrieved = sorted((document for document, _, _ in truth), key=lambda name: (name[0], chance.random()))[:100]
    estimates, errors, covered = {}, {}, {}
    labels = ["xinfAP", "infNDCG", "infNumRel"]
    known = {label: rb.evaluate(table(truth), {"t": retrieved}, label).value.item() for label in labels}
    draws = 120
    for _ in range(draws):
        kept = {f"b{number}" for number in chance.sample(range(120), 40)}
        pool = [entry if entry[1] == "top" or entry[0] in kept else (*entry[:2], None) for entry in truth]
        for row in rb.probability.estimate_sampling_errors(table(pool), {"t": retrieved}, labels).rows():
            label = row["measure"]
            estimates.setdefault(label, []).append(row["value"])
            errors.setdefault(label, []).append(row["standard_error"])
            covered[label] = covered.get(label, 0) + (row["ci_low"] <= known[label] <= row["ci_high"])
    for label in labels:
        assert statistics.mean(errors[label]) == pytest.approx(statistics.stdev(estimates[label]), rel=0.25), label
        assert covered[label] / draws > 0.88, label


def test_the_error_of_a_mean_is_that_of_independent_topics(unpacked):
    folder = unpacked("references.tar.xz") / "references"
    found = rb.probability.estimate_sampling_errors(
        folder / "stratified.qrels", folder / "run1.txt", "xinfAP", per_topic=True
    )
    *topics, mean = found.rows()
    errors = [row["standard_error"] for row in topics]
    assert mean["standard_error"] == pytest.approx(math.sqrt(sum(error**2 for error in errors)) / len(topics))
    assert mean["value"] == pytest.approx(statistics.mean(row["value"] for row in topics))
    assert not found.notes()


def test_what_cannot_be_known_is_not_said(command, tmp_path):
    path = tmp_path / "sample.qrels"
    path.write_text("1 0 a 1 1\n1 0 b 1 -1\n1 0 c 1 -1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 r\n1 Q0 b 2 1 r\n")
    code, out, err = command("sampling-errors", path, tmp_path / "run", "-m", "xinfAP", "--format", "json")
    assert code == 0
    assert [row["standard_error"] for row in json.loads(out)] == [None]
    assert "fewer than two documents" in err
    code, out, _ = command("sampling-errors", path, tmp_path / "run")
    assert code == 0
    assert "infNDCG" in out
    assert command("sampling-errors", path, tmp_path / "run", "-m", "AP")[0] == 2
    with pytest.raises(UsageError, match="order"):
        rb.probability.estimate_sampling_errors(path, tmp_path / "run", ties="best")


def test_a_sample_without_spread_has_no_interval():
    pool = [("a", "x", 0), ("b", "x", 0), ("c", "x", None)]
    (row,) = rb.probability.estimate_sampling_errors(table(pool), {"t": ["a", "c", "b"]}, "infNumRel").rows()
    assert row["value"] == 0
    assert all(math.isnan(row[name]) for name in ("standard_error", "ci_low", "ci_high"))


def test_judgments_that_are_no_sample_are_told():
    found = rb.probability.estimate_sampling_errors(table([("a", "x", 0), ("b", "x", 1)]), {"t": ["b"]}, "xinfAP")
    assert [note.split(":")[0] for note in found.notes()] == ["These judgments are not a sample"]
    assert found.rows()[0]["standard_error"] == 0


def test_other_measures_read_the_drawn_documents(tmp_path):
    path = tmp_path / "sample.qrels"
    path.write_text(LINES)
    scores = rb.evaluate(path, {"1": ["a", "c", "d"]}, ["P@3", "infAP"])
    assert (scores.low[0, 0, 0], scores.high[0, 0, 0]) == (pytest.approx(2 / 3), 1.0)
    assert list(itertools.chain(*scores.value[0])) == [pytest.approx(2 / 3), pytest.approx(1.0, abs=1e-4)]
