"""Scores as a tidy table, a row for each run, topic and measure: rows, columns, data frames, and wide tables."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankbounds.errors import UsageError
from rankbounds.evaluation.score_arrays import PARTS, ScoreArrays
from rankbounds.files.writing import writing
from rankbounds.frames import Column, arrow_table, pandas_frame, polars_frame
from rankbounds.tables import plain

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

FIELDS = ("run", "query_id", "measure", "value", "low", "high")
"""The columns that every row has, in whatever format: these names and their order stay."""
_AXES = ("run", "query_id", "measure")


class TidyScores(ScoreArrays):
    """Scores that can be read as a tidy table."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns of the rows: those that every row has, and the parts of residuals where a measure has one.

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.evaluate({"301": {"a": 1}}, {"301": {"a": 1}}, "AP").fields
        ('run', 'query_id', 'measure', 'value', 'low', 'high')
        """
        return FIELDS if self.parts is None else (*FIELDS, *PARTS)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A dict for each run, measure and topic, in that order; iterating over the scores gives the same.

        Returns
        -------
        iterator of dict
            With the keys ``run, query_id, measure, value, low, high``; rows of measures with a residual name its parts
            too. Topics left out have no row; None is what is not known.

        Examples
        --------
        >>> import rankbounds as rb
        >>> list(rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").rows())
        [{'run': 'bm25', 'query_id': '301', 'measure': 'AP', 'value': 1.0, 'low': 1.0, 'high': 1.0}]
        """
        for run_place, run in enumerate(self.runs):
            for measure_place, measure in enumerate(self.measures):
                arrays = [self.value, self.low, self.high]
                if self.parts is not None and measure.has_residual:
                    arrays += list(self.parts)
                names = (*FIELDS, *PARTS)[: 3 + len(arrays)]
                columns = [array[run_place, :, measure_place].tolist() for array in arrays]
                label = str(measure)
                for query, *numbers in zip(self.query_ids, *columns, strict=True):
                    if numbers[0] == numbers[0]:
                        yield dict(zip(names, (run, query, label, *map(plain, numbers)), strict=True))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def __len__(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.value)))

    def columns(self) -> dict[str, list[Any]]:
        """The tidy table as columns, with the rows of ``rows`` and the columns of ``to_polars``.

        Returns
        -------
        dict of list
            None is what is not known.

        Examples
        --------
        >>> import rankbounds as rb
        >>> columns = rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").columns()
        >>> columns["value"], columns["certain"]
        ([1.0], ['exact'])
        """
        return {name: [plain(value) for value in column] for name, column in self._columns().items()}

    def _columns(self) -> dict[str, Column]:
        run, measure, topic = np.nonzero(~np.isnan(self.value.swapaxes(1, 2)))
        cells = run, topic, measure
        parts = {} if self.parts is None else {name: self.parts[(at, *cells)] for at, name in enumerate(PARTS)}
        labels = [str(one) for one in self.measures]
        exactness = ["outer" if one in self.outer else "exact" for one in self.measures]
        low = self.low[cells]
        return {
            "run": [self.runs[place] for place in run.tolist()],
            "query_id": [self.query_ids[place] for place in topic.tolist()],
            "measure": [labels[place] for place in measure.tolist()],
            "value": self.value[cells],
            "low": low,
            "high": self.high[cells],
            **parts,
            "judged_at_10": self.judged[run, topic],
            "certain": [
                exactness[place] if known else None
                for place, known in zip(measure.tolist(), (~np.isnan(low)).tolist(), strict=True)
            ],
        }

    def to_polars(self) -> polars.DataFrame:
        """A polars data frame: the tidy table, with how much is judged and how exact bounds are.

        Returns
        -------
        polars.DataFrame
            ``run, query_id, measure, value, low, high``; then the parts of residuals, where a measure has one;
            ``judged_at_10``, the share of the first 10 documents that are judged; and ``certain``: ``"exact"`` where
            the bounds can be reached, ``"outer"`` where they hold but may be wider than what can happen, null where no
            bounds are known.

        Examples
        --------
        >>> import rankbounds as rb
        >>> scores = rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 2, "b": 1}}}, ["P@2", "Q"])
        >>> scores.to_polars().select("measure", "low", "high", "judged_at_10", "certain").rows()
        [('P@2', 0.5, 1.0, 0.5, 'exact'), ('Q', 0.75, 1.0, 0.5, 'outer')]
        """
        return polars_frame(self._columns())

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame with the columns of ``to_polars``.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import rankbounds as rb
        >>> frame = rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").to_pandas()
        >>> frame[["run", "measure", "value", "certain"]]
            run measure  value certain
        0  bm25      AP    1.0   exact
        """
        return pandas_frame(self._columns())

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow table with the columns of ``to_polars``.

        Returns
        -------
        pyarrow.Table

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").to_arrow().column_names
        ['run', 'query_id', 'measure', 'value', 'low', 'high', 'judged_at_10', 'certain']
        """
        return arrow_table(self._columns())

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """The values as plain dicts, ``{run: {measure: {query_id: value}}}``.

        Returns
        -------
        dict

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").to_dict()
        {'bm25': {'AP': {'301': 1.0}}}
        """
        nested: dict[str, dict[str, dict[str, float]]] = {run: {} for run in self.runs}
        for row in self.rows():
            nested[row["run"]].setdefault(row["measure"], {})[row["query_id"]] = row["value"]
        return nested

    def pivot(
        self,
        index: str = "run",
        columns: str = "measure",
        values: Literal["value", "low", "high", "judged_at_10"] = "value",
    ) -> polars.DataFrame:
        """A wide table: a row for each run, say, and a column for each measure.

        Parameters
        ----------
        index, columns : {"run", "topic", "measure"}
            What rows and columns stand for. Where neither is the topic, numbers are means over topics; where one is,
            the scores must have one measure, or one run, only.
        values : {"value", "low", "high", "judged_at_10"}
            Which number.

        Returns
        -------
        polars.DataFrame
            The first column is called ``run``, ``query_id`` or ``measure``; null is what is not known. (``to_pandas()``
            of it gives a pandas frame.)

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels = {"301": {"a": 1}, "302": {"b": 1}}
        >>> bm25, dense = {"301": {"a": 1}, "302": {"c": 1}}, {"301": {"a": 1}, "302": {"b": 1}}
        >>> scores = rb.evaluate(qrels, {"bm25": bm25, "dense": dense}, ["P@1", "AP"])
        >>> scores.pivot().to_dicts()
        [{'run': 'bm25', 'P@1': 0.5, 'AP': 0.5}, {'run': 'dense', 'P@1': 1.0, 'AP': 1.0}]
        >>> scores["AP"].pivot(index="topic", columns="run").rows()
        [('301', 1.0, 1.0), ('302', 0.0, 1.0)]
        """
        rows, across = (_axis(name) for name in (index, columns))
        if rows == across:
            raise UsageError(f"Rows and columns cannot both be {index}: choose two of run, topic and measure.")
        left = next(axis for axis in _AXES if axis not in (rows, across))
        scores = self.mean() if left == "query_id" else self
        names = {"run": scores.runs, "query_id": scores.query_ids, "measure": [str(one) for one in scores.measures]}
        if len(names[left]) != 1:
            how = "scores.run(name)" if left == "run" else "scores[measure]"
            raise UsageError(f"There are {len(names[left])} {left}s: choose one for such a table, with {how}.")
        if rows in names[across]:
            raise UsageError(f'A {across} is called "{rows}", as the first column is. Rename it first.')
        if values not in ("value", "low", "high", "judged_at_10"):
            raise UsageError(f'There is no number "{values}": choose value, low, high or judged_at_10.')
        array = scores.judged[:, :, None] if values == "judged_at_10" else getattr(scores, values)
        array = np.broadcast_to(array, scores.value.shape)
        wide = np.moveaxis(array, [_AXES.index(axis) for axis in (rows, across, left)], [0, 1, 2])[:, :, 0]
        return polars_frame({rows: names[rows], **dict(zip(names[across], wide.T, strict=True))})

    def write_parquet(self, path: str, *, per_topic: bool = False) -> None:
        """Write the tidy table as a Parquet file, with the columns of ``fields``.

        Parameters
        ----------
        path : str
            The file.
        per_topic : bool
            The scores of topics too, not the means only.

        Examples
        --------
        >>> import rankbounds as rb
        >>> import os, polars, tempfile
        >>> scores = rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "scores.parquet")
        ...     scores.write_parquet(path)
        ...     polars.read_parquet(path).rows()
        [('bm25', 'all', 'AP', 1.0, 1.0, 1.0)]
        """
        import polars

        frames = [
            polars_frame(part._columns(), f"{path}: Parquet", "Choose csv or trec, which keep bytes.")
            for part in ((self, self.mean()) if per_topic else (self.mean(),))
        ]
        content = io.BytesIO()
        polars.concat(frames).select(self.fields).write_parquet(content)
        with writing(path, "wb") as out:
            out.write(content.getbuffer())


def _axis(name: str) -> str:
    axis = "query_id" if name == "topic" else name
    if axis not in _AXES:
        raise UsageError(f'Rows and columns stand for run, topic or measure, not for "{name}".')
    return axis
