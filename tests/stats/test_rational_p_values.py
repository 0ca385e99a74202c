"""p-values of sign and Wilcoxon tests on TREC-8 against rational arithmetic."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.evaluation.score_differences import differences, mean_difference, merge_equal
from rankbounds.stats.significance import p_values, pairs_of

# ---- against rational arithmetic ----


@functools.cache
def ways_to_reach(number):
    """Of all subsets of the ranks 1 to number, how many add up to at most 0, 1, 2, ..."""
    ways = [1]
    for rank in range(1, number + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    reached, so_far = [], 0
    for count in ways:
        so_far += count
        reached.append(so_far)
    return reached


def sign_test_of_fractions(row):
    wins, losses = sum(one > 0 for one in row), sum(one < 0 for one in row)
    games = wins + losses
    tail = sum(math.comb(games, k) for k in range(min(wins, losses) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**games)))


def wilcoxon_test_of_fractions(row):
    left = sorted((abs(one), one > 0) for one in row if one)
    number, above, below, correction = len(left), 0, 0, 0  # rank sums are doubled: the mean rank of two may be a half
    at, doubled = 0, []
    while at < number:
        end = at
        while end < number and left[end][0] == left[at][0]:
            end += 1
        doubled += [at + 1 + end] * (end - at)
        positive = sum(sign for _, sign in left[at:end])
        above += positive * (at + 1 + end)
        below += (end - at - positive) * (at + 1 + end)
        correction += (end - at) ** 3 - (end - at)
        at = end
    if not correction and number <= 50:
        tail = ways_to_reach(number)[min(above, below) // 2]
        return min(1.0, float(Fraction(2 * tail, 2**number)))
    if number <= 25:
        ways = {0: 1}  # by sum of doubled ranks that a coin picks
        for rank in doubled:
            ways = {s: ways.get(s, 0) + ways.get(s - rank, 0) for s in {*ways, *(old + rank for old in ways)}}
        tail = sum(count for reached, count in ways.items() if reached <= min(above, below))
        return min(1.0, float(Fraction(2 * tail, 2**number)))
    variance = Fraction(number * (number + 1) * (2 * number + 1), 24) - Fraction(correction, 48)
    z = Fraction(above - below, 4) / Fraction(math.sqrt(variance))
    return math.erfc(abs(float(z)) / math.sqrt(2))


@pytest.fixture(scope="module")
def trec8_scores(unpacked):
    folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
    names = ["P@5", "P@10", "RR", "RPrec", "Success@10"]
    return rb.evaluate(folder / "qrels.txt", sorted((folder / "runs").iterdir())[::3], names, bounds="none")


@pytest.mark.parametrize("name", ["P@5", "P@10", "RR", "RPrec", "Success@10"])
def test_trec8_pairs_against_rational_arithmetic(trec8_scores, name):
    """Every score is a fraction with a denominator up to 1000; its numerator over their common one is an integer."""
    at = list(map(str, trec8_scores.measures)).index(name)
    value = trec8_scores.value[:, :, at]
    fraction = {score: Fraction(score).limit_denominator(1000) for score in set(value.ravel().tolist())}
    assert max(abs(score - exact) for score, exact in fraction.items()) < 1e-15
    common = math.lcm(*(exact.denominator for exact in fraction.values()))
    rows = [[int(fraction[score] * common) for score in row] for row in value.tolist()]
    first, second = pairs_of(len(rows))
    expected = [
        (sign_test_of_fractions(row), wilcoxon_test_of_fractions(row), sum(row), sum(one > 0 for one in row))
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
        for row in [[one - other for one, other in zip(rows[a], rows[b], strict=True)]]
    ]
    assert len(expected) == 903
    sign, wilcoxon, total, wins = map(list, zip(*expected, strict=True))
    found = differences(value[first], value[second])
    np.testing.assert_array_equal((found > 0).sum(axis=-1), wins)
    np.testing.assert_allclose(p_values(found, "sign"), sign, rtol=1e-9)
    np.testing.assert_allclose(p_values(found, "wilcoxon"), wilcoxon, rtol=1e-9)
    apart = mean_difference(value[first], value[second])
    np.testing.assert_array_equal(np.sign(apart), np.sign(np.array(total, dtype=object)).astype(float))
    assert len(set(merge_equal(value.mean(axis=-1)).tolist())) == len({sum(row) for row in rows})
