"""May this run replace the other? A gate with three answers: pass, fail, undecided (``docs/gate.md`` defines them).

A change is tested, by the same corrected p as in the comparison's table; a value is a fact about these topics.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any
from xml.etree import ElementTree

import numpy as np

from rankbounds.choices import check_choice
from rankbounds.comparison.compared import Compared
from rankbounds.comparison.comparison import compare_scores
from rankbounds.comparison.evidence import Evidence
from rankbounds.comparison.gate.outcomes import (
    FAIL,
    NOT_BETTER,
    PASS,
    SAID,
    SAME_TEST,
    UNDECIDED,
    HeldChange,
    Outcome,
    hold_value,
)
from rankbounds.comparison.tables import Rows, p_column
from rankbounds.errors import UsageError, did_you_mean, readable
from rankbounds.evaluation.score_differences import equal
from rankbounds.evaluation.score_files import fingerprint
from rankbounds.evaluation.scores import Origin, Scores
from rankbounds.files.queries import labels_from
from rankbounds.measures import Measure, parse_measure
from rankbounds.notebook import shown
from rankbounds.results import Column, Result, Row, build_table, count, interval
from rankbounds.stats.corrections import CORRECTIONS, correct_p_values
from rankbounds.stats.equivalence import BETTING, check_margin
from rankbounds.tables import Table, number, plain, signed
from rankbounds.terminal import escape_controls

CHANGES = ("worse", "different", NOT_BETTER)
"""What a run can be beside the baseline."""
EXAMPLES = (
    '"nDCG@10 worse", "nDCG@10 worse by 0.01", "nDCG@10 not better", "nDCG@10 worse on any slice", "AP different", '
    '"nDCG@10 < 0.5", "judged@10 < 80%"'
)
_CHANGE = re.compile(
    r"(?P<measure>\S.*?)\s+(?P<change>(?:not\s+)?[A-Za-z]+)(?:\s+by(?:\s+more\s+than)?\s+(?P<margin>\S+))?"
    r"(?P<sliced>\s+on\s+any\s+slice)?"
)
_SIDE = re.compile(r"(?P<measure>\S.*?)\s*(?P<side><=|>=|<|>)\s*(?P<limit>\S+)")


@dataclass(frozen=True)
class Condition:
    """A measure, and a condition that must not hold for its score or its change from the baseline."""

    measure: Measure
    relation: str
    """One of ``CHANGES`` or of ``SIDES``."""
    limit: float | None = None
    """The margin of a change, None where the gate's holds; the number that a score is held against."""

    sliced: bool = False
    """Is it about every slice of topics, and not all of them together?"""

    @property
    def of_change(self) -> bool:
        return self.relation in CHANGES

    def with_margin(self, margin: float) -> Condition:
        return (
            self
            if self.limit is not None or self.relation not in ("worse", "different")
            else replace(self, limit=margin)
        )

    def check_limit(self, least: float, most: float) -> None:
        limit = 0.0 if self.limit is None else self.limit
        if least <= limit <= most:
            return
        end = f"below {least:g}" if limit < least else f"above {most:g}"
        scores = f"{self.measure} is" if not self.of_change else f"differences by {self.measure} are"
        percent = f" Did you mean {limit:g}%?" if least <= limit / 100 <= most else ""
        raise UsageError(f'The gate "{self}" can have one answer only: {scores} never {end}.{percent}')

    def holds(self, value: float) -> bool:
        assert self.limit is not None
        if bool(equal(value, self.limit)):
            return self.relation in ("<=", ">=")
        return value < self.limit if self.relation in ("<", "<=") else value > self.limit

    def __str__(self) -> str:
        if self.of_change:
            return (
                f"{self.measure} {self.relation}"
                + (f" by more than {self.limit:g}" if self.limit else "")
                + (" on any slice" * self.sliced)
            )
        return f"{self.measure} {self.relation} {self.limit:g}"


