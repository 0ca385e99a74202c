"""Laws that comparisons obey under every registered measure: equal scores are equal, and better is better."""

from __future__ import annotations

import functools
import itertools
import json
import math
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankbounds as rb
from combinations import drawn_pair, pair_extremes
from rankbounds.comparison import Evidence, compare, compare_scores
from rankbounds.comparison.pairs import Pairs
from rankbounds.comparison.printed import pair_table
from rankbounds.errors import DataError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_differences import TOLERANCE, better, differences, equal, mean_difference, merge_equal
from rankbounds.evaluation.scores import RunNotes, Scores
from rankbounds.measures import REGISTRY, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.probability.probable_differences import differences as probable_differences
from rankbounds.report import Choices, gather
from rankbounds.stats.rank_correlation import agreement, kendall_tau, rank_biased_overlap, spearman, tau_ap
from rankbounds.stats.separation import discriminative_power
from rankbounds.stats.significance import TESTS, Resampling, p_values, pairs_of, t_statistic
from rankbounds.stats.standardisation import standardise

PLAIN = [parse_measure(example) for kind in REGISTRY.values() for example in kind.examples]
PLAIN = [measure for measure in PLAIN if measure.total == "mean"]  # others are compared by no differences
MEASURES = list(dict.fromkeys([*PLAIN, *(Condensed(measure) for measure in PLAIN)]))
TENTHS = [parse_measure("P@10"), parse_measure("P@5"), parse_measure("RR"), parse_measure("RPrec")]
LOWER = [measure for measure in PLAIN if measure.lower_is_better]
EVERY_KIND = list(dict.fromkeys([*MEASURES[::8], *LOWER]))
"""Enough where a law was held for all measures by another test of significance."""
MIRRORED = {"better": "worse", "worse": "better"}


def measures_for(test):
    """All measures by the first test of means and the first of order."""
    return MEASURES if test in ("t", "sign") else EVERY_KIND


def lists_of_one_topic(number=240):
    """The same twelve documents, judged and not, in many orders: an order for each topic, and all topics alike."""
    rng = np.random.default_rng(11)
    grades = {"a": 1, "b": 2, "c": 1, "d": 1, "e": 3, "f": 1, "g": 0, "h": 0, "i": 0, "j": 0, "unretrieved": 1}
    docs = [*"abcdefghij", "unjudged", "nobody"]
    orders = [rng.permutation(len(docs)) for _ in range(number)]
    qrels = {str(topic): grades for topic in range(number)}
    run = {
        str(topic): {docs[doc]: float(100 - rank) for rank, doc in enumerate(order)}
        for topic, order in enumerate(orders)
    }
    return qrels, run


@functools.cache
def values_by_measure():
    """Each measure's value of every order, from the scoring that users get."""
    qrels, run = lists_of_one_topic()
    measures = [*dict.fromkeys([*MEASURES, *TENTHS])]
    scores = rb.evaluate(qrels, {"run": run}, measures, bounds="none")
    return {measure: scores.value[0, :, at] for at, measure in enumerate(measures)}


def scores_of(value, measure="AP", low=None, high=None):
    """Scores from an array of run by topic."""
    held = [None if array is None else np.asarray(array, dtype=float)[:, :, None] for array in (value, low, high)]
    return scores_by(held[0], [parse_measure(measure)], *held[1:])


def scores_by(value, measures, low=None, high=None):
    """Scores from an array of run by topic by measure."""
    unknown = np.full(value.shape, np.nan)
    return Scores(
        runs=["first", "second", "third", "fourth"][: value.shape[0]],
        query_ids=[str(at) for at in range(value.shape[1])],
        measures=list(measures),
        value=value,
        low=unknown if low is None else low,
        high=unknown if high is None else high,
        judged=np.ones(value.shape[:2]),
        run_notes=[RunNotes()] * value.shape[0],
    )


def permuted_copies(values, topics=20):
    """Two runs, topic by topic equal in score, whose lists were permuted: the most different doubles for each score."""
    groups: dict[str, list[float]] = {}
    for value in values.tolist():
        groups.setdefault(f"{value:.13f}", []).append(value)
    pairs = sorted(((min(group), max(group)) for group in groups.values()), key=lambda pair: pair[0] == pair[1])
    pairs = (pairs * topics)[:topics]
    return np.array(pairs).T


def test_permuted_copies_differ_in_their_last_bits():
    """Else the law below would say nothing."""
    doubles = [permuted_copies(values_by_measure()[measure]) for measure in MEASURES]
    assert sum(bool((one[0] != one[1]).any()) for one in doubles) > 10


