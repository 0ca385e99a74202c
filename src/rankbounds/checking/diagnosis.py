"""What is wrong with a run file, what its ties are, and how far they move its scores."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.checking.diagnoses import Diagnoses, Diagnosis, JudgedOutside, Problem, TieEffect
from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.collection.order import ranked_rows
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run, unique_names
from rankbounds.columns.ids import Ids
from rankbounds.errors import DataError, Place, RankboundsWarning
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.files import formats, parquet, trec
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.opening import STANDARD_INPUT, Text, plain_name, read_text
from rankbounds.measures import Measure, parse_measures
from rankbounds.threads import Progress, in_threads, processors

COVERAGE_DEPTH = 10
RESIDUAL_MEASURE = "RBP(p=0.8)"
Usable: TypeAlias = tuple[Run | None, Sequence[Problem], int]
"""What can be used of a run file, what is wrong with the rest, and how many lines it has."""


def check(
    runs: Any,
    *,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    examples: int = 3,
    corpus: str | os.PathLike[str] | Iterable[str] | None = None,
    progress: Progress | None = None,
) -> Diagnoses:
    """Check runs: lines that cannot be read, ties, orders that contradict each other.

    Parameters
    ----------
    runs
        Runs in any form that ``evaluate`` takes.
    qrels
        Judgments, in any form that ``evaluate`` takes: with them also how far ties move each measure, and how much is
        judged.
    measures
        Which measures ties are tried on, where there are judgments.
    examples
        How many contradictions of each kind are described.
    corpus
        The ids of the documents that can be retrieved, or a file with one in front of every line: with them how many
        documents of each run are not among them.
    progress
        Called with the number of runs that are done and that of all.

    Returns
    -------
    Diagnoses
        A ``Diagnosis`` for each run.

    Notes
    -----
    A line that cannot be used does not stop the diagnosis: it is reported, and the rest of the file is looked at.

    Examples
    --------
    >>> import rankbounds as rb
    >>> (diagnosis,) = rb.check({"q": {"d1": 0.5, "d2": 0.5, "d3": 0.1}})
    >>> diagnosis.tied_documents, diagnosis.sound
    (1, True)
    """
    judgments = None if qrels is None else Reading().judgments(qrels)
    chosen = parse_measures(measures)
    sources = Reading().runs_to_read(runs)
    ids = None if corpus is None else corpus_ids(corpus)
    if judgments is not None:
        judgments.pairs.index  # noqa: B018 (built once, before threads share it)

    def look(source: RunToRead) -> Diagnosis:
        return _diagnose_one(source, judgments, chosen, examples, ids)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)  # what they would say is in the diagnosis
        found = list(in_threads(look, sources, processors(), progress))
    names = unique_names([diagnosis.run for diagnosis in found], [diagnosis.file for diagnosis in found])
    named = [replace(diagnosis, run=name) for diagnosis, name in zip(found, names, strict=True)]
    lacking = None if judgments is None or ids is None else judged_outside(judgments, ids)
    return Diagnoses(named, examples, judgments is not None, ids is not None, lacking)


def _diagnose_one(
    source: RunToRead, qrels: Qrels | None, measures: list[Measure], examples: int, corpus: frozenset[bytes] | None
) -> Diagnosis:
    if source.path is None:
        given = source.read()
        usable: Usable = given, (), len(given)
        file = given.pairs.source.name
    else:
        usable, file = _read_usable(source.path, source.read), source.path
    run, problems, lines = usable
    if run is None:
        return Diagnosis(source.name or plain_name(file), file, lines, problems=problems)
    found: dict[str, Any] = {"problems": problems, **_ties(run), **_contradictions(run, examples)}
    if corpus is not None:
        found["outside_corpus"] = len(_outside(run.pairs.docs, corpus))
    if qrels is not None:
        try:
            found |= _effects(run, qrels, measures)
        except DataError as error:  # no topic in common with the judgments
            found["problems"] = [*problems, Problem(Place(file), "file", error.advice)]
    return Diagnosis(source.name or run.name, file, lines, len(run.query_ids), **found)


def _read_usable(file: str, read: Callable[[], Run]) -> Usable:
    """Read a run; where it does not read as a whole, look at every line by itself, which is slow."""
    if file != STANDARD_INPUT and not os.path.exists(file):
        raise DataError(file, "there is no such file.")
    try:
        run = read()
        run.stated_rank  # noqa: B018 (a rank that is no number is found here)
        return run, (), len(run)
    except DataError as error:
        whole = [Problem(error.place or Place(file), "file", error.advice)]
    try:
        text = read_text(file)
    except DataError:
        return None, whole, 0
    if parquet.is_parquet(file, RUN_COLUMNS) or formats.recognise(text, file) != "trec":
        return None, whole, 0
    lines = [
        (number, fields)
        for number, line in enumerate(text.tobytes().split(b"\n"), 1)
        if (fields := line.split()) and not fields[0].startswith(b"#")
    ]
    if not lines:
        return None, whole, 0
    usual = Counter(len(fields) for _, fields in lines).most_common(1)[0][0]
    number, typical = next((number, fields) for number, fields in lines if len(fields) == usual)
    try:
        layout = trec.run_layout(typical, Place(text.name, number))
    except DataError:
        return None, whole, len(lines)
    return _read_leniently(text, lines, layout)


def _read_leniently(text: Text, lines: list[tuple[int, list[bytes]]], layout: trec.Layout) -> Usable:
    """The run in the lines that can be used, and what is wrong with the others."""
    problems: list[Problem] = []
    first_seen: dict[tuple[bytes, bytes], int] = {}
    tag = None
    for number, fields in lines:

        def wrong(kind: str, message: str, number: int = number) -> None:
            problems.append(Problem(Place(text.name, number), kind, message))

        if len(fields) != layout.fields:
            wrong("fields", f"expected {layout.fields} fields ({layout.description}), but found {len(fields)}.")
            if len(fields) < layout.fields:
                continue
        if not np.isfinite(_number(fields[layout.value])):
            wrong("score", f'the score "{_decode(fields[layout.value])}" is not a finite number.')
            continue
        pair = topic, document = fields[layout.query], fields[layout.doc]
        if pair in first_seen:
            again = f'document "{_decode(document)}" of topic "{_decode(topic)}" stands here again'
            wrong("duplicate", f"{again}, first on line {first_seen[pair]}.")
            continue
        first_seen[pair] = number
        tag = tag or trec.tag_of(fields, layout)
        if layout.rank is not None and not _number(fields[layout.rank]).is_integer():
            wrong("rank", f'the rank "{_decode(fields[layout.rank])}" is not a whole number.')
    if not first_seen:
        return None, problems, len(lines)
    read = trec.read_lines(text, lambda *_: layout, lenient=True)
    ranks = None if any(problem.kind == "rank" for problem in problems) else read.ranks
    return Run._of_pairs(tag or plain_name(text.name), read.pairs, read.numbers, ranks), problems, len(lines)


def _number(token: bytes) -> float:
    try:
        return float("nan" if b"_" in token else token)
    except ValueError:
        return float("nan")


def _decode(token: bytes) -> str:
    return token.decode("utf-8", "surrogateescape")


def corpus_ids(given: str | os.PathLike[str] | Iterable[str]) -> frozenset[bytes]:
    """The ids of a corpus: of a file, the first field of every line; or as they are given."""
    if not isinstance(given, str | os.PathLike):
        return frozenset(document.encode("utf-8", "surrogateescape") for document in given)
    path = os.fspath(given)
    ids = frozenset(line.split(None, 1)[0] for line in read_text(path).tobytes().splitlines() if line.strip())
    if any(document.startswith((b"{", b"[")) for document in list(ids)[:1]):
        raise DataError(path, "this is JSON; a corpus is given as a file with a document's id in front of every line.")
    return ids


def _outside(documents: Ids, corpus: frozenset[bytes]) -> list[int]:
    """The rows of documents that the corpus lacks."""
    return [row for row, document in enumerate(documents.raw_list()) if document not in corpus]


def judged_outside(qrels: Qrels, corpus: frozenset[bytes]) -> JudgedOutside:
    """Find the judged documents that the corpus lacks."""
    pairs = qrels.pairs
    rows = _outside(pairs.docs, corpus)
    found = [(pairs.topics[int(pairs.topic[row])], pairs.docs[row], float(qrels.grade[row])) for row in rows]
    return JudgedOutside(len(qrels), found)


def _ties(run: Run) -> dict[str, Any]:
    rows, tied = ranked_rows(run)
    topic, score = run.pairs.topic[rows], run.score[rows]
    size, count = np.unique(np.diff(np.flatnonzero(~tied), append=tied.size), return_counts=True)
    first_of_topic = np.flatnonzero(np.diff(topic, prepend=-1))
    rank = np.arange(tied.size) - np.repeat(first_of_topic, np.diff(first_of_topic, append=tied.size))
    with np.errstate(over="ignore", under="ignore"):
        single = score.astype(np.float32)
    same_in_single = (topic[1:] == topic[:-1]) & (single[1:] == single[:-1])
    return {
        "tied_documents": int(np.count_nonzero(tied)),
        "tied_topics": np.unique(topic[tied]).size,
        "tied_topics_top10": np.unique(topic[tied & (rank <= COVERAGE_DEPTH)]).size,
        "group_sizes": {int(each): int(number) for each, number in zip(size, count, strict=True) if each > 1},
        "single_precision_ties": int(np.count_nonzero(same_in_single & ~tied[1:])),
    }


def _contradictions(run: Run, examples: int) -> dict[str, Any]:
    lines, ranks = run.pairs.rows_by_topic(), run.stated_rank
    rising = _pairs_of(run, lines, run.score[lines][1:] > run.score[lines][:-1])
    tokens = [(_score_token(run, above), _score_token(run, below)) for above, below in rising.tolist()]
    without = [[token.lower().partition("e") for token in pair] for pair in tokens]
    mistaken = [(above[1] or below[1]) != "" and float(above[0]) >= float(below[0]) for above, below in without]
    sentences = {
        "line": [
            f"{run.pairs.where(below)}: {run.pairs.describe(below)} has score {lower}, more than the {upper} of the "
            f"one above{', unless exponents are ignored' if mistake else ''}."
            for (_, below), (upper, lower), mistake in zip(rising[:examples].tolist(), tokens, mistaken, strict=False)
        ]
    }
    found: dict[str, Any] = {"contradictions_line": len(rising), "exponent_mistakes": sum(mistaken)}
    if ranks is not None:
        rows, _ = ranked_rows(run, order="rank")
        against = _pairs_of(run, rows, ranks[rows][1:] < ranks[rows][:-1])
        sentences["rank"] = [
            f"{run.pairs.where(below)}: {run.pairs.describe(below)} has rank {ranks[below]} and score "
            f'{run.score[below]:.12g}, but "{run.pairs.docs[above]}" has rank {ranks[above]} and the higher score '
            f"{run.score[above]:.12g}."
            for above, below in against[:examples].tolist()
        ]
        found |= {"contradictions_rank": len(against), "rank_gap_topics": _topics_with_gaps(run.pairs.topic, ranks)}
    return found | {"examples": {kind: several for kind, several in sentences.items() if several}}


def _score_token(run: Run, row: int) -> str:
    """The score as it is written in the file."""
    pairs = run.pairs
    if pairs.source.unit != "line":
        return f"{run.score[row]:.12g}"
    text, at = pairs.docs.text, int(pairs.docs.start[row])
    begin = at
    while text[begin - 1] not in (0, 10):
        begin -= 1
    end = at + int(np.argmax(text[at : at + 65536] == 10))
    fields = text[begin:end].tobytes().split()
    return fields[trec.run_layout(fields, "").value].decode("utf-8", "replace")


def _pairs_of(run: Run, rows: Ints, out_of_order: Flags) -> Ints:
    """Neighbours of one topic that are out of order, the upper first."""
    upper = np.flatnonzero(out_of_order & (run.pairs.topic[rows][1:] == run.pairs.topic[rows][:-1]))
    return np.stack([rows[upper], rows[upper + 1]], axis=-1)


def _topics_with_gaps(topic: Ints, ranks: Ints) -> int:
    order = np.lexsort((ranks, topic))
    topic, ranks = topic[order], ranks[order]
    first = np.diff(topic, prepend=-1) != 0
    gap = np.where(first, ranks > 1, np.diff(ranks, prepend=0) != 1)
    return np.unique(topic[gap | (first & (ranks < 0))]).size


def _effects(run: Run, qrels: Qrels, measures: list[Measure]) -> dict[str, Any]:
    scores = evaluate(qrels, run, measures, bounds="ties", threads=1)
    mean = scores.mean()
    expected = evaluate(qrels, run, measures, ties="expected", bounds="none", threads=1).mean()
    residual = evaluate(qrels, run, RESIDUAL_MEASURE, threads=1).mean()
    columns = (array[0, 0].tolist() for array in (mean.value, expected.value, mean.low, mean.high))
    return {
        "missing_topics": scores.notes[0].missing,
        "judged": float(mean.judged[0, 0]),
        "residual": float(residual.high[0, 0, 0] - residual.low[0, 0, 0]),
        "effects": [TieEffect(str(name), *numbers) for name, *numbers in zip(mean.measures, *columns, strict=True)],
    }
