"""One family of tests: p, intervals, letters, places, verdicts and the gate cannot contradict each other."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import rankbounds as rb
from array_scores import scores_of
from rankbounds.comparison.pairs import carrying
from rankbounds.evaluation.clusters import resolve_clusters
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.significance import TESTS

OF_P_VALUES = [name for name, correction in CORRECTIONS.items() if correction.of_ranked is not None]


def random_scores(seed, systems=6, topics=15, far=False, decimals=None):
    """Systems that differ a little over topics that differ much; perhaps one that is far off."""
    rng = np.random.default_rng(seed)
    easy, ability = rng.uniform(0.2, 0.8, topics), rng.normal(0, 0.06, (systems, 1))
    value = np.clip(easy + ability + rng.normal(0, 0.08, (systems, topics)), 0, 1)
    if far:
        value[-1] = 0.0
    value = value if decimals is None else value.round(decimals)
    return made(value)


def made(value, ids=None):
    """Scores of runs called 0, 1, ... by P@10."""
    given = scores_of(value[..., None], measures=("P@10",))
    names = [str(number) for number in range(len(value))]
    return rb.Scores(names, ids or given.query_ids, given.measures, given.value, given.low, given.high, given.judged)


def answers(compared):
    """By pair of names, the row of the first against the second."""
    return {(row["run"], row["against"]): row for row in compared.pairs.rows()}


def check_consistent(compared):
    """Letters, places, verdicts and raised numbers say what corrected p-values say."""
    alpha, runs = compared.settings["alpha"], compared.runs
    for part in compared.parts:
        rows = {row["run"]: row for row in part.numbers.system_rows}
        better = {run: set() for run in runs}
        for (run, against), row in answers(part).items():
            shown = row["p_adjusted"] < alpha and row["difference"] != 0
            if compared.settings["test"] == "sign":
                shown &= (row["won"] - row["lost"]) * row["difference"] > 0
            elif compared.settings["test"] == "wilcoxon":
                shown = row["verdict"] != "no difference shown" if shown else False
            assert (row["verdict"] == "no difference shown") != shown
            assert row["p_adjusted"] >= row["p_value"]
            if rows[run]["group"] is not None:
                one, other = (set(re.findall(r"\(\w+\)|\w", rows[name]["group"])) for name in (run, against))
                assert bool(one & other) != shown
            if shown:
                winner, loser = (run, against) if row["verdict"].startswith("better") else (against, run)
                better[loser].add(winner)
        for run in runs:
            worse = sum(run in winners for winners in better.values())
            assert (rows[run]["rank_low"], rows[run]["rank_high"]) == (1 + len(better[run]), len(runs) - worse)
            assert rows[run]["rank_low"] <= rows[run]["rank"] <= rows[run]["rank_high"]
            if better[run]:
                assert rows[run]["rank_low"] > 1  # what is significantly worse than another cannot be first


def small_scores(seed):
    """Few topics and runs: equal scores, constant differences, copies, runs far off, and clusters of any sizes."""
    rng = np.random.default_rng(seed)
    systems, topics, kind = rng.integers(2, 7), rng.integers(2, 13), rng.integers(0, 6)
    value = rng.uniform(0.2, 0.8, topics) + rng.normal(0, 0.1, (systems, 1)) + rng.normal(0, 0.1, (systems, topics))
    value = np.clip(value, 0, 1)
    value = [value, value.round(1), (value > 0.5) * 1.0][kind % 3]
    if kind == 3:
        value[-1] = 0.0
    elif kind == 4:
        value[0] = np.clip(value[1] + 0.1, 0, 1)
    elif kind == 5:
        value[rng.integers(systems)] = value[rng.integers(systems)]
    scores, how = made(value), {}
    if rng.random() < 0.4:
        number = np.r_[0, 1, rng.integers(0, rng.integers(2, topics + 1), topics - 2)]
        how["clusters"] = {query: str(at) for query, at in zip(scores.query_ids, number.tolist(), strict=True)}
    if rng.random() < 0.5:
        how["baseline"] = scores.runs[rng.integers(systems)]
    return scores, how


def check_winner(compared):
    """The best run is the leaderboard's, its interval ends where the corrected p shows a sign, and words reconcile."""
    leaders = [row["run"] for row in compared.leaderboard(compared.measures[0])]
    found = compared.winner()
    sentences = found.said.splitlines()
    for row, sentence in zip(found.rows(), sentences, strict=True):
        means = {one["run"]: one["mean"] for one in compared.numbers.system_rows}
        assert row["lead"] == pytest.approx(means[row["run"]] - means[row["against"]], abs=1e-12)
        if row["against"] != compared.settings["baseline"]:
            assert [row["run"], row["against"]] == leaders[:2] or row["lead"] <= 0
        if row["ci_low"] is not None:
            assert row["ci_low"] <= row["corrected_lead"] <= row["ci_high"]
            if row["p_adjusted"] is not None:
                shown = row["p_adjusted"] < 0.05
                assert not shown or row["ci_low"] >= 0 or row["ci_high"] <= 0
                assert ("no difference is shown" in sentence) == (not shown)


