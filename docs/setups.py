"""The files that pages work on, made before their blocks run; ``setups`` in what a page does not show."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import rankbounds

Grades = Mapping[str, Mapping[str, float]]


def _write(name: str, lines: list[str]) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, ""]))


def _numbered(qrels: Grades) -> list[tuple[str, int, str, int]]:
    """Every judgment with the place of its document in the topic."""
    return [(q, n, doc, int(grade)) for q, docs in qrels.items() for n, (doc, grade) in enumerate(docs.items())]


def _best_first(docs: Mapping[str, float]) -> list[str]:
    return sorted(docs, key=lambda doc: -docs[doc])[:10]


def rows_of_ids(qrels: Grades, runs: Mapping[str, Grades]) -> None:
    """Files of rows with retrieved and expected ids."""
    expected = {query: [doc for doc, grade in docs.items() if grade > 0] for query, docs in qrels.items()}
    for name in ("bm25", "dense"):
        _write(
            f"{name}.jsonl",
            [
                json.dumps({"question": q, "retrieved_ids": _best_first(runs[name].get(q, {})), "expected_ids": ids})
                for q, ids in expected.items()
                if ids
            ],
        )


def searches() -> tuple[dict[str, list[str]], list[dict[str, object]], dict[str, list[str]], dict[str, list[str]]]:
    """Evidence of questions, a log of an agent's searches, and what two agents found."""
    rng = random.Random(3)
    evidence = {f"q{n}": [f"gold{n}-{part}" for part in range(rng.randint(1, 4))] for n in range(40)}

    def draw(question: str, skill: float) -> list[str]:
        drawn = rng.sample(evidence[question] * 3, 3)
        return [doc if rng.random() < skill else f"other{rng.randint(1, 900)}" for doc in drawn]

    turns = range(1, 5)
    found = {(q, turn): draw(q, 0.15 + 0.1 * turn) for q in evidence for turn in turns}
    log: list[dict[str, object]] = [{"question": q, "turn": turn, "docs": docs} for (q, turn), docs in found.items()]
    first = {q: [doc for turn in turns for doc in found[q, turn]] for q in evidence}
    careful = {q: [doc for _ in turns for doc in draw(q, 0.45)] for q in evidence}
    return evidence, log, first, careful


def beir(qrels: Grades, **runs: Grades) -> None:
    """One collection in BEIR's files, and a folder of three."""
    rows = [f"{query}\t{doc}\t{grade}" for query, _, doc, grade in _numbered(qrels)]
    header = "query-id\tcorpus-id\tscore"
    _write("qrels/test.tsv", [header, *rows])
    for name, run in runs.items():
        _write(f"{name}.json", [json.dumps(run)])
    for collection in ("scifact", "nfcorpus", "arguana"):
        chosen = [row for row in rows if len(row) % 3 != len(collection) % 3]
        _write(f"beir/{collection}/qrels/test.tsv", [header, *chosen])
        for name, run in runs.items():
            _write(f"beir/{collection}/runs/{name}.json", [json.dumps(run)])


def rank_eval(qrels: Grades, **runs: Grades) -> None:
    """A request of ``_rank_eval``, its responses, and ratings in a table."""
    ratings = [
        {
            "id": q,
            "request": {},
            "ratings": [{"_index": "i", "_id": doc, "rating": int(grade)} for doc, grade in docs.items()],
        }
        for q, docs in qrels.items()
    ]
    _write("request.json", [json.dumps({"requests": ratings, "metric": {"dcg": {"k": 10}}})])
    for name, run in runs.items():
        hits = {
            q: {"hits": [{"hit": {"_index": "i", "_id": doc, "_score": docs[doc]}} for doc in _best_first(docs)]}
            for q, docs in run.items()
        }
        _write(f"{name}.json", [json.dumps({"metric_score": 0.5, "details": hits})])
    _write("ratings.csv", ["query,docid,rating", *(f"{q},{doc},{grade}" for q, _, doc, grade in _numbered(qrels))])


def judgments_of_several_kinds(qrels: Grades) -> None:
    """Judgments by subtopic, by stratum and by assessor, and preferences."""
    rows = _numbered(qrels)
    _write("web.qrels", [f"{q} {1 + n % 3} {doc} {int(grade > 0)}" for q, n, doc, grade in rows])
    _write(
        "sample.qrels",
        [f"{q} 0 {doc} {1 + n % 2} {int(grade > 0) if n % 2 == 0 or n % 3 == 0 else -1}" for q, n, doc, grade in rows],
    )
    judges = list(enumerate(("ann", "bob")))
    _write(
        "judges.qrels",
        [f"{q} {judge} {doc} {max(0, grade - (n + at) % 2)}" for q, n, doc, grade in rows for at, judge in judges],
    )
    _write("prefs.txt", [f"{q} ann {n // 5} {doc} {grade}" for q, n, doc, grade in rows])


