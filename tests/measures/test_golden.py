"""Other people's numbers on real data: trec_eval's own outputs, TREC-8 and TREC-COVID."""

from __future__ import annotations

import csv
import lzma

import pytest

import rankbounds as rb
from rankbounds.errors import UsageError
from rankbounds.files.opening import plain_name
from real_data import archive

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


def expected_outputs(path):
    """``{(name, topic): printed value}`` from an output of trec_eval."""
    lines = (line.split("\t") for line in path.read_text().splitlines())
    return {(name.strip(), topic): printed.strip() for name, topic, printed in lines}


def known(names):
    """The measures among these trec_eval names that we have, by name."""
    found = {}
    for name in dict.fromkeys(names):
        if name == "Rprec_mult_1.00":  # is Rprec, and a measure is scored once
            continue
        try:
            found[name] = rb.parse_measure(name)
        except UsageError:
            continue
    return found


def assert_prints_alike(scores, expected, measures, at_least):
    checked = 0
    for part in (scores, scores.mean()):
        for topic, query in enumerate(part.query_ids):
            for number, name in enumerate(measures):
                if (name, query) in expected:
                    value, printed = part.value[0, topic, number], expected[name, query]
                    digits = len(printed.partition(".")[2])
                    assert f"{value:.{digits}f}" == printed, (name, query)
                    checked += 1
    assert checked >= at_least


@pytest.mark.parametrize(
    ("output", "qrels", "run", "options", "at_least"),
    [
        ("out.test.a", "qrels.test", "results.test", {}, 60),
        ("out.test.aq", "qrels.test", "results.test", {}, 240),
        ("out.test.meas_params", "qrels.test", "results.test", {}, 40),
        ("out.test.aqc", "qrels.test", "results.trunc", {}, 240),
        ("out.comment.test", "qrels.comment.test", "results.comment.test", {"topics": "shared"}, 10),
    ],
)
def test_trec_eval_prints_the_same(unpacked, output, qrels, run, options, at_least):
    folder = unpacked("trec_eval-test.tar.xz") / "test"
    expected = expected_outputs(folder / output)
    measures = known(name for name, _ in expected)
    lenient = run == "results.trunc"  # its lines have words behind the tag
    scores = rb.evaluate(folder / qrels, folder / run, measures.values(), lenient=lenient, **options)
    assert_prints_alike(scores, expected, measures, at_least)


def test_trec_eval_prints_the_same_at_another_level_of_relevance(unpacked):
    folder = unpacked("trec_eval-test.tar.xz") / "test"
    expected = expected_outputs(folder / "out.test.aql")
    binary = (
        "map",
        "Rprec",
        "recip_rank",
        "P_10",
        "P_100",
        "recall_100",
        "num_rel",
        "num_rel_ret",
        "success_5",
        "bpref",
        "infAP",
    )
    measures = {name: measure.changed(rel=2) for name, measure in known(binary).items()}
    scores = rb.evaluate(folder / "qrels.rel_level", folder / "results.test", measures.values())
    assert_prints_alike(scores, expected, measures, at_least=44)


@pytest.fixture(scope="module")
def trec8(unpacked):
    """The folder of TREC-8, and what trec_eval printed by run, topic and measure."""
    folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
    with lzma.open(archive("trec8-adhoc.trec_eval10.tsv.xz"), "rt") as file:
        return folder, {(r["run"], r["topic"], r["measure"]): r["value"] for r in csv.DictReader(file, delimiter="\t")}


def assert_is_trec8(scores, names, expected, runs=129):
    assert len(scores.runs) == runs
    checked = 0
    for part in (scores, scores.mean()):
        for at_run, run in enumerate(scores.runs):
            for topic, query in enumerate(part.query_ids):
                for number, name in enumerate(names):
                    assert f"{part.value[at_run, topic, number]:.4f}" == expected[run, query, name], (run, query, name)
                    checked += 1
    assert checked == runs * 51 * len(names)


def test_every_trec8_value_is_that_of_trec_eval(trec8):
    folder, expected = trec8
    names = ["map", "rbp", "recip_rank", "P_10", "ndcg", "ndcg_cut_10", "unj_10"]
    scores = rb.evaluate(folder / "qrels.txt", folder / "runs", names)
    assert_is_trec8(scores, names, expected)
    dropped_tails = 0
    for part in (scores, scores.mean()):
        for at_run, run in enumerate(scores.runs):
            for topic, query in enumerate(part.query_ids):
                residual = part.high[at_run, topic, 1] - part.low[at_run, topic, 1]
                reference = expected[run, query, "rbp_resid"]
                if f"{residual:.4f}" != reference:
                    # The reference gives 0 when everything retrieved is judged: it drops what lies below the list.
                    assert reference == "0.0000", (run, query)
                    dropped_tails += 1
    assert dropped_tails == 87


def test_trec8_bpref_is_that_of_trec_eval(trec8):
    folder, expected = trec8
    runs = sorted((folder / "runs").iterdir())[::4]
    scores = rb.evaluate(folder / "qrels.txt", runs, "bpref", bounds="none")
    assert_is_trec8(scores, ["bpref"], expected, len(runs))


def test_trec_covid_official_rbp_follows_single_precision(unpacked):
    folder = unpacked("trec-covid-r5-top100.tar.xz") / "trec-covid-r5"
    with (folder / "leaderboard.csv").open() as file:
        official = {plain_name(row["tag"]): row["rbp_p5"] for row in csv.DictReader(file)}
    scores = rb.evaluate(
        folder / "qrels.txt", folder / "runs-top100", "RBP(p=0.5,graded=true)", score_precision="single"
    ).mean()
    assert len(scores.runs) == 126
    for run, value in zip(scores.runs, scores.value[:, 0, 0], strict=True):
        assert f"{value:.4f}" == official[run], run
