"""A published score at another persistence: which ranks it depends on, its range, and how often ranges decide.

Source: Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rankbounds as rb
from rankbounds.studies.study import Progress, Rows, StudyResult, compare_printed, pivot, study, track

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PRECISIONS = (1e-2, 1e-4, 1e-8)
VECTOR_SHOWN = 40
METHODS = ("relaxed", "greedy")
METHODS_COMPARED = ("greedy", "relaxed", "exact")


@study("Zhang, Park and Moffat 2008, Table 1, Figure 1")
def ranks_by_persistence(
    *, persistences: Sequence[float] = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99), precisions: Sequence[float] = PRECISIONS
) -> StudyResult:
    """Which ranks matter to RBP?

    The number of significant ranks: all below them together add less than half of the precision. Beside it the
    ``depth`` of ``rbp depth`` (Moffat and Zobel), below which ranks add less than the precision itself.
    """
    rows: Rows = [
        {"p": p, "precision": precision, "ranks": rb.rbp.significant_ranks(p, precision)}
        | {"depth": rb.rbp.significant_ranks(p, 2 * precision)}
        for p in persistences
        for precision in precisions
    ]
    tables, agreement = compare_printed(rows, "zhang, Table 1", "p", "precision", "ranks", digits=0)
    tables["Depth of rbp depth (what follows adds less than the precision)"] = pivot(rows, "p", "precision", "depth")
    deepest = max(rows, key=lambda row: row["ranks"])
    answer = (
        f"At p = {deepest['p']:g} and a precision of {deepest['precision']:g}, {deepest['ranks']:,} ranks matter; the "
        f"depth whose residual is below the precision is {deepest['depth']:,}."
    )
    return StudyResult(rows, answer, tables=tables, agreement=agreement)


@ranks_by_persistence.figure()
def contributions_by_rank(result: StudyResult, axes: Axes) -> None:
    """What a relevant document at each rank adds to RBP, for three p (Figure 1)."""
    persistences = result.settings["persistences"]
    rb.plots.contribution_of_ranks(persistences[:: max(1, len(persistences) // 3)], ax=axes)


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
    asked = [rb.rbp.Published(score, p), rb.rbp.Published(score, p, residual)]
    for at, one in itertools.product(persistences, scores):
        with contextlib.suppress(rb.DataError):  # a score that cannot occur there
            asked.append(rb.rbp.Published(one, at, digits=asked[0].printed.digits))
    rows: Rows = []
    for published in asked:
        vectors = published.vectors
        printed: dict[str, Any] = {"residual": published.residual, "digits": published.printed.digits}
        known = {"score": f"{published.score}", "p": published.p, "residual": published.residual}
        for to in np.linspace(0.05, 0.95, 19).round(2).tolist():
            range_there = rb.rbp.transfer(published.score, published.p, to, method="relaxed", **printed)
            names = ("R_G", "R_L", "R'_G", "R'_L")
            ours = dict(zip(names, (float(one) for one in vectors.scores(to)), strict=True))
            rows.append(known | {"to": to} | ours | {"low": range_there.low, "high": range_there.high})
    wide = max(rows[:19], key=lambda row: row["high"] - row["low"])
    answer = (
        f"A score of {score} at p = {p:g} may be anything from {wide['low']:.3f} to {wide['high']:.3f} at p = "
        f"{wide['to']:g}, the widest range."
    )
    named = asked[0].vectors.named() | asked[1].vectors.named()
    table = [{"vector": name, f"ranks 1 to {VECTOR_SHOWN}": marks[:VECTOR_SHOWN]} for name, marks in named.items()]
    return StudyResult(rows, answer, tables={f"{score} at p = {p:g}": table})


@range_by_persistence.figure()
def range_of_score(result: StudyResult, axes: Axes) -> None:
    """The range of a score over all persistences, and the vectors R_G and R_L (Figure 2)."""
    rb.plots.range_over_persistence(
        rb.rbp.Published(result.settings["score"], result.settings["p"]), axes, methods=METHODS
    )


@range_by_persistence.figure(
    figsize=lambda result: (2.3 * len(result.settings["persistences"]), 2.1 * len(result.settings["scores"])),
    panels=lambda result: (len(result.settings["scores"]), len(result.settings["persistences"])),
)
def panels_of_scores(result: StudyResult, axes: Any) -> None:
    """The same for several scores and persistences; below p = 0.5 by the exact range (Figure 3)."""
    settings = result.settings
    for row, score in enumerate(sorted(settings["scores"], reverse=True)):
        for column, p in enumerate(settings["persistences"]):
            panel = axes[row, column]
            panel.set_title(f"RBP {score:.4f} at p={p:g}")
            with contextlib.suppress(rb.DataError):  # a score that cannot occur there has an empty panel
                methods = ("exact" if p < 0.5 else "relaxed", "greedy")
                rb.plots.range_over_persistence(rb.rbp.Published(score, p, digits=4), panel, methods=methods)
                panel.get_legend().remove()
            panel.label_outer()
    drawn = (dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True)) for panel in axes.flat)
    named = {label: handle for of_panel in drawn for label, handle in of_panel.items()}
    axes[0, 0].get_figure().legend(named.values(), named, loc="outside lower center", ncols=len(named))


@range_by_persistence.figure()
def range_with_residual(result: StudyResult, axes: Axes) -> None:
    """The range of a score with a residual, and the vectors R_G, R_L, R'_G and R'_L (Figure 4)."""
    settings = result.settings
    rb.plots.range_over_persistence(
        rb.rbp.Published(settings["score"], settings["p"], settings["residual"]), axes, methods=METHODS
    )


@study("Zhang, Park and Moffat 2008, Section 7")
def deciding_by_persistence(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    persistences: Sequence[float] = (0.5, 0.8, 0.95),
    digits: Sequence[int] = (2, 4),
    pairs: int = 100,
    seed: int = 0,
    time_limit: float = 0.5,
    progress: Progress | None = None,
) -> StudyResult:
    """How often do two scores published at different persistences decide which system is better?

    A's score is converted to B's persistence, where B's printed score lies inside A's range, which decides nothing, or
    outside. The study counts the decisions of the greedy, relaxed and exact ranges, and how many are wrong, according
    to the runs. ``pairs`` pairs of runs are drawn (for single topics, each with a topic); for means there may be fewer.
    """
    if len(set(persistences)) < 2:
        raise rb.UsageError("The study needs two persistences at least.")
    scores = rb.evaluate(qrels, runs, [rb.RBP(p=p) for p in persistences], bounds="none")
    if len(scores.runs) < 2:
        raise rb.UsageError("The study needs two runs at least.")
    values = scores.value[:, ~np.isnan(scores.value).any(axis=(0, 2))]
    number, topics = values.shape[:2]
    if not topics:
        raise rb.UsageError("The runs share no judged topic.")
    rng = np.random.default_rng(seed)
    one, topic = rng.integers(number, size=pairs), rng.integers(topics, size=pairs)
    first, second = np.divmod(rng.permutation(number * number), number)  # no pair comes twice
    different = np.flatnonzero(first != second)[:pairs]
    # For each number of topics: the scores of A and of B, by pair and persistence.
    drawn = {
        1: [values[one, topic], values[(one + rng.integers(1, number, size=pairs)) % number, topic]],
        topics: [values.mean(axis=1)[chosen[different]] for chosen in (first, second)],
    }
    moves = itertools.permutations(enumerate(persistences), 2)
    steps = list(itertools.product(drawn.items(), moves, digits))
    rows = []
    for (count, (moved, met)), ((at_from, p), (at_to, to)), known in track(steps, progress, len(steps)):
        truth = np.sign(moved[:, at_to] - met[:, at_to])
        printed = (np.round(part, known).tolist() for part in (moved[:, at_from], met[:, at_to]))
        decisions = [_decisions(a, b, p, to, time_limit, digits=known, topics=count)
                     for a, b in zip(*printed, strict=True)]  # fmt: skip
        row = {"topics": count, "digits": known, "from": p, "to": to, "pairs": len(truth)}
        for method in METHODS_COMPARED:
            decided = np.array([each[method] for each in decisions])
            row[method] = float(np.mean(decided != 0))
            row[f"{method}_wrong"] = float(np.mean((decided != 0) & (decided != truth)))
        rows.append(row)
    return StudyResult(rows, _answer(rows), settings={"runs": len(scores.runs), "topics": topics})


def _decisions(a: float, b: float, p: float, to: float, time_limit: float, **known: Any) -> dict[str, int]:
    ends = rb.rbp.Published(b, to, **known).score_range
    greedy, relaxed = (rb.rbp.transfer(a, p, to, method=method, **known) for method in ("greedy", "relaxed"))
    decided = {"greedy": _side(greedy, b, b), "relaxed": _side(relaxed, *ends)}
    # The exact range holds the greedy vectors and lies within the relaxed range: only between them is it needed.
    if decided["relaxed"] or not _side(greedy, *ends):
        return decided | {"exact": decided["relaxed"]}
    return decided | {"exact": _side(rb.rbp.transfer(a, p, to, time_limit=time_limit, **known), *ends)}


def _side(there: Any, low: float, high: float) -> int:
    return 1 if there.low > high else -1 if there.high < low else 0


def _answer(rows: Rows) -> str:
    sentences = []
    for count in dict.fromkeys(row["topics"] for row in rows):
        own = [row for row in rows if row["topics"] == count]
        shares = {method: np.mean([row[method] for row in own]) for method in METHODS_COMPARED}
        wrong = {method: np.mean([row[f"{method}_wrong"] for row in own]) for method in METHODS_COMPARED}
        by_method = ", ".join(f"{method} {shares[method]:.1%} ({wrong[method]:.1%} wrongly)" for method in shares)
        sentences.append(f"{'One topic' if count == 1 else f'Mean over {count} topics'}: pairs decided {by_method}.")
    return " ".join(sentences)
