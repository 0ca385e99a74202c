"""Tables of scores that other tools wrote: what is read, what is refused, and comparisons as of the runs."""

from __future__ import annotations

import itertools
import json
import math
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.errors import DataError
from rankbounds.measures.measure import Reported, ReportedEffort

QUERIES = [f"q{number}" for number in range(12)]


def collection(seed=1):
    chance = random.Random(seed)
    documents = [f"d{number}" for number in range(8)]
    qrels = {query: {doc: chance.randrange(3) for doc in documents} for query in QUERIES}
    runs = {
        name: {query: {doc: chance.random() for doc in documents} for query in QUERIES}
        for name in ("bm25", "dense", "=x")
    }
    return qrels, runs


@pytest.fixture
def scores():
    return rb.evaluate(*collection(), ["AP", "nDCG@5", "RBP(p=0.8)"])


def same(read, scores, digits=12):
    """Are these the scores, run by run, topic by topic?"""
    assert set(read.runs) == set(scores.runs)
    aligned = read.filter(run=scores.runs, topic=scores.query_ids, measure=scores.measures)
    np.testing.assert_allclose(aligned.value, scores.value, atol=0.5 * 10**-digits + 1e-12)
    return True


# ---- our own tables ----


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl"])
def test_what_evaluate_writes_is_read_back(tmp_path, scores, kind):
    path = tmp_path / f"scores.{kind}"
    path.write_text(scores.render(kind, per_topic=True))
    read = rb.read_scores(path)
    assert same(read, scores)
    aligned = read.filter(run=scores.runs, topic=scores.query_ids, measure=scores.measures)
    np.testing.assert_allclose(aligned.low, scores.low)
    np.testing.assert_allclose(aligned.high, scores.high)


def test_parquet_and_wide_frames_are_read(tmp_path, scores):
    scores.to_polars().write_parquet(tmp_path / "tidy.parquet")
    assert same(rb.read_scores(tmp_path / "tidy.parquet"), scores)
    wide = scores.to_polars().pivot(on="measure", index=["run", "query_id"], values="value")
    wide.write_csv(tmp_path / "wide.csv")
    assert same(rb.read_scores(tmp_path / "wide.csv"), scores)


def test_saved_scores_are_read_whole_and_beside_others(tmp_path, scores):
    scores.save(tmp_path / "saved.json")
    assert rb.read_scores(tmp_path / "saved.json") == scores
    scores.run("bm25").save(tmp_path / "one.json")
    (tmp_path / "others.csv").write_text(scores.run("dense", "=x").render("csv", per_topic=True))
    assert same(rb.read_scores([tmp_path / "one.json", tmp_path / "others.csv"]), scores)


# ---- other tools' ----


def trec_files(folder, scores):
    for run in scores.runs:
        text = scores.run(run).render("trec", per_topic=True)
        (folder / f"{run.strip('=')}.eval").write_text(text)
    return sorted(folder.glob("*.eval"))


def test_trec_eval_files_are_a_run_each(tmp_path, scores):
    read = rb.read_scores(trec_files(tmp_path, scores.run("bm25", "dense")))
    assert read.runs == ["bm25", "dense"]
    named = rb.read_scores({"bm25": tmp_path / "bm25.eval", "dense": tmp_path / "dense.eval"})
    assert same(named, scores.run("bm25", "dense"), digits=4)


def test_the_name_of_a_run_may_stand_before_topics_or_behind_them(tmp_path, scores):
    (tmp_path / "ours").write_text(scores.render("trec", per_topic=True))
    assert same(rb.read_scores(tmp_path / "ours"), scores, digits=4)
    blocks = []
    for run in scores.runs:
        lines = scores.run(run).render("trec", per_topic=True).splitlines()
        first_mean = next(at for at, line in enumerate(lines) if "\tall\t" in line)
        blocks += [*lines[:first_mean], f"runid                 \tall\t{run}", *lines[first_mean:]]
    (tmp_path / "theirs").write_text("\n".join(blocks) + "\n")
    assert same(rb.read_scores(tmp_path / "theirs"), scores, digits=4)


