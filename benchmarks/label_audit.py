"""Do the intervals of audited labels cover, and how short are they? Random pairs of runs, random samples, real labels.

    python benchmarks/label_audit.py FOLDER [-m MEASURE]... [--draws 2000] [--budget 300]

FOLDER holds human.qrels, other *.qrels (the judges) and runs/. For each judge, and for simulated ones (perfect; right
in 97%; inverted; random on two and on four grades; the same label for everything), a pair of runs and a sample of the
budget are drawn again and again. Printed: how often the 0.95 interval of A - B covers the difference with people's
judgments of every labelled document, the mean half-width, and that half-width relative to two ways without labels at
the same budget: a sample by weight alone with no label to correct (Horvitz and Thompson), and judging whole topics
(all labelled documents of either run, topics at random, Student's interval for the topics at hand).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

import rankbounds as rb
from rankbounds.arrays import Floats
from rankbounds.collection.qrels import Qrels
from rankbounds.judging.audits.audit import Audit
from rankbounds.judging.audits.estimates import design_variance, estimates_of
from rankbounds.judging.audits.expected_scores import Steps, expected_scores
from rankbounds.judging.audits.judged_sample import JudgedSample
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.judging.audits.sample import draw_systematically, inclusion_probabilities, sizes_of_question
from rankbounds.measures import Measure, parse_measure
from rankbounds.rankings.topic_facts import TopicFacts

CONFIDENCE = 0.95


class Trial:
    """One judge, one measure: pairs and samples drawn again and again."""

    def __init__(self, pool: LabelledPool, human: Qrels, measure: Measure, budget: int) -> None:
        self.pool, self.measure, self.budget = pool, measure, budget
        index = human.pairs.index
        here, there = index.find(pool.labels.pairs, index.topics_of(pool.labels.pairs))
        assert here.size == len(pool), "every labelled document needs a judgment"
        self.grade = np.empty(len(pool))
        self.grade[here] = human.grade[there]
        self.facts = TopicFacts(Qrels._of_pairs(pool.labels.pairs, self.grade))
        steps = Steps.of(self.grade, self.facts, measure)
        certain = steps.reached(self.grade)
        self.truth = np.stack([value for value, _ in expected_scores(measure, pool, steps, certain)])

    def draw(self, rng: np.random.Generator) -> tuple[float, float, bool, float, float]:
        """An audit's error, half-width and coverage, and half-widths without labels: sampled, whole topics."""
        first, second = rng.choice(len(self.pool.names), 2, replace=False).tolist()
        pair = self.pool.restricted((self.pool.names[first], self.pool.names[second]))
        by_topic = self.truth[second] - self.truth[first]  # as audits have it: the second run minus the first
        sizes = [*sizes_of_question(self.measure, pair, differences=True), np.ones(len(pair))]
        judged = self.judged(inclusion_probabilities(sizes, self.budget), rng)
        estimate = estimates_of({self.measure: None}, pair, judged, difference=True)[0]
        (row,) = Audit(pair.names, [estimate], judged, CONFIDENCE, "judgments", True).rows()
        truth = float(by_topic.mean())
        error, own = row["estimate"] - truth, (row["ci_high"] - row["ci_low"]) / 2
        covered = row["ci_low"] - 1e-12 <= truth <= row["ci_high"] + 1e-12
        unlabelled = replace(pair, labels=Qrels._of_pairs(pair.labels.pairs, np.zeros(len(pair))))
        sizes = [*sizes_of_question(self.measure, unlabelled, differences=True), np.ones(len(pair))]
        plain = self.judged(inclusion_probabilities(sizes, self.budget), rng)
        without = half(*design_variance(self.plain_terms(pair, plain)[None, :], plain.probability))
        return error, own, covered, without, self.whole_topics(pair, by_topic, rng)

    def judged(self, probability: Floats, rng: np.random.Generator) -> JudgedSample:
        """A sample with people's judgments."""
        rows = draw_systematically(probability, rng)
        qrels = Qrels._of_pairs(self.pool.labels.pairs.take(rows), self.grade[rows])
        return JudgedSample(rows, probability[rows], self.grade[rows], qrels)

    def plain_terms(self, pair: LabelledPool, plain: JudgedSample) -> Floats:
        """What documents add when no label says anything: slope times relevance."""
        steps = Steps.of(self.grade, self.facts, self.measure)
        reached = steps.reached(self.grade)
        rate = np.repeat(reached.mean(axis=1, keepdims=True), len(pair), axis=1)
        a, b = (slope for _, slope in expected_scores(self.measure, pair, steps, rate))
        return ((a - b)[:, plain.row] * reached[:, plain.row]).sum(axis=0) / pair.number_of_topics

    def whole_topics(self, pair: LabelledPool, by_topic: Floats, rng: np.random.Generator) -> float:
        """Half the width of Student's interval from judging as many whole topics as the budget allows."""
        held = np.zeros(len(pair) + 2, dtype=bool)
        for lists in pair.rankings:
            for rankings in lists:
                assert rankings.judgment is not None
                held[rankings.judgment] = True
        cost = np.bincount(pair.topic[held[:-2]], minlength=pair.number_of_topics)
        order = rng.permutation(pair.number_of_topics)
        count = max(2, int(np.searchsorted(np.cumsum(cost[order]), self.budget, side="right")))
        count = min(count, pair.number_of_topics)
        unseen = 1 - count / pair.number_of_topics
        sd = by_topic[order[:count]].std(ddof=1) * np.sqrt(unseen / count)
        return float(sd * stdtrit(count - 1.0, (1 + CONFIDENCE) / 2))


