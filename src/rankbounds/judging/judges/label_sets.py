"""Sets of labels beside trusted ones: on which scale each is, what counts as relevant, and scores by each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import DataError, RankboundsWarning, UsageError, did_you_mean, warn
from rankbounds.evaluation import scoring as run_scoring
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.phrases import some
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import processors


def keep_labelled(labels: Qrels) -> Qrels:
    """The labels without documents that were only pooled; negative grades are 0, which is non-relevant."""
    labelled = labels.take(np.flatnonzero(labels.grade != POOLED_NOT_JUDGED))
    return Qrels._of_pairs(labelled.pairs, np.maximum(labelled.grade, 0.0))


@dataclass(frozen=True, eq=False)
class LabelSet:
    """Labels by one judge."""

    name: str
    labels: Qrels
    same_scale: bool
    """Do its grades mean what those of the trusted labels mean?"""
    rel: float
    own_rel: bool
    """Is ``rel`` another grade than measures name?"""

    @cached_property
    def labelled(self) -> Qrels:
        return keep_labelled(self.labels)

    @property
    def scale(self) -> str:
        return scale_words(self.labelled.grade)

    def measures(self, measures: Sequence[Measure]) -> list[Measure]:
        """What to score with on this scale, for measures on the scale of the trusted labels."""
        return [measure.at_level(self.rel) for measure in measures] if self.own_rel else list(measures)


def scale_words(grades: Floats) -> str:
    if not grades.size:
        return "none"
    if is_binary(grades):
        return "0/1"
    fractions = "" if (grades == np.round(grades)).all() else ", fractions among them"
    return f"{grades.min():g} to {grades.max():g}{fractions}"


def is_binary(grades: Floats) -> bool:
    return bool(np.isin(grades, (0.0, 1.0)).all())


def find_scales(
    trusted: Floats,
    sets: Mapping[str, Qrels],
    rel: float,
    labels_rel: float | Mapping[str, float] | None,
    same_scale: bool | None,
) -> list[LabelSet]:
    """The sets with their scales: the trusted one where highest grades are the same, unless it is said."""
    if isinstance(labels_rel, Mapping):
        for name in labels_rel:
            if name not in sets:
                raise UsageError(f'There are no labels "{name}".{did_you_mean(name, list(sets))}')
    chosen = []
    for name, labels in sets.items():
        grades = keep_labelled(labels).grade
        alike = same_scale if same_scale is not None else bool(grades.max() == trusted.max())
        level = labels_rel.get(name) if isinstance(labels_rel, Mapping) else labels_rel
        if level is not None and not level > 0:
            raise UsageError(f"The lowest grade that counts as relevant must be positive, not {level:g}.")
        if level is None and not alike and not is_binary(grades):
            raise DataError(
                labels.pairs.source.name,
                f'the labels "{name}" have grades {scale_words(grades)}, the trusted ones {scale_words(trusted)}: '
                "these are different scales.",
                f"Set the lowest of their grades that counts as relevant (--labels-rel {name}=GRADE, in Python "
                f'labels_rel={{"{name}": grade}}), or treat them as one scale (--same-scale).',
            )
        if level is None:
            level = rel if alike else 1.0
        chosen.append(LabelSet(name, labels, alike, level, own_rel=not alike or level != rel))
    return chosen


def keep_shared_topics(trusted: Qrels, sets: dict[str, Qrels], name: str) -> tuple[Qrels, dict[str, Qrels], list[str]]:
    """All labels of the topics that every set has; and the trusted ones' topics that are left out, with a warning."""
    judged, *others = (set(keep_labelled(labels).query_ids) for labels in (trusted, *sets.values()))
    of_sets = {other: judged & topics for other, topics in zip(sets, others, strict=True)}
    shared = set.intersection(*of_sets.values())
    if len(shared) < 2:
        lacking = next((other for other, topics in of_sets.items() if len(topics) < 2), next(iter(sets)))
        raise DataError(
            sets[lacking].pairs.source.name,
            f'the labels "{lacking}" share {len(shared)} topics with the trusted ones ({name}).',
            "Intervals over topics need two at least.",
        )
    left_out = [query for query in trusted.query_ids if query in judged and query not in shared]
    if left_out:
        warn(
            f"{len(left_out)} of {len(judged)} topics of {name} are left out, because not all labels have them "
            f"({some(left_out)})."
        )
    return trusted.filter(shared), {other: labels.filter(shared) for other, labels in sets.items()}, left_out


@dataclass(frozen=True, eq=False)
class Scoring:
    """Labels, and how runs are scored by them."""

    labels: Qrels
    measures: list[Measure]
    assumptions: Assumptions
    name: str = ""
    """What warnings that hold for these labels alone begin with."""


def score_by_labels(scorings: Sequence[Scoring], runs: Sequence[Run]) -> tuple[Floats, list[str]]:
    """Scores with axes labels, measure, run, topic, over the topics that everybody has; and the names of the runs."""
    heard: set[str] = set()
    several: list[Floats] = []
    query_ids: list[str] = []
    names: list[str] = []
    for place, scoring in enumerate(scorings):
        scoring.assumptions.check(scoring.measures)
        facts = TopicFacts(scoring.labels, scoring.assumptions.gain)
        jobs = Reading().runs_to_read(list(runs))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RankboundsWarning)
            how = run_scoring.Scoring(scoring.measures, scoring.assumptions, processors())
            scores = run_scoring.score_runs(facts, jobs, how)
        for message in (str(warning.message) for warning in caught):
            if message not in heard:
                warn(f"{scoring.name}: {message}" if place else message)
            heard.add(message)
        query_ids, names = query_ids or scores.query_ids, scores.runs
        order = [scores.query_ids.index(query) for query in query_ids]
        several.append(np.transpose(scores.value[:, order], (2, 0, 1)))
    stacked = np.stack(several)
    known = ~np.isnan(stacked).any(axis=(0, 1, 2))
    if np.count_nonzero(known) < 2:
        raise DataError("The runs share fewer than two labelled topics, too few for intervals over topics.")
    return stacked[..., known], names
