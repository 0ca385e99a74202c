"""Published scores at another persistence: laws against full enumeration and against random lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.rbp.other_persistence import compare_published, relaxed_range, transfer
from rankbounds.rbp.published_score import Published, accumulate, greedy_vectors, significant_ranks

LAW = settings(max_examples=60, deadline=None)
GAINS = {"binary": (0, 1), "thirds": (0, 1 / 3, 2 / 3, 1), "any": "any"}
LISTS = {"binary": 1, "thirds": 3, "any": 1000}
"""Of how many binary lists one with such gains is the mean."""


def plain_rbp(gains, p):
    return sum((1 - p) * gain * p**rank for rank, gain in enumerate(gains))


def random_list(rng, gains, longest=200):
    """A list of any density and order: gains, and which documents are unjudged."""
    n = int(rng.integers(1, longest))
    relevant = rng.random(n) < rng.random() ** 2
    worth = rng.random(n) if gains == "any" else rng.choice(gains[1:], n)
    found = np.where(relevant, worth, 0.0)
    order = rng.random()
    if order < 0.4:
        found = np.sort(found)[:: -1 if order < 0.2 else 1]
    unjudged = rng.random(n) < rng.random() ** 3
    return np.where(unjudged, 0.0, found), unjudged


def random_case(rng, kind):
    """A published score, and what the list behind it really scores at p', at least and at most."""
    p, to = rng.uniform(0.1, 0.99, 2)
    digits = int(rng.integers(1, 6))
    topics = int(rng.choice([1, 1, 3, 10]))
    lists = [random_list(rng, GAINS[kind]) for _ in range(topics)]
    open_ = rng.random() < 0.5

    def mean(function):
        return sum(map(function, lists)) / topics

    score = mean(lambda one: plain_rbp(one[0], p))
    residual = mean(lambda one: plain_rbp(one[1], p) + p ** len(one[1]))
    low = mean(lambda one: plain_rbp(one[0], to))
    high = low + (mean(lambda one: plain_rbp(one[1], to) + to ** len(one[1])) if open_ else 0.0)
    known = {"residual": f"{residual:.{digits}f}"} if open_ else {}
    return (f"{score:.{digits}f}", p, to), {**known, "topics": topics * LISTS[kind]}, low, high


def holds(found, low, high):
    return found.low <= low + 1e-12 and high - 1e-12 <= found.high


class TestSoundness:
    @pytest.mark.parametrize("kind", GAINS)
    def test_relaxed_range_holds_the_truth(self, kind):
        rng = np.random.default_rng(11)
        for _ in range(500):
            arguments, options, low, high = random_case(rng, kind)
            assert holds(transfer(*arguments, method="relaxed", **options), low, high), (arguments, options)

    @pytest.mark.parametrize(("kind", "cases"), [("binary", 40), ("thirds", 25)])
    def test_exact_range_holds_the_truth_and_lies_within_the_relaxed(self, kind, cases):
        rng = np.random.default_rng(12)
        for _ in range(cases):
            arguments, options, low, high = random_case(rng, kind)
            exact = transfer(*arguments, method="exact", time_limit=0.2, **options)
            relaxed = transfer(*arguments, method="relaxed", **options)
            assert holds(exact, low, high), (arguments, options)
            assert relaxed.low <= exact.low
            assert exact.high <= relaxed.high

    def test_many_lists_at_once(self):
        rng = np.random.default_rng(13)
        ranks = np.arange(300)
        for p, to in rng.uniform(0.1, 0.99, (40, 2)):
            vectors = rng.random((100, 300)) < rng.random((100, 1)) ** 2
            score, there = (vectors @ ((1 - q) * q**ranks) for q in (p, to))
            for one, truth in zip(np.round(score, 4).tolist(), there.tolist(), strict=True):
                assert holds(transfer(one, p, to, digits=4, method="relaxed"), truth, truth)

    @LAW
    @given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30), st.floats(0, 0.99), st.floats(0, 0.99))
    def test_twelve_digits(self, gains, p, to):
        found = transfer(f"{plain_rbp(gains, p):.12f}", p, to, topics=1000, method="relaxed")
        assert holds(found, plain_rbp(gains, to), plain_rbp(gains, to))

    def test_fifteen_digits_of_a_score_near_one(self):
        """All but rank 15 relevant, endlessly: at p=0.1 that weighs 10^-14, at p'=0.99 it shows."""
        missing = 0.9 * 0.1**14
        found = transfer(f"{1 - missing:.15f}", 0.1, 0.99, method="relaxed")
        assert found.low <= 1 - 0.01 * 0.99**14 <= found.high
        assert found.low < 0.2

    @pytest.mark.parametrize("p", [0.0, 0.3, 0.8])
    def test_the_ends_of_the_scale(self, p):
        assert transfer("0.0000", p, 0.5, method="relaxed").low == 0
        assert transfer("1.0000", p, 0.5, method="relaxed").high == 1
        assert transfer("0.0000", 0.5, 0.0).high < 1e-6
        assert transfer("1.0000", 0.0, 0.9, method="relaxed").low == pytest.approx(0.1, abs=1e-4)