def test_runs_of_one_name_are_told_apart_by_their_files(tmp_path):
    for name, value in (("a.eval", 0.5), ("b.eval", 0.25)):
        (tmp_path / name).write_text(f"map\t1\t{value}\nmap\t2\t{value}\nrunid\tall\tSTANDARD\nmap\tall\t{value}\n")
    read = rb.read_scores(sorted(tmp_path.glob("*.eval")))
    assert read.runs == ["STANDARD (a.eval)", "STANDARD (b.eval)"]
    assert read.mean().value[:, 0, 0].tolist() == [0.5, 0.25]


def nested(scores, run):
    return {
        query: {str(measure): scores[measure].run(run).topic(query).value.item() for measure in scores.measures}
        for query in scores.query_ids
    }


def test_json_of_pytrec_eval_and_ranx(tmp_path, scores):
    by_query = nested(scores, "bm25")
    by_measure = {name: {query: by_query[query][name] for query in by_query} for name in by_query[QUERIES[0]]}
    for name, content in (("bm25.json", by_query), ("ranx.json", by_measure)):
        (tmp_path / name).write_text(json.dumps(content))
        assert same(rb.read_scores({"bm25": tmp_path / name}), scores.run("bm25"))
    by_run = {run: nested(scores, run) for run in scores.runs}
    for content in (by_run, scores.to_dict()):
        (tmp_path / "all.json").write_text(json.dumps(content))
        assert same(rb.read_scores(tmp_path / "all.json"), scores)


def test_a_matrix_in_both_directions(tmp_path, scores):
    runs, values = ["bm25", "dense"], scores["AP"].run("bm25", "dense").value[:, :, 0]
    lines = [
        f"topic,{','.join(runs)}",
        *(f"{q},{a!r},{b!r}" for q, a, b in zip(QUERIES, *values.tolist(), strict=True)),
    ]
    (tmp_path / "AP.csv").write_text("\n".join(lines))
    assert same(rb.read_scores(tmp_path / "AP.csv"), scores["AP"].run(*runs))
    across = [
        f"run,{','.join(QUERIES)}",
        *(f"{run},{','.join(map(repr, row))}" for run, row in zip(runs, values.tolist(), strict=True)),
    ]
    (tmp_path / "numbers.csv").write_text("\n".join(across))
    read = rb.read_scores(tmp_path / "numbers.csv")
    assert list(map(str, read.measures)) == ["score"]
    assert same(rb.read_scores({"AP": tmp_path / "numbers.csv"}), scores["AP"].run(*runs))


# ---- measures that nobody knows here ----


def test_a_name_of_no_measure_can_be_compared_and_says_which_way_is_better(tmp_path):
    (tmp_path / "t.csv").write_text(
        "run,query,latency,happiness\n"
        + "".join(f"{run},{q},{v + q},{v}\n" for run, v in (("a", 1), ("b", 2)) for q in range(8))
    )
    read = rb.read_scores(tmp_path / "t.csv", lower_is_better="latency")
    assert read.measures == [ReportedEffort("latency"), Reported("happiness")]
    verdicts = {row["measure"]: row["verdict"] for row in rb.compare(read).pairs.rows()}
    assert verdicts == {"latency": "worse as judged", "happiness": "better as judged"}
    assert read["latency"].sort().runs == ["a", "b"]
    read.save(tmp_path / "saved.json")
    assert rb.Scores.load(tmp_path / "saved.json") == read
    with pytest.raises(rb.UsageError, match="latencyy"):
        rb.read_scores(tmp_path / "t.csv", lower_is_better=["latencyy"])
    with pytest.raises(rb.UsageError):
        Reported("latency").value(None)


