"""Scores for people and for trec_eval's readers: tables of rounded numbers, and lines as trec_eval prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.evaluation.score_differences import merge_equal, merit
from rankbounds.evaluation.scores import ALL, INTERVAL, Scores
from rankbounds.measures.counts import NumQ
from rankbounds.measures.naming.parser import trec_name
from rankbounds.notebook import SHOWN_ROWS
from rankbounds.paper import PaperTable, table_for_paper
from rankbounds.tables import Table, number, percent, render_columns, render_rows

UNJUDGED = {"retrieved": "unjudged documents", "collection": "unjudged documents, retrieved or not,"}


def render(scores: Scores, kind: str, *, per_topic: bool, raw: bool, interval: bool = False) -> str:
    mean = scores.mean()
    if kind == "trec":
        return "".join(_trec_lines(scores, mean, per_topic))
    parts = (scores, mean) if per_topic else (mean,)
    if kind in ("csv", "tsv"):
        none = dict.fromkeys(INTERVAL, np.full(len(scores), np.nan))  # of topics
        columns = [{**none, **part._columns()} for part in parts]
        return render_columns(columns, kind, (*mean.fields, "judged_at_10"), raw=raw)
    if kind in ("json", "jsonl"):
        return render_rows([row for part in parts for row in part.rows()], kind, mean.fields, raw=raw)
    if kind == "latex" and not per_topic:
        return scores.to_latex(interval=interval)
    means = table_of(mean, interval=interval)
    if not per_topic:
        return means.render(kind)
    topics = table_of(scores, interval=interval)
    lines = [*topics.rows, *([row[0], ALL, *row[1:]] for row in means.rows)]
    header = [means.header[0], "topic", *means.header[1:]]  # only means have notes
    filled = [[*row, *[""] * (len(header) - len(row))] for row in lines]
    left = topics.left | {column + 1 for column in means.left if column}
    return Table(header, filled, left, belongs=topics.belongs).render(kind)


def table_of(scores: Scores, *, with_notes: bool = True, interval: bool = False) -> Table:
    """Build the table for people: a row per run (and topic), a column per measure (with ``interval`` two), notes."""
    by_topic = scores.query_ids != [ALL]
    notes = _notes(scores) if with_notes and not by_topic else []
    some_noted = any(notes)
    between = [f"{scores.confidence:.0%} (topics)"] * interval
    named = [heading for measure in scores.measures for heading in (str(measure), *between)]
    header = ["run", *["topic"] * by_topic, *named, *["judged@10"] * scores.has_judged]
    left = frozenset({0, 1} if by_topic else {0, len(header)} if some_noted else {0})
    importance = (header.index("judged@10"),) if scores.has_judged else ()
    header += ["notes"] * some_noted
    # How a cell is written depends on its whole column.
    columns = []
    for place, measure in enumerate(scores.measures):
        counts = measure.total == "sum"
        columns.append(_cells(scores.value[..., place], scores.low[..., place], scores.high[..., place], counts))
        columns += [_intervals(scores, place, counts)] * interval
    rows = [
        [
            run,
            *[query] * by_topic,
            *(column[run_place][topic_place] for column in columns),
            *[percent(scores.judged[run_place, topic_place])] * scores.has_judged,
            *notes[run_place : run_place + some_noted],
        ]
        for run_place, run in enumerate(scores.runs)
        for topic_place, query in enumerate(scores.query_ids)
        if not np.isnan(scores.value[run_place, topic_place]).all()
    ]
    best = frozenset() if by_topic else _best(scores, 1 + interval)
    first = 1 + by_topic
    belongs = {first + 2 * place + 1: first + 2 * place for place in range(len(scores.measures) * interval)}
    return Table(header, rows, left, importance, best, belongs)


def for_paper(scores: Scores, *, interval: bool = False) -> list[PaperTable]:
    whole = table_for_paper(table_of(scores, with_notes=False, interval=interval))
    bare = [replace(one, cells=[replace(cell, small="") for cell in one.cells]) for one in whole.columns]
    caption, comments = f"Means over {scores.mean_over or len(scores.query_ids)} topics; bold: best", run_notes(scores)
    small = f"; small: {open_words(scores)}" if whole.has_small else ""
    forms = (whole.columns, f"{caption}{small}."), (bare, f"{caption}.")
    return [PaperTable(columns, words, [comments] * bool(comments)) for columns, words in forms]


def _intervals(scores: Scores, place: int, counts: bool) -> list[list[str]]:
    if scores.interval is None:
        return [[""] * len(scores.query_ids)] * len(scores.runs)
    digits = 0 if counts else None
    ends = zip(scores.ci_low[:, 0, place].tolist(), scores.ci_high[:, 0, place].tolist(), strict=True)
    return [["-" if low != low else f"[{number(low, digits)}, {number(high, digits)}]"] for low, high in ends]


def open_words(scores: Scores) -> str:
    unjudged = UNJUDGED[scores.open].rstrip(",")
    return {
        "none": "nothing",
        "unjudged": f"what {unjudged} could change",
        "ties": "what the order of tied documents could change",
        "both": f"what {unjudged} and the order of tied documents could change",
    }[scores.bounds]


def _notes(scores: Scores) -> list[str]:
    return [noted.in_brief(scores.measures[0]) for noted in scores.run_notes] if scores.measures else []


def run_notes(scores: Scores) -> str:
    """Return the notes on runs as lines below a table, for widths that hide the column on the right."""
    noted = [f"{run}: {words}." for run, words in zip(scores.runs, _notes(scores), strict=False) if words]
    more = [f"... and {len(noted) - SHOWN_ROWS:,} more runs with notes."] if len(noted) > SHOWN_ROWS else []
    return "\n".join(noted[:SHOWN_ROWS] + more)


def note(scores: Scores) -> str:
    topics = scores.mean_over or len(scores.query_ids)
    has_bounds = bool((scores.high > scores.low).any())
    beside = f" Beside a mean: {open_words(scores)}." if has_bounds else ""
    return f"Means over {topics} topic{'s'[: topics != 1]}.{beside}"


def _best(scores: Scores, width: int) -> frozenset[tuple[int, int]]:
    best: set[tuple[int, int]] = set()
    known = ~np.isnan(scores.value[:, 0]).all(axis=-1)
    for place, measure in enumerate(scores.measures):
        merits = merge_equal(merit(scores.value[known, 0, place], measure))
        if np.count_nonzero(~np.isnan(merits)) > 1:
            best |= {(row, 1 + place * width) for row in np.flatnonzero(merits == np.nanmax(merits)).tolist()}
    return frozenset(best)


def numbers_and_bounds(mean: Floats, low: Floats, high: Floats, *, counts: bool = False) -> list[tuple[str, str]]:
    column = _cells(mean[:, None], low[:, None], high[:, None], counts=counts)
    return [(value, bounds) for value, _, bounds in (row[0].partition(" ") for row in column)]


def _cells(values: Floats, low: Floats, high: Floats, counts: bool) -> list[list[str]]:
    """Build a measure's column: ``0.3280 +0.5120`` if the value is the least possible, else ``0.3280 [low, high]``."""
    digits = 0 if counts else None
    known = ~np.isnan(low)
    with np.errstate(invalid="ignore"):  # a search that never ends has no finite bounds
        above_low, width = (np.where(numbers == low, 0.0, numbers - low) for numbers in (values, high))
    open_above_only = bool((np.abs(above_low)[known] < 1e-9).all())
    nothing_open = open_above_only and bool((np.abs(width)[known] < 1e-12).all())

    def cell(value: float, least: float, most: float) -> str:
        text = number(value, digits)
        if least != least or nothing_open:
            return text
        if open_above_only:
            return f"{text} +{number(most - value, digits)}"
        return f"{text} [{number(least, digits)}, {number(most, digits)}]"

    return [
        [cell(*numbers) for numbers in zip(*row, strict=True)]
        for row in zip(values.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _trec_lines(scores: Scores, mean: Scores, per_topic: bool) -> Iterator[str]:
    names = [trec_name(measure) for measure in scores.measures]
    whole = [measure.total == "sum" for measure in scores.measures]
    # Of single topics trec_eval prints neither logarithms nor that there is one of them.
    of_topics = [measure.total != "geometric" and not isinstance(measure, NumQ) for measure in scores.measures]
    for place, run in enumerate(scores.runs):
        if len(scores.runs) > 1:
            yield f"{'runid':<22}\t{ALL}\t{run}\n"
        for part in (scores, mean) if per_topic else (mean,):
            # trec_eval goes through topics in the order of their ids as text.
            for query, values in sorted(zip(part.query_ids, part.value[place].tolist(), strict=True)):
                for name, value, count, of_topic in zip(names, values, whole, of_topics, strict=True):
                    if value == value and (of_topic or part is mean):
                        yield f"{name:<22}\t{query}\t{value:.0f}\n" if count else f"{name:<22}\t{query}\t{value:6.4f}\n"
