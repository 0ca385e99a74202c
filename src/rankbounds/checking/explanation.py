"""Why trec_eval printed other numbers: every choice that can make the difference is tried, measure by measure."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from rankbounds.collection.inputs import judgments_from, run_from
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run, position_in_topic
from rankbounds.deprecation import Call, reordered_arguments
from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.scores import ALL, Scores
from rankbounds.files.opening import read_text
from rankbounds.measures import Measure, parse_measure

Printed = dict[tuple[str, str], str]
"""What trec_eval printed, by its name of the measure and by topic."""


@dataclass(frozen=True)
class Explanation:
    """One measure: on how many lines the two agree, how far apart they are, and why."""

    name: str
    measure: str | None
    lines: int
    equal: int
    largest_difference: float | None
    example: str
    why: str

    @property
    def settled(self) -> bool:
        """Do the two agree, or is it known why not?"""
        return self.lines == self.equal or not self.why.startswith("not explained")


@dataclass(frozen=True)
class Choice:
    """A way to compute that differs from ours in one respect, and how to tell trec_eval or us to use it."""

    why: str
    options: dict[str, str]
    level: float = 1.0
    depth: int | None = None
    gain: str | None = None


def read_output(path: str | os.PathLike[str]) -> Printed:
    """The lines of a file that trec_eval wrote: measure, topic, value."""
    text = read_text(os.fspath(path))
    printed: Printed = {}
    for number, line in enumerate(text.tobytes().decode("utf-8", "replace").splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 3:
            raise DataError(
                f"{text.name}:{number}: a line of trec_eval's output is a measure, a topic and a value; this one has "
                f"{len(fields)} fields."
            )
        name, topic, value = fields
        if (name, topic) in printed:
            raise DataError(
                f'{text.name}:{number}: "{name}" of topic "{topic}" stands here for the second time. Give the output '
                "for one run."
            )
        printed[name, topic] = value
    if not printed:
        raise DataError(f"{text.name}: the file holds no line of data.")
    return printed


def _old_call(args: tuple[Any, ...], named: dict[str, Any]) -> Call | None:
    """``explain(output, qrels, run)`` in the order of today, if it is that."""
    if len(args) != 3 or _is_output(args[2]) or not _is_output(args[0]):
        return None
    output, qrels, run = args
    return (qrels, run, output), named


def _is_output(given: Any) -> bool:
    if isinstance(given, Mapping):
        return bool(given) and all(isinstance(key, tuple) for key in given)
    try:
        return isinstance(given, str | os.PathLike) and bool(read_output(given))
    except RankboundsError:
        return False


@reordered_arguments("explain(qrels, run, output)", _old_call)
def explain(
    qrels: Any, run: Any, output: str | os.PathLike[str] | Printed, *, lenient: bool = False
) -> list[Explanation]:
    """Find out why trec_eval printed other numbers for the same files.

    Parameters
    ----------
    qrels
        The judgments that trec_eval was given, in any form that ``evaluate`` takes.
    run
        The run that trec_eval was given.
    output
        What trec_eval printed: a file, or ``{(measure, topic): value}`` with the value as text.
    lenient
        Leave out lines that cannot be read.

    Returns
    -------
    list of Explanation
        For each measure of the output: on how many lines the two agree, how far apart they are, and ``why``.

    Notes
    -----
    Every choice that can make a difference is tried, alone and with the treatment of missing topics: ties, the
    precision of scores, the relevance level, unjudged documents, depth, gains and interpolation. A choice explains a
    measure when it reproduces all of its lines as printed.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}}
    >>> (found,) = rb.explain(qrels, run, {("map", "all"): "1.0000"})
    >>> print(found.why)
    missing topics: without -c, trec_eval leaves out topics that the run lacks

    """
    printed = output if isinstance(output, dict) else read_output(output)
    judgments, ours = judgments_from(qrels, lenient), run_from(run, lenient=lenient)
    known: dict[str, Measure] = {}
    explained: dict[str, Explanation] = {}
    for name in dict.fromkeys(name for name, _ in printed):
        try:
            known[name] = parse_measure(name)
        except UsageError:
            lines = sum(other == name for other, _ in printed)
            explained[name] = Explanation(name, None, lines, 0, None, "", "rankbounds has no such measure")
    if not known:
        raise DataError(
            "None of the measures in this output is known here. (The order is: judgments, run, trec_eval's output.)"
        )
    _explain_known(printed, known, judgments, ours, explained)
    order = dict.fromkeys(name for name, _ in printed)
    return [explained[name] for name in order]


def _explain_known(
    printed: Printed, known: dict[str, Measure], qrels: Qrels, run: Run, explained: dict[str, Explanation]
) -> None:
    ours: dict[str, tuple[int, int, float, str]] = {}
    fitting: dict[str, list[str]] = {name: [] for name in known}
    for choice in _choices(printed, qrels, run):
        left = {name: measure for name, measure in known.items() if "equal" not in fitting[name]}
        if not left:
            break
        chosen = {name: measure.at_level(choice.level) for name, measure in left.items()}
        scores = _scores(choice, list(dict.fromkeys(chosen.values())), qrels, run)
        for name, measure in chosen.items():
            agreement = _compared(printed, name, scores, scores.measures.index(measure))
            ours.setdefault(name, agreement)
            lines, equal, *_ = agreement
            if lines == equal:
                fitting[name].append(choice.why)
    # One call of trec_eval had one set of options: of several that fit a measure, the one that fits most measures.
    popular = Counter(why for several in fitting.values() for why in several)
    for name, measure in known.items():
        if fitting[name]:
            why = max(fitting[name], key=popular.__getitem__)
        else:
            nothing = "not explained by missing topics, ties, precision, relevance level, depth or gains"
            why = _by_topic(printed, name, measure, qrels, run) or nothing
        explained[name] = Explanation(name, str(measure), *ours[name], why)


def _choices(printed: Printed, qrels: Qrels, run: Run) -> Iterator[Choice]:
    """Ways to compute, ours first, then those that differ in one respect, then in two."""
    topics = [("", "judged"), ("missing topics: without -c, trec_eval leaves out topics that the run lacks", "shared")]
    ways = [
        ("", Choice("", {})),
        (
            "precision: scores were compared in 32 bits, as version 9 does (--score-precision single)",
            Choice("", {"score_precision": "single"}),
        ),
        ("ties: documents of equal score in rising order of their ids (--ties docid)", Choice("", {"ties": "docid"})),
        ("ties: documents of equal score in the order of the file", Choice("", {"ties": "file"})),
        ("order: the file's line order, scores ignored (--ties run)", Choice("", {"ties": "run"})),
        (
            "unjudged: trec_eval -J leaves unjudged documents out (--unjudged condensed)",
            Choice("", {"unjudged": "condensed"}),
        ),
    ]
    if run.stated_rank is not None:
        ways.insert(4, ("ties: in order of the stated rank (--ties rank)", Choice("", {"ties": "rank"})))
    levels = sorted({float(grade) for grade in np.unique(qrels.grade) if grade > 1})
    ways += [
        (f"relevance level: trec_eval -l {level:g} (rel={level:g})", Choice("", {}, level=level)) for level in levels
    ]
    if levels:
        table = ",".join(f"{grade:g}={2**grade - 1:g}" for grade in (1.0, *levels))
        ways.append((f"gains: 2^grade - 1 in place of the grade (--gain {table})", Choice("", {}, gain=table)))
    deepest = int(np.bincount(run.pairs.topic).max())
    depths = {int(float(value)) for (name, topic), value in printed.items() if name == "num_ret" and topic != ALL}
    for depth in sorted({10, 100, 1000} | ({max(depths)} if depths else set())):
        if 0 < depth < deepest:
            ways.append(
                (f"depth: only the first {depth} documents counted (trec_eval -M {depth})", Choice("", {}, depth=depth))
            )
    for (why, choice), (more, which) in sorted(
        product(ways, topics), key=lambda pair: bool(pair[0][0]) + bool(pair[1][0])
    ):
        reasons = "; ".join(filter(None, (why, more))) or "equal"
        yield replace(choice, why=reasons, options={**choice.options, "topics": which})


def _scores(choice: Choice, measures: list[Measure], qrels: Qrels, run: Run) -> Scores:
    options = dict(choice.options)
    if options.get("ties") == "file":
        # Line order decides between equal scores only: as a stated rank.
        position = position_in_topic(run.pairs)
        run = Run(run.name, run.pairs, run.score, lambda: position)
        options["ties"] = "rank"
    if choice.depth is not None:
        run = _cut(run, choice.depth)
    return _quietly(qrels, run, measures, gain=choice.gain, **options)


def _cut(run: Run, depth: int) -> Run:
    """The run's first documents by score, equal scores by falling id."""
    docs = [run.pairs.docs.raw(row) for row in range(len(run))]
    by_id = sorted(range(len(run)), key=docs.__getitem__, reverse=True)
    rows = np.array(sorted(by_id, key=lambda row: -run.score[row]))
    position = np.empty(len(run), dtype=np.int64)
    position[rows] = position_in_topic(run.pairs.take(rows))
    return run.take(np.flatnonzero(position <= depth))


