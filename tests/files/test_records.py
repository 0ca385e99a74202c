"""Rows of small tables: what is shared with the rest of the process stays as it was."""

from __future__ import annotations

import csv

import pytest

from rankbounds.errors import DataError
from rankbounds.files.records import cell_rows, parse_json


def test_cells_of_any_length_are_read_and_the_limit_of_csv_is_set_back():
    limit = csv.field_size_limit()
    long = "x" * (limit + 1)
    rows, others = (cell_rows(f"a,{long}\nb,c\n", "table", ",") for _ in range(2))
    assert next(rows)[1] == ["a", long]
    assert csv.field_size_limit() == limit
    assert next(others)[1] == ["a", long]
    assert [cells for _, cells in (*rows, *others)] == [["b", "c"], ["b", "c"]]
    with pytest.raises(DataError, match="cannot be read as a table"):
        list(cell_rows(f'"a"{long},b', "table", ","))
    assert csv.field_size_limit() == limit


def test_a_key_that_is_repeated_is_named():
    with pytest.raises(DataError, match='the key "b" occurs twice'):
        parse_json('{"a": 1, "b": 2, "b": 3}', "file")
