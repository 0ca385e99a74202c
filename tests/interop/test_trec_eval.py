"""``rankbounds trec_eval`` against what trec_eval printed: its own test outputs, and the golden collection's."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.interop import trec_eval

GOLDEN = Path(__file__).parents[1] / "golden"
PARAMETERS = (
    *(
        "-miprec_at_recall..10,.20,.25,.75,.50",
        "-m",
        "P.5,7,3",
        "-m",
        "recall.20,2000",
        "-m",
        "Rprec_mult.5.0,0.2,0.35",
    ),
    *("-mutility.2,-1,0,0", "-m", "11pt_avg..25,.5,.75", "-mndcg.1=3,2=9,4=4.5", "-mndcg_cut.10,20,23.4"),
    "-msuccess.2,5,20",
)


@pytest.fixture
def printed(capfdbinary):
    """What the command prints, and its code."""

    def run(*arguments: object) -> tuple[int, str]:
        code = main(["trec_eval", *map(str, arguments)])
        return code, capfdbinary.readouterr().out.decode()

    return run


@pytest.mark.parametrize(
    ("output", "arguments", "qrels", "run"),
    [
        ("out.test", (), "qrels.test", "results.test"),
        ("out.test", (), "qrels.test.with-comments", "results.test"),
        ("out.comment.test", (), "qrels.comment.test", "results.comment.test"),
        ("out.test.a", ("-m", "all_trec"), "qrels.test", "results.test"),
        ("out.test.aq", ("-m", "all_trec", "-q"), "qrels.test", "results.test"),
        ("out.test.aqc", ("-m", "all_trec", "-q", "-c"), "qrels.test", "results.trunc"),
        ("out.test.aqcM", ("-m", "all_trec", "-q", "-c", "-M100"), "qrels.test", "results.trunc"),
        ("out.test.aql", ("-m", "all_trec", "-mrelstring.20", "-q", "-l2"), "qrels.rel_level", "results.test"),
        ("out.test.meas_params", ("-q", *PARAMETERS), "qrels.test", "results.test"),
        ("out.test.prefs", ("-m", "all_prefs", "-q", "-R", "prefs"), "prefs.test", "prefs.results.test"),
        ("out.test.prefs", ("-m", "all_prefs", "-q", "-R", "prefs"), "prefs.comment.test", "prefs.results.test"),
        ("out.test.qrels_prefs", ("-m", "all_prefs", "-q", "-R", "qrels_prefs"), "qrels.test", "results.test"),
        ("out.test.qrels_jg", ("-m", "qrels_jg", "-q", "-R", "qrels_jg"), "qrels.123", "results.test"),
        ("out.test.qrels_jg", ("-m", "qrels_jg", "-q", "-R", "qrels_jg"), "qrels.comments.123", "results.test"),
    ],
)
@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_trec_evals_own_outputs_byte_for_byte(unpacked, printed, output, arguments, qrels, run):
    folder = unpacked("trec_eval-test.tar.xz") / "test"
    assert printed(*arguments, folder / qrels, folder / run) == (0, (folder / output).read_text())


def golden(name: str) -> dict[str, dict[tuple[str, str], str]]:
    """By run: the measure, the topic and what trec_eval printed."""
    with (GOLDEN / "trec_eval" / f"{name}.tsv").open(encoding="utf-8", newline="") as lines:
        next(lines)
        rows = list(csv.DictReader(lines, delimiter="\t"))
    values: dict[str, dict[tuple[str, str], str]] = {}
    for row in rows:
        run, measure = row.pop("run"), row.pop("measure")
        values.setdefault(run, {}).update({(measure, topic): value for topic, value in row.items() if value})
    return values


CASES = {
    "graded": ("-q -c -m all_trec", "graded"),
    "binary": ("-q -c -m all_trec", "binary"),
    "graded-level-2": ("-q -c -l 2 -m all_trec", "graded"),
    "graded-first-10": ("-q -c -M 10 -m all_trec", "graded"),
    "graded-judged-only": ("-q -c -J -m all_trec", "graded"),
    "graded-shared": ("-m all_trec", "graded"),
    "negatives": ("-q -c -m official -m infAP -m ndcg -m unj", "negatives"),
}
UNSET = {"graded", "graded-level-2", "graded-first-10", "graded-judged-only", "graded-shared"}
"""Where grades are not 0 and 1: trec_eval's rbp is computed from numbers that it never sets."""


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("case", CASES)
def test_the_golden_collection_line_by_line(printed, case):
    arguments, qrels = CASES[case]
    for run, expected in golden(case).items():
        code, out = printed(*arguments.split(), GOLDEN / f"{qrels}.qrels", GOLDEN / f"{run}.run")
        assert code == 0
        found = {(measure.strip(), topic): value for measure, topic, value in map(split, out.splitlines())}
        compared = 0
        for (measure, topic), value in expected.items():
            if value.endswith("nan") or (measure == "rbp" and case in UNSET):
                continue
            compared += 1
            assert found[measure, topic] == value, (run, measure, topic)
        assert compared > 40


