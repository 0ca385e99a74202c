"""Judgment groups and preferences: reading them, measures against plain definitions, and what is refused."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import rankbounds as rb
from plain import DEFINITIONS, OF_PREFERENCES, Compared, Topic
from rankbounds.errors import DataError, UsageError
from rankbounds.measures import REGISTRY, parse_measure

PREFERENCES = [parse_measure(example) for name in OF_PREFERENCES for example in REGISTRY[name].examples]
PREFERENCES += [
    parse_measure(f"PrefShare(average={of},retrieved={n})") for of in ("pairs", "groups") for n in (0, 1, 2)
]
PREFERENCES = list(dict.fromkeys(PREFERENCES))
OVER_GROUPS = [parse_measure(example) for name in ("AP_JG", "P_JG", "RPrec_JG") for example in REGISTRY[name].examples]
DOCUMENTS = tuple("abcdefg")


def drawn_groups(chance: random.Random) -> list[list[dict[str, float]]]:
    """One to three groups of one to three subgroups, each of which orders some documents as its group would."""
    groups = []
    for _ in range(chance.randint(1, 3)):
        levels = {document: chance.choice([0, 0, 1, 2, 2.5]) for document in DOCUMENTS}
        sizes = (chance.randint(1, len(DOCUMENTS)) for _ in range(chance.choice([1, 1, 2, 3])))
        groups.append([{one: levels[one] for one in chance.sample(DOCUMENTS, size)} for size in sizes])
    return groups


def rows(groups: list[list[dict[str, float]]]) -> list[tuple[str, str, str, str, float]]:
    return [
        ("q", f"group{group}", f"subgroup{part}", document, level)
        for group, subgroups in enumerate(groups)
        for part, levels in enumerate(subgroups)
        for document, level in levels.items()
    ]


@pytest.mark.parametrize("seed", range(60))
def test_preferences_are_counted_as_the_plain_definitions_do(seed, tmp_path):
    chance = random.Random(seed)
    groups = drawn_groups(chance)
    ranking = chance.sample([*DOCUMENTS, "x", "y"], chance.randint(1, 8))
    path = tmp_path / "prefs.txt"
    path.write_text("".join(f"{' '.join(map(str, row))}\n" for row in rows(groups)))
    scores = rb.evaluate(path, {"q": ranking}, PREFERENCES)
    for measure, value in zip(PREFERENCES, scores.value.ravel().tolist(), strict=True):
        expected = OF_PREFERENCES[measure.name](Compared(ranking, groups), measure)
        assert value == pytest.approx(expected), measure
    assert np.isnan(scores.low).all()


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("seed", range(40))
def test_groups_are_averaged_and_bounds_attained(seed):
    chance = random.Random(seed)
    groups = [{document: chance.choice([0, 0, 1, 2]) for document in chance.sample("abcde", chance.randint(1, 5))}]
    groups += [{document: chance.choice([0, 1, 2]) for document in chance.sample("abcde", 3)}]
    ranking = chance.sample("abcdef", 4)
    queries, of_groups, _, docs, grades = map(list, zip(*rows([[levels] for levels in groups]), strict=True))
    columns = {"query_id": queries, "judgment_group": of_groups, "doc_id": docs, "relevance": grades}
    scores = rb.evaluate(columns, {"q": ranking}, OVER_GROUPS)
    for at, measure in enumerate(OVER_GROUPS):
        definition = DEFINITIONS[measure.name]
        values = [
            [definition(Topic([levels.get(one) for one in ranking], list(levels.values()), 2.0), measure)]
            for levels in groups
        ]
        assert scores.value[0, 0, at] == pytest.approx(np.mean(values))
        ends = []
        for levels in groups:
            holes = [document for document in ranking if document not in levels]
            completed = [
                levels | dict(zip(holes, grades, strict=True))
                for grades in itertools.product((0, 2), repeat=len(holes))
            ]
            ends.append(
                [
                    definition(Topic([full[one] for one in ranking], list(full.values()), 2.0), measure)
                    for full in completed
                ]
            )
        assert scores.low[0, 0, at] == pytest.approx(np.mean([min(of_group) for of_group in ends])), measure
        assert scores.high[0, 0, at] == pytest.approx(np.mean([max(of_group) for of_group in ends])), measure


def test_a_file_of_preferences(tmp_path, command):
    """A user's two comparisons that do not meet: what follows from both counts, and nothing else."""
    path, run = tmp_path / "prefs.txt", tmp_path / "run.txt"
    path.write_text("# by hand\nq u 1 d1 3\nq u 1 d2 2\nq u 1 d3 1\nq u 2 d2 5\nq u 2 d4 4\nr u 1 d1 2\nr u 1 d2 1\n")
    run.write_text("q Q0 d4 1 3 t\nq Q0 d1 2 2 t\nq Q0 d2 3 1 t\nr Q0 d1 1 1 t\n")
    qrels = rb.read_qrels(path)
    assert qrels.are_preferences
    assert qrels.text().splitlines()[0] == "q u 1 d1 3"
    scores = rb.evaluate(path, run, ["NumPrefs", "NumPrefsFulfilled", "prefs_simp", "prefs_simp_ret"])
    assert scores.value[0, 0].tolist() == [5, 3, 0.6, pytest.approx(1 / 3)]
    code, out, _ = command("evaluate", path, run, "-m", "prefs_simp", "-q", "--format", "trec")
    assert (code, out.splitlines()[0]) == (0, "prefs_simp            \tq\t0.6000")
    code, _, err = command("evaluate", path, run, "-m", "nDCG")
    assert code == 2
    assert "these judgments are preferences" in err
    other = tmp_path / "other.txt"
    other.write_text("q Q0 d1 1 3 u\nr Q0 d2 1 1 u\n")
    code, out, _ = command("compare", path, run, other, "-m", "prefs_simp")
    assert code == 0
    known = "this measure has no known bounds of differences"
    assert f"Not known: {known} (the measure uses more than the grades of the judgments)." in out


