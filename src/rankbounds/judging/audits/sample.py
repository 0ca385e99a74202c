"""Which documents people should judge, so that labels can be audited: a random order with known probabilities.

A document's probability of being drawn next grows with its weight in what is asked and with how unsure its label is,
which makes the audit's interval short for the number of judgments; and it is known, which makes the interval honest.
Every prefix of the order is a sample of its own, so that people may judge as many as they like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_count
from rankbounds.collection.run_names import GroupsLike
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.options import OrderOptions
from rankbounds.evaluation.question import Question
from rankbounds.judging.audits.expected_scores import Steps, check_measure, expected_scores
from rankbounds.judging.audits.labelled_pool import ONE_ORDER, LabelledPool
from rankbounds.judging.candidates import DocumentsToJudge
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.naming.parser import MeasureLike
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.results import Column
from rankbounds.stats.logistic import expit
from rankbounds.tables import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

TOP_SHARE = 0.3
"""Of the relevant documents, the share that is expected to have the highest grade, where grades count."""
NEGLIGIBLE = 1e-100
"""A share of about the largest size; a document with less is drawn as if it had so much."""
RICHNESS = (-1.0, 1.0)
"""How much richer topics may be than labels say, in logits: slopes that depend on it are looked at in each case."""
EVEN_SHARE = 0.1
"""Of the budget, the share that goes to all documents alike where weights are guesses."""
ROUNDING = 1e-12
"""Of the mean square of numbers, what their variance over runs may be and still be rounding."""
SHOWN = 10
"""How many documents a sample prints."""


@dataclass(frozen=True, eq=False, repr=False)
class Sample(DocumentsToJudge):
    """Documents in the order in which to judge them, each with the probability that it had of being drawn next."""

    order: Ints
    probability: Floats
    labelled: int
    """How many documents have a label."""
    counting: int
    """How many of them have any weight in what is asked."""
    question: str
    seed: int
    columns = (Column("query_id", "topic"), Column("doc_id", "document"), Column("order"), Column("probability"))

    def notes(self) -> list[str]:
        drawn = (
            f"{len(self):,} of {self.labelled:,} labelled documents, in the order to judge them, drawn for "
            f"{self.question} (seed {self.seed}); {self.counting:,} have a weight in it."
        )
        if self.counting <= len(self):
            drawn += " The sample contains every document with a weight, so the audit will be exact."
        return [drawn]

    def table(self) -> Table:
        table = super().table()
        if len(self) <= SHOWN:
            return table
        return replace(table, rows=[*table.rows[:SHOWN], ["...", f"{len(self) - SHOWN:,} more", "", ""]])


def draw_sample(
    labels: QrelsLike,
    runs: RunsLike,
    measure: MeasureLike = DEFAULT_MEASURES[0],
    *,
    budget: int,
    compare: tuple[str, str] | str | None = None,
    seed: int = 0,
    families: GroupsLike | None = None,
    **options: Unpack[OrderOptions],
) -> Sample:
    """Draw the documents that people should judge so that labels can be audited, in the order in which to judge them.

    Parameters
    ----------
    labels
        Labels of many documents, such as a language model's, as ``evaluate`` takes judgments.
    runs, **options
        As in ``evaluate``; ties in one fixed order.
    measure
        What is to be audited: a weighted sum over ranks (RBP, P, DCG), nDCG, AP or Recall.
    budget
        The exact number of documents to draw. A larger one with the same seed adds documents at the end.
    compare
        What is asked: the difference of two runs (their names), the differences of all pairs (``"all"``), or (None) the
        score of every run.
    seed
        Of the random numbers: the same seed draws the same documents.
    families
        The family of each run, as in ``compare_judges``: the question is then about means over families.

    Returns
    -------
    Sample
        ``rows()`` are dicts ``query_id, doc_id, order, probability``; add ``relevance`` to each, from the first on, and
        ``audit`` takes them. The probability is that of being drawn next, given the documents before it.

    Notes
    -----
    The next document is drawn from those that are left, in proportion to its weight in the question (for nDCG, AP and
    Recall, how fast the expected score moves with it) times how unsure its label is: of the lowest label, documents are
    taken to be relevant with probability 0.15, of the highest with 0.65. Documents without a weight come last.

    Examples
    --------
    >>> import rankbounds as rb
    >>> labels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
    >>> runs = {"one": {"q": ["a", "b", "c"]}, "two": {"q": ["a", "c", "d"]}}
    >>> sample = rb.judging.draw_sample(labels, runs, "P@2", budget=2, compare=("one", "two"), seed=1)
    >>> [(row["order"], row["doc_id"]) for row in sample.rows()]
    [(1, 'c'), (2, 'b')]
    """
    question, reading = Question.of(options, [measure], OrderOptions, one_order=ONE_ORDER, compare=compare)
    chosen, pool = check_measure(question.measure), LabelledPool.of(labels, runs, question, reading, families)
    check_count("The budget", budget)
    check_count("The seed", seed, least=0)
    if budget > len(pool):
        raise UsageError(
            f"The budget of {budget:,} documents is larger than the pool: {pool.source} has labels of {len(pool):,}."
        )
    pool = pool.of_question()
    sizes = sizes_of_question(chosen, pool, differences=compare is not None)
    order, probability = draw_in_order(sizes, np.random.default_rng(seed))
    pairs = pool.labels.pairs.take(order[:budget])
    return Sample(
        [pairs.topics[topic] for topic in pairs.topic.tolist()],
        pairs.docs.to_list(),
        np.arange(1, budget + 1),
        probability[:budget],
        len(pool),
        int(np.count_nonzero(sizes[0])),
        f"{question.words(pool.names)} in {chosen}",
        seed,
    )


def mean_squares(of_runs: Iterable[Floats], *, differences: bool) -> tuple[Floats, Floats]:
    """Over pairs of runs if ``differences`` (without the shared factor 2n / (n - 1)), and over single runs."""
    runs, total, squares = 0, np.zeros(()), np.zeros(())
    for numbers in of_runs:
        runs, total, squares = runs + 1, total + numbers, squares + numbers**2
    mean = squares / runs
    variance = mean - (total / runs) ** 2
    return np.where(variance > ROUNDING * mean, variance, 0.0) if differences else mean, mean


def sizes_of_question(measure: Measure, pool: LabelledPool, *, differences: bool) -> tuple[Floats, Floats]:
    """What each judgment is worth to what is asked, and to its runs' scores: weight times how unsure the label is."""
    top = max(float(pool.labels.grade.max()), measure.rel)
    levels = np.array([top / 2, top] if measure.graded else [top])
    steps = Steps(levels, TopicFacts(pool.labels, pool.question.assumptions.gain))
    prior = prior_chances(pool, steps)
    # Slopes are themselves guesses before anybody judged, except those of weighted sums: richer and poorer topics are
    # looked at, and a part of the budget goes to documents by no weight, so that none that turns out to matter was next
    # to impossible to draw.
    shifts, even = ((0.0,), 0.0) if is_weighted_sum(measure) else (RICHNESS, EVEN_SHARE)
    squared = np.zeros((2, len(pool)))
    for shift in shifts:
        chance = expit(np.log(prior / (1 - prior)) + shift)
        slopes = (slope for _, slope in expected_scores(measure, pool, steps, chance))
        squares = np.stack(mean_squares(slopes, differences=differences))
        squared += (squares * chance * (1 - chance)).sum(axis=1)
    size, of_scores = (one + even / (1 - even) * one.mean() for one in np.sqrt(squared))
    return size, of_scores


