"""The desk: who judges what next, whose grade the file holds, and how far judges agree."""

from __future__ import annotations

import pytest

from rankbounds.desk.desk import Desk, Settings, grades_from
from rankbounds.desk.judgment_file import JudgmentFile
from rankbounds.errors import UsageError
from rankbounds.files.queries import QueryText


@pytest.fixture
def path(tmp_path):
    held = tmp_path / "qrels.txt"
    held.write_bytes(b"1 0 a 1\n1 0 pooled -1\n1 0 last 0")
    return held


def desk_of(path, **settings):
    return Desk(JudgmentFile(path), Settings(grades=grades_from("3"), **settings))


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
    with pytest.raises(UsageError, match="nothing to undo"):
        desk.undo("bob")
    desk.close()
    assert path.read_bytes() == first


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
