"""Quirks of other tools: each is made by a slow plain definition, and has to be named."""

from __future__ import annotations

import json
import random

import pytest
from test_explanation import average_precision, made, mean, ndcg, over, precision, ranked, shared

import rankbounds as rb
from rankbounds.checking.explanation import explain
from rankbounds.checking.quirks import quirks
from rankbounds.cli import main
from rankbounds.collection.inputs import as_run
from rankbounds.collection.qrels import as_qrels

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


def lines_of(name, qrels, run, score, digits=6):
    """By topic and in the mean, as a tool with -q prints them."""
    values = {query: score(ranked(run.get(query, {})), grades) for query, grades in qrels.items()}
    return {(name, query): f"{value:.{digits}f}" for query, value in {**values, "all": mean(values.values())}.items()}


def best_chunks(scores):
    best = {}
    for chunk, score in scores.items():
        doc = chunk.rpartition("#")[0]
        best[doc] = max(score, best.get(doc, score))
    return best


class TestReasons:
    """``(measure, made how) -> switch and the start of the reason``, for single quirks."""

    def expect(self, qrels, run, printed, why, switch):
        (found,) = explain(qrels, run, printed)
        assert found.equal < found.lines, "the quirk makes no difference here"
        assert found.why.startswith(why), found
        assert found.switch == switch
        assert found.changes == 1
        return found

    @pytest.mark.parametrize("seed", range(3))
    def test_ideal_of_retrieved_documents(self, seed):
        qrels, run = made(seed)
        printed = lines_of("ndcg", qrels, run, lambda docs, grades: ndcg(docs, grades, ideal_of=docs))
        self.expect(qrels, run, printed, "ideal: relevant documents that the run did not retrieve", "")
        printed = lines_of("ndcg@10", qrels, run, lambda docs, grades: ndcg(docs, grades, 10, ideal_of=docs))
        self.expect(qrels, run, printed, "ideal: relevant documents that the run did not retrieve", "")
        printed = lines_of("ndcg@10", qrels, run, lambda docs, grades: ndcg(docs, grades, 10, ideal_of=docs[:10]))
        self.expect(qrels, run, printed, "ideal: relevant documents that are not among the first 10", "")

    def test_average_precision_by_the_relevant_documents_of_the_list(self):
        qrels, run = made()
        of_list = lambda docs, grades: average_precision(docs, grades, divisor=lambda _, hits: hits)  # noqa: E731
        self.expect(qrels, run, lines_of("AP", qrels, run, of_list), "ideal: relevant documents that the run did", "")
        at_most = lambda docs, grades: average_precision(docs, grades, 10, divisor=lambda r, _: min(10, r))  # noqa: E731
        self.expect(qrels, run, lines_of("map@10", qrels, run, at_most), "ideal: divided by 10 where", "")

    def test_queries_without_results_dropped(self):
        qrels, run = made()
        del run["q2"]
        printed = {("nDCG@10", "all"): f"{over(shared(qrels, run), run, lambda d, g: ndcg(d, g, 10)):.6f}"}
        self.expect(qrels, run, printed, "missing topics", "--topics shared")

    def test_topics_without_relevant_documents_dropped(self):
        qrels, run = made()
        qrels["q1"] = dict.fromkeys(qrels["q1"], 0)
        kept = {query: grades for query, grades in qrels.items() if any(grades.values())}
        printed = {("AP", "all"): f"{over(kept, run, average_precision):.6f}"}
        self.expect(qrels, run, printed, "empty topics", "")

    def test_unjudged_topics_as_zero(self):
        qrels, run = made()
        del qrels["q1"]
        total = sum(average_precision(ranked(run[query]), qrels.get(query, {})) for query in run)
        self.expect(qrels, run, {("AP", "all"): f"{total / len(run):.6f}"}, "unjudged topics: 1 of the run's", "")

    def test_duplicates(self, tmp_path):
        qrels, run = made()
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        rows += [(query, ranked(docs)[2], 0.5) for query, docs in run.items()]
        rows += [(query, ranked(docs)[5], 100.0) for query, docs in run.items()]
        path = tmp_path / "run"
        path.write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows))
        lists = {query: [] for query in run}
        for query, doc, _ in sorted(rows, key=lambda row: (row[2], row[1]), reverse=True):
            lists[query].append(doc)
        each = {("P@10", query): f"{precision(lists[query], grades, 10):.6f}" for query, grades in qrels.items()}
        found = self.expect(qrels, path, each, "duplicates: all lines of repeated documents were counted (14 more)", "")
        assert found.lines == len(qrels)
        last = {}
        for query, doc, score in rows:
            last.setdefault(query, {})[doc] = score
        printed = lines_of("AP", qrels, last, average_precision)
        self.expect(
            qrels, path, printed, "duplicates: the last line of each repeated document was taken (14 left out)", ""
        )

    def test_self_matches_dropped(self):
        qrels, run = made(itself=True)
        without = {query: {doc: s for doc, s in docs.items() if doc != query} for query, docs in run.items()}
        printed = lines_of("ndcg_at_10", qrels, without, lambda docs, grades: ndcg(docs, grades, 10))
        self.expect(qrels, run, printed, "self-matches", "--drop-self")

    def test_chunks(self):
        qrels, run = made(chunks=True)
        best = {query: best_chunks(docs) for query, docs in run.items()}
        printed = lines_of("nDCG@10", qrels, best, lambda docs, grades: ndcg(docs, grades, 10))
        self.expect(qrels, run, printed, 'chunks: ids were cut at the last "#", and each', "--documents-of '#'")
        cut = lambda docs, grades: precision([doc.rpartition("#")[0] for doc in docs], grades, 10)  # noqa: E731
        self.expect(
            qrels, run, lines_of("P@10", qrels, run, cut), 'chunks: ids were cut at the last "#", and every', ""
        )

    def test_gains(self):
        qrels, run = made()
        exponential = lambda docs, grades: ndcg(docs, grades, 10, gain=lambda grade: 2**grade - 1)  # noqa: E731
        self.expect(
            qrels, run, lines_of("nDCG@10", qrels, run, exponential), "gains: 2^grade - 1", "-m 'nDCG(gain=exp)@10'"
        )
        linear = lines_of("ndcg_burges@10", qrels, run, lambda docs, grades: ndcg(docs, grades, 10))
        self.expect(qrels, run, linear, "gains: the grade instead of", "-m 'nDCG@10'")
        binary = lambda docs, grades: ndcg(docs, grades, 10, gain=lambda grade: float(grade > 0))  # noqa: E731
        self.expect(qrels, run, lines_of("nDCG@10", qrels, run, binary), "gains: every relevant", "--gain 1=1,2=1,3=1")
        upper = lambda docs, grades: ndcg(docs, grades, 10, gain=lambda grade: grade * (grade >= 2))  # noqa: E731
        self.expect(
            qrels,
            run,
            lines_of("nDCG@10", qrels, run, upper),
            "gains: grades below 2 gain nothing",
            "--gain 1=0,2=2,3=3",
        )

    @pytest.mark.parametrize("level", [2, 3])
    def test_relevance_threshold(self, level):
        qrels, run = made()
        printed = lines_of("AP", qrels, run, lambda docs, grades: average_precision(docs, grades, level=level))
        self.expect(
            qrels, run, printed, f"relevance level: documents are relevant from grade {level}", f"-m 'AP(rel={level})'"
        )

    def test_depth(self):
        qrels, run = made()
        printed = lines_of("AP", qrels, run, lambda docs, grades: average_precision(docs, grades, 20))
        found = self.expect(qrels, run, printed, "depth: ", "--depth 20")
        assert "-m 'AP@20'" in found.also
        printed = lines_of("nDCG@10", qrels, run, lambda docs, grades: ndcg(docs, grades, 20))
        self.expect(qrels, run, printed, "depth: the measure read 20 ranks", "-m 'nDCG@20'")

    def test_condensed(self):
        qrels, run = made()
        condensed = lambda docs, grades: average_precision([doc for doc in docs if doc in grades], grades)  # noqa: E731
        self.expect(qrels, run, lines_of("AP", qrels, run, condensed), "unjudged: ", "--unjudged condensed")

    @pytest.mark.parametrize(
        ("order", "key"),
        [
            ("docid", lambda place, doc, score, grade: (-score, doc)),
            ("line", lambda place, doc, score, grade: (-score, place)),
            ("run", lambda place, doc, score, grade: place),
            ("best", lambda place, doc, score, grade: (-score, -grade)),
            ("worst", lambda place, doc, score, grade: (-score, grade)),
        ],
    )
    def test_tie_orders(self, order, key):
        qrels, run = made()
        run = {query: {doc: score // 8 for doc, score in docs.items()} for query, docs in run.items()}
        draw = random.Random(1)
        run = {query: dict(draw.sample(list(docs.items()), len(docs))) for query, docs in run.items()}
        printed = {}
        for query, grades in qrels.items():
            rows = [
                (key(place, doc, score, grades.get(doc, 0)), doc)
                for place, (doc, score) in enumerate(run[query].items())
            ]
            docs = [doc for _, doc in sorted(rows, key=lambda row: row[0])]
            printed["nDCG@10", query] = f"{ndcg(docs, grades, 10):.6f}"
        start = "order: " if order == "run" else "ties: "
        self.expect(qrels, run, printed, start, f"--ties {order}")

    def test_single_precision(self):
        qrels, run = made()
        close = {query: {doc: 1 + score * 1e-12 for doc, score in docs.items()} for query, docs in run.items()}
        equal = {query: dict.fromkeys(docs, 1.0) for query, docs in run.items()}
        printed = lines_of("AP", qrels, equal, average_precision)
        self.expect(qrels, close, printed, "precision: scores were compared in 32 bits", "--score-precision single")

    def test_another_meaning_of_the_name(self):
        qrels, run = made()

        def reciprocal(docs, grades):
            value, left = 0.0, 1.0
            for rank, doc in enumerate(docs[:10], 1):
                chance = (2 ** max(grades.get(doc, 0), 0) - 1) / 2**4
                value, left = value + left * chance / rank, left * (1 - chance)
            return value

        self.expect(qrels, run, lines_of("ERR@10", qrels, run, reciprocal), "name: ERR", "-m 'ERR(max_grade=4)@10'")

    def test_two_at_a_time(self):
        qrels, run = made(itself=True)
        del run["q2"]
        without = {query: {doc: s for doc, s in docs.items() if doc != query} for query, docs in run.items()}
        value = over(shared(qrels, run), without, lambda docs, grades: average_precision(docs, grades, level=2))
        (found,) = explain(qrels, run, {("AP", "all"): f"{value:.6f}"})
        assert not found.settled, "three at a time are not tried"
        value = over(shared(qrels, run), without, lambda docs, grades: ndcg(docs, grades, 10))
        (found,) = explain(qrels, run, {("NDCG@10", "all"): f"{value:.6f}"})
        assert (found.changes, set(found.switch.split())) == (2, {"--drop-self", "--topics", "shared"})

    def test_switches_typed_give_the_number(self, tmp_path, capsys):
        """What is named is an option that exists, and gives what was reported."""
        qrels, run = made(itself=True)
        files = [tmp_path / "qrels.json", tmp_path / "run.json"]
        for path, content in zip(files, (qrels, run), strict=True):
            path.write_text(json.dumps(content))
        without = {query: {doc: s for doc, s in docs.items() if doc != query} for query, docs in run.items()}
        for score, used in [
            (lambda docs, grades: ndcg(docs, grades, 10), without),
            (lambda docs, grades: ndcg(docs, grades, 10, gain=lambda grade: 2**grade - 1), run),
            (lambda docs, grades: ndcg(docs, grades, 10, gain=lambda grade: float(grade > 0)), run),
        ]:
            value = over(qrels, used, score)
            (found,) = explain(qrels, run, f"nDCG@10={value:.6f}")
            words = [word.strip("'") for word in found.switch.split()]
            measure = [] if "-m" in words else ["-m", "nDCG@10"]
            assert main(["evaluate", *map(str, files), *words, *measure, "--format", "json"]) == 0
            assert json.loads(capsys.readouterr().out)[0]["value"] == pytest.approx(value, abs=1e-9)

    @pytest.mark.parametrize(("measure", "chunks"), [("nDCG@10", False), ("AP", True)])
    def test_every_option_that_can_be_named_comes_back(self, measure, chunks, tmp_path, capsys):
        """A number made with an option is explained by it, or by another option that gives the same number."""
        qrels, run = made(5, chunks=chunks, itself=not chunks)
        del run["q2"]
        run = {
            query: {doc: score // 3 + 1e-9 * (score % 2) for doc, score in docs.items()} for query, docs in run.items()
        }
        files = [tmp_path / "qrels.json", tmp_path / "run.json"]
        for path, content in zip(files, (qrels, run), strict=True):
            path.write_text(json.dumps(content))

        def scored(words):
            spelt = [] if "-m" in words else ["-m", measure]
            assert main(["evaluate", *map(str, files), *words, *spelt, "--bounds", "none", "--format", "json"]) == 0
            return json.loads(capsys.readouterr().out)[0]["value"]

        ours = rb.parse_measure(measure)
        made_by = list(quirks(as_qrels(qrels), as_run(run, "run"), [ours], [], None))
        options = {quirk.switch for quirk in made_by if quirk.switch}
        assert len(options) > 10
        for option in sorted(options):
            value = scored([word.strip("'") for word in option.split()])
            (found,) = explain(qrels, run, f"{measure}={value:.6f}")
            assert found.settled, option
            assert found.changes <= 1
            if found.switch:
                again = scored([word.strip("'") for word in found.switch.split()])
                assert again == pytest.approx(value, abs=1e-6), (option, found.switch)
