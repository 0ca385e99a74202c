"""A gate on every commit: how often is a false winner accepted, and what does it cost to prevent that?

    python benchmarks/gate_history.py TREC8 COVID [--histories 1000] [--write]

The topics of a collection (a folder as for ``levels.py``) are the population, and the runs, each minus its mean, are
candidates that are equally good. A history is a sample of 50 topics, drawn with replacement, and 200 candidates, each
compared with the baseline by the t test; one that is shown to be better becomes the baseline. The level of each look is
.05, or .05 / ((c + 1)(c + 2)) after c looks, which sums to .05. Then the price: from the first look on, or after 50
without one that is better, every candidate has a true gain over the first baseline; how many looks until one is
accepted? nDCG@10. It takes about a minute.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from evidence import write_rows
from levels import read_population
from rankbounds.stats.significance import p_values

LOOKS, TOPICS, ALPHA = 200, 50, 0.05
GAINS = (0.02, 0.05)
STARTS = (0, 50)
RULES = {"0.05": lambda _: ALPHA, "spent": lambda look: ALPHA / ((look + 1) * (look + 2))}


def simulate(scores: np.ndarray, level, histories: int, gain: float = 0.0, start: int = 0):
    """Accepted or not, the gain that was claimed, and the look of the first acceptance from ``start`` on."""
    generator = np.random.default_rng(8)
    equal = scores - scores.mean(axis=1, keepdims=True)
    topics = generator.integers(equal.shape[1], size=(histories, TOPICS))

    def drawn() -> np.ndarray:
        return equal[generator.integers(len(equal), size=histories)[:, None], topics]

    baseline = drawn()
    begun, found = baseline.copy(), np.full(histories, LOOKS + 1)
    for look in range(LOOKS):
        candidate = drawn() + (gain if look >= start else 0.0)
        apart = candidate - baseline
        better = (p_values(apart, "t") < level(look)) & (apart.mean(axis=1) > 0)
        baseline[better] = candidate[better]
        if look >= start:
            found[better & (found > LOOKS)] = look - start + 1
    return found, (baseline - begun).mean(axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="+", type=Path)
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = []
    for folder in options.collections:
        scores = read_population(folder, ("nDCG@10",))[..., 0]
        for name, level in RULES.items():
            found, claimed = simulate(scores, level, options.histories)
            row = [folder.name, name, f"{(found <= LOOKS).mean():.1%}", f"{claimed.mean():+.3f}"]
            for gain in GAINS:
                for start in STARTS:
                    looks = np.median(simulate(scores, level, options.histories, gain, start)[0])
                    row.append("> 150" if looks > LOOKS else f"{looks:.0f}")
            rows.append(row)
            print(" | ".join(row), flush=True)
    if options.write:
        write_rows("gates with a memory", rows)


if __name__ == "__main__":
    main()
