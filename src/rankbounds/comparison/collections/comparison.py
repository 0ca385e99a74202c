"""Compare the same systems on several collections: over all, and where they differ.

A run that lacks a collection has no overall mean and no rank; its pairs are over the collections that both runs have.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rankbounds.choices import check_choice, check_share
from rankbounds.collection.folders import NAMES, CollectionFiles, collections_at
from rankbounds.comparison.collections.result import CollectionsComparison, compare_scores
from rankbounds.comparison.evidence import keep_shared_topics
from rankbounds.errors import DataError, RankboundsWarning, UsageError, warn
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.options import chosen_options
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.phrases import some
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import check_finite
from rankbounds.stats.stratified import MEANS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import Options

DEFAULT_MEASURES = ("nDCG@10",)
MISSING = ("runs", "collections")


def compare_collections(
    collections: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    runs: str | os.PathLike[str] | None = None,
    mean: str = "collections",
    missing: str = "runs",
    names: str = "tag",
    baseline: str | None = None,
    alpha: float = 0.05,
    confidence: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[Options],
) -> CollectionsComparison:
    """Compare the same systems on several collections.

    Parameters
    ----------
    collections : dict, path, or list of paths
        By name: ``(qrels, runs)`` as in ``evaluate``, ``Scores``, or a folder. Paths are folders (BEIR's layout, or
        judgments with a folder ``runs``) or manifests (CSV, TSV or JSON with ``collection``, ``qrels``, ``runs``).
    measures : str, Measure, or iterable of them, optional
        Such as ``"nDCG@10"``, the default; with ``Scores``, all of theirs.
    runs : path, optional
        A folder with one folder of runs per collection, if runs are not beside the judgments.
    mean : {"collections", "queries"}
        The mean of the collections' means, or over all queries, which gives large collections more weight.
    missing : {"runs", "collections"}
        If a run lacks a collection: do not rank the run, or leave out the collection for all.
    names : {"tag", "file"}
        How runs in files are matched across collections: by the tag inside, or the file's name.
    baseline : str, optional
        Compare all other runs with this one only.
    alpha, confidence : float
        The level of verdicts and ranks, and that of intervals.
    progress : callable, optional
        Called with the numbers of collections scored so far and in all.
    **options
        Assumptions and reading options of ``evaluate``: ``gain=``, ``ties=``, ``unjudged=``, ``source=``, ...

    Returns
    -------
    CollectionsComparison

    Notes
    -----
    Intervals of means are t intervals with Welch and Satterthwaite's degrees of freedom, and p-values of single
    pairs are of the matching t test: collections are fixed, topics vary within them. ``p_adjusted`` has Holm's
    correction over several pairs, and gives the intervals of ranks. The random-effects summary (DerSimonian and Laird,
    with the interval of Hartung and Knapp) assumes that collections are a sample, that their true differences are about
    normal, and that each standard error is known: with few collections, or few topics in one, it is rough.

    Examples
    --------
    >>> import rankbounds as rb
    >>> made = {
    ...     name: rb.studies.simulate(3, topics=9, documents=60, depth=20, pool_depth=20, relevant=0.3, seed=seed)
    ...     for seed, name in enumerate(["web", "news", "mail"])
    ... }
    >>> compared = rb.compare_collections({name: (c.complete, c.runs) for name, c in made.items()}, "AP")
    >>> len(compared.systems), len(compared.pairs), compared.pairs[0]["collections"]
    (3, 3, 3)
    """
    check_choice("mean", mean, MEANS)
    check_choice("missing", missing, MISSING)
    check_choice("names", names, NAMES)
    check_level(alpha)
    check_share("confidence", confidence)
    jobs = _jobs(collections, measures, runs, names, options)
    scored: dict[str, Scores] = {}
    for name, job in jobs.items():
        scored[name] = _score_collection(name, job)
        if progress:
            progress(len(scored), len(jobs))
    _check_scores(scored)
    scored, left_out = _without_lacking(scored, missing)
    settings = {
        "mean": mean, "missing": missing, "baseline": baseline, "alpha": alpha, "confidence": confidence,
        "left_out": left_out, "test": "t over topics within collections, by share of collection", "correction": "holm",
    }  # fmt: skip
    return compare_scores(scored, settings)


def _jobs(
    collections: Any, measures: Any, runs: str | os.PathLike[str] | None, names: str, options: Options
) -> dict[str, Callable[[], Scores]]:
    if isinstance(collections, str | os.PathLike):
        collections = [collections]
    if not isinstance(collections, Mapping):
        found = collections_at([(None, os.fspath(path)) for path in collections], runs)
        collections = {files.name: files for files in found}

    def job(name: str, given: Any) -> Callable[[], Scores]:
        qrels: Any
        retrieved: Any
        if isinstance(given, Scores):
            return lambda: given if measures is None else given[measures]
        if isinstance(given, str | os.PathLike):
            (given,) = collections_at([(name, os.fspath(given))], runs)
        if isinstance(given, CollectionFiles):
            qrels, retrieved = given.qrels, given.runs_to_read(chosen_options(options)[1], names)
        elif isinstance(given, Mapping) and set(given) == {"qrels", "runs"}:
            qrels, retrieved = given["qrels"], given["runs"]
        elif isinstance(given, tuple) and len(given) == 2:
            qrels, retrieved = given
        else:
            raise UsageError(
                f'The collection "{name}" must be (qrels, runs), Scores, or a folder; it is {type(given).__name__}.'
            )
        return lambda: evaluate(qrels, retrieved, measures or DEFAULT_MEASURES, **options)

    return {str(name): job(str(name), given) for name, given in collections.items()}


def _score_collection(name: str, job: Callable[[], Scores]) -> Scores:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RankboundsWarning)
        scores = job()
        try:
            scores = keep_shared_topics(scores)
        except DataError as error:
            raise DataError(f'The collection "{name}": {error}') from None
    for warning in caught:
        ours = issubclass(warning.category, RankboundsWarning)
        warn(f"{name}: {warning.message}" if ours else str(warning.message), warning.category)
    return scores


def _check_scores(scored: Mapping[str, Scores]) -> None:
    if len(scored) < 2:
        raise UsageError("Give at least two collections; for one collection, use compare.")
    labels = {name: [str(measure) for measure in scores.measures] for name, scores in scored.items()}
    first = next(iter(labels))
    for name, own in labels.items():
        if own != labels[first]:
            raise UsageError(f'"{name}" is scored by {", ".join(own)}, "{first}" by {", ".join(labels[first])}.')
    for name, scores in scored.items():
        if len(scores.query_ids) < 2:
            raise DataError(
                f'The collection "{name}" has {len(scores.query_ids)} topic: an interval needs two or more.'
            )
        for place, measure in enumerate(scores.measures):
            if measure.total != "mean":
                raise UsageError(f"{measure} is not a mean over topics, and runs are compared by differences of means.")
            check_finite(scores.value[:, :, place], f'the comparison (collection "{name}")', measure)
    everywhere = [run for scores in scored.values() for run in scores.runs]
    shared = [run for run in dict.fromkeys(everywhere) if everywhere.count(run) > 1]
    if len(shared) < 2:
        few = f"only {shared[0]} is" if shared else "no run is"
        raise DataError(
            f"Runs are matched by name, and {few} in two collections ({some(list(dict.fromkeys(everywhere)))}). "
            "Where the tags inside files differ, match by the files' names (--names file)."
        )


def _without_lacking(scored: dict[str, Scores], missing: str) -> tuple[dict[str, Scores], list[str]]:
    runs = set().union(*(scores.runs for scores in scored.values()))
    if missing == "runs":
        if len(set.intersection(*(set(scores.runs) for scores in scored.values()))) < 2:
            raise DataError(
                "Fewer than two runs have all collections, so there is no leaderboard over them. Leave out the "
                "collections that a run lacks (--missing collections), or the runs."
            )
        return scored, []
    kept = {name: scores for name, scores in scored.items() if set(scores.runs) == runs}
    if len(kept) < 2:
        raise DataError(
            f"All runs have {len(kept)} of {len(scored)} collections, and two are needed. Without --missing "
            "collections, runs that lack one are not placed, but compared in pairs."
        )
    return kept, [name for name in scored if name not in kept]
