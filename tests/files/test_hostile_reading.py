"""Files and objects that somebody damaged or made up: the numbers are right, or one sentence says what is wrong."""

import copy
import json
import math
import os
import pickle
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hostile import LINES, outcome, refused, write_qrels

import machine
import rankbounds as rb
from rankbounds.errors import LONGEST_SENTENCE, DataError
from rankbounds.files import opening

pytestmark = pytest.mark.usefixtures("both_ways")


@pytest.fixture
def qrels(tmp_path):
    return write_qrels(tmp_path)


class TestEmptyLists:
    RUN: ClassVar = {"1": {"d1": 1.0}, "2": {}}

    @pytest.mark.parametrize("topics", ["judged", "shared"])
    def test_an_empty_list_scores_nothing_and_is_not_left_out(self, qrels, topics):
        scores = rb.evaluate(qrels, self.RUN, "P@1", topics=topics)
        assert scores.value[0, :, 0].tolist() == [1.0, 0.0]
        assert scores.mean().value[0, 0, 0] == 0.5

    @pytest.mark.parametrize("content", [RUN, {"default": {"test": RUN}}], ids=["beir", "mteb"])
    def test_in_files(self, tmp_path, qrels, content):
        (tmp_path / "run.json").write_text(json.dumps(content))
        assert rb.evaluate(qrels, tmp_path / "run.json", "P@1").value[0, :, 0].tolist() == [1.0, 0.0]

    def test_all_lists_may_be_empty(self, qrels):
        assert rb.evaluate(qrels, {"1": {}, "2": {}}, "AP").value[0, :, 0].tolist() == [0.0, 0.0]

    def test_pytrec_evals_class_counts_what_is_relevant(self):
        evaluator = rb.interop.RelevanceEvaluator({"1": {"d1": 1, "d2": 1}}, ["num_rel", "map"])
        assert evaluator.evaluate({"1": {}}) == {"1": {"num_rel": 2.0, "map": 0.0}}

    @pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
    @pytest.mark.parametrize("command", [["report", "-o", "page.html"], ["compare", "-m", "P@1"]])
    def test_comparisons_take_them(self, tmp_path, qrels, capsys, monkeypatch, command):
        monkeypatch.chdir(tmp_path)
        for name, run in (("a.json", self.RUN), ("b.json", {"1": {"d2": 1.0}, "2": {"d1": 1.0}})):
            Path(name).write_text(json.dumps(run))
        for topics in ("judged", "shared"):
            name, *options = command
            code, told = outcome(capsys, name, qrels, "a.json", "b.json", *options, "--topics", topics)
            assert code == 0, told


