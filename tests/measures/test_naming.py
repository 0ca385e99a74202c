"""What stands for a measure: names in any case, aliases, classes, ``@`` and commas, other packages' measures."""

from __future__ import annotations

import copy
import doctest
import importlib
import inspect
import pickle
import pkgutil
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from importlib.util import find_spec
from typing import ClassVar

import numpy as np
import pytest

import rankbounds as rb
from rankbounds import measures
from rankbounds.errors import UsageError
from rankbounds.measures import REGISTRY, parse_measure, parse_measures
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.facts import Facts
from rankbounds.measures.formulas import RankWeighted
from rankbounds.measures.measure import Measure, explanation
from rankbounds.measures.naming import elsewhere as names_elsewhere
from rankbounds.measures.naming import registry as names
from rankbounds.measures.naming.elsewhere import FAMILIES, NAMES, NICKNAMES
from rankbounds.measures.naming.registry import folded

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


EVERYBODYS = {
    # trec_eval
    "map": "AP",
    "gm_map": "GMAP",
    "GM_MAP": "GMAP",
    "gm_bpref": "GMBpref",
    "num_q": "NumQ",
    "num_nonrel_judged_ret": "NumNonRelRet",
    "P_10": "P@10",
    "p_10": "P@10",
    "P.5,10": "P@5 P@10",
    "ndcg_cut.10": "nDCG@10",
    "ndcg_cut.10,20": "nDCG@10 nDCG@20",
    "NDCG_CUT_10": "nDCG@10",
    "map_cut.100": "AP@100",
    "success": "Success@1 Success@5 Success@10",
    "unj": "Unjudged@5 Unjudged@10 Unjudged@20",
    "recall": "Recall",
    "recall.5,10": "Recall@5 Recall@10",
    "iprec_at_recall_0.10": "IPrec(recall=0.1)",
    "iprec_at_recall..10,.20": "IPrec(recall=0.1) IPrec(recall=0.2)",
    "Rprec_mult_0.20": "RPrec(times=0.2)",
    "relative_P_10": "RelP@10",
    "utility": "Utility",
    "utility.3,-2,0,0": "Utility(hit=3,noise=-2)",
    "set_P": "SetP",
    "set_relative_P": "RelP",
    "set_recall": "Recall",
    "set_map": "SetAP",
    "set_F": "F",
    "set_F.4": "F(beta=2)",
    "rbp": "RBP(p=0.9,graded=true,by_topic=true)",
    "rbp.p=0.8": "RBP(p=0.8,graded=true,by_topic=true)",
    "Rndcg": "RnDCG",
    "ndcg_rel": "nDCG_rel",
    "binG": "BinG",
    "yaap": "YAAP",
    "set": "NumQ NumRet NumRel NumRelRet Utility SetP RelP Recall SetAP F",
    # ir_measures
    "MAP": "AP",
    "MRR@10": "RR@10",
    "R@1000": "Recall@1000",
    "NumQ": "NumQ",
    "SetP": "SetP",
    "SetR": "Recall",
    "SetF(beta=4)": "F(beta=2)",
    "SetRelP": "RelP",
    "SetP(relative=True)": "RelP",
    "SetP(relative=False,rel=2)": "SetP(rel=2)",
    "NumRet(rel=2)": "NumRelRet(rel=2)",
    "IPrec@0.1": "IPrec(recall=0.1)",
    "nDCG(dcg='exp-log2')@10": "nDCG(gain=exp)@10",
    'nDCG(dcg="log2")@10': "nDCG@10",
    "nDCG(judged_only=True)": "nDCG'",
    "nDCG(judged_only=True)@10": "nDCG'@10",
    "nDCG(judged_only=False)@10": "nDCG@10",
    "RR(rel=2, judged_only=True)@10": "RR'(rel=2)@10",
    "P(rel=2, cutoff=5)": "P(rel=2)@5",
    "AP(rel=2)": "AP(rel=2)",
    "NumRelRet(rel=1)": "NumRelRet",
    "BPref": "Bpref",
    # papers
    "AveP'": "AP'",
    "P@R": "RPrec",
    "RBP0.95": "RBP(p=0.95)",
    "RR2": "RRn(n=2)",
    "DCG-2@10": "DCG(base=2)@10",
    "BPref-10": "Bpref(k=10)",
    "bpref_allnonrel": "Bpref_N",
    "old_bpref": "Bpref_old",
    # ranx
    "hit_rate@10": "Success@10",
    "hits@10": "Hits@10",
    "precision@10": "P@10",
    "precision": "SetP",
    "f1": "F",
    "f1@10": "F@10",
    "mrr": "RR",
    "map@100": "AP@100",
    "map@100-l2": "AP(rel=2)@100",
    "ndcg@10-l1": "nDCG@10",
    "r-precision": "RPrec",
    "ndcg_burges@10": "nDCG(gain=exp)@10",
    "rbp.95": "RBP(p=0.95)",
    # BEIR and MTEB
    "ndcg_at_10": "nDCG@10",
    "mrr_at_10": "RR@10",
    "recall_at_100": "Recall@100",
    "map_at_1000": "AP@1000",
    "precision_at_1": "P@1",
    "NDCG@10": "nDCG@10",
    "R_cap@10": "RelP@10",
    # OpenSearch and Elasticsearch
    "dcg": "DCG",
    "expected_reciprocal_rank@10": "ERR@10",
    "mean_reciprocal_rank": "RR",
    "coverage@10": "Judged@10",
    # what people write
    "Hit@10": "Success@10",
    "HitRate@5": "Success@5",
    "F1@10": "F@10",
    "F2@10": "F(beta=2)@10",
    "F0.5": "F(beta=0.5)",
    "nDCG@10,AP": "nDCG@10 AP",
    "nDCG@10,20": "nDCG@10 nDCG@20",
    "recall_at_5,AP": "Recall@5 AP",
}


