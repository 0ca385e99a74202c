"""The check of run files, by hand-made files with known faults."""

from __future__ import annotations

import json
import tracemalloc

import pytest

import rankbounds as rb
from rankbounds.checking.findings import KINDS
from rankbounds.files import trec

KEYS = ["run", "file", "ok", "errors", "warnings", "lines", "topics", "findings"]
FINDING = ["kind", "severity", "count", "share", "message", "places", "examples", "topics"]
CLEAN = "1 Q0 a 1 3.0 clean\n1 Q0 b 2 2.0 clean\n2 Q0 a 1 1.0 clean\n2 Q0 c 2 0.5 clean\n"
TIED = (
    "1 Q0 a 1 3.0 tied\n1 Q0 b 2 3.0 tied\n1 Q0 c 3 3.0 tied\n1 Q0 d 4 1.0 tied\n2 Q0 a 1 3.0 tied\n2 Q0 b 2 2.0 tied\n"
    "2 Q0 c 3 2.0 tied\n"
)
BROKEN = (
    "1 Q0 a 1 3.0 t and words\n1 Q0 b 2 nan t\n1 Q0 a 3 1.0 t\n1 Q0 c\n\n# comment\n1 Q0 c 4 0.5 t\n2 Q0 a x 1.0 t\n"
)


