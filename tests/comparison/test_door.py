"""The door: judgments and runs in, the whole answer out, the same as on the command line, candidate minus baseline."""

from __future__ import annotations

import functools
import itertools
import json

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.commands.demo import DATA
from rankbounds.comparison import Evidence
from rankbounds.comparison.pairs import PAIR_FIELDS, turn
from rankbounds.comparison.printed import measure_table
from rankbounds.comparison.wording import agreement
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.tables import as_json

QRELS = DATA / "qrels.txt"
DEMO = sorted((DATA / "runs").iterdir())
ignore_warnings = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


@pytest.fixture(scope="module")
def collections(unpacked, tmp_path_factory):
    """Judgments and runs by name: the demo, and some of TREC-8 and of TREC-COVID on their first topics."""
    archives = {"trec8": "trec8-adhoc.tar.xz", "covid": "trec-covid-r5-top100.tar.xz"}

    @functools.cache
    def read(name):
        if name == "demo":
            return QRELS, DEMO
        (source,) = unpacked(archives[name]).iterdir()
        folder = tmp_path_factory.mktemp(name)
        (qrels,) = (path for path in source.iterdir() if path.name in ("qrels.txt", "qrels"))
        runs = sorted(path for path in source.rglob("*") if path.is_file() and path.parent.name.startswith("runs"))
        topics = set(rb.read_qrels(qrels).query_ids[:12])
        for path in (qrels, *runs[5:80:20]):
            lines = [line for line in path.read_text().splitlines(keepends=True) if line.split()[0] in topics]
            kept = [list(of_topic)[: len(lines) if path == qrels else 60] for of_topic in by_topic(lines)]
            (folder / path.name).write_text("".join(itertools.chain(*kept)))
        return folder / qrels.name, [folder / path.name for path in runs[5:80:20]]

    return read


def by_topic(lines):
    return [list(rows) for _, rows in itertools.groupby(sorted(lines, key=lambda line: line.split()[0]), topic_of)]


def topic_of(line):
    return line.split()[0]


# ---- one answer, whoever is asked ----


@ignore_warnings
@pytest.mark.parametrize("name", ["demo", "trec8", "covid"])
@pytest.mark.parametrize("count", [2, 4])
def test_every_number_and_sentence_of_the_command_is_pythons(collections, command, tmp_path, name, count):
    qrels, runs = collections(name)
    runs, measures = runs[:count], list(DEFAULT_MEASURES)
    kinds = {query: "odd" if at % 2 else "even" for at, query in enumerate(rb.read_qrels(qrels).query_ids)}
    labels = tmp_path / "kinds.csv"
    labels.write_text("query_id,kind\n" + "".join(f"{query},{kind}\n" for query, kind in kinds.items()))
    baseline = {} if count == 2 else {"baseline": rb.read_run(runs[1]).name}
    named = [word for run in baseline.values() for word in ("--baseline-run", run)]
    conditions = ["nDCG@10 worse", "judged@10 < 80%"]
    asked = [word for condition in conditions for word in ("--fail-if", condition)]
    options = ["--by", labels, *asked, "--margin", 0.02, "--resamples", 500, "--format", "json", *named]
    code, out, _ = command("compare", qrels, *runs, *[word for one in measures for word in ("-m", one)], *options)
    printed = json.loads(out)
    found = rb.compare(qrels, runs, measures, resamples=500, margin=0.02, **baseline)
    assert printed.pop("systems") == as_json(found.systems.rows())
    assert printed.pop("pairs") == as_json(found.pairs.rows())
    assert printed.pop("settings") == as_json(found.settings)
    sliced = found.slices({"kind": kinds})
    assert printed.pop("slices") == as_json(sliced.rows()) == as_json(found.slices(labels).rows())
    assert printed.pop("slice_settings") == as_json(sliced.settings)
    gate = found.gate(conditions, margin=0.02)
    told = {"answer": gate.answer, "exit_code": code, "conditions": as_json(gate.rows())}
    assert printed.pop("gate") == told
    assert gate.exit_code == code
    if count == 2:
        assert printed.pop("words") == [found.words(measure) for measure in measures]
        assert printed.pop("agreement") == found.agreement()
    else:
        assert printed.pop("winner") == as_json(found.winner().rows())
    assert set(printed.pop("fingerprint")["runs"]) == set(found.runs)
    assert printed == {}


