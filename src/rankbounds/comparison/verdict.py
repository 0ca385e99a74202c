"""One verdict on "is A better than B?", and a leaderboard that says which systems no test separates."""

from __future__ import annotations

import html
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.comparison import wording
from rankbounds.comparison.corrections import (
    BY_SHUFFLES,
    adjusted,
    against_baseline,
    check_correction,
    groups_not_separable,
    over_all_pairs,
)
from rankbounds.comparison.evidence import Evidence, left_out_words
from rankbounds.comparison.significance import (
    ORDER_TESTS,
    RESAMPLES,
    Resampling,
    check_differences,
    check_finite,
    check_level,
    check_test,
    deviation_of,
    mean_interval,
    minimum_detectable_effect,
    p_values,
    pairs_of,
    standardised_effect,
    topics_for_effects,
)
from rankbounds.errors import DataError, RankboundsWarning, UsageError, did_you_mean
from rankbounds.evaluation.score_differences import differences as score_differences
from rankbounds.evaluation.score_differences import levelled, mean_difference, merit, merit_of_range
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.tables import Table, number, plain_rows

if TYPE_CHECKING:
    import pandas
    import polars

SYSTEM_FIELDS = ("run", "measure", "mean", "ci_low", "ci_high", "low", "high", "group", "judged_at_10", "topics_led")
PAIR_NUMBERS = (
    "difference",
    "ci_low",
    "ci_high",
    "effect",
    "p_value",
    "p_adjusted",
    "certain_low",
    "certain_high",
    "won",
    "lost",
)
PAIR_FIELDS = ("a", "b", "measure", *PAIR_NUMBERS, "verdict")
VERDICTS = ("no difference shown", "a better", "a better as judged", "b better", "b better as judged")
FEW_RUNS = 6
"""Of so many runs all pairs are printed."""

