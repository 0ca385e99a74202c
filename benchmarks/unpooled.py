"""Do intervals for runs that were not pooled hold the truth? Groups are left out of pools.

    python benchmarks/unpooled.py QRELS RUNS [--name TREC-8] [--groups FILE | --groups-prefix WHERE] [--depth 5]...
                                  [--condense] [--draws 200] [-m MEASURE]... [--write]

For each depth and each group of runs in turn, the judgments are cut to the first documents of all *other* groups' runs:
the group was not pooled. Its runs are scored with these judgments by ``uncertainty``, and held against the score with
the full judgments of their own documents: of all of them, or of those down to the rank that the interval covers, where
a measure counts what else is relevant. Rows of a Markdown table, over runs of which more than a tenth of the score is
open: how many, how often the 0.95 interval holds the truth, the mean error of the expected score and of calling
unjudged documents non-relevant, and the mean width of the interval as a share of that of the certain bounds; then how
often it holds for all runs, and how often it holds the score with all of a run's own documents judged, however deep.
The same for differences: a run of the group minus runs of five others.

``--write`` puts the rows into docs/evidence.md.
``--condense`` takes documents without a judgment out of the runs, so that the truth is known; lists are cut at 100.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

import rankbounds as rb
from evidence import cells_of, write_rows
from rankbounds.arrays import Flags, Floats
from rankbounds.collection.inputs import Reading
from rankbounds.collection.order import ranks
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.collection.run_names import groups_by_prefix, read_groups
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.judging.pools import subset
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.probability.mean import draw_score, exact_score
from rankbounds.probability.models.chosen import ChosenModels
from rankbounds.probability.probable_differences import pair_columns
from rankbounds.rankings.topic_facts import TopicFacts

CONFIDENCE, LIST_LENGTH, OPEN, FAMILY = 0.95, 100, 0.1, re.compile("[A-Za-z]+")
MEASURES = ("RBP(p=0.8)", "nDCG@10", "AP@10", "AP@20", "Recall@10", "Recall@20")
COLUMNS = "pool of the other groups,measure,runs,coverage,error,non-relevant,share,all runs,all judged"
RIVALS, DIFFERENCE = (0, 3, 5, 11), ", A \N{MINUS SIGN} B"


class Cases:
    """One line of the table: cases of one measure, each with truth, expected score, interval and certain bounds."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, ...]] = []

    def add(
        self, truth: float, all_judged: float, base: float, mean: float, low: float, high: float, *bounds: float
    ) -> None:
        """Add a case: ``all_judged`` is the truth when all of the run's documents are judged, however deep."""
        self.rows.append((truth, all_judged, base, mean, low, high, *bounds))

    def line(self, what: str, measure: str) -> str:
        """The line of the table."""
        truth, all_judged, base, mean, low, high, least, most = np.array(self.rows).T
        held, held_all = ((low - 1e-9 <= each) & (each <= high + 1e-9) for each in (truth, all_judged))
        chosen = most - least > OPEN
        width, bounds = (high - low)[chosen].mean(), (most - least)[chosen].mean()
        error = np.nanmean((mean - truth)[chosen])
        return (
            f"| {what} | {measure} | {chosen.sum()} | {held[chosen].mean():.3f} | {error:+.4f} | "
            f"{(base - truth)[chosen].mean():+.4f} | {width / bounds:.2f} | {held.mean():.3f} of {held.size} | "
            f"{held_all[chosen].mean():.3f} |"
        )


class Collection:
    """Judgments, runs, their groups, and at which rank each run has each judged document."""

    def __init__(self, qrels: Qrels, runs: Sequence[Run], groups: dict[str, str], *, condense: bool) -> None:
        self.qrels, self.runs = qrels, [shorten(run, qrels, condense=condense) for run in runs]
        self.groups = groups
        self.rank = np.full((len(self.runs), len(qrels)), np.inf)
        for rank, run in zip(self.rank, self.runs, strict=True):
            row, judged = qrels.pairs.index.find(run.pairs)
            rank[judged] = ranks(run)[row]

    def members(self, group: str) -> list[int]:
        """The runs of a group."""
        return [at for at, run in enumerate(self.runs) if self.groups.get(run.name, run.name) == group]

    def pool(self, depth: int, without: Sequence[int]) -> Flags:
        """Which judgments a pool of this depth has when some runs do not contribute."""
        others = np.delete(self.rank, without, axis=0)
        flags: Flags = (others <= depth).any(axis=0)
        return flags

    def truth(self, known: Flags, judged: Sequence[int], measure: Measure, deepest: float = np.inf) -> Floats:
        """The mean scores of some runs when their own documents are judged as well, down to a rank."""
        rank = self.rank[list(judged)]
        own = np.isfinite(rank) & (rank <= deepest)
        return self.scores(known | own.any(axis=0), judged, measure)

    def scores(self, known: Flags, chosen: Sequence[int], measure: Measure) -> Floats:
        """The mean scores of some runs by some of the judgments."""
        runs = [self.runs[at] for at in chosen]
        return rb.evaluate(subset(self.qrels, known), runs, measure, bounds="none").value.mean(axis=1)[:, 0]

    def models(self, known: Flags, q: str) -> ChosenModels:
        """Probabilities from these judgments."""
        facts, assumptions = TopicFacts(subset(self.qrels, known)), Assumptions()
        return ChosenModels(q, None, self.runs, facts, assumptions, groups=self.groups)