# ---- what is refused, and where ----


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.eval", "map\t1\t0.5\nmap\t2\tx\n", 2),
        ("a.eval", "map\t1\t0.5\nmap\t1\t0.5\n", 2),
        ("a.eval", "map\t1\t0.5\nmap 2\n", 2),
        ("a.csv", "run,query_id,measure,value\nr,1,AP,0.1\nr,2,AP,good\n", 3),
        ("a.csv", "run,query_id,measure,value\nr,1,AP,0.1\nr,1,AP,0.1\n", 3),
        ("a.csv", "query_id,bm25,dense\n1,0.1,0.2,0.3\n", 2),
        ("a.csv", "query_id,bm25,bm25\n1,0.1,0.2\n", 1),
        ("a.csv", "document,bm25\n1,0.1\n", 1),
        ("a.csv", "run,query_id,measure,value\nr,,AP,0.1\n", 2),
        ("a.csv", "run,query_id,measure,value\nr,1,AP,1_0\n", 2),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(tmp_path, name, text, line):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(rb.DataError) as raised:
        rb.read_scores(path)
    assert (raised.value.place.file, raised.value.place.line) == (str(path), line)


@pytest.mark.parametrize(
    "content",
    [
        "map\tall\t0.5\nP_10\tall\t0.25\n",
        json.dumps({"NDCG@10": 0.5, "MAP@10": 0.3}),
        json.dumps({"ndcg": {"NDCG@1": 0.5, "NDCG@10": 0.5}, "map": {"MAP@1": 0.25}}),
        json.dumps([{"run": "a", "query_id": "all", "measure": "AP", "value": 0.5}]),
        "run,AP,P@10\nbm25,0.1,0.2\n",
    ],
)
def test_means_alone_are_refused_with_the_reason(tmp_path, content):
    (tmp_path / "means").write_text(content)
    with pytest.raises(rb.DataError, match="only means over topics"):
        rb.read_scores(tmp_path / "means")


def test_topics_that_a_run_lacks_are_left_out_and_told(tmp_path):
    lines = [f"{q},{q / 10},{'' if q == 3 else q / 20}" for q in range(9)]
    (tmp_path / "m.csv").write_text("query,a,b\n" + "\n".join(lines))
    read = rb.read_scores(tmp_path / "m.csv")
    assert math.isnan(read.value[1, 3, 0])
    with pytest.warns(rb.RankboundsWarning, match="1 of 9 topics are left out"):
        comparison = rb.compare(read)
    assert comparison.settings["topics"] == 8


# ---- the same answers as from the runs ----


def test_the_comparison_is_that_of_the_runs(tmp_path, scores):
    path = tmp_path / "scores.csv"
    path.write_text(scores.render("csv", per_topic=True))
    read = rb.read_scores(path).filter(run=scores.runs, topic=scores.query_ids)
    ours, theirs = rb.compare(scores), rb.compare(read)
    for row, other in zip(ours.pairs.rows(), theirs.pairs.rows(), strict=True):
        assert row["p_adjusted"] == other["p_adjusted"]
        assert row["difference"] == pytest.approx(other["difference"])
    assert all(row["judged_at_10"] is None for row in theirs.systems.rows())


def test_the_command_compares_and_says_what_is_left_out(command, tmp_path, scores):
    paths = trec_files(tmp_path, scores.run("bm25", "dense"))
    code, out, err = command("compare", "--scores", *paths, "-m", "map", "--format", "json")
    assert code == 0
    pair = json.loads(out)["pairs"][0]
    assert (pair["run"], pair["against"], pair["measure"]) == ("dense", "bm25", "AP")
    assert "do not show the effect" in err
    code, out, _ = command("compare", "--scores", *paths, "-m", "map")
    assert code == 0
    assert "judged@10" not in out
    assert "nan" not in out
    code, out, err = command("compare", "--scores", *paths)
    assert code == 0
    assert all(f"\n{name} " in out for name in ("RBP(p=0.8)", "AP"))
    assert "nDCG@5" in err


