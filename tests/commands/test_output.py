"""Where results of commands go: no input is replaced, and what cannot be written is reported."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from small_files import QRELS, RUN

import rankbounds as rb
from rankbounds.cli import build_parser, main
from rankbounds.commands import known_commands
from rankbounds.commands.console import output as shared
from rankbounds.commands.demo import DATA
from rankbounds.errors import DataError, UsageError
from rankbounds.files.opening import expand
from rankbounds.files.writing import COPY_ENDING
from rankbounds.judging.audits.labelled_pool import listed_documents
from rankbounds.probability.models.probabilities import read_probabilities
from rankbounds.tables import ROW_FORMATS, TABLE_FORMATS, render_rows


def judged(topic, doc, grade=1.0):
    return rb.Qrels.from_columns([topic], [doc], [grade])


def test_pool_checks_ids(command, tmp_path):
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\nred shoes,d1,2\nred shoes,d2,1\n")
    arguments = ["pool", str(tmp_path / "run.csv"), "--depth", "1"]
    for output in ([], ["-o", tmp_path / "out.txt"]):
        code, out, err = command(*arguments, *output)
        assert (code, out) == (3, "")
        assert '"red shoes"' in err
        assert len(err.splitlines()) == 1
    assert not (tmp_path / "out.txt").exists()
    assert command(*arguments, "-o", tmp_path / "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_text().startswith("query_id,doc_id,")
    assert "red shoes,d1" in (tmp_path / "out.csv").read_text()


def test_parts_of_judgments_and_judge_next_check_ids(command, tmp_path):
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\nred shoes,d1,1\n")
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\nred shoes,d1,2\nred shoes,d2,1\n")
    keep = ("pool", "--restrict", tmp_path / "qrels.csv", "--keep", "50%")
    code, out, err = command(*keep)
    assert (code, out, '"red shoes"' in err) == (3, "", True)
    assert command(*keep, "-o", tmp_path / "half.jsonl")[0] == 0
    assert rb.read_qrels(tmp_path / "half.jsonl").to_dict() == {"red shoes": {"d1": 1.0}}
    files = tmp_path / "qrels.csv", tmp_path / "run.csv"
    code, out, err = command("judge-next", *files, "-m", "RBP", "--format", "trec")
    assert (code, out, '"red shoes"' in err) == (3, "", True)


@pytest.mark.parametrize("output", ["qrels", "runs/run", "link", "runs/../qrels", "hard"])
def test_no_input_is_replaced(command, files, monkeypatch, output):
    monkeypatch.chdir(files)
    (files / "link").symlink_to("runs/run")
    (files / "hard").hardlink_to(files / "qrels")
    for runs in (["runs"], ["runs/*"], ["runs/run"], ["hard", "runs/run"]):
        code, out, err = command("evaluate", "qrels", *runs, "-o", output)
        assert (code, out) == (2, "")
        assert "would be overwritten" in err
    assert ((files / "qrels").read_text(), (files / "runs" / "run").read_text()) == (QRELS, RUN)


def test_every_command_refuses_to_replace_its_inputs(command, files, monkeypatch):
    monkeypatch.chdir(files)
    (files / "baseline").write_text("{}")
    for arguments in (
        ["report", "qrels", "runs", "-o", "qrels"],
        ["pool", "runs", "--depth", "1", "-o", "runs/run"],
        ["pool", "runs", "--depth", "1", "--restrict", "qrels", "-o", "qrels"],
        ["pool", "--restrict", "qrels", "--keep", "50%", "-o", "qrels"],
        ["compare", "qrels", "runs", "--baseline", "baseline", "--save", "baseline"],
        ["compare", "qrels", "runs", "--save", "out", "-o", "out"],
        ["check", "runs/run", "--qrels", "qrels", "-o", "qrels"],
        ["rbp", "crossings", "qrels", "runs/run", "runs/run", "-o", "runs/run"],
    ):
        (files / "qrels50").unlink(missing_ok=True)
        if "qrels{rate}" in arguments:
            (files / "qrels50").symlink_to("qrels")
        code, out, _ = command(*arguments)
        assert (code, out) == (2, ""), arguments
    assert ((files / "qrels").read_text(), (files / "runs" / "run").read_text()) == (QRELS, RUN)
    assert (files / "baseline").read_text() == "{}"


def test_every_argument_that_names_a_file_is_known_as_one():
    written = {"output", "save", "figure", "bibtex", "page"}
    named = {"QRELS", "RUN", "FILE", "A", "B", "LABELS", "TRUSTED", "SAMPLE", "OUTPUT", "COLLECTION"}
    for name, parser in build_parser().commands.items():
        for option, action in parser.actions.items():
            if action.metavar in named:
                assert option.file == ("written" if option.dest in written else "read"), (name, option.usage)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_nothing_is_written_under_the_name_of_a_compressed_file(tmp_path, command, ending):
    """It would not be compressed, and reading it back would fail."""
    for write in (judged("1", "a").write, rb.Run.from_columns(["1"], ["a"], [1.0], name="r").write):
        with pytest.raises(rb.UsageError, match="does not compress"):
            write(tmp_path / f"file{ending}")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 r\n")
    code, out, err = command("pool", tmp_path / "run", "--depth", "1", "-o", tmp_path / f"pool{ending}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("missing/out", "there is no folder"),
        ("qrels/out", "Not a directory"),
        ("runs", "this is a folder"),
        ("self", "symbolic links"),
        ("/dev/full", "No space left"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(command, files, monkeypatch, output, told):
    monkeypatch.chdir(files)
    (files / "self").symlink_to("self")
    for arguments in (
        ["evaluate", "qrels", "runs/run"],
        ["evaluate", "qrels", "runs/run", "--format", "parquet"],
        ["pool", "runs/run", "--depth", "1"],
    ):
        code, out, err = command(*arguments, "-o", output)
        assert (code, out) == (3, ""), arguments
        assert told in err
        assert output in err
        assert len(err.splitlines()) == 1


def test_without_permission_nothing_is_written(command, files, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("rankbounds.files.writing._new_copy", refused)
    code, _, err = command("evaluate", files / "qrels", files / "runs", "-o", files / "out")
    assert (code, "out: cannot be written (Permission denied)" in err) == (3, True)
    monkeypatch.setattr("rankbounds.files.writing.os.makedirs", refused)
    code, out, err = command("demo", "--write", files / "new")
    assert (code, out) == (3, "")
    assert err == f"rankbounds: {files / 'new'}: cannot be written (Permission denied).\n"


JUDGED_RUNS = ["qrels", "runs/run", "b.run"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize(
    ("call", "name"),
    [
        *((["evaluate", *JUDGED_RUNS, "--format", kind, "-o"], "out") for kind in (*TABLE_FORMATS, *ROW_FORMATS)),
        (["evaluate", *JUDGED_RUNS, "--bibtex"], "out.bib"),
        (["compare", *JUDGED_RUNS, "-m", "AP", "-o"], "out"),
        (["compare", *JUDGED_RUNS, "-m", "AP", "--save"], "out.json"),
        (["rbp", "transfer", "0.4321", "--p", "0.95", "--to", "0.8", "--figure"], "out.svg"),
        (["judge-next", *JUDGED_RUNS, "--budget", "2", "-o"], "out"),
        (["sample", *JUDGED_RUNS, "--budget", "2", "-o"], "out"),
        (["trec_eval", *JUDGED_RUNS[:2], "-o"], "out"),
        (["report", *JUDGED_RUNS, "-o"], "out.html"),
        (["pool", "b.run", "--depth", "1", "-o"], "out"),
        (["pool", "--restrict", "qrels", "--keep", "50%", "-o"], "out"),
    ],
    ids=lambda part: part if isinstance(part, str) else " ".join(part[:1] + part[-2:]),
)
def test_a_full_disk_leaves_nothing_under_the_name(command, files, monkeypatch, call, name):
    """The copy finds no room: nothing appears, or the file of before stays."""
    if "--figure" in call:
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.chdir(files)
    Path("b.run").write_text(RUN.replace("mine", "other").replace(" 3.0 ", " 0.1 "))
    copies = []

    def full(target):
        copies.append(target)
        return os.open("/dev/full", os.O_WRONLY), f"{target}{COPY_ENDING}"

    monkeypatch.setattr("rankbounds.files.writing._new_copy", full)
    for before in (None, "as it was"):
        if before:
            Path(name).write_text(before)
        code, _, err = command(*call, name)
        assert (code, "Traceback" in err) == (3, False), err
        assert err.splitlines()[-1] == f"rankbounds: {name}: cannot be written (No space left on device)."
        assert (Path(name).read_text() if Path(name).exists() else None) == before
    assert copies == [str(files / name)] * 2


def test_a_file_that_may_only_be_read_is_not_replaced(command, files, monkeypatch):
    (files / "out").write_text("mine")
    (files / "link").symlink_to("out")
    (files / "out").chmod(0o444)
    if os.geteuid() == 0:  # who may write everything: what others hear of the system
        may_write = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: "out" not in str(path) and may_write(path, mode))
    for name in ("out", "link"):
        code, _, err = command("evaluate", files / "qrels", files / "runs", "-o", files / name)
        assert (code, err) == (3, f"rankbounds: {files / name}: cannot be written (Permission denied).\n")
    assert (files / "out").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write every folder")
def test_folders_without_permission_are_told(command, files):
    (files / "closed").mkdir(mode=0o500)
    code, _, err = command("evaluate", files / "qrels", files / "runs", "-o", files / "closed" / "out")
    assert (code, err) == (3, f"rankbounds: {files}/closed/out: cannot be written (Permission denied).\n")
    (files / "runs").chmod(0)
    code, _, err = command("evaluate", files / "qrels", files / "runs")
    (files / "runs").chmod(0o700)
    assert (code, err) == (3, f"rankbounds: {files}/runs: cannot be read (Permission denied).\n")


def test_folders_to_write_to(command, files):
    for folder, told in (("qrels", "this is a file"), ("runs", "not empty"), ("qrels/below", "Not a directory")):
        assert told in command("demo", "--write", files / folder)[2]


def test_folders_that_cannot_be_read_are_told(command, files, monkeypatch):
    (files / "runs" / "self").symlink_to("self")
    code, out, err = command("evaluate", files / "qrels", files / "runs")
    assert (code, out) == (3, "")
    assert "self: cannot be read (Too many levels of symbolic links)" in err

    def refused(path):
        raise PermissionError(13, "Permission denied", path)

    with monkeypatch.context() as patched:
        patched.setattr("rankbounds.files.opening.os.scandir", refused)
        with pytest.raises(DataError, match=r"runs: cannot be read \(Permission denied\)"):
            expand([files / "runs"])


def test_cells_of_any_length_are_read(command, tmp_path):
    (tmp_path / "counts").write_text("[" * 200_000)
    code, _, err = command("rbp", "persistence", "--depths", tmp_path / "counts")
    assert code == 3
    assert err.startswith(f"rankbounds: {tmp_path / 'counts'}: ")
    (tmp_path / "q.csv").write_text(f"query_id,doc_id,probability\nq,{'x' * 200_000},0.5\n")
    assert read_probabilities(str(tmp_path / "q.csv")).q.tolist() == [0.5]


def test_parquet_and_bytes_that_are_not_utf8(command, tmp_path):
    (tmp_path / "qrels").write_bytes(b"\xe9 0 d 1\n")
    (tmp_path / "run").write_bytes(b"\xe9 Q0 d 1 1.0 r\xe9\n")
    names = tmp_path / "qrels", tmp_path / "run"
    code, _, err = command("evaluate", *names, "-q", "--format", "parquet", "-o", tmp_path / "out.parquet")
    assert code == 3
    assert "UTF-8" in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out.parquet").exists()


def test_spreadsheets_compute_nothing(command, tmp_path):
    (tmp_path / "qrels").write_text("=1+1 0 d 1\n@x 0 d 1\n-7 0 d 1\n")
    (tmp_path / "run").write_text("=1+1 Q0 d 1 1.0 +run\n@x Q0 d 1 1.0 +run\n-7 Q0 d 1 -1.0 +run\n")
    names = tmp_path / "qrels", tmp_path / "run"

    def rows(kind, *more):
        out = command("evaluate", *names, "-q", "-m", "RR", "--format", kind, *more)[1]
        return list(csv.DictReader(io.StringIO(out), delimiter="\t" if kind == "tsv" else ","))

    for kind in ("csv", "tsv"):
        assert [(row["run"], row["query_id"]) for row in rows(kind)] == [
            ("'+run", "'=1+1"), ("'+run", "'@x"), ("'+run", "'-7"), ("'+run", "all"),
        ]  # fmt: skip
        assert [(row["run"], row["query_id"]) for row in rows(kind, "--raw")] == [
            ("+run", "=1+1"), ("+run", "@x"), ("+run", "-7"), ("+run", "all"),
        ]  # fmt: skip
    assert "'" not in command("evaluate", *names, "-q", "--format", "json")[1]
    assert render_rows([{"a": -1.5, "b": "-x"}], "csv", ["a", "b"]) == "a,b\n-1.5,'-x\n"


def test_every_command_with_csv_has_raw():
    for parser in build_parser().commands.values():
        formats = next((option.words for option in parser.actions if "--format" in option.flags), ())
        assert ("csv" in formats) == any(option.dest == "raw" for option in parser.actions)


def test_the_demo_can_be_written_and_read(command, tmp_path):
    assert command("demo", "--write", tmp_path / "new" / "demo")[0] == 0
    for source in DATA.rglob("*.txt"):
        assert (tmp_path / "new" / "demo" / source.relative_to(DATA)).read_bytes() == source.read_bytes()


def test_usage_of_two_outputs_is_told_by_name():
    with pytest.raises(UsageError, match="two results"):
        shared.check_outputs(argparse.Namespace(output="x", save="./x", declared=known_commands()["compare"].load()[0]))


def test_names_of_runs_steer_no_terminal(command, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "run").write_bytes(b"1 Q0 a 1 1.0 \xc2\x9b31mrun\n")
    _, _, err = command("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "RR")
    assert r"(\x9b31mrun: topic 2)" in err


CONTROL = ["\x00", "\x1b", "\x7f", "\x85", "\u2028", "\t", "\n", "\r"]


class TestControlCharacters:
    """In ids and names: formats for people show codes, formats for programs bring them back or refuse them."""

    @pytest.fixture(params=CONTROL, ids=ascii)
    def odd(self, request, tmp_path, monkeypatch):
        """A character, with files of two topics and two runs that have it in every id and name."""
        odd = request.param
        monkeypatch.chdir(tmp_path)
        for name, docs in (("a", "xyz"), ("b", "zx")):
            rows = [
                {"query_id": f"q{odd}{n}", "doc_id": f"{doc}{odd}d", "score": -at, "run": f"r{odd}{name}"}
                for n in "12"
                for at, doc in enumerate(docs)
            ]
            Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        judged = [
            {"query_id": f"q{odd}{n}", "doc_id": f"{doc}{odd}d", "relevance": grade}
            for n in "12"
            for doc, grade in (("x", 1), ("z", int(n) - 1))
        ]
        Path("qrels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged))
        return odd

    @pytest.mark.parametrize("kind", ["table", "markdown", "latex", "html"])
    def test_people_see_codes(self, odd, kind, command):
        files = "qrels.jsonl", "a.jsonl", "b.jsonl"
        for call in (
            ["evaluate", *files, "-q", "-m", "AP"],
            ["compare", *files, "-m", "AP"],
            ["judge-next", *files, "--budget", "3"],
            ["sample", *files, "--budget", "2"],
            ["similarity", *files[1:], "-q"],
            ["uncertainty", *files, "-m", "AP", "--q", "0.1"],
            ["check", *files[1:], "--qrels", files[0]],
        ):
            for more in ([], ["--color", "always"]):
                code, out, err = command(*call, "--format", kind, *more)
                assert code == 0, err
                left = re.sub(r"\x1b\[[012]m", "", out) if more else out
                assert not [one for one in left + err if one in CONTROL and one not in "\n\t"], call
        for call, path in ((["evaluate", "-m", "AP", "--format", kind], "out"), (["report", "-m", "AP"], "page.html")):
            code, _, err = command(*call, *files, "-o", path)
            assert code == 0, err
            written = Path(path).read_text(encoding="utf-8")
            assert not [one for one in written if one in CONTROL and one not in "\n\t"]

    def test_the_codes_tell_ids_apart(self, odd, command):
        out = command("evaluate", "qrels.jsonl", "a.jsonl", "-q", "-m", "AP")[1]
        code = odd.encode("unicode_escape").decode("ascii")
        assert f"r{code}a" in out
        assert f"q{code}1" in out

    @pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "tsv", "parquet"])
    def test_scores_come_back(self, odd, kind, command):
        code, _, err = command("evaluate", "qrels.jsonl", "a.jsonl", "-q", "-m", "AP", "--raw", "-o", f"scores.{kind}")
        if odd == "\0" and kind in ("csv", "tsv"):
            assert (code, "cannot hold it" in err, Path(f"scores.{kind}").exists()) == (3, True, False)
            return
        assert code == 0, err
        back = rb.read_scores(f"scores.{kind}")
        assert (back.runs, sorted(back.query_ids)) == ([f"r{odd}a"], [f"q{odd}1", f"q{odd}2"])

    def test_saved_scores_come_back(self, odd, command):
        assert command("compare", "qrels.jsonl", "a.jsonl", "b.jsonl", "-m", "AP", "--save", "saved.json")[0] == 0
        code, _, err = command(
            "compare", "qrels.jsonl", "a.jsonl", "--baseline", "saved.json", "-m", "AP", "--baseline-run", f"r{odd}b"
        )
        assert code == 0, err

    @pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "jsonl"])
    def test_judgments_and_runs_come_back_or_are_refused(self, odd, ending, command):
        qrels, run = rb.read_qrels("qrels.jsonl").to_dict(), rb.read_run("a.jsonl")
        kept, pooled = f"kept.{ending}", f"pooled.{ending}"
        for call, path in (
            (["pool", "--restrict", "qrels.jsonl", "--keep", "100%"], kept),
            (["pool", "a.jsonl", "--depth", "9"], pooled),
        ):
            code, _, err = command(*call, "-o", path)
            assert (code, Path(path).exists()) in ((0, True), (3, False))
            if code:
                assert ("cannot hold it" in err, len(err.splitlines())) == (True, 1)
            else:
                back = rb.read_qrels(path).to_dict()
                assert back.keys() == qrels.keys()
                assert path == pooled or back == qrels
        assert Path(kept).exists() == (
            ending == "jsonl" or odd in "\x7f\x85\u2028" or (ending != "txt" and odd in "\x1b\t")
        )
        try:
            run.write(f"run.{ending}")
        except rb.DataError as error:
            assert "cannot hold it" in str(error)  # noqa: PT017 (many are written)
        else:
            assert rb.read_run(f"run.{ending}").to_dict() == run.to_dict()

    @pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "trec"])
    def test_lists_of_what_to_judge_come_back_or_are_refused(self, odd, kind, command):
        files = "qrels.jsonl", "a.jsonl", "b.jsonl"
        for call in (["judge-next", *files, "--budget", "2"], ["sample", *files, "--budget", "2"]):
            code, _, err = command(*call, "--format", kind, "--raw", "-o", "listed")
            if code:
                assert (code, "cannot hold it" in err, len(err.splitlines())) == (3, True, 1)
                assert not Path("listed").exists()
                continue
            for topic, doc in listed_documents("listed"):
                assert topic in (f"q{odd}1", f"q{odd}2")
                assert doc in [f"{one}{odd}d" for one in "xyz"]

    def test_lines_of_trec_eval_hold_whole_ids(self, odd, command):
        code, out, err = command("trec_eval", "-q", "-m", "runid", "-m", "map", "qrels.jsonl", "a.jsonl")
        if code:
            assert (code, "cannot hold it" in err, out) == (3, True, "")
            assert odd < " "
        else:
            assert [line.split("\t")[1] for line in out.split("\n")[:2]] == [f"q{odd}1", f"q{odd}2"]
            assert odd not in command("trec_eval", "-m", "runid", "qrels.jsonl", "a.jsonl")[1].replace(
                "\t", ""
            ).replace("\n", "")


DEMO_QRELS, DEMO_RUN = DATA / "qrels.txt", DATA / "runs" / "bm25.txt"


class TestNamesOfOutputs:
    """What a name promises is written, or nothing is."""

    @pytest.mark.parametrize(
        "asked",
        [
            ("evaluate", DEMO_QRELS, DEMO_RUN, "-o", "fig.pdf"),
            ("evaluate", DEMO_QRELS, DEMO_RUN, "-o", "out.xlsx"),
            ("evaluate", DEMO_QRELS, DEMO_RUN, "-o", "out.xml"),
            ("compare", DEMO_QRELS, DEMO_RUN, DEMO_RUN, "-o", "out.svg"),
            ("pool", DEMO_RUN, "--depth", 3, "-o", "out.json"),
            ("pool", "--restrict", DEMO_QRELS, "--keep", "50%", "-o", "out.json"),
            ("report", DEMO_QRELS, DEMO_RUN, "-o", "page.pdf"),
            ("rbp", "transfer", "0.4321", "--p", 0.95, "--to", 0.8, "--figure", "x.md"),
        ],
        ids=lambda asked: f"{asked[0]} {asked[-1]}",
    )
    def test_endings_that_are_not_understood_are_refused_before_anything(self, asked, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        assert main([str(word) for word in asked]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n"), str(asked[-1]) in err) == ("", 1, True)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "more", [["-o", "out.txt"], ["-o", "p0.8"], ["-o", "plain"], ["-o", "a.dat", "--format", "csv"]]
    )
    def test_endings_that_say_nothing(self, more, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        assert main(["evaluate", str(DEMO_QRELS), str(DEMO_RUN), *more]) == 0
        assert Path(more[1]).stat().st_size

    @pytest.mark.skipif(not Path("/dev/stderr").exists(), reason="standard streams have no names here")
    @pytest.mark.parametrize("stream", ["stdout", "stderr"])
    def test_own_streams_are_written_where_they_are(self, stream, tmp_path):
        """A log that holds lines already keeps them, and nothing is written over the table."""
        log = tmp_path / "log.txt"
        log.write_text("before\n")
        given = [sys.executable, "-m", "rankbounds", "evaluate", DATA / "qrels.txt", DATA / "runs" / "bm25.txt"]
        with log.open("a") as end:
            subprocess.run([*given, "-m", "AP", "-o", f"/dev/{stream}"], **{stream: end}, check=True)
        first, heading, row = log.read_text().splitlines()
        assert (first, heading.split(), row.split()[0]) == ("before", ["run", "AP", "judged@10"], "bm25")

    @pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="standard input has no name here")
    def test_the_file_that_standard_input_is_stays(self, tmp_path):
        run = tmp_path / "r.txt"
        run.write_bytes(DEMO_RUN.read_bytes())
        with open(run, "rb") as given:
            ended = subprocess.run(
                [sys.executable, "-m", "rankbounds", "evaluate", str(DEMO_QRELS), "-", "-o", str(run)],
                stdin=given, capture_output=True, text=True,
            )  # fmt: skip
        assert (ended.returncode, "would be overwritten" in ended.stderr) == (2, True)
        assert run.read_bytes() == DEMO_RUN.read_bytes()

    def test_a_report_that_nobody_named_replaces_none(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        asked = ["report", str(DEMO_QRELS), str(DEMO_RUN), "-m", "AP"]
        assert main(asked) == 0
        Path("report.html").write_text("mine")
        assert main(asked) == 2
        assert "report.html exists already" in capsys.readouterr().err
        assert Path("report.html").read_text() == "mine"
        assert main([*asked, "-o", "report.html"]) == 0

    def test_every_file_that_is_written_is_told(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        assert main(["evaluate", str(DEMO_QRELS), str(DEMO_RUN), "--bibtex", "c.bib"]) == 0
        assert "wrote c.bib" in capsys.readouterr().err
