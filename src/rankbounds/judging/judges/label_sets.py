"""Sets of labels beside trusted ones: on which scale each is, what counts as relevant, votes, and scores by each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import number_pairs
from rankbounds.errors import DataError, RankboundsWarning, UsageError, did_you_mean, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.evaluate import score_runs
from rankbounds.evaluation.run_notes import some
from rankbounds.judging.candidates import find_judgments
from rankbounds.judging.pools import subset
from rankbounds.measures import Measure
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import processors

MAJORITY, MEAN_GRADE, SHARE_OF_VOTES = "majority", "mean grade", "share of votes"


def labelled(labels: Qrels) -> Flags:
    """Which rows hold a label; the others were only pooled."""
    return labels.grade != POOLED_NOT_JUDGED


def grades_of(labels: Qrels) -> Floats:
    """The grade of every row; negative ones are non-relevant."""
    return np.maximum(labels.grade, 0.0)


def topics_of(labels: Qrels) -> set[str]:
    """The topics of which something is labelled."""
    numbers: Ints = np.unique(labels.pairs.topic[labelled(labels)])
    return {labels.query_ids[number] for number in numbers.tolist()}


@dataclass(frozen=True, eq=False)
class LabelSet:
    """Labels by one judge, or by the votes of several."""

    name: str
    labels: Qrels
    scale: str
    """Its grades in words."""
    same_scale: bool
    """Do its grades mean what those of the trusted labels mean?"""
    rel: float
    """The lowest of its grades that counts as relevant."""
    own_rel: bool
    """Is that another grade than measures name?"""
    is_vote: bool = False

    def measures(self, measures: Sequence[Measure]) -> list[Measure]:
        """What to score with on this scale, for measures on the scale of the trusted labels."""
        return [measure.at_level(self.rel) for measure in measures] if self.own_rel else list(measures)


def scale_words(grades: Floats) -> str:
    """The grades in use, in words."""
    if not grades.size:
        return "none"
    if is_binary(grades):
        return "0/1"
    whole = "" if (grades == np.round(grades)).all() else ", fractions among them"
    return f"{grades.min():g} to {grades.max():g}{whole}"


def used_grades(labels: Qrels) -> Floats:
    """The grades that these labels use, ascending."""
    return np.unique(grades_of(labels)[labelled(labels)])


def on_scales(
    trusted: Qrels,
    sets: Mapping[str, Qrels],
    rel: float,
    labels_rel: float | Mapping[str, float] | None,
    same_scale: bool | None,
) -> list[LabelSet]:
    """The sets with their scales: that of the trusted labels where the highest grades are the same, unless it is said.

    Of 0/1 labels there is only one thing that can count as relevant. Of any other scale it has to be said.
    """
    if isinstance(labels_rel, Mapping):
        for name in labels_rel:
            if name not in sets:
                raise UsageError(f'There are no labels "{name}".{did_you_mean(name, list(sets))}')
    of_trusted = used_grades(trusted)
    chosen = []
    for name, labels in sets.items():
        grades = used_grades(labels)
        alike = same_scale if same_scale is not None else bool(grades.max() == of_trusted.max())
        said = labels_rel.get(name) if isinstance(labels_rel, Mapping) else labels_rel
        if said is not None and not said > 0:
            raise UsageError(f"The lowest grade that counts as relevant must be positive, not {said:g}.")
        if said is not None:
            level = said
        elif alike:
            level = rel
        elif is_binary(grades):
            level = 1.0
        else:
            raise DataError(
                labels.pairs.source.name,
                f'the labels "{name}" have grades {scale_words(grades)}, the trusted ones {scale_words(of_trusted)}: '
                "these are different scales.",
                f"Say which grade of them counts as relevant (--labels-rel {name}=GRADE, in Python labels_rel={{"
                f'"{name}": grade}}), or that they are one scale (--same-scale).',
            )
        chosen.append(LabelSet(name, labels, scale_words(grades), alike, level, own_rel=not alike or level != rel))
    return chosen


def voted_sets(sets: Sequence[LabelSet], trusted: Qrels) -> list[LabelSet]:
    """Further labels by the votes of several sets, each pair by those that label it.

    The majority calls a document relevant when more than half do. The mean grade is for labels of one scale; where
    scales differ, the share of votes for "relevant" stands in its place. Of 0/1 labels and of shares, half is relevant.
    """
    if len(sets) < 2:
        raise UsageError("Votes need at least two sets of labels.")
    for taken in {MAJORITY, MEAN_GRADE, SHARE_OF_VOTES}.intersection(judge.name for judge in sets):
        raise UsageError(f'A set of labels is called "{taken}", as votes are: give it another name.')
    tables = [judge.labels.pairs.take(labelled(judge.labels)) for judge in sets]
    numbers = number_pairs(tables)
    size = 1 + max(int(number.max(initial=-1)) for number in numbers)
    grades, relevant = np.full((2, len(sets), size), np.nan)
    for place, (judge, number) in enumerate(zip(sets, numbers, strict=True)):
        grades[place, number] = grades_of(judge.labels)[labelled(judge.labels)]
        relevant[place, number] = grades[place, number] >= judge.rel
    voted = ~np.isnan(grades).all(axis=0)
    share, mean = (np.nanmean(column[:, voted], axis=0) for column in (relevant, grades))
    place_of_vote = np.cumsum(voted) - 1
    rows = np.unique(np.concatenate([place_of_vote[number] for number in numbers]), return_index=True)[1]
    query_ids = [table.topics[topic] for table in tables for topic in table.topic.tolist()]
    doc_ids = [doc for table in tables for doc in table.docs.to_list()]

    def labels_of(vote: Floats, name: str) -> Qrels:
        chosen = rows.tolist()
        return Qrels.from_columns(
            [query_ids[row] for row in chosen], [doc_ids[row] for row in chosen], vote, source=f"the {name}"
        )

    trusted_is_binary = is_binary(used_grades(trusted))
    majority = labels_of(np.where(share > 0.5, 1.0, 0.0), MAJORITY)
    found = [LabelSet(MAJORITY, majority, "0/1", trusted_is_binary, 1.0, own_rel=True, is_vote=True)]
    if all(judge.same_scale for judge in sets) and not trusted_is_binary:
        level, own_rel = sets[0].rel, any(judge.own_rel for judge in sets)
        return [*found, _vote_of(MEAN_GRADE, labels_of(mean, MEAN_GRADE), True, level, own_rel)]
    if all(judge.scale == "0/1" for judge in sets):
        return [*found, _vote_of(MEAN_GRADE, labels_of(mean, MEAN_GRADE), trusted_is_binary, 0.5, True)]
    return [*found, _vote_of(SHARE_OF_VOTES, labels_of(share, SHARE_OF_VOTES), trusted_is_binary, 0.5, True)]


def _vote_of(name: str, labels: Qrels, same_scale: bool, rel: float, own_rel: bool) -> LabelSet:
    return LabelSet(name, labels, scale_words(used_grades(labels)), same_scale, rel, own_rel, is_vote=True)


def is_binary(grades: Floats) -> bool:
    """Are these 0 and 1 alone?"""
    return bool(np.isin(grades, (0.0, 1.0)).all())


def of_shared_topics(trusted: Qrels, sets: dict[str, Qrels], name: str) -> tuple[Qrels, dict[str, Qrels], list[str]]:
    """All labels of the topics that every set has; and the trusted ones' topics that are left out, with a warning."""
    had = topics_of(trusted)
    shared = had.intersection(*(topics_of(labels) for labels in sets.values()))
    if len(shared) < 2:
        lacking = next((other for other, labels in sets.items() if len(had & topics_of(labels)) < 2), next(iter(sets)))
        raise DataError(
            sets[lacking].pairs.source.name,
            f'the labels "{lacking}" share {len(shared)} topics with the trusted ones ({name}).',
            "Intervals over topics need two at least.",
        )
    left_out = [query for query in trusted.query_ids if query in had and query not in shared]
    if left_out:
        warn(
            f"{len(left_out)} of {len(had)} topics of {name} are left out, since not all labels have them "
            f"({some(left_out)}).",
        )
    return trusted.filter(shared), {other: labels.filter(shared) for other, labels in sets.items()}, left_out


