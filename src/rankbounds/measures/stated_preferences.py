"""The preferences in judgments that a list satisfies.

A judgment group, one person's judgments of one topic, prefers every document to those with a lower level;
``rankbounds.rankings.stated_preferences`` derives preferences from several groups. In ordinary judgments each grade is
preferred to the lower ones. A preference is satisfied if the better document ranks above the worse one, or was
retrieved and the worse one was not.

Documents that nobody compared change nothing at any rank. Their preferences are unknown, and no bounds are given.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.measures.facts import Exactness
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Measure
from rankbounds.measures.parameters import Allowed, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.stated_preferences import CountedPreferences

RETRIEVED = "How many of its two documents must be retrieved for a preference to count: 0, 1 or 2."
ZERO_ONE_OR_TWO = Allowed("must be 0, 1 or 2", lambda value: value in (0, 1, 2))
AVERAGES = ("preferences", "pairs", "groups")


class StatedPreferences(Measure):
    """Preferences that are satisfied, as a number or a share of those that count."""

    retrieved: int = parameter(RETRIEVED, ZERO_ONE_OR_TWO, default=0)

    reads_judgments = True
    reads_preferences = True
    judged_only = True
    graded = True
    promotable = False
    exactness: ClassVar[Exactness] = "unknown"

    def counted(self, rankings: Rankings) -> tuple[CountedPreferences, Floats, Floats]:
        counts = rankings.facts.preferences.counted(rankings)
        fulfilled, possible = (part[:, self.retrieved :].sum(axis=-1) for part in (counts.fulfilled, counts.possible))
        return counts, fulfilled, possible


class NumPrefs(StatedPreferences):
    """The number of preferences that the topic's judgments state.

    All topics together are the sum. Source: as in trec_eval (prefs_num_prefs_poss).
    """

    example = ("NumPrefs()", 3.0, "graded")
    examples = ("NumPrefs", "NumPrefs(retrieved=1)")
    trec_names = ("prefs_num_prefs_poss",)
    total = "sum"

    def value(self, rankings: Rankings) -> Floats:
        counts, _, possible = self.counted(rankings)
        return counts.total(possible)


class NumPrefsFulfilled(StatedPreferences):
    """The number of preferences that the list satisfies; with retrieved=2, of those between documents that it holds.

    All topics together are the sum. Source: as in trec_eval (prefs_num_prefs_ful, prefs_num_prefs_ful_ret).
    """

    example = ("NumPrefsFulfilled()", 1.0, "graded")
    examples = ("NumPrefsFulfilled", "NumPrefsFulfilled(retrieved=2)")
    trec_names = ("prefs_num_prefs_ful",)
    total = "sum"

    def value(self, rankings: Rankings) -> Floats:
        counts, fulfilled, _ = self.counted(rankings)
        return counts.total(fulfilled)


class PrefShare(StatedPreferences):
    """The share of the preferences stated for a topic that the list satisfies.

    By default every preference of every group counts the same, and one with neither document retrieved is not
    satisfied. ``average="groups"`` averages the shares of the judgment groups, so that nobody who compared many
    documents outweighs others. ``average="pairs"`` takes for every two documents the share of the groups that prefer
    the higher-ranked one, and averages over such pairs. Groups may contradict each other: then no list reaches 1.

    Source: as in trec_eval (prefs_simp, prefs_pair, prefs_avgjg; their names end in _imp where retrieved is 1, in _ret
    where it is 2).
    """

    average: str = parameter("What counts the same: preferences, pairs (of documents) or groups.", default=AVERAGES[0])

    example = ("PrefShare()", 0.3333, "graded")
    examples = (
        "PrefShare",
        "PrefShare(average=pairs)",
        "PrefShare(average=groups,retrieved=1)",
        "PrefShare(retrieved=2)",
    )
    value_range = (0.0, 1.0)

    def check(self) -> None:
        if self.average not in AVERAGES:
            hint = did_you_mean(self.average, list(AVERAGES))
            raise UsageError(f'PrefShare: average is one of {", ".join(AVERAGES)}, not "{self.average}".{hint}')

    def value(self, rankings: Rankings) -> Floats:
        counts, fulfilled, possible = self.counted(rankings)
        if self.average == "groups":
            return quotient(counts.total(quotient(fulfilled, possible)), counts.total(np.ones(possible.shape)))
        share = quotient(counts.total(fulfilled), counts.total(possible))
        several = rankings.facts.subtopics.count[rankings.topic] > 1
        if self.average == "preferences" or not several.any():
            return share
        number, summed = rankings.facts.preferences.shares_of_pairs(rankings)
        of_pairs = quotient(summed[:, self.retrieved :].sum(axis=-1), number[:, self.retrieved :].sum(axis=-1))
        return np.where(several, of_pairs, share)


class PrefShareR(StatedPreferences):
    """The share of preferences that the list satisfies, as if each group had judged as many non-relevant documents
    (level 0) as relevant ones; averaged over groups. With one group and two levels it is akin to bpref.

    How many documents somebody judged not relevant is mostly chance, and should not affect a topic's weight. A group
    with R relevant documents counts the first R of level 0 in the list (then, by their ids, those not in the list). If
    it has fewer, missing ones rank below all others. With retrieved=2, R is the number of relevant documents retrieved.

    trec_eval's prefs_avgjg_Rnonrel and prefs_avgjg_Rnonrel_ret mean the same, but compute something else: if a group
    has more than R documents of level 0, they also count every pair of these as preferences, few of which are
    satisfied; and if a group has no preferences, the topic scores 0.

    Source: the help of trec_eval.
    """

    retrieved: int = parameter(
        "How many of its two documents must be retrieved for a preference to count: 0 or 2.",
        Allowed("must be 0 or 2", lambda value: value in (0, 2)),
        default=0,
    )

    example = ("PrefShareR()", 0.6, "graded")
    examples = ("PrefShareR", "PrefShareR(retrieved=2)")
    value_range = (0.0, 1.0)

    def documents(self, counts: CountedPreferences) -> tuple[Floats, Floats]:
        first = 1 if self.retrieved else 0
        return counts.relevant[:, first:].sum(axis=-1), counts.nonrelevant[:, first:].sum(axis=-1)

    def share(self, counts: CountedPreferences, fulfilled: Floats, possible: Floats) -> Floats:
        relevant, nonrelevant = self.documents(counts)
        lacking = np.maximum(relevant - nonrelevant, 0.0)
        return quotient(fulfilled + counts.relevant[:, 1] * lacking, possible + relevant * lacking)

    def limited(self, rankings: Rankings) -> CountedPreferences:
        """Return the counts without documents of level 0 beyond the number of relevant ones."""
        return rankings.facts.preferences.counted(rankings, "retrieved" if self.retrieved else "group")

    def value(self, rankings: Rankings) -> Floats:
        counts = self.limited(rankings)
        fulfilled, possible = (part[:, self.retrieved :].sum(axis=-1) for part in (counts.fulfilled, counts.possible))
        return quotient(counts.total(self.share(counts, fulfilled, possible)), counts.total(np.ones(possible.shape)))
