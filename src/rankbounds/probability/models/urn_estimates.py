"""Probabilities of relevance by topic and rank, from an urn fitted to what is judged at the top of each list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.probability.models.urn import UrnFit, fit_urn
from rankbounds.probability.retrieved_documents import looks_pooled
from rankbounds.probability.unjudged_documents import UnjudgedDocuments, joined_run
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

SHOWN = 5
"""Of so many runs the urns are told one by one."""


@dataclass(frozen=True, eq=False)
class UrnEstimate:
    """Probabilities by topic and rank from an urn fitted to each run's judged beginnings.

    They are averaged over what is left open about an urn's q and w. How they move together with these is part of the
    uncertainty of a mean: ``directions`` of each run, which are independent of those of the other runs.
    """

    fits: dict[str, UrnFit]
    topics: dict[str, Ints]
    outlooks: dict[str, tuple[Floats, Floats]]
    pooled: dict[str, bool]
    """For each run, does it look pooled: are its first documents judged?"""

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """By run, topic and rank; deeper than the urn was followed, the last rank's probability goes on."""
        return self._of(self.outlooks[unjudged.run.name][0], unjudged)

    def directions(self, unjudged: UnjudgedDocuments) -> Floats:
        """How each document's probability moves with the urn's q and w: a row for each, a column for each direction."""
        return self._of(self.outlooks[unjudged.run.name][1], unjudged)

    def _of(self, table: Floats, unjudged: UnjudgedDocuments) -> Floats:
        """What a table by list and rank has for each document."""
        topics = self.topics[unjudged.run.name]
        place = np.full(len(unjudged.facts.query_ids), -1)
        place[topics] = np.arange(topics.size)
        # A topic whose first document is unjudged has no evidence of its own: the other topics' mean stands in.
        table = np.concatenate((table, table.mean(axis=0)[None]))
        found: Floats = table[place[unjudged.topic], np.minimum(unjudged.rank, table.shape[1]) - 1]
        return found

    def moves(self, of_runs: Sequence[UnjudgedDocuments], document: Sequence[Ints]) -> Any:
        """Documents by directions of all runs, sparse; a document of several runs moves as in their mean.

        ``document`` has the number of each run's unjudged documents.
        """
        from scipy.sparse import csr_array

        copies = np.bincount(np.concatenate(document))
        values = [
            self.directions(unjudged) / copies[number][:, None]
            for unjudged, number in zip(of_runs, document, strict=True)
        ]
        width = values[0].shape[1]
        column = [np.broadcast_to(np.arange(width) + width * run, own.shape).ravel() for run, own in enumerate(values)]
        row = [np.repeat(number, width) for number in document]
        entries = np.concatenate([own.ravel() for own in values])
        return csr_array(
            (entries, (np.concatenate(row), np.concatenate(column))), shape=(copies.size, width * len(values))
        )

    def slopes(self, of_runs: Sequence[UnjudgedDocuments], document: Sequence[Ints]) -> Floats:
        """For each run, how the expected total weight of its relevant documents moves with every direction."""
        moves = self.moves(of_runs, document)
        return np.stack([moves[number].T @ own.weight for own, number in zip(of_runs, document, strict=True)])

    def remarks(self) -> list[str]:
        """What a reader must know, in sentences: which urns were fitted, and how far they can be trusted."""
        told = []
        if len(self.fits) > 1:
            some = [f"{name} {fit}" for name, fit in list(self.fits.items())[:SHOWN]]
            more = [f"and {len(self.fits) - SHOWN} more"] if len(self.fits) > SHOWN else []
            told.append(f"Urns, with what is plausible of each at 95%: {'; '.join([*some, *more])}.")
        told.append(
            "An urn takes all topics of a run for alike, which real ones are not: its intervals are too short there. "
            "For TREC-8's 129 runs, judged to depth 10, 3 hold the official mean. Trust the certain bounds."
        )
        return told

    def __str__(self) -> str:
        if len(self.fits) == 1:
            return f"q from an urn with {next(iter(self.fits.values()))}"
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
    fits, topics, outlooks, pooled = {}, {}, {}, {}
    for run in runs:
        batches = list(joined_run(run, facts, assumptions).batches)
        prefix, topic, longest = judged_beginnings(batches, rel=rel, depth=depth)
        if not topic.size:
            raise UsageError(
                f"{run.name}: the first document of no topic is judged; an urn cannot be fitted. Use --q logistic."
            )
        fit = fit_urn(prefix, n_documents or max(longest, depth))
        fits[run.name], topics[run.name], pooled[run.name] = fit, topic, looks_pooled(batches)
        outlooks[run.name] = fit.outlook(max(depth, int(fit.drawn[0].max()) + depth // 2))
    return UrnEstimate(fits, topics, outlooks, pooled)


def judged_beginnings(batches: Sequence[Rankings], *, rel: float = 1.0, depth: int = 100) -> tuple[Floats, Ints, int]:
    """Each list's relevance down to its first unjudged document (NaN from there), its topic, the longest length."""
    rows, topics, longest = [], [], 1
    for rankings in batches:
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
