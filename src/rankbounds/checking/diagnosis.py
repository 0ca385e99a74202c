"""What is wrong with a run file, what its ties are, and how far they move its scores."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.checking.corpus import Corpus, corpus_ids, judged_outside, outside
from rankbounds.checking.diagnoses import Diagnoses, Diagnosis, TieEffect
from rankbounds.checking.run_contents import Contents, Problem, read
from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run, unique_names
from rankbounds.errors import DataError, Place, RankboundsWarning
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.files.opening import plain_name
from rankbounds.measures import Measure, parse_measures
from rankbounds.rankings.order import ranked_rows
from rankbounds.threads import in_threads, processors

COVERAGE_DEPTH = 10
RESIDUAL_MEASURE = "RBP(p=0.8)"


def diagnose(
    runs: Any,
    *,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    examples: int = 3,
    corpus: str | os.PathLike[str] | Iterable[str] | Corpus | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnoses:
    """Check runs: lines that cannot be read, ties, orders that contradict each other.

    Parameters
    ----------
    runs
        Runs in any form that ``evaluate`` takes.
    qrels
        Judgments, in any form that ``evaluate`` takes: with them also how far ties move each measure, and how much is
        judged.
    measures
        Which measures ties are tried on, where there are judgments.
    examples
        How many contradictions of each kind are described.
    corpus
        The ids of the documents that can be retrieved, or a file with one in front of every line: with them how many
        documents of each run are not among them.
    progress
        Called with the number of runs that are done and that of all.

    Returns
    -------
    Diagnoses
        A ``Diagnosis`` for each run.

    Notes
    -----
    A line that cannot be used does not stop the diagnosis: it is reported, and the rest of the file is looked at.

    Examples
    --------
    >>> import rankbounds as rb
    >>> (diagnosis,) = rb.diagnose({"q": {"d1": 0.5, "d2": 0.5, "d3": 0.1}})
    >>> diagnosis.tied_documents, diagnosis.sound
    (1, True)
    """
    judgments = None if qrels is None else Reading().judgments(qrels)
    chosen = parse_measures(measures)
    sources = Reading().runs_to_read(runs)
    ids = None if corpus is None else corpus_ids(corpus)
    if judgments is not None:
        judgments.pairs.index  # noqa: B018 (built once, before threads share it)

    def look(source: RunToRead) -> Diagnosis:
        return _diagnose_one(source, judgments, chosen, examples, ids)

    diagnoses: list[Diagnosis] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)  # what they would say is in the diagnosis
        for diagnosis in in_threads(look, sources, processors()):
            diagnoses.append(diagnosis)
            if progress:
                progress(len(diagnoses), len(sources))
    names = unique_names([diagnosis.run for diagnosis in diagnoses], [diagnosis.file for diagnosis in diagnoses])
    named = [replace(diagnosis, run=name) for diagnosis, name in zip(diagnoses, names, strict=True)]
    lacking = None if judgments is None or ids is None else judged_outside(judgments, ids)
    return Diagnoses(named, examples, judgments is not None, ids is not None, lacking)


def _diagnose_one(
    source: RunToRead, qrels: Qrels | None, measures: list[Measure], examples: int, corpus: Corpus | None
) -> Diagnosis:
    if source.path is None:
        given = source.read()
        contents, file = Contents(given, (), len(given)), given.pairs.source.name
    else:
        contents, file = read(source.path, source.read), source.path
    run = contents.run
    if run is None:
        return Diagnosis(source.name or plain_name(file), file, contents.lines, problems=contents.problems)
    found: dict[str, Any] = {"problems": contents.problems, **_ties(run), **_contradictions(contents, run, examples)}
    if corpus is not None:
        found["outside_corpus"] = len(outside(run.pairs.docs, corpus))
    if qrels is not None:
        try:
            found |= _effects(run, qrels, measures)
        except DataError as error:  # no topic in common with the judgments
            found["problems"] = [*contents.problems, Problem(Place(file), "file", error.advice)]
    return Diagnosis(source.name or run.name, file, contents.lines, len(run.query_ids), **found)


def _ties(run: Run) -> dict[str, Any]:
    rows, tied = ranked_rows(run)
    topic, score = run.pairs.topic[rows], run.score[rows]
    size, count = np.unique(np.diff(np.flatnonzero(~tied), append=tied.size), return_counts=True)
    first_of_topic = np.flatnonzero(np.diff(topic, prepend=-1))
    rank = np.arange(tied.size) - np.repeat(first_of_topic, np.diff(first_of_topic, append=tied.size))
    with np.errstate(over="ignore", under="ignore"):
        single = score.astype(np.float32)
    same_in_single = (topic[1:] == topic[:-1]) & (single[1:] == single[:-1])
    return {
        "tied_documents": int(np.count_nonzero(tied)),
        "tied_topics": np.unique(topic[tied]).size,
        "tied_topics_top10": np.unique(topic[tied & (rank <= COVERAGE_DEPTH)]).size,
        "group_sizes": {int(each): int(number) for each, number in zip(size, count, strict=True) if each > 1},
        "single_precision_ties": int(np.count_nonzero(same_in_single & ~tied[1:])),
    }


def _contradictions(contents: Contents, run: Run, examples: int) -> dict[str, Any]:
    lines, ranks = run.pairs.rows_by_topic(), run.stated_rank
    rising = _pairs_of(run, lines, run.score[lines][1:] > run.score[lines][:-1])
    tokens = [(contents.score_token(above), contents.score_token(below)) for above, below in rising.tolist()]
    mistaken = [_in_order_without_exponents(*pair) for pair in tokens]
    sentences = {
        "line": [
            f"{contents.where(below)}: {run.pairs.describe(below)} has score {lower}, more than the {upper} of the one "
            f"above{', unless exponents are ignored' if mistake else ''}."
            for (_, below), (upper, lower), mistake in zip(rising[:examples].tolist(), tokens, mistaken, strict=False)
        ]
    }
    found: dict[str, Any] = {"contradictions_line": len(rising), "exponent_mistakes": sum(mistaken)}
    if ranks is not None:
        rows, _ = ranked_rows(run, order="rank")
        against = _pairs_of(run, rows, ranks[rows][1:] < ranks[rows][:-1])
        sentences["rank"] = [
            f"{contents.where(below)}: {run.pairs.describe(below)} has rank {ranks[below]} and score "
            f'{run.score[below]:.12g}, but "{run.pairs.docs[above]}" has rank {ranks[above]} and the higher score '
            f"{run.score[above]:.12g}."
            for above, below in against[:examples].tolist()
        ]
        found |= {"contradictions_rank": len(against), "rank_gap_topics": _topics_with_gaps(run.pairs.topic, ranks)}
    return found | {"examples": {kind: several for kind, several in sentences.items() if several}}


def _pairs_of(run: Run, rows: Ints, out_of_order: Flags) -> Ints:
    """Neighbours of one topic that are out of order, the upper first."""
    upper = np.flatnonzero(out_of_order & (run.pairs.topic[rows][1:] == run.pairs.topic[rows][:-1]))
    return np.stack([rows[upper], rows[upper + 1]], axis=-1)


def _in_order_without_exponents(above: str, below: str) -> bool:
    upper, lower = above.lower(), below.lower()
    return "e" in upper + lower and float(upper.partition("e")[0]) >= float(lower.partition("e")[0])


def _topics_with_gaps(topic: Ints, ranks: Ints) -> int:
    order = np.lexsort((ranks, topic))
    topic, ranks = topic[order], ranks[order]
    first = np.diff(topic, prepend=-1) != 0
    gap = np.where(first, ranks > 1, np.diff(ranks, prepend=0) != 1)
    return np.unique(topic[gap | (first & (ranks < 0))]).size


def _effects(run: Run, qrels: Qrels, measures: list[Measure]) -> dict[str, Any]:
    scores = evaluate(qrels, run, measures, bounds="ties", threads=1)
    mean = scores.mean()
    expected = evaluate(qrels, run, measures, ties="expected", bounds="none", threads=1).mean()
    residual = evaluate(qrels, run, RESIDUAL_MEASURE, threads=1).mean()
    columns = (array[0, 0].tolist() for array in (mean.value, expected.value, mean.low, mean.high))
    return {
        "missing_topics": scores.notes[0].missing,
        "judged": float(mean.judged[0, 0]),
        "residual": float(residual.high[0, 0, 0] - residual.low[0, 0, 0]),
        "effects": [TieEffect(str(name), *numbers) for name, *numbers in zip(mean.measures, *columns, strict=True)],
    }
