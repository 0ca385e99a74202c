"""Scores published at different persistences: how often do they decide which system is better?

Source: the question that Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008, end with.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.plots.style import COLOURS
from rankbounds.rbp.curves import PERSISTENCES
from rankbounds.rbp.other_persistence import transfer_published
from rankbounds.rbp.published_score import Published
from rankbounds.studies.study import Progress, Rows, Study, StudyResult
from rankbounds.threads import track

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@Study
def deciding_by_persistence(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    persistences: Sequence[float] = PERSISTENCES,
    digits: Sequence[int] = (2, 4),
    pairs: int = 300,
    seed: int = 0,
    time_limit: float = 0.5,
    progress: Progress | None = None,
) -> StudyResult:
    """How often do two scores published at different persistences decide which system is better?

    Zhang, Park and Moffat end with this question. System A is published at one persistence, system B at another. A's
    score is taken to B's persistence, where B's printed score either lies inside A's range, and nothing can be said, or
    outside. Counted are the decisions of the greedy, relaxed and exact ranges, and how many of them are wrong, as the
    runs themselves show. Unjudged documents count as non-relevant; no residual is published. ``pairs``
    pairs of runs are drawn (for single topics, each with a topic); there may be fewer of them for means.
    """
    if len(set(persistences)) < 2:
        raise UsageError("The study needs two persistences at least.")
    scores = evaluate(qrels, runs, [RBP(p=p) for p in persistences], bounds="none")
    if len(scores.runs) < 2:
        raise UsageError("The study needs two runs at least.")
    values = scores.value[:, ~np.isnan(scores.value).any(axis=(0, 2))]
    topics = values.shape[1]
    if not topics:
        raise UsageError("The runs share no judged topic.")
    rng = np.random.default_rng(seed)
    a, b, topic = _draw_pairs(rng, values.shape[0], pairs, topics)
    drawn = [(1, (values[a, topic], values[b, topic]))]
    a, b, _ = _draw_pairs(rng, values.shape[0], pairs, None)
    drawn.append((topics, (values.mean(axis=1)[a], values.mean(axis=1)[b])))
    moves = itertools.permutations(enumerate(persistences), 2)
    steps = list(itertools.product(drawn, moves, digits))
    rows = []
    for (count, (moved, met)), ((at_from, p), (at_to, to)), known in track(steps, progress, len(steps)):
        published = Published(np.round(moved[:, at_from], known), p, digits=known, topics=count)
        truth = np.sign(moved[:, at_to] - met[:, at_to])
        decisions = _decisions(published, np.round(met[:, at_to], known), to, time_limit)
        row = {"topics": count, "digits": known, "from": p, "to": to, "pairs": len(truth)}
        for method, decided in decisions.items():
            row[method] = float(np.mean(decided != 0))
            row[f"{method}_wrong"] = float(np.mean((decided != 0) & (decided != truth)))
        rows.append(row)
    return StudyResult(rows, _answer(rows), settings={"runs": len(scores.runs), "topics": topics})


def _draw_pairs(rng: np.random.Generator, runs: int, pairs: int, topics: int | None) -> tuple[Ints, Ints, Ints]:
    """Pairs of different runs, in random order, and a topic for each; without topics no pair comes twice."""
    if topics is None:
        first, second = np.divmod(rng.permutation(runs * runs), runs)
        different = first != second
        return first[different][:pairs], second[different][:pairs], np.zeros(0, dtype=np.int64)
    first = rng.integers(runs, size=pairs)
    return first, (first + rng.integers(1, runs, size=pairs)) % runs, rng.integers(topics, size=pairs)


def _decisions(published: Published, met: Floats, to: float, time_limit: float) -> dict[str, Ints]:
    """By method: 1 where the moved score is surely the higher, -1 where it is the lower, 0 where neither is sure."""
    printed = Published(met, to, digits=published.known_digits, topics=published.topics)
    greedy, relaxed = (transfer_published(published, to, method) for method in ("greedy", "relaxed"))
    decided = {
        "greedy": _side(greedy.low, greedy.high, met, met),
        "relaxed": _side(relaxed.low, relaxed.high, *printed.score_range),
    }
    # The exact range holds the greedy vectors and lies within the relaxed range: only between them is it needed.
    between = (decided["relaxed"] == 0) & (_side(greedy.low, greedy.high, *printed.score_range) != 0)
    exact = decided["relaxed"].copy()
    scores = np.broadcast_to(published.values, met.shape)
    for place in np.flatnonzero(between).tolist():
        single = Published(scores[place], published.p, digits=published.known_digits, topics=published.topics)
        range_ = transfer_published(single, to, "exact", time_limit)
        exact[place] = _side(range_.low, range_.high, *(end[place] for end in printed.score_range))
    return decided | {"exact": exact}


def _side(low: Floats, high: Floats, met_low: Floats, met_high: Floats) -> Ints:
    return np.where(low > met_high, 1, np.where(high < met_low, -1, 0))


def _answer(rows: Rows) -> str:
    sentences = []
    for count in dict.fromkeys(row["topics"] for row in rows):
        own = [row for row in rows if row["topics"] == count]
        down, up = ([row for row in own if (row["to"] < row["from"]) == below] for below in (True, False))

        def share(some: Rows, name: str) -> str:
            return f"{np.mean([row[name] for row in some]):.1%}"

        wrong = sum(round(row[f"{method}_wrong"] * row["pairs"]) for row in own for method in ("relaxed", "exact"))
        sentences.append(
            f"{'One topic' if count == 1 else f'Mean over {count} topics'}: the relaxed range decides "
            f"{share(down, 'relaxed')} and the exact one {share(down, 'exact')} of pairs where the score moves to a "
            f"lower persistence, {share(up, 'relaxed')} and {share(up, 'exact')} where it moves to a higher one, "
            f"{wrong} of them wrongly. Greedy decides {share(down, 'greedy')} and {share(up, 'greedy')}, and "
            f"{share(down, 'greedy_wrong')} and {share(up, 'greedy_wrong')} of all pairs wrongly."
        )
    return " ".join(sentences)


@deciding_by_persistence.figure(figsize=(6.4, 4.4))
def decided_pairs(result: StudyResult, axes: Axes) -> None:
    """How many pairs the relaxed and the exact range decide on one topic, by where a score is taken."""
    rows = [row for row in result.rows() if row["topics"] == 1]
    places = np.arange(len(rows))
    for number, name in enumerate(("relaxed", "exact")):
        decided = [100 * row[name] for row in rows]
        axes.barh(places + 0.4 * number, decided, height=0.4, color=COLOURS[number], label=f"{name} range")
    labels = [f"p = {row['from']:g} to {row['to']:g}, {row['digits']} digits" for row in rows]
    axes.set_yticks(places + 0.2, labels, fontsize=8)
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel="pairs of runs decided on one topic (%)")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
