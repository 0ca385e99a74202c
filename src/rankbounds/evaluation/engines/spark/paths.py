"""Which files the paths stand for that Spark is given, on this machine or on a file system that Spark knows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.engines.spark.task_errors import first_sentence
from rankbounds.files.named_columns import QRELS_COLUMNS
from rankbounds.files.opening import STANDARD_INPUT, expand, is_pipe
from rankbounds.files.parquet import is_parquet

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
        if _is_table(path):
            files[path] = None
        elif ":/" in path and not os.path.exists(path):
            files.update(dict.fromkeys(_listed_by_spark(session, path)))
        else:
            files.update(dict.fromkeys(expand([path])))
    return list(files)


def _is_table(folder: str) -> bool:
    named_so = folder.rstrip("/").endswith(TABLE_ENDINGS)
    return os.path.isdir(folder) and (named_so or os.path.exists(os.path.join(folder, WRITTEN_BY_SPARK)))


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


def on_this_machine(session: SparkSession, path: str) -> str | None:
    """The name of a text file which the tasks of this session can open as the driver does, or None."""
    name = path.removeprefix("file://") if path.startswith("file:///") else path
    context = getattr(session, "sparkContext", None)
    if context is None or not str(context.master).startswith("local") or not os.path.isfile(name):
        return None
    return None if is_parquet(name, QRELS_COLUMNS) else os.path.abspath(name)
