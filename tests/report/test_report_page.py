"""The page: what a browser shows is what the functions say, and nothing in the files can become markup."""

from __future__ import annotations

import csv
import itertools
import json
import re
import shutil
import subprocess
import time
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from report_pages import (
    HOSTILE,
    MEASURES,
    choose,
    content_of,
    hostile_files,
    opened,
    press,
    rows_of,
    texts,
    type_in,
    unpacked,
    verdict_of,
)

import browser
import rankbounds as rb
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.comparison import compare
from rankbounds.rbp.crossings import sign_changes
from rankbounds.report import Choices, content, gather, page
from rankbounds.report.observed import TIED
from rankbounds.report.page import join_scripts


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_hostile_ids_stay_text(tmp_path):
    qrels, runs = hostile_files(tmp_path)
    held = gather(qrels, runs, Choices.of(title=HOSTILE[0]))
    text = page(held)
    assert text.isascii()
    parser = Elements()
    parser.feed(text)
    tags = [tag for tag, _ in parser.seen]
    assert tags.count("script") == 2
    assert not {"img", "b", "i"} & set(tags)
    assert not [name for _, attributes in parser.seen for name in attributes if name.startswith("on")]
    data = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert "<" not in data
    assert json.loads(data)["runs"] == held["runs"]


def test_script_never_writes_markup():
    script = join_scripts()
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser"):
        assert way not in script


