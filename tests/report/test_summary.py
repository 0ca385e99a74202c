"""The sentences at the top of a report."""

from __future__ import annotations

import numpy as np

import rankbounds as rb
from rankbounds.commands.demo import DATA
from rankbounds.report import Choices, content, gather
from rankbounds.stats.rank_intervals import words as rank_words


def test_summary_says_only_what_holds(demo, demo_compared):
    told = " ".join(demo["summary"])
    assert "reranked scores highest: RBP(p=0.8) 0.6241" in told
    assert "dense could score higher than reranked certainly does (0.6241)" in told
    assert "Fewer than 80% of the top 10 documents of dense are judged" in told
    comparison = demo_compared["RBP(p=0.8)"]
    separated = sum(row["p_adjusted"] < 0.05 for row in comparison.pairs.rows())
    assert f"Of all 10 pairs of runs, the topics separate {separated} and leave {10 - separated} open" in told
    leader = [
        row
        for row in comparison.pairs.rows()
        if "reranked" in (row["run"], row["against"]) and row["p_adjusted"] >= 0.05
    ]
    alike = [row["run"] if row["against"] == "reranked" else row["against"] for row in leader]
    assert f"Not separable from it: {', '.join(alike[:-1])} and {alike[-1]};" in told
    first = [row["run"] for row in comparison.systems.rows() if row["rank_low"] == 1 and row["run"] != "reranked"]
    place = next(row for row in comparison.systems.rows() if row["run"] == "reranked")
    assert f"is {rank_words(1, place['rank_high'])}; {' and '.join(first)} may also be first" in told
    assert "tied documents" not in told  # they change no place here
    by_ap = " ".join(gather(DATA / "qrels.txt", [DATA / "runs"], Choices(measures=["AP"]))["summary"])
    assert "surely" not in by_ap  # judging other runs' documents moves AP
    assert "Whatever" not in by_ap


def test_summary_says_where_measures_disagree():
    """One run finds one document first, the other many later."""
    value = np.array([[[1.0, 0.2], [0.9, 0.3], [1.0, 0.1]], [[0.5, 0.8], [0.4, 0.9], [0.5, 0.7]]])
    scores = rb.Scores(["early", "many"], ["1", "2", "3"], [rb.parse_measure(name) for name in ("RR", "Recall@100")],
                       value, value, value, value[..., 0])  # fmt: skip
    told = " ".join(content.gather_scores(scores, [])["summary"])
    assert "The measures disagree on who leads: early by RR; many by Recall@100." in told


def test_summary_names_a_run_that_leads_everywhere_as_such():
    """Alone by one measure and together with another run by the other: that is no disagreement."""
    value = np.array([[[1.0, 0.2], [0.9, 0.3], [1.0, 0.1]], [[1.0, 0.8], [0.9, 0.9], [1.0, 0.7]]])
    scores = rb.Scores(["level", "ahead"], ["1", "2", "3"], [rb.parse_measure(name) for name in ("RR", "Recall@100")],
                       value, value, value, value[..., 0])  # fmt: skip
    told = content.gather_scores(scores, [])["summary"]
    assert "ahead leads by all 2 measures, by some of them together with others." in told
    assert not any("disagree" in sentence for sentence in told)


def test_summary_has_the_same_mean_of_counts_as_the_leaderboard():
    value = np.array([[[4.0], [9.0], [2.0]], [[1.0], [3.0], [5.0]]])
    scores = rb.Scores(["many", "few"], ["1", "2", "3"], [rb.parse_measure("num_rel_ret")],
                       value, value, value, value[..., 0])  # fmt: skip
    made = content.gather_scores(scores, [])
    assert made["systems"][0]["mean"] == [5, 3]
    assert made["summary"][0] == "many scores highest: NumRelRet (mean over topics) 5.0000 over 3 topics."
