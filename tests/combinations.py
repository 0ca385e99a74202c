"""One law over combinations of options: whatever is chosen together, every number is that of plain enumeration.

A case is a small random collection (documents that are chunks of others or have a topic's name, equal scores, unjudged
and pooled documents, topics that the run or the judgments lack) and a choice of options: ties, unjudged, bounds, open,
most_relevant, gain, topics, score_precision, and what is done to the run before it is scored. It is scored in memory
from objects and from files, as a stream, by the command line, by the compiled kernel and by NumPy alone (or by Spark).
All of them must give the numbers of the oracle:

1. Lists are prepared and ranked by sorting Python tuples.
2. What unjudged documents count for is a list of worlds with their chances: as judged, all of the largest grade, or
   each of them so independently of the others.
3. Orders of tied documents are permutations, one by one.
4. A value is that of ``plain.py`` for a list in an order and a world; the mean over worlds; then the best, the worst or
   the mean over orders.
5. Bounds are the least and the greatest over all worlds (every unjudged document of every grade; where the collection
   is open, also documents that the list lacks), over orders, or over both; where the best order counts, over worlds of
   the best order in each. Bounds that are said to be outer must hold, all others must be attained.

Nothing of this is taken from the package, except the facts that say which measures know a mean or a best order.
"""

from __future__ import annotations

import itertools
import json
import math
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import rankbounds as rb
from plain import Topic, value, value_and_greatest
from rankbounds.cli import main
from rankbounds.collection.order import as_tie_key
from rankbounds.collection.preparation import Preparation
from rankbounds.columns import native
from test_laws import MEASURES, NO_MEAN_OVER_BOTH, SCALES, averaged, bounded, close, extreme, plain

ORDERS = ("trec", "docid", "line", "run", "rank", "key")
TREATED = ("best", "worst", "expected")
ENDLESS = 3000
"""So many more relevant documents stand for any number of them."""
SMALL = 6
"""Lists are no longer than this once they are prepared."""
SCALED = "scale"
"""A topic that holds every grade, and that no run has: what gains there are does not depend on the other topics."""
CANDIDATES = [m for m in MEASURES if not m.reads_judgments and plain(m).name != "infAP"]
"""infAP, subtopics and strata read more of the judgments than grades, and have their own laws."""
List = tuple[tuple[str, float | None, float], ...]
"""Documents in an order: name, grade (None: unjudged), score as it is compared."""


