"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import subprocess
import sys

import pytest

import rankbounds as rb
from rankbounds.commands.console.options import Option, Parser

QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 1\n"
RUN = "1 Q0 a 1 3.0 mine\n1 Q0 x 2 2.0 mine\n1 Q0 c 3 1.0 mine\n2 Q0 b 1 1.0 mine\n2 Q0 a 2 0.5 mine\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return str(tmp_path / "qrels"), str(tmp_path / "run")


def test_table(command, files):
    code, out, err = command("evaluate", *files)
    assert (code, err) == (0, "")
    header, row = out.splitlines()
    assert header.split() == ["run", "nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR", "judged@10"]
    # RBP: (0.2 + 0.128 + 0.16) / 2; open: 0.16 and 0.512 of topic 1, 0.2 and 0.64 of topic 2
    assert "  0.2440 +0.7560  " in row
    assert row.endswith("58%")


def test_json_rows(command, files):
    code, out, _ = command("evaluate", *files, "-m", "RBP(p=.8)", "-m", "AP", "-q", "--format", "json")
    rows = json.loads(out)
    assert code == 0
    plain = ["run", "query_id", "measure", "value", "low", "high"]
    split = [*plain, "residual_unjudged", "residual_tail", "residual_ties"]
    means = [[*plain, "ci_low", "ci_high", *split[len(plain) :]], [*plain, "ci_low", "ci_high"]]
    assert [list(row) for row in rows] == [split, split, plain, plain, *means]
    assert (rows[0]["residual_unjudged"], rows[0]["residual_tail"]) == (pytest.approx(0.16), pytest.approx(0.512))
    assert rows[4]["residual_tail"] == pytest.approx((0.512 + 0.64) / 2)
    assert [(row["query_id"], row["measure"]) for row in rows] == [
        ("1", "RBP(p=0.8)"), ("2", "RBP(p=0.8)"), ("1", "AP"), ("2", "AP"), ("all", "RBP(p=0.8)"), ("all", "AP"),
    ]  # fmt: skip
    assert rows[0]["value"] == rows[0]["low"] == pytest.approx(0.2 + 0.128)
    assert rows[0]["high"] == pytest.approx(0.2 + 0.16 + 0.128 + 0.512)
    assert rows[2]["value"] == pytest.approx((1 + 2 / 3) / 2)
    assert (rows[2]["low"], rows[2]["high"]) == (pytest.approx((1 + 2 / 3) / 2), pytest.approx(1))


def test_unknown_bounds_are_null_never_zero(command, files):
    _, out, _ = command("evaluate", *files, "-m", "infAP", "--bounds", "both", "--format", "json")
    (row,) = json.loads(out)
    assert (row["low"], row["high"]) == (None, None)
    _, out, _ = command("evaluate", *files, "-m", "AP", "--bounds", "none", "--format", "json")
    assert json.loads(out)[0]["low"] is None


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_other_formats_hold_the_same_rows(command, files, tmp_path, kind):
    target = tmp_path / f"scores.{kind}"
    code, out, _ = command("evaluate", *files, "-q", "--format", kind, "-o", target)
    assert (code, out) == (0, "")
    expected = json.loads(command("evaluate", *files, "-q", "--format", "json")[1])
    if kind == "parquet":
        import polars

        found = polars.read_parquet(target).to_dicts()
    elif kind == "jsonl":
        found = [json.loads(line) for line in target.read_text().splitlines()]
    else:
        found = list(csv.DictReader(io.StringIO(target.read_text()), delimiter="," if kind == "csv" else "\t"))
        for row in found:
            assert 0 <= float(row.pop("judged_at_10")) <= 1
            row.update({key: float(number) for key, number in list(row.items())[3:] if number})
    assert [{key: value for key, value in row.items() if value not in (None, "")} for row in found] == expected


def test_a_figure_of_several_measures_says_which_one_it_shows(command, files, tmp_path):
    pytest.importorskip("matplotlib")
    said = "the figure shows nDCG@10 alone, the first of 2 measures."
    figure = tmp_path / "means.svg"
    assert said in command("evaluate", *files, "-m", "nDCG@10", "-m", "AP", "--figure", figure)[2]
    assert said not in command("evaluate", *files, "-m", "nDCG@10", "--figure", figure)[2]