def of_shared_pairs(trusted: Qrels, sets: Sequence[LabelSet]) -> tuple[Qrels, list[LabelSet]]:
    """Of all labels, the pairs that everybody labelled."""
    everywhere = labelled(trusted).copy()
    for judge in sets:
        if not judge.is_vote:
            rows, here = find_judgments(trusted, judge.labels.pairs)
            has = np.zeros(len(trusted), dtype=bool)
            has[here[labelled(judge.labels)[rows]]] = True
            everywhere &= has
    kept = subset(trusted, everywhere)
    cut = []
    for judge in sets:
        there = np.zeros(len(judge.labels), dtype=bool)
        there[find_judgments(kept, judge.labels.pairs)[0]] = True
        cut.append(replace(judge, labels=subset(judge.labels, there)))
    return kept, cut


@dataclass(frozen=True, eq=False)
class Scoring:
    """Labels, and how runs are scored by them."""

    labels: Qrels
    measures: list[Measure]
    assumptions: Assumptions
    name: str | None = None
    """What to say it of where there is something to say that holds for these labels only; None: nothing is said."""


def scores_by_labels(scorings: Sequence[Scoring], runs: Sequence[Run]) -> tuple[Floats, list[str]]:
    """Scores with axes labels, measure, run, topic, over the topics that everybody has; and the names of the runs.

    Warnings about the first are passed on; of the others, those that are new.
    """
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
            scores = score_runs(facts, jobs, scoring.measures, scoring.assumptions, threads=processors())
        for message in (str(warning.message) for warning in caught):
            if message not in heard and (place == 0 or scoring.name is not None):
                subject = f"{scoring.name}: " if place else ""
                warn(f"{subject}{message}")
            heard.add(message)
        query_ids, names = query_ids or scores.query_ids, scores.runs
        order = [scores.query_ids.index(query) for query in query_ids]
        several.append(np.transpose(scores.value[:, order], (2, 0, 1)))
    stacked = np.stack(several)
    known = ~np.isnan(stacked).any(axis=(0, 1, 2))
    if np.count_nonzero(known) < 2:
        raise DataError("The runs share fewer than two labelled topics: nothing can be said of other topics.")
    return stacked[..., known], names
