"""Judgments that are a sample with strata: reading them, estimates against TREC's script, and their standard errors."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import rankbounds as rb
from plain import OF_SAMPLES, Sample
from rankbounds.errors import DataError
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


def test_other_measures_read_the_drawn_documents(tmp_path):
    path = tmp_path / "sample.qrels"
    path.write_text(LINES)
    scores = rb.evaluate(path, {"1": ["a", "c", "d"]}, ["P@3", "infAP"])
    assert (scores.low[0, 0, 0], scores.high[0, 0, 0]) == (pytest.approx(2 / 3), 1.0)
    assert list(itertools.chain(*scores.value[0])) == [pytest.approx(2 / 3), pytest.approx(1.0, abs=1e-4)]
