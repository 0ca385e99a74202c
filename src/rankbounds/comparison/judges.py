"""May I trust this judge? Labels by models held against trusted ones: agreement, bias by run, orders, one verdict."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_choice, check_share
from rankbounds.collection.inputs import Formats, Reading
from rankbounds.collection.qrels import Qrels
from rankbounds.comparison import judge_wording
from rankbounds.comparison.judge_bias import (
    COEFFICIENTS,
    Bias,
    Winners,
    bias_of_runs,
    pair_p_values,
    resampled_correlations,
    winners,
)
from rankbounds.comparison.label_agreement import (
    RANGES,
    SIGNED,
    UNIT,
    LabelTables,
    TopicBootstrap,
    label_tables,
    labelled,
    topics_of,
)
from rankbounds.comparison.label_sets import (
    MAJORITY,
    MEAN_GRADE,
    SHARE_OF_VOTES,
    LabelSet,
    Scoring,
    on_scales,
    scale_words,
    scores_by_labels,
    used_grades,
    voted_sets,
)
from rankbounds.comparison.power import check_level
from rankbounds.comparison.significance import RESAMPLES, Resampling, check_finite, pairs_of
from rankbounds.errors import DataError, RankboundsWarning, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.run_notes import some
from rankbounds.evaluation.score_differences import merit
from rankbounds.judging.subsets import subset
from rankbounds.measures import Measure, parse_measures
from rankbounds.tables import Table, number, plain, signed
from rankbounds.threads import processors

if TYPE_CHECKING:
    import pandas
    import polars

DEFAULT_MEASURES = ("RBP(p=0.8)",)
INTERVAL_RESAMPLES = 2_000
"""Of topics, for intervals; tests resample as often as elsewhere."""
MOST_LIKING_RESAMPLES = 1_000_000
PAIRS = ("all", "shared")
_STATISTICS = (
    "kappa", "kappa_grades", "kappa_linear", "kappa_quadratic", "alpha", "alpha_nominal", "alpha_ordinal",
    "alpha_interval", "same", "relevant_trusted", "relevant", "shift_relevant", "shift",
)  # fmt: skip
AGREEMENT_FIELDS = (
    "labels", "scale", "rel", "pairs", "missing", "extra",
    *(field for name in _STATISTICS for field in (name, f"{name}_low", f"{name}_high")),
    "reason",
)  # fmt: skip
SYSTEM_FIELDS = (
    "labels", "run", "measure", "by_labels", "trusted", "bias", "ci_low", "ci_high", "excess", "p_value", "p_adjusted",
    "flag", "beyond_scale", "p_beyond_scale", "flag_beyond_scale",
)  # fmt: skip
ORDERING_FIELDS = (
    "labels", "measure", *COEFFICIENTS, "slope",
    *(f"{name}_{end}" for name in (*COEFFICIENTS, "slope") for end in ("low", "high")),
    "mean_bias", "mean_bias_low", "mean_bias_high", "favoured", "punished",
    "pairs", "separated", "kept", "lost", "reversed", "reversed_significantly", "only_by_labels",
)  # fmt: skip
FLAGS = {1.0: "favoured", -1.0: "punished", 0.0: None}
OTHER_SCALE = "another scale than the trusted labels: only relevant or not can be compared"


@dataclass(frozen=True, eq=False, repr=False)
class Judges:
    """What sets of labels say beside trusted ones. It prints as a verdict on each and tables; ``rows`` are ``systems``.

    Attributes
    ----------
    agreement : list of dict
        For each set of labels: ``pairs`` that both labelled, ``missing`` and ``extra`` ones; ``kappa`` (relevant or
        not), ``kappa_linear`` and ``kappa_quadratic`` (of grades), ``alpha`` (Krippendorff's, ordinal), ``same`` (share
        of pairs that both call relevant, or both not), ``shift`` (of the mean grade), ``shift_relevant`` (of the share
        of relevant documents), each with ``_low`` and ``_high``. None where scales differ; ``reason`` says so.
    confusion : list of dict
        How many pairs have which ``trusted`` grade and which grade ``by_labels``.
    by_grade : list of dict
        For each trusted grade the share of pairs that the labels call relevant.
    systems : list of dict
        For each set, measure and run: the score ``by_labels``, the ``trusted`` one, ``bias`` with its interval;
        ``excess`` is the bias less the mean bias of all runs, ``flag`` whether the labels ``favoured`` or ``punished``
        the run significantly more than the others; ``beyond_scale`` and ``flag_beyond_scale`` are the same for what is
        left of the excess where labels squeeze (or stretch) all differences, known for five runs or more.
    orderings : list of dict
        For each set and measure: ``tau``, ``tau_ap``, ``tau_top10``; ``slope``, what a difference of 1 by the trusted
        labels becomes; what becomes of the pairs of runs that the trusted labels separate.
    changes : list of dict
        Those of them whose winner changes.
    settings : dict
        All that the numbers depend on.

    """

    agreement: list[dict[str, Any]]
    confusion: list[dict[str, Any]]
    by_grade: list[dict[str, Any]]
    systems: list[dict[str, Any]]
    orderings: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    settings: dict[str, Any]

    @property
    def labels(self) -> list[str]:
        """The names of the sets of labels."""
        return [row["labels"] for row in self.agreement]

    @cached_property
    def measures(self) -> list[str]:
        """The labels of the measures, where there are runs."""
        return list(dict.fromkeys(row["measure"] for row in self.orderings))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each set of labels, measure and run; without runs, those of ``agreement``."""
        return self.systems or self.agreement

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars data frame."""
        import polars

        return polars.DataFrame(self.rows(), infer_schema_length=None)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.rows())

    # ---- words ----

    def sentences(self, labels: str) -> list[str]:
        """The verdict on one set of labels, sentence by sentence."""
        agreed = next(row for row in self.agreement if row["labels"] == labels)
        orderings = [row for row in self.orderings if row["labels"] == labels]
        flagged = [row for row in self.systems if row["labels"] == labels and (row["flag"] or row["flag_beyond_scale"])]
        changes = [row for row in self.changes if row["labels"] == labels]
        return judge_wording.sentences(agreed, orderings, flagged, changes, self.settings)

    def words(self, labels: str | None = None) -> str:
        """The verdict in plain words: a paragraph for one set of labels, or for each and then for all.

        Parameters
        ----------
        labels : str, optional
            The name of a set; all where none is named.

        Returns
        -------
        str
            Sentences on lines of their own, an empty line between paragraphs.

        """
        if labels is not None and labels not in self.labels:
            raise UsageError(f'There are no labels "{labels}". There are: {", ".join(self.labels)}.')
        paragraphs = ["\n".join(self.sentences(name)) for name in ([labels] if labels else self.labels)]
        if labels is None and len(self.labels) > 1:
            paragraphs.append("\n".join(judge_wording.side_by_side(self.agreement, self.orderings, self.settings)))
        return "\n\n".join(paragraphs) + "\n"

    # ---- tables ----

    def agreement_table(self) -> Table:
        """Every set's agreement with the trusted labels."""
        header = ["labels", "grades", "pairs", "no label", "same", "kappa", "linear", "quadratic", "alpha", "relevant"]
        cells = [
            [
                row["labels"], row["scale"], f"{row['pairs']:,}", f"{row['missing']:,}", f"{row['same']:.1%}",
                *(_with_interval(row, name) for name in ("kappa", "kappa_linear", "kappa_quadratic", "alpha")),
                f"{row['relevant']:.1%} ({row['shift_relevant']:+.1%})",
            ]
            for row in self.agreement
        ]  # fmt: skip
        return Table(header, cells, frozenset({0, 1}))

    def confusion_table(self, labels: str) -> Table:
        """Trusted grades (rows) by grades of one set (columns): numbers of pairs."""
        rows = [row for row in self.confusion if row["labels"] == labels]
        trusted, given = (sorted({row[side] for row in rows}) for side in ("trusted", "by_labels"))
        count = {(row["trusted"], row["by_labels"]): row["pairs"] for row in rows}
        header = [f"{self.settings['trusted']} \\ {labels}", *(f"{grade:g}" for grade in given)]
        cells = [[f"{grade:g}", *(f"{count[grade, other]:,}" for other in given)] for grade in trusted]
        return Table(header, cells)

    def ordering_table(self) -> Table:
        """How each set orders the runs, by measure."""
        header = ["measure", "labels", "tau", "tau_AP", f"tau of best {self.settings['top']}", "mean bias", "separated",
                  "kept", "lost", "turned", "new"]  # fmt: skip
        cells = [
            [
                row["measure"], row["labels"], *(_with_interval(row, name) for name in COEFFICIENTS),
                signed(row["mean_bias"]),
                *(str(row[name]) for name in ("separated", "kept", "lost", "reversed", "only_by_labels")),
            ]
            for row in self.orderings
        ]  # fmt: skip
        return Table(header, cells, frozenset({0, 1}))

    def bias_table(self, measure: str) -> Table:
        """The trusted score of every run, best first, and each set's bias: ^ favoured, v punished more than others."""
        rows = [row for row in self.systems if row["measure"] == measure]
        by_run: dict[str, dict[str, dict[str, Any]]] = {}
        for row in rows:
            by_run.setdefault(row["run"], {})[row["labels"]] = row
        marks = {"favoured": " ^", "punished": " v", None: "  "}
        cells = [
            [
                run,
                number(next(iter(of_run.values()))["trusted"]),
                *(signed(of_run[name]["bias"]) + marks[of_run[name]["flag"]] for name in self.labels),
            ]
            for run, of_run in by_run.items()
        ]
        return Table(["run", f"{measure} by {self.settings['trusted']}", *(f"{name}  " for name in self.labels)], cells)

    def parts(self) -> list[tuple[str, Table]]:
        """The tables, each with the sentence that introduces it."""
        confidence = f"{self.settings['confidence']:.0%}"
        found = [(judge_wording.agreement_caption(self.settings), self.agreement_table())]
        found += [("Numbers of pairs:", self.confusion_table(name)) for name in self.labels]
        if self.orderings and self.settings["runs"] > 1:
            found.append((judge_wording.ordering_caption(self.settings), self.ordering_table()))
        found += [
            (
                f"Bias by {measure}: score by the labels less the trusted one (^ favoured, v punished more than the "
                f"other runs, Holm over runs, level {self.settings['alpha']:g}; {confidence} intervals in JSON):",
                self.bias_table(measure),
            )
            for measure in self.measures
        ]
        return found

    def __repr__(self) -> str:
        return "\n".join([self.words(), *(f"{caption}\n{table.text()}" for caption, table in self.parts())])

    def _repr_html_(self) -> str:
        paragraphs = [f"<p>{html.escape(part)}</p>" for part in self.words().strip().split("\n\n")]
        tables = [f"<p>{html.escape(caption)}</p>\n{table.html()}" for caption, table in self.parts()]
        return "\n".join([*paragraphs, *tables])


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    if row[name] is None:
        return "-"
    if row[f"{name}_low"] is None:
        return number(row[name], 3)
    return f"{row[name]:.3f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"


