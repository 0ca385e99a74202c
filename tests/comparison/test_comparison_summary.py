"""One table of a comparison for a paper, in every format; and what to cite."""

from __future__ import annotations

import html
import itertools
import re

import numpy as np
import pytest

import rankbounds as rb
from latex import compiled
from rankbounds.comparison.summary import ranges
from rankbounds.measures import REGISTRY
from rankbounds.measures.naming.sources import entries
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.equivalence import EQUIVALENCE
from rankbounds.stats.significance import TESTS
from rankbounds.tables import in_latex
from rankbounds.terminal import Look, use_look

HOSTILE = [r"a_b&c", "50% $x$ #1", r"\input{x}", "{~^}", "<b>bold</b>", "| pipe *star* |", "--dash--", "[0]"]


def drawn(runs: int, topics: int = 20, measures=("nDCG@10", "P@5", "ESL(collection=100)"), seed: int = 0, names=None):
    """A comparison of random runs, the first the best."""
    rng = np.random.default_rng(seed)
    qrels = {f"t{topic}": {f"d{document}": int(document < 6) for document in range(24)} for topic in range(topics)}
    made = {}
    for run in range(runs):
        lean = 1.6 * (1 - run / runs)
        made[names[run] if names else f"run{run}"] = {
            query: {f"d{document}": float(score) for document, score in enumerate(rng.normal(size=30))}
            | {f"d{document}": float(rng.normal() + lean) for document in range(6)}
            for query in qrels
        }
    return rb.compare(rb.evaluate(qrels, made, list(measures)), resamples=200)


@pytest.fixture(scope="module")
def many():
    return drawn(32)


def shown(found, **how) -> list[dict[str, tuple[str, bool, str]]]:
    """By system and measure what Markdown shows: the mean, whether it is bold, and what is raised."""
    header, _, *rows = [line.strip("| ").split(" | ") for line in found.to_markdown(**how).splitlines() if "|" in line]
    cells = []
    for row in rows:
        parsed = {}
        for name, text in zip(header[1:-1], row[2:-1], strict=True):
            mean, raised = re.match(r"(\*{0,2}[-\d.inf]+\*{0,2})(?:<sup>(.*?)</sup>)?", text).groups()
            parsed[name.removesuffix(" ↓")] = (mean.strip("*"), mean.startswith("**"), raised or "")
        cells.append({"number": int(row[0]), "run": row[1], **parsed})
    return cells


def numbers_in(raised: str) -> set[int]:
    """The numbers that ranges and commas stand for."""
    parts = [part.split("-") for part in raised.split(",") if part]
    return {number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)}


# ---- what the table says ----


def test_raised_are_the_numbers_of_what_a_system_beats_significantly(many):
    rows = shown(many)
    number_of = {row["run"]: row["number"] for row in rows}
    assert [row["number"] for row in rows] == list(range(1, 33))
    beaten = {(row["run"], str(measure)): set() for row in rows for measure in many.measures}
    for pair in many.pairs.rows():
        better = pair["difference"] * (-1 if pair["measure"].startswith("ESL") else 1)
        if pair["p_adjusted"] < 0.05 and better:
            winner, loser = (pair["run"], pair["against"]) if better > 0 else (pair["against"], pair["run"])
            beaten[winner, pair["measure"]].add(number_of[loser])
    assert any(beaten.values())
    for row in rows:
        for measure in map(str, many.measures):
            assert numbers_in(row[measure][2]) == beaten[row["run"], measure]


def test_of_the_best_ones_only_systems_that_are_shown_are_named(many):
    whole, part = shown(many), shown(many, top=20)
    assert [row["run"] for row in part] == [row["run"] for row in whole[:20]]
    for row, same in zip(part, whole, strict=False):
        for measure in map(str, many.measures):
            assert numbers_in(row[measure][2]) == {number for number in numbers_in(same[measure][2]) if number <= 20}
    assert "the systems shown here that it beats" in many.summary(top=20).caption


