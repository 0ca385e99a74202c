"""The best of many runs by a measure, for analyses that leave out weak or broken runs."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.choices import check_count
from rankbounds.collection.inputs import Reading
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.score_differences import merit
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.measures.naming.parser import MeasureLike


def places_of_best(scores: Scores, best: int, by: Measure) -> Ints:
    """Return the positions of the runs with the best means, in the order given; of equal ones the first."""
    check_count("The number of runs that are kept", best)
    mean = merit(scores[by].mean().value[:, 0, 0], by)
    return np.sort(np.argsort(-np.where(np.isnan(mean), -np.inf, mean), kind="stable")[:best])


def keep_best(qrels: QrelsLike, runs: RunsLike, best: int, by: MeasureLike = "AP") -> list[Run]:
    """Return the runs with the best means of a measure, in the order given."""
    from rankbounds.measures import parse_measure

    judgments, read, measure = Reading().judgments(qrels), Reading().runs(runs), parse_measure(by)
    if best >= len(read):
        return read
    return [read[place] for place in places_of_best(evaluate(judgments, read, measure, bounds="none"), best, measure)]
