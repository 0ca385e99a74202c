"""What is wrong with a run file, what its ties are, and how far they move its scores."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.inputs import RunToRead, judgments_from, runs_to_read
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run, unique_names
from rankbounds.errors import DataError, RankboundsWarning
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.score_differences import better, equal
from rankbounds.files import formats, named_columns, trec
from rankbounds.files.opening import STANDARD_INPUT, Text, plain_name, read_text
from rankbounds.measures import Measure, parse_measure, parse_measures
from rankbounds.rankings.order import ranked_rows
from rankbounds.threads import in_threads, processors

COVERAGE_DEPTH = 10
RESIDUAL_MEASURE = "RBP(p=0.8)"


@dataclass(frozen=True)
class Problem:
    """Something that makes a line, or the whole file, unusable as it stands."""

    place: str
    kind: str
    """``fields``, ``score``, ``rank``, ``duplicate`` or ``file``."""
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True)
class TieEffect:
    """The mean of a measure under trec_eval's order of ties, over all orders, and between the worst and the best."""

    measure: str
    value: float
    expected: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far ties can move the mean."""
        return 0.0 if equal(self.high, self.low) else self.high - self.low


@dataclass(frozen=True)
class Diagnosis:
    """One run's file, its ties, and its contradictions. Examples are sentences that name file and line."""

    run: str
    file: str
    lines: int = 0
    topics: int = 0
    problems: Sequence[Problem] = ()
    tied_documents: int = 0
    """Documents with the score of the one before them, once ranked by score."""
    tied_topics: int = 0
    tied_topics_top10: int = 0
    """Topics in which a tie reaches into the first ten ranks."""
    group_sizes: dict[int, int] = field(default_factory=dict)
    """How many tied groups there are of each size."""
    contradictions_rank: int | None = None
    """Neighbours by score whose stated ranks say the opposite; None where the run states no ranks."""
    contradictions_line: int = 0
    """Neighbouring lines of which the second has the higher score."""
    exponent_mistakes: int = 0
    """Those of them that are in order when exponents are ignored, as a text sort does: -1.37 before -7.8e-05."""
    rank_gap_topics: int = 0
    """Topics whose stated ranks are not 1, 2, 3, ... (or 0, 1, 2, ...)."""
    single_precision_ties: int = 0
    """How many further documents would be tied if scores were read in single precision."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    missing_topics: Sequence[str] = ()
    judged: float | None = None
    """The share of the first ten documents that is judged."""
    residual: float | None = None
    """What is open in RBP(p=0.8) because documents are unjudged."""
    effects: Sequence[TieEffect] = ()

    @property
    def errors(self) -> int:
        """How many problems the file has."""
        return len(self.problems)

    @property
    def largest_group(self) -> int:
        """The size of the largest group of equal scores."""
        return max(self.group_sizes, default=min(self.topics, 1))

    @property
    def sound(self) -> bool:
        """Is nothing wrong? Ties are not wrong."""
        return not (
            self.errors
            or self.contradictions_rank
            or self.contradictions_line
            or self.rank_gap_topics
            or self.missing_topics
        )

    def summary(self) -> dict[str, Any]:
        """The row of this run in a table of all."""
        names = (
            "run", "file", "lines", "topics", "errors", "tied_documents", "tied_topics", "contradictions_rank",
            "contradictions_line", "largest_group",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def details(self) -> dict[str, Any]:
        """Everything else, as JSON can hold it."""
        kinds = Counter(problem.kind for problem in self.problems)
        return {
            "duplicates": kinds["duplicate"],
            "bad_lines": sum(kinds[kind] for kind in ("fields", "score", "rank")),
            "problems": [str(problem) for problem in self.problems],
            "rank_gap_topics": self.rank_gap_topics,
            "exponent_mistakes": self.exponent_mistakes,
            "single_precision_ties": self.single_precision_ties,
            "tied_topics_top10": self.tied_topics_top10,
            "group_sizes": {str(size): count for size, count in self.group_sizes.items()},
            "examples": self.examples,
        }


def diagnose(
    runs: Any,
    *,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    examples: int = 3,
    progress: Callable[[int, int], None] | None = None,
) -> list[Diagnosis]:
    """Check runs: paths, globs, folders, or ``Run``s. With judgments also say how far ties move each measure.

    A line that cannot be used does not stop the diagnosis: it is reported, and the rest of the file is looked at.
    """
    judgments = None if qrels is None else judgments_from(qrels)
    chosen = parse_measures(measures)
    sources = runs_to_read(runs)
    if judgments is not None:
        judgments.pairs.index  # noqa: B018 (built once, before threads share it)

    def look(source: RunToRead) -> Diagnosis:
        return _diagnose_one(source, judgments, chosen, examples)

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)  # what they would say is in the diagnosis
        for one in in_threads(look, sources, processors()):
            found.append(one)
            if progress:
                progress(len(found), len(sources))
    names = unique_names([one.run for one in found], [one.file for one in found])
    return [replace(one, run=name) for one, name in zip(found, names, strict=True)]


def _diagnose_one(source: RunToRead, qrels: Qrels | None, measures: list[Measure], examples: int) -> Diagnosis:
    if source.path is None:
        given = source.read()
        contents = _Contents(given, (), len(given))
        file = given.pairs.source.name
    else:
        contents, file = _read(source.path, source.read), source.path
    run = contents.run
    if run is None:
        return Diagnosis(source.name or plain_name(file), file, contents.lines, problems=contents.problems)
    found = Diagnosis(source.name or run.name, file, contents.lines, len(run.query_ids), contents.problems)
    found = _with_ties(found, run)
    found = _with_contradictions(found, contents, run, examples)
    return found if qrels is None else _with_effects(found, run, qrels, measures)


@dataclass(frozen=True)
class _Contents:
    """A file as far as it can be used, and how to find a row of it again."""

    run: Run | None
    problems: Sequence[Problem]
    lines: int
    line_numbers: Sequence[int] | None = None
    tokens: Sequence[str] | None = None

    def where(self, row: int) -> str:
        assert self.run is not None
        pairs = self.run.pairs
        return pairs.where(row) if self.line_numbers is None else f"{pairs.source.name}:{self.line_numbers[row]}"

    def score_token(self, row: int) -> str:
        """The score as it is written."""
        assert self.run is not None
        if self.tokens is not None:
            return self.tokens[row]
        pairs = self.run.pairs
        if pairs.source.unit != "line":
            return f"{self.run.score[row]:.12g}"
        text, at = pairs.docs.text, int(pairs.docs.start[row])
        begin = at
        while text[begin - 1] not in (0, 10):
            begin -= 1
        end = at + int(np.argmax(text[at : at + 65536] == 10))
        fields = text[begin:end].tobytes().split()
        return fields[trec.run_layout(fields, "").value].decode("utf-8", "replace")


def _read(file: str, read: Callable[[], Run]) -> _Contents:
    if file != STANDARD_INPUT and not os.path.exists(file):
        raise DataError(f"{file}: there is no such file.")
    try:
        run = read()
        run.stated_rank  # noqa: B018 (a rank that is no number is found here)
    except DataError as error:
        return _read_line_by_line(file, error)
    return _Contents(run, (), len(run))


def _read_line_by_line(file: str, error: DataError) -> _Contents:
    """Look at every line by itself: slow, for files that do not read otherwise."""
    place, _, message = str(error).partition(": ")
    whole = Problem(place, "file", message)
    try:
        text = read_text(file)
    except DataError:
        return _Contents(None, [whole], 0)
    if formats.is_parquet(file, named_columns.RUN_COLUMNS) or formats.recognised(text, file) != "trec":
        return _Contents(None, [whole], 0)
    lines = [
        (number, fields)
        for number, line in enumerate(text.tobytes().split(b"\n"), 1)
        if (fields := line.split()) and not fields[0].startswith(b"#")
    ]
    if not lines:
        return _Contents(None, [whole], 0)
    usual = Counter(len(fields) for _, fields in lines).most_common(1)[0][0]
    number, typical = next((number, fields) for number, fields in lines if len(fields) == usual)
    try:
        layout = trec.run_layout(typical, f"{text.name}:{number}")
    except DataError:
        return _Contents(None, [whole], len(lines))
    return _usable(text, lines, layout)


def _usable(text: Text, lines: list[tuple[int, list[bytes]]], layout: trec.Layout) -> _Contents:
    """The lines that can be used, and what is wrong with the others."""
    problems: list[Problem] = []
    first_seen: dict[tuple[bytes, bytes], int] = {}
    kept: list[tuple[int, list[bytes], float, int | None]] = []
    for number, fields in lines:

        def wrong(kind: str, message: str, number: int = number) -> None:
            problems.append(Problem(f"{text.name}:{number}", kind, message))

        if len(fields) != layout.fields:
            wrong("fields", f"expected {layout.fields} fields ({layout.description}), but found {len(fields)}.")
            if len(fields) < layout.fields:
                continue
        score = _number(fields[layout.value])
        if score is None:
            wrong("score", f'the score "{_decoded(fields[layout.value])}" is not a finite number.')
            continue
        pair = (fields[layout.query], fields[layout.doc])
        if pair in first_seen:
            doc, topic = _decoded(pair[1]), _decoded(pair[0])
            earlier = f"line {first_seen[pair]}"
            wrong("duplicate", f'document "{doc}" of topic "{topic}" stands here again, first on {earlier}.')
            continue
        first_seen[pair] = number
        rank = None
        if layout.rank is not None:
            stated = _number(fields[layout.rank])
            rank = int(stated) if stated is not None and stated == int(stated) else None
            if rank is None:
                wrong("rank", f'the rank "{_decoded(fields[layout.rank])}" is not a whole number.')
        kept.append((number, fields, score, rank))
    if not kept:
        return _Contents(None, problems, len(lines))
    ranks = [rank for *_, rank in kept if rank is not None]
    tag = None if layout.tag is None else _decoded(kept[0][1][layout.tag])
    table = named_columns.Columns.of(
        [_decoded(fields[layout.query]) for _, fields, *_ in kept],
        [_decoded(fields[layout.doc]) for _, fields, *_ in kept],
        [score for *_, score, _ in kept],
        value_name="score",
        source=text.name,
    )
    pairs, scores = table.checked()
    stated_ranks = np.array(ranks, dtype=np.int64) if len(ranks) == len(kept) else None
    run = Run(tag or plain_name(text.name), pairs, scores, lambda: stated_ranks)
    tokens = [_decoded(fields[layout.value]) for _, fields, *_ in kept]
    return _Contents(run, problems, len(lines), [number for number, *_ in kept], tokens)


def _number(token: bytes) -> float | None:
    try:
        value = float(token)
    except ValueError:
        return None
    return value if np.isfinite(value) and b"_" not in token else None


def _decoded(token: bytes) -> str:
    return token.decode("utf-8", "surrogateescape")


def _with_ties(found: Diagnosis, run: Run) -> Diagnosis:
    rows, tied = ranked_rows(run)
    topic, score = run.pairs.topic[rows], run.score[rows]
    size, count = np.unique(np.diff(np.flatnonzero(~tied), append=tied.size), return_counts=True)
    first_of_topic = np.flatnonzero(np.diff(topic, prepend=-1))
    rank = np.arange(tied.size) - np.repeat(first_of_topic, np.diff(first_of_topic, append=tied.size))
    with np.errstate(over="ignore", under="ignore"):
        single = score.astype(np.float32)
    same_in_single = (topic[1:] == topic[:-1]) & (single[1:] == single[:-1])
    return replace(
        found,
        tied_documents=int(np.count_nonzero(tied)),
        tied_topics=np.unique(topic[tied]).size,
        tied_topics_top10=np.unique(topic[tied & (rank <= COVERAGE_DEPTH)]).size,
        group_sizes={int(one): int(number) for one, number in zip(size, count, strict=True) if one > 1},
        single_precision_ties=int(np.count_nonzero(same_in_single & ~tied[1:])),
    )


def _with_contradictions(found: Diagnosis, contents: _Contents, run: Run, examples: int) -> Diagnosis:
    lines = run.pairs.rows_by_topic()
    rising = _pairs_of(run, lines, run.score[lines][1:] > run.score[lines][:-1])
    mistaken = [
        _in_order_without_exponents(contents.score_token(above), contents.score_token(below))
        for above, below in rising.tolist()
    ]
    told = {
        "line": [
            f"{contents.where(below)}: {run.pairs.describe(below)} has score {contents.score_token(below)}, more than "
            f"the {contents.score_token(above)} of the one above"
            + (", unless exponents are ignored." if mistake else ".")
            for (above, below), mistake in zip(rising[:examples].tolist(), mistaken, strict=False)
        ]
    }
    ranks = run.stated_rank
    if ranks is None:
        return replace(found, contradictions_line=len(rising), exponent_mistakes=sum(mistaken), examples=_kept(told))
    rows, _ = ranked_rows(run, order="rank")
    against = _pairs_of(run, rows, ranks[rows][1:] < ranks[rows][:-1])
    told["rank"] = [
        f"{contents.where(below)}: {run.pairs.describe(below)} has rank {ranks[below]} and score "
        f'{run.score[below]:.12g}, but "{run.pairs.docs[above]}" has rank {ranks[above]} and the higher score '
        f"{run.score[above]:.12g}."
        for above, below in against[:examples].tolist()
    ]
    return replace(
        found,
        contradictions_line=len(rising),
        contradictions_rank=len(against),
        exponent_mistakes=sum(mistaken),
        rank_gap_topics=_topics_with_gaps(run.pairs.topic, ranks),
        examples=_kept(told),
    )


def _kept(told: dict[str, list[str]]) -> dict[str, list[str]]:
    return {kind: sentences for kind, sentences in told.items() if sentences}


def _pairs_of(run: Run, rows: Ints, out_of_order: Flags) -> Ints:
    """Neighbours of one topic that are out of order, the upper first."""
    at = np.flatnonzero(out_of_order & (run.pairs.topic[rows][1:] == run.pairs.topic[rows][:-1]))
    return np.stack([rows[at], rows[at + 1]], axis=-1)


def _in_order_without_exponents(above: str, below: str) -> bool:
    if not ("e" in above.lower() or "e" in below.lower()):
        return False
    return float(above.lower().partition("e")[0]) >= float(below.lower().partition("e")[0])


def _topics_with_gaps(topic: Ints, ranks: Ints) -> int:
    order = np.lexsort((ranks, topic))
    topic, ranks = topic[order], ranks[order]
    first = np.diff(topic, prepend=-1) != 0
    gap = np.where(first, ranks > 1, np.diff(ranks, prepend=0) != 1)
    return np.unique(topic[gap | (first & (ranks < 0))]).size


def _with_effects(found: Diagnosis, run: Run, qrels: Qrels, measures: list[Measure]) -> Diagnosis:
    try:
        scores = evaluate(qrels, run, measures, bounds="ties", threads=1)
    except DataError as error:  # no topic in common with the judgments
        message = str(error).removeprefix(f"{run.pairs.source.name}: ")
        return replace(found, problems=[*found.problems, Problem(found.file, "file", message)])
    mean = scores.mean()
    expected = evaluate(qrels, run, measures, ties="expected", bounds="none", threads=1).mean()
    residual = evaluate(qrels, run, RESIDUAL_MEASURE, threads=1).mean()

    def row(array: Floats) -> list[float]:
        return array[0, 0].tolist()

    effects = zip(mean.measures, row(mean.value), row(expected.value), row(mean.low), row(mean.high), strict=True)
    return replace(
        found,
        missing_topics=scores.notes[0].missing,
        judged=float(mean.judged[0, 0]),
        residual=float(residual.high[0, 0, 0] - residual.low[0, 0, 0]),
        effects=[TieEffect(str(measure), *numbers) for measure, *numbers in effects],
    )


@dataclass(frozen=True)
class Place:
    """Where a run stands among others by one measure, and where it could stand if ties were broken otherwise."""

    run: str
    effect: TieEffect
    place: int
    expected_place: int
    highest: int
    lowest: int


def places(diagnoses: Sequence[Diagnosis], measure: int = 0) -> list[Place]:
    """The runs by their mean of a measure, the best first; equal means share a place.

    A run could stand as high as its best order allows with all others in their worst, and as low as the reverse.
    """
    known = [one for one in diagnoses if one.effects]
    effects = [one.effects[measure] for one in known]
    value, expected, low, high = (
        np.array([getattr(effect, name) for effect in effects]) for name in ("value", "expected", "low", "high")
    )
    kind = parse_measure(effects[0].measure)
    worst, best = (high, low) if kind.lower_is_better else (low, high)

    def ahead(others: Floats, one: float) -> int:
        return int(np.count_nonzero(better(others, one, kind)))

    found = [
        Place(
            one.run,
            effect,
            place=1 + ahead(value, value[at]),
            expected_place=1 + ahead(expected, expected[at]),
            highest=1 + ahead(worst, best[at]),
            lowest=1 + ahead(np.delete(best, at), worst[at]),
        )
        for at, (one, effect) in enumerate(zip(known, effects, strict=True))
    ]
    return sorted(found, key=lambda one: (one.place, one.run))


def in_words(ranking: Sequence[Place]) -> str:
    """What ties do to the order of the runs, in plain words."""
    if len(ranking) < 2:
        return ""
    measure = ranking[0].effect.measure
    movable = [one for one in ranking if one.highest < one.lowest]
    if not movable:
        return f"By {measure}, no run's place depends on how ties are broken."
    widest = max(movable, key=lambda one: (one.lowest - one.highest, one.effect.width, one.run))
    moved = [one for one in ranking if one.place != one.expected_place]
    top = [one for one in movable if one.place <= COVERAGE_DEPTH]
    sentences = [
        f"By {measure}, the places of {len(movable)} of {len(ranking)} runs depend on how ties are broken; most of all "
        f"that of {widest.run}, which stands in place {widest.place} and could stand anywhere from {widest.highest} to "
        f"{widest.lowest}."
    ]
    if top:
        shown = ", ".join(f"{one.run} ({one.highest} to {one.lowest})" for one in top[:5])
        sentences.append(
            f"Among the first {COVERAGE_DEPTH}: {shown}{f' and {len(top) - 5} more' if len(top) > 5 else ''}."
        )
    example = f", such as {moved[0].run} from {moved[0].place} to {moved[0].expected_place}" if moved else ""
    sentences.append(
        f"With the mean over all orders in place of trec_eval's, {len(moved)} run{'s' * (len(moved) != 1)} would "
        f"change place{example}."
    )
    return " ".join(sentences)
