"""What a study is: a question, a function that computes the answer, and figures that draw it.

A study is declared by its function, named observed_by_varied. The first line of the docstring asks the question, and
everything that can be varied is a keyword argument with a default::

    @Study
    def score_by_depth(qrels, runs, *, depths=(10, 100)) -> StudyResult:
        '''Do scores rise with the depth that is read?'''

    @score_by_depth.figure(figsize=(6.4, 3.8))
    def lines_by_depth(result, axes): ...

``score_by_depth(qrels, runs)`` computes it, ``score_by_depth.draw(result)`` draws its first figure. A study's folder
holds its table, its figure and the answer in words; what is complete need not be computed again.
"""

from __future__ import annotations

import inspect
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rankbounds.arrays import Floats
from rankbounds.calls import ends_in_a_sentence
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.files.opening import checksum
from rankbounds.files.writing import make_folder, writing
from rankbounds.measures import Measure, parse_measure, parse_measures
from rankbounds.plots.style import COLOURS, colour_of, fresh_axes, marker_of
from rankbounds.results import Result
from rankbounds.tables import plain
from rankbounds.threads import Progress as Progress
from rankbounds.threads import in_threads, processors
from rankbounds.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measures: TypeAlias = Sequence[str | Measure]
Rows: TypeAlias = list[dict[str, Any]]
BESIDE: dict[str, Any] = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
"""A legend to the right of the axes, where it covers nothing."""
FIGURE_FORMATS = ("svg", "png", "pdf")
NOT_SETTINGS = ("qrels", "runs", "groups", "progress")
OTHER_NAMES = {"measures": "measure", "seed": "first_seed"}
"""The parameter for an option of the command where a study takes one measure, or several seeds from one on."""

