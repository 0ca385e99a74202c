"""trec_eval 10's output, computed with our measures: its names, options, order of lines and of additions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import nan

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.gains import GainRule, gain_rule
from rankbounds.collection.order import Order
from rankbounds.collection.preparation import Preparation
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import DataError, UsageError, coded, did_you_mean, warn
from rankbounds.files.pair_files import shown, unheld_by_trec
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.counts import Utility
from rankbounds.measures.discounted_gain import RnDCG
from rankbounds.measures.diversity import OverGroups
from rankbounds.measures.facts import Total
from rankbounds.measures.formulas import quotient
from rankbounds.measures.naming.elsewhere import ABSENT, FAMILIES, NICKNAMES
from rankbounds.measures.precision.interpolated_precision import POINTS, interpolated
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.measures.stated_preferences import PrefShareR, StatedPreferences
from rankbounds.phrases import some
from rankbounds.rankings.join import Joined, join
from rankbounds.rankings.rankings import NOT_POOLED, Rankings
from rankbounds.rankings.stated_preferences import CountedPreferences
from rankbounds.rankings.topic_facts import TopicFacts

Column = Callable[[Rankings], Floats]
PRINTED = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P", "relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg"),
    *("binG", "G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success"),
    *("set_P", "set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret"),
    *("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp", "prefs_pair"),
    *("prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret"),
    *("prefs_avgjg_Rnonrel_ret", "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp", "map_avgjg", "P_avgjg"),
    *("Rprec_mult_avgjg", "yaap", "rbp", "rbp_resid", "unj"),
)
"""The names that there are, in the order in which they are printed."""
OF_ALL_TOPICS = ("runid", "num_q", "gm_map", "gm_bpref")
"""Printed for all topics together only."""
TAKES_GAINS = ("ndcg", "dcg", "ideal_dcg", "ndcg_rel", "Rndcg", "G", "rbp")
"""Measures whose parameters are the gains of grades: ``ndcg.1=3,2=9``."""
FORMATS = ("qrels", "qrels_jg", "qrels_prefs", "prefs")
"""What judgments may be: the same lines with groups of judgments, or preferences, in them; or preferences alone."""
LENGTH_OF_RELSTRING, PERSISTENCE = 10, 0.9
NONRELEVANT = 0.5
"""What grade 0 becomes. An unjudged document counts as one of grade 0, but in trec_eval it gains nothing where a table
gives grade 0 something: the two must differ."""
LINEAR = GainRule(((NONRELEVANT, 0.0),))


@dataclass(frozen=True)
class Options:
    """trec_eval's options, under the names that it has for them."""

    level_for_rel: int = 1
    Max_retrieved_per_topic: int | None = None
    Judged_docs_only: bool = False
    complete_rel_info_wanted: bool = False
    Number_docs_in_coll: int = 0


@dataclass(frozen=True)
class Entry:
    """A line per topic and one for all; where documents are compared, ties are ordered the other way around."""

    base: str
    name: str
    column: Column
    gains: GainRule = LINEAR
    total: Total = "mean"
    of_groups: bool = False
    """Does it read what each group of judgments says, in the place of ``gains``?"""
    order: Order = "trec"

    def line(self, topic: str, value: float) -> str:
        return f"{self.name:<22}\t{topic}\t{f'{value:.0f}' if self.total == 'sum' else f'{value:6.4f}'}\n"


@dataclass(frozen=True)
class Evaluation:
    """The output by topic and entry, in trec_eval's order, and over all topics; ``missing`` are those of no list."""

    topics: list[str]
    entries: list[Entry]
    value: Floats
    summary: list[float]
    relstrings: list[str]
    missing: list[str]


