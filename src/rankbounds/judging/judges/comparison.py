"""May I trust this judge? Labels by models held against trusted ones: agreement, bias by run, orders, one verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankbounds.choices import check_choice, check_share
from rankbounds.collection.inputs import Formats, Reading
from rankbounds.collection.qrels import Qrels
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.run_notes import some
from rankbounds.judging.judges.agreement import (
    TopicBootstrap,
    label_tables,
    labelled,
    topics_of,
)
from rankbounds.judging.judges.agreement_table import agreement_row, confusion_rows, grade_rows, lead_in_kappa
from rankbounds.judging.judges.label_sets import (
    MAJORITY,
    MEAN_GRADE,
    SHARE_OF_VOTES,
    LabelSet,
    Scoring,
    on_scales,
    scale_words,
    scores_by_labels,
    used_grades,
    voted_sets,
)
from rankbounds.judging.judges.result import Judges
from rankbounds.judging.judges.scores import rows_of_runs
from rankbounds.judging.pools import subset
from rankbounds.measures import Measure, parse_measures
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import Resampling
from rankbounds.threads import processors

DEFAULT_MEASURES = ("RBP(p=0.8)",)
INTERVAL_RESAMPLES = 2_000
"""Of topics, for intervals; tests resample as often as elsewhere."""
PAIRS = ("all", "shared")


def judges(
    trusted: Any,
    labels: Any,
    runs: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    rel: float | None = None,
    labels_rel: float | Mapping[str, float] | None = None,
    same_scale: bool | None = None,
    votes: bool = False,
    pairs: str = "all",
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = INTERVAL_RESAMPLES,
    seed: int = 0,
    trusted_name: str | None = None,
    formats: Formats | None = None,
    columns: Mapping[str, str] | None = None,
    lenient: bool = False,
    **assumptions: Any,
) -> Judges:
    """Hold labels, say of language models, against trusted ones: may I trust this judge?

    Parameters
    ----------
    trusted : path, Qrels, dict, frame or rows
        The labels to believe, such as people's, in any form that ``evaluate`` takes for judgments.
    labels : such, or several
        The labels in question: one set, a list, paths and patterns, or a dict by name.
    runs : path, Run, dict, frame, rows, or several of them, optional
        As for ``evaluate``. Without runs only the labels are compared.
    measures : str, Measure, or iterable of them
        By which the runs are scored with either labels.
    rel : float, optional
        The lowest trusted grade that counts as relevant, for kappa and for measures that name none. Without it, that of
        the first measure which has one, else 1.
    labels_rel : float or dict of str to float, optional
        The same of the labels in question, of all or by name, where it is another grade. Needed where scales differ,
        unless labels are 0/1.
    same_scale : bool, optional
        Whether grades of both mean the same; without it they do where the highest grades are the same.
    votes : bool, default False
        Add the votes of all sets as further sets: the majority and the mean grade (where scales differ, the share of
        votes for "relevant").
    pairs : {"all", "shared"}
        Score runs by all labels of each set, or by the pairs alone that the trusted ones and all sets have labelled.
    alpha, confidence : float
        The level of tests, and that of intervals.
    resamples, seed : int
        How often topics are drawn again for intervals, and where the random numbers start.
    trusted_name : str, optional
        What to call the trusted labels; without it by their file, or "trusted".
    formats, columns, lenient
        How files and tables are read, as for ``evaluate``.
    **assumptions
        What ``evaluate`` is told of ties, unjudged documents and gains: ``ties=``, ``unjudged=``, ``gain=``, ...

    Returns
    -------
    Judges
        With ``agreement``, ``systems``, ``orderings``, ``confusion``, ``changes`` as rows, ``rows()`` (those of
        ``systems``) and ``words()``, the verdict.

    Notes
    -----
    Everything is over the topics that the trusted labels and all sets have. Intervals are approximate: those of bias
    are t intervals over topics, all others the value and t times its standard error over resampled topics. A run is
    favoured or punished when its bias differs from the mean bias of all runs by the randomisation test with Holm's
    correction over runs; beyond scale, when it does so from the line through all runs' scores. Pairs of runs are
    separated as ``compare`` separates them. ``tau_ap`` is the mean of both directions, as in ``rankbounds agreement``.
    ``gain`` holds for labels on the scale of the trusted ones.

    Examples
    --------
    >>> import rankbounds as rb
    >>> people = {str(q): {"a": 1, "b": 1, "c": 0, "d": 0} for q in range(8)}
    >>> model = {str(q): {"a": 1, "b": 0 if q < 2 else 1, "c": 1 if q < 4 else 0, "d": 0} for q in range(8)}
    >>> runs = {"one": {q: ["a", "b", "c"] for q in people}, "two": {q: ["c", "a", "d"] for q in people}}
    >>> found = rb.judges(people, {"model": model}, runs, "P@2")
    >>> [round(found.agreement[0][name], 4) for name in ("kappa", "same", "shift_relevant")]
    [0.625, 0.8125, 0.0625]
    >>> for row in found.rows():
    ...     print(row["run"], row["by_labels"], row["trusted"], row["bias"], row["flag"])
    one 0.875 1.0 -0.125 None
    two 0.75 0.5 0.25 None

    """
    check_level(alpha)
    check_share("confidence", confidence)
    check_choice("pairs", pairs, PAIRS)
    if rel is not None and not rel > 0:
        raise UsageError(f"The lowest grade that counts as relevant must be positive, not {rel:g}.")
    assumed = Assumptions(**{"bounds": "none"} | assumptions)
    resampling = Resampling(resamples, seed)
    chosen = _at_level(parse_measures(measures), rel)
    level = next((measure.rel for measure in chosen if _is_binary(measure)), 1.0) if rel is None else rel
    reading = Reading(formats, None, columns, lenient, processors(), assumed.gain)
    truth = reading.judgments(trusted)
    sets = reading.label_sets(labels)
    name = trusted_name or _name_of(truth, sets)
    truth, sets, left_out = _of_shared_topics(truth, sets, name)
    judged = on_scales(truth, sets, level, labels_rel, same_scale)
    if votes:
        if len(judged) < 2:
            raise UsageError("Votes need at least two sets of labels.")
        for taken in {MAJORITY, MEAN_GRADE, SHARE_OF_VOTES} & set(sets):
            raise UsageError(f'A set of labels is called "{taken}", as votes are: give it another name.')
        judged += voted_sets(judged, truth)
    tables = [
        label_tables(truth, judge.labels, judge.name, rel=level, labels_rel=judge.rel, same_scale=judge.same_scale)
        for judge in judged
    ]
    bootstrap = TopicBootstrap(len(truth.query_ids), resampling, confidence)
    settings: dict[str, Any] = {
        "trusted": name,
        "scale": scale_words(used_grades(truth)),
        "rel": level,
        "labels_rel": {judge.name: judge.rel for judge in judged},
        "graded": [str(measure) for measure in chosen if measure.graded],
        "votes": [judge.name for judge in judged if judge.is_vote],
        "topics": len(truth.query_ids),
        "runs": 0,
        "top": 10,
        "pairs": pairs,
        "alpha": alpha,
        "confidence": confidence,
        "resamples": resamples,
        "seed": seed,
    }
    agreed = [agreement_row(judge, table, bootstrap) for judge, table in zip(judged, tables, strict=True)]
    settings["kappa_lead"] = lead_in_kappa(agreed, judged, bootstrap)
    found = Judges(
        [row for row, _ in agreed],
        [row for judge, table in zip(judged, tables, strict=True) for row in confusion_rows(judge, table)],
        [row for judge, table in zip(judged, tables, strict=True) for row in grade_rows(judge, table, bootstrap)],
        [],
        [],
        [],
        settings,
    )
    if runs is None:
        return found
    if pairs == "shared":
        truth, judged = _of_shared_pairs(truth, judged)
    given = [run.filter(lambda topic: topic not in left_out) if left_out else run for run in reading.runs(runs)]
    matrices, names = scores_by_labels(_scorings(truth, judged, chosen, assumed), given)
    settings["runs"] = len(names)
    systems, orderings, changes = rows_of_runs(matrices, names, judged, chosen, settings)
    return replace(found, systems=systems, orderings=orderings, changes=changes)


def _is_binary(measure: Measure) -> bool:
    return "rel" in measure.parameters and not measure.graded


def _at_level(measures: list[Measure], rel: float | None) -> list[Measure]:
    """Measures that name no lowest grade take the one that was given."""
    if rel is None:
        return measures
    return [measure.at_level(rel) if _is_binary(measure) and measure.rel == 1.0 else measure for measure in measures]


def _name_of(trusted: Qrels, sets: Mapping[str, Qrels]) -> str:
    from rankbounds.files.opening import plain_name

    source = trusted.pairs.source.name
    name = "trusted" if source == "judgments" else plain_name(source)
    return f"{name} (trusted)" if name in sets else name


def _of_shared_topics(trusted: Qrels, sets: dict[str, Qrels], name: str) -> tuple[Qrels, dict[str, Qrels], list[str]]:
    """All labels of the topics that every set has; and the trusted ones' topics that are left out, which is told."""
    had = topics_of(trusted)
    shared = had.intersection(*(topics_of(labels) for labels in sets.values()))
    if len(shared) < 2:
        lacking = next((other for other, labels in sets.items() if len(had & topics_of(labels)) < 2), next(iter(sets)))
        raise DataError(
            sets[lacking].pairs.source.name,
            f'the labels "{lacking}" share {len(shared)} topics with the trusted ones ({name}).',
            "Intervals over topics need two at least.",
        )
    left_out = [query for query in trusted.query_ids if query in had and query not in shared]
    if left_out:
        warn(
            f"{len(left_out)} of {len(had)} topics of {name} are left out, since not all labels have them "
            f"({some(left_out)}).",
        )
    return trusted.filter(shared), {other: labels.filter(shared) for other, labels in sets.items()}, left_out