@ignore_warnings
@pytest.mark.parametrize("count", [2, 4])
def test_what_is_printed_is_what_the_command_prints(command, count):
    found = rb.compare(QRELS, DEMO[:count], resamples=200)
    assert command("compare", QRELS, *DEMO[:count], "--resamples", 200)[1] == repr(found)


def test_options_of_evaluate_are_taken():
    compared = rb.compare(QRELS, DEMO[:2], "AP", ties="docid", unjudged="condensed", threads=1, resamples=50)
    scores = rb.evaluate(QRELS, DEMO[:2], "AP", ties="docid", unjudged="condensed")
    assert compared.scores == scores
    with pytest.warns(rb.RankboundsWarning, match="21 of 24 judged topics are left out"):
        cut = rb.compare(QRELS, DEMO[:2], "AP", preparation=lambda run: run.filter(run.query_ids[:3]), topics="shared")
    assert cut.settings["topics"] == 3
    seen = []
    rb.compare(QRELS, DEMO[:2], "AP", resamples=50, progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (2, 2)


def test_any_shape_that_evaluate_takes():
    qrels = {str(query): {"r": 1, "n": 0} for query in range(8)}
    runs = {"bad": {query: ["n", "r"] for query in qrels}, "good": {query: {"r": 2.0, "n": 1.0} for query in qrels}}
    as_objects = [rb.Run.from_columns(*zip(*rows(run), strict=True), name=name) for name, run in runs.items()]
    expected = rb.compare(qrels, runs, "RR").pairs.rows()
    assert expected[0]["difference"] == 0.5
    assert rb.compare(qrels, as_objects, rb.RR()).pairs.rows() == expected
    frame = rb.evaluate(qrels, runs, "RR").to_polars()
    assert rb.compare(frame).pairs.rows()[0]["p_value"] == expected[0]["p_value"]


def rows(run):
    for query, ranking in run.items():
        ranking = ranking if isinstance(ranking, dict) else {doc: -at for at, doc in enumerate(ranking)}
        yield from ((query, doc, score) for doc, score in ranking.items())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (({"1": {"a": 1}},), "The runs are missing"),
        (("qrels.txt",), "The runs are missing"),
        ((rb.evaluate(QRELS, DEMO[:2], "AP"), "AP"), "by themselves"),
        ((rb.evaluate(QRELS, DEMO[:2], "AP"), None, "AP"), "measures= goes with judgments and runs"),
    ],
)
def test_shapes_that_are_none_get_one_sentence(arguments, told):
    with pytest.raises(rb.UsageError, match=f"{told}.*rb.compare\\(qrels, runs\\)"):
        rb.compare(*arguments)
    with pytest.raises(rb.UsageError, match="at least two runs"):
        rb.compare(QRELS, DEMO[0])
    with pytest.raises(TypeError, match="Did you mean"):
        rb.compare(QRELS, DEMO[:2], tie="docid")


# ---- candidate minus baseline ----


def test_which_run_is_held_against_which():
    two = rb.compare(QRELS, DEMO[:2], resamples=50)
    assert {(row["run"], row["against"]) for row in two.pairs.rows()} == {(two.runs[1], two.runs[0])}
    named = rb.compare(QRELS, DEMO, resamples=50, baseline="dense")
    assert {row["against"] for row in named.pairs.rows()} == {"dense"}
    many = rb.compare(QRELS, DEMO, resamples=50)
    assert all(row["difference"] >= 0 for row in many.pairs.rows())
    assert any(row["difference"] < 0 for row in named.pairs.rows())
    effort = rb.compare(QRELS, DEMO, "ESL(n=1,collection=1000)", resamples=50)
    assert all(row["difference"] <= 0 for row in effort.pairs.rows())
    assert all(not row["verdict"].startswith("worse") for row in effort.pairs.rows() + many.pairs.rows())


def test_of_equal_means_the_later_run_is_held_against_the_earlier():
    qrels = {str(query): {"r": 1} for query in range(4)}
    run = {query: ["r"] for query in qrels}
    found = rb.compare(qrels, {"z": run, "a": run, "m": run}, "RR", resamples=50)
    assert [(row["run"], row["against"]) for row in found.pairs.rows()] == [("a", "z"), ("m", "z"), ("m", "a")]


