"""Draw smaller samples of judgments, to see what a cheaper test collection would have said.

At a rate of j percent each topic keeps max(1, trunc(R j / 100)) of its R relevant and max(10, trunc(N j / 100)) of its
N non-relevant documents. One seed shuffles once: the judgments of a smaller rate are among those of a larger one.

Several rates need -o with {rate} in the name of the file, such as -o qrels.{rate}.txt.
"""

from __future__ import annotations

from dataclasses import replace

from rankbounds.commands.messages import say
from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import JUDGMENTS_FILE, check_outputs, write_pairs
from rankbounds.commands.reading import QRELS, READING, judgments_from
from rankbounds.commands.scoring import SEED
from rankbounds.errors import UsageError
from rankbounds.judging.pools import RATES, draw_reductions, subset

QUESTION = "What would fewer judgments have said?", 1
DEFAULT_RATES = ",".join(f"{rate:g}" for rate in RATES)
OPTIONS = (
    QRELS,
    Option("--rate J", f"percent, several with commas (default {DEFAULT_RATES})", DEFAULT_RATES),
    SEED,
    Option("--rel REL", "the lowest grade that counts as relevant (default 1)", 1.0, type=float),
    Option("--keep-pool", "write what is not kept with grade -1 (pooled, not judged), for infAP"),
    *READING,
    replace(JUDGMENTS_FILE, help="write there; {rate} in the name stands for the rate"),
)


def run(options: Options) -> None:
    """Draw and write."""
    rates = _rates(options.rate)
    if len(rates) > 1 and "{rate}" not in (options.output or ""):
        raise UsageError("Several rates need several files: name them with -o, such as -o qrels.{rate}.txt.")
    targets = {rate: (options.output or "").replace("{rate}", f"{rate:g}") for rate in rates}
    check_outputs(options, list(filter(None, targets.values())))
    qrels = judgments_from(options)
    for rate, kept in draw_reductions(qrels, rates, seed=options.seed, rel=options.rel).items():
        sample = qrels.only_judged(kept) if options.keep_pool else subset(qrels, kept)
        write_pairs(options, sample, targets[rate])
        relevant = int((qrels.grade[kept] >= options.rel).sum())
        say(
            f"rate {rate:g}%, seed {options.seed}: kept {int(kept.sum()):,} of {len(qrels):,} judgments "
            f"({relevant:,} relevant)."
        )


def _rates(text: str) -> list[float]:
    try:
        rates = [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f'The rates "{text}" are not percentages with commas between them, such as 90,50,10.'
        ) from None
    for rate in rates:
        if not 0 < rate <= 100:
            raise UsageError(f"A rate is a percentage above 0 and up to 100, not {rate:g}.")
    return list(dict.fromkeys(rates))
