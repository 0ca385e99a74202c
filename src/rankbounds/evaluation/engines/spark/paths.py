"""Which files the paths stand for that Spark is given, on this machine or on a file system that Spark knows."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.engines.spark.session import context_of
from rankbounds.evaluation.engines.spark.task_errors import first_sentence
from rankbounds.files.opening import STANDARD_INPUT, expand, is_pipe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE_ENDINGS = (".parquet", ".parq")
WRITTEN_BY_SPARK = "_SUCCESS"
"""The file that Spark leaves in a folder when all parts of a table are written."""


def expanded(session: SparkSession, paths: Sequence[str]) -> list[str]:
    """Each file is a run, whichever way it is named: by its path, by a pattern, or by the folder that holds it.

    A folder that is one table (its name ends like a Parquet file, or Spark wrote it) is one run.
    """
    files: dict[str, None] = {}
    for path in paths:
        if path == STANDARD_INPUT or is_pipe(path):
            raise UsageError(f'Spark cannot read "{path}", which is no file: write it to one first.')
        if is_table(path):
            files[path] = None
        elif ":/" in path and not os.path.exists(path):
            files.update(dict.fromkeys(_listed_by_spark(session, path)))
        else:
            files.update(dict.fromkeys(expand([path])))
    return list(files)


def is_table(folder: str, of_parquet: bool = False) -> bool:
    """Is this a folder here that is one table, perhaps one of Parquet?"""
    if not os.path.isdir(folder):
        return False
    holds_parquet = any(name.endswith(TABLE_ENDINGS) for name in os.listdir(folder))
    named_so = folder.rstrip("/").endswith(TABLE_ENDINGS)
    written = os.path.exists(os.path.join(folder, WRITTEN_BY_SPARK))
    return (named_so or written) and (holds_parquet or not of_parquet)


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
    name = re.sub(r"^file:/+", "/", path)
    if not os.path.exists(name) or not path:
        return None
    context = context_of(session)
    if name == path and not str(context.master).startswith("local"):
        java = session._jsc
        if not str(java.hadoopConfiguration().get("fs.defaultFS", "file:///")).startswith("file:"):
            return None
    return os.path.abspath(name)
