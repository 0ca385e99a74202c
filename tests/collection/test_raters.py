"""Several raters per document: one judgment by a plain definition, offered where a document is listed twice."""

from __future__ import annotations

from fractions import Fraction

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds as rb

ROWS = st.lists(
    st.tuples(
        st.sampled_from("qr"), st.sampled_from("abc"), st.sampled_from([-1, -2, 0, 1, 2, 3]), st.sampled_from("xyz")
    ),
    min_size=1,
    max_size=24,
    unique_by=lambda row: (row[0], row[1], row[3]),
)


def plain(rows, how):
    """Judgments by hand, -1 (nobody judged) only where there is no other."""
    given = {}
    for query, doc, grade, _ in rows:
        given.setdefault((query, doc), []).append(grade)
    found = {}
    for (query, doc), grades in given.items():
        known = [grade for grade in grades if grade != -1]
        if not known:
            one = -1
        elif how == "first":
            one = known[0]
        elif how == "mean":
            one = float(Fraction(sum(known), len(known)))
        else:
            one = min(known, key=lambda grade: (-known.count(grade), grade))
        found.setdefault(query, {})[doc] = one
    return found


@given(ROWS, st.sampled_from(["mean", "majority", "first"]))
def test_definition(rows, how):
    expected = plain(rows, how)
    columns = dict(zip(("query_id", "doc_id", "relevance", "rater"), zip(*rows, strict=True), strict=True))
    anonymous = [row[:3] for row in rows]
    for judged in (columns, {**columns, "source": columns["rater"]}, polars.DataFrame(columns), anonymous):
        assert rb.Qrels(judged, raters=how).to_dict() == expected


@given(ROWS, st.sampled_from(["mean", "majority", "first"]))
def test_of_one_source_or_the_first_that_judged(rows, how):
    """With sources, those of each are joined before one is chosen."""
    sources = ["human" if row[3] < "z" else "llm" for row in rows]
    columns = dict(zip(("query_id", "doc_id", "relevance"), zip(*[row[:3] for row in rows], strict=True), strict=True))
    of = {
        name: plain([row for row, source in zip(rows, sources, strict=True) if source == name], how) for name in sources
    }
    for name, expected in of.items():
        assert rb.Qrels({**columns, "source": sources}, raters=how, source=name).to_dict() == expected
    if len(of) == 2:
        both = rb.Qrels({**columns, "source": sources}, raters=how, source="human,llm").to_dict()
        for query, docs in both.items():
            for doc, grade in docs.items():
                first = of["human"].get(query, {})
                assert grade == (first[doc] if doc in first else of["llm"][query][doc])


@pytest.mark.parametrize("lenient", [[], ["--lenient"]])
@pytest.mark.parametrize("lines", ["q 0 a 2\nq 0 a 1\nq 0 b 0\nq 0 a 2\n", "q x a 2\nq y a 1\nq x b 0\nq z a 2\n"])
def test_lines_of_trec_and_the_command(tmp_path, command, lines, lenient):
    (tmp_path / "qrels").write_text(lines)
    (tmp_path / "run").write_text("q Q0 b 1 2.5 t\nq Q0 a 2 1.5 t\n")
    for how, gain in (("mean", 5 / 3), ("majority", 2), ("first", 2)):
        assert rb.read_qrels(tmp_path / "qrels", raters=how).to_dict() == {"q": {"a": gain, "b": 0}}
        words = ["-m", "DCG", "--raters", how, "--format", "csv", *lenient]
        code, out, err = command("evaluate", tmp_path / "qrels", tmp_path / "run", *words)
        assert (code, err) == (0, "")
        scored = rb.evaluate(tmp_path / "qrels", tmp_path / "run", "DCG", raters=how).value.item()
        assert f"DCG,{scored}" in out
        assert scored == pytest.approx(gain / 1.584962500721156)


TWICE = {"query_id": ["q", "q"], "doc_id": ["a", "a"], "relevance": [1, 0]}


@pytest.mark.parametrize(
    ("judged", "options", "told"),
    [
        (
            [("q", "a", 1), ("q", "a", 0)],
            {},
            r"listed twice. Keep one .*--raters majority \(in Python raters='majority'\)",
        ),
        ({**TWICE, "rater": ["x", "y"]}, {}, "sources disagree .*--raters majority"),
        ({**TWICE, "rater": ["x", "x"]}, {}, 'two judgments of the source "x".*--raters majority'),
        ({**TWICE, "rater": ["x", "x"]}, {"raters": "mean"}, 'two judgments by "x"'),
        ({**TWICE, "subtopic": ["x", "x"]}, {"raters": "mean"}, 'two judgments by "x"'),
        (
            {**TWICE, "nugget": ["x", "y"], "importance": ["okay", "vital"]},
            {"raters": "mean"},
            "preferences or nuggets",
        ),
        (TWICE, {"raters": "median"}, '"median" is not a choice for raters'),
        (TWICE, {"raters": ""}, '"" is not a choice for raters'),
        ({**TWICE, "relevance": [1, None]}, {"raters": "mean"}, "not a finite number"),
        (TWICE, {"raters": "mean", "source": "x"}, 'no column "source"'),
    ],
)
def test_what_is_refused(judged, options, told):
    with pytest.raises(rb.RankboundsError, match=told):
        rb.Qrels(judged, **options)


def test_lines_offer_it_and_gains_of_a_table_have_no_means(tmp_path, command):
    (tmp_path / "qrels").write_text("q 0 a 2\nq 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 2 1.5 t\n")
    files = tmp_path / "qrels", tmp_path / "run"
    assert "or --raters majority where several people judged." in command("evaluate", *files)[2]
    code, _, err = command("evaluate", *files, "--raters", "mean", "--gain", "1=3,2=9")
    assert (code, err) == (
        2,
        "rankbounds: A table of gains has none for means of grades: choose raters majority or first.\n",
    )
    assert command("evaluate", *files, "--raters", "most")[0] == 2
    (tmp_path / "words").write_text("q 0 a A\nq 0 a B\nq 0 a B\n")
    scored = rb.evaluate(tmp_path / "words", tmp_path / "run", "DCG", gain="A=9,B=3", raters="majority")
    assert scored.value.item() == 3


def test_plans_take_judgments_by_several_raters():
    people = [{"query_id": "q", "doc_id": doc, "relevance": grade} for doc, grade in (("a", 1), ("a", 0), ("b", 0))]
    plan = rb.judge_next(people, {"run": {"q": ["x", "a", "b"]}}, measure="P@3", raters="first", budget=1)
    assert [row["doc_id"] for row in plan.rows()] == ["x"]


def test_words_for_grades_are_told_their_rule():
    labels = {"query_id": ["q"], "doc_id": ["a"], "label": ["Exact"]}
    with pytest.raises(rb.DataError, match=r'--gain "Exact=3,\.\.\." \(in Python gain="Exact=3,\.\.\."\)'):
        rb.evaluate(labels, {"run": {"q": ["a"]}}, "RR")
    assert rb.evaluate(labels, {"run": {"q": ["a"]}}, "RR", gain="Exact=3").value.item() == 1
