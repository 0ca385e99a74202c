"""Leaderboards of judges against a trusted one: tau as scipy has it, intervals that cover, and what does not fit."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.cli import main

RUNS, TOPICS = [f"run{number}" for number in range(6)], [f"t{number}" for number in range(30)]


def drawn(seed, quality=None, spread=0.3):
    """Scores of runs that differ in quality, noisily by topic."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.2, 0.8, len(RUNS)) if quality is None else quality
    return quality[:, None] + spread * rng.standard_normal((len(RUNS), len(TOPICS)))


def write(path, values, layout="{run} {measure} {topic} {value}", measure="nDCG@10"):
    rows = [
        {"run": run, "measure": measure, "topic": topic, "value": round(float(values[at, place]), 6)}
        for at, run in enumerate(RUNS)
        for place, topic in enumerate(TOPICS)
    ]
    lines = [json.dumps(row) if layout == "json" else layout.format(**row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("layout", ["{run} {measure} {topic} {value}", "{run} {topic} {measure} {value}", "json"])
def test_tau_is_that_of_scipy(layout, tmp_path):
    stats = pytest.importorskip("scipy.stats")
    trusted, judge = drawn(1), drawn(2)
    found = rb.judging.compare_leaderboards(
        write(tmp_path / "people", trusted, layout), write(tmp_path / "model", judge, layout)
    )
    (row,) = found.rows()
    expected = stats.kendalltau(trusted.mean(axis=1), judge.mean(axis=1)).statistic
    assert row["tau"] == pytest.approx(expected)
    assert (row["judge"], row["measure"], row["runs"], row["topics"]) == ("model", "nDCG@10", 6, 30)
    assert row["tau_low"] <= row["tau"] <= row["tau_high"] <= 1


def test_the_same_leaderboard_agrees_and_a_reversed_one_does_not(tmp_path):
    clear = drawn(3, spread=1e-3)
    people, turned = write(tmp_path / "people", clear), write(tmp_path / "turned", -clear)
    found = rb.judging.compare_leaderboards(people, {"same": people, "turned": turned})
    assert [row["tau"] for row in found.rows()] == [1.0, -1.0]
    assert [row["tau_low"] for row in found.rows()] == [None, None]  # no resample changes it: no error is known
    assert found.notes() == []


def test_intervals_cover_the_tau_of_very_many_topics():
    """The truth is the order by quality; the judge's quality is another. 40 draws, 95% intervals."""
    stats = pytest.importorskip("scipy.stats")
    quality, liked = np.array([0.2, 0.35, 0.45, 0.6, 0.7, 0.9]), np.array([0.3, 0.2, 0.6, 0.45, 0.9, 0.8])
    truth = stats.kendalltau(quality, liked).statistic
    covered = 0
    for seed in range(40):
        sides = []
        for number, means in enumerate((quality, liked)):
            values = drawn(100 * seed + number, means, spread=0.4)[:, :, None]
            nothing = np.full(values.shape, np.nan)
            sides.append(rb.Scores(RUNS, TOPICS, [rb.parse_measure("AP")], values, nothing, nothing, nothing[:, :, 0]))
        (row,) = rb.judging.compare_leaderboards(*sides, resamples=300).rows()
        covered += row["tau_low"] is None or row["tau_low"] <= truth <= row["tau_high"]
    assert covered >= 36


def test_measures_of_other_names_are_compared_where_each_side_has_one(tmp_path):
    people = write(tmp_path / "people", drawn(1), measure="AP")
    both = tmp_path / "both"
    model = write(tmp_path / "model", drawn(2))
    (row,) = rb.judging.compare_leaderboards(people, model).rows()
    assert row["measure"] == "AP and nDCG@10"
    both.write_text(
        write(tmp_path / "x", drawn(2)).read_text() + write(tmp_path / "y", drawn(4), measure="RR").read_text()
    )
    with pytest.raises(
        rb.DataError, match=r"no measure has the same name.*nDCG@10, RR in this file, AP in the trusted one"
    ):
        rb.judging.compare_leaderboards(people, both)


def test_what_is_not_shared_is_left_out_and_too_little_is_an_error(tmp_path):
    people = write(tmp_path / "people", drawn(1))
    lines = write(tmp_path / "model", drawn(2)).read_text().splitlines()
    fewer = tmp_path / "fewer"
    fewer.write_text("\n".join(line for line in lines if "run0" not in line and " t3 " not in line) + "\n")
    runs, topics = (f"fewer: {told} in the trusted one" for told in (
        "5 runs are compared, of 5 in this file and 6", "29 topics are compared, of 29 in this file and 30"
    ))  # fmt: skip
    with pytest.warns(rb.RankboundsWarning, match=runs), pytest.warns(rb.RankboundsWarning, match=topics):
        (row,) = rb.judging.compare_leaderboards(people, fewer).rows()
    assert (row["runs"], row["topics"]) == (5, 29)
    fewer.write_text("\n".join(line for line in lines if "run0" in line) + "\n")
    with pytest.raises(rb.DataError, match="fewer: it shares 1 of its runs with the trusted leaderboard"):
        rb.judging.compare_leaderboards(people, fewer)


def test_on_the_command_line(tmp_path, capsys):
    people, model = write(tmp_path / "people", drawn(1)), write(tmp_path / "model", drawn(2))
    assert main(["judges", str(people), f"llm={model}", "--leaderboards"]) == 0
    told = capsys.readouterr().out
    found = rb.judging.compare_leaderboards(people, {"llm": model})
    assert found.table().text() in told
    assert main(["judges", str(people), str(model), "--leaderboards", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["tau"] == found.rows()[0]["tau"]
    assert main(["judges", str(people), str(model), "--leaderboards", "--votes"]) == 2
    assert "--votes applies to labels" in capsys.readouterr().err
    assert main(["judges", str(people), "--leaderboards"]) == 2
    assert "No leaderboard of a judge was given" in capsys.readouterr().err