def check_gate(compared):
    """Losses, gains and differences are those of the table; only a margin that is ruled out lets a loss pass."""
    rows = {run: row for (run, _), row in answers(compared).items()}
    for relation, margin in itertools.product(("worse", "different"), (0.0, 0.02, 0.05, 0.2)):
        for outcome in compared.gate(f"P@10 {relation}", margin=margin).outcomes:
            row = rows[outcome.run]
            verdict = row["verdict"].split(" as judged")[0]
            shown = verdict == "worse" or (relation == "different" and verdict == "better")
            passes = row["won"] == row["lost"] == 0 or (relation == "worse" and verdict == "better")
            if margin:
                room = margin + (row["difference"] if relation == "worse" else -abs(row["difference"]))
                passes |= outcome.p_pass < compared.settings["alpha"] and room > 0
            assert outcome.p_fail == row["p_adjusted"]
            assert (outcome.p_pass is None) == (margin == 0)
            assert outcome.answer == ("pass" if passes else "fail" if shown else "undecided")
            if verdict != "no difference shown":
                assert (
                    f"{outcome.run} is {verdict} than {outcome.baseline} by {abs(row['difference']):.4f} in P@10 ("
                    in outcome.why
                )


class TestConsistency:
    @given(st.integers(0, 10_000), st.sampled_from(["holm", "bonferroni"]), st.booleans())
    @settings(max_examples=40)
    def test_random_data(self, seed, correction, rounded):
        scores = random_scores(seed, far=seed % 3 == 0, decimals=1 if rounded else None)
        check_consistent(rb.compare(scores, correction=correction))

    @given(st.integers(0, 100_000), st.sampled_from(["auto", "bonferroni"]), st.sampled_from(list(TESTS)))
    @settings(max_examples=60, deadline=None)
    def test_few_topics(self, seed, correction, test):
        scores, how = small_scores(seed)
        compared = rb.compare(scores, **how, correction=correction, test=test, resamples=100)
        if "baseline" not in how:
            check_consistent(compared)
        if len(scores.runs) > 2 and test == "t":
            check_winner(compared)
        if "baseline" in how and TESTS[test].of_mean:
            check_gate(compared)
        for row in compared.pairs.rows():
            said, shown = compared.words(pair=(row["run"], row["against"])), row["verdict"] != "no difference shown"
            assert ("Probably not" in said) == shown
            assert ("both score the same on every topic" in said) == (row["won"] == row["lost"] == 0)
            assert 0 < row["p_value"] <= row["p_adjusted"] <= 1
            if row["ci_low"] is None:
                differing = compared.numbers.row("P@10", (row["run"], row["against"]))["differing"]
                # All topics (or what clusters sum up to) differ by the same, or too few differ.
                one, other = (scores.value[scores.runs.index(row[side]), :, 0] for side in ("run", "against"))
                assert np.ptp(one - other) < 1e-9 or abs(row["effect"]) in (0.0, np.inf) or differing <= 5
                assert TESTS[test].of_mean <= (not shown or differing > 5)
            else:
                assert -1 <= row["ci_low"] < row["ci_high"] <= 1
                if test == "t":
                    assert (row["ci_low"] > 0 or row["ci_high"] < 0) == (row["p_value"] < 0.05)

    @pytest.mark.parametrize("test", ["sign", "wilcoxon"])
    def test_a_test_that_favours_the_worse_mean_shows_nothing(self, test):
        value = np.full((3, 40), 0.5)
        value[1, :39] += np.linspace(0.001, 0.02, 39)
        value[1, 39] = 0.0
        value[2] -= np.linspace(0.1, 0.3, 40)
        compared = rb.compare(made(value), test=test)
        check_consistent(compared)
        row = answers(compared)["0", "1"]
        assert row["p_adjusted"] < 0.001
        assert row["verdict"] == "no difference shown"
        assert "favours the run with the worse mean" in compared.words(pair=("0", "1"))
        assert "no difference is shown" in compared.words(pair=("1", "0"))
        outcome = rb.compare(made(value[:2]), test=test).gate("P@10 worse").outcomes[0]
        assert (outcome.answer, "favours the run with the worse mean" in outcome.why) == ("undecided", True)

    @pytest.mark.parametrize("test", list(TESTS))
    @pytest.mark.parametrize("correction", ["auto", "tukey", "max-t"])
    def test_other_tests(self, test, correction):
        check_consistent(rb.compare(random_scores(3, far=True), test=test, correction=correction, resamples=300))

    @pytest.mark.parametrize(("archive", "folder"), [("trec8-adhoc", "runs"), ("trec-covid-r5-top100", "runs-top100")])
    def test_real_runs(self, unpacked, archive, folder):
        data = next(unpacked(f"{archive}.tar.xz").iterdir())
        scores = rb.evaluate(data / "qrels.txt", data / folder, "AP", bounds="none")
        check_consistent(rb.compare(scores))

    @given(st.integers(0, 10_000))
    @settings(max_examples=30)
    def test_the_gate_follows_the_table(self, seed):
        check_gate(rb.compare(random_scores(seed, decimals=seed % 4), baseline="0"))

    @pytest.mark.parametrize(
        ("correction", "alternative"),
        [
            *itertools.product(["holm", "bh", "none"], ["two-sided", "greater", "less"]),
            ("max-t", "two-sided"),
        ],
    )
    @pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
    def test_the_gate_follows_tables_of_other_tests(self, test, correction, alternative):
        how = {"test": test, "correction": correction, "alternative": alternative, "resamples": 300}
        for seed in range(4):
            check_gate(rb.compare(random_scores(seed), baseline="0", **how))


