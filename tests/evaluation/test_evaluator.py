"""Judgments prepared once: whatever way a run in dicts takes, its numbers are those of ``evaluate`` to the last bit."""

from __future__ import annotations

import enum
import itertools
import pickle
import random
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.collection.qrels import as_qrels
from rankbounds.columns import native
from rankbounds.evaluation import evaluator as module
from rankbounds.rankings.join import join_dict
from rankbounds.rankings.topic_facts import TopicFacts

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")

MEASURES = ["AP", "nDCG", "nDCG@3", "P@2", "RR", "RBP(p=0.8)", "Bpref", "num_ret"]
DOCUMENTS = [
    "a",
    "b",
    "B",
    "aa",
    "é",
    "日本",
    "\U0001f600",
    "ab c",
    "a\nb",
    "a\0",
    "long" * 30,
    *(f"d{n}" for n in range(12)),
]
OPTIONS = [
    *({"ties": rule} for rule in ("trec", "run", "line", "docid", "best", "worst", "expected")),
    {"ties_key": {document: len(document) for document in DOCUMENTS}},
    {"unjudged": "relevant", "measures": [name for name in MEASURES if name != "Bpref"]},  # which it cannot change
    {"unjudged": "condensed"},
    {"unjudged": "expected", "q": 0.25, "measures": ["P@2", "RBP(p=0.8)", "RR"]},
    {"score_precision": "single"},
    {"gain": "1=3,2=9"},
    {"gain": "0=0.25,1=2"},
    {"bounds": "both", "topics": "shared"},
    {"open": "collection", "most_relevant": 40},
]
GRADES = [0, 0, 1, 1, 2, 3, -2, 0.5, 1.0]


@pytest.fixture(params=["kernel", "NumPy"])
def way(request):
    """By the compiled kernel and by NumPy alone."""
    if request.param == "kernel" and native.built is None:
        pytest.skip("no compiler built the kernel")
    with native.switched(request.param):
        yield


def collection(seed, pooled=False):
    draw = random.Random(seed)

    def some(choices, values, least=0):
        documents = draw.sample(choices, draw.randint(least, len(choices)))
        return {document: draw.choice(values) for document in documents}

    scores = [0.5, 1, 1.5, 1.5 + 1e-12, -3, 2**53, 2**53 + 1, -0.0, 0.0, np.float32(0.1), 0.1]
    grades = [*GRADES, -1] if pooled else GRADES
    qrels = {query: some(DOCUMENTS, grades, 1) for query in ("1", "2", "é", "4", "5")}
    run = {query: some(DOCUMENTS, scores) for query in draw.sample(["1", "2", "é", "4", "none", "none either"], 5)}
    return qrels, run


def by_columns(nested, kind, name):
    """The same table by way of columns, which knows nothing of dicts."""
    rows = [(query, document, value) for query, inner in nested.items() for document, value in inner.items()]
    return kind.from_columns(*zip(*rows, strict=True), **name)