@pytest.mark.parametrize("test", TESTS)
def test_equal_scores_compare_equal(test):
    measures = measures_for(test)
    scores = scores_by(np.stack([permuted_copies(values_by_measure()[one]) for one in measures], axis=-1), measures)
    compared = compare(scores, test=test, resamples=500)
    power = discriminative_power(scores, test=test, resamples=200)
    assert len(power.rows()) == 2 * len(measures)
    assert {row["discriminated"] for row in power.rows()} == {0}
    assert [row["measure"] for row in compared.pairs.rows()] == list(map(str, measures))
    for at, (measure, pair) in enumerate(zip(measures, compared.pairs.rows(), strict=True)):
        assert (pair["difference"], pair["p_value"], pair["p_adjusted"]) == (0, 1, 1), measure
        assert pair["verdict"] == "no difference shown", measure
        systems = compared.systems.rows()[2 * at : 2 * at + 2]
        assert [row["topics_led"] for row in systems] == [10, 10], measure
        assert [row["group"] for row in systems] == ["a", "a"], measure
        assert systems[0]["mean"] == systems[1]["mean"], measure
        words = compared.words(measure)
        assert "a difference of +0.0000 " in words
        assert "over 20 topics (0 won, 0 lost)" in words
        assert "better" not in words.replace("(lower is better)", "")


def test_equal_scores_are_swapped_in_no_pair():
    for measure in MEASURES:
        value = np.repeat(permuted_copies(values_by_measure()[measure])[:, :, None], 2, axis=-1)
        assert agreement(scores_by(value, [measure] * 2)).rows()[0]["swapped"] == 0, measure


@functools.cache
def scored_pair(measure, topics=14):
    """Two runs with different lists for each topic."""
    value = values_by_measure()[measure]
    half = value.size // 2
    return np.stack([value[:half], value[half:]])[:, :topics]


def usable(value, test):
    """The topics that the test can use."""
    return value if not TESTS[test].of_mean else value[:, np.isfinite(value).all(axis=0)]


def usable_together(pairs, test):
    """Measures whose scores the test can use on as many topics, with their scores: one comparison serves them all."""
    held = {}
    for measure, value in pairs.items():
        chosen = usable(value, test)
        if chosen.shape[1] >= 2:
            held.setdefault(chosen.shape[1], {})[measure] = chosen
    assert sum(map(len, held.values())) > 0.9 * len(pairs)
    return [(list(several), np.stack(list(several.values()), axis=-1)) for several in held.values()]


def winner(row):
    """Which side the verdict is for, or nothing."""
    said = row["verdict"].split()[0]
    return said if said in MIRRORED else ""


def same(one, other):
    return one == other or (one is None and other is None)


def negated(number):
    return None if number is None else -number


@pytest.mark.parametrize("test", TESTS)
def test_swapped_runs_mirror_the_verdict(test):
    pairs = {}
    for measure in measures_for(test):
        value = scored_pair(measure)
        longer = np.concatenate([value, value + 0.25 * np.abs(value)], axis=1)  # some of it significant
        longer[0, 14:] = value[0]
        pairs[measure] = longer
    decided = 0
    for measures, value in usable_together(pairs, test):
        low, high = value - 0.01, value + 0.02
        there = compare(scores_by(value, measures, low, high), test=test, resamples=300)
        back = compare(scores_by(value[::-1], measures, low[::-1], high[::-1]), test=test, resamples=300)
        decided += sum(bool(winner(row)) for row in there.pairs.rows())
        for at, (row, mirror) in enumerate(zip(there.pairs.rows(), back.pairs.rows(), strict=True)):
            assert same(row["difference"], negated(mirror["difference"])), measures[at]
            assert same(row["effect"], negated(mirror["effect"])), measures[at]
            assert (row["p_value"], row["p_adjusted"]) == (mirror["p_value"], mirror["p_adjusted"]), measures[at]
            for low_end, high_end in (("ci_low", "ci_high"), ("certain_low", "certain_high")):
                assert same(row[low_end], negated(mirror[high_end])), measures[at]
            assert winner(row) == MIRRORED.get(winner(mirror), ""), measures[at]
            assert row["verdict"].endswith("as judged") == mirror["verdict"].endswith("as judged"), measures[at]
            two = slice(2 * at, 2 * at + 2)
            for key in ("topics_led", "mean", "group"):
                assert [line[key] for line in there.systems.rows()[two]] == [
                    line[key] for line in back.systems.rows()[two]
                ][::-1]
    assert decided


