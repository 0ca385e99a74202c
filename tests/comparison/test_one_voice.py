"""One reading, one voice: files are opened once; compare, the gate, the report and Python say the same of a pair."""

from __future__ import annotations

import base64
import gzip
import html
import itertools
import json
import os
import pickle
import sys
import zlib

import numpy as np
import pytest

import browser
import rankbounds as rb
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.comparison import Evidence, compare, wording
from rankbounds.comparison.pairs import VERDICTS, pairs_against
from rankbounds.comparison.printed import pair_table
from rankbounds.evaluation.score_differences import tolerant_difference
from rankbounds.report import Choices, gather, page
from rankbounds.report.page import join_scripts
from rankbounds.tables import p_words

MEASURES = ["RBP(p=0.8)", "AP", "nDCG@10", "RR"]
OPTIONS = [word for measure in MEASURES for word in ("-m", measure)]
DEMO_RUNS = sorted((DATA / "runs").iterdir())
_opened: list[str] | None = None


def _note_open(event, arguments):
    if _opened is not None and event == "open" and isinstance(arguments[0], str | os.PathLike):
        _opened.append(os.fspath(arguments[0]))


sys.addaudithook(_note_open)


@pytest.fixture
def opened():
    """The names of all files opened from here on."""
    global _opened
    _opened = []
    yield _opened
    _opened = None


@pytest.fixture
def compressed(tmp_path):
    """A run that must be decompressed."""
    path = tmp_path / "bm25.txt.gz"
    path.write_bytes(gzip.compress((DATA / "runs" / "bm25.txt").read_bytes()))
    return path


class TestReading:
    """A file is read once, after a look at its beginning: are its rows judgments and run at once, or turns?

    For that look it is opened twice: to see whether it is compressed, and what it begins with.
    """

    def test_compare_opens_each_file_once(self, compressed, opened, capsys):
        files = [str(DATA / "qrels.txt"), str(DATA / "runs" / "dense.txt"), str(compressed)]
        assert main(["compare", *files, *OPTIONS, "--fail-if", "P@10 worse", "--explain"]) in (0, 1, 4)
        assert "Does it hold for other p?" in capsys.readouterr().out
        assert [opened.count(file) for file in files] == [3, 3, 3]

    def test_report_opens_each_file_once_and_again_for_its_checksum(self, compressed, opened, tmp_path):
        files = [str(DATA / "qrels.txt"), *map(str, DEMO_RUNS[1:]), str(compressed)]
        assert main(["report", *files, *OPTIONS, "-o", str(tmp_path / "report.html")]) == 0
        assert [opened.count(file) for file in files] == [4] * len(files)

    def test_checksums_are_those_of_the_files_on_disk(self, compressed):
        import hashlib

        files = [DATA / "qrels.txt", DEMO_RUNS[0], compressed]
        told = gather(files[0], files[1:], Choices.of(measures=["AP"]))["identity"]["files"]
        assert [row["sha256"] for row in told] == [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]

    def test_evidence_is_there_however_the_files_are_read(self, tmp_path, command):
        """A key for ties, other labels, lenient reading or a named format once cost the words about unjudged ones."""
        key = tmp_path / "key"
        documents = {doc for run in DEMO_RUNS for _, doc, _ in rb.read_run(run)}
        key.write_text("".join(f"{doc} {doc[::-1]}\n" for doc in sorted(documents)))
        files = [DATA / "qrels.txt", *DEMO_RUNS[:2], "-m", "RBP(p=0.8)", "--format", "json"]
        plain = json.loads(command("compare", *files)[1])
        for options in (["--lenient"], ["--formats", "trec"]):
            assert json.loads(command("compare", *files, *options)[1]) == plain
        keyed = json.loads(command("compare", *files, "--ties-key", key)[1])
        assert "Could ties?" in keyed["words"][0]
        scores = rb.evaluate(DATA / "qrels.txt", DEMO_RUNS[:2], "RBP(p=0.8)", ties_key=key)
        assert keyed["pairs"][0]["difference"] == pytest.approx(float(np.subtract(*scores.mean().value[::-1, 0, 0])))
        assert keyed["pairs"][0]["certain_low"] is not None


def unpacked_array(held):
    kind = {"f8": "<f8", "u4": "<u4", "u2": "<u2", "u1": "|u1"}[held["type"]]
    return np.frombuffer(zlib.decompress(base64.b64decode(held["data"]), -15), dtype=kind).reshape(held["shape"])