@pytest.mark.parametrize(("name", "labels"), EVERYBODYS.items(), ids=EVERYBODYS)
def test_everybodys_names(name, labels):
    measures = parse_measures(name)
    assert " ".join(map(str, measures)) == labels
    assert parse_measures(" ".join(map(str, measures)).replace(" ", ",")) == measures


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("nickname", ["official", "all_trec", "Official"])
def test_a_nickname_stands_for_the_measures_that_trec_eval_prints(nickname):
    labels = list(map(str, parse_measures(nickname)))
    assert {"NumQ", "GMAP", "Bpref", "P@1000", "IPrec(recall=0.1)"} <= set(labels)
    with pytest.raises(UsageError, match="stands for"):
        parse_measure(nickname)


def test_what_a_nickname_leaves_out_is_said():
    with pytest.warns(rb.RankboundsWarning, match="left out are relstring, rbp_resid"):
        parse_measures("all_trec")


def test_every_name_that_installed_packages_have_is_known():
    """Either it stands for a measure, or the list says why there is none."""
    known = {folded(name) for name in names_elsewhere.ABSENT}
    registries: list[set[str]] = []
    if find_spec("ir_measures"):
        registries.append(set(importlib.import_module("ir_measures").measures.registry) - {"rankbounds"})
    if find_spec("pytrec_eval"):
        pytrec_eval = importlib.import_module("pytrec_eval")
        nicknames = pytrec_eval.supported_nicknames
        registries.append(set(pytrec_eval.supported_measures).union(*nicknames.values()))
    if not registries:
        pytest.skip("neither ir_measures nor pytrec_eval is installed")
    for name in set().union(*registries):
        label = names.label_elsewhere(name) or name
        family = any(name == family for family in names_elsewhere.FAMILIES)
        assert folded(name) in known or family or is_measure(label), name


def is_measure(label: str) -> bool:
    name = label.partition("(")[0]
    if names.is_name(name):
        return True
    try:
        return bool(parse_measure(label))
    except UsageError:
        return False


def test_what_a_name_stands_for_elsewhere_can_be_asked_for():
    for ours, tool, label, why in names_elsewhere.DIFFERENT:
        assert names.is_name(ours), ours
        assert tool
        assert why
        if label and "X" not in label:
            depth = "@10" if names.is_name(label) and names.class_named(label).needs_cutoff else ""
            assert parse_measures(label + depth)