@pytest.mark.parametrize("test", TESTS)
def test_a_topic_that_both_answer_alike_changes_no_winner(test):
    pairs = {measure: scored_pair(measure) for measure in measures_for(test)}
    alike = np.stack([value[:1, :1].repeat(2, axis=0) for value in pairs.values()], axis=-1)
    place = {measure: at for at, measure in enumerate(pairs)}
    for measures, value in usable_together(pairs, test):
        longer = np.concatenate([value, alike[..., [place[measure] for measure in measures]]], axis=1)
        before = compare(scores_by(value, measures), test=test, resamples=300)
        after = compare(scores_by(longer, measures), test=test, resamples=300)
        for measure, row, other in zip(measures, before.pairs.rows(), after.pairs.rows(), strict=True):
            if row["difference"] is not None:
                assert np.sign(row["difference"]) == np.sign(other["difference"]), measure
            assert {winner(row), winner(other)} <= {winner(row), ""}, measure
            if not TESTS[test].of_mean:  # they drop it
                assert (row["p_value"], row["verdict"]) == (other["p_value"], other["verdict"]), measure


def test_there_are_measures_of_effort():
    assert {measure.name for measure in LOWER} == {"ESL", "RankPower"}


class KnownBounds:
    """Evidence that knows bounds of differences of all pairs, and nothing else."""

    unpooled = frozenset()
    assumptions = rb.Assumptions()
    facts = SimpleNamespace(complete=False)

    def __init__(self, low, high):
        self.low, self.high = low, high

    def filter(self, runs):
        return self

    def bounds(self, measures, among):
        numbers = {"certain_low": self.low, "certain_high": self.high, "certain": np.ones(self.low.size)}
        return Pairs(*pairs_of(len(among)), {name: column[None] for name, column in numbers.items()})

    def chances(self, measure):
        return None


@pytest.mark.parametrize("measure", LOWER, ids=str)
def test_less_effort_is_better_as_more_of_the_negated_values_is(measure):
    rng = np.random.default_rng(3)
    value = np.concatenate([scored_pair(measure), rng.integers(0, 9, (1, 14)), rng.integers(5, 20, (1, 14))])
    value[:2, 0] = np.inf
    for test in TESTS:
        chosen = usable(value, test)
        low = rng.normal(0, 5, 6)
        high = low + rng.random(6)
        how = Question(test=test, resamples=300)
        effort = compare_scores(scores_of(chosen, measure), how, evidence=KnownBounds(low, high))
        gain = compare_scores(scores_of(-chosen, "AP"), how, evidence=KnownBounds(-high, -low))
        assert [row["verdict"] for row in effort.pairs.rows()] == [row["verdict"] for row in gain.pairs.rows()]
        assert any("better" in row["verdict"] for row in gain.pairs.rows())
        told = [effort.numbers.row(measure, pair) for pair in itertools.combinations(effort.runs, 2)]
        assert [row["certain_low"] for row in told] == pytest.approx(low.tolist())
        for key in ("p_value", "p_adjusted"):
            assert [row[key] for row in effort.pairs.rows()] == [row[key] for row in gain.pairs.rows()]
        for key in ("group", "topics_led"):
            assert [row[key] for row in effort.systems.rows()] == [row[key] for row in gain.systems.rows()]
        ranked = [[row[0] for row in found.table().rows] for found in (effort, gain)]
        assert ranked[0] == ranked[1]
        assert effort.table().header[1] == f"{measure} (lower is better)"
        one_sided = {"test": test, "alternative": "greater", "resamples": 300, "baseline": effort.runs[0]}
        asked, turned = compare(scores_of(chosen, measure), **one_sided), compare(scores_of(-chosen, "AP"), **one_sided)
        assert [row["p_value"] for row in asked.pairs.rows()] == [row["p_value"] for row in turned.pairs.rows()]


def test_orders_by_effort_agree_with_orders_by_gain():
    gain = np.array([[0.9, 0.8], [0.5, 0.4], [0.1, 0.3]])
    value = np.stack([gain, 10 * (1 - gain)], axis=-1)
    scores = replace(scores_of(gain), measures=[parse_measure("AP"), parse_measure("ESL(n=1)")], value=value)
    row = agreement(scores).rows()[0]
    assert [row[key] for key in ("tau", "tau_ap", "spearman", "rbo")] == pytest.approx([1] * 4)
    assert row["swapped"] == 0