CertainBounds = Callable[[Measure], tuple[Floats, Floats] | None]
"""For a measure, the least and the greatest mean difference of every pair over all judgments; None: not known."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
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
        A row for each measure and pair, differences being ``a`` less ``b``. ``won`` and ``lost`` count topics on which
        ``a`` is better, or worse, by more than rounding. ``verdict`` speaks of ``a`` and ``b``; ``words`` names them.
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
    settings: dict[str, Any]
    systems: list[dict[str, Any]]
    first: Ints
    """The first run of each pair, by its number in the scores."""
    second: Ints
    columns: dict[str, Floats]
    """The numbers of ``pairs``, with an axis of measures and one of pairs; and the deviation of topics' differences."""
    verdicts: Ints
    """By measure and pair, the place in ``VERDICTS``."""
    evidence: Evidence | None = field(default=None)

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
        a, b = ([self.runs[run] for run in side.tolist()] for side in (self.first, self.second))
        rows: list[dict[str, Any]] = []
        for at, measure in enumerate(map(str, self.measures)):
            numbers: list[Any] = [self.columns[name][at] for name in PAIR_NUMBERS]
            numbers[-2:] = [column.astype(int).tolist() for column in numbers[-2:]]
            told = [VERDICTS[code] for code in self.verdicts[at].tolist()]
            rows += plain_rows(PAIR_FIELDS, a, b, [measure] * len(a), *numbers, told)
        return rows

    def to_polars(self) -> polars.DataFrame:
        """The pairs as a polars data frame."""
        import polars

        return polars.DataFrame({name: [row[name] for row in self.pairs] for name in PAIR_FIELDS})

    def to_pandas(self) -> pandas.DataFrame:
        """The pairs as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.pairs, columns=list(PAIR_FIELDS))

    # ---- parts ----

    def __getitem__(self, measure: str | Measure) -> Comparison:
        """The comparison by one measure alone. p-values stay as they are."""
        at = self._place(measure)
        scores = replace(
            self.scores,
            measures=[self.measures[at]],
            **{name: getattr(self.scores, name)[..., at : at + 1] for name in ("value", "low", "high")},
            parts=None if self.scores.parts is None else self.scores.parts[..., at : at + 1],
        )
        return replace(
            self,
            scores=scores,
            systems=[row for row in self.systems if row["measure"] == str(self.measures[at])],
            columns={name: column[at : at + 1] for name, column in self.columns.items()},
            verdicts=self.verdicts[at : at + 1],
        )

    def filter(self, run: str | None = None, *, significant: bool | None = None) -> Comparison:
        """Only the pairs that hold this run, or that are significant by any measure; p-values stay as they are."""
        kept = np.ones(self.first.size, dtype=bool)
        if run is not None:
            number_of_run = _run_number(self.runs, run)
            kept &= (self.first == number_of_run) | (self.second == number_of_run)
        if significant is not None:
            kept &= (self.columns["p_adjusted"] < self.settings["alpha"]).any(axis=0) == significant
        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            columns={name: column[:, kept] for name, column in self.columns.items()},
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
        shape = self.columns["difference"].shape
        unknown = np.full(shape, np.nan)
        effect, alpha = self.columns["effect"], self.settings["alpha"]
        topics = self.scores.value.shape[1]
        found = {
            **self.columns,
            "detectable": minimum_detectable_effect(1.0, topics, alpha, wording.POWER) * self.columns["deviation"],
            "topics_needed": topics_for_effects(effect, alpha, wording.POWER).astype(np.float64),
            "probability": unknown,
            "ties_low": unknown,
            "ties_high": unknown,
        }
        if self.evidence is not None:
            unjudged = self.evidence.unjudged(self.measures)
            found["probability"] = np.stack([
                self._oriented(unjudged.probability[measure], complement=True)
                if measure in unjudged.probability
                else np.full(shape[1], np.nan)
                for measure in self.measures
            ])  # fmt: skip
            low, high = (ends.T for ends in self.evidence.over_ties(self.measures))
            sides = [end[:, side] for side in (self.first, self.second) for end in (low, high)]
            found["ties_low"], found["ties_high"] = wording.ties_apart(*sides)
        return found

    @cached_property
    def word_choices(self) -> dict[str, Ints]:
        """Which sentences hold, with an axis of measures and one of pairs."""
        unpooled = np.zeros(len(self.runs), dtype=bool)
        if self.evidence is not None:
            apart = self.evidence.unjudged(self.measures).unpooled
            unpooled = np.array([run in apart for run in self.runs])
        return wording.choose(
            self.word_numbers,
            alpha=self.settings["alpha"],
            corrected=self.settings["correction"] != "none",
            depends_on_others=np.array([not measure.list_only for measure in self.measures]),
            unpooled=unpooled[self.first] | unpooled[self.second],
            endless=np.isinf(self._means()[:, self.first]),
            finite=~np.isnan(self.columns["deviation"]),
            ties_asked=self.evidence is not None,
        )

    @property
    def word_constants(self) -> dict[str, Any]:
        """What goes into every pair's sentences."""
        used, alone = wording.test_names(self.settings, len(self.runs))
        return {
            "topics": self.scores.value.shape[1],
            "confidence": self.settings["confidence"],
            "power": wording.POWER,
            "test_used": used,
            "test_of_pair": alone,
        }

    def sentences(self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None) -> list[str]:
        """The verdict on one pair by one measure, sentence by sentence; the first ones where none is named.

        Parameters
        ----------
        measure : str or Measure, optional
            One of those compared by.
        pair : tuple of two names, optional
            Two runs, in either order: differences are the first less the second.

        Returns
        -------
        list of str
            What the scores are, whether it is noise, what unjudged documents and ties could do; and, where the runs
            are at hand as evidence, whether it holds for other persistences and what to judge.

        """
        at = 0 if measure is None else self._place(measure)
        place, is_turned = (0, False) if pair is None else self._pair_place(*pair)
        numbers: dict[str, Any] = {name: float(column[at, place]) for name, column in self.word_numbers.items()}
        a, b = int(self.first[place]), int(self.second[place])
        if is_turned:
            numbers, a, b = wording.turned(numbers), b, a
        means = self._means()[at]
        chosen = self.measures[at]
        choices = {name: int(codes[at, place]) for name, codes in self.word_choices.items()}
        whole = {name: int(numbers[name]) for name in ("won", "lost", "topics_needed")}
        held = numbers | whole | self.word_constants | {
            "measure": wording.measure_words(str(chosen), lower_is_better=chosen.lower_is_better),
            "a": self.runs[a],
            "b": self.runs[b],
            "mean_a": means[a],
            "mean_b": means[b],
            "size": abs(numbers["difference"]),
        }  # fmt: skip
        if self.evidence is not None:
            choices["lead"], more = wording.lead_sentence(self.evidence.lead_changes(chosen, a, b))
            held |= more
            if numbers["certain_low"] <= 0 <= numbers["certain_high"]:
                choices["judge"], more = wording.judge_sentence(self.evidence.to_judge(chosen, a, b))
                held |= more
        return wording.filled(choices, held)

    def words(self, measure: str | Measure | None = None, pair: tuple[str, str] | None = None) -> str:
        """The verdict in plain words: a paragraph for each measure and pair asked for, or for all.

        Parameters
        ----------
        measure : str or Measure, optional
            One of those compared by; all where none is named.
        pair : tuple of two names, optional
            Two runs, in either order; all pairs where none is named.

        Returns
        -------
        str
            Sentences on lines of their own, an empty line between paragraphs.

        """
        asked: Iterable[str | Measure] = self.measures if measure is None else [measure]
        named = zip(self.first.tolist(), self.second.tolist(), strict=True)
        pairs = [(self.runs[a], self.runs[b]) for a, b in named] if pair is None else [pair]
        paragraphs = ["\n".join(self.sentences(one, two)) + "\n" for one in asked for two in pairs]
        return "\n".join(paragraphs)

    def method(self) -> str:
        """Which tests the p-values come from, in one sentence."""
        return wording.method(self.settings, len(self.runs))

    def _pair_place(self, a: str, b: str) -> tuple[int, bool]:
        one, other = (_run_number(self.runs, name) for name in (a, b))
        if one == other:
            raise UsageError(f'A run cannot be compared with itself ("{a}").')
        for first, second, is_turned in ((one, other, False), (other, one, True)):
            place = np.flatnonzero((self.first == first) & (self.second == second))
            if place.size:
                return int(place[0]), is_turned
        raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')

    def _means(self) -> Floats:
        """By measure and run."""
        return np.array([row["mean"] for row in self.systems], dtype=np.float64).reshape(len(self.measures), -1)

    def _oriented(self, column: Floats, *, complement: bool) -> Floats:
        """A column of all pairs of runs, for the pairs of this comparison."""
        return _of_pairs_among(column, len(self.runs), self.first, self.second, complement=complement)

    # ---- tables ----

    def leaderboard(self, label: str | Measure) -> list[dict[str, Any]]:
        """The systems by one measure, best first."""
        measure = self.measure(label)
        rows = [row for row in self.systems if row["measure"] == str(measure)]
        order = np.argsort(-merit(np.array([row["mean"] for row in rows]), measure), kind="stable")
        return [rows[at] for at in order.tolist()]

    def table(self, measure: str | Measure | None = None) -> Table:
        """The leaderboard for one measure, best first; of three runs or more with p-values against the first."""
        at = 0 if measure is None else self._place(measure)
        chosen = self.measures[at]
        rows = self.leaderboard(chosen)
        against = self.settings.get("baseline") or rows[0]["run"]
        tested = self._p_against(at, against) if len(self.runs) > 2 else {}
        header = [
            "run",
            wording.measure_words(str(chosen), lower_is_better=chosen.lower_is_better),
            f"{self.settings['confidence']:.0%} interval",
            "bounds",
            *([] if self.settings.get("baseline") else ["group"]),
            *([f"p against {against}", "p corrected"] if tested else []),
            "judged@10",
            "topics led",
        ]
        cells = [
            [
                row["run"],
                number(row["mean"]),
                _range(row["ci_low"], row["ci_high"]),
                _range(row["low"], row["high"]),
                *([] if self.settings.get("baseline") else [row["group"]]),
                *([number(p) for p in tested.get(row["run"], (None, None))] if tested else []),
                f"{row['judged_at_10']:.0%}",
                f"{row['topics_led']:.3g}",
            ]
            for row in rows
        ]
        return Table(header, cells, frozenset({0}) if self.settings.get("baseline") else frozenset({0, 4}))

    def _p_against(self, at: int, run: str) -> dict[str, tuple[float, float]]:
        """For every other run, the p-values of its pair with this one."""
        wanted = self.runs.index(run)
        held = np.flatnonzero((self.first == wanted) | (self.second == wanted))
        others = self.first[held] + self.second[held] - wanted
        raw, corrected = (self.columns[name][at, held].tolist() for name in ("p_value", "p_adjusted"))
        return {self.runs[other]: p for other, *p in zip(others.tolist(), raw, corrected, strict=True)}  # type: ignore[misc]

    def pair_table(self, measure: str | Measure | None = None, at_most: int | None = None) -> Table:
        """The pairs for one measure, the least likely to be chance first; the verdict names the better run."""
        label = str(self.measures[0 if measure is None else self._place(measure)])
        rows = [row for row in self.pairs if row["measure"] == label]
        rows.sort(key=lambda row: (row["p_adjusted"], -abs(row["difference"] or 0.0)))
        corrected = self.settings["correction"] != "none"
        header = [
            "run",
            "against",
            f"{label}, difference",
            f"{self.settings['confidence']:.0%} interval",
            "won",
            "lost",
            "p",
            *(["p corrected"] if corrected else []),
            "whatever is judged",
            "verdict",
        ]
        cells = [
            [
                row["a"],
                row["b"],
                signed(row["difference"]),
                _range(row["ci_low"], row["ci_high"]),
                str(row["won"]),
                str(row["lost"]),
                f"{row['p_value']:.4f}",
                *([f"{row['p_adjusted']:.4f}"] if corrected else []),
                _range(row["certain_low"], row["certain_high"]),
                wording.verdict_words(row["verdict"], row["a"], row["b"]),
            ]
            for row in rows[:at_most]
        ]
        return Table(header, cells, frozenset({0, 1, len(header) - 1}))

    def tables(self, measure: str | Measure) -> list[Table]:
        """The leaderboard and, where runs are few or one of them is the baseline, the pairs."""
        few = len(self.runs) <= FEW_RUNS or self.settings.get("baseline") is not None
        return [self.table(measure), *([self.pair_table(measure)] if few else [])]

    def __repr__(self) -> str:
        parts = [table.text() for measure in self.measures for table in self.tables(measure)]
        return "\n".join([*parts, f"{self.method()}\n"])

    def _repr_html_(self) -> str:
        parts = [table.html() for measure in self.measures for table in self.tables(measure)]
        return "\n".join([*parts, f"<p>{html.escape(self.method())}</p>"])

    def to_latex(self) -> str:
        """The leaderboards as tables for a paper."""
        return "\n".join(self.table(measure).latex() for measure in self.measures)


