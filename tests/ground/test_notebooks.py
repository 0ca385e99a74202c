"""What notebooks show: pictures, compact HTML that no id can break, reports in a frame; and the examples run."""

from __future__ import annotations

import ast
import html
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import browser
import rankbounds as rb
from rankbounds.notebook import SHOWN_ROWS
from rankbounds.probability.probable_differences import differences
from rankbounds.stats.separation import discriminative_power
from rankbounds.tables import Table

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))
HOSTILE = '<img src=x onerror="alert(1)">&"\''
VOID = {"rect", "br", "img", "meta", "link", "input", "hr"}


class Page(HTMLParser):
    """The elements of a piece of HTML, which must close in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture(scope="module")
def formatter():
    pytest.importorskip("IPython", reason="what notebooks show is asked of IPython: pip install ipython")
    from IPython.core.formatters import DisplayFormatter

    return DisplayFormatter()


def made(runs: int = 3, topics: int = 8, name: str = "run"):
    """Judgments and runs with ties, unjudged documents, and whatever name is given."""
    rng = np.random.default_rng(1)
    qrels = {
        f"t{topic}": {f"d{document}": int(rng.random() < 0.3) for document in range(12)} for topic in range(topics)
    }
    retrieved = {
        f"{name}{run}": {
            query: {f"d{document}": round(float(rng.normal()), 1) for document in range(16)} for query in qrels
        }
        for run in range(runs)
    }
    return qrels, retrieved


def results(name: str) -> dict[str, object]:
    """One of everything that has a table."""
    qrels, runs = made(name=name)
    scores = rb.evaluate(qrels, runs, ["RBP(p=0.8)", "nDCG@5"])
    first, second = list(runs)[:2]
    pair = {run: runs[run] for run in (first, second)}
    model = {query: {doc: 1 - grade for doc, grade in docs.items()} for query, docs in qrels.items()}
    kinds = {name: {query: f"{name}{int(query[1:]) % 2}" for query in qrels}}
    few = {"resamples": 100}
    return {
        "scores": scores,
        "comparison": rb.compare(scores, **few),
        "comparison of two": rb.compare(scores.run(first, second), **few),
        "summary": rb.compare(scores, **few).summary(),
        "differences": differences(qrels, pair, "RBP(p=0.8)", q=0.3),
        "slices": rb.compare(scores, **few).slices(kinds),
        "similarity": rb.similarity(runs),
        "judges": rb.judging.compare_judges(qrels, {name: model}, runs, "P@5"),
        "gate": rb.compare(scores.run(first, second), **few).gate("RBP(p=0.8) worse"),
        "collections": rb.compare_collections({f"{name}{at}": (qrels, runs) for at in "ab"}, "P@5"),
        "qrels": rb.Qrels.from_columns([f"{name}{at}" for at in range(9)], ["d"] * 9, [1] * 9),
        "plan": rb.judge_next(qrels, runs, budget=5),
        "settling plan": rb.judge_next(qrels, pair, budget=5, compare=(first, second), q=0.3),
        "power": discriminative_power(scores),
        "table": Table(["a", name], [[name, "1"]]),
    }


@pytest.fixture(scope="module")
def hostile():
    return results(HOSTILE)


# ---- HTML ----


def test_no_id_becomes_markup_and_everything_closes(hostile):
    for kind, result in hostile.items():
        page = Page(result._repr_html_())
        assert not {"img", "script", "style", "link"} & {tag for tag, _ in page.elements}, kind
        assert page.count("table") >= 1, kind
        for tag, attributes in page.elements:
            assert set(attributes) <= {"style", "colspan", "open"}, (kind, tag)
    names = {"comparison", "scores", "differences", "slices", "similarity", "judges", "table"}
    assert all(HOSTILE in "".join(Page(hostile[kind]._repr_html_()).text) for kind in names)


def test_colours_are_those_of_the_text_around(hostile):
    for kind, result in hostile.items():
        page = result._repr_html_()
        assert not re.search(r"(?<![-\w])(color|background):(?!inherit|transparent)", page), kind


def test_a_comparison_has_all_measures_words_and_p_values_in_one_piece(hostile):
    three, two = (Page(hostile[kind]._repr_html_()) for kind in ("comparison", "comparison of two"))
    assert three.count("table") == 1 + 2  # all measures, and the pairs by each
    assert "p corrected" in three.text
    assert two.count("details") == 1 + 1  # the words by the first measure, and a row for each measure
    assert [attributes.get("open", "") for tag, attributes in two.elements if tag == "details"] == [None, ""]
    assert any(sentence.startswith("Is it noise?") for sentence in two.text)


def test_long_tables_are_cut_in_notebooks_and_whole_on_the_command_line():
    table = Table(["name", "value"], [[f"row{number}", "1"] for number in range(50)])
    assert table._repr_html_().count("<tr") == 1 + SHOWN_ROWS + 1
    assert f"and {50 - SHOWN_ROWS} more" in table._repr_html_()
    assert table.html().count("<tr") == 51
    qrels, runs = made(runs=25, topics=3)
    found = rb.compare(rb.evaluate(qrels, runs, "P@5"), resamples=50)
    assert "and 5 more" in found._repr_html_()


# ---- pictures ----


@pytest.fixture
def pyplot():
    """What a notebook shows at the end of a cell: the figures that pyplot holds then."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


