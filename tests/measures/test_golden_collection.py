"""trec_eval's numbers on a collection of hard cases that we made ourselves: ``golden/README.md`` says what and how."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rankbounds as rb
from golden import make
from rankbounds.errors import DataError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")

HERE = Path(__file__).parents[1] / "golden"

NOT_OURS = {"runid", "relstring", "rbp_resid"}
"""What trec_eval prints and we have no measure of that name for. The command trec_eval prints it."""
REPEATED = {"Rprec_mult_1.00"}
"""What is another of its measures once more: a measure is scored once."""

INTERPOLATED = ("11pt_avg", *(f"iprec_at_recall_{tenths / 10:.2f}" for tenths in range(11)))

SKIPPED = {
    # rbp: it reads bounds of grades that were never set, which matters as soon as there are grades above 1.
    "graded": {"rbp": "any"},
    "graded-shared": {"rbp": "any"},
    "graded-first-10": {"rbp": "any"},
    "binary": {},
    "graded-level-2": {
        "rbp": "any",
        # Over all topics -c counts grades above 0, whatever -l says.
        "num_rel": ("all",),
        # The value is 13/32, half way between 0.4062 and 0.4063: either is right.
        "set_F": ("9",),
    },
    "graded-judged-only": {
        "rbp": "any",
        # Here these describe the list as it was retrieved, there what is left of it.
        **dict.fromkeys(("num_ret", "unj_5", "unj_10", "unj_20"), "any"),
    },
}
"""What is not held against trec_eval: table, measure and topics. See also ``test_nothing_divided_by_nothing``."""


@cache
def printed(table):
    """``{(run, measure, topic): what trec_eval printed}``, run by run in its order."""
    _, header, *rows = (HERE / "trec_eval" / f"{table}.tsv").read_text("utf-8").splitlines()
    topics = header.split("\t")[2:]
    split = (row.split("\t") for row in rows)
    return {
        (run, measure, topic): value
        for run, measure, *values in split
        for topic, value in zip(topics, values, strict=True)
        if value
    }


def expected_of(table, run):
    """What trec_eval printed for one run, without what is skipped and what we do not have."""
    skipped = SKIPPED.get(table, {})
    return {
        (measure, topic): value
        for (one, measure, topic), value in printed(table).items()
        if one == run and measure not in NOT_OURS | REPEATED and skipped.get(measure) != "any"
        if topic not in skipped.get(measure, ()) and not value.endswith("nan")
    }


def measures_of(expected, level=None):
    """Our measures by trec_eval's names, at another level of relevance where asked for."""
    found = {name: rb.parse_measure(name) for name, _ in expected}
    if level is None:
        return found
    return {
        name: replace(one, rel=level) if "rel" in {field.name for field in fields(one)} else one
        for name, one in found.items()
    }


def ours(scores, names):
    """All cells of a single run, by name and topic."""
    return {
        (name, topic): part.value[0, at, number]
        for part in (scores, scores.mean())
        for at, topic in enumerate(part.query_ids)
        for number, name in enumerate(names)
    }


def assert_prints_alike(scores, names, expected):
    cells = ours(scores, names)
    different = {
        key: (value, cells[key])
        for key, value in expected.items()
        if f"{cells[key]:.{len(value.partition('.')[2])}f}" != value
    }
    assert not different
    assert len(expected) > len(names)


def as_dicts(path):
    """A file of judgments or a run as ``{topic: {document: value}}``, read by other means than ours."""
    value = (lambda parts: int(parts[3])) if path.suffix == ".qrels" else (lambda parts: float(parts[4]))
    found = {}
    for line in path.read_text("utf-8").splitlines():
        parts = line.split(" ")
        found.setdefault(parts[0], {})[parts[2]] = value(parts)
    return found


def in_memory(qrels, run, measures, **options):
    options = {"bounds": "none", **options}
    return rb.evaluate(HERE / qrels, HERE / run, measures, **options)


def from_dicts(qrels, run, measures, **options):
    options = {"bounds": "none", **options}
    return rb.evaluate(as_dicts(HERE / qrels), as_dicts(HERE / run), measures, **options)


def as_a_stream(qrels, run, measures, **options):
    options = {"bounds": "none", **options}
    return rb.evaluate(HERE / qrels, HERE / run, measures, engine="stream", memory=1 << 24, **options)


@pytest.fixture(params=[in_memory, from_dicts, as_a_stream], ids=["files", "dicts", "stream"])
def evaluate(request):
    """Each way to have runs scored."""
    return request.param


def runs_of(*tables):
    return pytest.mark.parametrize(
        ("table", "run"), [(table, run) for table in tables for run in make.TABLES[table][2]]
    )


def test_the_collection_can_be_made_again():
    made = make.collection()
    kept = {str(path.relative_to(HERE).as_posix()) for path in HERE.rglob("*") if path.suffix in (".qrels", ".run")}
    assert kept == made.keys()
    assert [name for name, content in made.items() if (HERE / name).read_bytes() != content] == []


