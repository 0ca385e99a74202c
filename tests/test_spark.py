"""Spark gives the scores of the local engine: every law and golden test runs on it too, and bad rows are one sentence."""

from __future__ import annotations

import os
import random
import sys

import numpy as np
import pytest

pytest.importorskip("pyspark", reason='PySpark is not installed: pip install "rankbounds[spark]"')
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import rankbounds as rb
import test_golden
import test_laws
from rankbounds import spark
from rankbounds.judgments import as_qrels
from rankbounds.runs import as_run

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Spark's own warnings are not ours to turn into errors
    pytest.mark.xdist_group("spark"),
]


@pytest.fixture(scope="module")
def session():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    source = os.path.dirname(os.path.dirname(rb.__file__))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("tests").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "1g")
    try:
        one = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except Exception as error:
        pytest.skip(f"Spark does not start here (Java 17 is needed): {error}")
    one.sparkContext.setLogLevel("OFF")
    yield one
    one.stop()


def frame(session, pairs, value, name, columns=()):
    rows = [(query, doc, float(number), *columns) for query, doc, number in pairs.rows(value)]
    return session.createDataFrame(rows, f"query_id string, doc_id string, {name} double" + ", run string" * bool(columns))


@pytest.fixture
def on_spark(session, monkeypatch):
    """Let ``rankbounds.evaluate`` go to Spark; topics are put into the order of the local engine."""
    local = rb.evaluate

    def evaluate(qrels, runs, measures=rb.evaluate.__defaults__[0], **options):
        options.pop("lenient", None)
        judgments = as_qrels(qrels)
        several = rb.read_runs(runs) if isinstance(runs, str | os.PathLike) else [as_run(runs)]
        tables = [frame(session, one.pairs, one.score, "score", (one.name,)) for one in several]
        table = tables[0]
        for other in tables[1:]:
            table = table.union(other)
        found = spark.evaluate(
            table.repartition(2),
            frame(session, judgments.pairs, judgments.grade, "relevance"),
            measures,
            runs=[one.name for one in several],
            partitions=2,
            **options,
        )
        scores = found.collect()
        found.lists.unpersist()
        order = [scores.query_ids.index(query) for query in judgments.query_ids if query in scores.query_ids]
        scores.query_ids[:] = [scores.query_ids[at] for at in order]
        for name in ("value", "low", "high"):
            object.__setattr__(scores, name, getattr(scores, name)[:, order])
        object.__setattr__(scores, "judged", scores.judged[:, order])
        return scores

    monkeypatch.setattr(rb, "evaluate", evaluate)
    yield local


LAWS = [
    getattr(test_laws, name)
    for name in dir(test_laws)
    if name.startswith("test_") and hasattr(getattr(test_laws, name), "hypothesis")
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_laws(on_spark, law):
    """The law's own body on examples drawn once: Spark is too slow for a hundred."""
    from hypothesis import HealthCheck, Phase, given, seed, settings

    inner = law.hypothesis.inner_test
    drawn = given(*law.hypothesis._given_kwargs.values()) if getattr(law.hypothesis, "_given_kwargs", None) else None
    few = settings(
        max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )
    run = drawn(inner) if drawn else given(*law_strategies(law))(inner)
    seed(7)(few(run))()


def law_strategies(law):
    """The strategies that a law was declared with, in order."""
    examples, st = test_laws.examples, test_laws.st
    several = {
        "test_expected_is_the_mean_over_independent_judgments": [examples(), st.sampled_from([0.0, 0.2, 0.5, 1.0])],
        "test_a_further_judgment_never_widens_the_bounds": [examples(), st.data()],
        "test_measures_of_the_list_alone_do_not_read_what_else_is_relevant": [examples(), st.sampled_from([1, 2, 3])],
        "test_lists_are_scored_alone_as_in_a_batch": [st.lists(examples(), min_size=1, max_size=2)],
        "test_joint_bounds_are_the_extremes_over_orders_and_judgments": [examples(holes=2, group=3, length=5)],
    }
    return several.get(law.__name__, [examples()])
