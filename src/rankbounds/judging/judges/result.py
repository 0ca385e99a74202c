"""What labels say beside trusted ones: rows, tables and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankbounds.errors import UsageError
from rankbounds.judging.judges import words as judge_wording
from rankbounds.judging.judges.bias import COEFFICIENTS
from rankbounds.notebook import shown
from rankbounds.tables import Table, number, signed

if TYPE_CHECKING:
    import pandas
    import polars
STATISTICS = (
    "kappa", "kappa_grades", "kappa_linear", "kappa_quadratic", "alpha", "alpha_nominal", "alpha_ordinal",
    "alpha_interval", "same", "relevant_trusted", "relevant", "shift_relevant", "shift",
)  # fmt: skip
AGREEMENT_FIELDS = (
    "labels", "scale", "rel", "pairs", "missing", "extra",
    *(field for name in STATISTICS for field in (name, f"{name}_low", f"{name}_high")),
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
        return shown(self.words(), *(part for captioned in self.parts() for part in captioned))


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    if row[name] is None:
        return "-"
    if row[f"{name}_low"] is None:
        return number(row[name], 3)
    return f"{row[name]:.3f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"
