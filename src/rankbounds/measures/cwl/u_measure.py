"""U-measure, whose user reads a certain amount of text."""

from __future__ import annotations

import math

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.cwl.continuation import Continuing


class UMeasure(Continuing):
    """The rate at which a user meets relevant documents whose attention falls steadily with the text read, and is
    gone after L characters.

    The weight of a document is 1 - x/L, where x is the text before it, and 0 behind L; weights are scaled to sum to 1
    (as in the C/W/L framework: the original sums without scaling, and takes x at a document's end). Judgments and runs
    say nothing of lengths: every document costs the same. With the default cost of 1, L is a number of documents.

    Source: Sakai and Dou, Summaries, Ranked Retrieval and Sessions, SIGIR 2013; scaled as in cwl_eval.

    Parameters
    ----------
    L : float, default 1000
        The text after which everybody has stopped.
    cost : float, default 1
        The text that every document adds.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.UMeasure(L=4)).value.item(), 4)
    0.6
    """

    L: float = 1000.0
    cost: float = 1.0
    rel: float = 1.0

    name = "UMeasure"
    aliases = ("U-measure", "U")
    examples = ("UMeasure(L=4)", "UMeasure(L=1000,cost=300)")
    sources = ("sakai2013summaries",)
    always_shown = ("L",)

    def check(self) -> None:
        for name in ("L", "cost"):
            if not 0 < getattr(self, name) < np.inf:
                raise UsageError(f"UMeasure: {name} must be positive, not {getattr(self, name)}.")

    def examined(self, n: int) -> Floats:
        return np.maximum(0.0, 1 - np.arange(n) * (self.cost / self.L))

    def continuation(self, n: int) -> Floats:
        weight = self.examined(n + 1)
        return np.divide(weight[1:], weight[:-1], out=np.zeros(n), where=weight[:-1] > 0)

    def expected_depth(self) -> float:
        documents = math.ceil(self.L / self.cost)
        return documents - self.cost / self.L * documents * (documents - 1) / 2
