"""Do the intervals of audited labels cover, and how short are they? Random samples, real labels and made-up ones.

    export OPENBLAS_NUM_THREADS=1    # matrices are small: more threads take ten times the processor time
    python benchmarks/label_audit.py FOLDER [-m MEASURE]... [--draws 400] [--labels NAME...] [--question pairs|runs]
        [--write]
    python benchmarks/label_audit.py FOLDER --sequential [-m MEASURE]... [--draws 100]

FOLDER holds human.qrels, other *.qrels (the judges) and runs/. Judges that are made up: right in 90, 97, 99 and 100% of
documents, always wrong, one label for all, and everything relevant that one of the two runs has in its first ten. For
each judge, two runs at random and an order of judging are drawn again and again, and the judgments are people's.
docs/evidence.md has the rows of two judges and, of those that are made up, the lowest coverage and the greatest width;
--write puts them there (with --labels, those of these judges alone).

For differences (or the scores of the two runs): at 20, 50, 100 and 300 judgments how often the 95% interval holds the
truth, and half its mean width; last, at 300, the mean error over its standard deviation. --sequential: looks at 20 to
500 judgments, the share of orders in which the sequential interval misses the truth at any look; for pairs that differ
by .05 to .1, the mean number of judgments until it leaves out 0, and until the fixed-number interval would if looking
were free.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import rankbounds as rb
from evidence import cells_of, write_rows
from rankbounds.arrays import Floats
from rankbounds.collection.order import ranks
from rankbounds.collection.qrels import Qrels
from rankbounds.evaluation.question import Question
from rankbounds.judging.audits.audit import Audit
from rankbounds.judging.audits.estimates import CalibratedPool, Estimate
from rankbounds.judging.audits.expected_scores import Steps, expected_scores
from rankbounds.judging.audits.labelled_pool import JudgedSample, LabelledPool
from rankbounds.judging.audits.sample import draw_in_order, sizes_of_question
from rankbounds.judging.candidates import grades_of_pairs
from rankbounds.measures import Measure, parse_measure
from rankbounds.rankings.topic_facts import TopicFacts

CONFIDENCE = 0.95
SIZES = (20, 50, 100, 300)
LOOKS = (20, 30, 40, 50, 70, 100, 140, 200, 250, 300, 400, 500)
CLEAR = (0.05, 0.1)
UNDECIDED = 700
"""What counts as the number of judgments where 500 do not decide."""
NAMES = {"umbrela-gpt4": "UMBRELA", "binary-llama3.2": "Llama"}


class Trial:
    """Runs, a measure and a judge: orders of judging drawn again and again, judged by people."""

    def __init__(
        self,
        labels: Qrels,
        runs: list[rb.Run],
        human: Qrels,
        measure: Measure,
        *,
        pairs: bool,
        families: dict[str, str] | None = None,
    ) -> None:
        self.pool = LabelledPool.of(labels, runs, *Question.of({}, "nDCG@10"), families)
        self.measure, self.pairs = measure, pairs
        self.grade = np.maximum(grades_of_pairs(human, self.pool.labels.pairs), 0.0)
        facts = TopicFacts(Qrels._of_pairs(self.pool.labels.pairs, self.grade))
        steps = Steps.of(self.grade, facts, measure)
        scored = expected_scores(measure, self.pool, steps, steps.reached(self.grade))
        self.truth = np.array([value.mean() for value, _ in scored])
        self.sizes = sizes_of_question(measure, self.pool, differences=pairs)

    def draw(self, most: int, rng: np.random.Generator) -> CalibratedPool:
        """The first documents of a random order, judged."""
        order, probability = draw_in_order(self.sizes, rng)
        rows = order[:most]
        judgments = Qrels._of_pairs(self.pool.labels.pairs.take(rows), self.grade[rows])
        judged = JudgedSample(rows, probability[:most], judgments.grade, judgments, rows.size)
        return CalibratedPool.of(self.pool, judged, self.measure)

    def interval(self, estimate: Estimate, *, sequential: bool) -> tuple[Floats, Floats, Floats]:
        """The lower and upper ends of an audit's intervals, and its estimates."""
        judged = JudgedSample(*(np.zeros(estimate.weight.size) for _ in range(3)), None, 0)
        rows = Audit(self.pool.names, [estimate], judged, CONFIDENCE, self.pairs, sequential).rows()
        low, high, value = (np.array([row[name] for row in rows]) for name in ("ci_low", "ci_high", "estimate"))
        return low, high, value


