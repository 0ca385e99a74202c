"""Files of judgments that people judge into: every byte stays but that of the judgment, and undo brings all back."""

from __future__ import annotations

import os
import random
import stat

import pytest

import rankbounds as rb
from rankbounds.desk.desk import Desk, Settings, grades_from
from rankbounds.desk.journal import Journal
from rankbounds.desk.judgment_file import JudgmentFile
from rankbounds.errors import DataError, UsageError
from rankbounds.files.queries import QueryText, read_query_texts

NEW = ("1", "new")
CASES = {
    "lines": (b"1 0 a 1\n1 0 b 0\n", b"1 0 a 1\n1 0 b 0\n1 0 new 1\n"),
    "carriage returns": (b"1 0 a 1\r\n1 0 b 0\r\n", b"1 0 a 1\r\n1 0 b 0\r\n1 0 new 1\r\n"),
    "no newline at the end": (b"1 0 a 1\n1 0 b 0", b"1 0 a 1\n1 0 b 0\n1 0 new 1"),
    "one line only": (b"1 0 a 1", b"1 0 a 1\n1 0 new 1"),
    "tabs": (b"1\t0\ta\t1\n", b"1\t0\ta\t1\n1\t0\tnew\t1\n"),
    "empty lines at the end": (b"1 0 a 1\n\n\n", b"1 0 a 1\n\n\n1 0 new 1\n"),
    "byte order mark": (b"\xef\xbb\xbf1 0 new -1\n1 0 a 1\n", b"\xef\xbb\xbf1 0 new 1\n1 0 a 1\n"),
    "pooled, with blanks": (b"# 0 new -1\n1\t0  new -1  \n1 0 a 1", b"# 0 new -1\n1\t0  new 1  \n1 0 a 1"),
    "byte order mark, a new line": (b"\xef\xbb\xbf1 0 a 1\n", b"\xef\xbb\xbf1 0 a 1\n1 0 new 1\n"),
    "byte order mark before a table": (
        b"\xef\xbb\xbfquery_id,doc_id,relevance\n1,a,1\n",
        b"\xef\xbb\xbfquery_id,doc_id,relevance\n1,a,1\n1,new,1\n",
    ),
    "a bare carriage return at the end": (b"1 0 a 1\n1 0 b 0\r", b"1 0 a 1\n1 0 b 0\r\n1 0 new 1"),
    "a bare carriage return behind others": (b"1 0 a 1\r\n1 0 b 0\r", b"1 0 a 1\r\n1 0 b 0\r\r\n1 0 new 1"),
    "a bare carriage return behind the grade": (b"1 0 a 1\n1 0 new -1\r", b"1 0 a 1\n1 0 new 1\r"),
    "a bare carriage return behind a table": (
        b"query_id,doc_id,relevance\n1,a,1\r", b"query_id,doc_id,relevance\n1,a,1\r\n1,new,1",
    ),
    "bytes": (b"1 0 \xe9 1\n", b"1 0 \xe9 1\n1 0 new 1\n"),
    "nothing": (b"", b"1 0 new 1\n"),
    "csv": (b"query_id,doc_id,relevance\n1,a,1\n", b"query_id,doc_id,relevance\n1,a,1\n1,new,1\n"),
    "csv with more columns": (
        b'doc_id,note,query_id,relevance\r\na,"x, ""y""\r\nz",1,2\r\nnew,"keep, me", 1 ,\r\n',
        b'doc_id,note,query_id,relevance\r\na,"x, ""y""\r\nz",1,2\r\nnew,"keep, me", 1 ,1\r\n',
    ),
    "csv in quotes": (
        b'"query_id","doc_id","relevance"\n"1","a","1"\n"1","new",""\n',
        b'"query_id","doc_id","relevance"\n"1","a","1"\n"1","new","1"\n',
    ),
    "csv with short rows": (
        b"query_id,doc_id,relevance,note\n1,a,1\n1,new\n", b"query_id,doc_id,relevance,note\n1,a,1\n1,new,1\n",
    ),
    "csv with who judged": (
        b"query_id,doc_id,relevance,judge\n1,a,1,bob\n", b"query_id,doc_id,relevance,judge\n1,a,1,bob\n1,new,1,ann\n",
    ),
    "tsv": (b"query_id\tdoc_id\trelevance\n1\ta\t1", b"query_id\tdoc_id\trelevance\n1\ta\t1\n1\tnew\t1"),
    "quepid": (b"query,docid,rating\n1,a,3\n1,new,\n", b"query,docid,rating\n1,a,3\n1,new,1\n"),
    "quepid, unrated": (b"query,docid,rating\n1,new,\n", b"query,docid,rating\n1,new,1\n"),
    "quepid's snapshot": (
        b"Snapshot Name,Query Text,Doc ID,Doc Position,Rating\ns,1,a,1,2\n",
        b"Snapshot Name,Query Text,Doc ID,Doc Position,Rating\ns,1,a,1,2\n,1,new,,1\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_judgment_changes_its_own_bytes_alone(tmp_path, case):
    before, after = CASES[case]
    path = tmp_path / "judgments"
    path.write_bytes(before)
    file = JudgmentFile(path)
    line = file.line(NEW)
    file.reject_unheld(NEW, 1.0, "ann")
    file.put(NEW, 1.0, "ann")
    assert file.content() == after
    file.write(file.content())
    assert rb.read_qrels(path).to_dict()["1"]["new"] == 1
    file.put(NEW, 2.5, "ann")  # a change of mind
    file.take_back(NEW, line)
    assert file.content() == before


def test_labels_of_several_sources_stay_apart(tmp_path):
    path = tmp_path / "labels.csv"
    before = b"query_id,doc_id,relevance,source\n1,a,1,llm\n1,new,0,llm\n1,a,0,human\n"
    path.write_bytes(before)
    file = JudgmentFile(path, source="human")
    assert (file.grade(("1", "a")), file.grade(NEW)) == (0, None)
    file.put(NEW, 1.0, "ann")
    assert file.content() == before + b"1,new,1,human\n"


def test_whatever_is_taken_back_leaves_what_was_there(tmp_path):
    """Many judgments given, changed and taken back in any order: the file is as if only the others were given."""
    draw = random.Random(5)
    for round_number in range(60):
        end = draw.choice([b"\n", b"\r\n"])
        rows = [(str(draw.randint(1, 3)), f"d{number}", draw.choice(["-1", "0", "1"])) for number in range(6)]
        if round_number % 2:
            lines = [b"1 2 3".join([b"#", b""]), *(f"{query} 0 {doc} {grade}".encode() for query, doc, grade in rows)]
        else:
            lines = [
                b"query_id,doc_id,x,relevance",
                *(f"{query},{doc},,{'' if grade == '-1' else grade}".encode() for query, doc, grade in rows),
            ]
        base = end.join(lines) + draw.choice([b"", end])
        path = tmp_path / "judgments"
        path.write_bytes(base)
        file = JudgmentFile(path)
        unjudged = [(query, doc) for query, doc, grade in rows if grade == "-1"] + [("1", "x"), ("2", "y"), ("9", "z")]
        before, given = {}, {}
        for _ in range(30):
            pair = draw.choice(unjudged)
            if pair in given and draw.random() < 0.5:
                file.take_back(pair, before.pop(pair))
                del given[pair]
            else:
                if pair not in given:
                    before[pair] = file.line(pair)
                given[pair] = float(draw.randint(0, 3))
                file.put(pair, given[pair], "ann")
        again = JudgmentFile(path)  # given once each, in the order of those that stay
        for pair, grade in given.items():
            again.put(pair, grade, "ann")
        assert sorted(again.content().splitlines()) == sorted(file.content().splitlines())
        assert again.content().endswith((b"\n",)) == file.content().endswith((b"\n",))
        path.write_bytes(file.content())
        held = JudgmentFile(path)
        assert {pair: held.grade(pair) for pair in given} == given
        for pair in list(given):
            file.take_back(pair, before.pop(pair))
        assert file.content() == base


@pytest.mark.parametrize(
    ("content", "topic", "doc", "reason"),
    [
        (b"1 0 a 1\n", "1", "a b", "holds a blank"),
        (b"1 0 a 1\n", "1\n2", "a", "holds a line break"),
        (b"1 0 a 1\n", "#x", "a", "comments"),
        (b"1 0 a 1\n", "1", "\ud800", "half a character"),
        (b"1 0 a 1\n", "\ufeff1", "a", "byte order mark"),
        (b"1 0 a 1\n", "1", "a\x1f", "control character"),
        (b"1 0 a 1\n", "", "a", "is empty"),
        (b"query,docid,rating\n1,a,1\n", "x\n", "a", "begins or ends"),
        (b"query,docid,rating\n1,a,1\n", "x\ny", "a", "line break"),
        (b"query,docid,rating\n1,a,1\n", "caf\udce9", "a", "UTF-8"),
        (b"", "query_id,doc_id,relevance", "x", "read back"),
    ],
)  # fmt: skip
def test_ids_that_the_file_cannot_hold_are_refused(tmp_path, content, topic, doc, reason):
    path = tmp_path / "judgments"
    path.write_bytes(content)
    file = JudgmentFile(path)
    with pytest.raises((UsageError, DataError), match=reason):
        file.reject_unheld((topic, doc), 1.0, "ann")
    assert file.content() == content


def test_ids_that_a_table_quotes_come_back(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"query,docid,rating\nfirst,a,1\n")
    file = JudgmentFile(path)
    pair = ('red, "flat" shoes', "http://x/?a=1,2")
    file.reject_unheld(pair, 3.0, "ann")
    file.put(pair, 3.0, "ann")
    file.write(file.content())
    assert rb.read_qrels(path).to_dict()[pair[0]][pair[1]] == 3
    assert JudgmentFile(path).grade(pair) == 3


@pytest.mark.parametrize(
    "content",
    [
        b"1 0 a yes\n", b"\x1f\x8b\x08junk", b"PAR1", b'{"1": {"a": 1}}', b"1 0 a 1\n1 0 a 2\n", b"1 0 a high 1\n",
        b"query_id,doc_id,relevance\n1,a,good\n", b"query_id,doc_id,relevance\n1,a,1,2\n", b"1 qid:1 1:1 # a\n",
    ],
)  # fmt: skip
def test_files_that_take_no_judgments_are_told(tmp_path, content):
    path = tmp_path / "judgments"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="--read-only"):
        JudgmentFile(path)


def test_links_modes_and_other_names_stay(tmp_path):
    (tmp_path / "kept").mkdir()
    real = tmp_path / "kept" / "qrels.txt"
    real.write_text("1 0 a 1\n")
    real.chmod(0o600)
    (tmp_path / "link").symlink_to("kept/qrels.txt")
    desk = Desk(JudgmentFile(tmp_path / "link"))
    desk.judge("ann", ("1", "b"), 1.0)
    desk.close()
    assert (tmp_path / "link").is_symlink()
    assert real.read_text() == "1 0 a 1\n1 0 b 1\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert {path.name for path in real.parent.iterdir()} == {"qrels.txt", "qrels.txt.journal.jsonl"}


def test_files_and_folders_that_may_only_be_read_are_told_at_the_start(tmp_path, monkeypatch):
    """The system is asked by name, so that root, who may write everywhere, can test it too."""
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n")
    (tmp_path / "link").symlink_to("qrels.txt")
    may_write = os.access
    for denied in (path, tmp_path):
        monkeypatch.setattr(os, "access", lambda one, mode, no=denied: str(one) != str(no) and may_write(one, mode))
        for name in ("qrels.txt", "link"):
            with pytest.raises(DataError, match=rf"{name}: cannot be written \(Permission denied\). Use --read-only"):
                JudgmentFile(tmp_path / name)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "qrels.txt"]


