"""What is done to runs before they are scored, against plain Python; ids that judgments and runs write differently."""

from __future__ import annotations

import json
import random

import pytest

import rankbounds as rb
from rankbounds.checking.submissions import corpus_ids
from rankbounds.cli import main
from rankbounds.collection.preparation import Preparation
from rankbounds.errors import DataError, UsageError

pytestmark = pytest.mark.usefixtures("both_ways")


def ranked(documents: dict[str, float]) -> list[str]:
    """By score down, then by id down."""
    return sorted(sorted(documents, reverse=True), key=documents.__getitem__, reverse=True)


def plainly(run, *, drop_self=False, documents_of=None, depth=None):
    prepared = {}
    for query, documents in run.items():
        kept: dict[str, float] = {}
        for document, score in documents.items():
            name = document
            if documents_of and documents_of in document[1:]:
                name = document.rpartition(documents_of)[0] or document
            kept[name] = max(score, kept.get(name, score))
        if drop_self:
            kept.pop(query, None)
        prepared[query] = {document: kept[document] for document in ranked(kept)[:depth]}
    return prepared


IDS = ("q1", "q2", "d1", "d1#1", "d1#2", "d1#2#3", "q1#7", "#d2", "#", "d#", "##x", "a\u00e9#\u00e9", "d1##4")


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(
    "options",
    [
        {"drop_self": True},
        {"documents_of": "#"},
        {"documents_of": "##"},
        {"documents_of": "\u00e9"},
        {"depth": 2},
        {"drop_self": True, "documents_of": "#", "depth": 2},
    ],
    ids=str,
)
def test_prepared_as_plain_python_does(seed, options):
    drawn = random.Random(seed)
    run = {
        query: {doc: drawn.choice([1.0, 2.0, 3.0, 4.5]) for doc in drawn.sample(IDS, drawn.randint(1, len(IDS)))}
        for query in ("q1", "q2", "d1")
    }
    rows = [(query, doc, score) for query, documents in run.items() for doc, score in documents.items()]
    drawn.shuffle(rows)
    given = rb.Run.from_columns(*zip(*rows, strict=True))
    assert given.prepare(**options).to_dict() == plainly(run, **options)
    assert len(given) == len(rows)


def test_nothing_asked_for_is_nothing_done():
    run = rb.Run.from_columns(["q"], ["q"], [1.0])
    assert run.prepare() is run
    assert run.prepared == ""
    assert run.prepare(drop_self=True).renamed("other").prepared == "1 self-matches dropped"


def test_the_depth_follows_the_order_of_ties():
    run = rb.Run.from_columns(["q", "q"], ["a", "b"], [1.0, 1.0])
    assert run.prepare(depth=1).to_dict() == {"q": {"b": 1.0}}
    assert run.prepare(depth=1, ties="docid").to_dict() == {"q": {"a": 1.0}}


def test_the_depth_follows_a_key_for_ties(tmp_path):
    rows = (["q", "q", "q"], ["a", "b", "c"], [1.0, 1.0, 1.0])
    key = {"a": 2, "b": 1, "c": 3}
    assert rb.Run.from_columns(*rows).prepare(depth=2, ties_key=key).to_dict() == {"q": {"a": 1.0, "b": 1.0}}
    with pytest.raises(UsageError, match="goes with a key"):
        rb.Run.from_columns(*rows).prepare(depth=2, ties="key")
    (tmp_path / "qrels").write_text("q 0 b 1\n")
    (tmp_path / "run").write_text("".join(f"q Q0 {doc} 1 1.0 A\n" for doc in "abc"))
    (tmp_path / "key").write_text("a 2\nb 1\nc 3\n")
    words = ["evaluate", *(str(tmp_path / name) for name in ("qrels", "run")), "-m", "P@1", "--depth", "1"]
    for engine in ("local", "stream"):
        out = tmp_path / f"{engine}.json"
        asked = ["--ties-key", str(tmp_path / "key"), "--engine", engine, "-o", str(out)]
        assert main([*words, *asked]) == 0
        assert json.loads(out.read_text())[0]["value"] == 1.0


def test_a_document_has_the_first_stated_rank_of_its_chunks():
    run = rb.Run.from_columns(["q"] * 4, ["a#1", "b#1", "a#2", "b#2"], [1, 2, 2, 1], [1, 3, 2, 4])
    prepared = run.prepare(documents_of="#")
    assert prepared.stated_rank.tolist() == [1, 3]
    assert rb.evaluate({"q": {"a": 1}}, prepared, "RR", ties="rank").value.item() == 1.0
    assert rb.Run.from_columns(["q"], ["a#1"], [1]).prepare(documents_of="#").stated_rank is None


@pytest.mark.parametrize(("options", "told"), [({"depth": 0}, "from 1 on"), ({"documents_of": ""}, "cannot be empty")])
def test_what_makes_no_sense(options, told):
    with pytest.raises(UsageError, match=told):
        rb.Run.from_columns(["q"], ["q"], [1.0]).prepare(**options)


QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 q1 1\nq2 0 d9 2\n07 0 d1 1\n"
RUN = "q1 Q0 q1 1 9 t\nq1 Q0 d1 2 8 t\nq1 Q0 d2 3 7 t\nq2 Q0 q2 1 5 t\nq2 Q0 q1 2 4 t\nq2 Q0 d3 3 3 t\n7 Q0 d1 1 2 t\n"


