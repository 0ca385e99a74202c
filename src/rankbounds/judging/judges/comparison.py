"""May I trust this judge? Labels by models held against trusted ones: agreement, bias by run, orders, one verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankbounds.choices import check_share
from rankbounds.collection.run_names import GroupsLike
from rankbounds.collection.shapes import RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.options import ScoringOptions, chosen_options
from rankbounds.files.opening import plain_name
from rankbounds.judging.judges import agreement, label_sets
from rankbounds.judging.judges.bias import (
    COEFFICIENTS,
    RUNS_FOR_SCALE,
    TOP,
    rows_of_runs,
    trust_in_order,
    trust_in_scores,
    worst_share,
)
from rankbounds.judging.judges.families import find_families, rows_of_families
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.phrases import counted, some
from rankbounds.results import CaptionedTables, Column, Row, build_table, count, interval
from rankbounds.stats.power import check_level
from rankbounds.stats.significance import Resampling
from rankbounds.tables import Table, number, signed
from rankbounds.threads import processors

if TYPE_CHECKING:
    from typing_extensions import Unpack

INTERVAL_RESAMPLES = 2_000
NAMED = 3
"""How many runs are named."""
FAVOUR = {"run": ("its average over all runs", "runs"), "family": ("all other runs", "families")}
"""With what the bias towards each is compared, and what several are called."""


def _with_interval(name: str, heading: str) -> Column:
    def cell(row: Row) -> str:
        if row[name] is None:
            return "-"
        if row[f"{name}_low"] is None:
            return number(row[name], 3)
        return f"{row[name]:.3f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"

    return Column(name, heading, cell)


AGREEMENT_COLUMNS = (
    Column("labels"),
    Column("scale", "grades"),
    count("pairs"),
    count("missing", "no label"),
    Column("same", cell=lambda row: f"{row['same']:.1%}"),
    _with_interval("kappa", "kappa"),
    _with_interval("kappa_linear", "linear"),
    _with_interval("kappa_quadratic", "quadratic"),
    _with_interval("alpha", "alpha"),
    Column("relevant", cell=lambda row: f"{row['relevant']:.1%} ({row['shift_relevant']:+.1%})"),
)
ORDERING_COLUMNS = (
    Column("measure"),
    *map(_with_interval, COEFFICIENTS, ("tau", "tau_AP", f"tau of best {TOP}")),
    _with_interval("mean_bias", "mean bias"),
    _with_interval("slope", "slope"),
    *map(Column, ("separated", "kept", "lost")),
    Column("reversed", "turned"),
    Column("only_by_labels", "new"),
)
FAMILY_COLUMNS = (
    *map(Column, ("labels", "family", "measure", "runs")),
    Column("excess", "favour", lambda row: signed(row["excess"])),
    interval("ci_low", "ci_high", "interval", signed),
    Column("p_adjusted", "p (Holm)"),
    Column("flag"),
)
CHANGE_COLUMNS = (
    *map(Column, ("measure", "better", "worse")),
    Column("trusted", cell=lambda row: signed(row["trusted"])),
    Column("by_labels", cell=lambda row: signed(row["by_labels"])),
    Column("significant"),
)
VERDICT_COLUMNS = (
    Column("labels", importance=1),
    _with_interval("kappa", "kappa"),
    Column("relevant", cell=lambda row: f"{row['relevant']:.0%} ({100 * row['shift_relevant']:+.0f})"),
    Column("tau", "least tau"),
    Column("order", "better run", importance=1),
    Column("scores", "scores", importance=1),
)


@dataclass(frozen=True, eq=False, repr=False)
class Judges(CaptionedTables):
    """How labels compare with trusted ones: a row with a verdict for each, fewest problems first, or one in detail.

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
        ``excess`` is the bias minus the mean bias of all runs, ``flag`` whether labels ``favoured`` or ``penalised``
        the run significantly more than the others; ``beyond_scale`` and ``flag_beyond_scale`` are the same for what is
        left of the excess where labels squeeze (or stretch) all differences, known for five runs or more.
    orderings : list of dict
        For each set and measure: ``tau``, ``tau_ap``, ``tau_top10``; ``slope``, what a difference of 1 by the trusted
        labels becomes; what becomes of the pairs of runs that the trusted labels separate.
    changes : list of dict
        Those of them whose winner changes.
    families : list of dict
        For each set, measure and family of runs: ``excess`` is its mean bias minus that of all other runs, tested as
        that of runs is.
    """

    agreement: list[dict[str, Any]]
    confusion: list[dict[str, Any]]
    by_grade: list[dict[str, Any]]
    systems: list[dict[str, Any]]
    orderings: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    families: list[dict[str, Any]]
    in_full: bool = False
    figures = ("labels_overview",)

    @property
    def labels(self) -> list[str]:
        """The names of the sets of labels."""
        return [row["labels"] for row in self.agreement]

    @property
    def measures(self) -> list[str]:
        """The labels of the measures, where there are runs."""
        return list(dict.fromkeys(row["measure"] for row in self.orderings))

    def rows(self) -> list[dict[str, Any]]:
        return self.families or self.systems or self.agreement

    def details(self, labels: str | None = None) -> Judges:
        """Return what is known of one set of labels, or of all, which prints all sentences and tables."""
        if labels is not None and labels not in self.labels:
            raise UsageError(f'There are no labels "{labels}". There are: {", ".join(self.labels)}.')
        names = ("agreement", "confusion", "by_grade", "systems", "orderings", "changes", "families")
        of_set: dict[str, Any] = {
            name: [row for row in getattr(self, name) if labels in (None, row["labels"])] for name in names
        }
        return replace(self, **of_set, in_full=True)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON can hold it; ``words`` by set of labels."""
        found = super().to_dict() | {"words": {name: self.words(name) for name in self.labels}}
        del found["in_full"]
        return found

    def words(self, labels: str | None = None) -> str:
        """Return the verdict on one set of labels in plain words, or on the best of several.

        Sentences stand on lines of their own.
        """
        asked = self if labels is None else self.details(labels)
        best = asked.verdicts()[0]
        of_best = [row for row in asked.orderings if row["labels"] == best["labels"]]
        if len(asked.agreement) == 1:
            said = _words_on_one(best, of_best, asked.systems, self.settings)
        else:
            most = max(asked.agreement, key=lambda row: -1.0 if row["kappa"] is None else row["kappa"])
            lead = f"{most['labels']} agrees best with {self.settings['trusted']}: kappa {number(most['kappa'], 3)}."
            first = f"Of {len(asked.agreement)} judges, {best['labels']} has the fewest problems. " if of_best else ""
            said = [f"{first}{_words_on_trust(best, of_best, self.settings)}"] if of_best else []
            said += [lead] if most["kappa"] is not None and (self.in_full or not of_best) else []
        families = [
            _words_on_favour(row["labels"], self.families, row, self.settings, "family")
            for row in (asked.orderings if self.families else ())
        ]
        said[1:1] = families
        return "\n".join(said) + "\n"

    def verdicts(self) -> list[dict[str, Any]]:
        """Return a row per set of labels: the fewest turned and missed differences first, then by kappa."""
        rows = []
        for agreed in self.agreement:
            of_set = [row for row in self.orderings if row["labels"] == agreed["labels"]]
            known_tau = [row["tau"] for row in of_set if row["tau"] is not None]
            answer, reason, _ = trust_in_order(of_set)
            rows.append(
                {
                    **agreed,
                    "tau": min(known_tau, default=None),
                    "order": f"{answer}: {reason}" if reason else answer,
                    "scores": trust_in_scores(agreed, of_set)[0],
                    "faults": [worst_share(of_set, name)[0] for name in ("reversed", "lost")],
                }
            )
        return sorted(rows, key=lambda row: (*row["faults"], 2.0 if row["kappa"] is None else -row["kappa"]))

    def confusion_table(self, labels: str) -> Table:
        """Trusted grades (rows) by grades of one set (columns): numbers of pairs."""
        rows = [row for row in self.confusion if row["labels"] == labels]
        trusted, by_labels = (sorted({row[side] for row in rows}) for side in ("trusted", "by_labels"))
        count = {(row["trusted"], row["by_labels"]): row["pairs"] for row in rows}
        header = [f"{self.settings['trusted']} \\ {labels}", *(f"{grade:g}" for grade in by_labels)]
        cells = [[f"{grade:g}", *(f"{count[grade, other]:,}" for other in by_labels)] for grade in trusted]
        return Table(header, cells)

    def bias_table(self, measure: str) -> Table:
        """The trusted score of every run, best first, and each set's bias: ^ favoured, v penalised more than others."""
        marks = {"favoured": " ^", "penalised": " v", None: "  "}
        by_run: dict[str, list[str]] = {}
        for row in self.systems:  # the sets follow each other in the order of ``labels``
            if row["measure"] == measure:
                cells = by_run.setdefault(row["run"], [row["run"], number(row["trusted"])])
                cells.append(signed(row["bias"]) + marks[row["flag"]])
        header = ["run", f"{measure} by {self.settings['trusted']}", *(f"{name}  " for name in self.labels)]
        return Table(header, list(by_run.values()))

    def parts(self) -> list[tuple[str, Table]]:
        known, confidence = self.settings, f"{self.settings['confidence']:.0%} (topics)"
        rated, sorted_rows = f"relevant from {known['rel']:g} on, over {known['topics']} topics", self.verdicts()
        if self.orderings and (len(sorted_rows) > 1 or not self.in_full):
            caption = (
                f"Labels beside {known['trusted']} ({rated}), fewest problems first; kappa: {confidence}; relevant: "
                f"share (points above {known['trusted']}). More: --details NAME, --explain."
            )
            if self.in_full:
                caption += (
                    " Least tau: of the order of runs, by the worst measure; better run: can they tell the better of "
                    f"two runs (of the pairs that {known['trusted']} separates, so many are missed or turned)?"
                )
            return [(caption, build_table(sorted_rows, VERDICT_COLUMNS)), *self._parts_on_families()]
        caption = (
            f"Agreement with {known['trusted']} (grades {known['scale']}, {rated}). kappa: relevant or not; linear, "
            "quadratic: of grades (- where scales differ); alpha: Krippendorff's, of grades (of relevant or not, where "
            f"scales differ); brackets: {confidence}, from {known['resamples']:,} resamples, seed "
            f"{known['seed']}."
        )
        tables = [(caption, build_table(sorted_rows, AGREEMENT_COLUMNS)), *self._parts_on_families()]
        if len(sorted_rows) > 1 or not self.in_full:
            return tables
        tables += [("Number of pairs by grade:", self.confusion_table(name)) for name in self.labels]
        if self.orderings and known["runs"] > 1:
            caption = (
                f'Order of the runs. separated: pairs that {known["trusted"]} tells apart (as "rankbounds compare" '
                "does); of these the labels tell apart the same way (kept), not at all (lost), or with another winner "
                "(turned); new: pairs that only the labels tell apart; slope: what a difference of 1 becomes."
            )
            tables.append((caption, build_table(self.orderings, ORDERING_COLUMNS)))
        if self.changes:
            caption = f"Pairs whose winner changes ({min(TOP, len(self.changes))} of {len(self.changes):,}):"
            tables.append((caption, build_table(self.changes[:TOP], CHANGE_COLUMNS)))
        for measure in self.measures:
            caption = (
                f"Bias by {measure}: score by the labels minus the trusted one (^ favoured, v penalised more than the "
                f"other runs, Holm over runs, level {known['alpha']:g}; {confidence} intervals in JSON):"
            )
            tables.append((caption, self.bias_table(measure)))
        return tables

    def _parts_on_families(self) -> list[tuple[str, Table]]:
        if not self.families:
            return []
        rows = sorted(self.families, key=lambda row: row["p_adjusted"])
        caption = (
            "Families of runs: favour is the mean bias of the family minus that of all other runs "
            f"({min(TOP, len(rows))} of {len(rows):,}, the surest first; interval: {self.settings['confidence']:.0%}):"
        )
        return [(caption, build_table(rows[:TOP], FAMILY_COLUMNS))]