@pytest.fixture
def run_file(tmp_path):
    def write(text, name="run.txt"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def checked(path, *given, **options):
    (found,) = rb.check(path, *given, **options)
    return found


def finding(path, kind, *given, **options):
    (found,) = [one for one in checked(path, *given, **options).findings if one.kind == kind]
    return found


def test_json_has_the_promised_keys(command, run_file):
    code, out, err = command("check", run_file(TIED), "--format", "json")
    assert (code, err) == (0, "")
    (row,) = json.loads(out)
    assert list(row) == KEYS
    assert (row["run"], *list(row.values())[2:7]) == ("tied", True, 0, 0, 7, 2)
    (ties,) = row["findings"]
    assert list(ties) == FINDING
    assert (ties["kind"], ties["severity"], ties["count"], ties["share"]) == ("ties", "note", 3, 3 / 7)


def test_python_has_what_the_command_has(command, run_file):
    path = run_file(BROKEN)
    (row,) = json.loads(command("check", path, "--format", "json")[1])
    assert rb.check(path).rows() == [row]
    assert rb.check(path).to_pandas()["errors"].tolist() == [5]


def test_ties(run_file):
    found = checked(run_file(TIED))
    assert found.ok
    assert (found.count("ties"), found.topics_with("ties")) == (3, 2)
    assert found.findings[0].message == (
        "3 documents (42.9% of lines) tied with the one before, in 2 of 2 topics (2 among the first 10); the largest "
        "group has 3"
    )
    assert checked(run_file(CLEAN)).findings == []


def test_a_tie_across_topics_is_none(run_file):
    assert checked(run_file("1 Q0 a 1 1.0 t\n2 Q0 b 1 1.0 t\n3 Q0 c 1 1.0 t\n")).count("ties") == 0


def test_ties_below_the_first_ten_are_told_apart(run_file):
    scores = [*range(20, 9, -1), 5, 5]  # ranks 12 and 13 are tied
    lines = [f"1 Q0 d{at} {at} {score} t\n" for at, score in enumerate(scores, 1)]
    assert "among the first" not in finding(run_file("".join(lines)), "ties").message
    scores = [*range(20, 10, -1), 11]  # ranks 10 and 11 are tied, so that it is open which is among the ten
    lines = [f"1 Q0 d{at} {at} {score} t\n" for at, score in enumerate(scores, 1)]
    assert "in 1 of 1 topics (1 among the first 10)" in finding(run_file("".join(lines)), "ties").message


def test_ties_that_only_single_precision_would_make(run_file):
    path = run_file("1 Q0 a 1 1.00000001 t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 1e-200 t\n1 Q0 d 4 1e-300 t\n")
    assert (checked(path).count("ties"), finding(path, "single_precision").count) == (0, 2)


def test_every_bad_line_is_reported(command, run_file):
    path = run_file(BROKEN)
    found = checked(path)
    assert {one.kind: (one.severity, list(one.places)) for one in found.findings} == {
        "bad_line": ("error", [f"{path}:1", f"{path}:4"]),
        "bad_score": ("error", [f"{path}:2"]),
        "duplicate": ("error", [f"{path}:3"]),
        "bad_rank": ("error", [f"{path}:8"]),
    }
    assert (found.lines, found.topics, found.errors, found.run, found.ok) == (6, 2, 5, "t", False)
    assert "already on line 1" in finding(path, "duplicate").examples[0]
    assert finding(path, "bad_line").share == 2 / 6
    _, out, _ = command("check", path)
    assert f"{path}:2: the score" in out
    (few,) = rb.check(path, examples=1)
    assert [list(one.places) for one in few.findings if one.kind == "bad_line"] == [[f"{path}:1"]]


def test_the_first_places_of_each_kind_are_those_of_the_file(run_file, monkeypatch):
    """Also where blocks of lines are read in any order, and short and overlong lines take turns."""
    monkeypatch.setattr(trec, "BLOCK_BYTES", 64)
    kinds = [
        "1 Q0 d{} 1 5 t",
        "1 Q0 d{} 1",
        "1 Q0 d{} 1 2 t more",
        "1 Q0 e{} 1 high t",
        "1 Q0 d1 1 5 t",
        "1 Q0 f{} x 1 t",
    ]
    lines = [kinds[number % len(kinds)].format(number) for number in range(1, 60)]
    path = run_file("1 Q0 d1 1 5 t\n" + "\n".join(lines) + "\n")
    found = checked(path, examples=4)
    where = {kind: [number + 1 for number in range(1, 60) if number % 6 in at] for kind, at in
             {"bad_line": (1, 2), "bad_score": (3,), "duplicate": (4,), "bad_rank": (5,)}.items()}  # fmt: skip
    assert {one.kind: (one.count, list(one.places)) for one in found.findings if one.severity == "error"} == {
        kind: (len(at), [f"{path}:{line}" for line in at[:4]]) for kind, at in where.items()
    }
    told = {one.kind: one.examples[0] for one in found.findings if one.examples}
    assert told["bad_line"].endswith("(topic Q0 document rank score tag), as in most lines, but found 4.")
    assert told["duplicate"] == 'document "d1" of topic "1" is listed already on line 1.'
    assert checked(path, examples=0).count("duplicate") == len(where["duplicate"])


def test_a_run_written_twice_takes_the_memory_of_reading(run_file):
    content = "".join(f"1 Q0 document-{doc} {doc} {-doc} t\n" for doc in range(100_000))
    paths = run_file(content + content.replace("document", "other-doc"), "once"), run_file(content * 2, "twice")
    peaks = []
    for path in paths:
        tracemalloc.start()
        try:
            found = checked(path)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert found.count("duplicate") == 100_000
    assert peaks[1] < 1.5 * peaks[0]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"\n\n", "no line of data"),
        (b"\x00\x01", "not a text file"),
        (b"1 0 a 1\n1 0 b 1\n", "looks like judgments"),
        (b"\x1f\x8b\x08junk", "damaged"),
        (b"1 a\n", "has 2"),
        (b"1 Q0 a 1 high t\n", 'score "high"'),
    ],
)
def test_a_file_that_cannot_be_used_at_all_is_one_error(command, tmp_path, content, told):
    (tmp_path / "bad").write_bytes(content)
    (tmp_path / "good").write_text(CLEAN)
    code, out, err = command("check", tmp_path, "--format", "json")
    assert (code, err) == (1, "")
    bad, good = json.loads(out)
    assert (bad["errors"], bad["ok"], good["errors"], good["ok"]) == (1, False, 0, True)
    code, out, _ = command("check", tmp_path)
    assert code == 1
    assert told in out
    assert "1 of 2 runs is ok." in out
    assert "clean: " not in out  # of several runs, those that fail alone are described


def test_a_run_in_memory_that_cannot_be_used_is_an_error():
    (found,) = rb.check({"q": {"a": float("nan")}})
    assert (found.ok, found.findings[0].kind) == (False, "unreadable")
    assert "not a finite number" in found.findings[0].examples[0]


