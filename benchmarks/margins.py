"""Does a test of a margin hold where losses are rare and large, and what does one that holds cost in topics?

    python benchmarks/margins.py [--worlds 1000]

First, how often a run passes whose true loss is the margin (at most 5% should): where 2% of topics lose .5 and the
others nothing, where 10% lose .1, and where changes are normal. Second, with how many topics a run that is as good as
the baseline passes 80% of the time, for normal changes of several deviations.
"""

from __future__ import annotations

import argparse

import numpy as np

from rankbounds.stats.equivalence import p_of_bounded_margin, p_of_margin

LIMITS = (-1.0, 1.0)
TESTS = ("t", "betting")


def passed(test: str, changes: np.ndarray, margin: float) -> float:
    """The share of worlds in which the margin is ruled out."""
    if test == "t":
        p = p_of_margin(changes, margin, "t", losses_only=True)
    else:
        p = p_of_bounded_margin(changes, margin, LIMITS, losses_only=True)
    return float((p < 0.05).mean())


def needed(test: str, deviation: float, margin: float, worlds: int) -> int:
    """The least number of topics, by steps of a twentieth, with which 80% pass."""
    generator = np.random.default_rng(1)
    topics = 10
    while passed(test, np.clip(generator.normal(0, deviation, (worlds, topics)), *LIMITS), margin) < 0.8:
        topics += max(1, topics // 20)
    return topics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    worlds = parser.parse_args().worlds
    generator = np.random.default_rng(0)
    print("| true loss = margin | topics |", " | ".join(TESTS), "|")
    print("|---|---:|" + "---:|" * len(TESTS))
    cases = {
        "2% of topics lose 0.5, margin 0.01": (0.01, lambda shape: -0.5 * (generator.random(shape) < 0.02)),
        "10% of topics lose 0.1, margin 0.01": (0.01, lambda shape: -0.1 * (generator.random(shape) < 0.1)),
        "normal, deviation 0.2, margin 0.05": (0.05, lambda shape: np.clip(generator.normal(-0.05, 0.2, shape), -1, 1)),
    }
    for name, (margin, draw) in cases.items():
        for topics in (24, 50, 100, 400):
            changes = draw((worlds, topics))
            print(f"| {name} | {topics} |", " | ".join(f"{passed(test, changes, margin):.0%}" for test in TESTS), "|")
    print("\n| no loss: topics for 80% |", " | ".join(TESTS), "|")
    print("|---|" + "---:|" * len(TESTS))
    for deviation, margin in ((0.05, 0.02), (0.1, 0.05), (0.2, 0.05), (0.1, 0.02)):
        found = [needed(test, deviation, margin, min(worlds, 300)) for test in TESTS]
        print(f"| deviation {deviation:g}, margin {margin:g} |", " | ".join(map(str, found)), "|", flush=True)


if __name__ == "__main__":
    main()