@dataclass
class Case:
    """A collection and options. Rows of the run are (topic, document, stated rank, score), in the order of lines."""

    grades: tuple[float, ...]
    table: dict[float, float]
    judged: dict[str, dict[str, float]]
    rows: list[tuple[str, str, int, float]]
    options: dict[str, Any]
    prepared: dict[str, Any]
    measures: list[Any] = field(repr=False)

    @classmethod
    def drawn(cls, rng: Random) -> Case:
        """A case from a source of chance."""
        grades, table = rng.choice(SCALES)
        topics = ["t1", "t2", "t3"][: rng.randint(1, 3)]
        prepared = _drawn_preparation(rng)
        documents = ["d1", "d2", "d3", "d4", *topics]
        if "documents_of" in prepared:
            documents += ["d1#1", "d1#2", "d2#1", "t1#1", "#d4"]
        near = rng.random() < 0.3
        judged, rows = {}, []
        for topic in topics:
            known = [*documents, "u1", "u2"]
            of_topic = {doc: rng.choice(grades) for doc in known if rng.random() < 0.7 and "#" not in doc[1:]}
            if rng.random() < 0.3:
                of_topic |= {doc: -1 for doc in rng.sample(documents, 1) if "#" not in doc[1:]}
            judged[topic] = of_topic or {"u1": rng.choice(grades)}
            only_itself = "drop_self" in prepared and rng.random() < 0.3
            found = [topic] if only_itself else rng.sample(documents, rng.randint(1, min(SMALL, len(documents))))
            ranks = rng.sample(range(1, 20), len(found))
            scores = [rng.choice((1, 2, 2, 3)) + (rng.choice((0, 1e-9)) if near else 0) for _ in found]
            rows += list(zip([topic] * len(found), found, ranks, scores, strict=True))
        if len(topics) > 1 and rng.random() < 0.3:
            rows = [row for row in rows if row[0] != topics[-1]]
        if rng.random() < 0.2:
            rows.append(("nobody judged", "d1", 1, 1.0))
        if rng.random() < 0.5:
            rng.shuffle(rows)
        judged[SCALED] = {f"s{at}": grade for at, grade in enumerate(sorted({*grades, 1}))}
        case = cls(grades, table, judged, rows, _drawn_options(rng), prepared, [])
        fitting = [m for m in CANDIDATES if case.takes(m)]
        case.measures = rng.sample(fitting, min(len(fitting), 8))
        return case

    # ---- what is asked for ----

    @property
    def ties(self) -> str:
        return self.options["ties"]

    @property
    def bounds(self) -> str:
        return self.options["bounds"]

    @property
    def rule(self) -> str:
        return self.options["unjudged"]

    @property
    def open_collection(self) -> bool:
        return self.options.get("open") == "collection"

    @property
    def gain_rule(self) -> str:
        return ",".join(f"{grade}={gain}" for grade, gain in self.table.items()) or "linear"

    def takes(self, measure: Any) -> bool:
        """Can the measure be computed under these options, and its bounds be enumerated?"""
        chosen, largest = plain(measure), getattr(plain(measure), "max_grade", None)
        if self.rule in ("relevant", "expected") and measure.judged_only:
            return False
        if self.rule == "expected" and not (measure.multilinear or measure.as_retrieved):
            return False
        if self.rule == "expected" and self.ties == "expected" and chosen.name in NO_MEAN_OVER_BOTH:
            return False
        if not averaged(measure, self.ties) or not extreme(measure, self.ties):
            return False
        if self.open_collection and (largest is not None or getattr(chosen, "by_topic", False)):
            return False
        if self.open_collection and "most_relevant" not in self.options and getattr(chosen, "collection", None):
            return False  # a collection of so many documents cannot hold any number of relevant ones
        return largest is None or largest >= self.largest

    # ---- the oracle: lists ----

    def gain(self, grade: float) -> float:
        return self.table.get(grade, grade)

    @cached_property
    def possible(self) -> list[float]:
        """The grades that a document may have, by rising gain."""
        return sorted({0, 1, *self.grades, *self.table}, key=self.gain)

    @property
    def largest(self) -> float:
        return self.gain(self.possible[-1])

    def shown(self, score: float) -> float:
        """The score as it is compared."""
        return float(np.float32(score)) if self.options["score_precision"] == "single" else float(score)

    def _place(self, order: str, line: int, row: tuple[str, str, int, float]) -> tuple:
        """What rows are sorted by, where names have been sorted down before."""
        _, document, rank, score = row
        if order == "run":
            return (line,)
        within = {"line": line, "rank": rank, "key": self.options.get("ties_key", {}).get(document, 0)}.get(order, 0)
        return -self.shown(score), within

    def _ranked(self, numbered: list[tuple[int, tuple[str, str, int, float]]]) -> list:
        order = self.ties if self.ties in ORDERS else "trec"
        down = sorted(numbered, key=lambda one: one[1][1], reverse=order != "docid")
        return sorted(down, key=lambda one: self._place(order, *one))

    def lists(self) -> dict[str, List]:
        """The prepared list of every topic that the run has, in the order of the rule for ties (or as trec_eval)."""
        by_topic: dict[str, list] = {}
        for line, row in enumerate(self.rows):
            by_topic.setdefault(row[0], []).append((line, row))
        found = {}
        for topic, numbered in by_topic.items():
            if (mark := self.prepared.get("documents_of")) is not None:
                best: dict[str, tuple] = {}
                for line, (_, document, rank, score) in numbered:
                    name = document[: document.rindex(mark)] if document.rfind(mark) > 0 else document
                    first, (_, _, lowest, highest) = best.get(name, (line, (topic, name, rank, score)))
                    best[name] = first, (topic, name, rank and min(lowest, rank), max(highest, score))
                numbered = sorted(best.values())
            if self.prepared.get("drop_self"):
                numbered = [one for one in numbered if one[1][1] != topic]
            ranked = self._ranked(numbered)[: self.prepared.get("depth")]
            known = self.judged.get(topic, {})
            found[topic] = tuple(
                (document, None if known.get(document, -1) == -1 else known[document], self.shown(score))
                for _, (_, document, _, score) in ranked
            )
        return found

    def topics(self) -> list[str]:
        """The topics that are scored."""
        there = {row[0] for row in self.rows}
        return [topic for topic in self.judged if self.options["topics"] == "judged" or topic in there]

    def orders(self, found: List) -> list[tuple[int, ...]]:
        """All orders that only permute documents of equal score which stand together."""
        groups = [[*group] for _, group in itertools.groupby(range(len(found)), key=lambda at: found[at][2])]
        return [tuple(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, groups))]

    # ---- the oracle: worlds ----

    def levels(self, measure: Any, topic: str) -> list[float]:
        """The grades that an unjudged document may turn out to have, the one that counts most last."""
        chosen = plain(measure)
        if not chosen.graded:
            return [0, max(*self.possible, chosen.rel)]
        if getattr(chosen, "by_topic", False):
            top = max([1.0, *(self.gain(grade) for grade in self.judged[topic].values() if grade != -1)])
            return [grade for grade in self.possible if self.gain(grade) <= top]
        largest = getattr(chosen, "max_grade", None) or 0
        return [*self.possible, *([largest] if largest > self.largest else [])]

    def counts(self, measure: Any, grade: float) -> bool:
        """Is a document of this grade relevant to the measure?"""
        chosen = plain(measure)
        return self.gain(grade) > self.gain(0) if chosen.graded else grade >= chosen.rel

    def elsewhere(self, measure: Any, topic: str, judged: list[float]) -> Iterator[list[float]]:
        """What documents may exist that the list lacks and nobody judged."""
        yield []
        if not self.open_collection:
            return
        levels = self.levels(measure, topic)
        relevant = [grade for grade in levels if self.counts(measure, grade)]
        if (most := self.options.get("most_relevant")) is None:
            yield from ([relevant[-1]] * number for number in (1, 2, 12, ENDLESS))
            return
        others = [[], [0], [0, 0]] if plain(measure).name.startswith(("Bpref", "GMBpref")) else [[]]
        for number in range(max(0, most - sum(self.counts(measure, grade) for grade in judged)) + 1):
            for more in itertools.combinations_with_replacement(relevant, number):
                yield from ([*more, *beside] for beside in others)

    def full(self, measure: Any, topic: str, found: List) -> Iterator[tuple[list[float], list[float]]]:
        """Every world: the grades of the list's documents, and those of all documents that are judged in it."""
        rest = self.unretrieved(topic, found)
        holes = [at for at, (_, grade, _) in enumerate(found) if grade is None]
        for chosen in itertools.product(self.levels(measure, topic), repeat=len(holes)):
            ranking = [grade for _, grade, _ in found]
            for at, grade in zip(holes, chosen, strict=True):
                ranking[at] = grade
            for more in self.elsewhere(measure, topic, [*ranking, *rest]):
                yield ranking, [*ranking, *rest, *more]

    def unretrieved(self, topic: str, found: List) -> list[float]:
        listed = {document for document, _, _ in found}
        return [grade for doc, grade in self.judged[topic].items() if doc not in listed and grade != -1]

    def assumed(self, measure: Any, topic: str, found: List) -> list[tuple[float, list, list[float], list[bool]]]:
        """The worlds that the value is the mean of: chance, grades of the list, all judged grades, what is kept."""
        grades = [grade for _, grade, _ in found]
        known = [grade for grade in grades if grade is not None]
        rest, everyone = self.unretrieved(topic, found), [True] * len(found)
        if measure.as_retrieved or self.rule == "nonrelevant":
            return [(1.0, grades, [*known, *rest], everyone)]
        if self.rule == "condensed":
            return [(1.0, grades, [*known, *rest], [grade is not None for grade in grades])]
        q = 1.0 if self.rule == "relevant" else self.options["q"]
        most, worlds = self.levels(measure, topic)[-1], []
        for turned in itertools.product((1, 0), repeat=grades.count(None)):
            drawn = iter(turned)
            ranking = [next(drawn) * most if grade is None else grade for grade in grades]
            chance = math.prod(q if one else 1 - q for one in turned)
            if chance:
                worlds.append((chance, ranking, [*ranking, *rest], everyone))
        return worlds

    # ---- the oracle: numbers ----

    def pick(self, measure: Any, numbers: list[float]) -> float:
        """What the rule for ties makes of the numbers of all orders, of which the first is the one of the list."""
        if self.ties == "expected":
            return math.fsum(numbers) / len(numbers) if all(map(math.isfinite, numbers)) else max(numbers)
        if self.ties in ORDERS:
            return numbers[0]
        return (max if (self.ties == "best") != measure.lower_is_better else min)(numbers)

    def by_order(self, measure: Any, topic: str, found: List) -> list[float]:
        """The value in every order of ties, the mean over the worlds that are assumed."""
        worlds = self.assumed(measure, topic, found)
        return [
            sum(
                chance
                * value(Topic([grades[at] for at in order if stay[at]], judged, self.largest, self.table), measure)
                for chance, grades, judged, stay in worlds
            )
            for order in self.orders(found)
        ]

    def extremes(self, measure: Any, topic: str, found: List) -> tuple[float, float]:
        """The least and the greatest value over what bounds cover, for a measure that does not drop documents."""
        if self.bounds == "ties" or measure.as_retrieved:
            numbers = self.by_order(measure, topic, found)
            settled = self.pick(measure, numbers)
            return (settled, settled) if self.bounds == "unjudged" else (min(numbers), max(numbers))
        orders, least, most = self.orders(found), [], []
        if self.bounds == "unjudged" and self.ties in ORDERS:
            orders = orders[:1]
        for grades, judged in self.full(measure, topic, found):
            several = (Topic([grades[at] for at in order], judged, self.largest, self.table) for order in orders)
            values, greatest = map(list, zip(*(value_and_greatest(one, measure) for one in several), strict=True))
            least.append(min(values) if self.bounds == "both" else self.pick(measure, values))
            most.append(max(greatest) if self.bounds == "both" else self.pick(measure, greatest))
        return min(least), max(most)

    # ---- the engines ----

    def files(self) -> dict[str, bytes]:
        """Judgments and the run as TREC files, and the key for ties."""
        key = self.options.get("ties_key", {})
        lines = {
            "qrels": (f"{t} 0 {d} {grade}" for t, judged in self.judged.items() for d, grade in judged.items()),
            "run": (f"{topic.replace(' ', '_')} Q0 {d} {rank} {score!r} A" for topic, d, rank, score in self.rows),
            "key": (f"{document} {place}" for document, place in key.items()),
        }
        return {name: "".join(f"{line}\n" for line in of_file).encode() for name, of_file in lines.items()}

    @property
    def asked(self) -> dict[str, Any]:
        return {**self.options, "gain": self.gain_rule}

    @property
    def preparation(self) -> Preparation:
        order: Any = self.ties if self.ties in ORDERS else "trec"
        key = as_tie_key(self.options["ties_key"]) if self.ties == "key" else None
        given = (self.prepared.get(name) for name in ("drop_self", "documents_of", "depth"))
        return Preparation(*given, order, self.options["score_precision"], key)

    def from_objects(self) -> rb.Scores:
        topics, documents, ranks, scores = zip(*self.rows, strict=True)
        if self.prepared or self.ties == "rank":
            run: Any = self.preparation(rb.Run.from_columns(topics, documents, scores, ranks))
        else:
            run = {topic: {} for topic in topics}
            for topic, document, _, score in self.rows:
                run[topic][document] = score
        return rb.evaluate(self.judged, run, self.measures, **self.asked)

    def from_files(self, folder: Path) -> rb.Scores:
        run = self.preparation(rb.read_run(folder / "run"))
        return rb.evaluate(folder / "qrels", run, self.measures, **self.asked)

    def streamed(self, folder: Path) -> rb.Scores:
        asked = {"memory": "64K", "preparation": self.preparation, **self.asked}
        return rb.evaluate(folder / "qrels", folder / "run", self.measures, engine="stream", **asked)

    def by_spark(self, folder: Path) -> rb.Scores:
        paths = str(folder / "qrels"), str(folder / "run")
        return rb.evaluate(*paths, self.measures, engine="spark", preparation=self.preparation, **self.asked)

    def arguments(self, folder: Path) -> list[str]:
        """The command line of the case."""
        words = ["evaluate", str(folder / "qrels"), str(folder / "run"), "-q", "--format", "jsonl", "--quiet"]
        for measure in self.measures:
            words += ["-m", str(measure)]
        for name, chosen in {**self.asked, **self.prepared}.items():
            flag = f"--{name.replace('_', '-')}"
            words += {"ties_key": [flag, str(folder / "key")], "drop_self": [flag]}.get(name, [flag, str(chosen)])
        return words

    def by_command(self, folder: Path, *more: str) -> dict[tuple[str, str], tuple[float, float, float]]:
        """Value, low and high by topic and measure, as the command line prints them."""
        out = folder / "scores.jsonl"
        with redirect_stderr(StringIO()) as told:
            code = main([*self.arguments(folder), *more, "-o", str(out)])
        assert code == 0, told.getvalue()
        rows = map(json.loads, out.read_text().splitlines())
        return {(row["query_id"], row["measure"]): _numbers(row) for row in rows}

    # ---- the law ----

    def check(self, folder: Path, spark: bool = False) -> None:
        """Raise AssertionError where an engine has another number than enumeration."""
        for name, content in self.files().items():
            (folder / name).write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rb.RankboundsWarning)
            if spark:
                self._check_scores(self.by_spark(folder), "Spark")
                return
            first = None
            for way in ("kernel", "NumPy") if native.built is not None else ("NumPy",):
                with native.switched(way):
                    scores = self.from_objects()
                    self._check_same(first or scores, scores, f"objects by {way}")
                    self._check_same(scores, self.from_files(folder), f"files by {way}")
                    self._check_same(scores, self.streamed(folder), f"stream by {way}")
                    first = first or scores
            self._check_scores(first, "in memory")
            printed = self.by_command(folder)
            by_stream = self.by_command(folder, "--engine", "stream", "--memory", "64K")
            assert printed.keys() == by_stream.keys(), "command and stream"
            for cell, numbers in printed.items():  # as near as scores of engines are: other batches, other last bits
                same = np.allclose(numbers, by_stream[cell], rtol=1e-12, atol=1e-15, equal_nan=True)
                assert same, ("command and stream", cell, numbers, by_stream[cell])
            for one in (first, first.mean()):
                for row in one:
                    same = _alike(printed[row["query_id"], row["measure"]], _numbers(row))
                    assert same, ("command", row, printed[row["query_id"], row["measure"]])

    def _check_same(self, ours: rb.Scores, theirs: rb.Scores, engine: str) -> None:
        assert ours.query_ids == theirs.query_ids, engine
        assert set(ours.outer) == set(theirs.outer), engine
        for name in ("value", "low", "high", "judged", "parts"):
            one, other = getattr(ours, name), getattr(theirs, name)
            if one is None or other is None:
                assert one is other, (engine, name)
            else:
                assert np.allclose(one, other, rtol=1e-12, atol=1e-15, equal_nan=True), (engine, name, one, other)

    def _check_scores(self, scores: rb.Scores, engine: str) -> None:
        lists, topics = self.lists(), self.topics()
        assert sorted(scores.query_ids) == sorted(self.judged)
        for at, measure in enumerate(scores.measures):
            found = {}
            for place, topic in enumerate(scores.query_ids):
                numbers = tuple(array[0, place, at].item() for array in (scores.value, scores.low, scores.high))
                why = (engine, str(measure), topic, numbers)
                if topic not in topics:
                    assert all(map(math.isnan, numbers)), why
                    continue
                found[topic] = numbers
                self._check_topic(measure, topic, lists.get(topic, ()), numbers, measure in scores.outer, why)
            self._check_mean(measure, found, scores.mean(), at)

    def _check_topic(
        self, measure: Any, topic: str, found: List, numbers: tuple[float, ...], outer: bool, why: Any
    ) -> None:
        as_assumed, low, high = numbers
        wanted = self.pick(measure, self.by_order(measure, topic, found))
        assert close(as_assumed, wanted), (*why, wanted)
        assert math.isnan(low) == math.isnan(high), why
        assert math.isnan(low) or low <= as_assumed <= high, why
        if math.isnan(low):
            assert self._unknown(measure, found), why
            return
        assert self.bounds != "none", why
        chosen = plain(measure)
        least, most = self.extremes(measure if self.bounds == "ties" else chosen, topic, found)
        if self.bounds != "ties" and (measure.judged_only or self.rule == "condensed"):
            # The list that is scored lacks documents, and no judged one may score the same.
            least, most = min(least, wanted), max(most, wanted)
        assert low <= least + 1e-9, (*why, least, most)
        assert high >= most - 1e-9, (*why, least, most)
        if not outer and not self._only_approached(chosen):
            assert close(low, least), (*why, least, most)
            assert close(high, most), (*why, least, most)

    def _unknown(self, measure: Any, found: List) -> bool:
        """May there be no bounds?"""
        chosen = plain(measure)
        if self.bounds == "none":
            return True
        if self.bounds == "ties":
            return not extreme(measure)
        tied = len({score for _, _, score in found}) < len(found)
        over_orders = tied and (self.bounds == "both" or self.ties in TREATED)
        if over_orders and (chosen.name == "Q" or not chosen.promotable):
            return True
        alone = chosen.list_only or chosen.as_retrieved
        return not bounded(measure) or (self.open_collection and not alone and chosen.collection_exactness == "unknown")

    def _only_approached(self, chosen: Any) -> bool:
        """Are bounds of the collection ones that no world of those tried attains?"""
        if not self.open_collection or chosen.list_only or chosen.as_retrieved:
            return False
        # Any number of documents of grade 0 may enlarge the ideal ranking, or the total gain.
        without_end = self.gain(0) > 0 and chosen.name.startswith(("nDCG", "Q", "Rpref"))
        return without_end or self.options.get("most_relevant") is None or self.counts(chosen, 0)

    def _check_mean(self, measure: Any, found: dict[str, tuple[float, ...]], means: rb.Scores, at: int) -> None:
        numbers = tuple(array[0, 0, at].item() for array in (means.value, means.low, means.high))
        assert math.isnan(numbers[1]) or numbers[0] >= numbers[1], measure
        assert math.isnan(numbers[2]) or numbers[0] <= numbers[2], measure
        for number, column in zip(numbers, zip(*found.values(), strict=True), strict=True):
            total = sum(column)
            if measure.total != "sum":
                total /= len(column)
            if measure.total == "geometric":
                total = math.exp(total)
            assert close(number, total) or (math.isnan(number) and math.isnan(total)), (measure, number, total)