def judges(
    trusted: Any,
    labels: Any,
    runs: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    rel: float | None = None,
    labels_rel: float | Mapping[str, float] | None = None,
    same_scale: bool | None = None,
    votes: bool = False,
    pairs: str = "all",
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = INTERVAL_RESAMPLES,
    seed: int = 0,
    trusted_name: str | None = None,
    formats: Formats | None = None,
    columns: Mapping[str, str] | None = None,
    lenient: bool = False,
    **assumptions: Any,
) -> Judges:
    """Hold labels, say of language models, against trusted ones: may I trust this judge?

    Parameters
    ----------
    trusted : path, Qrels, dict, frame or rows
        The labels to believe, such as people's, in any form that ``evaluate`` takes for judgments.
    labels : such, or several
        The labels in question: one set, a list, paths and patterns, or a dict by name.
    runs : path, Run, dict, frame, rows, or several of them, optional
        As for ``evaluate``. Without runs only the labels are compared.
    measures : str, Measure, or iterable of them
        By which the runs are scored with either labels.
    rel : float, optional
        The lowest trusted grade that counts as relevant, for kappa and for measures that name none. Without it, that of
        the first measure which has one, else 1.
    labels_rel : float or dict of str to float, optional
        The same of the labels in question, of all or by name, where it is another grade. Needed where scales differ,
        unless labels are 0/1.
    same_scale : bool, optional
        Whether grades of both mean the same; without it they do where the highest grades are the same.
    votes : bool, default False
        Add the votes of all sets as further sets: the majority and the mean grade (where scales differ, the share of
        votes for "relevant").
    pairs : {"all", "shared"}
        Score runs by all labels of each set, or by the pairs alone that the trusted ones and all sets have labelled.
    alpha, confidence : float
        The level of tests, and that of intervals.
    resamples, seed : int
        How often topics are drawn again for intervals, and where the random numbers start.
    trusted_name : str, optional
        What to call the trusted labels; without it by their file, or "trusted".
    formats, columns, lenient
        How files and tables are read, as for ``evaluate``.
    **assumptions
        What ``evaluate`` is told of ties, unjudged documents and gains: ``ties=``, ``unjudged=``, ``gain=``, ...

    Returns
    -------
    Judges
        With ``agreement``, ``systems``, ``orderings``, ``confusion``, ``changes`` as rows, ``rows()`` (those of
        ``systems``) and ``words()``, the verdict.

    Notes
    -----
    Everything is over the topics that the trusted labels and all sets have. Intervals are approximate: those of bias
    are t intervals over topics, all others the value and t times its standard error over resampled topics. A run is
    favoured or punished when its bias differs from the mean bias of all runs by the randomisation test with Holm's
    correction over runs; beyond scale, when it does so from the line through all runs' scores. Pairs of runs are
    separated as ``compare`` separates them. ``tau_ap`` is the mean of both directions, as in ``rankbounds agreement``.
    ``gain`` holds for labels on the scale of the trusted ones.

    Examples
    --------
    >>> import rankbounds as rb
    >>> people = {str(q): {"a": 1, "b": 1, "c": 0, "d": 0} for q in range(8)}
    >>> model = {str(q): {"a": 1, "b": 0 if q < 2 else 1, "c": 1 if q < 4 else 0, "d": 0} for q in range(8)}
    >>> runs = {"one": {q: ["a", "b", "c"] for q in people}, "two": {q: ["c", "a", "d"] for q in people}}
    >>> found = rb.judges(people, {"model": model}, runs, "P@2")
    >>> [round(found.agreement[0][name], 4) for name in ("kappa", "same", "shift_relevant")]
    [0.625, 0.8125, 0.0625]
    >>> for row in found.rows():
    ...     print(row["run"], row["by_labels"], row["trusted"], row["bias"], row["flag"])
    one 0.875 1.0 -0.125 None
    two 0.75 0.5 0.25 None

    """
    check_level(alpha)
    check_share("confidence", confidence)
    check_choice("pairs", pairs, PAIRS)
    if rel is not None and not rel > 0:
        raise UsageError(f"The lowest grade that counts as relevant must be positive, not {rel:g}.")
    assumed = Assumptions(**{"bounds": "none"} | assumptions)
    resampling = Resampling(resamples, seed)
    chosen = _at_level(parse_measures(measures), rel)
    level = next((measure.rel for measure in chosen if _is_binary(measure)), 1.0) if rel is None else rel
    reading = Reading(formats, None, columns, lenient, processors(), assumed.gain)
    truth = reading.judgments(trusted)
    sets = reading.label_sets(labels)
    name = trusted_name or _name_of(truth, sets)
    truth, sets, left_out = _of_shared_topics(truth, sets, name)
    judged = on_scales(truth, sets, level, labels_rel, same_scale)
    if votes:
        if len(judged) < 2:
            raise UsageError("Votes need at least two sets of labels.")
        for taken in {MAJORITY, MEAN_GRADE, SHARE_OF_VOTES} & set(sets):
            raise UsageError(f'A set of labels is called "{taken}", as votes are: give it another name.')
        judged += voted_sets(judged, truth)
    tables = [
        label_tables(truth, judge.labels, judge.name, rel=level, labels_rel=judge.rel, same_scale=judge.same_scale)
        for judge in judged
    ]
    bootstrap = TopicBootstrap(len(truth.query_ids), resampling, confidence)
    settings: dict[str, Any] = {
        "trusted": name,
        "scale": scale_words(used_grades(truth)),
        "rel": level,
        "labels_rel": {judge.name: judge.rel for judge in judged},
        "graded": [str(measure) for measure in chosen if measure.graded],
        "votes": [judge.name for judge in judged if judge.is_vote],
        "topics": len(truth.query_ids),
        "runs": 0,
        "top": 10,
        "pairs": pairs,
        "alpha": alpha,
        "confidence": confidence,
        "resamples": resamples,
        "seed": seed,
    }
    agreed = [_agreement_row(judge, table, bootstrap) for judge, table in zip(judged, tables, strict=True)]
    settings["kappa_lead"] = _lead_in_kappa(agreed, judged, bootstrap)
    found = Judges(
        [row for row, _ in agreed],
        [row for judge, table in zip(judged, tables, strict=True) for row in _confusion_rows(judge, table)],
        [row for judge, table in zip(judged, tables, strict=True) for row in _grade_rows(judge, table, bootstrap)],
        [],
        [],
        [],
        settings,
    )
    if runs is None:
        return found
    if pairs == "shared":
        truth, judged = _of_shared_pairs(truth, judged)
    given = [run.filter(lambda topic: topic not in left_out) if left_out else run for run in reading.runs(runs)]
    matrices, names = scores_by_labels(_scorings(truth, judged, chosen, assumed), given)
    settings["runs"] = len(names)
    systems, orderings, changes = _of_runs(matrices, names, judged, chosen, settings)
    return replace(found, systems=systems, orderings=orderings, changes=changes)