def test_infinite_means_share_the_last_place():
    effort = np.array([[1, 2], [3, 4], [np.inf, 1], [5, np.inf]])
    value = np.stack([[[4, 4], [3, 3], [1, 1], [1, 1]], effort], axis=-1)
    scores = replace(scores_of(effort), measures=[parse_measure("AP"), parse_measure("ESL(n=1)")], value=value)
    row = agreement(scores).rows()[0]
    assert [row[key] for key in ("tau", "tau_ap", "spearman", "rbo")] == pytest.approx(
        [1, 1, 1, rank_biased_overlap(*[np.array([4.0, 3, 1, 1])] * 2)]
    )
    assert (row["swapped"], row["swapped_significantly"]) == (0, 0)


class TestEquality:
    @pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0, 1e3, 1e9])
    def test_tenths_at_any_scale(self, scale):
        tenths = scale * np.array([0.6, 0.4, 0.2, 0.3, 0.9, 0.8])
        less = scale * np.array([0.4, 0.2, 0.0, 0.1, 0.7, 0.6])
        assert scale != 1 or len(set((tenths - less).tolist())) > 1
        assert len(set(differences(tenths, less).tolist())) == 1
        assert len(set(np.abs(differences(np.append(tenths, less), np.append(less, tenths))).tolist())) == 1

    def test_equality_passes_on_along_a_chain(self):
        step = 0.9 * TOLERANCE
        chain = 1 + step * np.arange(4)
        assert not equal(chain[0], chain[3])
        assert len(set(merge_equal(chain[[2, 0, 3, 1]]).tolist())) == 1
        assert len(set(merge_equal(1 + 3 * step * np.arange(4)).tolist())) == 4

    def test_rows_are_levelled_as_one_by_one(self):
        """Rows in which nothing is nearly equal are left alone; that must not show."""

        def plainly(values):
            order = sorted(range(len(values)), key=lambda place: (math.isnan(values[place]), values[place]))
            result, first = list(values), None
            for before, here in zip([None, *order], order, strict=False):
                near = before is not None and (
                    values[here] == values[before]
                    or (
                        math.isfinite(values[here])
                        and 0
                        <= values[here] - values[before]
                        <= TOLERANCE * max(abs(values[here]), abs(values[before]))
                    )
                )
                first = first if near else here
                result[here] = values[first]
            return result

        random = np.random.default_rng(5)
        values = random.choice([0.1, 0.2, 0.3, 1e-300, np.nan], (400, 7)) + random.choice([0, 1e-16, 5e-14], (400, 7))
        values[:20, 3] = np.inf
        values[200:] += random.random((200, 7))
        np.testing.assert_array_equal(merge_equal(values), [plainly(row) for row in values.tolist()])
        assert merge_equal(values.T).flags["C_CONTIGUOUS"]

    def test_small_scores_are_told_apart_beside_large_ones(self):
        one, other = np.array([0.8, 3e-14, 1e-14]), np.array([0.2, 1e-14, 0.0])
        assert (differences(one, other) > 0).all()
        assert len(set(differences(one, other).tolist())) == 3

    def test_infinite_scores(self):
        inf = math.inf
        found = differences(np.array([inf, inf, 3.0, -inf]), np.array([inf, 2.0, inf, -inf]))
        assert found.tolist() == [0, inf, -inf, 0]
        assert not equal(inf, 1e300)
        assert mean_difference(np.array([inf, 1.0]), np.array([inf, 3.0])) == -1
        assert math.isnan(mean_difference(np.array([inf, 1.0]), np.array([1.0, inf])))
        assert better(1.0, inf, parse_measure("ESL(n=1)"))
        assert not better(inf, inf, parse_measure("ESL(n=1)"))

    @settings(max_examples=200)
    @given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=12))
    def test_differences_of_counts_are_those_of_integers(self, counts):
        one, other = (np.array(side) for side in zip(*counts, strict=True))
        found = differences(one / 10, other / 10)
        assert np.sign(found).tolist() == np.sign(one - other).tolist()
        sizes = np.abs(one - other)
        assert ((np.abs(found)[:, None] == np.abs(found)) == (sizes[:, None] == sizes)).all()
        assert (mean_difference(one / 10, other / 10) == 0) == (one.sum() == other.sum())
        assert (np.sign(mean_difference(one / 10, other / 10))) == np.sign(one.sum() - other.sum())


