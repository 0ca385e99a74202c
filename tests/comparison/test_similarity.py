"""Rankings compared without judgments: rank-biased overlap, documents in common, the most a measure can differ."""

from __future__ import annotations

import csv
import itertools
import json
import math
import random
import re

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.stats.overlap import READINGS, TiedLists, deepest_rank, overlaps

# ---- plain definitions: documents one by one, depths one by one ----


def chances(groups, depth, reading):
    """By document, its chance to stand within the depth (all or nothing by the reading w)."""
    chance, top = {}, 1
    for group in groups:
        for document in group:
            inside = min(1.0, max(0, depth - top + 1) / len(group))
            chance[document] = float(depth >= top) if reading == "w" else inside
        top += len(group)
    return chance


def plain_overlap(one, other, p, reading):
    """Corsi and Urbano's RBO: extrapolated, least, greatest."""
    short, long = sorted((one, other), key=lambda groups: sum(map(len, groups)))
    s, n = sum(map(len, short)), sum(map(len, long))
    seen = {document for group in short for document in group}
    alone = [document for group in long for document in group if document not in seen]
    common = n - len(alone)

    def agreement(depth, unseen):
        in_short, in_long = chances(short, depth, reading), chances(long, depth, reading)
        overlap = sum(in_short[document] * in_long.get(document, 0.0) for document in in_short)
        more = max(0, depth - s)
        active = [in_long[document] for document in alone if in_long[document] > 0]
        if unseen == "most":
            overlap += sum(in_long[document] for document in alone[:more])
        elif unseen is not None:
            chance = 1.0 if reading == "w" else sum(active) / len(active) if active else 0.0
            overlap += more * unseen * chance
        if reading == "a":
            return overlap / depth
        if reading == "w":
            return 2 * overlap / (sum(in_short.values()) + sum(in_long.values()) + more)
        squares = [sum(value**2 for value in inside.values()) for inside in (in_short, in_long)]
        return overlap / math.sqrt((squares[0] + more) * squares[1])

    def total(unseen):
        return (1 - p) * sum(p ** (depth - 1) * agreement(depth, unseen) for depth in range(1, n + 1))

    found = agreement(s, None)
    beyond = -math.log(1 - p) - sum(p**depth / depth for depth in range(1, n + 1))
    fit = s + n - common
    fitting = sum((1 - p) * p ** (depth - 1) * (2 - fit / depth) for depth in range(n + 1, fit + 1))
    return (
        total(found) + agreement(n, found) * p**n,
        total(None) + (1 - p) / p * common * beyond,
        total("most") + fitting + p**fit,
    )


def random_groups(rng, documents, longest):
    """Some of the documents in some order, cut into groups of ties."""
    chosen = rng.sample(documents, rng.randint(1, longest))
    groups = []
    while chosen:
        size = min(len(chosen), rng.choice([1, 1, 1, 2, 3, 5]))
        groups.append(chosen[:size])
        chosen = chosen[size:]
    return groups


def as_scores(groups):
    """A list as people hold it: tied documents share their score."""
    return {document: float(-place) for place, group in enumerate(groups) for document in group}


def lists_of(one, other):
    """Two lists as arrays."""
    numbers: dict[str, int] = {}
    for groups in (one, other):
        rows = [
            (numbers.setdefault(document, len(numbers)), place > 0)
            for group in groups
            for place, document in enumerate(group)
        ]
        document, tied = (np.array(column) for column in zip(*rows, strict=True))
        yield TiedLists.of(np.zeros(document.size, dtype=int), document, tied.astype(bool), 1)


def by_reading(one, other, p):
    """RBO of two lists of groups, as it is computed."""
    a, b = lists_of(one, other)
    depth = deepest_rank(p, int(max(a.length[0], b.length[0])))
    found = overlaps(a.to_depth(depth), b.to_depth(depth), p)
    return {reading: tuple(float(part[0]) for part in parts) for reading, parts in found.items()}


