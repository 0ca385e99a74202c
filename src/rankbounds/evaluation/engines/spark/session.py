"""The session of Spark, and the modules of PySpark, which are loaded only where they are needed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from rankbounds.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_here() -> SparkSession:
    """The Spark session of this process, or a new one on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    sql = _pyspark_sql()
    active = sql.SparkSession.getActiveSession()
    if active is not None:
        return active
    builder = sql.SparkSession.builder.appName("rankbounds").config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # what goes wrong in a task is told in one sentence
    return session


def parallelism(session: SparkSession) -> int:
    """How many tasks the session runs at a time."""
    return int(session.sparkContext.defaultParallelism)


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
