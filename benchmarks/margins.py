"""Does a test of a margin hold its level, where topics are real and where losses are rare and large?

    python benchmarks/margins.py [TREC8 COVID] [--worlds 1000]

With collections (folders with ``qrels.txt`` and the runs, as for ``levels.py``), first: the share of samples in which a
run passes whose true loss is the margin, 0.01 (at most 5% should). Neighbours in the ranking get that loss by drawing
topics with unequal probabilities, as near to equal ones as possible; topics are drawn with replacement. Printed are the
t test alone and with the rule that at least five topics must differ, which ``compare`` and the gate follow.

Then with changes that are made up: how often a run passes whose true loss is the margin, where 2% of topics lose .5 and
the others change a little, where 10% lose .1, and where changes are normal; and with how many topics a run that is as
good as the baseline passes 80% of the time, for normal changes of several deviations.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np

from levels import draw_worlds, print_table, read_population, reweight
from rankbounds.stats.equivalence import LEAST_DIFFERING, p_of_bounded_margin, p_of_margin
from rankbounds.stats.significance import p_values

LIMITS = (-1.0, 1.0)
TESTS = ("t", "betting")
MEASURES = ("Success@1", "RR", "nDCG@10", "AP")
MARGIN = 0.01
TOPICS = (5, 10, 25, 50)


def passed(test: str, changes: np.ndarray, margin: float) -> float:
    """The share of worlds in which the margin is ruled out."""
    if test == "t":
        p = p_of_margin(changes, margin, "t", losses_only=True)
    elif test == "t without the rule":
        p = p_values(changes + margin, "t", "greater")
    else:
        p = p_of_bounded_margin(changes, margin, LIMITS, losses_only=True)
    return float((p < 0.05).mean())


def neighbours(scores: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Neighbours in the ranking, the better minus the worse on each topic, with a true loss of the margin."""
    ordered = scores[np.argsort(-scores.mean(axis=1), kind="stable")]
    found = []
    for one, other in pairwise(ordered):
        for changes in (one - other, other - one):
            # Changes whose mean is minus the margin: equal to those of a run that loses it everywhere.
            likely = reweight(np.stack([np.zeros_like(changes), changes + MARGIN]))
            if likely is not None and changes.any():
                found.append((changes[None], likely))
    return found


def real_table(populations: dict[str, np.ndarray], worlds: int) -> None:
    """Print the levels on resampled topics, by collection, measure and number of topics."""
    rows = []
    for name, scores in populations.items():
        for at, measure in enumerate(MEASURES):
            groups = neighbours(scores[..., at])
            for test in ("t without the rule", "t"):
                shares = []
                for topics in TOPICS:
                    drawn = draw_worlds(groups, topics, worlds, np.random.default_rng(topics))
                    changes = np.concatenate([some[:, 0] for _, some in drawn])
                    shares.append(f"{passed(test, changes, MARGIN):.2f}".removeprefix("0"))
                rows.append([name, measure, f"{test}{f', {LEAST_DIFFERING} differ' * (test == 't')}", " ".join(shares)])
    print(f"True loss = margin = {MARGIN:g}, {' / '.join(map(str, TOPICS))} topics:\n")
    print_table(["collection", "measure", "test", "passed"], rows)


def needed(test: str, deviation: float, margin: float, worlds: int) -> int:
    """The least number of topics, by steps of a twentieth, with which 80% pass."""
    generator = np.random.default_rng(1)
    topics = 10
    while passed(test, np.clip(generator.normal(0, deviation, (worlds, topics)), *LIMITS), margin) < 0.8:
        topics += max(1, topics // 20)
    return topics


def made_tables(worlds: int) -> None:
    """Print levels and needed topics for changes that are made up."""
    generator = np.random.default_rng(0)

    def few_lose(loss: float, share: float, shape: tuple[int, int]) -> np.ndarray:
        return generator.normal(0, 0.001, shape) - loss * (generator.random(shape) < share)

    cases = {
        "2% of topics lose 0.5, margin 0.01": (0.01, lambda shape: few_lose(0.5, 0.02, shape)),
        "10% of topics lose 0.1, margin 0.01": (0.01, lambda shape: few_lose(0.1, 0.1, shape)),
        "normal, deviation 0.2, margin 0.05": (0.05, lambda shape: np.clip(generator.normal(-0.05, 0.2, shape), -1, 1)),
    }
    rows = []
    for name, (margin, draw) in cases.items():
        for topics in (24, 50, 100, 400):
            changes = draw((worlds, topics))
            rows.append([name, str(topics), *(f"{passed(test, changes, margin):.0%}" for test in TESTS)])
    print_table(["true loss = margin", "topics", *TESTS], rows)
    rows = []
    for deviation, margin in ((0.05, 0.02), (0.1, 0.05), (0.2, 0.05), (0.1, 0.02)):
        found = [str(needed(test, deviation, margin, min(worlds, 300))) for test in TESTS]
        rows.append([f"deviation {deviation:g}, margin {margin:g}", *found])
    print_table(["no loss: topics for 80%", *TESTS], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", type=Path)
    parser.add_argument("--worlds", type=int, default=1000)
    options = parser.parse_args()
    if options.collections:
        real_table({folder.name: read_population(folder, MEASURES) for folder in options.collections}, options.worlds)
    made_tables(options.worlds)


if __name__ == "__main__":
    main()
