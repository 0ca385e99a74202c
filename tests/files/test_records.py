"""Rows of small tables: what is shared with the rest of the process stays as it was."""

from __future__ import annotations

import csv

import pytest

import rankbounds as rb
from rankbounds.errors import DataError
from rankbounds.files.records import numbered_cells, parse_json, table_rows


def test_cells_of_any_length_are_read_and_the_limit_of_csv_is_set_back():
    limit = csv.field_size_limit()
    long = "x" * (limit + 1)
    rows, others = (table_rows(f"a,{long}\nb,c\n", "table", ",") for _ in range(2))
    assert next(rows)[1] == ["a", long]
    assert csv.field_size_limit() == limit
    assert next(others)[1] == ["a", long]
    assert [cells for _, cells in (*rows, *others)] == [["b", "c"], ["b", "c"]]
    with pytest.raises(DataError, match="cannot be read as a table"):
        list(table_rows(f'"a"{long},b', "table", ","))
    assert csv.field_size_limit() == limit


def test_a_key_that_is_repeated_is_named():
    with pytest.raises(DataError, match='the key "b" occurs twice'):
        parse_json('{"a": 1, "b": 2, "b": 3}', "file")


@pytest.mark.parametrize("strict", [False, True])
def test_a_carriage_return_alone_is_a_part_of_its_cell(strict):
    content = 'q,a\rb,1\r\nq,"c\rd",2\nq,"e\r\nf",3\r'
    rows = [(1, ["q", "a\rb", "1"]), (2, ["q", "c\rd", "2"]), (4, ["q", "e\r\nf", "3\r"])]
    assert numbered_cells(content, "file", ",", strict=strict) == rows


def test_a_carriage_return_beside_a_quoted_cell_drops_no_rating(tmp_path):
    for quoted in ("c", '"c"'):
        (tmp_path / "ratings.csv").write_bytes(f"query,docid,rating\nq,a\rb,1\nq,{quoted},2\n".encode())
        assert rb.read_qrels(tmp_path / "ratings.csv").to_dict() == {"q": {"a\rb": 1, "c": 2}}
