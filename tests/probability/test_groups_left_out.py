"""Runs that were not pooled: who was, what leaving groups out teaches, by loops from the definition; laws; levels."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import optimize
from test_differences import turned

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.collection.inputs import Reading
from rankbounds.collection.run_names import groups_by_prefix
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.probability.models.chosen import ChosenModels
from rankbounds.probability.models.groups_left_out import Fit
from rankbounds.probability.probable_differences import differences
from rankbounds.rankings.topic_facts import TopicFacts

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
LAW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
P = 0.8


def collection(seed, groups=5, runs_of_group=2, topics=4, documents=40, length=12, depth=4):
    """Qrels, lists and groups at random: the last group was not pooled."""
    rng = np.random.default_rng(seed)
    relevant = {f"q{t}": rng.random(documents) < rng.uniform(0.1, 0.4) for t in range(topics)}
    runs, group_of = {}, {}
    for group, number in itertools.product(range(groups), range(runs_of_group)):
        name = f"g{group}-{number}"
        group_of[name] = f"team{group}"
        skill = rng.uniform(0.3, 2.5)
        runs[name] = {
            query: [f"d{d}" for d in np.argsort(-(skill * truth + rng.normal(size=documents)))[:length].tolist()]
            for query, truth in relevant.items()
        }
    qrels = {
        query: {
            document: int(truth[int(document[1:])])
            for name, lists in runs.items()
            if group_of[name] != f"team{groups - 1}"
            for document in lists[query][:depth]
        }
        for query, truth in relevant.items()
    }
    complete = {q: {f"d{d}": int(value) for d, value in enumerate(truth)} for q, truth in relevant.items()}
    return qrels, runs, group_of, complete


# ---- from the definition, by loops ----


def judged_to(qrels, lists):
    deepest, seen, met = 0, 0, 0
    for rank in range(1, max(map(len, lists.values())) + 1):
        there = [documents[rank - 1] in qrels[query] for query, documents in lists.items() if len(documents) >= rank]
        seen, met = seen + len(there), met + sum(there)
        if sum(there) >= 0.95 * len(there) and met >= 0.95 * seen:
            deepest = rank
    return deepest


def log_odds(met, missed):
    return math.log(met / missed)


class Plain:
    """Leaving groups out for one run, one document after the other."""

    def __init__(self, qrels, runs, group_of, target):
        self.qrels, self.runs, self.group_of, self.target = qrels, runs, group_of, target
        depths = {name: judged_to(qrels, lists) for name, lists in runs.items()}
        known = [depth for depth in depths.values() if depth]
        self.pool = max(known, key=lambda depth: (known.count(depth), depth)) if known else 0
        pooled = [name for name, depth in depths.items() if depth and depth >= 0.9 * self.pool]
        self.brought_by = {}
        for name in pooled:
            for query, documents in runs[name].items():
                for document in documents[: self.pool]:
                    self.brought_by.setdefault((query, document), set()).add(group_of[name])
        self.home = group_of[target]
        self.teams = sorted(set(group_of.values()))

    def judged(self, out):
        """The judgments that remain without some groups."""
        return {
            query: {d: y for d, y in judged.items() if not (self.brought_by.get((query, d), {None}) <= out)}
            for query, judged in self.qrels.items()
        }

    def row(self, name, query, document, rank, judged, out):
        """The features of a document of a run, as judged without some groups."""
        met = seen = 0.0
        for other, documents in self.runs[name].items():
            for place, each in enumerate(documents, 1):
                if each in judged[other]:
                    met, seen = met + judged[other][each] / place, seen + 1 / place
        others = {
            self.group_of[other]
            for other, lists in self.runs.items()
            if document in lists[query] and self.group_of[other] not in out
        }
        among = len(set(self.teams) - out)
        retrieved = {q: [d for d in judged[q] if any(d in lists[q] for lists in self.runs.values())] for q in judged}
        every = [judged[q][d] for q in retrieved for d in retrieved[q]]
        rate = (sum(every) + 0.5) / (len(every) + 1)
        here = [judged[query][d] for d in retrieved[query]]
        return [
            1.0,
            log_odds(met + 0.25, seen - met + 0.25),
            math.log(rank),
            log_odds(len(others) + 0.5, among - len(others) + 0.5),
            log_odds(sum(here) + 10 * rate, len(here) - sum(here) + 10 * (1 - rate)),
        ]

    def cases(self):
        """Every document that a group left out would miss: its run, group, weight, relevance, features."""
        found = []
        for name, lists in self.runs.items():
            team = self.group_of[name]
            judged = self.judged({team})
            for query, documents in lists.items():
                for rank, document in enumerate(documents[: self.pool], 1):
                    by = self.brought_by.get((query, document), set())
                    if document in self.qrels[query] and by == {team}:
                        row = self.row(name, query, document, rank, judged, {team})
                        weight = (1 - P) * P ** (rank - 1)
                        found.append((name, team, weight, self.qrels[query][document], row))
        return found

    def answer(self, confidence):
        """Mean and interval of the run's RBP, or None where there is nothing to learn from."""
        cases = self.cases()
        if not cases:
            return None
        siblings = {team: sum(each == team for each in self.group_of.values()) for team in self.teams}
        documents = {team: sum(1 / siblings[team] for case in cases if case[1] == team) for team in self.teams}
        x = np.array([case[4] for case in cases])
        y = np.array([case[3] for case in cases], dtype=float)
        v = np.array([1 / siblings[team] / math.sqrt(documents[team]) for _, team, *_ in cases])
        penalty = np.array([1e-3, 1, 1, 1, 1])

        def loss(b):
            z = x @ b
            return float((v * (np.logaddexp(0, z) - y * z)).sum() + (penalty * b * b).sum() / 2)

        def slope(b):
            return x.T @ (v * (1 / (1 + np.exp(-x @ b)) - y)) + penalty * b

        b = optimize.minimize(loss, np.zeros(5), jac=slope, method="BFGS", options={"gtol": 1e-11}).x
        q = 1 / (1 + np.exp(-x @ b))
        whole = sum(vi * qi * (1 - qi) * np.outer(xi, xi) for vi, qi, xi in zip(v, q, x, strict=True)) + np.diag(
            penalty
        )
        teams = sorted({case[1] for case in cases})
        gradients, runs = {}, {}
        for team in teams:
            mine = [i for i, case in enumerate(cases) if case[1] == team]
            gradients[team] = sum(v[i] * (y[i] - q[i]) * x[i] for i in mine)
            bend = sum(v[i] * q[i] * (1 - q[i]) * np.outer(x[i], x[i]) for i in mine)
            without = b - np.linalg.solve(whole - bend, gradients[team])
            for i in mine:
                chance = 1 / (1 + math.exp(-float(x[i] @ without)))
                sums = runs.setdefault(cases[i][0], [team, 0.0, 0.0, 0.0])
                weight = cases[i][2]
                sums[1] += weight * (y[i] - chance)
                sums[2] += weight**2 * chance * (1 - chance)
                sums[3] += weight * chance * (1 - chance)
        covariance = np.linalg.inv(whole) @ sum(np.outer(g, g) for g in gradients.values()) @ np.linalg.inv(whole)
        told = {team: sum(sums[0] == team for sums in runs.values()) for team in teams}
        shift = 0.5
        for _ in range(20):
            top = bottom = 0.0
            for team, error, variance, bend in runs.values():
                precise = (bend**2 / (variance + shift * bend**2)) ** 2 / told[team]
                top, bottom = top + precise * (error**2 - variance) / bend**2, bottom + precise
            shift = max(top / bottom, 0.0)
        scores = sorted(
            (abs(error) / math.sqrt(variance + shift * bend**2), 1 / told[team])
            for team, error, variance, bend in runs.values()
            if team != self.home
        )
        others = len(set(teams) - {self.home})
        reach, total = math.inf, 0.0
        for score, share in scores:
            total += share
            if total >= confidence * (others + 1) - 1e-9:
                reach = score
                break
        mean = base = variance = bend = deep = 0.0
        moved = np.zeros(5)
        high = 0.0
        for query, documents in self.runs[self.target].items():
            for rank, document in enumerate(documents, 1):
                weight = (1 - P) * P ** (rank - 1)
                if document in self.qrels[query]:
                    base += weight * self.qrels[query][document]
                    continue
                row = np.array(self.row(self.target, query, document, rank, self.qrels, {self.home}))
                chance = 1 / (1 + math.exp(-float(row @ b)))
                mean += weight * chance
                variance += weight**2 * chance * (1 - chance)
                bend += weight * chance * (1 - chance)
                moved += weight * chance * (1 - chance) * row
                high += weight
                deep += weight * (rank > 2 * self.pool)
        unseen = deep > high / 2 or (high > 0 and others < 2)
        high += sum(P ** len(documents) for documents in self.runs[self.target].values())
        n = len(self.qrels)
        if unseen:
            return math.nan, math.nan, base / n, (base + high) / n
        sd = math.sqrt(variance + shift * bend**2 + float(moved @ covariance @ moved)) / n
        middle = (base + mean) / n
        half = reach * sd if sd else 0.0
        return middle, sd, max(middle - half, base / n), min(middle + half, (base + high) / n)


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_loops_find(seed):
    qrels, runs, group_of, _ = collection(seed, runs_of_group=1 + seed % 3, depth=3 + seed % 2)
    rows = {
        row["run"]: row for row in rb.uncertainty(qrels, runs, f"RBP(p={P})", groups=group_of, confidence=0.7).rows()
    }
    compared = 0
    for name in runs:
        plain = Plain(qrels, runs, group_of, name)
        assert rows[name]["judged_to"] == judged_to(qrels, runs[name])
        expected = plain.answer(0.7)
        if expected is None:
            assert math.isnan(rows[name]["mean"])
            assert (rows[name]["ci_low"], rows[name]["ci_high"]) == (rows[name]["low"], rows[name]["high"])
            continue
        found = [rows[name][key] for key in ("mean", "sd", "ci_low", "ci_high")]
        assert found == pytest.approx(expected, abs=2e-6, nan_ok=True), name
        compared += 1
    assert compared >= len(runs) // 2