class TestIds:
    def test_a_number_and_its_text_are_one_id(self, tmp_path):
        rows = [(1, "a", 2.0), ("1", "b", 1.0), (np.int64(1), b"c", 0.5)]
        run = rb.Run.from_columns(*zip(*rows, strict=True))
        assert run.to_dict() == {"1": {"a": 2.0, "b": 1.0, "c": 0.5}}
        lists = {
            "judgmentRatings": [{"query": q, "ratings": [{"docId": d, "rating": 1}]} for q, d in ((1, 2), ("1", 3))]
        }
        (tmp_path / "judgments.json").write_text(json.dumps(lists))
        assert rb.read_qrels(tmp_path / "judgments.json").query_ids == ("1",)

    def test_a_pair_that_stands_twice_in_two_types_is_an_error(self):
        with pytest.raises(DataError, match="listed twice"):
            rb.Run.from_columns(["1", 1], ["a", "a"], [1.0, 2.0])
        with pytest.raises(DataError, match="listed twice"):
            rb.evaluate({"1": {"1": 1}}, {"1": {1: 1.0, "1": 2.0}})

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            (None, "is empty"),
            (float("nan"), "is empty"),
            ("", "is empty"),
            (1.5, "floating-point"),
            (b"\xff", "not UTF-8"),
            ("\ud800", "half of a character"),
            (["a"], "type list"),
            ({"a": 1}, "type dict"),
            (True, "type bool"),
            pytest.param(10**5000, "too many digits", id="digits"),
        ],
    )
    def test_what_is_no_id_is_refused_with_its_row(self, value, told):
        for queries, docs in ((["1", value], ["a", "b"]), (["1", "2"], ["a", value])):
            with pytest.raises(DataError, match=f"run, row 2: a .* id .*{told}.*ids are text"):
                rb.Run.from_columns(queries, docs, [1.0, 2.0])

    def test_blanks_around_the_fields_of_csv_are_no_part_of_them(self, tmp_path):
        for content in (
            "query_id, doc_id, score\n1, d1, 2\n 1 ,\td2 , 1 \r\n",
            'query_id, doc_id, score\n1, "d1", 2\n1,d2,1',
        ):
            (tmp_path / "run.csv").write_text(content)
            assert rb.read_run(tmp_path / "run.csv").to_dict() == {"1": {"d1": 2.0, "d2": 1.0}}

    @pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
    def test_frames_with_gaps_say_so(self, kind):
        columns = {"query_id": ["1", "1"], "doc_id": ["a", None], "score": [1.0, 2.0]}
        package = pytest.importorskip(kind, reason=f"{kind} is not installed")
        frame = package.table(columns) if kind == "pyarrow" else package.DataFrame(columns)
        if kind == "pandas":
            frame["doc_id"] = frame["doc_id"].astype("string")
        with pytest.raises(DataError, match=r'row 2: the document id \(column "doc_id"\) is empty'):
            rb.evaluate({"1": {"a": 1}}, frame)

    @pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
    def test_ids_of_whole_numbers_and_bytes(self, kind):
        package = pytest.importorskip(kind, reason=f"{kind} is not installed")
        columns = {"query_id": [1, 1], "doc_id": [b"a", b"b"], "score": [1.0, 2.0]}
        frame = package.table(columns) if kind == "pyarrow" else package.DataFrame(columns)
        assert rb.evaluate({"1": {"a": 1}}, frame, "RR").value[0, 0, 0] == 0.5


class TestNumbers:
    @pytest.mark.parametrize(
        "value", ["1" * 400, pytest.param(10**400, id="digits"), "1_0", "\u0661", None, [1], 1j, "nan"]
    )
    def test_what_is_no_finite_number_is_refused(self, value):
        for values in ([1.0, value], [value, "2"]):
            with pytest.raises(DataError, match=r'of document ".*" of topic "1" is .* not a finite number'):
                rb.Run.from_columns(["1", "1"], ["a", "b"], values)

    def test_numbers_of_twenty_digits_are_numbers(self, tmp_path):
        for name, content in (("a.json", "[{}]"), ("b.jsonl", "{}")):
            row = '{"query_id": "1", "doc_id": "d1", "score": 12345678901234567890}'
            (tmp_path / name).write_text(content.replace("{}", row))
            assert rb.read_run(tmp_path / name).score.tolist() == [12345678901234567890.0]

    @pytest.mark.parametrize("rank", ["1.9", "1e20", "100000000000000000000", "null", '"x"'])
    def test_ranks_are_whole_numbers(self, tmp_path, capsys, qrels, rank):
        (tmp_path / "run.jsonl").write_text(f'{{"query_id": "1", "doc_id": "d1", "score": 1, "rank": {rank}}}\n')
        assert "run.jsonl, row 1" in refused(capsys, "evaluate", qrels, tmp_path / "run.jsonl")
        (tmp_path / "run").write_text(f"1 Q0 d1 {rank.strip(chr(34))} 1 tag\n1 Q0 d2 2 1 tag\n")
        assert "run:1: the rank" in refused(capsys, "evaluate", qrels, tmp_path / "run", "--ties", "rank")

    def test_positions_of_a_snapshot(self, tmp_path, capsys, qrels):
        (tmp_path / "run.csv").write_text(f"Query Text,Doc ID,Doc Position,Rating\n1,d1,{10**20},1\n")
        assert "not a whole number" in refused(capsys, "evaluate", qrels, tmp_path / "run.csv")

    @pytest.mark.parametrize("ranks", [(0, 1, 2), (1, 2, 3), (1, 5, 9)])
    def test_three_columns_that_look_like_ranks_are_told(self, tmp_path, ranks):
        (tmp_path / "run").write_text(
            "".join(f"1 d{number} {rank}\n" for number, rank in enumerate(ranks)) + "2 d1 1\n"
        )
        with pytest.warns(rb.RankboundsWarning, match="rise from line to line in every topic, as ranks do"):
            rb.read_run(tmp_path / "run")

    @pytest.mark.parametrize("scores", [(3, 2, 1), (0.5, 1, 2), (1, 1, 2), (-3, -2, -1)])
    def test_others_are_not(self, tmp_path, scores):
        (tmp_path / "run").write_text("".join(f"1 d{number} {score}\n" for number, score in enumerate(scores)))
        assert rb.read_run(tmp_path / "run").score.tolist() == list(scores)


