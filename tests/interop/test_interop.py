"""Drop-in use beside other tools: pytrec_eval's class, ir_measures, trec_eval's output."""

from __future__ import annotations

import random
import shutil

import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.collection.inputs import Reading, as_run
from rankbounds.errors import DataError, UsageError
from rankbounds.interop import pytrec_eval as ours
from rankbounds.interop import trec_eval
from rankbounds.interop.pytrec_eval import aggregate

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")

NAMES = ["map", "ndcg", "P_10", "recip_rank", "ndcg_cut_10", "Rprec", "recall_5", "num_ret", "success_1", "map_cut_5"]


def collection(seed, topics=8, documents=40, grades=3):
    draw = random.Random(seed)
    run, qrels = {}, {}
    for topic in range(topics):
        docs = [f"d{number}" for number in draw.sample(range(200), documents)]
        run[f"q{topic}"] = {doc: round(draw.random(), 1) for doc in docs}
        qrels[f"q{topic}"] = {doc: draw.randrange(grades + 1) for doc in [*draw.sample(docs, 20), "z1", "z2"]}
    return qrels, run


class TestRelevanceEvaluator:
    @pytest.mark.parametrize("options", [{}, {"relevance_level": 2}, {"judged_docs_only_flag": True}])
    def test_gives_pytrec_evals_values(self, options):
        pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
        for seed in range(5):
            qrels, run = collection(seed)
            run["unjudged"] = {"d1": 1.0}
            del run["q3"]
            theirs = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES), **options).evaluate(run)
            ours = rb.interop.RelevanceEvaluator(qrels, NAMES, **options).evaluate(run)
            assert ours.keys() == theirs.keys()
            for query, values in theirs.items():
                assert ours[query] == pytest.approx(values, abs=1e-12), query

    @pytest.mark.parametrize(
        ("options", "name", "value"),
        [
            ({"judged_docs_only_flag": True}, "num_ret", 2.0),
            ({"relevance_level": 2}, "Rndcg", 0.0),
            ({}, "num_nonrel_judged_ret", 0.0),
        ],
    )
    def test_values_that_hold_with_options_and_negative_grades(self, options, name, value):
        qrels, run = {"q": {"a": 1, "b": 1, "c": -2}}, {"q": {"c": 4.0, "a": 3.0, "x": 2.0, "b": 1.0}}
        assert rb.interop.RelevanceEvaluator(qrels, [name], **options).evaluate(run) == {"q": {name: value}}

    def test_subtopics_are_kept(self):
        rows = [("q", "a", "1", 1), ("q", "b", "2", 1), ("q", "c", "2", -2)]
        columns = zip(("query_id", "doc_id", "subtopic", "relevance"), zip(*rows, strict=True), strict=True)
        qrels = {name: list(values) for name, values in columns}
        run = {"q": {"c": 3.0, "a": 2.0, "b": 1.0}}
        values = rb.interop.RelevanceEvaluator(qrels, ["StRec@2", "StRec@3"]).evaluate(run)
        assert values == {"q": {"StRec@2": 0.5, "StRec@3": 1.0}}

    @pytest.mark.parametrize("level", [1, 2, 3])
    @pytest.mark.parametrize("judged_only", [False, True])
    def test_agrees_with_the_command_trec_eval_in_every_measure(self, level, judged_only):
        compared = 0
        for seed in range(12):
            draw = random.Random(seed)
            documents = [f"d{number}" for number in range(draw.randint(3, 14))]
            grades = draw.choice([(0, 1), (0, 1, 2, 3), (-1, 0, 1, 2), (-2, -1, 0, 3)])
            qrels = {str(q): {d: draw.choice(grades) for d in draw.sample(documents, 3)} for q in range(4)}
            run = {str(q): {d: float(draw.randrange(5)) for d in draw.sample(documents, 3)} for q in range(4)}
            evaluator = rb.interop.RelevanceEvaluator(qrels, ["all_trec"], level, judged_only)
            found = evaluator.evaluate(run)
            options = trec_eval.Options(level_for_rel=level, Judged_docs_only=judged_only)
            asked = dict.fromkeys(ours.supported_nicknames["all_trec"], "")
            command = trec_eval.evaluation(Reading().judgments(qrels), as_run(run), asked, options)
            for topic, values in zip(command.topics, command.value.tolist(), strict=True):
                printed = {entry.name: value for entry, value in zip(command.entries, values, strict=True)}
                printed |= {"runid": 0.0, "relstring": 0.0}
                assert found[topic] == pytest.approx(printed, abs=1e-12), (seed, topic)
                compared += len(printed)
        assert compared > 4000

    def test_compares_scores_in_single_precision_as_pytrec_eval(self):
        qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0 + 1e-12, "b": 1.0}}
        assert rb.interop.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["1"]["recip_rank"] == 0.5
        double = rb.interop.RelevanceEvaluator(qrels, {"recip_rank"}, score_precision="double")
        assert double.evaluate(run)["1"]["recip_rank"] == 1.0
        pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
        assert pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["1"]["recip_rank"] == 0.5

    def test_families_own_measures_and_empty_runs(self):
        qrels, run = collection(1)
        names = list(rb.interop.RelevanceEvaluator(qrels, ["P", "ndcg_cut.3,7", "RBP(p=0.8)"]).evaluate(run)["q0"])
        assert names == [f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)] + [
            *("ndcg_cut_3", "ndcg_cut_7", "RBP(p=0.8)")
        ]
        evaluator = rb.interop.RelevanceEvaluator(qrels, ["map"])
        assert evaluator.evaluate({}) == evaluator.evaluate({"other": {"a": 1.0}}) == {}
        nothing = (({}, ["map"]), ({"q0": {}}, ["map"]), ({}, []))
        assert all(rb.interop.RelevanceEvaluator(*given).evaluate(run) == {} for given in nothing)
        assert rb.interop.RelevanceEvaluator(qrels, []).evaluate({"q0": {"a": 1.0}}) == {"q0": {}}
        merged = rb.interop.RelevanceEvaluator(qrels, ["ndcg_cut_20,4", "ndcg_cut", "ndcg_cut.1,4"])
        assert merged.names == ["ndcg_cut_1", "ndcg_cut_4", "ndcg_cut_20"]
        assert evaluator.evaluate({"q0": {}}) == {"q0": {"map": 0.0}}
        with pytest.raises(UsageError, match="Did you mean"):
            rb.interop.RelevanceEvaluator(qrels, ["mapp"])
        assert aggregate("num_ret", [1.0, 2.0]) == 3.0
        assert aggregate("map", [1.0, 2.0]) == 1.5

    @pytest.mark.parametrize("nickname", ["official", "set", "all_trec"])
    def test_nicknames_have_pytrec_evals_values(self, nickname):
        pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
        qrels, run = collection(1)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {nickname}).evaluate(run)
        ours = rb.interop.RelevanceEvaluator(qrels, [nickname]).evaluate(run)
        other_version = ("iprec_at_recall", "11pt_avg")
        for topic, values in theirs.items():
            assert ours[topic].keys() == values.keys()
            for name, value in ours[topic].items():
                if not name.startswith(other_version):
                    assert value == pytest.approx(values[name], abs=1e-9), (topic, name)

    def test_has_what_else_pytrec_eval_has(self):
        pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
        assert ours.supported_measures == pytrec_eval.supported_measures
        judged = rb.interop.RelevanceEvaluator({"q": {"a": 1}}, ours.supported_measures)
        assert judged.evaluate({"q": {"a": 1.0}})["q"]["map"] == 1.0
        assert all(pytrec_eval.supported_nicknames[name] == names for name, names in ours.supported_nicknames.items())
        run_lines = ["1 Q0 a 1 2.5 t\n", "1 Q0 b 2 1.5 t\n", "2 Q0 a 1 1 t\n"]
        qrel_lines = ["1 0 a 1\n", "2 0 b 0\n"]
        assert ours.parse_run(run_lines) == pytrec_eval.parse_run(run_lines)
        assert ours.parse_qrel(qrel_lines) == pytrec_eval.parse_qrel(qrel_lines)
        for name in ("map", "num_ret", "gm_map"):
            theirs = pytrec_eval.compute_aggregated_measure(name, [0.25, -0.5])
            assert ours.compute_aggregated_measure(name, [0.25, -0.5]) == pytest.approx(theirs)

    @pytest.mark.parametrize(
        ("lines", "told"),
        [(["1 Q0 a 1 x t"], "not a number"), (["1 Q0 a"], "3 fields"), (["1 Q0 a 1 2 t"] * 2, "twice")],
    )
    def test_lines_that_are_no_run(self, lines, told):
        with pytest.raises(DataError, match=told) as error:
            ours.parse_run(lines)
        assert str(error.value).startswith(f"line {len(lines)}")