def evaluation(qrels: Qrels, run: Run, asked: dict[str, str], options: Options) -> Evaluation:
    entries = [entry for base in PRINTED if base in asked for entry in _entries(base, asked[base], options)]
    graded = [entry.name for entry in entries if entry.order == "trec" and entry.base not in ("num_q", "num_ret")]
    if qrels.are_preferences and graded:
        raise UsageError(f"{graded[0]} reads grades, and these judgments are preferences: use prefs or all_prefs.")
    judgments = _as_trec_eval_reads(qrels)
    of_groups = TopicFacts(qrels) if any(entry.of_groups for entry in entries) else None
    facts_by_rule = {rule: TopicFacts(judgments, rule) for rule in {LINEAR, *(entry.gains for entry in entries)}}
    facts = facts_by_rule[LINEAR]
    orders = sorted({"trec", *(entry.order for entry in entries)}, reverse=True)  # that of most measures first

    def join_by(order: Order) -> Joined:
        prepared = Preparation(depth=options.Max_retrieved_per_topic, order=order)(run)
        return join(prepared, facts, order=order, topics="shared", keep_judgments=of_groups is not None)

    by_order = {order: join_by(order) for order in orders}
    joined = by_order["trec"]
    missing = [facts.topic_number[name] for name in joined.missing]
    one = np.full(len(missing), 1)  # a topic that the run lacks has one document, which nobody judged
    unjudged = np.full((one.size, 1), NOT_POOLED)
    lacking = [Rankings(unjudged * nan, one, np.array(missing), facts, judgment=unjudged)] if missing else []
    value = np.full((len(facts.query_ids), len(entries)), nan)
    strings = [""] * len(facts.query_ids)
    length = int(_number(asked.get("relstring") or LENGTH_OF_RELSTRING, "relstring"))
    for order, lists in by_order.items():
        for rankings in chain(lists.batches, lacking if options.complete_rel_info_wanted else []):
            with_groups = rankings if of_groups is None else rankings.rejudged(of_groups)
            rankings = rankings.condensed() if options.Judged_docs_only else rankings
            with_gains = {rule: replace(rankings, facts=own, _memory={}) for rule, own in facts_by_rule.items()}
            for place, entry in enumerate(entries):
                if entry.order == order:
                    given = with_groups if entry.of_groups else with_gains[entry.gains]
                    value[rankings.topic, place] = entry.column(given)
            if "relstring" in asked and order == "trec":
                for row, number in enumerate(rankings.topic.tolist()):
                    strings[number] = _relstring(rankings, row, length)
    # trec_eval scores one document that nobody judged for a topic that the run lacks, and takes these back.
    taken_back = [entry.base in ("num_ret", "utility", "rbp_resid", "unj") for entry in entries]
    for number in missing:
        value[number, taken_back] = 0.0
        strings[number] = strings[number] if asked.get("relstring") else ""
    kept = set(range(len(facts.query_ids))).difference(() if options.complete_rel_info_wanted else missing)
    topics = sorted(kept, key=lambda number: facts.query_ids[number].encode("utf-8", "surrogateescape"))
    return Evaluation(
        [facts.query_ids[number] for number in topics],
        entries,
        value[topics],
        [_summarise(entry, value[topics, place], facts, options) for place, entry in enumerate(entries)],
        [strings[number] for number in topics],
        joined.missing,
    )


def lines(
    qrels: Qrels,
    run: Run,
    measures: Sequence[str] = (),
    options: Options | None = None,
    *,
    per_topic: bool = False,
    summary: bool = True,
) -> Iterator[str]:
    options = options or Options()
    asked = _requested_names(measures or ["official"])
    scored = evaluation(qrels, run, asked, options)
    if scored.missing and not options.complete_rel_info_wanted:
        warn(
            f"{run.name} lacks {len(scored.missing)} of the judged topics ({some(scored.missing)}): they are left out. "
            "trec_eval 10 ends with an error here; with -c they count as 0."
        )
    if per_topic:
        _reject_unwritable(scored.topics)
        printed = [base for base in PRINTED if base in asked and base not in OF_ALL_TOPICS]
        places = {base: [place for place, entry in enumerate(scored.entries) if entry.base == base] for base in printed}
        for topic, row, string in zip(scored.topics, scored.value.tolist(), scored.relstrings, strict=True):
            for base in printed:
                if base == "relstring":
                    yield f"{_name(base, asked[base]):<22}\t{topic}\t'{string}'\n"
                yield from (scored.entries[place].line(topic, row[place]) for place in places[base])
    if summary:
        if "runid" in asked:
            yield f"{'runid':<22}\tall\t{coded(run.name)}\n"
        for entry, value in zip(scored.entries, scored.summary, strict=True):
            yield entry.line("all", value)


def _reject_unwritable(topics: Sequence[str]) -> None:
    for topic in topics:
        reason = unheld_by_trec(topic.replace(" ", "_"))  # fields end at tabs alone
        if reason:
            other = 'Use "rankbounds evaluate --format json".'
            raise DataError(f"The topic id {shown(topic)} {reason}, and lines of trec_eval cannot hold it. {other}")


