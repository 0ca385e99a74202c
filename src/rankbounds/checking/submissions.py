"""Check runs for submission and scoring: lines, topics, contradictions, ties, and what ties can change."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.checking.findings import CheckedRun, Checks, Finding, JudgedOutside, Severity, TieEffect
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
from rankbounds.evaluation.run_notes import RunNotes, alike_topics, some
from rankbounds.files import formats, parquet, trec
from rankbounds.files.leniency import NO_SCORE, OVERLONG, REPEATED, SHORT, Problems, line_of_error
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.opening import STANDARD_INPUT, Text, plain_name, read_text
from rankbounds.files.queries import read_query_texts
from rankbounds.files.trec import NothingReadError
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.threads import Progress, in_threads, processors


@dataclass(frozen=True)
class Problem:
    """What makes lines, or the whole file, unusable as they stand: how often, and what is wrong where first."""

    kind: str
    """``unreadable``, ``bad_line``, ``bad_score``, ``bad_rank`` or ``duplicate``."""
    count: int
    examples: Sequence[tuple[Place, str]]


Usable: TypeAlias = tuple[Run | None, Sequence[Problem], int]
"""What can be used of a run file, what is wrong with the rest, and how many lines it has."""


def read_usable(file: str, read: Callable[[], Run], examples: int) -> Usable:
    """Read a run; if it cannot be read as a whole, read the usable lines, and find what is wrong with the others."""
    if file != STANDARD_INPUT and not os.path.exists(file):
        raise DataError(file, "there is no such file.")
    try:
        run = read()
        run.stated_rank  # noqa: B018 (a rank that is no number is found here)
        return run, (), len(run)
    except DataError as error:
        whole = [Problem("unreadable", 1, [(error.place or Place(file), error.advice)])]
    try:
        text = read_text(file)
        if parquet.is_parquet(file, RUN_COLUMNS) or formats.recognise(text, file) != "trec":
            return None, whole, 0
        lines, fields, place = trec.usual_line(text)
    except DataError:
        return None, whole, 0
    try:
        layout = trec.run_layout(fields, place)
    except DataError:
        return None, whole, lines
    return (*_read_leniently(text, layout, examples), lines)


_KINDS = {"bad_line": (SHORT, OVERLONG), "bad_score": (NO_SCORE,), "duplicate": (REPEATED,)}


def _read_leniently(text: Text, layout: trec.Layout, examples: int) -> tuple[Run | None, Sequence[Problem]]:
    """Read the usable lines, and what is wrong with the others."""
    problems = Problems(lenient=True, most=max(examples, 1), model="most lines")
    try:
        read = trec.read_lines(text, lambda *_: layout, lenient=True, problems=problems)
    except NothingReadError:
        read = None
    found = []
    for kind, left_out in _KINDS.items():
        errors = [error for one in left_out for error in problems.errors.get(one, ())]
        told = [(error.place or Place(text.name), error.problem) for error in sorted(errors, key=line_of_error)]
        count = sum(problems.left_out[one].count or 0 for one in left_out if one in problems.left_out)
        found += [Problem(kind, count, told[:examples])] if count else []
    if read is None:
        return None, found
    tokens = trec.fields_behind(read.pairs)
    wrong = np.empty(0, dtype=np.int64) if layout.rank is None else whole_numbers(tokens)[1]
    if wrong.size:
        told = [
            (read.pairs.where(row), f'the rank "{tokens[row]}" is not a whole number.')
            for row in wrong[:examples].tolist()
        ]
        found.append(Problem("bad_rank", wrong.size, told))
    ranks = None if wrong.size else read.ranks
    return Run._of_pairs(read.tag or plain_name(text.name), read.pairs, read.numbers, ranks), found


COVERAGE_DEPTH = 10
MOST_TOKENS = 10_000
"""How many scores are looked at as they are written."""
WARNING: Severity = "warning"
Given: TypeAlias = str | os.PathLike[str] | Iterable[str]
"""Ids, or a file of them."""


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
        found = list(in_threads(look, sources, processors(), progress))
    names = unique_names([one.run for one in found], [one.file for one in found])
    named = [replace(one, run=name) for one, name in zip(found, names, strict=True)]
    lacking = None if judgments is None or limits.corpus is None else judged_outside(judgments, limits.corpus)
    return Checks(named, lacking, settings={"strict": strict, "depth": depth, "examples": examples})


@dataclass(frozen=True)
class _Limits:
    qrels: Qrels | None
    topics: list[str] | None
    depth: int | None
    corpus: frozenset[bytes] | None

    @property
    def expected(self) -> Sequence[str] | None:
        """The topics that a run must have; None: any."""
        return self.topics if self.topics is not None or self.qrels is None else self.qrels.query_ids


def _check_one(source: RunToRead, limits: _Limits, measures: list[Measure], examples: int) -> CheckedRun:
    file = source.path or source.place
    if source.path is None:
        try:
            given = source.read()
            usable: Usable = given, (), len(given)
        except DataError as error:
            usable = None, [Problem("unreadable", 1, [(error.place or Place(file), error.advice)])], 0
    else:
        usable = read_usable(source.path, source.read, examples)
    run, problems, lines = usable
    found = [
        Finding.of(one.kind, one.count, None if one.kind == "unreadable" else lines, examples=one.examples[:examples])
        for one in problems
    ]
    if run is None:
        return CheckedRun(source.name or plain_name(file), file, lines, findings=found)
    found += [*_topics(run, limits, examples), *_documents(run, lines, limits.corpus, examples)]
    more: dict[str, Any] = {}
    if limits.qrels is not None and not set(limits.qrels.query_ids).isdisjoint(run.query_ids):
        more, strange = _effects(run, limits.qrels, measures)
        found += [Finding.of("none_judged", 1, examples=[(Place(file), strange)])] if strange else []
    # Among tied documents the stated rank contradicts nothing.
    rows, tied = ranked_rows(run, order="line" if run.stated_rank is None else "rank")
    found += _contradictions(run, rows, lines, examples)
    found += _ties(run, rows, tied, lines, more.get("effects", ()))
    return CheckedRun(source.name or run.name, file, lines, len(run.query_ids), found, **more)


def corpus_ids(given: str | os.PathLike[str] | Iterable[str]) -> frozenset[bytes]:
    """Return the ids of a corpus: the first field of every line of a file; or as given."""
    if not isinstance(given, str | os.PathLike):
        return frozenset(document.encode("utf-8", "surrogateescape") for document in given)
    path = os.fspath(given)
    ids = frozenset(line.split(None, 1)[0] for line in read_text(path).tobytes().splitlines() if line.strip())
    if any(document.startswith((b"{", b"[")) for document in list(ids)[:1]):
        raise DataError(path, "this is JSON; a corpus is a file with a document id at the start of every line.")
    return ids


def _outside(documents: Ids, corpus: frozenset[bytes]) -> list[int]:
    return [row for row, document in enumerate(documents.raw_list()) if document not in corpus]


def judged_outside(qrels: Qrels, corpus: frozenset[bytes]) -> JudgedOutside:
    """Find the judged documents that the corpus lacks."""
    pairs = qrels.pairs
    rows = _outside(pairs.docs, corpus)
    found = [(pairs.topics[int(pairs.topic[row])], pairs.docs[row], float(qrels.grade[row])) for row in rows]
    return JudgedOutside(len(qrels), found)


def topic_ids(given: Given) -> list[str]:
    """Return the ids of topics: from a file with one per line, any file of queries, or as given."""
    if not isinstance(given, str | os.PathLike):
        return list(dict.fromkeys(map(str, given)))
    path = os.fspath(given)
    lines = [line.split() for line in read_text(path).tobytes().decode("utf-8", "surrogateescape").splitlines()]
    ids = [fields[0] for fields in lines if fields]
    if ids and all(len(fields) < 2 for fields in lines) and not ids[0].startswith(("<", "{", "[")):
        return list(dict.fromkeys(ids))
    return list(read_query_texts(path))


def _topics(run: Run, limits: _Limits, examples: int) -> Iterator[Finding]:
    """Topics that are missing, foreign, empty or too long."""
    size, names = np.bincount(run.pairs.topic, minlength=len(run.query_ids)), run.query_ids
    if (expected := limits.expected) is not None:
        there, wanted = set(names), set(expected)
        missing = [topic for topic in expected if topic not in there]
        foreign = np.array([at for at, topic in enumerate(names) if topic not in wanted and size[at]], dtype=np.int64)
        if missing:
            alike = alike_topics(RunNotes(missing, [names[at] for at in foreign.tolist()]))
            yield Finding.of("missing_topics", len(missing), len(wanted), f": {some(missing)}{alike and f' ({alike})'}")
        if foreign.size:
            told = [f'topic "{names[at]}" begins here.' for at in foreign.tolist()]
            where = zip(_first_lines(run, foreign[:examples]), told, strict=False)
            # Judgments of a part of the topics are usual; a list of topics is what was asked for.
            by_list = limits.topics is not None
            nobody = f" (nobody judged {'it' if foreign.size == 1 else 'them'})"
            more, severity = ("", None) if by_list else (nobody, WARNING)
            yield Finding.of("foreign_topics", foreign.size, len(names), more, where, severity)
    if limits.depth is not None and (long := np.flatnonzero(size > limits.depth)).size:
        told = [f'topic "{names[at]}" has {size[at]:,} documents.' for at in long.tolist()]
        where = zip(_first_lines(run, long[:examples], limits.depth), told, strict=False)
        yield Finding.of("too_many", long.size, len(names), f" ({limits.depth:,})", where)
    if empty := [names[at] for at in np.flatnonzero(size == 0).tolist()]:
        yield Finding.of("empty", len(empty), len(names), f": {some(empty)}")


def _first_lines(run: Run, topics: Ints, before: int = 0) -> Iterator[Place]:
    """Where each of these topics begins, or goes on behind so many documents."""
    for topic in topics.tolist():
        yield run.pairs.where(int(np.flatnonzero(run.pairs.topic == topic)[before]))


def _documents(run: Run, lines_read: int, corpus: frozenset[bytes] | None, examples: int) -> Iterator[Finding]:
    if corpus is not None and (rows := _outside(run.pairs.docs, corpus)):
        where = ((run.pairs.where(row), f"{run.pairs.describe(row)}.") for row in rows[:examples])
        yield Finding.of("outside_corpus", len(rows), lines_read, examples=where)


def _ties(run: Run, rows: Ints, tied: Flags, lines_read: int, effects: Sequence[TieEffect]) -> Iterator[Finding]:
    """Find tied rows, and those that single precision adds."""
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
    """Neighbours whose score, stated rank and line contradict each other, and gaps in the ranks.

    ``rows`` are in the order of the scores, tied ones in that of the stated ranks.
    """
    lines, ranks, pairs = run.pairs.rows_by_topic(), run.stated_rank, run.pairs
    if ranks is not None:
        against = _pairs_of(run, rows, ranks[rows][1:] < ranks[rows][:-1])
        where = (
            (
                pairs.where(below),
                f"{pairs.describe(below)} has rank {ranks[below]} and score {run.score[below]:.12g}, but "
                f'"{pairs.docs[above]}" has rank {ranks[above]} and the higher score {run.score[above]:.12g}.',
            )
            for above, below in against[:examples].tolist()
        )
        if len(against):
            topics = _topics_of(run, against)
            yield Finding.of("rank_against_score", len(against), lines_read, examples=where, topics=topics)
    rising = _pairs_of(run, lines, run.score[lines][1:] > run.score[lines][:-1])
    if len(rising):
        # Scores that all rise, as distances do, are no matter of exponents.
        read = rising if len(rising) <= MOST_TOKENS else rising[:examples]
        tokens = [(_score_token(run, above), _score_token(run, below)) for above, below in read.tolist()]
        without = [[token.lower().partition("e") for token in pair] for pair in tokens]
        mistaken = [(above[1] or below[1]) != "" and float(above[0]) >= float(below[0]) for above, below in without]
        where = (
            (
                pairs.where(below),
                f"{pairs.describe(below)} has score {lower}, more than the {upper} of the one above"
                f"{', unless exponents are ignored' if mistake else ''}.",
            )
            for (_, below), (upper, lower), mistake in zip(rising[:examples].tolist(), tokens, mistaken, strict=False)
        )
        # As a text sort does: -1.37 before -7.8e-05.
        counted = any(mistaken) and len(read) == len(rising)
        more = f"; {sum(mistaken):,} of them sorted as if exponents were ignored" if counted else ""
        yield Finding.of("line_against_score", len(rising), lines_read, more, where, topics=_topics_of(run, rising))
    if ranks is not None:
        falling = _pairs_of(run, lines, ranks[lines][1:] < ranks[lines][:-1])
        where = (
            (pairs.where(below), f"{pairs.describe(below)} has rank {ranks[below]}, the one above {ranks[above]}.")
            for above, below in falling[:examples].tolist()
        )
        if len(falling):
            topics = _topics_of(run, falling)
            yield Finding.of("line_against_rank", len(falling), lines_read, examples=where, topics=topics)
        gaps = _topics_with_gaps(pairs.topic, ranks)
        if gaps.size and lines_read == len(run):  # lines that could not be used leave gaps of their own
            told = (f'topic "{run.query_ids[topic]}" begins here.' for topic in gaps.tolist())
            first = zip(_first_lines(run, gaps[:examples]), told, strict=False)
            yield Finding.of("rank_gaps", gaps.size, len(run.query_ids), examples=first)


def _score_token(run: Run, row: int) -> str:
    pairs = run.pairs
    if pairs.source.unit != "line":
        return f"{run.score[row]:.12g}"
    text, at = pairs.docs.text, int(pairs.docs.start[row])
    begin = at
    while text[begin - 1] not in (0, 10):
        begin -= 1
    end = at + int(np.argmax(text[at : at + 65536] == 10))
    before, after = text[begin:at].tobytes().split(), text[at:end].tobytes().split()
    has_rank = len(before) + len(after) > trec.RUN_OF_SCORES.fields
    return after[1 + has_rank].decode("utf-8", "replace")


def _pairs_of(run: Run, rows: Ints, out_of_order: Flags) -> Ints:
    """Neighbours of one topic that are out of order, the upper first."""
    upper = np.flatnonzero(out_of_order & (run.pairs.topic[rows][1:] == run.pairs.topic[rows][:-1]))
    return np.stack([rows[upper], rows[upper + 1]], axis=-1)


def _topics_of(run: Run, pairs: Ints) -> int:
    return int(np.unique(run.pairs.topic[pairs[:, 0]]).size)


def _topics_with_gaps(topic: Ints, ranks: Ints) -> Ints:
    order = np.lexsort((ranks, topic))
    topic, ranks = topic[order], ranks[order]
    first = np.diff(topic, prepend=-1) != 0
    gap = np.where(first, ranks > 1, np.diff(ranks, prepend=0) != 1)
    return np.unique(topic[gap | (first & (ranks < 0))])


def _effects(run: Run, qrels: Qrels, measures: list[Measure]) -> tuple[dict[str, Any], str]:
    """Return how much is judged and the effect of ties by measure, and a sentence if nothing is judged."""
    scores = evaluate(qrels, run, measures, bounds="ties", threads=1)
    mean = scores.mean()
    expected = evaluate(qrels, run, measures, ties="expected", bounds="none", threads=1).mean()
    columns = (array[0, 0].tolist() for array in (mean.value, expected.value, mean.low, mean.high))
    effects = [TieEffect(str(name), *numbers) for name, *numbers in zip(mean.measures, *columns, strict=True)]
    return {"judged": float(mean.judged[0, 0]), "effects": effects}, scores.notes[0].strange_documents
