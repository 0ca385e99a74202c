"""Studies from the command line: a folder for each, complete or not there, never computed twice."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.commands.demo import DATA
from rankbounds.stats.separation import discriminative_power
from rankbounds.studies import (
    bounds_by_depth,
    bounds_by_persistence,
    power_by_judgment_rate,
    power_by_measure,
    score_by_pool_depth,
)
from rankbounds.studies.folders import _markdown
from rankbounds.studies.papers import PAPERS, items_in, sources_in
from rankbounds.studies.study import STUDIES, Study, StudyResult, studies_called

FILES = [str(DATA / "qrels.txt"), str(DATA / "runs")]
SLOW = {"coverage-by-relevance-ratio", "deciding-by-persistence"}
AS_THEY_ARE = sorted(set(STUDIES) - SLOW - {"change-by-leaving-a-group-out"})
ON_EXAMPLES = {"contribution-by-document", "loss-by-rho", "ranks-by-persistence", "range-by-persistence"}
PROMISED = {
    "agreement-by-judgment-rate",
    "agreement-by-measure",
    "bounds-by-depth",
    "bounds-by-persistence",
    "change-by-banding",
    "deciding-by-persistence",
    "power-by-judgment-rate",
    "power-by-measure",
    "range-by-ties",
    "score-by-judgment-rate",
    "score-by-pool-depth",
    "uncertainty-by-relevance-ratio",
}


def test_list_tells_every_question_and_need(capsys):
    assert main(["study", "list", "--format", "json"]) == 0
    rows = {row["study"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) >= PROMISED
    assert all("?" in row["question"] for row in rows.values())
    assert rows["power-by-measure"]["needs"] == "judgments, runs"
    assert rows["uncertainty-by-relevance-ratio"]["needs"] == "nothing (no files)"
    assert rows["power-by-alternative"]["source"] == "Sakai 2007, Table 3"


@pytest.mark.parametrize("name", AS_THEY_ARE)
@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_each_writes_table_figure_and_answer(name, tmp_path, capsys):
    study = STUDIES[name]
    files = FILES if "qrels" in study.needs else []
    assert main(["study", name, *files, "-o", str(tmp_path)]) == 0
    made = tmp_path / name
    files = {one.name for one in made.iterdir()}
    figures = {f"{figure}.{kind}" for figure in study.figures for kind in ("svg", "png", "pdf")}
    assert bool(figures) == ("Figure" in study.source)
    assert files == {"table.csv", "README.md", "settings.json"} | figures
    for figure in study.figures:
        assert (made / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (made / f"{figure}.pdf").read_bytes().startswith(b"%PDF")
    with open(made / "table.csv", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert rows
    readme = (made / "README.md").read_text()
    answer = capsys.readouterr().out.removeprefix(f"{name}: ").strip()
    assert answer.split(". ")[0] in readme
    assert study.question in readme
    assert study.source in readme


@pytest.mark.parametrize("name", sorted(SLOW))
@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_slow_ones_answer_without_a_figure(name):
    study = STUDIES[name]
    collection = {"qrels": FILES[0], "runs": [FILES[1]]}
    given = {
        "coverage-by-relevance-ratio": {"collections": 2, "relevance_ratios": (1.0, 0.5), "ways": ("true share",)},
        "deciding-by-persistence": collection | {"pairs": 3, "persistences": (0.5, 0.8), "digits": (2,)},
    }
    result = study(**given[name])
    assert result.rows()
    assert "%" in result.answer
    with pytest.raises(rb.UsageError, match=f"{name} repeats a table"):
        study.draw(result)


def test_complete_studies_are_left_alone_until_something_changes(tmp_path, capsys):
    qrels = tmp_path / "qrels.txt"
    qrels.write_bytes((DATA / "qrels.txt").read_bytes())

    def is_left(*more):
        arguments = ["study", "power-by-measure", str(qrels), FILES[1], "-m", "P@5", "-o", str(tmp_path), *more]
        assert main(arguments) == 0
        return "complete already" in capsys.readouterr().err

    assert not is_left()
    assert is_left()
    assert not is_left("--set", "seed=1")
    assert is_left("--set", "seed=1")
    (tmp_path / "power-by-measure" / "settings.json").unlink()  # as if stopped before the end
    assert not is_left("--set", "seed=1")
    qrels.write_text("".join(qrels.read_text().splitlines(keepends=True)[1:]))
    assert not is_left("--set", "seed=1")


def test_all_goes_on_after_a_failure_and_tells_what_it_leaves_out(tmp_path, capsys, monkeypatch):
    chosen = ("bounds-by-depth", "change-by-leaving-a-group-out", "power-by-measure", "uncertainty-by-relevance-ratio")
    for name in set(STUDIES) - set(chosen):
        monkeypatch.delitem(STUDIES, name)
    one_run = str(DATA / "runs" / "bm25.txt")
    assert main(["study", "all", FILES[0], one_run, "-o", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "change-by-leaving-a-group-out: skipped, it needs groups of runs (--groups)" in told
    assert "power-by-measure: failed: Discriminative power needs at least two runs." in told
    made = {"bounds-by-depth", "uncertainty-by-relevance-ratio", "moffat-zobel.md", "park.md"}
    assert {one.name for one in tmp_path.iterdir()} == made


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["power-by-mesure", *FILES], 2, "power-by-measure"),
        (["power-by-measure"], 2, "needs judgments and runs"),
        (["bounds-by-depth", *FILES, "--set", "pool_depth=x"], 2, "whole numbers"),
        (["power-by-measure", "-", FILES[1]], 2, "standard input"),
        (["power-by-measure", "missing", FILES[1]], 3, "no such file"),
        (["list", "--format", "xml"], 2, "xml"),
    ],
)
def test_wrong_usage_is_one_clear_line(arguments, code, word, capsys, tmp_path):
    assert main(["study", *arguments, "-o", str(tmp_path)]) == code
    told = capsys.readouterr().err
    assert word in told
    assert len(told.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_bounds_close_with_depth_and_open_with_persistence():
    by_depth = bounds_by_depth(*FILES, persistences=(0.8,), depths=(1, 5, 10, 40), pool_depth=5)
    assert {row["judgments"] for row in by_depth.rows()} == {"pool depth 5", "all judgments"}
    for run in {(row["judgments"], row["run"]) for row in by_depth.rows()}:
        own = [row for row in by_depth.rows() if (row["judgments"], row["run"]) == run]
        low, high = np.array([(row["low"], row["high"]) for row in own]).T
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) <= 1e-12).all()
    by_p = bounds_by_persistence(*FILES, persistences=(0.5, 0.8, 0.95), pool_depth=0)
    mean = rb.evaluate(*FILES, "RBP(p=0.8)").mean()
    told = [(row["low"], row["high"]) for row in by_p.rows() if row["p"] == 0.8]
    np.testing.assert_allclose(told, np.stack([mean.low[:, 0, 0], mean.high[:, 0, 0]], axis=-1))


def test_power_is_that_of_the_tests():
    found = power_by_measure(*FILES, measures=["AP", "P@10"], resamples=100)
    power = {(row["test"], row["measure"]): 100 * row["power"] for row in found.rows() if row["alpha"] == 0.05}
    scores = rb.evaluate(*FILES, ["AP", "P@10"])
    t = discriminative_power(scores, 0.05, "t").rows()
    assert [100 * row["power"] for row in t] == pytest.approx([power["t", "AP"], power["t", "P@10"]])


def test_a_figure_draws_the_bounds():
    lines = bounds_by_persistence.draw(bounds_by_persistence(*FILES, persistences=(0.5, 0.8))).get_lines()
    assert len(lines) == 4
    assert all((high.get_ydata() >= low.get_ydata()).all() for low, high in zip(lines[::2], lines[1::2], strict=True))


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_the_best_runs_are_judged_by_the_pool_of_all():
    settings = {"measures": ["AP"], "depths": (2,)}
    every, best = (score_by_pool_depth(*FILES, **settings, best=best).rows() for best in (0, 2))
    assert len(best) == 2
    assert all(row in every for row in best)
    of_one = score_by_pool_depth(*FILES, **settings, best=2, pool_runs=FILES[1] + "/bm25.txt").rows()
    assert [row["value"] for row in of_one] != [row["value"] for row in best]


def test_a_study_of_one_setting_says_nothing_of_how_it_moves():
    told = bounds_by_persistence(*FILES, persistences=(0.5,)).words()
    assert told.count("at p = 0.5") == 1
    assert "rises" not in told
    assert "rises" not in STUDIES["uncertainty-by-relevance-ratio"](relevance_ratios=(0.5,)).words()


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_power_with_all_judgments_is_that_of_the_t_test():
    found = power_by_judgment_rate(*FILES, measures=["AP"], rates=(50,), seeds=2, test="t")
    scores = rb.evaluate(*FILES, "AP")
    separated = [row["p_value"] < 0.05 for row in rb.compare(scores, test="t").pairs.rows()]
    assert found.rows()[0]["rate"] == 100
    assert found.rows()[0]["power"] == pytest.approx(np.mean(separated))
    assert found.rows()[1]["low_draw"] <= found.rows()[1]["power"] <= found.rows()[1]["high_draw"]


class TestOptionsOfStudies:
    """An option is honoured or refused: for every study, whatever it takes."""

    @pytest.mark.parametrize("name", sorted(STUDIES))
    def test_each_study_takes_measures_or_refuses_them(self, name, tmp_path, capsys, monkeypatch):
        study = STUDIES[name]
        called = {}
        monkeypatch.setattr("rankbounds.studies.folders.write_folder", lambda *_: None)

        def compute(_study, **taken):
            called.update(taken)
            return StudyResult([], "")

        monkeypatch.setattr(Study, "__call__", compute)
        files = FILES if "qrels" in study.needs else []
        groups = tmp_path / "groups"
        groups.write_text("bm25 one\n")
        also = ["--groups", str(groups)] if "groups" in study.needs else []
        code = main(["study", name, *files, *also, "-m", "P@5", "-o", str(tmp_path)])
        told = capsys.readouterr().err
        if study.name_of("measures") is None:
            assert (code, called) == (2, {})
            assert 'no setting "measures"' in told
        else:
            assert code == 0
            assert rb.measures.parse_measures(called[study.name_of("measures")]) == [rb.P @ 5]

    def test_the_measure_of_a_study_of_one(self, tmp_path, capsys):
        assert main(["study", "range-by-ties", *FILES, "-m", "RBP(p=0.5)", "-o", str(tmp_path)]) == 0
        with open(tmp_path / "range-by-ties" / "table.csv", encoding="utf-8") as table:
            assert {row["measure"] for row in csv.DictReader(table)} == {"RBP(p=0.5)"}
        assert "--set 'measure=RBP(p=0.5)'" in (tmp_path / "range-by-ties" / "README.md").read_text()
        capsys.readouterr()
        assert main(["study", "range-by-ties", *FILES, "-m", "AP", "-m", "RR", "-o", str(tmp_path)]) == 2
        assert "AP,RR" in capsys.readouterr().err

    def test_gains_of_banding_are_those_of_evaluate(self, tmp_path):
        gain = "1=1,2=50"
        assert (
            main(["study", "change-by-banding", *FILES, "-m", "nDCG@10", "--set", f"gain={gain}", "-o", str(tmp_path)])
            == 0
        )
        with open(tmp_path / "change-by-banding" / "table.csv", encoding="utf-8") as table:
            before = {round(float(row["mean_before"]), 9) for row in csv.DictReader(table)}
        scores = rb.evaluate(*FILES, "nDCG@10", gain=gain, bounds="none")
        assert before == {round(float(scores.value.mean()), 9)}

    def test_files_that_a_simulation_does_not_read_are_refused(self, tmp_path, capsys):
        assert main(["study", "uncertainty-by-relevance-ratio", *FILES, "-o", str(tmp_path)]) == 2
        assert "takes no judgments and no runs" in capsys.readouterr().err

    def test_settings_are_of_the_type_of_their_default(self):
        banding, depths = STUDIES["change-by-banding"], STUDIES["bounds-by-depth"]
        assert depths.setting("depths", "5, 10") == (5, 10)
        assert depths.setting("persistences", "1,0.5") == (1.0, 0.5)
        assert banding.setting("rhos", "1.10,2") == ("1.10", "2")
        assert banding.setting("bits", "float32,float16") == ("float32", "float16")
        assert banding.setting("rhos", "none") == ()
        assert banding.setting("best", "all") == 0
        assert list(map(str, banding.setting("measures", "RBP(p=0.5),AP"))) == ["RBP(p=0.5)", "AP"]
        assert STUDIES["range-by-persistence"].setting("score", "0.4320") == "0.4320"
        for name, text, words in (
            ("depths", "5.5", "whole numbers"),
            ("depth", "5", "Did you mean"),
            ("alpha", "x", "numbers"),
        ):
            with pytest.raises(rb.UsageError, match=words):
                (banding if name == "alpha" else depths).setting(name, text)

    @pytest.mark.parametrize(
        ("name", "setting", "words"),
        [
            ("score-by-judgment-rate", {"seeds": 0}, "seeds must be at least 1, not 0"),
            ("score-by-judgment-rate", {"rates": ()}, "rates needs at least one value"),
            ("power-by-judgment-rate", {"alpha": 0}, "alpha must lie between 0 and 1, not 0"),
            ("bounds-by-depth", {"depths": (5, 0)}, "depths must be at least 1, not 0"),
            ("bounds-by-depth", {"pool_depth": -1}, "pool_depth must be at least 0, not -1"),
            ("bounds-by-persistence", {"persistences": (0.5, 1.0)}, "below 1"),
            ("agreement-by-measure", {"measures": []}, "measures needs at least one value"),
            ("change-by-banding", {"rhos": ()}, "at least one rho"),
            ("change-by-banding", {"limits": (0.99, 1.5)}, "limits must lie between 0 and 1"),
            ("loss-by-rho", {"rhos": ()}, "at least one rho"),
            ("deciding-by-persistence", {"time_limit": 0.0}, "time_limit must be above 0"),
            ("distribution-by-share", {"shares": (1.5,)}, "shares must lie between 0 and 1"),
            ("distribution-by-share", {"judged_depth": 100}, "Nothing is open"),
            ("ranks-by-persistence", {"precisions": ()}, "precisions needs at least one value"),
            ("contribution-by-document", {"ranking": ""}, "A ranking is written"),
            ("contribution-by-document", {"ranking": "$(-$"}, "tied documents in parentheses"),
            ("contribution-by-document", {"ranking": "?-"}, "A ranking is written"),
            ("contribution-by-document", {"relevant": 3}, "at least 5, the number of"),
            ("contribution-by-document", {"relevant": -1}, "relevant must be at least 0"),
        ],
    )
    def test_settings_that_mean_nothing_are_refused(self, name, setting, words):
        study = STUDIES[name]
        with pytest.raises(rb.UsageError, match=words):
            study(*FILES[: 2 * ("qrels" in study.needs)], **setting)

    @pytest.mark.parametrize(("name", "setting"), [(name, each) for name in STUDIES for each in STUDIES[name].settings])
    @pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
    def test_every_setting_refuses_what_it_does_not_know(self, name, setting, tmp_path):
        """A word that means nothing; where numbers are taken, one below all that it can be, and none."""
        study, default = STUDIES[name], STUDIES[name].settings[setting]
        groups = {"bm25": "one", "bm25-expanded": "one", "dense": "two", "learned": "two", "reranked": "two"}
        given = {"qrels": FILES[0], "runs": [FILES[1]], "groups": groups}
        given = {needed: given[needed] for needed in study.needs}
        one = default[0] if isinstance(default, tuple) and default else default
        for text in ("nonsense", "-1", "nan") if isinstance(one, int | float) else ("nonsense",):
            with pytest.raises((rb.UsageError, rb.DataError)):
                study(**given, **{setting: study.setting(setting, text)})

    def test_set_changes_what_is_computed_and_is_kept(self, tmp_path, capsys):
        asked = [
            "study",
            "bounds-by-depth",
            *FILES,
            "--set",
            "depths=1,7",
            "--set",
            "pool-depth=0",
            "-o",
            str(tmp_path),
        ]
        assert main(asked) == 0
        with open(tmp_path / "bounds-by-depth" / "table.csv", encoding="utf-8") as table:
            assert {row["depth"] for row in csv.DictReader(table)} == {"1", "7"}
        assert "--set depths=1,7 --set pool_depth=0" in (tmp_path / "bounds-by-depth" / "README.md").read_text()
        assert main(asked) == 0
        assert "complete already" in capsys.readouterr().err
        assert main(["study", "bounds-by-depth", *FILES, "--set", "depts=1", "-o", str(tmp_path)]) == 2
        assert 'There is no setting "depts". Did you mean "depths"?' in capsys.readouterr().err

    def test_help_of_a_study_lists_its_settings(self, capsys):
        with pytest.raises(SystemExit):
            main(["study", "Yang table 3", "--help"])
        told = capsys.readouterr().out
        assert "change-by-banding: How exact must a ranking be for scores" in told
        assert "rhos=1.1,1.2,1.4,1.7,2.0" in told
        assert "best=80" in told
        with pytest.raises(SystemExit):
            main(["study", "--help"])
        assert "--set NAME=VALUE" in capsys.readouterr().out

    def test_the_best_runs_are_those_of_the_mean(self, tmp_path, capsys):
        means = rb.evaluate(*FILES, "P@5", bounds="none").sort("P@5").runs
        asked = ["study", "range-by-ties", *FILES, "--set", "best=2", "--set", "best_by=P@5", "-o", str(tmp_path)]
        assert main(asked) == 0
        assert f"the 2 best of {len(means)} runs by P@5" in capsys.readouterr().out
        with open(tmp_path / "range-by-ties" / "table.csv", encoding="utf-8") as table:
            assert {row["run"] for row in csv.DictReader(table)} == set(means[:2])
        assert main([*asked[:-2], "--set", "best=-1", "-o", str(tmp_path)]) == 2


class TestSources:
    """Tables and figures of papers lead to studies."""

    def test_every_study_names_tables_or_figures_of_a_known_paper(self):
        labels = {paper.label for paper in PAPERS.values()} | {"Voorhees and Buckley 2002", "Sanderson and Zobel 2005"}
        assert {source.paper for study in STUDIES.values() for source in study.sources} <= labels

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ("Yang table 3", ["change-by-banding"]),
            ("yang Figure 2", ["range-by-ties"]),
            ("Moffat & Zobel Table IV", ["power-by-measure"]),
            ("moffat-zobel fig. 5", ["bounds-by-depth"]),
            ("Moffat and Zobel 2008, Table I", ["contribution-by-document"]),
            ("park figure 3", ["uncertainty-by-relevance-ratio"]),
            ("Zhang table 1", ["ranks-by-persistence"]),
            ("alternatives to bpref figure 3", ["power-by-judgment-rate"]),
            ("power-by-measure", ["power-by-measure"]),
        ],
    )
    def test_items_are_found(self, asked, names):
        assert [study.name for study in studies_called(asked)] == names

    def test_a_paper_stands_for_its_studies(self):
        assert len(studies_called("sakai")) == 6
        assert {source.paper for study in studies_called("sakai") for source in study.sources} == {"Sakai 2007"}

    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            ("yang table 9", "Of this paper: Figure 1, Figure 2, Figure 3"),
            ("knuth table 1", "names no paper"),
            ("figure 5", "Figure 5 is in Moffat and Zobel 2008"),
            ("nothing", "study list"),
        ],
    )
    def test_what_is_not_there_says_what_is(self, asked, words):
        with pytest.raises(rb.UsageError, match=words):
            studies_called(asked)

    def test_items_in_words(self):
        assert items_in("Fig. 3 and table iv, Equation 12") == ["Figure 3", "Table 4", "Equation 12"]
        assert items_in("Sections 2, 3.2 and 4: x") == ["Section 2", "Section 3.2", "Section 4"]
        assert items_in("Equations 1, 9 to 11") == [f"Equation {number}" for number in (1, 9, 10, 11)]
        assert [str(one) for one in sources_in("A and B 2008, Table 3, Figure 1; C 2007")] == [
            "A and B 2008, Table 3", "A and B 2008, Figure 1", "C 2007",
        ]  # fmt: skip

    def test_a_paper_gets_a_page_with_tables_figures_and_agreement(self, tmp_path, capsys):
        assert main(["study", "zhang", *FILES, "--set", "pairs=2", "-o", str(tmp_path)]) == 0
        page = (tmp_path / "zhang.md").read_text()
        assert page.startswith("# Parameter Sensitivity in Rank-Biased Precision\n")
        for name in ("ranks-by-persistence", "range-by-persistence", "deciding-by-persistence"):
            assert f"## {STUDIES[name].question}" in page
            for figure in STUDIES[name].figures:
                assert f"]({name}/{figure}.svg)" in page
                assert (tmp_path / name / f"{figure}.svg").exists()
        assert "Of 18 printed values, 17 come out to the last digit; not so: 1,902 for 1,001" in page
        assert "| 0.95 | 104 | 194 | 373 |" in page
        capsys.readouterr()
        assert main(["study", "zhang", *FILES, "--set", "pairs=2", "-o", str(tmp_path)]) == 0
        assert capsys.readouterr().err.count("complete already") == 3


def test_numbers_that_papers_print_come_out():
    for name in ON_EXAMPLES - {"ranks-by-persistence", "range-by-persistence"}:
        agreement = STUDIES[name]().agreement
        counts = [int(word) for word in agreement.replace(",", "").split() if word.isdigit()]
        assert counts[0] == counts[-1] > 10 or name == "loss-by-rho"
    assert "Of 15 printed values, 15 come out" in STUDIES["loss-by-rho"]().agreement
    found = STUDIES["contribution-by-document"]()
    assert "Of 24 printed values, 24 come out" in found.agreement, "with the totals of Tables I and II"
    assert [row["score"] for row in found.tables["As the paper prints it"]] == [0.6316, 0.7661, 0.4526, 0.1881]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (["ranking=$$---$----$-??--?---"], "RBP(p=0.8) is 0.4470 (0.4470 to 0.4889)"),
        (["ranking=$$---$----$-??--?---"], "RBP(p=0.95) is 0.1661 (0.1661 to 0.5993). In parentheses: by unjudged"),
        (["relevant=6"], "AP is 0.5263; "),
        (["relevant=7"], "AP is 0.4511; "),
        (["ranking=-(-$$)(-$)$(--$)"], "AP is 0.5363 (0.4810 to 0.5926); RBP(p=0.5) is 0.3252 (0.2119 to 0.4180); "),
        (["ranking=-(-$$)(-$)$(--$)"], "In parentheses: by the order of ties."),
        (["ranking=(-?)$"], "by unjudged documents and ties."),
        (["ranking=$$-$---$", "measures=RBP(p=0.5)@8"], "RBP(p=0.5)@8 is 0.8164"),
    ],
)
def test_examples_of_papers_need_no_files(written, told, tmp_path, capsys):
    """Of Moffat and Zobel, sections 3.1 and 4.4, of Yang's Figure 1, and of Zhang's section 2."""
    chosen = [part for one in written for part in ("--set", one)]
    assert main(["study", "contribution-by-document", *chosen, "-o", str(tmp_path)]) == 0
    assert told in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_no_measure_is_named_best_and_worst_of_equals():
    twins = dict.fromkeys(("one", "other"), rb.Run(str(DATA / "runs" / "bm25.txt")))
    for name in ("agreement-by-measure", "power-by-measure", "agreement-by-judgment-rate", "power-by-alternative"):
        few = {"seeds": 1} if name == "agreement-by-judgment-rate" else {}
        study = STUDIES[name]
        result = study(FILES[0], twins, **few)
        assert "worst" not in result.answer
        assert "fewest" not in result.answer
        for draw in study.figures.values():
            draw(result)


def test_pages_write_settings_as_they_are_set_and_scores_with_four_digits():
    rows = [{"p": 0.5, "documents": 1736.6, "tau": 0.5}, {"p": 0.95, "documents": 12.0, "tau": 0.33333, "n": None}]
    assert re.findall(r"[\d.,]+", _markdown(rows)) == ["0.5", "1,736.6", "0.5000", "0.95", "12", "0.3333"]


def test_park_s_scaling_is_said_of_the_same_moments():
    settings = {"shares": (0.0, 0.2), "relevance_ratios": (0.5, 1.0), "topics": 2, "n_documents": 12, "judged_depth": 3}
    study = STUDIES["uncertainty-by-relevance-ratio"]
    found = study(**settings, simulations=20000, seed=3)
    scaled, constant = (row for row in found.rows() if row["q"] == 0.2)
    mean, sd = (scaled[name] / constant[name] for name in ("mean", "sd"))
    assert f"scales the mean by {mean:.2f} to {mean:.2f} and the standard deviation by {sd:.2f}" in found.answer
    assert scaled["simulated_mean"] / constant["simulated_mean"] == pytest.approx(mean, rel=0.02)
    assert scaled["simulated_sd"] / constant["simulated_sd"] == pytest.approx(sd, rel=0.02)
    assert {"simulated mean by q and w", "simulated sd by q and w"} <= found.tables.keys()
    for silent in ({"shares": (0.0, 1.0)}, {"relevance_ratios": (0.5,)}, {"relevance_ratios": (1.0,)}):
        assert "scales" not in study(**settings | silent).answer


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_agreement_has_spearman_across_measures_and_a_level_of_its_critical_tau():
    found = STUDIES["agreement-by-measure"](*FILES, measures=["AP", "RR", "P@5"])
    means = rb.evaluate(*FILES, ["AP", "RR"], bounds="none").value.mean(axis=1)
    places = np.argsort(np.argsort(means, axis=0), axis=0)
    (first,) = (row for row in found.tables["Spearman's coefficient, all judgments"] if row["measure"] == "AP")
    assert first["RR"] == pytest.approx(np.corrcoef(places.T)[0, 1])
    said = [STUDIES["agreement-by-alternative"](*FILES, alpha=alpha).answer for alpha in (0.1, 0.05)]
    for alpha, words in zip((0.1, 0.05), said, strict=True):
        assert f"a tau of {rb.stats.critical_tau(5, alpha):.3f} or more is significant at {alpha:g}." in words


def test_a_paper_without_files_is_one_clear_error(tmp_path, capsys):
    assert main(["study", "sakai", "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "rankbounds: Nothing to compute: name judgments and runs."


def test_the_interval_of_equation_8_by_enumeration():
    """Three open documents on two topics: every one of 64 outcomes, each with its probability."""
    q, p, chosen = 0.3, 0.5, {"n_documents": 4, "judged_depth": 1, "topics": 2, "confidence": 0.9}
    (row,) = STUDIES["distribution-by-share"](shares=(q,), p=p, **chosen).rows()
    weights = np.tile([p * (1 - p), p**2 * (1 - p), p**3 * (1 - p)], 2) / 2
    outcomes = (np.arange(64)[:, None] >> np.arange(6)) & 1
    chance = np.prod(np.where(outcomes, q, 1 - q), axis=1)
    total = outcomes @ weights
    assert row["mean"] == pytest.approx(chance @ total)
    assert row["sd_of_mean"] == pytest.approx(np.sqrt(chance @ (total - row["mean"]) ** 2))
    assert row["held"] == pytest.approx(chance[(total >= row["low"]) & (total <= row["high"])].sum())