class TestRelaxed:
    @LAW
    @given(st.floats(0.05, 0.95), st.floats(0.1, 0.95), st.floats(0.1, 0.95))
    def test_is_the_linear_program(self, score, p, to):
        """The extreme lists written out: filled from the top, and from the bottom."""
        if p == to:
            return
        weights, there = ([(1 - q) * q**rank for rank in range(2000)] for q in (p, to))
        ends = []
        for order in (range(2000), range(1999, -1, -1)):
            left, value = score, 0.0
            for rank in order:
                share = min(1.0, left / weights[rank]) if weights[rank] > 0 else 1.0
                left -= share * weights[rank]
                value += share * there[rank]
                if left <= 0:
                    break
            ends.append(value)
        # Endless lists: beyond rank 2000 is what the truncated sum lacks.
        assert relaxed_range(score, p, to) == pytest.approx((min(ends), max(ends)), abs=1e-6 + 2 * to**2000)

    def test_with_a_depth_it_is_the_linear_program_of_that_depth(self):
        from scipy.optimize import linprog

        rng = np.random.default_rng(3)
        for _ in range(30):
            p, to, depth = *rng.uniform(0.2, 0.95, 2), int(rng.integers(1, 12))
            weights, there = ((1 - q) * q ** np.arange(depth) for q in (p, to))
            score = float(rng.random() * weights.sum())
            low, high = (
                sign * linprog(sign * there, A_eq=weights[None], b_eq=[score], bounds=(0, 1)).fun for sign in (1, -1)
            )
            assert relaxed_range(score, p, to, depth) == pytest.approx((low, high), abs=1e-7)


def enumerated(score, p, to, depth, *, digits, levels=(0, 1), topics=1):
    """Least and greatest score at ``to`` over all lists, or means over lists, that print like this."""
    pairs = [(plain_rbp(one, p), plain_rbp(one, to)) for one in itertools.product(levels, repeat=depth)]
    found = []
    for chosen in itertools.combinations_with_replacement(pairs, topics):
        at_p, there = (sum(one) / topics for one in zip(*chosen, strict=True))
        if abs(at_p - score) <= 0.5 * 10**-digits:
            found.append(there)
    return min(found), max(found)


