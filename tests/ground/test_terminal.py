"""What a terminal shows: tables that fit, in which order and with how many digits; and what pipes get instead."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds
from many_runs import write_collection
from rankbounds import terminal
from rankbounds.cli import main
from rankbounds.commands.console.output import ENDINGS
from rankbounds.tables import Table
from rankbounds.terminal import Look, cells, fit_lines, reflow, shorten, use_look, wrap

SNAPSHOTS = Path(__file__).parents[1] / "golden" / "terminal"


WIDTHS = (80, 120, 200)


STYLES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def on_terminal(monkeypatch, capfdbinary):
    """Run a command whose standard output is a terminal of this width; return exit code and what it shows."""

    def call(width, *arguments):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        code = main([str(argument) for argument in arguments])
        return code, capfdbinary.readouterr().out.decode()

    monkeypatch.delenv("NO_COLOR", raising=False)
    return call


COLLECTIONS = {
    "long-names": [f"experiments/2026-autumn/retriever-with-a-long-name/bm25+rerank-{kind}" for kind in "abcdefg"],
    "unicode": ["日本語の検索システム", "café-naïve", "cafe\u0301-nai\u0308ve-2", "поиск", "한국어", "🙂-run"],
    "129-runs": [f"system{number:03}" for number in range(129)],
}


COMMANDS = {"evaluate": (), "compare": ("--resamples", "50")}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command_name", COMMANDS)
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_what_a_terminal_shows(on_terminal, tmp_path, collection, command_name, width):
    files = write_collection(tmp_path, COLLECTIONS[collection])
    code, shown = on_terminal(width, command_name, *files, *COMMANDS[command_name], "--color", "never")
    assert code == 0
    assert max(map(cells, shown.splitlines())) <= width
    snapshot = SNAPSHOTS / f"{command_name}.{collection}.{width}.txt"
    if os.environ.get("RANKBOUNDS_SNAPSHOTS") == "write":
        snapshot.write_text(shown, "utf-8")
    assert shown == snapshot.read_text("utf-8")


DEMO = Path(rankbounds.__file__).parent / "demo"


def assert_within(shown, lines, words):
    assert len(shown.splitlines()) <= lines
    assert len(shown.split()) <= words


@pytest.mark.parametrize(
    ("arguments", "lines", "words", "first"),
    [
        (["check", DEMO / "runs", "--qrels", DEMO / "qrels.txt"], 40, 400, "5 of 5 runs are ok."),
        (["measures"], 60, 500, "88 measures in "),
        (
            ["similarity", DEMO / "runs/bm25.txt", DEMO / "runs/learned.txt"],
            12,
            110,
            "bm25 and learned have 21% ",
        ),
    ],
    ids=["check", "measures", "similarity"],
)
def test_the_answer_is_first_and_short(on_terminal, arguments, lines, words, first):
    code, shown = on_terminal(80, *arguments)
    assert code == 0
    assert shown.startswith(first)
    assert_within(shown, lines, words)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_what_explain_found_can_be_typed_as_it_stands(on_terminal, command, tmp_path, width):
    files = DEMO / "qrels.txt", DEMO / "runs/bm25.txt"
    (row,) = json.loads(command("evaluate", *files, "-m", "AP(rel=2)", "--format", "json")[1])
    (tmp_path / "theirs").write_text(f"map all {row['value']:.4f}\n")
    assert "-m 'AP(rel=2)'" in on_terminal(width, "explain", tmp_path / "theirs", *files)[1]


def test_the_legend_of_the_demo_explains_what_is_shown(on_terminal):
    assert "0.4321 +0.0567" in on_terminal(200, "demo")[1]
    assert "0.4321 +0.0567" not in on_terminal(80, "demo")[1]


def test_the_answer_on_the_runs_of_trec_8_is_short(unpacked, on_terminal, tmp_path, monkeypatch):
    """Three files of 129 are spoilt, each in its own way."""
    folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
    runs = tmp_path / "runs"
    runs.mkdir()
    for file in (folder / "runs").iterdir():
        (runs / file.name).symlink_to(file)
    spoilt = ["no run", "401 Q0 a 1 nan t\n401 Q0 b 2 1 t\n", "401 Q0 a 1 2 t\n" * 2]
    for file, text in zip(sorted(runs.iterdir()), spoilt, strict=False):
        file.unlink()
        file.write_text(text)
    monkeypatch.chdir(tmp_path)
    code, shown = on_terminal(80, "check", "runs", "--qrels", folder / "qrels.txt", "--quiet")
    assert code == 1
    assert shown.startswith("126 of 129 runs are ok.\n")
    assert "error: duplicates, in 1 run\n" in shown
    assert_within(shown, 40, 400)
    code, shown = on_terminal(80, "similarity", runs / "input.INQ601", runs / "input.INQ602")
    assert code == 0
    assert_within(shown, 12, 110)


def test_pipes_get_everything(command, on_terminal, tmp_path, monkeypatch):
    files = write_collection(tmp_path, COLLECTIONS["long-names"])
    monkeypatch.setenv("COLUMNS", "80")
    _, piped, _ = command("evaluate", *files)
    header, *rows = piped.splitlines()
    assert header.split() == ["run", "nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR", "judged@10"]
    assert sorted(row.split()[0] for row in rows) == COLLECTIONS["long-names"]
    assert "\x1b" not in piped
    assert on_terminal(80, "evaluate", *files, "--wide", "--color", "never")[1] == piped


def test_real_terminal(tmp_path):
    """A pseudo-terminal of 80 columns: nothing is wider, headings and the best are bold, NO_COLOR is honoured."""
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    import fcntl
    import struct
    import termios

    def shown(**more):
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        done = subprocess.Popen(
            [sys.executable, "-m", "rankbounds", "demo"], stdout=child, stderr=child, stdin=subprocess.DEVNULL,
            env=environment | {"TERM": "xterm"} | more,
        )  # fmt: skip
        os.close(child)
        written = b""
        try:
            while part := os.read(parent, 65536):
                written += part
        except OSError:  # Linux tells so that the other end is closed
            pass
        os.close(parent)
        assert done.wait() == 0
        return written.decode().replace("\r\n", "\n")

    text = shown()
    plain = STYLES.sub("", text)
    assert max(map(cells, plain.splitlines())) <= 80
    assert re.search(r"^\x1b\[1mrun .*\x1b\[0m$", text, re.M)
    assert "\x1b[1m0.6243 [0.4728, 0.6266]\x1b[0m" in text
    assert shown(NO_COLOR="1") == plain


def runs_shown(text):
    """The first column of the first table of a text."""
    table = next(part for part in text.split("\n\n") if part.startswith("run "))
    return [line.split()[0] for line in table.splitlines()[1:]]


def test_best_first_in_tables_and_as_given_elsewhere(command, tmp_path):
    names = ["weak", "strong", "middle"]
    files = write_collection(tmp_path, names)
    draws = {
        "strong": "1 Q0 d2 1 3 x\n",
        "middle": "1 Q0 d1 1 3 x\n1 Q0 d7 2 2 x\n1 Q0 d2 3 1 x\n",
        "weak": "1 Q0 d12 1 3 x\n",
    }
    (tmp_path / "qrels").write_text("1 0 d2 1\n1 0 d7 0\n1 0 d12 0\n1 0 d1 0\n")
    for number, name in enumerate(names):
        (tmp_path / "runs" / f"{number:03}.txt").write_text(draws[name].replace("x", name))
    best, given = ["strong", "middle", "weak"], names
    for kind in ("table", "markdown", "latex", "html"):
        text = command("evaluate", *files, "-m", "RR", "--format", kind)[1]
        assert sorted(best, key=text.index) == best, kind
    for kind in ("json", "jsonl", "csv", "tsv", "trec"):
        text = command("evaluate", *files, "-m", "RR", "--format", kind)[1]
        assert sorted(given, key=text.index) == given, kind
    assert runs_shown(command("evaluate", *files, "-m", "ESL")[1]) == best  # effort: the least first
    assert runs_shown(command("evaluate", *files, "-m", "RR", "--sort", "run")[1]) == sorted(names)
    assert runs_shown(command("evaluate", *files, "-m", "RR", "--sort", "given")[1]) == given
    assert runs_shown(command("evaluate", *files, "-m", "NumRet", "-m", "RR")[1])[0] == "middle"
    assert runs_shown(command("evaluate", *files, "-m", "NumRet", "-m", "RR", "--sort", "RR")[1]) == best
    assert runs_shown(command("evaluate", *files, "-m", "RR", "--top", "2")[1]) == best[:2]
    rows = json.loads(command("evaluate", *files, "-m", "RR", "--top", "2", "--format", "json")[1])
    assert [row["run"] for row in rows] == best[:2]
    rows = json.loads(command("evaluate", *files, "-m", "RR", "--sort", "RR", "--format", "json")[1])
    assert [row["run"] for row in rows] == best
    assert command("evaluate", *files, "-m", "RR", "--sort", "AP")[0] == 2
    for bad in ("0", "-1", "two"):
        assert command("evaluate", *files, "--top", bad)[0] == 2


def test_top_and_sort_elsewhere(command, tmp_path):
    files = write_collection(tmp_path, [f"r{number}" for number in range(9)])
    board = command("compare", *files, "--resamples", "20")[1]
    assert runs_shown(command("compare", *files, "--resamples", "20", "--top", "3")[1]) == runs_shown(board)[:3]
    _, out, _ = command("compare", *files, "--resamples", "20", "--baseline-run", "r8", "--top", "2")
    assert {*runs_shown(out)} == {*runs_shown(board)[:2]} - {"r8"}
    table = command("uncertainty", *files, "--q", ".2")[1].split("\n\n")[1]
    means = [float(line.split()[4]) for line in table.splitlines()[1:]]
    assert means == sorted(means, reverse=True)
    assert len(runs_shown(command("uncertainty", *files, "--top", "2")[1])) == 2
    rows = json.loads(command("uncertainty", *files, "--format", "json")[1])
    assert [row["run"] for row in rows] == [f"r{number}" for number in range(9)]
    assert command("uncertainty", *files, "--difference", "--top", "2")[0] == 2


def test_digits(command, tmp_path):
    files = write_collection(tmp_path, ["one", "two"])
    numbers = re.findall(r"\d\.(\d+)", command("evaluate", *files, "-m", "RBP", "--digits", "2")[1].split("\n", 1)[1])
    assert {len(digits) for digits in numbers} == {2}
    board = command("compare", *files, "--resamples", "20", "--digits", "1", "--correction", "none")[1]
    table = board.split("\n\n")[1].splitlines()
    assert {len(digits) for digits in re.findall(r"\d\.(\d+)", re.sub(r"  [01]\.\d{4}  ", "", table[1]))} == {
        1
    }  # p has its own
    as_json = ("evaluate", *files, "--format", "json")
    assert command(*as_json, "--digits", "1")[1] == command(*as_json)[1]


words = st.text(st.characters(codec="utf-8", categories=("L", "Mn", "Nd", "Pd", "So")), max_size=30)
words = words.filter(lambda word: len(word) <= 8 or any(map(str.isalpha, word)))  # no number is split, nor so long


values = st.floats(0, 1).map("{:.4f}".format)


numbers = st.one_of(values, st.tuples(values, values).map("[{0[0]}, {0[1]}]".format))


@st.composite
def tables(draw):
    columns = draw(st.lists(st.sampled_from(["name", "sentence", "number"]), min_size=1, max_size=7))
    kinds = ["name", "number", *columns]
    content = {"name": words, "sentence": st.lists(words, max_size=9).map(" ".join), "number": numbers}
    rows = draw(st.lists(st.tuples(*(content[kind] for kind in kinds)), max_size=5))
    header = [f"{kind} of column {place}" for place, kind in enumerate(kinds)]
    return header, rows, frozenset(place for place, kind in enumerate(kinds) if kind != "number")


@given(tables(), st.integers(40, 200))
def test_no_line_is_too_wide_and_no_number_is_split(table, width):
    header, rows, left = table
    with use_look(Look(width)):
        text = Table(header, rows, left).text()
    *lines, _ = text.split("\n")
    assert max(map(cells, lines)) <= width
    note = re.search(r"\(not shown: (.*)\)$", " ".join(lines).strip())
    hidden = [heading for heading in header if note and heading in note[1]]
    assert header[0] not in hidden
    assert header[1] not in hidden
    for row in rows:
        for heading, cell, place in zip(header, row, range(len(header)), strict=True):
            if place not in left and heading not in hidden:
                assert any(cell in line for line in lines)
    with use_look(Look()):
        whole = Table(header, rows, left).text()
    if max(map(cells, whole.split("\n"))) <= width:
        assert text == whole


@given(st.text(max_size=40))
def test_cells_of_a_terminal_agree_with_wcwidth(text):
    wcwidth = pytest.importorskip("wcwidth", reason="the oracle for widths is wcwidth: pip install wcwidth")
    for character in filter(str.isprintable, text):
        settled = character not in UNSETTLED and unicodedata.category(character) != "Mc"
        if wcwidth.wcwidth(character) >= 0 and settled:
            assert cells(character) == wcwidth.wcwidth(character), hex(ord(character))


UNSETTLED = frozenset(map(chr, [0x3164, 0xFFA0, *range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400)]))
"""Half flags and tones of skin, which are as wide as what they stand beside, and letters that are blanks."""
WIDE_SINCE_UNICODE_16 = [(0x2630, 0x2638), (0x268A, 0x2690), (0x4DC0, 0x4E00), (0x1D300, 0x1D377)]
"""Signs whose width Python's own tables state otherwise, as long as they are older."""
UNSETTLED |= {chr(code) for begin, end in WIDE_SINCE_UNICODE_16 for code in range(begin, end)}


