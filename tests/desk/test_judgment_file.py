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
        b"query_id,doc_id,relevance\n1,a,good\n", b"query_id,doc_id,relevance\n1,a,1,2\n",
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