def half(variance: Floats, freedom: Floats) -> float:
    """Half the width of the interval."""
    return float(np.sqrt(variance[0]) * stdtrit(freedom, (1 + CONFIDENCE) / 2)[0])


def simulated(human: Qrels, rel: float, rng: np.random.Generator) -> dict[str, Qrels]:
    """Judges of whom everything is known."""
    relevant = (human.grade >= rel).astype(float)
    wrong = rng.random(len(human)) < 0.03
    labels = {
        "perfect": human.grade,
        "97% right": np.where(wrong, 1 - relevant, relevant),
        "inverted": human.grade.max() - human.grade,
        "random, 2 grades": rng.integers(0, 2, len(human)).astype(float),
        "random, 4 grades": rng.integers(0, 4, len(human)).astype(float),
        "one label for all": np.zeros(len(human)),
    }
    return {name: Qrels._of_pairs(human.pairs, grade) for name, grade in labels.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-m", dest="measures", action="append")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--labels", nargs="*", help="only these judges")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    human = rb.read_qrels(options.folder / "human.qrels")
    runs = rb.read_runs(str(options.folder / "runs" / "*"))
    files = sorted(path for path in options.folder.glob("*.qrels") if path.stem != "human")
    print("| measure | labels | coverage | half-width | of no labels | of whole topics | bias / half-width |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for text in options.measures or ["RBP(p=0.8,rel=2)", "nDCG@10", "AP(rel=2)"]:
        measure = parse_measure(text)
        judges = {path.stem: rb.read_qrels(path) for path in files}
        judges |= simulated(human, measure.rel if not measure.graded else 2.0, np.random.default_rng(options.seed))
        for name, labels in judges.items():
            if options.labels and name not in options.labels:
                continue
            trial = Trial(LabelledPool.of(labels, runs, {}), human, measure, options.budget)
            rng = np.random.default_rng((options.seed, 1))
            drawn = np.array([trial.draw(rng) for _ in range(options.draws)])
            error, own, covered, plain, topics = drawn.T
            cover = float(covered.mean())
            print(
                f"| {measure} | {name} | {cover:.1%} | {own.mean():.4f} | {own.mean() / plain.mean():.2f} | "
                f"{own.mean() / topics.mean():.2f} | {error.mean() / own.mean():+.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