def sentences_of_page(content, measure, pair):
    """What the page fills in for a pair as it is stored; where p changes the lead is found by the page itself."""
    words, runs = content["words"], content["runs"]
    later, earlier = (side.tolist() for side in pairs_against(runs, None))
    a, b = later[pair], earlier[pair]
    held = {name: unpacked_array(column)[measure, pair] for name, column in content["pairs"].items()}
    ties = [content["lists"][run]["tie_range"][measure] for run in (a, b)]
    (low_a, high_a), (low_b, high_b) = ties
    held["ties_low"], held["ties_high"] = tolerant_difference(low_a, high_b), tolerant_difference(high_a, low_b)
    mean = content["systems"][measure]["mean"]
    held |= words["constants"] | {"a": runs[a], "b": runs[b], "mean_a": mean[a], "mean_b": mean[b]}
    held |= {"measure": words["measures"][measure], "size": abs(held["difference"])}
    choices = {name: unpacked_array(codes)[measure, pair] for name, codes in words["choices"].items()}
    assert words["templates"] == wording.TEMPLATES
    return wording.fill_templates(wording.name_templates(choices), held)


def said_by_all(qrels, runs, command):
    """The comparison, once command line, report and Python were found to agree on every pair of it."""
    code, out, _ = command("compare", qrels, *runs, *OPTIONS, "--format", "json")
    assert code == 0
    printed = json.loads(out)
    python = rb.compare(qrels, runs, MEASURES)
    content = gather(qrels, runs, Choices.of(measures=MEASURES))
    assert json.loads(json.dumps(python.pairs.rows())) == printed["pairs"]
    assert json.loads(json.dumps(python.settings)) == printed["settings"] == content["comparison"]
    assert json.loads(json.dumps(python.systems.rows())) == printed["systems"]
    known = python.numbers.tested.numbers | python.numbers.certain
    for name in ("p_value", "p_adjusted", "difference", "certain_low", "won"):
        np.testing.assert_array_equal(unpacked_array(content["pairs"][name]), known[name])
    assert content["words"]["method"] == python.method()
    for measure, name in enumerate(MEASURES):
        rows = [row for row in printed["systems"] if row["measure"] == name]
        for key in ("rank", "rank_low", "rank_high"):
            assert content["systems"][measure][key] == [row[key] for row in rows]
        for pair, (a, b) in enumerate(itertools.combinations(python.runs, 2)):
            told = python.sentences(name, (b, a))
            elsewhere = ("Does it hold for other p?", "Which judgments would help most?")
            shown = sentences_of_page(content, measure, pair)
            assert shown == [sentence for sentence in told if not sentence.startswith(elsewhere)]
            if len(runs) == 2:
                assert printed["words"][measure].splitlines() == told
    if len(runs) == 2:
        assert printed["agreement"] == python.agreement()
    return python


def gates_agree(qrels, baseline, candidate, command):
    """The gate's p is that of Python's comparison; it fails or passes where that one finds the run worse or better."""
    asked = [word for measure in MEASURES for word in ("--fail-if", f"{measure} worse")]
    code, out, _ = command("compare", qrels, baseline, candidate, *OPTIONS, *asked, "--explain")
    evidence = Evidence.read(qrels, [baseline, candidate])
    rows = evidence.compare(MEASURES).pairs.rows()
    lines = [line for line in out.splitlines() if line.startswith("gate ")]
    answers = [
        "undecided" if row["p_value"] >= 0.05 else "failed" if row["difference"] < 0 else "passed" for row in rows
    ]
    assert [line.split()[1] for line in lines] == [f"{answer}:" for answer in answers]
    assert code == (1 if "failed" in answers else 4 if "undecided" in answers else 0)
    for line, row in zip(lines, rows, strict=True):
        assert p_words(row["p_value"]) in line
    python = evidence.compare(MEASURES).gate([f"{measure} worse" for measure in MEASURES])
    assert [outcome.words() for outcome in python.outcomes] == lines
    assert [line for line in out.splitlines() if line.startswith(("PASS", "FAIL", "UNDECIDED"))] == python.lines()
    assert python.exit_code == code


def test_all_say_the_same_of_the_demo(command):
    found = said_by_all(DATA / "qrels.txt", DEMO_RUNS, command)
    assert found.settings["correction"] == "holm"
    said_by_all(DATA / "qrels.txt", DEMO_RUNS[1:3], command)
    gates_agree(DATA / "qrels.txt", DATA / "runs" / "reranked.txt", DATA / "runs" / "bm25.txt", command)


