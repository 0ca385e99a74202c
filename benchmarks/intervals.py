"""How often the confidence interval of one run's mean holds the mean over all topics, by method.

    python benchmarks/intervals.py COLLECTION=QRELS,RUNS ... [--draws 2000]

Each collection is a population: its topics are drawn with replacement, and an interval of each run's mean over those
drawn should hold the run's mean over all of its topics in 95% of the draws. Prints, by measure and number of topics,
coverage on average over runs, that of the run at the tenth percentile, and the mean width. RUNS is a folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import rankbounds as rb
from rankbounds.arrays import Floats
from rankbounds.evaluation.mean_intervals import intervals_of_means, student_quantile

MEASURES = ("AP", "nDCG@10", "RR", "Success@1", "P@10")
TOPICS = (5, 10, 25, 50, 200)
ALPHA = 0.05
Ends = tuple[Floats, Floats]


def moments(drawn: Floats) -> tuple[Floats, Floats, float, int]:
    topics = drawn.shape[-1]
    return drawn.mean(-1), drawn.std(-1, ddof=1) / np.sqrt(topics), student_quantile(1 - ALPHA / 2, topics - 1), topics


def by_t(drawn: Floats) -> Ends:
    mean, error, t, _ = moments(drawn)
    return np.maximum(mean - t * error, 0.0), np.minimum(mean + t * error, 1.0)


def on_scale(to: Callable[[Floats], Floats], back: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]):
    """A t interval of the mean on another scale, by the delta method."""

    def ends(drawn: Floats) -> Ends:
        mean, error, t, _ = moments(drawn)
        inside = np.clip(mean, 1e-9, 1 - 1e-9)
        half = t * error * slope(inside)
        return back(to(inside) - half), back(to(inside) + half)

    return ends


def by_johnson(drawn: Floats) -> Ends:
    """Johnson's t, corrected for skewness (JASA 73, 1978)."""
    mean, error, t, topics = moments(drawn)
    third = ((drawn - mean[..., None]) ** 3).mean(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.nan_to_num(third / (6 * error**2 * topics**2) * (1 + 2 * t * t))
    return np.clip(mean + moved - t * error, 0.0, 1.0), np.clip(mean + moved + t * error, 0.0, 1.0)


def by_wilson(drawn: Floats) -> Ends:
    """Wilson's with the variance of the scores, and nothing for what was not seen."""
    mean, error, t, _ = moments(drawn)
    chance = mean * (1 - mean)
    k = np.divide((t * error) ** 2, chance, out=np.zeros_like(mean), where=chance > 0)
    middle, half = (mean + k / 2) / (1 + k), np.sqrt(k * chance + (k / 2) ** 2) / (1 + k)
    return middle - half, middle + half


def by_hoeffding(drawn: Floats) -> Ends:
    mean, half = drawn.mean(-1), np.sqrt(np.log(2 / ALPHA) / (2 * drawn.shape[-1]))
    return np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)


def by_bernstein(drawn: Floats) -> Ends:
    """The empirical Bernstein bound (Maurer and Pontil 2009)."""
    mean, _, _, topics = moments(drawn)
    log = np.log(4 / ALPHA)
    half = np.sqrt(2 * drawn.var(-1, ddof=1) * log / topics) + 7 * log / (3 * (topics - 1))
    return np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)


def by_bootstrap_t(drawn: Floats, resamples: int = 200) -> Ends:
    mean, error, _, topics = moments(drawn)
    counts = np.random.default_rng(7).multinomial(topics, np.full(topics, 1 / topics), resamples).astype(float)
    means, squares = drawn @ counts.T / topics, drawn**2 @ counts.T / topics
    errors = np.sqrt(np.maximum(squares - means**2, 0.0) / (topics - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num((means - mean[..., None]) / errors, posinf=0.0, neginf=0.0)
    low, high = np.quantile(t, [ALPHA / 2, 1 - ALPHA / 2], axis=-1)
    return np.clip(mean - high * error, 0.0, 1.0), np.clip(mean - low * error, 0.0, 1.0)


METHODS: dict[str, Callable[[Floats], Ends]] = {
    "rankbounds": lambda drawn: intervals_of_means(drawn, 0.0, 1.0, 1 - ALPHA),
    "t": by_t,
    "t, logit": on_scale(lambda m: np.log(m / (1 - m)), lambda x: 1 / (1 + np.exp(-x)), lambda m: 1 / (m * (1 - m))),
    "t, arcsine": on_scale(
        lambda m: np.arcsin(np.sqrt(m)),
        lambda x: np.sin(np.clip(x, 0, np.pi / 2)) ** 2,
        lambda m: 0.5 / np.sqrt(m * (1 - m)),
    ),
    "Johnson": by_johnson,
    "Wilson": by_wilson,
    "bootstrap-t": by_bootstrap_t,
    "Bernstein": by_bernstein,
    "Hoeffding": by_hoeffding,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="+")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--runs", type=int, default=40, help="evenly spaced by their mean")
    options = parser.parse_args()
    print("| collection | measure | topics |", " | ".join(METHODS), "|")
    print("|---|---|---:|" + "---:|" * len(METHODS))
    for given in options.collections:
        name, _, files = given.partition("=")
        qrels, _, runs = files.partition(",")
        scores = rb.evaluate(qrels, runs, MEASURES, bounds="none")
        for place, measure in enumerate(scores.measures):
            population = scores.value[:, :, place]
            population = population[np.argsort(population.mean(-1))]
            population = population[population.std(-1) > 0]
            some = np.linspace(0, len(population) - 1, min(options.runs, len(population))).round().astype(int)
            population = population[some]
            truth = population.mean(-1)[:, None]
            for topics in TOPICS:
                drawn_topics = np.random.default_rng(topics).integers(0, population.shape[1], (options.draws, topics))
                drawn = population[:, drawn_topics]  # runs x draws x topics
                cells = []
                for method in METHODS.values():
                    low, high = method(drawn)
                    covered = ((low <= truth + 1e-12) & (high >= truth - 1e-12)).mean(-1)
                    tenth = np.quantile(covered, 0.1)
                    cells.append(f"{covered.mean():.1%} ({tenth:.0%}) {(high - low).mean():.3f}")
                print(f"| {name} | {measure} | {topics} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
