"""What to judge next, for any measure and question: effects against evaluating anew, counts against judging by hand."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.collection.inputs import Reading
from rankbounds.columns import pairs
from rankbounds.commands.demo import DATA
from rankbounds.comparison import Evidence
from rankbounds.desk.planning import plan_next
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.judging.next import judge_next
from rankbounds.judging.next.open_documents import DRAWS_OF_EFFECTS, OpenDocuments, SimulatedJudging, least_count
from rankbounds.judging.next.plan import SettlingPlan, difference_left
from rankbounds.probability.drawn_scores import DrawnCompletions
from rankbounds.probability.models.chosen import ChosenModels
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.report import Choices, gather
from rankbounds.report.page import Live

QRELS = {"1": {"a": 2, "b": 0, "c": 1, "x": 1}, "2": {"a": 1, "d": 0, "z": 2}}
RUNS = {
    "one": {"1": ["a", "u", "b", "v"], "2": ["u", "a", "w"]},
    "other": {"1": ["v", "c", "u"], "2": ["d", "v", "u"]},
}


def question(measure, qrels=QRELS, runs=RUNS, q=0.0):
    facts = TopicFacts(Reading().judgments(qrels))
    return OpenDocuments(ChosenModels(q, None, Reading().runs(runs), facts, Assumptions()), rb.parse_measure(measure))


def effects(asked, group):
    """A row for each run of the group: what each document adds to it."""
    effect = np.zeros((len(group), len(asked.collection)))
    for _, some, part in asked.effects([group]):
        effect[:, some] = part
    return effect


def documents(asked):
    names = asked.collection.retrieved.doc_ids(np.arange(len(asked.collection)))
    topics = [asked.collection.facts.query_ids[topic] for topic in asked.collection.topic.tolist()]
    return list(zip(topics, names, strict=True))


@pytest.mark.parametrize("measure", ["RBP(p=0.8)", "nDCG@3"])
@pytest.mark.parametrize("q", [2, math.nan, -0.1])
def test_what_is_no_probability_is_refused_even_where_none_is_needed(measure, q):
    with pytest.raises(rb.UsageError):
        rb.judge_next(QRELS, RUNS, measure=measure, q=q)


@pytest.mark.filterwarnings("ignore:Few documents are judged")
def test_threads_that_share_a_run_keep_its_documents_and_ranks_together(monkeypatch):
    """Each thread rests before each line of what is called with a batch."""
    run = {f"t{topic}": [f"d{rank}" for rank in range(5 + topic % 7)] for topic in range(60)}

    def plan(threads):
        monkeypatch.setattr(judge_next, "worth_starting", lambda: threads)
        return rb.judge_next({topic: {"d0": 1} for topic in run}, {"one": run}, budget=500, measure="RBP").rows()

    def rest(frame, *_):
        time.sleep(1e-4)
        return rest

    before = threading.gettrace()
    expected = plan(1)
    monkeypatch.setattr(pairs, "SLICE_ROWS", 16)
    threading.settrace(lambda frame, *_: rest if frame.f_code.co_name == "keep_holes" else None)
    try:
        assert plan(2) == expected
    finally:
        threading.settrace(before)


@pytest.mark.parametrize(
    "measure", ["nDCG@3", "nDCG", "AP", "Recall@2", "RR", "P@3", "DCG@2", "RBP(p=0.8)", "Q", "RPrec"]
)
def test_an_effect_is_what_evaluating_anew_says(measure):
    """With q = 0 all others are non-relevant, and the effect is the plain change of the score."""
    asked = question(measure)
    effect = effects(asked, (0, 1))
    chosen = rb.parse_measure(measure)
    unjudged = {topic: dict(judged) for topic, judged in QRELS.items()}
    for topic, doc in documents(asked):
        unjudged[topic][doc] = 0
    before = rb.evaluate(unjudged, RUNS, measure).mean().value[:, 0, 0]
    top = 2 if chosen.graded else 1
    for place, (topic, doc) in enumerate(documents(asked)):
        judged = {name: dict(grades) for name, grades in unjudged.items()}
        judged[topic][doc] = top
        after = rb.evaluate(judged, RUNS, measure).mean().value[:, 0, 0]
        np.testing.assert_allclose(effect[:, place], after - before, atol=1e-12, err_msg=f"{topic}/{doc}")


@pytest.mark.parametrize("group", [(0,), (0, 1)])
@pytest.mark.parametrize("measure", ["AP", "AP@2", "nDCG@3", "Recall@2"])
def test_an_effect_is_the_mean_over_what_the_others_may_be(measure, group):
    """In every draw, the others judged as drawn: relevant less non-relevant, evaluated anew."""
    asked = question(measure, q=0.4)
    named, drawn = documents(asked), asked.drawn.again(DRAWS_OF_EFFECTS)
    topics = np.arange(len(asked.collection.facts.query_ids))
    part = drawn.completed(topics)
    held = asked.collection.held[list(group)].any(axis=0)
    names = [list(RUNS)[run] for run in group]
    top = 2 if asked.measure.graded else 1
    depth = asked.measure.cutoff or math.inf
    effect = effects(asked, group)
    for place, (topic, doc) in enumerate(named):
        if not held[place]:
            assert not effect[:, place].any()
            continue
        for row, name in enumerate(names):
            if not 0 < asked.collection.rank[group[row], place] <= depth:
                continue  # such documents have the effect of one more relevant document elsewhere
            changes = []
            for draw in range(DRAWS_OF_EFFECTS):
                judged = {name: dict(grades) for name, grades in QRELS.items()}
                for at, (own_topic, own_doc) in enumerate(named):
                    if held[at]:
                        judged[own_topic][own_doc] = 0
                for own, at, grade in zip(part.completion, part.document, part.grade, strict=True):
                    if own == draw and draw > 0 and held[at]:
                        judged[named[at][0]][named[at][1]] = grade
                scores = []
                was = judged[topic][doc]
                for grade in (0, max(was, top) if was == 0 else was):
                    judged[topic][doc] = grade
                    scores.append(rb.evaluate(judged, {name: RUNS[name]}, measure).mean().value.item())
                changes.append(scores[1] - scores[0])
            assert effect[row, place] == pytest.approx(np.mean(changes), abs=1e-12), (topic, doc, name)


@pytest.mark.parametrize(("measure", "slack"), [("AP", 0.0), ("Q", 0.02)])
def test_effects_far_down_a_long_list(measure, slack):
    """Of AP every rank is worked out; of others some are looked at, the rest lies on the line between them."""
    simulated = rb.studies.simulate(2, 2, 400, 300, pool_depth=5, seed=3)
    asked = question(measure, simulated.pooled, simulated.runs)
    effect = effects(asked, (0, 1))
    rng = np.random.default_rng(1)
    everything = {topic: dict(judged) for topic, judged in simulated.pooled.to_dict().items()}
    named = documents(asked)
    for topic, doc in named:
        everything[topic][doc] = 0.0
    before = rb.evaluate(everything, simulated.runs, measure).mean().value[:, 0, 0]
    top = max(grade for judged in everything.values() for grade in judged.values())
    for place in rng.permutation(len(named))[:20].tolist():
        topic, doc = named[place]
        judged = {name: judged | ({doc: top} if name == topic else {}) for name, judged in everything.items()}
        after = rb.evaluate(judged, simulated.runs, measure).mean().value[:, 0, 0]
        np.testing.assert_allclose(effect[:, place], after - before, atol=slack * np.abs(effect).max() + 1e-12)


def test_documents_are_drawn_once_for_all_runs(monkeypatch):
    simulated = rb.studies.simulate(3, 6, 80, 30, pool_depth=3, seed=8)
    drawn_topics = []
    completed = DrawnCompletions.completed

    def counted(self, topics):
        drawn_topics.extend(topics.tolist())
        return completed(self, topics)

    monkeypatch.setattr(DrawnCompletions, "completed", counted)
    asked = question("AP", simulated.pooled, simulated.runs, q=0.2)
    asked.plan(None, 5)
    assert sorted(drawn_topics) == list(range(len(asked.collection.facts.query_ids)))


@pytest.mark.parametrize("measure", ["nDCG@3", "P@3", "AP"])
def test_what_is_open_between_two_runs_is_the_second_minus_the_first(measure):
    """As in compare: the candidate is named after the baseline."""
    plan = rb.judge_next(QRELS, RUNS, budget=20, measure=measure, compare=("one", "other"))
    (pair,) = rb.compare(QRELS, {name: RUNS[name] for name in ("one", "other")}, measure).pairs.rows()
    assert plan.pairs == ((pair["run"], pair["against"]),) == (("other", "one"),)
    assert plan.bounds[0] == pytest.approx((pair["certain_low"], pair["certain_high"]))
    row = plan.rows()[0]
    judged = QRELS | {row["query_id"]: QRELS[row["query_id"]] | {row["doc_id"]: 2}}
    before, after = (np.diff(rb.evaluate(known, RUNS, measure).mean().value[:, 0, 0]) for known in (QRELS, judged))
    assert row["effect"] * (after - before) > 0


def test_documents_for_the_other_run_come_first_where_relevance_is_rare():
    """To prove that one is better, what speaks for the other must be seen to be non-relevant."""
    plan = rb.judge_next(QRELS, RUNS, budget=20, measure="nDCG@3", compare=("one", "other"), q=0.05)
    assert isinstance(plan, SettlingPlan)
    assert (np.diff(plan.value) <= 1e-12).all()
    (ahead,) = plan.better
    against = [row["effect"] < 0 for row in plan.rows()]
    assert against[0] == (ahead > 0.5)
    turned = rb.judge_next(QRELS, RUNS, budget=20, measure="nDCG@3", compare=("other", "one"), q=0.05)
    assert [row["doc_id"] for row in turned.rows()] == [row["doc_id"] for row in plan.rows()]
    np.testing.assert_allclose(turned.value, plan.value, rtol=1e-4)
    np.testing.assert_allclose(turned.effect, -plan.effect)


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "AP", "P@10", "RR", "Recall@10", "DCG@10", "RBP(p=0.8)", "ESL(n=1)", "ERR"]
)
@pytest.mark.parametrize("compare", [None, ("run1", "run2"), "all"])
def test_any_measure_and_any_question(measure, compare):
    simulated = rb.studies.simulate(3, 6, 80, 30, pool_depth=3, relevant=0.4, best=0.5, worst=0.6, seed=8)
    plan = rb.judge_next(simulated.pooled, simulated.runs, budget=7, measure=measure, compare=compare, q=0.2)
    judged = simulated.pooled.to_dict()
    if not (compare == "all" and all(plan.settled)):
        assert 0 < len(plan) <= 7
    for row in plan.rows():
        assert row["doc_id"] not in judged[row["query_id"]]
        if compare is not None:
            assert list(row)[:3] == ["query_id", "doc_id", "value"]
            assert row["value"] > 0
    assert len(plan.pool()) == len(plan)


def judged_by_hand(asked, pair, order, grade):
    """How many judgments in this order settle the pair, looking at the bounds after every single one."""
    judged = np.full(len(asked.collection), np.nan)
    for count in range(order.size + 1):
        low, high = asked.bounds([pair], judged)
        if low[0] > 0 or high[0] < 0:
            return count
        if count < order.size:
            judged[order[count]] = grade[order[count]]
    return math.inf


@pytest.mark.parametrize("measure", ["P@5", "nDCG@5"])
def test_simulated_counts_are_those_of_judging_one_by_one(measure):
    simulated = rb.studies.simulate(2, 5, 60, 20, pool_depth=1, seed=5)
    asked = question(measure, simulated.pooled, simulated.runs, q=0.2)
    rounds = 6
    grade = asked._truths(rounds)
    judging = SimulatedJudging(
        np.stack(asked.effects_on([(0, 1)])), asked.share, asked.gain_shares(grade),
        asked.standing([(0, 1)])[:, :2].T, asked.bounds([(0, 1)]), level=1.0, to_the_end=True,
    )  # fmt: skip
    by_hand = [judged_by_hand(asked, (0, 1), order, grade[line]) for line, order in enumerate(judging.orders())]
    if measure == "P@5":  # the bounds of a weighted sum are followed exactly
        assert judging.counts.tolist() == by_hand
    found = [
        asked.until_settled([(0, 1)], grade[line], order, guess)
        for line, (order, guess) in enumerate(zip(judging.orders(), judging.counts.tolist(), strict=True))
    ]
    assert found == by_hand
    assert all(np.unique(order).size == order.size for order in judging.orders())


@pytest.mark.parametrize("answer", [0, 1, 2, 7, 50, 99, 100, math.inf])
@pytest.mark.parametrize("guess", [0, 1, 8, 60, math.inf])
def test_the_least_count_is_found_from_any_guess(answer, guess):
    assert least_count(lambda count: count >= answer, 100, guess) == answer


def test_how_many_judgments_are_told_with_an_interval():
    simulated = rb.studies.simulate(2, 12, 100, 40, pool_depth=2, seed=7)
    told = {}
    for until in ("settled", 0.95):
        plan = rb.judge_next(
            simulated.pooled, simulated.runs, budget=3, measure="P@10", compare=("run1", "run2"), q=0.1, until=until
        )
        needed = told[until] = plan.needed
        assert needed.simulations == 200
        assert 0 <= needed.low <= needed.median
        assert needed.high is None or needed.high >= needed.median
    assert told[0.95].median <= told["settled"].median
    again = rb.judge_next(
        simulated.pooled, simulated.runs, budget=3, measure="P@10", compare=("run1", "run2"), q=0.1, until="settled"
    )
    assert again.needed == told["settled"]


def test_command(tmp_path, capfd):
    simulated = rb.studies.simulate(3, 8, 100, 30, pool_depth=3, seed=2)
    simulated.pooled.write(tmp_path / "qrels")
    for run in simulated.runs:
        run.write(tmp_path / run.name)
    files = [str(tmp_path / name) for name in ("qrels", "run1", "run2", "run3")]

    def told(*arguments):
        assert main(["judge-next", *files, "--budget", "4", "--format", "json", *arguments]) == 0
        out, err = capfd.readouterr()
        return json.loads(out), err

    rows, err = told("-m", "nDCG@10", "--compare", "run1", "run2", "--until", "0.95", "--q", "0.1")
    assert [list(row)[:3] for row in rows] == [["query_id", "doc_id", "value"]] * 4
    assert "decided with probability 0.95 as it is, without further judgments" in err
    assert sorted(rows, key=lambda row: -row["value"]) == rows
    rows, err = told("-m", "AP", "--compare", "all")
    assert "as judged, run" in err
    rows, _ = told("-m", "nDCG@10")
    assert len(rows) == 4
    with pytest.raises(AssertionError):
        told("--until", "settled")
    assert "--until) needs a comparison" in capfd.readouterr().err
    assert told()[0] == rows
    rows, _ = told("-m", "RBP")
    assert {"query_id", "doc_id", "weight", "residual_after"} <= set(rows[0])


def test_the_paragraph_says_what_to_judge_for_any_measure():
    simulated = rb.studies.simulate(2, 20, 100, 40, pool_depth=6, relevant=0.4, best=0.5, worst=0.55, seed=3)
    evidence = Evidence(simulated.pooled, simulated.runs)
    for name in ("nDCG@10", "AP", "RBP(p=0.8)"):
        plan = evidence.to_judge(rb.parse_measure(name))
        assert plan is not None
        compared = evidence.compare([name])
        assert compared.pairs.rows()[0]["certain_low"] < 0 < compared.pairs.rows()[0]["certain_high"]
        assert f"{plan.query_ids[0]}/{plan.doc_ids[0]}" in compared.words()


@pytest.mark.parametrize("measures", [[], ["-m", "AP"], ["-m", "RBP,AP"]])
@pytest.mark.parametrize("names", [["dense", "reranked"], ["bm25", "bm25-expanded", "dense", "learned", "reranked"]])
def test_every_place_names_the_same_documents(names, measures, command):
    """The last line of compare, the command, Python, the report and the judging page, for two runs and for five."""
    qrels, runs = DATA / "qrels.txt", [DATA / "runs" / f"{name}.txt" for name in names]
    chosen = measures[1].split(",") if measures else list(DEFAULT_MEASURES)
    by = ["-m", chosen[0]] if measures else []
    rows = json.loads(command("judge-next", qrels, *runs, *by, "--format", "json")[1])
    asked = [(row["query_id"], row["doc_id"]) for row in rows]
    assert len(asked) == 20
    choices = Choices.of(measures=chosen)
    next_in_report = gather(qrels, runs, choices)["next"]
    assert [tuple(row[:2]) for row in next_in_report["rows"]] == asked
    planned, goal = plan_next(Live(str(qrels), [str(run) for run in runs], choices), seed=0)
    assert planned[:20] == asked
    assert goal["measure"] == str(rb.parse_measure(chosen[0]))
    assert next_in_report["words"] == " ".join(rb.judge_next(qrels, runs, measure=chosen[0]).sentences())
    plan = Evidence.read(qrels, runs).to_judge(rb.parse_measure(chosen[0]), budget=20)
    assert list(zip(plan.query_ids, plan.doc_ids, strict=True)) == asked
    if len(names) == 2:
        first = ", ".join(f"{query}/{doc}" for query, doc in asked[:3])
        assert f"Start with topic/document {first}" in command("compare", qrels, *runs, *measures, "--explain")[1]
    else:  # the sentences on a pair of several runs name what is asked of this pair
        words = " ".join(rb.compare(qrels, runs, chosen[0]).pair_words.sentences(0, 4, 2))
        pair = rb.judge_next(qrels, runs, measure=chosen[0], compare=("reranked", "dense"), budget=3)
        named = ", ".join(f"{row['query_id']}/{row['doc_id']}" for row in pair.rows())
        assert f"Start with topic/document {named}" in words


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ((-0.2, -0.1), "However the unjudged documents are judged, A minus B lies between -0.2000 and -0.1000."),
        ((-0.0047, -0.0047), "A minus B is -0.0047: every document that matters is judged."),
        ((0.00471, 0.00472), "However the unjudged documents are judged, A minus B is +0.0047 to four digits."),
    ],
)
def test_what_is_left_of_a_difference_is_told_without_ends_that_are_the_same(bounds, told):
    assert difference_left(("A", "B"), bounds) == told


def test_no_probability_is_told_of_a_run_that_is_hardly_judged(command):
    """As in compare, which says of such a run that nothing can be estimated."""
    demo = Path(rb.__file__).parent / "demo"
    files = (demo / "qrels.txt", demo / "runs" / "reranked.txt", demo / "runs" / "dense.txt")
    asked = command("judge-next", *files, "-m", "nDCG@10", "--compare", "reranked", "dense", "--budget", "2")
    about = "".join(asked[1:])
    assert about.count("fewer than 95% of the first 5 documents are judged") == 1
    assert "with probability" not in about
    _, compared, _ = command("compare", *files, "-m", "nDCG@10")
    assert "How likely that is cannot be estimated" in compared


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("measure", ["ESL(n=1,collection=50)", "nDCG@3", "P@3", "RBP(p=0.8)"])
def test_a_probability_is_the_one_that_compare_tells(measure):
    """Not one of a normal difference: few documents decide, and both may score the same."""
    rng = np.random.default_rng(5)
    qrels = {str(topic): {"r": 1, "s": int(topic % 3 > 0), "n": 0, "m": 0} for topic in range(10)}
    docs = ["r", "s", "n", "m", "u", "v"]
    runs = {
        name: {topic: [docs[at] for at in rng.permutation(4)] for topic in qrels} for name in ("one", "other")
    }  # fmt: skip
    for name, topic, doc in (("one", "2", "u"), ("one", "5", "v"), ("other", "2", "v"), ("other", "7", "u")):
        runs[name][topic].insert(0, doc)
    plan = rb.judge_next(qrels, runs, budget=3, measure=measure, compare=("one", "other"))
    (pair,) = Evidence.read(qrels, runs).compare([measure]).pairs.rows()
    assert (pair["run"], pair["against"]) == ("other", "one") == plan.pairs[0]
    assert plan.settled == (False,)
    assert plan.likely == (pair["probability_better_if_judged"], pair["probability_worse_if_judged"])
    more = max(pair["probability_better_if_judged"], pair["probability_worse_if_judged"])
    assert f"with probability {min(max(more, 0.01), 0.99):.2f}" in plan.sentences()[0]


@pytest.mark.parametrize(("measure", "adds_up"), [("RBP(p=0.8)", True), ("P@3", True), ("AP", False), ("RR", False)])
def test_what_several_judgments_do_is_told_where_it_adds_up(measure, adds_up):
    """Of two documents that would each be the first relevant one, the second changes nothing once the first is."""
    words = Evidence.read(QRELS, RUNS).compare([measure]).words()
    assert "Which judgments would help most?" in words
    assert ("expected to move the bound" in words) is adds_up


def test_nothing_is_listed_where_nothing_is_open(command):
    """Whatever is unjudged, one run is better: people need not judge for that."""
    runs = [str(DATA / "runs" / "bm25.txt"), str(DATA / "runs" / "reranked.txt")]
    ask = ["judge-next", str(DATA / "qrels.txt"), *runs, "--compare", "bm25", "reranked"]
    assert len(command(*ask)[1].splitlines()) == 23
    code, told, _ = command(*ask, "--until", "settled")
    assert (code, told.count("\n")) == (0, 1)
    assert "reranked is better than bm25" in told
    assert "no further judgments are needed" in told
    assert json.loads(command(*ask, "--until", "settled", "--format", "json")[1]) == []


def test_a_probability_that_judgments_do_not_show_is_no_goal(command):
    """Where ``compare`` says that it cannot be estimated, no number of judgments is told until it is reached."""
    runs = [DATA / "runs" / f"{name}.txt" for name in ("dense", "reranked")]
    assert "cannot be estimated: fewer than" in command("compare", DATA / "qrels.txt", *runs)[1]
    ask = ["judge-next", DATA / "qrels.txt", *runs, "--until"]
    code, out, told = command(*ask, "0.95")
    assert (code, out) == (2, "")
    assert "cannot be estimated: fewer than 95% of the first 5 documents of dense are judged" in told
    assert "--until settled" in told
    assert "judgments in this order are needed until it is settled" in command(*ask, "settled", "-m", "P@3")[1]
    assert "with probability 0.95" in command(*ask, "0.95", "--q", "0.1", "-m", "P@3")[1]


def test_names_are_checked_before_files_are_read(command):
    code, _, told = command("judge-next", "no such file", "nor this", "--compare", "X")
    assert code == 2
    assert "--compare takes the names of two runs" in told


def test_what_the_columns_mean_is_explained_on_request(command):
    ask = ("judge-next", DATA / "qrels.txt", DATA / "runs" / "bm25.txt", DATA / "runs" / "learned.txt")
    code, out, told = command(*ask, "--budget", "2")
    assert (code, told) == (0, "")
    assert "learned is better than bm25" in out.splitlines()[0]
    _, again, told = command(*ask, "--budget", "2", "--explain")
    assert again == out
    assert "effect: what it adds to the difference" in told