class TestExact:
    @pytest.mark.parametrize(("depth", "levels", "topics"), [(9, (0, 1), 1), (6, (0, 0.5, 1), 1), (4, (0, 1), 3)])
    def test_is_full_enumeration_on_short_lists(self, depth, levels, topics):
        rng = np.random.default_rng(depth)
        for _ in range(8):
            p, to = rng.uniform(0.3, 0.9, 2)
            lists = rng.choice(levels, (topics, depth))
            score = round(float(np.mean([plain_rbp(one, p) for one in lists])), 2)
            expected = enumerated(score, p, to, depth, digits=2, levels=levels, topics=topics)
            binary = topics * (len(levels) - 1)
            found = transfer(score, p, to, digits=2, topics=binary, depth=depth, method="exact")
            assert found.proven
            assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize(("score", "end"), [("0.2", "high"), ("0.3", "low")])
    def test_a_list_whose_score_lies_at_the_end_of_what_is_printed_alike_is_found(self, score, end):
        """At p=0.5 the only rank counts 0.5: the score is 0.25 where 50 of 100 topics have a relevant document."""
        found = transfer(score, 0.5, 0.8, depth=1, topics=100, method="exact")
        assert found.proven
        assert getattr(found, end) == pytest.approx(0.2 * 50 / 100, abs=1e-6)

    def test_with_a_residual_it_is_full_enumeration(self):
        """Relevant documents in the first five ranks, unjudged ones down to where they no longer weigh."""
        rng = np.random.default_rng(8)
        p, to, depth, below = 0.4, 0.3, 5, 6
        ranks = np.arange(depth + below)
        lists = np.array([*itertools.product((0, 1, 2), repeat=depth)])
        holes_below = np.array([*itertools.product((0, 2), repeat=below)])
        lists = np.hstack([np.repeat(lists, len(holes_below), axis=0), np.tile(holes_below, (len(lists), 1))])
        at_p, there = (((lists == 1) @ ((1 - q) * q**ranks), (lists == 2) @ ((1 - q) * q**ranks)) for q in (p, to))
        for at in rng.integers(len(lists), size=10):
            score, residual = (round(float(one[at]), 1) for one in at_p)
            same = (abs(at_p[0] - score) <= 0.05) & (abs(at_p[1] - residual) <= 0.05)
            low, high = there[0][same].min(), (there[0] + there[1])[same].max()
            found = transfer(score, p, to, residual=residual, digits=1, depth=depth, method="exact")
            assert (found.low, found.high) == pytest.approx((low, high), abs=1e-5)
            assert found.low <= low
            assert high <= found.high

    def test_more_topics_widen_it_towards_the_relaxed_range(self):
        found = [transfer("0.4321", 0.9, 0.7, topics=topics, method="exact") for topics in (1, 2, 10, 100)]
        relaxed = transfer("0.4321", 0.9, 0.7, method="relaxed")
        *widths, widest = (one.high - one.low for one in (*found, relaxed))
        assert widths[0] < widths[1] < widths[2] < widths[3] < widest
        assert widest - widths[3] < 0.02 * (widest - widths[0])

    def test_a_time_limit_leaves_a_range_that_holds(self):
        rushed = transfer("0.3111", 0.95, 0.99, residual="0.0512", topics=3, time_limit=1e-3, method="exact")
        relaxed = transfer("0.3111", 0.95, 0.99, residual="0.0512", topics=3, method="relaxed")
        assert not rushed.proven
        assert relaxed.low <= rushed.low
        assert rushed.high <= relaxed.high

    def test_ranks_below_the_last_whole_one_still_count(self, monkeypatch):
        """With few ranks as whole numbers, a list that is relevant only below them must stay possible."""
        from rankbounds.rbp import integer_program

        monkeypatch.setattr(integer_program, "FINER", 0.02)
        score, truth = (q**10 for q in (0.8, 0.5))
        for known in ({}, {"residual": "0.00"}):
            assert transfer(f"{score:.2f}", 0.8, 0.5, method="exact", **known).low <= truth
        # Ten relevant documents, and everything below them unjudged.
        unjudged_below = transfer(f"{1 - score:.2f}", 0.8, 0.5, residual=f"{score:.2f}", method="exact")
        assert unjudged_below.low <= 1 - truth < 1 <= unjudged_below.high

    def test_too_many_ranks_for_the_solver_leave_the_relaxed_range(self):
        found, relaxed = (transfer("0.4321", 0.9999, 0.999, method=method) for method in ("exact", "relaxed"))
        assert (found.low, found.high, found.proven) == (relaxed.low, relaxed.high, False)

    def test_at_a_high_persistence(self):
        found = transfer("0.4321", 0.95, 0.8)
        assert (found.method, found.proven) == ("exact", True)
        assert (found.low, found.high) == pytest.approx((0.028082, 0.914101), abs=2e-6)

    def test_combinations_of_score_and_residual_that_no_list_has(self):
        """Of the ranks below a relevant document at p=0.3, the first adds 0.21 and all others together 0.09."""
        assert transfer("0.7500", 0.5, 0.8, residual="0.2500").proven
        with pytest.raises(rb.DataError, match="No list has the score"):
            transfer("0.700000", 0.3, 0.8, residual="0.150000")


