"""The journal: what was saved comes back, whatever became of the process and of the file."""

from __future__ import annotations

import os

import pytest

import rankbounds as rb
from rankbounds.desk.desk import Desk, Settings, grades_from
from rankbounds.desk.journal import Journal
from rankbounds.desk.judgment_file import JudgmentFile
from rankbounds.errors import DataError, UsageError


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
        with pytest.raises(DataError, match="no longer accepts judgments"):
            desk.judge("ann", ("1", "new"), 1.0)
    assert path.read_bytes() == content
    path.write_bytes(first)
    desk.judge("ann", ("1", "new"), 1.0)
    desk.close()
    assert path.read_bytes() == first + b"\n1 0 new 1"