# ---- what is asked ----


def _is_binary(measure: Measure) -> bool:
    return "rel" in measure.parameters and not measure.graded


def _at_level(measures: list[Measure], rel: float | None) -> list[Measure]:
    """Measures that name no lowest grade take the one that was given."""
    if rel is None:
        return measures
    return [measure.at_level(rel) if _is_binary(measure) and measure.rel == 1.0 else measure for measure in measures]


def _name_of(trusted: Qrels, sets: Mapping[str, Qrels]) -> str:
    from rankbounds.files.opening import plain_name

    source = trusted.pairs.source.name
    name = "trusted" if source == "judgments" else plain_name(source)
    return f"{name} (trusted)" if name in sets else name


def _of_shared_topics(trusted: Qrels, sets: dict[str, Qrels], name: str) -> tuple[Qrels, dict[str, Qrels], list[str]]:
    """All labels of the topics that every set has; and the trusted ones' topics that are left out, which is told."""
    had = topics_of(trusted)
    shared = had.intersection(*(topics_of(labels) for labels in sets.values()))
    if len(shared) < 2:
        lacking = next((other for other, labels in sets.items() if len(had & topics_of(labels)) < 2), next(iter(sets)))
        raise DataError(
            sets[lacking].pairs.source.name,
            f'the labels "{lacking}" share {len(shared)} topics with the trusted ones ({name}).',
            "Intervals over topics need two at least.",
        )
    left_out = [query for query in trusted.query_ids if query in had and query not in shared]
    if left_out:
        warnings.warn(
            f"{len(left_out)} of {len(had)} topics of {name} are left out, since not all labels have them "
            f"({some(left_out)}).",
            RankboundsWarning,
            stacklevel=3,
        )
    return trusted.filter(shared), {other: labels.filter(shared) for other, labels in sets.items()}, left_out


