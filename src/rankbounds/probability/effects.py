"""What one document's judgment changes: a run's score with the document relevant minus that with it non-relevant.

For a weighted sum over ranks that is the document's weight. For other measures it is averaged over draws of the other
documents, and reaches runs that lack the document. Of AP every rank of a drawn list is worked out at once: a document
adds its own precision, and one over the rank of every relevant document below it. Of other measures lists are scored
anew with one document turned, at the first unjudged ranks and at some below, and ranks in between are interpolated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum, quotient, weights_by_rank, worth_of_one
from rankbounds.probability.completions import Completions
from rankbounds.probability.drawn_scores import DrawnCompletions
from rankbounds.rankings.ties import ORDERS

NO_DOCUMENT = -1
FIRST, FURTHER = 24, 24
"""How many of the first unjudged documents of a list are looked at, and at most how many further down."""


def document_effects(drawn: DrawnCompletions, groups: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, Ints, Floats]]:
    """For each group of runs and part of the topics: the group, the documents, and their effects by run of the group.

    An effect is what a document that one of the group holds, were it as relevant as can be, adds to the run's mean over
    the topics that all of the group have.
    """
    collection, measure = drawn.collection, drawn.measure
    by_rank = is_plain_sum(measure)
    in_closed_form = measure.averaged == "precisions" and collection.assumptions.ties in ORDERS
    scenarios = 1 if by_rank or in_closed_form else FIRST + FURTHER + 3
    for topics in collection.parts(measure, drawn.samples * scenarios):
        ends = zip(collection.first[topics].tolist(), collection.first[topics + 1].tolist(), strict=True)
        documents = np.concatenate([np.arange(begin, end) for begin, end in ends])
        if not documents.size:
            continue
        completed = None if by_rank else drawn.completed(topics)
        if completed is not None:  # in the first completion none is relevant: that is how things stand as judged
            completed = completed.only(completed.completion > 0)
        for number, group in enumerate(groups):
            has_list = np.logical_and.reduce(collection.has_list[list(group)])
            counts = collection.held_by(group, documents) & has_list[collection.topic[documents]]
            effect = np.zeros((len(group), documents.size))
            counted = documents[counts]
            if counted.size:
                mine = completed and completed.only(collection.held_by(group, completed.document))
                for row, run in enumerate(group):
                    if mine is None:
                        assert is_weighted_sum(measure)
                        weight = weights_by_rank(measure, collection.rank[run, counted])
                        effect[row, counts] = weight * worth_of_one(measure, collection.facts)
                    elif in_closed_form:
                        effect[row, counts] = _effects_on_average_precision(drawn, run, group, mine, counted)
                    else:
                        effect[row, counts] = _effects_by_scoring_anew(drawn, run, group, mine, counted)
            yield number, documents, effect / max(int(np.count_nonzero(has_list)), 1)


def is_plain_sum(measure: Measure) -> bool:
    return is_weighted_sum(measure) and not getattr(measure, "by_topic", False)


def _effects_on_average_precision(
    drawn: DrawnCompletions, run: int, group: Sequence[int], base: Completions, documents: Ints
) -> Floats:
    collection, measure = drawn.collection, drawn.measure
    grade, length = collection.grades(run, measure, base)
    relevant = (grade >= measure.rel).astype(np.float64)
    inverse = 1.0 / np.arange(1, grade.shape[-1] + 1)
    above = np.cumsum(relevant, axis=-1) - relevant
    at_relevant = relevant * inverse
    down_to = np.cumsum(at_relevant, axis=-1)
    # Its own precision, and a term for every relevant document below it.
    added = (above + 1) * inverse + (down_to[..., -1:] - down_to)
    total = (at_relevant * (above + 1)).sum(axis=-1, keepdims=True)
    facts = collection.facts_of(base, group)
    known = facts.relevant(measure.rel).reshape(*grade.shape[:2], 1).astype(np.float64)
    without, others = total - relevant * added, known - relevant
    change = (quotient(without + added, others + 1) - quotient(without, others)).mean(axis=1)
    if_lacking = (quotient(total, known + 1) - quotient(total, known)).mean(axis=(1, 2))
    rank, line = collection.rank[run, documents], base.line_of(collection.topic[documents])
    stands = (rank > 0) & (rank <= length[line])
    return np.where(stands, change[line, np.where(stands, rank - 1, 0)], if_lacking[line])


def _effects_by_scoring_anew(
    drawn: DrawnCompletions, run: int, group: Sequence[int], base: Completions, documents: Ints
) -> Floats:
    collection, topics = drawn.collection, base.topics
    depth = collection.depth(drawn.measure)
    rank, line = collection.rank[run, documents], base.line_of(collection.topic[documents])
    stands = (rank > 0) & (rank <= (depth or rank.max(initial=1)))
    looked_at = _grid(np.where(stands, rank, 0), line, topics.size)
    grid = np.where(looked_at >= 0, documents[looked_at], NO_DOCUMENT)
    scenarios = grid.shape[1] + 2
    turned, sign, elsewhere = _each_turned(base, grid, float(drawn.grades.grade[-1]), len(collection))
    facts = collection.facts_of(turned, group, elsewhere)
    lists = collection.lists(run, drawn.measure, turned)
    value = collection.values(lists, drawn.measure, facts).reshape(topics.size, drawn.samples, scenarios)
    with np.errstate(invalid="ignore"):  # a search that never ends, whatever is judged
        change = np.nan_to_num(value[..., 1:] - value[..., :1], nan=0.0, posinf=0.0, neginf=0.0)
    change[..., :-1] *= sign
    change = change.mean(axis=1)
    effect = change[line, -1]
    if stands.any():
        grid_line, column = np.nonzero(looked_at >= 0)
        # One rising scale for all topics: each topic's ranks stand together, from the first to the last of them.
        scale = 1 + np.log(rank.max(initial=1) + 1.0)
        known = grid_line * scale + np.log(rank[looked_at[grid_line, column]])
        asked = line[stands] * scale + np.log(rank[stands])
        effect[stands] = np.interp(asked, known, change[grid_line, column])
    return effect


def _grid(rank: Ints, line: Ints, lines: int) -> Ints:
    held = np.flatnonzero(rank > 0)
    held = held[np.lexsort((rank[held], line[held]))]
    line = line[held]
    size = np.bincount(line, minlength=lines)
    position = np.arange(held.size) - (np.cumsum(size) - size)[line]
    # Beyond the first ones, positions in geometric progression, the last one included.
    rest = np.maximum(size - FIRST, 1)[line]
    step = np.floor(FURTHER * np.log(np.maximum(position - FIRST, 0) + 1.0) / np.log(rest + 1.0) + 1e-9)
    before = np.floor(FURTHER * np.log(np.maximum(position - FIRST - 1, 0) + 1.0) / np.log(rest + 1.0) + 1e-9)
    taken = (position < FIRST) | (step > before) | (position == size[line] - 1)
    held, line = held[taken], line[taken]
    count = np.bincount(line, minlength=lines)
    grid = np.full((lines, max(1, int(count.max(initial=0)))), NO_DOCUMENT)
    grid[line, np.arange(held.size) - (np.cumsum(count) - count)[line]] = held
    return grid


def _each_turned(
    base: Completions, grid: Ints, top: float, documents: int
) -> tuple[Completions, Ints, tuple[Ints, Floats]]:
    scenarios, draws = grid.shape[1] + 2, base.completions
    column_of = np.full(documents + 1, -1)
    line, column = np.nonzero(grid >= 0)
    column_of[grid[line, column]] = column
    mine = column_of[base.document]
    relevant = np.zeros((base.topics.size, draws, grid.shape[1]), dtype=bool)
    known = mine >= 0
    relevant[base.at[known], base.completion[known], mine[known]] = True
    scenario = np.tile(np.arange(scenarios), base.at.size)
    kept = scenario != np.repeat(np.where(known, mine + 1, -1), scenarios)
    old_at, old_draw, old_document = (
        np.repeat(part, scenarios)[kept] for part in (base.at, base.completion, base.document)
    )
    at, draw, column = np.nonzero((grid >= 0)[:, None, :] & ~relevant)
    turned = Completions(
        base.topics,
        draws * scenarios,
        np.concatenate((old_at, at)),
        np.concatenate((old_draw * scenarios + scenario[kept], draw * scenarios + column + 1)),
        np.concatenate((old_document, grid[at, column])),
        np.concatenate((np.repeat(base.grade, scenarios)[kept], np.full(at.size, top))),
    )
    elsewhere = np.arange(base.topics.size * draws) * scenarios + scenarios - 1
    return turned, np.where(relevant, -1, 1), (elsewhere, np.full(elsewhere.size, top))