CONTROL = ["\x00", "\x1b", "\x7f", "\x85", "\u2028", "\t", "\n", "\r"]


@pytest.mark.parametrize("odd", CONTROL, ids=ascii)
@pytest.mark.parametrize("content", [b"1 0 a 1\n", b"query_id,doc_id,relevance\n1,a,1\n"], ids=["trec", "csv"])
def test_control_characters_in_ids_come_back_or_are_refused(tmp_path, content, odd):
    path, pair = tmp_path / "judgments", (f"1{odd}2", f"a{odd}b")
    path.write_bytes(content)
    desk = Desk(JudgmentFile(path), Settings(grades=grades_from("3")))
    if odd in "\x00\n\r" or (content.startswith(b"1") and odd < " "):
        with pytest.raises((UsageError, DataError), match="cannot hold it"):
            desk.judge("ann", pair, 2.0)
        desk.close()
        assert path.read_bytes() == content
        return
    desk.judge("ann", pair, 2.0)
    desk.close()
    assert rb.read_qrels(path).to_dict()[pair[0]][pair[1]] == 2
    journal = Journal(path)
    assert [entry.pair for entry in journal.entries] == [pair]
    journal.close()


# ---- the journal ----


@pytest.fixture
def path(tmp_path):
    held = tmp_path / "qrels.txt"
    held.write_bytes(b"1 0 a 1\n1 0 pooled -1\n1 0 last 0")
    return held


