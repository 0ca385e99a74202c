"""``rankbounds transfer``: what it prints, and with which exit code."""

from __future__ import annotations

import csv
import io
import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.cli import main


@pytest.fixture
def transfer(capfdbinary):
    """Run the command; return exit code, standard output and standard error."""

    def call(*arguments):
        code = main(["rbp", "transfer", *map(str, arguments)])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


def test_a_score_at_another_persistence(transfer):
    code, out, err = transfer("0.4321", "--p", ".95", "--to", ".8")
    assert (code, err) == (0, "")
    assert "0.4321 at p=0.95" in out
    assert "[0.0280, 0.9142]" in out
    assert "add --topics" in out
    assert "non-relevant at every p" in out


def test_json_has_a_row_for_the_score(transfer):
    code, out, err = transfer("0.43", "--p", ".7", "--to", ".5", "--residual", ".02", "--digits", 4, "--format", "json")
    (found,) = json.loads(out)
    expected = rb.rbp.transfer(0.43, 0.7, 0.5, residual=0.02, digits=4)
    assert (code, err) == (0, "")
    assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert (found["method"], found["proven"], found["digits"]) == ("exact", True, 4)
    assert found["verdict"] is None


@pytest.mark.parametrize(("against", "verdict"), [(".95", "B"), (".01", "A"), (".5", "undecided")])
def test_verdicts(transfer, against, verdict):
    arguments = ("0.4321", "--p", ".95", "--to", ".8", "--against", against, "--digits", 4)
    found = json.loads(transfer(*arguments, "--format", "json")[1])
    assert found[0]["verdict"] == found[1]["verdict"] == verdict
    assert [row["system"] for row in found[:2]] == ["A", "B"]
    assert found[1]["low"] == pytest.approx(float(against) - 5e-5, abs=1e-8)
    text = transfer(*arguments)[1]
    assert ("neither can be said to be better" if verdict == "undecided" else f"system {verdict} is better") in text


def test_both_systems_move_to_a_third_persistence(transfer):
    arguments = ("0.9000", "--p", ".95", "--to", ".8", "--against", "0.2000", "--against-p", ".6", "--format", "csv")
    a, b, *others = csv.DictReader(io.StringIO(transfer(*arguments)[1]))
    assert (a["at"], a["verdict"]) == ("0.8", "A")
    assert float(b["high"]) > 0.2
    assert {row["verdict"] for row in others} <= {"A", "undecided"}
    assert {row["at"] for row in others} == {"0.95", "0.6"}


def test_means_and_methods(transfer):
    def low_and_high(*more):
        (found,) = json.loads(transfer("0.4321", "--p", ".9", "--to", ".7", "--format", "json", *more)[1])
        return found["low"], found["high"], found["method"]

    one, mean, relaxed = map(
        low_and_high, *zip(("--topics", 1), ("--topics", 50), ("--method", "relaxed"), strict=True)
    )
    assert relaxed[0] < mean[0] < one[0]
    assert one[1] < mean[1] < relaxed[1]
    assert [found[2] for found in (one, mean, relaxed)] == ["exact", "exact", "relaxed"]
    assert low_and_high("--method", "greedy")[2] == "greedy"


