"""The commands depth, crossings, contributions and persistence, and the figures of RBP."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_residuals import collection

import rankbounds as rb

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


@pytest.fixture
def files(tmp_path):
    qrels, runs = collection(1, tied=False)
    rows = [f"{query} 0 {doc} {grade}\n" for query, docs in qrels.items() for doc, grade in docs.items()]
    (tmp_path / "qrels").write_text("".join(rows))
    for name, run in runs.items():
        lines = [f"{query} Q0 {doc} 1 {score} {name}\n" for query, docs in run.items() for doc, score in docs.items()]
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def test_depth(command):
    code, out, err = command("rbp", "depth", "--p", ".95", "--digits", "4", "--format", "json")
    assert (code, err) == (0, "")
    expected = {"p": 0.95, "digits": 4, "depth": 180, "significant_ranks": 194, "expected_examined": 20.0}
    assert json.loads(out) == [expected]
    assert [row["depth"] for row in json.loads(command("rbp", "depth", "--format", "json")[1])] == [14, 42, 180]
    (row,) = json.loads(command("rbp", "depth", "--depth", 100, "--digits", 4, "--format", "json")[1])
    assert list(row) == list(expected)
    assert round(row["p"], 2) == 0.91
    table = command("rbp", "depth", "--p", "0.5,0.8")[1].splitlines()
    assert [line.split() for line in table[1:]] == [["0.5", "4", "14", "15", "2.0"], ["0.8", "4", "42", "45", "5.0"]]


def test_crossings(command, files):
    inputs = (files / "qrels", files / "run0", files / "run1")
    code, out, _ = command("rbp", "crossings", *inputs, "--format", "json")
    assert code == 0
    expected = rb.rbp.find_crossings(str(inputs[0]), [str(inputs[1]), str(inputs[2])]).rows()
    assert json.loads(out) == expected
    assert all(list(row) == ["query_id", "p", "from", "to", "change"] for row in expected)
    assert {
        row["query_id"] for row in json.loads(command("rbp", "crossings", *inputs, "-q", "--format", "json")[1])
    } > {"t0"}
    table, below = command("rbp", "crossings", *inputs)[1].split("\n\n")
    assert len(table.splitlines()) == len(expected) + 2  # with the heading, and a region more than crossings
    assert {line.split()[-1] for line in table.splitlines()} >= {"certain", "no"}
    assert "points of p that are 0.001 apart" in below
    assert command("rbp", "crossings", inputs[0], inputs[1], inputs[1])[1].splitlines()[-3].split()[-2:] == [
        "tied",
        "-",
    ]


def test_contributions(command, files):
    inputs = ("rbp", "contributions", files / "qrels", files / "run0", "--topic", "t0", "-m", "RBP(p=0.8)", "-m", "AP")
    code, out, _ = command(*inputs, "--format", "json")
    assert code == 0
    rows = rb.rbp.list_contributions(str(files / "qrels"), str(files / "run0"), "t0", ["RBP(p=0.8)", "AP"])
    assert json.loads(out) == [row for row in rows if row["relevance"] != 0]
    table = command(*inputs)[1].splitlines()
    assert table[0].split() == ["rank", "document", "grade", "RBP(p=0.8)", "AP"]
    value = rb.evaluate(str(files / "qrels"), str(files / "run0"), "RBP(p=0.8)").value[0, 0, 0]
    assert table[-1].split()[:3] == ["whole", "list", f"{value:.4f}"]
    assert any(" ? " in line and "+0." in line for line in table)


def test_persistence(command, files):
    (files / "depths.csv").write_text("rank,sessions\n1,50\n2,25\n3,12\n4+,13\n")
    code, out, _ = command("rbp", "persistence", "--depths", files / "depths.csv", "--format", "json")
    assert code == 0
    assert json.loads(out) == [rb.rbp.fit_persistence({1: 50, 2: 25, 3: 12, "4+": 13})]
    out = command("rbp", "persistence", files / "qrels", files / "run*", "-m", "RBP(p=0.8)", "--format", "json")[1]
    (best,) = json.loads(out)
    assert best["tau"] == pytest.approx(1)
    assert best["p_from"] <= 0.8


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["rbp", "depth", "--p", "1"], 2, "below 1"),
        (["rbp", "depth", "--p", "many"], 2, "numbers are expected"),
        (["rbp", "depth", "--digits", "0"], 2, "digits"),
        (["rbp", "depth", "--depth", "0"], 2, "from 1 on"),
        (["rbp", "crossings", "{qrels}", "{run}"], 2, "required"),
        (["rbp", "crossings", "{qrels}", "{run}", "{run}", "-m", "AP"], 2, "not for AP"),
        (["rbp", "crossings", "{qrels}", "{run}", "{nothing}"], 3, "no such file"),
        (["rbp", "crossings", "{run}", "{run}", "{run}"], 3, "looks like a run"),
        (["rbp", "contributions", "{qrels}", "{run}", "--topic", "t77"], 3, 'no topic "t77"'),
        (["rbp", "contributions", "{qrels}", "{run}", "--topic", "t0", "-m", "RR"], 2, "not a sum over documents"),
        (["rbp", "persistence"], 2, "one kind of evidence"),
        (["rbp", "persistence", "--depths", "{qrels}"], 3, "not a rank and a count"),
        (["rbp", "persistence", "{qrels}", "{run}"], 2, "three runs"),
        (["rbp", "persistence", "--depths", "{nothing}"], 3, "no such file"),
        (["evaluate", "{qrels}", "{run}", "-m", "RBP2(p_relevant=1)"], 2, "below 1"),
        (["evaluate", "{qrels}", "{run}", "-m", "INST(T=0.5)"], 2, "at least 1"),
        (["evaluate", "{qrels}", "{run}", "-m", "ESL(n=0)"], 2, "from 1 on"),
        (["evaluate", "{qrels}", "{run}", "-m", "ESL(n=30,collection=3)"], 3, "more documents than the collection"),
        (["evaluate", "{qrels}", "{run}", "-m", "INST", "--ties", "expected"], 2, "no known mean"),
    ],
)
def test_wrong_use_is_one_clear_message(command, files, arguments, code, told):
    (files / "tied").write_text("t0 Q0 d1 1 1.0 tied\nt0 Q0 d2 1 1.0 tied\n")
    names = {"qrels": files / "qrels", "run": files / "run0", "nothing": files / "nothing"}
    if "expected" in arguments:
        names["run"] = files / "tied"
    found, out, err = command(*(argument.format(**names) for argument in arguments))
    assert (found, out) == (code, "")
    assert told in err
    assert sum(not line.startswith("rankbounds: warning") for line in err.splitlines()) == 1


class TestFigures:
    qrels, runs = collection(1)

    def test_contribution_of_ranks(self):
        axes = rb.plots.contribution_of_ranks((0.5, 0.9), 10)
        assert np.allclose(axes.lines[1].get_ydata(), 0.1 * 0.9 ** np.arange(10))
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["p = 0.5", "p = 0.9"]
        axes.figure.canvas.draw()

    def test_bounds_by_depth(self):
        scores = rb.rbp.bounds_by_depth(self.qrels, self.runs, 12, (0.5, 0.8))
        axes = rb.plots.bounds_by_depth(scores, "run1")
        axes.figure.canvas.draw()
        assert len(axes.lines) == 4
        mean = scores.mean()
        assert np.allclose(axes.lines[2].get_ydata(), mean.low[1, 0, 12:])
        assert np.allclose(axes.lines[3].get_ydata(), mean.high[1, 0, 12:])
        assert axes.lines[0].get_xdata().tolist() == list(range(1, 13))
        with pytest.raises(rb.UsageError, match="no run"):
            rb.plots.bounds_by_depth(scores, "run9")
        with pytest.raises(rb.UsageError, match="bounds_by_depth"):
            rb.plots.bounds_by_depth(rb.evaluate(self.qrels, self.runs, "AP"))

    def test_bounds_by_persistence_with_crossings(self):
        scores = rb.rbp.bounds_by_persistence(self.qrels, self.runs)
        two = [rb.Run.from_columns(*zip(*_rows(self.runs[name]), strict=True), name=name) for name in ("run0", "run1")]
        crossings = rb.rbp.find_crossings(self.qrels, two)
        found = [row for row in crossings.rows() if row["p"] <= 0.99]
        axes = rb.plots.bounds_by_persistence(scores, ["run0", "run1"], crossings=crossings)
        axes.figure.canvas.draw()
        marks = sorted(line.get_xdata()[0] for line in axes.lines[4:])
        assert marks == [row["p"] for row in found]
        assert np.allclose(axes.lines[1].get_ydata(), scores.mean().high[0, 0])
        assert len(axes.texts) == sum(row["change"] == "winner" for row in found)


def _rows(run):
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