def test_a_measure_can_be_given_its_depth_later():
    assert rb.P(rel=2) @ 10 == parse_measure("P(rel=2)@10")
    with pytest.raises(UsageError, match="P needs a depth, as in P@10"):
        rb.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, rb.P(rel=2))
    with pytest.raises(UsageError, match="P needs a depth"):
        parse_measures(Condensed(rb.P(rel=2)))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("runid", "it is the run's name"),
        ("Hole@10", "Unjudged@10"),
        ("Accuracy@5", "Success@k"),
        ("Compat", "Compatibility(p=0.95) adds up to depth 1000"),
        ("Compat(p=0.8,normalize=False)", "Compatibility(p=0.95) adds up to depth 1000"),
        ("rbp.95-l2", "p must be a number"),
        ("ndcg@10-l2", "nDCG@10 takes grades as gains and has no level"),
        ("dcg_burges-l3", "Grades below 3 count as 0 in ranx"),
        ("ndcg.1=3,2=9", '--gain "1=3,2=9"'),
        ("nDCG(gains={0:0,1:5})@10", "--gain"),
        ("utility.1,2", "4 numbers"),
        ("map.5", "takes no parameters after a point"),
        ("P(cutoff=3)@4", "given twice"),
        ("P.0", "from 1 on"),
        ("P.x", "is not a measure"),
        ("nDCG(dcg='log3')@10", 'no parameter "dcg"'),
        ("nDCG(judged_only=maybe)", "true or false"),
    ],
)
def test_names_that_stand_for_nothing_say_why(name, told):
    with pytest.raises(UsageError) as error:
        parse_measures(name)
    assert told in str(error.value)


def test_a_geometric_mean_is_one():
    qrels = {"q": {"a": 1}, "r": {"b": 1}, "s": {"c": 1}}
    run = {"q": {"a": 2.0}, "r": {"x": 2.0, "b": 1.0}, "s": {"y": 1.0}}
    scores = rb.evaluate(qrels, {"t": run}, ["GMAP", "AP", "NumQ"])
    assert scores.value[0, :, 0] == pytest.approx(np.log([1.0, 0.5, 0.00001]))
    means = scores.mean()
    assert means.value[0, 0].tolist() == pytest.approx([(1.0 * 0.5 * 0.00001) ** (1 / 3), 0.5, 3.0])
    assert means.mean() == means
    both = rb.evaluate(qrels, {"t": run, "u": run}, "GMAP")
    assert both.run_notes[0].tie_range is None
    with pytest.raises(UsageError, match="geometric mean"):
        rb.compare(both)
    assert (means.low[0, 0, 0], means.high[0, 0, 0]) == pytest.approx(((0.5 * 1e-5) ** (1 / 3), 0.5 ** (1 / 3)))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NDGC", "nDCG"),
        ("presicion@10", "Precision"),
        ("hitrat@10", "HitRate"),
        ("MRRR@10", "MRR"),
        ("ndcg_brges@10", "ndcg_burges"),
        ("offical", "official"),
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
    with pytest.raises(UsageError, match=f'There is no measure "{name.partition("@")[0]}"') as error:
        parse_measure(name)
    assert ("Did you mean" in str(error.value)) == (meant is not None)
    if meant:
        assert f'"{meant}"?' in str(error.value)
        assert parse_measures(meant if "@" in meant or meant in ("official", "nDCG", "Bpref") else f"{meant}@10")


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
    for name in (kind.name, kind.__name__, *kind.aliases):
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
    for parameter in fields(kind):
        assert f"\n{parameter.name} : " in text
    assert "\nExamples\n--------\n>>> " in text
    meaning = text.partition("\n\n")[0]
    assert meaning.endswith((".", ")"))


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_one_hypergeometric():
    from scipy.stats import hypergeom

    from rankbounds.rankings.ties import TiedGroup, chance_drawn, chance_of_place

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
    assert parse_measure("NumRet").at_level(2) == rb.measures.NumRet()


def test_a_class_without_a_name_is_no_measure(registered):
    before = dict(registered)

    @dataclass(frozen=True)
    class Halves(RankWeighted):
        rel: float = 1.0
        monotone: ClassVar[bool] = True

    assert registered == before