def desk_of(path, **settings):
    return Desk(JudgmentFile(path), Settings(grades=grades_from("3"), **settings))


def test_what_the_journal_has_comes_back(path):
    first = path.read_bytes()
    desk = desk_of(path)
    desk.judge("ann", ("1", "pooled"), 2.0)
    desk.judge("ann", ("1", "new"), 1.0)
    desk.undo("ann")
    desk.skip("ann", ("1", "later"))
    desk.close()
    written = path.read_bytes()
    assert written == first.replace(b"-1", b"2")
    path.write_bytes(first)  # as if the process had been killed before the file was written
    desk = desk_of(path)
    assert desk.journal.has_skipped("ann", ("1", "later"))
    desk.undo("ann")
    assert not desk.journal.has_skipped("ann", ("1", "later"))
    desk.write()
    assert path.read_bytes() == written
    desk.undo("ann")
    desk.close()
    assert path.read_bytes() == first


@pytest.mark.parametrize("cut", range(1, 120, 7))
def test_a_torn_line_is_passed_over(path, cut):
    desk = desk_of(path)
    desk.judge("ann", ("1", "new"), 1.0, "key")
    desk.close()
    journal = path.with_name("qrels.txt.journal.jsonl")
    whole = journal.read_bytes()
    line = whole.splitlines(keepends=True)[0].replace(b"new", b"torn")
    journal.write_bytes(whole + line[:cut])
    desk = desk_of(path)
    assert [entry.pair for entry in desk.journal.judged()] == [("1", "new")]
    desk.judge("ann", ("1", "more"), 2.0)
    desk.close()
    again = Journal(path)
    assert (again.unreadable, [entry.pair[1] for entry in again.entries]) == (1, ["new", "more"])
    again.close()