def test_wide_characters_take_two_cells_and_marks_none():
    assert [cells(text) for text in ("abc", "日本", "e\u0301", "\u1112\u1161\u11ab", "ﬃ", "🙂")] == [3, 4, 1, 2, 1, 2]
    assert shorten(["日本語の検索システム"], 9) == ["日本…テム"]
    assert shorten(["cafe\u0301-nai\u0308ve-runs"], 9)[0].startswith("cafe\u0301…")


@given(st.lists(words, min_size=1, max_size=6), st.integers(12, 40))
def test_cut_names_fit_and_stay_apart_where_they_can(names, width):
    cut = shorten(names, width)
    assert max(map(cells, cut)) <= width
    assert all(short == name for short, name in zip(cut, names, strict=True) if cells(name) <= width)
    common = ["experiments/with/one/beginning/" + str(number) for number in range(12)]
    assert len(set(shorten(common, width))) == 12


def test_sentences_are_wrapped_between_words():
    text = "RBP is 0.3456 here, between [0.1234, 0.5678] and nothing else"
    for width in range(18, 70):
        lines = wrap(text, width)
        assert " ".join(lines) == text
        assert any("[0.1234, 0.5678]" in line for line in lines)
        assert max(map(len, lines)) <= width
    assert fit_lines("  short\n  p         the probability of going on", 36) == (
        "  short\n  p         the probability of going\n            on"
    )
    hard = "a word " * 16 + "that ends\nthe paragraph here.\n\n    an example stays as it is"
    assert reflow(hard, 200) == hard.replace("\n", " ", 1)


