"""Figures of results, as the command line draws them: kinds, files, sizes, and what is drawn read back."""

from __future__ import annotations

import itertools
import re
import shutil
import sys
from pathlib import Path

import pytest

import rankbounds as rb
from rankbounds.plots.comparison import SHARED_LETTER
from rankbounds.plots.style import MINUS

pyplot = pytest.importorskip("matplotlib.pyplot")
ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {
    "evaluate": "qrels.txt runs -m nDCG@10 -m RBP(p=0.8)",
    "compare": "qrels.txt runs -m nDCG@10 --by classes.csv",
    "uncertainty": "qrels.txt runs",
    "audit": "labels.txt sample.csv runs",
    "judges": "qrels.txt labels.txt --runs runs",
    "collections": "first=. second=.",
    "similarity": "runs",
    "check": "runs --qrels qrels.txt",
}


@pytest.fixture(autouse=True)
def demo(tmp_path, monkeypatch):
    """Run in a copy of the demo collection, and close what was drawn."""
    shutil.copytree(Path(rb.__file__).parent / "demo", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    pyplot.close("all")


def test_dollar_signs_in_names_are_no_mathematics(demo):
    names = [r"bad$\frac{$", "price$5^2$"]
    compared = rb.compare("qrels.txt", dict(zip(names, sorted(map(str, Path("runs").iterdir())), strict=False)), "AP")
    for kind in compared.figures:
        for axes in (None, pyplot.figure().add_subplot()):
            drawn = rb.plots.draw(compared, kind, ax=axes)
            rb.plots.save(drawn, "drawn.svg")
            shown = [text for text in drawn.findobj(pyplot.Text) if "$" in text.get_text()]
            assert shown
            assert not any(text.get_parse_math() for text in shown)


def test_names_that_begin_with_an_underscore_stand_in_the_legend(demo):
    runs = {"_new": "runs/dense.txt", "old": "runs/bm25.txt"}
    scores = rb.rbp.bounds_by_persistence("qrels.txt", runs)
    bands = rb.plots.bounds_by_persistence(scores)
    assert {text.get_text().strip() for text in bands.get_legend().get_texts()} >= {"_new", "old"}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_draw_the_usual_figure(name, command, demo):
    code, out, err = command(name, *COMMANDS[name].split(), "--figure", "drawn.pdf")
    assert code == 0, err
    assert "wrote drawn.pdf" in err
    assert out
    content = (demo / "drawn.pdf").read_bytes()
    assert b"/Type3" not in content
    assert b"/FontFile2" in content, "fonts are embedded"


def test_width_is_that_of_a_column_or_of_a_page(command, demo):
    for width, points in (("column", 3.33 * 72), ("page", 504)):
        command("compare", "qrels.txt", "runs", "-m", "nDCG@10", "--figure", "drawn.svg", "--width", width)
        drawn = re.search(r'width="([\d.]+)pt"', (demo / "drawn.svg").read_text())
        assert float(drawn[1]) == pytest.approx(points, abs=0.1)


def test_what_cannot_be_drawn_is_refused_before_any_work(command):
    assert command("evaluate", "absent.txt", "runs", "--figure", "drawn.gif")[::2] == (
        2, 'rankbounds: "drawn.gif" is no file for a figure. Known endings: pdf, svg, png.\n',
    )  # fmt: skip
    compared = rb.compare("qrels.txt", "runs", "AP", baseline="bm25")
    with pytest.raises(rb.UsageError, match=r"There are: differences, leaderboard, topic-differences\."):
        rb.plots.draw(compared, "places")
    with pytest.raises(rb.UsageError, match='Did you mean "leaderboard"'):
        rb.plots.draw(compared, "leaderbord")
    assert command("evaluate", "qrels.txt", "runs", "--figure", "a.svg", "--width", "wide")[0] == 2


def test_a_missing_matplotlib_gets_one_sentence(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    answer = command("evaluate", "qrels.txt", "runs", "--figure", "a.svg")
    assert answer == (2, "", 'rankbounds: Figures need matplotlib: pip install "rankbounds[report]".\n')


def test_axes_are_those_of_pyplot():
    axes = rb.plots.leaderboard(rb.evaluate("qrels.txt", "runs", "AP"))
    assert axes is pyplot.gca()
    mine = pyplot.figure().add_subplot()
    assert rb.plots.leaderboard(rb.evaluate("qrels.txt", "runs", "AP"), ax=mine) is mine


def points(axes, marker="o"):
    """The numbers at the marks, from top to bottom."""
    return [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == marker]


def spans(axes):
    """The ends of the horizontal lines, from top to bottom."""
    across = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2 and line.get_marker() == "None"]
    return [tuple(map(float, ends)) for ends in across]


def names(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_leaderboard_shows_means_intervals_and_bounds():
    compared = rb.compare("qrels.txt", "runs", ["AP", "nDCG@10"])
    rows = compared.leaderboard("nDCG@10")
    axes = rb.plots.leaderboard(compared, "nDCG@10")
    assert names(axes) == [row["run"] for row in rows]
    assert points(axes) == [row["mean"] for row in rows]
    assert spans(axes) == [(row["ci_low"], row["ci_high"]) for row in rows]
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    assert bars == [pytest.approx((row["low"], row["high"])) for row in rows]
    assert [text.get_text() for text in axes.texts] == [*(row["group"] for row in rows), SHARED_LETTER]
    assert axes.get_xlabel() == "nDCG@10"


def test_leaderboards_of_other_results():
    labels = rb.audit("labels.txt", "sample.csv", "runs")
    drawn = rb.plots.leaderboard(labels)
    rows = sorted(labels.rows(), key=lambda row: -row["estimate"])
    marks = points(drawn)
    assert sorted(marks) == sorted([row["estimate"] for row in rows] + [row["by_labels"] for row in rows])
    assert names(drawn) == [row["run"] for row in rows]
    estimated = rb.uncertainty("qrels.txt", "runs", "RBP(p=0.8)", q=0.3, sources="both", per_topic=True)
    assert len(names(rb.plots.leaderboard(estimated))) == 5
    worst_last = rb.plots.leaderboard(rb.evaluate("qrels.txt", "runs", ["ESL(n=1)"]))
    means = points(worst_last)
    assert means == sorted(means), "where a measure counts effort, the lowest comes first"


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_a_legend_says_which_interval_is_drawn():
    """One over topics, of a mean or of a difference, one over unjudged documents, or one from sampled labels."""
    scores = rb.evaluate("qrels.txt", "runs", "RBP(p=0.8)")
    two = ["runs/bm25.txt", "runs/dense.txt"]
    estimated = [
        rb.uncertainty("qrels.txt", "runs", "RBP(p=0.8)", q=0.3, sources=over) for over in ("documents", "both")
    ]
    drawn = [rb.plots.leaderboard(one) for one in (scores, *estimated, rb.audit("labels.txt", "sample.csv", "runs"))]
    drawn += [rb.plots.differences(rb.compare("qrels.txt", two, "RBP(p=0.8)"))]
    drawn += [rb.plots.differences(rb.audit("labels.txt", "sample.csv", "runs", difference=True))]
    told = [
        next(text.get_text() for text in axes.get_legend().get_texts() if "95%" in text.get_text()) for axes in drawn
    ]
    over = ["topics", "unjudged", "topics, unjudged", "sampled labels", "topics, of the difference", "sampled labels"]
    assert told == [f"95% ({one})" for one in over]


@pytest.mark.parametrize(("bounds", "said"), [("ties", "ties"), ("both", "unjudged, ties"), ("unjudged", "unjudged")])
def test_a_legend_says_what_bounds_are_for(bounds, said):
    scores = rb.evaluate("qrels.txt", "runs", "AP", bounds=bounds)
    for result in (scores, rb.compare(scores)):
        legend = rb.plots.leaderboard(result).get_legend().get_texts()
        assert [text.get_text() for text in legend][-1] == f"bounds ({said})"


def test_what_is_infinite_is_left_out():
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(3)}
    runs = {"finds": {query: ["r"] for query in qrels}, "never": {query: ["n"] for query in qrels}}
    axes = rb.plots.leaderboard(rb.evaluate(qrels, runs, "ESL(n=1)"))
    axes.get_figure().canvas.draw()
    assert names(axes) == ["finds", "never"]
    assert all(bar.get_width() < 1e9 for bar in axes.patches)


def test_differences_say_by_colour_what_is_shown():
    compared = rb.compare("qrels.txt", "runs", "nDCG@10")
    axes = rb.plots.differences(compared)
    rows = sorted(compared.pairs.rows(), key=lambda row: -row["difference"])
    assert points(axes) == [row["difference"] for row in rows]
    assert names(axes) == [f"{row['run']} − {row['against']}" for row in rows]  # noqa: RUF001
    colours = [line.get_color() for line in axes.lines if line.get_marker() == "o"]
    assert [colour == rb.plots.style.COLOURS[0] for colour in colours] == [
        row["verdict"].startswith("better") for row in rows
    ]
    against = rb.plots.differences(rb.compare("qrels.txt", "runs", "nDCG@10", baseline="bm25"))
    assert names(against) == ["reranked", "dense", "bm25-expanded", "learned"]
    with pytest.raises(rb.UsageError, match="two runs or more"):
        rb.plots.differences(rb.audit("labels.txt", "sample.csv", "runs"))


def test_of_many_pairs_those_of_the_best_run_are_drawn():
    made = rb.studies.simulate(runs=9, topics=12, seed=3)
    compared = rb.compare(made.pooled, made.runs, "AP")
    best = compared.leaderboard("AP")[0]["run"]
    drawn = names(rb.plots.differences(compared))
    assert len(drawn) == 8
    assert set(drawn) == {run.name for run in made.runs} - {best}
    assert rb.plots.differences(compared).get_xlabel() == f"AP: {best} {MINUS} each run"


def test_topics_without_names_come_with_numbers():
    two = rb.compare("qrels.txt", ["runs/bm25.txt", "runs/dense.txt"], "nDCG@10")
    axes = rb.plots.topic_differences(two)
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == sorted(heights, reverse=True)
    assert sum(heights) / len(heights) == pytest.approx(two.pairs.rows()[0]["difference"])
    assert axes.get_xlabel() == "dense − bm25: 20 of 24 topics higher, 4 lower"  # noqa: RUF001
    three = rb.plots.topic_differences(rb.compare("qrels.txt", "runs", "nDCG@10", baseline="learned"))
    assert three.get_xlabel().startswith("reranked − learned:")  # noqa: RUF001


def test_the_gallery_shows_every_figure():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import gallery
    finally:
        sys.path.pop(0)
    shown = [name for part in gallery.PARTS.values() for name in part]
    assert sorted(shown) == sorted(set(rb.plots.__all__) - {"draw", "save"})
    assert (ROOT / "docs" / "gallery.md").read_text("utf-8") == gallery.page()
    files = {path.stem: path.stat().st_size for path in gallery.FOLDER.glob("*.png")}
    assert sorted(files) == sorted(shown)
    assert sum(files.values()) < 2_000_000


def test_panels_stand_below_each_other_in_a_column(tmp_path):
    judges = rb.judging.compare_judges("qrels.txt", {"model": "labels.txt"}, "runs", "nDCG@10")
    sides = {}
    for width in ("column", "page"):
        axes = rb.plots.labels_overview(judges)
        rb.plots.save(axes, tmp_path / f"{width}.png", width)
        first, second = (panel.get_position() for panel in axes.get_figure().axes)
        sides[width] = (first.y0 > second.y1, first.x1 < second.x0)
        axes.get_figure().draw_without_rendering()
        labels = [axes.get_figure().axes[1].xaxis.label.get_window_extent()]
        assert all(label.x0 >= 0 and label.x1 <= axes.get_figure().bbox.width for label in labels)
    assert sides == {"column": (True, False), "page": (False, True)}


def test_names_of_many_runs_do_not_overlap():
    """129 runs have room for their names."""
    qrels = {str(topic): {"r": 1} for topic in range(3)}
    runs = {f"run{number}": {topic: ["r", "u"] for topic in qrels} for number in range(129)}
    axes = rb.plots.leaderboard(rb.evaluate(qrels, runs, "RBP"))
    axes.get_figure().draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    for one, other in itertools.pairwise(boxes):
        assert min(one.y1, other.y1) - max(one.y0, other.y0) < 0.2 * one.height
