"""Make the golden collection again; with the path of a trec_eval, its tables too.

    python tests/golden/make.py                      # qrels, runs and odd files
    python tests/golden/make.py --trec-eval PATH     # and what trec_eval prints for them

Nothing here comes from elsewhere, and nothing depends on the version of Python: of its generator of random numbers only
``random()`` is used, whose sequence is promised never to change.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent

TOPICS = {
    # topic: (documents, share that nobody pooled, share pooled and not judged, share relevant of those judged)
    "9": (130, 0.1, 0.05, 0.4),
    "10": (140, 0.7, 0.1, 0.5),
    "100": (125, 0.2, 0.5, 0.3),
    "20": (14, 0.3, 0.1, 0.5),
    "020": (12, 0.0, 0.0, 0.5),  # all judged; and neither "20" nor "2e1", though as numbers they are the same
    "2e1": (60, 0.3, 0.1, 0.0),  # one document alone is relevant, see below
    "Ü-話題": (40, 0.3, 0.1, 0.5),
    "none-relevant": (30, 0.3, 0.1, 0.0),
    "none-judged": (20, 0.3, 1.0, 0.0),
    "none-pooled": (20, 1.0, 0.0, 0.0),  # what is judged, no run has
    "no-run": (15, 0.0, 0.1, 0.5),
    "no-judgments": (15, 1.0, 0.0, 0.0),
}
LISTS = {
    # run: how long its list for each topic is; 0: it lacks the topic
    "spread": dict(zip(TOPICS, (120, 101, 100, 10, 12, 40, 30, 20, 12, 12, 0, 15), strict=True)),
    "tied": dict(zip(TOPICS, (115, 100, 101, 11, 9, 50, 35, 25, 15, 10, 0, 10), strict=True)),
    "flat": dict(zip(TOPICS, (99, 0, 110, 14, 10, 30, 0, 10, 0, 5, 0, 5), strict=True)),
    "close": dict(zip(TOPICS, (60, 130, 105, 12, 11, 60, 21, 15, 10, 15, 0, 0), strict=True)),
    "signs": dict(zip(TOPICS, (30, 9, 31, 5, 1, 10, 19, 4, 3, 2, 0, 3), strict=True)),
}

Judgments = dict[str, dict[str, int]]
Ranked = dict[str, list[str]]


def document(number: int) -> str:
    """Ids that are hard to tell apart or to sort: bare digits, capitals, Unicode, the start of another, long ones."""
    if number % 17 == 0:
        return f"https://example.org/a/path/that/is/longer/than/any/word/of/a/machine/{number}"
    return (str(number), f"D-{number}", f"d-{number:03d}", f"文書{number}", f"É{number}", f"e{number}😀")[number % 6]


def shuffled(things: Iterable[str], random: Random) -> list[str]:
    """The things in an order that is the same on every machine."""
    return [thing for _, thing in sorted((random.random(), thing) for thing in things)]


def judgments() -> Judgments:
    """Grades from 0 to 3, -1 for pooled and not judged; what nobody pooled is missing."""
    random, found = Random(9), Judgments()
    for topic, (documents, unpooled, unjudged, relevant) in TOPICS.items():
        found[topic] = {}
        for number in range(1, documents + 1):
            if random.random() < unpooled:
                continue
            if random.random() < unjudged:
                grade = -1
            else:  # documents with low numbers are the better ones
                grade = int(random.random() < relevant * 2 * (1 - number / documents)) * (1 + int(random.random() * 3))
            found[topic][document(number)] = grade
    found["2e1"]["D-7"] = 2
    found["none-pooled"] = {"elsewhere": 3, "nowhere": 1, "never": 0}
    del found["no-judgments"]
    return found


def with_lower_negatives(grades: Judgments) -> Judgments:
    """Every third document that was judged 0 has a negative grade below -1, as for spam."""
    found: Judgments = {}
    seen = 0
    for topic, documents in grades.items():
        found[topic] = {}
        for name, grade in documents.items():
            seen += grade == 0
            found[topic][name] = (-2, -3, -7)[seen % 9 // 3] if grade == 0 and seen % 3 == 0 else grade
    return found


def rankings(seed: int, lengths: dict[str, int]) -> Ranked:
    """For each topic some of its documents, the better ones more often near the top."""
    random, found = Random(seed), Ranked()
    for topic, length in lengths.items():
        if length:
            keys = sorted((number + random.random() * 60, number) for number in range(1, TOPICS[topic][0] + 1))
            found[topic] = [document(number) for _, number in keys[:length]]
    return found


def spread(length: int) -> list[str]:
    """No two scores are the same."""
    return [f"{20 - 0.15 * rank:.4f}" for rank in range(length)]


def tied(length: int) -> list[str]:
    """Groups of 1 to 40 tied documents, across every depth at which something is cut."""
    sizes = (1, 2, 3, 5, 1, 6, 4, 9, 40, 2, 26, 16)
    return [str(100 - group) for group, size in enumerate(sizes) for _ in range(size)][:length]


def flat(length: int) -> list[str]:
    """All the same."""
    return ["1"] * length


def close(length: int) -> list[str]:
    """Apart in double precision alone; here and there two ways to write the same double."""
    scores = [repr(1 + (length - rank) * 2**-45) for rank in range(length)]
    scores[:2] = ["16777217", "16777216"]
    scores[-2:] = ["0.1", "0.1000000000000000055"]
    return scores


def signs(length: int) -> list[str]:
    """Every way to write a number, and zeros with both signs."""
    written = (
        "1.7976931348623157e308 1E+22 +3e2 300 12. 1.5 .5 5e-1 0.25E0 1e-9 1e-320 0 -0 0e5 -0.0 -1e-9 -.5 -5E-1 -7"
    )
    return (written.split() + [f"-{rank}e1" for rank in range(1, length)])[:length]


SCORES: dict[str, Callable[[int], list[str]]] = {
    "spread": spread,
    "tied": tied,
    "flat": flat,
    "close": close,
    "signs": signs,
}


def qrels_lines(grades: Judgments) -> Iterator[str]:
    """The lines of a file of judgments."""
    for topic, documents in grades.items():
        for name, grade in documents.items():
            yield f"{topic} 0 {name} {grade}"


def run_lines(name: str, seed: int) -> list[str]:
    """The lines of a run, in an order that is not that of its scores, with ranks that contradict them."""
    lines = []
    for topic, names in rankings(seed, LISTS[name]).items():
        for score, one in zip(SCORES[name](len(names)), names, strict=True):
            lines.append((f"{topic} Q0 {one}", f"{score} {name}"))
    random = Random(-seed)
    keyed = sorted((random.random(), *line) for line in lines)
    return [f"{first} {rank} {last}" for rank, (_, first, last) in enumerate(keyed, 1)]


def odd_files(qrels: list[str], run: list[str]) -> dict[str, bytes]:
    """The same judgments and the same run written oddly, and files with one line that is wrong."""

    def written(lines: Iterable[str], end: str = "\n") -> bytes:
        return "".join(line + end for line in lines).encode()

    def with_line(number: int, line: str) -> bytes:
        return written([*run[: number - 1], line, *run[number:]])

    def with_judgment(number: int, line: str) -> bytes:
        return written([*qrels[: number - 1], line, *qrels[number:]])

    fields = run[11].split()
    topic, zero, name, _ = qrels[11].split()
    blanks = ("  ", "\t ", " \t", "   ")
    return {
        "crlf.qrels": written(qrels, "\r\n"),
        "crlf.run": written(run, "\r\n"),
        "tabs.qrels": written(line.replace(" ", "\t") for line in qrels),
        "tabs.run": written(line.replace(" ", "\t") for line in run),
        "blanks.qrels": written(f"  {blanks[i % 4].join(line.split())} \t" for i, line in enumerate(qrels)),
        "blanks.run": written(f"\t{blanks[i % 4].join(line.split())}  " for i, line in enumerate(run)),
        "bom.qrels": b"\xef\xbb\xbf" + written(qrels),
        "bom.run": b"\xef\xbb\xbf" + written(run),
        "blank-lines.qrels": b"\n" + written(qrels, "\n\n") + b" \t\n",
        "blank-lines.run": b"\n" + written(run, "\n\n") + b" \t\n",
        "comments.qrels": b"# judged by nobody\n" + written(qrels),
        "comments.run": b"# 1 2 3 4 5 6\n" + written(run),
        "no-end.qrels": written(qrels)[:-1],
        "no-end.run": written(run)[:-1],
        "repeated-document.run": with_line(12, run[4]),
        "score-missing.run": with_line(12, " ".join(fields[:4])),
        "score-a-word.run": with_line(12, " ".join([*fields[:4], "high", fields[5]])),
        "score-nan.run": with_line(12, " ".join([*fields[:4], "nan", fields[5]])),
        "score-infinite.run": with_line(12, " ".join([*fields[:4], "-inf", fields[5]])),
        "score-with-comma.run": with_line(12, " ".join([*fields[:4], "1,5", fields[5]])),
        "seven-fields.run": with_line(12, run[11] + " more"),
        "repeated-judgment.qrels": with_judgment(12, f"{qrels[3].rsplit(' ', 1)[0]} 1"),
        "grade-missing.qrels": with_judgment(12, f"{topic} {zero} {name}"),
        "grade-a-word.qrels": with_judgment(12, f"{topic} {zero} {name} good"),
        "five-fields.qrels": with_judgment(12, f"{qrels[11]} more"),
    }


def collection() -> dict[str, bytes]:
    """Every file by its name."""
    graded = judgments()
    binary = {topic: {name: min(grade, 1) for name, grade in names.items()} for topic, names in graded.items()}
    files = {
        f"{name}.qrels": list(qrels_lines(grades))
        for name, grades in (("graded", graded), ("binary", binary), ("negatives", with_lower_negatives(graded)))
    }
    files |= {f"{name}.run": run_lines(name, seed) for seed, name in enumerate(LISTS, 1)}
    plain = {name: "".join(f"{line}\n" for line in lines).encode() for name, lines in files.items()}
    short = [line for line in files["graded.qrels"] if line.split()[0] in ("20", "020")]
    odd = odd_files(short, [line for line in files["tied.run"] if line.split()[0] in ("20", "020")])
    return plain | {f"odd/{name}": content for name, content in odd.items()}


TABLES = {
    # table: (options, judgments, runs)
    "graded": ("-q -c -m all_trec", "graded", tuple(LISTS)),
    "binary": ("-q -c -m all_trec", "binary", tuple(LISTS)),
    "graded-level-2": ("-q -c -l 2 -m all_trec", "graded", ("tied", "flat")),
    "graded-first-10": ("-q -c -M 10 -m all_trec", "graded", ("tied", "signs")),
    "graded-judged-only": ("-q -c -J -m all_trec", "graded", ("tied", "close")),
    "graded-shared": ("-m all_trec", "graded", tuple(LISTS)),
    "negatives": ("-q -c -m official -m infAP -m ndcg -m unj", "negatives", ("spread", "tied")),
}


def table(trec_eval: str, name: str) -> str:
    """What trec_eval prints, a line for each run and measure, a column for each topic."""
    options, qrels, runs = TABLES[name]
    values: dict[tuple[str, str], dict[str, str]] = {}
    for run in runs:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".qrels") as kept:
            path = HERE / f"{qrels}.qrels"
            if "-c" not in options.split():  # this version ends with an error where a run lacks a judged topic
                topics = {line.split()[0] for line in (HERE / f"{run}.run").read_text("utf-8").splitlines()}
                lines = path.read_text("utf-8").splitlines(keepends=True)
                kept.write("".join(line for line in lines if line.split()[0] in topics))
                kept.flush()
                path = Path(kept.name)
            command = [trec_eval, *options.split(), str(path), str(HERE / f"{run}.run")]
            printed = subprocess.run(command, check=True, capture_output=True).stdout.decode()
        for line in printed.splitlines():
            measure, topic, value = (part.strip() for part in line.split("\t"))
            values.setdefault((run, measure), {})[topic] = value
    columns = [*dict.fromkeys(topic for row in values.values() for topic in row if topic != "all"), "all"]
    judged = f"{qrels}.qrels" if "-c" in options.split() else f"TOPICS-OF-RUN-IN-{qrels}.qrels"
    lines = [f"# trec_eval {options} {judged} RUN.run", "\t".join(("run", "measure", *columns))]
    lines += ["\t".join((*key, *(row.get(topic, "") for topic in columns))) for key, row in values.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write everything."""
    parser = argparse.ArgumentParser(description="Make the golden collection again.")
    parser.add_argument("--trec-eval", metavar="PATH", help="write trec_eval's tables too, with this program")
    chosen = parser.parse_args()
    for name, content in collection().items():
        (HERE / name).parent.mkdir(exist_ok=True)
        (HERE / name).write_bytes(content)
    if chosen.trec_eval:
        (HERE / "trec_eval").mkdir(exist_ok=True)
        for name in TABLES:
            (HERE / "trec_eval" / f"{name}.tsv").write_bytes(table(chosen.trec_eval, name).encode())


if __name__ == "__main__":
    main()
