"""Slices of topics: each as if compared alone, corrected together."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import rankbounds as rb
from rankbounds.comparison.slices import slices as slices_of
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.files.queries import labels_by_prefix
from rankbounds.measures.measure import Reported, ReportedEffort
from rankbounds.tables import p_number
from rankbounds.terminal import Look, use_look

FEW = {"resamples": 500}


def slices(scores, labels, **how):
    """The comparison in slices, with these options of the tests."""
    return slices_of(scores, labels, Question(**how))


def scores_of(values, measure=None):
    """Scores of runs (rows) on topics (columns)."""
    values = np.asarray(values, dtype=float)[:, :, None]
    unknown = np.full(values.shape, np.nan)
    runs, topics = [f"run{at}" for at in range(values.shape[0])], [f"t{at}" for at in range(values.shape[1])]
    return rb.Scores(
        runs, topics, [measure or Reported("score")], values, unknown, unknown, unknown[..., 0],
        [RunNotes() for _ in runs], bounds="none",
    )  # fmt: skip


def drawn(seed, runs=2, topics=30):
    return scores_of(np.random.default_rng(seed).random((runs, topics)))


def labels_for(scores, names, seed=0):
    chance = np.random.default_rng(seed)
    return {query: str(chance.choice(names)) for query in scores.query_ids}


# ---- against plain definitions ----


def test_every_slice_is_the_comparison_of_its_topics():
    scores = drawn(1, runs=3, topics=40)
    labels = labels_for(scores, ["a", "b", "c"])
    sliced = slices(scores, {"kind": labels}, **FEW)
    assert len(sliced.rows()) == 9
    for row in sliced.rows():
        alone = scores.topic(*(query for query, label in labels.items() if label == row["slice"]))
        # The run of a pair is the better one over all topics, not of each slice.
        pair = rb.compare(alone, correction="none", **FEW).numbers.row("score", (row["run"], row["against"]))
        assert row["topics"] == len(alone.query_ids)
        for name in ("difference", "ci_low", "ci_high", "p_value", "won", "lost"):
            assert row[name] == pytest.approx(pair[name]), name
    over_all = {(row["run"], row["against"]) for row in rb.compare(scores, **FEW).pairs.rows()}
    assert {(row["run"], row["against"]) for row in sliced.rows()} == over_all


def test_p_values_are_corrected_over_all_slices_and_pairs():
    scores = drawn(2, runs=3)
    labels = {"one": labels_for(scores, ["a", "b"]), "two": labels_for(scores, ["x", "y", "z"], 1)}
    rows = slices(scores, labels, **FEW).rows()
    assert len(rows) == 3 * (2 + 3)
    ordered = sorted(rows, key=lambda row: row["p_value"])
    highest = 0.0
    for place, row in enumerate(ordered):
        highest = max(highest, min(1.0, row["p_value"] * (len(rows) - place)))
        assert row["p_adjusted"] == pytest.approx(highest)
    plain = slices(scores, labels, correction="none", **FEW)
    assert all(row["p_adjusted"] == row["p_value"] for row in plain.rows())


def test_detectable_is_found_that_often_by_simulation():
    scores = drawn(5, topics=24)
    sliced = slices(scores, labels_for(scores, ["a"]), correction="none", **FEW)
    detectable = sliced.rows()[0]["detectable"]
    deviation = (scores.value[0, :, 0] - scores.value[1, :, 0]).std(ddof=1)
    chance = np.random.default_rng(0)
    samples = chance.normal(detectable, deviation, (4000, 24))
    t = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / np.sqrt(24))

    assert (2 * stats.t.sf(np.abs(t), 23) < 0.05).mean() == pytest.approx(0.8, abs=0.025)


# ---- laws ----


@pytest.mark.parametrize("seed", range(4))
def test_names_and_sides_do_not_matter(seed):
    scores = drawn(seed)
    labels = labels_for(scores, ["a", "b", "c"], seed)
    ours = slices(scores, {"kind": labels}, **FEW)
    turned = slices(scores.run("run1", "run0"), {"kind": labels}, **FEW)
    for row, other in zip(ours.rows(), turned.rows(), strict=True):
        assert row["difference"] == -other["difference"]
        assert row["p_value"] == other["p_value"]
    scaled = slices(scores_of(scores.value[..., 0] * 100 + 7), {"kind": labels}, **FEW)
    same = [row["p_value"] for row in ours.rows()]
    assert [row["p_value"] for row in scaled.rows()] == pytest.approx(same, abs=1e-12)
    effort = slices(scores_of(scores.value[..., 0], ReportedEffort("cost")), {"kind": labels}, **FEW)
    assert [(row["won"], row["lost"]) for row in effort.rows()] == [(row["lost"], row["won"]) for row in ours.rows()]


def test_a_difference_that_depends_on_the_slice_is_found():
    chance = np.random.default_rng(9)
    length = np.repeat([0, 1], 20)
    gap = np.where(length == 0, 0.2, -0.2) + chance.normal(0, 0.1, 40)
    scores = scores_of([0.5 + gap / 2, 0.5 - gap / 2])
    labels = {query: ("short", "long")[kind] for query, kind in zip(scores.query_ids, length.tolist(), strict=True)}
    sliced = slices(scores, {"length": labels}, resamples=2000)
    assert [(row["slice"], row["difference"] > 0, row["shown"]) for row in sliced.rows()] == [
        ("long", True, True), ("short", False, True),
    ]  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 100, None])
def test_narrow_tables_of_slices_have_the_corrected_p(width):
    gap = np.random.default_rng(3).normal(0.3, 0.2, 24)
    labels = {f"t{at}": str(at % 3) for at in range(24)}
    sliced = slices(scores_of([0.5 + gap / 2, 0.5 - gap / 2]), {"third": labels}, **FEW)
    with use_look(Look(width)):
        table = sliced.tables()[0].text()
    for row in sliced.rows():
        assert p_number(row["p_adjusted"]) in table


def test_a_slice_in_which_the_test_favours_the_worse_mean_shows_nothing():
    value = np.full((2, 40), 0.5)
    value[1, :39] += np.linspace(0.001, 0.02, 39)
    value[1, 39] = 0.0
    scores = scores_of(value)
    kind = {query: "odd" if at % 2 else "even" for at, query in enumerate(scores.query_ids)}
    sliced = rb.compare(scores, test="sign").slices({"kind": kind})
    found = [(row["slice"], row["p_adjusted"] < 0.001, row["shown"]) for row in sliced.rows()]
    assert found == [("even", True, True), ("odd", True, False)]


def test_no_difference_anywhere_has_nothing_detectable():
    scores = scores_of(np.full((2, 12), 0.5))
    sliced = slices(scores, labels_for(scores, ["a", "b"]), **FEW)
    assert [row["p_value"] for row in sliced.rows()] == [1.0, 1.0]
    assert all(row["detectable"] is None for row in sliced.rows())


# ---- what cannot be done is told ----


def test_topics_without_label_and_slices_of_one_topic():
    scores = drawn(4, topics=10)
    labels = dict.fromkeys(scores.query_ids[:8], "many") | {"t8": "one", "elsewhere": "x"}
    with pytest.warns(rb.RankboundsWarning, match='1 of 10 topics have no label by "kind"'):
        sliced = slices(scores, {"kind": labels}, **FEW)
    assert sliced.left_out == {"kind": ["t9"]}
    assert [(row["slice"], row["p_value"] is None) for row in sliced.rows()] == [("many", False), ("one", True)]
    with pytest.raises(rb.DataError, match="single topic"):
        slices(scores, {"kind": {query: query for query in scores.query_ids}})
    with pytest.raises(rb.DataError, match="None of the 10 topics"):
        slices(scores, {"kind": {"x": "y"}})
    with pytest.raises(rb.UsageError):
        slices(scores.run("run0"), {"kind": labels})


# ---- files and the command ----


@pytest.fixture
def table(tmp_path):
    chance = np.random.default_rng(2)
    rows = [f"{kind}/{at},{chance.random()!r},{chance.random()!r}" for kind in ("nq", "hot") for at in range(9)]
    (tmp_path / "AP.csv").write_text("query,bm25,dense\n" + "\n".join(rows) + "\n")
    return tmp_path / "AP.csv"


QUERIES = [f"{kind}/{at}" for kind in ("nq", "hot") for at in range(9)]


def written(path, kind):
    labels = {query: ("short", "long")[at % 2] for at, query in enumerate(QUERIES)}
    if kind == "csv":
        path.write_text("length,qid\n" + "".join(f"{label},{query}\n" for query, label in labels.items()))
    elif kind == "json":
        path.write_text(json.dumps({query: {"length": label} for query, label in labels.items()}))
    else:
        path.write_text("".join(f"{query} {label}\n" for query, label in labels.items()))
    return path


@pytest.mark.parametrize("kind", ["csv", "json", "plain"])
def test_labels_come_from_tables_of_any_kind(command, tmp_path, table, kind):
    code, out, _ = command("compare", "--scores", table, "--by", written(tmp_path / "length", kind), "--format", "json")
    assert code == 0
    content = json.loads(out)
    assert [(row["by"], row["slice"]) for row in content["slices"]] == [("length", "long"), ("length", "short")]


def test_a_mark_in_ids_divides_topics_as_a_file_does(command, table):
    code, out, _ = command("compare", "--scores", table, "--by", "/", "--format", "json")
    assert code == 0
    content = json.loads(out)
    assert [(row["by"], row["slice"]) for row in content["slices"]] == [("prefix", "hot"), ("prefix", "nq")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("qid,kind\na,x\na,y\n", 3),
        ("qid\tkind\na\tx\u2028\na\ty\n", 3),
        ("qid,kind\na,x,y\n", 2),
        ("qid,kind\n,x\n", 2),
        ("what,kind,other\na,x,y\n", 1),
        ("qid,kind,kind\na,x,y\n", 1),
    ],
)
def test_mistakes_in_labels_are_told_with_their_line(command, tmp_path, table, text, line):
    (tmp_path / "labels").write_text(text)
    code, out, err = command("compare", "--scores", table, "--by", tmp_path / "labels")
    assert (code, out) == (3, "")
    assert f"labels:{line}: " in err


def test_the_command_prints_draws_and_refuses(command, tmp_path, table):
    figure = tmp_path / "forest.svg"
    code, out, _ = command("compare", "--scores", table, "--by", "/", "--figure", figure)
    assert code == 0
    assert "AP, difference" in out
    assert figure.stat().st_size > 1000
    for arguments in (["--by", "/", "--test", "tost", "--margin", "0.1"],):
        code, out, _ = command("compare", "--scores", table, *arguments)
        assert (code, out) == (2, "")
    told = "The gate is about all 18 topics together, and not about the slices.\n"
    assert told in command("compare", "--scores", table, "--by", "/", "--fail-if", "AP worse")[2]
    assert "slices" not in command("compare", "--scores", table, "--fail-if", "AP worse")[2]
    for kind in ("markdown", "latex", "html"):
        code, out, _ = command("compare", "--scores", table, "--by", "/", "--format", kind)
        assert (code, "hot" in out) == (0, True)


def test_the_forest_has_a_line_for_every_slice_and_for_all_topics():
    scores = drawn(6)
    sliced = slices(scores, {"kind": labels_for(scores, ["a", "b"])}, **FEW)
    axes = rb.plots.forest(sliced)
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert (labels[0], labels[-1]) == ("kind", "all topics (30)")
    points = {tuple(line.get_ydata()): line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1}
    by_slice = {row["slice"]: row["difference"] for row in sliced.rows()}
    assert points[(1,)] == by_slice["a"]
    assert points[(2,)] == by_slice["b"]


def test_many_runs_in_slices_of_real_topics(unpacked):
    folder = unpacked("dl21-half.tar.xz") / "dl21-half"
    scores = rb.evaluate(folder / "human.qrels", [str(folder / "runs" / "*")], "nDCG@10")
    labels = {query: "even" if int(query) % 2 == 0 else "odd" for query in scores.query_ids}
    sliced = slices(scores, {"parity": labels}, resamples=300)
    pairs = len(scores.runs) * (len(scores.runs) - 1) // 2
    assert len(sliced.rows()) == 2 * pairs
    assert len(repr(sliced).splitlines()) < 25
    least = sorted(row["p_value"] for row in sliced.rows())[0]
    assert p_number(least) in sliced.tables()[0].text().splitlines()[1]


@pytest.mark.parametrize("text", ["\n\n", ",\n", "{}"])
def test_a_file_without_labels_is_told(command, tmp_path, table, text):
    (tmp_path / "labels").write_text(text)
    code, out, err = command("compare", "--scores", table, "--by", tmp_path / "labels")
    assert (code, out) == (3, "")
    assert str(tmp_path / "labels") in err


def test_nothing_reaches_beyond_what_a_difference_can_be():
    qrels = {str(topic): {"r": 1} for topic in range(12)}
    first, second = ["r"], ["n"]
    runs = {"a": {topic: first if int(topic) % 2 else second for topic in qrels}}
    runs["b"] = {topic: second if int(topic) % 2 else first for topic in qrels}
    found = slices(rb.evaluate(qrels, runs, "P@1"), {"half": {topic: int(topic) < 6 for topic in qrels}})
    assert [(row["ci_low"], row["ci_high"], row["detectable"]) for row in found.rows()] == [(-1.0, 1.0, None)] * 2


def test_slices_of_one_topic_are_in_no_family():
    """Two slices that are tested, and three of a single topic, which are not: the level is shared by the two alone."""
    values = np.random.default_rng(0).uniform(size=(2, 13))
    parts = {f"t{at}": "first" if at < 5 else "second" for at in range(10)}
    labels = parts | {f"t{at}": f"alone{at}" for at in (10, 11, 12)}
    scores, of_ten = scores_of(values), scores_of(values[:, :10])
    found = slices(scores, {"part": labels}, correction="bonferroni")
    assert found.settings["family"] == 2
    assert found.settings["level"] == pytest.approx(0.025)
    assert "corrected over all 2 tests of a measure" in found.method()
    alone = slices(of_ten, {"part": parts}, correction="bonferroni")
    tested = [row for row in found.rows() if row["topics"] > 1]
    assert [row["detectable"] for row in tested] == [row["detectable"] for row in alone.rows()]
    assert [row["p_adjusted"] for row in tested] == [min(1.0, 2 * row["p_value"]) for row in tested]


def test_a_mark_at_the_start_of_an_id_divides_nothing():
    """Nothing stands before it: the query has no prefix, not one without a name, whatever marks follow."""
    labels = labels_by_prefix(["/1", "/hot/1", "hot/1", "hot", "nq/2/3", "/", "x//1"], "/")
    assert labels == {"prefix": {"hot/1": "hot", "nq/2/3": "nq", "x//1": "x"}}
    assert labels_by_prefix(["::1", "a::1", ":::1"], "::") == {"prefix": {"a::1": "a"}}


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization"])
def test_clusters_of_equal_size_are_the_topics_of_their_means(test):
    """Slices of clusters are slices of one topic per cluster, with its mean: every number, family and level alike."""
    each, clusters = 3, 14
    by_topic = drawn(5, runs=3, topics=each * clusters).value[..., 0]
    means = scores_of(by_topic.reshape(3, clusters, each).mean(axis=-1))
    of_cluster = {query: "many" if at < 9 else "few" if at < 13 else "one" for at, query in enumerate(means.query_ids)}
    scores = scores_of(by_topic)
    cluster_of = {query: means.query_ids[at // each] for at, query in enumerate(scores.query_ids)}
    of_topic = {query: of_cluster[cluster] for query, cluster in cluster_of.items()}
    alone = rb.compare(means, test=test, resamples=300).slices(of_cluster)
    clustered = rb.compare(scores, test=test, resamples=300, clusters=cluster_of).slices(of_topic)
    same = {name: value for name, value in alone.settings.items() if name not in ("topics", "clusters")}
    assert {name: clustered.settings[name] for name in same} == same
    for one, other in zip(clustered.rows(), alone.rows(), strict=True):
        numbers = [name for name in other if name not in ("topics", "won", "lost")]
        assert [one[name] for name in numbers] == pytest.approx([other[name] for name in numbers]), other
