"""Judgments by subtopic: reading them, and measures of novelty and diversity against plain definitions and ndeval."""

from __future__ import annotations

import csv
import itertools
import math
import pickle
import random
from collections import defaultdict

import numpy as np
import pytest

import rankbounds as rb
from plain import BY_SUBTOPIC, Covering
from rankbounds.errors import DataError, UsageError
from rankbounds.measures import REGISTRY, parse_measure

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
MEASURES = [parse_measure(example) for name in BY_SUBTOPIC for example in REGISTRY[name].examples]
BOUNDED = [measure for measure in MEASURES if measure.exactness != "unknown"]


class Example:
    """A list with ties and unjudged documents, whose documents cover subtopics; some subtopics nobody covers."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.subtopics = [str(number) for number in range(chance.randint(1, 3))]
        length = chance.randint(1, 5)
        self.documents = [f"d{chance.randrange(10**6):06}" for _ in range(length)]
        judged = [*self.documents, *(f"x{number}" for number in range(chance.randint(0, 3)))]
        self.unjudged = set(chance.sample(self.documents, chance.randint(0, min(2, length))))
        self.lines = [
            (document, subtopic, chance.choice([0, 0, 1, 2]))
            for document in judged
            if document not in self.unjudged
            for subtopic in chance.sample(self.subtopics, chance.randint(1, len(self.subtopics)))
        ]
        self.lines += [("never retrieved", self.subtopics[-1], 0)]
        self.okay = {subtopic for subtopic in self.subtopics if chance.random() < 0.4}
        steps = [chance.choice([0, 1]) for _ in self.documents]
        self.score = dict(zip(self.documents, (100 - np.cumsum(steps)).tolist(), strict=True))
        self.listed = frozenset(self.subtopics.index(subtopic) for _, subtopic, _ in self.lines)

    def judgments(self):
        columns = zip(*self.lines, strict=True)
        table = dict(zip(("doc_id", "subtopic", "relevance"), map(list, columns), strict=True))
        importance = ["okay" if subtopic in self.okay else "vital" for subtopic in table["subtopic"]]
        return {"query_id": ["t"] * len(self.lines), **table, "importance": importance}

    def covering(self, rel: float, order=None, completed=None) -> Covering:
        covers: dict[str, set[int]] = defaultdict(set)
        for document, subtopic, grade in self.lines:
            covers[document] |= {self.subtopics.index(subtopic)} if grade >= rel else set()
        covers.update(completed or {})
        ranking = [frozenset(covers.get(document, ())) for document in order or self.ranked]
        judged = [(document, frozenset(subtopics)) for document, subtopics in covers.items()]
        okay = frozenset(self.subtopics.index(subtopic) for subtopic in self.okay)
        return Covering(ranking, judged, self.listed, okay)

    @property
    def ranked(self) -> list[str]:
        return sorted(sorted(self.documents, reverse=True), key=lambda document: -self.score[document])

    def orders(self):
        groups = [list(group) for _, group in itertools.groupby(self.ranked, key=self.score.__getitem__)]
        for permuted in itertools.product(*map(itertools.permutations, groups)):
            yield [document for group in permuted for document in group]

    def completions(self):
        subsets = [
            set(chosen)
            for size in range(len(self.listed) + 1)
            for chosen in itertools.combinations(sorted(self.listed), size)
        ]
        for chosen in itertools.product(subsets, repeat=len(self.unjudged)):
            yield dict(zip(sorted(self.unjudged), chosen, strict=True))

    def scored(self, measures, **options):
        scores = rb.evaluate(self.judgments(), {"t": self.score}, measures, **options)
        return zip(measures, scores.value[0, 0], scores.low[0, 0], scores.high[0, 0], strict=True)


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_values_are_the_plain_definitions(seed):
    example = Example(seed)
    for measure, found, _, _ in example.scored(MEASURES):
        assert close(found, BY_SUBTOPIC[measure.name](example.covering(measure.rel), measure)), measure


@pytest.mark.parametrize("seed", range(60))
def test_bounds_are_the_extremes_over_what_unjudged_documents_may_cover(seed):
    example = Example(seed)
    for measure, _, low, high in example.scored(BOUNDED):
        values = [
            BY_SUBTOPIC[measure.name](example.covering(measure.rel, completed=completed), measure)
            for completed in example.completions()
        ]
        assert close(low, min(values)), measure
        assert close(high, max(values)), measure


@pytest.mark.parametrize("seed", range(40))
def test_expected_over_ties_is_the_mean_over_orders(seed):
    example = Example(seed)
    for measure, found, low, high in example.scored(MEASURES, ties="expected"):
        values = [
            BY_SUBTOPIC[measure.name](example.covering(measure.rel, order), measure) for order in example.orders()
        ]
        assert close(found, sum(values) / len(values)), measure
        if low == low:
            for completed in example.completions():
                covering = (example.covering(measure.rel, order, completed) for order in example.orders())
                mean = np.mean([BY_SUBTOPIC[measure.name](lists, measure) for lists in covering])
                assert low - 1e-9 <= mean <= high + 1e-9, measure


@pytest.mark.parametrize("seed", range(40))
def test_counting_unjudged_documents_as_relevant_makes_them_cover_everything(seed):
    example = Example(seed)
    everything = {document: set(example.listed) for document in example.unjudged}
    for measure, found, _, _ in example.scored(MEASURES, unjudged="relevant"):
        covering = example.covering(measure.rel, completed=everything)
        assert close(found, BY_SUBTOPIC[measure.name](covering, measure)), measure


def test_a_batch_of_topics_is_scored_as_each_alone():
    several = [Example(seed) for seed in range(30)]
    tables = [example.judgments() for example in several]
    together = {column: [entry for table in tables for entry in table[column]] for column in tables[0]}
    together["query_id"] = [f"t{number}" for number, table in enumerate(tables) for _ in table["doc_id"]]
    run = {f"t{number}": example.score for number, example in enumerate(several)}
    scores = rb.evaluate(together, run, MEASURES)
    for number, example in enumerate(several):
        row = scores.query_ids.index(f"t{number}")
        for place, (measure, value, low, high) in enumerate(example.scored(MEASURES)):
            found = (scores.value[0, row, place], scores.low[0, row, place], scores.high[0, row, place])
            assert np.allclose(found, (value, low, high), equal_nan=True), measure


@pytest.mark.parametrize("run", ["run0", "run1", "run2"])
@pytest.mark.parametrize(("suffix", "topics"), [("", "shared"), ("-c", "judged")])
def test_ndeval_prints_the_same_digits(unpacked, run, suffix, topics):
    folder = unpacked("references.tar.xz") / "references"
    with open(folder / f"{run}.ndeval{suffix}.csv", encoding="utf-8") as file:
        *rows, means = csv.DictReader(file)
    names = [name for name in rows[0] if name not in ("runid", "topic")]
    scores = rb.evaluate(folder / "subtopics.qrels", folder / f"{run}.txt", names, topics=topics, bounds="none")
    assert means["topic"] == "amean"
    for row in rows:
        values = scores.value[0, scores.query_ids.index(row["topic"])]
        assert [f"{value:.6f}" for value in values] == [row[name] for name in names]
    assert [f"{value:.6f}" for value in np.nanmean(scores.value[0], axis=0)] == [means[name] for name in names]


WEB = "1 1 a 1\n1 2 a 0\n1 2 b 2\n1 3 c 0\n2 1 a 0\n"


def test_documents_that_stand_on_a_line_for_each_subtopic_are_read(tmp_path):
    path = tmp_path / "web.qrels"
    path.write_text(WEB)
    qrels = rb.read_qrels(path)
    assert qrels.to_dict() == {"1": {"a": 1, "b": 2, "c": 0}, "2": {"a": 0}}
    assert qrels.subtopics.labels == ["1", "2", "2", "3", "1"]
    assert "by subtopic" in repr(qrels)
    assert rb.evaluate(qrels, {"1": ["b", "a"]}, ["StRec@1", "P@2"], topics="shared").value[0, 0].tolist() == [0.5, 1.0]


def test_the_same_line_twice_stays_an_error(tmp_path):
    path = tmp_path / "web.qrels"
    path.write_text(WEB + "1 2 a 1\n")
    with pytest.raises(DataError, match=r'web\.qrels:6: document "a" of topic "1".*listed twice.*"2"'):
        rb.read_qrels(path)
    with pytest.warns(rb.RankboundsWarning, match="repeated"):
        qrels = rb.read_qrels(path, lenient=True)
    assert qrels.to_dict()["1"]["a"] == 1
    assert len(qrels.subtopics.row) == 5


def test_ordinary_judgments_with_a_document_twice_stay_an_error(tmp_path):
    path = tmp_path / "ordinary.qrels"
    for second in ("0", "Q0", "ITER"):
        path.write_text(f"1 {second} a 1\n1 {second} b 1\n1 {second} a 0\n")
        with pytest.raises(DataError, match=":3:"):
            rb.read_qrels(path)


def test_a_second_field_that_differs_is_no_subtopic_to_other_measures(tmp_path):
    path = tmp_path / "rounds.qrels"
    path.write_text("1 0.5 a 1\n1 1 b 2\n1\t2  c 0\n")
    qrels = rb.read_qrels(path)
    assert qrels == rb.Qrels.from_columns(["1"] * 3, "abc", [1, 2, 0])
    assert qrels.text() == "1 0 a 1\n1 0 b 2\n1 0 c 0\n"
    assert rb.evaluate(qrels, {"1": ["b"]}, "StRec@1").value.item() == 0.5


@pytest.mark.parametrize("name", ["qrels.txt", "qrels.csv", "qrels.tsv", "qrels.jsonl"])
def test_judgments_by_subtopic_are_written_and_read_back(tmp_path, name):
    (tmp_path / "web.qrels").write_text(WEB)
    qrels = rb.read_qrels(tmp_path / "web.qrels")
    qrels.write(tmp_path / name)
    again = rb.read_qrels(tmp_path / name)
    assert again == qrels
    assert again.subtopics.same(qrels.subtopics)
    assert pickle.loads(pickle.dumps(qrels)) == qrels


def test_the_same_name_is_another_subtopic_in_another_topic():
    table = {
        "query_id": [1, 1, 2, 2],
        "subtopic": ["x", "y", "x", "y"],
        "doc_id": ["a", "a", "b", "c"],
        "relevance": [1, 0, 1, 1],
    }
    scores = rb.evaluate(table, {"2": ["b"]}, "StRec@1")
    assert scores.value.ravel().tolist() == [0.0, 0.5]


def test_topics_filtered_by_name_keep_their_subtopics(tmp_path):
    path = tmp_path / "web.qrels"
    path.write_text(WEB)
    qrels = rb.read_qrels(path)
    assert qrels.filter("1").subtopics.labels == ["1", "2", "2", "3"]
    sample = qrels.only_judged(np.array([False, True, True, True]))
    assert rb.evaluate(sample.filter("1"), {"1": ["a", "b"]}, "StRec@2").low.item() == 1.0
    assert rb.judging.pools.subset(qrels, np.array([False, True, True, False])).subtopics.labels == ["2", "3"]


def test_documents_pooled_for_every_subtopic_are_unjudged(tmp_path):
    path = tmp_path / "web.qrels"
    path.write_text("1 1 a -1\n1 2 a -1\n1 1 b 1\n1 2 b -1\n1 2 c 1\n")
    qrels = rb.read_qrels(path)
    assert qrels["1"] == {"a": -1, "b": 1, "c": 1}
    scores = rb.evaluate(qrels, {"1": ["a", "b"]}, "StRec@2")
    assert (scores.low.item(), scores.value.item(), scores.high.item()) == (0.5, 0.5, 1.0)


def test_nuggets_weigh_by_their_importance(tmp_path):
    path = tmp_path / "nuggets.csv"
    path.write_text(
        "query_id,nugget,doc_id,relevance,importance\nq,first,a,1,vital\nq,second,b,1,okay\nq,third,b,0,vital\n"
    )
    scores = rb.evaluate(path, {"q": ["a", "b"]}, ["NuggetRecall@1", "NuggetRecall@2", "NuggetRecall(okay=0)@2"])
    assert scores.value.ravel().tolist() == [0.4, 0.6, 0.5]
    path.write_text("query_id,nugget,doc_id,relevance,importance\nq,n,a,1,vital\nq,n,b,1,okay\n")
    with pytest.raises(DataError, match=r"row 2.*same importance"):
        rb.read_qrels(path)
    path.write_text("query_id,nugget,doc_id,relevance,importance\nq,n,a,1,huge\n")
    with pytest.raises(DataError, match="vital or okay"):
        rb.read_qrels(path)


@pytest.mark.parametrize(
    "name", ["alpha_nDCG@10", "alpha-nDCG@10", "ERR-IA@5", "strec@10", "P-IA@20", "MAP-IA", "StREC@5"]
)
def test_ndeval_spellings_are_known(name):
    assert parse_measure(name).name in BY_SUBTOPIC


@pytest.mark.parametrize(
    ("label", "word"),
    [("alpha_DCG(alpha=2)@3", "alpha"), ("ERR_IA(alpha=0)", "depth"), ("NRBP(beta=1)", "beta"), ("P_IA", "depth")],
)
def test_parameters_that_make_no_sense_are_refused(label, word):
    with pytest.raises(UsageError, match=word):
        parse_measure(label)


def test_the_greedy_ideal_is_that_of_many_topics_at_once(unpacked):
    folder = unpacked("references.tar.xz") / "references"
    qrels = rb.read_qrels(folder / "subtopics.qrels")
    whole = rb.evaluate(qrels, folder / "run1.txt", "alpha_nDCG(alpha=0.3)", bounds="none")
    for query in whole.query_ids[:5]:
        alone = rb.evaluate(qrels.filter(query), folder / "run1.txt", "alpha_nDCG(alpha=0.3)", bounds="none")
        assert close(alone.value.item(), whole.value[0, whole.query_ids.index(query), 0])


def test_engines_for_large_files_say_what_they_cannot_do(tmp_path, command):
    (tmp_path / "web.qrels").write_text(WEB)
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 r\n1 Q0 b 2 2 r\n2 Q0 a 1 1 r\n")
    code, _, err = command(
        "evaluate", tmp_path / "web.qrels", tmp_path / "run.txt", "-m", "StRec@1", "--engine", "stream"
    )
    assert code == 2
    assert "StRec@1" in err
    code, out, _ = command(
        "evaluate", tmp_path / "web.qrels", tmp_path / "run.txt", "-m", "StRec@1,AP", "--format", "json"
    )
    assert code == 0
    assert '"StRec@1"' in out