# ---- laws ----


@LAW
@given(
    st.integers(0, 10**6),
    st.sampled_from(["RBP(p=0.8)", "P@5", "nDCG@5", "AP", "AP@5", "Recall@5", "RR", "Q"]),
)
def test_intervals_lie_within_the_certain_bounds(seed, measure):
    qrels, runs, group_of, complete = collection(seed)
    options = {"groups": group_of, "confidence": 0.7, "samples": 20}
    for row in rb.uncertainty(qrels, runs, measure, **options).rows():
        assert row["low"] - 1e-9 <= row["ci_low"] <= row["ci_high"] + 1e-9 <= row["high"] + 2e-9
        assert row["ci_low"] >= -1e-9
        assert row["ci_high"] <= 1 + 1e-9
    scores = rb.evaluate(complete, runs, measure).value.mean(axis=1)[:, 0]
    for row, score in zip(rb.uncertainty(complete, runs, measure, **options).rows(), scores, strict=True):
        assert row["mean"] == pytest.approx(score)  # with everything judged there is nothing left to estimate
        assert row["ci_low"] == pytest.approx(score)
        assert row["pooled"]
        if not measure.startswith("RBP"):  # which leaves open what lies beyond the end of a list
            assert row["ci_high"] == pytest.approx(score)


@LAW
@given(st.integers(0, 10**6), st.sampled_from(["RBP(p=0.8)", "nDCG@5", "AP@5"]))
def test_swapping_two_runs_mirrors_their_difference(seed, measure):
    qrels, runs, group_of, _ = collection(seed, groups=6)
    names = list(runs)

    def pair_of(order):
        chosen = {name: runs[name] for name in order}
        pairs = differences(qrels, chosen, measure, groups=group_of, confidence=0.7, samples=200).pairs
        wanted = {names[0], names[-1]}
        return next(pair for pair in pairs if {pair.run, pair.against} == wanted)

    one, other = pair_of(names), pair_of(names[::-1])
    if one.run != other.run:
        other = turned(other)
    if math.isnan(one.difference):
        assert math.isnan(other.difference)
        return
    widths = one.ci_high - one.ci_low, other.ci_high - other.ci_low  # (few draws of rare documents)
    slack = 1e-9 if measure.startswith("RBP") else max(one.sd, 0.5 * max(widths))
    assert one.difference == pytest.approx(other.difference, abs=slack)
    assert (one.ci_low, one.ci_high) == (
        pytest.approx(other.ci_low, abs=slack),
        pytest.approx(other.ci_high, abs=slack),
    )
    assert one.certain_low - 1e-9 <= one.ci_low <= one.ci_high <= one.certain_high + 1e-9