def _words_on_one(row: Row, orderings: Sequence[Row], systems: Sequence[Row], known: Row) -> list[str]:
    trusted, said = known["trusted"], [_words_on_trust(row, orderings, known)] if orderings else []
    said.append(
        f"It agrees with {trusted} on {row['same']:.0%} of {row['pairs']:,} pairs, relevant or not; it calls "
        f"{row['relevant']:.0%} of them relevant, {trusted} {row['relevant_trusted']:.0%}."
    )
    if row["missing"] or row["extra"]:
        lacks = f"has no label for {counted(row['missing'], 'pair')} that {trusted} has" if row["missing"] else ""
        adds = f"labels {counted(row['extra'], 'pair')} that {trusted} does not" if row["extra"] else ""
        scored = "; its scores include these" if known["runs"] and row["extra"] else ""
        said[-1] += f" It {', and '.join(filter(None, (lacks, adds)))}{scored}."
    return said + [_words_on_favour("it", systems, one, known) for one in orderings if known["runs"] > 1]


def _words_on_trust(row: Row, orderings: Sequence[Row], known: Row) -> str:
    answer, reason, measure = trust_in_order(orderings)
    order = f"{answer}{reason and f'; of the clear differences by {measure}, {reason}'}"
    asked = f"To say which of two runs is better: {order}. " if known["runs"] > 1 else ""
    why = trust_in_scores(row, orderings)[1].format(trusted=known["trusted"])
    of_scores = "no problem was found, which does not prove that there is none"
    if why:
        of_scores = f'{why}; "rankbounds audit" corrects them with a sample that people judge'
    return f"Can {row['labels']} be trusted? {asked}For the scores themselves: {of_scores}."