def made_up(human: Qrels, rel: float, rng: np.random.Generator) -> Iterator[tuple[str, Qrels]]:
    """Judges of whom everything is known."""
    relevant = (human.grade >= rel).astype(float)
    for right in (0.9, 0.97, 0.99, 1.0):
        wrong = rng.random(len(human)) >= right
        yield f"{right:.0%} right", Qrels._of_pairs(human.pairs, np.where(wrong, 1 - relevant, relevant))
    yield "inverted", Qrels._of_pairs(human.pairs, 1 - relevant)
    yield "one label for all", Qrels._of_pairs(human.pairs, np.zeros(len(human)))


def favouring(run: rb.Run, human: Qrels) -> Qrels:
    """Labels that call relevant what a run has in its first ten."""
    first_ten, label = ranks(run, "trec", "double") <= 10, np.zeros(len(human))
    here, there = human.pairs.index.find(run.pairs)
    label[there[first_ten[here]]] = 1.0
    return Qrels._of_pairs(human.pairs, label)


def orders_of(
    labels: Qrels | None, runs: list[rb.Run], human: Qrels, measure: Measure, options: argparse.Namespace
) -> Iterator[tuple[Trial, CalibratedPool, Floats]]:
    """Again and again two runs, documents judged in a random order, and the truth that intervals are to hold."""
    rng, pairs = np.random.default_rng((options.seed, 1)), options.question == "pairs"
    for _ in range(options.draws):
        two = [runs[run] for run in rng.choice(len(runs), 2, replace=False)]
        trial = Trial(favouring(two[0], human) if labels is None else labels, two, human, measure, pairs=pairs)
        truth = np.array([trial.truth[1] - trial.truth[0]]) if pairs else trial.truth
        yield trial, trial.draw(LOOKS[-1] if options.sequential else SIZES[-1], rng), truth


def measured(
    labels: Qrels | None, runs: list[rb.Run], human: Qrels, measure: Measure, options: argparse.Namespace
) -> str:
    """The cells of a judge's row: how often intervals hold the truth, and half their width."""
    found: list[list[tuple[float, float, float]]] = []
    for trial, judged, truth in orders_of(labels, runs, human, measure, options):
        of_sizes = []
        for size in SIZES:
            estimate = judged.first(min(size, len(judged.judged))).estimate(measure, None)
            low, high, value = trial.interval(estimate, sequential=False)
            holds = (low - 1e-9 <= truth) & (truth <= high + 1e-9)
            of_sizes.append(np.stack([holds, (high - low) / 2, value - truth], axis=-1))
        found += np.stack(of_sizes, axis=1).tolist()
    numbers = np.array(found)
    covered, half = numbers[..., 0].mean(axis=0), numbers[..., 1].mean(axis=0)
    cells = [f"{share:.1%} ±{width:.3f}" for share, width in zip(covered, half, strict=True)]
    error = numbers[:, -1, 2]
    return " | ".join([str(options.draws), *cells, f"{error.mean() / max(error.std(), 1e-12):+.2f}"])