def _requested_names(measures: Sequence[str]) -> dict[str, str]:
    asked: dict[str, str] = {}
    for text in measures:
        name, point, parameters = text.partition(".")
        if name in NICKNAMES:
            asked = dict.fromkeys(NICKNAMES[name], "") | asked
        elif name not in PRINTED:
            reason = f": it {ABSENT[name]}" if name in ABSENT else ""
            hint = "" if reason else did_you_mean(name, [*PRINTED, *NICKNAMES])
            raise UsageError(f'trec_eval has no measure "{name}" that can be printed here{reason}.{hint}')
        elif point and not parameters:
            raise UsageError(f'"{text}": parameters are missing after the point.')
        else:
            asked[name] = asked.get(name) or parameters
    return asked


def _entries(base: str, parameters: str, options: Options) -> Iterator[Entry]:
    level, name = float(options.level_for_rel), _name(base, parameters)
    if base in ("runid", "relstring"):
        return
    if base in FAMILIES:
        for label, measure in family(base, parameters):
            column = _column(at_level(measure, level), options)
            yield Entry(base, label, column, of_groups=measure.reads_judgments)
    elif base.startswith("prefs_avgjg_Rnonrel"):
        preferences = _Rnonrel(retrieved=2 if base.endswith("_ret") else 0)
        yield Entry(base, name, preferences.value, of_groups=True, order="docid")
    elif base in ("rbp", "rbp_resid"):
        pairs = parameters.split(",") if parameters else []
        p = next((_number(pair[2:], base) for pair in pairs if pair.startswith("p=")), PERSISTENCE)
        rbp = RBP(p=p, graded=True, by_topic=True)
        gains = _gains(base, ",".join(pair for pair in pairs if not pair.startswith("p=")))
        yield Entry(base, name, rbp.value if base == "rbp" else partial(_residual, p), gains)
    elif base == "11pt_avg":
        points = tuple(_number(part, base) for part in parameters.split(",")) if parameters else POINTS[11]
        if list(points) != sorted(points):
            raise UsageError(f'"{base}.{parameters}": write points of recall in rising order.')
        yield Entry(base, name, partial(_mean_of_points, points, level))
    elif base == "utility":
        yield Entry(base, name, at_level(_utility(parameters, options), level).value)
    elif base == "set_F":
        weight = _number(parameters or 1.0, base)
        yield Entry(base, name, partial(weighted_mean, weight, level))
    elif parameters and base not in TAKES_GAINS:
        raise UsageError(f'"{base}.{parameters}": {base} takes no parameters.')
    else:
        measure = parse_measure(base)
        order: Order = "docid" if isinstance(measure, StatedPreferences) else "trec"
        column, gains = _column(at_level(measure, level), options), _gains(base, parameters)
        yield Entry(base, name, column, gains, measure.total, measure.reads_judgments, order)


def _column(measure: Measure, options: Options) -> Column:
    if options.Judged_docs_only and isinstance(measure, OverGroups):
        return partial(measure.over_lists, Condensed(measure.of_subtopic()))
    return measure.value


def _name(base: str, parameters: str) -> str:
    return f"{base}_{parameters}" if parameters else base


def family(base: str, parameters: str = "") -> list[tuple[str, Measure]]:
    """Return measures at several depths (trec_eval reads the whole part) or points, ascending, by name.

    Without parameters the depths are trec_eval's: ``P.5,10`` is ``P_5`` and ``P_10``, ``P`` has nine of them.
    """
    values = sorted(_number(part, base) for part in (parameters.split(",") if parameters else FAMILIES[base]))
    if base not in ("iprec_at_recall", "Rprec_mult", "Rprec_mult_avgjg"):
        values = [float(int(value)) for value in values]
    if len(set(values)) < len(values):
        raise UsageError(f'"{base}.{parameters}": a depth is given twice.')
    measures = [parse_measure(f"{base}_{value:g}" if value % 1 else f"{base}_{int(value)}") for value in values]
    return [
        (f"{base}_{measure.cutoff}" if measure.cutoff else f"{base}_{value:.2f}", measure)
        for value, measure in zip(values, measures, strict=True)
    ]


def _number(text: str | float, base: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f'{base}: "{text}" is not a number.') from None


def _gains(base: str, pairs: str) -> GainRule:
    if pairs and not all(re.match(r"\d+=", pair) for pair in pairs.split(",")):
        raise UsageError(f'"{base}.{pairs}": gains are given as in {base}.1=3,2=9, for grades from 0 on.')
    gains = {0.0: 0.0, **dict(gain_rule(pairs or None).table)}
    return GainRule(tuple((grade or NONRELEVANT, gain) for grade, gain in gains.items()))


