"""What a comparison prints: the answer first, within a budget of lines and words on a terminal of 80 columns."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from pathlib import Path

import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.commands.demo import DATA

REAL = os.environ.get("RANKBOUNDS_DATA")
RUN = {name: DATA / "runs" / f"{name}.txt" for name in ("bm25", "learned", "dense", "reranked", "bm25-expanded")}


@pytest.fixture
def shown(monkeypatch, capfd):
    """Run compare on a terminal of 80 columns; return what it prints there."""

    def call(*arguments):
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert main(["compare", *map(str, arguments), "--color", "never"]) in (0, 1, 4)
        return capfd.readouterr().out

    return call


def within(text, lines, words):
    assert text.strip(), "the command answered"
    assert len(text.splitlines()) <= lines
    assert len(text.split()) <= words


@pytest.mark.parametrize("pair", [("bm25", "learned"), ("bm25", "dense"), ("dense", "reranked"), ("learned", "dense")])
def test_two_runs_of_the_demo(shown, pair):
    text = shown(DATA / "qrels.txt", *(RUN[name] for name in pair), "-m", "nDCG@10")
    within(text, 10, 110)
    assert f"{pair[1]} is " in text.splitlines()[0] or text.startswith(f"No difference between {pair[1]} and {pair[0]}")
    assert "no tied scores matter" not in text
    explained = shown(DATA / "qrels.txt", *(RUN[name] for name in pair), "-m", "nDCG@10", "--explain")
    assert "Is it noise?" in explained
    assert "Could ties?" in explained


@pytest.mark.skipif(not REAL, reason="no real data here")
@pytest.mark.parametrize(
    ("folder", "runs", "pair"),
    [
        ("trec8-adhoc", "runs", ("input.READWARE2", "input.surffal2")),
        ("trec-covid-r5", "runs-top100", ("BRPHJ_bert", "BioInfo-run1")),
        ("trec-covid-r5", "runs-top100", ("UPrrf102-r5", "CSIROmedNIR")),
    ],
)
def test_two_runs_of_real_data(shown, unpacked, folder, runs, pair):
    archive = {"trec8-adhoc": "trec8-adhoc.tar.xz", "trec-covid-r5": "trec-covid-r5-top100.tar.xz"}[folder]
    place = Path(unpacked(archive)) / folder
    within(shown(place / "qrels.txt", *(place / runs / name for name in pair), "-m", "nDCG@10"), 10, 110)


@pytest.mark.parametrize("more", [(), ("--baseline-run", "bm25")])
def test_three_runs_and_two_measures(shown, more):
    files = [RUN[name] for name in ("bm25", "learned", "dense")]
    text = shown(DATA / "qrels.txt", *files, "-m", "nDCG@10", "-m", "AP", *more)
    within(text, 20, 160)
    assert text.startswith("nDCG@10: dense, the best of ")
    assert ("group" in text) != ("p corrected" in text), "one notation of significance"


def test_columns_of_one_idea_go_together(shown):
    for names in (("bm25", "learned"), tuple(RUN)):
        for measures in (["nDCG@10"], ["nDCG@10", "AP", "RBP(p=0.8)"]):
            asked = [word for measure in measures for word in ("-m", measure)]
            text = shown(DATA / "qrels.txt", *(RUN[name] for name in names), *asked, "--baseline-run", "bm25")
            headers = [line for line in text.splitlines() if "(topics)" in line and not line.startswith("(not")]
            assert headers
            assert all(("  won" in line) == ("  lost" in line) for line in headers)


def test_intervals_say_what_they_are_about():
    compared = rb.compare(DATA / "qrels.txt", [RUN[name] for name in ("bm25", "learned", "dense")], "AP")
    assert {"95% (topics)", "bounds (unjudged)"} <= set(compared.table().header)
    pairs = compared.pairs.table()
    assert {"95% (topics)", "bounds (unjudged)"} <= set(pairs.header)
    for heading in ("95% (topics)", "bounds (unjudged)"):
        cells = [row[pairs.header.index(heading)] for row in pairs.rows]
        assert all(cell[0] == "[" and cell[1] in "+-" and cell.split(", ")[1][0] in "+-" for cell in cells)


def test_letters_are_those_of_the_runs_shown():
    topics = [str(topic) for topic in range(12)]
    runs = {f"r{place:02}": {t: [f"n{at}" for at in range(place)] + ["r"] for t in topics} for place in range(9)}
    compared = rb.compare({topic: {"r": 1} for topic in topics}, runs, "RR")
    whole, top = compared.table(), compared.table(top=3)
    assert "group" not in whole.header or len(whole.rows) == 9
    at = top.header.index("group")
    assert [row[at] for row in top.rows] == ["a", "b", "c"]
    assert len({row["group"] for row in compared.systems.rows()}) == 9


def test_csv_has_the_pairs(tmp_path, command):
    files = [DATA / "qrels.txt", *RUN.values()]
    code, _, _ = command("compare", *files, "-m", "AP", "-o", tmp_path / "pairs.csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "pairs.csv").read_text())))
    pairs = json.loads(command("compare", *files, "-m", "AP", "--format", "json")[1])["pairs"]
    assert len(rows) == len(pairs) == 10
    assert list(rows[0]) == list(pairs[0])
    assert [(row["run"], float(row["p_adjusted"])) for row in rows] == [
        (row["run"], row["p_adjusted"]) for row in pairs
    ]


def test_the_gate_answers_first(command):
    asked = ["compare", DATA / "qrels.txt", RUN["bm25"], RUN["learned"], "--fail-if", "nDCG@10 worse by 0.01"]
    code, out, err = command(*asked)
    first = "PASS: learned is not worse than bm25 by nDCG@10 (margin 0.01): +0.1299 [+0.0349, +0.2249]"
    assert (code, out.splitlines()[0], err) == (0, first, "")
    assert "equivalent" not in out
    assert "gate passed" not in out
    explained = command(*asked, "--explain")[1]
    assert explained.startswith(first)
    assert "gate passed: learned is better than bm25 by 0.1299" in explained
    gate = rb.compare(DATA / "qrels.txt", [RUN["bm25"], RUN["learned"]]).gate(["nDCG@10 worse", "AP < 0.9"])
    assert repr(gate).splitlines()[0] == "FAIL: of 2 checks, 1 passed, 1 failed"
    assert "brief" not in gate.rows()[0]


@pytest.mark.parametrize(
    "more", [(), ("--explain",), ("--fail-if", "nDCG@10 worse"), ("--fail-if", "nDCG@10 worse", "--explain")]
)
@pytest.mark.parametrize("pair", [("dense", "reranked"), ("reranked", "bm25")])
def test_without_bounds_nothing_is_said_of_unjudged_documents(shown, pair, more):
    asked = DATA / "qrels.txt", *(RUN[name] for name in pair), "-m", "nDCG@10", *more
    text, bounded = shown(*asked, "--bounds", "none"), shown(*asked)
    for said in ("unjudged", "Judge first", "Which judgments"):
        assert said not in text
    assert "unjudged" in bounded
    row = rb.compare(DATA / "qrels.txt", [RUN[name] for name in pair], "nDCG@10", bounds="none").pairs.rows()[0]
    assert row["certain_low"] is row["certain_high"] is row["probability_better_if_judged"] is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (["condensed"], "unjudged documents left out"),
        (["relevant"], "unjudged documents counted as relevant"),
        (["expected", "--q", "0.2"], "unjudged documents counted by probability"),
    ],
)
def test_the_answer_names_what_unjudged_documents_count_as(shown, rule, words):
    asked = DATA / "qrels.txt", RUN["dense"], RUN["reranked"], "-m", "DCG@10", "--unjudged", *rule
    for more in ((), ("--explain",), ("--fail-if", "DCG@10 worse"), ("--fail-if", "DCG@10 worse", "--explain")):
        first = " ".join(shown(*asked, *more).split(".\n")[0].split())
        assert f"DCG@10, {words}" in first
        assert "as judged" not in first
    assert words not in shown(*asked[: -1 - len(rule)])


def test_topics_needed_are_said_to_be_for_an_uncorrected_pair():
    files = [str(RUN[name]) for name in ("bm25", "learned", "dense", "reranked", "bm25-expanded")]
    alone = "topics are needed for this pair alone, with p not corrected."
    assert alone in rb.compare(DATA / "qrels.txt", files, "nDCG@10").words()
    assert alone not in rb.compare(DATA / "qrels.txt", files, "nDCG@10", correction="none").words()


def test_a_test_that_cannot_succeed_has_no_detectable_difference():
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(20)}
    good = {topic: ["r", "n"] for topic in qrels}
    words = rb.compare(qrels, {"old": good | {"1": ["n", "r"], "2": ["n", "r"]}, "new": good}, "RR").words()
    assert "Can the test succeed? No: even with more judgments, at most 2 of 20" in words
    assert "What would settle it?" not in words


def test_a_level_unlike_that_of_the_interval_is_named(shown):
    asked = DATA / "qrels.txt", RUN["bm25"], RUN["learned"], "-m", "nDCG@10"
    assert ", level 0.001)" in " ".join(shown(*asked, "--alpha", "0.001").split("\n\n")[0].split())
    assert "level" not in shown(*asked, "--alpha", "0.01", "--confidence", "0.99").split("\n\n")[0]
    assert "level" not in shown(*asked).split("\n\n")[0]


def test_with_a_baseline_the_best_run_comes_first(shown):
    asked = DATA / "qrels.txt", *RUN.values(), "-m", "nDCG@10", "--baseline-run"
    order = [row["run"] for row in rb.compare(DATA / "qrels.txt", [*RUN.values()], "nDCG@10").leaderboard("nDCG@10")]
    for baseline in ("reranked", "learned"):
        others = [run for run in order if run != baseline]
        for more, count in (((), 4), (("--top", "3"), 3)):
            lines = shown(*asked, baseline, *more).splitlines()
            assert [line.split()[0] for line in lines if line.startswith(tuple(f"{run} " for run in RUN))] == others[
                :count
            ]


@pytest.mark.parametrize("baseline", ["learned", "bm25"])
def test_a_narrow_table_keeps_the_p_that_decides(shown, baseline):
    text = shown(DATA / "qrels.txt", *RUN.values(), "-m", "nDCG@10", "--baseline-run", baseline)
    hidden = text.split("(not shown: ")[1].split(";")[0].split(", ")
    assert "p corrected" not in hidden
    assert "verdict" not in hidden
    assert ("95% (topics)" in hidden) == (baseline == "learned"), "it is left out where there is no room"
