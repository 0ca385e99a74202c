"""What each ranked document adds to a score: one topic of one run, document by document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.shapes import QrelsLike, RunLike
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures import Measure, Normalised, parse_measures
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import Unpack

FIELDS = ("run", "query_id", "rank", "doc_id", "relevance", "measure", "contribution", "share", "could_add")


def list_contributions(
    qrels: QrelsLike,
    run: RunLike,
    query_id: str,
    measures: MeasuresLike = ("AP", "RBP(p=0.8)"),
    **options: Unpack[RankingOptions],
) -> list[dict[str, Any]]:
    """Compute what each document of one topic adds to a run's score.

    Parameters
    ----------
    qrels, run, **options
        As in ``evaluate``: one run, ties in one fixed order.
    query_id
        The topic.
    measures
        Weighted sums over ranks such as RBP, P and DCG, and AP.

    Returns
    -------
    list of dict
        A row per document and measure, from the top of the list. ``contribution`` is what the document adds to the
        value (for AP its share of every precision that counts it), ``share`` its share of the value; they sum to the
        value and to 1. ``could_add`` is what an unjudged document would add to a weighted measure if it were relevant;
        otherwise None.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    >>> for row in rb.rbp.list_contributions(qrels, run, "q", "RBP(p=0.5)"):
    ...     print(row["rank"], row["doc_id"], row["contribution"], row["share"], row["could_add"])
    1 a 0.5 0.8 None
    2 b 0.0 0.0 0.25
    3 c 0.125 0.2 None
    """
    refused = {"topics": "a single topic is shown."}
    assumptions, reading = chosen_options(options, RankingOptions, refused=refused, one_order="Contributions need")
    facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
    every_topic, query = reading.run(run), str(query_id)
    if query not in every_topic.query_ids or query not in facts.query_ids:
        lacking = "judgments have" if query in every_topic.query_ids else f'run "{every_topic.name}" has'
        known = list(facts.query_ids if query in every_topic.query_ids else every_topic.query_ids)
        raise DataError(f'The {lacking} no topic "{query}".{did_you_mean(query, known)}')
    of_topic = every_topic.filter({query})
    rankings = next(join_lists(of_topic, facts, replace(assumptions, topics="shared")).batches)
    assert rankings.row is not None
    grade = rankings.grade[0].tolist()
    rows = []
    tables = [(str(measure), *_contributions_to(measure, rankings)) for measure in parse_measures(measures)]
    for row, doc in enumerate(of_topic.pairs.docs.take(rankings.row[0]).to_list()):
        judged = not np.isnan(grade[row])
        place = (of_topic.name, query, row + 1, doc, grade[row] if judged else None)
        for label, adds, share, could in tables:
            cells = (label, float(adds[row]), float(share[row]), None if judged or could is None else float(could[row]))
            rows.append(dict(zip(FIELDS, (*place, *cells), strict=True)))
    return rows


def _contributions_to(measure: Measure, rankings: Rankings) -> tuple[Floats, Floats, Floats | None]:
    judged = rankings.assume(0.0)
    could = None
    if is_weighted_sum(measure) or isinstance(measure, Normalised):
        weight = np.zeros(rankings.width)
        depth = measure.depth(rankings)
        weight[:depth] = measure.weights(depth)
        adds = weight * measure.worth(judged)[0]
        if is_weighted_sum(measure):
            could = weight * measure.worth(rankings.assume(1.0))[0]
    elif measure.sums_precisions:
        relevant = judged.relevant(measure.rel)[0]
        rank = np.arange(1, rankings.width + 1)
        counted = np.where(rank <= measure.depth(rankings), relevant / rank, 0.0)
        adds = relevant * np.cumsum(counted[::-1])[::-1]
    else:
        raise UsageError(f"{measure} is not a sum over documents. Use a weighted measure such as RBP, P or DCG, or AP.")
    value, total = float(measure.value(judged)[0]), float(adds.sum())
    share = adds / total if total else np.zeros(adds.shape)
    return value * share, share, could