def _of_shared_pairs(trusted: Qrels, sets: Sequence[LabelSet]) -> tuple[Qrels, list[LabelSet]]:
    """Of all labels, the pairs that everybody labelled."""
    everywhere = labelled(trusted).copy()
    for judge in sets:
        if not judge.is_vote:
            rows, here = _found_in(trusted, judge.labels)
            has = np.zeros(len(trusted), dtype=bool)
            has[here[labelled(judge.labels)[rows]]] = True
            everywhere &= has
    kept = subset(trusted, everywhere)
    cut = []
    for judge in sets:
        there = np.zeros(len(judge.labels), dtype=bool)
        there[_found_in(kept, judge.labels)[0]] = True
        cut.append(replace(judge, labels=subset(judge.labels, there)))
    return kept, cut


def _found_in(trusted: Qrels, labels: Qrels) -> tuple[Any, Any]:
    """Rows of the labels that stand among the trusted ones, and where."""
    return trusted.pairs.index.find(labels.pairs, trusted.pairs.index.topics_of(labels.pairs))


def _scorings(
    trusted: Qrels, judged: Sequence[LabelSet], measures: list[Measure], assumptions: Assumptions
) -> list[Scoring]:
    """How the trusted labels, and then each set, are to score the runs; gains are for one scale."""
    linear = Assumptions(**{name: getattr(assumptions, name) for name in _BESIDE_GAIN})
    return [
        Scoring(trusted, measures, assumptions),
        *(
            Scoring(
                judge.labels,
                judge.measures(measures),
                assumptions if judge.same_scale else linear,
                None if judge.is_vote else judge.name,
            )
            for judge in judged
        ),
    ]


_BESIDE_GAIN = ("ties", "unjudged", "bounds", "topics", "score_precision", "ties_key")
