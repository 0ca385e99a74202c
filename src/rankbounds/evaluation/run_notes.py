"""What a reader of a run's scores must know beside the numbers, and the sentences that say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures import Measure
from rankbounds.phrases import some

if TYPE_CHECKING:
    from rankbounds.evaluation.scores import Scores


@dataclass(frozen=True)
class RunNotes:
    """What a reader of one run's scores must know."""

    missing: Sequence[str] = field(default_factory=list)
    unknown: Sequence[str] = field(default_factory=list)
    tied_topics: int = 0
    """How many of all the topics that were scored hold documents of equal score."""
    tie_range: float | None = None
    """How far the mean of the first measure moves between the worst and the best order of ties."""
    prepared: str = ""
    strange_documents: str = ""
    """Where not one document of the run is known to the judgments: what to know about their ids."""

    def __post_init__(self) -> None:
        for name in ("missing", "unknown"):
            object.__setattr__(self, name, list(getattr(self, name)))

    def in_brief(self, first_measure: Measure) -> str:
        parts = [self.prepared] if self.prepared else []
        if self.missing:
            parts.append(f"{len(self.missing)} topic{'s' * (len(self.missing) > 1)} missing")
        if self.tie_range is not None and self.tie_range >= NOTED_RANGE:
            parts.append(f"ties move {first_measure} by {self.tie_range:.4f}")
        return ", ".join(parts)


def topic_warnings(runs: Sequence[str], notes: Sequence[RunNotes], topics: str) -> list[str]:
    by_run = list(zip(runs, notes, strict=True))
    treated = "are scored as empty lists" if topics == "judged" else "are left out of its means"
    sentences = []
    for field_name, verbs, what in (
        ("missing", ("lacks", "lack"), f"judged topics, which {treated}"),
        ("unknown", ("has", "have"), "topics without judgments, which are left out"),
    ):
        concerned = [(run, found) for run, noted in by_run if (found := getattr(noted, field_name))]
        if concerned:
            several = len(concerned) > 1
            who = "The run" if len(by_run) == 1 else f"{len(concerned)} of {len(by_run)} runs"
            first = (
                f"{concerned[0][0]}: topic{'s' * (len(concerned[0][1]) > 1)} {some(concerned[0][1])}{'; ...' * several}"
            )
            sentences.append(f"{who} {verbs[several]} {what} ({first}).")
    sentences += [f"{run}: {noted.strange_documents}" for run, noted in by_run if noted.strange_documents]
    return sentences + [f"{run}: {words}." for run, noted in by_run if (words := alike_topics(noted))]


def alike_topics(noted: RunNotes) -> str:
    for how, key in TOPIC_KEYS.items():
        judged = {key(topic): topic for topic in noted.missing}
        pairs = [(topic, judged[key(topic)]) for topic in noted.unknown if key(topic) in judged]
        if pairs:
            ours, theirs = pairs[0]
            return (
                f'{len(pairs)} of its topics may be judged topics written differently: "{ours}" and "{theirs}" '
                f"differ in {how}"
            )
    return ""


def sparse_judgments(judged: Floats) -> str:
    """Suggest what works where hardly any first documents are judged (axes run, topic); perhaps empty."""
    known = ~np.isnan(judged)
    if judged.shape[1] < ENOUGH_TOPICS or not known.any(axis=1).all():
        return ""
    by_run = np.where(known, judged, 0.0).sum(axis=1) / known.sum(axis=1)
    if not 0 < by_run.max() < HARDLY_JUDGED:
        return ""
    return (
        f"Few documents are judged (judged@10 is below {HARDLY_JUDGED:.0%} for every run), so bounds of scores are "
        "wide. You can still use compare (bounds of a difference are narrower), similarity (needs no judgments), "
        "judge-next (lists what to judge), or sample and audit (correct a model's labels with a sample that people "
        "judge)."
    )


HARDLY_JUDGED, ENOUGH_TOPICS, NOTED_RANGE = 0.3, 10, 0.005
"""Of the first documents the share below which judgments are sparse; over so many topics; and what ties must move."""
TOPIC_KEYS: dict[str, Callable[[str], str]] = {
    "blanks": lambda topic: "".join(topic.split()),
    "leading zeros": lambda topic: topic.lstrip("0"),
    "case": str.casefold,
}


def notes_of(scores: Scores) -> list[str]:
    sentences = topic_warnings(scores.runs, scores.run_notes, scores.topics) if scores.run_notes else []
    if scores.without_relevant:
        have = "topic has" if len(scores.without_relevant) == 1 else "topics have"
        sentences.append(
            f"{len(scores.without_relevant)} {have} no relevant document ({some(scores.without_relevant)}): AP, nDCG, "
            "recall and the like are 0 there."
        )
    if scores.bounds in ("unjudged", "both") and (words := sparse_judgments(scores.judged)):
        sentences.append(words)
    if scores.open == "collection" and scores.most_relevant is None:
        without_limit = [str(measure) for measure in scores.measures if measure.vanishes]
        if without_limit:
            sentences.append(
                f"low is 0 for {', '.join(without_limit)}: no limit is known on how many relevant documents no run "
                "retrieved, and each lowers the score. Limit the number per topic with --most-relevant N "
                "(most_relevant=N)."
            )
    return sentences