def signed(value: float | None) -> str:
    """A difference for people, with its sign; a dash where there is none."""
    return "-" if value is None else f"{value:+.4f}"


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def compare(
    scores: Scores,
    *,
    test: str = "randomization",
    correction: str = "auto",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    baseline: str | None = None,
    evidence: Evidence | None = None,
    certain: CertainBounds | None = None,
) -> Comparison:
    """Compare all pairs of runs in the scores, measure by measure, by a paired test over topics.

    Parameters
    ----------
    scores : Scores
        Of two runs or more. Scores of ``topics="shared"`` are compared over the topics that all runs have.
    test : {"randomization", "t", "wilcoxon", "sign", "bootstrap"}
        The test of each pair alone, which gives ``p_value``.
    correction : {"auto", "tukey", "dunnett", "holm", "bonferroni", "bh", "none"}
        For the number of pairs; gives ``p_adjusted``. ``auto``: none for one pair; for three runs or more the
        randomised, paired Tukey HSD over all of them (with a baseline Dunnett's test by the same resamples). Tests
        other than randomisation get ``holm``.
    alternative : {"two-sided", "greater", "less"}
        ``greater`` asks whether the first run of a pair is the better one. Tukey's and Dunnett's tests have two sides.
    alpha, confidence : float
        The level of verdicts and letters, and that of the intervals.
    resamples, seed : int
        For tests that resample. The same numbers give the same p-values.
    baseline : str, optional
        Only pairs of this run with each other one, as ``b``.
    evidence : Evidence, optional
        The judgments and runs behind the scores, for narrower bounds of differences and more words.
    certain : callable, optional
        Bounds of differences by measure, where they are known from elsewhere.

    Returns
    -------
    Comparison
        Rows for systems and pairs, tables, words.

    Notes
    -----
    Without evidence, bounds of a difference are one run's low less the other's high: sound, but wider than need be
    where runs share documents. There are none for measures such as AP and nDCG, which fall when relevant documents of
    *other* runs are found. Scores that differ by no more than rounding are equal (``score_differences``). The better
    one is the lower one where the measure says so. Where a topic's score is infinite on both sides there is no
    difference; on one side, only ``sign`` and ``wilcoxon`` can tell.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(q): {"r": 1, "n": 0} for q in range(8)}
    >>> runs = {"good": {q: {"r": 2, "n": 1} for q in qrels}, "bad": {q: {"n": 2, "r": 1} for q in qrels}}
    >>> rb.compare(rb.evaluate(qrels, runs, "RR")).pairs[0]["difference"]
    0.5

    """
    if len(scores.runs) < 2:
        raise DataError("A comparison needs at least two runs.")
    check_level(alpha)
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence}.")
    check_test(test, alternative)
    resampling = Resampling(resamples, seed)
    scores = _over_shared_topics(scores)
    first, second = pairs_of(len(scores.runs))
    if baseline is not None:
        against = _run_number(scores.runs, baseline)
        first = np.delete(np.arange(len(scores.runs)), against)
        second = np.full(first.size, against)
    correction = _correction(correction, test, pairs=first.size, baseline=baseline)
    matrices = np.moveaxis(scores.value, -1, 0)
    apart = [check_differences(score_differences(matrix[first], matrix[second])) for matrix in matrices]
    for differences, measure in zip(apart, scores.measures, strict=True):
        if test not in ORDER_TESTS:
            check_finite(differences, f"the {test} test", measure)
    gains = [merit(differences, measure) for differences, measure in zip(apart, scores.measures, strict=True)]
    p = p_values(np.concatenate(gains), test, alternative, resampling).reshape(len(apart), -1)  # one set of resamples
    columns = {
        "difference": np.stack([mean_difference(matrix[first], matrix[second]) for matrix in matrices]),
        **{
            name: np.stack(ends)
            for name, ends in zip(("ci_low", "ci_high"), _intervals(apart, confidence), strict=True)
        },
        "effect": np.stack([standardised_effect(differences) for differences in apart]),
        "deviation": np.stack([deviation_of(differences) for differences in apart]),
        "p_value": p,
        "p_adjusted": _corrected(p, correction, scores, first, second, resampling),
        **_certain_bounds(scores, first, second, evidence, certain),
        "won": np.stack([np.count_nonzero(gain > 0, axis=-1) for gain in gains]).astype(np.float64),
        "lost": np.stack([np.count_nonzero(gain < 0, axis=-1) for gain in gains]).astype(np.float64),
    }
    settings = {
        "test": test,
        "correction": correction,
        "baseline": baseline,
        "alternative": alternative,
        "alpha": alpha,
        "confidence": confidence,
        "resamples": resamples,
        "seed": seed,
        "topics": scores.value.shape[1],
    }
    settings["tested_by"], settings["tested_alone_by"] = wording.test_names(settings, len(scores.runs))
    leads = [_lead(*of_measure) for of_measure in zip(apart, columns["difference"], scores.measures, strict=True)]
    ranges = zip(columns["certain_low"], columns["certain_high"], scores.measures, strict=True)
    low, high = (np.stack(ends) for ends in zip(*(merit_of_range(*of_measure) for of_measure in ranges), strict=True))
    codes = _verdicts(np.stack(leads), columns["p_adjusted"], low, high, alpha)
    separated = columns["p_adjusted"] < alpha
    systems = _system_rows(scores, None if baseline is not None else (first, second, separated), confidence)
    return Comparison(scores, settings, systems, first, second, columns, codes, evidence)