class TestGreedy:
    def test_are_the_first_and_the_last_of_all_vectors(self):
        for p, score in itertools.product((0.5, 0.6, 0.7), (0.1, 0.43, 0.52, 0.77)):
            n = significant_ranks(p, 0.02)
            every = itertools.product((1.0, 0.0), repeat=n)
            fitting = [vector for vector in every if -1e-9 <= score - plain_rbp(vector, p) <= p**n + 1e-9]
            vectors = greedy_vectors(score, p, precision=0.02)
            assert [tuple(vectors.greatest), tuple(vectors.least)] == [fitting[0], fitting[-1]]

    def test_vectors_score_as_published(self):
        rng = np.random.default_rng(2)
        for p in rng.uniform(0.5, 0.97, 15):
            scores = rng.random(50).round(4)
            vectors = greedy_vectors(scores, p)
            n = significant_ranks(p)
            assert vectors.greatest.shape == (50, n)
            for found in (vectors.greatest, vectors.least):
                assert (accumulate(found, p) <= scores + 1e-9).all()
                assert (accumulate(found, p) >= scores - p**n - 1e-9).all()
            different = (vectors.greatest != vectors.least).any(axis=-1)
            assert (vectors.choices_greatest.any(axis=-1) | ~different).all()

    def test_is_within_the_relaxed_range(self):
        rng = np.random.default_rng(4)
        for _ in range(60):
            p, to = rng.uniform(0.5, 0.97, 2)
            for score in rng.random(5).round(3).tolist():
                greedy, relaxed = (transfer(score, p, to, digits=3, method=method) for method in ("greedy", "relaxed"))
                assert relaxed.low <= greedy.low + 1e-9
                assert greedy.high <= relaxed.high + 1e-9

    def test_is_within_the_exact_range(self):
        rng = np.random.default_rng(6)
        for _ in range(10):
            p, to, score = *rng.uniform(0.5, 0.9, 2), round(rng.random(), 3)
            greedy, exact = (transfer(score, p, to, digits=3, method=method) for method in ("greedy", "exact"))
            assert exact.low <= greedy.low + 1e-6
            assert greedy.high <= exact.high + 1e-6

    def test_unjudged_ranks_make_up_the_residual(self):
        vectors = greedy_vectors([0.4, 0.3, 0.25], 0.8, residual=[0.15, 0.02, 0.3])
        for vector, unjudged in (
            (vectors.greatest, vectors.unjudged_greatest),
            (vectors.least, vectors.unjudged_least),
        ):
            assert not (unjudged & (vector == 1)).any()
            assert accumulate(unjudged, 0.8) == pytest.approx([0.15, 0.02, 0.3], abs=1e-3)
        early, late = (np.argmax(one, axis=-1) for one in (vectors.unjudged_greatest, vectors.unjudged_least))
        assert (early <= late).all()

    def test_first_document(self):
        vectors = greedy_vectors([0.19, 0.5, 0.81], 0.8)
        assert vectors.choices_greatest[:, 0].tolist() == [False, True, False]
        assert vectors.greatest[:, 0].tolist() == [0, 1, 1]
        assert vectors.least[:, 0].tolist() == [0, 0, 1]
        with pytest.raises(rb.DataError, match="cannot occur"):
            greedy_vectors(0.5, 0.2)

    def test_rounded_scores_below_one_half(self):
        """The printed score itself lies in a gap; the one that rounds to it does not."""
        true = [1, 0, 1, 1, 0, 1]
        vectors = greedy_vectors(round(plain_rbp(true, 0.3), 3), 0.3, precision=1e-3)
        assert vectors.greatest[:6].tolist() == true