@LAW
@given(st.integers(0, 10**6), st.randoms(use_true_random=False), st.sampled_from(["RBP(p=0.8)", "AP@5"]))
def test_names_of_groups_and_the_order_of_runs_change_nothing(seed, random, measure):
    qrels, runs, group_of, _ = collection(seed)
    names = sorted(set(group_of.values()))
    new = dict(zip(names, random.sample([f"x{n}" for n in range(50)], len(names)), strict=True))
    shuffled = dict(random.sample(list(runs.items()), len(runs)))
    one, other = (
        {
            row["run"]: row
            for row in rb.uncertainty(qrels, of, measure, groups=groups, confidence=0.7, samples=20).rows()
        }
        for of, groups in ((runs, group_of), (shuffled, {run: new[group] for run, group in group_of.items()}))
    )
    for name, row in one.items():
        assert other[name] == pytest.approx(row, nan_ok=True)


@LAW
@given(st.integers(0, 10**6), st.sampled_from(["RBP(p=0.8)", "nDCG@5", "AP@5"]))
def test_a_copy_of_an_unpooled_run_in_its_group_teaches_nothing(seed, measure):
    qrels, runs, group_of, _ = collection(seed)
    options = {"confidence": 0.7, "samples": 20}
    before = rb.uncertainty(qrels, runs, measure, groups=group_of, **options).rows()
    assume(not any(row["judged_to"] for row in before[-2:]))  # else it counts in the depth of the pool
    copied = runs | {"copy": runs["g4-0"]}
    after = rb.uncertainty(qrels, copied, measure, groups=group_of | {"copy": "team4"}, **options).rows()
    for row, same in zip(before, after, strict=False):
        assert same == pytest.approx(row, nan_ok=True)
    assert after[-1] | {"run": "g4-0"} == pytest.approx(before[-2], nan_ok=True)
    pairs = differences(qrels, copied, measure, groups=group_of, **options).pairs
    (pair,) = (pair for pair in pairs if {pair.run, pair.against} == {"g4-0", "copy"})
    if not measure.startswith("RBP"):  # which leaves open what follows the ends of the lists
        assert (pair.difference, pair.ci_low, pair.ci_high) == pytest.approx((0, 0, 0), abs=1e-12)


