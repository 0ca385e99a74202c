"""Time rankbounds against every peer that is installed: files in, numbers for each topic out.

    python benchmarks/compare_peers.py                  # all workloads; writes about 600 MB below benchmarks/data
    python benchmarks/compare_peers.py --workload many --repeats 5

Every contender is a process of its own that starts from nothing, so that start-up counts. Contenders take turns, round
by round, so that a busy moment of the machine hits all alike; the table gives the median. A round that is not counted
comes first: installed packages have their bytecode, which a checkout gets when it is first imported. Times are printed
as ratios (rankbounds / peer) because only those carry over to other machines; memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from workload import write_collection

HERE = Path(__file__).resolve().parent
WORKLOADS = {
    "many": {"runs": 100, "topics": 50, "depth": 1000, "judged": 1600},
    "topics": {"runs": 1, "topics": 20_000, "depth": 100, "judged": 50},
    "long": {"runs": 1, "topics": 7_000, "depth": 1000, "judged": 100},
}
FIVE = ["RBP(p=0.8)", "AP", "nDCG", "P@10", "RR"]

OURS = """
import sys, warnings
warnings.simplefilter("ignore")
import rankbounds
scores = rankbounds.evaluation.evaluate(sys.argv[1], sys.argv[2:], {measures!r}, bounds={bounds!r})
scores.value.sum()
"""

PYTREC_EVAL = """
import sys, pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "P_10", "recip_rank"})
for path in sys.argv[2:]:
    with open(path) as file:
        evaluator.evaluate(pytrec_eval.parse_run(file))
"""

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


@dataclass
class Contender:
    name: str
    what: str
    command: list[str]
    one_run_each: bool = False
    """A program that takes one run at a time is started once for each."""


def contenders(workload: str) -> list[Contender]:
    python = [sys.executable, "-c"]
    ours = [
        Contender("rankbounds", "five measures", [*python, OURS.format(measures=FIVE, bounds="none")]),
        Contender("rankbounds", "five measures, bounds", [*python, OURS.format(measures=FIVE, bounds="unjudged")]),
        Contender(
            "rankbounds",
            "RBP at two p, residuals",
            [*python, OURS.format(measures=["RBP(p=0.8)", "RBP(p=0.95)"], bounds="unjudged")],
        ),
    ]
    peers = []
    for module, script, what in (
        ("pytrec_eval", PYTREC_EVAL, "four measures (it has no RBP)"),
        ("ir_measures", IR_MEASURES, "four measures (RBP needs a further package)"),
        ("ranx", RANX, "five measures"),
    ):
        if importlib.util.find_spec(module):
            peers.append(Contender(module, what, [*python, script]))
    script_of_package = Path(sys.executable).with_name("rbp_eval")
    if importlib.util.find_spec("rbp_eval") and script_of_package.exists() and workload == "many":
        peers.append(
            Contender(
                "rbp_eval (Python)",
                "RBP at two p, residuals",
                [str(script_of_package), "-q", "-p", "0.8,0.95"],
                one_run_each=True,
            )
        )
    if program := shutil.which("trec_eval"):
        names = [f"-m{name}" for name in ("map", "ndcg", "P.10", "recip_rank", "rbp")]
        peers.append(Contender("trec_eval", "five measures", [program, "-q", *names], one_run_each=True))
    program = shutil.which("rbp_eval")
    if program and Path(program).read_bytes()[:4] == b"\x7fELF":
        peers.append(Contender("rbp_eval (C)", "RBP at two p", [program, "-q", "-p", "0.8,0.95"], one_run_each=True))
    return ours + peers


def measure(contender: Contender, qrels: Path, runs: list[Path]) -> tuple[float, float] | None:
    """Seconds and peak megabytes, or None if it failed."""
    calls = [[str(run)] for run in runs] if contender.one_run_each else [[str(run) for run in runs]]
    started, peak = time.perf_counter(), 0.0
    for files in calls:
        process = subprocess.Popen(
            [*contender.command, str(qrels), *files],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        )
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            return None
        peak = max(peak, usage.ru_maxrss / 1024)
    return time.perf_counter() - started, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", choices=[*WORKLOADS, "all"], default="all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--skip", default="", help="names of peers to leave out, with commas between them")
    options = parser.parse_args()
    for workload in WORKLOADS if options.workload == "all" else [options.workload]:
        qrels, runs = write_collection(options.data / workload, **WORKLOADS[workload])
        taking_part = [one for one in contenders(workload) if one.name not in options.skip.split(",")]
        results: dict[int, list[tuple[float, float]]] = {at: [] for at in range(len(taking_part))}
        for turn in range(options.repeats + 1):
            for at, contender in enumerate(taking_part):
                found = measure(contender, qrels, runs)
                if found and turn:
                    results[at].append(found)
        report(workload, taking_part, results)


def report(workload: str, taking_part: list[Contender], results: dict[int, list[tuple[float, float]]]) -> None:
    ours = [at for at, one in enumerate(taking_part) if one.name == "rankbounds"]
    seconds = {at: statistics.median(time for time, _ in found) for at, found in results.items() if found}
    memory = {at: max(peak for _, peak in found) for at, found in results.items() if found}
    print(f"\n## {workload}: {WORKLOADS[workload]}")
    titles = [taking_part[at].what for at in ours]
    print("\n| peer | peak MB | " + " | ".join(f"ours ({title}) / peer" for title in titles) + " |")
    print("|---|---:|" + "---:|" * len(ours))
    for at, one in enumerate(taking_part):
        if at not in seconds:
            print(f"| {one.name}: failed | | " + " | ".join("" for _ in ours) + " |")
            continue
        ratios = " | ".join(f"{seconds[own] / seconds[at]:.2f}" for own in ours)
        print(f"| {one.name}, {one.what} | {memory[at]:.0f} | {ratios} |")


if __name__ == "__main__":
    main()