def test_a_figure(transfer, tmp_path):
    pytest.importorskip("matplotlib")
    transfer("0.43", "--p", ".6", "--to", ".5", "--figure", tmp_path / "range.svg")
    assert "<svg" in (tmp_path / "range.svg").read_text()
    code, _, err = transfer("0.43", "--p", ".6", "--to", ".5", "--figure", tmp_path / "nowhere" / "range.svg")
    assert code == 3
    assert "cannot be written" in err
    code, _, err = transfer("0.43", "--p", ".6", "--to", ".5", "--figure", tmp_path / "range.txt")
    assert code == 2
    assert "Known" in err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["0.5", "--p", ".2", "--to", ".8"], 3, "cannot occur"),
        (["0.9", "--p", ".8", "--to", ".5", "--residual", ".3"], 3, "more than 1"),
        (["0.5", "--p", "1", "--to", ".8"], 2, "below 1"),
        (["0.5", "--p", ".5", "--to", "1.8"], 2, "below 1"),
        (["half", "--p", ".5", "--to", ".8"], 2, "must be a number"),
        (["0.5", "--p", ".5"], 2, "--to"),
        (["0.5", "--p", ".5", "--to", ".8", "--method", "greddy"], 2, 'Did you mean "greedy"?'),
        (["0.5", "--p", ".5", "--to", ".8", "--depth", "3", "--method", "greedy"], 2, "without a known end"),
        (["0.5", "--p", ".5", "--to", ".8", "--against-residual", ".1"], 2, "goes with --against"),
        (["0.5", "--p", ".5", "--to", ".8", "--format", "jsn"], 2, 'Did you mean "json"?'),
    ],
)
def test_wrong_usage_is_one_clear_message(transfer, arguments, code, told):
    found, out, err = transfer(*arguments)
    assert (found, out) == (code, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_the_solver_keeps_off_standard_output():
    """The solver prints a line of its own for this case, unless it is muted; it would stand behind the JSON."""
    arguments = "0.641762 --p 0.5928200229500528 --to 0.5304259802618151 --topics 100 --residual 0.051211"
    command = [sys.executable, "-m", "rankbounds", "rbp", "transfer", *arguments.split(), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0]["high"] < 1


class TestOtherWeights:
    """Sums of fixed weights at another depth or base, against linear programs and lists themselves."""

    MEASURES = ("P@3", "DCG@5", "SDCG(base=2)@4", "SDCG(base=3)@6", "RBP(p=0.7)@5")

    @pytest.mark.parametrize(("source", "target"), list(itertools.permutations(MEASURES, 2)))
    def test_ends_are_those_of_a_linear_program(self, source, target):
        from scipy.optimize import linprog

        weights, wanted = (np.zeros(6), np.zeros(6))
        for into, name in ((weights, source), (wanted, target)):
            measure = rb.parse_measure(name)
            into[: measure.cutoff] = measure.weights(measure.cutoff)
        for score in ("0.2", "0.55", "0.800"):
            half = 0.5 * 10.0 ** -len(score[2:])
            box = {"A_ub": [weights, -weights], "b_ub": [float(score) + half, half - float(score)], "bounds": (0, 1)}
            low, high = linprog(wanted, **box).fun, -linprog(-wanted, **box).fun
            found = rb.rbp.transfer_weights(score, source, target)
            assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)

    @pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
    @pytest.mark.parametrize(("source", "target"), [("P@3", "DCG@5"), ("SDCG(base=2)@4", "P@6")])
    def test_no_list_leaves_the_range(self, source, target):
        for relevant in itertools.product((0, 1), repeat=6):
            qrels = {"q": {f"d{at}": one for at, one in enumerate(relevant)}}
            value = rb.evaluate(qrels, {"q": list(qrels["q"])}, [source, target], bounds="none").value[0, 0]
            found = rb.rbp.transfer_weights(f"{value[0]:.3f}", source, target)
            assert found.low <= value[1] <= found.high

    @pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
    def test_with_a_residual_no_completion_leaves_the_range(self):
        """Every list of five documents, each relevant, not, or unjudged, with every way to judge the unjudged ones."""
        beyond = 0
        for marks in itertools.product((0, 1, None), repeat=5):
            known = np.array([mark or 0 for mark in marks])
            holes = np.array([mark is None for mark in marks])
            source, target = (rb.parse_measure(name).weights(5) for name in ("SDCG(base=2)@5", "P@5"))
            printed, residual = f"{known @ source:.3f}", f"{holes @ source:.3f}"
            found = rb.rbp.transfer_weights(printed, "SDCG(base=2)@5", "P@5", residual=residual)
            without = rb.rbp.transfer_weights(printed, "SDCG(base=2)@5", "P@5")
            for judged in itertools.product((0, 1), repeat=int(holes.sum())):
                full = known.copy()
                full[holes] = judged
                assert found.low <= full @ target <= found.high
                beyond += full @ target > without.high
        assert beyond

    def test_command(self, capsys):
        asked = ["rbp", "transfer", "0.5000", "--measure", "P@2", "--to", "P@4"]
        assert main(asked) == 0
        assert capsys.readouterr().out.splitlines()[1].split() == ["0.5000", "P@2", "P@4", "[0.2499,", "0.7501]"]
        for wrong in (
            [*asked, "--p", "0.8"],
            ["rbp", "transfer", "0.5", "--measure", "AP", "--to", "P@4"],
            ["rbp", "transfer", "0.5", "--p", "0.8", "--to", "P@4"],
            ["rbp", "transfer", "0.5", "--to", "0.8"],
            ["rbp", "transfer", "x", "--measure", "P@2", "--to", "P@4"],
            [*asked, "--residual", "nan"],
        ):
            assert main(wrong) == 2
        assert main(["rbp", "transfer", "1.5", "--measure", "P@2", "--to", "P@4"]) == 3
        assert main([*asked, "--residual", "-0.1"]) == 3
        capsys.readouterr()
        assert main([*asked, "--residual", "0.5000", "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)[0]["high"] == pytest.approx(1.0)
