"""One verdict on "is A better than B?", and a leaderboard that says which systems no test separates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice
from rankbounds.comparison import wording
from rankbounds.comparison.evidence import Evidence, left_out_words
from rankbounds.comparison.pairs import (
    VERDICTS,
    PairTesting,
    PairTestingOptions,
    check_means,
    pair_places,
    pairs_among,
    run_number,
    verdicts,
)
from rankbounds.comparison.result import SYSTEM_FIELDS, Comparison
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.differences import DifferenceBounds
from rankbounds.evaluation.score_differences import differences as score_differences
from rankbounds.evaluation.score_differences import (
    equal,
    levelled,
    limits_of,
    limits_of_differences,
    mean_difference,
    merit,
    merit_of_range,
)
from rankbounds.evaluation.score_files import read_scores
from rankbounds.evaluation.scores import Scores
from rankbounds.files.objects import is_table
from rankbounds.measures import Measure
from rankbounds.stats.corrections import CORRECTIONS, adjusted, groups_not_separable, over_all_pairs
from rankbounds.stats.equivalence import TOST, check_equivalence, check_margin, equivalent
from rankbounds.stats.rank_intervals import (
    METHODS,
    Places,
    counts_for_places,
    places,
    resampled_places,
    separated_by_bootstrap,
    separated_pairs,
)
from rankbounds.stats.significance import (
    RESAMPLES,
    TESTS,
    Resampling,
    check_differences,
    check_finite,
    deviation_of,
    mean_interval,
    p_values,
    pairs_of,
    standardised_effect,
)
from rankbounds.tables import plain_rows
from rankbounds.threads import in_threads, processors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.comparison.from_sums import SummedComparison
    from rankbounds.evaluation.engines.spark.scores import SparkScores
    from rankbounds.evaluation.score_files import Frame

CertainBounds = Callable[[Measure], DifferenceBounds | None]
"""For a measure, the bounds of every pair's mean difference over all judgments; None: not known."""


@overload
def compare(scores: SparkScores, **how: Unpack[PairTestingOptions]) -> SummedComparison: ...


@overload
def compare(
    scores: Scores | Frame,
    *,
    ranks: str = ...,
    margin: float | None = ...,
    among: Sequence[str] | None = ...,
    evidence: Evidence | None = ...,
    certain: CertainBounds | None = ...,
    **how: Unpack[PairTestingOptions],
) -> Comparison: ...