class TestLaws:
    @given(st.integers(0, 10_000), st.sampled_from(OF_P_VALUES))
    @settings(max_examples=40)
    def test_a_run_that_is_far_off_costs_no_more_than_its_pairs(self, seed, correction):
        scores = random_scores(seed, systems=7, far=True)
        without = rb.compare(scores.run(*scores.runs[:-1]), correction=correction)
        found, growth = answers(rb.compare(scores, correction=correction)), 21 / 15
        alone = answers(without)
        least_clear = max(row["p_value"] for pair, row in found.items() if pair not in alone)
        for pair, row in alone.items():
            assert found[pair]["p_value"] == row["p_value"]
            # Holm's later steps count the new pairs that are less clear than this one.
            if correction != "holm" or row["p_value"] >= least_clear:
                assert found[pair]["p_adjusted"] <= min(1.0, growth * row["p_adjusted"]) + 1e-12
            assert found[pair]["p_adjusted"] <= min(1.0, 21 * max(row["p_value"], least_clear)) + 1e-12

    @given(st.integers(0, 10_000))
    @settings(max_examples=20)
    def test_interval_and_p_agree(self, seed):
        for row in rb.compare(random_scores(seed, decimals=seed % 3), confidence=0.9).pairs.rows():
            if row["ci_low"] is None:
                assert row["p_value"] > 0
            else:
                assert (row["ci_low"] > 0 or row["ci_high"] < 0) == (row["p_value"] < 0.1)

    @pytest.mark.parametrize("test", [name for name in TESTS if TESTS[name].of_mean])
    @pytest.mark.parametrize("topics", [2, 3, 4, 5, 8])
    def test_no_mean_is_surer_than_signs(self, test, topics):
        """Nearly equal differences, and equal ones: up to five topics show nothing, and every answer says so."""
        value = np.zeros((3, topics))
        value[1], value[2] = 0.3, np.linspace(0.299, 0.2999, topics)
        compared = rb.compare(made(value), test=test, resamples=999)
        check_consistent(compared)
        means = {row["run"]: row["mean"] for row in compared.systems.rows()}
        for (run, against), row in answers(compared).items():
            assert row["p_value"] >= 2 * 0.5**topics - 1e-15
            assert (row["ci_low"] is None) or topics > 5
            assert row["verdict"].startswith("better") == (topics > 5)
            assert means[run] > means[against]
        two = rb.compare(made(value[[0, 2]]), test=test, margin=0.5, resamples=999)
        outcome = two.gate("P@10 different", margin=0.5).outcomes[0]
        if topics > 5:
            assert outcome.answer == "pass"
            assert two.pairs.rows()[0]["verdict"] == "better as judged"
            return
        words = two.words()
        assert f"No. With {topics} topics, no p can be below 0.05 by the {test} test" in words
        assert f"no interval, since only {topics} of {topics} topics differ" in words
        assert outcome.answer == ("pass" if topics == 5 else "undecided")
        assert two.gate("P@10 worse").outcomes[0].answer == "undecided"
        because = f"since {topics} of {topics} topics differ, and ruling out a margin takes at least 5"
        assert (because in outcome.why, because in words) == (topics < 5, topics < 5)

    def test_topics_that_do_not_differ_have_no_sign(self):
        """Five of fifty that differ show no more than five of five; six of fifty are enough."""
        for differing, shown in ((5, False), (6, True)):
            value = np.zeros((2, 50))
            value[1, :differing] = 0.3
            (row,) = rb.compare(made(value)).pairs.rows()
            assert row["p_value"] == pytest.approx(2 * 0.5**differing if not shown else 0.03125)
            assert (row["verdict"] == "better as judged", row["ci_low"] is not None) == (shown, shown)
            (less,) = rb.compare(made(value), confidence=0.9).pairs.rows()
            assert less["ci_low"] > 0

    @given(st.permutations(range(5)), st.integers(0, 100))
    @settings(max_examples=20)
    def test_the_order_of_runs_does_not_matter(self, order, seed):
        scores = random_scores(seed, systems=5)
        names = [scores.runs[at] for at in order]
        one, other = rb.compare(scores), rb.compare(scores.run(*names))
        for pair, row in answers(one).items():
            assert answers(other)[pair] == pytest.approx(row)
        same = ("group", "rank", "rank_low", "rank_high")
        by_name = [{row["run"]: [row[name] for name in same] for row in each.systems.rows()} for each in (one, other)]
        assert by_name[0] == by_name[1]

    @given(st.integers(0, 10_000))
    def test_swapped_runs_are_mirrored(self, seed):
        scores = random_scores(seed, systems=2)
        (one,) = rb.compare(scores).pairs.rows()
        (other,) = rb.compare(scores.run("1", "0")).pairs.rows()
        assert other["difference"] == -one["difference"]
        assert (other["ci_low"], other["ci_high"]) == (-one["ci_high"], -one["ci_low"])
        assert other["p_value"] == one["p_value"]


