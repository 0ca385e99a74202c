"""The diagnosis of run files, by hand-made files with known faults."""

from __future__ import annotations

import json

import pytest

import rankbounds as rb
from rankbounds.checking.diagnoses import in_words, places
from rankbounds.errors import Place

KEYS = [
    "run", "file", "lines", "topics", "errors", "tied_documents", "tied_topics", "contradictions_rank",
    "contradictions_line", "largest_group",
]  # fmt: skip
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


def diagnosis(path, **options):
    (found,) = rb.check(path, **options)
    return found


def test_json_has_the_promised_keys(command, run_file):
    code, out, err = command("check", run_file(TIED), "--format", "json")
    assert (code, err) == (0, "")
    (row,) = json.loads(out)
    assert list(row) == KEYS
    assert (row["run"], *list(row.values())[2:]) == ("tied", 7, 2, 0, 3, 2, 0, 0, 3)


def test_ties(run_file):
    found = diagnosis(run_file(TIED))
    assert found.group_sizes == {3: 1, 2: 1}
    assert found.tied_topics_top10 == 2
    assert found.sound
    assert diagnosis(run_file(CLEAN)).largest_group == 1


def test_a_tie_across_topics_is_none(run_file):
    found = diagnosis(run_file("1 Q0 a 1 1.0 t\n2 Q0 b 1 1.0 t\n3 Q0 c 1 1.0 t\n"))
    assert (found.tied_documents, found.tied_topics, found.largest_group) == (0, 0, 1)


def test_ties_below_the_first_ten_are_told_apart(run_file):
    scores = [*range(20, 9, -1), 5, 5]  # ranks 12 and 13 are tied
    lines = [f"1 Q0 d{at} {at} {score} t\n" for at, score in enumerate(scores, 1)]
    assert diagnosis(run_file("".join(lines))).tied_topics_top10 == 0
    scores = [*range(20, 10, -1), 11]  # ranks 10 and 11 are tied, so that it is open which is among the ten
    lines = [f"1 Q0 d{at} {at} {score} t\n" for at, score in enumerate(scores, 1)]
    assert diagnosis(run_file("".join(lines))).tied_topics_top10 == 1


def test_ties_that_only_single_precision_would_make(run_file):
    found = diagnosis(run_file("1 Q0 a 1 1.00000001 t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 1e-200 t\n1 Q0 d 4 1e-300 t\n"))
    assert (found.tied_documents, found.single_precision_ties) == (0, 2)


def test_every_bad_line_is_reported(command, run_file):
    path = run_file(BROKEN)
    found = diagnosis(path)
    assert [(problem.kind, problem.place) for problem in found.problems] == [
        (kind, Place(str(path), line=line))
        for kind, line in (("fields", 1), ("score", 2), ("duplicate", 3), ("fields", 4), ("rank", 8))
    ]  # fmt: skip
    assert (found.lines, found.topics, found.errors, found.run) == (6, 2, 5, "t")
    assert "first on line 1" in found.problems[2].message
    assert found.contradictions_rank is None
    details = json.loads(command("check", path, "--format", "json", "--details")[1])[0]
    assert (details["duplicates"], details["bad_lines"]) == (1, 4)
    assert len(details["problems"]) == 5
    _, out, _ = command("check", path, "--examples", "2")
    assert f"{path}:2: the score" in out
    assert "and 3 more" in out


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
    assert (code, err) == (0, "")
    bad, good = json.loads(out)
    assert (bad["errors"], good["errors"]) == (1, 0)
    code, out, _ = command("check", tmp_path, "--strict")
    assert code == 1
    assert told in out
    assert out.count(str(tmp_path / "bad")) == 1


def test_a_bad_first_line_does_not_hide_the_rest(run_file):
    found = diagnosis(run_file("just words\n" + TIED))
    assert (found.errors, found.tied_documents, found.lines) == (1, 3, 8)


def test_line_order_against_score(run_file):
    path = run_file("1 Q0 a 1 1.0 t\n2 Q0 x 1 9.0 t\n1 Q0 b 2 2.0 t\n1 Q0 c 3 0.5 t\n")
    found = diagnosis(path)
    assert found.contradictions_line == 1  # the lines of one topic need not stand together
    assert found.examples["line"][0].startswith(f'{path}:3: document "b" of topic "1" has score 2.0, more than the 1.0')
    assert found.contradictions_rank == 1
    assert not found.sound


def test_stated_rank_against_score(run_file):
    path = run_file("1 Q0 a 2 3.0 t\n1 Q0 b 1 2.0 t\n1 Q0 c 4 1.0 t\n1 Q0 d 3 1.0 t\n")
    found = diagnosis(path)
    assert (found.contradictions_line, found.contradictions_rank) == (0, 1)  # tied ones may stand in any order
    assert "has rank 1 and score 2" in found.examples["rank"][0]
    assert diagnosis(run_file("1 a 1.0\n1 b 0.5\n", "three")).contradictions_rank is None


@pytest.mark.parametrize("bad", ["", "1 Q0 z 9\n"])
def test_scores_sorted_as_if_exponents_were_not_there(run_file, bad):
    path = run_file("1 Q0 a 1 5.1 t\n1 Q0 b 3 4.2e-05 t\n1 Q0 c 2 3.0 t\n1 Q0 d 4 2.0 t\n1 Q0 e 5 2.5 t\n" + bad)
    found = diagnosis(path)
    assert (found.contradictions_line, found.exponent_mistakes) == (2, 1)
    assert "3.0, more than the 4.2e-05 of the one above, unless exponents are ignored" in found.examples["line"][0]
    assert "exponents" not in found.examples["line"][1]
    negative = diagnosis(run_file("355 Q0 a 1 -1.37 t\n355 Q0 b 2 -7.763e-05 t\n", "negative"))
    assert negative.exponent_mistakes == 1