def _correction(asked: str, test: str, *, pairs: int, baseline: str | None) -> str:
    """The correction to use: the one asked for, or what this number of pairs needs."""
    if asked == "auto":
        if pairs == 1:
            return "none"
        return "holm" if test != "randomization" else "tukey" if baseline is None else "dunnett"
    check_correction(asked)
    if asked == "dunnett" and baseline is None:
        raise UsageError("Dunnett's correction is for one run against all others: name it as the baseline.")
    if asked == "tukey" and baseline is not None:
        raise UsageError('Tukey\'s correction is for all pairs of runs; with a baseline take "dunnett".')
    return asked


def _corrected(p: Floats, correction: str, scores: Scores, first: Ints, second: Ints, resampling: Resampling) -> Floats:
    if correction not in BY_SHUFFLES:
        return np.stack([adjusted(of_measure, correction) for of_measure in p])
    matrices = np.stack([merit(scores.value[:, :, at], measure) for at, measure in enumerate(scores.measures)])
    for matrix, measure in zip(matrices, scores.measures, strict=True):
        if np.isinf(matrix).any():
            raise DataError(
                f"{measure} is infinite on a topic, which shuffled scores cannot use. Take another correction, such as "
                "holm."
            )
    if correction == "dunnett":
        return against_baseline(matrices, first, int(second[0]), resampling)
    return over_all_pairs(matrices, first, second, resampling)