def _utility(parameters: str, options: Options) -> Measure:
    weights = [_number(part, "utility") for part in parameters.split(",")] if parameters else [1.0, -1.0, 0.0, 0.0]
    if len(weights) != 4:
        raise UsageError(f'"utility.{parameters}": write four numbers, as in utility.1,-1,0,0.')
    if weights[3] and not options.Number_docs_in_coll:
        raise UsageError(
            f'"utility.{parameters}": the last number needs -N, the number of documents in the collection.'
        )
    hit, noise, miss, rest = weights
    return Utility(hit, noise, miss, rest, options.Number_docs_in_coll)


class _Rnonrel(PrefShareR):
    """As in trec_eval: documents of level 0 are compared with each other too."""

    def limited(self, rankings: Rankings) -> CountedPreferences:
        counts = super().limited(rankings)
        if not counts.partial.any():
            return counts
        # Where there are subgroups, the limit is the number of all relevant documents.
        of_group, rows = rankings.facts.preferences.counted(rankings, "group"), counts.partial[:, None]
        possible = np.where(rows, of_group.possible, counts.possible)
        return replace(counts, possible=possible, fulfilled=np.where(rows, of_group.fulfilled, counts.fulfilled))

    def share(self, counts: CountedPreferences, fulfilled: Floats, possible: Floats) -> Floats:
        relevant, nonrelevant = self.documents(counts)
        more = (nonrelevant > relevant) & ~counts.partial
        met = relevant if self.retrieved else np.minimum(counts.nonrelevant[:, 1], relevant)
        above = met * (relevant - 1) - met * (met - 1) / 2
        lacking = np.maximum(relevant - nonrelevant, 0.0)
        fulfilled = fulfilled + counts.relevant[:, 1] * lacking + np.where(more, above, 0.0)
        possible = possible + counts.relevant.sum(axis=-1) * lacking + np.where(more, nonrelevant * relevant, 0.0)
        # A group that prefers nothing makes the sum over groups no number, which is printed as 0.
        return np.divide(fulfilled, possible, out=np.full(possible.shape, nan), where=possible > 0)

    def value(self, rankings: Rankings) -> Floats:
        return np.nan_to_num(super().value(rankings))


class _RnDCG(RnDCG):
    """Grades are gains, but a topic without a relevant document scores 0."""

    rel: float = 1.0

    def value(self, rankings: Rankings) -> Floats:
        return np.where(rankings.num_relevant(self.rel) > 0, super().value(rankings), 0.0)


def at_level(measure: Measure, level: float) -> Measure:
    return _RnDCG(level) if isinstance(measure, RnDCG) else measure.at_level(level)


def _mean_of_points(points: tuple[float, ...], level: float, rankings: Rankings) -> Floats:
    return np.cumsum(interpolated(rankings, level, points)[::-1], axis=0)[-1] / len(points)


def weighted_mean(weight: float, level: float, rankings: Rankings) -> Floats:
    number = rankings.relevant(level).sum(axis=-1)
    precision, recall = quotient(number, rankings.length), quotient(number, rankings.num_relevant(level))
    return quotient((weight + 1) * precision * recall, weight * precision + recall)


def _residual(p: float, rankings: Rankings) -> Floats:
    # Multiplied and added from rank to rank, as trec_eval does.
    weights = np.cumprod(np.append(1.0, np.full(rankings.width, p)))
    unjudged = np.cumsum(np.where(rankings.holes, weights[:-1], 0.0), axis=-1)[:, -1]
    return np.where(rankings.num_holes > 0, weights[rankings.length] + (1 - p) * unjudged, 0.0)


def _as_trec_eval_reads(qrels: Qrels) -> Qrels:
    grade = np.trunc(qrels.grade)
    return Qrels._of_pairs(qrels.pairs, np.where(grade == 0, NONRELEVANT, grade)).only_judged(grade >= 0)


def _summarise(entry: Entry, values: Floats, facts: TopicFacts, options: Options) -> float:
    if entry.base == "num_rel" and options.complete_rel_info_wanted:  # whatever the level is
        return float(facts.relevant(1.0).sum())
    total = float(np.cumsum(values)[-1])
    if entry.total == "sum":
        return total
    return float(np.exp(total / values.size)) if entry.total == "geometric" else total / values.size


def _relstring(rankings: Rankings, row: int, length: int) -> str:
    shown = slice(0, max(0, min(length, int(rankings.length[row]))))
    parts = (rankings.holes[row, shown], rankings.pooled_holes[row, shown], rankings.grade[row, shown])
    return "".join(
        ("." if pooled else "-") if hole else (">" if grade > 9 else str(int(grade)))
        for hole, pooled, grade in zip(*(part.tolist() for part in parts), strict=True)
    )
