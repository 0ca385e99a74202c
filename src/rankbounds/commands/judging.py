"""Commands about judgments to make: what to judge next, pools and parts of them."""

from __future__ import annotations

from dataclasses import replace

from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say, say_all
from rankbounds.commands.console.options import Option, Options, call, everyday
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.judging import pools


@command(
    "judge-next",
    *reading.INPUTS,
    *everyday(
        Option("--budget N", "number of documents (default 20)", 20),
        Option(
            "-m, --measure, --for MEASURE",
            f"any measure: {DEFAULT_MEASURES[0]} (default), AP, RBP(p=0.8), P@10, ...",
            DEFAULT_MEASURES[0],
            words=scoring.measure_names,
        ),
        replace(
            reading.COMPARE,
            help="the question to settle: which of two runs is better (--compare bm25 dense; the default for two), or "
            "which runs beat the leader (--compare all)",
        ),
        Option(
            "--until WHEN",
            "for two runs or with --compare: estimate how many judgments settle the question, or decide it with this "
            "probability (0.95)",
        ),
    ),
    *scoring.probability("logistic (default: estimated from the judgments)", "logistic"),
    scoring.SEED,
    scoring.ORDER,
    *reading.READING,
    reading.CALIBRATE,
    output.EXPLAIN,
    *output.options_for((*output.FORMATS[:5], "trec", *output.FORMATS[5:])),
)
def run_judge_next(options: Options) -> None:
    """List the unjudged documents that are worth judging first.

      rankbounds judge-next qrels.txt runs
      rankbounds judge-next qrels.txt runs --compare reranked dense --budget 50

    Two runs, or --compare, ask which is better: value is how far a judgment is expected to move the bound that settles
    the question (for measures other than RBP, P and DCG the order is good, but values do not add up). --until settled
    (or 0.95) simulates how many judgments that takes, with the probabilities of --q. "compare", "report" and "serve"
    name the same documents.

    More runs ask for all scores: value is a document's part of the standard deviations of the runs' means. For RBP, P
    and DCG, weight is its summed weight in all runs, and residual_after is what remains open once it and all documents
    above it are judged. --format trec writes a pool file to be filled in.
    """
    from rankbounds.judging.next.judge_next import judge_next
    from rankbounds.measures import parse_measure

    compare = reading.compared_from(options.compare)
    trusted = reading.trusted_from(options, [parse_measure(options.measure)], drawn=True)
    judgments, runs = reading.collection_from(options, trusted)
    doing("estimating what unjudged documents are")
    plan = call(
        options,
        judge_next,
        judgments,
        runs,
        compare=compare,
        q=scoring.probability_from(options.q) if trusted is None else trusted.model(options.otherwise),
        progress=progress_on_terminal("steps of the plan"),
    )
    if options.format == "trec":
        output.write_text(options, plan.pool().text() if len(plan) else "")
    elif options.format == "table" and not len(plan):
        output.write_text(options, f"{plan.words()}\n")
    else:
        output.write_result(options, plan)
    if trusted is not None:
        say(trusted.words())
    doubts = plan.doubts() if options.format == "table" else plan.sentences()
    say_all(plan.notes() if options.explain else doubts)


@command(
    "pool",
    reading.RUNS_IF_ANY,
    *everyday(
        Option("--depth D", "pool the top D documents of each run and topic", type=int),
        Option("--budget N", "pool at most N documents per topic", type=int),
        Option("--restrict QRELS", "judgments to take grades from"),
        Option("--keep RATE", "keep a random part of these judgments, such as 10%, topic by topic", type=scoring.share),
    ),
    scoring.SEED,
    scoring.ORDER,
    *reading.READING,
    output.JUDGMENTS_FILE,
)
def run_pool(options: Options) -> None:
    """Build a pool of documents to judge, or restrict judgments to another pool.

      rankbounds pool runs --depth 10 -o pool.txt
      rankbounds pool runs --depth 5 --restrict qrels.txt -o shallow.txt

    The pool holds every run's documents down to --depth, or at most --budget documents per topic (by their best rank,
    then by the number of runs that retrieved them). It is written as TREC judgments of grade -1: pooled, not judged.

    With --restrict QRELS, documents of the pool that QRELS judges get their grade.

    --keep 10% simulates a cheaper collection (Sakai 2007): each topic keeps max(1, trunc(R / 10)) of its R relevant and
    max(10, trunc(N / 10)) of its N non-relevant documents, of the pool or, without runs, of all of QRELS. With the same
    seed, what a smaller part keeps is in every larger one.
    """
    if options.keep is not None and options.restrict is None:
        raise UsageError("--keep takes a part of judgments: name them with --restrict QRELS.")
    if not options.runs:
        if options.keep is None:
            raise UsageError("A pool needs runs.")
        reduce_judgments(options, reading.judgments_from(options, options.restrict))
        return
    runs = reading.read_runs(options)
    pooled = pools.pool(runs, depth=options.depth, budget=options.budget, ties=options.ties)
    if options.restrict is not None:
        pooled = pools.restrict(reading.judgments_from(options, options.restrict), pooled)
    if options.keep is not None:
        reduce_judgments(options, pooled)
        return
    output.write_pairs(options, pooled)
    judged = int((pooled.grade != POOLED_NOT_JUDGED).sum())
    relevant = int((pooled.grade >= 1).sum())
    say(
        f"{len(pooled):,} documents for {len(pooled.query_ids)} topics from {len(runs)} runs: {judged:,} judged "
        f"({relevant:,} relevant), {len(pooled) - judged:,} to judge."
    )


def reduce_judgments(options: Options, judgments: Qrels) -> None:
    rate = 100 * options.keep
    kept = pools.reduce(judgments, [rate], seed=options.seed)[rate]
    output.write_pairs(options, kept)
    relevant = int((kept.grade >= 1).sum())
    say(
        f"{rate:g}% of each topic (seed {options.seed}): kept {len(kept):,} of {len(judgments):,} judgments "
        f"({relevant:,} relevant)."
    )