def parse_condition(text: str, known: Iterable[Measure] = ()) -> Condition:
    labelled = {str(measure): measure for measure in known}
    stripped = text.strip()
    if side := _SIDE.fullmatch(stripped):
        named = labelled.get(side["measure"]) or parse_measure(side["measure"])
        return Condition(named, side["side"], _number(side["limit"], text))
    change = _CHANGE.fullmatch(stripped)
    relation = " ".join(change["change"].split()) if change else ""
    if not change or relation not in CHANGES:
        hint = did_you_mean(relation, [*CHANGES]) if change else ""
        raise UsageError(
            f'The gate "{text}" must name a measure and the condition that fails it.{hint} Examples: {EXAMPLES}.'
        )
    margin = None if change["margin"] is None else _number(change["margin"], text)
    if margin is not None:
        check_margin(margin)
    if relation == NOT_BETTER and (margin is not None or change["sliced"]):
        raise UsageError(f'The gate "{text}" passes only if a gain is shown: it takes no margin and no slices.')
    measure = labelled.get(change["measure"]) or parse_measure(change["measure"])
    return Condition(measure, relation, margin, sliced=bool(change["sliced"]))


def parse_conditions(
    conditions: str | Condition | Iterable[str | Condition], known: Iterable[Measure] = ()
) -> list[Condition]:
    known = list(known)
    given: list[Any] = [conditions]
    if isinstance(conditions, Iterable) and not isinstance(conditions, str):
        given = list(conditions)
    if not all(isinstance(each, str | Condition) for each in given):
        raise UsageError(f"A gate takes conditions, not {conditions!r}. Examples: {EXAMPLES}.")
    if not given or any(isinstance(each, str) and not each.strip() for each in given):
        raise UsageError(f"A gate needs a condition{', and this one is empty' * bool(given)}. Examples: {EXAMPLES}.")
    return list(dict.fromkeys(parse_condition(each, known) if isinstance(each, str) else each for each in given))


def _number(text: str, condition: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f'The gate "{condition}" needs a number in place of "{text}". Examples: {EXAMPLES}.')
    return value


# ---- the gate ----

EXIT_CODES = {PASS: 0, FAIL: 1, UNDECIDED: 4}