class TestJson:
    BAD: ClassVar = {
        "digits": ('{"1": {"d1": ' + "1" * 400 + "}}", "not a finite number"),
        "more digits": ('{"1": {"d1": ' + "1" * 5000 + "}}", "digits"),
        "half a character": ('{"1": {"\\ud800": 1}}', "half of a character"),
        "half a topic": ('{"\\ud800": {"a": 1}}', "half of a character"),
        "brackets": ("[" * 200_000, "nested too deep"),
        "braces": ('{"a":' * 200_000, "nested too deep"),
        "a number among objects": ('[{"query_id": "1", "doc_id": "d1", "score": 1, "label": 1}, 5]', "row 2"),
        "a repeated document": ('{"1": {"d1": 1, "d1": 2}}', 'key "d1" occurs twice'),
        "a repeated topic": ('{"1": {"d1": 1}, "1": {"d2": 2}}', 'key "1" occurs twice'),
        "queries": ('{"queries": 1}', "no known format"),
        "topics": ('{"topics": 1}', "no known format"),
        "a list for a row": ('{"query_id": "1", "doc_id": ["a"], "score": [1, 2]}', "ids are text"),
    }

    @pytest.mark.parametrize("case", BAD)
    def test_one_sentence(self, tmp_path, capsys, qrels, case):
        content, told = self.BAD[case]
        (tmp_path / "bad.json").write_text(content)
        for arguments in ((qrels, tmp_path / "bad.json"), (tmp_path / "bad.json", qrels)):
            message = refused(capsys, "evaluate", *arguments)
            assert told in message
            assert "bad.json" in message

    def test_rows_that_stand_twice_or_on_two_lines(self, tmp_path, capsys, qrels):
        for content, told in (
            ('{"query_id": "1", "doc_id": "a", "score": 1, "score": 2}\n', "bad.jsonl:1: .*occurs twice"),
            ('{"query_id": "1", "doc_id": "a", "score": 1}\n{"query_id": "1",\n"doc_id": "b"}\n', "bad.jsonl:2: "),
            ('{"query_id": "1", "doc_id": "a", "score": 1}\n5\n', "bad.jsonl, row 2"),
            ("[" * 200_000 + "\n", "nested too deep"),
        ):
            (tmp_path / "bad.jsonl").write_text(content)
            with pytest.raises(DataError, match=told):
                rb.read_run(tmp_path / "bad.jsonl")

    def test_a_baseline_and_texts_of_documents(self, tmp_path, capsys, qrels):
        (tmp_path / "bad.json").write_text("[" * 200_000)
        (tmp_path / "run").write_text(LINES)
        told = refused(capsys, "compare", qrels, tmp_path / "run", "--baseline", tmp_path / "bad.json")
        assert "nested too deep" in told
        assert "bad.json" in refused(capsys, "serve", qrels, tmp_path / "run", "--documents", tmp_path / "bad.json")