PARAMETERS = {
    "qrels": "The judgments, as in ``evaluate``.",
    "runs": "The runs, as in ``evaluate``.",
    "groups": "The group of each run: a file of lines ``run group``, or a dict.",
    "measures": "The measures to compare.",
    "measure": "The measure.",
    "warning": "The measure whose residual says beforehand how much is at stake.",
    "gain": "What grades are worth, as in ``evaluate``.",
    "progress": "Called with the number of steps that are done and that of all.",
    "seed": "Where random numbers start.",
    "first_seed": "The first of the seeds.",
    "seeds": "How many draws there are, each with its own seed.",
    "rates": "Which percentages of the judgments are kept.",
    "depths": "The depths of pools, or to which lists are read.",
    "depth": "The depth of the pool, or to which lists are read.",
    "persistences": "Values of RBP's p.",
    "p": "RBP's persistence.",
    "rhos": "By which factors bands grow.",
    "bits": "To how many bits scores are rounded, as in ``Run.rounded``.",
    "digits": "To how many digits scores are rounded.",
    "best": "How many of the best runs to keep; by default all.",
    "alpha": "The significance level.",
    "confidence": "Of the intervals.",
    "resamples": "How often tests that resample draw.",
    "collections": "How many collections are drawn.",
    "relevance_ratios": "Weights of a non-relevant document in the urn when a relevant one has 1.",
    "ways": "Ways to choose the probability of relevance.",
    "q": "The share of relevant documents.",
    "shares": "Shares of relevant documents.",
    "n_documents": "How many documents an urn holds.",
    "topics": "How many topics a mean is over.",
    "judged_depth": "The last judged rank.",
    "simulations": "How many collections are simulated beside the exact numbers; 0: none.",
    "pairs": "How many pairs of runs are drawn.",
    "time_limit": "How many seconds an exact range may take.",
    "rounds": "In how many parts the largest pool is judged.",
    "kept": "The depth of the pool whose judgments are kept.",
    "splits": "How often the topics are split.",
}
"""What docstrings of studies say of their parameters."""


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult(Result):
    """What a study found: rows, the answer in words, and in ``data`` arrays that figures draw and rows do not hold."""

    found: Rows
    answer: str
    data: Any = None

    def rows(self) -> Rows:
        """The rows of the table; a row may lack a column."""
        return self.found

    def words(self) -> str:
        """The answer."""
        return self.answer

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns of all rows."""
        return tuple(dict.fromkeys(key for row in self.found for key in row))

    def by(self, name: str) -> Iterator[tuple[Any, Rows, str]]:
        """The rows of each value of a column, and a colour for them."""
        for number, value in enumerate(dict.fromkeys(row[name] for row in self.found)):
            yield value, [row for row in self.found if row[name] == value], colour_of(number)


class Study:
    """One experiment, made from the function that computes it."""

    def __init__(self, compute: Callable[..., StudyResult]) -> None:
        self.compute = compute
        self.name = compute.__name__.replace("_", "-")
        self.figures: dict[str, Callable[..., Axes]] = {}
        self.__signature__ = inspect.signature(compute)
        self.__doc__ = self._documented() if compute.__doc__ else None  # Python drops docstrings under -OO
        STUDIES[self.name] = self

    @ends_in_a_sentence
    def __call__(self, *given: Any, **named: Any) -> StudyResult:
        """Compute the study; its settings are the arguments it was called with and what the function adds."""
        bound = inspect.signature(self.compute).bind(*given, **named)
        bound.apply_defaults()
        result = self.compute(*bound.args, **bound.kwargs)
        chosen = {name: value for name, value in bound.arguments.items() if name not in NOT_SETTINGS}
        settings = {name: _plain_setting(name, value) for name, value in chosen.items() if value is not None}
        return replace(result, settings=settings | result.settings)

    def _documented(self) -> str:
        """The function's docstring, with its parameters and an example."""
        entries = "\n".join(f"{name}\n    {PARAMETERS[name]}" for name in self.parameters)
        return (
            f"{inspect.getdoc(self.compute)}\n\nParameters\n----------\n{entries}\n\nReturns\n-------\nStudyResult\n"
            "    ``rows()``, the answer in ``words()``; ``draw`` of the study draws its figure.\n\n"
            "Examples\n--------\n>>> import rankbounds as rb\n"
            f">>> rb.studies.{self.compute.__name__}.question\n{self.question!r}\n"
        )

    @property
    def question(self) -> str:
        """What the study asks."""
        return (inspect.getdoc(self.compute) or "").splitlines()[0]

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """What the study takes."""
        return inspect.signature(self.compute).parameters

    @property
    def needs(self) -> list[str]:
        """What must be given: judgments, runs, and whatever else has no default."""
        return [name for name, one in self.parameters.items() if one.default is inspect.Parameter.empty]

    def parameter(self, option: str) -> str | None:
        """The parameter that an option of the command is for; None: the study does not take it."""
        return next((name for name in (option, OTHER_NAMES.get(option)) if name in self.parameters), None)

    def takes(self, option: str, value: Any) -> bool:
        """Does the study take what the option was given?"""
        name = self.parameter(option)
        return name is not None and not (name == "measure" and len(value) > 1)

    def taken(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call, of what was given."""
        return {
            str(self.parameter(option)): value[0] if self.parameter(option) == "measure" else value
            for option, value in given.items()
            if value is not None and self.takes(option, value)
        }

    def figure(
        self, figsize: tuple[float, float] | Callable[[StudyResult], tuple[float, float]] = (5.0, 3.4)
    ) -> Callable[[Callable[..., None]], Callable[..., Axes]]:
        """Add a figure: a function that draws a result on axes. ``figsize`` is that of new axes."""

        def add(drawing: Callable[..., None]) -> Callable[..., Axes]:
            def draw(result: StudyResult, ax: Axes | None = None, **options: Any) -> Axes:
                axes = fresh_axes(ax, figsize=figsize(result) if callable(figsize) else figsize)
                drawing(result, axes, **options)
                return axes

            self.figures[drawing.__name__] = draw
            return draw

        return add

    def draw(self, result: StudyResult, ax: Axes | None = None) -> Axes:
        """Draw the first figure."""
        return next(iter(self.figures.values()))(result, ax)


STUDIES: dict[str, Study] = {}
"""Every study by its name: the package declares them all."""


def _plain_setting(name: str, value: Any) -> Any:
    """A setting as JSON holds it, measures by their labels."""
    if name == "measures":
        return [str(measure) for measure in parse_measures(value)]
    if name in ("measure", "warning"):
        return str(parse_measure(value))
    return list(value) if isinstance(value, tuple) else value


def study_called(name: str) -> Study:
    """The study of this name."""
    if name not in STUDIES:
        hint = did_you_mean(name, list(STUDIES))
        raise UsageError(f'There is no study "{name}".{hint} "rankbounds study list" shows all.')
    return STUDIES[name]


def rows_by(axes: Mapping[str, Sequence[Any]], values: Mapping[str, Floats]) -> Rows:
    """A row for each combination of what is varied, with what arrays of these axes hold there; None for NaN."""
    columns = {name: array.ravel().tolist() for name, array in values.items()}
    return [
        dict(zip(axes, varied, strict=True)) | {name: plain(column[row]) for name, column in columns.items()}
        for row, varied in enumerate(itertools.product(*axes.values()))
    ]


def draw_series(axes: Axes, rows: Rows, x: str, y: str, label: str = "{measure}", **style: Any) -> None:
    """One column of the rows against another, with a colour and marks for each label; a band where rows have ends."""
    series: dict[str, Rows] = {}
    for row in rows:
        series.setdefault(label.format_map(row), []).append(row)
    for number, (name, members) in enumerate(series.items()):
        across, along = [row[x] for row in members], [row[y] for row in members]
        # The palette has fewer colours than there may be measures: the second time round lines are dashed.
        line = {"linestyle": "-" if number < len(COLOURS) else "--", "color": colour_of(number)} | style
        axes.plot(across, along, marker=marker_of(number), label=name, **line)
        if "low_draw" in members[0]:
            low, high = ([row[end] for row in members] for end in ("low_draw", "high_draw"))
            axes.fill_between(across, low, high, color=line["color"], alpha=0.1, linewidth=0)


def fingerprints(files: Sequence[str]) -> dict[str, str]:
    """The checksum of every file, by its name."""
    return dict(zip(map(os.path.basename, files), in_threads(checksum, files, processors()), strict=True))


def is_complete(folder: Path, made_from: Mapping[str, Any]) -> bool:
    """Does the folder hold this study's outcome for the same files, options and version?"""
    try:
        return bool(json.loads((folder / "settings.json").read_text("utf-8"))["made_from"] == dict(made_from))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_folder(study: Study, result: StudyResult, folder: Path, made_from: Mapping[str, Any], command: str) -> None:
    """Table, figure and answer. The settings come last: a folder that has them is complete."""
    make_folder(folder)
    (folder / "settings.json").unlink(missing_ok=True)
    with writing(folder / "table.csv") as out:
        out.write(result.render("csv"))
    axes = study.draw(result)
    for kind in FIGURE_FORMATS:
        with writing(folder / f"figure.{kind}", "wb") as out:
            axes.get_figure().savefig(out, format=kind, dpi=200)  # type: ignore[union-attr]
    with writing(folder / "README.md") as out:
        out.write(_readme(study, result, made_from, command))
    with writing(folder / "settings.json") as out:
        json.dump({"made_from": dict(made_from), "settings": result.settings}, out, indent=1, default=str)


def _readme(study: Study, result: StudyResult, made_from: Mapping[str, Any], command: str) -> str:
    settings = "\n".join(f"- {key}: {value}" for key, value in result.settings.items())
    files = made_from.get("files", {})
    return (
        f"# {inspect.getdoc(study.compute)}\n\n## Answer\n\n{result.answer}\n\n![{study.name}](figure.svg)\n\n"
        f"The numbers are in `table.csv` ({len(result.rows()):,} rows).\n\n## Settings\n\n{settings}\n\n"
        f"Made by rankbounds {__version__} with `{command}`"
        + (f" from {len(files):,} files; their checksums are in `settings.json`.\n" if files else ".\n")
    )