def test_a_full_disk_saves_nothing_and_says_so(path, monkeypatch):
    desk = desk_of(path)
    desk.judge("ann", ("1", "new"), 1.0)
    before = desk.journal.path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    desk.write()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=r"could not be saved.*No space left"):
            desk.judge("ann", ("1", "b"), 1.0)
    assert desk.file.grade(("1", "b")) is None
    desk.judge("ann", ("1", "b"), 2.0)
    desk.close()
    lines = desk.journal.path.read_bytes().removeprefix(before).splitlines()
    assert [b'"grade": 2.0' in line for line in lines if b"grade" in line] == [True]
    assert rb.read_qrels(path).to_dict()["1"]["b"] == 2


def test_a_file_that_cannot_be_written_is_told_and_written_later(path, monkeypatch):
    monkeypatch.setattr("rankbounds.desk.desk.PATIENCE", 0.01)
    desk = desk_of(path)

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr("rankbounds.files.writing._new_copy", refused)
        desk.judge("ann", ("1", "new"), 1.0)
        assert not desk.write()
        trouble = desk.progress("ann")["trouble"]
        assert "Permission denied" in trouble
        assert "qrels.txt.journal.jsonl" in trouble
    desk.close()
    assert rb.read_qrels(path).to_dict()["1"]["new"] == 1
    assert desk.trouble is None


def test_a_journal_is_of_one_server(path):
    desk = desk_of(path)
    with pytest.raises(UsageError, match="another server"):
        Journal(path)
    desk.journal.path.rename(path.with_name("elsewhere"))
    with pytest.raises(DataError, match="could not be saved"):
        desk.judge("ann", ("1", "new"), 1.0)
    desk.close()


def test_what_others_write_into_the_file_stays(path):
    desk = desk_of(path)
    desk.judge("ann", ("1", "new"), 1.0)
    desk.write()
    path.write_bytes(path.read_bytes() + b"\n1 0 theirs 3\n")
    _, note = desk.judge("ann", ("1", "theirs"), 0.0)
    assert "grade 3" in note
    desk.judge("ann", ("2", "b"), 2.0)
    desk.write()
    path.write_bytes(path.read_bytes().replace(b"1 0 new 1", b"1 0 new 3"))  # somebody corrects it by hand
    desk.judge("ann", ("2", "c"), 2.0)
    desk.close()
    held = rb.read_qrels(path).to_dict()
    assert held == {"1": {"a": 1, "pooled": -1, "last": 0, "new": 3, "theirs": 3}, "2": {"b": 2, "c": 2}}
    desk_of(path).close()
    assert rb.read_qrels(path).to_dict() == held