def _intervals(apart: Sequence[Floats], confidence: float) -> tuple[list[Floats], list[Floats]]:
    ends = [mean_interval(differences, confidence) for differences in apart]
    return [low for low, _ in ends], [high for _, high in ends]


def _over_shared_topics(scores: Scores) -> Scores:
    """Where topics that a run lacks are left out of its means: the scores of topics that all runs have."""
    has = np.asarray(~np.isnan(scores.value).any(axis=(0, 2)))
    if scores.topics != "shared" or has.all() or not has.any():
        return scores
    left_out = [query for query, kept in zip(scores.query_ids, has.tolist(), strict=True) if not kept]
    warnings.warn(left_out_words(left_out, has.size), RankboundsWarning, stacklevel=3)
    return replace(
        scores,
        query_ids=[query for query, kept in zip(scores.query_ids, has.tolist(), strict=True) if kept],
        **{name: getattr(scores, name)[:, has] for name in ("value", "low", "high", "judged")},
        parts=None if scores.parts is None else scores.parts[:, :, has],
    )


def _run_number(runs: Sequence[str], name: str) -> int:
    if name not in runs:
        raise UsageError(
            f'There is no run "{name}".{did_you_mean(name, list(runs))} There are: {", ".join(runs[:12])}.'
        )
    return list(runs).index(name)


