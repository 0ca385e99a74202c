"""Ties: treatments, keys, and means over all orders where enumeration cannot follow."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.collection.order import ranking
from rankbounds.comparison import Evidence, wording
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import REGISTRY, parse_measure
from rankbounds.measures.precision import interpolated_precision
from rankbounds.rankings.rankings import Rankings, TiedGroups
from rankbounds.rankings.ties import chance_drawn, expected_products, expected_with_earlier
from rankbounds.rankings.topic_facts import TopicFacts
from test_laws import averaged

pytestmark = pytest.mark.usefixtures("both_ways")

MEASURES = [parse_measure(example) for kind in REGISTRY.values() for example in kind.examples]


def batch(lists, groups):
    """Rankings of lists of numbers between 0 and 1, tied where groups (sizes, for each list) say so."""
    width = max(map(len, lists))
    grade, tied = np.zeros((len(lists), width)), np.zeros((len(lists), width), dtype=bool)
    for at, (values, sizes) in enumerate(zip(lists, groups, strict=True)):
        grade[at, : len(values)] = values
        start = 0
        for size in sizes:
            tied[at, start + 1 : start + size] = True
            start += size
    facts = TopicFacts(rb.Qrels.from_columns(["t"], ["d"], [1]))
    length = np.array([len(values) for values in lists])
    return Rankings(grade, length, np.zeros(len(lists), dtype=np.int64), facts, tied), grade


def all_orders(values, sizes):
    cuts = [0, *itertools.accumulate(sizes)]
    parts = [values[a:b] for a, b in itertools.pairwise(cuts)]
    for chosen in itertools.product(*(itertools.permutations(part) for part in parts)):
        yield [value for part in chosen for value in part]


@st.composite
def tied_lists(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    number = st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])
    return draw(st.lists(number, min_size=sum(sizes), max_size=sum(sizes))), sizes


@settings(max_examples=60, deadline=None)
@given(st.lists(tied_lists(), min_size=1, max_size=3))
def test_pieces_of_the_mean_are_means_over_all_orders(several):
    lists, groups = zip(*several, strict=True)
    rankings, values = batch(lists, groups)
    products, pairs = expected_products(rankings, values), expected_with_earlier(rankings, values)
    for at, (one, sizes) in enumerate(several):
        orders = list(all_orders(one, sizes))
        for rank in range(len(one)):
            mean_product = sum(math.prod(order[: rank + 1]) for order in orders) / len(orders)
            assert products[at, rank] == pytest.approx(mean_product, abs=1e-12)
            mean_pair = sum(order[rank] * sum(order[:rank]) for order in orders) / len(orders)
            assert pairs[at, rank] == pytest.approx(mean_pair, abs=1e-12)


def test_groups_do_not_reach_from_one_list_into_the_next():
    tied = np.array([[False, True, True], [False, False, True], [False, True, False]])
    groups = TiedGroups.of(tied)
    assert groups.size.tolist() == [3, 2, 2]
    assert groups.row.tolist() == [0, 1, 2]
    assert groups.offset.tolist() == [0, 1, 0]
    assert groups.sums(np.arange(9.0).reshape(3, 3)).tolist() == [3, 9, 13]
    assert groups.cut_by(2).tolist() == [0, 1]


def test_chances_of_a_draw_are_hypergeometric():
    from scipy.stats import hypergeom

    size, marked, drawn = 1000, 120, 300
    count = np.arange(0, 200)
    found = chance_drawn(*(np.array(number) for number in (size, marked, drawn)), count)
    assert found == pytest.approx(hypergeom.pmf(count, size, marked, drawn), rel=1e-8, abs=1e-300)


def all_tied(size: int, relevant: int, seed: int = 1):
    docs = [f"d{at:05d}" for at in range(size)]
    chosen = random.Random(seed).sample(docs, relevant)
    return {"t": {doc: int(doc in chosen) for doc in docs}}, {"t": dict.fromkeys(docs, 1.0)}


def test_a_thousand_tied_documents_have_their_closed_forms():
    n, r = 1000, 100
    qrels, run = all_tied(n, r)
    found = rb.evaluate(qrels, run, ["RR", "AP", "P@10", "RPrec", "Success@3", "AP*@10"], ties="expected")
    values = dict(zip(map(str, found.measures), found.value[0, 0], strict=True))
    harmonic = sum(1 / i for i in range(1, n + 1))
    assert values["P@10"] == pytest.approx(r / n)
    assert values["RPrec"] == pytest.approx(r / n)
    # The mean precision at a relevant document: (1 + (i - 1) (r - 1) / (n - 1)) / i over all ranks i.
    assert values["AP"] == pytest.approx((harmonic + (r - 1) / (n - 1) * (n - harmonic)) / n)
    miss = [math.comb(n - r, i) / math.comb(n, i) for i in range(n - r + 1)] + [0.0] * r
    assert values["RR"] == pytest.approx(sum((miss[i - 1] - miss[i]) / i for i in range(1, n + 1)))
    assert values["Success@3"] == pytest.approx(1 - miss[3])
    assert 0.1 < values["AP*@10"] < 0.4


@pytest.mark.parametrize("measure", ["AP*@10", "ERR", "IPrec(recall=0.3)"])
def test_means_over_large_groups_are_those_of_random_orders(measure):
    n, r = 60, 9
    qrels, run = all_tied(n, r)
    expected = rb.evaluate(qrels, run, measure, ties="expected").value[0, 0, 0]
    rng = np.random.default_rng(7)
    shuffled = {f"s{at}": {"t": dict(zip(run["t"], rng.permutation(n).tolist(), strict=True))} for at in range(400)}
    values = rb.evaluate(qrels, shuffled, measure).value[:, 0, 0]
    assert abs(values.mean() - expected) < 4 * values.std() / 20


def test_interpolated_precision_of_huge_groups_is_close(monkeypatch):
    qrels, run = all_tied(200, 40)
    measures = ["IPrec(recall=0)", "IPrec(recall=0.2)", "IPrecMean(points=3)"]
    exact = rb.evaluate(qrels, run, measures, ties="expected").value[0, 0]
    monkeypatch.setattr(interpolated_precision, "EXACT_STEPS", 0)
    coarse = rb.evaluate(qrels, run, measures, ties="expected").value[0, 0]
    assert coarse == pytest.approx(exact, abs=2e-4)
    assert (coarse != exact).any()


@pytest.mark.parametrize("ties", ["trec", "docid", "key", "best", "worst", "expected"])
def test_line_order_does_not_matter_but_to_the_rules_that_read_it(ties):
    rng = random.Random(3)
    docs = [f"d{at:02d}" for at in range(30)]
    qrels = {t: {doc: rng.randrange(4) for doc in docs if rng.random() < 0.8} for t in ("1", "2")}
    key = {doc: rng.randrange(5) for doc in docs} if ties == "key" else None
    scores = {"1": dict.fromkeys(docs, 0.5), "2": {doc: rng.randrange(4) for doc in docs}}
    measures = [m for m in MEASURES if ties in ("trec", "docid", "key") or (m.promotable and averaged(m, ties))]
    first = None
    for _ in range(4):
        rows = [(t, doc, score) for t, one in scores.items() for doc, score in one.items()]
        rng.shuffle(rows)
        found = rb.evaluate(qrels, rows, measures, ties=ties, ties_key=key)
        if set(found.query_ids) != {"1", "2"}:
            raise AssertionError
        first = found if first is None else first
        assert np.array_equal(found.value, first.value)
        assert np.array_equal(found.low, first.low, equal_nan=True)


class TestKey:
    """Ties ranked by a user's own key."""

    qrels = {"t": {"a": 1, "b": 0, "c": 0, "d": 0}}  # noqa: RUF012
    run = {"t": {"d": 1.0, "c": 1.0, "b": 1.0, "a": 1.0, "top": 2.0}}  # noqa: RUF012

    def reciprocal_rank(self, key, **options):
        return rb.evaluate(self.qrels, self.run, "RR", ties_key=key, **options).value[0, 0, 0]

    def test_smallest_first_as_numbers(self):
        assert self.reciprocal_rank({"a": 9, "b": 10, "c": 11, "d": 12}) == pytest.approx(1 / 2)
        assert self.reciprocal_rank({"a": "10", "b": "9", "c": "11", "d": "8"}) == pytest.approx(1 / 4)

    def test_as_text_if_any_is_text(self):
        assert self.reciprocal_rank({"a": "10", "b": "9", "c": "x", "d": "8"}) == pytest.approx(1 / 2)

    def test_equal_values_fall_back_to_document_ids(self):
        assert self.reciprocal_rank(dict.fromkeys("abcd", 1)) == pytest.approx(1 / 5)

    @pytest.mark.parametrize("line", ["{} {}\n", "{}\t{}\n", "{},{}\n"])
    def test_from_a_file(self, tmp_path, line):
        (tmp_path / "key").write_text("".join(line.format(doc, at) for at, doc in enumerate("bacd")))
        assert self.reciprocal_rank(tmp_path / "key") == pytest.approx(1 / 3)
        assert self.reciprocal_rank(str(tmp_path / "key"), ties="key") == pytest.approx(1 / 3)

    def test_a_tied_document_without_a_value_is_an_error(self):
        with pytest.raises(rb.DataError, match='document "d" of topic "t" is tied, but has no value'):
            self.reciprocal_rank({"a": 1, "b": 1, "c": 1})

    def test_bad_files(self, tmp_path):
        (tmp_path / "key").write_text("a 1\nb\n")
        with pytest.raises(rb.DataError, match=r"key:2: expected a document and its value"):
            self.reciprocal_rank(tmp_path / "key")
        (tmp_path / "key").write_text("a 1\na 2\n")
        with pytest.raises(rb.DataError, match="is listed twice"):
            self.reciprocal_rank(tmp_path / "key")

    def test_key_and_rule_go_together(self):
        with pytest.raises(rb.UsageError, match="key for ties"):
            rb.evaluate(self.qrels, self.run, "RR", ties="key")
        with pytest.raises(rb.UsageError, match="key for ties"):
            self.reciprocal_rank({"a": 1}, ties="best")