def _of_shared_pairs(trusted: Qrels, sets: Sequence[LabelSet]) -> tuple[Qrels, list[LabelSet]]:
    """Of all labels, the pairs that everybody labelled."""
    everywhere = labelled(trusted).copy()
    for judge in sets:
        if not judge.is_vote:
            rows, here = _found_in(trusted, judge.labels)
            has = np.zeros(len(trusted), dtype=bool)
            has[here[labelled(judge.labels)[rows]]] = True
            everywhere &= has
    kept = subset(trusted, everywhere)
    cut = []
    for judge in sets:
        there = np.zeros(len(judge.labels), dtype=bool)
        there[_found_in(kept, judge.labels)[0]] = True
        cut.append(replace(judge, labels=subset(judge.labels, there)))
    return kept, cut


def _found_in(trusted: Qrels, labels: Qrels) -> tuple[Any, Any]:
    """Rows of the labels that stand among the trusted ones, and where."""
    return trusted.pairs.index.find(labels.pairs, trusted.pairs.index.topics_of(labels.pairs))


# ---- labels ----


def _agreement_row(
    judge: LabelSet, table: LabelTables, bootstrap: TopicBootstrap
) -> tuple[dict[str, Any], dict[str, Floats]]:
    """A set's row, and what each number is in every resample."""
    found: dict[str, tuple[float, float, float]] = {}
    drawn: dict[str, Floats] = {}
    for name, (by_topic, statistic) in table.statistics().items():
        drawn[name] = statistic(bootstrap.resampled(by_topic))
        value = float(statistic(by_topic.sum(axis=0)))
        found[name] = (value, *bootstrap.interval(value, drawn[name], *RANGES.get(name, SIGNED)))
    found["alpha"] = found["alpha_ordinal" if judge.same_scale else "alpha_binary"]
    unknown = (np.nan, np.nan, np.nan)
    row: dict[str, Any] = {
        "labels": judge.name,
        "scale": judge.scale,
        "rel": judge.rel,
        "pairs": int(table.total.sum()),
        "missing": table.missing,
        "extra": table.extra,
    }
    for name in _STATISTICS:
        for field, value in zip((name, f"{name}_low", f"{name}_high"), found.get(name, unknown), strict=True):
            row[field] = plain(value)
    row["reason"] = None if judge.same_scale else OTHER_SCALE
    return row, drawn