def compare(
    scores: Scores | SparkScores | Frame,
    *,
    test: str = "randomization",
    correction: str = "auto",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    baseline: str | None = None,
    ranks: str = "auto",
    margin: float | None = None,
    among: Sequence[str] | None = None,
    evidence: Evidence | None = None,
    certain: CertainBounds | None = None,
) -> Comparison | SummedComparison:
    """Compare all pairs of runs in the scores, measure by measure, by a paired test over topics.

    Parameters
    ----------
    scores : Scores, SparkScores or data frame
        Of two runs or more; a frame as ``read_scores`` takes it, such as PyTerrier's of single queries. Scores of
        ``topics="shared"`` are compared over the topics that all runs have. Scores that Spark holds are compared from
        sums (``test="t"``), each pair over the topics that both have, and no topic is brought here.
    test : str, default "randomization"
        The test of each pair alone, which gives ``p_value``, by its name in ``rankbounds.stats.significance.TESTS``
        (``"t"``, ``"wilcoxon"``, ...). ``"tost"`` asks the opposite of the others: two one-sided t tests, whose p-value
        is small where a difference of ``margin`` or more is ruled out.
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
    ranks : {"auto", "bootstrap", "test"}
        What intervals for places on the leaderboard come from: resampled topics (of three runs or more), or the pairs
        that the test separates.
    margin : float, optional
        The largest difference that does not matter, in units of the scores. With it, pairs have ``p_equivalent``, and
        words say whether two runs are equivalent.
    among : sequence of str, optional
        Only pairs of these runs, where the pairs of all would take long. Corrections and places stay those of all runs.
    evidence : Evidence, optional
        The judgments and runs behind the scores, for narrower bounds of differences and more words.
    certain : callable, optional
        Bounds of differences by measure, where they are known from elsewhere.

    Returns
    -------
    Comparison
        Rows for systems and pairs, tables, words; of ``SparkScores`` a ``SummedComparison``, which has the pairs.

    Notes
    -----
    Without evidence, bounds of a difference are one run's low minus the other's high: sound, but wider than need be
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

    Runs that differ, but by too little to matter:

    >>> twins = {"one": runs["good"], "two": {**runs["good"], "0": {"n": 2, "r": 1}}}
    >>> rb.compare(rb.evaluate(qrels, twins, "RR"), test="tost", margin=0.2).pairs[0]["verdict"]
    'equivalent'

    """
    how = PairTesting(test, correction, alternative, alpha, confidence, resamples, seed, baseline)
    if not isinstance(scores, Scores) and is_table(scores):
        scores = read_scores(cast("Frame", scores))
    if not isinstance(scores, Scores):
        from rankbounds.comparison.from_sums import compare_sums

        if any(given is not None for given in (margin, among, evidence, certain)):
            raise UsageError("margin, among, evidence and certain need every topic: collect the scores of Spark first.")
        return compare_sums(cast("SparkScores", scores), how)
    how.check(scores.runs, [TOST])
    check_means(scores.measures)
    if margin is not None:
        check_margin(margin)
    check_choice("ranks", ranks, METHODS)
    resampling = how.resampling
    scores = over_shared_topics(scores)
    measures = scores.measures
    first, second = how.pairs(scores.runs)
    correction = how.correction_for(first.size)
    by_shuffles = CORRECTIONS[correction].by_shuffles
    if test == TOST:
        check_equivalence(margin, alternative, correction)
    asked = np.ones(len(scores.runs), dtype=bool)
    if among is not None:
        asked = np.isin(np.arange(asked.size), [run_number(scores.runs, name) for name in among])
    all_first, all_second, kept = first, second, asked[first] & asked[second]
    if by_shuffles:  # (others are made from the p-values of all pairs)
        first, second = first[kept], second[kept]
    values = np.moveaxis(scores.value, -1, 0)
    apart = [check_differences(score_differences(matrix[first], matrix[second])) for matrix in values]
    for differences, measure in zip(apart, measures, strict=True):
        if test == TOST or TESTS[test].of_mean:
            check_finite(differences, f"the {test} test", measure)
    gains = list(map(merit, apart, measures))
    p_equivalent = np.stack([_equivalent(*of_measure, margin) for of_measure in zip(apart, measures, strict=True)])
    if test == TOST:
        p = p_equivalent
    else:  # (all measures share the resamples)
        p = p_values(np.concatenate(gains), test, alternative, resampling).reshape(len(apart), -1)
    if by_shuffles:
        against = None if baseline is None else run_number(scores.runs, baseline)
        p_adjusted = over_all_pairs(_finite_merits(scores), all_first, all_second, resampling, against)
    else:
        p_adjusted = np.stack([adjusted(of_measure, correction) for of_measure in p])
    lettered = baseline is None and test != TOST
    placed = _places(scores, p, p_adjusted, correction, alpha, resampling, ranks) if lettered else None
    separated = p_adjusted < alpha
    if not by_shuffles:
        first, second, p, p_equivalent = first[kept], second[kept], p[:, kept], p_equivalent[:, kept]
        apart, gains = ([differences[kept] for differences in of_pairs] for of_pairs in (apart, gains))
    limits = [limits_of_differences(measure, matrix) for measure, matrix in zip(measures, values, strict=True)]
    ends = [mean_interval(differences, confidence, cut) for differences, cut in zip(apart, limits, strict=True)]
    numbers = {
        "difference": np.stack([mean_difference(matrix[first], matrix[second]) for matrix in values]),
        "ci_low": np.stack([low for low, _ in ends]),
        "ci_high": np.stack([high for _, high in ends]),
        "effect": np.stack(list(map(standardised_effect, apart))),
        "deviation": np.stack(list(map(deviation_of, apart))),
        "p_value": p,
        "p_adjusted": p_adjusted[:, kept],
        "p_equivalent": p_equivalent,
        **_certain_bounds(scores, first, second, evidence, certain, None if asked.all() else np.flatnonzero(asked)),
        "won": np.stack([np.count_nonzero(gain > 0, axis=-1) for gain in gains]).astype(np.float64),
        "lost": np.stack([np.count_nonzero(gain < 0, axis=-1) for gain in gains]).astype(np.float64),
    }
    settings = {
        "test": test, "correction": correction, "baseline": baseline, "alternative": alternative, "alpha": alpha,
        "margin": margin, "confidence": confidence, "resamples": resamples, "seed": seed, "ranks": ranks,
        "topics": scores.value.shape[1],
    }  # fmt: skip
    settings["tested_by"], settings["tested_alone_by"] = wording.test_names(settings, len(scores.runs))
    # Where differences have no mean, who wins more topics leads.
    won_more = np.stack([np.sign(differences).sum(axis=-1) for differences in apart])
    leads = np.where(np.isnan(numbers["difference"]), won_more, numbers["difference"])
    ranges = zip(numbers["certain_low"], numbers["certain_high"], measures, strict=True)
    low, high = (np.stack(ends) for ends in zip(*(merit_of_range(*of_measure) for of_measure in ranges), strict=True))
    codes = verdicts(np.stack(list(map(merit, leads, measures))), numbers["p_adjusted"], low, high, alpha)
    if test == TOST:
        codes = np.where(separated[:, kept], VERDICTS.index("equivalent"), VERDICTS.index("equivalence not shown"))
    systems = _system_rows(scores, (all_first, all_second, separated) if lettered else None, placed, confidence)
    return Comparison(scores, systems, first, second, numbers, codes, evidence, p_adjusted, settings=settings)


