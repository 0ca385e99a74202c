"""Audited labels: right in the limit, unbiased, with intervals that cover; and every mistake told in a sentence."""

from __future__ import annotations

import itertools
import json

import numpy as np
import polars
import pytest
from made_samples import MODEL, ROWS, SYSTEMS, collection, judged, pool_of, written

import rankbounds as rb
from rankbounds.collection.qrels import Qrels
from rankbounds.judging.audits.audit import half_widths_at_any_look, judgments_until
from rankbounds.judging.audits.estimates import CalibratedPool
from rankbounds.judging.audits.labelled_pool import JudgedSample
from rankbounds.measures import parse_measure

MEASURES = ["RBP(p=0.8,rel=2)", "RBP(p=0.9,graded=true)", "P@5", "DCG@10", "nDCG@5", "AP(rel=2)", "Recall(rel=2)@5"]


class TestEverythingJudged:
    @pytest.mark.parametrize("measure", MEASURES)
    def test_the_estimate_is_the_score_with_these_judgments(self, measure):
        people, labels, runs = collection(1)
        everything = judged(rb.judging.draw_sample(labels, runs, measure, budget=90, seed=1), people)
        rows = rb.audit(labels, everything, runs, measure).rows()
        truth = rb.evaluate(people, runs, measure).value.mean(axis=1)[:, 0]
        by_labels = rb.evaluate(labels, runs, measure).value.mean(axis=1)[:, 0]
        assert [row["estimate"] for row in rows] == pytest.approx(truth)
        assert [row["by_labels"] for row in rows] == pytest.approx(by_labels)
        assert [row["sd"] for row in rows] == [0] * 3
        assert all(row["ci_low"] == row["ci_high"] for row in rows)
        assert [row["judged"] for row in rows] == [90] * 3
        for row in rb.audit(labels, everything, runs, measure, difference=True, sequential=True).rows():
            assert row["decided"]
            assert row["ci_low"] == row["ci_high"] == pytest.approx(row["estimate"])


class TestRows:
    def test_pairs_are_differences_of_runs(self):
        people, labels, runs = collection(10)
        sample = judged(rb.judging.draw_sample(labels, runs, "AP(rel=2)", budget=40, compare="all", seed=1), people)
        single = {row["run"]: row for row in rb.audit(labels, sample, runs, "AP(rel=2)").rows()}
        pairs = rb.audit(labels, sample, runs, "AP(rel=2)", difference=True).rows()
        assert [{row["run"], row["against"]} for row in pairs] == list(map(set, itertools.combinations(runs, 2)))
        two = dict(list(runs.items())[:2])
        (pair,) = rb.audit(labels, sample, two, "AP(rel=2)", difference=True).rows()
        assert [pair["against"], pair["run"]] == list(two)
        for row in pairs:
            assert row["estimate"] >= 0
            for key in ("by_labels", "estimate"):
                assert row[key] == pytest.approx(single[row["run"]][key] - single[row["against"]][key])
            assert row["ci_low"] < row["estimate"] < row["ci_high"]
            assert row["method"] == "linearised"

    @pytest.mark.parametrize(
        ("measure", "parts", "times"), [("RBP(p=0.8)", 40, 0), ("nDCG@5", 80, 2), ("AP(rel=2)", 80, 3)]
    )
    def test_what_linearisation_leaves_out_widens_the_interval(self, measure, parts, times):
        """Two or three times its standard deviation, held against real labels."""
        people, labels, runs = collection(12)
        sample = judged(rb.judging.draw_sample(labels, runs, measure, budget=40, seed=1), people)
        found = rb.audit(labels, sample, runs, measure)
        (estimate,) = found.estimates
        assert estimate.deviations.shape == (3, parts)
        design = np.square(estimate.deviations[:, :40]).sum(axis=1)
        left_out = 0.0 if estimate.remainder is None else estimate.remainder.var(axis=-1, ddof=1)
        sd = [row["sd"] for row in found.rows()]
        assert np.square(sd) == pytest.approx(design + left_out * (times**2 + 1 / 40))

    def test_a_sample_in_any_form_and_order(self, tmp_path):
        people, labels, runs = collection(11)
        rows = judged(rb.judging.draw_sample(labels, runs, budget=30, seed=1), people)
        expected = rb.audit(labels, rows, runs).rows()
        polars.DataFrame(rows).write_csv(tmp_path / "sample.csv")
        polars.DataFrame(rows).write_parquet(tmp_path / "sample.parquet")
        (tmp_path / "sample.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        forms = [
            polars.DataFrame(rows),
            rows[::-1],
            *(tmp_path / f"sample.{end}" for end in ("csv", "jsonl", "parquet")),
        ]
        for form in forms:
            for row, same in zip(rb.audit(labels, form, runs).rows(), expected, strict=True):
                assert row == pytest.approx(same)
        judgments = rb.Qrels.from_columns(
            *zip(*[(r["query_id"], r["doc_id"], r["relevance"]) for r in rows], strict=True)
        )
        bare = [{key: row[key] for key in ("query_id", "doc_id", "order", "probability")} for row in rows]
        assert rb.audit(labels, bare, runs, judgments=judgments).rows() == expected

    @pytest.mark.parametrize("measure", ["P@3", "RBP(p=0.8)", "AP", "nDCG@5", "DCG@5"])
    @pytest.mark.parametrize("alike", [True, False])
    def test_with_all_judged_the_estimate_is_the_score(self, measure, alike):
        people, labels, runs = collection(12, topics=5)
        if alike:
            people = {topic: dict.fromkeys(of, 1) for topic, of in people.items()}
        sample = judged(rb.judging.draw_sample(labels, runs, measure, budget=75, seed=1), people)
        found = {row["run"]: row for row in rb.audit(labels, sample, runs, measure).rows()}
        mean = rb.evaluate(people, runs, measure).mean()
        for run, row in found.items():
            value = mean.run(run).value.item()
            assert (row["estimate"], row["ci_low"], row["ci_high"]) == pytest.approx((value,) * 3)