def test_trec_format_has_trec_evals_names_and_digits(command, files):
    _, out, _ = command("evaluate", *files, "-m", "map", "-m", "P@5", "-m", "num_ret", "-q", "--format", "trec")
    assert out.splitlines()[0] == "map                   \t1\t0.8333"
    assert out.splitlines()[-1] == "num_ret               \tall\t5"
    assert "P_5                   \tall\t0.3000" in out.splitlines()


@pytest.mark.parametrize("kind", ["markdown", "latex", "html"])
def test_tables_for_papers(command, files, kind):
    wide = ["--width", "page"] if kind == "latex" else []
    code, out, _ = command("evaluate", *files, "--format", kind, *wide)
    assert code == 0
    assert "0.2440 +0.7560" in re.sub(r"<[^>]*>|[{}]|\\scriptsize ", "", out)


def test_nothing_in_a_file_becomes_markup(command, tmp_path):
    (tmp_path / "qrels").write_text("<b> 0 d 1\n")
    (tmp_path / "run").write_text("<b> Q0 d 1 1.0 <script>alert(1)</script>&_%\n")
    _, out, _ = command("evaluate", tmp_path / "qrels", tmp_path / "run", "-q", "--format", "html")
    assert "<script>" not in out
    assert "<b>" not in out
    _, out, _ = command("evaluate", tmp_path / "qrels", tmp_path / "run", "--format", "latex")
    assert r"\&\_\%" in out


def test_missing_and_unjudged_topics_are_told(command, files, tmp_path):
    (tmp_path / "part").write_text("1 Q0 a 1 1.0 part\n9 Q0 a 1 1.0 part\n")
    code, out, err = command("evaluate", files[0], tmp_path / "part", "-m", "RR")
    assert code == 0
    assert "0.5000" in out
    assert "1 topic missing" in out
    assert "lacks judged topics, which are scored as empty lists (part: topic 2)" in err
    assert "topics without judgments, which are left out (part: topic 9)" in err
    _, out, err = command("evaluate", files[0], tmp_path / "part", "-m", "RR", "--topics", "shared")
    assert "1.0000" in out
    assert "left out of its means" in err


def test_an_empty_list_leaves_everything_open(files):
    with pytest.warns(rb.RankboundsWarning, match="empty lists"):
        scores = rb.evaluate(files[0], {"1": {"a": 1.0}}, "RBP(p=0.8)")
    assert (scores.low[0, 1, 0], scores.high[0, 1, 0]) == (0, 1)