def test_systems_stand_by_the_first_measure_and_the_best_by_each_is_bold(many):
    rows = shown(many)
    assert [row["run"] for row in rows] == [row["run"] for row in many.leaderboard("nDCG@10")]
    for measure in map(str, many.measures):
        of_measure = {row["run"]: row["mean"] for row in many.systems.rows() if row["measure"] == measure}
        best = (min if measure.startswith("ESL") else max)(of_measure.values())
        assert {row["run"] for row in rows if row[measure][1]} == {
            run for run, mean in of_measure.items() if abs(mean - best) < 1e-12
        }
        assert all(abs(float(row[measure][0]) - of_measure[row["run"]]) < 6e-5 for row in rows)


def test_all_that_are_equally_good_are_bold():
    qrels = {str(topic): {"r": 1, "s": 1, "n": 0} for topic in range(4)}
    first, second = ["r", "n", "s"], ["s", "n", "r"]
    found = rb.compare(rb.evaluate(qrels, {"a": dict.fromkeys(qrels, first), "b": dict.fromkeys(qrels, second)}, "AP"))
    assert [row["AP"][1] for row in shown(found)] == [True, True]


def test_letters_are_shown_where_few_are_needed(many):
    assert max(len(row["group"]) for row in many.leaderboard("nDCG@10")) > 6
    assert "group" not in many.table("nDCG@10").header
    few = rb.compare(many.scores.run("run0", "run15", "run31"))
    board = few.table("nDCG@10")
    column = board.header.index("group")
    assert [row["group"] for row in few.leaderboard("nDCG@10")] == [row[column] for row in board.rows]


def test_every_format_says_the_same(many):
    made = many.summary()
    latex = [line for line in made.for_paper()[-1].latex().splitlines() if re.match(r"\d+ & ", line)]
    pages = re.findall(r"<tr.*?</tr>", made.html(), re.S)[1:]
    plain = made.table().rows
    for row, line, page, words in zip(shown(many), latex, pages, plain, strict=True):
        cells = [cell.strip() for cell in line.partition(r" \\")[0].split(" & ")]
        assert cells[:2] == [str(row["number"]), row["run"]] == words[:2]
        for place, measure in enumerate(map(str, many.measures), 2):
            mean, is_best, raised = row[measure]
            bold = rf"\\textbf\{{{mean}\}}" if is_best else re.escape(mean)
            above = rf"\\textsuperscript\{{{re.escape(raised.replace('-', '--'))}\}}" if raised else ""
            assert re.fullmatch(rf"{bold}{above}", cells[place])
            assert (f"<b>{mean}</b>" if is_best else f">{mean}") in page
            assert words[place] == f"{mean}{'*' * is_best}{f' >{raised}' * bool(raised)}"


@pytest.mark.parametrize("numbers", [[], [3], [1, 2], [1, 2, 3], [1, 3, 4, 5, 6, 9], [2, 3, 7, 8, 9, 30]])
def test_ranges_stand_for_their_numbers(numbers):
    assert numbers_in(ranges(numbers)) == set(numbers)
    assert ranges([1, 2]) == "1,2"
    assert ranges(range(4, 130)) == "4-129"


def test_the_caption_says_how_it_was_made(many):
    caption = many.summary().caption
    for said in (
        "20 topics",
        "32 systems",
        "t test, Holm's correction for all 496 pairs",
        "level 0.05",
        rb.__version__,
    ):
        assert said in caption
    assert "the best 5 of 32 systems" in many.summary(top=5).caption
    one_pair = rb.compare(many.scores.run("run0", "run9"), test="t", alpha=0.01)
    assert re.search(r"\(t test, one pair, level 0\.01, each measure separately\)", one_pair.summary().caption)
    several = rb.compare(many.scores.run("run0", "run9", "run20"), test="wilcoxon", correction="bh")
    assert "wilcoxon test, Benjamini and Hochberg's correction for all 3 pairs, level 0.05" in several.summary().caption
    against = rb.compare(many.scores.run("run0", "run9", "run20"), baseline="run9", resamples=200)
    assert "Holm's correction for the 2 pairs with run9" in against.summary().caption