@pytest.fixture(scope="module")
def trec8(unpacked, tmp_path_factory):
    """Judgments and eight runs: the first fifteen topics, and the first hundred documents of each."""
    source = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
    runs = sorted((source / "runs").iterdir())
    folder = tmp_path_factory.mktemp("trec8")
    topics = rb.read_qrels(source / "qrels.txt").query_ids[:15]
    for path in (source / "qrels.txt", *runs[10:60:9], runs[100], runs[3]):
        kept = dict.fromkeys(topics, 0)
        with (folder / path.name).open("w") as out:
            for line in path.read_text().splitlines(keepends=True):
                topic = line.split(maxsplit=1)[0]
                if topic in kept and (path.name == "qrels.txt" or kept[topic] < 100):
                    kept[topic] += 1
                    out.write(line)
    return folder / "qrels.txt", [folder / path.name for path in (*runs[10:60:9], runs[100], runs[3])]


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_all_say_the_same_of_trec8(trec8, command):
    qrels, runs = trec8
    found = said_by_all(qrels, runs[-2:], command)
    assert found.settings["correction"] == "none"


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_page_says_it_word_for_word_on_trec8(trec8, tmp_path):
    chromium = browser.start(tmp_path / "profile")
    try:
        qrels, runs = trec8
        some = runs[:6]
        found = Evidence.read(qrels, some).compare(MEASURES)
        (tmp_path / "page.html").write_text(page(gather(qrels, some, Choices.of(measures=MEASURES))))
        chromium.get((tmp_path / "page.html").as_uri())
        for a, b in ((0, 1), (4, 2), (3, 5)):
            for measure, name in enumerate(MEASURES):
                chromium.execute_script(
                    "for (const [name, index] of Object.entries(arguments[0])) {"
                    "const select = document.getElementById(name); select.selectedIndex = index;"
                    "select.dispatchEvent(new Event('change')); }",
                    {"run-a": a, "run-b": b, "measure": measure},
                )
                told = found.sentences(name, (found.runs[a], found.runs[b]))
                kept = [sentence for sentence in told if not sentence.startswith("Which judgments would help")]
                assert chromium.find_element("id", "verdict").text.splitlines() == kept
        assert chromium.get_log("browser") == []
    finally:
        chromium.quit()


def test_no_sentence_of_a_verdict_stands_in_the_script():
    script = join_scripts()
    for question in ("Is it noise?", "Could unjudged", "Could ties", "Does it hold", "What would settle"):
        assert question not in script


def test_the_order_of_runs_changes_no_p_value():
    """Folders, command lines and dicts list the same runs in other orders."""
    found = compare(rb.evaluate(DATA / "qrels.txt", DEMO_RUNS, MEASURES))
    other = compare(rb.evaluate(DATA / "qrels.txt", DEMO_RUNS[::-1], MEASURES))
    for measure in MEASURES:
        mine = {
            frozenset((row["run"], row["against"])): (row["p_value"], row["p_adjusted"])
            for row in found[measure].pairs.rows()
        }
        theirs = {
            frozenset((row["run"], row["against"])): (row["p_value"], row["p_adjusted"])
            for row in other[measure].pairs.rows()
        }
        assert mine == theirs


class TestBaseline:
    def test_only_its_pairs_and_no_larger_p_than_among_all(self, command):
        files = [DATA / "qrels.txt", *DEMO_RUNS, "-m", "AP", "-m", "RBP(p=0.8)", "--format", "json"]
        found = json.loads(command("compare", *files, "--baseline-run", "dense")[1])
        assert {row["against"] for row in found["pairs"]} == {"dense"}
        assert len(found["pairs"]) == 4 * 2
        assert (found["settings"]["correction"], found["settings"]["baseline"]) == ("holm", "dense")
        every = {
            (row["measure"], frozenset((row["run"], row["against"]))): row
            for row in json.loads(command("compare", *files)[1])["pairs"]
        }
        for row in found["pairs"]:
            among_all = every[row["measure"], frozenset((row["run"], row["against"]))]
            assert row["p_value"] == among_all["p_value"]
            assert row["p_adjusted"] <= among_all["p_adjusted"]  # of fewer pairs
            sign = 1 if among_all["against"] == "dense" else -1
            assert row["difference"] == sign * among_all["difference"]
            assert row["certain_low"] == (
                among_all["certain_low"] if sign > 0 else -(among_all["certain_high"] or 0) or None
            )

    def test_a_name_that_is_none(self, command):
        code, out, err = command("compare", DATA / "qrels.txt", *DEMO_RUNS, "--baseline-run", "bm52")
        assert (code, out) == (2, "")
        assert 'Did you mean "bm25"' in err


def without(folder, run, topics):
    path = folder / run.name
    lines = run.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if line.split()[0] not in topics))
    return path