class TestTests:
    def test_wilcoxon_is_exact_once_zeros_are_dropped(self):
        assert p_values(np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5]), "wilcoxon")[0] == 0.0625
        assert p_values(np.append(np.zeros(70), np.arange(1, 6)), "wilcoxon")[0] == 0.0625
        infinite = np.array([0, 1, 2, 3, 4, np.inf])
        assert p_values(infinite, "wilcoxon")[0] == 0.0625
        assert p_values(infinite, "sign")[0] == 0.0625

    def test_wilcoxon_ranks_equal_sizes_alike(self):
        raw = np.array([0.6 - 0.4, 0.4 - 0.2, -(0.2 - 0), 0.7 - 0.5, 0.9 - 0.6])
        assert p_values(raw, "wilcoxon")[0] == p_values(np.array([2, 2, -2, 2, 3]), "wilcoxon")[0]

    def test_t_of_equal_differences_is_that_of_the_fraction(self):
        one, other = np.array([0.6, 0.4, 0.2, 0.8]), np.array([0.4, 0.2, 0.0, 0.6])
        found = differences(one, other)[None]
        assert t_statistic(found)[0] == np.inf
        assert p_values(found, "t")[0] == p_values(found, "sign")[0] == 0.125  # nothing tells how they vary
        assert p_values(found, "t", "less")[0] == 1
        assert p_values(found, "bootstrap", resampling=Resampling(199))[0] == 0.125
        few = np.full((1, 3), 0.1)
        assert few.mean() != 0.1  # rounding makes a deviation of it
        assert t_statistic(few)[0] == np.inf

    def test_bootstrap_of_tenths_is_that_of_integers(self):
        counts = np.random.default_rng(5).integers(-2, 3, (40, 6))
        counts[0] = [1, 2, 3, 1, 2, 3]
        resampling = Resampling(500)
        whole = p_values(counts, "bootstrap", resampling=resampling)
        assert p_values(counts / 10, "bootstrap", resampling=resampling).tolist() == whole.tolist()

    @pytest.mark.parametrize("test", [test.name for test in TESTS.values() if test.of_mean])
    def test_infinite_differences_need_a_test_of_order(self, test):
        scores = scores_of([[1, 2, np.inf], [2, 1, 3]], "ESL(n=1)")
        with pytest.raises(DataError, match=r"^ESL\(n=1\) is infinite on a topic.*Use the sign or the wilcoxon test"):
            compare(scores, test=test)
        both = scores_of([[1, 2, np.inf], [2, 1, np.inf]], "ESL(n=1)")
        assert compare(both, test=test).pairs.rows()[0]["difference"] == 0

    def test_infinite_to_both_sides(self):
        """A mean that is no number tells nothing: who wins more topics is better."""
        value = np.array([[np.inf, 1, *range(1, 9)], [1, np.inf, *range(11, 19)]])
        found = compare(scores_of(value, "ESL(n=1)"), test="sign")
        row = found.pairs.rows()[0]
        assert (row["difference"], row["verdict"]) == (None, "worse as judged")
        assert "no mean difference over 10 topics (1 won, 9 lost)" in found.words("ESL(n=1)")
        assert "-" in pair_table(found).text()
        value[:, :2] = np.inf
        found = compare(scores_of(value, "ESL(n=1)"), test="t")
        assert found.pairs.rows()[0]["difference"] == 8
        assert "scores inf and first inf, a difference of +8.0000 (0 where both are infinite)" in found.words(
            "ESL(n=1)"
        )

    def test_infinite_scores_cannot_be_standardised(self):
        with pytest.raises(DataError, match="cannot be standardised"):
            standardise(scores_of([[1, np.inf], [2, 1]], "ESL(n=1)"))

    def test_equal_means_share_a_place(self):
        a = np.array([0.1 + 0.2, 0.3, 0.5])
        b = np.array([1.0, 2.0, 3.0])
        tied = np.array([0.3, 0.3, 0.5])
        assert a[0] != a[1]
        for coefficient in (kendall_tau, tau_ap, spearman, rank_biased_overlap):
            assert coefficient(a, b) == coefficient(tied, b)
            assert coefficient(b, a) == coefficient(b, tied)