def test_gates_agreement_and_power_take_tables_too(command, tmp_path, scores):
    (tmp_path / "t.csv").write_text(scores.render("csv", per_topic=True))
    code, out, _ = command(
        "compare", "--scores", tmp_path / "t.csv", "--fail-if", "AP < 0.001", "--baseline-run", "bm25"
    )
    assert (code, out.startswith("PASS")) == (0, True)
    read = rb.read_scores(tmp_path / "t.csv")
    assert rb.stats.agreement(read).rows()
    assert rb.stats.discriminative_power(read).rows()


def test_measures_that_a_run_lacks_are_not_taken_unasked(command, tmp_path):
    for name, more in (("one", ""), ("two", "P_10\t1\t0.5\nP_10\t2\t0.5\n")):
        (tmp_path / f"{name}.eval").write_text(f"map\t1\t0.5\nmap\t2\t0.25\n{more}")
    code, out, err = command("compare", "--scores", tmp_path, "--format", "json")
    assert (code, {row["measure"] for row in json.loads(out)["systems"]}) == (0, {"AP"})
    assert "P@10" in err
    assert command("compare", "--scores", tmp_path, "-m", "P_10")[0] == 3


def test_a_gate_on_a_name_that_nobody_knows(command, tmp_path):
    rows = "".join(f"{q},{1 + q / 100},{2 + q / 100}\n" for q in range(8))
    (tmp_path / "t.csv").write_text(f"query,old,new\n{rows}")
    arguments = ["compare", "--scores", f"latency={tmp_path / 't.csv'}"]
    assert command(*arguments, "--fail-if", "latency worse")[0] == 0
    arguments += ["--lower-is-better", "latency"]
    assert command(*arguments, "--fail-if", "latency worse")[0] == 1
    assert command(*arguments, "--fail-if", "latency > 5")[0] == 0
    assert command(*arguments, "--fail-if", "slowness worse")[0] == 2


def test_options_that_need_runs_are_rejected(command, tmp_path, scores):
    path = tmp_path / "t.csv"
    path.write_text(scores.render("csv", per_topic=True))
    for more in (["--unjudged", "condensed"], ["--ties", "best"], ["--formats", "trec"]):
        code, out, err = command("compare", "--scores", path, *more)
        assert (code, out) == (2, "")
        assert more[0] in err
    code, _, err = command("compare", path, path, "--scores", path)
    assert code == 2
    code, _, err = command("compare")
    assert code == 2


def test_real_runs_by_way_of_trec_eval_tables(unpacked, command, tmp_path):
    folder = unpacked("dl21-half.tar.xz") / "dl21-half"
    qrels, runs = folder / "human.qrels", sorted((folder / "runs").iterdir())[:4]
    for path in runs:
        _, out, _ = command("trec_eval", "-q", "-m", "map", qrels, path)
        (tmp_path / f"{path.name}.eval").write_text(out)
    _, out, _ = command("compare", "--scores", tmp_path, "-m", "map", "--format", "json")
    tabled = {row["run"]: row["mean"] for row in json.loads(out)["systems"]}
    _, out, _ = command("compare", qrels, *runs, "-m", "map", "--topics", "shared", "--format", "json")
    direct = {row["run"]: row["mean"] for row in json.loads(out)["systems"]}
    assert sorted(tabled.values()) == pytest.approx(sorted(direct.values()), abs=1e-4)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n\n", b",,\n", b"\t\n;\n", b"[]", b"{}", b"[1, 2]", b'{"a": {}}', b'{"a": {"b": [1]}}',
        b'{"a": {"b": {"c": {"d": 1}}}}',
        b'{"a": {"b": "yes"}}', b"\xff\xfe\x00", b'{"format": "rankbounds scores 9"}', b"PAR1xxxx", b"qid\n1\n",
        b"qid,measure\n1,AP\n", b'"a,b\n1,2\n', b'{"a": {"b": 1}, "c": 3}', b'{"a": 1, "b": {"c": 2}}',
        b'[{"query_id": {"x": 1}, "AP": [1]}]', b"just words\n", b'{"AP": 1, "q": "x"}',
        b'{"task_name": "SciFact", "scores": {"test": [{"ndcg_at_10": 0.5, "main_score": 0.5}]}}',
    ],
)  # fmt: skip
def test_what_is_no_table_of_scores_is_refused_in_a_sentence(tmp_path, content):
    (tmp_path / "odd").write_bytes(content)
    with pytest.raises(rb.DataError, match="odd"):
        rb.read_scores(tmp_path / "odd")