@pytest.mark.skipif(shutil.which("node") is None, reason="scripts are run by Node.js: install node")
@pytest.mark.parametrize(
    ("runs", "whole", "expected"), [(2, True, "1 2"), (3, True, "1 2 3"), (5, True, "1 2 3 4 5"), (2, False, "1.0 1.2")]
)
def test_places_have_whole_ticks(runs, whole, expected):
    """Not "1 1 1 2 2 2" for two runs."""
    source = (DATA.parent / "report" / "scripts" / "figures.js").read_text("utf-8")
    start = source.index("function ticks(")
    function = source[start : source.index("\n}", start) + 2]
    call = f"const found = ticks(1, {runs}, 5, {json.dumps(whole)});"
    shown = "console.log(found.at.map((value) => value.toFixed(found.digits)).join(' '))"
    done = subprocess.run(["node", "-e", f"{function}\n{call}{shown}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip().startswith(expected)
    assert len(set(done.stdout.split())) == len(done.stdout.split())


def test_command_writes_a_page_that_needs_no_network(tmp_path, capsys):
    out = tmp_path / "report.html"
    assert main(["report", str(DATA / "qrels.txt"), str(DATA / "runs"), "-o", str(out)]) == 0
    text = out.read_text()
    assert capsys.readouterr().out == ""
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert len(text) < 200_000


def test_browser_shows_the_leaderboard_and_sorts(chromium, demo_page, demo_scores, demo_compared):
    opened(chromium, demo_page)
    mean = demo_scores.mean()
    for at in range(len(MEASURES)):
        choose(chromium, "measure", at)
        expected = sorted(zip(mean.value[:, 0, at], demo_scores.runs, strict=True), key=lambda pair: -pair[0])
        assert [row[1:3] for row in rows_of(chromium, "board")] == [[run, f"{value:.4f}"] for value, run in expected]
        places = {row["run"]: row for row in demo_compared[MEASURES[at]].systems.rows()}
        for row in rows_of(chromium, "board"):
            place = places[row[1]]
            low, high = place["rank_low"], place["rank_high"]
            assert row[5] == (str(low) if low == high else f"{low} to {high}")
    names = [row[1] for row in rows_of(chromium, "board")]
    press_run = "[...document.querySelectorAll('#board th button')].find(b => b.textContent === 'run').click()"
    for order in (sorted(names), sorted(names, reverse=True)):
        chromium.execute_script(press_run)
        assert [row[1] for row in rows_of(chromium, "board")] == order
    assert chromium.find_elements("css selector", "#board th[aria-sort=descending]")
    assert chromium.get_log("browser") == []


def test_browser_slider_equals_evaluate(chromium, demo_page):
    opened(chromium, demo_page)
    for p in (0.3, 0.57, 0.8, 0.95, 0.99):
        chromium.execute_script(
            "const p = document.getElementById('p'); p.value = arguments[0]; p.dispatchEvent(new Event('input'))",
            str(p),
        )
        mean = rb.evaluate(DATA / "qrels.txt", DATA / "runs", f"RBP(p={p})").mean()
        expected = {
            run: (f"{low:.4f}", f"+{high - low:.4f}")
            for run, low, high in zip(mean.runs, mean.low[:, 0, 0], mean.high[:, 0, 0], strict=True)
        }
        rows = rows_of(chromium, "p-board")
        assert {row[1]: (row[2], row[3]) for row in rows} == expected
        assert [row[1] for row in rows] == sorted(expected, key=lambda run: -float(expected[run][0]))
    assert chromium.get_log("browser") == []


def test_browser_slider_moves_by_keyboard(chromium, demo_page):
    opened(chromium, demo_page)
    chromium.find_element("id", "p").send_keys("\ue014")  # arrow right
    assert chromium.find_element("id", "p-shown").text == "p = 0.81"


def test_browser_verdict_on_two_runs_is_word_for_word_that_of_compare(chromium, tmp_path, capsys):
    told = []
    for a, b in (("learned", "bm25-expanded"), ("dense", "bm25-expanded"), ("reranked", "bm25")):
        files = [str(DATA / "runs" / f"{name}.txt") for name in (a, b)]
        options = [word for name in MEASURES for word in ("-m", name)]
        out = tmp_path / "two.html"
        assert main(["report", str(DATA / "qrels.txt"), *files, *options, "-o", str(out)]) == 0
        opened(chromium, out)
        for first, second in ((0, 1), (1, 0)):
            given = [str(DATA / "qrels.txt"), files[second], files[first]]
            assert main(["compare", *given, *options, "--format", "json"]) == 0
            for measure, words in enumerate(json.loads(capsys.readouterr().out)["words"]):
                lines = [line for line in words.splitlines() if not line.startswith("Which judgments would help")]
                assert verdict_of(chromium, first, second, measure) == lines
                told.append(lines)
    everything = str(told)
    for words in ("the lead changes at p =", "is better on these topics with probability", "topics are needed"):
        assert words in everything
    assert chromium.get_log("browser") == []


def test_browser_ranks_by_effort_and_shows_endless_searches(chromium, tmp_path, capsys):
    """Less effort is better; on the last topic one run finds nothing, and its search never ends."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{topic} 0 r 1\n{topic} 0 n 0\n{topic} 0 m 0\n" for topic in range(8)))
    files = []
    for name, docs, last in (("late", "nmr", "nm"), ("early", "rnm", "rnm"), ("early-too", "rmn", "rmn")):
        lists = {topic: docs if topic < 7 else last for topic in range(8)}
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text(
            "".join(
                f"{t} Q0 {doc} {at} {9 - at} {name}\n" for t, some in lists.items() for at, doc in enumerate(some, 1)
            )
        )
    options = ["-m", "ESL(n=1)", "-m", "P@3", "-m", "ESL(n=2)", "--test", "sign"]
    out = tmp_path / "effort.html"
    assert main(["report", str(qrels), *map(str, files), *options, "-o", str(out)]) == 0
    opened(chromium, out)
    board = [(row[0], row[1], row[2]) for row in rows_of(chromium, "board")]
    assert board == [("1", "early", "0.0000"), ("1", "early-too", "0.0000"), ("3", "late", "inf")]
    assert "lower is better" in chromium.find_element("id", "reading").text
    assert rows_of(chromium, "pair-board")[0][3] == "+0.0000"  # of the two best, which are equal
    assert main(["report", str(qrels), *map(str, files[:2]), *options, "-o", str(out)]) == 0
    opened(chromium, out)
    for first, second in ((0, 1), (1, 0)):
        capsys.readouterr()
        assert main(["compare", str(qrels), str(files[second]), str(files[first]), *options, "--format", "json"]) == 0
        words = json.loads(capsys.readouterr().out)["words"]
        for measure in range(3):
            assert verdict_of(chromium, first, second, measure) == words[measure].splitlines()
    assert "ESL(n=1) (lower is better): early scores 0.0000 and late inf, a difference of -inf" in words[0]
    assert "(8 won, 0 lost)" in words[0]
    assert "inf and late inf, a difference of +0.0000 (0 where both are infinite) over 8 topics (0 won, " in words[2]
    assert chromium.get_log("browser") == []


def test_browser_verdict_on_one_of_many_pairs_is_word_for_word_that_of_python(
    chromium, demo_page, demo_compared, demo_scores
):
    opened(chromium, demo_page)
    for a, b, measure in ((0, 1, 0), (2, 0, 0), (4, 3, 1), (1, 4, 3)):
        shown = verdict_of(chromium, a, b, measure)
        runs = demo_scores.runs[a], demo_scores.runs[b]
        told = demo_compared.sentences(MEASURES[measure], runs)
        assert shown == [line for line in told if not line.startswith("Which judgments would help")]
        differences = {row[0]: row[3] for row in rows_of(chromium, "pair-board")}
        change = demo_scores.value[a, :, measure] - demo_scores.value[b, :, measure]
        assert differences == {query: f"{one:+.4f}" for query, one in zip(demo_scores.query_ids, change, strict=True)}
    assert chromium.get_log("browser") == []


def test_browser_marks_the_crossings_that_there_are(chromium, demo_page, demo):
    opened(chromium, demo_page)
    marks = chromium.execute_script(
        "const held = ({ dataset }) => [dataset.a, dataset.b, dataset.p];"
        "return [...document.querySelectorAll('#p-chart circle')].map(held)"
    )
    shown = {}
    for a, b, p in marks:
        shown.setdefault(tuple(sorted((demo["runs"][int(a)], demo["runs"][int(b)]))), []).append(float(p))
    expected = {}
    for a, b in itertools.combinations(sorted(demo["runs"]), 2):
        rows = rb.rbp.find_crossings(DATA / "qrels.txt", [DATA / "runs" / f"{run}.txt" for run in (a, b)]).rows()
        places = [row["p"] for row in rows if row["change"] == "winner" and 0.3 <= row["p"] <= 0.99]
        if places:
            expected[a, b] = pytest.approx(places, abs=1e-12)
    assert expected
    assert shown == expected


def polynomial_with_roots(places, times=1):
    product = np.array([times], dtype=object)
    for place in places:
        product = np.convolve(product, np.array([-place.numerator, place.denominator], dtype=object))
    return [int(one) for one in product]


def test_browser_finds_the_changes_that_python_finds(chromium, demo_page):
    """Two crossings inside a step of 0.01, roots that only touch, roots at ends, and polynomials at random."""
    opened(chromium, demo_page)
    close = [Fraction(5023, 10000), Fraction(5087, 10000)]
    half, seventh = Fraction(1, 2), Fraction(1, 7)
    given = [
        [12776, -50550, 50000],
        polynomial_with_roots(close),
        polynomial_with_roots([half, half]),
        polynomial_with_roots([half, half, half, seventh]),
        polynomial_with_roots([seventh, seventh, Fraction(65, 128)]),
        polynomial_with_roots([Fraction(1, 1), half, Fraction(0, 1), Fraction(99, 100)]),
        [0, 0, 3, -1, -2],
        [0],
        [],
    ]
    rng = np.random.default_rng(3)
    given += [rng.integers(-9, 10, size).tolist() for size in (2, 5, 30, 300, 1000) for _ in range(12)]
    found = chromium.execute_script(
        "return arguments[0].map((one) => signChanges(one).map((c) => [c.at, c.after]))", given
    )
    for one, told in zip(given, found, strict=True):
        _, expected = sign_changes(np.array(one, dtype=float))
        assert [after for _, after in told] == [after for _, after in expected], one
        assert [place for place, _ in told] == pytest.approx([place for place, _ in expected], abs=1e-9)
    assert len(found[0]) == len(found[1]) == 2


def test_browser_strips_have_a_cell_for_each_rank(chromium, demo_page, demo):
    opened(chromium, demo_page)
    choose(chromium, "query", 3)
    shown = chromium.execute_script(
        "const titles = (list) => [...list.querySelectorAll('.cell')].map((cell) => cell.title);"
        "return [...document.querySelectorAll('#strips .list')].map(titles)"
    )
    strips = unpacked(demo["strips"])
    order = np.argsort(-np.array(demo["systems"][0]["mean"])).tolist()
    for at, titles in zip(order, shown, strict=True):
        codes = strips[at, 3, : len(titles)] % TIED
        for rank, (title, code) in enumerate(zip(titles, codes.tolist(), strict=True), 1):
            words = {1: "unjudged", 2: "judged non-relevant", 3: "grade 1", 4: "grade 2"}[code]
            assert title.removesuffix(", tied") == f"rank {rank}: {words}"


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_browser_runs_nothing_that_ids_hold(chromium, tmp_path):
    qrels, runs = hostile_files(tmp_path)
    out = tmp_path / "hostile.html"
    held = gather(qrels, runs, Choices.of(title=HOSTILE[0]))
    out.write_text(page(held))
    opened(chromium, out)
    for select in ("run-a", "measure", "query"):
        choose(chromium, select, 1)
    assert chromium.execute_script("return window.hacked === undefined")
    assert chromium.find_element("id", "title").text == HOSTILE[0]
    assert {row[1] for row in rows_of(chromium, "board")} == set(held["runs"])
    assert not chromium.find_elements(
        "css selector",
        "img, script[src], body b:not(.who b), body i:not(.cell i):not(.legend i):not(.mark):not(.share i)",
    )
    assert chromium.get_log("browser") == []


def test_browser_searches_and_filters_runs(chromium, demo_page, demo):
    opened(chromium, demo_page)
    chromium.find_element("tag name", "body").send_keys("/")
    assert chromium.switch_to.active_element.get_attribute("id") == "search"
    type_in(chromium, "search", "BM25, dense")
    assert {row[1] for row in rows_of(chromium, "board")} == {"bm25", "bm25-expanded", "dense"}
    assert {row[0] for row in rows_of(chromium, "coverage-board")} == {"bm25", "bm25-expanded", "dense"}
    assert chromium.find_element("id", "found").text == "3 of 5 runs"
    type_in(chromium, "search", "")
    low = dict(zip(demo["runs"], demo["systems"][0]["rank_low"], strict=True))
    alike = unpacked(demo["p_adjusted"])[0] >= 0.05
    bm25 = demo["runs"].index("bm25")
    first, second = np.triu_indices(5, 1)
    near = {demo["runs"][run] for pair in zip(first[alike], second[alike], strict=True) if bm25 in pair for run in pair}
    chromium.execute_script(
        "[...document.querySelectorAll('#board button.plain')].find(b => b.textContent === 'bm25').click()"
    )
    for number, shown in ((1, {run for run in low if low[run] == 1}), (2, near), (3, {"dense"})):
        choose(chromium, "filter", number)
        assert {row[1] for row in rows_of(chromium, "board")} == shown
    assert chromium.get_log("browser") == []


def test_browser_follows_links(chromium, demo_page, demo):
    address = Path(demo_page).as_uri()
    opened(chromium, demo_page)
    chromium.get(f"{address}#pair=bm25,dense&measure=AP")
    assert chromium.find_element("id", "verdict").text.startswith("AP: bm25 scores")
    assert texts(chromium, "#measure option:checked") == ["AP"]
    press(chromium, "swap")
    assert chromium.current_url == f"{address}#pair=dense,bm25&measure=AP"
    chromium.get(f"{address}#topic={demo['topics'][5]}")
    assert texts(chromium, "#query option:checked") == [demo["topics"][5]]
    press(chromium, "topic-after")
    assert chromium.current_url == f"{address}#topic={demo['topics'][6]}&measure=AP"
    chromium.get(f"{address}#pair=no-such-run,dense&measure=%E0%A4%A")  # nothing there, and no error
    assert chromium.find_element("id", "verdict").text.startswith("AP: dense scores")
    wanted = chromium.execute_script(
        "const link = document.querySelector('#changes-chart a');"
        "link.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));"
        "return link.getAttribute('href')"
    )
    assert chromium.current_url == address + wanted
    assert chromium.get_log("browser") == []


def test_browser_says_what_could_change_it_as_compare_does(chromium, demo_page, demo, demo_compared):
    opened(chromium, demo_page)
    for at, measure in enumerate(MEASURES):
        choose(chromium, "measure", at)
        order = np.argsort(-np.array(demo["systems"][at]["mean"]), kind="stable").tolist()
        leader = demo["runs"][order[0]]
        shown = texts(chromium, "#changes-chart svg > text:not([text-anchor])")
        for run, told in zip(order[1:], shown, strict=True):
            sentences = demo_compared.sentences(measure, (leader, demo["runs"][run]))
            asked = {"noise": "noise. It may be", "unjudged documents": "overturn it. (Yes|Perhaps)",
                     "ties": "Could ties. Yes", "another p": "other p. Not"}  # fmt: skip
            turns = [name for name, words in asked.items() if re.search(words, " ".join(sentences))]
            places = [float(p) for p in re.findall(r"(0\.\d{3}) \(", " ".join(sentences))]
            if "another p" in turns and not any(0.3 <= p <= 0.99 for p in places):
                turns.remove("another p")
            assert told == (", ".join(turns) or "nothing reverses it")


def test_browser_says_what_was_evaluated_and_what_is_in_doubt(chromium, demo_page, demo):
    opened(chromium, demo_page)
    facts = texts(chromium, "#facts li")
    assert facts[:4] == ["qrels.txt", "24 topics", "5 runs", "809 judgments"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", facts[4])
    assert f"fingerprint of the files {demo['identity']['fingerprint']}." in chromium.find_element("id", "made").text
    words = chromium.find_element("id", "changes-words").text
    for name, word, state in zip(
        ("noise", "unjudged documents", "ties"),
        texts(chromium, ".card .finding"),
        texts(chromium, ".card .state"),
        strict=True,
    ):
        counted = re.search(rf"{name} for (\d+|none)", words)[1]
        assert word.startswith(f"{counted.replace('none', 'None')} of 4 other runs")
        assert state.lower() == ("settled" if counted == "none" else "open")


def test_a_report_of_many_runs_is_below_two_megabytes(unpacked):
    folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
    page = rb.report(folder / "qrels.txt", folder / "runs", resamples=500).page
    assert len(page) < 2_000_000


def test_browser_colours_belong_to_runs(chromium, demo_page, demo):
    opened(chromium, demo_page)
    script = (
        "return Object.fromEntries([...document.querySelectorAll('#p-chart polyline')]"
        ".map(line => [line.querySelector('title').textContent, line.style.stroke]))"
    )
    before = chromium.execute_script(script)
    type_in(chromium, "p", "0.5")
    assert chromium.execute_script(script) == before
    assert len(set(before.values())) == len(demo["runs"])
    marks = chromium.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('#board tbody tr')]"
        ".map(row => [row.cells[1].textContent, row.querySelector('.mark').style.background]))"
    )
    assert marks == before


def saved(chromium, folder, press):
    """The file that pressing a button saves.

    Chromium reserves the name with an empty file and moves the finished download over it.
    """
    chromium.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    known = set(folder.iterdir())
    chromium.execute_script(press)
    for _ in range(12_000):
        new = [path for path in folder.iterdir() if path not in known and path.suffix in (".csv", ".svg")]
        if new and new[0].stat().st_size and not any(path.suffix == ".crdownload" for path in folder.iterdir()):
            return new[0].name, new[0].read_text("utf-8")
        time.sleep(0.05)
    raise AssertionError("nothing was saved")


def test_browser_saves_tables_and_figures(chromium, demo_page, demo, tmp_path):
    opened(chromium, demo_page)
    name, text = saved(chromium, tmp_path, "document.querySelector('#leaderboard button.keep').click()")
    rows = list(csv.DictReader(text.splitlines()))
    assert name == "leaderboard.csv"
    system = demo["systems"][0]
    assert [row["run"] for row in rows] == [demo["runs"][run] for run in np.argsort(system["rank"]).tolist()]
    for row in rows:
        run = demo["runs"].index(row["run"])
        for key in ("ci_low", "ci_high", "low", "high", "rank_low", "rank_high"):
            assert float(row[key]) == system[key][run]
    buttons = "const keep = [...document.querySelectorAll('button.keep, #keep-board')]; "
    kinds = chromium.execute_script(buttons + "return keep.map(b => b.textContent)")
    tables = chromium.execute_script("return document.querySelectorAll('table thead').length")
    figures = chromium.execute_script("return document.querySelectorAll('figure').length")
    assert (kinds.count("CSV"), kinds.count("SVG")) == (tables, figures + 1)
    for number, kind in enumerate(kinds):
        if kind == "SVG":
            _, text = saved(chromium, tmp_path, buttons + f"keep[{number}].click()")
            drawing = ElementTree.fromstring(text)
            assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
            assert "var(--" not in text
            assert len(list(drawing.iter())) > 10
    assert chromium.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_browser_page_is_accessible(chromium, demo_page, scheme):
    """Labels, names, heads of tables, order of headings, contrast and visible focus, each looked at in the browser."""
    with browser.coloured(chromium, scheme):
        opened(chromium, demo_page)
        chromium.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
        assert browser.lacks(chromium) == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_browser_page_fits_its_window(chromium, demo_page, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(chromium, demo_page)
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
        if width > 500:  # the leaderboard uses the width and is not wider
            board, room = chromium.execute_script(
                "const board = document.getElementById('board');"
                "return [board.offsetWidth, board.parentElement.clientWidth]"
            )
            assert 0.85 * width < board <= room
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_browser_shows_tables_of_scores_and_says_what_is_left_out(chromium, tmp_path, demo_scores, capsys):
    table, out = tmp_path / "scores.csv", tmp_path / "scores.html"
    table.write_text("run,query_id,measure,value\n" + "".join(
        f"{row['run']},{row['query_id']},{row['measure']},{row['value']}\n" for row in demo_scores.rows()))  # fmt: skip
    given = ["--scores", str(table), "-m", "AP", "-m", "RBP(p=0.8)"]
    assert main(["report", *given, "-o", str(out)]) == 0
    held = content_of(out.read_text("utf-8"))
    assert (held["lists"], held["persistence"], held["next"]) == (None, None, None)
    assert [file["role"] for file in held["identity"]["files"]] == ["scores"]
    opened(chromium, out)
    assert "without judgments" in chromium.find_element("id", "warnings").text
    for section, is_shown in (
        ("leaderboard", True),
        ("pair", True),
        ("topic", True),
        ("coverage", False),
        ("next", False),
    ):
        assert chromium.find_element("id", section).is_displayed() == is_shown
    compared = compare(rb.read_scores(table)[["AP", "RBP(p=0.8)"]])
    for a, b in ((0, 1), (4, 2)):
        names = demo_scores.runs[a], demo_scores.runs[b]
        assert verdict_of(chromium, a, b, 0) == compared.sentences("AP", names)
    assert browser.lacks(chromium) == []
    assert chromium.get_log("browser") == []
    assert main(["report", *given, "--source", "human", "-o", str(out)]) == 2
    assert "--source needs judgments and runs" in capsys.readouterr().err


def test_browser_shows_one_run_and_thinned_pages(chromium, tmp_path, monkeypatch):
    held = {"one": gather(DATA / "qrels.txt", [DATA / "runs" / "bm25.txt"])}
    whole = content.thin

    def smaller(scores):
        monkeypatch.setattr(content, "FEWEST_RUNS", 3)
        monkeypatch.setattr(content, "FEWEST_TOPICS", 4)
        return whole(scores, largest=1)

    monkeypatch.setattr(content, "thin", smaller)
    held["thinned"] = gather(DATA / "qrels.txt", [DATA / "runs"], Choices.of(measures=MEASURES))
    for name, one in held.items():
        out = tmp_path / f"{name}.html"
        out.write_text(page(one))
        opened(chromium, out)
        means = {run: f"{mean:.4f}" for run, mean in zip(one["runs"], one["systems"][0]["mean"], strict=True)}
        assert {row[1]: row[2] for row in rows_of(chromium, "board")} == means
        assert chromium.get_log("browser") == []
    assert set(held["thinned"]["runs"]) == {"reranked", "bm25-expanded", "dense"}
    assert "Of all 10 pairs of runs" in " ".join(held["thinned"]["summary"])
    shown = chromium.find_element("id", "warnings").text
    assert "The 3 best of 5 runs by RBP(p=0.8) are shown." in shown
    assert "4 of 24 topics" in shown
    assert "Rankings are not shown" in shown
    assert "over 24 topics (" in chromium.find_element("id", "verdict").text


def test_browser_draws_figures_for_paper(chromium, demo_page):
    """On paper a figure is drawn as wide as the page, and controls are words; on the screen it is as before."""
    opened(chromium, demo_page)
    drawn = "return [...document.querySelectorAll('figure svg[role]')].map((svg) => Number(svg.getAttribute('width')))"
    on_screen = chromium.execute_script(drawn)
    chromium.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert {700} == set(chromium.execute_script(drawn))
    overlapping = """
    return [...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const ticks = [...svg.querySelectorAll("text[text-anchor=middle]")].map((text) => text.getBoundingClientRect());
      return ticks.filter((one, number) => ticks.some((other, place) => place > number && Math.abs(one.y - other.y) < 2
        && one.right > other.left && other.right > one.left)).map(() => svg.getAttribute("aria-label"));
    })"""
    assert chromium.execute_script(overlapping) == []
    chromium.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert chromium.execute_script(drawn) == on_screen
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        styles = "return [...document.querySelectorAll('select')].map((list) => getComputedStyle(list).borderTopWidth)"
        assert set(chromium.execute_script(styles)) == {"0px"}
        assert not chromium.find_element("id", "search").is_displayed()
    finally:
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_browser_tells_runs_apart_on_a_phone(chromium, demo_page):
    """Names are whole, and every word of a figure lies within it."""
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    cut = """
    const inside = [...document.querySelectorAll("#board th .run > :last-child, #strips .who > span")];
    const words = [...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const edge = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.left < edge.left - 1 || box.right > edge.right + 1;
      }).map((text) => text.textContent);
    });
    return [inside.filter((name) => name.scrollWidth > name.clientWidth + 1).map((name) => name.textContent),
      inside.filter((name) => name.clientHeight > 4 * 16).map((name) => name.textContent), words]"""
    try:
        opened(chromium, demo_page)
        assert chromium.execute_script(cut) == [[], [], []]
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def texts_of_the_demo(folder):
    """Texts of every query and document of the demo: the query's words stand in some of its documents."""
    runs = [(DATA / "runs" / f"{name}.txt").read_text().splitlines() for name in ("bm25", "dense")]
    found = sorted({line.split()[2] for lines in runs for line in lines})
    (folder / "queries.tsv").write_text(
        "".join(f"{topic}\tpatience of users <b>{topic}</b>\n" for topic in range(1, 25))
    )
    text = "words " * 60 + "the patience of a user " + "more " * 60
    (folder / "docs.tsv").write_text("".join(f"{doc}\tabout {doc} {text}\n" for doc in found))
    return ["--queries", str(folder / "queries.tsv"), "--documents", str(folder / "docs.tsv")]


