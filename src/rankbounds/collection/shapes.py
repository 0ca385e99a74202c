"""The types of inputs for judgments and runs; ``inputs`` reads all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from rankbounds.collection.qrels import Qrels
    from rankbounds.collection.run import Run
    from rankbounds.collection.same_documents import SameDocuments


class Frame(Protocol):
    """A frame of pandas, polars, pyarrow or Spark: rows under named columns."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


QrelsLike: TypeAlias = "str | os.PathLike[str] | Qrels | Mapping[Any, Iterable[Any]] | Iterable[Any] | Frame"
"""Judgments: a path, ``Qrels``, ``{query: {document: grade}}``, ``{query: {document, ...}}``, a frame, or rows."""
RunLike: TypeAlias = "str | os.PathLike[str] | Run | Mapping[Any, Iterable[Any]] | Iterable[Any] | Frame"
"""One run: a path, ``Run``, ``{query: {document: score}}``, ``{query: [document, ...]}``, a frame, or rows."""
RunsLike: TypeAlias = "RunLike | Mapping[str, RunLike] | Iterable[RunLike]"
"""One run or several: patterns and folders, a list of runs, a dict by name, or a frame with a column ``run``."""
SameAs: TypeAlias = "str | os.PathLike[str] | Iterable[Iterable[str]] | SameDocuments"
"""Groups of ids of one document each: a file with a group per line, or lists."""
