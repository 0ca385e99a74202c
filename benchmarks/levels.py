"""How often tests find a difference where there is none, and how often they find one that there is.

    python benchmarks/levels.py TREC8 COVID [--worlds N] [--parts pairs,families,mixed]

TREC8 and COVID are folders with ``qrels.txt`` and the runs (``runs``, or ``runs-top100``). The topics of a collection
are the population, and a world is a sample of them, drawn with replacement. In the population systems that are
neighbours in the ranking are made equal in one of two ways:

- *reweighted*: topics are drawn with the probabilities, as near to equal ones as possible, by which all systems have
  the same mean (exponential tilting). Scores stay what they are: a topic on which two systems score the same stays one.
- *shifted*: every system's mean is taken off its scores. A topic on which two systems score the same then has the
  difference of the shifts, so that measures with many such topics (RR, Success@1) get differences that are almost
  constant, which real ones are not.

Printed as Markdown, as docs/significance.md shows it: the share of worlds with any false difference at the level .05.
With 2,000 worlds its standard error is .005; methods that resample see 400 of them (.011). All of it takes some six
minutes on one processor.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import rankbounds as rb
from rankbounds.stats.corrections import CORRECTIONS, correct_p_values
from rankbounds.stats.significance import TESTS, Resampling, p_values, pairs_of

MEASURES = ("AP", "nDCG@10", "RR", "P@10", "Success@1")
ALPHA = 0.05
PAIR_TESTS = ("t", "randomization", "bootstrap", "wilcoxon", "sign")
METHODS = (
    ("t", "holm"), ("randomization", "holm"), ("wilcoxon", "holm"), ("sign", "holm"), ("bootstrap", "max-t"),
    ("t", "tukey"), ("t", "bh"),
)  # fmt: skip
"""The test of a pair, and the correction over all pairs."""
FAMILIES = ((10, 6), (25, 10), (50, 10), (50, 20))
"""Topics and systems."""
AT_ONCE = 100
"""Worlds at once."""
RESAMPLES, SHUFFLES = Resampling(4999), Resampling(999)
"""Of pairs alone, whose p-values are multiplied by the number of pairs, and of corrections that resample scores."""
RESAMPLED_SHARE = 5
"""Methods that resample see one world of so many."""
FEWEST = 0.5
"""Groups whose topics would count for fewer than this share of themselves are not made equal."""


def read_population(folder: Path, measures: tuple[str, ...]) -> np.ndarray:
    """Score a collection's runs: runs x topics x measures."""
    runs = next(folder / inside for inside in ("runs", "runs-top100") if (folder / inside).is_dir())
    return rb.evaluate(folder / "qrels.txt", runs, list(measures), bounds="none").value


def reweight(scores: np.ndarray) -> np.ndarray | None:
    """Find the probabilities of topics by which these systems (rows) have the same mean, by Newton's method."""
    apart = (scores[1:] - scores[:1]).T
    slope = np.zeros(apart.shape[1])
    for _ in range(60):
        likely = np.exp(apart @ slope - (apart @ slope).max())
        likely /= likely.sum()
        mean = likely @ apart
        if np.abs(mean).max() < 1e-10:
            return likely if 1 / (likely**2).sum() >= FEWEST * len(likely) else None
        spread = (apart * likely[:, None]).T @ apart - np.outer(mean, mean)
        step, share = np.linalg.lstsq(spread, mean, rcond=1e-10)[0], 1.0
        total = _log_sum(apart @ slope)
        while share > 1e-4 and _log_sum(apart @ (slope - share * step)) > total:
            share /= 2
        slope -= share * step
    return None


def _log_sum(exponents: np.ndarray) -> float:
    return float(exponents.max() + np.log(np.exp(exponents - exponents.max()).sum()))