def _words_on_favour(name: str, rows: Sequence[Row], ordering: Row, known: Row, kind: str = "run") -> str:
    tested = [row for row in rows if (row["labels"], row["measure"]) == (ordering["labels"], ordering["measure"])]
    liked = _named(tested, kind, "flag", "excess")
    beyond = _named(tested, kind, "flag_beyond_scale", "beyond_scale")
    (average, several), slope = FAVOUR[kind], ordering["slope"]
    answer = f"compared with {average}, {name} {liked}" if liked else f"no {kind} is shown to be favoured"
    answer += f" by {name}" if kind == "family" and not liked else ""
    said = f"By {ordering['measure']}, {answer} (t test, Holm over {len(tested)} {several}, level {known['alpha']:g})."
    if beyond:
        return f"{said} Compared with runs of similar score it {beyond}."
    if not liked or slope is None or known["runs"] < RUNS_FOR_SCALE:
        return said
    squeezes = "shrinks" if slope < 1 else "stretches"
    return f"{said} But it {squeezes} all differences: among runs with similar scores, none is shown to be favoured."


def _named(flagged: Sequence[Row], kind: str, flag: str, size: str) -> str:
    parts = []
    for value, verb in (("favoured", "favours"), ("penalised", "penalises")):
        rows = sorted((row for row in flagged if row[flag] == value), key=lambda row: -abs(row[size]))
        if rows:
            named = [f"{row[kind]} ({row[size]:+.4f})" for row in rows]
            parts.append(f"{verb} {some(named, NAMED)}")
    return " and ".join(parts)