@pytest.mark.parametrize(
    ("other", "told"),
    [("map\t9\t0.5\n", "No topic has scores of all runs"), ("P_10\t1\t0.5\n", "one has no score by P@10")],
)
def test_runs_that_share_nothing_are_told_apart(tmp_path, other, told):
    (tmp_path / "one.eval").write_text("map\t1\t0.5\nmap\t2\t0.5\n")
    (tmp_path / "two.eval").write_text(other)
    with pytest.raises(rb.DataError, match=told):
        rb.compare(rb.read_scores(sorted(tmp_path.glob("*.eval"))))


IR_MEASURES = "1\tAP\t0.2500\n1\tP@5\t0.4000\n2\tAP\t0.7500\n2\tP@5\t0.2000\n"


@pytest.mark.parametrize("means", ["", "all\tAP\t0.5000\nall\tP@5\t0.3000\n"], ids=["-q -n", "-q"])
def test_ir_measures_prints_the_topic_before_the_measure(tmp_path, means):
    path = tmp_path / "bm25.tsv"
    path.write_text(IR_MEASURES + means)
    assert rb.read_scores(path).to_dict() == {"bm25": {"AP": {"1": 0.25, "2": 0.75}, "P@5": {"1": 0.4, "2": 0.2}}}


def test_names_that_nobody_knows_stand_where_the_means_say(tmp_path):
    for text in ("1\tspeed\t2\n2\tspeed\t4\nall\tspeed\t3\n", "speed\t1\t2\nspeed\t2\t4\nspeed\tall\t3\n"):
        (tmp_path / "bm25.txt").write_text(text)
        assert rb.read_scores(tmp_path / "bm25.txt").to_dict() == {"bm25": {"speed": {"1": 2.0, "2": 4.0}}}


def test_ir_measures_itself_is_read(tmp_path):
    pytest.importorskip("ir_measures")
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {int(d in 'ac')}\n" for q in (1, 2, 3) for d in "abcd"))
    ranked = [(query, rank, document) for query in (1, 2, 3) for rank, document in enumerate("bacd")]
    (tmp_path / "run").write_text("".join(f"{query} Q0 {doc} {rank} {9 - rank} x\n" for query, rank, doc in ranked))
    asked = [sys.executable, "-m", "ir_measures", "qrels", "run", "AP", "nDCG@10", "-q", "-p", "-1"]
    out = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    (tmp_path / "theirs.tsv").write_text(out)
    ours = rb.evaluate(tmp_path / "qrels", tmp_path / "run", ["AP", "nDCG@10"])
    theirs = rb.read_scores(tmp_path / "theirs.tsv")
    assert theirs.query_ids == ours.query_ids
    assert theirs[ours.measures].value == pytest.approx(ours.value)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames_of_single_queries_are_read_and_compared(scores, package):
    """PyTerrier's frame of an experiment with perquery=True, and the same with a column for each measure."""
    rows = [(row["run"], row["query_id"], row["measure"], row["value"]) for row in scores.rows()]
    columns = dict(zip(("name", "qid", "measure", "value"), map(list, zip(*rows, strict=True)), strict=True))
    wide = {"name": [], "qid": []} | {str(measure): [] for measure in scores.measures}
    for run, topic in itertools.product(scores.runs, scores.query_ids):
        one = scores.run(run).topic(topic)
        for name, value in zip(wide, (run, topic, *one.value.ravel().tolist()), strict=True):
            wide[name].append(value)
    module = pytest.importorskip(package)
    frame = module.table if package == "pyarrow" else module.DataFrame
    for table in (frame(columns), frame(wide)):
        assert rb.read_scores(table).to_dict() == scores.to_dict()
        assert rb.compare(table).pairs.rows()[0]["difference"] == rb.compare(scores).pairs.rows()[0]["difference"]
    with pytest.raises(DataError, match="no column holds topics"):
        rb.read_scores(frame({"name": ["a"], "measure": ["AP"], "value": [1.0]}))