@pytest.mark.parametrize(
    ("options", "outer"),
    [
        ({"bounds": "both"}, ["nDCG@3"]),
        ({"bounds": "ties"}, []),
        ({"ties": "expected"}, ["AP", "nDCG@3"]),
        ({"ties": "trec"}, []),
    ],
)
def test_bounds_that_may_be_wider_than_needed_are_labelled(options, outer):
    qrels = {"t": {"a": 2, "b": 0, "c": 1}}
    measures = ["RBP(p=0.8)", "AP", "nDCG@3"]
    found = rb.evaluate(qrels, {"t": {"a": 1, "b": 1, "x": 0}}, measures, **options)
    assert [str(measure) for measure in found.outer] == outer
    assert rb.evaluate(qrels, {"t": {"a": 2, "b": 1, "x": 0}}, measures, **options).outer == []


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("order", ["trec", "docid", "line", "rank", "stated"])
def test_rows_are_ranked_as_a_plain_sort_ranks_them(order, precision):
    """Topics of like and of very different lengths, some in order already, scores that tie, and -0.0 beside 0.0."""
    draw = random.Random(len(order))
    breaks = {
        "trec": lambda row: [-byte for byte in row[1].encode()] + [1],
        "docid": lambda row: row[1].encode(),
        "line": lambda row: row[4],
        "rank": lambda row: (row[3], row[4]),
        "stated": lambda row: row[4],
    }
    for lengths in ([5] * 4, [3, 5, 4, 5], [1, 40, 2], [1], [2, 1]):
        rows = []
        for topic, length in enumerate(lengths):
            scores = [draw.choice([0.5, 1.0, 1.0 + 1e-12, 0.0, -0.0, -2.0, 3.0]) for _ in range(length)]
            if topic % 3 == 1:
                scores.sort(reverse=True)
            docs = draw.sample([f"d{number:02}" for number in range(60)], length)
            rows += [(topic, doc, score, draw.randrange(3), 0) for doc, score in zip(docs, scores, strict=True)]
        rows = [(*row[:4], line) for line, row in enumerate(rows)]
        run = rb.Run.from_columns(*zip(*(row[:4] for row in rows), strict=True))
        compared = np.float32 if precision == "single" else float

        def worth(row):
            return -row[3] if order == "stated" else compared(row[2])  # noqa: B023 (used before the loop goes on)

        expected = sorted(rows, key=lambda row: (row[0], -worth(row), breaks[order](row)))
        permutation, tied = ranking(run, order, precision)
        found = range(len(rows)) if permutation is None else permutation.tolist()
        assert [rows[row][4] for row in found] == [row[4] for row in expected]
        pairs = itertools.pairwise(expected)
        assert tied.tolist() == [False] + [
            above[0] == below[0] and worth(above) == worth(below) for above, below in pairs
        ]


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("measure", ["AP", "nDCG@3", "Q", "Bpref", "RPrec", "F@2", "RankPower", "Recall@1"])
def test_judgments_leave_nothing_open_of_a_tied_list_that_is_judged(measure, ties):
    """Bounds over judgments are not those over orders; the list beside it, with an unjudged document, has its own."""
    qrels = {query: {"r": 1, "n": 0, "m": 0} for query in "12"}
    run = {"1": {"r": 1.0, "n": 1.0, "m": 1.0}, "2": {"r": 1.0, "n": 1.0, "x": 1.0}}
    scores = rb.evaluate(qrels, {"run": run}, measure, ties=ties)
    value, low, high = (part[0, :, 0] for part in (scores.value, scores.low, scores.high))
    assert low[0] == value[0] == high[0]
    assert low[1] <= value[1] <= high[1]
    assert low[1] < high[1]


def test_ties_that_can_level_two_runs_are_not_said_to_overturn_them():
    qrels = {str(query): {"r": 1, "n": 0} for query in range(6)}
    runs = {name: {query: {"r": score, "n": 1} for query in qrels} for name, score in (("good", 2), ("tied", 1))}
    compared = Evidence.read(qrels, runs, Assumptions(ties="expected")).compare(["AP"])
    assert wording.name_templates({"ties": compared.pair_words.choices["ties"][0, 0]}) == {"ties": "levels"}
    assert "Could ties? No; at most they can reduce it to 0" in compared.words()
    turned = Evidence.read(qrels, {**runs, "good": {**runs["good"], "0": {"n": 2, "r": 1}}}).compare(["AP"])
    assert "Could ties? Yes" in turned.words()
