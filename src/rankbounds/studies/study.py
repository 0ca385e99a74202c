"""A study: a question, a function that computes the answer, and figures that draw it.

Its function is named observed_by_varied; the docstring opens with the question, and all that can be varied is a keyword
argument. A study that takes runs also takes ``best`` and ``best_by``: how many of the best to keep, by which measure;
``pool_runs`` are then still all of them. What studies have in common is their ``start``: its settings are theirs, and
what it returns is their first argument. They need no names but the public ones and those of this module.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankbounds.arrays import Floats as Floats
from rankbounds.calls import ends_in_a_sentence
from rankbounds.choices import check_choice as check_choice
from rankbounds.choices import check_persistence, check_share
from rankbounds.collection.gains import gain_rule
from rankbounds.collection.inputs import Reading
from rankbounds.columns.native import worth_starting
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.measures import Measure, parse_measure, parse_measures
from rankbounds.plots.style import COLOURS as COLOURS
from rankbounds.plots.style import colour_of as colour_of
from rankbounds.plots.style import draw_band as draw_band
from rankbounds.plots.style import figure, fresh_panels, marker_of
from rankbounds.results import Result
from rankbounds.studies.papers import PAPERS, Paper, Row, Source, items_in, papers_called, rows_called, sources_in
from rankbounds.tables import plain as plain
from rankbounds.threads import Progress as Progress
from rankbounds.threads import track as track

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measures: TypeAlias = Sequence[str | Measure]
Rows: TypeAlias = list[dict[str, Any]]
NOT_SETTINGS = ("qrels", "runs", "pool_runs", "groups", "progress")
MEASURED = ("measure", "warning", "best_by")
NOTHING = ("none", "all", "")

PARAMETERS: dict[str, str] = json.loads(Path(__file__).with_name("settings.json").read_text("utf-8"))
"""What docstrings and the command's help say of the parameters of studies."""