@pytest.mark.parametrize("content", [b"1 0 a yes\n", b"\x1f\x8b\x08junk", b"1 0 a 1\n1 0 a 2\n"])
def test_a_file_that_became_something_else_is_left_alone(path, content):
    first = path.read_bytes()
    desk = desk_of(path)
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(DataError, match="takes no judgments now"):
            desk.judge("ann", ("1", "new"), 1.0)
    assert path.read_bytes() == content
    path.write_bytes(first)
    desk.judge("ann", ("1", "new"), 1.0)
    desk.close()
    assert path.read_bytes() == first + b"\n1 0 new 1"


# ---- several judges ----


def test_the_file_has_the_first_opinion_and_the_journal_all(path):
    first = path.read_bytes()
    desk = desk_of(path)
    desk.judge("ann", ("1", "new"), 1.0)
    _, note = desk.judge("bob", ("1", "new"), 3.0)
    assert "ann judged this document first" in note
    assert desk.file.grade(("1", "new")) == 1
    desk.judge("ann", ("1", "new"), 2.0)
    assert desk.file.grade(("1", "new")) == 2
    desk.undo("ann")
    desk.undo("ann")
    assert desk.file.grade(("1", "new")) == 3  # bob's is now the first
    assert [row["judge"] for row in desk.past()["judgments"]] == ["bob"]
    desk.undo("bob")
    with pytest.raises(UsageError, match="nothing to take back"):
        desk.undo("bob")
    desk.close()
    assert path.read_bytes() == first


def test_agreement_is_that_of_the_definition(path):
    desk = desk_of(path)
    draw = random.Random(3)
    grades = {judge: {} for judge in ("ann", "bob")}
    for number in range(40):
        pair = (str(number % 8), f"d{number}")
        truth = draw.randint(0, 3)
        for judge in grades:
            grades[judge][pair] = float(truth if draw.random() < 0.7 else draw.randint(0, 3))
            desk.judge(judge, pair, grades[judge][pair])
    desk.judge("cat", ("1", "alone"), 1.0)
    (row,) = desk.agreement()
    both = [(grades["ann"][pair] >= 1, grades["bob"][pair] >= 1) for pair in grades["ann"]]
    observed = sum(one == other for one, other in both) / 40
    share = [sum(side) / 40 for side in zip(*both, strict=True)]
    chance = share[0] * share[1] + (1 - share[0]) * (1 - share[1])
    assert row["kappa"] == pytest.approx((observed - chance) / (1 - chance))
    assert (row["first"], row["second"], row["documents"]) == ("ann", "bob", 40)
    assert row["same"] == sum(grades["ann"][pair] == grades["bob"][pair] for pair in grades["ann"])
    assert -1 <= row["kappa_low"] < row["kappa"] < row["kappa_high"] <= 1
    disputed = desk.past(disputed=True)
    assert disputed["fit"] == 2 * (40 - row["same"])
    desk.close()


def test_kappa_that_has_no_value_is_none(path):
    desk = desk_of(path)
    for judge in ("ann", "bob"):
        desk.judge(judge, ("1", "x"), 1.0)
    (row,) = desk.agreement()
    assert (row["kappa"], row["kappa_low"], row["same"]) == (None, None, 1)
    desk.close()


def test_pages_are_handed_different_documents(path):
    listed = tuple(("1", f"d{number}") for number in range(10))
    desk = desk_of(path, worklist=listed)
    mine, theirs = desk.next_for("ann", "page 1"), desk.next_for("bob", "page 2")
    assert mine == list(listed[:4])
    assert theirs == list(listed[4:8])
    assert desk.next_for("ann", "page 1", mine[0]) == [*listed[1:4], listed[8]]
    assert desk.next_for("cat", "page 3")[:1] == [listed[9]]  # and then what others hold, rather than nothing
    desk.skip("ann", listed[0])
    desk.judge("ann", listed[1], 1.0)
    assert desk.progress("ann")["list"] == {"judged": 1, "all": 10}
    for pair in listed[2:]:
        desk.judge("bob", pair, 0.0)
    assert desk.next_for("ann", "page 1") == [listed[0]]  # skipped ones come last
    desk.close()


def test_shared_documents_are_asked_of_every_judge(path):
    listed = tuple(("1", f"d{number}") for number in range(40))
    desk = desk_of(path, worklist=listed, shared=0.5)
    for judge in ("ann", "bob"):
        while handed := desk.next_for(judge, judge):
            desk.judge(judge, handed[0], 1.0)
    counts = desk.progress("ann")["by_judge"]
    assert counts["ann"] == 40
    assert 8 <= counts["bob"] == desk.agreement()[0]["documents"] <= 32
    desk.close()


