"""Is what ``rankbounds trec_eval`` prints what trec_eval prints? Line by line, for any runs and several options.

    python benchmarks/trec_eval_lines.py path/to/trec_eval qrels.txt runs/*

trec_eval 10.0-rc2 computes ``rbp`` from two numbers that it never sets; build it so that they are 0, as was meant:

    make CFLAGS='-O2 -ftrivial-auto-var-init=zero -I. -DVERSIONID=\\"10\\"'

Lines with a value that trec_eval does not define (nan) are counted apart.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter

import rankbounds as rb
from rankbounds.interop import trec_eval

OPTIONS: dict[str, tuple[str, trec_eval.Options]] = {
    "all": ("-q -c -m all_trec -m yaap -m dcg -m ideal_dcg", trec_eval.Options(complete_rel_info_wanted=True)),
    "level": ("-q -c -l 2 -m all_trec", trec_eval.Options(level_for_rel=2, complete_rel_info_wanted=True)),
    "depth": (
        "-q -c -M 100 -m all_trec",
        trec_eval.Options(Max_retrieved_per_topic=100, complete_rel_info_wanted=True),
    ),
    "judged": ("-q -c -J -m all_trec", trec_eval.Options(Judged_docs_only=True, complete_rel_info_wanted=True)),
    "parameters": (
        "-q -c -N 100000 -m P.3,7 -m ndcg.0=1,1=3,2=9 -m utility.2,-1,-0.5,0.25 -m set_F.0.5 -m rbp.p=0.8 "
        "-m rbp_resid.p=0.8 -m 11pt_avg..25,.5,.75 -m iprec_at_recall..05,.15 -m Rprec_mult.0.5,3 -m relstring.20 "
        "-m G.0=1,1=2,2=5 -m Rndcg.0=1,1=2",
        trec_eval.Options(complete_rel_info_wanted=True, Number_docs_in_coll=100_000),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="trec_eval")
    parser.add_argument("qrels")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--only", choices=OPTIONS, action="append", help="these options only")
    given = parser.parse_args()
    qrels = rb.read_qrels(given.qrels)
    differ = 0
    for kind in given.only or OPTIONS:
        arguments, options = OPTIONS[kind]
        words = arguments.split()
        asked = [words[place + 1] for place, word in enumerate(words) if word == "-m"]
        same, other, undefined = 0, Counter[str](), 0
        for run in given.runs:
            command = [given.program, *words, given.qrels, run]
            theirs = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "surrogateescape")
            ours = trec_eval.lines(qrels, rb.read_run(run), asked, options, per_topic=True)
            for our_line, their_line in zip(ours, theirs.splitlines(keepends=True), strict=True):
                if our_line == their_line:
                    same += 1
                elif their_line.endswith("nan\n"):
                    undefined += 1
                else:
                    other[their_line.split()[0]] += 1
                    if sum(other.values()) <= 10:
                        print(f"{run}\n  ours   {our_line}  theirs {their_line}", end="")
        print(f"{kind}: {same:,} lines alike, {sum(other.values())} not, {undefined} undefined {dict(other) or ''}")
        differ += sum(other.values())
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