def test_runs_are_printed_best_first():
    people, labels, runs = collection(18, runs=6)
    found = rb.audit(
        labels, judged(rb.judging.draw_sample(labels, runs, budget=50), people), runs, ["RBP(p=0.8)", "AP"]
    )
    rows = {row["run"]: row["estimate"] for row in found.rows()[:6]}
    best_first = sorted(rows, key=rows.get, reverse=True)
    assert best_first != list(runs)
    assert [line.split()[0] for line in found.table().text().splitlines()[1:]] == 2 * best_first


class TestScales:
    def test_two_valued_labels_under_a_higher_rel(self):
        people, labels, runs = collection(13)
        binary = {topic: {doc: int(grade >= 2) for doc, grade in docs.items()} for topic, docs in labels.items()}
        sample = judged(rb.judging.draw_sample(binary, runs, "AP(rel=2)", budget=40, seed=1), people)
        audit = rb.audit(binary, sample, runs, "AP(rel=2)")
        expected = rb.evaluate(binary, runs, "AP").value.mean(axis=1)[:, 0]
        assert [row["by_labels"] for row in audit.rows()] == pytest.approx(expected)

    def test_labels_that_never_reach_rel_are_not_guessed(self):
        people, labels, runs = collection(14)
        low = {topic: {doc: grade / 3 for doc, grade in docs.items()} for topic, docs in labels.items()}
        sample = judged(rb.judging.draw_sample(low, runs, "AP(rel=2)", budget=40, seed=1), people)
        unknown = rb.audit(low, sample, runs, "AP(rel=2)")
        assert all(np.isnan(row["by_labels"]) for row in unknown.rows())
        assert any("label_rel" in note for note in unknown.notes())
        known = rb.audit(low, sample, runs, "AP(rel=2)", label_rel=2 / 3)
        expected = rb.evaluate(labels, runs, "AP(rel=2)").value.mean(axis=1)[:, 0]
        assert [row["by_labels"] for row in known.rows()] == pytest.approx(expected)

    def test_estimates_do_not_depend_on_the_scale_of_the_labels(self):
        people, labels, runs = collection(15)
        other = {topic: {doc: 10 * grade + 5 for doc, grade in docs.items()} for topic, docs in labels.items()}
        sample = rb.judging.draw_sample(labels, runs, "nDCG@5", budget=40, seed=1)
        same = rb.judging.draw_sample(other, runs, "nDCG@5", budget=40, seed=1).rows()
        assert same == [pytest.approx(row) for row in sample.rows()]
        one, two = (rb.audit(given, judged(sample, people), runs, "nDCG@5").rows() for given in (labels, other))
        assert [row["estimate"] for row in one] == pytest.approx([row["estimate"] for row in two])


def test_a_sample_for_another_question_is_told():
    people, labels, runs = collection(16, topics=20)
    pair = judged(rb.judging.draw_sample(labels, runs, "P@3", budget=60, compare=("run0", "run1"), seed=1), people)
    good = rb.audit(labels, pair, {name: runs[name] for name in ("run0", "run1")}, "P@3", difference=True)
    bad = rb.audit(labels, pair, {"run2": runs["run2"]}, "P@3")
    assert not any("another question" in note for note in good.notes())
    assert any("another question" in note for note in bad.notes())


