"""Check runs for submission and scoring: lines, topics, contradictions, ties, and what ties can change."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Ints
from rankbounds.checking.ceilings import ceilings
from rankbounds.checking.findings import CheckedRun, Checks, Finding, Severity, TieEffect
from rankbounds.choices import check_count
from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.collection.order import ranked_rows
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.collection.run_names import unique_names
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.columns.decimals import whole_numbers
from rankbounds.columns.ids import Ids
from rankbounds.errors import DataError, Place, RankboundsWarning
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.run_notes import RunNotes, alike_topics
from rankbounds.files import formats, parquet, trec
from rankbounds.files.leniency import NO_SCORE, OVERLONG, REPEATED, SHORT, Problems, line_of_error
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.opening import STANDARD_INPUT, Text, plain_name, read_text
from rankbounds.files.queries import read_query_texts
from rankbounds.files.trec import NothingReadError
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.phrases import some
from rankbounds.threads import Progress, in_threads, processors

_KINDS = {"bad_line": (SHORT, OVERLONG), "bad_score": (NO_SCORE,), "duplicate": (REPEATED,)}
COVERAGE_DEPTH = 10
WARNING: Severity = "warning"
Given: TypeAlias = str | os.PathLike[str] | Iterable[str]
"""Ids, or a file of them."""


def read_usable(source: RunToRead, examples: int) -> tuple[Run | None, list[Finding], int]:
    file = source.path or source.place
    if source.path not in (None, STANDARD_INPUT) and not os.path.exists(file):
        raise DataError(file, "there is no such file.")
    try:
        run = source.read()
        run.stated_rank  # noqa: B018 (a rank that is no number is found here)
        return run, [], len(run)
    except DataError as error:
        unreadable = [Finding.of("unreadable", 1, examples=[(error.place or Place(file), error.advice)][:examples])]
    if source.path is None:
        return None, unreadable, 0
    try:
        text = read_text(file)
        if parquet.is_parquet(file, RUN_COLUMNS) or formats.recognise(text, file) != "trec":
            return None, unreadable, 0
        lines, fields, place = trec.usual_line(text)
    except DataError:
        return None, unreadable, 0
    try:
        layout = trec.run_layout(fields, place)
    except DataError:
        return None, unreadable, lines
    return (*_read_leniently(text, layout, examples, lines), lines)


def _read_leniently(text: Text, layout: trec.Layout, examples: int, lines: int) -> tuple[Run | None, list[Finding]]:
    problems = Problems(lenient=True, most=max(examples, 1), model="most lines")
    try:
        read = trec.read_lines(text, lambda *_: layout, lenient=True, problems=problems)
    except NothingReadError:
        read = None
    findings = []
    for kind, left_out in _KINDS.items():
        errors = sorted((error for one in left_out for error in problems.errors.get(one, ())), key=line_of_error)
        where = [(error.place or Place(text.name), error.problem) for error in errors[:examples]]
        if count := sum(problems.left_out[one].count or 0 for one in left_out if one in problems.left_out):
            findings.append(Finding.of(kind, count, lines, examples=where))
    if read is None:
        return None, findings
    tokens = trec.fields_behind(read.pairs)
    wrong = np.empty(0, dtype=np.int64) if layout.rank is None else whole_numbers(tokens)[1]
    if wrong.size:
        rows = wrong[:examples].tolist()
        where = [(read.pairs.where(row), f'the rank "{tokens[row]}" is not a whole number.') for row in rows]
        findings.append(Finding.of("bad_rank", wrong.size, lines, examples=where))
    ranks = None if wrong.size else read.ranks
    return Run._of_pairs(read.tag or plain_name(text.name), read.pairs, read.numbers, ranks), findings


def check(
    runs: RunsLike,
    qrels: QrelsLike | None = None,
    *,
    topics: Given | None = None,
    depth: int | None = None,
    corpus: Given | None = None,
    strict: bool = False,
    measures: MeasuresLike = DEFAULT_MEASURES,
    examples: int = 3,
    progress: Progress | None = None,
) -> Checks:
    """Check whether runs are fit to be submitted and scored.

    Parameters
    ----------
    runs
        Runs in any form that ``evaluate`` takes.
    qrels
        Judgments, in any form that ``evaluate`` takes, to find missing and unjudged topics, how much is judged, and how
        far ties move each measure.
    topics
        The topics that every run must have, and no others: ids, or a file (ids, one per line, or any file of queries:
        TREC topics, TSV, CSV, JSON).
    depth
        The largest number of documents per topic.
    corpus
        The ids of all documents, or a file with an id at the start of each line.
    strict
        Whether warnings fail a run too.
    measures
        The measures to try ties on, if there are judgments.
    examples
        How many places of each kind to name.
    progress
        Called with the numbers of runs done so far and in all.

    Returns
    -------
    Checks
        A ``Result`` with a row per run: ``run``, ``file``, ``ok``, ``errors``, ``warnings``, ``lines``, ``topics`` and
        ``findings``, each with its ``kind``, ``severity``, ``count``, ``share``, ``message`` and first ``places``.

    Notes
    -----
    Errors: unreadable lines, scores that are not numbers, repeated documents, topics that are missing or were not asked
    for, more than ``depth`` documents, documents outside the corpus. Warnings: contradicting orders (score, stated
    rank, line), gaps in ranks, empty lists; unjudged topics, if only judgments define the topics. Notes: ties. An
    unusable line does not stop the check.

    Examples
    --------
    >>> import rankbounds as rb
    >>> found = rb.check({"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.1}}, topics=["q1", "q2"])
    >>> found.ok, [(finding["kind"], finding["severity"]) for finding in found.rows()[0]["findings"]]
    (False, [('missing_topics', 'error'), ('ties', 'note')])
    """
    judgments = None if qrels is None else Reading().judgments(qrels)
    limits = _Limits(
        judgments, None if topics is None else topic_ids(topics), depth, None if corpus is None else corpus_ids(corpus)
    )
    chosen, sources = parse_measures(measures), Reading().runs_to_read(runs)
    if depth is not None:
        check_count("The number of documents that a topic may have", depth)
    if judgments is not None:
        judgments.pairs.index  # noqa: B018 (built once, before threads share it)

    def look(source: RunToRead) -> CheckedRun:
        return replace(_check_one(source, limits, chosen, examples), strict=strict)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)  # what they would say is among the findings
        checked = list(in_threads(look, sources, processors(), progress))
    names = unique_names([run.run for run in checked], [run.file for run in checked])
    named = [replace(run, run=name) for run, name in zip(checked, names, strict=True)]
    lacking = None if judgments is None or limits.corpus is None else judged_outside(judgments, limits.corpus)
    scored = [run.scores for run in named if run.scores is not None]
    telling = [] if judgments is None or not scored else list(ceilings(judgments, scored))
    return Checks(named, lacking, telling, settings={"strict": strict, "depth": depth, "examples": examples})


@dataclass(frozen=True)
class _Limits:
    qrels: Qrels | None
    topics: list[str] | None
    depth: int | None
    corpus: frozenset[bytes] | None

    @property
    def expected(self) -> Sequence[str] | None:
        return self.topics if self.topics is not None or self.qrels is None else self.qrels.query_ids


def _check_one(source: RunToRead, limits: _Limits, measures: list[Measure], examples: int) -> CheckedRun:
    file = source.path or source.place
    run, findings, lines = read_usable(source, examples)
    if run is None:
        return CheckedRun(source.name or plain_name(file), file, lines, findings=findings)
    findings += _topics(run, limits, examples)
    if limits.corpus is not None and (outside := _outside(run.pairs.docs, limits.corpus)):
        where = ((run.pairs.where(row), f"{run.pairs.describe(row)}.") for row in outside[:examples])
        findings.append(Finding.of("outside_corpus", len(outside), lines, examples=where))
    more: dict[str, Any] = {}
    if limits.qrels is not None and not set(limits.qrels.query_ids).isdisjoint(run.query_ids):
        more, strange = _effects(run, limits.qrels, measures)
        findings += [Finding.of("none_judged", 1, examples=[(Place(file), strange)])] if strange else []
    # Among tied documents the stated rank contradicts nothing.
    rows, tied = ranked_rows(run, order="line" if run.stated_rank is None else "rank")
    findings += _contradictions(run, rows, lines, examples)
    findings += _ties(run, rows, tied, lines, more.get("effects", ()))
    return CheckedRun(source.name or run.name, file, lines, len(run.query_ids), findings, **more)


def corpus_ids(given: str | os.PathLike[str] | Iterable[str]) -> frozenset[bytes]:
    if not isinstance(given, str | os.PathLike):
        return frozenset(document.encode("utf-8", "surrogateescape") for document in given)
    path = os.fspath(given)
    ids = frozenset(line.split(None, 1)[0] for line in read_text(path).tobytes().splitlines() if line.strip())
    if any(document.startswith((b"{", b"[")) for document in list(ids)[:1]):
        raise DataError(path, "this is JSON; a corpus is a file with a document id at the start of every line.")
    return ids


def _outside(documents: Ids, corpus: frozenset[bytes]) -> list[int]:
    return [row for row, document in enumerate(documents.raw_list()) if document not in corpus]


def judged_outside(qrels: Qrels, corpus: frozenset[bytes]) -> list[tuple[str, str, float]]:
    pairs = qrels.pairs
    rows = _outside(pairs.docs, corpus)
    return [(pairs.topics[int(pairs.topic[row])], pairs.docs[row], float(qrels.grade[row])) for row in rows]


def topic_ids(given: Given) -> list[str]:
    if not isinstance(given, str | os.PathLike):
        return list(dict.fromkeys(map(str, given)))
    path = os.fspath(given)
    lines = [line.split() for line in read_text(path).tobytes().decode("utf-8", "surrogateescape").splitlines()]
    ids = [fields[0] for fields in lines if fields]
    if ids and all(len(fields) < 2 for fields in lines) and not ids[0].startswith(("<", "{", "[")):
        return list(dict.fromkeys(ids))
    return list(read_query_texts(path))


def _topics(run: Run, limits: _Limits, examples: int) -> Iterator[Finding]:
    size, names = np.bincount(run.pairs.topic, minlength=len(run.query_ids)), run.query_ids
    if (expected := limits.expected) is not None:
        there, wanted = set(names), set(expected)
        missing = [topic for topic in expected if topic not in there]
        foreign = np.array([at for at, topic in enumerate(names) if topic not in wanted and size[at]], dtype=np.int64)
        if missing:
            alike = alike_topics(RunNotes(missing, [names[at] for at in foreign.tolist()]))
            yield Finding.of("missing_topics", len(missing), len(wanted), f": {some(missing)}{alike and f' ({alike})'}")
        if foreign.size:
            where = _beginnings(run, foreign[:examples].tolist())
            # Judgments of a part of the topics are usual; a list of topics is what was asked for.
            by_list = limits.topics is not None
            nobody = f" (nobody judged {'it' if foreign.size == 1 else 'them'})"
            more, severity = ("", None) if by_list else (nobody, WARNING)
            yield Finding.of("foreign_topics", foreign.size, len(names), more, where, severity)
    if limits.depth is not None and (long := np.flatnonzero(size > limits.depth)).size:
        where = (
            (_line_in(run, at, limits.depth), f'topic "{names[at]}" has {size[at]:,} documents.')
            for at in long[:examples].tolist()
        )
        yield Finding.of("too_many", long.size, len(names), f" ({limits.depth:,})", where)
    if empty := [names[at] for at in np.flatnonzero(size == 0).tolist()]:
        yield Finding.of("empty", len(empty), len(names), f": {some(empty)}")


def _line_in(run: Run, topic: int, before: int = 0) -> Place:
    return run.pairs.where(int(np.flatnonzero(run.pairs.topic == topic)[before]))


def _beginnings(run: Run, topics: list[int]) -> Iterator[tuple[Place, str]]:
    return ((_line_in(run, topic), f'topic "{run.query_ids[topic]}" begins here.') for topic in topics)


def _ties(run: Run, rows: Ints, tied: Flags, lines_read: int, effects: Sequence[TieEffect]) -> Iterator[Finding]:
    topic, score = run.pairs.topic[rows], run.score[rows]
    first_of_topic = np.flatnonzero(np.diff(topic, prepend=-1))
    rank = np.arange(tied.size) - np.repeat(first_of_topic, np.diff(first_of_topic, append=tied.size))
    with np.errstate(over="ignore", under="ignore"):
        single = score.astype(np.float32)
    same_in_single = (topic[1:] == topic[:-1]) & (single[1:] == single[:-1]) & ~tied[1:]
    if topics := np.unique(topic[tied]).size:
        largest = int(np.diff(np.flatnonzero(~tied), append=tied.size).max())
        at_top = np.unique(topic[tied & (rank <= COVERAGE_DEPTH)]).size
        reach = f" ({at_top:,} among the first {COVERAGE_DEPTH})" if at_top else ""
        moved = ", ".join(f"{one.measure} by {one.width:.4f}" for one in effects if one.width >= 0.00005)
        more = f", in {topics:,} of {len(run.query_ids):,} topics{reach}; the largest group has {largest:,}"
        more += f"; their order can move {moved}" if moved else ""
        yield Finding.of("ties", int(np.count_nonzero(tied)), lines_read, more, topics=topics)
    if in_single := int(np.count_nonzero(same_in_single)):
        yield Finding.of("single_precision", in_single, lines_read)


def _contradictions(run: Run, rows: Ints, lines_read: int, examples: int) -> Iterator[Finding]:
    pairs, score, ranks, lines = run.pairs, run.score, run.stated_rank, run.pairs.rows_by_topic()

    def falling(kind: str, order: Ints, column: NDArray[Any], words: Callable[[int, int], str]) -> Iterator[Finding]:
        """Neighbours in this order of which the lower has less in the column."""
        falls = (column[order][1:] < column[order][:-1]) & (pairs.topic[order][1:] == pairs.topic[order][:-1])
        if falls.any():
            upper = np.flatnonzero(falls)
            first = zip(order[upper][:examples].tolist(), order[upper + 1][:examples].tolist(), strict=True)
            where = (
                (pairs.where(below), f"{pairs.describe(below)} has {words(above, below)}.") for above, below in first
            )
            topics = np.unique(pairs.topic[order[upper]]).size
            yield Finding.of(kind, upper.size, lines_read, examples=where, topics=topics)

    if ranks is not None:
        yield from falling(
            "rank_against_score",
            rows,
            ranks,
            lambda above, below: (
                f'rank {ranks[below]} and score {score[below]:.12g}, but "{pairs.docs[above]}" has rank {ranks[above]} '
                f"and the higher score {score[above]:.12g}"
            ),
        )
    yield from falling(
        "line_against_score",
        lines,
        -score,
        lambda above, below: f"score {score[below]:.12g}, more than the {score[above]:.12g} of the one above",
    )
    if ranks is not None:
        words = lambda above, below: f"rank {ranks[below]}, the one above {ranks[above]}"  # noqa: E731
        yield from falling("line_against_rank", lines, ranks, words)
        gaps = _topics_with_gaps(pairs.topic, ranks)
        if gaps.size and lines_read == len(run):  # lines that could not be used leave gaps of their own
            first = _beginnings(run, gaps[:examples].tolist())
            yield Finding.of("rank_gaps", gaps.size, len(run.query_ids), examples=first)


def _topics_with_gaps(topic: Ints, ranks: Ints) -> Ints:
    order = np.lexsort((ranks, topic))
    topic, ranks = topic[order], ranks[order]
    first = np.diff(topic, prepend=-1) != 0
    gap = np.where(first, ranks > 1, np.diff(ranks, prepend=0) != 1)
    return np.unique(topic[gap | (first & (ranks < 0))])


def _effects(run: Run, qrels: Qrels, measures: list[Measure]) -> tuple[dict[str, Any], str]:
    scores = evaluate(qrels, run, measures, bounds="ties", threads=1)
    mean = scores.mean()
    expected = evaluate(qrels, run, measures, ties="expected", bounds="none", threads=1).mean()
    columns = (array[0, 0].tolist() for array in (mean.value, expected.value, mean.low, mean.high))
    effects = [TieEffect(str(name), *numbers) for name, *numbers in zip(mean.measures, *columns, strict=True)]
    return {"judged": float(mean.judged[0, 0]), "effects": effects, "scores": scores}, scores.run_notes[
        0
    ].strange_documents