def test_the_tables_are_those_of_the_commands():
    assert {path.stem for path in (HERE / "trec_eval").iterdir()} == make.TABLES.keys()
    for table, (options, _, runs) in make.TABLES.items():
        assert (HERE / "trec_eval" / f"{table}.tsv").read_text("utf-8").startswith(f"# trec_eval {options} ")
        assert tuple(dict.fromkeys(run for run, _, _ in printed(table))) == runs


def test_the_cases_are_hard():
    """Ties lie across every depth, single precision makes ties, and ids as text are not in the order of numbers."""
    depths = (5, 10, 15, 20, 30, 100)
    scores = rb.evaluate(HERE / "graded.qrels", HERE / "tied.run", [f"P_{depth}" for depth in depths], bounds="ties")
    assert (scores.low < scores.high).any(axis=(0, 1)).all()
    double, single = (
        rb.evaluate(HERE / "graded.qrels", HERE / "close.run", "map", score_precision=precision)
        for precision in ("double", "single")
    )
    assert (double.value != single.value).sum() >= 6
    assert {len(set(docs.values())) for docs in as_dicts(HERE / "flat.run").values()} == {1}
    grades = {grade for docs in as_dicts(HERE / "negatives.qrels").values() for grade in docs.values()}
    assert grades == {-7, -3, -2, -1, 0, 1, 2, 3}


def test_what_we_do_not_have_is_listed():
    unknown = set()
    for name in {measure for _, measure, _ in printed("graded")}:
        try:
            rb.parse_measure(name)
        except UsageError:
            unknown.add(name)
    assert unknown == NOT_OURS


@runs_of("graded", "binary")
def test_every_value_is_that_of_trec_eval(table, run, evaluate):
    expected = expected_of(table, run)
    measures = measures_of(expected)
    assert_prints_alike(evaluate(f"{table}.qrels", f"{run}.run", measures.values()), measures, expected)


@runs_of("graded", "binary")
def test_the_command_prints_what_trec_eval_prints(table, run, command):
    expected = expected_of(table, run)
    chosen = [part for name in measures_of(expected) for part in ("-m", name)]
    code, out, _ = command(
        "evaluate", HERE / f"{table}.qrels", HERE / f"{run}.run", *chosen, "-q", "--bounds", "none", "--format", "trec"
    )
    assert code == 0
    lines = [line.split("\t") for line in out.splitlines()]
    assert {(name.strip(), topic): value for name, topic, value in lines} == expected


@runs_of("graded-level-2")
def test_at_another_level_of_relevance(table, run, evaluate):
    expected = expected_of(table, run)
    measures = measures_of(expected, level=2.0)
    assert_prints_alike(evaluate("graded.qrels", f"{run}.run", measures.values()), measures, expected)


def test_half_way_between_two_printed_numbers():
    value = rb.evaluate(HERE / "graded.qrels", HERE / "flat.run", "F(rel=2)").value[0, 0, 0]
    assert value == 13 / 32
    assert printed("graded-level-2")["flat", "set_F", "9"] == "0.4063"


@runs_of("graded-shared")
def test_over_shared_topics(table, run, evaluate):
    expected = expected_of(table, run)
    measures = measures_of(expected)
    scores = evaluate("graded.qrels", f"{run}.run", measures.values(), topics="shared")
    cells = ours(scores, measures)
    different = {key for key, value in expected.items() if f"{cells[key]:.{len(value.partition('.')[2])}f}" != value}
    assert not different
    assert {topic for _, topic in expected} == {"all"}


@runs_of("graded-judged-only")
def test_without_unjudged_documents(table, run, evaluate):
    expected = expected_of(table, run)
    measures = measures_of(expected)
    scores = evaluate("graded.qrels", f"{run}.run", measures.values(), unjudged="condensed")
    assert_prints_alike(scores, measures, expected)


def test_nothing_divided_by_nothing():
    """Interpolated precision of a list without a document is 0, where trec_eval prints what 0/0 gives."""
    nothing = {
        (table, measure, topic)
        for table in make.TABLES
        for (_, measure, topic), value in printed(table).items()
        if value.endswith("nan")
    }
    assert {table for table, _, _ in nothing} == {"graded-judged-only"}
    assert {measure for _, measure, _ in nothing} == set(INTERPOLATED)
    assert {topic for _, _, topic in nothing} == {"none-judged", "none-pooled", "no-run", "all"}
    for run in make.TABLES["graded-judged-only"][2]:
        scores = in_memory("graded.qrels", f"{run}.run", INTERPOLATED, unjudged="condensed")
        cells = ours(scores, INTERPOLATED)
        assert {cells[name, topic] for _, name, topic in nothing if topic != "all"} == {0.0}


@runs_of("graded-first-10")
def test_the_first_ten_of_each_list(table, run):
    """Ties across the tenth rank decide which documents are left."""
    expected = expected_of(table, run)
    measures = measures_of(expected)
    first = {
        topic: dict(sorted(docs.items(), key=lambda item: (item[1], item[0].encode()), reverse=True)[:10])
        for topic, docs in as_dicts(HERE / f"{run}.run").items()
    }
    assert_prints_alike(rb.evaluate(HERE / "graded.qrels", first, measures.values(), bounds="none"), measures, expected)


