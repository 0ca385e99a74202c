"""What one document's judgment changes: a run's score with the document relevant less that with it non-relevant.

For a weighted sum over ranks that is the document's weight. For other measures it depends on what the other unjudged
documents turn out to be, and it reaches runs that lack the document too: one more relevant document makes an ideal
ranking better and a recall harder. So it is averaged over draws of the others, in one of them none relevant.

In each list the effect is worked out at its first unjudged ranks one by one, further down at some, and taken as a
smooth function of the rank in between; below a measure's depth it is that of a document that the list lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.measures import Measure, RankWeighted
from rankbounds.probability.completions import NO_DOCUMENT, Completions, OpenCollection
from rankbounds.probability.drawn_scores import DrawnCompletions
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

FIRST, FURTHER = 24, 24
"""Of each list so many of the first unjudged documents are looked at, and at most so many further down."""


def document_effects(drawn: DrawnCompletions, among: Sequence[int]) -> Floats:
    """A row for each of some runs: what each unjudged document, were it as relevant as can be, adds to its mean.

    Documents count that one of these runs holds; the others have no effect.
    """
    collection, measure = drawn.collection, drawn.measure
    has_list = collection.has_list[list(among)]
    count = np.maximum(np.count_nonzero(np.logical_and.reduce(has_list)), 1)
    held = np.logical_or.reduce(collection.held[list(among)])
    effect = np.zeros((len(among), len(collection)))
    if not len(collection):
        return effect
    for row, run in enumerate(among):
        if is_plain_sum(measure):
            effect[row] = weight_of_ranks(measure, collection.rank[run], collection.facts)
        else:
            effect[row] = _effects_in(drawn, run, among)
    scored = np.logical_and.reduce(has_list)[collection.topic]
    return np.where(held & scored, effect, 0.0) / count


def is_plain_sum(measure: Measure) -> bool:
    """Does a rank have the same weight in every topic?"""
    return isinstance(measure, RankWeighted) and not getattr(measure, "by_topic", False)


def weight_of_ranks(measure: Measure, rank: Ints, facts: TopicFacts) -> Floats:
    """What a document of the largest gain adds at each rank to a weighted sum; nothing at rank 0 or below the depth."""
    assert isinstance(measure, RankWeighted)
    deepest = int(rank.max(initial=1))
    weights = np.zeros(deepest + 1)
    depth = min(deepest, measure.cutoff or deepest)
    weights[1 : depth + 1] = measure.weights(depth)
    unjudged = Rankings(np.full((1, 1), np.nan), np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64), facts)
    most, least = (measure.worth(unjudged.assume(chance))[0, 0] for chance in (1.0, 0.0))
    return np.asarray(float(most - least) * weights[rank])


def _effects_in(drawn: DrawnCompletions, run: int, among: Sequence[int]) -> Floats:
    """What each document adds to one run's score of its topic."""
    collection = drawn.collection
    depth = collection.depth(drawn.measure)
    rank = collection.rank[run]
    stands = (rank > 0) & (rank <= (depth or rank.max(initial=1)))
    grid = _grid(collection, np.where(stands, rank, 0))
    effect = np.zeros(len(collection))
    scenarios = grid.shape[1] + 2
    for topics in collection.parts(drawn.measure, drawn.samples * scenarios):
        base = _with_none_relevant(drawn.completed(topics))
        looked_at = grid[topics]
        turned, sign, elsewhere = _each_turned(base, looked_at, float(drawn.grades.grade[-1]), len(collection))
        facts = collection.facts_of(turned, among, elsewhere)
        value = collection.values(run, drawn.measure, turned, facts)
        value = value.reshape(topics.size, drawn.samples, scenarios)
        with np.errstate(invalid="ignore"):  # a search that never ends, whatever is judged
            change = np.nan_to_num(value[..., 1:] - value[..., :1], nan=0.0, posinf=0.0, neginf=0.0)
        change[..., :-1] *= sign
        change = change.mean(axis=1)
        first, last = collection.first[topics], collection.first[topics + 1]
        of_topics = np.concatenate([np.arange(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True)])
        place = np.full(collection.first.size - 1, -1)
        place[topics] = np.arange(topics.size)
        effect[of_topics] = change[place[collection.topic[of_topics]], -1]
        inside = of_topics[stands[of_topics]]
        if inside.size:
            line, column = np.nonzero(looked_at >= 0)
            # One rising scale for all topics: each topic's ranks stand together, from the first to the last of them.
            scale = 1 + np.log(rank.max(initial=1) + 1.0)
            known = line * scale + np.log(rank[looked_at[line, column]])
            asked = place[collection.topic[inside]] * scale + np.log(rank[inside])
            effect[inside] = np.interp(asked, known, change[line, column])
    return effect


def _with_none_relevant(completed: Completions) -> Completions:
    """The completions, the first of them without relevant documents: that is how things stand as judged."""
    kept = completed.completion > 0
    at, completion, document = (part[kept] for part in (completed.at, completed.completion, completed.document))
    return Completions(completed.topics, completed.completions, at, completion, document, completed.grade[kept])


def _grid(collection: OpenCollection, rank: Ints) -> Ints:
    """By topic, the documents of one list that are looked at, by rising rank; ``rank`` is 0 for others."""
    held = np.flatnonzero(rank > 0)
    held = held[np.lexsort((rank[held], collection.topic[held]))]
    topic = collection.topic[held]
    start = np.searchsorted(topic, np.arange(collection.first.size))
    size = np.diff(start)
    position = np.arange(held.size) - start[topic]
    # Beyond the first ones, positions in geometric progression, the last one included.
    rest = np.maximum(size - FIRST, 1)[topic]
    step = np.floor(FURTHER * np.log(np.maximum(position - FIRST, 0) + 1.0) / np.log(rest + 1.0) + 1e-9)
    before = np.floor(FURTHER * np.log(np.maximum(position - FIRST - 1, 0) + 1.0) / np.log(rest + 1.0) + 1e-9)
    taken = (position < FIRST) | (step > before) | (position == size[topic] - 1)
    held, topic = held[taken], topic[taken]
    count = np.bincount(topic, minlength=size.size)
    grid = np.full((size.size, max(1, int(count.max(initial=0)))), NO_DOCUMENT)
    grid[topic, np.arange(held.size) - (np.cumsum(count) - count)[topic]] = held
    return grid


def _each_turned(
    base: Completions, grid: Ints, top: float, documents: int
) -> tuple[Completions, Ints, tuple[Ints, Floats]]:
    """Every completion once as it is, once with each document of the grid turned, once with one that no run holds.

    A document turns from grade 0 to the top or from relevant to 0; the sign says which. The last part is the
    completions that hold one more relevant document elsewhere, and its grades.
    """
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