class TestObjects:
    def test_lazy_frames_and_readers_of_batches(self):
        import polars

        columns = {"query_id": ["1"], "doc_id": ["a"], "score": [1.0]}
        assert rb.evaluate({"1": {"a": 1}}, polars.LazyFrame(columns), "P@1").value[0, 0, 0] == 1.0
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        table = pyarrow.table(columns)
        for given in (table.to_reader(), table.to_batches()[0]):
            assert rb.evaluate({"1": {"a": 1}}, given, "P@1").value[0, 0, 0] == 1.0

    @pytest.mark.parametrize("given", [None, 5])
    def test_no_run_is_told(self, given):
        with pytest.raises(rb.RankboundsError, match=r"No run was given|expected a path"):
            rb.evaluate({"1": {"a": 1}}, given)
        with pytest.raises(rb.RankboundsError, match="expected a path"):
            rb.evaluate({"1": {"a": 1}}, [given])
        with pytest.raises(rb.RankboundsError, match="expected a path"):
            rb.evaluate(given, {"1": {"a": 1}})

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
    def test_runs_and_judgments_are_copied_and_pickled(self, tmp_path, qrels, copied):
        (tmp_path / "run").write_text("1 Q0 d2 7 1.0 tag\n1 Q0 d1 3 1.0 tag\n2 Q0 d1 1 1.0 tag\n")
        run = rb.read_run(tmp_path / "run")
        again, judgments = copied(run), copied(rb.read_qrels(qrels))
        assert again.name == "tag"
        assert again.to_dict() == run.to_dict()
        assert again.stated_rank.tolist() == [7, 3, 1]
        assert rb.evaluate(judgments, again, "RR", ties="rank").value[0, :, 0].tolist() == [1.0, 1.0]

    def test_a_pickled_run_holds_its_ids_alone(self, tmp_path):
        (tmp_path / "run").write_text(f"# {'x' * 1_000_000}\n1 Q0 d2 7 1.0 tag\n")
        assert len(pickle.dumps(rb.read_run(tmp_path / "run"))) < 10_000