def _finite_merits(scores: Scores) -> Floats:
    """By measure, run and topic, the scores turned so that the greater is the better, if shuffles can use them."""
    merits = np.stack([merit(scores.value[:, :, at], measure) for at, measure in enumerate(scores.measures)])
    for matrix, measure in zip(merits, scores.measures, strict=True):
        if np.isinf(matrix).any():
            raise DataError(
                f"{measure} is infinite on a topic, which shuffled scores cannot use. Take another correction, such as "
                "holm."
            )
    return merits


def _equivalent(differences: Floats, measure: Measure, margin: float | None) -> Floats:
    """The p-values of equivalence; none (NaN) without a margin, or where a difference is infinite."""
    if margin is None or np.isinf(differences).any():
        return np.full(differences.shape[0], np.nan)
    return equivalent(differences, margin, "t", measure=measure)


def over_shared_topics(scores: Scores) -> Scores:
    """Where topics that a run lacks are left out of its means: the scores of topics that all runs have."""
    has = np.asarray(~np.isnan(scores.value).any(axis=(0, 2)))
    if scores.topics != "shared" or has.all():
        return scores
    if not has.any():
        raise DataError(_nothing_shared(scores))
    left_out = [query for query, kept in zip(scores.query_ids, has.tolist(), strict=True) if not kept]
    warn(left_out_words(left_out, has.size, judged=scores.has_judged))
    return scores.filter(topic=[query for query, kept in zip(scores.query_ids, has.tolist(), strict=True) if kept])


def _nothing_shared(scores: Scores) -> str:
    """Why there is no topic that all runs have: one lacks a measure, or they are on different topics."""
    without = np.argwhere(np.isnan(scores.value).all(axis=1))
    for run, measure in without.tolist():
        return (
            f"{scores.runs[run]} has no score by {scores.measures[measure]}. Compare by a measure that all runs have."
        )
    return "No topic has scores of all runs: they are on different topics, or these are called otherwise."


