"""Our provider for ir_measures beside its own ones: the same numbers for every measure that both compute."""

from __future__ import annotations

import csv
import random
import shutil
import subprocess
import sys

import pytest

import rankbounds as rb

theirs = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
from rankbounds.interop import ir_measures as ours  # noqa: E402 (needs the package)

LABELS = {
    "pytrec_eval": """
        AP AP(rel=2)@5 P@5 P(rel=2,judged_only=True)@5 RR R(rel=2)@5 Rprec nDCG nDCG@5 nDCG(judged_only=True)@5
        nDCG(gains={0:1,1:4})@5 nDCG(gains={0:1,1:4}) SetP SetP(relative=True) SetR SetF SetF(beta=2.0)
        SetF(judged_only=True) SetAP NumQ NumRet NumRet(rel=1) NumRel Success@3 Bpref infAP IPrec@0.1 IPrec@0.35
        IPrec(rel=2)@0.5 IPrec(judged_only=True)@0.2""",
    "cwl_eval": """
        BPM(T=1.0,max_rel=2)@20 BPM(T=2.5,max_rel=3)@4 INSQ(T=1.0,max_rel=2) INSQ(T=3.0,max_rel=4)
        INST(T=1.0,max_rel=2) INST(T=2.5,min_rel=1,max_rel=3) SDCG(max_rel=2)@10 SDCG(max_rel=3)@3
        NERR8(max_rel=2)@10 NERR8(max_rel=4)@3 NERR9(max_rel=2)@10 NERR9(max_rel=3)@4 NERR10(p=0.8,max_rel=2)
        NERR11(T=2.0,max_rel=3) RBP(p=0.7,rel=1) RBP(rel=2) P(rel=2)@3""",
    "gdeval": "ERR@5 ERR@20 nDCG(dcg='exp-log2')@5 nDCG(dcg='exp-log2')@20",
}
DIGITS = {"gdeval": 6e-6}
"""Of what a program prints."""


def collection(seed: int):
    """Two topics of graded judgments, some of them negative, and lists without ties; a third topic is not retrieved."""
    chance = random.Random(seed)
    qrels = {q: {f"d{n}": chance.choice([-1, 0, 0, 1, 2, 3]) for n in range(chance.randint(5, 25))} for q in "123"}
    run = {}
    for query in "12":
        documents = chance.sample([f"d{n}" for n in range(35)], chance.randint(8, 30))
        run[query] = {document: float(99 - place) for place, document in enumerate(documents)}
    return qrels, run


@pytest.mark.parametrize(("provider", "label"), [(name, label) for name in LABELS for label in LABELS[name].split()])
def test_the_same_numbers_as_its_own_provider(provider, label):
    if provider == "cwl_eval":
        pytest.importorskip("cwl.ruler.measures", reason="cwl-eval is not installed")
    if provider == "gdeval" and not shutil.which("perl"):
        pytest.skip("ir_measures computes this with perl")
    measure = theirs.parse_measure(label)
    assert ours.RankboundsProvider().supports(measure)
    for seed in range(4):
        qrels, run = collection(seed)
        if provider == "pytrec_eval":
            qrels = {query: {doc: grade for doc, grade in docs.items() if grade >= 0} for query, docs in qrels.items()}
        expected, found = (
            {one.query_id: one.value for one in calc.iter_calc([measure], qrels, run)}
            for calc in (getattr(theirs, provider), ours.RankboundsProvider())
        )
        assert found == pytest.approx(expected, abs=DIGITS.get(provider, 1e-9)), seed
        together = ours.RankboundsProvider().calc_aggregate([measure, theirs.AP], qrels, run)[measure]
        known = getattr(theirs, provider).calc_aggregate([measure], qrels, run)[measure]
        assert together == pytest.approx(known, abs=DIGITS.get(provider, 1e-9), nan_ok=True)