def _run(name: str, lists: Mapping[str, str], file: str) -> None:
    """A run of lists ``document=score ...`` by topic."""
    rows = [(q, rank, *one.split("=")) for q, text in lists.items() for rank, one in enumerate(text.split(), 1)]
    _write(file, [f"{q} Q0 {doc} {rank} {score} {name}" for q, rank, doc, score in rows])


def _qrels(judged: Mapping[str, str]) -> None:
    rows = [(q, *one.split("=")) for q, text in judged.items() for one in text.split()]
    _write("qrels.txt", [f"{q} 0 {doc} {grade}" for q, doc, grade in rows])


def ties() -> None:
    """Three runs over two topics: one exact, one rounded, one with errors."""
    shutil.rmtree("runs")
    _qrels({"401": "FT-1=1 FT-2=0 FT-3=0", "402": "LA-1=1 LA-2=0 LA-3=1"})
    _run("exact", {"401": "FT-1=0.9 FT-2=0.8 FT-3=0.7", "402": "LA-1=0.9 LA-2=0.4"}, "runs/exact.txt")
    _run("rounded", {"401": "FT-2=1 FT-1=1 FT-3=0", "402": "LA-3=1 LA-2=1 LA-1=1"}, "runs/rounded.txt")
    _run("sloppy", {"401": "FT-1=5.0 FT-3=4.2e-05 FT-2=3.0", "402": "LA-1=2.0 LA-1=1.0 LA-2=high"}, "runs/sloppy.txt")


def demo_again() -> None:
    """The demo collection, where a page had files of its own."""
    shutil.copy("demo/qrels.txt", "qrels.txt")
    shutil.rmtree("runs")
    shutil.copytree("demo/runs", "runs")


def old_and_new() -> None:
    """An old system that helped to choose what is judged, and a new one."""
    _qrels({"1": "a=1 b=0 c=1 d=0", "2": "a=1 f=0 g=1"})
    _run("old", {"1": "a=9 b=8 c=7 d=6", "2": "a=9 f=8 g=7"}, "old.txt")
    _run("new", {"1": "x=9 a=8 y=7 c=6", "2": "z=9 a=8 g=7 f=6"}, "new.txt")


def list_of_20() -> None:
    """A list of 20, relevant at ranks 1, 2, 6 and 11 and unjudged at 13, 14 and 17; and the same in another order."""
    numbers = [f"{number:02d}" for number in range(1, 21)]
    _qrels(
        {"1": " ".join(f"d{n}={int(n in ('01', '02', '06', '11'))}" for n in numbers if n not in ("13", "14", "17"))}
    )
    _run("paper", {"1": " ".join(f"d{n}={100 - int(n)}" for n in numbers)}, "run.txt")
    order = [1, 3, 2, 6, 4, 11, 5, *range(7, 11), *range(12, 21)]
    _run("other", {"1": " ".join(f"d{n:02d}={99 - at}" for at, n in enumerate(order))}, "other.txt")
    _write("sessions.csv", ["rank,sessions", "1,412", "2,236", "3,141", "4,78", "5,52", "6+,81"])


def needs_and_turns(qrels: Grades, runs: Mapping[str, Grades]) -> None:
    """Three queries to each information need, in a table; and as turns of a conversation, by their ids."""

    def turn(query: str) -> str:
        return f"{int(query) // 3}_{int(query) % 3}"

    _write("needs.csv", ["query_id,need", *(f"{query},{int(query) // 3}" for query in qrels)])
    _write("turns.txt", [f"{turn(q)} 0 {doc} {grade}" for q, _, doc, grade in _numbered(qrels)])
    for name, file in (("bm25", "first.txt"), ("dense", "second.txt")):
        _run(name, {turn(q): " ".join(f"{d}={docs[d]}" for d in docs) for q, docs in runs[name].items()}, file)


def slices_collections_reruns() -> None:
    """Classes of queries, two collections in several layouts, and reruns of three systems and of a judge."""
    shutil.copy("demo/classes.csv", "classes.csv")
    lists = {name: Path(f"runs/{name}.txt").read_text().splitlines() for name in ("bm25", "dense", "learned")}
    judged = Path("qrels.txt").read_text().splitlines()
    for name in ("bm25", "dense"):
        _write(f"{name}.run", lists[name])
        scores = rankbounds.evaluate("qrels.txt", f"runs/{name}.txt", "AP", bounds="none")
        by_topic = {
            f"{'web' if int(row['query_id']) % 2 else 'news'}/{row['query_id']}": row["value"] for row in scores
        }
        _write(f"prefixed/{name}.json", [json.dumps({query: {"map": value} for query, value in by_topic.items()})])
    for name, lines in lists.items():
        for n in (1, 2, 3):
            kept = [line.rsplit(" ", 1)[0] for at, line in enumerate(lines, 1) if at % 7 != n]
            _write(f"reruns/{name}.{n}.txt", [f"{line} {name}#{n}" for line in kept])
            if name == "bm25" and n < 3:
                _write(f"seeds/{n}.txt", [f"{line} {name}-seed{n}" for line in kept])
    for copy, source in (("r1", "bm25.1"), ("r2", "bm25.2"), ("r3", "dense.1")):
        shutil.copy(f"reruns/{source}.txt", f"{copy}.txt")
    for place in ("data/web", "data/news", "beir/web", "beir/news", "beir/science"):
        _write(f"{place}/qrels.txt", judged if place != "beir/web" else [x for x in judged if int(x.split()[0]) > 8])
        shutil.copytree("runs", f"{place}/runs")
    rows = [f"{place},data/{place}/qrels.txt,data/{place}/runs" for place in ("web", "news")]
    _write("manifest.csv", ["collection,qrels,runs", *rows])