def _certain_bounds(
    scores: Scores, first: Ints, second: Ints, evidence: Evidence | None, certain: CertainBounds | None
) -> dict[str, Floats]:
    """Bounds of every difference over all judgments: of shared documents where they are known, else of runs apart."""
    known = evidence.unjudged(scores.measures).bounds if evidence is not None else {}
    lows, highs = [], []
    for at, measure in enumerate(scores.measures):
        bounds = certain(measure) if certain else known.get(measure)
        if bounds is None:
            low, high = _bounds_apart(scores, at, measure, first, second)
        else:
            count = len(scores.runs)
            low = _of_pairs_among(bounds[0], count, first, second, other=bounds[1])
            high = _of_pairs_among(bounds[1], count, first, second, other=bounds[0])
        lows.append(low)
        highs.append(high)
    return {"certain_low": np.stack(lows), "certain_high": np.stack(highs)}


def _of_pairs_among(
    column: Floats, runs: int, first: Ints, second: Ints, *, other: Floats | None = None, complement: bool = False
) -> Floats:
    """A column of all pairs of runs for these pairs; one that stands the other way round is turned.

    A bound becomes the negative of the ``other`` one, a probability its complement.
    """
    one, two = np.minimum(first, second), np.maximum(first, second)
    place = one * runs - one * (one + 1) // 2 + two - one - 1
    around = 1 - column[place] if complement else 0.0 - (column if other is None else other)[place]
    return np.where(first < second, column[place], around)