def _bounds(row: Row) -> str:
    names = ("low", "high") if row["baseline"] is None else ("certain_low", "certain_high")
    return interval(*names, "").text(row)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """The outcomes of all conditions and the overall answer. It prints as lines, the answer first.

    Attributes
    ----------
    outcomes : list of Outcome
        One per condition and run.
    answer : {"pass", "fail", "undecided"}
        ``fail`` if any failed, else ``undecided`` if any is, else ``pass``.
    exit_code : int
        0 pass, 1 fail, 4 undecided, unless ``undecided`` overrides that.
    fingerprint : dict or None
        Checksums of the judgments and of each run, and the settings, as in ``compare --format json``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
    >>> runs = {"good": {q: {"r": 2, "n": 1} for q in qrels}, "bad": {q: {"n": 2, "r": 1} for q in qrels}}
    >>> gate = rb.compare(qrels, runs, "RR").gate(["RR worse", "RR < 0.4"])
    >>> [outcome.answer for outcome in gate.outcomes], gate.answer, gate.exit_code
    (['fail', 'pass'], 'fail', 1)
    """

    outcomes: list[Outcome]
    undecided: str | None = None
    """``pass`` or ``fail``: how an undecided condition counts for the exit code."""
    rests_on: Origin | Evidence | None = field(default=None, repr=False, compare=False)
    """What the answer rests on, if it is known."""

    @cached_property
    def fingerprint(self) -> dict[str, Any] | None:
        origin = self.rests_on.origin if isinstance(self.rests_on, Evidence) else self.rests_on
        return None if origin is None else fingerprint(origin)

    @property
    def answer(self) -> str:
        answers = {outcome.answer for outcome in self.outcomes}
        return FAIL if FAIL in answers else UNDECIDED if UNDECIDED in answers else PASS

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.undecided if self.answer == UNDECIDED and self.undecided else self.answer]

    columns = (
        Column("condition"),
        Column("run"),
        Column("baseline", "against", left=True),
        Column("answer", "gate"),
        *(Column(name, None) for name in ("why", "decide")),
        Column(
            "value",
            "value or change",
            lambda row: number(row["value"]) if row["baseline"] is None else signed(row["difference"]),
        ),
        Column("low", "bounds", _bounds),
        *(Column(name, None) for name in ("high", "difference", "certain_low", "certain_high")),
        p_column("p_fail", "p of change"),
        p_column("p_pass", "p of margin"),
        Column("could_turn", None),
    )

    def rows(self) -> list[dict[str, Any]]:
        rows = [{name: plain(value) for name, value in asdict(outcome).items()} for outcome in self.outcomes]
        return [{name: value for name, value in row.items() if name not in ("brief", "slices")} for row in rows]

    def slices(self) -> Result | None:
        rows = [
            {"condition": outcome.condition, "run": outcome.run} | row
            for outcome in self.outcomes
            for row in outcome.slices
        ]
        shown = [Column("slice", importance=9), Column("run"), count("topics"), Column("answer", "gate", importance=8)]
        shown.append(Column("difference", cell=lambda row: signed(row["difference"]), importance=7))
        shown += [
            p_column("p_fail", "p of change"),
            p_column("p_pass", "p of margin"),
            count("needed", "topics needed"),
        ]
        fields = (
            "condition",
            "slice",
            "run",
            "topics",
            "answer",
            "difference",
            "ci_low",
            "ci_high",
            "p_fail",
            "p_pass",
        )
        return Rows(lambda: rows, shown, (*fields, "needed")) if rows else None

    title = "Conditions of the gate, and whether they hold."

    def lines(self) -> list[str]:
        lines = [outcome.line() for outcome in self.outcomes]
        if len(lines) > 1:
            answers = [outcome.answer for outcome in self.outcomes]
            counts = [f"{answers.count(answer)} {SAID[answer]}" for answer in EXIT_CODES if answer in answers]
            lines = [f"{self.answer.upper()}: of {len(lines)} checks, {', '.join(counts)}", *lines]
        if self.answer == UNDECIDED and self.undecided:
            lines.append(f"Undecided counts as {self.undecided}.")
        return lines

    def words(self) -> str:
        return "".join(f"{outcome.words()}\n" for outcome in self.outcomes)

    def reasons(self) -> Table:
        columns = [Column("answer", "gate"), Column("why", left=True), Column("decide", "what would decide it")]
        return build_table(self.rows(), columns)

    def render(self, kind: str, *, raw: bool = False) -> str:
        if kind != "markdown":
            return super().render(kind, raw=raw)
        parts = [self.table(), self.reasons(), *([sliced.table()] if (sliced := self.slices()) else [])]
        return "\n".join([f"### Gate: {SAID[self.answer]}\n", *(part.markdown() for part in parts)])

    def junit(self) -> str:
        """Write the outcomes as JUnit XML, which pipelines show as test cases.

        What is undecided is an ``error``, the term for a check without a result.
        """
        kinds = {
            PASS: None,
            FAIL: "failure",
            UNDECIDED: {None: "error", PASS: "skipped", FAIL: "failure"}[self.undecided],
        }
        elements = [kinds[outcome.answer] for outcome in self.outcomes]
        counted = {"failures": "failure", "errors": "error", "skipped": "skipped"}
        counts = {name: str(elements.count(kind)) for name, kind in counted.items()}
        attributes = {"tests": str(len(elements)), **counts, "name": "rankbounds", "time": "0"}
        suites = ElementTree.Element("testsuites", attributes)
        suite = ElementTree.SubElement(suites, "testsuite", attributes)
        for outcome, kind in zip(self.outcomes, elements, strict=True):
            against = f" against {outcome.baseline}" if outcome.baseline is not None else ""
            named = {"classname": readable(outcome.run + against), "name": readable(outcome.condition), "time": "0"}
            case = ElementTree.SubElement(suite, "testcase", named)
            if kind:
                element = ElementTree.SubElement(case, kind, {"message": readable(outcome.why)})
                if kind != "skipped":
                    element.set("type", outcome.answer)
                element.text = readable(outcome.decide)
            ElementTree.SubElement(case, "system-out").text = readable(outcome.words())
        ElementTree.indent(suites)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'

    def __repr__(self) -> str:
        return "".join(f"{escape_controls(line)}\n" for line in self.lines())

    def _repr_html_(self) -> str:
        return shown(self.table(), self.reasons())


