"""Scores: values of runs, topics and measures between their bounds; selected, averaged, sorted, as rows and frames."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankbounds.arrays import Floats, read_only
from rankbounds.errors import UnknownNameError, UsageError
from rankbounds.evaluation.mean_intervals import mean_of, numbers_of
from rankbounds.evaluation.run_notes import RunNotes, notes_of
from rankbounds.evaluation.score_differences import merge_equal, merit
from rankbounds.evaluation.selection import MeasureName, Measures, Names, places_of_measures, places_of_names, take
from rankbounds.files.writing import writing
from rankbounds.frames import Column, polars_frame
from rankbounds.measures import Measure
from rankbounds.notebook import shown
from rankbounds.results import Result
from rankbounds.tables import Table, plain

if TYPE_CHECKING:
    from rankbounds.evaluation.clusters import Clusters, ClustersLike

Origin: TypeAlias = Mapping[str, Mapping[str, Any]]
"""``judgments``: a sum for each topic; ``settings``: by the name of the option, what it was."""

ALL = "all"
FIELDS = ("run", "query_id", "measure", "value", "low", "high")
"""The columns that every row has, in whatever format: these names and their order stay."""
INTERVAL = ("ci_low", "ci_high")
SETTINGS = ("bounds", "open", "most_relevant", "topics", "confidence")
PARTS = ("residual_unjudged", "residual_tail", "residual_ties")
"""What a residual is made of: unjudged documents retrieved, what lies beyond the list, and the range over ties."""


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Result):
    """Values of runs, topics and measures with their bounds.

    Arrays have the axes run, topic, measure; NaN where a topic was left out, and for unknown bounds. They are
    read-only, and methods return new scores. ``low`` and ``high`` are bounds: what missing judgments (or ties) leave
    open, without randomness. ``ci_low`` and ``ci_high`` of means are a confidence interval over topics as a sample.

    Attributes
    ----------
    runs, query_ids : list of str
        The names of the runs and of the topics.
    measures : list of Measure
        The measures.
    value, low, high : array
        The scores and their bounds.
    interval : array or None
        The confidence interval of means, with an axis for ``ci_low`` and ``ci_high`` before the others. None for
        scores of topics.
    confidence : float
        The level of that interval.
    judged : array
        The share of the first 10 documents that are judged, by run and topic.
    run_notes : list of RunNotes
        For each run, missing and unjudged topics, and the effect of ties.
    bounds : str
        What the bounds cover: ``unjudged`` documents, ``ties``, ``both`` or ``none``.
    without_relevant : list of str
        Topics without relevant documents.
    outer : list of Measure
        Measures whose bounds are safe but may be wider than necessary; those of all others are exact.
    topics : str
        Which topics means are over: ``judged`` or ``shared``.
    parts : array or None
        An axis of ``PARTS`` before the others; NaN for measures without a residual. None if no measure has one.
    open : str
        Which unjudged documents the bounds cover: those ``retrieved``, or those of the whole ``collection``.
    most_relevant : int or None
        How many relevant documents a topic may have in the collection; None: any number.
    origin : mapping or None
        Of saved scores, checksums of judgments and runs, and settings; ``make_origin`` computes them for others.
    mean_over : int
        The number of topics in a mean; 0 for scores of topics.
    clusters : dict
        The cluster of each topic, if a table has them; comparisons are then by cluster.

    Notes
    -----
    Besides ``fields``, data frames have ``judged_at_10``, the share of the first 10 documents that are judged, and
    ``certain``: ``"exact"`` if the bounds can be reached, ``"outer"`` if they may be wider than necessary, null if
    unknown.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"301": {"a": 1, "b": 0}, "302": {"c": 1, "d": 0}}
    >>> bm25 = {"301": {"a": 2, "b": 1}, "302": {"d": 2, "c": 1}}
    >>> dense = {"301": {"b": 2, "x": 1}, "302": {"c": 2, "d": 1}}
    >>> scores = rb.evaluate(qrels, {"bm25": bm25, "dense": dense}, ["AP", "P@1"])
    >>> print(scores, end="")
    run                AP     P@1  judged@10
    bm25   0.7500 +0.0000  0.5000       100%
    dense  0.5000 +0.1250  0.5000        75%
    >>> len(scores), "AP" in scores
    (8, True)
    >>> scores["AP"].run("bm25").to_dict()
    {'bm25': {'AP': {'301': 1.0, '302': 0.5}}}
    >>> for row in scores["P@1"].topic("301"):
    ...     print(row["run"], row["value"])
    bm25 1.0
    dense 0.0
    >>> scores["AP"].run("dense").to_polars().select("low", "high", "judged_at_10", "certain").rows()
    [(0.0, 0.25, 0.5, 'exact'), (1.0, 1.0, 1.0, 'exact')]
    """

    runs: list[str]
    query_ids: list[str]
    measures: list[Measure]
    value: Floats
    low: Floats
    high: Floats
    judged: Floats
    run_notes: list[RunNotes] = field(default_factory=list)
    bounds: str = "unjudged"
    without_relevant: list[str] = field(default_factory=list)
    outer: list[Measure] = field(default_factory=list)
    topics: str = "judged"
    parts: Floats | None = None
    open: str = "retrieved"
    most_relevant: int | None = None
    origin: Origin | None = field(default=None, compare=False)
    mean_over: int = 0
    interval: Floats | None = None
    confidence: float = 0.95
    clusters: dict[str, str] = field(default_factory=dict)
    make_origin: Callable[[], Origin] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in ("runs", "query_ids", "measures", "run_notes", "without_relevant", "outer"):
            object.__setattr__(self, name, list(getattr(self, name)))
        for name in ("value", "low", "high", "judged", "parts", "interval"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.float64)))
        settings = {name: getattr(self, name) for name in SETTINGS}
        object.__setattr__(self, "settings", settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in STORED)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        pairs = [(getattr(self, one.name), getattr(other, one.name)) for one in fields(self) if one.compare]
        return all(
            type(ours) is type(theirs)
            and (np.array_equal(ours, theirs, equal_nan=True) if isinstance(ours, np.ndarray) else ours == theirs)
            for ours, theirs in pairs
        )

    __hash__ = None  # type: ignore[assignment]  # two that are equal may be large: nothing short stands for them

    @property
    def figures(self) -> tuple[str, ...]:  # type: ignore[override]
        """Which functions of ``rankbounds.plots`` draw the scores, the usual one first."""
        by_topic = len(self.runs) > 1 and self.query_ids != [ALL]
        return ("leaderboard", "topic_differences") if by_topic else ("leaderboard",)

    @property
    def has_judged(self) -> bool:
        """Is it known how much is judged? Not for other tools' tables."""
        return not bool(np.isnan(self.judged).all())

    @property
    def ci_low(self) -> Floats:
        """The lower end of the confidence interval of means; NaN for scores of topics."""
        return np.full(self.value.shape, np.nan) if self.interval is None else self.interval[0]

    @property
    def ci_high(self) -> Floats:
        """The upper end of the confidence interval of means; NaN for scores of topics."""
        return np.full(self.value.shape, np.nan) if self.interval is None else self.interval[1]

    def notes(self) -> list[str]:
        """Return what concerns several numbers, in sentences."""
        return notes_of(self)

    # Selected, averaged, sorted

    def __getitem__(self, measures: MeasureName | Iterable[MeasureName]) -> Any:
        """Return the scores of measures, by label, other name, object or class.

        Of means, one measure gives a ``MeanScore``: a number with its interval; of several runs a dict of them.
        """
        chosen = self.filter(measure=measures)
        return numbers_of(chosen) if self.mean_over and isinstance(measures, str | Measure) else chosen

    def run(self, *names: str) -> Scores:
        """Return the scores of one run or several, in the order wanted."""
        return self.filter(run=names)

    def topic(self, *query_ids: str) -> Scores:
        """Return the scores of one topic or several, in the order wanted."""
        return self.filter(topic=query_ids)

    def filter(
        self, *, run: Names | None = None, topic: Names | None = None, measure: Measures | None = None
    ) -> Scores:
        """Return the scores of some runs, topics and measures; an unknown name is an error (also a ``KeyError``).

        Parameters
        ----------
        run, topic : str, iterable of str, or callable, optional
            A name, several in the order wanted, or a function of a name that returns true for those to keep.
        measure : str, Measure, class, iterable of these, or callable, optional
            By label or other name, as an object, as a class (all its measures), or as a function that returns true for
            the measures to keep.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels, run = {"301": {"a": 1}, "402": {"b": 1}}, {"301": {"a": 1}, "402": {"c": 1}}
        >>> scores = rb.evaluate(qrels, {"bm25": run}, ["P@1", "P@5", "AP"])
        >>> scores.filter(topic=lambda name: name > "400", measure=rb.P).to_dict()
        {'bm25': {'P@1': {'402': 0.0}, 'P@5': {'402': 0.0}}}
        """
        return take(
            self,
            None if run is None else places_of_names(run, self.runs, "run"),
            None if topic is None else places_of_names(topic, self.query_ids, "topic"),
            None if measure is None else places_of_measures(measure, self.measures, self.runs),
        )

    def mean(self, confidence: float | None = None, clusters: ClustersLike | Clusters | None = None) -> Scores:
        """Return the mean over topics (the sum for counts, the geometric mean for GMAP and others) as topic ``"all"``.

        Bounds of the mean are the means of the bounds. ``ci_low`` and ``ci_high`` are its confidence interval.

        Parameters
        ----------
        confidence : float, optional
            The level of the interval; by default ``self.confidence``, or 0.95.
        clusters : mapping or path, optional
            The cluster of each topic, for topics that belong together (paraphrases of one need, turns of one
            conversation); by default ``self.clusters``. The interval then treats clusters as the sample; the mean is
            still over topics.

        Returns
        -------
        Scores
            With the one topic ``"all"``, and ``ci_low`` and ``ci_high``.

        Notes
        -----
        The interval is for the mean over all topics like these, given the judgments. It stays within the measure's
        range, is Wilson's with the variance of the topics' scores, and covers 93% or more on average over runs of
        TREC-8 and TREC-COVID, from 5 topics on, at a confidence of 95%. Measures without a known range have a t
        interval. A single topic has none.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels = {"301": {"a": 1}, "302": {"b": 1}, "303": {"d": 1}}
        >>> run = {"301": {"a": 1}, "302": {"c": 1}, "303": {"d": 1}}
        >>> mean = rb.evaluate(qrels, {"bm25": run}, "P@1").mean()
        >>> mean.to_dict()
        {'bm25': {'P@1': {'all': 0.6666666666666666}}}
        >>> mean.ci_low.round(3).item(), mean.ci_high.round(3).item()
        (0.044, 0.989)
        >>> mean["P@1"].ci_low == mean.ci_low.item(), round(mean["P@1"], 3)
        (True, 0.667)
        """
        return self if self.query_ids == [ALL] else mean_of(self, ALL, confidence, clusters)

    def sort(self, by: MeasureName | None = None, *, worst_first: bool = False) -> Scores:
        """Return the runs sorted by their means, the best first; runs without a score come last.

        Parameters
        ----------
        by : str, Measure or class, optional
            The measure; by default the first. ``"run"`` sorts by name.
        worst_first : bool
            Reverse the order.

        Examples
        --------
        >>> import rankbounds as rb
        >>> runs = {"weak": {"301": {"b": 1}}, "strong": {"301": {"a": 1}}}
        >>> scores = rb.evaluate({"301": {"a": 1}}, runs, ["P@1", "AP"])
        >>> scores.sort(by="AP").runs
        ['strong', 'weak']
        """
        if by == "run":
            return take(self, runs=sorted(range(len(self.runs)), key=self.runs.__getitem__, reverse=worst_first))
        chosen = self if by is None else self.filter(measure=by)
        if by is not None and len(chosen.measures) != 1:
            raise UsageError(f"Sort by one of: {', '.join(map(str, chosen.measures))}.")
        means = merge_equal(merit(chosen.mean().value[:, 0, 0], chosen.measures[0]))
        return take(self, runs=np.argsort(means if worst_first else -means, kind="stable").tolist())

    def __contains__(self, wanted: object) -> bool:
        if isinstance(wanted, Mapping):
            return wanted in self.rows()
        try:
            return isinstance(wanted, str | Measure | type) and bool(self.filter(measure=wanted).measures)
        except UnknownNameError:
            return False

    # A tidy table: a row for each run, measure and topic

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns of the rows: common ones, a mean's interval, parts of residuals."""
        return (*FIELDS, *(() if self.interval is None else INTERVAL), *(() if self.parts is None else PARTS))

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict per run, measure and topic, in that order; iterating over the scores yields them too.

        Rows of measures with a residual have its parts too. Topics left out have no row; None means unknown.

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").rows()
        [{'run': 'bm25', 'query_id': '301', 'measure': 'AP', 'value': 1.0, 'low': 1.0, 'high': 1.0}]
        """
        least = len(self.fields) - (0 if self.parts is None else len(PARTS))
        split = {str(measure) for measure in self.measures if measure.has_residual}
        columns = (column.tolist() if isinstance(column, np.ndarray) else column for column in self._columns().values())
        return [
            dict(zip(self.fields if cells[2] in split else self.fields[:least], map(plain, cells), strict=False))
            for cells in zip(*columns, strict=True)
        ]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __len__(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.value)))

    def _columns(self) -> dict[str, Column]:
        run, measure, topic = np.nonzero(~np.isnan(self.value.swapaxes(1, 2)))
        cells = run, topic, measure
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
            **({} if self.interval is None else {name: getattr(self, name)[cells] for name in INTERVAL}),
            **({} if self.parts is None else {name: self.parts[(at, *cells)] for at, name in enumerate(PARTS)}),
            "judged_at_10": self.judged[run, topic],
            "certain": [
                exactness[place] if known else None
                for place, known in zip(measure.tolist(), (~np.isnan(low)).tolist(), strict=True)
            ],
        }

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return the values as plain dicts, ``{run: {measure: {query_id: value}}}``."""
        nested: dict[str, dict[str, dict[str, float]]] = {run: {} for run in self.runs}
        for row in self.rows():
            nested[row["run"]].setdefault(row["measure"], {})[row["query_id"]] = row["value"]
        return nested

    # Files and tables

    def write_parquet(self, path: str, *, per_topic: bool = False) -> None:
        """Write the tidy table of means as a Parquet file, with the columns of ``fields``; of topics too, if asked."""
        import polars

        mean = self.mean()
        frames = [
            polars_frame(part._columns(), f"{path}: Parquet", "Choose csv or trec, which keep bytes.")
            for part in ((self, mean) if per_topic else (mean,))
        ]
        content = io.BytesIO()
        polars.concat(frames, how="diagonal").select(mean.fields).write_parquet(content)
        with writing(path, "wb") as out:
            out.write(content.getbuffer())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, for ``load``.

        Examples
        --------
        >>> import rankbounds as rb
        >>> import os, tempfile
        >>> scores = rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, ["AP", "RBP(p=0.8)"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "scores.json")
        ...     scores.save(path)
        ...     rb.Scores.load(path) == scores
        True
        """
        from rankbounds.evaluation.score_files import save

        save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scores:
        """Read scores that ``save`` wrote; they equal those that were saved."""
        from rankbounds.evaluation.score_files import load

        return load(path)

    def table(self, *, interval: bool = False) -> Table:
        """Build the table for people: a row per run (and topic), a column per measure.

        With ``interval``, each measure has a second column for the confidence interval of its mean.

        Examples
        --------
        >>> import rankbounds as rb
        >>> print(rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").table().markdown(), end="")
        | run | topic | AP | judged@10 |
        | :--- | :--- | ---: | ---: |
        | bm25 | 301 | 1.0000 | 100% |
        """
        from rankbounds.evaluation import score_table

        return score_table.table_of(self, interval=interval)

    def to_latex(
        self, *, width: str | None = None, caption: bool = True, label: str = "tab:scores", interval: bool = False
    ) -> str:
        r"""Return the table of means for a paper, as ``Comparison.to_latex`` does; it needs only the package booktabs.

        Parameters
        ----------
        width : {"column", "text", "page"}, optional
            What it must fit: one column of a two-column paper, the text of a one-column paper, or both columns
            (``table*``); by default a column if possible, else the text.
        caption : bool
            False: the tabular environment alone.
        label : str
            For ``\ref``.
        interval : bool
            Show the confidence interval of each mean in a column of its own.
        """
        from rankbounds.evaluation import score_table
        from rankbounds.paper import fit

        forms = score_table.for_paper(self.mean(), interval=interval)
        return fit(forms, width).latex(label, caption=caption)

    def render(self, kind: str, *, per_topic: bool = False, raw: bool = False, interval: bool = False) -> str:
        """Return the scores as text, as the command line writes them.

        Parameters
        ----------
        kind : str
            ``table``, ``markdown``, ``latex``, ``html``, ``json``, ``jsonl``, ``csv``, ``tsv`` or ``trec``.
        per_topic : bool
            Include the scores of topics.
        raw : bool
            In ``csv`` and ``tsv``, no apostrophe before text that a spreadsheet would evaluate.
        interval : bool
            In tables, show the confidence intervals of means; formats for programs always have them.

        Examples
        --------
        >>> import rankbounds as rb
        >>> print(rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").render("csv"), end="")
        run,query_id,measure,value,low,high,ci_low,ci_high,judged_at_10
        bm25,all,AP,1.0,1.0,1.0,,,1.0
        """
        from rankbounds.evaluation import score_table

        return score_table.render(self, kind, per_topic=per_topic, raw=raw, interval=interval)

    def words(self) -> str:
        """Return what the means are over, and what stands beside them."""
        from rankbounds.evaluation import score_table

        return score_table.note(self.mean())

    def __repr__(self) -> str:
        return self.mean().table(interval=self.interval is not None).text()

    def _repr_html_(self) -> str:
        from rankbounds.evaluation import score_table

        mean = self.mean()
        table = score_table.table_of(mean, with_notes=False, interval=self.interval is not None)
        return shown(table, self.words(), score_table.run_notes(mean))


STORED = tuple(one.name for one in fields(Scores) if one.name not in ("make_origin", "settings"))