def _bounds_apart(scores: Scores, at: int, measure: Measure, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """One run's low less the other's high, and the reverse; unknown where judging one run's documents moves another."""
    if not measure.list_only or scores.bounds not in ("unjudged", "both"):
        return np.full(first.size, np.nan), np.full(first.size, np.nan)
    low, high = scores.low[:, :, at], scores.high[:, :, at]
    return mean_difference(low[first], high[second]), mean_difference(high[first], low[second])


def _system_rows(scores: Scores, tested: tuple[Ints, Ints, Flags] | None, confidence: float) -> list[dict[str, Any]]:
    """A row for each measure and run; letters where all pairs were ``tested``."""
    mean = scores.mean()
    rows: list[dict[str, Any]] = []
    for at, measure in enumerate(scores.measures):
        matrix = scores.value[:, :, at]
        means = levelled(mean.value[:, 0, at])
        groups: Sequence[str | None] = [None] * len(scores.runs)
        if tested is not None:
            first, second, separated = tested
            separable = np.zeros((len(scores.runs), len(scores.runs)), dtype=bool)
            separable[first, second] = separable[second, first] = separated[at]
            groups = groups_not_separable(merit(means, measure), separable)
        level = merit(levelled(matrix.T).T, measure)
        best = level == level.max(axis=0)
        rows += plain_rows(
            SYSTEM_FIELDS,
            scores.runs,
            [str(measure)] * len(scores.runs),
            means,
            *mean_interval(matrix, confidence),
            mean.low[:, 0, at],
            mean.high[:, 0, at],
            groups,
            mean.judged[:, 0],
            (best / best.sum(axis=0)).sum(axis=-1),  # a topic led together is shared
        )
    return rows


def _lead(differences: Floats, difference: Floats, measure: Measure) -> Floats:
    """By how much the first run of each pair is better. Where differences have no mean, who wins more topics leads."""
    return merit(np.where(np.isnan(difference), np.sign(differences).sum(axis=-1), difference), measure)


def _verdicts(lead: Floats, p_adjusted: Floats, low: Floats, high: Floats, alpha: float) -> Ints:
    """Every pair's verdict, by its place in ``VERDICTS``, where more is better."""
    shown = (p_adjusted < alpha) & (lead != 0)
    settled = np.where(lead > 0, low > 0, high < 0)
    return np.where(shown, np.where(lead > 0, 1, 3) + ~settled, 0)


def verdict(difference: float, p_adjusted: float, certain_low: float, certain_high: float, *, alpha: float) -> str:
    """What can be said of a pair in a few words, where more is better.

    "better": significant over topics, and no judgment can turn the difference on these topics around. "better as
    judged": significant, but unjudged documents could still turn it around (or it is not known whether they could).
    """
    numbers = np.array([difference, p_adjusted, certain_low, certain_high], dtype=np.float64)
    return VERDICTS[int(_verdicts(numbers[0], numbers[1], numbers[2], numbers[3], alpha))]
