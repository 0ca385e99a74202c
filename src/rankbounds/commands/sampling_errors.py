"""How far may estimates from sampled judgments be off? Standard errors over what could have been drawn.

For judgments of a sample with strata (five fields: topic 0 document stratum grade; -1 for documents of the pool that
were not drawn). The table shows xinfAP, infNDCG or inferred counts, the standard error of each (the jackknife within
strata, corrected for the share of each that was judged), and a normal interval. It covers the drawing of documents, not
that of topics.
"""

from __future__ import annotations

from rankbounds.commands.messages import say_all
from rankbounds.commands.options import Options, pick
from rankbounds.commands.output import OUTPUT, write_result
from rankbounds.commands.reading import INPUTS, READING, collection_from
from rankbounds.commands.scoring import PER_TOPIC, RANKING, confidence, measures
from rankbounds.probability.sampling_errors import sampling_errors

QUESTION = "What would fewer judgments have said?", 2
DEFAULT_MEASURES = ("xinfAP", "infNDCG")
OPTIONS = (
    *INPUTS,
    measures((), "xinfAP, infNDCG (the default: both), infP@10, infNumRelRet, infNumRel"),
    confidence("the interval"),
    PER_TOPIC,
    *RANKING,
    *READING,
    *OUTPUT,
)


def run(options: Options) -> None:
    """Compute and print."""
    result = sampling_errors(
        *collection_from(options),
        options.measures or DEFAULT_MEASURES,
        **pick(options, "confidence", "per_topic", "ties", "gain", "topics", "score_precision"),
    )
    say_all(result.notes())
    write_result(options, result)
