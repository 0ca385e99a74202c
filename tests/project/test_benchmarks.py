"""The benchmark against other tools, on workloads a thousand times smaller; it compares itself with an earlier run."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import rankbounds as rb

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import compare_peers  # noqa: E402
import evidence  # noqa: E402
import judging_order  # noqa: E402
import label_audit  # noqa: E402
from peers import lock, record, targets  # noqa: E402
from peers.contenders import Contender, Programs  # noqa: E402
from peers.timing import Ratio, Timing, in_turns, ratios  # noqa: E402

OTHERS = ("ir_measures", "ranx", "trec_eval, C", "rbp_eval, C", "rbp_eval, Python")


def tables(printed):
    """Rows of cells by the heading above them."""
    found, heading = {}, ""
    for line in printed.splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line.startswith("| "):
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_a_small_run_and_what_has_grown_since(tmp_path, capsys):
    pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    saved = tmp_path / "before.json"
    small = [
        "--shrink",
        "1000",
        "--rounds",
        "1",
        "--cold",
        "--threads",
        "1",
        "--data",
        str(tmp_path),
        "--skip",
        *OTHERS,
    ]
    assert compare_peers.main([*small, "--workload", "topics", "one list", "--save", str(saved)]) == 0
    found = tables(capsys.readouterr().out)
    (header, *rows), (_, one_list) = found["topics (1 runs, 20 topics, 2 depth, 2 judged)"], found["one list"]
    assert [row[0] for row in rows] == [
        "five measures",
        "five measures, bounds",
        "RBP at two p, residuals",
        "five measures, scores written",
    ]
    assert header[3].startswith("pytrec_eval: ")
    for row in rows:
        assert float(row[2]) > 10  # megabytes of a process that has NumPy
        assert all(float(part) > 0 for part in row[3].split(" / "))
    assert one_list[0] == "prepared"
    met = {row[0]: row[4] for row in found["Must reach"][1:]}
    assert len(met) == len(targets.TARGETS) + 1 + len(targets.LARGE) + len(targets.MOST_GROWTH)
    assert met["100 x 50 x 1000 files, five measures"] == "not measured"
    assert met["20,000 x 100, one file, scores written"] in ("yes", "no")

    content = json.loads(saved.read_text())
    assert len(content["ratios"]) == 5
    content["ratios"]["one list: prepared / pytrec_eval"]["wall"] /= 1000
    saved.write_text(json.dumps(content))
    assert compare_peers.main([*small, "--workload", "one list", "--against", str(saved)]) == 1
    printed = capsys.readouterr().out
    grown = tables(printed)[f"Grown since {saved}"][1:]
    assert ["one list: prepared / pytrec_eval", "wall"] in [row[:2] for row in grown]
    assert "of 1 ratios that both runs have grew" in printed


def ratio(workload, ours, peer, wall, threads=None):
    return Ratio(workload, ours, threads, peer, wall, wall, None)


def test_growth_is_from_fewer_threads_to_more_of_the_same_workload():
    found = [
        ratio("many", "five measures", "other", wall, threads) for threads, wall in ((1, 0.3), (2, 0.2), (4, 0.25))
    ]
    assert targets.growth_with_threads(found, "wall") == pytest.approx(1.25)
    found.append(ratio("long", "five measures", "other", 0.9, 8))  # nothing of this one had fewer
    assert targets.growth_with_threads(found, "processor") == pytest.approx(1.25)
    assert targets.growth_with_threads(found[-1:], "wall") is None


def test_targets_are_of_as_many_threads_as_processors():
    found = [
        ratio("many", "five measures", "pytrec_eval", wall, threads) for threads, wall in ((1, 0.3), (2, 0.2), (4, 0.1))
    ]
    target = targets.TARGETS[0]
    assert [targets.reached(target, found, processors) for processors in (1, 2, 3, 8)] == [0.3, 0.2, 0.2, 0.1]
    assert targets.reached(target, [ratio("many", "five measures, bounds", "pytrec_eval", 0.1)], 2) is None


def test_growth_within_the_tolerance_is_noise(tmp_path):
    before = [ratio("many", "five measures", peer, 0.2, 2) for peer in ("one", "other")]
    record.save(tmp_path / "kept", before, {})
    now = [ratio("many", "five measures", "one", 0.21, 2), ratio("many", "five measures", "other", 0.3, 2)]
    assert record.regressions(now, record.load(tmp_path / "kept"), 0.15) == [
        ("many: five measures, threads: 2 / other", kind, 0.2, 0.3) for kind in ("wall", "processor")
    ]
    (tmp_path / "kept").write_text("{}")
    with pytest.raises(SystemExit, match="not written by this benchmark"):
        record.load(tmp_path / "kept")


def test_ratios_are_medians_of_rounds_in_which_both_ended():
    ours, peer = Contender("rankbounds", "this"), Contender("peer", "that")
    timings = {
        ours: [Timing(1, 2, 10), Timing(3, 4, 10), Timing(9, 9, 10)],
        peer: [Timing(2, 2, 40), None, Timing(3, 1, 40)],
    }
    (found,) = ratios("many", timings)
    assert (found.wall, found.processor, found.peak) == ((0.5 + 3) / 2, (1 + 9) / 2, 0.25)
    assert ratios("many", {ours: timings[ours], peer: [None] * 3}) == []


def test_a_contender_that_fails_has_no_timing():
    failing = Contender("rankbounds", "this", (sys.executable, "-S", "-c", "raise SystemExit(3)"))
    assert in_turns([failing], 1, warm=False) == {failing: [None]}


def test_looks_at_the_evaluations_are_counted():
    stacks = "<module> (<string>:11);evaluate (<string>:5);score_runs (evaluate.py:3) 7\n"
    stacks += "<module> (<string>:12);evaluations (<string>:8);evaluate (<string>:5);rank (a.py:3) 5\n"
    stacks += "<module> (<string>:12);evaluations (<string>:8) 2\n"
    assert lock.seen_within(stacks) == 7


def test_programs_in_c_are_named_or_on_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Programs.found(None, None) == Programs(None, None)
    for name, content in (("trec_eval", b"\x7fELF"), ("rbp_eval", b"#!/usr/bin/python")):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o755)
    assert Programs.found(None, None) == Programs(str(tmp_path / "trec_eval"), None)  # a script is another program
    (tmp_path / "rbp_eval").write_bytes(b"\x7fELF")
    assert Programs.found(None, None).rbp_eval == str(tmp_path / "rbp_eval")
    assert Programs.found(tmp_path / "mine", None).trec_eval == str(tmp_path / "mine")


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_judging_in_the_order_of_value_settles_a_pair_sooner_than_at_random():
    simulated = rb.studies.simulate(6, 12, 150, 20, best=0.2, worst=0.5, relevant=0.2, seed=4)
    for measure in ("P@10", "nDCG@10"):
        found = judging_order.mean_counts(simulated.complete, simulated.runs, rb.parse_measure(measure), 3, 10, 1)
        assert found["pairs"] == 3
        assert all(found[order] > 0 for order in judging_order.ORDERS)
        assert found["value"] < found["random"]


def test_rows_take_the_place_of_those_with_the_same_name(tmp_path):
    page = tmp_path / "page.md"
    text = evidence.PAGE.read_text("utf-8")
    page.write_text(text, "utf-8")
    inside = text.partition("<!-- table: looks -->\n")[2].partition("<!-- end -->")[0]
    lines = [evidence.cells_of(line) for line in inside.strip().splitlines()[2:]]
    evidence.write_rows("looks", lines, page=page)
    assert page.read_text("utf-8") == text, "the rows as they are"
    evidence.write_rows(
        "looks", [[*lines[0][:2], "7", "1.0%", "2", "3"], ["new", "judge", "1", "2%", "3", "4"]], page=page
    )
    changed = [line for line in page.read_text("utf-8").splitlines() if line not in text.splitlines()]
    assert [evidence.cells_of(line)[2:] for line in changed] == [["7", "1.0%", "2", "3"], ["1", "2%", "3", "4"]]
    for table, row in (("no such table", lines[0]), ("looks", ["too", "few"])):
        with pytest.raises(SystemExit, match=table):
            evidence.write_rows(table, [row], page=page)


def test_judges_that_are_made_up_have_one_row():
    found = {
        "umbrela-gpt4": ["9", "99.0% ±0.100", "90.0% ±0.050", "+0.1"],
        "good": ["9", "100.0% ±0.300", "95.0% ±0.010", "-0.1"],
        "bad": ["9", "96.0% ±0.200", "97.0% ±0.020", "+0.0"],
    }
    assert label_audit.rows_to_write(found, ["umbrela-gpt4"]) == [
        ["UMBRELA", "9", "99.0% ±0.100", "90.0% ±0.050"],
        ["simulated", "9", "96.0% ±0.300", "95.0% ±0.020"],
    ]


def test_every_table_of_the_evidence_is_written_by_a_benchmark():
    names = re.findall(r"<!-- table: (.+) -->", evidence.PAGE.read_text("utf-8"))
    scripts = [path.read_text("utf-8") for path in BENCHMARKS.glob("*.py")]
    assert names
    for name in names:
        assert any(f'write_rows("{name}"' in script and '"--write"' in script for script in scripts), name