@pytest.mark.parametrize("measure", ["P@3", "nDCG@10", "AP"])
@pytest.mark.parametrize("compare", [None, "all", ("run0", "run1")])
def test_a_sample_for_other_runs_another_difference_or_measure_is_told(measure, compare):
    people, labels, runs = collection(16, topics=8, runs=4)
    rows = judged(rb.judging.draw_sample(labels, runs, measure, budget=30, compare=compare, seed=1), people)
    pair = {name: runs[name] for name in ("run0", "run1")}

    def says_so(some, asked, difference):
        notes = rb.audit(labels, rows, some, asked, difference=difference).notes()
        return any("drawn for another question" in note for note in notes)

    right = pair if compare == ("run0", "run1") else runs
    assert not says_so(right, measure, compare is not None)
    assert says_so(right, "RBP(p=0.8)", compare is not None)
    assert says_so({name: runs[name] for name in ("run0", "run2")}, measure, compare is not None)
    reversed_run = {query: {doc: -score for doc, score in docs.items()} for query, docs in runs["run0"].items()}
    assert says_so({**right, "more": reversed_run}, measure, compare is not None)
    assert compare or says_so(runs, measure, True)


def test_the_measure_is_the_first_of_the_default_list():
    people, labels, runs = collection(16, topics=8)
    sample = rb.judging.draw_sample(labels, runs, budget=20)
    assert sample.question.endswith("in nDCG@10")
    found = rb.audit(labels, judged(sample, people), runs)
    assert {row["measure"] for row in found.rows()} == {"nDCG@10"}
    assert not any("another question" in note for note in found.notes())


def test_few_judgments_of_the_right_question_are_not_taken_for_another_one():
    """The first draws may look alike by chance, as if nothing were left to chance."""
    people, labels, runs = collection(16, topics=20)
    two = {name: runs[name] for name in ("run0", "run1")}
    for seed in range(20):
        rows = judged(rb.judging.draw_sample(labels, two, "P@3", budget=10, compare="all", seed=seed), people)
        for size in (1, 2, 3, 5, 10):
            found = rb.audit(labels, rows[:size], two, "P@3", difference=True)
            assert not any("another question" in note for note in found.notes())


def test_a_run_that_lacks_topics_is_told():
    people, labels, runs = collection(16)
    rows = judged(rb.judging.draw_sample(labels, runs, "P@3", budget=20, seed=1), people)
    del runs["run1"]["q2"]
    with pytest.warns(rb.RankboundsWarning, match="1 of 3 runs lacks judged topics.*run1: topic q2"):
        rb.audit(labels, rows, runs, "P@3")


def ninety_judged():
    people, labels, runs = collection(21, topics=20)
    two = {name: runs[name] for name in ("run0", "run1")}
    return labels, judged(rb.judging.draw_sample(labels, two, "P@5", budget=90, compare="all", seed=1), people), two