def _drawn_preparation(rng: Random) -> dict[str, Any]:
    prepared: dict[str, Any] = {}
    if rng.random() < 0.4:
        prepared["drop_self"] = True
    if rng.random() < 0.25:
        prepared["documents_of"] = "#"
    if rng.random() < 0.25:
        prepared["depth"] = rng.randint(1, 4)
    return prepared


def _drawn_options(rng: Random) -> dict[str, Any]:
    options: dict[str, Any] = {
        "ties": rng.choice((*ORDERS, *TREATED, *TREATED)),
        "unjudged": rng.choice(("nonrelevant", "nonrelevant", "relevant", "condensed", "expected")),
        "bounds": rng.choice(("unjudged", "unjudged", "both", "both", "ties", "none")),
        "topics": rng.choice(("judged", "shared")),
        "score_precision": rng.choice(("double", "single")),
    }
    if options["ties"] == "key":
        names = ["d1", "d2", "d3", "d4", "t1", "t2", "t3", "d1#1", "d1#2", "d2#1", "t1#1", "#d4"]
        options["ties_key"] = {name: rng.randint(1, 3) for name in names}
    if options["unjudged"] == "expected":
        options["q"] = rng.choice((0.25, 0.5))
    if options["bounds"] in ("unjudged", "both") and rng.random() < 0.5:
        options["open"] = "collection"
        if rng.random() < 0.7:
            options["most_relevant"] = rng.randint(1, 4)
    return options