class TestPublished:
    @pytest.mark.parametrize(
        ("score", "digits", "low", "high"),
        [
            ("0.4320", None, 0.43195, 0.43205),
            (0.432, None, 0.4315, 0.4325),
            (0.432, 4, 0.43195, 0.43205),
            ("1", 2, 0.995, 1),
        ],
    )
    def test_stands_for_all_that_rounds_to_it(self, score, digits, low, high):
        found = Published(score, 0.8, digits=digits).score_range
        assert [float(end) for end in found] == pytest.approx([low, high], abs=1e-9)

    @pytest.mark.parametrize("p", [0.1, 0.2, 0.3, 0.45])
    def test_scores_that_occur_are_never_denied(self, p):
        rng = np.random.default_rng(1)
        for topics, levels in ((1, (0, 1)), (3, (0, 1)), (1, (0, 0.5, 1))):
            for _ in range(60):
                gains = rng.choice(levels, (topics, 30))
                binary = topics * (len(levels) - 1)
                Published(f"{np.mean([plain_rbp(one, p) for one in gains]):.4f}", p, topics=binary)

    def test_gaps(self):
        for score, options in (("0.5", {}), ("0.30", {}), ("0.3", {"topics": 2}), ("0.1", {"p": 0.05})):
            with pytest.raises(rb.DataError, match="cannot occur"):
                Published(score, **{"p": 0.2, "digits": 4} | options)
        assert Published("0.5", 0.2, topics=2).topics == 2

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ({"score": "high"}, "must be a number"),
            ({"score": 1.2}, "between 0 and 1"),
            ({"p": 1.0}, "below 1"),
            ({"topics": 0}, "topics"),
            ({"depth": 0}, "depth"),
            ({"digits": 0}, "digits"),
            ({"residual": "0.9"}, "more than 1"),
            ({"depth": 1, "score": 0.9}, "is the depth right"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, arguments, told):
        with pytest.raises(rb.RankboundsError, match=told):
            Published(**{"score": "0.4321", "p": 0.8} | arguments)

    def test_per_topic_scores_narrow_the_range_of_a_mean(self):
        rng = np.random.default_rng(9)
        scores = rng.random(50).round(4)
        alone = transfer(f"{scores.mean():.4f}", 0.9, 0.7, topics=50, method="relaxed")
        each = [transfer(score, 0.9, 0.7, digits=4, method="relaxed") for score in scores.tolist()]
        assert alone.low <= np.mean([one.low for one in each])
        assert np.mean([one.high for one in each]) <= alone.high
        assert np.mean([one.high - one.low for one in each]) < 0.8 * (alone.high - alone.low)


class TestComparison:
    def test_verdicts(self):
        good, bad = Published("0.9000", 0.95), Published("0.2000", 0.8)
        assert compare_published(good, bad).verdict == "A"
        assert compare_published(bad, good).verdict == "B"
        assert compare_published(good, bad).advice == ()
        assert [meeting.p for meeting in compare_published(good, bad, to=0.9).meetings] == [0.9, 0.8, 0.95]

    def test_overlap_is_undecided_and_says_what_would_decide(self):
        found = compare_published(
            Published("0.4321", 0.95, residual="0.0200", topics=50),
            Published("0.4100", 0.8, topics=50),
            method="relaxed",
        )
        assert found.verdict == "undecided"
        told = " ".join(found.advice)
        for word in ("single topics", "score of A at p=0.8"):
            assert word in told

    def test_six_steps_of_the_paper(self):
        """The score at the higher p moves to the lower one, and R_L or R_G decide."""
        b = Published("0.8000", 0.95)
        vectors = greedy_vectors(0.8, 0.95)
        low, high = (float(accumulate(vector, 0.8)) for vector in (vectors.least, vectors.greatest))
        for score, verdict in ((low - 0.001, "B"), (low + 0.001, "undecided"), (high + 0.0001, "A")):
            a = Published(f"{min(score, 1):.5f}", 0.8)
            assert compare_published(a, b, method="greedy").verdict == (verdict if score <= 1 else "undecided")
