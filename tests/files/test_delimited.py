"""Tables with commas, semicolons or tabs, with a header or without: what they hold, and what is refused."""

from __future__ import annotations

import random
import re

import pytest

import rankbounds as rb

QRELS = {"red shoes": {"a,b": 2.0, "c": 0.0}, "7": {"c": 1.0}}
RUN = {"red shoes": {"c": 2.5, "a,b": 1.5}, "7": {"c": 1.0}}


def table(separator, header, rows, ending):
    def cell(value):
        text = str(value)
        return f'"{text}"' if separator in text else text

    lines = [*([header] if header else []), *rows]
    return "".join(separator.join(map(cell, line)) + ending for line in lines)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("separator", ",;\t")
def test_separators_and_headers(tmp_path, separator, header, ending, command):
    docs = [(query, doc) for query, docs in QRELS.items() for doc in docs]
    judged = [(query, doc, f"{QRELS[query][doc]:g}") for query, doc in docs]
    lines = [(query, "0", *rest) for query, *rest in judged]
    retrieved = [(query, doc, score) for query, of_query in RUN.items() for doc, score in of_query.items()]
    six = [(query, "Q0", doc, rank, score, "bm25") for rank, (query, doc, score) in enumerate(retrieved, 1)]
    short, more = ("query", "docid", "rating"), ("query", "iteration", "docid", "rating")
    files = []
    for name, head, rows in (("qrels", short, judged), ("more", more, lines)):
        for suffix in ("", ".csv", ".tsv"):
            path = tmp_path / (name + suffix)
            path.write_text(table(separator, head if header else None, rows, ending), newline="")
            assert rb.read_qrels(path).to_dict() == QRELS
            files.append(path)
    long = ("query", "Q0", "docid", "rank", "score", "run")
    for name, head, rows in (("run", ("query", "docid", "score"), retrieved), ("long", long, six)):
        path = tmp_path / name
        path.write_text(table(separator, head if header else None, rows, ending), newline="")
        if name == "long" and not header and separator == "\t":
            continue  # six fields with tabs are a run of TREC's, whose ids hold no blank
        run = rb.read_run(path)
        assert run.to_dict() == RUN
        assert (run.name == "bm25") == (name == "long")
        assert (run.stated_rank is not None) == (name == "long")
    code, out, err = command("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "RR", "--format", "csv", "-q")
    assert (code, err) == (0, "")
    assert re.search(r"all,RR,0\.75", out)


@pytest.mark.parametrize("rows", ["q;a;1\nq;b;2\nr;a;1\n", "q,a,1\nq,b,2\n"])
def test_ranks_without_a_name_are_doubted(tmp_path, rows):
    (tmp_path / "run").write_text(rows)
    with pytest.warns(rb.RankboundsWarning, match="the last document ranks first"):
        rb.read_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("q;d;0,5\n", "'0,5', not a finite number. Write decimals with a point."),
        ("query;docid;score\nq;d;0,5\n", "'0,5', not a finite number. Write decimals with a point."),
        ("q;d;1\nq;e\n", "not a finite number"),
        ("q;d;1\nq;e;1;2\n", "run.csv:2: there are 4 fields in a table of 3 columns"),
        ("q;d;2\nq;d;1\n", "listed twice"),
        ("q;;1\n", "document id"),
        (";d;1\n", "query id"),
        ("q;d;1\nq;e;much\n", "not a finite number"),
        ("q;d;nan\n", "not a finite number"),
        ('q;"d;1\n', "cannot be read as a table|this table has"),
        ("q;d\n", "no column for the query id: this table has q, d"),
        ("q;d;1;2;3;4;5\n", "no column for the query id"),
        ("q,0,d,1\n", "no column for the query id"),
        (";;\n", "no column for the query id"),
        ("q;Q0;d;first;2;t\n", "which is not a whole number"),
        ("\n", "has no rows|holds? no|no column|empty"),
    ],
)
def test_what_is_no_table(tmp_path, content, told):
    (tmp_path / "run.csv").write_text(content)
    with pytest.raises(rb.DataError, match=told):
        rb.read_run(tmp_path / "run.csv")


@pytest.mark.parametrize(
    "lines",
    ["1 Q0 a,b,c 1 2.5 t\n", "1 0 a,b,1 1\n", "1 Q0 d 1 2.5 a,b,3\n", "1\t0\td,e,f\t1\n", "1\tQ0\td;e;1\t1\t2\tt\n"],
)
def test_lines_of_trec_stay_such(tmp_path, lines):
    (tmp_path / "file").write_text(lines)
    found = (rb.read_run if "Q0" in lines else rb.read_qrels)(tmp_path / "file")
    assert found.query_ids == ("1",)
    assert next(iter(found))[1] == lines.split()[2]


@pytest.mark.parametrize("seed", range(20))
def test_even_tables_are_read_as_those_in_quotes(tmp_path, seed):
    drawn = random.Random(seed)
    cells = [
        ["q1", drawn.choice([" d", "d ", "\u00e9", "d d", "\td"]) + str(row), f" {drawn.randint(0, 9)} "]
        for row in range(drawn.randint(1, 9))
    ]
    ending = drawn.choice(["\n", "\r\n"])
    for name, mark in (("even", ""), ("quoted", '"')):
        lines = ["query,doc,score", *(",".join(f"{mark}{cell}{mark}" for cell in row) for row in cells)]
        (tmp_path / f"{name}.csv").write_text(ending.join(lines), newline="")
    runs = [rb.read_run(tmp_path / f"{name}.csv", name="run") for name in ("even", "quoted")]
    assert runs[0] == runs[1]
    assert runs[0].to_dict() == {"q1": {doc.strip(): float(score) for _, doc, score in cells}}


def test_trec_lines_with_tabs_may_have_text_behind_the_tag(tmp_path):
    (tmp_path / "run").write_text("q\tQ0\td\t1\t2\tmine and more\nq\tQ0\te\t2\t1\tother text\n")
    run = rb.read_run(tmp_path / "run")
    assert (run.name, run.to_dict()) == ("mine", {"q": {"d": 2.0, "e": 1.0}})