def _certain_bounds(
    scores: Scores,
    first: Ints,
    second: Ints,
    evidence: Evidence | None,
    certain: CertainBounds | None,
    among: Ints | None,
) -> dict[str, Floats]:
    """Bounds of every difference over all judgments: of shared documents where they are known, else of runs apart.

    ``certain`` is 1 where they are attained, 0 where they hold but may be wider than needed, NaN where none are known.
    """
    runs = None if among is None else among.tolist()
    known = evidence.unjudged(scores.measures, runs) if evidence is not None else {}
    lows, highs, attained = [], [], []
    for at, measure in enumerate(scores.measures):
        bounds = certain(measure) if certain else known.get(measure)
        if bounds is None:
            low, high = _bounds_apart(scores, at, measure, first, second)
            exact = equal(low, high)
        else:
            count = len(scores.runs)
            low = pairs_among(bounds.low, count, first, second, other=bounds.high)
            high = pairs_among(bounds.high, count, first, second, other=bounds.low)
            exact = bounds.exact[pair_places(count, first, second)]
        lows.append(low)
        highs.append(high)
        attained.append(np.where(np.isnan(low) | np.isnan(high), np.nan, exact))
    return {"certain_low": np.stack(lows), "certain_high": np.stack(highs), "certain": np.stack(attained)}


def _bounds_apart(scores: Scores, at: int, measure: Measure, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """One run's low minus the other's high, and the reverse; unknown where judgments of one run move the other."""
    if not measure.list_only or scores.bounds not in ("unjudged", "both"):
        return np.full(first.size, np.nan), np.full(first.size, np.nan)
    low, high = scores.low[:, :, at], scores.high[:, :, at]
    return mean_difference(low[first], high[second]), mean_difference(high[first], low[second])


def _places(
    scores: Scores,
    p: Floats,
    p_adjusted: Floats,
    correction: str,
    alpha: float,
    resampling: Resampling,
    ranks: str,
) -> list[Places]:
    """By measure, between which places the runs stand. A correction by shuffles does not ask for each pair's ``p``."""
    first, second = pairs_of(len(scores.runs))
    counts = counts_for_places(scores.value.shape[1], resampling)

    def of_measure(at: int) -> Places:
        measure = scores.measures[at]
        merits = merit(scores.value[:, :, at], measure)
        if ranks == "bootstrap":
            check_finite(merits, "the bootstrap", measure)
        if ranks == "bootstrap" or (ranks == "auto" and len(scores.runs) > 2 and np.isfinite(merits).all()):
            separated = separated_by_bootstrap(merits, alpha, resampling, counts)
        else:
            separated = separated_pairs(p[at], p_adjusted[at], correction, alpha)
        with np.errstate(invalid="ignore"):
            bounds = places(merits.mean(axis=-1), first, second, separated)
        return Places(*bounds, *resampled_places(merits, counts))

    return list(in_threads(of_measure, range(len(scores.measures)), processors()))


def _system_rows(
    scores: Scores, tested: tuple[Ints, Ints, Flags] | None, placed: list[Places] | None, confidence: float
) -> list[dict[str, Any]]:
    """A row for each measure and run; letters and places where all pairs were ``tested``."""
    mean = scores.mean()
    rows: list[dict[str, Any]] = []
    for at, measure in enumerate(scores.measures):
        matrix = scores.value[:, :, at]
        # Counts have a sum over topics, and are compared by their means, as differences and intervals are.
        share = 1 / scores.value.shape[1] if measure.total == "sum" else 1.0
        means = levelled(share * mean.value[:, 0, at])
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
            *mean_interval(matrix, confidence, limits_of(measure, matrix)),
            share * mean.low[:, 0, at],
            share * mean.high[:, 0, at],
            groups,
            *(placed[at].columns() if placed else [[None] * len(scores.runs)] * 5),
            mean.judged[:, 0],
            (best / best.sum(axis=0)).sum(axis=-1),  # a topic led together is shared
        )
    return rows
