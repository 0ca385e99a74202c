"""Everything a report holds, computed once and packed for the page."""

from __future__ import annotations

import datetime
import hashlib
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.comparison import Comparison, Evidence, compare_scores, wording
from rankbounds.comparison.pairs import NEGATED, SWAPPED
from rankbounds.errors import RankboundsWarning, UsageError, warn
from rankbounds.evaluation.assumptions import ASSUMPTIONS, Assumptions
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_differences import merge_equal
from rankbounds.evaluation.score_files import changes_since, fingerprint, origin_of
from rankbounds.evaluation.scores import Scores
from rankbounds.files.opening import STANDARD_INPUT, checksum
from rankbounds.judging.audits.labelled_pool import left_to_judge
from rankbounds.judging.next.plan import SettlingPlan
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.probability.models.trusted_labels import TrustedFirst
from rankbounds.report.observed import STRIP_DEPTHS, Beside, Observed, Thinning, lists_of, pack, persistence_of
from rankbounds.report.summary import best_first, counted, doubts_of, heading, leading, sentences
from rankbounds.stats.rank_correlation import agreement
from rankbounds.stats.rank_intervals import words as rank_words
from rankbounds.stats.significance import pairs_of
from rankbounds.tables import as_json
from rankbounds.threads import in_threads, processors
from rankbounds.version import __version__

LARGEST = 9_000_000
"""How many bytes the packed arrays may take, so that the page stays below 10 MB."""
FEWEST_RUNS, FEWEST_TOPICS = 20, 50
"""Thinning stops here."""
LARGEST_IN_MEMORY = 500_000_000
"""Runs of more bytes than this are read one after the other, and what to judge next is left out."""
NEXT_DOCUMENTS = 20
LEADING = 20
"""Of more runs than this, only pairs of the leading ones are looked at closely: what unjudged documents do to all pairs
of 129 runs takes far longer than to score them."""
PAIR_COLUMNS = ("difference", "p_value", "p_adjusted", "ci_low", "ci_high", "certain_low", "certain_high", "detectable")
"""The numbers of every pair that stand in its sentences, beside whole ones and, for few runs, probabilities."""
TESTED = ("test", "correction", "alpha", "confidence", "resamples", "seed")
OPTIONS = {name: one.default for each in (Reading, Assumptions) for name, one in signature(each).parameters.items()}
"""Options of ``evaluate`` that a report takes, with their defaults."""
NAMED_OPTIONS = (*(name for name in ASSUMPTIONS if name != "ties_key"), "source", "raters", "lenient")
CHANCES = ("probability", "probability_of_other")
IN_MEMORY = "in memory"
SYSTEM_KEYS = (
    "mean", "ci_low", "ci_high", "low", "high", "rank", "rank_low", "rank_high", "judged_at_10", "topics_led",
)  # fmt: skip
"""What is shown of each run."""
LEFT_OUT = (
    "Made from tables of scores, without judgments and rankings. Scores alone do not show the effect of unjudged and "
    "tied documents, other persistences, the rankings of a topic, coverage, or what to judge, so these are left out."
)
BYTES_OF_A_PAIR = 8 * (len(PAIR_COLUMNS) + 1) + 4 * len(wording.WHOLE) + len(wording.TEMPLATES)