def test_a_measure_is_a_frozen_dataclass_without_being_declared_one(registered):
    class Plain(RankWeighted):
        """Written as a dataclass is, but for the decorator."""

        half: float
        base: float = field(default=2.0)
        cutoff: int | None = None
        name: ClassVar[str] = "Plain"
        always_shown: ClassVar[tuple[str, ...]] = ("half",)

    @dataclass(frozen=True)
    class Decorated(Plain):
        extra: tuple[float, ...] = ()
        name: ClassVar[str] = "Decorated"

    assert [parameter.name for parameter in fields(Plain)] == ["half", "base", "cutoff"]
    assert str(inspect.signature(Plain)) == "(half: 'float', base: 'float' = 2.0, cutoff: 'int | None' = None) -> None"
    measure = Plain(3, cutoff=10)
    assert repr(measure).endswith("Plain(half=3, base=2.0, cutoff=10)")
    assert str(measure) == str(parse_measure("plain(half=3)@10")) == "Plain(half=3)@10"
    assert measure == Plain(half=3) @ 10 == replace(Plain(3, 2), cutoff=10)
    assert hash(measure) == hash(Plain(3.0, 2, 10))
    assert measure != Plain(half=3)
    assert Decorated(3, cutoff=10) != measure
    assert repr(Decorated(1, extra=(2,))).endswith("Decorated(half=1, base=2.0, cutoff=None, extra=(2,))")
    assert Decorated(1).extra == ()
    for change in (lambda: setattr(measure, "half", 4), lambda: delattr(measure, "half")):
        with pytest.raises(FrozenInstanceError):
            change()


@pytest.mark.parametrize(
    ("create", "problem"),
    [
        (lambda: rb.RBP(0.5, p=0.5), r"RBP\(\) multiple values for argument 'p'"),
        (lambda: rb.RBP(q=0.5), r"RBP takes no q=\."),
        (lambda: rb.measures.NumRet(1, 2, 3, 4, 5), r"NumRet\(\) too many positional arguments"),
        (lambda: Condensed(), r"Condensed\(\) missing a required argument: 'measure'"),
    ],
)
def test_parameters_that_a_measure_lacks(create, problem):
    with pytest.raises(TypeError, match=problem):
        create()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_measures_can_be_copied(kind):
    for example in getattr(kind, "examples", ["AP'"]):
        measure = parse_measure(example)
        assert pickle.loads(pickle.dumps(measure)) == copy.deepcopy(measure) == measure
        assert hash(copy.copy(measure)) == hash(measure)


@pytest.mark.parametrize("behind", ["@10", "(rel=2)", "'"])
@pytest.mark.parametrize(("name", "ours"), [("recip_rank", "RR"), ("ndcg_cut", "nDCG"), ("set_map", "SetAP")])
def test_a_name_of_trec_eval_that_takes_nothing_is_not_called_unknown(name, ours, behind):
    with pytest.raises(rb.UsageError, match=f"takes no parameters.* Write {ours} in its place") as refused:
        rb.parse_measure(name + behind)
    assert "Did you mean" not in str(refused.value)


def test_no_name_is_suggested_for_itself():
    whole = {name for kind in REGISTRY.values() for name in kind.trec_names if "{" not in name}
    for name in sorted(whole.union(FAMILIES, NICKNAMES, *NAMES.values())):
        for behind in ("@10", "(rel=2)", "'"):
            message = ""
            try:
                rb.parse_measure(name + behind)
            except rb.UsageError as refused:
                message = str(refused)
            assert f'Did you mean "{name}"' not in message, name + behind


def test_interpolated_precision_is_said_to_round_the_share():
    """With floor(0.7 * 2 + 0.5) = 1 of two relevant documents, not with at least 1.4 of them, recall 0.7 is reached."""
    assert rb.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "c"]}, "IPrec(recall=0.7)").value.item() == 1.0
    first = explanation(REGISTRY["IPrec"]).partition("\n")[0]
    assert "rounded" in first
    assert "at least" not in first


@pytest.mark.parametrize(("written", "meant"), [("P@10(rel=2)", "P(rel=2)@10"), ("MRR@10'", "RR'@10")])
def test_what_stands_behind_the_depth_is_told_its_place(written, meant):
    with pytest.raises(rb.UsageError) as refused:
        rb.parse_measure(written)
    assert str(refused.value).endswith(f'Did you mean "{meant}"?')
    assert str(rb.parse_measure(meant)) == meant