def _lead_in_kappa(
    agreed: Sequence[tuple[dict[str, Any], dict[str, Floats]]],
    judged: Sequence[LabelSet],
    bootstrap: TopicBootstrap,
) -> dict[str, Any] | None:
    """By how much the set of the highest kappa is ahead of the next, votes left out, with an interval."""
    places = [
        place for place, judge in enumerate(judged) if not judge.is_vote and agreed[place][0]["kappa"] is not None
    ]
    if len(places) < 2:
        return None
    best, second = sorted(places, key=lambda place: -agreed[place][0]["kappa"])[:2]
    ahead = agreed[best][0]["kappa"] - agreed[second][0]["kappa"]
    low, high = bootstrap.interval(ahead, agreed[best][1]["kappa"] - agreed[second][1]["kappa"])
    return {
        "best": judged[best].name,
        "next": judged[second].name,
        "difference": ahead,
        "low": plain(low),
        "high": plain(high),
    }


def _confusion_rows(judge: LabelSet, table: LabelTables) -> list[dict[str, Any]]:
    return [
        {"labels": judge.name, "trusted": plain(grade), "by_labels": plain(given), "pairs": int(count)}
        for grade, counts in zip(table.trusted_grades, table.total, strict=True)
        for given, count in zip(table.grades, counts, strict=True)
    ]


