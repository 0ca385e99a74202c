"""The same systems on several collections: who leads over all, where it differs, and what a new collection would show.

Two questions are kept apart. *These* collections: the mean over them, with intervals and tests over topics, which are
resampled within their collection. *Collections like these*: the random-effects summary, which takes the collections as
a sample of those that could be (``random_effects``).

A run that lacks a collection has no mean over all, and is not placed; its pairs are over the collections that both runs
have, and say how many. Nothing is filled in.
"""

from __future__ import annotations

import html
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice, check_share
from rankbounds.collection.folders import NAMES, CollectionFiles, collections_at
from rankbounds.collection.inputs import Reading
from rankbounds.comparison import stratified
from rankbounds.comparison.corrections import groups_not_separable
from rankbounds.comparison.evidence import left_out_words
from rankbounds.comparison.power import check_level
from rankbounds.comparison.random_effects import ESTIMATORS, RandomEffects, random_effects
from rankbounds.comparison.rank_intervals import Places, places, resampled_places
from rankbounds.comparison.result import LONGEST_GROUP, run_number
from rankbounds.comparison.significance import RESAMPLES, Resampling, check_finite, mean_interval, pairs_of
from rankbounds.comparison.stratified import MEANS
from rankbounds.errors import DataError, RankboundsWarning, UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.run_notes import some
from rankbounds.evaluation.score_differences import differences, levelled, mean_difference, merit, zeroed
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure, parse_measure
from rankbounds.tables import Table, number, plain, plain_rows, signed

if TYPE_CHECKING:
    import polars

DEFAULT_MEASURES = ("nDCG@10",)
MISSING = ("runs", "collections")
SYSTEM_FIELDS = (
    "measure", "mean_over", "run", "mean", "ci_low", "ci_high", "group", "rank", "rank_low", "rank_high",
    "probability_best", "expected_rank", "collections", "collections_led", "lacks",
)  # fmt: skip
PAIR_FIELDS = (
    "measure", "mean_over", "a", "b", "collections", "topics", "difference", "ci_low", "ci_high", "p_value",
    "p_adjusted", "won", "lost", "verdict", "summary", "summary_low", "summary_high", "tau", "i_squared", "q",
    "q_p_value", "new_low", "new_high", "new_a_better",
)  # fmt: skip
CELL_FIELDS = ("measure", "collection", "run", "topics", "mean", "ci_low", "ci_high", "low", "high", "judged_at_10")
DIFFERENCE_FIELDS = ("measure", "a", "b", "collection", "topics", "difference", "ci_low", "ci_high")
MEAN_WORDS = {"collections": "mean of {count} collections' means", "queries": "mean over all {topics:,} queries"}
HEADERS = {"collections": "mean of means", "queries": "over queries"}
NAMED_COLLECTIONS = 6
"""The means of up to so many collections stand in the leaderboard."""
FEW_TOPICS = 20
"""With fewer in a collection its standard error is too rough to be taken as known."""
CONSISTENT = 0.1
"""Where Q's p-value is above it, nothing shows that collections differ by more than their topics."""


