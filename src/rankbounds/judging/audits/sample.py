"""Which documents people should judge, so that labels can be audited: a random sample with known probabilities.

A document's probability of being drawn grows with its weight in what is asked and with how unsure its label is, which
makes the audit's interval short for the number of judgments; and it is known, which makes the interval honest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.judging.audits.expected_scores import Steps, check_measure, expected_scores
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.judging.candidates import DocumentsToJudge
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.naming.parser import MeasureLike
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.results import Column
from rankbounds.tables import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import OrderOptions

SURE = 1 - 1e-9
"""From here on a probability counts as 1."""
TOP_SHARE = 0.3
"""Of the relevant documents, the share that is expected to have the highest grade, where grades count."""
NEGLIGIBLE = 1e-100
"""A share of the largest size; a document with less is drawn as if it had so much."""
EVEN_SHARE = 0.25
"""Of the budget, the share that goes to all documents alike where weights are guesses."""
ROUNDING = 1e-12
"""Of the mean square of numbers, what their variance over runs may be and still be rounding."""
SHOWN = 10
"""How many documents a sample prints."""


@dataclass(frozen=True, eq=False, repr=False)
class Sample(DocumentsToJudge):
    """Documents to be judged, each with the probability with which it was drawn."""

    probability: Floats
    labelled: int
    """How many documents have a label."""
    counting: int
    """How many of them have any weight in what is asked."""
    question: str
    seed: int
    columns = (Column("query_id", "topic"), Column("doc_id", "document"), Column("probability"))

    def notes(self) -> list[str]:
        """What a reader must know, in sentences."""
        certain = int(np.count_nonzero(self.probability >= SURE))
        drawn = (
            f"{len(self):,} of {self.labelled:,} labelled documents, drawn for {self.question} (seed {self.seed}); "
            f"{self.counting:,} have a weight in that, and {certain:,} were certain to be drawn."
        )
        if self.counting <= len(self):
            drawn += " All that have a weight are in the sample, so that the audit will be exact."
        return [drawn]

    def table(self) -> Table:
        """The first documents, for people."""
        whole = super().table()
        if len(self) <= SHOWN:
            return whole
        return replace(whole, rows=[*whole.rows[:SHOWN], ["...", f"{len(self) - SHOWN:,} more", ""]])


def draw_sample(
    labels: QrelsLike,
    runs: RunsLike,
    measure: MeasureLike = "RBP(p=0.8)",
    *,
    budget: int,
    compare: tuple[str, str] | str | None = None,
    seed: int = 0,
    **options: Unpack[OrderOptions],
) -> Sample:
    """Draw the documents that people should judge so that labels can be audited.

    Parameters
    ----------
    labels
        Labels of many documents, such as a language model's, as ``evaluate`` takes judgments.
    runs, **options
        As in ``evaluate``; ties in one fixed order.
    measure
        What is to be audited: a weighted sum over ranks (RBP, P, DCG), nDCG, AP or Recall.
    budget
        The exact number of documents to draw.
    compare
        What is asked: the difference of two runs (their names), the differences of all pairs (``"all"``), or (None) the
        score of every run.
    seed
        Of the random numbers: the same seed draws the same documents.

    Returns
    -------
    Sample
        ``rows()`` are dicts ``query_id, doc_id, probability``; add ``relevance`` to each, and ``audit`` takes them.

    Notes
    -----
    A probability is proportional to the document's weight in the question (for nDCG, AP and Recall, how fast the
    expected score moves with it) times how unsure its label is, and at most 1. Before anybody judged, a document of the
    lowest label is taken to be relevant with probability 0.15, one of the highest with 0.65, which only matters for how
    short the interval gets. Where the budget goes beyond the documents that have a weight, it is filled up with others
    that the runs hold, then with the rest.

    Examples
    --------
    >>> import rankbounds as rb
    >>> labels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
    >>> runs = {"one": {"q": ["a", "b", "c"]}, "two": {"q": ["a", "c", "d"]}}
    >>> sample = rb.judging.draw_sample(labels, runs, "P@2", budget=2, compare=("one", "two"), seed=1)
    >>> sample.rows()
    [{'query_id': 'q', 'doc_id': 'b', 'probability': 1.0}, {'query_id': 'q', 'doc_id': 'c', 'probability': 1.0}]
    """
    chosen = check_measure(parse_measure(measure))
    pool = LabelledPool.of(labels, runs, options)
    if budget < 1:
        raise UsageError(f"The budget must be at least 1, not {budget}.")
    if budget > len(pool):
        raise UsageError(
            f"The budget of {budget:,} documents is larger than the pool: {pool.source} has labels of {len(pool):,}."
        )
    pool = pool.about(compare)
    sizes = sizes_of_question(chosen, pool, differences=compare is not None)
    probability = inclusion_probabilities(sizes, budget)
    drawn = draw_systematically(probability, np.random.default_rng(seed))
    pairs = pool.labels.pairs.take(drawn)
    return Sample(
        [pairs.topics[topic] for topic in pairs.topic.tolist()],
        pairs.docs.to_list(),
        probability[drawn],
        len(pool),
        int(np.count_nonzero(sizes[0])),
        f"{asked(compare, pool)} in {chosen}",
        seed,
    )


def asked(compare: tuple[str, str] | str | None, pool: LabelledPool) -> str:
    """What is asked, in words."""
    if compare is None:
        return f"the score of {pool.names[0] if len(pool.names) == 1 else f'{len(pool.names)} runs'}"
    return f"the difference of {'all pairs of runs' if isinstance(compare, str) else ' and '.join(compare)}"


class SquaresOverRuns:
    """Sums over runs of some numbers and of their squares."""

    def __init__(self, of_runs: Iterable[Floats] = ()) -> None:
        self.runs, self.total, self.squares = 0, np.zeros(()), np.zeros(())
        for numbers in of_runs:
            self.add(numbers)

    def add(self, numbers: Floats) -> None:
        """Add the numbers of one more run."""
        self.runs, self.total, self.squares = self.runs + 1, self.total + numbers, self.squares + numbers**2

    def mean(self, *, differences: bool) -> Floats:
        """The mean of squares over runs; of differences, over pairs of runs, up to a factor that all documents share.

        That of pairs is 2n / (n - 1) times the variance over n runs. What may be rounding is 0.
        """
        mean = self.squares / self.runs
        variance = mean - (self.total / self.runs) ** 2
        return np.where(variance > ROUNDING * mean, variance, 0.0) if differences else mean


def sizes_of_question(measure: Measure, pool: LabelledPool, *, differences: bool) -> tuple[Floats, Floats]:
    """What each document's judgment is worth to what is asked, and to the scores of the runs that it is about.

    Weight times how unsure the label is: the root mean square over runs, or over pairs of runs.
    """
    steps, chance = prior_steps(measure, pool)
    squares = SquaresOverRuns(slope for _, slope in expected_scores(measure, pool, steps, chance))
    sizes = []
    for mean_square in (squares.mean(differences=differences), squares.mean(differences=False)):
        size = np.sqrt((mean_square * chance * (1 - chance)).sum(axis=0))
        if not is_weighted_sum(measure):
            # Slopes are themselves guesses before anybody judged: a part of the budget goes to documents by no weight,
            # so that none that turns out to matter was next to impossible to draw.
            size += EVEN_SHARE / (1 - EVEN_SHARE) * size.mean()
        sizes.append(size)
    return sizes[0], sizes[1]


def prior_steps(measure: Measure, pool: LabelledPool) -> tuple[Steps, Floats]:
    """The levels that documents may reach, and how probably so before anybody judged."""
    facts = TopicFacts(pool.labels, pool.assumptions.gain)
    top = max(float(pool.labels.grade.max()), measure.rel)
    if not measure.graded:
        return Steps(np.array([top]), facts), pool.prior[None, :]
    return Steps(np.array([top / 2, top]), facts), np.stack((pool.prior, TOP_SHARE * pool.prior))


def inclusion_probabilities(sizes: Sequence[Floats], budget: int) -> Floats:
    """Probabilities proportional to sizes, at most 1, that sum to the budget.

    Where there are more to draw than documents of the first sizes, all of these are drawn, and others by the next; in
    the end all documents alike.
    """
    probability = np.zeros(sizes[0].size)
    for size in (*sizes, np.ones(probability.size)):
        free = (probability == 0) & (size > 0)
        left = budget - round(float(probability.sum()))
        if left <= 0:
            break
        probability[free] = _proportional(size[free], left) if left < np.count_nonzero(free) else 1.0
    return probability


def _proportional(size: Floats, budget: int) -> Floats:
    """As many of the largest at 1 as needed for the others, in proportion, to be below 1."""
    order = np.argsort(-size, kind="stable")
    size = np.ldexp(size, -np.frexp(size.max())[1])  # about 1 at the most, so that sums and quotients are numbers
    size = np.maximum(size, NEGLIGIBLE * size.max())  # smaller ones have no proportion that numbers can hold
    falling = size[order]
    rest = np.cumsum(falling[::-1])[::-1]
    number_certain = int(np.argmax(falling * (budget - np.arange(size.size)) < rest * SURE))
    probability = np.ones(size.size)
    others = order[number_certain:]
    probability[others] = size[others] * ((budget - number_certain) / rest[number_certain])
    return probability


def draw_systematically(probability: Floats, rng: np.random.Generator) -> Ints:
    """Documents drawn with exactly these probabilities, as many as they sum to, in their order.

    They are laid end to end in random order, each as long as its probability, and every whole step from a random start
    on hits one.
    """
    certain: Flags = probability >= SURE
    others = rng.permutation(np.flatnonzero((probability > 0) & ~certain))
    ends = np.cumsum(probability[others])
    drawn = np.flatnonzero(certain)
    if ends.size:
        number_drawn = round(float(ends[-1]))
        ends *= number_drawn / ends[-1]
        hit = np.searchsorted(ends, rng.random() + np.arange(number_drawn), side="right")
        drawn = np.concatenate((drawn, others[np.minimum(hit, others.size - 1)]))
    return np.sort(drawn)
