"""What a reader of a run's scores must know beside the numbers, and the sentences that say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rankbounds.measures import Measure


@dataclass(frozen=True)
class RunNotes:
    """What a reader of one run's scores must know."""

    missing: Sequence[str] = field(default_factory=list)
    """Judged topics that the run lacks."""
    unknown: Sequence[str] = field(default_factory=list)
    """Topics of the run that nobody judged."""
    tied_topics: int = 0
    """How many of all the topics that were scored hold documents of equal score."""
    tie_range: float | None = None
    """How far the mean of the first measure moves between the worst and the best order of ties."""
    prepared: str = ""
    """What was done to the run before it was scored."""
    strange_documents: str = ""
    """Where not one document of the run is known to the judgments: what to know about their ids."""

    def __post_init__(self) -> None:
        for name in ("missing", "unknown"):
            object.__setattr__(self, name, list(getattr(self, name)))

    def in_brief(self, first_measure: Measure) -> str:
        """The notes as a cell of a table; empty where there is nothing to say."""
        parts = [self.prepared] if self.prepared else []
        if self.missing:
            parts.append(f"{len(self.missing)} topic{'s' * (len(self.missing) > 1)} missing")
        if self.tie_range is not None and self.tie_range >= 0.00005:
            parts.append(f"ties move {first_measure} by {self.tie_range:.4f}")
        return ", ".join(parts)


def topic_warnings(runs: Sequence[str], notes: Sequence[RunNotes], topics: str) -> list[str]:
    """Which runs lack judged topics, and which have topics that nobody judged, in sentences."""
    by_run = list(zip(runs, notes, strict=True))
    what = "are scored as empty lists" if topics == "judged" else "are left out of its means"
    return [
        *_on_topics([(run, noted.missing) for run, noted in by_run], "lacks", "lack", f"judged topics, which {what}"),
        *_on_topics(
            [(run, noted.unknown) for run, noted in by_run],
            "has",
            "have",
            "topics without judgments, which are left out",
        ),
        *(f"{run}: {noted.strange_documents}" for run, noted in by_run if noted.strange_documents),
        *filter(None, (_alike(run, noted) for run, noted in by_run)),
    ]


def _on_topics(by_run: Sequence[tuple[str, Sequence[str]]], singular: str, plural: str, what: str) -> list[str]:
    """A sentence on the runs that have such topics, with those of the first; none where no run has."""
    concerned = [(run, topics) for run, topics in by_run if topics]
    if not concerned:
        return []
    verb = singular if len(concerned) == 1 else plural
    who = "The run" if len(by_run) == 1 else f"{len(concerned)} of {len(by_run)} runs"
    run, topics = concerned[0]
    return [f"{who} {verb} {what} ({run}: {some(topics)}{'; ...' if len(concerned) > 1 else ''})."]


def _alike(run: str, noted: RunNotes) -> str:
    """A topic of the run that nobody judged, and a judged one that it lacks, where they may be the same."""
    for how, key in TOPIC_KEYS.items():
        judged = {key(topic): topic for topic in noted.missing}
        pairs = [(topic, judged[key(topic)]) for topic in noted.unknown if key(topic) in judged]
        if pairs:
            ours, theirs = pairs[0]
            return (
                f'{run}: {len(pairs)} of its topics may be judged ones that are written otherwise: "{ours}" and '
                f'"{theirs}" differ in {how}.'
            )
    return ""


TOPIC_KEYS: dict[str, Callable[[str], str]] = {
    "blanks": lambda topic: "".join(topic.split()),
    "leading zeros": lambda topic: topic.lstrip("0"),
    "case": str.casefold,
}
"""In what ids of topics that mean the same may differ, and what they then have in common."""


def some(names: Sequence[str], at_most: int = 5) -> str:
    """The first of these names, and how many more there are."""
    return ", ".join(names[:at_most]) + (f" and {len(names) - at_most} more" if len(names) > at_most else "")