def prior_chances(pool: LabelledPool, steps: Steps) -> Floats:
    """How probably each document reaches each level, from its label alone, before anybody judged."""
    share = TOP_SHARE ** np.linspace(0.0, 1.0, steps.level.size)
    return share[:, None] * pool.prior


def draw_in_order(sizes: Sequence[Floats], rng: np.random.Generator) -> tuple[Ints, Floats]:
    """All documents in random order by successive sampling (Rosen 1972), and the probability of each to be the next."""
    order, probability = [], []
    for rows, scaled in _stages(sizes):
        turn = np.argsort(rng.standard_exponential(rows.size) / scaled, kind="stable")
        order.append(rows[turn])
        probability.append(scaled[turn] / np.cumsum(scaled[turn][::-1])[::-1])
    return np.concatenate(order), np.concatenate(probability)


def chances_in_order(sizes: Sequence[Floats], order: Ints) -> Floats:
    """The probability that each of these documents had of being the next, drawn by these sizes in this order."""
    chance = np.full(order.size, np.nan)
    for rows, scaled in _stages(sizes):
        size = np.zeros(sizes[0].size)
        size[rows] = scaled
        drawn = size[order]
        size[order] = 0.0
        left = np.cumsum(drawn[::-1])[::-1] + size.sum()
        np.divide(drawn, left, out=chance, where=drawn > 0)
    return chance


def _stages(sizes: Sequence[Floats]) -> Iterator[tuple[Ints, Floats]]:
    left: Flags = np.ones(sizes[0].size, dtype=bool)
    for size in (*sizes, np.ones(left.size)):
        rows = np.flatnonzero(left & (size > 0))
        if rows.size:
            left[rows] = False
            scaled = np.ldexp(size[rows], -np.frexp(size[rows].max())[1])  # about 1 at most, so that sums are numbers
            yield rows, np.maximum(scaled, NEGLIGIBLE)
