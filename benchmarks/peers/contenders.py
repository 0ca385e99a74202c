"""Who takes part in which workload: a process that starts from nothing, or a call within one."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OURS = "rankbounds"
FIVE = ["RBP(p=0.8)", "AP", "nDCG", "P@10", "RR"]
TWO_P = ["RBP(p=0.8)", "RBP(p=0.95)"]
ASKED = {
    "five measures": (FIVE, "none"),
    "five measures, bounds": (FIVE, "unjudged"),
    "RBP at two p, residuals": (TWO_P, "unjudged"),
}
"""What is asked of rankbounds: measures and bounds."""

EVALUATE = """
import sys, warnings
warnings.simplefilter("ignore")
import rankbounds
scores = rankbounds.evaluate(sys.argv[1], sys.argv[2:], {measures!r}, bounds={bounds!r}, threads={threads})
{use}
"""

PYTREC_EVAL = """
import csv, sys, pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
evaluator = pytrec_eval.RelevanceEvaluator(qrels, {{"map", "ndcg", "P_10", "recip_rank"}})
for path in sys.argv[2:]:
    with open(path) as file:
        scores = evaluator.evaluate(pytrec_eval.parse_run(file))
    {use}
"""
PYTREC_EVAL_WRITES = """with open({target!r}, "w", newline="") as out:
        csv.writer(out).writerows((query, *row.values()) for query, row in scores.items())"""

IR_MEASURES = """
import sys, ir_measures
from ir_measures import AP, RR, P, nDCG
evaluator = ir_measures.evaluator([AP, nDCG, P@10, RR], ir_measures.read_trec_qrels(sys.argv[1]))
for path in sys.argv[2:]:
    for result in evaluator.iter_calc(ir_measures.read_trec_run(path)):
        pass
"""

RANX = """
import sys, ranx
qrels = ranx.Qrels.from_file(sys.argv[1], kind="trec")
for path in sys.argv[2:]:
    ranx.evaluate(qrels, ranx.Run.from_file(path, kind="trec"), ["map", "ndcg", "precision@10", "mrr", "rbp.80"])
"""


@dataclass(frozen=True)
class Contender:
    """One row or column of a table: a command that is started, or a function that is called."""

    name: str
    what: str
    command: tuple[str, ...] = ()
    call: Callable[[Any], Any] | None = field(default=None, compare=False)
    given: Callable[[int], Sequence[Any]] | None = field(default=None, compare=False)
    """What the function is called with, one after the other, in this turn: single calls may be too short to time."""
    threads: int | None = None
    one_run_each: bool = False
    """A program that takes one run at a time is started once for each."""

    @property
    def ours(self) -> bool:
        """Is it rankbounds?"""
        return self.name == OURS


@dataclass(frozen=True)
class Programs:
    """Where programs in C are, or None where they are not."""

    trec_eval: str | None
    rbp_eval: str | None

    @classmethod
    def found(cls, trec_eval: Path | None, rbp_eval: Path | None) -> Programs:
        """Those at these paths, else those on PATH (a Python script called rbp_eval is another program)."""
        other = shutil.which("rbp_eval")
        if other and Path(other).read_bytes()[:4] != b"\x7fELF":
            other = None
        return cls(str(trec_eval) if trec_eval else shutil.which("trec_eval"), str(rbp_eval) if rbp_eval else other)


def python(script: str) -> tuple[str, ...]:
    return sys.executable, "-c", script


def of_files(threads: list[int], programs: Programs, *, several: bool, written: Path | None) -> list[Contender]:
    """Files in, numbers for each topic out. ``several``: of many runs, which programs for one run are started for each;
    ``written``: scores go to files in this folder, where the workload asks for that."""
    taking_part = [
        Contender(
            OURS,
            what,
            python(EVALUATE.format(measures=measures, bounds=bounds, threads=number, use="scores.value.sum()")),
            threads=number,
        )
        for what, (measures, bounds) in ASKED.items()
        for number in threads
    ]
    use = "pass"
    if written:
        use = PYTREC_EVAL_WRITES.format(target=str(written / "theirs.csv"))
        taking_part += [
            Contender(
                OURS,
                "five measures, scores written",
                python(
                    EVALUATE.format(
                        measures=FIVE,
                        bounds="none",
                        threads=number,
                        use=f"open({str(written / 'ours.csv')!r}, 'w').write(scores.render('csv', per_topic=True))",
                    )
                ),
                threads=number,
            )
            for number in threads
        ]
    theirs = "four measures, it has no RBP" + (", scores written" if written else "")
    for module, script, what in (
        ("pytrec_eval", PYTREC_EVAL.format(use=use), theirs),
        ("ir_measures", IR_MEASURES, "four measures"),
        ("ranx", RANX, "five measures"),
    ):
        if importlib.util.find_spec(module):
            taking_part.append(Contender(module, what, python(script)))
    package = Path(sys.executable).with_name("rbp_eval")
    if several and importlib.util.find_spec("rbp_eval") and package.exists():
        command = (str(package), "-q", "-p", "0.8,0.95")
        taking_part.append(Contender("rbp_eval, Python", "RBP at two p", command, one_run_each=True))
    if programs.trec_eval:
        names = [f"-m{name}" for name in ("map", "ndcg", "P.10", "recip_rank", "rbp")]
        command = (programs.trec_eval, "-q", *names)
        taking_part.append(Contender("trec_eval, C", "five measures", command, one_run_each=True))
    if programs.rbp_eval:
        command = (programs.rbp_eval, "-q", "-p", "0.8,0.95")
        taking_part.append(Contender("rbp_eval, C", "RBP at two p", command, one_run_each=True))
    return taking_part


def of_starting() -> list[Contender]:
    """How long it takes until a program that does nothing has ended."""
    module = (sys.executable, "-m", "rankbounds")
    return [
        Contender(OURS, "--version", (*module, "--version")),
        Contender(OURS, "--help", (*module, "--help")),
        Contender("numpy", "import numpy", python("import numpy")),
    ]