# ---- rank-biased overlap ----


@pytest.mark.parametrize("seed", range(60))
def test_overlap_against_the_plain_definition(seed):
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(14)]
    one, other = random_groups(rng, documents, 14), random_groups(rng, documents, 14)
    p = rng.choice([0.3, 0.8, 0.9, 0.98])
    for a, b in ((one, other), (other, one)):
        found = by_reading(a, b, p)
        for reading in READINGS:
            assert found[reading] == pytest.approx(plain_overlap(one, other, p, reading), abs=1e-12), reading


def test_overlap_of_every_reference(unpacked):
    folder = unpacked("references.tar.xz")
    rows = list(csv.DictReader(next(folder.rglob("rbo.csv")).read_text().splitlines()))
    assert len(rows) == 5000
    for row in rows:
        one, other = (
            [group.strip("()").split() for group in re.findall(r"\([^)]*\)|[^\s()]+", row[side])] for side in "xy"
        )
        for reading, parts in by_reading(one, other, float(row["p"])).items():
            expected = [float(row[f"{reading}.{part}"]) for part in ("ext", "min", "max")]
            assert parts == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_reading_a_is_the_mean_over_all_orders_of_ties(seed):
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(6)]
    one, other = ([group[:3] for group in random_groups(rng, documents, 6)] for _ in range(2))

    def orders(groups):
        for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
            yield [[document] for part in parts for document in part]

    least = [by_reading(a, b, 0.8)["a"][1] for a in orders(one) for b in orders(other)]
    assert by_reading(one, other, 0.8)["a"][1] == pytest.approx(sum(least) / len(least))


@pytest.mark.parametrize("seed", range(30))
def test_nothing_that_follows_the_lists_leaves_the_bounds(seed):
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(30)]
    one, other = ([[document] for document in rng.sample(documents, rng.randint(1, 8))] for _ in range(2))
    p = rng.choice([0.5, 0.8, 0.9])
    _, low, high = by_reading(one, other, p)["a"]

    def continued(groups):
        rest = [[document] for document in documents if [document] not in groups]
        rng.shuffle(rest)
        return groups + rest

    for _ in range(20):
        _, least, most = by_reading(continued(one), continued(other), p)["a"]
        assert low - 1e-12 <= least
        assert most <= high + 1e-12


def test_a_list_agrees_fully_with_itself_unless_ties_are_broken_at_random():
    run = {"1": {"a": 2.0, "b": 1.0, "c": 1.0}}
    alike = rb.similarity({"x": run, "y": run}, p=0.8)
    value = {row["measure"]: row["value"] for row in alike.rows(topics=False)}
    assert value["RBO(p=0.8,ties=b)"] == pytest.approx(1)
    assert value["RBO(p=0.8,ties=w)"] == pytest.approx(1)
    assert value["RBO(p=0.8)"] == pytest.approx(0.2 * (1 + 0.8 * 0.75) + 0.64)


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5])
def test_a_persistence_that_overlap_cannot_have(p):
    with pytest.raises(rb.UsageError, match="between 0 and 1"):
        rb.similarity([{"1": ["a"]}, {"1": ["b"]}], p=p)


# ---- runs ----


@pytest.fixture(scope="module")
def some_runs():
    rng = random.Random(5)
    documents = [f"d{number}" for number in range(25)]
    return {
        name: {str(topic): as_scores(random_groups(rng, documents, 20)) for topic in range(1, 8)} for name in "abcd"
    }


def groups_of(scores):
    """The groups of ties, from the top down."""
    levels = sorted(set(scores.values()), reverse=True)
    return [[document for document in scores if scores[document] == level] for level in levels]