def values(qrels, run, measures, options):
    scores = rb.evaluate(qrels, run, measures, **{"bounds": "none", "open": "retrieved", "topics": "shared", **options})
    known = {query: number for number, query in enumerate(scores.query_ids)}
    rows = scores.value[0].tolist()
    names = list(map(str, scores.measures))
    return {query: dict(zip(names, rows[known[query]], strict=True)) for query in run if query in known}


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.items()))[:40])
def test_scores_are_those_of_evaluate_to_the_last_bit(options):
    measures = options.get("measures", MEASURES)
    options = {name: value for name, value in options.items() if name != "measures"}
    for seed in range(6):
        qrels, run = collection(seed, pooled=seed % 3 == 2)
        evaluator = rb.Evaluator(qrels, measures, **options)
        for part in (run, *({query: inner} for query, inner in run.items() if query in qrels)):
            expected = values(qrels, part, measures, {**options, "bounds": options.get("bounds", "unjudged")})
            for _ in range(3):  # new documents, documents seen once, documents looked up
                assert evaluator.score(part) == expected
        lists = {query: inner for query, inner in run.items() if inner}
        columns = rb.evaluate(
            by_columns(qrels, rb.Qrels, {}), by_columns(lists, rb.Run, {}), measures, **{**options, "topics": "shared"}
        )
        whole = evaluator.evaluate(lists)
        rows = [whole.query_ids.index(query) for query in columns.query_ids]
        shared = [query in lists for query in columns.query_ids]
        for name in ("value", "low", "high"):
            theirs, ours = getattr(columns, name)[0][shared], getattr(whole, name)[0][rows][shared]
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.filterwarnings("default::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.items()))[:40])
def test_evaluate_takes_dicts_as_it_takes_tables(options):
    options = {"measures": MEASURES, **options}
    for seed in range(4):
        qrels, first = collection(seed, pooled=seed % 2 == 1)
        if seed:  # with an id of two lines they are read in another way
            qrels = {
                query: {doc: grade for doc, grade in inner.items() if doc != "a\nb"} for query, inner in qrels.items()
            }
        second, strange = collection(seed + 100)[1], {"1": {f"x{number}": number for number in range(30)}}
        runs = {
            name: {query: {doc: float(score) for doc, score in inner.items()} for query, inner in run.items() if inner}
            for name, run in (("first", first), ("second", second), ("strange", strange))
        }
        tables = [by_columns(run, rb.Run, {"name": name}) for name, run in runs.items()]
        with warnings.catch_warnings(record=True) as told:
            ours = rb.evaluate(qrels, runs, **options)
        with warnings.catch_warnings(record=True) as told_of_tables:
            theirs = rb.evaluate(by_columns(qrels, rb.Qrels, {}), tables, **options)
        assert [str(warning.message) for warning in told] == [str(warning.message) for warning in told_of_tables]
        assert (ours.runs, ours.query_ids, ours.run_notes) == (theirs.runs, theirs.query_ids, theirs.run_notes)
        for name in ("value", "low", "high", "judged", "parts"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


@pytest.mark.parametrize("document", ["a", "x"], ids=["judged", "strange"])
def test_every_list_of_a_dict_is_shown_once(document):
    shown = []
    run = {query: {f"{document}{number}": float(number) for number in range(30)} for query in ("1", "2")}
    qrels = {query: {"a3": 1, "a29": 0} for query in ("1", "2", "3")}
    rb.evaluate(qrels, run, "AP", observe=lambda number, rankings: shown.extend(rankings.topic.tolist()))
    assert sorted(shown) == [0, 1, 2]


def test_facts_go_to_other_processes_without_what_holds_addresses():
    facts = TopicFacts(as_qrels({"1": {"a": 1, "b": 0}, "2": {"c": 1}}))
    assert join_dict({"1": {"a": 1.0}}, facts) is not None or not native.in_use()
    again = pickle.loads(pickle.dumps(facts))
    assert not again.holds_strings
    np.testing.assert_array_equal(again.grade, facts.grade)


def test_scores_are_those_of_plain_definitions():
    for seed in range(20):
        qrels, run = collection(seed)
        evaluator = rb.Evaluator(qrels, ["AP", "RR", "P@3"])
        for query in run.keys() & qrels.keys():
            ranked = sorted(run[query], key=lambda name: (float(run[query][name]), name.encode()), reverse=True)
            hits = [rank for rank, name in enumerate(ranked, 1) if qrels[query].get(name, 0) >= 1]
            relevant = sum(grade >= 1 for grade in qrels[query].values())
            precisions = [count / rank for count, rank in enumerate(hits, 1)]
            assert evaluator.score({query: run[query]})[query] == pytest.approx(
                {
                    "AP": sum(precisions) / relevant if relevant else 0.0,
                    "RR": 1 / hits[0] if hits else 0.0,
                    "P@3": sum(rank <= 3 for rank in hits) / 3,
                },
                abs=1e-12,
            )


class Written(str, enum.Enum):
    """Text whose hash is not that of the text."""

    A = "a"


ODD = {
    "not a number": {"1": {"a": float("nan"), "b": 1.0}},
    "infinite": {"1": {"a": float("inf"), "b": 1.0}},
    "none": {"1": {"a": None, "b": 1.0}},
    "text that is a number": {"1": {"a": "1.5", "b": "2"}},
    "text that is none": {"1": {"a": "1_5", "b": 2.0}},
    "a number too large": {"1": {"a": 10**400, "b": 2.0}},
    "sums beyond what a number holds": {"1": {"a": 2e38, "b": 3e38}},
    "a decimal": {"1": {"a": Decimal("1.5"), "b": 2}},
    "truth": {"1": {"a": True, "b": False}},
    "a score of NumPy": {"1": {"a": np.float64(1.5), "b": np.int32(2)}},
    "ids that are numbers": {1: {7: 1.0, 8: 2.0}},
    "an id in bytes": {"1": {b"a": 1.0, "b": 2.0}},
    "an id of NumPy": {"1": {np.str_("a"): 1.0, "b": 2.0}},
    "an id that is an enumeration": {"1": {Written.A: 1.0, "b": 2.0}},
    "an id that is no text": {"1": {1.5: 1.0}},
    "an empty id": {"1": {"": 1.0, "a": 0.5}},
    "half a character": {"1": {"\ud800": 1.0, "a": 0.5}},
    "a byte that is no UTF-8": {"1": {"\udcff": 1.0, "ÿ": 1.0, "a": 1.0}},
    "a list": {"1": ["b", "a"]},
    "a document twice": {"1": ["b", "a", "b"]},
    "nothing": {"1": {}},
    "no query": {},
    "no judged query": {"x": {"a": 1.0}},
    "no dict": {"1": 5},
    "rows": [("1", "b", 2.0), ("1", "a", 1.0)],
    "no run": 5,
}


def outcome(evaluate, *arguments):
    try:
        return evaluate(*arguments)
    except rb.RankboundsError as error:
        return type(error), str(error)


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("precision", ["double", "single"])
def test_what_is_odd_gives_the_numbers_or_the_message_of_evaluate(case, precision):
    qrels, run = {"1": {"a": 1, "b": 0, "7": 1}, "2": {"a": 1}}, ODD[case]
    options = {"topics": "shared", "bounds": "none", "score_precision": precision}

    def expected():
        scores = rb.evaluate(qrels, run, ["RR", "P@1"], **options)
        value = scores.value[0, scores.query_ids.index("1")].tolist()
        return {"1": dict(zip(("RR", "P@1"), value, strict=True))}

    evaluator = rb.Evaluator(qrels, ["RR", "P@1"], **options)
    assert outcome(evaluator.score, run) == outcome(expected)
    if isinstance(run, dict) and run and case not in ("no judged query", "no dict"):
        run = {**run, "2": {"a": 1.0}}  # not one query alone, which takes another way
        ours, theirs = outcome(evaluator.score, run), outcome(expected)
        assert ours == theirs if isinstance(theirs, tuple) else ours == {**theirs, "2": {"RR": 1.0, "P@1": 1.0}}


def test_documents_that_come_again_are_not_mixed_up_with_others():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"c": 1, "d": 0}}
    first = [{"1": {"a": x, "b": 1 - x}, "2": {"c": 1 - x, "d": x}} for x in (0.0, 0.25, 0.75, 1.0)]
    second = [{"1": {"b": x, "a": 1 - x}, "2": {"c": 1 - x, "d": x}} for x in (0.0, 0.25, 0.75, 1.0)]
    evaluator, draw = rb.Evaluator(qrels, "RR"), random.Random(3)
    for _ in range(60):
        run = draw.choice(draw.choice([first, second]))
        if draw.random() < 0.3:
            evaluator.evaluate(run)
        else:
            assert evaluator.score(run) == rb.Evaluator(qrels, "RR").score(run)
    broken = {"1": {"a": 1.0, "b": float("nan")}, "2": {"c": 1.0, "d": 2.0}}
    for _ in range(3):
        assert evaluator.score(first[0])
        with pytest.raises(rb.DataError, match="not a finite number"):
            evaluator.score(broken)


