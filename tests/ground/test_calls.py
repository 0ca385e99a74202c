"""Mistakes in Python: one sentence below the user's own line, and what was probably meant."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import rankbounds as rb
from rankbounds.errors import UnknownOptionError

SOURCE = str(Path(rb.__file__).parents[1])
JUDGED, RUN = '{"q": {"a": 1}}', '{"q": ["a"]}'
MISTAKES = {
    f"rb.evaluate({JUDGED}, {RUN}, metrics=['AP'])": "the keyword is measures=",
    f"rb.evaluate({JUDGED}, {RUN}, measure='AP')": "the keyword is measures=",
    f"rb.evaluate({JUDGED}, {RUN}, metric='AP')": "the keyword is measures=",
    f"rb.evaluate({JUDGED}, {RUN}, tis='run')": 'Did you mean "ties="?',
    f"rb.evaluate({JUDGED}, {RUN}, k=10)": 'as in "nDCG@10" or rb.nDCG @ 10',
    f"rb.Evaluator({JUDGED}, metrics='AP')": "the keyword is measures=",
    f"rb.judge_next({JUDGED}, {RUN}, measures='AP')": "the keyword is measure=",
    f"rb.evaluate({JUDGED}, {{'q': {{'a': 'x'}}}})": "not a finite number",
    "rb.evaluate('no.txt', 'no.txt')": "no.txt: there is no such file.",
    "rb.evaluate(3, 4)": "got int",
    f"rb.evaluate({JUDGED}, ['recall@2'])": 'Measures are named by measures=["recall@2"].',
    f"rb.compare({JUDGED}, ['AP'])": 'Measures are named by measures=["AP"].',
    f"rb.compare({JUDGED}, measures='AP')": "The runs are missing.",
    f"rb.compare({JUDGED}, {RUN}, confidence=99)": "Did you mean 0.99?",
    "rb.Run.from_positions([[.5, .2]], [[0, 1]], query_ids=['q'], doc_ids=['a', 'b'])": "Positions come first",
    "rb.Run('no.txt')": "no.txt: there is no such file.",
    "rb.Run({'q': ['a']}, nam='x')": 'Did you mean "name="?',
    "rb.Qrels({'q': {'a': 'x'}})": "not a finite number",
    "rb.report('no.txt', 'no.txt')": "no.txt: there is no such file.",
    "rb.judging.pools.pool('no.txt', depth=1)": "no.txt: there is no such file.",
    "rb.stats.kendall_tau([1, 2], [1])": "there are 2 and 1",
    "rb.parse_measure('nDGC')": 'Did you mean "nDCG"?',
    "rb.nDCG(k=10)": 'rb.nDCG @ 10 or "nDCG@10"',
    "rb.nDCG(10)": "For the depth write rb.nDCG @ 10",
    "rb.nDCG(cutof=10)": 'Did you mean "cutoff="?',
    "rb.RBP(p=1.5)": "p must be at least 0 and below 1",
}


def printed(code: str, **environment: str) -> list[str]:
    """What Python prints of an error in a script."""
    known = os.environ | {"PYTHONPATH": SOURCE} | environment
    done = subprocess.run([sys.executable, "-c", code], env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr.splitlines()


def test_every_mistake_ends_in_its_sentence():
    shown = printed(
        "import traceback, rankbounds as rb\n"
        f"for mistake in {list(MISTAKES)!r}:\n"
        "    try: exec(mistake)\n"
        "    except Exception: traceback.print_exc(); import sys; print('----', file=sys.stderr)\n"
        "raise SystemExit(1)"
    )
    blocks = "\n".join(shown).split("\n----")
    for block, (mistake, sentence) in zip(blocks, MISTAKES.items(), strict=False):
        lines = block.strip().splitlines()
        assert sentence in lines[-1], mistake
        assert lines[-1].startswith("rankbounds.errors."), mistake
        assert sum(line.startswith("  File") for line in lines) <= 4, block  # two are those of the loop and of exec
        assert "During handling" not in block
        assert "direct cause" not in block


def test_the_environment_shows_every_frame():
    mistake = "import rankbounds as rb\nrb.evaluate('no.txt', 'no.txt')"
    short, long = printed(mistake), printed(mistake, RANKBOUNDS_TRACEBACK="1")
    assert short[-1] == long[-1] == "rankbounds.errors.DataError: no.txt: there is no such file."
    assert sum(line.startswith("  File") for line in short) == 2
    assert sum(line.startswith("  File") for line in long) > 4


def test_errors_inside_are_not_hidden():
    def broken(done, of):
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine") as told:
        rb.evaluate({"q": {"a": 1}}, {"q": ["a"]}, progress=broken)
    assert len(told.traceback) > 3


def test_unknown_options_are_type_errors_too():
    with pytest.raises(TypeError, match="measures=") as told:
        rb.evaluate({"q": {"a": 1}}, {"q": ["a"]}, metrics="AP")
    assert isinstance(told.value, rb.UsageError)
    again = pickle.loads(pickle.dumps(told.value))
    assert (type(again), str(again)) == (UnknownOptionError, str(told.value))


def test_public_functions_keep_name_signature_and_pickle():
    assert pickle.loads(pickle.dumps(rb.evaluate)) is rb.evaluate
    assert pickle.loads(pickle.dumps(rb.stats.kendall_tau)) is rb.stats.kendall_tau
    assert (rb.evaluate.__module__, rb.evaluate.__name__) == ("rankbounds", "evaluate")
    assert {"qrels", "runs", "measures", "ties"} <= set(inspect.signature(rb.evaluate).parameters)
    assert inspect.getsource(rb.evaluate).lstrip().startswith("@shows_options")


def test_depths_are_written_behind_an_at():
    assert rb.nDCG @ 10 == rb.nDCG(cutoff=10) == rb.parse_measure("nDCG@10")
    assert rb.P(rel=2) @ 5 == rb.P(rel=2, cutoff=5)
    assert rb.RBP(0.9) == rb.RBP(p=0.9)


def test_judge_next_has_the_budget_of_the_command():
    assert inspect.signature(rb.judge_next).parameters["budget"].default == 20