@pytest.fixture
def files(tmp_path):
    for name, text in {"qrels": QRELS, "run": RUN, "ids": "d1 a text\nd2\n\nd3\nq1\n"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_what_was_done_is_said(files, capsys):
    given = [str(files / "qrels"), str(files / "run"), "-m", "RR", "--drop-self", "--depth", "1"]
    assert main(["evaluate", *given]) == 0
    out, err = capsys.readouterr()
    assert "2 self-matches dropped, depth 1 (2 documents left out)" in out
    assert "t: 2 self-matches dropped" in err
    assert main(["evaluate", *given, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["value"] == pytest.approx(2 / 3)
    assert (
        main(["compare", str(files / "qrels"), str(files / "run"), "other=" + str(files / "run"), "--drop-self"]) == 0
    )
    assert "other: 2 self-matches dropped" in capsys.readouterr().err
    assert main(["evaluate", *given, "--engine", "stream"]) == 0
    again = capsys.readouterr()
    assert (again.out, again.err.count("t: 2 self-matches dropped")) == (out, 1)


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_every_engine_prepares_runs(files, engine):
    prepared = rb.read_run(files / "run").prepare(drop_self=True, depth=1)
    preparation = Preparation(drop_self=True, depth=1)
    with pytest.warns(rb.RankboundsWarning):
        expected = rb.evaluate(files / "qrels", prepared, ["RR", "AP"])
    with pytest.warns(rb.RankboundsWarning):
        scores = rb.evaluate(files / "qrels", files / "run", ["RR", "AP"], engine=engine, preparation=preparation)
    assert scores == expected


def test_runs_in_memory_are_prepared_too():
    qrels, run = {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}
    for given in (run, {"named": run}, rb.Run.from_columns(["q", "q"], ["q", "a"], [2.0, 1.0])):
        scores = rb.evaluate(qrels, given, "RR", preparation=Preparation(drop_self=True))
        assert scores.value.tolist() == [[[1.0]]]
        assert scores.run_notes[0].prepared == "1 self-matches dropped"


def test_notes_of_preparation_are_saved(files, tmp_path):
    run = rb.read_run(files / "run").prepare(drop_self=True)
    with pytest.warns(rb.RankboundsWarning):
        scores = rb.evaluate(files / "qrels", run, "RR")
    scores.save(tmp_path / "scores.json")
    assert rb.Scores.load(tmp_path / "scores.json") == scores
    assert scores.run_notes[0].prepared == "2 self-matches dropped"


def warnings_of(qrels, run):
    with pytest.warns(rb.RankboundsWarning) as caught:
        rb.evaluate(qrels, run, "AP")
    return " ".join(str(warning.message) for warning in caught)


def test_documents_that_no_judgment_knows_are_a_loud_warning():
    qrels = {"1": {"d1": 1}, "2": {"d2": 0, "d3": 1}}
    run = {topic: {f"x-d{number}": 1.0 - number for number in range(1, 11)} for topic in ("1", "2")}
    told = warnings_of(qrels, run)
    assert "not one of its 20 documents is judged" in told
    assert '"x-d1"' in told
    assert '"d1"' in told
    for another in ("d2", "d1"):  # judged for another topic, or far down
        assert rb.evaluate(qrels, {**run, "1": {**run["1"], another: -99.0}}, "P@1").notes() == []
    assert rb.evaluate(qrels, {"1": {"x": 1.0}, "2": {"y": 1.0}}, "P@1").notes() == []


@pytest.mark.parametrize(
    ("ours", "theirs", "how"),
    [("7", "07", "leading zeros"), ("q 1", "q1", "blanks"), ("q1 ", "q1", "blanks"), ("Q1", "q1", "case")],
)
def test_topics_that_may_be_the_same_are_named(ours, theirs, how):
    qrels = {"a": {"d": 1}, theirs: {"d": 1}}
    told = warnings_of(qrels, {"a": {"d": 1.0}, ours: {"d": 1.0}})
    assert f'"{ours}" and "{theirs}" differ in {how}' in told
    assert "differ in" not in warnings_of(qrels, {"a": {"d": 1.0}, "other": {"d": 1.0}})


def test_a_corpus_says_what_cannot_be_retrieved(files, capsys):
    arguments = ["check", str(files / "run"), "--qrels", str(files / "qrels"), "--corpus", str(files / "ids")]
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert 'the corpus lacks, and no system can retrieve: 1, 1 of them relevant (such as topic q2, "d9").' in err
    assert "that are not in the corpus" in out
    assert main([*arguments, "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert [one["count"] for one in row["findings"] if one["kind"] == "outside_corpus"] == [1]


def test_judged_documents_outside_the_corpus_fail_a_strict_check():
    given = {"qrels": {"q": {"a": 1, "z": 1}}, "corpus": ["a", "b"]}
    assert rb.check({"q": {"a": 1.0}}, **given).ok
    assert not rb.check({"q": {"a": 1.0}}, **given, strict=True).ok


def test_a_corpus_that_holds_everything():
    qrels = rb.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "P@1")
    assert qrels.value.item() == 1.0
    (found,) = rb.check({"q": {"a": 1.0}}, corpus=["a", "b"])
    assert (found.findings, found.ok) == ([], True)
    checked = rb.check({"q": {"a": 1.0}}, {"q": {"a": 1}}, corpus=["a", "b"])
    assert checked.notes() == ["The corpus contains the documents of all judgments."]


def test_json_is_no_list_of_ids(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1"}\n')
    with pytest.raises(DataError, match="this is JSON"):
        corpus_ids(tmp_path / "corpus.jsonl")
