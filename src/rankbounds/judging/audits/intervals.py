"""How far an estimate may be off: for a size fixed in advance, and at every look.

Both rest on the same two numbers: the variance of the estimate as its draws show it, and the variance of one draw
that contradicts its label. Where labels are good the first is next to nothing as long as no error was seen, and errors
may be among the documents that nobody judged: the second keeps the interval from ending before them, as the upper limit
for a count of which no case was seen does (Poisson's: minus the logarithm of what the confidence leaves on one side,
3.7 cases at 95%).

- A size fixed in advance: the root of t^2 * variance + limit^2 * unseen, with Student's or the normal quantile t.
- Every look: the boundary of Robbins' normal mixture (Annals of Mathematical Statistics 41, 1970; for estimated
  variances Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 52, 2024), with the variance of what
  was never seen as the mixture's. An interval that leaves out the truth at any look at all does so with probability
  1 - confidence.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints

STEP, STEPS = 1.05, 160
"""How finely numbers of judgments are tried, and how many."""


def half_widths(variance: Floats, unseen: Floats, critical: Floats | float) -> Floats:
    """Of intervals for a size that was fixed in advance; ``critical`` is the quantile that the confidence asks for."""
    from scipy.special import log_ndtr

    return np.sqrt(np.square(critical) * variance + np.square(log_ndtr(-np.asarray(critical))) * unseen)


def half_widths_at_any_look(variance: Floats, unseen: Floats, confidence: float) -> Floats:
    """Of intervals that hold at all looks together."""
    mixed = unseen * normal_quantile(confidence) ** 2
    finite = np.isfinite(variance + mixed)
    ratio = np.divide(variance + mixed, mixed, out=np.ones(mixed.shape), where=finite & (mixed > 0))
    return np.where(finite, np.sqrt((variance + mixed) * np.log(ratio / (1 - confidence) ** 2)), np.inf)


def judgments_until(
    half_width: Floats, variance: Floats, unseen: Floats, confidence: float, judged: int, most: Ints
) -> Ints:
    """How many judgments in all make intervals at any look this short, if they are like those so far; at most ``most``.

    A variance falls with the number of judgments, that of one error never seen with its square.
    """
    growth = STEP ** np.arange(STEPS)[:, None]
    enough = half_widths_at_any_look(variance / growth, unseen / growth**2, confidence) <= half_width
    needed = np.ceil(judged * growth[np.argmax(enough, axis=0), 0])
    return np.where(enough.any(axis=0), np.minimum(needed, most), most).astype(np.int64)


def normal_quantile(confidence: float) -> float:
    """Within how many standard deviations of its mean a normal number lies so often."""
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))
