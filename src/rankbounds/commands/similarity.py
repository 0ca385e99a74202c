"""Say what changed between rankings, without judgments: how alike runs are, and how much a measure could differ.

For two runs: rank-biased overlap (RBO) with what the ends of the lists leave open, documents in common at the top, the
most that measures can differ whatever the judgments (MED), and the topics that changed most. For more runs: every two
of them, the most alike first; --figure draws the matrix with clusters.
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import OUTPUT, figure, write_figure, write_rows
from rankbounds.commands.progress import progress_on_terminal
from rankbounds.commands.reading import READING_RUNS, RUNS, read_runs
from rankbounds.commands.scoring import TIES, measures

QUESTION = "What changed between two versions?", 1
OPTIONS = (
    RUNS,
    Option("--p P", "persistence of RBO (default 0.9)", 0.9, type=float),
    Option("--depth K", "documents in common to this depth; may be repeated (default 10)", type=int, repeated=True),
    measures(
        (),
        "a measure of which to say how much it can differ at most (for two runs nDCG@10, RBP(p=0.8), AP, RR and P@10; "
        "for more none)",
    ),
    Option("-q, --per-topic", "each topic too"),
    Option("--top N", "in tables: this many pairs of runs (default 10)", 10, type=int),
    *TIES,
    *READING_RUNS,
    figure("draw all runs against all, with clusters"),
    *OUTPUT,
)


def run(options: Options) -> None:
    """Compare and print."""
    from rankbounds.comparison.similarity import USUAL_MEASURES, similarity

    runs = read_runs(options, repeated=True)
    alike = similarity(
        runs,
        depths=options.depth or (10,),
        measures=options.measures or (USUAL_MEASURES if len(runs) == 2 else ()),
        progress=progress_on_terminal("pairs of runs compared"),
        **pick(options, "p", "ties", "score_precision"),
    )
    write_figure(options, "similarity_matrix", alike)
    write_rows(
        options,
        alike.rows(topics=options.per_topic),
        alike.fields,
        table=lambda: alike.table(options.top, topics=options.per_topic),
        below=lambda: f"\n{alike.words()}\n",
    )