class TestLooks:
    """Intervals that hold at every look, and looks at a sample that is not judged to its end."""

    def test_a_sample_judged_in_part_is_the_audit_of_that_part_and_says_so(self):
        labels, rows, runs = ninety_judged()
        part = [row | {"relevance": None} if row["order"] > 50 else row for row in rows]
        gap = [row | {"relevance": None} if row["order"] == 51 else row for row in rows]
        whole, early, holed = (rb.audit(labels, sample, runs, "P@5") for sample in (rows[:50], part, gap))
        assert early.rows() == holed.rows() == whole.rows()
        assert [any("use sequential=True" in note for note in one.notes()) for one in (whole, early)] == [False, True]
        assert not any(
            "use sequential=True" in note for note in rb.audit(labels, part, runs, "P@5", sequential=True).notes()
        )
        assert any("39 judgments are not used" in note for note in holed.notes())

    def test_intervals_at_every_look_are_wider_and_mirror_when_runs_are_swapped(self):
        labels, rows, runs = ninety_judged()
        swapped = dict(reversed(runs.items()))
        for size in (10, 40, 90):
            fixed, looked, mirrored = (
                rb.audit(labels, rows[:size], systems, "P@5", difference=True, sequential=sequential).rows()[0]
                for systems, sequential in ((runs, False), (runs, True), (swapped, True))
            )
            assert looked["estimate"] == fixed["estimate"] == pytest.approx(-mirrored["estimate"])
            assert looked["ci_low"] <= fixed["ci_low"]
            assert fixed["ci_high"] <= looked["ci_high"]
            assert (looked["ci_low"], looked["ci_high"]) == pytest.approx((-mirrored["ci_high"], -mirrored["ci_low"]))

    def test_the_boundary_is_where_a_normal_mixture_reaches_one_over_alpha(self):
        """The mixture over drifts of variance 1/r of exp(drift * s - drift^2 * v / 2), integrated by brute force."""
        variance, unseen, alpha = 3.0, 0.4, 0.05
        r = unseen * 1.959963984540054**2
        half = float(half_widths_at_any_look(np.array([variance]), np.array([unseen]), 0.95)[0])
        drift = np.linspace(-15, 15, 200_001)
        density = np.sqrt(r / (2 * np.pi)) * np.exp(-(drift**2) * r / 2)
        wealth = np.trapezoid(density * np.exp(drift * half - drift**2 * variance / 2), drift)
        assert wealth == pytest.approx(1 / alpha, rel=1e-6)

    def test_misses_of_any_look_are_rare(self):
        """Random labels and close runs, a look after every judgment from 10 on; 100 orders."""
        people, labels, runs = collection(22, topics=12, docs=20)
        two, missed = {name: runs[name] for name in ("run0", "run1")}, 0
        scores = rb.evaluate(people, two, "P@5").value.mean(axis=1)[:, 0]
        truth = scores[1] - scores[0]
        for seed in range(100):
            sample = rb.judging.draw_sample(labels, two, "P@5", budget=50, compare="all", seed=seed)
            pool = pool_of(labels, two)
            whole = CalibratedPool.of(pool, JudgedSample.of(judged(sample, people), pool), parse_measure("P@5"))
            looks = []
            for look in range(10, 51, 4):
                estimate = whole.first(look).estimate(whole_measure := parse_measure("P@5"), None)
                value, variance, unseen = estimate.errors(np.array([1]), np.array([0]))
                looks.append(abs(value[0] - truth) > half_widths_at_any_look(variance, unseen, 0.95)[0])
                assert estimate.measure == whole_measure
            missed += any(looks)
        assert missed <= 9  # 5 expected at most, and 9 with a chance of .97

    def test_a_pair_is_settled_when_the_interval_leaves_out_0(self):
        people, labels, _ = collection(21, topics=20)
        runs = {
            "good": {topic: sorted(docs, key=docs.get, reverse=True) for topic, docs in people.items()},
            "bad": {topic: sorted(docs, key=docs.get) for topic, docs in people.items()},
        }
        rows = judged(rb.judging.draw_sample(labels, runs, "P@5", budget=150, compare="all", seed=1), people)
        early, late = (rb.audit(labels, rows[:n], runs, "P@5", difference=True, sequential=True) for n in (5, 150))
        assert not early.rows()[0]["decided"]
        assert 5 < early.rows()[0]["judgments_needed"] <= 200
        assert late.rows()[0]["decided"]
        assert late.rows()[0]["judgments_needed"] == 150
        assert late.words() == "Settled: good is better than bad in P@5."
        assert early.words().startswith("Not settled after 5 judgments")

    def test_judgments_needed_are_the_fewest_that_make_it_short_enough(self):
        variance, unseen, most = np.array([4e-4, 1.0]), np.array([1e-6, 0.01]), np.array([900, 900])
        found = judgments_until(np.array([0.03, 1e-6]), variance, unseen, 0.95, 100, most)
        assert found[1] == 900
        growth = found[0] / 100
        assert half_widths_at_any_look(variance[:1] / growth, unseen[:1] / growth**2, 0.95)[0] <= 0.03
        growth /= 1.06
        assert half_widths_at_any_look(variance[:1] / growth, unseen[:1] / growth**2, 0.95)[0] > 0.03


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measures": "RR"}, "cannot be audited"),
        ({"measures": "RBP(p=0.8,graded=true,by_topic=true)"}, "largest grade"),
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"runs": {"run0": SYSTEMS["run0"]}, "difference": True}, "two runs"),
        ({"gain": "0=1,1=2"}, "grade 0"),
    ],
)
def test_what_cannot_be_audited_is_told(change, message):
    asked = {"labels": MODEL, "sample": ROWS, "runs": SYSTEMS, "measures": "nDCG@5"} | change
    with pytest.raises(rb.RankboundsError, match=message):
        rb.audit(**asked)


