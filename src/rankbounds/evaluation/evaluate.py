"""Score runs against judgments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Thread
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.gains import GainRule
from rankbounds.collection.inputs import RunToRead, judgments_from, runs_to_read
from rankbounds.collection.run import unique_names
from rankbounds.errors import RankboundsWarning
from rankbounds.evaluation.assumptions import Assumptions, Cells
from rankbounds.evaluation.score_sheet import RunResult, score_run
from rankbounds.evaluation.scores import Scores
from rankbounds.files.formats import pair_of_names
from rankbounds.measures import Measure, parse_measures
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import in_threads, processors

DEFAULT_MEASURES = ("RBP(p=0.8)", "AP", "nDCG@10", "P@10", "RR")


def evaluate(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    ties: str = "trec",
    ties_key: Any = None,
    unjudged: str = "nonrelevant",
    q: float | None = None,
    bounds: str = "unjudged",
    gain: str | Mapping[Any, float] | GainRule | None = None,
    topics: str = "judged",
    score_precision: str = "double",
    labels: str | Sequence[str] | None = None,
    formats: str | tuple[str | None, str | None] | None = None,
    lenient: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    observe: Callable[[int, Rankings], None] | None = None,
) -> Scores:
    """Score one run or many.

    ``qrels`` and ``runs`` may be paths (runs also globs and folders), ``Qrels`` and ``Run``, dicts of dicts, pandas,
    polars or pyarrow frames, or rows ``(query, document, value)``. Several runs: a list of such, or a dict by name.

    ``ties``: ``trec`` (score down, then document id down, as trec_eval), ``run`` (line order, scores ignored), ``line``
    (line order among equal scores), ``rank`` (stated rank), ``docid`` (document id up), ``best``, ``worst``,
    ``expected`` (mean over all orders), ``key`` (rising value of ``ties_key``, which is ``{document: value}`` or a file
    of such lines, and which means ``key`` by itself).
    ``unjudged``: ``nonrelevant``, ``relevant``, ``condensed`` (left out), ``expected`` (relevant with chance ``q``).
    ``gain``: what grades are worth: ``linear`` (the grade), a table like ``"1=3,2=9"``, or one that names the words
    that judgments have for grades, ``"S=3,A=2,B=1"``.
    ``bounds``: what ``low`` and ``high`` cover: ``unjudged`` documents, ``ties``, ``both``, or ``none``.
    ``topics``: ``judged`` scores every judged topic, one that a run lacks as an empty list; ``shared`` only topics that
    the run has.
    ``labels``: use judgments of this source only (``"human"``), or of the first that has one (``"human,llm"``).
    ``formats``: the format of all files, or of judgments and of runs, where it should not be recognised by content.
    ``observe`` is shown every batch of rankings with the number of its run, from several threads; whoever wants more
    of the lists than scores need not read the runs a second time.
    """
    assumptions = Assumptions.of(ties, unjudged, q, bounds, gain, topics, score_precision, ties_key)
    chosen = parse_measures(measures)
    assumptions.check(chosen)
    workers = threads or processors()
    qrels_kind, run_kind = pair_of_names(formats)
    judgments = judgments_from(qrels, lenient, workers, assumptions.gain, qrels_kind, labels)
    return score_runs(
        TopicFacts(judgments, assumptions.gain),
        runs_to_read(runs, lenient, workers, run_kind),
        chosen,
        assumptions,
        threads=workers,
        progress=progress,
        observe=observe,
    )


def score_runs(
    facts: TopicFacts,
    jobs: Sequence[RunToRead],
    measures: list[Measure],
    assumptions: Assumptions,
    cells: Callable[[Rankings], Cells] | None = None,
    *,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
    observe: Callable[[int, Rankings], None] | None = None,
) -> Scores:
    """Read, join and score every run; ``cells``, where given, turns rankings into the measures' numbers its own way."""
    # Every run is looked up in one index. It is built while the first runs are being read.
    index = Thread(target=lambda: facts.qrels.pairs.index)
    index.start()

    def score(numbered: tuple[int, RunToRead]) -> RunResult:
        number, job = numbered
        seen = partial(observe, number) if observe else None
        alone = threads if len(jobs) == 1 else 1
        run = job.read()
        index.join()
        return score_run(run, facts, measures, assumptions, alone, cells, seen)

    results = []
    for result in in_threads(score, list(enumerate(jobs)), threads):
        results.append(result)
        if progress:
            progress(len(results), len(jobs))
    scores = gathered(
        results,
        [job.place for job in jobs],
        list(facts.query_ids),
        measures,
        assumptions,
        facts,
        facts.without_relevant,
    )
    for message in [*scores.warnings(), *fractions_lost(facts.grade, measures)]:
        warnings.warn(message, RankboundsWarning, stacklevel=2)
    return scores


def gathered(
    results: Sequence[RunResult],
    places: list[str],
    query_ids: list[str],
    measures: list[Measure],
    assumptions: Assumptions,
    facts: TopicFacts,
    without_relevant: list[str],
) -> Scores:
    """The results of several runs as one table; ``facts`` may be those of a part that knows the collection's grades."""
    return Scores(
        runs=unique_names([result.name for result in results], places),
        query_ids=query_ids,
        measures=measures,
        value=_stacked([result.value for result in results]),
        low=_stacked([result.low for result in results]),
        high=_stacked([result.high for result in results]),
        judged=_stacked([result.judged for result in results]),
        notes=[result.notes for result in results],
        bounds=assumptions.bounds,
        topics=assumptions.topics,
        outer=[
            measure
            for measure in measures
            if assumptions.bounds_are_outer(
                measure, facts, tied=any(result.notes.tied_topics > 0 for result in results)
            )
        ],
        without_relevant=without_relevant,
        parts=_stacked([result.parts for result in results if result.parts is not None], axis=1)
        if results[0].parts is not None
        else None,
    )


def _stacked(arrays: list[Floats], axis: int = 0) -> Floats:
    """Arrays along a new axis; one alone is not copied, because it may be large."""
    return np.stack(arrays, axis) if len(arrays) > 1 else np.expand_dims(arrays[0], axis)


def fractions_lost(grade: Floats, measures: Sequence[Measure], distinct: bool = False) -> list[str]:
    """Grades between 0 and 1 are gains to graded measures, but not relevant to binary ones: say so.

    ``distinct``: how many judgments have these grades is not known.
    """
    binary = [one for one in measures if "rel" in one.parameters and one.rel == 1.0 and not one.graded]
    fractions = int(np.count_nonzero((grade > 0) & (grade < 1)))
    if not binary or not fractions:
        return []
    count = "Some" if distinct else str(fractions)
    have = "judgment has a grade" if count == "1" else "judgments have grades"
    return [
        f"{count} {have} between 0 and 1, which {binary[0]} counts as non-relevant. Set rel, as in "
        f"{binary[0].name}(rel=0.5), or use a graded measure such as RBP(graded=true) or nDCG."
    ]
