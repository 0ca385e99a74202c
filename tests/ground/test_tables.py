"""Tables and rows in every format: each shows every character, and none of them acts."""

from __future__ import annotations

import csv
import io

import pytest

from rankbounds.errors import DataError
from rankbounds.tables import Table, render_rows


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
