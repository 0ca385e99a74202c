"""Information foraging: users who stop when they have found enough, or when finding is too slow, whichever is first."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.cwl.foraging import Goal, Rate, check_odds
from rankbounds.measures.cwl.stopping_by_gain import StoppingByGain


class IFT(Goal, Rate, StoppingByGain):
    """The rate at which a user meets relevant documents who stops when enough is found, or when it comes too slowly.

    The probability of going on is the product of those of IFT_C1 and IFT_C2: the user goes on who would by both.

    Source: Azzopardi, Thomas and Craswell, SIGIR 2018.

    Parameters
    ----------
    T : float, default 2
        How many relevant documents the user wants.
    b1 : float, default 0.9
        The odds of going on when T are found.
    R1 : float, default 1
        How rational the user is about the goal.
    A : float, default 0.2
        The rate of relevant documents that the user expects.
    b2 : float, default 0.9
        The odds of stopping at that rate.
    R2 : float, default 1
        How rational the user is about the rate.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.IFT()).value.item(), 4)
    0.6709
    """

    T: float = 2.0
    b1: float = 0.9
    R1: float = 1.0
    A: float = 0.2
    b2: float = 0.9
    R2: float = 1.0
    rel: float = 1.0

    name = "IFT"
    value_range = (0.0, 1.0)
    aliases = ("IFT_C1_C2", "IFT-C1-C2")
    examples = ("IFT(T=1.5,R2=3)",)
    sources = ("azzopardi2018measuring",)
    always_shown = ("T", "b1", "R1", "A", "b2", "R2")

    def check(self) -> None:
        check_odds(self, "b1", "R1")
        check_odds(self, "b2", "R2")

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:  # noqa: ARG002
        return self.enough(found) * self.fast(rank, found)

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        relevant, examined = self.most_with_goal(found)
        return np.minimum(relevant, self.most_at_rate()), np.minimum(examined, self.most_at_rate())