def test_a_clear_pair_is_not_hidden_by_a_bad_run():
    """What shuffles over all systems lose, since the bad run widens everybody's null."""
    rng = np.random.default_rng(5)
    easy = rng.uniform(0.5, 0.9, 40)
    value = np.stack([easy, easy + rng.normal(0.05, 0.06, 40), easy + rng.normal(0, 0.06, 40), np.zeros(40)])
    scores = made(np.clip(value, 0, 1))
    pair = ("1", "0")
    holm, tukey = (rb.compare(scores, correction=name, resamples=1000) for name in ("holm", "tukey"))
    assert answers(holm)[pair]["p_adjusted"] < 0.01
    assert answers(tukey)[pair]["p_adjusted"] > 0.2


@pytest.mark.parametrize("seed", range(5))
def test_few_topics_that_carry_a_difference_are_counted(seed):
    row = np.random.default_rng(seed).normal(size=12) ** 3
    size, held, count = sorted(map(abs, row), reverse=True), 0.0, 0
    while held < sum(size) / 2:
        held, count = held + size[count], count + 1
    assert carrying(row[None])[0] == count


def test_few_topics_that_carry_a_difference_are_told():
    rare = np.zeros((2, 40, 1))
    rare[1, :8] = 1.0
    (told,) = [one for one in rb.compare(scores_of(rare, measures=("P@10",))).sentences() if "says little about" in one]
    assert told.startswith("Only 8 of 40 topics differ")


