"""Whatever options are chosen together, every engine has the numbers of plain enumeration.

The law and its oracle are in ``combinations.py``: small random collections with random options, whose values and bounds
are found by trying every order of tied documents and every judgment, with the definitions of ``plain.py``. The fuzzer
drives the same law (``benchmarks/fuzz.py --properties combinations``).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from combinations import Case

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1))
def test_every_combination_of_options_has_the_numbers_of_enumeration(seed):
    with tempfile.TemporaryDirectory() as folder:
        Case.drawn(Random(seed)).check(Path(folder))


@pytest.mark.parametrize("seed", [5261, 22706])
def test_a_list_without_ties_has_its_numbers_whatever_else_is_in_its_batch(seed, tmp_path):
    """Engines batch lists otherwise: what ties leave open was unknown for all lists that came with a tied one."""
    Case.drawn(Random(seed)).check(tmp_path)


@pytest.mark.usefixtures("spark_session")
@pytest.mark.parametrize("seed", range(6))
def test_spark_has_the_numbers_of_enumeration(seed, tmp_path):
    case = Case.drawn(Random(seed))
    if case.ties in ("run", "line"):  # rows have no order on Spark
        case.options["ties"] = "rank"
    case.check(tmp_path, spark=True)