@pytest.mark.usefixtures("way")
def test_documents_that_come_again_may_be_cut_at_another_place():
    """The same documents in the same order, of which one went from the end of a list to the beginning of the next."""
    qrels = {"t1": {"a": 1, "b": 0, "c": 1, "d": 0}, "t2": {"a": 0, "b": 0, "c": 0, "d": 1}}
    first = {"t1": {"a": 3.0, "b": 2.0, "c": 5.0}, "t2": {"d": 1.0}}
    second = {"t1": {"a": 3.0, "b": 2.0}, "t2": {"c": 5.0, "d": 1.0}}
    values = {"first": [1.0, 1.0], "second": [0.5, 0.5]}
    runs = {"A": first, "B": dict(first), "C": second, "D": dict(second), "E": first}
    found = rb.evaluate(qrels, runs, "AP").value[:, :, 0].tolist()
    assert found == [values[name] for name in ("first", "first", "second", "second", "first")]
    evaluator = rb.Evaluator(qrels, "AP")
    for name in ("first", "first", "first", "second", "second", "second", "first", "second"):
        scored = evaluator.score({"first": first, "second": second}[name])
        assert [inner["AP"] for inner in scored.values()] == values[name]


class ChangesAround:
    """The kernel, with something that happens just before or after it ranks dicts, as another thread may do it."""

    def __init__(self, change, when):
        self.change, self.when, self.calls = change, when, 0

    def __getattr__(self, name):
        return getattr(native.built, name)

    def rank_dicts(self, *arguments):
        self.calls += 1
        if self.when == "before":
            self.change()
        made = native.built.rank_dicts(*arguments)
        if self.when == "after":
            self.change()
        return made


