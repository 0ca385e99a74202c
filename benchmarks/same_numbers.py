"""Does another state of rankbounds print the same numbers? Every value, bound, p-value and interval is compared.

    python benchmarks/same_numbers.py OLD NEW --collection TREC8=FOLDER --collection COVID=FOLDER

OLD and NEW are ``rankbounds`` programs, such as ``../old/.venv/bin/rankbounds``. The commands run on the collection
that comes with rankbounds, and on the first 20 runs (by name) of every FOLDER with ``qrels.txt`` and a folder of runs.
Rows are matched by their words (run, query, measure, ...), numbers by their names. Sums in another order may differ in
their last digits; what differs by more is named, with how many and by how much at most. Exit code 1: something differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MEASURES = ("nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR", "Bpref", "Q", "ERR", "nDCG'@10", "Recall@20", "RPrec", "GMAP")
COMPARED = ("nDCG@10", "AP", "RBP(p=0.8)", "RR")
AUDITED = ("RBP(p=0.8)", "nDCG@10")
ROUNDING = 1e-12
WORDS = ("run", "against", "system", "query_id", "doc_id", "measure", "slice", "verdict")
"""Columns that say what a row is about; the verdict is compared, too."""


def asked(qrels: str, runs: list[str], labels: str, samples: dict[str, str], few: bool) -> Iterator[list[str]]:
    """List the commands on one collection."""
    every = [part for name in MEASURES for part in ("-m", name)]
    some = [part for name in COMPARED for part in ("-m", name)]
    pair = runs[:2]
    yield ["evaluate", qrels, *runs, *every, "--interval"]
    yield ["evaluate", qrels, *runs[:5], *every, "-q"]
    yield ["evaluate", qrels, *runs, *every, "--bounds", "both"]
    for ties in ("expected", "best", "worst", "docid"):
        yield ["evaluate", qrels, *runs[:5], *(every[:-2] if ties == "expected" else every), "--ties", ties]
    yield ["evaluate", qrels, *runs[:5], *every, "--unjudged", "condensed"]
    yield ["compare", qrels, *pair, *some]
    yield ["compare", qrels, *runs, *some]
    yield ["compare", qrels, *runs[:4], *some, "--test", "randomization", "--seed", "1"]
    yield ["compare", qrels, *runs[:4], *some, "--correction", "none", "--bounds", "both"]
    for q in ("0.1", "logistic") if few else ("0.1",):
        yield ["uncertainty", qrels, *runs[:4], "-m", "RBP(p=0.8)", "-m", "nDCG@10", "--q", q, "--seed", "1"]
    yield ["uncertainty", qrels, *runs[:6], "-m", "RBP(p=0.8)", "--seed", "1"]
    yield ["judge-next", qrels, *runs[:6], "-m", "RBP(p=0.8)", "--budget", "50"]
    yield ["judge-next", qrels, f"one={pair[0]}", f"two={pair[1]}", "--compare", "one", "two", "-m", "RBP(p=0.8)"]
    for measure, sample in samples.items():
        yield ["audit", labels, sample, *runs[:4], "-m", measure]
        yield ["audit", labels, sample, *runs[:4], "-m", measure, "--difference"]


def numbers(answer: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the rows of a JSON answer, by the words that name them."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    seen: Counter[tuple[str, ...]] = Counter()

    def walk(part: Any, place: tuple[str, ...]) -> None:
        if isinstance(part, list):
            for one in part:
                walk(one, place)
        elif isinstance(part, dict):
            key = (*place, *(str(part[word]) for word in WORDS if isinstance(part.get(word), str)))
            seen[key] += 1
            rows[(*key, str(seen[key]))] = {n: v for n, v in part.items() if v is None or isinstance(v, int | float)}
            for name, one in part.items():
                if isinstance(one, list | dict) and name not in ("settings", "versions"):
                    walk(one, (*place, name))

    walk(json.loads(answer), ())
    return rows


def run(program: str, arguments: list[str], folder: Path) -> str:
    """Return what a command prints, or why it failed."""
    done = subprocess.run(
        [program, *arguments, "--format", "json"], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else json.dumps({"failed": done.stderr[-300:]})


def differences(old: str, new: str) -> tuple[int, dict[str, list[float]]]:
    """Count the numbers of the old answer, and return what differs in the new one by the name of the column."""
    before, after = numbers(old), numbers(new)
    found: dict[str, list[float]] = defaultdict(list)
    for failed in (json.loads(one) for one in (old, new)):
        if isinstance(failed, dict) and "failed" in failed:
            found["failed: " + failed["failed"]].append(math.inf)
    for key, row in before.items():
        other = after.get(key)
        if other is None:
            found["a row that is gone: " + " ".join(key)].append(math.inf)
            continue
        for name, value in row.items():
            if name not in other:
                found[name + " (gone)"].append(math.inf)
            elif value != other[name] and not (value is None and other[name] is None):
                known = value is not None and other[name] is not None
                apart = abs(value - other[name]) if known else math.inf
                if apart > ROUNDING * max(1.0, abs(value or 0.0)):
                    found[name].append(apart)
    for key in after.keys() - before.keys():
        found["a row that is new: " + " ".join(key)].append(math.inf)
    return sum(map(len, before.values())), found


def prepare(program: str, folder: Path, qrels: Path, runs: list[str]) -> tuple[str, dict[str, str]]:
    """Write labels that err now and then, and by measure a sample of them that the collection's judges judged."""
    labels, samples, truth = folder / "labels.qrels", {}, {}
    with labels.open("w") as out:
        for at, line in enumerate(qrels.read_text().splitlines()):
            query, zero, doc, grade = line.split()
            truth[query, doc] = grade
            flipped = 1 - min(max(int(grade), 0), 1) if at % 7 == 0 else grade
            out.write(f"{query} {zero} {doc} {flipped}\n")
    for number, measure in enumerate(AUDITED):
        drawn, judged = folder / f"drawn{number}.csv", folder / f"judged{number}.csv"
        command = [program, "sample", str(labels), *runs[:4], "--budget", "200", "-m", measure, "-o", str(drawn)]
        subprocess.run(command, check=True, capture_output=True)
        with drawn.open(newline="") as rows, judged.open("w", newline="") as out_file:
            reader = csv.DictReader(rows)
            table = csv.DictWriter(out_file, reader.fieldnames or ())
            table.writeheader()
            table.writerows(row | {"relevance": truth[row["query_id"], row["doc_id"]]} for row in reader)
        samples[measure] = str(judged)
    return str(labels), samples