@pytest.mark.parametrize("run", make.LISTS)
def test_the_residual_is_that_of_trec_eval(run, evaluate):
    """Where everything retrieved is judged, or nothing is retrieved, trec_eval forgets what lies beyond the list."""
    scores = evaluate("binary.qrels", f"{run}.run", "RBP(p=0.9)", bounds="unjudged")
    judgments, lists = as_dicts(HERE / "binary.qrels"), as_dicts(HERE / f"{run}.run")
    for topic, low, high in zip(scores.query_ids, scores.low[0, :, 0], scores.high[0, :, 0], strict=True):
        retrieved = lists.get(topic, {})
        if any(judgments[topic].get(doc, -1) < 0 for doc in retrieved):
            assert f"{high - low:.4f}" == printed("binary")[run, "rbp_resid", topic], topic
        else:
            assert printed("binary")[run, "rbp_resid", topic] == "0.0000", topic
            assert high - low == pytest.approx(0.9 ** len(retrieved)), topic


@runs_of("negatives")
def test_grades_below_minus_one_are_judged(table, run, evaluate):
    """To trec_eval they are unjudged, which tells where unjudged documents are told from non-relevant ones."""
    here = {
        key[1:]: value
        for key, value in printed("negatives").items()
        if key[0] == run and key[1] not in NOT_OURS | REPEATED
    }
    with_zeros = expected_of("graded", run)
    measures = measures_of(key for key in here if key in with_zeros)
    scores = evaluate("negatives.qrels", f"{run}.run", measures.values())
    assert_prints_alike(scores, measures, {key: with_zeros[key] for key in here if key in with_zeros})
    assert {name for (name, topic), value in here.items() if value != with_zeros[name, topic]} == {
        *("bpref", "infAP", "unj_5", "unj_10", "unj_20")
    }


ODD_BUT_FINE = ("crlf", "tabs", "blanks", "bom", "blank-lines", "comments", "no-end")
WRONG = {
    "repeated-document.run": 'document "d-002" of topic "020" is listed twice',
    "score-missing.run": "expected 6 fields",
    "score-a-word.run": 'the score "high" is not a finite number',
    "score-nan.run": 'the score "nan" is not a finite number',
    "score-infinite.run": 'the score "-inf" is not a finite number',
    "score-with-comma.run": 'the score "1,5" is not a finite number',
    "seven-fields.run": "expected 6 fields",
    "repeated-judgment.qrels": 'document "É4" of topic "20" is listed twice',
    "grade-missing.qrels": "expected 4 fields",
    "grade-a-word.qrels": 'the grade "good" is not a finite number',
    "five-fields.qrels": "expected 4 fields",
}
"""Files in which line 12 is wrong, and what is said of it."""


def test_every_odd_file_has_an_expectation():
    fine = {f"{name}.{kind}" for name in ODD_BUT_FINE for kind in ("qrels", "run")}
    assert {path.name for path in (HERE / "odd").iterdir()} == fine | WRONG.keys()


@pytest.mark.parametrize("way", [in_memory, as_a_stream], ids=["files", "stream"])
@pytest.mark.parametrize("odd", ODD_BUT_FINE)
def test_an_odd_file_gives_the_numbers_of_the_plain_one(odd, way):
    """Topics 20 and 020 of the graded judgments and of the run with ties."""
    expected = {key: value for key, value in expected_of("graded", "tied").items() if key[1] in ("20", "020")}
    measures = measures_of(expected)
    scores = way(f"odd/{odd}.qrels", f"odd/{odd}.run", measures.values())
    assert sorted(scores.query_ids) == ["020", "20"]
    assert scores.runs == ["tied"]
    assert_prints_alike(scores, measures, expected)


@pytest.mark.parametrize("way", [in_memory, as_a_stream], ids=["files", "stream"])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_named(name, way):
    qrels, run = (f"odd/{name}" if name.endswith(kind) else f"odd/no-end.{kind}" for kind in ("qrels", "run"))
    with pytest.raises(DataError) as caught:
        way(qrels, run, "map")
    assert f"{name}:12: {WRONG[name]}" in str(caught.value)


def test_all_ways_give_the_same_bounds():
    """And the same values beyond the printed digits; in the last bit the order of a sum may show."""
    measures = list(measures_of(expected_of("binary", "tied")).values())
    files, *others = (
        way("graded.qrels", "tied.run", measures, bounds="unjudged") for way in (in_memory, from_dicts, as_a_stream)
    )
    for other in others:
        order = [other.query_ids.index(topic) for topic in files.query_ids]
        for part in ("value", "low", "high"):
            np.testing.assert_allclose(
                getattr(files, part), getattr(other, part)[:, order], rtol=1e-13, atol=1e-15, err_msg=part
            )