@pytest.mark.parametrize("measure", ["AP@4", "nDCG@4", "Recall@4", "RR", "AP@6"])
@pytest.mark.parametrize("seed", range(3))
def test_what_leaving_a_group_out_changes_is_what_scoring_shows(seed, measure):
    qrels, runs, group_of, _ = collection(seed, runs_of_group=1)
    chosen = rb.parse_measure(measure)
    read = Reading()
    systems = read.runs(runs)
    models = ChosenModels("groups", None, systems, TopicFacts(read.judgments(qrels)), Assumptions(), groups=group_of)
    fit, plain = models.model_of(chosen).fit, Plain(qrels, runs, group_of, "g4-0")
    changes = dict(zip(fit.group.tolist(), (fit.error + fit.predicted).tolist(), strict=True))
    assert changes
    for group, change in changes.items():
        name = systems[group].name
        team = {group_of[name]}
        remaining = plain.judged(team)
        own = {
            q: {d: qrels[q][d] for d in lists[: plain.pool] if plain.brought_by.get((q, d)) == team}
            for q, lists in runs[name].items()
        }
        assert any(own.values())
        with_own = {q: remaining[q] | own[q] for q in remaining}
        before, after = (rb.evaluate(of, {name: runs[name]}, measure).value.mean() for of in (remaining, with_own))
        assert change == pytest.approx(after - before)


@pytest.mark.parametrize("measure", ["AP", "Recall", "nDCG"])
def test_where_most_of_a_score_lies_too_deep_no_score_is_expected(measure):
    """Groups left out show documents down to the pool's depth of 4; most of the unjudged ones lie below twice that."""
    qrels, runs, group_of, _ = collection(3, length=30)
    found = rb.uncertainty(qrels, runs, measure, groups=group_of, confidence=0.5, samples=20)
    for row in found.rows():
        assert math.isnan(row["mean"])
        assert math.isnan(row["sd"])
        assert (row["ci_low"], row["ci_high"]) == (row["low"], row["high"])
    assert "no expected score" in " ".join(found.notes())
    few = dict(list(runs.items())[-3:])
    for pair in differences(qrels, few, measure, groups=group_of, confidence=0.5, samples=20).pairs:
        assert math.isnan(pair.difference)
        assert (pair.ci_low, pair.ci_high) == (pair.certain_low, pair.certain_high)


