"""A published score at another persistence: which ranks it depends on, its range, and how often ranges decide.

Source: Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.plots.rbp import contribution_of_ranks, range_over_persistence, range_panel
from rankbounds.plots.style import COLOURS
from rankbounds.rbp.curves import PERSISTENCES
from rankbounds.rbp.other_persistence import relaxed_transfer, transfer_published
from rankbounds.rbp.published_score import Published, significant_ranks, vectors_of
from rankbounds.studies.study import Progress, Rows, StudyResult, pivot, study
from rankbounds.threads import track

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PRINTED_RANKS = {
    0.5: (8, 15, 28),
    0.7: (15, 28, 54),
    0.8: (24, 45, 86),
    0.9: (51, 94, 182),
    0.95: (104, 194, 373),
    0.99: (528, 986, 1001),
}
"""Table 1: significant ranks by p, for precisions of 0.01, 0.0001 and 0.00000001."""
PRECISIONS = (1e-2, 1e-4, 1e-8)
VECTOR_SHOWN = 40
"""How many ranks of R_G and R_L a table shows."""


@study("Zhang, Park and Moffat 2008, Table 1, Figure 1")
def ranks_by_persistence(
    *, persistences: Sequence[float] = tuple(PRINTED_RANKS), precisions: Sequence[float] = PRECISIONS
) -> StudyResult:
    """Which ranks matter to RBP?

    The number of significant ranks: all below them together add less than half of the precision. Beside it the
    ``depth`` of ``rbp depth`` (Moffat and Zobel), below which ranks add less than the precision itself: that rule is a
    factor of two more generous, and its depth smaller by up to log(2) / -log(p) ranks.
    """
    rows: Rows = [
        {"p": p, "precision": precision, "ranks": significant_ranks(p, precision), "depth": _depth(p, precision)}
        for p in persistences
        for precision in precisions
    ]
    printed = {(p, at): one for p, ranks in PRINTED_RANKS.items() for at, one in zip(PRECISIONS, ranks, strict=True)}
    both = {place: row["ranks"] for row in rows if (place := (row["p"], row["precision"])) in printed}
    off = [f"{ours:,} for {printed[place]:,} at p = {place[0]:g}, {place[1]:g}"
           for place, ours in both.items() if ours != printed[place]]  # fmt: skip
    agreement = f"Of {len(both)} cells of Table 1, {len(both) - len(off)} come out" if both else ""
    agreement += f"; not so: {'; '.join(off)} (see the errata)." if off else "." if both else ""
    deepest = max(rows, key=lambda row: row["ranks"])
    answer = (
        f"At p = {deepest['p']:g} and a precision of {deepest['precision']:g}, {deepest['ranks']:,} ranks matter; the "
        f"depth whose residual is below the precision is {deepest['depth']:,}."
    )
    tables = {
        "Significant ranks (what follows adds less than half the precision)": pivot(rows, "p", "precision", "ranks"),
        "Depth of rbp depth (what follows adds less than the precision)": pivot(rows, "p", "precision", "depth"),
    }
    theirs = [row | {"ranks": printed[place]} for row in rows if (place := (row["p"], row["precision"])) in printed]
    if theirs:
        tables["Significant ranks, as the paper prints them"] = pivot(theirs, "p", "precision", "ranks")
    return StudyResult(rows, answer, tables=tables, agreement=agreement)


def _depth(p: float, precision: float) -> int:
    return significant_ranks(p, 2 * precision)


@ranks_by_persistence.figure()
def contributions_by_rank(result: StudyResult, axes: Axes) -> None:
    """What a relevant document at each rank adds to RBP, for three p (Figure 1)."""
    persistences = result.settings["persistences"]
    contribution_of_ranks(persistences[:: max(1, len(persistences) // 3)], ax=axes)


@study("Zhang, Park and Moffat 2008, Figure 2, Figure 3, Figure 4")
def range_by_persistence(
    *,
    score: str = "0.4000",
    p: float = 0.8,
    residual: str = "0.1000",
    scores: Sequence[float] = (0.2, 0.5, 0.8),
    persistences: Sequence[float] = (0.2, 0.5, 0.8),
) -> StudyResult:
    """What does a published score say at other persistences?

    The scores of the vectors R_G and R_L at any other p, the ends of the range according to the paper, and the range
    that holds for all lists (relaxed to gains between 0 and 1; ``rbp transfer`` has the exact one). R_G has relevant
    documents as early, R_L as late as the printed score allows; R'_G and R'_L are the same with a residual, their
    unjudged documents relevant.
    """
    asked = [Published(score, p), Published(score, p, residual)]
    for at, one in itertools.product(persistences, scores):
        with contextlib.suppress(DataError):  # a score that cannot occur there
            asked.append(Published(one, at, digits=asked[0].known_digits))
    rows: Rows = []
    for published in asked:
        vectors = vectors_of(published)
        known = {"score": f"{published.score}", "p": published.p, "residual": published.residual}
        for to in np.linspace(0.05, 0.95, 19).round(2).tolist():
            held = relaxed_transfer(published, to)
            names = ("R_G", "R_L", "R'_G", "R'_L")
            ours = dict(zip(names, (float(one) for one in vectors.scores(to)), strict=True))
            rows.append(known | {"to": to} | ours | {"low": held.low, "high": held.high})
    wide = max(rows[:19], key=lambda row: row["high"] - row["low"])
    answer = (
        f"A score of {score} at p = {p:g} may be anything from {wide['low']:.3f} to {wide['high']:.3f} at p = "
        f"{wide['to']:g}, the widest range."
    )
    inside = sum(row["low"] - 1e-9 <= row[name] <= row["high"] + 1e-9 for row in rows for name in ("R_G", "R_L"))
    agreement = (
        f"{inside:,} of {2 * len(rows):,} scores of R_G and R_L lie within the range that holds. The paper takes them "
        "for its ends, which they are not always (see the errata)."
    )
    named = [*vectors_of(asked[0]).named(), *vectors_of(asked[1]).named()[2:]]
    table = [{"vector": name, f"ranks 1 to {VECTOR_SHOWN}": marks[:VECTOR_SHOWN]} for name, marks in named]
    return StudyResult(rows, answer, tables={f"{score} at p = {p:g}": table}, agreement=agreement)


METHODS = ("relaxed", "greedy")
SOUND = ("relaxed", "exact", "with_residuals")


@range_by_persistence.figure()
def range_of_score(result: StudyResult, axes: Axes) -> None:
    """The range of a score over all persistences, and the vectors R_G and R_L (Figure 2)."""
    range_over_persistence(Published(result.settings["score"], result.settings["p"]), axes, methods=METHODS)


@range_by_persistence.figure(
    figsize=lambda result: (2.3 * len(result.settings["persistences"]), 2.1 * len(result.settings["scores"])),
    panels=lambda result: (len(result.settings["scores"]), len(result.settings["persistences"])),
)
def panels_of_scores(result: StudyResult, axes: Any) -> None:
    """The same for several scores and persistences (Figure 3)."""
    range_panel(result.settings["persistences"], result.settings["scores"], axes, methods=METHODS)


@range_by_persistence.figure()
def range_with_residual(result: StudyResult, axes: Axes) -> None:
    """The range of a score with a residual, and the vectors R_G, R_L, R'_G and R'_L (Figure 4)."""
    settings = result.settings
    range_over_persistence(Published(settings["score"], settings["p"], settings["residual"]), axes, methods=METHODS)


@study("Zhang, Park and Moffat 2008, Section 7")
def deciding_by_persistence(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    persistences: Sequence[float] = PERSISTENCES,
    digits: Sequence[int] = (2, 4),
    pairs: int = 100,
    seed: int = 0,
    time_limit: float = 0.5,
    progress: Progress | None = None,
) -> StudyResult:
    """How often do two scores published at different persistences decide which system is better?

    Zhang, Park and Moffat end with this question. System A is published at one persistence, system B at another. A's
    score is converted to B's persistence, where B's printed score lies either inside A's range, which decides nothing,
    or outside. The study counts the decisions of the greedy, relaxed and exact ranges, and how many are wrong,
    according to the runs. Unjudged documents count as non-relevant, except in ``with_residuals``: there both residuals
    are published, and the relaxed range decides whatever the unjudged documents are. ``pairs`` pairs of runs are drawn
    (for single topics, each with a topic); for means there may be fewer.
    """
    if len(set(persistences)) < 2:
        raise UsageError("The study needs two persistences at least.")
    scores = evaluate(qrels, runs, [RBP(p=p) for p in persistences])
    if len(scores.runs) < 2:
        raise UsageError("The study needs two runs at least.")
    known_topics = ~np.isnan(scores.value).any(axis=(0, 2))
    values, residuals = (part[:, known_topics] for part in (scores.value, scores.high - scores.low))
    topics = values.shape[1]
    if not topics:
        raise UsageError("The runs share no judged topic.")
    rng = np.random.default_rng(seed)
    a, b, topic = _draw_pairs(rng, values.shape[0], pairs, topics)
    drawn = [(1, [(part[a, topic], part[b, topic]) for part in (values, residuals)])]
    a, b, _ = _draw_pairs(rng, values.shape[0], pairs, None)
    drawn.append((topics, [(part.mean(axis=1)[a], part.mean(axis=1)[b]) for part in (values, residuals)]))
    moves = itertools.permutations(enumerate(persistences), 2)
    steps = list(itertools.product(drawn, moves, digits))
    rows = []
    for (count, ((moved, met), left_open)), ((at_from, p), (at_to, to)), known in track(steps, progress, len(steps)):
        published = Published(np.round(moved[:, at_from], known), p, digits=known, topics=count)
        truth = np.sign(moved[:, at_to] - met[:, at_to])
        decisions = _decisions(published, np.round(met[:, at_to], known), to, time_limit)
        open_a, open_b = np.round(left_open[0][:, at_from], known), np.round(left_open[1][:, at_to], known)
        other = Published(np.round(met[:, at_to], known), to, open_b, known, count)
        decisions["with_residuals"] = _with_residuals(replace(published, residual=open_a), other)
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


def _with_residuals(a: Published, b: Published) -> Ints:
    """The same by the relaxed range, whatever the unjudged documents behind the residuals are."""
    there = relaxed_transfer(a, b.p)
    return _side(there.low, there.high, b.score_range[0], b.total_range[1])


def _side(low: Floats, high: Floats, met_low: Floats, met_high: Floats) -> Ints:
    return np.where(low > met_high, 1, np.where(high < met_low, -1, 0))


def _answer(rows: Rows) -> str:
    sentences = []
    for count in dict.fromkeys(row["topics"] for row in rows):
        own = [row for row in rows if row["topics"] == count]
        down, up = ([row for row in own if (row["to"] < row["from"]) == below] for below in (True, False))

        def share(some: Rows, name: str) -> str:
            return f"{np.mean([row[name] for row in some]):.1%}"

        wrong = sum(round(row[f"{method}_wrong"] * row["pairs"]) for row in own for method in SOUND)
        sentences.append(
            f"{'One topic' if count == 1 else f'Mean over {count} topics'}: the relaxed range decides "
            f"{share(down, 'relaxed')} and the exact one {share(down, 'exact')} of pairs where the score moves to a "
            f"lower persistence, {share(up, 'relaxed')} and {share(up, 'exact')} where it moves to a higher one, "
            f"{wrong} of them wrongly. With residuals the relaxed range decides {share(down, 'with_residuals')} and "
            f"{share(up, 'with_residuals')}. Greedy decides {share(down, 'greedy')} and {share(up, 'greedy')}, and "
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
