"""Scores as people use them: chosen by run, topic and measure, sorted, printed, saved, and read back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from rankbounds.collection.run import unique_names
from rankbounds.errors import DataError, UnknownNameError, UsageError
from rankbounds.evaluation import score_table
from rankbounds.evaluation.origins import check_same_origin
from rankbounds.evaluation.run_notes import RunNotes, some, topic_warnings
from rankbounds.evaluation.score_arrays import PARTS
from rankbounds.evaluation.score_differences import levelled, merit
from rankbounds.evaluation.score_selection import MeasureName, Measures, Names, places_of_measures, places_of_names
from rankbounds.evaluation.score_table import ALL
from rankbounds.evaluation.tidy_scores import FIELDS, TidyScores
from rankbounds.measures import Measure
from rankbounds.notebook import shown
from rankbounds.tables import Table


class Scores(TidyScores):
    """Values of runs, topics and measures, and between which bounds they could lie.

    Arrays have the axes run, topic, measure; NaN where a topic was left out, and in bounds where none are known. They
    are read-only, and methods return new scores. ``low`` and ``high`` are bounds: what missing judgments (or ties)
    leave open. Nothing is random in them.

    Attributes
    ----------
    runs, query_ids : list of str
        The names of the runs and of the topics.
    measures : list of Measure
        The measures.
    value, low, high : array
        The scores and their bounds.
    judged : array
        The share of the first 10 documents that are judged, by run and topic.
    notes : list of RunNotes
        For each run the topics that it lacks, those that nobody judged, and what ties do to it.
    bounds : str
        What the bounds cover: ``unjudged`` documents, ``ties``, ``both`` or ``none``.
    without_relevant : list of str
        Topics without relevant documents.
    outer : list of Measure
        Measures whose bounds hold, but may be wider than what can happen; those of all others are exact.
    topics : str
        Which topics the means are over: ``judged`` or ``shared``.
    parts : array or None
        An axis of ``PARTS`` before the others; NaN for measures that have no residual. None: no measure has.
    open : str
        Which unjudged documents the bounds cover: those ``retrieved``, or those of the whole ``collection``.
    most_relevant : int or None
        How many relevant documents those of the collection may make in all; None: any number.
    origin : mapping or None
        Where scores were saved to be a baseline, sums of the judgments and the settings that they were made with.
    mean_over : int
        How many topics means are over; 0 where these are scores of topics.

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
    """

    def __getitem__(self, measures: MeasureName | Iterable[MeasureName]) -> Scores:
        """The scores of one measure or several, by label, by any name that ``evaluate`` reads, as object or class."""
        return self.filter(measure=measures)

    def run(self, *names: str) -> Scores:
        """The scores of one run or several.

        Parameters
        ----------
        *names : str
            The runs, in the order wanted.

        Returns
        -------
        Scores

        Examples
        --------
        >>> import rankbounds as rb
        >>> scores = rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}, "dense": {"301": {"b": 1}}}, "P@1")
        >>> scores.run("dense").to_dict()
        {'dense': {'P@1': {'301': 0.0}}}
        """
        return self.filter(run=names)

    def topic(self, *query_ids: str) -> Scores:
        """The scores of one topic or several.

        Parameters
        ----------
        *query_ids : str
            The topics, in the order wanted.

        Returns
        -------
        Scores
            Means of it are over these topics.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels, run = {"301": {"a": 1}, "302": {"b": 1}}, {"301": {"a": 1}, "302": {"c": 1}}
        >>> rb.evaluate(qrels, {"bm25": run}, "P@1").topic("302").to_dict()
        {'bm25': {'P@1': {'302': 0.0}}}
        """
        return self.filter(topic=query_ids)

    def filter(
        self, *, run: Names | None = None, topic: Names | None = None, measure: Measures | None = None
    ) -> Scores:
        """The scores of some runs, topics and measures.

        Parameters
        ----------
        run, topic : str, iterable of str, or callable, optional
            A name, several in the order wanted, or a function that says yes or no of a name.
        measure : str, Measure, class, iterable of these, or callable, optional
            By label or any other name of the measure, as object, or as class for all measures of the class; or a
            function that says yes or no of a measure.

        Returns
        -------
        Scores
            A new table. A name that is not there is an error (also a ``KeyError``).

        Notes
        -----
        Notes of runs follow: topics missing are those among the topics chosen, and how far ties move the mean of the
        first measure is forgotten where the topics or the first measure are others.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels, run = {"301": {"a": 1}, "402": {"b": 1}}, {"301": {"a": 1}, "402": {"c": 1}}
        >>> scores = rb.evaluate(qrels, {"bm25": run}, ["P@1", "P@5", "AP"])
        >>> scores.filter(topic=lambda name: name > "400", measure=rb.P).to_dict()
        {'bm25': {'P@1': {'402': 0.0}, 'P@5': {'402': 0.0}}}
        """
        return self._at(
            None if run is None else places_of_names(run, self.runs, "run"),
            None if topic is None else places_of_names(topic, self.query_ids, "topic"),
            None if measure is None else places_of_measures(measure, self.measures, self.runs),
        )

    def sort(self, by: MeasureName | None = None, *, worst_first: bool = False) -> Scores:
        """The runs in the order of their means, the best first.

        Parameters
        ----------
        by : str, Measure or class, optional
            The measure; the first one, unless named. ``"run"`` sorts by the runs' names instead.
        worst_first : bool
            The other way round.

        Returns
        -------
        Scores

        Notes
        -----
        Where a measure counts effort (ESL), the lowest mean is the best. Runs whose means are equal but for rounding
        stay in their order; runs without a score come last.

        Examples
        --------
        >>> import rankbounds as rb
        >>> runs = {"weak": {"301": {"b": 1}}, "strong": {"301": {"a": 1}}}
        >>> scores = rb.evaluate({"301": {"a": 1}}, runs, ["P@1", "AP"])
        >>> scores.sort(by="AP").runs
        ['strong', 'weak']
        """
        if by == "run":
            return self._at(runs=sorted(range(len(self.runs)), key=self.runs.__getitem__, reverse=worst_first))
        chosen = self if by is None else self[by]
        if by is not None and len(chosen.measures) != 1:
            raise UsageError(f"Sort by one of these: {', '.join(map(str, chosen.measures))}.")
        means = levelled(merit(chosen.mean().value[:, 0, 0], chosen.measures[0]))
        return self._at(runs=np.argsort(means if worst_first else -means, kind="stable").tolist())

    def __contains__(self, wanted: object) -> bool:
        """Is there this measure (as in brackets), or this row (as iteration gives them)?"""
        if isinstance(wanted, Mapping):
            return any(row == wanted for row in self.rows())
        try:
            return isinstance(wanted, str | Measure | type) and bool(self[wanted].measures)
        except UnknownNameError:
            return False

    def to_latex(self) -> str:
        r"""The table of means for a paper.

        Returns
        -------
        str
            A tabular with booktabs rules.

        Examples
        --------
        >>> import rankbounds as rb
        >>> print(rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").to_latex(), end="")
        \begin{tabular}{lrr}
        \toprule
        run & AP & judged@10 \\
        \midrule
        bm25 & 1.0000 & 100\% \\
        \bottomrule
        \end{tabular}
        """
        return self.mean().table().latex()

    def render(self, kind: str, *, per_topic: bool = False, raw: bool = False) -> str:
        """The scores as text, as the command line writes them.

        Parameters
        ----------
        kind : str
            ``table``, ``markdown``, ``latex``, ``html``, ``json``, ``jsonl``, ``csv``, ``tsv`` or ``trec``.
        per_topic : bool
            The scores of topics too, not the means only.
        raw : bool
            In ``csv`` and ``tsv``, no apostrophe before text that a spreadsheet would compute.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankbounds as rb
        >>> print(rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").render("csv"), end="")
        run,query_id,measure,value,low,high
        bm25,all,AP,1.0,1.0,1.0
        """
        return score_table.rendered(self, kind, per_topic=per_topic, raw=raw)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, for ``load``.

        Parameters
        ----------
        path : str or path
            The file; what it holds is JSON.

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
        from rankbounds.evaluation import saved_scores

        saved_scores.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scores:
        """Read scores that ``save`` wrote.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Scores
            Equal to those that were saved. Files of earlier versions do not say which bounds are exact; all that may
            be wider than what can happen are then in ``outer``.

        Examples
        --------
        See ``save``.
        """
        from rankbounds.evaluation import saved_scores

        return saved_scores.load(path)

    def table(self) -> Table:
        """The table for people: a row for each run (and topic), a column for each measure.

        Returns
        -------
        Table
            With the methods ``text``, ``markdown``, ``latex`` and ``html``.

        Examples
        --------
        >>> import rankbounds as rb
        >>> print(rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").table().markdown(), end="")
        | run | topic | AP | judged@10 |
        | :--- | :--- | ---: | ---: |
        | bm25 | 301 | 1.0000 | 100% |
        """
        return score_table.table(self)

    def warnings(self) -> list[str]:
        """What concerns several numbers, in sentences.

        Returns
        -------
        list of str
            On runs that lack topics, topics that nobody judged, topics without relevant documents, and measures whose
            ``low`` is 0 because any number of relevant documents may exist that nobody retrieved.

        Examples
        --------
        >>> import rankbounds as rb
        >>> rb.evaluate({"301": {"a": 1}}, {"bm25": {"301": {"a": 1}}}, "AP").warnings()
        []
        """
        sentences = topic_warnings(self.runs, self.notes, self.topics) if self.notes else []
        if self.without_relevant:
            have = "topic has" if len(self.without_relevant) == 1 else "topics have"
            sentences.append(
                f"{len(self.without_relevant)} {have} no relevant document ({some(self.without_relevant)}): AP, nDCG, "
                "recall and the like are 0 there."
            )
        if self.open == "collection" and self.most_relevant is None:
            without_limit = [str(measure) for measure in self.measures if measure.vanishes]
            if without_limit:
                sentences.append(
                    f"low is 0 for {', '.join(without_limit)}: nobody knows how many relevant documents the collection "
                    "holds that were not retrieved, and the more there are, the lower the score. Say how many a topic "
                    "has at most (--most-relevant N, most_relevant=N)."
                )
        return sentences

    def __repr__(self) -> str:
        return self.mean().table().text()

    def _repr_html_(self) -> str:
        mean = self.mean()
        return shown(score_table.table(mean, with_notes=False), score_table.note(mean), score_table.run_notes(mean))


def joined(first: Scores, second: Scores) -> Scores:
    """Two sets of scores as one, with the measures and topics of the second, which the first must have.

    Both must come from the same judgments and settings, where their origins are known.
    """
    if set(first.query_ids) != set(second.query_ids):
        raise DataError("The two sets of scores are on different topics; they cannot be compared.")
    lacking = [measure for measure in second.measures if measure not in first.measures]
    if lacking:
        raise DataError(f"The saved scores lack {lacking[0]}. Save them again with this measure.")
    if first.bounds != second.bounds:
        raise DataError(
            f"The saved scores have other bounds ({first.bounds}) than these ({second.bounds}). Save them again with "
            f"--bounds {second.bounds}."
        )
    if (first.open, first.most_relevant) != (second.open, second.most_relevant):
        raise DataError(
            f"The bounds of the saved scores cover other documents ({_open_words(first)}) than these "
            f"({_open_words(second)}). Save them again with the same --open and --most-relevant."
        )
    if first.origin is not None and second.origin is not None:
        check_same_origin(first.origin, second.origin)
    aligned = first.filter(topic=second.query_ids, measure=second.measures)
    both = (aligned, second)
    parts = None
    if any(scores.parts is not None for scores in both):
        unknown = [np.full((len(PARTS), *scores.value.shape), np.nan) for scores in both]
        parts = [blank if scores.parts is None else scores.parts for scores, blank in zip(both, unknown, strict=True)]
    relevant_nowhere = {*aligned.without_relevant, *second.without_relevant}
    return replace(
        second,
        runs=unique_names([*first.runs, *second.runs], ["saved"] * len(first.runs) + ["new"] * len(second.runs)),
        value=np.concatenate([scores.value for scores in both]),
        low=np.concatenate([scores.low for scores in both]),
        high=np.concatenate([scores.high for scores in both]),
        judged=np.concatenate([scores.judged for scores in both]),
        notes=[*aligned.notes, *second.notes],
        without_relevant=[name for name in second.query_ids if name in relevant_nowhere],
        outer=[measure for measure in second.measures if any(measure in scores.outer for scores in both)],
        parts=None if parts is None else np.concatenate(parts, axis=1),
    )


def _open_words(scores: Scores) -> str:
    limit = "" if scores.most_relevant is None else f", {scores.most_relevant} relevant at most"
    return f"{scores.open}{limit}"


__all__ = ["ALL", "FIELDS", "PARTS", "RunNotes", "Scores", "joined", "topic_warnings"]