def test_equivalence_raises_what_a_system_is_equivalent_to():
    found = rb.compare(drawn(3, measures=["P@5"]).scores, test="tost", margin=0.9)
    assert all(pair["verdict"] == "equivalent" for pair in found.pairs.rows())
    assert [numbers_in(row["P@5"][2]) for row in shown(found)] == [{2, 3}, {1, 3}, {1, 2}]
    assert "equivalent" in found.summary().caption


def test_small_print_is_what_is_open():
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(5)}
    runs = {"sure": {query: ["r", "n"] for query in qrels}, "open": {query: ["x", "r"] for query in qrels}}
    runs["sure"]["0"] = ["n", "r"]
    found = rb.compare(rb.evaluate(qrels, runs, ["P@1", "AP"]))
    text = found.to_markdown()
    assert "0.0000 <small>+1.0000</small>" in text  # P@1 of what nobody judged
    assert "0.5000<small>" not in text
    assert "what unjudged documents could change" in text
    with pytest.raises(rb.UsageError):
        found.summary(top=0)


def test_infinite_and_missing_means_are_written():
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(4)}
    runs = {"finds": {query: ["r"] for query in qrels}, "never": {query: ["n"] for query in qrels}}
    latex = rb.compare(rb.evaluate(qrels, runs, "ESL"), test="sign").to_latex()
    assert r"$\infty$" in latex
    assert "inf" not in latex.replace(r"\infty", "")


# ---- LaTeX ----