class TestWords:
    def test_a_long_comment_names_no_run(self, tmp_path):
        (tmp_path / "run").write_text(f"# {'one two three four five six ' * 10_000}\n1 Q0 d1 1 1.0 tag\n")
        assert rb.read_run(tmp_path / "run").name == "tag"

    def test_control_characters_separate_fields_in_the_first_line_too(self, tmp_path):
        (tmp_path / "run").write_text("\x011 Q0 d1\x021 1.0 tag\n")
        assert rb.read_run(tmp_path / "run").name == "tag"

    def test_a_token_of_megabytes_is_shortened(self, tmp_path, capsys, qrels):
        (tmp_path / "run").write_text(f"1 Q0 d1 1 {'x' * 10_000_000} tag\n")
        told = refused(capsys, "evaluate", qrels, tmp_path / "run")
        assert "run:1: the score" in told
        assert "more characters]" in told
        assert len(told) < 1000

    def test_fields_of_megabytes_around_a_document_are_not_walked_by_character(self, tmp_path):
        long, blanks = "x" * 3_000_000, " " * 3_000_000
        with machine.within(60):
            (tmp_path / "qrels").write_text(f"1 0 d1 1\n1 {long} d2 2\n1{blanks}0{blanks}d3 3\n")
            assert rb.read_qrels(tmp_path / "qrels").to_dict() == {"1": {"d1": 1, "d2": 2, "d3": 3}}
            (tmp_path / "run").write_text(f"1 Q0 d1 1 9.0 tag\n1 Q0 d2{blanks}{'0' * 3_000_000}7 8.0 tag\n")
            order = rb.evaluate(tmp_path / "qrels", tmp_path / "run", "nDCG@2", ties="rank")
            assert order.value.item() == pytest.approx((1 + 2 / math.log2(3)) / (3 + 2 / math.log2(3)))
            (tmp_path / "run.csv").write_text(f"query_id,doc_id,score\n1,d1{blanks},2\n1,{blanks}d2,1\n")
            assert rb.read_run(tmp_path / "run.csv").to_dict() == {"1": {"d1": 2.0, "d2": 1.0}}

    def test_topics_that_end_in_nul_are_topics_of_their_own(self):
        run = rb.Run.from_columns(["b", "a\x00", "b"], ["a", "a", "c"], [0.0, 0.0, 1.0])
        assert run.to_dict() == {"b": {"a": 0.0, "c": 1.0}, "a\x00": {"a": 0.0}}
        scores = rb.evaluate({"b": {"a": 1}, "a\x00": {"a": 1}}, run, "RR")
        assert dict(zip(scores.query_ids, scores.value[0, :, 0].tolist(), strict=True)) == {"b": 0.5, "a\x00": 1.0}

    def test_judgments_of_which_nothing_is_left_are_refused(self, qrels):
        nothing = rb.read_qrels(qrels).take(np.zeros(0, dtype=np.int64))
        with pytest.raises(DataError, match="no topic is judged"):
            rb.evaluate(nothing, {"1": {"d1": 1.0}}, "AP")

    def test_a_field_with_blanks_is_shortened_too(self, tmp_path):
        (tmp_path / "run.csv").write_text(f'query_id,doc_id,score\n1,"{"a b " * 1_000_000}",x\n')
        with pytest.raises(DataError) as caught:
            rb.read_run(tmp_path / "run.csv")
        assert len(str(caught.value)) <= LONGEST_SENTENCE

    def test_characters_that_act_are_shown_as_codes(self, tmp_path, capsys, qrels):
        (tmp_path / "run.json").write_text('{"1": {"a\\u001b[31m\\n\\u2028b": "x"}}')
        assert r'"a\x1b[31m\n\u2028b"' in refused(capsys, "evaluate", qrels, tmp_path / "run.json")
        (tmp_path / "run").write_bytes(b"1 Q0 caf\xe9 1 x tag\n")
        with pytest.raises(DataError) as caught:
            rb.Run.from_columns(["1"], [b"caf\xe9".decode("utf-8", "surrogateescape")], ["x"])
        assert r'"caf\xe9"' in str(caught.value)

    def test_a_table_says_which_line_has_too_many_fields(self, tmp_path):
        (tmp_path / "run.csv").write_text("query_id,doc_id,score\n1,a,1\n\n1,b,2,3\n")
        with pytest.raises(DataError, match=r"run.csv:4: there are 4 fields in a table of 3 columns"):
            rb.read_run(tmp_path / "run.csv")
        (tmp_path / "run.csv").write_text('query_id,doc_id,score\n1,"a,1\n')
        with pytest.raises(DataError, match=r"run.csv:2: cannot be read as a table"):
            rb.read_run(tmp_path / "run.csv")
        (tmp_path / "run.csv").write_text("query_id,doc_id,score,Score\n1,a,1,2\n")
        with pytest.raises(DataError, match='two columns are called "Score"'):
            rb.read_run(tmp_path / "run.csv")

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may read every folder")
    def test_a_folder_that_may_not_be_read(self, tmp_path):
        (tmp_path / "runs").mkdir(mode=0o000)
        with pytest.raises(DataError, match="runs: cannot be read"):
            opening.expand([str(tmp_path / "runs")])

    @pytest.mark.parametrize("target", ["link", "nowhere"])
    def test_links_that_lead_nowhere_are_told(self, tmp_path, target):
        (tmp_path / "run").write_text(LINES)
        (tmp_path / "other").symlink_to(tmp_path / "run")
        assert opening.expand([str(tmp_path)]) == [str(tmp_path / "other"), str(tmp_path / "run")]
        (tmp_path / "link").symlink_to(tmp_path / target)
        with pytest.raises(DataError, match="link: "):
            opening.expand([str(tmp_path)])

    def test_a_format_without_runs_names_the_file(self, tmp_path, capsys, qrels):
        (tmp_path / "list").write_text('{"judgmentRatings": []}')
        assert "list: this holds judgments; a run is in" in refused(capsys, "evaluate", qrels, tmp_path / "list")
