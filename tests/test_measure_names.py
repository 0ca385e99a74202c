"""What stands for a measure: names in any case, aliases, classes, ``@`` and commas, other packages' measures."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import rankbounds as rb
from rankbounds import measures
from rankbounds.errors import UsageError
from rankbounds.measures import REGISTRY, parse_measure, parse_measures
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.facts import Facts
from rankbounds.measures.measure import Measure, RankWeighted

MODULES = [
    importlib.import_module(f"rankbounds.measures.{module.name}") for module in pkgutil.iter_modules(measures.__path__)
]
KINDS = [*REGISTRY.values(), Condensed]


@pytest.fixture
def registered():
    """What is registered in a test is forgotten after it."""
    before = dict(REGISTRY)
    yield REGISTRY
    REGISTRY.clear()
    REGISTRY.update(before)


def define(
    name: str, aliases: tuple[str, ...] = (), trec_names: tuple[str, ...] = (), qualname: str = "Mine"
) -> type[Measure]:
    """A user's measure."""
    namespace = {
        "name": name,
        "aliases": aliases,
        "trec_names": trec_names,
        "examples": (name,),
        "__qualname__": qualname,
    }
    return dataclass(frozen=True)(type(Measure)("Mine", (RankWeighted,), {**namespace, "__module__": "notebook"}))


@pytest.mark.parametrize("name", ["AP", "ap", "MAP", "ndcg", "P_{cutoff}", "Mrr"])
def test_a_name_that_another_measure_has_is_refused(registered, name):
    before = dict(registered)
    with pytest.raises(UsageError, match=r"belongs to the measure (AP|nDCG|P|RR) .*another name"):
        define(name)
    for options in ({"aliases": (name,)}, {"trec_names": (name,)}):
        with pytest.raises(UsageError, match="belongs to the measure"):
            define("Mine", **options)
    assert registered == before
    assert parse_measure("AP") == rb.AP()


def test_a_cell_that_defines_a_measure_can_run_again(registered):
    first, second = define("Mine"), define("Mine")
    assert first is not second
    assert type(parse_measure("mine")) is second
    with pytest.raises(UsageError, match="belongs to the measure Mine"):
        define("Mine", qualname="Other")


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ("MAP", "AP"),
        ("map@100", "AP@100"),
        ("MRR@10", "RR@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("Precision@5", "P@5"),
        ("R@20", "Recall@20"),
        ("recall@20", "Recall@20"),
        ("rprec", "RPrec"),
        ("ndcg_cut_5", "nDCG@5"),
        ("MAP'", "AP'"),
        (rb.AP, "AP"),
        (rb.RBP, "RBP(p=0.8)"),
        (rb.nDCG @ 10, "nDCG@10"),
        (rb.RBP(p=0.5) @ 3, "RBP(p=0.5)@3"),
        (Condensed(rb.AP()) @ 7, "AP'@7"),
    ],
)
def test_what_stands_for_a_measure(given, label):
    assert str(parse_measure(given)) == label
    assert [str(measure) for measure in parse_measures(given)] == [label]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NDGC", "nDCG"),
        ("RPB", "RBP"),
        ("nDCGG", "nDCG"),
        ("P10", "P@10"),
        ("ndcg_10", "nDCG@10"),
        ("Recal", "Recall"),
        ("Sucess", "Success"),
        ("Foo", None),
        ("Accuracy", None),
        ("AUC", None),
        ("XYZ", None),
        ("Bpref10", "Bpref"),
    ],
)
def test_a_suggestion_is_right_or_absent(name, meant):
    with pytest.raises(UsageError, match=f'There is no measure "{name}"') as error:
        parse_measure(name)
    assert ("Did you mean" in str(error.value)) == (meant is not None)
    if meant:
        assert f'"{meant}"?' in str(error.value)
        parse_measure(meant if "@" in meant else f"{meant}@10" if REGISTRY[meant].needs_cutoff else meant)