def _numbers(row: dict[str, Any]) -> tuple[float, float, float]:
    value, low, high = (math.nan if row.get(name) is None else float(row[name]) for name in ("value", "low", "high"))
    return value, low, high


def _alike(ours: tuple[float, ...], theirs: tuple[float, ...]) -> bool:
    return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(ours, theirs, strict=True))


def drawn_pair(rng: Random) -> tuple[Case, Case]:
    """Two runs of one collection under the same options: the second has its own documents, topics, scores and lines."""
    case, other = Case.drawn(rng), Case.drawn(rng)
    rows = [row for row in other.rows if row[0] in case.judged]
    case.prepared, case.measures = {}, [one for one in case.measures if one.total != "geometric"][:3]
    return case, replace(case, rows=rows or case.rows)


def pair_extremes(one: Case, other: Case, measure: Any, topic: str) -> tuple[float, float]:
    """The least and the greatest difference of two lists of one topic, over all worlds of the documents of both."""
    lists = [case.lists().get(topic, ()) for case in (one, other)]
    known = {doc: grade for found in lists for doc, grade, _ in found}
    holes = [doc for doc, grade in known.items() if grade is None]
    rest = [grade for doc, grade in one.judged[topic].items() if doc not in known and grade != -1]
    both = one.bounds == "both"
    orders = [one.orders(found) if both or one.ties not in ORDERS else one.orders(found)[:1] for found in lists]
    apart: list[float] = []
    for chosen in itertools.product(one.levels(measure, topic), repeat=len(holes)):
        world = known | dict(zip(holes, chosen, strict=True))
        for more in one.elsewhere(measure, topic, [*world.values(), *rest]):
            judged = [*world.values(), *rest, *more]
            ends = []
            for found, several in zip(lists, orders, strict=True):
                grades = [world[doc] for doc, _, _ in found]
                values = [
                    value(Topic([grades[at] for at in order], judged, one.largest, one.table), measure)
                    for order in several
                ]
                ends.append((min(values), max(values)) if both else (one.pick(measure, values),) * 2)
            apart += [ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]]
    return min(apart), max(apart)
