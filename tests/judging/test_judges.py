"""Labels held against trusted ones: laws, inputs, the command and its formats, real labels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from made_labels import made, paired

import machine
import rankbounds as rb
from rankbounds.terminal import fit_lines

COEFFICIENTS = ("kappa", "kappa_linear", "kappa_quadratic")


def test_the_same_labels_agree_in_everything():
    people, _, runs = made(6)
    found = rb.judging.compare_judges(people, {"again": people}, runs, ["AP", "nDCG@5"])
    row = found.agreement[0]
    assert [row[name] for name in (*COEFFICIENTS, "alpha", "same")] == pytest.approx([1.0] * 5)
    assert (row["shift"], row["missing"], row["extra"]) == (0, 0, 0)
    assert {(s["bias"], s["flag"]) for s in found.systems} == {(0.0, None)}
    for ordering in found.orderings:
        assert [ordering[name] for name in ("tau", "tau_ap", "tau_top10", "slope")] == pytest.approx([1.0] * 4)
        assert [ordering[name] for name in ("tau_low", "tau_high", "slope_low", "mean_bias_low")] == [None] * 4
    assert all(o["lost"] == o["reversed"] == o["only_by_labels"] == 0 for o in found.orderings)


@pytest.mark.parametrize("seed", range(3))
def test_orders_of_inputs_do_not_matter(seed):
    people, models, runs = made(seed)
    shuffled = np.random.default_rng(seed)

    def mixed(table):
        topics = shuffled.permutation(list(table)).tolist()
        return {topic: {doc: table[topic][doc] for doc in shuffled.permutation(list(table[topic]))} for topic in topics}

    found = rb.judging.compare_judges(people, models, runs, "AP", resamples=20)
    again = rb.judging.compare_judges(
        people, {name: mixed(labels) for name, labels in models.items()}, runs, "AP", resamples=20
    )
    assert found.rows() == again.rows()
    assert found.agreement == again.agreement
    turned = rb.judging.compare_judges(people, models, dict(reversed(runs.items())), "AP", resamples=20)
    by_name = {(row["labels"], row["run"]): row for row in turned.systems}
    for row in found.systems:
        assert by_name[row["labels"], row["run"]] == pytest.approx(row)


def test_labels_in_every_form(tmp_path):
    people, models, runs = made(0)
    expected = rb.judging.compare_judges(people, {"one": models["one"]}, runs, "AP")
    qrels = rb.read_qrels
    for name, labels in (("people", people), ("one", models["one"]), ("two", models["two"])):
        rows = [(topic, doc, grade) for topic, of in labels.items() for doc, grade in of.items()]
        rb.Qrels.from_columns(*zip(*rows, strict=True)).write(tmp_path / f"{name}.qrels")
    forms = [
        tmp_path / "one.qrels", [str(tmp_path / "one.qrels")], str(tmp_path / "o*.qrels"), models["one"],
        [models["one"]], qrels(tmp_path / "one.qrels"), qrels(tmp_path / "one.qrels").to_polars(),
        list(qrels(tmp_path / "one.qrels")), {"one": str(tmp_path / "one.qrels")},
        {"one": qrels(tmp_path / "one.qrels").to_pandas()},
        qrels(tmp_path / "one.qrels").to_polars().to_dict(as_series=False),
    ]  # fmt: skip
    for form in forms:
        found = rb.judging.compare_judges(tmp_path / "people.qrels", form, runs, "AP")
        assert len(found.labels) == 1
        assert [row | {"labels": "one"} for row in found.rows()] == expected.rows()
    assert rb.judging.compare_judges(people, [tmp_path / "one.qrels", tmp_path / "two.qrels"]).labels == ["one", "two"]
    assert rb.judging.compare_judges(people, [models["one"], models["two"]]).labels == ["labels1", "labels2"]
    assert (
        rb.judging.compare_judges(people, models["one"]).rows()
        == rb.judging.compare_judges(people, models["one"]).agreement
    )
    for nothing in ({}, []):
        with pytest.raises(rb.UsageError, match="No labels"):
            rb.judging.compare_judges(people, nothing)


@pytest.fixture
def files(tmp_path):
    people, models, runs = made(0)
    (tmp_path / "runs").mkdir()
    for name, labels in {"people": people, **models}.items():
        (tmp_path / f"{name}.qrels").write_text(
            "".join(f"{topic} 0 {doc} {grade}\n" for topic, of in labels.items() for doc, grade in of.items())
        )
    for name, of_run in runs.items():
        (tmp_path / "runs" / name).write_text(
            "".join(f"{topic} Q0 {doc} 0 {score} {name}\n" for topic, of in of_run.items() for doc, score in of.items())
        )
    sources = "".join(
        f"{topic},{doc},{grade},{source}\n"
        for source, labels in {"human": people, **models}.items()
        for topic, of in labels.items()
        for doc, grade in of.items()
    )  # fmt: skip
    (tmp_path / "labels.csv").write_text(f"query_id,doc_id,relevance,source\n{sources}")
    return tmp_path


def test_json_of_the_command_is_what_python_returns(command, files):
    people, models, runs = made(0)
    code, out, err = command(
        "judges", files / "people.qrels", f"1st={files / 'one.qrels'}", files / "two.qrels", "--runs", files / "runs",
        "-m", "AP", "-m", "nDCG@5", "--rel", "2", "--format", "json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    told = json.loads(out)
    expected = rb.judging.compare_judges(
        people, {"1st": models["one"], "two": models["two"]}, runs, ["AP", "nDCG@5"], rel=2
    )
    assert told["agreement"] == json.loads(json.dumps(expected.agreement))
    assert told["systems"] == json.loads(json.dumps(expected.systems))
    assert {"labels", "pairs", "kappa", "kappa_linear", "kappa_quadratic", "alpha"} <= set(told["agreement"][0])
    wanted = {"labels", "run", "measure", "by_labels", "trusted", "bias", "ci_low", "ci_high"}
    assert wanted <= set(told["systems"][0])
    assert {"labels", "measure", "tau", "tau_ap", "tau_top10"} <= set(told["orderings"][0])
    assert {"labels", "trusted", "by_labels", "pairs"} == set(told["confusion"][0])
    assert told["settings"]["trusted"] == "people"
    files_of_all = ("judges", files / "people.qrels", files / "one.qrels", "--runs", files / "runs", "--format", "json")
    by_default = [row["measure"] for row in json.loads(command(*files_of_all)[1])["orderings"]]
    assert by_default == rb.judging.compare_judges(people, {"one": models["one"]}, runs).measures == ["nDCG@10"]


def test_sources_of_one_file(command, files):
    arguments = ("--runs", files / "runs", "-m", "AP", "--format", "csv")
    code, out, err = command("judges", files / "labels.csv", "--source", "human", *arguments)
    assert (code, err) == (0, "")
    code, apart, _ = command("judges", files / "people.qrels", files / "one.qrels", files / "two.qrels", *arguments)
    assert (code, apart) == (0, out)
    mixed = command("judges", files / "labels.csv", files / "one.qrels", "--source", "human", *arguments)[1]
    assert mixed.splitlines()[1] == apart.splitlines()[1]
    assert command("judges", files / "labels.csv", *arguments)[0] == 2
    assert command("judges", files / "people.qrels", "--source", "human", *arguments)[0] == 3


@pytest.mark.parametrize("kind", ["table", "markdown", "latex", "html"])
def test_tables_hold_verdict_and_numbers(command, files, kind):
    asked = (
        "judges", files / "people.qrels", files / "one.qrels", files / "two.qrels", "--runs", files / "runs",
        "-m", "AP", "--format", kind,
    )  # fmt: skip
    code, out, _ = command(*asked)
    assert code == 0
    assert all(name in out for name in ("one", "two", "kappa", "better"))
    code, out, _ = command(*asked, "--details", "one")
    assert code == 0
    assert "Can one be trusted?" in out
    assert all(name in out for name in ("kappa", "run0", "slope", "Bias by AP"))
    assert command(*asked, "--details", "three")[0] == 2


def test_several_judges_have_a_row_each_best_first():
    """One that turns winners stands below one that misses differences, and this below one that finds all."""
    people = {str(topic): {"a": 2, "b": 1, "c": 0, "d": 0} for topic in range(12)}
    blind = {topic: {"a": 1, "b": 1, "c": 1, "d": 1} for topic in people}
    contrary = {topic: {doc: 2 - grade for doc, grade in of.items()} for topic, of in people.items()}
    runs = {"good": {topic: ["a", "b"] for topic in people}, "poor": {topic: ["c", "a"] for topic in people}}
    judges = {"contrary": contrary, "blind": blind, "same": people}
    found = rb.judging.compare_judges(people, judges, runs, ["RR", "P@2"], labels_rel={"blind": 1})
    rows = found.verdicts()
    assert [row["labels"] for row in rows] == ["same", "blind", "contrary"]
    assert [row["order"] for row in rows] == ["yes", "in part: 1 of 1 missed", "no: 1 of 1 turned"]
    assert rows[0]["scores"] == "no problem found"
    assert found.words().startswith("Of 3 judges, same has the fewest problems. Can same be trusted?")
    assert "same agrees best with trusted: kappa 1.000" in found.details().words()
    assert "in_full" not in found.to_dict()
    ((_, table),) = found.parts()
    assert [line[0] for line in table.rows] == ["same", "blind", "contrary"]
    alone = found.details("contrary")
    assert alone.words() == found.words("contrary") == found.to_dict()["words"]["contrary"]
    assert alone.rows() == [row for row in found.rows() if row["labels"] == "contrary"]
    assert len(alone.parts()) > 3


def test_the_answer_on_four_judges_is_short(unpacked, command, monkeypatch):
    monkeypatch.chdir(unpacked("dl21-half.tar.xz") / "dl21-half")
    names = ("binary-gpt4", "binary-gpt4o", "binary-llama3.2", "umbrela-gpt4")
    runs = [
        f"runs/{name}.txt"
        for name in ("NLE_P_quick", "Fast_ForwardP_2", "Fast_Forward_3", "NLE_P_V1andV2", "p_f10_mdt53b")
    ]
    asked = (
        "judges",
        "human.qrels",
        *(f"{name}.qrels" for name in names),
        "--runs",
        *runs,
        "-m",
        "nDCG@10",
        "--rel",
        "2",
    )
    code, out, _ = command(*asked)
    assert code == 0
    assert len(fit_lines(out, 80).splitlines()) <= 25
    assert len(out.split()) <= 250
    assert "has the fewest problems" in out.splitlines()[0]
    assert all(name in out for name in names)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--rel", "0"], 2, "positive"),
        (["--labels-rel", "x=1"], 2, 'no labels "x"'),
        (["--labels-rel", "one=high"], 2, "takes a grade"),
        (["--labels-rel", "-1"], 2, "positive"),
        (["--labels-rel", "1", "--labels-rel", "one=2"], 2, "one grade for all"),
        (["--confidence", "2"], 2, "between 0 and 1"),
        (["--alpha", "0"], 2, "alpha"),
        (["-m", "ESL(n=11)"], 3, "infinite"),
    ],
)
def test_what_cannot_be_is_one_sentence(command, files, arguments, code, told):
    found = command("judges", files / "people.qrels", files / "one.qrels", "--runs", files / "runs", *arguments)
    assert found[:2] == (code, "")
    assert found[2].count("\n") == 1
    assert told in found[2]


def test_labels_that_share_nothing_are_told(command, files):
    (files / "elsewhere.qrels").write_text("x 0 a 1\ny 0 b 0\n")
    (files / "other_docs.qrels").write_text("".join(f"{topic} 0 x 3\n" for topic in range(9)))
    (files / "scores.qrels").write_text("".join(f"{t} 0 d{d} {t}.{d}1\n" for t in range(9) for d in range(12)))
    for name, told in (
        ("elsewhere", "share 0 topics"),
        ("other_docs", "share no pair"),
        ("scores", "different scales"),
    ):
        code, out, err = command("judges", files / "people.qrels", files / f"{name}.qrels")
        assert (code, out, err.count("\n")) == (3, "", 1)
        assert told in err
        assert f"{name}.qrels" in err
    code, _, err = command("judges", files / "people.qrels", files / "scores.qrels", "--labels-rel", "2")
    assert (code, "different grades" in err) == (3, True)


def test_figures(command, files):
    pytest.importorskip("matplotlib", reason="figures are drawn by matplotlib: pip install 'rankbounds[report]'")
    arguments = ("judges", files / "people.qrels", files / "one.qrels", "--runs", files / "runs", "-m", "AP")
    assert command(*arguments, "--figure", files / "figure.svg")[0] == 0
    assert (files / "figure.svg").read_bytes()[:5] == b"<?xml"
    found = rb.judging.compare_judges(*made(0)[:2], made(0)[2], ["AP", "RR"])
    axes = rb.plots.labels_overview(found, "RR").get_figure().axes[1]
    rows = [row for row in found.systems if row["measure"] == "RR"]
    assert [label.get_text() for label in axes.get_xticklabels()] == [row["run"] for row in rows[:5]]
    assert axes.lines[0].get_ydata().tolist() == [row["bias"] for row in rows if row["labels"] == "one"]
    with pytest.raises(rb.UsageError, match="not compared by"):
        rb.plots.labels_overview(found, "P@3")
    alone = rb.plots.labels_overview(rb.judging.compare_judges(*made(0)[:2]))
    assert len(alone.get_figure().axes) == 1
    assert command(*arguments, "--figure", files / "people.qrels")[0] == 2


def test_notebooks_show_it_and_frames_hold_it():
    people, models, runs = made(0)
    found = rb.judging.compare_judges(people, models, runs, "AP")
    shown = found._repr_html_()
    assert shown.count("<table ") == len(found.parts())
    assert found.to_polars().height == found.to_pandas().shape[0] == len(found.systems) == 10
    assert found.details("one")._repr_html_().count("<table ") == len(found.details("one").parts()) > 1
    with pytest.raises(rb.UsageError, match="no labels"):
        found.words("three")


def test_the_judges_of_a_track(unpacked):
    """TREC Deep Learning 2021: four models, 63 runs."""
    folder = unpacked("dl21-half.tar.xz") / "dl21-half"
    names = ("binary-gpt4", "binary-gpt4o", "binary-llama3.2", "umbrela-gpt4")
    labels = [folder / f"{name}.qrels" for name in names]
    with machine.within(1200):
        found = rb.judging.compare_judges(
            folder / "human.qrels", labels, folder / "runs", ["RBP(p=0.8,rel=2)", "nDCG@10"]
        )
    assert found.labels == list(names)
    assert [(row["pairs"], row["missing"]) for row in found.agreement] == [(5590, 6), (5593, 3), (5596, 0), (5596, 0)]
    kappas = {row["labels"]: row["kappa"] for row in found.agreement}
    assert min(kappas, key=kappas.get) == "binary-llama3.2"
    expected = rb.evaluate(folder / "umbrela-gpt4.qrels", folder / "runs", "RBP(p=0.8,rel=2)", bounds="none")
    means = dict(zip(expected.runs, expected.mean().value[:, 0, 0].tolist(), strict=True))
    for row in found.systems:
        if (row["labels"], row["measure"]) == ("umbrela-gpt4", "RBP(p=0.8,rel=2)"):
            assert row["by_labels"] == pytest.approx(means[row["run"]])
    assert all(row["mean_bias_low"] > 0 for row in found.orderings)
    metrics = pytest.importorskip("sklearn.metrics", reason="kappa is held against scikit-learn")
    human, model = (rb.read_qrels(folder / f"{name}.qrels").to_dict() for name in ("human", "umbrela-gpt4"))
    trusted, other = paired(human, model).T.astype(int)
    row = found.agreement[3]
    assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(trusted >= 2, other >= 2))
    assert row["kappa_linear"] == pytest.approx(metrics.cohen_kappa_score(trusted, other, weights="linear"))
    assert row["kappa_quadratic"] == pytest.approx(metrics.cohen_kappa_score(trusted, other, weights="quadratic"))


def test_names_are_checked_before_files_are_read(command):
    code, _, told = command("judges", "people", "one", "two", "--details", "three")
    assert code == 2
    assert "Choose from: one, two." in told


def test_paragraphs_are_printed_on_request(command, files):
    asked = ("judges", files / "people.qrels", files / "one.qrels", files / "two.qrels", "--runs", files / "runs")
    short, full = (command(*asked, *more)[1] for more in ((), ("--explain",)))
    assert short.splitlines()[0] == full.splitlines()[0]
    assert "agrees best with" not in short
    assert "agrees best with" in full
    assert len(full) > len(short)