def test_numbers_as_document_ids_need_the_format_named(tmp_path):
    path = tmp_path / "prefs.txt"
    path.write_text("q u 1 7 3\nq u 1 8 2\n")
    qrels = rb.read_qrels(path, formats="prefs")
    assert rb.evaluate(qrels, {"q": ["7", "8"]}, "PrefShare").value.item() == 1


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("q u 1 a 2\nq u 1 b 1\nq u 2 b 2\nq u 2 a 1\n", "is preferred to another document, and that one to it"),
        ("q u 1 a 0\nq u 1 b 1\nq u 2 a 1\n", "level 0 and another level"),
        ("q u 1 a 1\nq u 1 a 2\nq u 1 b 2\n", "is listed twice in one subgroup"),
    ],
)
def test_a_group_must_not_contradict_itself(tmp_path, lines, told):
    (tmp_path / "prefs.txt").write_text(lines)
    with pytest.raises(DataError, match=told):
        rb.evaluate(tmp_path / "prefs.txt", {"q": ["a", "b"]}, "PrefShare")


def test_measures_of_grades_are_refused(tmp_path, command):
    (tmp_path / "prefs").write_text("q u 1 a 2\nq u 1 b 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 1 t\n")
    code, _, err = command("trec_eval", "-R", "prefs", "-m", "map", tmp_path / "prefs", tmp_path / "run")
    assert code == 2
    assert "map reads grades, and these judgments are preferences" in err


def test_what_an_average_may_be():
    with pytest.raises(UsageError, match='Did you mean "groups"'):
        rb.measures.PrefShare(average="group")


def test_without_groups_judgments_are_one(tmp_path):
    """Each grade over the lower ones; AP of the one group is AP."""
    qrels, run = {"q": {"a": 2, "b": 1, "c": 0}}, {"q": ["b", "a", "c"]}
    scores = rb.evaluate(qrels, run, ["NumPrefs", "PrefShare", "AP_JG", "AP"])
    assert scores.value.ravel().tolist() == [3, pytest.approx(2 / 3), 1, 1]
