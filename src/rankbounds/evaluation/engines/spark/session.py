"""The session of Spark, and the modules of PySpark, which are loaded only where they are needed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from rankbounds.errors import UsageError
from rankbounds.evaluation.engines.spark.task_errors import first_sentence

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def session_here(master: str | None = None) -> SparkSession:
    """The Spark session of this process, or a new one: on this machine, or on the cluster with this URL.

    Parameters
    ----------
    master : str, optional
        Such as ``"local[4]"``, ``"spark://host:7077"`` or ``"yarn"``.

    Returns
    -------
    SparkSession
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    sql = _pyspark_sql()
    active = sql.SparkSession.getActiveSession()
    if active is not None:
        if master is not None and context_of(active).master != master:
            raise UsageError(
                f'A session of Spark runs already, on "{context_of(active).master}": stop it to use "{master}".'
            )
        return active
    builder = sql.SparkSession.builder.appName("rankbounds").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        where = f'on "{master}" ' if master else ""
        raise UsageError(f"Spark does not start {where}({first_sentence(error)}).") from None
    session.sparkContext.setLogLevel("OFF")  # what goes wrong in a task is told in one sentence
    return session


def context_of(session: SparkSession) -> SparkContext:
    """What runs the tasks; Spark Connect has no such thing."""
    try:
        return session.sparkContext
    except Exception:
        raise UsageError(
            "A session of Spark Connect cannot run these tasks: use one that talks to the cluster itself, such as "
            'SparkSession.builder.master("spark://host:7077").'
        ) from None


def parallelism(session: SparkSession) -> int:
    """How many tasks the session runs at a time."""
    return int(context_of(session).defaultParallelism)


def functions_of_spark() -> Any:
    """The module ``pyspark.sql.functions``; one sentence where PySpark is not installed."""
    _pyspark_sql()
    from pyspark.sql import functions

    return functions


def _pyspark_sql() -> Any:
    try:
        import pyarrow  # noqa: F401
        from pyspark import sql
    except ImportError as error:
        raise UsageError(f'Spark needs further packages: pip install "rankbounds[spark]" ({error}).') from None
    return sql