def test_shared_topics_are_those_of_all_runs(tmp_path, command):
    """Both runs lack some judged topics, and not the same ones."""
    topics = rb.read_qrels(DATA / "qrels.txt").query_ids
    runs = [without(tmp_path, DEMO_RUNS[0], topics[:2]), without(tmp_path, DEMO_RUNS[1], topics[1:3])]
    arguments = ["compare", DATA / "qrels.txt", *runs, "-m", "AP", "-m", "P@10", "--topics", "shared"]
    code, out, err = command(*arguments, "--format", "json")
    assert code == 0
    assert err.count("left out") == 1
    assert "3 of 24 judged topics are left out" in err
    printed = json.loads(out)
    assert printed["settings"]["topics"] == 21
    whole = rb.evaluate(DATA / "qrels.txt", DEMO_RUNS[:2], ["AP", "P@10"]).value[:, 3:]
    for at, row in enumerate(printed["pairs"]):
        assert row["difference"] == pytest.approx(float((whole[1, :, at] - whole[0, :, at]).mean()))
    with pytest.warns(rb.RankboundsWarning):
        scores = rb.evaluate(DATA / "qrels.txt", runs, ["AP", "P@10"], topics="shared")
    with pytest.warns(rb.RankboundsWarning, match="3 of 24 judged topics are left out") as told:
        found = rb.compare(scores)
    assert len(told) == 1
    for row, other in zip(found.pairs.rows(), printed["pairs"], strict=True):
        assert (row["p_value"], row["won"]) == (other["p_value"], other["won"])


@pytest.fixture(scope="module")
def found():
    return Evidence.read(DATA / "qrels.txt", DEMO_RUNS[:3]).compare(["AP", "RBP(p=0.8)"])


class TestComparisonAsAnObject:
    def test_by_measure_and_by_run(self, found):
        assert {row["measure"] for row in found["RBP(p=0.8)"].pairs.rows()} == {"RBP(p=0.8)"}
        assert found[rb.RBP(p=0.8)] == found["RBP(p=0.8)"]
        assert found["RBP(p=0.8)"].words() == found.words("RBP(p=0.8)")
        name = found.runs[1]
        held = found.filter(name)
        assert held.pairs.rows() == [row for row in found.pairs.rows() if name in (row["run"], row["against"])]
        with pytest.raises(rb.UsageError, match="not compared by"):
            found["P@10"]
        with pytest.raises(rb.UsageError, match="There is no run"):
            found.filter("nobody")

    def test_words_of_a_pair_named_the_other_way_round(self, found):
        a, b = found.runs[:2]
        turned = Evidence.read(DATA / "qrels.txt", [DEMO_RUNS[1], DEMO_RUNS[0], DEMO_RUNS[2]]).compare(found.measures)
        for measure in found.measures:
            assert found.sentences(measure, (b, a)) == turned.sentences(measure, (b, a))
        assert len(found.words("AP").split("\n\n")) == 3

    def test_pickled_copied_equal(self, found):
        again = pickle.loads(pickle.dumps(found))
        assert again == found
        assert again.words() == found.words()
        assert again != found["AP"]
        assert again != 1

    def test_frames_have_the_rows(self, found):
        assert found.to_polars().to_dicts() == found.pairs.rows()
        assert found.to_pandas()["p_adjusted"].tolist() == [row["p_adjusted"] for row in found.pairs.rows()]

    def test_tables_name_runs_tests_and_both_p_values(self, found):
        assert pair_table(found, "AP").header[:2] == ["run", "against"]
        assert [name for name in pair_table(found, "AP").header if name.startswith("p")] == ["p", "p corrected"]
        tested_by = f"t test, Holm's correction for all {len(found.pairs.rows()) // len(found.measures)} pairs"
        assert tested_by in repr(found)
        assert html.escape(tested_by) in found._repr_html_()
        assert found.settings["tested_by"] == tested_by
        at = pair_table(found, "AP").header.index("verdict")
        assert {row[at] for row in pair_table(found, "AP").rows} <= {*VERDICTS}


def test_the_interval_of_a_mean_is_not_explained_as_that_of_a_difference():
    compared = {count: rb.compare(DATA / "qrels.txt", DEMO_RUNS[:count], "AP", test="t") for count in (2, 3)}
    of_pairs = "t interval of each pair alone, which excludes 0 exactly where p < 0.05"
    of_means = "95% (topics) of a mean: Wilson's interval (t without a known range); of a difference: "
    assert of_means + of_pairs in compared[3].method()
    assert of_means not in compared[2].method()
    content = gather(DATA / "qrels.txt", DEMO_RUNS[:3], Choices.of(measures=["AP"]))
    assert of_means in content["words"]["method"]
    means = compared[3].scores.mean()
    for row in compared[3].systems.rows():
        assert row["ci_low"] == means.run(row["run"]).ci_low.item()
