"""Slow, obvious definitions of every measure, written from the papers. They share no code with the package.

A ranked list is a list of grades, ``None`` for an unjudged document. ``judged`` lists the grades of all judged
documents of the topic, retrieved or not. ``largest`` is the largest gain of the collection, at least that of grade 1.
``table`` says what grades gain, where that is not the grade itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Topic:
    ranking: list[float | None]
    judged: list[float]
    largest: float
    table: dict[float, float] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        """What gains are divided by: nothing where they all lie between 0 and 1."""
        return max(1.0, self.largest)

    def relevance(self, rel: float) -> list[int]:
        return [1 if grade is not None and grade >= rel else 0 for grade in self.ranking]

    def number_relevant(self, rel: float) -> int:
        return len([grade for grade in self.judged if grade >= rel])

    def gain(self, grade: float | None) -> float:
        """An unjudged document gains what one of grade 0 does."""
        return self.table.get(grade or 0, grade or 0)

    def gains(self) -> list[float]:
        return [self.gain(grade) for grade in self.ranking]

    def known_gains(self) -> list[float]:
        """Of all judged documents, and of those retrieved that count as judged."""
        return [self.gain(grade) for grade in [*self.judged, *(one for one in self.ranking if one is None)]]


def precision_at(relevance: list[int], rank: int) -> float:
    return sum(relevance[:rank]) / rank


def sum_of_precisions(relevance: list[int], cutoff: int | None) -> float:
    total = 0.0
    for rank in range(1, len(relevance) + 1):
        if relevance[rank - 1] and (cutoff is None or rank <= cutoff):
            total += precision_at(relevance, rank)
    return total


def rbp(topic: Topic, m) -> float:
    total = 0.0
    for position, grade in enumerate(topic.ranking):
        if m.cutoff is not None and position >= m.cutoff:
            break
        if m.graded:
            divisor = m.max_grade if m.max_grade is not None else topic.scale
            if m.by_topic:
                divisor = max([1.0, *map(topic.gain, topic.judged)])
            worth = topic.gain(grade) / divisor
        else:
            worth = 1.0 if grade is not None and grade >= m.rel else 0.0
        total += worth * m.p**position
    return (1 - m.p) * total


def precision(topic: Topic, m) -> float:
    return sum(topic.relevance(m.rel)[: m.cutoff]) / m.cutoff


def recall(topic: Topic, m) -> float:
    number = topic.number_relevant(m.rel)
    return sum(topic.relevance(m.rel)[: m.cutoff]) / number if number else 0.0


def success(topic: Topic, m) -> float:
    return 1.0 if any(topic.relevance(m.rel)[: m.cutoff]) else 0.0


def r_precision(topic: Topic, m) -> float:
    number = topic.number_relevant(m.rel)
    depth = number if m.times == 1 else math.floor(m.times * number + 0.9)
    return sum(topic.relevance(m.rel)[:depth]) / depth if depth else 0.0


def reciprocal_rank(topic: Topic, m) -> float:
    for rank, relevant in enumerate(topic.relevance(m.rel)[: m.cutoff], 1):
        if relevant:
            return 1 / rank
    return 0.0


def sp(topic: Topic, m) -> float:
    return sum_of_precisions(topic.relevance(m.rel), m.cutoff)


def average_precision(topic: Topic, m) -> float:
    number = topic.number_relevant(m.rel)
    return sum_of_precisions(topic.relevance(m.rel), m.cutoff) / number if number else 0.0


def average_precision_of_retrieved(topic: Topic, m) -> float:
    found = sum(topic.relevance(m.rel)[: m.cutoff])
    return sum_of_precisions(topic.relevance(m.rel), m.cutoff) / found if found else 0.0


def _gain(grade: float, kind: str) -> float:
    return 2**grade - 1 if kind == "exp" else grade


def _dcg(gains: list[float], m) -> float:
    total = 0.0
    for rank, grade in enumerate(gains[: m.cutoff], 1):
        gain = _gain(grade, m.gain)
        if m.base is None:
            total += gain / math.log2(rank + 1)
        elif rank < m.base:
            total += gain
        else:
            total += gain / math.log(rank, m.base)
    return total


def dcg(topic: Topic, m) -> float:
    return _dcg(topic.gains(), m)


def ndcg(topic: Topic, m) -> float:
    ideal = _dcg(sorted(topic.known_gains(), reverse=True), m)
    return _dcg(topic.gains(), m) / ideal if ideal else 0.0


def err(topic: Topic, m) -> float:
    largest = m.max_grade if m.max_grade is not None else topic.scale
    reached, total = 1.0, 0.0
    for rank, grade in enumerate(topic.gains()[: m.cutoff], 1):
        stops = (2**grade - 1) / 2**largest
        total += reached * stops / rank
        reached *= 1 - stops
    return total


def judged(topic: Topic, m) -> float:
    shown = topic.ranking[: m.cutoff]
    return len([grade for grade in shown if grade is not None]) / len(shown) if shown else 0.0


def unjudged(topic: Topic, m) -> float:
    return len([grade for grade in topic.ranking[: m.cutoff] if grade is None]) / m.cutoff


def interpolated(topic: Topic, rel: float, recall_point: float) -> float:
    relevance = topic.relevance(rel)
    needed = math.floor(recall_point * topic.number_relevant(rel) + 0.5)
    reached = [
        precision_at(relevance, rank) for rank in range(1, len(relevance) + 1) if sum(relevance[:rank]) >= needed
    ]
    return max(reached, default=0.0)


def interpolated_mean(topic: Topic, m) -> float:
    points = {11: [i / 10 for i in range(11)], 3: [0.2, 0.5, 0.8]}[m.points]
    return sum(interpolated(topic, m.rel, point) for point in points) / len(points)


def bpref_family(penalty: Callable[[int, int, int, int, int, object], float]) -> Callable[[Topic, object], float]:
    """Equations 9-11, 18 and 20: judged documents alone, each relevant one scored by what is judged above it."""

    def definition(topic: Topic, m) -> float:
        condensed = [grade for grade in topic.ranking if grade is not None]
        number_relevant = topic.number_relevant(m.rel)
        number_nonrelevant = len(topic.judged) - number_relevant
        retrieved_nonrelevant = len([grade for grade in condensed if grade < m.rel])
        total = 0.0
        for rank, grade in enumerate(condensed, 1):
            if grade >= m.rel:
                worse_above = len([other for other in condensed[: rank - 1] if other < m.rel])
                total += 1 - penalty(worse_above, rank, number_relevant, number_nonrelevant, retrieved_nonrelevant, m)
        return total / number_relevant if number_relevant else 0.0

    return definition


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


bpref = bpref_family(lambda above, _rank, r, n, _ret, m: share(min(r + m.k, above), min(r + m.k, n)))
bpref_r = bpref_family(lambda above, _rank, r, _n, _ret, _m: min(r, above) / r)
bpref_n = bpref_family(lambda above, _rank, _r, n, _ret, _m: share(above, n))
bpref_old = bpref_family(lambda above, _rank, r, _n, ret, _m: share(min(r, above), min(r, ret)))
bpref_relative = bpref_family(lambda above, rank, _r, _n, _ret, _m: above / (rank - 1) if rank > 1 else 1.0)
bpref_relative2 = bpref_family(lambda above, rank, _r, _n, _ret, _m: above / rank)


def rpref_family(divisor: Callable[[int, Topic], float]) -> Callable[[Topic, object], float]:
    """Equations 15-17 and 19."""

    def definition(topic: Topic, _m) -> float:
        condensed = [topic.gain(grade) for grade in topic.ranking if grade is not None]
        ideal = sum(map(topic.gain, topic.judged))
        total = 0.0
        for rank, grade in enumerate(condensed, 1):
            if grade > 0:
                penalty = sum((grade - other) / grade for other in condensed[: rank - 1] if other < grade)
                normaliser = divisor(rank, topic)
                if normaliser == "skip":
                    continue
                total += grade * (1 - share(penalty, normaliser))
        return total / ideal if ideal else 0.0

    return definition


rpref_n = rpref_family(lambda _rank, topic: sum(1 - topic.gain(grade) / topic.largest for grade in topic.judged))
rpref_relative = rpref_family(lambda rank, _topic: rank - 1 if rank > 1 else "skip")
rpref_relative2 = rpref_family(lambda rank, _topic: rank)


def q_measure(topic: Topic, m) -> float:
    ideal = sorted(topic.known_gains(), reverse=True)
    number = len([gain for gain in ideal if gain > 0])
    total = 0.0
    for rank in range(1, len(topic.ranking) + 1):
        gains = topic.gains()[:rank]
        if gains[-1] > 0:
            count = len([gain for gain in gains if gain > 0])
            total += (m.beta * sum(gains) + count) / (m.beta * sum(ideal[:rank]) + rank)
    return total / number if number else 0.0


def inferred_average_precision(topic: Topic, m, pooled: tuple[int, ...] = ()) -> float:
    """``pooled``: the positions of documents that were pooled and not judged."""
    number, total = topic.number_relevant(m.rel), 0.0
    for position, grade in enumerate(topic.ranking):
        if grade is None or grade < m.rel:
            continue
        above = [other for other in topic.ranking[:position] if other is not None]
        relevant = len([other for other in above if other >= m.rel])
        in_pool = len(above) + len([other for other in pooled if other < position])
        precision = (relevant + 0.00001) / (len(above) + 0.00002)
        total += 1 / (position + 1) + (in_pool / (position + 1)) * precision
    return total / number if number else 0.0


def rate_by_relevance(relevance: list[int], going_on, beyond: int, furthest: int = 500) -> float:
    """Relevant documents examined over documents examined, by a user who goes on with probability going_on(rank,
    found, relevant); behind the list all documents are relevant (1) or none (0). Read until nobody is left."""
    reached, gained, examined, found, rank = 1.0, 0.0, 0.0, 0, 0
    while reached > 1e-17 and rank < furthest:
        relevant = relevance[rank] if rank < len(relevance) else beyond
        rank += 1
        found += relevant
        gained += reached * relevant
        examined += reached
        reached *= going_on(rank, found, relevant)
    if reached > 1e-17:  # weights that fall as 1/x^2: Euler and Maclaurin's sum of the rest
        x = 1 / (1 - math.sqrt(going_on(rank, found, 0)))
        rest = reached * (x + 1 / 2 + 1 / (6 * x) - 1 / (30 * x**3))
        examined += rest
        gained += rest * beyond
    return gained / examined


def rbp_by_relevance(topic: Topic, m, beyond: int = 0) -> float:
    return rate_by_relevance(
        topic.relevance(m.rel),
        lambda rank, found, relevant: m.p_relevant if relevant else m.p_nonrelevant,
        beyond,
    )


def inst(topic: Topic, m, beyond: int = 0) -> float:
    def going_on(rank: int, found: int, relevant: int) -> float:
        still = m.T - found
        return ((rank - 1 + m.T + still) / (rank + m.T + still)) ** 2

    return rate_by_relevance(topic.relevance(m.rel), going_on, beyond)


def insq(topic: Topic, m, beyond: int = 0) -> float:
    going_on = lambda rank, found, relevant: ((rank - 1 + 2 * m.T) / (rank + 2 * m.T)) ** 2  # noqa: E731
    return rate_by_relevance(topic.relevance(m.rel), going_on, beyond)


def time_biased_gain(topic: Topic, m, beyond: int = 0) -> float:
    def going_on(rank: int, found: int, relevant: int) -> float:
        return 0.5 ** ((m.seconds_relevant if relevant else m.seconds) / m.halflife)

    return rate_by_relevance(topic.relevance(m.rel), going_on, beyond)


def u_measure(topic: Topic, m, beyond: int = 0) -> float:
    relevance = topic.relevance(m.rel)
    gained = weight = text = 0.0
    rank = 0
    while text < m.L:
        weight += 1 - text / m.L
        gained += (1 - text / m.L) * (relevance[rank] if rank < len(relevance) else beyond)
        rank, text = rank + 1, text + m.cost
    return gained / weight


def foraging(goal: bool, rate: bool):
    def definition(topic: Topic, m, beyond: int = 0) -> float:
        def going_on(rank: int, found: int, relevant: int) -> float:
            c1 = 1 - 1 / (1 + m.b1 * math.exp((m.T - found) * m.R1)) if goal else 1.0
            c2 = 1 / (1 + m.b2 * math.exp((m.A - found / rank) * m.R2)) if rate else 1.0
            return c1 * c2

        return rate_by_relevance(topic.relevance(m.rel), going_on, beyond, furthest=20_000)

    return definition


def bejeweled(topic: Topic, m, beyond: int = 0) -> float:
    relevance = topic.relevance(m.rel)
    found, wanted, willing, rank = 0, m.T, m.K, 0
    while rank < 10_000:
        relevant = relevance[rank] if rank < len(relevance) else beyond
        rank, found = rank + 1, found + relevant
        if not (found < wanted and rank < willing):
            break
        wanted += m.hb * (relevant - m.median)
        willing += m.hc * (relevant - m.median)
    return found / rank


def nearly_err(unsatisfied):
    def definition(topic: Topic, m, beyond: int = 0) -> float:
        satisfies = [topic.gain(grade) / topic.scale for grade in topic.ranking]
        best = beyond * topic.largest / topic.scale
        return rate_by_relevance(satisfies, lambda rank, _, gain: unsatisfied(rank, m) * (1 - gain), best)

    return definition


READING_ON = {
    "NERR8": nearly_err(lambda rank, m: 1 if rank < m.cutoff else 0),
    "NERR9": nearly_err(lambda rank, m: rank / (rank + 1) if rank < m.cutoff else 0),
    "NERR10": nearly_err(lambda rank, m: m.p),
    "NERR11": nearly_err(lambda rank, m: ((rank - 1 + 2 * m.T) / (rank + 2 * m.T)) ** 2),
    "INSQ": insq,
    "TBG": time_biased_gain,
    "UMeasure": u_measure,
    "IFT_C1": foraging(True, False),
    "IFT_C2": foraging(False, True),
    "IFT": foraging(True, True),
    "BPM": bejeweled,
    "RBP2": rbp_by_relevance,
    "INST": inst,
}
"""Measures whose users read on behind the list, where all documents are relevant (1) or none is (0)."""


def _discount(rank: int, base: float | None) -> float:
    if base is None:
        return 1 / math.log2(rank + 1)
    return 1.0 if rank < base else 1 / math.log(rank, base)


def scaled_dcg(topic: Topic, m) -> float:
    whole = sum(_discount(rank, m.base) for rank in range(1, m.cutoff + 1))
    relevance = topic.relevance(m.rel)[: m.cutoff]
    return sum(_discount(rank, m.base) for rank, relevant in enumerate(relevance, 1) if relevant) / whole


def later_reciprocal_rank(topic: Topic, m) -> float:
    found = 0
    for rank, relevant in enumerate(topic.relevance(m.rel)[: m.cutoff], 1):
        found += relevant
        if found == m.n:
            return 1 / (m.damping + rank)
    return 0.0


def precision_and_recall(topic: Topic, m) -> tuple[float, float] | None:
    found = sum(topic.relevance(m.rel)[: m.cutoff])
    if found == 0:
        return None
    return found / (m.cutoff or len(topic.ranking)), found / topic.number_relevant(m.rel)


def f_measure(topic: Topic, m) -> float:
    both = precision_and_recall(topic, m)
    if both is None:
        return 0.0
    p, r = both
    return (1 + m.beta**2) * p * r / (m.beta**2 * p + r)


def shaw(topic: Topic, m) -> float:
    both = precision_and_recall(topic, m)
    return 1 / (1 / both[0] + 1 / both[1] - 1) if both else 0.0


def recall_all(topic: Topic, m) -> float:
    found = sum(topic.relevance(m.rel)[: m.cutoff])
    return float(0 < found == topic.number_relevant(m.rel))


def search_length(topic: Topic, m) -> float:
    found = wasted = 0
    for relevant in topic.relevance(m.rel):
        found += relevant
        wasted += 1 - relevant
        if found == m.n:
            return wasted
    if m.collection is None:
        return math.inf
    elsewhere = topic.number_relevant(m.rel) - found
    others = m.collection - len(topic.ranking) - elsewhere
    if elsewhere < m.n - found:
        return wasted + others
    return wasted + (m.n - found) * others / (elsewhere + 1)


def rank_power(topic: Topic, m) -> float:
    ranks = [rank for rank, relevant in enumerate(topic.relevance(m.rel)[: m.cutoff], 1) if relevant]
    return sum(ranks) / len(ranks) / len(ranks) if ranks else math.inf


@dataclass
class Covering:
    """A list whose documents cover subtopics, and all judged documents: their ids and what they cover.

    ``listed`` are all subtopics that judgments name, ``okay`` those that are okay nuggets.
    """

    ranking: list[frozenset[int]]
    judged: list[tuple[str, frozenset[int]]]
    listed: frozenset[int]
    okay: frozenset[int] = frozenset()

    @property
    def existing(self) -> list[int]:
        return sorted({subtopic for _, covers in self.judged for subtopic in covers})


def one_subtopic(definition) -> Callable[[Topic, object], float]:
    """A definition for subtopics, of a topic that has one."""

    def covers(grade, m) -> frozenset[int]:
        return frozenset({0} if grade is not None and grade >= m.rel else ())

    def of_topic(topic: Topic, m) -> float:
        judged = [(str(number), covers(grade, m)) for number, grade in enumerate(topic.judged)]
        return definition(Covering([covers(grade, m) for grade in topic.ranking], judged, frozenset({0})), m)

    return of_topic


def mean_over_subtopics(lists: Covering, of_list: Callable[[list[int], int], float]) -> float:
    """``of_list`` gets the relevance of the list to a subtopic, and how many judged documents are relevant to it."""
    values = []
    for subtopic in lists.existing:
        relevance = [int(subtopic in covers) for covers in lists.ranking]
        values.append(of_list(relevance, sum(subtopic in covers for _, covers in lists.judged)))
    return sum(values) / len(values) if values else 0.0


def subtopic_recall(lists: Covering, m) -> float:
    met = {subtopic for covers in lists.ranking[: m.cutoff] for subtopic in covers}
    return len(met) / len(lists.existing) if lists.existing else 0.0


def nugget_recall(lists: Covering, m) -> float:
    met = {nugget for covers in lists.ranking[: m.cutoff] for nugget in covers}
    weight = {nugget: m.okay if nugget in lists.okay else 1.0 for nugget in lists.listed}
    return share(sum(weight[nugget] for nugget in met), sum(weight.values()))


def intent_aware_precision(lists: Covering, m) -> float:
    return mean_over_subtopics(lists, lambda relevance, _: sum(relevance[: m.cutoff]) / m.cutoff)


def intent_aware_average_precision(lists: Covering, m) -> float:
    return mean_over_subtopics(lists, lambda relevance, known: sum_of_precisions(relevance, m.cutoff) / known)


RANK_WEIGHT = {
    "alpha_DCG": lambda rank, m: 1 / math.log2(rank + 1),
    "ERR_IA": lambda rank, m: 1 / rank,
    "NRBP": lambda rank, m: m.beta ** (rank - 1),
}


def novelty(lists: Covering, m, weight) -> float:
    """Gain rank by rank: (1 - alpha)^n for each subtopic that the document covers and that was met n times above."""
    met: dict[int, int] = {}
    total = 0.0
    for rank, covers in enumerate(lists.ranking[: m.cutoff], 1):
        for subtopic in covers:
            total += weight(rank, m) * (1 - m.alpha) ** met.get(subtopic, 0)
            met[subtopic] = met.get(subtopic, 0) + 1
    return total


def novel(name: str):
    def definition(lists: Covering, m) -> float:
        ranks = range(1, (m.cutoff or 300) + 1)
        most = sum((1 - m.alpha) ** (rank - 1) * RANK_WEIGHT[name](rank, m) for rank in ranks)
        return share(novelty(lists, m, RANK_WEIGHT[name]), len(lists.existing) * most)

    return definition


def normalised_novel(name: str):
    def definition(lists: Covering, m) -> float:
        left, met, ideal = sorted(lists.judged, reverse=True), dict.fromkeys(lists.listed, 0), []
        while left:  # the first of the best, ids falling
            gains = [sum((1 - m.alpha) ** met[subtopic] for subtopic in sorted(covers)) for _, covers in left]
            _, covers = left.pop(gains.index(max(gains)))
            ideal.append(covers)
            for subtopic in covers:
                met[subtopic] += 1
        best = novelty(Covering(ideal, [], lists.listed), m, RANK_WEIGHT[name])
        return share(novelty(lists, m, RANK_WEIGHT[name]), best)

    return definition


BY_SUBTOPIC = {
    "StRec": subtopic_recall,
    "NuggetRecall": nugget_recall,
    "P_IA": intent_aware_precision,
    "AP_IA": intent_aware_average_precision,
    "alpha_DCG": novel("alpha_DCG"),
    "alpha_nDCG": normalised_novel("alpha_DCG"),
    "ERR_IA": novel("ERR_IA"),
    "nERR_IA": normalised_novel("ERR_IA"),
    "NRBP": novel("NRBP"),
    "nNRBP": normalised_novel("NRBP"),
}


@dataclass
class Compared:
    """A list of documents, and judgment groups: each a list of subgroups, which give levels to documents."""

    ranking: list[str]
    groups: list[list[dict[str, float]]]

    def preferred(self, group: list[dict[str, float]]) -> set[tuple[str, str]]:
        """The better and the worse document of each preference, stated or following from others."""
        pairs = {(a, b) for levels in group for a in levels for b in levels if levels[a] > levels[b]}
        while further := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
            pairs |= further
        return pairs

    def place(self, document: str) -> float:
        return self.ranking.index(document) if document in self.ranking else math.inf

    def fulfils(self, pair: tuple[str, str]) -> bool:
        return self.place(pair[0]) < self.place(pair[1])

    def counting(self, pairs: set[tuple[str, str]], retrieved: int) -> list[tuple[str, str]]:
        return [pair for pair in pairs if len(set(pair) & set(self.ranking)) >= retrieved]


def preference_share(lists: Compared, m) -> float:
    by_group = [lists.counting(lists.preferred(group), m.retrieved) for group in lists.groups]
    if m.average == "groups":
        shares = [share(sum(map(lists.fulfils, pairs)), len(pairs)) for pairs in by_group]
        return sum(shares) / len(shares)
    stated = [pair for pairs in by_group for pair in pairs]
    if m.average == "preferences":
        return share(sum(map(lists.fulfils, stated)), len(stated))
    shares = []
    for two in {frozenset(pair) for pair in stated}:
        about = [pair for pair in stated if frozenset(pair) == two]
        shares.append(sum(map(lists.fulfils, about)) / len(about))
    return sum(shares) / len(shares) if shares else 0.0


def limited_preference_share(lists: Compared, m) -> float:
    shares = []
    for group in lists.groups:
        documents = {document: level for levels in group for document, level in levels.items()}
        if m.retrieved:
            documents = {document: level for document, level in documents.items() if document in lists.ranking}
        relevant = [document for document, level in documents.items() if level > 0]
        others = sorted((lists.place(document), document) for document, level in documents.items() if level == 0)
        used = {*relevant, *(document for _, document in others[: len(relevant)])}
        pairs = [pair for pair in lists.preferred(group) if used.issuperset(pair)]
        invented = max(0, len(relevant) - len(others))  # below everything else
        met = len([document for document in relevant if document in lists.ranking])
        shares.append(share(sum(map(lists.fulfils, pairs)) + met * invented, len(pairs) + len(relevant) * invented))
    return sum(shares) / len(shares)


OF_PREFERENCES = {
    "NumPrefs": lambda lists, m: sum(
        len(lists.counting(lists.preferred(group), m.retrieved)) for group in lists.groups
    ),
    "NumPrefsFulfilled": lambda lists, m: sum(
        sum(map(lists.fulfils, lists.counting(lists.preferred(group), m.retrieved))) for group in lists.groups
    ),
    "PrefShare": preference_share,
    "PrefShareR": limited_preference_share,
}


def one_group(definition) -> Callable[[Topic, object], float]:
    """A definition for preferences, of a topic whose judgments are one group."""

    def of_topic(topic: Topic, m) -> float:
        names = [f"{rank}" for rank in range(len(topic.ranking))]
        levels = {name: grade for name, grade in zip(names, topic.ranking, strict=True) if grade is not None}
        left = list(topic.judged)
        for grade in levels.values():
            left.remove(grade)
        levels |= {f"not retrieved {number}": grade for number, grade in enumerate(left)}
        return definition(Compared(names, [[levels]]), m)

    return of_topic


@dataclass
class Sample:
    """A list of documents with strata (None: outside the pool) and grades (None: not drawn), and the whole pool."""

    ranking: list[tuple[str | None, float | None]]
    pool: list[tuple[str, float | None]]

    def stands_for(self, stratum: str) -> float:
        members = [grade for name, grade in self.pool if name == stratum]
        drawn = [grade for grade in members if grade is not None]
        return len(members) / len(drawn)

    def inferred_relevant(self, rank: int, rel: float) -> float:
        total = 0.0
        for stratum in sorted({name for name, _ in self.pool}):
            members = [grade for name, grade in self.ranking[:rank] if name == stratum]
            drawn = [grade for grade in members if grade is not None]
            relevant = [grade for grade in drawn if grade >= rel]
            total += len(members) * (len(relevant) + 0.00001) / (len(drawn) + 0.00003)
        return total

    def inferred_total(self, rel: float) -> float:
        return sum(self.stands_for(name) for name, grade in self.pool if grade is not None and grade >= rel)


def one_stratum(definition) -> Callable[[Topic, object], float]:
    """A definition for samples, of a pool that was judged entirely."""

    def of_topic(topic: Topic, m) -> float:
        def worth(grade: float) -> float:
            return topic.gain(grade) if m.graded else grade

        ranking = [(None, None) if grade is None else ("pool", worth(grade)) for grade in topic.ranking]
        return definition(Sample(ranking, [("pool", worth(grade)) for grade in topic.judged]), m)

    return of_topic


def stratified_average_precision(sample: Sample, m) -> float:
    total = 0.0
    for rank, (stratum, grade) in enumerate(sample.ranking, 1):
        if grade is not None and grade >= m.rel:
            total += sample.stands_for(stratum) * (1 + sample.inferred_relevant(rank - 1, m.rel)) / rank
    return share(total, sample.inferred_total(m.rel))


def inferred_ndcg(sample: Sample, m) -> float:
    gained = 0.0
    ranking = sample.ranking[: m.cutoff]
    for stratum in sorted({name for name, _ in sample.pool}):
        members = [(rank, grade) for rank, (name, grade) in enumerate(ranking, 1) if name == stratum]
        drawn = [(rank, grade) for rank, grade in members if grade is not None]
        if drawn:
            gained += len(members) / len(drawn) * sum(grade / math.log2(rank + 1) for rank, grade in drawn)
    ideal = start = 0.0
    for gain in sorted({grade for _, grade in sample.pool if grade}, reverse=True):
        number = sum(sample.stands_for(name) for name, grade in sample.pool if grade == gain)
        rank = start + 1
        while rank <= start + number + 1e-9:
            ideal += gain / math.log2(rank + 1)
            if m.cutoff is not None and rank >= m.cutoff - 1e-9:
                break
            rank += 1
        start += number
    return share(gained, ideal)


OF_SAMPLES = {
    "xinfAP": stratified_average_precision,
    "infNDCG": inferred_ndcg,
    "infP": lambda sample, m: sample.inferred_relevant(m.cutoff, m.rel) / m.cutoff,
    "infNumRelRet": lambda sample, m: sample.inferred_relevant(len(sample.ranking), m.rel),
    "infNumRel": lambda sample, m: sample.inferred_total(m.rel),
}


def overlap(ranking: list, ideal: list, p: float) -> float:
    """Rank-biased overlap down to depth 1000, but for the sum of weights."""
    return sum(p ** (depth - 1) * len({*ranking[:depth]} & {*ideal[:depth]}) / depth for depth in range(1, 1001))


def compatibility(topic: Topic, m) -> float:
    """Documents are told apart by numbers; those judged and not retrieved come behind the retrieved ones."""
    gains = topic.gains()
    rest = [topic.gain(grade) for grade in topic.judged]
    for grade in topic.ranking:
        if grade is not None:
            rest.remove(topic.gain(grade))
    gains += rest
    relevant = [number for number, gain in enumerate(gains) if gain > topic.gain(0)]
    ideal = sorted(relevant, key=lambda number: (-gains[number], number))
    return share(overlap([*range(len(topic.ranking))], ideal, m.p), overlap(ideal, ideal, m.p))


def relative_precision(topic: Topic, m) -> float:
    most = min(topic.number_relevant(m.rel), len(topic.ranking) if m.cutoff is None else m.cutoff)
    return share(sum(topic.relevance(m.rel)[: m.cutoff]), most)


def set_average_precision(topic: Topic, m) -> float:
    count = sum(topic.relevance(m.rel))
    return share(count, len(topic.ranking)) * share(count, topic.number_relevant(m.rel))


def smoothed_average_precision(topic: Topic, m) -> float:
    total = sum_of_precisions(topic.relevance(m.rel), None)
    return math.log((1 + total) / (1 + topic.number_relevant(m.rel) - total))


def utility(topic: Topic, m) -> float:
    hits = sum(topic.relevance(m.rel))
    noise = len(topic.ranking) - hits
    misses = topic.number_relevant(m.rel) - hits
    return m.hit * hits + m.noise * noise + m.miss * misses + m.rest * (m.documents - hits - noise - misses)


def logarithm(definition: Callable[[Topic, object], float]) -> Callable[[Topic, object], float]:
    return lambda topic, m: math.log(max(definition(topic, m), 0.00001))


def binary_g(topic: Topic, m) -> float:
    total, in_vain = 0.0, 0
    for relevant in topic.relevance(m.rel):
        if relevant:
            total += 1 / math.log2(2 + in_vain)
        else:
            in_vain += 1
    return share(total, topic.number_relevant(m.rel))


def ideal_gains(topic: Topic) -> list[float]:
    return sorted((gain for gain in topic.known_gains() if gain > 0), reverse=True)


def g(topic: Topic, m) -> float:
    ideal = ideal_gains(topic)
    total = cost = gained = 0.0
    for position, gain in enumerate(topic.gains()):
        cost += max(1.0, ideal[position]) if position < len(ideal) else 1.0
        gained += gain
        total += gain / math.log2(2 + cost - gained)
    return share(total, sum(ideal))


def discounted(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg_at_gains(topic: Topic, m) -> float:
    gains, ideal = topic.gains(), ideal_gains(topic)
    if not ideal:
        return 0.0
    at = [discounted(gains[:rank]) / discounted(ideal[:rank]) for rank, gain in enumerate(gains, 1) if gain > 0]
    missed = len(ideal) - len(at)
    return (sum(at) + missed * discounted(gains) / discounted(ideal)) / len(ideal)


def ndcg_at_levels(topic: Topic, m) -> float:
    gains, ideal = topic.gains(), ideal_gains(topic)
    if not ideal:
        return 0.0
    ends = [rank for rank in range(1, len(ideal) + 1) if rank == len(ideal) or ideal[rank] < ideal[rank - 1]]
    at = [discounted(gains[:rank]) / discounted(ideal[:rank]) for rank in ends]
    if len(gains) > len(ideal) + 1:
        at.append(discounted(gains) / discounted(ideal))
    return sum(at) / len(at)


DEFINITIONS: dict[str, Callable[[Topic, object], float]] = {
    "RBP": rbp,
    "Bpref": bpref,
    "Bpref_R": bpref_r,
    "Bpref_N": bpref_n,
    "Bpref_old": bpref_old,
    "Bpref_relative": bpref_relative,
    "Bpref_relative2": bpref_relative2,
    "Rpref_N": rpref_n,
    "Rpref_relative": rpref_relative,
    "Rpref_relative2": rpref_relative2,
    "Q": q_measure,
    "infAP": inferred_average_precision,
    "P": precision,
    "Recall": recall,
    "Success": success,
    "RPrec": r_precision,
    "RR": reciprocal_rank,
    "SP": sp,
    "AP": average_precision,
    "AP*": average_precision_of_retrieved,
    "DCG": dcg,
    "nDCG": ndcg,
    "ERR": err,
    "Judged": judged,
    "Unjudged": unjudged,
    "NumRet": lambda topic, m: len(topic.ranking),
    "NumRel": lambda topic, m: topic.number_relevant(m.rel),
    "NumRelRet": lambda topic, m: sum(topic.relevance(m.rel)),
    "IPrec": lambda topic, m: interpolated(topic, m.rel, m.recall),
    "IPrecMean": interpolated_mean,
    **READING_ON,
    "SDCG": scaled_dcg,
    "RRn": later_reciprocal_rank,
    "F": f_measure,
    "RecallAll": recall_all,
    "Shaw": shaw,
    "ESL": search_length,
    "RankPower": rank_power,
    **{name: one_subtopic(definition) for name, definition in BY_SUBTOPIC.items()},
    **{name: one_group(definition) for name, definition in OF_PREFERENCES.items()},
    "AP_JG": average_precision,
    "P_JG": precision,
    "RPrec_JG": r_precision,
    **{name: one_stratum(definition) for name, definition in OF_SAMPLES.items()},
    "Compatibility": compatibility,
    "NumNonRelRet": lambda topic, m: len([grade for grade in topic.ranking if grade is not None and grade < m.rel]),
    "NumQ": lambda topic, m: 1,
    "Hits": lambda topic, m: sum(topic.relevance(m.rel)[: m.cutoff]),
    "SetP": lambda topic, m: share(sum(topic.relevance(m.rel)), len(topic.ranking)),
    "RelP": relative_precision,
    "SetAP": set_average_precision,
    "YAAP": smoothed_average_precision,
    "Utility": utility,
    "GMAP": logarithm(average_precision),
    "GMBpref": logarithm(bpref_family(lambda above, _rank, r, n, _ret, _m: share(min(r, above), min(r, n)))),
    "BinG": binary_g,
    "G": g,
    "nDCG_rel": ndcg_at_gains,
    "RnDCG": ndcg_at_levels,
    "IdealDCG": lambda topic, m: discounted(ideal_gains(topic)),
}


def value(topic: Topic, measure) -> float:
    """The measure of one list; a condensed measure is the plain one on the list without unjudged documents."""
    if type(measure).__name__ == "Condensed":
        condensed = [grade for grade in topic.ranking if grade is not None]
        return value(Topic(condensed, topic.judged, topic.largest, topic.table), measure.measure)
    return DEFINITIONS[measure.name](topic, measure)


def greatest(topic: Topic, measure) -> float:
    """The measure of one list when documents beyond its end or beyond the depth turn out as good as they can."""
    return value_and_greatest(topic, measure)[1]


def value_and_greatest(topic: Topic, measure) -> tuple[float, float]:
    """The measure of one list, and the greatest when what lies beyond it turns out as good as it can."""
    found = value(topic, measure)
    if type(measure).__name__ == "Condensed":
        return found, greatest(topic, measure.measure)
    if measure.name in READING_ON:
        return found, DEFINITIONS[measure.name](topic, measure, 1)
    length, tail = len(topic.ranking), 0.0
    if measure.name == "RBP":
        tail = measure.p ** (length if measure.cutoff is None else min(length, measure.cutoff))
        tail *= min(1.0, topic.largest) if measure.graded and measure.max_grade is None else 1.0
    if measure.name == "SDCG":
        weights = [_discount(rank, measure.base) for rank in range(1, measure.cutoff + 1)]
        tail = sum(weights[length:]) / sum(weights)
    return found, found + tail
