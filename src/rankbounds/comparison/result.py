"""A comparison as people use it: rows for systems and pairs, tables, words, and the numbers of any two runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankbounds.calls import ends_in_a_sentence
from rankbounds.comparison import testing, wording
from rankbounds.comparison.compared import Compared
from rankbounds.comparison.pairs import PAIR_FIELDS
from rankbounds.comparison.printed import shown_parts, tables
from rankbounds.comparison.tables import (
    JUDGED,
    LONGEST_GROUP,
    Rows,
    best_first,
    measure_place,
    open_columns,
    system_columns,
    verdict_columns,
)
from rankbounds.comparison.verdict import PairWords
from rankbounds.errors import UsageError
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.notebook import folded, shown
from rankbounds.results import Column, Result, build_table, place_cell
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.equivalence import find_test
from rankbounds.tables import Table
from rankbounds.terminal import escape_controls

if TYPE_CHECKING:
    from rankbounds.comparison.gate.gate import Condition, Gate
    from rankbounds.comparison.slices import Slices
    from rankbounds.comparison.summary import Summary


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """The verdict on every pair of systems, and the leaderboard of all.

    It prints as the command line does. ``ci_low`` and ``ci_high`` concern topics, a sample; ``certain_low`` and
    ``certain_high`` judgments: however the unjudged documents are judged, the mean difference lies between them.

    Attributes
    ----------
    systems : Result
        A row per measure and run. ``topics_led`` counts topics on which no other run is better; a topic led by several
        runs is shared among them.
    pairs : Result
        A row per measure and pair; ``difference`` is ``run`` minus ``against``: the second run minus the first for two,
        minus the baseline where there is one, and the better minus the worse among many. ``won`` and ``lost`` count
        topics on which ``run`` is better, or worse, by more than rounding. ``probability_better_if_judged``
        is how likely ``run`` is better on these topics once all is judged, by probabilities of relevance estimated from
        the two runs and their judgments, whichever others are compared: 0.01 to 0.99, and 0 or 1 only where the bounds
        decide; None where nothing is open or nothing supports an estimate. ``verdict`` is about ``run``.
    settings : dict
        The test, the correction and whatever else p-values depend on.
    scores : Scores
        What was compared.
    numbers : Compared
        Differences, bounds, leads and verdicts of every pair in arrays.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
    >>> runs = {"bad": {q: ["n", "r"] for q in qrels}, "good": {q: ["r", "n"] for q in qrels}}
    >>> comparison = rb.compare(qrels, runs, ["RR", "P@1"])
    >>> row = comparison.pairs.rows()[0]
    >>> row["run"], row["against"], row["difference"], row["p_value"], row["verdict"]
    ('good', 'bad', 0.5, 0.0078125, 'better')
    >>> print(comparison.words("RR").splitlines()[0])
    RR: good scores 1.0000 and bad 0.5000, a difference of +0.5000 over 8 topics (8 won, 0 lost).
    """

    numbers: Compared
    order: tuple[str, ...] = ()
    """The runs as tables have them, if they were sorted; else each measure's best come first."""
    columns = tuple(map(Column, PAIR_FIELDS))

    @property
    def scores(self) -> Scores:
        return self.numbers.scores

    @property
    def measures(self) -> list[Measure]:
        return self.numbers.measures

    @property
    def runs(self) -> list[str]:
        return self.numbers.runs

    @property
    def figures(self) -> tuple[str, ...]:  # type: ignore[override]
        """Which functions of ``rankbounds.plots`` draw it, the usual one first."""
        if len(self.runs) == 2:
            return ("topic_differences", "differences", "leaderboard")
        if self.settings["baseline"] is not None or self.numbers.of_equivalence:
            return ("differences", "leaderboard", "topic_differences")
        return ("leaderboard", "differences", "topic_differences")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        mine, theirs = ((one.settings, one.runs, one.systems.rows(), one.pairs.rows()) for one in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, measure: str | Measure) -> Comparison:
        """The comparison by one measure alone. p-values stay as they are."""
        return self.parts[measure_place(self.measures, measure)]

    @cached_property
    def parts(self) -> list[Comparison]:
        """The comparison by each measure alone, to compute slow parts on demand."""
        return [self] if len(self.measures) == 1 else [replace(self, numbers=part) for part in self.numbers.parts]

    def filter(self, run: str) -> Comparison:
        """Keep only the pairs that hold this run; p-values stay as they are."""
        return replace(self, numbers=self.numbers.filter(run))

    # ---- rows ----

    def leaderboard(self, label: str | Measure) -> list[dict[str, Any]]:
        """List the systems by one measure, best first, or in the order of ``sort``."""
        rows = best_first(self.numbers.system_rows, self.measures[measure_place(self.measures, label)])
        return sorted(rows, key=lambda row: self.order.index(row["run"])) if self.order else rows

    @property
    def systems(self) -> Result:
        rows = [row for measure in self.measures for row in self.leaderboard(measure)] if self.order else None
        columns = system_columns(self.numbers)
        return Rows(lambda: rows or self.numbers.system_rows, columns, settings=self.settings)

    @property
    def pairs(self) -> Result:
        named = [Column("run"), Column("against", importance=9), Column("measure", importance=8)]
        columns = [*named, *verdict_columns("difference", self.numbers)]
        columns += [Column(name, None) for name in PAIR_FIELDS]
        return Rows(lambda: self._all_pairs, columns, PAIR_FIELDS, self.method(), settings=self.settings)

    @cached_property
    def _all_pairs(self) -> list[dict[str, Any]]:
        return [row for part in self.numbers.parts for row in part.pair_rows()]

    def rows(self) -> list[dict[str, Any]]:
        return self.pairs.rows()

    # ---- words ----

    @cached_property
    def pair_words(self) -> PairWords:
        return PairWords(self.numbers)

    def sentences(
        self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None, *, open_alone: bool = False
    ) -> list[str]:
        """Return the verdict on one pair by one measure as sentences; by default on the first pair and measure.

        A pair is a run and the run it is compared with: differences are the first minus the second. If judgments and
        runs were compared, sentences also say whether the verdict holds for other persistences and what to judge.
        With ``open_alone`` there are only those that say what could change the decision.
        """
        part = self.parts[measure_place(self.measures, measure)]
        run, against = part.numbers.sides[:, 0, 0].tolist() if pair is None else self.numbers.pair(*pair)
        return part.pair_words.sentences(0, run, against, open_alone=open_alone)

    def words(self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None) -> str:
        """Return the verdict as a paragraph per measure and pair, a line per sentence."""
        asked = self.parts if measure is None else [self[measure]]
        return "\n".join(
            "\n".join(part.sentences(None, named)) + "\n"
            for part in asked
            for named in (
                [(self.runs[a], self.runs[b]) for a, b in part.numbers.sides[:, 0].T] if pair is None else [pair]
            )
        )

    def agreement(self) -> str:
        """Return a sentence on whether the measures agree on two runs; else nothing."""
        if len(self.runs) != 2 or len(self.measures) == 1:
            return ""
        numbers, labels = self.numbers, list(map(str, self.measures))
        named = self.runs[int(numbers.tested.first[0])], self.runs[int(numbers.tested.second[0])]
        leads, shown = numbers.leads[:, 0].tolist(), numbers.shown[:, 0].tolist()
        return wording.agreement(labels, named, leads, shown, equivalent=numbers.of_equivalence)

    def method(self) -> str:
        return testing.method(self.settings, len(self.runs))

    def notes(self) -> list[str]:
        return [self.method()]

    # ---- tables ----

    def sort(self, by: str | Measure | None = None) -> Comparison:
        """Sort the runs in all tables; ``top`` keeps the first ones.

        ``by`` is a measure, best first; ``"run"`` sorts by name; ``"given"`` keeps the order given. By default every
        measure has its own best first, and tables of all measures the best by the first.
        """
        if by is None:
            return replace(self, order=())
        return replace(self, order=tuple(self.runs if by == "given" else self.scores.sort(by).runs))

    def table(self, measure: str | Measure | None = None, top: int | None = None) -> Table:
        """Show the leaderboard for one measure, best first, or its ``top``: with letters, or ranks if they are many."""
        at, numbers = measure_place(self.measures, measure), self.numbers
        rows = self.leaderboard(self.measures[at])[:top]
        columns = [Column("run"), Column("mean", wording.compared_words(self.measures[at])), *open_columns(numbers)]
        if self.settings["baseline"] is None and not numbers.of_equivalence:
            letters = numbers.letters(at, [row["run"] for row in rows])
            lettered = 0 < max(len(group or "") for group in letters) <= LONGEST_GROUP
            rows = [row | {"group": group} for row, group in zip(rows, letters, strict=True)]
            columns.append(Column("group", importance=9) if lettered else Column("rank", cell=place_cell, importance=9))
        return build_table(rows, [*columns, *[JUDGED] * self.scores.has_judged])

    def __repr__(self) -> str:
        parts = [part if isinstance(part, str) else part.text() for part in shown_parts(self) if part]
        return escape_controls("\n".join(f"{part.rstrip()}\n" for part in parts))

    def _repr_html_(self) -> str:
        parts: list[object] = [self.summary()]
        if len(self.runs) == 2:
            label, said = self.measures[0], [part for part in shown_parts(self, explain=True) if part]
            parts += [folded(f"{label} in words", said[0], is_open=True)]
            parts += [folded("differences, with p-values", *said[1:], self.method())]
        elif pairs := [part for measure in self.measures for part in tables(self, measure)[1:]]:
            parts += [folded("pairs, with p-values", *pairs, self.method())]
        return shown(*parts)

    # ---- further questions ----

    @ends_in_a_sentence
    def gate(
        self,
        conditions: str | Condition | Iterable[str | Condition],
        *,
        margin: float = 0.0,
        undecided: str | None = None,
        margin_test: str = "test",
        candidates: Sequence[str] | None = None,
        by: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    ) -> Gate:
        """Check runs against conditions that must not hold: pass, fail, or undecided.

        The second of two runs is compared with the first; more runs are each compared with the baseline. The test,
        ``alpha`` and resamples are the comparison's.

        Parameters
        ----------
        conditions : str or iterable of str
            ``"nDCG@10 worse"``, ``"nDCG@10 worse by 0.01"``, ``"AP different"``, ``"nDCG@10 < 0.5"``, ``"judged@10 <
            80%"``; any measure, and ``<``, ``<=``, ``>`` or ``>=`` with a number. Other measures than those compared
            are scored if judgments and runs were given.
        margin : float, default 0
            The loss (or difference) accepted by conditions that do not name one.
        undecided : {"pass", "fail"}, optional
            How undecided affects the exit code; by default it has its own, 4.
        margin_test : {"test", "betting"}
            How a loss (or difference) of the margin is ruled out: by the comparison's test, or by one that assumes only
            the range of the measure, so that it also holds for rare large losses but needs more topics.
        candidates : sequence of str, optional
            The runs to check; by default all but the baseline.
        by : mapping or path, optional
            The labels of topics, as for ``slices``: changes are then asked of every slice, as by ``"nDCG@10 worse on
            any slice"``. The gate fails if a slice is shown to be worse (Holm over slices), and passes if every slice
            rules out the margin (each at alpha).

        Returns
        -------
        Gate
            Outcomes with reasons, and an exit code.

        Notes
        -----
        ``p_fail`` is ``p_adjusted`` of the run and the baseline in ``pairs`` (with the test ``"tost"``, that of the t
        test). ``p_pass`` is the p-value of the one-sided test of a margin ("different": the larger of two), corrected
        for the number of runs as in the table (by Holm's correction if that one resamples scores). Neither is corrected
        for the number of conditions. Wilcoxon's and the sign test are not about the mean, and are refused with a
        margin, unless infinite changes leave no mean.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
        >>> odd, even = ({q: ["r", "n"] if int(q) % 2 == one else ["n", "r"] for q in qrels} for one in (1, 0))
        >>> compared = rb.compare(qrels, {"old": odd, "new": even}, "RR")
        >>> compared.gate("RR worse").answer
        'undecided'
        >>> outcome = compared.gate("RR worse", margin=0.4).outcomes[0]
        >>> outcome.answer, round(outcome.p_pass, 4)
        ('pass', 0.036)
        """
        from rankbounds.comparison.gate.gate import hold, parse_conditions

        if by is not None:
            asked = parse_conditions(conditions, self.measures)
            conditions = [replace(condition, sliced=condition.of_change) for condition in asked]
        how: dict[str, Any] = {"undecided": undecided, "margin_test": margin_test, "by": by}
        return hold(self.numbers, conditions, margin=margin, candidates=candidates, **how)

    @ends_in_a_sentence
    def slices(self, by: str | os.PathLike[str] | Mapping[str, Any], *, correction: str = "auto") -> Slices:
        """Compare the runs in slices of topics.

        The test, ``alpha``, ``confidence``, the baseline and resamples are those of the comparison.

        Parameters
        ----------
        by : mapping or path
            The labels of topics, by name of the grouping: ``{"length": {"301": "short", "302": "long"}}``; for one
            grouping its labels alone, ``{"301": "short", "302": "long"}``; or a file or mark, as for ``--by``.
        correction : {"auto", "holm", "bonferroni", "bh", "none"}
            Over all slices and pairs of a measure. ``auto``: the comparison's, or Holm's if that is none or resamples
            all runs together.

        Returns
        -------
        Slices

        Notes
        -----
        Slices of one topic are not tested. Detectable differences are those of a t test at the level alpha over the
        number of tests. A difference shown in one slice and not in another does not show that the slices differ.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels = {str(topic): {"r": 1} for topic in range(8)}
        >>> runs = {"old": {topic: {"r": 1, "n": int(topic) % 2 * 2} for topic in qrels}}
        >>> runs["new"] = {topic: ["r", "n"] for topic in qrels}
        >>> kind = {"kind": {topic: "odd" if int(topic) % 2 else "even" for topic in qrels}}
        >>> [(row["slice"], row["difference"]) for row in rb.compare(qrels, runs, "RR").slices(kind).rows()]
        [('even', 0.0), ('odd', 0.5)]
        """
        from rankbounds.comparison.slices import slices
        from rankbounds.files.queries import labels_from

        if self.numbers.of_equivalence:
            raise UsageError('Slices ask where runs differ, and test="tost" whether they are alike: take another test.')
        if correction == "auto" and self.settings["correction"] != "none":
            correction = self.settings["correction"]
        labels = by if isinstance(by, Mapping) else labels_from(os.fspath(by), self.scores.query_ids)
        return slices(self.scores, labels, replace(self.numbers.question, correction=correction, margin=None))

    @ends_in_a_sentence
    def power(self, power: float = wording.POWER) -> Result:
        """Return for every pair the detectable difference, the topics it needs, and whether the test can succeed.

        Parameters
        ----------
        power : float, default 0.8
            How often a true difference should be found.

        Returns
        -------
        Result
            A row per measure and pair, explained by its note: ``detectable``, ``topics_needed`` (None: no realistic
            number; with ``test="tost"`` for ruling out the margin), ``differing``, ``must_differ``, ``smallest_p``.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
        >>> good = {q: ["r", "n"] for q in qrels}
        >>> compared = rb.compare(qrels, {"old": good, "new": {**good, "0": ["n", "r"]}}, "RR", test="sign")
        >>> row = compared.power().rows()[0]
        >>> row["topics_needed"], row["differing"], row["must_differ"], row["smallest_p"]
        (65, 1, 6, 1.0)
        """
        from rankbounds.comparison.power import power_of_pairs

        return power_of_pairs(self.numbers, power)

    @ends_in_a_sentence
    def winner(self) -> Result:
        """Return the best run's lead, corrected for having been picked as the best of many.

        Returns
        -------
        Result
            Per measure a row against the second, preceded by one against the baseline, if there is one: ``lead`` as
            observed (``run`` minus ``against``), ``corrected_lead``, ``ci_low`` and ``ci_high``, and the number of
            topics on which the two differ (``differing``).

        Notes
        -----
        With a baseline, ``run`` is the best of all others. The corrected lead is median-unbiased given that the run was
        picked, and the interval against the baseline is the hybrid one of Andrews, Kitagawa and McCloskey (2024). The
        lead over the second has its plain t interval, and is corrected by half. In simulations on TREC-8 and TREC-COVID
        intervals held the true lead in 93% or more (91% for RR where few topics differ).

        Examples
        --------
        >>> import rankbounds as rb
        >>> values = {"old": [0.2, 0.4, 0.3, 0.5] * 2, "one": [0.3, 0.4, 0.5, 0.5] * 2, "two": [0.3, 0.6, 0.4, 0.7] * 2}
        >>> rows = [(run, str(topic), "AP", value) for run in values for topic, value in enumerate(values[run])]
        >>> import pandas
        >>> frame = pandas.DataFrame(rows, columns=["run", "query_id", "measure", "value"])
        >>> row = rb.compare(frame, baseline="old").winner().rows()[0]
        >>> row["run"], row["against"], round(row["lead"], 3), row["corrected_lead"] < row["lead"]
        ('two', 'old', 0.15, True)
        """
        from rankbounds.comparison.winner import find_winners

        return find_winners(self.numbers)

    # ---- for a paper ----

    def summary(self, top: int | None = None) -> Summary:
        """Show all measures in one table: the best in bold, raised what each system beats, small what is open.

        Parameters
        ----------
        top : int, optional
            How many systems to show, the best by the first measure.

        Returns
        -------
        Summary
            With the methods ``latex``, ``markdown``, ``html`` and ``table``.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
        >>> runs = {"good": {q: {"r": 2, "n": 1} for q in qrels}, "bad": {q: {"n": 2, "r": 1} for q in qrels}}
        >>> print(rb.compare(qrels, runs, ["RR", "P@1"]).summary().table().text(), end="")
           system  RR          P@1         judged@10
        1  good    1.0000* >2  1.0000* >2       100%
        2  bad     0.5000      0.0000           100%
        """
        from rankbounds.comparison.summary import summary

        return summary(self, top)

    def to_latex(
        self,
        *,
        top: int | None = None,
        caption: bool = True,
        label: str = "tab:comparison",
        cite: bool = False,
        width: str | None = None,
    ) -> str:
        r"""Return the table of ``summary`` for a paper; it needs only the package booktabs.

        It fits a ``width`` of ``"column"`` or ``"page"`` of a two-column paper, or the ``"text"`` of a one-column one;
        without a ``width`` a column. Bounds are left out if there is no room for them, and then the last measures.
        Without ``caption`` it is the tabular alone; ``label`` is for ``\ref``; with ``cite`` the
        caption cites the measures (entries: ``to_bibtex``).
        """
        from rankbounds.paper import fit

        return fit(self.summary(top).for_paper(cite=cite), width).latex(label, caption=caption)

    def to_markdown(self, *, top: int | None = None) -> str:
        """Write the table of ``summary`` for a README or a wiki, its caption below."""
        return self.summary(top).markdown()

    def to_bibtex(self) -> str:
        from rankbounds.measures.naming.sources import bibtex

        used = find_test(self.settings["test"]), CORRECTIONS[self.settings["correction"]]
        return bibtex(self.measures, [one.source for one in used if one.source])