def compare_judges(
    trusted: Any,
    labels: Any,
    runs: RunsLike | None = None,
    measures: MeasuresLike = DEFAULT_MEASURES[0],
    *,
    rel: float | None = None,
    labels_rel: float | Mapping[str, float] | None = None,
    same_scale: bool | None = None,
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = INTERVAL_RESAMPLES,
    seed: int = 0,
    families: GroupsLike | None = None,
    trusted_name: str | None = None,
    **options: Unpack[ScoringOptions],
) -> Judges:
    """Compare labels, such as those of language models, with trusted ones, and say whether they can replace them.

    Parameters
    ----------
    trusted : path, Qrels, dict, frame or rows
        The labels to believe, such as people's, as ``evaluate`` takes judgments.
    labels : like ``trusted``, or several
        The labels to check: one set, a list, paths and patterns, or a dict by name.
    runs, measures, **options
        As in ``evaluate``. Without runs only the labels are compared.
    rel : float, optional
        The lowest trusted grade that counts as relevant, for kappa and for measures that name none; by default that of
        the first measure that names one, else 1.
    labels_rel : float or dict of str to float, optional
        The lowest relevant grade of the labels to check, for all or by name, if it is another one. Required if scales
        differ, unless labels are 0/1.
    same_scale : bool, optional
        Whether grades of both mean the same; by default they do if the highest grades are the same.
    alpha, confidence : float
        The level of tests, and that of intervals.
    resamples, seed : int
        The number of resamples of topics for intervals, and the seed of random numbers.
    families : mapping, path or str, optional
        The family of each run, such as its team or model, to test the bias towards families too: from a dict, a file of
        lines "run family", or where the family ends in a run's name (the first of these marks, or how many characters).
    trusted_name : str, optional
        The name of the trusted labels; by default that of their file, or "trusted".

    Returns
    -------
    Judges
        With ``agreement``, ``systems``, ``orderings``, ``confusion``, ``changes`` as rows, ``rows()`` (those of
        ``families``, else of ``systems``) and ``words()``, the verdict.

    Notes
    -----
    Everything is over the topics that the trusted labels and all sets have. Intervals of bias are t intervals over
    topics, all others the value and t times its standard error over resampled topics. A run is favoured or penalised
    when its bias differs from the mean bias of all runs (t test, Holm over runs).

    Examples
    --------
    >>> import rankbounds as rb
    >>> people = {str(q): {"a": 1, "b": 1, "c": 0, "d": 0} for q in range(8)}
    >>> model = {str(q): {"a": 1, "b": 0 if q < 2 else 1, "c": 1 if q < 4 else 0, "d": 0} for q in range(8)}
    >>> runs = {"one": {q: ["a", "b", "c"] for q in people}, "two": {q: ["c", "a", "d"] for q in people}}
    >>> found = rb.judging.compare_judges(people, {"model": model}, runs, "P@2")
    >>> [round(found.agreement[0][name], 4) for name in ("kappa", "same", "shift_relevant")]
    [0.625, 0.8125, 0.0625]
    >>> for row in found.rows():
    ...     print(row["run"], row["by_labels"], row["trusted"], row["bias"], row["flag"])
    one 0.875 1.0 -0.125 None
    two 0.75 0.5 0.25 None
    """
    check_level(alpha)
    check_share("confidence", confidence)
    if rel is not None and not rel > 0:
        raise UsageError(f"The lowest grade that counts as relevant must be positive, not {rel:g}.")
    assumptions, reading = chosen_options(options, ScoringOptions, bounds="none", threads=processors())
    chosen = _at_level(parse_measures(measures), rel)
    level = next((measure.rel for measure in chosen if _is_binary(measure)), 1.0) if rel is None else rel
    truth = reading.judgments(trusted)
    sets = reading.label_sets(labels)
    source = truth.pairs.source.name
    name = trusted_name or ("trusted" if source == "judgments" else plain_name(source))
    name += " (trusted)" if name in sets and not trusted_name else ""
    truth, sets, left_out = label_sets.keep_shared_topics(truth, sets, name)
    labelled = label_sets.keep_labelled(truth)
    judged = label_sets.find_scales(labelled.grade, sets, level, labels_rel, same_scale)
    tables = [
        (judge, agreement.LabelTables.count(labelled, judge.labelled, judge.name, level, judge.rel)) for judge in judged
    ]
    bootstrap = agreement.TopicBootstrap(len(truth.query_ids), Resampling(resamples, seed), confidence)
    settings: dict[str, Any] = {
        "trusted": name,
        "scale": label_sets.scale_words(labelled.grade),
        "rel": level,
        "labels_rel": {judge.name: judge.rel for judge in judged},
        "topics": len(truth.query_ids),
        "runs": 0,
        "alpha": alpha,
        "confidence": confidence,
        "resamples": resamples,
        "seed": seed,
    }
    agreed = [agreement.agreement_row(*both, bootstrap) for both in tables]
    of_labels = Judges(
        agreement=agreed,
        confusion=[row for both in tables for row in agreement.confusion_rows(*both)],
        by_grade=[row for both in tables for row in agreement.grade_rows(*both, bootstrap)],
        systems=[],
        orderings=[],
        changes=[],
        families=[],
        settings=settings,
    )
    if runs is None:
        if families is not None:
            raise UsageError("Families are of runs: give runs too (--runs).")
        return of_labels
    compared = [run.filter(lambda topic: topic not in left_out) if left_out else run for run in reading.runs(runs)]
    linear, _ = chosen_options({**options, "gain": None}, ScoringOptions, bounds="none")  # gains are for one scale
    scorings = [label_sets.Scoring(truth, chosen, assumptions)]
    scorings += [
        label_sets.Scoring(
            judge.labels,
            judge.measures(chosen),
            assumptions if judge.same_scale else linear,
            judge.name,
        )
        for judge in judged
    ]
    matrices, names = label_sets.score_by_labels(scorings, compared)
    settings["runs"] = len(names)
    systems, orderings, changes = rows_of_runs(matrices, names, of_labels.labels, chosen, settings)
    grouped: list[dict[str, Any]] = []
    if families is not None:
        grouped = rows_of_families(matrices, find_families(names, families), of_labels.labels, chosen, settings)
    return replace(of_labels, systems=systems, orderings=orderings, changes=changes, families=grouped)


def _is_binary(measure: Measure) -> bool:
    return "rel" in measure.parameters and not measure.graded


def _at_level(measures: list[Measure], rel: float | None) -> list[Measure]:
    if rel is None:
        return measures
    return [measure.at_level(rel) if _is_binary(measure) and measure.rel == 1.0 else measure for measure in measures]