@pytest.mark.filterwarnings("ignore:empty. not one of its")
class TestCommands:
    """Twenty topics with the same precision, from relevant documents at other places; and searches of other lengths."""

    @pytest.fixture
    def files(self, tmp_path):
        topics = range(20)
        docs = [f"d{at:02d}" for at in range(10)]
        relevant = {topic: 6 + topic % 4 for topic in topics}
        lines = [f"{t} 0 {doc} {int(at < relevant[t])}\n" for t in topics for at, doc in enumerate(docs)]
        (tmp_path / "qrels").write_text("".join(lines))
        for name, step in (("forward", 1), ("backward", -1)):
            rows = [f"{t} Q0 {doc} {at} {20 - at} {name}\n" for t in topics for at, doc in enumerate(docs[::step], 1)]
            (tmp_path / name).write_text("".join(rows))
        empty = [f"{t} Q0 none {at} {20 - at} empty\n" for t in topics for at in (1,)]
        (tmp_path / "empty").write_text("".join(empty))
        return tmp_path

    @pytest.mark.parametrize("test", TESTS)
    def test_equal_precision_is_no_difference(self, files, command, test):
        arguments = ["compare", files / "qrels", files / "forward", files / "backward", "-m", "P@10", "--test", test]
        asked = ["--fail-if", "P@10 worse", "--fail-if", "P@10 different", "--explain"]
        code, out, err = command(*arguments, *asked)
        assert code == 0
        assert "a difference of +0.0000 over 20 topics (0 won, 0 lost)" in out
        assert "no difference shown" in out
        assert (err, out.count("score the same by P@10 on all 20 topics")) == ("", 2)
        assert "There is no difference: both score the same on every topic." in out
        pair = json.loads(command(*arguments, "--format", "json")[1])
        assert pair["pairs"][0]["p_value"] == 1
        assert (pair["pairs"][0]["certain_low"], pair["pairs"][0]["certain_high"]) == (0, 0)

    @pytest.mark.parametrize(("tied", "told"), [(16, "Could ties make one? Hardly"), (1, "Over all orders")])
    def test_of_no_difference_ties_are_told_by_what_is_seen(self, command, tmp_path, tied, told):
        ranks = range(1, 21)
        (tmp_path / "qrels").write_text(
            "".join(f"{topic} 0 d{rank:02} {int(rank == tied)}\n" for topic in "12" for rank in ranks)
        )
        for name in ("a", "b"):
            scores = {rank: -tied if rank == tied + 1 else -rank for rank in ranks}
            lines = [f"{t} Q0 d{rank:02} {rank} {score} {name}\n" for t in "12" for rank, score in scores.items()]
            (tmp_path / name).write_text("".join(lines))
        words = command("compare", *(tmp_path / name for name in ("qrels", "a", "b")), "-m", "RBP(p=0.5)", "--explain")[
            1
        ]
        assert told in words
        assert "between -0.0000" not in words

    def test_whatever_is_judged_equal_precision_is_no_difference(self, files):
        pair = probable_differences(files / "qrels", [files / "forward", files / "backward"], "P@10").pairs[0]
        assert (pair.difference, pair.certain_low, pair.certain_high) == (0, 0, 0)
        assert (pair.probability_better, pair.probability_worse) == (0, 0)

    def test_gate_fails_when_effort_grows(self, files, command):
        short, long = files / "forward", files / "backward"
        measures = ["-m", "ESL(n=1)", "--fail-if", "ESL(n=1) worse"]
        code, out, _ = command("compare", files / "qrels", short, long, *measures, "--explain")
        assert code == 1
        assert "ESL(n=1) (lower is better): backward scores 2.5000 and forward 0.0000, a difference of +2.5000" in out
        assert "(0 won, 20 lost)" in out
        assert "worse  " in out
        assert out.startswith("FAIL: backward is worse than forward by ESL(n=1) (lower is better): +2.5000 [")
        assert "gate failed: backward is worse than forward by 2.5000 in ESL(n=1) (lower is better) (" in out
        assert "Topics that rose most: 0, 4, 8, 12, 16." in out
        code, out, _ = command("compare", files / "qrels", long, short, *measures)
        named = "PASS: forward is not worse than backward by ESL(n=1) (lower is better): -2.5000"
        assert (code, out.startswith(named)) == (0, True)
        code, out, _ = command("compare", files / "qrels", long, short, "--fail-if", "RankPower different", "--explain")
        assert (code, " in RankPower (lower is better) (" in out) == (1, True)
        assert "Topics that" not in out  # none of them got worse

    def test_endless_searches(self, files, command):
        runs = ["compare", files / "qrels", files / "forward", files / "empty", "-m", "ESL(n=1)"]
        code, out, err = command(*runs)
        assert (code, out) == (3, "")
        warning, error = err.splitlines()
        assert warning.startswith("rankbounds: warning: empty: not one of its 20 documents is judged")
        assert error.startswith("rankbounds: ESL(n=1) is infinite on a topic")
        code, out, _ = command(*runs, "--test", "sign", "--explain")
        assert code == 0
        assert "empty scores inf and forward 0.0000, a difference of +inf over 20 topics (0 won, 20 lost)" in out
        code, out, err = command(*runs, "--test", "sign", "--format", "json", "--fail-if", "ESL(n=1) worse")
        found = json.loads(out)
        assert (code, found["pairs"][0]["difference"], found["pairs"][0]["ci_low"]) == (1, "Infinity", None)
        assert [row["mean"] for row in found["systems"]] == [0, "Infinity"]
        assert found["pairs"][0]["verdict"].startswith("worse")
        assert "is worse than forward by ESL(n=1) (lower is better)" in err
        assert "by inf in" in found["gate"]["conditions"][0]["why"]
        (files / "copy").write_text((files / "empty").read_text())
        twice = ["compare", files / "qrels", files / "empty", files / "copy", "-m", "ESL(n=1)", "--format", "json"]
        found = json.loads(command(*twice)[1])
        assert (found["pairs"][0]["difference"], found["pairs"][0]["p_value"]) == (0, 1)

    def test_infinite_is_not_unknown(self, files, command):
        arguments = ["evaluate", files / "qrels", files / "empty", "-m", "ESL(n=1)", "-m", "infAP", "--format"]
        rows = json.loads(command(*arguments, "json")[1])
        assert (rows[0]["value"], rows[0]["high"]) == ("Infinity", "Infinity")
        assert rows[1]["low"] is None
        for kind, mark in (("csv", ","), ("tsv", "\t")):
            line = command(*arguments, kind)[1].splitlines()
            assert line[1].split(mark)[3] == "inf"
            assert line[2].split(mark)[4] == ""
        scores = rb.evaluate(files / "qrels", files / "empty", "ESL(n=1)")
        assert scores.to_dict()["empty"]["ESL(n=1)"]["0"] == math.inf
        assert scores.to_polars()["value"][0] == math.inf
        scores.save(files / "saved.json")
        assert '"Infinity"' in (files / "saved.json").read_text()
        loaded = Scores.load(files / "saved.json")
        np.testing.assert_array_equal(loaded.value, scores.value)
        np.testing.assert_array_equal(loaded.high, scores.high)

    def test_places_by_effort(self, files, command):
        runs = ["check", files / "forward", files / "backward", "--qrels", files / "qrels"]
        for name in ("forward", "backward"):  # the first two documents tied: who leads does not depend on it
            text = (files / name).read_text().replace(" 18 ", " 19 ")
            (files / name).write_text(text)
        found = rb.check([files / "forward", files / "backward"], qrels=files / "qrels", measures="ESL(n=1)")
        ranks = ("run", "place", "highest_place", "lowest_place")
        assert [tuple(row[name] for name in ranks) for row in found.ranking()] == [
            ("forward", 1, 1, 1),
            ("backward", 2, 2, 2),
        ]
        assert "no run's place depends" in command(*runs, "-m", "ESL(n=1)")[1]

    def test_report(self, files):
        runs = [files / "backward", files / "forward"]
        told = gather(files / "qrels", runs, Choices.of(measures=("ESL(n=1)", "P@10")))
        assert told["summary"][0].startswith("ESL(n=1) (lower is better): forward scores 0.0000 and backward ")
        assert [one["lower_is_better"] for one in told["measures"]] == [True, False]
        told = gather(files / "qrels", runs, Choices.of(measures=("P@10",)))
        assert told["summary"][1].endswith("both score the same on every topic.")
        told = gather(files / "qrels", [*runs, files / "empty"], Choices.of(measures=("ESL(n=1)",), test="sign"))
        assert told["systems"][0]["mean"] == [2.5, 0, "Infinity"]
        assert json.dumps(told, allow_nan=False)