def test_runs_topic_by_topic_and_in_the_mean(some_runs):
    alike = rb.similarity(some_runs, p=0.8, depths=[3, 10])
    rows = {(row["a"], row["b"], row["query_id"], row["measure"]): row for row in alike.rows()}
    assert len(rows) == 6 * 8 * 5
    for a, b in itertools.combinations("abcd", 2):
        for reading, label in zip("abw", ("RBO(p=0.8)", "RBO(p=0.8,ties=b)", "RBO(p=0.8,ties=w)"), strict=True):
            found = []
            for topic, scores in some_runs[a].items():
                expected = plain_overlap(groups_of(scores), groups_of(some_runs[b][topic]), 0.8, reading)
                row = rows[a, b, topic, label]
                assert (row["value"], row["low"], row["high"]) == pytest.approx(expected)
                found.append(expected)
            mean = rows[a, b, "all", label]
            assert (mean["value"], mean["low"], mean["high"]) == pytest.approx(tuple(np.mean(found, axis=0)))


def test_documents_in_common_at_a_depth(some_runs):
    alike = rb.similarity(some_runs, depths=[3, 10])
    for row in alike.rows():
        if not row["measure"].startswith("Overlap") or row["query_id"] == "all":
            continue
        depth = int(row["measure"].split("@")[1])
        tops = []
        for name in (row["a"], row["b"]):
            scores = some_runs[name][row["query_id"]]
            tops.append(sorted(scores, key=lambda document, scores=scores: (scores[document], document), reverse=True))
        deepest = min(depth, max(map(len, tops)))
        assert row["value"] == pytest.approx(len(set(tops[0][:depth]) & set(tops[1][:depth])) / deepest)
        assert row["low"] is None


def test_the_matrix_is_symmetric_and_swapping_runs_changes_nothing(some_runs):
    forth, back = rb.similarity(some_runs), rb.similarity(dict(reversed(some_runs.items())))
    assert forth.matrix() == pytest.approx(forth.matrix().T)
    assert forth.matrix() == pytest.approx(back.matrix()[::-1, ::-1])
    assert np.diag(forth.matrix()).tolist() == [1.0] * 4


def test_pieces_of_topics_give_what_all_topics_give(some_runs, monkeypatch):
    whole = rb.similarity(some_runs)
    monkeypatch.setattr("rankbounds.comparison.similarity.CELLS", 40)
    assert rb.similarity(some_runs).value == pytest.approx(whole.value, nan_ok=True)


def test_topics_that_a_run_lacks_are_left_out_and_counted():
    runs = {"a": {"1": ["x"], "2": ["x"]}, "b": {"1": ["x"]}}
    with pytest.warns(rb.RankboundsWarning, match="1 of 2 topics"):
        alike = rb.similarity(runs)
    assert alike.query_ids == ["1"]
    with pytest.raises(rb.DataError, match="no topic in common"):
        rb.similarity({"a": {"1": ["x"]}, "b": {"2": ["x"]}})


def test_runs_that_are_alike_stand_side_by_side(some_runs):
    alike = rb.similarity(some_runs | {"copy of b": some_runs["b"]})
    order = [alike.runs[run] for run in alike.order("RBO(p=0.9,ties=b)")]
    assert abs(order.index("b") - order.index("copy of b")) == 1
    assert len(alike.tree()) == 4


def test_one_run_is_not_enough():
    with pytest.raises(rb.UsageError, match="two runs"):
        rb.similarity({"a": {"1": ["x"]}})


