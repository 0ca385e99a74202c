"""The lead of the best run, corrected for its having been picked because it led.

Given that the run was picked, its lead follows a distribution truncated where another run would have been picked. The
corrected lead is the true lead for which the observed one is the median, and the interval has those for which it is not
in the tails; both are searched within intervals that hold for all comparisons at once (the hybrid of the source). For
the lead over the second run, which was picked too, the plain t interval covers, and the corrected lead is halfway
between lead and median (``benchmarks/winners.py``). The t distribution with topics - 1 degrees replaces the normal one.

Source: Andrews, Kitagawa and McCloskey, Inference on Winners, Quarterly Journal of Economics 139, 2024.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.score_differences import merge_equal

OF_ALPHA = 0.1
"""The share of alpha that goes to the interval for all comparisons at once, as in the source."""
OF_POINT = 0.25
"""The level of that interval where the corrected lead is searched. Smaller ones correct too much on average, larger
ones too little (``benchmarks/winners.py``)."""
STEPS = 60
"""Of bisection: more than doubles have digits for."""
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Lead:
    """The lead of the best run over another, by their positions among the runs; NaN: nothing varies."""

    run: int
    against: int
    lead: float
    corrected_lead: float = np.nan
    ci_low: float = np.nan
    ci_high: float = np.nan

    def beyond_zero(self) -> Lead:
        low, high = (max(self.ci_low, 0.0), self.ci_high) if self.lead > 0 else (self.ci_low, min(self.ci_high, 0.0))
        return replace(self, corrected_lead=float(np.clip(self.corrected_lead, low, high)), ci_low=low, ci_high=high)


def lead_over_baseline(merits: Floats, baseline: int, confidence: float = 0.95) -> Lead:
    """Compute the lead of the best of all other runs over the baseline, from runs x topics where more is better."""
    from scipy.special import stdtrit

    means = merge_equal(merits.mean(axis=-1))
    others = np.flatnonzero(np.arange(means.size) != baseline)
    best = int(others[np.argmax(means[others])])
    rivals = others[others != best]
    race = _Race.of(merits, best, baseline, np.full(rivals.size, best), rivals)
    if race is None:
        return Lead(best, baseline, float(means[best] - means[baseline]))
    alpha = 1 - confidence
    tails = OF_ALPHA * alpha
    left = (alpha - tails) / (1 - tails)
    near, far = (float(stdtrit(race.degrees, 1 - level / (2 * others.size))) for level in (OF_POINT, tails))
    low, high = (race.true_lead(share, far) for share in (1 - left / 2, left / 2))
    corrected = min(max(race.true_lead(0.5, near), low), high)
    return Lead(best, baseline, race.error * race.lead, corrected, low, high)


def lead_over_second(merits: Floats, confidence: float = 0.95) -> Lead:
    """Compute the lead of the best run over the second, from runs x topics where more is better."""
    from scipy.special import stdtrit

    means = merge_equal(merits.mean(axis=-1))
    best, second, *rest = np.argsort(-means, kind="stable").tolist()
    race = _Race.of(merits, best, second, np.array([best] + [second] * len(rest)), np.array([second, *rest]))
    if race is None:
        return Lead(best, second, float(means[best] - means[second]))
    reach = float(stdtrit(race.degrees, (1 + confidence) / 2))
    lead, half = race.error * race.lead, race.error * reach
    if means[best] == means[second]:  # neither was picked before the other
        return Lead(best, second, 0.0, 0.0, -half, half)
    corrected = (lead + min(race.true_lead(0.5, reach), lead)) / 2
    return Lead(best, second, lead, corrected, lead - half, lead + half)


@dataclass(frozen=True)
class _Race:
    """A lead in standard errors, and the range of leads with the same runs picked."""

    lead: float
    error: float
    lowest: float
    highest: float
    degrees: int

    @staticmethod
    def of(merits: Floats, run: int, against: int, ahead: Ints, behind: Ints) -> _Race | None:
        """Return the race in which each run of ``ahead`` led that of ``behind``; None if the lead never varies."""
        apart, degrees = merits[run] - merits[against], merits.shape[-1] - 1
        centred = apart - apart.mean()
        squares = float(centred @ centred)
        if degrees < 1 or not squares > NEGLIGIBLE**2 * float(apart @ apart):
            return None
        # Of what else was observed nothing moves with the lead but by its covariance: a gap between two runs is what it
        # is, moved by its slope times the difference of another lead from this one. No gap may fall below 0.
        # Of scores in steps, as precisions are, means in a tie are half a step of a mean from another order.
        steps = np.diff(np.unique(np.round(merits, 12)))
        half = float(np.min(steps, initial=np.inf)) / (degrees + 1) / 2 if steps.size else 0.0
        gaps = merits[ahead] - merits[behind]
        slope = gaps @ centred / squares
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = apart.mean() - (gaps.mean(axis=-1) + half) / slope
        error = np.sqrt(squares / degrees / (degrees + 1))
        return _Race(
            float(apart.mean() / error),
            float(error),
            float(np.max(cut[slope > NEGLIGIBLE], initial=-np.inf) / error),
            float(np.min(cut[slope < -NEGLIGIBLE], initial=np.inf) / error),
            degrees,
        )

    def below(self, truth: float, reach: float) -> float:
        from scipy.special import stdtr

        low, at, high = max(self.lowest - truth, -reach), self.lead - truth, min(self.highest - truth, reach)
        mirrored = low > 0  # in the upper tail digits are lost
        start, here, end = stdtr(self.degrees, [-high, -at, -low] if mirrored else [low, at, high])
        share = float((here - start) / (end - start)) if end > start else float(not mirrored)
        return 1 - share if mirrored else share

    def true_lead(self, share: float, reach: float) -> float:
        """Return the true lead with such a share of leads below the observed one, in units of the scores."""
        low, high = self.lead - reach, self.lead + reach
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.below(middle, reach) > share else (low, middle)
        return self.error * (low + high) / 2