HEAD = "return document.querySelector('header').innerText + ' ' + document.getElementById('doubts').innerText"


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("collection", ["demo", "trec8-adhoc"])
def test_the_head_of_a_report_is_one_sentence_and_three_cards(chromium, tmp_path, unpacked, collection):
    """At most 60 words, whoever reads the page on however many runs."""
    folder = DATA if collection == "demo" else unpacked(f"{collection}.tar.xz") / collection
    out = tmp_path / "report.html"
    out.write_text(page(gather(folder / "qrels.txt", [folder / "runs"], Choices.of())))
    opened(chromium, out)
    head = chromium.execute_script(HEAD)
    assert len(head.split()) <= 60, head
    assert len(texts(chromium, "#summary > p")) == 1
    assert len(texts(chromium, ".card")) == 3
    assert not chromium.find_element("css selector", "#summary li").is_displayed()
    assert chromium.execute_script("return document.documentElement.scrollWidth <= innerWidth")


BOXES = """
return [...document.querySelectorAll("#pair-chart text.small")].map((text) => text.getBoundingClientRect())
  .map(({left, right}) => [left, right])
"""


@pytest.mark.parametrize("letters", ["", "topic-"])
def test_names_of_topics_do_not_run_together(chromium, tmp_path, letters):
    qrels = {f"{letters}{topic}": {"r": 1, "n": 0} for topic in range(401, 451)}
    runs = {name: {query: ["r", "n"] if int(query[-1]) % every else ["n", "r"] for query in qrels}
            for name, every in (("old", 2), ("new", 3))}  # fmt: skip
    out = tmp_path / "report.html"
    out.write_text(page(gather(qrels, runs, Choices.of(measures=["RR"]))))
    opened(chromium, out)
    boxes = chromium.execute_script(BOXES)
    assert len(boxes) == 50
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(boxes))


