"""One Result: rows, frames, text, HTML and files from one declaration, checked by hand-written tables."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import pytest

import rankbounds as rb
from rankbounds.evaluation.options import chosen_options
from rankbounds.results import CaptionedTables, Column, Result, build_table, count, interval


@dataclass(frozen=True, eq=False, repr=False)
class Places(Result):
    names: tuple[str, ...]
    means: tuple[float | None, ...]

    columns = (
        Column("run", importance=2),
        Column("mean", "mean AP", importance=1),
        Column("low", None),
        Column("high", None),
        interval("low", "high", "whatever is judged"),
    )

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"run": name, "mean": mean, "low": mean and mean - 0.1, "high": mean and mean + 0.1}
            for name, mean in zip(self.names, self.means, strict=True)
        ]

    def words(self) -> str:
        return "One run is ahead."

    def notes(self) -> list[str]:
        return ["A note."]


PLACES = Places(("a", "=b"), (0.5, None), settings={"test": "t"})


def test_the_table_has_headings_intervals_and_dashes():
    assert PLACES.table().markdown() == (
        "| run | mean AP | whatever is judged |\n"
        "| :--- | ---: | ---: |\n"
        "| a | 0.5000 | [0.4000, 0.6000] |\n"
        "| =b | - | - |\n"
    )


def test_the_repr_has_table_words_and_notes():
    lines = repr(PLACES).splitlines()
    assert lines[0].split() == ["run", "mean", "AP", "whatever", "is", "judged"]
    assert lines[-2:] == ["One run is ahead.", "A note."]
    assert "One run is ahead." in PLACES._repr_html_()


def test_rows_are_the_same_in_every_frame_and_file():
    rows = PLACES.rows()
    assert PLACES.fields == ("run", "mean", "low", "high")
    assert PLACES.to_polars().to_dicts() == rows
    assert PLACES.to_arrow().to_pylist() == rows
    frame = PLACES.to_pandas()
    assert list(frame.columns) == list(PLACES.fields)
    assert frame["mean"][0] == 0.5
    assert math.isnan(frame["mean"][1])
    assert json.loads(PLACES.render("json")) == rows
    assert PLACES.render("csv").splitlines() == ["run,mean,low,high", "a,0.5,0.4,0.6", "'=b,,,"]
    assert PLACES.to_dict()["settings"] == {"test": "t"}
    json.dumps(PLACES.to_dict())


def test_importance_decides_what_a_narrow_terminal_keeps():
    assert list(build_table(PLACES.rows(), PLACES.columns).importance) == [0, 1]


def test_options_are_split_and_refused():
    assumptions, reading = chosen_options({"ties": "docid", "lenient": True}, bounds="none")
    assert (assumptions.ties, assumptions.bounds, reading.lenient) == ("docid", "none", True)
    with pytest.raises(rb.UsageError, match="bounds= cannot be given here: no bounds are drawn"):
        chosen_options({"bounds": "both"}, refused={"bounds": "no bounds are drawn."})
    with pytest.raises(TypeError, match=r'tie=\. Did you mean "ties="'):
        chosen_options({"tie": "docid"})


@dataclass(frozen=True, eq=False, repr=False)
class Undeclared(CaptionedTables):
    """Rows without declared columns, and a table with a caption."""

    def rows(self):
        return [{"run": "a", "pairs": 12345}, {"run": "b", "pairs": None}]

    def words(self):
        return "Words."

    def parts(self):
        return [("A caption:", build_table(self.rows(), (Column("run"), count("pairs", "how many"))))]


def test_columns_are_those_of_the_rows_where_none_are_declared():
    found = Undeclared()
    assert found.fields == ("run", "pairs")
    assert found.render("csv") == "run,pairs\na,12345\nb,\n"
    assert list(found.table().header) == ["run", "pairs"]


def test_captions_stand_above_their_tables():
    words, caption, header, first, second = repr(Undeclared()).splitlines()
    assert (words, caption, header.split()) == ("Words.", "A caption:", ["run", "how", "many"])
    assert (first.split(), second.split()) == (["a", "12,345"], ["b", "-"])
    assert "A caption:" in Undeclared()._repr_html_()


ACTING = "A\x1b[31m\x07\u202e\nx"


def test_names_do_not_act_on_terminals_or_pages():
    """Words, representations and LaTeX escape what a name holds; rows keep it."""
    qrels = {str(query): {"a": 1, "b": 0} for query in range(9)}
    runs = {name: {query: list(docs) for query in qrels} for name, docs in ((ACTING, "ab"), ("B", "ba"))}
    three = {**runs, "C": {query: ["b", "x"] for query in qrels}}
    two = rb.compare(qrels, runs, "RR")
    results = [two, two.gate(["RR worse", "RR < 0.9"]), rb.compare(qrels, three, ["RR", "nDCG@10"]), two.power()]
    results += [two.slices({query: f"{int(query) % 2}\x1b" for query in qrels}), rb.similarity(runs)]
    results += [rb.check(runs), rb.compare(qrels, three, "RR").winner(), rb.evaluate(qrels, runs)]
    results.append(rb.judging.compare_judges(qrels, {ACTING: qrels}, runs, "RR"))
    for result in results:
        texts = [repr(result), str(result), result.to_latex()]
        texts += [result.words()] if hasattr(result, "words") else []
        for text in texts:
            assert not re.search("[\x1b\x07\u202e]", text), (type(result), text)
    assert two.pairs.rows()[0]["run"] == "B"
    assert two.pairs.rows()[0]["against"] == ACTING