@dataclass(frozen=True, eq=False, repr=False)
class CollectionsComparison:
    """What the scores of the same systems on several collections say. It prints as a leaderboard and words.

    ``ci_low`` and ``ci_high`` are about the topics of these collections. ``summary`` is the random-effects mean over
    collections like these, ``new_low`` and ``new_high`` are where the true difference in a new one would lie.

    Attributes
    ----------
    collections, runs : list of str
        Their names; runs are matched by name.
    topics : list of int
        How many each collection has.
    systems : list of dict
        A row for each measure and run. A run that lacks a collection has no ``mean`` and no ``rank``; ``lacks`` names
        what it lacks. ``collections_led`` counts collections in which no other run is better.
    pairs : list of dict
        A row for each measure and pair, differences being ``a`` less ``b``, over the collections that both have.
        ``won`` and ``lost`` count collections. ``tau`` is the standard deviation of true differences between
        collections.
    cells : list of dict
        A row for each measure, collection and run that has it.
    differences : list of dict
        A row for each measure, pair and collection that both have.
    settings : dict
        Which mean, which estimator, levels, seed.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(query): {"r": 1} for query in range(6)}
    >>> good, poor = {query: ["r"] for query in qrels}, {query: ["n", "r"] for query in qrels}
    >>> compared = rb.compare_collections(
    ...     {"web": (qrels, {"good": good, "poor": poor}), "news": (qrels, {"good": good, "poor": good})}, "RR"
    ... )
    >>> compared.pairs[0]["difference"], compared.pairs[0]["won"]
    (0.25, 1)

    """

    collections: list[str]
    runs: list[str]
    topics: list[int]
    measures: list[Measure]
    systems: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    cells: list[dict[str, Any]]
    differences: list[dict[str, Any]]
    settings: dict[str, Any]

    @property
    def missing(self) -> list[dict[str, str]]:
        """A row for each run and collection that it lacks."""
        first = [row for row in self.systems if row["measure"] == str(self.measures[0])]
        return [{"run": row["run"], "collection": name} for row in first for name in row["lacks"]]

    def rows(self) -> list[dict[str, Any]]:
        """The pairs."""
        return self.pairs

    def to_polars(self) -> polars.DataFrame:
        """The pairs as a polars data frame."""
        import polars

        return polars.DataFrame({name: [row[name] for row in self.pairs] for name in PAIR_FIELDS})

    # ---- parts ----

    def measure(self, label: str | Measure | None = None) -> str:
        """The label of a measure that was compared by; of the first, where none is named."""
        labels = [str(measure) for measure in self.measures]
        wanted = labels[0] if label is None else str(label)
        wanted = wanted if wanted in labels else str(parse_measure(wanted))
        if wanted not in labels:
            raise UsageError(f"These runs were not compared by {wanted}, but by {', '.join(labels)}.")
        return wanted

    def leaderboard(self, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        """The systems by one measure, best first; those without a place last."""
        label = self.measure(measure)
        lower = self.measures[[str(known) for known in self.measures].index(label)].lower_is_better
        rows = [row for row in self.systems if row["measure"] == label]
        placed = [row for row in rows if row["mean"] is not None]
        return sorted(placed, key=lambda row: row["mean"] if lower else -row["mean"]) + [
            row for row in rows if row["mean"] is None
        ]

    def pair(self, a: str, b: str, measure: str | Measure | None = None) -> dict[str, Any]:
        """The row of two runs by one measure, differences being the first less the second."""
        label = self.measure(measure)
        for name in (a, b):
            run_number(self.runs, name)
        for row in self.pairs:
            if row["measure"] == label and {row["a"], row["b"]} == {a, b} and a != b:
                return row if row["a"] == a else _turned(row)
        raise UsageError(f'"{a}" and "{b}" are not among the pairs of this comparison.')

    def differences_of(self, a: str, b: str, measure: str | Measure | None = None) -> list[dict[str, Any]]:
        """The rows of two runs by one measure, collection by collection."""
        label = self.measure(measure)
        rows = [row for row in self.differences if row["measure"] == label and {row["a"], row["b"]} == {a, b}]
        return [row if row["a"] == a else _turned(row) for row in rows]

    def leading_pair(self, measure: str | Measure | None = None) -> tuple[str, str]:
        """The first two of the leaderboard; with a baseline, the best of the others and the baseline."""
        ordered = [row["run"] for row in self.leaderboard(measure)]
        baseline = self.settings["baseline"]
        if baseline is not None:
            return next(run for run in ordered if run != baseline), baseline
        return ordered[0], ordered[1]

    # ---- for people ----

    def table(self, measure: str | Measure | None = None) -> Table:
        """The leaderboard of one measure, the means of collections beside it where they are few."""
        label = self.measure(measure)
        ranked = self.settings["baseline"] is None
        shown = self.collections if len(self.collections) <= NAMED_COLLECTIONS else []
        means = {(row["run"], row["collection"]): row["mean"] for row in self.cells if row["measure"] == label}
        lacking = any(row["lacks"] for row in self.systems)
        header = [
            "run",
            f"{label} ({HEADERS[self.settings['mean']]})",
            f"{self.settings['confidence']:.0%} interval",
            *(["group"] if self._lettered(label) else []),
            *(["rank", "first in"] if ranked else []),
            "led",
            *shown,
            *(["lacks"] if lacking else []),
        ]
        cells = [
            [
                row["run"],
                number(row["mean"]),
                _range(row["ci_low"], row["ci_high"], number),
                *([row["group"] or "-"] if self._lettered(label) else []),
                *(_standing(row) if ranked else []),
                f"{row['collections_led']:.3g} of {row['collections']}",
                *(number(means.get((row["run"], collection))) for collection in shown),
                *([some(row["lacks"], 3)] if lacking else []),
            ]
            for row in self.leaderboard(label)
        ]
        words = {0} | ({3} if self._lettered(label) else set()) | ({len(header) - 1} if lacking else set())
        return Table(header, cells, frozenset(words))

    def _lettered(self, label: str) -> bool:
        """Are there letters for groups, few enough to be read?"""
        groups = [row["group"] for row in self.systems if row["measure"] == label and row["group"] is not None]
        return bool(groups) and max(map(len, groups)) <= LONGEST_GROUP

    def pair_table(self, a: str, b: str, measure: str | Measure | None = None) -> Table:
        """Two runs collection by collection, then over all, over collections like these, and in a new one."""
        label = self.measure(measure)
        row = self.pair(a, b, label)
        means = {(cell["run"], cell["collection"]): cell["mean"] for cell in self.cells if cell["measure"] == label}
        lines = [
            [
                part["collection"],
                f"{part['topics']:,}",
                number(means[a, part["collection"]]),
                number(means[b, part["collection"]]),
                signed(part["difference"]),
                _range(part["ci_low"], part["ci_high"], signed),
            ]
            for part in self.differences_of(a, b, label)
        ]
        over = self._mean_words(row["collections"], row["topics"])
        interval = _range(row["ci_low"], row["ci_high"], signed)
        lines.append([over, f"{row['topics']:,}", "", "", signed(row["difference"]), interval])
        if row["summary"] is not None:
            interval = _range(row["summary_low"], row["summary_high"], signed)
            lines.append(["collections like these", "", "", "", signed(row["summary"]), interval])
        if row["new_low"] is not None:
            lines.append(["a new collection", "", "", "", "", _range(row["new_low"], row["new_high"], signed)])
        header = ["collection", "topics", a, b, "difference", f"{self.settings['confidence']:.0%} interval"]
        return Table(header, lines)

    def _mean_words(self, count: int, topics: int) -> str:
        return MEAN_WORDS[self.settings["mean"]].format(count=count, topics=topics)

    def method(self) -> str:
        """What the numbers of the leaderboard are, in a paragraph."""
        settings = self.settings
        placed = [row["run"] for row in self.leaderboard() if row["mean"] is not None]
        sentences = [
            f"Scores are the {self._mean_words(len(self.collections), sum(self.topics))}; intervals and tests are over "
            f"topics resampled within the collections, and say nothing of other collections."
        ]
        if settings["baseline"] is None and len(placed) > 2:
            sentences.append(f"Ranks hold for all runs together with {1 - settings['alpha']:.0%} confidence.")
            if any(self._lettered(str(measure)) for measure in self.measures):
                sentences.append("Runs that share a letter are not separated.")
        lacking = list(dict.fromkeys(cell["run"] for cell in self.missing))
        if lacking:
            have = "lacks a collection and is" if len(lacking) == 1 else "lack collections and are"
            sentences.append(
                f"{some(lacking)} {have} not placed: no score is filled in, and pairs are over the collections that "
                "both runs have."
            )
        if settings["left_out"]:
            sentences.append(
                f"Left out, since a run lacks {'it' if len(settings['left_out']) == 1 else 'them'}: "
                f"{some(settings['left_out'])}."
            )
        return " ".join(sentences)

    def words(self, a: str | None = None, b: str | None = None, measure: str | Measure | None = None) -> str:
        """What is known of two runs (without names, of the first two of the leaderboard), in a paragraph."""
        label = self.measure(measure)
        first, second = self.leading_pair(label)
        return " ".join(_sentences(self, self.pair(a or first, b or second, label)))

    def __str__(self) -> str:
        return "\n".join(f"{self.table(measure).text()}" for measure in self.measures)

    def __repr__(self) -> str:
        return f"{self}\n{self.method()}\n\n{self.words()}"

    def _repr_html_(self) -> str:
        tables = "".join(self.table(measure).html() for measure in self.measures)
        return f"{tables}<p>{html.escape(self.method())}</p><p>{html.escape(self.words())}</p>"


def _range(low: float | None, high: float | None, shown: Callable[[float], str] = "{:+.4f}".format) -> str:
    return "-" if low is None or high is None else f"{shown(low)} to {shown(high)}"


def _standing(row: Mapping[str, Any]) -> list[str]:
    if row["rank"] is None:
        return ["-", "-"]
    return [f"{row['rank']} ({row['rank_low']}-{row['rank_high']})", f"{row['probability_best']:.0%}"]


OPPOSITE = {"a better": "b better", "b better": "a better"}


def _turned(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a pair with its sides exchanged."""
    turned = dict(row) | {"a": row["b"], "b": row["a"], "difference": 0.0 - row["difference"]}
    for low, high in (("ci_low", "ci_high"), ("summary_low", "summary_high"), ("new_low", "new_high")):
        if row.get(low) is not None:
            turned[low], turned[high] = -row[high], -row[low]
    if row.get("summary") is not None:
        turned["summary"] = -row["summary"]
    if row.get("new_a_better") is not None:
        turned["new_a_better"] = 1 - row["new_a_better"]
    if "verdict" in row:
        turned |= {"won": row["lost"], "lost": row["won"], "verdict": OPPOSITE.get(row["verdict"], row["verdict"])}
    return turned


def _sentences(compared: CollectionsComparison, row: Mapping[str, Any]) -> list[str]:
    settings = compared.settings
    a, b, count = row["a"], row["b"], row["collections"]
    level = f"{settings['confidence']:.0%}"
    if not count:
        return [f"{row['measure']}: {a} and {b} have no collection in common."]
    of_all = (
        ""
        if count == len(compared.collections)
        else f" (of {len(compared.collections)}; one of the two lacks the rest)"
    )
    sentences = [
        f"{row['measure']}: {a} less {b} is {row['difference']:+.4f} in the "
        f"{compared._mean_words(count, row['topics'])}{of_all}, {level} interval "
        f"{_range(row['ci_low'], row['ci_high'])} for other topics of the same collections. "
        f"{a} is better in {row['won']} and worse in {row['lost']} of {count}."
    ]
    if row["ci_low"] == row["ci_high"] == 0:
        return [f"{row['measure']}: {a} and {b} have the same scores on all topics of {count} collections."]
    tested = f"p {_p(row['p_value'])}"
    if len(compared.pairs) > len(compared.measures):
        tested += f" alone, p {_p(row['p_adjusted'])} corrected for all pairs"
    if row["verdict"] == "no difference shown":
        sentences.append(f"That may be chance ({tested}).")
    else:
        better = a if row["verdict"] == "a better" else b
        sentences.append(f"Chance in the topics does not explain it: {better} is better here ({tested}).")
    if row["summary"] is None:
        why = (
            "one collection says nothing of others"
            if count < 2
            else "in a collection all topics differ by the same, so that its error is not known"
        )
        return [*sentences, f"What other collections would show is not estimated: {why}."]
    if row["q_p_value"] < CONSISTENT:
        sentences.append(
            f"Collections differ by more than their topics explain (Q = {row['q']:.1f}, p {_p(row['q_p_value'])}, "
            f"I2 = {row['i_squared']:.0%}): true differences vary between them with a standard deviation of "
            f"{row['tau']:.4f}."
        )
    else:
        sentences.append(
            f"That collections differ by more than their topics explain is not shown (Q = {row['q']:.1f}, p "
            f"{_p(row['q_p_value'])}, I2 = {row['i_squared']:.0%}, tau = {row['tau']:.4f}"
            + ("); few collections show little." if count < 10 else ").")
        )
    sentences.append(
        f"Over collections like these the mean difference is {row['summary']:+.4f} ({level} interval "
        f"{_range(row['summary_low'], row['summary_high'])})"
        + (
            "; the true difference in a new one would lie within "
            f"{_range(row['new_low'], row['new_high'])} ({level} prediction interval), {a} being the "
            f"better one in about {row['new_a_better']:.0%} of such."
            if row["new_low"] is not None
            else "; for where a new one would lie, three collections are needed."
        )
    )
    smallest = min(part["topics"] for part in compared.differences_of(a, b, row["measure"]))
    if smallest < FEW_TOPICS:
        sentences.append(
            f"A collection has only {smallest} topics: its error is rough, and collections seem to differ too easily."
        )
    return sentences


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"= {value:.4f}"


# ---- from anything that somebody may hand us ----


def compare_collections(
    collections: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    runs: str | os.PathLike[str] | None = None,
    mean: str = "collections",
    missing: str = "runs",
    names: str = "tag",
    baseline: str | None = None,
    estimator: str = "reml",
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **evaluating: Any,
) -> CollectionsComparison:
    """Compare the same systems on several collections.

    Parameters
    ----------
    collections : dict, path, or list of paths
        By name, ``(qrels, runs)`` as ``evaluate`` takes them, ``Scores``, or a folder. Paths are folders (BEIR's
        layout, or judgments with a folder ``runs``) or manifests (CSV, TSV or JSON with ``collection``, ``qrels``,
        ``runs``).
    measures : str, Measure, or iterable of them, optional
        Such as ``"nDCG@10"``, which is the default; with ``Scores``, those that they have.
    runs : path, optional
        A folder with a folder of runs for each collection, where runs do not lie beside the judgments.
    mean : {"collections", "queries"}
        The mean of collections' means, or over all queries, in which large collections count for more.
    missing : {"runs", "collections"}
        Where a run lacks a collection: do not place the run, or leave out the collection for all.
    names : {"tag", "file"}
        By what runs in files are matched across collections: the tag inside, or the file's name.
    baseline : str, optional
        Only pairs of this run with each other one, as ``b``.
    estimator : {"reml", "dl"}
        Of the variance between collections: restricted maximum likelihood, or DerSimonian and Laird's.
    alpha, confidence : float
        The level of verdicts and ranks, and that of intervals.
    resamples, seed : int
        Topics are resampled within collections. Of many pairs and topics, fewer times than asked for, but a thousand.
    progress : callable, optional
        Told how many of how many collections are scored.
    **evaluating
        ``gain``, ``ties``, ``unjudged``, ``labels``, ``formats``, ``columns`` and whatever else ``evaluate`` takes.

    Returns
    -------
    CollectionsComparison

    Notes
    -----
    p-values of a pair alone are by Fisher's randomisation test, each topic counting by its collection's share. Over
    several pairs, ``p_adjusted`` and the intervals of ranks are from the largest studentised difference of any pair in
    resampled topics (a resampled error counting as at least half of the observed one). Intervals of means are t
    intervals with Welch and Satterthwaite's degrees: approximate for few topics. The random-effects summary and the
    prediction interval suppose that collections are a sample, that their true differences are about normal, and that
    each one's standard error is known: with few collections, or few topics in one, they are rough.

    Examples
    --------
    >>> import rankbounds as rb
    >>> made = {
    ...     name: rb.simulate(runs=3, topics=9, documents=60, depth=20, pool_depth=20, relevant=0.3, seed=seed)
    ...     for seed, name in enumerate(["web", "news", "mail"])
    ... }
    >>> compared = rb.compare_collections({name: (c.complete, c.runs) for name, c in made.items()}, "AP", resamples=200)
    >>> len(compared.systems), len(compared.pairs), compared.pairs[0]["collections"]
    (3, 3, 3)

    """
    check_choice("mean", mean, MEANS)
    check_choice("missing", missing, MISSING)
    check_choice("names", names, NAMES)
    check_choice("estimator", estimator, ESTIMATORS)
    check_level(alpha)
    check_share("confidence", confidence)
    resampling = Resampling(resamples, seed)
    jobs = _jobs(collections, measures, runs, names, evaluating)
    scored: dict[str, Scores] = {}
    for name, job in jobs.items():
        scored[name] = _told_of(name, job)
        if progress:
            progress(len(scored), len(jobs))
    _check_scores(scored)
    scored, left_out = _without_lacking(scored, missing)
    settings = {
        "mean": mean,
        "missing": missing,
        "baseline": baseline,
        "estimator": estimator,
        "alpha": alpha,
        "confidence": confidence,
        "resamples": resamples,
        "seed": seed,
        "left_out": left_out,
        "test": "randomization of topics, by share of collection",
        "correction": "largest t over topics resampled within collections",
    }
    return _compared(scored, settings, resampling)


def _jobs(
    collections: Any,
    measures: Any,
    runs: str | os.PathLike[str] | None,
    names: str,
    evaluating: Mapping[str, Any],
) -> dict[str, Callable[[], Scores]]:
    """By the name of each collection, what scores it."""
    if isinstance(collections, str | os.PathLike):
        collections = [collections]
    if not isinstance(collections, Mapping):
        found = collections_at([(None, os.fspath(path)) for path in collections], runs)
        collections = {files.name: files for files in found}

    def job(name: str, given: Any) -> Callable[[], Scores]:
        qrels: Any
        retrieved: Any
        if isinstance(given, Scores):
            return lambda: given if measures is None else given[measures]
        if isinstance(given, str | os.PathLike):
            (given,) = collections_at([(name, os.fspath(given))], runs)
        if isinstance(given, CollectionFiles):
            how = {name: evaluating[name] for name in ("formats", "columns", "lenient") if name in evaluating}
            qrels, retrieved = given.qrels, given.runs_to_read(Reading(**how), names)
        elif isinstance(given, Mapping) and set(given) == {"qrels", "runs"}:
            qrels, retrieved = given["qrels"], given["runs"]
        elif isinstance(given, tuple) and len(given) == 2:
            qrels, retrieved = given
        else:
            raise UsageError(
                f'The collection "{name}" must be (qrels, runs), Scores, or a folder; it is {type(given).__name__}.'
            )
        return lambda: evaluate(qrels, retrieved, measures or DEFAULT_MEASURES, **evaluating)

    return {str(name): job(str(name), given) for name, given in collections.items()}


def _told_of(name: str, job: Callable[[], Scores]) -> Scores:
    """The scores; warnings say of which collection they speak."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RankboundsWarning)
        scores = _over_shared_topics(job())
    for warning in caught:
        ours = issubclass(warning.category, RankboundsWarning)
        warnings.warn(f"{name}: {warning.message}" if ours else str(warning.message), warning.category, stacklevel=4)
    return scores


def _over_shared_topics(scores: Scores) -> Scores:
    """Only topics that all runs of the collection have, where topics that a run lacks are left out of its means."""
    has: Flags = np.asarray(~np.isnan(scores.value).any(axis=(0, 2)))
    if has.all() or not has.any():
        return scores
    kept = [query for query, there in zip(scores.query_ids, has.tolist(), strict=True) if there]
    left_out = [query for query, there in zip(scores.query_ids, has.tolist(), strict=True) if not there]
    warnings.warn(left_out_words(left_out, has.size), RankboundsWarning, stacklevel=2)
    return scores.filter(topic=kept)


def _check_scores(scored: Mapping[str, Scores]) -> None:
    if len(scored) < 2:
        raise UsageError("Give at least two collections; of one, compare says more.")
    labels = {name: [str(measure) for measure in scores.measures] for name, scores in scored.items()}
    first = next(iter(labels))
    for name, own in labels.items():
        if own != labels[first]:
            raise UsageError(f'"{name}" is scored by {", ".join(own)}, "{first}" by {", ".join(labels[first])}.')
    for name, scores in scored.items():
        if len(scores.query_ids) < 2:
            raise DataError(
                f'The collection "{name}" has {len(scores.query_ids)} topic: an interval needs two or more.'
            )
        for place, measure in enumerate(scores.measures):
            if measure.total != "mean":
                raise UsageError(f"{measure} is no mean over topics, and runs are compared by differences of means.")
            check_finite(scores.value[:, :, place], f'the comparison (collection "{name}")', measure)
    everywhere = [run for scores in scored.values() for run in scores.runs]
    shared = [run for run in dict.fromkeys(everywhere) if everywhere.count(run) > 1]
    if len(shared) < 2:
        few = f"only {shared[0]} is" if shared else "no run is"
        raise DataError(
            f"Runs are matched by name, and {few} in two collections ({some(list(dict.fromkeys(everywhere)))}). "
            "Where the tags inside files differ, match by the files' names (--names file)."
        )


def _without_lacking(scored: dict[str, Scores], missing: str) -> tuple[dict[str, Scores], list[str]]:
    """The collections to compare on, and those that are left out since a run lacks them."""
    runs = set().union(*(scores.runs for scores in scored.values()))
    if missing == "runs":
        if len(set.intersection(*(set(scores.runs) for scores in scored.values()))) < 2:
            raise DataError(
                "Fewer than two runs have all collections, so that there is no leaderboard over them. Leave out the "
                "collections that a run lacks (--missing collections), or the runs."
            )
        return scored, []
    kept = {name: scores for name, scores in scored.items() if set(scores.runs) == runs}
    if len(kept) < 2:
        raise DataError(
            f"All runs have {len(kept)} of {len(scored)} collections, and two are needed. Without --missing "
            "collections, runs that lack one are not placed, but compared in pairs."
        )
    return kept, [name for name in scored if name not in kept]


# ---- numbers ----


def _compared(scored: Mapping[str, Scores], settings: dict[str, Any], resampling: Resampling) -> CollectionsComparison:
    runs = list(dict.fromkeys(run for scores in scored.values() for run in scores.runs))
    measures = next(iter(scored.values())).measures
    topics = np.array([len(scores.query_ids) for scores in scored.values()])
    first, second = pairs_of(len(runs))
    if settings["baseline"] is not None:
        against = run_number(runs, settings["baseline"])
        first = np.delete(np.arange(len(runs)), against)
        second = np.full(first.size, against)
    values = [_aligned(scores, runs) for scores in scored.values()]
    counts = stratified.topic_counts(topics, first.size, resampling)
    settings["family_resamples"] = len(counts[0])
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("systems", "pairs", "cells", "differences")}
    for place, measure in enumerate(measures):
        table = _Compared(
            measure,
            list(scored),
            runs,
            [of_collection[:, :, place] for of_collection in values],
            topics,
            first,
            second,
            settings,
        )
        rows["pairs"] += table.pair_rows(counts, resampling)
        rows["differences"] += table.difference_rows()
        rows["systems"] += table.system_rows(counts)
        rows["cells"] += _cell_rows(scored, place, settings["confidence"])
    return CollectionsComparison(list(scored), runs, topics.tolist(), list(measures), **rows, settings=settings)


def _aligned(scores: Scores, runs: Sequence[str]) -> Floats:
    """By run, topic and measure; NaN for runs that are not there."""
    values = np.full((len(runs), *scores.value.shape[1:]), np.nan)
    values[[runs.index(run) for run in scores.runs]] = scores.value
    return values


def _cell_rows(scored: Mapping[str, Scores], place: int, confidence: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, scores in scored.items():
        mean = scores.mean()
        label, size = str(scores.measures[place]), len(scores.runs)
        rows += plain_rows(
            CELL_FIELDS,
            [label] * size,
            [name] * size,
            scores.runs,
            [len(scores.query_ids)] * size,
            mean.value[:, 0, place],
            *mean_interval(scores.value[:, :, place], confidence),
            mean.low[:, 0, place],
            mean.high[:, 0, place],
            mean.judged[:, 0],
        )
    return rows


class _Compared:
    """The comparison by one measure, in arrays."""

    def __init__(
        self,
        measure: Measure,
        collections: list[str],
        runs: list[str],
        values: list[Floats],
        topics: Ints,
        first: Ints,
        second: Ints,
        settings: Mapping[str, Any],
    ) -> None:
        self.measure, self.collections, self.runs, self.values = measure, collections, runs, values
        self.topics, self.first, self.second, self.settings = topics, first, second, settings
        self.parts = [differences(part[first], part[second]) for part in values]
        self.has = stratified.held(values)
        self.both = stratified.held(self.parts)
        self.share = stratified.shares(self.both, topics, settings["mean"])
        self.means = np.stack([mean_difference(part[first], part[second]) for part in values], axis=-1)
        self.variances = stratified.variances_of_means(self.parts)
        self.separated: Flags = np.zeros(first.size, dtype=bool)

    def pair_rows(self, counts: Sequence[Floats], resampling: Resampling) -> list[dict[str, Any]]:
        confidence = self.settings["confidence"]
        difference, low, high = stratified.interval(self.means, self.variances, self.share, self.topics, confidence)
        sizes = [np.nan_to_num(np.abs(part)).mean(axis=-1) for part in self.parts]
        difference = zeroed(difference, (self.share * np.stack(sizes, axis=-1)).sum(axis=-1))
        p_value = stratified.randomization_p_values(self.parts, self.share, resampling)
        p_adjusted = p_value
        if self.first.size > 1:
            p_adjusted = np.maximum(p_value, stratified.family_wise_p_values(self.parts, self.share, counts))
        count = self.both.sum(axis=-1)
        lead = np.sign(merit(difference, self.measure))
        self.separated = (p_adjusted < self.settings["alpha"]) & (lead != 0)
        with np.errstate(invalid="ignore"):
            gains = merit(self.means, self.measure)
            won, lost = ((side & self.both).sum(axis=-1) for side in (gains > 0, gains < 0))
        summary = random_effects(self.means, self.variances, self.settings["estimator"], confidence)
        verdict = np.where(self.separated, np.where(lead > 0, "a better", "b better"), "no difference shown")
        none = count == 0
        numbers = [np.where(none, np.nan, column) for column in (difference, low, high, p_value, p_adjusted)]
        return plain_rows(
            PAIR_FIELDS,
            [str(self.measure)] * self.first.size,
            [self.settings["mean"]] * self.first.size,
            [self.runs[run] for run in self.first.tolist()],
            [self.runs[run] for run in self.second.tolist()],
            count.tolist(),
            (self.both @ self.topics).tolist(),
            *numbers,
            won.tolist(),
            lost.tolist(),
            verdict.tolist(),
            *self._summary_columns(summary),
        )

    def _summary_columns(self, summary: RandomEffects) -> list[Floats]:
        better = 1 - summary.new_above if self.measure.lower_is_better else summary.new_above
        with np.errstate(invalid="ignore"):
            tau = np.sqrt(summary.tau_squared)
        return [
            summary.mean,
            summary.low,
            summary.high,
            tau,
            summary.i_squared,
            summary.q,
            summary.q_p_value,
            summary.new_low,
            summary.new_high,
            better,
        ]

    def difference_rows(self) -> list[dict[str, Any]]:
        ends = [np.full((2, self.first.size), np.nan) for _ in self.parts]
        for place, part in enumerate(self.parts):
            there = self.both[:, place]
            if there.any():
                ends[place][:, there] = mean_interval(part[there], self.settings["confidence"])
        low, high = np.stack(ends, axis=-1)
        pair, collection = np.nonzero(self.both)
        return plain_rows(
            DIFFERENCE_FIELDS,
            [str(self.measure)] * pair.size,
            [self.runs[run] for run in self.first[pair].tolist()],
            [self.runs[run] for run in self.second[pair].tolist()],
            [self.collections[number] for number in collection.tolist()],
            self.topics[collection].tolist(),
            self.means[pair, collection],
            low[pair, collection],
            high[pair, collection],
        )

    def system_rows(self, counts: Sequence[Floats]) -> list[dict[str, Any]]:
        complete = np.flatnonzero(self.has.all(axis=-1))
        parts = [part[complete] for part in self.values]
        share = stratified.shares(np.ones((complete.size, len(parts)), dtype=bool), self.topics, self.settings["mean"])
        of_collections = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
        mean, low, high = stratified.interval(
            of_collections,
            stratified.variances_of_means(parts),
            share,
            self.topics,
            self.settings["confidence"],
        )
        mean = levelled(mean)
        columns: dict[str, list[Any]] = {name: [None] * len(self.runs) for name in SYSTEM_FIELDS}
        led = self._led()
        known: dict[str, Any] = {"mean": mean, "ci_low": low, "ci_high": high}
        if self.settings["baseline"] is None:
            merits = merit(mean, self.measure)
            placed, groups = self._placed(complete, merits, parts, share, counts)
            known |= {
                "group": groups,
                "rank": placed.rank,
                "rank_low": placed.low,
                "rank_high": placed.high,
                "probability_best": placed.probability_best,
                "expected_rank": placed.expected,
            }
        for name, column in known.items():
            for place, value in zip(complete.tolist(), list(column), strict=True):
                columns[name][place] = plain(value)
        columns["measure"] = [str(self.measure)] * len(self.runs)
        columns["mean_over"] = [self.settings["mean"]] * len(self.runs)
        columns["run"] = self.runs
        columns["collections"] = self.has.sum(axis=-1).tolist()
        columns["collections_led"] = led.tolist()
        columns["lacks"] = [
            [name for name, there in zip(self.collections, row, strict=True) if not there] for row in self.has.tolist()
        ]
        return [dict(zip(SYSTEM_FIELDS, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _led(self) -> Floats:
        """In how many collections no other run that has it is better; one that several lead is shared among them."""
        with np.errstate(invalid="ignore"):
            means = np.stack([merit(part.mean(axis=-1), self.measure) for part in self.values])
        level = levelled(np.where(np.isnan(means), -np.inf, means))
        best = (level == level.max(axis=-1, keepdims=True)) & self.has.T
        led: Floats = (best / best.sum(axis=-1, keepdims=True)).sum(axis=0)
        return led

    def _placed(
        self, complete: Ints, merits: Floats, parts: Sequence[Floats], share: Floats, counts: Sequence[Floats]
    ) -> tuple[Places, list[str]]:
        """Between which places the complete runs stand, by the pairs that are separated and by resampled topics."""
        own_number = np.full(len(self.runs), -1)
        own_number[complete] = np.arange(complete.size)
        first, second = own_number[self.first], own_number[self.second]
        among = (first >= 0) & (second >= 0)
        first, second, separated = first[among], second[among], self.separated[among]
        weighted = np.concatenate(
            [
                merit(part, self.measure) * weight[:, None] / part.shape[-1]
                for part, weight in zip(parts, share.T, strict=True)
            ],
            axis=-1,
        )
        best, expected = resampled_places(weighted, np.concatenate(counts, axis=-1))
        separable = np.zeros((complete.size, complete.size), dtype=bool)
        separable[first, second] = separable[second, first] = separated
        bounds = places(merits, first, second, separated)
        return Places(*bounds, best, expected), groups_not_separable(merits, separable)