@pytest.mark.parametrize("measure", ["AP@4", "Recall@4", "nDCG@4", "nDCG@6"])
def test_documents_below_measure_and_pool_count_as_they_do_for_pooled_runs(measure):
    """What counts as relevant to a topic are known documents and the run's own down to the deeper of the two."""
    qrels, runs, group_of, _ = collection(3, length=30)
    options = {"groups": group_of, "confidence": 0.5, "samples": 20}
    depth = int(measure[-1])
    judged = {
        name: {q: [d for d in lists[q][:depth] if d not in qrels[q]] for q in qrels} for name, lists in runs.items()
    }
    rows = rb.uncertainty(qrels, runs, measure, **options).rows()
    for row in rows:
        if not any(judged[row["run"]].values()):
            assert row["mean"] == pytest.approx(row["base"])
            assert (row["ci_low"], row["ci_high"]) == pytest.approx((row["base"], row["base"]))
    assert any(row["ci_low"] < row["mean"] < row["ci_high"] for row in rows)


def test_unjudged_documents_below_a_measure_s_depth_open_what_is_relevant_to_the_topic():
    """The first ten of one run are judged; its others, down to the pool's depth of 20, move what ten are divided by."""
    simulated = rb.studies.simulate(runs=25, topics=20, documents=400, depth=100, pool_depth=20, seed=3)
    rng, complete, known = np.random.default_rng(3), simulated.complete.to_dict(), simulated.pooled.to_dict()
    late = {}
    for query, ranked in simulated.runs[0].to_dict().items():
        unjudged = sorted(complete[query].keys() - known[query].keys() - ranked.keys())
        late[query] = [*list(ranked)[:10], *rng.permutation(unjudged)[:90].tolist()]
    runs = [*simulated.runs, rb.Run(late, name="late")]
    more = {q: known[q] | {d: complete[q][d] for d in late[q][:20]} for q in known}
    for measure in ("AP@10", "Recall@10", "nDCG@10"):
        row = rb.uncertainty(known, runs, measure, samples=100).rows()[-1]
        truth = rb.evaluate(more, {"late": late}, measure).value.mean()
        assert row["ci_low"] < row["mean"] < row["ci_high"]
        assert row["ci_low"] <= truth <= row["ci_high"]


def test_a_run_without_a_group_is_its_own():
    qrels, runs, group_of, _ = collection(3, runs_of_group=1)
    some = {run: group for run, group in group_of.items() if run != "g0-0"}
    by_name, alone = (rb.uncertainty(qrels, runs, "RBP(p=0.8)", groups=groups).rows() for groups in (some, None))
    assert str(by_name) == str(alone)
    with pytest.raises(rb.UsageError, match="None of the runs belongs to a group"):
        rb.uncertainty(qrels, runs, "RBP(p=0.8)", groups={"elsewhere": "x"})


# ---- levels, by simulation ----


@pytest.mark.parametrize(("groups", "runs"), [(19, 1), (25, 3), (60, 2)])
def test_the_conformal_level_is_kept(groups, runs):
    """A new group's error lies within reach with at least the probability asked for, and not much more."""
    rng = np.random.default_rng(groups)
    held, held_pairs = [], []
    for _ in range(3000):
        variance = rng.uniform(0.5, 2, (groups + 2, runs))
        common = rng.standard_t(4, (groups + 2, 1))
        error = np.sqrt(variance) * (common + rng.normal(size=variance.shape)) / 1.5
        fit = Fit(
            np.empty(0), np.empty(0), 0.0, error[2:].ravel(), variance[2:].ravel(), np.repeat(np.arange(groups), runs)
        )
        (new, other), (new_variance, other_variance) = error[:2, 0], variance[:2, 0]
        held.append(abs(new) <= fit.reach(0.95) * math.sqrt(new_variance))
        apart = fit.reach_of_pair(0.95) * math.sqrt(new_variance + other_variance)
        held_pairs.append(abs(new - other) <= apart)
    error_of_share = 3 * math.sqrt(0.05 * 0.95 / 3000)
    assert 0.95 - error_of_share <= np.mean(held) <= 0.95 + 1 / (groups + 1) + error_of_share
    assert 0.95 - 2 * error_of_share <= np.mean(held_pairs) <= 1
    assert math.isinf(Fit(np.empty(0), np.empty(0), 0.0, np.ones(18), np.ones(18), np.arange(18)).reach(0.95))


