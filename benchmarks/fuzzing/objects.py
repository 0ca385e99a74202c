"""What must hold of objects that somebody hands over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars

import rankbounds as rb
from fuzzing.case import Case, answer, numbers_or_refusal
from fuzzing.collection import (
    MEASURES,
)


def objects(rng: Random) -> Case:
    """Odd Python objects give numbers or the package's own error."""
    good = {"1": {"a": 1.0, "b": 0.0}, "2": {"a": 1.0}}
    number = rng.randrange(len(ODD_OBJECTS))
    of_run = rng.random() < 0.5
    value, seed = "score" if of_run else "relevance", rng.random()

    def check(_folder: Path) -> str:
        given = ODD_OBJECTS[number](value, Random(seed))
        found = answer(lambda: rb.evaluate(good, given, MEASURES) if of_run else rb.evaluate(given, good, MEASURES))
        return numbers_or_refusal(found)

    return Case({}, check, f"# object {number} of ODD_OBJECTS as {'run' if of_run else 'judgments'}")


ODD_VALUES: tuple[Any, ...] = (
    None, 1, 1.5, True, b"a", "", "1", "\ud800", "a\nb", float("nan"), float("inf"), 10**400, -(10**20), [], [1], {},
    {"a": 1},
    (), object(), np.int64(1), np.float32(1), np.str_("1"), "9" * 400, complex(1, 1),
)  # fmt: skip


def _hashable(rng: Random) -> Any:
    return rng.choice([one for one in ODD_VALUES if not isinstance(one, list | dict)])


def _odd_nested(_value: str, rng: Random) -> Any:
    return {
        _hashable(rng): {_hashable(rng): rng.choice(ODD_VALUES) for _ in range(2)} for _ in range(rng.randint(1, 3))
    }


def _odd_rows(_value: str, rng: Random) -> Any:
    return [(_hashable(rng), _hashable(rng), rng.choice(ODD_VALUES)) for _ in range(rng.randint(1, 3))]


def _odd_pandas(value: str, rng: Random) -> Any:
    import pandas

    odd = [*ODD_VALUES, pandas.NA, pandas.NaT]
    return pandas.DataFrame({name: [rng.choice(odd), "1"] for name in ("query_id", "doc_id", value)}, dtype=object)


def _odd_polars(value: str, rng: Random) -> Any:
    columns = (
        ["1", None],
        [1, 2],
        [1.5, None],
        [b"1", b"a"],
        [["a"], ["b"]],
        [{"x": 1}, {"x": 2}],
        [True, False],
        ["a", "b"],
    )
    made = polars.DataFrame({name: rng.choice(columns) for name in ("query_id", "doc_id", value)}, strict=False)
    return rng.choice((made, made.lazy(), made.to_arrow(), made.to_arrow().to_reader()))


ODD_OBJECTS: tuple[Callable[[str, Random], Any], ...] = (
    _odd_nested, _odd_nested, _odd_rows, _odd_rows, _odd_pandas, _odd_polars, _odd_polars,
    lambda _value, rng: rng.choice(ODD_VALUES), lambda _value, rng: {"1": rng.choice(ODD_VALUES)},
    lambda _value, rng: iter([("1", "a", 1), rng.choice(ODD_VALUES)]),
)  # fmt: skip