def test_a_table_says_what_it_leaves_out():
    table = Table(
        ["run", "AP", "P", "notes"], [["a", "0.1", "0.2", "words that say something about it"]], frozenset({0, 3})
    )
    with use_look(Look(16)):
        shown = table.text()
    assert shown.splitlines()[0].split() == ["run", "AP", "P"]
    assert "notes" in shown
    assert "--wide" in shown
    assert table.markdown().count("words that say something about it") == 1


def test_numbers_among_words_are_not_cut():
    table = Table(["system", "lies in", "how"], [["A", "[0.0297, 0.9178]", "exactly"]], frozenset({0, 1, 2}))
    for width in range(10, 40):
        with use_look(Look(width)):
            shown = table.text()
        hidden = " ".join(shown.split()).partition("not shown: ")[2]
        assert "[0.0297, 0.9178]" in shown or "lies in" in hidden


FILES = {"scores.txt": "table", "scores": "table"} | {f"scores.{ending}": kind for ending, kind in ENDINGS.items()}


@pytest.mark.parametrize("name", [*FILES, "SCORES.CSV"])
def test_the_ending_says_the_format(command, tmp_path, name):
    files = write_collection(tmp_path, ["one", "two"])
    kind = FILES[name.lower()]
    if kind == "junit":  # of a gate alone
        gate = ("compare", *files, "--resamples", "20", "--fail-if", "RBP < 0.1", "-o", tmp_path / name)
        assert command(*gate)[0] in (0, 1, 4)
        assert (tmp_path / name).read_text().startswith("<?xml")
        (tmp_path / name).unlink()
        assert command("evaluate", *files, "-o", tmp_path / name)[0] == 2
        return
    code, out, err = command("evaluate", *files, "-o", tmp_path / name)
    assert (code, out) == (0, "")
    assert err.startswith(f"rankbounds: wrote {tmp_path / name} (")
    written = (tmp_path / name).read_bytes()
    command("evaluate", *files, "--format", kind, "-o", tmp_path / "named")
    assert written == (tmp_path / "named").read_bytes()
    if kind == "csv":
        assert next(csv.DictReader(written.decode().splitlines()))["measure"] == "nDCG@10"
    if kind != "table":
        other = "tsv" if kind != "tsv" else "json"
        code, _, err = command("evaluate", *files, "-o", tmp_path / name, "--format", other)
        assert (code, err.count("\n")) == (2, 1)
        assert kind in err
        assert other in err
    assert command("evaluate", *files, "-o", tmp_path / name, "--format", kind)[0] == 0