def split(line: str) -> list[str]:
    return line.split("\t")


GROUPS = "1 ann a 1\n1 ann b 0\n1 ann c 0\n1 ann d 0\n1 bob c 1\n1 bob a 0\n2 ann a 2\n2 ann b 0\n2 ann c 1\n"
OF_GROUPS = {
    ("-R", "qrels_jg", "-m", "qrels_jg"): "map_avgjg 0.8333 P_avgjg_5 0.3000 Rprec_mult_avgjg_1.00 0.7500",
    ("-R", "qrels_jg", "-J", "-m", "qrels_jg"): "map_avgjg 0.8750 P_avgjg_5 0.3000 Rprec_mult_avgjg_1.00 0.7500",
    ("-R", "qrels_prefs", "-m", "all_prefs"): "prefs_simp 0.8750 prefs_avgjg_Rnonrel 0.5625 "
    "prefs_avgjg_Rnonrel_ret 0.5833 prefs_pair_imp 0.9167",
}


@pytest.mark.parametrize("arguments", OF_GROUPS)
def test_groups_of_judgments(tmp_path, printed, arguments):
    """Values are trec_eval 10's; documents that were compared are ranked by id up where their scores are equal."""
    (tmp_path / "qrels").write_text(GROUPS)
    (tmp_path / "run").write_text(
        "1 Q0 a 1 3 t\n1 Q0 x 2 2 t\n1 Q0 c 3 1 t\n1 Q0 b 4 1 t\n2 Q0 a 1 2 t\n2 Q0 c 2 1 t\n"
    )
    found = dict(
        line.split("\tall\t") for line in printed(*arguments, tmp_path / "qrels", tmp_path / "run")[1].splitlines()
    )
    expected = OF_GROUPS[arguments].split()
    assert {name.strip(): value for name, value in found.items()}.items() >= dict(
        zip(expected[::2], expected[1::2], strict=True)
    ).items()


QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 1\n3 0 z 1\n"
RUN = "1 Q0 b 1 3 tag\n1 Q0 a 2 2 tag\n1 Q0 x 3 1 tag\n2 Q0 a 1 1 tag\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path / "qrels", tmp_path / "run"


def test_topics_that_the_run_lacks(files, printed):
    assert printed("-m", "num_q", *files)[1] == "num_q                 \tall\t2\n"
    judgments, run = rb.read_qrels(files[0]), rb.read_run(files[1])
    with pytest.warns(rb.RankboundsWarning, match="tag lacks 1 of the judged topics"):
        list(trec_eval.lines(judgments, run, ["map"]))
    assert printed("-c", "-m", "num_q", "-m", "map", *files)[1].split() == ["num_q", "all", "3", "map", "all", "0.4167"]


def test_lines_stand_in_trec_evals_order_whatever_was_asked_for_first(files, printed):
    _, out = printed("-c", "-q", "-n", "-m", "unj.1", "-m", "gm_map", "-m", "relstring.2", "-m", "map", *files)
    assert [tuple(part.strip() for part in line.split("\t")) for line in out.splitlines()[:3]] == [
        ("map", "1", "0.2500"),
        ("relstring_2", "1", "'01'"),
        ("unj_1", "1", "0.0000"),
    ]
    assert "all" not in out
    assert "gm_map" not in out