def test_a_plot_is_one_figure_of_pyplot(pyplot):
    assert rb.plots.contribution_of_ranks() is pyplot.gca()
    qrels, runs = made()
    rb.plots.labels_overview(rb.judging.compare_judges(qrels, {"model": qrels}, runs, "P@5"))
    assert len(pyplot.get_fignums()) == 2
    mine = pyplot.figure().add_subplot()
    assert rb.plots.contribution_of_ranks(ax=mine) is mine
    assert len(pyplot.get_fignums()) == 3


# ---- reports ----


@pytest.fixture(scope="module")
def reported():
    qrels, runs = made(name="<b>run")
    return rb.report(qrels, runs, ["RBP(p=0.8)", "nDCG@5"], title="Mine & yours", resamples=200)


def test_a_report_is_the_page_of_the_command_in_a_frame(reported, tmp_path):
    ((tag, attributes),) = Page(reported._repr_html_()).elements
    assert tag == "iframe"
    assert attributes["srcdoc"] == reported.page
    assert "allow-same-origin" not in attributes["sandbox"]
    reported.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == reported.page
    assert all(html.escape(sentence) in reported.page for sentence in reported.summary)
    assert repr(reported).startswith("Mine & yours\n- ")


def test_a_report_from_memory_says_what_one_from_files_says(tmp_path):
    qrels, runs = made(name="run")
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {doc} {grade}\n" for q in qrels for doc, grade in qrels[q].items()))
    for name, run in runs.items():
        lines = [f"{query} Q0 {doc} 1 {score} {name}\n" for query in run for doc, score in run[query].items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    few = {"resamples": 200}
    from_files = rb.report(tmp_path / "qrels", f"{tmp_path}/*.run", ["P@5"], **few)
    assert from_files.summary == rb.report(qrels, runs, ["P@5"], **few).summary


def test_large_pages_are_shown_when_asked_for(reported, monkeypatch):
    monkeypatch.setattr(sys.modules["rankbounds.report.page"], "LARGEST_INLINE", 1000)
    page = Page(reported._repr_html_())
    assert page.count("iframe") == 0
    assert any("show()" in text for text in page.text)
    assert len(reported._repr_html_()) < 10_000
    assert Page(reported.show(300)._repr_html_()).count("iframe") == 1


def test_misspelt_choices_get_a_suggestion():
    qrels, runs = made()
    with pytest.raises(rb.UsageError, match="alpha"):
        rb.report(qrels, runs, alhpa=0.01)


def test_the_room_can_be_called_however_it_was_imported():
    import rankbounds.report

    assert callable(rb.report)
    assert rankbounds.report is rb.report
    assert rankbounds.report.report is sys.modules["rankbounds.report.page"].report


def test_a_browser_shows_the_report_in_a_dark_page(reported, tmp_path):
    driver = browser.start(tmp_path / "profile")
    try:
        shown = rb.compare(rb.evaluate(*made(), "P@5"), resamples=100)._repr_html_() + reported._repr_html_()
        (tmp_path / "page.html").write_text(f"<body style='background:#111;color:#eee'>{shown}</body>")
        driver.get(f"file://{tmp_path}/page.html")
        ask = driver.execute_script
        assert ask("return getComputedStyle(document.querySelector('td')).color") == "rgb(238, 238, 238)"
        driver.switch_to.frame(driver.find_element("tag name", "iframe"))
        assert driver.find_element("tag name", "h1").text == "Mine & yours"
        assert "<b>run0" in driver.find_element("tag name", "body").text  # what the page's script writes
    finally:
        driver.quit()


# ---- the examples ----


@pytest.mark.parametrize("notebook", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_and_end_with_a_picture(notebook, formatter, pyplot):
    held = json.loads(notebook.read_text())
    cells = [cell for cell in held["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in cells), "outputs grow old: clear them"
    names: dict[str, object] = {}
    bundles = []
    for number, cell in enumerate(cells):
        *before, last = ast.parse("".join(cell["source"])).body
        place = f"{notebook.name} cell {number}"
        exec(compile(ast.Module(before, []), place, "exec"), names)
        assert isinstance(last, ast.Expr), "a cell ends with what it shows"
        bundles.append(formatter.format(eval(compile(ast.Expression(last.value), place, "eval"), names))[0])
        pictures = pyplot.get_fignums()
        pyplot.close("all")
    assert pictures
    assert any("text/html" in bundle for bundle in bundles)


def test_examples_start_from_what_people_have():
    told = {path.stem: path.read_text() for path in EXAMPLES}
    assert "import pandas" in told["ratings_in_pandas"]
    assert "query-id" in told["beir_datasets"]
    assert "qrels = {" in told["retrieval_for_rag"]
