"""Why another tool reported other numbers: every choice that can make the difference is tried per measure."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from rankbounds.checking.quirks import ANYWHERE, Quirk, quirks
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunLike
from rankbounds.errors import DataError, RankboundsError, RankboundsWarning
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.options import ReadingOptions, chosen_options
from rankbounds.evaluation.score_files import is_measure
from rankbounds.evaluation.scores import ALL, Scores
from rankbounds.files import trec
from rankbounds.files.opening import STANDARD_INPUT, read_text
from rankbounds.files.score_tables import ANY_MEASURE, Printed, read_printed
from rankbounds.measures import Measure, parse_measure
from rankbounds.results import Column, Result, build_table
from rankbounds.tables import Table, number

if TYPE_CHECKING:
    from typing_extensions import Unpack

WELL_KNOWN = ("nDCG@10", "nDCG", "AP", "RR", "P@10", "Recall@100")
"""The measures that are tried for a number without one; depths are tried too."""
BY_CHANCE = 3
"""Fewer lines than this may be met by chance."""
MOST_DIGITS = 6
"""Sums are added in other orders elsewhere: more digits than these need not be the same."""
NOT_EXPLAINED = "unexplained"


@dataclass(frozen=True)
class Explanation:
    """One measure: on how many lines the two agree, how far apart they are, why, and what reproduces the numbers.

    ``switch`` holds the options (and the spelling of the measure) with which ``rankbounds evaluate`` gives the same
    numbers; empty if none are needed, or none does. ``changes`` counts the differences between the two computations.
    ``also`` holds the options (or what differs) of others that give the same numbers, ``nearest`` the closest if none
    does, and ``tried`` the number of computations compared.
    """

    name: str
    measure: str | None
    lines: int
    equal: int
    largest_difference: float | None
    example: str
    why: str
    switch: str = ""
    changes: int = 0
    also: tuple[str, ...] = ()
    nearest: str = ""
    tried: int = field(default=0, compare=False)

    @property
    def settled(self) -> bool:
        return self.lines == self.equal or self.why != NOT_EXPLAINED


SHOWN = (
    Column("name", "reported"),
    Column("measure", "rankbounds"),
    Column("equal", cell=lambda row: f"{row['equal']} of {row['lines']}"),
    Column(
        "largest_difference",
        "largest gap",
        lambda row: number(row["largest_difference"], 6 if 0 < (row["largest_difference"] or 0) < 0.5e-4 else 4),
    ),
    Column("switch", "reproduced by", lambda row: row["switch"] or ("-" if row["changes"] else ""), 1, True),
    Column("why", left=True),
    Column("example", left=True),
)


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Result):
    """An ``Explanation`` for each reported measure; iterable."""

    explanations: list[Explanation]
    of_any_measure: bool = False
    """Whether the number was given without a measure."""
    columns = tuple(Column(known.name) for known in fields(Explanation))

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def __getitem__(self, number: int) -> Explanation:
        return self.explanations[number]

    def rows(self) -> list[dict[str, Any]]:
        """A dict per measure."""
        return [asdict(explanation) for explanation in self.explanations]

    def table(self, *, everything: bool = False) -> Table:
        """The measures that differ, for people, or all that rankbounds knows."""
        everything = everything or self.of_any_measure
        known = [row for row in self.rows() if row["measure"] is not None]
        return build_table([row for row in known if everything or row["lines"] != row["equal"]], SHOWN)

    def words(self) -> str:
        """Return sentences: how many measures agree, what is closest, what else fits, and how reliable that is."""
        known = [explanation for explanation in self.explanations if explanation.measure is not None]
        differing = [explanation for explanation in known if explanation.lines != explanation.equal]
        said = []
        if self.of_any_measure:
            if not any(explanation.settled for explanation in known):
                said.append(f"No well-known measure gives this number; {known[0].name} comes closest.")
        elif len(known) == 1:
            said.append(f"{known[0].name} differs." if differing else f"{known[0].name} agrees on every line.")
        else:
            said.append(f"{len(known) - len(differing)} of {len(known)} measures agree on every line.")
        for one in differing:
            said += [f"{one.name}, closest of {one.tried} variants tried: {one.nearest}."] if one.nearest else []
            said += [f"{one.name} is also reproduced by: {'; '.join(one.also)}."] if one.also else []
        if any(one.changes and one.settled and one.lines < BY_CHANCE for one in differing):
            tried = max(one.tried for one in differing)
            few = f"Up to {tried} variants were tried on few numbers, so one may fit by chance."
            said.append(f"{few} Scores by topic would show which.")
        if any(one.changes and not one.switch for one in differing):
            said.append('"-": no option of rankbounds reproduces this.')
        if unknown := [one.name for one in self.explanations if one.measure is None]:
            said.append(f"Not in rankbounds: {', '.join(unknown)}.")
        return "\n".join(said)


def explain(qrels: QrelsLike, run: RunLike | None, output: Any, **options: Unpack[ReadingOptions]) -> Explanations:
    """Find out why another tool reported other numbers for the same judgments and run.

    Parameters
    ----------
    qrels
        The judgments that the tool was given, in any form that ``evaluate`` takes.
    run
        The run that the tool was given; None if ``qrels`` are rows of expected and retrieved documents.
    output
        What it reported: a file (what trec_eval or ir_measures printed; JSON of dicts, a table of scores by
        topic), dicts (``{measure: mean}``, ``{query: {measure: score}}``, ``{measure: {query: score}}``),
        ``{(measure, topic): value}``, or a number as in ``"nDCG@10=0.534"``, ``"nDCG@10=53.4%"`` or ``"0.534"``.
    **options
        Reading options of ``evaluate``.

    Returns
    -------
    Explanations
        An ``Explanation`` per measure: on how many lines the two agree, how far apart they are, ``why``, and the
        ``switch`` of ``rankbounds evaluate`` that reproduces the numbers. For a number without a measure: the measures
        that give it, the simplest first.

    Notes
    -----
    Every choice that can make a difference is tried alone; then topics, the precision of scores and preparation
    (duplicates, self-matches, chunks) together with every other. A choice explains a measure if it reproduces all of
    its lines to the digits given, six at most. The simplest comes first, then the one that explains most measures. A
    few lines with few digits may agree by chance: ``tried`` counts the computations compared, and ``also`` has what
    else fits.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}}
    >>> (found,) = rb.explain(qrels, run, "map=1.0000")
    >>> found.switch
    '--topics shared'
    """
    _, reading = chosen_options(options, ReadingOptions)
    judgments = reading.judgments(qrels)
    ours, repeated = run_with_repeats(run, reading, qrels)
    return explain_read(judgments, ours, output, repeated)


def explain_read(qrels: Qrels, run: Run, output: Any, repeated: Run | None = None) -> Explanations:
    printed = read_printed(output, is_measure)
    ((_, first_topic), text), *_ = printed.items()
    if (ANY_MEASURE, first_topic) in printed:
        return Explanations(_of_any_measure(text, qrels, run, repeated), of_any_measure=True)
    names = list(dict.fromkeys(name for name, _ in printed))
    known = {name: parse_measure(name) for name in names if is_measure(name)}
    if not known:
        if len(names) == 1:
            parse_measure(names[0])  # the error has a suggestion
        raise DataError(f"rankbounds knows none of the measures in this output: {', '.join(names[:3])}, ...")
    explained = _explain_known(printed, known, qrels, run, repeated)
    lines, why = Counter(name for name, _ in printed), "unknown measure"
    return Explanations(
        [explained.get(name) or Explanation(name, None, lines[name], 0, None, "", why) for name in names]
    )


def _of_any_measure(printed: str, qrels: Qrels, run: Run, repeated: Run | None) -> list[Explanation]:
    known = {name: parse_measure(name) for name in WELL_KNOWN}
    reported = {(name, ALL): printed for name in known}
    explanations = list(_explain_known(reported, known, qrels, run, repeated, most_changes=1).values())
    settled = sorted((one for one in explanations if one.settled), key=lambda one: one.changes)
    return settled or sorted(explanations, key=lambda one: one.largest_difference or 0.0)[:1]


def _explain_known(
    printed: Printed, known: dict[str, Measure], qrels: Qrels, run: Run, repeated: Run | None, most_changes: int = 2
) -> dict[str, Explanation]:
    computed: dict[str, list[Computation]] = {name: [] for name in known}
    depths = {int(float(value)) for (name, topic), value in printed.items() if name == "num_ret" and topic != ALL}
    single = list(quirks(qrels, run, known.values(), {max(depths)} if depths else (), repeated))
    for changes in range(most_changes + 1):
        left = {name: measure for name, measure in known.items() if not any(one.fits for one in computed[name])}
        if not left:
            break
        for combination in _combinations(single, changes):
            for name, computation in _computations(printed, left, combination, qrels, run):
                computed[name].append(computation)
    for name in [name for name in known if not computed[name]]:
        _evaluate_quietly(qrels, run, [known[name]])  # the error says what it lacks
    # One call of a tool had one set of options: of equally simple ones, that which fits most measures.
    popular = Counter(computation.why for several in computed.values() for computation in several if computation.fits)
    return {name: _explanation(name, known[name], computed[name], popular) for name in known}


def _explanation(name: str, measure: Measure, computed: list[Computation], popular: Counter[str]) -> Explanation:
    ours = computed[0]
    agreement = (name, str(measure), ours.lines, ours.equal, ours.largest_difference, ours.example)
    fitting = sorted(
        (computation for computation in computed if computation.fits),
        # A measure that has its depth in its name was hardly read to another one; else, what an option of ours does
        # comes before what none does.
        key=lambda computation: (
            -popular[computation.why],
            measure.cutoff is not None and any(quirk.respect == "depth" for quirk in computation.quirks),
            computation.why != "equal" and not computation.switch,
        ),
    )
    if fitting:
        best, *rest = fitting
        also = tuple(dict.fromkeys(other.switch or other.why for other in rest))
        return Explanation(*agreement, best.why, best.switch, len(best.quirks), also, tried=len(computed))
    nearest = min(computed, key=lambda computation: (-computation.equal, computation.largest_difference))
    switch = f" [{nearest.switch}]" if nearest.switch else ""
    closest = "" if nearest is ours else f"{nearest.why}{switch}, with {nearest.example}"
    return Explanation(*agreement, NOT_EXPLAINED, nearest=closest, tried=len(computed))


@dataclass(frozen=True)
class Computation:
    """A measure computed with some quirks, and its agreement with the reported one."""

    quirks: tuple[Quirk, ...]
    measure: Measure
    respelt: bool
    lines: int
    equal: int
    largest_difference: float
    example: str

    @property
    def fits(self) -> bool:
        return self.lines == self.equal

    @property
    def why(self) -> str:
        return "; ".join(quirk.why for quirk in self.quirks) or "equal"

    @property
    def switch(self) -> str:
        switches = [quirk.switch for quirk in self.quirks]
        if None in switches:
            return ""
        spelt = [f"-m '{self.measure}'"] if self.respelt else []
        return " ".join([switch for switch in switches if switch] + spelt)


def _combinations(single: list[Quirk], changes: int) -> Iterator[tuple[Quirk, ...]]:
    if changes == 0:
        yield ()
    elif changes == 1:
        yield from ((quirk,) for quirk in single)
    else:
        anywhere = [quirk for quirk in single if quirk.respect in ANYWHERE]
        for other, general in product(single, anywhere):
            # Two that go anywhere are taken once.
            if other.respect not in ANYWHERE or ANYWHERE.index(other.respect) > ANYWHERE.index(general.respect):
                yield other, general


def _computations(
    printed: Printed, measures: dict[str, Measure], combination: tuple[Quirk, ...], qrels: Qrels, run: Run
) -> Iterator[tuple[str, Computation]]:
    chosen: dict[str, Measure] = {}
    for name, measure in measures.items():
        changed: Measure | None = measure
        for quirk in combination:
            changed = None if changed is None else quirk.measure(changed)
        if changed is not None:
            chosen[name] = changed
    if not chosen:
        return
    options: dict[str, str] = {}
    # Runs are prepared before anything is made of their lists.
    for quirk in sorted(combination, key=lambda quirk: quirk.respect != "preparation"):
        run = quirk.run(run)
        options.update(quirk.options)
    for quirk in combination:
        qrels = quirk.qrels(qrels, run)
    scores_of = _scores_of(qrels, run, list(dict.fromkeys(chosen.values())), **options)
    for name, measure in chosen.items():
        if measure in scores_of:
            scores = scores_of[measure]
            agreement = _compare_lines(printed, name, scores, scores.measures.index(measure))
            yield name, Computation(combination, measure, measure != measures[name], *agreement)


def _scores_of(qrels: Qrels, run: Run, measures: list[Measure], **options: str) -> dict[Measure, Scores]:
    try:
        return dict.fromkeys(measures, _evaluate_quietly(qrels, run, measures, **options))
    except RankboundsError:
        if len(measures) == 1:
            return {}
    return {
        measure: scores for alone in measures for measure, scores in _scores_of(qrels, run, [alone], **options).items()
    }


def _compare_lines(printed: Printed, name: str, scores: Scores, number: int) -> tuple[int, int, float, str]:
    lines, equal, furthest, example = 0, 0, 0.0, ""
    for part in (scores, scores.mean()):
        values = dict(zip(part.query_ids, part.value[0, :, number].tolist(), strict=True))
        for (printed_name, topic), text in printed.items():
            if printed_name != name or (topic == ALL) != (part is not scores):
                continue
            lines += 1
            value = values.get(topic, float("nan"))
            if _same(value, text):
                equal += 1
                continue
            gap = abs(value - _number(text)) if value == value else float("inf")
            if gap > furthest or not example:
                printed_digits = len(text.partition(".")[2])
                digits = min(max(printed_digits, 4), MOST_DIGITS)
                ours = f"{value:.{digits}f}" if value == value else "nothing"
                theirs = text if printed_digits <= digits else f"{_number(text):.{digits}f}"
                furthest, example = gap, f"topic {topic}: {theirs} reported, {ours} computed"
    return lines, equal, furthest, example


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")


def _same(value: float, text: str) -> bool:
    digits = min(len(text.partition(".")[2]) or MOST_DIGITS, MOST_DIGITS)  # a whole number is exact: 0 is no .36
    # The last digit may be rounded either way when the value lies between.
    return f"{value:.{digits}f}" == text or abs(value - _number(text)) <= 0.5 * 10.0**-digits * (1 + 1e-9)


def _evaluate_quietly(qrels: Qrels, run: Run, measures: list[Measure], **options: Any) -> Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)
        return evaluate(qrels, run, measures, bounds="none", **options)


def run_with_repeats(given: Any, reading: Reading, qrels: Any) -> tuple[Run, Run | None]:
    """Return the run with every document once and, if a TREC file repeats some, the run as it is in the file."""
    if given is None:
        (job,) = reading.runs_to_read(None, qrels)
        return job.read(), None
    path = next(iter(given.values())) if isinstance(given, Mapping) and len(given) == 1 else given
    is_file = isinstance(path, str | os.PathLike) and os.fspath(path) != STANDARD_INPUT and os.path.isfile(path)
    try:
        run = reading.run(given)
        return run, _read_with_repeats(path, run.name) if is_file and reading.lenient else None
    except DataError:
        repeated = _read_with_repeats(path, os.path.basename(path)) if is_file else None
        if repeated is None:
            raise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)
        run = replace(reading, lenient=True).run(given)
    if len(run) + repeated.pairs.repeats().size != len(repeated):
        return reading.run(given), None  # other lines are bad too: the error tells of them
    return run, repeated


def _read_with_repeats(path: str | os.PathLike[str], name: str) -> Run | None:
    try:
        lines = trec.read_lines(read_text(os.fspath(path)), trec.run_layout, distinct=True)
    except DataError:
        return None
    return Run._of_pairs(name, lines.pairs, lines.numbers) if lines.pairs.repeats().size else None
