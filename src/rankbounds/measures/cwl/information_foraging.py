"""Information foraging: users who stop when they have found enough (C1), or when finding is too slow (C2)."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.cwl.foraging import Goal, Rate, check_odds
from rankbounds.measures.cwl.stopping_by_gain import StoppingByGain


class IFT_C1(Goal, StoppingByGain):  # noqa: N801 (the name everybody knows it by)
    """The rate at which a user meets relevant documents who is likely to stop once about T are found.

    The probability of going on is 1 - 1 / (1 + b1 e^((T - y) R1)), where y relevant documents were found. A large R1
    makes a user who stops at T; with R1 = 0 this is RBP with p = b1 / (1 + b1).

    Source: Azzopardi, Thomas and Craswell, Measuring the Utility of Search Engine Result Pages, SIGIR 2018.

    Parameters
    ----------
    T : float, default 2
        How many relevant documents the user wants.
    b1 : float, default 0.9
        The odds of going on when T are found.
    R1 : float, default 1
        How rational the user is about the goal.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.IFT_C1(T=2)).value.item(), 4)
    0.5638
    """

    T: float = 2.0
    b1: float = 0.9
    R1: float = 1.0
    rel: float = 1.0

    name = "IFT_C1"
    value_range = (0.0, 1.0)
    aliases = ("IFT-C1",)
    examples = ("IFT_C1(T=1.5)",)
    sources = ("azzopardi2018measuring",)
    always_shown = ("T", "b1", "R1")

    def check(self) -> None:
        check_odds(self, "b1", "R1")

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:  # noqa: ARG002
        return self.enough(found)

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        return self.most_with_goal(found)

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: bool) -> Floats:
        return self.most_with_goal(relevant.sum(axis=-1))[0 if relevant_beyond else 1]


class IFT_C2(Rate, StoppingByGain):  # noqa: N801 (the name everybody knows it by)
    """The rate at which a user meets relevant documents who is likely to stop when they come slower than expected.

    The probability of going on behind rank i is 1 / (1 + b2 e^((A - y/i) R2)), where y relevant documents were found.
    With R2 = 0 this is RBP with p = 1 / (1 + b2). More relevance may keep the user reading what is not: the rate may
    fall.

    Source: Azzopardi, Thomas and Craswell, SIGIR 2018.

    Parameters
    ----------
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
    >>> round(rb.evaluate(qrels, run, rb.IFT_C2()).value.item(), 4)
    0.5124
    """

    A: float = 0.2
    b2: float = 0.9
    R2: float = 1.0
    rel: float = 1.0

    name = "IFT_C2"
    value_range = (0.0, 1.0)
    aliases = ("IFT-C2",)
    examples = ("IFT_C2(A=0.4,R2=3)",)
    sources = ("azzopardi2018measuring",)
    always_shown = ("A", "b2", "R2")

    def check(self) -> None:
        check_odds(self, "b2", "R2")

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:  # noqa: ARG002
        return self.fast(rank, found)

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        most = np.full(found.shape, self.most_at_rate())
        return most, most
