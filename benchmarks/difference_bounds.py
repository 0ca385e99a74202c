"""Bounds of differences: are they right?

``python benchmarks/difference_bounds.py --pairs 100000 --seed 1`` draws random pairs of lists with up to 7 unjudged
documents, shared and not, three grades, with and without a depth, and scores every way to judge those documents by
definitions written out here. It counts pairs whose bounds some judgments leave, and bounds that are called exact and
are attained by none.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings

import numpy as np

import rankbounds as rb
from rankbounds.comparison import Evidence
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.bounds import topic_bounds

GRADES, HOLES, DOCUMENTS, WIDTH, TOPICS = (0, 1, 2), 7, 12, 8, 500
MEASURES = (
    "nDCG", "nDCG@1", "nDCG@3", "nDCG@5", "nDCG(gain=exp)@4", "DCG@3", "AP", "AP@3", "SP", "RR", "RR@2", "P@3",
    "Recall", "Recall@3", "Success@2", "RPrec", "ERR", "ERR@3", "Q",
)  # fmt: skip
"""Random pairs take turns: the first ones of each turn are nDCG's."""
SLACK = 1e-9


def score(measure: rb.Measure, ranked: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """The measure of one list under many judgments: grades by rank, and those of all the topic's documents."""
    lines, length = ranked.shape
    if length == 0:
        return np.zeros(lines)
    depth = measure.cutoff or length
    rank = np.arange(1, length + 1)
    within = rank <= depth
    relevant = ranked >= 1
    number = (judged >= 1).sum(axis=1)
    name = measure.name
    if name in ("nDCG", "DCG"):
        worth = (lambda grade: 2.0**grade - 1) if measure.gain == "exp" else (lambda grade: grade.astype(float))
        total = (worth(ranked) * within / np.log2(rank + 1)).sum(axis=1)
        if name == "DCG":
            return total
        best = -np.sort(-worth(judged), axis=1)[:, : measure.cutoff]
        ideal = (best / np.log2(np.arange(best.shape[1]) + 2)).sum(axis=1)
        return np.where(ideal > 0, total / np.where(ideal > 0, ideal, 1), 0.0)
    found = np.cumsum(relevant, axis=1)
    if name in ("AP", "SP"):
        total = (relevant * within * found / rank).sum(axis=1)
        return total if name == "SP" else np.where(number > 0, total / np.maximum(number, 1), 0.0)
    if name == "RR":
        return (relevant * within / rank).max(axis=1)
    if name == "Success":
        return (relevant & within).any(axis=1).astype(float)
    if name == "P":
        return (relevant & within).sum(axis=1) / depth
    if name == "Recall":
        return np.where(number > 0, (relevant & within).sum(axis=1) / np.maximum(number, 1), 0.0)
    if name == "RPrec":
        return np.where(number > 0, (relevant & (rank <= number[:, None])).sum(axis=1) / np.maximum(number, 1), 0.0)
    if name == "ERR":
        stops = np.where(within, (2.0**ranked - 1) / 2.0 ** max(GRADES), 0.0)
        past = np.cumprod(1 - stops, axis=1)
        reached = np.concatenate((np.ones((lines, 1)), past[:, :-1]), axis=1)
        return (reached * stops / rank).sum(axis=1)
    if name == "Q":
        ideal = np.zeros((lines, length))
        best = -np.sort(-judged, axis=1)[:, :length]
        ideal[:, : best.shape[1]] = best
        terms = relevant * (np.cumsum(ranked, axis=1) + found) / (np.cumsum(ideal, axis=1) + rank)
        return np.where(number > 0, terms.sum(axis=1) / np.maximum(number, 1), 0.0)
    raise ValueError(name)


class Pair:
    """Two random lists and judgments that leave some of their documents out."""

    def __init__(self, rng: np.random.Generator) -> None:
        lengths = rng.integers(0, WIDTH + 1, 2)
        self.lists = [rng.permutation(DOCUMENTS)[:length] for length in lengths]
        retrieved = np.union1d(*self.lists)
        self.holes = rng.permutation(retrieved)[: rng.integers(0, HOLES + 1)]
        self.grades = np.where(rng.random(DOCUMENTS) < rng.random(), 0, rng.choice(GRADES, DOCUMENTS))

    def extremes(self, measure: rb.Measure) -> tuple[float, float]:
        """The least and the greatest difference over all judgments."""
        choices = GRADES if measure.graded else (0, 1)
        ways = np.array(list(itertools.product(choices, repeat=self.holes.size)), dtype=np.int64)
        judged = np.broadcast_to(self.grades, (len(ways), DOCUMENTS)).copy()
        judged[:, self.holes] = ways
        a, b = (score(measure, judged[:, ranking], judged) for ranking in self.lists)
        return float((a - b).min()), float((a - b).max())


def check(pairs: int, seed: int) -> None:
    """Draw, enumerate, compare, count."""
    rng = np.random.default_rng(seed)
    started, done, exact, violated, missed = time.perf_counter(), 0, 0, 0, 0
    for turn, start in enumerate(range(0, pairs, TOPICS)):
        measure = rb.parse_measure(MEASURES[turn % len(MEASURES)])
        drawn = [Pair(rng) for _ in range(min(TOPICS, pairs - start))]
        qrels = {"scale": {f"s{grade}": grade for grade in GRADES}}
        runs: dict[str, dict[str, list[str]]] = {"A": {}, "B": {}}
        for number, pair in enumerate(drawn):
            judged = np.setdiff1d(np.arange(DOCUMENTS), pair.holes)
            qrels[str(number)] = {str(doc): int(pair.grades[doc]) for doc in judged}
            for name, ranking in zip("AB", pair.lists, strict=True):
                runs[name][str(number)] = [str(doc) for doc in ranking]
        lists = Evidence.read(qrels, runs).shared_lists()
        both = (np.array([0]), np.array([1]))
        by_topic = dict(zip(lists.topics.tolist(), topic_bounds(lists, measure, Assumptions(), both), strict=True))
        for number, pair in enumerate(drawn):
            bounds = by_topic[lists.facts.query_ids.index(str(number))]
            low, high = pair.extremes(measure)
            violated += not (bounds.low[0] <= low + SLACK and high - SLACK <= bounds.high[0])
            if bounds.exact[0]:
                exact += 1
                missed += not (abs(bounds.low[0] - low) <= SLACK and abs(bounds.high[0] - high) <= SLACK)
        done += len(drawn)
        if turn % len(MEASURES) == len(MEASURES) - 1 or done == pairs:
            print(
                f"{done:,} pairs in {time.perf_counter() - started:.0f} s: {violated} left their bounds; of {exact:,} "
                f"bounds called exact, {missed} are not attained",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore", rb.RankboundsWarning)
    check(options.pairs, options.seed)