def test_a_bad_first_line_does_not_hide_the_rest(run_file):
    found = checked(run_file("just words\n" + TIED))
    assert (found.errors, found.count("ties"), found.lines) == (1, 3, 8)


def test_line_order_against_score(run_file):
    path = run_file("1 Q0 a 1 1.0 t\n2 Q0 x 1 9.0 t\n1 Q0 b 2 2.0 t\n1 Q0 c 3 0.5 t\n")
    found = finding(path, "line_against_score")
    assert (found.count, found.severity) == (1, "warning")  # the lines of one topic need not stand together
    assert found.places == [f"{path}:3"]
    assert found.examples[0].startswith('document "b" of topic "1" has score 2, more than the 1 of')
    assert finding(path, "rank_against_score").count == 1
    assert checked(path).count("line_against_rank") == 0
    assert checked(path).ok
    assert not checked(path, strict=True).ok


def test_stated_rank_against_score(run_file):
    path = run_file("1 Q0 a 2 3.0 t\n1 Q0 b 1 2.0 t\n1 Q0 c 4 1.0 t\n1 Q0 d 3 1.0 t\n")
    found = checked(path)
    # tied ones may stand in any order of ranks
    assert (found.count("line_against_score"), found.count("rank_against_score")) == (0, 1)
    assert "has rank 1 and score 2" in finding(path, "rank_against_score").examples[0]
    assert checked(run_file("1 a 1.0\n1 b 0.5\n", "three")).findings == []


def test_equal_neighbours_contradict_nothing(run_file):
    path = run_file("1 Q0 a 1 3 t\n1 Q0 b 1 3 t\n1 Q0 c 2 1 t\n2 Q0 a 1 9 t\n")
    kinds = ("rank_against_score", "line_against_score", "line_against_rank")
    assert [checked(path).count(kind) for kind in kinds] == [0, 0, 0]


def test_line_order_against_stated_rank(run_file):
    path = run_file("1 Q0 a 2 3.0 t\n2 Q0 x 1 1.0 t\n1 Q0 b 1 3.0 t\n1 Q0 c 3 1.0 t\n")
    found = finding(path, "line_against_rank")
    assert (found.count, found.severity, found.places) == (1, "warning", [f"{path}:3"])
    assert found.examples == ['document "b" of topic "1" has rank 1, the one above 2.']


def test_two_lines_out_of_order_are_named(run_file):
    path = run_file("1 Q0 a 1 5.1 t\n1 Q0 b 3 4.2e-05 t\n1 Q0 c 2 3.0 t\n1 Q0 d 4 2.0 t\n1 Q0 e 5 2.5 t\n")
    found = finding(path, "line_against_score")
    assert (found.count, found.severity, found.places) == (2, "warning", [f"{path}:3", f"{path}:5"])
    assert found.examples[0] == 'document "c" of topic "1" has score 3, more than the 4.2e-05 of the one above.'


@pytest.mark.parametrize("option", ["--qrels", "--topics-file", "--corpus"])
def test_a_broken_input_that_is_no_submission_is_bad_data(command, run_file, option):
    assert command("check", run_file(CLEAN), option, run_file("", "empty"))[0] == 3


def test_a_missing_file_is_bad_data(command, tmp_path):
    assert command("check", tmp_path / "nothing") == (
        3,
        "",
        f"rankbounds: {tmp_path / 'nothing'}: there is no such file.\n",
    )


def test_a_folder_of_runs_has_a_summary(command, tmp_path):
    (tmp_path / "clean").write_text(CLEAN)
    (tmp_path / "tied").write_text(TIED)
    _, out, _ = command("check", tmp_path)
    words, _, header, clean, tied = out.splitlines()
    assert (header.split()[-2:], clean.split()[-1], tied.split()[-2:]) == (["tied", "docs"], "0", ["3", "(42.9%)"])
    assert words == "2 of 2 runs are ok."
    _, out, _ = command("check", tmp_path, "--format", "csv")
    assert out.splitlines()[0] == ",".join([*KEYS[:-1], "ties"])
    assert len(out.splitlines()) == 3


