"""Packed pairs: all that the pairs tell, without their text."""

import gc
import pickle
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.collection import inputs
from rankbounds.collection.inputs import Reading
from rankbounds.columns.pairs import PackedPairs

IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1, "d": 1}, "3": {"b": 1}}


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.floats(-9, 9), min_size=1), min_size=1))
def test_a_packed_run_tells_what_the_run_tells(scores: dict[str, dict[str, float]]) -> None:
    run = rb.Run(scores)
    keys = run.pairs.keys.copy()
    packed = run.packed(lambda: rb.Run(scores))
    kept = weakref.ref(run.pairs)
    del run
    gc.collect()
    assert kept() is None
    assert packed.to_dict() == scores == pickle.loads(pickle.dumps(packed)).to_dict()
    assert packed.query_ids == tuple(scores)
    assert len(packed) == sum(map(len, scores.values()))
    np.testing.assert_array_equal(packed.pairs.keys, keys)
    some = [*scores][::2]
    assert packed.filter(some).to_dict() == {topic: scores[topic] for topic in some}


def test_long_ids_stay_as_they_are() -> None:
    assert PackedPairs.of(rb.Run({"q": {"x" * 32: 1.0}}).pairs) is not None
    assert PackedPairs.of(rb.Run({"q": {"x" * 33: 1.0}}).pairs) is None


@pytest.mark.parametrize("after", ["q Q0 a 2 2.0 r\nq Q0 b 1 2.0 r\n", "q Q0 a 2 2.0 r\n", "q a 2\nq b 1\n"])
def test_ranks_of_a_file_that_changed_are_refused(tmp_path: Path, after: str) -> None:
    file = tmp_path / "run"
    file.write_text("q Q0 a 2 2.0 r\nq Q0 b 1 1.0 r\n")
    packed = rb.read_run(file).packed(lambda: rb.read_run(file))
    file.write_text(after)
    with pytest.raises(rb.DataError, match="has changed since it was read"):
        _ = packed.stated_rank


def runs_in(folder: Path) -> list[str]:
    """Three runs whose stated ranks are not the order of their scores, with unjudged documents and ties."""
    paths = []
    for number in range(3):
        draw = np.random.default_rng(number)
        lines = [
            f"{topic} Q0 {document} {rank} {draw.integers(4)} run{number}\n"
            for topic in QRELS
            for rank, document in enumerate(draw.permutation(list("abcdefgh"))[:6].tolist(), 1)
        ]
        paths.append(str(folder / f"run{number}.txt"))
        Path(paths[-1]).write_text("".join(lines))
    return paths


@pytest.mark.parametrize("ties", ["trec", "rank", "line", "expected"])
@pytest.mark.parametrize("topics", ["judged", "shared"])
def test_comparisons_of_packed_runs_are_those_of_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ties: str, topics: str
) -> None:
    paths = runs_in(tmp_path)
    held = rb.compare(QRELS, paths, "AP, nDCG@3, RBP(p=0.8)", ties=ties, topics=topics)
    monkeypatch.setattr(inputs, "ROWS_OF_TEXT", 0)
    packed = rb.compare(QRELS, paths, "AP, nDCG@3, RBP(p=0.8)", ties=ties, topics=topics)
    assert isinstance(packed.numbers.evidence.runs[0]._held, PackedPairs)
    assert str(packed) == str(held)
    assert packed.pairs.rows() == held.pairs.rows()


def test_ranks_are_read_again_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = runs_in(tmp_path)
    monkeypatch.setattr(inputs, "ROWS_OF_TEXT", 0)
    for path, run in zip(paths, Reading().runs(paths), strict=True):
        assert run == rb.read_run(path)
        assert run.stated_rank.tolist() == [1, 2, 3, 4, 5, 6] * 3
    (run,) = Reading().runs(paths[:1])
    Path(paths[0]).write_text("1 Q0 a 1 2 run0\n")
    with pytest.raises(rb.RankboundsError, match="changed since it was read"):
        _ = run.stated_rank
