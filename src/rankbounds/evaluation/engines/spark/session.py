"""The session of Spark, and what Java says of errors as one sentence."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rankbounds.errors import DataError, RankboundsError, UsageError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def session_here(master: str | None = None) -> SparkSession:
    """Return the Spark session of this process, or start one: on this machine, or on the cluster with this URL.

    Parameters
    ----------
    master : str, optional
        Such as ``"local[4]"``, ``"spark://host:7077"`` or ``"yarn"``.

    Returns
    -------
    SparkSession
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        import pyarrow  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError(f'Spark needs further packages: pip install "rankbounds[spark]" ({error}).') from None
    active = SparkSession.getActiveSession()
    if active is not None:
        if master is not None and context_of(active).master != master:
            raise UsageError(
                f'A session of Spark runs already, on "{context_of(active).master}": stop it to use "{master}".'
            )
        return active
    builder: Any = SparkSession.builder.appName("rankbounds").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    try:
        session: SparkSession = builder.getOrCreate()
    except Exception as error:
        where = f'on "{master}" ' if master else ""
        raise UsageError(f"Spark does not start {where}({first_sentence(error)}).") from None
    session.sparkContext.setLogLevel("OFF")  # what goes wrong in a task is reported in one sentence
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


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Report Spark's failures in one sentence; tasks return problems of the input themselves."""
    try:
        yield
    except RankboundsError:
        raise
    except Exception as error:
        text = str(error)
        lacking = re.search(r"ModuleNotFoundError: No module named '(\w+)'", text)
        if lacking:
            raise UsageError(
                f"Spark's Python workers lack the package {lacking[1]}: install it there, or let the environment "
                f"variable PYSPARK_PYTHON name a Python that has it (this one is {sys.executable})."
            ) from None
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark") or "Traceback" in text:
            raise
        sentence = f"Spark cannot read this ({first_sentence(error)})."
        file = re.search(r"(?:file|path):? ['\"]?((?:\w+:)?/[^\s'\",]+)", text)
        raise (DataError(without_scheme(file[1]).rstrip("."), sentence) if file else DataError(sentence)) from None


def without_scheme(path: str) -> str:
    """A path on this machine without ``file:`` in front."""
    return re.sub(r"^file:/+", "/", path)


def first_sentence(error: Exception) -> str:
    """Return Java's innermost cause without the names of classes."""
    text = str(error).strip() or type(error).__name__
    causes = re.findall(r"^(?:Caused by: |: )[\w.$]+(?:Exception|Error): (.*)", text, re.MULTILINE)
    return (causes[-1] if causes else text.splitlines()[0]).strip().rstrip(".")[:200]