def levelling():
    """Two runs that an unjudged document could make equal, or leave apart, and never turn."""
    qrels = {str(topic): {"r": int(topic % 2 == 0), "s": 1, "n": 0} for topic in range(12)}
    first = {topic: ["r", "s", "n"] for topic in qrels}
    second = {topic: ["s", "r", "n"] if topic == "1" else docs for topic, docs in first.items()}
    return qrels, {"less": {**first, "1": ["u", "s", "n"]}, "more": second}


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("measure", ["P@1", "Success@1", "RR", "ESL(n=1,collection=100)", "AP", "nDCG@2"])
def test_swapped_runs_have_their_own_probabilities(measure):
    """Both may score the same: how likely the second is better is not 1 less how likely the first is."""
    qrels, runs = levelling()
    there, back = (
        Evidence.read(qrels, dict(order)).compare([measure]) for order in (runs.items(), [*runs.items()][::-1])
    )
    (pair,), (mirror,) = there.pairs.rows(), back.pairs.rows()
    assert pair["probability_better_if_judged"] == mirror["probability_worse_if_judged"]
    assert pair["probability_worse_if_judged"] == mirror["probability_better_if_judged"]
    assert back.sentences(measure, ("more", "less")) == there.sentences(measure, ("more", "less"))
    condensed = Evidence.read(qrels, runs, Assumptions(unjudged="condensed")).compare([measure])
    assert condensed.pairs.rows()[0]["probability_better_if_judged"] is None
    assert "with probability" not in condensed.words(pair=("less", "more")) + condensed.words(pair=("more", "less"))
    for row in Evidence.read(qrels, runs).compare([measure], baseline="less").pairs.rows():
        assert (row["run"], row["probability_better_if_judged"]) == ("more", pair["probability_better_if_judged"])
    if measure in ("P@1", "Success@1", "ESL(n=1,collection=100)"):
        assert 0 < pair["probability_better_if_judged"] < 1
        assert pair["probability_worse_if_judged"] == 0
        assert "overturn it? No; at most they can reduce it to 0:" in there.words(measure)


