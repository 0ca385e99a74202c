"""A comparison as people use it: rows for systems and pairs, tables, words, and the numbers of any two runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison import wording
from rankbounds.comparison.evidence import Evidence
from rankbounds.comparison.pairs import PAIR_COLUMNS, pair_places, pair_rows, run_number
from rankbounds.comparison.tables import FEW_RUNS, leaderboard_table, pair_table
from rankbounds.comparison.words import sentences, word_choices, word_constants, word_numbers
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import merit, merit_of_range
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.notebook import folded, shown
from rankbounds.probability.differences import limit_certainty
from rankbounds.probability.drawn_scores import SAMPLES
from rankbounds.results import Result
from rankbounds.tables import Table

if TYPE_CHECKING:
    from rankbounds.comparison.summary import Summary


SYSTEM_FIELDS = (
    "run", "measure", "mean", "ci_low", "ci_high", "low", "high", "group", "rank", "rank_low", "rank_high",
    "probability_best", "expected_rank", "judged_at_10", "topics_led",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """What the scores of several systems say of each other.

    It prints as a leaderboard for each measure, with the pairs below where runs are few. ``ci_low`` and ``ci_high`` are
    about topics, a sample: other topics would give another mean. ``certain_low`` and ``certain_high`` are about
    judgments: whatever the unjudged documents turn out to be, the mean difference on these topics lies between them.

    Attributes
    ----------
    systems : list of dict
        A row for each measure and run. ``topics_led`` counts topics on which no other run is better; one that several
        runs lead together is shared among them.
    pairs : list of dict
        A row for each measure and pair, differences being ``a`` minus ``b``. ``won`` and ``lost`` count topics on which
        ``a`` is better, or worse, by more than rounding. ``probability_a_better`` is how likely ``a`` is the better one
        on these topics, with probabilities of relevance estimated from the judgments (with ``probability_b_better`` it
        makes 1 minus the probability that both score the same); None where nothing is open, and without the lists
        (``evidence``). ``verdict`` speaks of ``a`` and ``b``; ``words`` names them.
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
    first: Ints
    """The first run of each pair, by its number in the scores."""
    second: Ints
    numbers: dict[str, Floats]
    """The numbers of ``pairs``, with an axis of measures and one of pairs; and the deviation of topics' differences."""
    verdicts: Ints
    """By measure and pair, the place in ``VERDICTS``."""
    evidence: Evidence | None = field(default=None)
    p_adjusted: Floats | None = field(default=None)
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
        known = self.numbers | {
            "probability_a_better": self.probability_a_better,
            "probability_b_better": self.probability_b_better,
        }
        return [
            row
            for at, measure in enumerate(self.measures)
            for row in pair_rows(
                self.runs, self.first, self.second, measure, {name: column[at] for name, column in known.items()},
                self.verdicts[at], self.missing, self.settings["topics"],
            )
        ]  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``pairs``."""
        return self.pairs

    # ---- parts ----

    def __getitem__(self, measure: str | Measure) -> Comparison:
        """The comparison by one measure alone. p-values stay as they are."""
        at = self._place(measure)
        return replace(
            self,
            scores=self.scores[self.measures[at]],
            systems=[row for row in self.systems if row["measure"] == str(self.measures[at])],
            numbers={name: column[at : at + 1] for name, column in self.numbers.items()},
            verdicts=self.verdicts[at : at + 1],
            p_adjusted=None if self.p_adjusted is None else self.p_adjusted[at : at + 1],
        )

    def filter(self, run: str | None = None, *, significant: bool | None = None) -> Comparison:
        """Only the pairs that hold this run, or that are significant by any measure; p-values stay as they are."""
        kept = np.ones(self.first.size, dtype=bool)
        if run is not None:
            number_of_run = run_number(self.runs, run)
            kept &= (self.first == number_of_run) | (self.second == number_of_run)
        if significant is not None:
            kept &= (self.numbers["p_adjusted"] < self.settings["alpha"]).any(axis=0) == significant
        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            numbers={name: column[:, kept] for name, column in self.numbers.items()},
            verdicts=self.verdicts[:, kept],
        )

    def measure(self, label: str | Measure) -> Measure:
        """The measure of this name."""
        return self.measures[self._place(label)]

    def _place(self, label: str | Measure) -> int:
        labels = [str(measure) for measure in self.measures]
        if str(label) not in labels:
            from rankbounds.measures import parse_measure

            label = parse_measure(label)
        if str(label) not in labels:
            raise UsageError(f"These runs were not compared by {label}, but by {', '.join(labels)}.")
        return labels.index(str(label))

    def __eq__(self, other: object) -> bool:
        """Do both say the same of the same runs?"""
        if not isinstance(other, Comparison):
            return NotImplemented
        mine, theirs = ((one.settings, one.runs, one.systems, one.pairs) for one in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    # ---- words ----

    @cached_property
    def word_numbers(self) -> dict[str, Floats]:
        """What goes into the sentences, with an axis of measures and one of pairs; NaN where something is not known."""
        return word_numbers(self)

    @cached_property
    def word_choices(self) -> dict[str, Ints]:
        """Which sentences hold, with an axis of measures and one of pairs."""
        return word_choices(self)

    @property
    def word_constants(self) -> dict[str, Any]:
        """What goes into every pair's sentences."""
        return word_constants(self)

    @cached_property
    def probability_a_better(self) -> Floats:
        """By measure and pair, how likely the first run is the better one; NaN where that is not known."""
        return self._chances[0]

    @cached_property
    def probability_b_better(self) -> Floats:
        """The same of the second run; both may score the same, so that this is not 1 minus the other."""
        return self._chances[1]

    @cached_property
    def _chances(self) -> Floats:
        """Of the first and the second run; an estimate is none where too little is judged, and never a certainty."""
        found = np.full((2, *self.numbers["difference"].shape), np.nan)
        if self.evidence is None:
            return found
        known = self.evidence.probabilities(self.measures)
        place, in_order = pair_places(len(self.runs), self.first, self.second), self.first < self.second
        for at, measure in enumerate(self.measures):
            if measure in known.better:
                one, other = known.better[measure][place], known.worse[measure][place]
                chances = np.stack([np.where(in_order, one, other), np.where(in_order, other, one)])
                low, high = merit_of_range(self.numbers["certain_low"][at], self.numbers["certain_high"][at], measure)
                certain = (low > 0) | (high < 0) | ((low == 0) & (high == 0))
                told = limit_certainty(chances, np.stack([high, -low]), 1 / (known.draws.get(measure, SAMPLES) + 1))
                apart = self.unpooled[at, self.first] | self.unpooled[at, self.second]
                found[:, at] = np.where(certain, chances, np.where(apart, np.nan, told))
        return found

    @cached_property
    def unpooled(self) -> Flags:
        """By measure and run: is too little of its first documents judged to estimate probabilities?"""
        if self.evidence is None:
            return np.zeros((len(self.measures), len(self.runs)), dtype=bool)
        known = self.evidence.probabilities(self.measures)
        estimated = np.array([measure in known.better for measure in self.measures])
        return estimated[:, None] & np.array([run in known.unpooled for run in self.runs])

    @cached_property
    def missing(self) -> Ints:
        """By run, how many of the topics it lacks; they count as empty lists."""
        counted = self.scores.notes if self.scores.topics == "judged" else []
        return np.array([len(noted.missing) for noted in counted] or [0] * len(self.runs))

    def row(self, measure: str | Measure, pair: tuple[str, str]) -> dict[str, float]:
        """The numbers of two runs by one measure, differences being the first minus the second; NaN: not known."""
        at, (place, is_turned) = self._place(measure), self._pair_place(*pair)
        numbers = {name: float(column[at, place]) for name, column in self.numbers.items()}
        return wording.turned(numbers) if is_turned else numbers

    def sentences(self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None) -> list[str]:
        """The verdict on one pair by one measure, sentence by sentence; the first ones where none is named.

        A pair is two runs in either order: differences are the first minus the second. The sentences say what the
        scores are, whether it is noise, what unjudged documents and ties could do; and, where the runs are at hand as
        evidence, whether it holds for other persistences and what to judge.
        """
        at = 0 if measure is None else self._place(measure)
        place, is_turned = (0, False) if pair is None else self._pair_place(*pair)
        return sentences(self, at, place, is_turned=is_turned)

    def words(self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None) -> str:
        """The verdict in plain words: a paragraph for each measure and pair asked for, or for all.

        Sentences stand on lines of their own, with an empty line between paragraphs; a pair is two runs in either
        order.
        """
        asked: Iterable[str | Measure] = self.measures if measure is None else [measure]
        named = zip(self.first.tolist(), self.second.tolist(), strict=True)
        pairs = [(self.runs[a], self.runs[b]) for a, b in named] if pair is None else [pair]
        paragraphs = ["\n".join(self.sentences(one, two)) + "\n" for one in asked for two in pairs]
        return "\n".join(paragraphs)

    def method(self) -> str:
        """Which tests the p-values come from, in one sentence."""
        return wording.method(self.settings, len(self.runs))

    def notes(self) -> list[str]:
        """Which tests the p-values come from."""
        return [self.method()]

    def _pair_place(self, a: str, b: str) -> tuple[int, bool]:
        one, other = (run_number(self.runs, name) for name in (a, b))
        if one == other:
            raise UsageError(f'A run cannot be compared with itself ("{a}").')
        for first, second, is_turned in ((one, other, False), (other, one, True)):
            place = np.flatnonzero((self.first == first) & (self.second == second))
            if place.size:
                return int(place[0]), is_turned
        raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')

    def means(self) -> Floats:
        """By measure and run."""
        return np.array([row["mean"] for row in self.systems], dtype=np.float64).reshape(len(self.measures), -1)

    # ---- tables ----

    def sort(self, by: str | Measure | None = None) -> Comparison:
        """The comparison with its runs in one order in all tables, and ``top`` the first ones in that order.

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
        """The systems by one measure, best first, or in the order that was asked for (``sort``)."""
        rows = self._best_first(label)
        return sorted(rows, key=lambda row: self.order.index(row["run"])) if self.order else rows

    def leader(self, label: str | Measure) -> str:
        """The run that is best by this measure."""
        return str(self._best_first(label)[0]["run"])

    def _best_first(self, label: str | Measure) -> list[dict[str, Any]]:
        measure = self.measure(label)
        rows = [row for row in self.systems if row["measure"] == str(measure)]
        order = np.argsort(-merit(np.array([row["mean"] for row in rows]), measure), kind="stable")
        return [rows[at] for at in order.tolist()]

    def table(self, measure: str | Measure | None = None, top: int | None = None) -> Table:
        """The leaderboard for one measure, best first, or its ``top``; of three runs or more with p-values."""
        return leaderboard_table(self, 0 if measure is None else self._place(measure), top)

    def pair_table(
        self, measure: str | Measure | None = None, at_most: int | None = None, *, top: int | None = None
    ) -> Table:
        """The pairs for one measure, the least likely to be chance first; the verdict names the better run.

        With ``top``, those among that many of the best runs (and the baseline).
        """
        return pair_table(self, 0 if measure is None else self._place(measure), at_most, top)

    def tables(self, measure: str | Measure, top: int | None = None) -> list[Table]:
        """The leaderboard, or its ``top``, and the pairs where runs are few or one of them is the baseline."""
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
        """One table of all measures: the best in bold, raised what each system beats, small what is open.

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
        r"""One table for a paper, with a caption that says how it was made; it needs the package booktabs alone.

        ``style``, ``small`` and ``top`` are those of ``summary``. Without ``caption`` it is the tabular alone;
        ``label`` is for ``\ref``; with ``cite`` the caption cites the measures (entries: ``rankbounds.bibtex``).

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
        """The table of ``to_latex`` for a README or a wiki, its caption below; options are those of ``summary``."""
        return self.summary(style, small, top).markdown()

    def to_bibtex(self) -> str:
        """The sources of the measures and of the tests, as BibTeX."""
        from rankbounds.measures.naming.sources import bibtex

        return bibtex(self.measures, wording.sources_of_tests(self.settings))