class TestTopics:
    """Against a list of topics, or judgments."""

    def test_missing_and_foreign_topics(self, run_file):
        path = run_file(CLEAN)
        missing = finding(path, "missing_topics", topics=["1", "3", "4"])
        assert (missing.severity, missing.count, missing.share) == ("error", 2, 2 / 3)
        assert missing.message == "2 topics (66.7% of topics) missing: 3, 4"
        foreign = finding(path, "foreign_topics", topics=["1", "3", "4"])
        assert (foreign.severity, foreign.count, foreign.places) == ("error", 1, [f"{path}:3"])
        assert checked(path, topics=["1", "2"]).findings == []

    def test_topics_that_nobody_judged_are_a_warning(self, run_file):
        found = finding(run_file(CLEAN), "foreign_topics", {"1": {"a": 1}})
        assert (found.severity, found.message) == (
            "warning",
            "1 topic (50.0% of topics) not asked for (nobody judged it)",
        )
        assert checked(run_file(CLEAN), {"1": {"a": 1}}, topics=["1", "2"]).count("foreign_topics") == 0

    def test_topics_that_are_written_otherwise(self, run_file):
        found = finding(run_file(CLEAN), "missing_topics", topics=["01", "2"])
        assert '"1" and "01" differ in leading zeros' in found.message

    @pytest.mark.parametrize(
        "text",
        ["1\n3\n", "1\tfirst query\n3\tsecond\n", '{"_id": "1", "text": "a"}\n{"_id": "3", "text": "b"}\n',
         "<top><num> Number: 1\n<title> a\n</top>\n<top><num> Number: 3\n<title> b\n</top>\n"],
    )  # fmt: skip
    def test_a_file_of_topics(self, command, run_file, text):
        code, out, _ = command("check", run_file(CLEAN), "--topics-file", run_file(text, "topics"))
        assert code == 1
        assert "missing: 3\n" in out
        assert "1 topic (50.0% of topics) not asked for" in out

    def test_too_many_documents(self, command, run_file):
        path = run_file(TIED)
        found = finding(path, "too_many", depth=3)
        assert (found.severity, found.count, found.places) == ("error", 1, [f"{path}:4"])
        assert found.examples == ['topic "1" has 4 documents.']
        assert command("check", path, "--depth", "3")[0] == 1
        assert command("check", path, "--depth", "4")[0] == 0
        assert command("check", path, "--depth", "0")[0] == 2
        with pytest.raises(rb.UsageError, match="whole number from 1 on"):
            rb.check(path, depth=0)

    def test_empty_lists(self):
        (found,) = rb.check({"q": {}, "p": {"a": 1.0}})
        assert [(one.kind, one.severity, one.count) for one in found.findings] == [("empty", "warning", 1)]


