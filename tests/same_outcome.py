"""A law that anything may drive: the same bytes give the same scores or the same error, whichever engine reads them."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import rankbounds as rb

MEASURES = ("RBP(p=0.8)", "AP", "nDCG@10")
SMALL = 1 << 16
"""The least memory that a stream takes: pieces of 4 KB."""


def outcome(evaluate: Any, qrels: Path, run: Path, **options: Any) -> Any:
    """The scores by topic, or the kind of error with the file and the line that it names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scores = evaluate(str(qrels), str(run), MEASURES, **options)
        except rb.RankboundsError as error:
            return told(error)
    place = sorted(range(len(scores.query_ids)), key=scores.query_ids.__getitem__)
    numbers = {name: getattr(scores, name)[0][place] for name in ("value", "low", "high", "judged")}
    return [scores.query_ids[at] for at in place], numbers, scores.runs


def told(error: rb.RankboundsError) -> tuple[str, str, str]:
    """What matters of an error: whose mistake it is, where, and what is wrong with all that is not the same for all."""
    message = str(error)
    assert "\n" not in message
    kind = "UsageError" if isinstance(error, rb.UsageError) else "DataError"
    place, _, rest = message.partition(": ")
    return kind, place, re.sub(r"\(.*", "", rest)


def streamed(qrels: str, run: str, measures: Any, **options: Any) -> Any:
    """As a stream of small pieces."""
    return rb.evaluate(qrels, run, measures, engine="stream", memory=SMALL, **options)


def assert_same_outcome(engines: Any, qrels: bytes, run: bytes, folder: Path, **options: Any) -> Any:
    """Evaluate these bytes in memory and by each of ``engines``; return what came of it.

    An engine may refuse a format that it does not read, in words that say what to do, and nothing else.
    """
    files = folder / "qrels", folder / "run"
    for file, content in zip(files, (qrels, run), strict=True):
        file.write_bytes(content)
    expected = outcome(rb.evaluate, *files, **options)
    for engine in engines:
        found = outcome(engine, *files, **options)
        if found[0] == "UsageError" and "can be read in pieces" in found[2]:
            continue
        if isinstance(expected[1], str) or isinstance(found[1], str):
            assert found == expected, f"{engine.__name__}: {found}, but in memory {expected}"
            continue
        assert found[0] == expected[0], engine.__name__
        assert found[2] == expected[2], engine.__name__
        for name, array in expected[1].items():
            np.testing.assert_allclose(found[1][name], array, rtol=1e-11, atol=1e-12, err_msg=engine.__name__)
    return expected
