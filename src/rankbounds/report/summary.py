"""The first thing a reader sees: what the report says, in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison import Comparison, Evidence, wording
from rankbounds.evaluation.score_differences import merge_equal, merit, merit_of_range, tolerant_difference
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.stats.rank_intervals import words as rank_words
from rankbounds.stats.significance import pairs_of
from rankbounds.tables import percent

LITTLE_JUDGED = 0.8
"""Below this share of judged documents in the first ten, a score rests on documents that nobody looked at."""
NAMED = 12
DOUBTS = ("Is it noise?", "Could ")
"""How those sentences of a verdict on two runs begin that the page opens with."""


def sentences(scores: Scores, compared: Comparison | None, content: dict[str, Any]) -> list[str]:
    """Who leads and how sure that is, whether measures agree, what unjudged and tied documents could change."""
    measure, runs = scores.measures[0], scores.runs
    if compared is not None and len(runs) == 2:
        scored, *answers = compared.sentences()
        said = [scored, *(answer for answer in answers if answer.startswith(DOUBTS))]
        said += [compared.agreement()] if len(scores.measures) > 1 else []
        return [*said, *(_coverage(scores) if content["lists"] is not None else [])]
    mean = scores.mean()
    means = mean.value[:, 0, 0] if compared is None else compared.numbers.means()[0]
    label = f"{measure} (mean over topics)" if compared is not None and measure.total == "sum" else str(measure)
    leaders = leading(scores, 0)
    leader, alone = leaders[0], len(leaders) == 1
    ahead = "lowest, which is best" if measure.lower_is_better else "highest"
    low, high = mean.ci_low[leader, 0, 0], mean.ci_high[leader, 0, 0]
    sure = f", 95% (topics) [{low:.4f}, {high:.4f}]" if compared is None and low == low else ""
    topics = len(scores.query_ids)
    score = f"{label} {means[leader]:.4f}{sure} over {topics} topic{'s' * (topics != 1)}"
    said = [f"{counted(leaders, runs)} score{'s' * alone} {ahead}: {score}."]
    if compared is not None:
        said += [*_how_sure(compared, leader, alone=alone), *_over_measures(scores)]
    return [*said, *(_coverage(scores) if content["lists"] is not None else [])]


def heading(runs: Sequence[str]) -> str:
    if len(runs) == 2:
        return f"{runs[1]} against {runs[0]}"
    return f"{len(runs)} runs compared" if len(runs) > 2 else f"Scores of {runs[0]}"


def leading(scores: Scores, place: int) -> list[int]:
    """The runs of the best mean by one measure; several where they are level."""
    merits = merit(merge_equal(scores.mean().value[:, 0, place]), scores.measures[place])
    return np.flatnonzero(merits == merits.max()).tolist()


def _how_sure(compared: Comparison, leader: int, *, alone: bool) -> list[str]:
    runs, settings = compared.runs, compared.settings
    assert compared.numbers.separated is not None
    separated = compared.numbers.separated[0]
    first, second = pairs_of(len(runs))
    not_separated = ((first == leader) | (second == leader)) & ~separated
    alike = (first[not_separated] + second[not_separated] - leader).tolist()
    rows = compared.numbers.system_rows[: len(runs)]
    said, whose = [], "it" if alone else runs[leader]
    if rows[leader]["rank_low"] is not None:
        place = rank_words(rows[leader]["rank_low"], rows[leader]["rank_high"])
        sure = f"{1 - settings['alpha']:.0%} confidence for all runs at once"
        said.append(f"Among the {len(runs)} runs, {whose} ranks {place} ({sure}).")
    like = "Every other run is significantly worse."
    if alike:
        like = f"Not separable from {whose}: {counted(alike, runs)}; chance alone can produce differences this large."
    apart = int(separated.sum())
    rest = separated.size - apart
    return [
        *said,
        like,
        f"Of all {separated.size:,} pairs of runs, {apart:,} differ{'s' * (apart == 1)} significantly and {rest:,} "
        f"do{'es' * (rest == 1)} not ({settings['tested_by']}, level {settings['alpha']:g}).",
        *compared[compared.measures[0]].winner().words().splitlines(),
    ]


def _over_measures(scores: Scores) -> list[str]:
    if len(scores.measures) < 2:
        return []
    by_leader: dict[str, list[Measure]] = {}
    leaders = [leading(scores, place) for place in range(len(scores.measures))]
    for several, measure in zip(leaders, scores.measures, strict=True):
        by_leader.setdefault(counted(several, scores.runs), []).append(measure)
    all_of = "Both measures" if len(leaders) == 2 else f"All {len(leaders)} measures"
    if len(by_leader) == 1:
        said = [f"{all_of} name the same leader."]
    elif everywhere := sorted(set(leaders[0]).intersection(*leaders[1:])):
        lead = f"{counted(everywhere, scores.runs)} lead{'s' * (len(everywhere) == 1)}"
        said = [f"{lead} by {all_of.lower()}, by some of them together with others."]
    else:
        parts = [
            f"{leader} by {wording.listed([str(measure) for measure in named])}" for leader, named in by_leader.items()
        ]
        said = [f"The measures disagree about the leader: {'; '.join(parts)}."]
    return said


def _coverage(scores: Scores) -> list[str]:
    judged = scores.mean().judged[:, 0]
    weak = [run for run in np.argsort(judged, kind="stable").tolist() if judged[run] < LITTLE_JUDGED]
    if not weak:
        if judged.min() >= 1:
            return ["All of every run's top 10 documents are judged."]
        return [f"The fewest top 10 documents are judged for {scores.runs[judged.argmin()]}: {percent(judged.min())}."]
    return [
        f"Fewer than {LITTLE_JUDGED:.0%} of the top 10 documents of {counted(weak, scores.runs)} are judged "
        f"({'lowest: ' * (len(weak) > 1)}{percent(judged[weak[0]])})."
    ]


def counted(chosen: Sequence[int], runs: Sequence[str]) -> str:
    if len(chosen) <= NAMED:
        return wording.listed([runs[run] for run in chosen])
    return f"{len(chosen)} of {len(runs)} runs"


def best_first(scores: Scores) -> list[int]:
    merits = merit(merge_equal(scores.mean().value[:, 0, 0]), scores.measures[0])
    return np.argsort(-merits, kind="stable").tolist()


def doubts_of(scores: Scores, compared: Comparison | None, evidence: Evidence | None) -> list[dict[str, Any]]:
    """By measure the leader, and how many other runs each doubt is known of, and could put ahead of the leader."""
    if compared is None or compared.numbers.separated is None or len(scores.runs) < 3:
        return []
    first, second = pairs_of(len(scores.runs))
    mean, ends = scores.mean(), None if evidence is None else evidence.over_ties(scores.measures)
    order = best_first(scores)

    def within_reach(low: Floats, high: Floats, measure: Measure) -> Floats:
        """By run: by how much its most is above the leader's least; NaN where one of them is unknown."""
        least, most = merit_of_range(low, high, measure)
        return tolerant_difference(most, least[leader])

    doubts = []
    for at, measure in enumerate(scores.measures):
        leader = next(run for run in order if run in leading(scores, at))
        others = np.arange(len(scores.runs)) != leader
        apart = compared.numbers.separated[at, (first == leader) | (second == leader)]
        row: dict[str, Any] = {"leader": scores.runs[leader], "noise": [apart.size, int((~apart).sum())]}
        if evidence is not None and ends is not None:
            unjudged = np.full(others.size, np.inf)
            if measure.list_only and scores.bounds in ("unjudged", "both"):  # most runs cannot reach the leader at all
                unjudged = within_reach(mean.low[:, 0, at], mean.high[:, 0, at], measure)
            near = np.flatnonzero(others & ~(unjudged <= 0))
            unjudged[near] = evidence.greatest_leads(measure, near, leader)
            for name, lead in (("ties", within_reach(ends[0, :, at], ends[1, :, at], measure)), ("unjudged", unjudged)):
                row[name] = [int((~np.isnan(lead[others])).sum()), int((lead[others] > 0).sum())]
        doubts.append(row)
    return doubts