@ignore_warnings
@pytest.mark.parametrize("name", ["demo", "trec8", "covid"])
def test_swapped_runs_mirror_every_number(collections, name):
    qrels, runs = collections(name)
    there, back = (rb.compare(qrels, order, resamples=300) for order in (runs[:2], runs[1::-1]))
    for row, other in zip(there.pairs.rows(), back.pairs.rows(), strict=True):
        mirrored = turn(other) | {"effect": None if other["effect"] is None else 0.0 - other["effect"]}
        assert row["verdict"] == mirrored["verdict"]
        for key in PAIR_FIELDS:
            assert row[key] == (pytest.approx(mirrored[key], abs=1e-12) if key[:1] != "v" else mirrored[key]), key
    pair = tuple(there.runs)
    assert there.words(pair=pair) == back.words(pair=pair)


@ignore_warnings
@pytest.mark.parametrize("name", ["demo", "trec8", "covid"])
def test_table_words_gate_slices_and_json_have_one_sign(collections, command, name):
    qrels, runs = collections(name)
    for one, other in itertools.permutations(runs[:3], 2):
        found = rb.compare(qrels, [one, other], resamples=100)
        whole = dict.fromkeys(found.scores.query_ids, "all")
        sliced = {row["measure"]: row for row in found.slices(whole).rows()}
        held = found.gate([f"{measure} worse" for measure in found.measures]).outcomes
        table = {row[0]: row[1] for row in measure_table(found).rows}
        for row, outcome in zip(found.pairs.rows(), held, strict=True):
            measure = row["measure"]
            sign = np.sign(row["difference"])
            assert sign == np.sign(outcome.difference) == np.sign(sliced[measure]["difference"])
            assert (row["run"], row["against"]) == (outcome.run, outcome.baseline)
            assert float(table[measure]) == pytest.approx(row["difference"], abs=5e-5)
            first = found.words(measure).splitlines()[0]
            assert f"a difference of {row['difference']:+.4f} over" in first
            assert first.startswith(f"{measure}: {row['run']} scores ")
            assert not row["verdict"].startswith("better" if sign < 0 else "worse")
    many = rb.compare(qrels, runs, resamples=100)
    for row in many.pairs.rows():
        assert f"{row['difference']:+.4f}" in many.words(row["measure"], (row["run"], row["against"]))
        sliced = many.slices(dict.fromkeys(many.scores.query_ids, "all")).rows()
        (same,) = (
            part
            for part in sliced
            if [part[key] for key in ("run", "against", "measure")] == [row["run"], row["against"], row["measure"]]
        )
        assert same["difference"] == pytest.approx(row["difference"], abs=1e-12)
        break


def test_one_sided_tests_need_a_direction():
    with pytest.raises(rb.UsageError, match="A one-sided test asks about one run"):
        rb.compare(QRELS, DEMO, "AP", alternative="greater")
    better, worse = (
        rb.compare(QRELS, DEMO[:2], "AP", test="t", alternative=side).pairs.rows()[0]["p_value"]
        for side in ("greater", "less")
    )
    assert better + worse == pytest.approx(1)


# ---- results ----


def test_pairs_and_systems_are_results():
    found = rb.compare(QRELS, DEMO[:3], ["AP", "RR"], resamples=100)
    for result in (found.pairs, found.systems, found.power()):
        assert isinstance(result, rb.Result)
        assert list(result.to_pandas().columns) == list(result.rows()[0])
        assert result.to_polars().to_dicts() == result.rows()
        assert json.loads(result.render("json")) == as_json(result.rows())
        assert "AP" in repr(result)
        assert "<table" in result._repr_html_()
    assert list(found.pairs.rows()[0]) == list(PAIR_FIELDS)
    assert len(found.pairs.rows()) == 3 * 2
    assert [row["run"] for row in found.sort("run").systems.rows()[:3]] == sorted(found.runs)


