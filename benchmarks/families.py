"""Does the test of a judge's bias towards families of runs hold its level, and what does it find, by family size?

    python benchmarks/families.py FOLDER [--labels NAME...] [-m MEASURE] [--prefix 5] [--worlds 2000] [--write]
    python benchmarks/families.py FOLDER --audits 160 [--labels NAME...] [-m MEASURE]

FOLDER holds human.qrels, other *.qrels (the judges) and runs/. Families are runs whose names begin alike, those of
three runs or more, each cut to its first 1 and first 3 runs, so that as many are tested at each size. A judge's bias of
every run on every topic has its mean over topics taken out and the mean over runs put in place, so that no run is
favoured; topics are drawn with replacement. Level: in how many worlds any family is flagged. Power: leniency of .05 or
.1 towards all runs of one family, drawn at random, is planted; in how many worlds this family is flagged.
--audits: how often the 95% interval of an audit of a family against all other runs holds the true difference after 50,
100 and 300 judgments, and half its mean width, over so many orders of judging, of one family after the other.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import rankbounds as rb
from evidence import write_rows
from label_audit import Trial
from rankbounds.collection.run_names import groups_by_prefix
from rankbounds.judging.judges.families import bias_of_families

LENIENT = (0.0, 0.05, 0.1)
SIZES = (1, 3)
JUDGED = (50, 100, 300)
NAMES = {"umbrela-gpt4": "UMBRELA", "binary-llama3.2": "Llama"}


def found(trusted: np.ndarray, bias: np.ndarray, families: list, measure, worlds: int) -> list[float]:
    """The share of worlds with any flag where nothing is planted, and those that flag the family with a plant."""
    rng, counts = np.random.default_rng(0), np.zeros(len(LENIENT))
    for _ in range(worlds):
        topics = rng.integers(0, trusted.shape[1], trusted.shape[1])
        chosen = rng.integers(0, len(families))
        for place, lenient in enumerate(LENIENT):
            planted = bias[:, topics] + lenient * families[chosen][:, None]
            settings = {"alpha": 0.05, "confidence": 0.95}
            columns = bias_of_families(trusted[:, topics] + planted, trusted[:, topics], families, measure, settings)
            flags = columns["flag"]
            counts[place] += flags[chosen] == "favoured" if lenient else any(flags)
    return (counts / worlds).tolist()


def audited(folder: Path, judge: str, measure, of_run: dict[str, str], large: list[str], orders: int) -> str:
    """The coverage and mean half-width of audits of families, by the number of judgments."""
    human, labels = (rb.read_qrels(folder / f"{name}.qrels") for name in ("human", judge))
    runs = [rb.read_run(path) for path in sorted((folder / "runs").iterdir())]
    rng, found = np.random.default_rng(0), []
    trials = []
    for name in large:
        families = {run.name: "own" if of_run[run.name] == name else "others" for run in runs}
        trials.append(Trial(labels, runs, human, measure, pairs=True, families=families))
    for order in range(orders):
        trial = trials[order % len(trials)]
        drawn, truth = trial.draw(max(JUDGED), rng), trial.truth[1] - trial.truth[0]
        for size in JUDGED:
            low, high, _ = trial.interval(drawn.first(size).estimate(measure, None), sequential=False)
            found.append((low[0] <= truth <= high[0], (high[0] - low[0]) / 2))
    cells = np.array(found).reshape(orders, len(JUDGED), 2).mean(axis=0)
    return " | ".join(f"{held:.1%} ±{half:.3f}" for held, half in cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--labels", nargs="*", default=list(NAMES))
    parser.add_argument("-m", "--measure", default="RBP(p=0.8,rel=2)")
    parser.add_argument("--prefix", default="5")
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument("--audits", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    measure, runs = rb.parse_measure(arguments.measure), arguments.folder / "runs" / "*"
    human = rb.evaluate(arguments.folder / "human.qrels", str(runs), measure)
    trusted, of_run = human.value[:, :, 0], groups_by_prefix(human.runs, arguments.prefix)
    names = np.array([of_run[run] for run in human.runs])
    large = [name for name in dict.fromkeys(names.tolist()) if np.count_nonzero(names == name) >= max(SIZES)]
    rows = []
    for judge in arguments.labels:
        if arguments.audits:
            print(judge, audited(arguments.folder, judge, measure, of_run, large, arguments.audits), flush=True)
            continue
        labels = rb.read_qrels(arguments.folder / f"{judge}.qrels")
        level = measure if labels.grade.max() > 1 else measure.at_level(1.0)
        bias = rb.evaluate(labels, str(runs), level).value[:, :, 0] - trusted
        bias += bias.mean() - bias.mean(axis=1, keepdims=True)
        for size in SIZES:
            families = [np.isin(np.arange(names.size), np.flatnonzero(names == name)[:size]) for name in large]
            shares = found(trusted, bias, families, measure, arguments.worlds)
            rows.append((NAMES.get(judge, judge), str(size), *(f"{share:.1%}" for share in shares)))
            print(" | ".join(rows[-1]), flush=True)
    if arguments.write and rows:
        write_rows("families", rows)


if __name__ == "__main__":
    main()