def test_the_past_is_filtered(path):
    desk = desk_of(path, queries={"1": QueryText("Foreign minorities")})
    for number in range(6):
        desk.judge("ann" if number % 2 else "bob", ("1" if number < 4 else "2", f"d{number}"), float(number % 3))
    assert [row["doc_id"] for row in desk.past()["judgments"]] == [f"d{number}" for number in range(5, -1, -1)]
    assert {row["doc_id"] for row in desk.past(words="MINORITIES d")["judgments"]} == {"d0", "d1", "d2", "d3"}
    assert {row["doc_id"] for row in desk.past(judge="ann")["judgments"]} == {"d1", "d3", "d5"}
    assert {row["doc_id"] for row in desk.past(grade=2.0)["judgments"]} == {"d2", "d5"}
    assert desk.past(words="nothing") == {"judgments": [], "fit": 0, "all": 6}
    desk.close()


def test_grades_are_those_of_the_file_or_as_named(tmp_path):
    path = tmp_path / "qrels.txt"
    for content, grades in (("1 0 a 3\n", [0, 1, 2, 3]), ("1 0 a -1\n", [0, 1]), ("1 0 a 0.5\n1 0 b 1\n", [0, 0.5, 1])):
        path.write_text(content)
        desk = Desk(JudgmentFile(path))
        assert list(desk.grades) == grades
        with pytest.raises(UsageError, match="The grades are 0"):
            desk.judge("ann", ("1", "b"), 7.0)
        desk.close()
    assert grades_from("0=off topic,1=related, 2=answers") == {0: "off topic", 1: "related", 2: "answers"}
    for wrong in ("", "0", "x=1", "1,1", "-1,0", "nan,1", ",".join(map(str, range(11)))):
        with pytest.raises(UsageError):
            grades_from(wrong)


# ---- what queries say ----

TOPICS = """<top>
<num> Number: 401
<title> foreign minorities, Germany

<desc> Description:
What impedes their
integration?

<narr> Narrative:
Causes &amp; effects.
</top>
<top>
<num> Number: 402 <title> genetics
</top>
"""


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (TOPICS, ("401", QueryText("foreign minorities, Germany", "What impedes their integration?",
                                   "Causes & effects."))),
        ('<topics><topic number="7"><query>a b</query><question>Why?</question></topic>\n<topic number="8">'
         "<query>c</query>"
         "</topic></topics>", ("7", QueryText("a b", "Why?"))),
        ("401\tforeign minorities\n402\tx\n", ("401", QueryText("foreign minorities"))),
        ("401 foreign minorities\n402 x\n", ("401", QueryText("foreign minorities"))),
        ("1:a family tree\n2:x\n", ("1", QueryText("a family tree"))),
        ('query_id,query,description\n1,"a, b",c\n2,x,y\n', ("1", QueryText("a, b", "c"))),
        ('qid\tquery\n1\tsay "b\n2\tx\n', ("1", QueryText('say "b'))),
        ('{"_id": "a", "text": "hi", "metadata": {}}\n{"_id": 3, "text": "x"}\n', ("a", QueryText("hi"))),
        ('{"1": "a b", "2": "x"}', ("1", QueryText("a b"))),
        ('{"1": {"title": "a b",\n "description": "c"}, "2": {"title": "x"}}', ("1", QueryText("a b", "c"))),
        ('[{"qid": 1, "query": "x", "narrative": "y"}, {"qid": 2, "query": "z"}]', ("1", QueryText("x", "", "y"))),
    ],
)  # fmt: skip
def test_texts_of_queries_are_read(tmp_path, content, first):
    path = tmp_path / "queries"
    path.write_text(content)
    queries = read_query_texts(str(path))
    assert next(iter(queries.items())) == first
    assert len(queries) == 2


@pytest.mark.parametrize(
    "content", ["", "401\n", "1\ta\n1\tb\n", '{"text": "x"}\n{"text": "y"}\n', "<top></top>", "<x>", "[1]",
                '{"_id": 1}\n', "{"],
)  # fmt: skip
def test_texts_of_queries_that_are_none_are_told(tmp_path, content):
    path = tmp_path / "queries"
    path.write_text(content)
    with pytest.raises(DataError, match="queries"):
        read_query_texts(str(path))