def test_scores_alone_and_lists_say_the_same_where_scores_can_tell():
    whole, alone = rb.compare(QRELS, DEMO[:2]), rb.compare(rb.evaluate(QRELS, DEMO[:2]))
    for row, other in zip(whole.pairs.rows(), alone.pairs.rows(), strict=True):
        for key in ("run", "against", "difference", "ci_low", "p_value", "won", "lost"):
            assert row[key] == other[key]
    assert "Scores alone cannot tell" in alone.words("nDCG@10")
    assert "Scores alone cannot tell" not in whole.words("nDCG@10")


def test_power_is_what_the_words_say():
    found = rb.compare(QRELS, DEMO[2::2], ["RR", "nDCG@10"])  # of which neither is shown to be better
    for row in found.power().rows():
        words = found.words(row["measure"])
        assert f"a true difference of {row['detectable']:.4f} is found 80% of the time" in words
        assert f"about {row['topics_needed']:,} topics are needed" in words or "are needed" not in words
    few = rb.compare(QRELS, DEMO[1:3], "RR", test="sign").power(0.9)
    row = few.rows()[0]
    assert row["must_differ"] == 6
    assert row["smallest_p"] == pytest.approx(float(rb.stats.smallest_p_value(row["differing"], 24, "sign")))
    assert "finds 90% of the time" in repr(few)
    with pytest.raises(rb.UsageError):
        found.power(1.5)


# ---- measures, and whether they agree ----


def test_one_list_of_measures_for_all_questions(command):
    names = ["nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR"]
    assert list(DEFAULT_MEASURES) == names
    assert [str(measure) for measure in rb.compare(QRELS, DEMO[:2]).measures] == names
    assert [str(measure) for measure in rb.evaluate(QRELS, DEMO[0]).measures] == names
    out = command("compare", QRELS, *DEMO[:2])[1]
    assert out.splitlines()[0].count(" by nDCG@10: ") == 1
    assert command("compare", QRELS, *DEMO[:2], "--explain")[1].count("Is it noise?") == 1
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()[1:]] == names


@pytest.mark.parametrize(
    ("leads", "shown", "said"),
    [
        ([1, 1, 1], [True, True, False], "Of 3 measures, all favour new, 2 significantly."),
        ([-1, -1, -1], [False] * 3, "Of 3 measures, all favour old, 0 significantly."),
        ([1, 1, -1], [True, False, True],
            "Of 3 measures, 2 favour new (AP and P), 1 significantly; 1 favour old (RR), 1 significantly."),
        ([0, 0, 0], [False] * 3, "By all 3 measures both score the same."),
    ],
)  # fmt: skip
def test_agreement_of_measures(leads, shown, said):
    assert agreement(["AP", "P", "RR"], ("new", "old"), leads, shown, equivalent=False) == said


@pytest.mark.parametrize("shown", [[True, True], [True, False], [False, False]])
def test_agreement_on_equivalence(shown):
    said = agreement(["AP", "RR"], ("new", "old"), [1, 1], shown, equivalent=True)
    assert said == f"{sum(shown)} of 2 measures show equivalence."


# ---- nothing is computed that nobody sees ----


def test_bounds_and_probabilities_are_computed_for_what_is_shown(monkeypatch):
    asked = []
    bounds, chances = Evidence.bounds, Evidence.chances
    monkeypatch.setattr(
        Evidence, "bounds", lambda self, measures, among=None: asked.extend(measures) or bounds(self, measures, among)
    )
    monkeypatch.setattr(Evidence, "chances", lambda self, measure: asked.append("chance") or chances(self, measure))
    runs = {f"{path.stem}{copy}": path for path in DEMO[:4] for copy in (1, 2)}
    board = rb.compare(QRELS, runs, resamples=50)
    assert "nDCG@10" in repr(board)
    assert asked == []
    two = rb.compare(QRELS, DEMO[:2], resamples=50)
    measure_table(two)
    assert {str(measure) for measure in asked} == set(DEFAULT_MEASURES)
    asked.clear()
    few = rb.compare(QRELS, DEMO[:3], resamples=50)
    assert "bounds" in repr(few)
    assert asked == []
    assert "bounds" in repr(rb.compare(QRELS, DEMO[:3], "nDCG@10", baseline="bm25"))
    assert {str(measure) for measure in asked} == {"nDCG@10"}