class TestIrMeasures:
    @pytest.mark.parametrize(
        "label",
        [
            *(
                "nDCG@10",
                "nDCG",
                "AP",
                "AP(rel=2)",
                "AP@5",
                "P(rel=2)@5",
                "P(judged_only=True)@5",
                "RR@10",
                "R@5",
                "Rprec",
            ),
            *(
                "SetP",
                "SetP(rel=2)",
                "SetP(relative=True)",
                "SetR",
                "SetF",
                "SetF(beta=2.0)",
                "SetAP",
                "NumQ",
                "NumRet",
            ),
            *("NumRet(rel=1)", "NumRel", "Success@3", "Bpref", "infAP", "Judged@10", "RBP(rel=1)"),
            *("ERR@10", "nDCG(dcg='exp-log2')@10"),
        ],
    )
    def test_a_name_means_ir_measures_number(self, label):
        theirs = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
        if label.startswith("RBP"):
            pytest.importorskip(
                "cwl.ruler.measures", reason="cwl-eval, which ir_measures needs for RBP, is not installed"
            )
        from rankbounds.interop import ir_measures as provider

        qrels, run = ({query[1:]: documents for query, documents in part.items()} for part in collection(3))
        run = {
            query: {doc: score + place * 1e-3 for place, (doc, score) in enumerate(docs.items())}
            for query, docs in run.items()
        }
        measure = theirs.parse_measure(label)
        if label.endswith("@10") and label[:3] in ("ERR", "nDC") and label != "nDCG@10" and not shutil.which("perl"):
            pytest.skip("ir_measures computes this with perl")
        expected = theirs.calc_aggregate([measure], qrels, run)[measure]
        if label != "Judged@10":  # which the provider leaves to ir_measures' own
            found = provider.RankboundsProvider().calc_aggregate([measure], qrels, run)[measure]
            assert found == pytest.approx(expected, abs=6e-6)
        if label != "ERR@10":  # of which there are two
            scores = rb.evaluate(qrels, run, label, topics="shared").mean()
            assert scores.value.item() == pytest.approx(expected, abs=6e-6)

    def test_provider(self):
        theirs = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
        from rankbounds.interop import ir_measures as ours

        qrels, run = collection(2)
        measures = [theirs.AP, theirs.nDCG @ 10, theirs.P(rel=2) @ 5, theirs.RR(judged_only=True), theirs.R @ 5]
        measures += [theirs.NumRet, theirs.Success @ 1, theirs.IPrec @ 0.5, theirs.Rprec]
        provider = ours.RankboundsProvider()
        assert all(provider.supports(one) for one in measures)
        found = provider.calc_aggregate(measures, qrels, run)
        plain = [one for one in measures if one.NAME != "IPrec"]
        expected = theirs.pytrec_eval.calc_aggregate(plain, qrels, run)
        assert {one: found[one] for one in plain} == pytest.approx(expected)
        expected_ties = ours.RankboundsProvider(ties="expected").calc_aggregate([theirs.P @ 5], qrels, run)
        direct = rb.evaluate(qrels, run, "P@5", ties="expected").mean().value.item()
        assert expected_ties[theirs.P @ 5] == pytest.approx(direct)

    def test_our_measures_through_their_pipeline(self):
        theirs = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
        from rankbounds.interop import ir_measures as ours

        qrels, run = collection(3)
        before = list(theirs.DefaultPipeline.providers)
        try:
            ours.use_first()
            label = "RBP(p=0.95,graded=true)"
            one, condensed = ours.measure(label), ours.measure("AP'")
            found = theirs.calc_aggregate([one, condensed, theirs.AP], qrels, run)
            direct = rb.evaluate(qrels, run, [label, "AP'", "AP"]).mean().value[0, 0]
            assert [found[one], found[condensed], found[theirs.AP]] == pytest.approx(direct.tolist())
            assert found[theirs.AP] != found[condensed]
        finally:
            theirs.DefaultPipeline.providers[:] = before