COUNTS = ("seeds", "depths", "depth", "pairs", "resamples", "digits", "collections", "n_documents", "topics")
ALLOWED: dict[str, tuple[Callable[[float], bool], str]] = {
    **dict.fromkeys(COUNTS, (lambda one: one >= 1, "be at least 1")),
    **dict.fromkeys(
        ("seed", "first_seed", "best", "pool_depth", "judged_depth", "simulations", "relevant"),
        (lambda one: one >= 0, "be at least 0"),
    ),
    **dict.fromkeys(("q", "shares"), (lambda one: 0 <= one <= 1, "lie between 0 and 1")),
    "time_limit": (lambda one: one > 0, "be above 0"),
}


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult(Result):
    """Rows, the answer in words, and the contents of the page."""

    table_rows: Rows
    answer: str
    data: Any = None
    """Arrays that figures draw and rows do not hold."""
    tables: Mapping[str, Rows] = field(default_factory=dict)
    """By their captions, in the form that the paper prints."""
    agreement: str = ""
    """Whether the paper's own numbers, or what it concludes, come out."""

    def rows(self) -> Rows:
        """The rows of the table; a row may lack a column."""
        return self.table_rows

    def words(self) -> str:
        """The answer, and how it agrees with the paper."""
        return " ".join(filter(None, (self.answer, self.agreement)))

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns of all rows."""
        return tuple(dict.fromkeys(key for row in self.table_rows for key in row))


class Study:
    """One experiment, made from the function that computes it."""

    def __init__(
        self, compute: Callable[..., StudyResult], source: str, best: int, start: Callable[..., Any] | None, more: Any
    ) -> None:
        self.compute, self.source, self.start = compute, source, start
        self.name = compute.__name__.replace("_", "-")
        self.figures: dict[str, Callable[..., Any]] = {}
        signature = inspect.signature(compute)
        parameters = [*signature.parameters.values()]
        if start is not None:
            shared = inspect.signature(start).parameters.items()
            parameters[:1] = [one.replace(default=more.get(name, one.default)) for name, one in shared]
        if "runs" in [one.name for one in parameters]:
            kept = {"best": best, "best_by": "AP"}
            parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=kept[name]) for name in kept]
        self.__signature__ = signature.replace(parameters=parameters)
        self.__doc__ = self._build_docstring() if compute.__doc__ else None  # Python drops docstrings under -OO
        STUDIES[self.name] = self

    @ends_in_a_sentence
    def __call__(self, *given: Any, **named: Any) -> StudyResult:
        """Compute the study."""
        bound = self.__signature__.bind(*given, **named)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        self._check(arguments)
        chosen = {name: value for name, value in arguments.items() if name not in NOT_SETTINGS}
        best, by, kept = arguments.pop("best", 0), arguments.pop("best_by", ""), ""
        if "runs" in arguments:
            judgments = Reading(gain=gain_rule(arguments.get("gain"))).judgments(arguments["qrels"])
            runs = Reading(threads=worth_starting()).runs(arguments["runs"])
            arguments |= {"qrels": judgments, "runs": runs}
            if "pool_runs" in arguments:
                pooled = arguments["pool_runs"]
                arguments["pool_runs"] = runs if pooled is None else Reading(threads=worth_starting()).runs(pooled)
            if 0 < best < len(runs):
                wanted = set(evaluate(judgments, runs, by, bounds="none").sort().runs[:best])
                arguments["runs"] = [run for run in runs if run.name in wanted]
                kept = f" Computed from the {best} best of {len(runs)} runs by {by}; best=0 (--set best=all) takes all."
            else:
                chosen["best"] = 0
        first = []
        if self.start is not None:
            first = [self.start(**{name: arguments.pop(name) for name in inspect.signature(self.start).parameters})]
        result = self.compute(*first, **arguments)
        settings = {name: _plain_setting(name, value) for name, value in chosen.items() if value is not None}
        return replace(result, answer=result.answer + kept, settings=settings | result.settings)

    def _check(self, arguments: Mapping[str, Any]) -> None:
        for name, value in arguments.items():
            several = value if isinstance(value, list | tuple) else [value]
            if not several and self.settings.get(name) and name != "rhos":  # without them there may be bits
                raise UsageError(f"{name} needs at least one value.")
            for one in several:
                holds, words = ALLOWED.get(name, (None, ""))
                if holds is not None and one is not None and not (isinstance(one, Real) and holds(float(one))):
                    raise UsageError(f"{name} must {words}, not {one}.")
                if name in MEASURED:
                    parse_measure(one)
                if name in ("p", "persistences"):
                    check_persistence(one)
                if name in ("alpha", "confidence", "precisions", "limits"):
                    check_share(name, one)

    def _build_docstring(self) -> str:
        entries = "\n".join(f"{name}\n    {PARAMETERS[name]}" for name in self.parameters)
        return (
            f"{inspect.getdoc(self.compute)}\n\nParameters\n----------\n{entries}\n\nReturns\n-------\nStudyResult\n"
            "    ``rows()``, the answer in ``words()``; ``draw`` of the study draws its figure.\n\n"
            f"Notes\n-----\nSource: {self.source}.\n\n"
            "Examples\n--------\n>>> import rankbounds as rb\n"
            f">>> rb.studies.{self.compute.__name__}.question\n{self.question!r}\n"
        )

    @property
    def question(self) -> str:
        """What the study asks."""
        return (inspect.getdoc(self.compute) or "").splitlines()[0]

    @property
    def sources(self) -> list[Source]:
        """The tables and figures that the study repeats."""
        return sources_in(self.source)

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """What the study takes."""
        return self.__signature__.parameters

    @property
    def settings(self) -> dict[str, Any]:
        """What can be varied, with the defaults."""
        return {name: one.default for name, one in self.parameters.items() if name not in NOT_SETTINGS}

    @property
    def needs(self) -> list[str]:
        """What must be given: judgments, runs, and whatever else has no default."""
        return [name for name, one in self.parameters.items() if one.default is inspect.Parameter.empty]

    def name_of(self, setting: str) -> str | None:
        """Return the setting's own name, where measures may be one measure; None if the study does not have it."""
        name = "measure" if setting == "measures" and "measures" not in self.settings else setting
        return name if name in self.settings else None

    def setting(self, name: str, text: str) -> Any:
        """Parse the value of a setting by the type of its default."""
        if name not in self.settings:
            hint = did_you_mean(name, list(self.settings))
            raise UsageError(f'{self.name} has no setting "{name}".{hint} Its settings: {", ".join(self.settings)}.')
        default = self.settings[name]
        if text in NOTHING and not isinstance(default, str):
            return () if isinstance(default, tuple) else 0 if default is not None else None
        if name == "measures":
            return parse_measures(text)
        if not isinstance(default, tuple):
            return _of_type(name, text, default)
        return tuple(_of_type(name, part.strip(), default[0] if default else None) for part in text.split(","))

    def figure(
        self,
        figsize: tuple[float, float] | Callable[[StudyResult], tuple[float, float]] = (5.0, 3.4),
        panels: Callable[[StudyResult], tuple[int, int]] | None = None,
    ) -> Callable[[Callable[..., None]], Callable[..., Any]]:
        """Add a figure: a function that draws a result on axes, or on an array of ``panels`` (rows and columns)."""

        def add(drawing: Callable[..., None]) -> Callable[..., Any]:
            @figure
            def draw(result: StudyResult, ax: Any = None, **options: Any) -> Any:
                if ax is None:
                    size = figsize(result) if callable(figsize) else figsize
                    ax = fresh_panels(*(panels(result) if panels else (1, 1)), figsize=size)
                    ax = ax if panels else ax[0, 0]
                drawing(result, ax, **options)
                return ax

            draw.__doc__ = inspect.getdoc(drawing)
            self.figures[drawing.__name__.replace("_", "-")] = draw
            return draw

        return add

    def draw(self, result: StudyResult, ax: Axes | None = None) -> Any:
        """Draw the first figure."""
        if not self.figures:
            raise UsageError(f"{self.name} repeats a table and has no figure.")
        return next(iter(self.figures.values()))(result, ax)