def main() -> int:
    """Compare two programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old"), parser.add_argument("new")
    parser.add_argument("--collection", action="append", default=[], metavar="NAME=FOLDER")
    options = parser.parse_args()
    old, new = (str(Path(program).absolute()) for program in (options.old, options.new))
    total, different = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        demo = Path(scratch) / "demo"
        subprocess.run([new, "demo", "--write", str(demo)], check=True, capture_output=True)
        collections = [("demo", demo), *((n, Path(f)) for n, f in (one.split("=", 1) for one in options.collection))]
        for name, folder in collections:
            qrels = (folder / "qrels.txt").absolute()
            inside = next(one for one in sorted(folder.iterdir()) if one.is_dir() and "runs" in one.name)
            runs = [str(path.absolute()) for path in sorted(inside.iterdir())[:20]]
            (Path(scratch) / name).mkdir(exist_ok=True)
            labels, samples = prepare(old, Path(scratch) / name, qrels, runs)
            for arguments in asked(str(qrels), runs, labels, samples, few=name == "demo"):
                count, found = differences(*(run(program, arguments, Path(scratch)) for program in (old, new)))
                total += count
                different += sum(map(len, found.values()))
                shown = [Path(one).name if "/" in one else one for one in arguments]
                words = shown if len(shown) < 14 else [*shown[:12], "..."]
                print(f"{name}: {' '.join(words)}: {count} numbers, {sum(map(len, found.values()))} differ", flush=True)
                for column, sizes in sorted(found.items()):
                    print(f"    {column}: {len(sizes)}, by {max(sizes):.3g} at most")
    print(f"{total} numbers, {different} differences")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
