"""Why another tool's number is another: every reason is made by a slow plain definition, and has to be named."""

from __future__ import annotations

import json
import math
import random

import polars as pl
import pytest

import rankbounds as rb
from rankbounds.checking.explanation import explain
from rankbounds.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


# ---- slow plain definitions, which share nothing with the package ----


def ranked(scores):
    """Score down, then document id down."""
    return [doc for doc, _ in sorted(scores.items(), key=lambda item: (item[1], item[0]), reverse=True)]


def dcg(gains):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(docs, grades, k=None, *, gain=float, ideal_of=None):
    pool = grades.values() if ideal_of is None else [grades.get(doc, 0) for doc in ideal_of]
    ideal = dcg(sorted((gain(max(grade, 0)) for grade in pool), reverse=True)[:k])
    return dcg([gain(max(grades.get(doc, 0), 0)) for doc in docs[:k]]) / ideal if ideal else 0.0


def precisions(docs, grades, k=None, level=1):
    hits, kept = 0, []
    for rank, doc in enumerate(docs[:k], 1):
        if grades.get(doc, 0) >= level:
            hits += 1
            kept.append(hits / rank)
    return kept


def average_precision(docs, grades, k=None, level=1, divisor=None):
    relevant = sum(grade >= level for grade in grades.values())
    kept = precisions(docs, grades, k, level)
    divisor = relevant if divisor is None else divisor(relevant, len(kept))
    return sum(kept) / divisor if divisor else 0.0


def precision(docs, grades, k, level=1):
    return sum(grades.get(doc, 0) >= level for doc in docs[:k]) / k


def made(seed=3, topics=7, documents=40, *, chunks=False, itself=False):
    """Judgments with grades to 3, unretrieved relevant documents, a topic that the run lacks, and distinct scores."""
    draw = random.Random(seed)
    run, qrels = {}, {}
    for topic in range(topics):
        docs = [f"d{number}" for number in draw.sample(range(200), documents)]
        qrels[f"q{topic}"] = {doc: draw.choice([0, 0, 1, 2, 3]) for doc in [*draw.sample(docs, 25), "z1", "z2", "z3"]}
        qrels[f"q{topic}"].update(z1=3, z2=2)
        if itself:
            docs.insert(draw.randrange(5), f"q{topic}")
        if chunks:
            docs = [f"{doc}#{part}" for doc in docs for part in range(draw.randrange(1, 4))]
            draw.shuffle(docs)
        run[f"q{topic}"] = {doc: float(len(docs) - place) for place, doc in enumerate(docs)}
    return qrels, run


def collection(seed, topics=8, documents=40, grades=3):
    """Many ties, and few judgments."""
    draw = random.Random(seed)
    run, qrels = {}, {}
    for topic in range(topics):
        docs = [f"d{number}" for number in draw.sample(range(200), documents)]
        run[f"q{topic}"] = {doc: round(draw.random(), 1) for doc in docs}
        qrels[f"q{topic}"] = {doc: draw.randrange(grades + 1) for doc in [*draw.sample(docs, 20), "z1", "z2"]}
    return qrels, run


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def over(qrels, run, score):
    """The mean over judged topics."""
    return mean(score(ranked(run.get(query, {})), grades) for query, grades in qrels.items())


def shared(qrels, run):
    return {query: grades for query, grades in qrels.items() if run.get(query)}


