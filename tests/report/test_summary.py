"""The sentences at the top of a report."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.commands.demo import DATA
from rankbounds.report import Choices, content, gather
from rankbounds.stats.rank_intervals import words as rank_words


def test_summary_says_only_what_holds(demo, demo_compared):
    told = " ".join(demo["summary"])
    assert "reranked scores highest: RBP(p=0.8) 0.6241" in told
    assert "Fewer than 80% of the top 10 documents of dense are judged" in told
    comparison = demo_compared["RBP(p=0.8)"]
    separated = sum(row["p_adjusted"] < 0.05 for row in comparison.pairs.rows())
    assert f"Of all 10 pairs of runs, {separated} differ significantly and {10 - separated} do not" in told
    leader = [
        row
        for row in comparison.pairs.rows()
        if "reranked" in (row["run"], row["against"]) and row["p_adjusted"] >= 0.05
    ]
    alike = [row["run"] if row["against"] == "reranked" else row["against"] for row in leader]
    assert f"Not separable from it: {', '.join(alike[:-1])} and {alike[-1]};" in told
    place = next(row for row in comparison.systems.rows() if row["run"] == "reranked")
    assert f"it ranks {rank_words(1, place['rank_high'])} (95% confidence for all runs at once)" in told
    assert "tied documents" not in told  # they change no place here
    by_ap = " ".join(gather(DATA / "qrels.txt", [DATA / "runs"], Choices.of(measures=["AP"]))["summary"])
    assert "surely" not in by_ap  # judging other runs' documents moves AP
    assert "Whatever" not in by_ap


def test_summary_says_where_measures_disagree():
    """One run finds one document first, the other many later."""
    value = np.array([[[1.0, 0.2], [0.9, 0.3], [1.0, 0.1]], [[0.5, 0.8], [0.4, 0.9], [0.5, 0.7]], [[0.1, 0.1]] * 3])
    measures = [rb.parse_measure(name) for name in ("RR", "Recall@100")]
    scores = rb.Scores(["early", "many", "poor"], ["1", "2", "3"], measures,
                       value, value, value, value[..., 0])  # fmt: skip
    told = " ".join(content.gather_scores(scores, [])["summary"])
    assert "The measures disagree about the leader: early by RR; many by Recall@100." in told


def test_summary_names_a_run_that_leads_everywhere_as_such():
    """Alone by one measure and together with another run by the other: that is no disagreement."""
    value = np.array([[[1.0, 0.2], [0.9, 0.3], [1.0, 0.1]], [[1.0, 0.8], [0.9, 0.9], [1.0, 0.7]], [[0.1, 0.1]] * 3])
    measures = [rb.parse_measure(name) for name in ("RR", "Recall@100")]
    scores = rb.Scores(["level", "ahead", "poor"], ["1", "2", "3"], measures,
                       value, value, value, value[..., 0])  # fmt: skip
    told = content.gather_scores(scores, [])["summary"]
    assert "ahead leads by both measures, by some of them together with others." in told
    assert not any("disagree" in sentence for sentence in told)


def test_summary_has_the_same_mean_of_counts_as_the_leaderboard():
    value = np.array([[[4.0], [9.0], [2.0]], [[1.0], [3.0], [5.0]], [[0.0]] * 3])
    scores = rb.Scores(["many", "few", "none"], ["1", "2", "3"], [rb.parse_measure("num_rel_ret")],
                       value, value, value, value[..., 0])  # fmt: skip
    made = content.gather_scores(scores, [])
    assert made["systems"][0]["mean"] == [5, 3, 0]
    assert made["summary"][0] == "many scores highest: NumRelRet (mean over topics) 5.0000 over 3 topics."


def test_summary_of_two_runs_is_the_verdict_of_compare():
    """The means and every doubt, but not what would settle it."""
    files = [DATA / "runs" / f"{name}.txt" for name in ("dense", "reranked")]
    said, compared = gather(DATA / "qrels.txt", files, Choices.of())["summary"], rb.compare(DATA / "qrels.txt", files)
    verdict = compared.sentences("nDCG@10")
    assert said[:4] == verdict[:4]
    assert [sentence.split("?")[0] for sentence in said[1:4]] == [
        "Is it noise", "Could unjudged documents overturn it", "Could ties"
    ]  # fmt: skip
    assert said[4] == compared.agreement()
    assert not any("settle" in sentence for sentence in said)


@pytest.mark.parametrize("holes", ["open", "closed"])
def test_summary_of_two_runs_says_whether_unjudged_documents_could_overturn_it(holes):
    """One run finds judged relevant documents, the other ones that nobody judged."""
    qrels = {str(topic): {"r": 1} | ({"u": 0} if holes == "closed" else {}) for topic in range(10)}
    runs = {
        "new": {topic: ["u"] for topic in qrels},
        "old": {topic: ["r"] if topic != "9" else ["x"] for topic in qrels},
    }
    said = rb.report(qrels, runs, "P@1", bounds="unjudged").summary
    assert any("Could unjudged documents overturn it? Yes" in one for one in said) == (holes == "open")


def test_summary_of_two_runs_says_where_unjudged_documents_are_an_open_question(tmp_path):
    """No bounds of differences are known for measures of diversity."""
    qrels = tmp_path / "subtopics.txt"
    qrels.write_text("".join(f"{topic} {subtopic} r 1\n" for topic in range(10) for subtopic in (1, 2)))
    runs = {name: {str(topic): [first, second] for topic in range(10)} for name, first, second in
            (("old", "u", "r"), ("new", "r", "u"))}  # fmt: skip
    runs["old"]["9"] = ["r", "u"]
    said = rb.report(str(qrels), runs, "alpha_nDCG@2").summary
    assert any("Could unjudged documents overturn it? Not known" in one for one in said)


def test_summary_of_two_runs_that_are_the_same():
    runs = {name: {str(topic): ["r", "n"] for topic in range(5)} for name in ("one", "two")}
    said = rb.report({str(topic): {"r": 1, "n": 0} for topic in range(5)}, runs, "RR").summary
    assert said[1] == "Is it noise? There is no difference: both score the same on every topic."
