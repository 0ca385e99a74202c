"""Samples that people judged, as they are read: every mistake told in a sentence."""

from __future__ import annotations

import csv

import pytest
from made_samples import MODEL, ROWS, SYSTEMS, collection, written

import rankbounds as rb


def changed(row=3, **values):
    rows = [dict(one) for one in ROWS]
    rows[row].update(values)
    return rows


BAD = {
    "without probabilities": ([{k: v for k, v in row.items() if k != "probability"} for row in ROWS], "probability"),
    "without judgments": ([{k: v for k, v in row.items() if k != "relevance"} for row in ROWS], "relevance"),
    "without orders": ([{k: v for k, v in row.items() if k != "order"} for row in ROWS], "order"),
    "an order twice": (changed(order=3), "1, 2, 3"),
    "the first one not judged": (
        changed(0, relevance=None),
        "the first document of the sample of 20, has no relevance",
    ),
    "a document that the labels lack": (changed(doc_id="nobody"), "the labels (judgments) lack it"),
    "a topic that the labels lack": (changed(query_id="nobody"), "the labels (judgments) lack it"),
    "probability 0": (changed(probability=0.0), "above 0 and up to 1"),
    "probability above 1": (changed(probability=1.5), "above 0 and up to 1"),
    "probability that is no number": (changed(probability="often"), "not a finite number"),
    "judged outside the sample": (changed(probability=None), "has no probability: it does not belong to the sample"),
    "relevance that is no number": (changed(relevance="yes"), "not a finite number"),
    "twice": ([*ROWS, ROWS[0]], "Keep one row"),
    "empty": ([], "empty"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_samples_are_told_in_a_sentence(kind, tmp_path, command):
    rows, message = BAD[kind]
    columns = ("order", "probability", "relevance")
    with pytest.raises(rb.DataError) as told:
        rb.audit(MODEL, rows, SYSTEMS)
    assert message in str(told.value)
    if not rows:
        return
    file = tmp_path / "sample.csv"
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, ["query_id", "doc_id", *[k for k in columns if k in rows[0]]])
        writer.writeheader()
        writer.writerows(rows)
    written(tmp_path)
    code, _, err = command("audit", tmp_path / "labels", file, tmp_path / "run0")
    assert (code, err.count("\n")) == (3, 1)
    assert "sample.csv" in err


def test_lists_of_documents_are_no_sample():
    _, labels, runs = collection(1)
    with pytest.raises(rb.RankboundsError, match=r"expected a path, .* got lists of documents"):
        rb.audit(labels, {"q0": [["d0"]]}, runs, "P@5")


def test_judgments_of_other_documents_are_told():
    judgments = rb.Qrels.from_columns(["q0", "q0"], ["d0", "unlabelled"], [1, 0])
    with pytest.raises(rb.DataError, match="not in the sample"):
        rb.audit(MODEL, ROWS, SYSTEMS, judgments=judgments)
