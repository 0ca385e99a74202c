"""Every engine obeys every law and gives other people's numbers: in memory, as a stream of small pieces, on Spark.

Laws are checked on random examples against the plain definitions, and what they asked for is kept. Then each engine
scores the same examples as topics of one collection, a call for each choice of assumptions, and must give the cells
that the laws were checked on.
"""

from __future__ import annotations

import inspect
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

import rankbounds as rb
import test_golden
import test_laws
from rankbounds.evaluation.engines import streaming
from rankbounds.files.opening import expand

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own warnings are not ours to turn into errors
trec8 = test_golden.trec8

SCALE = {"scale": {"one": 1, "two": 2, "three": 3}}
"""A topic that no run has: with it all collections have the same grades."""
LAWS = {
    name: law.hypothesis
    for name, law in vars(test_laws).items()
    if name.startswith("test_")
    and hasattr(law, "hypothesis")
    and any(door in inspect.getsource(law.hypothesis.inner_test) for door in ("= evaluated(", "scored("))
}
"""Those that score one example as it is."""


def in_memory(qrels, runs, measures, **options):
    return LOCAL(qrels, runs, measures, **options)


def as_a_stream(folder):
    """Files in pieces of a few lines; judgments are held whole, or split with the run where that is possible."""

    def evaluate(qrels, runs, measures, **options):
        if not isinstance(qrels, dict):
            return streaming.evaluate(qrels, runs, measures, memory="1M", **options)
        (folder / "qrels").write_text("".join(f"{t} 0 {d} {g}\n" for t, docs in qrels.items() for d, g in docs.items()))
        lines = [f"{t} Q0 {d} 0 {s} run\n" for t, docs in runs.items() for d, s in docs.items()]
        (folder / "run").write_text("".join(lines))
        return streaming.evaluate(folder / "qrels", folder / "run", measures, memory=1 << 16, **options)

    return evaluate


def on_spark(session):
    """Dicts as frames with their rows in any order, files as files."""
    from rankbounds.evaluation.engines import spark

    def evaluate(qrels, runs, measures, **options):
        if not isinstance(qrels, dict):
            paths = expand([runs] if isinstance(runs, str | os.PathLike) else runs)
            return spark.evaluate_files(os.fspath(qrels), paths, measures, spark=session, **options)
        found = spark.evaluate(
            frame(qrels, "relevance"), frame(runs, "score"), measures, names=["run"], partitions=2, **options
        )
        scores = found.collect()
        found.lists.unpersist()
        return scores

    def frame(nested, value):
        rows = [(topic, doc, float(one)) for topic, docs in nested.items() for doc, one in docs.items()]
        return session.createDataFrame(rows, f"query_id string, doc_id string, {value} double").repartition(2)

    return evaluate


LOCAL = rb.evaluate


@pytest.fixture(params=["local", "stream", "spark"])
def engine(request, tmp_path):
    """``rankbounds.evaluation.evaluate`` by each of the engines."""
    if request.param == "spark":
        return on_spark(request.getfixturevalue("spark_session"))
    return in_memory if request.param == "local" else as_a_stream(tmp_path)


@pytest.fixture(scope="module")
def asked():
    """What the laws asked for: for each choice of assumptions examples and measures, with cells that obey the law."""
    found = {}

    def evaluated(example, measures=None, **options):
        chosen = tuple(test_laws.fitting(example, test_laws.MEASURES if measures is None else measures))
        options = {"gain": example.rule, **options}
        scores = LOCAL(example.qrels | SCALE, example.run, chosen, **options)
        cells = np.stack([scores.value[0, 0], scores.low[0, 0], scores.high[0, 0]])
        found.setdefault(tuple(sorted(options.items())), []).append((example, chosen, cells))
        return scores

    own = test_laws.Example.grades
    few = settings(
        max_examples=6,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_laws, "evaluated", evaluated)
        patch.setattr(test_laws.Example, "grades", property(lambda example: [*own.fget(example), 1, 2, 3]))
        for law in LAWS.values():
            few(seed(7)(given(**law._given_kwargs)(law.inner_test)))()
    return found


def test_cells_are_those_that_obey_the_laws(engine, asked):
    assert len(LAWS) == 14
    checked = 0
    every = 4 if "spark" in engine.__qualname__ else 1  # a job of Spark's takes a second
    for options, examples in list(asked.items())[::every]:
        qrels = {f"t{at}": example.qrels["t"] for at, (example, _, _) in enumerate(examples)}
        runs = {f"t{at}": example.run["t"] for at, (example, _, _) in enumerate(examples)}
        known = dict.fromkeys(measure for _, several, _ in examples for measure in several)
        measures = [measure for measure in known if engine is in_memory or not measure.reads_judgments]
        scores = engine(qrels | SCALE, runs, measures, **dict(options))
        place = {query: at for at, query in enumerate(scores.query_ids)}
        for at, (_, several, cells) in enumerate(examples):
            row = place[f"t{at}"]
            held = [place for place, measure in enumerate(several) if measure in measures]
            columns = [measures.index(several[place]) for place in held]
            together = np.stack([array[0, row, columns] for array in (scores.value, scores.low, scores.high)])
            np.testing.assert_allclose(together, cells[:, held], rtol=1e-11, atol=1e-12, err_msg=str(options))
            checked += cells.size
    assert checked > 50_000 / every


CASES = next(mark for mark in test_golden.test_trec_eval_prints_the_same.pytestmark if mark.name == "parametrize").args[
    1
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_trec_eval_prints_the_same(engine, unpacked, monkeypatch, case):
    monkeypatch.setattr(rb, "evaluate", engine)
    test_golden.test_trec_eval_prints_the_same(unpacked, *case)


def test_trec8_values_are_those_of_trec_eval(engine, trec8):
    folder, expected = trec8
    names = ["map", "rbp", "recip_rank", "P_10", "ndcg", "ndcg_cut_10", "unj_10", "bpref"]
    runs = sorted((folder / "runs").iterdir())[::20]
    scores = engine(folder / "qrels.txt", runs, names)
    test_golden.assert_is_trec8(scores, names, expected, len(runs))


def test_trec_covid_official_rbp(engine, unpacked, monkeypatch):
    monkeypatch.setattr(rb, "evaluate", engine)
    test_golden.test_trec_covid_official_rbp_follows_single_precision(unpacked)