def _compared(printed: Printed, name: str, scores: Scores, number: int) -> tuple[int, int, float, str]:
    """Lines, equal lines, the largest difference, and the line that has it."""
    lines, equal, furthest, example = 0, 0, 0.0, ""
    for part in (scores, scores.mean()):
        values = dict(zip(part.query_ids, part.value[0, :, number].tolist(), strict=True))
        for (printed_name, topic), text in printed.items():
            if printed_name != name or (topic == ALL) != (part is not scores):
                continue
            lines += 1
            value = values.get(topic, float("nan"))
            if _same(value, text):
                equal += 1
                continue
            gap = abs(value - float(text)) if value == value else float("inf")
            if gap > furthest or not example:
                ours = f"{value:.4f}" if value == value else "nothing"
                furthest, example = gap, f"topic {topic}: {text} there, {ours} here"
    return lines, equal, furthest, example


def _same(value: float, text: str) -> bool:
    digits = len(text.partition(".")[2])
    try:
        # The last digit may be rounded either way when the value lies between.
        return f"{value:.{digits}f}" == text or abs(value - float(text)) <= 0.5 * 10.0**-digits * (1 + 1e-9)
    except ValueError:
        return False


def _by_topic(printed: Printed, name: str, measure: Measure, qrels: Qrels, run: Run) -> str | None:
    """What trec_eval does to each topic by its own judgments, where that makes the difference."""
    topics = np.arange(len(qrels.query_ids))
    if hasattr(measure, "recall"):
        why = "interpolation: version 9 takes recall r to be reached with floor(r R + 0.9) documents, 10 with 0.5"
        relevant = np.bincount(qrels.pairs.topic[qrels.grade >= 1], minlength=topics.size)
        needed = np.floor(float(measure.recall) * relevant + 0.9)
        wanted = [replace(measure, recall=level) for level in (needed / np.maximum(relevant, 1)).tolist()]
    else:
        return None
    values = np.full((1, topics.size, 1), np.nan)
    for level in dict.fromkeys(wanted):
        chosen = np.array([other == level for other in wanted])
        rows = np.flatnonzero(chosen[qrels.pairs.topic])
        part = qrels.take(rows)
        if set(part.query_ids) & set(run.query_ids):
            values[:, chosen] = _quietly(part, run, [level], topics="shared").value
    nothing = np.full_like(values, np.nan)
    scores = Scores([run.name], list(qrels.query_ids), [measure], values, nothing, nothing, nothing[:, :, 0])
    lines, equal, _, _ = _compared(printed, name, scores, 0)
    return why if lines == equal else None


def _quietly(qrels: Qrels, run: Run, measures: list[Measure], **options: Any) -> Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)
        return evaluate(qrels, run, measures, bounds="none", **options)
