"""The same systems on several collections: files, words, rows, against plain loops."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from scipy import stats

import rankbounds as rb
from rankbounds.collection.folders import collections_at
from rankbounds.stats.stratified import random_effects


@pytest.fixture(scope="module")
def made():
    """Four collections of different size; the same four runs, one of which lacks a collection."""
    sizes = {"web": 8, "news": 14, "mail": 5, "code": 11}
    made = {
        name: rb.studies.simulate(runs=4, topics=size, documents=80, depth=30, pool_depth=30, relevant=0.3, seed=seed)
        for seed, (name, size) in enumerate(sizes.items())
    }
    return {
        name: (of_collection.complete, [run for run in of_collection.runs if (name, run.name) != ("mail", "run3")])
        for name, of_collection in made.items()
    }


@pytest.fixture(scope="module")
def compared(made):
    return rb.compare_collections(made, ["AP", "P@5"])


def mean_scores(made, run, measure="AP"):
    return {
        name: rb.evaluate(qrels, runs, measure).run(run).value[0, :, 0]
        for name, (qrels, runs) in made.items()
        if run in [own.name for own in runs]
    }


class TestComparison:
    @pytest.mark.parametrize("mean", ["collections", "queries"])
    def test_the_mean_is_named_and_is_that_of_a_plain_loop(self, made, mean):
        found = rb.compare_collections(made, "AP", mean=mean)
        one, other = mean_scores(made, "run1"), mean_scores(made, "run2")
        apart = {name: one[name] - other[name] for name in one}
        expected = (
            np.mean([part.mean() for part in apart.values()])
            if mean == "collections"
            else np.concatenate(list(apart.values())).mean()
        )
        row = found.pair("run1", "run2")
        assert row["difference"] == pytest.approx(expected)
        assert found.settings["mean"] == mean
        named = {"collections": "mean of 4 collections' means", "queries": "mean over all 38 queries"}[mean]
        assert named in found.method()
        assert named in found.words("run1", "run2")
        assert row["won"] + row["lost"] <= row["collections"] == 4

    def test_a_run_that_lacks_a_collection_is_told_and_not_placed(self, compared, made):
        row = next(row for row in compared.systems if row["run"] == "run3")
        assert (row["mean"], row["rank"], row["lacks"], row["collections"]) == (None, None, ["mail"], 3)
        assert compared.missing == [{"run": "run3", "collection": "mail"}]
        assert compared.leaderboard()[-1]["run"] == "run3"
        assert "Not placed, and compared over the collections that both have: run3." in compared.method()
        pair = compared.pair("run1", "run3")
        one, other = mean_scores(made, "run1"), mean_scores(made, "run3")
        assert pair["collections"] == 3
        assert pair["difference"] == pytest.approx(np.mean([(one[name] - other[name]).mean() for name in other]))
        assert "mail" not in [part["collection"] for part in compared.differences_of("run1", "run3")]
        assert "of 4; one of the two lacks the rest" in compared.words("run1", "run3")
        assert sorted(row["rank"] for row in compared.systems if row["measure"] == "AP" and row["rank"]) == [1, 2, 3]

    def test_collections_can_be_left_out_instead(self, made):
        found = rb.compare_collections(made, "AP", missing="collections")
        assert (found.collections, found.settings["left_out"], found.missing) == (["web", "news", "code"], ["mail"], [])
        assert "Left out, because a run lacks them: mail." in found.method()
        assert all(row["rank"] for row in found.systems)

    def test_summaries_are_those_of_the_collections_differences(self, made):
        compared = rb.compare_collections(made, ["AP", "P@5"], confidence=0.5)  # few topics have intervals of 50% only
        for row in compared.pairs:
            parts = compared.differences_of(row["run"], row["against"], row["measure"])
            # the half of a t interval is the standard error times its quantile
            errors = [(p["ci_high"] - p["ci_low"]) / 2 / stats.t.ppf(0.75, p["topics"] - 1) for p in parts]
            summary = random_effects(
                np.array([[p["difference"] for p in parts]]), np.array([errors]) ** 2, confidence=0.5
            )
            assert row["summary"] == pytest.approx(summary.mean[0])
            assert row["tau"] == pytest.approx(math.sqrt(summary.tau_squared[0]), abs=1e-7)
            assert row["summary_high"] == pytest.approx(min(1.0, summary.high[0]), abs=1e-7)

    def test_words_have_the_p_value_of_the_pair_alone_beside_the_corrected_one(self, compared, made):
        assert "corrected for all pairs" in compared.words()
        two = {name: (qrels, runs[:2]) for name, (qrels, runs) in made.items()}
        alone = rb.compare_collections(two, "AP")
        assert "corrected" not in alone.words()
        assert alone.pairs[0]["p_adjusted"] == alone.pairs[0]["p_value"]

    def test_exchanged_sides(self, compared):
        one, other = compared.pair("run1", "run2", "P@5"), compared.pair("run2", "run1", "P@5")
        assert other["difference"] == -one["difference"]
        assert (other["summary_low"], other["ci_high"]) == (-one["summary_high"], -one["ci_low"])
        assert (other["won"], other["lost"]) == (one["lost"], one["won"])
        assert other["p_value"] == one["p_value"]

    def test_effort_is_better_when_lower(self):
        qrels = {str(query): {"r": 1} for query in range(9)}
        quick = {query: ["r"] for query in qrels}
        slow = {query: [f"n{rank}" for rank in range(1 + int(query) % 3)] + ["r"] for query in qrels}
        found = rb.compare_collections({name: (qrels, {"slow": slow, "quick": quick}) for name in "xyz"}, "ESL(n=1)")
        assert found.leading_pair() == ("quick", "slow")
        row = found.pair("quick", "slow")
        assert (row["verdict"], row["won"], row["lost"]) == ("better", 3, 0)
        assert row["difference"] < 0

    def test_places_agree_with_separated_pairs(self, compared):
        placed = {row["run"]: row for row in compared.systems if row["measure"] == "AP" and row["rank"]}
        for name, row in placed.items():
            pairs = [compared.pair(name, other) for other in placed if other != name]
            assert row["rank_low"] == 1 + sum(pair["verdict"] == "worse" for pair in pairs)
            assert row["rank_high"] == len(placed) - sum(pair["verdict"] == "better" for pair in pairs)

    def test_a_baseline_has_its_pairs_alone(self, made):
        found = rb.compare_collections(made, "AP", baseline="run2")
        assert {(row["run"], row["against"]) for row in found.pairs} == {
            (run, "run2") for run in ("run1", "run3", "run4")
        }
        assert {row["rank"] for row in found.systems} == {None}
        assert found.leading_pair()[1] == "run2"

    def test_the_same_scores_in_any_form(self, made, tmp_path):
        expected = rb.compare_collections(made, "AP")
        as_scores = {name: rb.evaluate(*given, "AP") for name, given in made.items()}
        as_rows = {name: {"qrels": qrels, "runs": runs} for name, (qrels, runs) in made.items()}
        write(made, tmp_path)
        folders = {name: tmp_path / name for name in made}
        for given in (as_scores, as_rows, folders, [tmp_path / name for name in made]):
            found = rb.compare_collections(given, None if given is as_scores else "AP")
            assert found.systems == expected.systems
            assert found.pairs == expected.pairs

    def test_what_cannot_be_compared_is_told(self, made):
        qrels, runs = made["web"]
        for given, told in (
            ({"web": made["web"]}, "at least two collections"),
            ({"web": (qrels, runs), "news": 3}, '"news" must be'),
            ({"web": (qrels, {"x": runs[0], "y": runs[1]}), "news": made["news"]}, "no run is in two collections"),
        ):
            with pytest.raises(rb.RankboundsError, match=told):
                rb.compare_collections(given, "AP")
        few = {"web": made["web"], "one": ({"1": {"a": 1}}, {run.name: {"1": ["a"]} for run in runs})}
        with pytest.raises(rb.DataError, match='"one" has 1 topic'):
            rb.compare_collections(few, "AP")
        with pytest.raises(rb.UsageError, match="not a mean over topics"):
            rb.compare_collections(made, "GMAP")
        with pytest.raises(rb.UsageError, match='"median" is not a choice'):
            rb.compare_collections(made, "AP", mean="median")

    def test_warnings_name_the_collection(self, made):
        qrels, runs = made["news"]
        fewer = [run.filter(run.query_ids[1:]) if hasattr(run, "filter") else run for run in runs]
        with pytest.warns(rb.RankboundsWarning, match="^news: "):
            rb.compare_collections({**made, "news": (qrels, fewer)}, "AP")

    def test_equal_runs_are_told_to_be_equal(self):
        qrels = {str(query): {"r": 1} for query in range(4)}
        run = {query: ["r"] for query in qrels}
        found = rb.compare_collections({name: (qrels, {"a": run, "b": run}) for name in "xy"}, "RR")
        assert found.pairs[0]["summary"] is None
        assert found.pairs[0]["difference"] == 0
        assert "Collections like these are not estimated" in found.words()

    def test_frames_and_prints(self, compared):
        assert compared.to_polars().height == len(compared.rows()) == 12
        assert "run1" in repr(compared)
        assert "<table " in compared._repr_html_()


# ---- files ----


def write(made, folder, layout="plain"):
    for name, (qrels, runs) in made.items():
        place = folder / name
        (place / "runs").mkdir(parents=True)
        if layout == "beir":
            (place / "qrels").mkdir()
            rows = [
                f"{query}\t{doc}\t{grade:g}" for query, own in qrels.to_dict().items() for doc, grade in own.items()
            ]
            (place / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows, ""]))
            (place / "qrels" / "train.tsv").write_text("not read")
            (place / "queries.jsonl").write_text("{}")
        else:
            qrels.write(place / "qrels.txt")
        for run in runs:
            run.write(place / "runs" / f"{run.name}.txt")


@pytest.fixture
def folder(made, tmp_path):
    write(made, tmp_path / "all")
    return tmp_path / "all"


def asked(command, *arguments):
    code, out, err = command("collections", *arguments, "-m", "AP", "--format", "json")
    assert code == 0, err
    return json.loads(out)


class TestCommandLine:
    def test_every_layout_gives_the_same(self, command, made, folder, tmp_path):
        expected = asked(command, folder)
        assert sorted(expected["collections"]) == sorted(made)
        named = [f"{name}={folder / name}" for name in sorted(made)]
        write(made, tmp_path / "beir", "beir")
        rows = ["collection,qrels,runs", *(f"{name},all/{name}/qrels.txt,all/{name}/runs" for name in sorted(made)), ""]
        (tmp_path / "manifest.csv").write_text("\n".join(rows))
        as_json = {name: {"qrels": f"all/{name}/qrels.txt", "runs": [f"all/{name}/runs/*"]} for name in sorted(made)}
        (tmp_path / "manifest.json").write_text(json.dumps(as_json))
        for given in (named, [tmp_path / "beir"], [tmp_path / "manifest.csv"], [tmp_path / "manifest.json"]):
            found = asked(command, *given)
            assert {name: found[name] for name in ("systems", "pairs", "cells")} == {
                name: expected[name] for name in ("systems", "pairs", "cells")
            }

    def test_rows_are_those_of_python(self, command, made, folder):
        found = asked(command, folder)
        expected = rb.compare_collections({name: made[name] for name in sorted(made)}, "AP")
        assert found["systems"] == expected.systems
        assert found["missing"] == [{"run": "run3", "collection": "mail"}]
        assert found["settings"]["mean"] == "collections"
        assert found["differences"] == expected.differences

    def test_runs_elsewhere_and_names_of_files(self, command, made, tmp_path):
        for name, (qrels, runs) in made.items():
            (tmp_path / "data" / name).mkdir(parents=True)
            (tmp_path / "runs" / name).mkdir(parents=True)
            qrels.write(tmp_path / "data" / name / "qrels.txt")
            for run in runs:
                run.renamed(f"{run.name}-{name}").write(tmp_path / "runs" / name / f"{run.name}.txt")
        code, _, err = command("collections", tmp_path / "data", "--runs", tmp_path / "runs")
        assert (code, "--names file" in err) == (3, True)
        found = asked(command, tmp_path / "data", "--runs", tmp_path / "runs", "--names", "file")
        assert sorted(row["run"] for row in found["systems"]) == ["run1", "run2", "run3", "run4"]
        code, _, err = command("collections", tmp_path / "data")
        assert (code, "--runs FOLDER" in err) == (3, True)

    def test_a_manifest_names_runs(self, made, folder):
        rows = ["collection\tqrels\truns\trun"]
        rows += [f"{name}\t{name}/qrels.txt\t{name}/runs/run1.txt\tfirst" for name in made]
        rows += [f"{name}\t{name}/qrels.txt\t{name}/runs/run2.txt\tsecond" for name in made]
        (folder / "named.tsv").write_text("\n".join(rows))
        files = collections_at([(None, str(folder / "named.tsv"))])
        assert [[name for name, _ in of_collection.runs] for of_collection in files] == [["first", "second"]] * 4
        assert rb.compare_collections(folder / "named.tsv", "AP").runs == ["first", "second"]

    @pytest.mark.parametrize("kind", ["table", "markdown", "latex", "html", "csv", "tsv", "jsonl"])
    def test_other_formats(self, command, folder, kind):
        code, out, err = command("collections", folder, "--format", kind)
        assert code == 0, err
        assert all(run in out for run in ("run1", "run2", "run3", "run4"))

    def test_options(self, command, folder):
        found = asked(command, folder, "--mean", "queries", "--missing", "collections", "--baseline-run", "run2")
        assert found["settings"]["left_out"] == ["mail"]
        assert {row["against"] for row in found["pairs"]} == {"run2"}
        dropped = asked(command, folder, "--depth", "5")
        assert dropped["systems"] != asked(command, folder)["systems"]

    def test_the_figure(self, command, folder, tmp_path):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        code, out, err = command("collections", folder, "--pair", "run2", "run1", "--figure", tmp_path / "forest.svg")
        assert code == 0, err
        assert "run2 minus run1" in out
        assert (tmp_path / "forest.svg").stat().st_size > 1000

    @pytest.mark.parametrize(
        ("arguments", "code", "told"),
        [
            (["nothing"], 3, "no such folder"),
            (["all/web/qrels.txt"], 2, "neither a folder"),
            (["all/web"], 2, "at least two collections"),
            (["x=all"], 2, "holds 4 collections"),
            (["all", "all/web"], 2, 'Two collections are called "web"'),
            (["empty"], 3, "holds no judgments"),
            (["all", "--pair", "run1", "runx"], 2, "runx"),
            (["all", "--names", "colour"], 2, '"colour" is not a choice'),
            (["bad.csv"], 3, "bad.csv:2: runs must be given"),
            (["bad.json"], 3, "cannot be read as JSON"),
            (["list.json"], 3, "a list of objects"),
            (["all", "-o", "all/web/runs/run1.txt"], 2, "would be overwritten"),
            (["two.csv"], 3, "two files of judgments"),
        ],
    )
    def test_mistakes_are_one_sentence(self, command, folder, monkeypatch, arguments, code, told):
        monkeypatch.chdir(folder.parent)
        (folder.parent / "empty").mkdir()
        (folder.parent / "bad.csv").write_text("collection,qrels,runs\nweb,all/web/qrels.txt,\n")
        (folder.parent / "two.csv").write_text(
            "collection,qrels,runs\nweb,all/web/qrels.txt,all/web/runs\nweb,all/news/qrels.txt,all/web/runs\n"
        )
        (folder.parent / "bad.json").write_text("[")
        (folder.parent / "list.json").write_text("[1]")
        got, out, err = command("collections", *arguments)
        assert (got, out, err.count("\n")) == (code, "", 1)
        assert told in err


def test_only_topics_that_all_runs_of_a_collection_have_count():
    """As in a comparison on one collection; where there are none, it is told of which collection."""
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(6)}
    lists = {topic: ["r", "n"] for topic in qrels}
    whole = {"one": lists, "two": lists}
    some = {"one": {topic: lists[topic] for topic in "0123"}, "two": {topic: lists[topic] for topic in "2345"}}
    none = {"one": {topic: lists[topic] for topic in "012"}, "two": {topic: lists[topic] for topic in "345"}}

    def compared(runs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rb.RankboundsWarning)  # each run lacks some topics
            scores = {
                name: rb.evaluate(qrels, of_collection, "RR", topics="shared")
                for name, of_collection in (("whole", whole), ("other", runs))
            }
        return rb.compare_collections(scores)

    with pytest.warns(rb.RankboundsWarning, match="^other: "):
        assert compared(some).pairs[0]["topics"] == 8
    with pytest.raises(rb.DataError, match=r'^The collection "other": No topic'):
        compared(none)


def test_collections_that_differ_from_each_other_do_not_hide_a_difference(tmp_path):
    """Differences of +.45, -.30 and 0 that hardly vary within a collection: interval and p take them as fixed."""
    generator = np.random.default_rng(2)
    scored = {}
    for name, apart in (("web", 0.45), ("news", -0.30), ("mail", 0.0)):
        base = generator.uniform(0.3, 0.4, 30)
        values = {"b": base, "a": base + apart + generator.normal(0, 0.08, 30)}
        scored[name] = {run: {"AP": dict(zip(map(str, range(30)), row, strict=True))} for run, row in values.items()}
    paths = {name: tmp_path / f"{name}.json" for name in scored}
    for name, path in paths.items():
        path.write_text(json.dumps(scored[name]))
    found = rb.compare_collections({name: rb.read_scores(path) for name, path in paths.items()})
    row = found.pairs[0]
    assert row["ci_low"] > 0.02
    assert row["p_value"] < 0.001
    assert row["verdict"] == "better"
    assert "a minus b is +0.0" in found.words()
    assert "means: better (p " in found.words()


def test_no_interval_reaches_beyond_what_a_measure_can_be():
    """Three collections of six topics each: t times the error is more than what P@2 can be."""
    qrels = {str(topic): {"r": 1, "s": 1, "n": 0} for topic in range(6)}
    right, wrong, half = ["r", "s"], ["n", "m"], ["r", "m"]
    runs = {
        "web": {"a": [right, wrong], "b": [wrong, right]},
        "news": {"a": [right, right], "b": [half, wrong]},
        "mail": {"a": [half, wrong], "b": [right, right]},
    }
    lists = {
        name: {run: dict(zip(qrels, own * 3, strict=True)) for run, own in of.items()} for name, of in runs.items()
    }
    found = rb.compare_collections({name: (qrels, of) for name, of in lists.items()}, "P@2")
    row = found.pairs[0]
    for low, high in (("ci_low", "ci_high"), ("summary_low", "summary_high")):
        assert -1 <= row[low] <= row[high] <= 1
    assert all(-1 <= part["ci_low"] <= part["ci_high"] <= 1 for part in found.differences)
    assert (found.differences[0]["ci_low"], found.differences[0]["ci_high"]) == (-1, 1)
    known = [part for part in (*found.cells, *found.systems) if part["ci_low"] is not None]
    assert known
    assert all(0 <= part["ci_low"] <= part["ci_high"] <= 1 for part in known)


@pytest.mark.parametrize(("topics", "shown"), [(2, False), (3, True)])
def test_few_topics_show_no_more_than_their_signs(topics, shown):
    """Two collections of two topics: four nearly equal differences show nothing; six of six show what signs can."""
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(topics)}
    good, worse, bad = ["r", "n"], ["n", "r"], ["n", "m", "r"]
    runs = {"a": dict.fromkeys(qrels, good), "b": dict.fromkeys(qrels, worse) | {"0": bad}}
    (row,) = rb.compare_collections({"web": (qrels, runs), "news": (qrels, runs)}, "RR").pairs
    assert row["p_value"] >= 2 * 0.5 ** (2 * topics)
    assert (row["verdict"] != "no difference shown") == shown
    assert (row["ci_low"] is not None) == shown


def test_another_tools_percentages_are_not_cut_at_1(tmp_path):
    path = tmp_path / "AP.csv"
    path.write_text("topic,b,a\n1,20,25\n2,42,40\n3,22,31\n")
    scores = rb.read_scores(path)
    row = rb.compare_collections({"web": scores, "news": scores}).pairs[0]
    assert row["ci_low"] < -1
    assert row["ci_high"] > 5


def test_equal_differences_have_no_interval_of_no_width():
    qrels = {str(query): {"r": 1} for query in range(3)}
    good, poor = {query: ["r"] for query in qrels}, {query: ["n", "r"] for query in qrels}
    collection = (qrels, {"poor": poor, "good": good})
    found = rb.compare_collections({"web": collection, "news": collection}, "RR")
    row = found.pairs[0]
    assert (row["difference"], row["ci_low"], row["ci_high"], row["p_value"]) == (0.5, None, None, 0.25)
    assert row["verdict"] == "no difference shown"
    assert "not estimated from a collection in which all topics differ by the same" in found.words()
    assert len(rb.plots.forest(found).get_yticklabels()) == 3


def test_two_runs_without_a_collection_in_common_are_told_either_way_round():
    lists = {"q1": ["r", "n"], "q2": ["n", "r"]}
    qrels = {query: {"r": 1, "n": 0} for query in lists}
    collections = {
        "x": (qrels, {"here": lists, "both": lists, "all": lists}),
        "y": (qrels, {"there": lists, "both": lists, "all": lists}),
    }
    compared = rb.compare_collections(collections, "RR")
    assert compared.words("here", "there").endswith("have no collection in common.")
    assert compared.words("there", "here") == compared.words("here", "there").replace(
        "here and there", "there and here"
    )
    assert compared.pair("there", "here")["difference"] is None


def test_effort_is_named_as_such():
    """Else "A minus B is -1.4" is read as a loss."""
    good, bad = ({f"q{at}": docs for at in range(4)} for docs in (["r", "n"], ["n", "r"]))
    qrels = {query: {"r": 1, "n": 0} for query in good}
    compared = rb.compare_collections(
        dict.fromkeys("xyz", (qrels, {"bad": bad, "good": good})), ["RR", "ESL(n=1,collection=9)"]
    )
    assert compared.table("ESL(n=1,collection=9)").header[1].endswith("(mean of means, lower is better)")
    assert compared.words(measure="ESL(n=1,collection=9)").startswith("ESL(n=1,collection=9) (lower is better): good")
    assert "lower is better" not in compared.words() + "".join(compared.table().header)