def test_everything_that_the_command_of_cwl_eval_prints(tmp_path):
    """By our measures where they are the same, by the provider's where cwl_eval stops after 1,000 ranks."""
    pytest.importorskip("cwl.cwl_eval", reason="cwl-eval is not installed")
    qrels, run = collection(5)
    qrels = {query: {doc: int(grade > 0) for doc, grade in qrels[query].items()} for query in run}
    rb.Qrels(qrels).write(tmp_path / "qrels")
    rb.Run(run).write(tmp_path / "run")
    command = [sys.executable, "-m", "cwl.cwl_eval", tmp_path / "qrels", tmp_path / "run"]
    # It writes a log into the folder where it runs.
    ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    lines = ended.stdout.splitlines()
    printed = {(topic, name): float(value) for topic, name, value, *_ in map(str.split, lines)}
    names = dict.fromkeys(name for _, name in printed)
    own = {"AP": "AP*"} | {name: f"RBP(p={name.partition('@')[2]})" for name in names if name.startswith("RBP")}
    provided = {
        name: theirs.parse_measure(name.replace("NDCG-k@", "SDCG(max_rel=1)@").replace("INST-T=", "INST(max_rel=1,T=")
                                   + ")" * name.startswith("INST"))
        for name in names if name.startswith(("NDCG-k", "INST"))
    }  # fmt: skip
    assert (len(names), len(provided)) == (16, 5)
    found = {
        (one.query_id, name): one.value
        for name, measure in provided.items()
        for one in ours.RankboundsProvider().iter_calc([measure], qrels, run)
    }
    scores = rb.evaluate(qrels, run, [own.get(name, name) for name in names if name not in provided])
    for place, name in enumerate(name for name in names if name not in provided):
        found |= {(topic, name): scores.value[0, at, place] for at, topic in enumerate(scores.query_ids)}
    for key, value in printed.items():
        assert found[key] == pytest.approx(value, abs=5.1e-5), key


SUBTOPICS = "ERR_IA@20 nERR_IA@20 alpha_DCG@20 alpha_nDCG@20 NRBP nNRBP AP_IA P_IA@20 StRecall@20"
COLUMNS = "ERR-IA@20 nERR-IA@20 alpha-DCG@20 alpha-nDCG@20 NRBP nNRBP MAP-IA P-IA@20 strec@20"


def test_subtopics_as_ndeval_has_them(unpacked):
    folder = unpacked("references.tar.xz")
    folder = folder / "references" if (folder / "references").exists() else folder
    qrels = list(theirs.read_trec_qrels(str(folder / "subtopics.qrels")))
    for number in range(3):
        run = list(theirs.read_trec_run(str(folder / f"run{number}.txt")))
        with (folder / f"run{number}.ndeval.csv").open(newline="") as lines:
            printed = {row["topic"]: row for row in csv.DictReader(lines)}
        compared = 0
        for label, column in zip(SUBTOPICS.split(), COLUMNS.split(), strict=True):
            for one in ours.RankboundsProvider().iter_calc([theirs.parse_measure(label)], qrels, run):
                if one.query_id in printed:
                    compared += 1
                    assert one.value == pytest.approx(float(printed[one.query_id][column]), abs=6e-7), label
        assert compared > 30


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (theirs.alpha_nDCG, "needs a depth"),
        (theirs.nDCG(gains={1: -2}), "gains below 0"),
        (theirs.nDCG(dcg="exp-log2", gains={1: 3}) @ 5, "no provider of ir_measures has gains"),
    ],
)
def test_what_cannot_be_computed_as_defined_is_refused_with_the_reason(measure, reason):
    qrels, run = collection(1)
    assert not ours.RankboundsProvider().supports(measure)
    with pytest.raises(ValueError, match=reason):
        ours.RankboundsProvider().calc_aggregate([measure], qrels, run)


def test_importing_the_provider_registers_nothing():
    """What other code computes with ir_measures does not change by an import."""
    assert all(one.NAME != "rankbounds" for one in theirs.DefaultPipeline.providers)


@pytest.mark.parametrize("T", [1, 2, 5])
def test_how_far_1000_ranks_are_from_all_of_them(T):  # noqa: N803 (the parameter's name)
    """cwl_eval's INSQ, whose weights sum to 1 over 1,000 ranks, is larger by the weight of what lies beyond."""
    qrels, run = collection(2)
    qrels = {query: qrels[query] for query in run}
    exact = rb.evaluate(qrels, run, rb.measures.INSQ(T=T)).mean().value.item()
    theirs_insq = theirs.INSQ(T=float(T), max_rel=1)
    found = ours.RankboundsProvider().calc_aggregate([theirs_insq], qrels, run)[theirs_insq]
    weights = rb.measures.INSQ(T=T).weights(ours.RANKS)
    assert found == pytest.approx(exact / weights.sum())
    assert 1 < found / exact < 1.011