def test_success_and_failure_are_scores(tmp_path):
    pandas = pytest.importorskip("pandas")
    expected = {"a": {"Success@5": {"1": 1.0, "2": 0.0}}}
    frame = pandas.DataFrame({"name": ["a", "a"], "qid": [1, 2], "measure": ["Success@5"] * 2, "value": [True, False]})
    assert rb.read_scores(frame).to_dict() == expected
    (tmp_path / "a.json").write_text('{"1": {"Success@5": true}, "2": {"Success@5": false}}')
    (tmp_path / "a.csv").write_text("qid,Success@5\n1,True\n2,False\n")
    for name in ("a.json", "a.csv"):
        assert rb.read_scores(tmp_path / name).to_dict() == expected


# ---- one number per item: booleans, seeds, leaderboards of shared tasks ----

ITEMS = {
    "model": ["a"] * 6 + ["b"] * 6,
    "item_id": [1, 1, 2, 2, 3, 3] * 2,
    "seed": [0, 1] * 6,
    "correct": [True, False, True, True, False, False, True, True, True, True, True, False],
}
AVERAGED = [[0.5, 1.0, 0.0], [1.0, 1.0, 0.5]]


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv", "jsonl", "parquet"])
def test_seeds_of_an_item_are_averaged(kind, tmp_path):
    frame = pl.DataFrame(ITEMS)
    given = {"pandas": lambda: pd.DataFrame(ITEMS), "polars": lambda: frame}.get(
        kind, lambda: tmp_path / f"items.{kind}"
    )()
    if kind in ("csv", "parquet"):
        getattr(frame, f"write_{kind}")(given)
    elif kind == "jsonl":
        frame.write_ndjson(given)
    with pytest.warns(rb.RankboundsWarning, match="2 seeds per item are averaged"):
        scores = rb.read_scores(given)
    assert (scores.runs, list(scores.query_ids)) == (["a", "b"], ["1", "2", "3"])
    assert scores.value[:, :, 0].tolist() == AVERAGED


def test_seeds_do_not_make_significance():
    rng = np.random.default_rng(3)
    per_item = rng.normal(0.05, 0.3, 12)
    rows = [
        {"system": system, "item": item, "seed": seed, "score": 0.5 + (per_item[item] if system == "b" else 0)}
        for system in "ab"
        for item in range(12)
        for seed in range(20)
    ]
    with pytest.warns(rb.RankboundsWarning, match="20 seeds"):
        many = rb.compare(rb.read_scores(pd.DataFrame(rows)))
    alone = rb.compare(rb.read_scores(pd.DataFrame([row for row in rows if row["seed"] == 0]).drop(columns="seed")))
    assert many.pairs.rows()[0]["p_value"] == alone.pairs.rows()[0]["p_value"]


def test_one_seed_each_is_no_average_and_a_seed_twice_is_an_error():
    one = pd.DataFrame({"model": ["a", "a"], "item": [1, 2], "seed": [0, 0], "correct": [True, False]})
    assert rb.read_scores(one).value.ravel().tolist() == [1.0, 0.0]
    twice = pd.DataFrame({"model": ["a", "a"], "item": [1, 1], "seed": [0, 0], "correct": [True, False]})
    with pytest.raises(rb.DataError, match="a second score of correct for item 1, run a and seed 0"):
        rb.read_scores(twice)


def items_in_conversations(column):
    rows = [{"model": m, "item": n, column: f"c{n // 3}", "correct": (7 * n + k) % 5 < 2 + k}
            for k, m in enumerate("ab") for n in range(12)]  # fmt: skip
    return pd.DataFrame(rows), {str(n): f"c{n // 3}" for n in range(12)}