@pytest.mark.filterwarnings("ignore:1 topic has no relevant document")
@pytest.mark.parametrize("seed", range(8))
def test_the_most_a_measure_can_differ_against_all_judgments(seed):
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(7)]
    measures = ["nDCG@3", "nDCG", "AP", "RR", "P@3", "DCG@4", "RBP(p=0.5)@3", "Recall@2"]
    runs = {name: {"1": rng.sample(documents, rng.randint(2, 5))} for name in "ab"}
    alike = rb.similarity(runs, measures=measures)
    held = sorted({document for run in runs.values() for document in run["1"]})
    apart = []
    for judged in itertools.product([0, 1], repeat=len(held)):
        scores = rb.evaluate({"1": dict(zip(held, judged, strict=True)) | {"none": 0}}, runs, measures, bounds="none")
        apart.append(scores.value[1, 0] - scores.value[0, 0])
    with_residual = {"RBP(p=0.5)@3"}  # what follows the depth or the list is open too
    least, most = np.min(apart, axis=0), np.max(apart, axis=0)
    for place, measure in enumerate(measures):
        [row] = [row for row in alike.rows() if row["measure"] == f"MED-{measure}" and row["query_id"] == "1"]
        if measure in with_residual:
            assert row["low"] <= least[place]
            assert row["high"] >= most[place]
            continue
        assert (row["low"], row["high"]) == pytest.approx((least[place], most[place])), measure
        assert row["value"] == pytest.approx(max(-least[place], most[place]))


# ---- command ----


def test_what_is_not_known_of_a_measure_is_said_and_what_is_zero_has_no_sign():
    runs = {"a": {"1": list("abcdefghij")}, "b": {"1": list("abcdefgxyz")}}
    table = rb.similarity(runs, measures=["P-IA@5", "P@3"]).table()
    shown = {row[table.header.index("measure")]: row[table.header.index("value")] for row in table.rows}
    assert (shown["MED-P_IA@5"], shown["MED-P@3"]) == ("-", "0.0000")
    lists = [{"d0": 3.0, "d1": 2.0, "d2": 1.0}, {"d2": 3.0, "d0": 2.0, "d3": 1.0, "d1": 0.5}]
    for depth in range(1, 13):
        row = rb.similarity({"a": {"1": lists[0]}, "b": {"1": lists[1]}}, measures=[f"P@{depth}"]).rows()[-1]
        assert row["low"] == 0 or row["low"] < -0.05


def written(tmp_path, runs):
    paths = []
    for name, run in runs.items():
        lines = [f"{topic} Q0 {doc} 0 {score} {name}" for topic, docs in run.items() for doc, score in docs.items()]
        paths.append(tmp_path / f"{name}.run")
        paths[-1].write_text("\n".join(lines) + "\n")
    return paths


def test_the_command_gives_rows(command, tmp_path, some_runs):
    a, b, *_ = written(tmp_path, some_runs)
    code, out, err = command("similarity", a, b, "--p", "0.8", "--format", "json", "-q")
    assert (code, err) == (0, "")
    rows = json.loads(out)
    assert set(rows[0]) == {"a", "b", "query_id", "measure", "value", "low", "high"}
    assert {row["query_id"] for row in rows} == {*map(str, range(1, 8)), "all"}
    assert {"RBO(p=0.8)", "Overlap@10", "MED-nDCG@10", "MED-AP"} <= {row["measure"] for row in rows}


def test_the_command_tells_of_two_runs_and_of_many(command, tmp_path, some_runs):
    paths = written(tmp_path, some_runs)
    code, out, _ = command("similarity", *paths[:2])
    assert code == 0
    assert "Overlap@10" in out
    assert "Topics that changed most" in out
    figure = tmp_path / "alike.svg"
    code, out, _ = command("similarity", *paths, "--top", "2", "--figure", figure)
    assert code == 0
    assert "6 pairs over 7 topics" in out
    assert figure.read_text().lstrip().startswith("<?xml")
    assert command("similarity", *paths, "--figure", tmp_path / "alike.txt")[0] == 2


def test_the_same_run_twice_did_not_change(command, tmp_path, some_runs):
    a = written(tmp_path, some_runs)[0]
    code, out, _ = command("similarity", a, a, "--format", "json")
    rows = {row["measure"]: row for row in json.loads(out)}
    assert code == 0
    assert rows["RBO(p=0.9,ties=b)"]["value"] == pytest.approx(1)
    assert (rows["MED-nDCG@10"]["low"], rows["MED-nDCG@10"]["high"]) == (0, 0)
