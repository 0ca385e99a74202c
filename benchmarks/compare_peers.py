"""Time rankbounds against every peer that is installed, and say whether it is as fast as it has to be.

    python benchmarks/compare_peers.py                            # writes about 700 MB below benchmarks/data once
    python benchmarks/compare_peers.py --trec-eval ../trec_eval/trec_eval --rbp-eval ../rbp_eval/rbp_eval/rbp_eval
    python benchmarks/compare_peers.py --workload many dicts --rounds 9 --threads 1 2 4 8 --save now.json
    python benchmarks/compare_peers.py --against before.json      # which ratios have grown? (exit code 1: some have)

Of files, every contender is a process of its own that starts from nothing, so that start-up counts; dicts are scored
within this process. Contenders take turns, round by round, so that a busy moment of the machine hits all alike; a first
round that is not counted makes bytecode. Printed are ratios, rankbounds / peer, because only those carry over to other
machines: the median over rounds of what each round says, of wall time and of processor time.

What is installed takes part (pytrec_eval-terrier, ir_measures, ranx, rbp_eval); trec_eval and rbp_eval in C where they
are on PATH or named. Where py-spy is installed, it looks how much of one thread's time holds the interpreter's lock,
which no more threads make shorter.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from peers import lock, record, spark, targets
from peers.calls import of_dicts
from peers.contenders import Contender, Programs, of_files, of_starting
from peers.timing import Ratio, Timing, in_turns, ratios
from workload import write_collection

HERE = Path(__file__).resolve().parent
FILES = {
    "many": {"runs": 100, "topics": 50, "depth": 1000, "judged": 1600},
    "topics": {"runs": 1, "topics": 20_000, "depth": 100, "judged": 50},
    "long": {"runs": 1, "topics": 7_000, "depth": 1000, "judged": 100},
}
DICTS: dict[str, Callable[[int], list[Contender]]] = {
    "dicts": lambda by: of_dicts(max(1, 50 // by), 1000, 1600),
    "dicts of short lists": lambda by: of_dicts(max(1, 1000 // by), 100, 120),
    "dicts at once": lambda by: of_dicts(max(1, 50 // by), 100, 120, prepared=False),
    "one list": lambda by: of_dicts(1, 10, 20, calls=max(1, 300 // by)),
}
WORKLOADS = (*FILES, *DICTS, "starting", "spark")
SPARK_LINES = 5_000_000


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def doubling(most: int) -> list[int]:
    """1, 2, 4, ... and the number itself."""
    return sorted({*(1 << power for power in range(most.bit_length())), most})


def described(workload: str, sizes: dict[str, int]) -> str:
    return f"{workload} ({', '.join(f'{number:,} {name}' for name, number in sizes.items())})"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of Markdown: words to the left, numbers to the right."""
    print(f"\n| {' | '.join(header)} |\n|---|{'---:|' * (len(header) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def number(value: float | None, form: str = ".2f") -> str:
    return "-" if value is None or value != value else f"{value:{form}}"


def median(timings: Sequence[Timing | None], what: str) -> float | None:
    held = [getattr(timing, what) for timing in timings if timing and getattr(timing, what) is not None]
    return statistics.median(held) if held else None


def report(title: str, results: dict[Contender, list[Timing | None]], found: list[Ratio]) -> None:
    """A row for each way to ask rankbounds, a column for each peer: ratios of wall and processor time."""
    print(f"\n## {title}")
    peers = [contender for contender in results if not contender.ours]
    by_key = {(ratio.ours, ratio.threads, ratio.peer): ratio for ratio in found}
    rows = []
    for ours, timings in results.items():
        if not ours.ours:
            continue
        row = [ours.what, str(ours.threads or "-"), number(median(timings, "peak"), ".0f")]
        for peer in peers:
            ratio = by_key.get((ours.what, ours.threads, peer.name))
            row.append(f"{number(ratio.wall)} / {number(ratio.processor)}" if ratio else "failed")
        rows.append(row)
    header = ["rankbounds", "threads", "peak MB", *(f"{peer.name}: {peer.what}" for peer in peers)]
    table(header, rows)
    if peaks := [f"{peer.name} {number(median(results[peer], 'peak'), '.0f')}" for peer in peers if peer.command]:
        print(f"\nPeak MB of the peers: {', '.join(peaks)}.")


def report_targets(found: list[Ratio], held: dict[str, float | None], one_list: float | None) -> None:
    """The table of what must be reached, and whether it is."""
    print("\n## Must reach")
    rows = []

    def judge(words: str, peer: str, value: float | None, most: float, form: str = ".2f") -> None:
        verdict = "not measured" if value is None else "yes" if value <= most else "no"
        rows.append([words, peer, number(value, form), number(most, form), verdict])

    for target in targets.TARGETS:
        judge(target.words, target.peer, targets.reached(target, found, processors()), target.most)
    microseconds = None if one_list is None else one_list * 1e6
    judge("one query of ten documents, microseconds", "-", microseconds, targets.MOST_MICROSECONDS, ".0f")
    for workload in targets.LARGE:
        words = f"share of one-thread time that holds the lock, {workload}"
        judge(words, "-", held.get(workload), targets.MOST_HELD, ".0%")
    for kind, most in targets.MOST_GROWTH.items():
        words = f"{kind} time with more threads over that with fewer"
        judge(words, "-", targets.growth_with_threads(found, kind), most)
    table(["workload", "peer", "reached", "target", "met"], rows)


def shrunk(sizes: dict[str, int], by: int) -> dict[str, int]:
    return {name: max(2 if name != "runs" else 1, size // by) for name, size in sizes.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--workload", nargs="+", choices=WORKLOADS, default=[*WORKLOADS[:-1]], help="default: all but spark"
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often every contender has its turn (default: 5)")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=doubling(processors()), help="default: 1, 2, 4, ... processors"
    )
    parser.add_argument("--skip", nargs="+", default=[], metavar="PEER", help="peers that do not take part")
    parser.add_argument("--trec-eval", type=Path, help="the program trec_eval, where it is not on PATH")
    parser.add_argument("--rbp-eval", type=Path, help="the program rbp_eval (C), where it is not on PATH")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the ratios, for a later --against")
    parser.add_argument("--against", type=Path, metavar="FILE", help="what has grown since these ratios were kept?")
    parser.add_argument("--tolerance", type=float, default=0.15, help="growth by this share is noise (default: 0.15)")
    parser.add_argument("--shrink", type=int, default=1, metavar="N", help="workloads N times smaller, to try this out")
    parser.add_argument("--cold", action="store_true", help="no first round that is not counted")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    options = parser.parse_args(arguments)
    before = record.load(options.against) if options.against else None

    timed = functools.partial(in_turns, rounds=options.rounds, warm=not options.cold)
    programs = Programs.found(options.trec_eval, options.rbp_eval)
    found: list[Ratio] = []
    held: dict[str, float | None] = {}
    one_list: float | None = None
    for workload in options.workload:
        if workload == "spark":
            found += (more := spark.ratios(options.data / "spark", SPARK_LINES // options.shrink, options.rounds))
            print("\n## spark")
            table(["Spark", "local, wall"], [[ratio.ours, number(ratio.wall)] for ratio in more])
            continue
        with tempfile.TemporaryDirectory() as folder:
            given: dict[str, Any] = {}
            title = workload
            if workload in FILES:
                sizes = shrunk(FILES[workload], options.shrink)
                title = described(workload, sizes)
                place = options.data / (workload if options.shrink == 1 else f"{workload}-{options.shrink}")
                given["qrels"], given["runs"] = write_collection(place, **sizes)
                written = Path(folder) if workload == "topics" else None
                contenders = of_files(options.threads, programs, several=sizes["runs"] > 1, written=written)
            elif workload in DICTS:
                contenders = DICTS[workload](options.shrink)
            else:
                contenders = of_starting()
            results = timed([one for one in contenders if one.name not in options.skip], **given)
        found += (more := ratios(workload, results))
        report(title, results, more)
        if workload in targets.LARGE:
            held[workload] = lock.held_share(**given, rounds=options.rounds)
        for contender, timings in results.items():
            if workload == "one list" and contender.ours:
                one_list = median(timings, "wall")
    report_targets(found, held, one_list)
    if options.save:
        record.save(
            options.save, found, {"rounds": options.rounds, "threads": options.threads, "shrink": options.shrink}
        )
    if before is None:
        return 0
    grown = record.regressions(found, before, options.tolerance)
    print(f"\n## Grown since {options.against}")
    table(
        ["ratio", "of", "before", "now", "growth"],
        [[key, kind, number(old), number(new), f"{new / old - 1:+.0%}"] for key, kind, old, new in grown],
    )
    shared = sum(ratio.key in before for ratio in found)
    print(f"\n{len(grown)} of {shared} ratios that both runs have grew by more than {options.tolerance:.0%}.")
    return 1 if grown else 0


if __name__ == "__main__":
    raise SystemExit(main())
