"""Tables and rows in every format: each shows every character, and none of them acts."""

from __future__ import annotations

import csv
import io

import pytest

import rankbounds as rb
from rankbounds.commands.demo import DATA
from rankbounds.errors import DataError
from rankbounds.evaluation.score_table import table_of
from rankbounds.results import Column, build_table, interval
from rankbounds.tables import Table, _Layout, number, percent, render_rows
from rankbounds.terminal import Look, use_look


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize("query", ["a\rb", "a\nb", "a\r\n", 'a"\r', "a\x85b\u2028c\x0bd"])
def test_a_row_stays_one_row_whatever_its_id_holds(query, kind):
    text = render_rows([{"query_id": query, "value": 1.5}] * 2, kind, ["query_id", "value"])
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="," if kind == "csv" else "\t"))
    assert rows == [{"query_id": query, "value": "1.5"}] * 2
    assert text.endswith("1.5\n")


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_a_nul_which_no_reader_takes_is_refused(kind):
    with pytest.raises(DataError, match=r'"a\\x00b" holds a NUL character, and CSV and TSV cannot hold it. Write JSON'):
        render_rows([{"query_id": "a\0b", "value": 1.5}], kind, ["query_id", "value"])


def test_markdown_shows_every_character():
    table = Table(["a|b", "AP*"], [["<b>&amp; \\|`code`", "$x$"], ["[click](evil)", "_em_ bm25_x ~~no~~\n"]])
    header, _, first, second = table.markdown().splitlines()
    assert header == r"| a\|b | AP\* |"
    assert first == r"| &lt;b&gt;&amp;amp; \\\|\`code\` | \$x\$ |"
    assert second == r"| [click]\(evil) | \_em\_ bm25_x \~\~no\~\~\\n |"
    assert (
        Table(["a", "b"], [["x", "0.3100 [0.2800, 0.3500]"]]).markdown().endswith("| x | 0.3100 [0.2800, 0.3500] |\n")
    )


def test_latex_shows_every_character():
    rows = [["a|b\\c&d%e$f#g_h{i}j~k^l<m>n\n", "1"], ["[x]", "2"], ["*y", "3"]]
    lines = Table(["run", "value"], rows).latex().splitlines()
    lines = lines[lines.index(r"\midrule") + 1 :]
    assert lines[0] == (
        r"a\textbar{}b\textbackslash{}c\&d\%e\$f\#g\_h\{i\}j\textasciitilde{}k\textasciicircum{}l\textless{}m"
        r"\textgreater{}n\textbackslash{}n & 1 \\"
    )
    assert lines[1:3] == [r"{[}x] & 2 \\", r"{*}y & 3 \\"]


def test_latex_breaks_sentences_and_cuts_names():
    names, sentence = [f"a-very-long-name-of-system-{number}" for number in range(2)], "one word " * 40
    table = Table(["run", "other", "why"], [[name, name[::-1], f"{sentence}{name[-1]}"] for name in names], {0, 1, 2})
    latex = table.latex()
    assert latex.count(rf"\raggedright {sentence}") == 2
    rows = latex[latex.index(r"\midrule") :]
    assert not any(name in rows for name in names)
    assert f"% In full: {', '.join(names)}" in latex


@pytest.mark.parametrize("width", range(24, 150, 3))
def test_an_interval_is_shown_beside_its_measure_alone(width):
    measures = ["nDCG@10", "AP", "P@10", "NumRelRet", "RR"]
    found = rb.evaluate(DATA / "qrels.txt", DATA / "runs", measures)
    ends = {}
    for row in found.mean().rows():
        between = [row["ci_low"], row["ci_high"]]
        ends |= {f"[{', '.join(number(end, digits) for end in between)}]": row["measure"] for digits in (0, 4)}
    whole = table_of(found.mean(), with_notes=False, interval=True)
    with use_look(Look(width)):
        layout = _Layout(whole)
        shown = list(layout.widths(width))
        left_out = " ".join(layout.left_out(layout.widths(width)))
    for column in shown:
        if whole.header[column] == "95% (topics)":
            assert column - 1 in shown
            assert {ends[row[column]] for row in whole.rows} == {whole.header[column - 1]}
        elif whole.header[column] in measures[1:]:
            assert column + 1 in shown
    assert ("95% (topics)" in left_out) == (2 not in shown and 1 in shown)


def test_columns_name_the_number_they_are_about():
    columns = [
        *map(Column, ("run", "judged", "estimate")), interval("low", "high", "interval", importance=9, of="estimate")
    ]  # fmt: skip
    row = {"run": "r", "judged": 0.5, "estimate": 0.25, "low": 0.1234, "high": 0.5}
    table = build_table([row], columns)
    assert table.belongs == {3: 2}
    with use_look(Look(32)):
        assert table.text().splitlines()[0] == "run  judged"


@pytest.mark.parametrize(("share", "shown"), [(0.985, "98%"), (0.985 + 2e-16, "98%"), (0.99166, "99%"), (None, "-")])
def test_a_share_is_the_same_however_it_was_added_up(share, shown):
    assert percent(share) == shown


@pytest.mark.parametrize("width", [40, 60, 80])
def test_options_to_type_are_never_cut(width):
    """Those of two words would else be taken for names, which lose their middle."""
    options = ["--unjudged condensed-and-more", "-m 'nDCG@10(gain=exponential)'", "-"]
    rows = [
        {"name": f"run {at}", "gap": 0.5, "by": by, "why": "a reason in many words"} for at, by in enumerate(options)
    ]
    with use_look(Look(width)):
        text = build_table(rows, list(map(Column, rows[0]))).text()
    assert "--unjudged" in text
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert "names are cut" not in text
