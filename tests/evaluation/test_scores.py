"""Scores as people use them: chosen, sorted, turned into frames, copied, compared, saved and read back."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import warnings
from dataclasses import fields, replace

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.evaluation.score_files import join_baseline
from rankbounds.evaluation.scores import FIELDS, INTERVAL, PARTS, Scores
from rankbounds.measures import REGISTRY, parse_measure
from rankbounds.measures.condensed import Condensed

QRELS = {
    "301": {"a": 1, "b": 0, "c": 2},
    "302": {"d": 1, "e": 0},
    "303": {"f": 0},
}
RUNS = {
    "bm25": {"301": {"a": 3.0, "x": 2.0, "c": 2.0}, "302": {"e": 2.0, "d": 1.0}},
    "dense": {"301": {"c": 3.0, "a": 2.0}, "302": {"d": 2.0, "y": 1.0}, "303": {"f": 1.0}, "999": {"z": 1.0}},
    "weak": {"301": {"b": 3.0}, "302": {"z": 2.0}, "303": {"f": 1.0}},
}
COPIES = [copy.copy, copy.deepcopy, lambda scores: pickle.loads(pickle.dumps(scores))]
MEASURES = ["RBP(p=0.8)", "AP", "nDCG@10", "Q", "infAP", "num_ret"]


def scored(measures=MEASURES, **options):
    with pytest.warns(rb.RankboundsWarning):
        return rb.evaluate(QRELS, RUNS, measures, **options)


@pytest.fixture
def scores():
    return scored()


class TestChoosing:
    @pytest.mark.parametrize("wanted", ["AP", "map", rb.AP(), rb.AP, ["AP"], ("map",)])
    def test_a_measure_by_whatever_it_is_called(self, scores, wanted):
        chosen = scores[wanted]
        assert chosen.measures == [rb.AP()]
        np.testing.assert_array_equal(chosen.value[..., 0], scores.value[..., 1])
        np.testing.assert_array_equal(chosen.judged, scores.judged)
        assert wanted in scores or not isinstance(wanted, str)

    def test_several_in_the_order_asked_for(self, scores):
        assert [str(measure) for measure in scores["nDCG@10", "AP"].measures] == ["nDCG@10", "AP"]
        assert scores.run("weak", "bm25").runs == ["weak", "bm25"]
        assert scores.topic("303", "301").query_ids == ["303", "301"]
        assert scores.run("weak").topic("302")["AP"].value.shape == (1, 1, 1)

    def test_a_class_stands_for_all_its_measures(self):
        scores = scored(["P@1", "AP", "P@5"])
        assert [str(measure) for measure in scores[rb.P].measures] == ["P@1", "P@5"]

    def test_filter_takes_names_and_functions(self, scores):
        chosen = scores.filter(
            run=lambda name: name != "weak", topic=["302"], measure=lambda measure: measure.has_residual
        )
        assert (chosen.runs, chosen.query_ids, chosen.measures) == (["bm25", "dense"], ["302"], [rb.RBP(p=0.8)])
        np.testing.assert_array_equal(chosen.parts, scores.parts[:, :2, 1:2, :1])
        assert scores.filter() == scores

    def test_every_number_keeps_its_place(self, scores):
        rows = {(row["run"], row["query_id"], row["measure"]): row for row in scores}
        for run, topic, measure in itertools.product(scores.runs, scores.query_ids, scores.measures):
            chosen = list(scores[measure].run(run).topic(topic))
            assert chosen == [rows[run, topic, str(measure)]]

    @pytest.mark.parametrize(
        ("ask", "words"),
        [
            (lambda scores: scores["P@10"], "P@10"),
            (lambda scores: scores["APP"], "AP"),
            (lambda scores: scores["bm25"], "scores.run"),
            (lambda scores: scores[rb.RR], "RR"),
            (lambda scores: scores.run("bm52"), "bm25"),
            (lambda scores: scores.topic("304"), "30"),
        ],
    )
    def test_what_is_not_there_is_an_error_of_both_kinds(self, scores, ask, words):
        with pytest.raises(rb.UsageError, match=words) as caught:
            ask(scores)
        assert isinstance(caught.value, KeyError)
        assert not str(caught.value).startswith('"')

    def test_a_number_is_no_measure(self, scores):
        with pytest.raises(rb.UsageError, match="by measure"):
            scores[0]

    def test_membership_and_length(self, scores):
        assert "map" in scores
        assert "P@10" not in scores
        assert "no such thing" not in scores
        assert 3 not in scores
        row = next(iter(scores))
        assert row in scores
        assert row | {"value": 7.0} not in scores
        assert len(list(scores)) == len(scores)

    def test_what_is_known_of_a_part(self, scores):
        assert scores.without_relevant == ["303"]
        assert scores.topic("301").without_relevant == []
        assert scores.outer == [rb.Q()]
        assert scores["AP"].outer == []
        assert scores["AP"].parts is None
        assert scores.run_notes[0].missing == ["303"]
        assert scores.run_notes[0].tie_range is not None
        of_topics = scores.topic("301", "302").run_notes
        assert (of_topics[0].missing, of_topics[1].unknown, of_topics[0].tie_range) == ([], [], None)
        assert scores["AP"].run_notes[0] == replace(scores.run_notes[0], tie_range=None)
        assert scores["RBP(p=0.8)"].run_notes == scores.run_notes

    def test_nothing_chosen_is_an_empty_table(self, scores):
        for empty in (
            scores.filter(run=lambda name: False),
            scores.filter(topic=lambda name: False),
            scores.filter(measure=lambda measure: False),
        ):
            assert len(empty) == 0
            assert list(empty) == []
            assert empty.to_polars().height == 0
            assert repr(empty)


class TestSorting:
    def test_best_first_whatever_best_means(self):
        scores = scored(["AP", "ESL(n=1)"])
        assert scores.sort(by="AP").runs == ["dense", "bm25", "weak"]
        assert scores.sort(by="AP", worst_first=True).runs == ["weak", "bm25", "dense"]
        effort = scores.sort(by="ESL(n=1)")
        means = effort["ESL(n=1)"].mean().value.ravel()
        assert (means[:-1] <= means[1:]).all()
        assert scores.sort() == scores.sort("AP")
        assert scores.sort(by="run", worst_first=True).runs == ["weak", "dense", "bm25"]

    def test_sorting_by_a_class_needs_one_measure_of_it(self):
        with pytest.raises(rb.UsageError, match="P@1, P@5"):
            scored(["P@1", "P@5"]).sort(by=rb.P)

    def test_equal_but_for_rounding_stays_in_order_and_unknown_comes_last(self):
        means = np.array([np.nan, 0.1 + 0.2, 0.3, 0.5])
        value = means[:, None, None]
        scores = Scores(["none", "first", "second", "best"], ["1"], [rb.AP()], value, value, value, value[..., 0])
        assert scores.sort().runs == ["best", "first", "second", "none"]
        assert scores.sort(worst_first=True).runs == ["first", "second", "best", "none"]


class TestFrames:
    def test_frames_agree_with_rows(self, scores):
        rows = list(scores.rows())
        frame = scores.to_polars()
        assert frame.columns == [*FIELDS, *PARTS, "judged_at_10", "certain"]
        assert [{key: row[key] for key in FIELDS} for row in frame.to_dicts()] == [
            {key: row[key] for key in FIELDS} for row in rows
        ]
        assert scores.to_arrow().to_pylist() == frame.to_dicts()
        pandas_frame = scores.to_pandas()
        assert list(pandas_frame.columns) == frame.columns
        np.testing.assert_array_equal(pandas_frame["low"].to_numpy(), frame["low"].to_numpy())

    def test_judged_share_and_exactness(self, scores):
        frame = scores.to_polars()
        certain = {row["measure"]: row["certain"] for row in frame.to_dicts()}
        assert (certain["AP"], certain["Q"], certain["infAP"]) == ("exact", "outer", None)
        assert frame["certain"].is_null().to_list() == frame["low"].is_null().to_list()
        first = frame.filter(polars.col("run") == "bm25", polars.col("query_id") == "301")
        assert first["judged_at_10"].to_list() == [pytest.approx(2 / 3)] * len(MEASURES)
        assert set(scored(bounds="none").to_polars()["certain"]) == {None}
        assert set(scores["AP"].mean().to_polars()["judged_at_10"]) == set(scores.mean().judged.ravel())

    def test_rows_for_other_programs_keep_their_names(self, scores, tmp_path):
        """What the command line writes has the columns that it always had; frames in Python have two more."""
        plain = [key for row in json.loads(scores["AP"].render("json")) for key in row]
        assert plain == [*FIELDS, *INTERVAL] * len(scores.runs)
        assert scores.render("csv").splitlines()[0] == ",".join((*FIELDS, *INTERVAL, *PARTS, "judged_at_10"))
        scores.write_parquet(str(tmp_path / "scores.parquet"))
        assert polars.read_parquet(tmp_path / "scores.parquet").columns == [*FIELDS, *INTERVAL, *PARTS]

    def test_names_that_frames_cannot_hold(self, scores):
        odd = replace(scores, runs=["\udcff", "b", "c"])
        for ask in (odd.to_polars, odd.to_arrow):
            with pytest.raises(rb.DataError, match="to_dict"):
                ask()
        assert "\udcff" in odd.to_dict()

    def test_changing_a_frame_changes_nothing_here(self, scores):
        before = copy.deepcopy(scores)
        frame = scores.to_pandas()
        frame.loc[:, "value"] = 7.0
        assert scores == before


class TestObjects:
    @pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle"])
    def test_copies_are_equal_and_as_closed(self, scores, copied):
        other = copied(scores)
        assert other == scores
        assert other is not scores
        for array in (other.value, other.low, other.high, other.judged, other.parts):
            assert not array.flags.writeable

    def test_every_field_counts(self, scores):
        changed = {
            "runs": ["a", "b", "c"],
            "query_ids": ["1", "2", "3"],
            "measures": list(reversed(scores.measures)),
            "value": scores.value + 1,
            "low": scores.low + 1,
            "high": scores.high + 1,
            "judged": scores.judged / 2,
            "run_notes": [RunNotes() for _ in scores.runs],
            "bounds": "ties",
            "without_relevant": [],
            "outer": [],
            "topics": "shared",
            "parts": None,
            "open": "collection",
            "most_relevant": 5,
            "mean_over": 2,
            "interval": np.stack([scores.value, scores.value]),
            "confidence": 0.9,
            "clusters": {"1": "c"},
        }
        assert changed.keys() == {one.name for one in fields(scores)} - {"origin", "make_origin", "settings"}
        for name, value in changed.items():
            assert replace(scores, **{name: value}) != scores, name
        assert scores != "scores"

    def test_a_selection_and_means_are_saved_with_their_origin(self, tmp_path):
        scores = rb.evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"r": {"1": ["a"], "2": ["b"]}}, ["AP", "RR"])
        assert vars(scores).keys() == {one.name for one in fields(scores)}, "nothing undeclared"
        scores.save(tmp_path / "all")
        expected = rb.Scores.load(tmp_path / "all").origin
        assert expected["settings"]["ties"] == "trec"
        for part in (scores["AP"], scores.topic("1"), scores.mean()):
            part.save(tmp_path / "part")
            assert rb.Scores.load(tmp_path / "part").origin == expected

    def test_no_hash(self, scores):
        with pytest.raises(TypeError):
            hash(scores)

    def test_what_was_handed_in_stays_open_and_apart(self):
        value, runs = np.ones((1, 1, 1)), ["a"]
        scores = Scores(runs, ["1"], [rb.AP()], value, value, value, value[..., 0])
        assert value.flags.writeable
        runs.append("b")
        assert scores.runs == ["a"]
        with pytest.raises(ValueError, match="read-only"):
            scores.value[0] = 2

    def test_markup_in_names_is_text(self, scores):
        assert "<i>" not in replace(scores, runs=["<i>", "b", "c"])._repr_html_()


ALL_MEASURES = [parse_measure(example) for kind in REGISTRY.values() for example in kind.examples]
ODD_MEASURES = [rb.RBP(p=1 / 3), Condensed(rb.RBP(p=2 / 7)), rb.RBP(p=0.1 + 0.2), *map(Condensed, ALL_MEASURES)]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.just("byte \udcff")
NUMBERS = st.floats() | st.sampled_from([math.inf, -math.inf, math.nan, 5e-324, -0.0, 0.1 + 0.2])


@st.composite
def any_scores(draw):
    runs, topics = (draw(st.lists(NAMES, max_size=3, unique=True)) for _ in range(2))
    measures = draw(st.lists(st.sampled_from([*ALL_MEASURES, *ODD_MEASURES]), max_size=3, unique=True))

    def array(*shape):
        size = math.prod(shape)
        return np.array(draw(st.lists(NUMBERS, min_size=size, max_size=size)), dtype=float).reshape(shape)

    shape = len(runs), len(topics), len(measures)
    some_topics = st.lists(NAMES, max_size=2)
    notes = st.builds(RunNotes, some_topics, some_topics, st.integers(0, 9), st.none() | st.floats(0, allow_nan=False))
    return Scores(
        runs,
        topics,
        measures,
        *(array(*shape) for _ in range(3)),
        array(*shape[:2]),
        run_notes=draw(st.lists(notes, min_size=len(runs), max_size=len(runs))),
        bounds=draw(st.sampled_from(["unjudged", "ties", "both", "none"])),
        without_relevant=draw(some_topics),
        outer=[measure for measure in measures if draw(st.booleans())],
        topics=draw(st.sampled_from(["judged", "shared"])),
        parts=array(len(PARTS), *shape) if draw(st.booleans()) else None,
    )


class TestSaving:
    @settings(max_examples=50)
    @given(any_scores())
    def test_what_is_loaded_is_what_was_saved(self, tmp_path_factory, scores):
        path = tmp_path_factory.mktemp("saved") / "scores.json"
        scores.save(path)
        loaded = Scores.load(path)
        assert loaded == scores
        zeros = scores.value == 0
        np.testing.assert_array_equal(np.signbit(loaded.value[zeros]), np.signbit(scores.value[zeros]))
        json.loads(path.read_bytes().decode("utf-8", "surrogateescape"), parse_constant=pytest.fail)

    def test_outer_bounds_do_not_come_back_as_exact(self, scores, tmp_path):
        scores.save(tmp_path / "scores.json")
        loaded = Scores.load(tmp_path / "scores.json")
        assert loaded.outer == [rb.Q()]
        assert loaded.notes() == scores.notes()
        assert repr(loaded) == repr(scores)
        assert loaded.to_polars().equals(scores.to_polars())

    @pytest.mark.parametrize(
        "change",
        [
            {"format": "rankbounds scores 3"},
            {"value": [[1]]},
            {"runs": 3},
            {"run_notes": [{}]},
            {"measures": [{"label": "NoSuchMeasure", "exactly": {}}]},
            {"measures": [{"label": "AP", "exactly": {"p": 3}}]},
            {"outer": None},
            {"origin": {"judgments": 3}},
        ],
    )
    def test_what_was_not_saved_here(self, scores, tmp_path, change):
        path = tmp_path / "scores.json"
        scores.save(path)
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
        with pytest.raises(rb.DataError) as caught:
            Scores.load(path)
        assert str(caught.value).startswith(str(path))

    def test_a_measure_that_its_label_does_not_name(self, scores, tmp_path):
        class Nameless(rb.AP):
            def __str__(self):
                return "AP of mine"

        with pytest.raises(rb.UsageError, match="cannot be saved"):
            replace(scores["AP"], measures=[Nameless()]).save(tmp_path / "scores.json")
        assert not list(tmp_path.iterdir())


class TestJoining:
    def test_joined_scores_know_what_both_knew(self, scores):
        first, second = scores.run("bm25"), replace(scores.run("dense"), outer=[rb.AP()])
        both = join_baseline(first, second)
        assert both == replace(scores.run("bm25", "dense"), outer=[rb.AP(), rb.Q()])
        assert len(list(both)) == len(first) + len(second)

    def test_topics_and_measures_find_each_other(self, scores):
        measures = list(reversed(scores.measures))
        first = scores.run("bm25").filter(topic=["303", "301", "302"], measure=measures)
        np.testing.assert_array_equal(join_baseline(first, scores.run("dense")).value, scores.value[:2])

    def test_bounds_of_two_kinds_are_not_mixed(self, scores):
        with pytest.raises(rb.DataError, match="--bounds was ties and is unjudged"):
            join_baseline(scored(bounds="ties"), scores)

    def test_parts_that_one_side_lacks_are_unknown(self, scores):
        both = join_baseline(replace(scores.run("bm25"), parts=None), scores.run("dense"))
        assert np.isnan(both.parts[:, 0]).all()
        np.testing.assert_array_equal(both.parts[:, 1], scores.parts[:, 1])


class TestSparseJudgments:
    """One relevant document per query, as in MS MARCO: the reader is told what can be said."""

    SAID = "Few documents are judged"

    def collection(self, topics=12, judged=2):
        documents = [f"d{number}" for number in range(10)]
        qrels = {f"q{topic}": dict.fromkeys(documents[:judged], 1) for topic in range(topics)}
        return qrels, dict.fromkeys(qrels, documents)

    def test_said_where_hardly_anything_is_judged(self):
        qrels, run = self.collection()
        with pytest.warns(rb.RankboundsWarning, match=self.SAID):
            scores = rb.evaluate(qrels, {"a": run, "b": run}, "nDCG@10")
        (words,) = scores.notes()
        for command in ("compare", "similarity", "judge-next", "sample", "audit"):
            assert command in words

    @pytest.mark.parametrize(
        ("collection", "options"),
        [({"judged": 4}, {}), ({"topics": 9}, {}), ({}, {"bounds": "none"}), ({}, {"bounds": "ties"})],
    )
    def test_not_said_where_enough_is_judged_or_no_such_bounds_are_asked_for(self, collection, options):
        qrels, run = self.collection(**collection)
        assert rb.evaluate(qrels, run, "nDCG@10", **options).notes() == []

    def test_not_said_where_one_run_is_judged(self):
        qrels, run = self.collection()
        judged = {query: ["d1", "d0"] for query in run}
        assert rb.evaluate(qrels, {"sparse": run, "judged": judged}, "nDCG@10").notes() == []

    @pytest.mark.parametrize("name", ["evaluate", "compare"])
    def test_commands_say_it_once(self, command, tmp_path, name):
        qrels, run = self.collection()
        other = {query: documents[::-1] for query, documents in run.items()}
        (tmp_path / "qrels.json").write_text(json.dumps(qrels))
        (tmp_path / "a.json").write_text(json.dumps({q: {d: -at for at, d in enumerate(ds)} for q, ds in run.items()}))
        (tmp_path / "b.json").write_text(
            json.dumps({q: {d: -at for at, d in enumerate(ds)} for q, ds in other.items()})
        )
        code, _, err = command(name, tmp_path / "qrels.json", tmp_path / "a.json", tmp_path / "b.json", "-m", "nDCG@10")
        assert (code, err.count(self.SAID)) == (0, 1)


@pytest.mark.parametrize("call", [rb.evaluate, rb.compare])
def test_judgments_and_runs_that_are_swapped_are_told(call):
    def told(judgments, *runs):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(judgments, dict(zip("xy", runs, strict=True)), "nDCG@10")
        return any("are they swapped? Judgments come first" in str(one.message) for one in caught)

    grades, others = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 3}}, {"1": {"a": 1, "b": 1}, "2": {"a": 2, "b": 1}}
    scores, more = {"1": {"a": 0.9, "b": 0.4}, "2": {"a": 0.9, "b": 1.5}}, {"1": {"a": 2.5}, "2": {"b": 1.1}}
    assert told(scores, grades, others)
    assert not told(grades, scores, more)
    assert not told(scores, scores, more)  # gains that are no whole numbers, and the scores of runs
    assert not told(scores, grades, more)
    assert not told(scores, {"1": ["a", "b"], "2": ["b"]}, {"1": ["b"], "2": ["b", "a"]})  # no scores at all
    assert not told({"1": {"a": 0.5, "b": 0.5}, "2": {"a": 0.5, "b": 2}}, grades, others)  # grades that are equal


def test_a_level_that_no_grade_reaches_is_told():
    judged, run = {"1": {"a": 3, "b": 0}, "2": {"a": 1}}, {"1": ["a"], "2": ["a"]}
    said = r"No document counts as relevant by AP\(rel=5\), P\(rel=4\)@5: the highest grade is 3\."
    with pytest.warns(rb.RankboundsWarning, match=said):
        rb.evaluate(judged, run, ["AP(rel=5)", "nDCG", "P(rel=4)@5", "RR(rel=3)"])
    rb.evaluate(judged, run, ["AP(rel=3)", "nDCG", "RBP(p=0.8,graded=true)"])