@dataclass(frozen=True)
class Choices(Beside):
    """Everything that changes what a report says; the page names it."""

    question: Question = field(default_factory=Question)
    reading: Reading = field(default_factory=Reading)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Those of ``evaluate``, as given."""
    title: str = ""
    """The heading; without one, it names the runs."""
    calibrate: bool = False
    """Whether labels of other sources than the first count by the probability of what the first would say."""
    worklist: str | None = None
    """A table of the documents that are to be judged, where they are not to be chosen."""
    since: str | None = None
    """Scores saved before, to say what changed in judgments, options and runs."""

    @classmethod
    def of(cls, measures: MeasuresLike = DEFAULT_MEASURES, **given: Any) -> Choices:
        own = {one.name: given.pop(one.name) for one in fields(cls) if one.name in given}
        question, reading = Question.of({"threads": processors(), **given}, measures)
        return cls(question=question, reading=reading, options=given, **own)

    def asks_for_rbp(self) -> bool:
        chosen = self.question.measures
        return chosen != tuple(parse_measures(DEFAULT_MEASURES)) and any(isinstance(each, RBP) for each in chosen)


def gather(
    qrels: QrelsLike,
    runs: RunsLike | Sequence[RunToRead],
    choices: Choices | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    choices = choices or Choices.of()
    question, reading, assumptions = choices.question, choices.reading, choices.question.assumptions
    files = [os.fspath(qrels) if isinstance(qrels, str | os.PathLike) else None]
    named = isinstance(runs, list) and all(isinstance(run, RunToRead) for run in runs)  # qrels may hold a run, too
    jobs = reading.runs_to_read(runs, None if named or files == [STANDARD_INPUT] else qrels)
    if len(jobs) == 2 and question.compare:  # the second of two that are named is the candidate
        jobs = sorted(jobs, key=lambda job: list(question.compare or ())[1:] == [job.read().name])
    files += [job.path for job in jobs]
    if STANDARD_INPUT in files:
        raise UsageError("A report lists its input files: give files, not standard input (-).")
    measures = question.measures
    trusted, evidence = None, None
    if choices.calibrate:
        if assumptions.unjudged.name != "nonrelevant":
            raise UsageError("--calibrate does not go with --unjudged.")
        trusted = TrustedFirst.read(qrels, reading, list(measures))
        assumptions = replace(assumptions, unjudged=trusted.rule)
    observed = Observed(measures, assumptions)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        known = reading.judgments(qrels) if trusted is None else trusted.qrels
        if sum(Path(file).stat().st_size for file in files[1:] if file and Path(file).is_file()) <= LARGEST_IN_MEMORY:
            evidence = Evidence(known, reading.runs(jobs), assumptions)
            known, scores = evidence.judged, evidence.scores(measures, progress=progress, observe=observed)
        else:
            assumed = {name: choices.options[name] for name in ASSUMPTIONS if name in choices.options}
            assumed |= {"unjudged": assumptions.unjudged, "q": None}
            scores = evaluate(known, jobs, measures, **assumed, progress=progress, observe=observed)
    said = (str(warning.message) for warning in caught if issubclass(warning.category, RankboundsWarning))
    messages = list(dict.fromkeys(said))
    for message in messages:
        warn(message)
    thinning, compared = thin(scores), _compared(scores, choices, evidence)
    if choices.worklist:
        left, listed = left_to_judge(choices.worklist, known)
        words = f"{listed - len(left):,} of the {listed:,} documents that {choices.worklist} lists are judged."
        rows = [row[:2] for row in left[:NEXT_DOCUMENTS]]
        to_judge: dict[str, Any] | None = {"words": words, "fields": ("query_id", "doc_id"), "rows": rows}
    else:
        to_judge = _next(evidence, measures[0])
    runs_shown = [scores.runs[run] for run in thinning.runs]
    topics_shown = [scores.query_ids[topic] for topic in thinning.topics]
    in_memory = ""
    if choices.since or None in files:
        made_with = origin_of(known, assumptions, None, () if evidence is None else evidence.runs)
        in_memory = repr(fingerprint(made_with)) if None in files else ""
    if choices.since:
        messages.insert(0, changes_since(choices.since, made_with))
    more = {
        "warnings": messages,
        "results": choices.lists(evidence, runs_shown, topics_shown),
        **lists_of(scores, observed, evidence, thinning),
        "persistence": persistence_of(observed, thinning) if choices.asks_for_rbp() else None,
        "next": to_judge,
        "identity": _identity(files, known, scores, choices, compared, in_memory),
    }
    slider = observed.rbp if more["persistence"] else None
    content = _content(scores, compared, thinning, choices, more, evidence, slider)
    if trusted is not None and assumptions.bounds == "unjudged":
        content["summary"] += trusted.rests_on_labels_of(scores)
    return content


def gather_scores(scores: Scores, files: Sequence[str], choices: Choices | None = None) -> dict[str, Any]:
    """What a page shows of tables of scores: what needs judgments or lists is left out, and the page says so."""
    choices = choices or Choices.of()
    compared = _compared(scores, choices, None)
    missing: dict[str, Any] = dict.fromkeys(("strips", "lists", "persistence", "next", "results")) | {"grades": []}
    identity = _identity(files, None, scores, choices, compared)
    more = {"warnings": [LEFT_OUT], **missing, "identity": identity}
    return _content(scores, compared, thin(scores), choices, more)


def _content(
    scores: Scores,
    compared: Comparison | None,
    thinning: Thinning,
    choices: Choices,
    more: dict[str, Any],
    evidence: Evidence | None = None,
    slider: RBP | None = None,
) -> dict[str, Any]:
    enough = len(scores.runs) > 2 and len(scores.measures) > 1 and len(scores.query_ids) > 1
    content: dict[str, Any] = {
        "version": __version__,
        "title": choices.title or heading(scores.runs),
        "queries": choices.query_texts([scores.query_ids[topic] for topic in thinning.topics]),
        "slices": choices.slices(compared, [scores.runs[run] for run in thinning.runs]),
        "measures": [
            {
                "label": str(measure),
                "leaders": counted(leading(scores, place), scores.runs),
                "digits": 0 if measure.total == "sum" and compared is None else 4,
                "lower_is_better": measure.lower_is_better,
                "slider": slider is not None and isinstance(measure, RBP) and replace(measure, p=slider.p) == slider,
            }
            for place, measure in enumerate(scores.measures)
        ],
        **_leaderboard(scores, compared, thinning),
        "pair": choices.question.compare,
        "doubts": doubts_of(scores, compared, evidence),
        "agreement": [as_json(row) for row in agreement(scores).rows()] if enough else [],
        "thinned": thinning.notes,
        **more,
    }
    content = as_json(content)
    return content | {"summary": sentences(scores, compared, content)}


def thin(scores: Scores, largest: int = LARGEST) -> Thinning:
    """What fits: shorter strips first, then fewer topics one by one, then only the best runs by the first measure."""
    runs, topics, depth = len(scores.runs), len(scores.query_ids), STRIP_DEPTHS[0]
    measures = len(scores.measures)

    def size() -> float:
        by_list = runs * topics * (24 * measures + depth)
        closely = min(runs, LEADING)
        by_pair = (closely * (closely - 1) / 2 * BYTES_OF_A_PAIR + runs * (runs - 1) / 2 * 8) * measures
        return (by_list + by_pair + runs * 8000) * 4 / 3

    for depth in STRIP_DEPTHS:  # noqa: B007 (read by size)
        if size() <= largest:
            break
    while size() > largest and topics > FEWEST_TOPICS:
        topics = max(FEWEST_TOPICS, topics // 2)
    while size() > largest and runs > FEWEST_RUNS:
        runs = max(FEWEST_RUNS, runs * 3 // 4)
    notes = []
    if depth != STRIP_DEPTHS[0]:
        notes.append(f"Rankings are shown to rank {depth}." if depth else "Rankings are not shown one by one.")
    every = len(scores.query_ids) / topics
    if every > 1:
        notes.append(
            f"{topics} of {len(scores.query_ids)} topics, evenly spread, are shown one by one; means are over all."
        )
    kept = best(scores, runs)
    if runs < len(scores.runs):
        notes.append(f"The {runs} best of {len(scores.runs)} runs by {scores.measures[0]} are shown.")
    return Thinning(kept, (np.arange(topics) * every).astype(int).tolist(), depth, notes)


def best(scores: Scores, number: int) -> list[int]:
    """The runs (``number`` of them) that lead by the first measure, in the order of the scores."""
    return sorted(best_first(scores)[:number])


def _compared(scores: Scores, choices: Choices, evidence: Evidence | None) -> Comparison | None:
    if len(scores.runs) < 2 or len(scores.query_ids) < 2:
        return None
    among = [scores.runs[run] for run in best(scores, LEADING)] if len(scores.runs) > LEADING else None
    return compare_scores(scores, replace(choices.question, compare=None), among=among, evidence=evidence)


def _leaderboard(scores: Scores, compared: Comparison | None, thinning: Thinning) -> dict[str, Any]:
    kept = np.ix_(thinning.runs, thinning.topics)
    # Scores that are equal on a topic become the same number, so that the page's differences of them are 0.
    values = {name: np.moveaxis(getattr(scores, name)[kept], 0, -1) for name in ("value", "low", "high")}
    content: dict[str, Any] = {
        "runs": [scores.runs[run] for run in thinning.runs],
        "topics": [scores.query_ids[topic] for topic in thinning.topics],
        "number_of_topics": len(scores.query_ids),
        "number_of_runs": len(scores.runs),
        "values": {name: pack(np.moveaxis(merge_equal(held), -1, 0)) for name, held in values.items()},
    }
    if compared is None:
        mean = scores.mean()
        columns = {name: getattr(mean, name) for name in ("low", "high", "ci_low", "ci_high")} | {"mean": mean.value}
        content["systems"] = [
            {name: ends[thinning.runs, 0, place].tolist() for name, ends in columns.items()}
            | {"judged_at_10": mean.judged[thinning.runs, 0].tolist()}
            for place in range(len(scores.measures))
        ]
        return content | {"pairs": None, "p_adjusted": None, "closely": [], "comparison": None, "words": None}
    shown = np.isin(np.arange(len(scores.runs)), thinning.runs)
    both = shown[compared.numbers.tested.first] & shown[compared.numbers.tested.second]
    first, second = pairs_of(len(scores.runs))
    numbers, codes_of = compared.pair_words.numbers, compared.pair_words.choices
    kinds = [*PAIR_COLUMNS, *([] if np.isnan(numbers["probability"]).all() else CHANCES)]
    pairs = {name: pack(numbers[name][:, both]) for name in kinds}
    pairs |= {name: pack(numbers[name][:, both], "<u4") for name in wording.WHOLE}
    closely = np.unique(np.concatenate([compared.numbers.tested.first[both], compared.numbers.tested.second[both]]))
    assert compared.numbers.p_adjusted is not None
    assert compared.numbers.separated is not None
    among = shown[first] & shown[second]
    # Small p-values that separate nothing: means are equal, or the test favours the worse one.
    apart = (compared.numbers.p_adjusted[:, among] < compared.settings["alpha"]) & ~compared.numbers.separated[:, among]
    content |= {
        "systems": [
            {key: [rows[run][key] for run in thinning.runs] for key in SYSTEM_KEYS}
            | {"place": [place_words(rows[run]) for run in thinning.runs]}
            for rows in (
                compared.numbers.system_rows[at:]
                for at in range(0, len(compared.numbers.system_rows), len(scores.runs))
            )
        ],
        "pairs": pairs,
        "p_adjusted": pack(compared.numbers.p_adjusted[:, among]),
        "not_separated": np.flatnonzero(apart).tolist(),
        "closely": np.searchsorted(thinning.runs, closely).tolist(),
        "comparison": compared.settings,
        "words": {
            "templates": wording.TEMPLATES,
            "lead_change": wording.LEAD_CHANGE,
            "shown_changes": wording.SHOWN_CHANGES,
            "sentences": wording.SENTENCES,
            "negated": NEGATED,
            "swapped": SWAPPED,
            "constants": compared.pair_words.constants,
            "measures": [wording.compared_words(measure) for measure in scores.measures],
            "method": compared.method(),
            "choices": {name: pack(codes[:, both], "|u1") for name, codes in codes_of.items()},
        },
    }
    return content


def place_words(row: Mapping[str, Any]) -> str | None:
    return None if row["rank_low"] is None else rank_words(row["rank_low"], row["rank_high"])


def _next(evidence: Evidence | None, measure: Measure) -> dict[str, Any] | None:
    if evidence is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)  # said before
        plan = evidence.to_judge(measure, budget=NEXT_DOCUMENTS, likely=True)
    if plan is None:
        return None
    if isinstance(plan, SettlingPlan) and plan.is_settled:
        return {"words": plan.headline(), "fields": (), "rows": []}
    words = " ".join(plan.sentences())
    return {"words": words, "fields": plan.fields, "rows": [list(row.values()) for row in plan.rows()]}


def _identity(
    files: Sequence[str | None],
    judgments: Qrels | None,
    scores: Scores,
    choices: Choices,
    compared: Comparison | None,
    in_memory: str = "",
) -> dict[str, Any]:
    key = choices.options.get("ties_key")
    paths = [*files, *([key] if key else [])]
    sums = list(in_threads(lambda path: path and checksum(path), paths, processors()))
    chosen = {name: getattr(choices.question, name) for name in TESTED}
    roles, counts = ["scores"] * len(files), {}
    if judgments is not None:
        roles = ["judgments", *scores.runs, "key of ties"]
        counts = {"judgments": len(judgments), "judged topics": len(judgments.query_ids)}
        options = {name: choices.options.get(name, OPTIONS[name]) for name in NAMED_OPTIONS}
        options["gain"] = options["gain"] or "linear"
        chosen = options | {"calibrate": choices.calibrate} | chosen
    if compared:
        chosen["correction"] = compared.settings["correction"]
    together = hashlib.sha256("".join([*filter(None, sums), in_memory]).encode("utf-8", "surrogateescape")).hexdigest()
    return {
        "of": os.path.basename(next(iter(paths), "") or IN_MEMORY),
        "date": datetime.date.today().isoformat(),
        "fingerprint": together[:12],
        "files": [
            {"name": os.path.basename(path), "role": role, "bytes": Path(path).stat().st_size, "sha256": digest}
            if path
            else {"name": IN_MEMORY, "role": role, "bytes": None, "sha256": "-"}
            for path, role, digest in zip(paths, roles, sums, strict=False)
        ],
        "counts": counts | {"runs": len(scores.runs), "measures": len(scores.measures)},
        "options": {
            name.replace("_", " "): "yes" if value is True else str(value)
            for name, value in chosen.items()
            if value is not None and value is not False
        },
    }