STUDIES: dict[str, Study] = {}
"""Every study by its name: the package declares them all."""


def study(
    source: str, *, best: int = 0, start: Callable[..., Any] | None = None, **more: Any
) -> Callable[[Callable[..., StudyResult]], Study]:
    """Declare a function as the study of tables and figures: ``Sakai 2007, Table 2; Yang ... 2016, Figure 3``.

    ``best`` is how many of the best runs the paper keeps, ``more`` other defaults for the settings of ``start``.
    """
    return lambda compute: Study(compute, source, best, start, more)


def _of_type(name: str, text: str, like: Any) -> Any:
    for kind in (int, float):
        if isinstance(like, kind) or like is None:
            with contextlib.suppress(ValueError):
                return kind(text)
    if isinstance(like, int | float):
        raise UsageError(f'{name} takes {"whole " if isinstance(like, int) else ""}numbers, not "{text}".')
    return text


def _plain_setting(name: str, value: Any) -> Any:
    if name == "measures":
        return [str(measure) for measure in parse_measures(value)]
    if name in MEASURED:
        return str(parse_measure(value))
    return list(value) if isinstance(value, tuple) else value


def studies_repeating(name: str) -> list[Study]:
    """Return the studies of a name: one of ours, a paper ("sakai"), or a table or figure ("Yang table 3")."""
    if name in STUDIES:
        return [STUDIES[name]]
    papers, items = {paper.label for paper in papers_called(name)}, items_in(name)
    wanted = {Source(paper, item) for paper in papers for item in items}
    return [
        each
        for _, each in sorted(STUDIES.items())
        if any(source.paper in papers and (not items or source in wanted) for source in each.sources)
    ]


def rows_beside(name: str | None, has_files: bool = True) -> list[tuple[Paper, Row]]:
    """Return what a paper has where no study repeats it, or where the studies of an item lack files."""
    if name in (None, "all", "list", *STUDIES):
        return []
    studies = studies_repeating(str(name))
    lacking = not has_files and items_in(str(name)) and any(study.needs for study in studies)
    return rows_called(str(name)) if lacking or not studies else []


def studies_called(name: str) -> list[Study]:
    """Return the studies of a name, and say what there is if there is none."""
    if repeating := studies_repeating(name):
        return repeating
    papers, items = papers_called(name), items_in(name)
    if papers:
        known = {item for paper in papers for row in paper.rows for item in items_in(row.item)}
        raise UsageError(f'No study repeats "{name}". Of this paper: {", ".join(sorted(known)) or "no single item"}.')
    if items:
        having = [paper.label for paper in PAPERS.values() if any(items[0] in items_in(row.item) for row in paper.rows)]
        hint = f"{items[0]} is in {'; '.join(having)}." if having else f"Papers: {', '.join(PAPERS)}."
        raise UsageError(f'"{name}" names no paper that is known here. {hint}')
    hint = did_you_mean(name, list(STUDIES))
    raise UsageError(f'There is no study "{name}".{hint} "rankbounds study list" shows all.')