def check_balance(text: str) -> None:
    """Braces and environments close in their order, rows have the columns of their table, and all is ASCII or words."""
    bare = re.sub(r"\\[\\{}&%$#_]", "", re.sub(r"(?m)^%.*$", "", text))
    depth = list(itertools.accumulate({"{": 1, "}": -1}.get(character, 0) for character in bare))
    assert min(depth) >= 0
    assert depth[-1] == 0
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{([\w*]+)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    for columns, body in re.findall(r"\\begin\{tabular\}\{@\{\}(\w+)@\{\}\}(.*?)\\end\{tabular\}", text, re.S):
        rows = [line for line in body.splitlines() if " & " in line]
        assert rows
        for line in rows:
            assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
    assert not re.search(r"(?<!\\)[#$%_]", re.sub(r"\$\\(downarrow|-?infty)\$|(?m:^%.*$)", "", bare))


@pytest.fixture(scope="module")
def hostile():
    return drawn(len(HOSTILE), topics=6, names=HOSTILE, measures=["nDCG@10", "RBP(p=0.8)", "AP'"])


def test_latex_is_balanced_and_needs_booktabs_alone(many, hostile):
    for found in (many, hostile):
        for width in (None, "column", "text", "page"):
            check_balance(found.to_latex(width=width, cite=True))
    commands = set(re.findall(r"\\([A-Za-z]+)", hostile.to_latex(cite=True)))
    names = {"input", "textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"}
    assert commands - names <= {
        "begin", "end", "caption", "label", "smallskip", "centering", "toprule", "midrule", "bottomrule", "textbf",
        "textsuperscript", "scriptsize", "addlinespace", "cite", "usepackage", "downarrow", "phantom", "ldots",
        "small", "footnotesize", "setlength", "tabcolsep",
    }  # fmt: skip
    assert r"\input{" not in hostile.to_latex()
    assert in_latex("a---b") == "a-{}-{}-b"


def test_latex_compiles_and_fits_two_columns(many, hostile, tmp_path):
    four = ["nDCG@10", "AP", "RBP(p=0.8)", "P@10"]
    long = drawn(5, topics=6, names=[f"sentence-transformer-of-a-long-name-v{n}" for n in range(5)], measures=four)
    five = drawn(5, topics=20, names=["bm25", "bm25-expanded", "dense", "reranked", "learned"], measures=four)
    tables = [
        found.to_latex(width=width, cite=True, top=12)
        for found in (five, many, hostile, long)
        for width in (None, "column", "page")
    ]
    tables += [found.scores.to_latex(width=width) for found in (five, long) for width in (None, "page")]
    log = compiled(tables, tmp_path)
    assert "column 241.15" in log
    assert "Overfull" not in log


def test_a_table_shows_what_fits(tmp_path):
    four = ["nDCG@10", "AP", "RBP(p=0.8)", "P@10"]
    found = drawn(5, topics=20, names=["bm25", "bm25-expanded", "dense", "reranked", "learned"], measures=four)
    narrow, wide, one = found.to_latex(), found.to_latex(width="page"), found[four[0]].to_latex()
    assert r"\begin{table}" in narrow
    assert "% Left out: bounds for unjudged documents, judged@10; --width page shows more." in narrow
    assert "small: bounds" in wide
    assert "small: bounds" not in narrow.replace(found.summary().caption, "")
    assert r"\begin{table*}" in wide
    assert "Left out" not in wide
    assert r"{\scriptsize [" in wide
    assert r"\begin{table}" in one
    assert r"{\scriptsize [" in one
    caption = re.search(r"\\caption\{(.*)\}", narrow)[1]
    assert len(caption) < 160, "two lines of a page"
    rows = found.leaderboard("nDCG@10")
    shown = re.findall(r"^\d & [^&]+ & (?:\\textbf\{)?([\d.]+)", narrow, re.M)
    assert shown == [f"{row['mean']:.4f}" for row in rows]
    with use_look(Look(digits=2)):
        assert f"{rows[-1]['mean']:.2f}" in found.to_latex()


def test_a_column_leaves_out_the_least_important_measures_and_says_which():
    measures = ["nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR"]
    crowded = drawn(30, topics=20, names=[f"a-rather-long-name-{run}" for run in range(30)], measures=measures)
    column, page = (crowded.to_latex(width=width) for width in ("column", "page"))
    left_out = re.search(r"^% Left out: bounds for unjudged documents, (.*); --width page", column, re.M)[1].split(", ")
    assert left_out[-1] == "judged@10"
    assert left_out[:-1] == measures[-len(left_out) + 1 :]
    assert "% Left out: bounds for unjudged documents.\n" in page
    shown = [latex[latex.index(r"\toprule") : latex.index(r"\midrule")] for latex in (column, page)]
    assert ["nDCG" in head for head in shown] == [True, True]
    assert ["RR" in head for head in shown] == [False, True]


def test_markdown_and_html_show_every_character(hostile):
    rows = [line for line in hostile.to_markdown().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}
    page = hostile.summary().html()
    assert "<b>bold</b>" not in page
    for name in HOSTILE:
        assert html.escape(name) in page


# ---- the command ----


def test_the_command_writes_one_table_and_what_to_cite(command, tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 r 1\n{topic} 0 n 0\n" for topic in range(8)))
    for name, order in (("good", "rn"), ("bad", "nr"), ("ugly", "nx")):
        lines = [f"{topic} Q0 {doc} 1 {2 - place} {name}\n" for topic in range(8) for place, doc in enumerate(order)]
        (tmp_path / name).write_text("".join(lines))
    files = [tmp_path / name for name in ("qrels", "good", "bad", "ugly")]
    asked = ["-m", "RR", "-m", "P@1", "-m", "AP'"]
    code, out, _ = command("compare", *files, *asked, "--format", "latex", "--bibtex", tmp_path / "used.bib")
    assert code == 0
    assert out.count(r"\begin{table}") == out.count(r"\begin{tabular}") == 1
    check_balance(out)
    written = (tmp_path / "used.bib").read_text()
    keys = re.findall(r"^@\w+\{(\w+),$", written, re.M)
    cited = [key for keys in re.findall(r"\\cite\{(.*?)\}", out) for key in keys.split(",")]
    assert cited
    assert set(cited) <= set(keys)
    assert {"holm1979simple", "sakai2007alternatives"} <= set(keys)
    code, out, _ = command("compare", *files, *asked, "--format", "markdown")
    assert (code, len([line for line in out.splitlines() if line.startswith("| ---: |")])) == (0, 1)
    code, out, _ = command("compare", *files, *asked, "--format", "html")
    assert (code, "nothing that" in out, out.count("judged@10</th>")) == (0, False, 1)
    assert command("evaluate", *files, "-m", "ERR", "--bibtex", tmp_path / "err.bib")[0] == 0
    assert (tmp_path / "err.bib").read_text() == rb.measures.bibtex("ERR")


def test_scores_have_the_best_in_bold_too():
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(4)}
    runs = {"good": {query: ["r", "x"] for query in qrels}, "bad": {query: ["n", "r"] for query in qrels}}
    scores = rb.evaluate(qrels, runs, ["P@1", "RBP(p=0.5)", "ESL"])
    latex = [line.split(" & ")[1:4] for line in scores.to_latex().splitlines() if " & " in line][2:]
    assert latex[0] == [r"\textbf{1.0000}", r"\textbf{0.5000} {\scriptsize +0.5000}", r"\textbf{0.0000}"]
    assert not any("textbf" in cell for cell in latex[1])
    assert "| good | **1.0000** | **0.5000** +0.5000 | **0.0000** |" in scores.render("markdown")
    assert "**" not in scores.run("good").render("markdown")


# ---- what to cite ----


def test_entries_are_whole():
    known = entries()
    assert list(known) == sorted(known)
    for key, entry in known.items():
        assert entry.count("{") == entry.count("}")
        kind, fields = re.match(r"@(\w+)\{", entry)[1], dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.M))
        assert len(fields) == len(entry.splitlines()) - 2
        where = {"article": "journal", "book": "publisher"}.get(kind, "booktitle")
        assert {"author", "title", "year", where} <= set(fields)
        assert fields["year"] in key
        assert 1940 < int(fields["year"]) < 2026
        assert re.fullmatch(r"10\.\d{4,}/\S+", fields.get("doi", "10.1145/1"))
        if pages := re.fullmatch(r"(?:\d+:)?(\d+)--(?:\d+:)?(\d+)", fields.get("pages", "1--2")):
            assert int(pages[1]) < int(pages[2])
        else:
            pytest.fail(f"{key}: pages {fields['pages']}")


