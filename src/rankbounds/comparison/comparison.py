"""A comparison as people use it: rows for systems and pairs, tables, words, and the numbers of any two runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison import wording
from rankbounds.comparison.evidence import Evidence
from rankbounds.comparison.pairs import CERTAIN, PAIR_COLUMNS, VERDICTS, Pairs, build_rows, run_number, verdicts
from rankbounds.comparison.tables import (
    FEW_RUNS,
    LONGEST_GROUP,
    best_first,
    difference_columns,
    measure_place,
    p_column,
    percent_column,
    place_cell,
)
from rankbounds.comparison.words import PairWords
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import merit, merit_of_range
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.notebook import folded, shown
from rankbounds.probability.differences import limit_certainty
from rankbounds.results import Column, Result, build_table, interval
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.equivalence import SOURCE as SOURCE_OF_TOST
from rankbounds.stats.equivalence import TOST
from rankbounds.stats.significance import TESTS
from rankbounds.tables import Table

if TYPE_CHECKING:
    from rankbounds.comparison.summary import Summary


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """What the scores of several systems say of each other.

    It prints as a leaderboard for each measure, with the pairs below where runs are few. ``ci_low`` and ``ci_high`` are
    about topics, a sample. ``certain_low`` and ``certain_high`` are about judgments: whatever the unjudged documents
    turn out to be, the mean difference on these topics lies between them.

    Attributes
    ----------
    systems : list of dict
        A row for each measure and run. ``topics_led`` counts topics on which no other run is better; one that several
        runs lead together is shared among them.
    pairs : list of dict
        A row for each measure and pair, differences being ``a`` minus ``b``. ``won`` and ``lost`` count topics on which
        ``a`` is better, or worse, by more than rounding. ``probability_a_better`` is how likely ``a`` is the better one
        on these topics, with probabilities of relevance estimated from the judgments; None where nothing is open, and
        without the lists (``evidence``). ``verdict`` speaks of ``a`` and ``b``; ``words`` names them.
    settings : dict
        The test, the correction and all else that p-values depend on.
    scores : Scores
        What was compared.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
    >>> runs = {"good": {q: {"r": 2, "n": 1} for q in qrels}, "bad": {q: {"n": 2, "r": 1} for q in qrels}}
    >>> comparison = rb.compare(rb.evaluate(qrels, runs, ["RR", "P@1"]))
    >>> comparison["RR"].pairs[0]["p_value"], comparison["RR"].pairs[0]["verdict"]
    (0.0078125, 'a better')
    >>> print(comparison.words("RR", ("bad", "good")).splitlines()[0])
    RR: bad scores 0.5000 and good 1.0000, a difference of -0.5000 over 8 topics (0 won, 8 lost).

    """

    scores: Scores
    systems: list[dict[str, Any]]
    tested: Pairs
    """The numbers of ``pairs``, with an axis of measures and one of pairs; and the deviation of topics' differences."""
    evidence: Evidence | None = None
    p_adjusted: Floats | None = None
    """By measure and pair of *all* runs, also where the pairs above are those among some of them."""
    order: tuple[str, ...] = ()
    """The runs as tables have them, if they were sorted; else each measure's best come first."""

    columns = PAIR_COLUMNS

    # ---- rows ----

    @property
    def measures(self) -> list[Measure]:
        """The measures compared by."""
        return self.scores.measures

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return self.scores.runs

    @cached_property
    def pairs(self) -> list[dict[str, Any]]:
        """A row for each measure and pair."""
        first, second = self.tested.first, self.tested.second
        known = {
            **self.tested.numbers,
            "probability_a_better": self.chances[0],
            "probability_b_better": self.chances[1],
        }
        topics = self.settings["topics"]
        lacking = [
            "".join(f"; {run} lacks {count} of {topics} topics" for run, count in (("a", of_a), ("b", of_b)) if count)
            for of_a, of_b in zip(self.missing[first].tolist(), self.missing[second].tolist(), strict=True)
        ]
        rows: list[dict[str, Any]] = []
        for at, measure in enumerate(self.measures):
            columns = {name: column[at] for name, column in known.items()} | {
                "a": [self.runs[run] for run in first.tolist()],
                "b": [self.runs[run] for run in second.tolist()],
                "measure": str(measure),
                **{name: known[name][at].astype(int).tolist() for name in ("won", "lost")},
                "certain": [CERTAIN.get(code) for code in known["certain"][at].tolist()],
                "verdict": [
                    VERDICTS[code] + more for code, more in zip(self.verdicts[at].tolist(), lacking, strict=True)
                ],
            }
            rows += build_rows(**{column.name: columns[column.name] for column in PAIR_COLUMNS})
        return rows

    def rows(self) -> list[dict[str, Any]]:
        """List the rows of ``pairs``."""
        return self.pairs

    @cached_property
    def verdicts(self) -> Ints:
        """By measure and pair, the place in ``VERDICTS``."""
        known, alpha = self.tested.numbers, self.settings["alpha"]
        if self.settings["test"] == TOST:
            shown_or_not = VERDICTS.index("equivalent"), VERDICTS.index("equivalence not shown")
            return np.where(known["p_adjusted"] < alpha, *shown_or_not)
        ends = zip(known["certain_low"], known["certain_high"], self.measures, strict=True)
        low, high = np.stack([merit_of_range(*of_measure) for of_measure in ends], axis=1)
        leads = np.stack(list(map(merit, known["difference"], self.measures)))
        # Where differences have no mean, who wins more topics leads.
        leads = np.where(np.isnan(leads), known["won"] - known["lost"], leads)
        return verdicts(leads, known["p_adjusted"], low, high, alpha)

    # ---- parts ----

    def __getitem__(self, measure: str | Measure) -> Comparison:
        """The comparison by one measure alone. p-values stay as they are."""
        at = measure_place(self.measures, measure)
        numbers = {name: column[at : at + 1] for name, column in self.tested.numbers.items()}
        return replace(
            self,
            scores=self.scores[self.measures[at]],
            systems=[row for row in self.systems if row["measure"] == str(self.measures[at])],
            tested=replace(self.tested, numbers=numbers),
            p_adjusted=None if self.p_adjusted is None else self.p_adjusted[at : at + 1],
        )

    def filter(self, run: str) -> Comparison:
        """Keep only the pairs that hold this run; p-values stay as they are."""
        return replace(self, tested=self.tested.take(self._holds(run)))

    def _holds(self, run: str) -> Flags:
        """By pair: is this run one of the two?"""
        number = run_number(self.runs, run)
        return (self.tested.first == number) | (self.tested.second == number)

    def measure(self, label: str | Measure) -> Measure:
        """Find the measure of this name."""
        return self.measures[measure_place(self.measures, label)]

    def __eq__(self, other: object) -> bool:
        """Do both say the same of the same runs?"""
        if not isinstance(other, Comparison):
            return NotImplemented
        mine, theirs = ((one.settings, one.runs, one.systems, one.pairs) for one in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    # ---- words ----

    @cached_property
    def pair_words(self) -> PairWords:
        """The numbers and templates of every pair's sentences."""
        return PairWords(self)

    @cached_property
    def chances(self) -> Floats:
        """How likely the first and the second run are the better one, by measure and pair; NaN where it is not known.

        An estimate is none where too little is judged, and never a certainty. Both runs may score the same.
        """
        known, first, second = self.tested.numbers, self.tested.first, self.tested.second
        found = np.full((2, *known["difference"].shape), np.nan)
        for at, measure in enumerate(self.measures):
            chances = self.evidence.chances(measure) if self.evidence is not None else None
            if chances is not None:
                of_pairs, draws = chances[0].get(first, second), chances[1]
                both = np.stack([of_pairs["probability_a_better"], of_pairs["probability_b_better"]])
                low, high = merit_of_range(known["certain_low"][at], known["certain_high"][at], measure)
                certain = (low > 0) | (high < 0) | ((low == 0) & (high == 0))
                limited = limit_certainty(both, np.stack([high, -low]), 1 / (draws + 1))
                unpooled = self.unpooled[at, first] | self.unpooled[at, second]
                found[:, at] = np.where(certain, both, np.where(unpooled, np.nan, limited))
        return found

    @cached_property
    def unpooled(self) -> Flags:
        """By measure and run: is too little of its first documents judged to estimate probabilities?"""
        found = np.zeros((len(self.measures), len(self.runs)), dtype=bool)
        for at, measure in enumerate(self.measures):
            if self.evidence is not None and self.evidence.chances(measure) is not None:
                found[at] = [run in self.evidence.unpooled for run in self.runs]
        return found

    @cached_property
    def missing(self) -> Ints:
        """By run, how many of the topics it lacks; they count as empty lists."""
        counted = self.scores.notes if self.scores.topics == "judged" else []
        return np.array([len(noted.missing) for noted in counted] or [0] * len(self.runs))

    def row(self, measure: str | Measure, pair: tuple[str, str]) -> dict[str, float]:
        """Return the numbers of two runs by one measure, differences being the first minus the second; NaN: unknown."""
        at, numbers = measure_place(self.measures, measure), self.tested.get(*self._pair(*pair))
        return {name: float(column[at]) for name, column in numbers.items()}

    def _pair(self, a: str, b: str) -> tuple[int, int]:
        """Two runs that were compared, by their numbers."""
        one, other = (run_number(self.runs, name) for name in (a, b))
        if one == other:
            raise UsageError(f'A run cannot be compared with itself ("{a}").')
        if self.tested.places(one, other) < 0:
            raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')
        return one, other

    def sentences(self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None) -> list[str]:
        """Say the verdict on one pair by one measure, sentence by sentence; the first ones where none is named.

        A pair is two runs in either order: differences are the first minus the second. Where the runs are at hand as
        evidence, sentences also say whether it holds for other persistences and what to judge.
        """
        runs = (int(self.tested.first[0]), int(self.tested.second[0])) if pair is None else self._pair(*pair)
        return self.pair_words.sentences(measure_place(self.measures, measure), *runs)

    def words(self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None) -> str:
        """Say the verdict in plain words: a paragraph for each measure and pair asked for, a line for each sentence."""
        asked: Iterable[str | Measure] = self.measures if measure is None else [measure]
        sides = zip(self.tested.first.tolist(), self.tested.second.tolist(), strict=True)
        pairs = [(self.runs[a], self.runs[b]) for a, b in sides] if pair is None else [pair]
        return "\n".join("\n".join(self.sentences(one, two)) + "\n" for one in asked for two in pairs)

    def method(self) -> str:
        """Say in one sentence which tests the p-values come from."""
        return wording.method(self.settings, len(self.runs))

    def notes(self) -> list[str]:
        """Say which tests the p-values come from."""
        return [self.method()]

    def means(self) -> Floats:
        """Return the means by measure and run."""
        return np.array([row["mean"] for row in self.systems], dtype=np.float64).reshape(len(self.measures), -1)

    # ---- tables ----

    def sort(self, by: str | Measure | None = None) -> Comparison:
        """Put the runs into one order in all tables; ``top`` takes the first ones in that order.

        ``by`` is a measure, by which the best come first; ``"run"``: the runs' names; ``"given"``: as they were given.
        Without it every measure has its own best first, and tables of all measures the best by the first one.

        Examples
        --------
        >>> import rankbounds as rb
        >>> runs = {"z": {"1": ["r", "n"], "2": ["r", "n"]}, "a": {"1": ["n", "r"], "2": ["n", "r"]}}
        >>> compared = rb.compare(rb.evaluate({"1": {"r": 1}, "2": {"r": 1}}, runs, "RR"))
        >>> [row["run"] for row in compared.sort("run").leaderboard("RR")]
        ['a', 'z']
        """
        if by is None:
            return replace(self, order=())
        return replace(self, order=tuple(self.runs if by == "given" else self.scores.sort(by).runs))

    def leaderboard(self, label: str | Measure) -> list[dict[str, Any]]:
        """List the systems by one measure, best first, or in the order that was asked for (``sort``)."""
        rows = best_first(self.systems, self.measure(label))
        return sorted(rows, key=lambda row: self.order.index(row["run"])) if self.order else rows

    @property
    def has_bounds(self) -> bool:
        """Is anything known of bounds over judgments? Not of tables without judgments that have none."""
        return self.scores.has_judged or self.scores.bounds != "none"

    def table(self, measure: str | Measure | None = None, top: int | None = None) -> Table:
        """Show the leaderboard for one measure, best first, or its ``top``; of three runs or more with p-values."""
        at = measure_place(self.measures, measure)
        against = self.settings.get("baseline") or best_first(self.systems, self.measures[at])[0]["run"]
        tested = {}
        if len(self.runs) > 2:
            held = self.tested.take(self._holds(against))
            others = [self.runs[run] for run in (held.first + held.second - self.runs.index(against)).tolist()]
            p = build_rows(**{name: held.numbers[name][at] for name in ("p_value", "p_adjusted")})
            tested = dict(zip(others, p, strict=True))
        rows = [row | tested.get(row["run"], {}) for row in self.leaderboard(self.measures[at])[:top]]
        lettered = self.settings["baseline"] is None and self.settings["test"] != TOST
        letters = max((len(row["group"]) for row in rows), default=0) if lettered else 0
        columns = [
            Column("run"),
            Column("mean", wording.compared_words(self.measures[at])),
            interval("ci_low", "ci_high", f"{self.settings['confidence']:.0%} interval", importance=7),
        ]
        columns += [interval("low", "high", "bounds", importance=6)] if self.has_bounds else []
        columns += [Column("group", importance=4 if letters <= LONGEST_GROUP else 0)] if lettered else []
        if lettered and tested:
            first = percent_column("probability_best", "first in", importance=3)
            columns += [Column("rank", cell=place_cell, importance=5), first]
        if tested:
            columns += [p_column("p_value", f"p against {against}"), p_column("p_adjusted", "p corrected", 2)]
        if self.scores.has_judged:
            columns.append(percent_column("judged_at_10", "judged@10", importance=1))
        return build_table(rows, [*columns, Column("topics_led", cell=lambda row: f"{row['topics_led']:.3g}")])

    def pair_table(self, measure: str | Measure | None = None, *, top: int | None = None) -> Table:
        """Show the pairs for one measure, the least likely to be chance first; the verdict names the better run.

        With ``top``, those among that many of the best runs (and the baseline).
        """
        label = str(self.measures[measure_place(self.measures, measure)])
        among = {row["run"] for row in self.leaderboard(label)[:top]} | {self.settings.get("baseline")}
        rows = [row for row in self.pairs if row["measure"] == label and {row["a"], row["b"]} <= among]
        rows.sort(key=lambda row: (row["p_adjusted"], -abs(row["difference"] or 0.0)))
        bounds = [interval("certain_low", "certain_high", "whatever is judged", importance=2)]
        columns = [
            Column("a", "run"),
            Column("b", "against", importance=6),
            *difference_columns(label, self.settings, (5, 1, 4)),
            *(bounds if self.has_bounds else []),
            Column("verdict", cell=lambda row: wording.verdict_words(row["verdict"], row["a"], row["b"]), importance=3),
        ]
        return build_table(rows, columns)

    def tables(self, measure: str | Measure, top: int | None = None) -> list[Table]:
        """Show the leaderboard, or its ``top``, and the pairs where runs are few or one of them is the baseline."""
        few = len(self.runs) <= FEW_RUNS or self.settings.get("baseline") is not None
        return [self.table(measure, top), *([self.pair_table(measure, top=top)] if few else [])]

    def __repr__(self) -> str:
        parts = [table.text() for measure in self.measures for table in self.tables(measure)]
        return "\n".join([*parts, f"{self.method()}\n"])

    def _repr_html_(self) -> str:
        parts: list[object] = [self.summary()]
        if len(self.runs) == 2:
            of_measures = [(str(measure), self.words(measure)) for measure in self.measures]
            parts += [folded(f"{name} in words", said, is_open=not at) for at, (name, said) in enumerate(of_measures)]
        pairs = [part for measure in self.measures for part in self.tables(measure)[1:]]
        parts += [folded("pairs, with p-values", *pairs, self.method())] if pairs else []
        return shown(*parts)

    # ---- for a paper ----

    def summary(self, style: str = "beats", small: str = "bounds", top: int | None = None) -> Summary:
        """Show all measures in one table: the best in bold, raised what each system beats, small what is open.

        Parameters
        ----------
        style : {"beats", "groups", "plain"}
            What stands raised: the numbers of the systems that a system beats significantly, the letters of systems
            that are not separable (as on the leaderboard), or nothing.
        small : {"bounds", "interval", "none"}
            What stands small: what unjudged documents (or ties) leave open, the interval over topics, or nothing.
        top : int, optional
            Only so many systems, the best by the first measure.

        Returns
        -------
        Summary
            With the methods ``latex``, ``markdown``, ``html`` and ``table``.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
        >>> runs = {"good": {q: {"r": 2, "n": 1} for q in qrels}, "bad": {q: {"n": 2, "r": 1} for q in qrels}}
        >>> print(rb.compare(rb.evaluate(qrels, runs, ["RR", "P@1"])).summary().table().text(), end="")
           system  RR          P@1         judged@10
        1  good    1.0000* >2  1.0000* >2       100%
        2  bad     0.5000      0.0000           100%

        """
        from rankbounds.comparison.summary import summary

        return summary(self, style, small, top)

    def to_latex(
        self,
        style: str = "beats",
        *,
        small: str = "bounds",
        top: int | None = None,
        caption: bool = True,
        label: str = "tab:comparison",
        cite: bool = False,
    ) -> str:
        r"""Write the table of ``summary`` for a paper; it needs the package booktabs alone.

        Without ``caption`` it is the tabular alone; ``label`` is for ``\ref``; with ``cite`` the caption cites the
        measures (entries: ``rankbounds.bibtex``).

        >>> import rankbounds as rb
        >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
        >>> runs = {"good": {q: ["r", "n"] for q in qrels}, "bad": {q: ["n", "r"] for q in qrels}}
        >>> print(rb.compare(rb.evaluate(qrels, runs, "RR")).to_latex(caption=False), end="")
        \begin{tabular}{@{}rllr@{}}
        \toprule
         & System & RR & judged@10 \\
        \midrule
        1 & good & \textbf{1.0000}\textsuperscript{2} & 100\% \\
        2 & bad & 0.5000 & 100\% \\
        \bottomrule
        \end{tabular}
        """
        from rankbounds.comparison.summary import summary

        return summary(self, style, small, top, cite=cite).latex(caption=caption, label=label)

    def to_markdown(self, style: str = "beats", *, small: str = "bounds", top: int | None = None) -> str:
        """Write the table of ``summary`` for a README or a wiki, its caption below."""
        return self.summary(style, small, top).markdown()

    def to_bibtex(self) -> str:
        """Write the sources of the measures and of the tests as BibTeX."""
        from rankbounds.measures.naming.sources import bibtex

        used = TESTS.get(self.settings["test"]), CORRECTIONS[self.settings["correction"]]
        sources = (SOURCE_OF_TOST if one is None else one.source for one in used)
        return bibtex(self.measures, [source for source in sources if source])
