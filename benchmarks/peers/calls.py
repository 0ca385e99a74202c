"""Runs that are held as dicts already: prepared evaluators, one-off evaluations, and calls for a single short list.

Every call gets another run, made before the clock starts, because whoever remembers an answer need not compute it.
"""

from __future__ import annotations

import functools
import importlib.util
import random
import warnings
from collections.abc import Callable
from typing import Any

import rankbounds as rb
from peers.contenders import OURS, Contender

MEASURES = {"AP": "map", "nDCG": "ndcg", "P@10": "P_10", "RR": "recip_rank"}
"""Our names, and those of pytrec_eval."""
Nested = dict[str, dict[str, float]]


class Collection:
    """Judgments, and as many runs as wanted; a fifth of what a run retrieves is judged, all where lists are short."""

    def __init__(self, topics: int, depth: int, judged: int) -> None:
        draw = random.Random(1)
        docs = [f"FT{draw.randrange(10**9):09d}-{number % 97}" for number in range(max(20_000, 4 * judged))]
        self.depth = depth
        self.pools = {str(400 + topic): draw.sample(docs, judged + 4 * depth) for topic in range(topics)}
        self.qrels = {
            topic: {doc: int(draw.random() < 0.1) for doc in pool[:judged]} for topic, pool in self.pools.items()
        }

    def run(self, seed: int) -> Nested:
        """The topic's judged documents and others, in an order of its own."""
        draw = random.Random(seed)
        known = max(min(self.depth, 10), self.depth // 5)
        run: Nested = {}
        for topic, pool in self.pools.items():
            judged = len(self.qrels[topic])
            docs = draw.sample(pool[:judged], known) + draw.sample(pool[judged:], self.depth - known)
            draw.shuffle(docs)
            run[topic] = {doc: 30 - 0.01 * rank + draw.random() * 0.001 for rank, doc in enumerate(docs)}
        return run


def prepared_by_pytrec_eval(qrels: Nested) -> Callable[[Nested], Any]:
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values())).evaluate


def of_dicts(topics: int, depth: int, judged: int, calls: int = 1, *, prepared: bool = True) -> list[Contender]:
    """Runs as dicts of dicts, with evaluators prepared before, or prepared within the call."""
    warnings.simplefilter("ignore")
    collection = Collection(topics, depth, judged)

    @functools.lru_cache(maxsize=1)
    def given(turn: int) -> list[Nested]:
        return [collection.run(turn * calls + number) for number in range(calls)]

    def at_once(run: Nested) -> Any:
        return rb.evaluate(collection.qrels, run, list(MEASURES), bounds="none")

    def theirs_at_once(run: Nested) -> Any:
        return prepared_by_pytrec_eval(collection.qrels)(run)

    ours = rb.Evaluator(collection.qrels, list(MEASURES), bounds="none").score if prepared else at_once
    taking_part = [Contender(OURS, "prepared" if prepared else "rb.evaluate", call=ours, given=given)]
    if importlib.util.find_spec("pytrec_eval"):
        theirs = prepared_by_pytrec_eval(collection.qrels) if prepared else theirs_at_once
        taking_part.append(Contender("pytrec_eval", "prepared" if prepared else "evaluate", call=theirs, given=given))
    return taking_part