def test_predictions_that_all_groups_find_too_small_are_stretched():
    rng = np.random.default_rng(0)
    held, errors, plain = [], [], []
    for _ in range(1500):
        predicted = rng.uniform(0.5, 2, 41)
        error = 0.3 * predicted + rng.normal(size=41) / 4
        fit = Fit(np.empty(0), np.empty(0), 0.0, error, np.full(41, 1 / 16), np.arange(41), predicted).but(40)
        factor, uncertain = fit.stretch
        off = error[40] - (factor - 1) * predicted[40]
        sd = math.hypot(max(factor, 1) / 4, uncertain * predicted[40])
        held.append(abs(off) <= fit.reach(0.95) * sd)
        errors.append(off)
        plain.append(error[40])
    assert 0.935 <= np.mean(held) <= 0.985
    assert abs(np.mean(errors)) < 0.03 < np.mean(plain)


# ---- who was pooled, and what is said ----


def test_relevant_documents_alone_estimate_no_probability():
    """Rows of expected and retrieved ids list relevant documents only: a fit to them makes everything relevant."""
    relevant = {f"q{t}": {f"r{t}-{n}": 1 for n in range(6)} for t in range(30)}
    runs = {
        name: {
            query: [*list(own)[at : 5 + at % 2], *(f"{name}{query}-{n}" for n in range(3))]
            for query, own in relevant.items()
        }
        for at, name in enumerate(("a", "b", "c"))
    }
    for row in rb.uncertainty(relevant, runs, ["RBP", "nDCG@10"], confidence=0.5).rows():
        assert math.isnan(row["mean"])
        assert (row["ci_low"], row["ci_high"]) == (row["low"], row["high"])
    reason = "every judged document that the runs retrieved is relevant"
    with pytest.raises(rb.UsageError, match=reason):
        rb.uncertainty(relevant, runs, "RBP", q="logistic")
    two = {name: runs[name] for name in "ab"}
    found = rb.compare(relevant, two, ["RBP", "nDCG@10"])
    assert np.isnan(found.numbers.chances).all()
    for measure in found.measures:
        assert f"cannot be estimated from these judgments: {reason}" in found.words(measure)
    plan = rb.judge_next(relevant, two, measure="nDCG@10", compare="all", until="settled")
    even = rb.judge_next(relevant, two, measure="nDCG@10", compare="all", q=0.5)
    assert (plan.doc_ids, plan.value.tolist()) == (even.doc_ids, even.value.tolist())
    assert np.isnan(plan.probability).all()
    assert (plan.likely, plan.needed) == (None, None)
    assert reason in plan.sentences()[-1]
    # One document that was judged and is not relevant is what an estimate begins with.
    relevant["q0"]["aq0-0"] = 0
    assert rb.judge_next(relevant, two, measure="nDCG@10", compare="all").probability.max() < 1


def test_documents_listed_as_pooled_and_not_judged_count_as_pooled():
    runs = {
        name: {f"q{t}": [f"{name}{t}-{rank}" for rank in range(8)] for t in range(30)} for name in ("a", "b", "late")
    }
    qrels = {
        f"q{t}": {f"{name}{t}-{rank}": rank % 2 - (rank == 3) for name in ("a", "b") for rank in range(5)}
        for t in range(30)
    }
    found = {row["run"]: row for row in rb.uncertainty(qrels, runs, "RBP(p=0.8)", q=0.2).rows()}
    assert qrels["q0"]["a0-3"] == 0
    assert [(found[name]["pooled"], found[name]["judged_to"]) for name in runs] == [(True, 5), (True, 5), (False, 0)]
    for judged in qrels.values():
        for document in judged:
            if document.endswith("-1"):
                judged[document] = -1
    listed = {row["run"]: row["judged_to"] for row in rb.uncertainty(qrels, runs, "RBP(p=0.8)", q=0.2).rows()}
    assert listed == {"a": 5, "b": 5, "late": 0}


def test_one_run_alone_is_refused_unless_nothing_is_open():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": ["a", "b", "c"]}
    for q in ("groups", "logistic"):
        with pytest.raises(rb.UsageError, match=r"one run alone cannot show.*--q 0\.1"):
            rb.uncertainty(qrels, run, "RBP(p=0.8)", q=q)
    (row,) = rb.uncertainty(qrels, run, "P@2").rows()
    assert row["mean"] == row["ci_low"] == row["ci_high"] == 0.5


