"""How much of the best run's lead is selection, and does the corrected lead and its interval hold?

    python benchmarks/winners.py QRELS RUNS [--worlds 1500]

The collection is the population: like runs (means within .02 of each other) take part, topics are drawn with
replacement, and the lead of the best of them over one that was named before, and over the second, is held against the
true lead of the same runs over all topics. Prints, by measure, runs and topics: the mean error of the plain and of the
corrected lead, how often the plain t interval and the corrected one hold the true lead, their mean widths, and in how
many worlds the two runs differ by the same on every topic drawn, so that there is no interval; those are left out.
"""

from __future__ import annotations

import argparse

import numpy as np

import rankbounds as rb
from rankbounds.evaluation.mean_intervals import student_quantile
from rankbounds.stats.winners import Lead, lead_over_baseline, lead_over_second

MEASURES = ("nDCG@10", "AP", "RR", "P@10")
WITHIN = 0.02


def held(found: Lead, drawn: np.ndarray, truth: np.ndarray) -> tuple[float, ...]:
    """Errors, coverage and widths of one world."""
    true = truth[found.run] - truth[found.against]
    apart = drawn[found.run] - drawn[found.against]
    half = student_quantile(0.975, apart.size - 1) * apart.std(ddof=1) / np.sqrt(apart.size)
    if np.isnan(found.ci_low):
        return (np.nan,) * 6
    return (
        found.lead - true,
        found.corrected_lead - true,
        abs(found.lead - true) <= half,
        found.ci_low <= true <= found.ci_high,
        2 * half,
        found.ci_high - found.ci_low,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("qrels")
    parser.add_argument("runs")
    parser.add_argument("--worlds", type=int, default=1500)
    options = parser.parse_args()
    scores = rb.evaluate(options.qrels, options.runs, MEASURES, bounds="none")
    names = "measure, best of, topics, against, plain error, corrected, plain coverage, corrected, width, none"
    print("|", names.replace(", ", " | "), "|")
    print("|---|---:|---:|---|---:|---:|---:|---:|---|---:|")
    for place, measure in enumerate(scores.measures):
        population = scores.value[:, :, place]
        truth = population.mean(axis=-1)
        good = np.argsort(-truth)[: int(0.7 * truth.size)]
        for runs in (5, 20):
            for topics in (25, 50):
                generator = np.random.default_rng(runs * topics)
                found: dict[str, list[tuple[float, ...]]] = {"baseline": [], "second": []}
                while len(found["second"]) < options.worlds:
                    near = np.flatnonzero(np.abs(truth - truth[generator.choice(good)]) <= WITHIN)
                    if near.size < runs + 1:
                        continue
                    picked = generator.choice(near, runs + 1, replace=False)
                    drawn = population[picked][:, generator.integers(0, population.shape[1], topics)]
                    found["baseline"].append(held(lead_over_baseline(drawn, runs), drawn, truth[picked]))
                    found["second"].append(held(lead_over_second(drawn[:runs]), drawn, truth[picked]))
                for against, worlds in found.items():
                    error, corrected, plain, covered, width, wider = np.nanmean(np.array(worlds, dtype=float), axis=0)
                    print(
                        f"| {measure} | {runs} | {topics} | {against} | {error:+.4f} | {corrected:+.4f} | {plain:.1%} "
                        f"| {covered:.1%} | {width:.3f}, {wider:.3f} | {np.isnan(worlds).any(axis=1).mean():.1%} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
