"""What is written can be read back, and a file that is replaced keeps what it was."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.errors import DataError
from rankbounds.files.writing import COPY_ENDING, writing

ENDINGS = ("txt", "csv", "tsv", "jsonl")


def judged(topic, doc, grade=1.0):
    return rb.Qrels.from_columns([topic], [doc], [grade])


@pytest.mark.parametrize(
    ("topic", "doc", "told"),
    [
        ("red shoes", "d", 'topic id "red shoes" holds a blank'),
        ("#1", "d", 'begins with "#"'),
        ("\ufeff1", "d", "byte order mark"),
        ("1", "a b", 'document id "a b" holds a blank'),
        ("1", "a\tb", "holds a blank"),
        ("1", "a\n2 0 invented 1", "holds a line break"),
        ("1", "a\x01b", "holds a control character"),
        ("1", "a\0b", "holds a control character"),
        ("query,x", "d", "would be read as csv"),
        ("{1", "d", "would be read as json"),
    ],
)
def test_ids_that_trec_files_cannot_hold_are_errors_that_name_a_format_that_can(tmp_path, topic, doc, told):
    for table, name in ((judged(topic, doc), "qrels"), (rb.Run.from_columns([topic], [doc], [1.5]), "run")):
        with pytest.raises(DataError, match="JSON lines") as raised:
            table.write(tmp_path / f"{name}.txt")
        assert told in str(raised.value)
        assert len(str(raised.value).splitlines()) == 1
        with pytest.raises(DataError, match="JSON lines"):
            table.text()
        table.write(tmp_path / f"{name}.jsonl")
    assert rb.read_qrels(tmp_path / "qrels.jsonl").to_dict() == {topic: {doc: 1.0}}
    assert rb.read_run(tmp_path / "run.jsonl").to_dict() == {topic: {doc: 1.5}}
    assert {one.name for one in tmp_path.iterdir()} == {"qrels.jsonl", "run.jsonl"}


@pytest.mark.parametrize("ending", ENDINGS)
@given(ids=st.lists(st.text(min_size=1, max_size=6), min_size=2, max_size=6, unique=True), grade=st.floats(0, 1e18))
def test_whatever_is_written_is_read_back(tmp_path_factory, ending, ids, grade):
    path = tmp_path_factory.mktemp("ids") / f"qrels.{ending}"
    try:
        table = rb.Qrels.from_columns([ids[0]] * (len(ids) - 1), ids[1:], [grade] * (len(ids) - 1))
        table.write(path)
    except (DataError, UnicodeEncodeError):  # half a character is no id
        assert not path.exists()
        return
    assert rb.read_qrels(path).to_dict() == table.to_dict()


def test_bytes_that_are_not_utf8_stay_in_trec_files_and_are_told_of_elsewhere(tmp_path):
    table = judged("1", "\udce9t\udce9")
    table.write(tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_bytes() == b"1 0 \xe9t\xe9 1\n"
    for ending in ("csv", "jsonl"):
        with pytest.raises(DataError, match="TREC"):
            table.write(tmp_path / f"qrels.{ending}")


def test_blanks_around_ids_need_json_lines(tmp_path):
    with pytest.raises(DataError, match="JSON lines"):
        judged("1", " d").write(tmp_path / "qrels.csv")
    judged("1", " d").write(tmp_path / "qrels.jsonl")
    assert rb.read_qrels(tmp_path / "qrels.jsonl").to_dict() == {"1": {" d": 1.0}}


def test_numbers_are_written_in_full(tmp_path):
    for grade in (1234567.0, 0.1 + 0.2, 123456789.125, 1e300, 2.0, -1.0):
        for ending in ENDINGS:
            judged("1", "d", grade).write(tmp_path / f"qrels.{ending}")
            assert rb.read_qrels(tmp_path / f"qrels.{ending}").grade.tolist() == [grade]
    assert judged("1", "d", 1234567.0).text() == "1 0 d 1234567\n"


def test_names_of_runs_become_one_word(tmp_path):
    rb.Run.from_columns(["1"], ["d"], [1.0], name="my\nrun 1").write(tmp_path / "run")
    assert rb.read_run(tmp_path / "run").name == "my_run_1"


def test_links_are_followed_and_modes_kept(tmp_path):
    (tmp_path / "folder").mkdir()
    real = tmp_path / "folder" / "real"
    real.write_text("old")
    real.chmod(0o600)
    (tmp_path / "link").symlink_to("folder/real")
    judged("1", "a").write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert real.read_text() == "1 0 a 1\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    (tmp_path / "dangling").symlink_to("folder/new")
    judged("1", "a").write(tmp_path / "dangling")
    assert (tmp_path / "folder" / "new").read_text() == "1 0 a 1\n"


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        judged("1", "a").write(tmp_path / "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_other_names_of_a_file_see_what_is_written(tmp_path):
    (tmp_path / "one").write_text("a long old content\n" * 10)
    (tmp_path / "other").hardlink_to(tmp_path / "one")
    judged("1", "a").write(tmp_path / "one")
    assert (tmp_path / "other").read_text() == "1 0 a 1\n"
    assert (tmp_path / "other").samefile(tmp_path / "one")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_owners_are_kept(tmp_path):
    (tmp_path / "file").write_text("old")
    os.chown(tmp_path / "file", 1234, 1234)
    judged("1", "a").write(tmp_path / "file")
    status = (tmp_path / "file").stat()
    assert (status.st_uid, status.st_gid) == (1234, 1234)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "file").write_text("old")

    def fail():
        with writing(tmp_path / "file") as out:
            out.write("new")
            raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match=r"file: cannot be written \(No space left on device\)"):
        fail()
    assert (tmp_path / "file").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_copies_of_a_writer_that_was_killed_are_cleared_and_those_of_another_stay(tmp_path):
    target = tmp_path / "file"
    script = (
        "import os, signal, sys; from rankbounds.files.writing import writing\n"
        "with writing(sys.argv[1]) as out:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, target], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(COPY_ENDING)
    with writing(target) as first:
        assert not left.exists()
        with writing(target) as second:
            second.write("second")
        first.write("first")
    assert target.read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]


def test_long_names_can_be_written(tmp_path):
    path = tmp_path / ("\u00e9" * 120)
    judged("1", "a").write(path)
    assert path.read_text() == "1 0 a 1\n"


def test_files_of_judgments_and_runs_are_never_marked(tmp_path):
    judged("=1", "-d").write(tmp_path / "qrels.csv")
    assert rb.read_qrels(tmp_path / "qrels.csv").to_dict() == {"=1": {"-d": 1.0}}
    assert "'" not in (tmp_path / "qrels.csv").read_text()


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_preferences_are_written_as_lines(tmp_path, ending):
    (tmp_path / "prefs").write_text("q u 1 a 2\nq u 1 b 1\n")
    qrels = rb.read_qrels(tmp_path / "prefs")
    qrels.write(tmp_path / "again")
    assert rb.read_qrels(tmp_path / "again") == qrels
    with pytest.raises(DataError, match="a table cannot hold preferences"):
        qrels.write(tmp_path / f"prefs{ending}")