def equal_groups(scores: np.ndarray, size: int, null: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """List groups of neighbours in the ranking that are equal in the population, with the probabilities of topics."""
    ordered = scores[np.argsort(-scores.mean(axis=1), kind="stable")]
    groups = []
    for start in range(len(ordered) - size + 1):
        group = ordered[start : start + size]
        if np.unique(group, axis=0).shape[0] < 2:
            continue
        if null == "shifted":
            groups.append((group - group.mean(axis=1, keepdims=True), np.full(group.shape[1], 1 / group.shape[1])))
        elif (likely := reweight(group)) is not None:
            groups.append((group, likely))
    return groups


def draw_worlds(
    groups: list[tuple[np.ndarray, np.ndarray]], topics: int, worlds: int, generator: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw worlds x systems x topics, some worlds after the other, with the number of each world's group."""
    cumulated = np.cumsum(np.stack([likely for _, likely in groups]), axis=-1)
    scores = np.stack([group for group, _ in groups])
    for begin in range(0, worlds, AT_ONCE):
        chosen = generator.integers(0, len(groups), min(AT_ONCE, worlds - begin))
        drawn = (generator.random((chosen.size, topics))[..., None] > cumulated[chosen][:, None, :-1]).sum(axis=-1)
        yield chosen, np.take_along_axis(scores[chosen], drawn[:, None, :], axis=-1)


def corrected(worlds: np.ndarray, test: str, correction: str) -> np.ndarray:
    """Test all pairs of every world as ``compare`` does: worlds x pairs."""
    first, second = pairs_of(worlds.shape[1])
    of_scores = CORRECTIONS[correction].of_scores
    if of_scores is not None:
        return np.concatenate([of_scores(worlds[[at]], first, second, SHUFFLES) for at in range(len(worlds))])
    apart = worlds[:, first] - worlds[:, second]
    apart[np.abs(apart) < 1e-12] = 0.0
    p = p_values(apart.reshape(-1, apart.shape[-1]), test, resampling=RESAMPLES).reshape(apart.shape[:2])
    return correct_p_values(p, correction)


def share_of_alarms(
    scores: np.ndarray, size: int, topics: int, null: str, methods: tuple[tuple[str, str], ...], worlds: int
) -> dict[tuple[str, str], float]:
    """Compute the share of worlds with any false difference, by method; nothing where no group can be made equal."""
    groups = equal_groups(scores, size, null)
    alarms, seen = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0)
    if not groups:
        return {}
    for _, drawn in draw_worlds(groups, topics, worlds, np.random.default_rng(topics * 1000 + size)):
        for method in methods:
            some = drawn[:: RESAMPLED_SHARE if resamples(*method) and size > 2 else 1]
            alarms[method] += int((corrected(some, *method) < ALPHA).any(axis=-1).sum())
            seen[method] += len(some)
    return {method: count / seen[method] for method, count in alarms.items()}


def resamples(test: str, correction: str) -> bool:
    """Does a method draw random numbers?"""
    return TESTS[test].resamples or CORRECTIONS[correction].resamples


def cell(share: float | None) -> str:
    """Write a share with three digits and without the 0 before the point."""
    return "-" if share is None else f"{share:.3f}".removeprefix("0")


def print_table(head: list[str], rows: list[list[str]]) -> None:
    """Print Markdown."""
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def pair_table(populations: dict[str, np.ndarray], worlds: int) -> None:
    """Print the levels of tests of one pair, by measure and number of topics."""
    methods = tuple((test, "none") for test in PAIR_TESTS)
    rows = []
    for name, scores in populations.items():
        for at, measure in enumerate(MEASURES):
            for topics in (5, 10, 25, 50):
                found = share_of_alarms(scores[..., at], 2, topics, "reweighted", methods, worlds)
                rows.append([name, measure, str(topics), *(cell(found.get(method)) for method in methods)])
    print("One pair, reweighted topics:\n")
    print_table(["collection", "measure", "topics", *PAIR_TESTS], rows)


def family_table(populations: dict[str, np.ndarray], null: str, worlds: int) -> None:
    """Print the chance of any false difference over all pairs, all systems being equal."""
    methods = METHODS if null == "reweighted" else METHODS[:1]
    rows = []
    for name, scores in populations.items():
        for at, measure in enumerate(MEASURES):
            for topics, size in FAMILIES:
                found = share_of_alarms(scores[..., at], size, topics, null, methods, worlds)
                if found:
                    rows.append([name, measure, f"{topics} x {size}", *(cell(found[method]) for method in methods)])
    print(f"All pairs of equal systems, {null}:\n")
    print_table(["collection", "measure", "topics x systems", *map(" + ".join, methods)], rows)


def mixed_table(populations: dict[str, np.ndarray], worlds: int) -> None:
    """Print false and true differences where five systems are equal, four differ from them, and one is far off."""
    methods = (("t", "holm"), ("t", "bonferroni"), *METHODS[1:])
    rows = []
    for name, all_scores in populations.items():
        for at, measure in enumerate(MEASURES[:3]):
            scores = all_scores[..., at]
            generator = np.random.default_rng(at)
            far = scores[np.argsort(scores.mean(axis=1))[: len(scores) // 10]]
            groups = []
            for group, likely in equal_groups(scores, 5, "reweighted"):
                others = scores[generator.choice(len(scores), 4, replace=False)]
                groups.append((np.concatenate([group, others, far[[generator.integers(len(far))]]]), likely))
            first, second = pairs_of(10)
            truth = np.stack([(group * likely).sum(axis=-1) for group, likely in groups])
            differ = np.abs(truth[:, first] - truth[:, second]) > 1e-6
            false, found, seen = (dict.fromkeys(methods, 0.0) for _ in range(3))
            for chosen, drawn in draw_worlds(groups, 50, worlds, generator):
                for method in methods:
                    step = slice(None, None, RESAMPLED_SHARE if resamples(*method) else 1)
                    separated, true = corrected(drawn[step], *method) < ALPHA, differ[chosen[step]]
                    false[method] += float((separated & ~true).any(axis=-1).sum())
                    found[method] += float(((separated & true).sum(axis=-1) / true.sum(axis=-1)).sum())
                    seen[method] += len(true)
            shares = [f"{cell(false[one] / seen[one])} / {cell(found[one] / seen[one])}" for one in methods]
            rows.append([name, measure, *shares])
    print("50 topics: five equal systems, four others, one far off; any false difference / share of true ones found:\n")
    print_table(["collection", "measure", *map(" + ".join, methods)], rows)


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs=2, type=Path, metavar="FOLDER")
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument("--parts", default="pairs,families,shifted,mixed")
    arguments = parser.parse_args()
    populations = {}
    for name, folder in zip(("TREC-8", "COVID"), arguments.folders, strict=True):
        populations[name] = read_population(folder, MEASURES)
    tables: dict[str, Callable[[], None]] = {
        "pairs": lambda: pair_table(populations, arguments.worlds),
        "families": lambda: family_table(populations, "reweighted", arguments.worlds),
        "shifted": lambda: family_table(populations, "shifted", arguments.worlds),
        "mixed": lambda: mixed_table(populations, arguments.worlds),
    }
    for part in arguments.parts.split(","):
        tables[part]()


if __name__ == "__main__":
    sys.exit(main())