def test_too_few_groups_are_told_and_leave_the_certain_bounds():
    qrels, runs, group_of, _ = collection(1)
    found = rb.uncertainty(qrels, runs, ["RBP(p=0.8)", "AP"], groups=group_of, samples=20)
    assert any("A 95% interval needs 19 other groups" in note for note in found.notes())
    for row in found.rows():
        if row["sd"] > 0:
            assert (row["ci_low"], row["ci_high"]) == (row["low"], row["high"])
    for pair in differences(qrels, runs, "RBP(p=0.8)", groups=group_of).pairs:
        if pair.sd > 0:
            assert (pair.ci_low, pair.ci_high) == (pair.certain_low, pair.certain_high)
            decided = pair.certain_low > 0 or pair.certain_high < 0
            assert decided or math.isnan(pair.probability_better)


def test_where_no_group_has_documents_of_its_own_nothing_is_expected():
    qrels = {"q": {"a": 1, "b": 0}}
    runs = {"one": {"q": ["a", "b", "x"]}, "two": {"q": ["b", "a", "y"]}, "three": {"q": ["a", "b", "z"]}}
    found = rb.uncertainty(qrels, runs, ["RBP(p=0.8)", "nDCG@3"], samples=10)
    for row in found.rows():
        assert math.isnan(row["mean"])
        assert math.isnan(row["sd"])
        assert (row["ci_low"], row["ci_high"]) == (row["low"], row["high"])
    assert any("there are 0, so" in note for note in found.notes())
    judged = rb.uncertainty({"q": dict.fromkeys("abxyz", 1)}, runs, "P@3")
    assert not any("interval" in note for note in judged.notes())
    for pair in differences(qrels, runs, "RBP(p=0.8)").pairs:
        assert math.isnan(pair.difference)
        assert pair.certain_low < 0 < pair.certain_high
        assert math.isnan(pair.probability_better)
    alike = {"one": {"q": ["a", "x"]}, "two": {"q": ["b", "y"]}, "same": {"q": ["a", "x"]}}
    pairs = {(pair.run, pair.against): pair for pair in differences(qrels, alike, "P@2").pairs}
    certain = pairs.get(("one", "same")) or pairs["same", "one"]
    assert (certain.difference, certain.sd, certain.ci_low, certain.certain_high) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("measure", ["RBP(p=0.8)", "AP@5"])
def test_one_other_group_shows_no_expected_score(measure):
    made = rb.studies.simulate(runs=2, topics=10, documents=200, depth=20, pool_depth=5, pooled_runs=1, seed=4)
    found = rb.uncertainty(made.pooled, made.runs, measure, samples=20, confidence=0.5)
    open_ones = [row for row in found.rows() if not row["pooled"]]
    for row in open_ones:
        assert math.isnan(row["mean"])
        assert math.isnan(row["sd"])
        assert (row["ci_low"], row["ci_high"]) == (row["low"], row["high"])
    assert open_ones
    assert any("needs 2 other groups" in note and "no expected score" in note for note in found.notes())


def test_notes_name_the_runs_that_lack_groups():
    made = rb.studies.simulate(runs=5, topics=10, documents=200, depth=20, pool_depth=5, pooled_runs=4, seed=4)
    found = rb.uncertainty(made.pooled, made.runs, "RBP(p=0.8)", confidence=0.8, samples=20)
    outside = [name for name, inside in found.pooled.items() if not inside]
    (note,) = [note for note in found.notes() if "other groups" in note]
    lacking = [run.name for run in made.runs if run.name not in outside]
    assert f"needs 4 other groups that added documents to the pool; there are 3 for {', '.join(lacking)}, so" in note
    calibrated = [row["run"] for row in found.rows() if row["high"] - row["ci_high"] > 1e-9]
    assert calibrated == outside
    assert "mean and sd are not calibrated" in note


def test_intervals_of_pooled_runs_are_said_to_be_extrapolated():
    made = rb.studies.simulate(runs=5, topics=10, documents=200, depth=20, pool_depth=5, pooled_runs=4, seed=4)
    shallow, deep = (
        rb.uncertainty(made.pooled, made.runs, measure, confidence=0.7).notes() for measure in ("P@5", "RBP(p=0.8)")
    )
    assert any("deeper than those it was calibrated on" in note for note in deep)
    assert not any("deeper than those it was calibrated on" in note for note in shallow)


