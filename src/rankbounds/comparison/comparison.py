"""One verdict on "is A better than B?", and a leaderboard that says which systems no test separates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.comparison import testing
from rankbounds.comparison.compared import Compared
from rankbounds.comparison.evidence import Evidence, keep_shared_topics
from rankbounds.comparison.pairs import (
    Pairs,
    build_rows,
    check_means,
    leads,
    pair_numbers,
    pairs_against,
    run_number,
    separated,
)
from rankbounds.comparison.result import Comparison
from rankbounds.errors import UsageError
from rankbounds.evaluation.clusters import Clusters
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.options import check_no_measures, shows_options
from rankbounds.evaluation.question import TESTING, Question, QuestionOptions, TestingOptions
from rankbounds.evaluation.score_differences import merge_equal, merit
from rankbounds.evaluation.score_files import read_scores
from rankbounds.evaluation.scores import Scores
from rankbounds.files.objects import is_table
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.stats import rank_intervals
from rankbounds.stats.corrections import CORRECTIONS, correct_p_values, group_letters
from rankbounds.stats.equivalence import TOST, find_test
from rankbounds.stats.significance import Resampling, check_finite

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.collection.preparation import Preparation
    from rankbounds.evaluation.score_files import Frame


@shows_options(TestingOptions, Question, more=True)
def compare(
    qrels: QrelsLike | Scores | Frame,
    runs: RunsLike | None = None,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    among: Sequence[str] | None = None,
    preparation: Preparation | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[QuestionOptions],
) -> Comparison:
    """Compare runs by a paired test over topics: is one better than another, or is it noise?

    ``rankbounds compare`` runs this function. ``compare(scores)`` compares scores alone, as far as possible.

    Parameters
    ----------
    qrels : path, Qrels, dict, frame or rows
        The judgments, as in ``evaluate``; or, without ``runs``, ``Scores``, or a frame of scores as in ``read_scores``
        (such as PyTerrier's with one row per query).
    runs : path, Run, dict, frame, rows, or several of them
        Two runs or more, as in ``evaluate``. With two, the second is compared with the first.
    measures : str, Measure, or iterable of them
        Such as ``"nDCG@10"`` or ``rb.AP()``; the first one decides the order.
    baseline : str, optional
        The run that all others are compared with. Without it, the second of two runs is compared with the first, and
        more runs in all pairs, the better with the worse by each measure.
    test : str, default "t"
        The test of each single pair, which gives ``p_value``: ``"t"``, ``"randomization"``, ``"bootstrap"``,
        ``"wilcoxon"`` or ``"sign"``. ``"tost"`` tests equivalence by two one-sided t tests: a small p-value rules out a
        difference of ``margin`` or more.
    correction : {"auto", "holm", "bonferroni", "bh", "tukey", "max-t", "none"}
        For the number of pairs; gives ``p_adjusted``, on which verdicts, letters, ranks and the gate depend. ``auto``:
        none for one pair; for three runs or more Holm's over all pairs, or over those with the baseline (after the
        bootstrap test ``max-t``).
    alternative : {"two-sided", "greater", "less"}
        ``greater`` tests whether the run is better than the one it is compared with, for two runs or with a baseline.
        Corrections that resample scores are two-sided.
    alpha, confidence : float
        The level of verdicts and letters, and that of the intervals.
    margin : float, optional
        The largest difference that does not matter, in units of the scores. Pairs then have ``p_equivalent``, and
        sentences say whether two runs are equivalent; p is 1 where fewer than five topics differ.
    clusters : mapping, path or str, optional
        The cluster of each query, for queries that belong together: paraphrases of one need, turns of one
        conversation; or the mark, such as ``"_"``, that ends the cluster in a query's id. Tests and intervals then
        treat clusters as the sample.
    resamples, seed : int
        For tests and corrections that resample.
    among : sequence of str, optional
        Compare only pairs of these runs, to save time. Corrections and ranks are still those of all runs.
    preparation : Preparation, optional
        What is done to every run before scoring.
    progress : callable, optional
        Called with the numbers of runs scored so far and in all.
    **options
        Assumptions and reading options of ``evaluate``: ``gain=``, ``ties=``, ``unjudged=``, ``topics=``, ``columns=``,
        ...

    Returns
    -------
    Comparison
        Rows for systems and pairs, tables, sentences, and methods such as ``gate``, ``slices`` and ``power``.

    Notes
    -----
    For scores alone, bounds of a difference are one run's low minus the other's high: sound, but wider than necessary
    if runs share documents. Measures such as AP and nDCG, which fall when relevant documents of *other* runs are found,
    then have none. Scores that differ by no more than rounding are equal. If a topic's score is infinite for both,
    there is no difference; for one, only ``sign`` and ``wilcoxon`` apply. Scores of ``topics="shared"`` are compared
    over the topics that all runs have.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
    >>> runs = {"bm25": {q: ["n", "r"] for q in qrels}, "dense": {q: ["r", "n"] for q in qrels}}
    >>> print(rb.compare(qrels, runs, "RR").words().splitlines()[0])
    RR: dense scores 1.0000 and bm25 0.5000, a difference of +0.5000 over 8 topics (8 won, 0 lost).

    Runs that differ, but by too little to matter:

    >>> swapped = {q: ["n", "r"] if int(q) % 2 else ["r", "n"] for q in qrels}
    >>> twins = {"one": swapped, "two": {q: swapped[str(7 - int(q))] for q in qrels}}
    >>> rb.compare(qrels, twins, "RR", test="tost", margin=0.4).pairs.rows()[0]["verdict"]
    'equivalent'

    Scores of other tools, or of an evaluation:

    >>> rb.compare(rb.evaluate(qrels, runs, "RR")).pairs.rows()[0]["difference"]
    0.5
    """
    question, reading = Question.of(options, measures)  # (names that are none are told before anything is read)
    given: Any = {name: value for name, value in options.items() if name not in TESTING}
    if runs is None and not isinstance(qrels, Scores) and not is_table(qrels):
        qrels, runs = _first_rows(qrels, reading), qrels
    if runs is None:
        if given or measures is not DEFAULT_MEASURES:
            asked = next(iter(given), "measures")
            raise UsageError(f"{asked}= goes with judgments and runs: scores are already computed. {_SHAPES}")
        return compare_scores(qrels if isinstance(qrels, Scores) else read_scores(qrels), question, among=among)
    if isinstance(qrels, Scores):
        raise UsageError(f"Scores are compared by themselves, scores[measure] by one of their measures. {_SHAPES}")
    check_no_measures(runs)
    evidence = Evidence.read(qrels, runs, preparation=preparation, **given)
    scores = evidence.scores(question.measures, progress=progress)
    return compare_scores(scores, question, among=among, evidence=evidence)


_SHAPES = "Write rb.compare(qrels, runs), or for scores alone rb.compare(scores)."


def _first_rows(given: Any, reading: Reading) -> Any:
    """Return the first of several sets of rows that are judgments and run at once."""
    several = list(given.values()) if isinstance(given, Mapping) else given
    if isinstance(several, list | tuple) and len(several) > 1 and not isinstance(several[0], Mapping):
        check_no_measures(several)
        if reading.holds_run(several[0]):
            return several[0]
    raise UsageError(f"The runs are missing. {_SHAPES}")


def compare_scores(
    scores: Scores,
    question: Question | None = None,
    *,
    among: Sequence[str] | None = None,
    evidence: Evidence | None = None,
) -> Comparison:
    asked = question or Question()
    testing.check_tests(asked, scores.runs, [TOST])
    check_means(scores.measures)
    scores = keep_shared_topics(scores)
    grouped = asked.clusters_of(scores)
    if evidence is not None:
        evidence = evidence.filter(scores.runs)
    measures, values = scores.measures, np.moveaxis(scores.value, -1, 0)
    first, second = pairs_against(scores.runs, asked.baseline)
    correction = testing.correction_for(asked, first.size)
    asked = replace(asked, measures=tuple(measures), correction=correction, clusters=grouped)
    by_measure = [
        pair_numbers(matrix, first, second, measure, asked, grouped)
        for matrix, measure in zip(values, measures, strict=True)
    ]
    numbers = {name: np.stack([columns[name] for columns in by_measure]) for name in by_measure[0]}
    if (of_scores := CORRECTIONS[correction].of_scores) is not None:
        merits = np.stack(list(map(merit, values, measures)))
        for matrix, measure in zip(merits, measures, strict=True):
            check_finite(matrix, f"the correction {correction}", measure)
        merits = merits if grouped is None else grouped.sum_differences(merits)
        numbers["p_adjusted"] = of_scores(merits, first, second, Resampling(asked.resamples, asked.seed))
    else:
        numbers["p_adjusted"] = correct_p_values(numbers["p_value"], correction)
    numbers["p_adjusted"] = np.maximum(numbers["p_adjusted"], numbers["p_value"])
    clusters = None if grouped is None else len(grouped)
    settings = asked.settings() | {"topics": scores.value.shape[1], "clusters": clusters, "comparisons": first.size}
    settings["tested_by"], settings["tested_alone_by"] = testing.test_names(settings)
    tested = Pairs(first, second, numbers)
    lead = np.stack(list(map(leads, by_measure, measures)))
    shown = separated(numbers, lead, asked.alpha)
    systems = _system_rows(scores, tested, lead, shown, grouped, settings)
    if among is not None:
        kept = np.isin(np.arange(len(scores.runs)), [run_number(scores.runs, name) for name in among])
        tested = tested.take(kept[first] & kept[second])
    compared = Compared(scores, systems, tested, asked, settings, evidence, numbers["p_adjusted"], shown)
    return Comparison(compared, settings=settings)


def _system_rows(
    scores: Scores, tested: Pairs, lead: Floats, shown: Flags, clusters: Clusters | None, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    mean = scores.mean(settings["confidence"], clusters)
    lettered = settings["baseline"] is None and find_test(settings["test"]).of_difference
    names = ("group", "rank", "rank_low", "rank_high")
    rows: list[dict[str, Any]] = []
    for at, measure in enumerate(scores.measures):
        matrix = scores.value[:, :, at]
        # Counts have a sum over topics, and are compared by their means, as differences and intervals are.
        share = 1 / scores.value.shape[1] if measure.total == "sum" else 1.0
        means = merge_equal(share * mean.value[:, 0, at])
        level = merit(merge_equal(matrix.T).T, measure)
        best = level == level.max(axis=0)
        ci_low, ci_high = share * mean.ci_low[:, 0, at], share * mean.ci_high[:, 0, at]
        pairs = tested.first, tested.second, lead[at], shown[at]
        placed = _place_systems(merit(means, measure), *pairs) if lettered else [None] * len(names)
        rows += build_rows(
            run=scores.runs, measure=str(measure), mean=means, ci_low=ci_low, ci_high=ci_high,
            low=share * mean.low[:, 0, at], high=share * mean.high[:, 0, at],
            **dict(zip(names, placed, strict=True)), judged_at_10=mean.judged[:, 0],
            topics_led=(best / best.sum(axis=0)).sum(axis=-1),  # a topic led together is shared
        )  # fmt: skip
    return rows


def _place_systems(merits: Floats, first: Ints, second: Ints, lead: Floats, shown: Flags) -> list[Any]:
    ends = rank_intervals.places(merits.size, first, second, lead, shown)
    letters = group_letters(merits, first, second, shown)
    return [letters, *(part.tolist() for part in (rank_intervals.observed_places(merits), *ends))]
