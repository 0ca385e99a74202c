"""The command that compares runs, and decides whether a gate is passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say, say_all
from rankbounds.commands.console.options import Option, Options, call, group_under, pick, words_in
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.saved_scores import join_baseline, origin_of
from rankbounds.evaluation.score_differences import differences
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.counts import Judged
from rankbounds.measures.naming.sources import bibtex
from rankbounds.results import Column, build_table
from rankbounds.tables import Table, in_prose, json_of, plain, signed

if TYPE_CHECKING:
    from rankbounds.comparison import Comparison
    from rankbounds.comparison.gate.conditions import Condition
    from rankbounds.comparison.gate.gate import Gate
    from rankbounds.comparison.slices import Slices


FOR_PAPERS = ("latex", "markdown")
"""Formats of one table of all measures, whose caption tells which tests p-values come from."""
TESTING = ("test", "correction", "alpha", "confidence", "resamples", "seed")


@command(
    "compare",
    "Is A better than B, or is it noise?",
    1,
    *reading.INPUTS,
    *reading.SCORE_TABLES,
    scoring.measures(("RBP(p=0.8)",)),
    Option("--sort BY", "order of runs: by a measure, by name (run), as given (given); default: each table by its own"),
    replace(scoring.TOP, help="in tables: the N best runs only; tests are over all of them"),
    Option("--per-topic", "for two runs: the topics, largest difference first"),
    *scoring.TESTS,
    *group_under(
        "tests",
        Option(
            "--ranks HOW",
            "intervals of places by: bootstrap (over topics; default from three runs on) or test (pairs it separates)",
            "auto",
            words=words_in("stats.rank_intervals", "METHODS"),
        ),
        Option(
            "--baseline-run NAME",
            "compare this run with all others instead of all pairs, corrected for their number by Dunnett's test on "
            "the same resamples; may be repeated: all runs that are no baseline are then compared with each one",
            repeated=True,
        ),
        Option("--standardise", "score topics against what these runs do on them"),
    ),
    *group_under(
        "slices of topics",
        Option(
            "--by FILE",
            "compare in slices of topics too: a table with a query and its label a line (several columns of labels "
            "with a header), and whether the difference depends on the slice",
        ),
        Option("--by-prefix SEP", "the same by what stands before SEP in query ids: nq/17 and hotpot/3 with /"),
    ),
    *group_under(
        "gate",
        Option(
            "--fail-if CONDITION",
            'a gate for a run beside a baseline, which comes first: "nDCG@10 worse" passes (exit code 0) when a loss '
            "of the margin or more is ruled out, fails (1) when a loss is shown, and else is undecided (4); also "
            '"AP different", and values of the run: "nDCG@10 < 0.5", "judged@10 < 80%"; may be repeated',
            repeated=True,
        ),
        Option(
            "--margin X",
            "the largest loss or difference that does not matter (default 0 in a gate); also for --test tost, two "
            "one-sided t tests of equivalence",
            type=float,
        ),
        Option("--undecided HOW", "with --fail-if: count as pass or fail (else exit code 4)", words=("pass", "fail")),
        Option("--settled", "with --fail-if: what judgments of unjudged documents could turn is undecided"),
        Option("--save FILE", "save the runs' scores, to be a baseline later", file="written"),
        Option("--baseline FILE", "compare with scores saved before; they come first"),
    ),
    *scoring.ASSUMING,
    reading.CALIBRATE,
    *group_under(
        "output",
        Option(
            "--style beats|groups|plain",
            "latex and markdown, raised beside a mean: the numbers of the systems that it beats, the letters of the "
            "leaderboard, or nothing",
        ),
        Option("--small bounds|interval|none", "latex and markdown, small beside a mean (interval: over topics)"),
    ),
    output.figure("with --by: a forest plot of the first measure and pair"),
    output.BIBTEX,
    *output.options_for(("table", "json", "latex", "markdown", "html", "junit")),
)
def run_compare(options: Options) -> int:
    """Is A better than B? Tests over topics, bounds for unjudged documents and ties, one verdict.

    For two runs, a paragraph in plain words and the numbers under it. For many, a leaderboard: systems that share a
    letter are not separable. "interval" is about topics, a sample; "bounds" and "whatever is judged" about missing
    judgments. With --fail-if it is a gate: exit code 0 pass, 1 fail, 4 undecided, each with the reason and what would
    decide it.
    """
    from rankbounds.comparison import Evidence, compare
    from rankbounds.comparison.gate.conditions import parse_conditions
    from rankbounds.comparison.gate.gate import Gate, gate
    from rankbounds.stats.standardisation import standardise

    reading.check_inputs(options)
    _check(options)
    tables = reading.score_tables_from(options) if options.scores else None
    conditions = parse_conditions(options.fail_if, tables.measures if tables else ()) if options.fail_if else []
    compared, held = measures_from(options, conditions)
    trusted = evidence = None
    if tables is not None:
        scores = scoring.tabled_from(options, tables, [condition.measure for condition in conditions])
        compared = [measure for measure in scores.measures if measure not in held]
        if not scores.has_judged:
            say("Tables of scores do not tell what unjudged or tied documents leave open: that is left out.")
    else:
        trusted = reading.trusted_from(options, compared)
        if trusted and (options.unjudged != "nonrelevant" or options.baseline or options.standardise):
            raise UsageError("--calibrate does not go with --unjudged, --baseline or --standardise.")
        assumed = scoring.assumptions_from(options) | ({"unjudged": trusted.rule} if trusted else {})
        evidence = Evidence(*reading.collection_from(options, trusted), Assumptions(**assumed))
        scores = evidence.scores([*compared, *held], progress=progress_on_terminal("runs scored"))
        if options.save or options.baseline:
            made_with = origin_of(evidence.qrels, evidence.assumptions, reading.preparation_from(options))
            scores = replace(scores, origin=made_with)
    if options.save:
        scores.save(options.save)
        output.wrote(options.save)
    candidates = scores.runs
    if options.baseline:
        saved = Scores.load(options.baseline)
        if saved.origin is None or scores.origin is None:
            say("warning: whether the saved scores were made with the same judgments and options is not known.")
        scores = join_baseline(saved, scores)
        candidates = scores.runs[-len(candidates) :]
    doing("testing differences")
    # Scores that were saved or standardised are not those of the lists.
    own = None if options.baseline or options.standardise else evidence
    baselines = list(dict.fromkeys(options.baseline_run or [None]))
    parts = {}
    for baseline in baselines:
        others = {*baselines} - {baseline}
        some = scores.filter(run=[run for run in scores.runs if run not in others]) if others else scores
        part = parts[baseline] = Part(options, some)
        if len(some.runs) > 1 or not (options.save or conditions):
            given = standardise(some[compared]) if options.standardise else some[compared]
            found = call(options, compare, given, baseline=baseline, evidence=own)
            part.comparison = found.sort(options.sort)
        if options.by or options.by_prefix:
            part.slices = slices_from(options, part.comparison, baseline)
        if conditions:
            first = None if options.baseline_run or len(some.runs) != 2 else some.runs[0]
            asked = [run for run in candidates if run not in (*baselines, first)]
            judged = {"scores": some, "evidence": evidence, "candidates": asked}
            part.gate = call(options, gate, part.comparison or some, conditions, **judged)
        if trusted is not None and options.bounds == "unjudged" and len(baselines) == 1:
            part.rests = trusted.rests_on_labels_of(some[compared])
    comparison = parts[baselines[0]].comparison
    output.write_bibtex(options, bibtex(scores.measures) if comparison is None else comparison.to_bibtex())
    outcomes = [outcome for part in parts.values() if part.gate is not None for outcome in part.gate.outcomes]
    whole = Gate(list(dict.fromkeys(outcomes)), options.undecided) if outcomes else None  # a value counts once
    output.write_text(options, whole.junit() if whole is not None and options.format == "junit" else render(parts))
    if whole is None:
        return 0
    say_all(outcome.words() for outcome in whole.outcomes)
    return whole.exit_code


def _check(options: Options) -> None:
    """Reject options that do not go together, before any work is done."""
    from rankbounds.comparison.gate.gate import check_undecided
    from rankbounds.stats.equivalence import check_margin

    check_undecided(options.undecided)
    if options.margin is not None:
        check_margin(options.margin)
    asked = [f"--{name}" for name in ("undecided", "settled") if getattr(options, name)]
    asked += ["--format junit"] if options.format == "junit" else []
    in_slices = options.by or options.by_prefix
    if asked and not options.fail_if:
        raise UsageError(f'{asked[0]} is for a gate: add --fail-if, as in --fail-if "nDCG@10 worse".')
    if options.figure and len(set(options.baseline_run or ())) > 1:
        raise UsageError("--figure draws one comparison: name one --baseline-run.")
    if options.figure and not in_slices:
        raise UsageError("--figure draws slices: add --by FILE or --by-prefix SEP.")
    if in_slices and options.test == "tost":
        raise UsageError("--by asks where runs differ, --test tost whether they are alike: ask for one.")
    if options.by_prefix == "":
        raise UsageError("--by-prefix needs what ends the prefix, as in --by-prefix /.")


# ---- what is computed ----


def measures_from(options: Options, conditions: Sequence[Condition]) -> tuple[list[Measure], list[Measure]]:
    """The measures to compare by, and those of which a condition asks no more than a value."""
    named = parse_measures(options.measures) if options.measures and not options.scores else []
    asked = [*named, *(each.measure for each in conditions if each.of_change)]
    values = [condition.measure for condition in conditions if not condition.of_change]
    scored = [measure for measure in values if not isinstance(measure, Judged)]
    compared = list(dict.fromkeys(asked or scored or parse_measures("RBP(p=0.8)")))
    return compared, [measure for measure in dict.fromkeys(values) if measure not in compared]


def slices_from(options: Options, comparison: Comparison | None, baseline: str | None) -> Slices:
    """The comparison in slices, over the topics and scores that were compared; drawn if asked for."""
    if comparison is None:
        raise UsageError("--by compares runs in slices of topics: give two runs or more.")
    from rankbounds.comparison.slices import slices
    from rankbounds.files.queries import labels_by_prefix, read_query_labels

    labels = read_query_labels(options.by) if options.by else {}
    if options.by_prefix:
        labels |= labels_by_prefix(comparison.scores.query_ids, options.by_prefix)
    sliced = slices(comparison.scores, labels, **pick(options, *TESTING), baseline=baseline)
    output.write_figure(options, "forest", sliced)
    return sliced


# ---- what is shown ----


@dataclass
class Part:
    """What is shown of the comparison with one baseline, or of all pairs; of one run there are its scores alone."""

    options: Options
    scores: Scores
    comparison: Comparison | None = None
    slices: Slices | None = None
    gate: Gate | None = None
    rests: Sequence[str] = ()

    def content(self) -> dict[str, Any]:
        """Everything, for JSON."""
        content: dict[str, Any]
        comparison, sliced = self.comparison, self.slices
        if comparison is None:
            names = {"run": "run", "measure": "measure", "mean": "value", "low": "low", "high": "high"}
            systems = [{name: row[own] for name, own in names.items()} for row in self.scores.mean().rows()]
            content = {"systems": systems, "pairs": [], "settings": {}}
        else:
            rows = comparison.systems
            if comparison.order:
                rows = [row for measure in comparison.measures for row in comparison.leaderboard(measure)]
            content = {"systems": rows, "pairs": comparison.pairs, "settings": comparison.settings}
            if len(comparison.runs) == 2:
                content["words"] = [comparison.words(measure) for measure in comparison.measures]
            if self.options.per_topic:
                content["topics"] = topic_rows(comparison.scores)
        if sliced is not None:
            content |= {"slices": sliced.rows(), "interactions": sliced.interactions, "slice_settings": sliced.settings}
            if len(sliced.runs) == 2:
                content["slice_words"] = sliced.words().splitlines()
        if self.gate is not None:
            answer, code = self.gate.answer, self.gate.exit_code
            content["gate"] = {"answer": answer, "exit_code": code, "conditions": self.gate.rows()}
        return content | ({"model_labels": list(self.rests)} if self.rests else {})

    def text(self) -> str:
        """Everything for people, in the format asked for."""
        kind, sliced = self.options.format, self.slices
        parts = [self.scores.render(kind)] if self.comparison is None else self._compared(self.comparison)
        if sliced is not None:
            parts += [table.render(kind) for table in sliced.tables()]
            parts += [sliced.words()] if kind == "table" and len(sliced.runs) == 2 else []
            parts.append(in_prose(sliced.method(), kind))
        if self.gate is not None:
            parts.insert(0 if kind == "markdown" else len(parts), self.gate.render(kind))
        return "\n".join(parts)

    def _compared(self, comparison: Comparison) -> list[str]:
        """One table of all measures for papers and pages, and what is said of each measure elsewhere."""
        options, kind = self.options, self.options.format
        look = {"small": options.small, "top": options.top}
        parts = []
        if kind == "latex":
            parts = [comparison.to_latex(options.style, **look, cite=bool(options.bibtex))]
        elif kind == "markdown":
            parts = [comparison.to_markdown(options.style, **look)]
        elif kind == "html":
            parts = [comparison.summary(options.style, **look).html()]
        for measure in comparison.measures:
            if len(comparison.runs) == 2 and kind == "table":
                parts.append(comparison.words(measure))
            tables = [] if kind in FOR_PAPERS else comparison.tables(measure, options.top)
            parts += [table.render(kind) for table in tables[kind == "html" :]]
            if options.per_topic:
                parts.append(topic_table(comparison.scores, str(measure)).render(kind))
        parts += [in_prose(sentence, kind) for sentence in self.rests]
        return parts if kind in FOR_PAPERS else [*parts, in_prose(comparison.method(), kind)]


def render(parts: Mapping[str | None, Part]) -> str:
    """The comparison, or those with several baselines one after the other, in the format asked for."""
    one, kind = next(iter(parts.values())), next(iter(parts.values())).options.format
    if kind == "json":
        content = {baseline: part.content() for baseline, part in parts.items()}
        return json_of(one.content() if len(parts) == 1 else {"baselines": content}, indent=1) + "\n"
    if len(parts) == 1:
        return one.text()
    texts = [text for name, part in parts.items() for text in (in_prose(f"Against {name}:", kind), part.text())]
    end = f"p-values are not corrected for the number of baselines ({len(parts)})."
    return "\n".join([*texts, in_prose(end, kind)])


def topic_rows(scores: Scores) -> list[dict[str, Any]]:
    """For two runs, each topic's scores and their difference, the largest first."""
    if len(scores.runs) != 2:
        raise UsageError("--per-topic shows two runs.")
    rows = []
    for place, measure in enumerate(map(str, scores.measures)):
        a, b = scores.value[0, :, place], scores.value[1, :, place]
        difference = differences(a, b)
        for topic in (-difference).argsort(kind="stable").tolist():
            values = {"a": a[topic], "b": b[topic], "difference": difference[topic]}
            row = {"measure": measure, "query_id": scores.query_ids[topic]}
            rows.append(row | {key: plain(value) for key, value in values.items()})
    return rows


def topic_table(scores: Scores, measure: str) -> Table:
    """The topics of one measure as a table."""
    rows = [row for row in topic_rows(scores) if row["measure"] == measure]
    columns = [
        Column("query_id", "topic", left=True),
        Column("a", scores.runs[0]),
        Column("b", scores.runs[1]),
        Column("difference", cell=lambda row: signed(row["difference"])),
    ]
    return build_table(rows, columns)