def _grade_rows(judge: LabelSet, table: LabelTables, bootstrap: TopicBootstrap) -> list[dict[str, Any]]:
    count, relevant = table.shares_by_grade()
    with np.errstate(invalid="ignore"):
        drawn = bootstrap.resampled(relevant) / bootstrap.resampled(count)
    shares = relevant.sum(axis=0) / count.sum(axis=0)
    low, high = bootstrap.interval(shares, drawn, *UNIT)
    return [
        {
            "labels": judge.name,
            "trusted": plain(grade),
            "pairs": int(of_grade),
            "relevant": plain(share),
            "ci_low": plain(least),
            "ci_high": plain(most),
        }
        for grade, of_grade, share, least, most in zip(
            table.trusted_grades, count.sum(axis=0), shares, low, high, strict=True
        )
    ]


# ---- runs ----


def _scorings(
    trusted: Qrels, judged: Sequence[LabelSet], measures: list[Measure], assumptions: Assumptions
) -> list[Scoring]:
    """How the trusted labels, and then each set, are to score the runs; gains are for one scale."""
    linear = Assumptions(**{name: getattr(assumptions, name) for name in _BESIDE_GAIN})
    return [
        Scoring(trusted, measures, assumptions),
        *(
            Scoring(
                judge.labels,
                judge.measures(measures),
                assumptions if judge.same_scale else linear,
                None if judge.is_vote else judge.name,
            )
            for judge in judged
        ),
    ]


_BESIDE_GAIN = ("ties", "unjudged", "bounds", "topics", "score_precision", "ties_key")