def shorten(run: Run, qrels: Qrels, *, condense: bool) -> Run:
    """The first documents of each list; of those that have a judgment, if asked."""
    if condense:
        run = run.take(np.sort(qrels.pairs.index.find(run.pairs)[0]))
    return run.take(np.flatnonzero(ranks(run, "trec", "double") <= LIST_LENGTH))


def score(models: ChosenModels, at: int, measure: Measure, draws: int) -> tuple[float, ...]:
    """Base, mean, interval and certain bounds of one run."""
    if is_weighted_sum(measure):
        found = exact_score(models.unjudged(at, measure), measure, models.model_of(measure))
    else:
        found = draw_score(models, at, measure, draws, seed=0)
    bounds = found.value("low"), found.value("high")
    return (found.value("base"), found.value("mean"), *found.interval(CONFIDENCE), *bounds)


def leave_out(collection: Collection, name: str, depth: int, measures: Sequence[Measure], draws: int) -> Iterator[str]:
    """The lines of one depth."""
    cases = {(measure, kind): Cases() for measure in measures for kind in ("", DIFFERENCE)}
    names = list(dict.fromkeys(collection.groups.get(run.name, run.name) for run in collection.runs))
    firsts = {name: collection.members(name)[0] for name in names}
    for number, group in enumerate(names):
        members = collection.members(group)
        known = collection.pool(depth, members)
        models = collection.models(known, "groups")
        pool = models.depth.pool
        rivals = [firsts[other] for other in names if other != group]
        for measure in measures:
            # What an interval covers: all documents, or those down to the measure's depth where more count.
            most = max(pool, min(measure.cutoff or 2 * pool, 2 * pool))
            deepest = (np.inf if measure.list_only else most, np.inf)
            for at in members:
                truths = [float(collection.truth(known, [at], measure, each)[0]) for each in deepest]
                cases[measure, ""].add(*truths, *score(models, at, measure, draws))
            for rival in {rivals[(7 * number + step) % len(rivals)] for step in RIVALS}:
                pair = [members[0], rival]
                columns = pair_columns(models, measure, pair, CONFIDENCE, draws, 0)
                mean, _, _, _, low, high, ci_low, ci_high, _ = (float(column[0]) for column in columns)
                sides = [collection.truth(known, pair, measure, each) for each in deepest]
                *truths, base = (float(one - other) for one, other in (*sides, collection.scores(known, pair, measure)))
                cases[measure, DIFFERENCE].add(*truths, base, mean, ci_low, ci_high, low, high)
    for measure in measures:
        for kind in ("", DIFFERENCE):
            yield cases[measure, kind].line(f"{name}, first {depth}", f"{measure}{kind}")


def main(arguments: Iterable[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("qrels", type=Path)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--name", default="")
    parser.add_argument("--groups", type=Path)
    parser.add_argument("--groups-prefix")
    parser.add_argument("--depth", type=int, action="append", default=[])
    parser.add_argument("--condense", action="store_true")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("-m", "--measure", action="append", default=[])
    parser.add_argument("--write", action="store_true", help="put the rows into docs/evidence.md")
    options = parser.parse_args(None if arguments is None else list(arguments))
    runs = Reading().runs(str(options.runs))
    names = [run.name for run in runs]
    if options.groups:
        groups = read_groups(options.groups)
    elif options.groups_prefix:
        groups = groups_by_prefix(names, options.groups_prefix)
    else:  # the letters that a name begins with
        families = {name: FAMILY.match(name) for name in names}
        groups = {name: found.group().lower() if found else name for name, found in families.items()}
    collection = Collection(Reading().judgments(str(options.qrels)), runs, groups, condense=options.condense)
    measures = parse_measures(options.measure or MEASURES)
    print(f"| {' | '.join(COLUMNS.split(','))} |\n|---|{'---:|' * COLUMNS.count(',')}", flush=True)
    for depth in options.depth:
        for line in leave_out(collection, options.name, depth, measures, options.draws):
            print(line, flush=True)
            if options.write:
                write_rows("unpooled", [cells_of(line)])


if __name__ == "__main__":
    main()