class TestWithJudgments:
    """What ties do to scores: hand-made runs of two documents, of which one is relevant."""

    qrels = "1 0 a 1\n1 0 b 0\n2 0 a 1\n"
    runs = {  # noqa: RUF012
        "open": "1 Q0 a 1 1.0 open\n1 Q0 b 2 1.0 open\n2 Q0 a 1 1.0 open\n",  # RR 0.5 or 1, and 1
        "sure": "1 Q0 a 1 2.0 sure\n1 Q0 b 2 1.0 sure\n2 Q0 a 1 1.0 sure\n",
        "half": "1 Q0 b 1 2.0 half\n1 Q0 a 2 1.0 half\n2 Q0 z 1 1.0 half\n2 Q0 a 2 0.5 half\n",
        "short": "1 Q0 b 1 2.0 short\n1 Q0 a 2 1.0 short\n",
    }

    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "runs").mkdir()
        for name, text in self.runs.items():
            (tmp_path / "runs" / name).write_text(text)
        (tmp_path / "qrels").write_text(self.qrels)
        return tmp_path

    def test_effects_and_places(self, folder):
        found = rb.check([folder / "runs"], folder / "qrels", measures=["RR"])
        by_name = {one.run: one for one in found}
        effect = by_name["open"].effects[0]
        assert (effect.value, effect.expected, effect.low, effect.high) == (0.75, 0.875, 0.75, 1.0)
        assert by_name["open"].findings[0].message.endswith("; their order can move RR by 0.2500")
        assert by_name["short"].count("missing_topics") == 1
        assert not by_name["short"].ok
        assert (by_name["half"].judged, by_name["sure"].judged) == (pytest.approx(0.75), 1)
        ranking = {row["run"]: (row["place"], row["highest_place"], row["lowest_place"]) for row in found.ranking()}
        assert ranking == {"sure": (1, 1, 1), "open": (2, 1, 2), "half": (3, 3, 3), "short": (4, 4, 4)}
        told = found.words_of_ties()
        assert "the places of 1 of 4 runs depend on how ties are broken" in told
        assert "open, which is in place 2 and could be anywhere from 1 to 2" in told

    def test_no_place_depends_on_ties(self, folder):
        found = rb.check([folder / "runs" / "sure", folder / "runs" / "half"], qrels=folder / "qrels", measures="RR")
        assert found.words_of_ties() == "By RR, no run's place depends on how ties are broken."

    def test_command(self, command, folder):
        runs, qrels = folder / "runs", folder / "qrels"
        _, out, _ = command("check", runs, "--qrels", qrels, "-m", "RR", "-m", "AP")
        assert out.startswith("3 of 4 runs are ok.\n")
        assert "ties move RR" in out.splitlines()[2]
        assert "By RR, the places of" in out
        assert "Places by AP depend on it, too." in out
        _, out, _ = command("check", runs, "--qrels", qrels, "-m", "RR", "--format", "json")
        row = next(row for row in json.loads(out) if row["run"] == "open")
        assert list(row) == [*KEYS[:-1], "judged", "ties_move", "findings"]
        assert row["ties_move"] == {"RR": 0.25}
        (runs / "bad").write_text("")
        (runs / "other").write_text("9 Q0 a 1 1.0 other\n")
        code, out, _ = command("check", runs, "--qrels", qrels, "-m", "RR", "--format", "csv")
        assert code == 1
        header = [*KEYS[:-1], "judged", "unreadable", "missing_topics", "foreign_topics", "ties", "ties_move RR"]
        assert out.splitlines()[0] == ",".join(header)
        assert "2 topics (100.0% of topics) missing: 1, 2" in command("check", runs, "--qrels", qrels)[1]

    def test_a_run_without_a_judged_document(self, run_file):
        lines = "".join(f"1 Q0 x-{number} {number} {-number} t\n" for number in range(1, 31))
        found = finding(run_file(lines), "none_judged", {"1": {"1": 1}})
        assert found.severity == "warning"
        assert "prefix" in found.examples[0]


def test_the_runs_of_trec_8(unpacked):
    """113 of the 129 runs have lines in another order than their stated ranks."""
    found = rb.check(unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc" / "runs", depth=1000)
    contradicting = [one.count("line_against_rank") for one in found if one.count("line_against_rank")]
    assert (len(found), len(contradicting), sum(contradicting)) == (129, 113, 405_762)
    assert found.ok
    by_name = {one.run: one for one in found}
    assert by_name["UB99T"].count("line_against_score") == 16
    assert by_name["UB99SW"].count("ties") / by_name["UB99SW"].lines == pytest.approx(0.988, abs=5e-4)


def test_what_is_wrong_with_a_file_has_its_place_whatever_the_file_is_called(tmp_path):
    path = tmp_path / "my: run"
    path.write_text('[{"qid": 1,')
    found = finding(path, "unreadable")
    assert found.places == [str(path)]


def test_judgments_among_the_runs_are_not_said_to_come_first(command, tmp_path):
    """check takes them by an option; alone they are described."""
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    (tmp_path / "run.txt").write_text(CLEAN)
    _, out, _ = command("check", tmp_path / "run.txt", tmp_path / "qrels.txt")
    assert "this looks like judgments" in out
    assert "--qrels" in out


def test_every_kind_has_a_severity():
    assert {kind.severity for kind in KINDS.values()} == {"error", "warning", "note"}


@pytest.mark.parametrize("line", ["1 Q0 d 1 {} t", "1 Q0 {0} 2 0.5 t\n1 Q0 {0} 3 0.4 t", "{}"])
def test_long_lines_are_named_in_short(line, tmp_path):
    path = tmp_path / "long.run"
    path.write_text("1 Q0 d0 1 1 t\n" + line.format("x" * 70_000) + "\n")
    words = rb.check(path).words()
    assert f"{path}:{len(line.splitlines()) + 1}: " in words
    assert len(words) < 2_000
