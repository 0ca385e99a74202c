"""The command that compares runs, and decides whether a gate is passed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import complain, doing, progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, call, group_under, pick
from rankbounds.comparison.printed import measure_table, shown_parts, tables
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.assumptions import ASSUMPTIONS, Assumptions
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_files import fingerprint, join_baseline, origin_of
from rankbounds.evaluation.scores import Scores
from rankbounds.files.opening import is_pipe
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.counts import Judged
from rankbounds.measures.naming.sources import bibtex
from rankbounds.tables import ROW_FORMATS, Table, in_prose, json_of

if TYPE_CHECKING:
    from rankbounds.comparison import Comparison
    from rankbounds.comparison.gate.gate import Condition, Gate
    from rankbounds.comparison.slices import Slices


@command(
    "compare",
    *reading.INPUTS,
    *reading.SCORE_TABLES,
    scoring.measures(),
    Option("--sort BY", "order of runs: a measure, run (by name) or given; default: each table by its own measure"),
    replace(scoring.TOP, help="show the N best runs only; tests include all of them", everyday=False),
    *scoring.TESTS,
    Option("--baseline-run NAME", "compare all others with this run", dest="reference", group="test", everyday=True),
    scoring.BY,
    *group_under(
        "gate",
        Option(
            "--fail-if CONDITION",
            '"nDCG@10 worse", "AP worse on any slice", "AP not better", "AP < 0.5": exit code 0 pass, 1 fail, 4 '
            "undecided; the baseline comes first; may be repeated",
            repeated=True,
            everyday=True,
        ),
        Option(
            "--margin X",
            "the largest difference that does not matter: 0.01 or 1% (default 0); with --test tost, tests equivalence",
            type=scoring.share,
            everyday=True,
        ),
        Option(
            "--margin-test test|betting",
            "what rules out the margin: --test, or one that also allows for rare, large losses (needs more topics)",
        ),
        Option("--undecided HOW", "count undecided as pass or fail (default: exit code 4)", words=("pass", "fail")),
        Option("--save FILE", "save the runs' scores, for --baseline later", file="written"),
        Option("--baseline FILE", "compare with scores saved by --save; for a run file, use --baseline-run"),
    ),
    *scoring.ASSUMING,
    reading.CALIBRATE,
    *output.FIGURES,
    output.BIBTEX,
    output.EXPLAIN,
    *output.options_for(("table", "json", "csv", "tsv", "latex", "markdown", "html", "junit")),
)
def run_compare(options: Options) -> int:
    """Is A better than B, or is it noise? Significance tests, bounds for unjudged documents, and one verdict.

      rankbounds compare qrels.txt runs/bm25.txt runs/dense.txt
      rankbounds compare qrels.txt runs -m nDCG@10 --baseline-run bm25

    A difference is the second run minus the first, the other run minus the baseline, or among many the better minus
    the worse. The answer comes first, then a table, then what is still open; --explain says the rest. In tables of many
    runs, those that share a letter cannot be told apart. An interval is about the topics, a sample; bounds are about
    documents that nobody judged.

    --fail-if "nDCG@10 worse" is a gate: it passes when a loss of the margin or more is ruled out, fails when a loss is
    shown, and otherwise is undecided. Several runs are corrected for their number (Holm), as in the tables.
    """
    from rankbounds.comparison import Evidence, compare_scores
    from rankbounds.comparison.gate.gate import hold, parse_conditions
    from rankbounds.comparison.pairs import run_number
    from rankbounds.evaluation.clusters import clusters_in_ids

    reading.check_inputs(options)
    _check(options)
    tables = reading.score_tables_from(options) if options.scores else None
    conditions = parse_conditions(options.fail_if, tables.measures if tables else ()) if options.fail_if else []
    compared, values_alone = measures_from(options, conditions)
    trusted, evidence, assumed = None, None, Assumptions()
    if tables is not None:
        scores = scoring.tabled_from(options, tables, [condition.measure for condition in conditions])
        compared = [measure for measure in scores.measures if measure not in values_alone]
        if not scores.has_judged:
            say("Tables of scores do not show the effect of unjudged or tied documents, so it is left out.")
        clustered = options.clusters or scores.clusters
        if not clustered and (mark := clusters_in_ids(scores.query_ids)):
            say(
                f"warning: query ids such as {scores.query_ids[0]} look like clusters of related queries; if they are, "
                f"p-values are too small. Add --clusters {mark}, or a file of clusters."
            )
    else:
        trusted = reading.trusted_from(options, compared)
        if trusted and (options.unjudged != "nonrelevant" or options.baseline):
            raise UsageError("--calibrate does not go with --unjudged or --baseline.")
        assumed = Assumptions(**pick(options, *ASSUMPTIONS) | ({"unjudged": trusted.rule} if trusted else {}))
        evidence = Evidence(*reading.collection_from(options, trusted), assumed)
        if options.reference and not options.baseline:
            names = evidence.names
            files = [os.path.basename(file) for _, file in reading.named_files(options.runs or ())]
            if options.reference in files and options.reference not in names:
                named = "name it when you give it, as in base=FILE --baseline-run base"
                raise UsageError(f'"{options.reference}" is a file, and its run is named by the tag in it: {named}.')
            run_number(names, options.reference)  # said before anything is scored
        scores = evidence.scores([*compared, *values_alone], progress=progress_on_terminal("runs scored"))
        if options.save or options.baseline or options.format == "json":
            prepared = reading.preparation_from(options)
            made_with = origin_of(evidence.qrels, evidence.assumptions, prepared, evidence.runs)
            scores = replace(scores, origin=made_with)
    if options.save:
        scores.save(options.save)
        output.report_file(options.save)
    candidates = scores.runs
    if options.baseline:
        saved = Scores.load(options.baseline)
        if saved.origin is None or scores.origin is None:
            say("warning: it is not known whether the saved scores were made with the same judgments and options.")
        scores = join_baseline(saved, scores)
        candidates = scores.runs[-len(candidates) :]
    doing("testing differences")
    own = None if options.baseline else evidence  # (saved scores are not those of the lists)
    answer = Answer(options, scores)
    if evidence is not None and scores.origin is not None:
        answer.fingerprint = fingerprint(scores.origin)
    if len(scores.runs) > 1 or not (options.save or conditions):
        question = call(options, Question, tuple(compared), baseline=options.reference, assumptions=assumed)
        answer.comparison = compare_scores(scores[compared], question, evidence=own).sort(options.sort)
    comparison = answer.comparison
    if options.by and comparison is None:
        raise UsageError("--by compares runs in slices of topics: give two runs or more.")
    if options.by and comparison is not None:
        answer.slices = comparison.slices(options.by, correction=options.correction)
    if conditions:
        first = None if options.reference or len(scores.runs) != 2 else scores.runs[0]
        candidates = [run for run in candidates if run not in (options.reference, first)]
        judged = {"scores": scores, "evidence": evidence, "candidates": candidates}
        answer.gate = call(options, hold, None if comparison is None else comparison.numbers, conditions, **judged)
    if trusted is not None and options.bounds == "unjudged":
        answer.rests = trusted.rests_on_labels_of(scores[compared])
    output.write_figure(options, comparison or scores if answer.slices is None else answer.slices)
    output.write_bibtex(options, bibtex(scores.measures) if comparison is None else comparison.to_bibtex())
    output.write_text(options, answer.render())
    if answer.gate is None:
        return 0
    if options.by and any(each.of_change and not each.sliced for each in conditions):
        say(f"The gate is about all {len(scores.query_ids)} topics together, and not about the slices.")
    if options.format != "table" or options.output:  # (the table begins with it)
        for line in answer.gate.lines():
            complain(line)
    return answer.gate.exit_code


def _check(options: Options) -> None:
    from rankbounds.comparison.gate.gate import check_undecided
    from rankbounds.stats.equivalence import check_margin

    if options.baseline and not is_pipe(options.baseline) and not os.path.exists(options.baseline):
        advice = "It takes scores saved by --save; a run of this comparison is named by --baseline-run."
        raise DataError(options.baseline, "there is no such file.", advice)
    check_undecided(options.undecided)
    if options.margin is not None:
        check_margin(options.margin)
    asked = "--undecided" if options.undecided else "--format junit" if options.format == "junit" else ""
    if asked and not options.fail_if:
        raise UsageError(f'{asked} is for a gate: add --fail-if, as in --fail-if "nDCG@10 worse".')
    if options.by and options.test == "tost":
        raise UsageError("--by asks where runs differ, --test tost asks whether they are alike: use one of them.")


# ---- what is computed ----


def measures_from(options: Options, conditions: Sequence[Condition]) -> tuple[list[Measure], list[Measure]]:
    named = parse_measures(options.measures) if options.measures and not options.scores else []
    asked = [*named, *(each.measure for each in conditions if each.of_change)]
    values = [condition.measure for condition in conditions if not condition.of_change]
    scored = [measure for measure in values if not isinstance(measure, Judged)]
    compared = list(dict.fromkeys(asked or scored or parse_measures(DEFAULT_MEASURES)))
    return compared, [measure for measure in dict.fromkeys(values) if measure not in compared]


# ---- what is shown ----


@dataclass
class Answer:
    """What is written of a comparison; for one run its scores alone."""

    options: Options
    scores: Scores
    comparison: Comparison | None = None
    slices: Slices | None = None
    gate: Gate | None = None
    rests: Sequence[str] = ()
    fingerprint: Mapping[str, Any] | None = None

    def content(self) -> dict[str, Any]:
        content: dict[str, Any]
        comparison, sliced = self.comparison, self.slices
        if comparison is None:
            names = {"run": "run", "measure": "measure", "value": "mean"}
            names |= {name: name for name in ("low", "high", "ci_low", "ci_high")}
            systems = [{name: row[own] for own, name in names.items()} for row in self.scores.mean().rows()]
            content = {"systems": systems, "pairs": [], "settings": {}}
        else:
            rows = {"systems": comparison.systems.rows(), "pairs": comparison.pairs.rows()}
            content = {**rows, "settings": comparison.settings}
            if len(comparison.runs) == 2:
                content["words"] = [comparison.words(measure) for measure in comparison.measures]
                content["agreement"] = comparison.agreement()
            else:
                content["winner"] = comparison.winner().rows()
        if sliced is not None:
            content |= {"slices": sliced.rows(), "slice_settings": sliced.settings}
        if self.gate is not None:
            answer, code = self.gate.answer, self.gate.exit_code
            content["gate"] = {"answer": answer, "exit_code": code, "conditions": self.gate.rows()}
            if by_slice := self.gate.slices():
                content["gate"]["slices"] = by_slice.rows()
        content |= {"fingerprint": self.fingerprint} if self.fingerprint else {}
        return content | ({"model_labels": list(self.rests)} if self.rests else {})

    def render(self) -> str:
        kind, sliced = self.options.format, self.slices
        if kind == "json":
            return json_of(self.content(), indent=1) + "\n"
        if kind == "junit" and self.gate is not None:
            return self.gate.junit()
        if kind in ROW_FORMATS:
            rows = self.scores.mean() if self.comparison is None else self.comparison.pairs
            return rows.render(kind, raw=self.options.raw)
        parts = [self.scores.render(kind)] if self.comparison is None else self._shown_parts(self.comparison)
        if sliced is not None:
            parts += [table.render(kind) for table in sliced.tables()]
            parts.append(in_prose(sliced.method(), kind))
        if self.gate is not None and kind == "table":
            explained = [self.gate.words(), self.gate.render(kind)] if self.options.explain else []
            parts = [repr(self.gate), *explained[:1], *parts, *explained[1:]]
        elif self.gate is not None:
            parts.insert(0 if kind == "markdown" else len(parts), self.gate.render(kind))
        return "\n".join(parts)

    def _shown_parts(self, comparison: Comparison) -> list[str]:
        options, kind = self.options, self.options.format
        if kind == "latex":
            parts: list[str | Table] = [comparison.to_latex(top=options.top, cite=bool(options.bibtex))]
        elif kind == "markdown":
            parts = [comparison.to_markdown(top=options.top)]
        elif kind == "html":
            pairs = [table for one in comparison.measures for table in tables(comparison, one, options.top)[1:]]
            two = len(comparison.runs) == 2
            parts = [comparison.summary(options.top).html(), *([measure_table(comparison)] if two else pairs)]
        else:
            parts = shown_parts(comparison, options.top, explain=options.explain)
            if self.gate is not None and not options.explain:  # which has answered
                parts = [part for part in parts if not isinstance(part, str)]
        texts = [part if isinstance(part, str) else part.render(kind) for part in parts if part]
        texts += [in_prose(sentence, kind) for sentence in self.rests]
        texts += [in_prose(comparison.method(), kind)] * (kind == "html" or (kind == "table" and options.explain))
        return [text if text.endswith("\n") else f"{text}\n" for text in texts]