def test_browser_opens_with_the_verdict_on_two_runs(chromium, tmp_path, capsys):
    """One sentence and one picture first; no leaderboard of two, and no p of RBP that nobody asked for."""
    files = [str(DATA / "runs" / f"{name}.txt") for name in ("bm25", "dense")]
    out, by = tmp_path / "two.html", ["--by", str(DATA / "classes.csv")]
    assert main(["report", str(DATA / "qrels.txt"), *files, *by, *texts_of_the_demo(tmp_path), "-o", str(out)]) == 0
    opened(chromium, out)
    assert chromium.find_element("id", "title").text == "dense against bm25"
    assert texts(chromium, "#summary > p")[0].startswith("nDCG@10: dense scores 0.5640 and bm25 0.3659")
    assert not any("noise" in more or "Could" in more for more in texts(chromium, "#summary li"))  # cards say it
    shown = {part: chromium.find_element("id", part).is_displayed() for part in ("leaderboard", "persistence", "pair")}
    assert shown == {"leaderboard": False, "persistence": False, "pair": True}
    first = chromium.execute_script(
        "return [...document.querySelectorAll('main svg')].find(s => s.clientWidth).parentElement.id"
    )
    assert first == "pair-lanes"
    assert texts(chromium, ".card .state") == ["settled"] * 3
    words = " ".join(texts(chromium, "#verdict p"))
    for question, finding, note in zip(
        texts(chromium, ".card h2"), texts(chromium, ".card .finding"), texts(chromium, ".card .note"), strict=True
    ):
        answer = f"{question.replace('Could ties overturn it?', 'Could ties?')} {finding[:-1]}"
        assert answer in words
        assert note[1:] in words
    capsys.readouterr()
    assert main(["compare", str(DATA / "qrels.txt"), *files, "-m", "nDCG@10", *by, "--format", "json"]) == 0
    sliced = json.loads(capsys.readouterr().out)["slices"]
    told = {row[0]: row[2] for row in rows_of(chromium, "slices-board")}
    assert told == {row["slice"]: f"{row['difference']:+.4f}" for row in sliced if row["by"] == "class"}
    changed = [(row[0], abs(float(row[4]))) for row in rows_of(chromium, "changed-board")]
    everything = sorted((abs(float(row[3])) for row in rows_of(chromium, "pair-board")), reverse=True)
    assert [size for _, size in changed] == everything[: len(changed)]
    assert texts(chromium, "#query-words") == ["patience of users <b>1</b>"]
    ranked = (DATA / "runs" / "dense.txt").read_text().splitlines()
    ranked = sorted((line.split() for line in ranked if line.split()[0] == "1"), key=lambda line: -float(line[4]))
    assert texts(chromium, "#side-by-side section:first-child strong") == [line[2] for line in ranked[:10]]
    assert "patience" in texts(chromium, "#side-by-side .snippet mark")
    assert not chromium.find_elements("css selector", "#side-by-side b")
    assert browser.lacks(chromium) == []
    assert chromium.get_log("browser") == []