class TestCommand:
    @pytest.fixture
    def files(self, tmp_path):
        written(tmp_path)
        polars.DataFrame(ROWS).write_csv(tmp_path / "judged.csv")
        return [tmp_path / "labels", tmp_path / "judged.csv", *(tmp_path / name for name in SYSTEMS)]

    def test_json(self, command, files):
        code, out, _ = command("audit", *files, "-m", "AP(rel=2)", "--format", "json")
        assert code == 0
        assert json.loads(out) == [pytest.approx(row) for row in rb.audit(MODEL, ROWS, SYSTEMS, "AP(rel=2)").rows()]
        keys = ["measure", "by_labels", "estimate", "sd", "ci_low", "ci_high", "judged", "method"]
        assert [list(row) for row in json.loads(out)] == [["run", *keys]] * 3
        _, out, _ = command("audit", *files, "--difference", "--format", "json")
        assert [list(row) for row in json.loads(out)] == [["run", "against", *keys]] * 3

    def test_table_and_notes(self, command, files):
        code, out, err = command("audit", *files, "-m", "nDCG@5")
        assert code == 0
        answer, _, heading, *_ = out.splitlines()
        assert answer.startswith("By nDCG@5, ")
        assert heading.split()[:5] == ["run", "measure", "by", "labels", "estimate"]
        assert "95% (sampled labels)" in heading
        assert "these topics only" not in err
        _, again, err = command("audit", *files, "-m", "nDCG@5", "--explain")
        assert again == out
        assert "these topics only" in err
        assert "linearisation" in err

    def test_judgments_are_no_sample(self, command, files):
        labels, _, *runs = files
        code, _, err = command("audit", labels, labels, *runs)
        assert (code, err.count("\n")) == (3, 1)
        assert 'Give the file that "rankbounds sample" wrote' in err

    def test_looks(self, command, files):
        labels, sample, *runs = files
        code, out, err = command("audit", labels, sample, *runs[:2], "--difference", "--sequential", "--format", "json")
        two = {name: SYSTEMS[name] for name in ("run0", "run1")}
        assert code == 0
        assert json.loads(out) == rb.audit(MODEL, ROWS, two, difference=True, sequential=True).rows()
        assert "ettled" in err

    def test_no_run(self, command, files):
        code, _, err = command("audit", *files[:2])
        assert (code, err.count("\n")) == (2, 1)
        assert "LABELS, SAMPLE and runs" in err


def coverage(labels, people, runs, measure, budget, draws):
    """How often intervals of random pairs cover, and their mean half-width."""
    rng = np.random.default_rng(0)
    truth = dict(
        zip([run.name for run in runs], rb.evaluate(people, runs, measure).value.mean(axis=1)[:, 0], strict=True)
    )
    grades = people.to_dict()
    covered, half_width = [], []
    for seed in range(draws):
        pair = [runs[number] for number in rng.choice(len(runs), 2, replace=False)]
        names = (pair[0].name, pair[1].name)
        sample = rb.judging.draw_sample(labels, pair, measure, budget=budget, compare=names, seed=seed)
        (row,) = rb.audit(labels, judged(sample, grades), pair, measure, difference=True).rows()
        covered.append(row["ci_low"] - 1e-12 <= truth[names[1]] - truth[names[0]] <= row["ci_high"] + 1e-12)
        half_width.append((row["ci_high"] - row["ci_low"]) / 2)
    return np.mean(covered), np.mean(half_width)


@pytest.fixture(scope="module")
def real(unpacked):
    folder = unpacked("dl21-half.tar.xz") / "dl21-half"
    return folder, rb.read_qrels(folder / "human.qrels"), rb.read_runs(str(folder / "runs" / "*"))


class TestRealLabels:
    """benchmarks/label_audit.py has the table of 2,000 draws; here few enough to take seconds."""

    def test_intervals_of_a_weighted_sum_cover(self, real):
        folder, people, runs = real
        found, half_width = coverage(
            rb.read_qrels(folder / "umbrela-gpt4.qrels"), people, runs, "RBP(p=0.8,rel=2)", 300, 60
        )
        assert found >= 0.88
        assert half_width < 0.042

    def test_a_perfect_judge_and_an_inverted_one_leave_what_300_judgments_without_an_exception_do(self, real):
        _, people, runs = real
        inverted = Qrels._of_pairs(people.pairs, 3 - people.grade)
        for labels in (people, inverted):
            found, half_width = coverage(labels, people, runs, "RBP(p=0.8,rel=2)", 300, 10)
            assert found == 1.0
            assert 0.005 < half_width < 0.02