class TestOtherTools:
    """The same numbers in the forms in which tools give them."""

    def given(self):
        qrels, run = made(itself=True)
        without = {query: {doc: s for doc, s in docs.items() if doc != query} for query, docs in run.items()}
        values = {query: ndcg(ranked(without[query]), grades, 10) for query, grades in qrels.items()}
        return qrels, run, values, round(mean(values.values()), 5)

    @pytest.mark.parametrize(
        "form",
        [
            lambda values, value: {query: {"ndcg_cut_10": score} for query, score in values.items()},
            lambda values, value: {"ndcg@10": values},
            lambda values, value: {"ndcg@10": value},
            lambda values, value: {"ndcg": {"NDCG@10": value}},
        ],
        ids=["pytrec_eval", "ranx scores", "means", "BEIR by name"],
    )
    def test_forms(self, form, tmp_path):
        qrels, run, values, value = self.given()
        content = form(values, value)
        (tmp_path / "out.json").write_text(json.dumps(content))
        (found,) = explain(qrels, run, content)
        assert found == explain(qrels, run, tmp_path / "out.json")[0]
        assert found.switch == "--drop-self"
        assert found.lines in (1, len(values))

    def test_means_of_trec_eval_begin_with_the_name_of_the_run(self, tmp_path):
        qrels, run, _, value = self.given()
        path = tmp_path / "out"
        path.write_text(f"runid                 \tall\tbm25\nndcg_cut_10           \tall\t{value:.4f}\n")
        (found,) = explain(qrels, run, path)
        assert (found.name, found.lines, found.switch) == ("ndcg_cut_10", 1, "--drop-self")

    def test_lines_of_ir_measures(self, tmp_path):
        qrels, run, values, value = self.given()
        path = tmp_path / "out"
        path.write_text(f"nDCG@10\t{value:.4f}\n")
        assert explain(qrels, run, path)[0].switch == "--drop-self"
        path.write_text("".join(f"{query}\tnDCG@10\t{score:.4f}\n" for query, score in values.items()))
        (found,) = explain(qrels, run, path)
        assert (found.name, found.lines, found.switch) == ("nDCG@10", len(values), "--drop-self")

    @pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
    def test_tables_of_scores_by_topic(self, kind, tmp_path):
        qrels, run, values, _ = self.given()
        path = tmp_path / f"out.{kind}"
        table = pl.DataFrame({"query_id": list(values), "nDCG@10": list(values.values())})
        if kind == "parquet":
            table.write_parquet(path)
        else:
            table.write_csv(path, separator="\t" if kind == "tsv" else ",")
        (found,) = explain(qrels, run, path)
        assert (found.name, found.lines, found.switch) == ("nDCG@10", len(values), "--drop-self")

    def test_numbers(self):
        qrels, run, _, value = self.given()
        assert explain(qrels, run, f"nDCG@10={value:.5f}")[0].switch == "--drop-self"
        assert explain(qrels, run, f"nDCG@10={100 * value:.3f}%")[0].switch == "--drop-self"
        found = explain(qrels, run, f"{value:.5f}")
        assert ("nDCG@10", "--drop-self") in [(explanation.name, explanation.switch) for explanation in found]
        assert all(explanation.settled for explanation in found)
        value = over(qrels, run, lambda docs, grades: precision(docs, grades, 10))
        first = explain(qrels, run, f"{value:.5f}")[0]
        assert (first.name, first.changes, first.why) == ("P@10", 0, "equal")

    @pytest.mark.parametrize(
        ("stated", "agrees"), [("AP=0", False), ("AP=1", False), ("P@2=0.5", True), ("RR=1", True)]
    )
    def test_a_whole_number_is_no_rounded_one(self, stated, agrees):
        """AP of the second and third of three is .58, which rounds to 1."""
        (found,) = rb.explain({"1": {"a": 0, "b": 1, "c": 1}}, {"1": ["b", "a", "c"]}, stated)
        assert (found.lines == found.equal) == agrees

    def test_zeros_at_the_end_count_as_digits(self):
        qrels, run = {"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"a": 2.0, "x": 1.0}}
        (_, other) = explain(qrels, run, {"AP": 0.33333, "P@2": 0.5})
        assert other.equal == 1
        found = explain(qrels, run, {"P@2": 0.5, "Recall@2": 0.30001})[1]
        assert found.equal == 0

    @pytest.mark.parametrize(
        "content", [{run: {"q0": {"AP": 0.5}} for run in "ab"}, {run: {"AP": {"q0": 0.5}} for run in "ab"}]
    )
    def test_several_runs_are_an_error(self, content):
        qrels, run, _, _ = self.given()
        with pytest.raises(rb.DataError, match="Give those of one"):
            explain(qrels, run, content)

    def test_no_scores(self):
        qrels, run, _, _ = self.given()
        with pytest.raises(rb.DataError, match='the score "nothing" is not a number'):
            explain(qrels, run, {"note": "nothing"})


class TestHonesty:
    def test_a_depth_that_the_name_has_is_doubted_last(self):
        """The ideal of what was retrieved gives 1 for any list; so does nDCG@1, which nobody said."""
        (found,) = rb.explain({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a"]}, "nDCG@5=1.0")
        assert found.why.startswith("ideal")
        assert "-m 'nDCG@1'" in found.also
        (found,) = rb.explain({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a"]}, "nDCG=1.0")
        assert found.why.startswith("depth")

    def test_nearest_where_nothing_fits(self):
        qrels, run = made(itself=True)
        without = {query: {doc: s for doc, s in docs.items() if doc != query} for query, docs in run.items()}
        value = over(qrels, without, lambda docs, grades: ndcg(docs, grades, 10)) + 0.00002
        (found,) = explain(qrels, run, f"nDCG@10={value:.6f}")
        assert not found.settled
        assert found.switch == ""
        assert found.nearest.startswith("self-matches")
        assert found.tried > 20

    def test_simplest_first(self):
        """What one change explains is not explained by two."""
        qrels, run = made()
        del run["q2"]
        value = over(shared(qrels, run), run, average_precision)
        (found,) = explain(qrels, run, f"AP={value:.3f}")
        assert found.changes == 1

    def test_command_warns_of_chance_and_shows_what_is_missing(self, tmp_path, capsys):
        qrels, run = made()
        files = [tmp_path / "qrels.json", tmp_path / "run.json"]
        for path, content in zip(files, (qrels, run), strict=True):
            path.write_text(json.dumps(content))
        value = over(qrels, run, lambda docs, grades: ndcg(docs, grades, 10, ideal_of=docs))
        assert main(["explain", f"nDCG@10={value:.5f}", *map(str, files)]) == 0
        out = capsys.readouterr().out
        assert "by chance" in out
        assert "no option of rankbounds reproduces this" in out
        assert main(["explain", "nDCG@10=0.98765", *map(str, files)]) == 0
        assert "closest of" in capsys.readouterr().out
        for kind in ("json", "csv", "markdown"):
            assert main(["explain", f"{value:.5f}", *map(str, files), "--format", kind]) == 0
            assert capsys.readouterr().out

    def test_a_run_with_other_bad_lines_is_refused(self, tmp_path):
        path = tmp_path / "run"
        path.write_text("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n1 Q0 b 3 nan t\n")
        with pytest.raises(rb.DataError):
            explain({"1": {"a": 1}}, path, "AP=0.5")


class TestRealData:
    def test_trec_covid_by_ir_measures(self, unpacked):
        ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
        pytest.importorskip("cwl.ruler.measures", reason="cwl-eval, which ir_measures needs for RBP, is not installed")
        folder = unpacked("trec-covid-r5-top100.tar.xz") / "trec-covid-r5"
        qrels, run = rb.read_qrels(folder / "qrels.txt"), rb.read_run(folder / "runs-top100" / "BioInfo-run1")
        judgments = {query: {doc: int(g) for doc, g in docs.items()} for query, docs in qrels.to_dict().items()}
        names = ["nDCG@10", "AP", "ERR@10", "RBP(rel=1)", "IPrec@0.2"]
        measures = [ir_measures.parse_measure(name) for name in names]
        means = ir_measures.calc_aggregate(measures, judgments, run.to_dict())
        explanations = explain(qrels, run, {str(measure): value for measure, value in means.items()})
        found = {explanation.name: explanation for explanation in explanations}
        assert all(explanation.settled for explanation in found.values())
        assert found["ERR@10"].switch == "-m 'ERR(max_grade=4)@10'"
        assert found["RBP(rel=1)"].switch == "--ties docid"
        assert found["IPrec@0.2"].why.startswith("interpolation")
        assert {found[name].why for name in ("nDCG@10", "AP")} == {"equal"}

    def test_trec_8_by_pytrec_eval(self, unpacked):
        pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
        folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
        qrels, run = rb.read_qrels(folder / "qrels.txt"), rb.read_run(folder / "runs" / "input.Dm8Nbn")
        judgments = {query: {doc: int(g) for doc, g in docs.items()} for query, docs in qrels.to_dict().items()}
        output = pytrec_eval.RelevanceEvaluator(judgments, {"map", "P_10"}).evaluate(run.to_dict())
        found = {explanation.name: explanation for explanation in explain(qrels, run, output)}
        assert found["P_10"].why == "equal"
        assert (found["map"].equal, found["map"].switch) == (49, "--score-precision single")


class TestTrecEvalsOutput:
    @pytest.mark.parametrize(
        ("output", "qrels", "run", "expected"),
        [
            ("out.test.aq", "qrels.test", "results.test", {"map": "equal", "P_5": "equal", "rbp": "equal"}),
            (
                "out.test.aql",
                "qrels.rel_level",
                "results.test",
                {"map": "-l 2", "success_10": "-l 2", "ndcg": "equal", "rbp": "equal"},
            ),
            ("out.test.aqcM", "qrels.test", "results.trunc", {"map": "-M 100", "iprec_at_recall_0.10": "-M 100"}),
        ],
    )
    def test_trec_evals_own_outputs(self, unpacked, output, qrels, run, expected):
        folder = unpacked("trec_eval-test.tar.xz") / "test"
        found = explain(folder / qrels, rb.read_run(folder / run, lenient=True), folder / output)
        by_name = {explanation.name: explanation for explanation in found}
        assert all(explanation.settled for explanation in found)
        for name, why in expected.items():
            assert why in by_name[name].why, name
        assert by_name["utility"].measure == "Utility"

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({}, "equal"),
            ({"ties": "docid"}, "ties: documents of equal score in ascending order"),
            ({"score_precision": "single"}, "precision: scores were compared in 32 bits"),
            ({"topics": "shared"}, "missing topics: without -c"),
            ({"unjudged": "condensed"}, "unjudged: documents without a judgment"),
            ({"gain": "1=1,2=3,3=7"}, "gains: 2^grade - 1"),
            ({"topics": "shared", "ties": "run"}, "line order, scores ignored; missing topics"),
        ],
    )
    def test_finds_the_choice_that_made_the_difference(self, options, told):
        qrels, run = collection(4)
        run = {
            query: {doc: one + at * 1e-12 for at, (doc, one) in enumerate(docs.items())} for query, docs in run.items()
        }
        if options.get("ties") == "docid":
            run = {query: {doc: round(one, 1) for doc, one in docs.items()} for query, docs in run.items()}
        if options.get("topics"):
            del run["q0"]
        scores = rb.evaluate(qrels, run, ["ndcg", "map", "recip_rank"], **options)
        output = {
            (line.split()[0], line.split()[1]): line.split()[2]
            for line in scores.render("trec", per_topic=True).splitlines()
        }
        found = {explanation.name: explanation for explanation in explain(qrels, run, output)}
        assert told in found["ndcg"].why
        assert (found["ndcg"].lines == found["ndcg"].equal) == (told == "equal")

    def test_says_so_when_nothing_explains(self):
        qrels, run = collection(5)
        found = explain(qrels, run, {("map", "q0"): "0.9999", ("map", "all"): "0.1"})[0]
        assert found.why.startswith("unexplained")
        assert not found.settled
        assert "topic q0: 0.9999 reported" in found.example

    def test_interpolation_of_version_9(self):
        pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
        qrels, run = collection(6)
        values = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
        output = {(name, query): f"{one:.4f}" for query, values in values.items() for name, one in values.items()}
        found = explain(qrels, run, output)
        assert all(explanation.settled for explanation in found)
        assert any("floor(r R + 0.9)" in explanation.why for explanation in found)

    def test_command(self, tmp_path, capsys):
        (tmp_path / "out").write_text("map\tall\t0.5000\nprefs_avgjg_Rnonrel\tall\t3.0\n")
        (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
        (tmp_path / "run").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n")
        files = [str(tmp_path / name) for name in ("out", "qrels", "run")]
        assert main(["explain", *files]) == 0
        out = capsys.readouterr().out
        assert "missing topics" in out
        assert "topic all: 0.5000 reported, 0.2500 computed" in out
        assert "Not in rankbounds: prefs_avgjg_Rnonrel." in out
        assert main(["explain", "nDGC@10=0.5", *files[1:]]) == 2
        assert "nDCG" in capsys.readouterr().err
        main(["explain", *files, "--format", "json"])
        assert json.loads(capsys.readouterr().out)[0]["largest_difference"] == 0.25
        (tmp_path / "out").write_text("map all\n")
        assert main(["explain", *files]) == 3
        assert "out:1: this is not a table of scores in a known format" in capsys.readouterr().err

    def test_output_of_several_runs(self, tmp_path):
        (tmp_path / "out").write_text("map\tall\t0.5\nmap\tall\t0.6\n")
        with pytest.raises(rb.DataError, match=r"out:2: a second score of map for topic all"):
            explain({"1": {"a": 1}}, {"1": ["a"]}, tmp_path / "out")