def take_its_place(inner, document, other):
    inner.pop(document, None)
    inner[other] = 0.5


CHANGES = {
    "one is added": lambda run: run["1"].update(z=9.0),
    "one is taken": lambda run: run["2"].pop("c", None),
    "one goes to another list": lambda run: run["1"].update(c=9.0) or run["2"].pop("c", None),
    "another takes its place": lambda run: take_its_place(run["2"], "c", "y"),
}


@pytest.mark.skipif(native.built is None, reason="no compiler built the kernel")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_dict_that_changes_during_a_call_spoils_no_later_one(monkeypatch, change, when):
    qrels = {"1": {"a": 1, "b": 0, "c": 0}, "2": {"c": 1, "d": 0, "e": 1}}

    def run(*scores):
        names = iter(scores)
        return {"1": {"a": next(names), "b": next(names)}, "2": {"c": next(names), "d": next(names), "e": next(names)}}

    for turns in range(4):  # new documents, documents seen once, documents that were looked up
        evaluator, changed = rb.Evaluator(qrels, MEASURES), run(1.0, 2.0, 3.0, 4.0, 5.0)
        for _ in range(turns):
            evaluator.score(run(2.0, 1.0, 1.0, 2.0, 3.0))
        around = ChangesAround(lambda changed=changed: CHANGES[change](changed), when)
        with native.switched("kernel"), monkeypatch.context() as patched:
            patched.setattr(native, "kernel", around)
            during = evaluator.score(changed)
        assert around.calls
        assert during.keys() == {"1", "2"}
        for later in (changed, run(1.0, 2.0, 3.0, 4.0, 5.0), changed, changed, run(5.0, 4.0, 3.0, 2.0, 1.0)):
            assert evaluator.score(later) == rb.Evaluator(qrels, MEASURES).score(later)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("queries", "length"), [(1, 60), (3, 600)])
