"""Runs that are held as dicts already: prepared evaluators, one-off evaluations, and calls for a single short list."""

from __future__ import annotations

import importlib.util
import random
import warnings
from collections.abc import Callable
from typing import Any

import rankbounds as rb
from peers.contenders import OURS, Contender

NAMES = ["map", "ndcg", "P_10", "recip_rank"]
Evaluate = Callable[[dict[str, Any]], Any]


def collection(topics: int, depth: int, judged: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments and a run; a fifth of what is retrieved is judged, or all where lists are short."""
    draw = random.Random(1)
    docs = [f"FT{draw.randrange(10**9):09d}-{number % 97}" for number in range(max(20_000, 4 * judged))]
    qrels, run = {}, {}
    for topic in map(str, range(400, 400 + topics)):
        retrieved = draw.sample(docs, depth)
        run[topic] = {doc: 30 - 0.01 * rank + draw.random() * 0.001 for rank, doc in enumerate(retrieved)}
        both = draw.sample(retrieved, max(min(depth, 10), depth // 5))
        pool = dict.fromkeys([*both, *draw.sample(docs, judged - len(both))])
        qrels[topic] = {doc: int(draw.random() < 0.1) for doc in pool}
    return qrels, run


def prepared_by_us(qrels: dict[str, Any]) -> Evaluate:
    """What users of training loops prepare once."""
    return rb.RelevanceEvaluator(qrels, NAMES).evaluate


def prepared_by_pytrec_eval(qrels: dict[str, Any]) -> Evaluate:
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(qrels, set(NAMES)).evaluate


def of_dicts(topics: int, depth: int, judged: int, calls: int = 1, *, prepared: bool = True) -> list[Contender]:
    """A run as dicts of dicts, with evaluators prepared before, or prepared within the call."""
    warnings.simplefilter("ignore")
    qrels, run = collection(topics, depth, judged)
    ours = prepared_by_us(qrels)
    what = "prepared" if prepared else "rb.evaluate"
    if prepared:
        taking_part = [Contender(OURS, what, call=lambda: ours(run), calls=calls)]
    else:
        measures = ["AP", "nDCG", "P@10", "RR"]
        taking_part = [
            Contender(OURS, what, call=lambda: rb.evaluate(qrels, run, measures, bounds="none"), calls=calls)
        ]
    if importlib.util.find_spec("pytrec_eval"):
        theirs = prepared_by_pytrec_eval(qrels)
        call = (lambda: theirs(run)) if prepared else (lambda: prepared_by_pytrec_eval(qrels)(run))
        taking_part.append(Contender("pytrec_eval", "prepared" if prepared else "evaluate", call=call, calls=calls))
    return taking_part