def test_ties_that_move_the_score_are_noted(command, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 tied\n1 Q0 b 2 1.0 tied\n")
    _, out, _ = command("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "RR")
    assert "ties move RR by 0.5000" in out
    _, out, _ = command("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "RR", "-q")
    assert [line.split()[1] for line in out.splitlines()] == ["topic", "1", "all"]


def test_bounds_that_are_not_exact_are_told(command, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 tied\n1 Q0 b 2 1.0 tied\n")
    told = "the bounds of AP are valid, but may be wider than necessary"
    assert told in command("evaluate", tmp_path / "qrels", tmp_path / "run", "--ties", "expected", "-m", "AP")[2]
    assert command("evaluate", tmp_path / "qrels", tmp_path / "run", "--bounds", "both", "-m", "AP")[2] == ""


def test_ties_by_a_key(command, files, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 tied\n1 Q0 b 2 1.0 tied\n")
    (tmp_path / "lengths").write_text("a 12\nb 100\n")
    arguments = ("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "RR", "--format", "trec")
    assert "0.5000" in command(*arguments)[1]
    assert "1.0000" in command(*arguments, "--ties-key", tmp_path / "lengths")[1]
    assert command(*arguments, "--ties", "key")[0] == 2
    assert command(*arguments, "--ties-key", tmp_path / "nothing")[0] == 3


def test_topics_without_relevant_documents_are_told(command, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 r\n2 Q0 b 2 1.0 r\n")
    _, _, err = command("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "AP")
    assert "1 topic has no relevant document (2)" in err


BAD_FILES = {
    "empty": (b"", "empty"),
    "only blanks": (b"\n \n\n", "no line of data"),
    "binary junk": (bytes(range(256)) * 20, "not a text file"),
    "qrels as run": (QRELS.encode(), "looks like judgments"),
    "two columns": (b"1 a\n", "has 2"),
    "seven columns": (b"1 Q0 a 1 1.0 t\n1 Q0 b 2 0.5 t extra\n", ":2: expected 6 fields"),
    "a short line": (b"1 Q0 a 1 1.0 t\n1 Q0 b 2\n", ":2: expected 6 fields"),
    "NaN score": (b"1 Q0 a 1 1.0 t\n\n1 Q0 b 2 nan t\n", ":3: the score"),
    "infinite score": (b"1 Q0 a 1 inf t\n", ":1: the score"),
    "a word for a score": (b"1 Q0 a 1 high t\n", ":1: the score"),
    "a document twice": (b"1 Q0 a 1 1.0 t\n1 Q0 b 2 0.5 t\n1 Q0 a 3 0.25 t\n", ":3: document"),
    "no topic in common": (b"7 Q0 a 1 1.0 t\n", "no topic of this run"),
    "damaged gzip": (b"\x1f\x8b\x08\x00junk", "damaged"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_runs_are_one_clear_message(command, files, tmp_path, case):
    content, told = BAD_FILES[case]
    (tmp_path / "bad").write_bytes(content)
    target = tmp_path / "out.json"
    code, out, err = command("evaluate", files[0], tmp_path / "bad", "--format", "json", "-o", target)
    assert (code, out) == (3, "")
    assert told in err
    assert len(err.splitlines()) == 1
    assert str(tmp_path / "bad") in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "qrels", "run"]


def test_bad_judgments(command, files, tmp_path):
    for content, told in (
        (RUN, "looks like a run"),
        ("1 0 a yes\n", ":1: the grade"),
        ("1 0 a 1\n1 0 a 0\n", ":2: document"),
        ("1 0 a\n", "has 3"),
    ):
        (tmp_path / "bad").write_text(content)
        code, out, err = command("evaluate", tmp_path / "bad", files[1])
        assert (code, out) == (3, "")
        assert told in err


def test_missing_files_and_folders(command, files, tmp_path):
    assert command("evaluate", tmp_path / "nothing", files[1])[::2] == (
        3, f"rankbounds: {tmp_path / 'nothing'}: there is no such file.\n",
    )  # fmt: skip
    assert command("evaluate", tmp_path, files[1])[0] == 3
    (tmp_path / "hollow").mkdir()
    assert "holds no files" in command("evaluate", files[0], tmp_path / "hollow")[2]
    assert "no file matches" in command("evaluate", files[0], tmp_path / "*.nope")[2]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-m", "nDGC@10"], 'Did you mean "nDCG"?'),
        (["-m", "mapp"], 'Did you mean "MAP"?'),
        (["-m", "RBP(q=0.8)"], 'no parameter "q"'),
        (["-m", "RBP(p=1)"], "below 1"),
        (["-m", "RBP(p=-0.1)"], "below 1"),
        (["-m", "RBP(p=high)"], "must be a number"),
        (["-m", "P@0"], "whole number from 1"),
        (["-m", "P@ten"], "whole number"),
        (["-m", "P(rel=2)"], "needs a depth"),
        (["-m", "RPrec@5"], "takes no depth"),
        (["-m", "(p=1)"], "is not a measure"),
        (["-m", "AP(rel=0)"], "must be positive"),
        (["--ties", "wrost"], 'Did you mean "worst"?'),
        (["--unjudged", "relevent"], 'Did you mean "relevant"?'),
        (["--unjudged", "expected"], "needs q, the probability"),
        (["--unjudged", "expected", "--q", "2", "-m", "P@5"], "between 0 and 1"),
        (["--unjudged", "expected", "--q", "0.2", "-m", "AP"], "no exact expected value"),
        (["--bounds", "all"], "not a choice"),
        (["--gain", "1=two"], "gain rule"),
        (["--format", "jsn"], 'Did you mean "json"?'),
        (["--format", "parquet"], "name a file"),
        (["--frobnicate"], 'no option "--frobnicate"'),
        (["--fromat", "csv"], 'Did you mean "--format"?'),
        (["--fromat=csv"], 'Did you mean "--format"?'),
        (["--digits", "many"], "whole number from 0 to 15"),
        (["--color", "allways"], 'Did you mean "always"?'),
    ],
)
def test_wrong_usage_is_one_clear_message(command, files, arguments, told):
    code, out, err = command("evaluate", *files, *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_lenient_counts_what_it_leaves_out(command, files, tmp_path):
    (tmp_path / "bad").write_text(
        "1 Q0 a 1 3.0 t and words\n1 Q0 b 2 nan t\n1 Q0 a 3 1.0 t\n1 Q0 c\n1 Q0 c 4 0.5 t\n2 Q0 a 1 1.0 t\n"
    )
    code, out, err = command("evaluate", files[0], tmp_path / "bad", "-m", "RR", "--lenient")
    assert code == 0
    assert "1.0000" in out
    for told in ("too few fields left out: 1", "not numbers left out: 1", "repeated documents left out: 1", ":4"):
        assert told in err


def test_help_and_measures(command):
    code, out, _ = command("measures")
    assert code == 0
    assert all(name in out for name in ("RBP", "nDCG", "AP*", "Judged"))
    assert "continues to the next document" in command("measures", "RBP")[1]
    assert "without unjudged documents" in command("measures", "AP'")[1]
    assert {row["measure"] for row in json.loads(command("measures", "--format", "json")[1])} >= {"RBP", "AP"}
    code, out, err = command("measures", "nDCG@10", "--format", "json")
    assert (code, out) == (2, "")
    assert "explained in text only" in err
    assert command("measures", "XYZ")[0] == 2


def test_a_reader_that_goes_away_is_no_error(files):
    script = f"{sys.executable} -m rankbounds evaluate {files[0]} {files[1]} -q --format json | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_import_is_light():
    """At import only NumPy and our own modules are loaded; frames, plots and SciPy wait until they are needed."""
    heavy = ["scipy", "polars", "pandas", "pyarrow", "matplotlib", "pyspark", "zstandard"]
    script = f"import rankbounds.cli, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_is_asked_first_does_not_wait_for_numpy(option):
    script = (
        "import contextlib, io, sys; from rankbounds.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main([sys.argv[1]])\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, option], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_fractional_grades_are_never_lost_silently(command, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 0.7\n1 0 b 0\n1 0 c 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 r\n1 Q0 c 2 1.0 r\n")
    files = tmp_path / "qrels", tmp_path / "run"
    _, out, err = command("evaluate", *files, "-m", "RBP(p=0.5)", "--format", "json")
    assert json.loads(out)[0]["value"] == 0.25
    assert "1 judgment has a grade between 0 and 1" in err
    _, out, err = command("evaluate", *files, "-m", "RBP(p=0.5,graded=true)", "--format", "json")
    assert json.loads(out)[0]["value"] == pytest.approx(0.35 + 0.25)
    assert err == ""
    assert command("evaluate", *files, "-m", "RBP(p=0.5,rel=0.5)")[2] == ""


def test_ranks_in_place_of_scores_are_told(command, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 a 1\n1 b 2\n1 c 3\n")
    assert "the scores are whole numbers that rise" in command("evaluate", tmp_path / "qrels", tmp_path / "run")[2]


def test_demo_shows_a_table_and_what_it_says(command, tmp_path):
    code, out, err = command("demo")
    assert (code, err) == (0, "")
    assert "What it shows" in out
    assert command("demo", "--write", tmp_path / "copy", "--format", "json")[0] == 0
    expected = json.loads(command("demo", "--format", "json")[1])
    copied = tmp_path / "copy" / "qrels.txt", tmp_path / "copy" / "runs"
    again = command("evaluate", *copied, "--format", "json")
    assert json.loads(again[1]) == expected
    assert command("demo", "--write", tmp_path / "copy")[0] == 3


# One way in, for every command.

JUDGMENTS, RUNS = {"qrels", "restrict"}, {"runs", "run_file", "a", "b"}
LABELS = "topic_name,doc,label,source\n1,a,0,llm\n" + "".join(
    f"{topic},{doc},{grade},human\n" for topic, doc, grade in ("1a1", "1b0", "1c2", "2a1", "2b0", "3c1")
)
JUDGED = "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 1\n2 0 b 0\n3 0 c 1\n"
RETRIEVED = {
    "bm25": "1 Q0 a 1 3.0 t\n1 Q0 x 2 2.0 t\n1 Q0 c 3 1.0 t\n2 Q0 b 1 1.0 t\n2 Q0 a 2 0.5 t\n3 Q0 c 1 1.0 t\n",
    "dense": "1 Q0 c 1 3.0 t\n1 Q0 a 2 2.0 t\n2 Q0 a 1 1.0 t\n2 Q0 y 2 0.5 t\n3 Q0 z 1 1.0 t\n3 Q0 c 2 0.5 t\n",
    "fused": "1 Q0 b 1 3.0 t\n1 Q0 c 2 2.0 t\n2 Q0 y 1 1.0 t\n2 Q0 a 2 0.5 t\n3 Q0 x 1 1.0 t\n",
}


def parsers():
    """Every command's parser by its name."""
    from rankbounds.cli import build_parser

    return build_parser().commands


def test_every_command_that_reads_takes_how_to_read():
    for name, parser in parsers().items():
        names = {option.dest for option in parser.actions if option.type is not int}
        options = {flag for option in parser.actions for flag in option.flags}
        if names & JUDGMENTS:
            assert {"--formats", "--source", "--columns"} <= options, name
        if names & RUNS:
            assert {"--formats", "--columns"} <= options, name
        if names & (JUDGMENTS | RUNS) and name != "check":
            assert "--lenient" in options, name


@pytest.fixture
def both_ways(tmp_path):
    """The same collection as TREC files, and as tables with odd names of columns, two sources, and no ending."""
    (tmp_path / "qrels").write_text(JUDGED)
    (tmp_path / "labels").write_text(LABELS)
    for name, lines in RETRIEVED.items():
        rows = [line.split() for line in lines.splitlines()]
        (tmp_path / name).write_text(lines)
        table = "".join(f"{query},{doc},{rank},{score}\n" for query, _, doc, rank, score, _ in rows)
        (tmp_path / f"{name} table").write_text(f"topic_name,doc,rank,score\n{table}")
    (tmp_path / "trec_eval.out").write_text("P_5\t1\t0.2000\nmap\tall\t0.5000\n")
    plain = [tmp_path / "qrels", *(f"{name}={tmp_path / name}" for name in RETRIEVED)]
    tables = [tmp_path / "labels", *(f"{name}={tmp_path / name} table" for name in RETRIEVED)]
    return plain, tables, tmp_path


NAMING = {
    "evaluate", "compare", "contributions", "uncertainty", "differences", "check",
    "judges", "replicates",
}  # fmt: skip
"""What names the runs in its answer."""
READING = ("--formats", "csv", "--columns", "query_id=topic_name")
ASKED = {
    "evaluate": lambda files, _: ["evaluate", *files, "-q", "--format", "json"],
    "compare": lambda files, _: ["compare", *files, "-m", "AP", "--resamples", "50", "--format", "json"],
    "judges": lambda files, _: [
        "judges", files[0], f"model={files[0]}", "--runs", *files[1:], "-m", "AP", "--format", "csv",
    ],
    "replicates": lambda files, _: [
        "replicates", *files, "-m", "AP", "--replicates", "(e)", "--format", "json",
    ],
    "contributions": lambda files, _: ["rbp", "contributions", *files[:2], "--topic", "1", "--format", "json"],
    "crossings": lambda files, _: ["rbp", "crossings", *files[:3], "-q", "--format", "json"],
    "persistence": lambda files, _: ["rbp", "persistence", *files, "--format", "json"],
    "judge-next": lambda files, _: ["judge-next", *files, "--compare", "bm25", "dense", "--format", "json"],
    "uncertainty": lambda files, _: [
        "uncertainty", *files, "--q", "0.3", "--sources", "both", "--format", "json",
    ],
    "differences": lambda files, _: ["uncertainty", *files, "--q", "0.3", "--difference", "--format", "json"],
    "explain": lambda files, folder: ["explain", folder / "trec_eval.out", *files[:2], "--format", "json"],
    "check": lambda files, _: ["check", *files[1:], "--qrels", files[0], "--format", "csv"],
    "pool": lambda files, _: ["pool", *files[1:], "--depth", "2", "--restrict", files[0]],
    "a part of the judgments": lambda files, _: ["pool", "--restrict", files[0], "--keep", "50%"],
}  # fmt: skip


@pytest.mark.parametrize("asked", ASKED)
def test_every_command_reads_named_runs_and_tables_with_labels_like_trec_files(command, both_ways, asked):
    plain, tables, folder = both_ways
    code, expected, err = command(*ASKED[asked](plain, folder))
    assert code == 0, err
    code, out, err = command(*ASKED[asked](tables, folder), *READING, "--source", "human")
    assert code == 0, err
    assert out.replace(" table", "") == expected
    assert ("bm25" in expected) == (asked in NAMING)
    code, _, err = command(*ASKED[asked](tables, folder), *READING)
    assert (code, err.count("\n")) == (3, 1)
    assert "sources disagree" in err


def test_a_path_that_exists_is_no_name(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(JUDGED)
    (tmp_path / "a=b").write_text(RETRIEVED["bm25"])
    (tmp_path / "b").write_text(RETRIEVED["dense"])
    names = {
        given: json.loads(command("evaluate", "qrels", given, "-m", "AP", "--format", "json")[1])[0]["run"]
        for given in ("a=b", "x=b", "x=a=b", "./a=b", "a=*", "name with blanks=b")
    }
    assert names == {
        "a=b": "t", "x=b": "x", "x=a=b": "x", "./a=b": "t", "a=*": "t", "name with blanks=b": "name with blanks",
    }  # fmt: skip
    assert command("evaluate", "qrels", "x=?", "-m", "AP")[0] == 0
    code, _, err = command("evaluate", "qrels", "x=*", "-m", "AP")
    assert (code, err) == (2, 'rankbounds: The name "x" is for one run, but * are 3 files.\n')
    code, _, err = command("evaluate", "qrels", "x=nowhere", "-m", "AP")
    assert (code, err) == (3, "rankbounds: nowhere: there is no such file.\n")
    code, out, _ = command("evaluate", "qrels", "x=b", "-m", "AP", "--engine", "stream", "--format", "json")
    assert json.loads(out)[0]["run"] == "x"
    before = (tmp_path / "b").read_text()
    code, _, err = command("evaluate", "qrels", "x=b", "-o", "b")
    assert (code, (tmp_path / "b").read_text()) == (2, before)


@pytest.mark.parametrize("odd", ["query_id", "query_id=", "=q", "query_id=q,", "qid=q"])
def test_odd_names_of_columns_are_told(command, files, odd):
    code, _, err = command("evaluate", *files, "--columns", odd)
    assert (code, err.count("\n")) == (2, 1)


def test_a_command_imports_what_it_needs():
    """The modules that a command's module imports at its top, and those that they import, stand in few rooms."""
    import ast
    from pathlib import Path

    folder = Path(rb.__file__).parent

    def file_of(module):
        path = folder.parent.joinpath(*module.split("."))
        return path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"

    def reached(module, seen):
        if module in seen or module == "rankbounds" or not file_of(module).is_file():
            return seen
        seen.add(module)
        for node in ast.parse(file_of(module).read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rankbounds"):
                reached(node.module, seen)
                for alias in node.names:
                    reached(f"{node.module}.{alias.name}", seen)
        return seen

    rooms = {name.split(".")[1] for name in reached("rankbounds.commands.rbp", set()) if name.count(".") > 1}
    assert {"commands", "rbp", "evaluation"} <= rooms
    assert not rooms & {"comparison", "judging", "probability", "report", "desk", "studies", "plots", "interop"}
    assert not any(".evaluation" in name for name in reached("rankbounds.cli", set()))


def test_half_a_character_in_an_argument_is_told(command, tmp_path):
    (tmp_path / "out").write_text("")
    code, out, err = command("rbp", "persistence", "--depths=\ud800", "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert "half a character" in err


@pytest.mark.parametrize("name", sorted(parsers()))
def test_options_are_never_abbreviated(command, name):
    """A shorter word that means one option today would mean another tomorrow: --top is not --topics."""
    options = {flag for option in parsers()[name].actions for flag in option.flags if flag.startswith("--")}
    for option in sorted(options):
        short = option[:-1]
        if len(short) > 3 and short not in options:
            code, _, err = command(*name.split(), f"{short}=x")
            assert code == 2
            assert f'There is no option "{short}".' in err, err
            break


def test_a_value_that_is_given_twice_is_refused(command):
    code, out, err = command("compare", "q", "a", "b", "--baseline-run", "a", "--baseline-run", "b")
    assert (code, out) == (2, "")
    assert "--baseline-run is given twice." in err


COMMAND = '''from rankbounds.commands import command
from rankbounds.commands.console.options import Option
from rankbounds.commands.console.output import OUTPUT, write_rows


@command(
    "say-hello",
    Option("FILE ...", "whom to greet", dest="greeted"),
    Option("--tone WHICH", "warm (default) or cool", "warm", words=("warm", "cool"), closed=True),
    *OUTPUT,
)
def run_say_hello(options):
    """Greet the files that somebody names."""
    write_rows(options, [{"file": name, "tone": options.tone} for name in options.greeted], ("file", "tone"))
'''


def test_a_command_is_one_function(command, tmp_path, monkeypatch, capfdbinary):
    """The parser, help, checks of files and of words, suggestions and completion find it with no other edit."""
    from rankbounds import commands
    from rankbounds.cli import build_parser, main
    from rankbounds.commands.console.help import completion_script

    (tmp_path / "greeting.py").write_text(COMMAND)
    (tmp_path / "a.txt").write_text("")
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    monkeypatch.setattr(commands, "_declared", dict(commands._declared))
    monkeypatch.chdir(tmp_path)
    code, out, _ = command("say-hello", "a.txt", "--tone", "cool", "b.txt", "--format", "csv")
    assert (code, out) == (0, "file,tone\na.txt,cool\nb.txt,cool\n")
    assert command("say-hello", "a.txt")[1].splitlines()[0].split() == ["file", "tone"]
    assert 'Did you mean "say-hello"?' in command("say-helo")[2]
    assert 'Did you mean "--tone"?' in command("say-hello", "a.txt", "--tune=x")[2]
    assert 'Did you mean "cool"?' in command("say-hello", "a.txt", "--tone", "col")[2]
    assert command("say-hello", "a.txt", "-o", "a.txt")[0] == 2  # what is read is not written over
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capfdbinary.readouterr().out.decode()
    assert re.search(r"What else is installed\?\n  say-hello +Greet the files", shown)
    if importlib.util.find_spec("shtab"):
        assert "say-hello" in completion_script(build_parser(), "bash")


@pytest.mark.parametrize(
    ("usage", "dest", "flags", "nargs"),
    [
        ("QRELS", "qrels", [], None),
        ("[QRELS]", "qrels", [], "?"),
        ("RUN ...", "run", [], "+"),
        ("[RUN ...]", "run", [], "*"),
        ("-n, --nosummary", "nosummary", ["-n", "--nosummary"], 0),
        ("-m, --measure, --for MEASURE", "measure", ["-m", "--measure", "--for"], None),
        ("--p P[,P...]", "p", ["--p"], None),
        ("--labels-rel [NAME=]GRADE", "labels_rel", ["--labels-rel"], None),
        ("--pair RUN_A RUN_B", "pair", ["--pair"], 2),
        ("--scores FILE ...", "scores", ["--scores"], "+"),
    ],
)
def test_the_usage_of_an_option_says_what_it_takes(usage, dest, flags, nargs):
    option = Option(usage, "what it is for")
    assert (option.dest, option.flags, option.nargs) == (dest, flags, nargs)
    parser = Parser([option])
    action = parser.actions[option]
    assert (action.dest, action.option_strings, action.nargs) == (dest, flags, nargs)