@pytest.mark.parametrize("measure", ["ESL(n=2)", "RankPower"])
def test_searches_that_may_never_end_are_not_given_an_end(measure):
    made = rb.studies.simulate(
        runs=8, topics=12, documents=80, depth=8, pool_depth=5, relevant=0.1, pooled_runs=6, seed=3
    )
    known, found = (
        rb.uncertainty(made.pooled, made.runs, measure, q=q, confidence=0.5, samples=200).rows()
        for q in (0.3, "groups")
    )
    endless = 0
    for row, other in zip(found, known, strict=True):
        if math.isinf(other["mean"]) and math.isinf(row["high"]) and row["low"] < row["high"]:
            endless += 1
            assert not math.isfinite(row["mean"])
            assert (row["ci_low"], row["ci_high"]) == (row["low"], math.inf)
    assert endless > 4


def test_effort_is_better_when_lower_by_calibrated_probabilities_too():
    made = rb.studies.simulate(runs=7, topics=10, documents=60, depth=8, pool_depth=7, relevant=0.4, seed=2)
    pairs = differences(made.pooled, made.runs, "RankPower", confidence=0.5, samples=100).pairs
    decided = 0
    for pair in pairs:
        if pair.sd > 0 and not math.isnan(pair.probability_better) and pair.difference:
            decided += 1
            assert (pair.probability_better > pair.probability_worse) == (pair.difference < 0)
            assert pair.certain_high >= 0 or pair.probability_better == 1.0
    assert decided > 5


@pytest.mark.parametrize("measure", ["RBP(p=0.8)", "nDCG@5"])
def test_calibrated_probabilities_are_certain_only_where_bounds_are(measure):
    made = rb.studies.simulate(runs=9, topics=30, documents=100, depth=9, pool_depth=8, pooled_runs=6, seed=7)
    likely, certain = 0, 0
    for pair in differences(made.pooled, made.runs, measure, confidence=0.5, samples=50).pairs:
        decided = pair.certain_low > 0 or pair.certain_high < 0
        assert (max(pair.probability_better, pair.probability_worse) == 1) == decided
        certain += decided
        likely += not decided and max(pair.probability_better, pair.probability_worse) == 0.99
    assert certain
    assert likely


def test_groups_by_the_beginnings_of_names():
    names = ["uw_base-1", "uw-x", "solo", "uwb_2"]
    assert groups_by_prefix(names, "_-") == {"uw_base-1": "uw", "uw-x": "uw", "solo": "solo", "uwb_2": "uwb"}
    assert groups_by_prefix(names, "2") == {"uw_base-1": "uw", "uw-x": "uw", "solo": "so", "uwb_2": "uw"}
    with pytest.raises(rb.UsageError, match="prefix"):
        groups_by_prefix(names, "0")


def test_command(tmp_path, capfd):
    qrels, runs, group_of, _ = collection(2, groups=8)
    rb.Qrels(qrels).write(tmp_path / "qrels.txt")
    (tmp_path / "runs").mkdir()
    for name, lists in runs.items():
        scores = {q: {d: -rank for rank, d in enumerate(documents)} for q, documents in lists.items()}
        rb.Run(scores, name=name).write(tmp_path / "runs" / f"{name}.txt")
    (tmp_path / "groups.txt").write_text("".join(f"{run} {group}\n" for run, group in group_of.items()))
    given = [
        "uncertainty",
        str(tmp_path / "qrels.txt"),
        str(tmp_path / "runs"),
        "--confidence",
        ".7",
        "--format",
        "json",
    ]
    outputs = []
    for options in (["--groups", str(tmp_path / "groups.txt")], ["--groups", "-"], ["--groups", "2"]):
        assert main([*given, *options]) == 0
        out, err = capfd.readouterr()
        outputs.append(json.loads(out))
        assert "calibrated by leaving groups out of the pool" in err
    assert outputs[0] == outputs[1] == outputs[2]
    expected = rb.uncertainty(qrels, runs, groups=group_of, confidence=0.7).rows()
    assert {row["measure"] for row in expected} == {"nDCG@10"}
    assert {row["run"]: row["ci_high"] for row in outputs[0]} == pytest.approx(
        {row["run"]: row["ci_high"] for row in expected}
    )
    assert {row["run"]: row["pooled"] for row in outputs[0]}["g7-0"] is False
    assert main(["uncertainty", str(tmp_path / "qrels.txt"), str(tmp_path / "runs" / "g7-0.txt")]) == 2
    assert "one run alone cannot show" in capfd.readouterr().err
