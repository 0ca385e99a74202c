"""Probabilities of relevance by topic and rank, from an urn fitted to what is judged at the top of each list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.probability.unjudged_documents import UnjudgedDocuments, joined_run
from rankbounds.probability.urn import UrnFit, fit_urn
from rankbounds.rankings.topic_facts import TopicFacts


@dataclass(frozen=True, eq=False)
class UrnEstimate:
    """Probabilities by topic and rank from an urn fitted to each run's judged beginnings."""

    fits: dict[str, UrnFit]
    topics: dict[str, Ints]
    chances: dict[str, Floats]

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """By run, topic and rank; deeper than the urn was followed, the last rank's probability goes on."""
        name = unjudged.run.name
        table = self.chances[name]
        place = np.full(len(unjudged.facts.query_ids), -1)
        place[self.topics[name]] = np.arange(self.topics[name].size)
        line = place[unjudged.topic]
        column = np.minimum(unjudged.rank, table.shape[1]) - 1
        # A topic whose first document is unjudged has no evidence of its own: the other topics' mean stands in.
        return np.where(line >= 0, table[line, column], table.mean(axis=0)[column])

    def __str__(self) -> str:
        if len(self.fits) == 1:
            fit = next(iter(self.fits.values()))
            return f"q from an urn with q={fit.q:.3g}, w={fit.relevance_ratio:.3g}"
        return "q from an urn for each run"


def estimate_urn(
    runs: Sequence[Run],
    facts: TopicFacts,
    assumptions: Assumptions,
    *,
    rel: float = 1.0,
    n_documents: int | None = None,
    depth: int = 100,
) -> UrnEstimate:
    """Fit an urn to each run's judged beginnings; it holds ``n_documents`` (else as many as the longest list)."""
    fits, topics, chances = {}, {}, {}
    for run in runs:
        prefix, topic, longest = judged_beginnings(run, facts, assumptions, rel=rel, depth=depth)
        if not topic.size:
            raise UsageError(
                f"{run.name}: the first document of no topic is judged; an urn cannot be fitted. Use --q logistic."
            )
        fit = fit_urn(prefix, n_documents or max(longest, depth))
        fits[run.name], topics[run.name] = fit, topic
        chances[run.name] = fit.chances(2 * depth)
    return UrnEstimate(fits, topics, chances)


def judged_beginnings(
    run: Run, facts: TopicFacts, assumptions: Assumptions, *, rel: float = 1.0, depth: int = 100
) -> tuple[Floats, Ints, int]:
    """Each list's relevance down to its first unjudged document (NaN from there), its topic, the longest length."""
    rows, topics, longest = [], [], 1
    for rankings in joined_run(run, facts, assumptions).batches:
        width = min(depth, rankings.width)
        relevant = np.full((rankings.length.size, depth), np.nan)
        inside = rankings.present[:, :width] & ~rankings.holes[:, :width]
        relevant[:, :width] = np.where(inside, rankings.grade[:, :width] >= rel, np.nan)
        relevant[np.cumsum(np.isnan(relevant), axis=-1) > 0] = np.nan
        some = ~np.isnan(relevant[:, 0])
        rows.append(relevant[some])
        topics.append(rankings.topic[some])
        longest = max(longest, int(rankings.length.max(initial=1)))
    return np.concatenate(rows), np.concatenate(topics), longest