def check_undecided(counts_as: str | None) -> None:
    if counts_as is not None:
        check_choice("undecided", counts_as, (PASS, FAIL))


def hold(
    compared: Compared | None,
    conditions: str | Condition | Iterable[str | Condition],
    *,
    margin: float = 0.0,
    undecided: str | None = None,
    margin_test: str = SAME_TEST,
    scores: Scores | None = None,
    evidence: Evidence | None = None,
    candidates: Sequence[str] | None = None,
    by: str | os.PathLike[str] | Mapping[str, Any] | None = None,
) -> Gate:
    comparison = compared
    if comparison is not None:
        evidence = evidence or comparison.evidence
        scores = scores or comparison.scores
    assert scores is not None
    asked = [condition.with_margin(margin) for condition in parse_conditions(conditions, scores.measures)]
    check_margin(margin)
    check_undecided(undecided)
    check_choice("margin_test", margin_test, [SAME_TEST, BETTING])
    if comparison is not None and evidence is not None:
        comparison, scores = _with_measures(comparison, scores, asked, evidence)
    if comparison is not None and comparison.of_equivalence:
        comparison = _compare_again(comparison, comparison.scores, comparison.evidence)
    runs = comparison.runs if comparison else scores.runs
    baseline = comparison.settings["baseline"] if comparison else None
    if baseline is None and len(runs) == 2:
        baseline = runs[0]
    if candidates is None:
        candidates = [run for run in runs if run != baseline]
    if not candidates:
        raise UsageError("There is no run besides the baseline to test.")
    outcomes = []
    for condition in asked:
        if not condition.of_change:
            outcomes += [hold_value(condition, scores, run, evidence) for run in candidates]
        elif comparison is None or baseline is None:
            how = (
                "give two runs, the baseline first"
                if len(runs) < 2
                else "name the baseline: baseline= (--baseline-run)"
            )
            raise UsageError(f'The gate "{condition}" compares a run with a baseline: {how}.')
        elif condition.sliced:
            if by is None:
                raise UsageError(f'The gate "{condition}" needs the slices: --by FILE, or by= in Python.')
            from rankbounds.comparison.gate.sliced import hold_slices

            labels = by if isinstance(by, Mapping) else labels_from(os.fspath(by), comparison.scores.query_ids)
            outcomes += hold_slices(condition, comparison, baseline, labels, candidates, margin_test)
        else:
            changes = _hold_changes(condition, comparison, baseline, margin_test)
            outcomes += [changes[run].outcome() for run in candidates]
    return Gate(outcomes, undecided, scores.origin or evidence)


def _hold_changes(condition: Condition, comparison: Compared, baseline: str, margin_test: str) -> dict[str, HeldChange]:
    others = [run for run in comparison.runs if run != baseline]
    changes = {run: HeldChange(condition, comparison, run, baseline, margin_test) for run in others}
    if condition.limit:
        correction = comparison.settings["correction"]
        correction = "holm" if CORRECTIONS[correction].resamples else correction
        alone = np.array([change.p_pass_alone for change in changes.values()])
        for change, p in zip(changes.values(), correct_p_values(alone, correction).tolist(), strict=True):
            change.p_pass = p
    return changes


def _with_measures(
    comparison: Compared, scores: Scores, conditions: Sequence[Condition], evidence: Evidence
) -> tuple[Compared, Scores]:
    changes = [each.measure for each in conditions if each.of_change and each.measure not in comparison.measures]
    if changes and comparison.evidence is not None:
        measures = list(dict.fromkeys([*comparison.measures, *changes]))
        comparison = _compare_again(comparison, evidence.scores(measures), evidence)
    values = [each.measure for each in conditions if each.measure not in scores.measures]
    if values:
        scores = evidence.scores(list(dict.fromkeys([*scores.measures, *values])))
    return comparison, scores


def _compare_again(comparison: Compared, scores: Scores, evidence: Evidence | None) -> Compared:
    test = "t" if comparison.of_equivalence else comparison.settings["test"]
    return compare_scores(scores, replace(comparison.question, test=test), evidence=evidence).numbers
