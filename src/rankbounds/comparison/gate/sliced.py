"""A gate on every slice of topics: worse on any slice?

It fails if a loss is shown on a slice (Holm over slices and runs), and passes if every slice rules out the margin, each
at alpha (an intersection-union test, which needs no correction). Neither minds slices that share topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.comparison.compared import Compared
from rankbounds.comparison.comparison import compare_scores
from rankbounds.comparison.gate.outcomes import FAIL, PASS, RELATIONS, UNDECIDED, HeldChange, Outcome
from rankbounds.comparison.slices import cut_topics
from rankbounds.comparison.tables import Rows
from rankbounds.comparison.wording import POWER, compared_words
from rankbounds.errors import UsageError
from rankbounds.evaluation.scores import Scores
from rankbounds.phrases import some
from rankbounds.results import Column, Result, count
from rankbounds.stats.corrections import correct_p_values
from rankbounds.stats.equivalence import topics_for_margin
from rankbounds.stats.power import power_of_t_test, topics_for_effects
from rankbounds.stats.significance import check_finite, deviation_of, pairs_of
from rankbounds.tables import p_words, plain, signed

NAMED_SLICES = 6


def hold_slices(
    condition: Any, comparison: Compared, baseline: str, labels: Mapping[str, Any], candidates: Sequence[str], test: str
) -> list[Outcome]:
    if comparison.settings["alternative"] != "two-sided":
        raise UsageError("Slices are compared with two-sided tests.")
    alpha, scores = float(comparison.settings["alpha"]), comparison.scores
    parts, unseen = _parts(labels, scores.query_ids)
    compared = {name: _on_topics(comparison, condition, topics) for name, topics in parts.items()}
    others = [run for run in comparison.runs if run != baseline]
    held = {
        (run, name): None if part is None else HeldChange(condition, part, run, baseline, test)
        for run in others
        for name, part in compared.items()
    }
    tested = {key: change for key, change in held.items() if change is not None}
    alone = np.array([change.row["p_value"] for change in tested.values()])
    p_fail = dict(zip(tested, correct_p_values(alone, "holm").tolist(), strict=True))
    rows: dict[str, list[dict[str, Any]]] = {run: [] for run in others}
    for (run, name), change in held.items():
        pair = [comparison.runs.index(each) for each in (run, baseline)]
        values = scores.value[pair][:, parts[name], comparison.measures.index(comparison.measure(condition.measure))]
        difference = plain(float(values[0].mean() - values[1].mean()))
        row: dict[str, Any] = {"slice": name, "topics": int(parts[name].size), "difference": difference}
        row |= {"ci_low": None, "ci_high": None, "p_fail": None, "needed": None}
        row["p_pass"] = 0.0 if change is None and np.array_equal(*values) else 1.0
        shown = False
        if change is not None:
            row |= {end: plain(change.row[end]) for end in ("ci_low", "ci_high")}
            row |= {"p_fail": p_fail[run, name], "p_pass": change.p_to_pass()}
            loses = change.lead < 0 or not change.worse
            shown = row["p_fail"] < alpha and change.lead != 0 and loses and not change.row["opposed"]
        row["answer"] = PASS if row["p_pass"] < alpha else FAIL if shown else UNDECIDED
        if change is not None and row["answer"] == UNDECIDED:
            row["needed"] = change.topics_to_pass()
        rows[run].append(row)
    most = np.array([max(row["p_pass"] for row in of_run) for of_run in rows.values()])
    p_pass = dict(zip(rows, correct_p_values(most, "holm").tolist(), strict=True))
    outcomes = []
    for run in candidates:
        answers = {row["answer"] for row in rows[run]}
        answer = FAIL if FAIL in answers else PASS if p_pass[run] < alpha else UNDECIDED
        changes = [held[run, name] for name in parts]
        outcomes.append(_outcome(condition, run, baseline, answer, rows[run], p_pass[run], changes, unseen))
    return outcomes


def _parts(labels: Mapping[str, Any], queries: Sequence[str]) -> tuple[dict[str, Ints], list[str]]:
    cut, _, unseen = cut_topics(labels, queries)
    several = len(cut) > 1
    named = {f"{by}={label}" if several else label: held for by, of in cut.items() for label, held in of.items()}
    return named, [f"{by}={label}" if several else label for by, label in unseen]


def _on_topics(comparison: Compared, condition: Any, topics: Ints) -> Compared | None:
    clusters = None if comparison.clusters is None else comparison.clusters.take(topics)
    if (topics.size if clusters is None else len(clusters)) < 2:
        return None
    ids = comparison.scores.query_ids
    scores = comparison.scores[comparison.measure(condition.measure)].filter(topic=[ids[at] for at in topics.tolist()])
    question = replace(comparison.question, clusters=clusters, correction="none", margin=None)
    return compare_scores(scores, question).numbers


def _outcome(
    condition: Any, run: str, baseline: str, answer: str, rows: list[dict[str, Any]], p_pass: float,
    changes: Sequence[HeldChange | None], unseen: Sequence[str],
) -> Outcome:  # fmt: skip
    margin, relation = condition.limit or 0.0, RELATIONS[condition.relation][answer]
    name = f"{compared_words(condition.measure)}{f' (margin {margin:g})' if margin else ''}"
    told = [row for row in rows if row["answer"] == (FAIL if answer == FAIL else UNDECIDED)]
    if answer == PASS:
        where = f"on any of {len(rows)} slices"
    else:
        where = f"on {len(told)} of {len(rows)} slices: {_named(told, needed=answer == UNDECIDED)}"
    lacking = f"; no topic is judged in {some(list(unseen))}, of which nothing is said" if unseen else ""
    brief = f"{run} {relation} {baseline} by {name} {where}{lacking}"
    tested = [change for change in changes if change is not None]
    sizes = np.array([change.sample.size for change in tested])
    deviations = np.array([float(deviation_of(change.sample)) for change in tested])
    alpha = tested[0].alpha if tested else 0.05
    share = _passing(deviations, sizes, margin, alpha) * (len(tested) == len(changes))
    power = (
        f"On these slices a change without effect passes {share:.0%} of the time: rankbounds topics --by plans them."
        if margin
        else "Without a margin only a gain on every slice passes."
    )
    fail = min((row["p_fail"] for row in rows if row["p_fail"] is not None), default=None)
    tests = (
        f"{'' if fail is None else f'change: {p_words(fail)} at least, by Holm over slices; '}margin: {p_words(p_pass)}"
    )
    worst = min(rows, key=lambda row: row["difference"] * (-1 if condition.measure.lower_is_better else 1))
    return Outcome(
        str(condition), run, baseline, answer,
f"{brief} ({tests} at most).{f' {power}' if answer != UNDECIDED else ''}",
        power if answer == UNDECIDED else "", difference=worst["difference"], p_fail=fail, p_pass=p_pass, brief=brief,
        slices=tuple(rows),
    )  # fmt: skip


def _named(rows: Sequence[dict[str, Any]], *, needed: bool) -> str:
    named = []
    for row in rows[:NAMED_SLICES]:
        units = f"{row['topics']} topic{'s' * (row['topics'] != 1)}"
        more = f"; about {row['needed']:,} needed" if needed and row["needed"] else ""
        named.append(f"{row['slice']} {signed(row['difference'])} ({units}{more})")
    return ", ".join(named) + f" and {len(rows) - NAMED_SLICES} more" * (len(rows) > NAMED_SLICES)


# ---- planning ----


def _passing(deviations: Floats, topics: Ints, margin: float, alpha: float) -> float:
    with np.errstate(divide="ignore"):
        effects = np.minimum(margin / deviations, 10.0)
    known = topics >= topics_for_margin(alpha)
    shares = np.where(known, power_of_t_test(effects, np.maximum(topics, 2), 2 * alpha), 0.0)
    return float(np.where(deviations == 0, 1.0, shares).prod())


def plan_slices(
    pilot: Scores | None,
    by: str | Mapping[str, Any],
    margin: float | None = None,
    *,
    alpha: float = 0.05,
    power: float = POWER,
) -> Result:
    """Count the topics of each slice with which a change without effect passes a gate on every slice."""
    from rankbounds.files.queries import labels_from

    if pilot is None or len(pilot.runs) < 2 or not margin:
        raise UsageError("--by plans a gate on slices: give judgments, two runs or more as a pilot, and --margin.")
    labels = by if isinstance(by, Mapping) else labels_from(by, pilot.query_ids)
    parts, unseen = _parts(labels, pilot.query_ids)
    first, second = pairs_of(len(pilot.runs))
    sizes = np.array([topics.size for topics in parts.values()])
    rows, notes = [], []
    for at, measure in enumerate(pilot.measures):
        apart = pilot.value[second, :, at] - pilot.value[first, :, at]
        check_finite(apart, "a plan", measure)
        of_slices = [
            deviation_of(apart[:, topics]) if topics.size > 1 else np.array([np.nan]) for topics in parts.values()
        ]
        deviations = np.array([np.sqrt(np.mean(each**2)) for each in of_slices])
        with np.errstate(divide="ignore"):
            effects = np.nan_to_num(margin / deviations)
        needed = topics_for_effects(effects, 2 * alpha, power ** (1 / len(parts)))
        needed = np.where(needed > 0, np.maximum(needed, topics_for_margin(alpha)), 0)
        for name, size, deviation, topics in zip(parts, sizes.tolist(), deviations, needed.tolist(), strict=True):
            row = {"measure": str(measure), "slice": name, "topics": size, "deviation": plain(float(deviation))}
            rows.append(row | {"topics_needed": topics or None})
        share = 0.0 if np.isnan(deviations).any() else _passing(deviations, sizes, margin, alpha)
        notes.append(f"By {measure} a change without effect passes on all {len(parts)} slices {share:.0%} of the time")
    note = f"{'; '.join(notes)} (margin {margin:g}, t tests); with the topics needed, {power:.0%} of the time."
    note += f" No topic is judged in {some(unseen)}." if unseen else ""
    columns = [Column("measure"), Column("slice"), count("topics"), Column("deviation"), count("topics_needed")]
    return Rows(lambda: rows, columns, note=note, settings={"margin": margin, "alpha": alpha, "power": power})