@pytest.mark.parametrize(
    ("ranks", "topics"),
    [((1, 2, 3), 0), ((0, 1, 2), 0), ((1, 2, 4), 1), ((2, 3, 4), 1), ((1, 2, 2), 1), ((-1, 0, 1), 1)],
)
def test_gaps_in_stated_ranks(run_file, ranks, topics):
    lines = [f"1 Q0 d{at} {rank} {-at} t\n" for at, rank in enumerate(ranks)]
    assert diagnosis(run_file("".join(lines))).rank_gap_topics == topics


def test_strict(command, run_file):
    assert command("check", run_file(CLEAN), "--strict")[0] == 0
    assert command("check", run_file(TIED), "--strict")[0] == 0
    assert command("check", run_file(BROKEN))[0] == 0
    assert command("check", run_file(BROKEN), "--strict")[0] == 1
    assert command("check", run_file("1 Q0 a 1 1.0 t\n1 Q0 b 2 2.0 t\n"), "--strict")[0] == 1


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
    assert "Ties: in 1 of 2 runs (50.0%), 50.0% of all run-topics, 27.3% of all lines." in out
    _, out, _ = command("check", tmp_path, "--format", "csv")
    assert out.splitlines()[0] == ",".join(KEYS)
    assert len(out.splitlines()) == 3


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
        found = rb.check([folder / "runs"], qrels=folder / "qrels", measures=["RR"])
        by_name = {one.run: one for one in found}
        effect = by_name["open"].effects[0]
        assert (effect.value, effect.expected, effect.low, effect.high) == (0.75, 0.875, 0.75, 1.0)
        assert by_name["short"].missing_topics == ["2"]
        assert not by_name["short"].sound
        assert (by_name["half"].judged, by_name["sure"].judged) == (pytest.approx(0.75), 1)
        assert by_name["sure"].residual == pytest.approx((0.8**2 + 0.8) / 2)
        ranking = {row["run"]: (row["place"], row["highest_place"], row["lowest_place"]) for row in places(found)}
        assert ranking == {"sure": (1, 1, 1), "open": (2, 1, 2), "half": (3, 3, 3), "short": (4, 4, 4)}
        told = in_words(places(found))
        assert "the places of 1 of 4 runs depend on how ties are broken" in told
        assert "open, which stands in place 2 and could stand anywhere from 1 to 2" in told

    def test_no_place_depends_on_ties(self, folder):
        found = rb.check([folder / "runs" / "sure", folder / "runs" / "half"], qrels=folder / "qrels", measures="RR")
        assert in_words(places(found)) == "By RR, no run's place depends on how ties are broken."

    def test_command(self, command, folder):
        _, out, _ = command("check", folder / "runs", "--qrels", folder / "qrels", "-m", "RR", "-m", "AP")
        assert "ties move RR" in out.splitlines()[0]
        assert "By AP, the places of" in out
        _, out, _ = command("check", folder / "runs", "--qrels", folder / "qrels", "-m", "RR", "--format", "json")
        row = next(row for row in json.loads(out) if row["run"] == "open")
        assert list(row) == [*KEYS, "judged", "residual", "missing_topics", "ties_move"]
        assert row["ties_move"] == {"RR": 0.25}
        (folder / "runs" / "bad").write_text("")
        (folder / "runs" / "other").write_text("9 Q0 a 1 1.0 other\n")
        code, out, _ = command("check", folder / "runs", "--qrels", folder / "qrels", "-m", "RR", "--format", "csv")
        assert code == 0
        assert out.splitlines()[0].endswith("judged,residual,ties_move RR")
        assert (
            "no topic of this run is among the judged"
            in command("check", folder / "runs", "--qrels", folder / "qrels")[1]
        )


def test_real_runs(unpacked):
    folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc" / "runs"
    found = {one.run: one for one in rb.check([folder / "input.UB99T", folder / "input.UB99SW"])}
    assert found["UB99T"].exponent_mistakes == found["UB99T"].contradictions_line == 16
    assert found["UB99SW"].tied_documents / found["UB99SW"].lines == pytest.approx(0.988, abs=5e-4)


def test_what_is_wrong_with_a_file_has_its_place_whatever_the_file_is_called(tmp_path):
    path = tmp_path / "my: run"
    path.write_text('[{"qid": 1,')
    (found,) = rb.check(str(path))
    (problem,) = found.problems
    assert (problem.kind, problem.place) == ("file", Place(str(path)))
    assert str(problem) == f"{path}: {problem.message}"
    path.write_text("1 Q0 a 1 2 t\n")
    (found,) = rb.check(str(path), qrels={"other": {"a": 1}})
    (problem,) = found.problems
    assert (problem.kind, problem.place) == ("file", Place(str(path)))
    assert problem.message.startswith("no topic of this run is among the judged ones")


def test_judgments_among_the_runs_are_not_said_to_come_first(command, tmp_path):
    """check takes them by an option."""
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    _, out, _ = command("check", tmp_path / "qrels.txt")
    assert "this looks like judgments" in out
    assert "--qrels" in out