class TestClusters:
    IDS = tuple(f"{need}_{turn}" for need in range(8) for turn in range(1 + need % 3))

    def scores(self, seed=0, runs=3):
        rng = np.random.default_rng(seed)
        need = np.array([int(query.split("_")[0]) for query in self.IDS])
        value = 0.5 + rng.normal(0, 0.1, (runs, 8))[:, need] + rng.normal(0, 0.02, (runs, len(self.IDS)))
        return made(np.clip(value, 0, 1), list(self.IDS))

    @property
    def clusters(self):
        return {query: query.split("_")[0] for query in self.IDS}

    def test_every_number_is_that_of_the_clusters_sums(self):
        scores = self.scores()
        compared = rb.compare(scores, clusters=self.clusters)
        assert (compared.settings["topics"], compared.settings["clusters"]) == (len(self.IDS), 8)
        number = np.array([int(query.split("_")[0]) for query in self.IDS])
        value = scores.value[..., 0]
        for row in compared.pairs.rows():
            apart = value[int(row["run"])] - value[int(row["against"])]
            sums = np.array([apart[number == at].sum() for at in range(8)]) * 8 / len(self.IDS)
            expected = stats.ttest_1samp(sums, 0)
            assert row["p_value"] == pytest.approx(max(expected.pvalue, 2 * 0.5**8))
            sizes = np.bincount(number) * 8 / len(self.IDS)
            level = stats.t.ppf(0.975, 7)  # the interval ends where a test of that difference in every topic does

            def beyond(d, side, sums=sums, sizes=sizes, level=level):
                return stats.ttest_1samp(sums - d * sizes, 0).statistic - side * level

            ends = [optimize.brentq(beyond, -1, 1, (side,)) for side in (1, -1)]
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(ends)
            assert row["difference"] == pytest.approx(apart.mean())
            assert row["won"] == np.count_nonzero(apart > 0)
        assert "in 8 clusters" in compared.method()
        check_consistent(compared)

    def test_a_margin_holds_with_clusters_of_unequal_sizes(self):
        """A loss of the margin in every cluster is one of as many margins as the cluster has queries."""
        sizes = [30] + [1] * 19
        number = np.repeat(np.arange(20), sizes)
        clusters = {str(query): str(at) for query, at in enumerate(number.tolist())}
        generator, passed = np.random.default_rng(2), 0
        for _ in range(150):
            apart = generator.normal(0, 0.1, 20)[number] - 0.05
            scores = made(np.stack([np.full(number.size, 0.5), 0.5 + apart]), list(clusters))
            compared = rb.compare(scores, clusters=clusters, margin=0.05)
            outcome = compared.gate("P@10 worse", margin=0.05).outcomes[0]
            passed += outcome.answer == "pass"
            assert compared.gate("P@10 different", margin=0.05).outcomes[0].p_pass == pytest.approx(
                compared.pairs.rows()[0]["p_equivalent"]
            )
        assert passed <= 15  # 7.5 expected at most; with one margin for every cluster it was a fifth

    def test_clusters_that_differ_by_the_same_are_a_constant(self):
        """Sums of the same numbers in another order are the same number."""
        for several, p in ((1, 0.5), (3, 0.03125)):
            value = np.zeros((2, 6 * several))
            value[1] = [0.1, 0.2, 0.3, 0.3, 0.1, 0.2] * several
            scores = made(value)
            clusters = {query: str(at // 3) for at, query in enumerate(scores.query_ids)}
            compared = rb.compare(scores, clusters=clusters)
            (row,) = compared.pairs.rows()
            assert (row["ci_low"], row["effect"], row["p_value"]) == (None, np.inf, p)
            why = "the difference is the same in every cluster" if several > 1 else "only 2 of 2 clusters differ"
            assert f"no interval, since {why}" in compared.words()

    def test_a_cluster_for_each_query_changes_nothing(self):
        scores = self.scores()
        own = rb.compare(scores, clusters={query: query for query in self.IDS})
        plain = rb.compare(scores)
        for one, other in zip(own.pairs.rows(), plain.pairs.rows(), strict=True):
            assert one == pytest.approx(other)

    @pytest.mark.parametrize("test", list(TESTS))
    def test_every_test_takes_them(self, test):
        compared = rb.compare(self.scores(), clusters=self.clusters, test=test, resamples=200)
        whole = rb.compare(self.scores(), test=test, resamples=200)
        assert all(0 < row["p_value"] <= 1 for row in compared.pairs.rows())
        assert [row["difference"] for row in compared.pairs.rows()] == [row["difference"] for row in whole.pairs.rows()]

    @given(st.integers(0, 10_000))
    @settings(max_examples=20)
    def test_the_gate_follows_the_table(self, seed):
        check_gate(rb.compare(self.scores(seed, runs=4), clusters=self.clusters, baseline="0"))

    @pytest.mark.parametrize("correction", ["tukey", "max-t"])
    def test_corrections_that_resample_take_them(self, correction):
        check_consistent(rb.compare(self.scores(), clusters=self.clusters, correction=correction, resamples=200))

    def test_the_gate_slices_and_power_take_them(self):
        compared = rb.compare(self.scores(runs=2), clusters=self.clusters)
        check_gate(compared)
        assert compared.power().rows()[0]["topics"] == 8
        kind = {query: "few" if int(query.split("_")[0]) < 4 else "many" for query in self.IDS}
        sliced = compared.slices({"kind": kind})
        kept = [at for at, query in enumerate(self.IDS) if kind[query] == "few"]
        part = resolve_clusters(self.clusters, self.IDS).take(np.array(kept))
        value = self.scores(runs=2).value[:, kept, 0]
        sums = part.sum_differences(value[1] - value[0])
        assert sliced.rows()[0]["p_value"] == pytest.approx(stats.ttest_1samp(sums, 0).pvalue)

    @pytest.mark.parametrize("test", ["t", "bootstrap"])
    def test_discriminative_power_takes_them(self, test):
        scores = self.scores(runs=4)
        found = rb.stats.discriminative_power(scores, 0.05, test, clusters=self.clusters)
        first, second = np.triu_indices(4, 1)
        sums = resolve_clusters(self.clusters, scores.query_ids).sum_differences(
            scores.value[first, :, 0] - scores.value[second, :, 0]
        )
        if test == "t":
            expected = np.sort(stats.ttest_1samp(sums, 0, axis=-1).pvalue)[::-1]
            assert found.significance["P@10"] == pytest.approx(np.maximum(expected, 2 * 0.5**8))
        whole = rb.stats.discriminative_power(scores, 0.05, test)
        assert not np.array_equal(found.significance["P@10"], whole.significance["P@10"])

    def test_clusters_hold_the_level_that_queries_do_not(self):
        """Twenty needs of five phrasings, and no difference: the test over queries is far off."""
        rng = np.random.default_rng(1)
        ids = [f"{need}_{turn}" for need in range(20) for turn in range(5)]
        clusters = {query: query.split("_")[0] for query in ids}
        alarms = np.zeros(2)
        for _ in range(200):
            apart = np.repeat(rng.normal(0, 0.1, 20), 5) + rng.normal(0, 0.1, 100)
            scores = made(0.5 + np.stack([apart, np.zeros(100)]) / 2, ids)
            for at, given_clusters in enumerate((None, clusters)):
                alarms[at] += rb.compare(scores, clusters=given_clusters).pairs.rows()[0]["p_value"] < 0.05
        assert alarms[0] > 40
        assert alarms[1] <= 20  # 10 expected; more than 20 have a chance of 1 in 600

    def test_the_command_line(self, command, tmp_path):
        (tmp_path / "qrels").write_text("".join(f"{query} 0 r 1\n" for query in self.IDS))
        for name, order in (("one", "rn"), ("two", "nr")):
            lines = (f"{query} Q0 {doc} 0 {2 - at} {name}\n" for query in self.IDS for at, doc in enumerate(order))
            (tmp_path / name).write_text("".join(lines))
        (tmp_path / "clusters.txt").write_text("".join(f"{query} {need}\n" for query, need in self.clusters.items()))
        files = [tmp_path / name for name in ("qrels", "one", "two")]
        asked = ["compare", *files, "-m", "RR"]
        by_file = command(*asked, "--clusters", tmp_path / "clusters.txt")
        by_prefix = command(*asked, "--clusters", "_")
        assert by_file == by_prefix
        assert f"over {len(self.IDS)} topics in 8 clusters" in by_file[1]
        table = tmp_path / "P@10.csv"
        turns = [f"{need}_{turn}" for need in range(9) for turn in range(3)]
        table.write_text("query_id,a,b\n" + "".join(f"{query},0.5,0.{at % 9}\n" for at, query in enumerate(turns)))
        _, _, err = command("compare", "--scores", table)
        assert "query ids such as 0_0 look like clusters" in err
        assert "Add --clusters _" in err
        assert "look like clusters" not in command("compare", "--scores", table, "--clusters", "_")[2]
