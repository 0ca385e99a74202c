"""Rank-biased precision."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats, Ints, read_only
from rankbounds.errors import DataError, UsageError
from rankbounds.measures.formulas import RankWeighted
from rankbounds.measures.parameters import PERSISTENCE, POSITIVE, parameter
from rankbounds.rankings.rankings import Rankings


class RBP(RankWeighted):
    """Relevant documents per document read, for a user who continues to the next document with probability p.

    A user with p = 0.5 reads 2 documents on average, with p = 0.8 five, with p = 0.95 twenty. The value is what the
    judged documents certainly contribute. The residual printed after it (high - low) is what unjudged documents and
    everything below the end of the list could add: a run with a large residual has not been measured yet.

    RBP = (1 - p) * sum over ranks i of r_i * p^(i-1). What lies beyond depth n can add at most p^n. With
    ``graded=true``, r_i is the gain divided by the collection's largest (or by ``max_grade``); gains that all lie
    in [0, 1], from grades or a gain table, are used unchanged. ``@k`` scores the first k ranks and counts all beyond
    as unknown.

    ``by_topic=true`` divides by the largest gain of the topic, as trec_eval's rbp does: a topic without highly relevant
    documents then scores like one with. In ``high`` an unjudged document is as good as the best of its topic.

    Source: Moffat and Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS 27(1), 2008.
    """

    p: float = parameter(
        "The persistence: the probability of continuing to the next document.", PERSISTENCE, default=0.8
    )
    graded: bool = parameter("Whether gains count, or only relevance.", default=False)  # type: ignore[misc]
    max_grade: float | None = parameter(
        "What gains are divided by; None: the collection's largest.", POSITIVE, default=None
    )
    by_topic: bool = parameter("Whether gains are divided by the largest of the topic.", default=False)

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    example = ("RBP(p=0.5)", 0.625)
    examples = (
        "RBP(p=0.8)",
        "RBP(p=0.5)@3",
        "RBP(p=0.95,graded=true)",
        "RBP(p=0.9,graded=true,by_topic=true)",
        "RBP(p=0)",
    )
    sources = ("moffat2008rank",)
    always_shown = ("p",)
    trec_names = ("rbp", "rbp_{p:.2f}")
    trec_defaults: ClassVar[dict[str, str]] = {"p": "0.9", "graded": "true", "by_topic": "true"}
    has_residual = True

    def check(self) -> None:
        if self.max_grade is not None and not self.graded:
            raise UsageError("RBP: max_grade goes with graded=true.")
        if self.by_topic and (self.max_grade is not None or not self.graded):
            raise UsageError("RBP: by_topic goes with graded=true, and not with max_grade.")

    def weights(self, n: int) -> Floats:
        return falling_weights(self.p, n)

    def tail(self, depth: Ints) -> Floats:
        return self.p ** depth.astype(np.float64)

    def open_tail(self, rankings: Rankings) -> Floats:
        return super().open_tail(rankings) * self.largest_worth(rankings)

    def largest_worth(self, rankings: Rankings) -> Floats:
        if not self.graded:
            return np.ones(1)
        return np.minimum(self.largest_gain(rankings.facts) / self._scale(rankings), 1.0)

    def _scale(self, rankings: Rankings) -> Floats:
        facts = rankings.facts
        return facts.top_gain[rankings.topic] if self.by_topic else np.full(1, self.max_grade or facts.scale)

    def worth(self, rankings: Rankings) -> Floats:
        if not self.graded:
            return rankings.relevant(self.rel)
        facts = rankings.facts
        scale = self._scale(rankings)[:, None]
        least, most = (np.minimum(gain / scale, 1.0) for gain in (facts.nonrelevant_gain, self.largest_gain(facts)))
        worth = np.where(rankings.holes, least + rankings.chance * (most - least), rankings.gain() / scale)
        if self.max_grade is not None and worth.max(initial=0.0) > 1:
            raise DataError(f"{self}: a document has gain {rankings.gain().max():g}, more than max_grade.")
        return worth


@lru_cache(maxsize=128)  # (a grid of p has a hundred)
def falling_weights(p: float, n: int) -> Floats:
    return read_only((1 - p) * p ** np.arange(n))