def test_commas_stand_between_measures():
    assert [str(one) for one in parse_measures("nDCG@10, RBP(p=0.5,rel=2),AP,ap")] == [
        "nDCG@10",
        "RBP(p=0.5,rel=2)",
        "AP",
    ]
    assert [str(one) for one in parse_measures(["AP,P@5", rb.RR])] == ["AP", "P@5", "RR"]
    for empty in ("", ","):
        with pytest.raises(UsageError, match="is not a measure"):
            parse_measures(empty)
    with pytest.raises(UsageError, match="No measure"):
        parse_measures([])


def test_depths_that_make_no_sense():
    with pytest.raises(UsageError, match="RPrec takes no depth"):
        rb.RPrec @ 10
    with pytest.raises(UsageError, match="RPrec takes no depth"):
        rb.RPrec() @ 10
    with pytest.raises(UsageError, match="P needs a depth"):
        rb.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, rb.P)
    with pytest.raises(UsageError, match="from 1 on"):
        rb.P @ 0


def test_measures_of_ir_measures_are_measures():
    theirs = pytest.importorskip("ir_measures")
    given = [theirs.nDCG @ 10, theirs.AP, theirs.P(rel=2) @ 5, theirs.R @ 20, theirs.Rprec]
    assert [str(measure) for measure in parse_measures(given)] == ["nDCG@10", "AP", "P(rel=2)@5", "Recall@20", "RPrec"]
    assert parse_measures(theirs.nDCG @ 10) == [rb.nDCG @ 10]


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=lambda kind: kind.name)
def test_every_name_leads_to_its_measure(kind):
    for name in (kind.name, *kind.aliases):
        label = f"{name}@3" if kind.needs_cutoff else name
        for written in (label, label.swapcase() if kind.name != "RBP" else label):
            assert type(parse_measure(written)) is kind


def test_every_fact_says_what_it_promises():
    source = inspect.getsource(Facts)
    for fact in Facts.__annotations__:
        declared = source.index(f"    {fact}: ClassVar")
        assert source[declared:].splitlines()[1].strip().startswith('"""'), fact


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_measure_explains_its_parameters_and_has_an_example(kind):
    text = inspect.getdoc(kind)
    for parameter in kind.__match_args__:
        assert f"\n{parameter} : " in text
    assert "\nExamples\n--------\n>>> " in text
    meaning = text.partition("\n\n")[0]
    assert meaning.endswith((".", ")"))


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_one_hypergeometric():
    from scipy.stats import hypergeom

    from rankbounds.measures.tied_draws import TiedGroup, chance_of_place
    from rankbounds.rankings.ties import chance_drawn

    size, marked, drawn, count = np.meshgrid(range(1, 8), range(8), range(10), range(9), indexing="ij")
    chosen = marked <= size
    size, marked, drawn, count = (array[chosen] for array in (size, marked, drawn, count))
    possible = drawn <= size
    expected = np.where(possible, hypergeom.pmf(count, size, marked, np.minimum(drawn, size)), 0.0)
    np.testing.assert_allclose(chance_drawn(size, marked, drawn, count), expected, atol=1e-12)
    one = np.ones(1, dtype=np.int64)
    group = TiedGroup(first=0 * one, size=4 * one, relevant=2 * one, above=0 * one, wanted=one, reached=one > 0)
    np.testing.assert_allclose(chance_of_place(group, 5)[0], [1 / 2, 1 / 3, 1 / 6, 0, 0], atol=1e-12)


def test_parameters_that_every_measure_has_are_known_of_condensed_ones():
    condensed = parse_measure("nDCG'@10")
    assert (condensed.cutoff, condensed.graded) == (10, True)
    assert str(parse_measure("AP'@10").at_level(2)) == "AP'(rel=2)@10"
    assert parse_measure("NumRet").at_level(2) == rb.NumRet()


def test_a_class_without_a_name_is_no_measure(registered):
    before = dict(registered)

    @dataclass(frozen=True)
    class Halves(RankWeighted):
        rel: float = 1.0
        monotone: ClassVar[bool] = True

    assert registered == before