def test_a_difference_is_that_of_the_scores_beside_it():
    """Also of counts, whose scores elsewhere are sums over topics; intervals and bounds are of the same number."""
    examples = [parse_measure(example) for kind in REGISTRY.values() for example in kind.examples]
    measures = [measure for measure in dict.fromkeys(examples) if measure.total != "geometric"]
    assert sum(measure.total == "sum" for measure in measures) >= 4
    rng = np.random.default_rng(2)
    value = rng.integers(1, 9, size=(2, 7, len(measures))).astype(float)
    compared = compare(scores_by(value, measures, value - 0.5, value + 0.5), resamples=50)
    for at, (measure, pair) in enumerate(zip(measures, compared.pairs.rows(), strict=True)):
        one, other = compared.systems.rows()[2 * at : 2 * at + 2]
        assert pair["difference"] == pytest.approx(other["mean"] - one["mean"], abs=1e-12), measure
        for row in (one, other):
            assert row["ci_low"] <= row["mean"] <= row["ci_high"], measure
            assert (row["low"], row["high"]) == pytest.approx((row["mean"] - 0.5, row["mean"] + 0.5)), measure
        words = compared.words(measure)
        assert f"and first {one['mean']:.4f}, a difference of {pair['difference']:+.4f} over 7 topics" in words
        assert ("(mean over topics)" in words) is (measure.total == "sum"), measure


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1))
def test_under_every_combination_of_options_a_comparison_says_what_evaluate_and_enumeration_say(seed):
    """Means are those of ``evaluate`` over the same topics; bounds of differences hold in every world of both lists."""
    one, other = drawn_pair(Random(seed))
    runs = {name: rb.Run.from_columns(*zip(*((t, d, s, r) for t, d, r, s in case.rows), strict=True))
            for name, case in (("one", one), ("other", other))}  # fmt: skip
    topics = [topic for topic in one.topics() if topic in other.topics()]
    if len(topics) < 2 or not one.measures:
        return
    scores = rb.evaluate(one.judged, runs, one.measures, **one.asked)
    compared = rb.compare(one.judged, runs, one.measures, test="sign", **one.asked)  # takes infinite scores
    means = scores.filter(topic=topics).mean()
    share = np.array([1 / len(topics) if measure.total == "sum" else 1.0 for measure in one.measures])
    for name in ("low", "high"):
        of_rows = np.array([row[name] for row in compared.systems.rows()], dtype=float)
        wanted = (getattr(means, name)[:, 0] * share).T.ravel()
        assert np.allclose(of_rows, wanted, rtol=1e-12, atol=1e-12, equal_nan=True), (name, of_rows, wanted)
    assert np.allclose(compared.numbers.means(), (means.value[:, 0] * share).T, equal_nan=True, rtol=1e-12)
    for row, measure in zip(compared.pairs.rows(), compared.measures, strict=True):
        low, high = row["certain_low"], row["certain_high"]
        if measure.as_retrieved or None in (low, high) or one.bounds == "ties" or not math.isfinite(high - low):
            continue
        ends = [pair_extremes(other, one, measure, topic) for topic in topics]
        least, most = (math.fsum(side) / len(topics) for side in zip(*ends, strict=True))
        assert not low > least + 1e-9, (one, measure, row, least, most)
        assert not high < most - 1e-9, (one, measure, row, least, most)