def _of_runs(
    scores: Floats, runs: list[str], judged: Sequence[LabelSet], measures: list[Measure], settings: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows on bias, orders and winners."""
    alpha, confidence = settings["alpha"], settings["confidence"]
    testing = Resampling(RESAMPLES, settings["seed"])
    # Of so many runs even the least p-value must be able to stay below the level once it is corrected.
    liking = Resampling(min(max(RESAMPLES, int(2 * len(runs) / alpha)), MOST_LIKING_RESAMPLES), settings["seed"])
    bootstrap = TopicBootstrap(scores.shape[-1], Resampling(settings["resamples"], settings["seed"]), confidence)
    merits = np.stack([merit(scores[:, at], measure) for at, measure in enumerate(measures)], axis=1)
    for at, measure in enumerate(measures):
        check_finite(scores[:, at], "a comparison of labels", measure)
    several = len(runs) > 1
    p: Floats = np.empty((len(scores), len(measures), 0))
    if several:
        p = pair_p_values(merits.reshape(-1, *merits.shape[2:]), testing).reshape(len(scores), len(measures), -1)
    systems: list[dict[str, Any]] = []
    orderings: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    for at, measure in enumerate(measures):
        trusted = scores[0, at]
        best_first = np.argsort(-merit(trusted.mean(axis=-1), measure), kind="stable").tolist()
        correlated = resampled_correlations(trusted, list(scores[1:, at]), measure, bootstrap) if several else None
        for place, judge in enumerate(judged):
            others = scores[1 + place, at]
            bias = bias_of_runs(others, trusted, measure, alpha=alpha, confidence=confidence, resampling=liking)
            outcome = winners(trusted, others, p[0, at], p[1 + place, at], measure, alpha)
            label = {"labels": judge.name, "measure": str(measure)}
            systems += _system_rows(label, runs, best_first, others, trusted, bias)
            orderings.append(_ordering_row(label, correlated[place] if correlated else None, bias, outcome))
            changes += _change_rows(label, runs, outcome, p[0, at], p[1 + place, at], measure)
    return systems, orderings, changes


def _system_rows(
    label: Mapping[str, str], runs: list[str], order: list[int], others: Floats, trusted: Floats, bias: Bias
) -> list[dict[str, Any]]:
    columns = {
        "by_labels": others.mean(axis=-1),
        "trusted": trusted.mean(axis=-1),
        "bias": bias.bias,
        "ci_low": bias.low,
        "ci_high": bias.high,
        "excess": bias.excess,
        "p_value": bias.p_value,
        "p_adjusted": bias.p_adjusted,
    }
    return [
        {"labels": label["labels"], "run": runs[run], "measure": label["measure"]}
        | {name: plain(column[run]) for name, column in columns.items()}
        | {"flag": FLAGS[float(bias.liking[run])]}
        | {"beyond_scale": plain(bias.beyond_scale[run]), "p_beyond_scale": plain(bias.p_beyond_scale[run])}
        | {"flag_beyond_scale": FLAGS[float(bias.liking_beyond_scale[run])]}
        for run in order
    ]


def _ordering_row(
    label: Mapping[str, str], correlated: Mapping[str, tuple[float, float, float]] | None, bias: Bias, outcome: Winners
) -> dict[str, Any]:
    row: dict[str, Any] = dict(label)
    for place, ending in enumerate(("", "_low", "_high")):
        for name in (*COEFFICIENTS, "slope"):
            row[name + ending] = None if correlated is None else plain(correlated[name][place])
    row |= {"mean_bias": bias.mean, "mean_bias_low": plain(bias.mean_low), "mean_bias_high": plain(bias.mean_high)}
    row |= {name: int(np.count_nonzero(bias.liking == sign)) for sign, name in FLAGS.items() if name}
    lost = outcome.separated & ~outcome.kept & ~outcome.reversed
    counted = {
        "pairs": np.ones(outcome.separated.shape, dtype=bool),
        "separated": outcome.separated,
        "kept": outcome.kept,
        "lost": lost,
        "reversed": outcome.reversed,
        "reversed_significantly": outcome.reversed_significantly,
        "only_by_labels": outcome.only_by_labels,
    }
    return row | {name: int(np.count_nonzero(flags)) for name, flags in counted.items()}


def _change_rows(
    label: Mapping[str, str], runs: list[str], outcome: Winners, p: Floats, p_by_labels: Floats, measure: Measure
) -> list[dict[str, Any]]:
    """Pairs whose winner changes, those farthest apart by the trusted labels first; differences better less worse."""
    first, second = pairs_of(len(runs))
    places = np.flatnonzero(outcome.reversed)
    rows = []
    for place in places[np.argsort(-np.abs(outcome.trusted_difference[places]), kind="stable")].tolist():
        ahead = float(merit(outcome.trusted_difference[place], measure)) > 0
        better, worse = (first, second) if ahead else (second, first)
        sign = 1 if ahead else -1
        rows.append(
            dict(label)
            | {
                "better": runs[int(better[place])],
                "worse": runs[int(worse[place])],
                "trusted": sign * float(outcome.trusted_difference[place]),
                "by_labels": sign * float(outcome.difference[place]),
                "p_trusted": float(p[place]),
                "p_by_labels": float(p_by_labels[place]),
                "significant": bool(outcome.reversed_significantly[place]),
            }
        )
    return rows