def extremes(values: Mapping[str, float], numbers: str = ".3f") -> str:
    """``most for AP (0.912), least for RR (0.702)``; of equal values ``0.912 for all``."""
    known = {name: value for name, value in values.items() if value is not None and not np.isnan(value)}
    most, least = max(known.values(), default=0.0), min(known.values(), default=0.0)
    if most - least <= 1e-12:
        return f"{most:{numbers}} for all" if known else "not known, as means are equal"
    highest, lowest = (
        list_words([name for name, value in known.items() if abs(value - end) <= 1e-12]) for end in (most, least)
    )
    return f"most for {highest} ({most:{numbers}}), least for {lowest} ({least:{numbers}})"


def list_words(names: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``; of more than four, two and the number of others."""
    shown = list(names) if len(names) <= 4 else [*names[:2], f"{len(names) - 2} others"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def rows_by(axes: Mapping[str, Sequence[Any]], values: Mapping[str, Floats]) -> Rows:
    """Return a row per combination of what is varied, with the entries of arrays with these axes; None for NaN."""
    columns = {name: array.ravel().tolist() for name, array in values.items()}
    return [
        dict(zip(axes, varied, strict=True)) | {name: plain(column[row]) for name, column in columns.items()}
        for row, varied in enumerate(itertools.product(*axes.values()))
    ]


def pivot(rows: Rows, down: str, across: str, value: str) -> Rows:
    table: dict[Any, dict[str, Any]] = {}
    for row in rows:
        table.setdefault(row[down], {down: row[down]})[str(row[across])] = row[value]
    return list(table.values())


def compare_printed(
    rows: Rows, source: str, down: str, across: str, value: str, digits: int = 4
) -> tuple[dict[str, Rows], str]:
    """Return tables of what is computed and of what a paper prints, and how much comes out to the last digit."""
    tables = {"Computed": pivot(rows, down, across, value)}
    key, _, item = source.partition(", ")
    printed = {(one, other): number for one, other, number in PAPERS[key].printed[item]} if source else {}
    both = [(row, printed[row[down], row[across]]) for row in rows if (row[down], row[across]) in printed]
    if not both:
        return tables, ""
    tables["As the paper prints it"] = pivot([row | {value: theirs} for row, theirs in both], down, across, value)
    off = [
        f"{row[value]:,.{digits}f} for {theirs:,.{digits}f} at {down} = {row[down]}, {across} = {row[across]}"
        for row, theirs in both
        if abs(row[value] - theirs) > 0.51 * 10.0**-digits
    ]
    missed = f"; not so: {'; '.join(off)} (see the errata)" if off else ""
    return tables, f"Of {len(both)} printed values, {len(both) - len(off)} come out to the last digit{missed}."


BESIDE: dict[str, Any] = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
"""A legend to the right of the axes, where it covers nothing."""


def draw_series(axes: Axes, rows: Rows, x: str, y: str, label: str = "{measure}", **style: Any) -> None:
    """Draw one column of the rows against another, a line with marks per label; a band if rows have ends."""
    series: dict[str, Rows] = {}
    for row in rows:
        series.setdefault(label.format_map(row), []).append(row)
    for number, (name, members) in enumerate(series.items()):
        across, along = [row[x] for row in members], _numbers(members, y)
        # The palette has fewer colours than there may be measures: the second time round lines are dashed.
        line = {"linestyle": "-" if number < len(COLOURS) else "--", "color": colour_of(number)} | style
        axes.plot(across, along, marker=marker_of(number), label=name, **line)
        if "low_draw" in members[0]:
            low, high = (_numbers(members, end) for end in ("low_draw", "high_draw"))
            axes.fill_between(across, low, high, color=line["color"], alpha=0.1, linewidth=0)


def _numbers(rows: Rows, name: str) -> Floats:
    return np.array([row[name] for row in rows], dtype=np.float64)