def test_the_first_parameters_of_a_name_count(files, printed):
    _, out = printed("-c", "-m", "official", "-m", "P.2", "-m", "P.3", *files)
    assert [line.split()[0] for line in out.splitlines() if line.startswith("P_")] == ["P_2"]


def test_other_formats(files, printed):
    _, out = printed("-c", "-m", "map", "--format", "json", *files)
    assert json.loads(out) == [{"measure": "map", "query_id": "all", "value": "0.4167"}]


UNJUDGED = (
    "1 0 a 0\n1 0 b 1\n1 0 c 2\n1 0 d 0\n1 0 e -1\n2 0 a 1\n2 0 b 0\n",
    "".join(f"1 Q0 {document} 1 {9 - rank} t\n" for rank, document in enumerate("xabyec"))
    + "2 Q0 b 1 2 t\n2 Q0 a 2 1 t\n",
)
"""Judgments and a run that holds documents not pooled (x, y) and pooled but not judged (e)."""


@pytest.mark.parametrize(
    ("measure", "values"),
    [
        ("ndcg.0=1,1=2", "0.5589 0.8597 0.7093"),
        ("ndcg.0=2,1=1", "0.5273 1.0000 0.7636"),
        ("dcg.0=1,1=2", "2.3433 2.2619 2.3026"),
        ("dcg.0=2,1=1", "2.4743 2.6309 2.5526"),
        ("ideal_dcg.0=1,1=2", "4.1925 2.6309 3.4117"),
        ("ideal_dcg.0=2,1=1", "4.6925 2.6309 3.6617"),
        ("ndcg_rel.0=1,1=2", "0.4362 0.6799 0.5580"),
        ("ndcg_rel.0=2,1=1", "0.4637 1.0000 0.7319"),
        ("Rndcg.0=1,1=2", "0.3805 0.6799 0.5302"),
        ("Rndcg.0=2,1=1", "0.4387 1.0000 0.7194"),
        ("G.0=1,1=2", "0.3820 0.8770 0.6295"),
        ("G.0=2,1=1", "0.3149 1.0000 0.6575"),
    ],
)
def test_unjudged_documents_gain_nothing_where_grade_0_gains_something(tmp_path, printed, measure, values):
    """Values are trec_eval 10's."""
    for name, text in zip(("qrels", "run"), UNJUDGED, strict=True):
        (tmp_path / name).write_text(text)
    code, out = printed("-q", "-m", measure, tmp_path / "qrels", tmp_path / "run")
    assert code == 0
    assert [line.split("\t")[2] for line in out.splitlines()] == values.split()


def test_residuals_are_added_in_trec_evals_order(tmp_path, printed):
    """Half way between two printed numbers it is the order of additions that rounds: trec_eval 10 prints 0.9136."""
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n2 0 d 1\n")
    (tmp_path / "run").write_text(
        "1 Q0 x 1 1 t\n" + "".join(f"2 Q0 {document} 1 {9 - rank} t\n" for rank, document in enumerate("axyd"))
    )
    assert printed("-m", "rbp_resid", tmp_path / "qrels", tmp_path / "run")[1].split() == ["rbp_resid", "all", "0.9136"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-m", "mapp"], 'Did you mean "map"'),
        (["-R", "pref"], 'Did you mean "prefs"'),
        (["-m", "P."], "parameters are missing"),
        (["-m", "P.x"], '"x" is not a number'),
        (["-m", "P.5,5"], "given twice"),
        (["-m", "P.0"], "from 1 on"),
        (["-m", "map.5"], "takes no parameters"),
        (["-m", "ndcg.5"], "gains are given as in"),
        (["-m", "ndcg.-1=2"], "for grades from 0 on"),
        (["-m", "ndcg.S=2"], "for grades from 0 on"),
        (["-m", "11pt_avg.0.5,0.2"], "rising order"),
        (["-m", "utility.1,2"], "four numbers"),
        (["-m", "utility.1,0,0,1"], "-N"),
        (["-l", "0"], "whole number from 1 on"),
        (["-M", "0"], "whole number from 1 on"),
    ],
)
def test_what_cannot_be_asked_for(files, arguments, told, capfd):
    assert main(["trec_eval", "-c", *arguments, *map(str, files)]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert told in err