def test_eight_threads_share_an_evaluator_and_dicts_that_change(queries, length):
    """Every list is scored as it is at some moment, and lists that do not change always as what they are."""
    qrels = {str(topic): {"more": 1, **{f"d{number}": number % 2 for number in range(20)}} for topic in range(queries)}
    still, moving = ({topic: {f"d{n}": float(n * 7 % length) for n in range(length)} for topic in qrels} for _ in "ab")
    evaluator, alone = rb.Evaluator(qrels, ["AP", "num_ret"]), rb.Evaluator(qrels, ["AP", "num_ret"])
    states = [{}, {"more": 1e3}, {"more": 1e3, "most": 1e4}, {"most": 1e4}]
    possible = [alone.score({"0": {**still["0"], **more}})["0"] for more in states]
    expected, stop, problems = alone.score(still), threading.Event(), []

    def change():
        for document in itertools.cycle(["more", "most"]):  # one change a turn: between turns, another thread may go on
            for inner in moving.values():
                if inner.pop(document, None) is None:
                    inner[document] = states[2][document]
            if stop.is_set():
                return

    def score():
        for _ in range(40 if length > 100 else 200):
            try:
                if evaluator.score(still) != expected:
                    problems.append("another value of a run that does not change")
                scored = evaluator.score(moving)
                if scored.keys() != qrels.keys() or any(values not in possible for values in scored.values()):
                    problems.append(f"a value of no moment: {scored}")
            except Exception as error:
                problems.append(repr(error))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        changing, *scoring = threads = [threading.Thread(target=work) for work in (change, *[score] * 7)]
        for thread in threads:
            thread.start()
        for thread in scoring:
            thread.join()
        stop.set()
        changing.join()
    finally:
        sys.setswitchinterval(interval)
    assert not problems, problems[:3]
    assert evaluator.score(still) == expected


def test_threads_may_share_an_evaluator():
    draw = random.Random(4)
    qrels = {str(topic): {f"d{number}": number % 2 for number in range(9)} for topic in range(3)}
    documents = [[f"d{number}" for number in draw.sample(range(12), 8)] for _ in range(2)]
    runs = [
        {str(topic): {name: draw.random() for name in documents[turn % 2]} for topic in range(3)} for turn in range(200)
    ]
    evaluator, alone = rb.Evaluator(qrels, "AP"), rb.Evaluator(qrels, "AP")
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(evaluator.score, runs)) == list(map(alone.score, runs))


def test_judgments_and_runs_stay_what_they_were():
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0, "b": 2.0}}
    evaluator = rb.Evaluator(qrels, "RR")
    before = evaluator.score(run)
    evaluator.score(run)["1"]["RR"] = 7.0
    qrels["1"]["b"] = 1
    assert evaluator.score(run) == before == {"1": {"RR": 0.5}}
    assert run == {"1": {"a": 1.0, "b": 2.0}}


def test_few_lists_are_remembered(monkeypatch):
    monkeypatch.setattr(module, "LISTS_REMEMBERED", 3)
    qrels = {"1": {f"d{number}": number % 2 for number in range(8)}}
    evaluator, draw = rb.Evaluator(qrels, "AP"), random.Random(1)
    for _ in range(50):
        run = {"1": {f"d{number}": draw.random() for number in range(8)}}
        assert evaluator.score(run) == rb.Evaluator(qrels, "AP").score(run)
        assert len(evaluator._prepared.short_lists._known) <= 3


def test_measures_that_read_more_than_grades_and_what_they_refuse():
    rows = [("1", "a", 1, "x"), ("1", "b", 1, "y"), ("1", "b", 0, "x")]
    qrels = [dict(zip(("query_id", "doc_id", "relevance", "subtopic"), row, strict=True)) for row in rows]
    run = {"1": {"b": 2.0, "a": 1.0}}
    expected = rb.evaluate(qrels, run, "alpha-nDCG@2").value.item()
    assert rb.Evaluator(qrels, "alpha-nDCG@2").score(run)["1"] == {"alpha_nDCG@2": expected}
    evaluator = rb.Evaluator({"1": {"a": 2000}}, "nDCG(gain=exp)")
    with pytest.raises(rb.DataError, match=r"^judgments: gain=exp"):
        evaluator.score({"1": {"a": 1.0}})
    with pytest.raises(rb.UsageError, match="no exact expected value"):
        rb.Evaluator({"1": {"a": 1}}, "AP", unjudged="expected", q=0.5)
    assert repr(evaluator) == "Evaluator(1 topics, nDCG(gain=exp))"