@pytest.mark.parametrize("column", ["cluster", "conversation", "session_id"])
def test_items_of_a_cluster_are_compared_by_cluster(column, tmp_path, capsys):
    table, clusters = items_in_conversations(column)
    scores = rb.read_scores(table)
    assert [str(measure) for measure in scores.measures] == ["correct"]
    assert scores.clusters == clusters
    without = rb.read_scores(table.drop(columns=column))
    assert rb.compare(scores).pairs.rows() == rb.compare(without, clusters=clusters).pairs.rows()
    assert rb.compare(scores).pairs.rows() != rb.compare(without).pairs.rows()
    table.to_csv(tmp_path / "items.csv", index=False)
    assert main(["compare", "--scores", str(tmp_path / "items.csv")]) == 0
    assert "over 12 topics in 4 clusters" in capsys.readouterr().out
    scores.save(tmp_path / "saved.json")
    assert rb.read_scores(tmp_path / "saved.json") == scores


def test_a_column_group_is_used_if_the_user_says_so():
    table, clusters = items_in_conversations("group")
    with pytest.warns(rb.RankboundsWarning, match='"group" is not used.*--columns cluster=group'):
        scores = rb.read_scores(table)
    assert ([str(measure) for measure in scores.measures], scores.clusters) == (["correct"], {})
    assert rb.read_scores(table, columns={"cluster": "group"}).clusters == clusters


def test_an_item_without_a_cluster_is_its_own_and_none_is_in_two():
    table, clusters = items_in_conversations("cluster")
    table["cluster"] = table["cluster"].where(table["item"] != 4)
    assert rb.read_scores(table.where(table.notna(), None)).clusters == clusters | {"4": "4 alone"}
    table.loc[0, "cluster"] = "c1"
    with pytest.raises(rb.DataError, match='item 0 is in cluster "c0" here, and in "c1" above'):
        rb.read_scores(table)


@pytest.mark.parametrize("order", ["{run} {measure} {topic} {value}", "{run}\t{topic}\t{measure}\t{value}"])
@pytest.mark.parametrize("means", [True, False])
def test_leaderboards_of_four_fields(order, means, tmp_path):
    measure = "quality" if means else "nDCG@10"
    rows = [("A", "t1", 0.5), ("A", "t2", 0.25), ("B", "t1", 0.75), ("B", "t2", 0.5)]
    rows += [("A", "all", 0.375), ("B", "all", 0.625)] if means else []
    (tmp_path / "board.txt").write_text(
        "".join(order.format(run=run, measure=measure, topic=topic, value=value) + "\n" for run, topic, value in rows)
    )
    scores = rb.read_scores(tmp_path / "board.txt")
    assert (scores.runs, list(scores.query_ids)) == (["A", "B"], ["t1", "t2"])
    assert scores.value[:, :, 0].tolist() == [[0.5, 0.25], [0.75, 0.5]]


def test_a_leaderboard_with_two_readings_is_told(tmp_path):
    (tmp_path / "board.txt").write_text("A quality t1 0.5\nA quality t2 0.25\n")
    with pytest.raises(rb.DataError, match="the second or the third field may be the topic"):
        rb.read_scores(tmp_path / "board.txt")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.csv", "run,query_id,measure,value\na,1,AP,{}\n"),
        ("s.json", '[{{"run": "a", "query_id": "1", "measure": "AP", "value": {}}}]'),
        ("s.json", '{{"AP": {{"1": {}}}}}'),
        ("s.txt", "map\t1\t{}\n"),
    ],
)
def test_numbers_that_no_computer_holds_are_told(name, text, tmp_path):
    (tmp_path / name).write_text(text.format("9" * 400))
    with pytest.raises(DataError, match=r"the score is too large for a number\."):
        rb.read_scores(tmp_path / name)
    with pytest.raises(rb.RankboundsError):
        rb.explain({"1": {"a": 1}}, {"1": ["a"]}, {"AP": int("9" * 400)})