def printed(path):
    """Lines of trec_eval's output, by name."""
    return [(line.split()[0], line) for line in path.read_text().splitlines(keepends=True)]


def known_names(lines):
    names = []
    for name in dict.fromkeys(name for name, _ in lines):
        try:
            rb.parse_measure(name)
        except UsageError:
            continue
        if name != "Rprec_mult_1.00":  # is Rprec, and a measure is printed once
            names.append(name)
    return names


class TestTrecEval:
    @pytest.mark.parametrize(
        ("output", "run", "arguments"),
        [
            ("out.test.a", "results.test", ["--topics", "shared"]),
            ("out.test.aq", "results.test", ["--topics", "shared", "-q"]),
            ("out.test.aqc", "results.trunc", ["--lenient", "-q"]),
        ],
    )
    def test_format_trec_is_trec_evals_output_byte_for_byte(self, unpacked, capfdbinary, output, run, arguments):
        folder = unpacked("trec_eval-test.tar.xz") / "test"
        lines = printed(folder / output)
        names = known_names([(name, line) for name, line in lines if line.split()[1] == "all"])
        assert len(names) >= 90
        files = [str(folder / "qrels.test"), str(folder / run)]
        measures = [part for name in names for part in ("-m", name)]
        assert main(["evaluate", *files, *measures, "--format", "trec", *arguments]) == 0
        expected = "".join(line for name, line in lines if name in set(names))
        assert capfdbinary.readouterr().out.decode() == expected

    def test_topics_are_printed_in_the_order_of_their_ids(self, tmp_path, capfdbinary):
        (tmp_path / "qrels").write_text("9 0 a 1\n10 0 a 1\n")
        (tmp_path / "run").write_text("9 Q0 a 1 1 t\n10 Q0 a 1 1 t\n")
        main(["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "map", "-q", "--format", "trec"])
        assert [line.split()[1] for line in capfdbinary.readouterr().out.decode().splitlines()] == ["10", "9", "all"]
