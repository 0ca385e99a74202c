"""Which files the paths stand for that Spark is given, on this machine or on a file system that Spark knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.engines.spark.session import context_of, first_sentence, without_scheme
from rankbounds.files.opening import STANDARD_INPUT, expand, is_pipe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE_ENDINGS = (".parquet", ".parq")
WRITTEN_BY_SPARK = "_SUCCESS"
"""The file that Spark leaves in a folder when all parts of a table are written."""


def expanded(session: SparkSession, path: str) -> list[str]:
    """Each file is a run, whichever way it is named: by its path, by a pattern, or by the folder that holds it.

    A folder that is one table (its name ends like a Parquet file, or Spark wrote it) is one run.
    """
    if path == STANDARD_INPUT or is_pipe(path):
        raise UsageError(f'Spark cannot read "{path}", which is no file: write it to one first.')
    if os.path.isdir(path) and (
        path.rstrip("/").endswith(TABLE_ENDINGS) or os.path.exists(os.path.join(path, WRITTEN_BY_SPARK))
    ):
        return [path]
    if ":/" in path and not os.path.exists(path):
        return _listed_by_spark(session, path)
    return expand([path])


def files_in_table(folder: str) -> list[str]:
    """The files that make a table, in name order."""
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name[0] not in "._")


def _listed_by_spark(session: SparkSession, path: str) -> list[str]:
    """The same for a path on a file system that Spark knows."""
    jvm = getattr(session, "_jvm", None)
    if jvm is None:
        return [path]
    try:
        place = jvm.org.apache.hadoop.fs.Path(path)
        system = place.getFileSystem(session._jsc.hadoopConfiguration())
        listed: list[str] = []
        for status in system.globStatus(place) or ():
            inside = list(system.listStatus(status.getPath())) if status.isDirectory() else []
            names = [entry.getPath().getName() for entry in inside]
            if (
                not status.isDirectory()
                or status.getPath().getName().endswith(TABLE_ENDINGS)
                or WRITTEN_BY_SPARK in names
            ):
                listed.append(status.getPath().toString())
            else:
                shown = (entry for entry in inside if entry.isFile() and entry.getPath().getName()[0] not in "._")
                listed += sorted(entry.getPath().toString() for entry in shown)
    except Exception as error:
        raise DataError(path, f"Spark cannot read this ({first_sentence(error)}).") from None
    if not listed:
        raise DataError(path, "there is no such file.")
    return listed


def opened_by_tasks(session: SparkSession, path: str) -> str | None:
    """The name of a file or folder here which tasks can open by it; None for a path that Spark must read.

    On a cluster a path without a scheme is one of Spark's default file system; where that is the machines' own, every
    machine must have the file under this name, as Spark itself demands.
    """
    name = without_scheme(path)
    if not os.path.exists(name) or not path:
        return None
    context = context_of(session)
    if name == path and not str(context.master).startswith("local"):
        java = session._jsc
        if not str(java.hadoopConfiguration().get("fs.defaultFS", "file:///")).startswith("file:"):
            return None
    return os.path.abspath(name)
