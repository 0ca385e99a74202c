"""The documents of several runs against plain dicts and sets, however runs are ordered and entries are given."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.collection.inputs import as_run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scoring import join_lists
from rankbounds.rankings import documents as module
from rankbounds.rankings.documents import RetrievedDocuments
from rankbounds.rankings.topic_facts import TopicFacts


def drawn(seed, runs=4, topics=3):
    """Judgments of some documents, and runs with lists of their own lengths."""
    rng = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(12)]
    qrels = {f"t{topic}": {doc: int(rng.integers(0, 3)) for doc in docs[::2]} for topic in range(topics)}
    lists = {
        f"run{run}": {topic: [*rng.permutation(docs)[: rng.integers(1, 10)].tolist()] for topic in qrels}
        for run in range(runs)
    }
    return qrels, lists


def numbered(qrels, lists, choice=None):
    facts = TopicFacts(rb.Qrels(qrels))
    runs = [as_run(found, name) for name, found in lists.items()]
    batches = [list(join_lists(run, facts, Assumptions()).batches) for run in runs]
    chosen = () if choice is None else (choice,)
    return RetrievedDocuments.in_lists(runs, batches, *chosen), facts


@pytest.mark.parametrize("matched", [1, 7, 1 << 20])
@pytest.mark.parametrize("runs", [1, 2, 4])
def test_each_document_is_met_once_where_the_runs_have_it(runs, matched, monkeypatch):
    monkeypatch.setattr(module, "MATCHED", matched)
    qrels, lists = drawn(3, runs)
    documents, facts = numbered(qrels, lists)
    topics = [facts.query_ids[topic] for topic in documents.topic]
    names = list(zip(topics, documents.doc_ids(np.arange(len(documents))), strict=True))
    assert len(set(names)) == len(documents)
    assert set(names) == {(topic, doc) for found in lists.values() for topic, docs in found.items() for doc in docs}
    entries = zip(documents.run, documents.rank, documents.document, strict=True)
    assert {(run, *names[number]): rank for run, rank, number in entries} == {
        (run, topic, doc): rank
        for run, found in enumerate(lists.values())
        for topic, docs in found.items()
        for rank, doc in enumerate(docs, 1)
    }
    for (topic, doc), grade, judgment in zip(names, documents.grade, documents.judgments(facts.qrels), strict=True):
        known = qrels[topic].get(doc)
        assert np.isnan(grade) if known is None else grade == known == facts.qrels.grade[judgment]
        assert bool(judgment < 0) is (known is None)
    for run, of_row, held in zip(documents.runs, documents.numbers, documents.held, strict=True):
        rows = [(topic, doc) for topic, found in run.to_dict().items() for doc in found]
        assert sorted(names[number] for number in of_row) == sorted(rows)
        assert held == len(rows)


@pytest.mark.parametrize("number", [2, 4])
def test_numbers_do_not_depend_on_the_order_of_the_runs(number):
    qrels, lists = drawn(5, number)
    there, _ = numbered(qrels, lists)
    every = np.arange(len(there))
    back, _ = numbered(qrels, dict([*lists.items()][::-1]))
    assert back.doc_ids(every) == there.doc_ids(every)
    assert back.best_rank.tolist() == there.best_rank.tolist()
    assert back.number_of_runs.tolist() == there.number_of_runs.tolist()


def test_a_topic_is_that_part_of_the_whole_and_two_runs_share_what_both_hold():
    qrels, lists = drawn(7)
    documents, facts = numbered(qrels, lists, lambda rankings: rankings.holes)
    by_topic = np.argsort(documents.topic[documents.document], kind="stable")
    entries = np.stack((documents.topic[documents.document], documents.run, documents.rank, documents.row))[:, by_topic]
    parts = RetrievedDocuments.at(documents.runs, entries).by_topic(np.arange(len(facts.query_ids)))
    for topic, part in zip(facts.query_ids, parts, strict=True):
        unjudged = [[doc for doc in found[topic] if doc not in qrels[topic]] for found in lists.values()]
        listed, ranks = part.tables
        for run, docs in enumerate(unjudged):
            assert part.doc_ids(listed[run, : part.held[run]]) == docs
            assert sorted(ranks[run][ranks[run] > 0].tolist()) == [
                rank for rank, doc in enumerate([*lists.values()][run][topic], 1) if doc in docs
            ]
        assert part.overlap.tolist() == [[len({*a} & {*b}) for b in unjudged] for a in unjudged]
        in_a, in_b = part.of_either(np.array([0]), np.array([1]))
        assert np.count_nonzero((in_a > 0) | (in_b > 0)) == len({*unjudged[0], *unjudged[1]})