def test_files_may_stand_behind_options(command, tmp_path):
    qrels, runs = write_collection(tmp_path, ["one", "two"])
    one, two = sorted(runs.iterdir())
    together = command("evaluate", qrels, one, two, "-m", "AP")
    assert together[0] == 0
    assert command("evaluate", qrels, one, "-m", "AP", two) == together


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("compare", "-o", "x.parquet"), '"compare" cannot write parquet'),
        (("evaluate", "-o", "x.csv.gz"), "does not compress"),
        (("compare", "--save", "x.json.xz"), "does not compress"),
        (("report", "-o", "x.csv"), '"report" cannot write csv'),
        (("judge-next", "-o", "x.parquet"), '"judge-next" cannot write parquet'),
    ],
)
def test_endings_that_a_command_does_not_know(command, tmp_path, monkeypatch, arguments, told):
    monkeypatch.chdir(tmp_path)
    name, *more = arguments
    code, _, err = command(name, *write_collection(tmp_path, ["one", "two"]), *more)
    assert (code, err.count("\n")) == (2, 1)
    assert told in err
    assert not Path(more[-1]).exists()


@pytest.mark.parametrize(("when", "styled"), [("always", True), ("auto", False), ("never", False)])
def test_colour_in_pipes_only_if_asked(command, tmp_path, when, styled):
    files = write_collection(tmp_path, ["one", "two"])
    out = command("evaluate", *files, "--color", when)[1]
    assert ("\x1b[1m" in out) == styled
    assert STYLES.sub("", out) == command("evaluate", *files)[1]


def test_the_look_ends_with_its_block():
    with use_look(Look(40, 2, True)):
        assert terminal.look() == Look(40, 2, True)
    assert terminal.look() == Look()


def test_the_page_on_terminals_shows_what_they_show(command, on_terminal):
    page = (Path(__file__).parents[2] / "docs" / "terminal.md").read_text("utf-8")
    greeting, *others = re.findall(r"```console\n(.*?)```", page, re.S)
    (demo,) = (block for block in others if block.startswith("$ rankbounds demo\n"))
    version = re.compile(r"(?<=^rankbounds )\S+\.(?= )", re.M)
    assert version.sub("", greeting) == "$ rankbounds\n" + version.sub("", command()[1])
    shown = STYLES.sub("", on_terminal(80, "demo")[1])
    assert f"$ rankbounds demo\n{shown}".startswith(demo)


@pytest.mark.parametrize("width", [50, 60, 80, 100, 120, 200])
def test_judged_at_10_is_shown_at_every_width(on_terminal, width):
    shown = STYLES.sub("", on_terminal(width, "demo")[1])
    assert "judged@10\n" in shown or "judged@10  notes\n" in shown