def looked_at(
    labels: Qrels | None, runs: list[rb.Run], human: Qrels, measure: Measure, options: argparse.Namespace
) -> str:
    """The cells of a judge's row: misses at any look, and judgments until a clear pair is decided."""
    missed, decided = [], []
    for trial, judged, truth in orders_of(labels, runs, human, measure, options):
        of_looks = []
        for look in LOOKS:
            estimate = judged.first(min(look, len(judged.judged))).estimate(measure, None)
            low, high, _ = trial.interval(estimate, sequential=True)
            fixed_low, fixed_high, _ = trial.interval(estimate, sequential=False)
            misses = (truth < low - 1e-9) | (truth > high + 1e-9)
            of_looks.append([misses[0], ((low > 0) | (high < 0))[0], ((fixed_low > 0) | (fixed_high < 0))[0]])
        missed.append(np.any(of_looks, axis=0)[0])
        if CLEAR[0] <= abs(truth[0]) <= CLEAR[1]:
            decided.append(np.array(of_looks)[:, 1:])
    looks = np.array([*LOOKS, UNDECIDED])
    settled = np.pad(np.array(decided, dtype=bool), ((0, 0), (0, 1), (0, 0)), constant_values=True)
    until, free = looks[np.argmax(settled, axis=1)].mean(axis=0)
    return f"{options.draws} | {np.mean(missed):.1%} | {len(decided)} | {until:.0f} | {free:.0f}"


def of_looks(row: list[str]) -> list[str]:
    """The cells that the page shows: all but how many pairs are clear."""
    return [*row[:2], *row[3:]]


def rows_to_write(found: dict[str, list[str]], real: list[str]) -> list[list[str]]:
    """Name, orders and sizes of each judge; made-up ones as one, by their lowest coverage and greatest width."""
    made = [row[1:-1] for name, row in found.items() if name not in real]
    rows = [[NAMES.get(name, name), *row[:-1]] for name, row in found.items() if name in real or len(made) == 1]
    if len(made) > 1:
        by_size = [[cell.split("% \N{PLUS-MINUS SIGN}") for cell in cells] for cells in zip(*made, strict=True)]
        worst = [(min(float(cell[0]) for cell in cells), max(cell[1] for cell in cells)) for cells in by_size]
        orders = next(iter(found.values()))[0]
        rows.append(["simulated", orders, *(f"{share:.1f}% \N{PLUS-MINUS SIGN}{width}" for share, width in worst)])
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-m", dest="measures", action="append")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--question", choices=("pairs", "runs"), default="pairs")
    parser.add_argument("--sequential", action="store_true", help="looks at 20 to 500 judgments")
    parser.add_argument("--labels", nargs="*", help="only these judges")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="put the rows into docs/evidence.md")
    options = parser.parse_args()
    human, runs = rb.read_qrels(options.folder / "human.qrels"), rb.read_runs(str(options.folder / "runs" / "*"))
    files = sorted(path for path in options.folder.glob("*.qrels") if path.stem != "human")
    measurement, columns = measured, f"orders | {' | '.join(map(str, SIZES))} | bias / sd"
    if options.sequential:
        measurement, columns = looked_at, "orders | missed at any look | clear pairs | until settled | free looks"
    print(f"| measure | labels | {columns} |\n|---|---|{'---:|' * (columns.count('|') + 1)}")
    for text in options.measures or ["RBP(p=0.8,rel=2)", "P(rel=2)@10", "nDCG@10", "AP(rel=2)"]:
        measure = parse_measure(text)
        judges: dict[str, Qrels | None] = {path.stem: rb.read_qrels(path) for path in files}
        found: dict[str, list[str]] = {}
        what = f"{measure}, {'A - B' if options.question == 'pairs' else 'scores'}"
        judges |= dict(made_up(human, 2.0 if measure.graded else measure.rel, np.random.default_rng(options.seed)))
        for name, labels in (judges | {"favours one run": None}).items():
            if not options.labels or name in options.labels:
                row = measurement(labels, list(runs), human, measure, options)
                print(f"| {what} | {NAMES.get(name, name)} | {row} |", flush=True)
                found[name] = cells_of(row)
        if options.write and options.sequential:
            write_rows("looks", [[str(measure), NAMES.get(name, name), *of_looks(row)] for name, row in found.items()])
        elif options.write:
            write_rows("audited labels", [[what, *row] for row in rows_to_write(found, [path.stem for path in files])])


if __name__ == "__main__":
    main()
