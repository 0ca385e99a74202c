"""What a reader of a run's scores must know beside the numbers, and the sentences that say it."""

from __future__ import annotations

from collections.abc import Sequence
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

    def __post_init__(self) -> None:
        for name in ("missing", "unknown"):
            object.__setattr__(self, name, list(getattr(self, name)))

    def in_brief(self, first_measure: Measure) -> str:
        """The notes as a cell of a table; empty where there is nothing to say."""
        parts = []
        if self.missing:
            parts.append(f"{len(self.missing)} topic{'s' * (len(self.missing) > 1)} missing")
        if self.tie_range is not None and self.tie_range >= 0.00005:
            parts.append(f"ties move {first_measure} by {self.tie_range:.4f}")
        return ", ".join(parts)


def topic_warnings(runs: Sequence[str], notes: Sequence[RunNotes], topics: str) -> list[str]:
    """Which runs lack judged topics, and which have topics that nobody judged, in sentences."""
    sentences = []
    lacking = [(run, noted.missing) for run, noted in zip(runs, notes, strict=True) if noted.missing]
    if lacking:
        what = "are scored as empty lists" if topics == "judged" else "are left out of its means"
        sentences.append(
            f"{_runs(len(lacking), len(runs), 'lacks', 'lack')} judged topics, which {what} ({_first_of(lacking)})."
        )
    extra = [(run, noted.unknown) for run, noted in zip(runs, notes, strict=True) if noted.unknown]
    if extra:
        sentences.append(
            f"{_runs(len(extra), len(runs), 'has', 'have')} topics without judgments, which are left out "
            f"({_first_of(extra)})."
        )
    return sentences


def some(names: Sequence[str], at_most: int = 5) -> str:
    """The first of these names, and how many more there are."""
    return ", ".join(names[:at_most]) + (f" and {len(names) - at_most} more" if len(names) > at_most else "")


def _first_of(noted: list[tuple[str, Sequence[str]]]) -> str:
    run, topics = noted[0]
    return f"{run}: {some(topics)}{'; ...' if len(noted) > 1 else ''}"


def _runs(concerned: int, number_of_runs: int, singular: str, plural: str) -> str:
    if number_of_runs == 1:
        return f"The run {singular}"
    return f"{concerned} of {number_of_runs} runs {singular if concerned == 1 else plural}"