def test_measures_cite_what_their_docstrings_name():
    known = entries()
    for name, kind in REGISTRY.items():
        if not kind.__module__.startswith("rankbounds."):
            continue
        assert set(kind.sources) <= set(known)
        said = re.search(r"Sources?:(.*?)(?:\n\n|$)", kind.__doc__ or "", re.S)
        named = said is not None and re.search(r"[A-Z][a-z]+.*\b(19|20)\d\d\b", said[1], re.S)
        program = said is not None and re.search(r"as in (trec_eval|TREC's|ranx)", said[1])
        if named and not program:
            assert kind.sources, f"{name} names a paper and cites none"
            authors = " ".join(re.search(r"author = (.*)", known[key])[1] for key in kind.sources)
            plain = re.sub(r'\{\\"(\w)\}', r"\1", authors)
            assert any(word in plain for word in re.findall(r"[A-Z][a-z]+", said[1])), f"{name} cites another paper"
    tests = [
        EQUIVALENCE.source,
        *(test.source for test in TESTS.values()),
        *(one.source for one in CORRECTIONS.values()),
    ]
    assert {source for source in tests if source} <= set(known)


def test_bibtex_of_measures():
    assert rb.parse_measure("nDCG(gain=exp)@10").cited() == ("jarvelin2002cumulated", "burges2005learning")
    assert rb.parse_measure("RBP'(p=0.8)").cited() == ("moffat2008rank", "sakai2007alternatives")
    assert rb.measures.bibtex(["RBP(p=0.5)", "RBP(p=0.8)"]).count("@") == 1
    assert rb.measures.bibtex("NumRet") == ""
    assert rb.measures.bibtex().count("\n@") == len(entries()) - 1
    assert "@article{holm1979simple" in rb.measures.bibtex("NumRet", also=["holm1979simple"])


def test_a_caption_claims_no_order_that_the_table_has_not():
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(4)}
    runs = {name: {topic: list(docs) for topic in qrels} for name, docs in (("b", "rn"), ("a", "nr"), ("c", "nr"))}
    compared = rb.compare(rb.evaluate(qrels, runs, "RR"), resamples=20)
    assert "best" in compared.summary(top=2).caption.split("Bold")[0]
    assert "best" not in compared.sort("run").summary(top=2).caption.split("Bold")[0]
    assert [row["run"] for row in compared.sort("run").leaderboard("RR")] == ["a", "b", "c"]