def labels_and_tables(qrels: Grades, run: Grades) -> None:
    """Labels of people and of a model, the demo's files in other formats, and a run with an error in line 17."""
    people = _numbered(qrels)
    by_source = [f"{q},{doc},{grade},human" for q, _, doc, grade in people[::2]]
    by_source += [f"{q},{doc},{g if n % 10 else 2 - g},llm" for n, (q, _, doc, g) in enumerate(people)]
    header = "query_id,doc_id,relevance,source"
    _write("labels.csv", [header, *by_source])
    _write("both.csv", [header, "q1,a,1,human", "q1,a,0,llm"])
    _write("qrels.tsv", ["query_id\tdoc_id\trelevance", *(f"{q}\t{doc}\t{grade}" for q, _, doc, grade in people)])
    _write("run.json", [json.dumps(run)])
    lines = Path("run.txt").read_text().splitlines()
    _write("chunks.txt", lines)
    docs = sorted({line.split()[2] for line in lines})
    _write("groups.txt", [" ".join(docs[:2])])
    _write("tokens.csv", ["doc_id,tokens", *(f"{doc},{100 + 20 * (n % 10)}" for n, doc in enumerate(docs))])
    fields = lines[16].split()
    _write("no-number.txt", [*lines[:16], " ".join([*fields[:4], "nan", *fields[5:]]), *lines[17:]])


def labels_of_models(qrels: Grades) -> tuple[Grades, Callable[[str, str], float]]:
    """Labels of a good and of a poor model; returns those of the good one, and who knows better."""
    rng = random.Random(0)

    def labelled(error: float) -> Grades:
        return {
            q: {doc: grade if rng.random() > error else 2 - grade for doc, grade in docs.items()}
            for q, docs in qrels.items()
        }

    strong, weak = labelled(0.1), labelled(0.3)
    files = {"human": qrels, "llm": strong, "gpt4": strong, "llama": weak, "gpt#1": strong}
    for name, labels in {**files, "gpt#2": labelled(0.1), "gpt#3": labelled(0.1)}.items():
        _write(f"{name}.qrels", [f"{q} 0 {doc} {grade}" for q, _, doc, grade in _numbered(labels)])
    for name, labels in (("a", strong), ("b", weak)):
        rows = [f"{q},{doc},{grade}" for q, _, doc, grade in _numbered(labels)]
        _write(f"labels/{name}.csv", ["query_id,doc_id,relevance", *rows])
    people = [f"{q},{doc},{grade},human" for q, _, doc, grade in _numbered(qrels)[::2]]
    model = [f"{q},{doc},{grade},llm" for q, _, doc, grade in _numbered(strong)]
    _write("labels.csv", ["query_id,doc_id,relevance,source", *people, *model])
    return strong, lambda query, document: qrels[query][document]


def judged_by_people(qrels: Grades) -> None:
    """What people say of the documents of a sample."""
    pairs = [(line.split()[0], line.split()[2]) for line in Path("judged.qrels").read_text().splitlines()]
    _write("judged.qrels", [f"{q} 0 {doc} {int(qrels[q][doc])}" for q, doc in pairs if doc in qrels[q]])


def submissions() -> None:
    """A file of topics, and three runs: good, with errors, and in another order."""
    lists = {name: Path(f"runs/{name}.txt").read_text().splitlines() for name in ("bm25", "dense", "reranked")}
    topics = {line.split()[0] for line in Path("qrels.txt").read_text().splitlines()}
    _write("topics.txt", sorted(topics, key=int))
    rows = [line.split() for line in lists["dense"]]
    rows[59][4], rows[89][2] = "nan", rows[88][2]
    lists["dense"] = [" ".join(row) for row in rows if row[0] != "7"]
    lists["reranked"].sort(key=lambda line: line.split()[2], reverse=True)
    lists["reranked"].sort(key=lambda line: (int(line.split()[0]), -float(line.split()[4])))
    for name, lines in lists.items():
        _write(f"submissions/{name}.txt", lines)
