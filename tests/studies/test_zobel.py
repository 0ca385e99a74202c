"""How often two sets of topics name different winners: replays against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import rankbounds as rb
from rankbounds.studies import swaps_by_topics
from rankbounds.studies.zobel import Falling, replay, swap_rate


class TestReplays:
    def test_counts_are_those_of_a_plain_loop(self):
        scores = np.random.default_rng(0).normal(size=(5, 14)) + np.linspace(0, 1, 5)[:, None]
        scores[4] = scores[3]  # a pair without a winner
        got = replay(scores, 6, 20, 2.0, np.random.default_rng(3))
        generator = np.random.default_rng(3)
        both = opposite = shown = contradicted = repeated = 0
        for _ in range(20):
            order = generator.permutation(14)
            for a in range(5):
                for b in range(a + 1, 5):
                    t = []
                    for part in (order[:6], order[6:12]):
                        apart = scores[a, part] - scores[b, part]
                        t.append(stats.ttest_1samp(apart, 0).statistic if apart.any() else 0.0)
                    both += t[0] * t[1] != 0
                    opposite += t[0] * t[1] < 0
                    shown += abs(t[0]) > 2
                    contradicted += abs(t[0]) > 2 and t[0] * t[1] < 0
                    repeated += abs(t[0]) > 2 and abs(t[1]) > 2 and t[0] * t[1] > 0
        assert shown
        assert got == {
            "pairs": 10,
            "swaps": pytest.approx(opposite / both),
            "significant": pytest.approx(shown / 200),
            "swaps_of_significant": pytest.approx(contradicted / shown),
            "repeated": pytest.approx(repeated / shown),
        }

    def test_the_model_is_that_of_normal_differences(self):
        generator = np.random.default_rng(1)
        true = generator.normal(0, 1, 200_000)
        for topics in (5, 40):
            one, other = (true + generator.normal(0, math.sqrt(9 / topics), true.size) for _ in range(2))
            assert swap_rate(topics, 9.0) == pytest.approx(np.mean(one * other < 0), abs=0.004)

    def test_noise_is_found_again_and_topics_needed_are_enough(self):
        sizes = np.array([5, 10, 20, 25])
        swaps = np.array([swap_rate(size, 4.0) for size in sizes])
        falling = Falling.of(sizes, swaps)
        assert falling.noise == pytest.approx(4.0)
        low, high = falling.topics_for(0.05)
        assert swap_rate(low, 4.0) <= 0.05 < swap_rate(low - 1, 4.0)
        assert falling.at(high)[1] <= 0.05 < falling.at(high - 1)[1]
        assert falling.at(25) == pytest.approx((swaps[-1], swaps[-1]))
        assert low <= high

    @pytest.mark.parametrize("swaps", [[0.0, 0.0], [0.6, 0.55], [np.nan, np.nan]])
    def test_nothing_is_extrapolated_from_nothing(self, swaps):
        falling = Falling.of(np.array([5, 6]), np.array(swaps))
        assert (falling.at(100), falling.topics_for(0.05)) == ((None, None), (None, None))

    def test_swaps_that_do_not_fall_promise_no_number_of_topics(self):
        falling = Falling.of(np.array([5, 6, 8]), np.array([0.2, 0.2, 0.2]))
        assert falling.at(100)[1] == pytest.approx(0.2)
        assert falling.topics_for(0.05)[1] is None

    def test_the_study_answers(self):
        made = rb.probability.simulate(runs=6, topics=16, documents=80, depth=30, pool_depth=30, relevant=0.3, seed=2)
        result = swaps_by_topics(made.complete, made.runs, measures=["AP", "RR"], splits=10)
        observed = [row for row in result.rows() if "swaps" in row]
        assert {row["topics"] for row in observed} == {5, 6, 7, 8}
        assert {row["topics"] for row in result.rows() if "swaps" not in row} == {16, 32, 64}
        assert all(0 <= row["swaps"] <= 1 for row in observed)
        assert result.answer.startswith("By AP, two sets of 8 topics name different winners")
        assert len(swaps_by_topics.draw(result).get_lines()) == 3

    def test_few_topics_and_equal_runs_are_told(self):
        qrels = {str(query): {"r": 1} for query in range(5)}
        run = {query: ["r"] for query in qrels}
        same = swaps_by_topics(qrels, {"a": run, "b": run}, measures=["RR"], splits=3)
        assert "the same means" in same.answer
        few = {query: {"r": 1} for query in "123"}
        with pytest.raises(rb.DataError, match="four topics or more"):
            swaps_by_topics(few, {"a": {query: ["r"] for query in few}, "b": {query: ["x"] for query in few}})