def test_a_report_by_class_of_too_many_runs_is_refused():
    runs = {f"run{number}": {"1": ["a"], "2": ["a"]} for number in range(21)}
    with pytest.raises(rb.UsageError, match="2 to 20 runs"):
        rb.report({"1": {"a": 1}, "2": {"a": 1}}, runs, "RR", by=str(DATA / "classes.csv"))


@pytest.mark.parametrize(
    ("runs", "measures"),
    [
        ({"a": {"1": ["r"]}, "b": {"1": ["n", "r"]}}, ["RR"]),
        ({name: {str(t): ["r", "n"] for t in range(6)} for name in "ab"}, ["RR", "P@1"]),
        ({"a": {str(t): ["r", "n"] for t in range(6)}, "b": {"0": ["x"]}}, ["nDCG@10", "RBP"]),
        ({name * 90: {str(t): ["r", "n"][: 1 + (t < 3)] for t in range(6)} for name in "ab"}, ["RR"]),
    ],
    ids=["one topic", "equal", "nearly empty", "long names"],
)
@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_browser_shows_odd_runs_on_a_phone(chromium, tmp_path, runs, measures):
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        qrels = {topic: {"r": 1, "n": 0} for topic in runs[min(runs)]}
        rb.report(qrels, runs, measures).save(tmp_path / "odd.html")
        opened(chromium, tmp_path / "odd.html")
        assert chromium.execute_script("return document.documentElement.scrollWidth") == 390
        assert chromium.get_log("browser") == []
        assert "Data and settings" in chromium.find_element("tag name", "body").text
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
