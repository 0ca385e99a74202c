"""Success at a depth."""

from __future__ import annotations

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_products


class Success(Measure):
    """1 if at least one of the first k documents is relevant, else 0. Its mean is the share of topics served at all.

    Source: as in trec_eval (success).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.Success @ 2).value.item(), 4)
    1.0
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "Success"
    value_range = (0.0, 1.0)
    aliases = ("HitRate",)
    examples = ("Success@1", "Success@3", "Success(rel=2)@2")
    trec_names = ("success_{cutoff}",)
    needs_cutoff = True
    monotone = True
    multilinear = True
    list_only = True

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)[..., : self.depth(rankings)]
        return 1 - (1 - relevant).prod(axis=-1)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return 1 - expected_products(rankings, 1 - rankings.relevant(self.rel))[..., self.depth(rankings) - 1]
