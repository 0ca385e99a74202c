"""What a report holds is what the functions say."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_pages import MEASURES, content_of, rbp_of, rows_of, texts, unpacked, without_topics

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.comparison import evidence, wording
from rankbounds.report import Choices, content, gather, page
from rankbounds.report.observed import TIED
from rankbounds.stats.rank_intervals import words as rank_words


def test_holds_the_scores_of_evaluate(demo, demo_scores):
    assert demo["runs"] == demo_scores.runs
    assert demo["topics"] == demo_scores.query_ids
    for name in ("value", "low", "high"):
        np.testing.assert_allclose(unpacked(demo["values"][name]), getattr(demo_scores, name), rtol=1e-15)
    mean = demo_scores.mean()
    for at in range(len(MEASURES)):
        np.testing.assert_allclose(demo["systems"][at]["mean"], mean.value[:, 0, at])
        np.testing.assert_allclose(demo["systems"][at]["high"], mean.high[:, 0, at])


def test_what_is_in_memory_is_called_so_and_is_not_written(monkeypatch):
    """No file is invented for it, and its content has a fingerprint as files have."""
    monkeypatch.setattr(rb.Run, "write", None)
    monkeypatch.setattr(rb.Qrels, "write", None)
    qrels, runs = rb.read_qrels(DATA / "qrels.txt"), {"bm25": rb.read_run(DATA / "runs" / "bm25.txt").to_dict()}
    both = [runs, {"dense": rb.read_run(DATA / "runs" / "dense.txt")}, {"bm25": runs["bm25"] | {"1": {"other": 1.0}}}]
    identities = [gather(qrels, some, Choices.of(measures=["AP"]))["identity"] for some in both]
    for some, identity in zip(both, identities, strict=True):
        assert identity["of"] == "in memory"
        rows = [(row["name"], row["role"], row["bytes"], row["sha256"]) for row in identity["files"]]
        assert rows == [("in memory", role, None, "-") for role in ("judgments", *some)]
    assert len({identity["fingerprint"] for identity in identities}) == 3
    mixed = gather(DATA / "qrels.txt", both[1], Choices.of(measures=["AP"]))["identity"]
    assert [row["name"] for row in mixed["files"]] == ["qrels.txt", "in memory"]
    assert mixed["files"][0]["sha256"] == hashlib.sha256((DATA / "qrels.txt").read_bytes()).hexdigest()


def test_holds_the_pairs_of_compare(demo, demo_compared):
    for name in (*content.PAIR_COLUMNS, *wording.WHOLE):
        np.testing.assert_array_equal(unpacked(demo["pairs"][name]), demo_compared.pair_words.numbers[name])
    for name, codes in demo_compared.pair_words.choices.items():
        np.testing.assert_array_equal(unpacked(demo["words"]["choices"][name]), codes)


def test_holds_the_places_of_compare(demo, demo_compared):
    for at, measure in enumerate(MEASURES):
        rows = demo_compared[measure].systems.rows()
        for key in ("rank", "rank_low", "rank_high"):
            assert demo["systems"][at][key] == [row[key] for row in rows]
        assert demo["systems"][at]["place"] == [rank_words(row["rank_low"], row["rank_high"]) for row in rows]


def test_ties_matter_where_they_take_a_run_past_another(demo):
    means = np.array([demo["systems"][at]["mean"] for at in range(len(MEASURES))])
    for run, lists in enumerate(demo["lists"]):
        for at, (low, high) in enumerate(lists["tie_range"]):
            others = np.delete(means[at], run)
            passed = ((others > means[at, run]) & (others <= high)) | ((others < means[at, run]) & (others >= low))
            assert lists["ties_matter"][at] == bool(passed.any())


def test_many_runs_are_compared_closely_where_they_lead(monkeypatch, demo, chromium, tmp_path):
    """Pairs of the leading runs are as they are among all; p corrected is known of all pairs."""
    monkeypatch.setattr(content, "LEADING", 3)
    held = gather(DATA / "qrels.txt", [DATA / "runs"], Choices.of(measures=MEASURES))
    leading = sorted(np.argsort(demo["systems"][0]["mean"])[-3:].tolist())
    assert held["closely"] == leading
    first, second = np.triu_indices(5, 1)
    among = np.isin(first, leading) & np.isin(second, leading)
    for name, column in held["pairs"].items():
        np.testing.assert_allclose(unpacked(column), unpacked(demo["pairs"][name])[:, among], rtol=1e-12)
    for name, codes in demo["words"]["choices"].items():
        np.testing.assert_array_equal(unpacked(held["words"]["choices"][name]), unpacked(codes)[:, among])
    np.testing.assert_array_equal(unpacked(held["p_adjusted"]), unpacked(demo["pairs"]["p_adjusted"]))
    assert held["systems"] == demo["systems"]
    (tmp_path / "many.html").write_text(page(held))
    chromium.get((tmp_path / "many.html").as_uri() + "#pair=bm25,dense")  # one of them does not lead
    assert texts(chromium, "#run-a option") == [demo["runs"][run] for run in leading]
    assert len(rows_of(chromium, "board")) == 5
    assert "The 3 runs that lead" in chromium.find_element("id", "pair-note").text
    assert chromium.get_log("browser") == []


def test_doubts_are_those_of_compare(demo, demo_compared):
    """Of the few runs of the demo every pair is compared, with all its words."""
    for at, held in enumerate(demo["doubts"]):
        mean = demo["systems"][at]["mean"]
        leader = demo["runs"][int(np.argmax(mean))]
        said = [" ".join(demo_compared.sentences(MEASURES[at], (leader, run))) for run in demo["runs"] if run != leader]
        asked = {"noise": "noise. It may be", "unjudged": "overturn it. (Yes|Perhaps)", "ties": "Could ties. Yes"}
        found = {name: [len(said), sum(bool(re.search(words, one)) for one in said)] for name, words in asked.items()}
        assert held == {"leader": leader, **found}


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("measure", ["P@2", "AP", "nDCG@10", "RBP(p=0.5)"])
def test_a_run_far_behind_that_is_hardly_judged_may_be_ahead(monkeypatch, tmp_path, measure):
    monkeypatch.setattr(content, "LEADING", 3)
    topics = range(6)
    (tmp_path / "qrels").write_text("".join(f"{q} 0 r{n} {int(n < 3)}\n" for q in topics for n in range(9)))
    lists = {"best": ["r0", "r8", "r1"], "blind": ["x", "y"], "behind": ["r8", "z", "r0"]}
    lists |= {f"judged{n}": ["r0", f"r{n}", f"r{n + 1}"] for n in range(3, 8)}
    for name, documents in lists.items():
        rows = ((q, doc, 9.0 - n) for q in topics for n, doc in enumerate(documents))
        (tmp_path / f"{name}.run").write_text("".join(f"{q} Q0 {doc} 1 {score} {name}\n" for q, doc, score in rows))
    files = [tmp_path / f"{name}.run" for name in lists]
    (held,) = gather(tmp_path / "qrels", files, Choices.of(measures=[measure]))["doubts"]
    overtake = []
    for run, file in zip(lists, files, strict=True):
        if run != "best":
            (pair,) = rb.compare(tmp_path / "qrels", [files[0], file], measure).pairs.rows()
            assert (pair["run"], pair["against"]) == (run, "best")
            overtake += [run] if pair["certain_high"] > 0 else []
    assert held["leader"] == "best"
    assert {"blind"} <= set(overtake) < set(lists) - {"best"}
    assert held["unjudged"] == [len(lists) - 1, len(overtake)]


def test_runs_that_are_level_lead_together_and_the_first_measure_decides_between_them():
    qrels = {str(topic): {"r": 1, "s": 1, "n": 0, "m": 0} for topic in range(6)}
    runs = {"early": ["r", "n", "m", "s"], "both": ["r", "s", "n", "m"], "late": ["n", "r", "s", "m"]}
    held = gather(
        qrels, {name: dict.fromkeys(qrels, run) for name, run in runs.items()}, Choices.of(measures=["P@2", "RR"])
    )
    assert [measure["leaders"] for measure in held["measures"]] == ["both", "early and both"]
    assert [doubts["leader"] for doubts in held["doubts"]] == ["both", "both"]
    assert "both leads by both measures, by some of them together with others." in held["summary"]


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_the_run_of_trec_8_that_is_hardly_judged_may_be_ahead(unpacked):
    folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
    held = gather(folder / "qrels.txt", [folder / "runs"], Choices.of(measures=["nDCG@10", "P@10"]))
    for at, measure in enumerate(("nDCG@10", "P@10")):
        doubts = held["doubts"][at]
        assert (doubts["leader"], doubts["unjudged"]) == ("READWARE2", [128, 1])
        two = [str(next((folder / "runs").glob(f"*{name}"))) for name in ("READWARE2", "surffal2")]
        (pair,) = rb.compare(folder / "qrels.txt", two, measure).pairs.rows()
        assert pair["certain_high"] > 0 > pair["certain_low"]


def test_tie_ranges_are_those_of_evaluate(demo):
    ties = rb.evaluate(DATA / "qrels.txt", DATA / "runs", MEASURES, bounds="ties").mean()
    told = np.array([run["tie_range"] for run in demo["lists"]])
    np.testing.assert_allclose(told[..., 0], ties.low[:, 0])
    np.testing.assert_allclose(told[..., 1], ties.high[:, 0])


def test_strips_show_judgments_and_ties(demo):
    grades = rb.read_qrels(DATA / "qrels.txt").to_dict()
    strips = unpacked(demo["strips"])
    for at, path in enumerate(sorted((DATA / "runs").iterdir())):
        run = rb.read_run(path).to_dict()
        for number, query in enumerate(demo["topics"]):
            ranked = sorted(run[query].items(), key=lambda item: (item[1], item[0]), reverse=True)[: strips.shape[2]]
            for rank, (doc, score) in enumerate(ranked):
                cell = int(strips[at, number, rank])
                grade = grades[query].get(doc)
                assert cell % TIED == (1 if grade is None else 2 + int(grade))
                assert (cell >= TIED) == (rank > 0 and ranked[rank - 1][1] == score)


small = st.integers(0, 4).map(str)


tables = st.dictionaries(small, st.dictionaries(small, st.integers(-1, 2), min_size=1), min_size=1)


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@settings(max_examples=40, deadline=None)
@given(
    tables, tables, st.sampled_from(["trec", "docid", "best", "worst", "expected"]), st.sampled_from([0.3, 0.8, 0.99])
)
def test_coefficients_give_rbp_at_any_persistence(tmp_path_factory, qrels, run, ties, p):
    if not set(qrels) & set(run):
        return
    folder = tmp_path_factory.mktemp("files")
    for name, table, row in (("qrels", qrels, "{} 0 {} {}\n"), ("run", run, "{} Q0 {} 1 {} tag\n")):
        lines = [row.format(query, doc, value) for query, inner in table.items() for doc, value in inner.items()]
        (folder / name).write_text("".join(lines))
    choices = Choices.of(measures=["RBP(p=0.5)"], ties=ties)
    told = rbp_of(gather(folder / "qrels", [folder / "run"], choices)["persistence"]["runs"][0], p)
    mean = rb.evaluate(folder / "qrels", folder / "run", f"RBP(p={p})", ties=ties).mean()
    assert told == pytest.approx((mean.low[0, 0, 0], mean.high[0, 0, 0] - mean.low[0, 0, 0]), abs=1e-9)


def test_large_inputs_are_thinned_and_say_so():
    for runs, topics in ((129, 50), (400, 50), (30, 10_000), (2000, 300)):
        value = np.linspace(0, 1, runs)[:, None, None] * np.ones((1, topics, 5))
        scores = rb.Scores([f"r{at}" for at in range(runs)], [str(at) for at in range(topics)],
                           [rb.parse_measure(name) for name in ("RBP(p=0.8)", "AP", "P@5", "P@10", "RR")],
                           value, value, value, value[..., 0])  # fmt: skip
        kept = content.thin(scores)
        closely = min(len(kept.runs), content.LEADING)
        held = len(kept.runs) * len(kept.topics) * (120 + kept.depth) + (len(kept.runs) ** 2 * 4 + closely**2 * 24) * 5
        assert held * 4 / 3 < 10_000_000
        assert bool(kept.notes) == ((len(kept.runs), len(kept.topics), kept.depth) != (runs, topics, 100))
        assert runs - 1 in kept.runs  # the best one
    assert content.thin(scores).notes[-1].startswith(f"The {len(kept.runs)} best of 2000 runs")


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["-", "run"], 2, "standard input"),
        (["missing", "run"], 3, "no such file"),
        ([str(DATA / "qrels.txt"), str(DATA / "runs"), "--test", "tt"], 2, "tt"),
        ([str(DATA / "qrels.txt"), str(DATA / "runs"), "-m", "RPB"], 2, "RBP"),
        ([str(DATA / "qrels.txt"), str(DATA / "runs"), "-o", "/no/such/folder/r.html"], 3, "cannot be written"),
    ],
)
def test_wrong_usage_is_one_clear_line(arguments, code, word, capsys):
    assert main(["report", *arguments]) == code
    told = capsys.readouterr().err
    assert word in told
    assert len(told.splitlines()) == 1


def test_bounds_of_differences_are_known_whatever_bounds_of_scores_were_asked_for():
    """They come from the lists."""
    held = gather(DATA / "qrels.txt", [DATA / "runs"], Choices.of(measures=["RBP(p=0.8)", "RR"], bounds="ties"))
    known = ~np.isnan(unpacked(held["pairs"]["certain_low"]))
    assert known.all()
    assert not set(unpacked(held["words"]["choices"]["holes"]).ravel().tolist()) & {0, 1, 7}


def test_key_of_ties_is_used_and_named(tmp_path):
    documents = {doc for path in (DATA / "runs").iterdir() for _, doc, _ in rb.read_run(path)}
    key = tmp_path / "key.txt"
    key.write_text("".join(f"{doc} {doc[::-1]}\n" for doc in sorted(documents)))
    held = gather(DATA / "qrels.txt", [DATA / "runs"], Choices.of(measures=["RBP(p=0.8)"], ties_key=str(key)))
    mean = rb.evaluate(DATA / "qrels.txt", DATA / "runs", "RBP(p=0.8)", ties_key=key).mean()
    np.testing.assert_allclose(held["systems"][0]["mean"], mean.value[:, 0, 0])
    told = [rbp_of(run, 0.8)[0] for run in held["persistence"]["runs"]]
    np.testing.assert_allclose(told, mean.low[:, 0, 0])
    assert held["identity"]["files"][-1]["name"] == "key.txt"


def test_words_for_grades_are_read(tmp_path):
    words = tmp_path / "qrels.txt"
    words.write_text(
        (DATA / "qrels.txt").read_text().replace(" 2\n", " A\n").replace(" 1\n", " B\n").replace(" 0\n", " N\n")
    )
    held = gather(words, [DATA / "runs"], Choices.of(measures=["nDCG@10"], gain="A=2,B=1,N=0"))
    mean = rb.evaluate(DATA / "qrels.txt", DATA / "runs", "nDCG@10").mean()
    np.testing.assert_allclose(held["systems"][0]["mean"], mean.value[:, 0, 0])


def test_shared_topics_are_those_of_all_runs_and_the_others_are_named(tmp_path, demo_scores):
    topics = demo_scores.query_ids
    runs = [without_topics(tmp_path, "bm25", topics[:2]), without_topics(tmp_path, "dense", topics[1:3])]
    with pytest.warns(rb.RankboundsWarning, match="3 of 24 judged topics are left out"):
        held = gather(DATA / "qrels.txt", runs, Choices.of(measures=MEASURES, topics="shared"))
    assert held["topics"] == topics[3:]
    assert ", ".join(topics[:3]) in held["warnings"][-1]
    values = demo_scores.value[[demo_scores.runs.index(name) for name in ("bm25", "dense")], 3:]
    np.testing.assert_allclose([held["systems"][at]["mean"] for at in range(4)], values.mean(axis=1).T)
    told = [rbp_of(run, 0.8)[0] for run in held["persistence"]["runs"]]
    np.testing.assert_allclose(told, values[:, :, 0].mean(axis=1))
    assert np.isfinite(unpacked(held["pairs"]["p_value"])).all()


def test_runs_without_a_shared_topic_are_told_of(tmp_path, capsys, demo_scores):
    half = len(demo_scores.query_ids) // 2
    runs = [without_topics(tmp_path, "bm25", demo_scores.query_ids[:half]),
            without_topics(tmp_path, "dense", demo_scores.query_ids[half:])]  # fmt: skip
    assert main(["report", str(DATA / "qrels.txt"), *map(str, runs), "--topics", "shared"]) == 3
    assert "no judged topic in common" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["RBP(p=0.7)@5", "RBP(p=0.9,graded=true)", "RBP(p=0.9,graded=true,max_grade=7)"])
def test_slider_is_that_of_any_rbp(name):
    held = gather(DATA / "qrels.txt", [DATA / "runs"], Choices.of(measures=["AP", name]))
    slider = held["persistence"]
    assert [one["slider"] for one in held["measures"]] == [False, True]
    for p in (0.4, 0.85):
        measure = replace(rb.parse_measure(name), p=p)
        mean = rb.evaluate(DATA / "qrels.txt", DATA / "runs", measure).mean()
        for run, low, high in zip(slider["runs"], mean.low[:, 0, 0], mean.high[:, 0, 0], strict=True):
            assert rbp_of(run, p, slider["unit"]) == pytest.approx((low, high - low))


def test_one_run_needs_no_comparison(tmp_path):
    held = gather(DATA / "qrels.txt", [DATA / "runs" / "bm25.txt"])
    assert held["pairs"] is None
    assert held["systems"][0]["mean"]


def test_reports_read_as_every_command_does(tmp_path, command):
    runs = {name: tmp_path / f"{name}.run" for name in ("one", "two")}
    for number, path in enumerate(runs.values()):
        docs = ["a", "b", "c"][number:] + ["a", "b", "c"][:number]
        path.write_text(
            "".join(f"{topic} Q0 {doc} 1 {-rank} tag\n" for topic in "123" for rank, doc in enumerate(docs))
        )
    judged = [(topic, doc, grade) for topic in "123" for doc, grade in (("a", 1), ("b", 0))]
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 {doc} {grade}\n" for topic, doc, grade in judged))
    rows = [f"{topic},{doc},{grade},human\n{topic},{doc},{1 - grade},llm\n" for topic, doc, grade in judged]
    (tmp_path / "labels.csv").write_text("topic,document_name,label,source\n" + "".join(rows))
    named = [f"{name}={path}" for name, path in runs.items()]
    how = ("--source", "human", "--columns", "doc_id=document_name")
    contents = []
    for qrels, options in ((tmp_path / "qrels.txt", ()), (tmp_path / "labels.csv", how)):
        code, _, err = command("report", qrels, *named, *options, "-m", "AP", "-o", tmp_path / "page.html")
        assert code == 0
        assert "warning" not in err
        contents.append(content_of((tmp_path / "page.html").read_text("utf-8")))
    plain, labelled = contents
    assert plain["runs"] == ["one", "two"]
    assert plain["systems"] == labelled["systems"]
    assert (plain["identity"]["options"].get("source"), labelled["identity"]["options"]["source"]) == (None, "human")


def test_of_many_runs_only_pairs_of_those_that_lead_or_with_the_leader_are_bounded(monkeypatch):
    """What unjudged documents leave of all pairs of many runs takes long."""
    asked = []
    bound = evidence.difference_bounds

    def noted(lists, measure, assumptions, pairs=None):
        names = [run.name for run in lists.runs]
        first, second = np.triu_indices(len(names), 1) if pairs is None else pairs
        asked.extend({names[one], names[other]} for one, other in zip(first, second, strict=True))
        return bound(lists, measure, assumptions, pairs)

    monkeypatch.setattr(evidence, "difference_bounds", noted)
    monkeypatch.setattr(evidence, "PROBABLE_ROWS", 0)
    monkeypatch.setattr(content, "LEADING", 2)
    held = gather(DATA / "qrels.txt", [DATA / "runs"], Choices.of(measures=["RBP(p=0.8)", "AP"]))
    closely = {held["runs"][run] for run in held["closely"]}
    leaders = {doubts["leader"] for doubts in held["doubts"]}
    assert closely in asked
    assert {"bm25", "reranked"} in asked
    assert all(pair == closely or pair & leaders for pair in asked)


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_since_scores_were_saved(tmp_path, capsys):
    """The page says what changed in judgments, options and runs, and that nothing did."""
    judged = ["1 0 a 1", "1 0 b 0", "2 0 a 1", "3 0 c 2"]
    lists = [f"{topic} Q0 {doc} 1 {score} x" for topic in "123" for doc, score in (("a", 2), ("c", 1))]
    qrels, run, other, saved = (tmp_path / name for name in ("qrels", "x", "y", "saved.json"))

    def write(path, lines):
        path.write_text("\n".join(lines) + "\n")

    def told(**choices):
        return gather(qrels, [run], Choices.of(measures=["AP"], since=str(saved), **choices))["warnings"][0]

    for path, lines in ((qrels, judged), (run, lists), (other, [line.replace(" x", " y") for line in lists])):
        write(path, lines)
    assert main(["compare", str(qrels), str(run), str(other), "-m", "AP", "--save", str(saved)]) == 0
    capsys.readouterr()
    assert told() == "Nothing changed since saved.json was saved: the same judgments, options and run x."
    assert told(ties="best") == "Since saved.json was saved: --ties was trec and is best."
    write(qrels, [*judged[:3], "3 0 c 1", "2 0 d 1", "4 0 a 1"])
    write(run, lists[1:])
    assert told() == (
        "Since saved.json was saved: judged documents were added on 1 of 4 topics (2); grades changed on 1 of 4 topics "
        "(3); judgments began on 1 of 4 topics (4); run x changed."
    )
    rb.evaluate(qrels, run, "AP").save(saved)
    assert told() == "Nothing changed since saved.json was saved: the same judgments and options."
    replace(rb.evaluate(qrels, run, "AP"), origin=None, make_origin=None).save(saved)
    assert told().startswith("Whether anything changed since saved.json was saved is not known")


@pytest.mark.parametrize("names", [("bm25", "dense"), ("dense", "bm25")])
def test_a_page_on_two_runs_follows_the_question_and_not_the_files(names):
    """The second of two runs that are named is the candidate, in whatever order the files come."""
    files = [DATA / "runs" / f"{name}.txt" for name in ("bm25", "dense")]
    choices = Choices.of(measures=["nDCG@10"])
    choices = replace(choices, question=replace(choices.question, compare=names))
    held = gather(DATA / "qrels.txt", files, choices)
    (row,) = rb.compare(DATA / "qrels.txt", [DATA / "runs" / f"{name}.txt" for name in names], "nDCG@10").pairs.rows()
    assert held["title"] == f"{names[1]} against {names[0]}"
    assert held["pair"] == list(names)
    assert f"a difference of {row['difference']:+.4f}" in held["summary"][0]
    assert [row["run"], row["against"]] == [*names[::-1]]


def test_nothing_is_to_be_judged_where_two_runs_are_settled():
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(5)}
    runs = {"good": {query: ["r", "n", "u"] for query in qrels}, "bad": {query: ["n", "r"] for query in qrels}}
    told = gather(qrels, runs, Choices.of(measures=["P@1"]))["next"]
    assert told["rows"] == []
    assert told["words"].startswith("Settled: good is better than bad by P@1")
