"""Lists of any length: those longer than a batch of rankings are scored as short ones are, by every engine."""

from __future__ import annotations

import random

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.rankings import join

pytestmark = [
    pytest.mark.usefixtures("both_ways"),
    pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning"),
]

MEASURES = ["AP", "nDCG", "P@5", "RBP(p=0.8)", "RR", "Bpref", "num_ret"]


def write_lines(path, nested, line):
    path.write_text(
        "".join(line.format(query, doc, held) for query, docs in nested.items() for doc, held in docs.items())
    )
    return str(path)


@pytest.fixture
def collection(tmp_path):
    """Lists of very different lengths, with ties; as dicts and as files."""
    draw = random.Random(11)
    lengths = [1, 1, 2, 3, 4, 5, 8, 9, 16, 17, 40, 64, 65, 100]
    names = [f"d{number}" for number in range(100)]
    qrels = {
        str(topic): {doc: draw.randrange(3) for doc in draw.sample(names, 30)} for topic in range(len(lengths) + 1)
    }
    run = {
        str(topic): {doc: float(draw.randrange(50)) for doc in draw.sample(names, length)}
        for topic, length in enumerate(lengths)
    }
    files = write_lines(tmp_path / "q", qrels, "{} 0 {} {}\n"), write_lines(tmp_path / "r", run, "{} Q0 {} 0 {} t\n")
    return (qrels, run), files


@pytest.mark.parametrize("cells", [1, 4, 16, 100])
@pytest.mark.parametrize("bounds", ["unjudged", "both"])
def test_lists_longer_than_a_batch_have_the_numbers_of_others(collection, monkeypatch, cells, bounds):
    dicts, files = collection
    expected = rb.evaluate(*dicts, MEASURES, bounds=bounds)
    scored = rb.Evaluator(dicts[0], MEASURES).score(dicts[1])
    monkeypatch.setattr(join, "BATCH_CELLS", cells)
    sizes = []
    local = rb.evaluate(*files, MEASURES, bounds=bounds, observe=lambda _, rankings: sizes.append(rankings.grade.shape))
    assert max(width for _, width in sizes) == 100  # a list is never cut
    assert all(lists == 1 or lists * width <= 4 * cells for lists, width in sizes)
    stream = rb.evaluate(*files, MEASURES, engine="stream", bounds=bounds)
    for found in (rb.evaluate(*dicts, MEASURES, bounds=bounds), local, stream):
        order = [found.query_ids.index(query) for query in expected.query_ids]
        for name in ("value", "low", "high"):
            np.testing.assert_array_equal(getattr(found, name)[:, order], getattr(expected, name), err_msg=name)
    assert rb.Evaluator(dicts[0], MEASURES).score(dicts[1]) == scored


@pytest.mark.parametrize("lists", [1, 2])
def test_a_list_of_more_documents_than_a_batch_has_cells(tmp_path, command, lists):
    length = join.BATCH_CELLS + 1
    run = {str(topic): {f"d{number}": length - number for number in range(length)} for topic in range(lists)}
    qrels = {topic: {"d1": 1, f"d{length - 1}": 1, "other": 1} for topic in run}
    files = write_lines(tmp_path / "q", qrels, "{} 0 {} {}\n"), write_lines(tmp_path / "r", run, "{} Q0 {} 0 {} t\n")
    expected = [(1 / 2 + 2 / length) / 3, 0.1, length]
    measures = ["AP", "P@10", "num_ret"]
    for found in (
        rb.evaluate(qrels, run, measures),
        rb.evaluate(*files, measures),
        rb.evaluate(*files, measures, engine="stream"),
    ):
        np.testing.assert_allclose(found.value[0], [expected] * lists, rtol=1e-12)
    assert command("evaluate", *files, "-m", "AP")[0] == 0
